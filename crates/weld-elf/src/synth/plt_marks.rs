//! Mapping symbols in the PLT: they say where in an entry code begins, of which instruction set, and where data. Machines
//! that have them tell where they are ([`crate::arch::facts::Plt::code_marks`]); readers of code take it for what
//! was before otherwise.

use super::image::Image;
use super::symbol_record::{InSection, Record};
use super::thunks::Names;
use crate::address::Address;
use crate::arch::facts::{CodeMarks, Facts};
use crate::arch::plt::Style;
use crate::elf::*;
use crate::got_plt_slots::Slots;
use crate::layout::ChunkKind;

/// The PLT, in sections: where entries begin, and how many there are.
struct Entries {
    kind: ChunkKind,
    header: bool,
    count: u64,
}

/// The marks of a machine that has some, and what they are in.
fn all(machine: &Facts, style: Style, slots: &Slots) -> Option<(CodeMarks, [Entries; 2])> {
    let marks = (machine.plt.code_marks?)(style);
    let header = style.header_size(machine, slots.jump_slots) > 0 && slots.jump_slots > 0;
    let bound = Entries { kind: ChunkKind::Plt, header, count: slots.jump_slots.into() };
    let ifuncs = Entries { kind: ChunkKind::Iplt, header: false, count: slots.ifuncs().len() as u64 };
    Some((marks, [bound, ifuncs]))
}

/// How many symbols there are, and the bytes of their names.
pub fn names(machine: &Facts, style: Style, slots: &Slots) -> Names {
    let Some((marks, sections)) = all(machine, style, slots) else { return Names::default() };
    let (headers, entries) =
        (sections.iter().filter(|section| section.header).count() as u64, sections.iter());
    let entries: u64 = entries.map(|section| section.count).sum();
    let bytes = |marks: &[(u64, &str)]| marks.iter().map(|(_, name)| name.len() as u64 + 1).sum::<u64>();
    Names {
        count: (headers * marks.header.len() as u64 + entries * marks.entry.len() as u64) as u32,
        bytes: headers * bytes(marks.header) + entries * bytes(marks.entry),
    }
}

/// Hands them to `take`.
pub fn symbols(image: &Image, mut take: impl FnMut(&[u8], Record)) {
    let machine = image.mode.facts();
    let Some((marks, sections)) = all(machine, image.plt, image.slots) else { return };
    for Entries { kind, header, count } in sections {
        let Some((id, chunk)) = image.layout.chunk_with_id(kind) else { continue };
        let (mut at, out) = (image.layout.chunks[id.index()].address(), chunk.out.header());
        let mut all = |marks: &[(u64, &str)], at: Address| {
            for (offset, name) in marks {
                let (value, section) = ((at + *offset).get(), InSection::Defined(out));
                let record =
                    Record { binding: STB_LOCAL, kind: STT_NOTYPE, other: 0, value, size: 0, section };
                take(name.as_bytes(), record);
            }
        };
        if header {
            all(marks.header, at);
            at = at + image.plt.header_size(machine, image.slots.jump_slots);
        }
        for _ in 0..count {
            all(marks.entry, at);
            at = at + image.plt.entry_size(machine);
        }
    }
}
