//! Thunks: code that makes an address in `ip`, which calls lose, and goes there, also from one instruction set
//! to the other, to which `b` does not change, and `bl` only on processors that have `blx`.
//!
//! | caller | processors | addresses fixed | image may be moved |
//! |---|---|---|---|
//! | ARM | with `movt` | `movw`, `movt`, `bx` | `movw`, `movt`, `add`, `bx` |
//! | ARM | with `blx` | `ldr pc` of a word | `ldr` of a word, `add`, `bx` |
//! | ARM | older | to Thumb code: `ldr`, `bx` | the same |
//! | Thumb | with `movt` | `movw`, `movt`, `bx` | `movw`, `movt`, `add`, `bx` |
//! | Thumb | v6-M | a word, by way of the stack | a word in `r0`, which is saved, to `ip` |
//! | Thumb | with `blx` | ARM code, as above | the same |
//! | Thumb | older | `bx pc`, then as ARM code does | the same |
//!
//! What is near and in the caller's instruction set is reached by a branch.
//!
//! Specification: AAELF32, "Call and Jump relocations"; "Procedure Call Standard for the Arm Architecture", IP.

use weld_common::thunks::{Form, Reach};

use super::attributes::{BLX, FAR_BRANCHES, MOVT, is_thumb_only};
use super::code::*;
use super::plt::thumb_moves;
use super::types::*;
use crate::address::Address;
use crate::arch::facts::{self, Branches, InstructionSets, Jump, Situation, Thunk};

/// How far branches reach: from so many bytes after their place, which [`bias`] gives.
pub const ARM_REACH: Reach = Reach { back: (1 << 25) - 8, ahead: (1 << 25) + 8 };
pub const THUMB_REACH: Reach = Reach { back: (1 << 24) - 4, ahead: (1 << 24) + 4 };
const OLD_THUMB_REACH: Reach = Reach { back: (1 << 22) - 4, ahead: (1 << 22) + 4 };
const CONDITIONAL_REACH: Reach = Reach { back: (1 << 20) - 4, ahead: (1 << 20) + 4 };

pub const fn branches<const BIG: bool>(sets: &'static InstructionSets) -> Branches {
    Branches {
        types: &[
            (R_CALL, ARM_REACH),
            (R_JUMP24, ARM_REACH),
            (R_PC24, ARM_REACH),
            (R_PLT32, ARM_REACH),
            (R_THM_CALL, THUMB_REACH),
            (R_THM_JUMP24, THUMB_REACH),
            (R_THM_JUMP19, CONDITIONAL_REACH),
        ],
        errata: Some(super::errata::errata::<BIG>()),
        data_mark: "$d",
        sets: Some(sets),
        ..Branches::NONE
    }
}

pub const fn sets<const BIG: bool>() -> InstructionSets {
    InstructionSets {
        bias: |kind, _| bias(kind),
        asks_callee: false,
        from_zero: false,
        reach,
        state,
        next,
        must_change,
        has_second_plt: is_thumb_only,
        second: None,
        thunks: forms::<BIG>,
    }
}

fn reach(kind: u32, features: u32) -> Option<Reach> {
    Some(match kind {
        R_CALL | R_JUMP24 | R_PC24 | R_PLT32 => ARM_REACH,
        R_THM_CALL if features & FAR_BRANCHES == 0 => OLD_THUMB_REACH,
        R_THM_CALL | R_THM_JUMP24 => THUMB_REACH,
        R_THM_JUMP19 => CONDITIONAL_REACH,
        _ => return None,
    })
}

/// The caller has Thumb code; the target has the other instruction set.
const FROM_THUMB: u8 = 1;
const CHANGES: u8 = 2;

fn state(jump: &Jump) -> u8 {
    let from_thumb = branch_state(jump.kind) == Some(true);
    let changes = jump.is_function && from_thumb != (jump.target & 1 != 0);
    (if from_thumb { FROM_THUMB } else { 0 }) | if changes { CHANGES } else { 0 }
}

/// Thumb code that branches and does not change goes on in Thumb code, also if the target is a label.
fn next(state: u8, target: u64) -> u64 {
    if state & (FROM_THUMB | CHANGES) == FROM_THUMB { target | 1 } else { target }
}

/// Whether a branch cannot change to the instruction set of its target by itself.
fn must_change(jump: &Jump) -> bool {
    if !jump.is_function || branch_state(jump.kind) == Some(jump.target & 1 != 0) {
        return false;
    }
    match jump.kind {
        R_CALL => jump.features & BLX == 0,
        // Counted from the word that it lies in, it does not reach as far.
        R_THM_CALL => {
            let distance = jump.target.wrapping_sub(jump.here) as i64;
            let reach = if jump.features & FAR_BRANCHES == 0 { 1 << 22 } else { 1 << 24 };
            jump.features & BLX == 0 || jump.here & 2 != 0 && distance > reach - 2
        }
        _ => true,
    }
}

type Write = fn(&mut [u8], Address, Address);

const fn arm(prefix: &'static str, size: u64, data: Option<u64>, write: Write) -> Thunk {
    let form = Form { size, align: 4, reach: Reach::EVERYTHING };
    Thunk { prefix, form, data, entry: 0, marks: &[(0, "$a")], write: facts::Write::Plain(write) }
}

const fn thumb(prefix: &'static str, size: u64, data: Option<u64>, write: Write) -> Thunk {
    Thunk { entry: 1, marks: &[(0, "$t")], ..arm(prefix, size, data, write) }
}

/// Thumb code that goes on in ARM code.
const fn both(prefix: &'static str, size: u64, write: Write) -> Thunk {
    Thunk { marks: &[(0, "$t"), (4, "$a")], ..thumb(prefix, size, Some(size - 4), write) }
}

/// A branch alone.
const fn near(long: Thunk, reach: Reach, write: Write) -> Thunk {
    Thunk { form: Form { size: 4, align: 4, reach }, data: None, write: facts::Write::Plain(write), ..long }
}

/// A thunk in the instruction set of its target, or in the other one.
macro_rules! list {
    ($changes:expr, $near:expr, $reach:expr, $long:expr) => {
        if $changes { const { &[$long] as &[Thunk] } } else { const { &[near($long, $reach, $near), $long] } }
    };
}

/// What stands between a caller and a target of these states.
fn forms<const BIG: bool>(state: u8, situation: Situation) -> &'static [Thunk] {
    let changes = state & CHANGES != 0;
    let Situation { moving, features, .. } = situation;
    if state & FROM_THUMB != 0 {
        return match (features & MOVT != 0, moving) {
            (true, false) => {
                list!(
                    changes,
                    thumb_near::<BIG>,
                    THUMB_REACH,
                    thumb("__Thumbv7ABSLongThunk_", 10, None, thumb_v7::<BIG>)
                )
            }
            (true, true) => {
                list!(
                    changes,
                    thumb_near::<BIG>,
                    THUMB_REACH,
                    thumb("__ThumbV7PILongThunk_", 12, None, thumb_v7_pic::<BIG>)
                )
            }
            (false, _) => old_thumb_forms::<BIG>(changes, situation),
        };
    }
    match (features & MOVT != 0, moving) {
        (true, false) => {
            list!(changes, arm_near::<BIG>, ARM_REACH, arm("__ARMv7ABSLongThunk_", 12, None, arm_v7::<BIG>))
        }
        (true, true) => list!(
            changes,
            arm_near::<BIG>,
            ARM_REACH,
            arm("__ARMV7PILongThunk_", 16, None, arm_v7_pic::<BIG>)
        ),
        (false, false) if changes && features & BLX == 0 => {
            const { &[arm("__ARMv4ABSLongBXThunk_", 12, Some(8), arm_bx::<BIG>)] }
        }
        (false, false) => {
            list!(
                changes,
                arm_near::<BIG>,
                ARM_REACH,
                arm("__ARMv5LongLdrPcThunk_", 8, Some(4), arm_word::<BIG>)
            )
        }
        (false, true) if changes => {
            const { &[arm("__ARMv4PILongBXThunk_", 16, Some(12), arm_pic_bx::<BIG>)] }
        }
        (false, true) => {
            list!(
                changes,
                arm_near::<BIG>,
                ARM_REACH,
                arm("__ARMv4PILongThunk_", 12, Some(8), arm_pic::<BIG>)
            )
        }
    }
}

/// Those of Thumb code for processors without `movt`.
fn old_thumb_forms<const BIG: bool>(
    changes: bool,
    Situation { moving, unread, features }: Situation,
) -> &'static [Thunk] {
    if features & FAR_BRANCHES != 0 {
        return match (moving, unread) {
            (false, true) => {
                const { &[thumb("__Thumbv6MABSXOLongThunk_", 20, None, thumb_v6m_unread::<BIG>)] }
            }
            (false, false) => const { &[thumb("__Thumbv6MABSLongThunk_", 12, Some(8), thumb_v6m::<BIG>)] },
            // There is no code for it that could be made without a register.
            (true, true) => &[],
            (true, false) => const { &[thumb("__Thumbv6MPILongThunk_", 16, Some(12), thumb_v6m_pic::<BIG>)] },
        };
    }
    // With `blx` the caller changes to ARM code by itself, and that to whatever the target is.
    match (features & BLX != 0, moving, changes) {
        (true, false, _) => const { &[arm("__ARMv5LongLdrPcThunk_", 8, Some(4), arm_word::<BIG>)] },
        (true, true, _) => const { &[arm("__ARMv4PILongBXThunk_", 16, Some(12), arm_pic_bx::<BIG>)] },
        (false, false, true) => const { &[both("__Thumbv4ABSLongBXThunk_", 12, thumb_v4::<BIG>)] },
        (false, false, false) => const { &[both("__Thumbv4ABSLongThunk_", 16, thumb_v4_bx::<BIG>)] },
        (false, true, true) => const { &[both("__Thumbv4PILongBXThunk_", 16, thumb_v4_pic::<BIG>)] },
        (false, true, false) => const { &[both("__Thumbv4PILongThunk_", 20, thumb_v4_pic_bx::<BIG>)] },
    }
}

const BX_IP: u32 = 0xe12f_ff1c;
/// `bx pc`, to ARM code that follows, and a branch to itself, which is not executed.
const BX_PC: [u16; 2] = [0x4778, 0xe7fd];
/// `bx ip` of Thumb code.
const THUMB_BX_IP: u16 = 0x4760;
/// `ldr ip` of the word after the next instruction, and of the one after that.
const LOAD_SECOND: u32 = 0xe59f_c000;
const LOAD_THIRD: u32 = 0xe59f_c004;

fn words<const BIG: bool>(out: &mut [u8], words: &[u32]) {
    for (i, word) in words.iter().enumerate() {
        put_word::<BIG>(out, 4 * i, *word);
    }
}

fn halves<const BIG: bool>(out: &mut [u8], halves: &[u16]) {
    for (i, half) in halves.iter().enumerate() {
        put_half::<BIG>(out, 2 * i, *half);
    }
}

fn distance(target: Address, from: Address) -> u32 {
    target.wrapping_sub(from) as u32
}

pub fn arm_near<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    words::<BIG>(out, &[0xea00_0000 | distance(target, address + 8) >> 2 & 0xff_ffff]);
}

pub fn thumb_near<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    let code = 0xf000_9000 | long_distance(distance(target, address + 4));
    halves::<BIG>(out, &[(code >> 16) as u16, code as u16]);
}

/// `movw` and `movt` of `ip`.
fn arm_moves(value: u32) -> [u32; 2] {
    [0xe300_c000 | moved(value & 0xffff), 0xe340_c000 | moved(value >> 16)]
}

fn arm_v7<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    let [low, high] = arm_moves(target.get() as u32);
    words::<BIG>(out, &[low, high, BX_IP]);
}

fn arm_v7_pic<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    let [low, high] = arm_moves(distance(target, address + 16));
    // add ip, ip, pc
    words::<BIG>(out, &[low, high, 0xe08c_c00f, BX_IP]);
}

fn arm_word<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    // ldr pc, .+4
    words::<BIG>(out, &[0xe51f_f004, target.get() as u32]);
}

fn arm_bx<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    words::<BIG>(out, &[LOAD_SECOND, BX_IP, target.get() as u32]);
}

fn arm_pic<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    // add pc, pc, ip
    words::<BIG>(out, &[LOAD_SECOND, 0xe08f_f00c, distance(target, address + 12)]);
}

fn arm_pic_bx<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    // add ip, pc, ip
    words::<BIG>(out, &[LOAD_THIRD, 0xe08f_c00c, BX_IP, distance(target, address + 12)]);
}

fn thumb_v7<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    halves::<BIG>(out, &thumb_moves(target.get() as u32));
    halves::<BIG>(&mut out[8..], &[THUMB_BX_IP]);
}

fn thumb_v7_pic<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    halves::<BIG>(out, &thumb_moves(distance(target, address + 12)));
    // add ip, pc
    halves::<BIG>(&mut out[8..], &[0x44fc, THUMB_BX_IP]);
}

fn thumb_v6m<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    // push {r0, r1}; ldr r0, .+6; str r0, [sp, #4]; pop {r0, pc}
    halves::<BIG>(out, &[0xb403, 0x4801, 0x9001, 0xbd01]);
    words::<BIG>(&mut out[8..], &[target.get() as u32]);
}

fn thumb_v6m_unread<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    let byte = |i: u32| target.get().wrapping_shr(8 * i) as u16 & 0xff;
    // push {r0, r1}; movs r0; three times lsls r0, #8 and adds r0; str r0, [sp, #4]; pop {r0, pc}
    let code = [0xb403, 0x2000 | byte(3), 0x0200, 0x3000 | byte(2), 0x0200, 0x3000 | byte(1), 0x0200];
    halves::<BIG>(out, &code);
    halves::<BIG>(&mut out[14..], &[0x3000 | byte(0), 0x9001, 0xbd01]);
}

fn thumb_v6m_pic<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    // push {r0}; ldr r0, .+10; mov ip, r0; pop {r0}; add pc, ip; nop
    halves::<BIG>(out, &[0xb401, 0x4802, 0x4684, 0xbc01, 0x44e7, 0x46c0]);
    words::<BIG>(&mut out[12..], &[distance(target, address + 12)]);
}

fn thumb_v4<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    halves::<BIG>(out, &BX_PC);
    arm_word::<BIG>(&mut out[4..], address + 4, target);
}

fn thumb_v4_bx<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    halves::<BIG>(out, &BX_PC);
    arm_bx::<BIG>(&mut out[4..], address + 4, target);
}

fn thumb_v4_pic<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    halves::<BIG>(out, &BX_PC);
    arm_pic::<BIG>(&mut out[4..], address + 4, target);
}

fn thumb_v4_pic_bx<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    halves::<BIG>(out, &BX_PC);
    arm_pic_bx::<BIG>(&mut out[4..], address + 4, target);
}

#[cfg(test)]
mod tests {
    use super::super::attributes::ARM_CODE;
    use super::*;
    use crate::arch::facts::Callee;

    const V5: u32 = BLX | ARM_CODE;
    const V6M: u32 = BLX | FAR_BRANCHES;
    const V7: u32 = V6M | MOVT | ARM_CODE;

    fn written(state: u8, moving: bool, features: u32, form: usize) -> Vec<u16> {
        let thunk = &forms::<false>(state, Situation { moving, unread: false, features })[form];
        let mut out = vec![0xee; thunk.form.size as usize];
        thunk.put(&mut out, Address::new(0x1000), Address::new(0x1234_5abd), Address::ZERO);
        out.chunks_exact(2).map(|code| u16::from_le_bytes(code.try_into().unwrap())).collect()
    }

    #[test]
    fn thunks_make_the_address_of_their_target() {
        // movw ip, #0x5abd; movt ip, #0x1234; bx ip
        assert_eq!(written(CHANGES, false, V7, 0), [0xcabd, 0xe305, 0xc234, 0xe341, 0xff1c, 0xe12f]);
        assert_eq!(written(FROM_THUMB, false, V7, 1), [0xf645, 0x2cbd, 0xf2c1, 0x2c34, 0x4760]);
        // From 0x100c: 0x12344ab1.
        assert_eq!(written(FROM_THUMB, true, V7, 1), [0xf644, 0x2cb1, 0xf2c1, 0x2c34, 0x44fc, 0x4760]);
        assert_eq!(written(CHANGES, false, V5, 0), [0xf004, 0xe51f, 0x5abd, 0x1234]);
        assert_eq!(written(CHANGES, false, 0, 0), [0xc000, 0xe59f, 0xff1c, 0xe12f, 0x5abd, 0x1234]);
        assert_eq!(written(FROM_THUMB, false, V6M, 0), [0xb403, 0x4801, 0x9001, 0xbd01, 0x5abd, 0x1234]);
        assert_eq!(written(FROM_THUMB, false, V5, 0), [0xf004, 0xe51f, 0x5abd, 0x1234]);
        // From 0x1010: 0x12344aad.
        assert_eq!(
            written(FROM_THUMB, true, 0, 0),
            [0x4778, 0xe7fd, 0xc004, 0xe59f, 0xc00c, 0xe08f, 0xff1c, 0xe12f, 0x4aad, 0x1234]
        );
    }

    #[test]
    fn only_branches_that_cannot_change_need_thunks() {
        let must = |kind, target, features| {
            must_change(&Jump {
                kind,
                here: 0x1000,
                target,
                is_function: true,
                callee: Callee::Own(0),
                features,
            })
        };
        assert!(!must(R_CALL, 0x2001, V7) && must(R_CALL, 0x2001, 0) && must(R_JUMP24, 0x2001, V7));
        assert!(!must(R_JUMP24, 0x2000, 0) && !must(R_THM_JUMP24, 0x2001, 0));
        assert!(!must(R_THM_CALL, 0x2000, V5) && must(R_THM_JUMP24, 0x2000, V7));
        let label = Jump {
            kind: R_THM_JUMP24,
            here: 0x1000,
            target: 0x2000,
            is_function: false,
            callee: Callee::Own(0),
            features: V7,
        };
        assert!(!must_change(&label));
    }
}
