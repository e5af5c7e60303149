//! The form of a file's records: its class and its byte order.
//!
//! Specification: gABI chapter 4 ("ELF Identification").

use super::constants::*;
use super::records::Record;

/// How wide addresses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Elf32,
    Elf64,
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

/// The form of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub class: Class,
    pub order: Order,
}

impl Default for Format {
    fn default() -> Self {
        Format::NATIVE
    }
}

impl Format {
    /// The form that the linker works with: see [`crate::elf`].
    pub const NATIVE: Format = Format { class: Class::Elf64, order: Order::Little };

    /// All forms.
    #[cfg(test)]
    pub const ALL: [Format; 4] = [
        Format::NATIVE,
        Format { class: Class::Elf64, order: Order::Big },
        Format { class: Class::Elf32, order: Order::Little },
        Format { class: Class::Elf32, order: Order::Big },
    ];

    /// The form that the first bytes of a file name; `None` if they name none.
    pub fn of(file: &[u8]) -> Option<Format> {
        let class = match *file.get(4)? {
            ELFCLASS32 => Class::Elf32,
            ELFCLASS64 => Class::Elf64,
            _ => return None,
        };
        let order = match *file.get(5)? {
            ELFDATA2LSB => Order::Little,
            ELFDATA2MSB => Order::Big,
            _ => return None,
        };
        Some(Format { class, order })
    }

    #[inline]
    pub fn is_native(self) -> bool {
        self == Format::NATIVE
    }

    pub fn is_big(self) -> bool {
        self.order == Order::Big
    }

    pub const fn is_64(self) -> bool {
        matches!(self.class, Class::Elf64)
    }

    /// `EI_CLASS` and `EI_DATA`.
    pub fn ident(self) -> [u8; 2] {
        let class = if self.is_64() { ELFCLASS64 } else { ELFCLASS32 };
        [class, if self.is_big() { ELFDATA2MSB } else { ELFDATA2LSB }]
    }

    /// The bytes of an address.
    pub const fn word(self) -> u64 {
        if self.is_64() { 8 } else { 4 }
    }

    /// The largest address.
    pub fn max_address(self) -> u64 {
        if self.is_64() { u64::MAX } else { u32::MAX.into() }
    }

    /// The bytes of a record in a file of this form.
    pub fn size<R: Record>(self) -> u64 {
        if self.is_64() { size_of::<R>() as u64 } else { R::SIZE_32 as u64 }
    }

    /// The first two bytes of `bytes` as a number.
    #[inline]
    pub fn get_u16(self, bytes: &[u8]) -> u16 {
        let bytes = [bytes[0], bytes[1]];
        if self.is_big() { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// The first four bytes of `bytes` as a number.
    #[inline]
    pub fn get_u32(self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if self.is_big() { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// All of `bytes`, at most eight, as a number.
    pub fn get(self, bytes: &[u8]) -> u64 {
        let next = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.is_big() { bytes.iter().fold(0, next) } else { bytes.iter().rev().fold(0, next) }
    }

    #[inline]
    pub fn u16_bytes(self, number: u16) -> [u8; 2] {
        if self.is_big() { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    #[inline]
    pub fn u32_bytes(self, number: u32) -> [u8; 4] {
        if self.is_big() { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    #[inline]
    pub fn u64_bytes(self, number: u64) -> [u8; 8] {
        if self.is_big() { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    /// Fills `out`, at most eight bytes, with the low bytes of a number.
    #[inline]
    pub fn put(self, out: &mut [u8], number: u64) {
        let len = out.len();
        match self.order {
            Order::Little => out.copy_from_slice(&number.to_le_bytes()[..len]),
            Order::Big => out.copy_from_slice(&number.to_be_bytes()[8 - len..]),
        }
    }
}
