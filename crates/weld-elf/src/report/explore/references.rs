//! Who refers to whom, also to what shared libraries define, and what keeps sections whoever refers to them.
//!
//! References are relocations of sections in memory, sections that live and die with others, and what exception
//! frames need of their own. Roots are those of `--gc-sections`; without it, what nothing refers to is one, too.

use weld_common::prefetch::prefetch;
use weld_common::{par, trace};
use weld_explore::graph::{References, unreached};
use weld_explore::model::{Graph, Model, Root};
use weld_explore::names::Name;

use super::{Rows, libraries};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Context;
use crate::live::roots::Roots;
use crate::sections::{SectionKind, is_array};
use crate::setup;
use crate::symbol_names::flag;
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::wording::shown;

/// Sections that one task spells the names of.
const ROOTS: usize = 4096;

/// Objects that one task looks at.
const RUN: usize = 8;

struct Finder<'c, 'i, 'a> {
    image: &'c Image<'i, 'a>,
    context: &'c Context<'c, 'a>,
    rows: &'c Rows,
}

/// What a relocation refers to.
enum Place {
    Section(SectionId),
    /// What a shared library defines.
    Library(SymbolId),
}

/// References by the rows of sections that have them.
#[derive(Default)]
struct Found {
    to_sections: Vec<(u32, u32)>,
    to_libraries: Vec<(SymbolId, u32)>,
}

/// Who refers to whom.
pub struct Gathered {
    references: References,
    /// Symbols of libraries, and the rows of sections that refer to them.
    to_libraries: Vec<(SymbolId, u32)>,
}

/// Looks at all relocations. `count` is that of input sections.
pub fn gather<'a>(count: usize, image: &Image<'_, 'a>, context: &Context<'_, 'a>, rows: &Rows) -> Gathered {
    let finder = Finder { image, context, rows };
    let objects = image.resolved.objects.len();
    let found = par::runs("references", context.parallel, objects, RUN, |run| {
        let (mut found, mut batch) = (Found::default(), Batch::default());
        run.for_each(|index| finder.object(index, &mut batch, &mut found));
        found
    });
    let (to_sections, to_libraries): (Vec<_>, Vec<_>) =
        found.into_iter().map(|found| (found.to_sections, found.to_libraries)).unzip();
    let _sorting = trace::stretch("sort references");
    Gathered { references: References::new(count, to_sections), to_libraries: to_libraries.concat() }
}

/// Adds the graph, the libraries and who needs them to the model.
pub fn add<'a>(
    model: &mut Model,
    gathered: Gathered,
    image: &Image<'_, 'a>,
    context: &Context<'_, 'a>,
    rows: &Rows,
) {
    let Gathered { references, to_libraries } = gathered;
    libraries::add(model, image, to_libraries);
    let _finding = trace::stretch("find roots");
    let roots = Finder { image, context, rows }.roots(model, &references);
    model.graph = Some(Graph::new(references, roots));
}

/// How many relocations are looked at together.
const BATCH: usize = 4096;

/// How many relocations ahead of their turn what they refer to is asked for.
const AHEAD: usize = 16;

/// Relocations of an object, which refer to places all over the link. What each refers to is looked up in two steps, in
/// each for all of them, so that the processor waits for many at the same time.
#[derive(Default)]
struct Batch {
    /// Who refers, by row, and to which symbol.
    symbols: Vec<(u32, u32)>,
    /// Who refers, and to which section.
    sections: Vec<(u32, SectionId)>,
    /// The rows of these.
    to: Vec<u32>,
}

impl Batch {
    fn add(&mut self, from: u32, symbol: u32, (finder, object): (&Finder, &Object), found: &mut Found) {
        self.symbols.push((from, symbol));
        if self.symbols.len() >= BATCH {
            self.look_up((finder, object), found);
        }
    }

    fn look_up(&mut self, (finder, object): (&Finder, &Object), found: &mut Found) {
        let symbols = finder.image.symbols;
        for (i, (from, symbol)) in self.symbols.iter().enumerate() {
            if let Some((_, later)) = self.symbols.get(i + AHEAD) {
                symbols.prefetch_target(object, *later);
            }
            match finder.place(object, *symbol) {
                Some(Place::Section(section)) => self.sections.push((*from, section)),
                Some(Place::Library(symbol)) => found.to_libraries.push((symbol, *from)),
                None => {}
            }
        }
        self.symbols.clear();
        let of_section = &finder.rows.of_section;
        let mut i = 0;
        while let Some((from, _)) = self.sections.get(i) {
            self.to.clear();
            while let Some((_, section)) = self.sections.get(i).filter(|(other, _)| other == from) {
                if let Some((_, later)) = self.sections.get(i + AHEAD) {
                    prefetch(of_section, later.index());
                }
                self.to.extend(finder.rows.section(*section));
                i += 1;
            }
            self.to.sort_unstable();
            self.to.dedup();
            found.to_sections.extend(self.to.iter().map(|to| (*from, *to)));
        }
        self.sections.clear();
    }
}

impl<'a> Finder<'_, '_, 'a> {
    fn object(&self, index: usize, batch: &mut Batch, found: &mut Found) {
        let (image, object) = (self.image, &self.image.resolved.objects[index]);
        let row = |shndx: u32| self.rows.section(SectionId(object.section_base + shndx));
        for (shndx, shdr) in (0u32..).zip(object.shdrs).skip(1) {
            let section = image.sections.get(SectionId(object.section_base + shndx));
            let in_memory = shdr.sh_flags() & SHF_ALLOC != 0 && section.kind() != SectionKind::EhFrame;
            let Some(from) = row(shndx).filter(|_| in_memory) else { continue };
            for reloc in image.sections.relocs(object, index, section) {
                batch.add(from, reloc.sym(), (self, object), found);
            }
        }
        let extra = &image.sections.objects[index];
        for (section, follower) in &extra.followers {
            found.to_sections.extend(row(*section).zip(row(*follower)));
        }
        for (shndx, frames) in &extra.eh_frames {
            let section = image.sections.get(SectionId(object.section_base + shndx));
            let relocs = image.sections.relocs(object, index, section);
            // Frames live with the functions that they are of.
            for fde in frames.fdes.iter().filter(|fde| fde.n_relocs > 0) {
                let function = relocs.get(fde.first_reloc as usize);
                let function = function.and_then(|reloc| self.section(object, reloc.sym()));
                found.to_sections.extend(function.zip(row(*shndx)));
            }
            for cie in &frames.cies {
                let range = cie.first_reloc as usize..(cie.first_reloc + cie.n_relocs) as usize;
                let targets = relocs.get(range).unwrap_or_default().iter();
                let Some(from) = row(*shndx) else { continue };
                targets.for_each(|reloc| batch.add(from, reloc.sym(), (self, object), found));
            }
        }
        batch.look_up((self, object), found);
    }

    /// What symbol `index` of an object stands for.
    #[inline(always)]
    fn place(&self, object: &Object, index: u32) -> Option<Place> {
        let symbol = object.syms.get(index as usize)?;
        if index >= object.first_global {
            let id = object.global(index);
            let global = &self.image.symbols[id];
            return match global.kind() {
                symbol_flags::DEFINED => Some(Place::Section(SectionId(global.section))),
                symbol_flags::SHARED => Some(Place::Library(id)),
                _ => None,
            };
        }
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                Some(Place::Section(SectionId(object.section_base + shndx)))
            }
            _ => None,
        }
    }

    /// The row of the section in which symbol `index` of an object is.
    fn section(&self, object: &Object, index: u32) -> Option<u32> {
        match self.place(object, index)? {
            Place::Section(section) => self.rows.section(section),
            Place::Library(_) => None,
        }
    }

    fn roots(&self, model: &mut Model, references: &References) -> Vec<Root> {
        let named = self.named_reasons(model);
        let mut reasons: Vec<Name> = named.iter().map(|(reason, _)| *reason).collect();
        let (image, options) = (self.image, self.image.options);
        let roots = Roots {
            objects: &image.resolved.objects,
            sections: image.sections,
            symbols: image.symbols,
            names: &image.resolved.names,
            internals: self.context.internals,
            options,
        };
        let mut roots: Vec<SectionId> = roots.collect(self.context.parallel);
        roots.sort_unstable();
        roots.dedup();
        for section in roots {
            let Some(row) = self.rows.section(section) else { continue };
            let reason = &mut reasons[row as usize];
            if reason.is_none() {
                *reason = model.names.add(&self.reason(section));
            }
        }
        // What the linker makes is there because of its options; merged strings because of who refers to them.
        let made = model.names.add("made by the linker");
        for (row, (reason, input)) in reasons.iter_mut().zip(&model.inputs).enumerate() {
            let is_made = input.object.row().is_none() || self.rows.is_table(row);
            if reason.is_none() && is_made && !self.rows.is_merged(row) {
                *reason = made;
            }
        }
        let root = |((section, reason), (_, symbol))| Root { section, reason, symbol };
        let is_root = |root: &Root| !root.reason.is_none();
        let mut list: Vec<Root> = (0..).zip(reasons).zip(named).map(root).filter(is_root).collect();
        if !options.sections.gc_sections {
            list.extend(unreached(
                references,
                &list,
                model.names.add("--gc-sections is off: all sections stay"),
            ));
        }
        list
    }

    /// Of sections with symbols that are wanted by name (the entry point, what options ask for, exports): why, and for which.
    fn named_reasons(&self, model: &mut Model) -> Vec<(Name, Name)> {
        let image = self.image;
        let entry = setup::entry_symbol(image.options, self.context.inputs);
        const REASONS: [&str; 3] = ["entry", "an option or a script asks for", "exported"];
        let mut best: Vec<Option<(usize, SymbolId)>> = vec![None; model.inputs.len()];
        for (id, named) in image.resolved.names.iter() {
            let symbol = &image.symbols[id];
            if symbol.kind() != symbol_flags::DEFINED {
                continue;
            }
            let rank = if entry.as_ref().is_some_and(|entry| entry.as_bytes() == named.name) {
                0
            } else if named.flags & (flag::ROOT | flag::KEEP) != 0 {
                1
            } else if symbol.has(symbol_flags::EXPORTED) {
                2
            } else {
                continue;
            };
            let Some(row) = self.rows.section(SectionId(symbol.section)) else { continue };
            let best = &mut best[row as usize];
            if best.is_none_or(|(other, _)| rank < other) {
                *best = Some((rank, id));
            }
        }
        let spell = |id: SymbolId| shown(image.options, image.resolved.names.get(id).name);
        let spelled = par::runs("names of roots", self.context.parallel, best.len(), ROOTS, |run| {
            best[run].iter().flatten().map(|(_, id)| spell(*id)).collect::<Vec<_>>()
        });
        let mut spelled = spelled.into_iter().flatten();
        let mut known = [None; REASONS.len()];
        let mut named = |best: Option<(usize, SymbolId)>| {
            let (rank, symbol) = (best?.0, spelled.next()?);
            let reason = *known[rank].get_or_insert_with(|| model.names.add(REASONS[rank]));
            Some((reason, model.names.add(&symbol)))
        };
        best.into_iter().map(|best| named(best).unwrap_or_default()).collect()
    }

    /// Why a section stays in which no symbol is wanted.
    fn reason(&self, id: SectionId) -> String {
        let index = self.context.owners.object(id).index();
        let object = &self.image.resolved.objects[index];
        let shndx = id.0 - object.section_base;
        let shdr = &object.shdrs[shndx as usize];
        let name = String::from_utf8_lossy(object.section_name(shndx as usize).unwrap_or_default());
        if shdr.sh_flags() & SHF_ALLOC == 0 {
            "takes no memory".to_owned()
        } else if shdr.sh_flags() & SHF_GNU_RETAIN != 0 {
            "asks to stay (SHF_GNU_RETAIN)".to_owned()
        } else if is_array(shdr.sh_type()) {
            format!("constructors and destructors: {name}")
        } else if self.image.sections.objects[index].c_named.contains(&shndx) {
            format!("__start_{name} or __stop_{name} is asked for")
        } else {
            format!("kept for its name or type, or by KEEP in a script: {name}")
        }
    }
}
