//! Thunks for calls of position-independent functions by code that is not so itself: such a function makes gp
//! from its own address, which it expects in t9.
//!
//! Specification: "MIPS non-PIC ABI" (CodeSourcery), "Calling position-independent functions".

use weld_common::thunks::{Form, Reach};

use super::code::*;
use super::types::*;
use super::{OTHER_MODE, OTHER_PIC};
use crate::address::Address;
use crate::arch::facts::{Branches, Callee, InstructionSets, Jump, Situation, Thunk, Write};

const REACH: Reach = Reach::both(1 << 27);

pub const fn branches(sets: &'static InstructionSets) -> Branches {
    Branches { types: &[(R_26, REACH), (R_PC26, REACH)], sets: Some(sets), ..Branches::NONE }
}

pub const fn sets<const BIG: bool, const WIDE: bool>() -> InstructionSets {
    InstructionSets {
        bias: |_, _| 0,
        asks_callee: true,
        from_zero: false,
        reach,
        state: |_| 0,
        next: |_, target| target,
        must_change: must_change::<WIDE>,
        is_second_only: |_| false,
        thunks: forms::<BIG, WIDE>,
    }
}

fn reach(kind: u32, _features: u32) -> Option<Reach> {
    match kind {
        // Of its region.
        R_26 => Some(Reach::EVERYTHING),
        R_PC26 => Some(REACH),
        _ => None,
    }
}

/// Whether the function wants its address in t9, or lies in another region than a jump.
fn must_change<const WIDE: bool>(jump: &Jump) -> bool {
    if jump.kind == R_26 && !is_in_region(jump.here, jump.target, WIDE) {
        return true;
    }
    match jump.callee {
        Callee::Own(other) => jump.is_function && other & OTHER_MODE == OTHER_PIC,
        Callee::Entry(_) | Callee::Unknown => false,
    }
}

fn forms<const BIG: bool, const WIDE: bool>(_state: u8, _situation: Situation) -> &'static [Thunk] {
    const {
        &[Thunk {
            prefix: "__LA25Thunk_",
            form: Form { size: if WIDE { 32 } else { 16 }, align: 16, reach: Reach::EVERYTHING },
            data: None,
            entry: 0,
            marks: &[],
            write: Write::Plain(write::<BIG, WIDE>),
        }]
    }
}

fn write<const BIG: bool, const WIDE: bool>(out: &mut [u8], _address: Address, target: Address) {
    let target = target.get();
    const JUMP: u32 = 0x0320_0009; // jalr zero, t9
    if !WIDE {
        return put_words::<BIG>(
            out,
            &[
                0x3c19_0000 | high(target), // lui t9, %hi(target)
                0x2739_0000 | low(target),  // addiu t9, t9, %lo(target)
                JUMP,
                0, // nop
            ],
        );
    }
    put_words::<BIG>(
        out,
        &[
            0x3c19_0000 | highest(target), // lui t9, %highest(target)
            0x6739_0000 | higher(target),  // daddiu t9, t9, %higher(target)
            0x0019_cc38,                   // dsll t9, t9, 16
            0x6739_0000 | high(target),    // daddiu t9, t9, %hi(target)
            0x0019_cc38,                   // dsll t9, t9, 16
            0x6739_0000 | low(target),     // daddiu t9, t9, %lo(target)
            JUMP,
            0, // nop
        ],
    );
}
