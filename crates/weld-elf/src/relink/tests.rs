//! Relinks of small programs: each is compared with a full link, byte by byte.

mod archives;
mod constants;
mod debug_lists;
mod edits;
mod exports;
mod groups;
mod imports;
mod init_array;
mod members;
mod names;
mod neighbours;
mod objects;
mod program;
mod shared_sections;
mod units;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weld_common::diag::Diagnostics;
use weld_common::host::{Host, QuietHost};
use weld_common::io::stamp::GRAIN;
use weld_testkit::mutate::{Rng, damage};

use super::directory;
use crate::link;
use program::{Function, Program, Ref, Seen, bytes};

/// A directory that goes away with its test.
pub struct Dir(PathBuf);

impl Dir {
    /// `name` must be different for each test.
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("weld-relink-{}-{name}", std::process::id()));
        _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_default()
    }

    /// What the log says of the last link.
    fn said(&self) -> String {
        let log = String::from_utf8(self.read(".out.weld/log")).unwrap();
        log.lines().last().unwrap_or_default().get(20..).unwrap_or_default().to_owned()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn link(args: &[OsString], more: &[&str]) -> Result<Vec<String>, String> {
    link_by(&QuietHost::new(), args, more)
}

fn link_by(host: &dyn Host, args: &[OsString], more: &[&str]) -> Result<Vec<String>, String> {
    let args: Vec<OsString> = args.iter().cloned().chain(more.iter().map(OsString::from)).collect();
    let texts = |d: Diagnostics| d.list.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n");
    let outcome = link::link(&args, host).map_err(texts)?;
    Ok(outcome.warnings.into_iter().map(|d| d.message).collect())
}

/// Links incrementally and fully, with the rooms that the last full link gave. What is written and said must
/// be the same. Whether it was relinked.
fn check(dir: &Dir, program: &Program, more: &[&str]) -> bool {
    let mut args = program.write(&dir.0);
    let out = args.len() + 1;
    args.extend(["-o".into(), dir.path("out").into()]);
    let with = |option| more.iter().copied().chain([option]).collect::<Vec<&str>>();
    let before = dir.read("out");
    let relinked = link(&args, &with("--incremental"));
    let said = dir.said();
    args[out] = dir.path("full").into();
    let full = link(&args, &with("--incremental=force-full"));
    assert_eq!(relinked, full, "{more:?} {said}");
    let is_relinked = full.is_ok() && said.starts_with("relinked");
    let is = dir.read("out");
    if full.is_err() {
        assert!(is == before, "{more:?} {said}");
    } else if !is_relinked {
        assert!(is == dir.read("full"), "{more:?} {said}");
    }
    args[out] = dir.path("out").into();
    if is_relinked {
        // Who looks at other objects beside those that have changed finds the same.
        touch_some(
            dir,
            &args,
            u64::from(is.iter().fold(0u32, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte))),
        );
        // The full link beside it may say nothing of differences.
        let log = dir.read(".out.weld/log");
        assert_eq!(link(&args, &with("--incremental=verify")), full, "{more:?} {said}, {}", dir.said());
        // What of a damaged state is not read to relink is read to verify.
        let is_known = !dir.said().contains("cannot be read to verify");
        assert!(dir.said().starts_with("relinked") || !is_known, "{said}, {}", dir.said());
        assert!(dir.read("out") == is, "{said}, {}", dir.said());
        std::fs::write(dir.path(".out.weld/log"), log).unwrap();
    }
    is_relinked
}

/// Writes some of the objects anew, as they are.
fn touch_some(dir: &Dir, args: &[OsString], seed: u64) {
    let mut rng = Rng::new(seed);
    for path in args.iter().map(Path::new).filter(|path| path.starts_with(&dir.0) && !path.ends_with("out")) {
        if rng.below(3) == 0 {
            std::fs::write(path, std::fs::read(path).unwrap()).unwrap();
        }
    }
}

/// Waits until what has been written cannot be written again without a trace.
fn wait() {
    std::thread::sleep(GRAIN + Duration::from_millis(15));
}

const FLAGS: &[&[&str]] = &[
    &["--build-id", "--eh-frame-hdr"],
    &["-pie", "--gc-sections", "--build-id"],
    &["-pie", "-z", "pack-relative-relocs", "--dynamic-linker=/loader"],
    &["-shared", "-Bsymbolic", "--build-id"],
    &["-shared", "-O0"],
    &["--gc-sections", "-O2", "--build-id=0x1234"],
];

#[test]
fn nothing_changes() {
    let dir = Dir::new("nothing");
    for flags in FLAGS {
        let program = Program::new(3, 1);
        assert!(!check(&dir, &program, flags));
        wait();
        // The same bytes in new files, and in old ones.
        check(&dir, &Program::new(3, 2), flags);
        std::fs::remove_dir_all(dir.path(".out.weld")).unwrap();
        assert!(!check(&dir, &program, flags));
        assert!(check(&dir, &program, flags));
        wait();
        let args = program.args(&dir.0, flags);
        let modified = |name: &str| std::fs::metadata(dir.path(name)).unwrap().modified().unwrap();
        let before = modified("out");
        // What was younger than the link is looked at once more.
        link(&args, &["--incremental"]).unwrap();
        assert!(dir.said().starts_with("relinked: no input has changed"), "{flags:?} {}", dir.said());
        link(&args, &["--incremental"]).unwrap();
        assert_eq!(dir.said(), "relinked: no input has changed", "{flags:?}");
        assert!(modified("out") > before);
        // An output that is gone, or is another file, comes back.
        let full = dir.read("out");
        std::fs::remove_file(dir.path("out")).unwrap();
        link(&args, &["--incremental"]).unwrap();
        assert!(dir.said().starts_with("relinked") && dir.read("out") == full);
        std::fs::remove_file(dir.path("out")).unwrap();
        std::fs::write(dir.path("out"), "stripped").unwrap();
        link(&args, &["--incremental"]).unwrap();
        assert!(dir.said().starts_with("relinked") && dir.read("out") == full);
        // One that was written to does not.
        let mut bytes = full.clone();
        bytes[100] ^= 1;
        std::fs::write(dir.path("out"), &bytes).unwrap();
        link(&args, &["--incremental"]).unwrap();
        assert!(dir.said().ends_with("the output of the last link was written to"), "{}", dir.said());
        assert!(dir.read("out") == full);
    }
}

#[test]
fn bytes_change() {
    let dir = Dir::new("bytes");
    for (seed, flags) in (1..).zip(FLAGS) {
        let mut program = Program::new(4, seed);
        let mut rng = Rng::new(seed);
        check(&dir, &program, flags);
        for step in 0..12 {
            if step % 3 == 0 {
                wait();
            }
            let before = program.clone();
            program.change_bytes(&mut rng);
            assert!(check(&dir, &program, flags), "{flags:?} {step} {}", dir.said());
            if step % 4 == 1 {
                assert!(check(&dir, &before, flags), "{flags:?} {step} {}", dir.said());
                program = before;
            }
        }
    }
}

/// Sections of strings are merged and have no addresses, so what the loader is told of low ones is not of them, however
/// long they are.
#[test]
fn strings_are_at_no_address() {
    for (seed, flags) in (1..).zip(FLAGS.iter().filter(|flags| flags.contains(&"-pie"))) {
        let dir = Dir::new(&format!("strings-{seed}"));
        let mut program = Program::new(4, seed);
        program.units[1].strings = vec!["the same".into(); 10_000];
        let name = program.units[0].functions[0].name.clone();
        for unit in &mut program.units[1..] {
            unit.functions[0].refs.push(Ref::Pointer(name.clone()));
        }
        check(&dir, &program, flags);
        for size in 1..4 {
            program.units[1].functions[0].code.extend(vec![0x90; size]);
            program.units[1].data[0] ^= 1;
            assert!(check(&dir, &program, flags), "{flags:?} {}", dir.said());
        }
    }
}

/// What grows does so in its room, until that is full.
#[test]
fn sizes_change() {
    let dir = Dir::new("sizes");
    for (seed, flags) in (20..).zip(FLAGS) {
        let mut program = Program::new(4, seed);
        let mut rng = Rng::new(seed);
        check(&dir, &program, flags);
        let first = program.clone();
        for step in 0..14 {
            program.change_sizes(&mut rng);
            let is_relinked = check(&dir, &program, flags);
            assert!(is_relinked || dir.said().contains("outgrown"), "{flags:?} {step} {}", dir.said());
        }
        let is_relinked = check(&dir, &first, flags);
        assert!(is_relinked || dir.said().contains("outgrown"), "{flags:?} {}", dir.said());
        // More than there is room for where it is, and elsewhere.
        check(&dir, &first, flags);
        program = first;
        program.units[1].functions[0].code.extend([0x90; 2000]);
        assert!(check(&dir, &program, flags), "{flags:?} {}", dir.said());
        program.units[1].functions[0].code.extend([0x90; 40_000]);
        assert!(!check(&dir, &program, flags));
        assert!(dir.said().contains("outgrown its room, and may not lie elsewhere"), "{}", dir.said());
        assert!(!check(&dir, &program, flags) || dir.said().starts_with("relinked: no input"));
    }
}

/// Functions that are new or gone are relinked, local ones and such that others call.
#[test]
fn functions_come_and_go() {
    let dir = Dir::new("functions");
    for (seed, flags) in (40..).zip(FLAGS) {
        let mut program = Program::new(4, seed);
        check(&dir, &program, flags);
        // What others may put theirs in the place of is called by entries of the PLT.
        let exports = flags.contains(&"-shared") && !flags.contains(&"-Bsymbolic");
        let has_gc = flags.contains(&"--gc-sections");
        for (step, kind) in (0..12).zip([0, 1, 2].into_iter().cycle()) {
            let name = format!("come{step}");
            let (local, comdat) = (kind == 0, kind == 2);
            let new = Function {
                name: name.clone(),
                code: vec![0x90 + step; 6],
                refs: vec![Ref::Local],
                weak: comdat,
                comdat,
                seen: if local { Seen::ByItself } else { Seen::ByAll },
            };
            let before = program.clone();
            // In units of odd numbers functions share a section.
            program.units[1].functions.push(new);
            program.units[1].functions[0].refs.push(Ref::Call(name.clone()));
            if !local {
                program.units[2].functions[0].refs.push(Ref::Call(name));
            }
            let is_relinked = check(&dir, &program, flags);
            let is_free = !exports || local;
            // With gc there may be nothing that a yard could lie behind.
            let is_full = dir.said().contains("room") || has_gc && comdat && !is_relinked;
            assert!(is_relinked == is_free || is_free && is_full, "{flags:?} {step} {}", dir.said());
            // A full link has other rooms.
            if step % 4 != 3 && !is_full {
                assert!(check(&dir, &before, flags), "{flags:?} {step} {}", dir.said());
                program = before;
            }
        }
    }
}

/// Debug information that has outgrown its room gets what the objects beside it have left.
#[test]
fn debug_information_takes_the_room_of_neighbours() {
    let dir = Dir::new("neighbours");
    for (seed, flags) in (700..).zip([FLAGS[0], FLAGS[1], FLAGS[3]]) {
        let mut rng = Rng::new(seed);
        let mut program = Program::new(8, seed);
        check(&dir, &program, flags);
        let first = program.clone();
        // In the first object, in the last, and in one in between; then there is less left.
        for (unit, size) in [(0, 22_000), (7, 25_000), (3, 30_000), (4, 3000), (3, 600)] {
            program.units[unit].debug.extend(bytes(&mut rng, size));
            assert!(check(&dir, &program, flags), "{flags:?} {unit} {}", dir.said());
        }
        // Others of them move once more, and objects refer to what has moved.
        program.units[2].debug.extend(bytes(&mut rng, 9000));
        program.units[4].functions[0].code.extend([0x90; 40]);
        assert!(check(&dir, &program, flags), "{flags:?} {}", dir.said());
        assert!(check(&dir, &first, flags), "{flags:?} {}", dir.said());
        assert!(check(&dir, &program, flags), "{flags:?} {}", dir.said());
        program.units[5].debug.extend(bytes(&mut rng, 300_000));
        assert!(!check(&dir, &program, flags));
        assert!(dir.said().contains("section '.debug_info' has"), "{}", dir.said());
    }
}

/// A function that has come with a relink, and that others call since then, does not go as if nobody did.
#[test]
fn what_has_come_is_missed() {
    let dir = Dir::new("missed");
    let flags = FLAGS[0];
    let without = Program::new(4, 40);
    check(&dir, &without, flags);
    let mut program = without.clone();
    program.units[1].functions.push(Function {
        name: "come".to_owned(),
        code: vec![0x90; 6],
        refs: Vec::new(),
        weak: false,
        comdat: false,
        seen: Seen::ByAll,
    });
    let unused = program.clone();
    assert!(check(&dir, &program, flags), "{}", dir.said());
    program.units[2].functions[0].refs.push(Ref::Call("come".to_owned()));
    assert!(check(&dir, &program, flags), "{}", dir.said());
    let with = program.clone();
    program.units[1] = without.units[1].clone();
    assert!(!check(&dir, &program, flags), "an error, as of a full link");
    // Who called it does no more; then both change at once.
    check(&dir, &with, flags);
    check(&dir, &unused, flags);
    check(&dir, &without, flags);
    check(&dir, &unused, flags);
    program = without.clone();
    program.units[2] = with.units[2].clone();
    assert!(!check(&dir, &program, flags), "an error again");
}

/// Any edit gives the output of a full link, or its errors.
#[test]
fn random_edits() {
    let long: Option<u64> = std::env::var("WELD_TEST_EDITS").ok().map(|seed| seed.parse().unwrap_or(0));
    let rounds = if long.is_some() { 3400 } else { 25 };
    let (mut relinked, mut all) = (0, 0);
    for (seed, flags) in (100 + long.unwrap_or(0)..).zip(FLAGS) {
        let dir = Dir::new(&format!("random-{seed}"));
        let mut rng = Rng::new(seed);
        let mut program = Program::new(5, seed);
        let mut history = vec![program.clone()];
        check(&dir, &program, flags);
        for _ in 0..rounds {
            if rng.below(3) == 0 {
                wait();
            }
            match rng.below(8) {
                0 => program = history[rng.below(history.len())].clone(),
                1 | 2 => program.change_bytes(&mut rng),
                3 => program.change_sizes(&mut rng),
                _ => program.edit(&mut rng),
            }
            history.push(program.clone());
            relinked += usize::from(check(&dir, &program, flags));
            all += 1;
        }
    }
    println!("{relinked} of {all} relinked");
    assert!(relinked * 5 > all, "{relinked} of {all}");
}

#[test]
fn verification_finds_what_is_wrong() {
    let dir = Dir::new("verify");
    let mut program = Program::new(3, 7);
    let args = |program: &Program| program.args(&dir.0, &["--build-id", "--incremental=verify"]);
    link(&args(&program), &[]).unwrap();
    for seed in 0..6 {
        program.change_bytes(&mut Rng::new(seed));
        assert_eq!(link(&args(&program), &[]), Ok(Vec::new()));
        assert!(dir.said().starts_with("relinked"), "{}", dir.said());
    }
    // The image that is written next has another byte than it should, and nobody can see it.
    let image = |name: &str| dir.path(".out.weld").join(name);
    let spare = directory::IMAGES.into_iter().find(|name| {
        let meta = |path: &Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
        meta(&image(name)) != meta(&dir.path("out"))
    });
    let spare = image(spare.unwrap());
    let mut bytes = std::fs::read(&spare).unwrap();
    let code = bytes.len() / 2;
    bytes[code] ^= 0x10;
    std::fs::write(&spare, &bytes).unwrap();
    program.change_bytes(&mut Rng::new(77));
    // It has another time, so a copy of the output is written to.
    assert_eq!(link(&args(&program), &[]), Ok(Vec::new()));
    assert!(dir.said().starts_with("relinked"), "{}", dir.said());
}

/// A program that breaks a file when the relink is done.
struct Breaks {
    host: QuietHost,
    path: PathBuf,
    is_done: std::sync::atomic::AtomicBool,
}

impl Host for Breaks {
    fn print(&self, text: &[u8]) -> std::io::Result<()> {
        self.host.print(text)
    }

    fn step(&self, name: &'static str) {
        use std::sync::atomic::Ordering::Relaxed;
        if name == "relink" {
            self.is_done.store(true, Relaxed);
        } else if self.is_done.swap(false, Relaxed) {
            std::fs::write(&self.path, "no object").unwrap();
        }
    }
}

/// A full link that fails beside a relink leaves the output that was there, and no state.
#[test]
fn what_is_not_verified_is_not_left() {
    for more in [&[][..], &["-pie", "--gc-sections"]] {
        let dir = Dir::new("unverified");
        let mut program = Program::new(3, 8);
        let flags = |mode: &'static str| [more, &["--build-id", mode]].concat();
        for changes in [true, false] {
            link(&program.args(&dir.0, &flags("--incremental")), &[]).unwrap();
            let before = dir.read("out");
            if changes {
                let code = &mut program.units[1].functions[0].code[2];
                *code ^= 1;
            }
            wait();
            let args = program.args(&dir.0, &flags("--incremental=verify"));
            let (host, path, is_done) = (QuietHost::new(), dir.path("2.o"), Default::default());
            assert!(link::link(&args, &Breaks { host, path, is_done }).is_err());
            assert!(dir.said().contains("the output is as it was"), "{}", dir.said());
            assert!(dir.read("out") == before && !dir.path(".out.weld/state").exists());
            link(&program.args(&dir.0, &flags("--incremental")), &[]).unwrap();
            assert!(dir.said().starts_with("full link: no state"), "{}", dir.said());
        }
    }
}

#[test]
fn whoever_has_an_image_keeps_it() {
    let dir = Dir::new("keeps");
    let mut program = Program::new(3, 9);
    let flags: &[&str] = &["--build-id"];
    check(&dir, &program, flags);
    let mut held = Vec::new();
    for seed in 0..8 {
        // By another name, or by a descriptor.
        let name = dir.path(&format!("kept-{seed}"));
        match seed % 2 {
            0 => std::fs::hard_link(dir.path("out"), &name).unwrap(),
            _ => {
                let file = std::fs::File::open(dir.path("out")).unwrap();
                held.push((file, dir.read("out")));
            }
        }
        let before = dir.read("out");
        program.change_bytes(&mut Rng::new(seed));
        assert!(check(&dir, &program, flags), "{}", dir.said());
        if seed % 2 == 0 {
            assert!(std::fs::read(&name).unwrap() == before);
        }
    }
    for (mut file, before) in held {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        assert!(bytes == before);
    }
}

#[test]
fn a_damaged_state_is_a_full_link() {
    let dir = Dir::new("damaged");
    let flags: &[&str] = &["--build-id", "-pie"];
    let first = Program::new(3, 11);
    let mut second = first.clone();
    second.change_bytes(&mut Rng::new(3));
    let mut relinked = 0;
    for seed in 0..60 {
        check(&dir, &first, flags);
        for name in ["state", "tables"] {
            let path = dir.path(".out.weld").join(name);
            if name == "tables" || seed % 2 == 0 {
                std::fs::write(&path, damage(&std::fs::read(&path).unwrap(), seed)).unwrap();
            }
        }
        relinked += usize::from(check(&dir, &second, flags));
        check(&dir, &second, flags);
    }
    // Not all of the tables is read.
    assert!(relinked < 40, "{relinked}");
    for name in ["state", "tables", "a", "b"] {
        check(&dir, &first, flags);
        // The second image is made by the first relink.
        check(&dir, &second, flags);
        check(&dir, &first, flags);
        std::fs::remove_file(dir.path(".out.weld").join(name)).unwrap();
        check(&dir, &second, flags);
        check(&dir, &first, flags);
        std::fs::write(dir.path(".out.weld").join(name), "").unwrap();
        check(&dir, &second, flags);
    }
}

#[test]
fn two_links_at_once() {
    let dir = Dir::new("two");
    let mut program = Program::new(3, 13);
    check(&dir, &program, &[]);
    for seed in 0..6 {
        program.change_bytes(&mut Rng::new(seed));
        let args = program.args(&dir.0, &["--incremental", "--build-id"]);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| link(&args, &[]))).collect();
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Ok(Vec::new())));
        });
        let is = dir.read("out");
        link(
            &program.args(
                &dir.0,
                &["--build-id", "--incremental=force-full", "-o", dir.path("full").to_str().unwrap()],
            ),
            &[],
        )
        .unwrap();
        assert!(is == dir.read("full"));
        link(&args, &[]).unwrap();
        assert!(dir.said().starts_with("relinked") && dir.read("out") == is, "{}", dir.said());
    }
    // While somebody has the lock, nothing is kept.
    let held = directory::Place::open(&dir.path(".out.weld"), &QuietHost::new()).ok();
    assert!(held.is_some() && !check(&dir, &program, &[]));
    assert!(dir.said().contains("another link of this output is running"), "{}", dir.said());
    drop(held);
    directory::forget(&dir.path(".out.weld")).unwrap();
    assert!(!dir.path(".out.weld").exists());
    assert!(directory::forget(&dir.0).is_err() && dir.path("out").exists());
}

#[test]
fn what_is_not_relinked_says_why() {
    let dir = Dir::new("why");
    let program = Program::new(2, 17);
    for (flags, why) in [
        (&["-r"][..], "-r joins"),
        (&["--icf=all"], "--icf"),
        (&["--build-id=md5"], "--build-id=fast"),
        (&["--emit-relocs"], "--emit-relocs"),
        (&["--gdb-index"], "--gdb-index"),
        (&["-z", "rewrite-endbr"], "rewrite-endbr"),
        (&["-Map=/dev/null"], "maps"),
        (&["--compress-debug-sections=zlib"], "compressed"),
        (&["--incremental=force-full"], "force-full"),
    ] {
        for _ in 0..2 {
            let mut args = program.args(&dir.0, &["--incremental"]);
            args.extend(flags.iter().map(OsString::from));
            link(&args, &[]).unwrap();
            assert!(
                dir.said().starts_with("full link: ") && dir.said().contains(why),
                "{flags:?}: {}",
                dir.said()
            );
        }
    }
    let script = dir.path("script");
    std::fs::write(&script, "SECTIONS { .text : { *(.text*) } }").unwrap();
    let args = program.args(&dir.0, &["--incremental", "-T", script.to_str().unwrap()]);
    for _ in 0..2 {
        link(&args, &[]).unwrap();
        assert!(dir.said().contains("SECTIONS"), "{}", dir.said());
    }
}
