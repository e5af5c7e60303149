//! Errors and warnings as values.
//!
//! Phases run on many threads, so what they find arrives in any order. Each diagnostic carries an
//! order key (normally of a file and an index in it, [`Diagnostic::of`]) and is sorted by it when a phase
//! ends: users see the same list in the same order for every thread count.
//!
//! Each has a [`Cause`], and what it says of files, sections and symbols also as [`Facts`], for programs that
//! read messages. Nothing prints here. The binary renders what [`DiagSink::finish`] returns.

mod causes;
mod facts;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

pub use causes::{Cause, HasCause};
pub use facts::{Facts, Spot};

use crate::ids::FileId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
    /// Nothing is wrong: somebody asked to be told what is done.
    Note,
}

/// A byte of an input section. What the numbers count is known to the linker that made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: u32,
    pub section: u32,
    /// Bytes from the start of the section.
    pub offset: u64,
}

/// One error or warning. `message` is one line without a severity prefix; `notes` are the lines
/// below it ("referenced by …"), without their prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub cause: Cause,
    pub order: u64,
    pub message: String,
    pub notes: Vec<String>,
    /// Places that the message speaks of, each with the number of notes in front of which its source
    /// line belongs. Source lines are looked up last, and only for what will be shown.
    pub places: Vec<(usize, Place)>,
    /// What function or variable its first place lies in belongs after the source line of that. It is looked
    /// up then, too.
    pub tells_owner: bool,
    /// An error that `--noinhibit-exec` turns into a warning.
    pub tolerable: bool,
    /// What it says, for programs. Few have nothing but their message.
    pub facts: Option<Box<Facts>>,
}

impl Diagnostic {
    pub fn error(cause: Cause, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            cause,
            order: u64::MAX,
            message: message.into(),
            notes: Vec::new(),
            places: Vec::new(),
            tells_owner: false,
            tolerable: false,
            facts: None,
        }
    }

    pub fn warning(cause: Cause, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(cause, message) }
    }

    /// What is done, for `--verbose`.
    pub fn said(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(Cause::Verbose, message) }
    }

    /// Sorts it by an input, and by what it speaks of there: a section, a symbol or a line, whichever the
    /// others of the phase speak of.
    pub fn of(self, file: FileId, index: u32) -> Self {
        self.at(u64::from(file.0) << 32 | u64::from(index))
    }

    /// Sets the key by which diagnostics of a phase are sorted.
    pub fn at(mut self, order: u64) -> Self {
        self.order = order;
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The message or note before speaks of this place.
    pub fn place(mut self, place: Place) -> Self {
        if self.notes.is_empty()
            && let Some(facts) = &mut self.facts
        {
            facts.at.place = Some(place);
        }
        self.places.push((self.notes.len(), place));
        self
    }

    /// It is to tell what function or variable its first place lies in.
    pub fn tell_owner(mut self) -> Self {
        self.tells_owner = true;
        self
    }

    /// Marks an error that leaves an output which may be of use.
    pub fn tolerable(mut self) -> Self {
        self.tolerable = true;
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
            Severity::Note => "",
        })?;
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "\n>>> {note}")?;
        }
        Ok(())
    }
}

/// Why a link failed: at least one error, with the warnings that came before it.
#[derive(Debug, Default)]
pub struct Diagnostics {
    pub list: Vec<Diagnostic>,
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        Diagnostics { list: vec![d] }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.list.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            d.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Collects diagnostics from any thread during one link.
#[derive(Default)]
pub struct DiagSink {
    /// `--fatal-warnings`: warnings count as errors.
    fatal_warnings: AtomicBool,
    /// Warnings that end in one of these count as errors.
    fatal_codes: OnceLock<Vec<String>>,
    /// `--no-warnings`: warnings are dropped.
    no_warnings: AtomicBool,
    /// `--noinhibit-exec`: errors that leave a usable output are warnings.
    tolerant: AtomicBool,
    has_errors: AtomicBool,
    phase: Mutex<Vec<Diagnostic>>,
    done: Mutex<Vec<Diagnostic>>,
}

impl DiagSink {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn set_fatal_warnings(&self, on: bool) {
        self.fatal_warnings.store(on, Ordering::Relaxed);
    }

    /// Warnings with these codes at their end are errors. Only the first call counts.
    pub fn set_fatal_codes(&self, codes: Vec<String>) {
        let _ = self.fatal_codes.set(codes);
    }

    pub fn set_no_warnings(&self, on: bool) {
        self.no_warnings.store(on, Ordering::Relaxed);
    }

    pub fn set_tolerant(&self, on: bool) {
        self.tolerant.store(on, Ordering::Relaxed);
    }

    #[cold]
    pub fn push(&self, mut d: Diagnostic) {
        if d.tolerable && self.tolerant.load(Ordering::Relaxed) {
            d.severity = Severity::Warning;
        }
        if d.severity == Severity::Warning {
            if self.no_warnings.load(Ordering::Relaxed) {
                return;
            }
            let codes = self.fatal_codes.get().map_or(&[][..], Vec::as_slice);
            let has_code = codes.iter().any(|code| d.message.ends_with(code.as_str()));
            if has_code || self.fatal_warnings.load(Ordering::Relaxed) {
                d.severity = Severity::Error;
            }
        }
        if d.severity == Severity::Error {
            self.has_errors.store(true, Ordering::Relaxed);
        }
        self.phase.lock().unwrap().push(d);
    }

    #[cold]
    pub fn error(&self, cause: Cause, message: impl Into<String>) {
        self.push(Diagnostic::error(cause, message));
    }

    #[cold]
    pub fn warn(&self, cause: Cause, message: impl Into<String>) {
        self.push(Diagnostic::warning(cause, message));
    }

    pub fn has_errors(&self) -> bool {
        self.has_errors.load(Ordering::Relaxed)
    }

    /// Ends a phase that may have failed without ending the link: sorts what it found after what earlier
    /// phases found.
    pub fn settle(&self) {
        let mut phase = std::mem::take(&mut *self.phase.lock().unwrap());
        // What speaks of places in a section comes in their order. Message and notes break ties, so that two
        // diagnostics with one key do not depend on timing.
        let place = |d: &Diagnostic| d.places.first().map(|(_, p)| (p.file, p.section, p.offset));
        phase.sort_by(|a, b| {
            a.order
                .cmp(&b.order)
                .then_with(|| place(a).cmp(&place(b)))
                .then_with(|| (&a.message, &a.notes).cmp(&(&b.message, &b.notes)))
        });
        self.done.lock().unwrap().append(&mut phase);
    }

    /// Ends a phase. `Err` if there is any error so far; the caller stops the link then.
    pub fn end_phase(&self) -> Result<(), Diagnostics> {
        self.settle();
        if !self.has_errors() {
            return Ok(());
        }
        Err(Diagnostics { list: std::mem::take(&mut self.done.lock().unwrap()) })
    }

    /// How much there is that earlier phases found.
    pub fn count(&self) -> usize {
        self.settle();
        self.done.lock().unwrap().len()
    }

    /// Forgets all but so much: what was found after it will be found again. Errors stay.
    pub fn take_back(&self, count: usize) {
        self.settle();
        if !self.has_errors() {
            self.done.lock().unwrap().truncate(count);
        }
    }

    /// Forgets what was found after the first `count` and had been found before: a phase was gone through
    /// again.
    pub fn drop_repetitions(&self, count: usize) {
        self.settle();
        let mut done = self.done.lock().unwrap();
        let (before, after) = done.split_at(count.min(done.len()));
        let is_same = |d: &Diagnostic, one: &Diagnostic| (&d.message, &d.notes) == (&one.message, &one.notes);
        let is_new = |d: &&Diagnostic| !before.iter().any(|one| is_same(d, one));
        let new: Vec<Diagnostic> = after.iter().filter(is_new).cloned().collect();
        done.truncate(count);
        done.extend(new);
    }

    /// Changes what earlier phases found, without adding to it or taking away.
    pub fn amend(&self, change: impl FnOnce(&mut [Diagnostic])) {
        change(&mut self.done.lock().unwrap());
    }

    /// Everything collected so far, in order.
    pub fn so_far(&self) -> Vec<Diagnostic> {
        self.settle();
        self.done.lock().unwrap().clone()
    }

    /// Everything collected, in order, when a link has come to its end.
    pub fn finish(&self) -> Vec<Diagnostic> {
        let _ = self.end_phase().map_err(|d| *self.done.lock().unwrap() = d.list);
        std::mem::take(&mut self.done.lock().unwrap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_by_order_within_a_phase() {
        let sink = DiagSink::new();
        sink.push(Diagnostic::warning(Cause::Internal, "b").at(2));
        sink.push(Diagnostic::warning(Cause::Internal, "a").at(1));
        assert!(sink.end_phase().is_ok());
        sink.push(Diagnostic::error(Cause::Internal, "c").at(0));
        let err = sink.end_phase().unwrap_err();
        let text: Vec<_> = err.list.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(text, ["a", "b", "c"]);
    }

    #[test]
    fn sorted_by_place_where_the_order_is_one() {
        let sink = DiagSink::new();
        for offset in [0x2c, 3] {
            let place = Place { file: 1, section: 1, offset };
            sink.push(
                Diagnostic::error(Cause::Internal, format!("a.o:(.text+{offset:#x})")).at(1).place(place),
            );
        }
        let err = sink.end_phase().unwrap_err();
        assert_eq!(err.list[0].message, "a.o:(.text+0x3)");
    }

    #[test]
    fn sorted_by_notes_where_messages_are_one() {
        let sink = DiagSink::new();
        sink.push(Diagnostic::error(Cause::Internal, "undefined").note("in b"));
        sink.push(Diagnostic::error(Cause::Internal, "undefined").note("in a"));
        assert_eq!(sink.end_phase().unwrap_err().list[0].notes, ["in a"]);
    }

    #[test]
    fn tolerable_errors_are_warnings_if_wanted() {
        let sink = DiagSink::new();
        sink.set_tolerant(true);
        sink.push(Diagnostic::error(Cause::Internal, "a").tolerable());
        assert!(sink.end_phase().is_ok());
        sink.push(Diagnostic::error(Cause::Internal, "b"));
        assert!(sink.end_phase().is_err());
    }

    #[test]
    fn what_is_found_again_is_said_once() {
        let sink = DiagSink::new();
        ["a", "b"].into_iter().for_each(|text| sink.warn(Cause::Internal, text));
        let count = sink.count();
        ["b", "c", "a"].into_iter().for_each(|text| sink.warn(Cause::Internal, text));
        sink.drop_repetitions(count);
        let texts: Vec<String> = sink.finish().into_iter().map(|d| d.message).collect();
        assert_eq!(texts, ["a", "b", "c"]);
    }

    #[test]
    fn fatal_warnings_are_errors() {
        let sink = DiagSink::new();
        sink.set_fatal_warnings(true);
        sink.warn(Cause::Internal, "w");
        assert!(sink.has_errors());
        assert_eq!(sink.finish().len(), 1);
    }
}
