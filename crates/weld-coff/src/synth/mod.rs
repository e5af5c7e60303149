//! Tables that the linker makes: imports, exports, base relocations, resources, guards, the debug directory.
//!
//! Each has its size before there are addresses and its bytes afterwards.

pub mod base_relocs;
pub mod debug_directory;
pub mod exports;
pub mod guard;
pub mod imports;
pub mod manifest;
pub mod resources;

/// A table that is a section of its own, as [`crate::resolve::symbols::Made::Table`] numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Table {
    ImportDirectory,
    ImportLookup,
    ImportAddress,
    ImportHints,
    ImportDlls,
    Exports,
    Resources,
    DebugDirectory,
    GuardFunctions,
    GuardImports,
    GuardLongjmp,
    GuardEhCont,
    SafeHandlers,
}

pub const TABLES: [Table; 13] = [
    Table::ImportDirectory,
    Table::ImportLookup,
    Table::ImportAddress,
    Table::ImportHints,
    Table::ImportDlls,
    Table::Exports,
    Table::Resources,
    Table::DebugDirectory,
    Table::GuardFunctions,
    Table::GuardImports,
    Table::GuardLongjmp,
    Table::GuardEhCont,
    Table::SafeHandlers,
];

impl Table {
    /// The part that a table lies in.
    pub fn part(self) -> &'static [u8] {
        match self {
            Table::ImportDirectory => b".idata$2",
            Table::ImportLookup => b".idata$4",
            Table::ImportAddress => b".idata$5",
            Table::ImportHints => b".idata$6",
            Table::ImportDlls => b".idata$7",
            Table::Exports => b".edata",
            Table::Resources => b".rsrc",
            Table::DebugDirectory
            | Table::GuardFunctions
            | Table::GuardImports
            | Table::GuardLongjmp
            | Table::GuardEhCont
            | Table::SafeHandlers => b".rdata",
        }
    }

    /// Logarithm of its alignment.
    pub fn align(self) -> u8 {
        match self {
            Table::ImportLookup | Table::ImportAddress | Table::Resources => 3,
            Table::ImportHints => 1,
            Table::ImportDlls => 0,
            _ => 2,
        }
    }
}
