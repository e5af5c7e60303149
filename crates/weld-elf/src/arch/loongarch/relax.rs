//! Instructions that do without a slot or a call, and code that gets shorter because more is known when a
//! program is linked.
//!
//! | was | becomes, if it reaches |
//! |---|---|
//! | `pcalau12i`, `addi` of an address within 2 MiB | `pcaddi` |
//! | `pcalau12i`, `ld` of a slot with an address | `pcalau12i`, `addi` of the address itself; `pcaddi` |
//! | `pcaddu18i`, `jirl` | `b`, `bl` |
//! | `pcalau12i`, `ld` of a slot with an offset from the thread pointer | `lu12i.w`, `ori` of the offset, or only the latter |
//! | TLS descriptor: `pcalau12i`, `addi`, `ld`, `jirl` | the offset as above, or `pcalau12i`, `ld` of its slot |
//! | `lu12i.w`, `add` of the thread pointer, and what adds the lower half of an offset from it | only the latter, which counts from tp |
//! | padding | less of it |
//!
//! Places where bytes go have to be marked by their compilers, as has all that would miss what is gone.
//!
//! Specification: "ELF for the LoongArch Architecture", "Linker Relaxation".

use super::LoongArch;
use super::code::*;
use super::types::*;
use crate::arch::class::Class;
use crate::arch::halves::{Half, Halves};
use crate::arch::relax_deltas::RelaxDelta;
use crate::arch::rules::{Failure, Field, reaches};
use crate::arch::shrink::{Addresses, Section, Shrink, Wrong};
use crate::elf::Rela;
use crate::symbol_flags;

/// What a place becomes: it stays; it is an instruction that goes; a branch; `pcaddi` in the place of an
/// addition or a load, after an instruction that goes; padding.
pub const STAYS: u8 = 0;
pub const GONE: u8 = 1;
pub const JUMP: u8 = 2;
pub const NEAR: u8 = 3;
pub const PADDING: u8 = 4;

/// Bytes of a call that may become a branch.
const CALL: u8 = 8;
/// How far `pcaddi` reaches: `-NEAR_REACH..NEAR_REACH`.
const NEAR_REACH: i64 = 1 << 21;
/// Thread-local offsets are the only family of halves.
const THREAD_OFFSET: u8 = 0;
/// The largest alignment of code that is believed, as a power of two.
const ALIGNMENTS: u64 = 31;

/// Whether relocation `i` is marked as one of code that may get shorter.
#[inline]
pub fn is_marked(relocs: &[Rela], i: usize) -> bool {
    relocs.get(i + 1).is_some_and(|next| next.kind() == R_RELAX && next.r_offset() == relocs[i].r_offset())
}

/// The first relocation of two instructions, one after the other, that are both marked and of which the
/// second is that of relocation `i`.
pub fn first_of_pair(relocs: &[Rela], i: usize) -> Option<usize> {
    let first = i.checked_sub(2)?;
    pair(relocs, first).map(|_| first)
}

/// The relocations of two such instructions, the first of which is `i`.
fn pair(relocs: &[Rela], i: usize) -> Option<(&Rela, &Rela)> {
    let [first, _, second, _] = relocs.get(i..)?.first_chunk()?;
    let adjacent = second.r_offset() == first.r_offset().wrapping_add(4);
    (adjacent && is_marked(relocs, i) && is_marked(relocs, i + 2)).then_some((first, second))
}

/// The two instructions, if nobody else has what the first one makes.
fn pair_code(bytes: &[u8], first: &Rela) -> Option<(u32, u32)> {
    let at = usize::try_from(first.r_offset()).ok()?;
    let (high, low) = (instruction(bytes, at)?, instruction(bytes, at.checked_add(4)?)?);
    (to(high) == from(low) && to(high) == to(low)).then_some((high, low))
}

fn names_the_same(first: &Rela, second: &Rela) -> bool {
    (first.sym(), first.r_addend()) == (second.sym(), second.r_addend())
}

/// Whether relocation `i` is that of `pcalau12i rN, slot; ld rN, slot(rN)`.
pub fn is_got_pair(wide: bool, bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
    let Some((first, second)) = pair(relocs, i) else { return false };
    let Some((high, low)) = pair_code(bytes, first) else { return false };
    let matches = match first.kind() {
        R_GOT_PC_HI20 => {
            is_pcalau12i(high) && second.kind() == R_GOT_PC_LO12 && names_the_same(first, second)
        }
        R_GOT_PCADD_HI20 => is_pcaddu12i(high) && second.kind() == R_GOT_PCADD_LO12,
        _ => false,
    };
    matches && is_load(wide, low)
}

/// Whether relocation `i` is that of `pcalau12i rN, address; addi rN, rN, address`.
fn is_address_pair(wide: bool, bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
    let Some((first, second)) = pair(relocs, i) else { return false };
    let Some((high, low)) = pair_code(bytes, first) else { return false };
    let matches = match first.kind() {
        R_PCALA_HI20 => is_pcalau12i(high) && second.kind() == R_PCALA_LO12 && names_the_same(first, second),
        R_PCADD_HI20 => is_pcaddu12i(high) && second.kind() == R_PCADD_LO12,
        _ => false,
    };
    matches && is_addi(wide, low)
}

/// How many relocations after a page's the one with its lower bits is looked for, when both are a call. Assemblers
/// write them next to each other, with marks in between.
const CALL_AHEAD: usize = 32;

/// Whether relocation `i` is one of `pcalau12i rN, function; jirl rM, rN, function`, as C libraries call one another's
/// functions where a `bl` may not reach. Lower bits do not name the relocation of their page: it is one that names the
/// same symbol. If there are other uses of that page, their relocations of the lower bits say so themselves.
pub fn is_part_of_call(bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
    let code = |reloc: &Rela| instruction(bytes, usize::try_from(reloc.r_offset()).ok()?);
    let jump = |reloc: &Rela| code(reloc).filter(|code| is_jirl(*code));
    let first = &relocs[i];
    match first.kind() {
        _ if first.r_addend() != 0 => false,
        R_PCALA_LO12 => jump(first).is_some(),
        R_PCALA_HI20 => {
            let mut after = relocs[i + 1..].iter().take(CALL_AHEAD);
            let low = after.find(|low| low.kind() == R_PCALA_LO12 && names_the_same(first, low));
            let page = code(first).filter(|code| is_pcalau12i(*code));
            page.zip(low.and_then(jump)).is_some_and(|(page, jump)| to(page) == from(jump))
        }
        _ => false,
    }
}

/// Whether an instruction takes part in loading an offset from the thread pointer as expected.
pub fn is_initial_exec(wide: bool, kind: u32, bytes: &[u8], at: usize) -> bool {
    instruction(bytes, at).is_some_and(|code| match kind {
        R_TLS_IE_PC_HI20 => is_pcalau12i(code),
        R_TLS_IE_PC_LO12 => is_load(wide, code),
        _ => false,
    })
}

/// Whether an offset from the thread pointer fits two instructions.
fn fits_offset(tpoff: i64) -> Result<(), Failure> {
    reaches(i32::try_from(tpoff).is_ok())
}

pub fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
    fits_offset(tpoff)?;
    let code = instruction(field.out, field.at).ok_or(Failure::Form)?;
    let code = match field.kind {
        R_TLS_IE_PC_HI20 => lu12i(to(code), tpoff >> 12),
        _ => ori(to(code), if is_small(tpoff) { ZERO } else { from(code) }, tpoff),
    };
    put_instruction(field.out, field.at, code);
    Ok(())
}

/// The function behind a descriptor takes its address in a0, and leaves the offset there.
pub fn is_descriptor(wide: bool, kind: u32, bytes: &[u8], at: usize) -> bool {
    instruction(bytes, at).is_some_and(|code| match kind {
        R_TLS_DESC_PC_HI20 => is_pcalau12i(code) && to(code) == A0,
        R_TLS_DESC_PCADD_HI20 => is_pcaddu12i(code) && to(code) == A0,
        R_TLS_DESC_PC_LO12 => is_addi(wide, code) && to(code) == A0 && from(code) == A0,
        R_TLS_DESC_LD => is_load(wide, code) && from(code) == A0,
        _ => false,
    })
}

pub fn descriptor_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
    fits_offset(tpoff)?;
    let code = match field.kind {
        R_TLS_DESC_PC_HI20 | R_TLS_DESC_PCADD_HI20 => lu12i(A0, tpoff >> 12),
        R_TLS_DESC_PC_LO12 | R_TLS_DESC_PCADD_LO12 => ori(A0, if is_small(tpoff) { ZERO } else { A0 }, tpoff),
        _ => NOP,
    };
    put_instruction(field.out, field.at, code);
    Ok(())
}

/// Padding that a relocation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    pub bytes: u64,
    pub align: u64,
    /// If more bytes are needed, there are to be none.
    pub most: u64,
}

impl Padding {
    /// `None` if there is no such alignment.
    pub fn of(reloc: &Rela) -> Option<Padding> {
        let addend = reloc.r_addend() as u64;
        if reloc.sym() == 0 {
            let align = addend.checked_add(4)?.checked_next_power_of_two()?;
            return Some(Padding { bytes: addend, align, most: u64::MAX });
        }
        let (power, most) = (addend & 0xff, addend >> 8);
        let align = 1 << Some(power).filter(|power| (2..=ALIGNMENTS).contains(power))?;
        Some(Padding { bytes: align - 4, align, most: if most == 0 { u64::MAX } else { most } })
    }

    /// How many bytes are needed if it begins at `start`: an address, or an offset in a section so aligned.
    pub fn needed(&self, start: u64) -> u64 {
        let needed = start.wrapping_neg() & (self.align - 1);
        if needed > self.most { 0 } else { needed }
    }
}

/// LoongArch's code.
pub struct Relax<const WIDE: bool>;

impl<const WIDE: bool> Relax<WIDE> {
    /// What counts from the thread pointer in a section.
    fn halves(code: &Section) -> Halves {
        let relocs = code.relocs.iter().enumerate();
        let own = relocs.filter(|(_, reloc)| matches!(reloc.kind(), R_TLS_LE_LO12_R | R_TLS_LE_ADD_R));
        let half = |(i, reloc): (usize, &Rela)| Half {
            family: THREAD_OFFSET,
            key: reloc.sym().into(),
            addend: reloc.r_addend(),
            marked: is_marked(code.relocs, i),
        };
        Halves::new(own.map(half).collect())
    }

    /// The place of relocation `i`, if there is one: where it ends, and how far lower halves reach.
    fn site(code: &Section, i: usize, halves: &Halves) -> Option<(u64, u8)> {
        let (relocs, reloc) = (code.relocs, &code.relocs[i]);
        let at = reloc.r_offset();
        let instruction =
            |behind: u64| instruction(code.bytes, usize::try_from(at.checked_add(behind)?).ok()?);
        let first = instruction(0)?;
        let is_pair = |i: usize| {
            is_address_pair(WIDE, code.bytes, relocs, i) || is_got_pair(WIDE, code.bytes, relocs, i)
        };
        match reloc.kind() {
            R_CALL36 | R_CALL30 => {
                let second = instruction(4)?;
                let starts = if reloc.kind() == R_CALL36 { is_pcaddu18i(first) } else { is_pcaddu12i(first) };
                let jumps = starts && is_jirl(second) && from(second) == to(first);
                (jumps && matches!(to(second), ZERO | RA)).then_some((at + u64::from(CALL), 0))
            }
            R_PCALA_HI20 | R_GOT_PC_HI20 | R_PCADD_HI20 | R_GOT_PCADD_HI20 => {
                is_pair(i).then_some((at + 4, 0))
            }
            R_PCALA_LO12 | R_GOT_PC_LO12 | R_PCADD_LO12 | R_GOT_PCADD_LO12 => {
                first_of_pair(relocs, i).filter(|first| is_pair(*first)).map(|_| (at + 4, 0))
            }
            R_TLS_LE_HI20_R | R_TLS_LE_ADD_R => {
                let reach = halves.reach(THREAD_OFFSET, reloc.sym().into(), reloc.r_addend())?;
                Some((at + 4, reach))
            }
            R_TLS_IE_PC_HI20 | R_TLS_DESC_PC_HI20 | R_TLS_DESC_LD | R_TLS_DESC_CALL
                if !code.wanted.shared =>
            {
                Some((at + 4, 0))
            }
            _ => None,
        }
    }

    /// Whether the two instructions of the pair that begins with relocation `first` can be one.
    fn is_near(addresses: &dyn Addresses, code: &Section, first: usize) -> Option<bool> {
        let reloc = &code.relocs[first];
        let got = matches!(reloc.kind(), R_GOT_PC_HI20 | R_GOT_PCADD_HI20);
        if got && addresses.has_slot(code, reloc, Class::Got) {
            return None;
        }
        let place = addresses.place(code, reloc)?;
        let known = matches!(
            place.flags & symbol_flags::KIND,
            symbol_flags::DEFINED | symbol_flags::COMMON | symbol_flags::INTERNAL | symbol_flags::ABSOLUTE
        );
        let here = addresses.here(code, reloc.r_offset())?;
        let distance = LoongArch::<WIDE>::wrapped(place.address.wrapping_sub(here));
        let near = (-NEAR_REACH..NEAR_REACH).contains(&distance) && distance & 3 == 0;
        Some(known && place.flags & symbol_flags::IFUNC == 0 && near)
    }

    /// The offset of a thread-local variable of this program.
    fn offset(addresses: &dyn Addresses, code: &Section, reloc: &Rela) -> Option<i64> {
        let place = addresses.place(code, reloc)?;
        let known = place.flags & (symbol_flags::KIND | symbol_flags::PREEMPTIBLE) == symbol_flags::DEFINED;
        let offset = LoongArch::<WIDE>::wrapped(place.address.wrapping_sub(addresses.thread_pointer()));
        known.then_some(offset)
    }

    fn form(addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> Option<u8> {
        let i = delta.reloc as usize;
        let reloc = &code.relocs[i];
        let gone = match reloc.kind() {
            R_CALL36 | R_CALL30 => {
                let here = addresses.here(code, reloc.r_offset())?;
                let distance = addresses.called(code, reloc)?.wrapping_sub(here);
                return Some(Self::call(distance as i64));
            }
            R_PCALA_LO12 | R_GOT_PC_LO12 | R_PCADD_LO12 | R_GOT_PCADD_LO12 => {
                let first = first_of_pair(code.relocs, i)?;
                return Self::is_near(addresses, code, first)?.then_some(NEAR);
            }
            R_PCALA_HI20 | R_GOT_PC_HI20 | R_PCADD_HI20 | R_GOT_PCADD_HI20 => {
                Self::is_near(addresses, code, i)?
            }
            R_TLS_LE_HI20_R | R_TLS_LE_ADD_R => {
                let offset = Self::offset(addresses, code, reloc)?;
                is_low(offset) && is_low(offset + i64::from(delta.extra))
            }
            R_TLS_IE_PC_HI20 => {
                let loaded = addresses.has_slot(code, reloc, Class::GotTp);
                !loaded && is_small(Self::offset(addresses, code, reloc)?)
            }
            R_TLS_DESC_PC_HI20 => {
                let asked = addresses.has_slot(code, reloc, Class::TlsDesc);
                !asked && is_small(Self::offset(addresses, code, reloc)?)
            }
            _ => !addresses.has_slot(code, reloc, Class::TlsDesc),
        };
        gone.then_some(GONE)
    }

    fn call(distance: i64) -> u8 {
        let distance = LoongArch::<WIDE>::wrapped(distance as u64);
        if super::thunks::REACH.has(0, distance as u64) && distance & 3 == 0 { JUMP } else { STAYS }
    }
}

impl<const WIDE: bool> Shrink for Relax<WIDE> {
    fn step(&self, _flags: u32, relocs: &[Rela]) -> Option<u64> {
        relocs.iter().any(|reloc| matches!(reloc.kind(), R_ALIGN | R_RELAX)).then_some(4)
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
                    let padding = Padding::of(reloc).filter(|_| reloc.r_offset() >= last);
                    let end = padding.and_then(|padding| reloc.r_offset().checked_add(padding.bytes));
                    let end = end.filter(|end| *end <= code.bytes.len() as u64);
                    let (Some(padding), Some(end)) = (padding, end) else {
                        let text = "R_LARCH_ALIGN has padding where there is none".into();
                        return Err(Wrong { reloc: i, text });
                    };
                    align = align.max(padding.align);
                    (end, 0)
                }
                R_RELAX | R_NONE => continue,
                _ if !relax || !is_marked(relocs, i) => continue,
                _ => match Self::site(code, i, &halves) {
                    Some(site) if reloc.r_offset() >= last => site,
                    _ => continue,
                },
            };
            last = end;
            deltas.push(RelaxDelta { end: end as u32, reloc: i as u32, extra, ..RelaxDelta::default() });
        }
        Ok(align)
    }

    fn choose(&self, addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> u8 {
        Self::form(addresses, code, delta).unwrap_or(STAYS)
    }

    fn fixed(&self, kind: u32) -> Option<u8> {
        (kind == R_ALIGN).then_some(PADDING)
    }

    fn call_length(&self, kind: u32) -> Option<u8> {
        matches!(kind, R_CALL36 | R_CALL30).then_some(CALL)
    }

    #[inline]
    fn call(&self, distance: i64, _extra: u8) -> u8 {
        Self::call(distance)
    }

    fn kept(&self, kind: u32, form: u8) -> u32 {
        match form {
            GONE => R_NONE,
            JUMP => R_B26,
            // Its symbol is a label.
            NEAR if is_lower_of_label(kind) => R_NONE,
            NEAR => R_PCREL20_S2,
            _ => kind,
        }
    }

    fn gone(&self, code: &Section, delta: &RelaxDelta, form: u8, before: u32) -> u32 {
        match form {
            GONE | JUMP => 4,
            PADDING => {
                let Some(padding) = Padding::of(&code.relocs[delta.reloc as usize]) else { return 0 };
                let start = u64::from(delta.end) - padding.bytes - u64::from(before);
                padding.bytes.saturating_sub(padding.needed(start)) as u32
            }
            _ => 0,
        }
    }
}
