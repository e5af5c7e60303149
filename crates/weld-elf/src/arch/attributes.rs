//! Sections in which objects say what instructions and conventions their code uses: how they are built, and
//! what can be wrong with them.
//!
//! Such a section is the letter `A`, then for each vendor its length, its name and its attributes: those for
//! whole files are known.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use weld_common::reader::Reader;

use crate::elf::{Format, put_uleb};

/// What is wrong with the section of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributesError {
    pub object: String,
    /// The section's name.
    pub section: &'static str,
    pub what: Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The first byte says that it is of a format that nobody knows.
    Format(u8),
    Damaged,
    Architecture(String),
    /// No such number is known.
    Number {
        what: &'static str,
        value: u64,
    },
    /// Two say what does not go together.
    Clash {
        own: String,
        others: String,
        by: String,
    },
    /// An attribute that is not known.
    Tag(u64),
    /// It is for code of another width than the sections before.
    Width {
        own: u32,
        others: u32,
    },
    /// What must be the same in all objects has a `value` here and had another one in the object `by`.
    Differs {
        what: &'static str,
        value: u64,
        before: u64,
        by: String,
    },
}

/// The lists of attributes that a section has of a vendor for whole files.
///
/// # Errors
/// The section is damaged.
pub fn of_files<'a>(section: &'a [u8], vendor: &[u8], format: Format) -> Result<Vec<&'a [u8]>, Wrong> {
    let mut lists = Vec::new();
    let Some((&version, mut rest)) = section.split_first() else { return Ok(lists) };
    if version != b'A' {
        return Err(Wrong::Format(version));
    }
    while !rest.is_empty() {
        let (own, more) = take(rest, 0, format)?;
        let end = own.iter().position(|byte| *byte == 0).ok_or(Wrong::Damaged)?;
        let (name, mut subsections) = (&own[..end], &own[end + 1..]);
        while name == vendor && !subsections.is_empty() {
            let (tag, body) = subsections.split_first().ok_or(Wrong::Damaged)?;
            let (attributes, after) = take(body, 1, format)?;
            if *tag == 1 {
                lists.push(attributes);
            }
            subsections = after;
        }
        rest = more;
    }
    Ok(lists)
}

/// What a length (4 bytes, that of itself and of `before` bytes before it included) is in front of, and what
/// follows.
fn take(bytes: &[u8], before: usize, format: Format) -> Result<(&[u8], &[u8]), Wrong> {
    let length = bytes.get(..4).map(|length| format.get_u32(length) as usize);
    let length = length.and_then(|length| length.checked_sub(before)).filter(|length| *length >= 4);
    match length.and_then(|length| bytes.split_at_checked(length)) {
        Some((own, rest)) => Ok((&own[4..], rest)),
        None => Err(Wrong::Damaged),
    }
}

/// What GNU's tools call themselves there.
pub const GNU: &[u8] = b"gnu";
/// Of this there is a number and a text, as GNU's tools have it.
const COMPATIBILITY: u64 = 32;

/// What a section of numbers is like.
pub struct Kind {
    /// What it is called, and what the vendor's tools call themselves there.
    pub section: &'static str,
    pub vendor: &'static [u8],
    /// The tags that are known, all of numbers: no others are in outputs, and those of the others that are below 32 say
    /// nothing of what follows. `None`: an even tag is one of a number, an odd one of a text, and all numbers count.
    pub known: Option<RangeInclusive<u64>>,
}

impl Kind {
    /// One of GNU's tools, where it is called so.
    pub const fn gnu(section: &'static str) -> Kind {
        Kind { section, vendor: GNU, known: None }
    }
}

/// What two values of a number make.
pub type Join = fn(tag: u64, a: u64, b: u64) -> Result<u64, &'static str>;

/// The contents of the output's section from the numbers that a vendor's tools said in those of objects. What is
/// not said is 0.
///
/// # Errors
/// One is damaged, or does not go together with those before it.
pub fn merge_numbers(
    files: &[(String, &[u8])],
    kind: &Kind,
    format: Format,
    join: Join,
) -> Result<Vec<u8>, AttributesError> {
    let mut all: BTreeMap<u64, u64> = BTreeMap::new();
    // Who said it first, for messages.
    let mut first: BTreeMap<u64, &str> = BTreeMap::new();
    for (object, bytes) in files {
        let wrong = |what| AttributesError { object: object.clone(), section: kind.section, what };
        for list in of_files(bytes, kind.vendor, format).map_err(wrong)? {
            let mut reader = Reader::new(list);
            while !reader.is_empty() {
                let (tag, value) = next(&mut reader, kind).ok_or_else(|| wrong(Wrong::Damaged))?;
                let Some(value) = value else { continue };
                let by = *first.entry(tag).or_insert(object);
                let before = all.get(&tag).copied().unwrap_or(0);
                let differs = |what| Wrong::Differs { what, value, before, by: by.to_owned() };
                let joined = join(tag, before, value).map_err(|what| wrong(differs(what)))?;
                all.insert(tag, joined);
            }
        }
    }
    let mut list = Vec::new();
    for (tag, value) in all.into_iter().filter(|(_, value)| *value != 0) {
        put_uleb(&mut list, tag);
        put_uleb(&mut list, value);
    }
    Ok(section(&list, kind.vendor, format))
}

/// A tag, and its value if that is a number which counts.
fn next(reader: &mut Reader, kind: &Kind) -> Option<(u64, Option<u64>)> {
    let tag = reader.uleb128()?;
    let known = kind.known.as_ref().map(|known| known.contains(&tag));
    if known == Some(false) && tag < 32 {
        return None;
    }
    let number = if known == Some(true) || tag % 2 == 0 { Some(reader.uleb128()?) } else { None };
    let both = tag == COMPATIBILITY && known.is_none();
    if number.is_none() || both {
        reader.c_string()?;
    }
    Some((tag, number.filter(|_| !both && known != Some(false))))
}

/// The section that says these attributes of a whole file; nothing if there are none.
pub fn section(attributes: &[u8], vendor: &[u8], format: Format) -> Vec<u8> {
    if attributes.is_empty() {
        return Vec::new();
    }
    let inner = 5 + attributes.len();
    let mut out = vec![b'A'];
    out.extend(format.u32_bytes((4 + vendor.len() + 1 + inner) as u32));
    out.extend_from_slice(vendor);
    out.extend([0, 1]);
    out.extend(format.u32_bytes(inner as u32));
    out.extend_from_slice(attributes);
    out
}

impl fmt::Display for AttributesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:({}): ", self.object, self.section)?;
        match &self.what {
            Wrong::Format(version) => write!(f, "has an unknown format: {version:#x}"),
            Wrong::Damaged => f.write_str("is damaged"),
            Wrong::Architecture(text) => write!(f, "has an unknown architecture: {text}"),
            Wrong::Tag(tag) => write!(f, "has an attribute that nobody knows: tag {tag}"),
            Wrong::Number { what, value } => write!(f, "{what} has an unknown value: {value}"),
            Wrong::Width { own, others } => write!(f, "is for rv{own}, but others are for rv{others}"),
            Wrong::Clash { own, others, by } => {
                write!(f, "is for {own}, which does not go with {others} of {by}")
            }
            Wrong::Differs { what, value, before, by } => {
                write!(f, "{what} is {value}, but {before} in {by}")
            }
        }
    }
}

impl std::error::Error for AttributesError {}
