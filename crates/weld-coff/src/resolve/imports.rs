//! Short imports: files of import libraries that stand for one symbol of a DLL. Each has two names, that of
//! the address's place and, unless the symbol is data, the plain one.

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::hash::hash_bytes;
use weld_common::io::input::InputStore;

use crate::coff::import::{Import, ImportType};
use crate::ids::{FileId, SymbolId};
use crate::input::FileName;
use crate::symbol_names::{Bins, Rank, Record, SOFT, flag};

/// An import that takes part.
pub struct ImportFile<'a> {
    pub file: FileId,
    pub name: FileName<'a>,
    pub import: Import<'a>,
    /// The name of the address's place, and the plain name if it has one.
    pub symbols: [SymbolId; 2],
}

/// What an import announces under which number.
pub mod import_symbol {
    /// `__imp_NAME`: the place that holds the address.
    pub const ADDRESS: u32 = 0;
    /// The plain name: a jump, or for constants the place again.
    pub const PLAIN: u32 = 1;
}

/// Whether an import has a plain name.
pub fn has_plain_name(import: &Import) -> bool {
    import.kind != ImportType::Data
}

/// An import that has been read.
pub struct LoadedImport<'a> {
    file: FileId,
    pub import: Import<'a>,
    /// Ids of its names, and one; 0 for those that it does not have.
    pub(super) symbols: [AtomicU32; 2],
}

impl<'a> LoadedImport<'a> {
    pub fn of(file: FileId, import: Import<'a>) -> Self {
        LoadedImport { file, import, symbols: [AtomicU32::new(0), AtomicU32::new(0)] }
    }

    pub fn symbols(&self) -> [SymbolId; 2] {
        let id = |id: &AtomicU32| id.load(Ordering::Relaxed).checked_sub(1);
        self.symbols.each_ref().map(|word| id(word).map_or(SymbolId::NONE, SymbolId))
    }

    /// Announces a name, by its number in [`import_symbol`]; `lazy`: that it would be defined.
    pub fn announce(&self, store: &'a InputStore<'a>, symbol: u32, lazy: bool, bins: &mut Bins<'a>) {
        let import = &self.import;
        let name = match symbol {
            import_symbol::ADDRESS => store.keep([b"__imp_", import.symbol].concat()),
            _ if has_plain_name(import) => import.symbol,
            _ => return,
        };
        let (bits, symbol) = match lazy {
            true => (Rank::Provided as u32, u32::MAX),
            false => (SOFT as u32 | flag::IMPORT | flag::NATIVE, symbol),
        };
        bins.push(Record::new(hash_bytes(name), name, self.file, symbol, bits));
    }
}
