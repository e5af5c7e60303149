//! A directory in which a test compiles, asks an engine, links and runs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_lto::answer::{Answer, EngineError};
use weld_lto::engine::build::{SOURCES, Wish, build};
use weld_lto::engine::compile;
use weld_lto::ir::Compiler;
use weld_lto::options::Options;
use weld_lto::request::{File, Machine, Member, Output, Request, Resolution, Symbol};

/// Goes away with its test, and is looked at first.
pub struct Workshop {
    pub directory: PathBuf,
    /// The user's directory for caches, in which engines may be.
    pub cache: Option<PathBuf>,
}

pub const X86_64: Machine = Machine::Elf { machine: 62, is_64: true, is_big_endian: false };

/// The program that becomes engines: the example of this package. `cargo test` builds it; with `--test
/// engine` it is the one of the last time.
pub fn engine_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples/lto-engine")
}

impl Host for Workshop {
    fn print(&self, _text: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn lto_child(&self) -> Option<PathBuf> {
        Some(engine_program())
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        match name {
            "TMPDIR" => Some(self.temporary().into()),
            "PATH" => std::env::var_os("PATH"),
            "XDG_CACHE_HOME" => self.cache.clone().map(PathBuf::into_os_string),
            _ => None,
        }
    }

    fn run(&self, program: &Path, args: &[&OsStr]) -> io::Result<bool> {
        Ok(Command::new(program).args(args).status()?.success())
    }
}

/// A directory for caches with the engine that weld builds. It is built once for each version of its source, of
/// who builds it and of LLVM, by whichever test needs it first.
fn program_in_cache() -> PathBuf {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let version = Command::new("llvm-config-22").arg("--version").output().unwrap().stdout;
        let sources = SOURCES.map(|(_, text)| text).concat() + include_str!("../../src/engine/build.rs");
        let name = UnitDigest::of(&[sources.as_bytes(), &version].concat()).hexadecimal();
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
        let cache = cache.join("weld/test-engines").join(name);
        let directory = cache.join("weld/engines");
        if !directory.join("weld-lto-engine-22").exists() {
            let wish = Wish { llvm_config: Some("llvm-config-22".into()), directory: Some(directory) };
            build(&wish, &Workshop { directory: cache.join("none"), cache: None }).unwrap();
        }
        cache
    };
    CACHE.get_or_init(make).clone()
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.directory.exists() {
            let left: Vec<_> =
                std::fs::read_dir(self.temporary()).unwrap().map(|e| e.unwrap().path()).collect();
            assert!(left.is_empty(), "left: {left:?}");
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A symbol of a request.
pub struct Sym(pub &'static str, pub Resolution, pub bool);

pub const P: Resolution = Resolution::PREVAILING;
pub const VISIBLE: Resolution = Resolution::VISIBLE;
pub const LOCAL: Resolution = Resolution::LOCAL;
pub const NONE: Resolution = Resolution(0);

/// A definition.
pub fn def(name: &'static str, resolution: Resolution) -> Sym {
    Sym(name, resolution, true)
}

/// A reference to a definition of the same output.
pub fn reference(name: &'static str, resolution: Resolution) -> Sym {
    Sym(name, resolution, false)
}

/// A file of a request.
pub struct Given {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub offset: u64,
    /// The member's name and where its header is.
    pub member: Option<(&'static str, u64)>,
    pub compiler: Compiler,
    pub is_thin: bool,
    pub symbols: Vec<Sym>,
}

impl Given {
    fn file(&self) -> File<'_> {
        let symbol = |sym: &Sym| {
            let &Sym(name, resolution, is_defined) = sym;
            Symbol { name: name.as_bytes(), resolution, is_defined, can_be_omitted: false }
        };
        File {
            path: self.path.as_os_str().as_encoded_bytes(),
            offset: self.offset,
            bytes: &self.bytes,
            member: self.member.map(|(name, header)| Member { name: name.as_bytes(), header }),
            compiler: self.compiler,
            thinness: OnceLock::from(self.is_thin),
            symbols: self.symbols.iter().map(symbol).collect(),
        }
    }
}

/// What a test asks for besides files.
pub struct Ask {
    pub output: Output,
    pub machine: Machine,
    pub llvm_major: Option<u32>,
    pub gcc_major: Option<u32>,
    pub unused: Vec<Given>,
    pub is_repeated: bool,
    pub patience: std::time::Duration,
}

impl Default for Ask {
    fn default() -> Ask {
        Ask {
            output: Output::Pie,
            machine: X86_64,
            llvm_major: Some(22),
            gcc_major: None,
            unused: Vec::new(),
            is_repeated: false,
            patience: Request::PATIENCE,
        }
    }
}

impl Workshop {
    /// The same with each kind of engine.
    pub fn each(name: &str, test: impl Fn(&Workshop)) {
        test(&Workshop::new(name));
        test(&Workshop::with_program(&format!("{name}-program")));
    }

    /// One where the engine is found that weld builds.
    pub fn with_program(name: &str) -> Workshop {
        let mut workshop = Workshop::new(name);
        workshop.cache = Some(program_in_cache());
        workshop
    }

    pub fn new(name: &str) -> Workshop {
        let directory = std::env::temp_dir().join(format!("weld-lto-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(directory.join("tmp")).unwrap();
        Workshop { directory, cache: None }
    }

    pub fn temporary(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Runs a command line in the directory. What it prints.
    pub fn sh(&self, line: &str) -> String {
        let output = Command::new("sh").args(["-c", line]).current_dir(&self.directory).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{line}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    /// Compiles C.
    pub fn compile(&self, compiler: &str, name: &str, source: &str) -> PathBuf {
        std::fs::write(self.path(&format!("{name}.c")), source).unwrap();
        self.sh(&format!("{compiler} -c {name}.c -o {name}.o"));
        self.path(&format!("{name}.o"))
    }

    /// Bitcode that clang makes of a source.
    pub fn bitcode(&self, flags: &str, name: &str, source: &str, symbols: Vec<Sym>) -> Given {
        let path = self.compile(&format!("clang-22 -O2 {flags}"), name, source);
        let bytes = std::fs::read(&path).unwrap();
        let (is_thin, compiler) = (flags.contains("thin"), Compiler::Llvm);
        Given { path, bytes, offset: 0, member: None, compiler, is_thin, symbols }
    }

    pub fn ask(&self, files: &[Given], options: &Options, ask: &Ask) -> Result<Answer, Box<EngineError>> {
        let output_path = self.path("out");
        let request = Request {
            files: files.iter().map(Given::file).collect(),
            unused: ask.unused.iter().map(Given::file).collect(),
            output: ask.output,
            output_path: &output_path,
            machine: ask.machine,
            llvm_major: ask.llvm_major,
            gcc_major: ask.gcc_major,
            options,
            is_repeated: ask.is_repeated,
            digested: Vec::new(),
            patience: ask.patience,
        };
        compile(&request, self)
    }

    /// Writes objects of an answer and links them with others by gcc. The path of the program.
    pub fn link(&self, answer: &Answer, flags: &str) -> PathBuf {
        self.link_by("gcc", answer, flags)
    }

    pub fn link_by(&self, linker: &str, answer: &Answer, flags: &str) -> PathBuf {
        let mut line = format!("{linker} -o program");
        for (number, object) in answer.objects.iter().enumerate() {
            let name = format!("made{number}.o");
            std::fs::write(self.path(&name), &object.bytes[..]).unwrap();
            line += &format!(" {name}");
        }
        self.sh(&format!("{line} {flags}"));
        self.path("program")
    }

    /// The exit code of a program.
    pub fn run(&self, program: &Path) -> i32 {
        Command::new(program).current_dir(&self.directory).status().unwrap().code().unwrap()
    }

    /// Names of symbols that objects of an answer define, sorted.
    pub fn defined(&self, answer: &Answer) -> Vec<String> {
        let mut names = Vec::new();
        for object in &answer.objects {
            std::fs::write(self.path("listed.o"), &object.bytes[..]).unwrap();
            let listed = self.sh("nm --defined-only listed.o");
            names.extend(listed.lines().filter_map(|line| line.split(' ').nth(2).map(str::to_owned)));
        }
        names.sort();
        names
    }

    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The lines of an error: its text, and the notes below.
pub fn lines(error: &EngineError) -> String {
    let mut text = error.to_string();
    for note in error.notes() {
        text += "\n";
        text += &note;
    }
    text
}

/// A program that calls a function of another module.
pub const MAIN: &str = "int b(int); int main(int argc, char **argv) { (void)argv; return b(argc) + 2; }\n";
pub const B: &str = "int b(int x) { return x * 40; }\n";

pub fn two(workshop: &Workshop, flags: &str) -> [Given; 2] {
    [
        workshop.bitcode(flags, "a", MAIN, vec![def("main", P | VISIBLE | LOCAL), reference("b", LOCAL)]),
        workshop.bitcode(flags, "b", B, vec![def("b", P | LOCAL)]),
    ]
}
