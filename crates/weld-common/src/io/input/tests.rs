use super::*;
use std::time::SystemTime;

use crate::host::QuietHost;
use crate::io::testdir::TestDir;

#[derive(Default)]
struct MapHost(Mutex<Vec<(PathBuf, usize, usize)>>);

impl Host for MapHost {
    fn print(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn mapped(&self, file: &Arc<MappedFile>) {
        self.0.lock().unwrap().push((file.path.clone(), file.start, file.len));
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 255) as u8).collect()
}

#[test]
fn sizes_around_the_limit() {
    let dir = TestDir::new("input-sizes");
    let host = MapHost::default();
    let store = InputStore::new(&host);
    let sizes = [0, 1, 7, 8, 4096, READ_LIMIT - 1, READ_LIMIT, READ_LIMIT + 1, 3 * READ_LIMIT];
    let mut slices = Vec::new();
    for len in sizes {
        let path = dir.join(&len.to_string());
        std::fs::write(&path, pattern(len)).unwrap();
        slices.push(store.open(&path).unwrap().unwrap());
    }
    for (len, slice) in sizes.into_iter().zip(slices) {
        assert!(slice == pattern(len), "{len} bytes");
        assert!(len == 0 || slice.as_ptr().addr() % ALIGN == 0);
    }
    let told = host.0.lock().unwrap();
    let lens: Vec<_> = told.iter().map(|m| m.2).collect();
    assert_eq!(lens, [READ_LIMIT + 1, 3 * READ_LIMIT]);
    assert_eq!(told[0].0, dir.join(&(READ_LIMIT + 1).to_string()));
}

#[test]
fn what_is_missing_is_none() {
    let dir = TestDir::new("input-missing");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    std::fs::write(dir.join("file"), b"x").unwrap();
    assert!(store.open(&dir.join("no")).unwrap().is_none());
    assert!(store.open(&dir.join("file").join("below")).unwrap().is_none());
}

#[test]
fn a_file_is_mapped_once() {
    let dir = TestDir::new("input-once");
    let host = MapHost::default();
    let store = InputStore::new(&host);
    let path = dir.join("file");
    std::fs::write(&path, pattern(READ_LIMIT + 1)).unwrap();
    let first = store.open_once(&path).unwrap().unwrap();
    assert!(std::ptr::eq(first, store.open_once(&path).unwrap().unwrap()));
    assert!(!std::ptr::eq(first, store.open(&path).unwrap().unwrap()));
    assert_eq!(host.0.lock().unwrap().len(), 2);
    assert!(store.open_once(&dir.join("no")).unwrap().is_none());
    store.lay(vec![(path.clone(), b"other".to_vec())]);
    assert_eq!(store.open_once(&path).unwrap(), Some(&b"other"[..]));
}

#[test]
fn another_root_and_what_was_opened() {
    let dir = TestDir::new("input-root");
    let host = QuietHost::new();
    let mut store = InputStore::new(&host);
    assert!(store.opened().is_empty());
    store.set_root(&dir.join("root"));
    store.record();
    std::fs::create_dir(dir.join("root")).unwrap();
    std::fs::write(dir.join("root").join("file"), b"x").unwrap();
    assert_eq!(store.open(Path::new("/file")).unwrap(), Some(&b"x"[..]));
    assert!(store.open(Path::new("/gone")).unwrap().is_none());
    assert_eq!(store.opened(), [(PathBuf::from("/file"), &b"x"[..])]);
    let meta = std::fs::metadata(dir.join("root").join("file")).unwrap();
    assert_eq!(store.files()[0].modified, Some(meta.modified().unwrap()));
}

#[test]
fn a_directory_is_an_error() {
    let dir = TestDir::new("input-dir");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let error = store.open(dir.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot open {}: is a directory", dir.path().display()));
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_proc_files_are_read_to_the_end() {
    let dir = TestDir::new("input-fifo");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let fifo = dir.join("fifo");
    let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
    // SAFETY: a terminated path.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let bytes = pattern(200_000);
    std::thread::scope(|s| {
        s.spawn(|| std::fs::write(&fifo, &bytes).unwrap());
        assert!(store.open(&fifo).unwrap().unwrap() == bytes);
    });
    assert!(store.open(Path::new("/dev/null")).unwrap().unwrap().is_empty());
    assert!(!store.open(Path::new("/proc/self/status")).unwrap().unwrap().is_empty());
}

#[test]
fn kept_buffers_stay_where_they_are() {
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let slices: Vec<_> = (0..100).map(|i| store.keep(pattern(i))).collect();
    for (i, slice) in slices.iter().enumerate() {
        assert_eq!(*slice, pattern(i));
    }
}

#[test]
fn a_file_that_cannot_be_mapped_is_read() {
    let dir = TestDir::new("input-heap");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    std::fs::write(dir.join("f"), pattern(10_000)).unwrap();
    let open = || File::open(dir.join("f")).unwrap();
    assert_eq!(store.read_to_heap(&open(), 10_000).unwrap(), pattern(10_000));
    assert_eq!(store.read_to_heap(&open(), 9_000).unwrap(), &pattern(10_000)[..9_000]);
    assert_eq!(store.read_to_heap(&open(), 20_000).unwrap(), pattern(10_000));
    let error = store.read_to_heap(&open(), isize::MAX as usize).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
}

#[test]
fn many_threads_open_at_once() {
    let dir = TestDir::new("input-threads");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    for i in 0..40 {
        std::fs::write(dir.join(&i.to_string()), pattern(i * 3001)).unwrap();
    }
    std::thread::scope(|s| {
        for t in 0..4 {
            let (store, dir) = (&store, &dir);
            s.spawn(move || {
                for i in (t..40).step_by(4) {
                    let bytes = store.open(&dir.join(&i.to_string())).unwrap().unwrap();
                    assert!(bytes == pattern(i * 3001));
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn an_error_names_the_file() {
    let dir = TestDir::new("input-loop");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    std::os::unix::fs::symlink("a", dir.join("a")).unwrap();
    let message = store.open(&dir.join("a")).unwrap_err().to_string();
    assert!(message.starts_with(&format!("cannot open {}: Too many", dir.join("a").display())), "{message}");
}

/// A gate whose process has no descriptor left for a while: the open succeeds once one is free.
#[cfg(target_os = "linux")]
#[test]
fn waits_for_a_descriptor() {
    // The limit belongs to the process, so this runs in a child of its own.
    const FLAG: &str = "WELD_TEST_FEW_DESCRIPTORS";
    if std::env::var_os(FLAG).is_none() {
        let name = "io::input::tests::waits_for_a_descriptor";
        let test = std::env::current_exe().unwrap();
        let status = std::process::Command::new(test).args(["--exact", name]).env(FLAG, "1").status();
        assert!(status.unwrap().success());
        return;
    }
    let dir = TestDir::new("input-emfile");
    let path = dir.join("f");
    std::fs::write(&path, b"bytes").unwrap();
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain structs.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = 24;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
    let mut hoard = Vec::new();
    while let Ok(file) = File::open(&path) {
        hoard.push(file);
    }
    std::thread::scope(|s| {
        let workers: Vec<_> = (0..8).map(|_| s.spawn(|| store.open(&path))).collect();
        std::thread::sleep(Duration::from_millis(20));
        hoard.pop();
        for worker in workers {
            assert_eq!(worker.join().unwrap().unwrap().unwrap(), b"bytes");
        }
    });
}

#[test]
fn files_that_change_while_they_are_mapped() {
    let dir = TestDir::new("input-changes");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let paths = ["small", "touched", "written", "gone"].map(|name| dir.join(name));
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for path in &paths {
        let len = if path.ends_with("small") { 10 } else { READ_LIMIT + 1 };
        std::fs::write(path, pattern(len)).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
        store.open(path).unwrap().unwrap();
    }
    let [small, touched, written, gone] = &paths;
    let later = long_ago + Duration::from_nanos(1);
    File::options().write(true).open(small).unwrap().set_modified(later).unwrap();
    std::fs::remove_file(gone).unwrap();
    assert_eq!(store.changed(false), None);
    let grown = pattern(READ_LIMIT + 2);
    std::fs::write(written, grown).unwrap();
    File::options().write(true).open(written).unwrap().set_modified(long_ago).unwrap();
    assert_eq!((store.changed(false).as_ref(), store.changed(true).as_ref()), (Some(written), Some(written)));
    File::options().write(true).open(touched).unwrap().set_modified(later).unwrap();
    assert_eq!((store.changed(false).as_ref(), store.changed(true).as_ref()), (Some(touched), Some(touched)));
}

#[test]
fn what_a_report_would_replace_is_refused() {
    let dir = TestDir::new("input-refused");
    let host = QuietHost::new();
    let mut store = InputStore::new(&host);
    for name in ["a", "b"] {
        std::fs::write(dir.join(name), b"x").unwrap();
    }
    std::os::unix::fs::symlink("a", dir.join("link")).unwrap();
    store.refuse(vec![(Identity::of(&dir.join("link")).unwrap(), "--Map".to_owned())]);
    let error = store.open(&dir.join("a")).unwrap_err().to_string();
    assert_eq!(error, format!("--Map would replace {}, which is an input", dir.join("a").display()));
    assert!(store.open(&dir.join("b")).unwrap().is_some());
}

#[test]
fn what_is_given_back_can_be_read_again() {
    let dir = TestDir::new("input-given-back");
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let bytes = pattern(3 * GIVE_BACK_LIMIT + 5);
    std::fs::write(dir.join("file"), &bytes).unwrap();
    let mapped = store.open(&dir.join("file")).unwrap().unwrap();
    let kept = store.keep(bytes.clone());
    for given in [&mapped[100..], &mapped[5000..2 * GIVE_BACK_LIMIT], &mapped[7..8], kept, &bytes[..]] {
        store.give_back(given);
        assert!(mapped == bytes && kept == bytes);
    }
}

#[test]
fn notes_are_about_their_bytes() {
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let bytes = store.keep(vec![1, 2, 3]);
    assert_eq!(store.noted(bytes), None);
    assert_eq!(store.note(bytes, vec![9]), [9]);
    assert_eq!(store.note(&bytes[..2], vec![8]), [8]);
    assert_eq!(store.note(bytes, vec![7]), [9], "the first one stays");
    assert_eq!(
        (store.noted(bytes), store.noted(&bytes[..2]), store.noted(&bytes[1..])),
        (Some(&[9][..]), Some(&[8][..]), None)
    );
}
