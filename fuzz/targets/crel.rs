//! CREL: as many relocations as the header says, or an error.
#![no_main]

use weld_elf::crel::Crel;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(crel) = Crel::parse(data) else { return };
    assert!(crel.count() <= data.len());
    let entries: Vec<_> = crel.entries().collect();
    match entries.iter().position(Result::is_err) {
        Some(error) => assert_eq!(error + 1, entries.len(), "nothing follows an error"),
        None => assert_eq!(entries.len(), crel.count()),
    }
});
