//! A set of globs answers as its patterns do one by one. Lines: the name, then patterns.
#![no_main]

use weld_common::glob::{Glob, GlobSet, has_wildcard};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut lines = data.split(|&b| b == b'\n');
    let name = lines.next().unwrap_or_default();
    let mut set = GlobSet::new();
    let mut lowest = None;
    for (rank, pattern) in lines.take(64).enumerate() {
        let Ok(glob) = Glob::new(pattern) else {
            assert!(set.add(pattern, rank as u32).is_err());
            continue;
        };
        assert!(set.add(pattern, rank as u32).is_ok());
        let matches = if has_wildcard(pattern) { glob.matches(name) } else { pattern == name };
        if matches && lowest.is_none() {
            lowest = Some(rank as u32);
        }
    }
    set.finish();
    assert_eq!(set.lookup(name), lowest);
});
