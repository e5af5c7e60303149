//! `.gnu.attributes` and `e_flags`: which extensions code uses, and in which order it expects memory to change.
//!
//! Specification: "GNU assembler", "SPARC" (`Tag_GNU_Sparc_HWCAPS`); "SPARC Compliance Definition" 2.4.1, 4P.

use crate::arch::attributes::{self, AttributesError, Kind};
use crate::arch::facts::FlagsClash;
use crate::elf::Format;
use crate::elf::format::{Class, Order};

pub const SECTION: &str = ".gnu.attributes";

/// As in [`crate::arch::facts::MergeAttributes`]: bits for what code uses of extensions.
pub fn merge(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let format = Format { class: Class::Elf64, order: Order::Big };
    attributes::merge_numbers(files, &Kind::gnu(SECTION), format, |_, a, b| Ok(a | b))
}

/// `e_flags`: how much the order may differ in which memory changes, and in which it was changed; 0 is not at
/// all.
const ORDER: u32 = 3;
const SUN_1: u32 = 0x200;
const HAL_1: u32 = 0x400;
const SUN_3: u32 = 0x800;

/// As in [`crate::arch::facts::JoinFlags`]. Code for a stricter order is wrong with a looser one.
pub fn flags(others: u32, own: u32) -> Result<u32, FlagsClash> {
    const SUN: &str = "extensions of UltraSPARC";
    const HAL: &str = "extensions of HAL";
    if own & ORDER == ORDER {
        return Err(FlagsClash::Unsupported("an unknown order of memory"));
    }
    let joined = others | own;
    if joined & HAL_1 != 0 && joined & (SUN_1 | SUN_3) != 0 {
        let (own, others) = if own & HAL_1 != 0 { (HAL, SUN) } else { (SUN, HAL) };
        return Err(FlagsClash::Instructions { own, others });
    }
    Ok(joined & !ORDER | (others & ORDER).min(own & ORDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_order_of_memory_is_asked_for() {
        assert_eq!(flags(0x202, 2), Ok(0x202));
        assert_eq!(flags(2, 0x800), Ok(0x800));
        assert_eq!(flags(0x200, 0x801), Ok(0xa00));
        assert!(flags(0x200, 0x400).is_err() && flags(0x400, 0x800).is_err());
        assert_eq!(flags(0, 3), Err(FlagsClash::Unsupported("an unknown order of memory")));
    }

    #[test]
    fn what_code_uses_is_joined() {
        let format = Format { class: Class::Elf64, order: Order::Big };
        let said = |list: &[u8]| attributes::section(list, b"gnu", format);
        let files = [("a.o".to_owned(), said(&[4, 8])), ("b.o".to_owned(), said(&[4, 2, 8, 1]))];
        let files: Vec<(String, &[u8])> = files.iter().map(|(name, of)| (name.clone(), &of[..])).collect();
        assert_eq!(merge(&files), Ok(said(&[4, 10, 8, 1])));
    }
}
