//! Branches that some Cortex-A8 processors execute wrongly (`--fix-cortex-a8`).
//!
//! Erratum 657417: a Thumb branch of 32 bits (`b.w`, also conditional, `bl`, `blx`) whose halves are in two pages of
//! 4 KiB, after an instruction of 32 bits that is no branch, goes to another address than it says if that is in the
//! page of its first half.
//!
//! It goes to a branch somewhere else, which goes where it went. That is Thumb code, but ARM code where `blx` goes.
//!
//! Source: "Cortex-A8 Errata Notice" (657417); encodings: "Arm Architecture Reference Manual", A6.3 (32-bit Thumb
//! instruction encoding).

use super::code::{self, Branch};
use super::thunks::{ARM_REACH, THUMB_REACH, arm_near, thumb_near};
use super::types::*;
use crate::address::Address;
use crate::arch::facts::{Cure, Detour, Errata, Erratum};

pub const fn errata<const BIG: bool>() -> Errata {
    Errata {
        list: if BIG { &LIST_BIG } else { &LIST },
        is_code: |name| Some(code::unit(name)? == 2),
        cure: Cure::Detour(Detour {
            is_whole: is_whole::<BIG>,
            read: read::<BIG>,
            is_affected: |here, target| is_in_page(here, target),
            reaches,
            redirect: redirect::<BIG>,
            write: write::<BIG>,
            mark: |target| if is_thumb(target) { "$t" } else { "$a" },
            own_mark: "$t",
        }),
    }
}

static LIST: [Erratum; 1] = [cortex_a8::<false>()];
static LIST_BIG: [Erratum; 1] = [cortex_a8::<true>()];

const fn cortex_a8<const BIG: bool>() -> Erratum {
    Erratum { option: "--fix-cortex-a8", prefix: "__CortexA8657417_", find: find::<BIG> }
}

const PAGE: u64 = 0x1000;

fn is_thumb(target: Address) -> bool {
    target.get() & 1 != 0
}

fn is_in_page(here: Address, target: Address) -> bool {
    here.get() & !(PAGE - 1) == target.get() & !(PAGE - 1)
}

/// Whether a Thumb instruction that begins so has 32 bits.
fn is_long(half: u16) -> bool {
    half >> 11 >= 0b11101
}

fn is_whole<const BIG: bool>(code: &[u8]) -> bool {
    let mut at = 0;
    while let Some(half) = code::half::<BIG>(code, at) {
        at += if is_long(half) { 4 } else { 2 };
    }
    at == code.len()
}

fn find<const BIG: bool>(code: &[u8], address: Address, found: &mut dyn FnMut(usize, usize)) {
    let mut branch = (PAGE - 2).wrapping_sub(address.get()) % PAGE;
    while branch + 4 <= code.len() as u64 {
        let at = branch as usize;
        if at >= 4
            && code::half::<BIG>(code, at - 4).is_some_and(is_long)
            && kind::<BIG>(code, at - 4).is_none()
            && kind::<BIG>(code, at).is_some()
        {
            found(at - 4, at);
        }
        branch += PAGE;
    }
}

/// The type of a relocation for the branch of 32 bits at `at`; `None` if it is another instruction.
fn kind<const BIG: bool>(code: &[u8], at: usize) -> Option<u32> {
    let code = code::thumb::<BIG>(code, at)?;
    match code & 0xf800_d000 {
        // The condition says if it is no branch.
        0xf000_8000 => (code >> 23 & 7 != 7).then_some(R_THM_JUMP19),
        0xf000_9000 => Some(R_THM_JUMP24),
        0xf000_c000 => (code & 1 == 0).then_some(R_THM_CALL),
        0xf000_d000 => Some(R_THM_CALL),
        _ => None,
    }
}

fn read<const BIG: bool>(code: &[u8], here: Address) -> Option<(u32, Address)> {
    let kind = kind::<BIG>(code, 0)?;
    let distance = code::implicit_addend::<BIG>(kind, code)?;
    let exchanges = code::exchanges::<BIG>(kind, code, 0);
    // `blx` counts from the word that it lies in.
    let from = if exchanges { here.get() & !3 } else { here.get() };
    let target = from.wrapping_add(4).wrapping_add(distance as u64) & 0xffff_ffff;
    Some((kind, Address::new(if exchanges { target & !3 } else { target | 1 })))
}

fn reaches(here: Address, target: Address) -> bool {
    let reach = if is_thumb(target) { THUMB_REACH } else { ARM_REACH };
    reach.has(here.get(), target.get() & !1)
}

fn redirect<const BIG: bool>(code: [u8; 4], here: Address, target: Address) -> [u8; 4] {
    let mut out = code;
    if let Some(kind) = kind::<BIG>(&code, 0) {
        let distance = i64::from(target.wrapping_sub(here) as i32 - 4);
        let branch = Branch { distance, to_thumb: Some(is_thumb(target)), here: here.get() };
        let done = code::put_branch::<BIG>(kind, &mut out, 0, branch);
        debug_assert!(done.is_ok(), "it was found to reach");
    }
    out
}

fn write<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    if is_thumb(target) {
        thumb_near::<BIG>(out, address, target)
    } else {
        arm_near::<BIG>(out, address, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u16 = 0xbf00;
    const NOP_W: [u16; 2] = [0xf3af, 0x8000];
    /// To itself, less 4: `b.w`, `beq.w`, `bl`.
    const B: [u16; 2] = [0xf7ff, 0xbffc];
    const BEQ: [u16; 2] = [0xf43f, 0xaffc];
    const BL: [u16; 2] = [0xf7ff, 0xfffc];
    /// `blx` from the last half word of a page to that at 0xff8.
    const BLX: [u16; 2] = [0xf7ff, 0xeffc];

    fn bytes(code: &[&[u16]]) -> Vec<u8> {
        code.concat().iter().flat_map(|half| half.to_le_bytes()).collect()
    }

    fn found(address: u64, code: &[&[u16]]) -> Vec<(usize, usize)> {
        let mut list = Vec::new();
        find::<false>(&bytes(code), Address::new(address), &mut |first, last| list.push((first, last)));
        list
    }

    #[test]
    fn branches_over_the_end_of_a_page() {
        for branch in [B, BEQ, BL, BLX] {
            assert_eq!(found(0x1ffa, &[&NOP_W, &branch]), [(0, 4)], "{branch:x?}");
            assert_eq!(found(0xff8, &[&[NOP], &NOP_W, &branch]), [(2, 6)]);
            assert_eq!(found(0xffa, &[&[NOP, NOP], &branch]), []);
            assert_eq!(found(0xffa, &[&B, &branch]), []);
            assert_eq!(found(0xffc, &[&NOP_W, &branch]), []);
            assert_eq!(found(0xff8, &[&NOP_W, &branch]), []);
            assert_eq!(found(0xffe, &[&branch]), []);
        }
        // A hint and `bx`, which have no distance.
        assert_eq!(found(0xffa, &[&NOP_W, &NOP_W]), []);
        assert_eq!(found(0xffa, &[&NOP_W, &[0x4770, NOP]]), []);
        let mut many = vec![NOP; 3 * 2048];
        many[5..9].copy_from_slice(&[NOP_W, B].concat());
        many[5 + 4096..9 + 4096].copy_from_slice(&[NOP_W, BL].concat());
        assert_eq!(found(0x1ff0, &[&many]), [(10, 14), (10 + 8192, 14 + 8192)]);
    }

    #[test]
    fn where_branches_go() {
        let read = |code: [u16; 2]| read::<false>(&bytes(&[&code]), Address::new(0x1ffe));
        assert_eq!(read(B), Some((R_THM_JUMP24, Address::new(0x1ffb))));
        assert_eq!(read(BEQ), Some((R_THM_JUMP19, Address::new(0x1ffb))));
        assert_eq!(read(BL), Some((R_THM_CALL, Address::new(0x1ffb))));
        assert_eq!(read(BLX), Some((R_THM_CALL, Address::new(0x1ff8))));
        assert_eq!(read(NOP_W), None);
    }

    #[test]
    fn branches_keep_their_conditions_and_change_instruction_sets() {
        let here = Address::new(0x1ffe);
        let to = |code: [u16; 2], target: u64| {
            let code = bytes(&[&code]).try_into().unwrap();
            let code = redirect::<false>(code, here, Address::new(target));
            assert_eq!(read::<false>(&code, here).unwrap().1, Address::new(target));
            [u16::from_le_bytes([code[0], code[1]]), u16::from_le_bytes([code[2], code[3]])]
        };
        assert_eq!(to(B, 0x3005), [0xf001, 0xb801]);
        assert_eq!(to(BEQ, 0x3005), [0xf001, 0x8001]);
        assert_eq!(to(BL, 0x3005), [0xf001, 0xf801]);
        assert_eq!(to(BL, 0x3004), to(BLX, 0x3004));
        assert_eq!(to(BLX, 0x3005), to(BL, 0x3005));
    }

    #[test]
    fn instructions_are_counted() {
        assert!(is_whole::<false>(&bytes(&[&NOP_W, &[NOP]])) && is_whole::<false>(&[]));
        assert!(!is_whole::<false>(&bytes(&[&[NOP, 0xf3af]])));
        assert!(!is_whole::<false>(&[0]));
    }

    #[test]
    fn pages() {
        let is_affected = |target| is_in_page(Address::new(0x1ffe), Address::new(target));
        assert!(is_affected(0x1001) && is_affected(0x1fff) && !is_affected(0xfff) && !is_affected(0x2001));
    }
}
