//! Options as programs of Windows take them: `/name`, `/name:value`.
//!
//! A name begins with `/`, `-` or `--` and its case does not count; the table has it in small letters. The
//! value follows a colon (or `=`, in the few options that other linkers spell so). Where paths begin with a
//! slash too, a word that names no option may be a file. Programs of Windows go on without options that they
//! do not know, with a warning.

use std::ffi::OsStr;

use super::{Context, Given, Piece, Table, Value, carry_out};
use crate::diag::{Cause, Diagnostic};
use crate::text::{os_str, text};

/// Takes arguments apart, in order. `is_file` tells whether a word that begins like an option and is none is
/// a path.
pub fn pieces<'a, C: Context>(
    table: &Table<C>,
    args: &[&'a OsStr],
    is_file: impl Fn(&OsStr) -> bool,
) -> impl Iterator<Item = (usize, Piece<'a, C>)> {
    args.iter().enumerate().map(move |(at, &arg)| (at, piece(table, arg, &is_file)))
}

/// Parses `args` in order. Problems go to the context and do not stop the parser.
pub fn parse<C: Context>(
    table: &Table<C>,
    args: &[&OsStr],
    is_file: impl Fn(&OsStr) -> bool,
    context: &mut C,
) {
    for (position, piece) in pieces(table, args, is_file) {
        context.at(position);
        match piece {
            Piece::Input(path) => context.input(path),
            Piece::Option(row, given) => carry_out(context, row, given),
            Piece::Wrong(problem) => context.problem(problem),
        }
    }
}

fn piece<'a, C: Context>(
    table: &Table<C>,
    arg: &'a OsStr,
    is_file: &impl Fn(&OsStr) -> bool,
) -> Piece<'a, C> {
    let bytes = arg.as_encoded_bytes();
    let marks = match bytes {
        // Microsoft's tools pass over a question mark.
        [b'-', b'-', _, ..] | [b'/' | b'-', b'?', _, ..] => 2,
        [b'/' | b'-', _, ..] => 1,
        _ => return Piece::Input(arg),
    };
    let body = &bytes[marks..];
    let end = memchr::memchr2(b':', b'=', body).unwrap_or(body.len());
    let name = body[..end].to_ascii_lowercase();
    let (Some(row), Ok(spelling)) = (table.row(&name), std::str::from_utf8(&bytes[..marks + end])) else {
        return if bytes[0] == b'/' && is_file(arg) {
            Piece::Input(arg)
        } else {
            unknown(table, bytes, marks, &name)
        };
    };
    let value = (end < body.len()).then(|| os_str(&body[end + 1..]));
    match (row.value, value) {
        (Value::None, Some(_)) => {
            Piece::Wrong(Diagnostic::error(Cause::BadOption, format!("{spelling} takes no value")))
        }
        (Value::Required(_) | Value::Separate(_) | Value::Suffix(_), None) => {
            Piece::Wrong(Diagnostic::error(Cause::BadOption, format!("{spelling}: missing value")))
        }
        (_, value) => Piece::Option(row, Given { spelling, value }),
    }
}

#[cold]
fn unknown<'a, C: Context>(table: &Table<C>, arg: &[u8], marks: usize, name: &[u8]) -> Piece<'a, C> {
    let shown = text(arg);
    let nearest = table.nearest(&text(name));
    let (front, value) = (text(&arg[..marks]), text(&arg[marks + name.len()..]));
    let nearest = nearest.map(|nearest| format!(" did you mean '{front}{nearest}{value}'"));
    let nearest = nearest.unwrap_or_default();
    Piece::Wrong(match arg[0] {
        // It looks like a path more than like an option.
        b'/' => {
            let mark = if nearest.is_empty() { "" } else { ";" };
            Diagnostic::error(
                Cause::CannotOpenFile,
                format!("could not open '{shown}': No such file or directory{mark}{nearest}"),
            )
        }
        _ => {
            let mark = if nearest.is_empty() { "" } else { "," };
            Diagnostic::warning(Cause::UnknownOption, format!("{UNKNOWN} '{shown}'{mark}{nearest}"))
        }
    })
}

/// How warnings of options begin that the table does not have.
pub const UNKNOWN: &str = "ignoring unknown argument";

#[cfg(test)]
mod tests {
    use super::super::{Group, Index, ValueError, accepted, flag, name_count, take};
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Context for Seen {
        type Error = ValueError;

        fn input(&mut self, path: &OsStr) {
            self.0.push(format!("input {}", path.display()));
        }
        fn problem(&mut self, problem: Diagnostic) {
            self.0.push(problem.to_string());
        }
        fn at(&mut self, _: usize) {}
    }

    fn log(seen: &mut Seen, given: Given<'_>) -> Result<(), ValueError> {
        seen.0.push(format!("{} {:?}", given.spelling, given.value.map(|v| v.to_string_lossy())));
        Ok(())
    }

    const GROUPS: &[Group<Seen>] = &[Group {
        title: "All",
        prefix: "/",
        rows: &[
            take(&["out"], Value::Required("FILE"), "Write FILE.", log),
            take(&["debug"], Value::Optional("KIND"), "Debug.", log),
            flag(&["dll"], "Make a DLL.", |s: &mut Seen| s.0.push("dll".into())),
            accepted(&["nologo"], Value::None, "there is none"),
        ],
    }];
    static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);
    static TABLE: Table<Seen> = Table::new(GROUPS, &INDEX);

    #[test]
    fn names_values_and_files() {
        let args = [
            "/OUT:a:b=c",
            "-Out=d",
            "--dll",
            "/Debug",
            "/debug:",
            "x.obj",
            "/tmp/x.obj",
            "/nologo",
            "-",
            "/",
        ];
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let mut seen = Seen::default();
        parse(&TABLE, &args, |path| path == "/tmp/x.obj", &mut seen);
        let want = [
            "/OUT Some(\"a:b=c\")",
            "-Out Some(\"d\")",
            "dll",
            "/Debug None",
            "/debug Some(\"\")",
            "input x.obj",
            "input /tmp/x.obj",
            "input -",
            "input /",
        ];
        assert_eq!(seen.0, want);
    }

    #[test]
    fn problems() {
        let args: Vec<&OsStr> =
            ["/ouT", "/dll:x", "/debg:x", "-tmp/x", "-debg"].iter().map(OsStr::new).collect();
        let mut seen = Seen::default();
        parse(&TABLE, &args, |_| false, &mut seen);
        let want = [
            "error: /ouT: missing value",
            "error: /dll takes no value",
            "error: could not open '/debg:x': No such file or directory; did you mean '/debug:x'",
            "warning: ignoring unknown argument '-tmp/x'",
            "warning: ignoring unknown argument '-debg', did you mean '-debug'",
        ];
        assert_eq!(seen.0, want);
    }
}
