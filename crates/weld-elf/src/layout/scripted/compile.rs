//! From the statements of a script to steps and blocks.

use super::build::{Contents, Maker};
use super::*;
use crate::script::expr::Op;
use crate::script::sections::{Assignment, Content, Overlay, SectionDescription, SectionType, Statement};
use crate::sections::bins::BINS;
use crate::sections::scripted::ScriptBin;

impl Maker<'_> {
    /// Makes steps of the script's statements.
    pub(super) fn compile(&mut self) -> Result<(), ScriptError> {
        let script = self.source.script.clone();
        let fixed = script.floats.first().map_or(script.statements.len(), |first| first.start);
        let mut number = 0;
        self.compile_statements(&script.statements[..fixed], &mut number)?;
        let steps = std::mem::take(&mut self.steps);
        for float in &script.floats {
            let block = self.blocks.len();
            self.compile_statements(&script.statements[float.clone()], &mut number)?;
            let steps = std::mem::take(&mut self.steps);
            // `/DISCARD/` and what has a constraint may have none.
            if self.blocks.len() > block {
                self.floats.push((block, steps));
            }
        }
        self.steps = steps;
        Ok(())
    }

    fn compile_statements(
        &mut self,
        statements: &[Statement],
        number: &mut usize,
    ) -> Result<(), ScriptError> {
        for statement in statements {
            match statement {
                // Its patterns are those of the places that name it.
                Statement::Class(_) => {}
                Statement::Assign(assignment) => {
                    self.assign(assignment);
                }
                Statement::Assert(assertion) => self.steps.push(Step::Assert {
                    value: assertion.value.clone(),
                    message: assertion.message.clone(),
                }),
                Statement::Section(section) => {
                    self.section(*number, section, None)?;
                    *number += 1;
                }
                Statement::Overlay(overlay) => {
                    let (address, load_address) = (overlay.address.clone(), overlay.load_address.clone());
                    self.steps.push(Step::BeginOverlay { address, load_address });
                    let first = self.blocks.len();
                    for section in &overlay.sections {
                        self.section(*number, section, Some((overlay, first)))?;
                        *number += 1;
                    }
                    self.steps.push(Step::EndOverlay);
                }
            }
        }
        Ok(())
    }

    /// Whether there is something to be done: what nothing asks for is not defined.
    fn assign(&mut self, assignment: &Assignment) -> bool {
        let mut target = None;
        if !assignment.is_dot() {
            self.next_assignment += 1;
            let counts = self.source.internals.takes_effect(self.next_assignment - 1);
            target = counts.then(|| self.target(&assignment.name)).flatten();
            if target.is_none() {
                let Assignment { name, value, text, .. } = assignment.clone();
                self.steps.push(Step::NotProvided { name, value, text });
                return false;
            }
        }
        let Assignment { name, value, place, text, .. } = assignment.clone();
        self.steps.push(Step::Assign { name, target, value, place, text });
        true
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

    fn section(
        &mut self,
        number: usize,
        section: &SectionDescription,
        overlay: Option<(&Overlay, usize)>,
    ) -> Result<(), ScriptError> {
        if self.source.rules.is_disabled(number) {
            return Ok(());
        }
        if section.name == b"/DISCARD/" {
            // What is left out has no place, so there is none for the symbol.
            return match section.contents.iter().find_map(symbol_of) {
                Some(symbol) => Err(ScriptError::AssignsInDiscard {
                    place: section.place.clone(),
                    symbol: symbol.to_owned(),
                }),
                None => Ok(()),
            };
        }
        let first = overlay.map(|(_, first)| first);
        let (fixed, memory, load_region) = self.memory_of(section, overlay)?;
        let block = self.blocks.len();
        self.by_name.entry(section.name.clone()).or_insert(block);
        self.blocks.push(Block {
            name: section.name.clone(),
            place: Some(section.place.clone()),
            out: None,
            vacancy: Extent::default(),
            address: section.address.clone(),
            fixed,
            align: section.align.clone(),
            load_address: section.load_address.clone(),
            align_with_input: section.align_with_input,
            region: memory,
            chooses: memory.is_none(),
            load_region,
            unloaded: section.kind == SectionType::NoLoad,
            kept_out: section.kind == SectionType::NoAlloc,
            phdrs: self.headers_of(section)?,
            fill: section.fill.clone(),
            inner_align: 1,
            overlay: first,
            assigns: false,
            makes_room: false,
        });
        self.contents.push(Contents { kind: section.kind.clone(), ..Contents::default() });
        self.steps.push(Step::Begin(block));
        for (i, content) in section.contents.iter().enumerate() {
            self.content(block, number as u32, i as u32, content);
        }
        self.steps.push(Step::End(block));
        Ok(())
    }

    /// Whether a section has an address of its own; the region that it names, and the one that it is loaded
    /// from.
    fn memory_of(
        &self,
        section: &SectionDescription,
        overlay: Option<(&Overlay, usize)>,
    ) -> Result<(bool, Option<usize>, Option<usize>), ScriptError> {
        let region = |name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => match self.source.script.region(name) {
                Some(region) => Ok(Some(region)),
                None => Err(ScriptError::NoRegion { place: section.place.clone(), region: name.clone() }),
            },
        };
        if section.load_address.is_some() && section.load_region.is_some() {
            return Err(ScriptError::TwoLoadAddresses { place: section.place.clone() });
        }
        let (overlay, first) = (overlay.map(|(overlay, _)| overlay), overlay.map(|(_, first)| first));
        let fixed = section.address.is_some() || overlay.is_some_and(|overlay| overlay.address.is_some());
        let load_region = region(&section.load_region)?;
        // What is only loaded from a region runs there, too.
        let memory = region(&section.region)?.or(load_region.filter(|_| !fixed));
        let asks = section.load_address.is_some() || overlay.is_some_and(|all| all.load_address.is_some());
        // The sections of an overlay that is loaded from where it runs do not fit there: they reach further
        // than it does.
        let is_behind = |before: &Block| before.overlay.is_some() && before.overlay != first;
        let goes_on = |before: &&Block| {
            before.region == memory && !(is_behind(before) && before.load_region == before.region)
        };
        let before = self.blocks.last().filter(|_| !asks && !fixed).filter(goes_on);
        Ok((fixed, memory, load_region.or_else(|| before?.load_region)))
    }

    /// The numbers of the program headers that a section names.
    fn headers_of(&self, section: &SectionDescription) -> Result<Option<Vec<usize>>, ScriptError> {
        if section.phdrs.is_empty() {
            return Ok(None);
        }
        let list = self.source.script.phdrs.as_deref().unwrap_or_default();
        let mut numbers = Vec::new();
        for name in section.phdrs.iter().filter(|name| *name != "NONE") {
            match list.iter().position(|header| header.name == *name) {
                Some(number) => numbers.push(number),
                None => {
                    let (place, header) = (section.place.clone(), name.clone());
                    return Err(ScriptError::NoProgramHeader { place, header });
                }
            }
        }
        Ok(Some(numbers))
    }

    fn content(&mut self, block: usize, section: u32, content_number: u32, content: &Content) {
        match content {
            Content::Inputs(_) | Content::Class(_) => {
                let (bins, key) = (&self.source.rules.bins, (section, content_number));
                let of = |bin: &ScriptBin| (bin.section, bin.content);
                let first = bins.partition_point(|bin| of(bin) < key);
                let count = bins[first..].iter().take_while(|bin| of(bin) == key).count();
                self.steps.push(Step::Describe(section, content_number));
                for number in first..first + count {
                    let planned = self.plan(block);
                    self.of_bin[BINS.len() + number] = Some(planned);
                    self.steps.push(Step::Inputs(planned));
                }
            }
            Content::Assign(assignment) => {
                if assignment.is_dot() {
                    self.move_dot(block, &assignment.value);
                }
                let assigns = self.assign(assignment);
                self.blocks[block].assigns |= assigns;
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

    /// What it says of an output section that its script moves `.`. What is aligned before there is anything
    /// moves nothing, as a rule, and debug information is for nobody in memory.
    fn move_dot(&mut self, block: usize, to: &Expr) {
        let only_aligns = only_aligns(to);
        self.contents[block].forced |= !only_aligns;
        let pads = || {
            let goes_on = |step: &Step| !matches!(step, Step::Begin(_));
            let inputs = |step: &Step| matches!(step, Step::Inputs(_));
            to.code.len() > 1
                && !self.blocks[block].is_debug()
                && self.steps.iter().rev().take_while(|step| goes_on(step)).any(inputs)
        };
        let makes_room = !only_aligns || pads();
        self.blocks[block].makes_room |= makes_room;
    }

    fn add_data(&mut self, block: usize, bytes: Vec<u8>, value: Expr) {
        self.steps.push(Step::Data(self.data.len(), value));
        self.data.push((bytes, block));
        self.contents[block].forced = true;
        self.blocks[block].makes_room = true;
    }
}

/// The symbol that an assignment is to.
fn symbol_of(content: &Content) -> Option<&str> {
    match content {
        Content::Assign(assignment) if !assignment.is_dot() => Some(&assignment.name),
        _ => None,
    }
}

/// Whether an expression for `.` only aligns it, or leaves it as it is.
fn only_aligns(value: &Expr) -> bool {
    matches!(&value.code[..], [Op::Dot]) || matches!(&value.code[..], [Op::Dot, .., Op::Align])
}
