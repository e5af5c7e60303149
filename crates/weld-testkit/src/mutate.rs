//! Damaged copies of a file, the same ones on each run: every truncation, or single bytes and
//! words replaced at positions chosen by a seed. A linker must answer each with a diagnostic or
//! a link, never with a panic, a hang or a huge allocation.

/// A small generator (xorshift64*), so that a seed names a damaged file for ever.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; `bound` is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }
}

/// Values that parsers trip over: signs, limits and off-by-ones of each width.
const NASTY: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0xffff,
    0xff00,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff0,
    u64::MAX,
];

/// The file `seed` makes of `original`: one to three edits, each a flipped bit, a nasty number of
/// 1, 2, 4 or 8 bytes, a truncation, or a copied stretch.
pub fn damage(original: &[u8], seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut out = original.to_vec();
    for _ in 0..1 + rng.below(3) {
        if out.is_empty() {
            break;
        }
        let at = rng.below(out.len());
        match rng.below(16) {
            0 => out.truncate(at),
            1 => {
                let from = rng.below(out.len());
                let len = rng.below(32).min(out.len() - at.max(from));
                out.copy_within(from..from + len, at);
            }
            2..=5 => out[at] ^= 1 << rng.below(8),
            _ => {
                let width = 1usize << rng.below(4);
                // Most fields are aligned to their size.
                let at = at & !(width - 1);
                let value = NASTY[rng.below(NASTY.len())].to_le_bytes();
                let len = width.min(out.len() - at);
                out[at..at + len].copy_from_slice(&value[..len]);
            }
        }
    }
    out
}

/// Every prefix of `original` whose length is a multiple of `step` bytes.
pub fn truncations(original: &[u8], step: usize) -> impl Iterator<Item = &[u8]> {
    (0..original.len()).step_by(step.max(1)).map(|len| &original[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_damage() {
        let file: Vec<u8> = (0..=255).collect();
        assert_eq!(damage(&file, 7), damage(&file, 7));
        assert!((0..50).filter(|&s| damage(&file, s) != file).count() > 40);
    }
}
