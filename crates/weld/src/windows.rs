//! What happens on Windows when somebody ends the link, and what its consoles can do: what `signals.rs` does
//! on other systems.
//!
//! The system tells of Ctrl-C, Ctrl-Break and a console that is closed on a thread of its own, so a handler
//! may do anything. It removes temporary files and lets the system end the process. There are no jobservers
//! whose tokens would have to be given back: make passes semaphores here, which are not used.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use weld_common::mapped_file::MappedFile;
use windows_sys::Win32::System::Console::{
    ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode, GetStdHandle, STD_ERROR_HANDLE,
    SetConsoleCtrlHandler, SetConsoleMode,
};

use crate::last_words::Words;

static PROGRAM: Mutex<String> = Mutex::new(String::new());
static TEMPS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static INPUTS: Mutex<Vec<Arc<MappedFile>>> = Mutex::new(Vec::new());

/// What is in it, whoever panicked with it in hand.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The name that messages start with.
pub fn set_program_name(name: &str) {
    name.clone_into(&mut lock(&PROGRAM));
}

/// Calls `create`, which makes a temporary file and says whether it did. The file is removed if the process
/// is ended.
pub fn create_temp(path: &Path, create: &mut dyn FnMut() -> bool) {
    // A handler waits meanwhile.
    let mut temps = lock(&TEMPS);
    if create() {
        temps.push(path.to_owned());
    }
}

pub fn forget_temp(path: &Path) {
    lock(&TEMPS).retain(|temp| temp != path);
}

pub fn take_tokens(_: i32, take: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
    take()
}

pub fn return_tokens(give_back: &mut dyn FnMut()) {
    give_back();
}

/// An input that is mapped for the rest of the process's life.
pub fn register_input(file: Arc<MappedFile>) {
    lock(&INPUTS).push(file);
}

/// Has temporary files removed when somebody ends the process.
pub fn install() {
    // SAFETY: the handler is a function that stays.
    unsafe { SetConsoleCtrlHandler(Some(on_end), 1) };
}

unsafe extern "system" fn on_end(_: u32) -> i32 {
    clean_up();
    // The system goes on as if nobody had looked: it ends the process.
    0
}

fn clean_up() {
    // Those who make files have to wait until the process is gone, so the lock is kept.
    let temps = lock(&TEMPS);
    temps.iter().for_each(|path| _ = std::fs::remove_file(path));
    std::mem::forget(temps);
}

/// Whether a terminal shows colours when it is told to: consoles of Windows do if they are asked to.
pub fn console_has_colors() -> bool {
    let mut mode = 0;
    // SAFETY: a handle of this process, and a number that lives through the call.
    unsafe {
        let console = GetStdHandle(STD_ERROR_HANDLE);
        GetConsoleMode(console, &mut mode) != 0
            && SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0
    }
}

/// How many columns the terminal has that standard output goes to: not asked for.
pub fn terminal_width() -> Option<usize> {
    None
}

/// Somebody was refused memory, who may be able to do without. If not, Rust's own message says so.
pub fn note_refused_memory() {}

/// Ends the process for want of memory.
pub fn die_of_memory() -> ! {
    clean_up();
    say(Words::NoMemory);
    // SAFETY: no preconditions.
    unsafe { libc::_exit(1) }
}

/// Ends the process with `code` because of a panic: cleans up and prints `text`. If an input has changed since it was
/// opened, that is the reason.
pub fn die_of_panic(text: &str, code: i32) -> ! {
    clean_up();
    let inputs = lock(&INPUTS);
    match inputs.iter().find(|file| file.has_changed()) {
        Some(file) => say(Words::Changed(file.path.display().to_string().as_bytes())),
        None => say(Words::Bug(text)),
    }
    // SAFETY: no preconditions.
    unsafe { libc::_exit(code) }
}

fn say(words: Words) {
    let program = PROGRAM.try_lock().map(|name| name.clone()).unwrap_or_default();
    let mut text = Vec::new();
    words.say(Some(program.as_bytes()), &mut |part| text.extend_from_slice(part));
    // Nobody is left to be told that it failed.
    _ = std::io::stderr().write_all(&text);
}
