//! What happens when a signal ends the link.
//!
//! - Whatever ends a process by default and can be caught, but for those below: clean up and die by the
//!   same signal, so that the caller sees what happened. To clean up is to remove temporary files and to
//!   give the jobserver's tokens back.
//! - `SIGSEGV`: clean up, and leave the rest to the handler that was there: Rust's says so if the stack
//!   has overflowed.
//! - `SIGXFSZ` is ignored: a write beyond `ulimit -f` then is an error that names the file.
//! - `SIGBUS`: the kernel's way to say that a mapped file has become shorter. If it was an input, name
//!   it, clean up and fail.
//! - `SIGPIPE` stays ignored, as Rust programs start; a failed write is seen where it happens.
//!
//! Handlers may run at any instruction of any thread, also inside the allocator. They only read
//! static memory and nodes that are never freed, and call functions that POSIX lists as
//! async-signal-safe: `unlink`, `write`, `raise`, `_exit`, and `nanosleep`, which has no state.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use weld_common::mapped_file::MappedFile;

use crate::last_words::Words;

/// Bytes in static memory of which a signal handler sees all or nothing.
struct Slot<const N: usize> {
    state: AtomicU8,
    len: AtomicUsize,
    bytes: UnsafeCell<[u8; N]>,
}

const FREE: u8 = 0;
/// Somebody owns the bytes, to write or to remove them.
const BUSY: u8 = 1;
const READY: u8 = 2;
/// The file of this path is being created.
const CREATING: u8 = 3;
/// The tokens have been given back, and the process goes on.
const GIVEN: u8 = 4;

// SAFETY: the bytes are accessed only by whoever set the state to `BUSY` with a compare-exchange, or
// read in state `READY`, in which nobody writes them.
unsafe impl<const N: usize> Sync for Slot<N> {}

impl<const N: usize> Slot<N> {
    const fn new() -> Self {
        Slot { state: AtomicU8::new(FREE), len: AtomicUsize::new(0), bytes: UnsafeCell::new([0; N]) }
    }

    /// Stores `text` if the slot is free and big enough, with room for a zero after it.
    fn fill(&self, text: &[u8]) -> bool {
        self.fill_for(text, READY)
    }

    fn fill_for(&self, text: &[u8], state: u8) -> bool {
        if text.len() >= N || !self.change(FREE, BUSY) {
            return false;
        }
        // SAFETY: the state is `BUSY` and was set here, so nobody else uses the bytes.
        let bytes = unsafe { &mut *self.bytes.get() };
        bytes[..text.len()].copy_from_slice(text);
        bytes[text.len()] = 0;
        self.len.store(text.len(), Ordering::Relaxed);
        self.state.store(state, Ordering::SeqCst);
        true
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// What the slot holds.
    ///
    /// # Safety
    /// The caller took the slot from `READY` to `BUSY`, or it is `READY` and nobody ever takes it.
    unsafe fn text(&self) -> &[u8] {
        let len = self.len.load(Ordering::Relaxed);
        // SAFETY: by the contract nobody writes the bytes while they are borrowed.
        unsafe { &(&*self.bytes.get())[..len] }
    }
}

/// Longest path that system calls take.
const PATH_MAX: usize = 4096;

/// Temporary files: that of the output, and one for each report.
static TEMPS: [Slot<PATH_MAX>; 8] = [const { Slot::new() }; 8];

/// A thread is cleaning up, and the process is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

static PROGRAM: Slot<256> = Slot::new();

/// Tokens of a jobserver that this process holds, one byte each, and where to write them to.
static TOKENS: Slot<256> = Slot::new();
static TOKENS_TO: AtomicI32 = AtomicI32::new(-1);

/// The signal by which a child learns that its parent has ended, or is about to.
const PARENT_IS_GONE: c_int = libc::SIGUSR2;
/// That is nothing to this process any more.
#[cfg(target_os = "linux")]
static OUTLIVES_PARENT: AtomicBool = AtomicBool::new(false);

/// A child that does the work of this process, or 0.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Memory has been refused. If Rust aborts, that is why.
static NO_MEMORY: AtomicBool = AtomicBool::new(false);

/// A thread is handling `SIGBUS`.
static BUS_ERROR: AtomicBool = AtomicBool::new(false);

/// The inputs that are mapped, as a list to whose front nodes are added and never removed.
static INPUTS: AtomicPtr<Input> = AtomicPtr::new(null_mut());

struct Input {
    file: Arc<MappedFile>,
    next: *mut Input,
}

/// The name that messages of handlers start with.
pub fn set_program_name(name: &str) {
    PROGRAM.fill(&name.as_bytes()[..name.len().min(255)]);
}

/// Calls `create`, which makes a temporary file and says whether it did. The file is removed if a signal
/// ends the process, from the moment on at which it exists. One that does not fit into a slot is not.
pub fn create_temp(path: &Path, create: &mut dyn FnMut() -> bool) {
    let path = path.as_os_str().as_bytes();
    // A handler waits for a file that is being created, so none may run on the thread that does it.
    without_signals(|| {
        let slot = TEMPS.iter().find(|slot| slot.fill_for(path, CREATING));
        if ENDING.load(Ordering::SeqCst) {
            // A handler on another thread may have looked already. It ends the process.
            if let Some(slot) = slot {
                slot.state.store(FREE, Ordering::SeqCst);
            }
            loop {
                // SAFETY: no preconditions.
                unsafe { libc::pause() };
            }
        }
        let created = create();
        if let Some(slot) = slot {
            slot.state.store(if created { READY } else { FREE }, Ordering::SeqCst);
        }
    });
}

pub fn forget_temp(path: &Path) {
    let path = path.as_os_str().as_bytes();
    for slot in TEMPS.iter().filter(|slot| slot.change(READY, BUSY)) {
        // SAFETY: the state has just been changed from `READY` to `BUSY` here.
        let same = unsafe { slot.text() } == path;
        slot.state.store(if same { FREE } else { READY }, Ordering::Release);
    }
}

/// Takes tokens from a jobserver, such that they are given back if a signal ends the process. `descriptor`
/// is where to write them to.
pub fn take_tokens(descriptor: c_int, take: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
    // No signal between taking a token and knowing of it.
    without_signals(|| {
        let tokens = take();
        TOKENS_TO.store(descriptor, Ordering::Relaxed);
        TOKENS.fill(&tokens);
        tokens
    })
}

/// Gives the tokens back, unless a handler on another thread has done so.
pub fn return_tokens(give_back: &mut dyn FnMut()) {
    // A handler that finds the slot busy waits, so none may run on the thread that made it so.
    without_signals(|| {
        if TOKENS.change(READY, BUSY) {
            give_back();
            TOKENS.state.store(FREE, Ordering::Release);
        } else if TOKENS.state.load(Ordering::Acquire) == FREE {
            // There were too many to remember.
            give_back();
        }
    });
}

/// Gives the tokens back for good, before the link is over.
#[cfg(target_os = "linux")]
pub fn give_tokens_back() {
    without_signals(|| {
        write_tokens();
        TOKENS.change(BUSY, GIVEN);
    });
}

/// Has this process end when its parent does, as if it were told to.
#[cfg(target_os = "linux")]
pub fn die_with_parent() {
    // SAFETY: sets and an action that are plain data, for which zero is valid, and numbers. The handler has the signature
    // of one without `SA_SIGINFO`. By the number of the last call: the loader would look up its name for every link.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_end_of_parent as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        // Whatever the caller has of it.
        libc::sigaction(PARENT_IS_GONE, &action, null_mut());
        let mut one: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&mut one, PARENT_IS_GONE);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &one, null_mut());
        libc::syscall(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, PARENT_IS_GONE);
    }
}

/// The parent may end from now on. What was asked of the system cannot be taken back on another thread.
#[cfg(target_os = "linux")]
pub fn outlive_parent() {
    OUTLIVES_PARENT.store(true, Ordering::SeqCst);
}

/// Signals that end this process are passed on to a child, which is waited for; 0 is none.
#[cfg(target_os = "linux")]
pub fn pass_on_to(child: libc::pid_t) {
    CHILD.store(child, Ordering::SeqCst);
}

/// Calls `f` while this thread handles no signals.
fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the sets are plain data, filled before they are used.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        result
    }
}

/// An input that is mapped for the rest of the process's life.
pub fn register_input(file: Arc<MappedFile>) {
    let node = Box::into_raw(Box::new(Input { file, next: null_mut() }));
    let mut head = INPUTS.load(Ordering::Relaxed);
    loop {
        // SAFETY: the node is not in the list yet, so only this thread knows it.
        unsafe { (*node).next = head };
        match INPUTS.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// Installs the handlers. Signals that the caller has set to be ignored stay so (`nohup`).
pub fn install() {
    let once = libc::SA_RESETHAND | libc::SA_NODEFER;
    for signal in ENDS.into_iter().chain(ENDS_HERE).chain(real_time()) {
        set_handler(signal, on_termination as *const () as usize, once);
    }
    // Stays: several threads may come upon the same input.
    set_handler(libc::SIGBUS, on_bus_error as *const () as usize, 0);
    set_handler(libc::SIGXFSZ, libc::SIG_IGN, 0);
    if let Some(before) = set_handler(libc::SIGSEGV, on_segmentation_fault as *const () as usize, 0) {
        // SAFETY: only this thread runs, and no signal has come: the handler is not in use yet.
        unsafe { *BEFORE.0.get() = before };
    }
}

/// Signals that end a process by default, but for those that have a handler of their own. `SIGPIPE` is
/// ignored, and `SIGKILL` cannot be caught.
const ENDS: [c_int; 15] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGSYS,
];

/// Those that do only on Linux, or are there only.
#[cfg(target_os = "linux")]
const ENDS_HERE: [c_int; 3] = [libc::SIGSTKFLT, libc::SIGIO, libc::SIGPWR];
#[cfg(not(target_os = "linux"))]
const ENDS_HERE: [c_int; 0] = [];

/// Signals for whatever programs agree on.
fn real_time() -> std::ops::Range<c_int> {
    #[cfg(target_os = "linux")]
    return libc::SIGRTMIN()..libc::SIGRTMAX() + 1;
    #[cfg(not(target_os = "linux"))]
    return 0..0;
}

/// Why the processor could not read or write memory (`BUS_*`), as opposed to that somebody has sent the signal.
const BUS_CODES: std::ops::RangeInclusive<c_int> = 1..=5;

/// What was to happen on `SIGSEGV` before [`install`].
struct Before(UnsafeCell<libc::sigaction>);

// SAFETY: written once, before there are threads.
unsafe impl Sync for Before {}

// SAFETY: plain data, for which zero is valid and means the default action.
static BEFORE: Before = Before(UnsafeCell::new(unsafe { std::mem::zeroed() }));

/// Sets what happens on a signal, unless the caller has it ignored. What was to happen until now.
fn set_handler(signal: c_int, handler: usize, flags: c_int) -> Option<libc::sigaction> {
    // SAFETY: both structures are plain data for which zero is valid; the handlers have the signature
    // that `SA_SIGINFO` asks for. `SA_RESETHAND` and `SA_NODEFER`, if given, make a signal that a handler
    // raises again end the process; all others wait, since a handler may wait for what it interrupts.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
        libc::sigfillset(&mut new.sa_mask);
        if flags & libc::SA_NODEFER != 0 {
            libc::sigdelset(&mut new.sa_mask, signal);
        }
        let mut old: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, &new, &mut old) != 0 {
            return None;
        }
        // One call is enough for nearly all; asking first would make it two for each.
        if old.sa_sigaction == libc::SIG_IGN {
            libc::sigaction(signal, &old, null_mut());
            return None;
        }
        Some(old)
    }
}

/// The fault comes again when this returns, and then goes where it would have gone.
extern "C" fn on_segmentation_fault(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    clean_up();
    // SAFETY: the kernel passes a valid structure.
    if unsafe { (*info).si_code } > 0 {
        // SAFETY: `BEFORE` was written before this handler could run.
        unsafe { libc::sigaction(signal, BEFORE.0.get(), null_mut()) };
        return;
    }
    end_by(signal);
}

extern "C" fn on_termination(signal: c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    if signal == libc::SIGABRT && NO_MEMORY.load(Ordering::Relaxed) {
        die_of_memory();
    }
    clean_up();
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // By a signal of its own: a second one like that which it may have got, too, would end it while it cleans up.
        // SAFETY: a child of this process; how it ends is not asked for.
        unsafe {
            libc::kill(child, PARENT_IS_GONE);
            libc::waitpid(child, null_mut(), 0);
        }
    }
    // SAFETY: no preconditions; the default action is in force again and ends the process.
    unsafe { libc::raise(signal) };
}

#[cfg(target_os = "linux")]
extern "C" fn on_end_of_parent(_: c_int) {
    if !OUTLIVES_PARENT.load(Ordering::SeqCst) {
        clean_up();
        end_by(libc::SIGKILL);
    }
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure, whose address field is set for codes above zero.
    let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
    while BUS_ERROR.swap(true, Ordering::AcqRel) {
        // Another thread says what happened and ends the process.
        // SAFETY: no preconditions.
        unsafe { libc::pause() };
    }
    clean_up();
    if BUS_CODES.contains(&code) {
        match find_input(|file| is_mapped_at(file, address)) {
            Some(file) => say(changed(file)),
            None => say(Words::MappedFile),
        }
        // SAFETY: no preconditions.
        unsafe { libc::_exit(1) };
    }
    end_by(signal);
}

/// Somebody sent the signal. It waits until the handler returns, and then ends the process.
pub fn end_by(signal: c_int) {
    // SAFETY: no preconditions.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn changed(file: &MappedFile) -> Words<'_> {
    Words::Changed(file.path.as_os_str().as_bytes())
}

/// The first input in the list that the condition holds for.
fn find_input(condition: impl Fn(&MappedFile) -> bool) -> Option<&'static MappedFile> {
    let mut node = INPUTS.load(Ordering::Acquire);
    // SAFETY: nodes in the list were complete when they were added, and are neither changed nor freed.
    while let Some(input) = unsafe { node.as_ref() } {
        if condition(&input.file) {
            return Some(&input.file);
        }
        node = input.next;
    }
    None
}

/// Whether the address lies in the file's pages. Faults come anywhere in the last one, also after the
/// length.
fn is_mapped_at(file: &MappedFile, address: usize) -> bool {
    let len = file.len.next_multiple_of(4096);
    address.checked_sub(file.start).is_some_and(|offset| offset < len)
}

fn clean_up() {
    remove_temps();
    write_tokens();
}

/// Gives the tokens back, and leaves the slot busy so that nobody does it again. Who finds it busy waits:
/// another thread is about to end the process, or to give them back in the ordinary way.
fn write_tokens() {
    while !matches!(TOKENS.state.load(Ordering::Acquire), FREE | GIVEN) {
        if TOKENS.change(READY, BUSY) {
            // SAFETY: the state has just been changed from `READY` to `BUSY` here, and stays.
            let tokens = unsafe { TOKENS.text() };
            let to = TOKENS_TO.load(Ordering::Relaxed);
            // SAFETY: the pointer and the length are those of a slice. The pipe has room: they came from it.
            unsafe { libc::write(to, tokens.as_ptr().cast(), tokens.len()) };
            return;
        }
        std::hint::spin_loop();
    }
}

fn remove_temps() {
    // From now on no file is created: either this thread sees that one is being created, or that one's
    // thread sees this.
    ENDING.store(true, Ordering::SeqCst);
    for slot in &TEMPS {
        // It takes no time, unless the file system hangs, or if that thread is this one: memory may be
        // refused to it.
        for _ in 0..1000 {
            if slot.state.load(Ordering::SeqCst) != CREATING {
                break;
            }
            let millisecond = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            // SAFETY: a valid structure; nothing is to be told.
            unsafe { libc::nanosleep(&millisecond, null_mut()) };
        }
        if slot.change(READY, BUSY) || slot.change(CREATING, BUSY) {
            // SAFETY: the state has just been changed to `BUSY` here and stays; the path ends with a zero.
            unsafe { libc::unlink(slot.text().as_ptr().cast()) };
        }
    }
}

fn say(words: Words) {
    let is_known = PROGRAM.state.load(Ordering::Acquire) == READY;
    // SAFETY: the slot is ready, and nobody takes it.
    let program = is_known.then(|| unsafe { PROGRAM.text() });
    words.say(program, &mut |part| write_all(part));
}

fn write_all(mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the pointer and the length are those of a slice.
        let written = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => text = &text[written.min(text.len())..],
            _ => return,
        }
    }
}

/// Whether a terminal shows colours when it is told to.
pub fn console_has_colors() -> bool {
    true
}

/// How many columns the terminal has that standard output goes to. By the call's number: the loader would
/// look up its name for every link.
#[cfg(target_os = "linux")]
pub fn terminal_width() -> Option<usize> {
    // SAFETY: numbers, for which zeros do.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: a place for what this call writes.
    let failed =
        unsafe { libc::syscall(libc::SYS_ioctl, libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (failed == 0 && size.ws_col > 0).then_some(size.ws_col.into())
}

/// Not asked for.
#[cfg(not(target_os = "linux"))]
pub fn terminal_width() -> Option<usize> {
    None
}

/// Somebody was refused memory, who may be able to do without.
pub fn note_refused_memory() {
    NO_MEMORY.store(true, Ordering::Relaxed);
}

/// Ends the process for want of memory.
pub fn die_of_memory() -> ! {
    clean_up();
    say(Words::NoMemory);
    // SAFETY: no preconditions.
    unsafe { libc::_exit(1) }
}

/// Ends the process with `code` because of a panic: cleans up and prints `text`. If an input has changed since
/// it was opened, that is the reason: what was checked is no longer what is there.
pub fn die_of_panic(text: &str, code: i32) -> ! {
    clean_up();
    match find_input(MappedFile::has_changed) {
        Some(file) => say(changed(file)),
        None => say(Words::Bug(text)),
    }
    // SAFETY: no preconditions.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests;
