//! Thunks for branches whose targets are too far away: a jump with an extension, which reaches everything, wherever the
//! image is.
//!
//! Most branches reach 8 MiB; those of them that compare, or do something besides, less. For the latter, pools are opened
//! where they are.

use weld_common::thunks::{Form, Reach};

use super::code::far_jump;
use super::types::*;
use crate::arch::facts::{Branches, InstructionSets, Thunk, Write};
use crate::arch::words::put_words;

/// How far most reach, and so how far apart pools are.
const REACH: Reach = Reach::both(1 << 23);

pub const BRANCHES: Branches = Branches {
    types: &[
        (R_HEX_B22_PCREL, REACH),
        (R_HEX_PLT_B22_PCREL, REACH),
        (R_HEX_GD_PLT_B22_PCREL, REACH),
        (R_HEX_LD_PLT_B22_PCREL, REACH),
    ],
    sets: Some(&SETS),
    ..Branches::NONE
};

/// There is one instruction set, but not one reach.
static SETS: InstructionSets = InstructionSets {
    bias: |_, _| 0,
    asks_callee: false,
    from_zero: false,
    reach: |kind, _| reach(kind),
    state: |_| 0,
    next: |_, target| target,
    must_change: |_| false,
    has_second_plt: |_| false,
    second: None,
    thunks: |_, _| &THUNKS,
};

/// How far branches of a type reach; `None` if they reach everything, or are no branches.
pub const fn reach(kind: u32) -> Option<Reach> {
    match kind {
        R_HEX_B22_PCREL | R_HEX_PLT_B22_PCREL | R_HEX_GD_PLT_B22_PCREL | R_HEX_LD_PLT_B22_PCREL => {
            Some(REACH)
        }
        R_HEX_B15_PCREL => Some(Reach::both(1 << 16)),
        R_HEX_B13_PCREL => Some(Reach::both(1 << 14)),
        R_HEX_B9_PCREL => Some(Reach::both(1 << 10)),
        _ => None,
    }
}

static THUNKS: [Thunk; 1] = [Thunk {
    prefix: "__hexagon_thunk_",
    form: Form { size: 8, align: 4, reach: Reach::EVERYTHING },
    data: None,
    entry: 0,
    marks: &[],
    write: Write::Plain(|out, address, target| {
        put_words::<false>(out, &far_jump(target.wrapping_sub(address) as u32));
    }),
}];
