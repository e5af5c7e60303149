//! Origins from debug information: each compile unit is an object with a source.
//!
//! Of each unit only the first record is read, which has its name, directory, language and addresses. Its own
//! bytes in `.debug_info` came with it, too. What is damaged is not known.
//!
//! Specification: DWARF 5, sections 3.1.1 and 2.17.

use gimli::{AttributeValue, Dwarf, EndianSlice, RunTimeEndian, Section as _, SectionId, Unit};
use object::read::Object as _;

use super::container::Container;
use super::origins::{Origin, Origins};
use crate::model::Language;
use crate::unit;

type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// Units may share lists of ranges, so that a small file has endless ones. No real file has more a unit.
const RANGES_PER_UNIT: usize = 1 << 20;

/// Of all units.
const RANGES: usize = 1 << 24;

/// What the units of a file say; nothing if it has no debug information.
pub fn origins(container: &Container) -> Origins {
    let mut origins = Origins::default();
    let order = if container.file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: SectionId| Ok::<_, gimli::Error>(container.debug(id.name()));
    let Ok(sections) = gimli::DwarfSections::load(load) else { return origins };
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, order));
    let info = container.sections.iter().position(|section| section.name == b".debug_info");
    // Bytes of a packed section are nobody's.
    let info = info.filter(|info| container.sections[*info].size == dwarf.debug_info.reader().len() as u64);
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let place =
            header.debug_info_offset().map(|offset| (offset.0 as u64, header.length_including_self() as u64));
        let Ok(unit) = dwarf.unit(header) else { continue };
        let number = origins.list.len() as u32;
        let Some(origin) = describe(&unit, number) else { continue };
        origins.list.push(origin);
        if let (Some((offset, size)), Some(info)) = (place, info) {
            let start = container.sections[info].address;
            origins.add(info, start.wrapping_add(offset), size, number);
        }
        // What was read before damage is right.
        _ = add_ranges(&dwarf, &unit, container, number, &mut origins);
        if origins.count() > RANGES {
            break;
        }
    }
    origins.sort();
    origins
}

fn add_ranges<'d>(
    dwarf: &Dwarf<Reader<'d>>,
    unit: &Unit<Reader<'d>>,
    container: &Container,
    number: u32,
    origins: &mut Origins,
) -> Result<(), gimli::Error> {
    let mut ranges = dwarf.unit_ranges(unit)?;
    for _ in 0..RANGES_PER_UNIT {
        let Some(range) = ranges.next()? else { break };
        let holds = |section: &super::container::Section| {
            section.memory > 0 && range.begin.wrapping_sub(section.address) < section.memory
        };
        if let Some(section) = container.sections.iter().position(holds) {
            origins.add(section, range.begin, range.end.saturating_sub(range.begin), number);
        }
    }
    Ok(())
}

/// `None` for units that have no code or data: types, parts of other units.
fn describe(unit: &Unit<Reader>, number: u32) -> Option<Origin> {
    let text = |reader: Option<Reader>| reader.map(|text| text.to_string_lossy().into_owned());
    let name = text(unit.name)?;
    let directory = text(unit.comp_dir).unwrap_or_default();
    let mut entries = unit.entries();
    let entry = entries.next_dfs().ok()??;
    let language = match entry.attr_value(gimli::DW_AT_language) {
        Some(AttributeValue::Language(language)) => unit::language(language),
        _ => Language::Unknown,
    };
    let source = unit::join(&directory, &name);
    Some(Origin { object: number, name, archive: None, section: String::new(), source, language })
}
