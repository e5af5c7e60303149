//! Instructions that do without the GOT or without a call, because more is known when a program is linked.
//!
//! | was | becomes |
//! |---|---|
//! | `sethi %gdop_hix22(x), %r1`, `xor %r1, %gdop_lox10(x), %r1` | the same of the distance from the GOT's base |
//! | `ldx [%l7 + %r1], %r2, %gdop(x)` | `add %l7, %r1, %r2` |
//! | general dynamic: `sethi`, `add %r1, %tgd_lo10(x), %r1` | of the slot with the offset; or of the offset, with `xor` |
//! | `add %l7, %r1, %o0, %tgd_add(x)` | `ldx [%l7 + %r1], %o0`; or `add %g7, %r1, %o0` |
//! | `call __tls_get_addr, %tgd_call(x)` | `add %g7, %o0, %o0`; or nothing |
//! | local dynamic: `sethi`, `add`, `add` | nothing |
//! | `call __tls_get_addr, %tldm_call(x)` | `mov %g7, %o0` |
//! | initial exec: `sethi`, `add %r1, %tie_lo10(x), %r1` | of the offset, with `xor` |
//! | `ldx [%l7 + %r1], %r1, %tie_ldx(x)` | `mov %r1, %r1` |
//!
//! The instruction after a call is executed before what is called. Compilers put the last `add` there, so where a
//! load takes its place, that and what the call becomes change places.
//!
//! Specification: "ELF Handling For Thread-Local Storage", 4.2 and 5.2, "SPARC".

use super::code::*;
use super::types::*;
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::rules::{Code, Failure, Field};
use crate::arch::words::{put_word, word};

/// Whether an instruction is one of those that load a slot by these types.
pub fn is_slot_load(code: Code) -> bool {
    let Some(instruction) = word::<true>(code.bytes, code.at) else { return false };
    match code.reloc.kind() {
        R_SPARC_GOTDATA_OP => is_load(instruction),
        R_SPARC_GOTDATA_OP_HIX22 => is_sethi(instruction),
        _ => true,
    }
}

/// The address, counted from the GOT's base.
pub fn load_to_address(field: Field, target: Address) -> Result<(), Failure> {
    let Field { out, at, kind, got_base, .. } = field;
    if kind != R_SPARC_GOTDATA_OP {
        return put(kind, out, at, target.wrapping_sub(got_base) as i64);
    }
    let code = word::<true>(out, at).ok_or(Failure::Form)?;
    put_word::<true>(out, at, add(rd(code), rs1(code), rs2(code)));
    Ok(())
}

/// Whether a type has a part of a slot's address in a sequence of which the other instructions are marked.
pub fn is_part(class: Class) -> bool {
    matches!(class, Class::TlsGd | Class::TlsLd | Class::GotTp)
}

/// Whether a mark is for an instruction of a sequence with a call.
pub fn marks_call(kind: u32) -> bool {
    matches!(kind, R_SPARC_TLS_GD_ADD | R_SPARC_TLS_GD_CALL | R_SPARC_TLS_LDM_ADD | R_SPARC_TLS_LDM_CALL)
}

/// A part of a slot's address → that of an offset.
pub fn part_to_offset(field: Field, tpoff: i64) -> Result<(), Failure> {
    let Field { out, at, kind, .. } = field;
    let code = word::<true>(out, at).ok_or(Failure::Form)?;
    match kind {
        R_SPARC_TLS_GD_HI22 | R_SPARC_TLS_IE_HI22 if is_sethi(code) => {
            put(R_SPARC_TLS_LE_HIX22, out, at, tpoff)
        }
        R_SPARC_TLS_GD_LO10 | R_SPARC_TLS_IE_LO10 if is_add_of_immediate(code) => {
            put_word::<true>(out, at, to_xor(code));
            put(R_SPARC_TLS_LE_LOX10, out, at, tpoff)
        }
        _ => Err(Failure::Form),
    }
}

/// A part of the address of two slots → that of the slot with the offset.
pub fn part_to_slot(field: Field, slot: Address) -> Result<(), Failure> {
    put(field.kind, field.out, field.at, slot.wrapping_sub(field.got_base) as i64)
}

/// What a call needed → nothing.
pub fn part_to_nothing(field: Field) -> Result<(), Failure> {
    put_word::<true>(field.out, field.at, NOP);
    Ok(())
}

/// `add %g7, %o0, %o0`
const ADD_THREAD_POINTER: u32 = add(O0, G7, O0);

/// Rewrites a marked instruction, whose symbol is this output's own if it is `local`.
pub fn rewrite_marked(field: Field, local: bool) -> Result<(), Failure> {
    let Field { out, at, kind, .. } = field;
    let code = word::<true>(out, at).ok_or(Failure::Form)?;
    let becomes = match kind {
        R_SPARC_TLS_LDM_ADD => NOP,
        R_SPARC_TLS_LDM_CALL if is_call(code) => copy(O0, G7),
        R_SPARC_TLS_GD_CALL if is_call(code) && local => NOP,
        R_SPARC_TLS_GD_CALL if is_call(code) => {
            match word::<true>(out, at + 4).filter(|next| is_argument(*next)) {
                // The load takes the call's place, and the sum the load's.
                Some(next) => {
                    put_word::<true>(out, at + 4, ADD_THREAD_POINTER);
                    to_load(next)
                }
                None => ADD_THREAD_POINTER,
            }
        }
        // A call in front of it has done that, or will do it.
        R_SPARC_TLS_GD_ADD if !local && (code == ADD_THREAD_POINTER || is_after_call(out, at)) => code,
        R_SPARC_TLS_GD_ADD if is_add(code) && local => add(rd(code), G7, rs2(code)),
        R_SPARC_TLS_GD_ADD if is_add(code) => to_load(code),
        R_SPARC_TLS_IE_LDX if is_load(code) => copy(rd(code), rs2(code)),
        _ => return Err(Failure::Form),
    };
    put_word::<true>(out, at, becomes);
    Ok(())
}

/// Whether an instruction makes the argument of a call: `add`, to `%o0`.
fn is_argument(code: u32) -> bool {
    is_add(code) && rd(code) == O0
}

fn is_after_call(out: &[u8], at: usize) -> bool {
    at.checked_sub(4).and_then(|before| word::<true>(out, before)).is_some_and(is_call)
}

/// `add` → `ldx` from that address.
fn to_load(code: u32) -> u32 {
    load(rd(code), rs1(code), rs2(code))
}
