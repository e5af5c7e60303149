//! `--dependency-file`: the inputs as a rule for make or ninja.
//!
//! The output depends on every file that was read: what the command line names, scripts and what they
//! name, members of thin archives, version scripts. Each also gets a rule without a recipe, so that
//! make does not stop when one of them is gone.
//!
//! Source: GNU make manual, "Rule Syntax": `$$` for a dollar sign; a backslash in front of a blank or
//! `#`, and in front of each backslash that comes right before one.

use std::collections::HashSet;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::text;

use crate::input::load::Inputs;
use crate::job::Job;

pub fn report(job: &Job, inputs: &Inputs) -> Result<(), Diagnostics> {
    let Some(path) = &job.options.reports.dependency_file else { return Ok(()) };
    job.report(path, &text(job, inputs)?)
}

/// What is to be in the file.
///
/// # Errors
/// If a rule cannot say it.
pub fn text(job: &Job, inputs: &Inputs) -> Result<String, Diagnostics> {
    let mut list: Vec<String> = inputs.opened.iter().map(|p| p.to_string()).collect();
    // The store knows the rest, but not in a fixed order.
    let mut rest: Vec<String> =
        job.store.opened().into_iter().map(|(p, _)| text::path(&p).into_owned()).collect();
    rest.sort_unstable();
    list.append(&mut rest);
    let mut seen = HashSet::new();
    list.retain(|path| seen.insert(path.clone()));
    let output = text::path(&job.options.output.path);
    if let Some(bad) = list.iter().map(|p| &**p).chain([&*output]).find(|p| p.contains('\n')) {
        let text = format!("--dependency-file: a rule cannot name {bad:?}, which has a line break in it");
        return Err(Diagnostic::error(Cause::Report, text).into());
    }
    Ok(rule(&output, &list))
}

fn rule(output: &str, inputs: &[String]) -> String {
    let mut text = escaped(output) + ":";
    for input in inputs {
        text += " \\\n  ";
        text += &escaped(input);
    }
    text.push('\n');
    for input in inputs {
        text += "\n";
        text += &escaped(input);
        text += ":\n";
    }
    text
}

fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut backslashes = 0;
    for c in path.chars() {
        match c {
            '$' => text.push('$'),
            ' ' | '\t' | '#' => text.extend(std::iter::repeat_n('\\', backslashes + 1)),
            _ => {}
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_make_would_misread() {
        assert_eq!(escaped("a b#c$d"), "a\\ b\\#c$$d");
        assert_eq!(escaped("a\\ b\\c"), "a\\\\\\ b\\c");
    }

    #[test]
    fn a_rule() {
        let text = rule("o", &["a".into(), "b c".into()]);
        assert_eq!(text, "o: \\\n  a \\\n  b\\ c\n\na:\n\nb\\ c:\n");
    }
}
