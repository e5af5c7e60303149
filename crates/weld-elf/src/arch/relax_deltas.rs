//! Relaxation deltas: the places of one section where bytes may go, how many are gone there, and where the
//! others are then.
//!
//! A machine lists them and chooses ([`super::shrink`]), layout counts, and whoever copies or relocates the
//! section asks here where a byte has moved.

/// A place in a section where bytes may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelaxDelta {
    /// Where the bytes end that go.
    pub end: u32,
    /// How many bytes are gone up to there, those of this place included.
    pub gone: u32,
    /// The relocation that says so, by its index in the section's.
    pub reloc: u32,
    /// What the place has become: a number of the machine's.
    pub form: u8,
    /// For the machine.
    pub extra: u8,
    /// For the machine, too: instructions that are shorter than others may be used here.
    pub short: bool,
}

/// How many bytes go at delta `i` alone.
#[inline]
pub fn gone_at(deltas: &[RelaxDelta], i: usize) -> u32 {
    deltas[i].gone - if i == 0 { 0 } else { deltas[i - 1].gone }
}

/// Where byte `at` of a section with these deltas is in the output, counted from its start. A byte that is
/// gone is where the next one that is not gone is.
#[inline]
pub fn output_offset(deltas: &[RelaxDelta], at: u64) -> u64 {
    let next = deltas.partition_point(|delta| u64::from(delta.end) <= at);
    offset_before(deltas, next, at)
}

/// The same if `next` is the first delta that ends after `at`.
#[inline(always)]
pub fn offset_before(deltas: &[RelaxDelta], next: usize, at: u64) -> u64 {
    let gone = if next == 0 { 0 } else { deltas[next - 1].gone };
    let at = match deltas.get(next) {
        Some(delta) => at.min(u64::from(delta.end - (delta.gone - gone))),
        None => at,
    };
    at - u64::from(gone)
}

/// Copies what stays of `input`.
pub fn copy(deltas: &[RelaxDelta], input: &[u8], out: &mut [u8]) {
    let (mut from, mut to) = (0, 0);
    let mut gone = 0;
    for delta in deltas {
        let end = delta.end as usize;
        let stays = end - (delta.gone - gone) as usize;
        out[to..to + (stays - from)].copy_from_slice(&input[from..stays]);
        (to, from, gone) = (to + (stays - from), end, delta.gone);
    }
    out[to..].copy_from_slice(&input[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(end: u32, gone: u32) -> RelaxDelta {
        RelaxDelta { end, gone, ..RelaxDelta::default() }
    }

    #[test]
    fn bytes_behind_what_is_gone_move_up() {
        // Of 16 bytes, 6 and 7 go, then 12 to 15 are looked at and stay.
        let deltas = [delta(8, 2), delta(16, 2)];
        let moved: Vec<u64> = (0..18).map(|at| output_offset(&deltas, at)).collect();
        assert_eq!(moved, [0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let input: Vec<u8> = (0..16).collect();
        let mut out = [0; 14];
        copy(&deltas, &input, &mut out);
        assert_eq!(out, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(output_offset(&[], 77), 77);
        assert_eq!((gone_at(&deltas, 0), gone_at(&deltas, 1)), (2, 0));
    }
}
