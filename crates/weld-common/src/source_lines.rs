//! Source lines of an object, from its DWARF, for the places that messages speak of.
//!
//! The caller hands over debug sections that it has relocated as if all sections of memory lay at addresses
//! of their own, and asks in those terms. For a function, the line table says which line the code at an
//! address was made from ([`of_code`]). For a variable, it is the line of its declaration ([`of_variables`]).
//! Debug information that is missing or damaged adds nothing: the message itself is what matters. What
//! objects of all formats have in common that have not been linked is in [`unlinked`].
//!
//! Specification: DWARF 5, sections 6.2 (line tables) and 4.1 (variables).

pub mod unlinked;

use std::collections::HashMap;
use std::ops::Range;

use gimli::{AttributeValue, Dwarf, EndianSlice, Operation, RunTimeEndian, Unit};

type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// Addresses and their lines.
#[derive(Default)]
pub struct Lines {
    /// Sorted by their starts. Of those that begin at one address, the last one counts.
    rows: Vec<Row>,
    files: Vec<String>,
}

struct Row {
    range: Range<u64>,
    /// Its number in `files`, and the line.
    place: (u32, u64),
}

/// Debug sections by name, empty if there are none; `big` is their byte order.
pub struct Sections<'s> {
    pub big: bool,
    pub get: &'s dyn Fn(&str) -> &'s [u8],
}

/// The lines of all code.
pub fn of_code(sections: &Sections) -> Lines {
    read(sections, code_of_unit)
}

/// The lines on which variables are declared.
pub fn of_variables(sections: &Sections) -> Lines {
    read(sections, variables_of_unit)
}

impl Lines {
    /// `file:line` of an address.
    pub fn at(&self, address: u64) -> Option<String> {
        let behind = self.rows.partition_point(|row| row.range.start <= address);
        let row = self.rows[..behind].last().filter(|row| row.range.contains(&address))?;
        let (file, line) = row.place;
        Some(format!("{}:{line}", self.files.get(file as usize)?))
    }
}

/// What one unit adds.
type OfUnit = for<'d> fn(&Dwarf<Reader<'d>>, &Unit<Reader<'d>>, &mut Collector) -> Result<(), gimli::Error>;

fn read(sections: &Sections, of_unit: OfUnit) -> Lines {
    let order = if sections.big { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let load = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        Ok(EndianSlice::new((sections.get)(id.name()), order))
    };
    let Ok(dwarf) = Dwarf::load(load) else { return Lines::default() };
    let mut collector = Collector::default();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        // What was read before the damage is right.
        _ = of_unit(&dwarf, &unit, &mut collector);
        collector.of_unit.clear();
    }
    let mut lines = collector.lines;
    lines.rows.sort_by_key(|row| row.range.start);
    lines
}

#[derive(Default)]
struct Collector {
    lines: Lines,
    /// Of the unit's files the numbers that they have here, if their names can be read.
    of_unit: HashMap<u64, Option<u32>>,
}

impl Collector {
    fn add(&mut self, dwarf: &Dwarf<Reader>, unit: &Unit<Reader>, range: Range<u64>, file: u64, line: u64) {
        let files = &mut self.lines.files;
        let number = self.of_unit.entry(file).or_insert_with(|| {
            files.push(file_name(dwarf, unit, file)?);
            Some(files.len() as u32 - 1)
        });
        if let Some(file) = *number
            && line > 0
            && !range.is_empty()
        {
            self.lines.rows.push(Row { range, place: (file, line) });
        }
    }
}

fn code_of_unit(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    collector: &mut Collector,
) -> Result<(), gimli::Error> {
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut rows = program.rows();
    // Address, file and line of the row before.
    let mut before: Option<(u64, u64, u64)> = None;
    while let Some((_, row)) = rows.next_row()? {
        if let Some((start, file, line)) = before {
            collector.add(dwarf, unit, start..row.address(), file, line);
        }
        // Of several rows for one address, the last that starts a statement says it best.
        if before.is_some_and(|b| b.0 == row.address()) && !row.is_stmt() && !row.end_sequence() {
            continue;
        }
        let line = row.line().map_or(0, |l| l.get());
        before = (!row.end_sequence()).then_some((row.address(), row.file_index(), line));
    }
    Ok(())
}

/// The path of a file of a unit's line table, relative to nothing if the table knows its directory.
fn file_name(dwarf: &Dwarf<Reader>, unit: &Unit<Reader>, index: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value: AttributeValue<Reader>| -> Option<String> {
        Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned())
    };
    let name = text(file.path_name())?;
    let directory = file.directory(header).and_then(text).unwrap_or_default();
    let unit_directory = unit.comp_dir.map(|d| d.to_string_lossy().into_owned()).unwrap_or_default();
    let path = std::path::Path::new(&unit_directory).join(directory).join(name);
    Some(path.to_string_lossy().into_owned())
}

fn variables_of_unit(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    collector: &mut Collector,
) -> Result<(), gimli::Error> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else {
            continue;
        };
        let Some(at) = fixed_address(dwarf, unit, expression) else { continue };
        // A definition outside its class or namespace names its declaration.
        let specification = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => Some(unit.entry(offset)?),
            _ => None,
        };
        let number = |name| {
            let value = entry.attr_value(name).or_else(|| specification.as_ref()?.attr_value(name));
            match value? {
                AttributeValue::FileIndex(n) => Some(n),
                other => other.udata_value(),
            }
        };
        if let (Some(file), Some(line)) = (number(gimli::DW_AT_decl_file), number(gimli::DW_AT_decl_line)) {
            collector.add(dwarf, unit, at..at.saturating_add(1), file, line);
        }
    }
    Ok(())
}

/// The address that a location expression starts with, if it names one.
fn fixed_address(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    expression: gimli::Expression<Reader>,
) -> Option<u64> {
    match expression.operations(unit.encoding()).next().ok()?? {
        Operation::Address { address } => Some(address),
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok(),
        _ => None,
    }
}
