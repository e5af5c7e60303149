//! Judging one section by its header: whether it takes part, and as what.
//!
//! Specification: gABI chapter 4 ("Sections"), psABI ("Sections").

use weld_common::diag::Cause;

use super::linkonce;
use super::names::continues;
use super::parse::Parser;
use super::scripted::{Found, OfFile, Orphans, Rules};
use super::uses::OutputUse;
use super::{InputSection, Malformed, MergeSection, SectionKind, is_array};
use crate::arch::facts::Facts;
use crate::compressed::Compressed;
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::ids::*;
use crate::options::{OutputKind, Strip};
use crate::sections::bins::bin;

/// No section is larger, or aligned more strictly, than the address space of any machine.
const LARGEST: u64 = 1 << 56;

/// What a section's header says of its contents.
struct Contents {
    kind: SectionKind,
    size: u64,
    align: u64,
}

impl<'a> Parser<'a, '_> {
    /// Fills the section's slot if it takes part.
    pub(super) fn section(&mut self, shndx: usize) -> Result<(), Malformed> {
        let shdr = &self.object.shdrs[shndx];
        if self.is_bookkeeping(shdr) {
            return Ok(());
        }
        if shdr.sh_type() >= SHT_GNU_ATTRIBUTES && self.is_for_linkers(shndx)? {
            return Ok(());
        }
        if shdr.sh_type() == SHT_LLVM_SYMPART && self.options.kind != OutputKind::Relocatable {
            self.found.extra.has_partitions = true;
            return Ok(());
        }
        if self.is_excluded(shdr) {
            // What it defines goes with it.
            self.slots[shndx - self.first].set_kind(SectionKind::Discarded);
            return Ok(());
        }
        if !is_known(self.object.machine, shdr) {
            return Err(Malformed::Type(shdr.sh_type()));
        }
        let name = self.object.section_name(shndx).ok_or(Malformed::Name)?;
        if self.is_special(name, shndx)? || self.is_stripped(name, shdr) || self.is_unseen(name, shdr) {
            return Ok(());
        }
        if self.options.sections.discarded.iter().any(|discarded| discarded.as_bytes() == name) {
            self.slots[shndx - self.first].set_kind(SectionKind::Discarded);
            return Ok(());
        }
        let Contents { kind, size, mut align } = self.contents(shndx)?;
        if shdr.sh_type() >= SHT_LOPROC && self.is_code_index(shdr) {
            let bin = self.bin_of(name);
            let found = self.script.map(|(rules, file)| rules.find(file, name, shdr.sh_flags()));
            let is_discarded = matches!(found, Some(Found::Discarded));
            let kind = if is_discarded { SectionKind::Discarded } else { SectionKind::CodeIndex };
            self.slots[shndx - self.first] = InputSection::new(kind, bin, align.trailing_zeros(), size);
            self.note_liveness(shndx, name);
            return Ok(());
        }
        let bin = match self.script {
            Some(script) => match self.scripted_bin(script, shndx, name, &mut align) {
                Some(bin) => bin,
                None => {
                    // What it defines goes with it.
                    self.slots[shndx - self.first].set_kind(SectionKind::Discarded);
                    return Ok(());
                }
            },
            None if self.is_unique(name, shdr.sh_type()) => self.found.local_names.add(name, true),
            None => self.bin_of(name),
        };
        let kind = self.refine(kind, shndx, name, bin, size)?;
        self.slots[shndx - self.first] = InputSection::new(kind, bin, align.trailing_zeros(), size);
        self.found.uses.add(&OutputUse::new(bin, self.object.machine, shdr));
        self.note_liveness(shndx, name);
        let asked = &self.options.sections;
        if (asked.gdb_index || asked.debug_names) && shdr.sh_flags() & SHF_ALLOC == 0 {
            self.note_names(shndx, name);
        }
        Ok(())
    }

    /// Notes what an index is made from.
    fn note_names(&mut self, shndx: usize, name: &[u8]) {
        let (asked, extra) = (&self.options.sections, &mut self.found.extra);
        match name {
            b".debug_gnu_pubnames" | b".debug_gnu_pubtypes" if asked.gdb_index => {
                extra.name_lists.push(shndx as u32);
            }
            b".debug_names" if asked.debug_names => extra.name_tables.push(shndx as u32),
            _ => {}
        }
    }

    /// Where a linker script puts a section; `None`: nowhere.
    fn scripted_bin(
        &mut self,
        (rules, file): &(&Rules, OfFile),
        shndx: usize,
        name: &'a [u8],
        align: &mut u64,
    ) -> Option<PlacementId> {
        let flags = self.object.shdrs[shndx].sh_flags();
        let bin = match rules.find(file, name, flags) {
            Found::Discarded => return None,
            Found::Bin(bin) => bin,
            Found::Orphan => {
                let message = "no output section of the script is for it";
                let spot = self.object.at_section(shndx as u32);
                match rules.orphans {
                    Orphans::Place => {}
                    Orphans::Discard => return None,
                    Orphans::Error => self.sink.push(spot.error(Cause::OrphanSection, message)),
                    Orphans::Warn => self.sink.push(spot.warning(Cause::OrphanSection, message)),
                }
                return Some(self.bin_of_orphan(name));
            }
        };
        if let Some(of_script) = rules.bin(bin) {
            if let Some(log2) = of_script.subalign {
                *align = 1 << log2;
            }
            let collects = self.options.sections.gc_sections;
            if of_script.keep || collects && rules.keeps(file, name, flags) {
                self.found.extra.retained.push(shndx as u32);
            }
        }
        Some(bin)
    }

    /// Whether a bin is that of an array of functions, by which name a script knows it.
    fn is_array_bin(&self, bin: PlacementId, array: PlacementId) -> bool {
        match self.script.and_then(|(rules, _)| rules.bin(bin)) {
            Some(of_script) => of_script.array == Some(array),
            None => bin == array,
        }
    }

    /// Tables of the object file itself, and what only matters to a linker.
    fn is_bookkeeping(&self, shdr: &Shdr) -> bool {
        let relocatable = self.options.kind == OutputKind::Relocatable;
        match shdr.sh_type() {
            SHT_PROGBITS | SHT_NOBITS => false,
            // These speak of other sections or of the libraries to link with, which is not done yet.
            SHT_LLVM_CALL_GRAPH_PROFILE | SHT_LLVM_DEPENDENT_LIBRARIES if relocatable => false,
            SHT_STRTAB => shdr.sh_flags() & SHF_ALLOC == 0,
            SHT_NULL
            | SHT_SYMTAB
            | SHT_RELA
            | SHT_REL
            | SHT_CREL
            | SHT_GROUP
            | SHT_SYMTAB_SHNDX
            | SHT_LLVM_ADDRSIG
            | SHT_LLVM_CALL_GRAPH_PROFILE
            | SHT_LLVM_DEPENDENT_LIBRARIES
            | SHT_LLVM_LTO => true,
            _ => false,
        }
    }

    /// Sections of types that only the machine has, which say something to the linker and are not copied.
    fn is_for_linkers(&mut self, shndx: usize) -> Result<bool, Malformed> {
        let (machine, kind) = (self.object.machine, self.object.shdrs[shndx].sh_type());
        let says_registers = machine.registers.as_ref().is_some_and(|registers| registers.section == kind);
        let mut attributes = machine.attributes.iter().chain(&machine.gnu_attributes);
        if says_registers || attributes.any(|attributes| attributes.section == kind) {
            self.whole(shndx)?;
            self.found.extra.attributes.push(shndx as u32);
            return Ok(true);
        }
        let lists_variables = machine.tagging.as_ref().is_some_and(|tagging| tagging.variables == kind);
        let is_read = lists_variables && self.options.kind != OutputKind::Relocatable;
        self.found.extra.has_tagged_variables |= is_read;
        Ok(is_read)
    }

    /// Whether a section says how to unwind from code, in a table that is made anew.
    fn is_code_index(&self, shdr: &Shdr) -> bool {
        let is_made = self.options.kind != OutputKind::Relocatable;
        is_made && self.object.machine.is_code_index(shdr.sh_type()) && shdr.sh_flags() & SHF_LINK_ORDER != 0
    }

    /// The bytes of a section that is read, not copied.
    fn whole(&self, shndx: usize) -> Result<&'a [u8], Malformed> {
        self.object.section_data(shndx).ok_or(Malformed::Outside)
    }

    /// Lists of names are read for `.gdb_index`, tables for `.debug_names` and `.sframe`, with their
    /// relocations, and stay out of the output.
    pub(super) fn set_aside(&mut self) {
        let extra = &self.found.extra;
        // `-r` copies them.
        let relocatable = self.options.kind == OutputKind::Relocatable;
        let sframes = extra.sframes.iter().filter(|_| !relocatable);
        for &list in extra.name_lists.iter().chain(&extra.name_tables).chain(sframes) {
            self.slots[list as usize].set_kind(SectionKind::Dropped);
        }
    }

    /// What only a linker reads.
    fn is_excluded(&self, shdr: &Shdr) -> bool {
        let relocatable = self.options.kind == OutputKind::Relocatable;
        shdr.sh_flags() & SHF_EXCLUDE != 0 && !relocatable
    }

    fn is_stripped(&self, name: &[u8], shdr: &Shdr) -> bool {
        if shdr.sh_flags() & SHF_ALLOC != 0 {
            return false;
        }
        self.options.symtab.strip != Strip::None && is_debug(name)
    }

    /// Without section headers nobody finds what is not loaded. But symbols of a script may count what it
    /// describes, and it may load that after all.
    fn is_unseen(&self, name: &[u8], shdr: &Shdr) -> bool {
        if shdr.sh_flags() & SHF_ALLOC != 0 || self.options.layout.sectionheader {
            return false;
        }
        let is_described = |(rules, file): &(&Rules, OfFile)| {
            !is_debug(name) && matches!(rules.find(file, name, shdr.sh_flags()), Found::Bin(_))
        };
        !self.script.is_some_and(is_described)
    }

    fn contents(&self, shndx: usize) -> Result<Contents, Malformed> {
        let shdr = &self.object.shdrs[shndx];
        let flags = shdr.sh_flags();
        let (mut size, mut align) = (shdr.sh_size(), shdr.sh_addralign().max(1));
        let mut kind = if shdr.sh_type() == SHT_NOBITS { SectionKind::NoBits } else { SectionKind::Regular };
        if kind != SectionKind::NoBits && slice(self.object.data, shdr.sh_offset(), size).is_none() {
            return Err(Malformed::Truncated);
        }
        if flags & SHF_COMPRESSED != 0 {
            if flags & SHF_ALLOC != 0 {
                return Err(Malformed::CompressedInMemory);
            }
            let bytes = self.object.section_data(shndx).unwrap_or(&[]);
            let header = Compressed::parse(bytes, self.object.format()).map_err(Malformed::Compressed)?;
            size = header.uncompressed_size();
            align = header.align();
            kind = SectionKind::Compressed;
        }
        if !align.is_power_of_two() {
            return Err(Malformed::Alignment(align));
        }
        if size > LARGEST || align > LARGEST {
            return Err(Malformed::Impossible { size, align });
        }
        Ok(Contents { kind, size, align })
    }

    /// The kind of a section of so many bytes that goes to `bin`.
    fn refine(
        &mut self,
        kind: SectionKind,
        shndx: usize,
        name: &[u8],
        bin: PlacementId,
        size: u64,
    ) -> Result<SectionKind, Malformed> {
        let shdr = &self.object.shdrs[shndx];
        let relocatable = self.options.kind == OutputKind::Relocatable;
        if name == b".eh_frame" && kind == SectionKind::Regular {
            // `-r` copies it whole; its records say what lives with a function all the same.
            if !relocatable || self.options.sections.gc_sections {
                self.found.extra.eh_frames.push((shndx as u32, EhFrame::default()));
            }
            if !relocatable {
                return Ok(SectionKind::EhFrame);
            }
        }
        if is_sframe(name, shdr) && kind == SectionKind::Regular {
            self.found.extra.sframes.push(shndx as u32);
            return Ok(kind);
        }
        if self.is_array_bin(bin, bin::INIT_ARRAY) && continues(name, b".ctors")
            || self.is_array_bin(bin, bin::FINI_ARRAY) && continues(name, b".dtors")
        {
            let word = self.object.format().word();
            if !size.is_multiple_of(word) {
                return Err(Malformed::AddressTable { word });
            }
            return Ok(if kind == SectionKind::Regular { SectionKind::Reversed } else { kind });
        }
        if shdr.sh_flags() & SHF_MERGE == 0 {
            return Ok(kind);
        }
        if kind == SectionKind::NoBits || !self.is_mergeable(shdr, size) {
            return Ok(kind);
        }
        self.found.extra.merges.push(MergeSection {
            section: SectionId(self.object.section_base + shndx as u32),
            entsize: shdr.sh_entsize() as u32,
            strings: shdr.sh_flags() & SHF_STRINGS != 0,
        });
        Ok(SectionKind::Merge)
    }

    fn is_mergeable(&self, shdr: &Shdr, size: u64) -> bool {
        let entsize = shdr.sh_entsize();
        // What a program may change is not the same because it begins the same.
        let is_constant = shdr.sh_flags() & SHF_WRITE == 0;
        is_constant
            && self.options.kind != OutputKind::Relocatable
            && self.options.sections.optimize > 0
            && self.options.sections.merge_sections
            && entsize > 0
            && size > 0
            && entsize <= 1 << 16
    }

    /// Sections that say something to the linker and are not copied.
    fn is_special(&mut self, name: &'a [u8], shndx: usize) -> Result<bool, Malformed> {
        // `.note`, `.gnu`, `.llvm`, … begin all of them: most names are told apart by a letter.
        if !matches!(name, [_, b'n' | b'g' | b'l' | b's' | b'z', ..]) {
            return Ok(false);
        }
        let shdr = &self.object.shdrs[shndx];
        let relocatable = self.options.kind == OutputKind::Relocatable;
        match name {
            b".note.GNU-stack" => {
                self.found.extra.executable_stack = Some(shdr.sh_flags() & SHF_EXECINSTR != 0);
                Ok(true)
            }
            b".note.gnu.property" => {
                self.whole(shndx)?;
                self.found.extra.properties.push(shndx as u32);
                Ok(true)
            }
            // An id that `-r` wrote is not that of this output.
            b".note.gnu.build-id" => Ok(true),
            b".note.GNU-split-stack" | b".note.GNU-no-split-stack" if !relocatable => {
                self.found.extra.has_split_stack |= name == b".note.GNU-split-stack";
                Ok(true)
            }
            _ if name == b".gnu.warning" || name.starts_with(b".gnu.warning.") => {
                // Who links the output is to be warned as well.
                let ends_here = !matches!(self.options.kind, OutputKind::Shared | OutputKind::Relocatable);
                self.found.extra.has_warnings = true;
                Ok(ends_here)
            }
            // It is that of another link.
            b".gdb_index" => Ok(self.options.sections.gdb_index),
            // Intermediate code of an object whose machine code is linked.
            _ if name.starts_with(b".gnu.lto_") => Ok(true),
            _ if name.starts_with(linkonce::PREFIX) => {
                self.found.extra.has_linkonce = true;
                Ok(false)
            }
            // It is linked to its strings.
            b".stab" if shdr.sh_flags() & SHF_ALLOC == 0 && shdr.sh_link() != 0 => {
                self.found.extra.has_stabs |= self.options.symtab.strip == Strip::None;
                Ok(true)
            }
            _ if name.starts_with(b".zdebug_") && !self.is_stripped(name, shdr) => {
                Err(Malformed::OldCompression)
            }
            b".llvmbc" | b".llvmcmd" | b".llvm.lto" if shdr.sh_flags() & SHF_ALLOC == 0 => Ok(!relocatable),
            _ => Ok(false),
        }
    }
}

/// Whether a section holds tables of stack frames. Old assemblers have no type for it, so its name says it;
/// most names are told apart by two letters.
#[inline]
pub fn is_sframe(name: &[u8], shdr: &Shdr) -> bool {
    matches!(name, [_, b's', b'f', ..])
        && continues(name, b".sframe")
        && shdr.sh_flags() & SHF_ALLOC != 0
        && matches!(shdr.sh_type(), SHT_PROGBITS | SHT_GNU_SFRAME)
}

fn is_debug(name: &[u8]) -> bool {
    name.starts_with(b".debug") || name.starts_with(b".zdebug")
}

/// Whether it is known what a section's type asks of a linker. Types of operating systems and processors
/// may add to the gABI's, but what goes into memory is not copied without knowing what it is. An operating
/// system's are like data, says the gABI, unless a flag denies that.
fn is_known(machine: &Facts, shdr: &Shdr) -> bool {
    match shdr.sh_type() {
        SHT_PROGBITS | SHT_NOBITS | SHT_NOTE | SHT_STRTAB => true,
        kind if machine.is_frame_section(kind) || machine.is_code_index(kind) => true,
        kind if is_array(kind) => true,
        SHT_LOOS..=SHT_HIOS => shdr.sh_flags() & SHF_OS_NONCONFORMING == 0,
        SHT_LOPROC.. => shdr.sh_flags() & SHF_ALLOC == 0,
        _ => false,
    }
}
