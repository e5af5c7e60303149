//! Text that keeps bytes which are no UTF-8.
//!
//! Names of files and symbols are bytes; messages, maps and rules for make are put together as text.
//! A byte that is no part of UTF-8 is held as a character of its own there, one of the last 128 of
//! Unicode's private planes, and is that byte again where the text is written. Those characters
//! themselves are held byte by byte, so [`bytes`] gives back exactly what [`text`] was given.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The character of byte 0 would be this one. Bytes below 128 are always UTF-8.
const FIRST: u32 = 0x10ff00;

/// `bytes` as text.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_held(bytes) => Cow::Borrowed(text),
        _ => Cow::Owned(bytes.utf8_chunks().fold(String::new(), |mut out, chunk| {
            for c in chunk.valid().chars() {
                match u32::from(c) > FIRST {
                    true => hold(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                    false => out.push(c),
                }
            }
            hold(&mut out, chunk.invalid());
            out
        })),
    }
}

/// A path as text.
pub fn path(path: &Path) -> Cow<'_, str> {
    text(path.as_os_str().as_encoded_bytes())
}

/// The path that a text stands for.
pub fn to_path(text: &str) -> PathBuf {
    PathBuf::from(os_str(&bytes(text)))
}

/// The system's string of these bytes, as in [`OsStr::as_encoded_bytes`]. Where the system's strings are not
/// bytes (Windows), what is no UTF-8 becomes a name that no file can have.
pub fn os_str(bytes: &[u8]) -> &OsStr {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    #[cfg(not(unix))]
    return OsStr::new(std::str::from_utf8(bytes).unwrap_or("<not Unicode>"));
}

/// The bytes that a text stands for.
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !has_held(bytes) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    for c in text.chars() {
        match u32::from(c).checked_sub(FIRST) {
            Some(byte) if byte >= 0x80 => out.push(byte as u8),
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

fn hold(out: &mut String, bytes: &[u8]) {
    out.extend(bytes.iter().filter_map(|byte| char::from_u32(FIRST + u32::from(*byte))));
}

/// Whether there is a character that holds a byte. All of them begin in the same way.
fn has_held(bytes: &[u8]) -> bool {
    memchr::memchr_iter(0xf4, bytes).any(|at| {
        bytes.get(at + 1) == Some(&0x8f)
            && bytes.get(at + 2).is_some_and(|third| matches!(third, 0xbe | 0xbf))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_bytes_is_bytes_again() {
        let cases: [&[u8]; 8] = [
            b"",
            b"plain",
            "\u{e4}\u{1f600}".as_bytes(),
            b"n\xff.o",
            b"\xc3(\x80\xf4\x8f",
            "a\u{10ff80}\u{10ffff}b".as_bytes(),
            "\u{10ff7f}\u{10ff00}".as_bytes(),
            b"\xff\xf4\x8f\xbe\x80\xfe",
        ];
        for case in cases {
            let held = text(case);
            assert_eq!(bytes(&held), case, "{held:?}");
            assert_eq!(text(&bytes(&held)), held);
        }
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        assert_eq!(bytes(&text(&all)), all);
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        assert!(matches!(text("lib\u{f6}.a".as_bytes()), Cow::Borrowed(_)));
        assert!(matches!(bytes("lib\u{f6}.a"), Cow::Borrowed(_)));
    }
}
