//! Writing in whole blocks, each once.
//!
//! File systems that compress do so in blocks, 128 KiB on btrfs. Bytes that reach a block after it has
//! been flushed have it read, unpacked, changed, packed and stored anew; a link that touches blocks at random
//! moments pays for that many times. Regions of an image begin and end anywhere, and symbol tables
//! grow at three places at once. So here whatever fills a block is written at once, and parts of
//! blocks wait in memory until the block is full: no block is written twice, whatever the
//! order in which regions come.
//!
//! The price is a copy of the regions' ends, and a block for each place where the image grows. It is
//! paid only where it is a small part of what the file system does anyway ([`FileSystem::CopyOnWrite`]).
//!
//! [`FileSystem::CopyOnWrite`]: super::engine::FileSystem::CopyOnWrite

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Mutex;

use super::stream::{WriteAt, write_all_at};

/// Bytes in a block, and its alignment in the file.
pub const BLOCK: u64 = 128 << 10;

/// The blocks of a file that wait for the rest of their bytes.
pub struct Blocks {
    /// Size of the file in bytes: its last block may be shorter than the others.
    len: u64,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    parts: BTreeMap<u64, Part>,
    /// Memory of blocks that are written.
    spare: Vec<Box<[u8]>>,
}

struct Part {
    bytes: Box<[u8]>,
    /// What there is of the block: disjoint, not touching, ascending.
    filled: Vec<Range<usize>>,
}

impl Blocks {
    pub fn new(len: u64) -> Blocks {
        Blocks { len, waiting: Mutex::default() }
    }

    /// Writes what completes blocks and keeps the rest. The bytes lie inside the file.
    pub fn write(&self, to: &impl WriteAt, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset + bytes.len() as u64;
        let first = offset.next_multiple_of(BLOCK);
        let last = if end == self.len { end } else { end / BLOCK * BLOCK };
        if first > last {
            return self.part(to, offset, bytes);
        }
        let (head, rest) = bytes.split_at((first - offset) as usize);
        let (whole, tail) = rest.split_at((last - first) as usize);
        self.part(to, offset, head)?;
        write_all_at(to, first, whole)?;
        self.part(to, last, tail)
    }

    /// Adds bytes that lie in one block.
    fn part(&self, to: &impl WriteAt, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (block, start) = (offset / BLOCK * BLOCK, (offset % BLOCK) as usize);
        let range = start..start + bytes.len();
        let size = (self.len - block).min(BLOCK) as usize;
        let full = {
            let mut waiting = self.waiting.lock().unwrap();
            let Waiting { parts, spare } = &mut *waiting;
            let part = parts.entry(block).or_insert_with(|| {
                let bytes = spare.pop().unwrap_or_else(|| vec![0; BLOCK as usize].into());
                Part { bytes, filled: Vec::new() }
            });
            part.bytes[range.clone()].copy_from_slice(bytes);
            part.add(range);
            if part.filled.first() != Some(&(0..size)) {
                return Ok(());
            }
            parts.remove(&block)
        };
        let Some(part) = full else { return Ok(()) };
        write_all_at(to, block, &part.bytes[..size])?;
        self.waiting.lock().unwrap().spare.push(part.bytes);
        Ok(())
    }

    /// Writes what still waits: blocks at the borders of holes.
    pub fn finish(&self, to: &impl WriteAt) -> io::Result<()> {
        let parts = std::mem::take(&mut self.waiting.lock().unwrap().parts);
        for (block, part) in parts {
            for range in part.filled {
                write_all_at(to, block + range.start as u64, &part.bytes[range])?;
            }
        }
        Ok(())
    }

    /// Puts what waits over `bytes`, which the file has at `offset`.
    pub fn overlay(&self, offset: u64, bytes: &mut [u8]) {
        let end = offset + bytes.len() as u64;
        let waiting = self.waiting.lock().unwrap();
        for (block, part) in waiting.parts.range(offset / BLOCK * BLOCK..end) {
            for range in &part.filled {
                let (from, to) = (block + range.start as u64, block + range.end as u64);
                let (low, high) = (from.max(offset), to.min(end));
                if low < high {
                    let source = &part.bytes[(low - block) as usize..(high - block) as usize];
                    bytes[(low - offset) as usize..(high - offset) as usize].copy_from_slice(source);
                }
            }
        }
    }
}

impl Part {
    fn add(&mut self, mut range: Range<usize>) {
        let touches = |other: &Range<usize>| other.start <= range.end && range.start <= other.end;
        let first = self.filled.iter().position(touches);
        let first = first.unwrap_or_else(|| self.filled.partition_point(|other| other.end < range.start));
        let count = self.filled[first..].iter().take_while(|other| other.start <= range.end).count();
        if let [low, .., high] | [low @ high] = &self.filled[first..first + count] {
            range = range.start.min(low.start)..range.end.max(high.end);
        }
        self.filled.splice(first..first + count, [range]);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::*;

    /// A compressing file system as far as it matters: it stores whole blocks, and counts how many
    /// times it had to. Each write reaches it at once, as if memory for dirty pages were short.
    struct Compressing {
        image: RefCell<Vec<u8>>,
        stored: RefCell<BTreeMap<u64, u32>>,
    }

    impl Compressing {
        fn new(len: u64) -> Self {
            Compressing { image: RefCell::new(vec![0; len as usize]), stored: RefCell::default() }
        }

        fn most(&self) -> u32 {
            self.stored.borrow().values().copied().max().unwrap_or(0)
        }
    }

    impl WriteAt for Compressing {
        fn write_some_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            self.image.borrow_mut()[offset as usize..][..bytes.len()].copy_from_slice(bytes);
            for block in offset / BLOCK..(offset + bytes.len() as u64).div_ceil(BLOCK) {
                *self.stored.borrow_mut().entry(block).or_default() += 1;
            }
            Ok(bytes.len())
        }
    }

    /// Regions as a link has them: units of about half a megabyte, small tables, pieces of symbol
    /// tables that grow at three places, in an order that depends on a seed.
    fn regions(len: u64, seed: u64) -> Vec<Range<u64>> {
        let mut state = seed;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut list = Vec::new();
        let mut at = 0;
        while at < len {
            let size = match list.len() % 5 {
                0 | 1 => (512 << 10) + next(60_000),
                2 => 64 + next(1000),
                _ => 30_000 + next(100_000),
            };
            list.push(at..len.min(at + size));
            at += size;
        }
        for i in (1..list.len()).rev() {
            list.swap(i, next(i as u64 + 1) as usize);
        }
        list
    }

    #[test]
    fn each_block_is_written_once_in_any_order() {
        let len = (9 << 20) + 12_345;
        let want: Vec<u8> = (0..len).map(|i| (i * 31 + i / 977) as u8).collect();
        for seed in 0..50 {
            let (disk, plain) = (Compressing::new(len), Compressing::new(len));
            let blocks = Blocks::new(len);
            for region in regions(len, seed) {
                let bytes = &want[region.start as usize..region.end as usize];
                blocks.write(&disk, region.start, bytes).unwrap();
                write_all_at(&plain, region.start, bytes).unwrap();
            }
            assert!(blocks.waiting.lock().unwrap().parts.is_empty());
            blocks.finish(&disk).unwrap();
            assert!(*disk.image.borrow() == want, "seed {seed}");
            assert_eq!(disk.stored.borrow().len() as u64, len.div_ceil(BLOCK));
            assert_eq!(disk.most(), 1, "seed {seed}");
            // The model would notice.
            assert!(plain.most() > 1);
        }
    }

    #[test]
    fn holes_and_changes_come_out_right() {
        let len = 5 * BLOCK;
        let disk = Compressing::new(len);
        let blocks = Blocks::new(len);
        let write = |offset: u64, bytes: &[u8]| blocks.write(&disk, offset, bytes).unwrap();
        write(10, b"one");
        write(3 * BLOCK - 2, b"across");
        write(BLOCK, &vec![7; BLOCK as usize]);
        write(BLOCK + 5, b"changed");
        write(11, b"N");
        let mut seen = [0xff; 16];
        blocks.overlay(3 * BLOCK - 4, &mut seen);
        assert_eq!(&seen, b"\xff\xffacross\xff\xff\xff\xff\xff\xff\xff\xff");
        blocks.overlay(0, &mut seen);
        assert_eq!(&seen[9..14], b"\xffoNe\xff");
        blocks.finish(&disk).unwrap();
        let image = disk.image.borrow();
        assert_eq!(&image[9..14], b"\0oNe\0");
        assert_eq!(&image[3 * BLOCK as usize - 3..][..8], b"\0across\0");
        assert_eq!(&image[BLOCK as usize + 4..][..9], b"\x07changed\x07");
        assert_eq!(image[2 * BLOCK as usize - 1], 7);
    }

    #[test]
    fn an_error_stops() {
        struct Full;
        impl WriteAt for Full {
            fn write_some_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
        let blocks = Blocks::new(2 * BLOCK);
        blocks.write(&Full, 0, b"waits").unwrap();
        assert!(blocks.finish(&Full).is_err());
        assert!(blocks.write(&Full, BLOCK, &vec![0; BLOCK as usize]).is_err());
    }
}
