//! Objects that are made in memory, to be linked as any other: their headers.
//!
//! Contents come first, then section headers, and the file's header last, when it is known where those are;
//! it has its room at the start from the beginning.

use crate::elf::format::Format;
use crate::elf::*;

/// A section header in the making.
#[derive(Clone, Copy, Default)]
pub struct Section {
    pub name: u32,
    pub kind: u32,
    pub flags: u64,
    pub offset: u64,
    pub size: u64,
    /// `sh_link` and `sh_info`.
    pub link: [u32; 2],
    /// `sh_addralign`; 0 stands for 1.
    pub align: u64,
    pub entry: u64,
}

impl Section {
    /// With what has been written since `start` as its contents.
    pub fn over(self, start: u64, out: &Writer) -> Section {
        Section { offset: start, size: out.position() - start, ..self }
    }

    pub fn of_entries(self, size: u64) -> Section {
        Section { entry: size, ..self }
    }

    pub fn write(&self, out: &mut Writer) {
        out.u32(self.name).u32(self.kind).word(self.flags).word(0).word(self.offset).word(self.size);
        out.u32(self.link[0]).u32(self.link[1]).word(self.align.max(1)).word(self.entry);
    }
}

/// Leaves room for the file's header.
pub fn begin(out: &mut Writer, format: Format) {
    out.bytes(&vec![0; format.size::<Ehdr>() as usize]).align(8);
}

/// The object with its header, which says `flags` (`e_flags`). `at` says where the section headers are, how
/// many there are, and which one is that of their names.
pub fn complete(
    out: Writer,
    target: Target,
    flags: u32,
    offset: u64,
    sections: usize,
    names: u32,
) -> Vec<u8> {
    let format = target.format;
    let [class, order] = format.ident();
    let small = |number: u32| u16::try_from(number).ok().filter(|number| *number < SHN_LORESERVE);
    let mut header = Writer::with_room(format, format.size::<Ehdr>() as usize);
    header.bytes(ELFMAG).bytes(&[class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    header.u16(ET_REL).u16(target.machine).u32(1).word(0).word(0).word(offset).u32(flags);
    header.u16(format.size::<Ehdr>() as u16).u16(0).u16(0).u16(format.size::<Shdr>() as u16);
    // What is too large for these fields is in the first section header.
    let (count, names) = match (small(sections as u32), small(names)) {
        (Some(count), Some(names)) => (count, names),
        _ => (0, SHN_XINDEX),
    };
    header.u16(count).u16(names);
    let (header, mut bytes) = (header.finish(), out.finish());
    bytes[..header.len()].copy_from_slice(&header);
    bytes
}
