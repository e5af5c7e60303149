//! Placing is a program: a list of statements that say which output sections lie where.
//!
//! The default layout is the built-in program of [`super::standard`]. Options edit it: `-Ttext` puts code
//! first, `--section-start` and its kin give addresses, `-N` makes all memory one segment, `-n` leaves the
//! headers out of memory. A linker script would be another program: its output sections are statements that
//! name a section ([`SectionSelector::Named`]), with bins of their own for their patterns of input sections;
//! what no statement names is an orphan in any program.
//!
//! Input sections are assigned to bins where they are read, by a table or a prefix (`sections::bins`), so a
//! section's output section is one load away ([`super::Layout::out_of`]); a program decides on output
//! sections only, of which there are few.

use std::borrow::Cow;

use super::standard::{
    OBJECT, ORDER, RELRO_NAMES, RELRO_NOW, RELRO_OPENBSD, RELRO_OWN, RELRO_PADDING, RELRO_PARTS,
};
use super::{ChunkKind, OutputSection};
use crate::address::Address;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::options::{Magic, Options};

/// What may be done to the memory of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    ReadOnly,
    Code,
    WritableCode,
    /// Written to by the loader, then read-only.
    Relro,
    Data,
    /// Not in memory.
    Nowhere,
}

/// What a section consists of, as far as that has to do with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Notes,
    /// Read-only sections of other types than data: mostly what the loader reads.
    Tables,
    /// The bytes of the template for thread-local memory, and the zeroes after them.
    Template,
    TemplateZeroes,
    Bytes,
    Zeroes,
    /// Relocations of other sections (`-r`, `--emit-relocs`).
    Relocations,
    /// Lists of sections that live or die together (`-r`).
    Groups,
    /// Sections that lie in the order of others (`-r`).
    Linked,
}

/// A place for output sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    pub memory: Memory,
    /// For sections that may be out of reach of others (`SHF_X86_64_LARGE` and the like).
    pub large: bool,
    pub who: SectionSelector,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionSelector {
    /// What the linker makes; inputs may have sections of the same name.
    Own(ChunkKind),
    Named(&'static [u8]),
    /// What fills the last page that becomes read-only.
    RelroPadding,
    /// All that no statement names, if they consist of this.
    Orphans(Contents),
}

pub struct Program<'o> {
    statements: Cow<'static, [Statement]>,
    pub options: &'o Options,
    machine: &'static Facts,
    /// `EI_OSABI` of the output.
    os_abi: u8,
    /// What becomes read-only, among the linker's own.
    relro: Vec<ChunkKind>,
    /// The output is an object (`-r`).
    object: bool,
}

impl<'o> Program<'o> {
    /// The default layout, as options edit it.
    pub fn new(options: &'o Options, machine: &'static Facts, os_abi: u8) -> Program<'o> {
        let (statements, relro) = (Cow::Borrowed(ORDER), RELRO_OWN.to_vec());
        let mut program = Program { statements, options, machine, os_abi, relro, object: false };
        if options.dynamic.now {
            program.relro.push(RELRO_NOW);
        }
        if options.start_of(b".text").is_some() {
            program.put_code_first();
        }
        if let Some(toc) = &machine.toc {
            program.put_by_got(toc.sections);
        }
        if machine.loader_got.is_some() {
            // Near small data, and written to by the loader whenever it likes.
            program.relro.retain(|kind| *kind != ChunkKind::Got);
            program.put_by_got(&[]);
        }
        program
    }

    /// Puts sections beside the GOT, which is the last of data with bytes.
    fn put_by_got(&mut self, names: &'static [&'static [u8]]) {
        for memory in [Memory::Relro, Memory::Data] {
            let last = |s: &Statement| {
                s.memory == memory && s.who == SectionSelector::Orphans(Contents::Bytes) && !s.large
            };
            let Some(at) = self.statements.iter().position(last) else { continue };
            let near = names.iter().map(|name| SectionSelector::Named(name));
            let near = std::iter::once(SectionSelector::Own(ChunkKind::Got)).chain(near);
            let near = near.map(|who| Statement { memory, large: false, who });
            self.statements.to_mut().splice(at + 1..at + 1, near);
        }
    }

    /// The layout of an object that `-r` makes: there is no memory yet, so sections stay as they come.
    pub fn object(options: &'o Options, machine: &'static Facts) -> Program<'o> {
        let statements = Cow::Borrowed(OBJECT);
        Program { statements, options, machine, os_abi: 0, relro: Vec::new(), object: true }
    }

    /// Whether the next link decides on what lies where within output sections.
    pub fn is_object(&self) -> bool {
        self.object
    }

    /// `-Ttext`: code comes first, and `.text` first of it. All else follows at higher addresses, within its
    /// reach, and an image that is cut from the file starts with the code.
    fn put_code_first(&mut self) {
        let is_code = |statement: &&Statement| statement.memory == Memory::Code;
        let of_size = |large: bool| {
            let all = move || ORDER.iter().filter(move |s| s.memory != Memory::Nowhere && s.large == large);
            let text = Statement { memory: Memory::Code, large, who: SectionSelector::Named(b".text") };
            let code = all().filter(is_code);
            std::iter::once(text).chain(code.chain(all().filter(move |s| !is_code(s))).copied())
        };
        let nowhere = ORDER.iter().filter(|s| s.memory == Memory::Nowhere).copied();
        self.statements = Cow::Owned(of_size(false).chain(of_size(true)).chain(nowhere).collect());
    }

    /// Gives an output section its place in the order, its memory, and the address that it was given, if any.
    pub fn assign(&self, out: &mut OutputSection) {
        self.align(out);
        if self.object {
            out.rank = self.rank(out);
            return;
        }
        out.large = self.machine.is_large(out.flags);
        out.memory = self.memory(out);
        out.rank = self.rank(out);
        out.start = self.options.start_of(&out.name).map(Address::new);
    }

    /// `--section-align`
    fn align(&self, out: &mut OutputSection) {
        let mut asked = self.options.layout.section_aligns.iter();
        if let Some((_, align)) = asked.find(|(name, _)| name.as_bytes() == &*out.name) {
            out.align = out.align.max(*align);
        }
    }

    /// The same for a section that a linker script places: its address comes from there.
    pub fn place_by_script(&self, out: &mut OutputSection) {
        self.align(out);
        if !self.object {
            out.pads_relro = *out.name == *RELRO_PADDING && out.is_alloc() && out.members.is_empty();
            out.memory = self.memory(out);
        }
        out.rank = self.rank(out);
    }

    /// What may be done to the memory of a section in the default layout.
    pub fn usual_memory(&self, out: &OutputSection) -> Memory {
        self.memory(out)
    }

    fn memory(&self, out: &OutputSection) -> Memory {
        let flag = |flag: u64| out.flags & flag != 0;
        match (flag(SHF_WRITE), flag(SHF_EXECINSTR)) {
            _ if !out.is_alloc() => Memory::Nowhere,
            (false, false) => Memory::ReadOnly,
            (false, true) => Memory::Code,
            (true, true) => Memory::WritableCode,
            (true, false) if self.is_relro(out) => Memory::Relro,
            (true, false) => Memory::Data,
        }
    }

    /// Whether data may become read-only once the loader has relocated it.
    fn is_relro(&self, out: &OutputSection) -> bool {
        if !self.options.layout.relro || out.large {
            return false;
        }
        let array = matches!(out.kind, SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY);
        match out.own {
            _ if out.is_tls() || array => true,
            Some(kind) => self.relro.contains(&kind),
            None if out.pads_relro => true,
            None if *out.name == *RELRO_OPENBSD => self.os_abi == ELFOSABI_OPENBSD,
            None if self.machine.keeps_words(&out.name) => true,
            None if RELRO_PARTS.contains(&&*out.name) => self.options.sections.keep_data_section_prefix,
            None => RELRO_NAMES.contains(&&*out.name),
        }
    }

    /// The number of the statement that places the section: one that names it, or that of its sort.
    fn rank(&self, out: &OutputSection) -> u32 {
        let contents = if self.object { contents_of_object(out) } else { contents(out) };
        let mut of_sort = self.statements.len();
        for (i, statement) in self.statements.iter().enumerate() {
            if statement.memory != out.memory || statement.large != out.large {
                continue;
            }
            match statement.who {
                SectionSelector::Own(kind) if out.own == Some(kind) => return i as u32,
                SectionSelector::Named(name) if *out.name == *name => return i as u32,
                SectionSelector::RelroPadding if out.pads_relro => return i as u32,
                SectionSelector::Orphans(sort) if sort == contents => of_sort = i,
                _ => {}
            }
        }
        of_sort as u32
    }

    /// `-N`: whether all memory is one segment that can be written to and executed.
    pub fn is_one_segment(&self) -> bool {
        self.options.layout.magic == Magic::Omagic
    }

    /// `p_flags` of a segment for such memory.
    pub fn rights(&self, memory: Memory) -> u32 {
        match memory {
            _ if self.is_one_segment() => PF_R | PF_W | PF_X,
            // One segment for both is executable as a whole.
            Memory::ReadOnly if !self.options.layout.rosegment => PF_R | PF_X,
            Memory::ReadOnly | Memory::Nowhere => PF_R,
            Memory::Code if self.options.layout.execute_only => PF_X,
            Memory::Code => PF_R | PF_X,
            Memory::WritableCode => PF_R | PF_W | PF_X,
            Memory::Relro | Memory::Data => PF_R | PF_W,
        }
    }

    /// The same for a section.
    pub fn rights_of(&self, out: &OutputSection) -> u32 {
        let rights = self.rights(out.memory);
        let apart = self.options.layout.xosegment && out.memory == Memory::Code && !self.is_one_segment();
        if apart && out.flags & self.machine.execute_only != 0 { rights & !PF_R } else { rights }
    }

    /// Whether the headers are loaded if there is room for them; not with `-n` and `-N`, and not if there are
    /// none.
    pub fn loads_headers(&self) -> bool {
        self.options.layout.magic == Magic::Paged && !self.options.output.raw
    }
}

fn contents_of_object(out: &OutputSection) -> Contents {
    match out.own {
        Some(ChunkKind::Relocs(_)) => Contents::Relocations,
        _ if out.kind == SHT_GROUP => Contents::Groups,
        _ if out.flags & SHF_LINK_ORDER != 0 => Contents::Linked,
        _ => Contents::Bytes,
    }
}

fn contents(out: &OutputSection) -> Contents {
    let writable = matches!(out.memory, Memory::Relro | Memory::Data);
    match out.kind {
        _ if matches!(out.own, Some(ChunkKind::Relocs(_))) => Contents::Relocations,
        _ if out.memory == Memory::Nowhere => Contents::Bytes,
        _ if writable && out.is_tls() && out.is_nobits() => Contents::TemplateZeroes,
        _ if writable && out.is_tls() => Contents::Template,
        SHT_NOBITS => Contents::Zeroes,
        SHT_NOTE if out.memory == Memory::ReadOnly => Contents::Notes,
        SHT_PROGBITS => Contents::Bytes,
        _ if out.memory == Memory::ReadOnly => Contents::Tables,
        _ => Contents::Bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> &'static Facts {
        crate::arch::default().facts()
    }

    fn out(name: &'static str, kind: u32, flags: u64) -> OutputSection<'static> {
        OutputSection::new(name.as_bytes().into(), kind, flags, 0)
    }

    fn order(options: &Options, mut list: Vec<OutputSection<'static>>) -> Vec<String> {
        let program = Program::new(options, machine(), 0);
        list.iter_mut().for_each(|out| program.assign(out));
        list.sort_by_key(|out| out.rank);
        list.iter().map(|out| String::from_utf8_lossy(&out.name).into_owned()).collect()
    }

    const A: u64 = SHF_ALLOC;

    fn some() -> Vec<OutputSection<'static>> {
        vec![
            out(".debug_info", SHT_PROGBITS, 0),
            out(".bss", SHT_NOBITS, A | SHF_WRITE),
            out(".data", SHT_PROGBITS, A | SHF_WRITE),
            out(".eh_frame", SHT_PROGBITS, A),
            out(".init", SHT_PROGBITS, A | SHF_EXECINSTR),
            out(".text", SHT_PROGBITS, A | SHF_EXECINSTR),
            out(".rodata", SHT_PROGBITS, A),
            out(".note.x", SHT_NOTE, A),
            out(".tbss", SHT_NOBITS, A | SHF_WRITE | SHF_TLS),
            out(".tdata", SHT_PROGBITS, A | SHF_WRITE | SHF_TLS),
            out(".lrodata", SHT_PROGBITS, A | machine().large_flag()),
        ]
    }

    #[test]
    fn the_standard_order() {
        let names = [
            ".note.x",
            ".rodata",
            ".eh_frame",
            ".init",
            ".text",
            ".tdata",
            ".tbss",
            ".data",
            ".bss",
            ".lrodata",
            ".debug_info",
        ];
        assert_eq!(order(&Options::default(), some()), names);
    }

    #[test]
    fn an_address_for_text_puts_code_first() {
        let mut options = Options::default();
        options.layout.section_starts.push((".text".into(), 0x1000));
        let names = [
            ".text",
            ".init",
            ".note.x",
            ".rodata",
            ".eh_frame",
            ".tdata",
            ".tbss",
            ".data",
            ".bss",
            ".lrodata",
            ".debug_info",
        ];
        assert_eq!(order(&options, some()), names);
    }

    #[test]
    fn there_is_a_statement_for_everything() {
        let options = Options::default();
        let program = Program::new(&options, machine(), 0);
        let flags = [0, A, A | SHF_WRITE, A | SHF_EXECINSTR, A | SHF_WRITE | SHF_EXECINSTR];
        for large in [0, machine().large_flag()] {
            for kind in [SHT_PROGBITS, SHT_NOBITS, SHT_NOTE, SHT_INIT_ARRAY, 0x7000_0000] {
                for tls in [0, SHF_TLS] {
                    for flags in flags.map(|flags| flags | tls | if flags == 0 { 0 } else { large }) {
                        let mut section = out(".x", kind, flags);
                        program.assign(&mut section);
                        assert!((section.rank as usize) < ORDER.len(), "{kind:#x} {flags:#x}");
                    }
                }
            }
        }
    }
}
