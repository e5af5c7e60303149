//! `weld explore FILE`: what a linked file is made of, as a page for browsers; `weld explore OLD NEW`: what has
//! grown.
//!
//! Each file is an ELF file, a PE image, or a page that weld has written (`--explore`, or this). The page goes to
//! the file that `-o` names; of one file, without it, to a file in the current directory that is called like the
//! file with `.html` behind it. Of two files a table is printed, and there is a page only if it is asked for.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use weld_common::demangle::demangle;
use weld_common::host::Host;
use weld_common::io::output::reports::Reports;
use weld_common::io::output::{self, OutputError};
use weld_common::io::reason;
use weld_common::par::{self, Pool};
use weld_common::text;
use weld_common::trace::Trace;
use weld_explore::binary::{self, Beside, BinaryError};
use weld_explore::compare;
use weld_explore::drafts::Spelling;
use weld_explore::growth::{self, Budget};
use weld_explore::model::Model;
use weld_explore::page::read::PageError;
use weld_explore::page::{self, read};
use weld_explore::table::{self, Form};

pub const USAGE: &str = "\
usage: weld explore [--map=FILE] [--no-demangle] [-o FILE.html] FILE
       weld explore [--format=text|markdown|json] [--max-growth=BYTES|PERCENT] [--old-map=FILE] [--map=FILE]
                    [--no-demangle] [-o FILE.html] OLD NEW";

/// The exit code if a file has grown by more than it may.
const GROWN: i32 = 1;

/// The exit code if it cannot be told.
pub const FAILED: i32 = 2;

/// Why there is nothing to see.
#[derive(Debug)]
pub enum ExploreError {
    Usage,
    /// An option whose value is none.
    Value(&'static str, OsString),
    /// An option that needs two files.
    NeedsTwo(&'static str),
    Read(PathBuf, io::Error),
    Binary(PathBuf, BinaryError),
    Page(PathBuf, PageError),
    /// A map beside a page, which has what a map would tell.
    MapOfPage(PathBuf),
    Write(OutputError),
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploreError::Usage => f.write_str(USAGE),
            ExploreError::Value(option, value) => {
                write!(f, "{option}: '{}' is no value of it\n{USAGE}", value.display())
            }
            ExploreError::NeedsTwo(option) => write!(f, "{option} needs two files to compare\n{USAGE}"),
            ExploreError::Read(path, e) => write!(f, "{}: {}", path.display(), reason(e)),
            ExploreError::Binary(path, e) => write!(f, "{}: {e}", path.display()),
            ExploreError::Page(path, e) => write!(f, "{}: {e}", path.display()),
            ExploreError::MapOfPage(path) => {
                write!(f, "{}: it is a page, which needs no map", path.display())
            }
            ExploreError::Write(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for ExploreError {}

/// The command line.
#[derive(Debug, Default)]
struct Asked {
    files: Vec<PathBuf>,
    page: Option<PathBuf>,
    map: Option<PathBuf>,
    old_map: Option<PathBuf>,
    form: Option<Form>,
    budget: Option<Budget>,
    mangled: bool,
}

impl Asked {
    fn parse(args: &[OsString]) -> Result<Asked, ExploreError> {
        let mut asked = Asked::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.as_encoded_bytes();
            if text == b"--" {
                asked.files.extend(args.by_ref().map(PathBuf::from));
            } else if !text.starts_with(b"-") {
                asked.files.push(arg.into());
            } else if text == b"--no-demangle" {
                asked.mangled = true;
            } else {
                let (option, value) = split(arg);
                let value = match value {
                    Some(value) => value,
                    None => args.next().cloned().ok_or(ExploreError::Usage)?,
                };
                asked.set(&option, value)?;
            }
        }
        match asked.files.len() {
            1 => asked.check_one().map(|()| asked),
            2 => Ok(asked),
            _ => Err(ExploreError::Usage),
        }
    }

    fn set(&mut self, option: &str, value: OsString) -> Result<(), ExploreError> {
        let text = value.to_str();
        match option {
            "-o" | "--output" => self.page = Some(value.into()),
            "--map" => self.map = Some(value.into()),
            "--old-map" => self.old_map = Some(value.into()),
            "--format" => {
                self.form = Some(match text {
                    Some("text") => Form::Text,
                    Some("markdown") => Form::Markdown,
                    Some("json") => Form::Json,
                    _ => return Err(ExploreError::Value("--format", value)),
                });
            }
            "--max-growth" => {
                let budget = text.and_then(Budget::parse);
                self.budget = Some(budget.ok_or(ExploreError::Value("--max-growth", value))?);
            }
            _ => return Err(ExploreError::Usage),
        }
        Ok(())
    }

    /// What only comparisons have.
    fn check_one(&self) -> Result<(), ExploreError> {
        let of_two = [
            ("--format", self.form.is_some()),
            ("--max-growth", self.budget.is_some()),
            ("--old-map", self.old_map.is_some()),
        ];
        match of_two.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(ExploreError::NeedsTwo(option)),
            None => Ok(()),
        }
    }
}

/// `--map=FILE` → `--map`, `FILE`; `-oFILE` → `-o`, `FILE`.
fn split(arg: &OsStr) -> (String, Option<OsString>) {
    let text = arg.to_string_lossy();
    if let Some(value) = text.strip_prefix("-o").filter(|value| !value.is_empty()) {
        return ("-o".to_owned(), Some(value.into()));
    }
    match text.split_once('=') {
        Some((option, value)) => (option.to_owned(), Some(value.into())),
        None => (text.into_owned(), None),
    }
}

/// The exit code and what to print.
///
/// # Errors
/// If the command line, a file or the page is not as it should be. The exit code is then [`FAILED`].
pub fn run(args: &[OsString], host: &dyn Host) -> Result<(i32, String), ExploreError> {
    if args.first().is_some_and(|arg| arg == "--help") {
        return Ok((0, format!("{USAGE}\n")));
    }
    let asked = Asked::parse(args)?;
    let sizes = asked.files.iter().filter_map(|path| fs::metadata(path).ok());
    let threads = par::choose_threads(None, sizes.map(|file| file.len()).sum());
    Pool::new(threads, &Trace::new(false)).install(|| explore(&asked, threads > 1, host))
}

fn explore(asked: &Asked, parallel: bool, host: &dyn Host) -> Result<(i32, String), ExploreError> {
    let mangled = asked.mangled;
    let spelling =
        Spelling { shown: &|name| if mangled { text::text(name) } else { demangle(name) }, parallel };
    let load = |path: &Path, map: &Option<PathBuf>| load(path, map.as_deref(), spelling);
    let [old, new] = match &asked.files[..] {
        [old, new] => [old, new],
        files => {
            let page = asked.page.clone().unwrap_or_else(|| beside(&files[0]));
            let model = load(&files[0], &asked.map)?;
            write(&page, &model, parallel, host)?;
            return Ok((0, format!("{}\n", text::path(&page))));
        }
    };
    let comparison = compare::compare(&load(old, &asked.old_map)?, load(new, &asked.map)?);
    if let Some(page) = &asked.page {
        write(page, &comparison, parallel, host)?;
    }
    let mut said = table::write(&comparison, asked.form.unwrap_or(Form::Text));
    let total = growth::total(&comparison);
    let exceeds = asked.budget.is_some_and(|budget| total.exceeds(budget));
    if exceeds && asked.form != Some(Form::Json) {
        said += "\nThe file has grown by more than --max-growth allows.\n";
    }
    Ok((if exceeds { GROWN } else { 0 }, said))
}

/// The page of a file if nobody says where it goes.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or(OsStr::new("explore")).to_owned();
    name.push(".html");
    name.into()
}

fn load(path: &Path, map: Option<&Path>, spelling: Spelling) -> Result<Model, ExploreError> {
    let bytes = |path: &Path| fs::read(path).map_err(|e| ExploreError::Read(path.to_owned(), e));
    let file = bytes(path)?;
    if read::is_page(&file) {
        return match map {
            Some(_) => Err(ExploreError::MapOfPage(path.to_owned())),
            None => read::read(&file).map_err(|e| ExploreError::Page(path.to_owned(), e)),
        };
    }
    let map = map.map(bytes).transpose()?;
    let map = map.as_ref().map(|map| String::from_utf8_lossy(map));
    let beside = Beside { map: map.as_deref() };
    let name = text::path(path);
    binary::read(&name, &file, beside, spelling).map_err(|e| ExploreError::Binary(path.to_owned(), e))
}

fn write(path: &Path, model: &Model, parallel: bool, host: &dyn Host) -> Result<(), ExploreError> {
    let reports = Reports::new();
    reports.add(path, page::write(model, parallel));
    reports.write(host).and_then(output::commit_all).map_err(ExploreError::Write)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Asked, ExploreError> {
        Asked::parse(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines() {
        let asked = parse(&["-o", "x.html", "--map=m", "prog"]).expect("one file");
        assert_eq!((asked.page, asked.map), (Some("x.html".into()), Some("m".into())));
        let asked = parse(&["old", "new", "--format", "json", "--max-growth=1%", "-ox"]).expect("two files");
        assert_eq!((asked.form, asked.budget), (Some(Form::Json), Some(Budget::Millipercent(1000))));
        assert_eq!((asked.files.len(), asked.page), (2, Some("x".into())));
        assert_eq!(parse(&["--", "-o"]).expect("a file with a strange name").files, [PathBuf::from("-o")]);
        for args in [&[][..], &["a", "b", "c"], &["--wrong=x", "a"], &["a", "-o"]] {
            assert!(matches!(parse(args), Err(ExploreError::Usage)), "{args:?}");
        }
        assert!(matches!(parse(&["--max-growth=x", "a", "b"]), Err(ExploreError::Value("--max-growth", _))));
        assert!(matches!(parse(&["--max-growth=5", "a"]), Err(ExploreError::NeedsTwo("--max-growth"))));
    }
}
