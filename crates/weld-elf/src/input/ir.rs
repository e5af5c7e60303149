//! Intermediate code as an object: bitcode, and what GCC leaves in sections of objects.
//!
//! Resolution needs of such a file what it needs of any other: symbols, and the sections and COMDAT groups
//! that they are in. These become an object in memory without contents, so no phase needs to know of
//! intermediate code but those that ask a compiler for the machine code (`crate::lto`).
//!
//! ```text
//! symbols    a local one for the name of each COMDAT group, then the file's, in its order
//! sections   for each group and each name of a section an empty one
//! ```

use std::collections::HashMap;

use weld_lto::ir::{IrFile, IrSymbol, Kind, Visibility};

use super::object::Object;
use crate::elf::*;

/// Of which compilers code is looked for in objects that may have machine code, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// `.llvm.lto` (`--fat-lto-objects`).
    pub llvm: bool,
    /// `.gnu.lto_*`.
    pub gcc: bool,
}

/// The symbols of a file that other files can see. Compilers number symbols by their place among these.
pub fn symbols<'i, 'a>(ir: &'i IrFile<'a>) -> impl Iterator<Item = &'i IrSymbol<'a>> {
    ir.symbols.iter().filter(|symbol| symbol.is_global && !symbol.is_internal)
}

/// The part of an object that is bitcode.
pub fn bitcode<'a>(object: &Object<'a>) -> Option<&'a [u8]> {
    let is_bitcode = |shdr: &Shdr| shdr.sh_type() == SHT_LLVM_LTO;
    let shndx = object.shdrs.iter().position(is_bitcode)?;
    object.section_data(shndx)
}

/// The sections of an object that GCC's intermediate code is in, with their names.
pub fn gcc_sections<'a>(object: &Object<'a>) -> Vec<(&'a [u8], &'a [u8])> {
    // No other sections of an object are for linkers alone, so most names need not be looked at.
    let excluded = object.shdrs.iter().enumerate().filter(|(_, shdr)| shdr.sh_flags() & SHF_EXCLUDE != 0);
    let named = excluded.filter_map(|(shndx, _)| Some((object.section_name(shndx)?, shndx)));
    let of_gcc = named.filter(|(name, _)| name.starts_with(b".gnu.lto_"));
    of_gcc.filter_map(|(name, shndx)| Some((name, object.section_data(shndx)?))).collect()
}

/// Makes the object for a file.
pub fn object(ir: &IrFile, target: Target) -> Vec<u8> {
    let mut made = Made::new(ir);
    symbols(ir).for_each(|symbol| made.add(symbol));
    made.assemble(target)
}

/// What tells sections apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place<'a> {
    /// 0 for none.
    group: u32,
    name: &'a [u8],
    flags: u64,
}

/// A symbol, and the header index of the section that it is in; 0 if its record says where it is.
struct Placed {
    record: Sym,
    section: u32,
}

/// An object in the making.
struct Made<'a> {
    groups: u32,
    symbols: Vec<Placed>,
    strings: Vec<u8>,
    sections: Vec<Place<'a>>,
    numbers: HashMap<Place<'a>, u32>,
}

impl<'a> Made<'a> {
    fn new(ir: &IrFile<'a>) -> Made<'a> {
        let mut made = Made {
            groups: ir.comdats.len() as u32,
            symbols: vec![Placed { record: Sym([0; Sym::SIZE]), section: 0 }],
            strings: vec![0],
            sections: Vec::new(),
            numbers: HashMap::new(),
        };
        for comdat in &ir.comdats {
            let record = Sym::make(made.string(comdat.name), 0, 0, SHN_ABS, 0, 0);
            made.symbols.push(Placed { record, section: 0 });
        }
        made
    }

    fn string(&mut self, text: &[u8]) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend_from_slice(text);
        self.strings.push(0);
        at
    }

    fn add(&mut self, symbol: &IrSymbol<'a>) {
        let name = self.string(symbol.name);
        let kind = match symbol.kind {
            Kind::Undefined => STT_NOTYPE,
            _ if symbol.is_tls => STT_TLS,
            _ if symbol.is_function => STT_FUNC,
            _ => STT_OBJECT,
        };
        let binding = if symbol.is_weak { STB_WEAK } else { STB_GLOBAL };
        let visibility = match symbol.visibility {
            Visibility::Default => STV_DEFAULT,
            Visibility::Hidden => STV_HIDDEN,
            Visibility::Protected => STV_PROTECTED,
            Visibility::Internal => STV_INTERNAL,
        };
        let record = |shndx, value, size| Sym::make(name, binding << 4 | kind, visibility, shndx, value, size);
        self.symbols.push(match symbol.kind {
            Kind::Undefined => Placed { record: record(SHN_UNDEF, 0, 0), section: 0 },
            Kind::Common { size, alignment } => {
                Placed { record: record(SHN_COMMON, alignment.max(1), size), section: 0 }
            }
            Kind::Defined => {
                let section = self.section(symbol);
                // What has no room in the record is in a table beside it.
                let shndx = u16::try_from(section).ok().filter(|shndx| *shndx < SHN_LORESERVE);
                Placed { record: record(shndx.unwrap_or(SHN_XINDEX), 0, 0), section }
            }
        });
    }

    /// The header index of the section that a definition is in.
    fn section(&mut self, symbol: &IrSymbol<'a>) -> u32 {
        let (default, flags): (&[u8], u64) = match symbol {
            _ if symbol.is_tls => (b".tdata", SHF_WRITE | SHF_TLS),
            _ if symbol.is_function => (b".text", SHF_EXECINSTR),
            _ => (b".data", SHF_WRITE),
        };
        let name = if symbol.section.is_empty() { default } else { symbol.section };
        let place = Place { group: symbol.comdat.map_or(0, |group| group + 1), name, flags };
        // After the null section and the groups.
        let next = 1 + self.groups + self.sections.len() as u32;
        *self.numbers.entry(place).or_insert_with(|| {
            self.sections.push(place);
            next
        })
    }

    /// The members of each group: header indices.
    fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.groups as usize];
        for (number, place) in (1 + self.groups..).zip(&self.sections) {
            let group = place.group.checked_sub(1).and_then(|group| members.get_mut(group as usize));
            group.into_iter().for_each(|group| group.push(number));
        }
        members
    }

    fn assemble(mut self, target: Target) -> Vec<u8> {
        let format = target.format;
        let mut sections = vec![Section::default(); 1 + self.groups as usize];
        for place in self.sections.clone() {
            let in_group = if place.group != 0 { SHF_GROUP } else { 0 };
            sections.push(Section {
                name: self.string(place.name),
                kind: SHT_PROGBITS,
                flags: SHF_ALLOC | place.flags | in_group,
                ..Section::default()
            });
        }
        let (symtab, strtab) = (sections.len() as u32, sections.len() as u32 + 1);
        let mut out = Writer::new(format);
        // The header is written last, when it is known where the section headers are.
        out.bytes(&vec![0; format.size::<Ehdr>() as usize]).align(8);
        for (number, members) in (1..).zip(self.members()) {
            let at = out.len();
            out.u32(GRP_COMDAT);
            members.iter().for_each(|member| _ = out.u32(*member));
            let link = [symtab, number as u32];
            sections[number] =
                Section { kind: SHT_GROUP, link, ..Section::default() }.over(at, &out).of_entries(4);
        }
        let at = out.align(8).len();
        self.symbols.iter().for_each(|symbol| _ = out.record(&symbol.record));
        let link = [strtab, self.groups + 1];
        let table = Section { kind: SHT_SYMTAB, link, ..Section::default() }.over(at, &out);
        sections.push(table.of_entries(format.size::<Sym>()));
        let at = out.len();
        out.bytes(&self.strings);
        sections.push(Section { kind: SHT_STRTAB, ..Section::default() }.over(at, &out));
        if sections.len() >= SHN_LORESERVE.into() {
            let at = out.align(8).len();
            self.symbols.iter().for_each(|symbol| _ = out.u32(symbol.section));
            let table = Section { kind: SHT_SYMTAB_SHNDX, link: [symtab, 0], ..Section::default() };
            sections.push(table.over(at, &out).of_entries(4));
            // The header has no room for these numbers.
            sections[0] = Section { size: sections.len() as u64, link: [strtab, 0], ..Section::default() };
        }
        let at = out.align(8).len();
        sections.iter().for_each(|section| section.write(&mut out));
        let header = header(target, at, (sections.len(), strtab));
        let mut bytes = out.finish();
        bytes[..header.len()].copy_from_slice(&header);
        bytes
    }
}

/// A section header in the making.
#[derive(Clone, Copy, Default)]
struct Section {
    name: u32,
    kind: u32,
    flags: u64,
    offset: u64,
    size: u64,
    /// `sh_link` and `sh_info`.
    link: [u32; 2],
    entry: u64,
}

impl Section {
    /// With what has been written since `start` as its contents.
    fn over(self, start: u64, out: &Writer) -> Section {
        Section { offset: start, size: out.len() - start, ..self }
    }

    fn of_entries(self, size: u64) -> Section {
        Section { entry: size, ..self }
    }

    fn write(&self, out: &mut Writer) {
        out.u32(self.name).u32(self.kind).word(self.flags).word(0).word(self.offset).word(self.size);
        out.u32(self.link[0]).u32(self.link[1]).word(1).word(self.entry);
    }
}

/// The header of an object whose section headers are at `offset`. `numbers` are how many there are, and that
/// of the names.
fn header(target: Target, offset: u64, (sections, names): (usize, u32)) -> Vec<u8> {
    let format = target.format;
    let [class, order] = format.ident();
    let small = |number: u32| u16::try_from(number).ok().filter(|number| *number < SHN_LORESERVE);
    let mut out = Writer::with_room(format, format.size::<Ehdr>() as usize);
    out.bytes(ELFMAG).bytes(&[class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.u16(ET_REL).u16(target.machine).u32(1).word(0).word(0).word(offset).u32(0);
    out.u16(format.size::<Ehdr>() as u16).u16(0).u16(0).u16(format.size::<Shdr>() as u16);
    let (count, names) = match (small(sections as u32), small(names)) {
        (Some(count), Some(names)) => (count, names),
        _ => (0, SHN_XINDEX),
    };
    out.u16(count).u16(names);
    out.finish()
}
