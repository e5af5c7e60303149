//! Compressed debug sections: reading `SHF_COMPRESSED` and `.zdebug_*`, and writing the former.
//!
//! A section with `SHF_COMPRESSED` starts with a header, which has the type of compression, and the
//! section's uncompressed size and alignment; zlib or zstd data follow. The older `.zdebug_*` sections
//! start with `ZLIB` and the size as a big-endian u64. Tools may have joined several zlib streams or
//! zstd frames; readers take one after the other.
//!
//! A section's header says how much memory to reserve, so it is not believed beyond what the
//! compression could reach at best, and the data must then have exactly that size.
//!
//! For writing, the section is cut into chunks that are compressed by any thread while they are hot
//! ([`Compressor::chunk`]) and joined ([`CompressedSection`]): deflate data of one chunk end at a
//! byte boundary, so that a zlib stream is its header, all chunks and a checksum combined from
//! theirs; zstd frames just follow one another. The result depends on the chunks, not on threads.
//!
//! Sources: gABI, "Section Compression"; RFC 1950 (zlib), 1951 (deflate), 8878 (zstd).

use crate::elf::{Chdr, Format, Writer, records};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::fmt;
use std::ops::RangeInclusive;
use weld_common::zeroed;

const ELFCOMPRESS_ZLIB: u32 = 1;
const ELFCOMPRESS_ZSTD: u32 = 2;
const ZDEBUG_HEAD: usize = 12;

/// Deflate cannot do better: 258 bytes in two bits.
const ZLIB_BEST_RATIO: u64 = 1032;
/// A zstd block of 4 bytes may stand for 128 KiB.
const ZSTD_BEST_RATIO: u64 = 32 << 10;

/// A compression algorithm of `SHF_COMPRESSED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Zlib,
    Zstd,
}

impl Algorithm {
    /// How hard it may be told to try.
    pub fn levels(self) -> RangeInclusive<u64> {
        match self {
            Algorithm::Zlib => 0..=9,
            Algorithm::Zstd => 1..=22,
        }
    }

    /// From an `ELFCOMPRESS_*` value.
    pub fn from_elf(kind: u32) -> Option<Algorithm> {
        match kind {
            ELFCOMPRESS_ZLIB => Some(Algorithm::Zlib),
            ELFCOMPRESS_ZSTD => Some(Algorithm::Zstd),
            _ => None,
        }
    }

    fn to_elf(self) -> u32 {
        match self {
            Algorithm::Zlib => ELFCOMPRESS_ZLIB,
            Algorithm::Zstd => ELFCOMPRESS_ZSTD,
        }
    }

    fn best_ratio(self) -> u64 {
        match self {
            Algorithm::Zlib => ZLIB_BEST_RATIO,
            Algorithm::Zstd => ZSTD_BEST_RATIO,
        }
    }
}

/// What is wrong with a compressed section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompressedError {
    /// The section is too short for its header, or a `.zdebug` section lacks its magic.
    BadHeader,
    /// An `ELFCOMPRESS_*` value other than zlib and zstd.
    UnknownAlgorithm(u32),
    /// No data of this many bytes could be compressed to so few.
    ImpossibleSize(u64),
    /// There is no memory for so many bytes.
    TooLarge(u64),
    /// The alignment is no power of two.
    BadAlignment(u64),
    /// The data end early, or are not what the algorithm says.
    Corrupt(String),
    /// The data have another size than the header says.
    WrongSize,
    /// The compression library failed.
    Failed(String),
}

impl fmt::Display for CompressedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompressedError::BadHeader => write!(f, "bad header of a compressed section"),
            CompressedError::UnknownAlgorithm(kind) => write!(f, "unknown compression type {kind}"),
            CompressedError::ImpossibleSize(size) => {
                write!(f, "compressed section claims an impossible size of {size} bytes")
            }
            CompressedError::TooLarge(size) => {
                write!(f, "compressed section claims {size} bytes, for which there is no memory")
            }
            CompressedError::BadAlignment(align) => {
                write!(f, "compressed section has an alignment of {align}, which is not a power of two")
            }
            CompressedError::Corrupt(what) => write!(f, "compressed section is corrupt: {what}"),
            CompressedError::WrongSize => {
                write!(f, "compressed section does not have the size that its header says")
            }
            CompressedError::Failed(what) => write!(f, "cannot compress: {what}"),
        }
    }
}

impl std::error::Error for CompressedError {}

/// The data of a compressed section.
///
/// # Errors
/// If they are damaged.
pub fn decompress(section: &[u8], format: Format) -> Result<Vec<u8>, CompressedError> {
    Compressed::parse(section, format)?.decompress()
}

/// A compressed section of an input, with its header read and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed<'a> {
    algorithm: Algorithm,
    size: u64,
    align: u64,
    payload: &'a [u8],
}

impl<'a> Compressed<'a> {
    /// Reads the header of a section with `SHF_COMPRESSED`.
    pub fn parse(section: &'a [u8], format: Format) -> Result<Compressed<'a>, CompressedError> {
        let header = records::<Chdr>(section, format, 0, 1).ok_or(CompressedError::BadHeader)?[0];
        let payload = &section[format.size::<Chdr>() as usize..];
        let (kind, size, align) = (header.ch_type(), header.ch_size(), header.ch_addralign());
        let algorithm = Algorithm::from_elf(kind).ok_or(CompressedError::UnknownAlgorithm(kind))?;
        if align != 0 && !align.is_power_of_two() {
            return Err(CompressedError::BadAlignment(align));
        }
        Compressed { algorithm, size, align: align.max(1), payload }.checked()
    }

    /// Reads the header of a `.zdebug_*` section. `align` is the section's own alignment: there is
    /// no other.
    pub fn parse_zdebug(section: &'a [u8], align: u64) -> Result<Compressed<'a>, CompressedError> {
        let (header, payload) =
            section.split_first_chunk::<ZDEBUG_HEAD>().ok_or(CompressedError::BadHeader)?;
        let [b'Z', b'L', b'I', b'B', size @ ..] = *header else {
            return Err(CompressedError::BadHeader);
        };
        let size = u64::from_be_bytes(size);
        Compressed { algorithm: Algorithm::Zlib, size, align: align.max(1), payload }.checked()
    }

    fn checked(self) -> Result<Self, CompressedError> {
        let most = (self.payload.len() as u64).saturating_mul(self.algorithm.best_ratio());
        if self.size > most { Err(CompressedError::ImpossibleSize(self.size)) } else { Ok(self) }
    }

    /// Bytes after decompression: at most 1032 (zlib) or 32768 (zstd) times the section's.
    pub fn uncompressed_size(&self) -> u64 {
        self.size
    }

    /// Bytes, a power of two.
    pub fn align(&self) -> u64 {
        self.align
    }

    /// Decompresses into memory of its own. What the header claims beyond what there is costs none: pages are
    /// there when data are.
    pub fn decompress(&self) -> Result<Vec<u8>, CompressedError> {
        let size = usize::try_from(self.size).ok();
        let mut out = size.and_then(zeroed::bytes).ok_or(CompressedError::TooLarge(self.size))?;
        self.decompress_into(&mut out)?;
        Ok(out)
    }

    /// Decompresses into `out`, which has [`Self::uncompressed_size`] bytes. All of the data are
    /// used and all of `out` is filled, or it is an error; `out` has unspecified contents then.
    pub fn decompress_into(&self, out: &mut [u8]) -> Result<(), CompressedError> {
        assert_eq!(out.len() as u64, self.size);
        match self.algorithm {
            Algorithm::Zlib => inflate(self.payload, out),
            Algorithm::Zstd => {
                let mut decompressor = zstd::bulk::Decompressor::new().map_err(corrupt)?;
                let written = decompressor.decompress_to_buffer(self.payload, out).map_err(corrupt)?;
                if written == out.len() { Ok(()) } else { Err(CompressedError::WrongSize) }
            }
        }
    }
}

fn corrupt(error: impl fmt::Display) -> CompressedError {
    CompressedError::Corrupt(error.to_string())
}

/// Inflates one or more zlib streams that together fill `out`.
fn inflate(mut payload: &[u8], mut out: &mut [u8]) -> Result<(), CompressedError> {
    let mut stream = Decompress::new(true);
    loop {
        let (in_before, out_before) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(payload, out, FlushDecompress::Finish).map_err(corrupt)?;
        let read = (stream.total_in() - in_before) as usize;
        let written = (stream.total_out() - out_before) as usize;
        payload = &payload[read..];
        out = &mut out[written..];
        match status {
            Status::StreamEnd if payload.is_empty() && out.is_empty() => return Ok(()),
            Status::StreamEnd if payload.is_empty() || out.is_empty() => {
                return Err(CompressedError::WrongSize);
            }
            Status::StreamEnd => stream.reset(true),
            // The library may take its buffers in several steps; without a step it never ends.
            _ if read > 0 || written > 0 => {}
            _ if payload.is_empty() => return Err(corrupt("unexpected end")),
            _ => return Err(CompressedError::WrongSize),
        }
    }
}

/// How many bytes of a section go into one chunk. Larger ones compress hardly better.
pub const CHUNK_SIZE: usize = 1 << 20;

/// A compressed part of a section.
#[derive(Debug)]
pub struct Chunk {
    bytes: Box<[u8]>,
    /// Of the uncompressed bytes.
    size: u64,
    adler: u32,
}

/// Compresses chunks of sections; each thread has its own.
pub struct Compressor {
    state: State,
    /// Where a chunk is compressed to, before its size is known.
    buffer: Vec<u8>,
}

enum State {
    Zlib(Compress),
    Zstd(Box<zstd::bulk::Compressor<'static>>),
}

impl Compressor {
    /// `level`: 0–9 for zlib (2 unless given: 1 has no codes of its own for a section, which costs a
    /// tenth), 1–22 for zstd (3 unless given).
    pub fn new(algorithm: Algorithm, level: Option<u32>) -> Result<Compressor, CompressedError> {
        let state = match algorithm {
            Algorithm::Zlib => {
                let level = level.unwrap_or(2).min(9);
                State::Zlib(Compress::new(Compression::new(level), false))
            }
            Algorithm::Zstd => {
                let level = level.unwrap_or(3).min(22) as i32;
                State::Zstd(Box::new(zstd::bulk::Compressor::new(level).map_err(failed)?))
            }
        };
        Ok(Compressor { state, buffer: Vec::new() })
    }

    /// Compresses one part of a section, normally of [`CHUNK_SIZE`]. `last` says that no other
    /// follows it.
    pub fn chunk(&mut self, data: &[u8], last: bool) -> Result<Chunk, CompressedError> {
        let buffer = &mut self.buffer;
        buffer.clear();
        let adler = match &mut self.state {
            State::Zlib(stream) => {
                deflate(stream, data, last, buffer)?;
                adler32(data)
            }
            State::Zstd(compressor) => {
                buffer.reserve(zstd::zstd_safe::compress_bound(data.len()));
                compressor.compress_to_buffer(data, buffer).map_err(failed)?;
                1
            }
        };
        Ok(Chunk { bytes: Box::from(&buffer[..]), size: data.len() as u64, adler })
    }
}

fn failed(error: impl fmt::Display) -> CompressedError {
    CompressedError::Failed(error.to_string())
}

/// Deflates a chunk; it ends at a byte boundary, and the stream too if it is the last.
fn deflate(stream: &mut Compress, data: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), CompressedError> {
    stream.reset();
    let flush = if last { FlushCompress::Finish } else { FlushCompress::Sync };
    // Incompressible data grow by 5 bytes for each stored block, and the end takes a few more.
    out.reserve(data.len() + data.len() / 1000 + 64);
    loop {
        let rest = &data[stream.total_in() as usize..];
        let status = stream.compress_vec(rest, out, flush).map_err(failed)?;
        // With room left after a flush there is nothing more to come.
        let flushed = stream.total_in() as usize == data.len() && out.len() < out.capacity();
        match status {
            Status::StreamEnd => return Ok(()),
            _ if flushed && !last => return Ok(()),
            _ => out.reserve(out.capacity().max(64)),
        }
    }
}

const ADLER_BASE: u32 = 65521;

/// The checksum of zlib streams (RFC 1950).
fn adler32(data: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    // As many bytes as the sums hold without a division.
    for run in data.chunks(5552) {
        for &byte in run {
            a += u32::from(byte);
            b += a;
        }
        a %= ADLER_BASE;
        b %= ADLER_BASE;
    }
    b << 16 | a
}

/// The checksum of two parts, the second `len` bytes long, that follow each other.
fn adler32_combine(first: u32, second: u32, len: u64) -> u32 {
    let base = u64::from(ADLER_BASE);
    let (a1, b1) = (u64::from(first & 0xffff), u64::from(first >> 16));
    let (a2, b2) = (u64::from(second & 0xffff), u64::from(second >> 16));
    // The second part's sums started from 1 where they should have started from a1.
    let a = (a1 + a2 + base - 1) % base;
    let b = (b1 + b2 + len % base * (a1 + base - 1)) % base;
    (b << 16 | a) as u32
}

/// A section for the output: its header and compressed data.
pub struct CompressedSection {
    size: u64,
    /// The header with what opens a zlib stream, and its checksum.
    head: Vec<u8>,
    tail: Vec<u8>,
    chunks: Vec<Chunk>,
}

impl CompressedSection {
    /// `chunks` in their order, only the last compressed as such (one of no bytes if the section is
    /// empty); `align` is the alignment of the uncompressed section.
    pub fn new(format: Format, algorithm: Algorithm, align: u64, chunks: Vec<Chunk>) -> CompressedSection {
        let uncompressed: u64 = chunks.iter().map(|chunk| chunk.size).sum();
        let mut header = Writer::new(format);
        // What follows the type is aligned.
        header.u32(algorithm.to_elf()).align(format.word() as usize).word(uncompressed).word(align);
        let mut head = header.finish();
        let mut tail = Vec::new();
        if algorithm == Algorithm::Zlib {
            // A window of 32 KiB, "fastest", and the check bits that go with them.
            head.extend([0x78, 0x01]);
            let combine = |sum, chunk: &Chunk| adler32_combine(sum, chunk.adler, chunk.size);
            tail.extend(chunks.iter().fold(1, combine).to_be_bytes());
        }
        let size = head.len() + tail.len() + chunks.iter().map(|chunk| chunk.bytes.len()).sum::<usize>();
        CompressedSection { size: size as u64, head, tail, chunks }
    }

    /// Bytes in the output. If there are not fewer than before, the section should stay as it was.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The section's bytes: parts that follow one another, the first 8-byte aligned in the image.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let chunks = self.chunks.iter().map(|chunk| &*chunk.bytes);
        std::iter::once(&self.head[..]).chain(chunks).chain([&self.tail[..]])
    }

    /// Part number `index`.
    pub fn part(&self, index: usize) -> &[u8] {
        match index.checked_sub(1) {
            None => &self.head,
            Some(chunk) => self.chunks.get(chunk).map_or(&self.tail, |chunk| &chunk.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd];

    fn text(len: usize) -> Vec<u8> {
        (0..len).map(|i| b"abcdefgh"[(i * i / 7) % 8] ^ (i / 1000) as u8).collect()
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn compress(algorithm: Algorithm, data: &[u8], chunk: usize) -> Vec<u8> {
        let mut compressor = Compressor::new(algorithm, None).unwrap();
        let mut parts: Vec<&[u8]> = data.chunks(chunk).collect();
        if parts.is_empty() {
            parts.push(&[]);
        }
        let last = parts.len() - 1;
        let parts = parts.iter().enumerate();
        let chunks = parts.map(|(i, part)| compressor.chunk(part, i == last).unwrap()).collect();
        let section = CompressedSection::new(Format::NATIVE, algorithm, 4, chunks);
        let out: Vec<u8> = section.parts().flatten().copied().collect();
        assert_eq!(out.len() as u64, section.size());
        assert!(section.parts().enumerate().all(|(i, part)| section.part(i) == part));
        out
    }

    fn decompress(section: &[u8]) -> Result<Vec<u8>, CompressedError> {
        let section = Compressed::parse(section, Format::NATIVE)?;
        let mut out = vec![0xaa; section.uncompressed_size() as usize];
        section.decompress_into(&mut out).map(|()| out)
    }

    #[test]
    fn round_trips_in_chunks() {
        for algorithm in BOTH {
            for data in [text(100_000), noise(50_000), vec![0; 70_000], text(1), vec![]] {
                for chunk in [1 << 20, 30_000, 9_999] {
                    let section = compress(algorithm, &data, chunk);
                    assert_eq!(decompress(&section).unwrap(), data);
                }
            }
            assert!(compress(algorithm, &text(100_000), 1 << 20).len() < 50_000);
        }
    }

    #[test]
    fn every_chunking_has_the_right_checksum() {
        // Another implementation checks it on reading; here all cuts of a short text.
        let data = text(300);
        for cut in 1..data.len() {
            assert_eq!(
                adler32_combine(adler32(&data[..cut]), adler32(&data[cut..]), (data.len() - cut) as u64),
                adler32(&data)
            );
        }
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(decompress(&compress(Algorithm::Zlib, &data, 1)).unwrap(), data);
        let high = vec![0xff; 200_000];
        assert_eq!(decompress(&compress(Algorithm::Zlib, &high, 65_521)).unwrap(), high);
    }

    #[test]
    fn header_of_an_output_section() {
        let section = compress(Algorithm::Zstd, &text(1000), 400);
        assert_eq!(section[..8], [2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(section[8..16], 1000u64.to_le_bytes());
        let parsed = Compressed::parse(&section, Format::NATIVE).unwrap();
        assert_eq!((parsed.align(), parsed.uncompressed_size()), (4, 1000));
        let section = compress(Algorithm::Zlib, &text(1000), 400);
        assert_eq!(section[..4], [1, 0, 0, 0]);
        assert_eq!(u16::from_be_bytes([section[24], section[25]]) % 31, 0);
    }

    #[test]
    fn zdebug_and_joined_streams() {
        let data = text(5000);
        let stream = |data: &[u8]| compress(Algorithm::Zlib, data, 1 << 20)[Chdr::SIZE..].to_vec();
        let mut section = b"ZLIB".to_vec();
        section.extend(5000u64.to_be_bytes());
        section.extend(stream(&data[..2000]));
        section.extend(stream(&data[2000..]));
        let parsed = Compressed::parse_zdebug(&section, 1).unwrap();
        let mut out = vec![0; 5000];
        parsed.decompress_into(&mut out).unwrap();
        assert_eq!(out, data);
        section[0] = b'z';
        assert_eq!(Compressed::parse_zdebug(&section, 1).unwrap_err(), CompressedError::BadHeader);
        assert_eq!(Compressed::parse_zdebug(b"ZLIB", 1).unwrap_err(), CompressedError::BadHeader);
    }

    #[test]
    fn sizes_that_lie() {
        for algorithm in BOTH {
            let good = compress(algorithm, &text(5000), 2000);
            for size in [0u64, 1, 1999, 2000, 4999, 5001, 100_000] {
                let mut bad = good.clone();
                bad[8..16].copy_from_slice(&size.to_le_bytes());
                assert!(decompress(&bad).is_err(), "{algorithm:?} {size}");
            }
            for size in [u64::MAX, 1 << 40] {
                let mut bad = good.clone();
                bad[8..16].copy_from_slice(&size.to_le_bytes());
                assert_eq!(decompress(&bad), Err(CompressedError::ImpossibleSize(size)));
            }
            assert!(decompress(&[&good[..], b"x"].concat()).is_err(), "{algorithm:?}");
        }
    }

    #[test]
    fn a_size_costs_nothing_before_there_are_data() {
        // 1 TiB, which 32 MiB of zstd could be.
        let mut bad = compress(Algorithm::Zstd, &text(300), 300);
        bad.truncate(Chdr::SIZE);
        bad[8..16].copy_from_slice(&(1u64 << 40).to_le_bytes());
        bad.resize(Chdr::SIZE + (32 << 20), 0);
        let result = Compressed::parse(&bad, Format::NATIVE).unwrap().decompress();
        assert!(matches!(result, Err(CompressedError::Corrupt(_) | CompressedError::TooLarge(_))));
    }

    #[test]
    fn hostile_bytes() {
        for algorithm in BOTH {
            let good = compress(algorithm, &text(300), 100);
            for len in 0..good.len() {
                assert!(decompress(&good[..len]).is_err(), "{algorithm:?} {len}");
            }
            for at in Chdr::SIZE..good.len() {
                for value in [0, 1, 0x80, 0xff] {
                    let mut bad = good.clone();
                    bad[at] = value;
                    let _ = decompress(&bad);
                }
            }
            let mut bad = good.clone();
            bad[0] = 3;
            assert_eq!(decompress(&bad), Err(CompressedError::UnknownAlgorithm(3)));
            let mut bad = good.clone();
            bad[16] = 3;
            assert_eq!(decompress(&bad), Err(CompressedError::BadAlignment(3)));
            let mut zero = good;
            zero[16] = 0;
            assert_eq!(Compressed::parse(&zero, Format::NATIVE).unwrap().align(), 1);
        }
        let mut wrong_sum = compress(Algorithm::Zlib, &text(300), 100);
        *wrong_sum.last_mut().unwrap() ^= 1;
        assert!(matches!(decompress(&wrong_sum), Err(CompressedError::Corrupt(_))));
    }

    #[test]
    fn best_ratios_are_reachable() {
        // The limits must not refuse what compressors make of the best case.
        for algorithm in BOTH {
            let zeros = vec![0; 4 << 20];
            let section = compress(algorithm, &zeros, zeros.len());
            assert_eq!(decompress(&section).unwrap(), zeros);
            assert_eq!(Compressed::parse(&section, Format::NATIVE).unwrap().decompress().unwrap(), zeros);
        }
    }

    #[test]
    fn levels() {
        for algorithm in BOTH {
            for level in [0, 1, 6, 9, 22, u32::MAX] {
                let mut compressor = Compressor::new(algorithm, Some(level)).unwrap();
                let chunk = compressor.chunk(&text(10_000), true).unwrap();
                let section = CompressedSection::new(Format::NATIVE, algorithm, 1, vec![chunk]);
                let out: Vec<u8> = section.parts().flatten().copied().collect();
                assert_eq!(decompress(&out).unwrap(), text(10_000));
            }
        }
    }
}
