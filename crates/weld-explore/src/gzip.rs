//! Gzip (RFC 1952) of large data by several threads.
//!
//! Browsers unpack one gzip member and refuse what follows it. So runs of the data are compressed by themselves,
//! each up to a byte boundary (an empty stored block), and are together one deflate stream; check sums of runs
//! are combined. A run does not know the text before it, which costs less than a percent.

use std::io::Read;
use std::ops::Range;

use flate2::Crc;
use weld_common::par;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status, Strategy};

/// Bytes that one task compresses.
const RUN: usize = 1 << 20;

/// Bytes of a part that is compressed by itself.
const LONG: usize = 1 << 17;

/// The highest level that does not look for repetitions twice: pages are a sixth smaller by the fifth, which takes two thirds
/// longer, and a link has to wait for it.
const LEVEL: i32 = 2;

/// No page has more in one of its parts.
pub const LARGEST: u64 = 2 << 30;

/// `bytes` as a gzip file. Where in them something else begins, `cuts` says, ascending: each has its own way.
pub fn pack(bytes: &[u8], cuts: &[usize], parallel: bool) -> Vec<u8> {
    let runs = runs(bytes.len(), cuts);
    let packed = par::runs("compress page", parallel, runs.len(), 1, |range| {
        range
            .map(|run| {
                let part = &bytes[runs[run].clone()];
                let mut crc = Crc::new();
                crc.update(part);
                (deflate(part, way(part), run + 1 == runs.len()), crc)
            })
            .collect::<Vec<_>>()
    });
    // No name, no time: pages of equal programs are equal.
    let mut out = Vec::with_capacity(packed.iter().flatten().map(|(part, _)| part.len()).sum::<usize>() + 18);
    out.extend([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    let mut crc = Crc::new();
    for (part, of_part) in packed.into_iter().flatten() {
        out.extend_from_slice(&part);
        crc.combine(&of_part);
    }
    out.extend(crc.sum().to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// What tasks compress: at most so much each, and no two parts of which one is long.
fn runs(length: usize, cuts: &[usize]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for (i, cut) in cuts.iter().copied().chain([length]).enumerate() {
        let next = cuts.get(i + 1).copied().unwrap_or(length);
        let is_long = cut - start >= LONG || next - cut >= LONG || cut == length;
        while start < cut && (is_long || cut - start >= RUN) {
            let end = cut.min(start + RUN);
            runs.push(start..end);
            start = end;
        }
    }
    if runs.is_empty() {
        runs.push(0..0);
    }
    runs
}

/// Bytes of a run by which it is told what its repetitions are worth.
const SAMPLE: usize = 1 << 15;

/// How a run is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By looking for repetitions.
    Repetitions,
    /// By codes for its bytes only.
    Codes,
}

/// In a large program some runs are noise, as the lower bytes of references are.
fn way(bytes: &[u8]) -> Way {
    if bytes.len() < 2 * SAMPLE {
        return Way::Repetitions;
    }
    let middle = (bytes.len() - SAMPLE) / 2;
    let length = |way| deflate(&bytes[middle..middle + SAMPLE], way, true).len();
    match length(Way::Repetitions) >= length(Way::Codes) / 50 * 49 {
        true => Way::Codes,
        false => Way::Repetitions,
    }
}

/// A part of a deflate stream, up to a byte, or its end.
fn deflate(bytes: &[u8], way: Way, is_last: bool) -> Vec<u8> {
    let strategy = match way {
        Way::Repetitions => Strategy::Default,
        Way::Codes => Strategy::HuffmanOnly,
    };
    // Without a header of its own.
    let config = DeflateConfig { level: LEVEL, strategy, window_bits: -15, ..DeflateConfig::default() };
    let flush = if is_last { DeflateFlush::Finish } else { DeflateFlush::SyncFlush };
    let mut deflate = Deflate::new_with_config(config);
    let mut out = vec![0; bytes.len() + 1024];
    loop {
        let (read, made) = (deflate.total_in() as usize, deflate.total_out() as usize);
        let status = deflate.compress(&bytes[read..], &mut out[made..], flush);
        let made = deflate.total_out() as usize;
        // All is out when there is room left.
        let is_out = deflate.total_in() as usize == bytes.len() && made < out.len();
        match status {
            Ok(status) if status == Status::StreamEnd || !is_last && is_out => {
                out.truncate(made);
                return out;
            }
            Ok(_) => out.resize(2 * out.len(), 0),
            Err(error) => unreachable!("any bytes can be compressed: {error:?}"),
        }
    }
}

/// What a gzip file holds; `None` if it is none, or holds too much.
pub fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(bytes).take(LARGEST + 1).read_to_end(&mut out).ok()?;
    (out.len() as u64 <= LARGEST).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a pattern.
    fn noise() -> impl Iterator<Item = u8> {
        let next = |seed: &u32| Some(seed.wrapping_mul(1664525).wrapping_add(1013904223));
        std::iter::successors(next(&1), next).map(|seed| (seed >> 24) as u8)
    }

    #[test]
    fn there_and_back() {
        let mut noise = noise();
        for length in [0, 1, 1000, RUN - 1, RUN, RUN + 1, 3 * RUN + 5] {
            let text: Vec<u8> = (0..length).map(|i| (i / 7 % 251) as u8).collect();
            let random: Vec<u8> = noise.by_ref().take(length).collect();
            for bytes in [text, random] {
                let packed = pack(&bytes, &[], true);
                assert_eq!(unpack(&packed).as_deref(), Some(&bytes[..]), "{length}");
                assert_eq!(packed, pack(&bytes, &[], false), "{length}");
            }
        }
        assert_eq!(unpack(b"no gzip"), None);
    }

    #[test]
    fn parts() {
        let one = |end| vec![Range { start: 0, end }];
        assert_eq!([runs(0, &[]), runs(0, &[0]), runs(9, &[0, 4, 9])], [one(0), one(0), one(9)]);
        assert_eq!(runs(RUN + 5, &[4, 8]), [0..8, 8..RUN + 5]);
        assert_eq!(
            runs(3 * LONG, &[LONG, LONG + 1, 2 * LONG]),
            [0..LONG, LONG..2 * LONG, 2 * LONG..3 * LONG]
        );
        let cuts: Vec<usize> = (0..40 * RUN / LONG).map(|i| i * LONG / 10).collect();
        let runs = runs(5 * RUN + 1, &cuts);
        assert!(
            runs.windows(2).all(|two| two[0].end == two[1].start) && runs.iter().all(|run| run.len() <= RUN)
        );
        assert_eq!((runs[0].start, runs.last().map(|run| run.end)), (0, Some(5 * RUN + 1)));
        let bytes: Vec<u8> = noise().take(3 * LONG + 9).collect();
        let packed = pack(&bytes, &[LONG, 2 * LONG + 5], true);
        assert_eq!(unpack(&packed).as_deref(), Some(&bytes[..]));
    }

    #[test]
    fn ways_of_runs() {
        let random: Vec<u8> = noise().take(RUN).collect();
        let half: Vec<u8> = random.iter().map(|byte| byte & 0x0f).collect();
        // Words of six bytes, of which every other one has come before.
        let words = random.as_chunks::<6>().0;
        let word = |(place, word): (usize, &[u8; 6])| {
            if place % 2 == 0 { *word } else { words[usize::from(word[0])] }
        };
        let few: Vec<u8> = words.iter().enumerate().flat_map(word).collect();
        let again: Vec<u8> = random.chunks(SAMPLE / 8).flat_map(|part| part.repeat(4)).take(RUN).collect();
        assert_eq!(
            [&random, &half, &few, &again, &vec![7; RUN]].map(|bytes| way(bytes)),
            [Way::Codes, Way::Codes, Way::Repetitions, Way::Repetitions, Way::Repetitions]
        );
        assert_eq!(way(&random[..SAMPLE]), Way::Repetitions, "short runs are quickly compressed");
        let packed = pack(&random, &[], false);
        assert!(packed.len() < RUN + RUN / 1000);
        for bytes in [random, half, few, again] {
            assert_eq!(unpack(&pack(&bytes, &[], true)), Some(bytes));
        }
    }
}
