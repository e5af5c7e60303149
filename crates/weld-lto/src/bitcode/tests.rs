//! The reader of bitcode over files made in memory.

use weld_testkit::bitcode::{self, Bitcode, Bits, Symbol, block, flag};
use weld_testkit::mutate;

use super::*;
use crate::ir::{Comdat, IrSymbol, Kind, Selection, Visibility};

/// A symbol without properties.
fn plain(name: &str) -> IrSymbol<'_> {
    IrSymbol { is_global: false, ..IrSymbol::new(name.as_bytes(), Kind::Defined) }
}

/// A file that has some of everything.
fn rich() -> Bitcode {
    let mut file = Bitcode::new("x86_64-pc-windows-msvc");
    file.directives = " /DEFAULTLIB:libcmt.lib".to_owned();
    file.libraries = vec!["m".to_owned(), "z".to_owned()];
    file.comdat("group", 0).comdat("one", 3).comdat("big", 2).comdat("same", 4).comdat("exact", 1);
    file.symbol(Symbol { comdat: Some(1), ..Symbol::new("main", flag::GLOBAL | flag::EXECUTABLE) });
    file.symbol(Symbol { common: (40, 8), ..Symbol::new("shared", flag::COMMON | flag::GLOBAL | flag::TLS) });
    file.symbol(Symbol::new("puts", flag::UNDEFINED | flag::WEAK | flag::MAY_OMIT | flag::UNNAMED_ADDR));
    file.symbol(Symbol { section: "mine".to_owned(), ..Symbol::new("here", flag::USED | flag::HIDDEN) });
    file.symbol(Symbol {
        fallback: "other".to_owned(),
        ..Symbol::new("weak", flag::WEAK | flag::INDIRECT | flag::UNDEFINED | flag::PROTECTED)
    });
    file.symbol(Symbol::new("llvm.used", flag::FORMAT_SPECIFIC));
    file
}

fn malformed(bytes: &[u8]) -> &'static str {
    match read(bytes) {
        Err(ReadError::Malformed { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_a_symbol_table_says() {
    for version in [3, 4] {
        let bytes = Bitcode { version, ..rich() }.build();
        let file = read(&bytes).unwrap();
        assert_eq!((file.compiler, file.producer, file.major), (Compiler::Llvm, &b"22.1.8"[..], Some(22)));
        assert_eq!((file.triple, file.source), (&b"x86_64-pc-windows-msvc"[..], &b"a.c"[..]));
        assert_eq!(file.directives, [b" /DEFAULTLIB:libcmt.lib"]);
        assert_eq!(file.libraries, [b"m", b"z"]);
        let comdats = [
            Comdat { name: b"group", selection: Selection::Any },
            Comdat { name: b"one", selection: Selection::NoDuplicates },
            Comdat { name: b"big", selection: Selection::Largest },
            Comdat { name: b"same", selection: Selection::SameSize },
            Comdat { name: b"exact", selection: Selection::ExactMatch },
        ];
        assert_eq!(file.comdats, comdats);
        let symbols = [
            IrSymbol { is_global: true, is_function: true, comdat: Some(1), ..plain("main") },
            IrSymbol {
                kind: Kind::Common { size: 40, alignment: 8 },
                is_global: true,
                is_tls: true,
                ..plain("shared")
            },
            IrSymbol {
                kind: Kind::Undefined,
                is_weak: true,
                can_be_omitted: true,
                is_unnamed_addr: true,
                ..plain("puts")
            },
            IrSymbol { is_used: true, visibility: Visibility::Hidden, section: b"mine", ..plain("here") },
            IrSymbol {
                kind: Kind::Undefined,
                is_weak: true,
                is_indirect: true,
                visibility: Visibility::Protected,
                fallback: Some(b"other"),
                ..plain("weak")
            },
            IrSymbol { is_internal: true, ..plain("llvm.used") },
        ];
        assert_eq!(file.symbols, symbols);
    }
}

#[test]
fn commons_of_more_than_4_gib() {
    let mut file = Bitcode { version: 4, ..Bitcode::new("x86_64-linux") };
    file.symbol(Symbol { common: (5 << 32, 64), ..Symbol::new("big", flag::COMMON) });
    let kind = |bytes: &[u8]| read(bytes).unwrap().symbols[0].kind;
    assert_eq!(kind(&file.build()), Kind::Common { size: 5 << 32, alignment: 64 });
    file.version = 3;
    assert_eq!(kind(&file.build()), Kind::Common { size: 0, alignment: 64 });
}

#[test]
fn names_lie_in_the_file() {
    let bytes = rich().build();
    let range = bytes.as_ptr_range();
    let file = read(&bytes).unwrap();
    assert!(file.symbols.iter().all(|symbol| range.contains(&symbol.name.as_ptr())));
    assert!(range.contains(&file.triple.as_ptr()));
}

#[test]
fn a_header_in_front_and_padding_behind() {
    let bytes = Bitcode { has_wrapper: true, ..rich() }.build();
    assert!(is_bitcode(&bytes) && is_bitcode(&bytes[20..]) && !is_bitcode(b"BC"));
    assert_eq!(read(&bytes).unwrap().symbols.len(), 6);
    let short = &bytes[..bytes.len() - 16];
    assert_eq!(malformed(short), "a header in front of less bitcode than it says");
    assert_eq!(malformed(&bytes[..12]), "a header that is cut short");
    // Less than a block at the end is what archivers pad with.
    let padded = [&bytes[20..bytes.len() - 12], b"\n\0\0\0"].concat();
    assert_eq!(read(&padded).unwrap().symbols.len(), 6);
    assert_eq!(malformed(b"\x7fELF\0\0\0\0\0\0\0\0"), "no bitcode");
    // Offsets are those of the file, not of what is behind the header.
    let mut broken = bytes.clone();
    broken[24..28].fill(0);
    let error = read(&broken).unwrap_err();
    assert_eq!(error, ReadError::Malformed { offset: 24, what: "something other than a block" });
}

#[test]
fn modules_with_one_table_and_with_their_own() {
    let mut file = rich();
    file.modules = vec![2, 2, 6];
    assert_eq!(read(&file.build()).unwrap().symbols.len(), 6);
    let mut other = Bitcode::new("ignored");
    other.libraries = vec!["c".to_owned()];
    other.comdat("more", 0).symbol(Symbol { comdat: Some(0), ..Symbol::new("last", 0) });
    let joined = [file.build(), other.build()[4..].to_vec()].concat();
    let joined = read(&joined).unwrap();
    assert_eq!((joined.symbols.len(), joined.triple), (7, &b"x86_64-pc-windows-msvc"[..]));
    assert_eq!((joined.symbols[6].comdat, joined.comdats[5].name), (Some(5), &b"more"[..]));
    assert_eq!(joined.libraries, [b"m", b"z", b"c"]);
    let whole = [file.build(), other.build()].concat();
    assert_eq!(malformed(&whole), "another file of bitcode, as where objects have been joined by -r");
    for wrong in [vec![0, 5], vec![0, 7], vec![4, 3, 6]] {
        let modules = malformed(&Bitcode { modules: wrong, ..rich() }.build());
        assert!(
            ["symbols of no module"].contains(&modules) || modules.starts_with("a module whose"),
            "{modules}"
        );
    }
}

#[test]
fn an_engine_can_be_asked_where_there_is_no_table() {
    let without = Bitcode { has_symtab: false, ..rich() };
    let producer = b"LLVM22.1.8".to_vec();
    assert_eq!(read(&without.build()).unwrap_err(), ReadError::NoSymbolTable { producer: producer.clone() });
    // One of two modules has a table.
    for joined in [[rich(), without.clone()], [without, rich()]] {
        let joined = [joined[0].build(), joined[1].build()[4..].to_vec()].concat();
        let error = read(&joined).unwrap_err();
        assert_eq!(error, ReadError::NoSymbolTable { producer: producer.clone() });
        assert_eq!((error.can_ask_engine(), error.major()), (true, Some(22)));
    }
    for version in [0, 2, 5] {
        let error = read(&Bitcode { version, ..rich() }.build()).unwrap_err();
        assert_eq!(error, ReadError::UnknownVersion { version, producer: producer.clone() });
    }
}

#[test]
fn what_is_malformed() {
    let symbol = |symbol: Symbol| {
        let mut file = Bitcode::new("x86_64-linux");
        malformed(&file.symbol(symbol).build())
    };
    assert_eq!(symbol(Symbol::new("a", flag::HIDDEN | flag::PROTECTED)), "a symbol of unknown visibility");
    assert_eq!(symbol(Symbol::new("a", flag::HAS_UNCOMMON)), "a symbol without its uncommon");
    let grouped = Symbol { comdat: Some(0), ..Symbol::new("a", 0) };
    assert_eq!(symbol(grouped), "a symbol in a COMDAT group that there is not");
    assert_eq!(malformed(&rich().comdat("x", 5).build()), "a COMDAT group of unknown selection");

    let (symtab, strtab) = rich().tables(&[6]);
    let with = |symtab: &[u8], strtab: Option<&[u8]>| {
        let mut bits = Bits::new();
        bits.enter(block::MODULE, 3);
        bits.leave();
        bits.blob(block::SYMTAB, 1, symtab);
        if let Some(strtab) = strtab {
            bits.blob(block::STRTAB, 1, strtab);
        }
        malformed(&bits.finish())
    };
    assert_eq!(with(&symtab, None), "a symbol table without a table of strings");
    assert_eq!(with(&symtab, Some(&strtab[1..])), "a string that is not in the table of strings");
    assert_eq!(with(&symtab[..75], Some(&strtab)), "a symbol table that is shorter than its header");
    assert_eq!(with(&symtab[1..4], Some(&strtab)), "a symbol table that is shorter than its header");
    assert_eq!(with(&symtab[..symtab.len() - 1], Some(&strtab)), "records that are not in the symbol table");
    let word = |at: usize, value: u32| {
        let mut symtab = symtab.clone();
        symtab[at..at + 4].copy_from_slice(&value.to_le_bytes());
        with(&symtab, Some(&strtab))
    };
    assert_eq!(word(32, u32::MAX), "records that are not in the symbol table");
    assert_eq!(word(28, u32::MAX), "records that are not in the symbol table");
    assert_eq!(word(4, u32::MAX), "a string that is not in the table of strings");
    assert_eq!(word(40, 2), "a symbol without its uncommon");
    assert_eq!(word(16, 0), "symbols of no module");
    let mut none = rich();
    none.symbols.retain(|symbol| symbol.section.is_empty());
    let (mut symtab, strtab) = none.tables(&[5]);
    symtab[76 + 12 + 5 * 12 + 24 + 20] &= !(flag::HAS_UNCOMMON as u8);
    assert_eq!(with(&symtab, Some(&strtab)), "an uncommon of no symbol");
}

#[test]
fn modes() {
    let of = |summary| mode(&Bitcode { summary, ..rich() }.build()).unwrap();
    assert_eq!(of(None), Mode::Full);
    assert_eq!(of(Some((block::FULL_SUMMARY, 0))), Mode::Full);
    assert_eq!(of(Some((block::SUMMARY, 9))), Mode::Thin);
    assert_eq!(of(Some((block::SUMMARY, bitcode::UNIFIED))), Mode::Unified);
    let split =
        [rich().build(), Bitcode { summary: Some((block::SUMMARY, 0)), ..rich() }.build()[4..].to_vec()];
    assert_eq!(mode(&split.concat()).unwrap(), Mode::Thin, "a module with a summary behind one without");
    assert!(mode(b"BC\xc0\xde\0\0\0\0\0\0\0\0").is_err());
}

/// Whatever a file has become, it is read in no time, and no more is kept than it has room for.
fn survives(bytes: &[u8]) {
    if let Ok(file) = read(bytes) {
        let rows = file.symbols.len() * 24 + file.comdats.len() * 12 + file.libraries.len() * 8;
        assert!(rows <= bytes.len() * 3);
    }
    let _ = mode(bytes);
}

#[test]
fn damaged_copies() {
    for has_wrapper in [false, true] {
        let bytes = Bitcode { has_wrapper, summary: Some((block::SUMMARY, 9)), ..rich() }.build();
        mutate::truncations(&bytes, 1).for_each(survives);
        (0..20_000).for_each(|seed| survives(&mutate::damage(&bytes, seed)));
    }
}
