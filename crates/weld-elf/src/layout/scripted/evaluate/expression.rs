//! The values of expressions, as they are at one place of a script in one pass over it.

use super::*;
use crate::layout::addresses::Values;

impl Pass<'_, '_, '_> {
    pub fn number(&mut self, value: &Expr) -> u64 {
        self.evaluate(value).number
    }

    pub fn evaluate(&mut self, value: &Expr) -> Value {
        match self.try_evaluate(value) {
            Ok(value) => value,
            Err(why) => {
                self.error(ScriptError::Value { place: value.place.clone(), why });
                Value::number(0)
            }
        }
    }

    pub(super) fn try_evaluate(&mut self, value: &Expr) -> Result<Value, EvalError> {
        let mut stack: Vec<Value> = Vec::new();
        let mut at = 0;
        while let Some(op) = value.code.get(at) {
            at += 1;
            let pushed = match op {
                Op::Jump(to) => {
                    at = *to as usize;
                    continue;
                }
                Op::JumpIfZero(to) => {
                    if stack.pop().ok_or(EvalError::Broken)?.number == 0 {
                        at = *to as usize;
                    }
                    continue;
                }
                Op::Binary(operator) => {
                    let (b, a) =
                        (stack.pop().ok_or(EvalError::Broken)?, stack.pop().ok_or(EvalError::Broken)?);
                    let (a, b) = if operator.compares() { self.comparable(a, b) } else { (a, b) };
                    let (a, b, kept) = self.in_offsets(*operator, a, b);
                    let value = Value::apply(*operator, a, b).ok_or(EvalError::DivisionByZero)?;
                    kept.map_or(value, |block| self.address_at(value, block))
                }
                Op::Max | Op::Min | Op::Align | Op::DataSegmentAlign | Op::DataSegmentRelroEnd => {
                    let (b, a) =
                        (stack.pop().ok_or(EvalError::Broken)?, stack.pop().ok_or(EvalError::Broken)?);
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
                    let a = stack.pop().ok_or(EvalError::Broken)?;
                    self.one(op, a)?
                }
                op => self.leaf(op)?,
            };
            stack.push(pushed);
        }
        stack.pop().ok_or(EvalError::Broken)
    }

    /// Inside of an output section a number counts from its start, also where it is compared with an address
    /// in there.
    pub(super) fn comparable(&self, a: Value, b: Value) -> (Value, Value) {
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
    pub(super) fn in_offsets(&self, operator: Binary, a: Value, b: Value) -> (Value, Value, Option<u32>) {
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

    pub(super) fn counts_offsets(&self) -> bool {
        self.current.is_some() && !self.is_data
    }

    /// How far an address is from the start of the section with this number.
    pub(super) fn offset(&self, value: Value, block: u32) -> u64 {
        value.number.wrapping_sub(self.start_of(block))
    }

    /// The address that is so far from the start of the section with this number.
    pub(super) fn address_at(&self, offset: Value, block: u32) -> Value {
        Value::of(self.start_of(block).wrapping_add(offset.number), Kind::Section(block))
    }

    pub(super) fn start_of(&self, block: u32) -> u64 {
        let open = self.current.as_ref().filter(|open| open.block == block as usize);
        open.map_or_else(|| self.extent_of(block).address, |open| open.start)
    }

    pub(super) fn two(&mut self, op: &Op, a: Value, b: Value) -> Result<Value, EvalError> {
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

    pub(super) fn one(&mut self, op: &Op, a: Value) -> Result<Value, EvalError> {
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
            Op::Assert(message) if a.number == 0 => return Err(EvalError::Assertion(message.to_string())),
            _ => a,
        })
    }

    pub(super) fn leaf(&mut self, op: &Op) -> Result<Value, EvalError> {
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
            _ => return Err(EvalError::Broken),
        })
    }

    /// What the location counter counts from. After a section it is that.
    pub(super) fn here(&self) -> Kind {
        let block = self.current.as_ref().map(|open| open.block).or(self.last);
        block.map_or(Kind::BETWEEN, |block| Kind::Section(block as u32))
    }

    /// The section of this name that there is, or that the script speaks of.
    pub(super) fn block(&self, name: &[u8]) -> Result<(u32, Option<OutputSectionId>), EvalError> {
        let known = self.script.by_name.get(name);
        let number = *known.ok_or_else(|| EvalError::NoSection(name.to_vec()))?;
        Ok((number, self.script.blocks[number as usize].out))
    }

    /// Where an output section of the script lies, or would lie if it were there.
    pub(super) fn extent(&self, name: &[u8]) -> Result<(u32, Extent), EvalError> {
        let (number, _) = self.block(name)?;
        Ok((number, self.extent_of(number)))
    }

    pub(super) fn extent_of(&self, block: u32) -> Extent {
        match self.script.blocks[block as usize].out {
            None => self.script.blocks[block as usize].vacancy,
            Some(out) => {
                let OutputSection { address, load_address, align, size, .. } = self.layout[out];
                Extent { address: address.get(), load_address: load_address.get(), align, size }
            }
        }
    }

    pub(super) fn region(&self, name: &str) -> Result<RegionState, EvalError> {
        let number = self.script.script.region(name).ok_or_else(|| EvalError::NoRegion(name.to_owned()))?;
        Ok(self.script.regions[number])
    }

    pub(super) fn segment_start(&self, name: &str) -> Option<u64> {
        match name {
            "text-segment" => self.options.layout.image_base,
            "text" => self.options.start_of(b".text"),
            "data" | "data-segment" => self.options.start_of(b".data"),
            "bss" => self.options.start_of(b".bss"),
            _ => None,
        }
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        let Some(id) = self.script.names.get(name) else { return false };
        if let Some(slot) = self.script.by_symbol.get(id) {
            // By the script: only if that was before.
            return self.script.assigned[*slot].seen || self.script.assigned[*slot].original.is_some();
        }
        !self.world.symbols[*id].is_undefined()
    }

    pub(super) fn symbol(&mut self, name: &str) -> Result<Value, EvalError> {
        let undefined = || EvalError::Undefined(name.to_owned());
        let id = *self.script.names.get(name).ok_or_else(undefined)?;
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
            Original::Common => Err(EvalError::Common(name.to_owned())),
        }
    }

    /// The value of a symbol that the script does not define.
    pub(super) fn object_symbol(&self, id: SymbolId) -> Option<Value> {
        let symbol = &self.world.symbols[id];
        match symbol.kind() {
            symbol_flags::ABSOLUTE => Some(Value::absolute(symbol.constant())),
            symbol_flags::DEFINED => self.place_in(SectionId(symbol.section), symbol.offset()),
            symbol_flags::COMMON => {
                let chunk = self.layout.chunk(ChunkKind::Common(symbol.section))?;
                Some(self.in_chunk(chunk, symbol.offset()))
            }
            symbol_flags::INTERNAL => {
                let internal = self.world.internals.list.get(symbol.section as usize)?;
                let World { symbols, internals, bases, shared, .. } = self.world;
                let values = Values { symbols, layout: self.layout, internals, bases, shared: *shared };
                Some(Value::of(values.of(&internal.target).get(), Kind::BETWEEN))
            }
            symbol_flags::SHARED if symbol.has(symbol_flags::NEEDS_COPY) => {
                let of_relro = self.world.relro_copies.contains(&id);
                let kind = if of_relro { ChunkKind::CopyRelro } else { ChunkKind::CopyBss };
                Some(self.in_chunk(self.layout.chunk(kind)?, symbol.offset()))
            }
            symbol_flags::UNDEFINED if symbol.has(symbol_flags::WEAK_UNDEFINED) => Some(Value::number(0)),
            _ => None,
        }
    }

    pub(super) fn in_chunk(&self, chunk: &Chunk, offset: u64) -> Value {
        let number = self.layout[chunk.out].address.wrapping_add(chunk.offset()).wrapping_add(offset);
        Value::of(number.get(), self.kind_of(chunk.out))
    }

    /// The address of byte `at` of an input section.
    pub(super) fn place_in(&self, id: SectionId, at: u64) -> Option<Value> {
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
                Some(Value::of(number.get(), self.kind_of(out)))
            }
        }
    }

    pub(super) fn kind_of(&self, out: OutputSectionId) -> Kind {
        self.script.by_section.get(&out).map_or(Kind::BETWEEN, |block| Kind::Section(*block))
    }

    /// `DATA_SEGMENT_ALIGN`: as far into a page as the location counter is, on the next page; or further, so
    /// that what becomes read-only ends with a page.
    pub(super) fn data_segment_align(&mut self, max: u64) -> Result<Value, EvalError> {
        if !max.is_power_of_two() {
            return Err(EvalError::PageSize(max));
        }
        let number = align_to(self.dot, max).saturating_add(self.dot & (max - 1));
        let number = number.saturating_add(self.script.data_segment.padding);
        self.script.data_segment.base = number;
        Ok(Value::of(number, Kind::BETWEEN))
    }

    /// `DATA_SEGMENT_RELRO_END(offset, value)`: what is before `value + offset` becomes read-only.
    pub(super) fn relro_end(&mut self, offset: u64, value: u64) -> Value {
        let segment = &mut self.script.data_segment;
        if !self.options.layout.relro {
            return Value::of(value, Kind::BETWEEN);
        }
        // Base and end move alike by what the strictest alignment in between allows.
        let inside = |s: &&OutputSection| s.is_alloc() && (segment.base..value).contains(&s.address.get());
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
