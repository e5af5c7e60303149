//! A PDB that somebody else wrote: its streams, or an error.
#![no_main]

use weld_pdb::msf::read::Msf;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(msf) = Msf::parse(data) else { return };
    let total: usize = (0..msf.stream_count()).filter_map(|i| msf.stream(i).ok()).map(|bytes| bytes.len()).sum();
    assert!(total <= data.len());
});
