//! Paths below the directory that stands for `/` (`--sysroot`).

use std::path::{Path, PathBuf};

use weld_common::text;

/// A path that starts with `=` or `$SYSROOT`: what follows, below `sysroot` if there is one.
pub fn in_sysroot(sysroot: &Path, path: &Path) -> Option<PathBuf> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let inside = bytes.strip_prefix(b"=").or(bytes.strip_prefix(b"$SYSROOT"))?;
    let mut path = sysroot.as_os_str().to_owned();
    let joined = path.is_empty() || path.as_encoded_bytes().ends_with(b"/") || inside.starts_with(b"/");
    if !joined && !inside.is_empty() {
        path.push("/");
    }
    path.push(text::os_str(inside));
    Some(path.into())
}
