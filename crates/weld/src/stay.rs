//! Letting go of whoever waits for a link before all is done: what later links want is written behind its back
//! (`--incremental`, `--detach`).
//!
//! The process that was started becomes two, before there are threads. The child links; the parent waits until the
//! child says that the output is there, and ends as the child would have. Until then both are one for everybody
//! else: a signal that ends the parent is passed on and waited for, and if the parent is killed, so is the child. From
//! then on the child has nothing of its caller's: neither standard output nor error nor any other descriptor that it was
//! started with, at whose end a build would wait, and no token of a jobserver.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::{progress, signals};

/// Where the parent waits; -1 if there is none.
static PARENT: AtomicI32 = AtomicI32::new(-1);
static HAS_LET_GO: AtomicBool = AtomicBool::new(false);
/// Descriptors of standard output and standard error.
const STDOUT: RawFd = 1;
const STDERR: RawFd = 2;

/// Becomes two processes, of which the child returns: true. If that cannot be, there is one, and it returns false.
pub fn begin() -> bool {
    // A build that counts for profile-guided optimisation writes its counts when it ends.
    if cfg!(weld_counts) || !is_alone() {
        return false;
    }
    let mut ends = [-1; 2];
    // SAFETY: a place for two descriptors. By the number of the call: the loader would look up its name for every link.
    if unsafe { libc::syscall(libc::SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return false;
    }
    let [from_child, to_parent] = ends;
    let parent = std::process::id();
    // SAFETY: this thread is the only one, so the child lacks none.
    match unsafe { libc::fork() } {
        -1 => {
            close(from_child);
            close(to_parent);
            false
        }
        0 => {
            close(from_child);
            signals::die_with_parent();
            if std::os::unix::process::parent_id() != parent {
                // SAFETY: the function has no preconditions. There is nothing to clean up, and nobody to tell.
                unsafe { libc::_exit(1) };
            }
            PARENT.store(to_parent, Ordering::Relaxed);
            progress::go_on();
            true
        }
        child => {
            close(to_parent);
            signals::pass_on_to(child);
            progress::end();
            wait(child, from_child)
        }
    }
}

/// Whether whoever has started the link thinks that it is over.
pub fn has_let_go() -> bool {
    HAS_LET_GO.load(Ordering::Relaxed)
}

/// Lets go of the parent, if there is one. What is said from now on goes to `log`.
pub fn let_go(log: Option<File>) {
    let parent = PARENT.swap(-1, Ordering::Relaxed);
    if parent < 0 {
        return;
    }
    HAS_LET_GO.store(true, Ordering::Relaxed);
    signals::give_tokens_back();
    if let Ok(nothing) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let inherited = inherited();
        let log = log.as_ref().unwrap_or(&nothing).as_raw_fd();
        for descriptor in inherited.into_iter().chain([0, STDOUT, STDERR]) {
            let from = if descriptor == STDERR { log } else { nothing.as_raw_fd() };
            // SAFETY: open descriptors. The number stays taken, so whoever knows it closes no other file.
            unsafe { libc::dup2(from, descriptor) };
        }
    }
    signals::outlive_parent();
    // SAFETY: a descriptor that is open, and one byte. If the parent is gone, nobody waits.
    unsafe { libc::write(parent, b"1".as_ptr().cast(), 1) };
    close(parent);
}

/// Whether the process has one thread.
fn is_alone() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// Descriptors that the process was started with: what weld opens is closed when a program is started.
fn inherited() -> Vec<RawFd> {
    let numbers = fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // SAFETY: asks for flags; a descriptor that is not open any more is an error.
    let flags = |descriptor: &RawFd| unsafe { libc::fcntl(*descriptor, libc::F_GETFD) };
    numbers.filter(|descriptor| flags(descriptor) == 0).collect()
}

fn close(descriptor: RawFd) {
    // SAFETY: the caller's descriptor, which it does not use any more.
    unsafe { libc::close(descriptor) };
}

/// Waits until the child has let go, or has ended, and ends as it does.
fn wait(child: libc::pid_t, from_child: RawFd) -> ! {
    let mut byte = 0u8;
    loop {
        // SAFETY: an open descriptor, and room for a byte.
        match unsafe { libc::read(from_child, (&raw mut byte).cast(), 1) } {
            // SAFETY: the function has no preconditions.
            1 => unsafe { libc::_exit(0) },
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    let status = crate::spawn::wait(child).unwrap_or(1 << 8);
    signals::pass_on_to(0);
    if libc::WIFSIGNALED(status) {
        signals::end_by(libc::WTERMSIG(status));
    }
    // SAFETY: as above. A signal that does not end this process is a failure, too.
    unsafe { libc::_exit(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1 }) }
}
