//! Maps: what lies where. `/lldmap` has a line for each input section and symbol, in lld's form; `/map` has
//! parts and public symbols by address, then those that only their objects see, in the form of Microsoft's
//! linker.

use std::fmt::Write;

use weld_common::{par, text};

use crate::address::Rva;
use crate::arch::Place;
use crate::coff::object::ABSOLUTE;
use crate::coff::pe;
use crate::emit::symbol_table::NO_SYMBOLS;
use crate::ids::{ObjectId, SectionId, SymbolId};
use crate::input::object::Object;
use crate::options::Timestamp;
use crate::resolve;
use crate::symbol_names::Rank;
use crate::symbols::{self, Kind, Symbol, SyntheticSection};
use crate::synth::image::Image;

/// Sections, and objects, of a run.
const RUN: usize = 1024;
const OBJECTS: usize = 16;

/// `/lldmap`.
pub fn lld_map(image: &Image, parallel: bool) -> String {
    let own = par::runs("symbols for the map", parallel, image.resolved.objects.len(), OBJECTS, |run| {
        run.map(|i| symbols_of(&image.resolved.objects[i])).collect::<Vec<_>>()
    });
    let own: Vec<Vec<(u32, u32, u32)>> = own.into_iter().flatten().collect();
    let mut all = "Address  Size     Align Out     In      Symbol\n".to_owned();
    for out in &image.layout.outs {
        let name = text::text(&out.name);
        let _ =
            writeln!(all, "{:08x} {:08x} {:5} {name}", out.rva, out.virtual_size, image.options.layout.align);
        let members = &image.layout.order[out.members.clone()];
        let parts = par::runs("lines of the map", parallel, members.len(), RUN, |run| {
            let mut part = String::new();
            members[run].iter().for_each(|&id| section_lines(image, SectionId(id), &own, &mut part));
            part
        });
        parts.iter().for_each(|part| all.push_str(part));
    }
    all
}

/// Section, value and number of the symbols that an object defines in its sections, sorted.
fn symbols_of(object: &Object) -> Vec<(u32, u32, u32)> {
    let symbols = object.coff.symbols.iter().filter(|(index, symbol)| {
        symbol.section > 0 && object.coff.symbols.section_definition(*index, symbol).is_none()
    });
    let mut list: Vec<_> =
        symbols.map(|(index, symbol)| (symbol.section as u32, symbol.value, index)).collect();
    list.sort_unstable();
    list
}

fn section_lines(image: &Image, id: SectionId, own: &[Vec<(u32, u32, u32)>], out: &mut String) {
    let section = image.sections.get(id);
    if section.object.is_none() {
        return;
    }
    let object = image.object(section.object);
    let rva = image.layout.rva(id);
    let name = text::text(&image.sections.parts[section.part as usize].name);
    let align = 1u32 << section.align;
    let file = object.name.member.map_or((&*object.name.path).into(), text::text);
    let _ = writeln!(out, "{rva:08x} {:08x} {align:5}         {file}:({name})", section.size);
    let symbols = &own[section.object.index()];
    let start = symbols.partition_point(|symbol| symbol.0 < section.number);
    for (_, value, index) in symbols[start..].iter().take_while(|symbol| symbol.0 == section.number) {
        let symbol = object.coff.symbols.get(*index);
        let name = symbol.and_then(|symbol| object.coff.symbol_name(&symbol).ok()).unwrap_or_default();
        let _ = writeln!(
            out,
            "{:08x} {:08x} {:5}                 {}",
            rva + *value,
            0,
            0,
            image.options.shown(name)
        );
    }
}

/// A symbol of the map: where it is, its name, and which file it comes from.
struct Line {
    /// 0 for values.
    section: u32,
    offset: u64,
    address: u64,
    name: String,
    file: String,
}

/// `/map` of an image with this name. `time` is that in its header.
pub fn map(image: &Image, name: &str, time: u32, parallel: bool) -> String {
    let mut all = format!(" {name}\n\n");
    let repro = if image.options.timestamp == Timestamp::Hash { " (Repro mode)" } else { "" };
    let _ = writeln!(all, " Timestamp is {time:08x}{repro}\n");
    let _ = writeln!(all, " Preferred load address is {:016x}\n", image.base);
    all += " Start         Length     Name                   Class\n";
    parts(image, &mut all);
    all += "\n  Address         Publics by Value              Rva+Base               Lib:Object\n\n";
    let (publics, statics) = lines(image, parallel);
    publics.iter().for_each(|line| line.write(&mut all));
    let entry = image.resolved.program.entry.map(|entry| image.symbols.get(entry));
    let place = entry.and_then(|entry| place_of(image, entry, image.rva_at(entry)?));
    let (section, offset) = place.unwrap_or((0, 0));
    let _ = writeln!(all, "\n entry point at         {section:04x}:{offset:08x}");
    all += "\n Static symbols\n\n";
    statics.iter().for_each(|line| line.write(&mut all));
    if image.options.reports.map_exports {
        exports(image, &mut all);
    }
    all
}

/// Where in which output section a symbol is.
fn place_of(image: &Image, symbol: Symbol, rva: Rva) -> Option<(u32, u64)> {
    let out = image.layout.out_of(image.part(symbol), rva)?;
    Some((out as u32 + 1, u64::from(rva.get()).wrapping_sub(image.layout.outs[out].rva.get().into())))
}

/// What the sections of one name in objects have in an output section.
fn parts(image: &Image, all: &mut String) {
    for (i, out) in image.layout.outs.iter().enumerate() {
        for members in image.layout.parts_of(image.sections, i) {
            let of_object = |id: &&u32| image.sections.list[**id as usize].object.is_some();
            let (Some(first), Some(last)) = (members.iter().find(of_object), members.iter().rfind(of_object))
            else {
                continue;
            };
            let (first, last) = (SectionId(*first), SectionId(*last));
            let part = &image.sections.parts[image.sections.get(first).part as usize];
            let start = image.layout.rva(first);
            let len = image.layout.rva(last) + image.sections.get(last).size - start;
            let class = if part.flags & pe::IMAGE_SCN_CNT_CODE.0 != 0 { "CODE" } else { "DATA" };
            let offset = start - out.rva;
            let name = text::text(&part.name);
            let _ = writeln!(all, " {:04x}:{offset:08x} {len:08x}H {name:<23} {class}", i + 1);
        }
    }
}

/// Symbols that all objects see, and those that only their own sees, by address.
fn lines(image: &Image, parallel: bool) -> (Vec<Line>, Vec<Line>) {
    let names = &image.resolved.names;
    let publics = par::runs("public symbols", parallel, names.id_bound(), RUN, |run| {
        run.filter_map(|id| public(image, SymbolId(id as u32))).collect::<Vec<_>>()
    });
    let statics = par::runs("static symbols", parallel, image.resolved.objects.len(), OBJECTS, |run| {
        run.flat_map(|object| of_object(image, ObjectId(object as u32))).collect::<Vec<_>>()
    });
    let (values, statics): (Vec<Line>, Vec<Line>) =
        statics.into_iter().flatten().partition(|line| line.section == 0);
    let sorted = |mut list: Vec<Line>| {
        list.sort_by(|a, b| (a.section, a.address, &a.name).cmp(&(b.section, b.address, &b.name)));
        list
    };
    let publics = publics.into_iter().flatten().chain(values).collect();
    (sorted(publics), sorted(statics))
}

fn public(image: &Image, id: SymbolId) -> Option<Line> {
    let entry = image.resolved.names.try_get(id)?;
    let symbol = image.symbols.get(id);
    let file = match (entry.rank(), image.resolved.places.get(entry.file().index())) {
        (Rank::Internal, _) => return None,
        (Rank::Common, _) => "<common>".to_owned(),
        (_, Some(resolve::Place::Object(id))) if symbol.kind != Kind::Absolute => {
            object_name(image.object(*id))
        }
        (_, Some(resolve::Place::Import(id))) => {
            let import = &image.resolved.imports[id.index()];
            format!("{}:{}", base(&import.name.path, true), text::text(import.import.dll))
        }
        // Who stands in for a weak external.
        _ if symbol.kind == Kind::Section => {
            let section = image.sections.get(SectionId(symbol.target));
            match section.object.is_some() {
                true => object_name(image.object(section.object)),
                false if matches!(image.made(section), Some(SyntheticSection::Common)) => {
                    "<common>".to_owned()
                }
                false => return None,
            }
        }
        _ => "<absolute>".to_owned(),
    };
    line(image, entry.name, symbol, file)
}

fn of_object(image: &Image, id: ObjectId) -> Vec<Line> {
    let object = image.object(id);
    let of = |(index, symbol): (u32, crate::coff::object::Symbol)| {
        let name = object.coff.symbol_name(&symbol).ok()?;
        let is_static = symbol.class == pe::IMAGE_SYM_CLASS_STATIC.0;
        let says_something = symbol.section == ABSOLUTE && NO_SYMBOLS.contains(&name);
        if !is_static || says_something || object.coff.symbols.section_definition(index, &symbol).is_some() {
            return None;
        }
        let place = symbols::local(image.sections, id, object, index);
        let file = if symbol.section == ABSOLUTE { "<absolute>".to_owned() } else { object_name(object) };
        line(image, name, place, file)
    };
    object.coff.symbols.iter().filter_map(of).collect()
}

fn line(image: &Image, name: &[u8], symbol: Symbol, file: String) -> Option<Line> {
    let name = text::text(name).into_owned();
    match image.place(symbol) {
        Place::At(rva) => {
            let (section, offset) = place_of(image, symbol, rva)?;
            Some(Line { section, offset, address: rva.in_memory(image.base), name, file })
        }
        Place::Absolute(value) if symbol.kind == Kind::Absolute => {
            Some(Line { section: 0, offset: value, address: value, name, file })
        }
        _ => None,
    }
}

impl Line {
    fn write(&self, out: &mut String) {
        let Line { section, offset, address, name, file } = self;
        let _ = writeln!(out, " {section:04x}:{offset:08x}       {name:<26} {address:016x}     {file}");
    }
}

/// The last part of a path, with or without its extension.
fn base(path: &str, stem: bool) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if stem { name.rsplit_once('.').map_or(name, |(stem, _)| stem) } else { name }
}

fn object_name(object: &Object) -> String {
    match object.name.member {
        Some(member) => format!("{}:{}", base(&object.name.path, true), base(&text::text(member), false)),
        None => base(&object.name.path, false).to_owned(),
    }
}

fn exports(image: &Image, all: &mut String) {
    *all += "\n Exports\n\n  ordinal    name\n\n";
    for entry in &image.tables.exports.entries {
        let internal = entry.export.internal.as_deref();
        let _ = writeln!(all, " {:7}    {}", entry.ordinal, internal.unwrap_or(entry.name()));
        if entry.export.internal.is_some() {
            let _ = writeln!(all, "               exported name: {}", entry.export.name);
        }
    }
}
