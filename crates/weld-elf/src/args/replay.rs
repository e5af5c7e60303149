//! The command line for `--reproduce`: as it was given, with paths as they are in the unpacked directory.
//!
//! Inputs, directories and scripts become paths relative to that directory (see
//! [`weld_common::reproduce::stored_path`]); what is written goes to the directory itself. The first
//! line makes the linker take absolute paths, which scripts and thin archives may hold, to be below the
//! directory as well, and the last one lets it find what scripts named relative to the directory that
//! the link was started in. An option that weld would refuse is kept: a link that failed fails again.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use weld_common::args::response::{Expanded, Quoting};
use weld_common::args::{Piece, Value, pieces};
use weld_common::reproduce::{self, joined, stored};
use weld_common::text;

use super::state::State;
use super::table::TABLE;
use super::usual_dirs;
use crate::arch;
use crate::options::{Options, Remap, RemapRule};

/// Options whose value is a directory to look in.
const DIRECTORIES: &[&str] = &["library-path", "rpath-link", "sysroot"];

/// Options whose value is a file to read. It may be found in a library directory instead.
const READ: &[&str] = &[
    "just-symbols",
    "symbol-ordering-file",
    "call-graph-ordering-file",
    "section-ordering-file",
    "irpgo-profile",
    "script",
    "default-script",
    "mri-script",
    "version-script",
    "dynamic-list",
    "export-dynamic-symbol-list",
    "retain-symbols-file",
    "in-implib",
    "lto-sample-profile",
    "lto-cs-profile-file",
    "load-pass-plugin",
];

/// Options whose value is a file to write.
const WRITTEN: &[&str] = &[
    "output",
    "Map",
    "explore",
    "why-extract",
    "print-archive-stats",
    "dependency-file",
    "time-trace",
    "print-gc-sections",
    "print-icf-sections",
    "print-symbol-order",
    "separate-debug-file",
    "out-implib",
    "lto-obj-path",
    "opt-remarks-filename",
    "thinlto-index-only",
];

/// Options that would be wrong in the other place. Rules for other inputs are written anew.
const DROPPED: &[&str] = &[
    "directory",
    "plugin",
    "lto-engine",
    "thinlto-cache-dir",
    "incremental-dir",
    "reproduce",
    "repro",
    "chroot",
    "rsp-quoting",
    "remap-inputs",
    "remap-inputs-file",
    "error-handling-script",
];

/// The text of `response.txt`. What depends on the name that weld was called by comes first, so that the
/// command line still has the last word. `remaps` are the rules for other inputs, those from files included.
pub fn response(args: &Expanded, options: &Options, remaps: &[RemapRule]) -> String {
    let args = args.args();
    let mut text = String::from("--chroot .\n");
    if options.symbols.version_symbols {
        text.push_str("--version-symbols\n");
    }
    text.push_str(&format!("--spare-dynamic-tags={}\n", options.dynamic.spare_tags));
    if options.reports.gnu_map == Some(true) {
        text.push_str("--map-format=gnu\n");
    }
    if options.compat_mode.is_gnu_ld() {
        text.push_str("--undefined-version\n");
    }
    if options.dynamic.inherits_run_path {
        options.dynamic.rpath.iter().for_each(|path| line(&mut text, &["-rpath".as_ref(), path.as_ref()]));
    }
    for (position, piece) in pieces::<State>(&TABLE, &args) {
        match piece {
            Piece::Input(path) => line(&mut text, &[stored(path).as_os_str()]),
            Piece::Wrong(_) => line(&mut text, &[args[position]]),
            Piece::Option(row, given) => {
                let Some(value) = given.value else {
                    if DROPPED.contains(&row.names[0]) {
                        continue;
                    }
                    line(&mut text, &[given.spelling.as_ref()]);
                    continue;
                };
                let Some(value) = rewritten(row.names[0], value) else { continue };
                match row.value {
                    Value::Optional(_) => line(&mut text, &[&joined(given.spelling, "=", &value)]),
                    Value::Suffix(_) => line(&mut text, &[&joined(given.spelling, "", &value)]),
                    _ => line(&mut text, &[given.spelling.as_ref(), &value]),
                }
            }
        }
    }
    for (pattern, path) in remaps {
        // A glob that begins with any text matches where the path lies then, too.
        let anywhere = pattern.first() == Some(&b'*');
        let pattern = text::os_str(pattern);
        let from = if anywhere { pattern.to_owned() } else { stored(pattern).into_os_string() };
        let to = if Remap::is_nothing(path) { path.clone() } else { stored(path.as_os_str()) };
        line(&mut text, &["--remap-inputs".as_ref(), &joined(from, "=", to.as_os_str())]);
    }
    for dir in usual_dirs::of(options, options.inputs.machine.unwrap_or(arch::default()).facts()) {
        line(&mut text, &["-L".as_ref(), stored(dir.as_os_str()).as_os_str()]);
    }
    line(&mut text, &["-L".as_ref(), stored(".".as_ref()).as_os_str()]);
    text
}

/// The value that an option has in the unpacked directory; `None` drops the option.
fn rewritten(option: &str, value: &OsStr) -> Option<OsString> {
    let is = |list: &[&str]| list.contains(&option);
    let path = Path::new(value);
    if is(DROPPED) {
        return None;
    }
    if option == "rpath-link" {
        let dirs = std::env::split_paths(value).map(|dir| stored(dir.as_os_str()));
        return std::env::join_paths(dirs).ok();
    }
    let inside_sysroot = value.as_encoded_bytes().starts_with(b"=") || path.starts_with("$SYSROOT");
    Some(if is(DIRECTORIES) && !inside_sysroot || is(READ) && path.exists() {
        stored(value).into()
    } else if is(WRITTEN) {
        path.file_name().unwrap_or(value).to_owned()
    } else {
        value.to_owned()
    })
}

/// Appends a line of words.
fn line(text: &mut String, words: &[&OsStr]) {
    reproduce::line(text, words, Quoting::Gnu);
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use weld_common::args::Effect;

    use super::*;
    use crate::args::expanded;
    use crate::compat_mode::CompatMode;

    #[test]
    fn paths_are_rewritten() {
        let args = [
            "/a/b.o",
            "-L/lib dir",
            "-lx",
            "-o",
            "/out/prog",
            "--reproduce=r.tar",
            "-L=/usr",
            "--build-id=sha1",
            "--no-such",
            "-z",
            "now",
            "--Map",
            "x/y.map",
            "--wrap=\"q\\",
            "-T",
            "/no/such/script",
            "-rpath-link=/a:/b/c",
            "-O2",
            "--remap-inputs-file=f",
        ];
        let rules = [("/a/?.o", "/c.o"), ("*.so", "/dev/null")];
        let rules = rules.map(|(from, to)| (from.as_bytes().to_owned(), PathBuf::from(to)));
        let options = Options { compat_mode: CompatMode::Lld, ..Options::default() };
        let args = args.map(OsString::from);
        let text = response(&expanded(&args).unwrap(), &options, &rules);
        let lines: Vec<&str> = text.lines().collect();
        let want = [
            "--chroot .",
            "--spare-dynamic-tags=0",
            "a/b.o",
            "-L \"lib dir\"",
            "-l x",
            "-o prog",
            "-L =/usr",
            "--build-id=sha1",
            "--no-such",
            "-z now",
            "--Map y.map",
            "--wrap \"\\\"q\\\\\"",
            "-T /no/such/script",
            "-rpath-link a:b/c",
            "-O 2",
            "--remap-inputs \"a/?.o=c.o\"",
            "--remap-inputs \"*.so=/dev/null\"",
        ];
        assert_eq!(lines[..lines.len() - 1], want);
        assert!(lines[lines.len() - 1].starts_with("-L "));
    }

    /// The file of an option that is in none of the lists would be looked for, or written, where it is on
    /// this machine.
    #[test]
    fn every_option_with_a_file_is_in_a_list() {
        // What the loader looks for is where it is on the machine that the program runs on.
        let loaders: &[&str] = &["dynamic-linker", "rpath", "R"];
        let lists = [DIRECTORIES, READ, WRITTEN, DROPPED, loaders].concat();
        for row in TABLE.rows().filter(|row| matches!(row.effect, Effect::Take(_))) {
            let label = match row.value {
                Value::Required(label)
                | Value::Separate(label)
                | Value::Optional(label)
                | Value::Suffix(label) => label,
                Value::None => continue,
            };
            let name = row.names[0];
            assert!(!matches!(label, "FILE" | "DIR") || lists.contains(&name), "--{name} {label}");
        }
    }
}
