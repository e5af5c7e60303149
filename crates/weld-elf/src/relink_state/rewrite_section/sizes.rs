//! The sizes of the object's functions in the tables of symbols, and where they are, which is all that changes
//! there when functions grow.
//!
//! The object's entries are a run of local and one of global symbols in `.symtab`, in the order of its own
//! table. Those for the loader have numbers in rows. Each entry must say of its symbol what the object says,
//! but for size and place.

use weld_common::diag::DiagSink;

use super::super::outline::may_resize;
use super::super::rows::OutputRow;
use super::moves::may_move_in;
use super::{Alone, Missing, Write};
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::synth::symbol_choice::{Choice, Special};
use crate::synth::symbol_record::Record;

/// A symbol of the object, and what the table is to say of it; `None` if only the link as a whole knows.
type Entry = (u32, Option<Record>);

/// Where an entry has its type, binding, visibility and section, and its value and size.
const SAID: std::ops::Range<usize> = 4..8;
const VALUE: std::ops::Range<usize> = 8..16;
const SIZE: std::ops::Range<usize> = 16..24;
const BOTH: std::ops::Range<usize> = VALUE.start..SIZE.end;

impl Alone<'_, '_> {
    /// The sizes that are not what they were.
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn sizes(&self, sink: &DiagSink) -> Result<Vec<Write>, Missing> {
        let object = &self.resolved.objects[0];
        let (mut writes, image) = (Vec::new(), self.image(sink));
        if !may_resize(&image, object) {
            return Ok(writes);
        }
        if let Some(table) = self.output(|out| out.kind == SHT_SYMTAB) {
            let (locals, globals) = self.entries(&image, object);
            self.compare(table, self.input.locals, &locals, &mut writes)?;
            self.compare(table, self.input.globals, &globals, &mut writes)?;
        }
        self.dynamic(object, &mut writes)?;
        Ok(writes)
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
            if here[BOTH] == there[BOTH] {
                continue;
            }
            let name = u32::from_le_bytes([there[0], there[1], there[2], there[3]]);
            let symbol = &object.syms[*index as usize];
            let may_move = self.may_move(object, *index);
            let is_free = here[SIZE] == there[SIZE] || symbol.kind() == STT_FUNC || may_move;
            let may_move = here[VALUE] == there[VALUE] || may_move;
            if !is_free || !may_move || !self.is_named(name, *index) {
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
        let name = [self.resolved.objects[0].symbol_name(index), &[0]].concat();
        u64::from(offset) < strings.size && self.known.left.has(strings.offset + u64::from(offset), &name)
    }

    /// Those of the table for the loader.
    fn dynamic(&self, object: &Object, writes: &mut Vec<Write>) -> Result<(), Missing> {
        let state = self.known.state;
        let Some(table) = self.output(|out| out.kind == SHT_DYNSYM) else { return Ok(()) };
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
