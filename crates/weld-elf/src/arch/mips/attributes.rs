//! What objects say of their code besides `e_flags`: `.MIPS.abiflags` (instructions, registers, how
//! floating-point numbers are passed) and `.reginfo` or `.MIPS.options` (which registers are used, and where
//! gp points).
//!
//! Both have one record for the output, in a segment of its own where kernels and loaders find it. `.gnu.attributes`
//! has part of the former for tools.
//!
//! Specification: "MIPS O32 ABI - FR0 and FR1 Interlinking" (`.MIPS.abiflags`); "System V ABI, MIPS RISC
//! Processor Supplement" (`.reginfo`); "GNU assembler", 7.45.1 "MIPS Attributes"; "64-bit ELF Object File Specification" (`.MIPS.options`).

use super::code::format;
use crate::arch::attributes::{self, AttributesError, Kind, Wrong};
use crate::elf::format::Class;

pub const SECTION: &str = ".MIPS.abiflags";
pub const GNU_SECTION: &str = ".gnu.attributes";
/// Bytes of its record, and of what `.reginfo` has.
const RECORD: usize = 24;
const REGISTERS: usize = 24;
const WIDE_REGISTERS: usize = 40;
/// `.MIPS.options`: the kind of the part that is like `.reginfo`.
const KIND_REGISTERS: u8 = 1;

/// How floating-point numbers are passed, and which registers they are in.
const FP_ANY: u8 = 0;
const FP_DOUBLE: u8 = 1;
const FP_SINGLE: u8 = 2;
const FP_SOFT: u8 = 3;
const FP_OLD_64: u8 = 4;
const FP_XX: u8 = 5;
const FP_64: u8 = 6;
const FP_64A: u8 = 7;

/// What both together need; `None`: they do not go together.
fn join_fp(a: u8, b: u8) -> Option<u8> {
    // Some go with all of what others demand.
    let goes_with = |a: u8, b: u8| match a {
        FP_ANY => true,
        _ if a == b => true,
        FP_XX => matches!(b, FP_DOUBLE | FP_64 | FP_64A),
        FP_64A => b == FP_64,
        _ => false,
    };
    match () {
        () if goes_with(a, b) => Some(b),
        () if goes_with(b, a) => Some(a),
        () => None,
    }
}

fn fp_name(fp: u8) -> String {
    match fp {
        FP_ANY => "any".into(),
        FP_DOUBLE => "-mdouble-float".into(),
        FP_SINGLE => "-msingle-float".into(),
        FP_SOFT => "-msoft-float".into(),
        FP_OLD_64 => "-mgp32 -mfp64 (old)".into(),
        FP_XX => "-mfpxx".into(),
        FP_64 => "-mgp32 -mfp64".into(),
        FP_64A => "-mgp32 -mfp64 -mno-odd-spreg".into(),
        other => format!("{other}"),
    }
}

/// The joined `.MIPS.abiflags`: as in [`crate::arch::facts::MergeAttributes`].
pub fn merge<const BIG: bool>(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let format = format(BIG, Class::Elf32);
    let mut all: Option<Vec<u8>> = None;
    // Who said first how floating-point numbers are passed.
    let mut first = "";
    for (name, section) in files {
        let wrong = |what| AttributesError { object: name.clone(), section: SECTION, what };
        let record = section.get(..RECORD).ok_or_else(|| wrong(Wrong::Damaged))?;
        if format.get_u16(record) != 0 {
            return Err(wrong(Wrong::Format(record[usize::from(BIG)])));
        }
        let Some(all) = &mut all else {
            (all, first) = (Some(record.to_vec()), name);
            continue;
        };
        // The set of instructions counts by its level, then by its revision.
        if (record[2], record[3]) > (all[2], all[3]) {
            all[2..4].copy_from_slice(&record[2..4]);
        }
        for i in 4..7 {
            all[i] = all[i].max(record[i]);
        }
        if all[7] == FP_ANY {
            first = name;
        }
        all[7] = join_fp(all[7], record[7]).ok_or_else(|| {
            wrong(Wrong::Clash { own: fp_name(record[7]), others: fp_name(all[7]), by: first.to_owned() })
        })?;
        let field = |of: &[u8], at: usize| format.get_u32(&of[at..]);
        let extension = field(all, 8).max(field(record, 8));
        all[8..12].copy_from_slice(&format.u32_bytes(extension));
        for at in [12, 16, 20] {
            let both = field(all, at) | field(record, at);
            all[at..at + 4].copy_from_slice(&format.u32_bytes(both));
        }
    }
    Ok(all.unwrap_or_default())
}

/// Tags of `.gnu.attributes`: how floating-point numbers are passed, as in `.MIPS.abiflags`, and vectors.
const TAG_FP: u64 = 4;
const TAG_VECTORS: u64 = 8;
const FLOATS: &str = "how floating-point numbers are passed";

/// The joined `.gnu.attributes`.
pub fn merge_gnu<const BIG: bool>(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let kind = Kind::gnu(GNU_SECTION);
    let joined = attributes::merge_numbers(files, &kind, format(BIG, Class::Elf32), join_gnu);
    joined.map_err(|mut error| {
        if let Wrong::Differs { what: FLOATS, value, before, by } = &error.what {
            let name = |value: u64| u8::try_from(value).map_or_else(|_| value.to_string(), fp_name);
            error.what = Wrong::Clash { own: name(*value), others: name(*before), by: by.clone() };
        }
        error
    })
}

/// What two values of a number make.
fn join_gnu(tag: u64, a: u64, b: u64) -> Result<u64, &'static str> {
    let same = (a == b || a == 0 || b == 0).then_some(a | b);
    match (tag, u8::try_from(a), u8::try_from(b)) {
        (TAG_FP, Ok(a), Ok(b)) => join_fp(a, b).map(u64::from).ok_or(FLOATS),
        (TAG_FP, ..) => same.ok_or(FLOATS),
        (TAG_VECTORS, ..) => same.ok_or("how vectors are passed (Tag_GNU_MIPS_ABI_MSA)"),
        _ => Ok(if a == 0 { b } else { a }),
    }
}

/// The record of `.reginfo`, or those of `.MIPS.options` that are like it; `None` if the section is damaged.
fn records<const WIDE: bool>(section: &[u8]) -> Option<Vec<&[u8]>> {
    if !WIDE {
        return Some(vec![section.get(..REGISTERS)?]);
    }
    let mut found = Vec::new();
    let mut rest = section;
    while !rest.is_empty() {
        // A part is never less than its head.
        let (kind, size) = (rest[0], usize::from(*rest.get(1)?));
        let (part, more) = rest.split_at_checked(size).filter(|_| size >= 8)?;
        if kind == KIND_REGISTERS {
            found.push(part.get(8..WIDE_REGISTERS)?);
        }
        rest = more;
    }
    Some(found)
}

/// The section for the output from those of objects: the registers that any uses.
pub fn merge_registers<const WIDE: bool>(sections: &[&[u8]]) -> Option<Vec<u8>> {
    let mut all = if WIDE { vec![0; WIDE_REGISTERS] } else { vec![0; REGISTERS] };
    if WIDE {
        all[..2].copy_from_slice(&[KIND_REGISTERS, WIDE_REGISTERS as u8]);
    }
    // Masks: of general registers, (padding,) of coprocessors'.
    let (start, masks) = if WIDE { (8, 24) } else { (0, 20) };
    for section in sections {
        for record in records::<WIDE>(section)? {
            for (byte, more) in all[start..start + masks].iter_mut().zip(record) {
                *byte |= more;
            }
        }
    }
    Some(all)
}

/// Where gp points, by the section of an object; of one that a link has made.
pub fn pointer<const BIG: bool, const WIDE: bool>(section: &[u8]) -> u64 {
    let record = records::<WIDE>(section).and_then(|found| found.first().copied());
    let format = format(BIG, if WIDE { Class::Elf64 } else { Class::Elf32 });
    record.map_or(0, |record| {
        let value = format.get(&record[if WIDE { 24 } else { 20 }..]);
        if WIDE { value } else { value as i32 as u64 }
    })
}

/// Stores it in the output's.
pub fn put_pointer<const BIG: bool, const WIDE: bool>(section: &mut [u8], gp: u64) {
    let format = format(BIG, if WIDE { Class::Elf64 } else { Class::Elf32 });
    let at = if WIDE { 32 } else { 20 };
    if let Some(field) = section.get_mut(at..) {
        format.put(field, gp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_go_together_or_not() {
        assert_eq!(join_fp(FP_XX, FP_XX), Some(FP_XX));
        assert_eq!(join_fp(FP_XX, FP_DOUBLE), Some(FP_DOUBLE));
        assert_eq!(join_fp(FP_64, FP_XX), Some(FP_64));
        assert_eq!(join_fp(FP_64A, FP_64), Some(FP_64));
        assert_eq!(join_fp(FP_ANY, FP_SOFT), Some(FP_SOFT));
        assert_eq!(join_fp(FP_DOUBLE, FP_64), None);
        assert_eq!(join_fp(FP_SOFT, FP_DOUBLE), None);
        assert_eq!(join_fp(9, 9), Some(9));
    }

    #[test]
    fn conventions_are_said_once() {
        let said = |list: &[u8]| attributes::section(list, attributes::GNU, format(true, Class::Elf32));
        let merged = |lists: &[&[u8]]| {
            let named = |(i, list): (usize, &&[u8])| (format!("{i}.o"), said(list));
            let files: Vec<(String, Vec<u8>)> = lists.iter().enumerate().map(named).collect();
            let files: Vec<_> = files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])).collect();
            merge_gnu::<true>(&files).map_err(|error| error.to_string())
        };
        assert_eq!(
            merged(&[&[4, FP_XX], &[4, FP_DOUBLE, 8, 1], &[4, FP_XX]]),
            Ok(said(&[4, FP_DOUBLE, 8, 1]))
        );
        assert_eq!(
            merged(&[&[4, FP_DOUBLE], &[4, FP_SOFT]]).unwrap_err(),
            "1.o:(.gnu.attributes): is for -msoft-float, which does not go with -mdouble-float of 0.o"
        );
        assert!(merged(&[&[8, 1], &[8, 2]]).unwrap_err().contains("how vectors are passed"));
        // A value of two bytes.
        assert!(merged(&[&[4, 0x81, 2], &[4, FP_SOFT]]).unwrap_err().contains("with 257 of 0.o"));
        assert!(merged(&[&[4]]).unwrap_err().contains("is damaged"));
    }

    #[test]
    fn options_are_walked_without_end_or_panic() {
        assert_eq!(merge_registers::<true>(&[&[9, 0, 0, 0, 0, 0, 0, 0]]), None);
        assert_eq!(merge_registers::<false>(&[&[0; 23]]), None);
        let option = |kind: u8, size: u8| {
            let mut bytes = vec![0; usize::from(size).max(2)];
            (bytes[0], bytes[1]) = (kind, size);
            bytes
        };
        let mut section = option(5, 16);
        section.extend(option(1, 40));
        let at = section.len() - 8;
        section[at..].copy_from_slice(&0x1_2345_u64.to_le_bytes());
        assert_eq!(pointer::<false, true>(&section), 0x1_2345);
        for cut in 0..section.len() {
            pointer::<false, true>(&section[..cut]);
        }
        assert_eq!(pointer::<false, true>(&option(0, 0)), 0);
    }
}
