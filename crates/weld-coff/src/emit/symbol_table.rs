//! The symbol table of an image, and the string table after it.
//!
//! Images need neither. Tools and debuggers that know no CodeView find symbols there (`/debug:symtab`), and
//! names of sections that are longer than the section table has room for. Only sections that are not loaded
//! have such names there: nothing loads the string table, so other names are cut. A symbol that several
//! objects name is written once, for the first of them.
//!
//! Source: "PE Format", COFF Symbol Table, COFF String Table.

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::{par, zeroed};

use crate::arch::Place;
use crate::coff::object::{ABSOLUTE, Symbol as Record};
use crate::coff::pe;
use crate::ids::{ObjectId, SymbolId};
use crate::input::object::Object;
use crate::layout::OutputSection;
use crate::resolve;
use crate::resolve::imports::import_symbol;
use crate::symbol_names::{Rank, SOFT};
use crate::symbols;
use crate::symbols::{Kind, Symbol};
use crate::synth::image::Image;

/// Bytes of a symbol, and of the name in it.
const SYMBOL: usize = 18;
const NAME: usize = 8;

/// Objects of a run.
const OBJECTS: usize = 16;

const EXTERNAL: u8 = pe::IMAGE_SYM_CLASS_EXTERNAL.0;
/// The type of a function.
const FUNCTION: u16 = 0x20;

/// Values that say something of an object to its linker.
pub const NO_SYMBOLS: [&[u8]; 2] = [b"@comp.id", b"@feat.00"];

#[derive(Default)]
pub struct SymbolTable {
    /// Symbols, then strings with their size.
    pub bytes: Vec<u8>,
    pub count: u32,
    /// Where in the string table the names of output sections are.
    pub section_names: Vec<Option<u32>>,
}

/// Whether a section's name lies in the string table.
pub fn has_long_name(out: &OutputSection) -> bool {
    out.name.len() > NAME && out.flags & pe::IMAGE_SCN_MEM_DISCARDABLE.0 != 0
}

/// In place of an object: the symbol has been written.
const WRITTEN: u32 = u32::MAX;

/// Symbols of a run of objects, with strings of their own.
#[derive(Default)]
struct Run {
    symbols: Vec<[u8; SYMBOL]>,
    /// Symbols whose names are strings.
    long: Vec<u32>,
    strings: Vec<u8>,
}

impl SymbolTable {
    pub fn new(image: &Image, parallel: bool) -> SymbolTable {
        let mut strings = vec![0; 4];
        let mut section_names = Vec::with_capacity(image.layout.outs.len());
        for out in &image.layout.outs {
            let long = has_long_name(out);
            section_names.push(long.then_some(strings.len() as u32));
            if long {
                strings.extend_from_slice(&out.name);
                strings.push(0);
            }
        }
        let runs = if image.options.debug.symtab { symbols(image, parallel) } else { Vec::new() };
        let mut bytes = Vec::new();
        let mut count = 0;
        for mut run in runs {
            for &at in &run.long {
                let symbol = &mut run.symbols[at as usize];
                let [.., a, b, c, d] = *symbol.first_chunk::<NAME>().unwrap_or(&[0; NAME]);
                let place = u32::from_le_bytes([a, b, c, d]) + strings.len() as u32;
                symbol[4..NAME].copy_from_slice(&place.to_le_bytes());
            }
            count += run.symbols.len() as u32;
            bytes.extend_from_slice(run.symbols.as_flattened());
            strings.append(&mut run.strings);
        }
        if count > 0 || strings.len() > 4 {
            let size = strings.len() as u32;
            strings[..4].copy_from_slice(&size.to_le_bytes());
            bytes.extend_from_slice(&strings);
        }
        SymbolTable { bytes, count, section_names }
    }
}

fn symbols(image: &Image, parallel: bool) -> Vec<Run> {
    let objects = &image.resolved.objects;
    // Of each name the first object that has it, counted from the end, so that nothing is 0.
    let first: Vec<AtomicU32> = zeroed::sparse(image.resolved.names.id_bound());
    let rank = |object: usize| (objects.len() - object) as u32;
    _ = par::runs("first objects of symbols", parallel, objects.len(), OBJECTS, |run| {
        for object in run {
            for name in objects[object].globals() {
                let first = &first[name.index()];
                // Most have been named by an object before.
                if first.load(Ordering::Relaxed) < rank(object) {
                    first.fetch_max(rank(object), Ordering::Relaxed);
                }
            }
        }
    });
    par::runs("symbol table", parallel, objects.len(), OBJECTS, |run| {
        let mut out = Run::default();
        for object in run {
            let is_first =
                |name: SymbolId| first[name.index()].swap(WRITTEN, Ordering::Relaxed) == rank(object);
            let own = |name: SymbolId| {
                first[name.index()].load(Ordering::Relaxed) == rank(object) && is_first(name)
            };
            let is_named = |name: SymbolId| first[name.index()].load(Ordering::Relaxed) != 0;
            of_object(image, ObjectId(object as u32), &objects[object], own, is_named, &mut out);
        }
        out
    })
}

/// Adds the symbols of an object; names that others see if `own` says so, which it does once.
fn of_object(
    image: &Image,
    id: ObjectId,
    object: &Object,
    own: impl Fn(SymbolId) -> bool,
    is_named: impl Fn(SymbolId) -> bool,
    out: &mut Run,
) {
    for (index, record) in object.coff.symbols.iter() {
        if let Some(name) = object.global(index) {
            if own(name) {
                global(image, name, out);
                // A jump brings along the place with the address that it goes to.
                let place = imported_by(image, name).filter(|place| !is_named(*place));
                place.into_iter().for_each(|place| global(image, place, out));
            }
            continue;
        }
        let is_label = record.class == pe::IMAGE_SYM_CLASS_LABEL.0;
        if is_label || object.coff.symbols.section_definition(index, &record).is_some() {
            continue;
        }
        let Ok(name) = object.coff.symbol_name(&record) else { continue };
        let is_value = record.section == ABSOLUTE;
        if (record.section > 0 || is_value) && !(is_value && NO_SYMBOLS.contains(&name)) {
            let symbol = symbols::local(image.sections, id, object, index);
            out.add(image, name, symbol, record.typ, record.class);
        }
    }
}

/// The place with the address of a function, if `name` is the jump to that function.
fn imported_by(image: &Image, name: SymbolId) -> Option<SymbolId> {
    let entry = image.resolved.names.get(name);
    match image.resolved.places.get(entry.file().index()) {
        Some(resolve::Place::Import(id)) if entry.rank() == SOFT => {
            let [place, plain] = image.resolved.imports[id.index()].symbols;
            (plain == name && place.is_some()).then_some(place)
        }
        _ => None,
    }
}

fn global(image: &Image, name: SymbolId, out: &mut Run) {
    let entry = image.resolved.names.get(name);
    let (typ, class) = match (entry.rank(), image.resolved.places.get(entry.file().index())) {
        (Rank::Strong | SOFT, Some(resolve::Place::Object(id))) => {
            let record = image.object(*id).coff.symbols.get(entry.sym());
            record.map_or((0, EXTERNAL), |record: Record| (record.typ, record.class))
        }
        (SOFT, Some(resolve::Place::Import(_))) if entry.sym() == import_symbol::PLAIN => {
            (FUNCTION, EXTERNAL)
        }
        _ => (0, EXTERNAL),
    };
    out.add(image, entry.name, image.symbols.get(name), typ, class);
}

impl Run {
    /// Adds a symbol if it is in the image or a value.
    fn add(&mut self, image: &Image, name: &[u8], symbol: Symbol, typ: u16, class: u8) {
        let (value, section) = match (symbol.kind, image.place(symbol)) {
            (Kind::Absolute, _) => (symbol.value as u32, ABSOLUTE as u16),
            (Kind::Section | Kind::ImportAddress, Place::At(rva)) => {
                let Some(out) = image.layout.out_of(image.part(symbol), rva) else { return };
                (rva.wrapping_sub(image.layout.outs[out].rva), out as u16 + 1)
            }
            _ => return,
        };
        let mut bytes = [0; SYMBOL];
        match name.len() {
            0..=NAME => bytes[..name.len()].copy_from_slice(name),
            _ => {
                self.long.push(self.symbols.len() as u32);
                bytes[4..NAME].copy_from_slice(&(self.strings.len() as u32).to_le_bytes());
                self.strings.extend_from_slice(name);
                self.strings.push(0);
            }
        }
        bytes[8..12].copy_from_slice(&value.to_le_bytes());
        bytes[12..14].copy_from_slice(&section.to_le_bytes());
        bytes[14..16].copy_from_slice(&typ.to_le_bytes());
        bytes[16] = class;
        self.symbols.push(bytes);
    }
}
