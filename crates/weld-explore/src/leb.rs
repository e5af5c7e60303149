//! Columns of numbers: unsigned LEB128 of them, or of differences to a row before, zigzag; or their bytes by place. What
//! is stored of many rows is often the same (nearly all pieces have the role of the one before, and the section behind
//! its section): then it is there once, with how often.

use weld_common::reader::{Reader, put_uleb};

/// More rows are not stored as runs, so that a few bytes of a damaged page cannot ask for all memory.
const MOST_IN_RUNS: usize = 1 << 28;

/// Bytes that runs may have for each row that they stand for; all else is stored row by row, which browsers read faster.
const RUNS_PAY: usize = 4;

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
    /// The first three, as runs: each number that is stored, and how many rows more have the same.
    UlebRuns,
    DeltaRuns,
    SparseRuns,
}

impl Encoding {
    const ALL: [Encoding; 7] = [
        Encoding::Uleb,
        Encoding::Delta,
        Encoding::Sparse,
        Encoding::Planes,
        Encoding::UlebRuns,
        Encoding::DeltaRuns,
        Encoding::SparseRuns,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Encoding::Uleb => "uleb",
            Encoding::Delta => "delta",
            Encoding::Sparse => "sparse",
            Encoding::Planes => "planes",
            Encoding::UlebRuns => "uleb-runs",
            Encoding::DeltaRuns => "delta-runs",
            Encoding::SparseRuns => "sparse-runs",
        }
    }

    /// The same as runs, and what these are runs of.
    fn runs(self) -> Option<(Encoding, Encoding)> {
        match self {
            Encoding::Uleb | Encoding::UlebRuns => Some((Encoding::UlebRuns, Encoding::Uleb)),
            Encoding::Delta | Encoding::DeltaRuns => Some((Encoding::DeltaRuns, Encoding::Delta)),
            Encoding::Sparse | Encoding::SparseRuns => Some((Encoding::SparseRuns, Encoding::Sparse)),
            Encoding::Planes => None,
        }
    }

    fn is_runs(self) -> bool {
        self.runs().is_some_and(|(runs, _)| runs == self)
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

/// What is stored for the rows of a column, one after the other.
struct Steps {
    encoding: Encoding,
    before: u64,
}

impl Steps {
    #[inline(always)]
    fn stored(&mut self, value: u64) -> u64 {
        match self.encoding {
            Encoding::Delta => zigzag(std::mem::replace(&mut self.before, value), value),
            Encoding::Sparse if value == 0 => 0,
            Encoding::Sparse => zigzag(std::mem::replace(&mut self.before, value), value) + 1,
            _ => value,
        }
    }

    fn value(&mut self, stored: u64) -> u64 {
        match self.encoding {
            Encoding::Delta => self.before = unzigzag(self.before, stored),
            Encoding::Sparse if stored == 0 => return 0,
            Encoding::Sparse => self.before = unzigzag(self.before, stored - 1),
            _ => return stored,
        }
        self.before
    }
}

/// Appends a column. How it is stored, which for runs that are not short is row by row, and the number of its rows.
/// Numbers of sparse ones are below 2⁶³.
pub fn put(
    out: &mut Vec<u8>,
    encoding: Encoding,
    values: impl Iterator<Item = u64> + Clone,
) -> (Encoding, usize) {
    let Some((_, plain)) = encoding.runs() else { return (encoding, put_planes(out, values)) };
    if encoding.is_runs()
        && let Some(count) = put_runs(out, plain, values.clone())
    {
        return (encoding, count);
    }
    let (mut steps, mut count) = (Steps { encoding: plain, before: 0 }, 0);
    out.reserve(values.size_hint().0);
    values.for_each(|value| {
        match steps.stored(value) {
            // Most take one byte.
            stored @ 0..0x80 => out.push(stored as u8),
            stored => put_uleb(out, stored),
        }
        count += 1;
    });
    (plain, count)
}

/// Appends a column as runs, and returns the number of rows; nothing if that is not much shorter.
fn put_runs(out: &mut Vec<u8>, plain: Encoding, values: impl Iterator<Item = u64>) -> Option<usize> {
    let (rows, start) = (values.size_hint().0, out.len());
    let (mut steps, mut count) = (Steps { encoding: plain, before: 0 }, 0);
    let mut last: Option<(u64, u64)> = None;
    for value in values {
        let stored = steps.stored(value);
        count += 1;
        match &mut last {
            Some((same, more)) if *same == stored => *more += 1,
            _ => {
                if let Some((stored, more)) = last.replace((stored, 0)) {
                    put_uleb(out, stored);
                    put_uleb(out, more);
                }
                if out.len() - start > rows / RUNS_PAY {
                    out.truncate(start);
                    return None;
                }
            }
        }
    }
    if let Some((stored, more)) = last {
        put_uleb(out, stored);
        put_uleb(out, more);
    }
    if count > MOST_IN_RUNS || out.len() - start > count / RUNS_PAY {
        out.truncate(start);
        return None;
    }
    Some(count)
}

/// The same by planes.
fn put_planes(out: &mut Vec<u8>, values: impl Iterator<Item = u64> + Clone) -> usize {
    let length = |value: u64| (8 - value.leading_zeros() / 8) as usize;
    let first = out.len();
    // How many numbers have each length, and the first byte of each plane.
    let (mut times, mut heads, mut longest) = ([0; 9], [0; 8], 0);
    out.reserve(values.size_hint().0);
    values.clone().for_each(|value| {
        let length = length(value);
        out.push(length as u8);
        times[length] += 1;
        if length > longest {
            heads[longest..length].copy_from_slice(&value.to_le_bytes()[longest..length]);
            longest = length;
        }
    });
    let count = out.len() - first;
    // Where each plane begins.
    let (mut starts, mut end) = ([0; 8], out.len());
    for (plane, start) in starts.iter_mut().enumerate() {
        *start = end;
        end += times[plane + 1..].iter().sum::<usize>();
    }
    // Each number is written to all planes, and stays in those that it has bytes for: what comes next is written over the
    // others, so that no processor guesses lengths. The last one of a plane may so spoil the first byte of the next plane.
    out.resize(end + 1, 0);
    let mut at = starts;
    values.for_each(|value| {
        let length = length(value);
        for (plane, byte) in value.to_le_bytes().iter().enumerate().take(longest) {
            out[at[plane]] = *byte;
            at[plane] += usize::from(plane < length);
        }
    });
    (0..longest).for_each(|plane| out[starts[plane]] = heads[plane]);
    out.truncate(end);
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
    let Some((_, plain)) = encoding.runs() else {
        return get_planes(bytes, count);
    };
    let mut steps = Steps { encoding: plain, before: 0 };
    let mut reader = Reader::new(bytes);
    let mut values = Vec::new();
    if encoding.is_runs() {
        if count > MOST_IN_RUNS {
            return None;
        }
        while values.len() < count {
            let (stored, more) = (reader.uleb128()?, reader.uleb128()?);
            let rows =
                usize::try_from(more).ok()?.checked_add(1).filter(|rows| *rows <= count - values.len())?;
            values.extend((0..rows).map(|_| steps.value(stored)));
        }
    } else {
        // Each takes a byte at least.
        if count > bytes.len() {
            return None;
        }
        values.reserve(count);
        for _ in 0..count {
            values.push(steps.value(reader.uleb128()?));
        }
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
            assert_eq!(put(&mut bytes, encoding, values.into_iter()), (encoding, values.len()));
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

    #[test]
    fn planes_of_all_lengths() {
        for seed in 0..64u64 {
            let value = |i: u64| u64::MAX.wrapping_mul(i * 2 + 1) >> ((i * seed + i / 3) % 64);
            let values: Vec<u64> = (0..200).map(value).collect();
            let mut bytes = vec![7];
            assert_eq!(put(&mut bytes, Encoding::Planes, values.iter().copied()), (Encoding::Planes, 200));
            assert_eq!(bytes[0], 7);
            assert_eq!(get(&bytes[1..], Encoding::Planes, 200), Some(values));
        }
    }

    #[test]
    fn runs() {
        let rows = |list: &[(u64, u64)]| -> Vec<u64> {
            list.iter()
                .flat_map(|(from, to)| (0..50).map(move |i| if from == to { *from } else { from + i }))
                .collect()
        };
        for (encoding, list, stored) in [
            (Encoding::UlebRuns, &[(0, 0), (9, 9)][..], &[0, 49, 9, 49][..]),
            (Encoding::DeltaRuns, &[(0, 50), (49, 49)], &[0, 0, 2, 48, 0, 49]),
            (Encoding::SparseRuns, &[(0, 0), (1, 51), (0, 0)], &[0, 49, 3, 49, 0, 49]),
        ] {
            let values = rows(list);
            let mut bytes = Vec::new();
            let (found, count) = put(&mut bytes, encoding, values.iter().copied());
            assert_eq!((&bytes[..], found, count), (stored, encoding, values.len()));
            assert_eq!(get(&bytes, found, count).as_deref(), Some(&values[..]));
            assert_eq!(get(&bytes, found, count - 1), None, "a run that goes on");
            assert_eq!(get(&bytes, found, count + 1), None);
            assert_eq!(get(&bytes[..bytes.len() - 1], found, count), None);
            assert_eq!(get(&[&bytes[..], &[0]].concat(), found, count), None, "more than that");
        }
        let mut bytes = Vec::new();
        let different = [1, 2, 3, 4, 4, 4, 4, 4, 4, 4];
        assert_eq!(put(&mut bytes, Encoding::UlebRuns, different.into_iter()), (Encoding::Uleb, 10));
        assert_eq!(bytes, different.map(|number| number as u8));
        let mut many = vec![0];
        put_uleb(&mut many, MOST_IN_RUNS as u64);
        assert_eq!(get(&many, Encoding::UlebRuns, MOST_IN_RUNS + 1), None, "more than any page has");
        let mut most = vec![0];
        put_uleb(&mut most, u64::MAX);
        assert_eq!(get(&most, Encoding::UlebRuns, 9), None);
    }
}
