//! `weld explain [CODE...]`: what messages mean, by their codes.

use std::ffi::OsString;
use std::fmt::{self, Write};

use weld_common::diag::Cause;

use crate::help;
use crate::pages::{self, explanations};

/// There is no such code.
#[derive(Debug)]
pub struct ExplainError(String);

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no message has the code '{}'; weld explain lists the codes", self.0)
    }
}

impl std::error::Error for ExplainError {}

/// What to print: the pages on `codes`, or the list of codes.
pub fn run(codes: &[OsString]) -> Result<String, ExplainError> {
    if codes.is_empty() {
        return Ok(list());
    }
    let mut out = String::new();
    for code in codes {
        let code = code.to_string_lossy();
        // As link.exe's users may have copied it: with brackets around.
        let name = code.trim_start_matches('[').trim_end_matches(']');
        let cause = Cause::find(name).ok_or_else(|| ExplainError(code.to_string()))?;
        if !out.is_empty() {
            out.push('\n');
        }
        match explanations::find(cause) {
            Some(page) => out += &help::style().page(&pages::blocks(page)),
            None => _ = writeln!(out, "{cause}: {}", cause.summary()),
        }
    }
    Ok(out)
}

fn list() -> String {
    let mut out =
        String::from("weld explain CODE tells what a message means (* with an example and ways out):\n");
    for cause in Cause::ALL {
        let mark = if explanations::find(*cause).is_some() { '*' } else { ' ' };
        _ = writeln!(out, "{mark} {:<27} {}", cause.code(), cause.summary());
    }
    out.push_str("--error-format=json shows the code of each message; weld help error-format tells of it.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_with_and_without_pages() {
        let of = |codes: &[&str]| run(&codes.iter().map(OsString::from).collect::<Vec<_>>());
        let all = of(&[]).expect("the list");
        assert!(all.contains("* undefined-symbol ") && all.contains("\n  internal "), "{all}");
        assert!(all.lines().all(|line| line.len() <= 110), "{all}");
        let page = of(&["undefined-symbol"]).expect("a page");
        assert!(page.contains("Ways out"), "{page}");
        assert_eq!(of(&["internal"]).expect("a line").lines().count(), 1);
        assert!(of(&["undefined-symbol", "LNK2019"]).is_err());
    }
}
