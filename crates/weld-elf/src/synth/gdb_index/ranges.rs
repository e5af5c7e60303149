//! Which addresses a unit's code has.
//!
//! Told by the attributes of the unit's first entry: one range (`DW_AT_low_pc` and `DW_AT_high_pc`), or a
//! list of them in `.debug_ranges` or `.debug_rnglists`. Ranges are in sections of the object, which have no
//! addresses yet.
//!
//! Specification: DWARF 5, sections 2.17 (code addresses), 7.25 (range lists), 7.28 (range list tables);
//! DWARF 4, section 2.17.3 (`.debug_ranges`).

use super::unit::{Unit, Value};
use crate::synth::debug_info::dwarf::{Cursor, Kind, Malformed, Pointer, Source, form};

/// Code of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: Pointer,
    pub length: u64,
}

/// How many entries of lists may still be read, so that no object makes the same list be read for ever.
pub struct Allowance(pub usize);

impl Allowance {
    /// Enough to read every list twice.
    pub fn of<'a>(source: &impl Source<'a>) -> Allowance {
        let bytes = |kind| source.bytes(source.first(kind)).len();
        Allowance(bytes(Kind::Ranges) / 4 + 2 * bytes(Kind::RngLists) + 64)
    }
}

/// `DW_RLE_*`.
mod entry {
    pub const END_OF_LIST: u8 = 0;
    pub const BASE_ADDRESSX: u8 = 1;
    pub const STARTX_ENDX: u8 = 2;
    pub const STARTX_LENGTH: u8 = 3;
    pub const OFFSET_PAIR: u8 = 4;
    pub const BASE_ADDRESS: u8 = 5;
    pub const START_END: u8 = 6;
    pub const START_LENGTH: u8 = 7;
}

const CUT_OFF: &str = "range list is cut off or refers to an address that is not there";
const BACKWARDS: &str = "range ends before it begins";
const TOO_OFTEN: &str = "range lists are used again and again";

/// Adds the unit's ranges to `out`: those that lie in sections and are not empty.
///
/// # Errors
/// If a list makes no sense. Nothing is added then.
pub fn of_unit<'a>(
    source: &impl Source<'a>,
    unit: &Unit,
    allowance: &mut Allowance,
    out: &mut Vec<Range>,
) -> Result<(), Malformed> {
    let before = out.len();
    let reader = Reader { source, unit };
    let result = match unit.ranges {
        Some(value) => reader.list(value, allowance, out),
        None => reader.single(out),
    };
    if result.is_err() {
        out.truncate(before);
    }
    result
}

struct Reader<'r, S> {
    source: &'r S,
    unit: &'r Unit,
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// A cursor at a value of the unit's first entry.
    fn cursor(&self, value: Value) -> Cursor<'_> {
        self.unit.header.cursor(self.source, value.at)
    }

    /// What is wrong with a value of the unit's first entry.
    #[cold]
    fn wrong(&self, value: Value, what: &'static str) -> Malformed {
        Malformed::new(self.unit.header.place.section, value.at as usize, what)
    }

    fn low_pc(&self) -> Option<Pointer> {
        let value = self.unit.low_pc?;
        self.unit.address(self.source, value.form, &mut self.cursor(value), &mut 0)
    }

    fn single(&self, out: &mut Vec<Range>) -> Result<(), Malformed> {
        let (Some(low), Some(high)) = (self.unit.low_pc, self.unit.high_pc) else { return Ok(()) };
        let start = self.low_pc().ok_or_else(|| self.wrong(low, "address of a unit makes no sense"))?;
        let mut cursor = self.cursor(high);
        let encoding = self.unit.header.encoding;
        let end = if form::is_address(high.form) {
            self.unit.address(self.source, high.form, &mut cursor, &mut 0)
        } else {
            let field = Pointer { offset: high.at, ..self.unit.header.place };
            let distance = self.source.distance(field);
            let length = distance.or_else(|| cursor.constant(high.form, high.implicit, encoding));
            length.map(|length| Pointer { offset: start.offset.wrapping_add(length), ..start })
        };
        let end = end.ok_or_else(|| self.wrong(high, "address of a unit makes no sense"))?;
        add(start, end, out).ok_or_else(|| self.wrong(high, BACKWARDS))
    }

    fn list(&self, value: Value, allowance: &mut Allowance, out: &mut Vec<Range>) -> Result<(), Malformed> {
        let encoding = self.unit.header.encoding;
        let kind = if encoding.version >= 5 { Kind::RngLists } else { Kind::Ranges };
        let mut cursor = self.cursor(value);
        let place = match value.form {
            form::RNGLISTX => cursor.uleb().and_then(|index| self.numbered_list(index)),
            form => self.unit.base(self.source, form, cursor),
        };
        let place = place.and_then(|place| self.unit.table(self.source, kind, place, 0));
        let place = place.ok_or_else(|| self.wrong(value, "range list of a unit is not there"))?;
        let mut cursor = Cursor::new(self.source, place);
        match kind {
            Kind::RngLists => self.entries(&mut cursor, allowance, out),
            _ => self.pairs(&mut cursor, allowance, out),
        }
    }

    /// Where list number `index` of the unit's table of lists is.
    fn numbered_list(&self, index: u64) -> Option<Pointer> {
        let size = self.unit.header.encoding.offset;
        // Without a base the first table is meant, whose header this is.
        let header = if size == 8 { 20 } else { 12 };
        let base = self.unit.range_lists.unwrap_or(Pointer { section: 0, offset: header });
        let field =
            self.unit.table(self.source, Kind::RngLists, base, index.checked_mul(u64::from(size))?)?;
        let offset = Cursor::new(self.source, field).number(usize::from(size))?;
        self.unit.table(self.source, Kind::RngLists, base, offset)
    }

    /// Reads a list of `.debug_ranges`: pairs of addresses, or of offsets from a base.
    fn pairs(
        &self,
        cursor: &mut Cursor,
        allowance: &mut Allowance,
        out: &mut Vec<Range>,
    ) -> Result<(), Malformed> {
        let size = self.unit.header.encoding.address;
        let highest = u64::MAX >> (64 - 8 * u32::from(size));
        let (mut base, mut near) = (None, 0);
        loop {
            let at = *cursor;
            let pair = cursor.pointer(self.source, size, &mut near);
            let pair = pair.and_then(|start| Some((start, cursor.pointer(self.source, size, &mut near)?)));
            let (mut start, mut end) = pair.ok_or_else(|| at.wrong(CUT_OFF))?;
            allowance.0 = allowance.0.checked_sub(1).ok_or_else(|| at.wrong(TOO_OFTEN))?;
            if start.section == 0 && end.section == 0 && start.offset == 0 && end.offset == 0 {
                return Ok(());
            }
            if start == (Pointer { section: 0, offset: highest }) {
                base = Some(end);
                continue;
            }
            if start.section == 0 && end.section == 0 {
                let base = *base.get_or_insert_with(|| self.low_pc().unwrap_or_default());
                start = Pointer { offset: base.offset.wrapping_add(start.offset), ..base };
                end = Pointer { offset: base.offset.wrapping_add(end.offset), ..base };
            }
            add(start, end, out).ok_or_else(|| at.wrong(BACKWARDS))?;
        }
    }

    /// Reads a list of `.debug_rnglists`.
    fn entries(
        &self,
        cursor: &mut Cursor,
        allowance: &mut Allowance,
        out: &mut Vec<Range>,
    ) -> Result<(), Malformed> {
        let mut state = ListState::default();
        loop {
            let at = *cursor;
            allowance.0 = allowance.0.checked_sub(1).ok_or_else(|| at.wrong(TOO_OFTEN))?;
            let kind = cursor.u8().ok_or_else(|| at.wrong(CUT_OFF))?;
            if kind == entry::END_OF_LIST {
                return Ok(());
            }
            if kind > entry::START_LENGTH {
                return Err(at.wrong("range list has an entry of a kind that is not known"));
            }
            let range = self.entry(kind, cursor, &mut state).ok_or_else(|| at.wrong(CUT_OFF))?;
            if let Some((start, end)) = range {
                add(start, end, out).ok_or_else(|| at.wrong(BACKWARDS))?;
            }
        }
    }

    /// Reads an entry: the start and end of a range, if it says one.
    fn entry(
        &self,
        kind: u8,
        cursor: &mut Cursor,
        state: &mut ListState,
    ) -> Option<Option<(Pointer, Pointer)>> {
        let (source, size) = (self.source, self.unit.header.encoding.address);
        let indexed = |cursor: &mut Cursor, near: &mut usize| {
            let index = cursor.uleb()?;
            self.unit.indexed_address(source, index, near)
        };
        let behind =
            |start: Pointer, length: u64| Pointer { offset: start.offset.wrapping_add(length), ..start };
        Some(match kind {
            entry::BASE_ADDRESSX => {
                state.base = Some(indexed(cursor, &mut state.near_addresses)?);
                None
            }
            entry::BASE_ADDRESS => {
                state.base = Some(cursor.pointer(source, size, &mut state.near)?);
                None
            }
            entry::STARTX_ENDX => {
                let start = indexed(cursor, &mut state.near_addresses)?;
                Some((start, indexed(cursor, &mut state.near_addresses)?))
            }
            entry::STARTX_LENGTH => {
                let start = indexed(cursor, &mut state.near_addresses)?;
                Some((start, behind(start, cursor.length(source)?)))
            }
            entry::OFFSET_PAIR => {
                let base = *state.base.get_or_insert_with(|| self.low_pc().unwrap_or_default());
                let (start, end) = (cursor.length(source)?, cursor.length(source)?);
                Some((behind(base, start), behind(base, end)))
            }
            entry::START_END => {
                let start = cursor.pointer(source, size, &mut state.near)?;
                Some((start, cursor.pointer(source, size, &mut state.near)?))
            }
            _ => {
                let start = cursor.pointer(source, size, &mut state.near)?;
                Some((start, behind(start, cursor.length(source)?)))
            }
        })
    }
}

/// What entries of a list leave for those behind them.
#[derive(Default)]
struct ListState {
    base: Option<Pointer>,
    /// For [`Source::relocated`], in the list's section and in `.debug_addr`.
    near: usize,
    near_addresses: usize,
}

/// Adds a range if it is in a section and not empty; `None` if its end is before its start.
fn add(start: Pointer, end: Pointer, out: &mut Vec<Range>) -> Option<()> {
    // The compiler could not know where either is, if they are not in the same section.
    if start.section == 0 || start.section != end.section {
        return Some(());
    }
    let length = end.offset.checked_sub(start.offset)?;
    if length > 0 {
        out.push(Range { start, length });
    }
    Some(())
}
