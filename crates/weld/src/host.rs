//! What a link asks of the program: standard output, and files to know about when a signal comes.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use weld_common::host::Host;

use crate::signals;

pub struct ProgramHost<'p> {
    program: &'p str,
    print_error: Mutex<Option<String>>,
}

impl<'p> ProgramHost<'p> {
    pub fn new(program: &'p str) -> Self {
        ProgramHost { program, print_error: Mutex::default() }
    }

    /// Why something could not be printed.
    pub fn print_error(&self) -> Option<String> {
        self.print_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn printed_all(&self) -> bool {
        self.print_error().is_none()
    }
}

impl Host for ProgramHost<'_> {
    fn program_name(&self) -> &str {
        self.program
    }

    fn print(&self, text: &str) {
        if let Some(error) = print_to_stdout(text) {
            self.print_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    fn mapped(&self, path: &Path, start: usize, len: usize) {
        signals::register_input(path, start, len);
    }

    fn temp_created(&self, path: &Path) {
        signals::register_temp(path);
    }

    fn exits_soon(&self) -> bool {
        true
    }

    fn temp_gone(&self, path: &Path) {
        signals::forget_temp(path);
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

/// Prints, and returns what went wrong. That nobody reads any longer (`weld --help | head -1`) is no
/// error.
fn print_to_stdout(text: &str) -> Option<String> {
    let mut out = std::io::stdout().lock();
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    result.err().filter(|e| e.kind() != ErrorKind::BrokenPipe).map(|e| e.to_string())
}
