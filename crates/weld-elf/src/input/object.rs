//! A relocatable object, viewed in place.
//!
//! Parsing checks the header, the section header table and the symbol table once, so that later
//! phases may index them; it reads no section contents. Global symbols become [`Record`]s for the
//! name table; local symbols cost nothing.
//!
//! Specification: gABI chapter 4 (ELF header, sections, symbol table).

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::diag::{Cause, DiagSink};
use weld_common::hash::hash_bytes;
use weld_common::io::input::InputStore;
use weld_common::par;
use weld_common::prefetch::prefetch;
use weld_common::text;
use weld_lto::ir::Compiler;

use super::unusable::{Malformed, Misplaced, Nowhere, SymbolLabel, Table, Unusable};
use super::{FileName, Reading};
use crate::arch;
use crate::arch::facts::{Facts, SecondSet};
use crate::arch::shrink::Labels;
use crate::elf::*;
use crate::ids::*;
use crate::symbol_names::symver;
use crate::symbol_names::{Bins, Rank, Record, Wrap, flag};

/// Section headers, or groups, looked at in one go.
const HEADERS: usize = 1 << 13;
/// Bytes of a string table that are searched in one go; a table of so many stays in the cache.
const STRINGS: usize = 1 << 20;
/// How many symbols ahead names are asked for.
const NAME_AHEAD: u32 = 8;
/// Nothing asks for a stricter alignment than this.
const LARGEST_ALIGN: u64 = 1 << 32;

/// A section group that is a COMDAT: of all groups with one signature, one survives.
pub struct Group {
    /// Header index of the `SHT_GROUP` section.
    pub shndx: u32,
    /// The signature's name in the name table.
    pub signature: AtomicU32,
}

pub struct Object<'a> {
    pub file: FileId,
    pub name: FileName<'a>,
    pub data: &'a [u8],
    pub shdrs: &'a [Shdr],
    pub section_names: &'a [u8],
    /// Header index of the symbol table, or 0.
    pub symtab: u32,
    pub syms: &'a [Sym],
    pub strtab: &'a [u8],
    /// Extended section indices of symbols; empty if there are none.
    pub shndx_table: &'a [Word],
    /// Index of the first non-local symbol.
    pub first_global: u32,
    /// The name of each non-local symbol, filled when names are interned.
    pub globals: Vec<AtomicU32>,
    pub groups: Vec<Group>,
    /// Header indices of groups that are no COMDAT.
    pub plain_groups: Vec<u32>,
    /// Index of the `SHT_LLVM_DEPENDENT_LIBRARIES` section, or 0.
    pub dependent_libraries: u32,
    /// Index of the `SHT_LLVM_CALL_GRAPH_PROFILE` section, or 0.
    pub call_graph: u32,
    /// `--exclude-libs` names its archive: its symbols are not exported.
    pub excluded: bool,
    /// It stands for a file of intermediate code ([`super::ir`]).
    pub code: Option<Compiler>,
    /// `EI_OSABI`: the system that it is for, or whose extensions it uses (GNU: IFUNCs, `STB_GNU_UNIQUE`,
    /// `SHF_GNU_RETAIN`); 0 if any.
    pub os_abi: u8,
    /// `EI_ABIVERSION`, which only some machines have.
    pub abi_version: u8,
    /// Some name of a symbol has a version in it.
    pub spells_versions: bool,
    /// Section id of its section header 0; set when live objects are numbered.
    pub section_base: u32,
    /// The machine that it is for, and what `e_flags` says of that.
    pub machine: &'static Facts,
    pub flags: u32,
    /// The section index of common symbols for the large code model, or of ordinary ones if the machine has
    /// none.
    large_common: u16,
    /// The bit of `st_other` for functions that use more registers than others; 0 if the machine has none.
    variant_calls: u8,
}

/// Header indices of tables about the object as a whole.
#[derive(Default)]
struct Tables {
    /// The first symbol table, or 0.
    symtab: u32,
    groups: Vec<u32>,
    /// Further symbol tables, extended section indices, libraries.
    rare: Vec<u32>,
}

impl Tables {
    /// Adds what a later slice of the headers has.
    fn join(&mut self, later: Tables) {
        if self.symtab == 0 {
            self.symtab = later.symtab;
        } else if later.symtab != 0 {
            self.rare.push(later.symtab);
        }
        append(&mut self.groups, later.groups);
        append(&mut self.rare, later.rare);
        self.rare.sort_unstable();
    }
}

/// What a symbol's section index means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolPlace {
    Undefined,
    Absolute,
    Common,
    Section(u32),
}

impl<'a> Object<'a> {
    /// Parses and checks the tables of `data`.
    pub fn parse(
        file: FileId,
        name: FileName<'a>,
        data: &'a [u8],
        reading: Reading<'a>,
    ) -> Result<Object<'a>, Unusable> {
        let (parallel, machine) = (reading.parallel, reading.machine);
        let ehdr = object_header(data, machine)?;
        let separate = machine.descriptors.as_ref().and_then(|descriptors| (descriptors.separate)(data));
        let (data, ehdr) = match separate {
            Some(separate) => {
                let data = reading.store.keep(separate);
                (data, object_header(data, machine)?)
            }
            None => (data, ehdr),
        };
        let elf = File::new(data, machine.target.format, reading.store);
        let (shdrs, section_names) = section_table(&elf, &ehdr)?;
        let mut object = Object {
            file,
            name,
            data,
            shdrs,
            section_names,
            symtab: 0,
            syms: &[],
            strtab: &[],
            shndx_table: &[],
            first_global: 0,
            globals: Vec::new(),
            groups: Vec::new(),
            plain_groups: Vec::new(),
            dependent_libraries: 0,
            call_graph: 0,
            excluded: false,
            code: None,
            os_abi: ehdr.os_abi(),
            abi_version: ehdr.abi_version(),
            spells_versions: false,
            section_base: 0,
            machine,
            flags: ehdr.e_flags(),
            large_common: machine.large_common().unwrap_or(SHN_COMMON),
            variant_calls: machine.variant_calls.as_ref().map_or(0, |variant| variant.other),
        };
        let groups = object.find_tables(&elf, parallel)?;
        if !machine.asks_for.is_empty() {
            object.add_asked_for(&elf);
        }
        object.parse_groups(&groups, parallel)?;
        object.spells_versions = object.find_versions(parallel);
        Ok(object)
    }

    /// The form of its tables.
    #[inline]
    pub fn format(&self) -> Format {
        self.machine.target.format
    }

    /// Looks through the section headers. Returns those of groups.
    fn find_tables(&mut self, elf: &File<'a>, parallel: bool) -> Result<Vec<u32>, Unusable> {
        let shdrs = self.shdrs;
        let find = |run: Range<usize>| {
            let mut tables = Tables::default();
            for (i, shdr) in run.clone().zip(&shdrs[run]) {
                match shdr.sh_type() {
                    SHT_SYMTAB if tables.symtab == 0 => tables.symtab = i as u32,
                    SHT_GROUP => tables.groups.push(i as u32),
                    SHT_SYMTAB
                    | SHT_SYMTAB_SHNDX
                    | SHT_LLVM_CALL_GRAPH_PROFILE
                    | SHT_LLVM_DEPENDENT_LIBRARIES => tables.rare.push(i as u32),
                    _ => {}
                }
            }
            tables
        };
        let mut tables = Tables::default();
        par::in_runs("find tables", parallel, (shdrs.len(), HEADERS), find, |part| tables.join(part));
        self.symtab = tables.symtab;
        for &i in &tables.rare {
            let shdr = &shdrs[i as usize];
            match shdr.sh_type() {
                SHT_SYMTAB => return Err(Malformed::SecondSymbolTable.into()),
                SHT_SYMTAB_SHNDX if shdr.sh_link() != self.symtab => {
                    let table = Table::SectionIndices(i);
                    return Err(Malformed::NoSymbols { table, link: shdr.sh_link() }.into());
                }
                SHT_SYMTAB_SHNDX => {
                    let words = elf.table(shdr.sh_offset(), shdr.sh_size() / 4);
                    self.shndx_table = words.ok_or(Malformed::OutOfBounds(Table::SectionIndices(i)))?;
                }
                SHT_LLVM_CALL_GRAPH_PROFILE => self.call_graph = i,
                _ => self.dependent_libraries = i,
            }
        }
        if self.symtab != 0 {
            self.parse_symtab(elf, self.symtab as usize)?;
        }
        let (indices, symbols) = (self.shndx_table.len(), self.syms.len());
        if indices != 0 && indices != symbols {
            return Err(Malformed::IndexCount { indices, symbols }.into());
        }
        Ok(tables.groups)
    }

    fn parse_symtab(&mut self, elf: &File<'a>, index: usize) -> Result<(), Unusable> {
        let shdr = &self.shdrs[index];
        let size = self.format().size::<Sym>();
        let count = shdr.sh_size() / size;
        if !shdr.sh_size().is_multiple_of(size) || count > u32::MAX as u64 {
            return Err(Malformed::Size { table: Table::Symbols, bytes: shdr.sh_size() }.into());
        }
        let field = |field, value| Malformed::Field { table: Table::Symbols, field, value };
        if shdr.sh_entsize() != 0 && shdr.sh_entsize() != size {
            return Err(field("sh_entsize", shdr.sh_entsize()).into());
        }
        let symbols = elf.table(shdr.sh_offset(), count);
        self.syms = symbols.ok_or(Malformed::OutOfBounds(Table::Symbols))?;
        if let Some(second) = self.machine.second_set() {
            self.mark_second_set(elf, second);
        }
        let strings = self.shdrs.get(shdr.sh_link() as usize).filter(|s| s.sh_type() == SHT_STRTAB);
        let strings = strings.ok_or(Malformed::NoStrings { table: Table::Symbols, link: shdr.sh_link() })?;
        let strings = slice(self.data, strings.sh_offset(), strings.file_size());
        self.strtab = strings.ok_or(Malformed::OutOfBounds(Table::Strings))?;
        if self.strtab.last().is_some_and(|&b| b != 0) {
            return Err(Malformed::Unterminated.into());
        }
        self.first_global = shdr.sh_info();
        if self.first_global as usize > self.syms.len() || (self.first_global == 0 && !self.syms.is_empty()) {
            return Err(field("sh_info", self.first_global.into()).into());
        }
        let globals = self.syms.len() - self.first_global as usize;
        self.globals = (0..globals).map(|_| AtomicU32::new(u32::MAX)).collect();
        Ok(())
    }

    /// Gives code of the second instruction set odd addresses.
    fn mark_second_set(&mut self, elf: &File<'a>, second: &SecondSet) {
        let is_second = |symbol: &Sym| {
            !matches!(symbol.st_shndx(), SHN_UNDEF | SHN_COMMON) && (second.is_marked)(symbol.st_other())
        };
        if self.syms.iter().any(is_second) {
            let odd = |symbol: &Sym| match is_second(symbol) {
                true => symbol.with_value(symbol.st_value() | 1),
                false => *symbol,
            };
            self.syms = elf.keep(self.syms.iter().map(odd).collect());
        }
    }

    fn parse_groups(&mut self, groups: &[u32], parallel: bool) -> Result<(), Unusable> {
        if groups.is_empty() {
            return Ok(());
        }
        let check = |run: Range<usize>| {
            let (mut comdat, mut plain) = (Vec::new(), Vec::new());
            for &shndx in &groups[run] {
                match self.is_comdat(shndx)? {
                    true => comdat.push(Group { shndx, signature: AtomicU32::new(u32::MAX) }),
                    false => plain.push(shndx),
                }
            }
            Ok((comdat, plain))
        };
        let (mut comdat, mut plain, mut result) = (Vec::new(), Vec::new(), Ok(()));
        par::in_runs("check groups", parallel, (groups.len(), HEADERS), check, |part| match part {
            Ok(part) => {
                append(&mut comdat, part.0);
                append(&mut plain, part.1);
            }
            Err(error) if result.is_ok() => result = Err(error),
            Err(_) => {}
        });
        (self.groups, self.plain_groups) = (comdat, plain);
        result
    }

    fn is_comdat(&self, shndx: u32) -> Result<bool, Unusable> {
        let table = Table::Group(shndx);
        let words = self.group_words(shndx).ok_or(Malformed::OutOfBounds(table))?;
        let shdr = &self.shdrs[shndx as usize];
        if !shdr.sh_size().is_multiple_of(4) {
            return Err(Malformed::Size { table, bytes: shdr.sh_size() }.into());
        }
        let flags = words.get(0).ok_or(Malformed::EmptyGroup(shndx))?;
        if shdr.sh_link() != self.symtab {
            return Err(Malformed::NoSymbols { table, link: shdr.sh_link() }.into());
        }
        let field = |field, value| Malformed::Field { table, field, value };
        if !matches!(shdr.sh_entsize(), 0 | 4) {
            return Err(field("sh_entsize", shdr.sh_entsize()).into());
        }
        if shdr.sh_info() == 0 || shdr.sh_info() as usize >= self.syms.len() {
            return Err(field("signature symbol", shdr.sh_info().into()).into());
        }
        self.check_members(shndx, words)?;
        match flags {
            GRP_COMDAT => Ok(true),
            0 => Ok(false),
            flags => Err(Malformed::GroupFlags { group: shndx, flags }.into()),
        }
    }

    fn check_members(&self, group: u32, words: Words) -> Result<(), Unusable> {
        let kind = |member: u32| self.shdrs.get(member as usize).filter(|_| member != 0).map(|s| s.sh_type());
        let wrong = words.members().find(|m| kind(*m).is_none_or(|kind| kind == SHT_GROUP));
        match wrong {
            None => Ok(()),
            Some(member) => {
                Err(Malformed::GroupMember { group, member, exists: kind(member).is_some() }.into())
            }
        }
    }

    fn find_versions(&self, parallel: bool) -> bool {
        let mut found = false;
        let spells = |run: Range<usize>| memchr::memchr(b'@', &self.strtab[run]).is_some();
        let strings = (self.strtab.len(), STRINGS);
        par::in_runs("look for versions", parallel, strings, spells, |part| found |= part);
        found
    }

    /// The words of a group section: the flag word, then the header indices of its members.
    pub fn group_words(&self, shndx: u32) -> Option<Words<'a>> {
        let shdr = self.shdrs.get(shndx as usize)?;
        Some(Words::new(slice(self.data, shdr.sh_offset(), shdr.sh_size() / 4 * 4)?, self.format()))
    }

    /// How many records there are to [send](Self::intern) at most.
    pub fn records(&self) -> usize {
        self.globals.len() + self.groups.len()
    }

    /// Sends the records numbered `run` to the bins: one for each non-local symbol, then one for each group
    /// signature. With `lazy`, only what the object would define is announced.
    pub fn intern(
        &self,
        run: Range<usize>,
        lazy: bool,
        wrap: &Wrap<'a>,
        bins: &mut Bins<'a>,
    ) -> Result<(), Unusable> {
        let globals = self.globals.len();
        let first = self.first_global as usize;
        let symbols = first + run.start.min(globals)..first + run.end.min(globals);
        self.intern_symbols(symbols, lazy, wrap, bins)?;
        if !lazy {
            let groups = run.start.saturating_sub(globals)..run.end.saturating_sub(globals);
            self.intern_groups(groups, bins)?;
        }
        Ok(())
    }

    fn intern_symbols(
        &self,
        indices: Range<usize>,
        lazy: bool,
        wrap: &Wrap<'a>,
        bins: &mut Bins<'a>,
    ) -> Result<(), Unusable> {
        let linkonce_prefixes = self.machine.linkonce_prefixes;
        let native = if self.code.is_none() { flag::REF_NATIVE } else { 0 };
        let registers = self.machine.register_symbol;
        let has_own_rules = !linkonce_prefixes.is_empty() || registers.is_some();
        let rewrite = self.spells_versions || !wrap.is_empty() || has_own_rules;
        // Section indices from here on need a closer look.
        let limit = self.shdrs.len().min(SHN_LORESERVE as usize) as u16;
        // Small tables are in the cache by now.
        let far = self.strtab.len() > STRINGS;
        for (i, sym) in indices.clone().zip(&self.syms[indices]) {
            if far {
                self.prefetch_name(i as u32 + NAME_AHEAD);
            }
            let (mut name, mut hash) = hashed_string(self.strtab, sym.st_name())
                .ok_or(Malformed::SymbolName { table: Table::Symbols, index: i })?;
            let mut bits = native | classify(sym, i, self.large_common, self.variant_calls)?;
            if sym.st_shndx() >= limit {
                self.check_index(i as u32, sym)?;
            }
            if rewrite && wrap.open_commons {
                bits = without_commons(bits);
            }
            if lazy {
                if matches!(Rank::of(bits), Rank::Undefined) {
                    continue;
                }
                bits = Rank::Provided as u32 | flag::OFFERED;
            }
            if rewrite {
                (name, bits) = match registers == Some(sym.kind()) {
                    // It is a name of nothing, which nothing has to define and nobody sees.
                    true => (&b""[..], Rank::Undefined as u32 | flag::REF_WEAK | flag::VIS_HIDDEN),
                    false => rewritten(name, bits, wrap, linkonce_prefixes),
                };
                hash = hash_bytes(name);
            }
            bins.push(Record::new(hash, name, self.file, i as u32, bits));
        }
        Ok(())
    }

    fn intern_groups(&self, numbers: Range<usize>, bins: &mut Bins<'a>) -> Result<(), Unusable> {
        for (i, group) in numbers.clone().zip(&self.groups[numbers]) {
            let sig = self.shdrs[group.shndx as usize].sh_info();
            if sig < self.first_global {
                let name = self.local_group_name(sig).filter(|name| !name.is_empty());
                let name = name.ok_or(Malformed::GroupName)?;
                let bits = Rank::Undefined as u32 | flag::GROUP_RECORD;
                bins.push(Record::new(hash_bytes(name), name, self.file, i as u32, bits));
            }
        }
        Ok(())
    }

    /// The signature of a group.
    pub fn group_name(&self, group: &Group) -> &'a [u8] {
        let symbol = self.shdrs.get(group.shndx as usize).map_or(0, Shdr::sh_info);
        match symbol < self.first_global {
            true => self.local_group_name(symbol).unwrap_or_default(),
            false => self.symbol_name(symbol),
        }
    }

    /// The signature of a group whose symbol is local; a section symbol stands for its section's name.
    fn local_group_name(&self, sym: u32) -> Option<&'a [u8]> {
        let symbol = self.syms.get(sym as usize)?;
        match self.place(sym, symbol) {
            SymbolPlace::Section(shndx) if symbol.kind() == STT_SECTION => self.section_name(shndx as usize),
            _ => string(self.strtab, symbol.st_name()),
        }
    }

    pub fn section_name(&self, shndx: usize) -> Option<&'a [u8]> {
        string(self.section_names, self.shdrs.get(shndx)?.sh_name())
    }

    /// Asks for a section's name.
    #[inline(always)]
    pub fn prefetch_section_name(&self, shndx: usize) {
        if let Some(shdr) = self.shdrs.get(shndx) {
            prefetch(self.section_names, shdr.sh_name() as usize);
        }
    }

    /// The section's name for messages.
    pub fn section_label(&self, shndx: usize) -> String {
        match self.section_name(shndx) {
            Some(n) => text::text(n).into_owned(),
            None => format!("section {shndx}"),
        }
    }

    pub fn section_data(&self, shndx: usize) -> Option<&'a [u8]> {
        let shdr = self.shdrs.get(shndx)?;
        slice(self.data, shdr.sh_offset(), shdr.file_size())
    }

    /// The data of those of these sections that the file has.
    pub fn data_of(&self, shndxs: &[u32]) -> impl Iterator<Item = &'a [u8]> {
        shndxs.iter().filter_map(|shndx| self.section_data(*shndx as usize))
    }

    /// Asks for the name of symbol `index`: names often lie in another order than symbols.
    #[inline(always)]
    pub fn prefetch_name(&self, index: u32) {
        if let Some(symbol) = self.syms.get(index as usize) {
            prefetch(self.strtab, symbol.st_name() as usize);
        }
    }

    /// The name of symbol `index`; empty for nameless ones.
    pub fn symbol_name(&self, index: u32) -> &'a [u8] {
        self.syms.get(index as usize).and_then(|s| string(self.strtab, s.st_name())).unwrap_or(b"")
    }

    /// The name-table id of symbol `index`, which must not be local.
    #[inline(always)]
    pub fn global(&self, index: u32) -> SymbolId {
        SymbolId(self.globals[(index - self.first_global) as usize].load(Ordering::Relaxed))
    }

    /// The same of any number; `None` if there is no such symbol, or it is local.
    #[inline(always)]
    pub fn global_if_any(&self, index: u32) -> Option<SymbolId> {
        let id = self.globals.get(index.checked_sub(self.first_global)? as usize)?;
        Some(SymbolId(id.load(Ordering::Relaxed)))
    }

    /// Checks the section index of a symbol that is not that of an ordinary section of the file.
    fn check_index(&self, index: u32, sym: &Sym) -> Result<(), Unusable> {
        match self.place(index, sym) {
            SymbolPlace::Section(shndx) if shndx as usize >= self.shdrs.len() => {
                Err(Malformed::Misplaced(self.misplaced(index, sym)).into())
            }
            SymbolPlace::Common => {
                // NASM says 0 where it means 1.
                let align = sym.st_value().max(1);
                if align.is_power_of_two() && align <= LARGEST_ALIGN {
                    return Ok(());
                }
                let name = String::from_utf8_lossy(self.symbol_name(index)).into();
                Err(Malformed::CommonAlignment { name, align }.into())
            }
            _ => Ok(()),
        }
    }

    /// Says that symbol `index` (with record `sym`) lies nowhere, and why.
    #[cold]
    pub fn misplaced(&self, index: u32, sym: &Sym) -> Misplaced {
        let why = match (sym.st_shndx(), self.shndx_table.get(index as usize)) {
            (SHN_UNDEF, _) => Nowhere::LocalAndUndefined,
            (n, _) if self.is_common(n) => Nowhere::LocalAndCommon,
            (SHN_XINDEX, None) => Nowhere::NoExtendedIndex,
            (SHN_XINDEX, Some(word)) => Nowhere::NoSection(word.get()),
            (n @ SHN_LORESERVE.., _) => Nowhere::ReservedIndex(n),
            (n, _) if (n as usize) < self.shdrs.len() => Nowhere::NoContents(n),
            (n, _) => Nowhere::NoSection(n.into()),
        };
        Misplaced { symbol: self.symbol_label(index), why }
    }

    /// What is wrong with local symbol `index` itself, wherever it lies.
    #[inline(always)]
    pub fn wrong_local(&self, index: u32, sym: &Sym) -> Option<String> {
        let sound = sym.binding() == STB_LOCAL && (sym.st_name() as usize) < self.strtab.len();
        if sound { None } else { self.describe_wrong_local(index, sym) }
    }

    /// Reports what is wrong with local symbol `index` itself.
    #[inline(always)]
    pub fn check_local(&self, index: u32, sym: &Sym, sink: &DiagSink) {
        if let Some(wrong) = self.wrong_local(index, sym) {
            sink.push(self.whole().error(Cause::MalformedObject, wrong));
        }
    }

    #[cold]
    fn describe_wrong_local(&self, index: u32, sym: &Sym) -> Option<String> {
        if sym.binding() != STB_LOCAL {
            let (label, first) = (self.symbol_label(index), self.first_global);
            return Some(format!(
                "{label} is not local, but comes before the first such one ({first}, sh_info)"
            ));
        }
        (sym.st_name() != 0).then(|| format!("symbol {index} has a bad name (st_name): {:#x}", sym.st_name()))
    }

    /// The symbol for messages.
    pub fn symbol_label(&self, index: u32) -> SymbolLabel {
        match self.symbol_name(index) {
            b"" => SymbolLabel::Index(index),
            name => SymbolLabel::Name(String::from_utf8_lossy(name).into()),
        }
    }

    /// Whether symbols with this section index are common.
    #[inline(always)]
    pub fn is_common(&self, shndx: u16) -> bool {
        shndx == SHN_COMMON || shndx == self.large_common
    }

    /// Where symbol `index` (with record `sym`) lies. What lies nowhere is in a section that does not exist.
    #[inline(always)]
    pub fn place(&self, index: u32, sym: &Sym) -> SymbolPlace {
        match sym.st_shndx() {
            SHN_UNDEF => SymbolPlace::Undefined,
            n if n < SHN_LORESERVE => SymbolPlace::Section(n as u32),
            SHN_XINDEX => match self.shndx_table.get(index as usize) {
                Some(word) => SymbolPlace::Section(word.get()),
                None => SymbolPlace::Section(u32::MAX),
            },
            SHN_ABS => SymbolPlace::Absolute,
            n if self.is_common(n) => SymbolPlace::Common,
            _ => SymbolPlace::Section(u32::MAX),
        }
    }
}

/// Adds `part` to `all`, which is mostly empty.
pub fn append<T>(all: &mut Vec<T>, mut part: Vec<T>) {
    match all.is_empty() {
        true => *all = part,
        false => all.append(&mut part),
    }
}

/// The name by which a symbol is known, if it may spell a version or be wrapped, and its flags.
/// Definitions of names that begin with one of `linkonce_prefixes` are as good in any object.
#[inline(never)]
fn rewritten<'a>(
    mut name: &'a [u8],
    mut bits: u32,
    wrap: &Wrap<'a>,
    linkonce_prefixes: &[&[u8]],
) -> (&'a [u8], u32) {
    let undefined = matches!(Rank::of(bits), Rank::Undefined);
    if let Some(spelled) = symver::split(name) {
        if !undefined || spelled.version.is_empty() {
            name = symver::known_as(name);
        }
        if !undefined || !spelled.default && !spelled.version.is_empty() {
            bits |= flag::HAS_VERSION;
        }
    }
    if undefined {
        name = wrap.rewrite(name);
    }
    if Rank::of(bits) == Rank::Strong && linkonce_prefixes.iter().any(|start| name.starts_with(start)) {
        bits = bits & !(Rank::Strong as u32) | Rank::Weak as u32;
    }
    (name, bits)
}

/// What a symbol contributes if common symbols are references.
fn without_commons(bits: u32) -> u32 {
    match Rank::of(bits) {
        Rank::Common => bits & !(Rank::Common as u32) | Rank::Undefined as u32 | flag::REF_STRONG,
        _ => bits,
    }
}

/// The rank and reference flags that a non-local symbol contributes to its name.
fn classify(sym: &Sym, index: usize, large_common: u16, variant_calls: u8) -> Result<u32, Unusable> {
    let weak = match sym.binding() {
        STB_GLOBAL => false,
        STB_WEAK => true,
        // Copies of a unique object stand for one another like weak ones.
        STB_GNU_UNIQUE => true,
        STB_LOCAL => return Err(Malformed::LateLocal(index).into()),
        binding => return Err(Malformed::SymbolBinding { index, binding }.into()),
    };
    let mut bits = match sym.st_shndx() {
        SHN_UNDEF if weak => Rank::Undefined as u32 | flag::REF_WEAK,
        SHN_UNDEF => Rank::Undefined as u32 | flag::REF_STRONG,
        n if n == SHN_COMMON || n == large_common => Rank::Common as u32,
        _ if weak => Rank::Weak as u32,
        _ => Rank::Strong as u32,
    };
    if sym.st_other() != 0 {
        bits |= match sym.visibility() {
            STV_HIDDEN => flag::VIS_HIDDEN,
            STV_INTERNAL => flag::VIS_INTERNAL,
            STV_PROTECTED => flag::VIS_PROTECTED,
            _ => 0,
        };
        if sym.st_other() & variant_calls != 0 {
            bits |= flag::VARIANT_CALLS;
        }
    }
    Ok(bits)
}

/// The header at the start of `data`, which must be for `machine`.
pub fn header(data: &[u8], machine: &Facts) -> Result<Ehdr, Unusable> {
    data.first_chunk::<20>().ok_or(Malformed::NoHeader)?;
    match Target::of(data) {
        Some(of) if of.is_for(machine.target) => {}
        Some(of) => return Err(Malformed::OtherMachine { linked: machine.emulation(), of }.into()),
        None => return Err(Malformed::UnknownFormat.into()),
    }
    match records::<Ehdr>(data, machine.target.format, 0, 1).as_deref() {
        Some(&[header]) => Ok(header),
        _ => Err(Malformed::NoHeader.into()),
    }
}

/// The header of a relocatable object.
fn object_header(data: &[u8], machine: &Facts) -> Result<Ehdr, Unusable> {
    let ehdr = header(data, machine)?;
    match ehdr.e_type() {
        ET_REL => Ok(ehdr),
        other => Err(Malformed::FileType(other).into()),
    }
}

/// The table of symbols of a file that is read for nothing else, and their names.
pub struct SymbolTable<'a> {
    pub list: &'a [Sym],
    /// The number of the first that is not local.
    pub first_global: u32,
    texts: &'a [u8],
}

impl<'a> SymbolTable<'a> {
    /// `None` if the file has none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn find(elf: &File<'a>, shdrs: &[Shdr]) -> Result<Option<SymbolTable<'a>>, Unusable> {
        let Some(table) = shdrs.iter().find(|shdr| shdr.sh_type() == SHT_SYMTAB) else { return Ok(None) };
        let count = table.sh_size() / elf.format.size::<Sym>();
        let list: &[Sym] =
            elf.table(table.sh_offset(), count).ok_or(Malformed::OutOfBounds(Table::Symbols))?;
        let (link, first_global) = (table.sh_link(), table.sh_info());
        let texts = shdrs.get(link as usize).filter(|shdr| shdr.sh_type() == SHT_STRTAB);
        let texts = texts.ok_or(Malformed::NoStrings { table: Table::Symbols, link })?;
        let texts = slice(elf.data, texts.sh_offset(), texts.file_size());
        let texts = texts.ok_or(Malformed::OutOfBounds(Table::Strings))?;
        Ok(Some(SymbolTable { list, first_global, texts }))
    }

    /// The name of the symbol with this number.
    ///
    /// # Errors
    /// If it is nowhere.
    pub fn name(&self, index: usize) -> Result<&'a [u8], Unusable> {
        let symbol = self.list.get(index);
        let name = symbol.and_then(|symbol| string(self.texts, symbol.st_name()));
        Ok(name.ok_or(Malformed::SymbolName { table: Table::Symbols, index })?)
    }
}

/// The headers of an object that is read for nothing else.
pub struct Headers<'a> {
    pub facts: &'static Facts,
    pub header: Ehdr,
    pub shdrs: &'a [Shdr],
    /// The names of sections.
    pub names: &'a [u8],
}

impl<'a> Headers<'a> {
    /// `None` if the file is malformed, or for no machine that is known.
    pub fn of(data: &'a [u8], store: &'a InputStore<'a>) -> Option<Headers<'a>> {
        let facts = arch::of_file(data)?.facts();
        let header = header(data, facts).ok()?;
        let (shdrs, names) = section_table(&File::new(data, facts.target.format, store), &header).ok()?;
        Some(Headers { facts, header, shdrs, names })
    }

    /// The name of a section.
    pub fn name(&self, shdr: &Shdr) -> &'a [u8] {
        string(self.names, shdr.sh_name()).unwrap_or_default()
    }
}

/// The section header table and the section name table, with extended numbering resolved.
pub fn section_table<'a>(elf: &File<'a>, ehdr: &Ehdr) -> Result<(&'a [Shdr], &'a [u8]), Unusable> {
    const OUTSIDE: Malformed = Malformed::OutOfBounds(Table::SectionHeaders);
    if ehdr.e_shoff() == 0 {
        let count = ehdr.e_shnum();
        if ehdr.e_type() == ET_REL && count != 0 {
            return Err(Malformed::NoSections(count).into());
        }
        return Ok((&[], &[]));
    }
    if u64::from(ehdr.e_shentsize()) != elf.format.size::<Shdr>() {
        return Err(Malformed::Header { field: "e_shentsize", value: ehdr.e_shentsize().into() }.into());
    }
    // The first header holds numbers that are too large for the fields of the file's.
    let first = records::<Shdr>(elf.data, elf.format, ehdr.e_shoff(), 1).ok_or(OUTSIDE)?[0];
    let count = if ehdr.e_shnum() == 0 { first.sh_size() } else { ehdr.e_shnum() as u64 };
    if count == 0 || count > u32::MAX as u64 / 2 {
        return Err(Malformed::SectionCount(count).into());
    }
    let shdrs: &[Shdr] = elf.table(ehdr.e_shoff(), count).ok_or(OUTSIDE)?;
    let names = if ehdr.e_shstrndx() == SHN_XINDEX { first.sh_link() } else { ehdr.e_shstrndx() as u32 };
    let names = match shdrs.get(names as usize) {
        None => return Err(Malformed::Header { field: "e_shstrndx", value: names.into() }.into()),
        Some(s) if names != 0 && s.sh_type() != SHT_STRTAB => {
            return Err(Malformed::NamesNotStrings(names).into());
        }
        Some(s) => slice(elf.data, s.sh_offset(), s.file_size())
            .ok_or(Malformed::OutOfBounds(Table::SectionNames))?,
    };
    Ok((shdrs, names))
}

impl Labels for Object<'_> {
    fn label(&self, shndx: u32, reloc: &Rela) -> Option<u64> {
        let symbol = self.syms.get(reloc.sym() as usize)?;
        (self.place(reloc.sym(), symbol) == SymbolPlace::Section(shndx)).then(|| symbol.st_value())
    }
}
