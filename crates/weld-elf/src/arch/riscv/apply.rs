//! Applying RISC-V's relocations, in loops of its own: bytes may be gone before a place, and what a
//! relocation stores may depend on another one.
//!
//! What a value is, is said by the common [`Site`], as on other machines; here is what becomes of an
//! instruction, where it is now, and where the other half of a value is found.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::code::{self, *};
use super::relax::{self, is_marked};
use super::types::*;
use super::{Riscv, Rules};
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::leb::{self, Pair, put_difference};
use crate::arch::relax_deltas::{RelaxDelta, gone_at, offset_before};
use crate::arch::rules::{Failure, FieldAt};
use crate::arch::site::Site;
use crate::elf::Rela;
use crate::symbol_flags;

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated<const WIDE: bool, S: Site>(site: &S, out: &mut [u8]) {
    let (relocs, deltas) = (site.relocs(), site.deltas());
    let mut applier =
        Applier::<S, WIDE> { site, relocs, deltas, next: 0, add: None, by_offset: OnceCell::new() };
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
    /// Where the last addition of a descriptor's sequence is that has become an upper half, after the
    /// relocation that begins the sequence.
    add: Option<(usize, Address)>,
    /// Relocations with upper halves by their places, if relocations are in no order.
    by_offset: OnceCell<HashMap<u64, usize>>,
}

impl<S: Site, const WIDE: bool> Applier<'_, S, WIDE> {
    /// Applies relocation `i`, and says how many after it were with it.
    fn one(&mut self, i: usize, out: &mut [u8]) -> Result<usize, Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let kind = reloc.kind();
        let class = Riscv::<WIDE>::class(kind);
        if class == Class::None && !matches!(kind, R_ALIGN | R_TPREL_ADD) {
            return Ok(0);
        }
        let at = self.place_of(reloc);
        let form = self.form(i);
        if form != relax::STAYS {
            return self.shorter(i, form, FieldAt { out, at }).map(|()| 0);
        }
        if at.checked_add(Riscv::<WIDE>::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            return Ok(0);
        }
        match kind {
            R_ALIGN => return self.unpadded(reloc, at).map(|()| 0),
            R_TPREL_ADD => return Ok(0),
            R_PCREL_LO12_I | R_PCREL_LO12_S => return self.lower(i, FieldAt { out, at }).map(|()| 0),
            R_LO12_I | R_LO12_S if self.may_be_alone(i) => {
                return self.lower_alone(reloc, FieldAt { out, at }).map(|()| 0);
            }
            R_TPREL_LO12_I | R_TPREL_LO12_S if self.may_be_alone(i) => {
                return self.lower_of_thread(i, FieldAt { out, at }).map(|()| 0);
            }
            R_TLSDESC_HI20 | R_TLSDESC_LOAD_LO12 | R_TLSDESC_ADD_LO12 | R_TLSDESC_CALL => {
                return self.descriptor(i, FieldAt { out, at }).map(|()| 0);
            }
            R_SET_ULEB128 => return self.leb(i, FieldAt { out, at }),
            R_SUB_ULEB128 => {
                site.refuse(reloc, "has no R_RISCV_SET_ULEB128 before it");
                return Ok(0);
            }
            _ => {}
        }
        let here = site.address().wrapping_add(at as u64);
        let place = site.resolve(reloc);
        let plain = place.is_settled() && !place.is_undefined();
        let target = place.address.wrapping_add(place.addend as u64);
        let done = match class {
            Class::Pc | Class::Plt if plain => {
                Riscv::<WIDE>::put_distance(kind, out, at, target, here).map(|()| 0)
            }
            Class::Narrow if plain => {
                site.check_frame(reloc, place);
                Riscv::<WIDE>::put(kind, out, at, target.get()).map(|()| 0)
            }
            Class::Low | Class::Term if plain => Riscv::<WIDE>::put(kind, out, at, target.get()).map(|()| 0),
            _ => site.special::<Riscv<WIDE>>(class, i, FieldAt { out, at }, place),
        };
        done.or_else(|failure| match self.low_address(i, here) {
            Some(address) => {
                let register = to(instruction(out, at).ok_or(Failure::Form)?);
                put_instruction(out, at, lui(register, address));
                Ok(0)
            }
            None => Err(failure),
        })
    }

    /// The address that relocation `i` of an instruction at `here` stores an upper half of, if the distance
    /// is too far but the address itself is not, such as that of a weak symbol that nothing defines. Then
    /// `lui` makes it, in an image that does not move.
    fn low_address(&self, i: usize, here: Address) -> Option<i64> {
        let site = self.site;
        let reloc = &self.relocs[i];
        if reloc.kind() != R_PCREL_HI20 || site.settings().pic {
            return None;
        }
        let address = site.target(reloc);
        let far = !has_halves(WIDE, address.wrapping_sub(here) as i64);
        (far && has_halves(WIDE, address.get() as i64)).then_some(address.get() as i64)
    }

    /// Where the field of a relocation is among the bytes that are written.
    fn place_of(&mut self, reloc: &Rela) -> usize {
        let offset = reloc.r_offset();
        if self.deltas.is_empty() {
            return offset.wrapping_add(self.site.delta()) as usize;
        }
        let is_behind = |delta: Option<&RelaxDelta>| delta.is_none_or(|delta| u64::from(delta.end) > offset);
        let is_before = self.next == 0 || u64::from(self.deltas[self.next - 1].end) <= offset;
        if !is_before {
            self.next = self.deltas.partition_point(|delta| u64::from(delta.end) <= offset);
        }
        while !is_behind(self.deltas.get(self.next)) {
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

    /// What the place has become that relocation `j` changes.
    fn form_of(&self, j: usize) -> u8 {
        let offset = self.relocs[j].r_offset();
        let next = self.deltas.partition_point(|delta| u64::from(delta.end) <= offset);
        self.deltas
            .get(next)
            .filter(|delta| delta.reloc as usize == j)
            .map_or(relax::STAYS, |delta| delta.form)
    }

    /// Writes what is left of a place.
    fn shorter(&mut self, i: usize, form: u8, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        match form {
            relax::JUMP | relax::SHORT_JUMP => {
                let call = reloc.r_offset() as usize + 4;
                let register = to(instruction(site.input(), call).ok_or(Failure::Form)?);
                let kind = if form == relax::JUMP {
                    put_instruction(out, at, jump(register));
                    R_JAL
                } else {
                    put_short(out, at, if register == ZERO { SHORT_JUMP } else { SHORT_CALL });
                    R_RVC_JUMP
                };
                let here = site.address().wrapping_add(at as u64);
                let target = site.called(reloc);
                Riscv::<WIDE>::put_distance(kind, out, at, target, here)
            }
            relax::SHORT_LUI => {
                let register = to(instruction(site.input(), reloc.r_offset() as usize).ok_or(Failure::Form)?);
                put_short(out, at, SHORT_LUI | (register << 7) as u16);
                Riscv::<WIDE>::put(R_RVC_LUI, out, at, site.target(reloc).get())
            }
            relax::PADDING => self.padding(reloc, FieldAt { out, at }),
            // Those of other kinds find out by their lower halves.
            _ if reloc.kind() == R_HI20 && self.alone(site.target(reloc)).is_none() => Err(Failure::TooFar),
            // It is gone.
            _ => Ok(()),
        }
    }

    /// Padding is made anew: what was there may have been cut within an instruction.
    fn padding(&self, reloc: &Rela, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let padding = reloc.r_addend() as u64;
        let gone = gone_at(self.deltas, self.next);
        let left = (padding - u64::from(gone)) as usize;
        let end = self.site.address().wrapping_add((at + left) as u64);
        let align = (padding + 2).next_power_of_two();
        if !end.is_multiple_of(align) {
            let what = format!("has {padding} bytes of padding, too few for an alignment of {align}");
            self.site.refuse(reloc, &what);
        }
        if let Some(bytes) = out.get_mut(at..at + left) {
            put_nops(bytes);
        }
        Ok(())
    }

    /// Padding outside code is not looked at; then it has to be right as it is.
    fn unpadded(&self, reloc: &Rela, at: usize) -> Result<(), Failure> {
        let padding = reloc.r_addend() as u64;
        let end = self.site.address().wrapping_add(at as u64).wrapping_add(padding);
        let align = padding.checked_add(2).and_then(u64::checked_next_power_of_two);
        if align.is_none_or(|align| !end.is_multiple_of(align)) {
            self.site.refuse(reloc, "pads what is not code to an alignment that it has not");
        }
        Ok(())
    }

    /// The relocation with the upper half that relocation `i` names.
    fn upper_of(&self, i: usize) -> Option<usize> {
        let (relocs, reloc) = (self.relocs, &self.relocs[i]);
        let at = self.site.label(reloc)?;
        let is_it = |j: &usize| relocs[*j].r_offset() == at && is_high(relocs[*j].kind());
        // Mostly it is right before.
        if let Some(near) = (i.saturating_sub(4)..i).rev().find(is_it) {
            return Some(near);
        }
        let start = relocs.partition_point(|r| r.r_offset() < at);
        let end = relocs.len().min(start + 4);
        if let Some(found) = (start..end).find(is_it) {
            return Some(found);
        }
        let all = self.by_offset.get_or_init(|| {
            let high = relocs.iter().enumerate().filter(|(_, reloc)| is_high(reloc.kind()));
            high.map(|(j, reloc)| (reloc.r_offset(), j)).collect()
        });
        all.get(&at).copied()
    }

    /// The value whose upper half relocation `j` stores.
    fn value_of_upper(&self, j: usize) -> Result<i64, Failure> {
        self.site.distance::<Riscv<WIDE>>(j, self.here_of(j)).map(Riscv::<WIDE>::wrapped)
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
    fn lower(&self, i: usize, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let Some(j) = self.upper_of(i) else {
            let what = "names no instruction with the upper half of a distance";
            site.refuse(reloc, what);
            return Ok(());
        };
        if reloc.r_addend() != 0 {
            site.refuse(reloc, "has an addend, which the relocation of the upper half ought to have");
            return Ok(());
        }
        let upper = &self.relocs[j];
        if self.form_of(j) == relax::GONE {
            let pointer = site.settings().pointer.ok_or(Failure::Form)?;
            let value = Riscv::<WIDE>::wrapped(site.target(upper).wrapping_sub(pointer));
            return put_alone(reloc.kind(), FieldAt { out, at }, GP, value);
        }
        let mut value = self.value_of_upper(j)?;
        if !has_halves(WIDE, value) {
            value = self.low_address(j, self.here_of(j)).unwrap_or(value);
        }
        if upper.kind() == R_GOT_HI20 && site.is_without_slot::<Riscv<WIDE>>(j) {
            let load = instruction(out, at).ok_or(Failure::Form)?;
            put_instruction(out, at, addi(to(load), from(load), value));
            return Ok(());
        }
        Riscv::<WIDE>::put(reloc.kind(), out, at, value as u64)
    }

    /// Whether the upper half that belongs to the lower one of relocation `i` may be gone: it may be in
    /// another section.
    fn may_be_alone(&self, i: usize) -> bool {
        self.site.settings().relax && is_marked(self.relocs, i)
    }

    /// The register, 0 or that for data, from which an address needs no upper half, and its distance from
    /// there.
    fn alone(&self, target: Address) -> Option<(u32, i64)> {
        let value = Riscv::<WIDE>::wrapped(target.get());
        if is_low(value) {
            return Some((ZERO, value));
        }
        let distance = Riscv::<WIDE>::wrapped(target.wrapping_sub(self.site.settings().pointer?));
        is_low(distance).then_some((GP, distance))
    }

    /// The lower half of an address in code that may do without the upper one.
    fn lower_alone(&self, reloc: &Rela, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let target = self.site.target(reloc);
        match self.alone(target) {
            Some((register, value)) => put_alone(reloc.kind(), FieldAt { out, at }, register, value),
            None => Riscv::<WIDE>::put(reloc.kind(), out, at, target.get()),
        }
    }

    /// The same for an offset from the thread pointer.
    fn lower_of_thread(&self, i: usize, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let place = site.resolve(reloc);
        let target = place.address.wrapping_add(place.addend as u64);
        let offset = Riscv::<WIDE>::wrapped(target.wrapping_sub(site.settings().thread_pointer));
        if place.flags & symbol_flags::KIND == symbol_flags::DEFINED && is_low(offset) {
            return put_alone(reloc.kind(), FieldAt { out, at }, TP, offset);
        }
        site.special::<Riscv<WIDE>>(Class::TpOff, i, FieldAt { out, at }, place).map(drop)
    }

    /// An instruction of a sequence that asks a descriptor.
    fn descriptor(&mut self, i: usize, FieldAt { out, at }: FieldAt) -> Result<(), Failure> {
        let site = self.site;
        let reloc = &self.relocs[i];
        let kind = reloc.kind();
        let j = if kind == R_TLSDESC_HI20 { Some(i) } else { self.upper_of(i) };
        let Some(j) = j.filter(|j| self.relocs[*j].kind() == R_TLSDESC_HI20) else {
            site.refuse(reloc, "names no R_RISCV_TLSDESC_HI20");
            return Ok(());
        };
        let high = &self.relocs[j];
        if site.tls_descriptor(high).is_some() {
            return match kind {
                R_TLSDESC_CALL => Ok(()),
                _ => Riscv::<WIDE>::put(kind, out, at, self.value_of_upper(j)? as u64),
            };
        }
        let here = site.address().wrapping_add(at as u64);
        let code = match (site.thread_offset(high), kind) {
            (_, R_TLSDESC_HI20 | R_TLSDESC_LOAD_LO12) => NOP,
            (Some(offset), R_TLSDESC_ADD_LO12) => {
                fits_halves::<WIDE>(offset)?;
                lui(A0, offset)
            }
            // What adds the upper half is gone if there is none.
            (Some(offset), _) => {
                let offset = Riscv::<WIDE>::wrapped(offset as u64);
                addi(A0, if is_low(offset) { ZERO } else { A0 }, offset)
            }
            (None, R_TLSDESC_ADD_LO12) => {
                self.add = Some((j, here));
                let distance = site.got_tp(high)?.wrapping_sub(here) as i64;
                fits_halves::<WIDE>(distance)?;
                auipc(A0, distance)
            }
            (None, _) => {
                // The instruction before it has the upper half.
                let (_, before) = self.add.filter(|(of, _)| *of == j).ok_or(Failure::Form)?;
                let distance = site.got_tp(high)?.wrapping_sub(before) as i64;
                load(WIDE, A0, A0, distance)
            }
        };
        put_instruction(out, at, code);
        Ok(())
    }

    /// A difference of two labels as LEB128.
    fn leb(&self, i: usize, FieldAt { out, at }: FieldAt) -> Result<usize, Failure> {
        let site = self.site;
        let target = |reloc: &Rela| Some(site.target(reloc));
        put_difference::<Riscv<WIDE>>(site, i, &LEB, target, FieldAt { out, at })
    }
}

/// An instruction that makes a value alone, from a register that is known.
fn put_alone(kind: u32, FieldAt { out, at }: FieldAt, register: u32, value: i64) -> Result<(), Failure> {
    if !is_low(value) {
        return Err(Failure::TooFar);
    }
    let code = instruction(out, at).ok_or(Failure::Form)?;
    put_instruction(out, at, reading(code, register));
    match kind {
        R_PCREL_LO12_S | R_LO12_S | R_TPREL_LO12_S => put_lower_of_store(out, at, value),
        _ => put_lower(out, at, value),
    }
    Ok(())
}

fn fits_halves<const WIDE: bool>(value: i64) -> Result<(), Failure> {
    if has_halves(WIDE, value) { Ok(()) } else { Err(Failure::TooFar) }
}

/// A difference of two labels as LEB128.
const LEB: Pair = Pair { first: R_SET_ULEB128, second: R_SUB_ULEB128, adds: false };

/// Applies the relocations of a section outside memory. `tombstone` stands for what is gone.
pub fn debug<const WIDE: bool>(site: &impl Site, tombstone: u64, out: &mut [u8]) {
    let store = |kind, out: &mut [u8], at, value| {
        code::put(kind, Riscv::<WIDE>::of(kind), out, at, Riscv::<WIDE>::stored(kind, value));
    };
    leb::apply_in_debug::<Riscv<WIDE>>(site, &LEB, store, tombstone, out);
}
