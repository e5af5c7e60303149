//! `.gnu.version_d` and `.gnu.version_r`: the versions an output defines and needs, and the checked
//! readers of the same sections in shared libraries.
//!
//! Both are chains of records linked by byte offsets relative to the record that holds them
//! (4-byte aligned, as written here):
//!
//! - `Verdef` {version, flags, index, aux count: u16; name hash, aux offset, next: u32}, followed by
//!   its `Verdaux` {name, next: u32}: its own name, then its parents'.
//! - `Verneed` {version, aux count: u16; file name, aux offset, next: u32}, followed by its
//!   `Vernaux` {name hash: u32; flags, index: u16; name, next: u32}, one for each version of the file.
//!
//! Names are offsets in `.dynstr`. Index 0 means local, 1 global; the definition with
//! `VER_FLG_BASE` carries the soname and has index 1; others count from 2, definitions first and
//! then needs. Source: LSB Core, "Symbol Versioning"; hash: gABI.
//!
//! A reader walks only forward, at most as many records as the section can hold, so a hostile
//! chain ends.

use super::plan::Plan;
use super::section::{At, Cuts, Header, Info, Links, Sizes, Source, Spec, Synthetic};
use super::sysv_hash::sysv_hash;
use crate::elf::{Format, SHF_ALLOC, SHT_GNU_VERDEF, SHT_GNU_VERNEED, SHT_GNU_VERSYM};
use crate::layout::ChunkKind;
use object::elf;
use std::fmt;
use weld_common::string_table::StringTable;

const VERDEF_SIZE: usize = 20;
const VERDAUX_SIZE: usize = 8;
const VERNEED_SIZE: usize = 16;
const VERNAUX_SIZE: usize = 16;
/// Indices have 15 bits; the top bit of a `.gnu.version` entry means "hidden".
const MAX_INDEX: usize = 0x7fff;

/// What is wrong with versions that come in or would go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionError {
    /// More versions than 15-bit indices.
    TooMany,
    /// More than 65535 parents of one version or versions of one file.
    TooManyAux,
    /// A record at this byte offset of the section reaches beyond its end.
    Truncated(usize),
    /// A record at this byte offset links back into itself or has no successor though the count
    /// says there is one.
    BadLink(usize),
    /// A record at this byte offset has a revision other than 1.
    BadRevision(usize),
    /// A record at this byte offset has the reserved index 0 (or 1, if it is no base definition).
    BadIndex(usize),
    /// A record at this byte offset has a name outside the string table.
    BadName(usize),
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VersionError::TooMany => write!(f, "more than {MAX_INDEX} symbol versions"),
            VersionError::TooManyAux => write!(f, "more than 65535 names in one version record"),
            VersionError::Truncated(at) => write!(f, "version record at {at:#x} reaches beyond its section"),
            VersionError::BadLink(at) => write!(f, "version record at {at:#x} has a bad link to the next"),
            VersionError::BadRevision(at) => write!(f, "version record at {at:#x} has an unknown revision"),
            VersionError::BadIndex(at) => write!(f, "version record at {at:#x} has a reserved index"),
            VersionError::BadName(at) => {
                write!(f, "version record at {at:#x} has a name outside the string table")
            }
        }
    }
}

impl std::error::Error for VersionError {}

/// A version that the output defines.
#[derive(Clone, Debug)]
pub struct VersionDef<'a> {
    pub name: &'a [u8],
    /// The versions it inherits from, by name.
    pub parents: Vec<&'a [u8]>,
    /// `VER_FLG_WEAK`: no symbol is bound to it.
    pub weak: bool,
}

/// The bytes of `.gnu.version_d`.
#[derive(Debug)]
pub struct Verdef {
    pub bytes: Vec<u8>,
    /// `DT_VERDEFNUM` and `sh_info`: definitions, the base included.
    pub count: u32,
}

/// Builds `.gnu.version_d`. `base` is the soname or, without one, the output's file name; it gets
/// index 1. Element `i` of `defs` gets index `i + 2`.
pub fn build_verdef(
    base: &[u8],
    defs: &[VersionDef],
    (strtab, format): (&mut StringTable, Format),
) -> Result<Verdef, VersionError> {
    if defs.len() + 1 > MAX_INDEX {
        return Err(VersionError::TooMany);
    }
    let mut bytes = Vec::new();
    put_verdef(&mut bytes, (1, elf::VER_FLG_BASE.0), &[base], (strtab, format))?;
    let mut last = 0;
    for (i, def) in defs.iter().enumerate() {
        let here = bytes.len();
        put_u32_at(&mut bytes, last + 16, format.u32_bytes((here - last) as u32));
        let names: Vec<&[u8]> = std::iter::once(def.name).chain(def.parents.iter().copied()).collect();
        let flags = if def.weak { elf::VER_FLG_WEAK.0 } else { 0 };
        put_verdef(&mut bytes, (i as u16 + 2, flags), &names, (strtab, format))?;
        last = here;
    }
    Ok(Verdef { bytes, count: defs.len() as u32 + 1 })
}

/// Appends one `Verdef` with its names; its link stays 0.
fn put_verdef(
    bytes: &mut Vec<u8>,
    (index, flags): (u16, u16),
    names: &[&[u8]],
    (strtab, format): (&mut StringTable, Format),
) -> Result<(), VersionError> {
    let count = u16::try_from(names.len()).map_err(|_| VersionError::TooManyAux)?;
    for half in [elf::VER_DEF_CURRENT, flags, index, count] {
        bytes.extend_from_slice(&format.u16_bytes(half));
    }
    for word in [sysv_hash(names[0]), VERDEF_SIZE as u32, 0] {
        bytes.extend_from_slice(&format.u32_bytes(word));
    }
    for (i, name) in names.iter().enumerate() {
        let next = if i + 1 < names.len() { VERDAUX_SIZE as u32 } else { 0 };
        for word in [strtab.add(name), next] {
            bytes.extend_from_slice(&format.u32_bytes(word));
        }
    }
    Ok(())
}

/// A shared library and the versions of it that the output needs.
#[derive(Clone, Debug)]
pub struct VersionNeed<'a> {
    /// The library's soname, as in `DT_NEEDED`.
    pub file: &'a [u8],
    /// Version names; `true`: only weak references need it (`VER_FLG_WEAK`).
    pub versions: Vec<(&'a [u8], bool)>,
}

/// The bytes of `.gnu.version_r`.
#[derive(Debug)]
pub struct Verneed {
    pub bytes: Vec<u8>,
    /// `DT_VERNEEDNUM` and `sh_info`: files.
    pub count: u32,
}

/// Builds `.gnu.version_r`. The versions get the indices `first_index..` one after another, file by
/// file in the order given: 2 if the output defines no versions, otherwise one more than the
/// [`Verdef::count`]. Files without versions are left out.
pub fn build_verneed(
    needs: &[VersionNeed],
    first_index: u16,
    (strtab, format): (&mut StringTable, Format),
) -> Result<Verneed, VersionError> {
    let mut bytes = Vec::new();
    let mut count = 0;
    let mut index = usize::from(first_index);
    let mut last = None;
    for need in needs.iter().filter(|n| !n.versions.is_empty()) {
        let here = bytes.len();
        if let Some(last) = last.replace(here) {
            put_u32_at(&mut bytes, last + 12, format.u32_bytes((here - last) as u32));
        }
        let aux_count = u16::try_from(need.versions.len()).map_err(|_| VersionError::TooManyAux)?;
        for half in [elf::VER_NEED_CURRENT, aux_count] {
            bytes.extend_from_slice(&format.u16_bytes(half));
        }
        for word in [strtab.add(need.file), VERNEED_SIZE as u32, 0] {
            bytes.extend_from_slice(&format.u32_bytes(word));
        }
        for (i, &(name, weak)) in need.versions.iter().enumerate() {
            if index > MAX_INDEX {
                return Err(VersionError::TooMany);
            }
            bytes.extend_from_slice(&format.u32_bytes(sysv_hash(name)));
            for half in [if weak { elf::VER_FLG_WEAK.0 } else { 0 }, index as u16] {
                bytes.extend_from_slice(&format.u16_bytes(half));
            }
            let next = if i + 1 < need.versions.len() { VERNAUX_SIZE as u32 } else { 0 };
            for word in [strtab.add(name), next] {
                bytes.extend_from_slice(&format.u32_bytes(word));
            }
            index += 1;
        }
        count += 1;
    }
    Ok(Verneed { bytes, count })
}

fn put_u32_at(bytes: &mut [u8], at: usize, value: [u8; 4]) {
    bytes[at..at + 4].copy_from_slice(&value);
}

/// Reads `.gnu.version_d`: (index, name) of each definition in the section's order. `count` is
/// `sh_info` or `DT_VERDEFNUM`. The base definition (the soname, no version of a symbol) has
/// index 1, no other has. Parents are not read.
pub fn parse_verdef<'a>(
    section: &[u8],
    count: u32,
    (strtab, format): (&'a [u8], Format),
) -> Result<Vec<(u16, &'a [u8])>, VersionError> {
    let reader = Reader { section, strtab, format };
    let mut defs = Vec::new();
    let mut at = 0;
    for i in 0..count {
        let record = reader.record::<VERDEF_SIZE>(at)?;
        if format.get_u16(record) != elf::VER_DEF_CURRENT {
            return Err(VersionError::BadRevision(at));
        }
        let is_base = format.get_u16(&record[2..]) & elf::VER_FLG_BASE.0 != 0;
        let index = format.get_u16(&record[4..]) & MAX_INDEX as u16;
        if index == 0 || (index == 1) != is_base {
            return Err(VersionError::BadIndex(at));
        }
        if format.get_u16(&record[6..]) == 0 {
            return Err(VersionError::BadLink(at));
        }
        let aux_at = at + format.get_u32(&record[12..]) as usize;
        let aux = reader.record::<VERDAUX_SIZE>(aux_at)?;
        defs.push((index, reader.name(format.get_u32(aux), aux_at)?));
        if i + 1 < count {
            at = next_record(at, format.get_u32(&record[16..]), VERDEF_SIZE)?;
        }
    }
    Ok(defs)
}

/// A version that a shared library needs of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededVersion<'a> {
    /// As in `.gnu.version`, without the hidden bit.
    pub index: u16,
    /// The soname of the library that defines it.
    pub file: &'a [u8],
    pub name: &'a [u8],
    /// `VER_FLG_WEAK`.
    pub weak: bool,
}

/// Reads `.gnu.version_r`, in the section's order. `count` is `sh_info` or `DT_VERNEEDNUM`.
pub fn parse_verneed<'a>(
    section: &[u8],
    count: u32,
    (strtab, format): (&'a [u8], Format),
) -> Result<Vec<NeededVersion<'a>>, VersionError> {
    let reader = Reader { section, strtab, format };
    let mut needs = Vec::new();
    let mut at = 0;
    for i in 0..count {
        let record = reader.record::<VERNEED_SIZE>(at)?;
        if format.get_u16(record) != elf::VER_NEED_CURRENT {
            return Err(VersionError::BadRevision(at));
        }
        let file = reader.name(format.get_u32(&record[4..]), at)?;
        let first = at + format.get_u32(&record[8..]) as usize;
        reader.needed_of_file(file, first, format.get_u16(&record[2..]), &mut needs)?;
        if i + 1 < count {
            at = next_record(at, format.get_u32(&record[12..]), VERNEED_SIZE)?;
        }
    }
    Ok(needs)
}

struct Reader<'s, 'a> {
    section: &'s [u8],
    strtab: &'a [u8],
    format: Format,
}

impl<'s, 'a> Reader<'s, 'a> {
    fn record<const N: usize>(&self, at: usize) -> Result<&'s [u8; N], VersionError> {
        let section = self.section;
        section.get(at..).and_then(|rest| rest.first_chunk()).ok_or(VersionError::Truncated(at))
    }

    fn name(&self, offset: u32, at: usize) -> Result<&'a [u8], VersionError> {
        let rest = self.strtab.get(offset as usize..).ok_or(VersionError::BadName(at))?;
        let len = memchr::memchr(0, rest).ok_or(VersionError::BadName(at))?;
        Ok(&rest[..len])
    }

    /// The `count` `Vernaux` records from `at` on.
    fn needed_of_file(
        &self,
        file: &'a [u8],
        mut at: usize,
        count: u16,
        needs: &mut Vec<NeededVersion<'a>>,
    ) -> Result<(), VersionError> {
        // Overlapping chains could make a small section stand for a multitude of versions.
        let format = self.format;
        let limit = self.section.len() / VERNAUX_SIZE;
        for i in 0..count {
            let record = self.record::<VERNAUX_SIZE>(at)?;
            let index = format.get_u16(&record[6..]) & MAX_INDEX as u16;
            if index < 2 {
                return Err(VersionError::BadIndex(at));
            }
            if needs.len() >= limit {
                return Err(VersionError::BadLink(at));
            }
            let weak = format.get_u16(&record[4..]) & elf::VER_FLG_WEAK.0 != 0;
            needs.push(NeededVersion {
                index,
                file,
                name: self.name(format.get_u32(&record[8..]), at)?,
                weak,
            });
            if i + 1 < count {
                at = next_record(at, format.get_u32(&record[12..]), VERNAUX_SIZE)?;
            }
        }
        Ok(())
    }
}

/// Where the record behind the one at `at` is. It does not overlap it, so walks end.
fn next_record(at: usize, link: u32, size: usize) -> Result<usize, VersionError> {
    if (link as usize) < size { Err(VersionError::BadLink(at)) } else { Ok(at + link as usize) }
}

/// `.gnu.version`: a version index for each dynamic symbol.
pub struct Indices;

impl Synthetic for Indices {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let count = sizes.plan.dynsym.as_ref()?.versym.len();
        let header = Header { name: b".gnu.version", kind: SHT_GNU_VERSYM, flags: SHF_ALLOC, entsize: 2 };
        Spec::own(header, 2, count as u64 * 2)
    }

    fn links(&self, _: &Plan) -> Option<Links> {
        Links::to(ChunkKind::DynSym)
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let versions = at.contents().dynsym.map_or(&[][..], |d| &d.versym[at.entry(2)..]);
        for (version, bytes) in versions.iter().zip(out.chunks_exact_mut(2)) {
            bytes.copy_from_slice(&at.format().u16_bytes(*version));
        }
    }
}

/// `.gnu.version_d`: the versions that the output defines.
pub struct Definitions;

impl Synthetic for Definitions {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let versions = sizes.plan.dynsym.as_ref()?.verdef.as_ref()?;
        let header = Header { name: b".gnu.version_d", kind: SHT_GNU_VERDEF, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, versions.bytes.len() as u64)
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        let versions = plan.dynsym.as_ref()?.verdef.as_ref()?;
        Links::with(ChunkKind::DynStr, Info::Number(versions.count))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let versions = at.contents().dynsym.and_then(|d| d.verdef.as_ref());
        versions.into_iter().for_each(|versions| out.copy_from_slice(&versions.bytes));
    }
}

/// `.gnu.version_r`: the versions of other modules that the output needs.
pub struct Needs;

impl Synthetic for Needs {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let versions = sizes.plan.dynsym.as_ref()?.verneed.as_ref()?;
        let header = Header { name: b".gnu.version_r", kind: SHT_GNU_VERNEED, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, versions.bytes.len() as u64)
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        let versions = plan.dynsym.as_ref()?.verneed.as_ref()?;
        Links::with(ChunkKind::DynStr, Info::Number(versions.count))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let versions = at.contents().dynsym.and_then(|d| d.verneed.as_ref());
        versions.into_iter().for_each(|versions| out.copy_from_slice(&versions.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def<'a>(name: &'a str, parents: &[&'a str]) -> VersionDef<'a> {
        VersionDef {
            name: name.as_bytes(),
            parents: parents.iter().map(|p| p.as_bytes()).collect(),
            weak: false,
        }
    }

    fn sample_verneed(strtab: &mut StringTable, format: Format) -> Verneed {
        let needs = [
            VersionNeed {
                file: b"libc.so.6",
                versions: vec![(b"GLIBC_2.2.5", false), (b"GLIBC_2.34", true)],
            },
            VersionNeed { file: b"libempty.so", versions: vec![] },
            VersionNeed { file: b"libm.so.6", versions: vec![(b"GLIBC_2.2.5", false)] },
        ];
        build_verneed(&needs, 4, (strtab, format)).unwrap()
    }

    #[test]
    fn verdef_round_trip() {
        for format in Format::ALL {
            let mut strtab = StringTable::new();
            let defs = [def("V1", &[]), def("V2", &["V1"]), def("V3", &["V2", "V1"])];
            let built = build_verdef(b"libx.so", &defs, (&mut strtab, format)).unwrap();
            assert_eq!(built.count, 4);
            assert_eq!(built.bytes.len(), 4 * 20 + (1 + 1 + 2 + 3) * 8);
            // The base: revision 1, flags 1, index 1, one name.
            let [zero, one] = format.u16_bytes(1);
            assert_eq!(built.bytes[..8], [zero, one].repeat(4));
            assert_eq!(format.get_u32(&built.bytes[8..]), sysv_hash(b"libx.so"));
            let parsed = parse_verdef(&built.bytes, built.count, (strtab.bytes(), format)).unwrap();
            assert_eq!(parsed, [(1, &b"libx.so"[..]), (2, b"V1"), (3, b"V2"), (4, b"V3")]);
        }
    }

    #[test]
    fn verneed_round_trip() {
        for format in Format::ALL {
            let mut strtab = StringTable::new();
            let built = sample_verneed(&mut strtab, format);
            assert_eq!(built.count, 2);
            assert_eq!(built.bytes.len(), 5 * 16);
            let parsed = parse_verneed(&built.bytes, built.count, (strtab.bytes(), format)).unwrap();
            let need = |index, file: &'static str, name: &'static str, weak| NeededVersion {
                index,
                file: file.as_bytes(),
                name: name.as_bytes(),
                weak,
            };
            assert_eq!(
                parsed,
                [
                    need(4, "libc.so.6", "GLIBC_2.2.5", false),
                    need(5, "libc.so.6", "GLIBC_2.34", true),
                    need(6, "libm.so.6", "GLIBC_2.2.5", false)
                ]
            );
        }
    }

    #[test]
    fn indices_run_out() {
        let names: Vec<String> = (0..0x7fff).map(|i| format!("V{i}")).collect();
        let defs: Vec<_> = names.iter().map(|n| def(n, &[])).collect();
        let mut strtab = StringTable::new();
        assert_eq!(
            build_verdef(b"x", &defs, (&mut strtab, Format::NATIVE)).unwrap_err(),
            VersionError::TooMany
        );
        assert!(build_verdef(b"x", &defs[1..], (&mut strtab, Format::NATIVE)).is_ok());
        let needs = [VersionNeed { file: b"f", versions: vec![(b"a", false), (b"b", false)] }];
        assert_eq!(
            build_verneed(&needs, 0x7fff, (&mut strtab, Format::NATIVE)).unwrap_err(),
            VersionError::TooMany
        );
        assert!(build_verneed(&needs, 0x7ffe, (&mut strtab, Format::NATIVE)).is_ok());
    }

    #[test]
    fn hostile_verdef() {
        let mut strtab = StringTable::new();
        let good = build_verdef(b"libx.so", &[def("V1", &[])], (&mut strtab, Format::NATIVE)).unwrap().bytes;
        let parse = |bytes: &[u8], count| parse_verdef(bytes, count, (strtab.bytes(), Format::NATIVE));
        let with = |at: usize, value: u32| {
            let mut bad = good.clone();
            put_u32_at(&mut bad, at, value.to_le_bytes());
            bad
        };
        assert_eq!(parse(&good, 3).unwrap_err(), VersionError::BadLink(28));
        assert_eq!(parse(&with(16, 0), 2).unwrap_err(), VersionError::BadLink(0), "a cycle");
        assert_eq!(parse(&with(16, u32::MAX), 2).unwrap_err(), VersionError::Truncated(u32::MAX as usize));
        assert_eq!(parse(&with(12, u32::MAX), 2).unwrap_err(), VersionError::Truncated(u32::MAX as usize));
        assert_eq!(parse(&with(20, 1000), 2).unwrap_err(), VersionError::BadName(20));
        assert_eq!(parse(&with(0, 2), 2).unwrap_err(), VersionError::BadRevision(0));
        assert_eq!(parse(&with(4, 1 << 16), 2).unwrap_err(), VersionError::BadIndex(0));
        assert_eq!(parse(&with(4, 1), 2).unwrap_err(), VersionError::BadLink(0), "no name");
        for len in 0..good.len() {
            assert!(parse(&good[..len], 2).is_err());
        }
        assert!(parse(&good, u32::MAX).is_err());
        assert_eq!(parse(&[], 0).unwrap(), []);
        assert_eq!(
            parse_verdef(&good, 2, (b"no terminator", Format::NATIVE)).unwrap_err(),
            VersionError::BadName(20)
        );
    }

    #[test]
    fn hostile_verneed() {
        let mut strtab = StringTable::new();
        let good = sample_verneed(&mut strtab, Format::NATIVE).bytes;
        for len in 0..good.len() {
            assert!(parse_verneed(&good[..len], 2, (strtab.bytes(), Format::NATIVE)).is_err());
        }
        // Every single wrong byte: any answer will do, but there must be one.
        for at in 0..good.len() {
            for value in [0, 1, 0x10, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = parse_verneed(&bad, 2, (strtab.bytes(), Format::NATIVE));
            }
        }
        // Two files that share one chain stand for more versions than the section holds.
        let mut shared = good[..48].to_vec();
        shared.extend_from_slice(&good[..48]);
        put_u32_at(&mut shared, 12, [16, 0, 0, 0]);
        put_u32_at(&mut shared, 16 + 12, [16, 0, 0, 0]);
        let _ = parse_verneed(&shared, u32::MAX, (strtab.bytes(), Format::NATIVE)).unwrap_err();
    }
}
