//! The symbol index of an archive: which member defines which name.
//!
//! GNU and COFF (`/`, `/SYM64/`): a big-endian count, that many big-endian offsets of member
//! headers, then that many NUL-terminated names in the same order. BSD (`__.SYMDEF`): the size in
//! bytes of an array of (name position, header offset) pairs, the array, the size of the name table,
//! the table; in the byte order of the target, so it is found by what fits.
//!
//! Large libraries list a million symbols, and every name in the index is interned. So reading it is
//! one pass: the offsets in step with `memchr` over the names, about 10 ns a symbol. The index is
//! checked as a whole when the archive is parsed (for GNU by counting NULs, at memory speed), which
//! is why iterating cannot fail.

use std::ops::Range;

use super::{ArchiveError, err};
use crate::hash::{hash_bytes, hash_until_nul};

/// A symbol index with at least one symbol.
#[derive(Clone, Copy, Debug)]
pub struct Armap<'a> {
    layout: Layout,
    count: usize,
    /// GNU: the offsets. BSD: the pairs.
    entries: &'a [u8],
    names: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Gnu { wide: bool },
    Bsd { wide: bool, big_endian: bool },
}

impl<'a> Armap<'a> {
    /// Reads a GNU or COFF index. `start` is the offset of `data` in the archive, for messages.
    pub(super) fn gnu(data: &'a [u8], start: u64, wide: bool) -> Result<Option<Self>, ArchiveError> {
        let word = word_size(wide);
        let count = word_at(data, 0, wide, true).and_then(|count| usize::try_from(count).ok());
        let entries = |count: usize| {
            let end = count.checked_mul(word)?.checked_add(word)?;
            Some((data.get(word..end)?, &data[end..]))
        };
        let Some((count, (entries, names))) = count.and_then(|count| Some((count, entries(count)?))) else {
            return err(start, "symbol index is larger than its member");
        };
        if memchr::memchr_iter(0, names).count() < count {
            return err(start, "symbol index has fewer names than symbols");
        }
        let layout = Layout::Gnu { wide };
        Ok((count > 0).then_some(Armap { layout, count, entries, names }))
    }

    /// Reads a BSD index.
    pub(super) fn bsd(data: &'a [u8], start: u64, wide: bool) -> Result<Option<Self>, ArchiveError> {
        let found = [false, true].into_iter().find_map(|big| Self::bsd_in_order(data, wide, big));
        match found {
            Some(armap) => Ok((armap.count > 0).then_some(armap)),
            None => err(start, "symbol index does not fit its member"),
        }
    }

    fn bsd_in_order(data: &'a [u8], wide: bool, big_endian: bool) -> Option<Self> {
        let word = word_size(wide);
        let sized = |data: &'a [u8]| {
            let size = usize::try_from(word_at(data, 0, wide, big_endian)?).ok()?;
            data[word..].split_at_checked(size)
        };
        let (entries, rest) = sized(data)?;
        let (names, _) = sized(rest)?;
        let armap = Armap {
            layout: Layout::Bsd { wide, big_endian },
            count: entries.len() / (2 * word),
            entries,
            names,
        };
        let whole = entries.len() % (2 * word) == 0;
        let inside = |i| armap.bsd_position(i).is_some_and(|p| p < names.len());
        (whole && (0..armap.count).all(inside)).then_some(armap)
    }

    /// The number of symbols, at least 1.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The offsets of the members that the index names, in order, each once.
    pub fn members(&self) -> Vec<u64> {
        let mut offsets: Vec<u64> = Vec::new();
        for i in 0..self.count() {
            let offset = self.offset(i);
            if offsets.last() != Some(&offset) {
                offsets.push(offset);
            }
        }
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    /// Whether names stand one after the other, in the order of the symbols.
    pub fn is_gnu(&self) -> bool {
        matches!(self.layout, Layout::Gnu { .. })
    }

    /// The header offset of the member that defines symbol `i`. Panics unless `i < count()`.
    pub fn offset(&self, i: usize) -> u64 {
        assert!(i < self.count);
        let (position, wide, big_endian) = match self.layout {
            Layout::Gnu { wide } => (i * word_size(wide), wide, true),
            Layout::Bsd { wide, big_endian } => ((2 * i + 1) * word_size(wide), wide, big_endian),
        };
        word_at(self.entries, position, wide, big_endian).expect("the entries hold `count` symbols")
    }

    /// The bytes of all names: one after the other, each ended by a NUL, and for GNU and COFF in the
    /// order of the symbols. There may be bytes after the last name.
    pub fn names(&self) -> &'a [u8] {
        self.names
    }

    /// All symbols in order.
    pub fn symbols(&self) -> Symbols<'a> {
        Symbols { armap: *self, range: 0..self.count, names: self.names }
    }

    /// The symbols cut into at most `parts` runs of about the same size, to be read in parallel. Put
    /// together they are [`Armap::symbols`]. Counts the names once more.
    pub fn split(&self, parts: usize) -> Vec<Symbols<'a>> {
        let parts = parts.clamp(1, self.count);
        let mut runs = Vec::with_capacity(parts);
        let (mut index, mut names) = (0, self.names);
        for left in (1..=parts).rev() {
            let gnu = self.is_gnu();
            let run = if gnu { leading_names(names, left) } else { names };
            let end = match left {
                1 => self.count,
                _ if gnu => self.count.min(index + memchr::memchr_iter(0, run).count()),
                _ => index + (self.count - index) / left,
            };
            runs.push(Symbols { armap: *self, range: index..end, names: run });
            index = end;
            if gnu {
                names = &names[run.len()..];
            }
        }
        runs.retain(|run| !run.range.is_empty());
        runs
    }

    /// Where the name of symbol `i` begins in the names of a BSD index.
    fn bsd_position(&self, i: usize) -> Option<usize> {
        let Layout::Bsd { wide, big_endian } = self.layout else { return None };
        usize::try_from(word_at(self.entries, 2 * i * word_size(wide), wide, big_endian)?).ok()
    }
}

/// Iterates over symbols as (name, offset of the member's header); see [`super::Archive::symbols`].
#[derive(Clone, Debug)]
pub struct Symbols<'a> {
    armap: Armap<'a>,
    range: Range<usize>,
    /// GNU: the names of `range` and what follows. BSD: all names.
    names: &'a [u8],
}

impl<'a> Symbols<'a> {
    /// Bytes among which all names of this run are; there may be others.
    pub fn names(&self) -> &'a [u8] {
        self.names
    }

    /// As the iterator itself, with [`hash_bytes`] of the name in the middle.
    pub fn hashed(mut self) -> impl Iterator<Item = (&'a [u8], u64, u64)> {
        std::iter::from_fn(move || {
            let (name, hash, i) = self.next_name(hash_until_nul)?;
            Some((name, hash.unwrap_or_else(|| hash_bytes(name)), self.armap.offset(i)))
        })
    }

    /// The next name, what `until_nul` found beside its end, and its symbol.
    #[inline(always)]
    fn next_name<T>(
        &mut self,
        until_nul: impl Fn(&[u8]) -> Option<(usize, T)>,
    ) -> Option<(&'a [u8], Option<T>, usize)> {
        let i = self.range.next()?;
        Some(match self.armap.bsd_position(i) {
            None => {
                // The index was checked to have a NUL for each symbol.
                let (end, found) = until_nul(self.names)?;
                let (name, rest) = self.names.split_at(end);
                self.names = &rest[1..];
                (name, Some(found), i)
            }
            Some(position) => {
                let tail = self.names.get(position..)?;
                match until_nul(tail) {
                    Some((end, found)) => (&tail[..end], Some(found), i),
                    None => (tail, None, i),
                }
            }
        })
    }
}

impl<'a> Iterator for Symbols<'a> {
    type Item = (&'a [u8], u64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, _, i) = self.next_name(|names| Some((memchr::memchr(0, names)?, ())))?;
        Some((name, self.armap.offset(i)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl ExactSizeIterator for Symbols<'_> {}

/// About one of `parts` equal parts of `names`: whole names, from the first.
fn leading_names(names: &[u8], parts: usize) -> &[u8] {
    if parts == 1 {
        return names;
    }
    let near = names.len() / parts;
    let end = memchr::memchr(0, &names[near..]).map_or(names.len(), |nul| near + nul + 1);
    &names[..end]
}

fn word_size(wide: bool) -> usize {
    if wide { 8 } else { 4 }
}

/// The word at byte `position`.
fn word_at(data: &[u8], position: usize, wide: bool, big_endian: bool) -> Option<u64> {
    let tail = data.get(position..)?;
    Some(match (wide, big_endian) {
        (false, true) => u32::from_be_bytes(*tail.first_chunk()?).into(),
        (false, false) => u32::from_le_bytes(*tail.first_chunk()?).into(),
        (true, true) => u64::from_be_bytes(*tail.first_chunk()?),
        (true, false) => u64::from_le_bytes(*tail.first_chunk()?),
    })
}
