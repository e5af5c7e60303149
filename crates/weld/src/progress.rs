//! What a link does that takes longer than a second, in a line on the terminal that is gone when it ends.
//!
//! A timer interrupts the process a second after it began, and five times a second from then on; the handler
//! writes what the link has noted of itself. So a shorter link pays for a timer that never rings, and one
//! whose messages go to a file or a pipe, or that `CI` is set for, has none. `--no-progress` turns it off.
//! The signal is one that means nothing to a process that has not asked for it (SIGURG), since others may
//! send it SIGALRM. Elsewhere than on Linux nothing rings.

#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const NEXT: Duration = Duration::from_millis(200);

/// Columns of the line; the narrowest terminals have 80.
const WIDTH: usize = 78;

/// The name of the step: its address in the upper 48 bits, which is all that processors have for programs,
/// and its length. So the handler, on whichever thread it runs, sees both or neither.
static STEP: AtomicU64 = AtomicU64::new(0);
/// Bytes of the output, and how many of them are filled.
static SIZE: AtomicU64 = AtomicU64::new(0);
static FILLED: AtomicU64 = AtomicU64::new(0);
/// Fifths of a second that the timer has counted after [`FIRST`].
static TICKS: AtomicU32 = AtomicU32::new(0);
/// The timer counts.
static IS_TIMED: AtomicBool = AtomicBool::new(false);
/// There is a line on the terminal.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);
/// Somebody else writes, or the link is over.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Begins to count for a link with these arguments.
pub fn begin(args: &[OsString]) {
    if std::io::stderr().is_terminal() && is_wanted(args, |name| std::env::var_os(name)) {
        IS_TIMED.store(true, Ordering::Relaxed);
        set_timer();
    }
}

fn is_wanted(args: &[OsString], variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    let last = args.iter().rev().find_map(|arg| switch(arg));
    last.unwrap_or(true) && !is_dumb && variable("CI").is_none()
}

/// What an argument says of it, in the manner of any linker.
fn switch(arg: &OsStr) -> Option<bool> {
    let arg = arg.to_str()?;
    match arg.strip_prefix("--").or_else(|| arg.strip_prefix(['-', '/']))? {
        "progress" => Some(true),
        "no-progress" => Some(false),
        slash if slash.eq_ignore_ascii_case("progress:no") => Some(false),
        _ => None,
    }
}

/// Goes on in a child of the process that had begun: timers are not handed down.
#[cfg(target_os = "linux")]
pub fn go_on() {
    if IS_TIMED.load(Ordering::Relaxed) {
        TICKS.store(0, Ordering::Relaxed);
        set_timer();
    }
}

/// A step of the link begins.
pub fn step(name: &'static str) {
    STEP.store((name.as_ptr() as u64) << 16 | (name.len() as u64 & 0xffff), Ordering::Release);
}

pub fn output_begins(size: u64) {
    SIZE.store(size, Ordering::Relaxed);
    FILLED.store(0, Ordering::Relaxed);
}

pub fn output_filled(bytes: u64) {
    FILLED.fetch_add(bytes, Ordering::Relaxed);
}

/// Lets somebody write to the terminal, on a line of its own.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    let was_quiet = IS_QUIET.swap(true, Ordering::SeqCst);
    clear();
    let result = write();
    IS_QUIET.store(was_quiet, Ordering::SeqCst);
    result
}

/// The link is over: nothing is shown from now on.
pub fn end() {
    IS_QUIET.store(true, Ordering::SeqCst);
    clear();
}

fn clear() {
    if IS_SHOWN.swap(false, Ordering::SeqCst) {
        let _ = std::io::stderr().write_all(b"\r\x1b[K");
    }
}

/// The line for a step: `so many of so many bytes` if there is an output.
fn line(buffer: &mut [u8; 160], name: &[u8], output: (u64, u64), elapsed: Duration) -> usize {
    let mut rest = &mut buffer[..];
    let room = rest.len();
    let (filled, size) = output;
    let name = std::str::from_utf8(name).unwrap_or_default();
    let _ = write!(rest, "\r\x1b[K");
    let before = room - rest.len();
    // Formatting of numbers and texts allocates nothing, which a signal handler must not do.
    let _ = write!(rest, "weld: {name}");
    if size > 0 && filled > 0 {
        let share = (filled.min(size) as u128 * 100 / u128::from(size)) as u64;
        let _ = write!(rest, ", {share} % of {} MB", size.div_ceil(1_000_000));
    }
    let _ = write!(rest, ", {} s", elapsed.as_secs());
    (room - rest.len()).min(before + WIDTH)
}

#[cfg(not(target_os = "linux"))]
fn set_timer() {}

#[cfg(target_os = "linux")]
fn set_timer() {
    use std::ptr::null_mut;

    let spec =
        |time: Duration| libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ };
    // SAFETY: structures of numbers, for which zeros do, and pointers to them. The handler is of the type
    // that is said. By the numbers of the calls: the loader would look up their names for every link.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = tick as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        if libc::sigaction(libc::SIGURG, &action, null_mut()) != 0 {
            return;
        }
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGURG;
        let mut timer: libc::c_int = 0;
        let times = libc::itimerspec { it_interval: spec(NEXT), it_value: spec(FIRST) };
        if libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) == 0 {
            libc::syscall(
                libc::SYS_timer_settime,
                timer,
                0,
                &raw const times,
                null_mut::<libc::itimerspec>(),
            );
        }
    }
}

/// Runs in the middle of anything: it does nothing but read numbers and write.
#[cfg(target_os = "linux")]
extern "C" fn tick(_: libc::c_int) {
    let ticks = TICKS.fetch_add(1, Ordering::Relaxed);
    if IS_QUIET.load(Ordering::SeqCst) {
        return;
    }
    let step = STEP.load(Ordering::Acquire);
    if step == 0 {
        return;
    }
    // SAFETY: a text that lives as long as the program.
    let name = unsafe { std::slice::from_raw_parts((step >> 16) as *const u8, (step & 0xffff) as usize) };
    let mut buffer = [0; 160];
    let output = (FILLED.load(Ordering::Relaxed), SIZE.load(Ordering::Relaxed));
    let length = line(&mut buffer, name, output, FIRST + NEXT * ticks);
    IS_SHOWN.store(true, Ordering::SeqCst);
    // SAFETY: a part of the buffer. What went wrong before in this thread is still to be asked for.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(libc::STDERR_FILENO, buffer.as_ptr().cast(), length);
        *libc::__errno_location() = errno;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_it() {
        let wanted = |line: &str, variables: &[(&str, &str)]| {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let find = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            };
            is_wanted(&args, find)
        };
        let term = ("TERM", "xterm");
        assert!(wanted("a.o", &[term]) && wanted("--no-progress a.o -progress", &[term]));
        assert!(!wanted("a.o --no-progress", &[term]) && !wanted("/Progress:no", &[term]));
        assert!(!wanted("a.o", &[]) && !wanted("a.o", &[("TERM", "dumb")]));
        assert!(!wanted("a.o", &[term, ("CI", "true")]));
    }

    #[test]
    fn what_it_shows() {
        let shown = |name: &str, output, seconds| {
            let mut buffer = [0; 160];
            let length = line(&mut buffer, name.as_bytes(), output, Duration::from_secs(seconds));
            String::from_utf8(buffer[..length].to_vec()).unwrap()
        };
        assert_eq!(shown("resolve symbols", (0, 0), 1), "\r\x1b[Kweld: resolve symbols, 1 s");
        assert_eq!(
            shown("write image", (1 << 30, 2 << 30), 12),
            "\r\x1b[Kweld: write image, 50 % of 2148 MB, 12 s"
        );
        assert_eq!(shown("write image", (3, 2), 1), "\r\x1b[Kweld: write image, 100 % of 1 MB, 1 s");
        assert!(shown(&"x".repeat(300), (0, 0), 1).len() <= 4 + WIDTH);
    }
}
