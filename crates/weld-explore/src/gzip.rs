//! Gzip (RFC 1952) of large data by several threads.
//!
//! Browsers unpack one gzip member and refuse what follows it. So runs of the data are compressed by themselves,
//! each up to a byte boundary (an empty stored block), and are together one deflate stream; check sums of runs
//! are combined. A run does not know the text before it, which costs less than a percent.

use std::io::Read;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use weld_common::par;

/// Bytes that one task compresses.
const RUN: usize = 1 << 20;

/// Names get hardly smaller by a higher level, which takes twice the time.
const LEVEL: u32 = 5;

/// No page has more in one of its parts.
pub const LARGEST: u64 = 2 << 30;

/// `bytes` as a gzip file.
pub fn pack(bytes: &[u8], parallel: bool) -> Vec<u8> {
    let runs = bytes.len().div_ceil(RUN).max(1);
    let packed = par::runs("compress page", parallel, runs, 1, |range| {
        range
            .map(|run| {
                let part = &bytes[run * RUN..bytes.len().min((run + 1) * RUN)];
                let mut crc = Crc::new();
                crc.update(part);
                (deflate(part, level(part), run + 1 == runs), crc)
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

/// For what has few repetitions: it gets hardly larger than by a higher level, which looks for them for long.
const QUICK: u32 = 2;

/// Bytes of a run by which it is told whether it gets smaller.
const SAMPLE: usize = 1 << 15;

/// The level by which a run is compressed. In a large program some are noise, as the lower bytes of references are, and are
/// stored as they are; some are nearly that.
fn level(bytes: &[u8]) -> u32 {
    if bytes.len() < 16 * SAMPLE {
        return LEVEL;
    }
    let middle = (bytes.len() - SAMPLE) / 2;
    let length = deflate(&bytes[middle..middle + SAMPLE], QUICK, true).len();
    match length {
        _ if length >= SAMPLE && is_even(bytes) => 0,
        _ if length >= SAMPLE * 2 / 5 => QUICK,
        _ => LEVEL,
    }
}

/// Whether all bytes are there nearly equally often.
fn is_even(bytes: &[u8]) -> bool {
    let mut times = [0u64; 256];
    bytes.iter().for_each(|byte| times[usize::from(*byte)] += 1);
    // How likely two bytes are the same, by how likely they would be at least.
    let same =
        times.iter().map(|times| times * times).sum::<u64>() as f64 * 256.0 / (bytes.len() as f64).powi(2);
    same < 1.02
}

fn deflate(bytes: &[u8], level: u32, is_last: bool) -> Vec<u8> {
    let flush = if is_last { FlushCompress::Finish } else { FlushCompress::Sync };
    let mut compress = Compress::new(Compression::new(level), false);
    let usual = match level {
        0 => bytes.len() + bytes.len() / 256,
        QUICK => bytes.len() / 4 * 3,
        _ => bytes.len() / 4,
    };
    let mut out = Vec::with_capacity(usual + 1024);
    loop {
        let done = compress.total_in() as usize;
        let status = compress.compress_vec(&bytes[done..], &mut out, flush);
        let consumed = compress.total_in() as usize == bytes.len();
        match status {
            Ok(Status::StreamEnd) => return out,
            // All is out when there is room left.
            Ok(_) if !is_last && consumed && out.len() < out.capacity() => return out,
            _ => out.reserve(out.capacity().max(1024)),
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
                let packed = pack(&bytes, true);
                assert_eq!(unpack(&packed).as_deref(), Some(&bytes[..]), "{length}");
                assert_eq!(packed, pack(&bytes, false), "{length}");
            }
        }
        assert_eq!(unpack(b"no gzip"), None);
    }

    #[test]
    fn levels_of_runs() {
        let random: Vec<u8> = noise().take(RUN).collect();
        let half: Vec<u8> = random.iter().map(|byte| byte & 0x0f).collect();
        let again: Vec<u8> = random.chunks(SAMPLE / 8).flat_map(|part| part.repeat(4)).take(RUN).collect();
        assert_eq!(
            [&random, &half, &again, &vec![7; RUN]].map(|bytes| level(bytes)),
            [0, QUICK, LEVEL, LEVEL]
        );
        assert_eq!(level(&random[..SAMPLE]), LEVEL, "short runs are quickly compressed");
        let packed = pack(&random, false);
        assert!(packed.len() < RUN + RUN / 1000);
        for bytes in [random, half, again] {
            assert_eq!(unpack(&pack(&bytes, true)), Some(bytes));
        }
    }
}
