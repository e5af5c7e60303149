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
use weld_common::diag::{Cause, DiagSink, Diagnostic};

use super::Table;
use super::imports::Imports;
use super::section::{At, Sizes, Spec, Synthetic, put_words};
use super::tables::Tables;
use crate::address::Rva;
use crate::arch::{Facts, Rules, facts, with_rules};
use crate::coff::machine::Machine;
use crate::coff::pe;
use crate::ids::{ImportId, SectionId};
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, READ_ONLY, Sections};

/// Bytes of what the helper is told of a DLL.
pub const DIRECTORY_ENTRY: u32 = 32;

/// Bytes of the place for a DLL's handle: as many as on machines with addresses of 64 bits.
const HANDLE: u32 = 8;

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

    /// All slots, with what is imported by each.
    pub fn slots(&self) -> impl Iterator<Item = (u32, ImportId)> {
        let size = self.facts.address;
        let all = self.imports.dlls();
        all.flat_map(move |(_, start, imports)| (start..).step_by(size as usize).zip(imports.iter().copied()))
    }
}

/// What the helper is told, an entry for each DLL and one of zeroes.
pub struct Directory;

impl Synthetic for Directory {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| {
            Spec::read_only(b".didat$2", 2, (delayed.imports.dll_count() as u32 + 1) * DIRECTORY_ENTRY)
        })
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        /// Addresses are offsets in the image.
        const RELATIVE: u32 = 1;
        let [names, handles] = [Table::DelayDlls, Table::DelayHandles].map(|table| at.rva_of(table));
        let [addresses, lookups] = [Table::DelayAddress, Table::DelayLookup].map(|table| at.rva_of(table));
        let unload = at.image.table(Table::DelayUnload);
        let entries = (0..).zip(at.tables().delayed.imports.dlls()).flat_map(|(i, (name, slots, _))| {
            let handle = handles + i * HANDLE;
            let unload = unload.map_or(Rva::ZERO, |table| table + slots);
            let places = [names + name, handle, addresses + slots, lookups + slots, Rva::ZERO, unload];
            std::iter::once(RELATIVE).chain(places.map(Rva::get)).chain([0])
        });
        put_words(out, entries.chain([0; DIRECTORY_ENTRY as usize / 4]));
    }
}

/// What is imported, a slot each; zeroes after those of a DLL.
pub struct Lookups;

impl Synthetic for Lookups {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| {
            Spec::read_only(b".didat$4", sizes.address_align(), delayed.imports.slots_size())
        })
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.tables().delayed.imports.write_slots(at.rva_of(Table::DelayHints), out);
    }
}

/// A copy of the slots as they are at first.
pub struct Unload;

impl Synthetic for Unload {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let spec = of_delayed(sizes, |delayed| {
            Spec::read_only(b".didat$5", sizes.address_align(), delayed.imports.slots_size())
        });
        spec.filter(|_| sizes.tables.delayed.unload)
    }

    fn addresses(&self, tables: &Tables) -> Vec<u32> {
        tables.delayed.slots().map(|(at, _)| at).collect()
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write_slots(at, out);
    }
}

/// Names of what is imported. The helper does not look at the numbers in front of them.
pub struct Hints;

impl Synthetic for Hints {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| Spec::read_only(b".didat$6", 1, delayed.imports.hints().len() as u32))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.tables().delayed.imports.hints());
    }
}

/// The names of DLLs.
pub struct Names;

impl Synthetic for Names {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| Spec::read_only(b".didat$7", 0, delayed.imports.names().len() as u32))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.tables().delayed.imports.names());
    }
}

/// Where the helper puts the handles of DLLs.
pub struct Handles;

impl Synthetic for Handles {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| {
            let size = delayed.imports.dll_count() as u32 * HANDLE;
            Spec { part: b".data", flags: WRITABLE, align: 3, size }
        })
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}

/// The slots, which the helper writes to.
pub struct Addresses;

impl Synthetic for Addresses {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| {
            let (align, size) = (sizes.address_align(), delayed.imports.slots_size());
            Spec { part: b".data", flags: WRITABLE, align, size }
        })
    }

    fn addresses(&self, tables: &Tables) -> Vec<u32> {
        tables.delayed.slots().map(|(at, _)| at).collect()
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write_slots(at, out);
    }
}

/// How the code that calls the helper is unwound.
pub struct Unwind;

impl Synthetic for Unwind {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| Spec::read_only(b".xdata", 2, delayed.facts.delay.unwind.len() as u32))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.image.facts().delay.unwind);
    }
}

/// Entries of that code in the table of functions for unwinding.
pub struct Functions;

impl Synthetic for Functions {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_delayed(sizes, |delayed| {
            let size = delayed.imports.dll_count() * delayed.facts.function;
            Spec::read_only(b".pdata", 2, size as u32)
        })
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let code = &at.image.facts().delay;
        let unwind = at.rva_of(Table::DelayUnwind);
        let first = at.tables().delayed.imports.dlls().filter_map(|(.., imports)| imports.first());
        let entries = first.flat_map(|first| {
            let start = at.image.layout.rva(at.image.symbols.delays.loader(*first));
            let end = code.has_ends.then_some(start + code.loader.bytes.len() as u32);
            [Some(start), end, Some(unwind)].into_iter().flatten().map(Rva::get)
        });
        put_words(out, entries);
    }
}

/// Flags of what the helper writes to.
const WRITABLE: u32 = READ_ONLY | pe::IMAGE_SCN_MEM_WRITE.0;

/// What there is if a DLL is loaded late, and anything in it.
fn of_delayed(sizes: &Sizes, spec: impl FnOnce(&Delayed) -> Spec) -> Option<Spec> {
    let delayed = Some(&sizes.tables.delayed).filter(|delayed| !delayed.imports.is_empty());
    delayed.map(spec)?.unless_empty()
}

/// The slots before anything is loaded: addresses of thunks.
fn write_slots(at: &At, out: &mut [u8]) {
    let image = at.image;
    let width = image.facts().address as usize;
    out.fill(0);
    for (slot, import) in image.tables.delayed.slots() {
        let Some(thunk) = image.symbols.delays.thunk(import) else { continue };
        let address = image.layout.rva(thunk).in_memory(image.base);
        out[slot as usize..][..width].copy_from_slice(&address.to_le_bytes()[..width]);
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
        let warning = Diagnostic::warning(
            Cause::DelayLoad,
            format!("/delayload:{dll} has no effect: nothing is imported from it"),
        );
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
