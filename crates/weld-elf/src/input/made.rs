//! Objects that are made in memory, to be linked as any other.
//!
//! Contents come first, then section headers, and the file's header last, when it is known where those are;
//! it has its room at the start from the beginning. [`assemble`] makes those that have symbols, and one section for them.

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

/// The names of an object in the making: of its sections and symbols.
pub struct Names(Vec<u8>);

impl Default for Names {
    /// None yet, but the empty one.
    fn default() -> Names {
        Names(vec![0])
    }
}

impl Names {
    /// Those that there are in a table.
    pub fn of(table: &[u8]) -> Names {
        Names(table.to_vec())
    }

    /// Adds one that is in pieces. Where it is.
    pub fn add(&mut self, pieces: &[&[u8]]) -> u32 {
        let at = self.0.len() as u32;
        pieces.iter().for_each(|piece| self.0.extend_from_slice(piece));
        self.0.push(0);
        at
    }

    /// The table.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The symbols of an object in the making: local ones first.
pub struct Symbols {
    list: Vec<Sym>,
    names: Names,
}

impl Default for Symbols {
    /// None yet.
    fn default() -> Symbols {
        Symbols { list: vec![Sym([0; Sym::SIZE])], names: Names::default() }
    }
}

impl Symbols {
    /// Adds one whose name is in pieces, with `st_info` and `st_other`, its section, its value and its size. Its number.
    pub fn add(&mut self, name: &[&[u8]], info: u8, other: u8, section: u16, value: u64, size: u64) -> u32 {
        let name = self.names.add(name);
        self.list.push(Sym::make(name, info, other, section, value, size));
        self.list.len() as u32 - 1
    }
}

/// The section that an object in the making has.
#[derive(Clone, Copy)]
pub struct Contents<'c> {
    pub name: &'c str,
    /// `sh_flags` and `sh_addralign`.
    pub flags: u64,
    pub align: u64,
    pub bytes: &'c [u8],
    /// Relocations without addends of their own (`SHT_REL`): places, numbers of symbols, and types.
    pub relocs: &'c [(u64, u32, u32)],
}

/// The number of that section.
pub const CONTENTS: u16 = 1;

/// An object with `flags` (`e_flags`), symbols, and a section, if there are `contents`.
pub fn assemble(target: Target, flags: u32, contents: Option<Contents>, mut symbols: Symbols) -> Vec<u8> {
    let format = target.format;
    let text = contents.map_or(0, |contents| contents.bytes.len() + contents.relocs.len() * Rela::SIZE);
    let room = text + symbols.names.bytes().len() + (symbols.list.len() + 16) * Shdr::SIZE;
    let mut out = Writer::with_room(format, room);
    begin(&mut out, format);
    let mut sections = vec![Section::default(); usize::from(CONTENTS) + 1];
    let relocs = contents.map_or(&[][..], |contents| contents.relocs);
    let symtab = sections.len() as u32 + u32::from(!relocs.is_empty());
    if let Some(Contents { name, flags, align, bytes, relocs: _ }) = contents {
        let name = symbols.names.add(&[name.as_bytes()]);
        let at = out.position();
        out.bytes(bytes);
        let section = Section { name, kind: SHT_PROGBITS, flags, align, ..Section::default() };
        sections[usize::from(CONTENTS)] = section.over(at, &out);
    }
    if let Some(Contents { name, .. }) = contents.filter(|_| !relocs.is_empty()) {
        let name = symbols.names.add(&[b".rel", name.as_bytes()]);
        let at = out.align(8).position();
        for &(place, symbol, kind) in relocs {
            let symbol = u64::from(symbol) << if format.is_64() { 32 } else { 8 };
            out.word(place).word(symbol | u64::from(kind));
        }
        let link = [symtab, CONTENTS.into()];
        let section = Section { name, kind: SHT_REL, link, align: format.word(), ..Section::default() };
        sections.push(section.over(at, &out).of_entries(2 * format.word()));
    }
    let strtab = symtab + 1;
    let names = [b".symtab", b".strtab"].map(|name| symbols.names.add(&[name]));
    let at = out.align(8).position();
    symbols.list.iter().for_each(|symbol| _ = out.record(symbol));
    let locals = symbols.list.iter().take_while(|symbol| symbol.binding() == STB_LOCAL).count() as u32;
    let section = Section { name: names[0], kind: SHT_SYMTAB, align: 8, ..Section::default() };
    let section = Section { link: [strtab, locals], ..section };
    sections.push(section.over(at, &out).of_entries(format.size::<Sym>()));
    let at = out.position();
    out.bytes(symbols.names.bytes());
    sections.push(Section { name: names[1], kind: SHT_STRTAB, ..Section::default() }.over(at, &out));
    let at = out.align(8).position();
    sections.iter().for_each(|section| section.write(&mut out));
    complete(out, target, flags, at, sections.len(), strtab)
}
