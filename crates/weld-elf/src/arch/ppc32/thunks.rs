//! Thunks: code between a branch and a function that is too far away.
//!
//! | images | code |
//! |---|---|
//! | all | `b` |
//! | at fixed addresses | the address into r12 and the counter |
//! | that may be moved | the same by way of the link register |
//!
//! r11 is kept: functions that save registers for others have an address there.

use weld_common::thunks::{Form, Reach};

use super::code::*;
use super::types::*;
use crate::address::Address;
use crate::arch::facts::{Branches, Thunk, Write};

const REACH: Reach = Reach::both(1 << 25);

pub const fn branches<const BIG: bool>() -> Branches {
    Branches {
        // Conditional branches reach less, and are rare: pools need not lie as near as they want them.
        types: &[(R_PPC_REL24, REACH), (R_PPC_PLTREL24, REACH), (R_PPC_LOCAL24PC, REACH)],
        fixed: fixed::<BIG>(),
        moving: moving::<BIG>(),
        fixed_unread: fixed::<BIG>(),
        moving_unread: moving::<BIG>(),
        jump: near::<BIG>,
        ..Branches::NONE
    }
}

const fn fixed<const BIG: bool>() -> &'static [Thunk] {
    const { &[thunk(4, REACH, near::<BIG>), thunk(16, Reach::EVERYTHING, far::<BIG>)] }
}

const fn moving<const BIG: bool>() -> &'static [Thunk] {
    const { &[thunk(4, REACH, near::<BIG>), thunk(32, Reach::EVERYTHING, by_link_register::<BIG>)] }
}

const fn thunk(size: u64, reach: Reach, write: fn(&mut [u8], Address, Address)) -> Thunk {
    Thunk {
        prefix: "__LongThunk_",
        form: Form { size, align: 4, reach },
        data: None,
        entry: 0,
        marks: &[],
        write: Write::Plain(write),
    }
}

fn near<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    put_word::<BIG>(out, 0, jump(address, target));
}

fn far<const BIG: bool>(out: &mut [u8], _address: Address, target: Address) {
    let target = target.get() as i64;
    put_words::<BIG>(out, &[lis(R12, ha(target)), d_form(ADDI, R12, R12, lo(target)), MTCTR_R12, BCTR]);
}

fn by_link_register<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    let distance = target.wrapping_sub(address + 8) as i64;
    put_words::<BIG>(
        out,
        &[
            MFLR_R0,
            NEXT_TO_LR,
            MFLR_R12,
            d_form(ADDIS, R12, R12, ha(distance)),
            d_form(ADDI, R12, R12, lo(distance)),
            MTLR_R0,
            MTCTR_R12,
            BCTR,
        ],
    );
}
