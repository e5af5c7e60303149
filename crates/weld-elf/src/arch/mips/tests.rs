//! Values in instructions, and addends there.

use super::code::*;
use super::types::*;
use crate::arch::rules::Failure;

fn stored(kind: u32, code: u32, value: u64) -> Result<u32, Failure> {
    let mut bytes = code.to_be_bytes();
    put::<true, false>(kind, &mut bytes, 0, value)?;
    Ok(u32::from_be_bytes(bytes))
}

#[test]
fn halves_make_a_value() {
    for value in [0, 0x7fff, 0x8000, 0x1234_8765, 0xffff_ffff_u64] {
        let (hi, lo) =
            (stored(R_HI16, 0x3c02_0000, value).unwrap(), stored(R_LO16, 0x2442_0000, value).unwrap());
        let sum = (hi << 16).wrapping_add((lo & 0xffff) as u16 as i16 as i32 as u32);
        assert_eq!((sum, hi >> 16, lo >> 16), (value as u32, 0x3c02, 0x2442));
        assert_eq!(page(value) & 0xffff, 0);
        assert!((value.wrapping_sub(page(value)) as i64).unsigned_abs() <= 0x8000);
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    assert_eq!(stored(R_GPREL16, 0, 0x7fff), Ok(0x7fff));
    assert_eq!(stored(R_GPREL16, 0, 0x8000), Err(Failure::Overflow(0x8000)));
    assert_eq!(stored(R_CALL16, 0x8f99_ffff, (-0x8000i64) as u64), Ok(0x8f99_8000));
    assert_eq!(stored(R_PC16, 0x1000_0000, 0x1_fffc), Ok(0x1000_7fff));
    assert_eq!(stored(R_PC16, 0, 0x2_0000), Err(Failure::Overflow(0x2_0000)));
    assert_eq!(stored(R_PC16, 0, 2), Err(Failure::Unaligned(2)));
    assert_eq!(stored(R_26, 0x0c00_0000, 0x0fff_fffc), Ok(0x0fff_ffff));
    assert_eq!(stored(R_26, 0x0c00_0000, 1), Err(Failure::Unaligned(1)));
}

#[test]
fn addends_are_kept_where_they_are() {
    for kind in [R_32, R_HI16, R_LO16, R_26, R_GPREL16, R_PC16, R_PC21, R_PC26, R_PC19, R_PC18] {
        let mut bytes = [0xff, 0xff, 0xff, 0xf8];
        let before = implicit_addend::<true>(kind, &bytes).unwrap();
        store_addend::<true>(kind, &mut bytes, before);
        assert_eq!((bytes, kind), ([0xff, 0xff, 0xff, 0xf8], kind));
    }
    assert_eq!(implicit_addend::<false>(R_HI16, &[1, 0, 0, 0]), Some(0x1_0000));
    assert_eq!(implicit_addend::<false>(R_32, &[1, 0, 0]), None);
    assert_eq!(implicit_addend::<false>(1000, &[0; 8]), None);
}

#[test]
fn types_of_one_record_have_a_number() {
    use super::settle::{WRITTEN_64, number};
    for (at, written) in WRITTEN.iter().enumerate().filter(|(_, written)| **written > 0xff) {
        assert_eq!(number(*written), MADE + at as u32);
        assert_eq!(WRITTEN_64.types.written(MADE + at as u32), *written);
    }
    assert_eq!((number(R_32), number(R_32 | R_SUB << 8)), (R_32, MIXED));
}
