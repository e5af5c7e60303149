//! i386: 32 bits, and relocations that have their addends in the place that they apply to.
//!
//! Fields of 4 bytes hold any value: addresses wrap around at 4 GiB, and so do their differences.
//!
//! A GOT slot counts from the GOT's base, which code has in a register; an instruction without a register has
//! the slot's address itself. The byte in front of the field (ModRM) says which.
//!
//! Loaders take addends from the places that they relocate, and know distances, so that code which is not
//! position-independent can be in a shared object, with text relocations (`-z notext`).
//!
//! Offsets from the thread pointer are negative in GNU's dialect, and have the other sign in Sun's, which
//! only assembly uses by now (`@tpoff`, `@gottpoff`). If something asks for slots with Sun's, all that have
//! an offset have it with both signs.
//!
//! Specification: "System V Application Binary Interface, Intel386 Architecture Processor Supplement",
//! chapter 4.4 (relocation) and 5.2 (PLT), and "ELF Handling For Thread-Local Storage", 4.2.

mod plt;
mod relax;

use super::class::{Class, Fit::*, From, Named, Type, names, names_size, table};
use super::facts::*;
use super::plt::Plan;
use super::rules::{Code, Failure, Field, Rules};
use super::x86;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target};

const R_NONE: u32 = 0;
const R_32: u32 = 1;
const R_PC32: u32 = 2;
const R_GOT32: u32 = 3;
const R_PLT32: u32 = 4;
const R_COPY: u32 = 5;
const R_GLOB_DAT: u32 = 6;
const R_JMP_SLOT: u32 = 7;
const R_RELATIVE: u32 = 8;
const R_GOTOFF: u32 = 9;
const R_GOTPC: u32 = 10;
const R_TLS_TPOFF: u32 = 14;
const R_TLS_IE: u32 = 15;
const R_TLS_GOTIE: u32 = 16;
const R_TLS_LE: u32 = 17;
const R_TLS_GD: u32 = 18;
const R_TLS_LDM: u32 = 19;
const R_16: u32 = 20;
const R_PC16: u32 = 21;
const R_8: u32 = 22;
const R_PC8: u32 = 23;
const R_TLS_LDO_32: u32 = 32;
const R_TLS_IE_32: u32 = 33;
const R_TLS_LE_32: u32 = 34;
const R_TLS_DTPMOD32: u32 = 35;
const R_TLS_DTPOFF32: u32 = 36;
const R_TLS_TPOFF32: u32 = 37;
const R_SIZE32: u32 = 38;
const R_TLS_GOTDESC: u32 = 39;
const R_TLS_DESC_CALL: u32 = 40;
const R_TLS_DESC: u32 = 41;
const R_IRELATIVE: u32 = 42;
const R_GOT32X: u32 = 43;

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_386_NONE")),
    (R_32, Named::new(Class::Address, 4, Any, "R_386_32")),
    (R_PC32, Named::new(Class::Pc, 4, Any, "R_386_PC32")),
    (R_GOT32, Named::new(Class::Got, 4, Any, "R_386_GOT32")),
    (R_PLT32, Named::new(Class::Plt, 4, Any, "R_386_PLT32")),
    (R_GOTOFF, Named::new(Class::GotOff, 4, Any, "R_386_GOTOFF")),
    (R_GOTPC, Named::new(Class::GotBase, 4, Any, "R_386_GOTPC")),
    (R_TLS_TPOFF, Named::new(Class::TpOffWord, 4, Any, "R_386_TLS_TPOFF")),
    (R_TLS_IE, Named::new(Class::GotTp, 4, Any, "R_386_TLS_IE").from(From::Zero)),
    (R_TLS_GOTIE, Named::new(Class::GotTp, 4, Any, "R_386_TLS_GOTIE").from(From::GotBase)),
    (R_TLS_LE, Named::new(Class::TpOffWord, 4, Any, "R_386_TLS_LE")),
    (R_TLS_GD, Named::new(Class::TlsGd, 4, Any, "R_386_TLS_GD").from(From::GotBase)),
    (R_TLS_LDM, Named::new(Class::TlsLd, 4, Any, "R_386_TLS_LDM").from(From::GotBase)),
    (R_16, Named::new(Class::Narrow, 2, Either, "R_386_16")),
    (R_PC16, Named::new(Class::Pc, 2, Around, "R_386_PC16")),
    (R_8, Named::new(Class::Narrow, 1, Either, "R_386_8")),
    (R_PC8, Named::new(Class::Pc, 1, Signed, "R_386_PC8")),
    (R_TLS_LDO_32, Named::new(Class::DtpOff, 4, Any, "R_386_TLS_LDO_32")),
    (R_TLS_IE_32, Named::new(Class::GotTp, 4, Any, "R_386_TLS_IE_32").from(From::GotBase)),
    (R_TLS_LE_32, Named::new(Class::TpOff, 4, Any, "R_386_TLS_LE_32")),
    (R_SIZE32, Named::new(Class::Size, 4, Any, "R_386_SIZE32")),
    (R_TLS_GOTDESC, Named::new(Class::TlsDesc, 4, Any, "R_386_TLS_GOTDESC").from(From::GotBase)),
    (R_TLS_DESC_CALL, Named::new(Class::TlsDescCall, 0, Any, "R_386_TLS_DESC_CALL")),
    (R_GOT32X, Named::new(Class::GotRelax, 4, Any, "R_386_GOT32X")),
];

const TYPES: [Type; 44] = table(LIST);
static NAMES: [u8; names_size(LIST)] = names(LIST);

const FACTS: Facts = Facts {
    name: "i386",
    emulations: &["elf_i386"],
    object_format: "elf32-i386",
    architecture: "i386",
    target: Target::new(3, Format { class: ElfClass::Elf32, order: Order::Little }),
    implicit_addend: Some(implicit_addend),
    image_base: Address::new(0x40_0000),
    // A breakpoint.
    filler: 0xcc,
    tls: Tls::StorageFirst,
    types: &TYPES,
    type_names: &NAMES,
    none: R_NONE,
    dynamic: DynamicTypes {
        with_addends: false,
        address: R_32,
        distance: Some(R_PC32),
        copy: R_COPY,
        glob_dat: R_GLOB_DAT,
        jump_slot: R_JMP_SLOT,
        relative: R_RELATIVE,
        signed: None,
        irelative: Some(R_IRELATIVE),
        resolvers_in_plt: true,
        dtpmod: R_TLS_DTPMOD32,
        dtpoff: R_TLS_DTPOFF32,
        tpoff: R_TLS_TPOFF,
        backward_tpoff: Some(R_TLS_TPOFF32),
        tlsdesc: R_TLS_DESC,
    },
    // Start files of old have them in .gnu.linkonce sections.
    linkonce_prefixes: &[b"__x86.get_pc_thunk.", b"__i686.get_pc_thunk."],
    got_base: GotBase::GotPlt,
    plt: plt::PLT,
    starts_without_slots: true,
    properties: x86::PROPERTIES,
    ..Facts::PLAIN
};

/// Intel's microcontrollers (Quark): the code of i386, and a number of their own.
pub const IAMCU: Facts = Facts {
    name: "Intel MCU",
    emulations: &["elf_iamcu"],
    object_format: "elf32-iamcu",
    architecture: "iamcu",
    target: Target { machine: 6, ..FACTS.target },
    ..FACTS
};

pub struct I386;

impl Rules for I386 {
    const FACTS: Facts = FACTS;
    const DEBUG_OFFSET: u32 = R_32;
    type GotForm = relax::GotForm;
    type TlsCall = relax::TlsCall;
    // Compilers ask for entries of the PLT by name only in position-independent code.
    const CALL_BY_DISTANCE: bool = true;

    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        let value = if kind == R_TLS_LE_32 { sun_offset(out, at, value) } else { value };
        let kind = &TYPES[kind as usize];
        let width = usize::from(kind.width);
        out[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        // Values wrap around with addresses.
        let value = i64::from(value as i32);
        if kind.fits(value) { Ok(()) } else { Err(Failure::Overflow(value)) }
    }

    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }

    fn slot_from(code: Code) -> From {
        match code.reloc.kind() {
            R_GOT32 | R_GOT32X => {
                let modrm = code.at.checked_sub(1).and_then(|before| code.bytes.get(before));
                // mod 0 with rm 5: a displacement and no register.
                if modrm.is_some_and(|modrm| modrm & 0xc7 == 0x05) { From::Zero } else { From::GotBase }
            }
            kind => TYPES[kind as usize].from,
        }
    }

    fn got_form(code: Code, pic: bool) -> Option<relax::GotForm> {
        relax::got_form(code, pic)
    }

    fn rewrite_got(form: relax::GotForm, field: Field, target: Address) -> Result<(), Failure> {
        relax::rewrite_got(form, field, target);
        Ok(())
    }

    fn is_call(code: Code) -> bool {
        relax::is_call(code)
    }

    fn tls_call(bytes: &[u8], relocs: &[Rela], i: usize) -> Option<relax::TlsCall> {
        relax::tls_call(bytes, relocs, i)
    }

    fn general_to_local_exec(call: relax::TlsCall, field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::general_to_local_exec(call, field, tpoff);
        Ok(())
    }

    fn general_to_initial_exec(call: relax::TlsCall, field: Field, slot: Address) -> Result<(), Failure> {
        relax::general_to_initial_exec(call, field, slot);
        Ok(())
    }

    fn local_dynamic_to_local_exec(call: relax::TlsCall, field: Field) -> Result<(), Failure> {
        relax::local_dynamic_to_local_exec(call, field);
        Ok(())
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_initial_exec(code)
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::initial_to_local_exec(field, tpoff);
        Ok(())
    }

    fn counts_backward(kind: u32) -> bool {
        kind == R_TLS_IE_32
    }

    fn is_descriptor(code: Code) -> bool {
        relax::is_descriptor(code)
    }

    fn descriptor_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::descriptor_to_local_exec(field, tpoff);
        Ok(())
    }

    fn descriptor_to_initial_exec(field: Field, slot: Address) -> Result<(), Failure> {
        relax::descriptor_to_initial_exec(field, slot);
        Ok(())
    }

    fn descriptor_call_to_nothing(field: Field) -> Result<(), Failure> {
        relax::descriptor_call_to_nothing(field)
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_plt(plan, start, out);
    }

    fn write_plt_sec(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_plt_sec(plan, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_iplt(plan, start, out);
    }

    fn unbound(plan: &Plan, entry: u32) -> Address {
        plt::unbound(plan, entry)
    }
}

/// The offset of a variable from the thread pointer, which is `value` with the field's addend, with Sun's
/// sign; the addend has none.
fn sun_offset(out: &[u8], at: usize, value: u64) -> u64 {
    let addend = out[at..].first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes)) as u64;
    addend.wrapping_sub(value.wrapping_sub(addend))
}

/// As in [`Facts`].
fn implicit_addend(kind: u32, bytes: &[u8]) -> Option<i64> {
    Some(match FACTS.width(kind) {
        0 if matches!(FACTS.class(kind), Class::None | Class::TlsDescCall) => 0,
        1 => i64::from(*bytes.first()? as i8),
        2 => i64::from(i16::from_le_bytes(*bytes.first_chunk()?)),
        4 => i64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
