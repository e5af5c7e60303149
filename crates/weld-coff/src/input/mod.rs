//! Input files: where they are, what they are, and in which order they count.
//!
//! [`search`] finds files (also those of a [toolchain](crate::toolchain), or where an [`overlay`] says that
//! they are), [`load`] gives each a [`FileId`](crate::ids::FileId), [`object`] reads an object's symbols,
//! [`ir`] makes an object of bitcode, whose compiler is told by [`origin`] where it is, [`type_servers`] are
//! compilers' PDBs, [`unusable`] says why a file takes no part. [`parts`] tells prefetching what is read
//! when.

pub mod dll;
pub mod ir;
pub mod load;
pub mod object;
pub mod origin;
pub mod overlay;
pub mod parts;
pub mod search;
pub mod type_servers;
pub mod unusable;
mod yaml;

use std::fmt;
use std::sync::Arc;

use weld_common::text;

/// How messages name an input: the path as given; of what lies in an archive, the names of archive and
/// member, without their directories unless there is another archive of this name.
#[derive(Clone, Debug)]
pub struct FileName<'a> {
    pub path: Arc<str>,
    pub member: Option<&'a [u8]>,
    /// The archive is not the only one of its name.
    pub is_ambiguous: bool,
}

impl fmt::Display for FileName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member {
            // Libraries often hold the paths that objects had.
            Some(member) => {
                let member = text::text(member);
                let archive = if self.is_ambiguous { &self.path } else { base_name(&self.path) };
                write!(f, "{archive}({})", base_name(&member))
            }
            None => f.write_str(&self.path),
        }
    }
}

/// What is after the directories of a path, of Windows or not.
pub fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
