//! A hint to the processor that bytes will be read soon.
//!
//! Hash tables and strings are visited in an order no hardware predicts; a loop that names its
//! places a few items ahead has the misses in flight together instead of one after the other.

/// Starts to fetch the cache line in which element `index` begins; nothing happens if there is none.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if let Some(element) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see and never faults; it needs SSE,
        // which the build has.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = (slice, index);
}

/// Starts to fetch the cache lines of `bytes`: three at its beginning, and the last.
#[inline(always)]
pub fn prefetch_all(bytes: &[u8]) {
    const LINE: usize = 64;
    for line in (0..bytes.len().min(3 * LINE)).step_by(LINE) {
        prefetch(bytes, line);
    }
    if let Some(last) = bytes.len().checked_sub(1) {
        prefetch(bytes, last);
    }
}
