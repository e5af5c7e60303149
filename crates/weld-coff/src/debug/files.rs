//! Files that options put into the PDB as they are.

use std::path::Path;

use weld_common::diag::{Cause, DiagSink};
use weld_common::io::input::InputStore;
use weld_common::text;

use crate::options::Options;

/// The stream that debuggers look for in which `/sourcelink` files are.
const SOURCE_LINK: &str = "sourcelink";

pub struct Files<'a> {
    /// Names of streams and their contents.
    streams: Vec<(String, &'a [u8])>,
    /// Source files: names and contents.
    injected: Vec<(String, &'a [u8])>,
}

impl<'a> Files<'a> {
    pub fn read(options: &Options, store: &'a InputStore<'a>, sink: &DiagSink) -> Files<'a> {
        let read = |option: &str, path: &Path| {
            let shown = text::path(path);
            let bytes = match store.open(path) {
                Ok(Some(bytes)) => return Some(bytes),
                Ok(None) => "No such file or directory".to_owned(),
                Err(e) => e.to_string(),
            };
            sink.warn(Cause::CannotOpenFile, format!("{option}: could not open '{shown}': {bytes}"));
            None
        };
        let pdb = &options.pdb;
        let mut files = Files { streams: Vec::new(), injected: Vec::new() };
        for (name, path) in &pdb.streams {
            files.streams.extend(read("/pdbstream", path).map(|bytes| (name.clone(), bytes)));
        }
        if let Some(path) = &pdb.source_link {
            files.streams.extend(read("/sourcelink", path).map(|bytes| (SOURCE_LINK.to_owned(), bytes)));
        }
        for path in &pdb.natvis {
            let name = text::path(path).into_owned();
            files.injected.extend(read("/natvis", path).map(|bytes| (name, bytes)));
        }
        files
    }

    pub fn streams(&self) -> Vec<(&str, &[u8])> {
        self.streams.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect()
    }

    pub fn injected(&self) -> Vec<(&str, &[u8])> {
        self.injected.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect()
    }
}
