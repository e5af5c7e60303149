//! `.note.gnu.property`: what a file's code supports or needs, and the merging of these properties.
//!
//! The section holds notes of name `GNU` and type `NT_GNU_PROPERTY_TYPE_0`; the descriptor is an
//! array of {type, data size: u32; data padded}, ascending by type. Everything is aligned as an address is:
//! 8 bytes, or 4 where those have 32 bits. The output has one note. How a property of all relocatable inputs
//! becomes one of the output depends on its type:
//!
//! - *and*: the bits that all inputs have; an input without the property has none (IBT, SHSTK);
//! - *or*: the bits that any input has (ISA needed);
//! - *or-and*: as *or*, but there is no property unless all inputs have it (ISA used);
//! - stack size: the greatest; no-copy-on-protected: if any input has it;
//! - how pointers are signed: that of the first input that says it. Others have to say the same, which is
//!   asked elsewhere.
//!
//! A property of another type cannot be merged and does not reach the output; [`Properties::unknown`]
//! lists them for a warning. Source: Linux Extensions to gABI; x86-64 psABI, "Program Property".

use std::collections::BTreeMap;
use std::fmt;

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::arch::facts::{Facts, Rule, SaidOfCode, Signing};
use crate::elf::{Format, PT_GNU_PROPERTY, SHF_ALLOC, SHT_NOTE, Writer};

const NOTE_HEADER: usize = 16;
const NT_GNU_PROPERTY_TYPE_0: u32 = 5;
const STACK_SIZE: u32 = 1;
const NO_COPY_ON_PROTECTED: u32 = 2;
/// The loader is asked to seal mappings. The linker's option alone decides.
pub const MEMORY_SEAL: u32 = 3;
/// The first of 32768 types for *and*; those for *or* follow.
const UINT32_AND: u32 = 0xb000_0000;
const UINT32_OR: u32 = 0xb000_8000;
/// The first type that belongs to a machine.
const OF_MACHINE: u32 = 0xc000_0000;

/// How properties of this type merge; `None` if the type is unknown.
fn rule(machine: &Facts, kind: u32) -> Option<Rule> {
    match kind {
        STACK_SIZE => Some(Rule::Max),
        NO_COPY_ON_PROTECTED | MEMORY_SEAL => Some(Rule::Any),
        UINT32_AND..UINT32_OR => Some(Rule::And),
        UINT32_OR..0xb001_0000 => Some(Rule::Or),
        OF_MACHINE.. => machine.property_rule(kind),
        _ => None,
    }
}

/// The data size in bytes.
fn data_size(rule: Rule, format: Format) -> usize {
    match rule {
        Rule::And | Rule::Or | Rule::OrAnd => 4,
        Rule::Max => format.word() as usize,
        Rule::Any => 0,
    }
}

/// What is wrong with a property section. Offsets are in bytes from the section's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyError {
    /// The note at this offset reaches beyond the section.
    TruncatedNote(usize),
    /// The property at this offset reaches beyond its note.
    TruncatedProperty(usize),
    /// The property at this offset has data of another size than its type asks for.
    BadSize { at: usize, kind: u32, size: u32 },
    /// The property at this offset is there already, and there can be only one.
    Again { at: usize, kind: u32 },
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PropertyError::TruncatedNote(at) => {
                write!(f, "note at {at:#x} reaches beyond .note.gnu.property")
            }
            PropertyError::TruncatedProperty(at) => write!(f, "property at {at:#x} reaches beyond its note"),
            PropertyError::BadSize { at, kind, size } => {
                write!(f, "property {kind:#x} at {at:#x} has {size} bytes of data")
            }
            PropertyError::Again { at, kind } => write!(f, "property {kind:#x} at {at:#x} is there twice"),
        }
    }
}

impl std::error::Error for PropertyError {}

/// The properties of one file, or of the output.
#[derive(Clone)]
pub struct Properties {
    machine: &'static Facts,
    /// By type; the value of a property without data is 1.
    known: BTreeMap<u32, u64>,
    /// By which conventions pointers are signed.
    signing: Option<Signing>,
    unknown: Vec<u32>,
}

/// Whether the properties and the attributes of a file say the same of its code, or what of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Same,
    Both { note: u64, attributes: u64 },
}

/// Two ways in which one file says that it signs pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub note: Signing,
    pub attributes: Signing,
}

/// The data size of [`Signing`].
const SIGNING_SIZE: usize = 16;

impl Properties {
    /// Nothing is said yet.
    pub fn new(machine: &'static Facts) -> Properties {
        Properties { machine, known: BTreeMap::new(), signing: None, unknown: Vec::new() }
    }

    pub fn signing(&self) -> Option<Signing> {
        self.signing
    }

    /// Adds what a section says. A file may have several sections, notes and properties of one
    /// type: their bits are united.
    pub fn parse(&mut self, section: &[u8], format: Format) -> Result<(), PropertyError> {
        let align = format.word() as usize;
        let mut at = 0;
        while at < section.len() {
            let note = &section[at..];
            let Some(header) = note.first_chunk::<12>() else {
                return Err(PropertyError::TruncatedNote(at));
            };
            let (name_size, desc_size) = (format.get_u32(header), format.get_u32(&header[4..]));
            // The descriptor is aligned after the 12-byte header and the name.
            let desc_at = (12 + name_size as usize).next_multiple_of(align);
            let desc_end = desc_at + desc_size as usize;
            let Some(desc) = note.get(desc_at..desc_end) else {
                return Err(PropertyError::TruncatedNote(at));
            };
            if format.get_u32(&header[8..]) == NT_GNU_PROPERTY_TYPE_0
                && note[12..desc_at].starts_with(b"GNU\0")
            {
                self.parse_descriptor(desc, at + desc_at, format)?;
            }
            at += desc_end.next_multiple_of(align);
        }
        Ok(())
    }

    /// `base` is the descriptor's offset in the section.
    fn parse_descriptor(&mut self, desc: &[u8], base: usize, format: Format) -> Result<(), PropertyError> {
        let mut at = 0;
        while at < desc.len() {
            let truncated = PropertyError::TruncatedProperty(base + at);
            let header = desc[at..].first_chunk::<8>().ok_or(truncated)?;
            let (kind, size) = (format.get_u32(header), format.get_u32(&header[4..]));
            let data = desc.get(at + 8..at + 8 + size as usize).ok_or(truncated)?;
            match rule(self.machine, kind) {
                None if self.machine.properties.signing == Some(kind) => {
                    self.parse_signing(base + at, kind, data, format)?;
                }
                Some(rule) if data_size(rule, format) != data.len() => {
                    return Err(PropertyError::BadSize { at: base + at, kind, size });
                }
                Some(Rule::Any) => self.or_in(kind, 1),
                Some(Rule::Max) => {
                    let value = self.known.entry(kind).or_default();
                    *value = (*value).max(format.get(data));
                }
                Some(_) => self.or_in(kind, format.get(data)),
                None if self.unknown.contains(&kind) => {}
                None => self.unknown.push(kind),
            }
            at += 8 + data.len().next_multiple_of(format.word() as usize);
        }
        Ok(())
    }

    /// What a property at `at` of type `kind` says of signed pointers.
    fn parse_signing(
        &mut self,
        at: usize,
        kind: u32,
        data: &[u8],
        format: Format,
    ) -> Result<(), PropertyError> {
        if data.len() != SIGNING_SIZE {
            return Err(PropertyError::BadSize { at, kind, size: data.len() as u32 });
        }
        if self.signing.is_some() {
            return Err(PropertyError::Again { at, kind });
        }
        let (platform, version) = data.split_at(8);
        self.signing = Some(Signing { platform: format.get(platform), version: format.get(version) });
        Ok(())
    }

    /// Adds what the attributes of the same file say. Where both speak, of landing pads and kin only what
    /// both say counts, and how pointers are signed has to be the same.
    pub fn add(&mut self, said: SaidOfCode) -> Result<Agreement, Contradiction> {
        let mut agreement = Agreement::Same;
        if let Some((landing, bits)) = self.machine.properties.landing.as_ref().zip(said.landing) {
            let bits = u64::from(bits);
            let value = self.known.entry(landing.property).or_insert(bits);
            if *value != bits {
                agreement = Agreement::Both { note: *value, attributes: bits };
                *value &= bits;
            }
        }
        match (self.signing, said.signing) {
            (Some(note), Some(attributes)) if note != attributes => Err(Contradiction { note, attributes }),
            (note, attributes) => {
                // Of both, 0 is that nothing is said.
                let said = attributes.filter(|said| (said.platform, said.version) != (0, 0));
                self.signing = note.or(said);
                Ok(agreement)
            }
        }
    }

    /// The value of a property; 0 if there is none.
    pub fn get(&self, kind: u32) -> u64 {
        self.known.get(&kind).copied().unwrap_or(0)
    }

    /// Adds bits to a property: `-z force-ibt`, `-z shstk`, `-z x86-64-v2` and kin.
    pub fn or_in(&mut self, kind: u32, bits: u64) {
        *self.known.entry(kind).or_default() |= bits;
    }

    /// Takes bits out of a property.
    pub fn take_out(&mut self, kind: u32, bits: u64) {
        if let Some(value) = self.known.get_mut(&kind) {
            *value &= !bits;
            if *value == 0 {
                self.known.remove(&kind);
            }
        }
    }

    /// Types that no rule is known for, in the order met.
    pub fn unknown(&self) -> &[u32] {
        &self.unknown
    }

    /// The output's properties from those of all relocatable inputs; an input without a property
    /// section counts as an empty one. Unknown properties are dropped.
    pub fn merge<'p>(machine: &'static Facts, files: impl IntoIterator<Item = &'p Properties>) -> Properties {
        let mut merged: Option<BTreeMap<u32, u64>> = None;
        let mut signing = None;
        for file in files {
            signing = signing.or(file.signing);
            merged = Some(match merged {
                None => file.known.clone(),
                Some(before) => merge_two(machine, before, &file.known),
            });
        }
        let mut known = merged.unwrap_or_default();
        known.remove(&MEMORY_SEAL);
        // An or-and property says something even with no bit set: "this is all that is used".
        known.retain(|&kind, value| *value != 0 || rule(machine, kind) == Some(Rule::OrAnd));
        Properties { machine, known, signing, unknown: Vec::new() }
    }

    /// The size of the output section in bytes: 0 if there is nothing to say.
    pub fn size(&self, format: Format) -> u64 {
        if self.is_empty() { 0 } else { (NOTE_HEADER + self.descriptor_size(format)) as u64 }
    }

    fn is_empty(&self) -> bool {
        self.known.is_empty() && self.signing.is_none()
    }

    /// The data size of a property in `known`.
    fn stored_size(&self, kind: u32, format: Format) -> usize {
        rule(self.machine, kind).map_or(4, |rule| data_size(rule, format))
    }

    fn descriptor_size(&self, format: Format) -> usize {
        let align = format.word() as usize;
        let known = self.known.keys().map(|&kind| 8 + self.stored_size(kind, format).next_multiple_of(align));
        known.sum::<usize>() + self.signing.map_or(0, |_| 8 + SIGNING_SIZE)
    }

    /// Writes the output section; `out` is exactly [`Self::size`] bytes, aligned.
    pub fn write(&self, format: Format, out: &mut [u8]) {
        assert_eq!(out.len() as u64, self.size(format));
        if self.is_empty() {
            return;
        }
        let mut note = Writer::with_room(format, out.len());
        note.u32(4).u32(self.descriptor_size(format) as u32).u32(NT_GNU_PROPERTY_TYPE_0).bytes(b"GNU\0");
        // Properties ascend by type.
        let mut signing = self.machine.properties.signing.zip(self.signing);
        for (&kind, &value) in &self.known {
            if let Some((before, said)) = signing.take_if(|(before, _)| *before < kind) {
                note.u32(before).u32(SIGNING_SIZE as u32).word(said.platform).word(said.version);
            }
            let size = self.stored_size(kind, format);
            let mut data = [0; 8];
            format.put(&mut data[..size], value);
            note.u32(kind).u32(size as u32).bytes(&data[..size.next_multiple_of(format.word() as usize)]);
        }
        if let Some((kind, said)) = signing {
            note.u32(kind).u32(SIGNING_SIZE as u32).word(said.platform).word(said.version);
        }
        out.copy_from_slice(&note.finish());
    }
}

fn merge_two(machine: &Facts, mut a: BTreeMap<u32, u64>, b: &BTreeMap<u32, u64>) -> BTreeMap<u32, u64> {
    for (&kind, value) in &mut a {
        let other = b.get(&kind).copied().unwrap_or(0);
        match rule(machine, kind) {
            Some(Rule::And) => *value &= other,
            Some(Rule::Max) => *value = (*value).max(other),
            _ => *value |= other,
        }
    }
    a.retain(|kind, _| b.contains_key(kind) || rule(machine, *kind) != Some(Rule::OrAnd));
    for (&kind, &value) in b {
        if matches!(rule(machine, kind), Some(Rule::Or | Rule::Max | Rule::Any)) {
            a.entry(kind).or_insert(value);
        }
    }
    a
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let format = sizes.format();
        let header = Header { name: b".note.gnu.property", kind: SHT_NOTE, flags: SHF_ALLOC, entsize: 0 };
        let spec = Spec::own(header, format.word(), sizes.plan.properties.as_ref()?.size(format));
        spec.map(|spec| spec.dispensable().in_segment(PT_GNU_PROPERTY))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.contents().properties.iter().for_each(|properties| properties.write(at.format(), out));
    }
}

/// Two are equal if they say the same of one machine.
impl PartialEq for Properties {
    fn eq(&self, other: &Properties) -> bool {
        std::ptr::eq(self.machine, other.machine)
            && (&self.known, self.signing, &self.unknown) == (&other.known, other.signing, &other.unknown)
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:x?} {:x?}", self.machine.name, self.known, self.unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IBT: u64 = 1;
    const SHSTK: u64 = 2;
    const X86_FEATURE_1_AND: u32 = 0xc000_0002;
    const X86_ISA_1_NEEDED: u32 = 0xc000_8002;
    const ISA_1_USED: u32 = 0xc001_0002;

    fn machine() -> &'static Facts {
        crate::arch::by_emulation("elf_x86_64").unwrap().facts()
    }

    fn properties(list: &[(u32, u64)]) -> Properties {
        Properties { known: list.iter().copied().collect(), ..Properties::new(machine()) }
    }

    fn written(p: &Properties) -> Vec<u8> {
        let mut out = vec![0xaa; p.size(Format::NATIVE) as usize];
        p.write(Format::NATIVE, &mut out);
        out
    }

    fn parsed(section: &[u8]) -> Result<Properties, PropertyError> {
        let mut p = Properties::new(machine());
        p.parse(section, Format::NATIVE).map(|()| p)
    }

    #[test]
    fn bytes_of_a_note() {
        let note = written(&properties(&[(X86_FEATURE_1_AND, IBT | SHSTK)]));
        assert_eq!(
            note,
            [
                4, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, b'G', b'N', b'U', 0, 2, 0, 0, 0xc0, 4, 0, 0, 0, 3, 0, 0,
                0, 0, 0, 0, 0
            ]
        );
        assert!(written(&Properties::new(machine())).is_empty());
    }

    #[test]
    fn each_form_reads_back() {
        let p = properties(&[(STACK_SIZE, 0x1_2345), (NO_COPY_ON_PROTECTED, 1), (X86_FEATURE_1_AND, IBT)]);
        for format in Format::ALL {
            let mut note = vec![0xaa; p.size(format) as usize];
            p.write(format, &mut note);
            let word = format.word() as usize;
            assert_eq!(note.len(), 16 + (8 + word) + 8 + (8 + word), "{format:?}");
            assert_eq!(note[4..8], format.u32_bytes(note.len() as u32 - 16));
            let mut back = Properties::new(machine());
            back.parse(&note, format).unwrap();
            assert_eq!(back, p, "{format:?}");
        }
    }

    #[test]
    fn round_trip_of_all_kinds() {
        let p = properties(&[
            (STACK_SIZE, 1 << 40),
            (NO_COPY_ON_PROTECTED, 1),
            (UINT32_OR, 1),
            (X86_FEATURE_1_AND, 3),
            (X86_ISA_1_NEEDED, 2),
            (ISA_1_USED, 7),
        ]);
        assert_eq!(parsed(&written(&p)).unwrap(), p);
    }

    #[test]
    fn several_notes_unite() {
        let mut section = written(&properties(&[(X86_FEATURE_1_AND, IBT), (ISA_1_USED, 1)]));
        // Another vendor's note between them is skipped.
        section.extend_from_slice(&[5, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, b'o', b't', b'h', b'r', 0, 0, 0, 0]);
        section.extend_from_slice(&[0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        section.extend(written(&properties(&[(X86_FEATURE_1_AND, SHSTK)])));
        let p = parsed(&section).unwrap();
        assert_eq!((p.get(X86_FEATURE_1_AND), p.get(ISA_1_USED)), (3, 1));
    }

    #[test]
    fn rules() {
        let all =
            properties(&[(X86_FEATURE_1_AND, 3), (X86_ISA_1_NEEDED, 1), (ISA_1_USED, 1), (STACK_SIZE, 10)]);
        let some =
            properties(&[(X86_FEATURE_1_AND, 1), (X86_ISA_1_NEEDED, 4), (ISA_1_USED, 2), (STACK_SIZE, 9)]);
        let none = Properties::new(machine());
        let both =
            properties(&[(X86_FEATURE_1_AND, 1), (X86_ISA_1_NEEDED, 5), (ISA_1_USED, 3), (STACK_SIZE, 10)]);
        assert_eq!(Properties::merge(machine(), [&all]), all);
        assert_eq!(Properties::merge(machine(), [&all, &some]), both);
        assert_eq!(Properties::merge(machine(), [&some, &all]), both);
        let partial = properties(&[(X86_ISA_1_NEEDED, 1), (STACK_SIZE, 10)]);
        assert_eq!(Properties::merge(machine(), [&all, &none]), partial);
        assert_eq!(Properties::merge(machine(), [&none, &all]), partial);
        assert_eq!(Properties::merge(machine(), [&all, &none, &all]), partial, "a gap is not filled later");
        assert_eq!(Properties::merge(machine(), []).size(Format::NATIVE), 0);
        assert_eq!(
            Properties::merge(machine(), [&properties(&[(X86_FEATURE_1_AND, 0)])]).size(Format::NATIVE),
            0
        );
        assert_ne!(Properties::merge(machine(), [&properties(&[(ISA_1_USED, 0)])]).size(Format::NATIVE), 0);
    }

    #[test]
    fn forced_bits() {
        let mut p = Properties::merge(machine(), [&Properties::new(machine())]);
        p.or_in(X86_FEATURE_1_AND, IBT);
        assert_eq!(parsed(&written(&p)).unwrap().get(X86_FEATURE_1_AND), IBT);
    }

    #[test]
    fn unknown_types_are_listed_once_and_dropped() {
        let mut note = written(&properties(&[(X86_FEATURE_1_AND, 3)]));
        note[16..20].copy_from_slice(&0xdead_beefu32.to_le_bytes());
        let mut p = parsed(&note).unwrap();
        p.parse(&note, Format::NATIVE).unwrap();
        assert_eq!(p.unknown(), [0xdead_beef]);
        assert_eq!(Properties::merge(machine(), [&p]), Properties::new(machine()));
    }

    #[test]
    fn hostile_sections() {
        let good = written(&properties(&[(STACK_SIZE, 5), (X86_FEATURE_1_AND, 3)]));
        for len in 1..good.len() {
            assert!(parsed(&good[..len]).is_err(), "cut to {len}");
        }
        let with = |at: usize, value: u32| {
            let mut bad = good.clone();
            bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
            parsed(&bad)
        };
        assert_eq!(with(0, u32::MAX), Err(PropertyError::TruncatedNote(0)));
        assert_eq!(with(4, u32::MAX), Err(PropertyError::TruncatedNote(0)));
        assert_eq!(with(20, u32::MAX), Err(PropertyError::TruncatedProperty(16)));
        assert_eq!(with(20, 7), Err(PropertyError::BadSize { at: 16, kind: 1, size: 7 }));
        assert_eq!(with(36, 0), Err(PropertyError::BadSize { at: 32, kind: X86_FEATURE_1_AND, size: 0 }));
        // A note that ends in the middle of a property.
        assert_eq!(with(4, 20), Err(PropertyError::TruncatedProperty(32)));
    }
}
