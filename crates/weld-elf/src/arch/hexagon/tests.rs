//! Values in instructions, at the ends of their ranges; what relocations are settled to; the PLT.

use super::types::*;
use super::*;
use crate::arch::facts::ObjectFacts;

fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = code::put(kind, &mut out, 0, value as u64);
    (u32::from_le_bytes(out), result)
}

#[test]
fn instructions_have_the_lower_bits_where_their_opcodes_say() {
    // LLVM's disassembler says of each of these that the lower bits are all ones, and no others are set.
    for (kind, code, wanted) in [
        (R_HEX_6_X, 0x38c0_c100, 0x38c0_e11f),
        (R_HEX_16_X, 0x39c0_c000, 0x39c0_e01f),
        (R_HEX_8_X, 0x3c40_c000, 0x3c40_c03f),
        (R_HEX_6_X, 0x3e40_c001, 0x3e40_df81),
        (R_HEX_6_X, 0x3f40_c004, 0x3f40_df84),
        (R_HEX_6_X, 0x4000_c100, 0x4000_e1f8),
        (R_HEX_6_X, 0x4101_c000, 0x4101_c7e0),
        (R_HEX_16_X, 0x4800_c000, 0x4800_c03f),
        (R_HEX_16_X, 0x4980_c000, 0x4980_c7e0),
        (R_HEX_6_PCREL_X, 0x6a49_c000, 0x6a49_df80),
        (R_HEX_8_X, 0x7302_e000, 0x7302_e7e0),
        (R_HEX_9_X, 0x7580_c010, 0x7580_c7f0),
        (R_HEX_12_X, 0x7e00_c000, 0x7e00_c7e0),
        (R_HEX_16_X, 0x7800_c000, 0x7800_c7e0),
        // combine(##…, #0) and combine(#0, ##…)
        (R_HEX_8_X, 0x7c00_c000, 0x7c00_c7e0),
        (R_HEX_6_X, 0x7c80_c000, 0x7c9f_e000),
        (R_HEX_11_X, 0x9181_c000, 0x9181_c7e0),
        (R_HEX_6_X, 0x9b01_c000, 0x9b01_cf60),
        (R_HEX_6_X, 0x9f00_e880, 0x9f1f_e980),
        (R_HEX_11_X, 0xa180_c100, 0xa180_c13f),
        (R_HEX_6_X, 0xab00_c180, 0xab00_c1bf),
        (R_HEX_6_X, 0xaf00_c184, 0xaf03_c1fc),
        (R_HEX_16_X, 0xb001_c000, 0xb001_c7e0),
        (R_HEX_6_X, 0xd701_c200, 0xd761_e2e0),
        (R_HEX_8_X, 0xde00_c106, 0xde20_e1ee),
        (R_HEX_6_X, 0xdf02_c001, 0xdf62_e0e1),
        (R_HEX_8_X, 0xe000_c000, 0xe000_c7e0),
        // A duplex.
        (R_HEX_16_X, 0x2800_3082, 0x2bf0_3082),
    ] {
        assert_eq!(stored(kind, code, -1), (wanted, Ok(())), "{code:#x}");
        assert_eq!(stored(kind, wanted, 0x40), (code, Ok(())), "{code:#x}");
    }
    for code in [0x0000_c000, 0x5a00_c000, 0x7f00_c000, 0xa000_c000, 0xffff_ffff] {
        assert_eq!(stored(R_HEX_6_X, code, 0).1, Err(Failure::Form), "{code:#x}");
    }
}

#[test]
fn extensions_have_the_upper_bits() {
    assert_eq!(stored(R_HEX_32_6_X, 0x4000, -1), (0x0fff_7fff, Ok(())));
    assert_eq!(stored(R_HEX_32_6_X, 0x4000, 0x2023c), (0x4808, Ok(())));
    assert_eq!(stored(R_HEX_B32_PCREL_X, 0x4000, 0x3f), (0x4000, Ok(())));
    assert_eq!(stored(R_HEX_32_6_X, 0x7f00_c000, 0).1, Err(Failure::Form));
    assert_eq!(stored(R_HEX_32_6_X, 0, 0).1, Err(Failure::Form));
}

#[test]
fn branches_reach_so_far() {
    for (kind, code, bits) in [
        (R_HEX_B22_PCREL, 0x5a00_c000, 24),
        (R_HEX_PLT_B22_PCREL, 0x5a00_c000, 24),
        (R_HEX_B15_PCREL, 0x5c00_c000, 17),
        (R_HEX_B13_PCREL, 0x6100_c000, 15),
        (R_HEX_B9_PCREL, 0x1600_c000, 11),
        (R_HEX_B7_PCREL, 0x6000_c000, 9),
    ] {
        let half = 1i64 << (bits - 1);
        let (least, most) = (stored(kind, code, -half), stored(kind, code, half - 4));
        assert!(least.1 == Ok(()) && most.1 == Ok(()), "{kind}");
        // All bits of the field are in one of them, and none is in both.
        assert_eq!(((least.0 ^ most.0).count_ones(), least.0 & most.0), (bits - 2, code), "{kind}");
        assert_eq!(stored(kind, code, -half - 4).1, Err(Failure::Overflow(-half - 4)));
        assert_eq!(stored(kind, code, half).1, Err(Failure::Overflow(half)));
        for odd in [1, 2, 3, -1] {
            assert_eq!(stored(kind, code, odd).1, Err(Failure::Unaligned(odd)));
        }
        if let Some(reach) = thunks::reach(kind) {
            let here = 1u64 << 30;
            let has = |distance: i64| reach.has(here, here.wrapping_add(distance as u64));
            assert!(has(-half) && has(half - 4) && !has(-half - 4) && !has(half), "{kind}");
        }
    }
    // Of an extension nothing is out of reach.
    assert_eq!(stored(R_HEX_B22_PCREL_X, 0x5a00_c000, 0x7fff_ffff), (0x5a00_c07e, Ok(())));
}

#[test]
fn halves_and_short_values() {
    assert_eq!(stored(R_HEX_HI16, 0x7220_c000, 0xabcd_1234), (0x72a0_ebcd, Ok(())));
    assert_eq!(stored(R_HEX_LO16, 0x7120_c000, 0xabcd_1234), (0x7120_d234, Ok(())));
    assert_eq!(stored(R_HEX_TPREL_16, 0x7800_c004, -0x8000), (0x7880_c004, Ok(())));
    assert_eq!(stored(R_HEX_TPREL_16, 0x7800_c004, 0x8000).1, Err(Failure::Overflow(0x8000)));
    assert_eq!(stored(R_HEX_TPREL_16, 0xb000_c004, 0x7fff), (0xb7e0_ffe4, Ok(())));
    assert_eq!(stored(R_HEX_TPREL_16, 0x9180_c004, 0).1, Err(Failure::Form));
    for (kind, code, unit, wanted) in [
        (R_HEX_GPREL16_0, 0x4900_c000, 1, 0x4f1f_ffe0),
        (R_HEX_GPREL16_1, 0x4940_c000, 2, 0x4f5f_ffe0),
        (R_HEX_GPREL16_2, 0x4880_c000, 4, 0x4e9f_e0ff),
        (R_HEX_GPREL16_3, 0x49c0_c000, 8, 0x4fdf_ffe0),
    ] {
        assert_eq!(stored(kind, code, 0xffff * unit), (wanted, Ok(())), "{kind}");
        assert_eq!(stored(kind, code, 0x1_0000 * unit).1, Err(Failure::Overflow(0x1_0000 * unit)));
        assert_eq!(stored(kind, code, -unit).1, Err(Failure::Overflow(-unit)));
        if unit > 1 {
            assert_eq!(stored(kind, code, unit / 2).1, Err(Failure::Unaligned(unit / 2)));
        }
        assert_eq!(stored(kind, 0x7800_c000, 0).1, Err(Failure::Form));
    }
}

#[test]
fn data_wraps_around_with_addresses() {
    assert_eq!(stored(R_HEX_32_PCREL, 0, -2), (0xffff_fffe, Ok(())));
    assert_eq!(stored(R_HEX_16, 0, 0xffff), (0xffff, Ok(())));
    assert_eq!(stored(R_HEX_16, 0, 0x1_0000).1, Err(Failure::Overflow(0x1_0000)));
    assert_eq!(stored(R_HEX_8, 0, -0x80), (0x80, Ok(())));
    assert_eq!(stored(R_HEX_8, 0, -0x81).1, Err(Failure::Overflow(-0x81)));
}

struct Named;

impl ObjectFacts for Named {
    fn flags(&self) -> u32 {
        0x68
    }

    fn is_local(&self, _symbol: u32) -> bool {
        false
    }

    fn name(&self, _symbol: u32) -> &[u8] {
        b""
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        (name == TLS_GET_ADDR).then_some(9)
    }

    fn is_in_library(&self) -> bool {
        false
    }

    fn pointer(&self) -> u64 {
        0
    }
}

#[test]
fn relocations_are_settled() {
    let mut relocs = [
        Rela::make(0, 1, R_HEX_B32_PCREL_X, 0),
        Rela::make(4, 1, R_HEX_6_PCREL_X, 4),
        Rela::make(8, 1, R_HEX_B32_PCREL_X, 0),
        Rela::make(12, 1, R_HEX_B22_PCREL_X, 4),
        Rela::make(16, 2, R_HEX_GD_PLT_B32_PCREL_X, 0),
        Rela::make(20, 2, R_HEX_GD_PLT_B22_PCREL_X, 4),
        Rela::make(24, 2, R_HEX_LD_PLT_B22_PCREL, 0),
        Rela::make(28, 2, R_HEX_B32_PCREL_X, 0),
    ];
    settle(&Named, &mut relocs);
    let settled = relocs.map(|reloc| (reloc.kind(), reloc.sym()));
    assert_eq!(
        settled,
        [
            (ADDRESS_32_PCREL_X, 1),
            (R_HEX_6_PCREL_X, 1),
            (R_HEX_B32_PCREL_X, 1),
            (R_HEX_B22_PCREL_X, 1),
            (R_HEX_GD_PLT_B32_PCREL_X, 9),
            (R_HEX_GD_PLT_B22_PCREL_X, 9),
            (R_HEX_LD_PLT_B22_PCREL, 9),
            (R_HEX_B32_PCREL_X, 2),
        ]
    );
}

#[test]
fn slots_count_from_where_names_say() {
    use crate::arch::class::From;
    for (kind, from) in [
        (R_HEX_IE_32, From::Zero),
        (R_HEX_IE_LO16, From::Zero),
        (R_HEX_IE_16_X, From::Zero),
        (R_HEX_IE_GOT_32, From::GotBase),
        (R_HEX_IE_GOT_11_X, From::GotBase),
        (R_HEX_GOT_32_6_X, From::GotBase),
        (R_HEX_LD_GOT_16, From::GotBase),
    ] {
        assert_eq!(TYPES[kind as usize].from, from, "{kind}");
    }
}

#[test]
fn what_is_not_there_is_near() {
    let undefined = |kind, here| Hexagon::undefined(kind, Address::new(here)).get();
    assert_eq!(undefined(R_HEX_B22_PCREL, 0x2_0000), 0);
    assert_eq!(undefined(R_HEX_B22_PCREL, 0x80_0000), 0);
    assert_eq!(undefined(R_HEX_B22_PCREL, 0x80_0004), 0x80_0008);
    assert_eq!(undefined(R_HEX_B9_PCREL, 0x2_0000), 0x2_0004);
    assert_eq!(undefined(R_HEX_B22_PCREL_X, 0x8000_0000), 0);
}
