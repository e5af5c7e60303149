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
    fn the_same_for_any_cut() {
        let places: Vec<Place> = (0..200_000).map(|i| Place { rva: Rva::new(i * 24), kind: 10 }).collect();
        assert!(table(&places, true) == blocks(&places));
    }
}
