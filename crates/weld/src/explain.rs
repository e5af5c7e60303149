//! `weld explain [CODE...]`: what messages mean, by their codes, or by the numbers that link.exe has for them.

use std::ffi::OsString;
use std::fmt::{self, Write};

use weld_common::diag::Cause;

use crate::help;
use crate::pages::{self, explanations};

/// The numbers of link.exe that its users know, and what weld says then. Others are told of nowhere here.
const LINK_NUMBERS: &[(u32, Cause)] = &[
    (1104, Cause::CannotOpenFile),
    (1107, Cause::MalformedObject),
    (1112, Cause::WrongMachine),
    (1117, Cause::BadOption),
    (1120, Cause::UndefinedSymbol),
    (1123, Cause::MalformedObject),
    (1136, Cause::MalformedObject),
    (1168, Cause::CannotWriteFile),
    (1169, Cause::DuplicateSymbol),
    (1181, Cause::CannotOpenFile),
    (1194, Cause::DelayLoad),
    (1201, Cause::CannotWriteFile),
    (1221, Cause::NoSubsystem),
    (1248, Cause::ImageTooLarge),
    (1318, Cause::PdbLimit),
    (1561, Cause::EntryNotFound),
    (2001, Cause::UndefinedSymbol),
    (2005, Cause::DuplicateSymbol),
    (2013, Cause::RelocationOutOfRange),
    (2017, Cause::RelocationOutOfRange),
    (2019, Cause::UndefinedSymbol),
    (2026, Cause::SafeSeh),
    (2038, Cause::FailIfMismatch),
    (4006, Cause::DuplicateSymbol),
    (4037, Cause::NoSuchSymbol),
    (4044, Cause::UnknownOption),
    (4049, Cause::LocallyDefinedImport),
    (4078, Cause::SectionFlags),
    (4098, Cause::ConflictingLibraries),
    (4099, Cause::DebugInfo),
    (4197, Cause::ExportedTwice),
    (4199, Cause::DelayLoad),
    (4217, Cause::LocallyDefinedImport),
    (4254, Cause::SectionFlags),
    (4272, Cause::WrongMachine),
    (4286, Cause::LocallyDefinedImport),
];

/// The cause that link.exe has the number of `LNK1234` for.
fn of_link(name: &str) -> Option<Cause> {
    let prefix = name.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("LNK"))?;
    let number = name[prefix.len()..].parse().ok()?;
    LINK_NUMBERS.iter().find(|(known, _)| *known == number).map(|(_, cause)| *cause)
}

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
        let cause =
            Cause::find(name).or_else(|| of_link(name)).ok_or_else(|| ExplainError(code.to_string()))?;
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
        assert!(of(&["undefined-symbol", "LNK9999"]).is_err() && of(&["LNK"]).is_err());
        assert_eq!(of(&["lnk2019"]).expect("a number of link.exe"), page);
        let page = of(&["locally-defined-import"]).expect("a page");
        assert_eq!(of(&["[LNK4217]"]).expect("another number"), page);
        assert!(LINK_NUMBERS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
