//! Whether machine code leaves a hole in what is known of classes (`--lto-validate-all-vtables-have-type-infos`).
//!
//! The Itanium ABI for C++ calls the table of virtual functions of a class `_ZTV…` and its type information `_ZTI…`. A
//! table refers to that, and that to those of base classes, so with it a compiler sees from names alone which classes
//! machine code derives from its own. A table without it (`-fno-rtti`) may be of any of them.

use weld_lto::options::Options;

use super::Link;
use crate::names::flag;
use crate::symbols::sym;

impl Link<'_, '_> {
    /// The options with what has been found.
    pub fn with_vtables_checked(&self) -> Options {
        let mut options = self.job.options.lto.clone();
        options.devirtualisation.all_have_type_infos = self.all_vtables_have_type_infos();
        options
    }

    fn all_vtables_have_type_infos(&self) -> bool {
        const NATIVE: u32 = flag::REF_NATIVE | flag::REF_SHARED | flag::REF_SHARED_WEAK | flag::DEF_SHARED;
        let names = &self.resolved.names;
        let is_safe = |name: &[u8]| {
            let safe = &self.job.options.lto.devirtualisation.known_safe;
            safe.iter().any(|known| known.as_bytes() == name)
        };
        names.iter().all(|(id, entry)| {
            let Some(class) = entry.name.strip_prefix(b"_ZTV") else { return true };
            let kind = self.symbols[id].flags() & sym::KIND;
            let is_native = match kind {
                sym::SHARED => true,
                sym::DEFINED | sym::COMMON => !self.is_of_code(entry),
                _ => false,
            };
            let type_info = || names.find(&[b"_ZTI", class].concat());
            !is_native
                || is_safe(entry.name)
                || type_info().is_some_and(|id| names.get(id).flags & NATIVE != 0)
        })
    }
}
