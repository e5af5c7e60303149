//! Signals end processes, so each test runs this test program again as a child that gets one.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Output};

use super::*;
use crate::last_words;

const ROLE: &str = "WELD_SIGNAL_TEST";

/// A file's name in the temporary directory, the same in parent and child.
fn path_for(role: &str) -> PathBuf {
    std::env::temp_dir().join(format!("weld-signal-test-{role}"))
}

/// The test `child` below, to run in a process of its own, in which signals do what they do by default. This
/// process may ignore some: whoever starts it in the background has it so.
fn child_command(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["signals::tests::child", "--exact", "--nocapture"]).env(ROLE, role);
    let reset = || {
        for signal in ENDS.into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX()) {
            // SAFETY: no handler is installed.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made.
    unsafe { command.pre_exec(reset) };
    command
}

/// Runs the test `child` below in a process of its own. Returns its end, and whether the temporary
/// file is there after it.
fn run_child(role: &str) -> (Output, bool) {
    let temp = path_for(role);
    std::fs::write(&temp, "x").unwrap();
    let output = child_command(role).output().unwrap();
    let left = temp.exists();
    let _ = std::fs::remove_file(&temp);
    (output, left)
}

/// Runs a child that holds the tokens `ab` of a pipe. Returns its end, and what the pipe holds after it.
fn run_with_tokens(role: &str) -> (Output, String) {
    let (mut read, write) = std::io::pipe().unwrap();
    let mut command = child_command(role);
    // SAFETY: between fork and exec only a system call is made, which lets the child have the descriptor.
    let output = unsafe {
        let descriptor = write.as_raw_fd();
        let hand_over = move || match libc::dup2(descriptor, TOKEN_PIPE) {
            TOKEN_PIPE => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        };
        command.pre_exec(hand_over).output().unwrap()
    };
    drop(write);
    let mut tokens = String::new();
    read.read_to_string(&mut tokens).unwrap();
    (output, tokens)
}

/// The descriptor of the pipe in children that hold tokens.
const TOKEN_PIPE: c_int = 100;

/// What a child does while it holds tokens.
fn end_with_tokens(role: &str) {
    assert_eq!(take_tokens(TOKEN_PIPE, &mut || b"ab".to_vec()), b"ab");
    // SAFETY: raising a signal has no preconditions; the slice is valid.
    match role {
        "tokens-int" => _ = unsafe { libc::raise(libc::SIGINT) },
        "tokens-term" => _ = unsafe { libc::raise(libc::SIGTERM) },
        "tokens-thread" => {
            let raise = || unsafe { libc::raise(libc::SIGTERM) };
            std::thread::spawn(raise).join().unwrap();
        }
        "tokens-abort" => std::process::abort(),
        "tokens-panic" => die_of_panic("oh no\n", 1),
        "tokens-returned" => {
            let give_back = || _ = unsafe { libc::write(TOKEN_PIPE, b"ab".as_ptr().cast(), 2) };
            return_tokens(&mut { give_back });
            unsafe { libc::raise(libc::SIGTERM) };
        }
        #[cfg(target_os = "linux")]
        "tokens-early" => {
            give_tokens_back();
            return_tokens(&mut || _ = unsafe { libc::write(TOKEN_PIPE, b"cd".as_ptr().cast(), 2) });
            unsafe { libc::raise(libc::SIGTERM) };
        }
        other => panic!("{other}"),
    }
}

/// An input that is said to be mapped.
fn mapped(path: &Path, start: usize, len: usize) -> Arc<MappedFile> {
    let meta = std::fs::metadata(path).unwrap_or_else(|_| std::fs::metadata("/").unwrap());
    Arc::new(MappedFile::new(path, start, len, &meta))
}

/// What a child does; nothing in an ordinary run.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    set_program_name("ld");
    install();
    if role.starts_with("tokens") {
        return end_with_tokens(&role);
    }
    let temp = path_for(&role);
    if role == "creating" {
        std::fs::remove_file(&temp).unwrap();
        let create = || {
            // Long enough for the handler to look.
            std::thread::sleep(std::time::Duration::from_millis(100));
            std::fs::write(&temp, "x").is_ok()
        };
        std::thread::scope(|scope| {
            scope.spawn(|| create_temp(&temp, &mut { create }));
            std::thread::sleep(std::time::Duration::from_millis(20));
            // SAFETY: no preconditions.
            unsafe { libc::raise(libc::SIGTERM) };
        });
        return;
    }
    create_temp(&temp, &mut || true);
    match role.as_str() {
        // SAFETY: no preconditions.
        "term" => _ = unsafe { libc::raise(libc::SIGTERM) },
        "forgotten" => {
            forget_temp(&temp);
            // SAFETY: no preconditions.
            unsafe { libc::raise(libc::SIGINT) };
        }
        "bus" | "bus-json" | "other-bus" => {
            let input = path_for("input");
            std::fs::write(&input, [1; 100]).unwrap();
            let file = File::options().read(true).write(true).open(&input).unwrap();
            // SAFETY: a new mapping of an open file touches no other memory.
            let map = unsafe {
                libc::mmap(null_mut(), 100, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
            };
            assert_ne!(map, libc::MAP_FAILED);
            if role == "bus-json" {
                last_words::become_json();
            }
            if role != "other-bus" {
                register_input(mapped(&input, map.addr(), 100));
            }
            register_input(mapped(&path_for("before"), map.addr() - 4096, 4096));
            file.set_len(0).unwrap();
            // SAFETY: the page is mapped; that the file no longer has it is what is tested.
            unsafe { map.cast::<u8>().read_volatile() };
        }
        "panic" => die_of_panic("oh no\n", 1),
        "changed" => {
            let input = path_for("changed-input");
            std::fs::write(&input, "x").unwrap();
            register_input(mapped(&input, 0, 1));
            std::fs::write(&input, "longer").unwrap();
            die_of_panic("oh no\n", 1);
        }
        "large" => {
            let limit = libc::rlimit { rlim_cur: 10, rlim_max: 10 };
            // SAFETY: a valid structure.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
            let error = std::fs::write(&temp, [0; 20]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
            die_of_panic("too large\n", 1);
        }
        "overflow" => {
            #[expect(unconditional_recursion, reason = "that is what is tested")]
            fn deep(n: u64) -> u64 {
                let wide = std::hint::black_box([n; 1000]);
                deep(n + 1) + wide[7]
            }
            std::hint::black_box(deep(0));
        }
        // SAFETY: no preconditions.
        signal if signal.starts_with("signal-") => unsafe {
            libc::raise(signal["signal-".len()..].parse().unwrap());
        },
        other => panic!("{other}"),
    }
}

#[test]
fn termination_removes_the_temporary_file() {
    let (output, left) = run_child("term");
    assert_eq!((output.status.signal(), left), (Some(libc::SIGTERM), false));
}

#[test]
fn whatever_ends_the_process_removes_the_temporary_file() {
    for signal in ENDS.into_iter().chain([libc::SIGSEGV, libc::SIGBUS, libc::SIGRTMIN(), libc::SIGRTMAX()]) {
        let (output, left) = run_child(&format!("signal-{signal}"));
        assert_eq!((output.status.signal(), left), (Some(signal), false), "{output:?}");
    }
    let (output, left) = run_child("overflow");
    assert_eq!((output.status.signal(), left), (Some(libc::SIGABRT), false));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has overflowed its stack"), "{output:?}");
}

#[test]
fn a_file_that_is_being_created_is_removed() {
    let (output, left) = run_child("creating");
    assert_eq!((output.status.signal(), left), (Some(libc::SIGTERM), false));
}

#[test]
fn the_limit_on_file_sizes_is_an_error_and_no_signal() {
    let (output, left) = run_child("large");
    assert_eq!((output.status.code(), left), (Some(1), false), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "ld: too large\n");
}

#[test]
fn a_panic_over_an_input_that_changed_names_it() {
    let (output, left) = run_child("changed");
    let input = path_for("changed-input");
    let text = format!("ld: error: input file {} changed while it was being linked\n", input.display());
    assert_eq!(String::from_utf8_lossy(&output.stderr), text);
    assert_eq!((output.status.code(), left), (Some(1), false));
    let _ = std::fs::remove_file(input);
}

#[test]
fn a_file_that_became_the_output_stays() {
    let (output, left) = run_child("forgotten");
    assert_eq!((output.status.signal(), left), (Some(libc::SIGINT), true));
}

#[test]
fn an_input_that_shrinks_is_named() {
    let (output, left) = run_child("bus");
    let input = path_for("input");
    let text = format!("ld: error: input file {} changed while it was being linked\n", input.display());
    assert_eq!(String::from_utf8_lossy(&output.stderr), text);
    assert_eq!((output.status.code(), left), (Some(1), false));
    let (output, _) = run_child("bus-json");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("{\"level\":\"error\",\"code\":\"input-changed\",\"message\":\"input file "),
        "{said}"
    );
    let (output, left) = run_child("other-bus");
    assert!(String::from_utf8_lossy(&output.stderr).contains("a mapped file could not be read or written"));
    assert_eq!((output.status.code(), left), (Some(1), false));
    let _ = std::fs::remove_file(input);
}

#[test]
fn a_bug_leaves_no_temporary_file() {
    let (output, left) = run_child("panic");
    assert_eq!((output.status.code(), left), (Some(1), false));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "ld: oh no\n");
}

#[test]
fn tokens_are_given_back_once_however_the_process_ends() {
    let roles =
        ["tokens-int", "tokens-term", "tokens-thread", "tokens-abort", "tokens-panic", "tokens-returned"];
    let of_linux = cfg!(target_os = "linux").then_some("tokens-early");
    for role in roles.into_iter().chain(of_linux) {
        let (output, tokens) = run_with_tokens(role);
        assert_eq!(tokens, "ab", "{role}");
        assert!(!output.status.success(), "{role}");
    }
}

#[test]
fn slots_are_used_again() {
    let slot: Slot<8> = Slot::new();
    assert!(!slot.fill(b"12345678") && slot.fill(b"1234567") && !slot.fill(b"1"));
    assert!(slot.change(READY, BUSY));
    // SAFETY: taken in the line above.
    assert_eq!(unsafe { slot.text() }, b"1234567");
    slot.state.store(FREE, Ordering::Release);
    assert!(slot.fill(b"1"));
}
