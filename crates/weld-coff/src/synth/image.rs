//! The image with addresses: what every writer asks.

pub mod fault;

use object::LittleEndian as LE;

use super::Table;
use super::debug_directory::Location;
use super::tables::Tables;
use crate::address::Rva;
use crate::arch::{Facts, Place, facts};
use crate::coff::object::{Relocation, SectionHeader};
use crate::ids::{ImportId, ObjectId, SectionId, SymbolId};
use crate::input::object::Object;
use crate::layout::Layout;
use crate::layout::rooms::Rooms;
use crate::layout::thunks::Branches;
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind as SectionKind, Section, Sections};
use crate::symbols::{Kind, Symbol, Symbols, SyntheticSection, of_object};

/// All that is known once everything has its place.
#[derive(Clone, Copy)]
pub struct Image<'i, 'a> {
    pub options: &'i Options,
    pub resolved: &'i Resolved<'a>,
    pub sections: &'i Sections,
    pub symbols: &'i Symbols,
    pub live: &'i Live,
    pub layout: &'i Layout,
    pub rooms: Option<&'i Rooms>,
    pub branches: &'i Branches,
    pub tables: &'i Tables<'a>,
    pub base: u64,
    /// Logarithm of the strictest alignment of thread-local storage.
    pub tls_align: u8,
}

/// The same with what it consists of.
pub struct LaidOut<'a> {
    pub sections: Sections,
    pub symbols: Symbols,
    pub live: Live,
    pub tables: Tables<'a>,
    pub layout: Layout,
    /// Room behind sections, if there is any.
    pub rooms: Option<Rooms>,
    pub branches: Branches,
    /// The DOS program in front.
    pub stub: Vec<u8>,
    /// The base relocations.
    pub relocs: Vec<u8>,
    pub base: u64,
    /// Logarithm of the strictest alignment of thread-local storage.
    pub tls_align: u8,
}

impl<'a> LaidOut<'a> {
    pub fn image<'i>(&'i self, options: &'i Options, resolved: &'i Resolved<'a>) -> Image<'i, 'a> {
        let LaidOut { sections, symbols, live, tables, layout, branches, base, tls_align, .. } = self;
        let (base, tls_align, rooms) = (*base, *tls_align, self.rooms.as_ref());
        Image { options, resolved, sections, symbols, live, layout, rooms, branches, tables, base, tls_align }
    }
}

impl<'a> Image<'_, 'a> {
    pub fn facts(&self) -> &'static Facts {
        facts(self.resolved.machine)
    }

    /// Bytes of a section with its room.
    pub fn room(&self, section: &Section) -> u32 {
        self.rooms.map_or(section.size, |rooms| rooms.room(section))
    }

    /// Where a part begins and ends, of which these are the first and the last member, with its yard.
    pub fn bounds(&self, part: u32, first: SectionId, last: SectionId) -> (Rva, Rva) {
        let (start, end) =
            (self.layout.rva(first), self.layout.rva(last) + self.room(self.sections.get(last)));
        let yard = self.layout.yards.iter().find(|yard| yard.part == part);
        yard.map_or((start, end), |yard| (yard.first.min(start), yard.end.max(end)))
    }

    pub fn object(&self, id: ObjectId) -> &Object<'a> {
        &self.resolved.objects[id.index()]
    }

    pub fn header(&self, section: &Section) -> &'a SectionHeader {
        self.sections.header(&self.resolved.objects, section)
    }

    pub fn relocations(&self, section: &Section) -> &'a [Relocation] {
        let object = self.object(section.object);
        // They were looked at when the section was read.
        object.coff.relocations(self.header(section)).unwrap_or_default()
    }

    pub fn contents(&self, section: &Section) -> &'a [u8] {
        self.object(section.object).coff.contents(self.header(section)).unwrap_or_default()
    }

    /// What the relocation of an object refers to.
    #[inline]
    pub fn target(&self, object: ObjectId, relocation: &Relocation) -> Symbol {
        let index = relocation.symbol_table_index.get(LE);
        of_object(self.symbols, self.sections, object, self.object(object), index)
    }

    /// Where what a symbol stands for is.
    #[inline]
    pub fn place(&self, symbol: Symbol) -> Place {
        match symbol.kind {
            Kind::Section => match self.layout.rva(SectionId(symbol.target)) {
                Rva::ZERO => Place::Gone,
                rva => Place::At(rva.wrapping_add(symbol.value as u32)),
            },
            Kind::ImportAddress => match self.import_slot(ImportId(symbol.target)) {
                Some(rva) => Place::At(rva),
                None => Place::Gone,
            },
            Kind::AutoImport => self.place(self.symbols.get(SymbolId(symbol.target))),
            Kind::Image => Place::At(Rva::new(symbol.value as u32)),
            Kind::Absolute => Place::Absolute(symbol.value),
            // Whoever links in spite of undefined symbols gets zeroes.
            Kind::Undefined => Place::Absolute(0),
        }
    }

    /// The part that what a symbol stands for belongs to.
    #[inline]
    pub fn part(&self, symbol: Symbol) -> Option<u32> {
        match symbol.kind {
            Kind::Section => Some(self.sections.get(SectionId(symbol.target)).part),
            Kind::AutoImport => self.part(self.symbols.get(SymbolId(symbol.target))),
            _ => None,
        }
    }

    /// The thunk that a branch takes.
    pub fn thunk_at(&self, section: &Section, offset: u32) -> Option<SectionId> {
        self.branches.thunk(self.sections.id(section.object, section.number), offset)
    }

    /// Where the loader puts the address of an import.
    pub fn import_slot(&self, import: ImportId) -> Option<Rva> {
        let (table, imports) = match self.symbols.delays.thunk(import) {
            Some(_) => (Table::DelayAddress, &self.tables.delayed.imports),
            None => (Table::ImportAddress, &self.tables.imports),
        };
        Some(self.table(table)? + imports.slot(import)?)
    }

    /// Where a table lies.
    pub fn table(&self, table: Table) -> Option<Rva> {
        self.tables.section(table).map(|section| self.layout.rva(section))
    }

    /// The same in memory and in the file.
    pub fn location(&self, table: Table) -> Option<Location> {
        let rva = self.table(table)?;
        let out = &self.layout.outs[self.layout.out_at(rva)?];
        Some(Location { rva, offset: out.offset + u64::from(rva - out.rva) })
    }

    /// Where a name's symbol is, if it is in the image.
    pub fn rva_of(&self, name: SymbolId) -> Option<Rva> {
        self.rva_at(self.symbols.get(name))
    }

    /// The same for what a symbol stands for.
    pub fn rva_at(&self, symbol: Symbol) -> Option<Rva> {
        match self.place(symbol) {
            Place::At(rva) => Some(rva),
            _ => None,
        }
    }

    /// What a section that the linker makes is.
    pub fn made(&self, section: &Section) -> Option<SyntheticSection> {
        (section.kind == SectionKind::SyntheticSection).then(|| self.symbols.made[section.number as usize])
    }

    /// The bytes at an address, if they are an input section's own.
    pub fn bytes_at(&self, symbol: Symbol) -> Option<&'a [u8]> {
        if symbol.kind != Kind::Section {
            return None;
        }
        let section = self.sections.get(SectionId(symbol.target));
        if section.kind != SectionKind::Regular {
            return None;
        }
        self.contents(section).get(symbol.value as usize..)
    }
}
