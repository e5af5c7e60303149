//! A shared object as an input: what it defines, what it needs, and its versions.
//!
//! Specification: gABI chapter 5 (dynamic linking), LSB "Symbol Versioning".

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::object::{header, section_table};
use super::unusable::{Malformed, Table, Unusable};
use super::versions::{VersionError, parse_verdef, parse_verneed};
use super::{FileName, Reading};
use crate::elf::*;
use crate::ids::*;
use crate::symbol_names::{Bins, Rank, Record, flag};

pub struct Shared<'a> {
    pub file: FileId,
    pub name: FileName<'a>,
    pub data: &'a [u8],
    pub format: Format,
    pub shdrs: &'a [Shdr],
    /// The name by which the loader finds it.
    pub soname: &'a [u8],
    pub needed: Vec<&'a [u8]>,
    /// `DT_AUDIT`.
    pub audit: Option<&'a [u8]>,
    /// `DT_RUNPATH`, or `DT_RPATH`.
    pub run_path: Option<&'a [u8]>,
    pub syms: &'a [Sym],
    pub strtab: &'a [u8],
    /// One for each symbol, or empty if the object has no versions.
    pub versym: &'a [Half],
    /// Version names by index; `None` where no version has that index.
    pub versions: Vec<Option<&'a [u8]>>,
    /// All below it are names of versions, or 0 and 1.
    first_unknown_version: u16,
    /// 1, or 2 if the object defines versions: then it is seldom that a symbol has none.
    first_usual_version: u16,
    /// It defines versions and a symbol without one.
    pub defines_without_version: AtomicBool,
    pub first_global: u32,
    /// The name of each non-local symbol, filled when names are interned.
    pub globals: Vec<AtomicU32>,
    pub as_needed: bool,
}

impl<'a> Shared<'a> {
    /// `link_name` is the soname of an object that does not have one.
    pub fn parse(
        file: FileId,
        name: FileName<'a>,
        data: &'a [u8],
        reading: Reading<'a>,
        link_name: &'a [u8],
        as_needed: bool,
    ) -> Result<Shared<'a>, Unusable> {
        let ehdr = header(data, reading.machine)?;
        let elf = File::new(data, reading.machine.target.format, reading.store);
        let (shdrs, _) = section_table(&elf, &ehdr)?;
        let mut shared = Shared {
            file,
            name,
            data,
            format: elf.format,
            shdrs,
            soname: link_name,
            needed: Vec::new(),
            audit: None,
            run_path: None,
            syms: &[],
            strtab: &[],
            versym: &[],
            versions: Vec::new(),
            first_unknown_version: VER_NDX_GLOBAL + 1,
            first_usual_version: VER_NDX_GLOBAL,
            defines_without_version: AtomicBool::new(false),
            first_global: 0,
            globals: Vec::new(),
            as_needed,
        };
        let mut verdef = None;
        let mut verneed = None;
        let mut dynamic = None;
        for shdr in shdrs {
            match shdr.sh_type() {
                SHT_DYNSYM => shared.parse_symbols(&elf, shdr)?,
                SHT_DYNAMIC => dynamic = Some(shdr),
                SHT_GNU_VERSYM => {
                    let of = shdrs.get(shdr.sh_link() as usize);
                    if of.is_none_or(|s| s.sh_type() != SHT_DYNSYM) {
                        let (table, link) = (Table::Versions, shdr.sh_link());
                        return Err(Malformed::NoSymbols { table, link }.into());
                    }
                    let versions = elf.table(shdr.sh_offset(), shdr.sh_size() / 2);
                    shared.versym = versions.ok_or(Malformed::OutOfBounds(Table::Versions))?;
                }
                SHT_GNU_VERDEF => verdef = Some(shdr),
                SHT_GNU_VERNEED => verneed = Some(shdr),
                _ => {}
            }
        }
        if let Some(shdr) = dynamic {
            shared.parse_dynamic(shdr)?;
        }
        if let Some(shdr) = verdef {
            shared.parse_versions(shdr)?;
        }
        if let Some(shdr) = verneed {
            shared.check_needed_versions(shdr)?;
        }
        if !shared.versym.is_empty() && shared.versym.len() < shared.syms.len() {
            return Err(Malformed::ShortVersions.into());
        }
        Ok(shared)
    }

    /// The strings of a table with the section header `shdr`.
    fn linked_strings(&self, table: Table, shdr: &Shdr) -> Result<&'a [u8], Unusable> {
        let strings = self.shdrs.get(shdr.sh_link() as usize).filter(|s| s.sh_type() == SHT_STRTAB);
        let strings = strings.ok_or(Malformed::NoStrings { table, link: shdr.sh_link() })?;
        let bytes = slice(self.data, strings.sh_offset(), strings.file_size());
        Ok(bytes.ok_or(Malformed::OutOfBounds(Table::DynamicStrings))?)
    }

    fn parse_symbols(&mut self, elf: &File<'a>, shdr: &Shdr) -> Result<(), Unusable> {
        let size = self.format.size::<Sym>();
        let count = shdr.sh_size() / size;
        if !shdr.sh_size().is_multiple_of(size) {
            return Err(Malformed::Size { table: Table::DynamicSymbols, bytes: shdr.sh_size() }.into());
        }
        let symbols = elf.table(shdr.sh_offset(), count);
        self.syms = symbols.ok_or(Malformed::OutOfBounds(Table::DynamicSymbols))?;
        self.strtab = self.linked_strings(Table::DynamicSymbols, shdr)?;
        self.first_global = shdr.sh_info();
        if self.first_global as usize > self.syms.len() || self.first_global == 0 && !self.syms.is_empty() {
            let (field, value) = ("sh_info", self.first_global.into());
            return Err(Malformed::Field { table: Table::DynamicSymbols, field, value }.into());
        }
        let globals = self.syms.len() - self.first_global as usize;
        self.globals = (0..globals).map(|_| AtomicU32::new(u32::MAX)).collect();
        Ok(())
    }

    fn parse_dynamic(&mut self, shdr: &Shdr) -> Result<(), Unusable> {
        let size = self.format.size::<Dyn>();
        let table = Table::Dynamic;
        if shdr.sh_entsize() != 0 && shdr.sh_entsize() != size {
            let (field, value) = ("sh_entsize", shdr.sh_entsize());
            return Err(Malformed::Field { table, field, value }.into());
        }
        if !shdr.sh_size().is_multiple_of(size) {
            return Err(Malformed::Size { table, bytes: shdr.sh_size() }.into());
        }
        let entries = records::<Dyn>(self.data, self.format, shdr.sh_offset(), shdr.sh_size() / size)
            .ok_or(Malformed::OutOfBounds(table))?;
        let strings = self.linked_strings(table, shdr)?;
        let name = |offset: u64| {
            let offset = u32::try_from(offset).ok();
            offset.and_then(|o| string(strings, o)).ok_or(Malformed::DynamicString)
        };
        for entry in &entries[..] {
            match entry.d_tag() {
                DT_NULL => break,
                DT_SONAME => self.soname = name(entry.d_val())?,
                DT_FLAGS_1 if entry.d_val() & DF_1_PIE != 0 => {
                    return Err(Malformed::PositionIndependentExecutable.into());
                }
                DT_NEEDED => self.needed.push(name(entry.d_val())?),
                DT_AUDIT => self.audit = Some(name(entry.d_val())?),
                DT_RUNPATH | DT_RPATH => self.run_path = Some(name(entry.d_val())?),
                _ => {}
            }
        }
        Ok(())
    }

    fn parse_versions(&mut self, shdr: &Shdr) -> Result<(), Unusable> {
        let bytes = slice(self.data, shdr.sh_offset(), shdr.sh_size())
            .ok_or(Malformed::OutOfBounds(Table::VersionDefinitions))?;
        let strings = self.linked_strings(Table::VersionDefinitions, shdr)?;
        let versions = parse_verdef(bytes, shdr.sh_info(), strings, self.format);
        for (index, name) in versions.map_err(Malformed::VersionDefinitions)? {
            let index = (index & !VERSYM_HIDDEN) as usize;
            if self.versions.len() <= index {
                self.versions.resize(index + 1, None);
            }
            self.versions[index] = Some(name);
        }
        let named = self.versions.iter().skip(2).take_while(|version| version.is_some()).count();
        self.first_unknown_version += named as u16;
        self.first_usual_version += u16::from(named > 0);
        Ok(())
    }

    /// Nothing is taken from `.gnu.version_r` but that it is sound: the loader will read it.
    fn check_needed_versions(&self, shdr: &Shdr) -> Result<(), Unusable> {
        let bytes = slice(self.data, shdr.sh_offset(), shdr.sh_size())
            .ok_or(Malformed::OutOfBounds(Table::NeededVersions))?;
        let strings = self.linked_strings(Table::NeededVersions, shdr)?;
        match parse_verneed(bytes, shdr.sh_info(), strings, self.format) {
            // Stand-ins for libraries leave the indices out.
            Ok(_) | Err(VersionError::BadIndex(_)) => Ok(()),
            Err(error) => Err(Malformed::NeededVersions(error).into()),
        }
    }

    /// Says that a symbol is local, or has a version that nothing defines.
    #[cold]
    #[inline(never)]
    fn refuse_symbol(&self, index: usize) -> Result<(), Unusable> {
        let name = String::from_utf8_lossy(self.symbol_name(index as u32)).into();
        if self.syms[index].binding() == STB_LOCAL {
            return Err(Malformed::LateLocalDynamic(name).into());
        }
        let (version, _) = self.version(index as u32);
        Err(Malformed::SymbolVersion { name, version }.into())
    }

    /// The name-table id of symbol `index`; `NONE` if its name was never interned.
    pub fn global(&self, index: u32) -> SymbolId {
        SymbolId(self.globals[(index - self.first_global) as usize].load(Ordering::Relaxed))
    }

    /// Whether the address lies in memory that the loader makes read-only after relocation.
    pub fn is_relro(&self, address: u64) -> bool {
        let Some(&[ehdr]) = records::<Ehdr>(self.data, self.format, 0, 1).as_deref() else { return false };
        let phdrs = records::<Phdr>(self.data, self.format, ehdr.e_phoff(), ehdr.e_phnum().into());
        let phdrs = phdrs.unwrap_or_default();
        let within = |p: &Phdr| address.wrapping_sub(p.p_vaddr()) < p.p_memsz();
        phdrs.iter().any(|p| p.p_type() == PT_GNU_RELRO && within(p))
    }

    /// Its section headers and their names; `None` if the names cannot be read.
    pub fn section_names(&self) -> Option<(&'a [Shdr], &'a [u8])> {
        let header = records::<Ehdr>(self.data, self.format, 0, 1)?[0];
        let index = match header.e_shstrndx() {
            SHN_XINDEX => self.shdrs.first()?.sh_link(),
            index => index.into(),
        };
        let names = self.shdrs.get(index as usize)?;
        Some((self.shdrs, slice(self.data, names.sh_offset(), names.file_size())?))
    }

    /// The version index of symbol `index` and whether it is the default one for its name.
    pub fn version(&self, index: u32) -> (u16, bool) {
        match self.versym.get(index as usize) {
            Some(v) => (v.get() & !VERSYM_HIDDEN, v.get() & VERSYM_HIDDEN == 0),
            None => (VER_NDX_GLOBAL, true),
        }
    }

    /// The name of the version that symbol `index` is defined with, if it has one.
    pub fn version_name(&self, index: u32) -> Option<&'a [u8]> {
        let (version, _) = self.version(index);
        if version <= VER_NDX_GLOBAL { None } else { *self.versions.get(version as usize)? }
    }

    /// The versions of other modules that it refers to, by index; empty for stand-ins without indices.
    pub fn needed_versions(&self) -> HashMap<u16, &'a [u8]> {
        let sections = self.shdrs.iter().filter(|shdr| shdr.sh_type() == SHT_GNU_VERNEED);
        let needs = sections.filter_map(|shdr| {
            let bytes = slice(self.data, shdr.sh_offset(), shdr.sh_size())?;
            parse_verneed(
                bytes,
                shdr.sh_info(),
                self.linked_strings(Table::NeededVersions, shdr).ok()?,
                self.format,
            )
            .ok()
        });
        needs.flatten().map(|need| (need.index & !VERSYM_HIDDEN, need.name)).collect()
    }

    pub fn symbol_name(&self, index: u32) -> &'a [u8] {
        self.syms.get(index as usize).and_then(|s| string(self.strtab, s.st_name())).unwrap_or(b"")
    }

    /// Sends a record for each symbol that other files can see to the bins, of the non-local ones numbered
    /// `run`. Old versions (`foo@V1`) are found by name only when an object asks for one.
    pub fn intern(&self, run: Range<usize>, bins: &mut Bins<'a>) -> Result<(), Unusable> {
        let first = self.first_global as usize;
        let indices = first + run.start..first + run.end;
        for (i, sym) in indices.clone().zip(&self.syms[indices]) {
            let (version, default) = self.version(i as u32);
            if sym.binding() == STB_LOCAL {
                return self.refuse_symbol(i);
            }
            let bits = if sym.st_shndx() == SHN_UNDEF {
                Rank::Undefined as u32
                    | match (sym.binding(), version) {
                        (STB_WEAK, _) => flag::REF_SHARED_WEAK,
                        (_, ..=VER_NDX_GLOBAL) => flag::REF_SHARED | flag::REF_SHARED_PLAIN,
                        _ => flag::REF_SHARED,
                    }
            } else if !(self.first_usual_version..self.first_unknown_version).contains(&version) {
                // Seldom: most libraries have all versions up to the last, and one for each symbol.
                match version <= VER_NDX_GLOBAL || self.version_name(i as u32).is_some() {
                    false => return self.refuse_symbol(i),
                    true if version == VER_NDX_LOCAL || !default => continue,
                    true => {
                        self.defines_without_version.fetch_or(version == VER_NDX_GLOBAL, Ordering::Relaxed);
                        Rank::Provided as u32 | flag::DEF_SHARED
                    }
                }
            } else if !default {
                continue;
            } else {
                Rank::Provided as u32 | flag::DEF_SHARED
            };
            let (name, hash) = hashed_string(self.strtab, sym.st_name())
                .ok_or(Malformed::SymbolName { table: Table::DynamicSymbols, index: i })?;
            bins.push(Record::new(hash, name, self.file, i as u32, bits));
        }
        Ok(())
    }
}

/// How aligned a variable of a shared object has to be, as far as its address and section tell.
pub fn alignment(dso: &Shared, s: &Sym) -> u64 {
    let by_address = s.st_value().trailing_zeros();
    match dso.shdrs.get(s.st_shndx() as usize) {
        Some(shdr) if s.st_shndx() < SHN_LORESERVE => {
            let align = shdr.sh_addralign().max(1);
            let align = if align.is_power_of_two() { align.min(1 << 16) } else { 1 };
            align.min(1u64 << by_address.min(16))
        }
        _ => 1u64 << by_address.min(6),
    }
}
