//! Demangling any name, and suggestions for it.
#![no_main]

use weld_common::demangle::demangle;
use weld_common::suggest::suggest;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let shown = demangle(data);
    assert!(shown.len() <= 1 << 16 || shown.len() <= 3 * data.len(), "a name of {} bytes", shown.len());
    let _ = suggest(data, data.split(|&b| b == 0));
});
