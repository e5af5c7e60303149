//! The symbol table of a joined object.
//!
//! Order: the null symbol, a symbol for each joined section, the local symbols of each object, the
//! global ones of each object, the linker's own. Each object's ranges follow from counts, so objects
//! are written independently. A global name is written by the object that defines it, or, if none
//! does, by the first that mentions it.
//!
//! Symbols of input sections are replaced by those of the joined ones. A local symbol that options
//! would drop stays if a relocation or a group needs it. Which stay is one bit a symbol, with counts
//! every 64, so that a relocation finds its symbol's new index without a table of indices.
//!
//! Specification: gABI chapter 4 "Symbol Table".

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rayon::prelude::*;

use super::outs::{NONE, Outs, live_members};
use weld_common::diag::DiagSink;
use weld_common::zeroed;

use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::Live;
use crate::names::{Rank, flag};
use crate::options::{Discard, Options, Strip};
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::internal::{Internals, Target};
use crate::symbols::{Symbols, sym};
use crate::synth::commons::{Common, merged_commons};
use crate::synth::symbol_numbers::Kept;
use crate::synth::symtab::Part;

/// Where an object's symbols and names go.
#[derive(Clone, Copy, Default, Debug)]
pub struct Range {
    pub locals: u32,
    pub globals: u32,
    pub strings: u64,
}

/// What becomes of a global name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Some object's definition is written.
    Here,
    Undefined,
    /// Defined by the command line.
    Own,
    Gone,
}

pub struct SymTab {
    /// Start of each object's ranges, and one past the last.
    pub starts: Vec<Range>,
    kept: Vec<Kept>,
    /// Index of each name in the table; 0 if it is not there.
    globals: Vec<AtomicU32>,
    /// Where an undefined name is written; see [`owner_word`].
    owners: Vec<AtomicU64>,
    /// Names that stay common.
    commons: HashMap<SymbolId, Common>,
    /// Definitions of the command line: name, and what it stands for.
    own: Vec<(SymbolId, Target)>,
    pub strings: u64,
    pub count: u64,
    /// `sh_info`: index of the first global symbol.
    pub first_global: u32,
}

impl SymTab {
    /// The output's index of symbol `index` of an object; 0 if it is not there.
    #[inline]
    pub fn index(&self, (number, object): (ObjectId, &Object), index: u32, outs: &Outs) -> u32 {
        let Some(symbol) = object.syms.get(index as usize) else { return 0 };
        if index >= object.first_global {
            return self.globals[object.global(index).index()].load(Ordering::Relaxed);
        }
        if symbol.kind() == STT_SECTION {
            return match object.place(index, symbol) {
                SymbolPlace::Section(s) if (s as usize) < object.shdrs.len() => {
                    section_symbol(outs, outs.of_section[(object.section_base + s) as usize])
                }
                _ => 0,
            };
        }
        let kept = &self.kept[number.index()];
        if kept.contains(index) { self.starts[number.index()].locals + kept.rank(index) } else { 0 }
    }
}

/// Index of the symbol of output section number `out`; 0 if it has none.
pub fn section_symbol(outs: &Outs, out: u32) -> u32 {
    if outs.contents.contains(&out) { out - outs.contents.start + 1 } else { 0 }
}

/// The first mention of a name that nothing defines is the greatest word, because 0 means "none".
/// Mentions as thread-local come before others, for the final linker compares types.
fn owner_word(object: usize, index: u32, tls: bool) -> u64 {
    !(u64::from(!tls) << 63 | (object as u64) << 32 | u64::from(index))
}

pub struct Counter<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub options: &'c Options,
    pub sink: &'c DiagSink,
    pub outs: &'c Outs<'a>,
}

/// What the options say about a local symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Drop,
    Keep,
    /// Kept for a relocation or a group.
    IfNeeded,
}

impl<'a> Counter<'_, 'a> {
    pub fn plan(&self, internals: &Internals, parallel: bool) -> Result<SymTab, String> {
        let objects = &self.resolved.objects;
        let owners = self.owners(parallel);
        let one = |(o, object): (usize, &Object<'a>)| self.count(o, object, &owners);
        let counted: Vec<(Range, Kept)> = match parallel {
            true => objects.par_iter().enumerate().map(one).collect(),
            false => objects.iter().enumerate().map(one).collect(),
        };
        let sections = self.outs.contents.len() as u64;
        let total: u64 = counted.iter().map(|c| c.0.locals as u64 + c.0.globals as u64).sum();
        let own: Vec<(SymbolId, Target)> = internals.list.iter().map(|i| (i.id, i.target.clone())).collect();
        let count = 1 + sections + total + own.len() as u64;
        if count > u64::from(u32::MAX) {
            return Err(format!("too many symbols: {count}"));
        }
        let locals: u32 = counted.iter().map(|c| c.0.locals).sum();
        let first_local = 1 + sections as u32;
        let first_global = first_local + locals;
        let mut at = Range { locals: first_local, globals: first_global, strings: 1 };
        let mut starts = Vec::with_capacity(counted.len() + 1);
        let mut kept = Vec::with_capacity(counted.len());
        for (range, bits) in counted {
            starts.push(at);
            kept.push(bits);
            at.locals += range.locals;
            at.globals += range.globals;
            at.strings += range.strings;
        }
        starts.push(at);
        let names = |id: &SymbolId| self.resolved.names.get(*id).name.len() as u64 + 1;
        let strings = at.strings + own.iter().map(|(id, _)| names(id)).sum::<u64>();
        if strings > u64::from(u32::MAX) {
            return Err(".strtab is larger than 4 GiB".into());
        }
        let globals = zeroed::sparse(self.symbols.list.len());
        let commons = match self.options.symbols.define_common {
            true => HashMap::new(),
            false => merged_commons(self.resolved)?.into_iter().collect(),
        };
        let symtab = SymTab { starts, kept, globals, owners, commons, own, strings, count, first_global };
        self.number(&symtab, parallel);
        Ok(symtab)
    }

    /// Decides where names that no object defines are written.
    fn owners(&self, parallel: bool) -> Vec<AtomicU64> {
        let owners: Vec<AtomicU64> = zeroed::sparse(self.symbols.list.len());
        let one = |(o, object): (usize, &Object<'a>)| {
            for (i, symbol) in object.syms.iter().enumerate().skip(object.first_global as usize) {
                let id = object.global(i as u32);
                if state(self.symbols, self.live, self.options, self.resolved, id) == State::Undefined {
                    let word = owner_word(o, i as u32, symbol.kind() == STT_TLS);
                    owners[id.index()].fetch_max(word, Ordering::Relaxed);
                }
            }
        };
        match parallel {
            true => self.resolved.objects.par_iter().enumerate().for_each(one),
            false => self.resolved.objects.iter().enumerate().for_each(one),
        }
        owners
    }

    fn count(&self, number: usize, object: &Object<'a>, owners: &[AtomicU64]) -> (Range, Kept) {
        let mut kept = self.choose(object, number);
        let mut range = Range { locals: kept.count(), ..Range::default() };
        for i in (1..object.first_global).filter(|i| kept.contains(*i)) {
            range.strings += name_size(object.symbol_name(i));
        }
        for i in object.first_global..object.syms.len() as u32 {
            if let Some(name) = self.writes_global(number, object, i, owners) {
                range.globals += 1;
                range.strings += name_size(name);
            }
        }
        (range, kept)
    }

    /// The name under which an object writes its global symbol `index`, if it does.
    fn writes_global(
        &self,
        number: usize,
        object: &Object<'a>,
        index: u32,
        owners: &[AtomicU64],
    ) -> Option<&'a [u8]> {
        let id = object.global(index);
        let entry = self.resolved.names.get(id);
        match state(self.symbols, self.live, self.options, self.resolved, id) {
            // A definition may spell a version that its name in the table does not have.
            State::Here => {
                (entry.file() == object.file && entry.sym() == index).then(|| object.symbol_name(index))
            }
            State::Undefined => {
                let tls = object.syms[index as usize].kind() == STT_TLS;
                let owner = owners[id.index()].load(Ordering::Relaxed);
                (owner == owner_word(number, index, tls)).then_some(entry.name)
            }
            State::Own | State::Gone => None,
        }
    }

    /// Which local symbols of an object are written.
    fn choose(&self, object: &Object<'a>, number: usize) -> Kept {
        let count = object.first_global as usize;
        let (mut kept, mut maybe) = (Kept::new(count), Kept::new(count));
        let mut conditional = false;
        for i in 1..object.first_global {
            object.check_local(i, &object.syms[i as usize], self.sink);
            match self.choice(object, i) {
                Choice::Drop => {}
                Choice::Keep => kept.set(i),
                Choice::IfNeeded => {
                    maybe.set(i);
                    conditional = true;
                }
            }
        }
        if conditional {
            let mut need = |index: u32| {
                if index < object.first_global && maybe.contains(index) {
                    kept.set(index);
                }
            };
            for shndx in 1..object.shdrs.len() {
                let id = SectionId(object.section_base + shndx as u32);
                if self.live.contains(id) {
                    let relocs = self.sections.relocs(object, number, self.sections.get(id));
                    relocs.iter().for_each(|r| need(r.sym()));
                } else if object.shdrs[shndx].sh_type() == SHT_GROUP
                    && !self.options.sections.dissolve_groups
                    && !live_members(object, shndx as u32, self.live).is_empty()
                {
                    need(object.shdrs[shndx].sh_info());
                }
            }
        }
        kept
    }

    fn choice(&self, object: &Object, index: u32) -> Choice {
        let symbol = &object.syms[index as usize];
        if symbol.kind() == STT_SECTION {
            return Choice::Drop;
        }
        let mut merged = false;
        match object.place(index, symbol) {
            SymbolPlace::Section(s) if (s as usize) < object.shdrs.len() => {
                if self.outs.of_section[(object.section_base + s) as usize] == NONE {
                    return Choice::Drop;
                }
                let shdr = &object.shdrs[s as usize];
                if shdr.sh_type() == SHT_GROUP {
                    return Choice::IfNeeded;
                }
                merged = shdr.sh_flags() & SHF_MERGE != 0;
            }
            SymbolPlace::Section(_) => return Choice::Drop,
            SymbolPlace::Absolute => {}
            SymbolPlace::Undefined | SymbolPlace::Common => return Choice::IfNeeded,
        }
        let temporary = || object.symbol_name(index).starts_with(b".L");
        let all = self.options.symtab.discard == Discard::All || self.options.symtab.strip == Strip::All;
        match self.options.symtab.discard {
            _ if all || symbol.st_name() == 0 => Choice::IfNeeded,
            Discard::Locals if temporary() => Choice::IfNeeded,
            Discard::Default if merged && temporary() => Choice::IfNeeded,
            _ => Choice::Keep,
        }
    }

    /// Gives global names their indices.
    fn number(&self, symtab: &SymTab, parallel: bool) {
        let one = |(o, object): (usize, &Object<'a>)| {
            let mut index = symtab.starts[o].globals;
            for i in object.first_global..object.syms.len() as u32 {
                if self.writes_global(o, object, i, &symtab.owners).is_some() {
                    symtab.globals[object.global(i).index()].store(index, Ordering::Relaxed);
                    index += 1;
                }
            }
        };
        match parallel {
            true => self.resolved.objects.par_iter().enumerate().for_each(one),
            false => self.resolved.objects.iter().enumerate().for_each(one),
        }
        let end = symtab.starts[symtab.starts.len() - 1].globals;
        for (i, (id, _)) in symtab.own.iter().enumerate() {
            symtab.globals[id.index()].store(end + i as u32, Ordering::Relaxed);
        }
    }
}

fn name_size(name: &[u8]) -> u64 {
    if name.is_empty() { 0 } else { name.len() as u64 + 1 }
}

fn state(symbols: &Symbols, live: &Live, options: &Options, resolved: &Resolved, id: SymbolId) -> State {
    let symbol = &symbols[id];
    let entry = resolved.names.get(id);
    let wanted = !options.sections.gc_sections || symbol.has(sym::USED) || entry.flags & flag::ROOT != 0;
    match symbol.kind() {
        _ if entry.rank() == Rank::Internal => State::Own,
        sym::DEFINED if live.contains(SectionId(symbol.section)) => State::Here,
        // Defined in a section that is not copied.
        sym::DEFINED => State::Gone,
        sym::ABSOLUTE => State::Here,
        sym::COMMON if wanted => State::Here,
        sym::UNDEFINED if wanted => State::Undefined,
        _ => State::Gone,
    }
}

/// A symbol's place in the output.
#[derive(Clone, Copy)]
enum Place {
    /// Number of the output section.
    Section(u32),
    /// A reserved section index, kept as it is.
    Reserved(u16),
}

pub struct Writer<'c, 'a> {
    pub plan: &'c super::Plan<'c, 'a>,
}

impl<'a> Writer<'_, 'a> {
    /// The null symbol and those of sections.
    pub fn head(&self) -> Part {
        let mut part = Part::default();
        part.strings.push(0);
        self.put(&mut part, true, Sym::make(0, 0, 0, SHN_UNDEF, 0, 0), Place::Reserved(SHN_UNDEF));
        for out in self.plan.outs.contents.clone() {
            let symbol = Sym::make(0, STT_SECTION, 0, 0, 0, 0);
            self.put(&mut part, true, symbol, Place::Section(out));
        }
        part
    }

    /// The symbols of objects `range`.
    pub fn objects(&self, range: std::ops::Range<usize>) -> Part {
        let mut part = Part::default();
        let mut string = self.plan.symtab.starts[range.start].strings;
        for number in range {
            let object = &self.plan.resolved.objects[number];
            for i in (1..object.first_global).filter(|i| self.plan.symtab.kept[number].contains(*i)) {
                self.local(object, i, &mut string, &mut part);
            }
            let counter = self.counter();
            for i in object.first_global..object.syms.len() as u32 {
                if let Some(name) = counter.writes_global(number, object, i, &self.plan.symtab.owners) {
                    self.global(object, i, name, (&mut string, &mut part));
                }
            }
        }
        part
    }

    fn counter(&self) -> Counter<'_, 'a> {
        let plan = self.plan;
        Counter {
            resolved: plan.resolved,
            sections: plan.sections,
            symbols: plan.symbols,
            live: plan.live,
            options: plan.options,
            sink: plan.sink,
            outs: plan.outs,
        }
    }

    fn local(&self, object: &Object, index: u32, string: &mut u64, part: &mut Part) {
        let symbol = &object.syms[index as usize];
        let (value, place) = self.place(object, index, symbol);
        let name = add_name(object.symbol_name(index), string, part);
        let info = STB_LOCAL << 4 | symbol.kind();
        let record = Sym::make(name, info, symbol.st_other(), 0, value, symbol.st_size());
        self.put(part, true, record, place);
    }

    /// Value and place of a symbol that an object defines.
    fn place(&self, object: &Object, index: u32, symbol: &Sym) -> (u64, Place) {
        match object.place(index, symbol) {
            SymbolPlace::Section(s) => {
                let id = SectionId(object.section_base + s);
                let value = symbol.st_value().wrapping_add(self.plan.sections.get(id).offset());
                (value, Place::Section(self.plan.outs.of_section[id.index()]))
            }
            _ => (symbol.st_value(), Place::Reserved(symbol.st_shndx())),
        }
    }

    fn global(&self, object: &Object<'a>, index: u32, name: &[u8], (string, part): (&mut u64, &mut Part)) {
        let plan = self.plan;
        let id = object.global(index);
        let symbol = &object.syms[index as usize];
        let entry = plan.resolved.names.get(id);
        let (mut size, mut binding, mut kind) = (symbol.st_size(), symbol.binding(), symbol.kind());
        let (value, place) = match plan.symbols[id].kind() {
            sym::UNDEFINED => {
                // A definition that was discarded leaves a reference behind that insists on another one.
                let lost = sym::IN_DISCARDED | sym::USED_STRONG;
                let strong = entry.flags & (flag::REF_STRONG | flag::ROOT) != 0
                    || plan.symbols[id].flags() & lost == lost;
                binding = if strong { STB_GLOBAL } else { STB_WEAK };
                size = 0;
                (0, Place::Reserved(SHN_UNDEF))
            }
            sym::COMMON => match (plan.symtab.commons.get(&id), self.common_place(id)) {
                (Some(common), _) => {
                    size = common.size;
                    (common.align, Place::Reserved(symbol.st_shndx()))
                }
                (None, Some((out, start))) => {
                    kind = if kind == STT_COMMON { STT_OBJECT } else { kind };
                    (start + plan.symbols[id].value, Place::Section(out))
                }
                (None, None) => (symbol.st_value(), Place::Reserved(symbol.st_shndx())),
            },
            _ => self.place(object, index, symbol),
        };
        if binding == STB_GNU_UNIQUE && !plan.options.symbols.gnu_unique {
            binding = STB_GLOBAL;
        }
        let other = symbol.st_other() & !3 | visibility(entry.flags);
        let name = add_name(name, string, part);
        self.put(part, false, Sym::make(name, binding << 4 | kind, other, 0, value, size), place);
    }

    /// Output section and offset of the block that a common symbol lies in, with `-d`.
    fn common_place(&self, id: SymbolId) -> Option<(u32, u64)> {
        self.plan.outs.commons.get(self.plan.symbols[id].section as usize).copied().flatten()
    }

    /// The definitions of the command line.
    pub fn own(&self) -> Part {
        let mut part = Part::default();
        let symtab = self.plan.symtab;
        let mut string = symtab.starts[symtab.starts.len() - 1].strings;
        for (id, target) in &symtab.own {
            let entry = self.plan.resolved.names.get(*id);
            let symbol = &self.plan.symbols[*id];
            let (value, place) = match target {
                Target::Alias(other, offset) if symbol.kind() != sym::ABSOLUTE => {
                    let (value, place) = self.alias(*other);
                    (value.wrapping_add(*offset as u64), place)
                }
                _ => (symbol.value, Place::Reserved(SHN_ABS)),
            };
            let flags = symbol.flags();
            let kind = match flags {
                f if f & sym::TLS != 0 => STT_TLS,
                f if f & sym::FUNC != 0 => STT_FUNC,
                f if f & sym::OBJECT != 0 => STT_OBJECT,
                _ => STT_NOTYPE,
            };
            let name = add_name(entry.name, &mut string, &mut part);
            let record = Sym::make(name, STB_GLOBAL << 4 | kind, visibility(entry.flags), 0, value, 0);
            self.put(&mut part, false, record, place);
        }
        part
    }

    /// Value and place of what an alias stands for, which is no alias itself.
    fn alias(&self, id: SymbolId) -> (u64, Place) {
        let symbol = &self.plan.symbols[id];
        match (symbol.kind(), self.common_place(id)) {
            (sym::DEFINED, _) => {
                let section = self.plan.sections.get(SectionId(symbol.section));
                let out = self.plan.outs.of_section[symbol.section as usize];
                (symbol.value.wrapping_add(section.offset()), Place::Section(out))
            }
            (sym::COMMON, Some((out, start))) => (start + symbol.value, Place::Section(out)),
            _ => (symbol.value, Place::Reserved(SHN_ABS)),
        }
    }

    fn put(&self, part: &mut Part, local: bool, mut record: Sym, place: Place) {
        let (index, extended) = match place {
            Place::Reserved(index) => (index, 0),
            Place::Section(out) if out + 1 < SHN_LORESERVE as u32 => ((out + 1) as u16, 0),
            Place::Section(out) => (SHN_XINDEX, out + 1),
        };
        record.0[6..8].copy_from_slice(&index.to_le_bytes());
        let (records, indices) = match local {
            true => (&mut part.locals, &mut part.local_indices),
            false => (&mut part.globals, &mut part.global_indices),
        };
        records.extend_from_slice(&record.0);
        if self.plan.outs.extended {
            indices.extend_from_slice(&extended.to_le_bytes());
        }
    }
}

fn add_name(name: &[u8], string: &mut u64, part: &mut Part) -> u32 {
    if name.is_empty() {
        return 0;
    }
    let at = *string as u32;
    part.strings.extend_from_slice(name);
    part.strings.push(0);
    *string += name.len() as u64 + 1;
    at
}

/// The strictest visibility that any object gives a name.
fn visibility(flags: u32) -> u8 {
    if flags & flag::VIS_INTERNAL != 0 {
        STV_INTERNAL
    } else if flags & flag::VIS_HIDDEN != 0 {
        STV_HIDDEN
    } else if flags & flag::VIS_PROTECTED != 0 {
        STV_PROTECTED
    } else {
        STV_DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mention_has_the_greatest_word() {
        assert!(owner_word(0, 1, false) > owner_word(0, 2, false));
        assert!(owner_word(0, 2, false) > owner_word(1, 1, false));
        assert!(owner_word(9, 9, true) > owner_word(0, 1, false));
        assert!(owner_word(u32::MAX as usize >> 1, u32::MAX - 1, false) > 0);
    }
}
