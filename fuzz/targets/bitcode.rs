//! The reader of bitcode: what it says lies in the file, and is no more than the file has room for. The first
//! byte says whether bytes are read as they are, or a symbol table and its strings are put into a file.
#![no_main]

use weld_lto::bitcode;
use weld_lto::ir::IrFile;
use weld_testkit::bitcode::{Bits, block};

fn check(bytes: &[u8], file: &IrFile<'_>) {
    let inside = |text: &[u8]| text.is_empty() || bytes.as_ptr_range().contains(&text.as_ptr());
    assert!(file.symbols.iter().all(|symbol| inside(symbol.name) && inside(symbol.section)));
    assert!(
        file.symbols.iter().all(|symbol| symbol.comdat.is_none_or(|at| (at as usize) < file.comdats.len()))
    );
    assert!(inside(file.triple) && inside(file.source) && file.libraries.iter().all(|name| inside(name)));
    assert!(file.symbols.len() * 24 <= bytes.len() && file.comdats.len() * 12 <= bytes.len());
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&which, data)) = data.split_first() else { return };
    let bytes = match which % 2 {
        0 => [b"BC\xc0\xde", data].concat(),
        _ => {
            let Some((len, tables)) = data.split_first_chunk() else { return };
            let (symtab, strtab) = tables.split_at(tables.len().min(usize::from(u16::from_le_bytes(*len))));
            let mut bits = Bits::new();
            bits.enter(block::MODULE, 3);
            bits.leave();
            bits.blob(block::SYMTAB, 1, symtab);
            bits.blob(block::STRTAB, 1, strtab);
            bits.finish()
        }
    };
    if let Ok(file) = bitcode::read(&bytes) {
        check(&bytes, &file);
    }
    let _ = bitcode::mode(&bytes);
    if let Ok(file) = bitcode::read(data) {
        check(data, &file);
    }
});
