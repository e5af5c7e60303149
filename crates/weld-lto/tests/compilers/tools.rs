//! Running compilers and their tools, once for each program, arguments and inputs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A source in `input/`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compilers/input").join(name)
}

/// Where what programs have made is kept.
fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let dir = base.unwrap_or_else(std::env::temp_dir).join("weld/lto");
    std::fs::create_dir_all(&dir).expect("the cache can be made");
    dir
}

/// A program that has to be there.
fn find(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} is not installed (./test installs what the tests need)"))
}

/// The file that a program makes of inputs when `-o` and the file's name follow its arguments.
pub fn make(program: &str, args: &[&str], inputs: &[&Path]) -> PathBuf {
    let out = cache().join(key(program, args, inputs) + ".o");
    if !out.is_file() {
        let part = part_of(&out);
        run(program, args, inputs, &["-o".as_ref(), &part]);
        std::fs::rename(&part, &out).expect("the file was made");
    }
    out
}

/// What a program prints of inputs.
pub fn print(program: &str, args: &[&str], inputs: &[&Path]) -> String {
    let out = cache().join(key(program, args, inputs) + ".txt");
    if let Ok(text) = std::fs::read_to_string(&out) {
        return text;
    }
    let text = run(program, args, inputs, &[]);
    write(&out, text.as_bytes());
    text
}

/// A file of these bytes.
pub fn keep(bytes: &[u8]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let out = cache().join(format!("{:016x}.in", hasher.finish()));
    write(&out, bytes);
    out
}

fn write(path: &Path, bytes: &[u8]) {
    let part = part_of(path);
    std::fs::write(&part, bytes).expect("the cache can be written");
    std::fs::rename(&part, path).expect("the cache can be written");
}

/// Where a file is made. Other tests may make the same one at the same time.
fn part_of(path: &Path) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    path.with_extension(format!("{}.{thread}", std::process::id()))
}

/// What makes a file: the program, its arguments, and what is in its inputs.
fn key(program: &str, args: &[&str], inputs: &[&Path]) -> String {
    let path = find(program);
    let meta = std::fs::metadata(&path).expect("a program");
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &path, meta.len(), meta.modified().ok(), args).hash(&mut hasher);
        for input in inputs {
            (input, std::fs::read(input).expect("an input")).hash(&mut hasher);
        }
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(1), half(2))
}

fn run(program: &str, args: &[&str], inputs: &[&Path], output: &[&Path]) -> String {
    let mut command = Command::new(find(program));
    command.args(args).args(inputs).args(output).env("LC_ALL", "C");
    let out = command.output().expect("the program runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {}\n{said}", out.status);
    String::from_utf8_lossy(&out.stdout).into_owned()
}
