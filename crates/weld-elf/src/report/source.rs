//! Source lines from DWARF, for the places that errors speak of.
//!
//! The debug information of an object file is not relocated, and all its sections start at address 0.
//! To tell places apart, sections are taken to lie one behind the other, and the relocations of copies of
//! the debug sections are applied in those terms. One object is looked at once for all the places
//! in it, and only objects that an error shown to the user speaks of are looked at.
//!
//! For a function, the line table says which line the code at the place was made from. For a variable,
//! it is the line of its declaration. Debug information that is missing or damaged adds nothing:
//! the error itself is what matters.
//!
//! Specification: DWARF 5, sections 6.2 (line tables) and 4.1 (variables).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use gimli::{AttributeValue, Dwarf, EndianSlice, Operation, RunTimeEndian, SectionId as DwarfSection, Unit};
use weld_common::diag::{Diagnostic, Diagnostics, Place, Severity};

use crate::arch::class::Class;
use crate::compressed::Compressed;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::resolve::Resolved;
use crate::sections::decode_relocs;
use crate::wording::detailed;
use crate::wording::place::Extents;

/// Adds source lines to the diagnostics that a link ends with.
pub fn explain(job: &Job, resolved: &Resolved, result: Result<(), Diagnostics>) -> Result<(), Diagnostics> {
    let limit = detailed(job.options);
    match result {
        Ok(()) => {
            job.sink.amend(|list| add_lines(list, resolved, limit));
            Ok(())
        }
        Err(mut diagnostics) => {
            add_lines(&mut diagnostics.list, resolved, limit);
            Err(diagnostics)
        }
    }
}

/// Adds source lines to warnings and to the first `limit` errors.
fn add_lines(list: &mut [Diagnostic], resolved: &Resolved, limit: usize) {
    // (diagnostic, number in its places) by object.
    let mut wanted: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
    let mut errors = 0;
    for (d, diagnostic) in list.iter().enumerate() {
        errors += usize::from(diagnostic.severity == Severity::Error);
        if errors <= limit || diagnostic.severity == Severity::Warning {
            for (p, (_, place)) in diagnostic.places.iter().enumerate() {
                wanted.entry(place.file).or_default().push((d, p));
            }
        }
    }
    let mut found: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for (object, asked) in wanted {
        let Some(object) = resolved.objects.get(object as usize) else { continue };
        let places: Vec<Place> = asked.iter().map(|&(d, p)| list[d].places[p].1).collect();
        let lines = find(object, &places);
        let known = asked.into_iter().zip(lines).filter_map(|(at, line)| Some((at, line?)));
        found.extend(known);
    }
    // Last first, so that the positions of the others stay right.
    for ((d, p), line) in found.into_iter().rev() {
        let diagnostic = &mut list[d];
        let at = diagnostic.places[p].0.min(diagnostic.notes.len());
        diagnostic.notes.insert(at, format!("    at {line}"));
    }
}

type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// `file:line` of each place in an object, as far as its debug information knows.
pub fn find(object: &Object, places: &[Place]) -> Vec<Option<String>> {
    let mut found = vec![None; places.len()];
    let addresses = Addresses::of(object);
    let sections = DebugSections::load(object, &addresses);
    let order = if object.format().is_big() { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let load = |id: DwarfSection| -> Result<Reader, gimli::Error> {
        Ok(EndianSlice::new(sections.get(id.name()), order))
    };
    let Ok(dwarf) = Dwarf::load(load) else { return found };
    let mut asked = Vec::new();
    let mut extents = None;
    for (i, place) in places.iter().enumerate() {
        let code =
            object.shdrs.get(place.section as usize).is_some_and(|s| s.sh_flags() & SHF_EXECINSTR != 0);
        if code {
            asked.extend(addresses.get(place.section, place.offset).map(|a| (a, i, true)));
        } else {
            let extents: &Extents = extents.get_or_insert_with(|| Extents::of(object));
            let symbol = extents.enclosing(object, place.section, place.offset);
            let address = symbol.and_then(|(_, s)| addresses.get(place.section, s.st_value()));
            asked.extend(address.map(|a| (a, i, false)));
        }
    }
    asked.sort_unstable();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        if asked.iter().any(|a| a.2) {
            let _ = lines(&dwarf, &unit, &asked, &mut found);
        }
        if asked.iter().any(|a| !a.2) {
            let _ = variables(&dwarf, &unit, &asked, &mut found);
        }
    }
    found
}

/// Where the sections of an object that are in memory are taken to lie, with a gap behind each.
struct Addresses(Vec<Option<Range<u64>>>);

impl Addresses {
    const GAP: u64 = 16;

    /// A section that does not fit the address space has no place in it.
    fn of(object: &Object) -> Addresses {
        let mut next = Self::GAP;
        let most = object.format().max_address() - Self::GAP;
        let place = |shdr: &Shdr| {
            let end = next.checked_add(shdr.sh_size()).filter(|end| *end <= most)?;
            let place = (shdr.sh_flags() & SHF_ALLOC != 0).then_some(next..end)?;
            next = end + Self::GAP;
            Some(place)
        };
        Addresses(object.shdrs.iter().map(place).collect())
    }

    /// The address that stands for a byte of a section, or for its end.
    fn get(&self, section: u32, offset: u64) -> Option<u64> {
        let place = self.0.get(section as usize)?.as_ref()?;
        place.start.checked_add(offset).filter(|address| *address <= place.end)
    }
}

/// Those of `asked`, which is sorted, whose address is in the range.
fn within(asked: &[(u64, usize, bool)], range: Range<u64>) -> impl Iterator<Item = &(u64, usize, bool)> {
    let first = asked.partition_point(|a| a.0 < range.start);
    asked[first..].iter().take_while(move |a| a.0 < range.end)
}

/// Looks the addresses of code up in a unit's line table. `asked` is (address, index, whether code).
fn lines(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    asked: &[(u64, usize, bool)],
    found: &mut [Option<String>],
) -> Result<(), gimli::Error> {
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut rows = program.rows();
    // Address, file and line of the row before.
    let mut before: Option<(u64, u64, u64)> = None;
    let mut hits = Vec::new();
    while let Some((_, row)) = rows.next_row()? {
        if let Some((start, file, line)) = before {
            hits.extend(within(asked, start..row.address()).filter(|a| a.2).map(|a| (a.1, file, line)));
        }
        let line = row.line().map_or(0, |l| l.get());
        // Of several rows for one address, the last that starts a statement says it best.
        if before.is_some_and(|b| b.0 == row.address()) && !row.is_stmt() && !row.end_sequence() {
            continue;
        }
        before = (!row.end_sequence()).then_some((row.address(), row.file_index(), line));
    }
    for (index, file, line) in hits {
        if line > 0
            && let Some(path) = file_name(dwarf, unit, file)
        {
            found[index] = Some(format!("{path}:{line}"));
        }
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

/// Looks for the declarations of variables at the addresses.
fn variables(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    asked: &[(u64, usize, bool)],
    found: &mut [Option<String>],
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
        let there = within(asked, at..at.saturating_add(1));
        let asking: Vec<usize> = there.filter(|a| !a.2).map(|a| a.1).collect();
        if asking.is_empty() {
            continue;
        }
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
        let file = number(gimli::DW_AT_decl_file).and_then(|file| file_name(dwarf, unit, file));
        if let (Some(path), Some(line)) = (file, number(gimli::DW_AT_decl_line)) {
            asking.into_iter().for_each(|index| found[index] = Some(format!("{path}:{line}")));
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

/// The debug sections of an object, decompressed and relocated.
struct DebugSections<'a> {
    list: Vec<(String, Cow<'a, [u8]>)>,
}

impl<'a> DebugSections<'a> {
    fn load(object: &Object<'a>, addresses: &Addresses) -> DebugSections<'a> {
        let mut list = Vec::new();
        let mut index_of = vec![usize::MAX; object.shdrs.len()];
        for (i, shdr) in object.shdrs.iter().enumerate() {
            let Some(name) = object.section_name(i) else { continue };
            let wanted = name.starts_with(b".debug_") && shdr.sh_flags() & SHF_GROUP == 0;
            if let (true, Some(bytes)) = (wanted, contents(object, i)) {
                index_of[i] = list.len();
                list.push((String::from_utf8_lossy(name).into_owned(), bytes));
            }
        }
        for (i, shdr) in object.shdrs.iter().enumerate() {
            let target = index_of.get(shdr.sh_info() as usize).and_then(|&t| list.get_mut(t));
            if let (SHT_RELA | SHT_REL | SHT_CREL, Some((_, bytes))) = (shdr.sh_type(), target) {
                relocate(object, addresses, &decode_relocs(object, i).unwrap_or_default(), bytes.to_mut());
            }
        }
        DebugSections { list }
    }

    fn get(&self, name: &str) -> &[u8] {
        self.list.iter().find(|(n, _)| n == name).map_or(&[], |(_, bytes)| bytes)
    }
}

fn contents<'a>(object: &Object<'a>, index: usize) -> Option<Cow<'a, [u8]>> {
    let bytes = object.section_data(index)?;
    if object.shdrs[index].sh_flags() & SHF_COMPRESSED == 0 {
        return Some(Cow::Borrowed(bytes));
    }
    Some(Cow::Owned(Compressed::parse(bytes, object.format()).ok()?.decompress().ok()?))
}

/// Writes absolute relocations, which is all that debug sections need to find their way.
fn relocate(object: &Object, addresses: &Addresses, relocs: &[Rela], bytes: &mut [u8]) {
    for reloc in relocs {
        if !matches!(object.machine.class(reloc.kind()), Class::Address | Class::Narrow) {
            continue;
        }
        let size = object.machine.width(reloc.kind());
        let value = value(object, addresses, reloc.sym()).wrapping_add(reloc.r_addend() as u64);
        let start = reloc.r_offset() as usize;
        let end = start.checked_add(size);
        if let Some(field) = end.and_then(|end| bytes.get_mut(start..end)) {
            object.format().put(field, value);
        }
    }
}

/// Sections in memory are apart; all others start at 0.
fn value(object: &Object, addresses: &Addresses, index: u32) -> u64 {
    let Some(symbol) = object.syms.get(index as usize) else { return 0 };
    match object.place(index, symbol) {
        SymbolPlace::Section(shndx) => match object.shdrs.get(shndx as usize) {
            Some(s) if s.sh_flags() & SHF_ALLOC != 0 => addresses.get(shndx, symbol.st_value()).unwrap_or(0),
            _ => symbol.st_value(),
        },
        _ => 0,
    }
}
