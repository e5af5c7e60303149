//! Deflate (RFC 1951) of data with few repetitions, quickly.
//!
//! What is noise but for some bytes that come more often, as the lower bytes of references are, gets a code for its bytes,
//! and nobody looks for what it may repeat; what repeats little is compared with one place that began alike. Either takes
//! a quarter of the time of the library's quickest levels, which are made for text, and gets as small.

/// Bytes that have a code of their own.
const BLOCK: usize = 1 << 17;

/// How far back repetitions may be.
const WINDOW: usize = 1 << 15;
const SHORTEST: usize = 4;
const LONGEST: usize = 258;

/// Places that are remembered, a power of two.
const PLACES: usize = 1 << 14;

const LITERALS: usize = 286;
const DISTANCES: usize = 30;
const END: usize = 256;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    Nothing,
    Repetitions,
}

/// A token that is no byte: a repetition, of so many bytes above bit 16, from so far back, less one.
const REPETITION: u32 = 1 << 31;

/// Appends `bytes` as blocks that end at a byte; without the end of a stream, unless it `is_last`.
pub fn put(out: &mut Vec<u8>, bytes: &[u8], finds: Finds, is_last: bool) {
    let mut bits = Bits { out, at: 0, have: 0, bits: 0 };
    bits.at = bits.out.len();
    let (mut finder, mut start) = (Finder::default(), 0);
    let mut tokens = Vec::new();
    loop {
        let end = bytes.len().min(start + BLOCK);
        let is_end = is_last && end == bytes.len();
        let mut times = Times::default();
        match finds {
            Finds::Nothing => {
                bytes[start..end].iter().for_each(|byte| times.literals[usize::from(*byte)] += 1)
            }
            Finds::Repetitions => finder.block(bytes, start..end, &mut tokens, &mut times),
        }
        let code = Code::of(&mut times);
        if code.bits / 8 >= (end - start) as u64 {
            bits.stored(&bytes[start..end], is_end);
        } else {
            bits.room((code.bits / 8) as usize);
            code.header(&mut bits, is_end);
            match finds {
                Finds::Nothing => code.literals(&mut bits, &bytes[start..end]),
                Finds::Repetitions => code.tokens(&mut bits, &tokens),
            }
        }
        start = end;
        if start == bytes.len() {
            break;
        }
    }
    if is_last {
        bits.align();
    } else {
        bits.stored(&[], false);
    }
    let Bits { out, at, .. } = bits;
    out.truncate(at);
}

/// How often each symbol is there.
struct Times {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
}

impl Default for Times {
    fn default() -> Times {
        Times { literals: [0; LITERALS], distances: [0; DISTANCES] }
    }
}

/// The last place that began with some four bytes, and one: 0 for none.
#[derive(Default)]
struct Finder(Vec<u32>);

impl Finder {
    fn block(
        &mut self,
        bytes: &[u8],
        range: std::ops::Range<usize>,
        tokens: &mut Vec<u32>,
        times: &mut Times,
    ) {
        self.0.resize(PLACES, 0);
        tokens.clear();
        tokens.reserve(range.len());
        let mut at = range.start;
        while let Some(first) = bytes[at..range.end].first_chunk::<SHORTEST>() {
            let first = u32::from_le_bytes(*first);
            let place = &mut self.0[(first.wrapping_mul(0x9e37_79b1) >> (32 - PLACES.ilog2())) as usize];
            let before = std::mem::replace(place, at as u32 + 1).wrapping_sub(1) as usize;
            let is_near = at.wrapping_sub(before).wrapping_sub(1) < WINDOW;
            if !is_near || bytes[before..].first_chunk() != Some(&first.to_le_bytes()) {
                times.literals[usize::from(bytes[at])] += 1;
                tokens.push(u32::from(bytes[at]));
                at += 1;
                continue;
            }
            let length = same(&bytes[before..], &bytes[at..range.end]);
            let distance = (at - before - 1) as u32;
            times.literals[length_code(length as u32).0] += 1;
            times.distances[distance_code(distance).0] += 1;
            tokens.push(REPETITION | (length as u32) << 16 | distance);
            at += length;
        }
        for byte in &bytes[at..range.end] {
            times.literals[usize::from(*byte)] += 1;
            tokens.push(u32::from(*byte));
        }
    }
}

/// How many bytes two texts, of which the second is no longer, begin with alike.
fn same(a: &[u8], b: &[u8]) -> usize {
    let most = b.len().min(LONGEST);
    let mut length = 0;
    while let (Some(one), Some(other)) = (a[length..].first_chunk(), b[length..most].first_chunk()) {
        let differ = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return length + differ.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + a[length..].iter().zip(&b[length..most]).take_while(|(one, other)| one == other).count()
}

/// The symbol of a length, how many bits say more, and these.
#[inline(always)]
fn length_code(length: u32) -> (usize, u32, u32) {
    let more = length - 3;
    match more {
        255 => (285, 0, 0),
        0..4 => (257 + more as usize, 0, 0),
        _ => {
            let top = more.ilog2();
            let extra = top - 2;
            ((253 + 4 * top + (more >> extra & 3)) as usize, extra, more & ((1 << extra) - 1))
        }
    }
}

/// The same of a distance less one.
#[inline(always)]
fn distance_code(distance: u32) -> (usize, u32, u32) {
    if distance < 2 {
        return (distance as usize, 0, 0);
    }
    let top = distance.ilog2();
    let extra = top - 1;
    ((2 * top + (distance >> extra & 1)) as usize, extra, distance & ((1 << extra) - 1))
}

/// Bits of a stream, the lowest first.
struct Bits<'o> {
    out: &'o mut Vec<u8>,
    /// Where the next ones go; behind it is what does not count.
    at: usize,
    /// How many wait, which are less than eight after [`Bits::flush`].
    have: u32,
    bits: u64,
}

impl Bits<'_> {
    /// Makes room for some bytes, and what is written behind them.
    fn room(&mut self, bytes: usize) {
        self.out.resize(self.at + bytes + 16, 0);
    }

    #[inline(always)]
    fn put(&mut self, bits: u32, count: u32) {
        self.bits |= u64::from(bits) << self.have;
        self.have += count;
    }

    /// To be called before there are more than 64 bits.
    #[inline(always)]
    fn flush(&mut self) {
        self.out[self.at..self.at + 8].copy_from_slice(&self.bits.to_le_bytes());
        self.at += self.have as usize / 8;
        self.bits >>= self.have & !7;
        self.have &= 7;
    }

    fn align(&mut self) {
        self.room(0);
        self.have = self.have.next_multiple_of(8);
        self.flush();
    }

    /// Bytes as they are; an empty block if there are none.
    fn stored(&mut self, bytes: &[u8], is_end: bool) {
        let count = bytes.len().div_ceil(usize::from(u16::MAX)).max(1);
        for number in 0..count {
            let part = &bytes[number * usize::from(u16::MAX)..];
            let part = &part[..part.len().min(usize::from(u16::MAX))];
            self.room(part.len());
            self.put(u32::from(is_end && number + 1 == count), 3);
            self.align();
            self.room(part.len());
            let length = part.len() as u16;
            self.put(u32::from(length) | u32::from(!length) << 16, 32);
            self.flush();
            self.out[self.at..self.at + part.len()].copy_from_slice(part);
            self.at += part.len();
        }
    }
}

/// A symbol's code, to be written from the lowest bit, and how many bits that are.
#[derive(Clone, Copy, Default)]
struct Symbol {
    bits: u16,
    count: u8,
}

/// The codes of a block.
struct Code {
    literals: [Symbol; LITERALS],
    distances: [Symbol; DISTANCES],
    /// The lengths of all of these that are there, as symbols of [`Code::packed`], and what these have more.
    lengths: Vec<(u8, u32)>,
    /// Codes of such symbols.
    packed: [Symbol; 19],
    used: [usize; 2],
    /// Of the whole block.
    bits: u64,
}

/// Bits behind the symbols of lengths.
fn more_bits(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}

/// The order in which a header has the lengths of the symbols of lengths.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

impl Code {
    fn of(times: &mut Times) -> Code {
        times.literals[END] += 1;
        let (literals, distances) = (symbols(&mut times.literals, 15), symbols(&mut times.distances, 15));
        let used =
            |list: &[Symbol]| list.iter().rposition(|symbol| symbol.count > 0).map_or(1, |last| last + 1);
        let used = [used(&literals).max(257), used(&distances)];
        let all: Vec<u8> =
            literals[..used[0]].iter().chain(&distances[..used[1]]).map(|symbol| symbol.count).collect();
        let lengths = pack_lengths(&all);
        let mut of_lengths = [0; 19];
        lengths.iter().for_each(|(symbol, _)| of_lengths[usize::from(*symbol)] += 1);
        let packed: [Symbol; 19] = symbols(&mut of_lengths, 7);
        let sum = |list: &[Symbol], times: &[u32]| -> u64 {
            list.iter().zip(times).map(|(symbol, times)| u64::from(symbol.count) * u64::from(*times)).sum()
        };
        let of_header: u64 = lengths
            .iter()
            .map(|(symbol, _)| u64::from(packed[usize::from(*symbol)].count) + u64::from(more_bits(*symbol)))
            .sum();
        // What is behind lengths and distances.
        let more = |first: usize, each: usize, times: &[u32]| -> u64 {
            times
                .iter()
                .skip(first)
                .enumerate()
                .map(|(place, times)| (place / each) as u64 * u64::from(*times))
                .sum()
        };
        let more = more(261, 4, &times.literals[..285]) + more(2, 2, &times.distances);
        let bits = 17
            + 19 * 3
            + of_header
            + sum(&literals, &times.literals)
            + sum(&distances, &times.distances)
            + more;
        Code { literals, distances, lengths, packed, used, bits }
    }

    fn header(&self, bits: &mut Bits, is_end: bool) {
        bits.put(u32::from(is_end) | 2 << 1, 3);
        let known =
            ORDER.iter().rposition(|symbol| self.packed[*symbol].count > 0).map_or(4, |last| last + 1).max(4);
        bits.put((self.used[0] - 257) as u32 | (self.used[1] as u32 - 1) << 5 | (known as u32 - 4) << 10, 14);
        for symbol in &ORDER[..known] {
            bits.put(u32::from(self.packed[*symbol].count), 3);
            bits.flush();
        }
        for (symbol, more) in &self.lengths {
            let Symbol { bits: code, count } = self.packed[usize::from(*symbol)];
            bits.put(u32::from(code), u32::from(count));
            bits.put(*more, more_bits(*symbol));
            bits.flush();
        }
    }

    fn literals(&self, bits: &mut Bits, bytes: &[u8]) {
        let (threes, rest) = bytes.as_chunks::<3>();
        for three in threes {
            for byte in three {
                let Symbol { bits: code, count } = self.literals[usize::from(*byte)];
                bits.put(u32::from(code), u32::from(count));
            }
            bits.flush();
        }
        for symbol in rest.iter().map(|byte| usize::from(*byte)).chain([END]) {
            let Symbol { bits: code, count } = self.literals[symbol];
            bits.put(u32::from(code), u32::from(count));
            bits.flush();
        }
    }

    fn tokens(&self, bits: &mut Bits, tokens: &[u32]) {
        for token in tokens.iter().copied().chain([END as u32]) {
            if token & REPETITION == 0 {
                let Symbol { bits: code, count } = self.literals[token as usize];
                bits.put(u32::from(code), u32::from(count));
            } else {
                let (symbol, extra, more) = length_code(token >> 16 & 0x1ff);
                let Symbol { bits: code, count } = self.literals[symbol];
                bits.put(u32::from(code) | more << count, u32::from(count) + extra);
                let (symbol, extra, more) = distance_code(token & 0xffff);
                let Symbol { bits: code, count } = self.distances[symbol];
                bits.put(u32::from(code) | more << count, u32::from(count) + extra);
            }
            bits.flush();
        }
    }
}

/// Codes of at most `most` bits for symbols that are there so often; at least for two, which is a whole code.
fn symbols<const N: usize>(times: &mut [u32; N], most: u8) -> [Symbol; N] {
    let mut fill = 2usize.saturating_sub(times.iter().filter(|times| **times > 0).count());
    for times in times.iter_mut().filter(|times| **times == 0) {
        *times = u32::from(fill > 0);
        fill = fill.saturating_sub(1);
    }
    let mut weights = *times;
    let counts = loop {
        let counts = code_lengths(&weights);
        if counts.iter().all(|count| *count <= most) {
            break counts;
        }
        // Rare ones become less rare.
        weights.iter_mut().filter(|weight| **weight > 0).for_each(|weight| *weight = *weight / 2 + 1);
    };
    let mut next = [0u16; 17];
    counts.iter().filter(|count| **count > 0).for_each(|count| next[usize::from(*count) + 1] += 1);
    for count in 1..next.len() {
        next[count] = (next[count] + next[count - 1]) << 1;
    }
    let mut symbols = [Symbol::default(); N];
    for (symbol, count) in symbols.iter_mut().zip(counts).filter(|(_, count)| *count > 0) {
        let next = &mut next[usize::from(count)];
        *symbol = Symbol { bits: next.reverse_bits() >> (16 - count), count };
        *next += 1;
    }
    symbols
}

/// Huffman's: how many bits each symbol has that is there.
fn code_lengths<const N: usize>(weights: &[u32; N]) -> [u8; N] {
    let mut leaves: Vec<usize> = (0..N).filter(|symbol| weights[*symbol] > 0).collect();
    leaves.sort_by_key(|symbol| weights[*symbol]);
    // Nodes: the leaves, then what they are joined to, each heavier than the one before; with what they are joined to.
    let count = leaves.len();
    let mut nodes: Vec<(u64, usize)> = leaves.iter().map(|symbol| (u64::from(weights[*symbol]), 0)).collect();
    let (mut leaf, mut joint) = (0, count);
    for _ in 1..count {
        let mut lightest = || {
            let takes_leaf =
                leaf < count && nodes.get(joint).is_none_or(|(weight, _)| nodes[leaf].0 <= *weight);
            let place = if takes_leaf { &mut leaf } else { &mut joint };
            *place += 1;
            *place - 1
        };
        let two = [lightest(), lightest()];
        let over = nodes.len();
        two.iter().for_each(|node| nodes[*node].1 = over);
        nodes.push((two.iter().map(|node| nodes[*node].0).sum(), 0));
    }
    let mut depths = vec![0u8; nodes.len()];
    for node in (0..nodes.len() - 1).rev() {
        depths[node] = depths[nodes[node].1].saturating_add(1);
    }
    let mut lengths = [0; N];
    leaves.iter().zip(depths).for_each(|(symbol, depth)| lengths[*symbol] = depth);
    lengths
}

/// Lengths of codes as symbols: 16 repeats the one before 3 to 6 times, 17 and 18 are 3 to 10, and 11 to 138 zeroes.
fn pack_lengths(lengths: &[u8]) -> Vec<(u8, u32)> {
    let mut packed = Vec::new();
    for run in lengths.chunk_by(|one, other| one == other) {
        let mut left = run.len();
        if run[0] == 0 {
            while left >= 3 {
                let part = left.min(138);
                packed.push(if part > 10 { (18, part as u32 - 11) } else { (17, part as u32 - 3) });
                left -= part;
            }
        } else {
            packed.push((run[0], 0));
            left -= 1;
            while left >= 3 {
                let part = left.min(6);
                packed.push((16, part as u32 - 3));
                left -= part;
            }
        }
        packed.extend(std::iter::repeat_n((run[0], 0), left));
    }
    packed
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn unpack(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut reader = flate2::read::DeflateDecoder::new(bytes);
        reader.read_to_end(&mut out).expect("a stream");
        assert_eq!(reader.total_in(), bytes.len() as u64);
        out
    }

    #[track_caller]
    fn check(bytes: &[u8]) -> [usize; 2] {
        [Finds::Nothing, Finds::Repetitions].map(|finds| {
            let mut out = b"before".to_vec();
            put(&mut out, bytes, finds, true);
            assert_eq!(&out[..6], b"before");
            assert!(unpack(&out[6..]) == bytes, "{finds:?}");
            // Two parts that are one stream.
            let (first, second) = bytes.split_at(bytes.len() / 3);
            let mut parts = Vec::new();
            put(&mut parts, first, finds, false);
            put(&mut parts, second, finds, true);
            assert!(unpack(&parts) == bytes, "{finds:?}");
            out.len() - 6
        })
    }

    fn random() -> impl FnMut(u32) -> u32 {
        let mut seed = 3u32;
        move |below| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            ((u64::from(seed) * u64::from(below)) >> 32) as u32
        }
    }

    #[test]
    fn there_and_back() {
        let mut random = random();
        check(b"");
        check(b"a");
        check(b"aaaaaaaa");
        let noise: Vec<u8> = (0..3 * BLOCK + 77).map(|_| random(256) as u8).collect();
        assert!(check(&noise).iter().all(|length| *length <= noise.len() + 100));
        let half: Vec<u8> = noise.iter().map(|byte| byte & 15).collect();
        let [codes, finds] = check(&half);
        assert!(codes < half.len() * 51 / 100 && finds < half.len() * 11 / 20, "{codes}, {finds}");
        let again: Vec<u8> = noise[..2000].repeat(300);
        assert!(check(&again)[1] < again.len() / 50);
        assert!(check(&vec![7; 2 * BLOCK])[1] < 3000);
        // Repetitions of all lengths, from all distances.
        let mut words = noise[..70_000].to_vec();
        for length in (0..LONGEST + 9).chain((0..600).map(|i| i % 40)) {
            let start = words.len() - length - random(WINDOW as u32 + 9) as usize - 1;
            words.extend_from_within(start..start + length);
            words.push(random(256) as u8);
        }
        check(&words);
    }

    #[test]
    fn codes_that_would_be_too_long() {
        // As often as Fibonacci's numbers say, each symbol has a bit more than the one before.
        let (mut times, mut bytes) = ((1usize, 1usize), Vec::new());
        for byte in 0..22u8 {
            bytes.extend(std::iter::repeat_n(byte, times.0));
            times = (times.1, times.0 + times.1);
        }
        assert!(bytes.len() < BLOCK);
        check(&bytes);
    }

    #[test]
    fn lengths_and_distances() {
        assert_eq!(
            [3, 10, 11, 12, 257, 258].map(length_code),
            [(257, 0, 0), (264, 0, 0), (265, 1, 0), (265, 1, 1), (284, 5, 30), (285, 0, 0)]
        );
        assert_eq!(
            [0, 3, 4, 5, 6, 32767].map(distance_code),
            [(0, 0, 0), (3, 0, 0), (4, 1, 0), (4, 1, 1), (5, 1, 0), (29, 13, 8191)]
        );
    }
}
