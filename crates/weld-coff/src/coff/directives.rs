//! What an object tells the linker: the words of its `.drectve` section.
//!
//! Words are those of a command line, quoted as Windows does it, in UTF-8 (a byte order mark may say so).
//! Headers that export everything repeat the same words thousands of times, so exports and references, which
//! are nearly all of them, are told apart here without a look at the table of options; who gathers them keeps
//! each text once.

use std::borrow::Cow;

/// A word, and for the frequent ones what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive<'a> {
    Export(Cow<'a, [u8]>),
    Include(Cow<'a, [u8]>),
    DefaultLib(Cow<'a, [u8]>),
    /// An option to be looked up.
    Other(Cow<'a, [u8]>),
}

/// Calls `take` with each directive of a section's text.
pub fn parse<'a>(text: &'a [u8], mut take: impl FnMut(Directive<'a>)) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut rest = text;
    while let Some((word, behind)) = word(rest) {
        rest = behind;
        take(classify(word));
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0)
}

/// The first word, unquoted, and what is after it.
fn word(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let start = text.iter().position(|&b| !is_space(b))?;
    let text = &text[start..];
    let end = text.iter().position(|&b| is_space(b) || b == b'"').unwrap_or(text.len());
    if text.get(end) != Some(&b'"') {
        return Some((Cow::Borrowed(&text[..end]), &text[end..]));
    }
    let mut word = Vec::new();
    let (mut at, mut quoted) = (0, false);
    while at < text.len() && (quoted || !is_space(text[at])) {
        let slashes = text[at..].iter().take_while(|&&b| b == b'\\').count();
        at += slashes;
        if text.get(at) == Some(&b'"') {
            word.extend(std::iter::repeat_n(b'\\', slashes / 2));
            match slashes % 2 {
                1 => word.push(b'"'),
                _ => quoted = !quoted,
            }
            at += 1;
            continue;
        }
        word.extend(std::iter::repeat_n(b'\\', slashes));
        if slashes == 0 {
            word.push(text[at]);
            at += 1;
        }
    }
    Some((Cow::Owned(word), &text[at..]))
}

fn classify(word: Cow<'_, [u8]>) -> Directive<'_> {
    type Make<'a> = fn(Cow<'a, [u8]>) -> Directive<'a>;
    let frequent: [(&[u8], Make); 3] = [
        (b"export:", Directive::Export),
        (b"include:", Directive::Include),
        (b"defaultlib:", Directive::DefaultLib),
    ];
    if let [b'/' | b'-', option @ ..] = &word[..] {
        for (name, make) in frequent {
            if option.len() >= name.len() && option[..name.len()].eq_ignore_ascii_case(name) {
                let from = 1 + name.len();
                return make(match word {
                    Cow::Borrowed(word) => Cow::Borrowed(&word[from..]),
                    Cow::Owned(mut word) => Cow::Owned(word.split_off(from)),
                });
            }
        }
    }
    Directive::Other(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut list = Vec::new();
        let show = |kind: &str, word: &[u8]| format!("{kind} {}", String::from_utf8_lossy(word));
        parse(text.as_bytes(), |directive| {
            list.push(match directive {
                Directive::Export(w) => show("export", &w),
                Directive::Include(w) => show("include", &w),
                Directive::DefaultLib(w) => show("lib", &w),
                Directive::Other(w) => show("other", &w),
            });
        });
        list
    }

    #[test]
    fn words() {
        assert_eq!(
            all(
                "\u{feff} /DEFAULTLIB:\"libc mt.lib\" -export:f,DATA /include:_x\0/merge:.a=.b \"/Include:a b\" "
            ),
            ["lib libc mt.lib", "export f,DATA", "include _x", "other /merge:.a=.b", "include a b"]
        );
        assert_eq!(all(""), [""; 0]);
        assert_eq!(all(r#"a\"b\\"c d"\"#), [r#"other a"b\c d\"#]);
        assert_eq!(all("\"open"), ["other open"]);
    }
}
