//! Pointers of the object that the loader relocates, whose values are addends in `.rela.dyn`, and those that slots
//! have to what it defines.
//!
//! A value changes where it is the address of a function that has moved. Entries for relative relocations are in
//! the order of their places, if they are combined; who has those of all objects writes them
//! (`relink/patch/told.rs`). What a slot
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
use crate::synth::rela::may_have_spares;

/// A place that the loader adds to, and what is there before that.
pub type Pointer = (u64, u64);

/// What the loader is told of free sections.
#[derive(Default)]
pub struct Told {
    pub relative: Vec<Pointer>,
    /// Addresses of what other modules define.
    pub symbolic: Vec<Rela>,
}

impl Told {
    pub fn add(&mut self, mut more: Told) {
        self.relative.append(&mut more.relative);
        self.symbolic.append(&mut more.symbolic);
    }
}

impl Alone<'_, '_> {
    /// Pointers to what may move in the sections `of` the object (by header index), with their values.
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn pointers(&self, sink: &DiagSink, of: impl Fn(u32) -> bool) -> Result<Vec<Pointer>, Missing> {
        let image = self.image(sink);
        let (facts, object) = (self.known.machine.facts(), &self.resolved.objects[0]);
        let mut wanted = Vec::new();
        if !image.mode.pic {
            return Ok(Vec::new());
        }
        for row in self.known.state.sections_of(self.input).iter().filter(|row| of(row.ordinal)) {
            let is_loaded = object.shdrs[row.ordinal as usize].sh_flags() & SHF_ALLOC != 0;
            let is_reversed = row.kind == SectionKind::Reversed as u8;
            let is_copied =
                [SectionKind::Regular, SectionKind::Guest].iter().any(|kind| row.kind == *kind as u8);
            if !is_loaded || !is_copied && !is_reversed {
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
        if wanted.is_empty() { Ok(Vec::new()) } else { self.listed(wanted) }
    }

    /// What the loader is told of sections of the object that are free or guests, if that is written again as a whole.
    ///
    /// # Errors
    /// If a name is none that the loader knows.
    pub fn told(&self, sink: &DiagSink) -> Result<Told, Missing> {
        let (image, object) = (self.image(sink), &self.resolved.objects[0]);
        let facts = self.known.machine.facts();
        let mut told = Told::default();
        if !may_have_spares(self.known.options, object.format()) {
            return Ok(told);
        }
        for row in self.known.state.sections_of(self.input) {
            let shdr = &object.shdrs[row.ordinal as usize];
            let is_free = row.kind == SectionKind::Guest as u8
                || self.lost.free().iter().any(|(_, index)| *index == row.ordinal);
            if shdr.sh_flags() & SHF_WRITE == 0 || !is_free {
                continue;
            }
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(row.ordinal)));
            for reloc in relocs.iter().filter(|reloc| facts.class(reloc.kind()) == Class::Address) {
                let place = image.place(object, reloc.sym(), reloc.r_addend());
                let at = row.address.wrapping_add(reloc.r_offset());
                const KNOWN: u32 = symbol_flags::KIND | symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC;
                if place.flags & KNOWN == symbol_flags::DEFINED {
                    let value = place.address.wrapping_add(place.addend as u64).get();
                    // Where the image is not moved, that is known.
                    told.relative.extend(image.mode.pic.then_some((at, value)));
                } else if place.flags & symbol_flags::PREEMPTIBLE != 0 {
                    let number = self.dynamic_number(reloc.sym()).ok_or(Missing::Target(reloc.sym()))?;
                    told.symbolic.push(Rela::make(at, number, facts.dynamic.address, reloc.r_addend()));
                }
            }
        }
        Ok(told)
    }

    /// The number in `.dynsym` of what one of the object's symbols is known by.
    fn dynamic_number(&self, symbol: u32) -> Option<u32> {
        let state = self.known.state;
        let at = symbol.checked_sub(self.input.first_global)?;
        let mention = state.mentions.get(self.input.first_mention as usize + at as usize)?;
        let name = state.names.get(mention.name as usize)?;
        (mention.symbol == symbol && name.dynamic != 0).then_some(name.dynamic)
    }

    /// The words of the GOT with addresses of what the object defines and what may have moved, and these; and those of
    /// them that the loader adds to, as pointers.
    ///
    /// # Errors
    /// If something else has such an address.
    pub fn slots(&self, sink: &DiagSink) -> Result<(Vec<Write>, Vec<Pointer>), Missing> {
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
                wanted.push((state.image.got + image.bases.slot * u64::from(slot.got), address.get()));
            }
        }
        match image.mode.pic && !self.known.options.relocs.pack_relr {
            _ if wanted.is_empty() => Ok(Default::default()),
            true => Ok((Vec::new(), self.listed(wanted)?)),
            false => Ok((self.words(&wanted)?, Vec::new())),
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

    /// Those of these pointers whose values are in `.rela.dyn`; packed ones are in their places.
    fn listed(&self, wanted: Vec<Pointer>) -> Result<Vec<Pointer>, Missing> {
        let options = &self.known.options.relocs;
        if options.pack_relr {
            return Ok(Vec::new());
        }
        let is_known = may_have_spares(self.known.options, self.known.machine.facts().target.format);
        if is_known { Ok(wanted) } else { Err(Missing::Function) }
    }
}
