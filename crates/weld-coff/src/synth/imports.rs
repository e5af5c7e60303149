//! The import tables: for each DLL what is taken from it, and the places in which the loader puts addresses.
//!
//! DLLs are in the order in which files that take part name them first, their symbols in the order of names.
//! All tables are laid out before there are addresses: what they say of one another are offsets then.

use std::collections::HashMap;

use super::Table;
use super::section::{At, Sizes, Spec, Synthetic, put_words};
use crate::address::Rva;
use crate::arch::facts;
use crate::ids::ImportId;
use crate::live::Live;
use crate::resolve::Resolved;

/// Bytes of an entry for a DLL.
const DIRECTORY_ENTRY: usize = 20;

struct Dll<'a> {
    name: &'a [u8],
    /// Offset of its name.
    name_at: u32,
    imports: Vec<ImportId>,
    /// Offset of its first slot in both tables of slots.
    slots_at: u32,
}

pub struct Imports<'a> {
    dlls: Vec<Dll<'a>>,
    /// Offset in the address table of each import; all ones for those that are not needed.
    slots: Vec<u32>,
    /// What each slot says, in order; a zero after those of a DLL.
    lookups: Vec<Lookup>,
    hints: Vec<u8>,
    names: Vec<u8>,
    /// Bytes of a slot: of an address.
    slot: u32,
    /// Nobody makes use of the numbers at which names may be in the DLLs' tables.
    late: bool,
}

#[derive(Clone, Copy)]
enum Lookup {
    End,
    Ordinal(u16),
    /// Offset among hints and names.
    Name(u32),
}

impl<'a> Imports<'a> {
    /// The imports that `takes` says; `late` ones are those of DLLs that a helper of the run-time library
    /// loads.
    pub fn new(
        resolved: &Resolved<'a>,
        live: &Live,
        late: bool,
        takes: impl Fn(ImportId) -> bool,
    ) -> Imports<'a> {
        let mut dlls: Vec<Dll> = Vec::new();
        let mut number: HashMap<Vec<u8>, usize> = HashMap::new();
        for (i, file) in resolved.imports.iter().enumerate() {
            let id = ImportId(i as u32);
            if !takes(id) {
                continue;
            }
            let name = file.import.dll;
            let dll = *number.entry(name.to_ascii_lowercase()).or_insert_with(|| {
                dlls.push(Dll { name, name_at: 0, imports: Vec::new(), slots_at: 0 });
                dlls.len() - 1
            });
            if live.has_import(id) {
                dlls[dll].imports.push(id);
            }
        }
        dlls.retain(|dll| !dll.imports.is_empty());
        let mut imports = Imports {
            slots: vec![u32::MAX; resolved.imports.len()],
            lookups: Vec::new(),
            hints: Vec::new(),
            names: Vec::new(),
            slot: facts(resolved.machine).address,
            late,
            dlls: Vec::new(),
        };
        for mut dll in dlls {
            dll.imports.sort_by_key(|id| resolved.imports[id.index()].import.symbol);
            imports.add(&mut dll, resolved);
            imports.dlls.push(dll);
        }
        imports
    }

    fn add(&mut self, dll: &mut Dll<'a>, resolved: &Resolved<'a>) {
        dll.slots_at = self.lookups.len() as u32 * self.slot;
        dll.name_at = self.names.len() as u32;
        self.names.extend_from_slice(dll.name);
        self.names.push(0);
        for id in &dll.imports {
            let import = &resolved.imports[id.index()].import;
            self.slots[id.index()] = self.lookups.len() as u32 * self.slot;
            self.lookups.push(match import.external {
                None => Lookup::Ordinal(import.ordinal),
                Some(name) => {
                    let at = self.hints.len() as u32;
                    let hint = if self.late { 0 } else { import.ordinal };
                    self.hints.extend_from_slice(&hint.to_le_bytes());
                    self.hints.extend_from_slice(name);
                    self.hints.push(0);
                    if !self.hints.len().is_multiple_of(2) {
                        self.hints.push(0);
                    }
                    Lookup::Name(at)
                }
            });
        }
        self.lookups.push(Lookup::End);
    }

    pub fn is_empty(&self) -> bool {
        self.dlls.is_empty()
    }

    pub fn dll_count(&self) -> usize {
        self.dlls.len()
    }

    /// Of each DLL where its name is, where its slots begin, and what is taken from it.
    pub fn dlls(&self) -> impl Iterator<Item = (u32, u32, &[ImportId])> {
        self.dlls.iter().map(|dll| (dll.name_at, dll.slots_at, &dll.imports[..]))
    }

    /// Offset of an import's slot in the address table.
    #[inline]
    pub fn slot(&self, import: ImportId) -> Option<u32> {
        self.slots.get(import.index()).copied().filter(|&slot| slot != u32::MAX)
    }

    /// Bytes of each of both tables of slots.
    pub fn slots_size(&self) -> u32 {
        self.lookups.len() as u32 * self.slot
    }

    /// Writes the slots as they are before loading: both tables have the same. `hints` is where hints and
    /// names lie.
    pub fn write_slots(&self, hints: Rva, out: &mut [u8]) {
        let size = self.slot as usize;
        for (place, lookup) in out.chunks_exact_mut(size).zip(&self.lookups) {
            let value: u64 = match *lookup {
                Lookup::End => 0,
                Lookup::Ordinal(ordinal) => 1 << (8 * self.slot - 1) | u64::from(ordinal),
                Lookup::Name(at) => u64::from((hints + at).get()),
            };
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// Numbers and names of what is imported.
    pub fn hints(&self) -> &[u8] {
        &self.hints
    }

    /// Names of DLLs.
    pub fn names(&self) -> &[u8] {
        &self.names
    }
}

/// Where the loader looks: an entry for each DLL, and one of zeroes. 20 bytes each: where its lookups are,
/// two numbers that are for the loader, where its name and its addresses are.
pub struct Directory;

impl Directory {
    pub const PART: &[u8] = b".idata$2";
}

impl Synthetic for Directory {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let imports = &sizes.tables.imports;
        // Import libraries of GNU tools have entries of the directory, and not its end.
        let has_part = |name| sizes.live.has_part(sizes.sections, name);
        let is_open = || has_part(Directory::PART) && !has_part(b".idata$3");
        let size = (imports.dlls.len() + 1) * DIRECTORY_ENTRY;
        (!imports.is_empty() || is_open()).then(|| Spec::read_only(Directory::PART, 2, size as u32))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let [lookups, addresses, names] =
            [Table::ImportLookup, Table::ImportAddress, Table::ImportDlls].map(|table| at.rva_of(table));
        let entries = at.tables().imports.dlls.iter().flat_map(|dll| {
            [lookups + dll.slots_at, Rva::ZERO, Rva::ZERO, names + dll.name_at, addresses + dll.slots_at]
        });
        put_words(out, entries.map(Rva::get).chain([0; DIRECTORY_ENTRY / 4]));
    }
}

/// What is imported, a slot each; zeroes after those of a DLL.
pub struct Lookups;

impl Synthetic for Lookups {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_imports(sizes, |imports| Spec::read_only(b".idata$4", sizes.address_align(), imports.slots_size()))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.tables().imports.write_slots(at.rva_of(Table::ImportHints), out);
    }
}

/// The slots in which the loader puts addresses; before that they have what [`Lookups`] have.
pub struct Addresses;

impl Addresses {
    pub const PART: &[u8] = b".idata$5";
}

impl Synthetic for Addresses {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_imports(sizes, |imports| {
            Spec::read_only(Addresses::PART, sizes.address_align(), imports.slots_size())
        })
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.tables().imports.write_slots(at.rva_of(Table::ImportHints), out);
    }
}

/// For each name that is imported where it may be in the DLL's table of names, and the name, padded to two
/// bytes.
pub struct Hints;

impl Synthetic for Hints {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_imports(sizes, |imports| Spec::read_only(b".idata$6", 1, imports.hints.len() as u32))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(&at.tables().imports.hints);
    }
}

/// The names of DLLs.
pub struct Names;

impl Synthetic for Names {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        of_imports(sizes, |imports| Spec::read_only(b".idata$7", 0, imports.names.len() as u32))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(&at.tables().imports.names);
    }
}

/// What there is if anything is imported.
fn of_imports(sizes: &Sizes, spec: impl FnOnce(&Imports) -> Spec) -> Option<Spec> {
    Some(&sizes.tables.imports).filter(|imports| !imports.is_empty()).map(spec)
}
