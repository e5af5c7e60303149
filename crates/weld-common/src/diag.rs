//! Errors and warnings as values.
//!
//! Phases run on many threads, so what they find arrives in any order. Each diagnostic carries an
//! order key (normally file id << 32 | index within the file) and is sorted by it when a phase
//! ends: users see the same list in the same order for every thread count.
//!
//! Nothing prints here. The binary renders what [`DiagSink::finish`] returns.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

/// One error or warning. `message` is one line without a severity prefix; `notes` are the lines
/// below it ("referenced by …"), without their prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub order: u64,
    pub message: String,
    pub notes: Vec<String>,
}

impl Diagnostic {
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, order: u64::MAX, message: message.into(), notes: Vec::new() }
    }

    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
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
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
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
    /// `--no-warnings`: warnings are dropped.
    no_warnings: AtomicBool,
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

    pub fn set_no_warnings(&self, on: bool) {
        self.no_warnings.store(on, Ordering::Relaxed);
    }

    #[cold]
    pub fn push(&self, mut d: Diagnostic) {
        if d.severity == Severity::Warning {
            if self.no_warnings.load(Ordering::Relaxed) {
                return;
            }
            if self.fatal_warnings.load(Ordering::Relaxed) {
                d.severity = Severity::Error;
            }
        }
        if d.severity == Severity::Error {
            self.has_errors.store(true, Ordering::Relaxed);
        }
        self.phase.lock().unwrap().push(d);
    }

    #[cold]
    pub fn error(&self, message: impl Into<String>) {
        self.push(Diagnostic::error(message));
    }

    #[cold]
    pub fn warn(&self, message: impl Into<String>) {
        self.push(Diagnostic::warning(message));
    }

    pub fn has_errors(&self) -> bool {
        self.has_errors.load(Ordering::Relaxed)
    }

    /// Ends a phase: sorts what it found behind what earlier phases found. `Err` if there is any
    /// error so far; the caller stops the link then.
    pub fn end_phase(&self) -> Result<(), Diagnostics> {
        let mut phase = std::mem::take(&mut *self.phase.lock().unwrap());
        let mut done = self.done.lock().unwrap();
        // The message breaks ties, so that two diagnostics with one key do not depend on timing.
        phase.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.message.cmp(&b.message)));
        done.append(&mut phase);
        if self.has_errors() { Err(Diagnostics { list: std::mem::take(&mut done) }) } else { Ok(()) }
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
        sink.push(Diagnostic::warning("b").at(2));
        sink.push(Diagnostic::warning("a").at(1));
        assert!(sink.end_phase().is_ok());
        sink.push(Diagnostic::error("c").at(0));
        let err = sink.end_phase().unwrap_err();
        let text: Vec<_> = err.list.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(text, ["a", "b", "c"]);
    }

    #[test]
    fn fatal_warnings_are_errors() {
        let sink = DiagSink::new();
        sink.set_fatal_warnings(true);
        sink.warn("w");
        assert!(sink.has_errors());
        assert_eq!(sink.finish().len(), 1);
    }
}
