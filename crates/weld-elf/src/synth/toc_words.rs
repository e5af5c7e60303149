//! Words beside the GOT that hold addresses ([`Toc::sections`](crate::arch::facts::Toc)), and code that loads them: where
//! the address is known, code makes it from where the GOT is instead, and reads nothing.
//!
//! One instruction has the upper half of the word's distance, another the lower half. So that both are rewritten or
//! neither is, all code of the object that has a half of a word's distance is looked at: if one instruction is not what
//! compilers write to load the word, or one of the halves is nowhere, it is loaded by all.
//!
//! The words stay, for others may read them.

use weld_common::par;

use crate::arch::Visitor;
use crate::arch::class::Class;
use crate::arch::facts::Toc;
use crate::arch::rules::{Code, Rules, WordUse};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::Live;
use crate::mode::Mode;
use crate::resolve::Resolved;
use crate::sections::Sections;

/// Objects looked at in one go.
const RUN: usize = 16;

/// A word: the index of its section's header in its object, and its offset there.
type Place = (u32, u64);

/// Words of an object that need not be loaded, in order, with the number of the relocation that fills each.
pub type Words = Vec<(Place, u32)>;

struct Finder<'f, 'a> {
    toc: &'f Toc,
    sections: &'f Sections<'a>,
    live: &'f Live,
    number: usize,
    object: &'f Object<'a>,
}

/// By object; nothing on machines without such words.
pub fn find<'a>(
    mode: Mode,
    (resolved, sections, live): (&Resolved<'a>, &Sections<'a>, &Live),
    parallel: bool,
) -> Vec<Words> {
    let Some(toc) = &mode.facts().toc else { return Vec::new() };
    let objects = &resolved.objects;
    let found = par::runs("find loads from the TOC", parallel, objects.len(), RUN, |run| {
        let of = |number: usize| {
            let object = &objects[number];
            mode.machine.visit(Finder { toc, sections, live, number, object })
        };
        run.map(of).collect::<Vec<_>>()
    });
    found.into_iter().flatten().collect()
}

/// The relocation that fills the word which `reloc`, of object `number`, has a half of the distance of, if nobody
/// needs to load it.
pub fn filler<'s>(
    all: &[Words],
    sections: &'s Sections,
    (number, object): (ObjectId, &'s Object),
    reloc: &Rela,
) -> Option<&'s Rela> {
    let words = all.get(number.index()).filter(|words| !words.is_empty())?;
    let place = place(object, reloc)?;
    let at = words.binary_search_by_key(&place, |(place, _)| *place).ok()?;
    let section = sections.get(SectionId(object.section_base + place.0));
    sections.relocs(object, number.index(), section).get(words[at].1 as usize)
}

/// Where in the object a relocation leads.
fn place(object: &Object, reloc: &Rela) -> Option<Place> {
    let symbol = object.syms.get(reloc.sym() as usize)?;
    match object.place(reloc.sym(), symbol) {
        SymbolPlace::Section(shndx) => Some((shndx, symbol.st_value().wrapping_add_signed(reloc.r_addend()))),
        _ => None,
    }
}

impl Visitor for Finder<'_, '_> {
    type Output = Words;

    fn visit<R: Rules>(self) -> Self::Output {
        let mut words = self.words::<R>();
        if words.is_empty() {
            return words;
        }
        let mut uses = vec![Uses::default(); words.len()];
        for shndx in self.sections() {
            let bytes = self.object.section_data(shndx as usize).unwrap_or_default();
            for reloc in self.relocs(shndx) {
                let at = (reloc.r_offset() as usize).min(bytes.len());
                let found = R::word_use(Code { reloc, bytes, at });
                if found != WordUse::None
                    && let Some(place) = place(self.object, reloc)
                    && let Ok(word) = words.binary_search_by_key(&place, |(place, _)| *place)
                {
                    uses[word].add(found);
                }
            }
        }
        let mut uses = uses.iter();
        words.retain(|_| uses.next().is_some_and(Uses::is_load));
        words
    }
}

impl Finder<'_, '_> {
    /// Sections in memory.
    fn sections(&self) -> impl Iterator<Item = u32> {
        let in_memory = |shndx: &u32| {
            let id = SectionId(self.object.section_base + shndx);
            self.object.shdrs[*shndx as usize].sh_flags() & SHF_ALLOC != 0 && self.live.contains(id)
        };
        (0..self.object.shdrs.len() as u32).filter(in_memory)
    }

    fn relocs(&self, shndx: u32) -> &[Rela] {
        let section = self.sections.get(SectionId(self.object.section_base + shndx));
        self.sections.relocs(self.object, self.number, section)
    }

    /// Words that one address fills, in order.
    fn words<R: Rules>(&self) -> Words {
        let mut words = Vec::new();
        for shndx in self.sections() {
            let name = self.object.section_name(shndx as usize).unwrap_or_default();
            if self.toc.sections.contains(&name) {
                let relocs = (0..).zip(self.relocs(shndx));
                words.extend(relocs.map(|(number, reloc)| ((shndx, reloc.r_offset()), number, reloc.kind())));
            }
        }
        words.sort_unstable();
        let several = |run: &[(Place, u32, u32)]| run.len() > 1 || R::class(run[0].2) != Class::Address;
        let runs = words.chunk_by(|a, b| a.0 == b.0).filter(|run| !several(run));
        runs.map(|run| (run[0].0, run[0].1)).collect()
    }
}

/// What code does with a word.
#[derive(Clone, Copy, Default)]
struct Uses {
    upper: bool,
    load: bool,
    other: bool,
}

impl Uses {
    fn add(&mut self, found: WordUse) {
        match found {
            WordUse::None => {}
            WordUse::Upper => self.upper = true,
            WordUse::Load => self.load = true,
            WordUse::Other => self.other = true,
        }
    }

    fn is_load(&self) -> bool {
        self.upper && self.load && !self.other
    }
}
