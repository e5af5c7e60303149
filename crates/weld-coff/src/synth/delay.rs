//! Tables for DLLs that are loaded when one of their functions is called first (`/delayload`).
//!
//! They are those of imports once more, but the loader of the system does not look at them: a helper of the run-time library does, which
//! the code in [`crate::arch::DelayCode`] calls. Slots hold the addresses of thunks at first; `/delay:unload` keeps a copy of them, with which
//! the helper undoes what it did. Source: "PE Format", Delay-Load Import Tables.

use super::Table;
use super::imports::Imports;
use crate::arch::{Facts, facts};
use crate::coff::machine::Machine;
use crate::ids::ImportId;

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
