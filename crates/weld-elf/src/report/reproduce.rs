//! `--reproduce`: everything the link reads, in a tar file.
//!
//! What the command line names is stored as soon as it is open, the rest (members of thin archives,
//! version scripts, …) before the output takes its place, or when the link has failed. If the linker
//! crashes in between, the first part is there. The file is not touched before the inputs are open: one
//! of them may turn out to be it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::io::input::InputStore;
use weld_common::io::output::OutputError;
use weld_common::reproduce::Reproduce;

use crate::args;
use crate::options::Options;

pub struct Recorder {
    path: PathBuf,
    response: String,
    version: String,
    tar: Mutex<Tar>,
}

struct Tar {
    file: State,
    /// How many of the store's files are in it.
    stored: usize,
}

enum State {
    Planned,
    Open(Reproduce),
    /// Complete, or given up.
    Closed,
}

fn failed(error: OutputError) -> Diagnostics {
    Diagnostic::error(error.to_string()).into()
}

impl Recorder {
    /// A recorder if the options ask for it. `args` are the linker's.
    pub fn start(options: &Options, args: &[OsString]) -> Result<Option<Recorder>, Diagnostics> {
        let Some(path) = &options.reports.reproduce else { return Ok(None) };
        let response = args::replay::response(args, options.symbols.version_symbols)?;
        let version = options.persona.version_text();
        let tar = Mutex::new(Tar { file: State::Planned, stored: 0 });
        Ok(Some(Recorder { path: path.clone(), response, version, tar }))
    }

    /// Adds what has been opened since the last call. After an error nothing more is done.
    pub fn add(&self, store: &InputStore) -> Result<(), Diagnostics> {
        let mut tar = self.tar.lock().unwrap_or_else(|e| e.into_inner());
        let added = self.add_to(&mut tar, store);
        if added.is_err() {
            tar.file = State::Closed;
        }
        added.map_err(failed)
    }

    fn add_to(&self, tar: &mut Tar, store: &InputStore) -> Result<(), OutputError> {
        if let State::Planned = tar.file {
            if store.has_refused() {
                // The input that was refused may be the file.
                return Ok(());
            }
            let mut file = Reproduce::new(&self.path)?;
            file.describe(&self.response, &self.version)?;
            tar.file = State::Open(file);
        }
        let State::Open(file) = &mut tar.file else { return Ok(()) };
        let opened = store.opened();
        let mut new = opened[tar.stored..].to_vec();
        tar.stored = opened.len();
        // They were opened by many threads.
        new.sort_unstable();
        new.dedup();
        for (path, bytes) in new {
            file.add(&path, bytes)?;
        }
        file.flush()
    }

    /// Adds the rest and completes the file, unless that has been done or has failed.
    pub fn finish(&self, store: &InputStore) -> Result<(), Diagnostics> {
        self.add(store)?;
        let mut tar = self.tar.lock().unwrap_or_else(|e| e.into_inner());
        match std::mem::replace(&mut tar.file, State::Closed) {
            State::Open(file) => file.finish().map_err(failed),
            State::Planned | State::Closed => Ok(()),
        }
    }
}
