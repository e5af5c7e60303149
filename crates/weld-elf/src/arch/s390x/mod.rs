//! s390x: relocation types and constants of the 64-bit architecture, which is big endian.
//!
//! Instructions begin at even addresses. Distances of instructions from their targets are stored halved
//! ("DBL"), so that 4 bytes reach 4 GiB in each direction. Displacements of 20 bits are stored with their
//! lower 12 bits first.
//!
//! Sequences for thread-local storage have their offsets as data, in literals, and relocations that mark the
//! instructions which use them. So a literal and its instructions are rewritten apart from each other; they
//! agree, because what they become follows from the symbol alone: see [`relax`].
//!
//! Specification: "ELF Application Binary Interface, s390x Supplement", chapters on relocation and on
//! thread-local storage.

mod plt;
mod relax;
#[cfg(test)]
mod tests;

use super::class::{self, Class, Fit::*, From, Named, Type};
use super::facts::*;
use super::plt::Plan;
use super::rules::{Code, Failure, Field, Rules};
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target};

const R_NONE: u32 = 0;
const R_8: u32 = 1;
const R_12: u32 = 2;
const R_16: u32 = 3;
const R_32: u32 = 4;
const R_PC32: u32 = 5;
const R_GOT12: u32 = 6;
const R_GOT32: u32 = 7;
const R_PLT32: u32 = 8;
const R_COPY: u32 = 9;
const R_GLOB_DAT: u32 = 10;
const R_JMP_SLOT: u32 = 11;
const R_RELATIVE: u32 = 12;
const R_GOTOFF32: u32 = 13;
const R_GOTPC: u32 = 14;
const R_GOT16: u32 = 15;
const R_PC16: u32 = 16;
const R_PC16DBL: u32 = 17;
const R_PLT16DBL: u32 = 18;
const R_PC32DBL: u32 = 19;
const R_PLT32DBL: u32 = 20;
const R_GOTPCDBL: u32 = 21;
const R_64: u32 = 22;
const R_PC64: u32 = 23;
const R_GOT64: u32 = 24;
const R_PLT64: u32 = 25;
const R_GOTENT: u32 = 26;
const R_GOTOFF16: u32 = 27;
const R_GOTOFF64: u32 = 28;
const R_GOTPLT12: u32 = 29;
const R_GOTPLT16: u32 = 30;
const R_GOTPLT32: u32 = 31;
const R_GOTPLT64: u32 = 32;
const R_GOTPLTENT: u32 = 33;
const R_PLTOFF16: u32 = 34;
const R_PLTOFF32: u32 = 35;
const R_PLTOFF64: u32 = 36;
const R_TLS_LOAD: u32 = 37;
const R_TLS_GDCALL: u32 = 38;
const R_TLS_LDCALL: u32 = 39;
const R_TLS_GD32: u32 = 40;
const R_TLS_GD64: u32 = 41;
const R_TLS_GOTIE12: u32 = 42;
const R_TLS_GOTIE32: u32 = 43;
const R_TLS_GOTIE64: u32 = 44;
const R_TLS_LDM32: u32 = 45;
const R_TLS_LDM64: u32 = 46;
const R_TLS_IE32: u32 = 47;
const R_TLS_IE64: u32 = 48;
const R_TLS_IEENT: u32 = 49;
const R_TLS_LE32: u32 = 50;
const R_TLS_LE64: u32 = 51;
const R_TLS_LDO32: u32 = 52;
const R_TLS_LDO64: u32 = 53;
const R_TLS_DTPMOD: u32 = 54;
const R_TLS_DTPOFF: u32 = 55;
const R_TLS_TPOFF: u32 = 56;
const R_20: u32 = 57;
const R_GOT20: u32 = 58;
const R_GOTPLT20: u32 = 59;
const R_TLS_GOTIE20: u32 = 60;
const R_IRELATIVE: u32 = 61;
const R_PC12DBL: u32 = 62;
const R_PLT12DBL: u32 = 63;
const R_PC24DBL: u32 = 64;
const R_PLT24DBL: u32 = 65;

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_390_NONE")),
    (R_8, Named::new(Class::Narrow, 1, Either, "R_390_8")),
    (R_12, Named::new(Class::Narrow, 2, Unsigned, "R_390_12").bits(12)),
    (R_16, Named::new(Class::Narrow, 2, Either, "R_390_16")),
    (R_32, Named::new(Class::Narrow, 4, Either, "R_390_32")),
    (R_PC32, Named::new(Class::Pc, 4, Signed, "R_390_PC32")),
    (R_GOT12, Named::new(Class::Got, 2, Unsigned, "R_390_GOT12").bits(12).from(From::GotBase)),
    (R_GOT32, Named::new(Class::Got, 4, Signed, "R_390_GOT32").from(From::GotBase)),
    (R_PLT32, Named::new(Class::Plt, 4, Signed, "R_390_PLT32")),
    (R_GOTOFF32, Named::new(Class::GotOff, 4, Signed, "R_390_GOTOFF32")),
    (R_GOTPC, Named::new(Class::GotBase, 8, Any, "R_390_GOTPC")),
    (R_GOT16, Named::new(Class::Got, 2, Signed, "R_390_GOT16").from(From::GotBase)),
    (R_PC16, Named::new(Class::Pc, 2, Signed, "R_390_PC16")),
    (R_PC16DBL, Named::new(Class::Pc, 2, Around, "R_390_PC16DBL")),
    (R_PLT16DBL, Named::new(Class::Plt, 2, Around, "R_390_PLT16DBL")),
    (R_PC32DBL, Named::new(Class::Pc, 4, Around, "R_390_PC32DBL")),
    (R_PLT32DBL, Named::new(Class::Plt, 4, Around, "R_390_PLT32DBL")),
    (R_GOTPCDBL, Named::new(Class::GotBase, 4, Around, "R_390_GOTPCDBL")),
    (R_64, Named::new(Class::Address, 8, Any, "R_390_64")),
    (R_PC64, Named::new(Class::Pc, 8, Any, "R_390_PC64")),
    (R_GOT64, Named::new(Class::Got, 8, Any, "R_390_GOT64").from(From::GotBase)),
    (R_PLT64, Named::new(Class::Plt, 8, Any, "R_390_PLT64")),
    (R_GOTENT, Named::new(Class::GotRelax, 4, Around, "R_390_GOTENT")),
    (R_GOTOFF16, Named::new(Class::GotOff, 2, Signed, "R_390_GOTOFF16")),
    (R_GOTOFF64, Named::new(Class::GotOff, 8, Any, "R_390_GOTOFF64")),
    (R_GOTPLT12, Named::new(Class::Got, 2, Unsigned, "R_390_GOTPLT12").bits(12).from(From::GotBase)),
    (R_GOTPLT16, Named::new(Class::Got, 2, Signed, "R_390_GOTPLT16").from(From::GotBase)),
    (R_GOTPLT32, Named::new(Class::Got, 4, Signed, "R_390_GOTPLT32").from(From::GotBase)),
    (R_GOTPLT64, Named::new(Class::Got, 8, Any, "R_390_GOTPLT64").from(From::GotBase)),
    (R_GOTPLTENT, Named::new(Class::Got, 4, Around, "R_390_GOTPLTENT")),
    (R_PLTOFF16, Named::new(Class::PltOff, 2, Signed, "R_390_PLTOFF16")),
    (R_PLTOFF32, Named::new(Class::PltOff, 4, Signed, "R_390_PLTOFF32")),
    (R_PLTOFF64, Named::new(Class::PltOff, 8, Any, "R_390_PLTOFF64")),
    (R_TLS_LOAD, Named::new(Class::TlsMark, 0, Any, "R_390_TLS_LOAD")),
    (R_TLS_GDCALL, Named::new(Class::TlsMark, 0, Any, "R_390_TLS_GDCALL")),
    (R_TLS_LDCALL, Named::new(Class::TlsMark, 0, Any, "R_390_TLS_LDCALL")),
    (R_TLS_GD32, Named::new(Class::TlsGd, 4, Signed, "R_390_TLS_GD32").from(From::GotBase)),
    (R_TLS_GD64, Named::new(Class::TlsGd, 8, Any, "R_390_TLS_GD64").from(From::GotBase)),
    (R_TLS_GOTIE12, Named::new(Class::GotTp, 2, Unsigned, "R_390_TLS_GOTIE12").bits(12).from(From::GotBase)),
    (R_TLS_GOTIE32, Named::new(Class::GotTp, 4, Signed, "R_390_TLS_GOTIE32").from(From::GotBase)),
    (R_TLS_GOTIE64, Named::new(Class::GotTp, 8, Any, "R_390_TLS_GOTIE64").from(From::GotBase)),
    (R_TLS_LDM32, Named::new(Class::TlsLd, 4, Signed, "R_390_TLS_LDM32").from(From::GotBase)),
    (R_TLS_LDM64, Named::new(Class::TlsLd, 8, Any, "R_390_TLS_LDM64").from(From::GotBase)),
    (R_TLS_IE32, Named::new(Class::GotTp, 4, Unsigned, "R_390_TLS_IE32").from(From::Zero)),
    (R_TLS_IE64, Named::new(Class::GotTp, 8, Any, "R_390_TLS_IE64").from(From::Zero)),
    (R_TLS_IEENT, Named::new(Class::GotTp, 4, Around, "R_390_TLS_IEENT")),
    (R_TLS_LE32, Named::new(Class::TpOff, 4, Signed, "R_390_TLS_LE32")),
    (R_TLS_LE64, Named::new(Class::TpOffWord, 8, Any, "R_390_TLS_LE64")),
    (R_TLS_LDO32, Named::new(Class::DtpOff, 4, Signed, "R_390_TLS_LDO32")),
    (R_TLS_LDO64, Named::new(Class::DtpOff, 8, Any, "R_390_TLS_LDO64")),
    (R_20, Named::new(Class::Narrow, 4, Signed, "R_390_20").bits(20)),
    (R_GOT20, Named::new(Class::Got, 4, Signed, "R_390_GOT20").bits(20).from(From::GotBase)),
    (R_GOTPLT20, Named::new(Class::Got, 4, Signed, "R_390_GOTPLT20").bits(20).from(From::GotBase)),
    (R_TLS_GOTIE20, Named::new(Class::GotTp, 4, Signed, "R_390_TLS_GOTIE20").bits(20).from(From::GotBase)),
    (R_PC12DBL, Named::new(Class::Pc, 2, Signed, "R_390_PC12DBL").bits(13)),
    (R_PLT12DBL, Named::new(Class::Plt, 2, Signed, "R_390_PLT12DBL").bits(13)),
    (R_PC24DBL, Named::new(Class::Pc, 3, Signed, "R_390_PC24DBL").bits(25)),
    (R_PLT24DBL, Named::new(Class::Plt, 3, Signed, "R_390_PLT24DBL").bits(25)),
];

const TYPES: [Type; 66] = class::table(LIST);
static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

const FACTS: Facts = Facts {
    name: "s390x",
    emulations: &["elf64_s390"],
    object_format: "elf64-s390",
    architecture: "s390:64-bit",
    target: Target::new(22, Format { class: ElfClass::Elf64, order: Order::Big }),
    image_base: Address::new(0x100_0000),
    // Two of them are an instruction that does nothing.
    filler: 0x07,
    tls: Tls::StorageFirst,
    types: &TYPES,
    type_names: &NAMES,
    none: R_NONE,
    dynamic: DynamicTypes {
        with_addends: true,
        address: R_64,
        distance: None,
        copy: R_COPY,
        glob_dat: R_GLOB_DAT,
        jump_slot: R_JMP_SLOT,
        relative: R_RELATIVE,
        signed: None,
        irelative: Some(R_IRELATIVE),
        resolvers_in_plt: true,
        dtpmod: R_TLS_DTPMOD,
        dtpoff: R_TLS_DTPOFF,
        tpoff: R_TLS_TPOFF,
        backward_tpoff: None,
        // There are no TLS descriptors.
        tlsdesc: R_NONE,
    },
    hash_word: 8,
    got_base: GotBase::GotWithHead { words: 3, reach: u32::MAX },
    plt: plt::PLT,
    ..Facts::PLAIN
};

pub struct S390x;

impl Rules for S390x {
    const FACTS: Facts = FACTS;
    const DEBUG_OFFSET: u32 = R_32;
    /// The address that an instruction makes instead of loading it.
    type GotForm = ();
    type TlsCall = ();
    /// A sequence ends in its literal: what follows is marked by itself.
    const TLS_CALL_RELOCS: usize = 0;
    const ALL_OR_NONE: bool = true;
    const ADDRESS_BY_PLT: bool = true;
    const EVEN_ADDRESSES: bool = true;

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        put(kind, out, at, value as i64)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 8].copy_from_slice(&value.to_be_bytes());
    }

    fn got_form(code: Code, _pic: bool) -> Option<()> {
        relax::is_got_load(code).then_some(())
    }

    fn rewrite_got(_form: (), field: Field, target: Address) -> Result<(), Failure> {
        relax::load_to_address(field, target)
    }

    fn tls_call(_bytes: &[u8], relocs: &[Rela], i: usize) -> Option<()> {
        relax::is_literal(relocs[i].kind()).then_some(())
    }

    fn is_address(code: Code) -> bool {
        relax::is_address(code)
    }

    fn is_marked_call(relocs: &[Rela], i: usize) -> bool {
        relax::is_marked_call(relocs, i)
    }

    fn marks_call(kind: u32) -> bool {
        relax::marks_call(kind)
    }

    fn rewrite_marked(field: Field, local: bool) -> Result<(), Failure> {
        relax::rewrite_marked(field, local)
    }

    fn general_to_local_exec(_call: (), field: Field, tpoff: i64) -> Result<(), Failure> {
        put(field.kind, field.out, field.at, tpoff)
    }

    fn general_to_initial_exec(_call: (), field: Field, slot: Address) -> Result<(), Failure> {
        put(field.kind, field.out, field.at, slot.wrapping_sub(field.got_base) as i64)
    }

    fn local_dynamic_to_local_exec(_call: (), field: Field) -> Result<(), Failure> {
        put(field.kind, field.out, field.at, 0)
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_literal(code.reloc.kind()) || relax::is_initial_exec(code)
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        if field.kind == R_TLS_IEENT {
            return relax::load_to_offset(field, tpoff);
        }
        // A slot's address has no sign, an offset has one.
        let kind = if field.kind == R_TLS_IE32 { R_TLS_LE32 } else { field.kind };
        put(kind, field.out, field.at, tpoff)
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write(plan, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_iplt(plan, start, out);
    }

    fn unbound(plan: &Plan, entry: u32) -> Address {
        plt::unbound(plan, entry)
    }
}

/// Stores the value of a relocation of type `kind`, whose field is within `out`.
#[inline(always)]
fn put(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    let overflow = |fits: bool| if fits { Ok(()) } else { Err(Failure::Overflow(value)) };
    match kind {
        R_PC32DBL | R_PLT32DBL | R_GOTENT | R_GOTPLTENT | R_GOTPCDBL | R_TLS_IEENT => {
            out[at..at + 4].copy_from_slice(&((value >> 1) as i32).to_be_bytes());
            halved(value, 33)
        }
        R_PC16DBL | R_PLT16DBL => {
            out[at..at + 2].copy_from_slice(&((value >> 1) as i16).to_be_bytes());
            halved(value, 17)
        }
        R_PC12DBL | R_PLT12DBL => {
            put_low_12(out, at, value >> 1);
            halved(value, 13)
        }
        R_PC24DBL | R_PLT24DBL => {
            out[at..at + 3].copy_from_slice(&((value >> 1) as i32).to_be_bytes()[1..]);
            halved(value, 25)
        }
        // A displacement in the lower 12 bits of a halfword.
        R_12 | R_GOT12 | R_GOTPLT12 | R_TLS_GOTIE12 => {
            put_low_12(out, at, value);
            overflow(TYPES[kind as usize].fits(value))
        }
        // The lower 12 bits of a displacement, then its upper 8, after 4 bits and before 8 of others.
        R_20 | R_GOT20 | R_GOTPLT20 | R_TLS_GOTIE20 => {
            put_low_12(out, at, value);
            out[at + 2] = (value >> 12) as u8;
            overflow(TYPES[kind as usize].fits(value))
        }
        _ => {
            let size = FACTS.width(kind);
            out[at..at + size].copy_from_slice(&value.to_be_bytes()[8 - size..]);
            overflow(TYPES[kind as usize].fits(value))
        }
    }
}

/// Stores the lower 12 bits of a value in those of a halfword.
#[inline(always)]
fn put_low_12(out: &mut [u8], at: usize, value: i64) {
    out[at] = out[at] & 0xf0 | (value >> 8) as u8 & 0x0f;
    out[at + 1] = value as u8;
}

/// Whether a distance that is stored halved is even and has no more than `bits`.
#[inline(always)]
fn halved(value: i64, bits: u32) -> Result<(), Failure> {
    if value & 1 != 0 {
        return Err(Failure::Odd(value));
    }
    let half = 1i64 << (bits - 1);
    if (-half..half).contains(&value) { Ok(()) } else { Err(Failure::Overflow(value)) }
}
