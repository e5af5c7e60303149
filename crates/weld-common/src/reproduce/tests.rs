//! What is in the tar file, and that it is never there in part.

use std::fs;

use super::tar::{BLOCK, pax_record};
use super::*;
use crate::host::QuietHost;
use crate::io::testdir::TestDir;

/// The entries of a tar file: name, contents.
fn read(mut tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut entries = Vec::new();
    let mut long = None;
    assert_eq!(tar.len() % BLOCK, 0);
    while tar[0] != 0 {
        let (block, rest) = tar.split_at(BLOCK);
        let text = |at: usize, len: usize| {
            let field = &block[at..at + len];
            String::from_utf8_lossy(&field[..field.iter().position(|&b| b == 0).unwrap_or(len)]).into_owned()
        };
        let size = usize::from_str_radix(&text(124, 12), 8).unwrap();
        let bytes = rest[..size].to_vec();
        tar = &rest[size.next_multiple_of(BLOCK)..];
        if block[156] == b'x' {
            let record = String::from_utf8(bytes).unwrap();
            assert_eq!(record.split(' ').next().unwrap().parse(), Ok(record.len()));
            long = Some(record.split_once("path=").unwrap().1.trim_end().to_owned());
            continue;
        }
        let prefix = text(345, 155);
        let short = if prefix.is_empty() { text(0, 100) } else { format!("{prefix}/{}", text(0, 100)) };
        entries.push((long.take().unwrap_or(short), bytes));
    }
    assert_eq!(tar, [0; 2 * BLOCK]);
    entries
}

/// The bytes of a tar file, in however many parts they are written.
fn bytes_of(tar: &Tar) -> Vec<u8> {
    let mut bytes = Vec::new();
    tar.write(|at, part| {
        assert_eq!(at, bytes.len() as u64);
        bytes.extend_from_slice(part);
        Ok::<(), ()>(())
    })
    .unwrap();
    assert_eq!(bytes.len() as u64, tar.len());
    bytes
}

#[test]
fn files_response_and_version() {
    let large = vec![7; 3 << 20];
    let mut repro = Reproduction::new(Path::new("repro.tar"));
    repro.add(Path::new("/usr/lib/./x/../crt1.o"), b"crt").unwrap();
    repro.add(Path::new("/usr/lib/crt1.o"), b"crt").unwrap();
    repro.add(Path::new("/a.o"), &[7; 513]).unwrap();
    repro.add(Path::new("/large.o"), &large).unwrap();
    let error = repro.add(Path::new("/usr/lib/y/../crt1.o"), b"other").unwrap_err().to_string();
    assert_eq!(error, "two different files would both be stored as usr/lib/crt1.o");
    repro.describe("-o x a.o\n", "weld 1\n");
    let want: [(&str, &[u8]); 5] = [
        ("repro/usr/lib/crt1.o", b"crt"),
        ("repro/a.o", &[7; 513]),
        ("repro/large.o", &large),
        ("repro/response.txt", b"-o x a.o\n"),
        ("repro/version.txt", b"weld 1\n"),
    ];
    let got = read(&bytes_of(&repro.tar));
    assert!(got.iter().map(|(n, b)| (n.as_str(), b.as_slice())).eq(want));
}

#[test]
fn takes_its_place_complete_each_time() {
    let dir = TestDir::new("reproduce");
    let path = dir.join("r.tar");
    let names = |path: &Path| -> Vec<String> {
        read(&fs::read(path).unwrap())
            .into_iter()
            .map(|(name, _)| name.rsplit('/').next().unwrap().into())
            .collect()
    };
    for name in ["b.o", "a.o", "c.o"] {
        fs::write(dir.join(name), name).unwrap();
    }
    let host = QuietHost::new();
    let mut store = InputStore::new(&host);
    store.record();
    let recorder = Recorder::new(path.clone(), "-o x\n".into(), "weld 1\n".into());
    for name in ["b.o", "a.o"] {
        store.open(&dir.join(name)).unwrap().unwrap();
    }
    fs::write(&path, "old").unwrap();
    let old = fs::File::open(&path).unwrap();
    recorder.add(&store, &host).unwrap();
    assert_eq!(names(&path), ["response.txt", "version.txt", "a.o", "b.o"]);
    // Nobody has written over what was there.
    assert_eq!(std::io::read_to_string(old).unwrap(), "old");
    store.open(&dir.join("c.o")).unwrap().unwrap();
    recorder.finish(&store, &host).unwrap();
    recorder.finish(&store, &host).unwrap();
    assert_eq!(names(&path), ["response.txt", "version.txt", "a.o", "b.o", "c.o"]);
    assert_eq!(dir.list(), ["a.o", "b.o", "c.o", "r.tar"]);
    let full = Recorder::new("/dev/full".into(), String::new(), String::new());
    full.add(&store, &host).unwrap();
    full.finish(&store, &host).unwrap_err();
    full.finish(&store, &host).unwrap();
}

#[test]
fn relative_paths_begin_at_the_working_directory() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(Path::new("/").join(stored_path(Path::new("./x/../a.o")).unwrap()), here.join("a.o"));
}

#[test]
fn names_of_every_length() {
    let names: Vec<String> = (1..400)
        .map(|len| format!("d/{}", if len % 3 == 0 { "abcdefgh/".repeat(len / 9) } else { "x".repeat(len) }))
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    let mut tar = Tar::default();
    for name in &names {
        tar.append(name.as_bytes(), b"".into());
    }
    let got: Vec<String> = read(&bytes_of(&tar)).into_iter().map(|e| e.0).collect();
    assert_eq!(got, names);
}

#[test]
fn pax_lengths_count_themselves() {
    for len in 0..1100 {
        let record = pax_record("path", &vec![b'x'; len]);
        let said: usize = String::from_utf8_lossy(&record).split(' ').next().unwrap().parse().unwrap();
        assert_eq!(said, record.len());
    }
}
