//! Base relocations: the places that hold addresses, for a loader that puts the image elsewhere.
//!
//! Places are collected from live sections in the order of the image, by runs of them, so that they are
//! sorted when the runs are joined. A block is a page: its address, its size, and two bytes for each place,
//! padded to four.

use weld_common::par;

use crate::address::Rva;

const PAGE: u32 = 4096;

/// A place and what kind of address it holds (`IMAGE_REL_BASED_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub rva: Rva,
    pub kind: u8,
}

impl Place {
    /// The page that it is in, by number.
    fn page(&self) -> u32 {
        self.rva.get() / PAGE
    }
}

/// The table for `places`, which are sorted.
pub fn table(places: &[Place], parallel: bool) -> Vec<u8> {
    // Runs are cut where pages end.
    let mut cuts = vec![0];
    while let Some(&last) = cuts.last()
        && last < places.len()
    {
        let mut end = (last + (1 << 15)).min(places.len());
        while end < places.len() && places[end].page() == places[end - 1].page() {
            end += 1;
        }
        cuts.push(end);
    }
    let one = |i: usize| blocks(&places[cuts[i]..cuts[i + 1]]);
    let runs = par::runs("base relocations", parallel, cuts.len() - 1, 1, |run| {
        run.flat_map(one).collect::<Vec<u8>>()
    });
    par::concat("join base relocations", parallel, runs)
}

/// Makes a table longer: its last block gets entries that say nothing.
pub fn pad(table: &mut Vec<u8>, size: usize) {
    let mut last = None;
    let mut at = 0;
    while let Some(block) = table.get(at + 4..).and_then(|rest| rest.first_chunk::<4>()) {
        last = Some(at);
        at += u32::from_le_bytes(*block).max(8) as usize;
    }
    let Some(last) = last.filter(|_| size > table.len()) else { return };
    let block = (size - last) as u32;
    table.resize(size, 0);
    table[last + 4..last + 8].copy_from_slice(&block.to_le_bytes());
}

/// The places that a table lists.
pub fn places(table: &[u8]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut rest = table;
    while let Some((header, behind)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, e, f, g, h] = *header;
        let (page, size) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]) as usize);
        let own = size.saturating_sub(8).min(behind.len());
        let words = behind[..own].as_chunks::<2>().0.iter().map(|word| u16::from_le_bytes(*word));
        let listed = words.filter(|word| word >> 12 != 0);
        places.extend(listed.map(|word| Place {
            rva: Rva::new(page).wrapping_add((word & 0xfff).into()),
            kind: (word >> 12) as u8,
        }));
        rest = &behind[own..];
    }
    places
}

fn blocks(places: &[Place]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(places.len() * 2 + 16);
    for page in places.chunk_by(|a, b| a.page() == b.page()) {
        let size = 8 + (page.len() * 2).next_multiple_of(4);
        bytes.extend_from_slice(&(page[0].page() * PAGE).to_le_bytes());
        bytes.extend_from_slice(&(size as u32).to_le_bytes());
        for place in page {
            let word = u16::from(place.kind) << 12 | (place.rva.get() % PAGE) as u16;
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        if page.len() % 2 != 0 {
            bytes.extend_from_slice(&[0, 0]);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_for_each_page() {
        let places = [0x1008, 0x1010, 0x1ff8, 0x5000].map(|rva| Place { rva: Rva::new(rva), kind: 10 });
        let bytes = table(&places, false);
        let words: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let want = [
            0x1000, 0, 16, 0, 0xa008, 0xa010, 0xaff8, 0, //
            0x5000, 0, 12, 0, 0xa000, 0,
        ];
        assert_eq!(words, want);
        assert!(table(&[], false).is_empty());
    }

    #[test]
    fn padding_is_no_place() {
        let places_in = [0x1008, 0x1010, 0x5000].map(|rva| Place { rva: Rva::new(rva), kind: 10 });
        let bytes = table(&places_in, false);
        for more in [0, 4, 8, 5000] {
            let mut padded = bytes.clone();
            pad(&mut padded, bytes.len() + more);
            assert_eq!((padded.len(), places(&padded)), (bytes.len() + more, places_in.to_vec()));
        }
        let mut none = Vec::new();
        pad(&mut none, 100);
        assert!(none.is_empty());
    }

    #[test]
    fn the_same_for_any_cut() {
        let places: Vec<Place> = (0..200_000).map(|i| Place { rva: Rva::new(i * 24), kind: 10 }).collect();
        assert!(table(&places, true) == blocks(&places));
    }
}
