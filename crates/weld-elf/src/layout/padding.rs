//! `--randomize-section-padding`: room by chance between input sections, and in front of what each segment
//! begins with.
//!
//! SectionSelector measures a program wants to know what of its speed comes from where things happen to lie.
//! One in sixteen sections has padding in front, as much as it is aligned to, and each segment begins with up
//! to a page of it. That is done in sections of which nobody knows where one part ends and the next begins:
//! not in arrays, nor in sections that are found by their bounds.
//!
//! Output sections may begin with room, too, where a link is made as another one was ([`add_heads`]).

use super::insert::merged;
use super::{Chunk, ChunkKind, Layout, Member, OutputSection};
use crate::ids::*;
use crate::section_order::shuffle::Twister;
use crate::sections::LastOutput;

/// Output sections that may be padded.
const PADDED: &[&[u8]] = &[
    b".text",
    b".rodata",
    b".data",
    b".bss",
    b".data.rel.ro",
    b".bss.rel.ro",
    b".ltext",
    b".lrodata",
    b".ldata",
    b".lbss",
];

/// Has output sections begin with room where they did so in another link: a section was there that is gone.
pub fn add_heads(layout: &mut Layout, last: &[LastOutput]) {
    for last in last.iter().filter(|last| last.head > 0) {
        let is_it = |out: &OutputSection| out.is_alloc() && *out.name == *last.name;
        let Some(number) = layout.sections.iter().position(is_it) else { continue };
        let chunk = ChunkId(layout.chunks.len() as u32);
        let id = OutputSectionId(number as u32);
        layout.chunks.push(Chunk::new(ChunkKind::Padding, last.head, last.align.max(1), id));
        let out = &mut layout.sections[number];
        let members: Vec<Member> = std::mem::take(&mut out.members);
        out.members = merged(&members, &[(0, chunk)]);
        out.ordered = true;
    }
}

/// Room in front of a segment's first section is less than this.
const PAGE: u32 = 4096;
/// One in so many sections has room in front.
const ONE_IN: u32 = 16;

/// Adds padding; `align` is the alignment of an input section. Members have no places yet.
pub fn add(layout: &mut Layout, seed: u64, align: impl Fn(SectionId) -> u64) {
    let mut random = Twister::new(seed as u32 ^ (seed >> 32) as u32);
    let mut before = None;
    for number in 0..layout.sections.len() {
        let out = &layout.sections[number];
        if !out.is_alloc() || !PADDED.contains(&&*out.name) {
            continue;
        }
        let mut wanted: Vec<(usize, u64)> = Vec::new();
        if before.replace((out.memory, out.large)) != Some((out.memory, out.large)) {
            wanted.push((0, u64::from(random.number() % PAGE)));
        }
        for (place, member) in out.members.iter().enumerate() {
            if let Some(id) = member.as_section()
                && random.number().is_multiple_of(ONE_IN)
            {
                wanted.push((place, align(id)));
            }
        }
        let id = OutputSectionId(number as u32);
        let mut added = Vec::with_capacity(wanted.len());
        for (place, size) in wanted {
            added.push((place, ChunkId(layout.chunks.len() as u32)));
            layout.chunks.push(Chunk::new(ChunkKind::Padding, size, 1, id));
        }
        let out = &mut layout.sections[number];
        let members: Vec<Member> = std::mem::take(&mut out.members);
        out.members = merged(&members, &added);
        out.ordered = true;
    }
}
