//! `.ARM.attributes`: what instructions and conventions the code of all objects together uses, and what
//! follows from it for code that the linker makes.
//!
//! Those of `aeabi` for whole files are read ([`crate::arch::attributes`]). An attribute is a tag and a value, a number or a text: texts are those
//! of the processor's names, and those of odd tags from 32 on.
//!
//! Joined, a number is one that includes those of all objects (instruction sets, mostly the largest), and else
//! that of the first object that has one. Objects that pass floating-point arguments differently do not go
//! together; nor do others in `conventions`.
//!
//! Specification: "Addenda to, and Errata in, the ABI for the Arm Architecture", "Build attributes".

use std::collections::BTreeMap;

use weld_common::reader::Reader;

use super::conventions::{self, CPU_ARCH_PROFILE, Conventions, MICROCONTROLLER};
use crate::arch::attributes::{self, AttributesError, Wrong};
use crate::elf::format::{Class, Order};
use crate::elf::{Format, put_uleb};

pub(super) const SECTION: &str = ".ARM.attributes";
const VENDOR: &[u8] = b"aeabi";

const CPU_RAW_NAME: u64 = 4;
const CPU_NAME: u64 = 5;
const CPU_ARCH: u64 = 6;
const ARM_ISA_USE: u64 = 8;
const THUMB_ISA_USE: u64 = 9;
const FP_ARCH: u64 = 10;
const WMMX_ARCH: u64 = 11;
const ADVANCED_SIMD_ARCH: u64 = 12;
const ABI_FP_NUMBER_MODEL: u64 = 23;
const ABI_ALIGN_NEEDED: u64 = 24;
const ABI_HARDFP_USE: u64 = 27;
const ABI_VFP_ARGS: u64 = 28;
const COMPATIBILITY: u64 = 32;
const UNALIGNED_ACCESS: u64 = 34;
const FP_HP_EXTENSION: u64 = 36;
const MP_EXTENSION: u64 = 42;
const DIV_USE: u64 = 44;
const ALSO_COMPATIBLE: u64 = 65;
const CONFORMANCE: u64 = 67;
const VIRTUALIZATION_USE: u64 = 68;

/// Values of [`ABI_VFP_ARGS`].
const BASE: u64 = 0;
const VFP_REGISTERS: u64 = 1;
const TOOLCHAIN: u64 = 2;
const EITHER: u64 = 3;

/// What code may be used, as bits of a link's features.
pub const BLX: u32 = 1;
/// Branches of Thumb code reach 16 MiB.
pub const FAR_BRANCHES: u32 = 1 << 1;
pub const MOVT: u32 = 1 << 2;
pub const ARM_CODE: u32 = 1 << 3;
pub const THUMB_2: u32 = 1 << 4;
/// Floating-point arguments are passed in floating-point registers.
pub const HARD_FLOAT: u32 = 1 << 5;
/// They are passed as one toolchain does.
pub const OTHER_FLOAT: u32 = 1 << 6;
/// The processor has a secure world (CMSE).
pub const SECURE: u32 = 1 << 7;

/// Some object is for processors of profile M, which have Thumb code only.
pub const M_PROFILE: u32 = 1 << 8;

/// Processors with Thumb code only (M profile).
pub fn is_thumb_only(features: u32) -> bool {
    features & (ARM_CODE | THUMB_2) == THUMB_2
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    Text(Vec<u8>),
    /// [`COMPATIBILITY`]
    Both(u64, Vec<u8>),
}

pub(super) type Said = BTreeMap<u64, Value>;

pub(super) fn number(said: &Said, tag: u64) -> Option<u64> {
    match said.get(&tag)? {
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// As in [`crate::arch::facts::MergeAttributes`].
pub fn merge<const BIG: bool>(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let mut all = Said::new();
    let mut first: Option<(u64, &str)> = None;
    let mut conventions = Conventions::default();
    for (name, section) in files {
        let wrong = |what| AttributesError { object: name.clone(), section: SECTION, what };
        let said = parse::<BIG>(section).map_err(wrong)?;
        if let Some(value) = passing(&said).filter(|value| *value != EITHER) {
            let what = "the passing of floating-point arguments (Tag_ABI_VFP_args)";
            if value > EITHER {
                return Err(wrong(Wrong::Number { what, value }));
            }
            match first {
                Some((before, by)) if before != value => {
                    return Err(wrong(Wrong::Differs { what, value, before, by: by.to_owned() }));
                }
                _ => first = first.or(Some((value, name))),
            }
        }
        conventions.add(name, &said).map_err(wrong)?;
        for (tag, value) in with_what_is_implied(said) {
            let joined = match (all.get(&tag), value) {
                (Some(Value::Number(before)), Value::Number(value)) => {
                    Value::Number(join(tag, *before, value))
                }
                (Some(before), _) => before.clone(),
                (None, value) => value,
            };
            all.insert(tag, joined);
        }
    }
    all.retain(|tag, value| *value != Value::Number(0) || !matches!(*tag, ABI_HARDFP_USE | DIV_USE));
    Ok(encode::<BIG>(&all))
}

/// What objects mean that do not say whether code divides, and by which part of the floating-point unit it
/// computes: as the processor has it. Objects without floating-point code have no part in the latter.
fn with_what_is_implied(mut said: Said) -> Said {
    let computes = number(&said, FP_ARCH).is_some_and(|unit| unit > 0);
    if !said.is_empty() {
        said.entry(DIV_USE).or_insert(Value::Number(0));
    }
    match computes {
        true => _ = said.entry(ABI_HARDFP_USE).or_insert(Value::Number(0)),
        false => _ = said.remove(&ABI_HARDFP_USE),
    }
    said
}

/// How floating-point arguments are passed. Compilers say nothing where that is as the base standard has it;
/// code that has no floating-point numbers at all may be with any.
fn passing(said: &Said) -> Option<u64> {
    let base = || (number(said, ABI_FP_NUMBER_MODEL).unwrap_or(0) > 0).then_some(BASE);
    number(said, ABI_VFP_ARGS).or_else(base)
}

/// Of processors, the one that has what both have, as far as there is one. Their numbers are in no such order:
/// v6-M has less than v7, and v6K and v6T2 have something each.
fn join_processors(a: u64, b: u64) -> u64 {
    const V6T2: u64 = 8;
    const V6K: u64 = 9;
    const V7: u64 = 10;
    const V6_M: u64 = 11;
    const V6S_M: u64 = 12;
    let rank = |value: u64| match value {
        V6_M | V6S_M => (V6K, value),
        _ => (value, 0),
    };
    match (a.min(b), a.max(b)) {
        (V6T2, V6K) => V7,
        _ if rank(a) < rank(b) => b,
        _ => a,
    }
}

/// Of floating-point units, the one that has the later instructions and the more registers of the two. From the
/// third version on each has a number with 32 registers (odd), followed by one with 16.
fn join_units(a: u64, b: u64) -> u64 {
    const LAST: u64 = 8;
    if a.max(b) > LAST {
        return a.max(b);
    }
    let parts = |unit: u64| if unit < 3 { (unit, false) } else { (unit.div_ceil(2) + 1, unit % 2 == 1) };
    let ((a, a_wide), (b, b_wide)) = (parts(a), parts(b));
    match a.max(b) {
        version @ 0..3 => version,
        version => 2 * version - 3 + u64::from(!(a_wide || b_wide)),
    }
}

/// What two values of a number make.
fn join(tag: u64, a: u64, b: u64) -> u64 {
    match tag {
        CPU_ARCH => join_processors(a, b),
        FP_ARCH => join_units(a, b),
        // 8 bytes (1), 4 bytes (2).
        ABI_ALIGN_NEEDED if a.max(b) == 2 && a.min(b) == 1 => 1,
        // Where the processor has it (0), nowhere (1).
        DIV_USE if a.max(b) <= 1 => a.min(b),
        ABI_HARDFP_USE if a != b => 0,
        ARM_ISA_USE | THUMB_ISA_USE | WMMX_ARCH | ADVANCED_SIMD_ARCH | ABI_ALIGN_NEEDED
        | UNALIGNED_ACCESS | FP_HP_EXTENSION | MP_EXTENSION | DIV_USE | VIRTUALIZATION_USE => a.max(b),
        ABI_VFP_ARGS if a == EITHER => b,
        _ => conventions::join(tag, a, b),
    }
}

/// What code of objects that say this may be used, and so may be made. Damaged sections say nothing, which
/// [`merge`] reports.
pub fn features<const BIG: bool>(sections: &mut dyn Iterator<Item = &[u8]>) -> u32 {
    let mut features = 0;
    for said in sections.filter_map(|section| parse::<BIG>(section).ok()) {
        features |= match number(&said, CPU_ARCH) {
            // Before version 5.
            None | Some(0..=2) => 0,
            // Versions 5 and 6 without Thumb-2.
            Some(3..=7 | 9) => BLX,
            // v6-M, v6S-M
            Some(11 | 12) => BLX | FAR_BRANCHES,
            Some(_) => BLX | FAR_BRANCHES | MOVT,
        };
        // v8-M.baseline and mainline, v8.1-M.mainline.
        if matches!(number(&said, CPU_ARCH), Some(16 | 17 | 21)) {
            features |= SECURE;
        }
        if number(&said, CPU_ARCH_PROFILE) == Some(MICROCONTROLLER) {
            features |= M_PROFILE;
        }
        if number(&said, ARM_ISA_USE).is_some_and(|used| used != 0) {
            features |= ARM_CODE;
        }
        if number(&said, THUMB_ISA_USE).is_some_and(|used| used >= 2) {
            features |= THUMB_2;
        }
        features |= match number(&said, ABI_VFP_ARGS) {
            Some(VFP_REGISTERS) => HARD_FLOAT,
            Some(TOOLCHAIN) => OTHER_FLOAT,
            _ => 0,
        };
    }
    features
}

pub(super) fn parse<const BIG: bool>(section: &[u8]) -> Result<Said, Wrong> {
    let mut said = Said::new();
    for list in attributes::of_files(section, VENDOR, format::<BIG>())? {
        add_attributes(&mut said, list)?;
    }
    Ok(said)
}

const fn format<const BIG: bool>() -> Format {
    Format { class: Class::Elf32, order: if BIG { Order::Big } else { Order::Little } }
}

fn is_text(tag: u64) -> bool {
    matches!(tag, CPU_RAW_NAME | CPU_NAME | ALSO_COMPATIBLE | CONFORMANCE)
        || tag > COMPATIBILITY && tag % 2 == 1
}

fn add_attributes(said: &mut Said, bytes: &[u8]) -> Result<(), Wrong> {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let tag = reader.uleb128().ok_or(Wrong::Damaged)?;
        let value = match tag {
            COMPATIBILITY => {
                let number = reader.uleb128().ok_or(Wrong::Damaged)?;
                Value::Both(number, reader.c_string().ok_or(Wrong::Damaged)?.to_vec())
            }
            _ if is_text(tag) => Value::Text(reader.c_string().ok_or(Wrong::Damaged)?.to_vec()),
            _ => Value::Number(reader.uleb128().ok_or(Wrong::Damaged)?),
        };
        said.insert(tag, value);
    }
    Ok(())
}

fn encode<const BIG: bool>(said: &Said) -> Vec<u8> {
    let mut list = Vec::new();
    // Whom it is said to conform to comes first.
    let (first, others): (Vec<_>, Vec<_>) = said.iter().partition(|(tag, _)| **tag == CONFORMANCE);
    for (tag, value) in first.into_iter().chain(others) {
        put_uleb(&mut list, *tag);
        if let Value::Number(number) | Value::Both(number, _) = value {
            put_uleb(&mut list, *number);
        }
        if let Value::Text(text) | Value::Both(_, text) = value {
            list.extend_from_slice(text);
            list.push(0);
        }
    }
    attributes::section(&list, VENDOR, format::<BIG>())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn section(attributes: &[(u64, u64)]) -> Vec<u8> {
        encode::<false>(&attributes.iter().map(|(tag, value)| (*tag, Value::Number(*value))).collect())
    }

    #[test]
    fn larger_numbers_include_smaller_ones() {
        let files = [
            ("a.o".to_owned(), section(&[(CPU_ARCH, 4), (ABI_VFP_ARGS, EITHER)])),
            ("b.o".to_owned(), section(&[(CPU_ARCH, 10), (CPU_ARCH_PROFILE, 65), (ABI_VFP_ARGS, 1)])),
        ];
        let files = files.each_ref().map(|(name, bytes)| (name.clone(), &bytes[..]));
        let merged = merge::<false>(&files).unwrap();
        assert_eq!(merged, section(&[(CPU_ARCH, 10), (CPU_ARCH_PROFILE, 65), (ABI_VFP_ARGS, 1)]));
        let base = section(&[(ABI_VFP_ARGS, BASE)]);
        let error = merge::<false>(&[files[1].clone(), ("c.o".to_owned(), &base)]).unwrap_err();
        assert_eq!(
            (error.object.as_str(), matches!(error.what, Wrong::Differs { value: 0, before: 1, .. })),
            ("c.o", true)
        );
    }

    #[test]
    fn compilers_do_not_say_the_base_standard() {
        let (soft, none) = (section(&[(ABI_FP_NUMBER_MODEL, 3)]), section(&[(CPU_ARCH, 10)]));
        let hard = section(&[(ABI_FP_NUMBER_MODEL, 3), (ABI_VFP_ARGS, VFP_REGISTERS)]);
        let file = |name: &str, bytes| (name.to_owned(), bytes);
        assert!(merge::<false>(&[file("a.o", &hard[..]), file("b.o", &none)]).is_ok());
        for files in
            [[file("a.o", &hard[..]), file("b.o", &soft)], [file("a.o", &soft[..]), file("b.o", &hard)]]
        {
            assert_eq!(merge::<false>(&files).unwrap_err().object, "b.o");
        }
    }

    #[test]
    fn processors_are_no_numbers() {
        let joined = [(11, 10), (10, 11), (12, 17), (8, 9), (9, 8), (4, 11), (13, 10)];
        let want = [10, 10, 17, 10, 10, 11, 13];
        assert_eq!(joined.map(|(a, b)| join_processors(a, b)), want);
    }

    #[test]
    fn units_have_instructions_and_registers() {
        let joined = [(3, 4), (4, 3), (4, 5), (3, 6), (2, 4), (1, 2), (0, 8), (8, 3), (7, 6), (4, 6), (9, 3)];
        assert_eq!(joined.map(|(a, b)| join_units(a, b)), [3, 3, 5, 5, 4, 2, 8, 7, 7, 6, 9]);
    }

    #[test]
    fn what_is_not_said_is_as_the_processor_has_it() {
        let joined = |a: &[(u64, u64)], b: &[(u64, u64)]| {
            let (a, b) = (section(a), section(b));
            merge::<false>(&[("a.o".to_owned(), &a), ("b.o".to_owned(), &b)]).unwrap()
        };
        let unit = (FP_ARCH, 3);
        assert_eq!(joined(&[unit, (ABI_HARDFP_USE, 1)], &[unit]), section(&[unit]));
        let single = section(&[unit, (ABI_HARDFP_USE, 1)]);
        assert_eq!(joined(&[unit, (ABI_HARDFP_USE, 1)], &[(CPU_NAME + 2, 65)]).len(), single.len() + 2);
        let m3 = (CPU_ARCH, 10);
        for pair in [[1, 0], [0, 1]] {
            assert_eq!(joined(&[m3, (DIV_USE, pair[0])], &[m3, (DIV_USE, pair[1])]), section(&[m3]));
        }
        assert_eq!(joined(&[m3, (DIV_USE, 1)], &[m3]), section(&[m3]));
        assert_eq!(joined(&[m3, (DIV_USE, 2)], &[m3, (DIV_USE, 1)]), section(&[m3, (DIV_USE, 2)]));
        let align = |n| (ABI_ALIGN_NEEDED, n);
        assert_eq!(joined(&[align(1)], &[align(2)]), section(&[align(1)]));
        assert_eq!(joined(&[align(1)], &[align(4)]), section(&[align(4)]));
    }

    #[test]
    fn architectures_say_what_code_may_be_used() {
        let of = |attributes| features::<false>(&mut [&section(attributes)[..]].into_iter());
        assert_eq!(of(&[(CPU_ARCH, 2)]), 0);
        assert_eq!(of(&[(CPU_ARCH, 5), (ARM_ISA_USE, 1)]), BLX | ARM_CODE);
        assert_eq!(of(&[(CPU_ARCH, 11)]), BLX | FAR_BRANCHES);
        let m_profile = of(&[(CPU_ARCH, 13), (THUMB_ISA_USE, 2)]);
        assert_eq!(m_profile, BLX | FAR_BRANCHES | MOVT | THUMB_2);
        assert_eq!(of(&[(CPU_ARCH, 17)]), of(&[(CPU_ARCH, 14)]) | SECURE);
        assert!(is_thumb_only(m_profile) && !is_thumb_only(m_profile | ARM_CODE) && !is_thumb_only(0));
    }

    #[test]
    fn texts_and_byte_orders_are_kept() {
        let said: Said = [
            (CPU_NAME, Value::Text(b"cortex-m3".to_vec())),
            (COMPATIBILITY, Value::Both(1, b"gnu".to_vec())),
            (CONFORMANCE, Value::Text(b"2.09".to_vec())),
        ]
        .into_iter()
        .collect();
        assert!(parse::<true>(&encode::<true>(&said)).is_ok_and(|again| again == said));
        assert!(parse::<false>(&encode::<true>(&said)).is_err());
    }
}
