//! The command line for `/reproduce`: as it was given, with paths as they are in the unpacked directory.
//!
//! Inputs and directories become paths relative to that directory (see
//! [`weld_common::reproduce::stored_path`]); what is written goes to the directory itself. Variables of the
//! environment are in the command line already. An option that weld would refuse is kept: a link that failed
//! fails again.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use weld_common::args::response::Quoting;
use weld_common::args::{self, Piece, Value, slash};
use weld_common::reproduce::{joined, line, stored};

use super::{gnu, is_file, table};

/// Options whose value is a directory to look in.
const DIRECTORIES: &[&str] =
    &["libpath", "winsysroot", "vctoolsdir", "winsdkdir", "diasdkdir", "library-path"];

/// Options whose value is a file to read. Libraries may be found in a directory instead.
const READ: &[&str] = &[
    "def",
    "stub",
    "manifestinput",
    "natvis",
    "sourcelink",
    "call-graph-ordering-file",
    "sectionlayout",
    "lto-sample-profile",
    "lto-cs-profile-file",
    "wholearchive",
    "defaultlib",
];

/// Options whose value has a file after a mark.
const READ_BEHIND: &[(&str, char)] = &[("order", '@'), ("sectionlayout", '@'), ("pdbstream", '=')];

/// Options whose value is a file to write.
const WRITTEN: &[&str] = &[
    "out",
    "pdb",
    "pdbstripped",
    "implib",
    "map",
    "lldmap",
    "explore",
    "manifestfile",
    "print-symbol-order",
    "time-trace",
    "output-def",
    "output",
    "out-implib",
    "Map",
    "lto-obj-path",
    "thinlto-index-only",
    "dwodir",
];

/// Options that would be wrong in the other place: of a compiler, too, which is another one there.
const DROPPED: &[&str] = &[
    "ilk",
    "incremental-dir",
    "reproduce",
    "linkrepro",
    "linkreprotarget",
    "linkreprofullpathrsp",
    "rsp-quoting",
    "lldignoreenv",
    "lto-engine",
    "lldltocache",
    "thinlto-cache-dir",
    "plugin",
];

/// The text of `response.txt` for `lld-link`. `directories` are those in which the environment has libraries
/// looked for.
pub fn of_link(args: &[&OsStr], directories: &[PathBuf]) -> String {
    let mut text = String::new();
    let mut line = |words: &[&OsStr]| line(&mut text, words, Quoting::Windows);
    for (position, piece) in slash::pieces(&table::TABLE, args, is_file) {
        match piece {
            Piece::Input(path) => line(&[&input(path)]),
            Piece::Wrong(_) => line(&[args[position]]),
            Piece::Option(row, given) => match given.value {
                None if DROPPED.contains(&row.names[0]) => {}
                None => line(&[given.spelling.as_ref()]),
                Some(value) => {
                    let value = rewritten(row.names[0], value);
                    value.into_iter().for_each(|value| line(&[&joined(given.spelling, ":", &value)]));
                }
            },
        }
    }
    line(&["/lldignoreenv".as_ref()]);
    for directory in directories.iter().map(PathBuf::as_path).chain([Path::new(".")]) {
        line(&[&joined("/libpath", ":", stored(directory.as_os_str()).as_os_str())]);
    }
    text
}

/// The same for MinGW's `ld`.
pub fn of_gnu(args: &[&OsStr]) -> String {
    let mut text = String::new();
    let mut line = |words: &[&OsStr]| line(&mut text, words, Quoting::Gnu);
    for (position, piece) in args::pieces(&gnu::table::TABLE, args) {
        match piece {
            Piece::Input(path) => line(&[&input(path)]),
            Piece::Wrong(_) => line(&[args[position]]),
            Piece::Option(row, given) => {
                let Some(value) = given.value else {
                    line(&[given.spelling.as_ref()]);
                    continue;
                };
                let Some(value) = rewritten(row.names[0], value) else { continue };
                match row.value {
                    Value::Optional(_) => line(&[&joined(given.spelling, "=", &value)]),
                    Value::Suffix(_) => line(&[&joined(given.spelling, "", &value)]),
                    _ => line(&[given.spelling.as_ref(), &value]),
                }
            }
        }
    }
    line(&["-L".as_ref(), stored(".".as_ref()).as_os_str()]);
    text
}

/// A name that is looked for in directories stays.
fn input(path: &OsStr) -> OsString {
    if is_file(path) { stored(path).into() } else { path.to_owned() }
}

/// The value that an option has in the unpacked directory; `None` drops the option.
fn rewritten(option: &str, value: &OsStr) -> Option<OsString> {
    let is = |list: &[&str]| list.contains(&option);
    if is(DROPPED) {
        return None;
    }
    if let Some((_, mark)) = READ_BEHIND.iter().find(|(name, _)| *name == option)
        && let Some((front, path)) = value.to_str().and_then(|text| text.split_once(*mark))
    {
        return Some(joined(front, &mark.to_string(), stored(path.as_ref()).as_os_str()));
    }
    Some(if is(DIRECTORIES) {
        stored(value).into()
    } else if is(READ) {
        input(value)
    } else if is(WRITTEN) {
        Path::new(value).file_name().unwrap_or(value).to_owned()
    } else {
        value.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use weld_common::args::{Context, Effect, Spec};

    use super::*;

    #[test]
    fn paths_are_rewritten() {
        let args = [
            "/no/such/a.obj",
            "b.lib",
            "-out:/tmp/a b.exe",
            "/reproduce:r.tar",
            "/libpath:/lib dir",
            "/order:@/x/order.txt",
            "-pdbstream:srcsrv=/x/y.txt",
            "/pdb:/tmp/p.pdb",
            "/debug",
            "/lldignoreenv",
            "/def:/no/such.def",
            "/unknown",
            "/export:a\\\"b",
        ];
        let text = of_link(&args.map(OsStr::new), &["/env".into()]);
        let want = "/no/such/a.obj\nb.lib\n\"-out:a b.exe\"\n\"/libpath:lib dir\"\n/order:@x/order.txt\n\
            -pdbstream:srcsrv=x/y.txt\n/pdb:p.pdb\n/debug\n/def:/no/such.def\n/unknown\n\"/export:a\\\\\\\"b\"\n\
            /lldignoreenv\n/libpath:env\n/libpath:";
        assert_eq!(text[..want.len()], *want);
        let args = [
            "-L/lib dir",
            "-o",
            "/out/prog",
            "--reproduce=r.tar",
            "--pdb=/x/p.pdb",
            "-lx",
            "-shared",
            "--icf=all",
        ];
        let text = of_gnu(&args.map(OsStr::new));
        let want = "-L \"lib dir\"\n-o prog\n--pdb p.pdb\n-l x\n-shared\n--icf all\n-L ";
        assert_eq!(text[..want.len()], *want);
    }

    /// The file of an option that is in none of the lists would be looked for, or written, where it is on
    /// this machine.
    #[test]
    fn every_option_with_a_file_is_in_a_list() {
        fn check<C: Context + 'static>(rows: impl Iterator<Item = &'static Spec<C>>) {
            let behind: Vec<&str> = READ_BEHIND.iter().map(|(name, _)| *name).collect();
            let lists = [DIRECTORIES, READ, WRITTEN, DROPPED, &behind].concat();
            for row in rows.filter(|row| matches!(row.effect, Effect::Take(_))) {
                let (Value::Required(label)
                | Value::Separate(label)
                | Value::Optional(label)
                | Value::Suffix(label)) = row.value
                else {
                    continue;
                };
                // It cannot be given together with /reproduce, and sources are where they were when objects
                // were made.
                let name = row.names[0];
                let is_known = lists.contains(&name) || ["vfsoverlay", "pdbsourcepath"].contains(&name);
                assert!(!matches!(label, "FILE" | "DIR") || is_known, "--{name} {label}");
            }
        }
        check(table::TABLE.rows());
        check(gnu::table::TABLE.rows());
    }
}
