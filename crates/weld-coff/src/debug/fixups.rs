//! What is to be added to numbers in `.debug$S` sections: their relocations, applied to nothing.

use std::collections::HashSet;
use std::sync::Mutex;

use object::LittleEndian as LE;
use weld_common::diag::{DiagSink, Diagnostic, HasCause};
use weld_pdb::{Fixup, Relocate};

use super::modules::Modules;
use crate::address::Rva;
use crate::arch::{Fault, Place, Rules, Target, with_rules};
use crate::ids::SectionId;
use crate::symbols::Kind;
use crate::synth::image::Image;
use crate::synth::image::fault::fault;

pub struct Fixups<'f, 'i, 'a> {
    image: &'f Image<'i, 'a>,
    modules: &'f Modules<'a>,
    sink: &'f DiagSink,
    /// Sections of which the sink has been told what is wrong with them: they may be asked for again.
    told: Mutex<HashSet<SectionId>>,
}

impl<'f, 'i, 'a> Fixups<'f, 'i, 'a> {
    pub fn new(image: &'f Image<'i, 'a>, modules: &'f Modules<'a>, sink: &'f DiagSink) -> Self {
        Fixups { image, modules, sink, told: Mutex::default() }
    }

    #[cold]
    fn tell(&self, section: SectionId, problems: Vec<Diagnostic>) {
        let mut told = self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if told.insert(section) {
            problems.into_iter().for_each(|problem| self.sink.push(problem));
        }
    }
}

impl Relocate for Fixups<'_, '_, '_> {
    fn fixups(&self, module: u32, section: u32, fixups: &mut Vec<Fixup>) {
        if let Some(id) = self.modules.section(module, section) {
            let mut problems = Vec::new();
            with_rules!(self.image.resolved.machine, of_section(self.image, id, fixups, &mut problems));
            if !problems.is_empty() {
                self.tell(id, problems);
            }
        }
    }
}

/// The fixups of a section in the order of its relocations, and which of these are in error.
pub fn of_section<R: Rules>(
    image: &Image,
    id: SectionId,
    fixups: &mut Vec<Fixup>,
    problems: &mut Vec<Diagnostic>,
) {
    let section = image.sections.get(id);
    let end = image.contents(section).len();
    for relocation in image.relocations(section) {
        let typ = relocation.typ.get(LE).0;
        let mut fail = |what: Fault| {
            problems.push(fault(
                image,
                section,
                relocation,
                what.cause(),
                &format!("{what} in debug information"),
            ));
        };
        let size = match R::size(typ) {
            Some(size @ 1..=8) => size,
            Some(_) => continue,
            None => {
                fail(Fault::Unknown(typ));
                continue;
            }
        };
        let offset = relocation.virtual_address.get(LE);
        if offset as usize + size > end {
            fail(Fault::BeyondEnd);
            continue;
        }
        let symbol = image.target(section.object, relocation);
        let (place, part) = (image.place(symbol), image.part(symbol));
        let mut bytes = [0; 8];
        // What is not in the image, or has no section to be counted from, is nowhere; so is what a forced
        // link does without.
        if place != Place::Gone && symbol.kind != Kind::Undefined {
            let target = Target { place, part, base: image.base, sections: image.layout };
            match R::apply(typ, &mut bytes[..size], Rva::ZERO, &target) {
                Ok(()) => {}
                Err(Fault::AbsoluteInSection) => bytes = [0; 8],
                Err(problem) => fail(problem),
            }
        }
        fixups.push(Fixup { offset, size: size as u8, value: u64::from_le_bytes(bytes) });
    }
}
