//! `-Map` and `--print-map`: where everything is.
//!
//! ```text
//!     VMA  LMA  Size  Align  Out  In  Symbol
//! ```
//!
//! as in `ld.lld`: a line for each output section, below it its input sections and the linker's own
//! parts, and below these their symbols by address; numbers in hexadecimal. Assignments of a linker script
//! stand where they take effect. At the end come the symbols that the linker itself defines.
//!
//! A large link has millions of symbols: they are sorted once, and lines are made in parallel.

use std::fmt::Write;

use super::script_lines::ScriptLines;
use crate::address::Address;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::job::Context;
use crate::layout::scripted::{Inside, Note};
use crate::layout::{Chunk, ChunkKind, Member, OutputSection};
use crate::sections::SectionKind;
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::wording::shown;
use weld_common::{par, text};

/// Members whose lines are made in one go.
const MEMBERS_PER_TASK: usize = 256;

/// The map of the image.
pub fn text(image: &Image, context: &Context) -> String {
    let map = Map { image, context, symbols: Symbols::collect(image, context.parallel) };
    let mut text =
        format!("{:>16} {:>16} {:>8} {:>5} {:<7} {:<7} Symbol\n", "VMA", "LMA", "Size", "Align", "Out", "In");
    let notes = ScriptLines::of(image, |note, line| of_script(image, note, line));
    for (id, out) in image.layout.with_ids() {
        text.push_str(notes.before(id));
        let name = text::text(&out.name);
        let place = Place { address: out.address, size: out.size, align: out.align };
        row(&mut text, distance(out), place, &name);
        let lines = |members: &[Member]| -> String { members.iter().map(|m| map.member(out, *m)).collect() };
        let inside = notes.inside(id);
        let mut start = 0;
        for (end, note) in inside.iter().map(|(at, note)| (*at, &note[..])).chain([(out.members.len(), "")]) {
            let members = &out.members[start..end.clamp(start, out.members.len())];
            let part = |run: std::ops::Range<usize>| lines(&members[run]);
            text.extend(par::runs(
                "lines of the map",
                context.parallel,
                members.len(),
                MEMBERS_PER_TASK,
                part,
            ));
            text.push_str(note);
            start += members.len();
        }
    }
    text.push_str(&notes.last);
    for internal in &context.internals.list {
        symbol(&mut text, 0, image.symbols[internal.id].address(), 0, &map.name(internal.id));
    }
    text
}

/// A line of the script: an assignment.
fn of_script(image: &Image, note: &Note, line: &mut String) -> Option<Inside> {
    let Note::Assignment { inside, from, to, said, .. } = note else { return None };
    let place = Place { address: Address::new(*from), size: to.wrapping_sub(*from), align: 1 };
    match inside {
        None => row(line, from.wrapping_neg(), place, said.text),
        Some((out, _)) => part(line, distance(&image.layout[*out]), place, said.text),
    }
    Some(*inside)
}

/// How far load addresses are from addresses in an output section.
fn distance(out: &OutputSection) -> u64 {
    if out.is_alloc() { out.load_address.wrapping_sub(out.address) } else { 0 }
}

/// Where something is, how large, and what its address is a multiple of; in bytes.
#[derive(Clone, Copy)]
struct Place {
    address: Address,
    size: u64,
    align: u64,
}

/// One line with a name at the indentation that the name comes with; its load address is `distance` from its
/// address.
fn row(text: &mut String, distance: u64, place: Place, name: &str) {
    let Place { address, size, align } = place;
    let load = address.wrapping_add(distance);
    _ = writeln!(text, "{address:>16x} {load:>16x} {size:>8x} {align:>5} {name}");
}

fn symbol(text: &mut String, distance: u64, address: Address, size: u64, name: &str) {
    row(text, distance, Place { address, size, align: 1 }, &format!("{:16}{name}", ""));
}

fn part(text: &mut String, distance: u64, place: Place, name: &str) {
    row(text, distance, place, &format!("{:8}{name}", ""));
}

struct Map<'m, 'c, 'a> {
    image: &'m Image<'c, 'a>,
    context: &'m Context<'m, 'a>,
    symbols: Symbols,
}

impl Map<'_, '_, '_> {
    fn name(&self, id: SymbolId) -> String {
        shown(self.image.options, self.image.resolved.names.get(id).name).into_owned()
    }

    fn member(&self, out: &OutputSection, member: Member) -> String {
        let mut text = String::new();
        match (member.as_chunk(), member.as_section()) {
            (Some(chunk), _) => self.chunk(out, &self.image.layout.chunks[chunk.index()], &mut text),
            (None, Some(section)) => self.section(section, distance(out), &mut text),
            (None, None) => {}
        }
        text
    }

    fn section(&self, id: SectionId, distance: u64, text: &mut String) {
        let image = self.image;
        let section = image.sections.get(id);
        let index = self.context.owners.object(id);
        let object = &image.resolved.objects[index.index()];
        let name = object.at_section(id.0 - object.section_base).to_string();
        let place = Place { address: section.address(), size: section.size, align: section.align() };
        part(text, distance, place, &name);
        for found in self.symbols.of(id) {
            let object = &image.resolved.objects[found.object.index()];
            let name = shown(image.options, object.symbol_name(found.index));
            let address = image.sections.address_of(id, found.value);
            let size = object.syms[found.index as usize].st_size();
            symbol(text, distance, address, image.sections.output_size(id, found.value, size), &name);
        }
    }

    fn chunk(&self, out: &OutputSection, chunk: &Chunk, text: &mut String) {
        let place = Place { address: chunk.address(), size: chunk.size, align: chunk.align };
        let distance = distance(out);
        match chunk.kind {
            ChunkKind::Common(kind) => self.commons(chunk, kind, distance, text),
            ChunkKind::CopyBss | ChunkKind::CopyRelro => {
                part(text, distance, place, "<internal>:(copies of variables of shared objects)");
                for (address, id) in self.symbols.copies_in(chunk) {
                    let size = self.image.shared_symbol(id).map_or(0, |s| s.st_size());
                    symbol(text, distance, address, size, &self.name(id));
                }
            }
            ChunkKind::Thunks(_) if chunk.size == 0 => {}
            ChunkKind::Thunks(pool) => {
                part(text, distance, place, &format!("<internal>:({}.thunk)", text::text(&out.name)));
                let image = self.image;
                image
                    .thunks
                    .in_pool(image, pool, |name, address, size| symbol(text, distance, address, size, &name));
            }
            _ => part(text, distance, place, &format!("<internal>:({})", text::text(&out.name))),
        }
    }

    fn commons(&self, chunk: &Chunk, kind: u32, distance: u64, text: &mut String) {
        for (address, id) in self.symbols.commons_in(chunk) {
            if self.image.symbols[id].section != kind {
                continue;
            }
            let Some((definition, object)) = self.image.definition(id) else { continue };
            let (size, align) = (self.image.symbol_size(id).unwrap_or(0), definition.st_value().max(1));
            part(text, distance, Place { address, size, align }, &format!("{}:(COMMON)", object.name));
            symbol(text, distance, address, size, &self.name(id));
        }
    }
}

/// How many symbols ahead of their turn their names are asked for.
const AHEAD: u32 = 16;

/// A symbol of an object in one of its sections.
#[derive(Clone, Copy)]
pub(super) struct InSection {
    section: SectionId,
    pub(super) value: u64,
    pub(super) object: ObjectId,
    pub(super) index: u32,
}

pub(super) struct Symbols {
    /// By section, then by offset.
    list: Vec<InSection>,
    /// By address.
    commons: Vec<(Address, SymbolId)>,
    copies: Vec<(Address, SymbolId)>,
}

impl Symbols {
    pub(super) fn collect(image: &Image, parallel: bool) -> Symbols {
        let one = |object: usize| Self::of_object(image, ObjectId(object as u32));
        let lists = par::map(parallel, image.resolved.objects.len(), one);
        // Objects have ascending section ids, so the whole is sorted if its parts are; but symbols of folded
        // sections lie in others.
        let mut list = par::concat("join symbols", parallel, lists);
        if !image.live.folds.is_empty() {
            list.sort_by_key(|s| (s.section, s.value));
        }
        let (mut commons, mut copies) = (Vec::new(), Vec::new());
        for (id, _) in image.resolved.names.iter() {
            let symbol = &image.symbols[id];
            match symbol.kind() {
                // Those that nothing uses have no place.
                symbol_flags::COMMON if symbol.section == u32::MAX => {}
                symbol_flags::COMMON => commons.push((symbol.address(), id)),
                symbol_flags::SHARED if symbol.has(symbol_flags::NEEDS_COPY) => {
                    copies.push((symbol.address(), id))
                }
                _ => {}
            }
        }
        let by_address = |(address, id): &(Address, SymbolId)| (*address, image.resolved.names.get(*id).name);
        commons.sort_unstable_by_key(by_address);
        copies.sort_unstable_by_key(by_address);
        Symbols { list, commons, copies }
    }

    fn of_object(image: &Image, id: ObjectId) -> Vec<InSection> {
        let object = &image.resolved.objects[id.index()];
        let mut list = Vec::with_capacity(object.syms.len());
        // How many symbols each section has, and one more section.
        let mut counts = vec![0u32; object.shdrs.len() + 1];
        for (i, symbol) in object.syms.iter().enumerate().skip(1) {
            let index = i as u32;
            if let Some(later) = object.global_if_any(index + AHEAD) {
                image.resolved.names.prefetch(later);
            }
            let SymbolPlace::Section(shndx) = object.place(index, symbol) else { continue };
            let named = symbol.st_name() != 0 && symbol.kind() != STT_SECTION;
            if !named || shndx as usize >= object.shdrs.len() {
                continue;
            }
            let section = SectionId(object.section_base + shndx);
            // What is merged has no place in its own section.
            let placed =
                !matches!(image.sections.get(section).kind(), SectionKind::Merge | SectionKind::EhFrame);
            let wins = index < object.first_global || {
                let entry = image.resolved.names.get(object.global(index));
                entry.file() == object.file && entry.sym() == index
            };
            if placed && wins && image.live.contains(section) {
                let section = image.live.folds.leader(section);
                list.push(InSection { section, value: symbol.st_value(), object: id, index });
                counts[shndx as usize] += 1;
            }
        }
        // With folded sections all are sorted later.
        if image.live.folds.is_empty() { by_section(&list, object.section_base, counts) } else { list }
    }

    pub(super) fn of(&self, section: SectionId) -> impl Iterator<Item = &InSection> {
        let first = self.list.partition_point(|s| s.section < section);
        self.list[first..].iter().take_while(move |s| s.section == section)
    }

    /// The same for sections one after the other, mostly in their order: `near` is where the symbols of the last one end,
    /// 0 at first.
    pub(super) fn of_next(&self, section: SectionId, near: &mut usize) -> &[InSection] {
        let before = near.checked_sub(1).and_then(|before| self.list.get(before));
        let is_near = before.is_some_and(|before| before.section < section)
            && self.list.get(*near).is_none_or(|next| next.section >= section);
        let first = if is_near { *near } else { self.list.partition_point(|s| s.section < section) };
        let symbols = &self.list[first..];
        let count = symbols.iter().take_while(|s| s.section == section).count();
        *near = first + count;
        &symbols[..count]
    }

    pub(super) fn commons_in(&self, chunk: &Chunk) -> impl Iterator<Item = (Address, SymbolId)> {
        inside(&self.commons, chunk)
    }

    pub(super) fn copies_in(&self, chunk: &Chunk) -> impl Iterator<Item = (Address, SymbolId)> {
        inside(&self.copies, chunk)
    }
}

/// The symbols of an object by section, and of each section by offset; those that are equal stay as they are. `counts` says
/// how many each section has.
fn by_section(list: &[InSection], base: u32, mut counts: Vec<u32>) -> Vec<InSection> {
    let mut sum = 0;
    for count in &mut counts {
        sum += std::mem::replace(count, sum);
    }
    let Some(any) = list.first() else { return Vec::new() };
    let mut sorted = vec![*any; list.len()];
    for symbol in list {
        let place = &mut counts[(symbol.section.0 - base) as usize];
        sorted[*place as usize] = *symbol;
        *place += 1;
    }
    // Most have one.
    for section in sorted.chunk_by_mut(|one, other| one.section == other.section) {
        if section.len() > 1 {
            section.sort_by_key(|symbol| symbol.value);
        }
    }
    sorted
}

/// Those of a sorted list of addresses that lie in a chunk.
fn inside<'l>(
    list: &'l [(Address, SymbolId)],
    chunk: &Chunk,
) -> impl Iterator<Item = (Address, SymbolId)> + use<'l> {
    let (start, end) = (chunk.address(), chunk.address() + chunk.size);
    let first = list.partition_point(|s| s.0 < start);
    list[first..].iter().take_while(move |s| s.0 < end).copied()
}
