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

use super::keys;
use super::memo::Digest;
use crate::arch::{Rules, with_rules};
use crate::coff::identify::{Kind, identify};
use crate::coff::machine::Machine;
use crate::coff::object::{ObjectFile, Relocation, SectionHeader};
use crate::coff::pe;
use crate::emit;
use crate::ids::{ObjectId, SectionId};
use crate::layout::rooms;
use crate::sections::{Kind as SectionKind, Section};
use crate::symbols::{self, Kind as SymbolKind};
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
    /// What it is to the object, wherever it stands in it ([`super::keys`]).
    pub key: u32,
    /// It is in a part that programs may walk from end to end ([`rooms::is_walked`]).
    pub is_walked: bool,
}

/// The row of a section.
pub fn row_of(rows: &[Row], section: u32) -> Option<&Row> {
    rows.binary_search_by_key(&section, |row| row.number).ok().map(|at| &rows[at])
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
    /// The link looks at them, or changes them: then the object is relinked in bytes of its other sections only.
    Read,
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

    /// Bytes that nobody else may have while it has them.
    pub fn taken(&self) -> u32 {
        self.room().max(1)
    }
}

/// What stands for the number of an output section where it is the PDB.
pub const DEBUG: u32 = u16::MAX as u32;
/// The same where it is nowhere: another object's section is in its place, whatever this one holds.
pub const DROPPED: u32 = DEBUG - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    pub shape: Digest,
    pub contents: Digest,
}

/// Symbols and lines for the PDB, and how all that is for debuggers begins.
pub const SYMBOLS: [u8; 8] = *b".debug$S";
pub const DEBUGGERS: &[u8] = b".debug$";
const TYPES: &[u8] = b".debug$T";

/// Parts of sections' names whose bytes the link looks at.
pub const READ: [&[u8]; 5] = [b".idata", b".edata", b".rsrc", b".sxdata", b".didat"];

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
    let keys = keys::of(&object.coff);
    let key =
        |number: u32| keys.as_ref().and_then(|keys| keys.get(number as usize - 1)).copied().unwrap_or(0);
    let first = image.sections.first[id.index()];
    let all = first..image.sections.first[id.index() + 1];
    let mut is_all = true;
    let row = |number: u32| {
        let (owner, id) = (id, SectionId(number));
        let section: &Section = image.sections.get(id);
        let elsewhere = |out: u32| {
            let (size, key) = (image.contents(section).len() as u32, key(section.number));
            let (number, offset) = (section.number, owner.0);
            Some(Row { number, out, offset, size, step: 0, is: Is::Copied, key, is_walked: false })
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
        let part = &image.sections.parts[section.part as usize];
        let name = &part.name;
        let rva = image.layout.rva(id);
        let is = match name.starts_with(emit::FUNCTIONS) {
            true if image.facts().function > 0 => Is::Sorted,
            true => Is::Read,
            false if section.is_bss() || section.size == 0 => Is::Empty,
            false => Is::Copied,
        };
        let is_plain = is != Is::Read
            && section.kind == SectionKind::Regular
            && rva.get() != 0
            && (is == Is::Empty || image.contents(section).len() == section.size as usize)
            && !changed.contains(&Some(id))
            && !compared.contains(&section.number)
            && !READ.iter().any(|part| name.starts_with(part));
        let is = if is_plain { is } else { Is::Read };
        let out = image.layout.out_of(Some(section.part), rva).filter(|_| rva.get() != 0)?;
        let place = &image.layout.outs[out];
        let offset = rva - place.rva;
        let is_in_file = u64::from(offset) + u64::from(section.size) <= place.raw_size;
        let step = image.rooms.map_or(0, |rooms| rooms.step(section));
        let (number, out, size) = (section.number, out as u32, section.size);
        let is = if is_in_file || is != Is::Copied { is } else { Is::Read };
        let is_walked = rooms::is_walked(name, part.flags);
        Some(Row { number, out, offset, size, step, is, key: key(number), is_walked })
    };
    let rows = all
        .filter_map(|number| {
            let found = row(number);
            let section = image.sections.get(SectionId(number));
            is_all &= found.as_ref().is_some_and(|row: &Row| row.is != Is::Read)
                || !section.is_in_image()
                || !image.live.has(SectionId(number));
            found
        })
        .collect();
    (rows, is_all && keys.is_some())
}

/// What of an object must be as it was so that its sections may be others, as hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// What its types are, which may be others; then some may be gone.
    pub types: u64,
    /// What it defines that is in no section, and what stands for another name.
    pub definitions: u64,
    /// All else that is not in `rows`.
    pub rest: u64,
}

/// The frame of an object; `None` if it is malformed. `pdb`: there is one.
pub fn frame(coff: &ObjectFile, pdb: bool, rows: &[Row]) -> Option<Frame> {
    let (mut definitions, mut types, mut rest) = (Hasher::new(1), Hasher::new(2), Hasher::new(3));
    rest.word(coff.machine.map_or(0, |machine| machine.number().into()));
    for (index, symbol) in coff.symbols.iter() {
        let is_elsewhere = symbol.section < 0 || symbol.is_common() || symbol.is_weak_external();
        if symbol.is_global() && is_elsewhere {
            let (_, hash) = coff.hashed_name(&symbol).ok()?;
            definitions.word(hash);
            definitions.word(u64::from(symbol.typ) << 8 | u64::from(symbol.class));
            definitions.word(symbol.value.into());
            if let Some((of, how)) = coff.symbols.weak_external(index, &symbol) {
                let (_, hash) = coff.hashed_name(&coff.symbols.get(of)?).ok()?;
                definitions.word(hash ^ u64::from(how));
            }
        }
    }
    let mut rows = rows.iter().peekable();
    for (number, header) in (1..).zip(coff.sections) {
        let name = coff.section_name(header).ok()?;
        let is_debugging = name.starts_with(DEBUGGERS);
        // It says of which functions the address counts, which matters to folding only.
        let is_useless = name == b".llvm_addrsig" || is_debugging && !pdb;
        if rows.next_if(|row| row.number == number).is_some() || is_useless {
            continue;
        }
        if name == TYPES {
            types.bytes(coff.contents(header).ok()?);
            continue;
        }
        rest.bytes(name);
        rest.word(header.characteristics.get(LE).0.into());
        rest.bytes(coff.contents(header).ok()?);
        for relocation in coff.relocations(header).ok()? {
            rest.word(relocation.virtual_address.get(LE).into());
            let symbol = coff.symbols.get(relocation.symbol_table_index.get(LE))?;
            rest.word(coff.hashed_name(&symbol).ok()?.1);
            rest.word(relocation.typ.get(LE).0.into());
        }
    }
    let (definitions, types, rest) = (definitions.finish(), types.finish(), rest.finish());
    rows.next().is_none().then_some(Frame { types, definitions, rest })
}

/// The symbols that the entries of a table of functions begin with, which have so many bytes; `None` if one begins with
/// anything else.
pub fn functions(coff: &ObjectFile, section: u32, entry: usize) -> Option<Vec<u32>> {
    let header = coff.section(section)?;
    let count = coff.contents(header).ok()?.len() / entry.max(1);
    let relocations = coff.relocations(header).ok()?.iter();
    let is_begin =
        |relocation: &&Relocation| (relocation.virtual_address.get(LE) as usize).is_multiple_of(entry);
    let mut begins: Vec<(u32, u32)> = relocations
        .filter(is_begin)
        .map(|relocation| (relocation.virtual_address.get(LE), relocation.symbol_table_index.get(LE)))
        .collect();
    begins.sort_unstable();
    begins.dedup_by_key(|(at, _)| *at);
    (begins.len() == count).then(|| begins.into_iter().map(|(_, symbol)| symbol).collect())
}

/// Whether what an object's table of functions says is about the object's own functions.
pub fn has_own_functions(image: &Image, id: ObjectId, rows: &[Row]) -> bool {
    let object = image.object(id);
    let is_own = |index: u32| {
        let symbol = symbols::of_object(image.symbols, image.sections, id, object, index);
        if symbol.kind != SymbolKind::Section {
            return false;
        }
        let section = image.sections.get(SectionId(symbol.target));
        let row = row_of(rows, section.number).filter(|row| row.is_in_image() && row.is != Is::Sorted);
        let is_inside = row.is_some_and(|row| symbol.value < row.size.into());
        image.made(section).is_none() && section.object == id && is_inside
    };
    let mut tables = rows.iter().filter(|row| row.is == Is::Sorted && row.is_in_image());
    tables.all(|row| {
        let begins = functions(&object.coff, row.number, image.facts().function);
        begins.is_some_and(|begins| begins.into_iter().all(is_own))
    })
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
            // It has a size, and no bytes, if it is one of zeroes.
            Some(row) if row.out == DROPPED => {}
            Some(row) if row.is != Is::Copied => shape.bytes(bytes),
            Some(row) if row.size as usize != bytes.len() => return None,
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
    const SIZE: usize = 20;

    fn put(&self, out: &mut Vec<u8>) {
        let bits = (self.is as u32) << IS | u32::from(self.is_walked) << WALKED;
        let (number, place) = (self.number | bits, self.out | self.step << 16);
        [number, place, self.offset, self.size, self.key].iter().for_each(|word| word.put(out));
    }

    fn store(&self, out: &mut [u8]) {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        out.copy_from_slice(&bytes);
    }

    fn take(rest: &mut &[u8]) -> Option<Row> {
        let mut word = || u32::take(rest);
        let (number, place, offset) = (word()?, word()?, word()?);
        let (size, key) = (word()?, word()?);
        let is = [Is::Copied, Is::Empty, Is::Sorted, Is::Read][(number >> IS) as usize];
        let is_walked = number >> WALKED & 1 != 0;
        let number = number & ((1 << WALKED) - 1);
        Some(Row { number, out: place & 0xffff, offset, size, step: place >> 16, is, key, is_walked })
    }
}

/// Where in the word with a section's number it is said what becomes of its bytes, and whether programs may walk its part.
const IS: u32 = 30;
const WALKED: u32 = 29;
