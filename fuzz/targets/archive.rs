//! An archive, walked in every way and linked. The last byte selects options. Thin archives are not
//! linked: their members' names would be opened.
#![no_main]

use std::sync::LazyLock;
use weld_common::archive::Archive;
use weld_fuzz::{generated::start_object, link_files};

static START: LazyLock<Vec<u8>> = LazyLock::new(start_object);

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(archive) = Archive::parse(data) else { return };
    let members = archive.members().take_while(Result::is_ok).count();
    // Each member has a header of 60 bytes.
    assert!(members <= data.len() / 60);
    if let Some(map) = archive.armap() {
        let whole: Vec<_> = map.symbols().collect();
        assert_eq!(whole.len(), map.count());
        let parts: Vec<_> = map.split(3).into_iter().flatten().collect();
        assert!(whole == parts, "an index reads the same in parts");
        for i in 0..map.count() {
            let _ = archive.member_at(map.offset(i));
        }
    }
    if !archive.is_thin() {
        link_files(&[&START, data], data[data.len() - 1]);
    }
});
