//! Command lines from a table of options.
//!
//! A linker describes its options as data ([`Spec`] rows in [`Group`]s): names, what value follows,
//! what the option does, and its help. The parser, `--help` and the options page all come from that
//! one table. The index over its names is computed by the compiler ([`Index::new`] is `const`), so
//! that a link which lasts two milliseconds does not begin by building a map, and an argument
//! that does not start with `-` costs one comparison.
//!
//! Spelling follows GNU `ld` and `ld.lld`: long names take one dash or two, except that names which
//! start with `o` (and rows marked [`Spec::two_dashes`]) need two, because `-omagic` is `-o magic`.
//! An exact long name wins over a short option with its value joined: `-soname` is not `-s`.
//!
//! [`response`] expands `@file` arguments, [`help`] renders the table, [`slash`] parses options spelled as on
//! Windows, [`values`] reads what follows an option's name.

use std::ffi::OsStr;
use std::fmt;

use crate::diag::{Cause, Diagnostic, Severity};
use crate::text::os_str;

pub mod help;
pub mod response;
pub mod slash;
pub mod values;

pub use values::{ValueError, choice, choose};

/// What follows an option's name. The text is how help calls the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    None,
    /// `--name=V`, `--name V`; for a one-letter name `-nV`, `-n V`.
    Required(&'static str),
    /// As `Required`, but a one-letter name does not take a joined value: `-f V`, never `-fV`.
    Separate(&'static str),
    /// `--name` or `--name=V`.
    Optional(&'static str),
    /// The value is the rest of the argument and there is no `=`: `--lto-O2`, `-O2`.
    Suffix(&'static str),
}

/// An option as it was given, for the function that handles it.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The option as typed, with its dashes and without its value.
    pub spelling: &'a str,
    /// `None` only for [`Value::Optional`] without a value.
    pub value: Option<&'a OsStr>,
}

impl<'a> Given<'a> {
    /// The value as it came; empty if there is none.
    pub fn os(&self) -> &'a OsStr {
        self.value.unwrap_or_default()
    }

    /// The value as text.
    pub fn text(&self) -> Result<&'a str, ValueError> {
        let os = self.os();
        os.to_str().ok_or_else(|| ValueError::NotUtf8(os.to_owned()))
    }

    /// The value as an owned text.
    pub fn string(&self) -> Result<String, ValueError> {
        self.text().map(str::to_owned)
    }
}

/// What an option does.
pub enum Effect<C: Context + 'static> {
    Set(fn(&mut C)),
    /// The error does not name the option: the parser says which one it is about.
    Take(fn(&mut C, Given<'_>) -> Result<(), C::Error>),
    /// Accepted in silence, because nothing is lost; the text says why.
    Accepted(&'static str),
    /// Accepted with a warning: the program is right, but something that was asked for is missing.
    Lost(&'static str),
    /// An error: without it the output would not be what was asked for.
    Refused(&'static str),
}

/// One option with all its names.
pub struct Spec<C: Context + 'static> {
    /// Without dashes, the one that help shows first in front. A name of one letter is a short option.
    pub names: &'static [&'static str],
    pub value: Value,
    pub effect: Effect<C>,
    /// One or more sentences for help; empty where the effect carries its own text.
    pub help: &'static str,
    /// Long names are taken with two dashes only.
    pub two_dashes: bool,
}

/// Options that belong together under one heading of the help text.
pub struct Group<C: Context + 'static> {
    pub title: &'static str,
    /// Empty for options, which have dashes; `/` for those of Windows; `-z ` for the keywords of `-z`.
    pub prefix: &'static str,
    pub rows: &'static [Spec<C>],
}

/// A flag.
pub const fn flag<C: Context>(
    names: &'static [&'static str],
    help: &'static str,
    set: fn(&mut C),
) -> Spec<C> {
    Spec { names, value: Value::None, effect: Effect::Set(set), help, two_dashes: false }
}

/// An option with a value.
pub const fn take<C: Context>(
    names: &'static [&'static str],
    value: Value,
    help: &'static str,
    take: fn(&mut C, Given<'_>) -> Result<(), C::Error>,
) -> Spec<C> {
    Spec { names, value, effect: Effect::Take(take), help, two_dashes: false }
}

/// An option that needs no action: `why` completes "Accepted without effect: …".
pub const fn accepted<C: Context>(
    names: &'static [&'static str],
    value: Value,
    why: &'static str,
) -> Spec<C> {
    Spec { names, value, effect: Effect::Accepted(why), help: "", two_dashes: false }
}

/// An option that is warned about: `why` completes "… has no effect: …".
pub const fn lost<C: Context>(names: &'static [&'static str], value: Value, why: &'static str) -> Spec<C> {
    Spec { names, value, effect: Effect::Lost(why), help: "", two_dashes: false }
}

/// An option that stops the link: `why` completes "… is not supported: …".
pub const fn refused<C: Context>(names: &'static [&'static str], value: Value, why: &'static str) -> Spec<C> {
    Spec { names, value, effect: Effect::Refused(why), help: "", two_dashes: false }
}

impl<C: Context> Spec<C> {
    /// Marks the long names as needing two dashes.
    pub const fn two_dashes(mut self) -> Self {
        self.two_dashes = true;
        self
    }

    /// Whether the row's long name `name` may have one dash only.
    fn takes_one_dash(&self, name: &[u8]) -> bool {
        !self.two_dashes && name.first() != Some(&b'o')
    }
}

/// Where a row stands: group and row number.
type Place = (u8, u8);

const BUCKETS: usize = 256;

/// FNV-1a folded to a bucket number.
const fn bucket(name: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5u32;
    let mut i = 0;
    while i < name.len() {
        hash = (hash ^ name[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    (hash ^ (hash >> 16)) as usize % BUCKETS
}

/// How many names a table has: the `N` of its [`Index`].
pub const fn name_count<C: Context>(groups: &[Group<C>]) -> usize {
    let (mut n, mut g) = (0, 0);
    while g < groups.len() {
        let mut r = 0;
        while r < groups[g].rows.len() {
            n += groups[g].rows[r].names.len();
            r += 1;
        }
        g += 1;
    }
    n
}

/// A hash table over the `N` names of a table, made by the compiler.
pub struct Index<const N: usize> {
    starts: [u16; BUCKETS + 1],
    places: [Place; N],
}

impl<const N: usize> Index<N> {
    /// A counting sort of the names by bucket.
    pub const fn new<C: Context>(groups: &[Group<C>]) -> Self {
        assert!(groups.len() <= 256 && N < u16::MAX as usize);
        let mut starts = [0u16; BUCKETS + 1];
        let mut places = [(0u8, 0u8); N];
        // The first round counts, the second places; `starts[b]` then ends up at its bucket's start.
        let mut round = 0;
        while round < 2 {
            let mut g = 0;
            while g < groups.len() {
                assert!(groups[g].rows.len() <= 256);
                let mut r = 0;
                while r < groups[g].rows.len() {
                    let names = groups[g].rows[r].names;
                    let mut k = 0;
                    while k < names.len() {
                        let b = bucket(names[k].as_bytes());
                        if round == 0 {
                            starts[b] += 1;
                        } else {
                            starts[b] -= 1;
                            places[starts[b] as usize] = (g as u8, r as u8);
                        }
                        k += 1;
                    }
                    r += 1;
                }
                g += 1;
            }
            if round == 0 {
                let mut b = 1;
                while b <= BUCKETS {
                    starts[b] += starts[b - 1];
                    b += 1;
                }
            }
            round += 1;
        }
        Index { starts, places }
    }
}

/// All options of one linker.
pub struct Table<C: Context + 'static> {
    pub groups: &'static [Group<C>],
    starts: &'static [u16; BUCKETS + 1],
    places: &'static [Place],
}

impl<C: Context> Table<C> {
    /// `index` must have been made from the same groups.
    pub const fn new<const N: usize>(groups: &'static [Group<C>], index: &'static Index<N>) -> Self {
        Table { groups, starts: &index.starts, places: &index.places }
    }

    /// All rows in the order of the table.
    pub fn rows(&self) -> impl Iterator<Item = &'static Spec<C>> + use<C> {
        self.groups.iter().flat_map(|g| g.rows)
    }

    /// The row that has exactly this name (no dashes).
    pub fn row(&self, name: &[u8]) -> Option<&'static Spec<C>> {
        let b = bucket(name);
        let places = &self.places[self.starts[b] as usize..self.starts[b + 1] as usize];
        places
            .iter()
            .map(|&(g, r)| &self.groups[g as usize].rows[r as usize])
            .find(|row| row.names.iter().any(|n| n.as_bytes() == name))
    }

    /// The known name nearest to a mistyped one, both without dashes and value; or the only one that it
    /// begins, for GNU ld takes such names.
    pub fn nearest(&self, typed: &str) -> Option<&'static str> {
        let begun = || self.rows().flat_map(|row| row.names).filter(|name| name.starts_with(typed));
        if typed.len() > 2
            && let Some(first) = begun().next()
            && begun().count() == 1
        {
            return Some(first);
        }
        let limit = if typed.len() < 5 { 1 } else { 2 };
        let mut best: Option<(usize, &'static str)> = None;
        for name in self.rows().flat_map(|row| row.names).filter(|n| n.len() > 1) {
            let distance = edit_distance(typed.as_bytes(), name.as_bytes());
            if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
                best = Some((distance, name));
            }
        }
        best.map(|(_, name)| name)
    }
}

/// What the parser tells of what it finds. The option functions work on the same object.
pub trait Context {
    /// Why an option cannot be carried out. What all command lines find wrong with values is [`ValueError`].
    type Error: fmt::Display;

    /// An argument that is not an option.
    fn input(&mut self, path: &OsStr);

    /// Something is wrong with the argument that is being parsed.
    fn problem(&mut self, problem: Diagnostic);

    /// The number of the argument that is parsed from now on, counted after `@file` expansion.
    fn at(&mut self, position: usize);
}

/// What is wrong with a command line, for a [`Context`]: in the order of the arguments. One warning is enough
/// for an option that is given a thousand times.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Diagnostic>,
    position: usize,
}

impl Problems {
    /// What is added from now on speaks of argument number `position`.
    pub fn at(&mut self, position: usize) {
        self.position = position;
    }

    pub fn add(&mut self, problem: Diagnostic) {
        let is_warning = problem.severity == Severity::Warning;
        if !is_warning || self.list.iter().all(|p| p.message != problem.message) {
            self.list.push(problem.at(self.position as u64));
        }
    }

    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|problem| problem.severity == Severity::Error)
    }

    pub fn into_list(self) -> Vec<Diagnostic> {
        self.list
    }
}

/// One or two arguments that belong together.
pub enum Piece<'a, C: Context + 'static> {
    Input(&'a OsStr),
    Option(&'static Spec<C>, Given<'a>),
    Wrong(Diagnostic),
}

/// Takes arguments (without the program's name, `@file` expanded) apart, in order. With each piece
/// comes the number of its first argument.
pub fn pieces<'a, C: Context>(
    table: &Table<C>,
    args: &[&'a OsStr],
) -> impl Iterator<Item = (usize, Piece<'a, C>)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let at = next;
        let arg = args.get(at)?.as_encoded_bytes();
        next += 1;
        if arg.first() != Some(&b'-') || arg.len() == 1 {
            return Some((at, Piece::Input(os_str(arg))));
        }
        let Some(found) = find(table, arg) else { return Some((at, Piece::Wrong(unknown(table, arg)))) };
        let wrong = |text: String| Some((at, Piece::Wrong(Diagnostic::error(Cause::BadOption, text))));
        let value = match (found.row.value, found.value) {
            (Value::Required(_) | Value::Separate(_), None) => {
                let Some(&value) = args.get(next) else {
                    return wrong(format!("{}: missing value", found.spelling));
                };
                next += 1;
                Some(value)
            }
            (Value::None, Some(_)) => return wrong(format!("{} takes no value", found.spelling)),
            (_, value) => value,
        };
        Some((at, Piece::Option(found.row, Given { spelling: found.spelling, value })))
    })
}

/// Parses `args` (without the program's name, `@file` expanded) in order. Problems go to the
/// context and do not stop the parser: a user gets all of them at once.
pub fn parse<C: Context>(table: &Table<C>, args: &[&OsStr], context: &mut C) {
    for (position, piece) in pieces(table, args) {
        context.at(position);
        match piece {
            Piece::Input(path) => context.input(path),
            Piece::Option(row, given) => carry_out(context, row, given),
            Piece::Wrong(problem) => context.problem(problem),
        }
    }
}

/// Carries out the keyword that is the value of an option such as `-z`, from a table of its own.
/// `NAME` and `NAME=VALUE` are understood. `false`: the table does not have it.
pub fn keyword<C: Context>(table: &Table<C>, given: Given<'_>, context: &mut C) -> Result<bool, ValueError> {
    let text = given.text()?;
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let Some(row) = table.row(name.as_bytes()) else { return Ok(false) };
    let spelling = format!("{} {name}", given.spelling);
    match (row.value, value) {
        (Value::None, Some(_)) => {
            context.problem(Diagnostic::error(Cause::BadOption, format!("{spelling} takes no value")))
        }
        (Value::Required(what), None) => {
            context.problem(Diagnostic::error(
                Cause::BadOption,
                format!("{spelling}: missing value: {name}={what}"),
            ));
        }
        _ => carry_out(context, row, Given { spelling: &spelling, value: value.map(OsStr::new) }),
    }
    Ok(true)
}

/// Carries out one option.
pub fn carry_out<C: Context>(context: &mut C, row: &Spec<C>, given: Given<'_>) {
    let spelling = given.spelling;
    match row.effect {
        Effect::Set(set) => set(context),
        Effect::Take(take) => {
            if let Err(error) = take(context, given) {
                context.problem(Diagnostic::error(Cause::BadOption, format!("{spelling}: {error}")));
            }
        }
        Effect::Accepted(_) => {}
        Effect::Lost(why) => {
            context.problem(Diagnostic::warning(
                Cause::OptionWithoutEffect,
                format!("{spelling} has no effect: {why}"),
            ));
        }
        Effect::Refused(why) => {
            context.problem(Diagnostic::error(
                Cause::UnsupportedOption,
                format!("{spelling} is not supported: {why}"),
            ));
        }
    }
}

/// A row that an argument names, and the value if it is part of the same argument.
struct Found<'a, C: Context + 'static> {
    row: &'static Spec<C>,
    spelling: &'a str,
    value: Option<&'a OsStr>,
}

/// Looks one argument up. `arg` starts with a dash and has at least two bytes.
fn find<'a, C: Context>(table: &Table<C>, arg: &'a [u8]) -> Option<Found<'a, C>> {
    let dashes = if arg[1] == b'-' { 2 } else { 1 };
    let body = &arg[dashes..];
    let found = |row, name_len: usize, value: Option<&'a [u8]>| {
        // Names are ASCII, so the spelling always is text.
        let spelling = std::str::from_utf8(&arg[..dashes + name_len]).ok()?;
        Some(Found { row, spelling, value: value.map(os_str) })
    };
    let equals = memchr::memchr(b'=', body);
    let name = &body[..equals.unwrap_or(body.len())];
    if name.len() > 1
        && let Some(row) = table.row(name)
        && (dashes == 2 || row.takes_one_dash(name))
        && !matches!(row.value, Value::Suffix(_))
    {
        return found(row, name.len(), equals.map(|at| &body[at + 1..]));
    }
    if dashes == 1
        && let Some(row) = table.row(&body[..1])
    {
        match row.value {
            Value::Required(_) | Value::Suffix(_) if body.len() > 1 => {
                return found(row, 1, Some(&body[1..]));
            }
            _ if body.len() == 1 => return found(row, 1, None),
            _ => {}
        }
    }
    // Only what would be an unknown option comes here, so a walk over the table is fine.
    for row in table.rows().filter(|row| matches!(row.value, Value::Suffix(_))) {
        for name in row.names {
            if dashes == 2 && body.len() > name.len() && body.starts_with(name.as_bytes()) {
                return found(row, name.len(), Some(&body[name.len()..]));
            }
        }
    }
    None
}

#[cold]
fn unknown<C: Context>(table: &Table<C>, arg: &[u8]) -> Diagnostic {
    let text = crate::text::text(arg);
    let name = text.split('=').next().unwrap_or_default();
    let mut message = format!("unknown option '{text}'");
    if let Some(nearest) = table.nearest(name.trim_start_matches('-')) {
        message.push_str(&format!("; did you mean '--{nearest}'?"));
    }
    Diagnostic::error(Cause::UnknownOption, message)
}

/// How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j - 1] + same).min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        log: Vec<String>,
    }

    impl Context for Seen {
        type Error = ValueError;

        fn input(&mut self, path: &OsStr) {
            self.log.push(format!("input {}", path.display()));
        }
        fn problem(&mut self, problem: Diagnostic) {
            self.log.push(problem.to_string());
        }
        fn at(&mut self, _position: usize) {}
    }

    fn log(seen: &mut Seen, given: Given<'_>) -> Result<(), ValueError> {
        seen.log.push(format!("{} {:?}", given.spelling, given.value.map(|v| v.to_string_lossy())));
        Ok(())
    }

    const GROUPS: &[Group<Seen>] = &[
        Group {
            title: "First",
            prefix: "",
            rows: &[
                take(&["o", "output"], Value::Required("FILE"), "Write FILE.", log),
                flag(&["s", "strip-all"], "Strip.", |s: &mut Seen| s.log.push("strip".into())),
                take(&["soname"], Value::Required("NAME"), "Name.", log),
                flag(&["omagic"], "Old.", |s: &mut Seen| s.log.push("omagic".into())),
                take(&["l", "library"], Value::Required("NAME"), "Library.", log),
                take(&["lto"], Value::Required("KIND"), "Whole programs.", log).two_dashes(),
            ],
        },
        Group {
            title: "Second",
            prefix: "",
            rows: &[
                take(&["f", "auxiliary"], Value::Separate("NAME"), "Auxiliary.", log),
                take(&["build-id"], Value::Optional("STYLE"), "Id.", log),
                take(&["lto-O"], Value::Suffix("N"), "Level.", log),
                take(&["O"], Value::Suffix("N"), "Level.", log),
                accepted(&["g"], Value::None, "as others do"),
                lost(&["icf"], Value::Required("KIND"), "nothing is folded"),
                refused(&["nmagic"], Value::None, "pages are always aligned"),
            ],
        },
    ];
    static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);
    static TABLE: Table<Seen> = Table::new(GROUPS, &INDEX);

    fn seen(args: &[&str]) -> Vec<String> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let mut seen = Seen::default();
        parse(&TABLE, &args, &mut seen);
        seen.log
    }

    #[test]
    fn every_name_is_found() {
        for row in TABLE.rows() {
            for name in row.names {
                assert!(std::ptr::eq(TABLE.row(name.as_bytes()).unwrap(), row), "{name}");
            }
        }
        assert!(TABLE.row(b"").is_none());
    }

    #[test]
    fn values_joined_separate_and_with_equals() {
        assert_eq!(
            seen(&["-oa", "-o", "b", "--output=c", "--output", "d"]),
            ["-o Some(\"a\")", "-o Some(\"b\")", "--output Some(\"c\")", "--output Some(\"d\")"]
        );
        assert_eq!(seen(&["-f", "x", "--auxiliary=y"]), ["-f Some(\"x\")", "--auxiliary Some(\"y\")"]);
        assert_eq!(seen(&["--build-id", "--build-id=md5"]), ["--build-id None", "--build-id Some(\"md5\")"]);
        assert_eq!(
            seen(&["--lto-O3", "-O2", "--O1"]),
            ["--lto-O Some(\"3\")", "-O Some(\"2\")", "--O Some(\"1\")"]
        );
    }

    #[test]
    fn one_dash_or_two() {
        assert_eq!(seen(&["-soname=a", "--soname", "b"]), ["-soname Some(\"a\")", "--soname Some(\"b\")"]);
        assert_eq!(seen(&["-omagic", "--omagic"]), ["-o Some(\"magic\")", "omagic"]);
        assert_eq!(seen(&["-lto=x"]), ["-l Some(\"to=x\")"]);
        assert_eq!(seen(&["-s"]), ["strip"]);
        assert_eq!(seen(&["--s"]), ["error: unknown option '--s'"]);
    }

    #[test]
    fn inputs_are_what_does_not_look_like_an_option() {
        assert_eq!(seen(&["a.o", "-", ""]), ["input a.o", "input -", "input "]);
    }

    #[test]
    fn problems_do_not_stop_the_parser() {
        assert_eq!(
            seen(&["--sonam=x", "-flto", "--strip-all=1", "--", "-s", "-l"]),
            [
                "error: unknown option '--sonam=x'; did you mean '--soname'?",
                "error: unknown option '-flto'; did you mean '--lto'?",
                "error: --strip-all takes no value",
                "error: unknown option '--'",
                "strip",
                "error: -l: missing value"
            ]
        );
    }

    #[test]
    fn options_that_do_nothing_say_so_unless_nothing_is_lost() {
        assert_eq!(
            seen(&["-g", "-icf=all", "--nmagic"]),
            [
                "warning: -icf has no effect: nothing is folded",
                "error: --nmagic is not supported: pages are always aligned"
            ]
        );
    }

    #[test]
    fn keywords_are_a_table_of_their_own() {
        let run = |text: &str| {
            let mut seen = Seen::default();
            let given = Given { spelling: "-z", value: Some(OsStr::new(text)) };
            let found = keyword(&TABLE, given, &mut seen);
            (found, seen.log)
        };
        assert_eq!(run("soname=x=y"), (Ok(true), vec!["-z soname Some(\"x=y\")".to_string()]));
        assert_eq!(run("strip-all"), (Ok(true), vec!["strip".to_string()]));
        assert_eq!(run("strip-all=1").1, ["error: -z strip-all takes no value"]);
        assert_eq!(run("soname").1, ["error: -z soname: missing value: soname=NAME"]);
        assert_eq!(run("nosuch=1").0, Ok(false));
    }

    #[test]
    fn distances() {
        assert_eq!(edit_distance(b"", b"abc"), 3);
        assert_eq!(edit_distance(b"shraed", b"shared"), 1);
        assert_eq!(edit_distance(b"pei", b"pie"), 1);
    }
}
