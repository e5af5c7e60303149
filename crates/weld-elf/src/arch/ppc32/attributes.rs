//! `.gnu.attributes`: by which conventions objects pass numbers and results. What nothing is said of goes with
//! all.
//!
//! Specification: "GNU assembler", 7.45.2 "PowerPC Attributes".

use crate::arch::attributes::{self, AttributesError, Kind};
use crate::elf::Format;
use crate::elf::format::{Class, Order};

pub const SECTION: &str = ".gnu.attributes";

/// The low two bits: of what size numbers are in registers, if they are there at all; the next two: what `long
/// double` is.
const FLOATS: u64 = 4;
const VECTORS: u64 = 8;
const STRUCTURES: u64 = 12;
/// As in [`crate::arch::facts::MergeAttributes`].
pub fn merge<const BIG: bool>(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let format = Format { class: Class::Elf32, order: if BIG { Order::Big } else { Order::Little } };
    attributes::merge_numbers(files, &Kind::gnu(SECTION), format, join)
}

/// What two values of a number make.
fn join(tag: u64, a: u64, b: u64) -> Result<u64, &'static str> {
    let same = |a: u64, b: u64| (a == b || a == 0 || b == 0).then_some(a | b);
    match tag {
        FLOATS => {
            let floats = same(a & 3, b & 3).ok_or("how floating-point numbers are passed")?;
            Ok(floats | same(a & !3, b & !3).ok_or("what long double is")?)
        }
        // Those of no special kind go with all.
        VECTORS if a.min(b) <= 1 => Ok(a.max(b)),
        VECTORS => same(a, b).ok_or("how vectors are passed"),
        STRUCTURES => same(a, b).ok_or("how small structures are returned"),
        _ => Ok(if a == 0 { b } else { a }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(list: &[u8]) -> Vec<u8> {
        attributes::section(list, b"gnu", Format { class: Class::Elf32, order: Order::Big })
    }

    fn merged(lists: &[&[u8]]) -> Result<Vec<u8>, String> {
        let files: Vec<Vec<u8>> = lists.iter().map(|list| said(list)).collect();
        let files: Vec<(String, &[u8])> =
            files.iter().enumerate().map(|(i, file)| (format!("{i}.o"), &file[..])).collect();
        merge::<true>(&files).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn what_is_not_said_goes_with_all() {
        // Of tag 5 there is a text, of 32 a number and a text.
        assert_eq!(merged(&[&[4, 1, 5, b'x', 0], &[8, 1, 32, 1, 0], &[4, 4, 8, 2]]), Ok(said(&[4, 5, 8, 2])));
        assert_eq!(merged(&[&[], &[4, 0]]), Ok(Vec::new()));
    }

    #[test]
    fn conventions_clash() {
        let error = merged(&[&[4, 1], &[4, 2]]).unwrap_err();
        assert_eq!(error, "1.o:(.gnu.attributes): how floating-point numbers are passed is 2, but 1 in 0.o");
        for lists in [[[4, 4], [4, 8]], [[8, 2], [8, 3]], [[12, 1], [12, 2]]] {
            assert!(merged(&[&lists[0], &lists[1]]).is_err(), "{lists:?}");
        }
    }

    #[test]
    fn damage_is_told() {
        let whole = said(&[4, 1]);
        for cut in 2..whole.len() {
            assert!(merge::<true>(&[("a.o".to_owned(), &whole[..cut])]).is_err(), "{cut}");
        }
    }
}
