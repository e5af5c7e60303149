//! What each section of a live object is for, in 24 bytes.
//!
//! Runs after COMDAT resolution, so losers are marked from the group tables and not looked at
//! further. Names are matched by prefix to the output section they belong to; names outside the
//! well-known set are numbered per object here and joined in object order afterwards, which keeps
//! the numbering independent of threads.
//!
//! Specification: gABI chapter 4 ("Special Sections"); output names as ld.lld and GNU ld assign them.

use rayon::prelude::*;
use std::collections::HashMap;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::glob::Glob;

use super::object::Object;
use crate::compressed::Compressed;
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::ids::*;
use crate::options::{Options, OutputKind, Strip};
use crate::resolve::comdat::Comdats;
use crate::util::is_c_identifier;

/// What to do with an input section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SectionKind {
    /// Not part of the image: tables of the object file itself, stripped, or consumed otherwise.
    Dropped = 0,
    /// Member of a COMDAT group that lost.
    Discarded = 1,
    /// Copied and relocated.
    Regular = 2,
    /// Takes space in memory only.
    NoBits = 3,
    /// Split into pieces that are merged with those of other objects.
    Merge = 4,
    /// `.eh_frame`: parsed into records.
    EhFrame = 5,
    /// Like `Regular`, to be decompressed on the way.
    Compressed = 6,
    /// `.ctors` in `.init_array`: like `Regular`, with the order of its words reversed, because the one
    /// is run from its end and the other from its start.
    Reversed = 7,
}

/// One input section. Slots of sections that take no part are all zero.
#[derive(Clone, Copy, Default)]
pub struct InputSection {
    /// Offset in the output section; after layout the virtual address.
    pub address: u64,
    /// Size in the image.
    pub size: u64,
    /// Header index of the relocation section for this one, or 0.
    pub relocs: u32,
    /// kind (4 bits) | has followers (1) | log2 of the alignment (6) | output section (21)
    meta: u32,
}

const _: () = assert!(size_of::<InputSection>() == 24);

const OUT_SHIFT: u32 = 11;
const FOLLOWERS: u32 = 1 << 4;
/// Output section numbers have 21 bits; the upper half numbers an object's own names.
const LOCAL_NAME: u32 = 1 << 20;

impl InputSection {
    fn new(kind: SectionKind, out: u32, align_log2: u32, size: u64) -> Self {
        InputSection { address: 0, size, relocs: 0, meta: kind as u32 | align_log2 << 5 | out << OUT_SHIFT }
    }
    #[inline(always)]
    pub fn kind(&self) -> SectionKind {
        match self.meta & 15 {
            1 => SectionKind::Discarded,
            2 => SectionKind::Regular,
            3 => SectionKind::NoBits,
            4 => SectionKind::Merge,
            5 => SectionKind::EhFrame,
            6 => SectionKind::Compressed,
            7 => SectionKind::Reversed,
            _ => SectionKind::Dropped,
        }
    }
    pub fn set_kind(&mut self, kind: SectionKind) {
        self.meta = self.meta & !15 | kind as u32;
    }
    /// Whether the section has bytes or space in the image.
    #[inline(always)]
    pub fn in_image(&self) -> bool {
        self.meta & 15 >= 2
    }
    /// Whether other sections live and die with this one.
    pub fn has_followers(&self) -> bool {
        self.meta & FOLLOWERS != 0
    }
    pub fn align(&self) -> u64 {
        1 << (self.meta >> 5 & 63)
    }
    /// Index into the table of output section names.
    pub fn out(&self) -> u32 {
        self.meta >> OUT_SHIFT
    }
    fn set_out(&mut self, out: u32) {
        self.meta = self.meta & ((1 << OUT_SHIFT) - 1) | out << OUT_SHIFT;
    }
}

/// A mergeable section.
#[derive(Clone, Copy)]
pub struct MergeSection {
    pub section: SectionId,
    pub entsize: u32,
    pub strings: bool,
}

/// What an object contributes to an output section's header.
#[derive(Clone, Copy)]
pub struct OutputUse {
    pub out: u32,
    pub kind: u32,
    /// Flags that any, and that every, input section has.
    pub any_flags: u64,
    pub all_flags: u64,
    /// Common entry size, or 0.
    pub entsize: u64,
}

impl OutputUse {
    pub fn join(&mut self, other: &OutputUse) {
        if self.kind != other.kind {
            let array = [self.kind, other.kind].into_iter().find(|k| is_array(*k));
            self.kind = array.unwrap_or(SHT_PROGBITS);
        }
        self.any_flags |= other.any_flags;
        self.all_flags &= other.all_flags;
        if self.entsize != other.entsize {
            self.entsize = 0;
        }
    }
}

fn is_array(kind: u32) -> bool {
    matches!(kind, SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY)
}

/// What one object adds besides its section slots.
#[derive(Default)]
pub struct ObjectSections<'a> {
    /// One for each output section that the object has sections for.
    pub uses: Vec<OutputUse>,
    pub merges: Vec<MergeSection>,
    /// Header index and parsed records of each `.eh_frame`.
    pub eh_frames: Vec<(u32, EhFrame)>,
    /// Header indices of sections that gc never removes.
    pub retained: Vec<u32>,
    /// Header indices of sections that take no memory (debug information and the like).
    pub unallocated: Vec<u32>,
    /// Header indices of sections whose names are C identifiers.
    pub c_named: Vec<u32>,
    /// (a, b): if header index a is live, so is b. Sorted.
    pub followers: Vec<(u32, u32)>,
    /// (section, the section it is ordered by) for `SHF_LINK_ORDER`.
    pub link_order: Vec<(u32, u32)>,
    /// Data of `.note.gnu.property`; `None` if the object has none.
    pub properties: Option<&'a [u8]>,
    /// `.note.GNU-stack` asks for an executable stack; `None` if there is no such section.
    pub executable_stack: Option<bool>,
    /// Decoded `SHT_CREL` sections: header index, relocations.
    pub crels: Vec<(u32, Vec<Rela>)>,
    /// Names of output sections that only this object has named, numbered from `LOCAL_NAME`, and whether
    /// the section takes no others in.
    local_names: Vec<(&'a [u8], bool)>,
    /// There are `.gnu.warning` sections; see `report::warnings`.
    pub has_warnings: bool,
    has_split_stack: bool,
}

/// All sections of all live objects.
pub struct Sections<'a> {
    pub list: Vec<InputSection>,
    pub objects: Vec<ObjectSections<'a>>,
    /// Output section names; an input section's `out()` indexes this.
    pub names: Vec<&'a [u8]>,
}

impl InputSection {
    /// Where the relocation at offset `at` of the input section applies, from the start of its output.
    #[inline(always)]
    pub fn placed_offset(&self, at: u64) -> u64 {
        if self.kind() == SectionKind::Reversed { self.size.wrapping_sub(8).wrapping_sub(at) } else { at }
    }
}

impl Sections<'_> {
    #[inline(always)]
    pub fn get(&self, id: SectionId) -> &InputSection {
        &self.list[id.index()]
    }

    /// The relocations of a section. Empty if it has none.
    pub fn relocs<'s>(&'s self, object: &Object<'s>, index: usize, section: &InputSection) -> &'s [Rela] {
        if section.relocs == 0 {
            return &[];
        }
        let shdr = &object.shdrs[section.relocs as usize];
        if shdr.sh_type() == SHT_CREL {
            let crels = &self.objects[index].crels;
            return match crels.binary_search_by_key(&section.relocs, |c| c.0) {
                Ok(i) => &crels[i].1,
                Err(_) => &[],
            };
        }
        // In bounds: checked when the section was parsed.
        table(object.data, shdr.sh_offset(), shdr.sh_size() / Rela::SIZE as u64).unwrap_or(&[])
    }
}

/// Names known beforehand, in no meaningful order. A name also takes the sections that continue it
/// after a dot.
const WELL_KNOWN: &[&[u8]] = &[
    b".text",
    b".rodata",
    b".data",
    b".bss",
    b".data.rel.ro",
    b".bss.rel.ro",
    b".init_array",
    b".fini_array",
    b".preinit_array",
    b".tdata",
    b".tbss",
    b".eh_frame",
    b".gcc_except_table",
    b".init",
    b".fini",
    b".ctors",
    b".dtors",
    b".comment",
    b".debug_info",
    b".debug_abbrev",
    b".debug_line",
    b".debug_str",
    b".debug_line_str",
    b".debug_ranges",
    b".debug_rnglists",
    b".debug_loc",
    b".debug_loclists",
    b".debug_aranges",
    b".debug_str_offsets",
    b".debug_addr",
    b".debug_gnu_pubnames",
    b".debug_gnu_pubtypes",
    b".debug_names",
    b".ldata",
    b".lrodata",
    b".lbss",
    b".ltext",
];

/// Index of `.comment` in the well-known names.
pub const COMMENT: u32 = 17;

/// No section is larger, or aligned more strictly, than the address space of any machine.
const LARGEST: u64 = 1 << 56;

/// Sections that swallow `NAME.anything`, longest prefixes first.
const PREFIXES: &[(&[u8], u32)] = &[
    (b".data.rel.ro", 4),
    (b".bss.rel.ro", 5),
    (b".text", 0),
    (b".rodata", 1),
    (b".data", 2),
    (b".bss", 3),
    (b".init_array", 6),
    (b".fini_array", 7),
    (b".tdata", 9),
    (b".tbss", 10),
    (b".gcc_except_table", 12),
    (b".ctors", 15),
    (b".dtors", 16),
    (b".ldata", 33),
    (b".lrodata", 34),
    (b".lbss", 35),
    (b".ltext", 36),
];

/// Prefixes that `-z keep-text-section-prefix` keeps apart.
const TEXT_PREFIXES: &[&[u8]] =
    &[b".text.hot", b".text.unknown", b".text.unlikely", b".text.startup", b".text.exit", b".text.split"];

fn continues(name: &[u8], prefix: &[u8]) -> bool {
    name.starts_with(prefix) && (name.len() == prefix.len() || name[prefix.len()] == b'.')
}

/// Where a section named `name` goes: the index of a well-known name, or a name of its own.
fn output_name<'a>(name: &'a [u8], options: &Options) -> Result<u32, &'a [u8]> {
    if name.starts_with(b".debug_") || name == b".eh_frame" || name == b".comment" {
        return WELL_KNOWN.iter().position(|k| *k == name).map(|i| i as u32).ok_or(name);
    }
    if options.keep_text_section_prefix
        && let Some(prefix) = TEXT_PREFIXES.iter().find(|p| continues(name, p))
    {
        return Err(prefix);
    }
    if let Some((_, index)) = PREFIXES.iter().find(|(prefix, _)| continues(name, prefix)) {
        return Ok(*index);
    }
    WELL_KNOWN.iter().position(|k| *k == name).map(|i| i as u32).ok_or(name)
}

/// Parses the sections of every object.
pub fn parse<'a>(
    objects: &mut [Object<'a>],
    comdats: &Comdats,
    options: &Options,
    sink: &DiagSink,
    parallel: bool,
) -> Sections<'a> {
    let mut total = 0usize;
    for object in objects.iter_mut() {
        object.section_base = total as u32;
        total += object.shdrs.len();
    }
    if total >= u32::MAX as usize {
        sink.error(format!("too many input sections: {total}"));
        return Sections { list: Vec::new(), objects: Vec::new(), names: Vec::new() };
    }
    let mut list = vec![InputSection::default(); total];
    let mut slots: Vec<&mut [InputSection]> = Vec::with_capacity(objects.len());
    let mut rest = &mut list[..];
    for object in objects.iter() {
        let (mine, others) = rest.split_at_mut(object.shdrs.len());
        slots.push(mine);
        rest = others;
    }
    let unique = options.unique_globs();
    let one = |(i, (object, slots)): (usize, (&Object<'a>, &mut [InputSection]))| {
        let (index, extra) = (i as u32, ObjectSections::default());
        Parser { object, index, options, sink, slots, extra, unique: &unique }.run(comdats)
    };
    let parsed: Vec<ObjectSections> = if parallel {
        objects.par_iter().zip(slots).enumerate().map(one).collect()
    } else {
        objects.iter().zip(slots).enumerate().map(one).collect()
    };
    let mut sections = Sections { list, objects: parsed, names: WELL_KNOWN.to_vec() };
    sections.join_names(objects);
    if sections.names.len() >= LOCAL_NAME as usize {
        sink.error(format!("too many different section names: {}", sections.names.len()));
    }
    sections
}

impl<'a> Sections<'a> {
    /// Gives one number to equal names of different objects.
    fn join_names(&mut self, objects: &[Object<'a>]) {
        let mut by_name: HashMap<&[u8], u32> = HashMap::new();
        for (object, extra) in objects.iter().zip(&mut self.objects) {
            if extra.local_names.is_empty() {
                continue;
            }
            let mut number = Vec::new();
            for (name, unique) in std::mem::take(&mut extra.local_names) {
                let next = self.names.len() as u32;
                let joined = if unique { next } else { *by_name.entry(name).or_insert(next) };
                if joined == next {
                    self.names.push(name);
                }
                number.push(joined);
            }
            let base = object.section_base as usize;
            for section in &mut self.list[base..base + object.shdrs.len()] {
                if section.out() >= LOCAL_NAME {
                    section.set_out(number[(section.out() - LOCAL_NAME) as usize]);
                }
            }
            for used in extra.uses.iter_mut().filter(|u| u.out >= LOCAL_NAME) {
                used.out = number[(used.out - LOCAL_NAME) as usize];
            }
        }
    }
}

struct Parser<'a, 'p> {
    object: &'p Object<'a>,
    index: u32,
    options: &'p Options,
    sink: &'p DiagSink,
    slots: &'p mut [InputSection],
    extra: ObjectSections<'a>,
    /// The patterns of `--unique`.
    unique: &'p [Glob],
}

impl<'a> Parser<'a, '_> {
    fn run(mut self, comdats: &Comdats) -> ObjectSections<'a> {
        self.discard_losers(comdats);
        let mut local_names = HashMap::new();
        for shndx in 1..self.object.shdrs.len() {
            if self.slots[shndx].kind() != SectionKind::Discarded
                && let Err(message) = self.section(shndx, &mut local_names)
            {
                self.error(shndx, &message);
            }
        }
        self.attach_relocs();
        self.parse_eh_frames();
        self.tie_groups();
        self.extra.followers.sort_unstable();
        self.extra.followers.dedup();
        for &(leader, _) in &self.extra.followers {
            self.slots[leader as usize].meta |= FOLLOWERS;
        }
        self.extra
    }

    #[cold]
    fn error(&self, shndx: usize, message: &str) {
        let text = format!("{}:({}): {message}", self.object.name, self.object.section_label(shndx));
        self.sink.push(Diagnostic::error(text).at((self.object.file.0 as u64) << 32 | shndx as u64));
    }

    fn discard_losers(&mut self, comdats: &Comdats) {
        for g in 0..self.object.groups.len() {
            if comdats.survives(self.index, self.object, g as u32) {
                continue;
            }
            let words = self.object.group_words(self.object.groups[g].shndx).unwrap_or(&[]);
            for member in words.iter().skip(1) {
                if let Some(slot) = self.slots.get_mut(member.get() as usize) {
                    slot.set_kind(SectionKind::Discarded);
                }
            }
        }
    }

    fn section(&mut self, shndx: usize, local_names: &mut HashMap<&'a [u8], u32>) -> Result<(), String> {
        let shdr = &self.object.shdrs[shndx];
        let flags = shdr.sh_flags();
        let kind = shdr.sh_type();
        let relocatable = self.options.kind == OutputKind::Relocatable;
        match kind {
            // These speak of other sections or of the libraries to link with, which is not done yet.
            SHT_LLVM_CALL_GRAPH_PROFILE | SHT_LLVM_DEPENDENT_LIBRARIES if relocatable => {}
            SHT_NULL
            | SHT_SYMTAB
            | SHT_STRTAB
            | SHT_RELA
            | SHT_REL
            | SHT_CREL
            | SHT_GROUP
            | SHT_SYMTAB_SHNDX
            | SHT_LLVM_ADDRSIG
            | SHT_LLVM_CALL_GRAPH_PROFILE
            | SHT_LLVM_DEPENDENT_LIBRARIES
            | SHT_LLVM_LTO => {
                return Ok(());
            }
            _ => {}
        }
        if flags & SHF_EXCLUDE != 0 && flags & SHF_ALLOC == 0 && !relocatable {
            return Ok(());
        }
        let name = self.object.section_name(shndx).ok_or("has a bad name")?;
        if self.is_special(name, shndx)? {
            return Ok(());
        }
        let debug = name.starts_with(b".debug") || name.starts_with(b".zdebug");
        // Without section headers nobody finds what is not loaded.
        let stripped = debug && self.options.strip != Strip::None || !self.options.z_sectionheader;
        if flags & SHF_ALLOC == 0 && stripped {
            return Ok(());
        }
        let mut size = shdr.sh_size();
        let mut align = shdr.sh_addralign().max(1);
        if kind != SHT_NOBITS && slice(self.object.data, shdr.sh_offset(), size).is_none() {
            return Err("lies outside its file (truncated file?)".into());
        }
        let mut what = if kind == SHT_NOBITS { SectionKind::NoBits } else { SectionKind::Regular };
        if flags & SHF_COMPRESSED != 0 {
            if flags & SHF_ALLOC != 0 {
                return Err("is compressed and allocated, which is not allowed".into());
            }
            let bytes = self.object.section_data(shndx).unwrap_or(&[]);
            let header = Compressed::parse(bytes).map_err(|e| e.to_string())?;
            size = header.uncompressed_size();
            align = header.align();
            what = SectionKind::Compressed;
        }
        if !align.is_power_of_two() {
            return Err(format!("has an alignment that is not a power of two: {align}"));
        }
        if self.extra.local_names.len() >= LOCAL_NAME as usize {
            return Err("too many different section names".into());
        }
        if size > LARGEST || align > LARGEST {
            return Err(format!("has an impossible size or alignment: {size:#x}, {align:#x}"));
        }
        let unique = self.is_unique(name, kind);
        let out = match unique {
            true => self.new_output(name, true),
            false => self.output_number(name, local_names),
        };
        if name == b".eh_frame" && what == SectionKind::Regular && !relocatable {
            what = SectionKind::EhFrame;
        } else if out == 6 && continues(name, b".ctors") || out == 7 && continues(name, b".dtors") {
            if !size.is_multiple_of(8) {
                return Err("is not a table of addresses: its size is not a multiple of 8".into());
            }
            what = if what == SectionKind::Regular { SectionKind::Reversed } else { what };
        } else if flags & SHF_MERGE != 0 && what != SectionKind::NoBits && self.is_mergeable(shdr, size) {
            self.extra.merges.push(MergeSection {
                section: SectionId(self.object.section_base + shndx as u32),
                entsize: shdr.sh_entsize() as u32,
                strings: flags & SHF_STRINGS != 0,
            });
            what = SectionKind::Merge;
        }
        self.slots[shndx] = InputSection::new(what, out, align.trailing_zeros(), size);
        self.note_use(out, unique, shdr);
        self.note_liveness(shndx, name);
        Ok(())
    }

    fn note_use(&mut self, out: u32, unique: bool, shdr: &Shdr) {
        let flags = shdr.sh_flags();
        let kind = if shdr.sh_type() == SHT_X86_64_UNWIND { SHT_PROGBITS } else { shdr.sh_type() };
        let mine = OutputUse { out, kind, any_flags: flags, all_flags: flags, entsize: shdr.sh_entsize() };
        match self.extra.uses.iter_mut().rev().find(|u| !unique && u.out == out) {
            Some(seen) => seen.join(&mine),
            None => self.extra.uses.push(mine),
        }
    }

    fn is_mergeable(&self, shdr: &Shdr, size: u64) -> bool {
        let entsize = shdr.sh_entsize();
        self.options.kind != OutputKind::Relocatable
            && self.options.optimize > 0
            && self.options.merge_sections
            && shdr.sh_flags() & SHF_WRITE == 0
            && entsize > 0
            && size > 0
            && entsize <= 1 << 16
    }

    /// Sections that say something to the linker and are not copied.
    fn is_special(&mut self, name: &'a [u8], shndx: usize) -> Result<bool, String> {
        let shdr = &self.object.shdrs[shndx];
        let relocatable = self.options.kind == OutputKind::Relocatable;
        match name {
            b".note.GNU-stack" => {
                self.extra.executable_stack = Some(shdr.sh_flags() & SHF_EXECINSTR != 0);
                Ok(true)
            }
            b".note.gnu.property" => {
                self.extra.properties = self.object.section_data(shndx);
                Ok(true)
            }
            // An id that `-r` wrote is not that of this output.
            b".note.gnu.build-id" => Ok(true),
            b".note.GNU-split-stack" | b".note.GNU-no-split-stack" if !relocatable => {
                self.extra.has_split_stack |= name == b".note.GNU-split-stack";
                Ok(true)
            }
            _ if name == b".gnu.warning" || name.starts_with(b".gnu.warning.") => {
                // Who links the output is to be warned as well.
                let ends_here = !matches!(self.options.kind, OutputKind::Shared | OutputKind::Relocatable);
                self.extra.has_warnings = true;
                Ok(ends_here)
            }
            _ if name.starts_with(b".gnu.lto_") => {
                if name.starts_with(b".gnu.lto_.")
                    && memchr::memmem::find(self.object.strtab, b"__gnu_lto_slim").is_some()
                {
                    return Err(
                        "holds GCC link-time code only; link-time optimisation is not supported yet \
                                (compile with -ffat-lto-objects or without -flto)"
                            .into(),
                    );
                }
                Ok(true)
            }
            b".llvmbc" | b".llvmcmd" | b".llvm.lto" if shdr.sh_flags() & SHF_ALLOC == 0 => Ok(!relocatable),
            _ => Ok(false),
        }
    }

    fn output_number(&mut self, name: &'a [u8], local_names: &mut HashMap<&'a [u8], u32>) -> u32 {
        let named = if self.options.kind == OutputKind::Relocatable {
            // `relocatable` joins sections by more than their names.
            Ok(0)
        } else if continues(name, b".ctors") && !is_crt_file(self.object) {
            Ok(6)
        } else if continues(name, b".dtors") && !is_crt_file(self.object) {
            Ok(7)
        } else {
            output_name(name, self.options)
        };
        named.unwrap_or_else(|name| match local_names.get(name) {
            Some(number) => *number,
            None => {
                let number = self.new_output(name, false);
                local_names.insert(name, number);
                number
            }
        })
    }

    /// A number for an output section that the object names first, or that is `unique`.
    fn new_output(&mut self, name: &'a [u8], unique: bool) -> u32 {
        self.extra.local_names.push((name, unique));
        LOCAL_NAME + self.extra.local_names.len() as u32 - 1
    }

    /// Whether `--unique` gives the section an output section of its own.
    fn is_unique(&self, name: &[u8], kind: u32) -> bool {
        let options = self.options;
        if options.kind == OutputKind::Relocatable || !options.unique_sections && self.unique.is_empty() {
            return false;
        }
        // What is run through from its start to its end has to be in one piece.
        let one = [
            &b".init"[..],
            b".fini",
            b".init_array",
            b".fini_array",
            b".preinit_array",
            b".ctors",
            b".dtors",
        ];
        if is_array(kind) || name == b".eh_frame" || one.iter().any(|prefix| continues(name, prefix)) {
            return false;
        }
        let homeless = || !name.starts_with(b".debug_") && output_name(name, options).is_err();
        self.unique.iter().any(|glob| glob.matches(name)) || options.unique_sections && homeless()
    }

    /// Notes what the section means to gc.
    fn note_liveness(&mut self, shndx: usize, name: &[u8]) {
        let shdr = &self.object.shdrs[shndx];
        let flags = shdr.sh_flags();
        if flags & SHF_LINK_ORDER != 0 && shdr.sh_link() != 0 {
            let leader = shdr.sh_link();
            if (leader as usize) < self.slots.len() {
                self.extra.link_order.push((shndx as u32, leader));
                self.extra.followers.push((leader, shndx as u32));
            } else {
                self.error(shndx, &format!("is linked to section {leader}, which does not exist"));
            }
        }
        if flags & SHF_ALLOC == 0 {
            self.extra.unallocated.push(shndx as u32);
            return;
        }
        let grouped = flags & (SHF_GROUP | SHF_LINK_ORDER) != 0;
        let kept = match shdr.sh_type() {
            SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY => true,
            SHT_NOTE => flags & SHF_GROUP == 0,
            _ => {
                continues(name, b".init_array")
                    || continues(name, b".fini_array")
                    || continues(name, b".preinit_array")
                    || continues(name, b".ctors")
                    || continues(name, b".dtors")
                    || matches!(name, b".init" | b".fini" | b".jcr")
            }
        };
        if flags & SHF_GNU_RETAIN != 0 || kept {
            self.extra.retained.push(shndx as u32);
        } else if is_c_identifier(name) && !grouped {
            self.extra.c_named.push(shndx as u32);
        }
    }

    /// Ties relocation sections to what they relocate.
    fn attach_relocs(&mut self) {
        for (i, shdr) in self.object.shdrs.iter().enumerate() {
            let kind = shdr.sh_type();
            if !matches!(kind, SHT_RELA | SHT_REL | SHT_CREL) {
                continue;
            }
            let target = shdr.sh_info() as usize;
            if target == 0 || target >= self.slots.len() {
                self.error(i, "relocates a section that does not exist");
                continue;
            }
            if !self.slots[target].in_image() {
                continue;
            }
            if let Err(message) = self.check_relocs(i, shdr) {
                self.error(i, &message);
                continue;
            }
            if self.slots[target].relocs != 0 {
                self.error(target, "has more than one relocation section");
            }
            self.slots[target].relocs = i as u32;
            if !self.relocs_of(target).is_empty() {
                match self.slots[target].kind() {
                    // Equal bytes may become different ones, so such a section is copied as it is.
                    SectionKind::Merge => self.do_not_merge(target),
                    SectionKind::NoBits => self.error(target, "has relocations, but no bytes to relocate"),
                    _ => {}
                }
            }
        }
    }

    fn do_not_merge(&mut self, shndx: usize) {
        let id = SectionId(self.object.section_base + shndx as u32);
        self.extra.merges.retain(|m| m.section != id);
        let compressed = self.object.shdrs[shndx].sh_flags() & SHF_COMPRESSED != 0;
        let kind = if compressed { SectionKind::Compressed } else { SectionKind::Regular };
        self.slots[shndx].set_kind(kind);
    }

    fn check_relocs(&mut self, index: usize, shdr: &Shdr) -> Result<(), String> {
        match shdr.sh_type() {
            SHT_RELA => {
                let count = shdr.sh_size() / Rela::SIZE as u64;
                if !shdr.sh_size().is_multiple_of(Rela::SIZE as u64) {
                    return Err(format!("has a size that is not a multiple of {}", Rela::SIZE));
                }
                table::<Rela>(self.object.data, shdr.sh_offset(), count).ok_or("lies outside its file")?;
                Ok(())
            }
            SHT_CREL => {
                let bytes = self.object.section_data(index).ok_or("lies outside its file")?;
                let relocs = crate::crel::Crel::parse(bytes).map_err(|e| e.to_string())?;
                let mut list = Vec::with_capacity(relocs.count());
                for r in relocs.entries() {
                    let r = r.map_err(|e| e.to_string())?;
                    list.push(Rela::make(r.offset, r.symbol, r.kind, r.addend));
                }
                self.extra.crels.push((index as u32, list));
                Ok(())
            }
            _ => Err("has relocations without addends (SHT_REL), which x86-64 does not use".into()),
        }
    }

    fn relocs_of(&self, shndx: usize) -> &[Rela] {
        let relocs = self.slots[shndx].relocs;
        if relocs == 0 {
            return &[];
        }
        let shdr = &self.object.shdrs[relocs as usize];
        if shdr.sh_type() == SHT_CREL {
            let found = self.extra.crels.iter().find(|c| c.0 == relocs);
            return found.map_or(&[], |c| &c.1);
        }
        table(self.object.data, shdr.sh_offset(), shdr.sh_size() / Rela::SIZE as u64).unwrap_or(&[])
    }

    fn parse_eh_frames(&mut self) {
        for shndx in 1..self.slots.len() {
            if self.slots[shndx].kind() != SectionKind::EhFrame && !self.is_joined_frame(shndx) {
                continue;
            }
            let data = self.object.section_data(shndx).unwrap_or(&[]);
            let relocs = self.relocs_of(shndx);
            match EhFrame::parse(data, relocs, |r| r.r_offset()) {
                Ok(frames) => {
                    self.tie_exception_tables(&frames, shndx);
                    self.extra.eh_frames.push((shndx as u32, frames));
                }
                Err(e) => self.error(shndx, &e.to_string()),
            }
        }
    }

    /// `-r` copies `.eh_frame` whole; its records say what lives with a function all the same.
    fn is_joined_frame(&self, shndx: usize) -> bool {
        self.options.kind == OutputKind::Relocatable
            && self.options.gc_sections
            && self.slots[shndx].kind() == SectionKind::Regular
            && self.object.section_name(shndx) == Some(b".eh_frame")
    }

    /// An FDE with more than one relocation names an exception table: it lives as long as its function.
    fn tie_exception_tables(&mut self, frames: &EhFrame, shndx: usize) {
        let mut edges = Vec::new();
        {
            let relocs = self.relocs_of(shndx);
            for fde in frames.fdes.iter().filter(|f| f.n_relocs > 1) {
                let first = fde.first_reloc as usize;
                let Some(function) = self.local_section(&relocs[first]) else { continue };
                for reloc in &relocs[first + 1..first + fde.n_relocs as usize] {
                    edges.extend(self.local_section(reloc).map(|table| (function, table)));
                }
            }
        }
        self.extra.followers.extend(edges.into_iter().filter(|(a, b)| a != b));
    }

    /// The section of this object that a relocation's symbol lies in.
    fn local_section(&self, reloc: &Rela) -> Option<u32> {
        let sym = self.object.syms.get(reloc.sym() as usize)?;
        match self.object.place(reloc.sym(), sym) {
            super::object::SymbolPlace::Section(s) if (s as usize) < self.slots.len() => Some(s),
            _ => None,
        }
    }

    /// Members of a group live and die together: each leads the next, the last the first.
    fn tie_groups(&mut self) {
        for (i, shdr) in self.object.shdrs.iter().enumerate() {
            if shdr.sh_type() != SHT_GROUP {
                continue;
            }
            let words = self.object.group_words(i as u32).unwrap_or(&[]);
            let live = |w: &Word| self.slots.get(w.get() as usize).is_some_and(|s| s.in_image());
            let members: Vec<u32> = words.iter().skip(1).filter(|w| live(w)).map(|w| w.get()).collect();
            let alloc = |m: &u32| self.object.shdrs[*m as usize].sh_flags() & SHF_ALLOC != 0;
            if members.len() < 2 || !members.iter().any(alloc) {
                continue;
            }
            for (k, &member) in members.iter().enumerate() {
                self.extra.followers.push((member, members[(k + 1) % members.len()]));
            }
        }
    }
}

/// `crtbegin.o` and `crtend.o` bracket `.ctors` with markers that must stay there.
fn is_crt_file(object: &Object) -> bool {
    let base = object.name.base();
    base.starts_with("crtbegin") || base.starts_with("crtend")
}
