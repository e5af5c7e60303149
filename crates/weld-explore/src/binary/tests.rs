//! The test program itself and small files, whole and damaged, and what is read of them.

use object::read::elf::ElfFile64;
use object::read::{Object as _, ObjectSection as _};

use weld_testkit::dso::{Dso, DynSymbol};

use super::*;

const SPELLING: Spelling<'static> =
    Spelling { shown: &|name| weld_common::demangle::demangle(name), parallel: false };

/// The test program itself: an ELF file with symbols and debug information.
fn this() -> Vec<u8> {
    std::fs::read(std::env::current_exe().expect("its path")).expect("the test program")
}

#[test]
fn every_byte_is_in_one_piece() {
    let file = this();
    let model = read("this", &file, Beside::default(), SPELLING).expect("a program");
    assert_eq!(model.covered(), file.len() as u64);
    let elf = ElfFile64::<object::Endianness>::parse(&*file).expect("an ELF file");
    let mut sums = vec![(0, 0); model.outputs.len()];
    for piece in &model.pieces {
        if let Some(row) = piece.output.row() {
            sums[row].0 += piece.size;
            sums[row].1 += piece.memory;
        }
    }
    for (row, section) in elf.sections().enumerate() {
        let in_file = section.file_range().map_or(0, |range| range.1);
        assert_eq!(sums[row].0, in_file, "{:?}", section.name());
    }
    let named = |name: &str| model.pieces.iter().find(|piece| model.names.get(piece.name).contains(name));
    let piece = named("every_byte_is_in_one_piece").expect("its own function");
    let object = model.object_of(piece).expect("it came with an object");
    // There is debug information.
    if cfg!(debug_assertions) {
        assert_eq!(object.language, Language::Rust);
        assert!(
            model.names.get(object.source).contains("weld-explore"),
            "{}",
            model.names.get(object.source)
        );
    }
    assert!(model.graph.is_none());
    let library =
        |import: &Import| import.library.row().map(|row| model.names.get(model.libraries[row].name));
    let of = |symbol: &str| model.imports.iter().find(|import| model.names.get(import.symbol) == symbol);
    assert_eq!(of("malloc").map(library), Some(Some("libc.so.6")), "glibc's symbols have versions");
}

#[test]
fn what_is_no_binary() {
    let error = |bytes: &[u8]| read("x", bytes, Beside::default(), SPELLING).err();
    assert_eq!(error(b""), Some(BinaryError::Unknown));
    assert_eq!(error(b"#!/bin/sh\n"), Some(BinaryError::Unknown));
    assert!(error(b"\x7fELF\x02\x01\x01").is_some());
}

/// Damaged headers and tables: an error or a picture of the file, and no panic.
#[test]
fn damaged_files() {
    let symbols = [DynSymbol::function("f"), DynSymbol::object("v", 8), DynSymbol::undefined("u")];
    let file = symbols.into_iter().fold(Dso::new("so"), Dso::symbol).build();
    let check = |bytes: &[u8]| {
        if let Ok(model) = read("x", bytes, Beside::default(), SPELLING) {
            assert_eq!(model.covered(), bytes.len() as u64);
        }
    };
    assert!(read("x", &file, Beside::default(), SPELLING).is_ok());
    (0..file.len()).for_each(|end| check(&file[..end]));
    for at in 0..file.len() {
        for byte in [0u8, 1, 0x40, 0x7f, 0xff] {
            let mut damaged = file.clone();
            damaged[at] = byte;
            check(&damaged);
        }
    }
}
