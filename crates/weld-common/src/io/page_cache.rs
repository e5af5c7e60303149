//! What the system knows of the pages of files, and asking it to read some ahead of their use.
//!
//! - Linux: `cachestat` (6.5) counts the resident pages of a range. Where it is missing, or refuses because
//!   the file belongs to somebody else, a read that must not wait (`preadv2` with `RWF_NOWAIT`, 4.14) of the
//!   first and the last byte tells. `mincore` would need a mapping, and since 5.2 it calls every page of
//!   somebody else's file resident. Pages are asked for with `posix_fadvise` and `madvise`, which start
//!   reading and return.
//! - Windows: nothing tells what is resident; `PrefetchVirtualMemory` reads mapped pages ahead.
//! - Elsewhere: nothing is known and nothing asked.

use std::fs::File;
use std::time::{Duration, Instant};

/// Pages of a file that were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// How many of them are in memory.
    pub resident: u64,
    pub pages: u64,
}

pub trait PageCache: Send + Sync {
    /// What is in memory of the first `len` bytes of a file. `None` if the system does not tell.
    fn residency(&self, file: &File, len: u64) -> Option<Residency>;

    /// Asks for a range of a file, in bytes, and does not wait for it.
    fn ask_file(&self, file: &File, offset: u64, len: u64);

    /// Asks for bytes of a mapped file and does not wait for them.
    fn ask_mapped(&self, bytes: &[u8]);

    /// Waits for the last of some bytes of a mapped file that were asked for. How long that took.
    fn wait(&self, bytes: &[u8]) -> Duration {
        let start = Instant::now();
        std::hint::black_box(bytes.last().copied());
        start.elapsed()
    }

    /// How many bytes can be in memory without displacing what is used, and within the limits of the
    /// process's cgroup.
    fn room(&self) -> u64;
}

/// The page cache of the system that this runs on.
pub struct System;

/// Linux reads no more for one request than the device's window for reading ahead, 128 KiB by default.
#[cfg(target_os = "linux")]
const WINDOW: usize = 128 << 10;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::{PageCache, Residency, System, WINDOW};
    use crate::memory_limits;

    const PAGE: u64 = 4096;

    /// The number of the system call on every architecture but alpha.
    const SYS_CACHESTAT: libc::c_long = 451;

    #[repr(C)]
    struct CachestatRange {
        offset: u64,
        len: u64,
    }

    #[repr(C)]
    #[derive(Default)]
    struct Cachestat {
        cached: u64,
        dirty: u64,
        writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }

    impl PageCache for System {
        fn residency(&self, file: &File, len: u64) -> Option<Residency> {
            let range = CachestatRange { offset: 0, len };
            let mut answer = Cachestat::default();
            // SAFETY: both structures are those of the system call and live through it.
            let result = unsafe {
                libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0u32)
            };
            if result == 0 {
                return Some(Residency { resident: answer.cached, pages: len.div_ceil(PAGE) });
            }
            let (first, last) = (is_there(file, 0)?, is_there(file, len.saturating_sub(1))?);
            Some(Residency { resident: u64::from(first) + u64::from(last), pages: 2 })
        }

        fn ask_file(&self, file: &File, offset: u64, len: u64) {
            for start in (offset..offset + len).step_by(WINDOW) {
                let len = (offset + len - start).min(WINDOW as u64);
                // SAFETY: a hint about an open file. If the kernel does not take it, nothing is lost.
                unsafe {
                    libc::posix_fadvise64(
                        file.as_raw_fd(),
                        start.cast_signed(),
                        len.cast_signed(),
                        libc::POSIX_FADV_WILLNEED,
                    )
                };
            }
        }

        fn ask_mapped(&self, bytes: &[u8]) {
            let mut start = bytes.as_ptr().addr() & !(PAGE as usize - 1);
            let end = bytes.as_ptr().addr() + bytes.len();
            while start < end {
                let len = WINDOW.min(end - start);
                // SAFETY: a hint that changes no byte; the range is mapped.
                unsafe { libc::madvise(start as *mut _, len, libc::MADV_WILLNEED) };
                start += len;
            }
        }

        fn room(&self) -> u64 {
            memory_limits::available()
        }
    }

    /// Whether a byte can be read without waiting; `None` if the file system cannot tell.
    fn is_there(file: &File, offset: u64) -> Option<bool> {
        let mut byte = [0u8];
        let part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        // SAFETY: the part describes one byte that lives through the call.
        let read = unsafe {
            libc::preadv2(file.as_raw_fd(), &raw const part, 1, offset.cast_signed(), libc::RWF_NOWAIT)
        };
        match read {
            0.. => Some(true),
            _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) => Some(false),
            _ => None,
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::File;

    use windows_sys::Win32::System::Memory::{PrefetchVirtualMemory, WIN32_MEMORY_RANGE_ENTRY};
    use windows_sys::Win32::System::Threading::GetCurrentProcess;

    use super::{PageCache, Residency, System};

    impl PageCache for System {
        /// Windows tells what is in a process's working set, which a new mapping never is.
        fn residency(&self, _: &File, _: u64) -> Option<Residency> {
            None
        }

        /// There is no such request for a file; its mapping follows.
        fn ask_file(&self, _: &File, _: u64, _: u64) {}

        fn ask_mapped(&self, bytes: &[u8]) {
            let range = WIN32_MEMORY_RANGE_ENTRY {
                VirtualAddress: bytes.as_ptr().cast_mut().cast(),
                NumberOfBytes: bytes.len(),
            };
            // SAFETY: one range of this process that is mapped; the call changes no byte.
            unsafe { PrefetchVirtualMemory(GetCurrentProcess(), 1, &raw const range, 0) };
        }

        fn room(&self) -> u64 {
            u64::MAX
        }
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
impl PageCache for System {
    fn residency(&self, _: &File, _: u64) -> Option<Residency> {
        None
    }

    fn ask_file(&self, _: &File, _: u64, _: u64) {}

    fn ask_mapped(&self, _: &[u8]) {}

    fn room(&self) -> u64 {
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_written_is_resident() {
        let dir = crate::io::testdir::TestDir::new("page-cache");
        let path = dir.join("f");
        std::fs::write(&path, vec![1; 100_000]).unwrap();
        let file = File::open(&path).unwrap();
        let residency = System.residency(&file, 100_000).unwrap();
        assert_eq!(residency.resident, residency.pages);
        System.ask_file(&file, 0, 100_000);
        assert!(System.room() > 0);
    }
}
