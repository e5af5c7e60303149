//! Thunks: code that stands between a branch and a target that it cannot go to by itself.
//!
//! A branch has few bits for a distance: AArch64's `bl` reaches 128 MiB, its `tbz` 32 KiB. For a target that
//! is further away the linker puts a few instructions, a thunk, where the branch reaches them, and they go on
//! from there. Distance is not the only reason: ARM's `b` does not change to the other instruction set, and
//! a call on PowerPC that leaves the module has to save a register on its way. So whether a branch needs a
//! thunk is for the format and its machine to say; this is about which one it takes.
//!
//! Thunks take room and move what lies after them, whereupon other branches do not reach any more. So they
//! are looked for in rounds: everything gets its address; the round begins ([`Thunks::begin`]); thunks grow
//! whose targets have moved away ([`Thunks::lengthen`]); each branch that needs a thunk asks for it
//! ([`Thunks::serve`]); and if there are more or longer ones than before, everything gets its address again.
//! Thunks stay in their pools, are never taken away and only grow, so that ends.
//!
//! - A **key** is what branches that share a thunk have in common: the target, in terms that layout does not
//!   change, and what else the thunk depends on. With ELF that is the output section; with two instruction
//!   sets it is also the one that callers are in, with PowerPC the table of contents that they use.
//! - A **form** is a shape of a thunk. A key mostly has several: the short ones do not go as far as the long
//!   ones. A thunk takes the first that reaches its target, and the next one when that has moved away.
//! - A **pool** is a place in the layout with thunks in it. Where pools are is the policy of the format: at
//!   intervals of a little less than branches reach ([`intervals`]), so that few thunks serve many branches;
//!   or one for each thunk, after the section whose branch asked for it, as linkers for Windows do.
//!
//! What a thunk is in bytes is known only to who writes it.

pub mod intervals;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::runs::align_to;

/// How far code reaches from where it is: to what is `-back..ahead` bytes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    pub back: u64,
    pub ahead: u64,
}

impl Reach {
    pub const EVERYTHING: Reach = Reach::both(1 << 63);

    /// As a signed field of an instruction does.
    pub const fn both(reach: u64) -> Reach {
        Reach { back: reach, ahead: reach }
    }

    /// Whether code at `here` reaches `target`.
    #[inline]
    pub fn has(self, here: u64, target: u64) -> bool {
        let distance = target.wrapping_sub(here) as i64;
        if distance < 0 { distance.unsigned_abs() <= self.back } else { (distance as u64) < self.ahead }
    }

    /// No further than this.
    pub fn at_most(self, limit: u64) -> Reach {
        Reach { back: self.back.min(limit), ahead: self.ahead.min(limit) }
    }

    /// So much less in both directions.
    pub fn less(self, room: u64) -> Reach {
        Reach { back: self.back.saturating_sub(room), ahead: self.ahead.saturating_sub(room) }
    }
}

/// The shape of a thunk, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub size: u64,
    pub align: u64,
    pub reach: Reach,
}

/// A branch that needs a thunk, where it is by now.
pub struct Branch<K> {
    pub key: K,
    pub here: u64,
    pub target: u64,
    pub reach: Reach,
}

/// Code in a pool that goes on to somewhere else.
pub struct Thunk<K> {
    pub key: K,
    /// The number of its form.
    pub form: usize,
    pub pool: u32,
    /// In the pool, in bytes.
    pub offset: u64,
    /// The one before it with the same key.
    previous: Option<u32>,
}

/// A place with thunks.
pub struct Pool<P> {
    pub place: P,
    /// In the order in which they lie there.
    pub thunks: Vec<u32>,
    /// In bytes.
    pub size: u64,
    pub align: u64,
    /// As the round began; of a new one, about where it will be.
    address: u64,
}

impl<P> Pool<P> {
    /// An empty one, about at `address`.
    pub fn new(place: P, address: u64) -> Self {
        Pool { place, thunks: Vec::new(), size: 0, align: 1, address }
    }

    /// About where another thunk would be.
    fn next(&self) -> u64 {
        self.address.wrapping_add(self.size)
    }

    /// Makes room for a thunk after the others. Returns its offset.
    fn take(&mut self, form: Form) -> u64 {
        let offset = align_to(self.size, form.align);
        self.size = offset + form.size;
        self.align = self.align.max(form.align);
        offset
    }
}

/// The thunks of an output.
pub struct Thunks<K, P> {
    pub list: Vec<Thunk<K>>,
    pub pools: Vec<Pool<P>>,
    /// The last one with each key.
    last: BTreeMap<K, u32>,
    /// Of those the one that was asked for last: mostly branches with the same key ask one after the other.
    asked: u32,
}

impl<K, P> Default for Thunks<K, P> {
    fn default() -> Self {
        Thunks { list: Vec::new(), pools: Vec::new(), last: BTreeMap::new(), asked: 0 }
    }
}

impl<K: Copy + Ord, P> Thunks<K, P> {
    /// A round begins: takes in where pools are by now.
    pub fn begin(&mut self, address: impl Fn(u32) -> u64) {
        for (number, pool) in (0..).zip(&mut self.pools) {
            pool.address = address(number);
        }
    }

    /// Gives longer forms to thunks from which their targets have moved away. Whether there are any such.
    /// `target` says where those with a key lead by now, if that is known; `form` the forms that they have,
    /// by number: each reaches further than those before it, and there is none after the last.
    pub fn lengthen(
        &mut self,
        target: impl Fn(K) -> Option<u64>,
        form: impl Fn(K, usize) -> Option<Form>,
    ) -> bool {
        let mut changed = vec![false; self.pools.len()];
        for number in 0..self.list.len() {
            let (thunk, at) = (&self.list[number], self.address(number as u32));
            let Some(target) = target(thunk.key) else { continue };
            let fitting = fitting(|number| form(thunk.key, number), thunk.form, at, target);
            if fitting != thunk.form {
                changed[thunk.pool as usize] = true;
                self.list[number].form = fitting;
            }
        }
        for (pool, _) in self.pools.iter_mut().zip(&changed).filter(|(_, changed)| **changed) {
            pool.size = 0;
            for number in 0..pool.thunks.len() {
                let thunk = &mut self.list[pool.thunks[number] as usize];
                thunk.offset = form(thunk.key, thunk.form).map_or(pool.size, |form| pool.take(form));
            }
        }
        changed.contains(&true)
    }

    /// The thunk for a branch: one that there is, if the branch reaches it, or else a new one in the pool,
    /// among those that there are or added to them, that `pool` gives the number of: one that the branch
    /// reaches. `None` if there is no such place. `form` says what forms thunks with this key have, as above.
    pub fn serve(
        &mut self,
        branch: &Branch<K>,
        form: impl Fn(usize) -> Option<Form>,
        pool: impl FnOnce(&mut Vec<Pool<P>>) -> Option<u32>,
    ) -> Option<u32> {
        let last = self.last_with(branch.key);
        self.asked = last.unwrap_or(self.asked);
        let known = self.with_key(branch.key).find(|i| branch.reach.has(branch.here, self.address(*i)));
        if known.is_some() {
            return known;
        }
        let pool = pool(&mut self.pools)?;
        let into = &mut self.pools[pool as usize];
        // If its target is too far from its final place, it will get longer.
        let fitting = fitting(&form, 0, into.next(), branch.target);
        let offset = into.take(form(fitting)?);
        let number = self.list.len() as u32;
        into.thunks.push(number);
        self.last.insert(branch.key, number);
        self.asked = number;
        self.list.push(Thunk { key: branch.key, form: fitting, pool, offset, previous: last });
        Some(number)
    }

    /// Those with a key, the last one first.
    pub fn with_key(&self, key: K) -> impl Iterator<Item = u32> {
        std::iter::successors(self.last_with(key), |number| self.list[*number as usize].previous)
    }

    fn last_with(&self, key: K) -> Option<u32> {
        match self.list.get(self.asked as usize) {
            Some(thunk) if thunk.key == key => Some(self.asked),
            _ => self.last.get(&key).copied(),
        }
    }

    /// Where a thunk is: if its pool is new, about.
    pub fn address(&self, number: u32) -> u64 {
        let thunk = &self.list[number as usize];
        self.pools[thunk.pool as usize].address.wrapping_add(thunk.offset)
    }

    /// In the order in which they lie in their pools.
    pub fn by_pool(&self) -> impl Iterator<Item = (u32, &Thunk<K>)> {
        let numbers = self.pools.iter().flat_map(|pool| &pool.thunks);
        numbers.map(|number| (*number, &self.list[*number as usize]))
    }
}

/// The number of the first form, from `number` on, that reaches `target`; else of the last one.
fn fitting(form: impl Fn(usize) -> Option<Form>, mut number: usize, at: u64, target: u64) -> usize {
    while form(number).is_some_and(|form| !form.reach.has(at, target)) && form(number + 1).is_some() {
        number += 1;
    }
    number
}
