//! Which sections and imports the image needs.
//!
//! Only COMDAT sections can be left out (`/opt:ref`): those that nothing refers to, beginning from the others
//! and from symbols that are kept. Sections that go with a live one live, too. One visit a section, by all
//! threads.

use std::ops::Range;

use object::LittleEndian as LE;
use weld_common::par;
use weld_common::prefetch::prefetch;
use weld_common::walk::{self, Marks, Visitor};

use crate::arch::{Rules, with_rules};
use crate::ids::{ImportId, ObjectId, SectionId, SymbolId};
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, Section, Sections};
use crate::symbol_names::flag;
use crate::symbols::{Kind as SymbolKind, Symbol, Symbols, SyntheticSection, of_object};

/// Sections of a run; a multiple of the 32 whose marks are in one word.
const RUN: usize = 1 << 14;

/// What an image is made of: sections, what names stand for, and what of both is needed.
#[derive(Clone, Copy)]
pub struct ImageParts<'p> {
    pub sections: &'p Sections,
    pub symbols: &'p Symbols,
    pub live: &'p Live,
}

pub struct Live {
    sections: Marks,
    imports: Marks,
    /// Sections that may have places for base relocations, if all have been looked at.
    addresses: Option<Marks>,
}

impl Live {
    #[inline]
    pub fn has(&self, section: SectionId) -> bool {
        self.sections.get(section.0)
    }

    /// Takes in tables, and code, that are made when it is known what they hold.
    pub fn add(&mut self, tables: Range<usize>) {
        for marks in [Some(&mut self.sections), self.addresses.as_mut()].into_iter().flatten() {
            marks.grow(tables.end);
            tables.clone().for_each(|id| _ = marks.set(id as u32));
        }
    }

    /// Whether a section that is live may have places for base relocations.
    #[inline]
    pub fn may_have_addresses(&self, section: SectionId) -> bool {
        self.addresses.as_ref().is_none_or(|marks| marks.get(section.0))
    }

    /// Whether a section that is for the linker or for debuggers is about something in the image: what it
    /// goes with decides.
    pub fn is_wanted(&self, sections: &Sections, id: ObjectId, object: &Object, number: u32) -> bool {
        let mut number = number;
        for _ in 0..=object.comdats.len() {
            let section_id = sections.id(id, number);
            let section = sections.get(section_id);
            let is_part = section.is_in_image() || section.kind == Kind::Folded;
            if is_part || section.kind == Kind::Discarded {
                return is_part && self.has(section_id);
            }
            match object.comdat(number) {
                Some(comdat) if comdat.is_associative() => {
                    number = comdat.parent;
                    if number == 0 || number as usize > object.coff.sections.len() {
                        return false;
                    }
                }
                _ => return true,
            }
        }
        false
    }

    /// Of each part whether something of it is in the image.
    pub fn used_parts(&self, sections: &Sections, parallel: bool) -> Vec<bool> {
        const RUN: usize = 1 << 16;
        let none = vec![false; sections.parts.len()];
        let mut used = none.clone();
        let of_run = |run: Range<usize>| {
            let mut used = none.clone();
            for id in run {
                let section = &sections.list[id];
                if section.is_in_image() && self.has(SectionId(id as u32)) {
                    used[section.part as usize] = true;
                }
            }
            used
        };
        par::in_runs("used parts", parallel, (sections.list.len(), RUN), of_run, |some: Vec<bool>| {
            used.iter_mut().zip(some).for_each(|(used, some)| *used |= some);
        });
        used
    }

    /// Whether something is there of parts with this name.
    pub fn has_part(&self, sections: &Sections, name: &[u8]) -> bool {
        let parts: Vec<bool> = sections.parts.iter().map(|part| part.name == name).collect();
        let mut all = (0..).zip(&sections.list);
        parts.contains(&true)
            && all.any(|(id, section)| {
                section.is_in_image() && parts[section.part as usize] && self.has(SectionId(id))
            })
    }

    pub fn has_import(&self, import: ImportId) -> bool {
        self.imports.get(import.0)
    }
}

struct Walk<'w, 'a> {
    resolved: &'w Resolved<'a>,
    sections: &'w Sections,
    symbols: &'w Symbols,
    live: Live,
    /// Of parts: they are lists of frames, which GNU compilers make for all functions of an object together.
    is_frames: Vec<bool>,
    /// Functions are unwound by those lists.
    gnu: bool,
    /// Types of relocations that make addresses, a bit each.
    address_types: u64,
}

/// What is needed; without `/opt:ref`, everything.
pub fn find(
    resolved: &Resolved,
    sections: &Sections,
    symbols: &Symbols,
    options: &Options,
    parallel: bool,
) -> Live {
    let (sections_marks, imports) = (Marks::new(sections.list.len()), Marks::new(resolved.imports.len()));
    let mut live = Live { sections: sections_marks, imports, addresses: None };
    if !options.gc() {
        _ = par::runs("sections of the image", parallel, sections.list.len(), RUN, |run| {
            let image = run.filter(|&id| sections.list[id].is_in_image());
            image.for_each(|id| _ = live.sections.set(id as u32));
        });
        (0..resolved.imports.len() as u32).for_each(|id| _ = live.imports.set(id));
        return live;
    }
    let is_frames = sections.parts.iter().map(|part| part.name.starts_with(b".eh_frame")).collect();
    live.addresses = Some(Marks::new(sections.list.len()));
    let address_types = with_rules!(resolved.machine, address_types());
    let walk = Walk { resolved, sections, symbols, live, is_frames, gnu: options.mingw.on, address_types };
    let roots = walk.roots(parallel);
    walk::from_roots(&walk, &roots, parallel);
    walk.live
}

/// Types of relocations that make addresses, a bit each. No machine has types above 63.
fn address_types<R: Rules>() -> u64 {
    (0..64).filter(|&typ| R::base_relocation(typ).is_some()).map(|typ| 1 << typ).sum()
}

impl Walk<'_, '_> {
    fn note_addresses(&self, id: u32) {
        if let Some(addresses) = &self.live.addresses {
            addresses.set(id);
        }
    }

    /// Sections that are no COMDAT sections, and those of symbols that are kept.
    fn roots(&self, parallel: bool) -> Vec<u32> {
        let list = &self.sections.list;
        let is_root = |section: &Section| {
            section.is_in_image() && !section.comdat && section.kind != Kind::SyntheticSection
        };
        let run = |run: Range<usize>| {
            let ids = run.filter(|&id| is_root(&list[id]) && self.live.sections.set(id as u32));
            ids.map(|id| id as u32).collect::<Vec<u32>>()
        };
        let runs = par::runs("roots", parallel, list.len(), RUN, run);
        let mut roots = par::concat("join roots", parallel, runs);
        for (id, entry) in self.resolved.names.iter() {
            if entry.flags & flag::ROOT != 0 {
                self.reach(self.symbols.get(id), &mut roots);
            }
        }
        roots
    }

    /// Marks what a symbol stands for.
    #[inline]
    fn reach(&self, symbol: Symbol, stack: &mut Vec<u32>) {
        match symbol.kind {
            SymbolKind::Section => {
                let section = &self.sections.list[symbol.target as usize];
                if section.is_in_image() && self.live.sections.set(symbol.target) {
                    stack.push(symbol.target);
                }
            }
            SymbolKind::ImportAddress => self.import(ImportId(symbol.target), stack),
            SymbolKind::AutoImport => self.reach(self.symbols.get(SymbolId(symbol.target)), stack),
            SymbolKind::Undefined | SymbolKind::Absolute | SymbolKind::Image => {}
        }
    }

    fn import(&self, import: ImportId, stack: &mut Vec<u32>) {
        if self.live.imports.set(import.0)
            && let Some(thunk) = self.symbols.delays.thunk(import)
        {
            self.reach(Symbol::in_section(thunk, 0), stack);
        }
    }

    fn made(&self, made: SyntheticSection, stack: &mut Vec<u32>) {
        match made {
            SyntheticSection::Thunk(import) => self.import(import, stack),
            SyntheticSection::DelayThunk(import) => {
                self.reach(Symbol::in_section(self.symbols.delays.loader(import), 0), stack);
            }
            SyntheticSection::DelayLoader(_) => {
                let helper = self.resolved.program.delay_helper;
                helper.into_iter().for_each(|helper| self.reach(self.symbols.get(helper), stack));
            }
            SyntheticSection::LocalImport(local) => self.reach(self.symbols.get(local), stack),
            // Those of branches are made when it is known what is live.
            SyntheticSection::Common | SyntheticSection::BranchThunk(_) | SyntheticSection::Table(_) => {}
        }
    }
}

impl Visitor for Walk<'_, '_> {
    type Item = u32;
    type Found = ();

    fn prefetch(&self, batch: &[u32]) {
        batch.iter().for_each(|&id| prefetch(&self.sections.list, id as usize));
    }

    fn visit(&self, id: u32, stack: &mut Vec<u32>, (): &mut ()) {
        let section = &self.sections.list[id as usize];
        match section.kind {
            Kind::SyntheticSection => {
                self.note_addresses(id);
                return self.made(self.symbols.made[section.number as usize], stack);
            }
            // What only debuggers look at keeps nothing.
            Kind::Dwarf => return self.note_addresses(id),
            _ => {}
        }
        let mut types = 0;
        let object = &self.resolved.objects[section.object.index()];
        let header = self.sections.header(&self.resolved.objects, section);
        let is_frames = self.is_frames[section.part as usize];
        for relocation in object.coff.relocations(header).unwrap_or_default() {
            let index = relocation.symbol_table_index.get(LE);
            types |= 1u64.checked_shl(relocation.typ.get(LE).0.into()).unwrap_or(0);
            // A frame keeps what handles it, not the function that it is of; and nothing at all where others
            // unwind.
            if is_frames && (!self.gnu || object.global(index).is_none()) {
                continue;
            }
            self.reach(of_object(self.symbols, self.sections, section.object, object, index), stack);
        }
        if types & self.address_types != 0 {
            self.note_addresses(id);
        }
        let mut child = section.first_child;
        while child.is_some() {
            let section = self.sections.get(child);
            if section.is_in_image() && self.live.sections.set(child.0) {
                stack.push(child.0);
            }
            child = section.next_sibling;
        }
    }
}
