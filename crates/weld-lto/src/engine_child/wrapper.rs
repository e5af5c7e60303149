//! Runs GCC's `lto-wrapper` and passes on what it prints: the paths of objects, a line each.
//!
//! It runs a compiler for each part of the program, under `make` if there are several, so it gets a process
//! group of its own, by which all of them are stopped when weld is gone. Descriptors of a make's jobserver
//! are still open, as weld was given them, and `MAKEFLAGS` says where they are.

use std::ffi::CString;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::Ordering;

use weld_common::text::os_str;

use super::program::{self, start, wait};
use super::{Ending, Voice, set_variable};
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
    let (pid, output) = match start(&words, true) {
        Ok(started) => started,
        Err(e) => {
            voice.say(&Reply::Unusable(weld_common::io::reason(&e).into_bytes()));
            return false;
        }
    };
    ending.group.store(pid, Ordering::SeqCst);
    voice.say(&Reply::Ready(Vec::new()));
    let mut printed = Vec::new();
    let read = output.map_or(Ok(0), |mut output| output.read_to_end(&mut printed));
    let status = wait(pid);
    ending.group.store(0, Ordering::SeqCst);
    for line in printed.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        voice.say(&Reply::Object(line.to_vec()));
    }
    if let Err(e) = read {
        voice.error(weld_common::io::reason(&e));
        return false;
    }
    match program::failure(status) {
        None => true,
        Some(how) => {
            voice.error(format!("lto-wrapper ended with {how}"));
            false
        }
    }
}
