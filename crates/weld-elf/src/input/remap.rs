//! `--remap-inputs`: other files are read than the ones that are named.
//!
//! A rule has a name or a glob, and the file that is read in place of what it matches. A rule with a name
//! counts before those with globs; among these the first one does. Rules hold for all inputs wherever they
//! stand, as in ld.lld, and for what scripts name; a file that has been put in another's place is not
//! replaced again. A library has to be found before it is replaced.
//!
//! Files of rules have one a line: a pattern, `=` or blanks, a path. What follows a `#` at the start of a
//! word says nothing.

use std::path::Path;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::glob::{self, GlobSet};
use weld_common::io::input::InputStore;
use weld_common::text;

use super::search::cannot_open;
use crate::args::values::remap_rule;
use crate::options::{Options, Remap, RemapRule};

/// All rules of a link.
#[derive(Default)]
pub struct Remaps {
    /// In the order of the command line.
    rules: Vec<RemapRule>,
    /// The number of the first rule for a path, those with names before those with globs.
    patterns: GlobSet,
    /// Rules in the order of these numbers.
    order: Vec<usize>,
}

impl Remaps {
    /// The rules that options have or name files of.
    ///
    /// # Errors
    /// What is wrong with these files.
    pub fn read(options: &Options, store: &InputStore) -> Result<Remaps, Diagnostic> {
        let mut rules = Vec::new();
        for remap in &options.inputs.remaps {
            match remap {
                Remap::Rule(rule) => rules.push(rule.clone()),
                Remap::File(path) => read_rules(path, store, &mut rules)?,
            }
        }
        Ok(Remaps::new(rules))
    }

    fn new(rules: Vec<RemapRule>) -> Remaps {
        let mut patterns = GlobSet::new();
        let (names, globs): (Vec<usize>, Vec<usize>) =
            (0..rules.len()).partition(|&i| !glob::has_wildcard(&rules[i].0));
        let order = [names, globs].concat();
        for (rank, &rule) in (0..).zip(&order) {
            // They were looked at when they were read.
            _ = patterns.add(&rules[rule].0, rank);
        }
        patterns.finish();
        Remaps { rules, patterns, order }
    }

    pub fn rules(&self) -> &[RemapRule] {
        &self.rules
    }

    /// What is read in place of `path`, if anything.
    pub fn of(&self, path: &Path) -> Option<&Path> {
        if self.rules.is_empty() {
            return None;
        }
        let rank = self.patterns.lookup(path.as_os_str().as_encoded_bytes())?;
        Some(&self.rules[self.order[rank as usize]].1)
    }
}

fn read_rules(path: &Path, store: &InputStore, rules: &mut Vec<RemapRule>) -> Result<(), Diagnostic> {
    let shown = text::path(path);
    let bytes = match store.open(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(cannot_open(path)),
        Err(e) => return Err(e.into()),
    };
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let starts_comment = |at: usize| line[at] == b'#' && (at == 0 || line[at - 1].is_ascii_whitespace());
        let end = (0..line.len()).find(|&at| starts_comment(at)).unwrap_or(line.len());
        let line = line[..end].trim_ascii();
        if !line.is_empty() {
            let rule = remap_rule(line, b"= \t");
            rules.push(
                rule.map_err(|e| Diagnostic::error(Cause::ScriptSyntax, format!("{shown}:{number}: {e}")))?,
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use weld_common::args::ValueError;

    use super::*;

    fn rule(text: &str) -> Result<(String, String), ValueError> {
        let (pattern, path) = remap_rule(text.as_bytes(), b"= \t")?;
        Ok((String::from_utf8(pattern).unwrap(), path.to_str().unwrap().to_owned()))
    }

    #[test]
    fn lines_are_taken_apart() {
        for text in ["a.o=b.o", "a.o b.o", "a.o = b.o", "a.o\t b.o"] {
            assert_eq!(rule(text), Ok(("a.o".into(), "b.o".into())), "{text}");
        }
        assert_eq!(rule("*.o=a=b"), Ok(("*.o".into(), "a=b".into())));
        for text in ["", "a.o", "a.o=", "=a.o", "a.o ="] {
            assert_eq!(rule(text), Err(ValueError::Expected("PATTERN=FILE")), "{text}");
        }
        assert_eq!(rule("a[b=c").unwrap_err().to_string(), "bad pattern 'a[b': '[' without ']'");
    }

    #[test]
    fn names_count_before_globs_and_early_rules_before_late_ones() {
        let rules = ["*.o=1", "a.o=2", "a.*=3", "a.o=4", "b.?=5"];
        let remaps = Remaps::new(rules.iter().map(|r| remap_rule(r.as_bytes(), b"=").unwrap()).collect());
        let of = |path: &str| remaps.of(Path::new(path)).map(|to| to.to_str().unwrap().to_owned());
        assert_eq!(of("a.o").unwrap(), "2");
        assert_eq!(of("dir/b.o").unwrap(), "1");
        assert_eq!(of("a.so").unwrap(), "3");
        assert_eq!(of("b.a").unwrap(), "5");
        assert_eq!(of("c.a"), None);
        assert_eq!(Remaps::default().of(Path::new("a.o")), None);
    }
}
