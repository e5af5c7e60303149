//! Pools at intervals: between the members of an output section, a little less apart than branches reach, so
//! that a branch has one before it or after it.
//!
//! They are planned for the whole output section when its first thunk is asked for. A branch takes the pool
//! that lies furthest after it, so that as many as possible of those that follow reach the thunk as well; but
//! one from which the target is as near as branches reach is preferred, since a short thunk will do there.
//! Where pools grow so far that a branch reaches none, another is opened beside its section.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{Branch, Pool, Reach};

/// How much nearer to one another than branches reach pools are, in bytes: room for thunks.
const ROOM: u64 = 0x3_0000;

/// What an output section is made of, in the order of addresses.
pub trait Members {
    type Section: Copy;

    /// How far most branches reach. Those that reach less may get pools beside their sections.
    fn reach(&self) -> u64;

    fn count(&self) -> usize;

    /// The addresses from which to which a member is.
    fn extent(&self, member: usize) -> (u64, u64);

    /// Whether a pool may lie after the member before this one. It may be the one after the last.
    fn may_open(&self, before: usize) -> bool;

    /// The member that is a section.
    fn find(&self, section: Self::Section) -> usize;

    /// The first member for which `holds`, which then holds for all after it.
    fn first(&self, holds: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// The address of a pool before a member that is not the first.
    fn address_before(&self, member: usize) -> u64 {
        self.extent(member - 1).1
    }
}

/// The pools of output sections `S`. The place of each is the number of the member that it was put before.
pub struct Intervals<S> {
    /// Those of each output section, by address.
    rows: BTreeMap<S, Vec<u32>>,
}

impl<S> Default for Intervals<S> {
    fn default() -> Self {
        Intervals { rows: BTreeMap::new() }
    }
}

impl<S: Copy + Ord> Intervals<S> {
    /// The output sections that have pools.
    pub fn sections(&self) -> impl Iterator<Item = S> {
        self.rows.keys().copied()
    }

    /// Takes in where pools are by now.
    pub fn begin<P>(&mut self, pools: &[Pool<P>]) {
        let address = |number: &u32| (pools[*number as usize].address, *number);
        self.rows.values_mut().for_each(|row| row.sort_unstable_by_key(address));
    }

    /// A pool for a thunk of a branch in a section of `out`, whose members are `members`; `None` if none can
    /// be in reach.
    pub fn pool<K, M: Members>(
        &mut self,
        pools: &mut Vec<Pool<(S, usize)>>,
        out: S,
        members: &M,
        branch: &Branch<K>,
        section: M::Section,
    ) -> Option<u32> {
        if let Entry::Vacant(row) = self.rows.entry(out) {
            row.insert(Vec::new());
            let spacing = members.reach() - ROOM.min(members.reach() / 64);
            spaced(members, spacing).into_iter().for_each(|place| _ = self.open(pools, out, members, place));
        }
        self.choose(pools, out, branch).or_else(|| {
            let place = around(members, section)
                .find(|place| branch.reach.has(branch.here, members.address_before(*place)))?;
            Some(self.open(pools, out, members, place))
        })
    }

    /// The pool for a branch, of those that there are.
    fn choose<K>(&self, pools: &[Pool<(S, usize)>], out: S, branch: &Branch<K>) -> Option<u32> {
        let Reach { back, ahead } = branch.reach;
        let safe = branch.reach.less(ROOM.min(back.min(ahead) / 256));
        let (row, address) = (self.rows.get(&out)?, |number: &u32| pools[*number as usize].address);
        let first = row.partition_point(|pool| address(pool) < branch.here.saturating_sub(back));
        let mut chosen = None;
        for pool in row[first..].iter().take_while(|pool| address(pool) <= branch.here.saturating_add(ahead))
        {
            let at = pools[*pool as usize].next();
            let is_near = safe.has(at, branch.target);
            if safe.has(branch.here, at) && chosen.is_none_or(|(better, _)| is_near >= better) {
                chosen = Some((is_near, *pool));
            }
        }
        chosen.map(|(_, pool)| pool)
    }

    fn open<M: Members>(
        &mut self,
        pools: &mut Vec<Pool<(S, usize)>>,
        out: S,
        members: &M,
        place: usize,
    ) -> u32 {
        let (number, address) = (pools.len() as u32, members.address_before(place));
        pools.push(Pool::new((out, place), address));
        let row = self.rows.entry(out).or_default();
        row.insert(row.partition_point(|pool| pools[*pool as usize].address <= address), number);
        number
    }
}

/// Before which members pools are to lie so that they are at most about `spacing` bytes apart, the last one
/// at the end; ascending.
fn spaced(members: &impl Members, spacing: u64) -> Vec<usize> {
    let mut places = Vec::new();
    let Some(last) = (1..=members.count()).rev().find(|&i| members.may_open(i)) else { return places };
    let mut from = members.extent(0).0;
    while members.address_before(last).saturating_sub(from) > spacing {
        let limit = from.saturating_add(spacing);
        let after = places.last().copied().unwrap_or(0) + 1;
        let ideal = members.first(|i| members.extent(i).1 > limit);
        // Before the first member that goes too far, else after it.
        let before = (after..=ideal).rev().find(|&i| members.may_open(i));
        let place = before.or_else(|| (ideal.max(after)..last).find(|&i| members.may_open(i)));
        let Some(place) = place.filter(|place| *place < last) else { break };
        places.push(place);
        from = members.address_before(place);
    }
    places.push(last);
    places
}

/// The nearest places for a pool after and before a section.
fn around<M: Members>(members: &M, section: M::Section) -> impl Iterator<Item = usize> {
    let at = members.find(section);
    let after = (at + 1..=members.count()).find(|&i| members.may_open(i));
    let before = (1..=at).rev().find(|&i| members.may_open(i));
    after.into_iter().chain(before)
}
