//! What comes back from compilers: objects, what they had to say, or why there are none.

use std::fmt;
use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memmap2::Mmap;
use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::digest::UnitDigest;
use weld_common::io::input::InputStore;
use weld_common::job::Job;
use weld_common::text::text;

use crate::request::Digested;

/// What became of a request.
#[derive(Debug, Default)]
pub struct Answer {
    /// In the order of tasks, which does not depend on the number of jobs. Empty if the link ends with what
    /// the engine has written ([`crate::options::Options::ends_the_link`]).
    pub objects: Vec<Object>,
    /// In the order in which they were said.
    pub messages: Vec<Message>,
    /// What was asked and why, a line for each engine, for `--verbose`.
    pub engines: Vec<String>,
    /// What the objects depend on, if a later link may have them.
    pub basis: Option<Basis>,
}

/// What objects depend on beside modules, options and what becomes of symbols, so that a link that is the same
/// can find out without any of these whether they would be, too.
#[derive(Clone, Debug)]
pub struct Basis {
    /// The highest major version of LLVM that the modules were written by.
    pub major: Option<u32>,
    /// What the engine is told of options. Words may name files.
    pub words: Vec<String>,
    /// Of the engine, the words and the files that they name: see [`crate::engine::basis`].
    pub digest: UnitDigest,
    /// The modules.
    pub files: Vec<Digested>,
}

impl Answer {
    /// Passes on what was said; `verbose`: and who was asked.
    ///
    /// # Errors
    /// What an engine has called one, and if standard output cannot be written to.
    pub fn tell<O>(&self, job: &Job<O>, verbose: bool) -> Result<(), Diagnostics> {
        if verbose {
            self.engines.iter().try_for_each(|engine| job.print(&format!("{engine}\n")))?;
        }
        for message in &self.messages {
            let text = message.text.clone();
            match message.level {
                Level::Output | Level::Remark => job.print(&format!("{text}\n"))?,
                Level::Warning => job.sink.push(Diagnostic::warning(Cause::LtoCompiler, text)),
                Level::Error => job.sink.push(Diagnostic::error(Cause::LtoCompiler, text)),
            }
        }
        job.sink.end_phase()
    }
}

/// An object of intermediate code that is wanted, for `name`, only by what has been compiled: it is too late
/// to compile it. `refer` is the option that would have had it linked.
pub fn wanted_too_late(object: &dyn fmt::Display, name: &[u8], refer: &str) -> Diagnostic {
    let name = text(name);
    let said = format!("{object}: has to be compiled, but is wanted only by what has been compiled");
    let note = format!("for '{name}': name the file, or refer to '{name}' in what is linked ({refer}{name})");
    Diagnostic::error(Cause::LtoIncompatible, said).in_file(object).hint(note)
}

/// What an object has been compiled of. In the order of objects in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The modules that were merged, of which this is the piece with this number.
    Merged(u32),
    /// One that was compiled on its own: its index in [`crate::request::Request::files`] of those that the
    /// same compiler was given.
    Module(u32),
}

/// A file of machine code.
#[derive(Clone, Debug)]
pub struct Object {
    pub source: Source,
    /// As messages and maps name it: `OUTPUT.lto.o`, or where it stays if it stays somewhere.
    pub name: Vec<u8>,
    pub bytes: Bytes,
}

/// A part of a file that is mapped. The file itself is gone, unless it was to stay.
#[derive(Clone, Debug)]
pub struct Bytes {
    pub map: Arc<Mmap>,
    pub range: Range<usize>,
}

impl Bytes {
    /// Has a store keep them.
    pub fn kept<'s>(self, store: &'s InputStore<'_>) -> &'s [u8] {
        &store.keep_mapped(self.map)[self.range]
    }

    /// All of a file.
    pub fn whole(map: Mmap) -> Bytes {
        let range = 0..map.len();
        Bytes { map: Arc::new(map), range }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[self.range.clone()]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What the engine prints because options ask for it: to be passed on as it is.
    Output,
    Remark,
    Warning,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub level: Level,
    pub text: String,
}

/// Why there are no objects. Its text is one line; [`EngineError::notes`] are the lines below it.
#[derive(Debug)]
pub struct EngineError {
    /// How the engine is called: its path.
    pub engine: Option<PathBuf>,
    /// What it was to compile.
    pub modules: Vec<String>,
    pub fault: Fault,
    /// What it had said before, of errors and warnings and its last words.
    pub messages: Vec<Message>,
}

/// What went wrong with an engine.
#[derive(Debug)]
pub enum Fault {
    /// There is none that can compile these files.
    NotFound {
        wanted: String,
        /// Where it was looked for, and what was found there.
        tried: Vec<String>,
        help: String,
    },
    /// No engine can be driven on this system, or by this program.
    Unsupported(&'static str),
    /// It cannot do what an option asks for.
    Option {
        option: String,
        help: &'static str,
    },
    CannotStart(std::io::Error),
    /// It does not answer.
    Silent(Duration),
    /// It ended before it was done.
    Exited(i32),
    Killed(i32),
    /// It said why it cannot.
    Said,
    /// What it says makes no sense.
    Protocol(&'static str),
    /// It has compiled, but there is nothing.
    NoObjects,
    BadObject {
        path: PathBuf,
        why: String,
        /// The compiler's own cache, from which it may be.
        cache: Option<PathBuf>,
    },
    /// Of a distributor: a module's object is not there, or is none.
    NotCompiled {
        module: String,
        object: PathBuf,
        why: String,
    },
    /// A file cannot be read or written.
    File {
        path: PathBuf,
        error: std::io::Error,
    },
}

impl EngineError {
    /// The lines below the message.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.messages.iter().map(|message| match message.level {
            Level::Output => format!("it printed: {}", message.text),
            Level::Remark => format!("remark: {}", message.text),
            Level::Warning => format!("warning: {}", message.text),
            Level::Error => message.text.clone(),
        }));
        if let Fault::NotFound { tried, help, .. } = &self.fault {
            notes.extend(tried.iter().map(|place| format!("tried {place}")));
            notes.push(help.clone());
            return notes;
        }
        if let Fault::Option { help, .. } = self.fault {
            notes.push(help.to_owned());
            return notes;
        }
        if let Fault::NotCompiled { object, .. } = &self.fault {
            notes.push(format!("it has to leave the object as {}", object.display()));
            notes.push(
                "--save-temps keeps the JSON file with its jobs: run the job's command, then the distributor, by hand"
                    .to_owned(),
            );
            return notes;
        }
        if let Fault::BadObject { cache: Some(cache), .. } = &self.fault {
            notes.push(format!(
                "it may be damaged in {}: remove that directory, and link again",
                cache.display()
            ));
        }
        let shown = self.modules.iter().take(SHOWN_MODULES);
        notes.extend(shown.map(|module| format!("compiling {module}")));
        if let Some(rest @ 1..) = self.modules.len().checked_sub(SHOWN_MODULES) {
            notes.push(format!("compiling {rest} more"));
        }
        notes
    }
}

impl From<&EngineError> for Diagnostic {
    fn from(error: &EngineError) -> Diagnostic {
        let cause = match &error.fault {
            Fault::NotFound { .. } => Cause::LtoWithoutEngine,
            _ => Cause::LtoFailed,
        };
        error.notes().into_iter().fold(Diagnostic::error(cause, error.to_string()), Diagnostic::note)
    }
}

/// How many modules an error names.
const SHOWN_MODULES: usize = 8;

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = match &self.engine {
            Some(path) => path.display().to_string(),
            None => "the compiler".to_owned(),
        };
        let engine = format_args!("link-time optimisation by {engine}");
        match &self.fault {
            Fault::NotFound { wanted, .. } => write!(f, "link-time optimisation: there is no {wanted}"),
            Fault::Unsupported(why) => write!(f, "link-time optimisation: {why}"),
            Fault::Option { option, .. } => write!(f, "{engine} cannot do {option}"),
            Fault::CannotStart(error) => {
                write!(f, "{engine} cannot be started: {}", weld_common::io::reason(error))
            }
            Fault::Silent(patience) => {
                write!(f, "{engine}: no answer for {} seconds; it was stopped", patience.as_secs_f32())
            }
            Fault::Exited(code) => write!(f, "{engine} ended with exit code {code} before it was done"),
            Fault::Killed(signal) => write!(f, "{engine} was ended by signal {signal}{}", known(*signal)),
            Fault::Said => write!(f, "{engine} failed"),
            Fault::Protocol(what) => write!(f, "{engine}: {what}"),
            Fault::NoObjects => write!(f, "{engine} made no object"),
            Fault::BadObject { path, why, .. } => {
                write!(f, "{engine} made an object that cannot be linked, {}: {why}", path.display())
            }
            Fault::NotCompiled { module, why, .. } => {
                write!(f, "{engine} did not compile {module}: of its object, {why}")
            }
            Fault::File { path, error } => {
                write!(f, "{engine}: {}: {}", path.display(), weld_common::io::reason(error))
            }
        }
    }
}

impl std::error::Error for EngineError {}

/// What users know a signal by.
fn known(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (it gave up)",
        7 => " (bus error: a file or a disk was too small?)",
        9 => " (killed: was memory short?)",
        11 => " (it crashed)",
        15 => " (asked to end)",
        24 => " (it took more processor time than is allowed)",
        25 => " (a file became larger than is allowed)",
        _ => "",
    }
}
