//! Where something is in the image, as types of their own.
//!
//! A byte has three numbers ("PE Format", "General Concepts"): its relative virtual address, which is how far
//! after the start of the image it lies in memory, its place in the file, and, once the image is loaded at
//! its base, an address. Headers and tables are full of the first, and of the second in fields beside them.
//! So these two say what they are, and become numbers where they are written down; an address, which only
//! some fields hold, is a number, made in one place ([`Rva::in_memory`]).

use std::fmt;
use std::ops::{Add, Sub};

/// A relative virtual address: bytes from the start of the image in memory. At 0 are headers, so it stands
/// for what is nowhere, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Rva(u32);

impl Rva {
    /// The start of the image.
    pub const ZERO: Rva = Rva(0);

    #[inline(always)]
    pub const fn new(number: u32) -> Rva {
        Rva(number)
    }

    /// The number, for fields and formulas.
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The address, if the image lies at `base`.
    #[inline(always)]
    pub fn in_memory(self, base: u64) -> u64 {
        base + u64::from(self.0)
    }

    #[inline(always)]
    pub const fn wrapping_add(self, bytes: u32) -> Rva {
        Rva(self.0.wrapping_add(bytes))
    }

    /// So many bytes further on, or the last there can be.
    #[inline(always)]
    pub const fn saturating_add(self, bytes: u32) -> Rva {
        Rva(self.0.saturating_add(bytes))
    }

    /// How many bytes this lies after another one; modulo 2^32 if it is before.
    #[inline(always)]
    pub const fn wrapping_sub(self, other: Rva) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl Add<u32> for Rva {
    type Output = Rva;

    #[inline(always)]
    fn add(self, bytes: u32) -> Rva {
        Rva(self.0 + bytes)
    }
}

impl Sub for Rva {
    type Output = u32;

    #[inline(always)]
    fn sub(self, other: Rva) -> u32 {
        self.0 - other.0
    }
}

impl fmt::LowerHex for Rva {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// Bytes from the start of the image's file; 0 for what has none there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FileOffset(pub u64);

impl FileOffset {
    pub const START: FileOffset = FileOffset(0);

    /// As `PointerToRawData` and its like have it. Files are smaller than 4 GiB, which layout sees to.
    pub fn field(self) -> u32 {
        self.0 as u32
    }
}

impl Add<u64> for FileOffset {
    type Output = FileOffset;

    fn add(self, bytes: u64) -> FileOffset {
        FileOffset(self.0 + bytes)
    }
}

impl Sub for FileOffset {
    type Output = u64;

    fn sub(self, other: FileOffset) -> u64 {
        self.0 - other.0
    }
}
