//! An engine as a process: started, fed, listened to, ended.
//!
//! By `posix_spawn` itself and by waiting for three pipes at once: the standard library's `Command` names
//! some forty functions of the C library that the loader would look up at every start of weld, and neither it
//! nor a thread a pipe can stop waiting for an engine that does not answer.
//!
//! What an engine writes to standard error (and what the compiler in it writes to standard output) comes
//! through a pipe of its own, so it cannot be taken for a reply.

use std::ffi::{CString, OsStr, c_char, c_int};
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::{Duration, Instant};

use crate::late;

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// A child process with pipes.
pub struct Process {
    pid: libc::pid_t,
    /// Its standard input. Its end tells it that it is no longer needed.
    input: Option<File>,
    replies: File,
    /// `None` when it has ended.
    output: Option<File>,
    /// How it ended, when that is known.
    ending: Option<Ending>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Killed(i32),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Exited(code) => write!(f, "exit code {code}"),
            Ending::Killed(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// What came from it.
pub enum Heard<'a> {
    Replies(&'a [u8]),
    Output(&'a [u8]),
}

/// Why nothing more will come.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// Whoever listened has heard enough.
    Enough,
    /// It has closed the pipe.
    Closed,
    Silent,
}

impl Process {
    /// Starts `program` with one argument.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(program: &Path, arg: &str) -> io::Result<Process> {
        let (child_input, input) = pipe()?;
        let (replies, child_replies) = pipe()?;
        let (output, child_output) = pipe()?;
        let pid = spawn(program, arg, [&child_input, &child_replies, &child_output])?;
        limit_memory(pid);
        // From here on the process is known, and killed if anything fails.
        let process = Process { pid, input: Some(input), replies, output: Some(output), ending: None };
        for file in [process.input.as_ref(), process.output.as_ref()].into_iter().flatten() {
            do_not_block(file)?;
        }
        Ok(process)
    }

    /// Writes `order` and passes on what comes, until `hear` says that it was enough. `patience` is how long
    /// it may take from now on until it answers; `None`: any time.
    ///
    /// # Errors
    /// Those of the system. An engine that does not want to read the order is none.
    pub fn talk(
        &mut self,
        mut order: &[u8],
        patience: Option<Duration>,
        hear: &mut dyn FnMut(Heard<'_>) -> Next,
    ) -> io::Result<Stop> {
        let mut deadline = patience.map(|patience| Instant::now() + patience);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let ready = self.poll(!order.is_empty(), timeout)?;
            if ready == [false; 3] && timeout.is_some_and(|left| left.is_zero()) {
                return Ok(Stop::Silent);
            }
            if ready[0] {
                order = self.feed(order)?;
            }
            // What it prints comes first: it explains what it says.
            if ready[2] {
                self.hear_output(&mut buffer, hear)?;
            }
            if ready[1] {
                match self.replies.read(&mut buffer) {
                    Ok(0) => return Ok(Stop::Closed),
                    Ok(len) => match hear(Heard::Replies(&buffer[..len])) {
                        Next::Wait => {}
                        Next::Awake => deadline = None,
                        Next::Enough => return Ok(Stop::Enough),
                    },
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
        }
    }

    /// Which of input, replies and output have something to do.
    fn poll(&self, is_feeding: bool, timeout: Option<Duration>) -> io::Result<[bool; 3]> {
        let entry = |file: Option<&File>, events| libc::pollfd {
            fd: file.map_or(-1, |file| file.as_raw_fd()),
            events,
            revents: 0,
        };
        let mut entries = [
            entry(self.input.as_ref().filter(|_| is_feeding), libc::POLLOUT),
            entry(Some(&self.replies), libc::POLLIN),
            entry(self.output.as_ref(), libc::POLLIN),
        ];
        // Rounded up: a deadline has passed when the wait for it is over.
        let timeout = timeout.map_or(-1, |left| c_int::try_from(left.as_millis() + 1).unwrap_or(c_int::MAX));
        // SAFETY: an array of as many entries.
        if unsafe { libc::poll(entries.as_mut_ptr(), 3, timeout) } < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == ErrorKind::Interrupted { Ok([false; 3]) } else { Err(error) };
        }
        Ok(entries.map(|entry| entry.revents != 0))
    }

    /// Writes as much of the order as the pipe takes. What is left of it.
    fn feed<'o>(&self, order: &'o [u8]) -> io::Result<&'o [u8]> {
        let Some(mut input) = self.input.as_ref() else { return Ok(&[]) };
        match input.write(order) {
            Ok(written) => Ok(&order[written..]),
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(order),
            // It has ended; how, the other pipe tells.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(&[]),
            Err(e) => Err(e),
        }
    }

    fn hear_output(&mut self, buffer: &mut [u8], hear: &mut dyn FnMut(Heard<'_>) -> Next) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        match output.read(buffer) {
            Ok(0) => self.output = None,
            Ok(len) => {
                hear(Heard::Output(&buffer[..len]));
            }
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// Tells it that it is no longer needed, waits for it, and kills it if it does not end. What it still had
    /// to print is passed on.
    ///
    /// # Errors
    /// If nobody can tell how it ended.
    pub fn end(&mut self, patience: Duration, hear: &mut dyn FnMut(Heard<'_>) -> Next) -> io::Result<Ending> {
        self.input = None;
        let deadline = Instant::now() + patience;
        let mut pause: c_int = 1; // Milliseconds.
        let mut buffer = vec![0; 1 << 16];
        let ending = loop {
            // It cannot end while it waits for someone to read what it prints.
            while self.poll(false, Some(Duration::ZERO))?[2] && self.output.is_some() {
                self.hear_output(&mut buffer, hear)?;
            }
            if let Some(ending) = self.wait(libc::WNOHANG)? {
                break ending;
            }
            if Instant::now() >= deadline {
                self.kill();
                break self.wait(0)?.ok_or(ErrorKind::NotFound)?;
            }
            // SAFETY: no descriptors to wait for, only the time.
            unsafe { libc::poll(ptr::null_mut(), 0, pause) };
            pause = (pause * 2).min(20);
        };
        while self.poll(false, Some(Duration::ZERO))?[2] && self.output.is_some() {
            self.hear_output(&mut buffer, hear)?;
        }
        Ok(ending)
    }

    /// How it ended, if it has.
    fn wait(&mut self, options: c_int) -> io::Result<Option<Ending>> {
        loop {
            let mut status = 0;
            // SAFETY: a child of this process that has not been waited for, and a place for its status.
            match unsafe { libc::waitpid(self.pid, &mut status, options) } {
                0 => return Ok(None),
                pid if pid == self.pid => {
                    self.ending = Some(match libc::WIFEXITED(status) {
                        true => Ending::Exited(libc::WEXITSTATUS(status)),
                        false => Ending::Killed(libc::WTERMSIG(status)),
                    });
                    return Ok(self.ending);
                }
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn kill(&self) {
        // SAFETY: a child of this process that has not been waited for, so its number is nobody else's.
        unsafe {
            late::kill()(self.pid, libc::SIGKILL);
        }
    }
}

/// What is to follow on something that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Wait,
    /// The engine answers: from now on it may take as long as it wants to.
    Awake,
    Enough,
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ending.is_none() {
            self.kill();
            // That it cannot be waited for would mean that somebody else did.
            let _ = self.wait(0);
        }
    }
}

/// A pipe's end for reading and that for writing, which programs that are started do not get.
fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: an array of two.
    if unsafe { late::pipe2()(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptors have just been made and are nobody else's.
    Ok(unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) })
}

fn do_not_block(file: &File) -> io::Result<()> {
    // SAFETY: an open descriptor of a pipe that nobody shares this end of.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Starts a program with weld's environment and these standard streams. Descriptors of make's jobserver are
/// passed on as all are that weld was given.
fn spawn(program: &Path, arg: &str, streams: [&File; 3]) -> io::Result<libc::pid_t> {
    let words = [program.as_os_str(), OsStr::new(arg)].map(|word| CString::new(word.as_bytes()));
    let words: Vec<CString> = words.into_iter().collect::<Result<_, _>>()?;
    let argv = [words[0].as_ptr().cast_mut(), words[1].as_ptr().cast_mut(), ptr::null_mut()];
    let mut pid = 0;
    // SAFETY: actions are initialised before they are used and destroyed after; the lists are of terminated
    // strings and end with null pointers; so does `environ`, which nobody changes.
    let failed = unsafe {
        let mut actions = std::mem::zeroed();
        let mut failed = late::posix_spawn_file_actions_init()(&mut actions);
        for (stream, number) in streams.into_iter().zip(0..) {
            if failed == 0 {
                failed = late::posix_spawn_file_actions_adddup2()(&mut actions, stream.as_raw_fd(), number);
            }
        }
        if failed == 0 {
            failed = libc::posix_spawnp(&mut pid, argv[0], &actions, ptr::null(), argv.as_ptr(), environ);
        }
        late::posix_spawn_file_actions_destroy()(&mut actions);
        failed
    };
    if failed == 0 { Ok(pid) } else { Err(io::Error::from_raw_os_error(failed)) }
}

/// Lets a process take no more memory of its own than the machine has. Compilers that read damaged code may
/// ask for any amount: they shall fail before the kernel looks for programs to kill. No order has been given
/// yet, so nothing is read before the limit is there.
fn limit_memory(pid: libc::pid_t) {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let resource = libc::RLIMIT_DATA;
    // SAFETY: numbers and a place for a limit, which the kernel writes or reads. Where it refuses, as it may
    // for another user's program, there is no limit, as before. (The functions of the C library would be
    // looked up at every start.)
    unsafe {
        let nothing = ptr::null::<libc::rlimit64>();
        if libc::syscall(libc::SYS_prlimit64, pid, resource, nothing, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_cur.min(machine_memory());
            libc::syscall(
                libc::SYS_prlimit64,
                pid,
                resource,
                &raw const limit,
                ptr::null_mut::<libc::rlimit64>(),
            );
        }
    }
}

/// What the machine has of memory and of places to put it out to, in bytes.
fn machine_memory() -> u64 {
    // SAFETY: a place for what the kernel writes; it is plain numbers, of which all may be 0.
    let (failed, info) = unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        (libc::syscall(libc::SYS_sysinfo, &raw mut info) != 0, info)
    };
    let unit = u64::from(info.mem_unit.max(1));
    #[allow(clippy::unnecessary_cast)] // They have 32 bits on other hosts.
    let units = info.totalram as u64 + info.totalswap as u64;
    if failed { libc::RLIM64_INFINITY } else { units * unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `sh` says that runs `script` as a program of its own, and how it ends.
    fn talk(script: &str, order: &[u8], patience: Duration) -> (Stop, Ending, Vec<u8>, Vec<u8>) {
        let directory = std::env::temp_dir().join(format!("weld-process-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let name = format!("s{}", COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let path = directory.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        // Run through `sh`, since a file that has just been written may still be open in a child of another
        // test.
        let (mut replies, mut output) = (Vec::new(), Vec::new());
        let mut hear = |heard: Heard<'_>| {
            match heard {
                Heard::Replies(bytes) => replies.extend_from_slice(bytes),
                Heard::Output(bytes) => output.extend_from_slice(bytes),
            }
            Next::Wait
        };
        let mut process = Process::start(Path::new("sh"), path.to_str().unwrap()).unwrap();
        let stop = process.talk(order, Some(patience), &mut hear).unwrap();
        let ending = process.end(Duration::from_secs(2), &mut hear).unwrap();
        std::fs::remove_file(&path).unwrap();
        (stop, ending, replies, output)
    }

    #[test]
    fn an_order_goes_in_and_replies_come_out() {
        let order = vec![b'x'; 300_000];
        let (stop, ending, replies, output) =
            talk("echo said; echo printed >&2; head -c 300000 | wc -c", &order, Duration::from_secs(60));
        assert_eq!((stop, ending), (Stop::Closed, Ending::Exited(0)));
        assert_eq!((&replies[..], &output[..]), (&b"said\n300000\n"[..], &b"printed\n"[..]));
    }

    #[test]
    fn how_processes_end() {
        let order = vec![b'x'; 300_000];
        let (stop, ending, ..) = talk("exit 7", &order, Duration::from_secs(60));
        assert_eq!((stop, ending), (Stop::Closed, Ending::Exited(7)));
        let (stop, ending, ..) = talk("kill -SEGV $$", b"", Duration::from_secs(60));
        assert_eq!((stop, ending), (Stop::Closed, Ending::Killed(11)));
    }

    #[test]
    fn memory_is_limited_to_what_the_machine_has() {
        let (.., replies, _) = talk("read order; ulimit -d", b"order\n", Duration::from_secs(60));
        let limit: u64 = String::from_utf8(replies).unwrap().trim().parse().expect("a limit in KiB");
        assert!(limit <= machine_memory() >> 10 && limit > 0);
    }

    #[test]
    fn who_does_not_answer_is_stopped() {
        let (stop, ending, ..) = talk("exec sleep 1000", b"", Duration::from_millis(50));
        assert_eq!((stop, ending), (Stop::Silent, Ending::Killed(9)));
    }

    #[test]
    fn who_closes_the_pipe_and_stays_is_stopped() {
        let (stop, ending, ..) = talk("exec sleep 1000 >&-", b"", Duration::from_secs(60));
        assert_eq!((stop, ending), (Stop::Closed, Ending::Killed(9)));
    }

    #[test]
    fn a_program_that_is_not_there() {
        let error = Process::start(Path::new("/no/such/program"), "x").err().unwrap();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
