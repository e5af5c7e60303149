//! Instructions that do without a slot or without a call, because more is known when a program is linked.
//!
//! | was | becomes |
//! |---|---|
//! | `addi` of the general-dynamic pair, marked call | `lwz` of the offset's slot, `add` of r2 |
//! | the same, of the program's own variable | `addis` from r2, `addi` |
//! | `addi` of the local-dynamic pair, marked call | `addis r3, r2, 0`, `addi r3, r3, 0x1000` |
//! | `lwz` of an offset's slot; an instruction that uses it, marked | `addis` from r2; with the lower half |
//!
//! What the instructions of a sequence become follows from the symbol alone, so that each is rewritten by
//! itself. Where no call is marked around, sequences stay as they are.
//!
//! Specification: "Power Architecture 32-bit Application Binary Interface Supplement" 1.0, Linux, 3.7
//! "Thread Local Storage ABI".

use super::code::*;
use super::types::*;
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::rules::{Failure, Field};
use crate::elf::Rela;

/// Whether a relocation marks the call of a sequence.
pub fn marks_call(kind: u32) -> bool {
    matches!(kind, R_PPC_TLSGD | R_PPC_TLSLD)
}

/// Whether relocation `i` is that of a call which one beside it marks.
pub fn is_marked_call(relocs: &[Rela], i: usize) -> bool {
    let place = relocs[i].r_offset();
    let marks =
        |other: Option<&Rela>| other.is_some_and(|mark| marks_call(mark.kind()) && mark.r_offset() == place);
    is_branch(relocs[i].kind())
        && (marks(i.checked_sub(1).map(|before| &relocs[before])) || marks(relocs.get(i + 1)))
}

/// Whether calls of sequences are marked around here.
pub fn is_marked(relocs: &[Rela], i: usize) -> bool {
    has_marks_around(relocs, i, marks_call)
}

/// Whether the sequence of class `class` that a relocation is in may be rewritten.
pub fn is_sequence(class: Class, kind: u32) -> bool {
    matches!(class, Class::TlsGd | Class::TlsLd)
        && !matches!(kind, R_PPC_GOT_TLSGD16_HI | R_PPC_GOT_TLSLD16_HI)
        && !is_module_offset(kind)
}

/// Whether a relocation asks for a variable's offset in its module's storage, which is the second word of the
/// pair for the variable.
pub fn is_module_offset(kind: u32) -> bool {
    matches!(kind, R_PPC_GOT_DTPREL16 | R_PPC_GOT_DTPREL16_LO | R_PPC_GOT_DTPREL16_HI | R_PPC_GOT_DTPREL16_HA)
}

/// `addi` of a pair's address, or an error.
fn pair<const BIG: bool>(field: &Field) -> Result<u32, Failure> {
    let code = instruction::<BIG>(field)?;
    if code & 63 << 26 == ADDI { Ok(code) } else { Err(Failure::Form) }
}

pub fn general_to_local_exec<const BIG: bool>(field: Field, tpoff: i64) -> Result<(), Failure> {
    match field.kind {
        R_PPC_GOT_TLSGD16_HA => put_one::<BIG>(field, NOP),
        R_PPC_GOT_TLSGD16 | R_PPC_GOT_TLSGD16_LO => {
            let code = pair::<BIG>(&field)?;
            put_one::<BIG>(field, d_form(ADDIS, to(code), R2, ha(tpoff)))
        }
        _ => Err(Failure::Form),
    }
}

pub fn general_to_initial_exec<const BIG: bool>(field: Field, slot: Address) -> Result<(), Failure> {
    let offset = slot.wrapping_sub(field.got_base) as i64;
    match field.kind {
        R_PPC_GOT_TLSGD16_HA => put::<BIG>(R_PPC_GOT_TPREL16_HA, field.out, field.at, offset),
        R_PPC_GOT_TLSGD16 | R_PPC_GOT_TLSGD16_LO => {
            let code = pair::<BIG>(&field)?;
            let fits = field.kind == R_PPC_GOT_TLSGD16_LO || offset == i64::from(offset as i16);
            put_one::<BIG>(field, d_form(LWZ, to(code), from(code), lo(offset)))?;
            if fits { Ok(()) } else { Err(Failure::Overflow(offset)) }
        }
        _ => Err(Failure::Form),
    }
}

pub fn local_dynamic_to_local_exec<const BIG: bool>(field: Field) -> Result<(), Failure> {
    match field.kind {
        R_PPC_GOT_TLSLD16_HA => put_one::<BIG>(field, NOP),
        R_PPC_GOT_TLSLD16 | R_PPC_GOT_TLSLD16_LO => {
            let code = pair::<BIG>(&field)?;
            put_one::<BIG>(field, d_form(ADDIS, to(code), R2, 0))
        }
        _ => Err(Failure::Form),
    }
}

/// Rewrites the marked call at `at`.
pub fn rewrite_call<const BIG: bool>(out: &mut [u8], at: usize, call: Call) -> Result<(), Failure> {
    // add r3, r3, r2
    const ADD_THREAD_POINTER: u32 = 0x7c63_1214;
    if word::<BIG>(out, at).is_none_or(|code| code & 0xfc00_0003 != 0x4800_0001) {
        return Err(Failure::Form);
    }
    let code = match call {
        Call::Elsewhere => ADD_THREAD_POINTER,
        Call::Local(tpoff) => d_form(ADDI, R3, R3, lo(tpoff)),
        Call::Module => d_form(ADDI, R3, R3, MODULE_FROM_THREAD),
    };
    put_word::<BIG>(out, at, code);
    Ok(())
}

/// Whether an instruction that has to do with an offset's slot can be rewritten.
pub fn is_initial_exec(kind: u32) -> bool {
    matches!(kind, R_PPC_GOT_TPREL16_HA | R_PPC_GOT_TPREL16 | R_PPC_GOT_TPREL16_LO)
}

pub fn initial_to_local_exec<const BIG: bool>(field: Field, tpoff: i64) -> Result<(), Failure> {
    if field.kind == R_PPC_GOT_TPREL16_HA {
        return put_one::<BIG>(field, NOP);
    }
    let code = instruction::<BIG>(&field)?;
    if code & 63 << 26 != LWZ {
        return Err(Failure::Form);
    }
    put_one::<BIG>(field, d_form(ADDIS, to(code), R2, ha(tpoff)))
}

/// Rewrites the instruction at `at` that used an offset's slot: from the thread pointer's upper half.
pub fn rewrite_user<const BIG: bool>(out: &mut [u8], at: usize, tpoff: i64) -> Result<(), Failure> {
    let code = word::<BIG>(out, at).ok_or(Failure::Form)?;
    let operation = without_register(code).filter(|operation| !matches!(operation >> 26, 58 | 62));
    let operation = operation.ok_or(Failure::Form)?;
    // Nothing counts from r0.
    if code >> 11 & 31 != R2 || from(code) == 0 {
        return Err(Failure::Form);
    }
    put_word::<BIG>(out, at, operation | code & 0x03ff_0000 | lo(tpoff));
    Ok(())
}
