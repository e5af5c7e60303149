//! Functions of shared objects that nobody called when the tables were written: those that changed objects call take
//! spare entries of the PLT ([`crate::sections::spare_imports`]).
//!
//! It is looked for them only if an object mentions a name that may not be mentioned anew. What the name is bound to
//! is as the last link has it: its row tells the shared object, which is as it was. That is needed already, and so is
//! the version. A library's own functions that others may replace are called in the same way ([`find_own`]). What
//! relocations ask of the name is looked at as ever: calls are all that a spare entry is for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::{LastLink, Left, Patch, View, changed_object, format, new_places, new_words, parsed};
use crate::address::Address;
use crate::arch;
use crate::arch::class::Class;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::{FileId, OutputSectionId};
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::input::versions::parse_verneed;
use crate::input::{FileName, Reading};
use crate::job::Job;
use crate::options::OutputKind;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink_state::excerpt::{Common, KnownImport};
use crate::relink_state::keys;
use crate::relink_state::mentions::{Globals, asks, may_be_imported};
use crate::relink_state::rows::{InputRow, NONE, NameRow, OutputRow, input_kind};
use crate::sections::decode_relocs;
use crate::sections::spare_imports::{Import, SpareImports};
use crate::symbols::symbol_flags;
use crate::synth::symbol_record::Record;

/// The last link's imports and those that changed objects mention for the first time; `None` if there are none of
/// these, or too many.
///
/// # Errors
/// If something cannot be read.
pub fn find(job: &Job, changes: &Changes, last: &LastLink) -> Result<Option<Vec<KnownImport>>, Why> {
    let (left, common) = last.view(job)?;
    let format = format(&left)?;
    let Some(needed) = Needed::read(&left, &common, format).filter(|_| format.is_native()) else {
        return Ok(None);
    };
    let mut spares = spares(&common, last.imports);
    if spares.count == 0 {
        return Ok(None);
    }
    let mut imports = last.imports.to_vec();
    let mut libraries = Libraries { job, changes, left: &left, known: HashMap::new() };
    for changed in &changes.objects {
        let data = changed_object::bytes(job, changes, changed)?;
        let Some(object) = parsed::with_its_names(job, data) else { continue };
        let globals = Globals::of(&object);
        for (symbol, (hash, said)) in (globals.first()..).zip(globals.list()) {
            if !asks(*said) {
                continue;
            }
            let Some((row, name)) = common.find_name(left.tables, *hash)? else { continue };
            let is_known = imports.iter().any(|known| known.row == row);
            if is_known || row >= common.count || !may_be_imported(&name, common.is_resolved) {
                continue;
            }
            let text = object.symbol_name(symbol);
            let Some(library) = libraries.get(&name)? else { continue };
            let Some(version) = needed.version_of(library, &name, text) else { continue };
            if !spares.have_room(text.len()) {
                return Ok(None);
            }
            let import = Import { name: text.to_vec(), version, is_own: false };
            spares.taken.push(import.clone());
            imports.push(KnownImport { row, import });
        }
    }
    if !find_own(job, changes, last, (&mut spares, &mut imports))? {
        return Ok(None);
    }
    Ok((imports.len() > last.imports.len()).then_some(imports))
}

/// Adds functions of a library that it exports, and that changed objects call and nobody did: they may be new, too.
/// Whether all have entries.
fn find_own(
    job: &Job,
    changes: &Changes,
    last: &LastLink,
    (spares, imports): (&mut SpareImports, &mut Vec<KnownImport>),
) -> Result<bool, Why> {
    // Nobody replaces what a program defines.
    if job.options.kind != OutputKind::Shared {
        return Ok(true);
    }
    // Why it cannot be done is said by who looks at it next.
    let Ok(places) = new_places(job, changes, last) else { return Ok(true) };
    let (left, mut common) = last.view(job)?;
    common.names = places.names;
    for changed in &changes.objects {
        let data = changed_object::bytes(job, changes, changed)?;
        let Some(object) = parsed::with_its_names(job, data) else { continue };
        let Some(machine) = arch::of_file(data) else { continue };
        for symbol in called(&object, machine.facts()) {
            let text = object.symbol_name(symbol);
            let Some((row, name)) = common.find_name(left.tables, keys::hash(text))? else { continue };
            let is_known = imports.iter().any(|known| known.row == row);
            if is_known || !is_called_as_another(&name) {
                continue;
            }
            if !spares.have_room(0) {
                return Ok(false);
            }
            let import = Import { name: text.to_vec(), version: VER_NDX_LOCAL, is_own: true };
            spares.taken.push(import.clone());
            imports.push(KnownImport { row, import });
        }
    }
    Ok(true)
}

/// Whether others may replace a function that is defined here, and it has no entry yet.
fn is_called_as_another(name: &NameRow) -> bool {
    const SAID: u32 = symbol_flags::KIND
        | symbol_flags::PREEMPTIBLE
        | symbol_flags::EXPORTED
        | symbol_flags::IFUNC
        | symbol_flags::TLS
        | symbol_flags::NEEDS;
    name.flags & SAID == symbol_flags::DEFINED | symbol_flags::PREEMPTIBLE | symbol_flags::EXPORTED
        && name.slot == NONE
}

/// The names that an object's code calls, by symbol.
fn called(object: &Object, facts: &Facts) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let target = object.shdrs.get(shdr.sh_info() as usize);
        let is_code = target.is_some_and(|target| target.sh_flags() & SHF_EXECINSTR != 0);
        if !is_code || !matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL) {
            continue;
        }
        let relocs = decode_relocs(object, index).unwrap_or_default();
        let is_call = |reloc: &&Rela| facts.class(reloc.kind()) == Class::Plt;
        let globals = object.first_global..object.syms.len() as u32;
        let symbols = relocs.iter().filter(is_call).map(Rela::sym);
        found.extend(symbols.filter(|symbol| globals.contains(symbol)));
    }
    found
}

fn spares(common: &Common, imports: &[KnownImport]) -> SpareImports {
    let taken = imports.iter().map(|known| known.import.clone()).collect();
    SpareImports { count: common.spares(), taken, ids: Vec::new() }
}

/// Shared objects, by their rows.
struct Libraries<'l, 'j> {
    job: &'l Job<'j>,
    changes: &'l Changes,
    left: &'l View<'l>,
    known: HashMap<u32, Option<Shared<'j>>>,
}

impl<'j> Libraries<'_, 'j> {
    /// The one that defines a name.
    fn get(&mut self, name: &NameRow) -> Result<Option<&Shared<'j>>, Why> {
        Ok(match self.known.entry(name.input) {
            Entry::Occupied(known) => known.into_mut().as_ref(),
            Entry::Vacant(new) => {
                let input: InputRow = self.left.tables.row(name.input.into())?;
                let file = self.changes.files.get(input.file as usize);
                let Some(file) = file.filter(|_| input.kind == input_kind::SHARED) else { return Ok(None) };
                let data = self.job.store.open_once(&file.path).map_err(|e| Why::System(e.to_string()))?;
                let data = data.ok_or_else(|| Why::Gone(file.path.clone()))?;
                let parsed = arch::of_file(data).and_then(|machine| {
                    let reading =
                        Reading { machine: machine.facts(), store: self.job.store, parallel: false };
                    let name = FileName { path: "".into(), member: None };
                    Shared::parse(FileId(0), name, data, reading, b"", false).ok()
                });
                new.insert(parsed).as_ref()
            }
        })
    }
}

/// What the output needs of others.
struct Needed {
    libraries: Vec<Vec<u8>>,
    /// By library and name.
    versions: HashMap<(Vec<u8>, Vec<u8>), u16>,
}

impl Needed {
    fn read(left: &View, common: &Common, format: Format) -> Option<Needed> {
        let bytes = |out: &OutputRow| left.read(out.offset, usize::try_from(out.size).ok()?);
        let strings = bytes(common.output(b".dynstr")?)?;
        let table = bytes(common.outputs().iter().find(|out| out.kind == SHT_DYNAMIC)?)?;
        let entries = records::<Dyn>(&table, format, 0, table.len() as u64 / format.size::<Dyn>())?;
        let (mut libraries, mut files) = (Vec::new(), 0);
        for entry in entries.iter().take_while(|entry| entry.d_tag() != DT_NULL) {
            match entry.d_tag() {
                DT_NEEDED => {
                    libraries.push(string(&strings, u32::try_from(entry.d_val()).ok()?)?.to_vec());
                }
                DT_VERNEEDNUM => files = u32::try_from(entry.d_val()).ok()?,
                _ => {}
            }
        }
        let mut versions = HashMap::new();
        if let Some(out) = common.output(b".gnu.version_r") {
            for version in parse_verneed(&bytes(out)?, files, &strings, format).ok()? {
                versions.insert((version.file.to_vec(), version.name.to_vec()), version.index);
            }
        }
        Some(Needed { libraries, versions })
    }

    /// The index of the version with which a needed library defines a function.
    fn version_of(&self, library: &Shared, name: &NameRow, text: &[u8]) -> Option<u16> {
        let symbol = library.syms.get(name.symbol as usize)?;
        let is_function = matches!(symbol.kind(), STT_FUNC | STT_GNU_IFUNC)
            && matches!(symbol.binding(), STB_GLOBAL | STB_WEAK)
            && (symbol.st_other(), symbol.st_shndx() == SHN_UNDEF) == (STV_DEFAULT, false)
            && library.symbol_name(name.symbol) == text;
        let is_needed = self.libraries.iter().any(|needed| needed == library.soname);
        if !is_function || !is_needed {
            return None;
        }
        match (library.version(name.symbol), library.version_name(name.symbol)) {
            ((_, false), _) => None,
            (_, Some(version)) => self.versions.get(&(library.soname.to_vec(), version.to_vec())).copied(),
            ((VER_NDX_GLOBAL, _), None) => library.versions.is_empty().then_some(VER_NDX_GLOBAL),
            _ => None,
        }
    }
}

/// Has the entries by which a library calls its own functions that others may replace be told of by the symbols of
/// these; those of functions that are gone by none, which loaders look nothing up for.
///
/// # Errors
/// If the image is not what it was.
pub fn write_own(job: &Job, last: &LastLink, patch: &mut Patch) -> Result<(), Why> {
    let (left, common) = last.view(job)?;
    let own = (0..).zip(last.imports).filter(|(_, known)| known.import.is_own);
    let first = common.first_spare().unwrap_or(0);
    let mut entries: Vec<(u32, u32)> = own.map(|(spare, known)| (first + spare, known.row)).collect();
    let gone = new_words::places_of_gone(&left, &common, last)?;
    entries.extend(gone.into_iter().filter_map(|(row, places)| Some((places.entry?, row))));
    if entries.is_empty() {
        return Ok(());
    }
    let table = common.output(b".rela.plt").ok_or(Why::Image)?;
    for (entry, row) in entries {
        let symbol = match last.names.gone.contains(&row) {
            true => 0,
            false => common.name(left.tables, row)?.dynamic,
        };
        let at = u64::from(entry) * Rela::SIZE as u64 + RELA_SYMBOL;
        if at >= table.size {
            return Err(Why::Image);
        }
        let write = (table.offset + at, symbol.to_le_bytes().to_vec());
        patch.compare(last.image, &write).map_err(|_| Why::Image)?;
    }
    Ok(())
}

/// Adds what tables have of the imports of `last`.
///
/// # Errors
/// If the image is not what it was.
pub fn write(job: &Job, last: &LastLink, patch: &mut Patch) -> Result<(), Why> {
    let last = &LastLink { names: &patch.names.clone(), ..*last };
    let (left, common) = last.view(job)?;
    let spares = spares(&common, last.imports);
    let first = common.outputs().first().ok_or(Why::Image)?;
    let of_kind = |kind: u32| common.outputs().iter().find(|out| out.kind == kind);
    let names = |out: &OutputRow| out.size.checked_sub(spares.names()).ok_or(Why::Image);
    let mut writes = Vec::new();
    let of_section = Record::section(OutputSectionId(0).header(), Address::new(first.address)).make(0).0;
    let (dynsym, dynstr) = of_kind(SHT_DYNSYM).zip(common.output(b".dynstr")).ok_or(Why::Image)?;
    let symbols = spares.dynamic(of_section, names(dynstr)? as u32);
    writes.push((dynsym.offset + Sym::SIZE as u64, bytes_of(&symbols)));
    writes.push((dynstr.offset + names(dynstr)?, spares.strings()));
    if let Some(versions) = of_kind(SHT_GNU_VERSYM) {
        let bytes: Vec<[u8; 2]> = spares.versions().iter().map(|version| version.to_le_bytes()).collect();
        writes.push((versions.offset + 2, bytes.as_flattened().to_vec()));
    }
    if let Some((symtab, strtab)) = of_kind(SHT_SYMTAB).zip(common.output(b".strtab")) {
        let symbols = spares.symbols(Record::nothing().make(0).0, names(strtab)? as u32);
        let size = u64::from(spares.count) * Sym::SIZE as u64;
        let start = symtab.size.checked_sub(size).ok_or(Why::Image)?;
        writes.push((symtab.offset + start, bytes_of(&symbols)));
        writes.push((strtab.offset + names(strtab)?, spares.strings()));
    }
    writes.push((info_of_dynsym(&left).ok_or(Why::Image)?, spares.locals().to_le_bytes().to_vec()));
    writes.iter().try_for_each(|write| patch.compare(last.image, write).map(drop)).map_err(|_| Why::Image)
}

fn bytes_of(symbols: &[Sym]) -> Vec<u8> {
    symbols.iter().flat_map(|symbol| symbol.0).collect()
}

/// Where a relocation has its symbol.
const RELA_SYMBOL: u64 = 12;

/// Where the header of `.dynsym` says how many symbols are local.
fn info_of_dynsym(left: &View) -> Option<u64> {
    const INFO: u64 = 44;
    let header = left.read(0, Ehdr::SIZE)?;
    let format = arch::of_file(&header)?.facts().target.format;
    let header = *records::<Ehdr>(&header, format, 0, 1)?.first()?;
    let (size, count) = (format.size::<Shdr>(), u64::from(header.e_shnum()));
    let table = left.read(header.e_shoff(), usize::try_from(count * size).ok()?)?;
    let headers = records::<Shdr>(&table, format, 0, count)?;
    let number = headers.iter().position(|shdr| shdr.sh_type() == SHT_DYNSYM)?;
    Some(header.e_shoff() + number as u64 * size + INFO)
}
