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
    if opcode == 0x8b && modrm & 0xc7 == 0x05 {
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
pub fn rewrite_got(form: GotForm, code: &mut [u8], at: usize, address: u64, place: u64) -> bool {
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
            return put32(code, at, address as i64);
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
pub fn is_initial_exec(kind: u32, code: &[u8], at: usize) -> bool {
    if kind != R_GOTTPOFF || at < 3 || at + 4 > code.len() {
        return false;
    }
    let (rex, opcode, modrm) = (code[at - 3], code[at - 2], code[at - 1]);
    matches!(rex, 0x48 | 0x4c) && matches!(opcode, 0x8b | 0x03) && modrm & 0xc7 == 0x05
}

/// `mov`/`add x@gottpoff(%rip), reg` → `mov`/`add $tpoff, reg`.
pub fn initial_to_local_exec(code: &mut [u8], at: usize, tpoff: i64) -> bool {
    let register = code[at - 1] >> 3 & 7;
    code[at - 3] = if code[at - 3] == 0x4c { 0x49 } else { 0x48 };
    code[at - 2] = if code[at - 2] == 0x8b { 0xc7 } else { 0x81 };
    code[at - 1] = 0xc0 | register;
    put32(code, at, tpoff)
}

/// How `__tls_get_addr` is called behind a GD or LD sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsCall {
    /// `call __tls_get_addr@PLT`
    Direct,
    /// `call *__tls_get_addr@GOTPCREL(%rip)`
    Indirect,
}

/// The general-dynamic sequence around `at`: 16 bytes from `at - 4`.
pub fn is_general_dynamic(code: &[u8], at: usize) -> Option<TlsCall> {
    let start = at.checked_sub(4)?;
    let bytes = code.get(start..start + 16)?;
    if bytes[..4] != [0x66, 0x48, 0x8d, 0x3d] {
        return None;
    }
    match bytes[8..12] {
        [0x66, 0x66, 0x48, 0xe8] => Some(TlsCall::Direct),
        [0x66, 0x48, 0xff, 0x15] => Some(TlsCall::Indirect),
        _ => None,
    }
}

const LOAD_THREAD_POINTER: [u8; 9] = [0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0];

/// GD → `mov %fs:0, %rax; lea x@tpoff(%rax), %rax`.
pub fn general_dynamic_to_local_exec(code: &mut [u8], at: usize, tpoff: i64) -> bool {
    code[at - 4..at + 5].copy_from_slice(&LOAD_THREAD_POINTER);
    code[at + 5..at + 8].copy_from_slice(&[0x48, 0x8d, 0x80]);
    put32(code, at + 8, tpoff)
}

/// GD → `mov %fs:0, %rax; add x@gottpoff(%rip), %rax`. `place` is the address of the GD field.
pub fn general_dynamic_to_initial_exec(code: &mut [u8], at: usize, slot: u64, place: u64) -> bool {
    code[at - 4..at + 5].copy_from_slice(&LOAD_THREAD_POINTER);
    code[at + 5..at + 8].copy_from_slice(&[0x48, 0x03, 0x05]);
    put32(code, at + 8, slot.wrapping_sub(place + 12) as i64)
}

/// The local-dynamic sequence around `at`: 12 or 13 bytes from `at - 3`.
pub fn is_local_dynamic(code: &[u8], at: usize) -> Option<TlsCall> {
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

/// LD → `mov %fs:0, %rax`, padded with prefixes.
pub fn local_dynamic_to_local_exec(code: &mut [u8], at: usize, call: TlsCall) {
    let prefixes = if call == TlsCall::Direct { 3 } else { 4 };
    let start = at - 3;
    code[start..start + prefixes].fill(0x66);
    code[start + prefixes..start + prefixes + 9].copy_from_slice(&LOAD_THREAD_POINTER);
}

/// Whether the instruction is `lea x@tlsdesc(%rip), reg`.
pub fn is_tlsdesc(kind: u32, code: &[u8], at: usize) -> bool {
    kind == R_GOTPC32_TLSDESC
        && at >= 3
        && at + 4 <= code.len()
        && code[at - 3] & 0xfb == 0x48
        && code[at - 2] == 0x8d
        && code[at - 1] & 0xc7 == 0x05
}

/// `lea x@tlsdesc(%rip), reg` → `mov $tpoff, reg`.
pub fn tlsdesc_to_local_exec(code: &mut [u8], at: usize, tpoff: i64) -> bool {
    let register = code[at - 1] >> 3 & 7;
    code[at - 3] = 0x48 | (code[at - 3] >> 2 & 1);
    code[at - 2] = 0xc7;
    code[at - 1] = 0xc0 | register;
    put32(code, at, tpoff)
}

/// `lea x@tlsdesc(%rip), reg` → `mov x@gottpoff(%rip), reg`.
pub fn tlsdesc_to_initial_exec(code: &mut [u8], at: usize, slot: u64, place: u64) -> bool {
    code[at - 2] = 0x8b;
    put32(code, at, slot.wrapping_sub(place + 4) as i64)
}

/// `call *x@tlscall(%rax)` → a two-byte no-op. `at` is the offset of the instruction.
pub fn tlsdesc_call_to_nop(code: &mut [u8], at: usize) -> bool {
    match code.get_mut(at..at + 2) {
        Some(bytes) => {
            bytes.copy_from_slice(&[0x66, 0x90]);
            true
        }
        None => false,
    }
}
