//! What files mention that take no part yet, and may later.

use std::collections::HashSet;

use super::{Format, Rounds};
use crate::ids::FileId;
use crate::names::{Rank, Rules};

impl<'a, F: Format<'a>> Rounds<'a, '_, F> {
    /// Names that `files` define or refer to, and those of the lazy files that these would ask for, and so on;
    /// of names that no other file knows, none. What is wrong with a file is said when it is read to take part.
    pub fn mentions(&self, files: Vec<FileId>) -> Vec<&'a [u8]> {
        let mut rest = files;
        rest.sort_unstable();
        rest.dedup();
        let mut known: HashSet<FileId> = rest.iter().copied().collect();
        let mut names = Vec::new();
        while let Some(file) = rest.pop() {
            let mut bins = self.pool.take(self.names.shard_bits());
            if self.read_alone(file, false, &mut bins).is_ok() {
                for record in bins.records() {
                    let Some(id) = self.names.find(record.name()) else { continue };
                    let entry = self.names.get(id);
                    names.push(entry.name);
                    let asks = F::Rules::is_symbol(record.bits) && Rank::of(record.bits) == Rank::Undefined;
                    if asks && entry.rank() == Rank::Provided && known.insert(entry.file()) {
                        rest.push(entry.file());
                    }
                }
            }
            self.pool.give_back(vec![bins]);
        }
        names
    }
}
