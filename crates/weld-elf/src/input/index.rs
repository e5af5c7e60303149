//! Where a file's index data is: what has to be read before symbols can be resolved.
//!
//! For objects that are the section headers, symbol and string tables and COMDAT groups, for shared
//! objects the dynamic symbols and versions, for archives the first member, which is the index if
//! there is one. Prefetching asks for these first ([`weld_common::io::readahead`]). What the headers say
//! need not be true: a wrong range is asked for in vain, or not at all.

use std::ops::Range;

use weld_common::archive::Archive;

use crate::elf::*;

/// Ranges that are less than this apart are one: reading what lies between costs less than another request.
const GAP: usize = 16 << 10;

/// Ranges of bytes, ascending and disjoint, all in `data`.
pub fn ranges(data: &[u8]) -> Vec<Range<usize>> {
    if data.starts_with(ELFMAG) {
        return of_elf(data).map(merge).unwrap_or_default();
    }
    Archive::first_member(data).into_iter().collect()
}

fn of_elf(data: &[u8]) -> Option<Vec<Range<usize>>> {
    let &[ehdr] = table::<Ehdr>(data, 0, 1)? else { return None };
    let shared = ehdr.e_type() == ET_DYN;
    let count = match ehdr.e_shnum() {
        // The number is in the first header if it is too large for its field.
        0 => table::<Shdr>(data, ehdr.e_shoff(), 1)?.first()?.sh_size(),
        count => count.into(),
    };
    let shdrs = table::<Shdr>(data, ehdr.e_shoff(), count)?;
    let is_index = |shdr: &&Shdr| match shdr.sh_type() {
        SHT_DYNSYM | SHT_DYNAMIC | SHT_GNU_VERSYM | SHT_GNU_VERDEF | SHT_GNU_VERNEED => shared,
        // Of a shared object's string tables only those that are loaded are for dynamic symbols.
        SHT_STRTAB => !shared || shdr.sh_flags() & SHF_ALLOC != 0,
        SHT_SYMTAB | SHT_SYMTAB_SHNDX | SHT_GROUP => !shared,
        _ => false,
    };
    let range = |offset: u64, size: u64| {
        slice(data, offset, size)?;
        Some(offset as usize..(offset + size) as usize)
    };
    let tables = shdrs.iter().filter(is_index).filter_map(|s| range(s.sh_offset(), s.sh_size()));
    Some(tables.chain(range(ehdr.e_shoff(), count * size_of::<Shdr>() as u64)).collect())
}

fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let near = next.start <= last.end + GAP;
        if near {
            last.end = last.end.max(next.end);
        }
        near
    });
    ranges
}

#[cfg(test)]
mod tests {
    use weld_testkit::ar::{Archive as Builder, ArchiveKind};
    use weld_testkit::obj::{Obj, Section, Symbol};

    use super::*;

    fn object() -> Vec<u8> {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0x90; 3 * GAP]));
        obj.symbol(Symbol::global("name").at(text, 0));
        obj.build()
    }

    #[test]
    fn an_object_without_its_contents() {
        let data = object();
        let ranges = ranges(&data);
        let text = memchr::memmem::find(&data, &[0x90; 3 * GAP]).unwrap();
        assert!(ranges.iter().all(|r| r.end <= text + 2 * GAP || r.start >= text + GAP), "{ranges:?}");
        let name = memchr::memmem::find(&data, b"\0name\0").unwrap();
        assert!(ranges.iter().any(|r| r.contains(&(name + 1))));
        let shoff = table::<Ehdr>(&data, 0, 1).unwrap()[0].e_shoff() as usize;
        assert!(ranges.iter().any(|r| r.contains(&shoff)));
    }

    #[test]
    fn the_index_of_an_archive() {
        let data = Builder::new(ArchiveKind::Gnu).member("a.o", &object(), &["name"]).build();
        let [range] = &ranges(&data)[..] else { panic!() };
        let name = memchr::memmem::find(&data, b"name\0").unwrap();
        assert!(range.start == 0 && range.contains(&name) && range.end < 300, "{range:?}");
    }

    #[test]
    fn damaged_files_have_none_or_ranges_inside() {
        let good = object();
        for len in 0..good.len().min(300) {
            assert!(ranges(&good[..len]).iter().all(|r| r.end <= len));
        }
        for at in 0..64 {
            let mut bad = good.clone();
            bad[at] = 0xff;
            assert!(ranges(&bad).iter().all(|r| r.start <= r.end && r.end <= bad.len()));
        }
        assert!(ranges(b"!<arch>\n").is_empty());
        assert!(ranges(b"text").is_empty());
    }

    #[test]
    fn ranges_that_are_near_become_one() {
        assert_eq!(merge(vec![20..30, 0..10, 5..5]), vec![0..30]);
        assert_eq!(merge(vec![0..10, 11 + GAP..50_000, 12..14]), vec![0..50_000]);
        assert_eq!(merge(vec![0..10, 11 + GAP..50_000]), vec![0..10, 11 + GAP..50_000]);
        assert_eq!(merge(vec![0..100, 10..20]), vec![0..100]);
    }
}
