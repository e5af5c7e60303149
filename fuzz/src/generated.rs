//! Objects and libraries that are well-formed as files and wild in what they say: random sections, symbols,
//! groups, relocations and versions, and fields that contradict each other. Damaged files seldom get beyond
//! the parsers; these reach the scan, layout, relaxations and writers.

use weld_testkit::dso::{Dso, DynSymbol};
use weld_testkit::elf::*;
use weld_testkit::fields::{fields, values};
use weld_testkit::obj::{Obj, RelocFormat, Section, SectionId, Symbol, SymbolId};

use crate::Choices;

/// An object that the start code of links refers to, with most kinds of sections and symbols.
pub fn start_object() -> Vec<u8> {
    let mut o = Obj::new();
    let code = [0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3];
    let text = o.section(Section::text(".text").bytes(&code).align(16));
    let data = o.section(Section::data(".data").bytes(&[0; 16]).align(8));
    let function = o.symbol(Symbol::weak_undefined("f"));
    let variable = o.symbol(Symbol::weak_undefined("v"));
    o.symbol(Symbol::global("_start").function().at(text, 0).size(code.len() as u64));
    o.symbol(Symbol::global("helper").function().at(text, 19).size(1));
    o.symbol(Symbol::weak("shared_name").object().at(data, 0).size(8));
    o.symbol(Symbol::common("common", 8, 8));
    o.reloc(text, 1, R_X86_64_PLT32, function, -4);
    o.reloc(text, 8, R_X86_64_REX_GOTPCRELX, variable, -4);
    o.reloc(text, 15, R_X86_64_PC32, variable, -4);
    o.reloc(data, 0, R_X86_64_64, function, 0);
    o.reloc(data, 8, R_X86_64_64, variable, 4);
    o.build()
}

const NAMES: [&str; 24] = [
    "a",
    "b",
    "c",
    "f",
    "v",
    "helper",
    "common",
    "shared_name",
    "a@V1",
    "a@@V1",
    "_ZN3foo3barEv",
    "__start_cname",
    "__stop_cname",
    "_end",
    "__ehdr_start",
    "_GLOBAL_OFFSET_TABLE_",
    "_DYNAMIC",
    "_TLS_MODULE_BASE_",
    "__tls_get_addr",
    "__init_array_start",
    "__rela_iplt_start",
    "__bss_start",
    "_init",
    "",
];

/// Instruction sequences that relocations look at before they rewrite them. The relocated fields are
/// at the offsets that [`relocation`] prefers.
const CODE: [&[u8]; 8] = [
    // call; mov x@GOTPCREL(%rip), %rax; call *x@GOTPCREL(%rip); jmp *x@GOTPCREL(%rip)
    &[0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0],
    // cmp x@GOTPCREL(%rip), %rax; test; mov x@GOTPCREL(%rip), %eax
    &[0x48, 0x3b, 0x05, 0, 0, 0, 0, 0x48, 0x85, 0x05, 0, 0, 0, 0, 0x8b, 0x05, 0, 0, 0, 0, 0x90, 0x90],
    // general dynamic, both calls
    &[0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0],
    &[0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x48, 0xff, 0x15, 0, 0, 0, 0],
    // local dynamic, both calls
    &[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x8d, 0x80, 0, 0, 0, 0],
    &[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0x48, 0x8d, 0x80, 0, 0, 0, 0],
    // initial exec: mov and add; TLS descriptor and its call
    &[0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x4c, 0x03, 0x3d, 0, 0, 0, 0, 0x64, 0x48, 0x8b, 0],
    &[0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xff, 0x10, 0x64, 0x48, 0x8b, 0x00],
];

/// Two relocations of a sequence that belong together: code, (offset, type) of each.
type Pair = (usize, (u64, u32), (u64, u32));
const PAIRS: [Pair; 5] = [
    (2, (4, R_X86_64_TLSGD), (12, R_X86_64_PLT32)),
    (3, (4, R_X86_64_TLSGD), (12, R_X86_64_GOTPCRELX)),
    (4, (3, R_X86_64_TLSLD), (8, R_X86_64_PLT32)),
    (5, (3, R_X86_64_TLSLD), (9, R_X86_64_GOTPCRELX)),
    (7, (3, R_X86_64_GOTPC32_TLSDESC), (7, R_X86_64_TLSDESC_CALL)),
];

/// One object.
pub fn object(c: &mut Choices) -> Vec<u8> {
    let mut o = Obj::new();
    if c.below(8) == 7 {
        o.reloc_format(RelocFormat::Crel);
    }
    let sections: Vec<SectionId> = (0..1 + c.below(8)).map(|_| section(&mut o, c)).collect();
    let mut symbols: Vec<SymbolId> = Vec::new();
    for _ in 0..1 + c.below(12) {
        symbols.push(symbol(&mut o, c, &sections));
    }
    for _ in 0..c.below(24) {
        relocation(&mut o, c, &sections, &symbols);
    }
    for _ in 0..c.below(3) {
        let first = c.below(sections.len());
        let last = (first + 1 + c.below(2)).min(sections.len());
        let signature = c.pick(&symbols);
        o.group(signature, u32::from(!c.flag()), &sections[first..last]);
    }
    with_wrong_fields(o.build(), c)
}

/// A library that defines what the start code refers to.
pub fn library(c: &mut Choices) -> Vec<u8> {
    let mut library = Dso::new("libgenerated.so");
    for _ in 0..1 + c.below(6) {
        let name = c.pick(&NAMES);
        let symbol = match c.below(4) {
            0 => DynSymbol::undefined(name),
            1 => DynSymbol::object(name, c.number()),
            _ => DynSymbol::function(name),
        };
        library = library.symbol(match c.below(4) {
            0 => symbol.version("V1"),
            1 => symbol.hidden_version("V2"),
            _ => symbol,
        });
    }
    with_wrong_fields(library.build(), c)
}

/// Now and then a field or two say what they should not: types, links, indices, bindings, versions.
fn with_wrong_fields(mut file: Vec<u8>, c: &mut Choices) -> Vec<u8> {
    if c.below(4) != 3 {
        return file;
    }
    let all = fields(&file);
    for _ in 0..1 + c.below(2) {
        let field = &all[(c.below(256) << 8 | c.below(256)) % all.len()];
        let value = c.pick(&values(field, &file));
        field.set(&mut file, value);
    }
    file
}

fn section(o: &mut Obj, c: &mut Choices) -> SectionId {
    let code = c.pick(&CODE);
    let mut s = match c.below(20) {
        0 | 1 => Section::text(".text").bytes(code),
        2 => Section::text(".text.hot.x").bytes(code),
        3 => Section::data(".data").bytes(&[0; 32]),
        4 => Section::data(".data.rel.ro").bytes(&[0; 24]),
        5 => Section::rodata(".rodata").bytes(&[1; 24]),
        6 => Section::bss(".bss", c.number()),
        7 => Section::strings(".rodata.str1.1", 1).bytes(b"one\0two\0one\0wo\0"),
        8 => Section::strings(".rodata.str4.4", 4).bytes(b"o\0\0\0n\0\0\0\0\0\0\0").align(4),
        9 => Section::constants(".rodata.cst8", 8).bytes(&[7; 24]),
        10 => Section::data(".tdata").bytes(&[2; 16]).flags(SHF_TLS),
        11 => Section::bss(".tbss", c.number()).flags(SHF_TLS),
        12 => Section::data(c.pick(&[".init_array", ".init_array.5", ".fini_array", ".ctors.7", ".dtors"]))
            .bytes(&[0; 8])
            .sh_type(c.pick(&[SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PROGBITS])),
        13 => Section::rodata(".eh_frame")
            .bytes(&EH_FRAME)
            .align(8)
            .sh_type(c.pick(&[SHT_PROGBITS, SHT_X86_64_UNWIND])),
        14 => Section::debug(c.pick(&[".debug_info", ".debug_ranges", ".comment", ".debug_names"]))
            .bytes(&[0; 32]),
        15 => Section::rodata("cname").bytes(&[0; 8]),
        16 => Section::rodata(".note.gnu.property").bytes(&PROPERTY).sh_type(SHT_NOTE).align(8),
        17 => Section::rodata(".note.x")
            .bytes(&[4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 71, 78, 85, 0])
            .sh_type(SHT_NOTE)
            .align(4),
        18 => Section::bss(".lbss", c.number()).flags(SHF_X86_64_LARGE),
        _ => Section::debug(".note.GNU-stack").flags(if c.flag() { SHF_EXECINSTR } else { 0 }),
    };
    if c.below(8) == 7 {
        s = s.bytes(c.bytes(24));
    }
    if c.below(8) == 7 {
        s = s.align(c.pick(&[0, 1, 2, 16, 4096, 1 << 16, 1 << 32, 1 << 63, 3]));
    }
    if c.below(16) == 15 {
        s = s.flags(1 << c.below(32)).entsize(c.number());
    }
    o.section(s)
}

/// A CIE with `zR` and an FDE of 16 bytes of code.
const EH_FRAME: [u8; 56] = [
    0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0x7a, 0x52, 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0, //
    0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    0, 0, 0, 0, 0, 0, 0, 0,
];

const PROPERTY: [u8; 32] = [
    4, 0, 0, 0, 0x10, 0, 0, 0, 5, 0, 0, 0, 0x47, 0x4e, 0x55, 0, //
    2, 0, 0, 0xc0, 4, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
];

fn symbol(o: &mut Obj, c: &mut Choices, sections: &[SectionId]) -> SymbolId {
    let name = c.pick(&NAMES);
    let place = c.pick(sections);
    let offset = c.number();
    if c.below(8) == 0 {
        return o.section_symbol(place);
    }
    let mut s = match c.below(8) {
        0 => Symbol::undefined(name),
        1 => Symbol::weak_undefined(name),
        2 => Symbol::weak(name).at(place, offset),
        3 => Symbol::local(name).at(place, offset),
        4 => Symbol::common(name, offset, 1 << c.below(8)),
        5 => Symbol::absolute(name, offset),
        _ => Symbol::global(name).at(place, offset),
    };
    s = s.kind(c.pick(&[
        STT_NOTYPE,
        STT_FUNC,
        STT_OBJECT,
        STT_TLS,
        STT_GNU_IFUNC,
        STT_FUNC,
        STT_COMMON,
        STT_FILE,
    ]));
    s = s.other(c.pick(&[0, 0, 0, STV_HIDDEN, STV_PROTECTED, STV_INTERNAL])).size(c.number());
    if c.below(16) == 15 {
        s = s.bind(c.pick(&[STB_GNU_UNIQUE, STB_WEAK, STB_LOCAL, 7]));
    }
    if c.below(16) == 15 {
        s = s.index(c.pick(&[SHN_ABS, SHN_COMMON, SHN_AMD64_LCOMMON, SHN_XINDEX, SHN_LORESERVE, 300]));
    }
    o.symbol(s)
}

fn relocation(o: &mut Obj, c: &mut Choices, sections: &[SectionId], symbols: &[SymbolId]) {
    let symbol = c.pick(symbols);
    if c.below(6) == 0 {
        let (code, first, second) = c.pick(&PAIRS);
        let section = o.section(Section::text(".text.tls").bytes(CODE[code]));
        o.reloc(section, first.0, first.1, symbol, -4);
        if c.below(8) != 7 {
            let callee = c.pick(symbols);
            o.reloc(section, second.0, second.1, callee, -4);
        }
        return;
    }
    let section = c.pick(sections);
    let offset = match c.byte() {
        byte @ 0..0xc0 => c.pick(&[0u64, 1, 2, 3, 4, 7, 8, 10, 14, 16, 20, 24]) + u64::from(byte >> 6),
        _ => c.number(),
    };
    let kind = match c.byte() {
        byte @ 0..0xf0 => u32::from(byte) % 48,
        byte => u32::from(byte) << 24,
    };
    let addend = if c.flag() { -4 } else { c.number() as i64 };
    if c.below(32) == 31 {
        o.raw_reloc(section, offset, kind, c.number() as u32, addend);
    } else {
        o.reloc(section, offset, kind, symbol, addend);
    }
}
