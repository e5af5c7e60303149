//! Where things are, for the PDB: sections of the image, the piece of it that each input section is, public
//! symbols.

use object::LittleEndian as LE;
use weld_common::{par, sort};
use weld_pdb::{Contribution, OutputSection, Public};

use super::modules::Modules;
use crate::arch::Place;
use crate::ids::{SectionId, SymbolId};
use crate::layout;
use crate::resolve;
use crate::resolve::imports::import_symbol;
use crate::symbol_names::{Entry, Rank, SOFT};
use crate::symbols::{Kind as SymbolKind, SyntheticSection};
use crate::synth::image::Image;

/// Input sections, and names, of a run.
const RUN: usize = 4096;

/// What instrumentation leaves: nobody looks for it by its name, and there is one for each function.
const NO_PUBLICS: [&[u8]; 3] = [b"__profd_", b"__profc_", b"__covrec_"];

/// A symbol's type says that it is a function: the part of it that counts.
const FUNCTION: u16 = 2;

/// A section of the image as the PDB tells it.
pub fn output_section(out: &layout::OutputSection) -> OutputSection {
    let mut name = [0; 8];
    let len = out.name.len().min(8);
    name[..len].copy_from_slice(&out.name[..len]);
    OutputSection {
        name,
        virtual_size: out.virtual_size as u32,
        virtual_address: out.rva.get(),
        raw_size: out.raw_size as u32,
        raw_pointer: out.offset.field(),
        characteristics: out.flags,
    }
}

/// The piece of the image that an input section is, in the output section that lies around it.
pub fn contribution(image: &Image, id: SectionId, module: u16) -> Option<Contribution> {
    let out = image.layout.out_at(image.layout.rva(id))?;
    Some(contribution_in(image, id, module, out))
}

fn contribution_in(image: &Image, id: SectionId, module: u16, out: usize) -> Contribution {
    let section = image.sections.get(id);
    let place = &image.layout.outs[out];
    let (characteristics, crc) = match image.made(section) {
        Some(_) => (place.flags, 0),
        None => {
            let characteristics = image.header(section).characteristics.get(LE).0;
            (characteristics, Contribution::crc_of(image.contents(section)))
        }
    };
    Contribution {
        module,
        section: out as u16 + 1,
        offset: image.layout.rva(id) - place.rva,
        size: section.size,
        characteristics,
        crc,
    }
}

pub struct Places<'p> {
    machine: u16,
    sections: Vec<OutputSection>,
    contributions: Vec<Contribution>,
    publics: Vec<Public<'p>>,
}

impl<'p> Places<'p> {
    pub fn of(image: &'p Image, modules: &Modules, parallel: bool) -> Places<'p> {
        Places {
            machine: image.resolved.machine.number(),
            sections: image.layout.outs.iter().map(output_section).collect(),
            contributions: contributions(image, modules, parallel),
            publics: publics(image, parallel),
        }
    }

    /// What the PDB is told of the image, without names and streams.
    pub fn told(&self) -> weld_pdb::Image<'_> {
        let Places { machine, sections, contributions, publics } = self;
        weld_pdb::Image { machine: *machine, sections, contributions, publics, ..Default::default() }
    }
}

fn contributions(image: &Image, modules: &Modules, parallel: bool) -> Vec<Contribution> {
    let mut all = Vec::new();
    for (i, out) in image.layout.outs.iter().enumerate() {
        if image.layout.relocs == Some(i) {
            let (section, size) = (i as u16 + 1, out.virtual_size as u32);
            let characteristics = out.flags;
            all.push(Contribution {
                module: modules.linker(),
                section,
                size,
                characteristics,
                ..Default::default()
            });
            continue;
        }
        let members = &image.layout.order[out.members.clone()];
        let one = |&id: &u32| {
            let section = image.sections.get(SectionId(id));
            let module = match image.made(section) {
                Some(SyntheticSection::Thunk(import)) => modules.of_import(import),
                Some(_) => modules.linker(),
                None => section.object.0 as u16,
            };
            contribution_in(image, SectionId(id), module, i)
        };
        let runs = par::runs("section contributions", parallel, members.len(), RUN, |run| {
            members[run].iter().map(one).collect::<Vec<_>>()
        });
        all.extend(par::concat("join contributions", parallel, runs));
    }
    all
}

/// The names that other objects may refer to, with what is in the image.
fn publics<'p>(image: &'p Image, parallel: bool) -> Vec<Public<'p>> {
    let names = &image.resolved.names;
    let runs = par::runs("public symbols", parallel, names.id_bound(), RUN, |run| {
        run.filter_map(|id| public(image, SymbolId(id as u32))).collect::<Vec<_>>()
    });
    let publics = par::concat("join public symbols", parallel, runs);
    if image.rooms.is_none() {
        return publics;
    }
    // Their names' ids depend on who mentions a name first, which a relink does not know.
    sort::by(publics, parallel, |a, b| (a.section, a.offset, a.name).cmp(&(b.section, b.offset, b.name)))
}

/// Whether the PDB lists such names.
pub fn is_public(name: &[u8]) -> bool {
    !NO_PUBLICS.iter().any(|prefix| name.starts_with(prefix))
}

fn public<'p>(image: &'p Image, id: SymbolId) -> Option<Public<'p>> {
    let entry = image.resolved.names.try_get(id)?;
    let symbol = image.symbols.get(id);
    if !matches!(symbol.kind, SymbolKind::Section | SymbolKind::ImportAddress) {
        return None;
    }
    let Place::At(rva) = image.place(symbol) else { return None };
    if !is_public(entry.name) {
        return None;
    }
    let out = image.layout.out_of(image.part(symbol), rva)?;
    let offset = rva.wrapping_sub(image.layout.outs[out].rva);
    let flags = if is_function(image, entry, out) { Public::FUNCTION } else { 0 };
    Some(Public { name: entry.name, offset, section: out as u16 + 1, flags })
}

fn is_function(image: &Image, entry: &Entry, out: usize) -> bool {
    if !matches!(entry.rank(), Rank::Strong | SOFT) {
        // A weak external is what it falls back on.
        return entry.rank() == Rank::Undefined && image.layout.outs[out].is_code();
    }
    match image.resolved.places[entry.file().index()] {
        resolve::Place::Object(id) => {
            let symbol = image.object(id).coff.symbols.get(entry.sym());
            symbol.is_some_and(|symbol| symbol.typ >> 4 & 3 == FUNCTION)
        }
        resolve::Place::Import(_) => entry.sym() == import_symbol::PLAIN && image.layout.outs[out].is_code(),
        resolve::Place::Nothing => false,
    }
}
