//! Tests of ARM's relocations: what is stored at the limits of each type, and what is read as an addend.

use super::code::{Branch, implicit_addend, put_branch};
use super::*;
use crate::arch::facts::Facts;

/// The bytes of an instruction of ARM code, or of Thumb code.
fn arm(code: u32) -> Vec<u8> {
    code.to_le_bytes().to_vec()
}

fn thumb(code: u32) -> Vec<u8> {
    [(code >> 16) as u16, code as u16].iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// What a value makes of an instruction, and whether it fits.
fn stored(kind: u32, mut code: Vec<u8>, value: i64) -> (Vec<u8>, bool) {
    let fits = Arm::<false>::put(kind, &mut code, 0, value as u64).is_ok();
    (code, fits)
}

fn branched(kind: u32, mut code: Vec<u8>, distance: i64, to_thumb: Option<bool>) -> (Vec<u8>, bool) {
    let branch = Branch { distance, to_thumb, here: 0x1000 };
    let fits = put_branch::<false>(kind, &mut code, 0, branch).is_ok();
    (code, fits)
}

#[test]
fn branches_reach_as_far_as_their_fields() {
    for (kind, code, bits) in [
        (R_CALL, arm(0xeb00_0000), 26),
        (R_JUMP24, arm(0x0a00_0000), 26),
        (R_PC24, arm(0xeb00_0000), 26),
        (R_PLT32, arm(0xeb00_0000), 26),
        (R_THM_CALL, thumb(0xf000_d000), 25),
        (R_THM_JUMP24, thumb(0xf000_9000), 25),
        (R_THM_JUMP19, thumb(0xf000_8000), 21),
        (R_THM_JUMP11, vec![0x00, 0xe0], 12),
        (R_THM_JUMP8, vec![0x00, 0xd0], 9),
    ] {
        let step = if bits == 26 { 4 } else { 2 };
        let half = 1i64 << (bits - 1);
        for distance in [-half, -half + step, -step, 0, step, half - step] {
            let (out, fits) = branched(kind, code.clone(), distance, None);
            assert!(fits, "{kind} {distance:#x}");
            assert_eq!(implicit_addend::<false>(kind, &out), Some(distance), "{kind} {distance:#x}");
        }
        assert!(!branched(kind, code.clone(), half, None).1, "{kind}");
        assert!(!branched(kind, code.clone(), -half - step, None).1, "{kind}");
    }
}

#[test]
fn calls_change_to_the_instruction_set_of_their_target() {
    let (bl, blx) = (arm(0xeb00_0000), arm(0xfa00_0000));
    assert_eq!(branched(R_CALL, bl.clone(), 0x1001, Some(true)).0, arm(0xfa00_0400));
    assert_eq!(branched(R_CALL, bl.clone(), 0x1003, Some(true)).0, arm(0xfb00_0400));
    assert_eq!(branched(R_CALL, blx.clone(), 0x1000, Some(false)).0, arm(0xeb00_0400));
    // Of what is no function nothing is known.
    assert_eq!(branched(R_CALL, blx, 0x1000, None).0, arm(0xfa00_0400));
    assert_eq!(branched(R_CALL, bl, 0x1000, None).0, arm(0xeb00_0400));
    let (bl, blx) = (thumb(0xf000_f800), thumb(0xf000_e800));
    assert_eq!(branched(R_THM_CALL, bl.clone(), 0x1000, Some(false)).0, thumb(0xf001_e800));
    assert_eq!(branched(R_THM_CALL, blx.clone(), 0x1001, Some(true)).0, thumb(0xf001_f800));
    assert_eq!(branched(R_THM_CALL, blx, 0x1000, None).0, thumb(0xf001_e800));
    // From a place that is no multiple of 4, it counts from the one before.
    let mut code = bl;
    let branch = Branch { distance: 0xffe, to_thumb: Some(false), here: 0x1002 };
    put_branch::<false>(R_THM_CALL, &mut code, 0, branch).unwrap();
    assert_eq!(code, thumb(0xf001_e800));
}

#[test]
fn thumb_bits_are_set_after_adding() {
    // What is added to an address that has the bit.
    assert_eq!([-1, 0, 1, 2, 3].map(|addend| addend_to_thumb(R_ABS32, addend)), [-2, 0, 0, 2, 2]);
    assert_eq!([0, 1].map(|addend| addend_to_thumb(R_MOVT_ABS, addend)), [0, 0]);
    // The same without the bit.
    assert_eq!([R_ABS16, R_ABS8, R_THM_PC12].map(|kind| addend_to_thumb(kind, 1)), [0, 0, 0]);
    assert_eq!([R_ABS16, R_ABS8, R_LDR_PC_G0].map(|kind| addend_to_thumb(kind, 4)), [3, 3, 3]);
}

#[test]
fn halves_of_addresses_are_moved() {
    for (kind, code, shift) in [
        (R_MOVW_ABS_NC, arm(0xe300_1000), 0),
        (R_MOVW_PREL_NC, arm(0xe300_1000), 0),
        (R_MOVT_ABS, arm(0xe340_1000), 16),
        (R_MOVT_PREL, arm(0xe340_1000), 16),
        (R_THM_MOVW_ABS_NC, thumb(0xf240_0100), 0),
        (R_THM_MOVW_PREL_NC, thumb(0xf240_0100), 0),
        (R_THM_MOVT_ABS, thumb(0xf2c0_0100), 16),
        (R_THM_MOVT_PREL, thumb(0xf2c0_0100), 16),
    ] {
        for value in [0, 0x7fff, 0x1234_5678, 0x7fff_8000, -1, -0x8000_0000] {
            let (out, fits) = stored(kind, code.clone(), value);
            let half = i64::from((value >> shift) as i16);
            assert_eq!((implicit_addend::<false>(kind, &out), fits), (Some(half), true), "{kind} {value:#x}");
        }
    }
    assert_eq!(stored(R_MOVW_ABS_NC, arm(0xe300_1000), 0x1234_5678).0, arm(0xe305_1678));
    assert_eq!(stored(R_THM_MOVT_ABS, thumb(0xf2c0_0100), 0xabcd_0000).0, thumb(0xf6ca_31cd));
}

#[test]
fn data_holds_what_fits() {
    for (kind, least, most) in [(R_ABS8, -0x80, 0xff), (R_ABS16, -0x8000, 0xffff)] {
        let fits = |value| stored(kind, vec![0; 4], value).1;
        assert!(fits(least) && fits(most) && !fits(least - 1) && !fits(most + 1));
    }
    let fits = |value| stored(R_PREL31, arm(0x8000_0000), value);
    assert_eq!(fits(-1), (arm(0xffff_ffff), true));
    assert_eq!(fits((1 << 30) - 1), (arm(0xbfff_ffff), true));
    assert!(!fits(1 << 30).1 && fits(-(1 << 30)).1 && !fits(-(1 << 30) - 1).1);
    assert_eq!(implicit_addend::<false>(R_PREL31, &arm(0x7fff_fffc)), Some(-4));
    assert_eq!(stored(R_REL32, arm(0), -4).0, arm(0xffff_fffc));
}

#[test]
fn parts_of_distances_are_added() {
    let add = || arm(0xe28f_0000);
    // 0x12345678: 0x48 at 22, then 0xd1 at 14, then 0x59 at 6, and 0x38.
    assert_eq!(stored(R_ALU_PC_G0_NC, add(), 0x1234_5678), (arm(0xe28f_0548), true));
    assert_eq!(stored(R_ALU_PC_G1_NC, add(), 0x1234_5678), (arm(0xe28f_09d1), true));
    assert!(!stored(R_ALU_PC_G0, add(), 0x1234_5678).1 && !stored(R_ALU_PC_G2, add(), 0x1234_5678).1);
    assert_eq!(stored(R_ALU_PC_G0, add(), -0xff), (arm(0xe24f_00ff), true));
    assert_eq!(implicit_addend::<false>(R_ALU_PC_G0, &arm(0xe24f_0548)), Some(-0x1200_0000));
    let load = || arm(0xe59f_0000);
    assert_eq!(stored(R_LDR_PC_G0, load(), 0xfff), (arm(0xe59f_0fff), true));
    assert_eq!(stored(R_LDR_PC_G0, load(), -0xfff), (arm(0xe51f_0fff), true));
    assert!(!stored(R_LDR_PC_G0, load(), 0x1000).1);
    // The upper eight bits are another instruction's.
    assert_eq!(stored(R_LDR_PC_G1, load(), 0xf_f123), (arm(0xe59f_0123), true));
    assert_eq!(stored(R_LDRS_PC_G0, arm(0xe1df_00d0), 0xff), (arm(0xe1df_0fdf), true));
    assert!(!stored(R_LDRS_PC_G0, arm(0xe1df_00d0), 0x100).1);
}

#[test]
fn short_distances_of_thumb_code() {
    assert_eq!(stored(R_THM_PC8, vec![0x00, 0x48], 0x3fc), (vec![0xff, 0x48], true));
    assert!(!stored(R_THM_PC8, vec![0x00, 0x48], 0x400).1 && !stored(R_THM_PC8, vec![0x00, 0x48], 2).1);
    assert!(!stored(R_THM_PC8, vec![0x00, 0x48], -4).1);
    assert_eq!(stored(R_THM_PC12, thumb(0xf85f_0000), 0xfff), (thumb(0xf8df_0fff), true));
    assert_eq!(stored(R_THM_PC12, thumb(0xf8df_0000), -0xfff), (thumb(0xf85f_0fff), true));
    assert!(!stored(R_THM_PC12, thumb(0xf8df_0000), 0x1000).1);
    assert_eq!(stored(R_THM_ALU_PREL_11_0, thumb(0xf20f_0000), -0xfff), (thumb(0xf6af_70ff), true));
    assert_eq!(stored(R_THM_ALU_PREL_11_0, thumb(0xf2af_0000), 0x123), (thumb(0xf20f_1023), true));
    assert!(!stored(R_THM_ALU_PREL_11_0, thumb(0xf20f_0000), 0x1000).1);
    for (i, byte) in [0x78, 0x56, 0x34, 0x12].into_iter().enumerate() {
        let kind = R_THM_ALU_ABS_G0_NC + i as u32;
        assert_eq!(stored(kind, vec![0xff, 0x20], 0x1234_5678), (vec![byte, 0x20], true));
    }
}

#[test]
fn instructions_of_big_objects_are_big() {
    let mut code = vec![0xeb, 0, 0, 0];
    let branch = Branch { distance: 0x1000, to_thumb: None, here: 0 };
    put_branch::<true>(R_CALL, &mut code, 0, branch).unwrap();
    assert_eq!(code, [0xeb, 0, 4, 0]);
    let mut code = vec![0xf0, 0, 0xf8, 0];
    let branch = Branch { distance: 0x1000, to_thumb: None, here: 0 };
    put_branch::<true>(R_THM_CALL, &mut code, 0, branch).unwrap();
    assert_eq!(
        (&code[..], implicit_addend::<true>(R_THM_CALL, &code)),
        (&[0xf0, 1, 0xf8, 0][..], Some(0x1000))
    );
}

#[test]
fn nothing_is_read_past_the_end() {
    const FACTS: Facts = facts::<false>();
    for kind in 0..=TYPES.len() as u32 {
        let width = FACTS.width(kind);
        if width > 0 {
            assert_eq!(implicit_addend::<false>(kind, &vec![0; width - 1]), None, "{kind}");
        }
    }
    assert_eq!(implicit_addend::<false>(TYPES.len() as u32, &[0; 8]), None);
}

#[test]
fn instructions_are_turned_by_their_marks() {
    let turned = |marks: &[(usize, usize)]| {
        let mut code = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        TurnedCode::turn(&mut code, marks.iter().copied());
        code
    };
    assert_eq!(turned(&[(0, 4), (4, 2), (6, 1)]), [4, 3, 2, 1, 6, 5, 7, 8, 9]);
    // What is in front of all marks, and the rest of an instruction.
    assert_eq!(turned(&[(2, 4)]), [1, 2, 6, 5, 4, 3, 7, 8, 9]);
    assert_eq!(turned(&[(8, 4), (20, 2), (usize::MAX, 4)]), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let units = [&b"$a"[..], b"$t.x", b"$d.", b"$x", b"$ab", b"a"].map(code::unit);
    assert_eq!(units, [Some(4), Some(2), Some(1), None, None, None]);
}
