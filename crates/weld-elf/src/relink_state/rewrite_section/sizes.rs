//! The object's symbols in the tables of the output.
//!
//! In `.symtab` they are a run of local and one of global symbols, and in `.strtab` one of names, in the order of
//! the object's own table. These are written again as a whole, with what is left over of their room
//! ([`crate::synth::symtab`]). Where names are not the object's own, or others may be told apart by its symbols
//! ([`may_have_others`]), entries must say what the object says, but for sizes and places of functions. Entries
//! for the loader have numbers in rows.

use std::collections::HashMap;
use std::ops::Range;

use weld_common::diag::DiagSink;

use super::super::extents::Run;
use super::super::outline::{may_have_others, may_resize};
use super::super::rows::{NONE, OutputRow};
use super::moves::may_move_in;
use super::{Alone, Full, Missing, Of, Write};
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::symbols::symbol_flags;
use crate::synth::dynamic::seen_by_loader;
use crate::synth::image::Image;
use crate::synth::symbol_choice::{Choice, Special};
use crate::synth::symbol_record::Record;
use crate::synth::symtab;

/// A name that others see: its row, its number in `.dynsym` if it has one, its text, and the symbol without that.
pub struct Exported<'a> {
    pub name: u32,
    pub dynamic: u32,
    pub text: &'a [u8],
    pub symbol: Sym,
}

/// A symbol of the object, and what the table is to say of it; `None` if only the link as a whole knows.
type Entry = (u32, Option<Record>);

/// Where an entry has its type, binding, visibility and section, and its value and size.
const SAID: Range<usize> = 4..8;
const VALUE: Range<usize> = 8..16;
const SIZE: Range<usize> = 16..24;
const BOTH: Range<usize> = VALUE.start..SIZE.end;

impl<'a> Alone<'_, 'a> {
    /// What the tables have of the object, where it may be other than it was.
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn symbols(&self, sink: &DiagSink) -> Result<Vec<Write>, Missing> {
        let object = &self.resolved.objects[0];
        let (mut writes, image) = (Vec::new(), self.image(sink));
        if !may_resize(&image, object) {
            return Ok(writes);
        }
        if let Some(table) = self.output(|out| out.kind == SHT_SYMTAB) {
            let (locals, globals) = self.entries(&image, object);
            if may_have_others(&image, object) {
                self.runs(table, &image, (&locals, &globals), &mut writes)?;
            } else if self.known.last_runs != self.input.table_runs() {
                return Err(Missing::Place);
            } else {
                self.compare_all(table, (&locals, &globals), &mut writes)?;
            }
        }
        self.dynamic(object, &mut writes)?;
        Ok(writes)
    }

    /// Adds the object's runs.
    fn runs(
        &self,
        table: &OutputRow,
        image: &Image,
        (locals, globals): (&[Entry], &[Entry]),
        writes: &mut Vec<Write>,
    ) -> Result<(), Missing> {
        let (input, object) = (self.input, &self.resolved.objects[0]);
        if self.output(|out| out.kind == SHT_SYMTAB_SHNDX).is_some() {
            return Err(Missing::Place);
        }
        let names = self.output(|out| self.known.state.text(out.name) == b".strtab").ok_or(Missing::Place)?;
        // They may have lain elsewhere until now.
        let (now, was) = (input.table_runs(), self.known.last_runs);
        let last_strings = self.run(names, was.strings, 1)?;
        let mut order: Vec<u32> = locals.iter().chain(globals).map(|(index, _)| *index).collect();
        order.sort_unstable();
        let (mut strings, mut name_of) = (Vec::with_capacity(last_strings.len()), HashMap::new());
        for index in order {
            if index < object.first_global {
                object.check_local(index, &object.syms[index as usize], image.sink);
            }
            let name = object.symbol_name(index);
            if !name.is_empty() {
                name_of.insert(index, now.strings.start + strings.len() as u32);
                strings.extend_from_slice(name);
                strings.push(0);
            }
        }
        let full = |of, run: Run, wants: usize| {
            let wants = wants as u64;
            Missing::Room(Full { input: self.known.row, of, has: run.size.into(), wants })
        };
        let strings_room = now.strings.size as usize;
        if strings.len() > strings_room {
            return Err(full(Of::SymbolNames, now.strings, strings.len()));
        }
        strings.resize(strings_room, 0);
        let (local, global) = symtab::left_over(image).ok_or(Missing::Place)?;
        for (of, entries, now, was, left_over) in [
            (Of::Locals, locals, now.locals, was.locals, local),
            (Of::Globals, globals, now.globals, was.globals, global),
        ] {
            if entries.len() > now.size as usize {
                return Err(full(of, now, entries.len()));
            }
            let last = self.run(table, was, Sym::SIZE)?;
            let known = by_name(&last, self.known.last_runs.strings.start, &last_strings);
            let place = place_of(table, now, Sym::SIZE)?;
            let size = (place.end - place.start) as usize;
            let mut bytes = Vec::with_capacity(size);
            for (index, record) in entries {
                let name = name_of.get(index).copied().unwrap_or(0);
                let is_own = *index < object.first_global;
                let was = || known.get(object.symbol_name(*index)).into_iter().flatten();
                match record {
                    Some(record) => {
                        let symbol = record.make(name).0;
                        // What other objects say of a name counts, too.
                        if !is_own && !self.is_plain(*index) && !was().any(|was| was[SAID] == symbol.0[SAID])
                        {
                            return Err(Missing::Place);
                        }
                        bytes.extend_from_slice(&symbol.0);
                    }
                    None => {
                        let was = was().next().ok_or(Missing::Place)?;
                        bytes.extend_from_slice(&name.to_le_bytes());
                        bytes.extend_from_slice(&was[SAID.start..]);
                    }
                }
            }
            while bytes.len() < size {
                bytes.extend_from_slice(&left_over.make(0).0.0);
            }
            writes.push((place.start, bytes));
        }
        writes.push((place_of(names, now.strings, 1)?.start, strings));
        Ok(())
    }

    /// Whether a name is nothing but what the object says of it.
    fn is_plain(&self, index: u32) -> bool {
        const SAID: u32 = symbol_flags::KIND | symbol_flags::PROTECTED | symbol_flags::IFUNC;
        let object = &self.resolved.objects[0];
        let flags = self.symbols[object.global(index)].flags();
        let says_hidden = object.syms[index as usize].st_other() == STV_HIDDEN;
        flags & SAID == symbol_flags::DEFINED && (flags & symbol_flags::HIDDEN == 0 || says_hidden)
    }

    /// The bytes of a run of items of `size` bytes in the image.
    fn run(&self, table: &OutputRow, run: Run, size: usize) -> Result<Vec<u8>, Missing> {
        let place = place_of(table, run, size)?;
        let bytes = usize::try_from(place.end - place.start).map_err(|_| Missing::Place)?;
        self.known.left.read(place.start, bytes).ok_or(Missing::Place)
    }

    fn compare_all(
        &self,
        table: &OutputRow,
        (locals, globals): (&[Entry], &[Entry]),
        writes: &mut Vec<Write>,
    ) -> Result<(), Missing> {
        self.compare(table, self.input.locals, locals, writes)?;
        self.compare(table, self.input.globals, globals, writes)
    }

    fn output(&self, is: impl Fn(&OutputRow) -> bool) -> Option<&OutputRow> {
        self.known.state.outputs.iter().find(|out| is(out))
    }

    /// The object's local and global symbols in the table, in its order.
    fn entries(&self, image: &Image, object: &Object) -> (Vec<Entry>, Vec<Entry>) {
        let choice = Choice {
            resolved: &self.resolved,
            sections: &self.sections,
            symbols: &self.symbols,
            live: &self.live,
            options: self.known.options,
            special: &Special::default(),
            sink: image.sink,
        };
        let (mut locals, mut globals) = (Vec::new(), Vec::new());
        for (index, symbol) in (0..).zip(object.syms).skip(1) {
            if index < object.first_global {
                if choice.keeps_local(0, object, index, symbol) {
                    locals.push((index, Some(image.local_record(object, index, symbol))));
                }
                continue;
            }
            let id = object.global(index);
            if self.symbols[id].has(symbol_flags::IN_DISCARDED) {
                continue;
            }
            let entry = self.resolved.names.get(id);
            let is_common = self.symbols[id].kind() == symbol_flags::COMMON;
            let is_mine = entry.sym() == index && entry.file() == object.file;
            if is_common && is_mine && self.symbols[id].offset() != 0 {
                // It has a place, and so is there; how large it is others may have said.
                if choice.is_local(id) { &mut locals } else { &mut globals }.push((index, None));
            } else if let Some(local) = choice.keeps_global(0, object, index) {
                let mut record = image.global_record(id, symbol);
                record.binding = if local { STB_LOCAL } else { record.binding };
                if local { &mut locals } else { &mut globals }.push((index, Some(record)));
            }
        }
        (locals, globals)
    }

    /// Compares `entries` with those of `table` from number `first` on.
    fn compare(
        &self,
        table: &OutputRow,
        first: u32,
        entries: &[Entry],
        writes: &mut Vec<Write>,
    ) -> Result<(), Missing> {
        let start = u64::from(first) * Sym::SIZE as u64;
        let end = start + (entries.len() * Sym::SIZE) as u64;
        if end > table.size {
            return Err(Missing::Place);
        }
        let (offset, object) = (table.offset.wrapping_add(start), &self.resolved.objects[0]);
        let bytes = self.known.left.read(offset, entries.len() * Sym::SIZE).ok_or(Missing::Place)?;
        for ((at, there), (index, record)) in (0..).zip(bytes.chunks_exact(Sym::SIZE)).zip(entries) {
            let Some(record) = record else { continue };
            let here = record.make(0).0.0;
            if here[SAID] != there[SAID] {
                return Err(Missing::Place);
            }
            // Definitions may be in another order.
            let name = u32::from_le_bytes([there[0], there[1], there[2], there[3]]);
            if !self.is_named(name, *index) {
                return Err(Missing::Place);
            }
            if here[BOTH] == there[BOTH] {
                continue;
            }
            let symbol = &object.syms[*index as usize];
            let may_move = self.may_move(object, *index);
            let is_free = here[SIZE] == there[SIZE] || symbol.kind() == STT_FUNC || may_move;
            let may_move = here[VALUE] == there[VALUE] || may_move;
            if !is_free || !may_move {
                return Err(Missing::Place);
            }
            writes.push((offset + (at * Sym::SIZE + BOTH.start) as u64, here[BOTH].to_vec()));
        }
        Ok(())
    }

    /// Whether a symbol lies in a section of the object in which functions or constants may be elsewhere.
    pub(super) fn may_move(&self, object: &Object, index: u32) -> bool {
        let Some(symbol) = object.syms.get(index as usize) else { return false };
        match object.place(index, symbol) {
            SymbolPlace::Section(section) => may_move_in(object, section as usize),
            _ => false,
        }
    }

    /// Whether the name at `offset` of `.strtab` is that of a symbol.
    fn is_named(&self, offset: u32, index: u32) -> bool {
        let Some(strings) = self.output(|out| self.known.state.text(out.name) == b".strtab") else {
            return false;
        };
        // With `-z unique-symbol`, names end with a number.
        let end = if self.known.options.symbols.unique_symbol { &[][..] } else { &[0] };
        let name = [self.resolved.objects[0].symbol_name(index), end].concat();
        if name.len() == end.len() {
            return offset == 0;
        }
        u64::from(offset) < strings.size && self.known.left.has(strings.offset + u64::from(offset), &name)
    }

    /// The names of the object that it defines and others see, if more may be.
    pub fn exported(&self, sink: &DiagSink) -> Vec<Exported<'a>> {
        let (state, image, object) = (self.known.state, self.image(sink), &self.resolved.objects[0]);
        if state.image.exports == 0 {
            return Vec::new();
        }
        let number = (0..).zip(&state.inputs).find(|(_, input)| std::ptr::eq(*input, self.input));
        let number = number.map_or(NONE, |(number, _)| number);
        let mentions = state.mentions.get(self.input.first_mention as usize..).unwrap_or_default();
        let mut found = Vec::new();
        for mention in mentions.iter().take_while(|mention| mention.input == number) {
            const SEEN: u32 = symbol_flags::KIND | symbol_flags::IN_DISCARDED | symbol_flags::EXPORTED;
            let name = &state.names[mention.name as usize];
            let id = object.global(mention.symbol);
            let is_mine = (name.input, name.symbol) == (number, mention.symbol);
            if is_mine && self.symbols[id].flags() & SEEN == symbol_flags::DEFINED | symbol_flags::EXPORTED {
                let record = image.global_record(id, &object.syms[mention.symbol as usize]);
                let symbol = seen_by_loader(record).make(0).0;
                let text = object.symbol_name(mention.symbol);
                found.push(Exported { name: mention.name, dynamic: name.dynamic, text, symbol });
            }
        }
        found
    }

    /// Those of the table for the loader.
    fn dynamic(&self, object: &Object, writes: &mut Vec<Write>) -> Result<(), Missing> {
        let state = self.known.state;
        // Where more names may be exported, rows are written by who knows all names.
        let table = self.output(|out| out.kind == SHT_DYNSYM).filter(|_| state.image.exports == 0);
        let Some(table) = table else { return Ok(()) };
        let number = (0..).zip(&state.inputs).find(|(_, input)| std::ptr::eq(*input, self.input));
        let Some((number, _)) = number else { return Err(Missing::Place) };
        let mentions = state.mentions.get(self.input.first_mention as usize..).unwrap_or_default();
        for mention in mentions.iter().take_while(|mention| mention.input == number) {
            let name = &state.names[mention.name as usize];
            let symbol = &object.syms[mention.symbol as usize];
            let is_mine = (name.input, name.symbol) == (number, mention.symbol);
            let may_differ = symbol.kind() == STT_FUNC || self.may_move(object, mention.symbol);
            if name.dynamic == 0 || !is_mine || !may_differ {
                continue;
            }
            let start = u64::from(name.dynamic) * Sym::SIZE as u64;
            let offset = table.offset.wrapping_add(start);
            let there = self.known.left.read(offset, Sym::SIZE).filter(|_| start < table.size);
            let there = there.ok_or(Missing::Place)?;
            if there[VALUE] != name.value.to_le_bytes() {
                return Err(Missing::Place);
            }
            let new = self.new_values.binary_search_by_key(&mention.name, |new| new.name);
            let value = new.map_or(name.value, |found| self.new_values[found].value);
            let both = [value, symbol.st_size()].map(u64::to_le_bytes);
            if there[BOTH] != *both.as_flattened() {
                writes.push((offset + BOTH.start as u64, both.as_flattened().to_vec()));
            }
        }
        Ok(())
    }
}

/// Where in the file a run of items of `size` bytes is.
fn place_of(table: &OutputRow, run: Run, size: usize) -> Result<Range<u64>, Missing> {
    let (start, bytes) = (u64::from(run.start) * size as u64, u64::from(run.size) * size as u64);
    let offset = table.offset.checked_add(start).filter(|_| start + bytes <= table.size);
    let offset = offset.ok_or(Missing::Place)?;
    Ok(offset..offset.checked_add(bytes).ok_or(Missing::Place)?)
}

/// The entries of a run of symbols, by their names, which are in `strings` from `start` of the table of names on.
fn by_name<'r>(run: &'r [u8], start: u32, strings: &'r [u8]) -> HashMap<&'r [u8], Vec<&'r [u8]>> {
    let mut known: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
    for entry in run.chunks_exact(Sym::SIZE) {
        let name = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let rest = name.checked_sub(start).and_then(|at| strings.get(at as usize..)).unwrap_or_default();
        let name = &rest[..memchr::memchr(0, rest).unwrap_or(0)];
        known.entry(name).or_default().push(entry);
    }
    known
}
