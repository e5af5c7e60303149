//! Which GCC compiles GCC's intermediate code: of the version that wrote it, for the machine of the objects.
//!
//! What is needed is `lto-wrapper`, which lies in a directory of the compiler's version and target, and the
//! driver that it runs (`gcc`). A link that was started by `gcc` is told both. Otherwise they are looked for
//! where distributions and GCC's own `make install` have them.

use std::path::{Path, PathBuf};

use weld_common::host::Host;

use crate::answer::Fault;
use crate::request::{Machine, Request};

/// A compiler.
#[derive(Debug, PartialEq, Eq)]
pub struct Gcc {
    pub wrapper: PathBuf,
    pub driver: PathBuf,
    /// It runs weld, and the environment says what it was called with.
    pub is_called_by_it: bool,
    /// For `--verbose`.
    pub why: &'static str,
}

const WRAPPER: &str = "lto-wrapper";

/// Directories of targets, which have directories of versions.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "usr/lib/gcc", "usr/libexec/gcc", "usr/lib64/gcc",
    // Debian's compilers for other machines
    "usr/lib/gcc-cross", "usr/libexec/gcc-cross",
    "usr/local/lib/gcc", "usr/local/libexec/gcc", "usr/local/lib64/gcc",
];

/// Finds the compiler for a request's files. Directories are looked up below `root`, which is `/` but in
/// tests.
///
/// # Errors
/// If there is none.
pub fn find(request: &Request<'_>, host: &dyn Host, root: &Path) -> Result<Gcc, Fault> {
    let wishes = &request.options.engine;
    let told = wishes.plugin_options.iter().map(Path::new).find(|word| {
        let name = word.file_name().unwrap_or_default().as_encoded_bytes();
        !word.as_os_str().as_encoded_bytes().starts_with(b"-") && name.starts_with(WRAPPER.as_bytes())
    });
    let beside_plugin = wishes.plugin.as_ref().filter(|plugin| {
        plugin.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"liblto_plugin"))
    });
    let beside_plugin = beside_plugin.map(|plugin| plugin.with_file_name(WRAPPER));
    let mut tried = Vec::new();
    for (wrapper, why) in [(told.map(Path::to_owned), "-plugin-opt"), (beside_plugin, "it is beside -plugin")]
    {
        let Some(wrapper) = wrapper else { continue };
        let driver = host.variable("COLLECT_GCC").map(PathBuf::from);
        let is_called_by_it = driver.is_some();
        match driver.or_else(|| driver_of(&wrapper, host)) {
            Some(driver) if wrapper.is_file() => return Ok(Gcc { wrapper, driver, is_called_by_it, why }),
            Some(_) => tried.push(wrapper.display().to_string()),
            None => tried.push(format!("{}, whose gcc is not found", wrapper.display())),
        }
    }
    let targets = targets(request.machine);
    for wrapper in wrappers(root, targets, request.gcc_major, &mut tried) {
        match driver_of(&wrapper, host) {
            Some(driver) => {
                let why = "it is for the machine and of the version of the files";
                return Ok(Gcc { wrapper, driver, is_called_by_it: false, why });
            }
            None => tried.push(format!("{}, whose gcc is not in PATH", wrapper.display())),
        }
    }
    let version = request.gcc_major.map_or(String::new(), |major| format!(" {major}"));
    let target = targets.first().copied().unwrap_or("this machine");
    Err(Fault::NotFound {
        wanted: format!("gcc{version} for {target}"),
        tried,
        help: format!("install gcc{version} for {target}, or link with gcc -fuse-ld or gcc -B"),
    })
}

/// What names of targets begin with.
fn targets(machine: Machine) -> &'static [&'static str] {
    match machine {
        Machine::Elf { machine: 62, .. } => &["x86_64"],
        // A compiler for 64 bits compiles for 32, too: the files say that they are.
        Machine::Elf { machine: 3, .. } => &["i686", "i586", "i486", "i386", "x86_64"],
        Machine::Elf { machine: 183, .. } => &["aarch64"],
        Machine::Elf { machine: 243, is_64: true, .. } => &["riscv64"],
        Machine::Elf { machine: 243, is_64: false, .. } => &["riscv32", "riscv64"],
        Machine::Elf { machine: 22, .. } => &["s390x"],
        Machine::Elf { machine: 21, is_big_endian: false, .. } => &["powerpc64le"],
        Machine::Elf { machine: 21, is_big_endian: true, .. } => &["powerpc64"],
        Machine::Elf { machine: 40, .. } => &["arm"],
        Machine::Elf { machine: 258, .. } => &["loongarch64"],
        Machine::Elf { .. } => &[],
        Machine::Coff { machine: 0x8664 } => &["x86_64-w64-mingw32"],
        Machine::Coff { machine: 0x14c } => &["i686-w64-mingw32"],
        Machine::Coff { .. } => &["aarch64-w64-mingw32"],
    }
}

/// All wrappers of a version for these targets.
fn wrappers(root: &Path, targets: &[&str], major: Option<u32>, tried: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in PLACES.iter().map(|place| root.join(place)) {
        for target in children(&place) {
            let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let order = targets.iter().position(|&prefix| {
                name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            });
            let is_for_windows = |name: &str| name.contains("mingw") || name.contains("cygwin");
            let Some(order) = order else { continue };
            if is_for_windows(&name) != is_for_windows(targets[order]) {
                continue;
            }
            for version in children(&target) {
                let wrapper = version.join(WRAPPER);
                let number = version_of(&version);
                if !wrapper.is_file() {
                    continue;
                } else if major.is_none_or(|major| number == Some(major)) {
                    found.push((order, is_bare(&name), std::cmp::Reverse(number), wrapper));
                } else {
                    tried.push(format!("{}, which is of another version", wrapper.display()));
                }
            }
        }
    }
    found.sort();
    found.into_iter().map(|(.., wrapper)| wrapper).collect()
}

/// Whether a target has no operating system: `riscv64-unknown-elf`, `arm-none-eabi`. Its compiler is asked last: files
/// are mostly of the other one, and what both can read depends on how each was built (such as for zstd).
fn is_bare(target: &str) -> bool {
    target.split('-').any(|word| word == "none" || word == "elf")
}

/// Directories in a directory, in the order of their names.
fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut list: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    list.sort();
    list
}

/// The major version in a directory's name: `12`, `12.2.0`, `12-win32`.
fn version_of(directory: &Path) -> Option<u32> {
    let name = directory.file_name()?.to_str()?;
    name.split(['.', '-']).next()?.parse().ok()
}

/// The driver in `PATH` that belongs to a wrapper, by the names of its directories, which are target and
/// version.
fn driver_of(wrapper: &Path, host: &dyn Host) -> Option<PathBuf> {
    let version = wrapper.parent()?;
    let target = version.parent()?.file_name()?.to_str()?;
    let place = version.parent()?.parent()?.file_name()?;
    let (major, version) = (version_of(version), version.file_name()?.to_str()?);
    let mut names = vec![format!("{target}-gcc-{version}"), format!("{target}-gcc")];
    if place == "gcc" && target.starts_with(std::env::consts::ARCH) && !target.contains("mingw") {
        names.extend([format!("gcc-{version}"), "gcc".to_owned()]);
    }
    let path = host.variable("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names.iter().flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    found.into_iter().filter(|path| path.is_file()).find(|path| is_of_version(path, major))
}

/// Whether a driver is of a version, as far as its own name tells (`gcc` normally leads to `…-gcc-12`).
fn is_of_version(driver: &Path, major: Option<u32>) -> bool {
    let Ok(real) = std::fs::canonicalize(driver) else { return false };
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let version: Option<u32> =
        name.rsplit("gcc-").next().and_then(|rest| rest.split(['.', '-']).next()?.parse().ok());
    version.is_none() || major.is_none() || version == major
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::io;

    use super::*;
    use crate::options::Options;
    use crate::request::Output;

    struct Tree {
        root: PathBuf,
        collect_gcc: Option<&'static str>,
    }

    impl Host for Tree {
        fn print(&self, _text: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn variable(&self, name: &str) -> Option<OsString> {
            match name {
                "PATH" => Some(self.root.join("usr/bin").into()),
                "COLLECT_GCC" => self.collect_gcc.map(OsString::from),
                _ => None,
            }
        }
    }

    impl Tree {
        fn new(name: &str, paths: &[&str]) -> Tree {
            let root = std::env::temp_dir().join(format!("weld-gcc-{}-{name}", std::process::id()));
            for path in paths {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            Tree { root, collect_gcc: None }
        }

        fn find(
            &self,
            options: &Options,
            machine: u16,
            gcc_major: Option<u32>,
        ) -> Result<(String, String), Fault> {
            let machine = Machine::Elf { machine, is_64: machine != 3, is_big_endian: false };
            let request = Request { machine, gcc_major, ..Request::of_nothing(Output::Pie, options) };
            let gcc = find(&request, self, &self.root)?;
            let short = |path: &Path| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
            Ok((short(&gcc.wrapper), short(&gcc.driver)))
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.root).unwrap();
        }
    }

    const TREE: &[&str] = &[
        "usr/lib/gcc-cross/aarch64-linux-gnu/12/lto-wrapper",
        "usr/lib/gcc-cross/i686-linux-gnu/12/lto-wrapper",
        "usr/libexec/gcc-cross/aarch64-linux-gnu/14/lto-wrapper",
        "usr/lib/gcc/aarch64-w64-mingw32/12-win32/lto-wrapper",
        "usr/bin/aarch64-linux-gnu-gcc-12",
        "usr/bin/aarch64-linux-gnu-gcc-14",
        "usr/bin/gcc",
    ];

    #[test]
    fn those_of_systems_come_first() {
        let tree = Tree::new(
            "bare",
            &[
                "usr/lib/gcc/arm-none-eabi/12.2.1/lto-wrapper",
                "usr/lib/gcc-cross/arm-linux-gnueabihf/12/lto-wrapper",
                "usr/bin/arm-none-eabi-gcc",
                "usr/bin/arm-linux-gnueabihf-gcc-12",
                "usr/lib/gcc/riscv64-unknown-elf/12.2.0/lto-wrapper",
                "usr/bin/riscv64-unknown-elf-gcc",
            ],
        );
        let of = |wrapper: &str, driver: &str| (wrapper.to_owned(), driver.to_owned());
        let options = Options::default();
        assert_eq!(
            tree.find(&options, 40, Some(12)).unwrap(),
            of("usr/lib/gcc-cross/arm-linux-gnueabihf/12/lto-wrapper", "usr/bin/arm-linux-gnueabihf-gcc-12")
        );
        assert_eq!(
            tree.find(&options, 243, Some(12)).unwrap(),
            of("usr/lib/gcc/riscv64-unknown-elf/12.2.0/lto-wrapper", "usr/bin/riscv64-unknown-elf-gcc")
        );
    }

    #[test]
    fn of_the_machine_and_version() {
        let tree = Tree::new("version", TREE);
        let options = Options::default();
        let of = |version: u32, place: &str| {
            let wrapper = format!("usr/{place}/gcc-cross/aarch64-linux-gnu/{version}/lto-wrapper");
            (wrapper, format!("usr/bin/aarch64-linux-gnu-gcc-{version}"))
        };
        assert_eq!(tree.find(&options, 183, Some(12)).unwrap(), of(12, "lib"));
        assert_eq!(tree.find(&options, 183, None).unwrap(), of(14, "libexec"));
        let Err(Fault::NotFound { wanted, tried, .. }) = tree.find(&options, 183, Some(13)) else { panic!() };
        assert_eq!((&*wanted, tried.len()), ("gcc 13 for aarch64", 2));
        let Err(Fault::NotFound { tried, .. }) = tree.find(&options, 3, Some(12)) else { panic!() };
        assert!(
            tried[0].ends_with("whose gcc is not in PATH"),
            "another machine's gcc will not do: {tried:?}"
        );
    }

    #[test]
    fn what_gcc_says_comes_first() {
        let mut tree = Tree::new("told", &[TREE, &["mine/lto-wrapper"]].concat());
        tree.collect_gcc = Some("/bin/mygcc");
        let mut options = Options::default();
        let wrapper = tree.root.join("mine/lto-wrapper").display().to_string();
        options.engine.plugin_options = vec!["-fresolution=x".to_owned(), wrapper];
        let found = tree.find(&options, 183, Some(12)).unwrap();
        assert_eq!(found, ("mine/lto-wrapper".to_owned(), "/bin/mygcc".to_owned()));
        options.engine.plugin_options.clear();
        options.engine.plugin = Some(tree.root.join("mine/liblto_plugin.so"));
        assert_eq!(tree.find(&options, 183, Some(12)).unwrap(), found);
    }
}
