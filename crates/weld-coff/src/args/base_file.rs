//! The files of `/base:@FILE,KEY`, which say at which addresses the DLLs of a program lie: `KEY ADDRESS
//! [SIZE] ; COMMENT`, one a line.

use std::path::{Path, PathBuf};

use weld_common::text;

use super::values::{image_base, number};

/// Address and greatest size of the image.
type Base = (u64, Option<u64>);

/// What a file, which may lie in one of the directories with libraries, says of `key`. `None` if it is
/// nothing.
///
/// # Errors
/// If there is no such file, or its line is wrong.
pub fn find(file: &str, key: &str, directories: &[PathBuf]) -> Result<Option<Base>, String> {
    let own = PathBuf::from(file);
    let is_plain = Path::new(file).file_name().is_some_and(|name| name == file);
    let mut all =
        std::iter::once(own).chain(directories.iter().filter(|_| is_plain).map(|dir| dir.join(file)));
    let path = all.find(|path| path.is_file());
    let path = path.ok_or_else(|| format!("could not open '{file}': No such file or directory"))?;
    let bytes = std::fs::read(&path).map_err(|e| format!("cannot read {file}: {e}"))?;
    in_text(&text::text(&bytes), key).map_err(|why| format!("{file}: {key}: {why}"))
}

fn in_text(text: &str, key: &str) -> Result<Option<Base>, String> {
    for line in text.lines() {
        let mut words = line.split(';').next().unwrap_or_default().split_whitespace();
        if words.next().is_none_or(|word| !word.eq_ignore_ascii_case(key)) {
            continue;
        }
        let base = words.next().ok_or("there is no address")?;
        let size = words.next().map(number).transpose()?;
        return match words.next() {
            Some(word) => Err(format!("unexpected word '{word}'")),
            None => Ok(Some((image_base(number(base)?)?, size))),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn lines() {
        let text =
            "; addresses\none 0x280000 0x100000 ; of one\r\n\tTwo\t0x290000\nodd 0x280001\nlong 0 1 2\nshort";
        assert_eq!(in_text(text, "ONE"), Ok(Some((0x28_0000, Some(0x10_0000)))));
        assert_eq!(in_text(text, "two"), Ok(Some((0x29_0000, None))));
        assert_eq!(in_text(text, "three"), Ok(None));
        assert!(["odd", "long", "short"].iter().all(|key| in_text(text, key).is_err()));
    }
}
