//! Where something is in memory when the program runs, as a type of its own.
//!
//! A byte has three numbers: its address, its offset in its output section, and its place in the file
//! ([`crate::layout::FileOffset`]). Small images have all three alike often enough that one taken for another
//! goes unnoticed. So what has an address says so, and what is added to an address or lies between two of
//! them is a plain number of bytes.
//!
//! Formulas of relocations (S + A - P) are the machine's, and work on numbers: they ask for the number where
//! they begin ([`Address::get`]), as headers and tables do when they write it down. Values of symbols are
//! addresses also where a symbol is absolute and stands for any number, since a reference does not know.

use std::fmt;
use std::ops::{Add, Sub};

/// An address in the memory of the running program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Address(u64);

impl Address {
    /// Where memory begins, and what has no address is.
    pub const ZERO: Address = Address(0);

    /// The last byte of 64 bits.
    pub const MAX: Address = Address(u64::MAX);

    #[inline(always)]
    pub const fn new(number: u64) -> Address {
        Address(number)
    }

    /// The number, for formulas, headers and tables.
    #[inline(always)]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// So many bytes further on; addresses wrap around.
    #[inline(always)]
    pub const fn wrapping_add(self, bytes: u64) -> Address {
        Address(self.0.wrapping_add(bytes))
    }

    /// How many bytes this lies after another one; modulo 2^64 if it is before.
    #[inline(always)]
    pub const fn wrapping_sub(self, other: Address) -> u64 {
        self.0.wrapping_sub(other.0)
    }

    /// So many bytes further back; addresses wrap around.
    #[inline(always)]
    pub const fn back(self, bytes: u64) -> Address {
        Address(self.0.wrapping_sub(bytes))
    }

    /// So many bytes further on, if there are addresses.
    pub fn checked_add(self, bytes: u64) -> Option<Address> {
        self.0.checked_add(bytes).map(Address)
    }

    /// So many bytes further on, or the last address.
    pub fn saturating_add(self, bytes: u64) -> Address {
        Address(self.0.saturating_add(bytes))
    }

    /// How many bytes this lies after another one; 0 if it does not.
    pub fn since(self, other: Address) -> u64 {
        self.0.saturating_sub(other.0)
    }

    /// How many bytes this lies after another one, if it does.
    pub fn checked_sub(self, other: Address) -> Option<u64> {
        self.0.checked_sub(other.0)
    }

    /// So many bytes further back, if there are addresses.
    pub fn checked_back(self, bytes: u64) -> Option<Address> {
        self.0.checked_sub(bytes).map(Address)
    }

    /// The next multiple of `align`, a power of two; addresses wrap around.
    pub fn aligned(self, align: u64) -> Address {
        Address(align_up(self.0, align))
    }

    /// The last multiple of `align` up to here.
    pub fn aligned_down(self, align: u64) -> Address {
        Address(self.0 - self.0 % align)
    }

    /// The next multiple of `align`, if there is one.
    pub fn checked_aligned(self, align: u64) -> Option<Address> {
        self.0.checked_next_multiple_of(align).map(Address)
    }

    /// The page that this is in, by number.
    pub fn page(self, size: u64) -> u64 {
        self.0 / size
    }

    pub fn is_multiple_of(self, align: u64) -> bool {
        self.0.is_multiple_of(align)
    }
}

impl Add<u64> for Address {
    type Output = Address;

    #[inline(always)]
    fn add(self, bytes: u64) -> Address {
        Address(self.0 + bytes)
    }
}

impl Sub for Address {
    type Output = u64;

    #[inline(always)]
    fn sub(self, other: Address) -> u64 {
        self.0 - other.0
    }
}

impl fmt::UpperHex for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::UpperHex::fmt(&self.0, f)
    }
}

impl fmt::LowerHex for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// `value` rounded up to a multiple of `align`, a power of two.
#[inline(always)]
pub fn align_up(value: u64, align: u64) -> u64 {
    value.wrapping_add(align - 1) & !(align - 1)
}
