//! The texts of a page, each once: names of symbols, sections, files, and reasons.
//!
//! A page has them as numbers of words ([`crate::words`]). Most are entered by all threads at once ([`many`]).

pub(crate) mod many;

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

/// Where a text is.
#[derive(Clone, Copy)]
struct Place {
    chunk: u32,
    start: u32,
    length: u32,
}

impl Place {
    fn text(self, chunks: &[Vec<u8>]) -> &[u8] {
        let start = self.start as usize;
        &chunks[self.chunk as usize][start..start + self.length as usize]
    }
}

/// The texts, by number. Number 0 is the empty one.
pub struct Names {
    /// The texts: those that were added one by one, then those of each run of [`many`], as that has them. One that ends with
    /// another may share its bytes.
    chunks: Vec<Vec<u8>>,
    places: Vec<Place>,
    /// By the highest bits of hashes ([`shard_of`]).
    shards: Vec<Shard>,
}

/// Texts of some hashes: the numbers of its entries, [`UNUSED`] for those that have none.
#[derive(Default)]
struct Shard {
    index: HashIndex,
    numbers: Vec<u32>,
}

/// So many indexes are so small that each fits the cache of a processor when a million names are entered.
const SHARDS: usize = 64;

const UNUSED: u32 = u32::MAX;

fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARDS.ilog2())) as usize
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names::nothing();
        names.add("");
        names
    }
}

impl Names {
    fn nothing() -> Names {
        let shards = std::iter::repeat_with(Shard::default).take(SHARDS).collect();
        Names { chunks: vec![Vec::new()], places: Vec::new(), shards }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.places.len()
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
        self.places.get(number).map_or(&[], |place| place.text(&self.chunks))
    }

    /// The number of a text, which may be new.
    pub fn add(&mut self, text: &str) -> Name {
        let text = presentable(text);
        let text = text.as_bytes();
        let hash = hash_bytes(text);
        let Names { chunks, places, shards } = self;
        let Shard { index, numbers } = &mut shards[shard_of(hash)];
        let is = |entry: usize| {
            let place = places.get(numbers[entry] as usize);
            place.is_some_and(|place| place.text(chunks) == text)
        };
        match index.find_or_add(hash, numbers.len(), is) {
            Ok(entry) => Name(numbers[entry as usize]),
            Err(_) => {
                numbers.push(places.len() as u32);
                let (start, length) = (chunks[0].len() as u32, text.len() as u32);
                places.push(Place { chunk: 0, start, length });
                chunks[0].extend_from_slice(text);
                Name(places.len() as u32 - 1)
            }
        }
    }

    /// Reads what [`Self::packed`] has written; `None` if that is no list of texts, or they take more than `most` bytes.
    pub fn parse(packed: &Packed, most: usize) -> Option<Names> {
        let mut names = Names::nothing();
        let mut start = 0;
        words::unpack(packed, &mut names.chunks[0], most.min(u32::MAX as usize), |end| {
            // There is a NUL behind each.
            names.places.push(Place { chunk: 0, start: start as u32, length: (end - 1 - start) as u32 });
            start = end;
        })?;
        // Each text by itself: a damaged page may have half a character in one and the rest in the next.
        let is_text = |number| std::str::from_utf8(names.text(number)).is_ok();
        if names.places.first().is_none_or(|first| first.length > 0) || !(0..names.count()).all(is_text) {
            return None;
        }
        // A text that is there twice has two numbers, so nothing is looked up.
        for number in 0..names.count() {
            let hash = hash_bytes(names.text(number));
            let Shard { index, numbers } = &mut names.shards[shard_of(hash)];
            // That a number is found that is not its own does not matter: the texts are the same.
            _ = index.find_or_add(hash, numbers.len(), |_| false);
            numbers.push(number as u32);
        }
        Some(names)
    }
}

/// `text` as a page can have it: without NULs, and not too long.
pub(crate) fn presentable(text: &str) -> Cow<'_, str> {
    let mut text = match memchr::memchr(0, text.as_bytes()).is_some() {
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
