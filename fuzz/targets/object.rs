//! A damaged object in a whole link. The last byte selects options; nothing in an ELF file depends
//! on what follows its tables.
#![no_main]

use std::sync::LazyLock;
use weld_fuzz::{generated::start_object, link_files};

static START: LazyLock<Vec<u8>> = LazyLock::new(start_object);

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if data.starts_with(b"\x7fELF") {
        link_files(&[&START, data], data[data.len() - 1]);
    }
});
