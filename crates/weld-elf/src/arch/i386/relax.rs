//! Instructions that do without the GOT or without a call, because more is known when a program is linked.
//!
//! Code has the GOT's base in a register, mostly `%ebx`, or, at fixed addresses, names a slot by its address.
//! `at` is always the offset of the 4-byte field (the relocation's offset).
//!
//! Specification: Intel386 psABI, "Optimize R_386_GOT32X"; "ELF Handling For Thread-Local Storage", 4.2 and 5
//! for the IA-32 models of GNU and of Sun, which differ in the sign of offsets; "Thread-Local Storage
//! Descriptors for IA32".

use super::*;
use crate::address::Address;
use crate::elf::Rela;

/// How an instruction can do without its GOT slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GotForm {
    /// `mov foo@GOT(%base), %reg` → `lea foo@GOTOFF(%base), %reg`
    FromBase,
    /// `mov foo@GOT, %reg` → `lea foo, %reg`; fixed addresses only.
    Fixed,
    /// `call *foo@GOT(%base)` → `addr32 call foo`
    Call,
    /// `jmp *foo@GOT(%base)` → `jmp foo; nop`
    Jump,
    /// `test` or arithmetic with a memory operand → the same with an immediate; fixed addresses only.
    Immediate,
}

/// What the ModRM byte says of a memory operand that has a displacement of 4 bytes and at most one register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Base(u8),
    Fixed,
}

/// The operand of an instruction, and what else ModRM names: a register or the rest of the operation.
fn operand(modrm: u8) -> Option<(Operand, u8)> {
    /// In place of this register there is another byte.
    const SIB: u8 = 4;
    let (low, middle) = (modrm & 7, modrm >> 3 & 7);
    match modrm >> 6 {
        2 if low != SIB => Some((Operand::Base(low), middle)),
        0 if low == 5 => Some((Operand::Fixed, middle)),
        _ => None,
    }
}

/// The opcode and ModRM in front of a field that lies within `code`.
fn instruction(code: &[u8], at: usize) -> Option<(u8, u8)> {
    let before = at.checked_sub(2)?;
    code.get(before..at.checked_add(4)?).map(|bytes| (bytes[0], bytes[1]))
}

fn put32(code: &mut [u8], at: usize, value: u64) {
    code[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
}

/// Whether the field is the operand of `call`, `jmp` or a conditional jump. Nothing else of this machine
/// counts from where it is, but data in code may: such a distance is from the field itself, not from its end.
pub fn is_call(code: Code) -> bool {
    if code.reloc.kind() != R_PC32 || code.reloc.r_addend() != -4 {
        return false;
    }
    match code.bytes.get(..code.at) {
        Some([.., 0xe8 | 0xe9]) => true,
        Some([.., 0x0f, second]) => second & 0xf0 == 0x80,
        _ => false,
    }
}

/// The form of the instruction at a `GOT32X` field. `pic` leaves out forms with addresses in them.
pub fn got_form(code: Code, pic: bool) -> Option<GotForm> {
    if code.reloc.kind() != R_GOT32X || code.reloc.r_addend() != 0 {
        return None;
    }
    let (opcode, modrm) = instruction(code.bytes, code.at)?;
    let (operand, middle) = operand(modrm)?;
    match (opcode, middle) {
        (0x8b, _) if operand != Operand::Fixed => Some(GotForm::FromBase),
        (0xff, 2) => Some(GotForm::Call),
        (0xff, 4) => Some(GotForm::Jump),
        _ if pic => None,
        (0x8b, _) => Some(GotForm::Fixed),
        (0x85, _) => Some(GotForm::Immediate),
        _ => (opcode & 0xc7 == 0x03).then_some(GotForm::Immediate),
    }
}

/// Rewrites the instruction for a symbol at `address`.
pub fn rewrite_got(form: GotForm, field: Field, address: Address) {
    let Field { out, at, .. } = field;
    let distance = address.wrapping_sub(field.address + 4);
    match form {
        GotForm::FromBase => {
            out[at - 2] = 0x8d;
            put32(out, at, address.wrapping_sub(field.got_base));
        }
        GotForm::Fixed => {
            out[at - 2] = 0x8d;
            put32(out, at, address.get());
        }
        GotForm::Call => {
            out[at - 2..at].copy_from_slice(&[0x67, 0xe8]);
            put32(out, at, distance);
        }
        GotForm::Jump => {
            out[at - 2] = 0xe9;
            out[at + 3] = 0x90;
            put32(out, at - 1, distance.wrapping_add(1));
        }
        GotForm::Immediate => {
            let (opcode, register) = (out[at - 2], out[at - 1] >> 3 & 7);
            if opcode == 0x85 {
                out[at - 2..at].copy_from_slice(&[0xf7, 0xc0 | register]);
            } else {
                out[at - 2..at].copy_from_slice(&[0x81, 0xc0 | opcode & 0x38 | register]);
            }
            put32(out, at, address.get());
        }
    }
}

/// A call of the function that looks up addresses, after an instruction that computes what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsCall {
    /// The register with the GOT's base.
    base: u8,
    /// Bytes of the sequence in front of the field, and all of it.
    before: u8,
    size: u8,
}

/// The register with the GOT's base, and the bytes in front of the field, of `lea …(%base), %eax` or `lea
/// …(,%base), %eax`.
fn loaded_argument(code: &[u8], at: usize) -> Option<(u8, u8)> {
    let before = &code[..at];
    if let [.., 0x8d, 0x04, sib] = before
        && sib & 0xc7 == 0x05
        && sib >> 3 != 4
    {
        return Some((sib >> 3, 3));
    }
    match before {
        [.., 0x8d, modrm] => match operand(*modrm)? {
            (Operand::Base(base), 0) => Some((base, 2)),
            _ => None,
        },
        _ => None,
    }
}

/// The call that completes the general- or local-dynamic sequence of relocation `i`, if the linker may
/// rewrite both: the bytes are a sequence that the ABI fixes, and the next relocation is that of the call.
pub fn tls_call(code: &[u8], relocs: &[Rela], i: usize) -> Option<TlsCall> {
    let at = usize::try_from(relocs[i].r_offset()).ok().filter(|at| *at <= code.len())?;
    let general = relocs[i].kind() == R_TLS_GD;
    let (base, before) = loaded_argument(code, at)?;
    // `%eax` is where the result goes.
    if base == 0 || !general && before == 3 {
        return None;
    }
    let behind = code.get(at + 4..)?;
    // `call ___tls_get_addr@PLT`, which the general-dynamic model fills up; `call
    // *___tls_get_addr@GOT(%base)`, and what that may have become.
    let (operand, size) = match behind {
        [0xe8, _, _, _, _, 0x90, ..] if general && before == 2 => (1, 6),
        [0xe8, _, _, _, _, ..] if !general || before == 3 => (1, 5),
        [0xff, modrm, _, _, _, _, ..] if before == 2 && matches!(*modrm, 0x90..=0x93 | 0x95..=0x97) => (2, 6),
        [0x67, 0xe8, _, _, _, _, ..] if before == 2 => (2, 6),
        _ => return None,
    };
    let next = relocs.get(i + 1)?;
    let calls = matches!(FACTS.class(next.kind()), Class::Plt | Class::Pc | Class::GotRelax | Class::Got);
    let size = before + 4 + size;
    (calls && next.r_offset() == (at + 4 + operand) as u64).then_some(TlsCall { base, before, size })
}

/// `mov %gs:0, %eax`
const LOAD_THREAD_POINTER: [u8; 6] = [0x65, 0xa1, 0, 0, 0, 0];

/// Writes `mov %gs:0, %eax` and an instruction with these two bytes and an operand in place of the 12 bytes
/// of a sequence.
fn replace_general_dynamic(field: Field, call: TlsCall, opcode: [u8; 2], operand: u64) {
    let start = field.at - usize::from(call.before);
    let out = &mut field.out[start..start + 12];
    out[..6].copy_from_slice(&LOAD_THREAD_POINTER);
    out[6..8].copy_from_slice(&opcode);
    put32(out, 8, operand);
}

/// General dynamic → `mov %gs:0, %eax; sub $x@tpoff, %eax`.
pub fn general_to_local_exec(call: TlsCall, field: Field, tpoff: i64) {
    replace_general_dynamic(field, call, [0x81, 0xe8], tpoff.wrapping_neg() as u64);
}

/// General dynamic → `mov %gs:0, %eax; add x@gotntpoff(%base), %eax`.
pub fn general_to_initial_exec(call: TlsCall, field: Field, slot: Address) {
    let operand = slot.wrapping_sub(field.got_base);
    replace_general_dynamic(field, call, [0x03, 0x80 | call.base], operand);
}

/// Local dynamic → `mov %gs:0, %eax`, and an instruction that does nothing on any processor.
pub fn local_dynamic_to_local_exec(call: TlsCall, field: Field) {
    let start = field.at - usize::from(call.before);
    let (load, rest) = field.out[start..start + usize::from(call.size)].split_at_mut(6);
    load.copy_from_slice(&LOAD_THREAD_POINTER);
    match rest.len() {
        // nop; lea 0(%esi,%eiz), %esi
        5 => rest.copy_from_slice(&[0x90, 0x8d, 0x74, 0x26, 0]),
        // lea 0(%esi), %esi
        _ => rest.copy_from_slice(&[0x8d, 0xb6, 0, 0, 0, 0]),
    }
}

/// The number of `%esp`, which operands cannot count from without a byte more.
const STACK_POINTER: u8 = 4;

/// Whether the instruction at an initial-exec field is one that can be rewritten to local exec.
pub fn is_initial_exec(code: Code) -> bool {
    let kind = code.reloc.kind();
    if kind == R_TLS_IE && code.at >= 1 && code.at + 4 <= code.bytes.len() && code.bytes[code.at - 1] == 0xa1
    {
        return true;
    }
    let Some((opcode, modrm)) = instruction(code.bytes, code.at) else { return false };
    let has_base = match operand(modrm) {
        Some((operand, _)) => operand != Operand::Fixed,
        None => return false,
    };
    match kind {
        R_TLS_IE => !has_base && matches!(opcode, 0x8b | 0x03 | 0x2b),
        R_TLS_GOTIE | R_TLS_IE_32 => has_base && matches!(opcode, 0x8b | 0x03 | 0x2b),
        _ => false,
    }
}

/// `mov x@indntpoff, %reg` → `mov $x@ntpoff, %reg`; `add` and `sub` likewise. `add x@gotntpoff(%base), %reg`
/// → `lea x@ntpoff(%reg), %reg`, unless the stack pointer is added to. Sun's offsets have the other sign.
pub fn initial_to_local_exec(field: Field, tpoff: i64) {
    let Field { out, at, kind, .. } = field;
    let offset = if kind == R_TLS_IE_32 { tpoff.wrapping_neg() } else { tpoff };
    if out[at - 1] == 0xa1 && kind == R_TLS_IE {
        out[at - 1] = 0xb8;
    } else {
        let register = out[at - 1] >> 3 & 7;
        let code = match out[at - 2] {
            0x8b => [0xc7, 0xc0 | register],
            0x03 if kind == R_TLS_GOTIE && register != STACK_POINTER => {
                [0x8d, 0x80 | register << 3 | register]
            }
            0x03 => [0x81, 0xc0 | register],
            _ => [0x81, 0xe8 | register],
        };
        out[at - 2..at].copy_from_slice(&code);
    }
    put32(out, at, offset as u64);
}

/// Whether the instruction is `lea x@tlsdesc(%base), %reg`.
pub fn is_descriptor(code: Code) -> bool {
    let lea = instruction(code.bytes, code.at).filter(|found| found.0 == 0x8d);
    lea.and_then(|found| operand(found.1)).is_some_and(|found| found.0 != Operand::Fixed)
}

/// `lea x@tlsdesc(%base), %reg` → `lea x@ntpoff, %reg`.
pub fn descriptor_to_local_exec(field: Field, tpoff: i64) {
    field.out[field.at - 1] = field.out[field.at - 1] & 0x38 | 0x05;
    put32(field.out, field.at, tpoff as u64);
}

/// `lea x@tlsdesc(%base), %reg` → `mov x@gotntpoff(%base), %reg`.
pub fn descriptor_to_initial_exec(field: Field, slot: Address) {
    field.out[field.at - 2] = 0x8b;
    put32(field.out, field.at, slot.wrapping_sub(field.got_base));
}

/// `call *x@tlscall(%eax)` → a two-byte no-op. `at` is the offset of the instruction.
pub fn descriptor_call_to_nothing(field: Field) -> Result<(), Failure> {
    match field.out.get_mut(field.at..field.at + 2) {
        Some(bytes @ [0xff, 0x10]) => {
            bytes.copy_from_slice(&[0x66, 0x90]);
            Ok(())
        }
        _ => Err(Failure::Form),
    }
}
