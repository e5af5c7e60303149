//! What does not fit its memory region goes to another place that the script has for it: the next one of its
//! `CLASS`, or with `--enable-non-contiguous-regions` the next pattern that matches.
//!
//! A region overflows only when all addresses are known. Then the last sections in it move, as many as are
//! too much by their sizes, and so on with the regions that they come to; and everything is laid out anew.
//! Each move goes further down the script, so that ends. What has no other place stays, and the region's
//! overflow is the error that it was.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::*;
use crate::arch::facts::Facts;
use crate::input::object::Object;
use crate::layout::ChunkKind;
use crate::live::SectionOwners;
use crate::sections::scripted::OfFile;
use crate::sections::{OutputUse, SectionKind};

/// Layouts after which sections that still move are given up. A section moves once in each, as far as it has
/// to.
pub const ROUNDS: usize = 1000;

/// What knows the sections that move.
pub struct Spiller<'c, 'a> {
    pub rules: &'c Rules,
    pub objects: &'c [Object<'a>],
    pub owners: &'c SectionOwners,
    pub machine: &'static Facts,
}

/// How far the regions of an output section are filled: those of its addresses, and those of its load
/// addresses.
struct Excess<'o> {
    /// By how much more than there is room for; below 0, how much room is left.
    of_regions: &'o mut [i128],
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

    /// So many bytes come, or go.
    fn add(&mut self, size: i128, loads: bool) {
        if let Some(region) = self.region {
            self.of_regions[region] += size;
        }
        if let Some(region) = self.load_region.filter(|load| Some(*load) != self.region && loads) {
            self.of_regions[region] += size;
        }
    }
}

/// What may move: a section, or the first of those that are merged and move together.
struct Mover {
    id: SectionId,
    part: Option<usize>,
    size: u64,
    /// It takes room where it is loaded from.
    loads: bool,
    bin: PlacementId,
    /// Its further places, of which those before `next` are after it.
    places: Rc<[PlacementId]>,
    next: usize,
}

/// What sections have in common that have the same places: their file, their flags, the patterns that match
/// their names, and the bin that they are in.
type Alike = (u32, u64, Vec<u32>, PlacementId);

/// Moves in the making.
struct Moves<'m> {
    script: &'m Scripted,
    of_regions: Vec<i128>,
    /// What comes to each block.
    incoming: HashMap<usize, Vec<Mover>>,
    /// Where each has gone in the end.
    moved: BTreeMap<SectionId, (PlacementId, Option<usize>)>,
    files: HashMap<u32, OfFile>,
    /// The further places of sections, from the bin on that they are in.
    places: HashMap<Alike, Rc<[PlacementId]>>,
    first_of_part: Option<Vec<SectionId>>,
}

impl Moves<'_> {
    /// What has come to a place moves no further.
    fn stay(&mut self, mover: Mover) {
        if mover.next > 0 {
            self.moved.insert(mover.id, (mover.bin, mover.part));
        }
    }
}

impl<'a> Spiller<'_, 'a> {
    /// Moves sections out of regions that overflow. Whether one did; then all has to be laid out anew.
    ///
    /// Where they go may overflow by that in turn, so regions are looked at in the order of the script, each
    /// with what comes to it; sizes tell, and what is amiss by alignments is found when all is laid out
    /// again.
    pub fn spill(&self, layout: &Layout, sections: &mut Sections<'a>, merged: &mut [MergedPart]) -> bool {
        let Some(script) = layout.script.as_ref().filter(|_| self.rules.may_spill()) else { return false };
        let over = |state: &RegionState| {
            i128::from(state.end) - i128::from(state.origin.saturating_add(state.length))
        };
        let mut moves = Moves {
            script,
            of_regions: script.regions.iter().map(over).collect(),
            incoming: HashMap::new(),
            moved: BTreeMap::new(),
            files: HashMap::new(),
            places: HashMap::new(),
            first_of_part: None,
        };
        for group in script.blocks_by_memory() {
            for block in group.into_iter().rev() {
                self.spill_block(&mut moves, block, layout, sections, merged);
            }
        }
        for mover in std::mem::take(&mut moves.incoming).into_values().flatten() {
            moves.stay(mover);
        }
        for (id, (bin, part)) in &moves.moved {
            self.put_all(sections, merged, *id, *part, *bin);
        }
        !moves.moved.is_empty()
    }

    /// Moves the last sections out of a block, as long as there is too much in its regions.
    fn spill_block(
        &self,
        moves: &mut Moves,
        number: usize,
        layout: &Layout,
        sections: &Sections<'a>,
        merged: &[MergedPart],
    ) {
        let script = moves.script;
        let regions = |block: &Block| (block.region, block.load_region.or(block.region));
        let (region, load_region) = regions(&script.blocks[number]);
        let is_left = |of_regions: &mut Vec<i128>| Excess { of_regions, region, load_region }.is_left();
        if !is_left(&mut moves.of_regions) {
            return;
        }
        let mut list = self.movers(moves, number, layout, sections, merged);
        let is_sorted = |bin: &Mover| script.is_sorted(bin.bin);
        let incoming = moves.incoming.remove(&number).unwrap_or_default();
        // Where those lie that come to a place which sorts is known only then.
        if incoming.iter().chain(&list).any(is_sorted) {
            incoming.into_iter().for_each(|mover| moves.stay(mover));
        } else if !incoming.is_empty() {
            list.extend(incoming);
            list.sort_by_key(|mover| (mover.bin, mover.id));
        }
        while let Some(mut mover) = list.pop() {
            let mut excess = Excess { of_regions: &mut moves.of_regions, region, load_region };
            if !excess.is_left() {
                moves.stay(mover);
                break;
            }
            let array = self.rules.bin(mover.bin).and_then(|bin| bin.array);
            let to = mover.places[mover.next..].iter().position(|other| {
                let (region, load_region) = match script.home(*other) {
                    Some(block) => (script.blocks[block].region, script.blocks[block].load_region),
                    None => return false,
                };
                // A table of functions that changes its kind would be another table.
                let is_alike = self.rules.bin(*other).is_some_and(|other| other.array == array);
                is_alike && excess.helps(region, load_region)
            });
            let Some(to) = to else {
                moves.stay(mover);
                continue;
            };
            excess.add(-i128::from(mover.size), mover.loads);
            (mover.bin, mover.next) = (mover.places[mover.next + to], mover.next + to + 1);
            let Some(block) = script.home(mover.bin) else { continue };
            let (region, load_region) = regions(&script.blocks[block]);
            let mut there = Excess { of_regions: &mut moves.of_regions, region, load_region };
            there.add(i128::from(mover.size), mover.loads);
            moves.incoming.entry(block).or_default().push(mover);
        }
        list.into_iter().for_each(|mover| moves.stay(mover));
    }

    /// What lies in a block and has another place, in order.
    fn movers(
        &self,
        moves: &mut Moves,
        block: usize,
        layout: &Layout,
        sections: &Sections<'a>,
        merged: &[MergedPart],
    ) -> Vec<Mover> {
        let Some(out) = moves.script.blocks[block].out else { return Vec::new() };
        let loads = !layout[out].is_nobits();
        let mut list = Vec::new();
        for member in &layout[out].members {
            let chunk = member.as_chunk().map(|id| &layout.chunks[id.index()]);
            let part = chunk.and_then(|chunk| match chunk.kind {
                ChunkKind::Merged(part) => Some(part as usize),
                _ => None,
            });
            let (id, size) = match (member.as_section(), part) {
                (Some(id), _) => (id, sections.get(id).size),
                // What is merged moves with the first of it.
                (None, Some(part)) => {
                    let firsts = moves.first_of_part.get_or_insert_with(|| firsts(sections, merged.len()));
                    (firsts[part], merged[part].merged.size())
                }
                (None, None) => continue,
            };
            let Some(places) = id.is_some().then(|| self.places_of(moves, sections, id)).flatten() else {
                continue;
            };
            list.push(Mover { id, part, size, loads, bin: sections.get(id).bin(), places, next: 0 });
        }
        list
    }

    /// The further places of a section, if it has any.
    fn places_of(&self, moves: &mut Moves, sections: &Sections, id: SectionId) -> Option<Rc<[PlacementId]>> {
        let bin = sections.get(id).bin();
        self.rules.bin(bin)?;
        let number = self.owners.object(id);
        let object = &self.objects[number.index()];
        let shndx = (id.0 - object.section_base) as usize;
        let (name, flags) = (object.section_name(shndx)?, object.shdrs[shndx].sh_flags());
        let file = moves.files.entry(number.0).or_insert_with(|| self.rules.of_file(Some(&object.name)));
        let known = moves.places.entry((number.0, flags, self.rules.matching(name), bin));
        let places = known.or_insert_with(|| self.rules.alternatives(file, name, flags, bin).into());
        (!places.is_empty()).then(|| places.clone())
    }

    /// Assigns a section to another bin, or all that are merged with it.
    fn put_all(
        &self,
        sections: &mut Sections<'a>,
        merged: &mut [MergedPart],
        id: SectionId,
        part: Option<usize>,
        bin: PlacementId,
    ) {
        let Some(part) = part else { return self.put(sections, id, bin) };
        merged[part].bin = bin;
        let all = sections.objects.iter().flat_map(|object| &object.merges);
        let is_in = |id: &SectionId| {
            let section = sections.get(*id);
            section.kind() == SectionKind::Merge && section.merged().0 == part
        };
        let all: Vec<SectionId> = all.map(|merge| merge.section).filter(is_in).collect();
        all.into_iter().for_each(|id| self.put(sections, id, bin));
    }

    /// Assigns a section to another bin.
    fn put(&self, sections: &mut Sections, id: SectionId, bin: PlacementId) {
        let number = self.owners.object(id);
        let object = &self.objects[number.index()];
        let header = &object.shdrs[(id.0 - object.section_base) as usize];
        let section = &mut sections.list[id.index()];
        let subalign = |bin: PlacementId| self.rules.bin(bin).and_then(|bin| bin.subalign);
        if subalign(bin).is_some() || subalign(section.bin()).is_some() {
            section.set_unaligned();
            section.raise_align(subalign(bin).map_or(header.sh_addralign().max(1), |log2| 1 << log2));
        }
        section.set_bin(bin);
        sections.objects[number.index()].uses.push(OutputUse::new(bin, self.machine, header));
    }
}

impl Scripted {
    /// The block that a bin lies in, if what is in it may go to another.
    fn home(&self, bin: PlacementId) -> Option<usize> {
        self.homes.get(bin.index()).copied().flatten().map(|(block, _)| block as usize)
    }

    /// Whether what is in a bin has an order of its own.
    fn is_sorted(&self, bin: PlacementId) -> bool {
        let planned = self.homes.get(bin.index()).copied().flatten();
        planned.is_some_and(|(_, planned)| !self.bins[planned as usize].sorted.is_empty())
    }

    /// The blocks in regions, in order; those together that share memory, where they run or where they are
    /// loaded from.
    fn blocks_by_memory(&self) -> Vec<Vec<usize>> {
        fn root(of: &mut [usize], mut at: usize) -> usize {
            while of[at] != at {
                of[at] = of[of[at]];
                at = of[at];
            }
            at
        }
        let mut of: Vec<usize> = (0..self.regions.len()).collect();
        for block in &self.blocks {
            if let (Some(a), Some(b)) = (block.region, block.load_region) {
                let (a, b) = (root(&mut of, a), root(&mut of, b));
                of[a.max(b)] = a.min(b);
            }
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for step in &self.steps {
            let Step::End(block) = step else { continue };
            let Some(region) = self.blocks[*block].region.or(self.blocks[*block].load_region) else {
                continue;
            };
            let group = *known.entry(root(&mut of, region)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(*block);
        }
        groups
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
