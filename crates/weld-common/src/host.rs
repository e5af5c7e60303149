//! What a link may ask of the program that runs it.
//!
//! The linkers are libraries: they do not print, exit or install signal handlers. The binary
//! implements this trait; tests use [`QuietHost`].

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::diag::Diagnostic;
use crate::mapped_file::MappedFile;

/// The argument by which the program knows that it is to be an engine ([`Host::lto_child`]).
pub const LTO_CHILD: &str = "-weld-lto-engine";

pub trait Host: Sync {
    /// Text for standard output (`--trace`, `-y`, `--print-map`, `--print-gc-sections`, …).
    /// Ends with a newline. The text has been written, not only kept, when this returns: a link that
    /// cannot say what it was asked to say fails.
    fn print(&self, text: &[u8]) -> io::Result<()>;

    /// The file name of the program, by which a linker knows for which other one it stands in.
    fn program_name(&self) -> &str {
        "weld"
    }

    /// Paths are relative to `directory` from now on. Only a program that is one link and nothing else can do
    /// that.
    ///
    /// # Errors
    /// Those of the system; and always, if the program is something else.
    fn change_directory(&self, _directory: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A file was mapped and stays so. A signal handler may use it to name the file when it shrinks
    /// under the mapping (`SIGBUS`).
    fn mapped(&self, _file: &Arc<MappedFile>) {}

    /// Calls `create`, which makes a temporary file and says whether it did. If so, the file must be
    /// removed if the process dies, from then on until [`Host::temp_gone`].
    fn create_temp(&self, _path: &Path, create: &mut dyn FnMut() -> bool) {
        create();
    }

    /// Runs a program, which may use standard output and standard error, and waits for it. `Ok(false)`: it
    /// did not succeed.
    ///
    /// # Errors
    /// If it cannot be started, or if programs are not started here.
    fn run(&self, _program: &Path, _args: &[&OsStr]) -> io::Result<bool> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// A program that becomes an engine of link-time optimisation when it is started with [`LTO_CHILD`] as
    /// its only argument: weld itself. Without one, nothing can be compiled.
    fn lto_child(&self) -> Option<PathBuf> {
        None
    }

    /// The value of a variable of the environment: where compilers and temporary files are.
    fn variable(&self, _name: &str) -> Option<OsString> {
        None
    }

    /// The process ends right after the link, so that giving memory back would be wasted time.
    fn exits_soon(&self) -> bool {
        false
    }

    /// A link begins that will have more to do when its output is there: what later links want is written then.
    /// Whether whoever waits for the link is let go before that ([`Host::output_is_there`]); it `is_asked_for`, or for
    /// the host to decide. Asked while the link has no threads.
    fn may_stay(&self, _is_asked_for: bool) -> bool {
        false
    }

    /// All that the link was asked for is in its place, and `messages` are all that there is to say: whoever waits is
    /// let go. What is said from now on goes to `log`. Called if [`Host::may_stay`] has said so.
    fn output_is_there(&self, _messages: &[Diagnostic], _log: File) {}

    /// Messages are for programs (`--error-format=json`): so is to be what the program says by itself when a signal
    /// ends the link.
    fn messages_are_json(&self) {}

    /// A step of the link begins, by the name that `--stats` gives it.
    fn step(&self, _name: &'static str) {}

    /// An output of so many bytes was created.
    fn output_begins(&self, _size: u64) {}

    /// So many bytes more of the output are filled, on any thread.
    fn output_filled(&self, _bytes: u64) {}

    /// The temporary file has been renamed into place or removed.
    fn temp_gone(&self, _path: &Path) {}

    /// The value of `LD_RUN_PATH`, by which builds for GNU ld say where the loader is to look for libraries.
    fn run_path(&self) -> Option<String> {
        None
    }

    /// Where links of this user find each other, to share the machine ([`crate::link_slots`]); it may not be
    /// there yet. A host that has none links as if it were alone.
    fn link_directory(&self) -> Option<PathBuf> {
        None
    }

    /// The values of `CARGO_MAKEFLAGS`, `MAKEFLAGS` and the like: the build that this link is part of
    /// may say there where its jobserver is. A host that has none links with all threads it may.
    fn makeflags(&self) -> Vec<String> {
        Vec::new()
    }

    /// Calls `take`, which takes tokens from a jobserver and returns them. From then on, until
    /// [`Host::return_tokens`], they must be written to `descriptor` if the process dies. Called once
    /// a link, for there is one jobserver.
    fn take_tokens(&self, _descriptor: i32, take: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        take()
    }

    /// Calls `give_back`, which writes the tokens to the jobserver, unless that has been done.
    fn return_tokens(&self, give_back: &mut dyn FnMut()) {
        give_back();
    }
}

/// A host that keeps what is printed and does nothing else.
#[derive(Default)]
pub struct QuietHost {
    printed: Mutex<Vec<u8>>,
}

impl QuietHost {
    pub fn new() -> Self {
        Self::default()
    }

    /// What has been printed so far.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }
}

impl Host for QuietHost {
    fn print(&self, text: &[u8]) -> io::Result<()> {
        self.printed.lock().unwrap().extend_from_slice(text);
        Ok(())
    }
}
