//! Links of a few objects that are edited, each of which is compared with a full link.

use std::ffi::OsString;

use super::{Dir, link, wait};

/// A program, or a library, of objects that are numbered.
pub struct Project {
    pub dir: Dir,
    flags: &'static [&'static str],
}

impl Project {
    pub fn new(name: &str, flags: &'static [&'static str]) -> Project {
        Project { dir: Dir::new(name), flags }
    }

    /// Links these; whether it was relinked, which is compared with a full link.
    pub fn is_relinked(&self, objects: impl Iterator<Item = Vec<u8>>) -> bool {
        let mut args: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        for (number, object) in objects.enumerate() {
            let path = self.dir.path(&format!("{number}.o"));
            if std::fs::read(&path).ok().as_ref() != Some(&object) {
                std::fs::write(&path, object).unwrap();
            }
            args.push(path.into());
        }
        args.extend(["-o".into(), self.dir.path("out").into()]);
        wait();
        link(&args, &["--incremental"]).unwrap();
        let said = self.dir.said();
        if said.starts_with("relinked") {
            let out = self.dir.read("out");
            let warnings = link(&args, &["--incremental=verify"]).unwrap();
            assert!(
                warnings.is_empty() && self.dir.read("out") == out,
                "{:?} {said} {warnings:?}",
                self.flags
            );
        }
        said.starts_with("relinked")
    }
}
