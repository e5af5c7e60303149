//! `.hexagon.attributes` and `e_flags`: for which versions of the processor code is, and which of its extensions it uses.
//!
//! Specification: LLVM's `HexagonAttributes.h`; "Qualcomm Hexagon Application Binary Interface User Guide", 11.2, for
//! `e_flags`.

use crate::arch::attributes::{self, AttributesError, Kind};
use crate::arch::facts::FlagsClash;
use crate::elf::Format;
use crate::elf::format::{Class, Order};

pub const SECTION: &str = ".hexagon.attributes";
const KIND: Kind = Kind { section: SECTION, vendor: b"hexagon", known: Some(4..=10) };
const FORMAT: Format = Format { class: Class::Elf32, order: Order::Little };

/// Versions of the processor and of its vectors; other numbers say whether an extension is used.
const ARCH: u64 = 4;
const HVXARCH: u64 = 5;

/// As in [`crate::arch::facts::MergeAttributes`].
pub fn merge(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    attributes::merge_numbers(files, &KIND, FORMAT, |tag, a, b| {
        Ok(if matches!(tag, ARCH | HVXARCH) { a.max(b) } else { a | b })
    })
}

/// As in [`crate::arch::facts::JoinFlags`]: later processors execute what is for earlier ones.
pub fn flags(others: u32, own: u32) -> Result<u32, FlagsClash> {
    Ok(others.max(own))
}

/// `e_flags` of a program of which no object says for which processor it is: V68, as LLVM's tools take it.
pub fn output_flags(flags: u32, _features: u32) -> u32 {
    if flags == 0 { 0x68 } else { flags }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(list: &[u8]) -> Vec<u8> {
        attributes::section(list, KIND.vendor, FORMAT)
    }

    fn merged(lists: &[&[u8]]) -> Result<Vec<u8>, String> {
        let files: Vec<Vec<u8>> = lists.iter().map(|list| said(list)).collect();
        let files: Vec<(String, &[u8])> =
            files.iter().enumerate().map(|(i, file)| (format!("{i}.o"), &file[..])).collect();
        merge(&files).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn the_latest_version_and_all_extensions() {
        let lists: [&[u8]; 3] = [&[4, 68, 5, 73, 6, 1], &[4, 73, 5, 68, 9, 1], &[7, 0, 10, 1]];
        assert_eq!(merged(&lists), Ok(said(&[4, 73, 5, 73, 6, 1, 9, 1, 10, 1])));
        assert_eq!(merged(&[&[], &[8, 0]]), Ok(Vec::new()));
        // What nobody knows is a number or a text, and is left out.
        assert_eq!(merged(&[&[4, 68, 34, 7, 35, b'x', 0, 9, 1]]), Ok(said(&[4, 68, 9, 1])));
        assert!(merged(&[&[11, 1]]).is_err());
    }

    #[test]
    fn damage_is_told() {
        let whole = said(&[4, 68]);
        for cut in 2..whole.len() {
            assert!(merge(&[("a.o".to_owned(), &whole[..cut])]).is_err(), "{cut}");
        }
    }

    #[test]
    fn the_latest_processor_counts() {
        assert_eq!(flags(0x68, 0x73), Ok(0x73));
        assert_eq!(flags(0x73, 0x68), Ok(0x73));
        assert_eq!((output_flags(0, 0), output_flags(0x60, 0)), (0x68, 0x60));
    }
}
