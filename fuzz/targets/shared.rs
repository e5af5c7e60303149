//! A shared object linked against. The last byte selects options.
#![no_main]

use std::sync::LazyLock;
use weld_fuzz::{generated::start_object, link_files};

static START: LazyLock<Vec<u8>> = LazyLock::new(start_object);

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if data.starts_with(b"\x7fELF") {
        // Not -static and not -r, which refuse shared objects.
        let byte = data[data.len() - 1];
        let kind = if byte & 1 == 0 { 1 } else { 2 };
        link_files(&[&START, data], byte & !3 | kind);
    }
});
