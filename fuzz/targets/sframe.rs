//! `.sframe`: what the reader found lies in the section. First come whether it is big endian, a number of
//! relocations and their offsets, a byte each.
#![no_main]

use weld_elf::elf::format::{Format, Order};
use weld_elf::sframe;
use weld_fuzz::Choices;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let order = if choices.below(2) == 0 { Order::Little } else { Order::Big };
    let relocs: Vec<u64> = (0..choices.below(16)).map(|_| choices.number()).collect();
    let section = choices.rest();
    let format = Format { order, ..Format::NATIVE };
    let Ok(tables) = sframe::parse(section, format, &relocs, |offset| *offset) else { return };
    let mut found = 0;
    for table in tables {
        for fde in table.fdes {
            assert!((fde.at as usize) >= table.at as usize + sframe::HEADER);
            assert!(fde.at as usize + table.version.address_size() <= section.len());
            assert!((fde.rows + fde.rows_size) as usize <= section.len());
            assert!(fde.rows_size >= 2 * fde.n_rows && fde.size > 0);
            if let Some(reloc) = fde.reloc {
                assert_eq!(relocs[reloc as usize], fde.at.into());
                found += 1;
            }
        }
    }
    assert!(found <= relocs.len());
});
