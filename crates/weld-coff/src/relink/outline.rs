//! What a link takes from an object, as two digests: its *shape*, on which everything depends, and the *contents* of
//! sections that are copied to a place of their own, on which nothing does but the bytes of that place.
//!
//! The shape is all of the object but for what no link looks at (when it was made, and where in the file things are,
//! and checksums of sections), and but for the contents. Of these it has the fields that relocations change: so if the
//! shape is as it was, these fields of the image are, too. Sections whose bytes the link looks at, or changes
//! otherwise, are no such sections: tables of functions, imports, resources, what is kept only if it is the
//! same in all objects, thread-local storage's directory, the load configuration. What is for debuggers is so in parts
//! (`weld_pdb::patch`): a line's number is copied into the PDB, and a type's is another there. Without a PDB nobody
//! reads it.

use std::collections::HashSet;
use std::ops::Range;

use ::object::LittleEndian as LE;
use weld_common::digest::UnitDigest;
use weld_common::hash::Hasher;
use weld_common::relink::fields::*;
use weld_pdb::patch;

use super::memo::Digest;
use crate::arch::{Rules, with_rules};
use crate::coff::identify::{Kind, identify};
use crate::coff::machine::Machine;
use crate::coff::object::{ObjectFile, Relocation, SectionHeader, alignment, is_uninitialized};
use crate::coff::pe;
use crate::emit;
use crate::ids::{ObjectId, SectionId};
use crate::layout::rooms;
use crate::sections::{Kind as SectionKind, Section};
use crate::symbols::Kind as SymbolKind;
use crate::synth::image::Image;

/// Where a section of an object is: its number, in which output section and where in that, its size, and by which steps
/// it may grow ([`rooms::up`]). Of what goes to the PDB, [`DEBUG`] and the number of the module; of what another
/// object's stands for, [`DROPPED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub number: u32,
    /// From 0.
    pub out: u32,
    pub offset: u32,
    pub size: u32,
    pub step: u32,
    pub is: Is,
}

/// What becomes of a section's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// They are copied to its place.
    Copied,
    /// It has none, and its place is what counts.
    Empty,
    /// They are sorted with those of other objects: the table of functions.
    Sorted,
}

impl Row {
    /// Bytes that it has in the image, with its room.
    pub fn room(&self) -> u32 {
        rooms::up(self.size, self.step)
    }

    /// Whether it lies in the image.
    pub fn is_in_image(&self) -> bool {
        self.out != DEBUG && self.out != DROPPED
    }
}

/// What stands for the number of an output section where it is the PDB.
pub const DEBUG: u32 = u32::MAX;
/// The same where it is nowhere: another object's section is in its place, whatever this one holds.
pub const DROPPED: u32 = u32::MAX - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    pub shape: Digest,
    pub contents: Digest,
}

/// Symbols and lines for the PDB, and how all that is for debuggers begins.
const SYMBOLS: [u8; 8] = *b".debug$S";
const DEBUGGERS: &[u8] = b".debug$";

/// Parts of sections' names whose bytes the link looks at.
const READ: [&[u8]; 5] = [b".idata", b".edata", b".rsrc", b".sxdata", b".didat"];

/// The sections of an object that are in the image or the PDB, in their order, and whether these are all: then they may
/// have other sizes.
pub fn rows(image: &Image, id: ObjectId) -> (Vec<Row>, bool) {
    let object = image.object(id);
    // What decides by contents which one stays.
    let compared: HashSet<u32> = object
        .coff
        .symbols
        .iter()
        .filter_map(|(index, symbol)| {
            let definition = object.coff.symbols.section_definition(index, &symbol)?;
            (definition.selection == pe::IMAGE_COMDAT_SELECT_EXACT_MATCH.0).then_some(symbol.section as u32)
        })
        .collect();
    // What is changed besides by relocations.
    let program = &image.resolved.program;
    let changed = [program.tls, program.load_config].map(|name| {
        let symbol = image.symbols.get(name?);
        (symbol.kind == SymbolKind::Section).then_some(SectionId(symbol.target))
    });
    let first = image.sections.first[id.index()];
    let all = first..image.sections.first[id.index() + 1];
    let mut is_all = true;
    let row = |number: u32| {
        let (owner, id) = (id, SectionId(number));
        let section: &Section = image.sections.get(id);
        let elsewhere = |out: u32| {
            let size = image.contents(section).len() as u32;
            Some(Row { number: section.number, out, offset: owner.0, size, step: 0, is: Is::Copied })
        };
        if section.kind == SectionKind::Discarded && !compared.contains(&section.number) {
            return elsewhere(DROPPED);
        }
        if section.kind == SectionKind::CodeView {
            let is_read = image.options.debug.pdb && image.header(section).name == SYMBOLS;
            let is_wanted = || image.live.is_wanted(image.sections, owner, object, section.number);
            return if is_read { elsewhere(if is_wanted() { DEBUG } else { DROPPED }) } else { None };
        }
        if !section.is_in_image() || !image.live.has(id) {
            return None;
        }
        let name = &image.sections.parts[section.part as usize].name;
        let rva = image.layout.rva(id);
        let is = match name.starts_with(emit::FUNCTIONS) {
            true if image.facts().function > 0 => Is::Sorted,
            true => return None,
            false if section.is_bss() || section.size == 0 => Is::Empty,
            false => Is::Copied,
        };
        let is_plain = section.kind == SectionKind::Regular
            && rva.get() != 0
            && (is == Is::Empty || image.contents(section).len() == section.size as usize)
            && !changed.contains(&Some(id))
            && !compared.contains(&section.number)
            && !READ.iter().any(|part| name.starts_with(part));
        let out = image.layout.out_of(Some(section.part), rva).filter(|_| is_plain)?;
        let place = &image.layout.outs[out];
        let offset = rva - place.rva;
        let is_in_file = u64::from(offset) + u64::from(section.size) <= place.raw_size;
        let step = image.rooms.map_or(0, |rooms| rooms.step(section));
        let (number, out, size) = (section.number, out as u32, section.size);
        (is_in_file || is != Is::Copied).then_some(Row { number, out, offset, size, step, is })
    };
    let rows = all
        .filter_map(|number| {
            let found = row(number);
            let section = image.sections.get(SectionId(number));
            is_all &= found.is_some() || !section.is_in_image() || !image.live.has(SectionId(number));
            found
        })
        .collect();
    (rows, is_all)
}

/// The rows of an object whose sections may have other sizes; the first section that has not got the room.
pub fn resized<'a>(coff: &ObjectFile<'a>, rows: &[Row]) -> Result<Vec<Row>, &'a [u8]> {
    let resized = |row: &Row| {
        let header = coff.section(row.number).ok_or(&b""[..])?;
        let name = || coff.section_name(header).unwrap_or_default();
        let size = match is_uninitialized(header) {
            true => header.size_of_raw_data.get(LE),
            false => coff.contents(header).map_err(|_| name())?.len() as u32,
        };
        let now = Row { size, ..*row };
        let is_fitting = !row.is_in_image() || now.room() == row.room();
        if is_fitting { Ok(now) } else { Err(name()) }
    };
    rows.iter().map(resized).collect()
}

/// What of an object must be as it was so that its sections may have other sizes, as hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Which sections there are, and how they are chosen.
    pub sections: u64,
    /// What it defines for others, in order.
    pub definitions: u64,
    /// What its types are.
    pub types: u64,
    /// All else that is not in `rows`.
    pub rest: u64,
}

const BY_SIZE: [u8; 2] = [pe::IMAGE_COMDAT_SELECT_SAME_SIZE.0, pe::IMAGE_COMDAT_SELECT_LARGEST.0];

/// What a section's header says but for its alignment, where that does not matter.
fn told_characteristics(characteristics: u32, step: u32) -> u32 {
    match alignment(characteristics) {
        Some(align) if align <= rooms::least_align(step) => characteristics & !pe::IMAGE_SCN_ALIGN_MASK,
        _ => characteristics,
    }
}

/// The frame of an object; `None` if it is malformed. `pdb`: there is one.
pub fn frame(coff: &ObjectFile, pdb: bool, rows: &[Row]) -> Option<Frame> {
    let mut sections = Hasher::new(coff.machine.map_or(0, |machine| machine.number().into()));
    let (mut definitions, mut types, mut rest) = (Hasher::new(1), Hasher::new(2), Hasher::new(3));
    sections.word(coff.sections.len() as u64);
    for (index, symbol) in coff.symbols.iter() {
        if let Some(definition) = coff.symbols.section_definition(index, &symbol) {
            let word = u64::from(definition.number) << 8 | u64::from(definition.selection);
            sections.word((symbol.section as u64) << 40 ^ word);
            // Sizes may decide which one is kept, or whether that is right.
            if BY_SIZE.contains(&definition.selection) {
                sections.word(coff.section(symbol.section as u32)?.size_of_raw_data.get(LE).into());
            }
        }
        let is_definition = symbol.section != 0 || symbol.is_common() || symbol.is_weak_external();
        if symbol.is_global() && is_definition {
            let (_, hash) = coff.hashed_name(&symbol).ok()?;
            definitions.word(hash);
            definitions
                .word((symbol.section as u64) << 32 | u64::from(symbol.typ) << 8 | u64::from(symbol.class));
            if symbol.section <= 0 {
                definitions.word(symbol.value.into());
            }
            if let Some((of, how)) = coff.symbols.weak_external(index, &symbol) {
                let (_, hash) = coff.hashed_name(&coff.symbols.get(of)?).ok()?;
                definitions.word(hash ^ u64::from(how));
            }
        }
    }
    let mut rows = rows.iter().peekable();
    for (number, header) in (1..).zip(coff.sections) {
        let name = coff.section_name(header).ok()?;
        sections.bytes(name);
        let step = rows.peek().filter(|row| row.number == number).map_or(0, |row| row.step);
        sections.word(told_characteristics(header.characteristics.get(LE).0, step).into());
        let is_debugging = name.starts_with(DEBUGGERS);
        // It says of which functions the address counts, which matters to folding only.
        let is_useless = name == b".llvm_addrsig" || is_debugging && !pdb;
        if rows.next_if(|row| row.number == number).is_some() || is_useless {
            continue;
        }
        let of = if is_debugging { &mut types } else { &mut rest };
        of.word(number.into());
        of.bytes(coff.contents(header).ok()?);
        for relocation in coff.relocations(header).ok()? {
            of.word(relocation.virtual_address.get(LE).into());
            let symbol = coff.symbols.get(relocation.symbol_table_index.get(LE))?;
            of.word(coff.hashed_name(&symbol).ok()?.1);
            of.word(relocation.typ.get(LE).0.into());
        }
    }
    let (sections, definitions) = (sections.finish(), definitions.finish());
    rows.next().is_none().then(|| Frame { sections, definitions, types: types.finish(), rest: rest.finish() })
}

/// A file as an object, if it is one.
pub fn object(bytes: &[u8]) -> Option<ObjectFile<'_>> {
    match identify(bytes) {
        Kind::Object => ObjectFile::parse(bytes, false).ok(),
        Kind::BigObject => ObjectFile::parse(bytes, true).ok(),
        _ => None,
    }
}

/// The outline of an object of which the sections of `rows` are copied; `None` if it is malformed, or does not have
/// them. `pdb`: there is one.
pub fn of(coff: &ObjectFile, (machine, pdb): (Machine, bool), rows: &[Row]) -> Option<Outline> {
    let is_read = |header: &SectionHeader| pdb || !header.name.starts_with(DEBUGGERS);
    let (mut shape, mut contents) = (Sum::default(), Sum::default());
    shape.number(coff.machine.map_or(0, |machine| machine.number().into()));
    shape.number(coff.sections.len() as u32);
    let (symbols, names) = coff.symbol_bytes();
    let mut symbols = symbols.to_vec();
    for (index, symbol) in coff.symbols.iter() {
        if coff.symbols.section_definition(index, &symbol).is_some() {
            let (at, _) = coff.symbols.place(coff.data, index + 1)?;
            let (start, _) = coff.symbols.place(coff.data, 0)?;
            // The checksum; in front of it are the size, how many relocations there are, and lines.
            let is_read = coff.section(symbol.section as u32).is_none_or(is_read);
            symbols.get_mut(at - start + if is_read { 8 } else { 0 }..at - start + 12)?.fill(0);
        }
    }
    shape.bytes(&symbols);
    shape.bytes(names);
    let mut rows = rows.iter().peekable();
    for (number, header) in (1..).zip(coff.sections) {
        shape.bytes(&header.name);
        if !is_read(header) {
            shape.number(header.characteristics.get(LE).0);
            continue;
        }
        shape.number(header.virtual_size.get(LE));
        shape.number(header.virtual_address.get(LE));
        shape.number(header.size_of_raw_data.get(LE));
        shape.number(header.characteristics.get(LE).0);
        let relocations = coff.relocations(header).ok()?;
        shape.number(relocations.len() as u32);
        for relocation in relocations {
            shape.number(relocation.virtual_address.get(LE));
            shape.number(relocation.symbol_table_index.get(LE));
            shape.number(relocation.typ.get(LE).0.into());
        }
        let bytes = coff.contents(header).ok()?;
        match rows.next_if(|row| row.number == number) {
            None => shape.bytes(bytes),
            Some(row) if row.is != Is::Copied => shape.bytes(bytes),
            Some(row) if row.size as usize != bytes.len() => return None,
            Some(row) if row.out == DROPPED => {}
            Some(row) if row.out == DEBUG => {
                let fields = fields(relocations, machine, bytes.len())?;
                let mut rest = bytes.to_vec();
                for piece in patch::pieces(bytes, &fields)?.list {
                    contents.bytes(&bytes[piece.range.clone()]);
                    rest[piece.range].fill(0);
                }
                shape.bytes(&rest);
            }
            Some(_) => {
                for field in fields(relocations, machine, bytes.len())? {
                    shape.bytes(&bytes[field]);
                }
                contents.bytes(bytes);
            }
        }
    }
    rows.next().is_none().then(|| Outline { shape: shape.digest(), contents: contents.digest() })
}

/// What relocations change of a section of this size, in order; `None` if one is malformed.
pub fn fields(relocations: &[Relocation], machine: Machine, size: usize) -> Option<Vec<Range<usize>>> {
    let field = |relocation: &Relocation| {
        let start = relocation.virtual_address.get(LE) as usize;
        let end = start.checked_add(with_rules!(machine, bytes_of(relocation.typ.get(LE).0))?)?;
        (end <= size).then_some(start..end)
    };
    let mut fields: Vec<Range<usize>> = relocations.iter().map(field).collect::<Option<_>>()?;
    fields.sort_unstable_by_key(|field| (field.start, field.end));
    Some(fields)
}

fn bytes_of<R: Rules>(typ: u16) -> Option<usize> {
    R::size(typ)
}

/// A digest of many pieces, of which large ones are hashed by themselves.
#[derive(Default)]
struct Sum(Vec<u8>);

impl Sum {
    fn number(&mut self, number: u32) {
        number.put(&mut self.0);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        const SMALL: usize = 64;
        (bytes.len() as u64).put(&mut self.0);
        match bytes.len() {
            ..=SMALL => self.0.extend_from_slice(bytes),
            _ => self.0.extend_from_slice(&UnitDigest::of(bytes).bytes()),
        }
    }

    fn digest(&self) -> Digest {
        UnitDigest::of(&self.0).bytes()
    }
}

impl Field for Row {
    const SIZE: usize = 24;

    fn put(&self, out: &mut Vec<u8>) {
        let is = self.is as u32;
        [self.number, self.out, self.offset, self.size, self.step, is].iter().for_each(|word| word.put(out));
    }

    fn store(&self, out: &mut [u8]) {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        out.copy_from_slice(&bytes);
    }

    fn take(rest: &mut &[u8]) -> Option<Row> {
        let mut word = || u32::take(rest);
        let (number, out, offset) = (word()?, word()?, word()?);
        let (size, step, is) = (word()?, word()?, word()?);
        let is = [Is::Copied, Is::Empty, Is::Sorted].into_iter().find(|one| *one as u32 == is)?;
        Some(Row { number, out, offset, size, step, is })
    }
}
