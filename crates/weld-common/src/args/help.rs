//! `--help` and the options page, rendered from the table of options.
//!
//! Configure scripts search the help text for names, so every name of the table is in it, spelled
//! with the dashes it takes.

use std::fmt::Write;

use super::{Context, Effect, Group, Spec, Value};

/// Column at which the descriptions of the help text start, and where its lines end.
const INDENT: usize = 30;
const WIDTH: usize = 100;

/// The body of `--help`: each option that does something under its group's title, then the names of
/// the others. Ends with a newline.
pub fn text<C: Context>(groups: &[&Group<C>]) -> String {
    let mut out = String::new();
    for group in groups {
        let mut title = Some(group.title);
        for row in group.rows.iter().filter(|row| matches!(row.effect, Effect::Set(_) | Effect::Take(_))) {
            if let Some(title) = title.take() {
                _ = write!(out, "\n{title}:\n");
            }
            describe(&mut out, &spellings(group, row).join(", "), row.help);
        }
    }
    let mut list = |title: &str, pick: fn(&Effect<C>) -> bool| {
        let mut names = Vec::new();
        for group in groups {
            let rows = group.rows.iter().filter(|row| pick(&row.effect));
            names.extend(rows.flat_map(|row| spellings(group, row)));
        }
        if !names.is_empty() {
            _ = write!(out, "\n{title}:\n");
            wrap(&mut out, &names.join(", "), 2);
        }
    };
    list("Accepted without effect", |effect| matches!(effect, Effect::Accepted(_)));
    list("Accepted with a warning", |effect| matches!(effect, Effect::Lost(_)));
    list("Not supported in this version", |effect| matches!(effect, Effect::Refused(_)));
    out
}

/// The options as Markdown: a section and a table for each group.
pub fn markdown<C: Context>(groups: &[&Group<C>]) -> String {
    let mut out = String::new();
    for group in groups {
        _ = write!(out, "\n## {}\n\n| Option | What it does |\n|---|---|\n", group.title);
        for row in group.rows {
            let names: Vec<String> = spellings(group, row).iter().map(|name| format!("`{name}`")).collect();
            _ = writeln!(out, "| {} | {} |", cell(&names.join(", ")), cell(&meaning(row)));
        }
    }
    out
}

/// A name of an option, for what completes command lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// With the dashes it takes.
    pub spelling: String,
    pub value: Value,
    /// The first sentence of what help says.
    pub help: &'static str,
}

/// The names of all options that do something.
pub fn names<C: Context>(groups: &[&Group<C>]) -> Vec<Name> {
    let mut out = Vec::new();
    for group in groups {
        for row in group.rows.iter().filter(|row| matches!(row.effect, Effect::Set(_) | Effect::Take(_))) {
            let help = row.help.split_inclusive(". ").next().unwrap_or_default().trim_end();
            let name = |name: &&str| Name { spelling: dashed(group, name), value: row.value, help };
            out.extend(row.names.iter().map(name));
        }
    }
    out
}

/// What a row does, in a sentence.
fn meaning<C: Context>(row: &Spec<C>) -> String {
    match row.effect {
        Effect::Set(_) | Effect::Take(_) => row.help.to_owned(),
        Effect::Accepted(why) => format!("Accepted without effect: {why}."),
        Effect::Lost(why) => format!("Warning, no effect: {why}."),
        Effect::Refused(why) => format!("Error, not supported: {why}."),
    }
}

/// `|` ends a cell of a Markdown table and `<` starts a tag.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The names of a row as they are typed, with the value after the last one.
fn spellings<C: Context>(group: &Group<C>, row: &Spec<C>) -> Vec<String> {
    let mut all: Vec<String> = row.names.iter().map(|name| dashed(group, name)).collect();
    if let Some(last) = all.last_mut() {
        let short = row.names.last().is_some_and(|name| name.len() == 1);
        let between = match (group.prefix, short) {
            ("/", _) => ':',
            (_, true) => ' ',
            (_, false) => '=',
        };
        match row.value {
            Value::None => {}
            Value::Required(value) | Value::Separate(value) => {
                _ = write!(last, "{between}{value}");
            }
            Value::Optional(value) => {
                let between = if between == ':' { ':' } else { '=' };
                _ = write!(last, "[{between}{value}]");
            }
            Value::Suffix(value) => last.push_str(value),
        }
    }
    all
}

/// A name as it is typed.
fn dashed<C: Context>(group: &Group<C>, name: &str) -> String {
    match (group.prefix, name.len()) {
        ("", 1) => format!("-{name}"),
        ("", _) => format!("--{name}"),
        (prefix, _) => format!("{prefix}{name}"),
    }
}

/// One entry of the help text.
fn describe(out: &mut String, names: &str, help: &str) {
    _ = write!(out, "  {names}");
    if names.len() + 4 > INDENT {
        out.push('\n');
        wrap(out, help, INDENT);
    } else {
        let mut lines = String::new();
        wrap(&mut lines, help, INDENT);
        out.push_str(&" ".repeat(INDENT - 2 - names.len()));
        out.push_str(lines.trim_start());
    }
}

/// Fills lines with the words of `text`.
fn wrap(out: &mut String, text: &str, indent: usize) {
    let mut column = 0;
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.len() > WIDTH {
            out.push('\n');
            column = 0;
        }
        if column == 0 {
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::ValueError;
    use super::super::{accepted, flag, lost, refused};
    use super::*;
    use crate::diag::Diagnostic;

    /// Nothing is parsed here.
    struct Nothing;

    impl Context for Nothing {
        type Error = ValueError;

        fn input(&mut self, _: &std::ffi::OsStr) {}
        fn problem(&mut self, _: Diagnostic) {}
        fn at(&mut self, _: usize) {}
    }

    const GROUPS: &[Group<Nothing>] = &[
        Group {
            title: "Output",
            prefix: "",
            rows: &[
                flag(&["s", "strip-all"], "Leave the symbol table out.", |_| {}),
                super::super::take(&["output", "o"], Value::Required("FILE"), "Write a|b.", |_, _| Ok(())),
                super::super::take(
                    &["color-diagnostics"],
                    Value::Optional("WHEN"),
                    "Say it in colour.",
                    |_, _| Ok(()),
                ),
            ],
        },
        Group {
            title: "Others",
            prefix: "",
            rows: &[
                accepted(&["g"], Value::None, "it means nothing"),
                lost(&["icf"], Value::Required("KIND"), "nothing is folded"),
                refused(&["chroot"], Value::Required("DIR"), "use a container"),
            ],
        },
    ];
    const KEYWORDS: Group<Nothing> =
        Group { title: "Keywords", prefix: "-z ", rows: &[flag(&["now"], "Bind early.", |_| {})] };

    #[test]
    fn help_lists_all_names() {
        let expected = "
Output:
  -s, --strip-all             Leave the symbol table out.
  --output, -o FILE           Write a|b.
  --color-diagnostics[=WHEN]  Say it in colour.

Keywords:
  -z now                      Bind early.

Accepted without effect:
  -g

Accepted with a warning:
  --icf=KIND

Not supported in this version:
  --chroot=DIR
";
        assert_eq!(text(&[&GROUPS[0], &GROUPS[1], &KEYWORDS]), expected);
    }

    #[test]
    fn names_that_do_something() {
        let names = names(&[&GROUPS[0], &GROUPS[1], &KEYWORDS]);
        let spellings: Vec<&str> = names.iter().map(|name| name.spelling.as_str()).collect();
        assert_eq!(spellings, ["-s", "--strip-all", "--output", "-o", "--color-diagnostics", "-z now"]);
        assert_eq!(names[3].value, Value::Required("FILE"));
    }

    #[test]
    fn long_text_is_wrapped() {
        let mut out = String::new();
        wrap(&mut out, &"word ".repeat(30), 10);
        assert!(
            out.lines().count() == 2 && out.lines().all(|l| l.starts_with("          w") && l.len() <= WIDTH)
        );
    }

    #[test]
    fn markdown_has_a_line_for_each_option() {
        let page = markdown(&[&GROUPS[0], &GROUPS[1]]);
        assert!(page.contains("\n## Output\n\n| Option | What it does |\n"));
        assert!(page.contains("| `--output`, `-o FILE` | Write a\\|b. |\n"));
        assert!(page.contains("| `--icf=KIND` | Warning, no effect: nothing is folded. |\n"));
    }
}
