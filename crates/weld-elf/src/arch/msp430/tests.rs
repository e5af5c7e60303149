//! Values at the ends of their ranges.

use super::*;

fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = Msp430::put(kind, &mut out, 0, value as u64);
    (u32::from_le_bytes(out), result)
}

#[test]
fn jumps_count_words_from_behind_themselves() {
    assert_eq!(stored(R_10_PCREL, 0x3c00, 0x400), (0x3dff, Ok(())));
    assert_eq!(stored(R_10_PCREL, 0x3fff, -0x3fe), (0x3e00, Ok(())));
    assert_eq!(stored(R_10_PCREL, 0x3c00, 0x402).1, Err(Failure::Overflow(0x400)));
    assert_eq!(stored(R_10_PCREL, 0x3c00, 3).1, Err(Failure::Unaligned(1)));
    // Around the end of memory.
    assert_eq!(stored(R_10_PCREL, 0x3c00, 4 - 0x1_0000), (0x3c01, Ok(())));
    assert_eq!(stored(R_10_PCREL, 0x3c00, 0x1_0000).1, Err(Failure::Overflow(0xfffe)));
    assert_eq!(stored(R_16_PCREL, 0, 0x10 - 0x1_0000), (0x10, Ok(())));
    assert_eq!(stored(R_16_PCREL, 0, 0x1_0000).1, Err(Failure::Overflow(0x1_0000)));
}

#[test]
fn values_have_a_sign_or_none() {
    assert_eq!(stored(R_8, 0, 0xff), (0xff, Ok(())));
    assert_eq!(stored(R_8, 0, -0x80), (0x80, Ok(())));
    assert_eq!(stored(R_8, 0, 0x100).1, Err(Failure::Overflow(0x100)));
    assert_eq!(stored(R_16_BYTE, 0, 0xffff), (0xffff, Ok(())));
    assert_eq!(stored(R_16, 0, 0x1_0000).1, Err(Failure::Overflow(0x1_0000)));
    assert_eq!(stored(R_32, 0, 0xffff_fffe), (0xffff_fffe, Ok(())));
}
