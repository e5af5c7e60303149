//! Damaged inputs, thousands of them: a link may fail or succeed, but not panic, crash, hang, or
//! ask for memory without bound.
//!
//! Files are damaged by [`weld_testkit::mutate`] from a seed, so that a failure can be repeated:
//! the input and the command line are left in the working directory. The address space is limited
//! for the process, so that a huge allocation shows as a crash.

use crate::linker::Linker;
use crate::objects::{Job, compiler};
use crate::test_file::Part;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::dso::{Dso, DynSymbol};
use weld_testkit::elf::*;
use weld_testkit::mutate::{damage, truncations};
use weld_testkit::obj::{Obj, RelocFormat, Section, Symbol};

/// No link of such small inputs takes longer, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
const ADDRESS_SPACE: u64 = 8 << 30;

/// A way to link the damaged file, which is always called `damaged`.
type Command = &'static [&'static str];

const OBJECT_COMMANDS: [Command; 10] = [
    &["good.o", "damaged", "-o", "out"],
    &["good.o", "damaged", "-o", "out", "--gc-sections", "--eh-frame-hdr", "--print-gc-sections"],
    &[
        "damaged",
        "good.o",
        "-o",
        "out",
        "-pie",
        "--export-dynamic",
        "-z",
        "now",
        "--unresolved-symbols=ignore-all",
    ],
    &["damaged", "-shared", "-o", "out", "-z", "notext", "-z", "pack-relative-relocs"],
    &["damaged", "good.o", "-o", "out", "-O2", "-Map=out.map", "--cref", "--trace", "--emit-relocs"],
    &[
        "damaged",
        "good.o",
        "-o",
        "out",
        "-q",
        "--gc-sections",
        "-z",
        "unique-symbol",
        "--compress-sections=[!.]*=zstd",
    ],
    &[
        "good.o",
        "damaged",
        "-o",
        "out",
        "--unique=*",
        "--compress-debug-sections=zlib",
        "--no-check-sections",
    ],
    &["damaged", "good.o", "-r", "-o", "out"],
    &["good.o", "damaged", "-r", "-o", "out", "--gc-sections", "-u", "helper", "-x", "-d", "--build-id"],
    &["damaged", "-r", "-o", "out", "-S", "--unique", "--defsym=x=helper+8", "--threads=2"],
];

/// Links damaged relocatable objects, made by hand and by compilers.
pub fn objects(linker: &Linker, dir: &Path, seeds: u64) -> Result<(), String> {
    let corpus =
        [made_object(RelocFormat::Rela), made_object(RelocFormat::Crel), compiled("c")?, compiled("cc")?];
    attack(linker, dir, &corpus, &OBJECT_COMMANDS, seeds)
}

pub fn archives(linker: &Linker, dir: &Path, seeds: u64) -> Result<(), String> {
    let object = object_parts(RelocFormat::Rela);
    let make = |kind| {
        Archive::new(kind).object("a_member_with_a_long_name.o", &object).object("b.o", &object).build()
    };
    let corpus =
        [make(ArchiveKind::Gnu), make(ArchiveKind::Gnu64), make(ArchiveKind::Bsd), make(ArchiveKind::Thin)];
    let commands: [Command; 2] = [
        &["good.o", "damaged", "-u", "helper", "-o", "out"],
        &["good.o", "--whole-archive", "damaged", "-o", "out"],
    ];
    attack(linker, dir, &corpus, &commands, seeds)
}

pub fn shared_objects(linker: &Linker, dir: &Path, seeds: u64) -> Result<(), String> {
    let made = Dso::new("libx.so.1")
        .needed("libc.so.6")
        .symbol(DynSymbol::function("helper").version("V1"))
        .symbol(DynSymbol::function("helper").hidden_version("V0"))
        .symbol(DynSymbol::object("data", 8).version("V2"))
        .symbol(DynSymbol::undefined("elsewhere"))
        .build();
    let linked = linked_library(linker, dir)?;
    let commands: [Command; 3] = [
        &["good.o", "user.o", "damaged", "-o", "out"],
        &["good.o", "user.o", "damaged", "-o", "out", "-pie", "--as-needed"],
        &["user.o", "damaged", "-shared", "-o", "out", "--no-undefined"],
    ];
    std::fs::write(dir.join("user.o"), user().build()).map_err(|e| e.to_string())?;
    attack(linker, dir, &[made, linked], &commands, seeds)
}

/// Scripts, version scripts, dynamic lists and response files.
pub fn texts(linker: &Linker, dir: &Path, seeds: u64) -> Result<(), String> {
    let script =
        b"/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( good.o AS_NEEDED ( \"good.o\" ) )\n";
    let versions = b"V1 { global: a; b*; extern \"C++\" { \"f(int)\"; ns::*; }; local: *; };\n# x\nV2 { c[a-z]?; } V1;\n";
    let list = b"{ a; b*; extern \"C\" { \"c\"; }; };\n";
    let response = b"good.o --defsym 'a b'=1 \"-o\" out\\ x @nested -L/x --gc-sections --hash-style=both\n";
    let commands: [Command; 4] = [
        &["good.o", "damaged", "-o", "out"],
        &["good.o", "-shared", "--version-script=damaged", "-o", "out"],
        &["good.o", "-shared", "--dynamic-list=damaged", "-o", "out"],
        &["good.o", "@damaged"],
    ];
    for (text, command) in [&script[..], versions, list, response].into_iter().zip(commands) {
        attack(linker, dir, &[text.to_vec()], &[command], seeds / 4)?;
    }
    Ok(())
}

/// Every few lengths of each kind of file.
pub fn truncated(linker: &Linker, dir: &Path) -> Result<(), String> {
    prepare(dir)?;
    let object = object_parts(RelocFormat::Rela);
    let library = Dso::new("libx.so").symbol(DynSymbol::function("helper").version("V1")).build();
    let archive = Archive::new(ArchiveKind::Gnu).object("a_member_with_a_long_name.o", &object).build();
    for file in [object.build(), library, archive, compiled("c")?] {
        let step = (file.len() / 300).max(1);
        for cut in truncations(&file, step) {
            one(linker, dir, cut, OBJECT_COMMANDS[0], "cut")?;
        }
    }
    Ok(())
}

fn attack(
    linker: &Linker,
    dir: &Path,
    corpus: &[Vec<u8>],
    commands: &[Command],
    seeds: u64,
) -> Result<(), String> {
    prepare(dir)?;
    // One line for each place that panics, not for each file that makes it.
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for seed in 0..seeds {
        let file = &corpus[seed as usize % corpus.len()];
        let command = commands[(seed as usize / corpus.len()) % commands.len()];
        if let Err(e) = one(linker, dir, &damage(file, seed), command, &format!("seed {seed}")) {
            let place = e.split(" at ").nth(1).and_then(|p| p.split(": ").next()).unwrap_or(&e);
            found.entry(place.to_owned()).or_insert(e);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.into_values().collect::<Vec<_>>().join("\n")) }
}

fn prepare(dir: &Path) -> Result<(), String> {
    let limit = libc::rlimit { rlim_cur: ADDRESS_SPACE, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the struct is initialized and outlives the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } != 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    std::fs::write(dir.join("good.o"), good().build()).map_err(|e| e.to_string())
}

fn one(linker: &Linker, dir: &Path, file: &[u8], command: Command, what: &str) -> Result<(), String> {
    // A new file each time: the linker may still have the last one mapped.
    let _ = std::fs::remove_file(dir.join("damaged"));
    std::fs::write(dir.join("damaged"), file).map_err(|e| e.to_string())?;
    let mut args: Vec<String> = command.iter().map(|&s| s.to_owned()).collect();
    args.push(format!("--threads={}", 1 + file.len() % 2));
    std::fs::write(dir.join("command"), format!("{what}: {}\n", args.join(" ")))
        .map_err(|e| e.to_string())?;
    let start = Instant::now();
    let result = linker.run(&args, dir).map_err(|e| format!("{what}: {}: {e}", args.join(" ")))?;
    if start.elapsed() > LIMIT {
        return Err(format!("{what}: {}: took {:?}", args.join(" "), start.elapsed()));
    }
    if !result.ok && result.stderr.trim().is_empty() {
        return Err(format!("{what}: {}: failed without a word", args.join(" ")));
    }
    Ok(())
}

/// The undamaged partner.
pub(super) fn good() -> Obj {
    let mut o = Obj::new();
    let text = o.section(Section::text(".text").bytes(&[0xe8, 0, 0, 0, 0, 0xc3]).align(16));
    o.symbol(Symbol::global("_start").function().at(text, 0).size(6));
    o.symbol(Symbol::global("a").function().at(text, 5).size(1));
    let helper = o.symbol(Symbol::weak_undefined("helper"));
    o.reloc(text, 1, R_X86_64_PLT32, helper, -4);
    o
}

/// Uses a library's function and variable.
pub(super) fn user() -> Obj {
    let mut o = Obj::new();
    let text = o.section(Section::text(".text").bytes(&[0xe8, 0, 0, 0, 0, 0x48, 0x8b, 5, 0, 0, 0, 0, 0xc3]));
    let helper = o.symbol(Symbol::undefined("helper"));
    let data = o.symbol(Symbol::undefined("data"));
    o.reloc(text, 1, R_X86_64_PLT32, helper, -4);
    o.reloc(text, 8, R_X86_64_PC32, data, -4);
    o
}

pub(super) fn made_object(format: RelocFormat) -> Vec<u8> {
    object_parts(format).build()
}

/// One of everything that an object may hold.
fn object_parts(format: RelocFormat) -> Obj {
    let mut o = Obj::new();
    o.reloc_format(format);
    let text = o.section(Section::text(".text.helper").bytes(&[0x90; 64]).align(16));
    let inline = o.section(Section::text(".text.inline").bytes(&[0xc3; 8]));
    let data = o.section(Section::data(".data").bytes(&[0; 64]).align(8));
    let strings = o.section(Section::strings(".rodata.str1.1", 1).bytes(b"one\0two\0three\0"));
    let constants = o.section(Section::constants(".rodata.cst8", 8).bytes(&[7; 24]));
    let tls = o.section(Section::data(".tdata").flags(SHF_TLS).bytes(&[1; 16]).align(8));
    o.section(Section::bss(".bss", 100).align(32));
    let order = o.section(Section::rodata(".order").bytes(&[0; 8]).link_order(text));
    let frames =
        o.section(Section::new(".eh_frame", SHT_X86_64_UNWIND, SHF_ALLOC).bytes(&eh_frame()).align(8));
    let debug = o.section(Section::debug(".debug_info").bytes(&[0; 32]));
    let init =
        o.section(Section::new(".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE).bytes(&[0; 8]).align(8));
    o.section(Section::new(".note.gnu.property", SHT_NOTE, SHF_ALLOC).bytes(&property()).align(8));
    let helper = o.symbol(Symbol::global("helper").function().at(text, 0).size(64));
    let chosen = o.symbol(Symbol::weak("inline").function().at(inline, 0).size(8));
    let var = o.symbol(Symbol::global("var").tls().at(tls, 8).size(8));
    let common = o.symbol(Symbol::common("common", 16, 8));
    let hidden = o.symbol(Symbol::global("hidden").hidden().object().at(data, 8).size(8));
    let resolver = o.symbol(Symbol::global("resolved").ifunc().at(text, 32).size(8));
    let strings = o.section_symbol(strings);
    let (text_symbol, constants) = (o.section_symbol(text), o.section_symbol(constants));
    o.comdat(chosen, &[inline]);
    o.reloc(text, 3, R_X86_64_PC32, hidden, -4);
    o.reloc(text, 11, R_X86_64_REX_GOTPCRELX, hidden, -4);
    o.reloc(text, 19, R_X86_64_GOTTPOFF, var, -4);
    o.reloc(text, 27, R_X86_64_PLT32, resolver, -4);
    o.reloc(text, 40, R_X86_64_PLT32, chosen, -4);
    o.reloc(data, 0, R_X86_64_64, common, 4);
    o.reloc(data, 8, R_X86_64_64, strings, 4);
    o.reloc(data, 16, R_X86_64_64, constants, 8);
    o.reloc(data, 24, R_X86_64_64, resolver, 0);
    o.reloc(order, 0, R_X86_64_64, helper, 0);
    o.reloc(init, 0, R_X86_64_64, helper, 0);
    o.reloc(debug, 0, R_X86_64_32, strings, 8);
    o.reloc(debug, 8, R_X86_64_64, text_symbol, 16);
    o.reloc(debug, 16, R_X86_64_DTPOFF64, var, 0);
    o.reloc(frames, 32, R_X86_64_PC32, text_symbol, 0);
    o
}

/// A CIE ("zR", pc-relative), an FDE of 64 bytes of code and the terminator.
fn eh_frame() -> Vec<u8> {
    let mut b =
        vec![20, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0];
    b.extend([20, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    b.extend([0; 4]);
    b
}

fn property() -> Vec<u8> {
    let words: [u32; 8] = [4, 16, 5, 0x0055_4e47, 0xc000_0002, 4, 3, 0];
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// What a real compiler makes, with debug information and exception tables.
fn compiled(extension: &str) -> Result<Vec<u8>, String> {
    let text = match extension {
        "cc" => {
            "#include <stdexcept>\ntemplate <class T> T twice(T t) { return t + t; }\nint helper(int n) { try { \
             return twice(n); } catch (const std::exception &) { return 0; } }\nthread_local int t = helper(3);\n"
        }
        _ => {
            "static int v[3] = {1, 2, 3};\nint *p = v;\n__thread int t;\nint helper(int n) { return p[n] + t; }\n"
        }
    };
    let source = Part { name: format!("source.{extension}"), text: text.to_owned() };
    let mut compiler = compiler(extension, "gcc", "glibc")?;
    compiler.flags.extend(["-g", "-fPIC", "-ffunction-sections"].map(str::to_owned));
    let job = Job { compiler, source: &source, parts: &[] };
    std::fs::read(job.object()?).map_err(|e| e.to_string())
}

/// A library made by the linker itself, with hash tables, versions and section headers.
pub(super) fn linked_library(linker: &Linker, dir: &Path) -> Result<Vec<u8>, String> {
    let mut o = Obj::new();
    let text = o.section(Section::text(".text").bytes(&[0xc3; 16]));
    let data = o.section(Section::data(".data").bytes(&[1; 8]).align(8));
    o.symbol(Symbol::global("helper").function().at(text, 0).size(8));
    o.symbol(Symbol::global("data").object().at(data, 0).size(8));
    std::fs::write(dir.join("lib.o"), o.build()).map_err(|e| e.to_string())?;
    std::fs::write(dir.join("lib.map"), "V1 { helper; };\nV2 { data; } V1;\n").map_err(|e| e.to_string())?;
    let args = [
        "-shared",
        "lib.o",
        "-soname",
        "libx.so",
        "--version-script=lib.map",
        "--hash-style=both",
        "-o",
        "lib.so",
    ];
    let result = linker.run(&args.map(str::to_owned), dir)?;
    if !result.ok {
        return Err(result.stderr);
    }
    std::fs::read(dir.join("lib.so")).map_err(|e| e.to_string())
}
