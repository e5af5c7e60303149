//! What code becomes that compilers mark as such that may get shorter.
//!
//! | was | becomes, if it reaches |
//! |---|---|
//! | `auipc`, `jalr` | `jal`; `c.j`; with addresses of 32 bits also `c.jal` |
//! | `lui`, and what adds the lower half | only the latter, counting from 0 or gp; else `c.lui` |
//! | `auipc`, and what adds the lower half | only the latter, counting from gp |
//! | `lui`, `add` of tp, and what adds the lower half | only the latter, counting from tp |
//! | `auipc`, load of a slot | `auipc`, addition: the same bytes, without a slot |
//! | TLS descriptor: `auipc`, load, addition, call | halves of the offset; or `auipc`, load of its slot |
//! | padding | less of it |
//!
//! gp is counted from with `--relax-gp` only. An upper half may go only if all lower halves do without it:
//! those that name the same symbol, each of which must be marked as well. Which lower half belongs to which
//! upper one is not said where both name a symbol.
//!
//! Specification: psABI, chapter "Linker Relaxation".

use super::code::*;
use super::types::*;
use super::{EF_RVC, Riscv};
use crate::arch::class::Class;
use crate::arch::halves::{Half, Halves};
use crate::arch::relax_deltas::RelaxDelta;
use crate::arch::shrink::{Addresses, Place, Section, Shrink, Wrong};
use crate::elf::Rela;
use crate::symbol_flags;

/// What a place becomes: it stays; it is an instruction that goes; the shorter forms of a call and of `lui`;
/// padding.
pub const STAYS: u8 = 0;
pub const GONE: u8 = 1;
pub const JUMP: u8 = 2;
pub const SHORT_JUMP: u8 = 3;
pub const SHORT_LUI: u8 = 4;
pub const PADDING: u8 = 5;

/// Bytes of a call: `auipc`, `jalr`.
const CALL: u8 = 8;

/// Whether relocation `i` is marked as one of code that may get shorter.
#[inline]
pub fn is_marked(relocs: &[Rela], i: usize) -> bool {
    relocs.get(i + 1).is_some_and(|next| next.kind() == R_RELAX && next.r_offset() == relocs[i].r_offset())
}

/// Whether relocation `i` is that of `auipc rN, slot; ld rN, slot(rN)`: nobody else has what the first one
/// makes.
pub fn is_got_pair(wide: bool, bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
    let Some([high, _, low, _]) = relocs.get(i..).and_then(|relocs| relocs.first_chunk()) else {
        return false;
    };
    if low.kind() != R_PCREL_LO12_I
        || low.r_offset() != high.r_offset().wrapping_add(4)
        || !is_marked(relocs, i)
        || !is_marked(relocs, i + 2)
    {
        return false;
    }
    let Ok(at) = usize::try_from(high.r_offset()) else { return false };
    let (first, second) = (instruction(bytes, at), instruction(bytes, at.saturating_add(4)));
    let (Some(first), Some(second)) = (first, second) else { return false };
    is_auipc(first) && is_load(wide, second) && to(first) == from(second) && to(first) == to(second)
}

/// The alignment that padding of so many bytes is for.
fn alignment(padding: u64) -> u64 {
    (padding + 2).next_power_of_two()
}

/// Whether instructions of 2 bytes may come into the code. Padding that an assembler counted in instructions
/// of 4 bytes may be too short after them: there are objects in which only some functions have short ones.
fn takes_short(code: &Section) -> bool {
    let counts_words =
        |reloc: &Rela| reloc.kind() == R_ALIGN && reloc.r_addend() != 0 && reloc.r_addend() & 2 == 0;
    code.flags & EF_RVC != 0 && !code.relocs.iter().any(counts_words)
}

/// Families of halves: by symbol, and by the offset of the instruction with the upper half.
const ABSOLUTE: u8 = 0;
const THREAD_OFFSET: u8 = 1;
const DISTANCE: u8 = 2;

/// RISC-V's code.
pub struct Relax<const WIDE: bool>;

impl<const WIDE: bool> Relax<WIDE> {
    /// The halves in a section.
    fn halves(code: &Section) -> Halves {
        let mut halves = Vec::new();
        for (i, reloc) in code.relocs.iter().enumerate() {
            let by_symbol = (u64::from(reloc.sym()), reloc.r_addend());
            let (family, (key, addend)) = match reloc.kind() {
                R_LO12_I | R_LO12_S => (ABSOLUTE, by_symbol),
                R_TPREL_LO12_I | R_TPREL_LO12_S | R_TPREL_ADD => (THREAD_OFFSET, by_symbol),
                R_PCREL_LO12_I | R_PCREL_LO12_S if code.wanted.relax_gp => {
                    (DISTANCE, (code.label(reloc).unwrap_or(u64::MAX), 0))
                }
                _ => continue,
            };
            halves.push(Half { family, key, addend, marked: is_marked(code.relocs, i) });
        }
        Halves::new(halves)
    }

    /// The place of relocation `i`, if there is one: where it ends, and what is to be kept of its halves.
    fn site(code: &Section, i: usize, halves: &Halves, takes_short: bool) -> Option<(u64, u8)> {
        let reloc = &code.relocs[i];
        let at = reloc.r_offset();
        let instruction =
            |behind: u64| instruction(code.bytes, usize::try_from(at.checked_add(behind)?).ok()?);
        let first = instruction(0)?;
        let symbol = u64::from(reloc.sym());
        match reloc.kind() {
            R_CALL | R_CALL_PLT => {
                let second = instruction(4)?;
                let jumps = second & 0x707f == 0x67 && from(second) == to(first) && is_auipc(first);
                let short = to(second) == ZERO || to(second) == 1 && !WIDE;
                jumps.then_some((at + u64::from(CALL), u8::from(short && takes_short)))
            }
            R_HI20 => {
                let reach = halves.reach(ABSOLUTE, symbol, reloc.r_addend());
                Some((at + 4, reach.map_or(NEVER, |reach| reach.min(NEVER - 1))))
            }
            R_TPREL_HI20 | R_TPREL_ADD => {
                let reach = halves.reach(THREAD_OFFSET, symbol, reloc.r_addend())?;
                Some((at + 4, reach))
            }
            R_PCREL_HI20 if code.wanted.relax_gp => {
                let reach = halves.reach(DISTANCE, at, 0)?;
                Some((at + 4, reach))
            }
            R_TLSDESC_HI20 | R_TLSDESC_LOAD_LO12 | R_TLSDESC_ADD_LO12 if !code.wanted.shared => {
                Some((at + 4, 0))
            }
            _ => None,
        }
    }

    /// Where a place begins, or would.
    fn start(code: &Section, delta: &RelaxDelta) -> u64 {
        code.relocs[delta.reloc as usize].r_offset()
    }

    fn call_at(addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> Option<u8> {
        let reloc = &code.relocs[delta.reloc as usize];
        let distance =
            addresses.called(code, reloc)?.wrapping_sub(addresses.here(code, Self::start(code, delta))?);
        Some(Self::call(distance as i64, delta.extra))
    }

    /// What a call becomes; `extra` says whether there is a short form of it.
    fn call(distance: i64, extra: u8) -> u8 {
        let distance = Riscv::<WIDE>::wrapped(distance as u64);
        match () {
            _ if extra != 0 && (-0x800..0x800).contains(&distance) => SHORT_JUMP,
            _ if (-0x10_0000..0x10_0000).contains(&distance) => JUMP,
            _ => STAYS,
        }
    }

    /// An upper half of an address.
    fn upper(addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> Option<u8> {
        let place = addresses.place(code, &code.relocs[delta.reloc as usize])?;
        let value = Riscv::<WIDE>::wrapped(place.address.get());
        if delta.extra != NEVER
            && (is_near(value, delta.extra) || counts_from_pointer::<WIDE>(addresses, place, delta.extra))
        {
            return Some(GONE);
        }
        let register = to(instruction(code.bytes, delta.end as usize - 4)?);
        (delta.short && has_short_lui(register, value)).then_some(SHORT_LUI)
    }

    fn thread_offset(addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> Option<u8> {
        let place = addresses.place(code, &code.relocs[delta.reloc as usize])?;
        let offset = Riscv::<WIDE>::wrapped(place.address.wrapping_sub(addresses.thread_pointer()));
        let known = place.flags & symbol_flags::KIND == symbol_flags::DEFINED;
        (known && is_near(offset, delta.extra)).then_some(GONE)
    }

    /// An instruction of a sequence that asks a descriptor: of four, two are needed at most.
    fn descriptor(addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> Option<u8> {
        let reloc = &code.relocs[delta.reloc as usize];
        let high = if reloc.kind() == R_TLSDESC_HI20 { reloc } else { descriptor_of(code, reloc)? };
        // If one sequence has to ask it, all do.
        if addresses.has_slot(code, high, Class::TlsDesc) {
            return None;
        }
        match reloc.kind() {
            R_TLSDESC_HI20 | R_TLSDESC_LOAD_LO12 => Some(GONE),
            // The upper half of the offset, if that is known here and needs one.
            _ => {
                let place = addresses.place(code, high)?;
                let offset = Riscv::<WIDE>::wrapped(place.address.wrapping_sub(addresses.thread_pointer()));
                let known =
                    place.flags & (symbol_flags::KIND | symbol_flags::PREEMPTIBLE) == symbol_flags::DEFINED;
                (known && is_low(offset)).then_some(GONE)
            }
        }
    }
}

/// For [`RelaxDelta::extra`]: the upper half has to stay, in one form or another.
const NEVER: u8 = u8::MAX;

/// Whether a value and what lies up to so many bytes after it need no upper half.
fn is_near(value: i64, reach: u8) -> bool {
    is_low(value) && is_low(value + i64::from(reach))
}

/// Whether an address is near where the register for data points.
fn counts_from_pointer<const WIDE: bool>(addresses: &dyn Addresses, place: Place, reach: u8) -> bool {
    let fixed = matches!(
        place.flags & symbol_flags::KIND,
        symbol_flags::DEFINED | symbol_flags::COMMON | symbol_flags::INTERNAL | symbol_flags::ABSOLUTE
    );
    let distance =
        addresses.pointer().map(|pointer| Riscv::<WIDE>::wrapped(place.address.wrapping_sub(pointer)));
    fixed && distance.is_some_and(|distance| is_near(distance, reach))
}

/// The relocation of the first instruction of a descriptor's sequence, which another one names.
fn descriptor_of<'c>(code: &Section<'c>, reloc: &Rela) -> Option<&'c Rela> {
    let at = code.label(reloc)?;
    let start = code.relocs.partition_point(|r| r.r_offset() < at);
    code.relocs[start..].iter().take_while(|r| r.r_offset() == at).find(|r| r.kind() == R_TLSDESC_HI20)
}

impl<const WIDE: bool> Shrink for Relax<WIDE> {
    fn step(&self, flags: u32, relocs: &[Rela]) -> Option<u64> {
        let shrinks = relocs.iter().any(|reloc| matches!(reloc.kind(), R_ALIGN | R_RELAX));
        shrinks.then_some(if flags & EF_RVC != 0 { 2 } else { 4 })
    }

    fn sites(&self, code: &Section, deltas: &mut Vec<RelaxDelta>) -> Result<u64, Wrong> {
        let relocs = code.relocs;
        let relax = code.wanted.relax;
        let is_wanted = |reloc: &Rela| reloc.kind() == R_ALIGN || relax && reloc.kind() == R_RELAX;
        if !relocs.iter().any(is_wanted) {
            return Ok(1);
        }
        if u32::try_from(code.bytes.len()).is_err() || u32::try_from(relocs.len()).is_err() {
            let text = "is in a section of more than 4 GiB whose code may get shorter".into();
            return Err(Wrong { reloc: 0, text });
        }
        let halves = if relax { Self::halves(code) } else { Halves::new(Vec::new()) };
        let short = takes_short(code);
        let mut order: Vec<u32> = Vec::new();
        if !relocs.is_sorted_by_key(|reloc| reloc.r_offset()) {
            order = (0..relocs.len() as u32).collect();
            order.sort_by_key(|i| relocs[*i as usize].r_offset());
        }
        let (mut align, mut last) = (1, 0);
        for n in 0..relocs.len() {
            let i = order.get(n).map_or(n, |i| *i as usize);
            let reloc = &relocs[i];
            let (end, extra) = match reloc.kind() {
                R_ALIGN => {
                    let padding = reloc.r_addend() as u64;
                    let end =
                        reloc.r_offset().checked_add(padding).filter(|end| *end <= code.bytes.len() as u64);
                    let Some(end) = end.filter(|_| reloc.r_offset() >= last) else {
                        let text =
                            format!("R_RISCV_ALIGN has padding where there is none: {padding:#x} bytes");
                        return Err(Wrong { reloc: i, text });
                    };
                    align = align.max(alignment(padding));
                    (end, 0)
                }
                R_RELAX | R_NONE => continue,
                _ if !relax || !is_marked(relocs, i) => continue,
                _ => match Self::site(code, i, &halves, short) {
                    Some(site) if reloc.r_offset() >= last => site,
                    _ => continue,
                },
            };
            last = end;
            deltas.push(RelaxDelta {
                end: end as u32,
                reloc: i as u32,
                extra,
                short,
                ..RelaxDelta::default()
            });
        }
        Ok(align)
    }

    fn choose(&self, addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> u8 {
        let form = match code.relocs[delta.reloc as usize].kind() {
            R_CALL | R_CALL_PLT => Self::call_at(addresses, code, delta),
            R_HI20 => Self::upper(addresses, code, delta),
            R_PCREL_HI20 => {
                let place = addresses.place(code, &code.relocs[delta.reloc as usize]);
                let near =
                    place.is_some_and(|place| counts_from_pointer::<WIDE>(addresses, place, delta.extra));
                near.then_some(GONE)
            }
            R_TPREL_HI20 | R_TPREL_ADD => Self::thread_offset(addresses, code, delta),
            _ => Self::descriptor(addresses, code, delta),
        };
        form.unwrap_or(STAYS)
    }

    fn fixed(&self, kind: u32) -> Option<u8> {
        (kind == R_ALIGN).then_some(PADDING)
    }

    fn call_length(&self, kind: u32) -> Option<u8> {
        matches!(kind, R_CALL | R_CALL_PLT).then_some(CALL)
    }

    #[inline]
    fn call(&self, distance: i64, extra: u8) -> u8 {
        Self::call(distance, extra)
    }

    fn kept(&self, kind: u32, form: u8) -> u32 {
        match form {
            GONE => R_NONE,
            JUMP => R_JAL,
            SHORT_JUMP => R_RVC_JUMP,
            SHORT_LUI => R_RVC_LUI,
            _ => kind,
        }
    }

    fn gone(&self, code: &Section, delta: &RelaxDelta, form: u8, before: u32) -> u32 {
        match form {
            GONE | JUMP => 4,
            SHORT_JUMP => 6,
            SHORT_LUI => 2,
            PADDING => {
                let padding = code.relocs[delta.reloc as usize].r_addend() as u64;
                let start = u64::from(delta.end) - padding - u64::from(before);
                let needed = start.next_multiple_of(alignment(padding)) - start;
                padding.saturating_sub(needed) as u32
            }
            _ => 0,
        }
    }
}
