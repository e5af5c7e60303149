//! From a script and the sections that there are to the list of steps, and to output sections.
//!
//! This is the recipe; its steps are in `compile`, `contents`, `order` and `members`.

use std::ops::Range;

use super::*;
use crate::layout::ChunkKind;
use crate::layout::chunk::Spec;
use crate::layout::members::{Builder, Head};
use crate::script::sections::SectionType;
use crate::sections::OutputUse;
use crate::symbols::internal::Internal;

/// What lies in a block, before it is an output section.
#[derive(Default)]
pub(super) struct Contents {
    /// What its input sections and chunks say of its header.
    pub used: Option<OutputUse>,
    /// The same of the input sections of an object (`-r`).
    pub head: Option<Head>,
    /// The one of the linker's own that it is.
    pub own: Option<ChunkKind>,
    /// It is there although nothing may be in it.
    pub forced: bool,
    /// Bins after what the script names.
    pub tail: Vec<usize>,
    pub kind: SectionType,
}

impl<'a> Builder<'_, 'a> {
    /// As `build`, by a script.
    ///
    /// # Errors
    /// If the script speaks of what does not exist.
    pub(in crate::layout) fn build_scripted(
        mut self,
        source: &Source,
        specs: Vec<(ChunkKind, Spec)>,
    ) -> Result<Layout<'a>, LayoutError> {
        let found = self.gather_groups();
        let mut maker = Maker::new(source, self.sections.bins.len());
        maker.compile()?;
        let (members, parts) = maker.take_inputs(found, &self);
        let mut chunks = maker.chunks(specs, &self)?;
        match self.heads {
            Some(heads) => maker.join_heads(heads),
            None => maker.join_uses(&self.join_all(), &chunks),
        }
        let mut outs = maker.outputs(&self);
        match self.program.is_object() {
            true => maker.append_orphans(),
            false => maker.add_orphans(&outs, &|out| self.options.start_of(&out.name).is_some()),
        }
        for chunk in &mut chunks {
            let block = &maker.blocks[chunk.out.index()];
            chunk.out = block.out.unwrap_or(OutputSectionId::NONE);
        }
        let mut of_bin = maker.give_members(&mut outs, members, &self);
        self.add_relocs(&mut outs, &mut chunks);
        let position = match self.program.is_object() {
            true => maker.put_object_in_order(&mut outs),
            false => maker.put_in_order(&mut outs),
        };
        chunks.iter_mut().for_each(|chunk| chunk.out = position[chunk.out.index()]);
        of_bin.iter_mut().filter(|out| out.is_some()).for_each(|out| *out = position[out.index()]);
        if let Some(relocs) = &mut self.kept_relocs {
            relocs.renumber(&position);
        }
        maker.sort_linked(&mut outs, &of_bin, &self);
        maker.measure_alignment(&mut outs, &parts, &chunks, &self);
        let script = maker.finish(parts);
        let layout = Layout {
            format: self.machine.target.format,
            sections: outs,
            chunks,
            of_bin,
            raw: self.options.output.raw,
            is_out_of_order: false,
            script: Some(Box::new(script)),
            ..Layout::default()
        };
        Ok(layout)
    }
}

/// What a script computes that leaves the layout as it is by default: its expressions know the output
/// sections.
///
/// # Errors
/// If the script speaks of what does not exist.
pub(in crate::layout) fn beside_default(
    source: &Source,
    layout: &Layout,
) -> Result<Box<Scripted>, ScriptError> {
    let mut maker = Maker::new(source, 0);
    maker.compile()?;
    for (id, out) in layout.with_ids() {
        let block = maker.orphan(&out.name);
        maker.blocks[block].out = Some(id);
    }
    Ok(Box::new(maker.finish(Vec::new())))
}

/// A place for a bin, while the steps are made.
pub(super) struct Planned {
    pub block: usize,
    pub bin: Bin,
}

/// Makes the steps and the output sections.
pub(super) struct Maker<'s> {
    pub source: Source<'s>,
    pub steps: Vec<Step>,
    pub blocks: Vec<Block>,
    pub contents: Vec<Contents>,
    pub planned: Vec<Planned>,
    /// The first block of each name.
    pub by_name: HashMap<Vec<u8>, usize>,
    /// Which of `planned` each bin is.
    pub of_bin: Vec<Option<usize>>,
    pub data: Vec<(Vec<u8>, usize)>,
    pub data_chunks: Vec<ChunkId>,
    pub assigned: Vec<Assigned>,
    pub by_symbol: HashMap<SymbolId, usize>,
    /// The number of the next assignment to a symbol.
    pub next_assignment: usize,
    /// Which of the members of its output section those of each bin are.
    pub ranges: Vec<Range<usize>>,
    pub linked: Vec<Linked>,
    /// What the linker makes and the script has no place for.
    pub orphans: Vec<String>,
    /// `OVERWRITE_SECTIONS`: output sections that lie where orphans would, with their steps and what lies
    /// beside them.
    pub floats: Vec<(usize, Vec<Step>)>,
}

impl<'s> Maker<'s> {
    fn new(source: &Source<'s>, bins: usize) -> Maker<'s> {
        Maker {
            source: *source,
            steps: Vec::new(),
            blocks: Vec::new(),
            contents: Vec::new(),
            planned: Vec::new(),
            by_name: HashMap::new(),
            of_bin: vec![None; bins],
            data: Vec::new(),
            data_chunks: Vec::new(),
            assigned: Vec::new(),
            by_symbol: HashMap::new(),
            next_assignment: 0,
            ranges: Vec::new(),
            linked: Vec::new(),
            orphans: Vec::new(),
            floats: Vec::new(),
        }
    }

    fn finish(self, mut parts: Vec<Vec<Part>>) -> Scripted {
        for part in parts.iter_mut().flatten() {
            let start = self.ranges[part.bin.index()].start;
            part.members = part.members.start + start..part.members.end + start;
        }
        let source = self.source;
        let of_bin = self.of_bin.iter().filter(|_| source.rules.may_spill());
        let homes = of_bin
            .map(|planned| Some((self.planned[(*planned)?].block as u32, (*planned)? as u32)))
            .collect();
        let named = |name: &str| source.names.get(name).copied();
        let objects = |name: &str| named(name).is_some_and(|id| !self.by_symbol.contains_key(&id));
        let needs_places = source.script.expressions().iter().any(|value| value.symbols().any(objects))
            || self.assigned.iter().any(|assigned| assigned.original.is_some());
        let internals = (0u32..).zip(&source.internals.list);
        let slot_of =
            |(number, internal): (u32, &Internal)| Some((number, *self.by_symbol.get(&internal.id)?));
        let by_internal = internals.filter_map(slot_of).collect();
        // Of several with one name that one is meant which there is.
        let mut by_name: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut by_section = HashMap::new();
        for (number, block) in (0..).zip(&self.blocks) {
            let known = by_name.entry(block.name.clone()).or_insert(number);
            if let Some(out) = block.out {
                if self.blocks[*known as usize].out.is_none() {
                    *known = number;
                }
                by_section.insert(out, number);
            }
        }
        Scripted {
            script: source.script.clone(),
            steps: self.steps,
            blocks: self.blocks,
            by_name,
            by_section,
            bins: self.planned.into_iter().map(|planned| planned.bin).collect(),
            parts,
            data: self.data.into_iter().map(|(bytes, _)| bytes).collect(),
            data_chunks: self.data_chunks,
            names: source.names.clone(),
            assigned: self.assigned,
            by_symbol: self.by_symbol,
            by_internal,
            data_segment: DataSegment::default(),
            header_values: Vec::new(),
            regions: vec![RegionState::default(); source.script.regions.len()],
            needs_places,
            orphans: self.orphans,
            homes,
            linked: self.linked,
            without_headers: false,
            room_for_headers: 0,
            moments: Vec::new(),
        }
    }
}
