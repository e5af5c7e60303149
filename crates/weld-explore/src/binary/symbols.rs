//! The symbols of a linked file, by section: what starts where, and how large it is.

use object::read::{Object as _, ObjectSymbol};
use object::{SymbolKind, SymbolSection};

use super::container::Container;
use super::map::Map;
use super::pdb::Pdb;
use crate::cover::{Claim, give_sizes};
use crate::model::Format;

pub struct Symbols<'f> {
    /// Of each section, by offset.
    of: Vec<Vec<Claim<&'f [u8]>>>,
}

impl<'f> Symbols<'f> {
    /// Those of the PDB, or else of the map, and of the symbol table; of a stripped file those that loaders need.
    pub fn collect(container: &Container<'f>, pdb: Option<&'f Pdb>, map: Option<&'f Map<'f>>) -> Symbols<'f> {
        let mut symbols = Symbols { of: vec![Vec::new(); container.sections.len()] };
        for (section, list) in symbols.of.iter_mut().enumerate() {
            match (pdb, map) {
                (Some(pdb), _) => list.extend(pdb.symbols_of(section)),
                (None, Some(map)) => list.extend(map.symbols_of(section)),
                (None, None) => {}
            }
        }
        let starts = container.sections.iter().filter(|section| section.is_tls);
        let tls = starts.map(|section| section.address).min().unwrap_or(0);
        container.file.symbols().for_each(|symbol| symbols.add(container, &symbol, tls));
        if symbols.of.iter().all(Vec::is_empty) {
            container.file.dynamic_symbols().for_each(|symbol| symbols.add(container, &symbol, tls));
        }
        for (list, section) in symbols.of.iter_mut().zip(&container.sections) {
            list.sort_by_key(|claim| (claim.offset, std::cmp::Reverse(claim.size)));
            give_sizes(list, section.memory.max(section.size));
        }
        symbols
    }

    pub fn of(&self, section: usize) -> &[Claim<&'f [u8]>] {
        &self.of[section]
    }

    fn add(&mut self, container: &Container<'f>, symbol: &object::Symbol<'f, '_>, tls: u64) {
        let SymbolSection::Section(index) = symbol.section() else { return };
        let is_meant = !matches!(symbol.kind(), SymbolKind::File | SymbolKind::Section);
        let Some(section) = container.of_index.get(index.0).copied().flatten().filter(|_| is_meant) else {
            return;
        };
        let Ok(name) = symbol.name_bytes() else { return };
        // Marks among instructions, sections that are spelled as symbols, and what holds nothing.
        if name.is_empty()
            || name.starts_with(b"$")
            || container.format == Format::Pe && name.starts_with(b".")
        {
            return;
        }
        let is_tls = symbol.kind() == SymbolKind::Tls;
        let address = if is_tls { tls.wrapping_add(symbol.address()) } else { symbol.address() };
        let Some(offset) = address.checked_sub(container.sections[section].address) else { return };
        self.of[section].push(Claim { offset, size: symbol.size(), what: name });
    }
}
