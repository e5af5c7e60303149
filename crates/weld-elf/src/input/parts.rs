//! What of a file is read when, as its headers tell, for prefetching ([`weld_common::io::readahead`]).
//!
//! *Index data* has to be read before symbols can be resolved: for objects that are the section headers,
//! symbol and string tables and COMDAT groups, for shared objects the dynamic symbols and versions, for
//! archives the first member, which is the index if there is one, and for its members the same as for
//! objects. *Early* are the contents of objects that are read before the output's layout is known:
//! relocations of loaded sections, frames and what is merged.

use weld_common::io::readahead::Parts;

use crate::arch;
use crate::elf::*;

/// Of a file, or of a member of an archive with its header.
pub fn of(data: &[u8]) -> Parts {
    Parts::of(data, of_elf)
}

/// `data` is an object or shared object, `start` bytes into what ranges are relative to.
fn of_elf(data: &[u8], start: usize) -> Option<Parts> {
    let format = Format::of(data)?;
    let ehdr = records::<Ehdr>(data, format, 0, 1)?[0];
    let shared = ehdr.e_type() == ET_DYN;
    let machine = arch::of_file(data);
    let count = match ehdr.e_shnum() {
        // The number is in the first header if it is too large for its field.
        0 => records::<Shdr>(data, format, ehdr.e_shoff(), 1)?[0].sh_size(),
        count => count.into(),
    };
    let shdrs = records::<Shdr>(data, format, ehdr.e_shoff(), count)?;
    let is_index = |shdr: &&Shdr| match shdr.sh_type() {
        SHT_DYNSYM | SHT_DYNAMIC | SHT_GNU_VERSYM | SHT_GNU_VERDEF | SHT_GNU_VERNEED => shared,
        // Of a shared object's string tables only those that are loaded are for dynamic symbols.
        SHT_STRTAB => !shared || shdr.sh_flags() & SHF_ALLOC != 0,
        SHT_SYMTAB | SHT_SYMTAB_SHNDX | SHT_GROUP => !shared,
        _ => false,
    };
    let is_loaded = |shdr: &Shdr| shdr.sh_flags() & SHF_ALLOC != 0;
    let is_early = |shdr: &&Shdr| match shdr.sh_type() {
        // A section that is not there is no reason to read its relocations.
        SHT_RELA | SHT_REL | SHT_CREL => shdrs.get(shdr.sh_info() as usize).is_some_and(is_loaded),
        kind if machine.is_some_and(|m| m.facts().is_frame_section(kind)) => true,
        SHT_PROGBITS => shdr.sh_flags() & (SHF_MERGE | SHF_STRINGS) != 0,
        _ => false,
    };
    let range = |offset: u64, size: u64| {
        slice(data, offset, size)?;
        Some(start + offset as usize..start + (offset + size) as usize)
    };
    let of = |shdr: &Shdr| range(shdr.sh_offset(), shdr.sh_size());
    let tables = shdrs.iter().filter(is_index).filter_map(of);
    let headers = range(ehdr.e_shoff(), count * format.size::<Shdr>());
    let early = shdrs.iter().filter(|shdr| !shared && is_early(shdr)).filter_map(of);
    Some(Parts::new(tables.chain(headers), early))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use weld_testkit::ar::{Archive as Builder, ArchiveKind};
    use weld_testkit::obj::{Obj, Section, Symbol};

    use weld_common::io::readahead::GAP;

    use super::*;

    fn object() -> Vec<u8> {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0x90; 3 * GAP]));
        obj.symbol(Symbol::global("name").at(text, 0));
        obj.build()
    }

    fn all(data: &[u8]) -> Vec<Range<usize>> {
        let parts = of(data);
        [parts.index, parts.early].concat()
    }

    #[test]
    fn an_object_without_its_contents() {
        let data = object();
        let ranges = of(&data).index;
        let text = memchr::memmem::find(&data, &[0x90; 3 * GAP]).unwrap();
        assert!(ranges.iter().all(|r| r.end <= text + 2 * GAP || r.start >= text + GAP), "{ranges:?}");
        let name = memchr::memmem::find(&data, b"\0name\0").unwrap();
        assert!(ranges.iter().any(|r| r.contains(&(name + 1))));
        let shoff = table::<Ehdr>(&data, 0, 1).unwrap()[0].e_shoff() as usize;
        assert!(ranges.iter().any(|r| r.contains(&shoff)));
    }

    #[test]
    fn relocations_of_loaded_sections_and_strings_are_early() {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0x90; 3 * GAP]));
        obj.section(
            Section::new(".rodata.str", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE | SHF_STRINGS).bytes(b"string\0"),
        );
        let name = obj.symbol(Symbol::global("name").at(text, 0));
        obj.reloc(text, 8, 2, name, 0x1234_5678);
        let data = obj.build();
        let early = of(&data).early;
        let has =
            |bytes: &[u8]| early.iter().any(|r| memchr::memmem::find(&data[r.clone()], bytes).is_some());
        assert!(has(b"string\0") && has(&0x1234_5678u64.to_le_bytes()), "{early:?}");
        assert!(!has(&[0x90; 2 * GAP]), "{early:?}");
    }

    #[test]
    fn a_member_has_the_parts_of_an_object() {
        let data = object();
        let archive = Builder::new(ArchiveKind::Gnu).member("a.o", &data, &["name"]).build();
        let start = memchr::memmem::find(&archive, &data).unwrap() - 60;
        let moved = |ranges: Vec<Range<usize>>| -> Vec<_> {
            ranges.into_iter().map(|range| range.start + 60..range.end + 60).collect()
        };
        let (member, object) = (of(&archive[start..]), of(&data));
        assert_eq!(member.index, moved(object.index));
        assert_eq!(member.early, moved(object.early));
    }

    #[test]
    fn the_index_of_an_archive() {
        let data = Builder::new(ArchiveKind::Gnu).member("a.o", &object(), &["name"]).build();
        let [range] = &of(&data).index[..] else { panic!() };
        let name = memchr::memmem::find(&data, b"name\0").unwrap();
        assert!(range.start == 0 && range.contains(&name) && range.end < 300, "{range:?}");
    }

    #[test]
    fn damaged_files_have_none_or_ranges_inside() {
        let good = object();
        for len in 0..good.len().min(300) {
            assert!(all(&good[..len]).iter().all(|r| r.end <= len));
        }
        for at in 0..64 {
            let mut bad = good.clone();
            bad[at] = 0xff;
            assert!(all(&bad).iter().all(|r| r.start <= r.end && r.end <= bad.len()));
        }
        assert!(all(b"!<arch>\n").is_empty());
        assert!(all(b"text").is_empty());
    }
}
