//! Messages on standard error.
//!
//! One line each, `PROGRAM: error: TEXT`, with the lines of a note after `>>> `, as other linkers
//! print them: editors and build systems know the form. Colours are for terminals unless an option
//! says otherwise.
//!
//! The options that count here are looked for in the raw arguments, because messages must come out
//! right when the command line could not be parsed, too. It is done only when there is something to say.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};

use weld_common::args::response::{Expanded, Quoting};
use weld_common::diag::{Diagnostic, Severity};
use weld_common::text;

use crate::signals;

const RESET: &str = "\x1b[0m";
const RED: &str = "\x1b[1;31m";
const MAGENTA: &str = "\x1b[1;35m";

const DEFAULT_LIMIT: usize = 20;

pub struct Renderer {
    program: String,
    color: bool,
    /// How many errors are shown; 0: all.
    limit: usize,
    /// Messages start with the place, as Visual Studio writes it.
    visual_studio: bool,
}

impl Renderer {
    /// `args` are those of the linker, without the program's name.
    pub fn new(program: String, args: &[OsString]) -> Self {
        let (color, limit, visual_studio) = match Expanded::read(args, Quoting::Gnu) {
            Ok(expanded) => scan(expanded.args().into_iter()),
            Err(_) => scan(args.iter().map(OsString::as_os_str)),
        };
        let auto = || std::io::stderr().is_terminal() && is_smart() && signals::console_has_colors();
        Renderer {
            program,
            color: color.unwrap_or_else(auto),
            limit: limit.unwrap_or(DEFAULT_LIMIT),
            visual_studio,
        }
    }

    /// Prints all warnings, and errors up to the limit. Nothing can be done if standard error is closed.
    pub fn print(&self, list: &[Diagnostic]) {
        let _ = std::io::stderr().write_all(&text::bytes(&self.text(list)));
    }

    fn text(&self, list: &[Diagnostic]) -> String {
        let mut out = String::new();
        let mut errors = 0;
        for diagnostic in list {
            if diagnostic.severity == Severity::Error {
                errors += 1;
                if self.limit > 0 && errors > self.limit {
                    let hidden = list.iter().filter(|d| d.severity == Severity::Error).count() - self.limit;
                    let text = format!("{hidden} more errors are not shown; --error-limit=0 shows all");
                    self.one(&mut out, &Diagnostic::error(text));
                    break;
                }
            }
            self.one(&mut out, diagnostic);
        }
        out
    }

    fn one(&self, out: &mut String, diagnostic: &Diagnostic) {
        let (label, color) = match diagnostic.severity {
            Severity::Error => ("error: ", RED),
            Severity::Warning => ("warning: ", MAGENTA),
            Severity::Note => ("", ""),
        };
        // Messages of several lines stand apart.
        if !diagnostic.notes.is_empty() && !out.is_empty() {
            out.push('\n');
        }
        let (color, reset) = if self.color { (color, RESET) } else { ("", "") };
        let place = if self.visual_studio { place(diagnostic) } else { None };
        let start = place.as_ref().unwrap_or(&self.program);
        for part in [start, ": ", color, label, reset, &diagnostic.message, "\n"] {
            out.push_str(part);
        }
        for note in &diagnostic.notes {
            for part in [">>> ", note, "\n"] {
                out.push_str(part);
            }
        }
    }
}

/// Whether the terminal, if there is one, knows more than lines.
pub fn is_smart() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The first place in a source that a message speaks of, as `FILE(LINE)`.
fn place(diagnostic: &Diagnostic) -> Option<String> {
    let place = diagnostic.notes.iter().find_map(|note| note.strip_prefix("    at "))?;
    let (file, line) = place.rsplit_once(':')?;
    line.bytes().all(|b| b.is_ascii_digit()).then(|| format!("{file}({line})"))
}

/// `--color-diagnostics`, `--error-limit` and `--vs-diagnostics`, the last of each; `/errorlimit:` in the
/// manner of Windows.
fn scan<'a>(args: impl Iterator<Item = &'a OsStr>) -> (Option<bool>, Option<usize>, bool) {
    let (mut color, mut limit, mut visual_studio) = (None, None, false);
    let mut is_limit = false;
    let number = |value: &[u8]| std::str::from_utf8(value).ok()?.parse().ok();
    for arg in args {
        let bytes = arg.as_encoded_bytes();
        if std::mem::take(&mut is_limit) {
            limit = number(bytes).or(limit);
            continue;
        }
        let [b'-' | b'/', body @ ..] = bytes else { continue };
        if let Some((name, value)) = body.split_at_checked(11)
            && name.eq_ignore_ascii_case(b"errorlimit:")
        {
            limit = number(value).or(limit);
        }
        let body = body.strip_prefix(b"-").unwrap_or(body);
        match body {
            b"color-diagnostics" | b"color-diagnostics=always" => color = Some(true),
            b"color-diagnostics=auto" => color = None,
            b"no-color-diagnostics" | b"color-diagnostics=never" => color = Some(false),
            b"vs-diagnostics" => visual_studio = true,
            b"error-limit" => is_limit = true,
            _ => {
                if let Some(value) = body.strip_prefix(b"error-limit=") {
                    limit = number(value).or(limit);
                }
            }
        }
    }
    (color, limit, visual_studio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renderer(color: bool, limit: usize) -> Renderer {
        Renderer { program: "ld".to_owned(), color, limit, visual_studio: false }
    }

    #[test]
    fn plain_and_coloured() {
        let list =
            [Diagnostic::warning("w"), Diagnostic::error("e").note("a").note("b"), Diagnostic::error("f")];
        let plain = "ld: warning: w\n\nld: error: e\n>>> a\n>>> b\nld: error: f\n";
        assert_eq!(renderer(false, 20).text(&list), plain);
        let colored = renderer(true, 20).text(&list[..1]);
        assert_eq!(colored, "ld: \x1b[1;35mwarning: \x1b[0mw\n");
    }

    #[test]
    fn places_for_visual_studio() {
        let with = Renderer { visual_studio: true, ..renderer(false, 0) };
        let list = [
            Diagnostic::error("e").note("referenced by a.o").note("    at C:\\a.c:12"),
            Diagnostic::error("f"),
        ];
        let text = with.text(&list);
        assert!(text.starts_with("C:\\a.c(12): error: e\n") && text.contains("\nld: error: f\n"), "{text}");
    }

    #[test]
    fn the_limit_counts_errors_only() {
        let list = ["1", "2", "3", "4"].map(Diagnostic::error);
        let text = renderer(false, 2).text(&list);
        assert_eq!(
            text,
            "ld: error: 1\nld: error: 2\nld: error: 2 more errors are not shown; --error-limit=0 shows all\n"
        );
        assert_eq!(renderer(false, 0).text(&list).lines().count(), 4);
        assert_eq!(renderer(false, 4).text(&list).lines().count(), 4);
        let warnings = ["1", "2", "3"].map(Diagnostic::warning);
        assert_eq!(renderer(false, 1).text(&warnings).lines().count(), 3);
    }

    #[test]
    fn options_are_found_in_raw_arguments() {
        let of = |line: &str| {
            let (color, limit, _) = scan(line.split(' ').map(OsStr::new));
            (color, limit)
        };
        assert!(scan(["a.o", "--vs-diagnostics"].map(OsStr::new).into_iter()).2);
        assert_eq!(of("a.o --color-diagnostics --error-limit=3"), (Some(true), Some(3)));
        assert_eq!(of("-color-diagnostics=never -error-limit 0 --nonsense"), (Some(false), Some(0)));
        assert_eq!(of("--color-diagnostics --color-diagnostics=auto --error-limit=x"), (None, None));
        assert_eq!(of("/ErrorLimit:5 -errorlimit:x"), (None, Some(5)));
    }
}
