//! Rewriting of instructions whose operand turned out to be closer than the compiler feared:
//! GOT loads to direct addresses, and the TLS models to cheaper ones.
//!
//! Each function looks at the bytes around the relocated field and answers `false`/`None` where
//! they are not a form that the psABI lets a linker rewrite. The scan asks before it reserves a
//! GOT slot, the writer asks again when it rewrites; both see the same input bytes and so agree.
//!
//! `at` is always the offset of the 4-byte field (the relocation's offset) in `code`.
//! Specification: x86-64 psABI B.2 "Optimize GOTPCRELX", "ELF TLS" 5.5 for GD, LD, IE, LE and TLSDESC.

use super::*;
use crate::address::Address;
use crate::elf::Rela;

/// How a GOT-relative instruction can do without its GOT slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GotForm {
    /// `mov foo@GOTPCREL(%rip), reg` → `lea foo(%rip), reg`
    Lea,
    /// `call *foo@GOTPCREL(%rip)` → `addr32 call foo`
    Call,
    /// `jmp *foo@GOTPCREL(%rip)` → `jmp foo; nop`
    Jump,
    /// `test`/arithmetic with a memory operand → the same with an immediate; fixed addresses only.
    Immediate,
}

/// The form of the instruction at a `GOTPCRELX` field. `pic` excludes forms with absolute addresses.
pub fn got_form(kind: u32, code: &[u8], at: usize, addend: i64, pic: bool) -> Option<GotForm> {
    let before = if kind == R_GOTPCRELX { 2 } else { 3 };
    if addend != -4 || at < before || at + 4 > code.len() {
        return None;
    }
    let (opcode, modrm) = (code[at - 2], code[at - 1]);
    // After longer prefixes (EVEX), the same opcodes have other operands.
    let mov = matches!(kind, R_GOTPCRELX | R_REX_GOTPCRELX | R_CODE_4_GOTPCRELX) && opcode == 0x8b;
    if mov && modrm & 0xc7 == 0x05 {
        return Some(GotForm::Lea);
    }
    match kind {
        R_GOTPCRELX if opcode == 0xff && modrm == 0x15 => Some(GotForm::Call),
        R_GOTPCRELX if opcode == 0xff && modrm == 0x25 => Some(GotForm::Jump),
        R_REX_GOTPCRELX if !pic && modrm & 0xc7 == 0x05 => {
            let arithmetic = opcode & 0xc7 == 0x03;
            (opcode == 0x85 || arithmetic).then_some(GotForm::Immediate)
        }
        _ => None,
    }
}

/// Rewrites the instruction; `address` is the symbol's, `place` the field's. `false` on overflow.
pub fn rewrite_got(form: GotForm, code: &mut [u8], at: usize, address: Address, place: Address) -> bool {
    let distance = address.wrapping_sub(place + 4) as i64;
    match form {
        GotForm::Lea => code[at - 2] = 0x8d,
        GotForm::Call => {
            code[at - 2] = 0x67;
            code[at - 1] = 0xe8;
        }
        GotForm::Jump => {
            code[at - 2] = 0xe9;
            code[at + 3] = 0x90;
            return put32(code, at - 1, distance.wrapping_add(1));
        }
        GotForm::Immediate => {
            let (rex, opcode, register) = (code[at - 3], code[at - 2], code[at - 1] >> 3 & 7);
            // The register moves from ModRM.reg to ModRM.rm, and its extension from REX.R to REX.B.
            code[at - 3] = rex & !0x05 | (rex & 0x04) >> 2;
            if opcode == 0x85 {
                code[at - 2] = 0xf7;
                code[at - 1] = 0xc0 | register;
            } else {
                code[at - 2] = 0x81;
                code[at - 1] = 0xc0 | opcode & 0x38 | register;
            }
            return put32(code, at, address.get() as i64);
        }
    }
    put32(code, at, distance)
}

/// Writes a signed 32-bit value; `false` if it does not fit.
pub fn put32(code: &mut [u8], at: usize, value: i64) -> bool {
    code[at..at + 4].copy_from_slice(&(value as i32).to_le_bytes());
    value == value as i32 as i64
}

/// Whether the instruction at an initial-exec field is one that can be rewritten to local-exec.
pub fn is_initial_exec<const X32: bool>(kind: u32, code: &[u8], at: usize) -> bool {
    if kind != R_GOTTPOFF || at < 3 || at + 4 > code.len() {
        return false;
    }
    let (rex, opcode, modrm) = (code[at - 3], code[at - 2], code[at - 1]);
    // If one of x32 has no prefix against its ABI, these bytes are the end of another instruction, and stay.
    (rex == 0x48 || rex == if X32 { 0x40 } else { 0x4c })
        && matches!(opcode, 0x8b | 0x03)
        && modrm & 0xc7 == 0x05
}

/// `mov x@gottpoff(%rip), reg` → `mov $tpoff, reg`, `add x@gottpoff(%rip), reg` → `lea tpoff(reg), reg`. For
/// `%rsp` and `%r12`, which a `lea` of this length cannot name, it is `add $tpoff, reg`.
pub fn initial_to_local_exec(code: &mut [u8], at: usize, tpoff: i64) -> bool {
    const NEEDS_SIB: u8 = 4;
    let register = code[at - 1] >> 3 & 7;
    let high = code[at - 3] == 0x4c;
    if code[at - 2] == 0x03 && register != NEEDS_SIB {
        code[at - 3] |= u8::from(high);
        code[at - 2] = 0x8d;
        code[at - 1] = 0x80 | register << 3 | register;
    } else {
        code[at - 3] ^= if high { 5 } else { 0 };
        code[at - 2] = if code[at - 2] == 0x8b { 0xc7 } else { 0x81 };
        code[at - 1] = 0xc0 | register;
    }
    put32(code, at, tpoff)
}

/// How `__tls_get_addr` is called after a GD or LD sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsCall {
    /// `call __tls_get_addr@PLT`
    Direct,
    /// `call *__tls_get_addr@GOTPCREL(%rip)`
    Indirect,
    /// Large code model: `movabs $__tls_get_addr@PLTOFF, %rax; add %rbx, %rax; call *%rax`, where the
    /// GOT's base may also be in `%r15`.
    Large,
}

/// The large code model's sequence, GD and LD alike: 22 bytes from `at - 3`.
fn is_large_call(code: &[u8], at: usize) -> bool {
    let Some(bytes) = at.checked_sub(3).and_then(|start| code.get(start..start + 22)) else { return false };
    bytes[..3] == [0x48, 0x8d, 0x3d]
        && bytes[7..9] == [0x48, 0xb8]
        && matches!(bytes[17..20], [0x48, 0x01, 0xd8] | [0x4c, 0x01, 0xf8])
        && bytes[20..] == [0xff, 0xd0]
}

/// The general-dynamic sequence around `at`: 16 bytes from `at - 4`, or the large one. That of x32 has a prefix less.
pub fn is_general_dynamic<const X32: bool>(code: &[u8], at: usize) -> Option<TlsCall> {
    if !X32 && is_large_call(code, at) {
        return Some(TlsCall::Large);
    }
    let start = at.checked_sub(LEAD - usize::from(X32))?;
    let lead = if X32 { &[0x48, 0x8d, 0x3d][..] } else { &[0x66, 0x48, 0x8d, 0x3d] };
    if code.get(start..at)? != lead {
        return None;
    }
    match code.get(at + 4..at + 12)?[..4] {
        [0x66, 0x66, 0x48, 0xe8] => Some(TlsCall::Direct),
        [0x66, 0x48, 0xff, 0x15] => Some(TlsCall::Indirect),
        _ => None,
    }
}

const LOAD_THREAD_POINTER: [u8; 9] = [0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0];
/// `mov %fs:0, %eax`
const LOAD_X32_THREAD_POINTER: [u8; 8] = [0x64, 0x8b, 0x04, 0x25, 0, 0, 0, 0];
/// Bytes in front of the operand of the general-dynamic sequence.
const LEAD: usize = 4;
/// `nopw 0(%rax,%rax,1)`
const NOP6: [u8; 6] = [0x66, 0x0f, 0x1f, 0x44, 0, 0];

/// Writes `mov %fs:0, %rax` (of x32, `%eax`) and the opcode of what follows in place of a GD sequence. Returns the
/// offset of the 4-byte operand.
fn replace_general_dynamic<const X32: bool>(
    code: &mut [u8],
    at: usize,
    call: TlsCall,
    opcode: [u8; 3],
) -> usize {
    if X32 {
        code[at - 3..at + 5].copy_from_slice(&LOAD_X32_THREAD_POINTER);
        code[at + 5..at + 8].copy_from_slice(&opcode);
        return at + 8;
    }
    let start = if call == TlsCall::Large { at - 3 } else { at - 4 };
    code[start..start + 9].copy_from_slice(&LOAD_THREAD_POINTER);
    code[start + 9..start + 12].copy_from_slice(&opcode);
    if call == TlsCall::Large {
        code[start + 16..start + 22].copy_from_slice(&NOP6);
    }
    start + 12
}

/// GD → `mov %fs:0, %rax; lea x@tpoff(%rax), %rax`.
pub fn general_dynamic_to_local_exec<const X32: bool>(
    code: &mut [u8],
    at: usize,
    call: TlsCall,
    tpoff: i64,
) -> bool {
    let operand = replace_general_dynamic::<X32>(code, at, call, [0x48, 0x8d, 0x80]);
    put32(code, operand, tpoff)
}

/// GD → `mov %fs:0, %rax; add x@gottpoff(%rip), %rax`. `distance` is the slot's from the GD field.
pub fn general_dynamic_to_initial_exec<const X32: bool>(
    code: &mut [u8],
    at: usize,
    call: TlsCall,
    distance: i64,
) -> bool {
    let operand = replace_general_dynamic::<X32>(code, at, call, [0x48, 0x03, 0x05]);
    put32(code, operand, distance.wrapping_sub((operand + 4 - at) as i64))
}

/// The local-dynamic sequence around `at`: 12 or 13 bytes from `at - 3`, or the large one.
pub fn is_local_dynamic<const X32: bool>(code: &[u8], at: usize) -> Option<TlsCall> {
    if !X32 && is_large_call(code, at) {
        return Some(TlsCall::Large);
    }
    let start = at.checked_sub(3)?;
    if code.get(start..start + 3)? != [0x48, 0x8d, 0x3d] {
        return None;
    }
    match code.get(at + 4..at + 6)? {
        [0xe8, _] if code.len() >= at + 9 => Some(TlsCall::Direct),
        [0xff, 0x15] if code.len() >= at + 10 => Some(TlsCall::Indirect),
        _ => None,
    }
}

/// The call that completes the GD or LD sequence of relocation `i`, if the linker may rewrite both: the
/// bytes are a sequence that the psABI fixes, and the next relocation is that of the call. All else has to
/// call `__tls_get_addr`.
pub fn tls_call<const X32: bool>(code: &[u8], relocs: &[Rela], i: usize) -> Option<TlsCall> {
    let at = usize::try_from(relocs[i].r_offset()).ok().filter(|at| *at <= code.len())?;
    let (call, operand) = if class(relocs[i].kind()) == Class::TlsGd {
        let call = is_general_dynamic::<X32>(code, at)?;
        (call, if call == TlsCall::Large { 6 } else { 8 })
    } else {
        let call = is_local_dynamic::<X32>(code, at)?;
        (call, if call == TlsCall::Direct { 5 } else { 6 })
    };
    let next = relocs.get(i + 1)?;
    let calls =
        matches!(class(next.kind()), Class::Plt | Class::Pc | Class::PltOff | Class::GotRelax | Class::Got);
    (calls && next.r_offset() == (at + operand) as u64).then_some(call)
}

/// LD → `mov %fs:0, %rax`, padded with prefixes; of x32 `mov %fs:0, %eax`, after a no-op.
pub fn local_dynamic_to_local_exec<const X32: bool>(code: &mut [u8], at: usize, call: TlsCall) {
    if X32 {
        // `nopw 0(%rax)`, or without its prefix `nopl 0(%rax)`.
        const NOP5: [u8; 5] = [0x66, 0x0f, 0x1f, 0x40, 0];
        let nop = if call == TlsCall::Indirect { &NOP5[..] } else { &NOP5[1..] };
        let (begin, load) = (at - 3, at - 3 + nop.len());
        code[begin..load].copy_from_slice(nop);
        return code[load..load + 8].copy_from_slice(&LOAD_X32_THREAD_POINTER);
    }
    let prefixes = match call {
        TlsCall::Direct => 3,
        TlsCall::Indirect => 4,
        TlsCall::Large => 13,
    };
    let start = at - 3;
    code[start..start + prefixes].fill(0x66);
    if call == TlsCall::Large {
        // An instruction has at most 15 bytes: one prefix is left to the load, the rest are no-ops.
        code[start..start + 6].copy_from_slice(&NOP6);
        code[start + 6..start + 12].copy_from_slice(&NOP6);
    }
    code[start + prefixes..start + prefixes + 9].copy_from_slice(&LOAD_THREAD_POINTER);
}

/// Whether the instruction is `lea x@tlsdesc(%rip), reg`. The register may have 32 bits with x32.
pub fn is_tlsdesc<const X32: bool>(kind: u32, code: &[u8], at: usize) -> bool {
    kind == R_GOTPC32_TLSDESC
        && at >= 3
        && at + 4 <= code.len()
        && (code[at - 3] & 0xfb == 0x48 || X32 && code[at - 3] & 0xfb == 0x40)
        && code[at - 2] == 0x8d
        && code[at - 1] & 0xc7 == 0x05
}

/// `lea x@tlsdesc(%rip), reg` → `mov $tpoff, reg`.
pub fn tlsdesc_to_local_exec(code: &mut [u8], at: usize, tpoff: i64) -> bool {
    let register = code[at - 1] >> 3 & 7;
    code[at - 3] = code[at - 3] & 0x48 | (code[at - 3] >> 2 & 1);
    code[at - 2] = 0xc7;
    code[at - 1] = 0xc0 | register;
    put32(code, at, tpoff)
}

/// `lea x@tlsdesc(%rip), reg` → `mov x@gottpoff(%rip), reg`.
pub fn tlsdesc_to_initial_exec(code: &mut [u8], at: usize, slot: Address, place: Address) -> bool {
    code[at - 2] = 0x8b;
    put32(code, at, slot.wrapping_sub(place + 4) as i64)
}

/// `call *x@tlscall(%rax)` → a two-byte no-op; of x32 that of `%eax` → one of three. `at` is the offset of the
/// instruction.
pub fn tlsdesc_call_to_nop<const X32: bool>(code: &mut [u8], at: usize) -> bool {
    if X32 && let Some(bytes @ [0x67, 0xff, 0x10]) = code.get_mut(at..at + 3) {
        bytes.copy_from_slice(&[0x0f, 0x1f, 0]);
        return true;
    }
    match code.get_mut(at..at + 2) {
        Some(bytes @ [0xff, 0x10]) => {
            bytes.copy_from_slice(&[0x66, 0x90]);
            true
        }
        _ => false,
    }
}
