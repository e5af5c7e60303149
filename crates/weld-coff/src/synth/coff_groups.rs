//! What the sections of the image are made of (`/emitpogophaseinfo`): the groups of input sections, such as
//! `.text$mn` or `.CRT$XCU`, with their places. Who has no PDB can tell by them start-up code from functions,
//! and tables from constants; the debug directory leads to the list (`IMAGE_DEBUG_TYPE_POGO`).
//!
//! A word says what kind of list it is. Then each group has its offset in the image, its size, and its name
//! with a zero after it, padded to four bytes. The list is in a group, too; base relocations alone are not.
//!
//! Source: `IMAGE_DEBUG_POGO_ENTRY` in winnt.h, and the lists in Microsoft's programs.

use super::section::{Arranged, At, Sizes, Spec, Synthetic};
use crate::coff::pe;
use crate::ids::SectionId;
use crate::layout::Order;
use crate::options::Options;
use crate::sections::Sections;

/// `LTCG` as a number, the kind that readers look for.
const SIGNATURE: u32 = 0x4c54_4347;
const SIGNATURE_SIZE: u32 = 4;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        is_wanted(sizes.options).then(|| Spec::read_only(b".rdata$zzzdbg", 2, SIGNATURE_SIZE))
    }

    fn resize(&self, arranged: &Arranged) -> Option<u32> {
        let Order { list: order, ranges: outs } = arranged.order;
        let groups = outs.iter().flat_map(|out| groups(arranged.sections, &order[out.clone()]));
        Some(SIGNATURE_SIZE + groups.map(|group| entry_size(group.name)).sum::<u32>())
    }

    fn debug_type(&self, options: &Options) -> Option<u16> {
        is_wanted(options).then_some(pe::IMAGE_DEBUG_TYPE_POGO.0 as u16)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let (sections, layout) = (at.image.sections, at.image.layout);
        let members = layout.outs.iter().map(|out| &layout.order[out.members.clone()]);
        let mut bytes = SIGNATURE.to_le_bytes().to_vec();
        for group in members.flat_map(|members| groups(sections, members)) {
            let start = layout.rva(group.first);
            let end = layout.rva(group.last) + sections.get(group.last).size;
            bytes.extend_from_slice(&start.get().to_le_bytes());
            bytes.extend_from_slice(&(end - start).to_le_bytes());
            bytes.extend_from_slice(group.name);
            bytes.resize(bytes.len() + name_size(group.name) - group.name.len(), 0);
        }
        out.copy_from_slice(&bytes);
    }
}

fn is_wanted(options: &Options) -> bool {
    options.coff_groups && !options.pdb.without_groups
}

/// Bytes of a name in an entry.
fn name_size(name: &[u8]) -> usize {
    (name.len() + 1).next_multiple_of(4)
}

fn entry_size(name: &[u8]) -> u32 {
    8 + name_size(name) as u32
}

/// Input sections of one name that lie one after the other.
struct Group<'g> {
    name: &'g [u8],
    first: SectionId,
    last: SectionId,
}

/// The groups of an output section that have any bytes.
fn groups<'g>(sections: &'g Sections, members: &'g [u32]) -> impl Iterator<Item = Group<'g>> {
    let name = |id: u32| &sections.parts[sections.list[id as usize].part as usize].name[..];
    let runs = members.chunk_by(move |a, b| name(*a) == name(*b));
    runs.filter_map(move |run| {
        let mut holding = run.iter().copied().filter(|id| sections.list[*id as usize].size != 0);
        let first = holding.next()?;
        let last = holding.next_back().unwrap_or(first);
        Some(Group { name: name(first), first: SectionId(first), last: SectionId(last) })
    })
}
