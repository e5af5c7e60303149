//! What `e_flags` of objects say together, and why some do not go together.

use std::fmt;

/// `e_flags` of the output so far and those of the next object, which may be its first.
pub type JoinFlags = fn(u32, u32) -> Result<u32, FlagsClash>;

/// How `e_flags` of objects become those of the output.
#[derive(Clone, Copy)]
pub enum FileFlags {
    Always(JoinFlags),
    /// It depends on the version of the ABI (`EI_ABIVERSION`), which is the same for all objects, and that of
    /// the output. `None`: a version that nobody knows.
    ByVersion(fn(u8) -> Option<JoinFlags>),
}

/// Why an object does not go together with those before it, by its `e_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagsClash {
    /// Where floating-point arguments are passed: by itself, and by the others.
    FloatAbi(&'static str, &'static str),
    /// How many registers there are.
    Registers(u32, u32),
    /// It is of another version of the object ABI than the only one that is supported.
    AbiVersion(u32),
    /// It is of another version of the ABI than the second, the only one that is supported; in the first,
    /// addresses of functions are those of descriptors.
    NotSecond(u32),
    /// It is for an ABI, or uses a convention, that does not go with that of the others.
    Convention {
        own: &'static str,
        others: &'static str,
    },
    /// It has instructions of a set that none has together with those of the others.
    Instructions {
        own: &'static str,
        others: &'static str,
    },
    /// It has what is not linked for this machine.
    Unsupported(&'static str),
    /// It has a section that only other ABIs have.
    ForeignSection(&'static str),
    /// It says something else than the others.
    Flags {
        own: u32,
        others: u32,
    },
    /// It is for another processor, or for another version of one that stands for several.
    Processors(u32, u32),
    Generic(u32, u32),
    /// It is of another version of the ABI (`EI_ABIVERSION`), or of one that nobody knows.
    Version {
        own: u8,
        others: u8,
    },
    UnknownVersion(u8),
}

impl fmt::Display for FlagsClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlagsClash::FloatAbi(own, others) => {
                write!(f, "passes floating-point arguments as in {own} (e_flags), not as in {others}")
            }
            FlagsClash::Registers(own, others) => {
                write!(f, "is for the ABI of {own} registers (EF_RISCV_RVE), not for that of {others}")
            }
            FlagsClash::NotSecond(version) => {
                write!(
                    f,
                    "is for version {version} of the ABI (e_flags); only version 2 (ELFv2) is supported"
                )
            }
            FlagsClash::ForeignSection(name) => {
                write!(f, "is for another version of the ABI: it has a section {name}")
            }
            FlagsClash::Convention { own, others } => {
                write!(f, "uses {own} (e_flags), but others use {others}")
            }
            FlagsClash::Instructions { own, others } => {
                write!(f, "has code for {own} (e_flags), which does not go with that for {others}")
            }
            FlagsClash::Unsupported(what) => {
                write!(f, "has {what} (e_flags), which is not supported")
            }
            FlagsClash::Flags { own, others } => {
                write!(f, "has e_flags {own:#x}, but others have {others:#x}")
            }
            FlagsClash::Processors(own, others) => {
                write!(f, "is for processor {own:#x} (e_flags), but others are for {others:#x}")
            }
            FlagsClash::Generic(own, others) => {
                write!(
                    f,
                    "is for version {own} of a generic processor (e_flags), but others are for version {others}"
                )
            }
            FlagsClash::Version { own, others } => {
                write!(
                    f,
                    "is of version {own} of the ABI (EI_ABIVERSION), but others are of version {others}"
                )
            }
            FlagsClash::UnknownVersion(version) => {
                write!(f, "is of an unknown version of the ABI (EI_ABIVERSION): {version}")
            }
            FlagsClash::AbiVersion(version) => {
                write!(f, "is of version {version} of the object ABI (e_flags); only version 1 is supported")
            }
        }
    }
}

impl std::error::Error for FlagsClash {}
