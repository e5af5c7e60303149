//! Paths of files as a PDB tells them: absolute, so that debuggers find the files wherever they run.
//!
//! A path that is absolute on any system stays as it is, for nobody knows what it means elsewhere. Others are
//! put after a root, and steps to the same and to the upper directory are carried out, in the style of the
//! root: with slashes if it begins with one, otherwise with backslashes.

use std::borrow::Cow;

/// Whether a path is absolute on some system.
fn is_absolute(path: &[u8]) -> bool {
    matches!(path, [b'/' | b'\\', ..] | [_, b':', b'/' | b'\\', ..])
}

/// A path that does not depend on the working directory, if `root` is not empty.
pub fn absolute<'a>(path: &'a [u8], root: &[u8]) -> Cow<'a, [u8]> {
    // Names in brackets are no files: `<stdin>`, `<unknown>`.
    if root.is_empty() || path.is_empty() || is_absolute(path) || path[0] == b'<' {
        return Cow::Borrowed(path);
    }
    let separator = if root[0] == b'/' { b'/' } else { b'\\' };
    let mut joined = root.to_vec();
    // Windows takes both; a path shall have one kind.
    joined.iter_mut().filter(|byte| separator == b'\\' && **byte == b'/').for_each(|byte| *byte = separator);
    while let Some(b'/' | b'\\') = joined.last() {
        joined.pop();
    }
    let least = joined.len();
    for part in path.split(|&byte| matches!(byte, b'/' | b'\\')) {
        match part {
            b"" | b"." => {}
            b".." => {
                let last = joined.iter().rposition(|&byte| matches!(byte, b'/' | b'\\'));
                joined.truncate(last.unwrap_or(least));
            }
            _ => {
                joined.push(separator);
                joined.extend(part);
            }
        }
    }
    Cow::Owned(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_put_behind_the_root() {
        let text = |path: &'static str, root: &str| {
            String::from_utf8(absolute(path.as_bytes(), root.as_bytes()).into_owned()).unwrap()
        };
        assert_eq!(text("a.c", "/x"), "/x/a.c");
        assert_eq!(text("./b/../a.c", "/x/y/"), "/x/y/a.c");
        assert_eq!(text("..\\a.c", "/x/y"), "/x/a.c");
        assert_eq!(text("b/a.c", "c:\\x"), "c:\\x\\b\\a.c");
        assert_eq!(text("b/a.c", "c:/x/"), "c:\\x\\b\\a.c");
        assert_eq!(text("../../../a.c", "/x"), "/a.c");
        for path in ["/a.c", "c:\\a.c", "\\\\host\\a.c", "<stdin>", ""] {
            assert_eq!(text(path, "/x"), path);
        }
        assert_eq!(text("a.c", ""), "a.c");
    }
}
