//! Reads the streams of an MSF file that nobody vouches for.

use std::borrow::Cow;

use super::MAGIC;
use crate::codeview::u32_at;

/// Why a file is no MSF file, in words that go after its name.
pub type Error = &'static str;

const NO_SUCH: Error = "It has not all streams that it should have";

/// A stream that is not there has this length.
const NO_STREAM: u32 = u32::MAX;

pub struct Msf<'a> {
    file: &'a [u8],
    page: usize,
    streams: Vec<Stream>,
    /// The pages of the directory, and the one that lists them.
    directory: (Vec<u32>, u32),
}

/// Of each stream its length and the numbers of its pages.
struct Stream {
    len: usize,
    pages: Vec<u32>,
}

impl<'a> Msf<'a> {
    pub fn parse(file: &'a [u8]) -> Result<Msf<'a>, Error> {
        if !file.starts_with(MAGIC) {
            return Err("MSF superblock is missing");
        }
        let word = |i: usize| u32_at(file, MAGIC.len() + 4 * i).map_err(|_| "It is truncated");
        let (page, directory_len, list) = (word(0)? as usize, word(3)? as usize, word(5)?);
        if !page.is_power_of_two() || !(512..=65536).contains(&page) {
            return Err("It has pages of an unknown size");
        }
        if directory_len > file.len() {
            return Err("It has a directory larger than the file");
        }
        let mut msf = Msf { file, page, streams: Vec::new(), directory: (Vec::new(), list) };
        let numbers = msf.words(msf.page(list)?, directory_len.div_ceil(page))?;
        let stream = Stream { len: directory_len, pages: numbers };
        let directory = msf.join(&stream)?;
        msf.streams = msf.streams_of(&directory)?;
        msf.directory.0 = stream.pages;
        Ok(msf)
    }

    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// Whole pages of the file.
    pub fn page_count(&self) -> u32 {
        (self.file.len() / self.page) as u32
    }

    pub fn page_size(&self) -> u32 {
        self.page as u32
    }

    /// The pages of the directory, and the one that lists them.
    pub fn directory_pages(&self) -> (&[u32], u32) {
        (&self.directory.0, self.directory.1)
    }

    /// The pages of a stream.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn pages(&self, number: usize) -> Result<&[u32], Error> {
        Ok(&self.streams.get(number).ok_or(NO_SUCH)?.pages)
    }

    /// The length of a stream.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn len(&self, number: usize) -> Result<u32, Error> {
        Ok(self.streams.get(number).ok_or(NO_SUCH)?.len as u32)
    }

    /// The bytes of a stream; no copy if its pages follow each other.
    pub fn stream(&self, number: usize) -> Result<Cow<'a, [u8]>, Error> {
        self.join(self.streams.get(number).ok_or(NO_SUCH)?)
    }

    /// Where byte `at` of a stream is in the file.
    pub fn place(&self, number: usize, at: usize) -> Result<u64, Error> {
        let stream = self.streams.get(number).ok_or(NO_SUCH)?;
        let page = stream.pages.get(at / self.page).filter(|_| at < stream.len).ok_or("It is truncated")?;
        Ok(u64::from(*page) * self.page as u64 + (at % self.page) as u64)
    }

    /// Bytes of the file.
    ///
    /// # Errors
    /// If it ends before them.
    pub fn bytes(&self, at: u64, len: usize) -> Result<&'a [u8], Error> {
        let start = usize::try_from(at).map_err(|_| "It is truncated")?;
        self.file.get(start..).and_then(|rest| rest.get(..len)).ok_or("It is truncated")
    }

    fn page(&self, number: u32) -> Result<&'a [u8], Error> {
        let start = number as usize * self.page;
        self.file.get(start..start + self.page).ok_or("It is truncated")
    }

    fn words(&self, bytes: &[u8], count: usize) -> Result<Vec<u32>, Error> {
        let bytes = bytes.get(..count * 4).ok_or("It has a directory that is too large")?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn join(&self, stream: &Stream) -> Result<Cow<'a, [u8]>, Error> {
        let follows = |pair: &[u32]| pair[0].checked_add(1) == Some(pair[1]);
        if let Some(&first) = stream.pages.first()
            && stream.pages.windows(2).all(follows)
        {
            let start = first as usize * self.page;
            let bytes = self.file.get(start..).and_then(|rest| rest.get(..stream.len));
            return bytes.map(Cow::Borrowed).ok_or("It is truncated");
        }
        let mut bytes = Vec::with_capacity(stream.len);
        for &number in &stream.pages {
            let page = self.page(number)?;
            bytes.extend_from_slice(&page[..page.len().min(stream.len - bytes.len())]);
        }
        Ok(Cow::Owned(bytes))
    }

    /// The streams that a directory lists. Together they are no larger than the file, so that no list of
    /// pages says the same page over and over to make up gigabytes.
    fn streams_of(&self, bytes: &[u8]) -> Result<Vec<Stream>, Error> {
        let too_short = |_| "It has a directory that ends too early";
        let count = u32_at(bytes, 0).map_err(too_short)? as usize;
        let lens = self.words(&bytes[4..], count)?;
        let mut rest = &bytes[4 + 4 * count..];
        let mut room = self.file.len();
        let mut streams = Vec::with_capacity(count);
        for len in lens {
            let len = if len == NO_STREAM { 0 } else { len as usize };
            let pages = self.words(rest, len.div_ceil(self.page))?;
            rest = &rest[4 * pages.len()..];
            room = room.checked_sub(len).ok_or("It has streams larger than the file")?;
            streams.push(Stream { len, pages });
        }
        Ok(streams)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_errors() {
        let layout = super::super::Layout::new(&[10, 5000], 4096).unwrap();
        let mut file = vec![0; layout.file_len() as usize];
        file[..4096].copy_from_slice(&layout.superblock());
        let (bytes, places) = layout.directory();
        places.for_each(|(at, range)| {
            file[at as usize..at as usize + range.len()].copy_from_slice(&bytes[range])
        });
        assert!(Msf::parse(&file).is_ok());
        for len in (0..file.len()).step_by(61) {
            if let Ok(msf) = Msf::parse(&file[..len]) {
                (0..msf.stream_count()).for_each(|i| _ = msf.stream(i));
            }
        }
        for at in (0..56).chain(file.len() - 8192..file.len() - 8192 + 32) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut file = file.clone();
                file[at] = value;
                if let Ok(msf) = Msf::parse(&file) {
                    (0..msf.stream_count()).for_each(|i| _ = msf.stream(i));
                }
            }
        }
    }
}
