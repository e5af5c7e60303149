//! MSF, the container of a PDB: streams in pages.
//!
//! Every page belongs to a stream, but for the first one (the superblock), two of each interval of as many
//! pages as a page has bytes (maps of free pages), and the directory. Here streams lie one after the other,
//! so where a byte of a stream is in the file is arithmetic: the pages that are no maps are counted through
//! (*slots*), and a stream is a range of slots.
//!
//! Facts: LLVM's documentation of the MSF format.

use std::ops::Range;

use crate::put::Writer;

pub mod grow;
pub mod read;

const MAGIC: &[u8; 32] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";

/// Sizes of pages that readers know.
pub const PAGE_SIZES: [u32; 4] = [4096, 8192, 16384, 32768];

/// Where each stream is in the file.
pub struct Layout {
    page: u32,
    streams: Vec<Stream>,
    /// The first slot of the directory, and its bytes.
    directory: Stream,
    /// Pages of the file.
    pages: u32,
}

#[derive(Clone, Copy)]
struct Stream {
    len: u32,
    /// The slot of its first page.
    slot: u32,
    /// Pages that it has, with its room.
    pages: u32,
}

/// The streams do not fit into a file with pages of this size.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The slot after the superblock.
const FIRST_SLOT: u64 = 1;

impl Layout {
    /// A file with these streams in pages of `page` bytes.
    pub fn new(lens: &[u32], page: u32) -> Result<Layout, TooLarge> {
        Layout::with_rooms(lens, |_| false, page)
    }

    /// The same, with room behind the streams that may grow, which is for [`grow::Grown`].
    pub fn with_rooms(lens: &[u32], may_grow: impl Fn(usize) -> bool, page: u32) -> Result<Layout, TooLarge> {
        assert!(PAGE_SIZES.contains(&page));
        let mut slot = FIRST_SLOT;
        let mut streams = Vec::with_capacity(lens.len());
        let mut place = |len: u64, pages: u64| {
            let len = u32::try_from(len).map_err(|_| TooLarge)?;
            let stream = Stream { len, slot: slot as u32, pages: pages as u32 };
            slot += pages;
            if slot > u64::from(u32::MAX) { Err(TooLarge) } else { Ok(stream) }
        };
        let (mut data_pages, mut all_pages) = (0, 0);
        for (i, &len) in lens.iter().enumerate() {
            let own = len.div_ceil(page);
            let pages = if may_grow(i) { grow::pages(own) } else { own };
            (data_pages, all_pages) = (data_pages + u64::from(own), all_pages + u64::from(pages));
            streams.push(place(len.into(), pages.into())?);
        }
        // Of the directory there is as much as it can become.
        let list = |pages: u64| 4 * (1 + lens.len() as u64 + pages);
        let directory_pages = list(all_pages).div_ceil(page.into());
        let directory = place(list(data_pages), directory_pages)?;
        // The list of the directory's pages has one page.
        if directory.pages > page / 4 {
            return Err(TooLarge);
        }
        _ = place(page.into(), 1)?;
        let mut layout = Layout { page, streams, directory, pages: 0 };
        let last = layout.page_of(slot as u32 - 1);
        // An interval that has begun has its maps.
        layout.pages = (last + 1).max(last / page * page + 3);
        // Readers count pages in 20 bits, whatever their size; see `most_pages`.
        if layout.pages > most_pages(page) { Err(TooLarge) } else { Ok(layout) }
    }

    /// The smallest pages, `smallest` bytes or more, in which the streams fit.
    pub fn fit(lens: &[u32], may_grow: impl Fn(usize) -> bool, smallest: u32) -> Result<Layout, TooLarge> {
        let sizes = PAGE_SIZES.iter().filter(|&&size| size >= smallest);
        sizes
            .map(|&size| Layout::with_rooms(lens, &may_grow, size))
            .find(Result::is_ok)
            .unwrap_or(Err(TooLarge))
    }

    pub fn page_size(&self) -> u32 {
        self.page
    }

    /// Bytes of the file.
    pub fn file_len(&self) -> u64 {
        u64::from(self.pages) * u64::from(self.page)
    }

    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }

    pub fn stream_len(&self, stream: usize) -> u32 {
        self.streams[stream].len
    }

    fn page_of(&self, slot: u32) -> u32 {
        page_of(slot, self.page)
    }

    /// Where the bytes at `range` of a stream are in the file: at most one piece for each interval that they
    /// touch. What is after the stream's end, up to the end of its page, counts as part of it.
    pub fn places(&self, stream: usize, range: Range<u64>) -> Places<'_> {
        self.places_from(self.streams[stream].slot, range)
    }

    fn places_from(&self, slot: u32, range: Range<u64>) -> Places<'_> {
        let start = u64::from(slot) * u64::from(self.page);
        Places { layout: self, rest: start + range.start..start + range.end, done: 0 }
    }

    /// Bytes of a stream with those up to the end of its last page, and of its room.
    pub fn padded_len(&self, stream: usize) -> u64 {
        u64::from(self.streams[stream].pages) * u64::from(self.page)
    }

    /// The file's first page.
    pub fn superblock(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.page as usize];
        let mut out = Writer::new(&mut bytes);
        out.bytes(MAGIC);
        // The second of the two maps is the one in use.
        let list = self.directory.slot + self.directory.pages;
        let words = [self.page, 2, self.pages, self.directory.len, 0, self.page_of(list)];
        words.into_iter().for_each(|word| out.u32(word));
        bytes
    }

    /// Intervals of pages, each with two maps of free pages.
    pub fn intervals(&self) -> u32 {
        self.pages.div_ceil(self.page)
    }

    /// Where in the file the maps of an interval are.
    pub fn maps_at(&self, interval: u32) -> u64 {
        (u64::from(interval) * u64::from(self.page) + 1) * u64::from(self.page)
    }

    /// Both maps of an interval. The second ones of all intervals together have a bit for each page, set if
    /// it is free: no page of the file is. The first ones are not in use.
    pub fn write_maps(&self, interval: u32, out: &mut [u8]) {
        out.fill(0xff);
        let out = &mut out[self.page as usize..];
        let first_page = u64::from(interval) * u64::from(self.page) * 8;
        let used = u64::from(self.pages).saturating_sub(first_page).min(u64::from(self.page) * 8);
        let (bytes, bits) = ((used / 8) as usize, used % 8);
        out[..bytes].fill(0);
        if bits > 0 {
            out[bytes] = 0xff << bits;
        }
    }

    /// The directory, the list of its pages after it, with the file's places of both.
    pub fn directory(&self) -> (Vec<u8>, Places<'_>) {
        let directory_pages = self.directory.pages;
        let size = (directory_pages as usize + 1) * self.page as usize;
        let mut bytes = vec![0; size];
        let mut out = Writer::new(&mut bytes);
        out.u32(self.streams.len() as u32);
        self.streams.iter().for_each(|stream| out.u32(stream.len));
        for stream in &self.streams {
            (0..stream.len.div_ceil(self.page)).for_each(|i| out.u32(self.page_of(stream.slot + i)));
        }
        let list = &mut bytes[size - self.page as usize..];
        let mut out = Writer::new(list);
        (0..directory_pages).for_each(|i| out.u32(self.page_of(self.directory.slot + i)));
        (bytes, self.places_from(self.directory.slot, 0..size as u64))
    }
}

/// The page of a slot: the first of each interval, and those after its two maps.
fn page_of(slot: u32, page: u32) -> u32 {
    let (interval, place) = (slot / (page - 2), slot % (page - 2));
    interval * page + if place == 0 { 0 } else { place + 2 }
}

/// The slot of a page, if it is no map.
fn slot_of(number: u32, page: u32) -> Option<u32> {
    let (interval, place) = (number / page, number % page);
    match place {
        0 => Some(interval * (page - 2)),
        1 | 2 => None,
        _ => Some(interval * (page - 2) + place - 2),
    }
}

/// Most pages of a file. Offsets of pages have 32 bits in readers when pages have 4 KiB; each doubling of
/// pages doubles the size, up to half of that: 4, 8, 12 and 16 GiB.
fn most_pages(page: u32) -> u32 {
    let gib: u64 = match page {
        4096 => 4,
        8192 => 8,
        16384 => 12,
        _ => 16,
    };
    ((gib << 30) / u64::from(page)) as u32
}

/// Pieces of the file that together are a range of a stream.
pub struct Places<'l> {
    layout: &'l Layout,
    /// In slots, as bytes.
    rest: Range<u64>,
    done: usize,
}

impl Iterator for Places<'_> {
    /// Where a piece is in the file, and which bytes of the range it is.
    type Item = (u64, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let page = u64::from(self.layout.page);
        let (slot, inside) = ((self.rest.start / page) as u32, self.rest.start % page);
        // Maps lie after the first page of an interval.
        let period = self.layout.page - 2;
        let ahead = (period - slot % period) % period;
        let hole = (u64::from(slot) + u64::from(ahead) + 1) * page;
        let end = self.rest.end.min(hole);
        let len = (end - self.rest.start) as usize;
        let at = u64::from(self.layout.page_of(slot)) * page + inside;
        let piece = (at, self.done..self.done + len);
        self.rest.start = end;
        self.done += len;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of streams whose bytes tell stream and place.
    fn write(lens: &[u32], page: u32) -> Vec<u8> {
        let layout = Layout::new(lens, page).unwrap();
        let mut file = vec![0xee; layout.file_len() as usize];
        let mut written = vec![0u8; layout.file_len() as usize];
        let mut put = |at: u64, bytes: &[u8]| {
            file[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
            written[at as usize..at as usize + bytes.len()].iter_mut().for_each(|n| *n += 1);
        };
        put(0, &layout.superblock());
        for interval in 0..layout.intervals() {
            let mut maps = vec![0; 2 * page as usize];
            layout.write_maps(interval, &mut maps);
            put(layout.maps_at(interval), &maps);
        }
        for stream in 0..lens.len() {
            let bytes: Vec<u8> = (0..layout.padded_len(stream)).map(|i| byte(stream, i)).collect();
            for (at, range) in layout.places(stream, 0..bytes.len() as u64) {
                put(at, &bytes[range]);
            }
        }
        let (bytes, places) = layout.directory();
        places.for_each(|(at, range)| put(at, &bytes[range]));
        assert!(written.iter().all(|&n| n == 1), "each byte once");
        file
    }

    fn byte(stream: usize, at: u64) -> u8 {
        (stream as u64 * 31 + at % 251 + at / 4096) as u8
    }

    #[test]
    fn streams_are_found_again() {
        let big = 4096 * 4096;
        for lens in [
            vec![],
            vec![0, 1, 4096, 4097, 0],
            // Ends one page before the second interval's first page, in it, after its maps, and after the
            // third's.
            vec![big - 6 * 4096, 5],
            vec![big - 5 * 4096],
            vec![big - 4 * 4096],
            vec![big - 3 * 4096, 10],
            vec![7, 2 * big + 9, 3],
        ] {
            let file = write(&lens, 4096);
            let msf = read::Msf::parse(&file).unwrap();
            assert_eq!(msf.stream_count(), lens.len());
            for (stream, &len) in lens.iter().enumerate() {
                let bytes = msf.stream(stream).unwrap();
                assert_eq!(bytes.len(), len as usize);
                assert!(bytes.iter().enumerate().all(|(i, &b)| b == byte(stream, i as u64)), "{lens:?}");
            }
        }
    }

    #[test]
    fn pages_grow_when_a_file_is_too_large() {
        let gib = 1 << 30;
        assert_eq!(Layout::fit(&[gib, gib, gib], |_| false, 4096).unwrap().page_size(), 4096);
        assert_eq!(Layout::fit(&[gib, gib, gib, gib], |_| false, 4096).unwrap().page_size(), 8192);
        assert_eq!(Layout::fit(&[gib; 9], |_| false, 4096).unwrap().page_size(), 16384);
        assert_eq!(Layout::fit(&[gib; 9], |_| false, 32768).unwrap().page_size(), 32768);
        assert_eq!(Layout::fit(&[gib; 17], |_| false, 4096).err(), Some(TooLarge));
        assert_eq!(Layout::new(&[gib; 5], 4096).err(), Some(TooLarge));
    }

    #[test]
    fn a_list_of_two_pages_of_maps() {
        // More pages than bits in the first map.
        let layout = Layout::new(&[200 << 20], 4096).unwrap();
        let mut maps = vec![0; 8192];
        layout.write_maps(0, &mut maps);
        assert!(maps[4096..].iter().all(|&b| b == 0) && maps[..4096].iter().all(|&b| b == 0xff));
        layout.write_maps(1, &mut maps);
        let used = layout.pages as usize - 4096 * 8;
        assert!((0..4096 * 8).all(|i| (maps[4096 + i / 8] >> (i % 8) & 1 == 1) == (i >= used)));
        layout.write_maps(2, &mut maps);
        assert!(maps.iter().all(|&b| b == 0xff));
    }
}
