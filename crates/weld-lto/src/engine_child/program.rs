//! Programs that an engine starts: in a process group of their own, by which they and what they start can be
//! stopped.

use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;

use crate::late;

/// Starts a program in a group of its own. Its standard output is what comes back if that is wanted; its
/// input is empty.
///
/// # Errors
/// If the system cannot start it.
pub fn start(words: &[CString], wants_output: bool) -> std::io::Result<(libc::pid_t, Option<File>)> {
    let mut argv: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    argv.push(ptr::null());
    let nothing = File::open("/dev/null")?;
    let mut pipes = [[0; 2]; 2];
    for ends in &mut pipes {
        // SAFETY: an array of two.
        if unsafe { late::pipe2()(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    // SAFETY: the descriptors have just been made and are nobody else's.
    let [output, output_end, failure, failure_end] =
        unsafe { [pipes[0][0], pipes[0][1], pipes[1][0], pipes[1][1]].map(|fd| File::from_raw_fd(fd)) };
    // Looked up before, since that is not allowed between.
    let (setpgid, dup2, execvp) = (late::setpgid(), late::dup2(), late::execvp());
    // SAFETY: between here and `execvp` or `_exit` the child only calls functions that POSIX allows there.
    let pid = unsafe { late::fork()() };
    match pid {
        -1 => return Err(std::io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; the lists end with null pointers.
            unsafe {
                setpgid(0, 0);
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM, libc::SIGPIPE] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                dup2(nothing.as_raw_fd(), 0);
                if wants_output {
                    dup2(output_end.as_raw_fd(), 1);
                }
                execvp(argv[0], argv.as_ptr());
                let error: c_int = *libc::__errno_location();
                libc::write(failure_end.as_raw_fd(), (&raw const error).cast(), size_of::<c_int>());
                libc::_exit(127)
            }
        }
        _ => {}
    }
    // Both do it, so that it is done for either.
    // SAFETY: numbers only.
    unsafe { setpgid(pid, pid) };
    drop((output_end, failure_end));
    let mut error = [0; size_of::<c_int>()];
    let mut failure = failure;
    if failure.read_exact(&mut error).is_ok() {
        wait(pid);
        return Err(std::io::Error::from_raw_os_error(c_int::from_ne_bytes(error)));
    }
    Ok((pid, wants_output.then_some(output)))
}

/// Waits for its end. `None`: nobody can tell how it ended.
pub fn wait(pid: libc::pid_t) -> Option<c_int> {
    loop {
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        match unsafe { libc::waitpid(pid, &mut status, 0) } {
            done if done == pid => return Some(status),
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

/// How a program ended that has not succeeded, from what [`wait`] says.
pub fn failure(status: Option<c_int>) -> Option<String> {
    match status {
        Some(status) if libc::WIFEXITED(status) => match libc::WEXITSTATUS(status) {
            0 => None,
            code => Some(format!("exit code {code}")),
        },
        Some(status) => Some(format!("signal {}", libc::WTERMSIG(status))),
        None => Some("nobody knows what".to_owned()),
    }
}
