//! s390x: relocation types and constants of the 64-bit architecture, which is big endian.
//!
//! Static executables at fixed addresses only, so far; the rest is refused. Nothing is rewritten: code goes through the
//! slots that it names. The general- and local-dynamic models have no types here: the function that they call is not for static
//! programs, in which other linkers rewrite the call.
//!
//! Instructions begin at even addresses. Distances of instructions from their targets are stored halved ("DBL"), so
//! that 4 bytes reach 4 GiB in each direction. Displacements of 20 bits are stored with their lower 12 bits first.
//!
//! Specification: "ELF Application Binary Interface, s390x Supplement", chapters on relocation and on thread-local
//! storage.

mod plt;

use super::class::{self, Class, Fit::*, From, Type};
use super::facts::*;
use super::rules::{Failure, Rules};
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Target};
use crate::synth::image::Image;

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
const R_GOTOFF64: u32 = 28;
const R_TLS_LOAD: u32 = 37;
const R_TLS_GOTIE64: u32 = 44;
const R_TLS_IE64: u32 = 48;
const R_TLS_IEENT: u32 = 49;
const R_TLS_LE64: u32 = 51;
const R_TLS_LDO64: u32 = 53;
const R_TLS_DTPMOD: u32 = 54;
const R_TLS_DTPOFF: u32 = 55;
const R_TLS_TPOFF: u32 = 56;
const R_20: u32 = 57;
const R_GOT20: u32 = 58;
const R_TLS_GOTIE20: u32 = 60;
const R_IRELATIVE: u32 = 61;

/// What objects may have, and what it asks for.
const TYPES: [Type; 62] = class::table(&[
    (R_NONE, Type::new(Class::None, 0, Any, "R_390_NONE")),
    (R_8, Type::new(Class::Narrow, 1, Either, "R_390_8")),
    (R_12, Type::new(Class::Narrow, 2, Unsigned, "R_390_12").bits(12)),
    (R_16, Type::new(Class::Narrow, 2, Either, "R_390_16")),
    (R_32, Type::new(Class::Narrow, 4, Either, "R_390_32")),
    (R_PC32, Type::new(Class::Pc, 4, Signed, "R_390_PC32")),
    (R_GOT12, Type::new(Class::Got, 2, Unsigned, "R_390_GOT12").bits(12).from(From::GotBase)),
    (R_GOT32, Type::new(Class::Got, 4, Signed, "R_390_GOT32").from(From::GotBase)),
    (R_PLT32, Type::new(Class::Plt, 4, Signed, "R_390_PLT32")),
    (R_GOT16, Type::new(Class::Got, 2, Signed, "R_390_GOT16").from(From::GotBase)),
    (R_PC16, Type::new(Class::Pc, 2, Signed, "R_390_PC16")),
    (R_PC16DBL, Type::new(Class::Pc, 2, Around, "R_390_PC16DBL")),
    (R_PLT16DBL, Type::new(Class::Plt, 2, Around, "R_390_PLT16DBL")),
    (R_PC32DBL, Type::new(Class::Pc, 4, Around, "R_390_PC32DBL")),
    (R_PLT32DBL, Type::new(Class::Plt, 4, Around, "R_390_PLT32DBL")),
    (R_GOTPCDBL, Type::new(Class::GotBase, 4, Around, "R_390_GOTPCDBL")),
    (R_64, Type::new(Class::Address, 8, Any, "R_390_64")),
    (R_PC64, Type::new(Class::Pc, 8, Any, "R_390_PC64")),
    (R_GOT64, Type::new(Class::Got, 8, Any, "R_390_GOT64").from(From::GotBase)),
    (R_PLT64, Type::new(Class::Plt, 8, Any, "R_390_PLT64")),
    (R_GOTENT, Type::new(Class::Got, 4, Around, "R_390_GOTENT")),
    (R_GOTOFF64, Type::new(Class::GotOff, 8, Any, "R_390_GOTOFF64")),
    (R_TLS_LOAD, Type::new(Class::None, 0, Any, "R_390_TLS_LOAD")),
    (R_TLS_GOTIE64, Type::new(Class::GotTp, 8, Any, "R_390_TLS_GOTIE64").from(From::GotBase)),
    (R_TLS_IE64, Type::new(Class::GotTp, 8, Any, "R_390_TLS_IE64").from(From::Zero)),
    (R_TLS_IEENT, Type::new(Class::GotTp, 4, Around, "R_390_TLS_IEENT")),
    (R_TLS_LE64, Type::new(Class::TpOff, 8, Any, "R_390_TLS_LE64")),
    // Debug information has it; the local-dynamic model's other types are not there.
    (R_TLS_LDO64, Type::new(Class::DtpOff, 8, Any, "R_390_TLS_LDO64")),
    (R_20, Type::new(Class::Narrow, 4, Signed, "R_390_20").bits(20)),
    (R_GOT20, Type::new(Class::Got, 4, Signed, "R_390_GOT20").bits(20).from(From::GotBase)),
    (R_TLS_GOTIE20, Type::new(Class::GotTp, 4, Signed, "R_390_TLS_GOTIE20").bits(20).from(From::GotBase)),
]);

const FACTS: Facts = Facts {
    name: "s390x",
    emulations: &["elf64_s390"],
    object_format: "elf64-s390",
    architecture: "s390:64-bit",
    target: Target { machine: 22, format: Format { class: ElfClass::Elf64, order: Order::Big } },
    implicit_addend: None,
    pages: Pages { smallest: 0x1000, max: 0x1000, common: 0x1000 },
    image_base: 0x100_0000,
    // Two of them are an instruction that does nothing.
    filler: 0x07,
    tls: Tls::StorageFirst,
    tls_offset: 0,
    types: &TYPES,
    none: R_NONE,
    dynamic: DynamicTypes {
        with_addends: true,
        address: R_64,
        distance: None,
        copy: R_COPY,
        glob_dat: R_GLOB_DAT,
        jump_slot: R_JMP_SLOT,
        relative: R_RELATIVE,
        irelative: R_IRELATIVE,
        dtpmod: R_TLS_DTPMOD,
        dtpoff: R_TLS_DTPOFF,
        tpoff: R_TLS_TPOFF,
        // There are no TLS descriptors.
        tlsdesc: R_NONE,
    },
    got_base: GotBase::GotPlt,
    plt: plt::PLT,
    variant_calls: None,
    flags: None,
    attributes: None,
    pointer: None,
    large: None,
    frame_section: 0,
    properties: Properties { rules: &[], control_flow: None, landing: None },
    branches: None,
    gaps: Gaps { dynamic: true },
};

pub struct S390x;

impl Rules for S390x {
    const FACTS: Facts = FACTS;
    const DEBUG_OFFSET: u32 = R_32;
    type GotForm = ();
    type TlsCall = ();

    #[inline(always)]
    fn put_distance(kind: u32, out: &mut [u8], at: usize, target: u64, here: u64) -> Result<(), Failure> {
        put(kind, out, at, target.wrapping_sub(here) as i64)
    }

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        put(kind, out, at, value as i64)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 8].copy_from_slice(&value.to_be_bytes());
    }

    fn write_plt(image: &Image, start: u64, out: &mut [u8]) {
        plt::write(image, start, out);
    }

    /// Entries are not marked, so that there is no such section.
    fn write_plt_sec(_image: &Image, _start: u64, out: &mut [u8]) {
        out.fill(0);
    }

    /// Nothing is bound by name.
    fn unbound(_image: &Image, _entry: u32) -> u64 {
        0
    }
}

/// Stores the value of a relocation of type `kind`, whose field is within `out`.
#[inline(always)]
fn put(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    let overflow = |fits: bool| if fits { Ok(()) } else { Err(Failure::Overflow(value)) };
    match kind {
        R_PC32DBL | R_PLT32DBL | R_GOTENT | R_GOTPCDBL | R_TLS_IEENT => {
            out[at..at + 4].copy_from_slice(&((value >> 1) as i32).to_be_bytes());
            halved(value, 33)
        }
        R_PC16DBL | R_PLT16DBL => {
            out[at..at + 2].copy_from_slice(&((value >> 1) as i16).to_be_bytes());
            halved(value, 17)
        }
        // A displacement in the lower 12 bits of a halfword.
        R_12 | R_GOT12 => {
            out[at] = out[at] & 0xf0 | (value >> 8) as u8 & 0x0f;
            out[at + 1] = value as u8;
            overflow(TYPES[kind as usize].fits(value))
        }
        // The lower 12 bits of a displacement, then its upper 8, behind 4 bits and before 8 of others.
        R_20 | R_GOT20 | R_TLS_GOTIE20 => {
            out[at] = out[at] & 0xf0 | (value >> 8) as u8 & 0x0f;
            out[at + 1] = value as u8;
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

/// Whether a distance that is stored halved is even and has no more than `bits`.
#[inline(always)]
fn halved(value: i64, bits: u32) -> Result<(), Failure> {
    if value & 1 != 0 {
        return Err(Failure::Odd(value));
    }
    let half = 1i64 << (bits - 1);
    if (-half..half).contains(&value) { Ok(()) } else { Err(Failure::Overflow(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a field of these bytes holds after a value is stored.
    fn stored(kind: u32, before: &[u8], value: i64) -> (Vec<u8>, Result<(), Failure>) {
        let mut out = before.to_vec();
        let result = put(kind, &mut out, 0, value);
        (out, result)
    }

    #[test]
    fn distances_are_halved() {
        assert_eq!(stored(R_PC32DBL, &[0; 4], 0x1234_5678), (vec![0x09, 0x1a, 0x2b, 0x3c], Ok(())));
        assert_eq!(stored(R_PC32DBL, &[0; 4], -2), (vec![0xff; 4], Ok(())));
        assert_eq!(stored(R_PLT32DBL, &[0; 4], 0xffff_fffe).1, Ok(()));
        assert_eq!(stored(R_PLT32DBL, &[0; 4], 1 << 32).1, Err(Failure::Overflow(1 << 32)));
        assert_eq!(stored(R_PLT32DBL, &[0; 4], -1 << 32).1, Ok(()));
        assert_eq!(stored(R_GOTENT, &[0; 4], -(1 << 32) - 2).1, Err(Failure::Overflow(-(1 << 32) - 2)));
        assert_eq!(stored(R_PC32DBL, &[0; 4], 7).1, Err(Failure::Odd(7)));
        assert_eq!(stored(R_PC16DBL, &[0; 2], -0x1_0000), (vec![0x80, 0], Ok(())));
        assert_eq!(stored(R_PC16DBL, &[0; 2], 0x1_0000).1, Err(Failure::Overflow(0x1_0000)));
    }

    #[test]
    fn displacements_leave_the_bits_beside_them() {
        assert_eq!(stored(R_12, &[0xa0, 0], 0xfed), (vec![0xaf, 0xed], Ok(())));
        assert_eq!(stored(R_GOT12, &[0, 0], 0x1000).1, Err(Failure::Overflow(0x1000)));
        assert_eq!(stored(R_GOT12, &[0, 0], -1).1, Err(Failure::Overflow(-1)));
        assert_eq!(stored(R_20, &[0x1f, 0, 0, 0x58], 0x7_89ab), (vec![0x19, 0xab, 0x78, 0x58], Ok(())));
        assert_eq!(stored(R_GOT20, &[0xf0, 0, 0, 4], -8), (vec![0xff, 0xf8, 0xff, 4], Ok(())));
        assert_eq!(stored(R_GOT20, &[0; 4], 1 << 19).1, Err(Failure::Overflow(1 << 19)));
    }

    #[test]
    fn words_are_big_endian() {
        assert_eq!(stored(R_32, &[0; 4], 0xdead_beef), (vec![0xde, 0xad, 0xbe, 0xef], Ok(())));
        assert_eq!(stored(R_PC32, &[0; 4], -2), (vec![0xff, 0xff, 0xff, 0xfe], Ok(())));
        assert_eq!(stored(R_PC32, &[0; 4], 1 << 31).1, Err(Failure::Overflow(1 << 31)));
        assert_eq!(stored(R_TLS_LE64, &[0; 8], -16), (vec![255, 255, 255, 255, 255, 255, 255, 0xf0], Ok(())));
        assert_eq!(stored(R_8, &[0], 300).1, Err(Failure::Overflow(300)));
    }
}
