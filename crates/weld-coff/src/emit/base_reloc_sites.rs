//! The places that need base relocations, in the order of the image.

use object::LittleEndian as LE;
use weld_common::par;

use crate::address::Rva;
use crate::arch::{Rules, Snippet, facts, with_rules};
use crate::ids::SectionId;
use crate::layout::Layout;
use crate::live::ImageParts;
use crate::resolve::Resolved;
use crate::sections::{Kind, Sections};
use crate::symbols::{Kind as SymbolKind, Symbols, SyntheticSection, of_object};
use crate::synth::Table;
use crate::synth::base_relocs::Place;
use crate::synth::tables::Tables;

/// Sections of a run, and of those with addresses: one may have thousands.
const RUN: usize = 2048;
const WITH_ADDRESSES: usize = 32;

/// Finds all places in sections that have addresses.
pub fn find(
    resolved: &Resolved,
    ImageParts { sections, symbols, live }: ImageParts,
    tables: &Tables,
    layout: &Layout,
    parallel: bool,
) -> Vec<Place> {
    let members: Vec<&[u32]> =
        layout.outs.iter().flat_map(|out| layout.order[out.members.clone()].chunks(RUN)).collect();
    let finder = Finder { resolved, sections, symbols, tables, layout };
    let with = par::runs("sections with addresses", parallel, members.len(), 1, |run| {
        let ids = run.flat_map(|i| members[i]).copied();
        ids.filter(|id| live.may_have_addresses(SectionId(*id))).collect::<Vec<_>>()
    });
    let with = par::concat("sections with addresses", parallel, with);
    let runs = par::runs("places of addresses", parallel, with.len(), WITH_ADDRESSES, |run| {
        let mut places = Vec::new();
        with_rules!(resolved.machine, Finder::sections(&finder, with[run].iter().copied(), &mut places));
        places
    });
    par::concat("join places of addresses", parallel, runs)
}

/// Places in code of the linker's own.
fn of_snippet<R: Rules>(snippet: &'static Snippet, rva: Rva) -> impl Iterator<Item = Place> {
    let fixups = snippet.fixups.iter();
    fixups.filter_map(move |&(at, typ, _)| Some(Place { rva: rva + at, kind: R::base_relocation(typ)? }))
}

struct Finder<'f, 'a> {
    resolved: &'f Resolved<'a>,
    sections: &'f Sections,
    symbols: &'f Symbols,
    tables: &'f Tables<'a>,
    layout: &'f Layout,
}

impl Finder<'_, '_> {
    fn sections<R: Rules>(&self, ids: impl Iterator<Item = u32>, places: &mut Vec<Place>) {
        ids.for_each(|id| self.section::<R>(SectionId(id), places));
    }

    /// Places in a section that the linker makes.
    fn made<R: Rules>(&self, made: SyntheticSection, rva: Rva, places: &mut Vec<Place>) {
        let facts = facts(self.resolved.machine);
        match made {
            SyntheticSection::LocalImport(local) if self.symbols.get(local).kind != SymbolKind::Absolute => {
                places.push(Place { rva, kind: facts.base_relocation });
            }
            SyntheticSection::Thunk(_) => {
                let address =
                    facts.thunk_address.map(|at| Place { rva: rva + at, kind: facts.base_relocation });
                places.extend(address);
            }
            SyntheticSection::DelayThunk(_) => places.extend(of_snippet::<R>(&facts.delay.thunk, rva)),
            SyntheticSection::DelayLoader(_) => places.extend(of_snippet::<R>(&facts.delay.loader, rva)),
            SyntheticSection::Table(number) => {
                let slots = Table::ALL[number as usize].section().addresses(self.tables);
                places
                    .extend(slots.into_iter().map(|at| Place { rva: rva + at, kind: facts.base_relocation }));
            }
            _ => {}
        }
    }

    fn section<R: Rules>(&self, id: SectionId, places: &mut Vec<Place>) {
        let section = self.sections.get(id);
        let rva = self.layout.rva(id);
        if section.kind == Kind::SyntheticSection {
            return self.made::<R>(self.symbols.made[section.number as usize], rva, places);
        }
        let object = &self.resolved.objects[section.object.index()];
        let header = self.sections.header(&self.resolved.objects, section);
        let first = places.len();
        for relocation in object.coff.relocations(header).unwrap_or_default() {
            let Some(kind) = R::base_relocation(relocation.typ.get(LE).0) else { continue };
            let index = relocation.symbol_table_index.get(LE);
            let symbol = of_object(self.symbols, self.sections, section.object, object, index);
            if matches!(symbol.kind, SymbolKind::Absolute | SymbolKind::Undefined) {
                continue;
            }
            // A place outside of its section is an error when the section is written.
            let offset = relocation.virtual_address.get(LE);
            places.push(Place { rva: rva.saturating_add(offset.min(section.size)), kind });
        }
        let own = &mut places[first..];
        if !own.is_sorted() {
            own.sort_unstable();
        }
    }
}
