//! Small helpers that have no better home.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Values that start as zero. The memory comes straight from the kernel's zero pages, so parts
/// that are never written cost nothing, and others are cleared by the thread that first writes there.
pub fn zeroed_atomics<T: ZeroAtomic>(count: usize) -> Vec<T> {
    T::zeroed(count)
}

pub trait ZeroAtomic: Sized {
    fn zeroed(count: usize) -> Vec<Self>;
}

macro_rules! zero_atomic {
    ($atomic:ty, $plain:ty) => {
        impl ZeroAtomic for $atomic {
            fn zeroed(count: usize) -> Vec<Self> {
                let mut plain = std::mem::ManuallyDrop::new(vec![0 as $plain; count]);
                // SAFETY: the atomic has the size, alignment and bit validity of the plain integer,
                // and `plain` is not used again.
                unsafe { Vec::from_raw_parts(plain.as_mut_ptr().cast(), plain.len(), plain.capacity()) }
            }
        }
    };
}
zero_atomic!(AtomicU32, u32);
zero_atomic!(AtomicU64, u64);

/// `value` rounded up to a multiple of `align`, a power of two.
#[inline(always)]
pub fn align_up(value: u64, align: u64) -> u64 {
    value.wrapping_add(align - 1) & !(align - 1)
}

/// Whether `name` could be a C identifier, so that `__start_name` and `__stop_name` exist.
pub fn is_c_identifier(name: &[u8]) -> bool {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    !name.is_empty() && !name[0].is_ascii_digit() && name.iter().all(word)
}
