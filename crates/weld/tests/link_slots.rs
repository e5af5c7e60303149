//! Several links at once: who waits, what it says, and what a limit of memory does.
#![cfg(target_os = "linux")]

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use weld_common::host::Host;
use weld_common::link_slots::{LinkSlots, Sharing, Turn, turn};

const WELD: &str = env!("CARGO_BIN_EXE_weld");

/// As large as a link has to be to ask others; nearly all of it is a hole.
const LARGE: u64 = 80 << 20;

/// A directory with an object that is large, and one for links. It goes away with its test.
struct Machine {
    dir: PathBuf,
}

/// Another process's link, as this one sees it.
struct Other(PathBuf);

impl Host for Other {
    fn print(&self, _text: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn link_directory(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }
}

impl Machine {
    fn new(name: &str) -> Machine {
        let dir = std::env::temp_dir().join(format!("weld-link-slots-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-c", "-x", "c", "-", "-o"]).arg(dir.join("a.o")).stdin(Stdio::piped());
        let mut gcc = gcc.spawn().unwrap();
        gcc.stdin.take().unwrap().write_all(b"void _start(void) {}").unwrap();
        assert!(gcc.wait().unwrap().success());
        // What follows an object's last section is nobody's.
        let object = std::fs::OpenOptions::new().write(true).open(dir.join("a.o")).unwrap();
        object.set_len(LARGE).unwrap();
        Machine { dir }
    }

    fn links(&self) -> PathBuf {
        self.dir.join("links")
    }

    /// The link of somebody else that runs and will take so many bytes.
    fn other(&self, need: u64) -> Turn {
        let turn = turn(&Sharing::default(), (LARGE, need), &Other(self.links()), || ());
        assert!(turn.is_shared());
        turn
    }

    fn start(&self, line: &str) -> Child {
        let mut weld = Command::new(WELD);
        weld.args(line.split_whitespace())
            .current_dir(&self.dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        weld.env("WELD_LINK_DIRECTORY", self.links()).env_remove("WELD_LINK_SLOTS").spawn().unwrap()
    }

    fn link(&self, line: &str) -> Output {
        self.start(line).wait_with_output().unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `--stats` says in lines of 80 characters, in one.
fn unwrapped(text: &str) -> String {
    text.replace("\n  ", " ")
}

#[test]
fn a_link_waits_for_another_one_and_leaves_nothing() {
    let machine = Machine::new("wait");
    let other = machine.other(1 << 20);
    let mut waiting = machine.start("a.o -o waits --link-slots=1 --stats");
    std::thread::sleep(Duration::from_millis(400));
    assert!(waiting.try_wait().unwrap().is_none() && !machine.dir.join("waits").exists());
    // Who does not want to share does not wait, and neither does one for which there is a slot.
    said(&machine.link("a.o -o off --link-slots=off"));
    let beside = unwrapped(&said(&machine.link("a.o -o beside --link-slots=8 --stats")));
    assert!(beside.contains("1 links beside it"), "{beside}");
    drop(other);
    let text = unwrapped(&said(&waiting.wait_with_output().unwrap()));
    assert!(text.contains("for other links"), "{text}");
    let [first, second, third] =
        ["waits", "off", "beside"].map(|name| std::fs::read(machine.dir.join(name)).unwrap());
    assert!(first == second && second == third);
    let left: Vec<_> =
        std::fs::read_dir(machine.links()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["lock"]);
}

#[test]
fn what_does_not_fit_into_memory_waits() {
    let machine = Machine::new("memory");
    let other = machine.other(1 << 50);
    let mut waiting = machine.start("a.o -o waits --link-slots=8");
    std::thread::sleep(Duration::from_millis(300));
    assert!(waiting.try_wait().unwrap().is_none());
    drop(other);
    said(&waiting.wait_with_output().unwrap());
}

#[test]
fn a_link_that_was_killed_is_not_waited_for() {
    let machine = Machine::new("killed");
    let other = machine.other(1 << 20);
    let mut killed = machine.start("a.o -o killed --link-slots=1");
    // The lock, the other link and this one.
    let start = std::time::Instant::now();
    while std::fs::read_dir(machine.links()).unwrap().count() < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not wait");
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(other);
    assert_eq!(
        std::fs::read_dir(machine.links()).unwrap().count(),
        2,
        "the lock, and what the killed one left"
    );
    said(&machine.link("a.o -o out --link-slots=1"));
    assert_eq!(std::fs::read_dir(machine.links()).unwrap().count(), 1);
}

#[test]
fn the_variable_and_values_that_are_none() {
    let machine = Machine::new("variable");
    let other = machine.other(1 << 20);
    let command = |value: &str| {
        let mut weld = Command::new(WELD);
        weld.args(["a.o", "-o", "out"]).current_dir(&machine.dir).env("WELD_LINK_DIRECTORY", machine.links());
        weld.env("WELD_LINK_SLOTS", value);
        weld
    };
    let link = |value: &str| command(value).spawn().unwrap();
    let mut waiting = link("1");
    assert!(link("off").wait().unwrap().success());
    assert!(waiting.try_wait().unwrap().is_none());
    drop(other);
    assert!(waiting.wait().unwrap().success());
    for wrong in ["--link-slots=few", "--memory=0", "--memory=much"] {
        let output = machine.link(&format!("a.o -o out {wrong}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains(&wrong[..8]), "{text}");
    }
    assert_eq!(LinkSlots::parse("few"), None);
    let output = command("few").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && text.contains("warning: ") && text.contains("WELD_LINK_SLOTS is 'few'")
    );
}

#[test]
fn a_link_keeps_to_its_memory_or_says_so() {
    let machine = Machine::new("limit");
    std::fs::write(machine.dir.join("out"), "old").unwrap();
    let output = machine.link("a.o -o out --memory=100K --error-format=json");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("\"memory-limit\"") && text.contains("--memory allows (1 MiB)"), "{text}");
    assert_eq!(std::fs::read(machine.dir.join("out")).unwrap(), b"old");
    said(&machine.link("a.o -o out --memory=500M"));
    let flavours = [
        "-flavor link /entry:_start /memory:500M /link-slots:off",
        "-m i386pep --memory=500M --link-slots=off",
    ];
    for line in flavours {
        let output = machine.link(&format!("{line} --help"));
        assert!(output.status.success(), "{line}");
    }
}

/// One thread less than asked for where memory is short; as many as asked for if a number is given.
#[test]
fn fewer_threads_where_memory_is_short() {
    let machine = Machine::new("threads");
    let threads = |line: &str| {
        let text = said(&machine.link(&format!("a.o -o out --stats {line}")));
        let line = text.lines().find(|line| line.starts_with("threads:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    assert_eq!((threads("--memory=30M"), threads("--memory=30M --threads=2")), (1, 2));
    assert_eq!(threads("--memory=3000M"), std::thread::available_parallelism().unwrap().get().min(32));
}
