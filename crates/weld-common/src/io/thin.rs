//! Members of thin archives, which hold the paths of their members instead of bytes.

use std::path::{Path, PathBuf};

use super::input::InputStore;
use crate::archive::{Archive, Member, MemberData};
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

/// The bytes of a member of the archive at `path`, from the file that it names if they are not in the
/// archive.
///
/// # Errors
/// If that file is not there, cannot be read, or is an archive that does not hold the member.
pub fn member_bytes<'a>(
    store: &'a InputStore<'a>,
    path: &str,
    member: &Member<'a>,
) -> Result<&'a [u8], String> {
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
) -> Result<Outside<'a>, String> {
    let path = path_of(path, member.name);
    let bytes = match store.open(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(format!("cannot open {}, a member of a thin archive: not found", text::path(&path)));
        }
        Err(e) => return Err(e.to_string()),
    };
    let MemberData::ThinNested { header_offset } = member.data else {
        return Ok(Outside { path, file: bytes, bytes });
    };
    // The member lies in an archive that is itself a member. An archive cannot reach itself this
    // way: only members with their bytes in place are taken.
    let nested = Archive::parse(bytes).map_err(|e| format!("{}: {e}", text::path(&path)))?;
    let inner = nested.member_at(header_offset).map_err(|e| format!("{}: {e}", text::path(&path)))?;
    match inner.data {
        MemberData::Inline(data) => Ok(Outside { path, file: bytes, bytes: data }),
        _ => Err(format!("{}: a thin archive in a thin archive is not supported", text::path(&path))),
    }
}

/// Paths of members count from the archive's directory.
fn path_of(archive: &str, member: &[u8]) -> PathBuf {
    text::to_path(archive).parent().unwrap_or(Path::new("")).join(text::os_str(member))
}
