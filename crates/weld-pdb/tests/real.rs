//! PDBs of objects that clang makes: the same as lld-link's in all that it says, read back by two independent
//! readers.

use std::path::{Path, PathBuf};
use std::process::Command;

mod toy;
use toy::{Link, Object};

/// A directory that goes away with its test.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let dir = std::env::temp_dir().join(format!("weld-pdb-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Dir(dir)
    }

    fn run(&self, program: &str, args: &[&str]) -> String {
        let output = Command::new(program).args(args).current_dir(&self.0).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "{program} {args:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        assert_eq!(text(&output.stderr), "", "{program} {args:?}");
        text(&output.stdout)
    }

    fn dump(&self, pdb: &str, what: &str) -> String {
        let args: Vec<&str> = ["dump", pdb].into_iter().chain(what.split(' ')).collect();
        self.run("llvm-pdbutil-22", &args)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SOURCES: [&str; 3] = ["classes.cpp", "other.c", "more.cpp"];

/// Compiles the sources, and links them by lld-link to `lld.exe` and `lld.pdb`. Returns the names of the
/// objects.
fn prepare(dir: &Dir, target: &str, options: &[&str]) -> Vec<String> {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/input");
    let mut objects = Vec::new();
    for source in SOURCES {
        let object = format!("{source}.obj");
        let path = input.join(source);
        let target = format!("--target={target}-pc-windows-msvc");
        let mut args =
            vec![&target[..], "-gcodeview", "-gno-codeview-command-line", "-fno-exceptions", "-fno-rtti"];
        args.extend(["-c", path.to_str().unwrap(), "-o", &object]);
        args.extend(options);
        dir.run("clang-22", &args);
        objects.push(object);
    }
    let mut args =
        vec!["/entry:entry", "/nodefaultlib", "/debug", "/opt:noref", "/out:lld.exe", "/lldmap:lld.map"];
    args.extend(["/subsystem:console", "/force:unresolved", "/safeseh:no"]);
    args.extend(objects.iter().map(String::as_str));
    let output = Command::new("lld-link-22").args(args).current_dir(&dir.0).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    objects
}

/// Writes PDBs with 1, 2 and 8 threads, which must be the same, as `weld.pdb`.
fn write(dir: &Dir, objects: &[String]) -> weld_pdb::Identity {
    let bytes: Vec<Vec<u8>> = objects.iter().map(|name| std::fs::read(dir.0.join(name)).unwrap()).collect();
    let map = std::fs::read_to_string(dir.0.join("lld.map")).unwrap();
    let image = std::fs::read(dir.0.join("lld.exe")).unwrap();
    let path = dir.0.join("weld.pdb");
    let mut first = None;
    for threads in [1, 2, 8] {
        let parsed = objects.iter().zip(&bytes).map(|(name, bytes)| Object::parse(name, bytes)).collect();
        let link = Link::like(parsed, &map, &image);
        let (identity, warnings) = link.write(&path, threads, &mut |_| ()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let written = (identity, std::fs::read(&path).unwrap());
        match &first {
            None => first = Some(written),
            Some(first) => assert!(*first == written, "{threads} threads"),
        }
    }
    first.unwrap().0
}

/// What differs with the program that wrote, and has no meaning.
fn normalised(dump: &str, dir: &Dir) -> Vec<String> {
    let dir = format!("{}/", dir.0.display());
    dump.lines().map(|line| line.replace(&dir, "").trim_end().to_string()).collect()
}

fn compare(dir: &Dir, what: &str, keep: impl Fn(&[String]) -> Vec<String>) {
    let ours = keep(&normalised(&dir.dump("weld.pdb", what), dir));
    let theirs = keep(&normalised(&dir.dump("lld.pdb", what), dir));
    assert!(ours.len() > 8, "{what} {ours:?}");
    for (i, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "{what}, line {i}");
    }
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

/// What is before the linker's own module.
fn without_linker_module(lines: &[String]) -> Vec<String> {
    let end = lines.iter().position(|line| line.contains("`* Linker *`")).unwrap();
    lines[..end].to_vec()
}

fn check_all(name: &str, target: &str, options: &[&str], sections: usize) -> Dir {
    let dir = Dir::new(name);
    let objects = prepare(&dir, target, options);
    let identity = write(&dir, &objects);
    let all = dir.dump("weld.pdb", "-all");
    let errors: Vec<&str> = all.lines().filter(|line| line.to_lowercase().contains("error")).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let summary = dir.dump("weld.pdb", "-summary");
    let guid = identity.guid;
    let first = u32::from_le_bytes(guid[..4].try_into().unwrap());
    assert!(summary.contains(&format!("GUID: {{{first:08X}-")), "{summary} {guid:x?}");
    let whole = |lines: &[String]| lines.to_vec();
    compare(&dir, "-types", whole);
    compare(&dir, "-ids", whole);
    compare(&dir, "-symbols", without_linker_module);
    compare(&dir, "-l", without_linker_module);
    compare(&dir, "-il", without_linker_module);
    compare(&dir, "-files", without_linker_module);
    // With the tables: buckets, order in them, addresses.
    compare(&dir, "-globals -global-extras", whole);
    compare(&dir, "-publics -public-extras", whole);
    compare(&dir, "-section-headers", whole);
    compare(&dir, "-section-map", whole);
    let strings = dir.dump("weld.pdb", "-string-table");
    assert!(strings.contains("'Rules.natvis'") && strings.contains("'rules.natvis'"), "{strings}");
    let streams = dir.dump("weld.pdb", "-streams");
    let size = toy::NATVIS.len();
    assert!(
        streams.contains(&format!("({size:>4} bytes): [Named Stream \"/src/files/rules.natvis\"]")),
        "{streams}"
    );
    assert!(streams.contains("[Named Stream \"/src/headerblock\"]"));
    read_back(&dir.0.join("weld.pdb"), sections);
    dir
}

/// Reads everything that the crate `pdb` can read.
fn read_back(path: &Path, sections: usize) {
    use pdb::FallibleIterator;
    let mut pdb = pdb::PDB::open(std::fs::File::open(path).unwrap()).unwrap();
    let information = pdb.debug_information().unwrap();
    let strings = pdb.string_table().unwrap();
    let types = pdb.type_information().unwrap();
    let mut finder = types.finder();
    let mut iter = types.iter();
    let mut count = 0;
    while let Some(item) = iter.next().unwrap() {
        finder.update(&iter);
        match item.parse() {
            // Shapes of tables of virtual functions.
            Ok(_) | Err(pdb::Error::UnimplementedTypeKind(10)) => {}
            Err(error) => panic!("{error}"),
        }
        assert_eq!(finder.find(item.index()).unwrap().index(), item.index());
        count += 1;
    }
    assert_eq!(count, types.len());
    let ids = pdb.id_information().unwrap();
    assert_eq!(ids.iter().map(|item| item.parse().map(drop)).count().unwrap(), ids.len());
    let globals = pdb.global_symbols().unwrap();
    assert!(globals.iter().map(|symbol| symbol.parse().map(drop)).count().unwrap() > 20);
    let (mut modules, mut lines) = (information.modules().unwrap(), 0);
    while let Some(module) = modules.next().unwrap() {
        let Some(module) = pdb.module_info(&module).unwrap() else { continue };
        let parse = |symbol: pdb::Symbol<'_>| match symbol.parse() {
            // Frames, ranges of locals, sections and groups, the environment, marks of inlined code.
            Ok(_) | Err(pdb::Error::UnimplementedSymbolKind(0x1012 | 0x1136..=0x1145 | 0x1168)) => Ok(()),
            Err(error) => Err(error),
        };
        module.symbols().unwrap().for_each(parse).unwrap();
        let program = module.line_program().unwrap();
        let mut all = program.lines();
        while let Some(line) = all.next().unwrap() {
            let file = program.get_file_info(line.file_index).unwrap();
            assert!(file.name.to_string_lossy(&strings).unwrap().contains("tests/input/"));
            lines += 1;
        }
    }
    assert!(lines > 10);
    assert_eq!(pdb.sections().unwrap().unwrap().len(), sections);
}

#[test]
fn without_optimisation() {
    check_all("o0", "x86_64", &[], 6);
}

#[test]
fn optimised_with_sections_for_functions() {
    check_all("o2", "x86_64", &["-O2", "-ffunction-sections"], 5);
}

#[test]
fn for_32_bits() {
    let dir = check_all("x86", "i686", &["-O1"], 5);
    compare(&dir, "-fpo", |lines| lines.to_vec());
}
