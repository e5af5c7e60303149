//! The relocations of an object that are not stored as the linker wants them, once they are decoded: one list, and where
//! in it those of each section are. A machine whose relocations have no addends (REL) has all of its own here, a
//! table for each function: so there is no memory of its own for a table, and none is searched for.

use crate::elf::Rela;

/// Tables of relocations, by the header index of their section.
#[derive(Default)]
pub struct DecodedRelocs {
    list: Vec<Rela>,
    /// Where in `list` each table ends, and the next one begins.
    ends: Vec<usize>,
    /// The first header index of a table, and of each index from there on the number of its table, from 1 on.
    first: u32,
    numbers: Vec<u32>,
}

impl DecodedRelocs {
    /// Adds the table of the section with header index `index`, which has none yet.
    pub fn add(&mut self, index: u32, relocs: &[Rela]) {
        self.list.extend_from_slice(relocs);
        self.ends.push(self.list.len());
        *self.number(index) = self.ends.len() as u32;
    }

    /// Takes in those of later sections.
    pub fn append(&mut self, mut later: DecodedRelocs) {
        let (records, tables) = (self.list.len(), self.ends.len() as u32);
        self.list.append(&mut later.list);
        self.ends.extend(later.ends.iter().map(|end| end + records));
        for (index, number) in (later.first..).zip(later.numbers).filter(|(_, number)| *number != 0) {
            *self.number(index) = number + tables;
        }
    }

    /// Makes room for a header index.
    fn number(&mut self, index: u32) -> &mut u32 {
        if self.numbers.is_empty() {
            self.first = index;
        }
        if index < self.first {
            self.numbers.splice(0..0, (index..self.first).map(|_| 0));
            self.first = index;
        }
        let place = (index - self.first) as usize;
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, 0);
        }
        &mut self.numbers[place]
    }

    /// The table of the section with header index `index`; empty if there is none.
    #[inline]
    pub fn of(&self, index: u32) -> &[Rela] {
        let number = index.checked_sub(self.first).and_then(|place| self.numbers.get(place as usize));
        let Some(table) = number.and_then(|number| number.checked_sub(1)) else { return &[] };
        let start = table.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.list[start..self.ends[table as usize]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relocs(offsets: std::ops::Range<u64>) -> Vec<Rela> {
        offsets.map(|offset| Rela::make(offset, 1, 2, 3)).collect()
    }

    #[test]
    fn tables_are_found_whatever_the_order_in_which_they_came() {
        let mut all = DecodedRelocs::default();
        all.add(7, &relocs(0..3));
        all.add(9, &[]);
        let mut later = DecodedRelocs::default();
        later.add(20, &relocs(3..5));
        all.append(later);
        all.append(DecodedRelocs::default());
        // One that had to wait for what it relocates.
        all.add(4, &relocs(5..6));
        for (index, offsets) in
            [(7, 0..3), (20, 3..5), (4, 5..6), (9, 0..0), (8, 0..0), (3, 0..0), (21, 0..0)]
        {
            let found: Vec<u64> = all.of(index).iter().map(Rela::r_offset).collect();
            assert_eq!(found, offsets.collect::<Vec<_>>(), "{index}");
        }
        assert!(DecodedRelocs::default().of(1).is_empty());
    }
}
