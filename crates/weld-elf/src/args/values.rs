//! Values of options that only ELF's command line has, and what can be wrong with its options.

use std::fmt;
use std::path::PathBuf;

use weld_common::args::ValueError;
use weld_common::args::values::digits_of;
use weld_common::glob::Glob;
use weld_common::text;
use weld_lto::spelling::WrongValue;

use crate::compressed::Algorithm;
use crate::options::RemapRule;
use crate::script::expr::DefsymError;

/// Why an option cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    Value(ValueError),
    /// An option of link-time optimisation.
    Lto(WrongValue),
    Defsym(DefsymError),
    /// `-l` without a name.
    NoLibrary,
    /// No two digits are after the `%` at this byte.
    PercentEscape(usize),
    /// What a text with `%` stands for is not UTF-8.
    DecodedNotUtf8,
    Alignment {
        align: u64,
        limit: u64,
    },
    CallPadding(String),
    /// Sections are compressed otherwise today (`.zdebug_*`).
    OldCompression,
    Level {
        level: u64,
        algorithm: Algorithm,
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Value(error) => error.fmt(f),
            OptionError::Lto(error) => error.fmt(f),
            OptionError::Defsym(error) => error.fmt(f),
            OptionError::NoLibrary => f.write_str("missing library name"),
            OptionError::PercentEscape(at) => {
                write!(f, "wrong % escape at byte {at}; expected two hexadecimal digits")
            }
            OptionError::DecodedNotUtf8 => f.write_str("the text is not valid UTF-8"),
            OptionError::Alignment { align, limit } => {
                write!(f, "{align} is not a power of two up to {limit:#x}")
            }
            OptionError::CallPadding(text) => write!(
                f,
                "'{text}' is no padding: it is prefix-addr, prefix-nop, suffix-nop, prefix-BYTE or suffix-BYTE"
            ),
            OptionError::OldCompression => f.write_str("the old .zdebug sections are not written; use zlib"),
            OptionError::Level { level, algorithm } => {
                let levels = algorithm.levels();
                write!(f, "level {level} is not between {} and {}", levels.start(), levels.end())
            }
        }
    }
}

impl std::error::Error for OptionError {}

impl From<ValueError> for OptionError {
    fn from(error: ValueError) -> Self {
        OptionError::Value(error)
    }
}

impl From<WrongValue> for OptionError {
    fn from(error: WrongValue) -> Self {
        OptionError::Lto(error)
    }
}

impl From<DefsymError> for OptionError {
    fn from(error: DefsymError) -> Self {
        OptionError::Defsym(error)
    }
}

/// An address: hexadecimal with or without `0x`.
pub fn address(text: &str) -> Result<u64, ValueError> {
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    digits_of(digits, 16).ok_or_else(|| ValueError::expected_not("a hexadecimal address", text))
}

/// The bytes of `--build-id=0x…`; `-` and `:` may stand between them.
pub fn hex_bytes(text: &str) -> Result<Vec<u8>, ValueError> {
    let wrong = || ValueError::expected_not("pairs of hexadecimal digits", text);
    let digits: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'-' | b':')).collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    digits.chunks_exact(2).map(|pair| hex_pair(pair[0], pair[1]).ok_or_else(wrong)).collect()
}

fn hex_pair(high: u8, low: u8) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

/// Replaces `%XX` by the byte it stands for. `%[comma]` and its like are GNU's notation for
/// characters that compiler specs cannot hold.
pub fn percent_decode(text: &str) -> Result<String, OptionError> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'%' {
            out.push(bytes[i]);
            i += 1;
            continue;
        }
        let pair = bytes.get(i + 1..i + 3).and_then(|p| hex_pair(p[0], p[1]));
        let named = || {
            let names =
                [("comma", b','), ("lbrace", b'{'), ("quot", b'"'), ("rbrace", b'}'), ("space", b' ')];
            let rest = text.get(i + 1..)?.strip_prefix('[')?;
            let (name, byte) = names.iter().find(|(n, _)| rest.starts_with(&format!("{n}]")))?;
            Some((*byte, name.len() + 3))
        };
        let (byte, used) = pair.map(|byte| (byte, 3)).or_else(named).ok_or(OptionError::PercentEscape(i))?;
        out.push(byte);
        i += used;
    }
    String::from_utf8(out).map_err(|_| OptionError::DecodedNotUtf8)
}

/// `PATTERN=FILE` of `--remap-inputs`, taken apart at the first of `separators`.
pub fn remap_rule(text: &[u8], separators: &[u8]) -> Result<RemapRule, ValueError> {
    let end = text.iter().position(|byte| separators.contains(byte));
    let (pattern, rest) = text.split_at(end.unwrap_or(text.len()));
    let path = match rest.trim_ascii_start() {
        [b'=', path @ ..] => path.trim_ascii(),
        path => path,
    };
    if pattern.is_empty() || path.is_empty() {
        return Err(ValueError::Expected("PATTERN=FILE"));
    }
    Glob::new(pattern)
        .map_err(|error| ValueError::Pattern { text: text::text(pattern).into_owned(), error })?;
    Ok((pattern.to_owned(), PathBuf::from(text::os_str(path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(address("400000"), Ok(0x40_0000));
        assert_eq!(address("0x10"), Ok(16));
        assert!(address("0x").is_err() && address("12g").is_err());
    }

    #[test]
    fn hex_strings() {
        assert_eq!(hex_bytes("12-Ab:cd"), Ok(vec![0x12, 0xab, 0xcd]));
        assert!(hex_bytes("").is_err() && hex_bytes("123").is_err() && hex_bytes("zz").is_err());
    }

    #[test]
    fn percent_escapes() {
        assert_eq!(percent_decode("%7B\"a\"%3a1}"), Ok("{\"a\":1}".to_owned()));
        assert_eq!(percent_decode("%[lbrace]a%[comma]b"), Ok("{a,b".to_owned()));
        for wrong in ["%", "%7", "%zz", "%[lbrace", "%[string]", "%ff", "é%é"] {
            assert!(percent_decode(wrong).is_err(), "{wrong}");
        }
    }
}
