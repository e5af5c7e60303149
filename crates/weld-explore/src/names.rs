//! The texts of a page, each once: names of symbols, sections, files, and reasons.
//!
//! They are UTF-8 with a NUL behind each. A page has them as numbers of words ([`crate::words`]).

use std::borrow::Cow;

use weld_common::hash::hash_bytes;
use weld_common::hash_index::HashIndex;

use crate::words::{self, Packed};

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

    /// All of them as a page has them.
    pub fn packed(&self, parallel: bool) -> Packed {
        words::pack(self.count(), |number| self.text(number), parallel)
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

    /// Makes room for `count` more.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.ends.reserve(count);
        self.index.reserve(self.ends.len() + count + 1);
    }

    /// Asks for where a text with this hash is looked for.
    pub(crate) fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
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
    pub fn parse(packed: &Packed, most: usize) -> Option<Names> {
        let mut names = Names { bytes: Vec::new(), ends: Vec::new(), index: HashIndex::default() };
        words::unpack(packed, &mut names.bytes, most, |end| names.ends.push(end))?;
        // Each text by itself: a damaged page may have half a character in one and the rest in the next.
        let is_text = |number| std::str::from_utf8(names.text(number)).is_ok();
        if names.ends.first() != Some(&1) || !(0..names.count()).all(is_text) {
            return None;
        }
        // A text that is there twice has two numbers, so nothing is looked up.
        for number in 0..names.ends.len() {
            // That a number is found that is not its own does not matter: the texts are the same.
            _ = names.index.find_or_add(hash_bytes(names.text(number)), number, |_| false);
        }
        Some(names)
    }
}

/// `text` as a page can have it: without NULs, and not too long.
pub(crate) fn presentable(text: &str) -> Cow<'_, str> {
    let mut text = match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
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
        assert_eq!((names.get(b), names.get(Name(9))), ("b", ""));
        let mut again = Names::parse(&names.packed(false), 100).expect("they can be read");
        assert_eq!((again.count(), again.get(a)), (3, "a"));
        assert_eq!((again.add("b"), again.add("c")), (b, Name(3)));
    }

    #[test]
    fn what_no_page_can_have_is_changed() {
        let mut names = Names::default();
        let name = names.add("a\0b\u{1}");
        assert_eq!(names.get(name), "a\u{fffd}b\u{1}");
        let name = names.add(&"ä".repeat(LONGEST));
        assert!(names.get(name).len() <= LONGEST + 3 && names.get(name).ends_with("ä…"));
    }

    #[test]
    fn damaged_lists() {
        let list =
            |words: &[u8], codes: &[u8]| Packed { words: words.to_vec(), numbered: 0, codes: codes.to_vec() };
        assert!(Names::parse(&list(b"a\0", &[0, 1, 0]), 100).is_some());
        assert!(Names::parse(&list(b"a\0", &[0, 1, 0]), 2).is_none(), "too much");
        assert!(Names::parse(&list(b"a\0", &[1, 0]), 100).is_none(), "the first is empty");
        assert!(Names::parse(&list(b"", &[]), 100).is_none());
        let halves = list("ä\0".as_bytes(), &[0, 1, 0]);
        assert!(Names::parse(&halves, 100).is_some());
        assert!(Names::parse(&list(b"\xc3\0\xa4\0", &[0, 1, 0, 1, 0]), 100).is_none(), "half a character");
    }
}
