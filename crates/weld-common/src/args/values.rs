//! Values of options: those that every command line reads alike, and what can be wrong with one.
//!
//! A linker has more kinds of values than these. Its own error says what is wrong with those, and takes this
//! one in ([`Context::Error`](super::Context::Error)). No error names the option: the parser knows it and
//! says it.

use std::ffi::OsString;
use std::fmt;

use super::Given;
use crate::glob::{Glob, GlobError};
use crate::text::text;

/// Why a text is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// It should be text.
    NotUtf8(OsString),
    /// It is none of the words that it may be.
    NoChoice {
        words: Vec<String>,
        text: String,
    },
    NoNumber(String),
    NotPowerOfTwo(u64),
    /// The name of a file is empty.
    NoFile,
    /// Something else is needed, such as `a number above 0` or `GLOB=VALUE`.
    Expected(&'static str),
    /// The same where it helps to see the text: it may be a part of the value.
    ExpectedNot {
        what: &'static str,
        text: String,
    },
    /// There is no such format, subsystem, …: the field's word for it, and the text.
    Unknown {
        what: &'static str,
        text: String,
    },
    Pattern {
        text: String,
        error: GlobError,
    },
    /// More than there may be.
    TooLarge {
        value: u64,
        limit: u64,
    },
}

impl ValueError {
    #[cold]
    pub fn expected_not(what: &'static str, text: &str) -> ValueError {
        ValueError::ExpectedNot { what, text: text.to_owned() }
    }

    #[cold]
    pub fn unknown(what: &'static str, text: &str) -> ValueError {
        ValueError::Unknown { what, text: text.to_owned() }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueError::NotUtf8(os) => write!(f, "'{}' is not valid UTF-8", text(os.as_encoded_bytes())),
            ValueError::NoChoice { words, text } => {
                write!(f, "expected {}, but got '{text}'", one_of(words))
            }
            ValueError::NoNumber(text) => write!(f, "expected a number, but got '{text}'"),
            ValueError::NotPowerOfTwo(size) => write!(f, "{size} is not a power of two"),
            ValueError::NoFile => f.write_str("missing file name"),
            ValueError::Expected(what) => write!(f, "expected {what}"),
            ValueError::ExpectedNot { what, text } => write!(f, "expected {what}, but got '{text}'"),
            ValueError::Unknown { what, text } => write!(f, "unknown {what} '{text}'"),
            ValueError::Pattern { text, error } => write!(f, "bad pattern '{text}': {error}"),
            ValueError::TooLarge { value, limit } => write!(f, "{value} is more than {limit}"),
        }
    }
}

impl std::error::Error for ValueError {}

fn one_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A number as C writes it: decimal, `0x` hexadecimal, or octal after a leading zero. It has no sign.
pub fn number(text: &str) -> Result<u64, ValueError> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    digits_of(digits, radix).ok_or_else(|| ValueError::NoNumber(text.to_owned()))
}

/// A number of nothing but digits. Unlike `from_str_radix`, takes no sign.
pub fn digits_of(text: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(text, radix).ok().filter(|_| !text.starts_with('+'))
}

/// A number that is a power of two.
pub fn power_of_two(text: &str) -> Result<u64, ValueError> {
    let size = number(text)?;
    if size.is_power_of_two() { Ok(size) } else { Err(ValueError::NotPowerOfTwo(size)) }
}

/// A number up to a limit.
pub fn number_up_to(text: &str, limit: u64) -> Result<u64, ValueError> {
    match number(text)? {
        value if value > limit => Err(ValueError::TooLarge { value, limit }),
        value => Ok(value),
    }
}

/// A pattern of names.
pub fn pattern(text: &str) -> Result<Glob, ValueError> {
    Glob::new(text.as_bytes()).map_err(|error| ValueError::Pattern { text: text.to_owned(), error })
}

/// One of a few words.
pub fn choice<T: Copy>(given: Given<'_>, choices: &[(&str, T)]) -> Result<T, ValueError> {
    choose(given.text()?, choices)
}

/// The same for a part of a value.
pub fn choose<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, ValueError> {
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let words = choices.iter().map(|(name, _)| (*name).to_owned()).collect();
    Err(ValueError::NoChoice { words, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number("0x1F"), Ok(31));
        assert_eq!(number("010"), Ok(8));
        assert_eq!(number("0"), Ok(0));
        assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["", "0x", "-1", "+1", "18446744073709551616", "1k", "09", "0x-1", "0x+1"] {
            assert_eq!(number(wrong), Err(ValueError::NoNumber(wrong.to_owned())));
        }
        assert_eq!(power_of_two("0x1000"), Ok(4096));
        assert_eq!(power_of_two("12"), Err(ValueError::NotPowerOfTwo(12)));
        assert_eq!(number_up_to("7", 7), Ok(7));
        assert_eq!(number_up_to("8", 7), Err(ValueError::TooLarge { value: 8, limit: 7 }));
    }

    #[test]
    fn what_is_said() {
        let choices = [("a", 1), ("b", 2), ("c", 3)];
        assert_eq!(choose("b", &choices), Ok(2));
        assert_eq!(choose("d", &choices).unwrap_err().to_string(), "expected a, b or c, but got 'd'");
        assert_eq!(pattern("x[").unwrap_err().to_string(), "bad pattern 'x[': '[' without ']'");
        assert_eq!(ValueError::unknown("format", "x").to_string(), "unknown format 'x'");
        assert_eq!(ValueError::expected_not("GLOB=SEED", "x").to_string(), "expected GLOB=SEED, but got 'x'");
    }
}
