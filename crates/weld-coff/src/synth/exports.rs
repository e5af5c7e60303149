//! The export table: addresses by ordinal, and names, sorted, with their ordinals.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::text;

use super::section::{At, Sizes, Spec, Synthetic};
use super::tables::Link;
use crate::address::Rva;
use crate::args::def;
use crate::demangle::demangle;
use crate::ids::SymbolId;
use crate::implib::Entry;
use crate::resolve::entry::Exported;

/// Bytes of the table's header.
const HEADER: u32 = 40;

pub struct Exports {
    /// In the order of names.
    pub entries: Vec<Entry>,
    dll: Vec<u8>,
    base: u16,
    /// Addresses from the least ordinal to the greatest.
    addresses: u32,
    /// Entries that have names, in their order.
    named: Vec<usize>,
    /// Where in the texts the names of `named` are, and of entries that are in other DLLs.
    name_at: Vec<u32>,
    forward_at: HashMap<usize, u32>,
    texts: Vec<u8>,
}

impl Exports {
    /// Numbers exports and lays out their table. `dll` is what the image calls itself.
    pub fn new(exported: &[Exported], dll: &str, sink: &DiagSink) -> Exports {
        let mut entries = unique(exported, sink);
        number(&mut entries, sink);
        let base = entries.iter().map(|entry| entry.ordinal).min().unwrap_or(1);
        let last = entries.iter().map(|entry| entry.ordinal).max().unwrap_or(0);
        let mut exports = Exports {
            base,
            addresses: (u32::from(last) + 1).saturating_sub(u32::from(base)),
            named: (0..entries.len()).filter(|&i| !entries[i].export.noname).collect(),
            name_at: Vec::new(),
            forward_at: HashMap::new(),
            texts: Vec::new(),
            dll: dll.as_bytes().to_vec(),
            entries,
        };
        exports.lay_out_texts();
        exports
    }

    /// The exports of a link, in which the image calls itself `dll`.
    pub fn find(link: &Link, dll: &str, sink: &DiagSink) -> Exports {
        let exported = &link.resolved.program.exports;
        // Who writes the table by hand means it.
        let is_literal = link.options.mingw.on && link.live.has_part(link.sections, Section::PART);
        if is_literal && exported.iter().any(|export| !export.is_automatic) {
            sink.warn(Cause::ExportFault, "literal .edata sections override exports");
        }
        Exports::new(if is_literal { &[] } else { &exported[..] }, dll, sink)
    }

    fn lay_out_texts(&mut self) {
        fn add(texts: &mut Vec<u8>, text: &[u8]) -> u32 {
            let at = texts.len() as u32;
            texts.extend_from_slice(text);
            texts.push(0);
            at
        }
        add(&mut self.texts, &self.dll);
        for &i in &self.named {
            self.name_at.push(add(&mut self.texts, &text::bytes(self.entries[i].name())));
        }
        for (i, entry) in self.entries.iter().enumerate() {
            if let Some(target) = &entry.export.forward {
                self.forward_at.insert(i, add(&mut self.texts, &text::bytes(target)));
            }
        }
    }

    /// Where texts begin in the table.
    fn texts_at(&self) -> u32 {
        HEADER + 4 * self.addresses + 6 * self.named.len() as u32
    }

    /// What each address of the table is of, in their order; [`SymbolId::NONE`] of those that lead elsewhere, or nowhere.
    pub fn symbols(&self) -> Vec<SymbolId> {
        let mut all = vec![SymbolId::NONE; self.addresses as usize];
        for entry in self.entries.iter().filter(|entry| entry.export.forward.is_none()) {
            all[usize::from(entry.ordinal - self.base)] = entry.symbol;
        }
        all
    }

    /// A module-definition file that says the same.
    pub fn definitions(&self) -> String {
        let mut text = "EXPORTS\n".to_owned();
        for entry in self.entries.iter().filter(|entry| !entry.export.private) {
            let forward = entry
                .export
                .forward
                .as_ref()
                .map_or(String::new(), |target| format!(" = {}", def::quoted(target)));
            let export = &entry.export;
            let words = [(export.noname, " NONAME"), (export.data, " DATA"), (export.constant, " CONSTANT")];
            let words: String = words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
            _ = writeln!(text, "    {}{forward} @{}{words}", def::quoted(entry.name()), entry.ordinal);
        }
        text
    }

    fn size(&self) -> u32 {
        self.texts_at() + self.texts.len() as u32
    }

    /// The table, which lies at `rva`; `address` says where a symbol is.
    fn bytes(&self, rva: Rva, address: impl Fn(SymbolId) -> u32) -> Vec<u8> {
        let names = self.named.len() as u32;
        let tables =
            [rva + HEADER, rva + HEADER + 4 * self.addresses, rva + HEADER + 4 * (self.addresses + names)];
        let texts = rva + self.texts_at();
        let mut bytes = Vec::with_capacity(self.size() as usize);
        let [addresses_at, names_at, ordinals_at] = tables.map(Rva::get);
        let (base, count) = (self.base.into(), self.addresses);
        let header = [0, 0, 0, texts.get(), base, count, names, addresses_at, names_at, ordinals_at];
        header.iter().for_each(|word: &u32| bytes.extend_from_slice(&word.to_le_bytes()));
        let mut addresses = vec![0u32; self.addresses as usize];
        for (i, entry) in self.entries.iter().enumerate() {
            addresses[usize::from(entry.ordinal - self.base)] = match self.forward_at.get(&i) {
                Some(at) => (texts + *at).get(),
                None => address(entry.symbol),
            };
        }
        addresses.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        self.name_at.iter().for_each(|at| bytes.extend_from_slice(&(texts + *at).get().to_le_bytes()));
        for &i in &self.named {
            bytes.extend_from_slice(&(self.entries[i].ordinal - self.base).to_le_bytes());
        }
        bytes.extend_from_slice(&self.texts);
        bytes
    }
}

/// The table in the image.
pub struct Section;

impl Section {
    pub const PART: &[u8] = b".edata";
}

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let exports = Some(&sizes.tables.exports).filter(|exports| !exports.entries.is_empty());
        exports.map(|exports| Spec::read_only(Section::PART, 2, exports.size()))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let address = |name| at.image.rva_of(name).map_or(0, Rva::get);
        out.copy_from_slice(&at.tables().exports.bytes(at.rva(), address));
    }
}

/// Each name once, sorted.
fn unique(exported: &[Exported], sink: &DiagSink) -> Vec<Entry> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut entries: Vec<Entry> = Vec::new();
    for exported in exported {
        let export = &exported.export;
        if let Some(&i) = known.get(exported.name.as_str()) {
            let old = &entries[i];
            let same = old.symbol == exported.symbol && old.export.forward == export.forward;
            if !exported.by_directive && (!same || old.export.ordinal != export.ordinal) {
                sink.warn(
                    Cause::ExportedTwice,
                    format!("duplicate /export option: {}", exported.import_symbol),
                );
            }
            continue;
        }
        known.insert(&exported.name, entries.len());
        let ordinal = export.ordinal.unwrap_or(0);
        let (name, import_symbol) = (exported.name.clone(), exported.import_symbol.clone());
        entries.push(Entry { export: export.clone(), name, import_symbol, symbol: exported.symbol, ordinal });
    }
    // Of several that a program may use only one is called by compilers, and nobody knows which.
    for entry in entries.iter().filter(|entry| entry.import_symbol.starts_with("??_G")) {
        sink.warn(
            Cause::ExportFault,
            format!("export of deleting dtor: {}", demangle(entry.import_symbol.as_bytes(), None)),
        );
    }
    entries.sort_by(|a, b| a.name().cmp(b.name()));
    // The loader searches among bytes, which texts that hold some that are no UTF-8 have in another order.
    if entries.iter().any(|entry| matches!(text::bytes(entry.name()), Cow::Owned(_))) {
        entries.sort_by_cached_key(|entry| text::bytes(entry.name()).into_owned());
    }
    entries
}

/// Gives ordinals to those that have none.
fn number(entries: &mut [Entry], sink: &DiagSink) {
    let mut given: HashMap<u16, String> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.ordinal != 0) {
        if let Some(other) = given.insert(entry.ordinal, entry.export.name.clone()) {
            let (ordinal, name) = (entry.ordinal, &entry.export.name);
            sink.push(Diagnostic::error(
                Cause::ExportedTwice,
                format!("{name} and {other} are exported with the same ordinal {ordinal}"),
            ));
        }
    }
    let count = entries.len();
    let mut last = given.keys().copied().max().unwrap_or(0);
    for entry in entries.iter_mut().filter(|entry| entry.ordinal == 0) {
        match last.checked_add(1) {
            Some(next) => last = next,
            None => {
                return sink
                    .error(Cause::TooLarge, format!("too many exported symbols (got {count}, max 65535)"));
            }
        }
        entry.ordinal = last;
    }
}
