//! Range-extension thunks.
//!
//! | form | bytes | reach |
//! |---|---|---|
//! | `b` | 4 | 128 MiB, like the branch itself; but from a place that is nearer |
//! | `pcaddu18i`, `jirl` | 8 | 128 GiB |
//! | `pcaddu12i`, `jirl` where addresses have 32 bits | 8 | everything |
//!
//! They use t0, which calls lose.
//!
//! Specification: "Procedure Call Standard for the LoongArch Architecture", temporary registers.

use weld_common::thunks::{Form, Reach};

use super::code::*;
use super::types::R_B26;
use crate::address::Address;
use crate::arch::facts::{Branches, Thunk, Write};

/// How far `b` and `bl` reach.
pub const REACH: Reach = Reach::both(1 << 27);

pub const fn branches(wide: bool) -> Branches {
    let thunks = if wide { &WIDE } else { &NARROW };
    Branches {
        types: &[(R_B26, REACH)],
        fixed: thunks,
        moving: thunks,
        fixed_unread: thunks,
        moving_unread: thunks,
        jump: write_near,
        ..Branches::NONE
    }
}

const NAME: &str = "__LoongArchThunk_";

static WIDE: [Thunk; 2] = [NEAR, thunk(8, Reach::both((1 << 37) - (1 << 17)), write_far)];
static NARROW: [Thunk; 2] = [NEAR, thunk(8, Reach::EVERYTHING, write_anywhere)];

const NEAR: Thunk = thunk(4, REACH, write_near);

const fn thunk(size: u64, reach: Reach, write: fn(&mut [u8], Address, Address)) -> Thunk {
    Thunk {
        prefix: NAME,
        form: Form { size, align: 4, reach },
        data: None,
        entry: 0,
        marks: &[],
        write: Write::Plain(write),
    }
}

fn write_near(out: &mut [u8], address: Address, target: Address) {
    put_instruction(out, 0, branch(B, target.wrapping_sub(address) as i64));
}

fn write_far(out: &mut [u8], address: Address, target: Address) {
    let distance = target.wrapping_sub(address) as i64;
    put_instruction(out, 0, pcaddu18i(T0, distance));
    put_instruction(out, 4, jump_register(ZERO, T0, distance));
}

fn write_anywhere(out: &mut [u8], address: Address, target: Address) {
    let distance = target.wrapping_sub(address) as i64;
    put_instruction(out, 0, pcaddu12i(T0, distance));
    // The lower half with its sign.
    put_instruction(out, 4, jump_register(ZERO, T0, (distance << 52) >> 52));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(&mut [u8], Address, Address), address: Address, target: Address) -> [u32; 2] {
        let mut out = [0; 8];
        write(&mut out, address, target);
        [instruction(&out, 0).unwrap(), instruction(&out, 4).unwrap()]
    }

    #[test]
    fn thunks_jump() {
        // b .-4
        assert_eq!(written(write_near, Address::new(0x1004), Address::new(0x1000))[0], 0x53ff_ffff);
        // pcaddu18i $t0, 1; jirl $zero, $t0, -0x20000
        assert_eq!(
            written(write_far, Address::new(0x1000), Address::new(0x2_1000)),
            [0x1e00_002c, 0x4e00_0180]
        );
        // pcaddu12i $t0, 1; jirl $zero, $t0, -0x800
        assert_eq!(
            written(write_anywhere, Address::new(0x1000), Address::new(0x1800)),
            [0x1c00_002c, 0x4ff8_0180]
        );
    }
}
