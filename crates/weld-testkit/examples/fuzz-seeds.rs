//! Writes the binary seeds of the fuzz targets: `fuzz-seeds DIR` makes `DIR/TARGET/NAME`. Those that
//! are text lie in `fuzz/seeds`. `fuzz/run` calls this.

use std::path::Path;

use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::dso::{Dso, DynSymbol};
use weld_testkit::elf::*;
use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, RelocFormat, Section, Symbol};

type Seed = (&'static str, Vec<u8>);

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).unwrap_or_else(|| "fuzz/corpus".into());
    let write = |target: &str, seeds: Vec<Seed>| -> std::io::Result<()> {
        let dir = Path::new(&dir).join(target);
        std::fs::create_dir_all(&dir)?;
        seeds.into_iter().try_for_each(|(name, bytes)| std::fs::write(dir.join(name), bytes))
    };
    // The last byte of a linked file selects options of the link.
    let with_options = |seeds: Vec<Seed>| -> Vec<Seed> {
        let bytes = [0u8, 1, 2, 3, 0x15, 0x7e].into_iter().cycle();
        seeds
            .into_iter()
            .zip(bytes)
            .map(|((name, data), byte)| (name, [&data[..], &[byte]].concat()))
            .collect()
    };
    write("object", with_options(objects()))?;
    write("archive", with_options(archives()))?;
    write("shared", with_options(shared()))?;
    write("link", choices())?;
    write("eh_frame", vec![("one", [&[1, 0x1c + 4][..], &EH_FRAME].concat())])?;
    write("sframe", vec![("two", [&[0, 1, 28][..], &SFRAME].concat())])?;
    write("pdb", codeview())?;
    write("coff_link", coff_files())?;
    write("crel", vec![("three", vec![0x1c, 0x0f, 1, 2, 0x7c, 0x10, 0x25, 4])])?;
    write("property_note", vec![("ibt", PROPERTY.to_vec())])?;
    write("compressed", compressed())?;
    write("bitcode", bitcode())?;
    write("gcc_lto", vec![("two", GCC_LTO.to_vec())])?;
    write("merge", vec![("strings", [&[1, 0, 0, 1, 1, 1, 9, 15][..], b"one\0two\0one\0wo\0"].concat())])
}

/// A file of bitcode, and its tables alone.
fn bitcode() -> Vec<Seed> {
    use weld_testkit::bitcode::*;
    let mut file = Bitcode::new("x86_64-pc-windows-msvc");
    file.directives = " /DEFAULTLIB:none".to_owned();
    file.libraries = vec!["m".to_owned()];
    file.comdat("group", 0).comdat("large", 2);
    file.symbol(Symbol { comdat: Some(1), ..Symbol::new("main", flag::GLOBAL | flag::EXECUTABLE) });
    file.symbol(Symbol { common: (40, 8), ..Symbol::new("common", flag::GLOBAL | flag::COMMON) });
    file.symbol(Symbol { section: "mine".to_owned(), ..Symbol::new("data", flag::GLOBAL | flag::TLS) });
    file.symbol(Symbol { fallback: "main".to_owned(), ..Symbol::new("weak", flag::WEAK | flag::INDIRECT) });
    file.summary = Some((block::SUMMARY, UNIFIED));
    file.modules = vec![2, 4];
    let tables = |version| {
        let (symtab, strtab) = Bitcode { version, ..file.clone() }.tables(&file.modules);
        [&[1][..], &(symtab.len() as u16).to_le_bytes(), &symtab, &strtab].concat()
    };
    let wrapped = Bitcode { has_wrapper: true, ..file.clone() };
    let whole = [&[0][..], &file.build()[4..]].concat();
    vec![
        ("whole", whole),
        ("wrapped", [vec![0], wrapped.build()].concat()),
        ("3", tables(3)),
        ("4", tables(4)),
    ]
}

/// Sections of GCC: two symbols, one in a COMDAT group; what the extension says of them; the format.
const GCC_LTO: &[u8] =
    b"\0f\0g\0\x01\x03\x08\0\0\0\0\0\0\0\x01\0\0\0c\0\0\x04\0\x04\0\0\0\0\0\0\0\x02\0\0\0\xfe\xfe\
\x01\x01\x01\0\x02\x01\xfe\xfe\x02\x0c\0\0\0\x01\0\x01\0";

/// Objects for Windows, plain and large, and a library of one, with the options of the link before them.
fn coff_files() -> Vec<Seed> {
    use weld_testkit::coff::*;
    let object = |big: bool| {
        let mut object = Coff::new(AMD64);
        if big {
            object = object.big();
        }
        let text = object.section(".text", CODE, &[0xe8, 0, 0, 0, 0, 0x48, 0x8d, 5, 0, 0, 0, 0, 0xc3]);
        let inline = object.section(".text$inline", CODE | COMDAT, &[0xc3; 9]);
        let pdata = object.section(".pdata", READ_ONLY | COMDAT, &[0; 12]);
        let data = object.section(".data", DATA, &[0; 24]);
        let bss = object.zeroes(".bss", 0, 64);
        let large = object.section(".rdata$large", READ_ONLY | COMDAT, &[1; 8]);
        object.section(
            ".drectve",
            0x0a00,
            b" /EXPORT:wanted /include:inline /DEFAULTLIB:none /merge:.x=.data",
        );
        object.section_symbol(inline, ANY, 0);
        let callee = object.symbol("inline", 0, inline, EXTERNAL);
        object.section_symbol(pdata, ASSOCIATIVE, inline);
        object.section_symbol(large, LARGEST, 0);
        object.symbol("large_constant", 0, large, EXTERNAL);
        let zeroes = object.symbol("zeroes", 8, bss, STATIC);
        object.symbol("wanted", 0, text, EXTERNAL);
        object.symbol("common", 100, 0, EXTERNAL);
        object.symbol("absolute", 5, -1, EXTERNAL);
        let weak = object.weak("weak", callee);
        object.reloc(text, 1, callee, REL32);
        object.reloc(text, 8, zeroes, REL32);
        object.reloc(pdata, 0, callee, ADDR32NB);
        object.reloc(data, 0, weak, ADDR64);
        object.reloc(data, 16, zeroes, SECTION);
        object.reloc(data, 20, zeroes, SECREL);
        object.build()
    };
    let library = Archive::new(ArchiveKind::Gnu).member("wanted.obj", &object(false), &["wanted", "inline"]);
    let files = [object(false), object(true), library.build()];
    let named = ["object", "large", "library"].into_iter().zip(files);
    named
        .zip([2u8, 0x15, 4])
        .map(|((name, file), options)| (name, [&[options], &file[..]].concat()))
        .collect()
}

/// Sections of two objects, with what each is and its length before it, and without its signature.
fn codeview() -> Vec<Seed> {
    use weld_testkit::codeview::{Body, INT, Section, Symbols, Types};
    let mut types = Types::new();
    let forward = types.forward("S");
    let pointer = types.pointer(forward);
    let fields = types.fields(&[("a", INT), ("next", pointer)]);
    let class = types.structure("S", fields, 2);
    let arguments = types.arguments(&[pointer, INT]);
    let procedure = types.procedure(INT, arguments);
    let function = types.function_id(procedure, "f");
    let mut symbols = Symbols::new();
    symbols.udt("S", class);
    symbols.constant("K", INT, 7);
    symbols.data("global", class);
    symbols.procedure("f", function, 16);
    symbols.record(0x113e, Body::new().u32(INT).u16(1).text("local"));
    symbols.end_procedure();
    let mut section = Section::new();
    section.subsection(0xf1, &symbols.0);
    section.files(&["a.cpp", "c:\\b.h"]);
    section.lines(1, 16, &[(0, 10), (4, 11)]);
    let chunk = |what: u8, bytes: &[u8]| {
        let contents = &bytes[4..];
        [&[what], &(contents.len() as u16).to_le_bytes()[..], contents].concat()
    };
    let object = [chunk(0, &types.finish()), chunk(2, &section.0)].concat();
    let again = [&[object[0] | 4], &object[1..]].concat();
    vec![("one", object.clone()), ("two", [object, again].concat())]
}

/// A CIE with `zR` and an FDE.
const EH_FRAME: [u8; 56] = [
    0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0x7a, 0x52, 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0, //
    0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    0, 0, 0, 0, 0, 0, 0, 0,
];

/// A table of version 2 with a function of two rows.
const SFRAME: [u8; 55] = [
    0xe2, 0xde, 2, 4, 3, 0, 0xf8, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, //
    0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, //
    0, 3, 8, 4, 5, 16, 0xf0,
];

/// IBT and SHSTK.
const PROPERTY: [u8; 32] = [
    4, 0, 0, 0, 0x10, 0, 0, 0, 5, 0, 0, 0, 0x47, 0x4e, 0x55, 0, //
    2, 0, 0, 0xc0, 4, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
];

fn objects() -> Vec<Seed> {
    vec![
        ("code", code().build()),
        ("data", data().build()),
        ("tls", tls().build()),
        ("comdat", comdat().build()),
        ("crel", code().reloc_format(RelocFormat::Crel).build()),
        ("frames", frames().build()),
    ]
}

fn code() -> Obj {
    let mut o = Obj::new();
    let bytes = [0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0xc3];
    let text = o.section(Section::text(".text").bytes(&bytes).align(16));
    let helper = o.symbol(Symbol::undefined("helper"));
    let value = o.symbol(Symbol::undefined("shared_name"));
    o.symbol(Symbol::global("f").function().at(text, 0).size(19));
    o.symbol(Symbol::local("inner").function().at(text, 18));
    o.reloc(text, 1, R_X86_64_PLT32, helper, -4);
    o.reloc(text, 8, R_X86_64_REX_GOTPCRELX, value, -4);
    o.reloc(text, 14, R_X86_64_GOTPCRELX, helper, -4);
    o
}

fn data() -> Obj {
    let mut o = Obj::new();
    let data = o.section(Section::data(".data").bytes(&[0; 24]).align(8));
    let strings = o.section(Section::strings(".rodata.str1.1", 1).bytes(b"one\0two\0one\0"));
    let constants = o.section(Section::constants(".rodata.cst8", 8).bytes(&[7; 24]));
    o.section(Section::bss(".bss", 100).align(32));
    o.section(Section::rodata("cname").bytes(&[0; 8]));
    let array = o.section(Section::data(".init_array.5").sh_type(SHT_INIT_ARRAY).bytes(&[0; 8]).align(8));
    let string = o.section_symbol(strings);
    let constant = o.symbol(Symbol::local("constant").at(constants, 8));
    let start = o.symbol(Symbol::undefined("__start_cname"));
    let v = o.symbol(Symbol::global("v").object().at(data, 0).size(24));
    o.symbol(Symbol::common("common", 16, 16));
    o.symbol(Symbol::absolute("absolute", 0x1234));
    o.reloc(data, 0, R_X86_64_64, string, 4);
    o.reloc(data, 8, R_X86_64_64, constant, 0);
    o.reloc(data, 16, R_X86_64_64, start, 0);
    o.reloc(array, 0, R_X86_64_64, v, 0);
    o
}

fn tls() -> Obj {
    let mut o = Obj::new();
    let bytes = [0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0];
    let text = o.section(Section::text(".text").bytes(&bytes));
    let tdata = o.section(Section::data(".tdata").flags(SHF_TLS).bytes(&[1; 8]).align(8));
    o.section(Section::bss(".tbss", 40).flags(SHF_TLS));
    let variable = o.symbol(Symbol::global("v").tls().at(tdata, 0).size(8));
    let get_addr = o.symbol(Symbol::undefined("__tls_get_addr"));
    o.reloc(text, 4, R_X86_64_TLSGD, variable, -4);
    o.reloc(text, 12, R_X86_64_PLT32, get_addr, -4);
    o
}

fn comdat() -> Obj {
    let mut o = Obj::new();
    let first = o.section(Section::text(".text.f").bytes(&[0xc3]));
    let second = o.section(Section::rodata(".rodata.f").bytes(&[1, 2, 3, 4]));
    let metadata = o.section(Section::rodata("meta").bytes(&[0; 4]).link_order(first));
    let f = o.symbol(Symbol::weak("f").function().at(first, 0).size(1));
    o.comdat(f, &[first, second]);
    o.reloc(metadata, 0, R_X86_64_PC32, f, 0);
    o
}

fn frames() -> Obj {
    let mut o = Obj::new();
    let text = o.section(Section::text(".text").bytes(&[0x90; 16]));
    let eh = o.section(Section::rodata(".eh_frame").bytes(&EH_FRAME).align(8));
    o.section(Section::rodata(".note.gnu.property").sh_type(SHT_NOTE).bytes(&PROPERTY).align(8));
    o.section(Section::debug(".note.GNU-stack"));
    let debug = o.section(Section::debug(".debug_info").bytes(&[0; 16]));
    let code = o.section_symbol(text);
    o.symbol(Symbol::global("f").function().at(text, 0).size(16));
    o.reloc(eh, 0x18 + 8, R_X86_64_PC32, code, 0);
    o.reloc(debug, 8, R_X86_64_64, code, 0);
    o
}

fn archives() -> Vec<Seed> {
    let make = |kind| Archive::new(kind).object("code.o", &code()).object("a-rather-long-name.o", &data());
    vec![
        ("gnu", make(ArchiveKind::Gnu).build()),
        ("gnu64", make(ArchiveKind::Gnu64).build()),
        ("bsd", make(ArchiveKind::Bsd).build()),
        ("plain", make(ArchiveKind::Gnu).without_index().build()),
        ("thin", make(ArchiveKind::Thin).build()),
    ]
}

fn shared() -> Vec<Seed> {
    let plain = Dso::new("libx.so").symbol(DynSymbol::function("f")).symbol(DynSymbol::object("v", 8));
    let versions = Dso::new("libx.so.1")
        .needed("libc.so.6")
        .symbol(DynSymbol::function("f").version("V1"))
        .symbol(DynSymbol::function("f").hidden_version("V0"))
        .symbol(DynSymbol::object("v", 8).version("V2"))
        .symbol(DynSymbol::undefined("helper"));
    vec![("plain", plain.build()), ("versions", versions.build())]
}

/// Bytes that the target makes objects of; there are no wrong ones.
fn choices() -> Vec<Seed> {
    ["1", "2", "3", "4", "5", "6", "7", "8"]
        .into_iter()
        .enumerate()
        .map(|(i, name)| {
            let mut rng = Rng::new(i as u64 + 1);
            (name, (0..200 + 50 * i).map(|_| rng.number() as u8).collect())
        })
        .collect()
}

/// Headers with stored (zlib) and raw (zstd) blocks of "hello".
fn compressed() -> Vec<Seed> {
    let header = |kind: u8| [kind, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    let zlib = b"\x78\x01\x01\x05\x00\xfa\xffhello\x06\x2c\x02\x15";
    let zstd = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
    vec![("zlib", [&header(1)[..], zlib].concat()), ("zstd", [&header(2)[..], zstd].concat())]
}
