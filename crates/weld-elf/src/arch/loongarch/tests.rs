//! What relocations store, and what instructions become.

use super::code::*;
use super::relax::Padding;
use super::*;
use crate::address::Address;
use crate::arch::class::{Class, name_at};

type Wide = LoongArch<true>;
type Narrow = LoongArch<false>;

/// What an instruction is after a value is stored in it.
fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = Wide::put(kind, &mut out, 0, value as u64);
    (u32::from_le_bytes(out), result)
}

/// The same after a distance is.
fn made(kind: u32, code: u32, target: Address, here: Address) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = Wide::put_distance(kind, &mut out, 0, target, here);
    (u32::from_le_bytes(out), result)
}

#[test]
fn fields_of_instructions() {
    let cases = [
        // beq $a0, $a1, .-4; .+0x1fffc
        (R_B16, 0x5800_0085, -4, 0x5bff_fc85),
        (R_B16, 0x5800_0085, 0x1_fffc, 0x59ff_fc85),
        // beqz $a0, .-0x400000; .+0x3ffffc
        (R_B21, 0x4000_0080, -0x40_0000, 0x4000_0090),
        (R_B21, 0x4000_0080, 0x3f_fffc, 0x43ff_fc8f),
        // bl .+0x7fffffc; .-0x8000000
        (R_B26, 0x5400_0000, 0x7ff_fffc, 0x57ff_fdff),
        (R_B26, 0x5400_0000, -0x800_0000, 0x5400_0200),
        // lu12i.w $a0, 0x12345; ori $a0, $a0, 0xabc; lu32i.d $a0, 0x89abc; lu52i.d $a0, $a0, 0x567
        (R_ABS_HI20, 0x1400_0004, 0x1234_5abc, 0x1424_68a4),
        (R_ABS_LO12, 0x0380_0084, 0x1234_5abc, 0x03aa_f084),
        (R_ABS64_LO20, 0x1600_0004, 0x5678_9abc_1234_5abc, 0x1713_5784),
        (R_ABS64_HI12, 0x0300_0084, 0x5678_9abc_1234_5abc, 0x0315_9c84),
        // jirl $ra, $ra, %pc_lo12 of before far calls
        (R_PCALA_LO12, 0x4c00_0021, 0xffc, 0x4fff_fc21),
        (R_PCALA_LO12, 0x02c0_0084, 0xffc, 0x02ff_f084),
        // Rounded, and not.
        (R_TLS_LE_HI20_R, 0x1400_0004, 0x1800, 0x1400_0044),
        (R_TLS_LE_HI20, 0x1400_0004, 0x1800, 0x1400_0024),
        // pcaddi $a0, -1
        (R_PCREL20_S2, 0x1800_0004, -4, 0x19ff_ffe4),
    ];
    for (kind, code, value, wanted) in cases {
        let name = Wide::FACTS.type_name(kind);
        assert_eq!(stored(kind, code, value), (wanted, Ok(())), "{name} {:08x}", stored(kind, code, value).0);
        // What the field held before does not matter.
        assert_eq!(stored(kind, wanted, value).0, wanted, "{name}");
    }
    let mut out = [0x01, 0, 0, 0x1e, 0x21, 0, 0, 0x4c];
    Wide::put_distance(R_CALL36, &mut out, 0, Address::new(0x3_0000), Address::new(0x1_0000)).unwrap();
    // pcaddu18i $ra, 1; jirl $ra, $ra, -0x20000
    assert_eq!(out, [0x21, 0, 0, 0x1e, 0x21, 0, 0, 0x4e]);
    let mut out = [0x01, 0, 0, 0x1c, 0x21, 0, 0, 0x4c];
    Narrow::put_distance(R_CALL30, &mut out, 0, Address::new(0x1_1ffc), Address::new(0x1_0000)).unwrap();
    // pcaddu12i $ra, 1; jirl $ra, $ra, 0xffc
    assert_eq!(out, [0x21, 0, 0, 0x1c, 0x21, 0xfc, 0x0f, 0x4c]);
}

#[test]
fn pages_are_rounded_where_low_bits_have_a_sign() {
    // pcalau12i $a0, 1; 2; -1
    assert_eq!(
        made(R_PCALA_HI20, 0x1a00_0004, Address::new(0x2_1000), Address::new(0x2_0ffc)),
        (0x1a00_0024, Ok(()))
    );
    assert_eq!(
        made(R_PCALA_HI20, 0x1a00_0004, Address::new(0x2_1800), Address::new(0x2_0000)),
        (0x1a00_0044, Ok(()))
    );
    assert_eq!(
        made(R_GOT_PC_HI20, 0x1a00_0004, Address::new(0x1_f7ff), Address::new(0x2_0ffc)),
        (0x1bff_ffe4, Ok(()))
    );
    let most = (1 << 31) + 0x1_0000;
    assert_eq!(made(R_PCALA_HI20, 0x1a00_0004, Address::new(most - 0x801), Address::new(0x1_0000)).1, Ok(()));
    assert_eq!(
        made(R_PCALA_HI20, 0x1a00_0004, Address::new(most - 0x800), Address::new(0x1_0000)).1,
        Err(Failure::Overflow(1 << 31))
    );
    // Addresses of 32 bits wrap around.
    let mut out = [4, 0, 0, 0x1a];
    assert_eq!(
        Narrow::put_distance(R_PCALA_HI20, &mut out, 0, Address::new(0x10), Address::new(0xffff_f010)),
        Ok(())
    );
    assert_eq!(out, [0x24, 0, 0, 0x1a]);
}

/// What four instructions at `here` make together: `pcalau12i`, `addi.d`, `lu32i.d`, `lu52i.d`, and the sum.
fn far_address(target: Address, here: Address) -> u64 {
    let field = |kind, code: u32, at: u64| {
        let mut out = code.to_le_bytes();
        _ = match kind {
            R_PCALA_LO12 => Wide::put(kind, &mut out, 0, target.get()),
            _ => Wide::put_distance(kind, &mut out, 0, target, here + at),
        };
        i64::from(u32::from_le_bytes(out))
    };
    let twenty = |code: i64| (code << 39) >> 44;
    let twelve = |code: i64| (code << 42) >> 52;
    let high = (here.get() & !0xfff).wrapping_add((twenty(field(R_PCALA_HI20, 0x1a00_0004, 0)) << 12) as u64);
    let low = twelve(field(R_PCALA_LO12, 0x02c0_0005, 4)) as u64 & 0xffff_ffff;
    let middle = twenty(field(R_PCALA64_LO20, 0x1600_0005, 8)) as u64;
    let top = twelve(field(R_PCALA64_HI12, 0x0300_00a5, 12)) as u64;
    high.wrapping_add(low | (middle & 0xf_ffff) << 32 | top << 52)
}

#[test]
fn four_instructions_make_any_address() {
    let targets = [
        0,
        0x7ff,
        0x800,
        0xfff,
        0x7fff_f7ff,
        0x7fff_f800,
        0x8000_0000,
        0xffff_f7ff,
        0xffff_ffff,
        0x1_2345_6789,
        0x7_ffff_ffff_f800,
        0x8_0000_0000_0800,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_8000_07ff,
        0xffff_ffff_ffff_ffff,
    ];
    for target in targets {
        for here in [0, 0xff4, 0x1_0000, 0x7fff_fffc, 0x8000_0000, 0x1_2000_0000, 0x7fff_ffff_f000] {
            let made = far_address(Address::new(target), Address::new(here));
            assert_eq!(made, target, "{made:#x} for {target:#x} from {here:#x}");
        }
    }
}

#[test]
fn limits_and_alignment() {
    let limits = [
        (R_B16, 4, -0x2_0000, 0x1_fffc),
        (R_B21, 4, -0x40_0000, 0x3f_fffc),
        (R_B26, 4, -0x800_0000, 0x7ff_fffc),
        (R_PCREL20_S2, 4, -0x20_0000, 0x1f_fffc),
        (R_TLS_LE_HI20_R, 1, -0x8000_0800, 0x7fff_f7ff),
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
    let call = |value: i64| Wide::put(R_CALL36, &mut [0; 8], 0, value as u64);
    let most = (1 << 37) - (1 << 17);
    assert_eq!((call(-(1 << 37)), call(most - 4)), (Ok(()), Ok(())));
    assert_eq!(call(most), Err(Failure::Overflow(most)));
    assert_eq!(call(6), Err(Failure::Unaligned(6)));
}

#[test]
fn terms_of_sums() {
    let mut out = [0xff, 0x01, 0, 0];
    Wide::put(R_ADD32, &mut out, 0, 0x1001).unwrap();
    Wide::put(R_SUB32, &mut out, 0, 0x200).unwrap();
    assert_eq!(out, 0x1000u32.to_le_bytes());
    let mut out = [0xff, 0xff, 0xff, 0x77];
    Wide::put(R_ADD24, &mut out, 0, 2).unwrap();
    assert_eq!(out, [1, 0, 0, 0x77]);
    Wide::put(R_SUB24, &mut out, 0, 2).unwrap();
    assert_eq!(out, [0xff, 0xff, 0xff, 0x77]);
    let mut out = [0xc7];
    Wide::put(R_ADD6, &mut out, 0, 0x7b).unwrap();
    assert_eq!(out, [0xc2]);
    Wide::put(R_SUB6, &mut out, 0, 3).unwrap();
    assert_eq!(out, [0xff]);
    let mut out = [9; 8];
    Wide::put(R_SUB8, &mut out, 0, 10).unwrap();
    Wide::put(R_ADD16, &mut out, 2, 0x101).unwrap();
    Wide::put(R_SUB16, &mut out, 4, 9).unwrap();
    assert_eq!(out, [0xff, 9, 10, 10, 0, 9, 9, 9]);
}

#[test]
fn padding_is_said_in_two_ways() {
    let of = |sym, addend| Padding::of(&Rela::make(0, sym, R_ALIGN, addend));
    assert_eq!(of(0, 12), Some(Padding { bytes: 12, align: 16, most: u64::MAX }));
    assert_eq!(of(0, 4), Some(Padding { bytes: 4, align: 8, most: u64::MAX }));
    let limited = Padding { bytes: 28, align: 32, most: 8 };
    assert_eq!(of(1, 0x805), Some(limited));
    assert_eq!(of(1, 5), Some(Padding { most: u64::MAX, ..limited }));
    assert_eq!((of(1, 1), of(1, 64), of(0, -4)), (None, None, None));
    assert_eq!((limited.needed(24), limited.needed(20), limited.needed(32)), (8, 0, 0));
}

fn bytes_of(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|code| code.to_le_bytes()).collect()
}

#[test]
fn loads_of_slots_are_pairs() {
    // pcalau12i $a0; ld.d $a0, $a0
    let bytes = bytes_of(&[0x1a00_0004, 0x28c0_0084]);
    let relocs = |low: u64, sym| {
        [
            Rela::make(0, 1, R_GOT_PC_HI20, 0),
            Rela::make(0, 0, R_RELAX, 0),
            Rela::make(low, sym, R_GOT_PC_LO12, 0),
            Rela::make(low, 0, R_RELAX, 0),
        ]
    };
    assert!(Wide::got_pair(&bytes, &relocs(4, 1), 0));
    assert!(!Wide::got_pair(&bytes, &relocs(8, 1), 0) && !Wide::got_pair(&bytes, &relocs(4, 1)[..3], 0));
    assert!(!Wide::got_pair(&bytes, &relocs(4, 2), 0), "of another symbol");
    assert!(!Narrow::got_pair(&bytes, &relocs(4, 1), 0), "not a load of 4 bytes");
    // ld.d $a1, $a0
    let other = bytes_of(&[0x1a00_0004, 0x28c0_0085]);
    assert!(!Wide::got_pair(&other, &relocs(4, 1), 0));
}

/// What an instruction becomes at 0x2000.
fn rewritten(kind: u32, code: u32, rewrite: impl Fn(Field) -> Result<(), Failure>) -> u32 {
    let mut out = code.to_le_bytes();
    rewrite(Field { out: &mut out, at: 0, address: Address::new(0x2000), kind, got_base: Address::ZERO })
        .unwrap();
    u32::from_le_bytes(out)
}

#[test]
fn offsets_take_the_place_of_loads_and_calls() {
    let initial = |kind, code, offset| {
        let reloc = Rela::make(0, 1, kind, 0);
        assert!(Wide::is_initial_exec(Code { reloc: &reloc, bytes: &u32::to_le_bytes(code), at: 0 }));
        rewritten(kind, code, |field| Wide::initial_to_local_exec(field, offset))
    };
    // lu12i.w $a1, 1; ori $a2, $a1, 0x800, or $zero
    assert_eq!(initial(R_TLS_IE_PC_HI20, 0x1a00_0005, 0x1800), 0x1400_0025);
    assert_eq!(initial(R_TLS_IE_PC_LO12, 0x28c0_00a6, 0x1800), 0x03a0_00a6);
    assert_eq!(initial(R_TLS_IE_PC_LO12, 0x28c0_00a6, 0x800), 0x03a0_0006);
    let far = |offset| {
        let mut out = [5, 0, 0, 0x1a];
        let field = Field {
            out: &mut out,
            at: 0,
            address: Address::ZERO,
            kind: R_TLS_IE_PC_HI20,
            got_base: Address::ZERO,
        };
        Wide::initial_to_local_exec(field, offset)
    };
    assert_eq!((far(0x7fff_ffff), far(0x8000_0000)), (Ok(()), Err(Failure::TooFar)));

    let kinds = [R_TLS_DESC_PC_HI20, R_TLS_DESC_PC_LO12, R_TLS_DESC_LD];
    let code = [0x1a00_0004, 0x02c0_0084, 0x28c0_0081];
    let local = kinds.map(|kind| {
        let code = code[kinds.iter().position(|k| *k == kind).unwrap()];
        let reloc = Rela::make(0, 1, kind, 0);
        assert!(Wide::is_descriptor(Code { reloc: &reloc, bytes: &u32::to_le_bytes(code), at: 0 }));
        rewritten(kind, code, |field| Wide::descriptor_to_local_exec(field, 0x1234))
    });
    assert_eq!(local, [0x1400_0024, 0x0388_d084, NOP]);
    let by_slot =
        kinds.map(|kind| rewritten(kind, NOP, |f| Wide::descriptor_to_initial_exec(f, Address::new(0x3808))));
    // pcalau12i $a0, 2; ld.d $a0, $a0, -0x7f8
    assert_eq!(by_slot, [0x1a00_0044, 0x28e0_2084, NOP]);
}

#[test]
fn flags_of_files() {
    assert_eq!(join_flags(0x43, 0x43), Ok(0x43));
    assert!(join_flags(0x43, 0x41).unwrap_err().to_string().contains("soft-float"));
    assert!(join_flags(0x43, 0x03).unwrap_err().to_string().contains("version 0"));
    assert!(join_flags(0x40, 0x42).unwrap_err().to_string().contains("not known"));
}

#[test]
fn types_are_of_the_width_of_what_they_change() {
    for t in WIDE_TYPES.iter().filter(|t| !matches!(t.class, Class::Unknown | Class::None | Class::Term)) {
        let name = name_at(&WIDE_NAMES, t.name);
        let width = match name {
            "R_LARCH_64"
            | "R_LARCH_64_PCREL"
            | "R_LARCH_TLS_DTPREL64"
            | "R_LARCH_CALL36"
            | "R_LARCH_CALL30" => 8,
            _ => 4,
        };
        assert_eq!(t.width, width, "{name}");
    }
    assert_eq!(Wide::FACTS.type_name(46), "R_LARCH_SOP_POP_32_U");
}
