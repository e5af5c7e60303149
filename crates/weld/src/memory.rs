//! The program's memory: its allocator, an error when there is none left, and no transparent huge pages.
//!
//! A link touches its memory here and there, and clearing 2 MiB at a time costs hello world a third of its
//! run and three times its memory. Large links gain or lose a tenth by them, as memory happens to be, and
//! take a tenth more of it with two threads and twice as much with many: figures are in
//! bench/notes/process.md.

//!
//! Rust aborts when memory is refused. A limit (`ulimit -v`, a container's) is nothing to abort for, so a
//! small request that is refused ends the process with an error, here, where nothing needs to be allocated
//! for it. Who asks for much may be able to do without, and is told.

use std::alloc::{GlobalAlloc, Layout};

use mimalloc::MiMalloc;

use crate::signals;

#[global_allocator]
static ALLOCATOR: Memory = Memory;

struct Memory;

/// Requests of this many bytes may be refused without ending the process.
const LARGE: usize = 16 << 20;

// SAFETY: all is left to mimalloc; what it refuses is passed on or ends the process.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        checked(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        checked(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        checked(unsafe { MiMalloc.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { MiMalloc.dealloc(old, layout) }
    }
}

#[inline(always)]
fn checked(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        refused(size);
    }
    memory
}

#[cold]
fn refused(size: usize) {
    signals::note_refused_memory();
    if size < LARGE {
        signals::die_of_memory();
    }
}

/// Runs before the allocator takes its first page.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static WITHOUT_HUGE_PAGES: extern "C" fn() = without_huge_pages;

#[cfg(target_os = "linux")]
extern "C" fn without_huge_pages() {
    // SAFETY: a request to the kernel about this process; if it refuses, nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn huge_pages_are_off() {
        // SAFETY: a question to the kernel about this process.
        assert_eq!(unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) }, 1);
    }
}
