//! Checked readers of `.gnu.version_d` and `.gnu.version_r`: the versions that a shared object defines and
//! needs.
//!
//! Both are chains of records, see [`crate::synth::versions`], which writes them. A reader walks only
//! forward, at most as many records as the section can hold, so a hostile chain ends. Source: LSB Core,
//! "Symbol Versioning".

use std::fmt;

use object::elf;

use crate::elf::Format;

pub const VERDEF_SIZE: usize = 20;
pub const VERDAUX_SIZE: usize = 8;
pub const VERNEED_SIZE: usize = 16;
pub const VERNAUX_SIZE: usize = 16;
/// Indices have 15 bits; the top bit of a `.gnu.version` entry means "hidden".
pub const MAX_INDEX: usize = 0x7fff;

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

/// Reads `.gnu.version_d`: (index, name) of each definition in the section's order. `count` is
/// `sh_info` or `DT_VERDEFNUM`. The base definition (the soname, no version of a symbol) has
/// index 1, no other has. Parents are not read.
pub fn parse_verdef<'a>(
    section: &[u8],
    count: u32,
    strtab: &'a [u8],
    format: Format,
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
    strtab: &'a [u8],
    format: Format,
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

/// Where the record after the one at `at` is. It does not overlap it, so walks end.
fn next_record(at: usize, link: u32, size: usize) -> Result<usize, VersionError> {
    if (link as usize) < size { Err(VersionError::BadLink(at)) } else { Ok(at + link as usize) }
}
