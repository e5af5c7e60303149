//! One pass over a script: gives output sections their addresses and sizes, and symbols their values.

mod expression;

use super::loads::{Loaded, Start};
use super::*;
use crate::address::Address;
use crate::layout::segments::{PageSizes, SegmentRules, is_tls_zeroes};
use crate::layout::{Chunk, ChunkKind, Filler, OutputSection, place};
use crate::options::{Options, OutputKind};
use crate::script::expr::{Binary, Op, Unary, log2_ceil};
use crate::script::phdrs::ProgramHeader;
use crate::sections::SectionKind;
use crate::symbols::symbol_flags;
use weld_common::runs::align_to;

/// What a pass looks at and changes.
pub(super) struct Pass<'p, 'w, 'a> {
    pub script: &'p mut Scripted,
    pub layout: &'p mut Layout<'a>,
    pub sections: &'p mut Sections<'a>,
    pub world: &'p World<'w, 'a>,
    pub options: &'p Options,
    pub pages: PageSizes,
    pub dot: u64,
    /// What is wrong, if this is the last pass.
    pub errors: Vec<LayoutError>,
    current: Option<Open>,
    /// Where a section ended that is not in memory, if it was the last. The location counter is there for an
    /// assignment, but not for the next section, as in GNU ld.
    unloaded_end: Option<u64>,
    /// The number of the symbol that is being assigned to.
    assigning: Option<usize>,
    /// The value is data (`LONG` and kin): operations are on whole addresses.
    is_data: bool,
    /// The last section in memory that has ended.
    last: Option<usize>,
    pub(super) overlay: Option<OpenOverlay>,
    /// What load addresses follow, by region; last those of sections in none.
    pub(super) loaded: Vec<Option<Loaded>>,
    /// Where the thread-local template goes on, once it has begun.
    tls: Option<u64>,
    /// The output is an object (`-r`): each section begins at 0, whatever address the script has for it.
    object: bool,
}

/// The output section that a pass is in.
struct Open {
    block: usize,
    start: u64,
    /// Where the location counter was before it.
    outside: u64,
    /// How it came to its address.
    from: Start,
}

/// Sections that lie at the same addresses.
pub(super) struct OpenOverlay {
    /// `None`: where the first section will begin.
    start: Option<u64>,
    /// What `AT` says of the first section.
    asked_load: Option<u64>,
    /// Where the next section is loaded; `None` for the first.
    pub(super) load: Option<u64>,
    /// How far the longest section so far reaches, and in what region.
    end: Option<u64>,
    region: Option<usize>,
}

impl<'p, 'w, 'a> Pass<'p, 'w, 'a> {
    pub fn new(
        script: &'p mut Scripted,
        draft: &'p mut Draft<'_, 'a>,
        world: &'p World<'w, 'a>,
        rules: SegmentRules<'p>,
    ) -> Self {
        let Draft { layout, sections } = draft;
        let (options, pages) = (rules.program.options, rules.facts.pages);
        let loaded = vec![None; script.regions.len() + 1];
        Pass {
            script,
            layout,
            sections,
            world,
            options,
            pages,
            dot: options.layout.image_base.unwrap_or(0),
            errors: Vec::new(),
            current: None,
            unloaded_end: None,
            assigning: None,
            is_data: false,
            last: None,
            overlay: None,
            loaded,
            tls: None,
            object: options.kind == OutputKind::Relocatable,
        }
    }

    /// Runs through the whole script.
    pub fn run(&mut self) {
        let script = self.script.script.clone();
        for (i, region) in script.regions.iter().enumerate() {
            let origin = self.number(&region.origin);
            self.script.regions[i].origin = origin;
            self.script.regions[i].length = self.number(&region.length);
            (self.script.regions[i].at, self.script.regions[i].end) = (origin, origin);
        }
        let steps = std::mem::take(&mut self.script.steps);
        self.script.assigned.iter_mut().for_each(|assigned| assigned.seen = false);
        self.script.moments.clear();
        for step in &steps {
            self.step(step);
        }
        self.script.steps = steps;
        let headers = script.phdrs.iter().flatten();
        let of_header = |header: &ProgramHeader| {
            [&header.address, &header.flags].map(|value| value.as_ref().map(|value| self.number(value)))
        };
        self.script.header_values = headers.map(of_header).collect();
        self.check_regions();
    }

    /// Notes what is wrong as far as this pass knows.
    fn error(&mut self, error: ScriptError) {
        self.errors.push(error.into());
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Assign { name, target, value, place, .. } => {
                self.dot = self.unloaded_end.take().unwrap_or(self.dot);
                let before = self.dot;
                let value = self.assign(name, *target, value, place);
                self.script.moments.push([before, self.dot, value]);
            }
            Step::Assert { value, message } => {
                if self.number(value) == 0 {
                    let why = EvalError::Assertion(message.clone());
                    self.error(ScriptError::Value { place: value.place.clone(), why });
                }
            }
            Step::Begin(block) => self.begin(*block),
            Step::Inputs(bin) => self.inputs(*bin),
            Step::Data(number, value) => self.data(*number, value),
            Step::Fill(fill) => {
                if let Some((out, start)) = self.open() {
                    let from = self.dot - start;
                    self.layout[out].fillers.push(Filler { from, pattern: fill.clone(), is_gap: false });
                }
            }
            Step::End(block) => self.end(*block),
            Step::BeginOverlay { address, load_address } => {
                let start = address.as_ref().map(|value| self.number(value));
                let asked_load = load_address.as_ref().map(|value| self.number(value));
                self.overlay = Some(OpenOverlay { start, asked_load, load: None, end: start, region: None });
            }
            Step::NotProvided { .. } | Step::Describe(..) => {}
            Step::EndOverlay => {
                if let Some(overlay) = self.overlay.take() {
                    self.dot = overlay.end.unwrap_or(self.dot);
                    if let Some(region) = overlay.region {
                        self.script.regions[region].go_on_at(self.dot);
                    }
                }
            }
        }
    }

    /// The output section that is open, if there is one in the output.
    fn open(&self) -> Option<(OutputSectionId, u64)> {
        let open = self.current.as_ref()?;
        Some((self.script.blocks[open.block].out?, open.start))
    }

    /// Gives back the value.
    fn assign(&mut self, name: &str, target: Option<usize>, value: &Expr, place: &Place) -> u64 {
        self.assigning = target;
        let mut value = self.evaluate(value);
        self.assigning = None;
        let inside = self.current.as_ref().map(|open| (open.block, open.start));
        if let (Kind::Number, Some((block, start))) = (value.kind, inside) {
            value = Value::of(start.wrapping_add(value.number), Kind::Section(block as u32));
        }
        if name != "." {
            if let Some(target) = target {
                let assigned = &mut self.script.assigned[target];
                (assigned.value, assigned.seen) = (value, true);
            }
            return value.number;
        }
        if inside.is_some() && value.number < self.dot {
            let (from, to) = (self.dot, value.number);
            self.error(ScriptError::MovesBackwards { place: place.clone(), from, to });
            return from;
        }
        if let Some((out, start)) = self.open() {
            leave_gap(&mut self.layout[out].fillers, self.dot - start, value.number - start);
        }
        self.dot = if inside.is_some() { value.number } else { self.as_address(value.number) };
        self.dot
    }

    fn begin(&mut self, number: usize) {
        self.unloaded_end = None;
        let outside = self.dot;
        let block = &self.script.blocks[number];
        let Some(out) = block.out else {
            if !self.object {
                self.begin_vacant(number);
            }
            let (start, from) = (self.dot, Start::default());
            self.current = Some(Open { block: number, start, outside, from });
            return;
        };
        let load_address = block.load_address.clone();
        let alloc = self.is_in_memory(out);
        let mut from = self.find_start(number, out);
        let has_address = from.given || self.script.blocks[number].stands_somewhere();
        if !alloc && (self.object || !has_address || self.overlay.is_some()) {
            // It has no address; what is in it counts from its start.
            from.address = 0;
        }
        self.dot = from.address;
        let start = self.dot;
        let section = &mut self.layout[out];
        section.address = Address::new(start);
        section.fillers.clear();
        let block = &self.script.blocks[number];
        let whole = |fill: &Vec<u8>| Filler { from: 0, pattern: fill.clone(), is_gap: false };
        section.fillers.extend(block.fill.iter().map(whole));
        if alloc {
            from.load = match &mut self.overlay {
                Some(overlay) => {
                    overlay.start.get_or_insert(start);
                    overlay.asked_load
                }
                None => load_address.as_ref().map(|value| self.number(value)),
            };
        }
        self.current = Some(Open { block: number, start, outside, from });
    }

    /// Goes to where a section would begin that there is not: it may define symbols all the same, and
    /// expressions may ask for it.
    fn begin_vacant(&mut self, number: usize) {
        let block = &self.script.blocks[number];
        let (align, load) = (block.align.clone(), block.load_address.clone());
        let given = self.go_to_start(number, None);
        let begin = self.dot;
        let align =
            align.map(|align| self.number(&align)).filter(|align| align.is_power_of_two()).unwrap_or(1);
        let address = align_to(begin, align);
        let load = match &self.overlay {
            Some(overlay) => overlay.asked_load,
            None => load.map(|load| self.number(&load)),
        };
        let skipped = address.wrapping_sub(begin);
        let start = Start { given, address, skipped, align, asked_align: align, load, resume: address };
        let load_address = self.load_address(number, start, 0);
        self.script.blocks[number].vacancy = Extent { address, load_address, align, size: 0 };
        self.dot = address;
    }

    /// Ends one that there is not. What follows lies as if it were there, if the script does more in it than
    /// to name inputs.
    fn end_vacant(&mut self, number: usize, open: &Open) {
        let block = &mut self.script.blocks[number];
        if self.object || !block.assigns || block.kept_out {
            self.dot = open.outside;
            return;
        }
        let size = self.dot.saturating_sub(open.start);
        block.vacancy.size = size;
        if let Some(overlay) = &mut self.overlay {
            overlay.end = overlay.end.max(Some(self.dot));
            return;
        }
        let (region, load_region) =
            (block.region, block.load_region.filter(|load| Some(*load) != block.region));
        let loaded = block.vacancy.load_address.wrapping_add(size);
        if let Some(region) = region {
            self.script.regions[region].go_on_at(self.dot);
        }
        if let Some(region) = load_region.filter(|_| size > 0) {
            self.script.regions[region].go_on_at(loaded);
        }
    }

    /// Goes to where a section begins before that is aligned: to the address that an option (`forced`), the
    /// overlay or the script gives it, or after what is in its memory. Returns whether it is given one.
    fn go_to_start(&mut self, number: usize, forced: Option<u64>) -> bool {
        let block = &self.script.blocks[number];
        let (address, region) = (block.address.clone(), block.region);
        self.count_in(region.filter(|_| address.is_some()));
        let in_overlay = self.overlay.as_ref().and_then(|overlay| overlay.start);
        let given = forced.or(in_overlay).or_else(|| address.map(|address| self.number(&address)));
        let in_region = region.filter(|_| given.is_none()).map(|region| self.script.regions[region].at);
        self.dot = given.map(|address| self.as_address(address)).or(in_region).unwrap_or(self.dot);
        given.is_some()
    }

    /// An address below zero counts from the end of the address space, also of one of 32 bits.
    fn as_address(&self, address: u64) -> u64 {
        let last = self.layout.format.max_address();
        if address >= !last { address & last } else { address }
    }

    /// The location counter may be in other memory. What the address of a section says of it is meant for the
    /// memory that it is in.
    fn count_in(&mut self, region: Option<usize>) {
        let Some(state) = region.map(|region| self.script.regions[region]) else { return };
        if self.dot < state.origin || self.dot - state.origin > state.length {
            self.dot = state.at;
        }
    }

    /// Where a section begins: at the address that it is given, or after what is in its memory.
    fn find_start(&mut self, number: usize, out: OutputSectionId) -> Start {
        let block = &self.script.blocks[number];
        let (align, mut strictest) = (block.align.clone(), block.inner_align);
        let given = self.go_to_start(number, self.options.start_of(&self.layout[out].name));
        let mut asked_align = 1;
        if let Some(align) = &align {
            match self.number(align) {
                0 | 1 => {}
                value if value.is_power_of_two() => asked_align = value,
                value => self.error(ScriptError::NoPowerOfTwo { place: align.place.clone(), value }),
            }
            strictest = strictest.max(asked_align);
        }
        if self.tls.is_none() && !given && self.layout[out].is_tls() {
            // The template begins at the alignment of its strictest section, which may have its own from the
            // script.
            let all = self.layout.sections.iter().filter(|section| section.is_tls());
            strictest = all.map(|section| section.align).max().unwrap_or(1).max(strictest);
        }
        self.layout[out].align = strictest;
        // An address that is given holds as it is, but for `ALIGN`.
        let by = if given { asked_align } else { strictest };
        let usual = align_to(self.dot, by);
        // Thread-local zeroes go on where the template ends.
        let template = self.tls.filter(|_| !given && is_tls_zeroes(&self.layout[out]));
        let address = template.map_or(usual, |end| align_to(end, by));
        let skipped = usual.wrapping_sub(self.dot);
        Start { given, address, skipped, align: by, asked_align, load: None, resume: usual }
    }

    fn is_in_memory(&self, out: OutputSectionId) -> bool {
        self.layout[out].is_alloc() && !self.object
    }

    fn inputs(&mut self, number: usize) {
        let Some((_, start)) = self.open() else { return };
        let mut at = self.dot;
        let bin = &self.script.bins[number];
        for &(run, part) in &bin.parts {
            let part = &mut self.script.parts[run as usize][part as usize];
            part.start = Some(at);
            at = part.extent.end(at);
        }
        for member in bin.sorted.iter().copied().chain(bin.chunks.iter().map(|id| Member::chunk(*id))) {
            if let Some(id) = member.as_section() {
                let section = &mut self.sections.list[id.index()];
                let address = align_to(at, section.align());
                section.set_offset(address.wrapping_sub(start));
                at = address.saturating_add(section.size);
            } else if let Some(id) = member.as_chunk() {
                let chunk = &mut self.layout.chunks[id.index()];
                let address = align_to(at, chunk.align);
                chunk.set_offset(address.wrapping_sub(start));
                at = address.saturating_add(chunk.size);
            }
        }
        self.dot = at;
    }

    fn data(&mut self, number: usize, value: &Expr) {
        let is_number = !value.code.is_empty();
        self.is_data = true;
        let value = if is_number { self.number(value) } else { 0 };
        self.is_data = false;
        let Some((_, start)) = self.open() else { return };
        let chunk = self.script.data_chunks[number];
        let size = self.layout.chunks[chunk.index()].size;
        let bytes = &mut self.script.data[number];
        // A text is there already.
        if is_number && bytes.len() <= 8 {
            let full = value.to_le_bytes();
            let last = bytes.len().saturating_sub(1);
            let big = self.layout.format.ident()[1] == crate::elf::ELFDATA2MSB;
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = if big { full[last - i] } else { full[i] };
            }
        }
        self.layout.chunks[chunk.index()].set_offset(self.dot - start);
        self.dot = self.dot.saturating_add(size);
    }

    fn end(&mut self, number: usize) {
        let Some(open) = self.current.take() else { return };
        let block = &self.script.blocks[number];
        let Some(out) = block.out else { return self.end_vacant(number, &open) };
        let region = block.region;
        let size = self.dot.saturating_sub(open.start);
        let limit = place::max_end(self.layout.format).get();
        let section = &mut self.layout[out];
        section.size = size;
        if self.object {
            // What follows may mean its end; the next section begins at 0 again.
            self.last = Some(number);
            return;
        }
        if !section.is_alloc() {
            let block = &self.script.blocks[number];
            let counts =
                block.stands_somewhere() && !block.kept_out && !open.from.given && self.overlay.is_none();
            self.unloaded_end = counts.then_some(self.dot);
            self.dot = open.outside;
            return;
        }
        if self.dot > limit {
            self.errors.push(LayoutError::beyond_addresses(section));
        }
        self.load(number, out, open.from);
        if size == 0 && open.from.given && !self.script.blocks[number].assigns && self.overlay.is_none() {
            // The address is for what is in it. Without that, what follows goes on where it would without the
            // section.
            self.dot = open.outside;
            return;
        }
        let section = &self.layout[out];
        if is_tls_zeroes(section) {
            // They take no room, but begin like any other.
            self.tls = Some(self.dot);
            self.dot = open.from.resume;
            if let Some(region) = region {
                self.script.regions[region].go_on_at(self.dot);
            }
            return;
        }
        if section.is_tls() {
            self.tls = Some(self.dot);
        }
        self.last = Some(number);
        if let Some(region) = region {
            let state = &mut self.script.regions[region];
            state.go_on_at(self.dot);
            if size > 0 && open.start < state.origin {
                let region = &self.script.script.regions[region];
                let place = self.script.blocks[number].place.as_ref().unwrap_or(&region.place).clone();
                let (section, address) = (SectionName::of(section), Address::new(open.start));
                self.error(ScriptError::BelowRegion { place, section, address, region: region.name.clone() });
            }
        }
        if let Some(overlay) = &mut self.overlay {
            overlay.end = overlay.end.max(Some(self.dot));
            overlay.region = region;
        }
    }

    /// Regions hold what is in them.
    fn check_regions(&mut self) {
        for (region, state) in self.script.script.regions.iter().zip(&self.script.regions) {
            let room = state.origin.saturating_add(state.length);
            if state.end > room {
                let (place, region) = (region.place.clone(), region.name.clone());
                let overflow = ScriptError::RegionOverflow { place, region, bytes: state.end - room };
                self.errors.push(overflow.into());
            }
        }
    }
}

/// Notes room that an assignment to `.` leaves: a pattern begins anew in it, and behind it.
fn leave_gap(fillers: &mut Vec<Filler>, from: u64, to: u64) {
    let Some(last) = fillers.last().filter(|last| last.pattern.len() > 1 && to > from) else { return };
    let pattern = last.pattern.clone();
    fillers.push(Filler { from, pattern: pattern.clone(), is_gap: true });
    fillers.push(Filler { from: to, pattern, is_gap: false });
}
