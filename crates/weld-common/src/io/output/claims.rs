//! Which bytes of a mapped image are being written right now.
//!
//! Threads get `&mut` slices of one mapping. That is sound only if no two of them overlap, so each
//! slice is claimed first. There are as many claims at a time as threads, and a claim is held for the
//! time it takes to fill a few hundred KiB: a short list after a lock costs nothing.

use std::ops::Range;
use std::sync::Mutex;

#[derive(Default)]
pub struct Claims(Mutex<Vec<Range<u64>>>);

/// Bytes that nobody else can claim while this lives.
pub struct Claim<'a> {
    claims: &'a Claims,
    range: Range<u64>,
}

impl Claims {
    /// `None` if part of `range` is claimed already.
    pub fn claim(&self, range: Range<u64>) -> Option<Claim<'_>> {
        let mut active = self.0.lock().unwrap();
        if active.iter().any(|other| range.start.max(other.start) < range.end.min(other.end)) {
            return None;
        }
        active.push(range.clone());
        Some(Claim { claims: self, range })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut active = self.claims.0.lock().unwrap();
        if let Some(at) = active.iter().position(|range| *range == self.range) {
            active.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_refused_until_released() {
        let claims = Claims::default();
        let first = claims.claim(10..20).unwrap();
        let _below = claims.claim(0..10).unwrap();
        let _above = claims.claim(20..30).unwrap();
        assert!(claims.claim(15..15).is_some());
        for range in [9..11, 19..21, 12..13, 0..40, 10..20] {
            assert!(claims.claim(range).is_none());
        }
        drop(first);
        assert!(claims.claim(12..18).is_some());
    }
}
