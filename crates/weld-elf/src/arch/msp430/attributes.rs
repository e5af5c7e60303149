//! `.MSP430.attributes`: which instructions code has, and how large addresses of code and of data are. What
//! nothing is said of goes with all.
//!
//! Specification: "MSP430 Embedded Application Binary Interface", 13 "Build Attributes".

use crate::arch::attributes::{self, AttributesError, Kind};
use crate::elf::Format;
use crate::elf::format::{Class, Order};

pub const SECTION: &str = ".MSP430.attributes";
const KIND: Kind = Kind { section: SECTION, vendor: b"mspabi", known: None };
const FORMAT: Format = Format { class: Class::Elf32, order: Order::Little };

fn name(tag: u64) -> &'static str {
    match tag {
        4 => "the set of instructions",
        6 => "the code model",
        8 => "the data model",
        _ => "an attribute",
    }
}

/// As in [`crate::arch::facts::MergeAttributes`].
pub fn merge(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let same = |tag, a, b| if a == b || a == 0 || b == 0 { Ok(a | b) } else { Err(name(tag)) };
    attributes::merge_numbers(files, &KIND, FORMAT, same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(lists: &[&[u8]]) -> Result<Vec<u8>, String> {
        let files: Vec<Vec<u8>> =
            lists.iter().map(|list| attributes::section(list, KIND.vendor, FORMAT)).collect();
        let files: Vec<(String, &[u8])> =
            files.iter().enumerate().map(|(i, file)| (format!("{i}.o"), &file[..])).collect();
        merge(&files).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn models_are_the_same_or_clash() {
        let both = attributes::section(&[4, 1, 6, 1, 8, 1], KIND.vendor, FORMAT);
        assert_eq!(merged(&[&[4, 1, 6, 1], &[6, 1, 8, 1], &[4, 0]]), Ok(both));
        let clash = merged(&[&[4, 1], &[4, 2]]).unwrap_err();
        assert_eq!(clash, "1.o:(.MSP430.attributes): the set of instructions is 2, but 1 in 0.o");
    }

    #[test]
    fn damage_is_told() {
        let whole = attributes::section(&[4, 1, 6, 1], KIND.vendor, FORMAT);
        for cut in 2..whole.len() {
            assert!(merge(&[("a.o".to_owned(), &whole[..cut])]).is_err(), "{cut}");
        }
    }
}
