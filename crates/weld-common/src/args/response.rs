//! Response files: `@file` on a command line stands for the arguments in `file`.
//!
//! Build tools use them when a command line would grow too long, so they hold tens of thousands of
//! words. A file is unquoted in place, in its own buffer, and the words are slices of it.
//!
//! As in GNU tools and LLVM, files may name further files, names are relative to the working
//! directory, and `@name` where no such file exists is an ordinary argument. A file that includes
//! itself is an error.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;

use crate::diag::{Cause, Diagnostic};
use crate::io::identity::Identity;
use crate::text::os_str;

/// How words are quoted in a response file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Quoting {
    /// As libiberty's `buildargv`: both quotes group, a backslash takes the next byte as it is,
    /// inside quotes too.
    #[default]
    Gnu,
    /// As `CommandLineToArgvW`: only `"` groups, and backslashes count only in front of it.
    Windows,
}

/// More than any real link has; a bound for files that include others many times over.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 100;
const MAX_SIZE: u64 = 1 << 30;

/// A command line with its response files read. Borrow the flat list from [`Expanded::args`].
pub struct Expanded<'a> {
    given: &'a [OsString],
    /// Argument number and file number for each `@file` of the command line itself, in order.
    top: Vec<(usize, usize)>,
    files: Vec<Words>,
}

/// One response file, unquoted.
struct Words {
    text: Vec<u8>,
    items: Vec<Item>,
}

enum Item {
    /// A range of the text.
    Word(Range<usize>),
    /// A number in [`Expanded::files`].
    File(usize),
}

impl<'a> Expanded<'a> {
    /// Reads the response files that `args` name.
    pub fn read(args: &'a [OsString], quoting: Quoting) -> Result<Self, Diagnostic> {
        let mut expanded = Expanded { given: args, top: Vec::new(), files: Vec::new() };
        for (i, arg) in args.iter().enumerate() {
            if let Some(name) = response_name(arg.as_encoded_bytes())
                && let Some(file) = expanded.load(name, quoting, &mut Vec::new())?
            {
                expanded.top.push((i, file));
            }
        }
        Ok(expanded)
    }

    /// All arguments in order.
    pub fn args(&self) -> Vec<&OsStr> {
        let words: usize = self.files.iter().map(|f| f.items.len()).sum();
        let mut flat = Vec::with_capacity(self.given.len() + words);
        let mut done = 0;
        for &(at, file) in &self.top {
            flat.extend(self.given[done..at].iter().map(OsString::as_os_str));
            self.flatten(file, &mut flat);
            done = at + 1;
        }
        flat.extend(self.given[done..].iter().map(OsString::as_os_str));
        flat
    }

    /// Whether any response file was read.
    pub fn any(&self) -> bool {
        !self.files.is_empty()
    }

    fn flatten<'s>(&'s self, file: usize, flat: &mut Vec<&'s OsStr>) {
        let words = &self.files[file];
        for item in &words.items {
            match item {
                Item::Word(range) => flat.push(os_str(&words.text[range.clone()])),
                Item::File(nested) => self.flatten(*nested, flat),
            }
        }
    }

    /// Reads one file and those it names. `None` if it does not exist. `open` holds the files that are
    /// being read.
    fn load(
        &mut self,
        name: &OsStr,
        quoting: Quoting,
        open: &mut Vec<Identity>,
    ) -> Result<Option<usize>, Diagnostic> {
        let fail = |what: &str| {
            Diagnostic::error(
                Cause::ResponseFile,
                format!("cannot read response file {}: {what}", crate::text::text(name.as_encoded_bytes())),
            )
        };
        let file = match File::open(name) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(fail(&crate::io::reason(&e))),
        };
        let meta = file.metadata().map_err(|e| fail(&crate::io::reason(&e)))?;
        let identity = Identity::of_open(&file, &meta);
        if identity.as_ref().is_some_and(|identity| open.contains(identity)) {
            return Err(fail("it includes itself"));
        }
        if open.len() >= MAX_DEPTH || self.files.len() >= MAX_FILES {
            return Err(fail("too many response files"));
        }
        let mut text = Vec::with_capacity(meta.len().min(MAX_SIZE) as usize + 1);
        let size = file.take(MAX_SIZE + 1).read_to_end(&mut text);
        if size.map_err(|e| fail(&crate::io::reason(&e)))? as u64 > MAX_SIZE {
            return Err(fail("it is too large"));
        }
        if text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]) {
            text = from_utf16(&text).ok_or_else(|| fail("its mark says UTF-16, and it is none"))?;
        }
        let ranges = match quoting {
            Quoting::Gnu => split_gnu(&mut text),
            Quoting::Windows => split_windows(&mut text),
        };
        let number = self.files.len();
        self.files.push(Words { text: Vec::new(), items: Vec::new() });
        let depth = open.len();
        open.extend(identity);
        let mut items = Vec::with_capacity(ranges.len());
        for range in ranges {
            let nested = match response_name(&text[range.clone()]) {
                Some(name) => self.load(name, quoting, open)?,
                None => None,
            };
            items.push(nested.map_or(Item::Word(range), Item::File));
        }
        open.truncate(depth);
        self.files[number] = Words { text, items };
        Ok(Some(number))
    }
}

/// The file that an argument names, if it is `@file`.
fn response_name(arg: &[u8]) -> Option<&OsStr> {
    match arg {
        [b'@', name @ ..] if !name.is_empty() => Some(os_str(name)),
        _ => None,
    }
}

/// Where the text starts: after a UTF-8 byte order mark.
/// The words of a text, such as the value of a variable of the environment that holds options.
pub fn words(mut text: Vec<u8>, quoting: Quoting) -> Vec<OsString> {
    let ranges = match quoting {
        Quoting::Gnu => split_gnu(&mut text),
        Quoting::Windows => split_windows(&mut text),
    };
    ranges.into_iter().map(|range| os_str(&text[range]).to_owned()).collect()
}

/// UTF-16 in the order that its mark says, as UTF-8. `None` if it is none.
fn from_utf16(text: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_chunks::<2>() else { return None };
    let read = if text[0] == 0xff { u16::from_le_bytes } else { u16::from_be_bytes };
    let units: Vec<u16> = pairs[1..].iter().map(|pair| read(*pair)).collect();
    Some(String::from_utf16(&units).ok()?.into_bytes())
}

fn start_of(text: &[u8]) -> usize {
    if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Splits `text` into words, moving the bytes of each word together. Words never grow, so what is
/// written stays after what is read.
fn split_gnu(text: &mut [u8]) -> Vec<Range<usize>> {
    let mut words = Vec::with_capacity(text.len() / 16);
    let (mut read, mut write) = (start_of(text), 0);
    loop {
        while read < text.len() && is_space(text[read]) {
            read += 1;
        }
        if read == text.len() {
            return words;
        }
        let start = write;
        let mut quote = None;
        while read < text.len() {
            let byte = text[read];
            read += 1;
            match byte {
                b'\\' if read < text.len() => {
                    text[write] = text[read];
                    write += 1;
                    read += 1;
                }
                b'"' | b'\'' if quote.is_none() => quote = Some(byte),
                _ if quote == Some(byte) => quote = None,
                _ if quote.is_none() && is_space(byte) => break,
                _ => {
                    text[write] = byte;
                    write += 1;
                }
            }
        }
        words.push(start..write);
    }
}

/// As [`split_gnu`], by the rules of Windows: `2n` backslashes in front of `"` are `n` backslashes,
/// `2n + 1` are `n` and a literal `"`, and `""` inside quotes is a literal `"`.
fn split_windows(text: &mut [u8]) -> Vec<Range<usize>> {
    let mut words = Vec::with_capacity(text.len() / 16);
    let (mut read, mut write) = (start_of(text), 0);
    loop {
        while read < text.len() && is_space(text[read]) {
            read += 1;
        }
        if read == text.len() {
            return words;
        }
        let start = write;
        let mut quoted = false;
        while read < text.len() && (quoted || !is_space(text[read])) {
            let backslashes = text[read..].iter().take_while(|&&b| b == b'\\').count();
            read += backslashes;
            let before_quote = text.get(read) == Some(&b'"');
            let kept = if before_quote { backslashes / 2 } else { backslashes };
            text[write..write + kept].fill(b'\\');
            write += kept;
            if before_quote {
                let literal = backslashes % 2 == 1 || (quoted && text.get(read + 1) == Some(&b'"'));
                if literal {
                    read += usize::from(backslashes % 2 == 0);
                    text[write] = b'"';
                    write += 1;
                } else {
                    quoted = !quoted;
                }
                read += 1;
            } else if backslashes == 0 {
                text[write] = text[read];
                write += 1;
                read += 1;
            }
        }
        words.push(start..write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    fn words(text: &str, split: fn(&mut [u8]) -> Vec<Range<usize>>) -> Vec<String> {
        let mut text = text.as_bytes().to_vec();
        let ranges = split(&mut text);
        ranges.into_iter().map(|r| String::from_utf8(text[r].to_vec()).unwrap()).collect()
    }

    #[test]
    fn gnu_quoting() {
        assert_eq!(words("a b\n\tc\r\n", split_gnu), ["a", "b", "c"]);
        assert_eq!(words(r#""a b" 'c "d' e\ f"#, split_gnu), ["a b", "c \"d", "e f"]);
        assert_eq!(words(r#"x"y z"'w' '' "\"" '\''"#, split_gnu), ["xy zw", "", "\"", "'"]);
        assert_eq!(words("\u{feff}a\\", split_gnu), ["a\\"]);
        assert_eq!(words("'open end", split_gnu), ["open end"]);
        assert_eq!(words("  ", split_gnu), [""; 0]);
    }

    #[test]
    fn windows_quoting() {
        assert_eq!(words(r#"c:\a\b "c d" 'e"#, split_windows), [r"c:\a\b", "c d", "'e"]);
        assert_eq!(words(r#"a\\b "a\\" \" "x""y""#, split_windows), [r"a\\b", r"a\", "\"", "x\"y"]);
        assert_eq!(words(r#"\\\"a "" \\\\"b c""#, split_windows), [r#"\"a"#, "", r"\\b c"]);
        assert_eq!(words(r#"a "b\"#, split_windows), ["a", r"b\"]);
    }

    fn file(dir: &TestDir, name: &str, text: &str) -> String {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn expand(args: &[String]) -> Result<Vec<String>, String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let expanded = Expanded::read(&args, Quoting::Gnu).map_err(|d| d.message)?;
        Ok(expanded.args().iter().map(|a| a.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn nested_files_are_expanded_in_place() {
        let dir = TestDir::new("response-nested");
        let inner = file(&dir, "inner", "b 'c d'");
        let outer = file(&dir, "outer", &format!("a @{inner} @{inner} e @"));
        let got = expand(&["x".into(), format!("@{outer}"), "y".into()]).unwrap();
        assert_eq!(got, ["x", "a", "b", "c d", "b", "c d", "e", "@", "y"]);
    }

    #[test]
    fn a_missing_file_is_an_ordinary_argument() {
        let got = expand(&["@/no/such/file".into(), "@".into()]).unwrap();
        assert_eq!(got, ["@/no/such/file", "@"]);
    }

    #[test]
    fn a_file_that_includes_itself_is_an_error() {
        let dir = TestDir::new("response-circle");
        let a = dir.path().join("a").to_str().unwrap().to_owned();
        let b = file(&dir, "b", &format!("@{a}"));
        file(&dir, "a", &format!("x @{b}"));
        let message = expand(&[format!("@{a}")]).unwrap_err();
        assert_eq!(message, format!("cannot read response file {a}: it includes itself"));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = TestDir::new("response-unreadable");
        let path = dir.path().to_str().unwrap();
        let message = expand(&[format!("@{path}")]).unwrap_err();
        assert_eq!(message, format!("cannot read response file {path}: Is a directory"));
        let wide = file(&dir, "wide", "");
        std::fs::write(&wide, b"\xff\xfea\0\0").unwrap();
        assert!(expand(&[format!("@{wide}")]).unwrap_err().ends_with("its mark says UTF-16, and it is none"));
    }

    #[test]
    fn utf_16_in_both_orders() {
        let dir = TestDir::new("response-utf-16");
        let path = file(&dir, "wide", "");
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let text: Vec<u8> = "\u{feff}a 'b \u{e4}'".encode_utf16().flat_map(order).collect();
            std::fs::write(&path, text).unwrap();
            assert_eq!(expand(&[format!("@{path}")]).unwrap(), ["a", "b \u{e4}"]);
        }
    }

    #[test]
    fn files_that_multiply_are_bounded() {
        let dir = TestDir::new("response-bomb");
        let mut name = file(&dir, "f0", "x");
        for i in 1..20 {
            name = file(&dir, &format!("f{i}"), &format!("@{name} @{name}"));
        }
        assert!(expand(&[format!("@{name}")]).unwrap_err().ends_with("too many response files"));
    }
}
