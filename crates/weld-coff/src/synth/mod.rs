//! Tables that the linker makes: imports, also those loaded late, exports, base relocations, resources,
//! guards, the debug directory.
//!
//! Each has its size before there are addresses and its bytes afterwards.

pub mod base_relocs;
pub mod debug_directory;
pub mod delay;
pub mod exports;
pub mod guard;
pub mod imports;
pub mod manifest;
mod manifest_merge;
pub mod mingw;
pub mod resources;

use crate::coff::pe;
use crate::sections::READ_ONLY;

/// A table that is a section of its own, as [`crate::symbols::SyntheticSection::Table`] numbers it.
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
    DelayDirectory,
    DelayLookup,
    DelayUnload,
    DelayHints,
    DelayDlls,
    DelayAddress,
    DelayHandles,
    DelayUnwind,
    DelayFunctions,
    PseudoRelocs,
    CtorsStart,
    CtorsEnd,
    DtorsStart,
    DtorsEnd,
}

pub const TABLES: [Table; 27] = [
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
    Table::DelayDirectory,
    Table::DelayLookup,
    Table::DelayUnload,
    Table::DelayHints,
    Table::DelayDlls,
    Table::DelayAddress,
    Table::DelayHandles,
    Table::DelayUnwind,
    Table::DelayFunctions,
    Table::PseudoRelocs,
    Table::CtorsStart,
    Table::CtorsEnd,
    Table::DtorsStart,
    Table::DtorsEnd,
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
            Table::DelayDirectory => b".didat$2",
            Table::DelayLookup => b".didat$4",
            Table::DelayUnload => b".didat$5",
            Table::DelayHints => b".didat$6",
            Table::DelayDlls => b".didat$7",
            Table::DelayAddress | Table::DelayHandles => b".data",
            Table::DelayUnwind => b".xdata",
            Table::DelayFunctions => b".pdata",
            Table::Resources => b".rsrc",
            Table::CtorsStart => b".ctors",
            Table::CtorsEnd => b".ctors.~",
            Table::DtorsStart => b".dtors",
            Table::DtorsEnd => b".dtors.~",
            Table::DebugDirectory
            | Table::PseudoRelocs
            | Table::GuardFunctions
            | Table::GuardImports
            | Table::GuardLongjmp
            | Table::GuardEhCont
            | Table::SafeHandlers => b".rdata",
        }
    }

    /// What may be done with its memory.
    pub fn flags(self) -> u32 {
        match self {
            Table::DelayAddress | Table::DelayHandles => READ_ONLY | pe::IMAGE_SCN_MEM_WRITE.0,
            // In front of what has the same name and other flags.
            Table::CtorsStart | Table::DtorsStart => pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0,
            _ => READ_ONLY,
        }
    }

    /// Logarithm of its alignment.
    pub fn align(self, is_64: bool) -> u8 {
        match self {
            Table::Resources | Table::DelayHandles => 3,
            Table::ImportLookup | Table::ImportAddress if is_64 => 3,
            Table::DelayLookup | Table::DelayUnload | Table::DelayAddress if is_64 => 3,
            Table::CtorsStart | Table::CtorsEnd | Table::DtorsStart | Table::DtorsEnd if is_64 => 3,
            Table::ImportHints | Table::DelayHints => 1,
            Table::ImportDlls | Table::DelayDlls => 0,
            _ => 2,
        }
    }
}
