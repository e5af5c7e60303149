//! Instructions that do without the GOT or without a call, because more is known when a program is linked.
//!
//! | was | becomes |
//! |---|---|
//! | `lgrl %rx, x@GOTENT` | `larl %rx, x`, if the address is even |
//! | a literal: slots of the general-dynamic model, from the GOT | the slot with the offset, or the offset |
//! | its call, marked | `lg %r2, 0(%r2,%r12)`, or nothing |
//! | a literal: the slots of the local-dynamic model | 0 |
//! | its call, marked | nothing |
//! | a literal: the slot with an offset, from the GOT or an address | the offset |
//! | its load, marked | a move of the register |
//! | `lgrl %rx, x@INDNTPOFF` | `lgfi %rx, offset` |
//!
//! Offsets are those from the thread pointer. The load of a literal is marked, and not by which literal. Code
//! may also have the slot's address in a register without a literal (`larl`, `R_390_TLS_IEENT`), or in the
//! displacement, and mark the load all the same. So all that loads a symbol's offset is rewritten, or
//! nothing.
//!
//! Specification: s390x ABI supplement; "ELF Handling For Thread-Local Storage", 4.5 and 5, "s390x".

use super::*;
use crate::address::Address;

/// The 6 bytes of an instruction that starts `before` bytes in front of `at`.
fn instruction(bytes: &[u8], at: usize, before: usize) -> Option<&[u8; 6]> {
    bytes.get(at.checked_sub(before)?..)?.first_chunk()
}

/// Whether the instruction is `larl`, which compilers use with `x@PLT` for the address of a function.
pub fn is_address(code: Code) -> bool {
    instruction(code.bytes, code.at, 2).is_some_and(|code| code[0] == 0xc0 && code[1] & 0x0f == 0)
}

/// `lgrl`, whose field is at `at`.
fn is_relative_load(bytes: &[u8], at: usize) -> bool {
    instruction(bytes, at, 2).is_some_and(|code| code[0] == 0xc4 && code[1] & 0x0f == 8)
}

/// Whether the instruction loads the slot itself, by its address.
pub fn is_got_load(code: Code) -> bool {
    code.reloc.kind() == R_GOTENT && code.reloc.r_addend() == 2 && is_relative_load(code.bytes, code.at)
}

/// `lgrl %rx, …` → `larl %rx, target`, which has the addend of the field's place in it.
pub fn load_to_address(field: Field, target: Address) -> Result<(), Failure> {
    let Field { out, at, address, .. } = field;
    out[at - 2] = 0xc0;
    out[at - 1] &= 0xf0;
    put(R_PC32DBL, out, at, target.wrapping_sub(address) as i64)
}

/// Whether a relocation of type `kind` has what an instruction elsewhere uses.
pub fn is_literal(kind: u32) -> bool {
    let general = matches!(kind, R_TLS_GD32 | R_TLS_GD64 | R_TLS_LDM32 | R_TLS_LDM64);
    general || matches!(kind, R_TLS_GOTIE32 | R_TLS_GOTIE64 | R_TLS_IE32 | R_TLS_IE64)
}

/// Whether the instruction loads an offset from the slot itself.
pub fn is_initial_exec(code: Code) -> bool {
    code.reloc.kind() == R_TLS_IEENT && code.reloc.r_addend() == 2 && is_relative_load(code.bytes, code.at)
}

/// `lgrl %rx, …` → `lgfi %rx, tpoff`
pub fn load_to_offset(field: Field, tpoff: i64) -> Result<(), Failure> {
    let Field { out, at, .. } = field;
    out[at - 2] = 0xc0;
    out[at - 1] = out[at - 1] & 0xf0 | 1;
    out[at..at + 4].copy_from_slice(&(tpoff as i32).to_be_bytes());
    if tpoff == i64::from(tpoff as i32) { Ok(()) } else { Err(Failure::TooFar) }
}

/// Whether a mark is for a call.
pub fn marks_call(kind: u32) -> bool {
    matches!(kind, R_TLS_GDCALL | R_TLS_LDCALL)
}

/// Whether relocation `i` has the address of a function whose call is marked, in front of it or after.
pub fn is_marked_call(relocs: &[Rela], i: usize) -> bool {
    let place = relocs[i].r_offset();
    let marks = |other: Option<&Rela>| {
        other.is_some_and(|mark| marks_call(mark.kind()) && mark.r_offset().wrapping_add(2) == place)
    };
    marks(i.checked_sub(1).map(|before| &relocs[before])) || marks(relocs.get(i + 1))
}

/// Rewrites the call of a sequence or the load of an offset.
pub fn rewrite_marked(field: Field, local: bool) -> Result<(), Failure> {
    let Some(code) = field.out.get_mut(field.at..).and_then(|out| out.first_chunk_mut::<6>()) else {
        return Err(Failure::Form);
    };
    if field.kind == R_TLS_LOAD {
        *code = load_to_move(*code)?;
        return Ok(());
    }
    // brasl %r14, …
    if code[..2] != [0xc0, 0xe5] {
        return Err(Failure::Form);
    }
    *code = match local || field.kind == R_TLS_LDCALL {
        // brcl 0, .
        true => [0xc0, 0x04, 0, 0, 0, 0],
        // lg %r2, 0(%r2,%r12)
        false => [0xe3, 0x22, 0xc0, 0, 0, 0x04],
    };
    Ok(())
}

/// `lg %rx, 0(%ry,%r12)`, or without `%r12` → `sllg %rx, %ry, 0`
fn load_to_move(code: [u8; 6]) -> Result<[u8; 6], Failure> {
    const GOT: u8 = 12;
    let [0xe3, registers, base, 0, 0, 0x04] = code else { return Err(Failure::Form) };
    let (to, index, base, displacement) = (registers & 0xf0, registers & 15, base >> 4, base & 15);
    let from = match (index, base) {
        _ if displacement != 0 => return Err(Failure::Form),
        (0, 0) => return Err(Failure::Form),
        (from, 0 | GOT) if from != 0 => from,
        (0 | GOT, from) => from,
        _ => return Err(Failure::Form),
    };
    Ok([0xeb, to | from, 0, 0, 0, 0x0d])
}
