//! `--be8`: instructions whose bytes are in the other order than those of data, which ARM's processors of version 6
//! and later want where data are big endian. Objects have both in the order of data, so bytes of instructions are
//! turned section by section after the relocations. Which they are, mapping symbols say (AAELF32, "Mapping
//! symbols"): `$a` in front of ARM code, `$t` in front of Thumb code, `$d` in front of data. The linker's own code is
//! turned where it is written.

use weld_common::diag::Cause;
use weld_common::par;

use crate::arch::facts::TurnedCode;
use crate::elf::*;
use crate::ids::*;
use crate::input::mapping_symbols::{Mark, mapping_symbols, of_section};
use crate::input::object::{Object, SymbolPlace};
use crate::synth::image::Image;
use crate::synth::relocate::Site;

/// Objects that one task looks at.
const OBJECTS: usize = 16;

pub struct CodeOrder {
    /// Of each object: in units of how many bytes what follows is turned.
    marks: Vec<Vec<Mark<usize>>>,
}

impl CodeOrder {
    /// What the mapping symbols say, if instructions are to be turned. Code of which none says what it is, is reported.
    pub fn of(image: &Image, parallel: bool) -> Option<CodeOrder> {
        let order = image.mode.turned_code()?;
        let objects = &image.resolved.objects;
        let runs = par::runs("mapping symbols", parallel, objects.len(), OBJECTS, |run| {
            run.map(|number| {
                let marks = mapping_symbols(&objects[number], order.unit);
                check(image, &objects[number], &marks);
                marks
            })
            .collect::<Vec<_>>()
        });
        Some(CodeOrder { marks: runs.into_iter().flatten().collect() })
    }

    /// Turns the instructions of a whole section.
    pub fn apply(&self, site: &Site, out: &mut [u8]) {
        let own = of_section(&self.marks[site.object_id.index()], site.shndx);
        TurnedCode::turn(out, own.iter().map(|(_, offset, unit)| (*offset as usize, *unit)));
    }
}

/// Reports functions in front of the first mapping symbol of their section. Data may have none there: LLVM makes it
/// only where code was before.
fn check(image: &Image, object: &Object, marks: &[Mark<usize>]) {
    for (index, symbol) in (0u32..).zip(object.syms) {
        let SymbolPlace::Section(section) = object.place(index, symbol) else { continue };
        let is_function = symbol.kind() == STT_FUNC && (section as usize) < object.shdrs.len();
        if !is_function || !image.live.contains(SectionId(object.section_base + section)) {
            continue;
        }
        if of_section(marks, section).first().is_none_or(|mark| mark.1 > symbol.st_value()) {
            let name = weld_common::text::text(object.symbol_name(index));
            let text = format!("--be8: no mapping symbol ($a, $t) says which instructions {name} has");
            image.sink.push(object.at_section(section).error(Cause::MalformedObject, text));
        }
    }
}
