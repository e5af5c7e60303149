//! `.shstrtab`: the names of the output sections (gABI chapter 4, "String Table").

use super::plan::Plan;
use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::*;
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
        Some(names(&plan.layout).1.size())
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(&at.contents().shstrtab);
    }
}

/// The table, and where in it the name of each output section is.
pub fn names(layout: &Layout) -> (Vec<u32>, StringTable) {
    let mut table = StringTable::new();
    let offsets = layout.sections.iter().map(|s| table.add(&s.name)).collect();
    (offsets, table)
}
