//! Test files and the variants they expand to.
//!
//! Directives are lines that start with `//# ` (Fortran: `!# `). A line `//--- NAME` ends a part:
//! what follows is the file NAME. What comes before the first such line is the file itself, or
//! nothing if its name ends in `.test`.

use crate::flavour::Flavour;
use crate::machine::{self, NATIVE};
use crate::words;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// `[!kind=pie|nopie weld]` in front of a directive: all must hold.
#[derive(Clone, Debug)]
struct Condition {
    negated: bool,
    variable: String,
    values: Vec<String>,
}

impl Condition {
    fn parse(word: &str) -> Condition {
        let (negated, word) = word.strip_prefix('!').map_or((false, word), |w| (true, w));
        // A bare word names linkers.
        let (variable, values) = word.split_once('=').unwrap_or(("linker", word));
        let values = values.split('|').map(str::to_owned).collect();
        Condition { negated, variable: variable.to_owned(), values }
    }

    fn holds(&self, vars: &Vars) -> bool {
        vars.get(&self.variable).is_some_and(|v| self.values.contains(v)) != self.negated
    }
}

#[derive(Clone, Debug)]
pub struct Directive {
    pub line: usize,
    conditions: Vec<Condition>,
    pub key: String,
    pub value: String,
}

/// A file that a test brings along.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    pub text: String,
}

#[derive(Debug)]
pub struct TestFile {
    /// `family/stem`; `coff/family/stem` for those of the linker for Windows.
    pub name: String,
    pub flavour: Flavour,
    pub path: PathBuf,
    pub parts: Vec<Part>,
    directives: Vec<Directive>,
}

/// Variables of a variant: `cc`, `libc`, `kind`, `linker` and what `matrix:` adds.
pub type Vars = BTreeMap<String, String>;

/// One variant of a test file.
#[derive(Clone, Debug)]
pub struct Test {
    pub file: Rc<TestFile>,
    pub vars: Vars,
    /// `family/stem` or `family/stem[gcc,pie]`.
    pub name: String,
}

/// What to do with a test before it runs.
pub enum Fate {
    Run,
    /// Not run with this linker, and why.
    Skip(String),
    /// Run, and expected to fail, and why.
    ExpectFailure(String),
}

impl TestFile {
    pub fn read(root: &Path, path: &Path) -> Result<TestFile, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let relative = path.strip_prefix(root).unwrap_or(path).with_extension("");
        // Names of ELF tests are older than the other kind.
        let relative = relative.strip_prefix("elf").unwrap_or(&relative);
        let file_name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        TestFile::parse(&relative.to_string_lossy(), &file_name, path, &text)
    }

    fn parse(name: &str, file_name: &str, path: &Path, text: &str) -> Result<TestFile, String> {
        let mut parts = vec![Part { name: file_name.to_owned(), text: String::new() }];
        let mut directives: Vec<Directive> = Vec::new();
        let mut continued = false;
        for (i, line) in text.lines().enumerate() {
            if let Some(reader) = hasty_reader(line) {
                return Err(format!(
                    "{name}:{}: `|{reader}` ends before it has read all, and then `pipefail` may fail the line; write `>/dev/null` for -q",
                    i + 1
                ));
            }
            if let Some(part) = line.strip_prefix("//--- ") {
                parts.push(Part { name: part.trim().to_owned(), text: String::new() });
                continue;
            }
            if let Some(part) = parts.last_mut() {
                part.text.push_str(line);
                part.text.push('\n');
            }
            let Some(body) = line.strip_prefix("//# ").or_else(|| line.strip_prefix("!# ")) else { continue };
            let (body, more) = body.strip_suffix('\\').map_or((body, false), |b| (b.trim_end(), true));
            match directives.last_mut() {
                Some(last) if continued => {
                    last.value.push(' ');
                    last.value.push_str(body.trim());
                }
                _ => directives.push(directive(i + 1, body).map_err(|e| format!("{name}:{}: {e}", i + 1))?),
            }
            continued = more;
        }
        if file_name.ends_with(".test") {
            parts.remove(0);
        }
        let flavour = Flavour::of_name(name.split('/').next().unwrap_or_default());
        Ok(TestFile { name: name.to_owned(), flavour, path: path.to_owned(), parts, directives })
    }

    /// The variants: the product of the `matrix:` lists without the `except:` rows.
    pub fn expand(self, linker: &str) -> Result<Vec<Test>, String> {
        let file = Rc::new(self);
        let cc = file.flavour.compiler();
        let base: Vars =
            [("cc", cc), ("libc", "glibc"), ("kind", "pie"), ("linker", linker), ("machine", NATIVE)]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .into();
        let mut rows: Vec<(Vars, Vec<String>)> = vec![(base, Vec::new())];
        for d in file.directives.iter().filter(|d| d.key == "matrix") {
            for axis in d.value.split_whitespace() {
                let (name, values) =
                    axis.split_once('=').ok_or_else(|| format!("{}: bad matrix `{axis}`", file.name))?;
                rows = product(&rows, name, values);
            }
        }
        // The same once more for each other machine; musl is not there.
        let native: Vec<_> = rows.iter().filter(|row| row.0["libc"] == "glibc").cloned().collect();
        for d in file.directives.iter().filter(|d| d.key == "machines") {
            for name in d.value.split_whitespace() {
                let foreign = machine::foreign(name);
                let foreign = foreign.ok_or_else(|| format!("{}: unknown machine `{name}`", file.name))?;
                let can = |row: &&(Vars, Vec<String>)| foreign.static_pie || row.0["kind"] != "static-pie";
                let possible: Vec<_> = native.iter().filter(can).cloned().collect();
                rows.extend(product(&possible, "machine", name));
            }
        }
        let excepts: Vec<Vec<Condition>> = file
            .directives
            .iter()
            .filter(|d| d.key == "except")
            .map(|d| before_reason(&d.value).0.split_whitespace().map(Condition::parse).collect())
            .collect();
        rows.retain(|(vars, _)| !excepts.iter().any(|e| e.iter().all(|c| c.holds(vars))));
        let name = |labels: Vec<String>| match labels.is_empty() {
            true => file.name.clone(),
            false => format!("{}[{}]", file.name, labels.join(",")),
        };
        let test = |(vars, labels)| Test { file: Rc::clone(&file), vars, name: name(labels) };
        Ok(rows.into_iter().map(test).collect())
    }
}

fn product(rows: &[(Vars, Vec<String>)], name: &str, values: &str) -> Vec<(Vars, Vec<String>)> {
    let mut out = Vec::new();
    for (vars, labels) in rows {
        for value in values.split(',') {
            let (mut vars, mut labels) = (vars.clone(), labels.clone());
            vars.insert(name.to_owned(), value.to_owned());
            labels.push(value.to_owned());
            out.push((vars, labels));
        }
    }
    out
}

/// Splits `text -- reason`.
/// A reader in a pipe that leaves at what it looks for. Who still writes then dies of SIGPIPE, now and then. Writers of one block are safe.
fn hasty_reader(line: &str) -> Option<&str> {
    let mut commands = line.split('|').peekable();
    while let Some(writer) = commands.next() {
        let Some(&reader) = commands.peek() else { break };
        let one_block = writer.rsplit([';', '&', '(', '{']).next().unwrap_or_default();
        let one_block =
            matches!(one_block.split_whitespace().next(), None | Some("tail" | "echo" | "printf" | "ls"));
        let mut words = reader.split_whitespace();
        let grep = words.next() == Some("grep");
        let quiet = words.take_while(|word| word.starts_with('-')).any(|word| word.contains('q'));
        if grep && quiet && !one_block {
            return Some(reader);
        }
    }
    None
}

fn before_reason(text: &str) -> (&str, &str) {
    text.split_once(" -- ").map_or((text, ""), |(a, b)| (a.trim(), b.trim()))
}

fn directive(line: usize, body: &str) -> Result<Directive, String> {
    let mut body = body.trim();
    let mut conditions = Vec::new();
    if let Some(rest) = body.strip_prefix('[') {
        let (inside, after) = rest.split_once(']').ok_or("missing `]`")?;
        conditions = inside.split_whitespace().map(Condition::parse).collect();
        body = after.trim_start();
    }
    let (key, value) = body.split_once(':').unwrap_or((body, ""));
    let key = key.trim().to_owned();
    if key.is_empty() || key.contains(' ') {
        return Err(format!("bad directive `{body}`"));
    }
    // One blank after the colon belongs to the syntax, more to the value: stdout may be indented.
    let value = value.strip_prefix(' ').unwrap_or(value).trim_end().to_owned();
    Ok(Directive { line, conditions, key, value })
}

impl Test {
    /// Fills in `{cc}`, `{kind}`, … and any variable of the matrix.
    pub fn fill(&self, text: &str) -> String {
        words::fill(text, |name| match name {
            "explore" => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/explore").to_owned()),
            "distribute" => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../distribute").to_owned()),
            "dir" => std::env::current_dir().ok().map(|d| d.display().to_string()),
            _ => self.vars.get(name).cloned(),
        })
    }

    /// The directives that hold for this variant, in order.
    pub fn directives(&self) -> impl Iterator<Item = &Directive> {
        self.file.directives.iter().filter(|d| d.conditions.iter().all(|c| c.holds(&self.vars)))
    }

    /// Values of all directives with this key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.directives().filter(move |d| d.key == key).map(|d| d.value.as_str())
    }

    pub fn var(&self, name: &str) -> &str {
        self.vars.get(name).map_or("", String::as_str)
    }

    /// Whether `only:`, `not:`, `skip:` or `xfail:` speak of this variant.
    pub fn fate(&self) -> Result<Fate, String> {
        let linker = self.var("linker").to_owned();
        for d in self.directives() {
            let (list, reason) = before_reason(&d.value);
            let named = list.split_whitespace().any(|l| l == linker);
            let fate = match d.key.as_str() {
                "only" if !named => Fate::Skip(reason.to_owned()),
                "not" if named => Fate::Skip(reason.to_owned()),
                "xfail" if named => Fate::ExpectFailure(reason.to_owned()),
                "only" | "not" | "xfail" => Fate::Run,
                _ => continue,
            };
            if reason.is_empty() {
                return Err(format!("line {}: `{}` needs a reason (-- …)", d.line, d.key));
            }
            if !matches!(fate, Fate::Run) {
                return Ok(fate);
            }
        }
        Ok(Fate::Run)
    }
}

/// All tests in `elf` and `coff` below `root`, sorted by name.
pub fn find(root: &Path, linker: &str) -> Result<Vec<Test>, String> {
    let mut paths = Vec::new();
    for kind in ["elf", "coff"] {
        let dir = root.join(kind);
        collect(&dir, &mut paths).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        out.extend(TestFile::read(root, &path)?.expand(linker)?);
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    match out.windows(2).find(|w| w[0].name == w[1].name) {
        Some(w) => Err(format!("two tests are named {}", w[0].name)),
        None => Ok(out),
    }
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|e| e != "md") {
            out.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
//# matrix: cc=gcc,clang kind=static,pie
//# except: cc=clang kind=static -- no reason
//# [kind=pie] xfail: weld -- not yet
//# link: a \\
//#   b
int x;
//--- b.c
int y;
";

    fn tests() -> Vec<Test> {
        TestFile::parse("f/t", "t.c", Path::new("t.c"), TEXT).unwrap().expand("weld").unwrap()
    }

    #[test]
    fn matrix_and_parts() {
        let tests = tests();
        let names: Vec<_> = tests.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["f/t[gcc,static]", "f/t[gcc,pie]", "f/t[clang,pie]"]);
        assert_eq!(tests[0].file.parts[1].text, "int y;\n");
        assert_eq!(tests[0].all("link").collect::<Vec<_>>(), ["a b"]);
    }

    #[test]
    fn readers_that_leave_early() {
        for line in
            ["nm out | grep -q x", "a; nm out |  grep -E -xq x || exit 1", "if nm x | grep -q y; then"]
        {
            assert!(hasty_reader(line).is_some(), "{line}");
        }
        for line in
            ["nm out | grep x >/dev/null", "a || grep -q x b", "nm a; tail -1 log | grep -q x", "a | b | c"]
        {
            assert!(hasty_reader(line).is_none(), "{line}");
        }
    }

    #[test]
    fn conditions_pick_variants() {
        let fates: Vec<_> =
            tests().iter().map(|t| matches!(t.fate().unwrap(), Fate::ExpectFailure(_))).collect();
        assert_eq!(fates, [false, true, true]);
    }
}
