//! Second reading of a module: its symbols and lines on their way into the PDB.
//!
//! A unit is some of a module's sections. It fills three ranges, whose lengths are known: symbols in the
//! module's stream, lines in it, and what the unit adds to the global symbols. So each section is read once,
//! with its fixups at hand.

use std::ops::Range;

use super::Symbols;
use super::globals::{Global, REFERENCE};
use super::scan::{self, Cut, Placement, Scanned, inlinee_number, number_of};
use super::walk::{self, Found};
use crate::codeview::records::{self, HEADER};
use crate::codeview::subsection::{self, Subsection, Subsections};
use crate::codeview::symbol::{
    self, Refs, S_LPROC32, S_LPROC32_DPC, S_LPROC32_DPC_ID, S_LPROC32_ID, S_LPROCREF, S_PROCREF, Scope,
    Streams,
};
use crate::codeview::{SIGNATURE_C13, Space, u32_at};
use crate::input::{Fixup, Module, Relocate};
use crate::put::{Writer, put_u16, put_u32};
use crate::types::{Lookup, Types};

/// Bytes of the signature before the symbols, and of the count of references after all.
pub const SIGNATURE_SIZE: u32 = size_of_val(&SIGNATURE_C13) as u32;

/// The bytes that a unit fills.
pub struct Out<'o> {
    pub symbols: &'o mut [u8],
    pub c13: &'o mut [u8],
    /// The table of files, if the unit has it.
    pub file_table: &'o mut [u8],
    pub globals: &'o mut [u8],
}

impl Scanned<'_> {
    pub fn unit_count(&self) -> usize {
        self.cuts.len().saturating_sub(1)
    }

    /// What is before a unit, and what is before the one after it.
    pub fn unit(&self, unit: usize) -> (Cut, Cut) {
        (self.cuts[unit], self.cuts[unit + 1])
    }

    /// Where a unit's global symbols are among those of all.
    pub fn global_range(&self, unit: usize) -> Range<u32> {
        let (start, end) = self.unit(unit);
        let mut kept =
            self.globals[start.globals as usize..end.globals as usize].iter().filter(|g| g.is_kept());
        let Some(first) = kept.next() else { return 0..0 };
        let last = kept.next_back().unwrap_or(first);
        first.place..last.place + last.size() as u32
    }

    /// Bytes of the table of files, if it is this unit that writes them.
    pub fn file_table_len(&self, unit: usize) -> u32 {
        let (start, end) = self.unit(unit);
        let own = self.file_table.filter(|(section, _)| (start.section..end.section).contains(section));
        own.map_or(0, |(_, size)| size)
    }

    /// Bytes of the module's stream; 0 if it has none.
    pub fn stream_len(&self) -> u32 {
        let total = self.total();
        match total.symbols + self.c13_len() {
            0 => 0,
            bytes => SIGNATURE_SIZE + bytes + 4,
        }
    }
}

/// Writes a unit of a module. Returns how many fixups did not fit into what they are for.
pub fn unit(
    symbols: &Symbols<'_>,
    types: &Types<'_>,
    relocate: &dyn Relocate,
    module: usize,
    unit: usize,
    out: Out<'_>,
) -> usize {
    let scanned = &symbols.scanned[module];
    let (start, end) = scanned.unit(unit);
    let source = &symbols.modules[module];
    let lookup = source.types.and_then(|object| types.lookup(object as usize)).unwrap_or_default();
    let mut writer = UnitWriter {
        number: module as u32,
        module: source,
        context: Context { scanned, lookup, types },
        symbols: Writer::new(out.symbols),
        symbols_at: SIGNATURE_SIZE + start.symbols,
        c13: Writer::new(out.c13),
        has_file_table: !out.file_table.is_empty(),
        file_table: Writer::new(out.file_table),
        globals: Writer::new(out.globals),
        next_global: start.globals as usize,
        scopes: Vec::new(),
        fixups: Vec::new(),
        next_fixup: 0,
        misfits: 0,
    };
    if unit == 0 {
        writer.symbols.bytes(source.records);
    }
    for section in start.section..end.section {
        writer.next_fixup = 0;
        sorted_fixups(relocate, module as u32, section, &mut writer.fixups);
        writer.section(source.sections[section as usize]);
    }
    if writer.has_file_table && writer.file_table.at() == 0 {
        // There are names, but no files.
        writer.file_table.u32(subsection::FILECHKSMS);
        writer.file_table.u32(0);
    }
    writer.misfits
}

/// Replaces `fixups` by those of a module's section, in order of their places.
pub fn sorted_fixups(relocate: &dyn Relocate, module: u32, section: u32, fixups: &mut Vec<Fixup>) {
    fixups.clear();
    relocate.fixups(module, section, fixups);
    if !fixups.is_sorted_by_key(|fixup| fixup.offset) {
        fixups.sort_by_key(|fixup| fixup.offset);
    }
}

/// What copying looks up.
struct Context<'w> {
    scanned: &'w Scanned<'w>,
    lookup: Lookup<'w>,
    types: &'w Types<'w>,
}

struct UnitWriter<'w, 'o> {
    number: u32,
    module: &'w Module<'w>,
    context: Context<'w>,
    symbols: Writer<'o>,
    /// Where in the module's stream `symbols` begins.
    symbols_at: u32,
    c13: Writer<'o>,
    file_table: Writer<'o>,
    has_file_table: bool,
    globals: Writer<'o>,
    next_global: usize,
    /// Scopes that are open: their places in `symbols`.
    scopes: Vec<usize>,
    /// Those of the section.
    fixups: Vec<Fixup>,
    next_fixup: usize,
    misfits: usize,
}

impl UnitWriter<'_, '_> {
    fn section(&mut self, section: &[u8]) {
        // The first reading has found nothing wrong.
        let Ok(parts) = Subsections::new(section) else { return };
        for part in parts.flatten() {
            // Its kind and length are no addresses.
            self.misfits += self.fixups_in(part.start - subsection::HEADER, subsection::HEADER).len();
            match part.kind {
                subsection::SYMBOLS => {
                    let _ = walk::each_record(
                        section,
                        &part,
                        |_| (),
                        |found| {
                            self.record(&found);
                            Ok(())
                        },
                    );
                }
                _ => {
                    if let Placement::C13 | Placement::Last = scan::placement(part.kind) {
                        self.subsection(&part);
                    }
                }
            }
        }
    }

    fn record(&mut self, found: &Found<'_>) {
        let fixups = self.fixups_in(found.at, found.record.bytes.len());
        if found.to_module {
            let place = self.symbols.at();
            self.scope(found.traits.scope, place);
            let out = self.symbols.part(found.record.padded());
            self.misfits += copy(&self.context, found, &self.fixups[fixups.clone()], out);
            if found.traits.scope == Scope::Opens {
                self.link_scope(place);
            }
        }
        if found.to_globals {
            let global = self.context.scanned.globals[self.next_global];
            self.next_global += 1;
            if global.is_kept() {
                self.global(found, &global, fixups);
            }
        }
    }

    fn scope(&mut self, scope: Scope, place: usize) {
        if scope == Scope::Closes
            && let Some(opened) = self.scopes.pop()
        {
            let here = self.symbols_at + place as u32;
            put_u32(self.symbols.written(), opened + HEADER + 4, here);
        }
    }

    /// Notes a scope that opens at `place`, and tells it where the one around it is.
    fn link_scope(&mut self, place: usize) {
        let parent = self.scopes.last().map_or(0, |&parent| self.symbols_at + parent as u32);
        put_u32(self.symbols.written(), place + HEADER, parent);
        self.scopes.push(place);
    }

    fn global(&mut self, found: &Found<'_>, global: &Global, fixups: Range<usize>) {
        let Some(place) = global.procedure() else {
            let out = self.globals.part(found.record.padded());
            self.misfits += copy(&self.context, found, &self.fixups[fixups], out);
            return;
        };
        let local = matches!(found.record.kind, S_LPROC32 | S_LPROC32_ID | S_LPROC32_DPC | S_LPROC32_DPC_ID);
        let name = global.name(self.module.sections);
        let out = self.globals.part(global.size());
        put_u16(out, 0, (global.size() - 2) as u16);
        put_u16(out, 2, if local { S_LPROCREF } else { S_PROCREF });
        put_u32(out, 4, 0);
        put_u32(out, 8, place);
        // Modules are counted from 1 on.
        put_u16(out, 12, (self.number + 1) as u16);
        out[REFERENCE..REFERENCE + name.len()].copy_from_slice(name);
        out[REFERENCE + name.len()..].fill(0);
    }

    /// The numbers of the fixups for the next `len` bytes at `start` of the section.
    fn fixups_in(&mut self, start: usize, len: usize) -> Range<usize> {
        let is_before = |fixup: &Fixup, end: usize| (fixup.offset as usize) < end;
        while self.fixups.get(self.next_fixup).is_some_and(|fixup| is_before(fixup, start)) {
            self.next_fixup += 1;
        }
        let first = self.next_fixup;
        while self.fixups.get(self.next_fixup).is_some_and(|fixup| is_before(fixup, start + len)) {
            self.next_fixup += 1;
        }
        first..self.next_fixup
    }

    fn subsection(&mut self, part: &Subsection<'_>) {
        let fixups = self.fixups_in(part.start, part.contents.len());
        let size = part.contents.len().next_multiple_of(4);
        let writer = match part.kind {
            subsection::FILECHKSMS => &mut self.file_table,
            _ => &mut self.c13,
        };
        writer.u32(part.kind);
        writer.u32(size as u32);
        let out = writer.part(size);
        out[..part.contents.len()].copy_from_slice(part.contents);
        out[part.contents.len()..].fill(0);
        self.misfits += match part.kind {
            subsection::LINES => apply(&self.fixups[fixups], part.start, &mut out[..part.contents.len()]),
            // No others have addresses.
            _ => fixups.len(),
        };
        let word = |at| u32_at(part.contents, at);
        match part.kind {
            subsection::INLINEELINES => {
                let _ = scan::each_inlinee(part.contents, |at| {
                    put_u32(out, at, inlinee_number(&self.context.lookup, word(at)?).unwrap_or(0));
                    Ok(())
                });
            }
            subsection::FILECHKSMS => {
                let _ = scan::each_file(part.contents, |at| {
                    put_u32(out, at, self.context.scanned.name_offset(word(at)?).unwrap_or(0));
                    Ok(())
                });
            }
            _ => {}
        }
    }
}

/// Copies a record to `out`: relocated, with the kind, type indices and strings that it has in a PDB. Returns
/// how many fixups did not fit.
#[inline]
fn copy(context: &Context<'_>, found: &Found<'_>, fixups: &[Fixup], out: &mut [u8]) -> usize {
    let record = found.record;
    records::copy_padded(record.bytes, out, false);
    // Lengths, kinds and counts are no addresses.
    let body_at = found.at + HEADER;
    let before = match found.traits.refs {
        Refs::Ids => fixups.len(),
        _ => fixups.partition_point(|fixup| (fixup.offset as usize) < body_at),
    };
    let misfits = before + apply(&fixups[before..], body_at, &mut out[HEADER..record.bytes.len()]);
    put_u16(out, 2, symbol::kind_in_pdb(record.kind));
    let body = record.body();
    // The first reading has found that all of it is there.
    let _ = symbol::each_ref(found.traits, body, |at, space| {
        let mut number = number_of(&context.lookup, u32_at(body, at)?, space);
        if found.traits.streams == Streams::Procedure && space == Space::Id {
            number = context.types.function_type(number).unwrap_or(0);
        }
        put_u32(out, HEADER + at, number);
        Ok(())
    });
    if let Some(at) = found.traits.string
        && let Ok(local) = u32_at(body, at.into())
    {
        put_u32(out, HEADER + usize::from(at), context.scanned.name_offset(local).unwrap_or(0));
    }
    misfits
}

/// Adds fixups to bytes that are at `start` of their section. Returns how many reach beyond them.
fn apply(fixups: &[Fixup], start: usize, out: &mut [u8]) -> usize {
    let mut misfits = 0;
    for fixup in fixups {
        let at = fixup.offset as usize - start;
        match (fixup.size, out.get_mut(at..at + usize::from(fixup.size))) {
            (2, Some(bytes)) => add(bytes, fixup.value),
            (4, Some(bytes)) => add(bytes, fixup.value),
            (8, Some(bytes)) => add(bytes, fixup.value),
            _ => misfits += 1,
        }
    }
    misfits
}

/// Adds to a number of up to 8 bytes; what is carried out of it is lost.
#[inline]
fn add(bytes: &mut [u8], value: u64) {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let sum = u64::from_le_bytes(word).wrapping_add(value).to_le_bytes();
    bytes.copy_from_slice(&sum[..bytes.len()]);
}
