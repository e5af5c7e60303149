//! Members of thin archives, which hold the paths of their members instead of bytes.

use std::fmt;
use std::path::{Path, PathBuf};

use super::input::{InputError, InputStore};
use crate::archive::{Archive, ArchiveError, Member, MemberData};
use crate::text;

/// Where a member is that is not in its archive.
pub struct Outside<'a> {
    /// The file that it is in, or is.
    pub path: PathBuf,
    /// All of that file.
    pub file: &'a [u8],
    /// The member, in it.
    pub bytes: &'a [u8],
}

/// Why the bytes of a member are not to be had.
#[derive(Debug)]
pub enum MemberError {
    /// The archive itself is malformed there.
    Header(ArchiveError),
    /// The file is not there.
    Missing(PathBuf),
    /// It is, but cannot be read.
    Unreadable(InputError),
    /// It is an archive, with something wrong where the member should be.
    Archive(PathBuf, ArchiveError),
    /// It is a thin archive itself.
    Nested(PathBuf),
}

impl fmt::Display for MemberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemberError::Header(e) => e.fmt(f),
            MemberError::Missing(path) => {
                write!(f, "cannot open {}, a member of a thin archive: not found", text::path(path))
            }
            MemberError::Unreadable(e) => e.fmt(f),
            MemberError::Archive(path, e) => write!(f, "{}: {e}", text::path(path)),
            MemberError::Nested(path) => {
                write!(f, "{}: a thin archive in a thin archive is not supported", text::path(path))
            }
        }
    }
}

impl std::error::Error for MemberError {}

impl From<ArchiveError> for MemberError {
    fn from(error: ArchiveError) -> Self {
        MemberError::Header(error)
    }
}

/// The bytes of a member of the archive at `path`, from the file that it names if they are not in the
/// archive.
///
/// # Errors
/// If that file is not there, cannot be read, or is an archive that does not hold the member.
pub fn member_bytes<'a>(
    store: &'a InputStore<'a>,
    path: &str,
    member: &Member<'a>,
) -> Result<&'a [u8], MemberError> {
    match member.data {
        MemberData::Inline(data) => Ok(data),
        _ => outside(store, path, member).map(|outside| outside.bytes),
    }
}

/// Finds a member of the thin archive at `path`.
///
/// # Errors
/// As [`member_bytes`].
pub fn outside<'a>(
    store: &'a InputStore<'a>,
    path: &str,
    member: &Member<'a>,
) -> Result<Outside<'a>, MemberError> {
    let path = path_of(path, member.name);
    let bytes = match store.open(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(MemberError::Missing(path)),
        Err(e) => return Err(MemberError::Unreadable(e)),
    };
    let MemberData::ThinNested { header_offset } = member.data else {
        return Ok(Outside { path, file: bytes, bytes });
    };
    // The member lies in an archive that is itself a member. An archive cannot reach itself this
    // way: only members with their bytes in place are taken.
    match Archive::parse(bytes).and_then(|nested| nested.member_at(header_offset)) {
        Ok(Member { data: MemberData::Inline(data), .. }) => Ok(Outside { path, file: bytes, bytes: data }),
        Ok(_) => Err(MemberError::Nested(path)),
        Err(e) => Err(MemberError::Archive(path, e)),
    }
}

/// Paths of members count from the archive's directory.
fn path_of(archive: &str, member: &[u8]) -> PathBuf {
    text::to_path(archive).parent().unwrap_or(Path::new("")).join(text::os_str(member))
}
