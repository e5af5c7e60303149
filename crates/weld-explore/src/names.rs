//! The texts of a page, each once: names of symbols, sections, files, and reasons.
//!
//! They are UTF-8 with a NUL behind each. The names of a large program are ten times its tables, and half of them are
//! sections that are called for symbols: a page has [`REPEAT`] at the end of a text that ends with the one before it.

use std::borrow::Cow;

use weld_common::hash::hash_bytes;
use weld_common::hash_index::HashIndex;

/// A text of [`Names`]: its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u32);

impl Name {
    /// The empty text: there is no name, or it is not known.
    pub const NONE: Name = Name(0);

    pub fn is_none(self) -> bool {
        self == Name::NONE
    }
}

/// What a page has for the whole text before, at the end of a text.
pub const REPEAT: char = '\u{1}';

/// Shorter ones are not repeated.
const SHORTEST: usize = 4;

/// Longer texts are cut: nobody reads them, and a page is to be small.
pub const LONGEST: usize = 2000;

/// The texts, by number. Number 0 is the empty one.
pub struct Names {
    /// Each text with a NUL behind it.
    bytes: Vec<u8>,
    /// Where each ends, its NUL included.
    ends: Vec<usize>,
    index: HashIndex,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { bytes: Vec::new(), ends: Vec::new(), index: HashIndex::default() };
        names.add("");
        names
    }
}

impl Names {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// All of them as a page has them, one behind the other, each with a NUL at its end. `may_repeat` says of which names
    /// the page may have [`REPEAT`] in place of the one before.
    pub fn packed(&self, may_repeat: impl Fn(Name) -> bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len());
        let mut before: &[u8] = &[];
        for number in 0..self.count() {
            let text = self.text(number);
            match text.strip_suffix(before) {
                Some(start) if before.len() >= SHORTEST && may_repeat(Name(number as u32)) => {
                    out.extend_from_slice(start);
                    out.extend([REPEAT as u8, 0]);
                }
                _ => {
                    out.extend_from_slice(text);
                    out.push(0);
                }
            }
            before = text;
        }
        out
    }

    /// The text with this number; empty if there is none.
    pub fn get(&self, name: Name) -> &str {
        std::str::from_utf8(self.text(name.0 as usize)).unwrap_or_default()
    }

    fn text(&self, number: usize) -> &[u8] {
        let Some(end) = self.ends.get(number) else { return &[] };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..end - 1]
    }

    /// The number of a text, which may be new.
    pub fn add(&mut self, text: &str) -> Name {
        let text = presentable(text);
        self.add_hashed(&text, hash_bytes(text.as_bytes()))
    }

    /// The same of a text that [`presentable`] has made, with its hash.
    pub(crate) fn add_hashed(&mut self, text: &str, hash: u64) -> Name {
        let Names { bytes, ends, index } = self;
        let is = |number: usize| {
            let start = number.checked_sub(1).map_or(0, |before| ends[before]);
            bytes[start..ends[number] - 1] == *text.as_bytes()
        };
        match index.find_or_add(hash, ends.len(), is) {
            Ok(number) => Name(number),
            Err(number) => {
                bytes.extend_from_slice(text.as_bytes());
                bytes.push(0);
                ends.push(bytes.len());
                Name(number)
            }
        }
    }

    /// Reads what [`Self::packed`] has written; `None` if that is no list of texts, or they take more than `most` bytes.
    pub fn parse(bytes: &[u8], most: usize) -> Option<Names> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut names = Names::default();
        let mut list = text.split_terminator('\0');
        if !text.ends_with('\0') || list.next() != Some("") {
            return None;
        }
        // A text that is there twice has two numbers, so nothing is looked up.
        for text in list {
            let before = names.ends.len().checked_sub(2).map_or(0, |two| names.ends[two]);
            let before = before..names.ends.last()? - 1;
            match text.strip_suffix(REPEAT) {
                Some(start) => {
                    names.bytes.extend_from_slice(start.as_bytes());
                    names.bytes.extend_from_within(before);
                }
                None => names.bytes.extend_from_slice(text.as_bytes()),
            }
            names.bytes.push(0);
            names.ends.push(names.bytes.len());
            if names.bytes.len() > most {
                return None;
            }
        }
        names.index = HashIndex::default();
        for number in 0..names.ends.len() {
            // That a number is found that is not its own does not matter: the texts are the same.
            _ = names.index.find_or_add(hash_bytes(names.text(number)), number, |_| false);
        }
        Some(names)
    }
}

/// `text` as a page can have it: without NULs and [`REPEAT`], and not too long.
pub(crate) fn presentable(text: &str) -> Cow<'_, str> {
    const NEITHER: [char; 2] = ['\0', REPEAT];
    let mut text = match text.contains(NEITHER) {
        true => Cow::Owned(text.replace(NEITHER, "\u{fffd}")),
        false => Cow::Borrowed(text),
    };
    if text.len() > LONGEST {
        let end = text.floor_char_boundary(LONGEST);
        text = Cow::Owned(format!("{}…", &text[..end]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_once() {
        let mut names = Names::default();
        let (a, b) = (names.add("a"), names.add("b"));
        assert_eq!((names.add("a"), names.add(""), a, b), (a, Name::NONE, Name(1), Name(2)));
        assert_eq!(
            (names.get(b), names.get(Name(9)), names.packed(|_| true)),
            ("b", "", b"\0a\0b\0".to_vec())
        );
        let mut again = Names::parse(&names.packed(|_| true), 100).expect("they can be read");
        assert_eq!((again.count(), again.get(a)), (3, "a"));
        assert_eq!((again.add("b"), again.add("c")), (b, Name(3)));
    }

    #[test]
    fn texts_that_end_with_the_one_before() {
        let mut names = Names::default();
        for text in
            ["main", ".text.main", ".text.main()", "abc", ".abc", "x::main", "y::x::main", "z::y::x::main"]
        {
            names.add(text);
        }
        let packed = names.packed(|name| name.0 < 6 || name.0 > 7);
        assert_eq!(packed, b"\0main\0.text.\x01\0.text.main()\0abc\0.abc\0x::main\0y::x::main\0z::\x01\0");
        let again = Names::parse(&packed, 100).expect("they can be read");
        assert_eq!((again.get(Name(2)), again.get(Name(8))), (".text.main", "z::y::x::main"));
        assert_eq!(again.packed(|name| name.0 < 6 || name.0 > 7), packed);
        assert!(Names::parse(&packed, packed.len()).is_none(), "too much");
    }

    #[test]
    fn what_no_page_can_have_is_changed() {
        let mut names = Names::default();
        let name = names.add("a\0b\u{1}");
        assert_eq!(names.get(name), "a\u{fffd}b\u{fffd}");
        let name = names.add(&"ä".repeat(LONGEST));
        assert!(names.get(name).len() <= LONGEST + 3 && names.get(name).ends_with("ä…"));
    }

    #[test]
    fn damaged_lists() {
        for bytes in [&b""[..], b"a\0", b"\0a", b"\0\xff\0"] {
            assert!(Names::parse(bytes, 100).is_none(), "{bytes:?}");
        }
    }
}
