//! The room of neighbours: what has outgrown its own gets what those beside it have left, and what lies between moves.
//!
//! Nobody but its own object refers to a section of debug information in which no global symbol is, or to what an object has in
//! tables of the whole image: symbols, their names, and frames. So the objects of which something moves have all of that
//! written again, and nothing else changes. Hashes for the build id are made of parts of the file that end with some section
//! ([`crate::emit`]); they still do where this moves. What is in tables moves within such a part.

mod debug_sections;
mod table_runs;

pub use debug_sections::{Found, find as sections};
pub use table_runs::Runs;

use weld_common::io::units::{Leaf, Leaves};

use crate::relink::full_link_reason::Why;
use crate::relink_state::extents::Extent;
use crate::relink_state::rows::OutputRow;

/// So many inputs are looked at for the next one that has such a part.
const NEAR: u32 = 64;

/// The inputs behind one, or in front of it, of `count`.
fn near((from, is_behind): (u32, bool), count: u32) -> impl Iterator<Item = u32> {
    let at = move |step| if is_behind { from.checked_add(step) } else { from.checked_sub(step) };
    (1..NEAR).map_while(at).take_while(move |row| *row < count)
}

/// Of an output section, what an input has there.
#[derive(Clone, Copy)]
struct Part {
    input: u32,
    /// Of a section, its own.
    row: u32,
    output: u32,
    extent: Extent,
    /// Bytes without the room.
    bytes: u64,
    /// It moves by a multiple of this, and keeps so much room.
    step: u64,
}

impl Part {
    fn end(&self) -> u64 {
        self.extent.address.saturating_add(self.extent.size)
    }

    /// Bytes that it can do without, or all but a quarter of them.
    fn spare(&self, is_all: bool) -> u64 {
        let free = self.extent.size.saturating_sub(self.bytes).saturating_sub(self.step);
        let free = if is_all { free } else { free / 4 * 3 };
        free / self.step * self.step
    }

    /// The next part behind those of a window, or in front of them, which begins or ends where they do.
    fn is_beside(&self, window: &[Part], is_behind: bool) -> bool {
        match is_behind {
            true => window.last().is_some_and(|last| self.extent.address == last.end()),
            false => window.first().is_some_and(|first| self.end() == first.extent.address),
        }
    }
}

/// Has a part have the room that it needs: the parts that have another place or size then, or lie between such. `next` finds
/// the part behind those of a window (if so it says), or in front of them, in an input that is behind another one, or in
/// front of it; `None` if it may not move. `None` if there is not enough.
///
/// # Errors
/// Those of `next`.
fn make_room(
    part: Part,
    mut next: impl FnMut((u32, bool), &[Part]) -> Result<Option<Part>, Why>,
) -> Result<Option<Vec<Part>>, Why> {
    // What compressed sections say of their sizes may be anything.
    let needed = part.bytes.saturating_sub(part.extent.size).checked_add(part.step);
    let Some(needed) = needed.and_then(|needed| needed.checked_next_multiple_of(part.step)) else {
        return Ok(None);
    };
    let (mut window, mut at) = (vec![part], 0);
    let mut sides = [Some(part.input), Some(part.input)];
    let mut is_enough = false;
    while !is_enough && sides.iter().any(Option::is_some) {
        for (side, is_behind) in sides.iter_mut().zip([true, false]) {
            let Some(from) = *side else { continue };
            let found = next((from, is_behind), &window)?;
            *side = found.map(|part| part.input);
            match found {
                Some(found) if is_behind => window.push(found),
                Some(found) => {
                    window.insert(0, found);
                    at += 1;
                }
                None => {}
            }
        }
        is_enough = spare_in(&window, at, false) >= needed;
    }
    if !is_enough && spare_in(&window, at, true) < needed {
        return Ok(None);
    }
    // Those beside it first.
    let mut order: Vec<usize> = (0..window.len()).filter(|other| *other != at).collect();
    order.sort_by_key(|other| other.abs_diff(at));
    let mut wanted = needed;
    for number in order {
        let taken = window[number].spare(!is_enough).min(wanted);
        window[number].extent.size -= taken;
        wanted -= taken;
    }
    window[at].extent.size = window[at].extent.size.saturating_add(needed - wanted);
    let mut start = window[0].extent.address;
    for part in &mut window {
        part.extent.address = start;
        start = start.saturating_add(part.extent.size);
    }
    Ok((wanted == 0).then_some(window))
}

/// Bytes that the parts of a window can do without, but for one of them.
fn spare_in(window: &[Part], but: usize, is_all: bool) -> u64 {
    let others = window.iter().enumerate().filter(|(number, _)| *number != but);
    others.fold(0, |sum, (_, part)| sum.saturating_add(part.spare(is_all)))
}

/// The part of the file that hashes are made of and that has all of `extent`, as far as it is one of the output section: its
/// start and end in addresses of that.
fn unit_around(leaves: &Leaves, out: &OutputRow, extent: &Extent) -> Option<Extent> {
    let in_file = |address: u64| out.offset.checked_add(address.checked_sub(out.address)?);
    let start = in_file(extent.address)?;
    let end = start.checked_add(extent.size)?;
    let is_around = |leaf: &&Leaf| leaf.offset <= start && end <= leaf.offset.saturating_add(leaf.size);
    let leaf = leaves.iter().flatten().find(is_around)?;
    let first = leaf.offset.max(out.offset);
    let last = leaf.offset.saturating_add(leaf.size).min(out.offset.saturating_add(out.size));
    let address = out.address.checked_add(first - out.offset)?;
    Some(Extent { address, size: last.checked_sub(first)? })
}

#[cfg(test)]
mod tests {
    use weld_common::digest::UnitDigest;

    use super::*;

    /// Parts one after the other from address 16 on: their sizes, and bytes without the room.
    fn parts(sizes: &[(u64, u64)]) -> Vec<Part> {
        let mut address = 16;
        let part = |(input, &(size, bytes)): (u32, &(u64, u64))| {
            let extent = Extent { address, size };
            address += size;
            Part { input, row: 0, output: 0, extent, bytes, step: 4 }
        };
        (0..).zip(sizes).map(part).collect()
    }

    fn with_room(sizes: &[(u64, u64)], at: usize) -> Option<Vec<(u64, u64)>> {
        let all = parts(sizes);
        let found = make_room(all[at], |(from, is_behind), window| {
            let next = if is_behind { Some(from + 1) } else { from.checked_sub(1) };
            let next = next.and_then(|next| all.get(next as usize)).copied();
            assert!(next.is_none_or(|part| part.is_beside(window, is_behind)));
            Ok(next)
        });
        let found = found.ok().flatten()?;
        Some(found.iter().map(|part| (part.extent.address, part.extent.size)).collect())
    }

    #[test]
    fn those_beside_it_are_taken_from_first() {
        // 20 are missing, and 4 are to be left.
        let sizes = [(100, 40), (100, 40), (20, 40), (40, 40), (100, 40)];
        assert_eq!(with_room(&sizes, 2), Some(vec![(116, 76), (192, 44), (236, 40)]));
        // All but what they keep.
        assert_eq!(with_room(&[(64, 40), (20, 40), (44, 36)], 1), Some(vec![(16, 44), (60, 44), (104, 40)]));
        assert_eq!(with_room(&[(60, 40), (20, 40), (44, 36)], 1), None);
        // What is said of a size may be anything.
        assert_eq!(with_room(&[(60, 40), (20, u64::MAX)], 1), None);
    }

    #[test]
    fn a_unit_is_as_much_of_a_leaf_as_is_in_the_section() {
        let out = OutputRow {
            key: 0,
            name: crate::relink_state::rows::Text { start: 0, size: 0 },
            kind: 0,
            flags: 0,
            address: 1000,
            offset: 100,
            size: 500,
            align: 1,
        };
        let leaf = |offset, size| Leaf { offset, size, digest: UnitDigest::of(&[]) };
        let leaves: Leaves = vec![vec![leaf(50, 100), leaf(150, 1000)]];
        let unit = |address, size| unit_around(&leaves, &out, &Extent { address, size });
        assert_eq!(unit(1010, 20), Some(Extent { address: 1000, size: 50 }));
        assert_eq!(unit(1060, 20), Some(Extent { address: 1050, size: 450 }));
        assert_eq!(unit(1040, 20), None);
    }
}
