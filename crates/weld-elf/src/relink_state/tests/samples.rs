//! A small program with something of everything: COMDAT groups, merged strings and constants, thread-local
//! and common symbols, slots of global and local symbols, an archive, a shared object, dead code.

use std::ffi::OsString;

use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::dso::{Dso, DynSymbol};
use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::Dir;

/// What is different about it.
#[derive(Default)]
pub struct Sample {
    /// One more object, after the others.
    pub more_at_end: bool,
    /// In the middle, `b.o` has one more section, symbol and string, before its others.
    pub more_inside: bool,
    /// The archive has its members in another order.
    pub reordered: bool,
}

impl Sample {
    /// Writes its files. Returns the arguments that link it.
    pub fn write(&self, dir: &Dir) -> Vec<OsString> {
        let mut args: Vec<OsString> = ["-o".into(), dir.path().join("out").into()].to_vec();
        args.extend(["--gc-sections", "--eh-frame-hdr", "--dynamic-linker=/loader"].map(OsString::from));
        args.push(dir.write("a.o", &a()).into());
        args.push(dir.write("b.o", &b(self.more_inside)).into());
        args.push(dir.write("lib.a", &archive(self.reordered)).into());
        let dso = Dso::new("lib.so")
            .symbol(DynSymbol::function("imported"))
            .symbol(DynSymbol::object("variable", 8));
        args.push(dir.write("lib.so", &dso.build()).into());
        if self.more_at_end {
            args.push(dir.write("more.o", &member("another", b"another string\0")).into());
            args.extend(["-u", "another"].map(OsString::from));
        }
        args
    }
}

fn a() -> Vec<u8> {
    let mut obj = Obj::new();
    // Room for as many 8-byte pieces of code with a 4-byte field at 3.
    let code = [[0x48, 0x8b, 5, 0, 0, 0, 0, 0x90]; 12];
    let text = obj.section(Section::text(".text._start").bytes(code.as_flattened()).align(16));
    let local = obj.section(Section::text(".text.local").bytes(&[0xc3; 5]));
    let dead = obj.section(Section::text(".text.dead").bytes(&[0x90; 40]));
    let inline = obj.section(Section::text(".text.inline").bytes(&[0xe8, 0, 0, 0, 0, 0xc3]));
    let data = obj.section(Section::data(".data").bytes(&[0; 32]).align(8));
    let strings = obj.section(Section::strings(".rodata.str1.1", 1).bytes(b"both\0only a\0tail\0"));
    let numbers = obj.section(Section::constants(".rodata.cst8", 8).bytes(&[7; 16]));
    let debug = obj.section(Section::debug(".debug_info").bytes(&[0; 48]));
    let debug_strings = obj.section(
        Section::new(".debug_str", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS).entsize(1).bytes(b"name\0x\0"),
    );
    let [strings, numbers, debug_strings, own_data] =
        [strings, numbers, debug_strings, data].map(|section| obj.section_symbol(section));
    let local = obj.symbol(Symbol::local("local").function().at(local, 0));
    let dead = obj.symbol(Symbol::global("dead").function().at(dead, 0).size(40));
    let start = obj.symbol(Symbol::global("_start").function().at(text, 0).size(96));
    let group = obj.symbol(Symbol::weak("inline").function().at(inline, 0).size(6));
    let common = obj.symbol(Symbol::common("common", 24, 8));
    let names = ["callee", "imported", "variable", "wanted", "thread"];
    let [callee, imported, variable, wanted, thread] = names.map(|name| obj.symbol(Symbol::undefined(name)));
    let missing = obj.symbol(Symbol::weak_undefined("missing"));
    obj.comdat(group, &[inline]);
    obj.reloc(inline, 1, R_X86_64_PLT32, callee, -4);
    for (i, (kind, symbol, addend)) in [
        (R_X86_64_PLT32, callee, -4),
        (R_X86_64_PLT32, imported, -4),
        (R_X86_64_GOTPCREL, variable, -4),
        (R_X86_64_REX_GOTPCRELX, wanted, -4),
        (R_X86_64_GOTTPOFF, thread, -4),
        (R_X86_64_PC32, strings, 5 - 4),
        (R_X86_64_PC32, numbers, 8 - 4),
        (R_X86_64_PC32, common, 4),
        (R_X86_64_PLT32, group, -4),
        (R_X86_64_GOTPCREL, local, -4),
        (R_X86_64_GOTPCREL, missing, -4),
    ]
    .into_iter()
    .enumerate()
    {
        obj.reloc(text, 8 * i as u64 + 3, kind, symbol, addend);
    }
    obj.reloc(text, 8 * 11 + 3, R_X86_64_PC32, own_data, -4);
    obj.reloc(data, 0, R_X86_64_64, start, 4);
    obj.reloc(data, 8, R_X86_64_64, imported, 0);
    obj.reloc(data, 16, R_X86_64_64, strings, 12);
    for (offset, kind, symbol, addend) in [
        (0, R_X86_64_64, start, 0),
        (8, R_X86_64_64, dead, 0),
        (16, R_X86_64_32, debug_strings, 5),
        (24, R_X86_64_DTPOFF64, thread, 0),
        (32, R_X86_64_64, local, 2),
    ] {
        obj.reloc(debug, offset, kind, symbol, addend);
    }
    obj.build()
}

fn b(more: bool) -> Vec<u8> {
    let mut obj = Obj::new();
    if more {
        let extra = obj.section(Section::text(".text.extra").bytes(&[0xc3; 24]).flags(SHF_GNU_RETAIN));
        obj.symbol(Symbol::local("extra").at(extra, 0));
        obj.symbol(Symbol::global("extra_global").function().at(extra, 0));
    }
    let text =
        obj.section(Section::text(".text.callee").bytes(&[0xe8, 0, 0, 0, 0, 0x48, 0x8d, 5, 0, 0, 0, 0]));
    let inline = obj.section(Section::text(".text.inline").bytes(&[0x90; 6]));
    let only_here = obj.section(Section::text(".text.only_here").bytes(&[0xc3; 3]));
    let string = if more { &b"one more\0both\0only b\0"[..] } else { b"both\0only b\0" };
    let strings = obj.section(Section::strings(".rodata.str1.1", 1).bytes(string));
    let numbers = obj.section(Section::constants(".rodata.cst8", 8).bytes(&[7; 8]));
    let tls = obj.section(Section::data(".tdata").bytes(&[1; 16]).flags(SHF_TLS).align(8));
    let [strings, numbers] = [strings, numbers].map(|section| obj.section_symbol(section));
    obj.symbol(Symbol::global("callee").function().at(text, 0).size(12));
    obj.symbol(Symbol::global("thread").tls().at(tls, 8).size(8));
    let group = obj.symbol(Symbol::weak("inline").function().at(inline, 0).size(6));
    let only_here = (only_here, obj.symbol(Symbol::weak("only_here").function().at(only_here, 0)));
    obj.symbol(Symbol::common("common", 40, 16));
    obj.comdat(group, &[inline]);
    obj.comdat(only_here.1, &[only_here.0]);
    obj.reloc(text, 1, R_X86_64_PLT32, only_here.1, -4);
    obj.reloc(text, 8, R_X86_64_PC32, strings, string.len() as i64 - 7 - 4);
    let data = obj.section(Section::data(".data.callee").bytes(&[0; 8]).flags(SHF_GNU_RETAIN));
    obj.reloc(data, 0, R_X86_64_64, numbers, 0);
    obj.build()
}

fn archive(reordered: bool) -> Vec<u8> {
    let member_bytes = [
        ("wanted.o", member("wanted", b"both\0"), "wanted"),
        ("unwanted.o", member("unwanted", b"nobody reads it\0"), "unwanted"),
        ("too.o", member("wanted_too", b"too\0"), "wanted_too"),
    ];
    let mut order = vec![0, 1, 2];
    if reordered {
        order.reverse();
    }
    let add = |archive: Archive, i: usize| {
        let (name, bytes, symbol) = &member_bytes[i];
        archive.member(name, bytes, &[symbol])
    };
    order.into_iter().fold(Archive::new(ArchiveKind::Gnu), add).build()
}

/// A function that loads the address of a string; `wanted` calls another one.
fn member(name: &str, string: &[u8]) -> Vec<u8> {
    let mut obj = Obj::new();
    let code = [0x48, 0x8d, 5, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0];
    let text = obj.section(Section::text(format!(".text.{name}")).bytes(&code));
    let strings = obj.section(Section::strings(".rodata.str1.1", 1).bytes(string));
    let strings = obj.symbol(Symbol::local("string").at(strings, 0));
    let own = obj.symbol(Symbol::global(name).function().at(text, 0).size(12));
    let next = if name == "wanted" { obj.symbol(Symbol::undefined("wanted_too")) } else { own };
    obj.reloc(text, 3, R_X86_64_PC32, strings, -4);
    obj.reloc(text, 8, R_X86_64_PLT32, next, -4);
    obj.build()
}
