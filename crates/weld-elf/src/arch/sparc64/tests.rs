//! Values in instructions, and instructions that are rewritten.

use super::code::*;
use super::relax::*;
use super::types::*;
use crate::address::Address;
use crate::arch::rules::{Code, Failure, Field};
use crate::elf::Rela;

fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_be_bytes().to_vec();
    let result = put(kind, &mut out, 0, value);
    (u32::from_be_bytes(out.try_into().unwrap()), result)
}

#[test]
fn addresses_are_stored_in_parts() {
    let value = 0x1234_5678_9abc_def0;
    let parts = [
        (R_SPARC_HH22, value >> 42),
        (R_SPARC_HM10, value >> 32 & 0x3ff),
        (R_SPARC_LM22, value >> 10 & 0x3f_ffff),
        (R_SPARC_LO10, value & 0x3ff),
    ];
    for (kind, part) in parts {
        assert_eq!(stored(kind, 0x0300_0000, value), (0x0300_0000 | part as u32, Ok(())), "{kind}");
    }
    assert_eq!(stored(R_SPARC_HI22, SETHI_G1, 0xffff_ffff), (0x033f_ffff, Ok(())));
    assert_eq!(stored(R_SPARC_HI22, SETHI_G1, 1 << 32).1, Err(Failure::Overflow(1 << 32)));
    assert_eq!(stored(R_SPARC_H44, SETHI_G1, 0xfff_ffff_ffff), (0x033f_ffff, Ok(())));
    assert_eq!(stored(R_SPARC_H44, SETHI_G1, 1 << 44).1, Err(Failure::Overflow(1 << 44)));
    assert_eq!(stored(R_SPARC_L44, 0x8210_6000, 0xfff), (0x8210_6fff, Ok(())));
    assert_eq!(stored(R_SPARC_H34, SETHI_G1, 0x3_ffff_ffff), (0x033f_ffff, Ok(())));
    assert_eq!(stored(R_SPARC_13, 0x8210_2000, -0x1000), (0x8210_3000, Ok(())));
    assert_eq!(stored(R_SPARC_13, 0x8210_2000, 0x2000).1, Err(Failure::Overflow(0x2000)));
    assert_eq!(stored(R_SPARC_REV32, 0, 0x1234_5678), (0x7856_3412, Ok(())));
}

#[test]
fn numbers_are_added_to_lower_parts() {
    let with = |more: i64| (i64::from(WITH_LEAST) + 0x1000 + more) as u32;
    assert_eq!(stored(with(8), 0xc200_6000, 0x1_03fc), (0xc200_6404, Ok(())));
    assert_eq!(stored(with(-4), 0xc200_6000, 0x1_0000), (0xc200_7ffc, Ok(())));
    assert_eq!(stored(with(0xfff), 0xc200_6000, 1).1, Err(Failure::Overflow(0x1000)));
}

#[test]
fn values_with_signs_are_stored_in_parts() {
    for value in [0, 1, 0x3ff, 0x400, 0xffff_ffff, -1, -8, -0x400, -0x401, -0x1_0000_0000] {
        let (high, first) = stored(R_SPARC_GOTDATA_HIX22, SETHI_G1, value);
        let (low, second) = stored(R_SPARC_GOTDATA_LOX10, 0x8218_6000, value);
        assert_eq!((first, second), (Ok(()), Ok(())), "{value:#x}");
        // sethi, and xor of an immediate with a sign.
        let immediate = i64::from(low as i32) << 51 >> 51;
        assert_eq!(i64::from(high & 0x3f_ffff) << 10 ^ immediate, value, "{value:#x}");
    }
    assert!(stored(R_SPARC_GOTDATA_HIX22, SETHI_G1, 1 << 32).1.is_err());
}

#[test]
fn branches_have_distances_in_words() {
    assert_eq!(stored(R_SPARC_WDISP30, 0x4000_0000, -4), (0x7fff_ffff, Ok(())));
    assert_eq!(stored(R_SPARC_WPLT30, 0x4000_0000, 1 << 31).1, Err(Failure::Overflow(1 << 31)));
    assert_eq!(stored(R_SPARC_WDISP22, 0x1080_0000, 0x7f_fffc), (0x109f_ffff, Ok(())));
    assert_eq!(stored(R_SPARC_WDISP19, 0x3068_0000, -0x10_0000), (0x306c_0000, Ok(())));
    assert_eq!(stored(R_SPARC_WDISP16, 0x02c0_0000, -4), (0x02f0_3fff, Ok(())));
    assert_eq!(stored(R_SPARC_WDISP16, 0x02c0_0000, 0x1_0000), (0x02d0_0000, Ok(())));
    assert_eq!(stored(R_SPARC_WDISP16, 0x02c0_0000, 0x2_0000).1, Err(Failure::Overflow(0x2_0000)));
    assert_eq!(stored(R_SPARC_WDISP10, 0x1040_0000, -4), (0x1058_1fe0, Ok(())));
    assert_eq!(stored(R_SPARC_WDISP30, 0x4000_0000, 2).1, Err(Failure::Unaligned(2)));
}

fn field(out: &mut [u8], at: usize, kind: u32) -> Field<'_> {
    Field { out, at, address: Address::new(0x1000), kind, got_base: Address::new(0x2000) }
}

fn rewritten(words: &[u32], marks: &[(usize, u32)], local: bool) -> Vec<u32> {
    let mut out: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    for (at, kind) in marks {
        rewrite_marked(field(&mut out, *at, *kind), local).unwrap();
    }
    out.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect()
}

const CALL: u32 = 0x4000_0000;
/// `add %l7, %g1, %o0`
const ARGUMENT: u32 = 0x9005_c001;
/// `ldx [%l7 + %g1], %o0`
const LOAD: u32 = 0xd05d_c001;
/// `add %g7, %o0, %o0`
const SUM: u32 = 0x9001_c008;

#[test]
fn a_load_is_not_left_after_what_uses_it() {
    let (call, argument) = (R_SPARC_TLS_GD_CALL, R_SPARC_TLS_GD_ADD);
    assert_eq!(rewritten(&[CALL, ARGUMENT], &[(0, call), (4, argument)], false), [LOAD, SUM]);
    assert_eq!(rewritten(&[CALL, ARGUMENT], &[(4, argument), (0, call)], false), [LOAD, SUM]);
    assert_eq!(rewritten(&[ARGUMENT, CALL, NOP], &[(0, argument), (4, call)], false), [LOAD, SUM, NOP]);
    let own = 0x9001_c001; // add %g7, %g1, %o0
    assert_eq!(rewritten(&[CALL, ARGUMENT], &[(0, call), (4, argument)], true), [NOP, own]);
    assert_eq!(rewritten(&[ARGUMENT, CALL, NOP], &[(0, argument), (4, call)], true), [own, NOP, NOP]);
}

#[test]
fn the_module_is_the_thread_pointer() {
    let marks = [(0, R_SPARC_TLS_LDM_CALL), (4, R_SPARC_TLS_LDM_ADD)];
    assert_eq!(rewritten(&[CALL, ARGUMENT], &marks, true), [0x9010_0007, NOP]);
}

#[test]
fn offsets_take_the_place_of_slots() {
    let mut out = [0x03, 0, 0, 0, 0x82, 0x00, 0x60, 0, 0xc2, 0x5d, 0xc0, 0x01];
    part_to_offset(field(&mut out, 0, R_SPARC_TLS_IE_HI22), -0x408).unwrap();
    part_to_offset(field(&mut out, 4, R_SPARC_TLS_IE_LO10), -0x408).unwrap();
    rewrite_marked(field(&mut out, 8, R_SPARC_TLS_IE_LDX), true).unwrap();
    // sethi, xor %g1, …, %g1, mov %g1, %g1
    assert_eq!(out, [0x03, 0, 0, 1, 0x82, 0x18, 0x7f, 0xf8, 0x82, 0x10, 0, 0x01]);
    assert_eq!(part_to_offset(field(&mut out, 8, R_SPARC_TLS_IE_LO10), 0), Err(Failure::Form));
}

#[test]
fn loads_of_slots_become_sums() {
    let bytes = [0xc2, 0x5d, 0xc0, 0x01];
    let reloc = Rela::make(0, 1, R_SPARC_GOTDATA_OP, 0);
    assert!(is_slot_load(Code { reloc: &reloc, bytes: &bytes, at: 0 }));
    let word_load = [0xc2, 0x05, 0xc0, 0x01];
    assert!(!is_slot_load(Code { reloc: &reloc, bytes: &word_load, at: 0 }));
    let mut out = bytes;
    load_to_address(field(&mut out, 0, R_SPARC_GOTDATA_OP), Address::new(0x3000)).unwrap();
    assert_eq!(out, [0x82, 0x05, 0xc0, 0x01]);
    let mut out = SETHI_G1.to_be_bytes();
    load_to_address(field(&mut out, 0, R_SPARC_GOTDATA_OP_HIX22), Address::new(0x1000)).unwrap();
    assert_eq!(out, [0x03, 0, 0, 3]);
}
