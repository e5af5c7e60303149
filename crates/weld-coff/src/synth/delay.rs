//! Tables for DLLs that are loaded when one of their functions is called first (`/delayload`).
//!
//! They are those of imports once more, but the loader of the system does not look at them: a helper of the
//! run-time library does, which the code in [`crate::arch::DelayCode`] calls. Slots hold the addresses of
//! thunks at first; `/delay:unload` keeps a copy of them, with which the helper undoes what it did. Source:
//! "PE Format", Delay-Load Import Tables.
//!
//! GNU `dlltool -y` makes import libraries that bring all of this in objects: for them only the memory has to
//! be such that the helper can write to slots.

use object::LittleEndian as LE;
use weld_common::diag::{DiagSink, Diagnostic};

use super::Table;
use super::imports::Imports;
use crate::arch::{Facts, Rules, facts};
use crate::coff::machine::Machine;
use crate::ids::{ImportId, SectionId};
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, Sections};
use crate::with_rules;

/// Bytes of what the helper is told of a DLL.
pub const DIRECTORY_ENTRY: u32 = 32;

/// Bytes of the place for a DLL's handle: as many as on machines with addresses of 64 bits.
pub const HANDLE: u32 = 8;

pub struct Delayed<'a> {
    pub imports: Imports<'a>,
    facts: &'static Facts,
    /// DLLs can be unloaded.
    unload: bool,
}

impl<'a> Delayed<'a> {
    pub fn new(imports: Imports<'a>, machine: Machine, unload: bool) -> Delayed<'a> {
        Delayed { imports, facts: facts(machine), unload }
    }

    /// The tables that there are, and their sizes.
    pub fn sizes(&self) -> Vec<(Table, u32)> {
        let count = self.imports.dll_count() as u32;
        if count == 0 {
            return Vec::new();
        }
        let [_, lookup, address, hints, names] = self.imports.sizes();
        let all = [
            (Table::DelayDirectory, (count + 1) * DIRECTORY_ENTRY),
            (Table::DelayLookup, lookup),
            (Table::DelayUnload, if self.unload { address } else { 0 }),
            (Table::DelayHints, hints),
            (Table::DelayDlls, names),
            (Table::DelayHandles, count * HANDLE),
            (Table::DelayAddress, address),
            (Table::DelayUnwind, self.facts.delay.unwind.len() as u32),
            (Table::DelayFunctions, count * self.facts.function as u32),
        ];
        all.into_iter().filter(|(_, size)| *size != 0).collect()
    }

    /// Offsets in a table at which it has addresses.
    pub fn addresses(&self, table: Table) -> impl Iterator<Item = u32> {
        let has_slots = matches!(table, Table::DelayAddress | Table::DelayUnload);
        self.slots().filter(move |_| has_slots).map(|(at, _)| at)
    }

    /// All slots, with what is imported by each.
    pub fn slots(&self) -> impl Iterator<Item = (u32, ImportId)> {
        let size = self.facts.address;
        let all = self.imports.dlls();
        all.flat_map(move |(_, start, imports)| (start..).step_by(size as usize).zip(imports.iter().copied()))
    }
}

/// Whether objects have slots that a helper writes to: beside those that the loader fills, as these have the
/// address of code at first.
pub fn is_in_objects(resolved: &Resolved, sections: &Sections, live: &Live) -> bool {
    with_rules!(resolved.machine, has_addresses(resolved, sections, live))
}

fn has_addresses<R: Rules>(resolved: &Resolved, sections: &Sections, live: &Live) -> bool {
    let is_slots: Vec<bool> = sections.parts.iter().map(|part| part.name == b".idata$5").collect();
    if !is_slots.contains(&true) {
        return false;
    }
    (0..).map(SectionId).zip(&sections.list).any(|(id, section)| {
        section.kind == Kind::Regular && is_slots[section.part as usize] && live.has(id) && {
            let object = &resolved.objects[section.object.index()];
            let header = sections.header(&resolved.objects, section);
            let relocations = object.coff.relocations(header).unwrap_or_default();
            relocations.iter().any(|relocation| R::base_relocation(relocation.typ.get(LE).0).is_some())
        }
    })
}

/// Says which DLLs nothing is imported from that could be loaded late.
pub fn say_unused(resolved: &Resolved, options: &Options, sink: &DiagSink) {
    for dll in &options.delay_loads {
        if resolved.imports.iter().any(|import| import.import.dll.eq_ignore_ascii_case(dll.as_bytes())) {
            continue;
        }
        let warning =
            Diagnostic::warning(format!("/delayload:{dll} has no effect: nothing is imported from it"));
        sink.push(match is_named_in_objects(resolved, dll) {
            false => warning,
            true => warning.note(
                "but by objects of a GNU import library, which the loader reads; 'dlltool -y' makes one for late loading",
            ),
        });
    }
}

/// Whether objects of a GNU import library have the name of this DLL.
fn is_named_in_objects(resolved: &Resolved, dll: &str) -> bool {
    let is_name = |bytes: &[u8]| {
        bytes
            .split_at_checked(dll.len())
            .is_some_and(|(name, rest)| name.eq_ignore_ascii_case(dll.as_bytes()) && rest.first() == Some(&0))
    };
    resolved.objects.iter().map(|object| &object.coff).any(|coff| {
        let mut names = coff.sections.iter().filter(|header| coff.section_name(header) == Ok(b".idata$7"));
        names.any(|header| coff.contents(header).is_ok_and(is_name))
    })
}
