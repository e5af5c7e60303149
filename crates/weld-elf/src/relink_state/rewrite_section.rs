//! Writing an input section again, from its object and the rows of a state.
//!
//! Who relocates sees the link as an [`Image`], which borrows tables over all objects. Of these, a section
//! asks for what its relocations name only: symbols of its own object. So here the tables are made for one
//! object alone, with ids that count from 0, and filled from the rows of its mentions, slots, sections and
//! pieces. The loops over relocations are those of every link, and know nothing of it. It takes time by the
//! size of the object, however large the link was.
//!
//! What rows do not tell is [`Missing`]; then a whole link is the answer.

mod frames;
mod moves;
mod pointers;
mod sizes;
mod tables;

use std::cmp::Ordering;

use weld_common::diag::DiagSink;
use weld_common::io::input::InputStore;

pub use frames::Searched;
pub use moves::NewValue;
pub use pointers::{Pointer, Told};
pub use sizes::Exported;
pub use tables::lost_sections;

use super::State;
use super::extents::TableRuns;
use super::outline::{Before, OS_ABI, is_renamed, of_groups, outline};
use super::rows::*;
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::{Machine, plt};
use crate::compressed::Compressed;
use crate::elf::{Rela, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS, Shdr};
use crate::emit;
use crate::got_plt_slots::Slots;
use crate::ids::*;
use crate::input::object::{Group, Object, SymbolPlace};
use crate::input::{FileName, Reading};
use crate::layout::addresses::Bases;
use crate::layout::{Layout, MergedPart};
use crate::live::{Live, SectionOwners};
use crate::mode::Mode;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::lost_groups::{LostSections, each_definition};
use crate::sections::rooms::filler;
use crate::sections::{SectionKind, Sections};
use crate::symbols::Symbols;
use crate::symbols::symbol_flags;
use crate::symbols::tagged::Tagged;
use crate::synth::image::Image;
use crate::synth::thunks::Thunks;

/// What rows do not tell of an object or a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It is not the object that was linked, or there is something wrong with it.
    Object,
    /// Two of its symbols have one name and are different things.
    Names,
    /// Which bytes of code are left out, on machines where some are.
    Cuts,
    /// Where a piece of a merged section went.
    Piece,
    /// Options change finished instructions or tag variables, and look at all objects for that.
    Options,
    /// There are instructions that some processors execute wrongly at this address.
    Erratum,
    /// A relocation of this class asks more of a symbol than where it is.
    Class(Class),
    /// The section is not copied.
    Section,
    /// Something has outgrown its room.
    Room(Full),
    /// There is no room in tables for the loader for another name.
    Exports,
    /// Where something is that it refers to, or that it defines and others refer to; by the symbol's number, or [`NONE`].
    Target(u32),
    /// Who else knows where a function was that has moved.
    Function,
    /// Where frames or symbols of the object are in their tables.
    Place,
}

/// What has outgrown its room: bytes that there are for it, and that it needs; or entries, of tables of such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// Whose it is, by the row; [`NONE`] if it is of the whole image.
    pub input: u32,
    pub of: Of,
    pub has: u64,
    pub wants: u64,
}

impl Full {
    /// Whether it is what an object has in a table of the whole image, beside what others have.
    pub fn is_of_run(&self) -> bool {
        matches!(self.of, Of::Locals | Of::Globals | Of::SymbolNames | Of::Frames)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Of {
    /// A section of the object, by its header index.
    Section(u32),
    /// Of the object's symbols.
    Locals,
    Globals,
    SymbolNames,
    Frames,
    /// `.eh_frame_hdr`
    SearchTable,
    /// Of `.rela.dyn`.
    RelativeRelocs,
    SymbolicRelocs,
}

/// Bytes and where in the file they belong.
pub type Write = (u64, Vec<u8>);

/// A link that is known by its state, or by an excerpt of that.
#[derive(Clone, Copy)]
pub struct Known<'k> {
    pub state: &'k State,
    pub options: &'k Options,
    pub machine: Machine,
    pub left: &'k dyn Left,
    /// The object's row in the tables, and where what it has in tables of the whole image has been until now.
    pub row: u32,
    pub last_runs: TableRuns,
    /// Nothing is asked but what values names have.
    pub is_for_values: bool,
}

impl Known<'_> {
    /// Whether it does not matter where pieces of a merged section are: of what debuggers read, no value is asked.
    fn passes_over(&self, shdr: &Shdr) -> bool {
        self.is_for_values && shdr.sh_flags() & SHF_ALLOC == 0
    }
}

/// What a link has left besides: merged pieces are compared with the bytes there.
pub trait Left {
    /// The pieces of a part that have this tag.
    fn pieces(&self, part: u32, tag: u32) -> Vec<PieceRow>;
    /// Whether these bytes are at `offset` of the output.
    fn has(&self, offset: u64, bytes: &[u8]) -> bool;
    /// Where in a part a piece may go that is not there.
    fn add(&self, _part: u32, _piece: Added) -> Option<u32> {
        None
    }
    /// So many bytes at `offset` of the output.
    fn read(&self, offset: u64, size: usize) -> Option<Vec<u8>>;
}

/// A merged piece that no object had.
pub struct Added<'p> {
    pub part: &'p PartRow,
    /// Where in the file the part is.
    pub start: u64,
    pub tag: u32,
    pub bytes: &'p [u8],
}

/// One object, with the tables that an [`Image`] borrows.
pub struct Alone<'k, 'a> {
    known: Known<'k>,
    input: &'k InputRow,
    resolved: Resolved<'a>,
    sections: Sections<'a>,
    symbols: Symbols,
    live: Live,
    slots: Slots,
    layout: Layout<'a>,
    merged: Vec<MergedPart<'a>>,
    thunks: Thunks,
    owners: SectionOwners,
    new_values: Vec<NewValue>,
    lost: LostSections,
}

impl<'k, 'a> Alone<'k, 'a> {
    /// The object that is input number `row` ([`parse`]).
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn new(
        known: Known<'k>,
        row: u32,
        object: Object<'a>,
        store: &'a InputStore<'a>,
    ) -> Result<Self, Missing> {
        let relocs = &known.options.relocs;
        let rewrites = relocs.unmark || relocs.skip_jumps || relocs.call_padding.is_some();
        if rewrites || Tagged::is_wanted(known.options, &known.mode()) {
            return Err(Missing::Options);
        }
        let input = known.state.inputs.get(row as usize).ok_or(Missing::Object)?;
        let there = (object.shdrs.len(), object.syms.len(), object.first_global);
        let wanted = (input.headers as usize, input.symbols as usize, input.first_global);
        if input.kind != input_kind::OBJECT || there != wanted {
            return Err(Missing::Object);
        }
        let compares = !is_renamed(&object, known.options);
        let (resolved, mut symbols, globals) = tables::resolved(known.state, row, object, compares)?;
        let object = &resolved.objects[0];
        let lost = tables::lost_sections(known.state, row, object);
        let (mut sections, live) = tables::sections(known.state, input, (object, &lost))?;
        let merged = tables::merged(&known, input, object, store, &mut sections)?;
        let piece = |row: &SectionRow, offset: u64| {
            let (part, number) = sections.get(SectionId(row.ordinal)).merged();
            let at = merged.get(part)?.merged.output_offset(number, offset)?;
            known.state.parts.get(part).map(|part| part.address.wrapping_add(at))
        };
        let new_values = moves::find(&known, (row, object), (&mut symbols, &globals), piece)?;
        // Others may know what it defines by names that it does not have.
        if !compares && !new_values.is_empty() {
            return Err(Missing::Function);
        }
        let owners = SectionOwners::new(&resolved.objects, sections.list.len());
        Ok(Alone {
            input,
            sections,
            slots: tables::slots(known.state, row, globals),
            layout: tables::layout(known.state, known.machine),
            thunks: tables::thunks(known.state, known.options),
            known,
            resolved,
            symbols,
            live,
            merged,
            owners,
            new_values,
            lost,
        })
    }

    /// Writes the section with header index `ordinal` to `out`, which has its size in the output. What is
    /// wrong with relocations goes to `sink`.
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn emit(&self, ordinal: u32, out: &mut [u8], sink: &DiagSink) -> Result<(), Missing> {
        let rows = self.known.state.sections_of(self.input);
        let found = rows.binary_search_by_key(&ordinal, |row| row.ordinal);
        let id = SectionId(ordinal);
        let section = found.ok().map(|_| self.sections.get(id)).ok_or(Missing::Section)?;
        let is_guest = section.kind() == SectionKind::Guest;
        if !section.is_copied() && !is_guest || section.size != out.len() as u64 {
            return Err(Missing::Section);
        }
        let object = &self.resolved.objects[0];
        let shdr = object.shdrs.get(ordinal as usize).ok_or(Missing::Object)?;
        let is_empty = section.kind() == SectionKind::NoBits || is_guest && shdr.sh_type() == SHT_NOBITS;
        let bytes = object.section_data(ordinal as usize).or(is_empty.then_some(&[][..]));
        let bytes = bytes.ok_or(Missing::Object)?;
        let bytes = match section.kind() {
            SectionKind::Compressed => {
                Compressed::parse(bytes, object.format()).map_err(|_| Missing::Object)?.uncompressed_size()
            }
            SectionKind::Guest => shdr.sh_size(),
            _ => bytes.len() as u64,
        };
        // A free one may be less than what was there.
        let is_free = self.lost.free().iter().any(|(_, index)| *index == ordinal);
        let has_room =
            is_free || filler(shdr, object.section_name(ordinal as usize).unwrap_or_default()).is_some();
        match bytes.cmp(&section.size) {
            Ordering::Greater if has_room => {
                let full =
                    Full { input: self.known.row, of: Of::Section(ordinal), has: section.size, wants: bytes };
                return Err(Missing::Room(full));
            }
            Ordering::Less if !has_room && section.kind() != SectionKind::NoBits => {
                return Err(Missing::Object);
            }
            _ => {}
        }
        self.check(self.sections.relocs(object, 0, section))?;
        if shdr.sh_flags() & SHF_EXECINSTR != 0 && self.has_erratum(ordinal, section.address()) {
            return Err(Missing::Erratum);
        }
        emit::emit_section(&self.image(sink), &self.owners, id, out);
        Ok(())
    }

    /// Whether all that the object's sections in memory refer to is there, and so all addresses that are written for
    /// them are such of something.
    ///
    /// # Errors
    /// If one is not.
    pub fn check_targets(&self) -> Result<(), Missing> {
        let sink = DiagSink::new();
        let (image, object) = (self.image(&sink), &self.resolved.objects[0]);
        let facts = self.known.machine.facts();
        let is_there = |reloc: &Rela| {
            facts.class(reloc.kind()) == Class::None
                || !image.place(object, reloc.sym(), reloc.r_addend()).dead
        };
        for row in self.known.state.sections_of(self.input) {
            let kind = SectionKind::of_number(row.kind.into());
            let is_loaded = object.shdrs[row.ordinal as usize].sh_flags() & SHF_ALLOC != 0;
            let is_copied = matches!(kind, SectionKind::Regular | SectionKind::Reversed | SectionKind::Guest);
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(row.ordinal)));
            let missing = relocs.iter().find(|reloc| is_loaded && is_copied && !is_there(reloc));
            if let Some(reloc) = missing {
                return Err(Missing::Target(reloc.sym()));
            }
        }
        for (index, frames) in &self.sections.objects[0].eh_frames {
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(*index)));
            for fde in &frames.fdes {
                let mine = relocs.get(fde.first_reloc as usize..).unwrap_or_default();
                let mine = mine.get(..fde.n_relocs as usize).unwrap_or_default();
                // Those of functions that are not there are left out.
                let missing = mine.iter().find(|reloc| !is_there(reloc));
                if let Some(reloc) = missing.filter(|_| mine.first().is_some_and(is_there)) {
                    return Err(Missing::Target(reloc.sym()));
                }
            }
        }
        let named = self.slots.list.iter().filter(|slot| slot.local.is_none());
        let is_nowhere = |id: &SymbolId| self.symbols[*id].has(symbol_flags::IN_DISCARDED);
        match named.map(|slot| slot.id).find(is_nowhere) {
            Some(id) => {
                let mut globals = object.first_global..object.syms.len() as u32;
                Err(Missing::Target(globals.find(|symbol| object.global(*symbol) == id).unwrap_or(NONE)))
            }
            None => Ok(()),
        }
    }

    /// Names of the object that have other values than their rows, by these.
    pub fn new_values(&self) -> &[NewValue] {
        &self.new_values
    }

    /// The sections that refer to one of these symbols, by header index; in memory or not.
    pub fn that_refer_to(&self, symbols: &[u32]) -> Vec<u32> {
        let object = &self.resolved.objects[0];
        let refers = |row: &&SectionRow| {
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(row.ordinal)));
            relocs.iter().any(|reloc| symbols.contains(&reloc.sym()))
        };
        let rows = self.known.state.sections_of(self.input);
        rows.iter().filter(refers).map(|row| row.ordinal).collect()
    }

    /// The sections that are not in memory, by header index.
    pub fn not_loaded(&self) -> impl Iterator<Item = u32> {
        let rows = self.known.state.sections_of(self.input).iter();
        let is_loaded = |index: &u32| {
            let shdr = self.resolved.objects[0].shdrs.get(*index as usize);
            shdr.is_none_or(|shdr| shdr.sh_flags() & SHF_ALLOC != 0)
        };
        rows.map(|row| row.ordinal).filter(move |index| !is_loaded(index))
    }

    /// Whether one of these sections has frames, which are written again for functions only.
    pub fn has_frames(&self, ordinals: &[u32]) -> bool {
        let rows = self.known.state.sections_of(self.input);
        rows.iter().any(|row| row.kind == SectionKind::EhFrame as u8 && ordinals.contains(&row.ordinal))
    }

    /// What of the object counts for more than bytes of its sections; `before` are the numbers that its global
    /// symbols had, and `last` is what it was. One that uses extensions of a system that it did not use is the same
    /// if the output says already that it is for that system.
    pub fn outline(&self, before: Before, last: &OutlineRow) -> OutlineRow {
        let sink = DiagSink::new();
        let image = self.image(&sink);
        let of = |os_abi| outline(&image, &self.owners, ObjectId(0), (before, &self.lost, os_abi));
        let os_abi = self.resolved.objects[0].os_abi;
        let now = of(os_abi);
        if now.shape == last.shape
            || os_abi == 0
            || self.known.left.read(OS_ABI as u64, 1) != Some(vec![os_abi])
        {
            return now;
        }
        let without = of(0);
        if without.shape == last.shape { without } else { now }
    }

    /// What the row of the object has of the groups that have lost.
    pub fn lost(&self) -> u128 {
        of_groups(&self.resolved.objects[0], &self.lost)
    }

    /// The name of a symbol of the object.
    pub fn name(&self, symbol: u32) -> &'a [u8] {
        self.resolved.objects[0].symbol_name(symbol)
    }

    /// What a symbol is called; that of a section as that is.
    pub fn called(&self, symbol: u32) -> Option<String> {
        let object = &self.resolved.objects[0];
        let sym = object.syms.get(symbol as usize)?;
        let name = match (object.symbol_name(symbol), object.place(symbol, sym)) {
            (b"", SymbolPlace::Section(section)) => self.section_name(section),
            (name, _) => name,
        };
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// The name of a section of the object.
    pub fn section_name(&self, section: u32) -> &'a [u8] {
        self.resolved.objects[0].section_name(section as usize).unwrap_or_default()
    }

    /// The groups that have lost, each with the symbols that the object defines in it.
    pub fn lost_groups(&self) -> Vec<(&Group, Vec<u32>)> {
        let object = &self.resolved.objects[0];
        let mut groups: Vec<_> = object.groups.iter().map(|group| (group, Vec::new())).collect();
        each_definition(object, |group, symbol| groups[group].1.push(symbol));
        groups.retain(|(group, _)| self.lost.contains(group.shndx));
        groups
    }

    /// The object.
    pub fn object(&self) -> &Object<'a> {
        &self.resolved.objects[0]
    }

    /// Whether a section has instructions that some processors execute wrongly if it lies at an address, if options ask for
    /// that; or data that looks like these.
    fn has_erratum(&self, section: u32, address: Address) -> bool {
        let errata =
            self.known.machine.facts().branches.as_ref().and_then(|branches| branches.errata.as_ref());
        let code = self.resolved.objects[0].section_data(section as usize).unwrap_or_default();
        let asked = &self.known.options.layout.errata;
        let mut is_any = false;
        for erratum in errata.iter().flat_map(|errata| errata.list) {
            if asked.contains(&erratum.option) {
                (erratum.find)(code, address, &mut |_, _| is_any = true);
            }
        }
        is_any
    }

    /// Whether all that relocations ask for is there.
    fn check(&self, relocs: &[Rela]) -> Result<(), Missing> {
        let facts = self.known.machine.facts();
        let packs = self.known.options.relocs.pack_relr;
        for reloc in relocs {
            match facts.class(reloc.kind()) {
                class @ Class::Size => return Err(Missing::Class(class)),
                class @ Class::Signed if packs => return Err(Missing::Class(class)),
                _ => {}
            }
        }
        Ok(())
    }

    fn image<'i>(&'i self, sink: &'i DiagSink) -> Image<'i, 'a> {
        let (row, options) = (&self.known.state.image, self.known.options);
        Image {
            resolved: &self.resolved,
            sections: &self.sections,
            symbols: &self.symbols,
            live: &self.live,
            slots: &self.slots,
            dynsym: None,
            layout: &self.layout,
            merged: &self.merged,
            thunks: &self.thunks,
            options,
            sink,
            mode: self.known.mode(),
            bases: Bases {
                got: Address::new(row.got),
                got_plt: Address::new(row.got_plt),
                got_base: Address::new(row.got_base),
                plt: Address::new(row.plt),
                plt_sec: Address::new(row.plt_sec),
                iplt: Address::new(row.iplt),
                tls_start: Address::new(row.tls_start),
                thread_pointer: Address::new(row.thread_pointer),
                slot: self.known.machine.facts().slot(),
            },
            relax_got: row.relax_got != 0,
            pointer: (row.has_pointer != 0).then_some(Address::new(row.pointer)),
            plt: plt::Style::of_code(row.plt_style).unwrap_or(plt::Style::Ordinary),
            relr: options.relocs.pack_relr,
            reloc_form: self.known.machine.facts().reloc_form(),
            tagged: None,
            far: &[],
            local_words: &[],
            further_gots: None,
            toc_words: &[],
            joined: None,
        }
    }
}

impl Known<'_> {
    fn mode(&self) -> Mode {
        Mode::new(self.options, self.machine, self.state.image.has_shared != 0)
    }
}

/// The object with these bytes.
///
/// # Errors
/// If there is something wrong with it.
pub fn parse<'a>(data: &'a [u8], machine: Machine, store: &'a InputStore<'a>) -> Result<Object<'a>, Missing> {
    let name = FileName { path: "".into(), member: None };
    let reading = Reading { machine: machine.facts(), store, parallel: false };
    Object::parse(tables::FILE, name, data, reading).map_err(|_| Missing::Object)
}
