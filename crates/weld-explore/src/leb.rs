//! Columns of numbers: unsigned LEB128 of them, or of differences to a row before, zigzag; or their bytes by place.

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
    /// For numbers that have nothing to do with each other: first how many bytes each has, one byte a row, then the lowest
    /// byte of all that have one, then the second one of all that have two, and so on. Deflate finds a code for each of
    /// these, which are unlike.
    Planes,
}

impl Encoding {
    const ALL: [Encoding; 4] = [Encoding::Uleb, Encoding::Delta, Encoding::Sparse, Encoding::Planes];

    pub fn word(self) -> &'static str {
        match self {
            Encoding::Uleb => "uleb",
            Encoding::Delta => "delta",
            Encoding::Sparse => "sparse",
            Encoding::Planes => "planes",
        }
    }

    pub fn find(word: &str) -> Option<Encoding> {
        Encoding::ALL.into_iter().find(|encoding| encoding.word() == word)
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
pub fn put(out: &mut Vec<u8>, encoding: Encoding, values: impl Iterator<Item = u64> + Clone) -> usize {
    if encoding == Encoding::Planes {
        return put_planes(out, values);
    }
    let (mut before, mut count) = (0u64, 0);
    out.reserve(values.size_hint().0);
    // Most take one byte.
    let put_uleb = |out: &mut Vec<u8>, value: u64| match value {
        0..0x80 => out.push(value as u8),
        _ => put_uleb(out, value),
    };
    for value in values {
        match encoding {
            Encoding::Uleb | Encoding::Planes => put_uleb(out, value),
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

/// The same by planes.
fn put_planes(out: &mut Vec<u8>, values: impl Iterator<Item = u64> + Clone) -> usize {
    let length = |value: u64| (8 - value.leading_zeros() / 8) as usize;
    let first = out.len();
    out.extend(values.clone().map(|value| length(value) as u8));
    let count = out.len() - first;
    // How many numbers have a byte in each plane, then where these are.
    let mut at = [0; 8];
    out[first..]
        .iter()
        .for_each(|length| at[..usize::from(*length)].iter_mut().for_each(|plane| *plane += 1));
    let mut end = out.len();
    for plane in &mut at {
        end += std::mem::replace(plane, end);
    }
    out.resize(end, 0);
    for value in values {
        for (at, byte) in at.iter_mut().zip(value.to_le_bytes()).take(length(value)) {
            out[*at] = byte;
            *at += 1;
        }
    }
    count
}

fn get_planes(bytes: &[u8], count: usize) -> Option<Vec<u64>> {
    let (lengths, mut rest) = bytes.split_at_checked(count)?;
    let mut values = vec![0u64; count];
    for place in 0..8 {
        for (value, _) in values.iter_mut().zip(lengths).filter(|(_, length)| **length > place) {
            *value |= u64::from(*rest.split_off_first()?) << (8 * place);
        }
    }
    (rest.is_empty() && lengths.iter().all(|length| *length <= 8)).then_some(values)
}

/// The numbers of a column; `None` if `bytes` are not just `count` of them.
pub fn get(bytes: &[u8], encoding: Encoding, count: usize) -> Option<Vec<u64>> {
    // Each takes a byte at least.
    if count > bytes.len() {
        return None;
    }
    if encoding == Encoding::Planes {
        return get_planes(bytes, count);
    }
    let mut reader = Reader::new(bytes);
    let mut before = 0u64;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let stored = reader.uleb128()?;
        let value = match encoding {
            Encoding::Uleb | Encoding::Planes => stored,
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
        for (encoding, values) in [
            (Encoding::Uleb, values),
            (Encoding::Delta, values),
            (Encoding::Sparse, small),
            (Encoding::Planes, values),
        ] {
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
        let mut bytes = Vec::new();
        put(&mut bytes, Encoding::Planes, [0x10203, 0, 0xff, 0x100].into_iter());
        assert_eq!(bytes, [3, 0, 1, 2, 3, 0xff, 0, 2, 1, 1]);
        bytes[1] = 9;
        assert_eq!(get(&bytes, Encoding::Planes, 4), None, "a number of nine bytes");
    }
}
