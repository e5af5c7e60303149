//! `e_flags`: which instructions code has, how it calls, and what of that goes together.
//!
//! Instruction sets are a tree: code of a set runs on processors with any set that extends it. Sets that have
//! only a smaller one in common do not go together.
//!
//! Specification: "System V ABI, MIPS RISC Processor Supplement" and the GNU extensions (`elf/mips.h`).

use super::{Abi, OTHER_MICRO, OTHER_MODE, OTHER_PIC, thunks};
use crate::arch::facts::FlagsClash;

const NOREORDER: u32 = 1;
const PIC: u32 = 2;
const CPIC: u32 = 4;
const XGOT: u32 = 8;
pub const ABI2: u32 = 0x20;
const MODE_32: u32 = 0x100;
const FP64: u32 = 0x200;
const NAN2008: u32 = 0x400;
const ABI: u32 = 0xf000;
pub const ABI_O32: u32 = 0x1000;
const ASES: u32 = 0x0f00_0000;
const MICROMIPS: u32 = 0x0200_0000;
const MIPS16: u32 = 0x0400_0000;
const SET: u32 = 0xf0ff_0000;

/// Instruction sets: number, what it is called, and the set that it extends.
const SETS: &[(u32, &str, u32)] = &[
    (0x0000_0000, "mips1", 0x0000_0000),
    (0x1000_0000, "mips2", 0x0000_0000),
    (0x2000_0000, "mips3", 0x1000_0000),
    (0x3000_0000, "mips4", 0x2000_0000),
    (0x4000_0000, "mips5", 0x3000_0000),
    (0x5000_0000, "mips32", 0x1000_0000),
    (0x6000_0000, "mips64", 0x4000_0000),
    (0x7000_0000, "mips32r2", 0x5000_0000),
    (0x8000_0000, "mips64r2", 0x6000_0000),
    (0x9000_0000, "mips32r6", 0x9000_0000),
    (0xa000_0000, "mips64r6", 0x9000_0000),
    (0x0081_0000, "r3900", 0x0000_0000),
    (0x1082_0000, "r4010", 0x1000_0000),
    (0x2083_0000, "vr4100", 0x2000_0000),
    (0x2085_0000, "r4650", 0x2000_0000),
    (0x2087_0000, "vr4120", 0x2083_0000),
    (0x2088_0000, "vr4111", 0x2083_0000),
    (0x2092_0000, "r5900", 0x2000_0000),
    (0x20a0_0000, "loongson2e", 0x2000_0000),
    (0x20a1_0000, "loongson2f", 0x2000_0000),
    (0x3091_0000, "vr5400", 0x3000_0000),
    (0x3098_0000, "vr5500", 0x3091_0000),
    (0x3099_0000, "rm9000", 0x3000_0000),
    (0x7093_0000, "interaptiv-mr2", 0x7000_0000),
    (0x608a_0000, "sb1", 0x6000_0000),
    (0x608c_0000, "xlr", 0x6000_0000),
    (0x808b_0000, "octeon", 0x8000_0000),
    (0x808d_0000, "octeon2", 0x808b_0000),
    (0x808e_0000, "octeon3", 0x808d_0000),
    (0x80a2_0000, "gs464", 0x8000_0000),
    (0x80a3_0000, "gs464e", 0x80a2_0000),
    (0x80a4_0000, "gs264e", 0x80a3_0000),
];

/// Sets for 64 bits that have all of one for 32, besides what the tree says.
const WIDE: &[(u32, u32)] = &[(0x6000_0000, 0x5000_0000), (0x8000_0000, 0x7000_0000)];

fn known(set: u32) -> Option<&'static (u32, &'static str, u32)> {
    SETS.iter().find(|known| known.0 == set)
}

fn name(set: u32) -> &'static str {
    known(set).map_or("of an unknown instruction set", |known| known.1)
}

/// Whether set `larger` has all instructions of set `smaller`.
fn extends(larger: u32, smaller: u32) -> bool {
    let mut set = larger;
    // The tree is less deep than this.
    for _ in 0..SETS.len() {
        let wide = WIDE.iter().find(|(wide, _)| *wide == set);
        if set == smaller || wide.is_some_and(|(_, narrow)| extends(*narrow, smaller)) {
            return true;
        }
        match known(set) {
            Some((_, _, parent)) if *parent != set => set = *parent,
            _ => return false,
        }
    }
    false
}

fn abi_name(flags: u32) -> &'static str {
    match flags & (ABI | ABI2) {
        0 | ABI_O32 => "O32",
        ABI2 => "N32",
        0x2000 => "O64",
        0x3000 => "EABI32",
        0x4000 => "EABI64",
        _ => "an unknown ABI",
    }
}

/// `e_flags` of the output so far and those of the next object, which may be its first.
pub fn join<const KIND: u8>(before: u32, next: u32) -> Result<u32, FlagsClash> {
    let expected = match Abi::of(KIND) {
        Abi::O32 => "O32",
        Abi::N32 => "N32",
        Abi::N64 => "N64",
    };
    let own = if KIND == Abi::N64 as u8 && next & (ABI | ABI2) == 0 { "N64" } else { abi_name(next) };
    if own != expected {
        return Err(FlagsClash::Convention { own, others: expected });
    }
    if KIND == Abi::N64 as u8 && next & MICROMIPS != 0 {
        return Err(FlagsClash::Unsupported("microMIPS code of the n64 ABI"));
    }
    if next & MIPS16 != 0 {
        return Err(FlagsClash::Unsupported("MIPS16 code"));
    }
    let (set, more) = (before & SET, next & SET);
    if known(more).is_none() {
        return Err(FlagsClash::Unsupported("code of an unknown instruction set"));
    }
    let set = match () {
        () if extends(more, set) => more,
        () if extends(set, more) => set,
        () => return Err(FlagsClash::Instructions { own: name(more), others: name(set) }),
    };
    if (before ^ next) & NAN2008 != 0 {
        let of = |flags: u32| if flags & NAN2008 != 0 { "-mnan=2008" } else { "-mnan=legacy" };
        return Err(FlagsClash::Convention { own: of(next), others: of(before) });
    }
    // Who can call position-independent code need not be so itself; code that is so can call it.
    let calls = |flags: u32| flags & CPIC != 0 || flags & PIC != 0;
    let pic = before & next & PIC;
    let cpic = if calls(before) && calls(next) { CPIC } else { 0 };
    let any = (before | next) & (NOREORDER | XGOT | ABI2 | MODE_32 | FP64 | NAN2008 | ABI | ASES);
    Ok(set | pic | cpic | any)
}

/// The bits of `st_other` that `e_flags` of an object imply for its function, which has `said`: it expects its address
/// in t9, unless it is MIPS16 code, or says something itself.
pub fn of_functions(flags: u32, said: u8) -> u8 {
    let is_open = matches!(said & OTHER_MODE, 0 | OTHER_MICRO);
    if flags & PIC != 0 && is_open { OTHER_PIC } else { 0 }
}

/// What `e_flags` of an object say of code that matters to thunks and to the PLT.
pub fn features(flags: u32) -> u32 {
    let micro = if flags & MICROMIPS != 0 { thunks::MICRO } else { 0 };
    let is_newest = matches!(flags >> 28, 9 | 10);
    let pic = if flags & PIC != 0 { thunks::PIC } else { 0 };
    micro | pic | if is_newest { thunks::RELEASE_6 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_extend_others() {
        assert!(extends(0x7000_0000, 0x1000_0000) && extends(0x8000_0000, 0x7000_0000));
        assert!(extends(0x8000_0000, 0x2000_0000) && extends(0x808e_0000, 0x5000_0000));
        assert!(extends(0xa000_0000, 0x9000_0000) && extends(0x7093_0000, 0x7000_0000));
        assert!(!extends(0x9000_0000, 0x0000_0000) && !extends(0x2000_0000, 0x5000_0000));
        assert!(!extends(0x7000_0000, 0x2000_0000));
    }

    #[test]
    fn flags_are_joined() {
        let join = join::<{ Abi::O32 as u8 }>;
        let r2 = 0x7000_1007;
        assert_eq!(join(r2, r2), Ok(r2));
        // Code that is not position-independent, of a smaller set.
        assert_eq!(join(r2, 0x1000_1004), Ok(0x7000_1005));
        assert_eq!(join(r2, 0x1000_1000), Ok(0x7000_1001));
        assert!(join(0x5000_1000, 0x2000_1000).unwrap_err().to_string().contains("mips3"));
        assert!(join(r2, 0x9000_1407).is_err(), "release 6");
        assert!(join(r2, r2 | NAN2008).is_err());
        assert_eq!(join(r2, r2 | MICROMIPS), Ok(r2 | MICROMIPS));
        assert!(super::join::<{ Abi::N64 as u8 }>(0x8000_0007, 0x8200_0007).is_err());
        assert!(join(r2, 0x7000_2007).is_err(), "O64");
        assert_eq!(join(r2, 0x7093_1007), Ok(0x7093_1007));
        let mips16 = join(r2, r2 | MIPS16).unwrap_err().to_string();
        assert_eq!(mips16, "has MIPS16 code (e_flags), which is not supported");
        assert!(super::join::<{ Abi::N64 as u8 }>(0x8000_0007, 0x8000_0007).is_ok());
    }
}
