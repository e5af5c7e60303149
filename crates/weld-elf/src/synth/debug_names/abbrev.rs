//! Abbreviations of a table of names: what its entries say, and in which form.
//!
//! Tables of the input have them in any form; in the output there is one for each tag, kind of unit and kind
//! of parent. What else an entry of the input says is passed over: nothing needs it to find something.
//!
//! Specification: DWARF 5, sections 6.1.1.4.7 and 7.19 (`DW_IDX_*`).

use crate::synth::debug_info::dwarf::{Cursor, Encoding, Malformed, extent, form};
use crate::synth::parts::{Out, uleb_size};

/// `DW_IDX_*`.
mod idx {
    pub const COMPILE_UNIT: u64 = 1;
    pub const TYPE_UNIT: u64 = 2;
    pub const DIE_OFFSET: u64 = 3;
    pub const PARENT: u64 = 4;
}

/// The unit that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Unit,
    TypeUnit,
    /// A type unit in another file, and the unit that stands for that file here.
    Foreign,
}

/// What an entry says of the entry around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parent {
    /// Nothing.
    Unknown,
    /// It has no name, or there is none.
    NotListed,
    Listed,
}

/// An abbreviation of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Abbreviation {
    /// `DW_TAG_*`.
    pub tag: u64,
    pub kind: Kind,
    pub parent: Parent,
}

/// How many bytes the numbers of units have.
#[derive(Clone, Copy, Debug)]
pub struct UnitSizes {
    pub unit: u8,
    pub type_unit: u8,
}

impl UnitSizes {
    /// For so many of each.
    pub fn of(units: usize, type_units: usize) -> UnitSizes {
        let size = |count| match count {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        UnitSizes { unit: size(units), type_unit: size(type_units) }
    }

    fn form(size: u8) -> u16 {
        match size {
            1 => form::DATA1,
            2 => form::DATA2,
            _ => form::DATA4,
        }
    }
}

impl Abbreviation {
    /// How many bytes an entry has; `code` is the abbreviation's.
    pub fn entry_size(&self, code: u32, sizes: UnitSizes) -> u64 {
        let unit = match self.kind {
            Kind::Unit => sizes.unit,
            Kind::TypeUnit => sizes.type_unit,
            Kind::Foreign => sizes.unit + sizes.type_unit,
        };
        uleb_size(u64::from(code)) + u64::from(unit) + if self.parent == Parent::Listed { 8 } else { 4 }
    }

    /// `DW_IDX_*` and `DW_FORM_*`, in the order in which [`mod@super::table`] writes them.
    fn attributes(&self, sizes: UnitSizes) -> impl Iterator<Item = (u64, u16)> {
        let type_unit = (idx::TYPE_UNIT, UnitSizes::form(sizes.type_unit));
        let unit = (idx::COMPILE_UNIT, UnitSizes::form(sizes.unit));
        let parent = match self.parent {
            Parent::Unknown => None,
            Parent::NotListed => Some((idx::PARENT, form::FLAG_PRESENT)),
            Parent::Listed => Some((idx::PARENT, form::REF4)),
        };
        let offset = Some((idx::DIE_OFFSET, form::REF4));
        let type_unit = (self.kind != Kind::Unit).then_some(type_unit);
        let unit = (self.kind != Kind::TypeUnit).then_some(unit);
        [type_unit, offset, parent, unit].into_iter().flatten()
    }

    /// How many bytes it has in the table of abbreviations.
    pub fn size(&self, code: u32, sizes: UnitSizes) -> u64 {
        let attributes =
            self.attributes(sizes).map(|(attribute, form)| uleb_size(attribute) + uleb_size(u64::from(form)));
        uleb_size(u64::from(code)) + uleb_size(self.tag) + attributes.sum::<u64>() + 2
    }

    pub fn write(&self, code: u32, sizes: UnitSizes, out: &mut Out) {
        out.uleb(u64::from(code));
        out.uleb(self.tag);
        for (attribute, form) in self.attributes(sizes) {
            out.uleb(attribute);
            out.uleb(u64::from(form));
        }
        out.bytes(&[0, 0]);
    }
}

/// What an entry of the input says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields {
    pub tag: u64,
    /// The number of an abbreviation in its table.
    pub number: u32,
    pub unit: Option<u64>,
    pub type_unit: Option<u64>,
    pub offset: Option<u64>,
    /// Of the entry around it in the pool, or that there is none.
    pub parent: Option<Option<u64>>,
}

/// The abbreviations of a table of the input.
#[derive(Default)]
pub struct Abbreviations {
    /// By code: the tag, and where the attributes are.
    list: Vec<(u64, u64, std::ops::Range<u32>)>,
    attributes: Vec<(u64, u16)>,
}

/// Numbers in a table of names are in the form of 32 bits.
const ENCODING: Encoding = Encoding { version: 5, address: 8, offset: 4 };

impl Abbreviations {
    /// Reads the table that `cursor` has.
    ///
    /// # Errors
    /// If it does not end, or attributes are in forms that make no sense.
    pub fn read(&mut self, cursor: &mut Cursor) -> Result<(), Malformed> {
        self.list.clear();
        self.attributes.clear();
        let wrong = cursor.wrong("abbreviation of the table of names is cut off");
        loop {
            let code = cursor.uleb().ok_or(wrong)?;
            if code == 0 {
                break;
            }
            let tag = cursor.uleb().ok_or(wrong)?;
            let first = self.attributes.len() as u32;
            let mut is_not_listed = false;
            loop {
                let here = cursor.wrong("attribute of a table of names has a form that makes no sense");
                let (attribute, form) = (cursor.uleb().ok_or(wrong)?, cursor.uleb().ok_or(wrong)?);
                if attribute == 0 && form == 0 {
                    break;
                }
                let form = u16::try_from(form).ok().filter(|&form| is_possible(attribute, form));
                let form = form.ok_or(here)?;
                // What takes no bytes would only take time, for each entry.
                let says_nothing = form == form::FLAG_PRESENT && (attribute != idx::PARENT || is_not_listed);
                is_not_listed |= form == form::FLAG_PRESENT && attribute == idx::PARENT;
                if !says_nothing {
                    self.attributes.push((attribute, form));
                }
            }
            self.list.push((code, tag, first..self.attributes.len() as u32));
        }
        self.list.sort_by_key(|(code, ..)| *code);
        Ok(())
    }

    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Reads an entry; `None` at the end of those of a name.
    ///
    /// # Errors
    /// If it is cut off or has no abbreviation.
    #[inline]
    pub fn entry(&self, cursor: &mut Cursor) -> Result<Option<Fields>, Malformed> {
        let start = *cursor;
        let cut_off = || start.wrong("entry of the table of names is cut off");
        let code = cursor.uleb().ok_or_else(cut_off)?;
        if code == 0 {
            return Ok(None);
        }
        let number = match self.list.get((code - 1) as usize) {
            Some((known, ..)) if *known == code => (code - 1) as usize,
            _ => {
                let found = self.list.binary_search_by_key(&code, |(code, ..)| *code);
                found.map_err(|_| start.wrong("entry of the table of names has no abbreviation"))?
            }
        };
        let (_, tag, attributes) = &self.list[number];
        let mut fields = Fields { tag: *tag, number: number as u32, ..Fields::default() };
        for &(attribute, form) in &self.attributes[attributes.start as usize..attributes.end as usize] {
            if attribute == idx::PARENT && form == form::FLAG_PRESENT {
                fields.parent = Some(None);
                continue;
            }
            let field = match attribute {
                idx::COMPILE_UNIT => &mut fields.unit,
                idx::TYPE_UNIT => &mut fields.type_unit,
                idx::DIE_OFFSET => &mut fields.offset,
                idx::PARENT => fields.parent.insert(None),
                _ => {
                    let extent = extent(form, ENCODING).ok_or_else(cut_off)?;
                    cursor.skip_extent(extent, ENCODING).ok_or_else(cut_off)?;
                    continue;
                }
            };
            *field = Some(cursor.constant(form, 0, ENCODING).ok_or_else(cut_off)?);
        }
        Ok(Some(fields))
    }
}

/// Whether an attribute may be in a form.
fn is_possible(attribute: u64, form: u16) -> bool {
    use form::*;
    let is_constant = matches!(form, DATA1 | DATA2 | DATA4 | DATA8 | UDATA);
    let is_reference = matches!(form, REF1 | REF2 | REF4 | REF8 | REF_UDATA);
    match attribute {
        idx::COMPILE_UNIT | idx::TYPE_UNIT => is_constant,
        idx::DIE_OFFSET => is_constant || is_reference,
        idx::PARENT => is_constant || is_reference || form == FLAG_PRESENT,
        _ => form != IMPLICIT_CONST && extent(form, ENCODING).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_without_bytes_are_read_once() {
        let table =
            [&[1, 0x2e][..], &[4, 0x19].repeat(1000), &[0x7f, 0x19].repeat(1000), &[3, 0x13, 0, 0, 0]];
        let bytes = table.concat();
        let mut abbreviations = Abbreviations::default();
        abbreviations.read(&mut Cursor { bytes: &bytes, at: 0, section: 1, big: false }).unwrap();
        assert_eq!(abbreviations.attributes.len(), 2);
        let mut entry = Cursor { bytes: &[1, 5, 0, 0, 0], at: 0, section: 1, big: false };
        let fields = abbreviations.entry(&mut entry).unwrap().unwrap();
        assert_eq!((fields.offset, fields.parent), (Some(5), Some(None)));
    }
}
