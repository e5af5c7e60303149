//! Indexed profiles (`--irpgo-profile`): traces of names that are in the file, and no more of them than fit
//! into it.
#![no_main]

use weld_elf::section_order::profile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // The magic and a version with traces, which a fuzzer would take long to find.
    let mut bytes = b"\xfflprofi\x81\x0a\0\0\0\0\0\0\x80".to_vec();
    bytes.extend(data);
    if let Ok(traces) = profile::read(&bytes) {
        let calls: usize = traces.list.iter().map(|trace| trace.len() + 1).sum();
        assert!(calls * 8 <= bytes.len());
        let inside = bytes.as_ptr_range();
        assert!(traces.list.iter().flatten().all(|name| name.is_empty() || inside.contains(&name.as_ptr())));
    }
    let _ = profile::read(data);
});
