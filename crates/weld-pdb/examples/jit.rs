//! Writes a PDB for code that a program makes while it runs, so that debuggers and profilers show its
//! functions and lines.
//!
//!     jit OUTPUT        then: llvm-pdbutil dump -symbols -l OUTPUT
//!
//! The code lies in one section of an image that exists in memory only. Each function is said twice: as a
//! symbol with its lines in a module's `.debug$S` section, and as a public. Addresses are known, so they
//! stand in the records, and there is nothing to relocate.

use std::path::Path;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::host::QuietHost;
use weld_common::io::output::{OutputFile, OutputOptions};
use weld_pdb::linker_module::{LINKER_MODULE, Records};
use weld_pdb::{
    Contribution, Fixup, Identity, Image, Module, OutputSection, Pdb, Public, Relocate, Sources, Symbols,
    Types,
};

/// What the program has compiled.
struct Function {
    name: &'static str,
    /// Bytes from the start of the code.
    offset: u32,
    size: u32,
    /// Offsets in the function and line numbers.
    lines: &'static [(u32, u32)],
}

const FILE: &str = "/scripts/game.lua";
const FUNCTIONS: [Function; 2] = [
    Function { name: "update", offset: 0, size: 32, lines: &[(0, 10), (8, 11), (24, 13)] },
    Function { name: "draw", offset: 32, size: 16, lines: &[(0, 20), (4, 21)] },
];
const TEXT: u16 = 1;

const SYMBOLS: u32 = 0xf1;
const LINES: u32 = 0xf2;
const STRINGS: u32 = 0xf3;
const FILES: u32 = 0xf4;
const S_GPROC32: u16 = 0x1110;
const S_END: u16 = 0x0006;

/// Bytes in CodeView's order.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn half(&mut self, value: u16) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn word(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend(text.as_bytes());
        self.0.push(0);
        self
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// A part of `.debug$S`.
    fn part(&mut self, kind: u32, contents: &Bytes) {
        self.word(kind).word(contents.0.len() as u32).0.extend(&contents.0);
        self.align();
    }

    /// A symbol record.
    fn record(&mut self, kind: u16, contents: &Bytes) {
        let padding = contents.0.len().next_multiple_of(4) - contents.0.len();
        self.half((2 + contents.0.len() + padding) as u16).half(kind).0.extend(&contents.0);
        self.0.extend(&[0; 4][..padding]);
    }
}

/// `.debug$S` of all functions.
fn debug_section() -> Vec<u8> {
    let mut section = Bytes::default();
    section.word(4);
    for function in &FUNCTIONS {
        let mut symbols = Bytes::default();
        let mut procedure = Bytes::default();
        // Where the scope's ends are is filled in by weld-pdb; the function has no type.
        procedure.word(0).word(0).word(0).word(function.size).word(0).word(function.size).word(0);
        procedure.word(function.offset).half(TEXT).0.push(0);
        procedure.text(function.name);
        symbols.record(S_GPROC32, &procedure);
        symbols.record(S_END, &Bytes::default());
        section.part(SYMBOLS, &symbols);
        let mut lines = Bytes::default();
        lines.word(function.offset).half(TEXT).half(0).word(function.size);
        // One block, of the first of the files.
        lines.word(0).word(function.lines.len() as u32).word(12 + 8 * function.lines.len() as u32);
        for (offset, line) in function.lines {
            const STATEMENT: u32 = 1 << 31;
            lines.word(*offset).word(*line | STATEMENT);
        }
        section.part(LINES, &lines);
    }
    let mut strings = Bytes::default();
    strings.text("").text(FILE);
    section.part(STRINGS, &strings);
    let mut files = Bytes::default();
    // The name's place, and no checksum.
    files.word(1).word(0);
    section.part(FILES, &files);
    section.0
}

/// Addresses stand in the records.
struct Nothing;

impl Relocate for Nothing {
    fn fixups(&self, _module: u32, _section: u32, _fixups: &mut Vec<Fixup>) {}
}

/// Writes the PDB; by its identity the image in memory names it.
pub fn write(path: &Path) -> Result<Identity, Diagnostic> {
    let sink = DiagSink::new();
    let types = Types::merge(&[], &[], false, &sink)?;
    let code = FUNCTIONS.iter().map(|function| function.offset + function.size).max().unwrap_or(0);
    let section = debug_section();
    let sections = [&section[..]];
    let place = Contribution { module: 0, section: TEXT, offset: 0, size: code, ..Default::default() };
    let mut linker = Records::new();
    linker.object_name(LINKER_MODULE.as_bytes());
    linker.compiler(0x8664, "a JIT");
    let modules = [
        Module {
            name: "game",
            file: "game",
            sections: &sections,
            contribution: Some(place),
            ..Default::default()
        },
        Module { name: LINKER_MODULE, records: linker.bytes(), ..Default::default() },
    ];
    let symbols = Symbols::scan(&modules, &types, Sources::default(), false, &sink)?;
    let publics = FUNCTIONS.map(|function| Public {
        name: function.name.as_bytes(),
        offset: function.offset,
        section: TEXT,
        flags: Public::CODE | Public::FUNCTION,
    });
    let text = OutputSection {
        name: *b".text\0\0\0",
        virtual_size: code,
        virtual_address: 4096,
        characteristics: 0x6000_0020,
        ..Default::default()
    };
    let image = Image {
        machine: 0x8664,
        sections: &[text],
        contributions: &[place],
        publics: &publics,
        ..Default::default()
    };
    let pdb = Pdb::plan(&types, &symbols, &image, false, &sink)?;
    let host = QuietHost::new();
    let file = OutputFile::create(path, pdb.file_len(), &OutputOptions::default(), &host)?;
    let identity = pdb.write(&file, 1, &Nothing, &sink)?;
    file.commit(false)?;
    assert!(sink.finish().is_empty(), "nothing is left out");
    Ok(identity)
}

#[allow(dead_code)]
fn main() {
    let path = std::env::args_os().nth(1).expect("usage: jit OUTPUT");
    match write(path.as_ref()) {
        Ok(identity) => println!("{:02x?}, age {}", identity.guid, identity.age),
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(1);
        }
    }
}
