//! Writing libraries: archives with the indexes that linkers for Windows look at.
//!
//! An index by member (big-endian) and one by name (little-endian) come first, then long names, then the
//! members. Source: "PE Format", Archive (Library) File Format.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A member, and the symbols that it defines.
pub struct Member<'a> {
    pub name: Vec<u8>,
    pub bytes: Cow<'a, [u8]>,
    pub symbols: Vec<Vec<u8>>,
}

/// What a library is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// With its members and indexes.
    Whole,
    /// With the paths of its members, relative to its own directory, and one index, as GNU tools write it.
    Thin,
    /// With its members alone.
    NoIndex,
}

/// Bytes of a member's header.
const HEADER: usize = 60;

fn header(out: &mut Vec<u8>, name: impl AsRef<[u8]>, size: usize) {
    let name = name.as_ref();
    out.extend_from_slice(name);
    out.resize(out.len() + 16 - name.len(), b' ');
    out.extend_from_slice(format!("{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).as_bytes());
}

/// What headers have for names, and the texts of long ones, to which they lead.
fn names(members: &[Member], thin: bool) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut texts = Vec::new();
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    // In a header a name without a text would be that of an index.
    let is_long =
        |member: &Member| thin || !(1..=15).contains(&member.name.len()) || member.name.contains(&b'/');
    let mut all = Vec::with_capacity(members.len());
    for member in members {
        if !is_long(member) {
            all.push([&member.name, &b"/"[..]].concat());
            continue;
        }
        let at = *known.entry(&member.name).or_insert_with(|| {
            let at = texts.len();
            texts.extend_from_slice(&member.name);
            // Thin ones have texts as GNU tools write them.
            texts.extend_from_slice(if thin { b"/\n" } else { b"\0" });
            at
        });
        all.push(format!("/{at}").into_bytes());
    }
    (all, texts)
}

fn pad(out: &mut Vec<u8>) {
    if !out.len().is_multiple_of(2) {
        out.push(b'\n');
    }
}

/// Offsets of members have 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a library has 4 GiB at most")
    }
}

impl std::error::Error for TooLarge {}

/// A library of these members. A symbol that several define is the first one's.
///
/// # Errors
/// If it is too large for the numbers in its indexes.
pub fn bytes(members: &[Member], style: Style) -> Result<Vec<u8>, TooLarge> {
    let thin = style == Style::Thin;
    let has_index = style != Style::NoIndex;
    let (names, texts_of_names) = names(members, thin);
    // Each symbol with the number of its member.
    let mut symbols: Vec<(&[u8], usize)> = (0..)
        .zip(members)
        .flat_map(|(i, member)| member.symbols.iter().map(move |name| (&name[..], i)))
        .collect();
    let mut seen = HashSet::new();
    symbols.retain(|(name, _)| seen.insert(*name));
    let texts: usize = symbols.iter().map(|(name, _)| name.len() + 1).sum();
    let first_size = 4 + 4 * symbols.len() + texts;
    // It numbers members by 16 bits; where those do not suffice, the other index has to. Thin libraries are
    // GNU tools', which have one.
    let has_second = style == Style::Whole && members.len() <= usize::from(u16::MAX);
    let second_size = 4 + 4 * members.len() + 4 + 2 * symbols.len() + texts;
    let names_size = texts_of_names.len();
    let even = |size: usize| size.next_multiple_of(2);
    let mut at = 8 + if has_index { HEADER + even(first_size) } else { 0 };
    at += if has_second { HEADER + even(second_size) } else { 0 };
    at += if names_size > 0 { HEADER + even(names_size) } else { 0 };
    let mut offsets = Vec::with_capacity(members.len());
    for member in members {
        offsets.push(u32::try_from(at).map_err(|_| TooLarge)?);
        at += HEADER + if thin { 0 } else { even(member.bytes.len()) };
    }
    let mut out = if thin { b"!<thin>\n".to_vec() } else { b"!<arch>\n".to_vec() };
    if has_index {
        header(&mut out, "/", first_size);
        out.extend_from_slice(&(symbols.len() as u32).to_be_bytes());
        symbols.iter().for_each(|(_, member)| out.extend_from_slice(&offsets[*member].to_be_bytes()));
        symbols.iter().for_each(|(name, _)| out.extend([*name, b"\0"].concat()));
        pad(&mut out);
    }
    if has_second {
        symbols.sort_unstable();
        header(&mut out, "/", second_size);
        out.extend_from_slice(&(members.len() as u32).to_le_bytes());
        offsets.iter().for_each(|offset| out.extend_from_slice(&offset.to_le_bytes()));
        out.extend_from_slice(&(symbols.len() as u32).to_le_bytes());
        symbols.iter().for_each(|(_, member)| out.extend_from_slice(&(*member as u16 + 1).to_le_bytes()));
        symbols.iter().for_each(|(name, _)| out.extend([*name, b"\0"].concat()));
        pad(&mut out);
    }
    if names_size > 0 {
        header(&mut out, "//", names_size);
        out.extend_from_slice(&texts_of_names);
        pad(&mut out);
    }
    for (member, name) in members.iter().zip(&names) {
        header(&mut out, name, member.bytes.len());
        if !thin {
            out.extend_from_slice(&member.bytes);
            pad(&mut out);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use weld_common::archive::Archive;

    use super::*;

    #[test]
    fn names_of_members() {
        let names: [&[u8]; 4] = [b"a.obj", b"", b"a name of more than 16 bytes.obj", b"dir/a.obj"];
        let members = names.map(|name| Member {
            name: name.to_vec(),
            bytes: name.into(),
            symbols: vec![name.to_vec()],
        });
        for style in [Style::Whole, Style::Thin, Style::NoIndex] {
            let library = bytes(&members, style).unwrap();
            let archive = Archive::parse(&library).unwrap();
            let read: Vec<&[u8]> = archive.members().map(|member| member.unwrap().name).collect();
            assert_eq!(read, names);
            let indexed = archive.armap().map_or(0, |index| index.members().len());
            assert_eq!(indexed, if style == Style::NoIndex { 0 } else { names.len() });
        }
    }
}
