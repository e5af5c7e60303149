//! Symbols that several files define: what is said of them.
//!
//! There may be as many as symbols, and only the first errors are shown, so places, with their source lines,
//! are looked up for these only.

use std::borrow::Cow;

use crate::diag::{DiagSink, Diagnostic};
use crate::ids::FileId;
use crate::symbol_names::{Names, Rival, Rules};
use crate::text;

/// Symbol `sym` of a file, which defines a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    pub file: FileId,
    pub sym: u32,
}

/// What a format knows of definitions.
pub trait Definitions {
    /// A name for people.
    fn shown<'n>(&self, name: &'n [u8]) -> Cow<'n, str>;

    /// A diagnostic with the severity that options ask for.
    fn problem(&self, text: String) -> Diagnostic;

    /// Adds to a diagnostic where a definition is.
    fn tell_place(&mut self, problem: Diagnostic, definition: Definition) -> Diagnostic;

    /// Whether there may be but one of these two.
    fn contradict(&self, _kept: Definition, _lost: Definition) -> bool {
        true
    }
}

/// The message itself.
pub fn headline(name: &str) -> String {
    format!("duplicate symbol: {name}")
}

/// Reports definitions that lost to others where there may be one only, the first `detailed` of them with
/// their places.
pub fn report<R: Rules>(
    names: &Names<R>,
    lost: Vec<Rival>,
    detailed: usize,
    definitions: &mut impl Definitions,
    sink: &DiagSink,
) {
    let mut lost = lost;
    lost.sort_unstable_by_key(|rival| (names.place(rival.file), rival.sym));
    let mut told = 0;
    for rival in lost {
        let entry = names.get(rival.id);
        let kept = Definition { file: entry.file(), sym: entry.sym() };
        let lost = Definition { file: rival.file, sym: rival.sym };
        if !definitions.contradict(kept, lost) {
            continue;
        }
        let problem = if told < detailed {
            let problem = definitions.problem(headline(&definitions.shown(entry.name)));
            let problem = definitions.tell_place(problem, kept);
            definitions.tell_place(problem, lost)
        } else {
            definitions.problem(headline(&text::text(entry.name)))
        };
        told += 1;
        sink.push(problem.of_symbol(entry.name).of(rival.file, rival.sym));
    }
}
