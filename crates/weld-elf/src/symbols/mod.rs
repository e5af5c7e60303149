//! Global symbols after resolution: 16 bytes each, indexed by [`SymbolId`].
//!
//! One pass over the name table reads each winner's symbol-table entry once; from then on no phase
//! goes back to strings or priorities. The flag word is atomic because the relocation scan, which
//! runs on many threads, records in it what a symbol needs (GOT slot, PLT entry, …); before and
//! after the scan nobody writes it.

pub mod assigned;
pub mod exports;
pub mod internal;
pub mod tagged;
pub mod value_kinds;
pub mod version_scripts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::diag::{Cause, DiagSink};
use weld_common::prefetch::prefetch;
use weld_common::{par, trace};

use crate::address::Address;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::resolve::Resolved;
use crate::resolve::comdat::{Comdats, signature};
use crate::sections::{SectionKind, Sections, is_table};
use crate::symbol_names::*;

pub use crate::symbol_flags;

/// Where common symbols go; `Symbol::section` of one that has its place.
pub const IN_BSS: u32 = 0;
/// Thread-local ones: `.tbss`.
pub const IN_TBSS: u32 = 1;
/// Those of the large code model: `.lbss`.
pub const IN_LBSS: u32 = 2;
/// How many kinds there are.
pub const COMMON_KINDS: u32 = 3;

/// The kind of the common symbols in a block.
pub fn common_kind(block: u32) -> u32 {
    block % COMMON_KINDS
}

pub struct Symbol {
    /// Asked for as what it is: [`Symbol::offset`], [`Symbol::address`], [`Symbol::constant`].
    place: u64,
    /// [`SectionId`], or index of the internal definition; see the kinds.
    pub section: u32,
    pub flags: AtomicU32,
}

const _: () = assert!(size_of::<Symbol>() == 16);

impl Symbol {
    pub fn new(offset: u64, section: u32, flags: u32) -> Symbol {
        Symbol { place: offset, section, flags: AtomicU32::new(flags) }
    }
    /// The offset in what it lies in (its input section, the block of commons or of copies), until there are
    /// addresses ([`crate::layout::addresses`]). With `-r` that is all it ever has.
    #[inline(always)]
    pub fn offset(&self) -> u64 {
        self.place
    }
    pub fn set_offset(&mut self, offset: u64) {
        self.place = offset;
    }
    /// From the offset to the address: what it lies in starts at `start`.
    #[inline(always)]
    pub fn move_to(&mut self, start: Address) {
        self.place = start.wrapping_add(self.place).get();
    }
    /// The address, once everything has one, or the value of what is absolute; 0 if it has none.
    #[inline(always)]
    pub fn address(&self) -> Address {
        Address::new(self.place)
    }
    #[inline(always)]
    pub fn set_address(&mut self, address: Address) {
        self.place = address.get();
    }
    /// The value of what is absolute, the same in all phases.
    #[inline(always)]
    pub fn constant(&self) -> u64 {
        self.place
    }
    pub fn set_constant(&mut self, value: u64) {
        self.place = value;
    }
    #[inline(always)]
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }
    pub fn kind(&self) -> u32 {
        self.flags() & symbol_flags::KIND
    }
    pub fn has(&self, bits: u32) -> bool {
        self.flags() & bits != 0
    }
    /// Adds bits; reads first, because most additions change nothing.
    #[inline(always)]
    pub fn add(&self, bits: u32) {
        if self.flags() & bits != bits {
            self.flags.fetch_or(bits, Ordering::Relaxed);
        }
    }
    pub fn remove(&self, bits: u32) {
        self.flags.fetch_and(!bits, Ordering::Relaxed);
    }
    pub fn is_undefined(&self) -> bool {
        self.kind() == symbol_flags::UNDEFINED
    }
}

pub struct Symbols {
    pub list: Vec<Symbol>,
}

impl std::ops::Index<SymbolId> for Symbols {
    type Output = Symbol;
    #[inline(always)]
    fn index(&self, id: SymbolId) -> &Symbol {
        &self.list[id.index()]
    }
}

impl Symbols {
    /// What libraries define of `names` is referred to, so that the library is needed and the name is in
    /// `.dynsym`. Those of `--as-needed` wait for an object that refers to them.
    pub fn want<'n>(&mut self, resolved: &Resolved, names: impl Iterator<Item = &'n str>) {
        for id in names.filter_map(|name| resolved.names.find(name.as_bytes())) {
            let symbol = &mut self.list[id.index()];
            let is_needed = || {
                let index = resolved.index_of_file[resolved.names.get(id).file().index()];
                !resolved.shared[index as usize].as_needed
            };
            if symbol.kind() == symbol_flags::SHARED && is_needed() {
                symbol.add(symbol_flags::USED | symbol_flags::USED_STRONG);
            }
        }
    }

    /// Asks for the symbol that `id` names, if it names one.
    #[inline(always)]
    pub fn prefetch(&self, id: SymbolId) {
        prefetch(&self.list, id.index());
    }

    /// Asks for what symbol `index` of an object is looked up in.
    #[inline(always)]
    pub fn prefetch_target(&self, object: &Object, index: u32) {
        if index < object.first_global {
            prefetch(object.syms, index as usize);
        } else if let Some(id) = object.globals.get((index - object.first_global) as usize) {
            self.prefetch(SymbolId(id.load(Ordering::Relaxed)));
        }
    }
}

/// Builds the table. Winners that lie in a COMDAT group that lost are replaced by the definition in
/// the group that stays.
pub fn freeze(
    resolved: &mut Resolved,
    sections: &Sections,
    comdats: &Comdats,
    sink: &DiagSink,
    parallel: bool,
) -> Symbols {
    let stretch = trace::stretch("largest commons");
    prefer_largest_commons(resolved);
    drop(stretch);
    let bound = resolved.names.id_bound();
    let build = |id: usize| {
        prefetch_definition(resolved, SymbolId((id + DEFINITION_AHEAD) as u32));
        match resolved.names.try_get(SymbolId(id as u32)) {
            Some(entry) => freeze_one(resolved, sections, entry),
            None => Symbol::new(0, u32::MAX, 0),
        }
    };
    let mut list: Vec<Symbol> =
        par::list("freeze names", parallel, bound, NAMES_AT_ONCE, |run| run.map(build));
    let lost = par::runs("find definitions in lost groups", parallel, list.len(), NAMES, |run| {
        let ids = run.map(|i| SymbolId(i as u32));
        ids.filter(|id| list[id.index()].has(symbol_flags::IN_DISCARDED | symbol_flags::PASSED_OVER))
            .collect()
    });
    let lost = par::concat("join definitions in lost groups", parallel, lost);
    let _stretch = trace::stretch("definitions in lost groups");
    let (mut missing, mut passed_over) = (HashSet::new(), HashSet::new());
    let mut groups = SurvivingGroups::default();
    for id in lost {
        if list[id.index()].has(symbol_flags::PASSED_OVER) {
            passed_over.insert(id);
            continue;
        }
        refuse_in_table(resolved, id, sink);
        match groups.find(resolved, sections, comdats, id) {
            Some(word) => replace(resolved, sections, &mut list, id, word),
            None => _ = missing.insert(id),
        }
    }
    if !missing.is_empty() {
        for (id, word) in find_anywhere(resolved, sections, &missing, parallel) {
            replace(resolved, sections, &mut list, id, word);
        }
    }
    if !passed_over.is_empty() {
        for (id, word) in best(in_shared_objects(resolved, &passed_over)) {
            replace(resolved, sections, &mut list, id, word);
        }
    }
    Symbols { list }
}

/// Names looked at by one task.
const NAMES: usize = 1 << 15;
/// Names of which one task makes a list: few enough for many threads.
const NAMES_AT_ONCE: usize = 1 << 12;
/// How many names ahead definitions are asked for.
const DEFINITION_AHEAD: usize = 12;

/// Asks for the symbol table entry that defines `id`.
#[inline(always)]
pub fn prefetch_definition(resolved: &Resolved, id: SymbolId) {
    if let Some(entry) = resolved.names.try_get(id)
        && let Some(&index) = resolved.index_of_file.get(entry.file().index())
        && let Some(object) = resolved.objects.get(index as usize)
    {
        prefetch(object.syms, entry.sym() as usize);
    }
}

fn replace(resolved: &mut Resolved, sections: &Sections, list: &mut [Symbol], id: SymbolId, word: u64) {
    resolved.names.get_mut(id).best = word;
    list[id.index()] = freeze_one(resolved, sections, resolved.names.get(id));
}

/// The best definitions of names whose first lies in a group that lost to one without them: those of
/// other groups or of none, then those of shared objects. Rare, so every file is looked through.
fn find_anywhere(
    resolved: &Resolved,
    sections: &Sections,
    ids: &HashSet<SymbolId>,
    parallel: bool,
) -> BTreeMap<SymbolId, u64> {
    let region = trace::region("find lost definitions");
    let objects = &resolved.objects;
    let of_object = |object: usize| -> Vec<(SymbolId, u64)> {
        let _task = region.task();
        let object = &objects[object];
        let globals = object.first_global..object.syms.len() as u32;
        let wanted = globals.filter(|i| ids.contains(&object.global(*i)) && is_kept(object, *i, sections));
        wanted.map(|i| (object.global(i), definition_word(object, i))).collect()
    };
    let mut words = par::map(parallel, objects.len(), of_object).concat();
    drop(region);
    words.extend(in_shared_objects(resolved, ids));
    best(words)
}

/// The definitions of names in shared objects.
fn in_shared_objects(resolved: &Resolved, ids: &HashSet<SymbolId>) -> Vec<(SymbolId, u64)> {
    let mut words = Vec::new();
    for dso in &resolved.shared {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let id = dso.global(i as u32);
            if symbol.st_shndx() != SHN_UNDEF && ids.contains(&id) {
                words.push((id, pack(Rank::Provided, dso.file, i as u32)));
            }
        }
    }
    words
}

fn best(words: Vec<(SymbolId, u64)>) -> BTreeMap<SymbolId, u64> {
    let mut best = BTreeMap::new();
    for (id, word) in words {
        best.entry(id).and_modify(|w| *w = word.min(*w)).or_insert(word);
    }
    best
}

/// Refuses a definition in a section that is a table of its object file: that is no place in a program.
fn refuse_in_table(resolved: &Resolved, id: SymbolId, sink: &DiagSink) {
    let entry = resolved.names.get(id);
    let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
    let symbol = &object.syms[entry.sym() as usize];
    if let SymbolPlace::Section(shndx) = object.place(entry.sym(), symbol)
        && object.shdrs.get(shndx as usize).is_some_and(is_table)
    {
        sink.push(object.whole().error(Cause::MalformedObject, object.misplaced(entry.sym(), symbol)));
    }
}

/// Whether the symbol has a definition that stays.
fn is_kept(object: &Object, index: u32, sections: &Sections) -> bool {
    match object.place(index, &object.syms[index as usize]) {
        SymbolPlace::Section(s) if (s as usize) < object.shdrs.len() => {
            sections.list[(object.section_base + s) as usize].in_image()
        }
        SymbolPlace::Absolute | SymbolPlace::Common => true,
        _ => false,
    }
}

fn definition_word(object: &Object, index: u32) -> u64 {
    let symbol = &object.syms[index as usize];
    let rank = match object.place(index, symbol) {
        SymbolPlace::Common => Rank::Common,
        _ if symbol.binding() != STB_GLOBAL => Rank::Weak,
        _ => Rank::Strong,
    };
    pack(rank, object.file, index)
}

/// Of the definitions of a common symbol the largest one stands for all, the first among equals: its
/// size is what other modules and debuggers should see.
fn prefer_largest_commons(resolved: &mut Resolved) {
    let size = |resolved: &Resolved, file: FileId, sym: u32| {
        resolved.objects[resolved.index_of_file[file.index()] as usize].syms[sym as usize].st_size()
    };
    for i in 0..resolved.commons.len() {
        let rival = resolved.commons[i];
        let entry = resolved.names.get(rival.id);
        if entry.rank() == Rank::Common
            && size(resolved, rival.file, rival.sym) > size(resolved, entry.file(), entry.sym())
        {
            resolved.names.get_mut(rival.id).best = pack(Rank::Common, rival.file, rival.sym);
        }
    }
}

fn freeze_one(resolved: &Resolved, sections: &Sections, entry: &Entry) -> Symbol {
    let mut flags = reference_flags(entry);
    let (mut value, mut section) = (0, u32::MAX);
    match entry.rank() {
        Rank::Undefined => {}
        Rank::Internal => {
            flags |= symbol_flags::INTERNAL;
            section = entry.sym();
        }
        Rank::Provided => {
            let index = resolved.index_of_file[entry.file().index()];
            // References that are not of default visibility cannot be met by another module; an unread
            // archive member meets none.
            if entry.flags & flag::DEF_SHARED != 0
                && flags & (symbol_flags::HIDDEN | symbol_flags::PROTECTED) == 0
            {
                match resolved.shared.get(index as usize) {
                    Some(dso) if dso.file == entry.file() => {
                        let s = &dso.syms[entry.sym() as usize];
                        flags |= symbol_flags::SHARED | type_flags(s);
                        flags |= if s.visibility() == STV_PROTECTED { symbol_flags::PROTECTED } else { 0 };
                    }
                    _ => flags |= passed_over(entry, index),
                }
            }
        }
        Rank::Strong | Rank::Weak | Rank::Common => {
            let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
            let s = &object.syms[entry.sym() as usize];
            value = s.st_value();
            flags |= type_flags(s);
            if object.machine.called_other != 0 {
                flags |= called_other(object, s);
            }
            match object.place(entry.sym(), s) {
                SymbolPlace::Undefined => {}
                SymbolPlace::Absolute => flags |= symbol_flags::ABSOLUTE,
                SymbolPlace::Common => flags |= symbol_flags::COMMON,
                SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                    section = object.section_base + shndx;
                    flags |= match sections.list[section as usize].kind() {
                        SectionKind::Discarded | SectionKind::Dropped => symbol_flags::IN_DISCARDED,
                        SectionKind::Merge => symbol_flags::DEFINED | symbol_flags::MERGED,
                        _ => symbol_flags::DEFINED,
                    };
                }
                SymbolPlace::Section(_) => {}
            }
        }
    }
    if flags & symbol_flags::IN_DISCARDED != 0 {
        // What refers to its own definition insists on it, even a weak one.
        (value, section) = (0, u32::MAX);
    } else if flags & symbol_flags::KIND == symbol_flags::UNDEFINED
        && entry.flags & (flag::REF_STRONG | flag::ROOT) == 0
    {
        flags |= symbol_flags::WEAK_UNDEFINED;
    }
    Symbol::new(value, section, flags)
}

/// What a definition's `st_other` says to who calls it, as flags.
#[inline(never)]
fn called_other(object: &Object, symbol: &Sym) -> u32 {
    let machine = object.machine;
    let said = symbol.st_other();
    let implied = machine.function_other.map_or(0, |implied| implied(object.flags, said));
    u32::from((said | implied) & machine.called_other) << symbol_flags::OTHER_SHIFT
}

/// A lazy file comes first that was not read.
#[cold]
fn passed_over(entry: &Entry, index: u32) -> u32 {
    let is_named = entry.flags & (flag::REF_STRONG | flag::REF_WEAK) != 0;
    if index == u32::MAX && is_named { symbol_flags::PASSED_OVER } else { 0 }
}

fn reference_flags(entry: &Entry) -> u32 {
    let mut flags = 0;
    if entry.flags & (flag::VIS_HIDDEN | flag::VIS_INTERNAL) != 0 {
        flags |= symbol_flags::HIDDEN;
    } else if entry.flags & flag::VIS_PROTECTED != 0 {
        flags |= symbol_flags::PROTECTED;
    }
    if entry.flags & flag::REF_STRONG != 0 {
        flags |= symbol_flags::STRONG_REF;
    }
    flags
}

/// The flags of which any says that a symbol of another module is used by a reference that is not weak.
/// Without gc, it is enough that an object names it.
pub fn strong_use(gc: bool) -> u32 {
    if gc { symbol_flags::USED_STRONG } else { symbol_flags::USED_STRONG | symbol_flags::STRONG_REF }
}

/// The symbol-table type of what has these flags, for symbols that no object defines.
pub fn symbol_type(flags: u32) -> u8 {
    // What others define is a variable of threads if it is used as one.
    const THREAD_LOCAL: u32 = symbol_flags::TLS
        | symbol_flags::NEEDS_TLSGD
        | symbol_flags::NEEDS_GOTTP
        | symbol_flags::NEEDS_TLSDESC;
    const TYPES: [(u32, u8); 3] =
        [(THREAD_LOCAL, STT_TLS), (symbol_flags::FUNC, STT_FUNC), (symbol_flags::OBJECT, STT_OBJECT)];
    TYPES.iter().find(|(bit, _)| flags & bit != 0).map_or(STT_NOTYPE, |t| t.1)
}

fn type_flags(s: &Sym) -> u32 {
    match s.kind() {
        STT_FUNC => symbol_flags::FUNC,
        STT_GNU_IFUNC => symbol_flags::IFUNC | symbol_flags::FUNC,
        STT_TLS => symbol_flags::TLS,
        STT_OBJECT | STT_COMMON => symbol_flags::OBJECT,
        _ => 0,
    }
}

/// Finds definitions in the groups that survived where those of the winners lost. What has been looked
/// through once is kept: one object may have lost thousands.
#[derive(Default)]
struct SurvivingGroups {
    /// Of each object that lost: its groups by the sections that are in them.
    groups: HashMap<u32, HashMap<u32, usize>>,
    /// Of each object whose groups stay: the names that it defines, each with its first symbol.
    definitions: HashMap<ObjectId, HashMap<SymbolId, u32>>,
}

impl SurvivingGroups {
    /// The priority word of the definition of `id`.
    fn find(
        &mut self,
        resolved: &Resolved,
        sections: &Sections,
        comdats: &Comdats,
        id: SymbolId,
    ) -> Option<u64> {
        let entry = resolved.names.get(id);
        let index = resolved.index_of_file[entry.file().index()];
        let loser = &resolved.objects[index as usize];
        let SymbolPlace::Section(lost) = loser.place(entry.sym(), &loser.syms[entry.sym() as usize]) else {
            return None;
        };
        let groups = self.groups.entry(index).or_insert_with(|| groups_of_sections(loser));
        let group = &loser.groups[*groups.get(&lost)?];
        let owner = comdats.owner(signature(loser, group))?;
        let winner = &resolved.objects[owner.index()];
        let definitions = self.definitions.entry(owner).or_insert_with(|| kept_definitions(winner, sections));
        Some(definition_word(winner, *definitions.get(&id)?))
    }
}

/// The first group that each section is in.
fn groups_of_sections(object: &Object) -> HashMap<u32, usize> {
    let mut found = HashMap::new();
    for (g, group) in object.groups.iter().enumerate() {
        for member in object.group_words(group.shndx).unwrap_or_default().members() {
            found.entry(member).or_insert(g);
        }
    }
    found
}

fn kept_definitions(object: &Object, sections: &Sections) -> HashMap<SymbolId, u32> {
    let globals = object.first_global..object.syms.len() as u32;
    // Last first, so that the first stays.
    globals.rev().filter(|i| is_kept(object, *i, sections)).map(|i| (object.global(i), i)).collect()
}
