//! Thunks: code between a branch and a function that is too far away, or that wants something of its caller
//! which the caller does not do.
//!
//! | caller | function | code |
//! |---|---|---|
//! | has a TOC | with the same | `b`, or its address from r2 into r12 and the counter |
//! | has a TOC | that leaves another one in r2 | `std r2, 24(r1)`, then the same |
//! | has none | that makes its TOC from r12 | its address by `paddi` into r12 and the counter |
//! | the same, for processors before Power10 | | its address by way of the link register |
//! | has none | that has none | `b`, or as before |
//! | has a TOC | of which only another name is known | its address from r2 into r12 and the counter |
//!
//! To what lies further away than halves or a prefixed instruction reach, r12 gets the distance from r2, or from the
//! thunk, as a number of 64 bits, to which that is added.
//!
//! r11 is kept for callers that have a TOC: it is the static chain of nested functions, and r0 is the link
//! register's value for functions that save registers.
//!
//! Specification: "64-Bit ELF V2 ABI Specification", 2.2.1 (register roles), 3.4.1 (`st_other`).

use weld_common::thunks::{Form, Reach};

use super::code::*;
use super::types::*;
use crate::address::Address;
use crate::arch::facts::{
    Branches, Callee, InstructionSets, Jump, Situation, Thunk, WITHOUT_PREFIXES, Write,
};

const FAR_REACH: Reach = Reach::both(1 << 25);
const NEAR_REACH: Reach = Reach::both(1 << 15);
/// How far addresses by halves reach from the TOC.
const FROM_TOC: Reach = Reach { back: (1 << 31) + 0x8000, ahead: (1 << 31) - 0x8000 };
/// The same from the start of a thunk, which is a little before the place that it counts from.
const HALVES_REACH: Reach = Reach::both((1 << 31) - 0x1_0000);
const PREFIXED_REACH: Reach = Reach::both(1 << 33);
/// How far a `b` after another instruction reaches from the start of both.
const SAVING_REACH: Reach = Reach::both((1 << 25) - 8);

pub const fn branches(sets: &'static InstructionSets) -> Branches {
    Branches {
        types: &[
            (R_PPC64_REL24, FAR_REACH),
            (R_PPC64_REL24_NOTOC, FAR_REACH),
            // Conditional branches reach less, and are rare: pools need not lie as near as they want them.
            (R_PPC64_REL24_P9NOTOC, FAR_REACH),
        ],
        sets: Some(sets),
        ..Branches::NONE
    }
}

pub const fn sets<const BIG: bool>() -> InstructionSets {
    InstructionSets {
        bias,
        asks_callee: true,
        from_zero: false,
        reach,
        state,
        next: |_, target| target,
        must_change,
        has_second_plt: |_| false,
        second: None,
        thunks: forms::<BIG>,
    }
}

/// `st_other` of a function that neither has a local entry nor keeps r2.
const LOSES_TOC: u8 = 1;

/// The upper bits of `st_other`.
const fn entry_code(other: u8) -> u8 {
    other >> 5
}

/// How far the local entry is after the global one.
const fn local_entry(other: u8) -> u64 {
    match entry_code(other) {
        code @ 2..=6 => 1 << code,
        _ => 0,
    }
}

/// How far after the address of what it calls a branch enters it: who has the TOC skips the code that makes
/// it, and takes the first way into an entry of the PLT.
pub fn bias(kind: u32, callee: Callee) -> u64 {
    match callee {
        _ if is_without_toc(kind) => 0,
        Callee::Entry(second) => second.wrapping_neg(),
        Callee::Own(other) => local_entry(other),
        Callee::Unknown(_) => 0,
    }
}

/// Whether r2 is another one after the call.
pub fn changes_toc(kind: u32, callee: Callee) -> bool {
    !is_without_toc(kind)
        && match callee {
            Callee::Entry(_) => true,
            Callee::Own(other) => entry_code(other) == LOSES_TOC,
            Callee::Unknown(_) => false,
        }
}

/// Whether the caller has to do something for the function.
pub fn must_change(jump: &Jump) -> bool {
    match jump.callee {
        Callee::Entry(_) => false,
        Callee::Unknown(_) => true,
        Callee::Own(other) if is_without_toc(jump.kind) => entry_code(other) > LOSES_TOC,
        Callee::Own(other) => entry_code(other) == LOSES_TOC,
    }
}

fn reach(kind: u32, _features: u32) -> Option<Reach> {
    Some(match kind {
        R_PPC64_REL24 | R_PPC64_REL24_NOTOC | R_PPC64_REL24_P9NOTOC => FAR_REACH,
        R_PPC64_REL14 => NEAR_REACH,
        _ => return None,
    })
}

/// The caller has no TOC; its processor may have no prefixes; something has to be done for the function.
const NO_TOC: u8 = 1;
const OLD: u8 = 2;
const CHANGES: u8 = 4;
/// What is called may be a function with two entries: it is called by the global one.
const UNKNOWN: u8 = 8;

fn state(jump: &Jump) -> u8 {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    bit(is_without_toc(jump.kind), NO_TOC)
        | bit(jump.kind == R_PPC64_REL24_P9NOTOC, OLD)
        | bit(must_change(jump), CHANGES)
        | bit(matches!(jump.callee, Callee::Unknown(_)), UNKNOWN)
}

const fn thunk(prefix: &'static str, size: u64, reach: Reach, write: Write) -> Thunk {
    Thunk { prefix, form: Form { size, align: 16, reach }, data: None, entry: 0, marks: &[], write }
}

const LONG: &str = "__long_branch_";
const SAVING: &str = "__toc_save_";
const SETTING: &str = "__gep_setup_";

/// `add r12, r12, REGISTER`
const fn add_to_r12(register: u32) -> u32 {
    0x7d8c_0214 | register << 11
}

/// What stands between a caller and a function of these states.
fn forms<const BIG: bool>(state: u8, situation: Situation) -> &'static [Thunk] {
    let old = state & OLD != 0 || situation.features & WITHOUT_PREFIXES != 0;
    let changes = state & CHANGES != 0;
    if state & (UNKNOWN | NO_TOC) == UNKNOWN {
        return const {
            &[
                thunk(SETTING, 16, FROM_TOC, Write::FromBase(far::<BIG>)),
                thunk(SETTING, 32, Reach::EVERYTHING, Write::FromBase(farther::<BIG>)),
            ]
        };
    }
    match (state & NO_TOC != 0, changes, old) {
        (false, false, _) => {
            const {
                &[
                    thunk(LONG, 4, FAR_REACH, Write::Plain(near::<BIG>)),
                    thunk(LONG, 16, FROM_TOC, Write::FromBase(far::<BIG>)),
                    thunk(LONG, 32, Reach::EVERYTHING, Write::FromBase(farther::<BIG>)),
                ] as &[Thunk]
            }
        }
        (false, true, _) => {
            const {
                &[
                    thunk(SAVING, 8, SAVING_REACH, Write::Plain(saving::<BIG>)),
                    thunk(SAVING, 20, FROM_TOC, Write::FromBase(saving_far::<BIG>)),
                    thunk(SAVING, 36, Reach::EVERYTHING, Write::FromBase(saving_farther::<BIG>)),
                ]
            }
        }
        (true, true, true) => {
            const {
                &[
                    thunk(SETTING, 32, HALVES_REACH, Write::Plain(by_link_register::<BIG>)),
                    thunk(SETTING, 48, Reach::EVERYTHING, Write::Plain(farther_by_link_register::<BIG>)),
                ]
            }
        }
        (true, true, false) => {
            const {
                &[
                    thunk(SETTING, 16, PREFIXED_REACH, Write::Plain(prefixed::<BIG>)),
                    thunk(SETTING, 40, Reach::EVERYTHING, Write::Plain(farther_prefixed::<BIG>)),
                ]
            }
        }
        (true, false, true) => {
            const {
                &[
                    thunk(LONG, 4, FAR_REACH, Write::Plain(near::<BIG>)),
                    thunk(LONG, 32, HALVES_REACH, Write::Plain(by_link_register::<BIG>)),
                    thunk(LONG, 48, Reach::EVERYTHING, Write::Plain(farther_by_link_register::<BIG>)),
                ]
            }
        }
        (true, false, false) => {
            const {
                &[
                    thunk(LONG, 4, FAR_REACH, Write::Plain(near::<BIG>)),
                    thunk(LONG, 16, PREFIXED_REACH, Write::Plain(prefixed::<BIG>)),
                    thunk(LONG, 40, Reach::EVERYTHING, Write::Plain(farther_prefixed::<BIG>)),
                ]
            }
        }
    }
}

/// What is said of calls where functions have descriptors: the caller has the same TOC as any function of the output,
/// and an entry of the PLT leaves another one.
pub mod by_descriptors {
    use super::*;

    pub const fn sets<const BIG: bool>() -> InstructionSets {
        InstructionSets {
            bias,
            must_change: |_| false,
            state: |_| 0,
            thunks: |_, _| forms_between::<BIG>(),
            ..super::sets::<BIG>()
        }
    }

    /// Functions have one way in.
    pub fn bias(_kind: u32, _callee: Callee) -> u64 {
        0
    }

    /// Whether r2 is another one after the call.
    pub fn changes_toc(callee: Callee) -> bool {
        matches!(callee, Callee::Entry(_))
    }

    fn forms_between<const BIG: bool>() -> &'static [Thunk] {
        const {
            &[
                thunk(LONG, 4, FAR_REACH, Write::Plain(near::<BIG>)),
                thunk(LONG, 16, FROM_TOC, Write::FromBase(far::<BIG>)),
                thunk(LONG, 32, Reach::EVERYTHING, Write::FromBase(farther::<BIG>)),
            ]
        }
    }
}

fn near<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    put_words::<BIG>(out, &[jump(address, target)]);
}

fn far<const BIG: bool>(out: &mut [u8], target: Address, base: Address) {
    let offset = target.wrapping_sub(base) as i64;
    put_words::<BIG>(
        out,
        &[d_form(ADDIS, R12, R2, ha(offset)), d_form(ADDI, R12, R12, lo(offset)), MTCTR_R12, BCTR],
    );
}

/// Sets r12 to a number of 64 bits.
fn set_r12(value: i64) -> [u32; 5] {
    let part = |shift: u32| lo(value >> shift);
    [
        d_form(ADDIS, R12, 0, part(48)),
        d_form(ORI, R12, R12, part(32)),
        0x798c_07c6, // sldi r12, r12, 32
        d_form(ORIS, R12, R12, part(16)),
        d_form(ORI, R12, R12, part(0)),
    ]
}

fn farther<const BIG: bool>(out: &mut [u8], target: Address, base: Address) {
    put_words::<BIG>(out, &set_r12(target.wrapping_sub(base) as i64));
    put_words::<BIG>(&mut out[20..], &[add_to_r12(R2), MTCTR_R12, BCTR]);
}

fn saving<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    put_words::<BIG>(out, &[SAVE_TOC | V2_SAVED_TOC, jump(address + 4, target)]);
}

fn saving_far<const BIG: bool>(out: &mut [u8], target: Address, base: Address) {
    put_words::<BIG>(out, &[SAVE_TOC | V2_SAVED_TOC]);
    far::<BIG>(&mut out[4..], target, base);
}

fn saving_farther<const BIG: bool>(out: &mut [u8], target: Address, base: Address) {
    put_words::<BIG>(out, &[SAVE_TOC | V2_SAVED_TOC]);
    farther::<BIG>(&mut out[4..], target, base);
}

fn prefixed<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    let distance = target.wrapping_sub(address) as i64;
    let [prefix, suffix] = with_34(PREFIX_PADDI, d_form(ADDI, R12, 0, 0), distance);
    put_words::<BIG>(out, &[prefix, suffix, MTCTR_R12, BCTR]);
}

fn farther_prefixed<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    put_words::<BIG>(out, &with_34(PREFIX_PADDI, d_form(ADDI, R11, 0, 0), 0));
    put_words::<BIG>(&mut out[8..], &set_r12(target.wrapping_sub(address) as i64));
    put_words::<BIG>(&mut out[28..], &[add_to_r12(R11), MTCTR_R12, BCTR]);
}

/// Sets r11 to the address of the third of these instructions.
const PLACE_TO_R11: [u32; 4] = [
    0x7d88_02a6, // mflr r12
    NEXT_TO_LR,
    0x7d68_02a6, // mflr r11
    0x7d88_03a6, // mtlr r12
];

fn by_link_register<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    let distance = target.wrapping_sub(address + 8) as i64;
    put_words::<BIG>(out, &PLACE_TO_R11);
    put_words::<BIG>(
        &mut out[16..],
        &[d_form(ADDIS, R12, R11, ha(distance)), d_form(ADDI, R12, R12, lo(distance)), MTCTR_R12, BCTR],
    );
}

fn farther_by_link_register<const BIG: bool>(out: &mut [u8], address: Address, target: Address) {
    put_words::<BIG>(out, &PLACE_TO_R11);
    put_words::<BIG>(&mut out[16..], &set_r12(target.wrapping_sub(address + 8) as i64));
    put_words::<BIG>(&mut out[36..], &[add_to_r12(R11), MTCTR_R12, BCTR]);
}
