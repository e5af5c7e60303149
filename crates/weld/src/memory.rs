//! The program's memory: its allocator, and no transparent huge pages.
//!
//! A link touches its memory here and there, and clearing 2 MiB at a time costs hello world a third of its run
//! and three times its memory. Large links gain or lose a tenth by them, as memory happens to be, and take a tenth
//! more of it with two threads and twice as much with many: figures are in docs/performance.md, "Process".

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs before the allocator takes its first page.
#[used]
#[unsafe(link_section = ".init_array")]
static WITHOUT_HUGE_PAGES: extern "C" fn() = without_huge_pages;

extern "C" fn without_huge_pages() {
    // SAFETY: a request to the kernel about this process; if it refuses, nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn huge_pages_are_off() {
        // SAFETY: a question to the kernel about this process.
        assert_eq!(unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) }, 1);
    }
}
