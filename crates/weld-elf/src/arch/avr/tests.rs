//! Values in instructions, at the ends of their ranges.

use super::types::*;
use super::*;

fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = code::put(kind, &mut out, 0, value);
    (u32::from_le_bytes(out), result)
}

#[test]
fn bytes_of_values_are_loaded() {
    for (kind, value, wanted) in [
        (R_AVR_LO8_LDI, 0x1234_5678, 0xe748),
        (R_AVR_HI8_LDI, 0x1234_5678, 0xe546),
        (R_AVR_HH8_LDI, 0x1234_5678, 0xe344),
        (R_AVR_MS8_LDI, 0x1234_5678, 0xe142),
        (R_AVR_LO8_LDI_NEG, 0x1234_5678, 0xe848),
        (R_AVR_HI8_LDI_NEG, 0x1234_5678, 0xea49),
        (R_AVR_HH8_LDI_NEG, 0x1234_5678, 0xec4b),
        (R_AVR_MS8_LDI_NEG, 0x1234_5678, 0xee4d),
        (R_AVR_LO8_LDI_PM, 0x1234_5678, 0xe34c),
        (R_AVR_HI8_LDI_PM, 0x1234_5678, 0xe24b),
        (R_AVR_HH8_LDI_PM, 0x1234_5678, 0xe14a),
        (R_AVR_LO8_LDI_PM_NEG, 0x1234_5678, 0xec44),
        (R_AVR_HI8_LDI_PM_NEG, 0x1234_5678, 0xed44),
        (R_AVR_HH8_LDI_PM_NEG, 0x1234_5678, 0xee45),
        (R_AVR_LO8_LDI_GS, 0x1_fffe, 0xef4f),
        (R_AVR_HI8_LDI_GS, 0x1_fffe, 0xef4f),
        // A byte with a sign, and where data is.
        (R_AVR_LDI, -1, 0xef4f),
        (R_AVR_LDI, 0x80_0042, 0xe442),
    ] {
        assert_eq!(stored(kind, 0xef40, value), (wanted, Ok(())), "{kind} {value:#x}");
        assert_eq!(stored(kind, 0xe040, value), (wanted, Ok(())), "{kind} {value:#x}");
    }
    assert_eq!(stored(R_AVR_LDI, 0xe040, 0x100).1, Err(Failure::Overflow(0x100)));
    assert_eq!(stored(R_AVR_LDI, 0xe040, -0x81).1, Err(Failure::Overflow(-0x81)));
    assert_eq!(stored(R_AVR_LO8_LDI_PM, 0xe040, 3).1, Err(Failure::Unaligned(3)));
    assert_eq!(stored(R_AVR_HI8_LDI_GS, 0xe040, 0x2_0000).1, Err(Failure::Overflow(0x2_0000)));
}

#[test]
fn branches_count_from_behind_themselves() {
    // brne; rjmp
    assert_eq!(stored(R_AVR_7_PCREL, 0xf401, 128), (0xf5f9, Ok(())));
    assert_eq!(stored(R_AVR_7_PCREL, 0xf401, -126), (0xf601, Ok(())));
    assert_eq!(stored(R_AVR_7_PCREL, 0xf401, 130).1, Err(Failure::Overflow(128)));
    assert_eq!(stored(R_AVR_13_PCREL, 0xc000, 0x1000), (0xc7ff, Ok(())));
    assert_eq!(stored(R_AVR_13_PCREL, 0xc000, -0xffe), (0xc800, Ok(())));
    assert_eq!(stored(R_AVR_13_PCREL, 0xc000, 0x1002).1, Err(Failure::Overflow(0x1000)));
    assert_eq!(stored(R_AVR_13_PCREL, 0xc000, 3).1, Err(Failure::Unaligned(1)));
    // Around the end of memory.
    assert_eq!(stored(AROUND_13_PCREL, 0xc000, 0x1002), (0xc800, Ok(())));
    assert_eq!(stored(AROUND_13_PCREL, 0xc000, -0x1000), (0xc7ff, Ok(())));
    assert_eq!(stored(AROUND_13_PCREL, 0xc000, 0x2002).1, Err(Failure::Overflow(0x2000)));
    // call
    assert_eq!(stored(R_AVR_CALL, 0x940e, 0x7f_fffe), (0xffff_95ff, Ok(())));
    assert_eq!(stored(R_AVR_CALL, 0x940e, 0x2_0002), (0x0001_940f, Ok(())));
    assert_eq!(stored(R_AVR_CALL, 0x940e, 0x80_0000).1, Err(Failure::Overflow(0x80_0000)));
    let mut out = [0; 4];
    code::put_jump(&mut out, 0x2_0000);
    assert_eq!(out, [0x0d, 0x94, 0, 0]);
}

#[test]
fn displacements_and_ports() {
    // ldd r9, Y+63; adiw r24, 63; in r20, 63; sbic 31, 1
    assert_eq!(stored(R_AVR_6, 0x8098, 63), (0xac9f, Ok(())));
    assert_eq!(stored(R_AVR_6, 0xac9f, 0), (0x8098, Ok(())));
    assert_eq!(stored(R_AVR_6_ADIW, 0x9600, 0x80_003f), (0x96cf, Ok(())));
    assert_eq!(stored(R_AVR_PORT6, 0xb140, 63), (0xb74f, Ok(())));
    assert_eq!(stored(R_AVR_PORT5, 0x9901, 31), (0x99f9, Ok(())));
    for (kind, value) in
        [(R_AVR_6, 64), (R_AVR_6, -1), (R_AVR_6_ADIW, 64), (R_AVR_PORT6, 64), (R_AVR_PORT5, 32)]
    {
        assert_eq!(stored(kind, 0, value).1, Err(Failure::Overflow(value)));
    }
    // lds r20, 0x4e; sts 0x9a, r21, of one word.
    assert_eq!(stored(R_AVR_LDS_STS_16, 0xa040, 0x4e), (0xa14e, Ok(())));
    assert_eq!(stored(R_AVR_LDS_STS_16, 0xa850, 0x80_009a), (0xaa5a, Ok(())));
    for value in [0x3f, 0xc0] {
        assert_eq!(stored(R_AVR_LDS_STS_16, 0xa040, value).1, Err(Failure::Unencodable(value)));
    }
}

#[test]
fn data_is_cut() {
    assert_eq!(stored(R_AVR_16, 0, 0x80_0100), (0x100, Ok(())));
    assert_eq!(stored(R_AVR_16_PM, 0, 0x1_fffe), (0xffff, Ok(())));
    assert_eq!(stored(R_AVR_16_PM, 0, 5).1, Err(Failure::Unaligned(5)));
    assert_eq!(stored(R_AVR_8_HI8, 0, 0x80_0100), (1, Ok(())));
    assert_eq!(stored(R_AVR_8_HLO8, 0, 0x80_0100), (0x80, Ok(())));
    assert_eq!(stored(R_AVR_8, 0, -0x80), (0x80, Ok(())));
    assert_eq!(stored(R_AVR_8, 0, 0x100).1, Err(Failure::Overflow(0x100)));
}

#[test]
fn functions_far_away_have_thunks() {
    let sets = thunks::BRANCHES.sets.unwrap();
    let reach = (sets.reach)(R_AVR_LO8_LDI_GS, 0).unwrap();
    for (target, reaches) in [(0, true), (0x1_fffe, true), (0x2_0000, false), (0x80_0000, false)] {
        assert_eq!(reach.has(sets.start(0x3_0000), target), reaches, "{target:#x}");
    }
    assert!((sets.reach)(R_AVR_CALL, 0).is_none());
    assert!(code::can_jump(0x7f_fffe) && !code::can_jump(0x2_0001) && !code::can_jump(0x80_0000));
}

#[test]
fn families_do_not_go_together() {
    assert_eq!(flags::join(0x85, 0x85), Ok(0x85));
    assert_eq!(flags::join(0x85, 0x05), Ok(0x05));
    assert_eq!(flags::join(0x05, 0x85), Ok(0x05));
    let clash = flags::join(0x85, 0xe7).unwrap_err().to_string();
    assert_eq!(clash, "has code for avrxmega3 (e_flags), which does not go with that for avr5");
}
