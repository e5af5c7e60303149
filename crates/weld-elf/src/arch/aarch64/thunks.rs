//! Range-extension thunks: code that makes an address in x16, which calls lose, and jumps there.
//!
//! | form | bytes | reach |
//! |---|---|---|
//! | `b` | 4 | 128 MiB, like the branch itself; but from a place that is nearer |
//! | `adrp`, `add`, `br` | 12 | 4 GiB |
//! | `ldr` of a word with the address, `br` | 16 | everything, where addresses are fixed |
//! | `ldr` of a word with the distance, `adr`, `add`, `br` | 24 | everything |
//! | `movz`, three `movk`, `br` | 20 | everything, where addresses are fixed and code cannot be read |
//! | `movz`, three `movk`, `adr`, `add`, `br` | 28 | everything, where code cannot be read |
//!
//! Which branches have one, and where it lies, is decided in `synth/thunks`.
//!
//! Words are data, in the byte order of data.
//!
//! Specification: AAELF64, "Call and Jump relocations"; "Procedure Call Standard for the Arm 64-bit
//! Architecture", IP0 and IP1.

use weld_common::thunks::{Form, Reach};

use super::code::*;
use super::types::{R_CALL26, R_JUMP26};
use crate::address::Address;
use crate::arch::facts::{self, Branches, LandingPad, Thunk};

/// How far `b` and `bl` reach.
const REACH: Reach = Reach::both(1 << 27);
/// How far `adrp` and `add` reach from any place in a page, less what a landing pad may be away from its
/// target.
const PAGES_REACH: Reach = Reach::both((1 << 32) - 0x1000 - REACH.back);

/// `b .`
const BRANCH: u32 = 0x1400_0000;
/// `ldr x16, .+8`
const LOAD_NEXT: u32 = 0x5800_0050;
/// `ldr x16, .+16; adr x17, .-4; add x16, x16, x17`
const ADD_DISTANCE: [u32; 3] = [0x5800_0090, 0x10ff_fff1, 0x8b11_0210];

/// `adr x17, .-16`
const ADR_START: u32 = 0x10ff_ff91;

const FIXED: &str = "__AArch64AbsLongThunk_";
const MOVING: &str = "__AArch64ADRPThunk_";
const FAR: &str = "__AArch64RelLongThunk_";

pub const fn branches(big: bool) -> Branches {
    Branches {
        types: &[(R_CALL26, REACH), (R_JUMP26, REACH)],
        fixed: if big { &BIG_FIXED } else { &LITTLE_FIXED },
        moving: if big { &BIG_MOVING } else { &LITTLE_MOVING },
        fixed_unread: &FIXED_UNREAD,
        moving_unread: &MOVING_UNREAD,
        jump: write_near,
        landing: Some(LandingPad { code: LANDING, is_marked }),
        errata: Some(super::errata::ERRATA),
        code_mark: Some("$x"),
        data_mark: "$d",
        sets: None,
    }
}

static LITTLE_FIXED: [Thunk; 2] = [near(FIXED), absolute(write_absolute::<false>)];
static BIG_FIXED: [Thunk; 2] = [near(FIXED), absolute(write_absolute::<true>)];
static LITTLE_MOVING: [Thunk; 3] = [near(MOVING), BY_PAGES, relative(write_relative::<false>)];
static BIG_MOVING: [Thunk; 3] = [near(MOVING), BY_PAGES, relative(write_relative::<true>)];

static FIXED_UNREAD: [Thunk; 2] =
    [near(FIXED), code("__AArch64AbsXOLongThunk_", 20, Reach::EVERYTHING, write_moves)];
static MOVING_UNREAD: [Thunk; 3] =
    [near(MOVING), BY_PAGES, code("__AArch64RelXOLongThunk_", 28, Reach::EVERYTHING, write_relative_moves)];

const fn code(prefix: &'static str, size: u64, reach: Reach, write: Write) -> Thunk {
    Thunk {
        prefix,
        form: Form { size, align: 4, reach },
        data: None,
        entry: 0,
        marks: &[],
        write: facts::Write::Plain(write),
    }
}

const fn near(prefix: &'static str) -> Thunk {
    code(prefix, 4, REACH, write_near)
}

const BY_PAGES: Thunk = code(MOVING, 12, PAGES_REACH, write_page_jump);

/// `bti c; b …`
const LANDING: Thunk = code("__AArch64BTIThunk_", 8, REACH, write_landing);

fn write_page_jump(out: &mut [u8], address: Address, target: Address) {
    put_page_jump(out, address.get(), target.get());
}

fn write_landing(out: &mut [u8], address: Address, target: Address) {
    put_instruction(out, 0, BTI_C);
    write_near(&mut out[4..], address + 4, target);
}

/// `bti c`, `bti jc`, `paciasp` and `pacibsp`: where `br x16` may end.
fn is_marked(code: &[u8]) -> bool {
    matches!(instruction(code, 0), Some(BTI_C | 0xd503_24df | 0xd503_233f | 0xd503_237f))
}

type Write = fn(&mut [u8], Address, Address);

const fn absolute(write: Write) -> Thunk {
    Thunk {
        prefix: FIXED,
        form: Form { size: 16, align: 8, reach: Reach::EVERYTHING },
        data: Some(8),
        entry: 0,
        marks: &[],
        write: facts::Write::Plain(write),
    }
}

const fn relative(write: Write) -> Thunk {
    Thunk {
        prefix: FAR,
        form: Form { size: 24, align: 8, reach: Reach::EVERYTHING },
        data: Some(16),
        entry: 0,
        marks: &[],
        write: facts::Write::Plain(write),
    }
}

fn write_near(out: &mut [u8], address: Address, target: Address) {
    put_instruction(out, 0, BRANCH);
    // Layout has seen to it that it reaches.
    _ = put_branch(out, 0, target.wrapping_sub(address) as i64);
}

fn write_absolute<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    put_instruction(out, 0, LOAD_NEXT);
    put_instruction(out, 4, BR_X16);
    put_word::<BIG>(&mut out[8..16], target.get());
}

fn write_relative<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    for (i, code) in ADD_DISTANCE.into_iter().chain([BR_X16]).enumerate() {
        put_instruction(out, 4 * i, code);
    }
    put_word::<BIG>(&mut out[16..24], target.wrapping_sub(address));
}

/// `movz`, `movk`, `movk`, `movk` of x16.
fn put_moves(out: &mut [u8], value: u64) {
    const MOVZ_X16: u32 = 0xd280_0010;
    const MOVK_X16: u32 = 0xf280_0010;
    for part in 0..4u32 {
        let code = if part == 0 { MOVZ_X16 } else { MOVK_X16 };
        let bits = (value >> (16 * part)) as u32 & 0xffff;
        put_instruction(out, 4 * part as usize, code | part << 21 | bits << 5);
    }
}

fn write_moves(out: &mut [u8], _address: Address, target: Address) {
    put_moves(out, target.get());
    put_instruction(out, 16, BR_X16);
}

fn write_relative_moves(out: &mut [u8], address: Address, target: Address) {
    put_moves(out, target.wrapping_sub(address));
    put_instruction(out, 16, ADR_START);
    put_instruction(out, 20, ADD_DISTANCE[2]);
    put_instruction(out, 24, BR_X16);
}

fn put_word<const BIG: bool>(out: &mut [u8], value: u64) {
    out.copy_from_slice(&if BIG { value.to_be_bytes() } else { value.to_le_bytes() });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(thunk: &Thunk, address: Address, target: Address) -> Vec<u8> {
        let mut out = vec![0xee; thunk.form.size as usize];
        thunk.put(&mut out, address, target, Address::ZERO);
        out
    }

    fn code(thunk: &Thunk, address: Address, target: Address) -> Vec<u32> {
        let words = written(thunk, address, target);
        words.chunks_exact(4).map(|code| u32::from_le_bytes(code.try_into().unwrap())).collect()
    }

    #[test]
    fn thunks_go_on_to_their_target() {
        let (fixed, moving) = (branches(false).fixed, branches(false).moving);
        assert_eq!(code(&fixed[0], Address::new(0x1000), Address::new(0xff8)), [0x17ff_fffe]);
        assert_eq!(code(&moving[0], Address::new(0x1000), Address::new(0x1008)), [0x1400_0002]);
        assert_eq!(
            code(&fixed[1], Address::new(0x1000), Address::new(0x12_3456_789c)),
            [0x5800_0050, 0xd61f_0200, 0x3456_789c, 0x12]
        );
        // adrp x16, +2 pages; add x16, x16, #0x9c
        assert_eq!(
            code(&moving[1], Address::new(0x1ff8), Address::new(0x309c)),
            [0xd000_0010, 0x9102_7210, 0xd61f_0200]
        );
        // ldr x16, .+16; adr x17, .-4 (the thunk); add x16, x16, x17
        let far = code(&moving[2], Address::new(0x1000), Address::new(0x900));
        assert_eq!(far, [0x5800_0090, 0x10ff_fff1, 0x8b11_0210, 0xd61f_0200, 0xffff_f900, 0xffff_ffff]);
    }

    #[test]
    fn code_that_is_not_read_has_no_data() {
        let (fixed, moving) = (branches(false).fixed_unread, branches(false).moving_unread);
        assert!(fixed.iter().chain(moving).all(|thunk| thunk.data.is_none()));
        let moves = [
            0xd280_0010 | 0x4444 << 5,
            0xf2a0_0010 | 0x3333 << 5,
            0xf2c0_0010 | 0x2222 << 5,
            0xf2e0_0010 | 0x1111 << 5,
        ];
        assert_eq!(
            code(&fixed[1], Address::new(0x1000), Address::new(0x1111_2222_3333_4444)),
            [&moves[..], &[0xd61f_0200]].concat()
        );
        // adr x17, .-16 (the thunk); add x16, x16, x17; br x16
        let far = code(&moving[2], Address::new(0x1000), Address::new(0x1111_2222_3333_5444));
        assert_eq!(far, [&moves[..], &[0x10ff_ff91, 0x8b11_0210, 0xd61f_0200]].concat());
    }

    #[test]
    fn indirect_branches_end_at_marks() {
        let landing = branches(false).landing.unwrap();
        assert_eq!(
            code(&landing.code, Address::new(0x1000), Address::new(0x1000)),
            [0xd503_245f, 0x17ff_ffff]
        );
        let is_marked = |code: u32| (landing.is_marked)(&code.to_le_bytes());
        assert!([0xd503_245f, 0xd503_24df, 0xd503_233f, 0xd503_237f].into_iter().all(is_marked));
        // bti; bti j; nop
        assert!(![0xd503_241f, 0xd503_249f, 0xd503_201f].into_iter().any(is_marked));
        assert!(!(landing.is_marked)(&[]));
    }

    #[test]
    fn words_have_the_order_of_data() {
        let (fixed, moving) = (branches(true).fixed, branches(true).moving);
        assert_eq!(
            written(&fixed[1], Address::ZERO, Address::new(0x1234))[6..],
            [0x1f, 0xd6, 0, 0, 0, 0, 0, 0, 0x12, 0x34]
        );
        assert_eq!(written(&moving[2], Address::ZERO, Address::new(1))[14..18], [0x1f, 0xd6, 0, 0]);
        assert_eq!(written(&moving[2], Address::ZERO, Address::new(1))[23], 1);
    }

    #[test]
    fn later_forms_reach_further() {
        for big in [false, true] {
            let branches = branches(big);
            for forms in [branches.fixed, branches.moving, branches.fixed_unread, branches.moving_unread] {
                assert!(
                    forms.is_sorted_by(
                        |a, b| a.form.reach.back < b.form.reach.back && a.form.size < b.form.size
                    )
                );
                assert_eq!(forms[forms.len() - 1].form.reach, Reach::EVERYTHING);
            }
        }
    }
}
