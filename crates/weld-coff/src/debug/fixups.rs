//! What is to be added to numbers in `.debug$S` sections: their relocations, applied to nothing.

use object::LittleEndian as LE;
use weld_pdb::{Fixup, Relocate};

use super::modules::Modules;
use crate::arch::{Rules, Target};
use crate::ids::SectionId;
use crate::image::{Image, Place};
use crate::with_rules;

pub struct Fixups<'f, 'i, 'a> {
    pub image: &'f Image<'i, 'a>,
    pub modules: &'f Modules<'a>,
}

impl Relocate for Fixups<'_, '_, '_> {
    fn fixups(&self, module: u32, section: u32, fixups: &mut Vec<Fixup>) {
        if let Some(id) = self.modules.section(module, section) {
            with_rules!(self.image.resolved.machine, of_section(self.image, id, fixups));
        }
    }
}

/// The fixups of a section in the order of its relocations.
pub fn of_section<R: Rules>(image: &Image, id: SectionId, fixups: &mut Vec<Fixup>) {
    let section = image.sections.get(id);
    for relocation in image.relocations(section) {
        let typ = relocation.typ.get(LE).0;
        let Some(size @ 1..=8) = R::size(typ) else { continue };
        let symbol = image.target(section.object, relocation);
        let (place, part) = (image.place(symbol), image.part(symbol));
        let mut bytes = [0; 8];
        // What is not in the image, or has no section to be counted from, is nowhere.
        if place != Place::Gone {
            let target = Target { place, part, base: image.base, layout: image.layout };
            if R::apply(typ, &mut bytes[..size], 0, &target).is_err() {
                bytes = [0; 8];
            }
        }
        let offset = relocation.virtual_address.get(LE);
        fixups.push(Fixup { offset, size: size as u8, value: u64::from_le_bytes(bytes) });
    }
}
