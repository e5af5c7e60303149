//! Linker scripts: statements at random, of which most make sense together, and some try to be too much.

use weld_testkit::obj::{Obj, Section, Symbol};

use crate::Choices;

/// How deep expressions nest.
const DEPTH: usize = 4;

const SECTIONS: [&str; 14] = [
    ".text", ".data", ".bss", ".rodata", ".a", ".b", ".c", ".init_array", ".tdata", ".tbss", ".dynamic", ".got", "cname", "/DISCARD/",
];
const PATTERNS: [&str; 24] = [
    "*(.text .text.*)", "*(.data)", "*(.bss COMMON)", "*(.rodata .rodata.*)", "*(SORT(.text.*))", "*(SORT_BY_ALIGNMENT(SORT(.d*)))",
    "*(.tdata)", "*(.tbss)", "KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*) .init_array))", "*(EXCLUDE_FILE(*1) .data*)", "*(COMMON)",
    "*(.eh_frame)", "*(.dynamic .got .got.plt .dyn* .gnu* .hash .rela*)", "*(cname)", "*(*)", "*(.*)", "*fd*(.text*)",
    "INPUT_SECTION_FLAGS(SHF_WRITE & !SHF_TLS) *(*)", "*(REVERSE(.t*))", "*[0-9](COMMON)", "EXCLUDE_FILE(*2) *(.text)", "CLASS(k)",
    "*(.note.*)", "KEEP(*(.c*))",
];
const SYMBOLS: [&str; 12] = ["a", "b", "c", "f", "v", "_end", "helper", "common", "_start", "__ehdr_start", "x", "y"];

/// A script.
pub fn script(c: &mut Choices) -> String {
    let mut text = String::new();
    let regions = c.below(4) == 3;
    if regions {
        text += "MEMORY { ";
        for name in ["r", "s"] {
            let attributes = c.pick(&["", "(rx)", "(w!x)", "(!w)"]);
            text += &format!("{name} {attributes} : ORIGIN = {}, LENGTH = {} ", number(c), number(c));
        }
        text += "}\n";
    }
    let headers = c.below(6) == 5;
    if headers {
        let more = c.pick(&["", "FILEHDR PHDRS", "FLAGS(5)", "AT(0x1000)"]);
        text += &format!("PHDRS {{ one PT_LOAD {more}; two PT_LOAD; tls PT_TLS; note PT_NOTE; }}\n");
    }
    if c.below(4) != 3 {
        text += "SECTIONS {\n";
        if c.flag() {
            text += &format!(". = {};\n", number(c));
        }
        if c.below(6) == 5 {
            text += &format!("CLASS(k) {{ {} {} }}\n", c.pick(&PATTERNS), c.pick(&PATTERNS));
        }
        for _ in 0..c.below(10) {
            text += &statement(c, (regions, headers));
        }
        text += "}\n";
    }
    for _ in 0..c.below(3) {
        text += &match c.below(8) {
            0 => format!("SECTIONS {{ {} }} INSERT {} {};\n", section(c, (regions, headers)), c.pick(&["AFTER", "BEFORE"]), c.pick(&SECTIONS)),
            1 => format!("OVERWRITE_SECTIONS {{ {} }}\n", section(c, (regions, headers))),
            2 => format!("NOCROSSREFS({} {})\n", c.pick(&SECTIONS), c.pick(&SECTIONS)),
            3 => format!("ASSERT({}, \"no\");\n", expression(c, 0)),
            4 => format!("REGION_ALIAS(q, {})\n", c.pick(&["r", "s", "t"])),
            5 => "FORCE_COMMON_ALLOCATION\n".to_owned(),
            _ => assignment(c),
        };
    }
    text
}

fn statement(c: &mut Choices, places: (bool, bool)) -> String {
    match c.below(10) {
        0 | 1 => format!(". = {};\n", c.pick(&["ALIGN(4096)", ". + 16", "ALIGN(CONSTANT(MAXPAGESIZE)) + (. & 0xfff)", "DATA_SEGMENT_ALIGN(4096, 4096)", "DATA_SEGMENT_RELRO_END(0, .)", "DATA_SEGMENT_END(.)"])),
        2 => format!(". = {};\n", expression(c, 0)),
        3 => assignment(c),
        4 => format!("ASSERT({}, \"no\")\n", expression(c, 0)),
        5 => {
            let inner: String = (0..1 + c.below(3)).map(|_| format!("{} {{ {} }}\n", c.pick(&SECTIONS), contents(c))).collect();
            format!("OVERLAY {} : {} {{\n{inner}}}\n", c.pick(&["", "0x8000"]), c.pick(&["", "NOCROSSREFS", "AT(0x9000)"]))
        }
        _ => section(c, places),
    }
}

fn section(c: &mut Choices, (regions, headers): (bool, bool)) -> String {
    let name = c.pick(&SECTIONS);
    let address = match c.below(8) {
        6 => number(c),
        7 => format!("({})", expression(c, 0)),
        _ => String::new(),
    };
    let kind = c.pick(&["", "", "", "", "(NOLOAD)", "(INFO)", "(READONLY)", "(TYPE=7)"]);
    let mut properties = String::new();
    for _ in 0..c.below(3) {
        properties += &match c.below(7) {
            0 => format!("ALIGN({}) ", c.pick(&["1", "16", "4096", "3", "1 << 40"])),
            1 => "SUBALIGN(4) ".to_owned(),
            2 => "ALIGN_WITH_INPUT ".to_owned(),
            3 => "ONLY_IF_RO ".to_owned(),
            4 => "ONLY_IF_RW ".to_owned(),
            _ => format!("AT({}) ", expression(c, 2)),
        };
    }
    let mut tail = String::new();
    if regions {
        tail += c.pick(&["", " >r", " >s", " >r AT>s", " AT>s"]);
    }
    if headers {
        tail += c.pick(&["", " :one", " :two :tls", " :NONE", " :note"]);
    }
    tail += c.pick(&["", "", " =0x90", " =0x123456"]);
    format!("{name} {address} {kind} : {properties}{{ {} }}{tail}\n", contents(c))
}

fn contents(c: &mut Choices) -> String {
    let mut text = String::new();
    for _ in 0..c.below(5) {
        text += &match c.below(12) {
            0 => assignment(c),
            1 => format!(". = {}; ", expression(c, 1)),
            2 => ". = ALIGN(16); ".to_owned(),
            3 => ". += 8; ".to_owned(),
            4 => format!("{}({}) ", c.pick(&["BYTE", "SHORT", "LONG", "QUAD", "SQUAD"]), expression(c, 1)),
            5 => format!("FILL({}) ", c.pick(&["0x90", "0xdeadbeef", "1"])),
            6 => "ASCIZ \"text\" ".to_owned(),
            _ => format!("{} ", c.pick(&PATTERNS)),
        };
    }
    text
}

fn assignment(c: &mut Choices) -> String {
    let (name, value) = (c.pick(&SYMBOLS), expression(c, 0));
    match c.below(6) {
        0 => format!("PROVIDE({name} = {value}); "),
        1 => format!("PROVIDE_HIDDEN({name} = {value}); "),
        2 => format!("HIDDEN({name} = {value}); "),
        3 => format!("{name} {} {value}; ", c.pick(&["+=", "-=", "*=", "<<=", "&=", "|="])),
        _ => format!("{name} = {value}; "),
    }
}

fn number(c: &mut Choices) -> String {
    match c.below(4) {
        0 => format!("{:#x}", c.number()),
        1 => format!("{}K", c.number()),
        _ => format!("{:#x}", (c.number() & 0xff) << 12),
    }
}

fn expression(c: &mut Choices, depth: usize) -> String {
    if depth == DEPTH {
        return ".".to_owned();
    }
    let inner = |c: &mut Choices| expression(c, depth + 1);
    match c.below(18) {
        0 | 1 => number(c),
        2 | 3 => ".".to_owned(),
        4 | 5 => c.pick(&SYMBOLS).to_owned(),
        6 => format!("{}({})", c.pick(&["ADDR", "SIZEOF", "LOADADDR", "ALIGNOF"]), c.pick(&SECTIONS[..SECTIONS.len() - 1])),
        7 => format!("{}({}, {})", c.pick(&["MAX", "MIN", "ALIGN"]), inner(c), inner(c)),
        8 => format!("{}({})", c.pick(&["ABSOLUTE", "ALIGN", "LOG2CEIL", "NEXT", "~", "-", "!"]), inner(c)),
        9 => format!("(DEFINED({}) ? {} : {})", c.pick(&SYMBOLS), inner(c), inner(c)),
        10 => c.pick(&["SIZEOF_HEADERS", "CONSTANT(MAXPAGESIZE)", "ORIGIN(r)", "LENGTH(s)", "SEGMENT_START(\"text-segment\", 0x400000)"]).to_owned(),
        11 => format!("ASSERT({}, \"no\")", inner(c)),
        _ => {
            let operator = c.pick(&["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "<", "&&", "||"]);
            format!("({} {operator} {})", inner(c), inner(c))
        }
    }
}

/// An object with the usual sections, of which a script without surprises lays out all.
pub fn plain_object() -> Vec<u8> {
    let mut o = Obj::new();
    let text = o.section(Section::text(".text").bytes(&[0x90; 21]).align(16));
    o.section(Section::text(".text.hot").bytes(&[0x90; 5]).align(2));
    let data = o.section(Section::data(".data").bytes(&[1; 12]).align(8));
    o.section(Section::data(".data.more").bytes(&[2; 3]).align(1));
    o.section(Section::rodata(".rodata").bytes(&[3; 9]).align(4));
    o.section(Section::rodata(".rodata.big").bytes(&[4; 40]).align(32));
    let bss = o.section(Section::bss(".bss", 20).align(16));
    o.section(Section::debug(".note.GNU-stack"));
    o.symbol(Symbol::global("_start").function().at(text, 0).size(4));
    o.symbol(Symbol::global("d").object().at(data, 4).size(4));
    o.symbol(Symbol::global("z").object().at(bss, 8).size(4));
    o.build()
}

/// A script for [`plain_object`] with nothing in it that linkers disagree on.
pub fn plain_script(c: &mut Choices) -> String {
    let mut text = format!("SECTIONS {{\n. = {:#x};\n", 0x10000 + (u64::from(c.byte()) << 8));
    let mut names = vec![("text", "*(.text .text.*)"), ("rodata", "*(.rodata .rodata.*)"), ("data", "*(.data .data.*)"), ("bss", "*(.bss)")];
    let mut symbols = 0;
    let mut symbol = |c: &mut Choices, inside: bool| {
        symbols += 1;
        let value = match (c.below(6), inside) {
            (0, _) => ". + 4".to_owned(),
            (1, false) => "ALIGN(64)".to_owned(),
            (2, false) => "d + 1".to_owned(),
            (3, false) => "ABSOLUTE(.) & 0xff0".to_owned(),
            (4, false) => "_start - 1".to_owned(),
            _ => ".".to_owned(),
        };
        format!("s{symbols} = {value};\n")
    };
    while !names.is_empty() {
        let (name, pattern) = names.remove(c.below(names.len()));
        if c.below(3) == 0 {
            text += c.pick(&[". = ALIGN(64);\n", ". += 24;\n", ". = . + 0x1000;\n", ". = ALIGN(0x1000);\n"]);
        }
        if c.below(3) == 0 {
            text += &symbol(c, false);
        }
        let align = c.pick(&["", "", "ALIGN(32) ", "ALIGN(256) "]);
        let subalign = c.pick(&["", "", "", "SUBALIGN(8) "]);
        text += &format!(".{name} : {align}{subalign}{{\n");
        let parts = c.below(4);
        for part in 0..=parts {
            if part == parts / 2 {
                text += &match c.below(4) {
                    0 => format!("*(SORT_BY_ALIGNMENT(.{name} .{name}.*))\n"),
                    1 => format!("*(SORT_BY_NAME(.{name} .{name}.*))\n"),
                    _ => format!("{pattern}\n"),
                };
                continue;
            }
            let inner = match c.below(5) {
                0 if name != "bss" => format!("{}({:#x})\n", c.pick(&["BYTE", "SHORT", "LONG", "QUAD"]), c.number()),
                1 => ". = ALIGN(8);\n".to_owned(),
                2 => ". += 6;\n".to_owned(),
                _ => symbol(c, true),
            };
            text += &inner;
        }
        text += "}\n";
    }
    text += &symbol(c, false);
    text += "/DISCARD/ : { *(*) }\n}\n";
    text
}

