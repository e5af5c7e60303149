//! `SHT_GROUP` sections of an object that `-r` joins: which sections live or die together in the next link.
//!
//! A group lists the header indices of its members and of their relocations. Those of the inputs that
//! have members left stay as they are, each by itself.
//!
//! Specification: gABI chapter 4 "Section Groups".

use super::error::PlanError;
use super::plan::Plan;
use super::section::{At, Info, Links, Sizes, Spec, Synthetic};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::ChunkKind;
use crate::synth::joined::Joined;

pub struct Group {
    object: ObjectId,
    shndx: u32,
    bin: PlacementId,
    /// Its flags, members and their relocations.
    words: u32,
    /// Index of the symbol that names it.
    signature: u32,
}

impl Group {
    /// The group with header index `shndx` of an object.
    pub fn new(object: ObjectId, shndx: u32, bin: PlacementId, words: u32) -> Group {
        Group { object, shndx, bin, words, signature: 0 }
    }

    /// Notes the index of the symbol that names the group. `index_of` tells those of the object's symbols.
    ///
    /// # Errors
    /// If there is none.
    pub fn sign(
        &mut self,
        objects: &[Object],
        index_of: impl Fn((ObjectId, &Object), u32) -> u32,
    ) -> Result<(), PlanError> {
        let object = &objects[self.object.index()];
        self.signature = index_of((self.object, object), object.shdrs[self.shndx as usize].sh_info());
        match self.signature {
            0 => {
                let object = object.name.to_string().into();
                Err(PlanError::NoSignature { object, section: self.shndx })
            }
            _ => Ok(()),
        }
    }
}

/// The group with this number.
pub struct Section(pub u32);

impl Section {
    pub fn count(sizes: &Sizes) -> u32 {
        sizes.plan.joined.as_ref().map_or(0, |joined| joined.groups.len() as u32)
    }

    fn of<'j>(&self, joined: Option<&'j Joined>) -> Option<&'j Group> {
        joined?.groups.get(self.0 as usize)
    }
}

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let group = self.of(sizes.plan.joined.as_ref())?;
        Spec::joined(group.bin, 4, 4 * u64::from(group.words))
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        Links::with(ChunkKind::SymTab, Info::Number(self.of(plan.joined.as_ref())?.signature))
    }

    fn work(&self) -> &'static str {
        "section groups"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let image = at.image();
        let Some(group) = self.of(image.joined) else { return };
        let object = &image.resolved.objects[group.object.index()];
        let words = object.group_words(group.shndx).unwrap_or_default();
        let live = |word: &u32| {
            let inside = (*word as usize) < object.shdrs.len();
            let id = SectionId(object.section_base + if inside { *word } else { 0 });
            (inside && image.live.contains(id)).then(|| image.sections.get(id)).filter(|s| s.in_image())
        };
        let outs = words.members().filter_map(|word| image.out_of(live(&word)?));
        let relocs = |out| at.contents().relocs.and_then(|relocs| relocs.of(out));
        let headers = outs.flat_map(|out| [Some(out), relocs(out)]).flatten().map(|out| out.header().0);
        let mut bytes = Writer::with_room(at.format(), out.len());
        [words.get(0).unwrap_or(0)].into_iter().chain(headers).for_each(|word| _ = bytes.u32(word));
        out.copy_from_slice(&bytes.finish());
    }
}
