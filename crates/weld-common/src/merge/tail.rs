//! Suffix sharing (`-O2`): a string that ends another one lies in its tail.
//!
//! Unique strings are sorted by their bytes read backwards, descending: a string then comes after
//! all strings that it is a suffix of, and if there is any, the one right before it is one. Strings
//! that no other contains keep the order of their first occurrence, so that copying them reads the
//! inputs forward. A suffix must keep the section's alignment, and wide strings their unit; one that
//! does not with the string right before it is laid out by itself.

use super::shard::{Entry, Shard};
use super::{Layout, TooLarge};
use crate::sort;
use std::cmp::Ordering;

/// The layout of all unique strings with shared suffixes.
pub(super) struct Tailed {
    /// The strings that are written, ascending by position; positions count from the section's
    /// start.
    pub entries: Box<[Entry]>,
    /// Position of each string: shard `s`'s number `n` at `first[s] + n`.
    pub positions: Vec<u32>,
    pub first: Vec<u32>,
    /// Bytes.
    pub size: u32,
}

/// A string in sorting order.
#[derive(Clone, Copy)]
struct Key {
    /// The last eight bytes, last first, zeros after a shorter string.
    ending: u64,
    /// Index among all entries.
    index: u32,
}

pub(super) fn share_tails(
    layout: &Layout,
    inputs: &[&[u8]],
    shards: Vec<Shard>,
    threads: usize,
) -> Result<Tailed, TooLarge> {
    let mut first = Vec::with_capacity(shards.len());
    let mut entries: Vec<Entry> = Vec::new();
    for shard in shards {
        first.push(u32::try_from(entries.len()).map_err(|_| TooLarge)?);
        entries.extend_from_slice(&shard.entries);
    }
    u32::try_from(entries.len()).map_err(|_| TooLarge)?;
    let content = |index: u32| {
        let bytes = entries[index as usize].bytes(inputs);
        &bytes[..bytes.len() - layout.entsize]
    };
    let keys = sorted_keys(entries.len() as u32, threads, content);

    // Which string each lies in, and how many bytes after its start.
    let mut host: Vec<(u32, u32)> = (0..entries.len() as u32).map(|index| (index, 0)).collect();
    let keeps_phase = |n: usize| n.is_multiple_of(layout.align) && n.is_multiple_of(layout.entsize);
    for pair in keys.windows(2) {
        let (long, short) = (content(pair[0].index), content(pair[1].index));
        if long.ends_with(short) && keeps_phase(long.len() - short.len()) {
            let (of_long, distance) = host[pair[0].index as usize];
            host[pair[1].index as usize] = (of_long, distance + (long.len() - short.len()) as u32);
        }
    }
    lay_out(layout, entries, host, first)
}

fn sorted_keys<'a>(count: u32, threads: usize, content: impl Fn(u32) -> &'a [u8] + Sync) -> Vec<Key> {
    let ending = |bytes: &[u8]| {
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(bytes.iter().rev()) {
            *to = *from;
        }
        u64::from_be_bytes(last)
    };
    let keys: Vec<Key> = (0..count).map(|index| Key { ending: ending(content(index)), index }).collect();
    let descending = |a: &Key, b: &Key| match b.ending.cmp(&a.ending) {
        Ordering::Equal => content(b.index).iter().rev().cmp(content(a.index).iter().rev()),
        other => other,
    };
    // No two strings are equal, so an unstable sort has one outcome.
    sort::by(keys, threads > 1, descending)
}

fn lay_out(
    layout: &Layout,
    mut entries: Vec<Entry>,
    host: Vec<(u32, u32)>,
    first: Vec<u32>,
) -> Result<Tailed, TooLarge> {
    let mut end = 0u32;
    for (index, entry) in entries.iter_mut().enumerate() {
        if host[index].0 as usize == index {
            let position = (end as usize).next_multiple_of(layout.align);
            end = u32::try_from(position + entry.len as usize).map_err(|_| TooLarge)?;
            entry.position = position as u32;
        }
    }
    let positions = host.iter().map(|&(host, distance)| entries[host as usize].position + distance).collect();
    let mut index = 0..;
    entries.retain(|_| index.next().is_some_and(|i: u32| host[i as usize].0 == i));
    Ok(Tailed { entries: entries.into(), positions, first, size: end })
}
