//! Data near the GOT ([`Toc`]): that of objects whose code reaches it with 16 bits comes first, for others reach
//! further. Else a program of which only a few objects are of the small code model would have to be small.

use weld_common::par;

use super::{Orderer, SectionOrder};
use crate::arch::facts::Toc;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;

/// Objects looked at in one go.
const RUN: usize = 64;

impl Orderer<'_, '_> {
    pub(super) fn near_toc(&self, toc: &Toc, order: &mut SectionOrder) {
        let objects = &self.resolved.objects;
        let found = par::runs("find code of the small model", self.parallel, objects.len(), RUN, |run| {
            let mut first = Vec::new();
            for number in run {
                let data = self.data_near_toc(toc, &objects[number]);
                if !data.is_empty() && self.is_of_small_model(toc, number) {
                    first.extend(data);
                }
            }
            first
        });
        let mut first: Vec<SectionId> = found.into_iter().flatten().collect();
        first.retain(|id| !order.has(*id));
        order.put_first(first.into_iter());
    }

    fn data_near_toc(&self, toc: &Toc, object: &Object) -> Vec<SectionId> {
        let is_data = |shndx: &usize| {
            object.shdrs[*shndx].sh_flags() & SHF_ALLOC != 0
                && object.section_name(*shndx).is_some_and(|name| toc.sections.contains(&name))
        };
        let all = (0..object.shdrs.len()).filter(is_data);
        let ids = all.map(|shndx| SectionId(object.section_base + shndx as u32));
        ids.filter(|id| self.can_move(*id)).collect()
    }

    fn is_of_small_model(&self, toc: &Toc, number: usize) -> bool {
        let object = &self.resolved.objects[number];
        let relocs = |shndx: usize| {
            let id = SectionId(object.section_base + shndx as u32);
            let is_live = object.shdrs[shndx].sh_flags() & SHF_ALLOC != 0 && self.live.contains(id);
            let section = self.sections.get(id);
            if is_live { self.sections.relocs(object, number, section) } else { &[] }
        };
        (0..object.shdrs.len())
            .any(|shndx| relocs(shndx).iter().any(|reloc| toc.near.contains(&reloc.kind())))
    }
}
