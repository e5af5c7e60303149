//! `weld explore FILE`: what a linked file is made of, as a page for browsers; `weld explore OLD NEW`: what has
//! grown.
//!
//! Each file is an ELF file, a PE image, or a page that weld has written (`--explore`, or this). The page goes to
//! the file that `-o` names; of one file, without it, to a file in the current directory that is called like the
//! file with `.html` behind it. Of two files a table is printed, and there is a page only if it is asked for.
//!
//! An image for Windows names its PDB, which is looked for beside it and where it was when the image was linked.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use weld_common::host::Host;
use weld_common::io::output::reports::Reports;
use weld_common::io::output::{self, OutputError};
use weld_common::io::reason;
use weld_common::par::{self, Pool};
use weld_common::text;
use weld_common::trace::Trace;
use weld_explore::binary::{self, Beside, BinaryError, pdb};
use weld_explore::compare;
use weld_explore::drafts::Spelling;
use weld_explore::growth::{self, Budget};
use weld_explore::model::Model;
use weld_explore::page::read::PageError;
use weld_explore::page::{self, read};
use weld_explore::table::{self, Form};

pub const USAGE: &str = "\
usage: weld explore [--map=FILE] [--pdb=FILE] [--no-demangle] [-o FILE.html] FILE
       weld explore [--format=text|markdown|json] [--max-growth=BYTES|PERCENT] [--old-map=FILE] [--map=FILE]
                    [--old-pdb=FILE] [--pdb=FILE] [--no-demangle] [-o FILE.html] OLD NEW";

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
    /// A map or a PDB beside a page, which has what they would tell.
    BesidePage(&'static str, PathBuf),
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
            ExploreError::BesidePage(what, path) => {
                write!(f, "{}: it is a page, which needs no {what}", path.display())
            }
            ExploreError::Write(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for ExploreError {}

/// What is known of a file beside what it says itself.
#[derive(Debug, Default)]
struct BesideIt {
    map: Option<PathBuf>,
    pdb: Option<PathBuf>,
}

/// The command line.
#[derive(Debug, Default)]
struct Asked {
    files: Vec<PathBuf>,
    page: Option<PathBuf>,
    beside: BesideIt,
    beside_old: BesideIt,
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
            "--map" => self.beside.map = Some(value.into()),
            "--old-map" => self.beside_old.map = Some(value.into()),
            "--pdb" => self.beside.pdb = Some(value.into()),
            "--old-pdb" => self.beside_old.pdb = Some(value.into()),
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
            ("--old-map", self.beside_old.map.is_some()),
            ("--old-pdb", self.beside_old.pdb.is_some()),
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

/// What there is to say.
#[derive(Debug, Default)]
pub struct Said {
    pub code: i32,
    /// The result.
    pub text: String,
    /// What a picture lacks, and why: a line each.
    pub notes: Vec<String>,
}

/// Makes the page, or compares.
///
/// # Errors
/// If the command line, a file or the page is not as it should be. The exit code is then [`FAILED`].
pub fn run(args: &[OsString], host: &dyn Host) -> Result<Said, ExploreError> {
    if args.first().is_some_and(|arg| arg == "--help") {
        return Ok(Said { text: format!("{USAGE}\n"), ..Said::default() });
    }
    let asked = Asked::parse(args)?;
    let sizes = asked.files.iter().filter_map(|path| fs::metadata(path).ok());
    let threads = par::choose_threads(None, sizes.map(|file| file.len()).sum());
    Pool::new(threads, &Trace::new(false)).install(|| explore(&asked, threads > 1, host))
}

fn explore(asked: &Asked, parallel: bool, host: &dyn Host) -> Result<Said, ExploreError> {
    let mangled = asked.mangled;
    let spelling =
        Spelling { shown: &|name| if mangled { text::text(name) } else { demangle(name) }, parallel };
    let mut said = Said::default();
    let [old, new] = match &asked.files[..] {
        [old, new] => [old, new],
        files => {
            let page = asked.page.clone().unwrap_or_else(|| page_of(&files[0]));
            let model = load(&files[0], &asked.beside, spelling, &mut said.notes)?;
            write(&page, &model, parallel, host)?;
            said.text = format!("{}\n", text::path(&page));
            return Ok(said);
        }
    };
    let old = load(old, &asked.beside_old, spelling, &mut said.notes)?;
    let comparison = compare::compare(&old, load(new, &asked.beside, spelling, &mut said.notes)?);
    if let Some(page) = &asked.page {
        write(page, &comparison, parallel, host)?;
    }
    said.text = table::write(&comparison, asked.form.unwrap_or(Form::Text));
    let total = growth::total(&comparison);
    if asked.budget.is_some_and(|budget| total.exceeds(budget)) {
        said.code = GROWN;
        if asked.form != Some(Form::Json) {
            said.text += "\nThe file has grown by more than --max-growth allows.\n";
        }
    }
    Ok(said)
}

/// Names of Microsoft's compilers are in PDBs.
fn demangle(name: &[u8]) -> Cow<'_, str> {
    match name.starts_with(b"?") {
        true => weld_coff::demangle::demangle(name, None),
        false => weld_common::demangle::demangle(name),
    }
}

/// The page of a file if nobody says where it goes.
fn page_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or(OsStr::new("explore")).to_owned();
    name.push(".html");
    name.into()
}

fn load(
    path: &Path,
    given: &BesideIt,
    spelling: Spelling,
    notes: &mut Vec<String>,
) -> Result<Model, ExploreError> {
    let file = bytes(path)?;
    if read::is_page(&file) {
        let needless = [("map", given.map.is_some()), ("PDB", given.pdb.is_some())];
        return match needless.into_iter().find(|(_, is_given)| *is_given) {
            Some((what, _)) => Err(ExploreError::BesidePage(what, path.to_owned())),
            None => read::read(&file).map_err(|e| ExploreError::Page(path.to_owned(), e)),
        };
    }
    let map = given.map.as_deref().map(bytes).transpose()?;
    let map = map.as_ref().map(|map| String::from_utf8_lossy(map));
    let pdb = match &given.pdb {
        Some(pdb) => Some(bytes(pdb)?),
        None => pdb::Named::of(&file).and_then(|named| find_pdb(path, &named, notes)),
    };
    let beside = Beside { map: map.as_deref(), pdb: pdb.as_deref() };
    let name = text::path(path);
    binary::read(&name, &file, beside, spelling).map_err(|e| ExploreError::Binary(path.to_owned(), e))
}

fn bytes(path: &Path) -> Result<Vec<u8>, ExploreError> {
    fs::read(path).map_err(|e| ExploreError::Read(path.to_owned(), e))
}

/// The PDB that an image names: beside the image, or where it was. If it is at neither place, the picture has no
/// symbols, which is said.
fn find_pdb(image: &Path, named: &pdb::Named, notes: &mut Vec<String>) -> Option<Vec<u8>> {
    let base = named.path.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut places = vec![image.with_file_name(base), PathBuf::from(&named.path)];
    places.dedup();
    let found = places.iter().filter_map(|place| fs::read(place).ok());
    let found = found.into_iter().find(|file| named.is(file));
    if found.is_none() {
        let places: Vec<String> = places.iter().map(|place| text::path(place).into_owned()).collect();
        notes.push(format!(
            "{}: its PDB is not at {}, so symbols and objects are not known; --pdb=FILE names it",
            text::path(image),
            places.join(" or ")
        ));
    }
    found
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
        assert_eq!((asked.page, asked.beside.map), (Some("x.html".into()), Some("m".into())));
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
