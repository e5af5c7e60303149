//! Which inputs are not as the last link found them.
//!
//! The system is asked about each file (by several threads if they are many: that is most of what a link costs in
//! which nothing has changed), and about each path that led nowhere. A file whose stamp is as it was has not been
//! written to. Of others that are no objects the bytes are looked at: tools touch files, and hard links come and go.

use std::path::Path;
use std::thread;
use std::time::SystemTime;

use weld_common::digest::UnitDigest;
use weld_common::io::input::InputStore;
use weld_common::io::stamp::Stamp;

use super::memo::{Is, KnownFile, Memo, short};
use super::why::Why;

/// Files that one more thread is worth, and how many threads ask at most.
const FILES: usize = 256;
const THREADS: usize = 4;

pub struct Changes {
    /// Objects that may have changed: the number of the file, and the input.
    pub objects: Vec<(usize, u32)>,
    /// All files, with their stamps as they are now.
    pub files: Vec<KnownFile>,
}

impl Changes {
    /// `begun`: when this link did.
    ///
    /// # Errors
    /// What has changed that is not relinked.
    pub fn find(memo: &Memo, store: &InputStore, begun: SystemTime) -> Result<Changes, Why> {
        let stamps = stamps(&memo.files, store);
        if let Some(path) = memo.missing.iter().find(|path| path.exists()) {
            return Err(Why::Appeared(path.clone()));
        }
        let mut changes = Changes { objects: Vec::new(), files: memo.files.clone() };
        for (number, (file, stamp)) in changes.files.iter_mut().zip(stamps).enumerate() {
            let stamp = stamp.ok_or_else(|| Why::Gone(file.path.clone()))?;
            if file.stamp == Some(stamp) {
                continue;
            }
            file.stamp = Some(stamp).filter(|stamp| stamp.is_older_than(begun));
            match file.is {
                Is::Object(row) => changes.objects.push((number, row)),
                Is::Other(digest) if is_same(&file.path, digest, store) => {}
                Is::Other(_) => return Err(Why::Input(file.path.clone())),
            }
        }
        Ok(changes)
    }
}

fn is_same(path: &Path, digest: u128, store: &InputStore) -> bool {
    store.open(path).is_ok_and(|bytes| bytes.is_some_and(|bytes| short(UnitDigest::of(bytes)) == digest))
}

/// The stamp of each file that is there.
fn stamps(files: &[KnownFile], store: &InputStore) -> Vec<Option<Stamp>> {
    let ask = |files: &[KnownFile]| -> Vec<Option<Stamp>> {
        files.iter().map(|file| Stamp::at(&store.rooted(&file.path)).ok()).collect()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (files.len() / FILES).clamp(1, THREADS.min(cores));
    let mut runs = files.chunks(files.len().div_ceil(threads).max(1));
    let own = runs.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> =
            runs.map(|run| (run, thread::Builder::new().spawn_scoped(scope, move || ask(run)))).collect();
        let mut stamps = ask(own);
        for (run, other) in others {
            // Without another thread, this one asks.
            let found = other.ok().and_then(|thread| thread.join().ok());
            stamps.extend(found.unwrap_or_else(|| ask(run)));
        }
        stamps
    })
}
