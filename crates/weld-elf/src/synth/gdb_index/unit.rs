//! Units of `.debug_info` and `.debug_types`: their headers, and what the first entry says of all others.
//!
//! Specification: DWARF 5, sections 7.5.1 (headers) and 3.1 (attributes of units); DWARF 2 to 4, section
//! 7.5.1; GNU's "Fission" for skeletons before DWARF 5.

use super::abbrev::{Abbreviations, Attribute, tag};
use crate::synth::debug_info::dwarf::{
    Cursor, Encoding, Extent, Kind, Malformed, Pointer, Source, extent, form,
};

/// Where in its section a unit is, and how it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// Of the header's first byte.
    pub place: Pointer,
    /// Bytes from there to the end of the unit.
    pub length: u64,
    pub encoding: Encoding,
    pub abbreviations: Pointer,
    /// Where the first entry is.
    pub entries: u64,
    /// Of a type unit: its signature, and where the type is, from the unit's first byte.
    pub type_unit: Option<(u64, u64)>,
}

mod unit_type {
    pub const COMPILE: u8 = 1;
    pub const TYPE: u8 = 2;
    pub const PARTIAL: u8 = 3;
    pub const SKELETON: u8 = 4;
    pub const SPLIT_COMPILE: u8 = 5;
    pub const SPLIT_TYPE: u8 = 6;
}

impl Header {
    /// Reads the header at `place`, where the section goes on. `near` is for [`Source::relocated`].
    ///
    /// # Errors
    /// If it makes no sense; then it is not known where the next one is.
    pub fn read<'a>(source: &impl Source<'a>, place: Pointer, near: &mut usize) -> Result<Header, Malformed> {
        let mut cursor = Cursor::new(source, place);
        let start = cursor.at;
        let wrong = |what| Malformed::new(place.section, start, what);
        const CUT_OFF: &str = "unit header is cut off";
        let (length, offset_size) = cursor.initial_length().ok_or(wrong("unit has an impossible length"))?;
        let end = usize::try_from(length).ok().and_then(|length| cursor.at.checked_add(length));
        let end = end.filter(|&end| end <= cursor.bytes.len());
        let end = end.ok_or(wrong("unit goes beyond the end of its section"))?;
        cursor.bytes = &cursor.bytes[..end];
        let version = cursor.number(2).ok_or(wrong(CUT_OFF))?;
        if !(2..=5).contains(&version) {
            return Err(wrong("unit has a DWARF version that is not known"));
        }
        let mut encoding = Encoding { version: version as u8, address: 0, offset: offset_size };
        let mut kind = unit_type::COMPILE;
        if version >= 5 {
            kind = cursor.u8().ok_or(wrong(CUT_OFF))?;
            encoding.address = cursor.u8().ok_or(wrong(CUT_OFF))?;
        } else if source.is(place.section, Kind::Types) {
            kind = unit_type::TYPE;
        }
        let mut abbreviations = cursor.pointer(source, offset_size, near).ok_or(wrong(CUT_OFF))?;
        if abbreviations.section == 0 {
            abbreviations.section = source.first(Kind::Abbrev);
        }
        if version < 5 {
            encoding.address = cursor.u8().ok_or(wrong(CUT_OFF))?;
        }
        if !matches!(encoding.address, 4 | 8) {
            return Err(wrong("unit has a size of addresses that is neither 4 nor 8"));
        }
        let type_unit = match kind {
            unit_type::TYPE | unit_type::SPLIT_TYPE => {
                let signature = cursor.number(8).ok_or(wrong(CUT_OFF))?;
                Some((signature, cursor.number(usize::from(offset_size)).ok_or(wrong(CUT_OFF))?))
            }
            unit_type::SKELETON | unit_type::SPLIT_COMPILE => {
                cursor.skip(8).ok_or(wrong(CUT_OFF))?;
                None
            }
            unit_type::COMPILE | unit_type::PARTIAL => None,
            _ => return Err(wrong("unit has a type that is not known")),
        };
        let (length, entries) = ((end - start) as u64, cursor.at as u64);
        Ok(Header { place, length, encoding, abbreviations, entries, type_unit })
    }

    /// A cursor at `offset` of the unit's section that ends where the unit does.
    pub fn cursor<'s, 'a>(&self, source: &'s impl Source<'a>, offset: u64) -> Cursor<'s> {
        let mut cursor = Cursor::new(source, Pointer { offset, ..self.place });
        cursor.bytes = &cursor.bytes[..(self.place.offset + self.length) as usize];
        cursor
    }
}

/// A value of the unit's first entry that is looked at when somebody asks.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub form: u16,
    /// Offset in the section.
    pub at: u64,
    pub implicit: i64,
}

/// What the first entry of a unit says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit {
    pub header: Header,
    pub tag: u16,
    pub has_children: bool,
    /// Where the entries below the first begin.
    pub children: u64,
    /// `DW_LANG_*`, or 0.
    pub language: u64,
    pub low_pc: Option<Value>,
    pub high_pc: Option<Value>,
    pub ranges: Option<Value>,
    pub str_offsets: Option<Pointer>,
    pub addresses: Option<Pointer>,
    pub range_lists: Option<Pointer>,
    /// The compiler says that it listed the unit's names.
    pub lists_names: bool,
    /// What the unit describes is in another file.
    pub is_skeleton: bool,
}

impl Unit {
    /// Reads the unit's first entry. `abbreviations` has to have that of its code.
    ///
    /// # Errors
    /// If the entry makes no sense.
    pub fn read<'a>(
        source: &impl Source<'a>,
        header: Header,
        abbreviations: &Abbreviations,
    ) -> Result<Unit, Malformed> {
        let mut cursor = header.cursor(source, header.entries);
        let at = cursor.at;
        let wrong = |what| Malformed::new(header.place.section, at, what);
        let code = cursor.uleb().ok_or(wrong("unit has no entries"))?;
        let abbreviation = abbreviations.get(code).ok_or(wrong("entry has no abbreviation"))?;
        let mut unit = Unit { header, tag: abbreviation.tag, ..Unit::default() };
        unit.has_children = abbreviation.has_children;
        unit.is_skeleton = abbreviation.tag == tag::SKELETON_UNIT;
        let known = [tag::COMPILE_UNIT, tag::PARTIAL_UNIT, tag::TYPE_UNIT, tag::SKELETON_UNIT];
        if !known.contains(&abbreviation.tag) {
            return Err(wrong("first entry of the unit does not describe a unit"));
        }
        for step in abbreviations.steps(abbreviation) {
            let read = unit.attribute(source, &mut cursor, step);
            read.ok_or_else(|| {
                cursor.wrong("attribute of a unit is cut off or has a form that makes no sense")
            })?;
        }
        cursor.skip(abbreviation.rest as usize).ok_or(wrong("entry is cut off"))?;
        unit.children = cursor.at as u64;
        Ok(unit)
    }

    fn attribute<'a>(
        &mut self,
        source: &impl Source<'a>,
        cursor: &mut Cursor,
        step: &super::abbrev::Step,
    ) -> Option<()> {
        cursor.skip(step.skip as usize)?;
        let encoding = self.header.encoding;
        let (mut form, mut value) = (step.form, *cursor);
        if form == form::INDIRECT {
            form = value.indirect_form()?;
        }
        cursor.skip_extent(step.extent, encoding)?;
        let lazy = Some(Value { form, at: value.at as u64, implicit: step.implicit });
        match step.attribute {
            Attribute::LowPc => self.low_pc = lazy,
            Attribute::HighPc => self.high_pc = lazy,
            Attribute::Ranges => self.ranges = lazy,
            Attribute::Language => self.language = value.constant(form, step.implicit, encoding)?,
            Attribute::GnuPubNames => {
                self.lists_names = value.constant(form, step.implicit, encoding)? != 0;
            }
            Attribute::DwoName => self.is_skeleton = true,
            Attribute::StrOffsetsBase => self.str_offsets = Some(self.base(source, form, value)?),
            Attribute::AddrBase => self.addresses = Some(self.base(source, form, value)?),
            Attribute::RngListsBase => self.range_lists = Some(self.base(source, form, value)?),
            _ => {}
        }
        Some(())
    }

    /// The offset of a table in another section.
    pub fn base<'a>(&self, source: &impl Source<'a>, form: u16, mut value: Cursor) -> Option<Pointer> {
        match (form, extent(form, self.header.encoding)?) {
            (form::SEC_OFFSET | form::DATA4 | form::DATA8, Extent::Fixed(size)) => {
                value.pointer(source, size, &mut 0)
            }
            _ => None,
        }
    }

    /// The address that a value of form `form` at `value` says. `near` is for [`Source::relocated`].
    pub fn address<'a>(
        &self,
        source: &impl Source<'a>,
        form: u16,
        value: &mut Cursor,
        near: &mut usize,
    ) -> Option<Pointer> {
        if !form::is_address(form) {
            return None;
        }
        if form == form::ADDR {
            return value.pointer(source, self.header.encoding.address, near);
        }
        let index = value.constant(form, 0, self.header.encoding)?;
        self.indexed_address(source, index, near)
    }

    /// The address with number `index` in `.debug_addr`.
    pub fn indexed_address<'a>(
        &self,
        source: &impl Source<'a>,
        index: u64,
        near: &mut usize,
    ) -> Option<Pointer> {
        let encoding = self.header.encoding;
        let base = self.addresses.unwrap_or(encoding.first_table());
        let size = u64::from(encoding.address);
        let field = self.table(source, Kind::Addr, base, index.checked_mul(size)?)?;
        Cursor::new(source, field).pointer(source, encoding.address, near)
    }

    /// The place `offset` bytes after the base of a table of the kind.
    pub fn table<'a>(
        &self,
        source: &impl Source<'a>,
        kind: Kind,
        base: Pointer,
        offset: u64,
    ) -> Option<Pointer> {
        let section = if base.section == 0 { source.first(kind) } else { base.section };
        Some(Pointer { section, offset: base.offset.checked_add(offset)? })
    }
}
