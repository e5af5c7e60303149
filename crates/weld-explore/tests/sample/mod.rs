//! A small image for Windows and its PDB, for the tests of the reader and for its fuzz target.

use weld_common::diag::DiagSink;
use weld_common::host::QuietHost;
use weld_common::io::output::{OutputFile, OutputOptions};
use weld_pdb::linker_module::Records;
use weld_pdb::{
    Contribution, Fixup, Identity, Image, Module, OutputSection, Public, Relocate, Sources, Symbols, Types,
};

/// Where the sections `.text` and `.data` are in the file, and how large they are there and in memory.
const TEXT: (u32, u32) = (0x200, 0x200);
const DATA: (u32, u32) = (0x400, 0x80);

/// A symbol record (CodeView): its length, its kind, and what it has, to a multiple of four bytes.
fn record(kind: u16, fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = fields.concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let length = bytes.len() as u16 + 2;
    [&length.to_le_bytes()[..], &kind.to_le_bytes(), &bytes].concat()
}

/// S_LPROC32 and its end.
fn function(name: &str, offset: u32, size: u32) -> Vec<u8> {
    let zeroes = [0u8; 12];
    let place =
        [&size.to_le_bytes()[..], &[0; 12], &offset.to_le_bytes(), &1u16.to_le_bytes(), &[0]].concat();
    [record(0x110f, &[&zeroes, &place, name.as_bytes(), &[0]]), record(6, &[])].concat()
}

struct Nothing;

impl Relocate for Nothing {
    fn fixups(&self, _module: u32, _section: u32, _fixups: &mut Vec<Fixup>) {}
}

/// `.text` has 16 bytes of `a.obj` with `f`, and 32 of a member with `hidden` and something that has no name;
/// `.data` has `v` of `a.obj`, and nobody knows where its end is.
pub fn pdb() -> (Vec<u8>, Identity) {
    let sink = DiagSink::new();
    let types = Types::merge(&[], &[], false, &sink).expect("no types");
    let records = |functions: &[Vec<u8>]| {
        let mut records = Records::new();
        records.object_name(b"name");
        [records.bytes(), &functions.concat()].concat()
    };
    let (a, member) = (records(&[function("f", 0, 12)]), records(&[function("hidden", 16, 20)]));
    let contribution = |module, section, offset, size| {
        let characteristics = 0x6000_0020;
        Contribution { module, section, offset, size, characteristics, crc: 0 }
    };
    let parts = [contribution(0, 1, 0, 16), contribution(1, 1, 16, 32), contribution(0, 2, 0, 24)];
    let modules = [
        Module {
            name: "a.obj",
            file: "a.obj",
            records: &a,
            contribution: Some(parts[0]),
            ..Module::default()
        },
        Module {
            name: "m.obj",
            file: "lib.lib",
            records: &member,
            contribution: Some(parts[1]),
            ..Module::default()
        },
    ];
    let symbols = Symbols::scan(&modules, &types, Sources::default(), false, &sink).expect("symbols");
    let publics = [
        Public { name: b"?f@@YAXXZ", section: 1, offset: 0, flags: Public::FUNCTION },
        Public { name: b"v", section: 2, offset: 0, flags: 0 },
    ];
    let section = |name: &[u8; 8], at: u32, (raw_pointer, raw_size): (u32, u32)| OutputSection {
        name: *name,
        virtual_size: raw_size,
        virtual_address: at,
        raw_size,
        raw_pointer,
        characteristics: 0x6000_0020,
    };
    let sections = [section(b".text\0\0\0", 0x1000, TEXT), section(b".data\0\0\0", 0x2000, DATA)];
    let image = Image {
        machine: 0x8664,
        sections: &sections,
        contributions: &parts,
        publics: &publics,
        guid: Some([7; 16]),
        ..Image::default()
    };
    let pdb = weld_pdb::Pdb::plan(&types, &symbols, &image, false, &sink).expect("a plan");
    let path = std::env::temp_dir().join(format!(
        "weld-explore-{}-{:?}.pdb",
        std::process::id(),
        std::thread::current().id()
    ));
    let (host, options) = (QuietHost::new(), OutputOptions::default());
    let file = OutputFile::create(&path, pdb.file_len(), &options, &host).expect("a file");
    let identity = pdb.write(&file, 1, &Nothing, &sink).expect("it is written");
    file.commit(false).expect("it is there");
    let bytes = std::fs::read(&path).expect("it can be read");
    std::fs::remove_file(&path).expect("it is ours");
    (bytes, identity)
}

/// The image: headers, `.text` with a debug directory at its end, `.data`.
pub fn image(identity: &Identity) -> Vec<u8> {
    let mut file = vec![0u8; 0x480];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    let word = |value: u32| value.to_le_bytes();
    put(0, b"MZ");
    put(0x3c, &word(0x40));
    // The machine, two sections, the size of the optional header.
    put(0x40, b"PE\0\0\x64\x86\x02\0");
    put(0x54, &[240, 0, 0x22, 0]);
    let optional = 0x58;
    put(optional, &[0x0b, 0x02]);
    put(optional + 24, &0x1_4000_0000u64.to_le_bytes());
    [(32, 0x1000), (36, 0x200), (56, 0x3000), (60, 0x200), (108, 16)]
        .iter()
        .for_each(|(at, value)| put(optional + at, &word(*value)));
    let debug = 0x1000 + TEXT.1 - 0x80;
    put(optional + 112 + 6 * 8, &[word(debug), word(28)].concat());
    for (number, name, address, (offset, size)) in [(0, b".text", 0x1000, TEXT), (1, b".data", 0x2000, DATA)]
    {
        let at = optional + 240 + number * 40;
        put(at, name);
        put(at + 8, &[word(size), word(address), word(size), word(offset)].concat());
        put(at + 36, &word(0x6000_0020));
    }
    let record = [b"RSDS", &identity.guid[..], &word(identity.age), b"C:\\out\\x.pdb\0"].concat();
    let at = (TEXT.0 + TEXT.1 - 0x80) as usize;
    let place = [word(2), word(record.len() as u32), word(debug + 28), word(at as u32 + 28)].concat();
    put(at + 12, &place);
    put(at + 28, &record);
    file
}
