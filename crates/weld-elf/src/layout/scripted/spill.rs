//! What does not fit its memory region goes to another place that the script has for it: the next one of its `CLASS`, or with
//! `--enable-non-contiguous-regions` the next pattern that matches.
//!
//! A region overflows only when all addresses are known. Then the last sections in it move, as many as are too much by their
//! sizes, and everything is laid out anew; each move goes further down the script, so that ends. What has no other place stays,
//! and the region's overflow is the error that it was.

use super::*;
use crate::arch::facts::Facts;
use crate::input::object::Object;
use crate::layout::ChunkKind;
use crate::live::SectionOwners;
use crate::sections::scripted::OfFile;
use crate::sections::{OutputUse, SectionKind};

/// Layouts after which sections that still move are given up. A section moves once in each, as far as it has to.
pub const ROUNDS: usize = 1000;

/// What knows the sections that move.
pub struct Spiller<'c, 'a> {
    pub rules: &'c Rules,
    pub objects: &'c [Object<'a>],
    pub owners: &'c SectionOwners,
    pub machine: &'static Facts,
}

/// How much too much there is in the regions of an output section: that of its addresses, and that of its load addresses.
struct Excess<'o> {
    of_regions: &'o mut [u64],
    region: Option<usize>,
    load_region: Option<usize>,
}

impl Excess<'_> {
    fn is_left(&self) -> bool {
        [self.region, self.load_region].into_iter().flatten().any(|region| self.of_regions[region] > 0)
    }

    /// Whether it helps to move to a place in these regions.
    fn helps(&self, region: Option<usize>, load_region: Option<usize>) -> bool {
        let stays = |here: Option<usize>, there: Option<usize>| {
            here == there && here.is_some_and(|region| self.of_regions[region] > 0)
        };
        !stays(self.region, region) && !stays(self.load_region, load_region.or(region))
    }

    fn take(&mut self, size: u64, loads: bool) {
        if let Some(region) = self.region {
            self.of_regions[region] = self.of_regions[region].saturating_sub(size);
        }
        if let Some(region) = self.load_region.filter(|load| Some(*load) != self.region && loads) {
            self.of_regions[region] = self.of_regions[region].saturating_sub(size);
        }
    }
}

impl<'a> Spiller<'_, 'a> {
    /// Moves sections out of regions that overflow. Whether one did; then all has to be laid out anew.
    pub fn spill(&self, layout: &Layout, sections: &mut Sections<'a>, merged: &mut [MergedPart]) -> bool {
        let Some(script) = layout.script.as_ref().filter(|_| self.rules.may_spill()) else { return false };
        let over = |state: &RegionState| state.end.saturating_sub(state.origin.saturating_add(state.length));
        let mut of_regions: Vec<u64> = script.regions.iter().map(over).collect();
        let mut first_of_part: Option<Vec<SectionId>> = None;
        let mut files: HashMap<u32, OfFile> = HashMap::new();
        let mut moved = false;
        for step in script.steps.iter().rev() {
            let Step::End(block) = step else { continue };
            let block = &script.blocks[*block];
            let Some(out) = block.out else { continue };
            let load_region = block.load_region.or(block.region);
            let mut excess = Excess { of_regions: &mut of_regions, region: block.region, load_region };
            let loads = !layout[out].is_nobits();
            for member in layout[out].members.iter().rev() {
                if !excess.is_left() {
                    break;
                }
                let chunk = member.as_chunk().map(|id| &layout.chunks[id.index()]);
                let part = chunk.and_then(|chunk| match chunk.kind {
                    ChunkKind::Merged(part) => Some(part as usize),
                    _ => None,
                });
                let (id, size) = match (member.as_section(), part) {
                    (Some(id), _) => (id, sections.get(id).size),
                    // What is merged moves with the first of it.
                    (None, Some(part)) => {
                        let firsts = first_of_part.get_or_insert_with(|| firsts(sections, merged.len()));
                        (firsts[part], merged[part].merged.size())
                    }
                    (None, None) => continue,
                };
                let Some(bin) =
                    id.is_some().then(|| self.place_for(script, sections, id, &excess, &mut files)).flatten()
                else {
                    continue;
                };
                match part {
                    None => self.put(sections, id, bin),
                    Some(part) => {
                        merged[part].bin = bin;
                        let all = sections.objects.iter().flat_map(|object| &object.merges);
                        let is_in = |id: &SectionId| {
                            let section = sections.get(*id);
                            section.kind() == SectionKind::Merge && section.merged().0 == part
                        };
                        let all: Vec<SectionId> = all.map(|merge| merge.section).filter(is_in).collect();
                        all.into_iter().for_each(|id| self.put(sections, id, bin));
                    }
                }
                excess.take(size, loads);
                moved = true;
            }
        }
        moved
    }

    /// The next place for a section that takes it out of the regions that overflow.
    fn place_for(
        &self,
        script: &Scripted,
        sections: &Sections,
        id: SectionId,
        excess: &Excess,
        files: &mut HashMap<u32, OfFile>,
    ) -> Option<BinId> {
        let number = self.owners.object(id);
        let object = &self.objects[number.index()];
        let file = files.entry(number.0).or_insert_with(|| self.rules.of_file(Some(&object.name)));
        let shndx = (id.0 - object.section_base) as usize;
        let (name, flags) = (object.section_name(shndx)?, object.shdrs[shndx].sh_flags());
        let bin = sections.get(id).bin();
        let array = self.rules.bin(bin)?.array;
        self.rules.alternatives(file, name, flags, bin).into_iter().find(|other| {
            let block = script.homes.get(other.index()).copied().flatten();
            let regions =
                block.map(|block| &script.blocks[block as usize]).map(|b| (b.region, b.load_region));
            // A table of functions that changes its kind would be another table.
            let is_alike = self.rules.bin(*other).is_some_and(|other| other.array == array);
            is_alike && regions.is_some_and(|(region, load)| excess.helps(region, load))
        })
    }

    /// Assigns a section to another bin.
    fn put(&self, sections: &mut Sections, id: SectionId, bin: BinId) {
        let number = self.owners.object(id);
        let object = &self.objects[number.index()];
        let header = &object.shdrs[(id.0 - object.section_base) as usize];
        let section = &mut sections.list[id.index()];
        let subalign = |bin: BinId| self.rules.bin(bin).and_then(|bin| bin.subalign);
        if subalign(bin).is_some() || subalign(section.bin()).is_some() {
            section.set_unaligned();
            section.raise_align(subalign(bin).map_or(header.sh_addralign().max(1), |log2| 1 << log2));
        }
        section.set_bin(bin);
        sections.objects[number.index()].uses.push(OutputUse::new(bin, self.machine, header));
    }
}

/// The first section of each merged part.
fn firsts(sections: &Sections, parts: usize) -> Vec<SectionId> {
    let mut firsts = vec![SectionId::NONE; parts];
    for merge in sections.objects.iter().flat_map(|object| &object.merges) {
        let section = sections.get(merge.section);
        if section.kind() == SectionKind::Merge {
            let first = &mut firsts[section.merged().0];
            *first = if first.is_some() { *first } else { merge.section };
        }
    }
    firsts
}
