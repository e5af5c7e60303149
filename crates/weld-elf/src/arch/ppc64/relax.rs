//! Instructions that do without a slot or without a call, because more is known when a program is linked.
//!
//! | was | becomes |
//! |---|---|
//! | `addis`, `addi` of the general-dynamic pair, marked call, `nop` | `addis`, `ld` of the offset's slot, `nop`, `add` of r13 |
//! | the same, of the program's own variable | `nop`, `addis` from r13, `nop`, `addi` |
//! | `addis`, `addi` of the local-dynamic pair, marked call, `nop` | `nop`, `addis r3, r13, 0`, `nop`, `addi r3, r3, 0x1000` |
//! | `addis`, `ld` of an offset's slot; an instruction that uses it, marked | `nop`, `addis` from r13; with the lower half |
//! | `pld` of a slot | `paddi` of the address |
//! | the same, and a load or store that is marked as the only one that uses it | the load or store with a prefix, `nop` |
//! | `addis`, and an instruction with the lower half, near the TOC | `nop`, the instruction from r2 |
//! | `addis`, `ld` of a word beside the TOC | `addis`, `addi` of the address in the word |
//!
//! With prefixes, `paddi` and `pld` stand for the first two instructions, and nothing needs to follow the
//! call. Of a call by a word (`-fno-plt`) each instruction is marked: those that load the word go, and the call becomes
//! what stands for it.
//!
//! What the instructions of a sequence become follows from the symbol alone, so that each is rewritten by
//! itself. Compilers that did not mark calls are long gone; where a section has no mark at all, its sequences
//! stay as they are.
//!
//! Specification: "64-Bit ELF V2 ABI Specification", 3.7 "Thread Local Storage ABI"; 3.6.3 (TOC).

use super::code::*;
use super::types::*;
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::rules::{Code, Failure, Field, WordUse, reaches};
use crate::elf::Rela;

/// Whether a relocation marks the call of a sequence.
pub fn marks_call(kind: u32) -> bool {
    matches!(kind, R_PPC64_TLSGD | R_PPC64_TLSLD)
}

/// Whether relocation `i` is that of a call, or of the word that it calls by, which the one before it marks. Marks of sequences with prefixes
/// lie a byte after their instruction.
pub fn is_marked_call(relocs: &[Rela], i: usize) -> bool {
    let (kind, place) = (relocs[i].kind(), relocs[i].r_offset());
    let loads = loads_word_to_call(kind);
    let marks = |other: Option<&Rela>| {
        other.is_some_and(|mark| {
            let distance = mark.r_offset().wrapping_sub(place);
            // With big endian a half of an instruction lies behind its mark.
            marks_call(mark.kind()) && (matches!(distance, 0 | 1) || loads && mark.r_offset() == place & !3)
        })
    };
    (is_branch(kind) || loads)
        && (marks(i.checked_sub(1).map(|before| &relocs[before])) || marks(relocs.get(i + 1)))
}

/// Whether calls of sequences are marked around here.
pub fn is_marked(relocs: &[Rela], i: usize) -> bool {
    has_marks_around(relocs, i, marks_call)
}

fn put_two<const BIG: bool>(field: Field, codes: [u32; 2]) -> Result<(), Failure> {
    put_word::<BIG>(field.out, field.at, codes[0]);
    put_word::<BIG>(field.out, field.at + 4, codes[1]);
    Ok(())
}

/// `paddi to, r13, value`
fn from_thread_pointer(register: u32, value: i64) -> [u32; 2] {
    with_34(PREFIX_PADDI_FROM, d_form(ADDI, register, R13, 0), value)
}

pub fn general_to_local_exec<const BIG: bool>(field: Field, tpoff: i64) -> Result<(), Failure> {
    match field.kind {
        R_PPC64_GOT_TLSGD16_HA => put_one::<BIG>(field, NOP)?,
        R_PPC64_GOT_TLSGD16 | R_PPC64_GOT_TLSGD16_LO => {
            put_one::<BIG>(field, d_form(ADDIS, R3, R13, ha(tpoff)))?;
        }
        R_PPC64_GOT_TLSGD_PCREL34 => {
            put_two::<BIG>(field, from_thread_pointer(R3, tpoff))?;
            return reaches(fits_34(tpoff));
        }
        _ => return Err(Failure::Form),
    }
    reaches(fits_halves(tpoff))
}

pub fn general_to_initial_exec<const BIG: bool>(field: Field, slot: Address) -> Result<(), Failure> {
    let offset = slot.wrapping_sub(field.got_base) as i64;
    match field.kind {
        R_PPC64_GOT_TLSGD16_HA => put::<BIG>(R_PPC64_GOT_TPREL16_HA, field.out, field.at, offset),
        R_PPC64_GOT_TLSGD16 | R_PPC64_GOT_TLSGD16_LO => {
            let code = instruction::<BIG>(&field)?;
            let fits = field.kind == R_PPC64_GOT_TLSGD16_LO || offset == i64::from(offset as i16);
            put_one::<BIG>(field, d_form(LD, to(code), from(code), lo(offset) & !3))?;
            reaches(fits)
        }
        R_PPC64_GOT_TLSGD_PCREL34 => {
            let suffix = word::<BIG>(field.out, field.at + 4).ok_or(Failure::Form)?;
            let distance = slot.wrapping_sub(field.address) as i64;
            put_two::<BIG>(field, with_34(PREFIX_PLD, PLD | to(suffix) << 21, distance))?;
            reaches(fits_34(distance))
        }
        _ => Err(Failure::Form),
    }
}

pub fn local_dynamic_to_local_exec<const BIG: bool>(field: Field) -> Result<(), Failure> {
    match field.kind {
        R_PPC64_GOT_TLSLD16_HA => put_one::<BIG>(field, NOP),
        R_PPC64_GOT_TLSLD16 | R_PPC64_GOT_TLSLD16_LO => put_one::<BIG>(field, d_form(ADDIS, R3, R13, 0)),
        R_PPC64_GOT_TLSLD_PCREL34 => {
            put_two::<BIG>(field, from_thread_pointer(R3, i64::from(MODULE_FROM_THREAD)))
        }
        _ => Err(Failure::Form),
    }
}

/// Rewrites the marked call at `at`, and the `nop` after it. `prefixed`: nothing follows.
pub fn rewrite_call<const BIG: bool>(
    out: &mut [u8],
    at: usize,
    prefixed: bool,
    call: Call,
) -> Result<(), Failure> {
    let is_call = word::<BIG>(out, at).is_some_and(|code| code & 0xfc00_0003 == 0x4800_0001);
    let follows = prefixed || word::<BIG>(out, at.saturating_add(4)) == Some(NOP);
    if !is_call || !follows {
        return Err(Failure::Form);
    }
    let last = last_of_call(prefixed, call);
    if !prefixed {
        put_word::<BIG>(out, at, NOP);
    }
    put_word::<BIG>(out, if prefixed { at } else { at + 4 }, last);
    Ok(())
}

/// Rewrites an instruction of a marked call by a word: it goes, or becomes what the call does. `part` is its relocation's type.
pub fn rewrite_call_by_word<const BIG: bool>(
    out: &mut [u8],
    at: usize,
    part: u32,
    call: Call,
) -> Result<(), Failure> {
    let is_long = matches!(part, R_PPC64_PLT_PCREL34 | R_PPC64_PLT_PCREL34_NOTOC);
    let end = at.saturating_add(if is_long { 8 } else { 4 });
    if end > out.len() {
        return Err(Failure::Form);
    }
    if is_long {
        put_word::<BIG>(out, at + 4, NOP);
    }
    let code = match part {
        R_PPC64_PLTCALL | R_PPC64_PLTCALL_NOTOC => last_of_call(part == R_PPC64_PLTCALL_NOTOC, call),
        _ => NOP,
    };
    put_word::<BIG>(out, at, code);
    Ok(())
}

/// What does the rest of what a call did. `prefixed`: the first instruction has the whole offset.
const fn last_of_call(prefixed: bool, call: Call) -> u32 {
    // add r3, r3, r13
    const ADD_THREAD_POINTER: u32 = 0x7c63_6a14;
    match call {
        Call::Elsewhere => ADD_THREAD_POINTER,
        _ if prefixed => NOP,
        Call::Local(tpoff) => d_form(ADDI, R3, R3, lo(tpoff)),
        Call::Module => d_form(ADDI, R3, R3, MODULE_FROM_THREAD),
    }
}

/// Whether an instruction that has to do with an offset's slot can be rewritten.
pub fn is_initial_exec(kind: u32) -> bool {
    matches!(
        kind,
        R_PPC64_GOT_TPREL16_HA
            | R_PPC64_GOT_TPREL16_DS
            | R_PPC64_GOT_TPREL16_LO_DS
            | R_PPC64_GOT_TPREL_PCREL34
    )
}

pub fn initial_to_local_exec<const BIG: bool>(field: Field, tpoff: i64) -> Result<(), Failure> {
    match field.kind {
        R_PPC64_GOT_TPREL16_HA => put_one::<BIG>(field, NOP)?,
        R_PPC64_GOT_TPREL16_DS | R_PPC64_GOT_TPREL16_LO_DS => {
            let code = instruction::<BIG>(&field)?;
            if code & (63 << 26 | 3) != LD {
                return Err(Failure::Form);
            }
            put_one::<BIG>(field, d_form(ADDIS, to(code), R13, ha(tpoff)))?;
        }
        _ => {
            let suffix = word::<BIG>(field.out, field.at + 4).ok_or(Failure::Form)?;
            put_two::<BIG>(field, from_thread_pointer(to(suffix), tpoff))?;
            return reaches(fits_34(tpoff));
        }
    }
    reaches(fits_halves(tpoff))
}

/// Rewrites the instruction at `at` that used an offset's slot: from the thread pointer's upper half, or, if
/// `prefixed`, from the whole.
pub fn rewrite_user<const BIG: bool>(
    out: &mut [u8],
    at: usize,
    prefixed: bool,
    tpoff: i64,
) -> Result<(), Failure> {
    let code = word::<BIG>(out, at).ok_or(Failure::Form)?;
    let operation = without_register(code).ok_or(Failure::Form)?;
    if code >> 11 & 31 != R13 {
        return Err(Failure::Form);
    }
    let is_sum = operation == ADDI;
    if prefixed && is_sum && to(code) == from(code) {
        put_word::<BIG>(out, at, NOP);
        return Ok(());
    }
    if prefixed && is_sum {
        // or (mr)
        let from = from(code);
        put_word::<BIG>(out, at, 0x7c00_0378 | from << 21 | to(code) << 16 | from << 11);
        return Ok(());
    }
    let value = if prefixed { 0 } else { lo(tpoff) };
    let has_own_bits = matches!(operation >> 26, 58 | 62);
    if has_own_bits && value & 3 != 0 {
        return Err(Failure::Unaligned(tpoff));
    }
    put_word::<BIG>(out, at, operation | code & 0x03ff_0000 | value);
    Ok(())
}

/// Whether the code of a relocation of a slot's distance is `pld`.
pub fn is_slot_load<const BIG: bool>(code: &Code) -> bool {
    let words = (word::<BIG>(code.bytes, code.at), word::<BIG>(code.bytes, code.at.saturating_add(4)));
    let (Some(prefix), Some(suffix)) = words else { return false };
    code.reloc.kind() == R_PPC64_GOT_PCREL34
        && code.reloc.r_addend() == 0
        && prefix & 0xfffc_0000 == PREFIX_PLD
        && suffix & (63 << 26 | 31 << 16) == PLD
}

/// `pld`, of a slot → `paddi` of the address.
pub fn load_to_address<const BIG: bool>(field: Field, target: Address) -> Result<(), Failure> {
    let suffix = word::<BIG>(field.out, field.at + 4).ok_or(Failure::Form)?;
    let distance = target.wrapping_sub(field.address) as i64;
    put_two::<BIG>(field, with_34(PREFIX_PADDI, d_form(ADDI, to(suffix), 0, 0), distance))?;
    reaches(fits_34(distance))
}

/// Makes one instruction of `paddi` at `at` and the load or store that lies `distance` bytes further, if that is one which
/// may have a prefix. Otherwise both stay.
pub fn join_access<const BIG: bool>(out: &mut [u8], at: usize, distance: i64) {
    let after = usize::try_from(distance).ok().filter(|distance| *distance >= 8 && distance & 3 == 0);
    let Some(place) = after.and_then(|distance| at.checked_add(distance)) else { return };
    let words = (word::<BIG>(out, at), word::<BIG>(out, at.saturating_add(4)), word::<BIG>(out, place));
    let (Some(prefix), Some(suffix), Some(code)) = words else { return };
    let base = to(suffix);
    if prefix & 0xfffc_0000 != PREFIX_PADDI || suffix & (63 << 26 | 31 << 16) != ADDI || from(code) != base {
        return;
    }
    let Some(access) = prefixed_access(code).filter(|access| !(access.stores && to(code) == base)) else {
        return;
    };
    let before = i64::from((prefix & 0x3_ffff) << 16 | suffix & 0xffff) << 30 >> 30;
    let sum = before + access.offset;
    if fits_34(sum) {
        let [prefix, suffix] = with_34(access.prefix, access.suffix, sum);
        put_word::<BIG>(out, at, prefix);
        put_word::<BIG>(out, at + 4, suffix);
        put_word::<BIG>(out, place, NOP);
    }
}

/// A load or a store as an instruction with a prefix.
struct Access {
    prefix: u32,
    suffix: u32,
    /// How far from its base it is.
    offset: i64,
    /// It stores a register that may be its base.
    stores: bool,
}

/// What a load or store is with a prefix ("Power ISA" 3.1, Book I, 3.3 and 4.6).
fn prefixed_access(code: u32) -> Option<Access> {
    let operation = code >> 26;
    let register = code & 31 << 21;
    let d = i64::from(code as u16 as i16);
    let (ds, dq) = (d & !3, d & !15);
    // Those whose suffix is the instruction itself have the prefix of `paddi`.
    let (prefix, suffix, offset) = match (operation, code & 3) {
        // lwz, lbz, lhz, lha; stw, stb, sth; lfs, lfd, stfs, stfd
        (32 | 34 | 36 | 38 | 40 | 42 | 44 | 48 | 50 | 52 | 54, _) => (PREFIX_PADDI, operation, d),
        (58, 0) => (PREFIX_PLD, 57, ds), // ld
        (58, 2) => (PREFIX_PLD, 41, ds), // lwa
        (62, 0) => (PREFIX_PLD, 61, ds), // std
        (57, 2) => (PREFIX_PLD, 42, ds), // lxsd
        (57, 3) => (PREFIX_PLD, 43, ds), // lxssp
        (61, 2) => (PREFIX_PLD, 46, ds), // stxsd
        (61, 3) => (PREFIX_PLD, 47, ds), // stxssp
        // lxv, stxv: the operation's last bit is that of the register's number.
        (61, 1) if code & 7 == 1 => (PREFIX_PLD, 50 | code >> 3 & 1, dq),
        (61, 1) => (PREFIX_PLD, 54 | code >> 3 & 1, dq),
        (6, _) if code & 15 == 0 => (PREFIX_PLD, 58, dq), // lxvp
        (6, _) if code & 15 == 1 => (PREFIX_PLD, 62, dq), // stxvp
        _ => return None,
    };
    let stores = matches!(operation, 36 | 38 | 44 | 62);
    Some(Access { prefix, suffix: suffix << 26 | register, offset, stores })
}

/// An instruction with a part of an address near the TOC, at `at`: the upper half goes, and the lower one
/// counts from r2. `false`: it stays as it is.
///
/// # Errors
/// The instruction with the lower half would change r2.
pub fn near_toc<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, offset: i64) -> Result<bool, Failure> {
    let place = start(at);
    let Some(code) = word::<BIG>(out, place).filter(|_| ha(offset) == 0 && fits_halves(offset)) else {
        return Ok(false);
    };
    if matches!(kind, R_PPC64_TOC16_HA | R_PPC64_GOT16_HA | R_PPC64_PLT16_HA) {
        if code & (63 << 26 | 31 << 16) != d_form(ADDIS, 0, R2, 0) {
            return Ok(false);
        }
        put_word::<BIG>(out, place, NOP);
        return Ok(true);
    }
    // Of other operations, which have registers elsewhere, no upper half with a sign is the other half.
    if from(code) == 0 || !has_base(code) {
        return Ok(false);
    }
    if changes_base(code) {
        return Err(Failure::Form);
    }
    put_word::<BIG>(out, place, code & !(31 << 16) | R2 << 16);
    Ok(put::<BIG>(kind, out, at, offset).is_ok())
}

/// What an instruction does with a word beside the TOC.
pub fn word_use<const BIG: bool>(code: &Code) -> WordUse {
    let kind = code.reloc.kind();
    let is_half =
        matches!(kind, R_PPC64_TOC16_HA | R_PPC64_TOC16_LO_DS | R_PPC64_TOC16_LO | R_PPC64_TOC16_HI);
    if !is_half {
        return WordUse::None;
    }
    let Some(code) = word::<BIG>(code.bytes, start(code.at)) else { return WordUse::Other };
    match kind {
        R_PPC64_TOC16_HA if code & (63 << 26 | 31 << 16) == d_form(ADDIS, 0, R2, 0) => WordUse::Upper,
        R_PPC64_TOC16_LO_DS if code & (63 << 26 | 3) == LD && !matches!(from(code), 0 | R2) => WordUse::Load,
        _ => WordUse::Other,
    }
}

/// Has an instruction with a half of the distance of a word make the address that is in there, `offset` from the TOC.
/// `false`: that is too far, and the word is loaded.
///
/// # Errors
/// It is none of those that load the word.
pub fn word_to_address<const BIG: bool>(
    kind: u32,
    out: &mut [u8],
    at: usize,
    offset: i64,
) -> Result<bool, Failure> {
    if !fits_halves(offset) {
        return Ok(false);
    }
    let place = start(at);
    let code = word::<BIG>(out, place).ok_or(Failure::Form)?;
    let code = match (kind, ha(offset)) {
        (R_PPC64_TOC16_HA, 0) => NOP,
        (R_PPC64_TOC16_HA, upper) => code & !0xffff | upper,
        (R_PPC64_TOC16_LO_DS, 0) => d_form(ADDI, to(code), R2, lo(offset)),
        (R_PPC64_TOC16_LO_DS, _) => d_form(ADDI, to(code), from(code), lo(offset)),
        _ => return Err(Failure::Form),
    };
    put_word::<BIG>(out, place, code);
    Ok(true)
}

/// Whether an instruction adds its value to the register that it counts from: `addi`, loads and stores.
fn has_base(code: u32) -> bool {
    matches!(code >> 26, 6 | 14 | 32..=58 | 61 | 62)
}

/// Whether an instruction leaves the address that it makes in the register that it counts from.
fn changes_base(code: u32) -> bool {
    match code >> 26 {
        33 | 35 | 37 | 39 | 41 | 43 | 45 | 49 | 51 | 53 | 55 => true,
        58 | 62 => code & 3 == 1,
        _ => false,
    }
}

/// Whether the sequence of class `class` that a relocation is in may be rewritten.
pub fn is_sequence(class: Class, kind: u32) -> bool {
    matches!(class, Class::TlsGd | Class::TlsLd)
        && !matches!(kind, R_PPC64_GOT_TLSGD16_HI | R_PPC64_GOT_TLSLD16_HI)
        && !is_module_offset(kind)
}

/// Whether a relocation asks for a variable's offset in its module's storage, which is the second word of the
/// pair for the variable.
pub fn is_module_offset(kind: u32) -> bool {
    matches!(
        kind,
        R_PPC64_GOT_DTPREL16_DS
            | R_PPC64_GOT_DTPREL16_LO_DS
            | R_PPC64_GOT_DTPREL16_HI
            | R_PPC64_GOT_DTPREL16_HA
            | R_PPC64_GOT_DTPREL_PCREL34
    )
}
