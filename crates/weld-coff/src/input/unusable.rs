//! Why a file cannot take part in a link, or in a library.

use std::fmt;

use weld_common::archive::ArchiveError;
use weld_common::diag::{Cause, HasCause};
use weld_common::io::thin::MemberError;
use weld_lto::ir::ReadError;

use super::ir::CodeError;
use super::load::refusal;
use super::object::ObjectError;
use crate::coff::identify::Kind;
use crate::coff::import;
use crate::coff::machine::Machine;

#[derive(Debug)]
pub enum Unusable {
    /// Its bytes are not to be had.
    Member(MemberError),
    Object(ObjectError),
    Import(import::Malformed),
    Code(CodeError),
    /// Files of this kind are not linked.
    Kind(Kind),
    /// It is for machine `own`, all others for another one.
    Machine {
        own: Machine,
        all: Machine,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Member(e) => e.fmt(f),
            Unusable::Object(e) => e.fmt(f),
            Unusable::Import(e) => e.fmt(f),
            Unusable::Code(e) => e.fmt(f),
            Unusable::Kind(kind) => f.write_str(refusal(*kind)),
            Unusable::Machine { own, all } => {
                write!(f, "machine type {} conflicts with {}", own.name(), all.name())
            }
        }
    }
}

impl std::error::Error for Unusable {}

impl HasCause for Unusable {
    fn cause(&self) -> Cause {
        match self {
            Unusable::Member(_) => Cause::MalformedArchive,
            Unusable::Object(_) | Unusable::Import(_) => Cause::MalformedObject,
            Unusable::Code(CodeError::Read(ReadError::Malformed { .. })) => Cause::MalformedObject,
            Unusable::Code(_) => Cause::LtoIncompatible,
            Unusable::Kind(_) => Cause::UnknownFileType,
            Unusable::Machine { .. } => Cause::WrongMachine,
        }
    }
}

impl From<ArchiveError> for Unusable {
    fn from(error: ArchiveError) -> Self {
        Unusable::Member(error.into())
    }
}

impl From<MemberError> for Unusable {
    fn from(error: MemberError) -> Self {
        Unusable::Member(error)
    }
}

impl From<ObjectError> for Unusable {
    fn from(error: ObjectError) -> Self {
        Unusable::Object(error)
    }
}

impl From<import::Malformed> for Unusable {
    fn from(error: import::Malformed) -> Self {
        Unusable::Import(error)
    }
}

impl From<CodeError> for Unusable {
    fn from(error: CodeError) -> Self {
        Unusable::Code(error)
    }
}
