//! `.riscv.attributes`: what instructions and conventions the code of all objects together uses.
//!
//! The section is the letter `A`, then for each vendor its length, its name and its attributes: only those of
//! `riscv` for whole files are known. An attribute is a tag and a value, a number or (odd tags) a text. The
//! architecture is the union of what objects are compiled for: a name like `rv64i2p1_m2p0_zba1p0`, with
//! extensions in a fixed order, each with its version.
//!
//! Specification: psABI, chapter "Attributes"; "RISC-V ISA Naming Conventions".

use std::collections::BTreeMap;
use std::fmt;

use weld_common::reader::Reader;

use crate::arch::attributes::{self, AttributesError, Wrong};
use crate::elf::Format;
use crate::elf::format::{Class, Order};
use crate::elf::put_uleb;

pub(super) const SECTION: &str = ".riscv.attributes";

const VENDOR: &[u8] = b"riscv";
const FORMAT: Format = Format { class: Class::Elf64, order: Order::Little };

const STACK_ALIGN: u64 = 4;
const ARCH: u64 = 5;
const UNALIGNED_ACCESS: u64 = 6;
const ATOMIC_ABI: u64 = 14;
const X3_USAGE: u64 = 16;

/// What one object says, and in the end all: numbers by their tags, and the architecture.
#[derive(Default)]
struct Said {
    numbers: BTreeMap<u64, u64>,
    arch: Option<Arch>,
}

/// As in [`crate::arch::facts::MergeAttributes`].
pub fn merge(files: &[(String, &[u8])]) -> Result<Vec<u8>, AttributesError> {
    let mut all = Said::default();
    // Who said it first, for messages.
    let mut first: BTreeMap<u64, &str> = BTreeMap::new();
    for (name, section) in files {
        let wrong = |what| AttributesError { object: name.clone(), section: SECTION, what };
        let said = parse(section).map_err(wrong)?;
        for (&tag, &value) in &said.numbers {
            let by = *first.entry(tag).or_insert(name);
            let before = all.numbers.get(&tag).copied();
            let joined = match before {
                Some(before) if before != value => {
                    let differs = |what| Wrong::Differs { what, value, before, by: by.to_owned() };
                    join(tag, before, value).map_err(|what| wrong(differs(what)))?
                }
                _ => value,
            };
            all.numbers.insert(tag, joined);
        }
        if let Some(arch) = said.arch {
            match &mut all.arch {
                Some(before) => before.add(arch).map_err(wrong)?,
                none => *none = Some(arch),
            }
        }
    }
    Ok(all.encode())
}

/// What two different values of a number make.
fn join(tag: u64, a: u64, b: u64) -> Result<u64, &'static str> {
    match tag {
        STACK_ALIGN => Err("the alignment of the stack (Tag_RISCV_stack_align)"),
        UNALIGNED_ACCESS => Ok(a | b),
        // 0: nothing is said.
        _ if a == 0 || b == 0 => Ok(a | b),
        // 1 and 2, 2 and 3 go together, and the stronger mapping counts.
        ATOMIC_ABI => match (a.min(b), a.max(b)) {
            (1, 2) => Ok(1),
            (2, 3) => Ok(3),
            _ => Err("the ABI of atomic operations (Tag_RISCV_atomic_abi)"),
        },
        X3_USAGE => Err("the use of register x3 (Tag_RISCV_x3_reg_usage)"),
        // Among them the version of the privileged architecture: what was said first counts.
        _ => Ok(a),
    }
}

fn parse(section: &[u8]) -> Result<Said, Wrong> {
    let mut said = Said::default();
    attributes::of_files(section, VENDOR, FORMAT)?.into_iter().try_for_each(|list| said.attributes(list))?;
    Ok(said)
}

impl Said {
    fn attributes(&mut self, bytes: &[u8]) -> Result<(), Wrong> {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let tag = reader.uleb128().ok_or(Wrong::Damaged)?;
            if tag % 2 == 0 {
                self.numbers.insert(tag, reader.uleb128().ok_or(Wrong::Damaged)?);
                continue;
            }
            let text = reader.c_string().ok_or(Wrong::Damaged)?;
            if tag == ARCH {
                let text = std::str::from_utf8(text).map_err(|_| Wrong::Damaged)?;
                let arch = Arch::parse(text);
                self.arch = Some(arch.ok_or_else(|| Wrong::Architecture(text.to_owned()))?);
            }
        }
        Ok(())
    }

    fn encode(&self) -> Vec<u8> {
        let mut attributes = Vec::new();
        let mut arch = self.arch.as_ref().map(Arch::to_string);
        let put_arch = |attributes: &mut Vec<u8>, arch: &mut Option<String>| {
            if let Some(arch) = arch.take() {
                attributes.push(ARCH as u8);
                attributes.extend_from_slice(arch.as_bytes());
                attributes.push(0);
            }
        };
        for (&tag, &value) in &self.numbers {
            if tag > ARCH {
                put_arch(&mut attributes, &mut arch);
            }
            put_uleb(&mut attributes, tag);
            put_uleb(&mut attributes, value);
        }
        put_arch(&mut attributes, &mut arch);
        attributes::section(&attributes, VENDOR, FORMAT)
    }
}

/// An architecture: its width, and extensions with their versions.
struct Arch {
    width: u32,
    /// By their place in the order of names.
    extensions: BTreeMap<(u32, String), (u32, u32)>,
}

/// The order of extensions of one letter.
const LETTERS: &str = "iemafdqlcbkjtpvnh";

/// Where an extension stands among others: letters first, then those of several by what they begin with.
fn rank(name: &str) -> Option<u32> {
    let mut chars = name.chars();
    let first = chars.next()?;
    let of_letter = |letter: char| LETTERS.find(letter).map_or(LETTERS.len(), |place| place) as u32;
    match (first, chars.next()) {
        // Standard ones by the letter that they are near.
        ('z', Some(second)) => Some(100 + of_letter(second)),
        ('s', Some(_)) => Some(200),
        ('x', Some(_)) => Some(300),
        (letter, None) if letter.is_ascii_lowercase() => Some(of_letter(letter)),
        _ => None,
    }
}

impl Arch {
    fn parse(text: &str) -> Option<Arch> {
        let rest = text.strip_prefix("rv")?;
        let (width, mut rest) = match rest.split_at_checked(2)? {
            ("32", rest) => (32, rest),
            ("64", rest) => (64, rest),
            _ => return None,
        };
        if !rest.starts_with(['i', 'e', 'g']) {
            return None;
        }
        let mut extensions = BTreeMap::new();
        while !rest.is_empty() {
            rest = rest.strip_prefix('_').unwrap_or(rest);
            let (name, version, after) = extension(rest)?;
            extensions.insert((rank(name)?, name.to_owned()), version);
            rest = after;
        }
        Some(Arch { width, extensions })
    }

    /// Adds what another one has.
    fn add(&mut self, other: Arch) -> Result<(), Wrong> {
        if self.width != other.width {
            return Err(Wrong::Width { own: other.width, others: self.width });
        }
        for (name, version) in other.extensions {
            let own = self.extensions.entry(name).or_insert(version);
            *own = (*own).max(version);
        }
        Ok(())
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rv{}", self.width)?;
        for (i, ((_, name), (major, minor))) in self.extensions.iter().enumerate() {
            let before = if i == 0 { "" } else { "_" };
            write!(f, "{before}{name}{major}p{minor}")?;
        }
        Ok(())
    }
}

/// An extension's name and version, and what follows. Names of several letters end with `_`, and a version
/// before that; one letter is a name alone.
fn extension(text: &str) -> Option<(&str, (u32, u32), &str)> {
    let long = text.starts_with(['z', 's', 'x']);
    let end = if long { text.find('_').unwrap_or(text.len()) } else { 1 };
    let (own, mut rest) = text.split_at_checked(end)?;
    if !long {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let major = digits(rest);
        let mut end = major;
        if major > 0 && rest[major..].starts_with('p') {
            let minor = digits(&rest[major + 1..]);
            end = if minor > 0 { major + 1 + minor } else { major };
        }
        let version = version(&rest[..end])?;
        rest = &rest[end..];
        return Some((own, version, rest));
    }
    if !own.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return None;
    }
    // The version is at the end: `zve32x1p0`, `zvl128b1p0`, `zba1`. Names end neither in a digit nor in one
    // and `p`.
    let is_digit = |c: char| c.is_ascii_digit();
    let before_minor = own.trim_end_matches(is_digit);
    let before_major = before_minor.strip_suffix('p').map(|before| before.trim_end_matches(is_digit));
    let name = match before_major {
        Some(name) if name.len() + 1 < before_minor.len() => name,
        _ => before_minor,
    };
    Some((name, version(&own[name.len()..])?, rest))
}

fn version(text: &str) -> Option<(u32, u32)> {
    if text.is_empty() {
        return Some((0, 0));
    }
    let (major, minor) = text.split_once('p').unwrap_or((text, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(numbers: &[(u64, u64)], arch: &str) -> Vec<u8> {
        Said { numbers: numbers.iter().copied().collect(), arch: Arch::parse(arch) }.encode()
    }

    fn merged(sections: &[Vec<u8>]) -> Result<Vec<u8>, AttributesError> {
        let files: Vec<(String, &[u8])> =
            sections.iter().enumerate().map(|(i, s)| (format!("{i}.o"), &s[..])).collect();
        merge(&files)
    }

    #[test]
    fn architectures_are_united() {
        let a = section(&[(4, 16)], "rv64i2p1_m2p0_c2p0_zicsr2p0_zve32x1p0_xfoo1p2");
        let b = section(&[(4, 16), (6, 1)], "rv64i2p0_a2p1_f2p2_zba1p0_zifencei2p0_svinval1p0");
        let wanted = "rv64i2p1_m2p0_a2p1_f2p2_c2p0_zicsr2p0_zifencei2p0_zba1p0_zve32x1p0_svinval1p0_xfoo1p2";
        assert_eq!(merged(&[a.clone(), b]).unwrap(), section(&[(4, 16), (6, 1)], wanted));
        assert_eq!(merged(std::slice::from_ref(&a)).unwrap(), a);
        assert_eq!(Arch::parse("rv32imac").unwrap().to_string(), "rv32i0p0_m0p0_a0p0_c0p0");
        assert_eq!(Arch::parse("rv64i2p1m2p0").unwrap().to_string(), "rv64i2p1_m2p0");
        assert_eq!(Arch::parse("rv64i2_zba1_zve32x").unwrap().to_string(), "rv64i2p0_zba1p0_zve32x0p0");
        assert_eq!(Arch::parse("rv64i_svp1p0_xp2").unwrap().to_string(), "rv64i0p0_svp1p0_xp2p0");
        assert!(Arch::parse("rv64").is_none() && Arch::parse("rv32c2p0").is_none());
        for wrong in
            ["rv64i_zicsr2p", "rv64i_zicsr2p@", "rv64i_zi csr2p0", "rv64i_Zba", "rv64i_zba1p99999999999"]
        {
            assert!(Arch::parse(wrong).is_none(), "{wrong}");
        }
        assert!(Arch::parse("rv128i").is_none() && Arch::parse("rv64i2p1_-").is_none());
    }

    #[test]
    fn what_does_not_go_together_is_an_error() {
        let of = |numbers: &[(u64, u64)]| section(numbers, "rv64i2p1");
        let text = merged(&[of(&[(4, 16)]), of(&[(4, 8)])]).unwrap_err().to_string();
        assert!(text.contains("1.o:(.riscv.attributes)") && text.contains("16 in 0.o"), "{text}");
        assert!(merged(&[of(&[(14, 1)]), of(&[(14, 3)])]).unwrap_err().to_string().contains("atomic"));
        assert_eq!(merged(&[of(&[(14, 1)]), of(&[(14, 2)])]).unwrap(), of(&[(14, 1)]));
        assert!(merged(&[of(&[(16, 1)]), of(&[(16, 2)])]).unwrap_err().to_string().contains("x3"));
        assert!(merged(&[of(&[]), section(&[], "rv32i2p1")]).unwrap_err().to_string().contains("rv32"));
    }

    #[test]
    fn damage_is_an_error() {
        let whole = section(&[(4, 16)], "rv64i2p1");
        for end in 2..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
        assert!(parse(b"B").is_err() && parse(b"").is_ok());
        assert!(parse(&[b'A', 4, 0, 0, 0]).is_err());
    }
}
