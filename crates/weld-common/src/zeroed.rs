//! Tables that start as zero, in memory fresh from the kernel.
//!
//! Such memory has no pages until it is used. The first *write* to a page gets one. A *read* before any
//! write gets the page of zeroes that all processes share, and the write that comes later has to put
//! a page of its own in its place: a second fault, and a message to each processor that runs another thread
//! of the process, which waits for all answers. On a virtual machine with two processors that took 5 to 12 %
//! of a link's time. So tables that are read before they are written (hash tables) and will be filled are
//! [`present`] from the start; sparse ones stay [`sparse`].

use std::alloc::{Layout, alloc_zeroed};

use crate::par;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// No page of a system that weld runs on is smaller.
const PAGE: usize = 4096;

/// What a task of [`present`] touches: a multiple of the page.
const GRAIN: usize = 1 << 20;

/// Types whose value zero is all zero bytes.
pub trait Zero: Sized + Send {
    fn zeroed(count: usize) -> Vec<Self>;
    fn set_zero(&mut self);
}

macro_rules! zero {
    ($atomic:ty, $plain:ty) => {
        impl Zero for $plain {
            fn zeroed(count: usize) -> Vec<Self> {
                vec![0; count]
            }
            fn set_zero(&mut self) {
                // SAFETY: a reference is valid and aligned. Volatile, for the compiler may know that
                // the memory is zero already and leave an ordinary write out.
                unsafe { std::ptr::from_mut(self).write_volatile(0) }
            }
        }

        impl Zero for $atomic {
            fn zeroed(count: usize) -> Vec<Self> {
                let mut plain = std::mem::ManuallyDrop::new(vec![0 as $plain; count]);
                // SAFETY: the atomic has the size, alignment and bit validity of the plain integer,
                // and `plain` is not used again.
                unsafe { Vec::from_raw_parts(plain.as_mut_ptr().cast(), plain.len(), plain.capacity()) }
            }
            fn set_zero(&mut self) {
                self.get_mut().set_zero();
            }
        }
    };
}
zero!(AtomicU32, u32);
zero!(AtomicU64, u64);

/// `count` zeroes, of which many may never be used: parts that are never written cost nothing, and others
/// are cleared by the thread that first writes there.
pub fn sparse<T: Zero>(count: usize) -> Vec<T> {
    T::zeroed(count)
}

/// `count` bytes that are zero, to be filled; `None` if there is no memory for so many. For sizes that a file
/// claims: what is never written costs nothing.
pub fn bytes(count: usize) -> Option<Vec<u8>> {
    let layout = Layout::array::<u8>(count).ok().filter(|layout| layout.size() > 0);
    let Some(layout) = layout else { return (count == 0).then(Vec::new) };
    // SAFETY: the layout's size is not 0.
    let start = unsafe { alloc_zeroed(layout) };
    // SAFETY: the global allocator has given these `count` bytes, which are all initialised, and nobody else
    // has them.
    (!start.is_null()).then(|| unsafe { Vec::from_raw_parts(start, count, count) })
}

/// `count` zeroes, of which most will be used: each page has been written, by several threads if `parallel`.
pub fn present<T: Zero>(count: usize, parallel: bool) -> Vec<T> {
    let mut all = T::zeroed(count);
    let touch = |part: &mut [T]| part.iter_mut().step_by(PAGE / size_of::<T>()).for_each(T::set_zero);
    if parallel && count > GRAIN / size_of::<T>() {
        par::each_piece(true, &mut all, GRAIN / size_of::<T>(), |_, part| touch(part));
    } else {
        touch(&mut all);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn present_is_zero_at_any_size() {
        for count in [0, 1, PAGE / 8 + 1, 3 * GRAIN / 8 + 5] {
            for parallel in [false, true] {
                let words: Vec<u64> = present(count, parallel);
                assert_eq!(words.len(), count);
                assert!(words.iter().all(|&word| word == 0));
            }
        }
    }

    #[test]
    fn bytes_are_there_or_not() {
        assert_eq!(bytes(0), Some(Vec::new()));
        assert_eq!(bytes(PAGE + 1), Some(vec![0; PAGE + 1]));
        assert_eq!(bytes(isize::MAX as usize), None);
        assert_eq!(bytes(usize::MAX), None);
    }

    /// A fault for each page that is asked for, and none when it is written later.
    #[cfg(target_os = "linux")]
    #[test]
    fn pages_of_present_are_not_faulted_again() {
        // Larger than what the allocator of a test could have at hand.
        let count = (64 << 20) / size_of::<u64>();
        let mut words: Vec<u64> = present(count, false);
        let before = faults();
        let mut sum = 0;
        for i in (0..count).step_by(PAGE / size_of::<u64>()) {
            sum += words[i];
            words[i] = i as u64 + sum;
        }
        std::hint::black_box(&words);
        let pages = (count * size_of::<u64>() / PAGE) as u64;
        assert!(faults() - before < pages / 100, "{} faults, {pages} pages", faults() - before);
    }

    /// Minor faults of this thread.
    #[cfg(target_os = "linux")]
    fn faults() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        // After the name, which may hold spaces: state and six more, then minor faults.
        stat.rsplit(')').next().unwrap().split_whitespace().nth(7).unwrap().parse().unwrap()
    }
}
