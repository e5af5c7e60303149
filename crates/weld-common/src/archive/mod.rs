//! Readers for static libraries: the `ar` container in its GNU, BSD and COFF forms, plain and thin.
//!
//! An archive is an 8-byte magic followed by members: a 60-byte text header, then the data, padded to
//! an even offset. The first members are special: a symbol index (the "armap", see [`armap`]) and,
//! except for BSD, a table of names that do not fit the header's 16 bytes. In a thin archive the
//! ordinary members have headers only; their bytes are in files next to the archive.
//!
//! [`Archive::parse`] looks at the special members and nothing else, so that a member nobody needs
//! is never read. Everything is checked where it is read; no input can make these readers panic,
//! loop or allocate.
//!
//! Forms: GNU binutils `ar`, 4.4BSD `ar` (`#1/len` names, `__.SYMDEF`), Microsoft PE/COFF
//! specification, "Archive (Library) File Format".

pub mod armap;

use std::fmt;
use std::ops::Range;

use rayon::prelude::*;

use armap::{Armap, Symbols};

use crate::diag::{Cause, Diagnostic};

const MAGIC: &[u8; 8] = b"!<arch>\n";
const THIN_MAGIC: &[u8; 8] = b"!<thin>\n";
const HEADER: u64 = 60;

/// Why an archive cannot be read: what is wrong, and where (bytes from the archive's start).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveError {
    pub offset: u64,
    pub problem: &'static str,
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed archive: {} at offset {:#x}", self.problem, self.offset)
    }
}

impl std::error::Error for ArchiveError {}

impl From<ArchiveError> for Diagnostic {
    fn from(e: ArchiveError) -> Self {
        Diagnostic::error(Cause::MalformedArchive, e.to_string())
    }
}

fn err<T>(offset: u64, problem: &'static str) -> Result<T, ArchiveError> {
    Err(ArchiveError { offset, problem })
}

/// Where the bytes of a member are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberData<'a> {
    /// In the archive, at an even offset.
    Inline(&'a [u8]),
    /// In the file `Member::name`, relative to the archive's directory. It may itself be an archive.
    Thin,
    /// In a member of another archive: `Member::name` is that archive, relative to this one's
    /// directory, and `header_offset` is what its [`Archive::member_at`] takes. GNU `ar` writes this
    /// when an archive is added to a thin one.
    ThinNested { header_offset: u64 },
}

/// One ordinary member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The file name; in a thin archive a path. Not necessarily unique.
    pub name: &'a [u8],
    pub data: MemberData<'a>,
    /// Where the member's header is, in bytes from the archive's start: what the index refers to.
    pub header_offset: u64,
    /// Bytes of data; for a thin member what the archive recorded of the file.
    pub size: u64,
    /// Seconds since 1970; 0 if the archive does not say or says nonsense, as some tools do.
    pub mtime: u64,
}

/// An archive's special members.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'a> {
    bytes: &'a [u8],
    thin: bool,
    armap: Option<Armap<'a>>,
    long_names: &'a [u8],
    /// Offset of the first ordinary member's header.
    first: u64,
}

impl<'a> Archive<'a> {
    /// Whether `bytes` begin like an archive, plain or thin.
    pub fn is_archive(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC) || bytes.starts_with(THIN_MAGIC)
    }

    /// Where the first member is, with the header after it: the symbol index if there is one.
    pub fn first_member(bytes: &[u8]) -> Option<Range<usize>> {
        let start = MAGIC.len() as u64;
        let header = Self::is_archive(bytes).then(|| Header::at(bytes, start).ok())??;
        let end = header.size.checked_add(start + 2 * HEADER)?.min(bytes.len() as u64);
        Some(0..end as usize)
    }

    /// Where a member's data is in `bytes`, which begin with its header. `None` if they do not, or if the
    /// archive is thin.
    pub fn data_of_member(bytes: &[u8]) -> Option<Range<usize>> {
        let (data, start) = Header::at(bytes, 0).ok()?.inline_data().ok()?;
        let start = start as usize;
        Some(start..start + data.len())
    }

    /// Reads the symbol index and the table of long names, which stand in front of all members.
    pub fn parse(bytes: &'a [u8]) -> Result<Archive<'a>, ArchiveError> {
        Self::read(bytes, true)
    }

    /// For those who want to see members only: the symbol index, which may be long, is not looked at.
    pub fn without_index(bytes: &'a [u8]) -> Result<Archive<'a>, ArchiveError> {
        Self::read(bytes, false)
    }

    fn read(bytes: &'a [u8], index: bool) -> Result<Archive<'a>, ArchiveError> {
        if !Self::is_archive(bytes) {
            return err(0, "no archive magic");
        }
        let mut archive = Archive {
            bytes,
            thin: bytes.starts_with(THIN_MAGIC),
            armap: None,
            long_names: &[],
            first: MAGIC.len() as u64,
        };
        let mut seen_index = false;
        let mut seen_names = false;
        while archive.first < bytes.len() as u64 {
            let header = Header::at(bytes, archive.first)?;
            let special = match header.special() {
                Some(special) => special,
                None if header.is_bsd_index()? => Special::BsdIndex,
                None => break,
            };
            let (data, start) = header.inline_data()?;
            match special {
                // COFF has a second, little-endian `/` with the same symbols sorted by name.
                Special::Index { .. } | Special::BsdIndex if !index => {}
                Special::Index { .. } if seen_index => {}
                Special::Index { wide } => archive.armap = Armap::gnu(data, start, wide)?,
                Special::BsdIndex => {
                    let wide = header.bsd_name()?.starts_with(b"__.SYMDEF_64");
                    archive.armap = Armap::bsd(data, start, wide)?;
                }
                Special::LongNames if seen_names => return err(header.offset, "second table of long names"),
                Special::LongNames => {
                    archive.long_names = data;
                    seen_names = true;
                }
                Special::Ignored => {}
            }
            seen_index |= matches!(special, Special::Index { .. } | Special::BsdIndex);
            archive.first = header.after_inline();
        }
        Ok(archive)
    }

    /// The whole file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes of the member at an offset, and of those up to the next one at `offsets`, which the index
    /// names: how long the member is stands in its header, which may not be in memory yet.
    pub fn extent(&self, offsets: &[u64], offset: u64) -> &'a [u8] {
        let bytes = self.bytes();
        let next = offsets.partition_point(|o| *o <= offset);
        let end = offsets.get(next).map_or(bytes.len(), |o| *o as usize);
        bytes.get(offset as usize..end).unwrap_or_default()
    }

    pub fn is_thin(&self) -> bool {
        self.thin
    }

    /// The symbol index as it stands in the file; `None` as for [`Archive::symbols`].
    pub fn armap(&self) -> Option<Armap<'a>> {
        self.armap
    }

    /// The symbols that members define: name, and the offset to give to [`Archive::member_at`].
    /// `None` when there is no index, or one without symbols: such an index says nothing, for tools
    /// that do not know a member's format write it too, so members have to be looked at.
    pub fn symbols(&self) -> Option<Symbols<'a>> {
        self.armap.map(|armap| armap.symbols())
    }

    /// The member whose header is at `offset`. An error if there is none, or a special one.
    pub fn member_at(&self, offset: u64) -> Result<Member<'a>, ArchiveError> {
        self.parse_member(offset).map(|(member, _)| member)
    }

    /// All ordinary members in file order. Ends after the first error.
    pub fn members(&self) -> Members<'a> {
        Members { archive: *self, next: self.first }
    }

    /// What `look` makes of each ordinary member, in file order, up to the first error.
    ///
    /// Where a member is stands in the header of the one before, so that a library of tens of thousands is a
    /// chain of pages nobody has touched. If it has an index, several threads begin at members that this
    /// names. It need not be true: the part of a thread counts only if the part in front of it ends where it
    /// begins.
    pub fn each_member<T: Send>(
        &self,
        parallel: bool,
        look: impl Fn(Member<'a>) -> T + Sync,
    ) -> (Vec<T>, Option<ArchiveError>) {
        let named = self.armap.filter(|_| parallel && !self.thin).map_or(Vec::new(), |map| map.members());
        let begins = named.into_iter().step_by(MEMBERS_PER_TASK).skip(1).filter(|at| *at > self.first);
        let begins: Vec<u64> = std::iter::once(self.first).chain(begins).chain([u64::MAX]).collect();
        let walk = |part: &[u64]| self.walk(part[0]..part[1], &look);
        let parts: Vec<Walked<T>> = match begins.len() > 2 {
            true => begins.par_windows(2).map(walk).collect(),
            false => begins.windows(2).map(walk).collect(),
        };
        let (mut all, mut next) = (Vec::new(), self.first);
        for (bounds, mut part) in begins.windows(2).zip(parts) {
            if bounds[0] != next {
                part = self.walk(next..bounds[1], &look);
            }
            all.append(&mut part.members);
            match part.next {
                Ok(behind) => next = behind,
                Err(e) => return (all, Some(e)),
            }
        }
        (all, None)
    }

    /// Looks at the members that begin in a part of the archive, of which the first one begins with it.
    fn walk<T>(&self, part: Range<u64>, look: &impl Fn(Member<'a>) -> T) -> Walked<T> {
        let end = part.end.min(self.bytes.len() as u64);
        let mut walked = Walked { members: Vec::new(), next: Ok(part.start) };
        while let Ok(at) = walked.next
            && at < end
        {
            walked.next = self.parse_member(at).map(|(member, behind)| {
                walked.members.push(look(member));
                behind
            });
        }
        walked
    }

    /// The member at `offset`, and where the header after it is.
    fn parse_member(&self, offset: u64) -> Result<(Member<'a>, u64), ArchiveError> {
        if offset < self.first {
            return err(offset, "reference to something that is not a member");
        }
        let header = Header::at(self.bytes, offset)?;
        if header.special().is_some() {
            return err(offset, "special member among ordinary ones");
        }
        let member = |name, data, size| Member {
            name,
            data,
            header_offset: offset,
            size,
            mtime: decimal(header.field(16, 12)).unwrap_or(0),
        };
        if self.thin {
            let (name, nested) = self.name(&header)?;
            let data = match nested {
                Some(header_offset) => MemberData::ThinNested { header_offset },
                None => MemberData::Thin,
            };
            return Ok((member(name, data, header.size), offset + HEADER));
        }
        let (data, _) = header.inline_data()?;
        let name = match header.bsd_name_len() {
            Some(_) => header.bsd_name()?,
            None => match self.name(&header)? {
                (name, None) => name,
                (_, Some(_)) => return err(offset, "nested member in an archive that is not thin"),
            },
        };
        Ok((member(name, MemberData::Inline(data), data.len() as u64), header.after_inline()))
    }

    /// A name in GNU or COFF form: in the header, or in the table of long names. In thin archives the
    /// latter may be followed by an offset within the archive it names.
    fn name(&self, header: &Header<'a>) -> Result<(&'a [u8], Option<u64>), ArchiveError> {
        let field = header.name;
        let Some(reference) = field.strip_prefix(b"/") else {
            let end = memchr::memchr(b'/', field).unwrap_or(field.len());
            return Ok((&field[..end], None));
        };
        let (position, nested) = match memchr::memchr(b':', reference) {
            Some(colon) => (&reference[..colon], Some(&reference[colon + 1..])),
            None => (reference, None),
        };
        // GNU `ar` leaves the `/` that ended a name of 15 characters behind the number that took its place.
        let (Some(position), Ok(nested)) =
            (leading_decimal(position), nested.map(|n| leading_decimal(n).ok_or(())).transpose())
        else {
            return err(header.offset, "bad reference to the table of long names");
        };
        let tail = usize::try_from(position).ok().and_then(|p| self.long_names.get(p..));
        let Some((tail, end)) = tail.and_then(|t| Some((t, memchr::memchr2(b'\n', 0, t)?))) else {
            return err(header.offset, "reference past the table of long names");
        };
        let name = &tail[..end];
        Ok((name.strip_suffix(b"/").unwrap_or(name), nested))
    }
}

/// What was made of the members of a part of an archive.
struct Walked<T> {
    members: Vec<T>,
    /// Where the member after them begins.
    next: Result<u64, ArchiveError>,
}

/// Members for each task.
const MEMBERS_PER_TASK: usize = 256;

/// Iterates over the ordinary members; see [`Archive::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    archive: Archive<'a>,
    next: u64,
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.archive.bytes.len() as u64 {
            return None;
        }
        Some(match self.archive.parse_member(self.next) {
            // Each header is after the one before, so this comes to an end.
            Ok((member, next)) => {
                self.next = next;
                Ok(member)
            }
            Err(e) => {
                self.next = u64::MAX;
                Err(e)
            }
        })
    }
}

/// A member that is not a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// `/` or, with 64-bit offsets, `/SYM64/`.
    Index { wide: bool },
    /// `__.SYMDEF` and kin.
    BsdIndex,
    /// `//`.
    LongNames,
    /// `/<ECSYMBOLS>/` and kin: further indexes of COFF libraries, of use to nobody here.
    Ignored,
}

/// One member header: name 16, mtime 12, uid 6, gid 6, mode 8, size 10 bytes of text, then "`\n".
struct Header<'a> {
    bytes: &'a [u8],
    offset: u64,
    /// The name field without the spaces after it.
    name: &'a [u8],
    /// Bytes after the header, including a BSD long name.
    size: u64,
}

impl<'a> Header<'a> {
    fn at(bytes: &'a [u8], offset: u64) -> Result<Header<'a>, ArchiveError> {
        let Some(raw) = slice(bytes, offset, HEADER) else {
            return err(offset, "truncated member header");
        };
        if &raw[58..] != b"`\n" {
            return err(offset, "no member header");
        }
        let Some(size) = decimal(&raw[48..58]) else {
            return err(offset, "bad size in a member header");
        };
        Ok(Header { bytes, offset, name: raw[..16].trim_ascii_end(), size })
    }

    fn field(&self, start: u64, len: u64) -> &'a [u8] {
        slice(self.bytes, self.offset + start, len).unwrap_or_default()
    }

    fn special(&self) -> Option<Special> {
        match self.name {
            b"/" => Some(Special::Index { wide: false }),
            b"/SYM64/" => Some(Special::Index { wide: true }),
            b"//" => Some(Special::LongNames),
            // Microsoft's librarian adds tables that only its own linker reads: `/<ECSYMBOLS>/`,
            // `/CXXMODWEAKSYM/`. An ordinary name that begins so is a number, which GNU ar may leave the end
            // of the name behind.
            [b'/', b'<', ..] => Some(Special::Ignored),
            [b'/', first, .., b'/'] if !first.is_ascii_digit() => Some(Special::Ignored),
            _ => None,
        }
    }

    fn is_bsd_index(&self) -> Result<bool, ArchiveError> {
        Ok(matches!(
            self.bsd_name()?,
            b"__.SYMDEF" | b"__.SYMDEF SORTED" | b"__.SYMDEF_64" | b"__.SYMDEF_64 SORTED"
        ))
    }

    /// For `#1/len`: the length of the name that stands in front of the data.
    fn bsd_name_len(&self) -> Option<&'a [u8]> {
        self.name.strip_prefix(b"#1/")
    }

    /// The name in BSD form, in the header or in front of the data, without padding.
    fn bsd_name(&self) -> Result<&'a [u8], ArchiveError> {
        if self.bsd_name_len().is_none() {
            return Ok(self.name);
        }
        let (name, _) = self.split_bsd_name()?;
        let end = memchr::memchr(0, name).unwrap_or(name.len());
        Ok(&name[..end])
    }

    /// The data, and its offset in the archive.
    fn inline_data(&self) -> Result<(&'a [u8], u64), ArchiveError> {
        let (name, data) = self.split_bsd_name()?;
        Ok((data, self.offset + HEADER + name.len() as u64))
    }

    /// What follows the header, cut into BSD name (often empty) and data.
    fn split_bsd_name(&self) -> Result<(&'a [u8], &'a [u8]), ArchiveError> {
        let Some(data) = slice(self.bytes, self.offset + HEADER, self.size) else {
            return err(self.offset, "member reaches past the end of the archive");
        };
        let Some(len) = self.bsd_name_len() else { return Ok((&[], data)) };
        let len = decimal(len).and_then(|len| usize::try_from(len).ok());
        match len.and_then(|len| data.split_at_checked(len)) {
            Some(parts) => Ok(parts),
            None => err(self.offset, "bad length of a member name"),
        }
    }

    /// Where the next header is. Call only when the data is known to be within the archive.
    fn after_inline(&self) -> u64 {
        (self.offset + HEADER + self.size).next_multiple_of(2)
    }
}

/// `bytes[offset..offset + len]`, if it is there.
fn slice(bytes: &[u8], offset: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(len)?).ok()?;
    bytes.get(start..end)
}

/// A number as headers have it: at least one digit, spaces after.
fn decimal(field: &[u8]) -> Option<u64> {
    let digits = field.trim_ascii_end();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |n, &c| {
        let digit = c.is_ascii_digit().then(|| u64::from(c - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

/// The number that a field begins with.
fn leading_decimal(field: &[u8]) -> Option<u64> {
    let digits = field.iter().take_while(|c| c.is_ascii_digit()).count();
    decimal(&field[..digits])
}

#[cfg(test)]
mod tests;
