//! Sections: which are kept, merged, folded and compressed.

use std::path::PathBuf;

use weld_common::args::Value::{None as NoValue, Optional, Required};
use weld_common::args::values::{number, pattern};
use weld_common::args::{Group, Spec, ValueError, accepted, choice, choose, flag, refused, take};

use super::super::state::State;
use super::super::values::OptionError;
use crate::compressed::Algorithm;
use crate::options::{Compression, Icf, Orphans, SortCommon};
use crate::script::input_sections::Sort;

pub const GROUP: Group<State> = Group { title: "Sections", prefix: "", rows: ROWS };

const ALGORITHMS: &[(&str, Option<Algorithm>)] = &[
    ("none", None),
    ("zlib", Some(Algorithm::Zlib)),
    ("zlib-gabi", Some(Algorithm::Zlib)),
    ("zstd", Some(Algorithm::Zstd)),
];

const ROWS: &[Spec<State>] = &[
    flag(&["gc-sections"], "Leave out sections that nothing refers to.", |s| s.o.sections.gc_sections = true),
    flag(&["no-gc-sections"], "Keep them (default).", |s| s.o.sections.gc_sections = false),
    take(
        &["print-gc-sections"],
        Optional("FILE"),
        "List the sections that --gc-sections leaves out, in FILE or on standard output.",
        |s, v| {
            s.o.reports.print_gc_sections = Some(v.value.map_or("-".into(), PathBuf::from));
            Ok(())
        },
    ),
    flag(&["no-print-gc-sections"], "Do not list them (default).", |s| s.o.reports.print_gc_sections = None),
    flag(&["emit-relocs", "q"], "Keep relocations in the output.", |s| s.o.relocs.emit_relocs = true),
    take(
        &["compress-debug-sections"],
        Required("HOW"),
        "Compress debug sections: none (default), zlib, zstd.",
        |s, v| {
            if v.text()? == "zlib-gnu" {
                return Err(OptionError::OldCompression);
            }
            let algorithm = choice(v, ALGORITHMS)?;
            s.o.sections.compress_debug = algorithm.map(|algorithm| Compression { algorithm, level: None });
            Ok(())
        },
    ),
    take(
        &["compress-sections"],
        Required("GLOB=HOW[:LEVEL]"),
        "Compress sections outside memory whose names match: none, zlib (levels 0 to 9) or zstd (1 to 22). \
         The last match counts, and over --compress-debug-sections.",
        |s, v| {
            s.o.sections.compress_sections.push(compress_sections(v.text()?)?);
            Ok(())
        },
    ),
    take(
        &["unique"],
        Optional("GLOB"),
        "Make an output section of each input section whose name matches; without GLOB, of each that has no \
         place by its name. What is run through as a whole (.init_array and the like) stays together.",
        |s, v| {
            match v.value {
                None => s.o.sections.unique_sections = true,
                Some(_) => s.o.sections.unique_patterns.push(checked_pattern(v.text()?)?.to_owned()),
            }
            Ok(())
        },
    ),
    take(
        &["icf"],
        Required("LEVEL"),
        "Of sections that are the same, keep one: none (default), safe (those whose addresses nobody compares, as \
         .llvm_addrsig says), all (also code whose address may be compared).",
        |s, v| {
            s.o.sections.icf = choice(v, &[("none", Icf::None), ("safe", Icf::Safe), ("all", Icf::All)])?;
            Ok(())
        },
    ),
    flag(&["no-icf"], "The same as --icf=none.", |s| s.o.sections.icf = Icf::None),
    take(&["keep-unique"], Required("SYMBOL"), "Do not fold the section of this symbol.", |s, v| {
        s.o.sections.keep_unique.push(v.text()?.to_owned());
        Ok(())
    }),
    flag(
        &["ignore-data-address-equality"],
        "Variables may get the addresses of others: --icf=all folds read-only data as it folds code, and \
         variables that a shared object protects may be copied.",
        |s| s.o.sections.ignore_data_address_equality = true,
    ),
    flag(
        &["ignore-function-address-equality"],
        "A function may have other addresses in other modules: PLT entries may stand for functions that a \
         shared object protects.",
        |s| s.o.sections.ignore_function_address_equality = true,
    ),
    take(
        &["print-icf-sections"],
        Optional("FILE"),
        "List the sections that --icf folds, in FILE or on standard output.",
        |s, v| {
            s.o.reports.print_icf_sections = Some(v.value.map_or("-".into(), PathBuf::from));
            Ok(())
        },
    ),
    flag(&["no-print-icf-sections"], "Do not list them (default).", |s| {
        s.o.reports.print_icf_sections = None
    }),
    flag(
        &["gdb-index"],
        "Write .gdb_index, by which GDB finds what a name or an address belongs to without reading all debug \
         information first. Names come from the lists that compilers make for it (-ggnu-pubnames), or else from the \
         debug information itself.",
        |s| s.o.sections.gdb_index = true,
    ),
    flag(&["no-gdb-index"], "Write no .gdb_index (default).", |s| s.o.sections.gdb_index = false),
    flag(
        &["debug-names"],
        "Make one table of the names of all units (.debug_names), by which debuggers find things without reading all \
         debug information first, of those that compilers make (-gdwarf-5 -gpubnames).",
        |s| s.o.sections.debug_names = true,
    ),
    flag(&["no-debug-names"], "Leave these tables one after the other (default).", |s| {
        s.o.sections.debug_names = false
    }),
    flag(
        &["branch-to-branch"],
        "x86-64: let branches to instructions that only jump on go where those go.",
        |s| s.o.relocs.skip_jumps = true,
    ),
    flag(&["no-branch-to-branch"], "Do not (default).", |s| s.o.relocs.skip_jumps = false),
    refused(
        &["optimize-bb-jumps"],
        NoValue,
        "compile without -fbasic-block-sections; --branch-to-branch shortens chains of jumps",
    ),
    accepted(&["no-optimize-bb-jumps"], NoValue, "it is the default"),
    flag(
        &["gc-keep-exported"],
        "With --gc-sections, keep what defines symbols that other modules could see, also in an executable.",
        |s| s.o.sections.gc_keep_exported = true,
    ),
    flag(
        &["force-group-allocation"],
        "With -r, join members of section groups with other sections of their names; other output has no groups.",
        |s| s.o.sections.dissolve_groups = true,
    ),
    flag(
        &["relocatable-merge-sections"],
        "With -r, give sections the names that other output gives them: .text.f goes to .text. Arrays keep their priorities.",
        |s| s.o.sections.merge_names = true,
    ),
    take(&["discard-section"], Required("SECTION"), "Leave out input sections of this name.", |s, v| {
        s.o.sections.discarded.push(v.string()?);
        Ok(())
    }),
    take(
        &["no-discard-section"],
        Required("SECTION"),
        "Do not, although an option before says so.",
        |s, v| {
            let name = v.text()?;
            s.o.sections.discarded.retain(|discarded| discarded != name);
            Ok(())
        },
    ),
    flag(&["discard-sframe"], "Leave out .sframe, by which callers are found (GNU ld 2.46).", |s| {
        s.o.sections.discarded.push(".sframe".to_owned());
    }),
    flag(
        &["zero-to-bss"],
        "Let data that is nothing but zeroes take no room in the file: .data goes to .bss, other sections become such.",
        |s| s.o.sections.zero_to_bss = true,
    ),
    take(
        &["orphan-handling"],
        Required("HOW"),
        "What happens to sections that a linker script does not place: place (default), discard, warn or error.",
        |s, v| {
            let known = [
                ("place", Orphans::Place),
                ("discard", Orphans::Discard),
                ("warn", Orphans::Warn),
                ("error", Orphans::Error),
            ];
            s.o.layout.orphans = choice(v, &known)?;
            Ok(())
        },
    ),
    flag(
        &["enable-non-contiguous-regions"],
        "Put sections that do not fit their memory region where the next pattern of the linker script that matches them has them.",
        |s| s.o.layout.non_contiguous_regions = true,
    ),
    accepted(
        &["enable-non-contiguous-regions-warnings"],
        NoValue,
        "a section that fits nowhere is an error in any case",
    ),
    take(
        &["sort-section"],
        Required("KEY"),
        "How patterns of a linker script sort that do not say so: name, alignment or none.",
        |s, v| {
            let known = [("name", Some(Sort::Name)), ("alignment", Some(Sort::Alignment)), ("none", None)];
            s.o.layout.sort_sections = choice(v, &known)?;
            Ok(())
        },
    ),
    take(
        &["sort-common"],
        Optional("ORDER"),
        "Sort common symbols by alignment: descending (the meaning without ORDER) or ascending.",
        |s, v| {
            let known = [("ascending", SortCommon::Ascending), ("descending", SortCommon::Descending)];
            let order = if v.value.is_some() { choice(v, &known)? } else { SortCommon::Descending };
            s.o.symbols.sort_common = Some(order);
            Ok(())
        },
    ),
    refused(
        &["split-by-file", "split-by-reloc"],
        Optional("SIZE"),
        "it is for formats that limit sections; --unique keeps input sections apart",
    ),
    refused(
        &["split-stack-adjust-size"],
        Required("SIZE"),
        "calls from split-stack code to other code are not adjusted",
    ),
    flag(
        &["ctors-in-init-array"],
        "Put .ctors and .dtors into .init_array and .fini_array (default).",
        |s| {
            s.o.sections.ctors_in_init_array = true;
        },
    ),
    flag(&["no-ctors-in-init-array"], "Keep them apart, for start files that run them.", |s| {
        s.o.sections.ctors_in_init_array = false;
    }),
    accepted(
        &["strip-discarded", "no-strip-discarded"],
        NoValue,
        "symbols of discarded sections have no value",
    ),
];

/// The text of a pattern that is one.
fn checked_pattern(text: &str) -> Result<&str, ValueError> {
    pattern(text).map(|_| text)
}

/// `GLOB=HOW[:LEVEL]`.
fn compress_sections(text: &str) -> Result<(String, Option<Compression>), OptionError> {
    let Some((glob, how)) = text.rsplit_once('=').filter(|(glob, _)| !glob.is_empty()) else {
        return Err(ValueError::Expected("GLOB=HOW").into());
    };
    checked_pattern(glob)?;
    let (name, level) = match how.split_once(':') {
        Some((name, level)) => (name, Some(number(level)?)),
        None => (how, None),
    };
    let Some(algorithm) = choose(name, ALGORITHMS)? else { return Ok((glob.to_owned(), None)) };
    if let Some(level) = level.filter(|level| !algorithm.levels().contains(level)) {
        return Err(OptionError::Level { level, algorithm });
    }
    Ok((glob.to_owned(), Some(Compression { algorithm, level: level.map(|level| level as u32) })))
}
