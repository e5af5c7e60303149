//! `e_flags`: the family of processors that code is for. Families do not go together, as in ld.lld.

use crate::arch::facts::FlagsClash;

const FAMILY: u32 = 0x7f;
/// Code may be made shorter: differences are marked.
const RELAX: u32 = 0x80;

const FAMILIES: &[(u32, &str)] = &[
    (1, "avr1"),
    (2, "avr2"),
    (25, "avr25"),
    (3, "avr3"),
    (31, "avr31"),
    (35, "avr35"),
    (4, "avr4"),
    (5, "avr5"),
    (51, "avr51"),
    (6, "avr6"),
    (100, "avrtiny"),
    (101, "avrxmega1"),
    (102, "avrxmega2"),
    (103, "avrxmega3"),
    (104, "avrxmega4"),
    (105, "avrxmega5"),
    (106, "avrxmega6"),
    (107, "avrxmega7"),
];

fn name(flags: u32) -> &'static str {
    let known = FAMILIES.iter().find(|(number, _)| *number == flags & FAMILY);
    known.map_or("an unknown family of processors", |(_, name)| name)
}

/// `e_flags` of the output so far and those of the next object, which may be its first.
pub fn join(before: u32, next: u32) -> Result<u32, FlagsClash> {
    match (before ^ next) & FAMILY {
        0 => Ok(before & (next | !RELAX)),
        _ => Err(FlagsClash::Instructions { own: name(next), others: name(before) }),
    }
}

/// Whether an object is for processors with at most 8 KiB of code.
pub fn is_small(flags: u32) -> bool {
    matches!(flags & FAMILY, 2 | 25 | 4)
}
