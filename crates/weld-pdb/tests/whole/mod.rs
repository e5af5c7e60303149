//! Whole PDBs of what is said to be CodeView, and whether they hold together: for hostile input.

#![allow(dead_code)]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::host::QuietHost;
use weld_common::io::output::{OutputFile, OutputOptions};
use weld_pdb::codeview::{Space, leaf, records::Record, subsection::Subsections, symbol};
use weld_pdb::linker_module::{LINKER_MODULE, Records};
use weld_pdb::msf::read::Msf;
use weld_pdb::{
    Fixup, Image, Module, ObjectTypes, OutputSection, Pdb, Public, Relocate, Sources, Symbols, Types,
};

/// An object's sections.
#[derive(Clone, Default)]
pub struct Object {
    pub types: Vec<u8>,
    pub precompiled: Vec<u8>,
    pub sections: Vec<Vec<u8>>,
}

/// Fixups everywhere, some of which do not fit. Asked for symbols and for frames of functions.
struct Everywhere<'o> {
    objects: &'o [Object],
    asked: Mutex<HashMap<(u32, u32), u32>>,
}

impl Relocate for Everywhere<'_> {
    fn fixups(&self, module: u32, section: u32, fixups: &mut Vec<Fixup>) {
        let mut asked = self.asked.lock().unwrap();
        let times = asked.entry((module, section)).or_default();
        *times += 1;
        assert!(*times <= 2, "asked again for the fixups of section {section} of module {module}");
        let Some(object) = self.objects.get(module as usize) else { return };
        let len = object.sections[section as usize].len();
        let sizes = [4, 2, 8, 4, 1];
        let fixup = |(i, at): (usize, usize)| Fixup { offset: at as u32, size: sizes[i % 5], value: 0 };
        fixups.extend((0..len + 8).step_by(13).enumerate().map(fixup));
    }
}

/// Writes a PDB with these modules to `path`; what was said of them.
pub fn write(objects: &[Object], path: &Path) -> Result<Vec<Diagnostic>, Diagnostic> {
    let sink = DiagSink::new();
    let names: Vec<String> = (0..objects.len()).map(|i| format!("{i}.obj")).collect();
    let parts = objects.iter().zip(&names);
    let types: Vec<ObjectTypes<'_>> = parts
        .clone()
        .map(|(object, name)| ObjectTypes {
            name,
            types: &object.types,
            precompiled: &object.precompiled,
            server: None,
        })
        .collect();
    let types = Types::merge(&types, &[], false, &sink)?;
    let sections: Vec<Vec<&[u8]>> =
        objects.iter().map(|object| object.sections.iter().map(|section| &section[..]).collect()).collect();
    let module = |(i, (_, name)): (usize, (&_, &'_ String))| Module {
        name: names[i].as_str(),
        file: if name.is_empty() { "" } else { &names[i] },
        types: Some(i as u32),
        sections: &sections[i],
        ..Module::default()
    };
    let mut modules: Vec<Module<'_>> = parts.enumerate().map(module).collect();
    let mut records = Records::new();
    records.object_name(LINKER_MODULE.as_bytes());
    records.thunk(b"imported", 1, 8, 6);
    modules.push(Module { name: LINKER_MODULE, records: records.bytes(), ..Module::default() });
    let symbols =
        Symbols::scan(&modules, &types, Sources { root: b"c:\\root", ..Default::default() }, false, &sink)?;
    let text = OutputSection { virtual_size: 4096, virtual_address: 4096, ..OutputSection::default() };
    let public = |name| Public { name, offset: 0, section: 1, flags: 0 };
    let publics = [public(b"main"), public("gr\u{fc}n".as_bytes()), public(b"")];
    let image = Image { machine: 0x8664, sections: &[text], publics: &publics, ..Image::default() };
    let pdb = Pdb::plan(&types, &symbols, &image, false, &sink)?;
    let host = QuietHost::new();
    let file = OutputFile::create(path, pdb.file_len(), &OutputOptions::default(), &host)?;
    pdb.write(&file, 1, &Everywhere { objects, asked: Mutex::default() }, &sink)?;
    file.commit(false)?;
    Ok(sink.finish())
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// Panics if a file that weld wrote does not hold together.
pub fn verify(file: &[u8]) {
    let msf = Msf::parse(file).unwrap();
    let (tpi, ipi, dbi) = (msf.stream(2).unwrap(), msf.stream(4).unwrap(), msf.stream(3).unwrap());
    let counts = [&tpi, &ipi].map(|stream| (word(stream, 12) - word(stream, 8)) as u32);
    types(&tpi, Space::Type, counts);
    types(&ipi, Space::Id, counts);
    let records = msf.stream(half(&dbi, 20)).unwrap();
    modules(&msf, &dbi, counts);
    let publics = msf.stream(half(&dbi, 16)).unwrap();
    let table = word(&publics, 0);
    names(&msf.stream(half(&dbi, 12)).unwrap(), &records);
    names(&publics[28..28 + table], &records);
    let addresses = &publics[28 + table..];
    assert_eq!(addresses.len(), word(&publics, 4));
    assert!(addresses.chunks(4).all(|place| half(&records, word(place, 0) + 2) == 0x110e));
}

/// Records refer to records before them, and are as long as they say.
fn types(stream: &[u8], space: Space, counts: [u32; 2]) {
    let records = &stream[56..];
    assert_eq!(records.len(), word(stream, 16));
    let (mut at, mut number) = (0, 0x1000);
    while at < records.len() {
        let record = Record::at(records, at).unwrap();
        assert!(leaf::space(record.kind) == space && record.bytes.len().is_multiple_of(4));
        leaf::each_ref(record.kind, record.body(), |place, to| {
            let index = word(record.body(), place) as u32;
            let end = if to == space { number } else { 0x1000 + counts[to as usize] };
            assert!(index < end, "{index:#x} in {number:#x}");
            Ok(())
        })
        .unwrap();
        at += record.bytes.len();
        number += 1;
    }
    assert_eq!(number - 0x1000, counts[space as usize]);
}

fn modules(msf: &Msf<'_>, dbi: &[u8], counts: [u32; 2]) {
    let list = &dbi[64..64 + word(dbi, 24)];
    let mut at = 0;
    while at < list.len() {
        let (stream, symbols, c13) = (half(list, at + 34), word(list, at + 36), word(list, at + 44));
        let strings = (0..2).fold(at + 64, |at, _| at + list[at..].iter().position(|&b| b == 0).unwrap() + 1);
        at = strings.next_multiple_of(4);
        if stream == 0xffff {
            assert_eq!(symbols + c13, 0);
            continue;
        }
        let bytes = msf.stream(stream).unwrap();
        assert_eq!((bytes.len(), word(&bytes, 0)), (symbols + c13 + 4, 4));
        scopes(&bytes[..symbols], counts);
        // The parts after the symbols look like a section without its signature.
        let parts = [&4u32.to_le_bytes()[..], &bytes[symbols..symbols + c13]].concat();
        assert!(Subsections::new(&parts).unwrap().all(|part| part.is_ok()));
    }
}

/// Each scope says where it ends and what it is in.
fn scopes(symbols: &[u8], counts: [u32; 2]) {
    let mut open: Vec<usize> = Vec::new();
    let mut at = 4;
    while at < symbols.len() {
        let record = Record::at(symbols, at).unwrap();
        let traits = symbol::traits_of(record.kind).unwrap();
        symbol::each_ref(traits, record.body(), |place, to| {
            assert!((word(record.body(), place) as u32) < 0x1000 + counts[to as usize]);
            Ok(())
        })
        .unwrap();
        match traits.scope {
            symbol::Scope::None => {}
            symbol::Scope::Opens => {
                assert_eq!(word(record.body(), 0), open.last().copied().unwrap_or(0));
                open.push(at);
            }
            symbol::Scope::Closes => assert_eq!(word(symbols, open.pop().unwrap() + 8), at),
        }
        at += record.bytes.len();
    }
    assert!(open.is_empty());
}

/// Items are in the buckets of the names of their records.
fn names(table: &[u8], records: &[u8]) {
    let items = word(table, 8) / 8;
    let index = 16 + 8 * items;
    let starts = &table[index + 4 * 129..];
    let full: Vec<usize> =
        (0..4096).filter(|&i| word(table, index + i / 32 * 4) >> (i % 32) & 1 == 1).collect();
    assert_eq!(full.len() * 4, starts.len());
    for (i, &bucket) in full.iter().enumerate() {
        let range =
            word(starts, 4 * i) / 12..if i + 1 < full.len() { word(starts, 4 * i + 4) / 12 } else { items };
        assert!(!range.is_empty());
        for item in range {
            let record = Record::at(records, word(table, 16 + 8 * item) - 1).unwrap();
            let name = symbol::name_place(record.kind, record.body()).unwrap();
            let name = record.body()[name..].split(|&b| b == 0).next().unwrap();
            assert_eq!(hash(name) % 4096, bucket);
        }
    }
}

/// The format's hash of a name, by bytes.
fn hash(name: &[u8]) -> usize {
    let whole = name.len() / 4 * 4;
    let mut hash = 0u32;
    for (i, &byte) in name.iter().enumerate() {
        let place = if i < whole || name.len() % 4 >= 2 && i < whole + 2 {
            i % if i < whole { 4 } else { 2 }
        } else {
            0
        };
        hash ^= u32::from(byte) << (8 * place);
    }
    hash |= 0x2020_2020;
    hash ^= hash >> 11;
    (hash ^ hash >> 16) as usize
}
