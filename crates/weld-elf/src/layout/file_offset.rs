//! Where something is in the output file, as a type of its own.
//!
//! Three numbers say where a byte is: its address when the program runs, its offset in its output section,
//! and its place in the file. While addresses are given all three are at hand, and in small images they are
//! equal often enough to be mixed up unnoticed. So the last one is no number here: it becomes one where
//! headers say it, and where bytes are written.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::address::Address;

/// Bytes from the start of the output file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FileOffset(pub u64);

impl FileOffset {
    /// Where the file, and in it the ELF header, begins.
    pub const START: FileOffset = FileOffset(0);

    /// The offset of what lies at an address; `distance` is that of the segment ([`Self::distance`]).
    pub fn of_address(address: Address, distance: u64) -> FileOffset {
        FileOffset(address.get().wrapping_sub(distance))
    }

    /// How far the address of a byte is from its offset: one number throughout a segment.
    pub fn distance(self, address: Address) -> u64 {
        address.get().wrapping_sub(self.0)
    }

    /// Bytes from another offset up to here; 0 if that is not before.
    pub fn since(self, other: FileOffset) -> u64 {
        self.0.saturating_sub(other.0)
    }

    /// The next multiple of `align`, if there is one.
    pub fn checked_aligned(self, align: u64) -> Option<FileOffset> {
        self.0.checked_next_multiple_of(align).map(FileOffset)
    }

    /// The next multiple of `align`, a power of two.
    pub fn aligned(self, align: u64) -> FileOffset {
        FileOffset(crate::address::align_up(self.0, align))
    }
}

impl Add<u64> for FileOffset {
    type Output = FileOffset;

    #[inline(always)]
    fn add(self, bytes: u64) -> FileOffset {
        FileOffset(self.0 + bytes)
    }
}

impl AddAssign<u64> for FileOffset {
    #[inline(always)]
    fn add_assign(&mut self, bytes: u64) {
        self.0 += bytes;
    }
}

impl Sub for FileOffset {
    type Output = u64;

    #[inline(always)]
    fn sub(self, other: FileOffset) -> u64 {
        self.0 - other.0
    }
}

impl fmt::LowerHex for FileOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}
