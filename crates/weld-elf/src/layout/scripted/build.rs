//! From a script and the sections that there are to the list of steps, and to output sections.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::*;
use crate::elf::*;
use crate::layout::members::{self, Builder, Head};
use crate::layout::runs::Group;
use crate::layout::{Chunk, ChunkKind, OutputSection};
use crate::script::input_sections::Sort;
use crate::script::sections::{Content, SectionDescription, SectionType, Statement};
use crate::sections::OutputUse;
use crate::sections::bins::BINS;
use crate::sections::scripted::{Found, ScriptBin};
use crate::symbols::internal::Internal;
use crate::synth::emitted_relocs::Lists;
use crate::synth::section::{Header, Place as ChunkPlace, Spec};

/// What lies in a block, before it is an output section.
#[derive(Default)]
struct Contents {
    /// What its input sections and chunks say of its header.
    used: Option<OutputUse>,
    /// The same of the input sections of an object (`-r`).
    head: Option<Head>,
    /// The one of the linker's own that it is.
    own: Option<ChunkKind>,
    /// It is there although nothing may be in it.
    forced: bool,
    /// Bins behind what the script names.
    tail: Vec<usize>,
    kind: SectionType,
}

impl<'a> Builder<'_, 'a> {
    /// As `build`, by a script.
    ///
    /// # Errors
    /// If the script speaks of what there is not.
    pub(in crate::layout) fn build_scripted(
        self,
        source: &Source,
        specs: Vec<(ChunkKind, Spec)>,
    ) -> Result<(Layout<'a>, Lists), String> {
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
            false => maker.add_orphans(&outs),
        }
        for chunk in &mut chunks {
            let block = &maker.blocks[chunk.out.index()];
            chunk.out = block.out.unwrap_or(OutputSectionId::NONE);
        }
        let mut of_bin = maker.give_members(&mut outs, members, &self);
        let mut lists = self.add_relocs(&mut outs, &mut chunks);
        let position = match self.program.is_object() {
            true => maker.put_object_in_order(&mut outs),
            false => maker.put_in_order(&mut outs),
        };
        chunks.iter_mut().for_each(|chunk| chunk.out = position[chunk.out.index()]);
        of_bin.iter_mut().filter(|out| out.is_some()).for_each(|out| *out = position[out.index()]);
        lists.renumber(&position);
        maker.link_orders(&mut outs, &of_bin, &self);
        maker.measure_alignment(&mut outs, &parts, &chunks, &self);
        let script = maker.finish(parts);
        let layout = Layout {
            format: self.machine.target.format,
            sections: outs,
            chunks,
            of_bin,
            raw: self.options.output.raw,
            script: Some(Box::new(script)),
            ..Layout::default()
        };
        Ok((layout, lists))
    }
}

/// What a script computes that leaves the layout as it is by default: its expressions know the output sections.
///
/// # Errors
/// If the script speaks of what there is not.
pub(in crate::layout) fn beside_default(source: &Source, layout: &Layout) -> Result<Box<Scripted>, String> {
    let mut maker = Maker::new(source, 0);
    maker.compile()?;
    for (id, out) in layout.with_ids() {
        let block = maker.orphan(&out.name);
        maker.blocks[block].out = Some(id);
    }
    Ok(Box::new(maker.finish(Vec::new())))
}

/// A place for a bin, while the steps are made.
struct Planned {
    block: usize,
    bin: Bin,
}

/// Makes the steps and the output sections.
struct Maker<'s> {
    source: Source<'s>,
    steps: Vec<Step>,
    blocks: Vec<Block>,
    contents: Vec<Contents>,
    planned: Vec<Planned>,
    /// The first block of each name.
    by_name: HashMap<Vec<u8>, usize>,
    /// Which of `planned` each bin is.
    of_bin: Vec<Option<usize>>,
    data: Vec<(Vec<u8>, usize)>,
    data_chunks: Vec<ChunkId>,
    assigned: Vec<Assigned>,
    by_symbol: HashMap<SymbolId, usize>,
    /// Where the members of each bin begin among those of its output section.
    moved: Vec<usize>,
    /// What the linker makes and the script has no place for.
    orphans: Vec<String>,
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
            moved: Vec::new(),
            orphans: Vec::new(),
        }
    }

    /// Makes steps of the script's statements.
    fn compile(&mut self) -> Result<(), String> {
        let script = self.source.script.clone();
        let mut number = 0;
        for statement in &script.statements {
            match statement {
                Statement::Assign(assignment) => self.assign(assignment),
                Statement::Assert(assertion) => self.steps.push(Step::Assert {
                    value: assertion.value.clone(),
                    message: assertion.message.clone(),
                }),
                Statement::Section(section) => {
                    self.section(number, section, false)?;
                    number += 1;
                }
                Statement::Overlay(overlay) => {
                    let (address, load_address) = (overlay.address.clone(), overlay.load_address.clone());
                    self.steps.push(Step::BeginOverlay { address, load_address });
                    for section in &overlay.sections {
                        self.section(number, section, true)?;
                        number += 1;
                    }
                    self.steps.push(Step::EndOverlay);
                    for section in &overlay.sections {
                        self.overlay_symbols(section);
                    }
                }
            }
        }
        Ok(())
    }

    fn assign(&mut self, assignment: &crate::script::sections::Assignment) {
        let target = self.target(&assignment.name);
        // What nothing asks for is not defined.
        if target.is_none() && !assignment.is_dot() {
            return;
        }
        let (name, value, place) =
            (assignment.name.clone(), assignment.value.clone(), assignment.place.clone());
        self.steps.push(Step::Assign { name, target, value, place });
    }

    /// Where the value of a symbol goes that is defined by the script.
    fn target(&mut self, name: &str) -> Option<usize> {
        let id = *self.source.names.get(name)?;
        let internal = self.source.internals.computed(id)?;
        let next = self.assigned.len();
        let slot = *self.by_symbol.entry(id).or_insert(next);
        if slot == next {
            let original = internal;
            self.assigned.push(Assigned { value: Value::number(0), seen: false, original });
        }
        Some(slot)
    }

    /// `__load_start_X` and `__load_stop_X` of a section in an overlay.
    fn overlay_symbols(&mut self, section: &SectionDescription) {
        use crate::script::expr::{Binary, Op};
        let letters = section.name.iter().filter(|b| b.is_ascii_alphanumeric() || **b == b'_');
        let name: String = letters.map(|b| *b as char).collect();
        let place = section.place.clone();
        let start = vec![Op::LoadAddress(section.name.clone())];
        let mut stop = start.clone();
        stop.extend([Op::Size(section.name.clone()), Op::Binary(Binary::Add)]);
        for (prefix, code) in [("__load_start_", start), ("__load_stop_", stop)] {
            let name = format!("{prefix}{name}");
            if let Some(target) = self.target(&name) {
                let value = Expr { code, place: place.clone() };
                self.steps.push(Step::Assign { name, target: Some(target), value, place: place.clone() });
            }
        }
    }

    fn section(&mut self, number: usize, section: &SectionDescription, overlaid: bool) -> Result<(), String> {
        if section.name == b"/DISCARD/" || self.source.rules.is_disabled(number) {
            return Ok(());
        }
        let script = self.source.script.clone();
        let region = |name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => match script.region(name) {
                Some(region) => Ok(Some(region)),
                None => Err(format!("{}: there is no memory region {name}", section.place)),
            },
        };
        if section.load_address.is_some() && section.load_region.is_some() {
            return Err(format!("{}: AT and AT> give the section two load addresses", section.place));
        }
        let block = self.blocks.len();
        self.by_name.entry(section.name.clone()).or_insert(block);
        let assigns = |content: &Content| matches!(content, Content::Assign(a) if !a.is_dot() && !a.provide);
        self.blocks.push(Block {
            name: section.name.clone(),
            place: Some(section.place.clone()),
            out: None,
            address: section.address.clone(),
            align: section.align.clone(),
            load_address: section.load_address.clone(),
            align_with_input: section.align_with_input,
            region: region(&section.region)?,
            chooses: section.region.is_none(),
            load_region: region(&section.load_region)?,
            phdrs: self.headers_of(section)?,
            fill: section.fill.clone(),
            inner_align: 1,
            overlaid,
            assigns: section.contents.iter().any(assigns),
        });
        self.contents.push(Contents { kind: section.kind.clone(), ..Contents::default() });
        self.steps.push(Step::Begin(block));
        for (i, content) in section.contents.iter().enumerate() {
            self.content(block, (number as u32, i as u32), content);
        }
        self.steps.push(Step::End(block));
        Ok(())
    }

    /// The numbers of the program headers that a section names.
    fn headers_of(&self, section: &SectionDescription) -> Result<Option<Vec<usize>>, String> {
        if section.phdrs.is_empty() {
            return Ok(None);
        }
        let list = self.source.script.phdrs.as_deref().unwrap_or_default();
        let mut numbers = Vec::new();
        for name in section.phdrs.iter().filter(|name| *name != "NONE") {
            match list.iter().position(|header| header.name == *name) {
                Some(number) => numbers.push(number),
                None => return Err(format!("{}: there is no program header {name}", section.place)),
            }
        }
        Ok(Some(numbers))
    }

    fn content(&mut self, block: usize, (section, content_number): (u32, u32), content: &Content) {
        match content {
            Content::Inputs(_) => {
                let (bins, key) = (&self.source.rules.bins, (section, content_number));
                let of = |bin: &ScriptBin| (bin.section, bin.content);
                let first = bins.partition_point(|bin| of(bin) < key);
                let count = bins[first..].iter().take_while(|bin| of(bin) == key).count();
                for number in first..first + count {
                    let planned = self.plan(block);
                    self.of_bin[BINS.len() + number] = Some(planned);
                    self.steps.push(Step::Inputs(planned));
                }
            }
            Content::Assign(assignment) => {
                if assignment.is_dot() && !only_aligns(&assignment.value) {
                    self.contents[block].forced = true;
                }
                self.assign(assignment);
            }
            Content::Assert(assertion) => self
                .steps
                .push(Step::Assert { value: assertion.value.clone(), message: assertion.message.clone() }),
            Content::Data(size, value) => self.add_data(block, vec![0; usize::from(*size)], value.clone()),
            Content::Text(text) => {
                let place = self.blocks[block].place.clone();
                let Some(place) = place else { return };
                self.add_data(block, text.clone(), Expr { code: Vec::new(), place });
            }
            Content::Fill(fill) => self.steps.push(Step::Fill(fill.clone())),
        }
    }

    fn add_data(&mut self, block: usize, bytes: Vec<u8>, value: Expr) {
        self.steps.push(Step::Data(self.data.len(), value));
        self.data.push((bytes, block));
        self.contents[block].forced = true;
    }

    /// A place for a bin in a block.
    fn plan(&mut self, block: usize) -> usize {
        let bin = Bin { parts: Vec::new(), sorted: Vec::new(), chunks: Vec::new() };
        self.planned.push(Planned { block, bin });
        self.planned.len() - 1
    }

    /// The place of a bin. One that the script does not have lies in the section of its name, behind all else, or in an orphan.
    /// Those that an object keeps apart (`-r`) are orphans each.
    fn place_of_bin(&mut self, bin: BinId, name: &[u8], heads: Option<&[Option<Head>]>) -> usize {
        if let Some(planned) = self.of_bin[bin.index()] {
            return planned;
        }
        let is_apart = |head: Head| {
            let known = self.by_name.get(name).map(|block| &self.blocks[*block]);
            head.alone || known.is_none_or(|block| block.place.is_none())
        };
        let planned = match heads.and_then(|heads| heads[bin.index()]).is_some_and(is_apart) {
            true => self.place_apart(name),
            false => self.place_by_name(name),
        };
        self.of_bin[bin.index()] = Some(planned);
        planned
    }

    fn place_by_name(&mut self, name: &[u8]) -> usize {
        let block = match self.by_name.get(name) {
            Some(known) => *known,
            None => self.orphan(name),
        };
        self.place_behind(block)
    }

    fn place_apart(&mut self, name: &[u8]) -> usize {
        let block = self.orphan(name);
        self.place_behind(block)
    }

    fn place_behind(&mut self, block: usize) -> usize {
        let planned = self.plan(block);
        self.contents[block].tail.push(planned);
        planned
    }

    fn orphan(&mut self, name: &[u8]) -> usize {
        self.by_name.entry(name.to_vec()).or_insert(self.blocks.len());
        self.blocks.push(Block {
            name: name.to_vec(),
            place: None,
            out: None,
            address: None,
            align: None,
            load_address: None,
            align_with_input: false,
            region: None,
            chooses: true,
            load_region: None,
            phdrs: None,
            fill: None,
            inner_align: 1,
            overlaid: false,
            assigns: false,
        });
        self.contents.push(Contents::default());
        self.blocks.len() - 1
    }

    /// Takes in what runs have found: the members of each bin, and the parts of each run.
    fn take_inputs(
        &mut self,
        found: Vec<Vec<Group>>,
        builder: &Builder,
    ) -> (Vec<Vec<Member>>, Vec<Vec<Part>>) {
        let names = &builder.sections.bins;
        let mut members: Vec<Vec<Member>> = vec![Vec::new(); names.len()];
        let mut parts = Vec::with_capacity(found.len());
        for (run, groups) in found.into_iter().enumerate() {
            let mut of_run = Vec::with_capacity(groups.len());
            for Group { bin, members: list, extent } in groups {
                let planned = self.place_of_bin(bin, names[bin.index()], builder.heads);
                self.planned[planned].bin.parts.push((run as u32, of_run.len() as u32));
                let all = &mut members[bin.index()];
                let range = all.len()..all.len() + list.len();
                all.extend(list);
                of_run.push(Part { bin, members: range, extent, start: None });
            }
            parts.push(of_run);
        }
        (members, parts)
    }

    /// Places what the linker makes. Until there are output sections, a chunk says which block it is in.
    fn chunks(&mut self, specs: Vec<(ChunkKind, Spec)>, builder: &Builder) -> Result<Vec<Chunk>, String> {
        let mut chunks = Vec::new();
        let file = self.source.rules.of_file(None);
        let is_static = !specs.iter().any(|(kind, _)| *kind == ChunkKind::DynSym);
        for (kind, spec) in specs {
            let (names, flags) = match &spec.place {
                ChunkPlace::Own(header) => (names_of(kind, header.name, is_static), header.flags),
                ChunkPlace::Joined(_) => (names_of(kind, b"", is_static), SHF_ALLOC | SHF_WRITE),
            };
            let mut found = Found::Orphan;
            for name in &names {
                found = self.source.rules.find(&file, name, flags);
                if found != Found::Orphan {
                    break;
                }
            }
            let planned = match (found, &spec.place) {
                (Found::Discarded, _) if may_be_discarded(kind) => continue,
                (Found::Discarded, _) => {
                    let name = String::from_utf8_lossy(names[0]).into_owned();
                    return Err(format!("the script discards {name}, which the output cannot do without"));
                }
                (Found::Bin(bin), _) => self.of_bin[bin.index()],
                (Found::Orphan, ChunkPlace::Joined(bin)) => {
                    Some(self.place_of_bin(*bin, builder.sections.bins[bin.index()], builder.heads))
                }
                (Found::Orphan, ChunkPlace::Own(header)) if names.is_empty() => {
                    Some(self.place_apart(header.name))
                }
                (Found::Orphan, ChunkPlace::Own(header)) => {
                    self.orphans.push(format!("<internal>:({})", String::from_utf8_lossy(header.name)));
                    Some(self.place_by_name(header.name))
                }
            };
            let Some(planned) = planned else { continue };
            let id = ChunkId(chunks.len() as u32);
            let place = &mut self.planned[planned];
            place.bin.chunks.push(id);
            let contents = &mut self.contents[place.block];
            match &spec.place {
                ChunkPlace::Own(header) => {
                    if contents.used.is_none() && !contents.forced {
                        contents.own = Some(kind);
                    }
                    join(&mut contents.used, header);
                }
                ChunkPlace::Joined(_) if matches!(kind, ChunkKind::Merged(_) | ChunkKind::Group(_)) => {}
                ChunkPlace::Joined(_) => join(&mut contents.used, &zeroes(kind)),
            }
            contents.forced = true;
            let out = OutputSectionId(place.block as u32);
            chunks.push(Chunk { kind, size: spec.size, align: spec.align, address: 0, out });
        }
        for (number, (bytes, block)) in self.data.iter().enumerate() {
            self.data_chunks.push(ChunkId(chunks.len() as u32));
            let (kind, size) = (ChunkKind::ScriptData(number as u32), bytes.len() as u64);
            let out = OutputSectionId(*block as u32);
            chunks.push(Chunk { kind, size, align: 1, address: 0, out });
        }
        Ok(chunks)
    }

    /// Adds what inputs say of the headers of the sections they lie in.
    fn join_uses(&mut self, uses: &[Option<OutputUse>], chunks: &[Chunk]) {
        for (bin, planned) in self.of_bin.iter().enumerate() {
            let Some(planned) = planned.map(|planned| &self.planned[planned]) else { continue };
            let merged = |id: &ChunkId| matches!(chunks[id.index()].kind, ChunkKind::Merged(_));
            if planned.bin.parts.is_empty() && !planned.bin.chunks.iter().any(merged) {
                // Frames are chunks, too, and say themselves what they are.
                continue;
            }
            let contents = &mut self.contents[planned.block];
            contents.forced = true;
            contents.own = None;
            match (&uses[bin], &mut contents.used) {
                (Some(used), Some(all)) => all.join(used),
                (Some(used), none) => *none = Some(*used),
                // The linker's own line of `.comment`.
                (None, none @ None) => {
                    join(
                        none,
                        &Header { name: b"", kind: SHT_PROGBITS, flags: SHF_MERGE | SHF_STRINGS, entsize: 1 },
                    );
                }
                (None, Some(_)) => {}
            }
        }
    }

    /// The same for an object.
    fn join_heads(&mut self, heads: &[Option<Head>]) {
        for (planned, head) in self.of_bin.iter().zip(heads) {
            let (Some(planned), Some(head)) = (planned, head) else { continue };
            let contents = &mut self.contents[self.planned[*planned].block];
            (contents.forced, contents.own) = (true, None);
            let Some(all) = &mut contents.head else {
                contents.head = Some(*head);
                continue;
            };
            if head.entsize > 1 {
                // Entries of one may not be in step behind those of another.
                all.flags &= !(SHF_MERGE | SHF_STRINGS);
            }
            all.join(head);
        }
    }

    /// Makes the output sections, in the order of blocks.
    fn outputs<'a>(&mut self, builder: &Builder<'_, 'a>) -> Vec<OutputSection<'a>> {
        let mut outs = Vec::new();
        // A section with nothing but data or room is as the one before it, but no code.
        let mut flags = SHF_ALLOC;
        let has_data: HashSet<usize> = self.data.iter().map(|(_, block)| *block).collect();
        for (number, (block, contents)) in self.blocks.iter_mut().zip(&mut self.contents).enumerate() {
            if !contents.forced {
                continue;
            }
            let mut out = OutputSection::new(Cow::Owned(block.name.clone()), SHT_NOBITS, flags, 0);
            let mut head = contents.used.as_ref().map(|used| Head::of(used, builder.machine));
            match (&mut head, &contents.head) {
                (Some(head), Some(more)) => head.join(more),
                (none, more) => *none = none.or(*more),
            }
            if let Some(head) = head {
                (out.kind, out.flags, out.entsize, out.align) =
                    (head.kind, head.flags, head.entsize, head.align);
            }
            if has_data.contains(&number) && out.kind == SHT_NOBITS {
                out.kind = SHT_PROGBITS;
            }
            match &contents.kind {
                SectionType::Usual => {}
                SectionType::NoLoad => out.kind = SHT_NOBITS,
                SectionType::NoAlloc => {
                    out.flags &= !SHF_ALLOC;
                    if contents.used.is_none() {
                        out.kind = SHT_PROGBITS;
                    }
                }
                SectionType::ReadOnly => out.flags &= !SHF_WRITE,
                SectionType::Type(value, read_only) => {
                    out.kind = *value;
                    out.flags &= if *read_only { !SHF_WRITE } else { !0 };
                }
            }
            out.own = contents.own;
            if out.is_alloc() && block.place.is_some() {
                flags = out.flags & (SHF_ALLOC | SHF_WRITE);
            }
            if out.is_alloc() && block.region.is_none() && block.place.is_some() {
                block.region = self.source.region_for(out.flags);
            }
            builder.program.place_by_script(&mut out);
            block.out = Some(OutputSectionId(outs.len() as u32));
            outs.push(out);
        }
        outs
    }

    /// Gives orphans their places among the steps, and bins behind what the script names theirs.
    fn add_orphans(&mut self, outs: &[OutputSection]) {
        let out_of = |block: &Block| block.out.map(|out| &outs[out.index()]);
        let mut known = orphans::Known {
            likeness: vec![None; self.blocks.len()],
            is_there: vec![false; self.blocks.len()],
            only_behind: self.source.script.phdrs.is_some() || !self.source.script.regions.is_empty(),
        };
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in std::mem::take(&mut self.steps) {
            if let Step::End(block) = step {
                steps.extend(self.contents[block].tail.iter().map(|planned| Step::Inputs(*planned)));
                let out = out_of(&self.blocks[block]);
                known.is_there[block] = out.is_some();
                known.likeness[block] = out.filter(|out| out.is_alloc()).map(orphans::likeness);
            }
            steps.push(step);
        }
        // Those that are alike lie together, so their place is looked for once; in rising order, so that one can follow another.
        let mut orphans: BTreeMap<(bool, u32, u32), Vec<usize>> = BTreeMap::new();
        for number in (0..self.blocks.len()).filter(|&number| self.blocks[number].place.is_none()) {
            if let Some(out) = out_of(&self.blocks[number]) {
                let likeness = if out.is_alloc() { orphans::likeness(out) } else { 0 };
                orphans.entry((!out.is_alloc(), likeness, out.rank)).or_default().push(number);
            }
        }
        for ((nowhere, likeness, _), numbers) in orphans {
            let at = if nowhere { steps.len() } else { orphans::place(&steps, &known, likeness) };
            if !nowhere {
                self.follow_region(&steps[..at], &numbers, outs);
            }
            for &number in &numbers {
                known.is_there[number] = true;
                known.likeness[number] = (!nowhere).then_some(likeness);
            }
            let inside =
                |number: usize| self.contents[number].tail.iter().map(|planned| Step::Inputs(*planned));
            let one = |&number: &usize| {
                std::iter::once(Step::Begin(number)).chain(inside(number)).chain([Step::End(number)])
            };
            let all: Vec<Step> = numbers.iter().flat_map(one).collect();
            steps.splice(at..at, all);
        }
        self.steps = steps;
    }

    /// What an object has besides comes behind what the script names.
    fn append_orphans(&mut self) {
        let mut steps = Vec::with_capacity(self.steps.len());
        let inputs = |maker: &Self, block: usize| -> Vec<Step> {
            maker.contents[block].tail.iter().map(|planned| Step::Inputs(*planned)).collect()
        };
        for step in std::mem::take(&mut self.steps) {
            if let Step::End(block) = step {
                steps.extend(inputs(self, block));
            }
            steps.push(step);
        }
        for number in (0..self.blocks.len()).filter(|&number| self.blocks[number].place.is_none()) {
            steps.push(Step::Begin(number));
            steps.extend(inputs(self, number));
            steps.push(Step::End(number));
        }
        self.steps = steps;
    }

    /// Orphans lie in the memory that the section before them names, or that takes them.
    fn follow_region(&mut self, before: &[Step], numbers: &[usize], outs: &[OutputSection]) {
        let before = before.iter().rev().find_map(|step| match step {
            Step::End(block) if self.blocks[*block].out.is_some() => Some(*block),
            _ => None,
        });
        for &number in numbers {
            let flags = self.blocks[number].out.map_or(0, |out| outs[out.index()].flags);
            let before = before.map(|before| &self.blocks[before]);
            let by_flags = self.source.region_for(flags);
            let (region, chooses) = match before {
                Some(before) if !before.chooses => (before.region, false),
                Some(before) => (by_flags.or(before.region), true),
                None => (by_flags, true),
            };
            let block = &mut self.blocks[number];
            (block.region, block.chooses) = (region, chooses);
        }
    }

    /// Puts the sections of an object in the order of the steps; but groups come before all that is in them, and tables
    /// last.
    fn put_object_in_order(&mut self, outs: &mut [OutputSection]) -> Vec<OutputSectionId> {
        let mut places = vec![usize::MAX; outs.len()];
        let ends = self.steps.iter().filter_map(|step| match step {
            Step::End(block) => self.blocks[*block].out,
            _ => None,
        });
        ends.enumerate().for_each(|(place, out)| places[out.index()] = place);
        let mut order: Vec<usize> = (0..outs.len()).collect();
        order.sort_by_key(|&out| (outs[out].rank, places[out]));
        self.reorder(outs, &order)
    }

    /// Puts output sections in the order of the steps: those in memory first, and those that have no step last. Returns the new
    /// id of each.
    fn put_in_order(&mut self, outs: &mut [OutputSection]) -> Vec<OutputSectionId> {
        let mut order: Vec<usize> = Vec::with_capacity(outs.len());
        let ended = |step: &Step| match step {
            Step::End(block) => self.blocks[*block].out.map(|out| out.index()),
            _ => None,
        };
        let all: Vec<usize> = self.steps.iter().filter_map(ended).collect();
        order.extend(all.iter().filter(|&&out| outs[out].is_alloc()));
        // Of others, those that the script names come first, then orphans as the default layout has them.
        let mut rest: Vec<usize> = all.iter().copied().filter(|&out| !outs[out].is_alloc()).collect();
        let named: HashSet<usize> = self
            .blocks
            .iter()
            .filter(|b| b.place.is_some())
            .filter_map(|b| b.out)
            .map(|out| out.index())
            .collect();
        rest.sort_by_key(|out| if named.contains(out) { 0 } else { outs[*out].rank + 1 });
        order.extend(rest);
        let known: HashSet<usize> = order.iter().copied().collect();
        order.extend((0..outs.len()).filter(|out| !known.contains(out)));
        self.reorder(outs, &order)
    }

    fn reorder(&mut self, outs: &mut [OutputSection], order: &[usize]) -> Vec<OutputSectionId> {
        let position = members::put_in_order(outs, order);
        for block in &mut self.blocks {
            block.out = block.out.map(|out| position[out.index()]);
        }
        position
    }

    /// Lists the members of each output section, in order. Returns the output section of each bin.
    fn give_members<'a>(
        &mut self,
        outs: &mut [OutputSection],
        mut members: Vec<Vec<Member>>,
        builder: &Builder<'_, 'a>,
    ) -> Vec<OutputSectionId> {
        let mut of_bin = vec![OutputSectionId::NONE; self.of_bin.len()];
        let mut bins_of: Vec<Vec<usize>> = vec![Vec::new(); self.planned.len()];
        for (bin, planned) in self.of_bin.iter().enumerate() {
            if let Some(planned) = *planned
                && let Some(out) = self.blocks[self.planned[planned].block].out
            {
                of_bin[bin] = out;
                bins_of[planned].push(bin);
            }
        }
        let mut data = 0;
        let mut moved = vec![0; self.of_bin.len()];
        let mut open = None;
        let steps = std::mem::take(&mut self.steps);
        for step in &steps {
            match step {
                Step::Begin(block) => open = self.blocks[*block].out,
                Step::Inputs(planned) => {
                    let Some(out) = open else { continue };
                    for &bin in &bins_of[*planned] {
                        let mut list = std::mem::take(&mut members[bin]);
                        moved[bin] = outs[out.index()].members.len();
                        let linked = outs[out.index()].flags & SHF_LINK_ORDER != 0;
                        if linked {
                            self.sort_linked(&mut list, builder);
                        }
                        if self.source.sort(bin, &mut list, builder) || linked {
                            let place = &mut self.planned[*planned];
                            place.bin.sorted.extend(&list);
                            place.bin.parts.clear();
                        }
                        outs[out.index()].members.append(&mut list);
                    }
                    let place = &self.planned[*planned];
                    outs[out.index()].members.extend(place.bin.chunks.iter().map(|id| Member::chunk(*id)));
                }
                Step::Data(..) => {
                    if let Some(out) = open {
                        outs[out.index()].members.push(Member::chunk(self.data_chunks[data]));
                    }
                    data += 1;
                }
                _ => {}
            }
        }
        (self.steps, self.moved) = (steps, moved);
        of_bin
    }

    /// Sections with `SHF_LINK_ORDER` lie in the order of those that they are linked to.
    fn sort_linked(&self, list: &mut [Member], builder: &Builder) {
        list.sort_by_cached_key(|member| {
            let leader = member.as_section().and_then(|id| builder.leader_of(id));
            let planned = |id: SectionId| self.of_bin[builder.sections.get(id).bin().index()];
            (leader.and_then(planned), leader.map(|id| id.0))
        });
    }

    /// What the headers of such sections name: where the first is linked to.
    fn link_orders(&self, outs: &mut [OutputSection], of_bin: &[OutputSectionId], builder: &Builder) {
        for out in outs.iter_mut().filter(|out| out.flags & SHF_LINK_ORDER != 0) {
            let leader = out.members.iter().find_map(|m| m.as_section().and_then(|id| builder.leader_of(id)));
            let of = leader.map(|id| of_bin[builder.sections.get(id).bin().index()]);
            out.link = of.filter(|id| id.is_some()).map_or(HeaderIndex::ZERO, |id| id.header());
        }
    }

    /// The strictest alignment in each block. The thread-local template begins at its own.
    fn measure_alignment(
        &mut self,
        outs: &mut [OutputSection],
        parts: &[Vec<Part>],
        chunks: &[Chunk],
        builder: &Builder,
    ) {
        for planned in &self.planned {
            let Some(out) = self.blocks[planned.block].out else { continue };
            let bin = &planned.bin;
            let in_runs =
                bin.parts.iter().map(|&(run, part)| parts[run as usize][part as usize].extent.align());
            let sorted = bin.sorted.iter().map(|member| builder.align_of(member));
            let own = bin.chunks.iter().map(|id| chunks[id.index()].align);
            let align = in_runs.chain(sorted).chain(own).max().unwrap_or(1);
            let out = &mut outs[out.index()];
            out.align = out.align.max(align);
        }
        if !builder.program.is_object() {
            members::align_tls(outs);
        }
        for block in &mut self.blocks {
            block.inner_align = block.out.map_or(1, |out| outs[out.index()].align);
        }
    }

    fn finish(self, mut parts: Vec<Vec<Part>>) -> Scripted {
        for part in parts.iter_mut().flatten() {
            let start = self.moved[part.bin.index()];
            part.members = part.members.start + start..part.members.end + start;
        }
        let source = self.source;
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
            regions: vec![RegionState::default(); source.script.regions.len()],
            needs_places,
            orphans: self.orphans,
        }
    }
}

impl Source<'_> {
    /// The region that takes a section with these flags which does not name one.
    fn region_for(&self, flags: u64) -> Option<usize> {
        self.script.regions.iter().position(|region| region.attributes.take(flags))
    }

    /// Puts the members of a bin in the order that the script or options ask for, if they do.
    fn sort(&self, bin: usize, list: &mut [Member], builder: &Builder) -> bool {
        let of_script = self.rules.bin(BinId(bin as u32));
        let name = |member: &Member| -> &[u8] {
            member.as_section().and_then(|id| builder.name_of(id)).unwrap_or(b"")
        };
        let mut sorted = false;
        if let Some(of_script) = of_script.filter(|bin| bin.sort[0] != Sort::Default) {
            // The second key first: sorts are stable.
            for sort in of_script.sort.iter().rev() {
                match sort {
                    Sort::Default | Sort::None => continue,
                    Sort::Name => list.sort_by(|a, b| name(a).cmp(name(b))),
                    Sort::NameReversed => list.sort_by(|a, b| name(b).cmp(name(a))),
                    Sort::Alignment => list.sort_by_key(|m| std::cmp::Reverse(builder.align_of(m))),
                    Sort::InitPriority => list.sort_by_key(|m| init_priority(name(m))),
                    Sort::InitPriorityReversed => {
                        list.sort_by_key(|m| std::cmp::Reverse(init_priority(name(m))))
                    }
                }
                sorted = true;
            }
        }
        if of_script.is_some_and(|bin| bin.sort_files) {
            list.sort_by_cached_key(|member| builder.file_of(member));
            sorted = true;
        }
        let has_place = |member: &Member| member.as_section().is_some_and(|id| builder.order.has(id));
        if !builder.order.is_empty() && list.iter().any(has_place) {
            list.sort_by_key(|m| m.as_section().map_or((i64::MAX, 0), |id| builder.order.place(id)));
            sorted = true;
        }
        sorted
    }
}

/// The number at the end of a name of constructors; those of `.ctors` and `.dtors` count backwards. Without one: last.
fn init_priority(name: &[u8]) -> u32 {
    let dot = name.iter().rposition(|b| *b == b'.');
    let digits = dot.map_or(&b""[..], |dot| &name[dot + 1..]);
    let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u32>().ok());
    match number {
        Some(number) if name.starts_with(b".ctors.") || name.starts_with(b".dtors.") => {
            65535u32.saturating_sub(number)
        }
        Some(number) => number,
        None => 65536,
    }
}

/// Whether an expression for `.` only aligns it, or leaves it as it is.
fn only_aligns(value: &Expr) -> bool {
    use crate::script::expr::Op;
    matches!(&value.code[..], [Op::Dot]) || matches!(&value.code[..], [Op::Dot, .., Op::Align])
}

fn join(used: &mut Option<OutputUse>, header: &Header) {
    let own = OutputUse {
        bin: BinId(0),
        kind: header.kind,
        any_flags: header.flags,
        all_flags: header.flags,
        entsize: header.entsize,
    };
    match used {
        Some(used) => used.join(&own),
        none => *none = Some(own),
    }
}

/// The header of memory without contents.
fn zeroes(kind: ChunkKind) -> Header {
    let tls = if kind == ChunkKind::Common(crate::symbols::IN_TBSS) { SHF_TLS } else { 0 };
    Header { name: b"", kind: SHT_NOBITS, flags: SHF_ALLOC | SHF_WRITE | tls, entsize: 0 }
}

/// By what names patterns of a script know what the linker makes; none: by no name.
fn names_of(kind: ChunkKind, own: &'static [u8], is_static: bool) -> Vec<&'static [u8]> {
    use crate::symbols::{IN_BSS, IN_LBSS, IN_TBSS};
    match kind {
        ChunkKind::Common(IN_BSS) => vec![b"COMMON"],
        ChunkKind::Common(IN_TBSS) => vec![b".tcommon"],
        ChunkKind::Common(IN_LBSS) => vec![b"LARGE_COMMON"],
        ChunkKind::CopyBss => vec![b".dynbss", b".bss"],
        ChunkKind::CopyRelro => vec![b".data.rel.ro", b".bss.rel.ro"],
        // Nobody but the program itself applies them.
        ChunkKind::RelaPlt if is_static => vec![b".rela.iplt", own],
        ChunkKind::SymTab | ChunkKind::SymTabShndx | ChunkKind::StrTab | ChunkKind::ShStrTab => Vec::new(),
        ChunkKind::Relocs(_) | ChunkKind::Merged(_) | ChunkKind::Group(_) => Vec::new(),
        _ => vec![own],
    }
}

/// What an output can do without.
fn may_be_discarded(kind: ChunkKind) -> bool {
    use ChunkKind::*;
    matches!(
        kind,
        Interp
            | BuildId
            | Properties
            | PackageNote
            | EhFrameHdr
            | EhFrame
            | GnuHash
            | SysvHash
            | GdbIndex
            | DynSym
            | DynStr
            | Dynamic
    )
}
