//! Judging each section of every object by its header.
//!
//! Objects are independent of each other: each has its own slots in the table of all sections, and what
//! it says besides is kept per object. Losers of COMDAT groups are marked from the group tables first
//! and not looked at further.
//!
//! Specification: gABI chapter 4 ("Sections", "Section Groups").

use rayon::prelude::*;
use std::collections::HashMap;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::glob::Glob;
use weld_common::trace;

use super::names::{LOCAL_NAME, WELL_KNOWN, continues};
use super::{FOLLOWERS, InputSection, MergeSection, ObjectSections, OutputUse, SectionKind, Sections};
use crate::compressed::Compressed;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::options::{Options, OutputKind, Strip};
use crate::resolve::comdat::Comdats;

/// No section is larger, or aligned more strictly, than the address space of any machine.
const LARGEST: u64 = 1 << 56;

/// Slots that are all zero, without touching their memory: the threads that fill them do that.
fn zeroed_slots(count: usize) -> Vec<InputSection> {
    const WORDS: usize = size_of::<InputSection>() / size_of::<u64>();
    const _: () = assert!(align_of::<InputSection>() == align_of::<u64>());
    const _: () = assert!(size_of::<InputSection>() == WORDS * size_of::<u64>());
    let mut words = std::mem::ManuallyDrop::new(vec![[0u64; WORDS]; count]);
    // SAFETY: size and alignment are equal, zero is a value of each field, and `words` is not used again.
    unsafe { Vec::from_raw_parts(words.as_mut_ptr().cast(), words.len(), words.capacity()) }
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
    let stretch = trace::stretch("make room for sections");
    let mut list = zeroed_slots(total);
    let mut slots: Vec<&mut [InputSection]> = Vec::with_capacity(objects.len());
    let mut rest = &mut list[..];
    for object in objects.iter() {
        let (mine, others) = rest.split_at_mut(object.shdrs.len());
        slots.push(mine);
        rest = others;
    }
    let unique = options.unique_globs();
    drop(stretch);
    let region = trace::region("parse sections");
    let one = |(i, (object, slots)): (usize, (&Object<'a>, &mut [InputSection]))| {
        let _task = region.task();
        let (index, extra) = (i as u32, ObjectSections::default());
        Parser { object, index, options, sink, slots, extra, unique: &unique, use_of: Vec::new() }
            .run(comdats)
    };
    let parsed: Vec<ObjectSections> = if parallel {
        objects.par_iter().zip(slots).enumerate().map(one).collect()
    } else {
        objects.iter().zip(slots).enumerate().map(one).collect()
    };
    drop(region);
    let mut sections = Sections { list, objects: parsed, names: WELL_KNOWN.to_vec() };
    let _stretch = trace::stretch("join section names");
    sections.join_names(objects);
    if sections.names.len() >= LOCAL_NAME as usize {
        sink.error(format!("too many different section names: {}", sections.names.len()));
    }
    sections
}

pub(super) struct Parser<'a, 'p> {
    pub(super) object: &'p Object<'a>,
    index: u32,
    pub(super) options: &'p Options,
    sink: &'p DiagSink,
    pub(super) slots: &'p mut [InputSection],
    pub(super) extra: ObjectSections<'a>,
    /// The patterns of `--unique`.
    pub(super) unique: &'p [Glob],
    /// Where among `extra.uses` that of each output section is, by its name's number.
    use_of: Vec<Option<u32>>,
}

impl<'a> Parser<'a, '_> {
    fn run(mut self, comdats: &Comdats) -> ObjectSections<'a> {
        // Reading fresh memory before it is written would cost two faults a page (see `weld_common::zeroed`).
        self.slots.fill(InputSection::default());
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
    pub(super) fn error(&self, shndx: usize, message: &str) {
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
        self.note_use(out, shdr);
        self.note_liveness(shndx, name);
        Ok(())
    }

    fn note_use(&mut self, out: u32, shdr: &Shdr) {
        let flags = shdr.sh_flags();
        let kind = if shdr.sh_type() == SHT_X86_64_UNWIND { SHT_PROGBITS } else { shdr.sh_type() };
        let mine = OutputUse { out, kind, any_flags: flags, all_flags: flags, entsize: shdr.sh_entsize() };
        // Well-known names first, then the object's own.
        let name = out.checked_sub(LOCAL_NAME).map_or(out as usize, |own| WELL_KNOWN.len() + own as usize);
        if self.use_of.len() <= name {
            self.use_of.resize(name + 1, None);
        }
        match self.use_of[name] {
            Some(place) => self.extra.uses[place as usize].join(&mine),
            None => {
                self.use_of[name] = Some(self.extra.uses.len() as u32);
                self.extra.uses.push(mine);
            }
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
}
