//! `.gdb_index` (`--gdb-index`): where GDB finds the units that know a name or an address.
//!
//! Without it GDB reads all debug information of a program before it answers anything. The index lists the
//! units, the addresses of their code, and for each name of a function, variable or type the units that have
//! one.
//!
//! An object's debug sections are read where they are, before any relocation ([`super::debug_info`]): of each
//! unit the header and the first entry (`unit`, `abbrev`), which tells the addresses (`ranges`), and the
//! names. Those are listed by compilers that are asked to (`pubnames`); where they are not, all entries of
//! the unit are looked at (`dies`, `scopes`), as GDB does. Names that units next to each other have in common
//! are put together first (`window`), then those of all objects by hash (`names`, `chains`); then everything
//! has its size, and the rest is the table (`table`, `gdb_hash`), written after layout, when addresses are
//! known.
//!
//! Specification: GDB's manual, "Index Section Format"; DWARF 2 to 5.

pub mod abbrev;
pub mod chains;
pub mod collect;
pub mod dies;
pub mod gdb_hash;
pub mod names;
pub mod plan;
pub mod pubnames;
pub mod ranges;
pub mod scopes;
pub mod table;
pub mod unit;
pub mod window;

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::elf::*;
use crate::ids::SectionId;
use crate::synth::debug_info::dwarf::Pointer;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let size = sizes.plan.tables.gdb_index.as_ref()?.size();
        Spec::own(Header { name: b".gdb_index", kind: SHT_PROGBITS, flags: 0, entsize: 0 }, 4, size)
            .map(Spec::dispensable)
    }

    fn cuts(&self, source: &Source) -> Cuts {
        Cuts::At(
            source
                .contents
                .tables
                .gdb_index
                .as_ref()
                .map_or_else(Vec::new, |table| table.borders().collect()),
        )
    }

    fn work(&self) -> &'static str {
        ".gdb_index"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let Some(table) = &at.contents().tables.gdb_index else { return };
        let image = at.image();
        let placed = |place: Pointer| image.sections.address_of(SectionId(place.section), place.offset).get();
        table.write(at.start, out, &placed);
    }
}
