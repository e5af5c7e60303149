//! The files of `/base:@FILE,KEY`, which say at which addresses the DLLs of a program lie: `KEY ADDRESS
//! [SIZE] ; COMMENT`, one a line.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use weld_common::args::ValueError;
use weld_common::args::values::number;
use weld_common::text;

use super::values::{OptionError, image_base};

/// Address and greatest size of the image.
type Base = (u64, Option<u64>);

/// Why a file does not say what is asked of it.
#[derive(Debug)]
pub enum BaseError {
    Missing(String),
    Unreadable(String, io::Error),
    /// Something is wrong with the line of a key.
    Line {
        file: String,
        key: String,
        why: LineError,
    },
}

/// What is wrong with a line.
#[derive(Debug, PartialEq)]
pub enum LineError {
    NoAddress,
    Value(OptionError),
    /// There is more than address and size.
    Word(String),
}

impl fmt::Display for BaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaseError::Missing(file) => write!(f, "could not open '{file}': No such file or directory"),
            BaseError::Unreadable(file, e) => write!(f, "cannot read {file}: {e}"),
            BaseError::Line { file, key, why } => {
                write!(f, "{file}: {key}: ")?;
                match why {
                    LineError::NoAddress => f.write_str("there is no address"),
                    LineError::Value(e) => e.fmt(f),
                    LineError::Word(word) => write!(f, "unexpected word '{word}'"),
                }
            }
        }
    }
}

impl std::error::Error for BaseError {}

impl From<OptionError> for LineError {
    fn from(error: OptionError) -> Self {
        LineError::Value(error)
    }
}

impl From<ValueError> for LineError {
    fn from(error: ValueError) -> Self {
        LineError::Value(error.into())
    }
}

/// What a file, which may lie in one of the directories with libraries, says of `key`. `None` if it is
/// nothing.
///
/// # Errors
/// If there is no such file, or its line is wrong.
pub fn find(file: &str, key: &str, directories: &[PathBuf]) -> Result<Option<Base>, BaseError> {
    let own = PathBuf::from(file);
    let is_plain = Path::new(file).file_name().is_some_and(|name| name == file);
    let mut all =
        std::iter::once(own).chain(directories.iter().filter(|_| is_plain).map(|dir| dir.join(file)));
    let path = all.find(|path| path.is_file());
    let path = path.ok_or_else(|| BaseError::Missing(file.to_owned()))?;
    let bytes = std::fs::read(&path).map_err(|e| BaseError::Unreadable(file.to_owned(), e))?;
    in_text(&text::text(&bytes), key).map_err(|why| {
        let (file, key) = (file.to_owned(), key.to_owned());
        BaseError::Line { file, key, why }
    })
}

fn in_text(text: &str, key: &str) -> Result<Option<Base>, LineError> {
    for line in text.lines() {
        let mut words = line.split(';').next().unwrap_or_default().split_whitespace();
        if words.next().is_none_or(|word| !word.eq_ignore_ascii_case(key)) {
            continue;
        }
        let base = words.next().ok_or(LineError::NoAddress)?;
        let size = words.next().map(number).transpose()?;
        return match words.next() {
            Some(word) => Err(LineError::Word(word.to_owned())),
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
