//! The streaming engine: regions are filled in buffers and written by `pwrite`.
//!
//! A buffer is used again while it is in the cache, so that the bytes of the image are in memory
//! once: in the page cache. Measured alternatives are in bench/notes/output.md.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Mutex;

use super::blocks::Blocks;
use super::sys;
use super::turns::Turns;

/// Buffers above this size, in bytes, are freed after use rather than kept for the next region.
const LARGEST_KEPT_BUFFER: usize = 8 << 20;

/// A call writes at most this many bytes, and ends at a multiple of it. Linux takes memory for the page cache
/// in blocks as large as a call lets it. On a virtual machine that gives unused memory back to its host,
/// large blocks are those the host has taken: bytes written to them cost up to five times as much.
const LONGEST_WRITE: u64 = 64 << 10;

pub struct Stream {
    file: File,
    buffers: Mutex<Vec<Vec<u8>>>,
    turns: Turns<Filled>,
    /// Where the file system stores whole blocks.
    blocks: Option<Blocks>,
}

struct Filled {
    offset: u64,
    len: usize,
    buffer: Vec<u8>,
}

impl Stream {
    /// `blocks`: writes each block of the file once.
    pub fn new(file: File, len: u64, blocks: bool) -> Stream {
        let blocks = blocks.then(|| Blocks::new(len));
        Stream { file, buffers: Mutex::default(), turns: Turns::default(), blocks }
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.blocks {
            Some(blocks) => blocks.write(&self.file, offset, bytes),
            None => write_in_calls(&self.file, offset, bytes),
        }
    }

    /// Has `fill` make `len` bytes and writes them, or leaves that to a thread that is writing already: all
    /// is written when all calls have returned, and one of them returns what went wrong.
    pub fn fill<R>(&self, offset: u64, len: usize, fill: impl FnOnce(&mut [u8]) -> R) -> io::Result<R> {
        let mut buffer = take_buffer(&self.buffers, len);
        let result = fill(&mut buffer[..len]);
        let write = |Filled { offset, len, buffer }| {
            let written = self.write(offset, &buffer[..len]);
            if buffer.capacity() <= LARGEST_KEPT_BUFFER {
                self.buffers.lock().unwrap().push(buffer);
            }
            written
        };
        self.turns.write(Filled { offset, len, buffer }, write).map(|()| result)
    }

    /// What has been written at `offset`; zeroes where nothing has.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        sys::read_exact_at(&self.file, bytes, offset)?;
        if let Some(blocks) = &self.blocks {
            blocks.overlay(offset, bytes);
        }
        Ok(())
    }

    /// The file with all that was written.
    pub fn finish(self) -> io::Result<File> {
        if let Some(blocks) = &self.blocks {
            blocks.finish(&self.file)?;
        }
        Ok(self.file)
    }
}

/// A buffer of at least `len` bytes, of any contents. The last one given back comes first: it is the
/// one most likely in the cache.
pub fn take_buffer(buffers: &Mutex<Vec<Vec<u8>>>, len: usize) -> Vec<u8> {
    let mut buffer = buffers.lock().unwrap().pop().unwrap_or_default();
    if buffer.len() < len {
        if buffer.capacity() < len {
            // The kernel has zeroed pages for this, where growing would copy what nobody wants.
            buffer = vec![0; len];
        }
        buffer.resize(len, 0);
    }
    buffer
}

/// `pwrite`, so that tests can make it fail.
pub trait WriteAt {
    fn write_some_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
}

impl WriteAt for File {
    fn write_some_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        sys::write_at(self, bytes, offset)
    }
}

/// As [`write_all_at`], in calls of at most [`LONGEST_WRITE`] bytes.
pub fn write_in_calls(to: &impl WriteAt, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let n = (LONGEST_WRITE - offset % LONGEST_WRITE).min(bytes.len() as u64);
        let (now, later) = bytes.split_at(n as usize);
        write_all_at(to, offset, now)?;
        bytes = later;
        offset += n;
    }
    Ok(())
}

pub fn write_all_at(to: &impl WriteAt, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write_some_at(bytes, offset) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
