//! weld's program as an engine: what runs in the child process.
//!
//! It reads an order from standard input, makes the directory for temporary files, and does the work: it
//! loads a plugin for linkers and is the linker ([`plugin`]), or runs GCC's `lto-wrapper` ([`wrapper`]) or a
//! distributor ([`distributor`]). Replies go to what was standard output; from then on that is a copy of
//! standard error, so that a compiler that prints does not speak in its engine's name.
//!
//! The directory belongs to this process and not to weld, because weld may be killed in ways that leave it no
//! time. A thread waits for the end of standard input, which comes when weld has what it wanted or is gone:
//! then the compiler's programs are stopped, the directory is removed, and the process ends, whatever its
//! other threads are doing. For the same reason signals by which terminals and `timeout` end whole groups of
//! processes are ignored: weld dies of them, and that is noticed here. A file that becomes larger than is
//! allowed is an error of writing, of which the compiler can say where it was.

mod api;
mod distributor;
mod plugin;
mod program;
mod wrapper;

use std::ffi::{CString, c_int, c_void};
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weld_common::text::os_str;

use crate::late;
use crate::protocol::{Order, Reply, Work, level};

/// Where replies go. Compilers say things on any thread.
#[derive(Clone)]
struct Voice(Arc<Mutex<File>>);

impl Voice {
    /// If weld is gone, nobody is there to be told: the thread that waits for that ends the process.
    fn say(&self, reply: &Reply) {
        let mut pipe = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let _ = pipe.write_all(&reply.write());
    }

    fn error(&self, text: impl Into<String>) {
        self.say(&Reply::Message(level::ERROR, text.into().into_bytes()));
    }
}

/// What has to be done when weld no longer needs this process.
struct Ending {
    directory: PathBuf,
    /// The directory stays.
    keeps: bool,
    /// The group of the compiler's processes; 0: there is none.
    group: AtomicI32,
    /// How long these may take to end by themselves.
    grace: Duration,
    /// To be called if the work was done.
    cleanup: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// Does what weld orders. The exit code, if there was no order; else the process ends itself.
pub fn run() -> i32 {
    // The order may name a directory that is there already, and then has to be removed.
    ignore_signals();
    wake_up_when_weld_is_gone();
    let Some(voice) = take_streams() else { return 2 };
    let voice = Voice(Arc::new(Mutex::new(voice)));
    let mut order = Vec::new();
    let Some(order) = read_order(&mut order) else {
        voice.error("no order has come");
        voice.say(&Reply::Failed);
        return 2;
    };
    let directory = Path::new(os_str(&order.directory)).to_owned();
    let (keeps, grace) = match &order.work {
        Work::Distributor(work) => (work.keeps, DISTRIBUTORS_GRACE),
        Work::Plugin(_) | Work::Wrapper(_) | Work::Compile(_) => {
            if let Err(e) = DirBuilder::new().mode(0o700).create(&directory) {
                voice.error(format!("{}: {}", directory.display(), weld_common::io::reason(&e)));
                voice.say(&Reply::Failed);
                return 2;
            }
            set_variable(b"TMPDIR", &order.directory);
            (false, Duration::ZERO)
        }
    };
    let ending = Ending { directory, keeps, group: AtomicI32::new(0), grace, cleanup: Mutex::new(None) };
    let ending = Arc::new(ending);
    let (go, told) = channel();
    watch(ending.clone(), go);
    let done = match &order.work {
        Work::Plugin(work) => plugin::run(work, &voice, &ending),
        Work::Wrapper(work) => wrapper::run(work, &voice, &ending),
        Work::Compile(_) => {
            voice.say(&Reply::Unusable(b"it compiles nothing without a plugin".to_vec()));
            false
        }
        Work::Distributor(work) => distributor::run(work, &voice, &ending, &told),
    };
    voice.say(&if done { Reply::Done } else { Reply::Failed });
    loop {
        std::thread::park();
    }
}

/// What distributors may take to stop what they have started. Who waits for this process waits longer.
const DISTRIBUTORS_GRACE: Duration = Duration::from_secs(1);

/// Descriptors of less are standard streams and such that a make may have opened for its children.
const FIRST_DESCRIPTOR: c_int = 64;

/// Takes standard output as the way to weld, and lets it be what standard error is.
fn take_streams() -> Option<File> {
    // SAFETY: calls with numbers only; the new descriptor is nobody else's.
    unsafe {
        let voice = libc::fcntl(1, libc::F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
        if voice < 0 || late::dup2()(2, 1) < 0 {
            return None;
        }
        Some(File::from_raw_fd(voice))
    }
}

fn read_order(bytes: &mut Vec<u8>) -> Option<Order<'_>> {
    let mut input = io::stdin().lock();
    let mut length = [0; 8];
    input.read_exact(&mut length).ok()?;
    input.take(u64::from_le_bytes(length)).read_to_end(bytes).ok()?;
    Order::read(bytes)
}

/// Sets a variable for compilers. No other thread looks at any while this one does.
fn set_variable(name: &[u8], value: &[u8]) {
    if let (Ok(name), Ok(value)) = (CString::new(name), CString::new(value)) {
        // SAFETY: terminated strings; one thread works here, and the other waits for its input.
        unsafe { late::setenv()(name.as_ptr(), value.as_ptr(), 1) };
    }
}

fn ignore_signals() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM, libc::SIGXFSZ] {
        // SAFETY: no handler is installed, signals are ignored.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Lets it go on if it was stopped (by `SIGSTOP`, a debugger) when weld is killed, so that it sees that and ends.
fn wake_up_when_weld_is_gone() {
    // SAFETY: numbers only. (The C library's function would be looked up at every start.)
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGCONT, 0, 0, 0) };
}

/// Lets no other thread end this process, which compilers do when their files are removed under them: that
/// thread waits for ever instead.
fn stop_others_from_ending() {
    extern "C" fn at_exit(_: *mut c_void) {
        wait_for_ever();
    }
    extern "C" fn at_signal(_: c_int) {
        wait_for_ever();
    }
    // SAFETY: both functions only wait, which is allowed anywhere.
    unsafe {
        late::__cxa_atexit()(at_exit, std::ptr::null_mut(), std::ptr::null_mut());
        for signal in [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
            libc::signal(signal, at_signal as *const () as libc::sighandler_t);
        }
    }
}

fn wait_for_ever() -> ! {
    loop {
        // SAFETY: no preconditions.
        unsafe { late::pause()() };
    }
}

/// Waits for the end of standard input on a thread of its own, and ends the process then. A byte that comes
/// after the order says that work may begin which waits for that.
fn watch(ending: Arc<Ending>, go: Sender<()>) {
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        let mut input = io::stdin().lock();
        // An error is as good as the end.
        while !matches!(input.read(&mut rest), Ok(0) | Err(_)) {
            // Nobody may be waiting.
            let _ = go.send(());
        }
        ending.end()
    });
}

impl Ending {
    fn end(&self) -> ! {
        let cleanup = self.cleanup.lock().ok().and_then(|mut cleanup| cleanup.take());
        if let Some(cleanup) = cleanup {
            cleanup();
        }
        stop_others_from_ending();
        let group = self.group.load(Ordering::SeqCst);
        if group > 0 {
            self.ask_to_end(group);
            // SAFETY: a group that was made here, and whose leader has not been waited for.
            unsafe { late::kill()(-group, libc::SIGKILL) };
        }
        // Other threads may still make files. When the directory is gone they cannot.
        for _ in 0..if self.keeps { 0 } else { 1000 } {
            if late::remove_directory(&self.directory) || !self.directory.exists() {
                break;
            }
        }
        // SAFETY: no preconditions. What a compiler registered for the end of its process is not wanted: its
        // other threads may be anywhere.
        unsafe { libc::_exit(0) }
    }

    /// Lets the processes of a group end by themselves, if they get time for it.
    fn ask_to_end(&self, group: c_int) {
        let deadline = Instant::now() + self.grace;
        let kill = late::kill();
        if !self.grace.is_zero() {
            // SAFETY: as below.
            unsafe { kill(-group, libc::SIGTERM) };
        }
        // SAFETY: no signal is sent; it is asked whether there is someone.
        while Instant::now() < deadline && unsafe { kill(-group, 0) } == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
