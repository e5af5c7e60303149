//! Which object the bytes of a linked file came with, as far as somebody tells.

use crate::cover::Claim;
use crate::model::Language;

/// An object, or one section of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Origins with the same number are the same object.
    pub object: u32,
    pub name: String,
    pub archive: Option<String>,
    /// The input section; empty if it is not known.
    pub section: String,
    /// The source file.
    pub source: String,
    pub language: Language,
}

/// A run of bytes of a section.
#[derive(Clone, Copy, Debug)]
struct Range {
    section: usize,
    start: u64,
    end: u64,
    origin: u32,
}

/// Ranges of addresses, and of sections that are not in memory, and where they came from.
#[derive(Default)]
pub struct Origins {
    pub list: Vec<Origin>,
    /// By section and start.
    ranges: Vec<Range>,
}

impl Origins {
    /// `size` bytes at address `start` of a section came from this origin.
    pub fn add(&mut self, section: usize, start: u64, size: u64, origin: u32) {
        if let Some(end) = start.checked_add(size).filter(|end| *end > start) {
            self.ranges.push(Range { section, start, end, origin });
        }
    }

    /// Whether anything is known of a section.
    pub fn know(&self, section: usize) -> bool {
        let first = self.ranges.partition_point(|range| range.section < section);
        self.ranges.get(first).is_some_and(|range| range.section == section)
    }

    /// How many ranges there are.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Called once all are there.
    pub fn sort(&mut self) {
        self.ranges.sort_by_key(|range| (range.section, range.start));
    }

    /// Where the byte at an address of a section came from.
    pub fn at(&self, section: usize, address: u64) -> Option<u32> {
        self.range_at(section, address).map(|range| range.origin)
    }

    fn range_at(&self, section: usize, address: u64) -> Option<&Range> {
        let behind = self.ranges.partition_point(|range| (range.section, range.start) <= (section, address));
        self.ranges[..behind].last().filter(|range| range.section == section && address < range.end)
    }

    /// The end of the range that has the byte at an address of a section.
    pub fn end_of(&self, section: usize, address: u64) -> Option<u64> {
        self.range_at(section, address).map(|range| range.end)
    }

    /// The ranges that `size` bytes at address `start` of a section have, counted from `start`.
    pub fn within(&self, section: usize, start: u64, size: u64) -> Vec<Claim<u32>> {
        let end = start.saturating_add(size);
        let first = self.ranges.partition_point(|range| (range.section, range.start) < (section, start));
        // The one before may reach in.
        let first = first.saturating_sub(1);
        let inside =
            self.ranges[first..].iter().take_while(|range| (range.section, range.start) < (section, end));
        let inside = inside.filter(|range| range.section == section && range.end > start);
        inside
            .map(|range| {
                let from = range.start.max(start);
                Claim { offset: from - start, size: range.end - from, what: range.origin }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_up() {
        let mut origins = Origins::default();
        origins.add(1, 100, 10, 7);
        origins.add(0, 100, 10, 6);
        origins.add(1, 120, 10, 8);
        origins.add(1, 50, u64::MAX, 9);
        origins.sort();
        assert_eq!(origins.count(), 3);
        assert_eq!(
            [99, 100, 109, 110, 125].map(|at| origins.at(1, at)),
            [None, Some(7), Some(7), None, Some(8)]
        );
        assert_eq!(origins.at(0, 125), None);
        let found: Vec<_> = origins.within(1, 105, 20).iter().map(|c| (c.offset, c.size, c.what)).collect();
        assert_eq!(found, [(0, 5, 7), (15, 10, 8)]);
        assert!(origins.within(2, 0, u64::MAX).is_empty());
    }
}
