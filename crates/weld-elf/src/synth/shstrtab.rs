//! `.shstrtab`: the names of the output sections (gABI chapter 4, "String Table").
//!
//! That of a section is the end of the name of its relocations, if the output has them.

use super::emitted_relocs::EmittedRelocs;
use super::error::TableTooLarge;
use super::plan::Plan;
use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::*;
use crate::ids::OutputSectionId;
use crate::layout::Layout;
use weld_common::string_table::StringTable;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".shstrtab", kind: SHT_STRTAB, flags: 0, entsize: 0 };
        // Its size follows when the names of all sections are known, its own included.
        sizes.options.layout.sectionheader.then(|| Spec::own(header, 1, 1))?
    }

    fn resize(&self, plan: &Plan) -> Option<u64> {
        Some(plan.names.table.size())
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.contents().names.table.bytes());
    }
}

/// The table, and where in it the name of each output section is.
#[derive(Default)]
pub struct Names {
    pub table: StringTable,
    pub offsets: Vec<u32>,
}

impl Names {
    /// # Errors
    /// If they are more than `sh_name` can tell apart.
    pub fn new(layout: &Layout, relocs: Option<&EmittedRelocs>) -> Result<Names, TableTooLarge> {
        let mut table = StringTable::new();
        let mut offsets = vec![0; layout.sections.len()];
        let name = |id: OutputSectionId| &*layout[id].name;
        for (target, relocs) in relocs.iter().flat_map(|relocs| relocs.sections()) {
            let prefix = name(relocs).len() - name(target).len();
            offsets[relocs.index()] = table.add(name(relocs));
            offsets[target.index()] = offsets[relocs.index()] + prefix as u32;
        }
        for (section, offset) in layout.sections.iter().zip(&mut offsets).filter(|(_, offset)| **offset == 0)
        {
            *offset = table.add(&section.name);
        }
        match table.too_large() {
            true => Err(TableTooLarge::Section(".shstrtab")),
            false => Ok(Names { table, offsets }),
        }
    }
}
