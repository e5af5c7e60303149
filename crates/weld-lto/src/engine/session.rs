//! One conversation with an engine: started, given an order, listened to until it is done or cannot be.
//!
//! What it says is kept in order, and what its compiler prints is put between, a line a message. Objects are
//! taken before it is told that it is no longer needed, since their directory goes with it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weld_common::host::{Host, LTO_CHILD};
use weld_common::text::{os_str, text};

use super::process::{Ending, Heard, Next, Process, Stop};
use crate::answer::{Fault, Level, Message};
use crate::late;
use crate::protocol::{Order, Replies, Reply, level};

/// What has come of an order.
#[derive(Debug)]
pub enum Outcome {
    Done,
    /// It waits for [`Session::go_on`].
    Ready,
    /// Why has been said.
    Failed,
    /// The compiler cannot be loaded.
    Unusable(String),
    /// It is not one that was wanted.
    Refused(String),
    Silent,
    Ended(Ending),
    Malformed(&'static str),
    System(io::Error),
}

impl Outcome {
    /// What is wrong with it, if something is.
    pub fn fault(self, patience: Duration) -> Option<Fault> {
        Some(match self {
            Outcome::Done | Outcome::Ready => return None,
            Outcome::Failed => Fault::Said,
            Outcome::Unusable(why) | Outcome::Refused(why) => Fault::CannotStart(io::Error::other(why)),
            Outcome::Silent => Fault::Silent(patience),
            Outcome::Ended(Ending::Exited(code)) => Fault::Exited(code),
            Outcome::Ended(Ending::Killed(signal)) => Fault::Killed(signal),
            Outcome::Malformed(what) => Fault::Protocol(what),
            Outcome::System(error) => Fault::File { path: "pipe".into(), error },
        })
    }
}

pub struct Session {
    process: Process,
    directory: PathBuf,
    /// The directory stays when the session is over.
    keeps: bool,
    pub talk: Talk,
}

/// What an engine has said.
#[derive(Default)]
pub struct Talk {
    replies: Replies,
    /// Empty if it does not tell.
    pub version: String,
    /// In the order in which they were said.
    pub objects: Vec<PathBuf>,
    /// What tasks have made.
    pub made: Vec<(u32, Made)>,
    /// Of that, nothing had to be compiled.
    pub is_cached: bool,
    pub messages: Vec<Message>,
    /// What was printed since the last end of a line.
    line: Vec<u8>,
    /// Bytes that were printed.
    printed: usize,
    end: Option<Outcome>,
    /// That it is ready is what is waited for.
    stops_when_ready: bool,
}

/// What a task has made.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Made {
    File(PathBuf),
    /// Of the file of parts, in bytes.
    Part {
        offset: u64,
        size: u64,
    },
}

/// A compiler that prints more than this is not quoted further.
const MAX_PRINTED: usize = 1 << 26;

/// How long an engine may take to tidy up; a large cache is walked through then.
const TIDYING: Duration = Duration::from_secs(60);

/// How long an engine may take to end that is not wanted any more.
const DYING: Duration = Duration::from_secs(2);

/// A name for a directory that nobody has, where the user wants temporary files.
pub fn directory(host: &dyn Host) -> PathBuf {
    let above = host.variable("TMPDIR").filter(|path| !path.is_empty()).map_or("/tmp".into(), PathBuf::from);
    // Other programs of the compiler may work elsewhere.
    let above = std::path::absolute(&above).unwrap_or(above);
    let random = RandomState::new().build_hasher().finish();
    above.join(format!("weld-lto-{random:016x}"))
}

impl Session {
    /// Starts an engine.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(child: &Path, directory: &Path) -> io::Result<Session> {
        let process = Process::start(child, LTO_CHILD)?;
        Ok(Session { process, directory: directory.to_owned(), keeps: false, talk: Talk::default() })
    }

    /// The directory of the order to come, if that was not known.
    pub fn owns(&mut self, directory: &Path) {
        self.directory = directory.to_owned();
    }

    /// Gives the order and listens. `refuse` says why a compiler of this version is not wanted.
    pub fn work(
        &mut self,
        order: &Order<'_>,
        patience: Duration,
        refuse: &dyn Fn(&str) -> Option<String>,
    ) -> Outcome {
        self.talk.stops_when_ready = false;
        self.listen(&order.write(), Some(patience), refuse)
    }

    /// Gives an order of which the work has to wait, until [`Session::go_on`]. The directory is there, and
    /// stays if `keeps` says so.
    pub fn prepare(&mut self, order: &Order<'_>, patience: Duration, keeps: bool) -> Outcome {
        self.keeps = keeps;
        self.talk.stops_when_ready = true;
        self.listen(&order.write(), Some(patience), &|_| None)
    }

    /// Lets it do the work, which may take any time.
    pub fn go_on(&mut self) -> Outcome {
        self.listen(b"\n", None, &|_| None)
    }

    fn listen(
        &mut self,
        bytes: &[u8],
        patience: Option<Duration>,
        refuse: &dyn Fn(&str) -> Option<String>,
    ) -> Outcome {
        let talk = &mut self.talk;
        let stop = self.process.talk(bytes, patience, &mut |heard| talk.hear(heard, refuse));
        match (self.talk.end.take(), stop) {
            (_, Err(error)) => Outcome::System(error),
            (Some(outcome), _) => outcome,
            (None, Ok(Stop::Silent)) => Outcome::Silent,
            (None, Ok(Stop::Closed | Stop::Enough)) => match self.tell(DYING) {
                Ok(ending) => Outcome::Ended(ending),
                Err(error) => Outcome::System(error),
            },
        }
    }

    /// Ends the engine when all that it made has been taken.
    pub fn end(&mut self, is_done: bool) {
        // How it ends does not matter any more.
        let _ = self.tell(if is_done { TIDYING } else { DYING });
        self.talk.end_line();
    }

    fn tell(&mut self, patience: Duration) -> io::Result<Ending> {
        let talk = &mut self.talk;
        self.process.end(patience, &mut |heard| {
            if let Heard::Output(bytes) = heard {
                talk.hear_output(bytes);
            }
            Next::Wait
        })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end(false);
        // An engine that crashed has left it.
        if !self.keeps && self.directory.exists() {
            late::remove_directory(&self.directory);
        }
    }
}

impl Talk {
    fn hear(&mut self, heard: Heard<'_>, refuse: &dyn Fn(&str) -> Option<String>) -> Next {
        let bytes = match heard {
            Heard::Output(bytes) => {
                self.hear_output(bytes);
                return Next::Wait;
            }
            Heard::Replies(bytes) => bytes,
        };
        self.replies.push(bytes);
        let mut next = Next::Wait;
        loop {
            let outcome = match self.replies.next_reply() {
                Ok(None) => return next,
                Err(malformed) => Outcome::Malformed(malformed.0),
                Ok(Some(Reply::Object(path))) => {
                    self.objects.push(os_str(&path).into());
                    continue;
                }
                Ok(Some(Reply::Made(task, path))) => {
                    self.made.push((task, Made::File(os_str(&path).into())));
                    continue;
                }
                Ok(Some(Reply::Part(task, offset, size))) => {
                    self.made.push((task, Made::Part { offset, size }));
                    continue;
                }
                Ok(Some(Reply::Cached)) => {
                    self.is_cached = true;
                    continue;
                }
                Ok(Some(Reply::Message(level, said))) => {
                    self.say(level, &said);
                    continue;
                }
                Ok(Some(Reply::Ready(version))) => {
                    self.version = text(&version).into_owned();
                    next = Next::Awake;
                    match refuse(&self.version) {
                        None if self.stops_when_ready => Outcome::Ready,
                        None => continue,
                        Some(why) => Outcome::Refused(why),
                    }
                }
                Ok(Some(Reply::Unusable(why))) => Outcome::Unusable(text(&why).into_owned()),
                Ok(Some(Reply::Failed)) => Outcome::Failed,
                Ok(Some(Reply::Done)) => Outcome::Done,
            };
            self.end = Some(outcome);
            return Next::Enough;
        }
    }

    fn say(&mut self, level: u8, said: &[u8]) {
        self.end_line();
        let level = match level {
            level::INFO => Level::Remark,
            level::WARNING => Level::Warning,
            _ => Level::Error,
        };
        let said = text(said);
        // Who says it is clear from what it is part of.
        let said = said.strip_prefix("LLVM gold plugin: ").unwrap_or(&said);
        self.messages.push(Message { level, text: said.trim_end().to_owned() });
    }

    fn hear_output(&mut self, bytes: &[u8]) {
        if self.printed > MAX_PRINTED {
            return;
        }
        self.printed += bytes.len();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            self.messages.push(Message { level: Level::Output, text: text(line).into_owned() });
        }
    }
}
