//! Why there is no plan of an output: its parts cannot be sized or placed.

use std::fmt;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};

use super::commons::CommonError;
use super::copyrel::CopyError;
use super::needed::NullAddress;
use crate::input::versions::VersionError;
use crate::layout::error::{LayoutError, ScriptError, SectionName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    Layout(LayoutError),
    TooLarge(TableTooLarge),
    Common(CommonError),
    Copy(CopyError),
    NullAddress(Box<NullAddress>),
    Versions(VersionError),
    /// `-r`: the signature of a section group is no symbol of the output.
    NoSignature {
        object: Box<str>,
        section: u32,
    },
    /// An instruction that has to be moved is too far from all places for it.
    Stuck {
        place: Box<str>,
    },
    /// `--execute-only`, and an output section with code that has data, too.
    DataInCode(SectionName),
    /// `--branch-reach` for a machine whose branches all reach.
    BranchReach {
        machine: &'static str,
    },
    /// An erratum of processors of another machine, `of`.
    Erratum {
        option: &'static str,
        of: &'static str,
        machine: &'static str,
    },
}

/// A table of which the format can tell no more entries or bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableTooLarge {
    /// Offsets in the section have 32 bits.
    Section(&'static str),
    /// Indices of symbols have.
    Symbols(u64),
}

impl PlanError {
    fn cause(&self) -> Cause {
        match self {
            PlanError::Layout(error) => error.cause(),
            PlanError::TooLarge(_) => Cause::TooLarge,
            PlanError::Common(_) => Cause::CommonSymbol,
            PlanError::Copy(_) => Cause::CopyRelocation,
            PlanError::NullAddress(_) => Cause::NeedsPic,
            PlanError::Versions(_) => Cause::VersionNotFound,
            PlanError::NoSignature { .. } => Cause::MalformedObject,
            PlanError::Stuck { .. } => Cause::RelocationOutOfRange,
            PlanError::DataInCode(_) => Cause::ExecuteOnly,
            PlanError::BranchReach { .. } | PlanError::Erratum { .. } => Cause::UnsupportedOption,
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Layout(error) => error.fmt(f),
            PlanError::TooLarge(error) => error.fmt(f),
            PlanError::Common(error) => error.fmt(f),
            PlanError::Copy(error) => error.fmt(f),
            PlanError::NullAddress(error) => error.fmt(f),
            PlanError::Versions(error) => error.fmt(f),
            PlanError::NoSignature { object, section } => {
                write!(f, "{object}: section group {section} has no signature")
            }
            PlanError::Stuck { place } => {
                write!(f, "{place}: the section is so large that no branch leads out of it to a thunk")
            }
            PlanError::DataInCode(section) => write!(
                f,
                "--execute-only: there is data among the code in {section}, which nobody could read"
            ),
            PlanError::BranchReach { machine } => {
                write!(f, "--branch-reach: on {machine} all branches reach")
            }
            PlanError::Erratum { option, of, machine } => {
                write!(f, "{option} is for {of}, not for {machine}")
            }
        }
    }
}

impl fmt::Display for TableTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableTooLarge::Section(".strtab") => {
                f.write_str(".strtab is larger than 4 GiB (-s leaves it out)")
            }
            TableTooLarge::Section(name) => write!(f, "{name} is larger than 4 GiB"),
            TableTooLarge::Symbols(count) => write!(f, "too many symbols: {count}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl From<LayoutError> for PlanError {
    fn from(error: LayoutError) -> Self {
        PlanError::Layout(error)
    }
}

impl From<ScriptError> for PlanError {
    fn from(error: ScriptError) -> Self {
        PlanError::Layout(error.into())
    }
}

impl From<TableTooLarge> for PlanError {
    fn from(error: TableTooLarge) -> Self {
        PlanError::TooLarge(error)
    }
}

impl From<CommonError> for PlanError {
    fn from(error: CommonError) -> Self {
        PlanError::Common(error)
    }
}

impl From<CopyError> for PlanError {
    fn from(error: CopyError) -> Self {
        PlanError::Copy(error)
    }
}

impl From<NullAddress> for PlanError {
    fn from(error: NullAddress) -> Self {
        PlanError::NullAddress(Box::new(error))
    }
}

impl From<VersionError> for PlanError {
    fn from(error: VersionError) -> Self {
        PlanError::Versions(error)
    }
}

/// What a link fails with.
pub fn failed(error: impl Into<PlanError>) -> Diagnostics {
    let error: PlanError = error.into();
    Diagnostic::error(error.cause(), error.to_string()).into()
}
