//! Objects with nothing in them: what stands where an object is gone, or where one may come ([`super::units`]).
//!
//! A *skeleton* has the sections of an object but those that may come and go, with as little in them as readers take:
//! a unit of debug information has one entry that says nothing, a table no row. So an object and its skeleton
//! have the same shape ([`crate::relink_state::outline`]), and one may be relinked as the other. Only objects are known
//! whose other sections are those for debuggers and unwinders, as rustc makes them.
//!
//! Specification: DWARF 4 and 5, sections 6.1.2, 6.2.4, 7.5 and 7.28.

use weld_common::io::input::InputStore;

use crate::elf::*;
use crate::input::made::{Names, Section, begin, complete};
use crate::input::object::Headers;
use crate::sections::yards::is_zeroed;

/// The skeleton of the object `data`; `None` if it has none.
pub fn of<'s>(data: &'s [u8], store: &'s InputStore<'s>) -> Option<Vec<u8>> {
    let headers = Headers::of(data, store)?;
    let Headers { facts, shdrs, header: ref ehdr, .. } = headers;
    let format = facts.target.format;
    if !format.is_native() || !format.is_64() || ehdr.e_type() != ET_REL {
        return None;
    }
    let name_of = |shdr: &Shdr| headers.name(shdr);
    // The sections that stay, by their numbers in the object.
    let mut kept: Vec<usize> = vec![0];
    for (index, shdr) in shdrs.iter().enumerate().skip(1) {
        if !may_come(shdr, name_of(shdr)) {
            kept.push(index);
        }
    }
    let new = |index: u32| kept.iter().position(|old| *old == index as usize);
    let mut names = Names::default();
    let mut text = |name: &[u8]| names.add(&[name]);
    let mut out = Writer::new(format);
    begin(&mut out, format);
    let mut sections = vec![Section::default()];
    let mut relocs: Vec<(usize, u64, u32, &[u8])> = Vec::new();
    for index in kept.iter().skip(1) {
        let shdr = &shdrs[*index];
        let name = name_of(shdr);
        let section = Section {
            name: text(name),
            kind: shdr.sh_type(),
            flags: shdr.sh_flags(),
            link: [new(shdr.sh_link())? as u32, 0],
            align: shdr.sh_addralign(),
            entry: shdr.sh_entsize(),
            ..Section::default()
        };
        let is_table = matches!(shdr.sh_type(), SHT_STRTAB | SHT_SYMTAB);
        let bytes = if is_table {
            Vec::new()
        } else {
            contents(shdr, name, slice(data, shdr.sh_offset(), shdr.file_size())?)?
        };
        if let Some((place, target)) = reference(name, &bytes) {
            // As the object relocates it.
            let table =
                shdrs.iter().find(|shdr| shdr.sh_type() == SHT_RELA && shdr.sh_info() as usize == *index)?;
            let count = table.sh_size() / format.size::<Rela>();
            let first = records::<Rela>(data, format, table.sh_offset(), count)?;
            let kind = first.iter().find(|reloc| reloc.r_offset() == place)?.kind();
            relocs.push((sections.len(), place, kind, target));
        }
        out.align(8);
        let at = out.position();
        out.bytes(&bytes);
        sections.push(section.over(at, &out));
    }
    let by_name = |name: &[u8]| kept.iter().position(|index| *index > 0 && name_of(&shdrs[*index]) == name);
    let symtab = kept.iter().position(|index| shdrs[*index].sh_type() == SHT_SYMTAB)?;
    // A file's name, so that there are symbols; and the sections that others refer to.
    let mut symbols = vec![Sym([0; Sym::SIZE])];
    symbols.push(Sym::make(text(b"room for another object"), STT_FILE, 0, SHN_ABS, 0, 0));
    let globals = of_kept(data, shdrs, format)?;
    for (section, place, kind, target) in relocs {
        let target = u16::try_from(by_name(target)?).ok()?;
        symbols.push(Sym::make(0, STT_SECTION, 0, target, 0, 0));
        let symbol = symbols.len() as u64 - 1;
        let header = Section {
            name: text(b".rela"),
            kind: SHT_RELA,
            link: [symtab as u32, section as u32],
            align: 8,
            ..Section::default()
        };
        let at = out.align(8).position();
        out.word(place).word(symbol << 32 | u64::from(kind)).word(0);
        sections.push(header.over(at, &out).of_entries(format.size::<Rela>()));
    }
    let locals = symbols.len() as u32;
    for (name, symbol) in globals {
        let section = u16::try_from(new(symbol.st_shndx().into())?).ok()?;
        symbols.push(Sym::make(text(name), symbol.0[4], symbol.st_other(), section, 0, symbol.st_size()));
    }
    let at = out.align(8).position();
    symbols.iter().for_each(|symbol| _ = out.record(symbol));
    sections[symtab] = sections[symtab].over(at, &out);
    sections[symtab].link[1] = locals;
    // All tables of names are one.
    let at = out.position();
    out.bytes(names.bytes());
    for (section, index) in sections.iter_mut().zip(&kept).skip(1) {
        if shdrs[*index].sh_type() == SHT_STRTAB {
            *section = section.over(at, &out);
        }
    }
    let at = out.align(8).position();
    // The first header is all zeroes.
    out.bytes(&[0; Shdr::SIZE]);
    sections.iter().skip(1).for_each(|section| section.write(&mut out));
    let of_names = new(ehdr.e_shstrndx().into())?;
    Some(complete(out, facts.target, ehdr.e_flags(), at, sections.len(), of_names as u32))
}

/// The names that an object defines in sections that stay: at the start of what is merged with others. `None` if there are
/// others.
fn of_kept<'d>(data: &'d [u8], shdrs: &[Shdr], format: Format) -> Option<Vec<(&'d [u8], Sym)>> {
    let symtab = shdrs.iter().find(|shdr| shdr.sh_type() == SHT_SYMTAB)?;
    let strtab = shdrs.get(symtab.sh_link() as usize)?;
    let strings = slice(data, strtab.sh_offset(), strtab.file_size())?;
    let count = symtab.sh_size() / format.size::<Sym>();
    let symbols = records::<Sym>(data, format, symtab.sh_offset(), count)?;
    let mut found = Vec::new();
    for symbol in symbols.iter().skip(symtab.sh_info() as usize) {
        let Some(shdr) = shdrs.get(symbol.st_shndx() as usize).filter(|_| symbol.st_shndx() != SHN_UNDEF)
        else {
            continue;
        };
        if shdr.sh_flags() & (SHF_MERGE | SHF_STRINGS) != SHF_MERGE | SHF_STRINGS {
            continue;
        }
        if symbol.st_value() != 0 {
            return None;
        }
        found.push((string(strings, symbol.st_name())?, *symbol));
    }
    Some(found)
}

/// Whether a section is one of those that objects may have or not, as they like ([`crate::sections::free_sections`]).
pub fn may_come(shdr: &Shdr, name: &[u8]) -> bool {
    const FREE: [&[u8]; 5] = [b".text.", b".rodata.", b".gcc_except_table.", b".data.rel.ro.", b".data."];
    matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL | SHT_GROUP)
        || shdr.sh_type() == SHT_PROGBITS && shdr.sh_flags() & (SHF_EXCLUDE | SHF_ALLOC) == SHF_EXCLUDE
        || shdr.sh_flags() & SHF_GROUP != 0
        || is_zeroed(shdr, name)
        || shdr.sh_type() == SHT_PROGBITS && FREE.iter().any(|begin| name.starts_with(begin))
}

/// What a skeleton has in a section that has `bytes`; `None` if that is not known.
fn contents(shdr: &Shdr, name: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    const LONGEST: usize = 256;
    if shdr.sh_flags() & (SHF_COMPRESSED | SHF_TLS) != 0 {
        return None;
    }
    if shdr.sh_size() == 0 || shdr.sh_type() == SHT_NOTE {
        return Some(bytes.to_vec());
    }
    if shdr.sh_flags() & SHF_WRITE != 0 || shdr.sh_type() == SHT_NOBITS {
        return None;
    }
    if shdr.sh_flags() & SHF_STRINGS != 0 {
        let first = memchr::memchr(0, bytes).filter(|end| *end < LONGEST && shdr.sh_entsize() == 1);
        return Some(first.map_or(vec![0], |end| bytes[..=end].to_vec()));
    }
    let version = || bytes.get(4..6).map(|two| u16::from(two[0]) | u16::from(two[1]) << 8);
    // What follows the length.
    let rest: Vec<u8> = match name {
        // A CIE with no augmentation.
        b".eh_frame" => vec![0, 0, 0, 0, 1, 0, 1, 0x78, 0, 0, 0, 0],
        b".debug_info" => match version()? {
            version @ 2..=4 => vec![version as u8, 0, 0, 0, 0, 0, 8, ENTRY],
            // `DW_UT_compile`
            5 => vec![5, 0, 1, 8, 0, 0, 0, 0, ENTRY],
            _ => return None,
        },
        b".debug_aranges" => [&[2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0][..], &[0; 16]].concat(),
        b".debug_line" => line_table(version()?)?,
        b".debug_rnglists" | b".debug_loclists" => vec![5, 0, 8, 0, 0, 0, 0, 0],
        b".debug_addr" => vec![5, 0, 8, 0],
        b".debug_str_offsets" => vec![5, 0, 0, 0],
        // `DW_TAG_compile_unit` without children and attributes.
        b".debug_abbrev" => return Some(vec![ENTRY, 0x11, 0, 0, 0, 0]),
        b".debug_ranges" | b".debug_loc" => return Some(vec![0; 16]),
        _ => return None,
    };
    Some([&(rest.len() as u32).to_le_bytes()[..], &rest].concat())
}

/// The number of an abbreviation.
const ENTRY: u8 = 1;

/// A line table of no row, behind its length.
fn line_table(version: u16) -> Option<Vec<u8>> {
    // Instructions of one byte, one operation each, statements, lines from -5, 14 of them, 12 operations with so many operands.
    let head: &[u8] = match version {
        2 | 3 => &[1, 1, 251, 14, 13],
        4 | 5 => &[1, 1, 1, 251, 14, 13],
        _ => return None,
    };
    let operands = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    // No directories and files.
    let lists: &[u8] = if version == 5 { &[0, 0, 0, 0] } else { &[0, 0] };
    let header = [head, &operands, lists].concat();
    let sizes: &[u8] = if version == 5 { &[8, 0] } else { &[] };
    Some([&version.to_le_bytes()[..], sizes, &(header.len() as u32).to_le_bytes(), &header].concat())
}

/// Where a section with these contents refers to another one, and to which.
fn reference(name: &[u8], bytes: &[u8]) -> Option<(u64, &'static [u8])> {
    match name {
        b".debug_info" => Some((if bytes.get(4) == Some(&5) { 8 } else { 6 }, b".debug_abbrev")),
        b".debug_aranges" => Some((6, b".debug_info")),
        _ => None,
    }
}
