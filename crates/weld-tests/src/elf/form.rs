//! How numbers and records of a file are stored: in 32 or 64 bits, little or big endian.

use object::Endianness;

/// The form of a file; by default that of x86-64.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    pub narrow: bool,
    pub endian: Endianness,
}

fn short<T>(value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| "a table ends too early".to_owned())
}

impl Form {
    /// The number that is all of `bytes`, at most 8.
    pub fn number(self, bytes: &[u8]) -> u64 {
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        match self.endian {
            Endianness::Little => bytes.iter().rev().fold(0, add),
            Endianness::Big => bytes.iter().fold(0, add),
        }
    }

    fn at(self, bytes: &[u8], at: usize, width: usize) -> Result<u64, String> {
        let end = short(at.checked_add(width))?;
        short(bytes.get(at..end)).map(|bytes| self.number(bytes))
    }

    pub fn u16_at(self, bytes: &[u8], at: usize) -> Result<u16, String> {
        self.at(bytes, at, 2).map(|value| value as u16)
    }

    pub fn u32_at(self, bytes: &[u8], at: usize) -> Result<u32, String> {
        self.at(bytes, at, 4).map(|value| value as u32)
    }

    /// A number as wide as addresses are.
    pub fn word_at(self, bytes: &[u8], at: usize) -> Result<u64, String> {
        self.at(bytes, at, self.word())
    }

    /// Bytes of an address.
    pub fn word(self) -> usize {
        self.choose(4, 8)
    }

    /// One of two sizes.
    pub fn choose(self, narrow: usize, wide: usize) -> usize {
        if self.narrow { narrow } else { wide }
    }

    /// The low bytes of a value.
    pub fn bytes(self, value: u64, width: usize) -> Vec<u8> {
        match self.endian {
            Endianness::Little => value.to_le_bytes()[..width].to_vec(),
            Endianness::Big => value.to_be_bytes()[8 - width..].to_vec(),
        }
    }

    pub fn symbol_size(self) -> usize {
        self.choose(16, 24)
    }

    /// Bytes of a relocation with its addend beside it, and of one without.
    pub fn reloc_size(self, with_addend: bool) -> usize {
        self.word() * if with_addend { 3 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_orders() {
        let big = Form { narrow: true, endian: Endianness::Big };
        assert_eq!(big.word_at(&[0, 1, 2, 3, 4], 1), Ok(0x0102_0304));
        assert_eq!(Form::default().u16_at(&[1, 2], 0), Ok(0x201));
        assert!(Form::default().word_at(&[0; 9], 2).is_err());
        assert_eq!(big.bytes(0x0102_0304, 2), [3, 4]);
        assert_eq!(Form::default().bytes(0x0102_0304, 2), [4, 3]);
    }
}
