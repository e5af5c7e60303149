//! Messages on standard error.
//!
//! One line each, `PROGRAM: error: TEXT`, with the lines of a note after `>>> `, as other linkers
//! print them: editors and build systems know the form. Colours are for terminals unless an option
//! says otherwise.
//!
//! `--error-format=json` has one object a line instead ([`json`]), for programs.
//!
//! The options that count here are looked for in the raw arguments, because messages must come out
//! right when the command line could not be parsed, too. It is done only when there is something to say.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};

use weld_common::args::response::{Expanded, Quoting};
use weld_common::diag::{Cause, Diagnostic, Severity};
use weld_common::text;

use crate::pages::explanations;
use crate::signals;

mod json;

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
    /// Messages are for programs.
    json: bool,
    /// Somebody may look at them.
    is_terminal: bool,
}

/// What options say of messages.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wishes {
    color: Option<bool>,
    limit: Option<usize>,
    visual_studio: bool,
    json: bool,
}

impl Renderer {
    /// `args` are those of the linker, without the program's name.
    pub fn new(program: String, args: &[OsString]) -> Self {
        let wishes = match Expanded::read(args, Quoting::Gnu) {
            Ok(expanded) => scan(expanded.args().into_iter()),
            Err(_) => scan(args.iter().map(OsString::as_os_str)),
        };
        let is_terminal = std::io::stderr().is_terminal();
        let auto = || is_terminal && is_smart() && signals::console_has_colors();
        Renderer {
            program,
            color: wishes.color.unwrap_or_else(auto),
            limit: wishes.limit.unwrap_or(DEFAULT_LIMIT),
            visual_studio: wishes.visual_studio,
            json: wishes.json,
            is_terminal,
        }
    }

    /// Prints all warnings, and errors up to the limit. Nothing can be done if standard error is closed.
    pub fn print(&self, list: &[Diagnostic]) {
        let text = self.text(list);
        let mut bytes = text::bytes(&text);
        // JSON is UTF-8, whatever names are.
        if self.json {
            bytes = String::from_utf8_lossy(&bytes).into_owned().into_bytes().into();
        }
        let _ = std::io::stderr().write_all(&bytes);
    }

    fn text(&self, list: &[Diagnostic]) -> String {
        let mut out = String::new();
        let shown = self.shown(list);
        for diagnostic in shown.iter() {
            match self.json {
                true => json::write(&mut out, diagnostic),
                false => self.one(&mut out, diagnostic),
            }
        }
        if self.is_terminal && !self.json {
            self.tell_of_pages(&mut out, &shown);
        }
        out
    }

    /// All warnings, and errors up to the limit, with a word on the others.
    fn shown<'d>(&self, list: &'d [Diagnostic]) -> Vec<Cow<'d, Diagnostic>> {
        let mut shown = Vec::new();
        let mut errors = 0;
        for diagnostic in list {
            if diagnostic.severity == Severity::Error {
                errors += 1;
                if self.limit > 0 && errors > self.limit {
                    let hidden = list.iter().filter(|d| d.severity == Severity::Error).count() - self.limit;
                    let text = format!("{hidden} more errors are not shown; --error-limit=0 shows all");
                    shown.push(Cow::Owned(Diagnostic::error(Cause::TooManyErrors, text)));
                    break;
                }
            }
            shown.push(Cow::Borrowed(diagnostic));
        }
        shown
    }

    /// Names the pages on what was said, where somebody may be looking.
    fn tell_of_pages(&self, out: &mut String, shown: &[Cow<'_, Diagnostic>]) {
        let mut codes: Vec<&str> = Vec::new();
        for diagnostic in shown.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
            let code = diagnostic.cause.code();
            if explanations::find(diagnostic.cause).is_some() && !codes.contains(&code) && codes.len() < 3 {
                codes.push(code);
            }
        }
        if !codes.is_empty() {
            *out += &format!("{}: weld explain {} tells more\n", self.program, codes.join(" "));
        }
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

/// `--color-diagnostics`, `--error-limit`, `--error-format` and `--vs-diagnostics`, the last of each;
/// `/errorlimit:` and `/error-format:` in the manner of Windows.
fn scan<'a>(args: impl Iterator<Item = &'a OsStr>) -> Wishes {
    let mut wishes = Wishes::default();
    // The option whose value is the next word.
    let mut open: Option<&[u8]> = None;
    let number = |value: &[u8]| std::str::from_utf8(value).ok()?.parse().ok();
    let set = |name: &[u8], value: &[u8], wishes: &mut Wishes| match name {
        b"errorlimit" | b"error-limit" => wishes.limit = number(value).or(wishes.limit),
        b"error-format" => wishes.json = value == b"json",
        _ => {}
    };
    for arg in args {
        let bytes = arg.as_encoded_bytes();
        if let Some(name) = open.take() {
            set(name, bytes, &mut wishes);
            continue;
        }
        let [b'-' | b'/', body @ ..] = bytes else { continue };
        let body = body.strip_prefix(b"-").unwrap_or(body);
        match body {
            b"color-diagnostics" | b"color-diagnostics=always" => wishes.color = Some(true),
            b"color-diagnostics=auto" => wishes.color = None,
            b"no-color-diagnostics" | b"color-diagnostics=never" => wishes.color = Some(false),
            b"vs-diagnostics" => wishes.visual_studio = true,
            b"error-limit" | b"error-format" => open = Some(body),
            _ => {
                if let Some(at) = body.iter().position(|b| matches!(b, b'=' | b':')) {
                    set(&body[..at].to_ascii_lowercase(), &body[at + 1..], &mut wishes);
                }
            }
        }
    }
    wishes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renderer(color: bool, limit: usize) -> Renderer {
        let (visual_studio, json, is_terminal) = (false, false, false);
        Renderer { program: "ld".to_owned(), color, limit, visual_studio, json, is_terminal }
    }

    #[test]
    fn plain_and_coloured() {
        let list = [
            Diagnostic::warning(Cause::Internal, "w"),
            Diagnostic::error(Cause::Internal, "e").note("a").note("b"),
            Diagnostic::error(Cause::Internal, "f"),
        ];
        let plain = "ld: warning: w\n\nld: error: e\n>>> a\n>>> b\nld: error: f\n";
        assert_eq!(renderer(false, 20).text(&list), plain);
        let colored = renderer(true, 20).text(&list[..1]);
        assert_eq!(colored, "ld: \x1b[1;35mwarning: \x1b[0mw\n");
    }

    #[test]
    fn places_for_visual_studio() {
        let with = Renderer { visual_studio: true, ..renderer(false, 0) };
        let list = [
            Diagnostic::error(Cause::Internal, "e").note("referenced by a.o").note("    at C:\\a.c:12"),
            Diagnostic::error(Cause::Internal, "f"),
        ];
        let text = with.text(&list);
        assert!(text.starts_with("C:\\a.c(12): error: e\n") && text.contains("\nld: error: f\n"), "{text}");
    }

    #[test]
    fn the_limit_counts_errors_only() {
        let list = ["1", "2", "3", "4"].map(|text| Diagnostic::error(Cause::Internal, text));
        let text = renderer(false, 2).text(&list);
        assert_eq!(
            text,
            "ld: error: 1\nld: error: 2\nld: error: 2 more errors are not shown; --error-limit=0 shows all\n"
        );
        assert_eq!(renderer(false, 0).text(&list).lines().count(), 4);
        assert_eq!(renderer(false, 4).text(&list).lines().count(), 4);
        let warnings = ["1", "2", "3"].map(|text| Diagnostic::warning(Cause::Internal, text));
        assert_eq!(renderer(false, 1).text(&warnings).lines().count(), 3);
    }

    #[test]
    fn options_are_found_in_raw_arguments() {
        let of = |line: &str| {
            let wishes = scan(line.split(' ').map(OsStr::new));
            (wishes.color, wishes.limit)
        };
        assert!(scan(["a.o", "--vs-diagnostics"].map(OsStr::new).into_iter()).visual_studio);
        assert_eq!(of("a.o --color-diagnostics --error-limit=3"), (Some(true), Some(3)));
        assert_eq!(of("-color-diagnostics=never -error-limit 0 --nonsense"), (Some(false), Some(0)));
        assert_eq!(of("--color-diagnostics --color-diagnostics=auto --error-limit=x"), (None, None));
        assert_eq!(of("/ErrorLimit:5 -errorlimit:x"), (None, Some(5)));
        let is_json = |line: &str| scan(line.split(' ').map(OsStr::new)).json;
        assert!(
            is_json("--error-format=json a.o")
                && is_json("/Error-Format:json")
                && is_json("-error-format json")
        );
        assert!(!is_json("a.o") && !is_json("--error-format=json --error-format=human"));
    }

    #[test]
    fn pages_are_named_on_a_terminal_only() {
        let list = [
            Diagnostic::error(Cause::UndefinedSymbol, "e"),
            Diagnostic::error(Cause::UndefinedSymbol, "f"),
            Diagnostic::warning(Cause::DuplicateSymbol, "w"),
        ];
        let on_terminal = Renderer { is_terminal: true, ..renderer(false, 0) };
        assert!(
            on_terminal
                .text(&list)
                .ends_with("ld: warning: w\nld: weld explain undefined-symbol tells more\n")
        );
        assert!(!renderer(false, 0).text(&list).contains("explain"));
        let for_programs = Renderer { json: true, ..on_terminal };
        assert!(for_programs.text(&list).lines().all(|line| line.starts_with('{') && line.ends_with('}')));
    }
}
