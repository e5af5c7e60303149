//! `.debug_names` (`--debug-names`): the tables of names of all units as one.
//!
//! Compilers leave each object a table of its names (DWARF 5, `-gpubnames`): a hash table, and for each name
//! the entries of debug information that have it. Without the option these tables lie one after the other in
//! the output, and a debugger looks into each of them for each name. Here they become one.
//!
//! Tables are read where they are (`index`): every object's by one thread, objects in runs (`collect`). What
//! is read of a name is its hash and where its text went when strings were merged, so that texts are compared
//! only where hashes are the same and places are not. Names of all objects meet in shards by the upper bits
//! of their hashes, each made by one thread (`names`). Then everything has its size (`table`), and what is
//! left for the end is to write addresses of units and of strings.
//!
//! Entries of units that are gone, as of type units that another object has as well, are left out: who has
//! the unit lists the same. Of an entry only what finds it is kept: unit, offset, the entry around it.
//!
//! Specification: DWARF 5, sections 6.1.1 and 7.19.

pub mod abbrev;
pub mod collect;
pub mod index;
pub mod names;
pub mod plan;
pub mod table;
#[cfg(test)]
mod tests;

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::elf::*;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let size = sizes.plan.tables.debug_names.as_ref()?.size();
        Spec::own(Header { name: b".debug_names", kind: SHT_PROGBITS, flags: 0, entsize: 0 }, 4, size)
            .map(Spec::dispensable)
    }

    fn cuts(&self, source: &Source) -> Cuts {
        Cuts::At(
            source
                .contents
                .tables
                .debug_names
                .as_ref()
                .map_or_else(Vec::new, |table| table.borders().collect()),
        )
    }

    fn work(&self) -> &'static str {
        ".debug_names"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        if let Some(table) = &at.contents().tables.debug_names {
            table.write(at.start, out, at.format(), &plan::Addresses { image: at.image() });
        }
    }
}
