//! `-Map` in the form of GNU ld, which scripts of embedded projects, size tools and test suites read.
//!
//! Parts with headings, in GNU ld's order: the archive members that were read, and for whom; sections that
//! are not in the output; the memory regions; files, and output sections with the input sections in them. A
//! line of the last part is
//!
//! ```text
//!  .text.f        0x0000000000001139       0x1b libx.a(f.o)
//!                 0x0000000000001139                f
//! ```
//!
//! with addresses and sizes in hexadecimal; a name that does not leave a blank in its sixteen columns has a
//! line of its own. Only global symbols are listed. Input sections of what the linker itself makes come from
//! `<internal>`. Of a script there are the patterns that found what follows, and assignments, each with the
//! value assigned or `[!provide]`. Output sections that are not there are left out.
//!
//! Source: the maps that GNU ld 2.40 writes.

use std::fmt::Write;

use weld_common::par;
use weld_common::text;

use super::extraction;
use super::map::Symbols;
use super::script_lines::ScriptLines;
use crate::address::Address;
use crate::elf::*;
use crate::ids::*;
use crate::input::load::Input;
use crate::job::{Context, Job};
use crate::layout::scripted::{Inside, Note, Said};
use crate::layout::{Chunk, ChunkKind, Member, OutputSection};
use crate::script::expr_text;
use crate::sections::{SectionKind, is_table};
use crate::symbols::internal::{Internal, Target};
use crate::synth::image::Image;
use crate::wording::shown;

/// Columns in front of addresses.
const NAME: usize = 16;
/// Members whose lines are made in one go.
const MEMBERS_PER_TASK: usize = 256;

/// The map of the image.
pub fn text(job: &Job, image: &Image, context: &Context) -> String {
    let mut text = String::new();
    let members = extraction::members(job, context.inputs, image.resolved);
    if !members.is_empty() {
        text += &format!("Archive member included to satisfy reference by file (symbol)\n\n{members}\n");
    }
    let gone = match image.options.reports.map_discarded {
        true => discarded(image, context.parallel),
        false => String::new(),
    };
    if !gone.is_empty() {
        text += &format!("Discarded input sections\n\n{gone}\n");
    }
    text += "Memory Configuration\n\nName             Origin             Length             Attributes\n";
    if let Some(script) = &image.layout.script {
        for ((name, region), letters) in script.regions().zip(script.region_letters()) {
            let line = format!("{name:<16} 0x{:016x} 0x{:016x} {letters}", region.origin, region.length);
            _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text += "*default*        0x0000000000000000 0xffffffffffffffff\n\nLinker script and memory map\n\n";
    for input in &context.inputs.files {
        match input {
            Input::Object { name, .. } | Input::Shared { name, .. } => _ = writeln!(text, "LOAD {name}"),
            Input::Member { .. } | Input::Internal => {}
        }
    }
    for archive in &context.inputs.archives {
        _ = writeln!(text, "LOAD {}", archive.path);
    }
    let map = Map { image, context, symbols: Symbols::collect(image, context.parallel) };
    map.sections(&mut text);
    _ = writeln!(
        text,
        "OUTPUT({} {})",
        text::path(&image.options.output.path),
        image.mode.facts().object_format
    );
    text
}

/// The sections of objects that are not in the output: those of groups that lost, and those that gc took
/// away.
fn discarded(image: &Image, parallel: bool) -> String {
    let one = |(index, object): (usize, &crate::input::object::Object)| -> String {
        let mut text = String::new();
        for shndx in 1..object.shdrs.len() as u32 {
            let (id, shdr) = (SectionId(object.section_base + shndx), &object.shdrs[shndx as usize]);
            let section = image.sections.get(id);
            let gone = match section.kind() {
                SectionKind::Discarded => true,
                SectionKind::Dropped => false,
                _ => !image.live.contains(id),
            };
            if gone && !is_table(shdr) {
                let name = text::text(object.section_name(shndx as usize).unwrap_or_default()).into_owned();
                let file = image.resolved.objects[index].name.to_string();
                row(&mut text, &format!(" {name}"), Address::ZERO, shdr.sh_size(), &file);
            }
        }
        text
    };
    let objects = &image.resolved.objects;
    par::map(parallel, objects.len(), |index| one((index, &objects[index]))).concat()
}

/// A line with a place.
fn row(text: &mut String, name: &str, address: Address, size: u64, file: &str) {
    let size = format!("{size:#x}");
    let line = match name.len() < NAME {
        true => format!("{name:<NAME$}0x{address:016x} {size:>10} {file}"),
        false => format!("{name}\n{:NAME$}0x{address:016x} {size:>10} {file}", ""),
    };
    text.push_str(line.trim_end_matches(' '));
    text.push('\n');
}

fn symbol(text: &mut String, address: Address, name: &str) {
    _ = writeln!(text, "{:NAME$}0x{address:016x}{:NAME$}{name}", "", "");
}

fn assignment(said: &Said) -> String {
    expr_text::assignment(said.name, said.value, said.text)
}

struct Map<'m, 'c, 'a> {
    image: &'m Image<'c, 'a>,
    context: &'m Context<'m, 'a>,
    symbols: Symbols,
}

/// A line of the script.
fn of_script(note: &Note, line: &mut String) -> Option<Inside> {
    match note {
        Note::Section(_) => None,
        Note::Assignment { inside, value, said, .. } => {
            symbol(line, Address::new(*value), &assignment(said));
            Some(*inside)
        }
        Note::NotProvided { inside, said } => {
            let text = assignment(said);
            _ = writeln!(line, "{:NAME$}{:<18}{:NAME$}{text}", "", "[!provide]", "");
            Some(*inside)
        }
        Note::Inputs { inside, inputs } => {
            _ = writeln!(line, " {inputs}");
            Some(Some(*inside))
        }
    }
}

impl Map<'_, '_, '_> {
    fn sections(&self, text: &mut String) {
        let lines = ScriptLines::of(self.image, of_script);
        for (id, out) in self.image.layout.with_ids() {
            text.push_str(lines.before(id));
            // Tables of the file itself are no part of its contents.
            if matches!(out.kind, SHT_SYMTAB | SHT_SYMTAB_SHNDX | SHT_STRTAB) && !out.is_alloc() {
                continue;
            }
            text.push('\n');
            let name = text::text(&out.name).into_owned();
            let load = match out.is_alloc() && out.load_address != out.address {
                true => format!("load address 0x{:016x}", out.load_address),
                false => String::new(),
            };
            row(text, &name, out.address, out.size, &load);
            self.members(out, lines.inside(id), text);
        }
        text.push_str(&lines.last);
        // Those that a script assigns to stand where it does so.
        let made = |internal: &&Internal| !matches!(internal.target, Target::Computed { .. });
        for internal in self.context.internals.list.iter().filter(made) {
            symbol(text, self.image.symbols[internal.id].address(), &self.name(internal.id));
        }
    }

    /// The lines of an output section's members, with those of assignments between them.
    fn members(&self, out: &OutputSection, inside: &[(usize, String)], text: &mut String) {
        let name = text::text(&out.name).into_owned();
        let lines =
            |members: &[Member]| -> String { members.iter().map(|m| self.member(&name, *m)).collect() };
        let mut start = 0;
        for (end, note) in inside.iter().map(|(at, note)| (*at, &note[..])).chain([(out.members.len(), "")]) {
            let members = &out.members[start..end.clamp(start, out.members.len())];
            let part = |run: std::ops::Range<usize>| lines(&members[run]);
            text.extend(par::runs(
                "lines of the map",
                self.context.parallel,
                members.len(),
                MEMBERS_PER_TASK,
                part,
            ));
            text.push_str(note);
            start += members.len();
        }
    }

    fn name(&self, id: SymbolId) -> String {
        shown(self.image.options, self.image.resolved.names.get(id).name).into_owned()
    }

    fn member(&self, out: &str, member: Member) -> String {
        let mut text = String::new();
        match (member.as_chunk(), member.as_section()) {
            (Some(chunk), _) => self.chunk(out, &self.image.layout.chunks[chunk.index()], &mut text),
            (None, Some(section)) => self.section(section, &mut text),
            (None, None) => {}
        }
        text
    }

    fn section(&self, id: SectionId, text: &mut String) {
        let image = self.image;
        let section = image.sections.get(id);
        let object = &image.resolved.objects[self.context.owners.object(id).index()];
        let name = object.section_name((id.0 - object.section_base) as usize).unwrap_or_default();
        let (address, size) = (section.address(), section.size);
        row(text, &format!(" {}", text::text(name)), address, size, &object.name.to_string());
        for found in self.symbols.of(id) {
            let object = &image.resolved.objects[found.object.index()];
            if found.index >= object.first_global {
                let name = shown(image.options, object.symbol_name(found.index));
                symbol(text, image.sections.address_of(id, found.value), &name);
            }
        }
    }

    fn chunk(&self, out: &str, chunk: &Chunk, text: &mut String) {
        match chunk.kind {
            ChunkKind::Common(kind) => {
                for (address, id) in self.symbols.commons_in(chunk) {
                    if self.image.symbols[id].section != kind {
                        continue;
                    }
                    let Some((_, object)) = self.image.definition(id) else { continue };
                    let size = self.image.symbol_size(id).unwrap_or(0);
                    row(text, " COMMON", address, size, &object.name.to_string());
                    symbol(text, address, &self.name(id));
                }
            }
            _ if chunk.size == 0 => {}
            _ => {
                row(text, &format!(" {out}"), chunk.address(), chunk.size, "<internal>");
                if matches!(chunk.kind, ChunkKind::CopyBss | ChunkKind::CopyRelro) {
                    for (address, id) in self.symbols.copies_in(chunk) {
                        symbol(text, address, &self.name(id));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_have_lines_of_their_own() {
        let mut text = String::new();
        row(&mut text, " .text", Address::new(0x401000), 0x1b, "a.o");
        row(&mut text, " .note.GNU-stack", Address::ZERO, 0, "a.o");
        row(&mut text, ".text", Address::new(0x401000), 0x1b, "");
        symbol(&mut text, Address::new(0x401000), "f");
        assert_eq!(
            text,
            " .text          0x0000000000401000       0x1b a.o\n \
             .note.GNU-stack\n                0x0000000000000000        0x0 a.o\n\
             .text           0x0000000000401000       0x1b\n                0x0000000000401000                f\n"
        );
    }
}
