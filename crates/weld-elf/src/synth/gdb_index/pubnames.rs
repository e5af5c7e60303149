//! The tables of names that compilers make for an index: `.debug_gnu_pubnames` and `.debug_gnu_pubtypes`.
//!
//! A table is a row of sets, one for each unit: a header (initial length, version 2, the unit's offset and
//! length in `.debug_info`), then for each name the offset of its entry in the unit, a byte that tells what
//! it names, and the name with a NUL. An offset of 0 ends the set. The byte is the upper one of a word in the
//! index, see [`super::names::Use`].
//!
//! Source: GCC's and GDB's manuals (`-ggnu-pubnames`, "Index Section Format"); DWARF 4, section 6.1.1, for
//! all but the byte.

use weld_common::hash::hash_until_nul;

use crate::synth::debug_info::dwarf::{Cursor, Kind, Malformed, Pointer, Source};

/// A set, positioned at its first name.
pub struct Set<'s> {
    /// The unit that it is for.
    pub unit: Pointer,
    /// Of the set's first byte.
    pub place: Pointer,
    names: Cursor<'s>,
    offset_size: usize,
}

/// A name of a set.
pub struct Listed {
    /// Where in the table it is, without its NUL.
    pub text: std::ops::Range<usize>,
    /// [`weld_common::hash::hash_bytes`] of it.
    pub hash: u64,
    pub what: u8,
}

/// The sets of a table. Nothing follows an error.
pub struct Sets<'s, S> {
    source: &'s S,
    cursor: Cursor<'s>,
    near: usize,
}

impl<'s, S> Sets<'s, S> {
    pub fn new<'a>(source: &'s S, section: u32) -> Self
    where
        S: Source<'a>,
    {
        Sets { source, cursor: Cursor::new(source, Pointer { section, offset: 0 }), near: 0 }
    }

    fn read<'a>(&mut self) -> Result<Set<'s>, Malformed>
    where
        S: Source<'a>,
    {
        let start = self.cursor;
        let wrong = || start.wrong("table of names is cut off");
        let (length, offset_size) = self.cursor.initial_length().ok_or_else(wrong)?;
        let mut names = self.cursor;
        let length = usize::try_from(length).map_err(|_| wrong())?;
        self.cursor.skip(length).ok_or_else(wrong)?;
        names.bytes = &names.bytes[..self.cursor.at];
        let version = names.number(2).ok_or_else(wrong)?;
        if version != 2 {
            return Err(start.wrong("table of names has a version that is not known"));
        }
        let mut unit = names.pointer(self.source, offset_size, &mut self.near).ok_or_else(wrong)?;
        if unit.section == 0 {
            unit.section = self.source.first(Kind::Info);
        }
        let offset_size = usize::from(offset_size);
        names.skip(offset_size).ok_or_else(wrong)?;
        let place = Pointer { section: start.section, offset: start.at as u64 };
        Ok(Set { unit, place, names, offset_size })
    }
}

impl<'s, 'a, S: Source<'a>> Iterator for Sets<'s, S>
where
    'a: 's,
{
    type Item = Result<Set<'s>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.at >= self.cursor.bytes.len() {
            return None;
        }
        let set = self.read();
        if set.is_err() {
            self.cursor.at = self.cursor.bytes.len();
        }
        Some(set)
    }
}

impl Set<'_> {
    /// Reads the next name; `None` at the end.
    ///
    /// # Errors
    /// If the set ends too early.
    #[inline]
    pub fn name(&mut self) -> Result<Option<Listed>, Malformed> {
        let cursor = &mut self.names;
        let start = *cursor;
        let wrong = || start.wrong("table of names is cut off");
        if cursor.number(self.offset_size).ok_or_else(wrong)? == 0 {
            return Ok(None);
        }
        let what = cursor.u8().ok_or_else(wrong)?;
        let (length, hash) = hash_until_nul(&cursor.bytes[cursor.at..]).ok_or_else(wrong)?;
        let text = cursor.at..cursor.at + length;
        cursor.at = text.end + 1;
        Ok(Some(Listed { text, hash, what }))
    }
}
