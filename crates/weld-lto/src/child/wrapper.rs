//! Runs GCC's `lto-wrapper` and passes on what it prints: the paths of objects, a line each.
//!
//! It runs a compiler for each part of the program, under `make` if there are several, so it gets a process group of
//! its own, by which all of them are stopped when weld is gone. Descriptors of a make's jobserver are still open,
//! as weld was given them, and `MAKEFLAGS` says where they are.

use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::ptr;
use std::sync::atomic::Ordering;

use weld_common::text::os_str;

use super::{Ending, Voice, set_variable};
use crate::late;
use crate::protocol::{Reply, Wrapper};

/// Whether it succeeded; if not, why has been said.
pub fn run(work: &Wrapper<'_>, voice: &Voice, ending: &Ending) -> bool {
    let path = match &work.resolutions_path {
        Some(path) => Path::new(os_str(path)).to_owned(),
        None => ending.directory.join("resolutions"),
    };
    if let Err(e) = std::fs::write(&path, &work.resolutions) {
        voice.say(&Reply::Ready(Vec::new()));
        voice.error(format!("{}: {}", path.display(), weld_common::io::reason(&e)));
        return false;
    }
    let resolutions = [b"-fresolution=", path.as_os_str().as_encoded_bytes()].concat();
    let words = [&*work.program, &resolutions].into_iter().chain(work.args.iter().map(|arg| &**arg));
    let Ok(words) = words.map(CString::new).collect::<Result<Vec<_>, _>>() else {
        voice.say(&Reply::Unusable(b"a file's name has a zero byte in it".to_vec()));
        return false;
    };
    for variable in &work.variables {
        if let Some(at) = variable.iter().position(|&byte| byte == b'=') {
            set_variable(&variable[..at], &variable[at + 1..]);
        }
    }
    let (pid, mut output) = match start(&words) {
        Ok(started) => started,
        Err(e) => {
            voice.say(&Reply::Unusable(weld_common::io::reason(&e).into_bytes()));
            return false;
        }
    };
    ending.group.store(pid, Ordering::SeqCst);
    voice.say(&Reply::Ready(Vec::new()));
    let mut printed = Vec::new();
    let read = output.read_to_end(&mut printed);
    let status = wait(pid);
    ending.group.store(0, Ordering::SeqCst);
    for line in printed.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        voice.say(&Reply::Object(line.to_vec()));
    }
    if let Err(e) = read {
        voice.error(weld_common::io::reason(&e));
        return false;
    }
    let how = match status {
        Some(status) if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => return true,
        Some(status) if libc::WIFEXITED(status) => format!("exit code {}", libc::WEXITSTATUS(status)),
        Some(status) => format!("signal {}", libc::WTERMSIG(status)),
        None => "nobody knows how".to_owned(),
    };
    voice.error(format!("lto-wrapper ended with {how}"));
    false
}

/// Starts a program in a group of its own. Its standard output is what comes back, its input is empty.
fn start(words: &[CString]) -> std::io::Result<(libc::pid_t, File)> {
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
                dup2(output_end.as_raw_fd(), 1);
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
    Ok((pid, output))
}

fn wait(pid: libc::pid_t) -> Option<c_int> {
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
