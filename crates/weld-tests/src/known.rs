//! `tests/known-failures.txt`: what weld cannot do yet.
//!
//! A line is `NAME -- REASON`. A listed test that fails counts as skipped; one that passes fails
//! the run, so that the list only shrinks with what is true. `--write-known` writes the list anew
//! from a whole run.

use crate::pool::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct Known {
    path: PathBuf,
    reasons: BTreeMap<String, String>,
}

const HEADER: &str = "\
# End-to-end tests that weld is known to fail, and why; see tests/README.md.
# cargo test -p weld-ld --test e2e -- --write-known   writes this file anew
";

impl Known {
    /// Reads the list in the directory of the tests; none is an empty one.
    pub fn read(tests: &Path) -> Result<Known, String> {
        let path = tests.join("known-failures.txt");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(format!("{}: {e}", path.display())),
        };
        let mut reasons = BTreeMap::new();
        for line in text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
            let (name, why) = line
                .split_once(" -- ")
                .ok_or_else(|| format!("{}: no reason in `{line}`", path.display()))?;
            reasons.insert(name.to_owned(), why.to_owned());
        }
        Ok(Known { path, reasons })
    }

    /// What a result means in the light of the list.
    pub fn judge(&self, name: &str, outcome: Outcome) -> Outcome {
        match (self.reasons.get(name), outcome) {
            (Some(why), Outcome::Failed(_)) => Outcome::Skipped(format!("known failure: {why}")),
            (Some(_), Outcome::Passed) => {
                Outcome::Failed("passes: remove its line from tests/known-failures.txt".to_owned())
            }
            (_, outcome) => outcome,
        }
    }

    /// Writes the list anew: the failures among `results`, with the reasons given before or the
    /// first line of what they say.
    pub fn write(&self, results: &[(String, Outcome)]) -> Result<(), String> {
        let mut text = HEADER.to_owned();
        for (name, outcome) in results {
            if let Outcome::Failed(message) = outcome {
                let first = message.lines().next().unwrap_or_default();
                let short = first.rsplit_once("/elf/").map_or(first, |(_, rest)| rest);
                let why = self.reasons.get(name).map_or(short, String::as_str);
                text.push_str(&format!("{name} -- {why}\n"));
            }
        }
        std::fs::write(&self.path, text).map_err(|e| format!("{}: {e}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_failure_may_not_pass() {
        let known = Known { reasons: [("a".to_owned(), "why".to_owned())].into(), ..Known::default() };
        assert!(matches!(known.judge("a", Outcome::Passed), Outcome::Failed(_)));
        assert!(matches!(known.judge("a", Outcome::Failed(String::new())), Outcome::Skipped(_)));
        assert_eq!(known.judge("b", Outcome::Passed), Outcome::Passed);
    }
}
