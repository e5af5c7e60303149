//! A response file that is the whole command line, in both ways of quoting.
#![no_main]

use std::ffi::OsString;
use weld_common::diag::DiagSink;
use weld_elf::args::parse;
use weld_elf::compat_mode::CompatMode;
use weld_fuzz::MemFile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let file = MemFile::new(data);
    let at: OsString = format!("@{}", file.path()).into();
    for style in ["--rsp-quoting=posix", "--rsp-quoting=windows"] {
        let _ = parse(&[at.clone(), style.into()], CompatMode::Ld, &DiagSink::new());
    }
});
