//! A table of names of the input: its header, and where its parts are.
//!
//! All counts are checked against the section's size here, so what follows may index.
//!
//! Specification: DWARF 5, section 6.1.1.4.

use std::ops::Range;

use crate::synth::debug_info::dwarf::{Cursor, Kind, Malformed, Pointer, Source};

/// Where the parts of a table are in its section.
pub struct Index<'s> {
    /// After the table nothing can be read.
    pub bytes: Cursor<'s>,
    pub units: Range<usize>,
    pub type_units: Range<usize>,
    /// Signatures of type units in other files.
    pub foreign: Range<usize>,
    /// One for each name, or none at all.
    pub hashes: Range<usize>,
    pub texts: Range<usize>,
    pub entries: Range<usize>,
    pub abbreviations: Range<usize>,
    /// Where entries begin.
    pub pool: usize,
    pub augmentation: Range<usize>,
}

impl<'s> Index<'s> {
    /// Reads the header at `cursor`, which goes on after the table.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn read(cursor: &mut Cursor<'s>) -> Result<Index<'s>, Malformed> {
        let start = *cursor;
        let wrong = |what| start.wrong(what);
        const CUT_OFF: &str = "table of names goes beyond its end";
        let (length, offset_size) =
            cursor.initial_length().ok_or(wrong("table of names has an impossible length"))?;
        if offset_size != 4 {
            return Err(wrong("table of names has the form of 64 bits (DWARF64), which is not supported"));
        }
        let mut bytes = *cursor;
        cursor.skip(length as usize).ok_or(wrong("table of names goes beyond the end of its section"))?;
        bytes.bytes = &bytes.bytes[..cursor.at];
        let mut head = bytes;
        let version = head.number(2).ok_or(wrong(CUT_OFF))?;
        if version != 5 {
            return Err(wrong("table of names has a version that is not known"));
        }
        head.skip(2).ok_or(wrong(CUT_OFF))?;
        let mut counts = [0; 7];
        for count in &mut counts {
            *count = head.number(4).ok_or(wrong(CUT_OFF))? as usize;
        }
        let [units, type_units, foreign, buckets, names, abbreviations, augmentation] = counts;
        let mut part = |count: usize, size: usize| {
            let first = head.at;
            head.skip(count.checked_mul(size)?)?;
            Some(first..head.at)
        };
        let mut parts = || {
            let augmentation = part(augmentation.next_multiple_of(4), 1)?.start..0;
            let (units, type_units) = (part(units, 4)?, part(type_units, 4)?);
            let foreign = part(foreign, 8)?;
            part(buckets, 4)?;
            let hashes = part(if buckets == 0 { 0 } else { names }, 4)?;
            let (texts, entries) = (part(names, 4)?, part(names, 4)?);
            let abbreviations = part(abbreviations, 1)?;
            let pool = abbreviations.end;
            Some(Index {
                bytes,
                units,
                type_units,
                foreign,
                hashes,
                texts,
                entries,
                abbreviations,
                pool,
                augmentation,
            })
        };
        let mut index = parts().ok_or(wrong(CUT_OFF))?;
        index.augmentation.end = index.augmentation.start + augmentation;
        Ok(index)
    }

    pub fn names(&self) -> usize {
        self.texts.len() / 4
    }

    /// The word number `number` of a part.
    #[inline]
    pub fn word(&self, part: &Range<usize>, number: usize) -> u32 {
        let mut cursor = Cursor { at: part.start + 4 * number, ..self.bytes };
        cursor.number(4).map_or(0, |word| word as u32)
    }

    /// What the word number `number` of a part leads to: a place in a section of the kind, where no
    /// relocation says more. Section 0 is nowhere. `near` is for [`Source::relocated`].
    #[inline]
    pub fn pointer<'a>(
        &self,
        source: &impl Source<'a>,
        part: &Range<usize>,
        number: usize,
        kind: Kind,
        near: &mut usize,
    ) -> Pointer {
        let field = Pointer { section: self.bytes.section, offset: (part.start + 4 * number) as u64 };
        source.relocated(field, near).unwrap_or_else(|| {
            let offset = u64::from(self.word(part, number));
            Pointer { section: source.first(kind), offset }
        })
    }

    /// The abbreviations.
    pub fn abbreviations(&self) -> Cursor<'s> {
        Cursor {
            at: self.abbreviations.start,
            bytes: &self.bytes.bytes[..self.abbreviations.end],
            ..self.bytes
        }
    }
}
