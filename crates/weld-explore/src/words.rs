//! The texts of a page as numbers of the words that they are made of.
//!
//! The names of a program are its largest part in a page, and say the same few thousand words over and over, mostly
//! further apart than deflate looks back. So the page has each word once, and texts as codes for words: real programs
//! take a third less then, in a third of the bytes that have to be unpacked.
//!
//! A code is a byte, and of rarer words one or three more ([`Code`]). Words that are there less than [`OFTEN`] times have
//! no number: they stand in a list of their own, in the order in which texts have them.

use std::cmp::Reverse;
use std::ops::Range;

use weld_common::hash::{hash_bytes, join};
use weld_common::hash_index::HashIndex;
use weld_common::prefetch::prefetch;
use weld_common::{par, trace};

/// How often a word is there that has a number.
const OFTEN: u32 = 3;

/// A text of fewer bytes is not repeated by the next one.
const SHORTEST: usize = 4;

/// Texts that one task takes apart.
const RUN: usize = 1 << 14;

/// What the bytes of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// 0: the text is over.
    End,
    /// 1: the next word of those without a number.
    Next,
    /// 2, at the end of a text only: the text before this one.
    Before,
    /// 3 to 194: words 0 to 191. 195 to 254: after each, a byte, the next 256 words. 255: all others, less those, in
    /// three bytes, the lowest first.
    Word(u32),
}

const FIRST: u8 = 3;
const SHORT: u32 = 192;
const LONG: u8 = 255;
/// The first byte of codes with two.
const PAIRS: u8 = FIRST + SHORT as u8;
/// Words whose codes have one byte or two.
const MIDDLE: u32 = SHORT + (LONG - PAIRS) as u32 * 256;
/// More do not have a number.
const MOST: usize = MIDDLE as usize + (1 << 24);

impl Code {
    fn put(self, out: &mut Vec<u8>) {
        match self {
            Code::End => out.push(0),
            Code::Next => out.push(1),
            Code::Before => out.push(2),
            Code::Word(word) if word < SHORT => out.push(FIRST + word as u8),
            Code::Word(word) if word < MIDDLE => {
                let rest = word - SHORT;
                out.extend([PAIRS + (rest >> 8) as u8, rest as u8]);
            }
            Code::Word(word) => {
                out.push(LONG);
                out.extend_from_slice(&(word - MIDDLE).to_le_bytes()[..3]);
            }
        }
    }

    /// The code that `bytes` begin with, which are cut by it.
    fn take(bytes: &mut &[u8]) -> Option<Code> {
        let mut next = || bytes.split_off_first().map(|byte| u32::from(*byte));
        Some(match next()? {
            0 => Code::End,
            1 => Code::Next,
            2 => Code::Before,
            first if first < u32::from(PAIRS) => Code::Word(first - u32::from(FIRST)),
            first if first < u32::from(LONG) => {
                Code::Word(SHORT + ((first - u32::from(PAIRS)) << 8 | next()?))
            }
            _ => Code::Word(MIDDLE + (next()? | next()? << 8 | next()? << 16)),
        })
    }
}

/// Texts as a page has them.
#[derive(Default)]
pub struct Packed {
    /// Those with numbers, by these, then the others in their order; each with a NUL behind it.
    pub words: Vec<u8>,
    /// How many have numbers.
    pub numbered: usize,
    /// The codes of all texts.
    pub codes: Vec<u8>,
}

/// Letters, digits, and all that is no ASCII.
const LETTERS: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        letters[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte >= 0x80;
        byte += 1;
    }
    letters
};

/// Splits `text` where its first word ends: letters with `::` behind them, and with what stands in front of them, of which
/// there is little (`(char`, `, int`), unless that ends a path (`>::f`): it is a word then. No character is ever cut.
fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let is_letter = |byte: &u8| LETTERS[usize::from(*byte)];
    let start = text.iter().position(is_letter).unwrap_or(text.len());
    if matches!(text[..start], [.., b':']) {
        return text.split_at(start);
    }
    let letters = text[start..].iter().position(|byte| !is_letter(byte));
    let end = letters.map_or(text.len(), |letters| start + letters);
    let colons = matches!(text[end..], [b':', b':', ..]);
    text.split_at(if colons { end + 2 } else { end })
}

/// A word of a run of texts.
struct Word<'t> {
    text: &'t [u8],
    /// Its first bytes, with zeroes behind it: most words are no longer, and are compared by it.
    head: u128,
    hash: u64,
    times: u32,
}

/// Bytes in the head of a word.
const HEAD: usize = size_of::<u128>();

/// The head of the word of `length` bytes with which `text` starts.
fn head(text: &[u8], length: usize) -> u128 {
    match text.first_chunk::<HEAD>() {
        Some(first) if length >= HEAD => u128::from_le_bytes(*first),
        Some(first) => u128::from_le_bytes(*first) & ((1 << (8 * length)) - 1),
        None => {
            let mut first = [0; HEAD];
            first[..length].copy_from_slice(&text[..length]);
            u128::from_le_bytes(first)
        }
    }
}

/// The words of a run of texts, and the texts as numbers of these.
#[derive(Default)]
struct Run<'t> {
    words: Vec<Word<'t>>,
    texts: Vec<u32>,
}

const END: u32 = u32::MAX;
const BEFORE: u32 = u32::MAX - 1;

/// A word that is about to be entered; or, if it is empty, what its hash stands for.
struct Next<'t> {
    text: &'t [u8],
    head: u128,
    hash: u64,
}

/// So many words are entered together, so that the processor waits for the places of many at the same time.
const BATCH: usize = 128;

impl<'t> Run<'t> {
    fn of(texts: Range<usize>, text: &impl Fn(usize) -> &'t [u8]) -> Run<'t> {
        // Names have some words each.
        const USUAL: usize = 7;
        let mut run = Run {
            words: Vec::with_capacity(texts.len() / 4),
            texts: Vec::with_capacity(texts.len() * USUAL),
        };
        let mut index = HashIndex::default();
        let mut batch: Vec<Next> = Vec::with_capacity(2 * BATCH);
        let mut before = texts.start.checked_sub(1).map_or(&[][..], text);
        for number in texts {
            let whole = text(number);
            let (mut rest, repeats) = match whole.strip_suffix(before) {
                Some(start) if before.len() >= SHORTEST => (start, true),
                _ => (whole, false),
            };
            before = whole;
            while !rest.is_empty() {
                let (word, others) = first_word(rest);
                let head = head(rest, word.len());
                let is_short = word.len() <= HEAD;
                let hash = if is_short { join(head as u64, (head >> 64) as u64) } else { hash_bytes(word) };
                index.prefetch(hash);
                batch.push(Next { text: word, head, hash });
                rest = others;
            }
            let marks = repeats.then_some(BEFORE).into_iter().chain([END]);
            batch.extend(marks.map(|mark| Next { text: &[], head: 0, hash: u64::from(mark) }));
            if batch.len() >= BATCH {
                run.enter(&mut batch, &mut index);
            }
        }
        run.enter(&mut batch, &mut index);
        run
    }

    fn enter(&mut self, batch: &mut Vec<Next<'t>>, index: &mut HashIndex) {
        let words = &mut self.words;
        for next in batch.iter() {
            if let Some(likely) = index.likely(next.hash) {
                prefetch(words, likely as usize);
            }
        }
        for Next { text, head, hash } in batch.drain(..) {
            if text.is_empty() {
                self.texts.push(hash as u32);
                continue;
            }
            let is_short = text.len() <= HEAD;
            let is = |other: usize| {
                let other = &words[other];
                other.head == head && (is_short && other.text.len() <= HEAD || other.text == text)
            };
            let number = index.find_or_add(hash, words.len(), is).unwrap_or_else(|new| {
                words.push(Word { text, head, hash, times: 0 });
                new
            });
            words[number as usize].times += 1;
            self.texts.push(number);
        }
    }

    /// The codes, and the words without a number; `numbers` are those of the run's words.
    fn codes(&self, numbers: &[u32]) -> (Vec<u8>, Vec<u8>) {
        let (mut codes, mut others) = (Vec::with_capacity(self.texts.len() * 2), Vec::new());
        for &token in &self.texts {
            let code = match token {
                END => Code::End,
                BEFORE => Code::Before,
                word if numbers[word as usize] != NONE => Code::Word(numbers[word as usize]),
                word => {
                    others.extend_from_slice(self.words[word as usize].text);
                    others.push(0);
                    Code::Next
                }
            };
            code.put(&mut codes);
        }
        (codes, others)
    }
}

/// Has no number.
const NONE: u32 = u32::MAX;

/// `count` texts, none of which has a NUL, by their numbers.
pub fn pack<'t>(count: usize, text: impl Fn(usize) -> &'t [u8] + Sync, parallel: bool) -> Packed {
    let runs = par::runs("take names apart", parallel, count, RUN, |range| Run::of(range, &text));
    let numbering = trace::stretch("number words");
    // All words, each once, and which of these each run's are.
    let mut index = HashIndex::default();
    let mut all: Vec<(&[u8], u32)> = Vec::new();
    let mut places: Vec<Vec<u32>> = Vec::with_capacity(runs.len());
    for run in &runs {
        let place = |Word { text, hash, times, .. }: &Word<'t>| {
            let found = index.find_or_add(*hash, all.len(), |other| all[other].0 == *text);
            let number = found.unwrap_or_else(|new| {
                all.push((text, 0));
                new
            });
            all[number as usize].1 += times;
            number
        };
        places.push(run.words.iter().map(place).collect());
    }
    let mut often: Vec<u32> = (0..all.len() as u32).filter(|word| all[*word as usize].1 >= OFTEN).collect();
    often.sort_by_key(|word| Reverse(all[*word as usize].1));
    often.truncate(MOST);
    let mut numbers = vec![NONE; all.len()];
    let mut packed = Packed { numbered: often.len(), ..Packed::default() };
    for (number, word) in (0..).zip(often) {
        numbers[word as usize] = number;
        packed.words.extend_from_slice(all[word as usize].0);
        packed.words.push(0);
    }
    drop(numbering);
    let coded = par::runs("code names", parallel, runs.len(), 1, |range| {
        let codes = |run: usize| {
            let numbers: Vec<u32> = places[run].iter().map(|place| numbers[*place as usize]).collect();
            runs[run].codes(&numbers)
        };
        range.map(codes).collect::<Vec<_>>()
    });
    let (codes, others): (Vec<_>, Vec<_>) = coded.into_iter().flatten().unzip();
    packed.codes = par::concat("join codes", parallel, codes);
    others.iter().for_each(|others| packed.words.extend_from_slice(others));
    packed
}

/// Appends the texts to `out`, each with a NUL behind it, and calls `ends` with where each one is over; `None` if `words`
/// and `codes` are none that [`pack`] has written, or `out` would have more than `most` bytes.
pub fn unpack(packed: &Packed, out: &mut Vec<u8>, most: usize, mut ends: impl FnMut(usize)) -> Option<()> {
    let mut words: Vec<&[u8]> = packed.words.split(|byte| *byte == 0).collect();
    // Behind the last NUL is nothing.
    words.pop_if(|last| last.is_empty())?;
    let (numbered, others) = words.split_at_checked(packed.numbered)?;
    let mut others = others.iter();
    let mut codes = &packed.codes[..];
    let (mut before, mut start) = (0..0, out.len());
    while !codes.is_empty() {
        match Code::take(&mut codes)? {
            Code::Next => out.extend_from_slice(others.next()?),
            Code::Word(word) => out.extend_from_slice(numbered.get(word as usize)?),
            Code::Before if codes.first() == Some(&0) => out.extend_from_within(before.clone()),
            Code::Before => return None,
            Code::End => {
                before = start..out.len();
                out.push(0);
                start = out.len();
                ends(start);
            }
        }
        if out.len() > most {
            return None;
        }
    }
    (start == out.len() && others.next().is_none()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str]) -> Packed {
        let packed = pack(texts.len(), |number| texts[number].as_bytes(), false);
        let (mut out, mut places) = (Vec::new(), Vec::new());
        unpack(&packed, &mut out, 1 << 24, |end| places.push(end)).expect("it can be read");
        let want: String = texts.iter().map(|text| format!("{text}\0")).collect();
        assert_eq!(String::from_utf8(out).expect("UTF-8"), want);
        assert_eq!(places.len(), texts.len());
        packed
    }

    #[test]
    fn words_of_texts() {
        let split = |text: &'static str| {
            let mut rest = text.as_bytes();
            let mut words = Vec::new();
            while !rest.is_empty() {
                let (word, others) = first_word(rest);
                words.push(std::str::from_utf8(word).expect("UTF-8"));
                rest = others;
            }
            words
        };
        assert_eq!(
            split("std::größe<int>::f_1(char*)"),
            ["std::", "größe", "<int", ">::", "f_1", "(char", "*)"]
        );
        assert_eq!(split("::a:b:"), ["::", "a", ":", "b", ":"]);
    }

    #[test]
    fn codes() {
        let texts = ["", "a::f", "a::g", "a::h", ".text.a::h", "f"];
        let packed = check(&texts);
        assert_eq!((&packed.words[..], packed.numbered), (&b"a::\0f\0g\0h\0.text\0.\0f\0"[..], 1));
        assert_eq!(packed.codes, [0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 1, 1, 2, 0, 1, 0]);
        for code in [0, 191, 192, 447, 448, MIDDLE - 1, MIDDLE, MOST as u32 - 1].map(Code::Word) {
            let mut bytes = Vec::new();
            code.put(&mut bytes);
            let mut rest = &bytes[..];
            assert_eq!((Code::take(&mut rest), rest), (Some(code), &[][..]));
            assert_eq!(Code::take(&mut &bytes[..bytes.len() - 1]), None, "{code:?}");
        }
    }

    #[test]
    fn many_texts_the_same_for_any_number_of_threads() {
        let mut seed = 5u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) % below
        };
        let texts: Vec<String> = (0..12 * RUN)
            .map(|i| match i % 3 {
                0 => format!("w{}::v{}(int)", random(900), random(12_000)),
                1 => format!("{}", random(12_000)),
                _ => "x".repeat(random(9) as usize),
            })
            .collect();
        let list: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let packed = check(&list);
        assert!(packed.numbered > MIDDLE as usize, "all kinds of codes");
        let again = pack(list.len(), |number| list[number].as_bytes(), true);
        assert_eq!((packed.words, packed.codes), (again.words, again.codes));
    }

    #[test]
    fn what_nobody_has_written() {
        let refuses = |words: &[u8], numbered, codes: &[u8]| {
            let packed = Packed { words: words.to_vec(), numbered, codes: codes.to_vec() };
            unpack(&packed, &mut Vec::new(), 1000, |_| ()).is_none()
        };
        assert!(!refuses(b"a\0b\0", 1, &[3, 1, 0]));
        assert!(refuses(b"a\0b", 1, &[3, 1, 0]), "no NUL at the end");
        assert!(refuses(b"a\0b\0", 3, &[3, 1, 0]), "more numbers than words");
        assert!(refuses(b"a\0b\0", 1, &[4, 1, 0]), "a word that is not there");
        assert!(refuses(b"a\0b\0", 1, &[3, 0]), "a word of which nobody asks");
        assert!(refuses(b"a\0b\0", 1, &[3, 1, 1, 0]), "no more words");
        assert!(refuses(b"a\0b\0", 1, &[3, 1]), "a text without an end");
        assert!(refuses(b"a\0b\0", 1, &[3, 195]), "half a code");
        assert!(refuses(b"a\0b\0", 1, &[3, 0, 2, 1, 0]), "a repetition inside of a text");
        let longer: Vec<u8> = [3, 0].into_iter().chain([3, 2, 0].repeat(60)).collect();
        assert!(refuses(b"abc\0", 1, &longer), "too much");
    }
}
