//! `.ARM.exidx`: for each piece of code how the unwinder goes on from there, searched by address.
//!
//! Objects have a table for each section of code, linked to it (`SHF_LINK_ORDER`), with an entry of two words
//! for each function: the function's distance, and how its frame is undone: instructions, the distance of more
//! of them (`.ARM.extab`), or that it cannot be. An entry holds up to the next one. So the output's table has
//! those of live code in the order of its addresses, entries that stop the unwinder for code that has none,
//! and one for the end. What says the same as the entry before it is left out.
//!
//! Objects' tables are read here and copied nowhere else ([`SectionKind::CodeIndex`]). Which there are is
//! known before layout, which are needed when code is in its order, so the section may change its size while
//! the layout settles.
//!
//! Specification: "Exception Handling ABI for the Arm Architecture" (EHABI32), "Index table entries".

use weld_common::diag::Cause;
use weld_common::par;

use super::relocate::Site;
use super::section::{At, Header, Links, Sizes, Spec, Synthetic};
use crate::address::Address;
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::settle::{Adaptive, resize};
use crate::layout::{ChunkKind, Layout};
use crate::live::{Live, SectionOwners};
use crate::sections::{SectionKind, Sections};
use crate::synth::plan::Plan;

/// Objects whose tables are read by one task.
const OBJECTS: usize = 32;
/// So few entries of a table have their relocations looked for one by one.
const FEW: u64 = 4;
/// Bytes of an entry.
const ENTRY: u64 = 8;
/// The second word of an entry for code from which nobody unwinds.
const CANNOT_UNWIND: u32 = 1;

/// What the table is made of.
#[derive(Default)]
pub struct Table {
    /// The tables of live code, by that.
    tables: Vec<(SectionId, Input)>,
    /// Whether what says the same is left out.
    merges: bool,
    rows: Vec<Row>,
    /// The last code that there is an entry for, which the last entry is behind.
    end: Option<SectionId>,
}

/// The table of a section.
#[derive(Clone, Copy)]
struct Input {
    id: SectionId,
    size: u64,
    /// What all its entries say, if that is the same and no distance.
    says: Option<u32>,
    /// What its last entry says, if it is no distance.
    ends: Option<u32>,
}

/// A part of the output's table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Table(SectionId, u64),
    /// For code that has no table.
    Without(SectionId),
}

impl Row {
    fn size(&self) -> u64 {
        match self {
            Row::Table(_, size) => *size,
            Row::Without(_) => ENTRY,
        }
    }
}

impl Table {
    /// The tables of live code; `None` if there are none.
    pub fn new(
        objects: &[Object],
        sections: &Sections,
        live: &Live,
        (merges, parallel): (bool, bool),
    ) -> Option<Table> {
        let of_object = |number: usize, tables: &mut Vec<(SectionId, Input)>| {
            let object = &objects[number];
            for &(follower, leader) in &sections.objects[number].link_order {
                let [table, code] = [follower, leader].map(|shndx| SectionId(object.section_base + shndx));
                let is_table = sections.get(table).kind() == SectionKind::CodeIndex;
                if is_table && live.contains(table) && live.contains(code) {
                    tables.push((code, input(sections, (object, number), table)));
                }
            }
        };
        let lists = par::runs("read tables of code", parallel, objects.len(), OBJECTS, |run| {
            let mut tables = Vec::new();
            run.for_each(|number| of_object(number, &mut tables));
            tables
        });
        let mut tables = par::concat("join tables of code", parallel, lists);
        tables.sort_by_key(|(code, table)| (*code, table.id));
        (!tables.is_empty()).then_some(Table { tables, merges, rows: Vec::new(), end: None })
    }

    /// What the section takes if nothing is left out, and nothing is added but the end.
    fn first_size(&self) -> u64 {
        self.tables.iter().map(|(_, table)| table.size).sum::<u64>() + ENTRY
    }

    fn size(&self) -> u64 {
        self.rows.iter().map(Row::size).sum::<u64>() + ENTRY
    }

    /// Finds the rows for code as it lies now. Code without a table that is out of reach of the section, which
    /// lies at `here`, has none.
    fn find(&mut self, layout: &Layout, sections: &Sections, here: Address) {
        let mut rows = Vec::new();
        let mut end = None;
        // What the entry before says, if it is no distance.
        let mut before = None;
        // Code often lies in the order in which it came, and its tables with it.
        let mut next = 0;
        for (code, address) in code_in_order(layout, sections) {
            if self.tables.get(next).is_none_or(|(of, _)| *of != code) {
                next = self.tables.partition_point(|(of, _)| *of < code);
            }
            let first = next;
            next += self.tables[first..].iter().take_while(|(of, _)| *of == code).count();
            let own = self.tables[first..next].iter().map(|(_, table)| table).filter(|table| table.size > 0);
            let has_none = own.clone().next().is_none();
            if has_none && distance(address, here).is_none() {
                continue;
            }
            end = Some(code);
            if has_none && (before != Some(CANNOT_UNWIND) || !self.merges) {
                rows.push(Row::Without(code));
                before = Some(CANNOT_UNWIND);
            }
            for table in own {
                if !self.merges || table.says.is_none() || table.says != before {
                    rows.push(Row::Table(table.id, table.size));
                }
                before = table.ends;
            }
        }
        (self.rows, self.end) = (rows, end);
    }
}

/// The input sections with code, and where they are while the layout settles, in that order.
fn code_in_order<'l>(
    layout: &'l Layout,
    sections: &'l Sections,
) -> impl Iterator<Item = (SectionId, Address)> + 'l {
    let is_code = |out: &&crate::layout::OutputSection| {
        out.is_alloc() && out.flags & SHF_EXECINSTR != 0 && out.size > 0
    };
    let mut outs: Vec<_> = layout.sections.iter().filter(is_code).collect();
    outs.sort_by_key(|out| out.address);
    let members = outs.into_iter().flat_map(|out| {
        let ids = out.members.iter().filter_map(|member| member.as_section());
        ids.map(|id| (id, out.address.wrapping_add(sections.get(id).offset())))
    });
    members.filter(|(id, _)| sections.get(*id).size > 0 && sections.get(*id).is_copied())
}

/// What a table of an object says.
fn input(sections: &Sections, (object, number): (&Object, usize), id: SectionId) -> Input {
    let shndx = (id.0 - object.section_base) as usize;
    let data = object.section_data(shndx).unwrap_or(&[]);
    let format = object.format();
    let section = sections.get(id);
    let relocs = sections.relocs(object, number, section).iter();
    let computed = relocs.filter(|reloc| object.machine.class(reloc.kind()) != Class::None);
    let places = computed.map(Rela::r_offset);
    // Mostly it is the table of one function.
    let mut sorted: Vec<u64> = if section.size > FEW * ENTRY { places.clone().collect() } else { Vec::new() };
    sorted.sort_unstable();
    let is_distance = |at: u64| match section.size > FEW * ENTRY {
        true => sorted.binary_search(&at).is_ok(),
        false => places.clone().any(|place| place == at),
    };
    let second = |entry: usize| {
        let at = ENTRY as usize * entry + 4;
        let word = data.get(at..at + 4).map(|word| format.get_u32(word));
        word.filter(|_| !is_distance(at as u64))
    };
    let count = (section.size / ENTRY) as usize;
    let ends = count.checked_sub(1).and_then(second);
    let says = ends.filter(|ends| (0..count).all(|entry| second(entry) == Some(*ends)));
    Input { id, size: section.size, says, ends }
}

impl<'a> Adaptive<'a> for Table {
    fn name(&self) -> &str {
        ".ARM.exidx"
    }

    fn adapt(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>) -> bool {
        let Some(chunk) = layout.chunk_with_id(ChunkKind::CodeIndex).map(|(id, _)| id) else { return false };
        let own = &layout.chunks[chunk.index()];
        let here = layout[own.out].address.wrapping_add(own.offset());
        self.find(layout, sections, here);
        let changed = layout.chunks[chunk.index()].size != self.size();
        if changed {
            resize(layout, sections, chunk, self.size());
        }
        changed
    }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let table = sizes.plan.tables.code_index.as_ref()?;
        let index = sizes.plan.facts.mode.facts().code_index.as_ref()?;
        let (name, kind) = (index.name.as_bytes(), index.kind);
        let header = Header { name, kind, flags: SHF_ALLOC | SHF_LINK_ORDER, entsize: 0 };
        Spec::own(header, 4, table.first_size()).map(|spec| spec.dispensable().in_segment(kind))
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        let code = plan.layout.with_ids().find(|(_, out)| out.is_alloc() && out.flags & SHF_EXECINSTR != 0);
        Links::to_output(code?.0)
    }

    fn work(&self) -> &'static str {
        ".ARM.exidx"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.fill(0);
        let Some(table) = &at.contents().tables.code_index else { return };
        let (image, owners) = (at.image(), at.source.owners);
        let mut rest = out;
        let mut here = at.chunk.address();
        for row in &table.rows {
            let Some((bytes, after)) = rest.split_at_mut_checked(row.size() as usize) else { return };
            match *row {
                Row::Table(id, _) => copy(at, owners, id, here, bytes),
                Row::Without(code) => stop(at, image.sections.get(code).address(), here, bytes),
            }
            (rest, here) = (after, here + row.size());
        }
        let end = table.end.map(|id| image.sections.get(id));
        if let (Some(end), true) = (end, rest.len() as u64 >= ENTRY) {
            stop(at, end.address() + end.size, here, &mut rest[..ENTRY as usize]);
        }
    }
}

/// Copies the table of an object, which lies at `here` now.
fn copy(at: &At, owners: &SectionOwners, id: SectionId, here: Address, out: &mut [u8]) {
    let image = at.image();
    let object_id = owners.object(id);
    let object = &image.resolved.objects[object_id.index()];
    let section = image.sections.get(id);
    let shndx = id.0 - object.section_base;
    let input = object.section_data(shndx as usize).unwrap_or(&[]);
    out.copy_from_slice(&input[..out.len()]);
    let relocs = image.sections.relocs(object, object_id.index(), section);
    Site { image, object, object_id, shndx, address: here, relocs, input, delta: 0 }.relocate(out);
}

/// The distance of code from its entry, as that has it: 31 bits with a sign. `None`: it is too far.
fn distance(code: Address, here: Address) -> Option<u32> {
    let distance = code.wrapping_sub(here) as u32;
    (distance.wrapping_add(1 << 30) >> 31 == 0).then_some(distance & 0x7fff_ffff)
}

/// Writes an entry that stops the unwinder, for code from `code` on.
fn stop(at: &At, code: Address, here: Address, out: &mut [u8]) {
    let distance = distance(code, here);
    if distance.is_none() {
        let text =
            format!(".ARM.exidx: the code at {code:#x} is further than 1 GiB from its entry at {here:#x}");
        at.image().sink.error(Cause::RelocationOutOfRange, text);
    }
    let format = at.format();
    format.put(&mut out[..4], u64::from(distance.unwrap_or_default()));
    format.put(&mut out[4..], u64::from(CANNOT_UNWIND));
}
