//! The directives that look at a linked file. `tests/README.md` describes each for test authors.

use crate::elf::expr;
use crate::elf::image::{Image, Reloc, Result, Section, Segment, Symbol, string_at};
use crate::elf::machine::Machine;
use crate::elf::query::{self, same_name};
use crate::words;
use object::elf;
use std::path::Path;

/// Whether `key` is a directive of this module.
pub fn is_check(key: &str) -> bool {
    let keys = [
        "check",
        "bytes",
        "contains",
        "section",
        "no-section",
        "symbol",
        "no-symbol",
        "dynsym",
        "no-dynsym",
        "dynamic",
        "no-dynamic",
        "segment",
        "no-segment",
        "reloc",
        "no-reloc",
        "need-version",
        "no-need-version",
        "def-version",
        "build-id",
        "order",
    ];
    keys.contains(&key) || is_tool(key)
}

/// Whether `key` asks a tool about the file, whatever its format is.
pub fn is_tool(key: &str) -> bool {
    ["readelf", "readelf-not", "readobj", "readobj-not", "disasm"].contains(&key)
}

/// Carries out a check that a tool makes of the file at `path`.
pub fn tool(path: &Path, key: &str, value: &str) -> Result<()> {
    match key {
        "readelf" => tool_output("llvm-readelf-22", path, value, true),
        "readelf-not" => tool_output("llvm-readelf-22", path, value, false),
        "readobj" => tool_output("llvm-readobj-22", path, value, true),
        "readobj-not" => tool_output("llvm-readobj-22", path, value, false),
        _ => disassembly(path, value),
    }
}

/// Carries out one check on the file that `image` decodes.
pub fn check(image: &Image, key: &str, value: &str) -> Result<()> {
    match key {
        "check" => expr::check(image, value),
        "bytes" => bytes(image, value),
        "contains" => contains(image, value),
        "section" => section(image, value),
        "symbol" => symbol(image, value, query::symbol),
        "dynsym" => symbol(image, value, query::dynamic_symbol),
        "no-section" => absent(value, |n| image.section(n).is_some()),
        "no-symbol" => absent(value, |n| image.symbols.iter().any(|s| s.name == n)),
        "no-dynsym" => absent(value, |n| query::dynamic_symbol(image, n).is_ok()),
        "dynamic" => dynamic(image, value).map(|found| found.then_some(()).ok_or_else(|| entries(image)))?,
        "no-dynamic" => match dynamic(image, value)? {
            true => Err(format!("there is a dynamic entry {value}")),
            false => Ok(()),
        },
        "segment" => segment(image, value),
        "no-segment" => absent(value, |n| query::segments(image, n).next().is_some()),
        "reloc" => reloc(image, value),
        "no-reloc" => no_reloc(image, value),
        "need-version" => need_version(image, value, true),
        "no-need-version" => need_version(image, value, false),
        "def-version" => def_version(image, value),
        "build-id" => build_id(image, value),
        "order" => order(image, value),
        _ => Err(format!("unknown directive `{key}`")),
    }
}

fn absent(value: &str, exists: impl Fn(&str) -> bool) -> Result<()> {
    match value.split_whitespace().find(|n| exists(n)) {
        Some(name) => Err(format!("{name} is there")),
        None => Ok(()),
    }
}

/// `name=value` words.
fn attributes<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<(&'a str, &'a str)>> {
    words.map(|w| w.split_once('=').ok_or_else(|| format!("expected name=value, found `{w}`"))).collect()
}

fn expect(what: &str, actual: impl ToString, wanted: &str) -> Result<()> {
    let actual = actual.to_string();
    if actual == wanted { Ok(()) } else { Err(format!("{what} is {actual}, not {wanted}")) }
}

fn expect_number(image: &Image, what: &str, actual: u64, wanted: &str) -> Result<()> {
    let wanted = expr::value(image, wanted)?;
    if i128::from(actual) == wanted { Ok(()) } else { Err(format!("{what} is {actual:#x}, not {wanted:#x}")) }
}

fn section(image: &Image, value: &str) -> Result<()> {
    let mut words = value.split_whitespace();
    let name = words.next().ok_or("which section?")?;
    let s: &Section = query::section(image, name)?;
    for (key, wanted) in attributes(words)? {
        let what = format!("{key} of {name}");
        match key {
            "type" => {
                let full = query::section_type_name(s.sh_type);
                if !same_name(&full, "SHT_", wanted) {
                    return Err(format!("{what} is {full}, not {wanted}"));
                }
            }
            "flags" => expect(&what, section_flags(s.flags), wanted)?,
            "align" => expect_number(image, &what, s.align, wanted)?,
            "size" => expect_number(image, &what, s.size, wanted)?,
            "addr" => expect_number(image, &what, s.addr, wanted)?,
            "entsize" => expect_number(image, &what, s.entsize, wanted)?,
            "info" => expect_number(image, &what, u64::from(s.info), wanted)?,
            "link" => {
                let target = image.sections.get(s.link as usize).map_or("", |t| t.name.as_str());
                expect(&what, target, wanted)?;
            }
            _ => return Err(format!("unknown attribute {key}")),
        }
    }
    Ok(())
}

/// Section flags in readelf's letters.
fn section_flags(flags: u64) -> String {
    let letters = [
        (elf::SHF_WRITE.0, 'W'),
        (elf::SHF_ALLOC.0, 'A'),
        (elf::SHF_EXECINSTR.0, 'X'),
        (elf::SHF_MERGE.0, 'M'),
        (elf::SHF_STRINGS.0, 'S'),
        (elf::SHF_INFO_LINK.0, 'I'),
        (elf::SHF_LINK_ORDER.0, 'L'),
        (elf::SHF_GROUP.0, 'G'),
        (elf::SHF_TLS.0, 'T'),
        (elf::SHF_COMPRESSED.0, 'C'),
        (elf::SHF_GNU_RETAIN.0, 'R'),
        (weld_testkit::elf::SHF_X86_64_LARGE, 'l'),
        (elf::SHF_EXCLUDE.0, 'E'),
    ];
    let mut out: String = letters.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, c)| c).collect();
    let rest = letters.iter().fold(flags, |f, (bit, _)| f & !bit);
    if rest != 0 {
        out.push_str(&format!("+{rest:#x}"));
    }
    out
}

fn symbol<'a>(
    image: &'a Image,
    value: &str,
    find: impl Fn(&'a Image, &str) -> Result<&'a Symbol>,
) -> Result<()> {
    let mut words = value.split_whitespace();
    let name = words.next().ok_or("which symbol?")?;
    let s = find(image, name)?;
    for (key, wanted) in attributes(words)? {
        let what = format!("{key} of {name}");
        match key {
            "bind" => expect(&what, bind_name(s.bind), wanted)?,
            "type" => expect(&what, kind_name(s.kind), wanted)?,
            "vis" => expect(
                &what,
                ["DEFAULT", "INTERNAL", "HIDDEN", "PROTECTED"][usize::from(s.other & 3)],
                wanted,
            )?,
            "section" => expect(&what, place(image, s), wanted)?,
            "size" => expect_number(image, &what, s.size, wanted)?,
            "value" => expect_number(image, &what, s.value, wanted)?,
            "version" => expect(&what, s.version.as_deref().unwrap_or("none"), wanted)?,
            _ => return Err(format!("unknown attribute {key}")),
        }
    }
    Ok(())
}

fn bind_name(bind: u8) -> &'static str {
    match bind {
        0 => "LOCAL",
        1 => "GLOBAL",
        2 => "WEAK",
        10 => "UNIQUE",
        _ => "?",
    }
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        0 => "NOTYPE",
        1 => "OBJECT",
        2 => "FUNC",
        3 => "SECTION",
        4 => "FILE",
        5 => "COMMON",
        6 => "TLS",
        10 => "IFUNC",
        _ => "?",
    }
}

fn place(image: &Image, s: &Symbol) -> String {
    match s.shndx {
        0 => "UND".to_owned(),
        0xfff1 => "ABS".to_owned(),
        0xfff2 => "COMMON".to_owned(),
        i => image.sections.get(i as usize).map_or_else(|| i.to_string(), |s| s.name.clone()),
    }
}

/// Whether there is a dynamic entry `TAG` or `TAG VALUE`.
fn dynamic(image: &Image, value: &str) -> Result<bool> {
    let (tag, wanted) = value.split_once(' ').unwrap_or((value, ""));
    let mut values = query::dynamic_values(image, tag);
    if wanted.is_empty() {
        return Ok(values.next().is_some());
    }
    if let Some(bits) = flag_bits(tag, wanted)? {
        return Ok(values.any(|v| v & bits == bits));
    }
    if ["NEEDED", "SONAME", "RUNPATH", "RPATH", "AUXILIARY", "FILTER", "AUDIT", "DEPAUDIT"].contains(&tag) {
        let strtab = image.section(".dynstr").map_or(Ok(&[][..]), |s| image.contents(s))?;
        return Ok(values.any(|v| string_at(strtab, v as u32).is_ok_and(|s| s == wanted)));
    }
    let wanted = expr::value(image, wanted)?;
    Ok(values.any(|v| i128::from(v) == wanted))
}

/// The bits of `A|B` for `DT_FLAGS` and `DT_FLAGS_1`.
fn flag_bits(tag: &str, wanted: &str) -> Result<Option<u64>> {
    let table: &[(&str, u64)] = match tag {
        "FLAGS" => &[("ORIGIN", 1), ("SYMBOLIC", 2), ("TEXTREL", 4), ("BIND_NOW", 8), ("STATIC_TLS", 16)],
        "FLAGS_1" => &[
            ("NOW", 1),
            ("GLOBAL", 2),
            ("NODELETE", 8),
            ("INITFIRST", 0x20),
            ("NOOPEN", 0x40),
            ("ORIGIN", 0x80),
            ("INTERPOSE", 0x400),
            ("NODEFLIB", 0x800),
            ("NODUMP", 0x1000),
            ("PIE", 0x0800_0000),
        ],
        _ => return Ok(None),
    };
    let bit =
        |n: &str| table.iter().find(|t| t.0 == n).map(|t| t.1).ok_or_else(|| format!("unknown flag {n}"));
    wanted.split('|').map(bit).try_fold(0, |all, b| b.map(|b| all | b)).map(Some)
}

fn entries(image: &Image) -> String {
    let strtab = image.section(".dynstr").and_then(|s| image.contents(s).ok()).unwrap_or_default();
    let text = |&(tag, v): &(i64, u64)| {
        let name = query::tag_name(tag);
        let string = ["DT_NEEDED", "DT_SONAME", "DT_RUNPATH", "DT_RPATH"].contains(&name.as_str());
        let value = if string { string_at(strtab, v as u32).unwrap_or_default() } else { format!("{v:#x}") };
        format!("{} {value}", name.trim_start_matches("DT_"))
    };
    let all: Vec<String> = image.dynamic.iter().map(text).collect();
    format!("no such dynamic entry; there are {}", all.join(", "))
}

fn segment(image: &Image, value: &str) -> Result<()> {
    let mut words = value.split_whitespace();
    let name = words.next().ok_or("which segment?")?;
    let wanted = attributes(words)?;
    let all: Vec<&Segment> = query::segments(image, name).collect();
    let matching = all
        .iter()
        .filter(|s| {
            wanted.iter().all(|&(key, v)| match key {
                "flags" => segment_flags(s.flags) == v,
                "align" => expr::value(image, v) == Ok(i128::from(s.align)),
                "memsz" => expr::value(image, v) == Ok(i128::from(s.memsz)),
                "filesz" => expr::value(image, v) == Ok(i128::from(s.filesz)),
                "vaddr" => expr::value(image, v) == Ok(i128::from(s.vaddr)),
                other => other == "count",
            })
        })
        .count();
    let count = wanted.iter().find(|w| w.0 == "count").map(|w| w.1);
    if count.map_or(matching > 0, |c| c == matching.to_string()) {
        return Ok(());
    }
    let all: Vec<String> = all
        .iter()
        .map(|s| format!("{} align={:#x} memsz={:#x}", segment_flags(s.flags), s.align, s.memsz))
        .collect();
    Err(format!("{matching} segments match; {name}: {}", all.join("; ")))
}

fn segment_flags(flags: u32) -> String {
    [(4, 'R'), (2, 'W'), (1, 'X')].iter().filter(|(bit, _)| flags & bit != 0).map(|(_, c)| c).collect()
}

/// The relocations that `TYPE name=value…` describes.
fn matching_relocs<'a>(image: &'a Image, value: &str) -> Result<(Vec<&'a Reloc>, Option<usize>)> {
    let mut words = value.split_whitespace();
    let wanted_type = words.next().ok_or("which relocation?")?;
    let wanted = attributes(words)?;
    let mut count = None;
    let mut out: Vec<&Reloc> = image
        .relocs
        .iter()
        .filter(|r| {
            let prefix = Machine::of(image).prefix;
            same_name(&query::reloc_name(image, r.r_type), prefix, wanted_type) || wanted_type == "*"
        })
        .collect();
    for (key, v) in wanted {
        match key {
            "sym" => out.retain(|r| r.symbol_name == v),
            "in" => out.retain(|r| image.sections[r.section].name == v),
            "addend" => {
                let v = expr::value(image, v)?;
                out.retain(|r| i128::from(r.addend) == v);
            }
            "at" => {
                let v = expr::value(image, v)?;
                out.retain(|r| i128::from(r.offset) == v);
            }
            "count" => count = Some(v.parse().map_err(|_| format!("bad count {v}"))?),
            _ => return Err(format!("unknown attribute {key}")),
        }
    }
    Ok((out, count))
}

fn reloc(image: &Image, value: &str) -> Result<()> {
    let (found, count) = matching_relocs(image, value)?;
    if count.map_or(!found.is_empty(), |c| c == found.len()) {
        return Ok(());
    }
    let all = image.relocs.iter().take(40).map(|r| show(image, r)).collect::<Vec<_>>();
    Err(format!("{} relocations match; there are\n  {}", found.len(), all.join("\n  ")))
}

fn no_reloc(image: &Image, value: &str) -> Result<()> {
    match matching_relocs(image, value)?.0.first() {
        Some(r) => Err(format!("found {}", show(image, r))),
        None => Ok(()),
    }
}

fn show(image: &Image, r: &Reloc) -> String {
    let name = query::reloc_name(image, r.r_type);
    format!("{:#x} {name} {} {:+#x} in {}", r.offset, r.symbol_name, r.addend, image.sections[r.section].name)
}

fn need_version(image: &Image, value: &str, wanted: bool) -> Result<()> {
    let (file, version) = value.split_once(' ').ok_or("expected FILE VERSION")?;
    let found = image.needs.iter().any(|n| n.file == file && n.name == version);
    if found == wanted {
        return Ok(());
    }
    let all: Vec<String> = image.needs.iter().map(|n| format!("{} {}", n.file, n.name)).collect();
    Err(format!("needed versions: {}", all.join(", ")))
}

/// `NAME [PARENT…]`.
fn def_version(image: &Image, value: &str) -> Result<()> {
    let mut words = value.split_whitespace();
    let name = words.next().ok_or("which version?")?;
    let def = image.defs.iter().find(|d| d.name == name).ok_or_else(|| format!("no version {name}"))?;
    let parents: Vec<&str> = words.collect();
    expect(&format!("parents of {name}"), def.parents.join(" "), &parents.join(" "))
}

/// `LENGTH`, or `= HEX`.
fn build_id(image: &Image, value: &str) -> Result<()> {
    let s = query::section(image, ".note.gnu.build-id")?;
    let note = image.contents(s)?;
    // The id may be shorter than its place, which is padded.
    let size = image.form.u32_at(note, 4)? as usize;
    let desc = note.get(16..16 + size).ok_or("the build id note is too short")?;
    let hex: String = desc.iter().map(|b| format!("{b:02x}")).collect();
    match value.strip_prefix('=') {
        Some(wanted) => expect("the build id", hex, wanted.trim()),
        None if desc.iter().all(|&b| b == 0) => Err("the build id is zero".to_owned()),
        None => expect("the length of the build id", desc.len(), value.trim()),
    }
}

/// Sections in ascending order of address.
fn order(image: &Image, value: &str) -> Result<()> {
    let names: Vec<&str> = value.split_whitespace().collect();
    for pair in names.windows(2) {
        let (a, b) = (query::section(image, pair[0])?, query::section(image, pair[1])?);
        if a.addr >= b.addr {
            return Err(format!("{} ({:#x}) is not below {} ({:#x})", a.name, a.addr, b.name, b.addr));
        }
    }
    Ok(())
}

/// `EXPRESSION = 48 8d ?? …`: bytes of the loaded image.
fn bytes(image: &Image, value: &str) -> Result<()> {
    let (at, pattern) = value.rsplit_once('=').ok_or("expected ADDRESS = BYTES")?;
    let addr = u64::try_from(expr::value(image, at)?).map_err(|e| e.to_string())?;
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let actual = image.memory(addr, pattern.len())?;
    let same = |(b, p): (&u8, &&str)| *p == "??" || u8::from_str_radix(p, 16) == Ok(*b);
    if actual.iter().zip(&pattern).all(same) {
        return Ok(());
    }
    let shown: Vec<String> = actual.iter().map(|b| format!("{b:02x}")).collect();
    Err(format!("{addr:#x}: {}, not {}", shown.join(" "), pattern.join(" ")))
}

/// `SECTION [xCOUNT] = TEXT`: the contents hold the text (at least once, or that often).
fn contains(image: &Image, value: &str) -> Result<()> {
    let (what, text) = value.split_once(" = ").ok_or("expected SECTION = TEXT")?;
    let (name, count) = what.split_once(" x").map_or((what, None), |(n, c)| (n, Some(c)));
    let contents = image.contents(query::section(image, name.trim())?)?;
    let wanted = words::unescape(text);
    let found = contents.windows(wanted.len().max(1)).filter(|w| *w == wanted).count();
    match count {
        None if found > 0 => Ok(()),
        None => Err(format!("{name} does not contain `{text}`")),
        Some(c) => expect(&format!("the count of `{text}` in {name}"), found, c.trim()),
    }
}

/// `ARGUMENTS => REGEX` on the output of llvm-readelf.
fn tool_output(tool: &str, path: &Path, value: &str, wanted: bool) -> Result<()> {
    let (args, pattern) = value.split_once(" => ").ok_or("expected ARGUMENTS => REGEX")?;
    let mut command = std::process::Command::new(tool);
    let out = command.args(words::split(args)?).arg(path).output().map_err(|e| format!("{tool}: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    let found = regex(pattern)?.is_match(&text);
    if found == wanted { Ok(()) } else { Err(format!("{tool} {args} printed:\n{text}")) }
}

/// `SYMBOL => REGEX` on its disassembly, blanks collapsed to one.
fn disassembly(path: &Path, value: &str) -> Result<()> {
    let (symbol, pattern) = value.split_once(" => ").ok_or("expected SYMBOL => REGEX")?;
    let mut command = std::process::Command::new("llvm-objdump-22");
    command.args(["-d", "--no-show-raw-insn", "--no-leading-addr"]);
    command.arg(format!("--disassemble-symbols={symbol}")).arg(path);
    let out = command.output().map_err(|e| format!("llvm-objdump-22: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    let lines: Vec<String> =
        text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let text = lines.join("\n");
    if regex(pattern)?.is_match(&text) { Ok(()) } else { Err(format!("the disassembly is\n{text}")) }
}

/// Compiles a pattern in which `^` and `$` match at lines.
pub fn regex(pattern: &str) -> Result<regex_lite::Regex> {
    let compiled = regex_lite::RegexBuilder::new(pattern).multi_line(true).build();
    compiled.map_err(|e| format!("bad pattern `{pattern}`: {e}"))
}
