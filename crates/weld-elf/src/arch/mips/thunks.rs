//! Thunks for calls of position-independent functions by code that is not so itself: such a function makes gp
//! from its own address, which it expects in t9. They are also used for what lies in another region than a jump, and
//! in release 6, which has no call that changes the instruction set, for code of the other one.
//!
//! A thunk is of the instruction set of what it goes to, which calls change to by themselves (`jalx`); in release 6 of
//! that of its callers. It branches to the address in t9, which says what is there.
//!
//! Specification: "MIPS non-PIC ABI" (CodeSourcery), "Calling position-independent functions".

use weld_common::thunks::{Form, Reach};

use super::code::*;
use super::types::*;
use super::{OTHER_MICRO, OTHER_MODE, OTHER_PIC, is_marked, is_mips16};
use crate::address::Address;
use crate::arch::facts::{Branches, Callee, InstructionSets, Jump, SecondSet, Situation, Thunk, Write};

/// How far calls of release 6 reach: from the instruction after them, which [`bias`] tells.
const REACH: Reach = Reach { back: (1 << 27) - 4, ahead: (1 << 27) + 4 };
const MICRO_REACH: Reach = Reach { back: (1 << 26) - 4, ahead: (1 << 26) + 4 };

/// Features: objects have microMIPS code; code is that of release 6.
pub const MICRO: u32 = 1;
pub const RELEASE_6: u32 = 2;
/// Some object's functions want their address in t9.
pub const PIC: u32 = 4;

pub const fn branches(sets: &'static InstructionSets) -> Branches {
    Branches {
        types: &[
            (R_26, REACH),
            (PIC_26, REACH),
            (R_PC26, REACH),
            (M_26, REACH),
            (M_PIC_26, REACH),
            (M_PC26, MICRO_REACH),
        ],
        sets: Some(sets),
        ..Branches::NONE
    }
}

pub const fn sets<const BIG: bool, const WIDE: bool>() -> InstructionSets {
    InstructionSets {
        bias: |kind, _| bias(kind),
        asks_callee: true,
        from_zero: false,
        reach,
        state,
        next: |_, target| target,
        must_change: must_change::<WIDE>,
        // Calls change to it, and loaders do.
        has_second_plt: |features| features & MICRO != 0,
        second: Some(SecondSet {
            is_marked,
            is_refused: is_mips16,
            refused: "MIPS16 code",
            other: OTHER_MICRO,
            advice: "only jal can; compile with -minterlink-compressed",
        }),
        thunks: forms::<BIG, WIDE>,
    }
}

/// Whether the thunk is microMIPS code.
fn state(jump: &Jump) -> u8 {
    let of_caller = jump.features & RELEASE_6 != 0;
    u8::from(if of_caller { is_micro(jump.kind) } else { jump.target & 1 != 0 })
}

/// How far after itself a call counts from, which its addend takes away.
pub const fn bias(kind: u32) -> u64 {
    if matches!(kind, R_PC26 | M_PC26) { 4 } else { 0 }
}

/// Whether a function with this `st_other` expects its address in t9.
fn wants_address(other: u8) -> bool {
    let mode = other & OTHER_MODE;
    mode == OTHER_PIC || mode == OTHER_PIC | OTHER_MICRO
}

fn reach(kind: u32, _features: u32) -> Option<Reach> {
    match kind {
        // Of its region.
        R_26 | PIC_26 | M_26 | M_PIC_26 => Some(Reach::EVERYTHING),
        R_PC26 => Some(REACH),
        M_PC26 => Some(MICRO_REACH),
        _ => None,
    }
}

/// Whether the function wants its address in t9, or lies in another region than a jump, or is code that a call does not
/// change to.
fn must_change<const WIDE: bool>(jump: &Jump) -> bool {
    let is_odd = jump.target & 1 != 0;
    let is_jump = matches!(jump.kind, R_26 | PIC_26 | M_26 | M_PIC_26);
    let region = (region_bits(jump.kind, is_odd), WIDE);
    if is_jump && !is_in_region(jump.here, jump.target, region) {
        return true;
    }
    if jump.features & RELEASE_6 != 0 && is_odd != is_micro(jump.kind) {
        return true;
    }
    match jump.callee {
        // It has the address in t9.
        _ if matches!(jump.kind, PIC_26 | M_PIC_26) => false,
        Callee::Own(other) => wants_address(other),
        // Another name for a function: it may be one that wants it.
        Callee::Unknown(other) => jump.features & PIC != 0 || wants_address(other),
        Callee::Entry(_) => false,
    }
}

const fn micro(write: fn(&mut [u8], Address, Address)) -> Thunk {
    let form = Form { size: 16, align: 16, reach: Reach::EVERYTHING };
    Thunk { prefix: "__microLA25Thunk_", form, data: None, entry: 1, marks: &[], write: Write::Plain(write) }
}

fn forms<const BIG: bool, const WIDE: bool>(state: u8, situation: Situation) -> &'static [Thunk] {
    if state != 0 {
        return match situation.features & RELEASE_6 != 0 {
            true => const { &[micro(write_micro::<BIG, true>)] },
            false => const { &[micro(write_micro::<BIG, false>)] },
        };
    }
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

/// microMIPS code. In release 6 the branch has no delay slot, and does not come to what follows it.
fn write_micro<const BIG: bool, const NEWEST: bool>(out: &mut [u8], _address: Address, target: Address) {
    let target = target.get();
    put_micro_words::<BIG>(
        out,
        &[
            micro_upper(NEWEST, 25, high(target)), // lui t9, %hi(target)
            0x3339_0000 | low(target),             // addiu t9, t9, %lo(target)
            0x0019_0f3c,                           // jalr zero, t9
            0,                                     // nop
        ],
    );
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
