//! Applying LoongArch's relocations, in loops of its own: bytes may be gone before a place, and what a
//! relocation stores may depend on another one.
//!
//! What a value is, is said by the common [`Site`], as on other machines; here is what becomes of an
//! instruction, where it is now, which slot a part of an address is of, and where the upper half of a value
//! is that a label names.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::code::{self, *};
use super::relax::{self, Padding, first_of_pair, is_got_pair, is_marked};
use super::types::*;
use super::{LoongArch, Rules};
use crate::address::Address;
use crate::arch::class::{Class, From};
use crate::arch::leb::{self, Pair, put_difference};
use crate::arch::relax_deltas::{RelaxDelta, gone_at, offset_before};
use crate::arch::rules::{Failure, Field, FieldAt};
use crate::arch::site::{ResolvedAddress, Site};
use crate::elf::Rela;
use crate::symbol_flags;

/// A difference of two labels as LEB128.
const LEB: Pair = Pair { first: R_ADD_ULEB128, second: R_SUB_ULEB128, adds: true };

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated<const WIDE: bool, S: Site>(site: &S, out: &mut [u8]) {
    let (relocs, deltas) = (site.relocs(), site.deltas());
    let mut applier = Applier::<S, WIDE> { site, relocs, deltas, next: 0, by_offset: OnceCell::new() };
    let mut i = 0;
    while i < relocs.len() {
        let reloc = &relocs[i];
        match applier.one(i, out) {
            Ok(more) => i += more,
            Err(failure) => site.report(reloc, failure),
        }
        i += 1;
    }
}

struct Applier<'s, S, const WIDE: bool> {
    site: &'s S,
    relocs: &'s [Rela],
    deltas: &'s [RelaxDelta],
    /// The first delta that ends after the place before.
    next: usize,
    /// Relocations with upper halves that labels name by their places, if relocations are in no order.
    by_offset: OnceCell<HashMap<u64, usize>>,
}

impl<S: Site, const WIDE: bool> Applier<'_, S, WIDE> {
    /// Applies relocation `i`, and says how many after it were with it.
    fn one(&mut self, i: usize, out: &mut [u8]) -> Result<usize, Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let kind = reloc.kind();
        let class = LoongArch::<WIDE>::class(kind);
        if class == Class::None && !matches!(kind, R_ALIGN | R_TLS_LE_ADD_R) {
            return Ok(0);
        }
        let at = self.place_of(reloc);
        let form = self.form(i);
        if form != relax::STAYS {
            return self.shorter(i, form, FieldAt { out, at }).map(|()| 0);
        }
        if at.checked_add(LoongArch::<WIDE>::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            return Ok(0);
        }
        match kind {
            R_ALIGN => return self.unpadded(reloc, at).map(|()| 0),
            R_TLS_LE_ADD_R => return Ok(0),
            R_TLS_LE_LO12_R if site.settings().relax && is_marked(self.relocs, i) => {
                return self.lower_of_thread(i, FieldAt { out, at }).map(|()| 0);
            }
            R_ADD_ULEB128 => {
                let target = |reloc: &Rela| Some(site.target(reloc));
                return put_difference::<LoongArch<WIDE>>(site, i, &LEB, target, FieldAt { out, at });
            }
            R_SUB_ULEB128 => {
                site.refuse(reloc, "has no R_LARCH_ADD_ULEB128 before it");
                return Ok(0);
            }
            _ if is_lower_of_label(kind) => return self.lower_of_label(i, FieldAt { out, at }).map(|()| 0),
            _ => {}
        }
        match class {
            Class::OtherHalf => self.part_of_slot(i, FieldAt { out, at }).map(|()| 0),
            Class::Got | Class::GotRelax | Class::GotTp | Class::TlsGd | Class::TlsDesc
                if LoongArch::<WIDE>::of(kind).from == From::Place =>
            {
                self.distance_of_slot(i, class, FieldAt { out, at })
            }
            _ => self.common(i, class, FieldAt { out, at }),
        }
    }

    /// Applies relocation `i` as on other machines.
    fn common(&self, i: usize, class: Class, FieldAt { out, at }: FieldAt) -> Result<usize, Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let kind = reloc.kind();
        let here = site.address().wrapping_add(at as u64);
        let place = site.resolve(reloc);
        let plain = place.is_settled() && !place.is_undefined();
        let target = place.address.wrapping_add(place.addend as u64);
        let done = match class {
            Class::Pc | Class::Plt if plain => {
                LoongArch::<WIDE>::put_distance(kind, out, at, target, here).map(|()| 0)
            }
            Class::Narrow if plain => {
                site.check_frame(reloc, place);
                LoongArch::<WIDE>::put(kind, out, at, target.get()).map(|()| 0)
            }
            Class::Low | Class::Term if plain => {
                LoongArch::<WIDE>::put(kind, out, at, target.get()).map(|()| 0)
            }
            _ => site.special::<LoongArch<WIDE>>(class, i, FieldAt { out: &mut *out, at }, place),
        };
        match kind {
            R_B26 => {
                site.branch::<LoongArch<WIDE>>(reloc, place, FieldAt { out, at }, done.map(drop));
                Ok(0)
            }
            R_PCALA_HI20 if done.is_err() => self.far_page(i, place, FieldAt { out, at }, done),
            _ => done,
        }
    }

    /// A distance between pages that has more than 32 bits is right if instructions follow that add its upper
    /// half. An address that itself has no more, such as that of a weak symbol that nothing defines, is made
    /// by `lu12i.w`, in an image that does not move.
    fn far_page(
        &self,
        i: usize,
        place: ResolvedAddress,
        FieldAt { out, at }: FieldAt,
        failed: Result<usize, Failure>,
    ) -> Result<usize, Failure> {
        if self.has_upper_half(i) {
            return Ok(0);
        }
        let address = place.address.wrapping_add(place.addend as u64).get() as i64;
        let code = instruction(out, at).filter(|code| is_pcalau12i(*code));
        let fits = i32::try_from(address.wrapping_add(0x800)).is_ok() && !self.site.settings().pic;
        match code.filter(|_| fits) {
            Some(code) => {
                put_instruction(out, at, lu12i(to(code), address.wrapping_add(0x800) >> 12));
                Ok(0)
            }
            None => failed,
        }
    }

    /// Whether what is made by the instruction of relocation `i` gets an upper half by those after it.
    fn has_upper_half(&self, i: usize) -> bool {
        let reloc = &self.relocs[i];
        let after = self.relocs[i + 1..].iter().take(8);
        let is_it = |other: &Rela| {
            other.r_offset() == reloc.r_offset().wrapping_add(8)
                && matches!(
                    other.kind(),
                    R_PCALA64_LO20 | R_GOT64_PC_LO20 | R_TLS_IE64_PC_LO20 | R_TLS_DESC64_PC_LO20
                )
        };
        after.into_iter().any(is_it)
    }

    /// The distance of a slot, or what does without it.
    fn distance_of_slot(
        &self,
        i: usize,
        class: Class,
        FieldAt { out, at }: FieldAt,
    ) -> Result<usize, Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let slot = match site.slot(reloc, class) {
            Ok(slot) if !site.is_without_slot::<LoongArch<WIDE>>(i) => slot,
            _ => return site.special::<LoongArch<WIDE>>(class, i, FieldAt { out, at }, site.resolve(reloc)),
        };
        if reloc.r_addend() != 0 {
            return Err(Failure::Addend(reloc.r_addend()));
        }
        let here = site.address().wrapping_add(at as u64);
        match LoongArch::<WIDE>::put_distance(reloc.kind(), out, at, slot, here) {
            Err(Failure::Overflow(_)) if self.has_upper_half(i) => Ok(0),
            result => result.map(|()| 0),
        }
    }

    /// A part of the address of a slot for an address, or for a thread-local variable: there is one type for
    /// both.
    fn part_of_slot(&self, i: usize, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let first = first_of_pair(self.relocs, i)
            .filter(|first| is_got_pair(WIDE, site.input(), self.relocs, *first))
            .filter(|first| site.is_without_slot::<LoongArch<WIDE>>(*first));
        if first.is_some() {
            let load = instruction(out, at).ok_or(Failure::Form)?;
            let target = site.target(reloc);
            put_instruction(out, at, addi(WIDE, to(load), from(load), target.get() as i64));
            return Ok(());
        }
        let slot = site.slot(reloc, Class::TlsGd).or_else(|_| site.slot(reloc, Class::Got))?;
        if reloc.r_addend() != 0 {
            return Err(Failure::Addend(reloc.r_addend()));
        }
        let here = site.address().wrapping_add(at as u64);
        match reloc.kind() {
            kind @ (R_GOT64_PC_LO20 | R_GOT64_PC_HI12) => {
                LoongArch::<WIDE>::put_distance(kind, out, at, slot, here)
            }
            kind => LoongArch::<WIDE>::put(kind, out, at, slot.get()),
        }
    }

    /// Where the field of a relocation is among the bytes that are written.
    fn place_of(&mut self, reloc: &Rela) -> usize {
        let offset = reloc.r_offset();
        if self.deltas.is_empty() {
            return offset.wrapping_add(self.site.delta()) as usize;
        }
        let is_before = self.next == 0 || u64::from(self.deltas[self.next - 1].end) <= offset;
        if !is_before {
            self.next = self.deltas.partition_point(|delta| u64::from(delta.end) <= offset);
        }
        while self.deltas.get(self.next).is_some_and(|delta| u64::from(delta.end) <= offset) {
            self.next += 1;
        }
        offset_before(self.deltas, self.next, offset) as usize
    }

    /// What the place of relocation `i` has become; the last place that was asked for is its.
    fn form(&self, i: usize) -> u8 {
        match self.deltas.get(self.next) {
            Some(delta) if delta.reloc as usize == i => delta.form,
            _ => relax::STAYS,
        }
    }

    /// Writes what is left of a place.
    fn shorter(&mut self, i: usize, form: u8, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let here = site.address().wrapping_add(at as u64);
        match form {
            relax::JUMP => {
                let call = reloc.r_offset() as usize + 4;
                let register = to(instruction(site.input(), call).ok_or(Failure::Form)?);
                put_instruction(out, at, if register == ZERO { B } else { BL });
                let done = LoongArch::<WIDE>::put_distance(R_B26, out, at, site.called(reloc), here);
                // A call that could stay as it was does not need a thunk.
                done.map_err(|_| Failure::TooFar)
            }
            relax::NEAR => {
                let input = reloc.r_offset() as usize;
                let register = to(instruction(site.input(), input).ok_or(Failure::Form)?);
                put_instruction(out, at, pcaddi(register));
                let first = first_of_pair(self.relocs, i).ok_or(Failure::Form)?;
                let target = site.target(&self.relocs[first]);
                LoongArch::<WIDE>::put_distance(R_PCREL20_S2, out, at, target, here)
                    .map_err(|_| Failure::TooFar)
            }
            relax::PADDING => self.padding(reloc, FieldAt { out, at }),
            // What it made is not made by others, if it turned out to be needed.
            _ if matches!(reloc.kind(), R_TLS_IE_PC_HI20 | R_TLS_DESC_PC_HI20) => {
                let small = site.thread_offset(reloc).is_some_and(is_small);
                if small { Ok(()) } else { Err(Failure::TooFar) }
            }
            _ => Ok(()),
        }
    }

    /// Padding is made anew.
    fn padding(&self, reloc: &Rela, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let padding = Padding::of(reloc).ok_or(Failure::Form)?;
        let left = padding.bytes.saturating_sub(gone_at(self.deltas, self.next).into());
        let start = self.site.address().wrapping_add(at as u64);
        if left != padding.needed(start.get()) {
            let Padding { bytes, align, .. } = padding;
            let what = format!("has {bytes} bytes of padding, too few for an alignment of {align}");
            self.site.refuse(reloc, &what);
        }
        if let Some(bytes) = out.get_mut(at..at.saturating_add(left as usize)) {
            put_nops(bytes);
        }
        Ok(())
    }

    /// Padding outside code is not looked at; then it has to be right as it is.
    fn unpadded(&self, reloc: &Rela, at: usize) -> Result<(), Failure> {
        let start = self.site.address().wrapping_add(at as u64);
        let right = |padding: Padding| start.wrapping_add(padding.bytes).is_multiple_of(padding.align);
        if !Padding::of(reloc).is_some_and(right) {
            self.site.refuse(reloc, "pads what is not code to an alignment that it has not");
        }
        Ok(())
    }

    /// The relocation with the upper half that relocation `i` names by a label.
    fn upper_of(&self, i: usize) -> Option<usize> {
        let (relocs, reloc) = (self.relocs, &self.relocs[i]);
        let at = self.site.label(reloc)?;
        let is_it = |j: &usize| relocs[*j].r_offset() == at && is_labeled(relocs[*j].kind());
        // Mostly it is right before.
        if let Some(near) = (i.saturating_sub(4)..i).rev().find(is_it) {
            return Some(near);
        }
        let all = self.by_offset.get_or_init(|| {
            let high = relocs.iter().enumerate().filter(|(_, reloc)| is_labeled(reloc.kind()));
            high.map(|(j, reloc)| (reloc.r_offset(), j)).collect()
        });
        all.get(&at).copied()
    }

    /// The address of what relocation `j` changes.
    fn here_of(&self, j: usize) -> Address {
        let site = self.site;
        let offset = self.relocs[j].r_offset();
        let at = match self.deltas.is_empty() {
            true => offset.wrapping_add(site.delta()),
            false => site.output_offset(offset),
        };
        site.address().wrapping_add(at)
    }

    /// The lower half of a distance: the other half's relocation has the symbol.
    fn lower_of_label(&self, i: usize, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let Some(j) = self.upper_of(i) else {
            site.refuse(reloc, "names no instruction with the upper half of a distance");
            return Ok(());
        };
        if reloc.r_addend() != 0 {
            site.refuse(reloc, "has an addend, which the relocation of the upper half ought to have");
            return Ok(());
        }
        let upper = &self.relocs[j];
        let here = self.here_of(j);
        if upper.kind() == R_TLS_DESC_PCADD_HI20 && site.tls_descriptor(upper).is_none() {
            return match site.thread_offset(upper) {
                Some(offset) => {
                    let address = site.address().wrapping_add(at as u64);
                    let field = Field { out, at, address, kind: reloc.kind(), got_base: Address::ZERO };
                    relax::descriptor_to_local_exec(field, offset)
                }
                None => {
                    let distance = site.got_tp(upper)?.wrapping_sub(here) as i64;
                    put_instruction(out, at, load(WIDE, A0, A0, distance));
                    Ok(())
                }
            };
        }
        let value = site.distance::<LoongArch<WIDE>>(j, here)?;
        if upper.kind() == R_GOT_PCADD_HI20 && site.is_without_slot::<LoongArch<WIDE>>(j) {
            let code = instruction(out, at).ok_or(Failure::Form)?;
            put_instruction(out, at, addi(WIDE, to(code), from(code), value as i64));
            return Ok(());
        }
        LoongArch::<WIDE>::put(reloc.kind(), out, at, value)
    }

    /// The lower half of an offset from the thread pointer in code that may do without the upper one.
    fn lower_of_thread(&self, i: usize, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let place = site.resolve(reloc);
        let target = place.address.wrapping_add(place.addend as u64);
        let offset = LoongArch::<WIDE>::wrapped(target.wrapping_sub(site.settings().thread_pointer));
        if place.flags & symbol_flags::KIND == symbol_flags::DEFINED && is_low(offset) {
            let code = instruction(out, at).ok_or(Failure::Form)?;
            put_instruction(out, at, reading(code, TP));
        }
        site.special::<LoongArch<WIDE>>(Class::TpOff, i, FieldAt { out, at }, place).map(drop)
    }
}

/// Applies the relocations of a section outside memory. `tombstone` stands for what is gone.
pub fn debug<const WIDE: bool>(site: &impl Site, tombstone: u64, out: &mut [u8]) {
    let store = |kind, out: &mut [u8], at, value| {
        code::put(kind, LoongArch::<WIDE>::of(kind), out, at, LoongArch::<WIDE>::stored(kind, value));
    };
    leb::apply_in_debug::<LoongArch<WIDE>>(site, &LEB, store, tombstone, out);
}
