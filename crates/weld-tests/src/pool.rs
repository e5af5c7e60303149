//! Worker processes.
//!
//! The parent starts a few copies of itself with `--worker`, writes test names to them and reads
//! results back. A worker that dies or is silent for too long loses the test it was on and is
//! replaced. Replies are `STATUS LENGTH\n` and LENGTH bytes of text.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed(String),
    /// Not run, or failed as expected, and why.
    Skipped(String),
}

impl Outcome {
    fn encode(&self) -> Vec<u8> {
        let (status, text) = match self {
            Outcome::Passed => ("passed", ""),
            Outcome::Failed(t) => ("failed", t.as_str()),
            Outcome::Skipped(t) => ("skipped", t.as_str()),
        };
        format!("{status} {}\n{text}", text.len()).into_bytes()
    }

    fn decode(status: &str, text: String) -> Outcome {
        match status {
            "passed" => Outcome::Passed,
            "skipped" => Outcome::Skipped(text),
            _ => Outcome::Failed(text),
        }
    }
}

const LIMIT: Duration = Duration::from_secs(900);

/// Runs all `names` on `jobs` workers started with `args`; `report` is called once for each, in
/// order of completion.
pub fn run(names: &[String], jobs: usize, args: &[String], report: impl Fn(&str, Outcome, Duration) + Sync) {
    let queue: Mutex<VecDeque<&String>> = Mutex::new(names.iter().collect());
    let next = || queue.lock().ok().and_then(|mut q| q.pop_front());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                let mut worker = None;
                while let Some(name) = next() {
                    let start = Instant::now();
                    let outcome = one(&mut worker, name, args);
                    report(name, outcome, start.elapsed());
                }
            });
        }
    });
}

struct Worker {
    child: Child,
    /// What it wrote to standard error: the last words of a process that dies.
    log: PathBuf,
    replies: Receiver<Outcome>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing its input ends an idle worker; one that hangs is killed.
        drop(self.child.stdin.take());
        if self.child.try_wait().ok().flatten().is_none() {
            std::thread::sleep(Duration::from_millis(20));
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.log);
    }
}

fn one(slot: &mut Option<Worker>, name: &str, args: &[String]) -> Outcome {
    let worker = match slot {
        Some(w) => w,
        None => match start(args) {
            Ok(w) => slot.insert(w),
            Err(e) => return Outcome::Failed(format!("cannot start a worker: {e}")),
        },
    };
    let sent = worker.child.stdin.as_mut().map(|s| writeln!(s, "{name}").and_then(|()| s.flush()));
    if !matches!(sent, Some(Ok(()))) {
        *slot = None;
        return Outcome::Failed("the worker is gone".to_owned());
    }
    match worker.replies.recv_timeout(LIMIT) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => {
            *slot = None;
            Outcome::Failed(format!("no result after {} s", LIMIT.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => {
            let status = worker.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
            let words = std::fs::read_to_string(&worker.log).unwrap_or_default();
            *slot = None;
            Outcome::Failed(format!("the linker took its process down: {status}\n{words}"))
        }
    }
}

fn start(args: &[String]) -> std::io::Result<Worker> {
    let mut command = Command::new(std::env::current_exe()?);
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let log = std::env::temp_dir().join(format!("weld-e2e.{}.{number}.log", std::process::id()));
    command.arg("--worker").args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(std::fs::File::create(&log)?).spawn()?;
    let (send, replies) = channel();
    let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("no pipe"))?;
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|n| n > 0) {
            let Some((status, len)) = line.trim_end().split_once(' ') else { break };
            let mut text = vec![0; len.parse().unwrap_or(0)];
            if reader.read_exact(&mut text).is_err() {
                break;
            }
            let text = String::from_utf8_lossy(&text).into_owned();
            if send.send(Outcome::decode(status, text)).is_err() {
                break;
            }
            line.clear();
        }
    });
    Ok(Worker { child, log, replies })
}

/// The worker's side: answers each name on standard input.
pub fn serve(run: impl Fn(&str) -> Outcome) -> std::io::Result<()> {
    let mut out = private_stdout()?;
    for line in std::io::stdin().lock().lines() {
        out.write_all(&run(&line?).encode())?;
        out.flush()?;
    }
    Ok(())
}

/// Moves standard output to a descriptor of its own, so that nothing a test prints by mistake can
/// get between the replies.
fn private_stdout() -> std::io::Result<std::fs::File> {
    use std::os::fd::{AsFd, AsRawFd};
    let private = std::io::stdout().as_fd().try_clone_to_owned()?;
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    // SAFETY: both descriptors are open; nothing else of this process uses descriptor 1 yet.
    if unsafe { libc::dup2(null.as_raw_fd(), 1) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(private.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_survive_the_pipe() {
        let o = Outcome::Failed("two\nlines".to_owned());
        assert_eq!(o.encode(), b"failed 9\ntwo\nlines");
        assert_eq!(Outcome::decode("failed", "two\nlines".to_owned()), o);
    }
}
