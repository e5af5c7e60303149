//! Values in instructions, and instructions that are rewritten.

use super::code::*;
use super::relax::*;
use super::types::*;
use crate::arch::rules::Failure;

fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_be_bytes().to_vec();
    let at = if TYPES[kind as usize].width == 2 { 2 } else { 0 };
    let result = put::<true>(kind, &mut out, at, value);
    (u32::from_be_bytes(out.try_into().unwrap()), result)
}

#[test]
fn parts_of_values_are_stored() {
    assert_eq!(stored(R_PPC_ADDR16_HA, 0x3c60_0000, 0x1_8000), (0x3c60_0002, Ok(())));
    assert_eq!(stored(R_PPC_ADDR16_HI, 0x3c60_0000, 0x1_8000), (0x3c60_0001, Ok(())));
    assert_eq!(stored(R_PPC_ADDR16_LO, 0x3863_0000, 0x1_8000), (0x3863_8000, Ok(())));
    assert_eq!(stored(R_PPC_ADDR16_HA, 0, 0xffff_8000), (0, Ok(())));
    assert_eq!(stored(R_PPC_ADDR32, 0, 0xffff_fffc), (0xffff_fffc, Ok(())));
    assert_eq!(stored(R_PPC_GOT16, 0, 0x8000).1, Err(Failure::Overflow(0x8000)));
    assert_eq!(stored(R_PPC_ADDR16, 0, 0xffff), (0xffff, Ok(())));
    // Addresses wrap around.
    assert_eq!(stored(R_PPC_ADDR16, 0, 0xffff_8000), (0x8000, Ok(())));
    assert_eq!(stored(R_PPC_ADDR16, 0, 0x1_0000).1, Err(Failure::Overflow(0x1_0000)));
}

#[test]
fn branches_have_distances() {
    assert_eq!(stored(R_PPC_REL24, 0x4800_0001, -4), (0x4bff_fffd, Ok(())));
    assert_eq!(stored(R_PPC_PLTREL24, 0x4800_0001, 1 << 25).1, Err(Failure::Overflow(1 << 25)));
    assert_eq!(stored(R_PPC_LOCAL24PC, 0x4800_0001, 2).1, Err(Failure::Unaligned(2)));
    assert_eq!(stored(R_PPC_REL14, 0x4082_0000, -0x8000), (0x4082_8000, Ok(())));
    assert_eq!(stored(R_PPC_REL14, 0x4082_0000, 0x8000).1, Err(Failure::Overflow(0x8000)));
}

#[test]
fn branches_say_what_is_likely() {
    assert_eq!(stored(R_PPC_REL14_BRTAKEN, 0x4182_0000, 8).0, 0x41a2_0008);
    assert_eq!(stored(R_PPC_REL14_BRTAKEN, 0x4182_0000, -8).0, 0x4182_fff8);
    assert_eq!(stored(R_PPC_REL14_BRNTAKEN, 0x41a2_0000, 8).0, 0x4182_0008);
    assert_eq!(stored(R_PPC_REL14_BRNTAKEN, 0x4182_0000, -8).0, 0x41a2_fff8);
}

#[test]
fn calls_of_sequences_become_sums() {
    let rewritten = |code: u32, call| {
        let mut out = code.to_be_bytes().to_vec();
        rewrite_call::<true>(&mut out, 0, call).map(|()| u32::from_be_bytes(out.try_into().unwrap()))
    };
    assert_eq!(rewritten(0x4800_0001, Call::Local(0x1_8004)), Ok(0x3863_8004));
    assert_eq!(rewritten(0x4800_0001, Call::Elsewhere), Ok(0x7c63_1214));
    assert_eq!(rewritten(0x4800_0001, Call::Module), Ok(0x3863_1000));
    assert_eq!(rewritten(0x6000_0000, Call::Module), Err(Failure::Form));
}

#[test]
fn registers_give_way_to_values() {
    let rewritten = |code: u32| {
        let mut out = code.to_be_bytes().to_vec();
        rewrite_user::<true>(&mut out, 0, 0x1234).map(|()| u32::from_be_bytes(out.try_into().unwrap()))
    };
    // add r9, r9, r2; lwzx r3, r9, r2; stbx r3, r9, r2
    assert_eq!(rewritten(0x7d29_1214), Ok(0x3929_1234));
    assert_eq!(rewritten(0x7c69_102e), Ok(0x8069_1234));
    assert_eq!(rewritten(0x7c69_11ae), Ok(0x9869_1234));
    // add r9, r9, r3; add r9, r0, r2; ldx r3, r9, r2
    for code in [0x7d29_1a14, 0x7d20_1214, 0x7c69_102a] {
        assert_eq!(rewritten(code), Err(Failure::Form), "{code:#x}");
    }
}
