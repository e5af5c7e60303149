//! Input files: where they are, what they are, and in which order they count.
//!
//! [`search`] finds files (also those of a [`toolchain`], or where an [`overlay`] says that they are), [`load`] gives each a [`FileId`](crate::ids::FileId), [`object`] reads an object's symbols,
//! [`sections`] decides what each section is for, [`servers`] are compilers' PDBs.
//! [`parts`] tells prefetching what is read when.

pub mod dll;
pub mod load;
pub mod object;
pub mod overlay;
pub mod parts;
pub mod search;
pub mod sections;
pub mod servers;
pub mod toolchain;
mod yaml;

use std::fmt;
use std::sync::Arc;

use weld_common::text;

/// How messages name an input: the path as given, and the member if it lies in an archive.
#[derive(Clone, Debug)]
pub struct FileName<'a> {
    pub path: Arc<str>,
    pub member: Option<&'a [u8]>,
}

impl fmt::Display for FileName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member {
            // Libraries often hold the paths that objects had.
            Some(member) => {
                let member = text::text(member);
                let base = member.rsplit(['/', '\\']).next().unwrap_or(&member);
                write!(f, "{}({base})", self.path)
            }
            None => f.write_str(&self.path),
        }
    }
}
