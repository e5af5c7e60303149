//! Which sets of units a name is in, while windows come one after the other.
//!
//! A name has a number that stands for all sets so far; each set leads to the number for one more. Names of
//! the same headers go the same way, so that there are few numbers, and equal ones need no comparison.

use weld_common::hash::join;
use weld_common::hash_index::HashIndex;

/// A set of a window: the window's number, and the set's there.
pub type Item = (u32, u32);

/// The number for no sets.
pub const NONE: u32 = 0;

struct Link {
    before: u32,
    last: Item,
}

impl Link {
    fn hash(&self) -> u64 {
        join(u64::from(self.last.0) << 32 | u64::from(self.last.1), u64::from(self.before))
    }
}

#[derive(Default)]
pub struct Chains {
    index: HashIndex,
    /// Link `i` has number `i + 1`.
    links: Vec<Link>,
}

impl Chains {
    /// The number for the sets of `before` and `item`.
    #[inline]
    pub fn next(&mut self, before: u32, item: Item) -> u32 {
        let link = Link { before, last: item };
        let is = |known: usize| self.links[known].before == before && self.links[known].last == item;
        let found = self.index.find_or_add(link.hash(), self.links.len(), is);
        1 + found.unwrap_or_else(|number| {
            self.links.push(link);
            number
        })
    }

    /// How many numbers there are, with [`NONE`].
    pub fn count(&self) -> usize {
        self.links.len() + 1
    }

    /// The sets of `chain`, the last one first.
    pub fn items(&self, mut chain: u32) -> impl Iterator<Item = Item> {
        std::iter::from_fn(move || {
            let link = &self.links[chain.checked_sub(1)? as usize];
            chain = link.before;
            Some(link.last)
        })
    }

    pub fn clear(&mut self) {
        self.index.clear(self.links.iter().map(Link::hash));
        self.links.clear();
    }
}
