//! What relocations store, and what instructions become.

use super::code::*;
use super::*;
use crate::arch::class::{Class, name_at};

type Wide = Riscv<true>;
type Narrow = Riscv<false>;

/// What an instruction is after a value is stored in it.
fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = Wide::put(kind, &mut out, 0, value as u64);
    (u32::from_le_bytes(out), result)
}

#[test]
fn fields_of_instructions() {
    let cases = [
        // jal ra, .+0x12344; j .-2
        (R_JAL, 0x0000_00ef, 0x1_2344, 0x3441_20ef),
        (R_JAL, 0x0000_006f, -2, 0xffff_f06f),
        // beqz a0, .+0xffe; .-0x1000
        (R_BRANCH, 0x0005_0063, 0xffe, 0x7e05_0fe3),
        (R_BRANCH, 0x0005_0063, -0x1000, 0x8005_0063),
        // lui a0, 0x12346; lower halves -0x544 in an addition and in a store
        (R_HI20, 0x0000_0537, 0x1234_5abc, 0x1234_6537),
        (R_LO12_I, 0x0005_0513, 0x1234_5abc, 0xabc5_0513),
        (R_LO12_S, 0x00b5_3023, 0x1234_5abc, 0xaab5_3e23),
        (R_PCREL_HI20, 0x0000_0517, -1, 0x0000_0517),
        (R_TPREL_HI20, 0x0000_0537, 0x800, 0x0000_1537),
        // c.beqz a0, .+254; c.j .-2048
        (R_RVC_BRANCH, 0xc101, 254, 0xcd7d),
        (R_RVC_JUMP, 0xa001, -0x800, 0xb001),
    ];
    for (kind, code, value, wanted) in cases {
        let name = Wide::FACTS.type_name(kind);
        assert_eq!(stored(kind, code, value), (wanted, Ok(())), "{name} {:08x}", stored(kind, code, value).0);
        // What the field held before does not matter.
        assert_eq!(stored(kind, wanted, value).0, wanted, "{name}");
    }
    let mut out = [0x97, 0, 0, 0, 0xe7, 0x80, 0, 0];
    Wide::put_distance(R_CALL_PLT, &mut out, 0, Address::new(0x1_0000), Address::new(0x1_0900)).unwrap();
    // auipc ra, -1; jalr 0x700(ra)
    assert_eq!(out, [0x97, 0xf0, 0xff, 0xff, 0xe7, 0x80, 0x00, 0x70]);
}

#[test]
fn limits_and_alignment() {
    let limits = [
        (R_JAL, 2, -0x10_0000, 0xf_fffe),
        (R_BRANCH, 2, -0x1000, 0xffe),
        (R_RVC_BRANCH, 2, -0x100, 0xfe),
        (R_RVC_JUMP, 2, -0x800, 0x7fe),
        (R_HI20, 1, -0x8000_0800, 0x7fff_f7ff),
        (R_PCREL_HI20, 1, -0x8000_0800, 0x7fff_f7ff),
        (R_32_PCREL, 1, -0x8000_0000, 0x7fff_ffff),
        (R_32, 1, -0x8000_0000, 0xffff_ffff),
    ];
    for (kind, step, low, high) in limits {
        let name = Wide::FACTS.type_name(kind);
        for value in [low, high] {
            assert_eq!(stored(kind, 0, value).1, Ok(()), "{name} {value:#x}");
        }
        for value in [low - step, high + step] {
            assert_eq!(stored(kind, 0, value).1, Err(Failure::Overflow(value)), "{name} {value:#x}");
        }
        if step > 1 {
            assert_eq!(stored(kind, 0, high - 1).1, Err(Failure::Unaligned(high - 1)), "{name}");
        }
    }
    // Addresses of 32 bits wrap around.
    let mut out = [0; 4];
    assert_eq!(
        Narrow::put_distance(R_PCREL_HI20, &mut out, 0, Address::new(0x10), Address::new(0xffff_f010)),
        Ok(())
    );
    assert_eq!(out, 0x1000u32.to_le_bytes());
    assert!(Narrow::put_distance(R_JAL, &mut [0; 4], 0, Address::new(0x20_0000), Address::ZERO).is_err());
}

#[test]
fn terms_of_sums() {
    let mut out = [0xff, 0x01, 0, 0];
    Wide::put(R_ADD32, &mut out, 0, 0x1001).unwrap();
    Wide::put(R_SUB32, &mut out, 0, 0x200).unwrap();
    assert_eq!(out, 0x1000u32.to_le_bytes());
    let mut out = [0xc7];
    Wide::put(R_SET6, &mut out, 0, 0x41).unwrap();
    assert_eq!(out, [0xc1]);
    Wide::put(R_SUB6, &mut out, 0, 2).unwrap();
    assert_eq!(out, [0xff]);
    let mut out = [9, 9];
    Wide::put(R_SET16, &mut out, 0, 0x1_2345).unwrap();
    Wide::put(R_SUB8, &mut out, 0, 0x46).unwrap();
    assert_eq!(out, [0xff, 0x23]);
}

#[test]
fn short_forms_of_lui() {
    let lui = u32::from(SHORT_LUI) | A0 << 7;
    for (value, wanted) in [(0x1000, 0x6505), (-0x2_0000, 0x7501)] {
        assert!(has_short_lui(A0, value));
        assert_eq!(stored(R_RVC_LUI, lui, value), (wanted, Ok(())));
    }
    for (register, value) in [(A0, 0x7ff), (A0, 0x1_f800), (A0, -0x2_0801), (SP, 0x1000), (ZERO, 0x1000)] {
        assert!(!has_short_lui(register, value), "{register} {value:#x}");
    }
    // What was chosen earlier may turn out to have no upper half: c.li a0, 0.
    assert_eq!(stored(R_RVC_LUI, lui, 0x7ff), (0x4501, Ok(())));
    assert!(stored(R_RVC_LUI, lui, 0x1_f800).1.is_err());
}

#[test]
fn padding_is_made_of_whole_instructions() {
    let mut out = [0xee; 10];
    put_nops(&mut out);
    assert_eq!(out, [0x13, 0, 0, 0, 0x13, 0, 0, 0, 1, 0]);
}

#[test]
fn loads_of_slots_are_pairs() {
    // auipc a0; ld a0, (a0)
    let code = [0x0000_0517u32, 0x0005_3503];
    let bytes: Vec<u8> = code.iter().flat_map(|code| code.to_le_bytes()).collect();
    let relocs = |low: u64| {
        [
            Rela::make(0, 1, R_GOT_HI20, 0),
            Rela::make(0, 0, R_RELAX, 0),
            Rela::make(low, 2, R_PCREL_LO12_I, 0),
            Rela::make(low, 0, R_RELAX, 0),
        ]
    };
    assert!(Wide::got_pair(&bytes, &relocs(4), 0));
    assert!(!Wide::got_pair(&bytes, &relocs(8), 0) && !Wide::got_pair(&bytes, &relocs(4)[..3], 0));
    assert!(!Narrow::got_pair(&bytes, &relocs(4), 0), "not a load of 4 bytes");
    let mut other = bytes.clone();
    // ld a1, (a0)
    other[4..].copy_from_slice(&0x0005_3583u32.to_le_bytes());
    assert!(!Wide::got_pair(&other, &relocs(4), 0));
}

#[test]
fn flags_of_files() {
    assert_eq!(join_flags(4, 4 | EF_RVC), Ok(4 | EF_RVC));
    assert_eq!(join_flags(4 | EF_RVC, 4 | EF_TSO), Ok(4 | EF_RVC | EF_TSO));
    assert!(join_flags(4, 2).unwrap_err().to_string().contains("single-float"));
    assert!(join_flags(0, EF_RVE).unwrap_err().to_string().contains("EF_RISCV_RVE"));
}

#[test]
fn types_are_of_the_width_of_what_they_change() {
    for t in WIDE_TYPES.iter().filter(|t| !matches!(t.class, Class::Unknown | Class::None | Class::Term)) {
        let name = name_at(&WIDE_NAMES, t.name);
        let data = name.ends_with("64") && name != "R_RISCV_64";
        let width = match name {
            "R_RISCV_64" | "R_RISCV_CALL" | "R_RISCV_CALL_PLT" => 8,
            name if name.contains("RVC") => 2,
            _ if data => 8,
            _ => 4,
        };
        assert_eq!(t.width, width, "{name}");
    }
}
