//! `e_flags`: the processor, and what code assumes of two features. From version 4 of the code object on, code may
//! be for processors with a feature switched on, switched off, or for both; in version 6, of a generic processor, a
//! version of that follows.
//!
//! Specification: "User Guide for AMDGPU Backend", "ELF Header".

use crate::arch::facts::{FlagsClash, JoinFlags};

const PROCESSOR: u32 = 0xff;
const GENERIC: u32 = 0xff00_0000;
/// A feature: its field, and what says that code does not mind.
struct Feature {
    mask: u32,
    any: u32,
    /// Not supported, off, on.
    says: [&'static str; 3],
}

const FEATURES: [Feature; 2] = [
    Feature { mask: 0x300, any: 0x100, says: ["no XNACK", "XNACK off", "XNACK on"] },
    Feature { mask: 0xc00, any: 0x400, says: ["no SRAM ECC", "SRAM ECC off", "SRAM ECC on"] },
];

impl Feature {
    fn says(&self, flags: u32) -> &'static str {
        match (flags & self.mask) / self.any {
            0 => self.says[0],
            2 => self.says[1],
            _ => self.says[2],
        }
    }
}

/// How `e_flags` go together of objects of a version (`EI_ABIVERSION`), if that is known.
pub fn of_version(version: u8) -> Option<JoinFlags> {
    match version {
        0 | 1 => Some(same),
        2 | 3 => Some(joined),
        4 => Some(joined_generic),
        _ => None,
    }
}

fn same(before: u32, next: u32) -> Result<u32, FlagsClash> {
    if before == next { Ok(next) } else { Err(FlagsClash::Flags { own: next, others: before }) }
}

fn joined(before: u32, next: u32) -> Result<u32, FlagsClash> {
    if (before ^ next) & PROCESSOR != 0 {
        return Err(FlagsClash::Processors(next & PROCESSOR, before & PROCESSOR));
    }
    let mut flags = before & PROCESSOR;
    for feature in &FEATURES {
        let (own, others) = (next & feature.mask, before & feature.mask);
        // What there is not goes with nothing else.
        flags |= match () {
            () if own == others => own,
            () if own == feature.any && others != 0 => others,
            () if others == feature.any && own != 0 => own,
            () => {
                return Err(FlagsClash::Convention { own: feature.says(next), others: feature.says(before) });
            }
        };
    }
    Ok(flags)
}

fn joined_generic(before: u32, next: u32) -> Result<u32, FlagsClash> {
    if (before ^ next) & GENERIC != 0 {
        return Err(FlagsClash::Generic((next & GENERIC) >> 24, (before & GENERIC) >> 24));
    }
    Ok(joined(before, next)? | before & GENERIC)
}
