//! Values in instructions, and instructions that are rewritten.

use super::code::*;
use super::types::*;
use crate::arch::rules::Failure;

fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes().to_vec();
    let result = put::<false>(kind, &mut out, 0, value);
    (u32::from_le_bytes(out.try_into().unwrap()), result)
}

#[test]
fn parts_of_values_are_stored() {
    assert_eq!(stored(R_PPC64_TOC16_HA, 0x3c62_0000, 0x1_8000), (0x3c62_0002, Ok(())));
    assert_eq!(stored(R_PPC64_TOC16_LO, 0x3863_0000, 0x1_8000), (0x3863_8000, Ok(())));
    assert_eq!(stored(R_PPC64_TOC16_LO_DS, 0xe863_0002, 0x1_8004), (0xe863_8006, Ok(())));
    assert_eq!(stored(R_PPC64_TOC16_LO_DS, 0xe863_0000, 2).1, Err(Failure::Unaligned(2)));
    assert_eq!(stored(R_PPC64_REL24, 0x4800_0001, -4), (0x4bff_fffd, Ok(())));
    assert_eq!(stored(R_PPC64_REL24, 0x4800_0001, 1 << 25).1, Err(Failure::Overflow(1 << 25)));
    assert_eq!(stored(R_PPC64_REL14, 0x4082_0000, -0x8000), (0x4082_8000, Ok(())));
    assert_eq!(stored(R_PPC64_REL14, 0x4082_0000, 0x8000).1, Err(Failure::Overflow(0x8000)));
    assert_eq!(stored(R_PPC64_ADDR16_HIGHESTA, 0, 0x7fff_ffff_ffff_8000).0, 0x8000);
}

#[test]
fn upper_halves_reach_half_a_unit_less() {
    let at = |value| stored(R_PPC64_REL16_HA, 0, value).1;
    assert_eq!(at(0x7fff_7fff), Ok(()));
    assert_eq!(at(0x7fff_8000), Err(Failure::Overflow(0x7fff_8000)));
    assert_eq!(at(-0x8000_8000), Ok(()));
    assert_eq!(at(-0x8000_8001), Err(Failure::Overflow(-0x8000_8001)));
}

#[test]
fn prefixed_instructions_have_34_bits() {
    let mut out = [0x0610_0000u32.to_le_bytes(), 0x3860_0000u32.to_le_bytes()].concat();
    assert_eq!(put::<false>(R_PPC64_PCREL34, &mut out, 0, 0x1_2345_6789), Ok(()));
    assert_eq!(word::<false>(&out, 0), Some(0x0611_2345));
    assert_eq!(word::<false>(&out, 4), Some(0x3860_6789));
    assert_eq!(put::<false>(R_PPC64_PCREL34, &mut out, 0, -(1 << 33)), Ok(()));
    assert_eq!(put::<false>(R_PPC64_PCREL34, &mut out, 0, 1 << 33), Err(Failure::Overflow(1 << 33)));
}

#[test]
fn big_endian_halves_are_the_second_of_their_instruction() {
    let mut out = 0x3c62_0000u32.to_be_bytes().to_vec();
    assert_eq!(put::<true>(R_PPC64_TOC16_HA, &mut out, 2, 0x1234_0000), Ok(()));
    assert_eq!(word::<true>(&out, 0), Some(0x3c62_1234));
}

#[test]
fn registers_give_way_to_values() {
    // add r3, r3, r13; lwzx; ldx; stdx; lwax
    for (code, operation) in [
        (0x7c63_6a14, ADDI),
        (0x7c63_682e, 32 << 26),
        (0x7c63_682a, LD),
        (0x7c63_692a, 62 << 26),
        (0x7c63_6aaa, LD | 2),
    ] {
        assert_eq!(without_register(code), Some(operation), "{code:#x}");
    }
    assert_eq!(without_register(NOP), None);
}

#[test]
fn registers_are_saved_below_the_stack_pointer() {
    let runs = super::save_restore::RUNS;
    let first = |prefix: &str| {
        let run = runs.iter().find(|run| run.prefix == prefix).unwrap();
        (run.one)(run.first)
    };
    assert_eq!(first("_savegpr0_")[0], 0xf9c1_ff70);
    assert_eq!(first("_restgpr1_")[0], 0xe9cc_ff70);
    assert_eq!(first("_savefpr_")[0], 0xd9c1_ff70);
    assert_eq!(first("_savevr_"), [0x3980_ff40, 0x7e8c_01ce]);
    assert_eq!(first("_restvr_")[1], 0x7e8c_00ce);
}

#[test]
fn what_is_near_the_toc_counts_from_its_register() {
    let near = |kind, code: u32, offset| {
        let mut out = code.to_le_bytes().to_vec();
        let done = super::relax::near_toc::<false>(kind, &mut out, 0, offset);
        (word::<false>(&out, 0).unwrap(), done)
    };
    assert_eq!(near(R_PPC64_TOC16_HA, 0x3c62_0000, 0x7fff), (NOP, Ok(true)));
    assert_eq!(near(R_PPC64_TOC16_HA, 0x3c62_0000, 0x8000), (0x3c62_0000, Ok(false)));
    // lwz r4, 0(r3)
    assert_eq!(near(R_PPC64_TOC16_LO, 0x8083_0000, -0x8000), (0x8082_8000, Ok(true)));
    assert_eq!(near(R_PPC64_TOC16_LO, 0x8083_0000, -0x8001), (0x8083_0000, Ok(false)));
    // ori r3, r3, 0
    assert_eq!(near(R_PPC64_TOC16_LO, 0x6063_0000, 8), (0x6063_0000, Ok(false)));
    // lwzu r4, 0(r3)
    assert_eq!(near(R_PPC64_TOC16_LO, 0x8483_0000, 8).1, Err(Failure::Form));
}
