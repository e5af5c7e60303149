//! A response file that is the whole command line, in both ways of quoting.
#![no_main]

use std::ffi::OsString;
use weld_common::diag::DiagSink;
use weld_elf::args::{expanded, parse};
use weld_elf::compat_mode::CompatMode;
use weld_fuzz::MemFile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let file = MemFile::new(data);
    let at: OsString = format!("@{}", file.path()).into();
    for style in ["--rsp-quoting=posix", "--rsp-quoting=windows"] {
        let args = [at.clone(), style.into()];
        if let Ok(args) = expanded(&args) {
            let _ = parse(&args, CompatMode::Ld, &DiagSink::new());
        }
    }
});
