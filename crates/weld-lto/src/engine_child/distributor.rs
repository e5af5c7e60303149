//! Runs a distributor of compilations (`--thinlto-distributor=`): a program that reads what has to be
//! compiled from a file and leaves an object for each job.
//!
//! It is told to begin when weld has written that file. What it prints goes to weld as what engines print
//! does. It may start compilers, or wait for those of other machines, so it gets a process group of its own
//! and, when weld is gone, a moment to end what it has started.

use std::ffi::CString;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

use super::program::{failure, start, wait};
use super::{Ending, Voice};
use crate::protocol::{Distributor, Reply};

/// Whether it succeeded; if not, why has been said.
pub fn run(work: &Distributor<'_>, voice: &Voice, ending: &Ending, go: &Receiver<()>) -> bool {
    let words = std::iter::once(&work.program).chain(&work.args).map(|word| CString::new(&**word));
    let Ok(words) = words.collect::<Result<Vec<_>, _>>() else {
        voice.say(&Reply::Unusable(b"an argument has a zero byte in it".to_vec()));
        return false;
    };
    voice.say(&Reply::Ready(Vec::new()));
    if go.recv().is_err() {
        return false;
    }
    let pid = match start(&words, false) {
        Ok((pid, _)) => pid,
        Err(e) => {
            voice.say(&Reply::Unusable(weld_common::io::reason(&e).into_bytes()));
            return false;
        }
    };
    ending.group.store(pid, Ordering::SeqCst);
    let status = wait(pid);
    ending.group.store(0, Ordering::SeqCst);
    match failure(status) {
        None => true,
        Some(how) => {
            voice.error(format!("it ended with {how}"));
            false
        }
    }
}
