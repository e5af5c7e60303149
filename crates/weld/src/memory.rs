//! The program's memory: its allocator, and whether the kernel may back it with huge pages.
//!
//! A small link touches its memory here and there, and clearing 2 MiB at a time would cost hello world a third
//! of its run and three times its memory. A large one fills its tables and goes through them in no
//! order: with huge pages it has a fifth of the page faults and misses the TLB less. So they are off from the
//! start, and allowed when a link turns out to be large. Figures are in docs/performance.md, "Process".
//!
//! The allocator asks for huge pages in what it takes from the system (`madvise`), so that they come also
//! where the system gives them to those who ask only.

use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs before the allocator takes its first page.
#[used]
#[unsafe(link_section = ".init_array")]
static WITHOUT_HUGE_PAGES: extern "C" fn() = without_huge_pages;

/// Whoever started this process has turned huge pages off, which is theirs to decide.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

extern "C" fn without_huge_pages() {
    // SAFETY: a question to the kernel about this process.
    let disabled = unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) };
    FORBIDDEN.store(disabled == 1, Ordering::Relaxed);
    disable_huge_pages(true);
}

/// For all memory that is touched from now on, unless this process was started without huge pages.
pub fn allow_huge_pages() {
    if !FORBIDDEN.load(Ordering::Relaxed) {
        disable_huge_pages(false);
    }
}

fn disable_huge_pages(disable: bool) {
    // SAFETY: a request to the kernel about this process; if it refuses, nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(disable), 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn huge_pages_are_off_until_they_are_allowed() {
        // SAFETY: a question to the kernel about this process.
        let disabled = || unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) };
        assert_eq!(disabled(), 1);
        super::allow_huge_pages();
        assert_eq!(disabled(), 0);
        super::without_huge_pages();
        assert_eq!(disabled(), 1);
        // As in a process that inherits this from its parent.
        super::without_huge_pages();
        super::allow_huge_pages();
        assert_eq!(disabled(), 1);
    }
}
