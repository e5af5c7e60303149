//! Libraries with one soname.

use std::collections::HashMap;

use crate::input::shared::Shared;

/// A library that was found by two paths is one library, and needed if either mention says so.
pub fn join(shared: &mut [Shared]) {
    let mut first: HashMap<&[u8], usize> = HashMap::new();
    for i in 0..shared.len() {
        let known = *first.entry(shared[i].soname).or_insert(i);
        shared[known].as_needed &= shared[i].as_needed;
        shared[i].as_needed |= known < i;
    }
}
