//! The places of one section where bytes may go, and where the others are then.
//!
//! A machine lists them and chooses ([`super::shrink`]), layout counts, and whoever copies or relocates the
//! section asks here where a byte has moved.

/// A place in a section where bytes may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
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

/// How many bytes go at cut `i` alone.
#[inline]
pub fn gone_at(cuts: &[Cut], i: usize) -> u32 {
    cuts[i].gone - if i == 0 { 0 } else { cuts[i - 1].gone }
}

/// Where byte `at` of a section with these cuts is in the output, counted from its start. A byte that is gone
/// is where the next one that is not gone is.
#[inline]
pub fn output_offset(cuts: &[Cut], at: u64) -> u64 {
    let next = cuts.partition_point(|cut| u64::from(cut.end) <= at);
    offset_before(cuts, next, at)
}

/// The same if `next` is the first cut that ends after `at`.
#[inline(always)]
pub fn offset_before(cuts: &[Cut], next: usize, at: u64) -> u64 {
    let gone = if next == 0 { 0 } else { cuts[next - 1].gone };
    let at = match cuts.get(next) {
        Some(cut) => at.min(u64::from(cut.end - (cut.gone - gone))),
        None => at,
    };
    at - u64::from(gone)
}

/// Copies what stays of `input`.
pub fn copy(cuts: &[Cut], input: &[u8], out: &mut [u8]) {
    let (mut from, mut to) = (0, 0);
    let mut gone = 0;
    for cut in cuts {
        let end = cut.end as usize;
        let stays = end - (cut.gone - gone) as usize;
        out[to..to + (stays - from)].copy_from_slice(&input[from..stays]);
        (to, from, gone) = (to + (stays - from), end, cut.gone);
    }
    out[to..].copy_from_slice(&input[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(end: u32, gone: u32) -> Cut {
        Cut { end, gone, ..Cut::default() }
    }

    #[test]
    fn bytes_behind_what_is_gone_move_up() {
        // Of 16 bytes, 6 and 7 go, then 12 to 15 are looked at and stay.
        let cuts = [cut(8, 2), cut(16, 2)];
        let moved: Vec<u64> = (0..18).map(|at| output_offset(&cuts, at)).collect();
        assert_eq!(moved, [0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let input: Vec<u8> = (0..16).collect();
        let mut out = [0; 14];
        copy(&cuts, &input, &mut out);
        assert_eq!(out, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(output_offset(&[], 77), 77);
        assert_eq!((gone_at(&cuts, 0), gone_at(&cuts, 1)), (2, 0));
    }
}
