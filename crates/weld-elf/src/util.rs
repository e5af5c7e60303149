//! Small helpers that have no better home.

use std::path::{Path, PathBuf};

use weld_common::text;

/// `value` rounded up to a multiple of `align`, a power of two.
#[inline(always)]
pub fn align_up(value: u64, align: u64) -> u64 {
    value.wrapping_add(align - 1) & !(align - 1)
}

/// Appends a number in ULEB128.
pub fn put_uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Whether `name` could be a C identifier, so that `__start_name` and `__stop_name` exist.
pub fn is_c_identifier(name: &[u8]) -> bool {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    !name.is_empty() && !name[0].is_ascii_digit() && name.iter().all(word)
}

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
