//! The default layout as a linker script: what `--print-default-script` prints, and what scripts add to that
//! only add to a layout (`INSERT`, or `PHDRS` without `SECTIONS`).
//!
//! It is made from the program of the default layout ([`super::standard`], as options edit it) and a list of
//! the sections that programs usually have. What is not in that list is an orphan, which lies where the
//! default layout has it.

use std::borrow::Cow;
use std::fmt::Write;

use super::OutputSection;
use super::chunk::ChunkKind;
use super::program::{Memory, Program};
use super::standard::RELRO_PADDING;
use crate::address::Address;
use crate::arch;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::options::{InputArg, InputKind, Magic, Options, OutputKind};
use crate::sections::bins::prefixes;
use crate::sections::names::TEXT_PREFIXES;

/// A section that programs usually have: its name, type and flags, and which of the linker's own it is.
type Usual = (&'static str, u32, u64, Option<ChunkKind>);

const A: u64 = SHF_ALLOC;
const AX: u64 = SHF_ALLOC | SHF_EXECINSTR;
const WA: u64 = SHF_ALLOC | SHF_WRITE;
const WAT: u64 = WA | SHF_TLS;

/// On machines that tag variables.
const MEMTAG_GLOBALS: &str = ".memtag.globals.dynamic";

/// In the order in which they usually come, where the program leaves that to the inputs.
const USUAL: &[Usual] = &[
    (".interp", SHT_PROGBITS, A, Some(ChunkKind::Interp)),
    (".note.ABI-tag", SHT_NOTE, A, None),
    (".note.gnu.property", SHT_NOTE, A, None),
    (".note.gnu.build-id", SHT_NOTE, A, None),
    (".note.package", SHT_NOTE, A, None),
    (".note.android.memtag", SHT_NOTE, A, None),
    (".dynsym", SHT_DYNSYM, A, None),
    (".gnu.version", SHT_GNU_VERSYM, A, None),
    (".gnu.version_d", SHT_GNU_VERDEF, A, None),
    (".gnu.version_r", SHT_GNU_VERNEED, A, None),
    (".gnu.hash", SHT_GNU_HASH, A, None),
    (".hash", SHT_HASH, A, None),
    (".dynstr", SHT_STRTAB, A, None),
    (".rela.dyn", SHT_RELA, A, None),
    (".rel.dyn", SHT_REL, A, None),
    (".relr.dyn", SHT_RELR, A, None),
    (".relr.auth.dyn", SHT_AARCH64_AUTH_RELR, A, None),
    (".rela.plt", SHT_RELA, A, None),
    (".rel.plt", SHT_REL, A, None),
    (".rodata", SHT_PROGBITS, A, None),
    (".gcc_except_table", SHT_PROGBITS, A, None),
    (".eh_frame_hdr", SHT_PROGBITS, A, Some(ChunkKind::EhFrameHdr)),
    (".eh_frame", SHT_PROGBITS, A, None),
    (".sframe", SHT_GNU_SFRAME, A, Some(ChunkKind::SFrame)),
    (".text", SHT_PROGBITS, AX, None),
    (".init", SHT_PROGBITS, AX, None),
    (".fini", SHT_PROGBITS, AX, None),
    (".plt", SHT_PROGBITS, AX, Some(ChunkKind::Plt)),
    (".plt.sec", SHT_PROGBITS, AX, Some(ChunkKind::PltSec)),
    (".iplt", SHT_PROGBITS, AX, Some(ChunkKind::Iplt)),
    (".tdata", SHT_PROGBITS, WAT, None),
    (".tbss", SHT_NOBITS, WAT, None),
    (".preinit_array", SHT_PREINIT_ARRAY, WA, None),
    (".fini_array", SHT_FINI_ARRAY, WA, None),
    (".init_array", SHT_INIT_ARRAY, WA, None),
    (".ctors", SHT_PROGBITS, WA, None),
    (".dtors", SHT_PROGBITS, WA, None),
    (".jcr", SHT_PROGBITS, WA, None),
    (".data.rel.ro", SHT_PROGBITS, WA, None),
    (".bss.rel.ro", SHT_NOBITS, WA, None),
    (".dynamic", SHT_DYNAMIC, WA, Some(ChunkKind::Dynamic)),
    (".got", SHT_PROGBITS, WA, Some(ChunkKind::Got)),
    (".data", SHT_PROGBITS, WA, None),
    (".tm_clone_table", SHT_PROGBITS, WA, None),
    (".got.plt", SHT_PROGBITS, WA, Some(ChunkKind::GotPlt)),
    (".bss", SHT_NOBITS, WA, None),
];

/// The same of sections that may be far from all others.
const USUAL_LARGE: &[Usual] = &[
    (".lrodata", SHT_PROGBITS, A, None),
    (".ltext", SHT_PROGBITS, AX, None),
    (".ldata", SHT_PROGBITS, WA, None),
    (".lbss", SHT_NOBITS, WA, None),
];

/// What is to be printed of it: by `--print-default-script` as it is; by `--verbose`, if there is no other
/// script, with lines around it at which build systems cut it out.
pub fn printed(options: &Options) -> Option<String> {
    let script = || text(options, options.inputs.machine.unwrap_or(arch::default()).facts());
    if options.reports.default_script {
        return Some(script());
    }
    let is_script = |input: &InputArg| matches!(input.kind, InputKind::Script(_));
    if !options.reports.verbose
        || options.kind == OutputKind::Relocatable
        || options.inputs.args.iter().any(is_script)
    {
        return None;
    }
    let line = "=".repeat(50);
    let version = options.compat_mode.version_text();
    Some(format!("{version}using internal linker script:\n{line}\n{}{line}\n", script()))
}

/// The default layout for a machine, as options edit it.
pub fn text(options: &Options, machine: &'static Facts) -> String {
    let program = Program::new(options, machine, 0);
    let mut outs = usual(options, machine);
    outs.iter_mut().for_each(|out| program.assign(out));
    // Sorting keeps the order of those that have one place.
    outs.sort_by_key(|out| out.rank);
    let mut text = String::from("SECTIONS\n{\n");
    let pic = matches!(options.kind, OutputKind::Pie | OutputKind::Shared);
    let base = if pic { Address::ZERO } else { machine.image_base };
    let headers = if options.layout.magic == Magic::Paged { " + SIZEOF_HEADERS" } else { "" };
    line(&mut text, &format!(". = SEGMENT_START(\"text-segment\", {base:#x}){headers};"));
    let mut before: Option<Memory> = None;
    for out in &outs {
        let memory = out.memory;
        if let Some(from) = before.filter(|from| *from != memory) {
            step(&mut text, &program, from, memory);
        }
        before = Some(memory);
        line(
            &mut text,
            &format!("{} : {{ {} }}", String::from_utf8_lossy(&out.name), inputs(&out.name, options)),
        );
    }
    text.push_str("}\n");
    text
}

fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "  {line}");
}

fn usual(options: &Options, machine: &Facts) -> Vec<OutputSection<'static>> {
    let of = |&(name, kind, flags, own): &Usual, more: u64| {
        let mut out = OutputSection::new(Cow::Borrowed(name.as_bytes()), kind, flags | more, 0);
        out.own = own;
        out
    };
    let mut outs: Vec<OutputSection<'static>> = Vec::new();
    if options.sections.keep_text_section_prefix {
        let part = |name: &&'static [u8]| OutputSection::new(Cow::Borrowed(*name), SHT_PROGBITS, AX, 0);
        outs.extend(TEXT_PREFIXES.iter().map(part));
    }
    for usual in USUAL {
        // In front of the first table that is not a note.
        if let (".dynsym", Some(tagging)) = (usual.0, &machine.tagging) {
            outs.push(of(&(MEMTAG_GLOBALS, tagging.descriptors, A, None), 0));
        }
        outs.push(of(usual, 0));
    }
    if machine.large_flag() != 0 {
        outs.extend(USUAL_LARGE.iter().map(|usual| of(usual, machine.large_flag())));
    }
    outs
}

/// What comes between sections of different memory: the next one begins on a page of its own, whose bytes the
/// file has once. What becomes read-only is filled up to the end of a page.
fn step(text: &mut String, program: &Program, from: Memory, to: Memory) {
    if from == Memory::Relro {
        let name = String::from_utf8_lossy(RELRO_PADDING);
        line(text, &format!("{name} : {{ . += -ABSOLUTE(ADDR({name})) & (CONSTANT(COMMONPAGESIZE) - 1); }}"));
        line(
            text,
            &format!(". = ALIGN(CONSTANT(MAXPAGESIZE)) + (ADDR({name}) & (CONSTANT(MAXPAGESIZE) - 1));"),
        );
    } else if program.rights(from) != program.rights(to) {
        line(text, ". = ALIGN(CONSTANT(MAXPAGESIZE)) + (. & (CONSTANT(MAXPAGESIZE) - 1));");
    }
}

/// What lies in an output section of the default layout.
fn inputs(name: &[u8], options: &Options) -> String {
    let name = String::from_utf8_lossy(name);
    let joins = options.sections.ctors_in_init_array;
    let array = |old: &str| {
        let by_number = format!("SORT_BY_INIT_PRIORITY({name}.*)");
        match joins {
            true => format!(
                "KEEP(*({by_number} SORT_BY_INIT_PRIORITY({old}.*))) KEEP(*({name} EXCLUDE_FILE(*crtbegin.o *crtbegin?.o *crtend.o *crtend?.o) {old}))"
            ),
            false => format!("KEEP(*({by_number} {name}))"),
        }
    };
    match &*name {
        ".init_array" => array(".ctors"),
        ".fini_array" => array(".dtors"),
        ".init" | ".fini" | ".preinit_array" | ".jcr" => format!("KEEP(*({name}))"),
        ".ctors" | ".dtors" => format!("KEEP(*({name} {name}.*))"),
        ".bss" => "*(.bss .bss.* COMMON)".to_owned(),
        ".rela.plt" | ".rel.plt" => format!("*({name} {})", name.replace(".plt", ".iplt")),
        _ if is_prefix(name.as_bytes()) => format!("*({name} {name}.*)"),
        _ => format!("*({name})"),
    }
}

/// Whether the output section takes in `NAME.anything`.
fn is_prefix(name: &[u8]) -> bool {
    let letter = name.get(1).copied().unwrap_or(0);
    TEXT_PREFIXES.contains(&name) || prefixes(letter).iter().any(|(prefix, _)| *prefix == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::commands::parse_alone;

    #[test]
    fn it_is_a_script_in_the_order_of_the_program() {
        let machine = crate::arch::default().facts();
        let mut options = Options::default();
        options.layout.relro = true;
        let text = text(&options, machine);
        assert!(parse_alone(text.as_bytes(), "default").is_ok(), "{text}");
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
        let order = [" .interp :", " .rodata :", " .text :", " .dynamic :", " .relro_padding :", " .data :"];
        assert!(order.iter().map(|what| place(what)).is_sorted());
    }
}
