//! `--reproduce`: everything the link reads, in a tar file.
//!
//! What the command line names is stored as soon as it is open, the rest (members of thin archives,
//! version scripts, …) when the link has ended, well or not. If the linker crashes in between, the
//! first part is there.

use std::ffi::OsString;
use std::sync::Mutex;

use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::io::input::InputStore;
use weld_common::io::output::OutputError;
use weld_common::reproduce::Reproduce;

use crate::args;
use crate::options::Options;

pub struct Recorder {
    tar: Mutex<Tar>,
}

struct Tar {
    file: Reproduce,
    /// How many of the store's files are in it.
    stored: usize,
}

fn failed(error: OutputError) -> Diagnostics {
    Diagnostic::error(error.to_string()).into()
}

impl Recorder {
    /// Starts the file if the options ask for it. `args` are the linker's.
    pub fn start(options: &Options, args: &[OsString]) -> Result<Option<Recorder>, Diagnostics> {
        let Some(path) = &options.reproduce else { return Ok(None) };
        let mut file = Reproduce::new(path).map_err(failed)?;
        let response = args::replay::response(args, options.version_symbols)?;
        file.describe(&response, &options.persona.version_text()).map_err(failed)?;
        Ok(Some(Recorder { tar: Mutex::new(Tar { file, stored: 0 }) }))
    }

    /// Adds what has been opened since the last call.
    pub fn add(&self, store: &InputStore) -> Result<(), Diagnostics> {
        let mut tar = self.tar.lock().unwrap_or_else(|e| e.into_inner());
        let opened = store.opened();
        let mut new = opened[tar.stored..].to_vec();
        tar.stored = opened.len();
        // They were opened by many threads.
        new.sort_unstable();
        new.dedup();
        for (path, bytes) in new {
            tar.file.add(&path, bytes).map_err(failed)?;
        }
        tar.file.flush().map_err(failed)
    }

    /// Adds the rest and completes the file.
    pub fn finish(self, store: &InputStore) -> Result<(), Diagnostics> {
        self.add(store)?;
        let tar = self.tar.into_inner().unwrap_or_else(|e| e.into_inner());
        tar.file.finish().map_err(failed)
    }
}
