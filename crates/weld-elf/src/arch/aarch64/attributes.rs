//! AArch64: `.ARM.attributes`, in which objects say what `.note.gnu.property` says, too. In the output it is
//! a property.
//!
//! The section is the letter `A`, then subsections: each a length (4 bytes, its own included), a name and
//! data. Names that begin with `aeabi` are for all tools: their data are a byte that says whether who does
//! not know the subsection may pass over it, a byte for the form of values, and pairs of a tag and a value.
//! What is left out is 0. Other names are those of tools that know what they mean; it is nothing to a linker.
//!
//! Two subsections are known: features that hold if all objects have them (a tag is a bit of the property),
//! and how pointers are signed.
//!
//! Specification: "Build Attributes for the Arm 64-bit Architecture".

use std::collections::BTreeMap;

use weld_common::reader::Reader;

use crate::arch::facts::{SaidOfCode, Signing, Unread};
use crate::elf::Format;

const FEATURES: &str = "aeabi_feature_and_bits";
const SIGNING: &str = "aeabi_pauthabi";
const PLATFORM: u64 = 1;
const VERSION: u64 = 2;

const BROKEN: &str = "is damaged";

/// As in [`crate::arch::facts::ReadAttributes`].
pub fn read(sections: &[&[u8]], format: Format) -> Result<SaidOfCode, Unread> {
    let mut said = SaidOfCode::default();
    let mut names: Vec<&str> = Vec::new();
    for section in sections {
        let Some((&version, mut rest)) = section.split_first() else { continue };
        if version != b'A' {
            return Err(format!("has an unknown format: {version:#x}").into());
        }
        while !rest.is_empty() {
            let (own, more) = subsection(rest, format)?;
            rest = more;
            let end = own.iter().position(|byte| *byte == 0).ok_or(BROKEN)?;
            let (name, data) = (&own[..end], &own[end + 1..]);
            if !name.starts_with(b"aeabi") {
                continue;
            }
            let name = std::str::from_utf8(name).map_err(|_| BROKEN)?;
            if names.contains(&name) {
                return Err(format!("has the subsection '{name}' twice").into());
            }
            names.push(name);
            public(name, data, &mut said)?;
        }
    }
    Ok(said)
}

/// What the length that `bytes` begin with is in front of, and what follows.
fn subsection(bytes: &[u8], format: Format) -> Result<(&[u8], &[u8]), Unread> {
    let length = bytes.first_chunk::<4>().map(|length| format.get_u32(length) as usize).ok_or(BROKEN)?;
    let (own, rest) = bytes.split_at_checked(length).ok_or(BROKEN)?;
    Ok((own.get(4..).ok_or(BROKEN)?, rest))
}

/// Notes what a subsection for all tools says.
fn public(name: &str, data: &[u8], said: &mut SaidOfCode) -> Result<(), Unread> {
    let Some((&[optional, form], pairs)) = data.split_first_chunk() else { return Err(BROKEN.into()) };
    if optional > 1 || form > 1 {
        return Err(
            format!("has the subsection '{name}' with an unknown header: {optional:#x}, {form:#x}").into()
        );
    }
    let known = match name {
        FEATURES => (1, 0),
        SIGNING => (0, 0),
        _ if optional == 1 => return Ok(()),
        _ => {
            let text = format!("has the subsection '{name}', which is not known and may not be passed over");
            return Err(Unread { text, required: true });
        }
    };
    if (optional, form) != known {
        return Err(format!("has the subsection '{name}' with a header that is not its own").into());
    }
    let numbers = numbers(name, pairs)?;
    if name == FEATURES {
        said.landing = Some(bits(&numbers)?);
    } else {
        if let Some((tag, _)) = numbers.iter().find(|(tag, value)| !(1..=2).contains(*tag) && **value != 0) {
            let text =
                format!("has the tag {tag} in '{name}', which is not known and may not be passed over");
            return Err(Unread { text, required: true });
        }
        let of = |tag| numbers.get(&tag).copied().unwrap_or(0);
        said.signing = Some(Signing { platform: of(PLATFORM), version: of(VERSION) });
    }
    Ok(())
}

/// Tags and their values.
fn numbers(name: &str, pairs: &[u8]) -> Result<BTreeMap<u64, u64>, Unread> {
    let mut numbers = BTreeMap::new();
    let mut reader = Reader::new(pairs);
    while !reader.is_empty() {
        let tag = reader.uleb128().ok_or(BROKEN)?;
        let value = reader.uleb128().ok_or(BROKEN)?;
        if numbers.insert(tag, value).is_some_and(|before| before != value) {
            return Err(format!("has two values of the tag {tag} in '{name}'").into());
        }
    }
    Ok(numbers)
}

/// The bits of the property; what has none may be passed over.
fn bits(numbers: &BTreeMap<u64, u64>) -> Result<u32, Unread> {
    let mut bits = 0;
    for (&tag, &value) in numbers.range(..32) {
        match value {
            0 | 1 => bits |= (value as u32) << tag,
            _ => {
                let text = format!("has the tag {tag} in '{FEATURES}' with the value {value}: it is 0 or 1");
                return Err(text.into());
            }
        }
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::format::{Class, Order};

    fn section(list: &[(&str, &[u8])], format: Format) -> Vec<u8> {
        let mut section = vec![b'A'];
        for (name, data) in list {
            let length = 4 + name.len() + 1 + data.len();
            section.extend_from_slice(&format.u32_bytes(length as u32));
            section.extend_from_slice(name.as_bytes());
            section.push(0);
            section.extend_from_slice(data);
        }
        section
    }

    fn said(list: &[(&str, &[u8])]) -> Result<SaidOfCode, Unread> {
        read(&[&section(list, Format::NATIVE)], Format::NATIVE)
    }

    #[test]
    fn both_subsections_in_both_byte_orders() {
        let list: &[(&str, &[u8])] =
            &[(FEATURES, &[1, 0, 0, 1, 1, 0, 2, 1, 31, 1, 32, 9]), (SIGNING, &[0, 0, 2, 0x85, 1, 1, 7])];
        let expected =
            SaidOfCode { landing: Some(0x8000_0005), signing: Some(Signing { platform: 7, version: 0x85 }) };
        for order in [Order::Little, Order::Big] {
            let format = Format { class: Class::Elf64, order };
            assert_eq!(read(&[&section(list, format)], format), Ok(expected));
        }
        // Several sections are like one.
        let one = |i: usize| section(&list[i..i + 1], Format::NATIVE);
        assert_eq!(read(&[&one(1), &[], &one(0)], Format::NATIVE), Ok(expected));
        assert_eq!(read(&[&[], b"A"], Format::NATIVE), Ok(SaidOfCode::default()));
    }

    #[test]
    fn what_may_be_passed_over() {
        let nothing = SaidOfCode::default();
        assert_eq!(said(&[("vendor", &[9, 9, 9])]), Ok(nothing));
        assert_eq!(said(&[("aeabi_new", &[1, 1, 9, b'x'])]), Ok(nothing));
        assert_eq!(said(&[(FEATURES, &[1, 0])]), Ok(SaidOfCode { landing: Some(0), ..nothing }));
        let zero = Some(Signing { platform: 0, version: 0 });
        assert_eq!(said(&[(SIGNING, &[0, 0, 5, 0])]), Ok(SaidOfCode { signing: zero, ..nothing }));
    }

    #[test]
    fn what_may_not() {
        for (list, what) in [
            (("aeabi_new", &[0, 0][..]), "not known and may not be passed over"),
            ((SIGNING, &[0, 0, 3, 1]), "the tag 3"),
            ((SIGNING, &[1, 0]), "not its own"),
            ((FEATURES, &[1, 1]), "not its own"),
            ((FEATURES, &[2, 0]), "unknown header"),
            (("aeabi", &[1, 2]), "unknown header"),
            ((FEATURES, &[1, 0, 0, 2]), "it is 0 or 1"),
            ((FEATURES, &[1, 0, 0, 1, 0, 0]), "two values of the tag 0"),
            ((FEATURES, &[1]), BROKEN),
            ((FEATURES, &[1, 0, 0]), BROKEN),
            ((FEATURES, &[1, 0, 0x80]), BROKEN),
        ] {
            let wrong = said(&[list]).unwrap_err();
            assert!(wrong.text.contains(what), "{wrong:?}");
            assert_eq!(wrong.required, what.contains("passed over") || what == "the tag 3");
        }
        let twice = said(&[(FEATURES, &[1, 0]), (FEATURES, &[1, 0])]).unwrap_err();
        assert!(twice.text.contains("twice"), "{twice:?}");
        // The same value may be there twice.
        assert_eq!(said(&[(FEATURES, &[1, 0, 0, 1, 0, 1])]).unwrap().landing, Some(1));
    }

    #[test]
    fn hostile_sections() {
        let good = section(&[("x", &[1]), (FEATURES, &[1, 0, 0, 1])], Format::NATIVE);
        for length in 2..good.len() {
            // What is left of a section that ends after a subsection is whole.
            assert_eq!(read(&[&good[..length]], Format::NATIVE).is_ok(), length == 8, "cut to {length}");
        }
        let with = |at: usize, byte: u8| {
            let mut bad = good.clone();
            bad[at] = byte;
            read(&[&bad], Format::NATIVE)
        };
        assert!(with(0, b'B').unwrap_err().text.contains("unknown format"));
        for length in [0, 3, 4, 5, 0xff] {
            assert!(with(1, length).is_err(), "{length}");
        }
        assert!(with(4, 0xff).is_err());
    }
}
