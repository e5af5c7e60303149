//! What the fuzz targets share: inputs as files in memory, whole links, and [`Choices`], which turns
//! a fuzzer's bytes into decisions.
//!
//! Every target checks the same promise: bytes from outside give a result or a diagnostic, never a
//! panic, a hang, an access out of bounds or memory out of proportion. Where a second way to compute
//! the result is at hand, it is compared.

pub mod choices;
pub mod generated;
pub mod machines;
pub mod scripts;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

use weld_common::diag::Diagnostics;
use weld_common::host::QuietHost;
use weld_elf::link::{Outcome, link};

pub use choices::Choices;

/// A file in memory that other code can open by its path.
pub struct MemFile(File);

impl MemFile {
    pub fn new(bytes: &[u8]) -> MemFile {
        // SAFETY: the name is a C string; the descriptor is checked before it is used.
        let fd = unsafe { libc::memfd_create(c"input".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(fd >= 0, "memfd_create failed");
        // SAFETY: the descriptor is open and belongs to nobody else.
        let mut file = unsafe { File::from_raw_fd(fd) };
        file.write_all(bytes).expect("a file in memory can be written");
        MemFile(file)
    }

    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }
}

/// Runs a link with one thread; the fuzzer's processes run beside each other.
pub fn run_link(args: &[String]) -> Result<Outcome, Diagnostics> {
    let args: Vec<OsString> = ["--threads=1".to_owned()].iter().chain(args).map(OsString::from).collect();
    link(&args, &QuietHost::new())
}

/// Links `files`, in order, with options that `byte` selects. Nothing is kept.
pub fn link_files(files: &[&[u8]], byte: u8) {
    let inputs: Vec<MemFile> = files.iter().map(|bytes| MemFile::new(bytes)).collect();
    let mut args = vec!["-o".to_owned(), "/dev/null".to_owned()];
    args.extend(options(byte).iter().map(|option| (*option).to_owned()));
    args.extend(inputs.iter().map(MemFile::path));
    let _ = run_link(&args);
}

/// The options that a byte stands for. Undefined symbols are ignored, so that a link goes on to the
/// phases behind.
pub fn options(byte: u8) -> Vec<&'static str> {
    let mut list = vec!["--unresolved-symbols=ignore-all", "--allow-multiple-definition", "-znotext"];
    list.extend(match byte & 3 {
        0 => &["-static"][..],
        1 => &["-pie", "--dynamic-linker=/lib/ld.so"],
        2 => &["-shared", "-soname=x.so"],
        _ => &["-r"],
    });
    let more: [&[&str]; 6] = [
        &["--gc-sections"],
        &["-O2", "-z", "nocombreloc"],
        &["--whole-archive", "--build-id", "--eh-frame-hdr"],
        &["-z", "pack-relative-relocs", "-z", "now"],
        &["--noinhibit-exec", "-z", "separate-code"],
        &["--discard-all", "--hash-style=gnu"],
    ];
    for (bit, options) in more.iter().enumerate() {
        if byte >> (bit + 2) & 1 != 0 {
            list.extend(*options);
        }
    }
    list
}
