//! The reader of GCC's sections: bytes are cut into sections at a word that is in no name.
#![no_main]

use weld_lto::gcc;

const NAMES: [&[u8]; 4] =
    [b".gnu.lto_.symtab.1", b".gnu.lto_.ext_symtab.1", b".gnu.lto_.lto.1", b".gnu.lto_.symtab.2"];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    let mut sections = Vec::new();
    while let Some((&name, contents)) = rest.split_first() {
        let end = contents.windows(2).position(|two| two == b"\xfe\xfe").unwrap_or(contents.len());
        sections.push((NAMES[usize::from(name % 4)], &contents[..end]));
        rest = contents.get(end + 2..).unwrap_or_default();
    }
    let Ok(file) = gcc::read(&sections) else { return };
    assert!(file.symbols.len() * 16 <= data.len(), "each has two strings and 14 bytes");
    assert!(file.comdats.len() <= file.symbols.len());
    assert!(
        file.symbols.iter().all(|symbol| symbol.comdat.is_none_or(|at| (at as usize) < file.comdats.len()))
    );
});
