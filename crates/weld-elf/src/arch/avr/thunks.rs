//! Thunks for functions whose addresses, in words, have more than 16 bits: pointers have those of jumps to
//! them, which lie in the first 128 KiB. Who has such an address may be anywhere.

use weld_common::thunks::{Form, Reach};

use super::code;
use super::types::*;
use crate::arch::facts::{Branches, Callee, InstructionSets, Jump, Thunk, Write};

/// What 16 bits reach, in bytes.
const NEAR: u64 = 1 << 17;

pub const BRANCHES: Branches = Branches {
    types: &[(R_AVR_LO8_LDI_GS, APART), (R_AVR_HI8_LDI_GS, APART), (R_AVR_16_PM, APART)],
    sets: Some(&SETS),
    ..Branches::NONE
};

/// How far apart thunks may lie.
const APART: Reach = Reach::both(NEAR);

const REACH: Reach = Reach { back: 0, ahead: NEAR - 1 };

static SETS: InstructionSets = InstructionSets {
    bias: |_, _| 0,
    asks_callee: false,
    from_zero: true,
    reach: |kind, _| if is_function(kind) { Some(REACH) } else { None },
    state: |_| 0,
    next: |_, target| target,
    must_change: |_| false,
    has_second_plt: |_| false,
    second: None,
    thunks: |_, _| &THUNKS,
};

static THUNKS: [Thunk; 1] = [Thunk {
    prefix: "__AVRThunk_",
    form: Form { size: 4, align: 2, reach: Reach::EVERYTHING },
    data: None,
    entry: 0,
    marks: &[],
    write: Write::Plain(|out, _, target| code::put_jump(out, target.get())),
}];

/// A use of a function's address.
pub fn jump(kind: u32, target: u64) -> Jump {
    Jump { kind, here: 0, target, is_function: false, callee: Callee::Own(0), features: 0 }
}
