//! Columns of numbers: unsigned LEB128 of them, or of differences to a row before, zigzag.

use weld_common::reader::{Reader, put_uleb};

/// How a column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Uleb,
    /// For numbers that are near those before them.
    Delta,
    /// The same, with zeroes among them: those are 0, and others one more than how far they are from the last that is
    /// none.
    Sparse,
}

impl Encoding {
    pub fn word(self) -> &'static str {
        match self {
            Encoding::Uleb => "uleb",
            Encoding::Delta => "delta",
            Encoding::Sparse => "sparse",
        }
    }

    pub fn find(word: &str) -> Option<Encoding> {
        [Encoding::Uleb, Encoding::Delta, Encoding::Sparse]
            .into_iter()
            .find(|encoding| encoding.word() == word)
    }
}

/// How far `to` is from `from`, modulo 2⁶⁴, as a small number if that is not far in either direction.
pub fn zigzag(from: u64, to: u64) -> u64 {
    let step = to.wrapping_sub(from) as i64;
    (step << 1 ^ step >> 63) as u64
}

/// What is so far from `from`.
pub fn unzigzag(from: u64, step: u64) -> u64 {
    from.wrapping_add(step >> 1 ^ (step & 1).wrapping_neg())
}

/// Appends a column and returns the number of its rows. Sparse ones are below 2⁶³.
pub fn put(out: &mut Vec<u8>, encoding: Encoding, values: impl Iterator<Item = u64>) -> usize {
    let (mut before, mut count) = (0u64, 0);
    for value in values {
        match encoding {
            Encoding::Uleb => put_uleb(out, value),
            Encoding::Delta => {
                put_uleb(out, zigzag(before, value));
                before = value;
            }
            Encoding::Sparse if value == 0 => put_uleb(out, 0),
            Encoding::Sparse => {
                put_uleb(out, zigzag(before, value) + 1);
                before = value;
            }
        }
        count += 1;
    }
    count
}

/// The numbers of a column; `None` if `bytes` are not just `count` of them.
pub fn get(bytes: &[u8], encoding: Encoding, count: usize) -> Option<Vec<u64>> {
    // Each takes a byte at least.
    if count > bytes.len() {
        return None;
    }
    let mut reader = Reader::new(bytes);
    let mut before = 0u64;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let stored = reader.uleb128()?;
        let value = match encoding {
            Encoding::Uleb => stored,
            Encoding::Delta => unzigzag(before, stored),
            Encoding::Sparse if stored == 0 => 0,
            Encoding::Sparse => unzigzag(before, stored - 1),
        };
        if stored != 0 || encoding != Encoding::Sparse {
            before = value;
        }
        values.push(value);
    }
    reader.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let values = [0, 1, 127, 128, 5, u64::MAX, 0, 1 << 63];
        let small = values.map(|value| value >> 1);
        for (encoding, values) in
            [(Encoding::Uleb, values), (Encoding::Delta, values), (Encoding::Sparse, small)]
        {
            let mut bytes = Vec::new();
            assert_eq!(put(&mut bytes, encoding, values.into_iter()), values.len());
            assert_eq!(get(&bytes, encoding, values.len()).as_deref(), Some(&values[..]));
            assert_eq!(get(&bytes, encoding, values.len() - 1), None);
            assert_eq!(get(&bytes, encoding, usize::MAX), None);
            assert_eq!(get(&bytes[..bytes.len() - 1], encoding, values.len()), None);
        }
        let mut bytes = Vec::new();
        put(&mut bytes, Encoding::Delta, [1, 0].into_iter());
        assert_eq!(bytes, [2, 1]);
        let mut bytes = Vec::new();
        put(&mut bytes, Encoding::Sparse, [0, 100, 0, 101, 101, 0].into_iter());
        assert_eq!(bytes, [0, 201, 1, 0, 3, 1, 0]);
    }
}
