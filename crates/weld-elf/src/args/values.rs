//! Values of options that need parsing. Errors are messages without the option's name.

use std::path::PathBuf;

use weld_common::args::Given;
use weld_common::glob::Glob;
use weld_common::text;

use crate::options::RemapRule;

/// A number as C writes it: decimal, `0x` hexadecimal, or octal after a leading zero.
pub fn number(text: &str) -> Result<u64, String> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    parse_radix(digits, radix).ok_or_else(|| format!("expected a number, but got '{text}'"))
}

/// An address: hexadecimal with or without `0x`.
pub fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    parse_radix(digits, 16).ok_or_else(|| format!("expected a hexadecimal address, but got '{text}'"))
}

/// Unlike `from_str_radix`, takes no sign.
fn parse_radix(digits: &str, radix: u32) -> Option<u64> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// A page size: a power of two.
pub fn page_size(given: Given<'_>) -> Result<u64, String> {
    let size = number(given.text()?)?;
    if size.is_power_of_two() { Ok(size) } else { Err(format!("{size} is not a power of two")) }
}

/// The bytes of `--build-id=0x…`; `-` and `:` may stand between them.
pub fn hex_bytes(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("expected pairs of hexadecimal digits, but got '{text}'");
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
pub fn percent_decode(text: &str) -> Result<String, String> {
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
        let (byte, used) = pair
            .map(|byte| (byte, 3))
            .or_else(named)
            .ok_or_else(|| format!("wrong % escape at byte {i}; expected two hexadecimal digits"))?;
        out.push(byte);
        i += used;
    }
    String::from_utf8(out).map_err(|_| "the text is not valid UTF-8".to_owned())
}

/// `PATTERN=FILE` of `--remap-inputs`, taken apart at the first of `separators`.
pub fn remap_rule(text: &[u8], separators: &[u8]) -> Result<RemapRule, String> {
    let end = text.iter().position(|byte| separators.contains(byte));
    let (pattern, rest) = text.split_at(end.unwrap_or(text.len()));
    let path = match rest.trim_ascii_start() {
        [b'=', path @ ..] => path.trim_ascii(),
        path => path,
    };
    if pattern.is_empty() || path.is_empty() {
        return Err("expected PATTERN=FILE".into());
    }
    Glob::new(pattern).map_err(|e| format!("{}: {e}", text::text(pattern)))?;
    Ok((pattern.to_owned(), PathBuf::from(text::os_str(path))))
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
        for wrong in ["", "0x", "-1", "+1", "18446744073709551616", "1k", "09", "0x-1"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
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
