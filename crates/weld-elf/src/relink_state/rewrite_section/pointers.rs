//! Pointers of the object that the loader relocates, whose values are addends in `.rela.dyn`, and those that slots
//! have to what it defines.
//!
//! A value changes where it is the address of a function that has moved. Entries for relative relocations are in
//! the order of their places, if they are combined; so that of a place is found, or is not there. What a slot
//! holds of other kinds is not written again.

use weld_common::diag::DiagSink;

use super::super::rows::{NONE, OutputRow};
use super::{Alone, Missing, Write};
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::sections::SectionKind;
use crate::symbol_names::Rank;
use crate::symbols::symbol_flags;

/// Where an entry has its addend.
const ADDEND: std::ops::Range<usize> = 16..24;

impl Alone<'_, '_> {
    /// The addends that are not what they were, of pointers to what may move in the sections `of` the object (by header
    /// index).
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn pointers(&self, sink: &DiagSink, of: impl Fn(u32) -> bool) -> Result<Vec<Write>, Missing> {
        let image = self.image(sink);
        let (facts, object) = (self.known.machine.facts(), &self.resolved.objects[0]);
        let mut wanted = Vec::new();
        if !image.mode.pic {
            return Ok(Vec::new());
        }
        for row in self.known.state.sections_of(self.input).iter().filter(|row| of(row.ordinal)) {
            let is_loaded = object.shdrs[row.ordinal as usize].sh_flags() & SHF_ALLOC != 0;
            let is_reversed = row.kind == SectionKind::Reversed as u8;
            if !is_loaded || row.kind != SectionKind::Regular as u8 && !is_reversed {
                continue;
            }
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(row.ordinal)));
            for reloc in relocs.iter().filter(|reloc| facts.class(reloc.kind()) == Class::Address) {
                let place = image.place(object, reloc.sym(), reloc.r_addend());
                let is_known = place.flags
                    & (symbol_flags::KIND | symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC)
                    == symbol_flags::DEFINED;
                if is_known && !place.dead && self.may_be_elsewhere(object, reloc.sym()) {
                    // Packed relocations are of even places, and others have entries that are in another order.
                    let align = object.shdrs[row.ordinal as usize].sh_addralign();
                    let is_odd = align < 2 || reloc.r_offset() % 2 != 0;
                    if is_reversed || is_odd && self.known.options.relocs.pack_relr {
                        return Err(Missing::Function);
                    }
                    let value = place.address.wrapping_add(place.addend as u64).get();
                    wanted.push((row.address.wrapping_add(reloc.r_offset()), value));
                }
            }
        }
        if wanted.is_empty() { Ok(Vec::new()) } else { self.found(&wanted) }
    }

    /// The words of the GOT with addresses of what the object defines and what may have moved, and these.
    ///
    /// # Errors
    /// If something else has such an address.
    pub fn slots(&self, sink: &DiagSink) -> Result<Vec<Write>, Missing> {
        let (image, object, state) = (self.image(sink), &self.resolved.objects[0], self.known.state);
        let mut wanted = Vec::new();
        for slot in &self.slots.list {
            let (flags, address) = match slot.local {
                Some((_, symbol)) if self.may_move(object, symbol) => {
                    let place = image.local_place(object, symbol, 0);
                    (place.flags, place.address)
                }
                None if self.is_mine(slot.id) => {
                    (self.symbols[slot.id].flags(), self.symbols[slot.id].address())
                }
                _ => continue,
            };
            if flags & symbol_flags::PREEMPTIBLE != 0 {
                continue;
            }
            if slot.plt != NONE || slot.signed || flags & symbol_flags::IFUNC != 0 {
                // That of a name has not moved ([`super::moves`]).
                if slot.local.is_some() {
                    return Err(Missing::Function);
                }
                continue;
            }
            if slot.got != NONE {
                wanted.push((state.image.got + image.format().word() * u64::from(slot.got), address.get()));
            }
        }
        match image.mode.pic && !self.known.options.relocs.pack_relr {
            _ if wanted.is_empty() => Ok(Vec::new()),
            true => self.found(&wanted),
            false => self.words(&wanted),
        }
    }

    /// Whether the object has the definition of a name, and in a section in which it may move.
    fn is_mine(&self, id: SymbolId) -> bool {
        let (entry, object) = (self.resolved.names.get(id), &self.resolved.objects[0]);
        let is_defined = matches!(entry.rank(), Rank::Strong | Rank::Weak) && entry.file() == object.file;
        is_defined && self.may_move(object, entry.sym())
    }

    /// Words of the image that are not these values.
    fn words(&self, wanted: &[(u64, u64)]) -> Result<Vec<Write>, Missing> {
        let format = self.known.machine.facts().target.format;
        let mut writes = Vec::new();
        for (place, value) in wanted {
            let is_around = |out: &&OutputRow| {
                place.checked_sub(out.address).is_some_and(|at| at < out.size) && out.flags & SHF_ALLOC != 0
            };
            let out = self.known.state.outputs.iter().find(is_around).ok_or(Missing::Function)?;
            let mut bytes = vec![0; format.word() as usize];
            format.put(&mut bytes, *value);
            writes.push((out.offset + (place - out.address), bytes));
        }
        Ok(writes)
    }

    /// Whether what a symbol stands for may be at another place than it was: a name is where the definition is
    /// that counts, whatever the object has of it.
    fn may_be_elsewhere(&self, object: &Object, symbol: u32) -> bool {
        if symbol < object.first_global || symbol as usize >= object.syms.len() {
            return self.may_move(object, symbol);
        }
        let entry = self.resolved.names.get(object.global(symbol));
        entry.file() != object.file || self.may_move(object, entry.sym())
    }

    /// The addends of the entries for these places, where they are not these values.
    fn found(&self, wanted: &[(u64, u64)]) -> Result<Vec<Write>, Missing> {
        let options = &self.known.options.relocs;
        if options.pack_relr {
            // They are in their places.
            return Ok(Vec::new());
        }
        if options.apply_dynamic_relocs {
            return Err(Missing::Function);
        }
        let state = self.known.state;
        let format = self.known.machine.facts().target.format;
        let table = state.outputs.iter().find(|out| state.text(out.name) == b".rela.dyn");
        let table = table.filter(|_| options.combreloc && format.is_native() && format.word() == 8);
        let table = table.ok_or(Missing::Function)?;
        let relative = self.known.machine.facts().dynamic.relative;
        let entry = |number: u64| -> Result<Rela, Missing> {
            let at = table.offset + number * Rela::SIZE as u64;
            let bytes = self.known.left.read(at, Rela::SIZE).ok_or(Missing::Function)?;
            bytes.try_into().map(Rela).map_err(|_| Missing::Function)
        };
        let mut writes = Vec::new();
        for (place, value) in wanted {
            let (mut low, mut high) = (0, table.size / Rela::SIZE as u64);
            while low < high {
                let middle = low + (high - low) / 2;
                let rela = entry(middle)?;
                // Those that are not relative come last.
                match rela.kind() == relative && rela.r_offset() < *place {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            let found =
                Some(low).filter(|low| *low < table.size / Rela::SIZE as u64).map(&entry).transpose()?;
            let found = found.filter(|rela| rela.kind() == relative && rela.r_offset() == *place);
            let found = found.ok_or(Missing::Function)?;
            if found.r_addend().cast_unsigned() != *value {
                let at = low * Rela::SIZE as u64 + ADDEND.start as u64;
                writes.push((table.offset + at, value.to_le_bytes().to_vec()));
            }
        }
        Ok(writes)
    }
}
