//! What of a file is read when, as its headers tell, for prefetching ([`weld_common::io::readahead`]).
//!
//! *Index data* has to be read before symbols can be resolved: for objects that are the section headers,
//! directives, the symbol and the string table, for archives the first member, which is the index if there is
//! one, and for its members the same as for objects. *Early* is all that the image is made of: compilers
//! write the relocations of a section after its contents, so that reading the ones without the others would
//! be more requests for less.

use ::object::LittleEndian as LE;
use weld_common::io::readahead::Parts;

use crate::coff::identify::{Kind, identify};
use crate::coff::object::{self, SectionHeader};
use crate::coff::pe;

/// Of a file, or of a member of an archive with its header, whose debug information is read as well.
pub fn of(data: &[u8]) -> Parts {
    Parts::of(data, |data, start| of_object(data, start, true))
}

/// Of a file, or of a member of an archive with its header, whose debug information nobody reads.
pub fn of_image_only(data: &[u8]) -> Parts {
    Parts::of(data, |data, start| of_object(data, start, false))
}

/// `data` is an object, `start` bytes into what ranges are relative to.
fn of_object(data: &[u8], start: usize, debug: bool) -> Option<Parts> {
    let big = match identify(data) {
        Kind::Object => false,
        Kind::BigObject => true,
        _ => return None,
    };
    let tables = object::Tables::of(data, big).ok()?;
    let headers = tables.sections(data)?;
    let range = |offset: usize, size: usize| {
        let end = offset.checked_add(size).filter(|&end| end <= data.len())?;
        Some(start + offset..start + end)
    };
    let contents = |header: &SectionHeader| {
        let size = if object::is_uninitialized(header) { 0 } else { header.size_of_raw_data.get(LE) };
        range(header.pointer_to_raw_data.get(LE) as usize, size as usize)
    };
    let is_early = |header: &&SectionHeader| {
        header.characteristics.get(LE).0 & (pe::IMAGE_SCN_MEM_DISCARDABLE.0 | pe::IMAGE_SCN_LNK_REMOVE.0) == 0
    };
    let in_image = || headers.iter().filter(is_early);
    // Some compilers write all relocations after all contents: each of the two is in order by itself.
    let relocations = in_image().filter_map(|header| {
        contents(header)?;
        // How many relocations there are may stand in the first one, which is not there yet.
        let size = usize::from(header.number_of_relocations.get(LE)) * RELOCATION;
        range(header.pointer_to_relocations.get(LE) as usize, size)
    });
    let early = in_image().filter_map(contents).chain(relocations);
    let directives = headers.iter().filter(|header| &header.name == b".drectve").filter_map(contents);
    // The string table, whose size it says itself, is after the symbols and most often the last thing.
    let symbols = tables.symbols as usize;
    let symbols = range(symbols, data.len().saturating_sub(symbols)).filter(|_| symbols != 0);
    let head = range(0, tables.first_section + size_of_val(headers));
    let index = head.into_iter().chain(symbols).chain(directives);
    Some(Parts { no_more: !debug, ..Parts::new(index, early) })
}

/// Bytes of a relocation.
const RELOCATION: usize = size_of::<object::Relocation>();

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use weld_common::io::readahead::GAP;
    use weld_testkit::ar::{Archive, ArchiveKind};
    use weld_testkit::coff::{self, Coff};

    use super::*;

    const DEBUG: u32 = 0x4200_0040;

    fn example(big: bool) -> Vec<u8> {
        let mut object = Coff::new(coff::AMD64);
        if big {
            object = object.big();
        }
        object.section(".drectve", 0xa00, b"-export:function");
        object.section(".debug$S", DEBUG, &[0xdd; 3 * GAP]);
        let text = object.section(".text", coff::CODE, &[0x90; 3 * GAP]);
        object.section(".debug$T", DEBUG, &[0xdd; 3 * GAP]);
        object.symbol("a_long_function_name", 0, text, coff::EXTERNAL);
        object.build()
    }

    fn has(data: &[u8], ranges: &[Range<usize>], bytes: &[u8]) -> bool {
        ranges.iter().any(|range| memchr::memmem::find(&data[range.clone()], bytes).is_some())
    }

    #[test]
    fn names_and_directives_come_first_then_the_image() {
        for data in [example(false), example(true)] {
            let parts = of(&data);
            assert!(
                has(&data, &parts.index, b"-export:function") && has(&data, &parts.index, b"a_long_function")
            );
            assert!(parts.index.iter().any(|range| range.start == 0));
            assert!(
                !has(&data, &parts.index, &[0x90; 2 * GAP]) && !has(&data, &parts.index, &[0xdd; 2 * GAP])
            );
            assert!(
                has(&data, &parts.early, &[0x90; 3 * GAP]) && !has(&data, &parts.early, &[0xdd; 2 * GAP])
            );
            assert!(!parts.no_more && of_image_only(&data).no_more);
        }
    }

    #[test]
    fn a_member_has_the_parts_of_an_object_and_an_archive_its_index() {
        let data = example(false);
        let archive = Archive::new(ArchiveKind::Gnu).member("a.o", &data, &["a_long_function_name"]).build();
        let start = memchr::memmem::find(&archive, &data).unwrap() - 60;
        let (member, object) = (of(&archive[start..]), of(&data));
        let moved = |ranges: &[Range<usize>]| -> Vec<_> {
            ranges.iter().map(|range| range.start + 60..range.end + 60).collect()
        };
        assert_eq!((member.index, member.early), (moved(&object.index), moved(&object.early)));
        let index = of(&archive).index;
        assert!(has(&archive, &index, b"a_long_function_name") && index[0].end < 300, "{index:?}");
    }

    #[test]
    fn damaged_files_have_none_or_ranges_inside() {
        let good = example(false);
        let inside = |data: &[u8]| {
            let parts = of(data);
            parts
                .index
                .iter()
                .chain(&parts.early)
                .all(|range| range.start <= range.end && range.end <= data.len())
        };
        assert!((0..400).all(|len| inside(&good[..len])));
        for at in 0..200 {
            let mut bad = good.clone();
            bad[at] = 0xff;
            assert!(inside(&bad), "{at}");
        }
        assert!(of(b"").index.is_empty() && of(b"text").index.is_empty());
    }
}
