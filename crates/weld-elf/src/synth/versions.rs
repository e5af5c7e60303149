//! `.gnu.version_d` and `.gnu.version_r`: the versions an output defines and needs.
//! [`crate::input::versions`] reads them.
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

use super::plan::Plan;
use super::section::{At, Cuts, Header, Info, Links, Sizes, Source, Spec, Synthetic};
use super::sysv_hash::sysv_hash;
use crate::elf::{Format, SHF_ALLOC, SHT_GNU_VERDEF, SHT_GNU_VERNEED, SHT_GNU_VERSYM};
use crate::input::versions::{
    MAX_INDEX, VERDAUX_SIZE, VERDEF_SIZE, VERNAUX_SIZE, VERNEED_SIZE, VersionError,
};
use crate::layout::ChunkKind;
use crate::symbols::version_scripts::VersionDef;
use object::elf;
use weld_common::string_table::StringTable;

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
    strtab: &mut StringTable,
    format: Format,
) -> Result<Verdef, VersionError> {
    if defs.len() + 1 > MAX_INDEX {
        return Err(VersionError::TooMany);
    }
    let mut bytes = Vec::new();
    put_verdef(&mut bytes, 1, elf::VER_FLG_BASE.0, &[base], strtab, format)?;
    let mut last = 0;
    for (i, def) in defs.iter().enumerate() {
        let here = bytes.len();
        put_u32_at(&mut bytes, last + 16, format.u32_bytes((here - last) as u32));
        let names: Vec<&[u8]> = std::iter::once(def.name).chain(def.parents.iter().copied()).collect();
        let flags = if def.weak { elf::VER_FLG_WEAK.0 } else { 0 };
        put_verdef(&mut bytes, i as u16 + 2, flags, &names, strtab, format)?;
        last = here;
    }
    Ok(Verdef { bytes, count: defs.len() as u32 + 1 })
}

/// Appends one `Verdef` with its names; its link stays 0.
fn put_verdef(
    bytes: &mut Vec<u8>,
    index: u16,
    flags: u16,
    names: &[&[u8]],
    strtab: &mut StringTable,
    format: Format,
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
    strtab: &mut StringTable,
    format: Format,
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
    use crate::input::versions::{NeededVersion, parse_verdef, parse_verneed};

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
        build_verneed(&needs, 4, strtab, format).unwrap()
    }

    #[test]
    fn verdef_round_trip() {
        for format in Format::ALL {
            let mut strtab = StringTable::new();
            let defs = [def("V1", &[]), def("V2", &["V1"]), def("V3", &["V2", "V1"])];
            let built = build_verdef(b"libx.so", &defs, &mut strtab, format).unwrap();
            assert_eq!(built.count, 4);
            assert_eq!(built.bytes.len(), 4 * 20 + (1 + 1 + 2 + 3) * 8);
            // The base: revision 1, flags 1, index 1, one name.
            let [zero, one] = format.u16_bytes(1);
            assert_eq!(built.bytes[..8], [zero, one].repeat(4));
            assert_eq!(format.get_u32(&built.bytes[8..]), sysv_hash(b"libx.so"));
            let parsed = parse_verdef(&built.bytes, built.count, strtab.bytes(), format).unwrap();
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
            let parsed = parse_verneed(&built.bytes, built.count, strtab.bytes(), format).unwrap();
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
            build_verdef(b"x", &defs, &mut strtab, Format::NATIVE).unwrap_err(),
            VersionError::TooMany
        );
        assert!(build_verdef(b"x", &defs[1..], &mut strtab, Format::NATIVE).is_ok());
        let needs = [VersionNeed { file: b"f", versions: vec![(b"a", false), (b"b", false)] }];
        assert_eq!(
            build_verneed(&needs, 0x7fff, &mut strtab, Format::NATIVE).unwrap_err(),
            VersionError::TooMany
        );
        assert!(build_verneed(&needs, 0x7ffe, &mut strtab, Format::NATIVE).is_ok());
    }

    #[test]
    fn hostile_verdef() {
        let mut strtab = StringTable::new();
        let good = build_verdef(b"libx.so", &[def("V1", &[])], &mut strtab, Format::NATIVE).unwrap().bytes;
        let parse = |bytes: &[u8], count| parse_verdef(bytes, count, strtab.bytes(), Format::NATIVE);
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
            parse_verdef(&good, 2, b"no terminator", Format::NATIVE).unwrap_err(),
            VersionError::BadName(20)
        );
    }

    #[test]
    fn hostile_verneed() {
        let mut strtab = StringTable::new();
        let good = sample_verneed(&mut strtab, Format::NATIVE).bytes;
        for len in 0..good.len() {
            assert!(parse_verneed(&good[..len], 2, strtab.bytes(), Format::NATIVE).is_err());
        }
        // Every single wrong byte: any answer will do, but there must be one.
        for at in 0..good.len() {
            for value in [0, 1, 0x10, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = parse_verneed(&bad, 2, strtab.bytes(), Format::NATIVE);
            }
        }
        // Two files that share one chain stand for more versions than the section holds.
        let mut shared = good[..48].to_vec();
        shared.extend_from_slice(&good[..48]);
        put_u32_at(&mut shared, 12, [16, 0, 0, 0]);
        put_u32_at(&mut shared, 16 + 12, [16, 0, 0, 0]);
        let _ = parse_verneed(&shared, u32::MAX, strtab.bytes(), Format::NATIVE).unwrap_err();
    }
}
