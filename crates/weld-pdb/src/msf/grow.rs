//! Streams that become longer or shorter in their rooms, in a file that is there already.
//!
//! Behind a stream that may grow there are pages of which the directory says nothing. So if it grows, the directory
//! lists more pages, and all that it lists behind them moves; nothing else does.

use super::read::{Error, Msf};
use super::{MAGIC, page_of, slot_of};

/// Pages of a stream that has so many, with its room. It depends on nothing but these, by steps: of a quarter, and of a
/// sixteenth where that is much.
pub fn pages(own: u32) -> u32 {
    const MANY: u32 = 128;
    if own == 0 {
        return 0;
    }
    let most = own.next_power_of_two();
    let step = if most > MANY { most / 16 } else { most / 4 };
    own.next_multiple_of(step.max(2))
}

/// What a file is to have: streams of other lengths.
pub struct Grown<'m, 'a> {
    msf: &'m Msf<'a>,
    /// Stream and length.
    lens: Vec<(usize, u32)>,
}

impl<'m, 'a> Grown<'m, 'a> {
    pub fn new(msf: &'m Msf<'a>) -> Self {
        Grown { msf, lens: Vec::new() }
    }

    /// Gives a stream another length.
    ///
    /// # Errors
    /// If it has no room for it.
    pub fn set_len(&mut self, stream: usize, len: u32) -> Result<(), Error> {
        const NO_ROOM: Error = "has no room for what an object tells debuggers";
        let page = self.msf.page_size();
        let old = self.msf.pages(stream)?.len() as u32;
        if old == 0 || len == 0 || pages(old) != pages(len.div_ceil(page)) {
            return Err(NO_ROOM);
        }
        self.lens.push((stream, len));
        Ok(())
    }

    /// Where bytes of a stream that may have grown are in the file: pieces of the range from `at` on that are one page
    /// each at most.
    ///
    /// # Errors
    /// If it is not in the file.
    pub fn place(&self, stream: usize, at: usize) -> Result<u64, Error> {
        let page = self.msf.page_size();
        let count = u32::try_from(at).map_err(|_| "It is truncated")? / page + 1;
        let number = self.numbers(stream, count)?.pop().ok_or("It is truncated")?;
        Ok(u64::from(number) * u64::from(page) + at as u64 % u64::from(page))
    }

    /// The first pages of a stream, room among them.
    fn numbers(&self, stream: usize, count: u32) -> Result<Vec<u32>, Error> {
        let page = self.msf.page_size();
        let own = self.msf.pages(stream)?;
        let mut all = own.iter().copied().take(count as usize).collect::<Vec<u32>>();
        let last = own.last().filter(|last| **last < self.msf.page_count());
        let last = last.and_then(|last| slot_of(*last, page)).ok_or("It is truncated")?;
        all.extend((1..=count.saturating_sub(own.len() as u32)).map(|more| page_of(last + more, page)));
        Ok(all)
    }

    /// What becomes of the directory: its bytes, which are as many as its pages have, where each of its pages is, and
    /// where in the superblock its length is.
    ///
    /// # Errors
    /// If the file is malformed.
    pub fn directory(&self) -> Result<Directory, Error> {
        let page = self.msf.page_size();
        let mut lens: Vec<u32> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        for stream in 0..self.msf.stream_count() {
            let other = self.lens.iter().find(|(of, _)| *of == stream);
            match other {
                Some((_, len)) => {
                    lens.push(*len);
                    numbers.extend(self.numbers(stream, len.div_ceil(page))?);
                }
                None => {
                    lens.push(self.msf.len(stream)?);
                    numbers.extend(self.msf.pages(stream)?);
                }
            }
        }
        let words = std::iter::once(lens.len() as u32).chain(lens).chain(numbers);
        let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let len = bytes.len() as u32;
        // All pages that it may have are listed.
        let (own, list) = self.msf.directory_pages();
        let first = own.first().and_then(|first| slot_of(*first, page)).ok_or("It is truncated")?;
        let end = slot_of(list, page).filter(|end| *end > first && list < self.msf.page_count());
        let end = end.ok_or("It is truncated")?;
        let pages: Vec<u32> = (first..end).map(|slot| page_of(slot, page)).collect();
        if bytes.len() > pages.len() * page as usize {
            return Err("has no room for its directory");
        }
        bytes.resize(pages.len() * page as usize, 0);
        Ok(Directory { bytes, pages, len, len_at: MAGIC.len() as u64 + 12 })
    }
}

pub struct Directory {
    pub bytes: Vec<u8>,
    pub pages: Vec<u32>,
    pub len: u32,
    pub len_at: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msf::Layout;

    fn file(lens: &[u32]) -> Vec<u8> {
        let layout = Layout::with_rooms(lens, |stream| stream % 2 == 1, 4096).unwrap();
        let mut file = vec![0; layout.file_len() as usize];
        file[..4096].copy_from_slice(&layout.superblock());
        let (bytes, places) = layout.directory();
        places.for_each(|(at, range)| {
            file[at as usize..at as usize + range.len()].copy_from_slice(&bytes[range])
        });
        file
    }

    #[test]
    fn rooms_have_steps() {
        let all = [0, 1, 2, 3, 5, 8, 9, 20, 100].map(pages);
        assert_eq!(all, [0, 2, 2, 4, 6, 8, 12, 24, 128]);
    }

    #[test]
    fn a_file_that_grows_is_one_that_was_made_so() {
        for (old, new) in [(5000, 8000), (8000, 100), (40_000, 33_000), (4096, 4097)] {
            let mut bytes = file(&[10, old, 9000, 700]);
            let want = file(&[10, new, 9000, 700]);
            assert_eq!(bytes.len(), want.len());
            let copy = bytes.clone();
            let msf = Msf::parse(&copy).unwrap();
            let mut grown = Grown::new(&msf);
            grown.set_len(1, new).unwrap();
            let made = Msf::parse(&want).unwrap();
            for at in (0..new as usize).step_by(1000) {
                assert_eq!(grown.place(1, at), made.place(1, at));
            }
            let directory = grown.directory().unwrap();
            bytes[directory.len_at as usize..][..4].copy_from_slice(&directory.len.to_le_bytes());
            for (part, page) in directory.bytes.chunks(4096).zip(&directory.pages) {
                bytes[*page as usize * 4096..][..4096].copy_from_slice(part);
            }
            assert!(bytes == want, "{old} {new}");
        }
        let bytes = file(&[10, 5000, 9000]);
        let msf = Msf::parse(&bytes).unwrap();
        let mut grown = Grown::new(&msf);
        assert!(grown.set_len(1, 8193).is_err() && grown.set_len(1, 0).is_err());
        assert!(grown.set_len(7, 1).is_err());
    }
}
