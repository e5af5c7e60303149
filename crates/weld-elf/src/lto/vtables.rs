//! Whether machine code leaves a hole in what is known of classes
//! (`--lto-validate-all-vtables-have-type-infos`).
//!
//! The Itanium ABI for C++ calls the table of virtual functions of a class `_ZTV…` and its type information
//! `_ZTI…`. A table refers to that, and that to those of base classes, so with it a compiler sees from names
//! alone which classes machine code derives from its own. A table without it (`-fno-rtti`) may be of any of
//! them.

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text::text;
use weld_lto::options::Options;

use super::Link;
use crate::ids::SymbolId;
use crate::symbol_names::{Entry, flag};
use crate::symbols::symbol_flags;

impl Link<'_, '_> {
    /// The options with what has been found. What has no type information is said, for virtual calls stay
    /// then.
    pub fn with_vtables_checked(&self) -> Options {
        let mut options = self.job.options.lto.clone();
        let bare = self.vtables_without_type_info();
        for name in &bare {
            let text = format!("vtable {} of machine code has no type information", text(name));
            let note =
                "--lto-whole-program-visibility has no effect (--lto-validate-all-vtables-have-type-infos)";
            self.job.sink.push(Diagnostic::warning(Cause::LtoIncompatible, text).note(note));
        }
        options.devirtualisation.all_have_type_infos = bare.is_empty();
        options
    }

    fn vtables_without_type_info(&self) -> Vec<&[u8]> {
        const NATIVE: u32 = flag::REF_NATIVE | flag::REF_SHARED | flag::REF_SHARED_WEAK | flag::DEF_SHARED;
        let names = &self.resolved.names;
        let safe = &self.job.options.lto.devirtualisation.known_safe;
        let is_native = |id: SymbolId, entry: &Entry| match self.symbols[id].flags() & symbol_flags::KIND {
            symbol_flags::SHARED => true,
            symbol_flags::DEFINED | symbol_flags::COMMON => !self.is_of_code(entry),
            _ => false,
        };
        let bare = names.iter().filter(|(id, entry)| {
            let Some(class) = entry.name.strip_prefix(b"_ZTV") else { return false };
            let type_info = names.find(&[b"_ZTI", class].concat());
            is_native(*id, entry)
                && !safe.iter().any(|known| known.as_bytes() == entry.name)
                && type_info.is_none_or(|id| names.get(id).flags & NATIVE == 0)
        });
        let mut bare: Vec<&[u8]> = bare.map(|(_, entry)| entry.name).collect();
        bare.sort_unstable();
        bare
    }
}
