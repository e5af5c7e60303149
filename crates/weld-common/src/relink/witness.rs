//! Letting go of whoever waits for a full link before its state is kept, and what inputs are like then: they are still
//! read, and may be written to from then on, also where no stamp tells.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::SystemTime;

use super::directory::Place;
use crate::diag::DiagSink;
use crate::digest::UnitDigest;
use crate::host::Host;
use crate::io::input::{InputFile, InputStore};
use crate::io::stamp::Stamp;
use crate::par;

/// Files that one task looks at.
const RUN: usize = 16;

/// Whether whoever waits for a full link is let go when its outputs are there.
#[derive(Default)]
pub struct Stay(OnceLock<()>);

impl Stay {
    /// A full link begins that keeps its state: asks the host, unless the command line says no (`--detach`).
    pub fn ask(&self, host: &dyn Host, detach: Option<bool>) {
        if detach != Some(false) && host.may_stay(detach.is_some()) {
            _ = self.0.set(());
        }
    }

    /// The outputs of the link, which had begun then, are there: lets go of whoever waits, if that is to be. What is to
    /// be asked when the inputs have been read for the last time.
    pub fn let_go<'s>(
        &self,
        place: &Place,
        (host, sink): (&dyn Host, &DiagSink),
        (store, begun): (&'s InputStore<'s>, SystemTime),
        parallel: bool,
    ) -> Witness<'s> {
        if self.0.get().is_none() {
            return Witness::Stamps(store);
        }
        let mut files = store.files();
        files.iter_mut().for_each(|file| file.path = store.rooted(&file.path).into_owned());
        let digests = digests(&files, begun, parallel);
        place.let_go(host, &sink.so_far());
        Witness::Files(files, digests)
    }
}

/// What inputs were like when the outputs were there.
pub enum Witness<'s> {
    /// Whoever made them waits: their stamps tell.
    Stamps(&'s InputStore<'s>),
    /// Nobody waits. Each has a digest if its stamp does not tell.
    Files(Vec<InputFile<'s>>, Vec<Option<UnitDigest>>),
}

impl Witness<'_> {
    /// An input that may have been otherwise in the meantime.
    pub fn changed(&self, parallel: bool) -> Option<PathBuf> {
        let (files, digests) = match self {
            Witness::Stamps(store) => return store.changed(parallel),
            Witness::Files(files, digests) => (files, digests),
        };
        let differ = par::list("inputs once more", parallel, files.len(), RUN, |run| {
            let differs = |(file, digest): (&InputFile, &Option<UnitDigest>)| match digest {
                Some(digest) => UnitDigest::of(file.bytes) != *digest,
                // Of one that is gone nobody knows what it was in the end.
                None => Stamp::at(&file.path).ok() != file.stamp,
            };
            files[run.clone()].iter().zip(&digests[run]).map(differs)
        });
        let first = differ.iter().position(|differs| *differs)?;
        Some(files[first].path.clone())
    }
}

/// The digests of files whose stamps do not tell whether they are written to after a link has begun.
fn digests(files: &[InputFile], begun: SystemTime, parallel: bool) -> Vec<Option<UnitDigest>> {
    let is_told = |file: &InputFile| {
        let is_removed = is_of_rustc(file.path.as_os_str().as_encoded_bytes());
        file.stamp.is_some_and(|stamp| stamp.is_older_than(begun)) && !is_removed
    };
    par::list("digests of young inputs", parallel, files.len(), RUN, |run| {
        files[run].iter().map(|file| (!is_told(file)).then(|| UnitDigest::of(file.bytes)))
    })
}

/// Whether a path is one that rustc makes for a link, calls otherwise for each, and removes after it.
pub fn is_of_rustc(path: &[u8]) -> bool {
    path.ends_with(b".rcgu.o") || memchr::memmem::find(path, b"/rustc").is_some()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::io::testdir::TestDir;

    #[test]
    fn what_stamps_do_not_tell() {
        let dir = TestDir::new("witness");
        let file = |name: &str, bytes: &'static [u8]| {
            let path = dir.join(name);
            fs::write(&path, bytes).unwrap();
            InputFile { stamp: Stamp::at(&path).ok(), path, bytes, modified: None }
        };
        let old = file("old", b"old");
        let later = SystemTime::now() + Duration::from_secs(60);
        let is_changed = |file: &InputFile, change: &dyn Fn()| {
            let of = |begun| {
                let files = vec![file.clone()];
                let digests = digests(&files, begun, false);
                Witness::Files(files, digests)
            };
            let (told, untold) = (of(later), of(SystemTime::UNIX_EPOCH));
            assert_eq!((told.changed(false), untold.changed(false)), (None, None));
            change();
            [told.changed(false), untold.changed(false)].map(|path| path.is_some())
        };
        // Bytes that are mapped are the same, whatever the path leads to.
        assert_eq!(is_changed(&old, &|| fs::write(&old.path, "new").unwrap()), [true, false]);
        let gone = file("gone", b"gone");
        assert_eq!(is_changed(&gone, &|| fs::remove_file(&gone.path).unwrap()), [true, false]);
        let unit = file("a.rcgu.o", b"unit");
        assert_eq!(is_changed(&unit, &|| fs::remove_file(&unit.path).unwrap()), [false, false]);
    }
}
