//! CodeView, the debug information of Microsoft's compilers: what stands in `.debug$T` and `.debug$S`.
//!
//! Nothing here trusts its bytes. All readers take slices and answer [`Fault`] where a record does not have
//! what its kind promises.
//!
//! Facts: Microsoft's `cvinfo.h` (microsoft-pdb), LLVM's documentation of the PDB format.

pub mod leaf;
pub mod numeric;
pub mod records;
pub mod subsection;
pub mod symbol;

use std::fmt;

/// The first word of `.debug$T`, `.debug$P` and `.debug$S`, and of the symbols of a module.
pub const SIGNATURE_C13: u32 = 4;

/// Type indices below this name basic types, and mean the same in every object.
pub const FIRST_INDEX: u32 = 0x1000;

/// The two streams of records that a type index may mean. An object has them in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Types: the TPI stream.
    Type,
    /// Functions, strings, build information: the IPI stream.
    Id,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It ends before what its kind says.
    Truncated,
    /// Nobody knows this kind, so nobody knows which of its bytes are type indices.
    UnknownKind(u16),
    /// It refers to a record that is not before it.
    Index(u32),
    /// It refers to a type where there should be an id, or the other way round.
    WrongSpace(u32),
    /// Longer than a record may be when it has been padded.
    TooLong,
    /// Scopes that it opens and closes do not match.
    Unbalanced,
    /// There may be only one of it in an object.
    Repeated,
    /// The section does not begin as its format says.
    Signature,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Truncated => f.write_str("is truncated"),
            Fault::UnknownKind(kind) => write!(f, "is of unknown kind {kind:#06x}"),
            Fault::Index(index) => write!(f, "refers to {index:#x}, which is not before it"),
            Fault::WrongSpace(index) => {
                write!(f, "refers to {index:#x}, which is not of the kind expected there")
            }
            Fault::TooLong => f.write_str("is too long"),
            Fault::Unbalanced => f.write_str("has scopes that do not match"),
            Fault::Repeated => f.write_str("is there twice"),
            Fault::Signature => f.write_str("does not begin with CodeView's signature"),
        }
    }
}

pub fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Fault> {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(word) => Ok(u16::from_le_bytes(*word)),
        None => Err(Fault::Truncated),
    }
}

pub fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(word) => Ok(u32::from_le_bytes(*word)),
        None => Err(Fault::Truncated),
    }
}

/// The string that begins at `at`, without the NUL that ends it.
pub fn string_at(bytes: &[u8], at: usize) -> Result<&[u8], Fault> {
    let rest = bytes.get(at..).ok_or(Fault::Truncated)?;
    let end = memchr::memchr(0, rest).ok_or(Fault::Truncated)?;
    Ok(&rest[..end])
}
