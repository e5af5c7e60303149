//! Letting go of whoever waits for a link before all is done: what later links want is written behind its back
//! (`--incremental`, `--detach`).
//!
//! The process that was started becomes two, before there are threads. The child links; the parent waits until the
//! child says that the output is there, and ends as the child would have. Until then both are one for everybody
//! else: a signal that ends the parent is passed on and waited for, and if the parent is killed, the child is told. From
//! then on the child has nothing of its caller's: neither standard output nor error nor any other descriptor at whose end
//! a build would wait, no token of a jobserver, and no terminal.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::{progress, signals};

/// Where the parent waits; -1 if there is none.
static PARENT: AtomicI32 = AtomicI32::new(-1);
static HAS_LET_GO: AtomicBool = AtomicBool::new(false);

/// Becomes two processes, of which the child returns: true. If that cannot be, there is one, and it returns false; so if
/// it would be of no use, unless it `is_asked_for`.
pub fn begin(is_asked_for: bool) -> bool {
    // A build that counts for profile-guided optimisation writes its counts when it ends.
    if cfg!(weld_counts) || !is_alone() || !is_asked_for && is_in_container() {
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
pub fn let_go(log: &File) {
    let parent = PARENT.load(Ordering::Relaxed);
    if parent < 0 {
        return;
    }
    HAS_LET_GO.store(true, Ordering::Relaxed);
    signals::give_tokens_back();
    if let Ok(nothing) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        for descriptor in of_others(parent) {
            let from = if descriptor == libc::STDERR_FILENO { log.as_raw_fd() } else { nothing.as_raw_fd() };
            // SAFETY: open descriptors. The number stays taken, so whoever knows it closes no other file.
            unsafe { libc::dup2(from, descriptor) };
        }
    }
    signals::outlive_parent();
    // What ends a terminal or a group of processes is not for this one any more.
    // SAFETY: no preconditions.
    unsafe { libc::syscall(libc::SYS_setsid) };
    end(0);
}

/// Tells the parent, if there is one that waits, the exit code.
pub fn end(code: i32) {
    let parent = PARENT.swap(-1, Ordering::Relaxed);
    if parent >= 0 {
        let code = u8::try_from(code).unwrap_or(1);
        // SAFETY: a descriptor that is open, and one byte. If the parent is gone, nobody waits.
        unsafe { libc::write(parent, (&raw const code).cast(), 1) };
        close(parent);
    }
}

/// Whether the processes of a container, whose first one ends with them, are all that there is: the state would hardly
/// ever be complete.
fn is_in_container() -> bool {
    // The number that the system's own has.
    const FIRST: &str = "pid:[4026531836]";
    fs::read_link("/proc/self/ns/pid").is_ok_and(|name| name.as_os_str() != FIRST)
}

/// Whether the process has one thread.
fn is_alone() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// Descriptors at whose other ends somebody may wait: those that the process was started with (what weld opens is closed
/// when a program is started), and pipes, but for that of the parent.
fn of_others(parent: RawFd) -> Vec<RawFd> {
    let numbers = fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // SAFETY: asks for flags; a descriptor that is not open any more is an error.
    let flags = |descriptor: RawFd| unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
    let is_pipe = |descriptor: RawFd| {
        let meta = fs::metadata(format!("/proc/self/fd/{descriptor}"));
        meta.is_ok_and(|meta| std::os::unix::fs::FileTypeExt::is_fifo(&meta.file_type()))
    };
    numbers.filter(|one| *one != parent && (flags(*one) == 0 || is_pipe(*one))).collect()
}

fn close(descriptor: RawFd) {
    // SAFETY: the caller's descriptor, which it does not use any more.
    unsafe { libc::close(descriptor) };
}

/// Waits until the child has let go, or has ended, and ends as it does.
fn wait(child: libc::pid_t, from_child: RawFd) -> ! {
    let mut code = 0u8;
    loop {
        // SAFETY: an open descriptor, and room for a byte.
        match unsafe { libc::read(from_child, (&raw mut code).cast(), 1) } {
            // SAFETY: the function has no preconditions.
            1 => unsafe { libc::_exit(code.into()) },
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
