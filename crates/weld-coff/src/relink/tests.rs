//! Links of small programs after which nothing, or something, has changed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use weld_common::host::QuietHost;
use weld_common::io::stamp::{GRAIN, Stamp};
use weld_common::relink::directory::{self, Place};
use weld_testkit::coff::{self, Coff};
use weld_testkit::mutate::{Rng, damage};

use crate::args::Environment;
use crate::link;

/// A directory that goes away with its test.
pub struct Dir(PathBuf);

impl Dir {
    /// `name` must be different for each test.
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("weld-coff-relink-{}-{name}", std::process::id()));
        _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_default()
    }

    fn modified(&self, name: &str) -> SystemTime {
        fs::metadata(self.path(name)).unwrap().modified().unwrap()
    }

    /// Links; what it warned of, or what was wrong.
    pub fn link(&self, more: &[&str]) -> Result<Vec<String>, String> {
        // What was written right before a link may be written to again without a trace.
        std::thread::sleep(2 * GRAIN);
        let mut args = vec![OsString::from(format!("/out:{}", self.path("out.dll").display()))];
        let of_all = ["/dll", "/noentry", "/debug", "/threads:1", "/nodefaultlib"];
        args.extend(of_all.iter().chain(more).map(OsString::from));
        let lists = ["first", "lib"].map(|name| format!("/libpath:{}", self.path(name).display()).into());
        args.extend(lists);
        args.push(self.path("a.obj").into());
        args.push("b.lib".into());
        let done = link::link(&args, &Environment::default(), &QuietHost::new());
        done.map(|outcome| outcome.warnings.into_iter().map(|d| d.message).collect())
            .map_err(|e| e.to_string())
    }

    /// What the log says of the last link.
    pub fn said(&self) -> String {
        let log = String::from_utf8(self.read(".out.dll.weld/log")).unwrap();
        log.lines().last().unwrap_or_default().get(20..).unwrap_or_default().to_owned()
    }

    /// Links, and what the log says of it.
    pub fn relink(&self, more: &[&str]) -> String {
        self.link(&[&["/incremental"], more].concat()).unwrap();
        self.said()
    }

    /// Digests of what there is, and 0 for what is not.
    pub fn outputs(&self) -> Vec<u128> {
        let digest = |bytes: Vec<u8>| match super::digests::of_bytes(&bytes).first_chunk() {
            Some(first) if !bytes.is_empty() => u128::from_le_bytes(*first),
            _ => 0,
        };
        ["out.dll", "out.pdb", "out.lib", "out.map"].map(|name| digest(self.read(name))).into()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// An object that exports a function.
fn object(code: u8) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[code, 0xc3]);
    object.section(".drectve", 0x0a00, b" /EXPORT:start");
    object.symbol("start", 0, text, coff::EXTERNAL);
    object.build()
}

/// Inputs that have been there for some time.
pub fn program(name: &str) -> Dir {
    let dir = Dir::new(name);
    fs::create_dir(dir.path("first")).unwrap();
    fs::create_dir(dir.path("lib")).unwrap();
    dir.write("a.obj", &object(0x90));
    dir.write("lib/b.lib", &object(0x91).replace_start());
    dir
}

trait ReplaceStart {
    fn replace_start(self) -> Self;
}

impl ReplaceStart for Vec<u8> {
    /// The same object under another name, and without its directive.
    fn replace_start(mut self) -> Vec<u8> {
        for at in 0..self.len() - 5 {
            if self[at..].starts_with(b"start") {
                self[at..at + 5].copy_from_slice(b"other");
            }
        }
        for at in 0..self.len() - 8 {
            if self[at..].starts_with(b"/EXPORT:") {
                self[at..at + 13].fill(b' ');
            }
        }
        self
    }
}

pub const NOTHING: &str = "relinked: no input has changed";

#[test]
fn nothing_has_changed() {
    let dir = program("nothing");
    assert_eq!(dir.relink(&["/map"]), "full link: no state was left by a link before");
    let made = dir.outputs();
    assert!(made.iter().all(|digest| *digest != 0));
    let times = ["out.dll", "out.pdb", "out.lib"].map(|name| dir.modified(name));
    assert_eq!(dir.relink(&["/map"]), NOTHING);
    assert_eq!(dir.outputs(), made);
    let now = ["out.dll", "out.pdb", "out.lib"].map(|name| dir.modified(name));
    assert!(now[0] > times[0] && now[1] > times[1], "the image and its PDB are as new");
    assert_eq!(now[2], times[2], "the import library is as old as what it says");
    // It is what any such link makes, and a link without the option leaves nothing.
    directory::forget(&dir.path(".out.dll.weld")).unwrap();
    dir.relink(&["/map"]);
    assert_eq!(dir.outputs(), made);
    directory::forget(&dir.path(".out.dll.weld")).unwrap();
    dir.link(&["/map"]).unwrap();
    assert!(!dir.path(".out.dll.weld").exists());
}

#[test]
fn what_has_changed_is_said() {
    let dir = program("changes");
    let first = "full link: no state was left by a link before";
    assert_eq!(dir.relink(&[]), first);
    // The same bytes anew.
    dir.write("a.obj", &object(0x90));
    assert_eq!(dir.relink(&[]), format!("{NOTHING}; 1 file was looked at"));
    assert_eq!(dir.relink(&[]), NOTHING);
    dir.write("a.obj", &object(0x92));
    assert_eq!(dir.relink(&[]), "relinked: 1 section of 1 object, 1 byte");
    assert!(dir.read("out.dll").windows(2).any(|bytes| bytes == [0x92, 0xc3]));
    assert_eq!(dir.relink(&[]), NOTHING);
    let command =
        "full link: the command line, the environment or the working directory is not that of the last link";
    assert_eq!(dir.relink(&["/base:0x20000000"]), command);
    assert_eq!(dir.relink(&["/base:0x20000000"]), NOTHING);
    // What a link of another kind has put there is replaced.
    let made = dir.outputs();
    dir.link(&[]).unwrap();
    assert_ne!(dir.outputs(), made);
    assert_eq!(dir.relink(&["/base:0x20000000"]), NOTHING);
    assert_eq!(dir.outputs(), made);
    // A library where it is looked for first.
    fs::write(dir.path("first/B.LIB"), object(0x91).replace_start()).unwrap();
    let said = dir.relink(&["/base:0x20000000"]);
    assert_eq!(said, format!("full link: {} was not there before", dir.path("first/b.lib").display()));
    fs::remove_file(dir.path("first/B.LIB")).unwrap();
    assert_eq!(
        dir.relink(&["/base:0x20000000"]),
        format!("full link: {} is gone", dir.path("first/B.LIB").display())
    );
    dir.relink(&["/base:0x20000000"]);
    fs::remove_file(dir.path("lib/b.lib")).unwrap();
    assert!(dir.link(&["/incremental", "/base:0x20000000"]).is_err());
    assert_eq!(dir.said(), format!("full link: {} is gone", dir.path("lib/b.lib").display()));
}

#[test]
fn outputs_are_those_that_were_written() {
    let dir = program("outputs");
    dir.relink(&["/map"]);
    let made = dir.outputs();
    // What is unlinked or replaced comes back; as cargo has links, so that the time of change is another.
    fs::hard_link(dir.path("out.dll"), dir.path("other.dll")).unwrap();
    fs::remove_file(dir.path("out.dll")).unwrap();
    fs::remove_file(dir.path("out.pdb")).unwrap();
    dir.write("out.pdb", b"other");
    assert_eq!(dir.relink(&["/map"]), NOTHING);
    assert_eq!(dir.outputs(), made);
    for name in ["out.dll", "out.pdb", "out.lib", "out.map"] {
        let mut bytes = dir.read(name);
        *bytes.last_mut().unwrap() ^= 1;
        // In place, with the time as it was.
        let file = fs::OpenOptions::new().write(true).open(dir.path(name)).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        std::io::Write::write_all(&mut &file, &bytes).unwrap();
        file.set_modified(time).unwrap();
        let path = dir.path(name);
        let said =
            format!("full link: {}, which the last link wrote, was changed or removed", path.display());
        assert_eq!(dir.relink(&["/map"]), said);
        assert_eq!(dir.outputs(), made, "{name}");
    }
    fs::remove_file(dir.path("out.map")).unwrap();
    assert!(dir.relink(&["/map"]).starts_with("full link"));
    assert_eq!(dir.outputs(), made);
}

#[test]
fn what_is_not_relinked() {
    let dir = program("never");
    let never = |more: &[&str]| {
        dir.relink(more);
        // Neither is anything kept.
        assert!(!dir.path(".out.dll.weld/state").exists(), "{more:?}");
    };
    never(&["/verbose"]);
    never(&["/summary"]);
    assert!(!dir.path(".out.dll.weld").exists());
    let said = dir.link(&["/incremental", "/opt:ref"]).unwrap();
    assert_eq!(said, ["ignoring '/incremental' because REF is enabled; use '/opt:noref' to disable"]);
    assert!(!dir.path(".out.dll.weld").exists());
    dir.link(&["/incremental:no"]).unwrap();
    assert!(!dir.path(".out.dll.weld").exists());
    let ilk = format!("/ilk:{}", dir.path("kept").display());
    dir.link(&["/incremental", &ilk]).unwrap();
    assert!(dir.path("kept/state").exists() && !dir.path(".out.dll.weld").exists());
    // A file of link.exe's.
    dir.write("out.ilk", b"something");
    let ilk = format!("/ilk:{}", dir.path("out.ilk").display());
    dir.link(&["/incremental", &ilk]).unwrap();
    assert_eq!(dir.read("out.ilk"), b"something");
}

#[test]
fn warnings_are_said_again() {
    let dir = program("warnings");
    // One of the command line, one of the link.
    let more = ["/incremental", "/align:8192", "/export:start,@5", "/export:start,@6"];
    let said = dir.link(&more).unwrap();
    assert!(said.len() > 1, "{said:?}");
    assert_eq!(dir.link(&more).unwrap(), said);
    assert_eq!(dir.said(), NOTHING);
    assert_eq!(dir.link(&more).unwrap(), said);
}

#[test]
fn warnings_keep_their_order() {
    let dir = program("warnings-order");
    let debug = |name: &str| {
        let mut object = Coff::new(coff::AMD64);
        object.section(".text", coff::CODE, &[0xc3]);
        // Of no known version.
        object.section(".debug$S", 0x4210_0040, &[9, 0, 0, 0]);
        dir.write(name, &object.build());
        dir.path(name).display().to_string()
    };
    let files = ["z.obj", "y.obj", "b.obj"].map(debug);
    let more = [&["/incremental"][..], &files.each_ref().map(|path| &**path)].concat();
    let said = dir.link(&more).unwrap();
    assert!(said.len() > 2 && !said.is_sorted(), "{said:?}");
    assert_eq!((dir.link(&more).unwrap(), &*dir.said()), (said, NOTHING));
}

#[test]
fn objects_that_are_linked_twice() {
    let dir = program("twice");
    let plain = |byte: u8| {
        let mut object = Coff::new(coff::AMD64);
        object.section(".odd", coff::DATA, &[7, byte, 9, 0]);
        dir.write("s.obj", &object.build());
        object.build().len()
    };
    let size = plain(1);
    // As itself, and as a member of a thin archive.
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", "s.obj/", 0, 0, 0, 644);
    dir.write("t.lib", &[b"!<thin>\n", header.as_bytes()].concat());
    let path = |name: &str| dir.path(name).display().to_string();
    let (own, thin) = (path("s.obj"), format!("/wholearchive:{}", path("t.lib")));
    let more = ["/debug:none", "/opt:noref,noicf", &own, &thin];
    let odd =
        |dir: &Dir| dir.read("out.dll").windows(3).filter(|bytes| bytes[0] == 7 && bytes[2] == 9).count();
    checked(&dir, &more);
    assert_eq!(odd(&dir), 2);
    plain(2);
    assert!(checked(&dir, &more).starts_with("full link: "), "{}", dir.said());
}

#[test]
fn names_of_one_file() {
    let dir = program("names");
    let mut object = Coff::new(coff::AMD64);
    object.section(".odd", coff::DATA, &[7, 8, 9, 0]);
    dir.write("s.obj", &object.build());
    let path = |name: &str| dir.path(name);
    fs::hard_link(path("s.obj"), path("h.obj")).unwrap();
    let more = [path("s.obj").display().to_string(), path("h.obj").display().to_string()];
    let more = [&*more[0], &more[1], "/opt:noref,noicf"];
    checked(&dir, &more);
    fs::remove_file(path("h.obj")).unwrap();
    fs::copy(path("s.obj"), path("h.obj")).unwrap();
    assert!(checked(&dir, &more).contains("same file"), "{}", dir.said());
    fs::remove_file(path("h.obj")).unwrap();
    fs::hard_link(path("s.obj"), path("h.obj")).unwrap();
    assert!(checked(&dir, &more).contains("same file"), "{}", dir.said());
    // Another name of the one file that there is changes nothing.
    fs::remove_file(path("h.obj")).unwrap();
    std::os::unix::fs::symlink(path("s.obj"), path("h.obj")).unwrap();
    assert_eq!(dir.relink(&more).split(';').next(), Some(NOTHING));
}

#[test]
fn verified() {
    let dir = program("verify");
    assert_eq!(dir.relink(&["/incremental:verify"]), "full link: no state was left by a link before");
    let made = dir.outputs();
    assert_eq!(dir.link(&["/incremental:verify"]).unwrap(), [""; 0]);
    assert_eq!(dir.said(), NOTHING);
    assert_eq!(dir.outputs(), made);
    assert_eq!(dir.relink(&[]), NOTHING);
    // What is not as a full link makes it is found.
    let state = dir.path(".out.dll.weld/state");
    let mut memo = super::memo::Memo::decode(&fs::read(&state).unwrap()).unwrap();
    memo.outputs[0].digests[0][0] ^= 1;
    fs::write(&state, memo.encode()).unwrap();
    let said = dir.link(&["/incremental:verify"]).unwrap();
    assert!(said[0].starts_with("a full link makes another"), "{said:?}");
    assert_eq!(dir.outputs(), made);
}

#[test]
fn states_that_are_no_use() {
    let dir = program("states");
    dir.relink(&[]);
    let made = dir.outputs();
    let path = dir.path(".out.dll.weld/state");
    let state = fs::read(&path).unwrap();
    for seed in 0..40 {
        let damaged = damage(&state, seed);
        fs::write(&path, &damaged).unwrap();
        let said = dir.relink(&[]);
        assert!(said.starts_with("full link: the state") || damaged == state, "{said}");
        assert_eq!(dir.outputs(), made);
        fs::copy(&path, dir.path("kept")).unwrap();
    }
    // Whoever was killed while outputs changed left no state.
    fs::remove_file(&path).unwrap();
    assert_eq!(dir.relink(&[]), "full link: no state was left by a link before");
    // A link that fails leaves all as it was.
    dir.write("a.obj", b"nothing");
    assert!(dir.link(&["/incremental"]).is_err());
    assert_eq!(dir.outputs(), made);
    dir.write("a.obj", &object(0x90));
    assert_eq!(dir.relink(&[]), format!("{NOTHING}; 1 file was looked at"));
}

#[test]
fn two_links_at_a_time() {
    let dir = program("two");
    dir.relink(&[]);
    let made = dir.outputs();
    let held = Place::open(&dir.path(".out.dll.weld"), &QuietHost::new()).ok().unwrap();
    let busy = "full link: another link of this output is running; nothing is kept for the next one";
    assert_eq!(dir.relink(&[]), busy);
    assert_eq!(dir.outputs(), made);
    drop(held);
    // Other files are there now, but they are those that the state speaks of under their other names.
    assert!(dir.relink(&[]).starts_with("relinked") || dir.said().contains("out.lib"));
    assert_eq!(dir.outputs(), made);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| drop(dir.link(&["/incremental"]).unwrap())));
        }
    });
    assert_eq!(dir.outputs(), made);
    dir.relink(&[]);
    assert_eq!(dir.relink(&[]), NOTHING);
}

#[test]
fn names_in_the_directory_are_those_of_the_outputs() {
    let dir = program("names");
    dir.relink(&[]);
    let is_one = |a: &Path, b: &Path| {
        let [a, b] = [a, b].map(|path| Stamp::at(path).unwrap());
        a == b
    };
    assert!(is_one(&dir.path("out.dll"), &dir.path(".out.dll.weld/a")));
    assert!(is_one(&dir.path("out.pdb"), &dir.path(".out.dll.weld/pdb")));
    let time = SystemTime::now() - Duration::from_secs(5);
    assert!(dir.modified("out.dll") > time);
    directory::forget(&dir.path(".out.dll.weld")).unwrap();
    assert!(!dir.path(".out.dll.weld").exists() && dir.path("out.dll").exists());
}

/// MinGW's linker has the option by the name that it has for ELF, whatever is optimised.
#[test]
fn as_gnu_ld() {
    let dir = program("gnu");
    let link = |mode: &str| {
        std::thread::sleep(2 * GRAIN);
        let args = ["-m", "i386pep", "--shared", "-e", "0", "--gc-sections", mode, "-o"].map(OsString::from);
        let files = [dir.path("out.dll"), dir.path("a.obj"), dir.path("lib/b.lib")].map(OsString::from);
        let args = [&args[..], &files].concat();
        link::link_gnu(&args, "ld", &Environment::default(), &QuietHost::new())
            .map_err(|e| e.to_string())
            .unwrap();
    };
    link("--incremental");
    let made = dir.outputs();
    link("--incremental=verify");
    assert_eq!(dir.said(), NOTHING);
    link("--incremental=on");
    assert_eq!(dir.said(), NOTHING);
    link("--incremental=off");
    assert_eq!(dir.outputs(), made);
}

/// An object with code, data and debug information, of which `code` and `data` may change.
fn with_data(code: &[u8; 4], data: u64, line: u32) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let bytes = [&code[..], &[0xe8, 0, 0, 0, 0, 0x48, 0x8d, 5, 0, 0, 0, 0, 0xc3]].concat();
    let text = object.section(".text", coff::CODE, &bytes);
    let words = [data.to_le_bytes(), [0; 8]].concat();
    let place = object.section(".data", coff::DATA, &words);
    let inline = object.section(".text$inline", coff::CODE | coff::COMDAT, &[code[0], 0xc3]);
    object.section(".drectve", 0x0a00, b" /EXPORT:start");
    object.section_symbol(inline, coff::ANY, 0);
    let callee = object.symbol("inline", 0, inline, coff::EXTERNAL);
    let start = object.symbol("start", 0, text, coff::EXTERNAL);
    let local = object.symbol("local", 8, place, coff::STATIC);
    object.reloc(text, 5, callee, coff::REL32);
    object.reloc(text, 12, local, coff::REL32);
    object.reloc(place, 8, start, coff::ADDR64);
    let mut debug = weld_testkit::codeview::Section::new();
    debug.files(&["a.c"]);
    let at = debug.lines(0, bytes.len() as u32, &[(0, line)]);
    let bytes = debug.0;
    let debug = object.section(".debug$S", 0x4210_0040, &bytes);
    object.reloc(debug, at as u32, start, coff::SECREL);
    object.reloc(debug, at as u32 + 4, start, coff::SECTION);
    object.build()
}

/// Links incrementally, which must come to what a full link makes that knows nothing. What the log says.
pub fn checked(dir: &Dir, more: &[&str]) -> String {
    let said = dir.relink(more);
    let made = dir.outputs();
    if said == NOTHING {
        return said;
    }
    full(dir, more, &made, &said);
    // The full link has replaced what the state speaks of.
    assert_eq!(dir.relink(more), NOTHING);
    assert_eq!(dir.outputs(), made, "{said}");
    said
}

/// A full link with no state makes these outputs; the state is as it was then.
fn full(dir: &Dir, more: &[&str], made: &[u128], said: &str) {
    let (state, kept) = (dir.path(".out.dll.weld"), dir.path("kept"));
    fs::rename(&state, &kept).unwrap();
    let full = dir.relink(more);
    assert!(full.starts_with("full link: no state"), "{full}");
    assert_eq!(dir.outputs(), made, "{said}");
    fs::remove_dir_all(&state).unwrap();
    fs::rename(&kept, &state).unwrap();
}

#[test]
fn bytes_have_changed() {
    for more in [
        &[][..],
        &["/debug:none", "/opt:noref,noicf"],
        &["/debug:none", "/opt:noref,noicf", "/build-id", "/brepro"],
    ] {
        let dir = program("bytes");
        let code = [0x90, 0x91, 0x92, 0x93];
        dir.write("a.obj", &with_data(&code, 5, 7));
        assert!(checked(&dir, more).starts_with("full link"));
        dir.write("a.obj", &with_data(&[0x90, 0x95, 0x92, 0x96], 5, 7));
        assert_eq!(checked(&dir, more), "relinked: 1 section of 1 object, 2 bytes");
        dir.write("a.obj", &with_data(&[0x97, 0x95, 0x92, 0x96], 0x0102_0304_0506_0708, 7));
        assert_eq!(checked(&dir, more), "relinked: 3 sections of 1 object, 10 bytes");
        // And back.
        dir.write("a.obj", &with_data(&code, 5, 7));
        assert!(checked(&dir, more).starts_with("relinked: 3 sections of 1 object"));
        // Another line: in the PDB it is copied, and without one nobody reads it.
        dir.write("a.obj", &with_data(&code, 5, 8));
        let said = checked(&dir, more);
        let want = if more.is_empty() { "relinked: 0 sections of 1 object, 0 bytes" } else { NOTHING };
        assert!(said.starts_with(want), "{said}");
        dir.write("a.obj", &with_data(&[0x90; 4], 5, 8));
        assert!(checked(&dir, more).starts_with("relinked: "), "{}", dir.said());
        // An addend.
        let mut bytes = with_data(&[0x90; 4], 5, 8);
        let at = bytes.windows(3).position(|bytes| bytes == [0x48, 0x8d, 5]).unwrap();
        bytes[at + 3] = 1;
        dir.write("a.obj", &bytes);
        assert!(checked(&dir, more).starts_with("relinked: 1 section of 1 object"), "{}", dir.said());
    }
}

/// An object of two functions, the first of which has `more` instructions, with so many addresses of the second, with
/// unwind information and debug information that follow from it. `calls` are names that the second refers to.
pub fn with_functions(more: usize, addresses: usize, calls: &[&str]) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let body = [&vec![0x90; more][..], &[0xc3]].concat();
    let call: Vec<u8> = calls.iter().flat_map(|_| [0xe8, 0, 0, 0, 0]).chain([0xc3]).collect();
    let text = object.section(".text", coff::CODE, &[&body[..], &call].concat());
    let data = object.section(".data", coff::DATA, &vec![0; 8 * addresses]);
    let unwind = object.section(".xdata", coff::READ_ONLY, &vec![0; 4 + 2 * (more % 4)]);
    let end = (body.len() as u32).to_le_bytes();
    let function = object.section(".pdata", coff::READ_ONLY, &[&[0; 4][..], &end, &[0; 4]].concat());
    object.section(".drectve", 0x0a00, b" /EXPORT:start");
    let first = object.symbol("first", 0, text, coff::STATIC);
    let start = object.symbol("start", body.len() as u32, text, coff::EXTERNAL);
    let info = object.symbol("info", 0, unwind, coff::STATIC);
    for (i, name) in calls.iter().enumerate() {
        let callee = if *name == "start" { start } else { object.symbol(name, 0, 0, coff::EXTERNAL) };
        object.reloc(text, (body.len() + 5 * i + 1) as u32, callee, coff::REL32);
    }
    (0..addresses).for_each(|i| object.reloc(data, 8 * i as u32, start, coff::ADDR64));
    object.reloc(function, 0, first, coff::ADDR32NB);
    object.reloc(function, 4, first, coff::ADDR32NB);
    object.reloc(function, 8, info, coff::ADDR32NB);
    let mut types = weld_testkit::codeview::Types::new();
    let arguments = types.arguments(&[]);
    let procedure = types.procedure(weld_testkit::codeview::INT, arguments);
    let ids = ["first", "start"].map(|name| types.function_id(procedure, name));
    object.section(".debug$T", 0x4210_0040, &types.finish());
    let mut symbols = weld_testkit::codeview::Symbols::new();
    let mut places = Vec::new();
    for ((name, id), size) in ["first", "start"].iter().zip(ids).zip([body.len(), call.len()]) {
        places.push(symbols.procedure(name, id, size as u32));
        for i in 0..more % 3 {
            symbols.udt(&format!("nested{i}"), weld_testkit::codeview::INT);
        }
        symbols.end_procedure();
    }
    let mut debug = weld_testkit::codeview::Section::new();
    debug.files(&["a.c"]);
    let lines: Vec<(u32, u32)> = (0..1 + more as u32 / 5).map(|i| (i, 10 + i)).collect();
    let at = debug.lines(0, body.len() as u32, &lines) as u32;
    let start_at = debug.subsection(0xf1, &symbols.0);
    let debug_bytes = debug.0;
    let debug = object.section(".debug$S", 0x4210_0040, &debug_bytes);
    for (place, symbol) in places.iter().zip([first, start]) {
        object.reloc(debug, (start_at + place) as u32 + 32, symbol, coff::SECREL);
        object.reloc(debug, (start_at + place) as u32 + 36, symbol, coff::SECTION);
    }
    object.reloc(debug, at, first, coff::SECREL);
    object.reloc(debug, at + 4, first, coff::SECTION);
    object.build()
}

/// An object that calls `start`, and has data besides.
pub fn caller() -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
    object.symbol("other", 0, text, coff::EXTERNAL);
    let start = object.symbol("start", 0, 0, coff::EXTERNAL);
    object.reloc(text, 1, start, coff::REL32);
    object.build()
}

#[test]
fn what_a_library_refers_to_does_not_move() {
    let dir = program("pinned");
    let archive = weld_testkit::ar::Archive::new(weld_testkit::ar::ArchiveKind::Gnu);
    dir.write("lib/b.lib", &archive.member("member.obj", &caller(), &["other"]).build());
    dir.write("a.obj", &with_functions(3, 1, &["other"]));
    dir.relink(&[]);
    dir.write("a.obj", &with_functions(3, 2, &["other", "other"]));
    assert!(checked(&dir, &[]).starts_with("relinked: "), "{}", dir.said());
    dir.write("a.obj", &with_functions(4, 2, &["other", "other"]));
    let said = checked(&dir, &[]);
    assert!(said.contains("start has moved, to which a library or the linker refers"), "{said}");
    // The only one that wants a member wants it no more.
    dir.write("a.obj", &with_functions(4, 2, &[]));
    let said = checked(&dir, &[]);
    assert!(
        said.ends_with("was the only object to refer to something of a library, and does so no more"),
        "{said}"
    );
}

/// An option that keeps nothing says so in the log that there is.
#[test]
fn options_that_keep_nothing_are_in_the_log() {
    let dir = program("log");
    dir.relink(&[]);
    assert_eq!(dir.relink(&[]), NOTHING);
    assert_eq!(dir.relink(&["/summary"]), "full link: /summary tells what is linked");
}

#[test]
fn many_edits_are_verified() {
    let dir = program("edits");
    let mut rng = Rng::new(1);
    let mut relinked = 0;
    dir.write("a.obj", &with_data(&[0; 4], 0, 1));
    let code = dir.read("a.obj").windows(5).position(|bytes| bytes == [0xe8, 0, 0, 0, 0]).unwrap() - 4;
    dir.relink(&[]);
    for step in 0..60 {
        let mut bytes = dir.read("a.obj");
        // Anything anywhere, as long as that can be linked.
        for _ in 0..1 + rng.below(3) {
            let at = if rng.below(2) == 0 { code + rng.below(4) } else { rng.below(bytes.len()) };
            bytes[at] ^= 1 << rng.below(8);
        }
        let before = dir.read("a.obj");
        dir.write("a.obj", &bytes);
        match dir.link(&["/incremental:verify"]) {
            Ok(said) => {
                assert!(
                    !said.iter().any(|text| text.contains("a full link makes another")),
                    "{step}: {said:?}"
                );
                relinked += usize::from(dir.said().starts_with("relinked: "));
            }
            Err(_) => dir.write("a.obj", &before),
        }
    }
    assert!(relinked > 5, "{relinked}");
}

#[test]
fn objects_that_are_not_relinked() {
    let dir = program("kept");
    let edits = [[0x90; 4], [0x91; 4]].map(|code| with_data(&code, 5, 7));
    for (more, why) in [
        (&["/map"][..], "/map tells the image's time"),
        (&["/release"], "/release puts a checksum into the image"),
        (&["/guard:cf"], "/guard:cf looks at objects"),
    ] {
        dir.write("a.obj", &edits[0]);
        dir.relink(more);
        dir.write("a.obj", &edits[1]);
        let said = dir.relink(more);
        full(&dir, more, &dir.outputs(), &said);
        assert!(said.ends_with(why) || said.ends_with("the last link had warnings"), "{said}");
    }
    // Rows that are no use.
    dir.write("a.obj", &edits[0]);
    dir.relink(&[]);
    let tables = dir.path(".out.dll.weld/tables");
    let mut bytes = fs::read(&tables).unwrap();
    bytes.iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&tables, bytes).unwrap();
    dir.write("a.obj", &edits[1]);
    assert_eq!(checked(&dir, &[]), "full link: the state has no rows of an object");
}

/// Images are written in turn; one that somebody has, or has written to, is not.
#[test]
fn images_in_turn() {
    let dir = program("turn");
    let write = |step: u8| dir.write("a.obj", &with_data(&[step; 4], step.into(), step.into()));
    write(0);
    dir.relink(&[]);
    let names = ["a", "b", "pdb", "pdb2"].map(|name| dir.path(".out.dll.weld").join(name));
    let number = |path: &Path| Stamp::at(path).map_or(0, |stamp| stamp.number);
    let numbers = || names.each_ref().map(|path| number(path));
    let check = |step: u8| {
        write(step);
        let said = dir.relink(&[]);
        assert!(said.starts_with("relinked: 3 sections"), "{step}: {said}");
        let made = dir.outputs();
        let current = usize::from(number(&dir.path("out.dll")) == number(&names[1]));
        assert_eq!(number(&dir.path("out.dll")), number(&names[current]));
        assert_eq!(number(&dir.path("out.pdb")), number(&names[2 + current]));
        // What a full link makes, elsewhere but by the same names.
        for name in ["out.dll", "out.pdb"] {
            fs::rename(dir.path(name), dir.path(&format!("{name}.kept"))).unwrap();
        }
        full(&dir, &[], &made, &said);
        for name in ["out.dll", "out.pdb"] {
            fs::rename(dir.path(&format!("{name}.kept")), dir.path(name)).unwrap();
        }
    };
    check(1);
    let first = numbers();
    for step in 2..6 {
        check(step);
        assert_eq!(numbers(), first, "no file is made anew");
        dir.relink(&[]);
    }
    // Somebody reads the old one.
    let held = fs::File::open(&names[0]).unwrap();
    check(6);
    check(7);
    assert_ne!(numbers()[0], first[0]);
    drop(held);
    // Somebody has written to it.
    let spare = if number(&dir.path("out.dll")) == number(&names[0]) { &names[1] } else { &names[0] };
    let mut bytes = fs::read(spare).unwrap();
    bytes.fill(7);
    fs::write(spare, bytes).unwrap();
    check(8);
    check(9);
}

/// A PDB or an object that is damaged is an error, and nothing worse.
#[test]
fn damaged_program_databases() {
    use weld_pdb::Contribution;
    use weld_pdb::patch::{ChangedModule, ChangedPiece, apply, pieces};
    use weld_pdb::resize::Resizes;
    let dir = program("damaged");
    dir.write("a.obj", &with_data(&[1; 4], 2, 3));
    dir.relink(&[]);
    let memo = super::memo::Memo::decode(&dir.read(".out.dll.weld/state")).unwrap();
    let (pdb, object) = (dir.read("out.pdb"), dir.read("a.obj"));
    let coff = super::outline::object(&object).unwrap();
    let header = coff.sections.iter().find(|header| header.name == *b".debug$S").unwrap();
    let section = coff.contents(header).unwrap();
    let now = Contribution { section: 1, offset: 0, size: 17, crc: 5, ..Default::default() };
    let piece = ChangedPiece { now, size_before: 17 };
    for seed in 0..400 {
        let damaged = if seed == 0 { pdb.clone() } else { damage(&pdb, seed) };
        fs::write(dir.path("damaged.pdb"), &damaged).unwrap();
        let file = fs::File::open(dir.path("damaged.pdb")).unwrap();
        let module = ChangedModule { number: 0, sections: vec![(section, Vec::new())] };
        let none = Resizes::default();
        let done = apply((&damaged, &file), &[piece], &[module], &none, &memo.image.pdb_leaves);
        assert!(seed > 0 || done.is_ok(), "{:?}", done.err());
        _ = pieces(&damage(section, seed), &[3..9, 8..12]);
    }
}

/// The same for modules of other lengths.
#[test]
fn damaged_program_databases_of_other_lengths() {
    use weld_pdb::patch::apply;
    use weld_pdb::resize::{ChangedPublic, ResizedModule, Resizes};
    let dir = program("damaged-sizes");
    dir.write("a.obj", &with_functions(3, 1, &[]));
    dir.relink(&[]);
    let memo = super::memo::Memo::decode(&dir.read(".out.dll.weld/state")).unwrap();
    let tables = fs::File::open(dir.path(".out.dll.weld/tables")).unwrap();
    let known = memo.files.iter().find(|file| file.path == dir.path("a.obj")).unwrap();
    let block = super::changes::read_block(&tables, known.object.as_ref().unwrap()).unwrap();
    let (pdb, object) = (dir.read("out.pdb"), with_functions(200, 1, &[]));
    let coff = super::outline::object(&object).unwrap();
    let contents = |name: &[u8; 8]| {
        coff.contents(coff.sections.iter().find(|header| header.name == *name).unwrap()).unwrap()
    };
    let (types, section) = (contents(b".debug$T"), contents(b".debug$S"));
    for seed in 0..600 {
        let damaged = if seed == 0 { pdb.clone() } else { damage(&pdb, seed) };
        fs::write(dir.path("damaged.pdb"), &damaged).unwrap();
        let file = fs::File::open(dir.path("damaged.pdb")).unwrap();
        let sections = vec![(section, Vec::new())];
        let module =
            ResizedModule { number: 0, types, has_other_types: true, sections, known: block.module.clone() };
        let hash = weld_common::hash::hash_bytes(b"start");
        let moved = ChangedPublic::Moved { hash, from: (1, 4), to: (1, 201) };
        let resizes = Resizes { modules: vec![module], publics: vec![moved], ..Resizes::default() };
        let done = apply((&damaged, &file), &[], &[], &resizes, &memo.image.pdb_leaves);
        assert!(seed > 0 || done.is_ok(), "{:?}", done.err());
    }
}

/// What another object's section is in the place of may hold anything.
#[test]
fn what_loses_may_hold_anything() {
    let dir = program("loses");
    // The library's object is the second one: its copy loses.
    let with_inline = |name: &str, code: u8| {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &[0x90, 0xc3]);
        let inline = object.section(".text$inline", coff::CODE | coff::COMDAT, &[code, 0xc3]);
        object.section_symbol(inline, coff::ANY, 0);
        object.symbol("inline", 0, inline, coff::EXTERNAL);
        object.symbol(name, 0, text, coff::EXTERNAL);
        object.build()
    };
    dir.write("a.obj", &with_inline("first", 1));
    dir.write("lib/b.lib", &with_inline("second", 1));
    dir.relink(&[]);
    dir.write("lib/b.lib", &with_inline("second", 2));
    assert_eq!(checked(&dir, &[]), format!("{NOTHING}; 1 file was looked at"));
    dir.write("a.obj", &with_inline("first", 3));
    assert_eq!(checked(&dir, &[]), "relinked: 1 section of 1 object, 1 byte");
}
