//! Generic code, symbols with C's names, thread-local variables and panics.

use std::cell::Cell;

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

pub static PRICE: u32 = 4;

pub fn total(items: &[u32]) -> u32 {
    CALLS.set(CALLS.get() + 1);
    items.iter().map(|&item| PRICE / item).sum()
}

#[unsafe(no_mangle)]
pub extern "C" fn receipt(count: u32) -> *mut u8 {
    format!("{count} of {}", CALLS.get()).leak().as_mut_ptr()
}
