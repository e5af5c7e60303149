use std::cell::RefCell;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Mutex;

use super::stream::{WriteAt, take_buffer, write_all_at, write_in_calls};
use super::*;
use crate::host::QuietHost;
use crate::io::testdir::TestDir;

const ENGINES: [EngineChoice; 3] = [EngineChoice::Auto, EngineChoice::Mapped, EngineChoice::Streaming];

fn options(engine: EngineChoice) -> OutputOptions {
    OutputOptions { engine, executable: true, ..Default::default() }
}

/// Remembers which temporary files exist.
#[derive(Default)]
struct TempHost(Mutex<Vec<(PathBuf, bool)>>);

impl Host for TempHost {
    fn print(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn create_temp(&self, path: &Path, create: &mut dyn FnMut() -> bool) {
        if create() {
            self.0.lock().unwrap().push((path.to_owned(), true));
        }
    }
    fn temp_gone(&self, path: &Path) {
        self.0.lock().unwrap().push((path.to_owned(), false));
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn engines_write_the_same_bytes_from_two_threads() {
    let dir = TestDir::new("output-engines");
    let host = QuietHost::new();
    let want = pattern(1_000_003);
    for engine in ENGINES {
        let path = dir.join("out");
        let out = OutputFile::create(&path, want.len() as u64, &options(engine), &host).unwrap();
        std::thread::scope(|s| {
            for t in 0..2 {
                let (out, want) = (&out, &want);
                s.spawn(move || {
                    for (i, part) in want.chunks(10_007).enumerate().filter(|(i, _)| i % 2 == t) {
                        let offset = i as u64 * 10_007;
                        if i % 3 == 0 {
                            out.write_at(offset, part).unwrap();
                        } else {
                            out.with_region(offset, part.len(), |r| r.copy_from_slice(part)).unwrap();
                        }
                    }
                });
            }
        });
        out.commit(true).unwrap();
        assert!(std::fs::read(&path).unwrap() == want, "{engine:?}");
        assert_eq!(dir.list(), ["out"]);
    }
}

/// On file systems that this machine cannot mount, too.
#[test]
fn every_kind_of_file_system_gets_the_same_bytes() {
    use engine::FileSystem::*;
    let dir = TestDir::new("output-systems");
    let host = QuietHost::new();
    let want = pattern(1_500_007);
    for kind in [Memory, CopyOnWrite, Overlay, Network, Fuse, Other] {
        for engine in ENGINES {
            let options = OutputOptions { file_system: Some(kind), ..options(engine) };
            let path = dir.join("out");
            let out = OutputFile::create(&path, want.len() as u64, &options, &host).unwrap();
            // The middle is left to be zero, and what comes first is changed at the end.
            for (i, part) in want.chunks(50_021).enumerate().filter(|(i, _)| !(10..20).contains(i)) {
                out.with_region(i as u64 * 50_021, part.len(), |r| r.copy_from_slice(part)).unwrap();
            }
            out.write_at(5, b"later").unwrap();
            let mut image = want.clone();
            image[10 * 50_021..20 * 50_021].fill(0);
            image[5..10].copy_from_slice(b"later");
            let mut read = vec![1; want.len()];
            out.read_at(0, &mut read).unwrap();
            assert!(read == image, "{kind:?} {engine:?} before the end");
            out.commit(true).unwrap();
            assert!(std::fs::read(&path).unwrap() == image, "{kind:?} {engine:?}");
        }
    }
}

#[test]
fn requested_engines_are_used() {
    let dir = TestDir::new("output-choice");
    let host = QuietHost::new();
    let engine = |choice, len| {
        let out = OutputFile::create(&dir.join("x"), len, &options(choice), &host).unwrap();
        assert_eq!((out.len(), out.is_empty()), (len, len == 0));
        let engine = out.engine();
        out.commit(true).unwrap();
        engine
    };
    assert_eq!(engine(EngineChoice::Mapped, 5), (Engine::Mapped, "as requested"));
    assert_eq!(engine(EngineChoice::Streaming, 5), (Engine::Streaming, "as requested"));
    assert_eq!(
        engine(EngineChoice::Mapped, 0),
        (Engine::Streaming, "an image of this size cannot be mapped")
    );
    assert_eq!(engine(EngineChoice::Auto, 5).0, Engine::Streaming);
    assert_eq!(std::fs::read(dir.join("x")).unwrap(), [0; 5]);
}

#[test]
fn old_output_stays_until_commit_and_after_a_drop() {
    let dir = TestDir::new("output-old");
    let path = dir.join("out");
    for engine in ENGINES {
        std::fs::write(&path, b"old").unwrap();
        let host = TempHost::default();
        let out = OutputFile::create(&path, 100, &options(engine), &host).unwrap();
        out.write_at(0, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(dir.list().len(), 2);
        drop(out);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(dir.list(), ["out"]);
        let told = host.0.into_inner().unwrap();
        assert_eq!(told.len(), 2);
        assert_eq!((&told[0].0, told[0].1, told[1].1), (&told[1].0, true, false));
    }
}

#[test]
fn permissions_follow_the_umask() {
    let dir = TestDir::new("output-mode");
    let host = QuietHost::new();
    std::fs::write(dir.join("probe"), b"").unwrap();
    let plain = std::fs::metadata(dir.join("probe")).unwrap().permissions().mode() & 0o777;
    for expected in [false, true] {
        for executable in [false, true] {
            let path = dir.join("out");
            let options = OutputOptions { executable: expected, ..Default::default() };
            let out = OutputFile::create(&path, 1, &options, &host).unwrap();
            out.commit(executable).unwrap();
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            let want = if executable { plain | (plain & 0o444) >> 2 } else { plain };
            assert_eq!(mode, want, "expected {expected}, committed {executable}");
        }
    }
}

#[test]
fn directories_and_missing_parents_are_errors_before_any_work() {
    let dir = TestDir::new("output-dir");
    let host = QuietHost::new();
    let message = |path: &Path| {
        assert!(check(path).is_err());
        OutputFile::create(path, 1, &OutputOptions::default(), &host).err().unwrap().to_string()
    };
    let shown = dir.path().display();
    assert_eq!(message(dir.path()), format!("cannot create {shown}: is a directory"));
    let below = dir.join("no/out");
    assert_eq!(message(&below), format!("cannot create {}: No such file or directory", below.display()));
    assert_eq!(message(&dir.join("new/")), format!("cannot create {shown}/new/: is a directory"));
    std::fs::write(dir.join("file"), b"").unwrap();
    message(&dir.join("file/out"));
    message(Path::new(""));
    assert!(check(&dir.join("out")).is_ok());
    assert!(check(Path::new("-")).is_ok());
    assert_eq!(dir.list(), ["file"]);
}

#[test]
fn a_link_is_replaced_and_its_target_left_alone() {
    let dir = TestDir::new("output-link");
    let host = QuietHost::new();
    std::fs::write(dir.join("target"), b"target").unwrap();
    for name in ["target", "nowhere"] {
        let path = dir.join("link");
        std::os::unix::fs::symlink(name, &path).unwrap();
        let out = OutputFile::create(&path, 3, &OutputOptions::default(), &host).unwrap();
        out.write_at(0, b"new").unwrap();
        out.commit(false).unwrap();
        assert!(!path.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(std::fs::read(dir.join("target")).unwrap(), b"target");
    assert_eq!(dir.list(), ["target"]);
}

#[test]
fn a_busy_program_can_be_replaced() {
    let dir = TestDir::new("output-busy");
    let host = QuietHost::new();
    let path = dir.join("sleep");
    std::fs::copy("/bin/sleep", &path).unwrap();
    let mut child = std::process::Command::new(&path).arg("10").spawn().unwrap();
    let out = OutputFile::create(&path, 3, &OutputOptions::default(), &host).unwrap();
    out.write_at(0, b"new").unwrap();
    out.commit(true).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn regions_outside_the_image_or_within_each_other_are_refused() {
    let dir = TestDir::new("output-misuse");
    let host = QuietHost::new();
    for engine in ENGINES {
        let out = OutputFile::create(&dir.join("out"), 10, &options(engine), &host).unwrap();
        for (offset, len) in [(0, 11), (10, 1), (u64::MAX, 2), (11, 0)] {
            assert!(out.write_at(offset, &vec![0; len]).is_err());
            assert!(out.with_region(offset, len, |_| ()).is_err());
        }
        assert!(out.with_region(10, 0, |_| ()).is_ok());
    }
    let out = OutputFile::create(&dir.join("out"), 10, &options(EngineChoice::Mapped), &host).unwrap();
    let inner = out.with_region(0, 6, |_| out.write_at(5, b"x").map_err(|e| e.to_string())).unwrap();
    assert!(inner.unwrap_err().contains("overlap"));
    out.write_at(5, b"x").unwrap();
}

#[test]
fn special_files_are_written_in_place() {
    let dir = TestDir::new("output-special");
    let host = TempHost::default();
    let fifo = dir.join("fifo");
    let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
    // SAFETY: a terminated path.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let want = pattern(100_000);
    std::thread::scope(|s| {
        let reader = s.spawn(|| std::fs::read(&fifo).unwrap());
        let out = OutputFile::create(&fifo, want.len() as u64, &OutputOptions::default(), &host).unwrap();
        assert_eq!(out.engine(), (Engine::Mapped, "the output is written from front to back"));
        out.write_at(50_000, &want[50_000..]).unwrap();
        out.with_region(0, 50_000, |r| r.copy_from_slice(&want[..50_000])).unwrap();
        out.commit(true).unwrap();
        assert!(reader.join().unwrap() == want);
    });
    let null = OutputFile::create(Path::new("/dev/null"), 10, &OutputOptions::default(), &host).unwrap();
    null.write_at(5, b"x").unwrap();
    let mut read = [1; 3];
    null.read_at(4, &mut read).unwrap();
    assert_eq!(read, [0; 3]);
    assert!(null.read_at(8, &mut read).is_err());
    assert_eq!(null.engine().0, Engine::Streaming);
    null.commit(true).unwrap();
    assert!(!Path::new("/dev/null").is_file());
    assert!(host.0.lock().unwrap().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_to_a_descriptor_leads_to_its_file() {
    use std::os::fd::AsRawFd;
    let dir = TestDir::new("output-proc");
    let host = QuietHost::new();
    std::fs::write(dir.join("file"), b"longer than the image").unwrap();
    let file = File::open(dir.join("file")).unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    for image in [b"image".as_slice(), b""] {
        let out = OutputFile::create(&path, image.len() as u64, &OutputOptions::default(), &host).unwrap();
        out.write_at(0, image).unwrap();
        out.commit(true).unwrap();
        assert_eq!(std::fs::read(dir.join("file")).unwrap(), image);
    }
    let inode = std::fs::metadata(dir.join("file")).unwrap().ino();
    assert_eq!(inode, file.metadata().unwrap().ino());
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_is_replaced_wherever_it_lies_unless_it_leads_to_a_descriptor() {
    use std::os::fd::AsRawFd;
    let dir = TestDir::new("output-links");
    let host = QuietHost::new();
    let write = |path: &Path| {
        let out = OutputFile::create(path, 3, &OutputOptions::default(), &host).unwrap();
        out.write_at(0, b"new").unwrap();
        out.commit(true).unwrap();
    };
    // A file system in memory that builds are put on.
    let below_dev = PathBuf::from(format!("/dev/shm/weld-output-links-{}", std::process::id()));
    std::fs::create_dir(&below_dev).unwrap();
    for (at, relative) in [(dir.path(), false), (&below_dev, false), (&below_dev, true)] {
        let (file, link) = (at.join("file"), at.join("link"));
        std::fs::write(&file, "old").unwrap();
        let target = if relative { Path::new("file") } else { &file };
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        write(&link);
        assert!(!link.is_symlink());
        assert_eq!(
            (std::fs::read(&file).unwrap(), std::fs::read(&link).unwrap()),
            (b"old".into(), b"new".into())
        );
    }
    std::fs::remove_dir_all(&below_dev).unwrap();
    std::fs::write(dir.join("opened"), "old").unwrap();
    let opened = File::open(dir.join("opened")).unwrap();
    let link = dir.join("descriptor");
    std::os::unix::fs::symlink(format!("/dev/fd/{}", opened.as_raw_fd()), &link).unwrap();
    write(&link);
    assert!(link.is_symlink());
    assert_eq!(std::fs::read(dir.join("opened")).unwrap(), b"new");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let host = QuietHost::new();
    let out = OutputFile::create(Path::new("/dev/full"), 3, &OutputOptions::default(), &host).unwrap();
    let error = out.commit(false).unwrap_err();
    assert_eq!(error.to_string(), "cannot write /dev/full: No space left on device");
    assert_eq!(error.kind, ErrorKind::StorageFull);
}

/// A file system of 64 KiB, seen by one thread only. Not for users who cannot mount.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_output() {
    let dir = TestDir::new("output-full");
    let inside = || {
        let mount_point = std::ffi::CString::new(dir.path().to_str().unwrap()).unwrap();
        let (no_data, none) = (std::ptr::null(), c"none".as_ptr());
        // SAFETY: terminated strings. A mount namespace of its own belongs to this thread alone.
        let mounted = unsafe {
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(
                    none,
                    c"/".as_ptr(),
                    std::ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    no_data,
                ) == 0
                && libc::mount(none, mount_point.as_ptr(), c"tmpfs".as_ptr(), 0, c"size=64k".as_ptr().cast())
                    == 0
        };
        if !mounted {
            return;
        }
        let host = QuietHost::new();
        let path = dir.join("out");
        std::fs::write(&path, b"old").unwrap();
        for engine in ENGINES {
            let created = OutputFile::create(&path, 1 << 20, &options(engine), &host);
            let error = match (engine, created) {
                (EngineChoice::Mapped, created) => created.err().unwrap(),
                (_, created) => created.unwrap().write_at(0, &[1; 1 << 20]).unwrap_err(),
            };
            assert_eq!(error.kind, ErrorKind::StorageFull);
            let message = error.to_string();
            assert!(message.ends_with(&format!("{}: No space left on device", path.display())), "{message}");
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
            assert_eq!(dir.list(), ["out"]);
        }
        // SAFETY: a terminated string.
        unsafe { libc::umount2(mount_point.as_ptr(), libc::MNT_DETACH) };
    };
    std::thread::scope(|s| s.spawn(inside).join().unwrap());
}

/// Writes as the script says: that many bytes, or this error.
struct Flaky(RefCell<Vec<Result<usize, i32>>>, RefCell<Vec<u8>>);

impl WriteAt for Flaky {
    fn write_some_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let n = self.0.borrow_mut().remove(0).map_err(io::Error::from_raw_os_error)?.min(bytes.len());
        self.1.borrow_mut()[offset as usize..][..n].copy_from_slice(&bytes[..n]);
        Ok(n)
    }
}

#[test]
fn short_and_interrupted_writes_go_on_and_errors_stop() {
    let run = |script: &[Result<usize, i32>]| {
        let flaky = Flaky(RefCell::new(script.to_vec()), RefCell::new(vec![0; 8]));
        write_all_at(&flaky, 2, b"abcde").map(|()| flaky.1.into_inner())
    };
    assert_eq!(run(&[Ok(1), Err(libc::EINTR), Ok(2), Ok(9)]).unwrap(), b"\0\0abcde\0");
    assert_eq!(run(&[Ok(1), Err(libc::ENOSPC)]).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(run(&[Ok(0)]).unwrap_err().kind(), ErrorKind::WriteZero);
}

#[test]
fn calls_end_at_multiples_of_64_kib() {
    struct Calls(RefCell<Vec<(u64, usize)>>);
    impl WriteAt for Calls {
        fn write_some_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            self.0.borrow_mut().push((offset, bytes.len()));
            Ok(bytes.len())
        }
    }
    let calls = Calls(RefCell::default());
    write_in_calls(&calls, 65_530, &[1; 70_000]).unwrap();
    write_in_calls(&calls, 7, &[]).unwrap();
    assert_eq!(*calls.0.borrow(), [(65_530, 6), (65_536, 65_536), (131_072, 4458)]);
}

#[test]
fn buffers_are_recycled() {
    let buffers = Mutex::default();
    let mut first = take_buffer(&buffers, 100);
    first[0] = 1;
    let address = first.as_ptr();
    buffers.lock().unwrap().push(first);
    let again = take_buffer(&buffers, 50);
    assert_eq!((again.as_ptr(), again[0]), (address, 1));
    buffers.lock().unwrap().push(again);
    assert_eq!(take_buffer(&buffers, 5000).len(), 5000);
}

#[test]
fn long_names_still_have_room_for_a_temporary_one() {
    let dir = TestDir::new("output-long");
    let host = QuietHost::new();
    let path = dir.join(&"n".repeat(255));
    OutputFile::create(&path, 1, &OutputOptions::default(), &host).unwrap().commit(false).unwrap();
    assert_eq!(dir.list().len(), 1);
}

#[test]
fn another_name_has_the_same_bytes() {
    let dir = TestDir::new("name");
    let all: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(i) >> 5) as u8).collect();
    for engine in [EngineChoice::Streaming, EngineChoice::Mapped] {
        let host = QuietHost::new();
        let options = OutputOptions { engine, ..OutputOptions::default() };
        let out = OutputFile::create(&dir.join("out"), 200_000, &options, &host).unwrap();
        out.write_at(0, &all[..1000]).unwrap();
        out.with_region(1000, 199_000, |bytes| bytes.copy_from_slice(&all[1000..])).unwrap();
        _ = std::fs::remove_file(dir.join("name"));
        out.link_to(&dir.join("name")).unwrap();
        out.commit(false).unwrap();
        for name in ["out", "name"] {
            assert!(std::fs::read(dir.join(name)).unwrap() == all, "{name}");
        }
    }
}
