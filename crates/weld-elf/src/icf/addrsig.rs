//! Which sections have an address that somebody may compare.
//!
//! Clang lists in `.llvm_addrsig` the symbols whose addresses mean something: those that are not only called
//! or read from. What is not in an object's list may share its address with others. An object without the
//! list may compare whatever it names, and so may other modules what they can see.
//!
//! `--icf=all` takes the risk for code. `--ignore-data-address-equality` takes it, beside that, for data.
//! `--keep-unique` names what is kept in any case.
//!
//! The list names symbols by their index. `objcopy` and `ld -r` change these and clear the section's
//! `sh_link`; then it says nothing.
//!
//! Specification: "LLVM Extensions", "SHT_LLVM_ADDRSIG Section": indices in ULEB128, to the end of the
//! section.

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::diag::{Cause, Diagnostic};
use weld_common::{par, zeroed};

use super::Link;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::options::Icf;
use crate::symbols::symbol_flags;
use weld_common::reader::Reader;

/// Objects looked at by one task, and names.
const OBJECTS: usize = 32;
const NAMES: usize = 1 << 15;

pub struct Significance {
    /// One bit a section: named by `--keep-unique`.
    unique: Bits,
    /// One bit a section: its address may be compared.
    compared: Bits,
    /// Of each object: all of its sections are like that.
    whole: Vec<bool>,
    /// What folds code though its address may be compared.
    any_code: bool,
}

/// A set of numbers, to which several threads may add.
struct Bits(Vec<AtomicU32>);

impl Bits {
    fn new(count: usize) -> Self {
        Bits(zeroed::sparse(count.div_ceil(32)))
    }

    fn add(&self, index: u32) {
        self.0[index as usize / 32].fetch_or(1 << (index % 32), Ordering::Relaxed);
    }

    fn has(&self, index: u32) -> bool {
        self.0[index as usize / 32].load(Ordering::Relaxed) >> (index % 32) & 1 != 0
    }
}

/// What an object says of its addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Missing,
    /// It is there, and of no use.
    Unlinked,
    At(usize),
}

impl Table {
    fn of(object: &Object) -> Table {
        match object.shdrs.iter().rposition(|shdr| shdr.sh_type() == SHT_LLVM_ADDRSIG) {
            None => Table::Missing,
            Some(shndx) if object.shdrs[shndx].sh_link() != object.symtab => Table::Unlinked,
            Some(shndx) => Table::At(shndx),
        }
    }
}

impl Significance {
    pub fn collect(link: &Link) -> Significance {
        let level = link.options.sections.icf;
        let sections = link.sections.list.len();
        let mut found = Significance {
            unique: Bits::new(sections),
            compared: Bits::new(sections),
            whole: Vec::new(),
            any_code: level == Icf::All,
        };
        found.keep_unique(link);
        if level == Icf::All && link.options.sections.ignore_data_address_equality {
            found.whole = vec![false; link.objects.len()];
            return found;
        }
        let count = link.objects.len();
        let tables = par::runs("find tables of addresses", link.parallel, count, OBJECTS, |run| {
            link.objects[run].iter().map(Table::of).collect::<Vec<_>>()
        });
        let tables = tables.concat();
        if level == Icf::Safe {
            warn_unlinked(link, &tables);
        }
        found.whole = tables.iter().map(|table| !matches!(table, Table::At(_))).collect();
        found.seen_from_outside(link);
        found.named_by_objects(link, &tables);
        found
    }

    /// Whether a section may share its address.
    pub fn may_share(&self, object: usize, section: SectionId, is_code: bool) -> bool {
        let compared = || self.whole[object] || self.compared.has(section.0);
        !self.unique.has(section.0) && (self.any_code && is_code || !compared())
    }

    fn keep_unique(&self, link: &Link) {
        for name in &link.options.sections.keep_unique {
            match link.names.find(name.as_bytes()) {
                Some(id) if link.symbols[id].kind() == symbol_flags::DEFINED => {
                    self.unique.add(link.symbols[id].section);
                }
                Some(id) if link.symbols[id].kind() != symbol_flags::UNDEFINED => {}
                _ => link
                    .sink
                    .warn(Cause::NoSuchSymbol, format!("--keep-unique={name}: there is no such symbol")),
            }
        }
    }

    fn seen_from_outside(&self, link: &Link) {
        par::runs("exported addresses", link.parallel, link.symbols.list.len(), NAMES, |run| {
            for symbol in &link.symbols.list[run] {
                let flags = symbol.flags();
                if flags & symbol_flags::KIND == symbol_flags::DEFINED && flags & symbol_flags::EXPORTED != 0
                {
                    self.compared.add(symbol.section);
                }
            }
        });
    }

    /// What the objects' tables name, and all that objects without a table name in objects that have one.
    fn named_by_objects(&self, link: &Link, tables: &[Table]) {
        let described = Bits::new(link.symbols.list.len());
        par::runs("tables of addresses", link.parallel, tables.len(), OBJECTS, |run| {
            for index in run {
                if let Table::At(shndx) = tables[index] {
                    let object = &link.objects[index];
                    object.globals.iter().for_each(|id| described.add(id.load(Ordering::Relaxed)));
                    if self.read(link, object, shndx).is_none() {
                        link.sink.push(
                            object.at_section(shndx as u32).error(Cause::MalformedObject, "is damaged"),
                        );
                    }
                }
            }
        });
        par::runs("addresses named without a table", link.parallel, tables.len(), OBJECTS, |run| {
            for object in run.filter(|index| self.whole[*index]).map(|index| &link.objects[index]) {
                for id in object.globals.iter().map(|id| id.load(Ordering::Relaxed)) {
                    if described.has(id) {
                        self.add_global(link, SymbolId(id));
                    }
                }
            }
        });
    }

    /// `None` if the table is damaged.
    fn read(&self, link: &Link, object: &Object, shndx: usize) -> Option<()> {
        let mut reader = Reader::new(object.section_data(shndx)?);
        while !reader.is_empty() {
            let index = u32::try_from(reader.uleb128()?).ok()?;
            let symbol = object.syms.get(index as usize)?;
            if index >= object.first_global {
                self.add_global(link, object.global(index));
            } else if let SymbolPlace::Section(shndx) = object.place(index, symbol)
                && (shndx as usize) < object.shdrs.len()
            {
                self.compared.add(object.section_base + shndx);
            }
        }
        Some(())
    }

    fn add_global(&self, link: &Link, id: SymbolId) {
        let symbol = &link.symbols[id];
        if symbol.kind() == symbol_flags::DEFINED {
            self.compared.add(symbol.section);
        }
    }
}

/// Says once that there are lists that say nothing.
fn warn_unlinked(link: &Link, tables: &[Table]) {
    let mut unlinked = tables.iter().zip(link.objects).filter(|(table, _)| **table == Table::Unlinked);
    if let Some((_, first)) = unlinked.next() {
        let others = match unlinked.count() {
            0 => String::new(),
            1 => " (so does another object)".to_owned(),
            more => format!(" (so do {more} others)"),
        };
        let text = format!(
            "{}{others} has a table of addresses (.llvm_addrsig) that objcopy or ld -r has cut off from its \
             symbols; --icf=safe folds nothing that it names",
            first.name
        );
        link.sink.push(Diagnostic::warning(Cause::OptionWithoutEffect, text).of(first.file, 0));
    }
}
