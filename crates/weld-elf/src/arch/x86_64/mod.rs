//! x86-64: relocation types and constants. Also x32: the same code with files and addresses of 32 bits.
//!
//! Code of x32 loads slots of the GOT with 8 bytes or with 4, so they have 8 there, too, and so have those of the PLT.
//!
//! Specification: "System V Application Binary Interface, AMD64 Architecture Processor Supplement",
//! chapters 4.4 (relocation) and 5.2 (PLT), and "ELF Handling For Thread-Local Storage".

mod plt;
mod relax;

use super::class::{Class, Fit::*, From, Named, Type, names, names_size, table};
use super::facts::*;
use super::plt::Plan;
use super::rules::{Code, Failure, Field, Looks, Rules, reaches};
use super::x86;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target};

const R_NONE: u32 = 0;
const R_64: u32 = 1;
const R_PC32: u32 = 2;
const R_GOT32: u32 = 3;
const R_PLT32: u32 = 4;
const R_COPY: u32 = 5;
const R_GLOB_DAT: u32 = 6;
const R_JUMP_SLOT: u32 = 7;
const R_RELATIVE: u32 = 8;
const R_GOTPCREL: u32 = 9;
const R_32: u32 = 10;
const R_32S: u32 = 11;
const R_16: u32 = 12;
const R_PC16: u32 = 13;
const R_8: u32 = 14;
const R_PC8: u32 = 15;
const R_DTPMOD64: u32 = 16;
const R_DTPOFF64: u32 = 17;
const R_TPOFF64: u32 = 18;
const R_TLSGD: u32 = 19;
const R_TLSLD: u32 = 20;
const R_DTPOFF32: u32 = 21;
const R_GOTTPOFF: u32 = 22;
const R_TPOFF32: u32 = 23;
const R_PC64: u32 = 24;
const R_GOTOFF64: u32 = 25;
const R_GOTPC32: u32 = 26;
const R_GOT64: u32 = 27;
const R_GOTPCREL64: u32 = 28;
const R_GOTPC64: u32 = 29;
const R_GOTPLT64: u32 = 30;
const R_PLTOFF64: u32 = 31;
const R_SIZE32: u32 = 32;
const R_SIZE64: u32 = 33;
const R_GOTPC32_TLSDESC: u32 = 34;
const R_TLSDESC_CALL: u32 = 35;
const R_TLSDESC: u32 = 36;
const R_IRELATIVE: u32 = 37;
const R_GOTPCRELX: u32 = 41;
const R_REX_GOTPCRELX: u32 = 42;
const R_CODE_4_GOTPCRELX: u32 = 43;
const R_CODE_4_GOTTPOFF: u32 = 44;
const R_CODE_4_GOTPC32_TLSDESC: u32 = 45;
const R_CODE_5_GOTPCRELX: u32 = 46;
const R_CODE_5_GOTTPOFF: u32 = 47;
const R_CODE_5_GOTPC32_TLSDESC: u32 = 48;
const R_CODE_6_GOTPCRELX: u32 = 49;
const R_CODE_6_GOTTPOFF: u32 = 50;
const R_CODE_6_GOTPC32_TLSDESC: u32 = 51;

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_X86_64_NONE")),
    (R_64, Named::new(Class::Address, 8, Any, "R_X86_64_64")),
    (R_PC32, Named::new(Class::Pc, 4, Signed, "R_X86_64_PC32")),
    (R_GOT32, Named::new(Class::Got, 4, Signed, "R_X86_64_GOT32").from(From::GotBase)),
    (R_PLT32, Named::new(Class::Plt, 4, Signed, "R_X86_64_PLT32")),
    (R_GOTPCREL, Named::new(Class::Got, 4, Signed, "R_X86_64_GOTPCREL")),
    (R_32, Named::new(Class::Narrow, 4, Unsigned, "R_X86_64_32")),
    (R_32S, Named::new(Class::Narrow, 4, Signed, "R_X86_64_32S")),
    (R_16, Named::new(Class::Narrow, 2, Either, "R_X86_64_16")),
    // Code of 16 bits wraps around.
    (R_PC16, Named::new(Class::Pc, 2, Around, "R_X86_64_PC16")),
    (R_8, Named::new(Class::Narrow, 1, Either, "R_X86_64_8")),
    (R_PC8, Named::new(Class::Pc, 1, Signed, "R_X86_64_PC8")),
    (R_DTPOFF64, Named::new(Class::DtpOff, 8, Any, "R_X86_64_DTPOFF64")),
    (R_TPOFF64, Named::new(Class::TpOffWord, 8, Any, "R_X86_64_TPOFF64")),
    (R_TLSGD, Named::new(Class::TlsGd, 4, Signed, "R_X86_64_TLSGD")),
    (R_TLSLD, Named::new(Class::TlsLd, 4, Signed, "R_X86_64_TLSLD")),
    (R_DTPOFF32, Named::new(Class::DtpOff, 4, Signed, "R_X86_64_DTPOFF32")),
    (R_GOTTPOFF, Named::new(Class::GotTp, 4, Signed, "R_X86_64_GOTTPOFF")),
    (R_TPOFF32, Named::new(Class::TpOff, 4, Signed, "R_X86_64_TPOFF32")),
    (R_PC64, Named::new(Class::Pc, 8, Any, "R_X86_64_PC64")),
    (R_GOTOFF64, Named::new(Class::GotOff, 8, Any, "R_X86_64_GOTOFF64")),
    (R_GOTPC32, Named::new(Class::GotBase, 4, Signed, "R_X86_64_GOTPC32")),
    (R_GOT64, Named::new(Class::Got, 8, Any, "R_X86_64_GOT64").from(From::GotBase)),
    (R_GOTPCREL64, Named::new(Class::Got, 8, Any, "R_X86_64_GOTPCREL64")),
    (R_GOTPC64, Named::new(Class::GotBase, 8, Any, "R_X86_64_GOTPC64")),
    (R_GOTPLT64, Named::new(Class::Got, 8, Any, "R_X86_64_GOTPLT64").from(From::GotBase)),
    (R_PLTOFF64, Named::new(Class::PltOff, 8, Any, "R_X86_64_PLTOFF64")),
    (R_SIZE32, Named::new(Class::Size, 4, Unsigned, "R_X86_64_SIZE32")),
    (R_SIZE64, Named::new(Class::Size, 8, Any, "R_X86_64_SIZE64")),
    (R_GOTPC32_TLSDESC, Named::new(Class::TlsDesc, 4, Signed, "R_X86_64_GOTPC32_TLSDESC")),
    (R_TLSDESC_CALL, Named::new(Class::TlsDescCall, 0, Any, "R_X86_64_TLSDESC_CALL")),
    (R_GOTPCRELX, Named::new(Class::GotRelax, 4, Signed, "R_X86_64_GOTPCRELX")),
    (R_REX_GOTPCRELX, Named::new(Class::GotRelax, 4, Signed, "R_X86_64_REX_GOTPCRELX")),
    (R_CODE_4_GOTPCRELX, Named::new(Class::GotRelax, 4, Signed, "R_X86_64_CODE_4_GOTPCRELX")),
    (R_CODE_4_GOTTPOFF, Named::new(Class::GotTp, 4, Signed, "R_X86_64_CODE_4_GOTTPOFF")),
    (R_CODE_4_GOTPC32_TLSDESC, Named::new(Class::TlsDesc, 4, Signed, "R_X86_64_CODE_4_GOTPC32_TLSDESC")),
    (R_CODE_5_GOTPCRELX, Named::new(Class::GotRelax, 4, Signed, "R_X86_64_CODE_5_GOTPCRELX")),
    (R_CODE_5_GOTTPOFF, Named::new(Class::GotTp, 4, Signed, "R_X86_64_CODE_5_GOTTPOFF")),
    (R_CODE_5_GOTPC32_TLSDESC, Named::new(Class::TlsDesc, 4, Signed, "R_X86_64_CODE_5_GOTPC32_TLSDESC")),
    (R_CODE_6_GOTPCRELX, Named::new(Class::GotRelax, 4, Signed, "R_X86_64_CODE_6_GOTPCRELX")),
    (R_CODE_6_GOTTPOFF, Named::new(Class::GotTp, 4, Signed, "R_X86_64_CODE_6_GOTTPOFF")),
    (R_CODE_6_GOTPC32_TLSDESC, Named::new(Class::TlsDesc, 4, Signed, "R_X86_64_CODE_6_GOTPC32_TLSDESC")),
];

const TYPES: [Type; 52] = table(LIST);
static NAMES: [u8; names_size(LIST)] = names(LIST);

/// The same for x32, where addresses have 4 bytes.
const X32_LIST: [(u32, Named); LIST.len()] = {
    let mut list = [LIST[0]; LIST.len()];
    let mut i = 0;
    while i < list.len() {
        list[i] = match LIST[i].0 {
            R_64 => (R_64, Named::new(Class::Narrow, 8, Any, "R_X86_64_64")),
            R_32 => (R_32, Named::new(Class::Address, 4, Any, "R_X86_64_32")),
            _ => LIST[i],
        };
        i += 1;
    }
    list
};

static X32_TYPES: [Type; 52] = table(&X32_LIST);

const FACTS: Facts = facts::<false>();

const fn facts<const X32: bool>() -> Facts {
    let names = if X32 { X32_NAMES } else { X86_64_NAMES };
    Facts {
        name: names.name,
        emulations: names.emulations,
        object_format: names.object_format,
        architecture: names.architecture,
        target: Target::new(
            62,
            Format { class: if X32 { ElfClass::Elf32 } else { ElfClass::Elf64 }, order: Order::Little },
        ),
        image_base: Address::new(0x20_0000),
        // A breakpoint.
        filler: 0xcc,
        // endbr64; ret
        does_nothing: &[0xf3, 0x0f, 0x1e, 0xfa, 0xc3],
        tls: Tls::StorageFirst,
        types: if X32 { &X32_TYPES } else { &TYPES },
        type_names: &NAMES,
        none: R_NONE,
        dynamic: DynamicTypes {
            with_addends: true,
            address: if X32 { R_32 } else { R_64 },
            distance: None,
            copy: R_COPY,
            glob_dat: R_GLOB_DAT,
            jump_slot: R_JUMP_SLOT,
            relative: R_RELATIVE,
            signed: None,
            irelative: Some(R_IRELATIVE),
            resolvers_in_plt: true,
            dtpmod: R_DTPMOD64,
            dtpoff: R_DTPOFF64,
            tpoff: R_TPOFF64,
            backward_tpoff: None,
            tlsdesc: R_TLSDESC,
        },
        got_base: GotBase::GotPlt,
        plt: if X32 { Plt { frames: |_| None, ..plt::PLT } } else { plt::PLT },
        starts_without_slots: true,
        wide_slots: X32,
        large: Some(LargeModel { common: 0xff02, flag: 0x1000_0000 }),
        frame_section: 0x7000_0001,
        properties: x86::PROPERTIES,
        ..Facts::PLAIN
    }
}

/// What a machine is called.
struct Called {
    name: &'static str,
    emulations: &'static [&'static str],
    object_format: &'static str,
    architecture: &'static str,
}

const X86_64_NAMES: Called = Called {
    name: "x86-64",
    emulations: &["elf_x86_64", "elf_amd64"],
    object_format: "elf64-x86-64",
    architecture: "i386:x86-64",
};

const X32_NAMES: Called = Called {
    name: "x32",
    emulations: &["elf32_x86_64"],
    object_format: "elf32-x86-64",
    architecture: "i386:x64-32",
};

pub struct X86_64<const X32: bool>;

impl<const X32: bool> Rules for X86_64<X32> {
    const FACTS: Facts = facts::<X32>();
    /// The longest prefixes, opcode and operand; the sequences that the psABI fixes.
    const LOOKS: Option<Looks> = if X32 { None } else { Some(Looks { slot: (6, 4), call: (4, 19) }) };
    const DEBUG_OFFSET: u32 = R_32;
    type GotForm = relax::GotForm;
    type TlsCall = relax::TlsCall;

    #[inline(always)]
    fn put_distance(
        kind: u32,
        out: &mut [u8],
        at: usize,
        target: Address,
        here: Address,
    ) -> Result<(), Failure> {
        put_signed(out, at, FACTS.width(kind), target.wrapping_sub(here) as i64)
    }

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        match TYPES[kind as usize].fit {
            Signed | Around | Any | Rounded => put_signed(out, at, FACTS.width(kind), value as i64),
            Unsigned => put_unsigned(out, at, value),
            Either => put_either(out, at, FACTS.width(kind), value),
        }
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        match X32 {
            true => out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
            false => out[at..at + 8].copy_from_slice(&value.to_le_bytes()),
        }
    }

    fn got_form(code: Code, pic: bool) -> Option<relax::GotForm> {
        relax::got_form(code.reloc.kind(), code.bytes, code.at, code.reloc.r_addend(), pic)
    }

    fn rewrite_got(form: relax::GotForm, field: Field, target: Address) -> Result<(), Failure> {
        // The addend was for the end of the instruction.
        let address = target.wrapping_add(4);
        let value = address.get() as i64;
        if form == relax::GotForm::Immediate && value != value as i32 as i64 {
            return Err(Failure::Overflow(value));
        }
        reaches(relax::rewrite_got(form, field.out, field.at, address, field.address))
    }

    fn tls_call(bytes: &[u8], relocs: &[Rela], i: usize) -> Option<relax::TlsCall> {
        relax::tls_call::<X32>(bytes, relocs, i)
    }

    fn general_to_local_exec(call: relax::TlsCall, field: Field, tpoff: i64) -> Result<(), Failure> {
        reaches(relax::general_dynamic_to_local_exec::<X32>(field.out, field.at, call, tpoff))
    }

    fn general_to_initial_exec(call: relax::TlsCall, field: Field, slot: Address) -> Result<(), Failure> {
        let distance = slot.wrapping_sub(field.address) as i64;
        reaches(relax::general_dynamic_to_initial_exec::<X32>(field.out, field.at, call, distance))
    }

    fn local_dynamic_to_local_exec(call: relax::TlsCall, field: Field) -> Result<(), Failure> {
        relax::local_dynamic_to_local_exec::<X32>(field.out, field.at, call);
        Ok(())
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_initial_exec::<X32>(code.reloc.kind(), code.bytes, code.at)
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        reaches(relax::initial_to_local_exec(field.out, field.at, tpoff))
    }

    fn is_descriptor(code: Code) -> bool {
        relax::is_tlsdesc::<X32>(code.reloc.kind(), code.bytes, code.at)
    }

    fn descriptor_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        reaches(relax::tlsdesc_to_local_exec(field.out, field.at, tpoff))
    }

    fn descriptor_to_initial_exec(field: Field, slot: Address) -> Result<(), Failure> {
        reaches(relax::tlsdesc_to_initial_exec(field.out, field.at, slot, field.address))
    }

    fn descriptor_call_to_nothing(field: Field) -> Result<(), Failure> {
        if relax::tlsdesc_call_to_nop::<X32>(field.out, field.at) { Ok(()) } else { Err(Failure::Form) }
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

/// Writes a signed value of `size` bytes; one of 8 always fits.
#[inline(always)]
fn put_signed(out: &mut [u8], at: usize, size: usize, value: i64) -> Result<(), Failure> {
    let fits = match size {
        4 => {
            out[at..at + 4].copy_from_slice(&(value as i32).to_le_bytes());
            value == value as i32 as i64
        }
        8 => {
            out[at..at + 8].copy_from_slice(&value.to_le_bytes());
            true
        }
        2 => {
            out[at..at + 2].copy_from_slice(&(value as i16).to_le_bytes());
            (-0x1_0000..=0xffff).contains(&value)
        }
        _ => {
            out[at] = value as u8;
            value == value as i8 as i64
        }
    };
    if fits { Ok(()) } else { Err(Failure::Overflow(value)) }
}

/// Writes a value of 4 bytes that is not negative.
#[inline(always)]
fn put_unsigned(out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
    out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    if value == value as u32 as u64 { Ok(()) } else { Err(Failure::Overflow(value as i64)) }
}

/// Writes a value of 1 or 2 bytes that may be signed or not.
fn put_either(out: &mut [u8], at: usize, size: usize, value: u64) -> Result<(), Failure> {
    out[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    let above = value as i64 >> (8 * size - 1);
    // All bits above the field are like its sign, or none is set.
    if matches!(above, 0 | -1) || value >> (8 * size) == 0 {
        Ok(())
    } else {
        Err(Failure::Overflow(value as i64))
    }
}

/// What relocation type `kind` asks.
fn class(kind: u32) -> Class {
    FACTS.class(kind)
}

#[cfg(test)]
mod tests;
