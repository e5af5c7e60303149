//! Input files: finding, opening, identifying and parsing them.
//!
//! [`search`] finds and opens what is named, [`other_machine`] says what it passes over, and [`identify`]
//! says what a file is; [`load`] turns the command line into an ordered list of files, with [`archives`] for
//! what those hold; [`object`] and [`shared`] view relocatable and shared objects in place, [`versions`]
//! reads what the latter say of versions. [`needed`] adds what shared objects need, [`binary`],
//! [`just_symbols`] and [`ir`] make objects of other files ([`made`]), [`remap`] has other files read than
//! are named. [`asked_for`] adds symbols that relocations mean. [`parts`] tells prefetching what is read when, [`origin`] other programs where the bytes of an
//! object are. [`unusable`] says why a file cannot take part.

pub mod archives;
mod asked_for;
mod binary;
pub mod identify;
pub mod ir;
mod just_symbols;
pub mod load;
pub mod location;
pub mod made;
pub mod mapping_symbols;
pub mod needed;
pub mod object;
pub mod origin;
mod other_machine;
pub mod parts;
mod register_code;
pub mod remap;
pub mod search;
pub mod shared;
pub mod unusable;
pub mod versions;

use std::fmt;
use std::sync::Arc;

use weld_common::io::input::InputStore;
use weld_common::text;

use crate::arch::facts::Facts;

/// How messages name an input: the path as given ([`text::path`]), and the member if it lies in an archive.
#[derive(Clone, Debug)]
pub struct FileName<'a> {
    pub path: Arc<str>,
    pub member: Option<&'a [u8]>,
}

impl FileName<'_> {
    /// Whether no file is called so: the object is one that is made for later links ([`crate::relink`]).
    pub fn is_made(&self) -> bool {
        self.member.is_none() && self.path.starts_with('<')
    }
}

/// What reading a file takes besides its bytes.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Files for anything else are refused.
    pub machine: &'static Facts,
    /// Keeps tables that are not stored in the form that the linker works with.
    pub store: &'a InputStore<'a>,
    /// Tables of huge files are looked through by several threads.
    pub parallel: bool,
}

impl FileName<'_> {
    /// The last component of the path, for `file:` patterns and `--exclude-libs`.
    pub fn base(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl fmt::Display for FileName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(member) = self.member {
            write!(f, "({})", text::text(member))?;
        }
        Ok(())
    }
}
