//! What inputs are like when whoever waits for a link is let go, although they are still read: from then on they may be
//! written to, also where no stamp tells.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::digest::UnitDigest;
use crate::io::input::{InputFile, InputStore};
use crate::io::stamp::Stamp;
use crate::par;

/// Files that one task looks at.
const RUN: usize = 16;

pub struct Witness<'s> {
    files: Vec<InputFile<'s>>,
    /// The digest of each whose stamp does not tell.
    digests: Vec<Option<UnitDigest>>,
}

impl<'s> Witness<'s> {
    /// Of the inputs of a link that has begun then.
    pub fn new(store: &'s InputStore<'s>, begun: SystemTime, parallel: bool) -> Witness<'s> {
        let mut files = store.files();
        files.iter_mut().for_each(|file| file.path = store.rooted(&file.path).into_owned());
        Self::of(files, begun, parallel)
    }

    fn of(files: Vec<InputFile<'s>>, begun: SystemTime, parallel: bool) -> Witness<'s> {
        let is_told = |file: &InputFile| file.stamp.is_some_and(|stamp| stamp.is_older_than(begun));
        let digests = par::list("digests of young inputs", parallel, files.len(), RUN, |run| {
            let of = |file: &InputFile| {
                (!is_told(file) || is_removed(&file.path)).then(|| UnitDigest::of(file.bytes))
            };
            files[run].iter().map(of)
        });
        Witness { files, digests }
    }

    /// A file that may have been otherwise in the meantime.
    pub fn changed(&self, parallel: bool) -> Option<PathBuf> {
        let differ = par::list("inputs once more", parallel, self.files.len(), RUN, |run| {
            let differs = |(file, digest): (&InputFile, &Option<UnitDigest>)| match digest {
                Some(digest) => UnitDigest::of(file.bytes) != *digest,
                // Of one that is gone nobody knows what it was in the end.
                None => Stamp::at(&file.path).ok() != file.stamp,
            };
            self.files[run.clone()].iter().zip(&self.digests[run]).map(differs)
        });
        let first = differ.iter().position(|differs| *differs)?;
        Some(self.files[first].path.clone())
    }
}

/// Whether a compiler, rustc, removes a file when it has been linked.
fn is_removed(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.ends_with(b".rcgu.o") || memchr::memmem::find(text, b"/rustc").is_some()
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
            let of = |begun| Witness::of(vec![file.clone()], begun, false);
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
