//! What relocations store, and what instructions become.

use super::*;
use crate::arch::class::{Class, name_at};

type Little = Aarch64<false>;
type Big = Aarch64<true>;

/// What an instruction is after a value is stored in it.
fn stored(kind: u32, code: u32, value: i64) -> (u32, Result<(), Failure>) {
    let mut out = code.to_le_bytes();
    let result = Little::put(kind, &mut out, 0, value as u64);
    (u32::from_le_bytes(out), result)
}

#[test]
fn fields_of_instructions() {
    let cases = [
        // bl .+8; b .-4
        (R_CALL26, 0x9400_0000, 8, 0x9400_0002),
        (R_JUMP26, 0x1400_0000, -4, 0x17ff_ffff),
        // b.eq .+0x1000; cbz; tbz x0, #1
        (R_CONDBR19, 0x5400_0000, 0x1000, 0x5400_8000),
        (R_TSTBR14, 0x3608_0000, -0x8000, 0x360c_0000),
        // ldr x0, .+0xffffc; adr x3, .-1
        (R_LD_PREL_LO19, 0x5800_0000, 0xf_fffc, 0x587f_ffe0),
        (R_ADR_PREL_LO21, 0x1000_0003, -1, 0x70ff_ffe3),
        // adrp x0, .+0x12345 pages
        (R_ADR_GOT_PAGE, 0x9000_0000, 0x1234_5000, 0xb009_1a20),
        (R_ADD_ABS_LO12_NC, 0x9100_0000, 0x1234_5678, 0x9119_e000),
        (R_LDST8_ABS_LO12_NC, 0x3940_0000, 0xfff, 0x397f_fc00),
        (R_LDST16_ABS_LO12_NC, 0x7940_0000, 0x1ffe, 0x795f_fc00),
        (R_LDST32_ABS_LO12_NC, 0xb940_0000, 0x104, 0xb941_0400),
        (R_LDST64_ABS_LO12_NC, 0xf940_0000, 0x8, 0xf940_0400),
        (R_LDST128_ABS_LO12_NC, 0x3dc0_0000, 0x10, 0x3dc0_0400),
        (R_LD64_GOTPAGE_LO15, 0xf940_0000, 0x7ff8, 0xf97f_fc00),
        (R_TLSLE_ADD_TPREL_HI12, 0x9140_0000, 0xff_f123, 0x917f_fc00),
        (R_MOVW_UABS_G0, 0xd280_0000, 0xffff, 0xd29f_ffe0),
        (R_MOVW_UABS_G1_NC, 0xf2a0_0000, 0x1234_5678_9abc, 0xf2aa_cf00),
        (R_MOVW_UABS_G3, 0xd2e0_0000, -1, 0xd2ff_ffe0),
        // movz becomes movn, or movn movz, by the sign; movk stays.
        (R_MOVW_SABS_G0, 0xd280_0000, -2, 0x9280_0020),
        (R_MOVW_SABS_G0, 0x9280_0000, 2, 0xd280_0040),
        (R_MOVW_PREL_G1, 0xd2a0_0000, -0x1_0000, 0x92a0_0000),
        (R_MOVW_PREL_G0_NC, 0xf280_0000, -2, 0xf29f_ffc0),
    ];
    for (kind, code, value, wanted) in cases {
        let name = Little::FACTS.type_name(kind);
        assert_eq!(stored(kind, code, value), (wanted, Ok(())), "{name} {:08x}", stored(kind, code, value).0);
        // What the field held before does not matter.
        if !matches!(kind, R_MOVW_SABS_G0 | R_MOVW_PREL_G1) {
            assert_eq!(stored(kind, wanted, value).0, wanted, "{name}");
        }
    }
}

#[test]
fn limits_and_alignment() {
    let limits = [
        (R_CALL26, 4, -0x800_0000, 0x7ff_fffc),
        (R_CONDBR19, 4, -0x10_0000, 0xf_fffc),
        (R_TSTBR14, 4, -0x8000, 0x7ffc),
        (R_ADR_PREL_LO21, 1, -0x10_0000, 0xf_ffff),
        (R_ADR_PREL_PG_HI21, 1, -0x1_0000_0000, 0xffff_ffff),
        (R_MOVW_UABS_G0, 1, 0, 0xffff),
        (R_MOVW_UABS_G1, 1, 0, 0xffff_ffff),
        (R_MOVW_SABS_G0, 1, -0x1_0000, 0xffff),
        (R_TLSLE_ADD_TPREL_HI12, 1, 0, 0xff_ffff),
        (R_TLSLE_ADD_TPREL_LO12, 1, 0, 0xfff),
        (R_TLSLE_LDST64_TPREL_LO12, 8, 0, 0xff8),
        (R_LD64_GOTPAGE_LO15, 8, 0, 0x7ff8),
    ];
    for (kind, step, low, high) in limits {
        let name = Little::FACTS.type_name(kind);
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
    assert_eq!(stored(R_LDST128_ABS_LO12_NC, 0, 8).1, Err(Failure::Unaligned(8)));
    assert_eq!(stored(R_LDST64_ABS_LO12_NC, 0, 1 << 40).1, Ok(()));
}

#[test]
fn distances_count_pages_where_instructions_do() {
    let distance = |kind, target, here| {
        let mut out = [0; 4];
        Little::put_distance(kind, &mut out, 0, target, here).map(|()| u32::from_le_bytes(out))
    };
    assert_eq!(distance(R_ADR_PREL_PG_HI21, Address::new(0x3000), Address::new(0x1fff)), Ok(0x4000_0000));
    assert_eq!(
        distance(R_ADR_PREL_PG_HI21, Address::new(0x1_0000_1000), Address::new(0x1fff)),
        Err(Failure::Overflow(0x1_0000_0000))
    );
    assert_eq!(distance(R_CALL26, Address::new(0x3000), Address::new(0x1000)), Ok(0x800));
    assert_eq!(
        distance(R_CALL26, Address::new(0x3002), Address::new(0x1000)),
        Err(Failure::Unaligned(0x2002))
    );
    assert_eq!(
        distance(R_JUMP26, Address::new(0x800_1000), Address::new(0x1000)),
        Err(Failure::Overflow(0x800_0000))
    );
    assert_eq!(Little::undefined(R_CALL26, Address::new(0x1000)), Address::new(0x1004));
    assert_eq!(Little::undefined(R_ADR_PREL_LO21, Address::new(0x1000)), Address::new(0x1000));
}

#[test]
fn data_has_an_order_and_instructions_have_one() {
    let mut out = [0xee; 8];
    Big::put(R_ABS32, &mut out, 2, 0x1234_5678).unwrap();
    assert_eq!(out, [0xee, 0xee, 0x12, 0x34, 0x56, 0x78, 0xee, 0xee]);
    Big::put_distance(types::R_PREL16, &mut out, 0, Address::new(0x1001), Address::new(0x1000)).unwrap();
    assert_eq!(out[..3], [0, 1, 0x12]);
    Big::put_address(&mut out, 0, 1);
    assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 1]);
    let mut out = 0x9400_0000u32.to_le_bytes();
    Big::put_distance(R_CALL26, &mut out, 0, Address::new(0x1008), Address::new(0x1000)).unwrap();
    assert_eq!(out, [2, 0, 0, 0x94]);
    assert_eq!(Little::put(R_ABS32, &mut [0; 4], 0, 1 << 32), Err(Failure::Overflow(1 << 32)));
}

/// The instructions after each of them was replaced for its relocation, from address 0x10000 on.
fn replaced(code: &[(u32, u32)], change: impl Fn(Field) -> Result<(), Failure>) -> Vec<u32> {
    let mut out: Vec<u8> = code.iter().flat_map(|(code, _)| code.to_le_bytes()).collect();
    for (i, (_, kind)) in code.iter().enumerate() {
        let field = Field {
            out: &mut out,
            at: 4 * i,
            address: Address::new(0x1_0000 + 4 * i as u64),
            kind: *kind,
            got_base: Address::ZERO,
        };
        change(field).unwrap();
    }
    out.chunks_exact(4).map(|code| u32::from_le_bytes(code.try_into().unwrap())).collect()
}

#[test]
fn loads_of_slots_become_addresses() {
    // adrp x1, …; ldr x2, [x1, …]: also if others use x1.
    let code: [(u32, u32); 2] = [(0x9000_0001, R_ADR_GOT_PAGE), (0xf940_0022, R_LD64_GOT_LO12_NC)];
    for (i, (_, kind)) in code.iter().enumerate() {
        let bytes: Vec<u8> = code.iter().flat_map(|(code, _)| code.to_le_bytes()).collect();
        assert!(relax::is_got_load(*kind, &bytes, 4 * i));
        assert!(!relax::is_got_load(*kind, &bytes, 4 - 4 * i), "the other one");
        assert!(!relax::is_got_load(*kind, &bytes, 6), "cut off");
    }
    // adrp x1, +2 pages; add x2, x1, #0x345
    assert_eq!(
        replaced(&code, |field| relax::load_to_address(field, Address::new(0x1_2345))),
        [0xd000_0001, 0x910d_1422]
    );
    let far = Field {
        out: &mut 0x9000_0001u32.to_le_bytes(),
        at: 0,
        address: Address::ZERO,
        kind: R_ADR_GOT_PAGE,
        got_base: Address::ZERO,
    };
    assert_eq!(relax::load_to_address(far, Address::new(1 << 33)), Err(Failure::TooFar));
}

#[test]
fn only_data_reaches_behind_slots() {
    assert!(Little::reaches_behind_slots(R_GOTPCREL32));
    for kind in [R_ADR_GOT_PAGE, R_LD64_GOT_LO12_NC, R_GOT_LD_PREL19] {
        assert!(!Little::reaches_behind_slots(kind));
    }
}

#[test]
fn initial_exec_becomes_local_exec() {
    // adrp x3, …; ldr x3, [x3, …]
    let code = [(0x9000_0003, R_TLSIE_ADR_GOTTPREL_PAGE21), (0xf940_0063, R_TLSIE_LD64_GOTTPREL_LO12_NC)];
    let wanted = [0xd2a0_0003 | 0x12 << 5, 0xf280_0003 | 0x3456 << 5];
    assert_eq!(replaced(&code, |field| relax::initial_to_local_exec(field, 0x12_3456)), wanted);
    // ldr x4, [x3, …]: the high half is in the other register.
    assert!(!relax::is_initial_exec(R_TLSIE_LD64_GOTTPREL_LO12_NC, &0xf940_0064u32.to_le_bytes(), 0));
    assert!(!relax::is_initial_exec(R_TLSIE_LD_GOTTPREL_PREL19, &0x5800_0003u32.to_le_bytes(), 0));
}

#[test]
fn descriptors_become_offsets() {
    // adrp x0, …; ldr x3, [x0, …]; add x0, x0, …
    let small: [(u32, u32); 3] = [
        (0x9000_0000, R_TLSDESC_ADR_PAGE21),
        (0xf940_0003, R_TLSDESC_LD64_LO12),
        (0x9100_0000, R_TLSDESC_ADD_LO12),
    ];
    // ldr x1, …; adr x0, …
    let tiny: [(u32, u32); 2] = [(0x5800_0001, R_TLSDESC_LD_PREL19), (0x1000_0000, R_TLSDESC_ADR_PREL21)];
    for (code, kind) in small.iter().chain(&tiny) {
        assert!(relax::is_descriptor(*kind, &code.to_le_bytes(), 0));
        assert!(
            !relax::is_descriptor(*kind, &(code | 1).to_le_bytes(), 0) || code & 31 == 1 || code & 31 == 3
        );
    }
    let offset = [0xd2a0_0000 | 0x12 << 5, 0xf280_0000 | 0x3456 << 5];
    let local = |field: Field| relax::descriptor_to_local_exec(field, 0x12_3456);
    assert_eq!(replaced(&small, local), [&offset[..], &[code::NOP]].concat());
    assert_eq!(replaced(&tiny, local), offset);
    let initial = |field: Field| relax::descriptor_to_initial_exec(field, Address::new(0x1_1008));
    // adrp x0, +1 page; ldr x0, [x0, #8]; nop
    assert_eq!(replaced(&small, initial), [0xb000_0000, 0xf940_0400, code::NOP]);
    // ldr x0, .+0x1008; nop
    assert_eq!(replaced(&tiny, initial), [0x5800_8040, code::NOP]);
    let mut out = [0; 4];
    let field = Field {
        out: &mut out,
        at: 0,
        address: Address::ZERO,
        kind: R_TLSDESC_ADR_PAGE21,
        got_base: Address::ZERO,
    };
    assert_eq!(relax::descriptor_to_local_exec(field, 1 << 32), Err(Failure::TooFar));
}

#[test]
fn calls_for_addresses_become_offsets() {
    // adrp x0, …; add x0, x0, …; bl …; nop
    let code: [u32; 4] = [0x9000_0000, 0x9100_0000, 0x9400_0000, code::NOP];
    let bytes: Vec<u8> = code.iter().flat_map(|code| code.to_le_bytes()).collect();
    let relocs = |first, second| {
        [Rela::make(0, 1, first, 0), Rela::make(4, 1, second, 0), Rela::make(8, 2, R_CALL26, 0)]
    };
    let general = relocs(R_TLSGD_ADR_PAGE21, R_TLSGD_ADD_LO12_NC);
    let local = relocs(R_TLSLD_ADR_PAGE21, R_TLSLD_ADD_LO12_NC);
    assert!(Little::tls_call(&bytes, &general, 0).is_some() && Little::tls_call(&bytes, &local, 0).is_some());
    assert!(Little::tls_call(&bytes, &general, 1).is_none());
    assert!(Little::tls_call(&bytes, &general[..2], 0).is_none());
    assert!(Little::tls_call(&bytes[..14], &general, 0).is_none());
    assert!(Little::tls_call(&bytes, &relocs(R_TLSGD_ADR_PAGE21, R_TLSLD_ADD_LO12_NC), 0).is_none());
    let sequence = |change: &dyn Fn(Field) -> Result<(), Failure>| {
        let mut out = bytes.clone();
        change(Field {
            out: &mut out,
            at: 0,
            address: Address::new(0x1_0000),
            kind: 0,
            got_base: Address::ZERO,
        })
        .unwrap();
        let codes = out.chunks_exact(4).map(|code| u32::from_le_bytes(code.try_into().unwrap()));
        codes.collect::<Vec<_>>()
    };
    // movz; movk; mrs x1, tpidr_el0; add x0, x0, x1
    let add = [0xd53b_d041, 0x8b01_0000];
    let wanted = [&[0xd2a0_0020, 0xf280_0040][..], &add].concat();
    assert_eq!(sequence(&|field| Little::general_to_local_exec((), field, 0x1_0002)), wanted);
    let wanted = [&[0xb000_0000, 0xf940_0400][..], &add].concat();
    assert_eq!(sequence(&|field| Little::general_to_initial_exec((), field, Address::new(0x1_1008))), wanted);
    let wanted = [0xd53b_d040, code::NOP, code::NOP, code::NOP];
    assert_eq!(sequence(&|field| Little::local_dynamic_to_local_exec((), field)), wanted);
}

#[test]
fn the_highest_part_of_a_distance_stays_a_move_without_sign() {
    // movz x1, #0, lsl #48
    for kind in [R_MOVW_PREL_G3, R_MOVW_GOTOFF_G3] {
        let mut code = 0xd2e0_0001u32.to_le_bytes();
        code::put(kind, &mut code, 0, -0x1_0000_0000_0000 * 2);
        assert_eq!(u32::from_le_bytes(code), 0xd2e0_0001 | 0xfffe << 5);
    }
}

#[test]
fn types_are_of_the_width_of_instructions() {
    for t in types::TYPES.iter().filter(|t| !matches!(t.class, Class::Unknown | Class::None)) {
        let name = name_at(&NAMES, t.name);
        let data = ["64", "32", "16"]
            .iter()
            .any(|bits| name.ends_with(&format!("ABS{bits}")) || name.ends_with(&format!("REL{bits}")));
        assert!(data || t.class == Class::Initial || t.width == 4, "{name}");
    }
}
