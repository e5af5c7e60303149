//! The ELF header, program headers and section headers.
//!
//! Specification: gABI chapters 4 ("ELF Header", "Section Header") and 5 ("Program Header").

use crate::elf::*;
use crate::ids::HeaderIndex;
use crate::input::object::Object;
use crate::layout::{Layout, Segment};
use crate::mode::Mode;

/// Bytes of the ELF header and the program headers.
pub fn size(layout: &Layout) -> u64 {
    (Ehdr::SIZE + layout.segments.len() * Phdr::SIZE) as u64
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn half(&mut self, value: u16) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
    fn word(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
    fn long(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
}

/// The first bytes of a file. What comes from objects that are for GNU systems only is so itself.
pub fn identification(objects: &[Object]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(ELFMAG);
    let abi = if objects.iter().any(|o| o.is_gnu) { ELFOSABI_GNU } else { 0 };
    bytes[4..8].copy_from_slice(&[ELFCLASS64, ELFDATA2LSB, 1, abi]);
    bytes
}

/// The start of the file. `names` is the index of `.shstrtab`'s section header.
pub fn file_header(
    layout: &Layout,
    objects: &[Object],
    mode: Mode,
    entry: u64,
    names: HeaderIndex,
) -> Vec<u8> {
    let mut out = Bytes(Vec::with_capacity(size(layout) as usize));
    out.0.extend_from_slice(&identification(objects));
    let kind = match (mode.relocatable, mode.pic) {
        (true, _) => ET_REL,
        (_, true) => ET_DYN,
        _ => ET_EXEC,
    };
    let headers = layout.section_headers != 0;
    let count = if headers { layout.sections.len() + 1 } else { 0 };
    let phoff = if layout.segments.is_empty() { 0 } else { Ehdr::SIZE as u64 };
    out.half(kind)
        .half(mode.facts().target.machine)
        .word(1)
        .long(entry)
        .long(phoff)
        .long(layout.section_headers)
        .word(0);
    out.half(Ehdr::SIZE as u16).half(if layout.segments.is_empty() { 0 } else { Phdr::SIZE as u16 });
    out.half(layout.segments.len() as u16).half(if headers { Shdr::SIZE as u16 } else { 0 });
    // Numbers that do not fit are in section header 0.
    out.half(if count >= SHN_LORESERVE as usize { 0 } else { count as u16 });
    out.half(if names.0 >= SHN_LORESERVE as u32 { SHN_XINDEX } else { names.0 as u16 });
    for segment in &layout.segments {
        put_segment(&mut out, segment);
    }
    out.0
}

fn put_segment(out: &mut Bytes, s: &Segment) {
    out.word(s.kind).word(s.flags).long(s.offset).long(s.address).long(s.load_address);
    out.long(s.file_size).long(s.mem_size).long(s.align);
}

/// The section header table. `name_offsets` are those of the sections' names in `.shstrtab`.
pub fn section_headers(layout: &Layout, name_offsets: &[u32], names: HeaderIndex) -> Vec<u8> {
    if layout.section_headers == 0 {
        return Vec::new();
    }
    let count = layout.sections.len() + 1;
    let mut out = Bytes(Vec::with_capacity(count * Shdr::SIZE));
    let extended_count = if count >= SHN_LORESERVE as usize { count as u64 } else { 0 };
    let extended_names = if names.0 >= SHN_LORESERVE as u32 { names.0 } else { 0 };
    out.word(0)
        .word(0)
        .long(0)
        .long(0)
        .long(0)
        .long(extended_count)
        .word(extended_names)
        .word(0)
        .long(0)
        .long(0);
    for (section, &name) in layout.sections.iter().zip(name_offsets) {
        out.word(name).word(section.kind).long(section.flags).long(section.address).long(section.offset);
        out.long(section.size)
            .word(section.link.0)
            .word(section.info)
            .long(section.align)
            .long(section.entsize);
    }
    out.0
}
