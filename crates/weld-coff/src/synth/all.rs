//! The list of the linker's own tables, each with what knows all about it.
//!
//! To add one: a file of `synth` that implements [`Synthetic`], and a line here. Everything else follows from
//! the answers of that file.

use super::section::Synthetic;
use super::{coff_groups, debug_directory, delay, exports, guard, imports, mingw, resources};

macro_rules! tables {
    ($($table:ident => $section:expr,)*) => {
        /// A table that is a section of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Table {
            $($table,)*
        }

        impl Table {
            pub const ALL: &[Table] = &[$(Table::$table,)*];

            /// What knows all about it.
            pub fn section(self) -> &'static dyn Synthetic {
                match self {
                    $(Table::$table => &$section,)*
                }
            }
        }
    };
}

// Those of one part lie in this order, after what objects have in it.
tables! {
    ImportDirectory => imports::Directory,
    ImportLookup => imports::Lookups,
    ImportAddress => imports::Addresses,
    ImportHints => imports::Hints,
    ImportDlls => imports::Names,
    Exports => exports::Section,
    Resources => resources::Tree,
    DebugDirectory => debug_directory::Section,
    CoffGroups => coff_groups::Section,
    GuardFunctions => guard::Section(guard::FUNCTIONS),
    GuardImports => guard::Section(guard::IMPORTS),
    GuardLongjmp => guard::Section(guard::LONGJMP),
    GuardEhCont => guard::Section(guard::EH_CONT),
    SafeHandlers => guard::Section(guard::HANDLERS),
    DelayDirectory => delay::Directory,
    DelayLookup => delay::Lookups,
    DelayUnload => delay::Unload,
    DelayHints => delay::Hints,
    DelayDlls => delay::Names,
    DelayHandles => delay::Handles,
    DelayAddress => delay::Addresses,
    DelayUnwind => delay::Unwind,
    DelayFunctions => delay::Functions,
    PseudoRelocs => mingw::PseudoRelocs,
    CtorsStart => mingw::CTORS_START,
    CtorsEnd => mingw::CTORS_END,
    DtorsStart => mingw::DTORS_START,
    DtorsEnd => mingw::DTORS_END,
}
