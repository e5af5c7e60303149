//! Small helpers that have no better home.

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
