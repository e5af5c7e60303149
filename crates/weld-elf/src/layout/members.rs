//! Which output sections there are and what lies in each, in order.
//!
//! Input sections come in command-line order, except where their meaning asks for another one:
//! `.init_array.N` by priority, `SHF_LINK_ORDER` sections by what they are linked to.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use weld_common::runs::align_to;
use weld_common::{par, trace};

use super::chunk::{Place, Spec};
use super::error::LayoutError;
use super::program::Program;
use super::runs::{self, Group, Part, RUN};
use super::scripted::Source;
use super::segments::is_tls_zeroes;
use super::standard::RELRO_PADDING;
use super::*;
use crate::address::Address;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::input::object::Object;
use crate::live::{Live, SectionOwners};
use crate::options::Options;
use crate::section_order::SectionOrder;
use crate::sections::{JoinedKind, OutputUse, Sections};

/// What layout is made from.
pub struct Builder<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub sections: &'c mut Sections<'a>,
    pub live: &'c Live,
    pub owners: &'c SectionOwners,
    /// What options put elsewhere.
    pub order: &'c SectionOrder,
    pub options: &'c Options,
    pub machine: &'static Facts,
    pub program: &'c Program<'c>,
    /// `-r`: the header fields of the output section of each bin.
    pub heads: Option<&'c [Option<Head>]>,
    /// `-r` and `--emit-relocs`: the sections of relocations that are kept.
    pub kept_relocs: Option<&'c mut (dyn KeptRelocs + Sync)>,
    /// A linker script, if one lays out.
    pub script: Option<&'c Source<'c>>,
    pub parallel: bool,
}

/// Output sections that follow from others: the relocations that stay in the output. They are known when it
/// is known what lies in the others.
pub trait KeptRelocs {
    /// Adds one for each of `outs` whose members have relocations, with its chunk, in the order `order` of
    /// what they relocate.
    fn add(
        &mut self,
        sections: &Sections,
        order: &[usize],
        outs: &mut Vec<OutputSection>,
        chunks: &mut Vec<Chunk>,
    );

    /// Output sections have got other ids: `ids` has that of each.
    fn renumber(&mut self, ids: &[OutputSectionId]);
}

/// Header fields of an output section of input sections.
#[derive(Clone, Copy)]
pub struct Head {
    /// `sh_type`
    pub kind: JoinedKind,
    /// `sh_flags`
    pub flags: u64,
    pub entsize: u64,
    /// At least.
    pub align: u64,
    /// It takes no other sections in, whatever they are called.
    pub alone: bool,
}

impl Head {
    /// What all input sections together ask for.
    pub(super) fn of(used: &OutputUse, machine: &Facts) -> Head {
        let flags = output_flags(used, machine);
        Head { kind: used.kind, flags, entsize: used.entsize, align: 1, alone: false }
    }

    /// Gives an output section these fields.
    pub(super) fn fill(&self, out: &mut OutputSection) {
        out.kind = self.kind.in_section(&out.name);
        (out.flags, out.entsize, out.align) = (self.flags, self.entsize, self.align);
    }

    /// What another section adds to the header of an output section. Those of one kind can be merged later
    /// on; flags that all have stay.
    pub fn join(&mut self, other: &Head) {
        const OF_ALL: u64 = SHF_MERGE | SHF_STRINGS | SHF_LINK_ORDER;
        self.flags = (self.flags | other.flags) & !OF_ALL | self.flags & other.flags & OF_ALL;
        if self.entsize != other.entsize {
            self.entsize = 0;
            self.flags &= !(SHF_MERGE | SHF_STRINGS);
        }
        self.align = self.align.max(other.align);
        self.kind.join(other.kind);
    }
}

/// Objects whose contributions to headers are joined in one go.
const OBJECTS: usize = 256;

impl<'a> Builder<'_, 'a> {
    /// Gathers members, orders output sections and assigns offsets within them.
    ///
    /// # Errors
    /// If a linker script speaks of what there is not.
    pub fn build(mut self, chunks: Vec<(ChunkKind, Spec)>) -> Result<Layout<'a>, LayoutError> {
        if let Some(script) = self.script.filter(|script| script.script.has_sections) {
            return self.build_scripted(script, chunks);
        }
        let uses = match self.heads {
            Some(heads) => Cow::Borrowed(heads),
            None => Cow::Owned(self.join_uses()),
        };
        // Few, but for an object's, most of which have relocations.
        let room = self.heads.map_or(0, |heads| 2 * heads.len());
        let mut outs: Vec<OutputSection> = Vec::with_capacity(room);
        let mut of_bin = vec![OutputSectionId::NONE; self.sections.bins.len()];
        let mut parts = self.gather_inputs(&uses, &mut outs, &mut of_bin);
        let stretch = trace::stretch("order output sections");
        let mut chunks = self.add_chunks(chunks, &uses, &mut outs, &mut of_bin);
        outs.iter_mut().for_each(|out| self.program.assign(out));
        self.pad_relro(&mut outs, &chunks);
        self.add_relocs(&mut outs, &mut chunks);
        self.sort_arrays(&mut outs);
        let position = self.put_in_order(&mut outs);
        for out in of_bin.iter_mut().filter(|out| out.is_some()) {
            *out = position[out.index()];
        }
        for chunk in &mut chunks {
            chunk.out = position[chunk.out.index()];
        }
        if let Some(relocs) = &mut self.kept_relocs {
            relocs.renumber(&position);
        }
        drop(stretch);
        let mut layout = Layout {
            format: self.machine.target.format,
            sections: outs,
            chunks,
            segments: Vec::new(),
            by_address: Vec::new(),
            of_bin,
            image_base: Address::ZERO,
            raw: self.options.output.raw,
            is_out_of_order: false,
            file_size: 0,
            ..Layout::default()
        };
        if let Some(seed) = self.options.order.padding.filter(|_| !self.program.is_object()) {
            super::padding::add(&mut layout, seed, |id| self.sections.get(id).align());
        }
        super::padding::add_heads(&mut layout, &self.sections.last_outputs);
        self.assign_offsets(&mut layout, &mut parts);
        if let Some(script) = self.script {
            layout.script = Some(super::scripted::beside_default(script, &layout)?);
        }
        Ok(layout)
    }

    /// Adds output sections of relocations, in the order of what they relocate.
    pub(super) fn add_relocs(&mut self, outs: &mut Vec<OutputSection<'a>>, chunks: &mut Vec<Chunk>) {
        if self.kept_relocs.is_none() {
            return;
        }
        let (order, count) = (self.order_of(outs), outs.len());
        if let Some(relocs) = &mut self.kept_relocs {
            relocs.add(self.sections, &order, outs, chunks);
        }
        outs[count..].iter_mut().for_each(|out| self.program.assign(out));
    }

    /// Puts output sections in the order of the program. Returns the new id of each.
    fn put_in_order(&self, outs: &mut [OutputSection<'a>]) -> Vec<OutputSectionId> {
        put_in_order(outs, &self.order_of(outs))
    }

    /// The numbers of output sections in the order of the program.
    fn order_of(&self, outs: &[OutputSection]) -> Vec<usize> {
        let mut order = in_order_of_rank(outs);
        let options = &self.options.sections;
        let unique = options.unique_sections || !options.unique_patterns.is_empty();
        if unique && !self.program.is_object() {
            // What `__start_X` and `__stop_X` are around has nothing else in between.
            let mut first: HashMap<&[u8], usize> = HashMap::new();
            let starts: Vec<usize> =
                (0..outs.len()).map(|i| *first.entry(&outs[i].name).or_insert(i)).collect();
            order.sort_by_key(|&i| (outs[i].rank, starts[i]));
        }
        let last = &self.sections.last_outputs;
        if !last.is_empty() {
            // Which section made an output section come first may be gone.
            let place = |out: &OutputSection| last.iter().position(|last| *last.name == *out.name);
            order.sort_by_key(|&i| (outs[i].rank, place(&outs[i]).unwrap_or(usize::MAX)));
        }
        order
    }

    /// Header fields of each bin, over all objects.
    fn join_uses(&self) -> Vec<Option<Head>> {
        let head = |used: Option<OutputUse>| Some(Head::of(used.as_ref()?, self.machine));
        self.join_all().into_iter().map(head).collect()
    }

    /// What all objects say of each bin.
    pub(super) fn join_all(&self) -> Vec<Option<OutputUse>> {
        let (objects, bins) = (&self.sections.objects, self.sections.bins.len());
        let join =
            |run: std::ops::Range<usize>| runs::join_uses(objects[run].iter().flat_map(|o| &o.uses), bins);
        let joined = par::runs("join headers", self.parallel, objects.len(), OBJECTS, join);
        let mut all: Vec<Option<OutputUse>> = vec![None; bins];
        for (bin, used) in joined.iter().flatten() {
            match &mut all[bin.index()] {
                Some(seen) => seen.join(used),
                slot => *slot = Some(*used),
            }
        }
        if self.options.sections.gc_sections {
            self.leave_out_dead(&mut all);
        }
        all
    }

    /// Has only sections that are left say what headers are, where they are not all alike. A script may join
    /// anything to anything.
    fn leave_out_dead(&self, all: &mut [Option<OutputUse>]) {
        let by_script = self.script.is_some_and(|script| script.script.has_sections);
        let asked: Vec<bool> =
            all.iter().map(|used| used.is_some_and(|used| by_script || used.is_mixed())).collect();
        if !asked.contains(&true) {
            return;
        }
        let mut left: Vec<Option<OutputUse>> = vec![None; all.len()];
        for object in self.objects {
            for (shdr, id) in object.shdrs.iter().zip(object.section_base..).map(|(s, id)| (s, SectionId(id)))
            {
                let section = self.sections.get(id);
                let bin = section.bin();
                if !asked.get(bin.index()).is_some_and(|asked| *asked)
                    || !section.in_image()
                    || !self.live.contains(id)
                {
                    continue;
                }
                let used = OutputUse::new(bin, self.machine, shdr);
                match &mut left[bin.index()] {
                    Some(seen) => seen.join(&used),
                    slot => *slot = Some(used),
                }
            }
        }
        // Of those that are all dead nobody asks.
        for (used, left) in all.iter_mut().zip(left) {
            *used = left.or(*used);
        }
    }

    /// Lists what runs of input sections have for each bin.
    pub(super) fn gather_groups(&self) -> Vec<Vec<Group>> {
        let (list, live, bins) = (&self.sections.list, self.live, self.sections.bins.len());
        let (count, run) = (list.len(), self.run());
        let region = trace::region("gather members");
        let gather = |start: usize| {
            let _task = region.task();
            runs::gather(list, start * run..count.min((start + 1) * run), live, bins)
        };
        par::map(self.parallel, count.div_ceil(run), gather)
    }

    /// The name of an input section.
    pub(super) fn name_of(&self, id: SectionId) -> Option<&'a [u8]> {
        let object = &self.objects[self.owners.object(id).index()];
        object.section_name((id.0 - object.section_base) as usize)
    }

    /// The path of the file that a member comes from.
    pub(super) fn file_of(&self, member: &Member) -> String {
        let object = member.as_section().map(|id| &self.objects[self.owners.object(id).index()]);
        object.map_or_else(String::new, |object| object.name.to_string())
    }

    /// What a section is linked to (`SHF_LINK_ORDER`).
    pub(super) fn leader_of(&self, id: SectionId) -> Option<SectionId> {
        let object = self.owners.object(id);
        let base = self.objects[object.index()].section_base;
        let links = &self.sections.objects[object.index()].link_order;
        let at = links.binary_search_by_key(&(id.0 - base), |l| l.0).ok()?;
        Some(SectionId(base + links[at].1))
    }

    /// Puts sections with `SHF_LINK_ORDER` in the order of those that they are linked to, which lie in their
    /// output sections by `place`. What is linked to nothing comes last.
    pub(super) fn sort_linked(
        &self,
        members: &mut [Member],
        of_bin: &[OutputSectionId],
        place: impl Fn(SectionId) -> u64,
    ) {
        members.sort_by_cached_key(|member| match member.as_section().and_then(|id| self.leader_of(id)) {
            Some(leader) => (of_bin[self.sections.get(leader).bin().index()], place(leader)),
            None => (OutputSectionId::NONE, 0),
        });
    }

    /// What the header of an output section of such sections names: where that lies which the first is linked
    /// to.
    pub(super) fn link_of(&self, members: &[Member], of_bin: &[OutputSectionId]) -> HeaderIndex {
        let leader = members.iter().find_map(|m| m.as_section().and_then(|id| self.leader_of(id)));
        let out = leader.map(|id| of_bin[self.sections.get(id).bin().index()]);
        out.filter(|id| id.is_some()).map_or(HeaderIndex::ZERO, |id| id.header())
    }

    /// The alignment that a member asks for.
    pub(super) fn align_of(&self, member: &Member) -> u64 {
        member.as_section().map_or(1, |id| self.sections.get(id).align())
    }

    /// The same whatever a script substitutes for it.
    pub(super) fn own_align_of(&self, member: &Member) -> u64 {
        let Some(id) = member.as_section() else { return 1 };
        let object = &self.objects[self.owners.object(id).index()];
        let shdr = &object.shdrs[(id.0 - object.section_base) as usize];
        shdr.sh_addralign().max(1)
    }

    /// Makes the output sections of input sections and lists their members.
    fn gather_inputs(
        &self,
        uses: &[Option<Head>],
        outs: &mut Vec<OutputSection<'a>>,
        of_bin: &mut [OutputSectionId],
    ) -> Vec<Vec<Part>> {
        // Groups come first; so they are there where they belong.
        let groups = self.heads.iter().flat_map(|heads| (0..).map(PlacementId).zip(heads.iter()));
        for (bin, _) in groups.filter(|(_, head)| head.is_some_and(|head| head.kind.is(SHT_GROUP))) {
            self.out_for(bin, uses, outs, of_bin);
        }
        let found = self.gather_groups();
        let mut lists: Vec<Parts> = Vec::new();
        let mut as_part = |Group { bin, members, extent }| {
            let out = self.out_for(bin, uses, outs, of_bin).index();
            lists.resize_with(outs.len(), Default::default);
            Part { bin, members: lists[out].add(members), extent, start: None }
        };
        let parts = found.into_iter().map(|run| run.into_iter().map(&mut as_part).collect()).collect();
        lists.resize_with(outs.len(), Default::default);
        join_members(outs, lists, self.parallel);
        parts
    }

    /// Input sections of a run.
    fn run(&self) -> usize {
        if self.parallel { RUN } else { self.sections.list.len().max(1) }
    }

    fn out_for(
        &self,
        bin: PlacementId,
        uses: &[Option<Head>],
        outs: &mut Vec<OutputSection<'a>>,
        of_bin: &mut [OutputSectionId],
    ) -> OutputSectionId {
        if of_bin[bin.index()].is_none() {
            let text = self.sections.bins[bin.index()];
            let mut out = OutputSection::new(Cow::Borrowed(text), SHT_PROGBITS, 0, 0);
            match uses[bin.index()] {
                Some(head) => head.fill(&mut out),
                None if bin == crate::sections::bins::bin::COMMENT => {
                    out.flags = SHF_MERGE | SHF_STRINGS;
                    out.entsize = 1;
                }
                None => {
                    // Only chunks go there: the copies and commons of `.bss` and its kin.
                    out.kind = SHT_NOBITS;
                    out.flags = SHF_ALLOC | SHF_WRITE;
                    out.flags |= match text {
                        b".tbss" => SHF_TLS,
                        b".lbss" => self.machine.large_flag(),
                        _ => 0,
                    };
                }
            }
            of_bin[bin.index()] = OutputSectionId(outs.len() as u32);
            outs.push(out);
        }
        of_bin[bin.index()]
    }

    fn add_chunks(
        &self,
        specs: Vec<(ChunkKind, Spec)>,
        uses: &[Option<Head>],
        outs: &mut Vec<OutputSection<'a>>,
        of_bin: &mut [OutputSectionId],
    ) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for (kind, spec) in specs {
            let id = ChunkId(chunks.len() as u32);
            let out = match &spec.place {
                Place::Joined(bin) => {
                    let known = of_bin[bin.index()].is_some();
                    let out = self.out_for(*bin, uses, outs, of_bin);
                    if let (ChunkKind::Merged(_), true) = (kind, !known) {
                        outs[out.index()].kind = SHT_PROGBITS;
                    }
                    out
                }
                // Never one that inputs made by the same name: its contents are theirs.
                Place::Own(header) => {
                    let name = Cow::Borrowed(header.name);
                    let mut out = OutputSection::new(name, header.kind, header.flags, header.entsize);
                    out.own = Some(kind);
                    outs.push(out);
                    OutputSectionId(outs.len() as u32 - 1)
                }
            };
            outs[out.index()].members.push(Member::chunk(id));
            chunks.push(Chunk::of_spec(kind, &spec, out));
        }
        chunks
    }

    /// Adds what fills the last page of data that becomes read-only, if there is any. `place` knows how much
    /// that is.
    fn pad_relro(&self, outs: &mut Vec<OutputSection<'a>>, chunks: &[Chunk]) {
        let size = |member: &Member| match member.as_chunk() {
            Some(id) => chunks[id.index()].size,
            None => self.sections.list[member.0 as usize].size,
        };
        let is_needed = |out: &OutputSection| {
            out.is_relro() && !is_tls_zeroes(out) && out.members.iter().any(|member| size(member) > 0)
        };
        if outs.iter().any(is_needed) {
            let mut out = OutputSection::new(RELRO_PADDING.into(), SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0);
            out.pads_relro = true;
            self.program.assign(&mut out);
            outs.push(out);
        }
    }

    /// Puts members in the order that options ask for. `.init` and `.fini` are functions in pieces.
    fn sort_ordered(&self, outs: &mut [OutputSection]) {
        if self.order.is_empty() {
            return;
        }
        for out in outs.iter_mut().filter(|out| !matches!(&*out.name, b".init" | b".fini")) {
            let has_place = |member: &Member| member.as_section().is_some_and(|id| self.order.has(id));
            if out.members.iter().any(has_place) {
                out.ordered = true;
                out.members.sort_by_key(|m| m.as_section().map_or((i64::MAX, 0), |id| self.order.place(id)));
            }
        }
    }

    /// `.init_array` and `.fini_array`: by priority, in command-line order within one.
    fn sort_arrays(&self, outs: &mut [OutputSection]) {
        self.sort_ordered(outs);
        for out in outs.iter_mut().filter(|out| self.is_sorted_array(out)) {
            out.members
                .sort_by_key(|m| m.as_section().map_or(u32::MAX, |id| self.array_priority(id, &out.name)));
        }
    }

    fn is_sorted_array(&self, out: &OutputSection) -> bool {
        let array = matches!(&*out.name, b".init_array" | b".fini_array" | b".ctors" | b".dtors");
        array && self.options.sections.sort_init_array && !self.program.is_object()
    }

    fn array_priority(&self, id: SectionId, out: &[u8]) -> u32 {
        let object = &self.objects[self.owners.object(id).index()];
        let name = object.section_name((id.0 - object.section_base) as usize).unwrap_or(b"");
        let number = |prefix: &[u8]| -> Option<u32> {
            let text = name.strip_prefix(prefix)?.strip_prefix(b".")?;
            std::str::from_utf8(text).ok()?.parse().ok()
        };
        if matches!(out, b".ctors" | b".dtors") {
            // crtbegin's marker first, crtend's last.
            let base = object.name.base();
            let priority = number(b".ctors").or_else(|| number(b".dtors"));
            return match base {
                _ if base.starts_with("crtbegin") => 0,
                _ if base.starts_with("crtend") => u32::MAX,
                _ => priority.map_or(1, |n| n.saturating_add(2).min(u32::MAX - 1)),
            };
        }
        let old = number(b".ctors").or_else(|| number(b".dtors")).map(|n| 65535u32.saturating_sub(n));
        number(b".init_array").or_else(|| number(b".fini_array")).or(old).unwrap_or(65536)
    }

    /// Gives everything its offset in its output section.
    fn assign_offsets(&mut self, layout: &mut Layout, parts: &mut [Vec<Part>]) {
        let placed = self.place_by_runs(layout, parts);
        let is_linked = |out: &OutputSection| out.flags & SHF_LINK_ORDER != 0;
        let _stretch = trace::stretch("offsets besides");
        for (i, placed) in placed.into_iter().enumerate() {
            if !is_linked(&layout.sections[i]) {
                place_members(layout, self.sections, OutputSectionId(i as u32), placed);
            }
        }
        for i in 0..layout.sections.len() {
            if is_linked(&layout.sections[i]) {
                let mut members = std::mem::take(&mut layout.sections[i].members);
                let place = |leader: SectionId| self.sections.get(leader).offset();
                self.sort_linked(&mut members, &layout.of_bin, place);
                layout.sections[i].link = self.link_of(&members, &layout.of_bin);
                layout.sections[i].members = members;
                place_again(layout, self.sections, OutputSectionId(i as u32));
            }
        }
    }

    /// Places input sections that lie in the order of their numbers. How far each output section is filled
    /// then.
    fn place_by_runs(&mut self, layout: &Layout, parts: &mut [Vec<Part>]) -> Vec<Placed> {
        let outs = &layout.sections;
        let moved =
            |out: &OutputSection| out.flags & SHF_LINK_ORDER != 0 || out.ordered || self.is_sorted_array(out);
        let mut placed: Vec<Option<Placed>> =
            outs.iter().map(|out| (!moved(out)).then(Placed::default)).collect();
        for part in parts.iter_mut().flatten() {
            let Some(placed) = &mut placed[layout.of_bin[part.bin.index()].index()] else { continue };
            part.start = Some(placed.offset);
            placed.offset = part.extent.end(placed.offset);
            placed.align = placed.align.max(part.extent.align());
            placed.members = part.members.end;
        }
        let run = self.run();
        let region = trace::region("place members");
        par::each_piece(self.parallel, &mut self.sections.list, run, |i, sections| {
            let _task = region.task();
            for part in &parts[i] {
                let Some(start) = part.start else { continue };
                let out = &outs[layout.of_bin[part.bin.index()].index()];
                runs::place(&out.members[part.members.clone()], sections, i * run, start);
            }
        });
        placed.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// Puts output sections in `order`, which names each once. Returns the new id of each.
pub(super) fn put_in_order(outs: &mut [OutputSection], order: &[usize]) -> Vec<OutputSectionId> {
    let mut position = vec![OutputSectionId::NONE; outs.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = OutputSectionId(new as u32);
    }
    let mut to = position.clone();
    for i in 0..outs.len() {
        while to[i].index() != i {
            let place = to[i].index();
            outs.swap(i, place);
            to.swap(i, place);
        }
    }
    position
}

/// The numbers of output sections by their ranks, of which there are few; those of one rank as they are.
fn in_order_of_rank(outs: &[OutputSection]) -> Vec<usize> {
    let ranks = outs.iter().map(|out| out.rank as usize + 1).max().unwrap_or(0);
    let mut starts = vec![0; ranks + 1];
    outs.iter().for_each(|out| starts[out.rank as usize + 1] += 1);
    (1..starts.len()).for_each(|rank| starts[rank] += starts[rank - 1]);
    let mut order = vec![0; outs.len()];
    for (i, out) in outs.iter().enumerate() {
        let place = &mut starts[out.rank as usize];
        order[*place] = i;
        *place += 1;
    }
    order
}

/// Gives all members of an output section their offsets anew, one after the other.
pub fn place_again(layout: &mut Layout, sections: &mut Sections, id: OutputSectionId) {
    place_members(layout, sections, id, Placed::default());
}

/// Places the members after those that are.
fn place_members(layout: &mut Layout, sections: &mut Sections, id: OutputSectionId, placed: Placed) {
    let out = &mut layout.sections[id.index()];
    let (mut offset, mut align) = (placed.offset, out.align.max(placed.align));
    for member in &out.members[placed.members..] {
        match member.as_chunk() {
            Some(chunk) => {
                let chunk = &mut layout.chunks[chunk.index()];
                chunk.set_offset(align_to(offset, chunk.align));
                offset = chunk.offset().saturating_add(chunk.size);
                align = align.max(chunk.align);
            }
            None => {
                let section = &mut sections.list[member.0 as usize];
                section.set_offset(align_to(offset, section.align()));
                offset = section.offset().saturating_add(section.size);
                align = align.max(section.align());
            }
        }
    }
    out.size = offset;
    out.align = align;
}

/// Members that lie one after the other, as they are found.
#[derive(Default)]
pub(super) struct Parts {
    count: usize,
    first: Vec<Member>,
    more: Vec<Vec<Member>>,
}

/// Gives output sections their members.
pub(super) fn join_members(outs: &mut [OutputSection], lists: Vec<Parts>, parallel: bool) {
    let region = trace::region("join members");
    let joined = par::map_owned(parallel, lists, |_, parts| {
        let _task = region.task();
        parts.join()
    });
    outs.iter_mut().zip(joined).for_each(|(out, members)| out.members = members);
}

impl Parts {
    /// Takes in what lies after all others. Returns their numbers.
    pub(super) fn add(&mut self, members: Vec<Member>) -> Range<usize> {
        let range = self.count..self.count + members.len();
        self.count = range.end;
        match range.start {
            0 => self.first = members,
            _ => self.more.push(members),
        }
        range
    }

    /// All in one list.
    pub(super) fn join(self) -> Vec<Member> {
        let mut all = self.first;
        all.reserve_exact(self.count - all.len());
        self.more.iter().for_each(|part| all.extend_from_slice(part));
        all
    }
}

/// How far an output section is filled.
#[derive(Default)]
struct Placed {
    members: usize,
    offset: u64,
    align: u64,
}

/// The thread-local template starts at its own alignment, which is that of its strictest section. (In the
/// default layout `place` sees to that.)
pub(super) fn align_tls(sections: &mut [OutputSection]) {
    let align = sections.iter().filter(|s| s.is_tls()).map(|s| s.align).max();
    if let (Some(first), Some(align)) = (sections.iter_mut().find(|s| s.is_tls()), align) {
        first.align = align;
    }
}

/// Flags that mean something in an output file.
fn output_flags(used: &OutputUse, machine: &Facts) -> u64 {
    const ANY: u64 = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_TLS | SHF_GNU_RETAIN;
    const ALL: u64 = SHF_MERGE | SHF_STRINGS;
    // The parts of an array run in an order of their own: they follow other sections only if all of them do.
    let linked = if used.kind.has_array() { used.all_flags } else { used.any_flags } & SHF_LINK_ORDER;
    let all = if used.entsize == 0 { used.all_flags & !(SHF_MERGE | SHF_STRINGS) } else { used.all_flags };
    let unread = if used.is_read { 0 } else { used.any_flags & machine.execute_only };
    used.any_flags & (ANY | machine.large_flag()) | all & ALL | linked | unread
}
