//! Starting a program and waiting for it.
//!
//! By `posix_spawnp` itself: the standard library's `Command` names some forty functions of the C library,
//! all of which the loader would look up at every start of weld, also of those that start nothing: 1 % of a
//! link of hello world.

use std::ffi::{CString, OsStr, c_char, c_int};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// Texts as the system takes lists of them.
pub struct Texts {
    /// What the pointers lead to.
    _texts: Vec<CString>,
    /// They end with a null pointer.
    pointers: Vec<*mut c_char>,
}

impl Texts {
    /// # Errors
    /// If there is a zero in one.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w OsStr>) -> io::Result<Texts> {
        let texts = words.into_iter().map(|word| CString::new(word.as_bytes()));
        let texts: Vec<CString> = texts.collect::<Result<_, _>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect();
        Ok(Texts { _texts: texts, pointers })
    }

    pub fn as_ptr(&self) -> *const *mut c_char {
        self.pointers.as_ptr()
    }
}

/// Runs a program with weld's environment, and waits for it. Whether it ended with exit code 0.
///
/// # Errors
/// If it cannot be started, or if nobody can tell how it ended.
pub fn run(program: &Path, args: &[&OsStr]) -> io::Result<bool> {
    let args = Texts::of([program.as_os_str()].into_iter().chain(args.iter().copied()))?;
    // SAFETY: the list of the process, which nobody changes.
    let variables = unsafe { environ };
    let status = wait(start(program, &args, variables)?)?;
    Ok(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0)
}

/// Runs a program with an environment (`NAME=VALUE`) in the foreground: what a terminal sends is for it. Its
/// exit code, as shells have it if a signal ended it.
///
/// # Errors
/// As [`run`].
#[cfg(target_os = "linux")]
pub fn wait_for(program: &Path, args: &Texts, variables: &Texts) -> io::Result<i32> {
    let child = start(program, args, variables.as_ptr())?;
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: no handler is installed, the signal is ignored.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let status = wait(child)?;
    Ok(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) })
}

/// Starts a program. `variables` is a list as that of [`Texts`].
fn start(program: &Path, args: &Texts, variables: *const *mut c_char) -> io::Result<libc::pid_t> {
    let program = CString::new(program.as_os_str().as_bytes())?;
    let mut child = 0;
    // SAFETY: terminated texts, in lists that end with null pointers.
    let failed = unsafe {
        libc::posix_spawnp(&mut child, program.as_ptr(), ptr::null(), ptr::null(), args.as_ptr(), variables)
    };
    if failed == 0 { Ok(child) } else { Err(io::Error::from_raw_os_error(failed)) }
}

/// How a child ended.
pub fn wait(child: libc::pid_t) -> io::Result<c_int> {
    loop {
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_program_ends() {
        let run = |program: &str, args: &[&str]| {
            run(Path::new(program), &args.iter().map(OsStr::new).collect::<Vec<_>>())
        };
        assert!(run("sh", &["-c", "test \"$1\" = 'a b'", "sh", "a b"]).unwrap());
        assert!(!run("sh", &["-c", "exit 1"]).unwrap());
        assert!(!run("sh", &["-c", "kill -TERM $$"]).unwrap());
        assert_eq!(run("/no/such/program", &[]).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(run("sh", &["a\0b"]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
