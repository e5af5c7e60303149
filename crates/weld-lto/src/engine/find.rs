//! Where engines are: programs that `weld lto-engine build` has built ([`PROGRAM`]), and LLVM's plugin for
//! linkers as distributions install it.
//!
//! An engine reads bitcode of its own version and of older ones. So the least version is taken that is not
//! older than any of the files: what comes out then depends least on what else is installed. A directory's
//! name tells the version before anything is loaded; a library without one is asked when it is loaded.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use weld_common::host::Host;

use crate::options::EngineWishes;

/// What may be an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub path: PathBuf,
    /// Why it is one, for `--verbose`.
    pub why: &'static str,
    /// It is this one or none.
    pub is_asked_for: bool,
}

impl Candidate {
    /// Whether it is a program, which does all that lld does, and not a plugin.
    pub fn is_program(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PROGRAM.as_bytes()))
    }

    /// The program to start that is to be told these words: the one beside it, if plugins are to be loaded.
    pub fn program(&self, words: &[String]) -> PathBuf {
        let loads = |word: &String| {
            let option = word.strip_prefix("llvm=").map(|option| option.trim_start_matches('-'));
            word.starts_with("pass-plugin=") || option.is_some_and(|option| option.starts_with("load"))
        };
        let mut name = self.path.clone().into_os_string();
        name.push(SHARED);
        let beside = Some(PathBuf::from(name)).filter(|path| words.iter().any(loads) && path.is_file());
        beside.unwrap_or_else(|| self.path.clone())
    }
}

/// What is added to the name of a program for the one beside it whose LLVM is a library: plugins that it
/// loads are linked against that.
pub const SHARED: &str = "-shared";

/// What names of programs that are engines begin with. A major version of LLVM follows, after a dash.
pub const PROGRAM: &str = "weld-lto-engine";

/// The directory of engines in the user's cache.
pub const ENGINES: &str = "weld/engines";

/// What is known of the system. Names of directories are looked up below `root`, which is `/` but in tests.
pub struct System<'s> {
    pub root: &'s Path,
    /// Where weld is.
    pub program: Option<&'s Path>,
    /// `XDG_CACHE_HOME`, or its default.
    pub cache: Option<PathBuf>,
    /// `PATH`.
    pub path: Option<std::ffi::OsString>,
    /// `--thinlto-remote-compiler`.
    pub remote_compiler: Option<&'s Path>,
}

/// Where a program is, as a shell finds it: a path is taken as it is, of files in `PATH` those that can be
/// executed.
pub fn program(name: &Path, host: &dyn Host) -> Option<PathBuf> {
    if name.components().nth(1).is_some() || name.is_absolute() {
        return Some(name.to_owned());
    }
    let path = host.variable("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// What was looked for and where, in order.
#[derive(Debug, Default)]
pub struct Search {
    pub candidates: Vec<Candidate>,
    /// Places that have none.
    pub tried: Vec<String>,
}

const PLUGIN: &str = "LLVMgold.so";

/// Whether plugins can be loaded: a program that is linked statically with musl has no loader.
const LOADS: bool = !cfg!(all(target_env = "musl", target_feature = "crt-static"));

/// Directories with one for each version: directory, what stands in front of the version, what is below.
#[rustfmt::skip]
const VERSIONED: &[(&str, &str, &str)] = &[
    // Debian, Ubuntu, apt.llvm.org
    ("usr/lib", "llvm-", "lib"),
    // Alpine
    ("usr/lib", "llvm", "lib"),
    // Fedora
    ("usr/lib64", "llvm", "lib64"), ("usr/lib64", "llvm", "lib"),
    // Gentoo
    ("usr/lib/llvm", "", "lib64"), ("usr/lib/llvm", "", "lib"),
    // By hand
    ("usr/local", "llvm-", "lib"), ("opt", "llvm-", "lib"),
];

/// Directories with one or none.
const PLAIN: &[&str] = &[
    "usr/lib",
    "usr/lib64",
    "usr/local/lib",
    "usr/lib/bfd-plugins",
    "usr/lib64/bfd-plugins",
    "usr/local/lib/bfd-plugins",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib/riscv64-linux-gnu",
    "usr/lib/s390x-linux-gnu",
    "usr/lib/powerpc64le-linux-gnu",
];

/// Finds candidates for files whose newest producer is of version `major`, best first.
pub fn llvm(wishes: &EngineWishes, system: &System<'_>, major: Option<u32>) -> Search {
    let mut search = Search::default();
    if let Some(path) = &wishes.path {
        // The loader, and who starts programs, look for a name without a directory elsewhere.
        let path =
            if path.parent() == Some(Path::new("")) { Path::new(".").join(path) } else { path.clone() };
        search.candidates.push(Candidate { path, why: "--lto-engine", is_asked_for: true });
        return search;
    }
    if let Some(plugin) = wishes.llvm_plugin() {
        search.look(plugin.to_owned(), "-plugin");
    }
    let beside = system.program.and_then(Path::parent);
    let cache = system.cache.as_ref().map(|cache| cache.join(ENGINES));
    search.look_for_programs(beside, major, "it is where weld is");
    search.look_for_programs(cache.as_deref(), major, "it is in weld's cache");
    if let Some(program) = system.program {
        search.look_near(program, "it is where weld is");
    }
    if let Some(cache) = cache {
        search.look(cache.join(PLUGIN), "it is in weld's cache");
    }
    if let Some(compiler) = system.remote_compiler {
        search.look_near(compiler, "it is where --thinlto-remote-compiler is");
    }
    search.look_for_versions(system.root, major);
    for directory in PLAIN {
        search.look(system.root.join(directory).join(PLUGIN), "it is in the system's libraries");
    }
    for directory in system.path.iter().flat_map(|path| std::env::split_paths(path)) {
        let clang = directory.join("clang");
        if let Ok(clang) = std::fs::canonicalize(&clang) {
            search.look_near(&clang, "it is where clang is");
        }
    }
    search
}

impl Search {
    fn look(&mut self, path: PathBuf, why: &'static str) {
        if !path.is_file() {
            self.tried.push(path.display().to_string());
        } else if !LOADS && path.file_name() == Some(OsStr::new(PLUGIN)) {
            self.tried
                .push(format!("{}, which weld cannot load because it is linked statically", path.display()));
        } else if !self.candidates.iter().any(|known| known.path == path) {
            self.candidates.push(Candidate { path, why, is_asked_for: false });
        }
    }

    /// Beside a program, and in the directory for libraries that belongs to its own.
    fn look_near(&mut self, program: &Path, why: &'static str) {
        let Some(directory) = program.parent() else { return };
        self.look(directory.join(PLUGIN), why);
        if let Some(above) = directory.parent() {
            self.look(above.join("lib").join(PLUGIN), why);
        }
    }

    /// Programs in a directory, of versions from `major` on, in the order of [`Search::look_for_versions`].
    fn look_for_programs(&mut self, directory: Option<&Path>, major: Option<u32>, why: &'static str) {
        let entries = directory.and_then(|directory| std::fs::read_dir(directory).ok()).into_iter().flatten();
        let name = format!("{PROGRAM}-");
        let programs = entries
            .flatten()
            .filter_map(|entry| Some((version_in(&entry.file_name(), &name)?, entry.path())));
        let (mut new, old): (Vec<_>, Vec<_>) =
            programs.partition(|&(version, _)| major.is_none_or(|major| version >= major));
        self.tried.extend(old.into_iter().map(|(_, path)| format!("{}, which is too old", path.display())));
        new.sort();
        if major.is_none() {
            new.reverse();
        }
        if new.is_empty() {
            let place = directory.map(|directory| format!("{}/{PROGRAM}-*", directory.display()));
            self.tried.extend(place);
        }
        for (_, path) in new {
            self.look(path, why);
        }
    }

    /// Versions from `major` on, least first; without one the newest first.
    fn look_for_versions(&mut self, root: &Path, major: Option<u32>) {
        let mut found = Vec::new();
        for (order, &(directory, prefix, below)) in VERSIONED.iter().enumerate() {
            let entries = std::fs::read_dir(root.join(directory)).into_iter().flatten().flatten();
            for entry in entries {
                let Some(version) = version_in(&entry.file_name(), prefix) else { continue };
                let path = entry.path().join(below).join(PLUGIN);
                if path.is_file() && major.is_none_or(|major| version >= major) {
                    found.push((version, order, path));
                } else if path.is_file() {
                    self.tried.push(format!("{}, which is too old", path.display()));
                }
            }
        }
        found.sort_by_key(|&(version, order, _)| match major {
            Some(_) => (version, order),
            None => (u32::MAX - version, order),
        });
        if found.is_empty() {
            let wanted = major.map_or("VERSION".to_owned(), |major| format!("{major} or later"));
            self.tried
                .push(format!("{}/usr/lib/llvm-*/lib/{PLUGIN}, {wanted}", root.display()).replace("//", "/"));
        }
        for (_, _, path) in found {
            self.look(path, "it is the least version that reads the files");
        }
    }
}

/// The version in a name such as `llvm-22`.
fn version_in(name: &OsStr, prefix: &str) -> Option<u32> {
    name.to_str()?.strip_prefix(prefix)?.parse().ok()
}

/// What to do if there is none.
pub fn help(major: Option<u32>) -> String {
    let version = major.map_or("N".to_owned(), |major| major.to_string());
    if !LOADS {
        return "build an engine: weld lto-engine build".to_owned();
    }
    format!(
        "install the plugin of LLVM for linkers (Debian and Ubuntu: apt install llvm-{version}-linker-tools), \
         or say where it is with --lto-engine=PATH/{PLUGIN}; or build an engine: weld lto-engine build"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with empty libraries at `paths`.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, paths: &[&str]) -> Root {
            let root = std::env::temp_dir().join(format!("weld-find-{}-{name}", std::process::id()));
            for path in paths {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            Root(root)
        }

        fn find(&self, wishes: &EngineWishes, major: Option<u32>) -> Vec<String> {
            let program = self.0.join("here/weld");
            let system = System {
                root: &self.0,
                program: Some(&program),
                cache: Some(self.0.join("cache")),
                path: Some(self.0.join("bin").into()),
                remote_compiler: None,
            };
            let found = llvm(wishes, &system, major).candidates;
            found
                .iter()
                .map(|found| found.path.strip_prefix(&self.0).unwrap_or(&found.path).display().to_string())
                .collect()
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn the_least_version_that_reads_the_files() {
        let versions = [14, 19, 22, 23].map(|version| format!("usr/lib/llvm-{version}/lib/LLVMgold.so"));
        let root = Root::new("least", &versions.each_ref().map(String::as_str));
        let of = |version| format!("usr/lib/llvm-{version}/lib/LLVMgold.so");
        let wishes = EngineWishes::default();
        assert_eq!(root.find(&wishes, Some(20)), [of(22), of(23)]);
        assert_eq!(root.find(&wishes, Some(24)), [""; 0]);
        assert_eq!(root.find(&wishes, None), [of(23), of(22), of(19), of(14)]);
    }

    #[test]
    fn in_order_of_who_knows_best() {
        let near = ["here/LLVMgold.so", "cache/weld/engines/LLVMgold.so", "usr/lib/llvm22/lib/LLVMgold.so"];
        let root = Root::new("order", &[&near[..], &["usr/lib64/LLVMgold.so", "mine/LLVMgold.so"]].concat());
        let plugin = Some(root.0.join("mine/LLVMgold.so"));
        let wishes = EngineWishes { plugin, ..EngineWishes::default() };
        let found = root.find(&wishes, Some(22));
        assert_eq!(found, [&["mine/LLVMgold.so"], &near[..], &["usr/lib64/LLVMgold.so"]].concat());
        let wishes = EngineWishes { path: Some(root.0.join("x")), ..wishes };
        assert_eq!(root.find(&wishes, Some(22)), ["x"], "it is this one or none");
        let wishes = EngineWishes { path: Some("x".into()), ..wishes };
        assert_eq!(root.find(&wishes, Some(22)), ["./x"], "in the working directory");
        let gcc = Some(PathBuf::from("/usr/lib/gcc/liblto_plugin.so"));
        let wishes = EngineWishes { plugin: gcc, ..EngineWishes::default() };
        assert_eq!(root.find(&wishes, Some(22))[0], "here/LLVMgold.so", "GCC's plugin compiles no bitcode");
    }

    #[test]
    fn programs_come_before_plugins() {
        let program = |version: u32| format!("here/weld-lto-engine-{version}");
        let own = "cache/weld/engines/weld-lto-engine-22";
        let paths = [&program(21), &program(24), &program(23), "here/LLVMgold.so", own];
        let root = Root::new("programs", &paths.map(|path| path as &str));
        let wishes = EngineWishes::default();
        let found = root.find(&wishes, Some(22));
        assert_eq!(found, [&program(23), &program(24), own, "here/LLVMgold.so"]);
        assert_eq!(root.find(&wishes, None)[..3], [24, 23, 21].map(program));
        let is_program =
            |path: &str| Candidate { path: path.into(), why: "", is_asked_for: true }.is_program();
        assert!(is_program("/x/weld-lto-engine") && is_program(own) && !is_program("/x/LLVMgold.so"));
    }

    #[test]
    fn who_loads_plugins() {
        let name = "cache/weld/engines/weld-lto-engine-22";
        let root = Root::new("shared", &[name, &format!("{name}-shared")]);
        assert_eq!(root.find(&EngineWishes::default(), Some(22)), [name], "it is none to be found by itself");
        let engine = Candidate { path: root.0.join(name), why: "", is_asked_for: false };
        let started = |word: &str| {
            let program = engine.program(&["level=2".to_owned(), word.to_owned()]);
            program.to_str().unwrap().ends_with("-shared")
        };
        assert_eq!([started("pass-plugin=p.so"), started("llvm=-load=p.so")], [true; 2]);
        assert_eq!([started("jobs=1"), started("llvm=-inline-threshold=1")], [false; 2]);
        std::fs::remove_file(root.0.join(format!("{name}-shared"))).unwrap();
        assert!(!started("pass-plugin=p.so"));
    }

    #[cfg(unix)]
    #[test]
    fn where_clang_is() {
        let root = Root::new("clang", &["opt/mine/bin/clang-23", "opt/mine/lib/LLVMgold.so"]);
        std::fs::create_dir_all(root.0.join("bin")).unwrap();
        std::os::unix::fs::symlink(root.0.join("opt/mine/bin/clang-23"), root.0.join("bin/clang")).unwrap();
        assert_eq!(root.find(&EngineWishes::default(), Some(22)), ["opt/mine/lib/LLVMgold.so"]);
    }
}
