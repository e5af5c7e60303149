//! One pass over a script: gives output sections their addresses and sizes, and symbols their values.

use super::loads::{Loaded, Start};
use super::*;
use crate::layout::segments::{PageSizes, is_tls_zeroes};
use crate::layout::{Chunk, ChunkKind, Filler, OutputSection, addresses, place};
use crate::options::{Options, OutputKind};
use crate::script::expr::{Binary, Op, Unary, log2_ceil};
use crate::script::phdrs::ProgramHeader;
use crate::sections::SectionKind;
use crate::symbols::sym;
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
    pub errors: Vec<String>,
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
        (layout, sections): (&'p mut Layout<'a>, &'p mut Sections<'a>),
        world: &'p World<'w, 'a>,
        (options, pages): (&'p Options, PageSizes),
    ) -> Self {
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
                    self.errors.push(format!("{}: assertion failed: {message}", value.place));
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
            self.errors.push(format!("{place}: '.' cannot move backwards, from {from:#x} to {to:#x}"));
            return from;
        }
        if let Some((out, start)) = self.open() {
            leave_gap(&mut self.layout[out].fillers, (self.dot - start, value.number - start));
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
        section.address = start;
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
                value => self.errors.push(format!("{}: {value:#x} is no power of two", align.place)),
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
                chunk.address = address.wrapping_sub(start);
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
        self.layout.chunks[chunk.index()].address = self.dot - start;
        self.dot = self.dot.saturating_add(size);
    }

    fn end(&mut self, number: usize) {
        let Some(open) = self.current.take() else { return };
        let block = &self.script.blocks[number];
        let Some(out) = block.out else { return self.end_vacant(number, &open) };
        let region = block.region;
        let size = self.dot.saturating_sub(open.start);
        let limit = place::max_end(self.layout.format);
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
            let name = String::from_utf8_lossy(&section.name);
            self.errors.push(format!("section {name} does not fit the address space"));
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
                let (name, region) =
                    (String::from_utf8_lossy(&section.name), &self.script.script.regions[region]);
                let place = self.script.blocks[number].place.as_ref().unwrap_or(&region.place);
                self.errors.push(format!(
                    "{place}: section {name} at {:#x} lies below its region {}",
                    open.start, region.name
                ));
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
                let (name, over) = (&region.name, state.end - room);
                self.errors.push(format!("region {name} overflows by {over} bytes ({})", region.place));
            }
        }
    }

    pub fn number(&mut self, value: &Expr) -> u64 {
        self.evaluate(value).number
    }

    pub fn evaluate(&mut self, value: &Expr) -> Value {
        match self.try_evaluate(value) {
            Ok(value) => value,
            Err(message) => {
                self.errors.push(format!("{}: {message}", value.place));
                Value::number(0)
            }
        }
    }

    fn try_evaluate(&mut self, value: &Expr) -> Result<Value, String> {
        let mut stack: Vec<Value> = Vec::new();
        let mut at = 0;
        let broken = || "internal error: the expression is broken".to_owned();
        while let Some(op) = value.code.get(at) {
            at += 1;
            let pushed = match op {
                Op::Jump(to) => {
                    at = *to as usize;
                    continue;
                }
                Op::JumpIfZero(to) => {
                    if stack.pop().ok_or_else(broken)?.number == 0 {
                        at = *to as usize;
                    }
                    continue;
                }
                Op::Binary(operator) => {
                    let (b, a) = (stack.pop().ok_or_else(broken)?, stack.pop().ok_or_else(broken)?);
                    let (a, b) = if operator.compares() { self.comparable(a, b) } else { (a, b) };
                    let (a, b, kept) = self.in_offsets(*operator, a, b);
                    let value = Value::apply(*operator, a, b).ok_or("division by zero")?;
                    kept.map_or(value, |block| self.address_at(value, block))
                }
                Op::Max | Op::Min | Op::Align | Op::DataSegmentAlign | Op::DataSegmentRelroEnd => {
                    let (b, a) = (stack.pop().ok_or_else(broken)?, stack.pop().ok_or_else(broken)?);
                    self.two(op, a, b)?
                }
                Op::Unary(_)
                | Op::IsTrue
                | Op::Absolute
                | Op::Log2Ceil
                | Op::Next
                | Op::DataSegmentEnd
                | Op::SegmentStart(_)
                | Op::Assert(_) => {
                    let a = stack.pop().ok_or_else(broken)?;
                    self.one(op, a)?
                }
                op => self.leaf(op)?,
            };
            stack.push(pushed);
        }
        stack.pop().ok_or_else(broken)
    }

    /// Inside of an output section a number counts from its start, also where it is compared with an address
    /// in there.
    fn comparable(&self, a: Value, b: Value) -> (Value, Value) {
        let Some(open) = &self.current else { return (a, b) };
        let here = Kind::Section(open.block as u32);
        let as_address = |value: Value| Value::of(open.start.wrapping_add(value.number), here);
        match (a.kind, b.kind) {
            (Kind::Number, kind) if kind == here => (as_address(a), b),
            (kind, Kind::Number) if kind == here => (a, as_address(b)),
            _ => (a, b),
        }
    }

    /// Inside of an output section an operation on addresses of one section, or one of them and a number, is
    /// one on how far they are from its start. What such an address makes of a number is an address there
    /// again: of the section with the number that is given back.
    fn in_offsets(&self, operator: Binary, a: Value, b: Value) -> (Value, Value, Option<u32>) {
        let offset =
            |value: Value, block| Value { kind: Kind::Number, number: self.offset(value, block), ..value };
        match (a.kind, b.kind) {
            _ if !self.counts_offsets() || operator.compares() => (a, b, None),
            (Kind::Section(block), Kind::Section(other)) if block == other && a.kind != Kind::BETWEEN => {
                (offset(a, block), offset(b, block), None)
            }
            // Sums say of which symbol they are.
            (Kind::Section(_), Kind::Number) if matches!(operator, Binary::Add | Binary::Subtract) => {
                (a, b, None)
            }
            (Kind::Number, Kind::Section(_)) if operator == Binary::Add => (a, b, None),
            (Kind::Section(block), Kind::Number) if a.kind != Kind::BETWEEN => {
                (offset(a, block), b, Some(block))
            }
            (Kind::Number, Kind::Section(block)) if b.kind != Kind::BETWEEN => {
                (a, offset(b, block), Some(block))
            }
            _ => (a, b, None),
        }
    }

    fn counts_offsets(&self) -> bool {
        self.current.is_some() && !self.is_data
    }

    /// How far an address is from the start of the section with this number.
    fn offset(&self, value: Value, block: u32) -> u64 {
        value.number.wrapping_sub(self.start_of(block))
    }

    /// The address that is so far from the start of the section with this number.
    fn address_at(&self, offset: Value, block: u32) -> Value {
        Value::of(self.start_of(block).wrapping_add(offset.number), Kind::Section(block))
    }

    fn start_of(&self, block: u32) -> u64 {
        let open = self.current.as_ref().filter(|open| open.block == block as usize);
        open.map_or_else(|| self.extent_of(block).address, |open| open.start)
    }

    fn two(&mut self, op: &Op, a: Value, b: Value) -> Result<Value, String> {
        Ok(match op {
            Op::Max | Op::Min => {
                let (a, b) = self.comparable(a, b);
                let (less, more) = if a.number <= b.number { (a, b) } else { (b, a) };
                let value = if *op == Op::Max { more } else { less };
                match [a.kind, b.kind].contains(&Kind::Absolute) {
                    true if value.kind == Kind::Number => Value::absolute(value.number),
                    _ => value,
                }
            }
            Op::Align => match b.number {
                0 => a,
                align if align.is_power_of_two() => Value::of(align_to(a.number, align), a.kind),
                // GNU ld rounds up to multiples of anything.
                align => Value::of(a.number.div_ceil(align).saturating_mul(align), a.kind),
            },
            Op::DataSegmentAlign => self.data_segment_align(a.number)?,
            _ => self.relro_end(a.number, b.number),
        })
    }

    fn one(&mut self, op: &Op, a: Value) -> Result<Value, String> {
        Ok(match op {
            Op::Unary(operator) => match operator {
                Unary::Not => Value::number(operator.apply(a.number)),
                _ if a.kind == Kind::Number => Value::number(operator.apply(a.number)),
                _ if let Kind::Section(block) = a.kind
                    && a.kind != Kind::BETWEEN
                    && self.counts_offsets() =>
                {
                    self.address_at(Value::number(operator.apply(self.offset(a, block))), block)
                }
                _ => Value::absolute(operator.apply(a.number)),
            },
            Op::IsTrue => Value::number(u64::from(a.number != 0)),
            Op::Absolute => Value { kind: Kind::Absolute, ..a },
            Op::Log2Ceil => Value::number(log2_ceil(a.number)),
            Op::Next => Value::of(align_to(self.dot, a.number.max(1)), self.here()),
            Op::SegmentStart(name) => {
                let kind = if a.kind == Kind::Number { Kind::BETWEEN } else { a.kind };
                Value::of(self.segment_start(name).unwrap_or(a.number), kind)
            }
            Op::Assert(message) if a.number == 0 => return Err(format!("assertion failed: {message}")),
            _ => a,
        })
    }

    fn leaf(&mut self, op: &Op) -> Result<Value, String> {
        Ok(match op {
            Op::Number(number) => Value::number(*number),
            Op::Dot => Value::of(self.dot, self.here()),
            Op::Symbol(name) => self.symbol(name)?,
            Op::Address(name) => {
                let (number, extent) = self.extent(name)?;
                Value::of(extent.address, Kind::Section(number))
            }
            Op::LoadAddress(name) => Value::absolute(self.extent(name)?.1.load_address),
            // 0 for what there is not, so that scripts can ask.
            Op::Size(name) => Value::number(self.extent(name).map_or(0, |(_, extent)| extent.size)),
            Op::Alignment(name) => Value::number(self.extent(name)?.1.align),
            Op::HeadersSize => Value::number(self.layout.headers_size().max(self.script.room_for_headers)),
            Op::Defined(name) => Value::number(u64::from(self.is_defined(name))),
            Op::MaxPageSize => Value::number(self.pages.max),
            Op::CommonPageSize => Value::number(self.pages.common),
            Op::Origin(name) => {
                // An address, also where numbers count from the start of a section.
                let kind = if self.current.is_some() { Kind::BETWEEN } else { Kind::Number };
                Value::of(self.region(name)?.origin, kind)
            }
            Op::Length(name) => Value::number(self.region(name)?.length),
            _ => return Err("internal error: the expression is broken".into()),
        })
    }

    /// What the location counter counts from. After a section it is that.
    fn here(&self) -> Kind {
        let block = self.current.as_ref().map(|open| open.block).or(self.last);
        block.map_or(Kind::BETWEEN, |block| Kind::Section(block as u32))
    }

    /// The section of this name that there is, or that the script speaks of.
    fn block(&self, name: &[u8]) -> Result<(u32, Option<OutputSectionId>), String> {
        let known = self.script.by_name.get(name);
        let number =
            *known.ok_or_else(|| format!("there is no output section {}", String::from_utf8_lossy(name)))?;
        Ok((number, self.script.blocks[number as usize].out))
    }

    /// Where an output section of the script lies, or would lie if it were there.
    fn extent(&self, name: &[u8]) -> Result<(u32, Extent), String> {
        let (number, _) = self.block(name)?;
        Ok((number, self.extent_of(number)))
    }

    fn extent_of(&self, block: u32) -> Extent {
        match self.script.blocks[block as usize].out {
            None => self.script.blocks[block as usize].vacancy,
            Some(out) => {
                let OutputSection { address, load_address, align, size, .. } = self.layout[out];
                Extent { address, load_address, align, size }
            }
        }
    }

    fn region(&self, name: &str) -> Result<RegionState, String> {
        let number = self.script.script.region(name).ok_or_else(|| format!("there is no region {name}"))?;
        Ok(self.script.regions[number])
    }

    fn segment_start(&self, name: &str) -> Option<u64> {
        match name {
            "text-segment" => self.options.layout.image_base,
            "text" => self.options.start_of(b".text"),
            "data" | "data-segment" => self.options.start_of(b".data"),
            "bss" => self.options.start_of(b".bss"),
            _ => None,
        }
    }

    fn is_defined(&self, name: &str) -> bool {
        let Some(id) = self.script.names.get(name) else { return false };
        if let Some(slot) = self.script.by_symbol.get(id) {
            // By the script: only if that was before.
            return self.script.assigned[*slot].seen || self.script.assigned[*slot].original.is_some();
        }
        !self.world.symbols[*id].is_undefined()
    }

    fn symbol(&mut self, name: &str) -> Result<Value, String> {
        let Some(&id) = self.script.names.get(name) else {
            return Err(format!("symbol {name} is not defined"));
        };
        let undefined = || format!("symbol {name} is not defined");
        let Some(&slot) = self.script.by_symbol.get(&id) else {
            let value = self.object_symbol(id).ok_or_else(undefined)?;
            // The value of nothing is no symbol's.
            let same = Some(id).filter(|_| !self.world.symbols[id].is_undefined());
            return Ok(Value { same, near: same, ..value });
        };
        let assigned = &self.script.assigned[slot];
        if assigned.seen || self.assigning != Some(slot) {
            // What the script has not come to yet has the value that the last pass has left.
            return Ok(assigned.value);
        }
        match assigned.original.ok_or_else(undefined)? {
            Original::Number(number) => Ok(Value::absolute(number)),
            Original::Place(section, at) => Ok(self.place_in(section, at).unwrap_or(assigned.value)),
            Original::Common => Err(format!(
                "symbol {name} is common, and the script defines it itself: it has no other address"
            )),
        }
    }

    /// The value of a symbol that the script does not define.
    fn object_symbol(&self, id: SymbolId) -> Option<Value> {
        let symbol = &self.world.symbols[id];
        match symbol.kind() {
            sym::ABSOLUTE => Some(Value::absolute(symbol.constant())),
            sym::DEFINED => self.place_in(SectionId(symbol.section), symbol.offset()),
            sym::COMMON => {
                let chunk = self.layout.chunk(ChunkKind::Common(symbol.section))?;
                Some(self.in_chunk(chunk, symbol.offset()))
            }
            sym::INTERNAL => {
                let internal = self.world.internals.list.get(symbol.section as usize)?;
                let number = addresses::value_of_internal(
                    self.world.symbols,
                    (self.layout, self.world.internals),
                    (&self.world.bases, self.world.shared),
                    &internal.target,
                );
                Some(Value::of(number, Kind::BETWEEN))
            }
            sym::SHARED if symbol.has(sym::NEEDS_COPY) => {
                let of_relro = self.world.relro_copies.contains(&id);
                let kind = if of_relro { ChunkKind::CopyRelro } else { ChunkKind::CopyBss };
                Some(self.in_chunk(self.layout.chunk(kind)?, symbol.offset()))
            }
            sym::UNDEFINED if symbol.has(sym::WEAK_UNDEFINED) => Some(Value::number(0)),
            _ => None,
        }
    }

    fn in_chunk(&self, chunk: &Chunk, offset: u64) -> Value {
        let number = self.layout[chunk.out].address.wrapping_add(chunk.address).wrapping_add(offset);
        Value::of(number, self.kind_of(chunk.out))
    }

    /// The address of byte `at` of an input section.
    fn place_in(&self, id: SectionId, at: u64) -> Option<Value> {
        let section = self.sections.get(id);
        match section.kind() {
            SectionKind::Merge => {
                let (part, input) = section.merged();
                let part = self.world.merged.get(part)?;
                let at = part.merged.output_offset(input, at)?;
                Some(self.in_chunk(&self.layout.chunks[part.chunk.index()], at))
            }
            SectionKind::EhFrame => Some(self.in_chunk(self.layout.chunk(ChunkKind::EhFrame)?, 0)),
            _ => {
                let out = self.layout.out_of(section.bin())?;
                let at = section.offset().wrapping_add(self.sections.output_offset(id, at));
                let number = self.layout[out].address.wrapping_add(at);
                Some(Value::of(number, self.kind_of(out)))
            }
        }
    }

    fn kind_of(&self, out: OutputSectionId) -> Kind {
        self.script.by_section.get(&out).map_or(Kind::BETWEEN, |block| Kind::Section(*block))
    }

    /// `DATA_SEGMENT_ALIGN`: as far into a page as the location counter is, on the next page; or further, so
    /// that what becomes read-only ends with a page.
    fn data_segment_align(&mut self, max: u64) -> Result<Value, String> {
        if !max.is_power_of_two() {
            return Err(format!("the page size {max:#x} is no power of two"));
        }
        let number = align_to(self.dot, max).saturating_add(self.dot & (max - 1));
        let number = number.saturating_add(self.script.data_segment.padding);
        self.script.data_segment.base = number;
        Ok(Value::of(number, Kind::BETWEEN))
    }

    /// `DATA_SEGMENT_RELRO_END(offset, value)`: what is before `value + offset` becomes read-only.
    fn relro_end(&mut self, offset: u64, value: u64) -> Value {
        let segment = &mut self.script.data_segment;
        if !self.options.layout.relro {
            return Value::of(value, Kind::BETWEEN);
        }
        // Base and end move alike by what the strictest alignment in between allows.
        let inside = |s: &&OutputSection| s.is_alloc() && (segment.base..value).contains(&s.address);
        let step = self.layout.sections.iter().filter(inside).map(|s| s.align).max().unwrap_or(1);
        /// By then what is before it has its size, unless it depends on this.
        const TRIES: u32 = 8;
        let page = self.pages.common;
        let end = value.wrapping_add(offset);
        if segment.tries < TRIES {
            segment.tries += 1;
            let missing = end.wrapping_sub(segment.padding).wrapping_neg() & (page - 1);
            segment.padding = missing / step * step;
        }
        segment.relro_end = Some(align_to(end, page));
        Value::of(align_to(end, page).wrapping_sub(offset), Kind::BETWEEN)
    }
}

/// Notes room that an assignment to `.` leaves: a pattern begins anew in it, and behind it.
fn leave_gap(fillers: &mut Vec<Filler>, (from, to): (u64, u64)) {
    let Some(last) = fillers.last().filter(|last| last.pattern.len() > 1 && to > from) else { return };
    let pattern = last.pattern.clone();
    fillers.push(Filler { from, pattern: pattern.clone(), is_gap: true });
    fillers.push(Filler { from: to, pattern, is_gap: false });
}
