//! Abbreviations: what the entries of a unit look like.
//!
//! Each is turned into steps when it is read: how many bytes to pass over, then one attribute that somebody
//! asks for or whose length is in its value. Attributes of fixed sizes in a row are one step, so most entries
//! take few.
//!
//! Specification: DWARF 5, sections 7.5.3 (abbreviations), 7.5.4 (attributes), 7.5.3 table 7.3 (tags).

use crate::synth::debug_info::dwarf::{Cursor, Encoding, Extent, Malformed, Pointer, Source, extent, form};

/// The attributes that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Attribute {
    /// Only passed over.
    Other,
    Sibling,
    Name,
    LowPc,
    HighPc,
    Ranges,
    Language,
    Declaration,
    External,
    /// Names another entry for the same thing: `DW_AT_specification`, `DW_AT_abstract_origin`,
    /// `DW_AT_extension`.
    Origin,
    EnumClass,
    StrOffsetsBase,
    AddrBase,
    RngListsBase,
    /// Says that names of the unit are in the tables for GDB.
    GnuPubNames,
    /// The unit's information is in another file.
    DwoName,
}

impl Attribute {
    fn of(number: u64) -> Attribute {
        match number {
            0x01 => Attribute::Sibling,
            0x03 => Attribute::Name,
            0x11 => Attribute::LowPc,
            0x12 => Attribute::HighPc,
            0x55 => Attribute::Ranges,
            0x13 => Attribute::Language,
            0x3c => Attribute::Declaration,
            0x3f => Attribute::External,
            0x47 | 0x31 | 0x54 => Attribute::Origin,
            0x6d => Attribute::EnumClass,
            0x72 => Attribute::StrOffsetsBase,
            0x73 | 0x2133 => Attribute::AddrBase,
            0x74 => Attribute::RngListsBase,
            0x2134 => Attribute::GnuPubNames,
            0x76 | 0x2130 => Attribute::DwoName,
            _ => Attribute::Other,
        }
    }
}

/// `DW_AT_location` and `DW_AT_const_value`: nobody asks what they say.
const LOCATION: u64 = 0x02;
const CONST_VALUE: u64 = 0x1c;

/// `DW_TAG_*`.
pub mod tag {
    pub const ARRAY_TYPE: u16 = 0x01;
    pub const CLASS_TYPE: u16 = 0x02;
    pub const ENTRY_POINT: u16 = 0x03;
    pub const ENUMERATION_TYPE: u16 = 0x04;
    pub const IMPORTED_DECLARATION: u16 = 0x08;
    pub const COMPILE_UNIT: u16 = 0x11;
    pub const STRING_TYPE: u16 = 0x12;
    pub const STRUCTURE_TYPE: u16 = 0x13;
    pub const SUBROUTINE_TYPE: u16 = 0x15;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION_TYPE: u16 = 0x17;
    pub const MODULE: u16 = 0x1e;
    pub const PTR_TO_MEMBER_TYPE: u16 = 0x1f;
    pub const SET_TYPE: u16 = 0x20;
    pub const SUBRANGE_TYPE: u16 = 0x21;
    pub const BASE_TYPE: u16 = 0x24;
    pub const CONSTANT: u16 = 0x27;
    pub const ENUMERATOR: u16 = 0x28;
    pub const SUBPROGRAM: u16 = 0x2e;
    pub const VARIABLE: u16 = 0x34;
    pub const INTERFACE_TYPE: u16 = 0x38;
    pub const NAMESPACE: u16 = 0x39;
    pub const UNSPECIFIED_TYPE: u16 = 0x3b;
    pub const PARTIAL_UNIT: u16 = 0x3c;
    pub const TYPE_UNIT: u16 = 0x41;
    pub const GENERIC_SUBRANGE: u16 = 0x45;
    pub const SKELETON_UNIT: u16 = 0x4a;

    /// Whether entries of the tag are in the index if they have a name.
    pub(super) fn is_indexed(tag: u16) -> bool {
        matches!(
            tag,
            ARRAY_TYPE
                | BASE_TYPE
                | CLASS_TYPE
                | CONSTANT
                | ENTRY_POINT
                | ENUMERATION_TYPE
                | ENUMERATOR
                | GENERIC_SUBRANGE
                | IMPORTED_DECLARATION
                | INTERFACE_TYPE
                | MODULE
                | NAMESPACE
                | PTR_TO_MEMBER_TYPE
                | SET_TYPE
                | STRING_TYPE
                | STRUCTURE_TYPE
                | SUBPROGRAM
                | SUBRANGE_TYPE
                | SUBROUTINE_TYPE
                | TYPEDEF
                | UNION_TYPE
                | UNSPECIFIED_TYPE
                | VARIABLE
        )
    }
}

/// Pass over `skip` bytes; there is the value of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub skip: u32,
    pub attribute: Attribute,
    pub form: u16,
    pub extent: Extent,
    /// The value, if the form is [`form::IMPLICIT_CONST`].
    pub implicit: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Abbreviation {
    pub code: u64,
    pub tag: u16,
    pub has_children: bool,
    /// There is a [`Attribute::Sibling`].
    pub has_sibling: bool,
    /// Such an entry may have a name for the index, or one below it.
    pub is_indexed: bool,
    /// All steps end in attributes whose size is fixed, and together they are this long; else `u32::MAX`.
    pub fixed: u32,
    /// Bytes after the last step.
    pub rest: u32,
    first: u32,
    count: u32,
}

/// The abbreviations of one table.
#[derive(Default)]
pub struct Abbreviations {
    list: Vec<Abbreviation>,
    steps: Vec<Step>,
    /// Codes are 1, 2, 3, …
    is_dense: bool,
}

impl Abbreviations {
    #[inline(always)]
    pub fn get(&self, code: u64) -> Option<&Abbreviation> {
        if self.is_dense {
            return self.list.get(usize::try_from(code.wrapping_sub(1)).ok()?);
        }
        let found = self.list.binary_search_by_key(&code, |abbreviation| abbreviation.code);
        found.ok().map(|i| &self.list[i])
    }

    #[inline(always)]
    pub fn steps(&self, abbreviation: &Abbreviation) -> &[Step] {
        &self.steps[abbreviation.first as usize..][..abbreviation.count as usize]
    }

    /// Reads the table at `place`; if `only` is given, up to the abbreviation of this code, and no other one.
    /// Returns how many bytes were read.
    ///
    /// # Errors
    /// If the table does not end, or an abbreviation makes no sense.
    pub fn read<'a>(
        &mut self,
        source: &impl Source<'a>,
        place: Pointer,
        encoding: Encoding,
        only: Option<u64>,
    ) -> Result<usize, Malformed> {
        self.list.clear();
        self.steps.clear();
        let mut cursor = Cursor::new(source, place);
        let start = cursor.at;
        loop {
            let at = cursor.at;
            let mut ahead = cursor;
            let passed = only.is_some_and(|only| ahead.uleb() != Some(only));
            let code = if passed { pass(&mut cursor) } else { self.abbreviation(&mut cursor, encoding) };
            match code {
                Some(0) => break,
                Some(code) if only == Some(code) => break,
                Some(_) => {}
                None => {
                    let what = "abbreviation is cut off or has a form that is not known";
                    return Err(Malformed::new(place.section, at, what));
                }
            }
        }
        self.is_dense = self.list.iter().zip(1..).all(|(abbreviation, code)| abbreviation.code == code);
        if !self.is_dense {
            self.list.sort_by_key(|abbreviation| abbreviation.code);
        }
        Ok(cursor.at - start)
    }

    /// Reads one and returns its code, which is 0 at the end of the table.
    fn abbreviation(&mut self, cursor: &mut Cursor, encoding: Encoding) -> Option<u64> {
        let code = cursor.uleb()?;
        if code == 0 {
            return Some(0);
        }
        // Tags beyond 16 bits are not defined.
        let tag = u16::try_from(cursor.uleb()?).unwrap_or(u16::MAX);
        let has_children = cursor.u8()? != 0;
        let first = self.steps.len() as u32;
        let mut new = Abbreviation { code, tag, has_children, first, ..Abbreviation::default() };
        let mut is_named = matches!(tag, tag::NAMESPACE | tag::ENUMERATION_TYPE);
        // A variable that is nowhere was optimised away.
        let mut is_somewhere = tag != tag::VARIABLE;
        // The attributes that take no bytes. More of them would only take time, for each entry.
        let mut without_bytes = 0u32;
        loop {
            let (number, form) = (cursor.uleb()?, cursor.uleb()?);
            if number == 0 && form == 0 {
                break;
            }
            let form = u16::try_from(form).ok()?;
            let implicit = if form == form::IMPLICIT_CONST { cursor.sleb()? } else { 0 };
            let (attribute, extent) = (Attribute::of(number), extent(form, encoding)?);
            new.has_sibling |= attribute == Attribute::Sibling;
            is_named |= matches!(attribute, Attribute::Name | Attribute::Origin);
            let is_value = matches!(number, LOCATION | CONST_VALUE);
            is_somewhere |= is_value || matches!(attribute, Attribute::Origin | Attribute::External);
            match extent {
                Extent::Fixed(size) => {
                    new.fixed = new.fixed.checked_add(u32::from(size))?;
                    let bit = u32::from(size == 0) << attribute as u8;
                    if attribute == Attribute::Other || without_bytes & bit != 0 {
                        new.rest += u32::from(size);
                        continue;
                    }
                    without_bytes |= bit;
                }
                _ => new.fixed |= 1 << 31,
            }
            self.steps.push(Step { skip: new.rest, attribute, form, extent, implicit });
            new.rest = 0;
        }
        if new.fixed >> 31 != 0 {
            new.fixed = u32::MAX;
        }
        new.count = self.steps.len() as u32 - first;
        new.is_indexed = is_named && is_somewhere && tag::is_indexed(tag);
        self.list.push(new);
        Some(code)
    }
}

/// Passes over an abbreviation and returns its code, which is 0 at the end of the table.
fn pass(cursor: &mut Cursor) -> Option<u64> {
    let code = cursor.uleb()?;
    if code == 0 {
        return Some(0);
    }
    cursor.uleb()?;
    cursor.u8()?;
    loop {
        let (number, form) = (cursor.uleb()?, cursor.uleb()?);
        if number == 0 && form == 0 {
            return Some(code);
        }
        if form == u64::from(form::IMPLICIT_CONST) {
            cursor.skip_leb()?;
        }
    }
}
