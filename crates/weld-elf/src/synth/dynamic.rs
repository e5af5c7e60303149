//! `.dynamic`, and the bytes of `.dynsym`.
//!
//! The entries are made by one function, called before layout to count them and after it to write
//! them; which there are depends on nothing that layout decides, but for tables that a script discards: their
//! room stays empty.
//!
//! Specification: gABI chapter 5 "Dynamic Section"; `DT_FLAGS_1` and `DT_GNU_HASH` as the GNU tools.

use super::plan::Plan;
use super::section::{At, Header, Links, Sizes, Spec, Synthetic};
use crate::arch::facts::{ForLoader, LoaderTag};
use crate::arch::plt::Style;
use crate::elf::*;
use crate::got_plt_slots::Slots;
use crate::ids::*;
use crate::layout::{ChunkKind, Layout};
use crate::live::{Live, fact};
use crate::mode::Mode;
use crate::options::{Bsymbolic, MemtagMode, Options, OutputKind};
use crate::script::layout::LayoutScript;
use crate::script::sections::Content;
use crate::symbols::prefetch_definition;
use crate::synth::dynsym::DynSym;
use crate::synth::image::Image;
use crate::synth::rela::Counts;
use crate::synth::symbol_record::Record;

pub struct DynamicPlan<'c> {
    pub options: &'c Options,
    pub mode: Mode,
    pub dynsym: &'c DynSym,
    pub live: &'c Live,
    pub slots: &'c Slots,
    pub plt: Style,
    /// The tag that says that some functions in the PLT use more registers than others.
    pub variant_calls: Option<u64>,
    pub counts: Counts,
    /// The size of the list of variables to be tagged, if there is one.
    pub tagged: Option<u64>,
    /// Addresses of `DT_INIT` and `DT_FINI` functions; `None` if there are none.
    pub init: Option<u64>,
    pub fini: Option<u64>,
    pub has_versions: bool,
    /// How relocations are stored.
    pub form: RelocForm,
}

/// Addresses and sizes that entries point to. Before layout, all zero.
pub trait Places {
    fn chunk(&self, kind: ChunkKind) -> (u64, u64);
    fn has(&self, kind: ChunkKind) -> bool;
    /// Where the image begins.
    fn base(&self) -> u64;
    /// Address and size of an output section; `None` if there is no such section.
    fn section(&self, name: &[u8]) -> Option<(u64, u64)>;
}

impl Places for Layout<'_> {
    fn chunk(&self, kind: ChunkKind) -> (u64, u64) {
        Layout::chunk(self, kind).map_or((0, 0), |c| (c.address().get(), c.size))
    }
    fn has(&self, kind: ChunkKind) -> bool {
        Layout::chunk(self, kind).is_some()
    }
    fn base(&self) -> u64 {
        self.image_base.get()
    }
    fn section(&self, name: &[u8]) -> Option<(u64, u64)> {
        self.find(name).map(|s| (s.address.get(), s.size))
    }
}

impl DynamicPlan<'_> {
    /// All entries, `DT_NULL` and spare ones for tools that add to the list included, in the order that
    /// ld.lld has, but for `DT_JMPREL`.
    pub fn entries(&self, places: &dyn Places) -> Vec<(u64, u64)> {
        let mut list: Vec<(u64, u64)> = Vec::new();
        list.extend(self.dynsym.strings.iter().map(|&(tag, offset)| (tag, offset as u64)));
        self.flags(&mut list);
        if self.options.kind != OutputKind::Shared && !self.options.layout.rodynamic {
            list.push((DT_DEBUG, 0));
        }
        self.relocations(places, &mut list);
        self.machine(places, &mut list);
        self.symbol_tables(places, &mut list);
        self.functions(places, &mut list);
        self.versions(places, &mut list);
        // The first of them ends the list.
        list.extend(std::iter::repeat_n((DT_NULL, 0), 1 + self.options.dynamic.spare_tags as usize));
        list
    }

    fn functions(&self, places: &dyn Places, list: &mut Vec<(u64, u64)>) {
        let arrays = [
            (&b".preinit_array"[..], DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ),
            (b".init_array", DT_INIT_ARRAY, DT_INIT_ARRAYSZ),
            (b".fini_array", DT_FINI_ARRAY, DT_FINI_ARRAYSZ),
        ];
        for (name, address_tag, size_tag) in arrays {
            if let Some((address, size)) = places.section(name) {
                list.extend([(address_tag, address), (size_tag, size)]);
            }
        }
        list.extend(self.init.map(|a| (DT_INIT, a)));
        list.extend(self.fini.map(|a| (DT_FINI, a)));
    }

    fn symbol_tables(&self, places: &dyn Places, list: &mut Vec<(u64, u64)>) {
        list.push((DT_SYMTAB, places.chunk(ChunkKind::DynSym).0));
        list.push((DT_SYMENT, self.form.format.size::<Sym>()));
        list.push((DT_STRTAB, places.chunk(ChunkKind::DynStr).0));
        list.push((DT_STRSZ, self.dynsym.dynstr.size()));
        if self.live.has(fact::TEXT_REL) {
            list.push((DT_TEXTREL, 0));
        }
        if self.dynsym.gnu_hash.is_some() && places.has(ChunkKind::GnuHash) {
            list.push((DT_GNU_HASH, places.chunk(ChunkKind::GnuHash).0));
        }
        if self.dynsym.sysv_hash.is_some() && places.has(ChunkKind::SysvHash) {
            list.push((DT_HASH, places.chunk(ChunkKind::SysvHash).0));
        }
    }

    fn versions(&self, places: &dyn Places, list: &mut Vec<(u64, u64)>) {
        if !self.dynsym.versym.is_empty() {
            list.push((DT_VERSYM, places.chunk(ChunkKind::VerSym).0));
        }
        if let Some(verdef) = &self.dynsym.verdef {
            list.push((DT_VERDEF, places.chunk(ChunkKind::VerDef).0));
            list.push((DT_VERDEFNUM, verdef.count as u64));
        }
        if let Some(verneed) = &self.dynsym.verneed {
            list.push((DT_VERNEED, places.chunk(ChunkKind::VerNeed).0));
            list.push((DT_VERNEEDNUM, verneed.count as u64));
        }
    }

    fn relocations(&self, places: &dyn Places, list: &mut Vec<(u64, u64)>) {
        let rela = self.counts.relative + self.counts.others;
        if rela > 0 {
            let [table, size, entry, _] = self.tags();
            let packed = self.options.relocs.pack_android;
            let (address, bytes) = places.chunk(ChunkKind::RelaDyn);
            match (packed, self.form.addends) {
                (true, true) => list.extend([(DT_ANDROID_RELA, address), (DT_ANDROID_RELASZ, bytes)]),
                (true, false) => list.extend([(DT_ANDROID_REL, address), (DT_ANDROID_RELSZ, bytes)]),
                (false, _) => list.extend([(table, address), (size, rela * self.form.size())]),
            }
            list.push((entry, self.form.size()));
            // Where relative ones are of the type of others, loaders do not ask how many there are.
            let told = self.mode.facts().loader_got.is_none();
            if self.options.relocs.combreloc && self.counts.relative > 0 && !packed && told {
                list.push((self.tags()[3], self.counts.relative));
            }
        }
        if self.counts.relr > 0 {
            let (address, size) = places.chunk(ChunkKind::Relr);
            let tags = match self.options.relocs.android_relr {
                true => [DT_ANDROID_RELR, DT_ANDROID_RELRSZ, DT_ANDROID_RELRENT],
                false => [DT_RELR, DT_RELRSZ, DT_RELRENT],
            };
            list.extend(tags.into_iter().zip([address, size, self.form.format.word()]));
        }
        if let (Some(types), true) = (&self.mode.facts().dynamic.signed, self.counts.signed > 0) {
            let (address, size) = places.chunk(ChunkKind::SignedRelr);
            list.extend(types.packed_tags.into_iter().zip([address, size, self.form.format.word()]));
        }
        let (bound, _) = self.slots.plt_relocs();
        if bound > 0 {
            list.push((DT_PLTRELSZ, bound as u64 * self.form.size()));
            let plt = &self.mode.facts().plt;
            let in_got = plt.reserved_words == 0 && plt.apart.is_none();
            let loader_words = match self.slots.without_words {
                0 if in_got => ChunkKind::Got,
                0 => ChunkKind::GotPlt,
                _ => ChunkKind::Plt,
            };
            // By this tag others have the GOT.
            if self.mode.facts().loader_got.is_none() {
                let front = self.slots.in_front(self.mode.facts());
                list.push((DT_PLTGOT, places.chunk(loader_words).0 + front));
            }
            list.push((DT_PLTREL, self.tags()[0]));
            // After DT_PLTREL, as with GNU ld: the loader of syslinux takes what comes later of the two for
            // the table.
            list.push((DT_JMPREL, places.chunk(ChunkKind::RelaPlt).0));
        }
    }

    /// What the loader is told of the PLT in terms of the machine.
    fn machine(&self, places: &dyn Places, list: &mut Vec<(u64, u64)>) {
        let plt = &self.mode.facts().plt;
        if let Some(got) = &self.mode.facts().loader_got {
            let entry = self.form.format.size::<Dyn>();
            let has_map = !self.mode.shared && places.has(ChunkKind::DebugMap);
            let said = ForLoader {
                base: places.base(),
                got: places.chunk(ChunkKind::Got).0,
                local_words: self.slots.local_words,
                symbols: self.dynsym.count() as u64,
                first_in_got: self.dynsym.first_in_got as u64,
                got_plt: (self.slots.jump_slots > 0).then(|| places.chunk(ChunkKind::GotPlt).0),
                map: has_map.then(|| places.chunk(ChunkKind::DebugMap).0),
                here: places.chunk(ChunkKind::Dynamic).0.wrapping_add(list.len() as u64 * entry),
                entry,
                moves: self.mode.pic,
            };
            list.extend((got.tags)(&said));
        }
        if let (Style::Guarded { marked, signed }, Some(guarded)) = (self.plt, &plt.guarded) {
            let tags = [guarded.marked_tag.filter(|_| marked), guarded.signed_tag.filter(|_| signed)];
            list.extend(tags.into_iter().flatten().map(|tag| (tag, 0)));
        }
        if let (Some(tags), true) = (&plt.marks, self.options.dynamic.mark_plt && self.slots.jump_slots > 0) {
            let entries = if self.plt == Style::Marked { ChunkKind::PltSec } else { ChunkKind::Plt };
            let (address, size) = places.chunk(entries);
            list.extend(tags.iter().copied().zip([address, size, self.plt.entry_size(self.mode.facts())]));
        }
        if let (Some(apart), true) = (&plt.apart, self.slots.jump_slots > 0) {
            let value = match apart.tag_for {
                LoaderTag::Code(offset) => places.chunk(ChunkKind::Plt).0.wrapping_add(offset),
                LoaderTag::GotBase => places.chunk(ChunkKind::Got).0,
            };
            list.push((apart.tag, value));
            list.extend(apart.more_tags);
        }
        list.extend(self.variant_calls.map(|tag| (tag, 0)));
        let memtag = &self.options.notes.memtag;
        if let (Some(mode), Some(tags)) = (memtag.mode, &self.mode.facts().tagging) {
            let mode = u64::from(mode == MemtagMode::Async);
            let (heap, stack) = (u64::from(memtag.heap), u64::from(memtag.stack));
            list.extend([(tags.mode_tag, mode), (tags.heap_tag, heap), (tags.stack_tag, stack)]);
            if let Some(size) = self.tagged {
                let address = places.chunk(ChunkKind::MemtagGlobals).0;
                list.extend(tags.descriptors_tags.into_iter().zip([address, size]));
            }
        }
    }

    /// What stands for the table of relocations: its address and size, that of an entry, and the number of
    /// relative ones.
    fn tags(&self) -> [u64; 4] {
        match self.form.addends {
            true => [DT_RELA, DT_RELASZ, DT_RELAENT, DT_RELACOUNT],
            false => [DT_REL, DT_RELSZ, DT_RELENT, DT_RELCOUNT],
        }
    }

    fn flags(&self, list: &mut Vec<(u64, u64)>) {
        let o = self.options;
        let bit = |on: bool, bit: u64| if on { bit } else { 0 };
        // It would have the loader bind also what lists leave replaceable inside.
        let listed = !o.symbols.dynamic_lists.is_empty()
            || !o.symbols.dynamic_list_patterns.is_empty()
            || o.symbols.dynamic_list_data
            || !o.symbols.export_dynamic_symbols.is_empty()
            || !o.symbols.export_symbol_lists.is_empty();
        let symbolic = o.symbols.bsymbolic == Bsymbolic::All && self.mode.shared && !listed;
        let static_tls = self.live.has(fact::STATIC_TLS) && self.mode.shared;
        // GNU ld has its old tag without the new ones.
        let old_tag = o.dynamic.disable_new_dtags && o.compat_mode.is_gnu_ld();
        if o.dynamic.now && old_tag {
            list.push((DT_BIND_NOW, 0));
        }
        let flags = bit(o.dynamic.origin, DF_ORIGIN)
            | bit(symbolic, DF_SYMBOLIC)
            | bit(self.live.has(fact::TEXT_REL), DF_TEXTREL)
            | bit(o.dynamic.now && !old_tag, DF_BIND_NOW)
            | bit(static_tls, DF_STATIC_TLS);
        let flags_1 = bit(o.dynamic.now, DF_1_NOW)
            | bit(o.dynamic.global, DF_1_GLOBAL)
            | bit(o.dynamic.nodelete, DF_1_NODELETE)
            | bit(o.dynamic.initfirst, DF_1_INITFIRST)
            | bit(o.dynamic.nodlopen, DF_1_NOOPEN)
            | bit(o.dynamic.origin, DF_1_ORIGIN)
            | bit(o.dynamic.interpose, DF_1_INTERPOSE)
            | bit(o.dynamic.nodefaultlib, DF_1_NODEFLIB)
            | bit(o.dynamic.nodump, DF_1_NODUMP)
            | bit(o.dynamic.loadfltr, DF_1_LOADFLTR)
            | bit(o.dynamic.globalaudit, DF_1_GLOBAUDIT)
            | bit(o.kind == OutputKind::Pie, DF_1_PIE);
        if flags != 0 {
            list.push((DT_FLAGS, flags));
        }
        if flags_1 != 0 {
            list.push((DT_FLAGS_1, flags_1));
        }
        if o.dynamic.unique {
            list.push((DT_GNU_FLAGS_1, DF_GNU_1_UNIQUE));
        }
    }
}

/// Places before layout: everything exists, nothing has an address.
pub struct Unplaced<'n> {
    /// Names of the output sections that will exist.
    pub sections: &'n [&'n [u8]],
}

impl Places for Unplaced<'_> {
    fn chunk(&self, _: ChunkKind) -> (u64, u64) {
        (0, 0)
    }
    fn has(&self, _: ChunkKind) -> bool {
        true
    }
    fn base(&self) -> u64 {
        0
    }
    fn section(&self, name: &[u8]) -> Option<(u64, u64)> {
        self.sections.contains(&name).then_some((0, 0))
    }
}

pub fn write(format: Format, entries: &[(u64, u64)], out: &mut [u8]) {
    let mut bytes = Writer::with_room(format, out.len());
    for (tag, value) in entries {
        bytes.word(*tag).word(*value);
    }
    let bytes = bytes.finish();
    // That there is room for all has been checked.
    let len = bytes.len().min(out.len());
    let (entries, rest) = out.split_at_mut(len);
    entries.copy_from_slice(&bytes[..len]);
    rest.fill(0);
}

/// How many symbols ahead what is known of a symbol is asked for, and the table entry that defines it.
const SYMBOL_AHEAD: usize = 16;
const DEFINITION_AHEAD: usize = 8;

/// Writes `.dynsym` from entry `first` on.
pub fn write_dynsym(image: &Image, dynsym: &DynSym, first: usize, out: &mut [u8]) {
    let format = image.format();
    let spares = spare_symbols(image, dynsym);
    for (i, bytes) in out.chunks_exact_mut(format.size::<Sym>() as usize).enumerate() {
        // Symbols are in the order of hashes: each is somewhere else.
        if let Some(&id) = dynsym.symbols.get(first + i + SYMBOL_AHEAD).filter(|id| id.is_some()) {
            image.symbols.prefetch(id);
            image.resolved.names.prefetch(id);
        }
        if let Some(&id) = dynsym.symbols.get(first + i + DEFINITION_AHEAD).filter(|id| id.is_some()) {
            prefetch_definition(image.resolved, id);
        }
        match (first + i).checked_sub(1) {
            Some(index) => match spares.get(index) {
                Some(spare) => spare.put(format, bytes),
                None => dynamic_symbol(image, dynsym, index - spares.len()).put(format, bytes),
            },
            None => bytes.fill(0),
        }
    }
}

/// Those that are spare, or were.
fn spare_symbols(image: &Image, dynsym: &DynSym) -> Vec<Sym> {
    match image.layout.sections.first() {
        Some(first) if dynsym.spares.count > 0 => {
            let spare = Record::section(OutputSectionId(0).header(), first.address).make(0).0;
            dynsym.spares.dynamic(spare, dynsym.dynstr.tail())
        }
        _ => Vec::new(),
    }
}

/// A dynamic symbol has no extended index. The loader tells undefined and absolute ones from the rest, whose
/// values it moves with the image.
fn dynamic_symbol(image: &Image, dynsym: &DynSym, i: usize) -> Sym {
    let id = dynsym.symbols[i];
    if id.is_none() {
        return Record::nothing().make(0).0;
    }
    let record = match image.definition(id) {
        Some((definition, _)) => image.global_record(id, definition),
        None => image.made_record(id),
    };
    seen_by_loader(record).make(dynsym.dynstr.offset(i)).0
}

/// What is hidden from others is not in `.dynsym`, but for what options bring there.
#[inline(always)]
pub fn seen_by_loader(record: Record) -> Record {
    let other = if record.other & 3 == STV_PROTECTED { record.other } else { record.other & !3 };
    Record { other, ..record }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let plan = sizes.plan;
        let dynamic = plan.dynamic_plan(sizes.options, plan.dynsym.as_ref()?);
        let count = dynamic.entries(&Unplaced { sections: &arrays(sizes) }).len();
        let flags = if sizes.options.layout.rodynamic { SHF_ALLOC } else { SHF_ALLOC | SHF_WRITE };
        let format = sizes.format();
        let entsize = format.size::<Dyn>();
        let header = Header { name: b".dynamic", kind: SHT_DYNAMIC, flags, entsize };
        Spec::own(header, format.word(), count as u64 * entsize).map(Spec::dispensable)
    }

    fn links(&self, _: &Plan) -> Option<Links> {
        Links::to(ChunkKind::DynStr)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(at.format(), &at.contents().dynamic, out);
    }
}

/// Arrays of functions that `.dynamic` names.
const ARRAYS: [&[u8]; 3] = [b".preinit_array", b".init_array", b".fini_array"];

/// Those of them for which a script has data of its own.
pub(super) fn arrays_of_script(script: &LayoutScript) -> Vec<&'static [u8]> {
    let with_data = |name: &[u8]| {
        let is_data = |content: &Content| matches!(content, Content::Data(..));
        script.descriptions().any(|section| section.name == name && section.contents.iter().any(is_data))
    };
    ARRAYS.into_iter().filter(|name| with_data(name)).collect()
}

/// Which of the arrays that `.dynamic` names will exist.
fn arrays(sizes: &Sizes) -> Vec<&'static [u8]> {
    let sections = sizes.sections;
    let names = ARRAYS;
    // With a linker script there may be several bins for one.
    let number = |name: &[u8]| names.iter().position(|n| *n == name);
    let bins = (0..).map(PlacementId).zip(&sections.bins);
    let wanted: Vec<(PlacementId, usize)> =
        bins.filter_map(|(bin, name)| Some((bin, number(name)?))).collect();
    let of_bin = |bin: PlacementId| wanted.iter().find(|w| w.0 == bin).map(|w| w.1);
    let mut found = names.map(|name| sizes.plan.arrays_of_script.contains(&name));
    for (object, extra) in sizes.objects.iter().zip(&sections.objects) {
        let missing = |bin: PlacementId| of_bin(bin).filter(|k| !found[*k]);
        if !extra.uses.iter().any(|u| missing(u.bin).is_some()) {
            continue;
        }
        let base = object.section_base as usize;
        for (i, section) in sections.list[base..base + object.shdrs.len()].iter().enumerate() {
            if let Some(k) = of_bin(section.bin())
                && section.in_image()
                && sizes.plan.live.contains(SectionId((base + i) as u32))
            {
                found[k] = true;
            }
        }
    }
    names.into_iter().zip(found).filter(|(_, f)| *f).map(|(n, _)| n).collect()
}
