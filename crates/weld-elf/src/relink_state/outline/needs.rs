//! What the relocations of an object's sections ask for, as far as the scan looks
//! ([`crate::live::reloc_scan`]): then GOT, PLT, dynamic relocations and what gc keeps are as they were.
//!
//! Calls of functions of the output and distances to what is in it need nothing ([`super::nothing`]). Of others
//! it does not count where in a function they stand, nor how often they do, nor the bytes around; of instructions that may be rewritten, those that the rules look at do. So that is a set: of
//! each section if it matters who refers to what, else of the object. What may become a dynamic relocation
//! counts with its place and addend, in order, but for the place of a local function in its section, if that may
//! change. At fixed addresses, words and instructions with addresses need nothing that another one has not
//! needed.

use weld_common::digest::UnitDigest;

use super::{IS_LOCAL, One, SPREAD, of_words, short};
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::SectionId;
use crate::sections::SectionKind;
use crate::symbols::symbol_flags;
use crate::synth::rela;

/// What is asked for.
#[derive(Default)]
struct Asked {
    /// In order.
    list: Vec<u64>,
    /// In no order, and once.
    set: Vec<u64>,
}

impl Asked {
    /// Puts the set behind the list.
    fn close(&mut self) {
        self.set.sort_unstable();
        self.set.dedup();
        self.list.push(self.set.len() as u64);
        self.list.append(&mut self.set);
    }
}

/// The kind of section that relocations are in.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Instructions, with their bytes.
    Code(&'a [u8]),
    /// Data that nobody writes to, so the loader does not either.
    Constants,
    /// What may be written to, be it code.
    Data,
    /// Data with pointers, of which relinks write all relative relocations again.
    Relocated,
}

impl<'a> One<'_, '_, 'a> {
    pub(super) fn needs(&self) -> u128 {
        let gc = self.counts_references;
        let mut asked = Asked::default();
        for (index, shdr) in (0..).zip(self.object.shdrs) {
            let kept = self.kept(index);
            // Frames are of their functions.
            if shdr.sh_flags() & SHF_ALLOC == 0 || kept.is_none() || kept == Some(SectionKind::EhFrame) {
                continue;
            }
            let section = self.image.sections.get(SectionId(self.object.section_base + index));
            let relocs = self.image.sections.relocs(self.object, self.id.index(), section);
            let place = match shdr.sh_flags() & (SHF_EXECINSTR | SHF_WRITE) {
                0 => Place::Constants,
                SHF_EXECINSTR => Place::Code(self.data(index)),
                SHF_WRITE if self.may_come(index) && self.has_relatives() => Place::Relocated,
                _ => Place::Data,
            };
            if self.is_free_section(index) {
                // In any order, and it does not count how many of them ask for the same.
                let mut own = Asked::default();
                self.ask_for_all(relocs, place, &mut own);
                asked.set.append(&mut own.set);
                if !own.list.is_empty() {
                    // What the loader is told of a place is not written again: the section stays there.
                    if !matches!(place, Place::Code(_)) || self.image.options.relocs.text {
                        let is_moved = kept == Some(SectionKind::Guest);
                        own.list.extend([self.number(index).into(), u64::from(is_moved)]);
                    }
                    asked.set.push(short(of_words(&own.list)) as u64);
                }
                if gc {
                    asked.set.push(self.number(index).into());
                    asked.close();
                }
                continue;
            }
            let is_guest = kept == Some(SectionKind::Guest);
            if !is_guest {
                asked.list.push(u64::from(self.number(index)) << 32);
            }
            let before = asked.list.len();
            self.ask_for_all(relocs, place, &mut asked);
            // Those of a guest must ask for nothing that others do not ask for, too, in any order.
            if is_guest && asked.list.len() > before {
                asked.list.push(u64::MAX);
            }
            if gc {
                asked.close();
            }
        }
        asked.close();
        short(of_words(&asked.list))
    }

    /// Whether there may be more pointers that the loader adds to, or less of them: those are listed in order, and some
    /// entries are spare.
    fn has_relatives(&self) -> bool {
        !self.image.mode.pic || rela::may_have_spares(self.image.options, self.object.format())
    }

    /// Whether no other module can define a symbol.
    fn is_bound(&self, symbol: u32) -> bool {
        let is_there = (symbol as usize) < self.object.syms.len();
        let is_local = symbol < self.object.first_global;
        is_there
            && (is_local || !self.image.symbols[self.object.global(symbol)].has(symbol_flags::PREEMPTIBLE))
    }

    /// Of which kind a relocation is, and of which symbol.
    fn what(&self, reloc: &Rela, class: Class) -> u64 {
        let (kind, symbol) = (u64::from(reloc.kind()), reloc.sym());
        if symbol >= self.object.first_global || !self.has_others {
            return kind << 32 | u64::from(self.before(symbol));
        }
        // Rows know slots of local symbols by their numbers.
        let may_ask = !matches!(
            class,
            Class::Pc | Class::Plt | Class::Low | Class::None | Class::Address | Class::Narrow
        );
        let has_slot = may_ask && self.image.slots.position_of_local(self.id, symbol).is_some()
            || self.object.syms.get(symbol as usize).is_some_and(|sym| sym.kind() == STT_GNU_IFUNC);
        let number = if has_slot { symbol } else { 0 };
        (self.key(symbol) ^ (kind << 32 | u64::from(number)).wrapping_mul(SPREAD)) | IS_LOCAL
    }

    /// Adds what the relocations of a section ask for.
    fn ask_for_all(&self, relocs: &[Rela], place: Place, asked: &mut Asked) {
        let facts = self.image.mode.machine.facts();
        // Which branches take thunks depends on where they stand.
        let by_place = facts.branches.is_some() && !self.image.thunks.is_empty();
        // Of a sequence for thread-local storage the first relocation says what the next ones need.
        let is_sequence =
            |class| matches!(class, Class::TlsGd | Class::TlsLd | Class::TlsDesc | Class::TlsDescCall);
        let in_order = by_place || relocs.iter().any(|reloc| is_sequence(facts.class(reloc.kind())));
        // What another module defines is stood in for, unless the loader may fill in whole words of code.
        let is_stood_in = |class| class == Class::Narrow || self.image.options.relocs.text;
        let is_fixed = |class, symbol| !self.image.mode.pic && (is_stood_in(class) || self.is_bound(symbol));
        for (i, reloc) in relocs.iter().enumerate() {
            if !by_place && self.needs_nothing(relocs, i, place) {
                continue;
            }
            let class = facts.class(reloc.kind());
            let what = self.what(reloc, class);
            let near = match (class, place) {
                (Class::Pc | Class::Plt | Class::Low | Class::None | Class::TlsMark, Place::Code(_))
                | (Class::TpOff | Class::DtpOff | Class::GotOff | Class::GotBase, Place::Code(_))
                | (Class::Pc, Place::Constants)
                    if !by_place =>
                {
                    if in_order { &mut asked.list } else { &mut asked.set }.push(what);
                    continue;
                }
                (Class::Address | Class::Narrow, Place::Code(_) | Place::Constants)
                    if !by_place && is_fixed(class, reloc.sym()) =>
                {
                    if in_order { &mut asked.list } else { &mut asked.set }.push(what);
                    continue;
                }
                (Class::TlsGd | Class::TlsLd, Place::Code(code)) => Some((code, self.looks.call)),
                (
                    Class::Got | Class::GotRelax | Class::GotTp | Class::TlsDesc | Class::TlsDescCall,
                    Place::Code(code),
                ) => Some((code, self.looks.slot)),
                _ => None,
            };
            let mut addend = reloc.r_addend().cast_unsigned();
            if class == Class::Address
                && reloc.sym() < self.object.first_global
                && self.may_shift(reloc.sym())
            {
                addend = 0;
            }
            let Some((code, near)) = near.filter(|_| !by_place) else {
                asked.list.extend([what, addend, reloc.r_offset()]);
                continue;
            };
            // How far the call is that belongs to it.
            let next = relocs.get(i + 1).map_or(0, |next| next.r_offset().wrapping_sub(reloc.r_offset()));
            let next = if matches!(class, Class::TlsGd | Class::TlsLd) { next } else { 0 };
            let at = usize::try_from(reloc.r_offset()).unwrap_or(usize::MAX).min(code.len());
            let around = &code[at.saturating_sub(near.0)..code.len().min(at.saturating_add(near.1))];
            let around = short(UnitDigest::of(around)) as u64;
            match in_order {
                true => asked.list.extend([what, addend, next, around]),
                false => asked.set.push(short(of_words(&[what, addend, around])) as u64),
            }
        }
    }
}
