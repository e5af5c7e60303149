//! What a link asks of the program: standard output, and files to know about when a signal comes.

use std::ffi::{OsStr, OsString};
#[cfg(target_os = "linux")]
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weld_common::diag::Diagnostic;
use weld_common::host::Host;
use weld_common::mapped_file::MappedFile;

#[cfg(target_os = "linux")]
use crate::stay;
use crate::{last_words, progress, signals};

/// What commands say that do not link.
pub const NO_LINK: &(dyn Fn(&[Diagnostic]) + Sync) = &|_| {};

pub struct ProgramHost<'p> {
    pub program: &'p str,
    /// Says what a link has to say in the end.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub end: &'p (dyn Fn(&[Diagnostic]) + Sync),
}

impl Host for ProgramHost<'_> {
    fn program_name(&self) -> &str {
        self.program
    }

    /// That nobody reads any longer (`weld --help | head -1`) is no error.
    fn print(&self, text: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match progress::aside(|| out.write_all(text).and_then(|()| out.flush())) {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
            done => done,
        }
    }

    fn change_directory(&self, directory: &Path) -> io::Result<()> {
        std::env::set_current_dir(directory)
    }

    fn mapped(&self, file: &Arc<MappedFile>) {
        signals::register_input(file.clone());
    }

    fn create_temp(&self, path: &Path, create: &mut dyn FnMut() -> bool) {
        signals::create_temp(path, create);
    }

    fn run(&self, program: &Path, args: &[&OsStr]) -> io::Result<bool> {
        progress::aside(|| {
            #[cfg(unix)]
            return crate::spawn::run(program, args);
            #[cfg(not(unix))]
            std::process::Command::new(program).args(args).status().map(|status| status.success())
        })
    }

    fn lto_child(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn exits_soon(&self) -> bool {
        true
    }

    #[cfg(target_os = "linux")]
    fn may_stay(&self, is_asked_for: bool) -> bool {
        stay::begin(is_asked_for)
    }

    #[cfg(target_os = "linux")]
    fn output_is_there(&self, messages: &[Diagnostic], log: File) {
        (self.end)(messages);
        stay::let_go(&log);
    }

    fn messages_are_json(&self) {
        last_words::become_json();
    }

    fn step(&self, name: &'static str) {
        progress::step(name);
    }

    fn output_begins(&self, size: u64) {
        progress::output_begins(size);
    }

    fn output_filled(&self, bytes: u64) {
        progress::output_filled(bytes);
    }

    fn temp_gone(&self, path: &Path) {
        signals::forget_temp(path);
    }

    fn run_path(&self) -> Option<String> {
        std::env::var("LD_RUN_PATH").ok()
    }

    /// By user and machine, and not by build: `WELD_LINK_DIRECTORY`, or a directory in that of the session, or
    /// in `/tmp`. On Windows nobody can read a file that somebody else has locked.
    #[cfg(unix)]
    fn link_directory(&self) -> Option<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("WELD_LINK_DIRECTORY").or_else(|| Some(set("XDG_RUNTIME_DIR")?.join("weld-links"))).or_else(
            || {
                // SAFETY: asks for a number and cannot fail.
                let user = unsafe { libc::geteuid() };
                Some(format!("/tmp/weld-links-{user}").into())
            },
        )
    }

    /// cargo's first: it is nearer than a make that runs cargo, which passes that make's jobserver on.
    fn makeflags(&self) -> Vec<String> {
        ["CARGO_MAKEFLAGS", "MAKEFLAGS", "MFLAGS"]
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .collect()
    }

    fn take_tokens(&self, descriptor: i32, take: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        signals::take_tokens(descriptor, take)
    }

    fn return_tokens(&self, give_back: &mut dyn FnMut()) {
        signals::return_tokens(give_back);
    }
}
