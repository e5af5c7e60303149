//! All options, in groups.

use std::path::PathBuf;

use weld_common::args::Value::{None as NoValue, Optional, Required, Suffix};
use weld_common::args::values::number;
use weld_common::args::{
    Given, Group, Index, Spec, Table, ValueError, accepted, choice, flag, lost, name_count, refused, take,
};
use weld_common::io::output::EngineChoice;
use weld_common::io::readahead::Prefetch;
use weld_common::link_slots::rows as sharing;

use super::state::{Mode, State, Stop, Strip};
use crate::args::values::{OptionError, alignment, image_base, sizes};
use crate::options::{Incremental, Timestamp, Verbose};

pub static GROUPS: &[Group<State>] = &[
    Group { title: "Inputs and libraries", prefix: "", rows: INPUTS },
    Group { title: "Symbols", prefix: "", rows: SYMBOLS },
    Group { title: "Imports and exports", prefix: "", rows: EXPORTS },
    Group { title: "The image", prefix: "", rows: IMAGE },
    Group { title: "Sections and debug information", prefix: "", rows: SECTIONS },
    Group { title: "Reports and threads", prefix: "", rows: REPORTS },
    Group { title: "Link-time optimisation", prefix: "", rows: super::lto::ROWS },
    Group { title: "Other", prefix: "", rows: OTHER },
];
static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);
pub static TABLE: Table<State> = Table::new(GROUPS, &INDEX);

const INPUTS: &[Spec<State>] = &[
    take(
        &["m"],
        Required("EMULATION"),
        "Link for i386pep (x64), i386pe (x86) or arm64pe (ARM64).",
        State::emulation,
    ),
    take(
        &["library", "l"],
        Required("NAME"),
        "Link libNAME.dll.a, NAME.dll.a, libNAME.a, NAME.lib, libNAME.lib, libNAME.dll or NAME.dll, whichever a directory has first; -l:FILE looks for FILE itself.",
        State::library,
    ),
    take(&["library-path", "L"], Required("DIR"), "Look for libraries in DIR.", |s, v| {
        s.o.lib_paths.push(v.os().into());
        Ok(())
    }),
    flag(&["Bstatic", "dn", "non_shared", "static"], "Find only archives for the -l that follow.", |s| {
        s.mode.is_static = true;
    }),
    flag(&["Bdynamic", "dy", "call_shared"], "Find import libraries and DLLs, too (default).", |s| {
        s.mode.is_static = false;
    }),
    flag(&["whole-archive"], "Link all members of the archives that follow.", |s| s.mode.whole = true),
    flag(&["no-whole-archive"], "Link only the members that are needed (default).", |s| s.mode.whole = false),
    flag(&["start-lib"], "Link the objects that follow only if they are needed.", |s| s.mode.lazy = true),
    flag(&["end-lib"], "End what --start-lib started.", |s| s.mode.lazy = false),
    flag(&["push-state"], "Remember -Bstatic and --whole-archive until --pop-state.", |s| {
        s.modes.push(s.mode)
    }),
    flag(&["pop-state"], "Go back to what --push-state remembered.", |s| {
        s.mode = s.modes.pop().unwrap_or(Mode::default());
    }),
    accepted(
        &["start-group", "(", "end-group", ")"],
        NoValue,
        "archives are searched until nothing changes in any case",
    ),
    accepted(&["as-needed", "no-as-needed"], NoValue, "only DLLs that are used are needed in any case"),
    accepted(&["sysroot"], Required("DIR"), "no directory is looked in that was not named"),
    accepted(&["nostdlib"], NoValue, "no directory is looked in that was not named"),
    refused(&["script", "T", "default-script", "dT"], Required("FILE"), "images of PE have no scripts"),
    refused(&["dll-search-prefix"], Required("TEXT"), "name the DLL itself"),
];

const SYMBOLS: &[Spec<State>] = &[
    take(&["entry", "e"], Required("SYMBOL"), "Start the program at SYMBOL.", |s, v| {
        s.entry = Some(v.string()?);
        Ok(())
    }),
    take(&["undefined", "u"], Required("SYMBOL"), "Refer to SYMBOL if somebody defines it.", |s, v| {
        s.o.demands.optional_includes.push(v.string()?);
        Ok(())
    }),
    take(
        &["undefined-glob"],
        Required("PATTERN"),
        "Refer to all symbols that PATTERN matches and that an object defines or a library offers.",
        |s, v| {
            s.o.include_globs.push(crate::args::values::pattern(v)?);
            Ok(())
        },
    ),
    take(&["require-defined"], Required("SYMBOL"), "Refer to SYMBOL.", |s, v| s.o.demands.include(v)),
    take(
        &["wrap"],
        Required("SYMBOL"),
        "References to SYMBOL go to __wrap_SYMBOL, and those to __real_SYMBOL to SYMBOL.",
        |s, v| {
            s.o.wraps.push(v.string()?);
            Ok(())
        },
    ),
    flag(&["allow-multiple-definition"], "Link although symbols are defined twice; the first counts.", |s| {
        s.o.force.multiple = true;
    }),
    flag(&["no-allow-multiple-definition"], "That is an error (default).", |s| {
        s.o.force.multiple = false;
    }),
    flag(&["demangle"], "Show names as people wrote them (default).", |s| s.o.demangle = true),
    flag(&["no-demangle"], "Show names as objects have them.", |s| s.o.demangle = false),
    take(
        &["defsym"],
        Required("NAME=VALUE"),
        "Define NAME: a number, or what another symbol is.",
        State::define,
    ),
    accepted(&["leading-underscore", "no-leading-underscore"], NoValue, "the machine decides"),
    accepted(&["no-undefined"], NoValue, "undefined symbols are errors"),
    accepted(&["z"], Required("KEYWORD"), "its keywords are for ELF"),
    accepted(&["allow-shlib-undefined", "no-allow-shlib-undefined"], NoValue, "DLLs are not looked into"),
    flag(
        &["enable-stdcall-fixup"],
        "x86: find functions whether or not their names say how they are called; without a warning.",
        |s| {
            s.o.mingw.stdcall_fixup = Some(true);
        },
    ),
    flag(&["disable-stdcall-fixup"], "x86: names have to say how functions are called.", |s| {
        s.o.mingw.stdcall_fixup = Some(false);
    }),
];

const EXPORTS: &[Spec<State>] = &[
    flag(&["enable-auto-import"], "Data of DLLs need not be declared as such (default).", |s| {
        s.o.mingw.auto_import = Some(true);
    }),
    flag(&["disable-auto-import"], "Data of DLLs has to be declared as such.", |s| {
        s.o.mingw.auto_import = Some(false);
    }),
    flag(
        &["enable-runtime-pseudo-reloc"],
        "For that, places are changed when the program starts (default).",
        |s| {
            s.o.mingw.pseudo_relocs = Some(true);
        },
    ),
    flag(&["disable-runtime-pseudo-reloc"], "No place is changed when the program starts.", |s| {
        s.o.mingw.pseudo_relocs = Some(false);
    }),
    take(&["delayload"], Required("DLL"), "Load DLL when one of its functions is called first.", |s, v| {
        s.o.delay_loads.push(v.text()?.to_ascii_lowercase());
        Ok(())
    }),
    flag(&["export-all-symbols"], "Export all symbols, also beside those that are exported by name.", |s| {
        s.o.mingw.export_all = true;
    }),
    flag(&["exclude-all-symbols"], "Export only what is exported by name.", |s| s.o.mingw.exclude_all = true),
    take(&["exclude-symbols"], Required("LIST"), "Of all symbols leave these out.", |s, v| {
        State::list(v, &mut s.o.mingw.excluded)
    }),
    take(
        &["exclude-libs"],
        Required("LIST"),
        "Of all symbols leave those of these archives out. ALL: of all archives.",
        |s, v| State::list(v, &mut s.o.mingw.excluded_libs),
    ),
    refused(&["exclude-modules-for-implib"], Required("LIST"), "import libraries have imports only"),
    flag(&["kill-at"], "x86: export names without @ and what is after it.", |s| s.o.mingw.kill_at = true),
    flag(&["add-stdcall-alias"], "x86: export functions without @ and what is after it, too.", |s| {
        s.o.mingw.stdcall_alias = true;
    }),
    take(&["out-implib"], Required("FILE"), "Write an import library to FILE.", |s, v| {
        s.o.implib.path = Some(v.os().into());
        Ok(())
    }),
    take(&["output-def"], Required("FILE"), "Write what is exported to FILE.", |s, v| {
        s.o.mingw.output_def = Some(v.os().into());
        Ok(())
    }),
    accepted(&["compat-implib"], NoValue, "import libraries have both names of each symbol"),
    accepted(&["warn-duplicate-exports"], NoValue, "there is a warning in any case"),
];

/// Half of a version.
macro_rules! half {
    ($name:literal, $help:literal, $field:ident . $half:tt) => {
        take(&[$name], Required("NUMBER"), $help, |s: &mut State, v: Given<'_>| {
            let value = number(v.text()?)?;
            s.$field.$half = Some(u16::try_from(value).map_err(|_| OptionError::Bits { value, bits: 16 })?);
            Ok(())
        })
    };
}

const IMAGE: &[Spec<State>] = &[
    take(&["output", "o"], Required("FILE"), "Write the image to FILE. Default: a.exe, or a.dll.", |s, v| {
        s.o.out = Some(v.os().into());
        Ok(())
    }),
    flag(&["shared", "Bshareable", "dll"], "Make a DLL.", |s| s.o.dll = true),
    take(
        &["subsystem"],
        Required("NAME[:VERSION]"),
        "What the program runs in: console (default), windows, native, …",
        State::subsystem,
    ),
    half!("major-subsystem-version", "The version of the subsystem that it needs.", subsystem_version.0),
    half!("minor-subsystem-version", "The other half of it.", subsystem_version.1),
    half!("major-os-version", "The version of the system that it needs.", os_version.0),
    half!("minor-os-version", "The other half of it.", os_version.1),
    half!("major-image-version", "The image's own version.", image_version.0),
    half!("minor-image-version", "The other half of it.", image_version.1),
    take(&["image-base"], Required("ADDRESS"), "The address that the image is made for.", |s, v| {
        s.o.loading.base = Some(image_base(number(v.text()?)?)?);
        Ok(())
    }),
    accepted(
        &["enable-auto-image-base", "disable-auto-image-base"],
        Optional("ADDRESS"),
        "the system chooses addresses",
    ),
    take(
        &["stack"],
        Required("RESERVE[,COMMIT]"),
        "The size of the stack. Default: 0x200000,0x1000.",
        |s, v| {
            s.o.demands.stack = Some(sizes(v.text()?)?);
            Ok(())
        },
    ),
    take(&["heap"], Required("RESERVE[,COMMIT]"), "The size of the heap.", |s, v| {
        s.o.demands.heap = Some(sizes(v.text()?)?);
        Ok(())
    }),
    take(
        &["section-alignment"],
        Required("BYTES"),
        "Sections begin at multiples of BYTES in memory.",
        |s, v| {
            s.o.layout.align = alignment(v, 32..=1 << 26)?;
            Ok(())
        },
    ),
    take(
        &["file-alignment"],
        Required("BYTES"),
        "Sections begin at multiples of BYTES in the file.",
        |s, v| {
            s.o.layout.file_align = alignment(v, 32..=1 << 16)?;
            Ok(())
        },
    ),
    flag(&["dynamicbase"], "The system may choose the address (default).", |s| {
        s.o.loading.dynamic_base = Some(true);
    }),
    flag(
        &["disable-dynamicbase", "no-dynamicbase"],
        "The image is loaded at its own address, if that is free.",
        |s| {
            s.o.loading.dynamic_base = Some(false);
        },
    ),
    flag(&["high-entropy-va"], "It may choose among all of 64 bits (default).", |s| {
        s.o.loading.high_entropy_va = true;
    }),
    flag(&["disable-high-entropy-va"], "It chooses among 32 bits.", |s| {
        s.o.loading.high_entropy_va = false;
    }),
    flag(&["nxcompat"], "Data is not executable (default).", |s| {
        s.o.loading.nx_compat = true;
    }),
    flag(&["disable-nxcompat"], "Data may be executable.", |s| {
        s.o.loading.nx_compat = false;
    }),
    flag(&["tsaware"], "The program knows of terminal servers (default, but for DLLs).", |s| {
        s.o.loading.ts_aware = Some(true);
    }),
    flag(&["disable-tsaware"], "It does not.", |s| {
        s.o.loading.ts_aware = Some(false);
    }),
    flag(
        &["enable-reloc-section"],
        "Say what has to be changed if the image is loaded elsewhere (default).",
        |s| {
            s.o.loading.fixed = false;
        },
    ),
    flag(&["disable-reloc-section"], "The image can be loaded at its own address only.", |s| {
        s.o.loading.fixed = true;
    }),
    flag(&["no-seh"], "The image has no exception handlers.", |s| {
        s.o.loading.no_seh = true;
    }),
    flag(&["disable-no-seh"], "It may have some (default).", |s| {
        s.o.loading.no_seh = false;
    }),
    flag(&["forceinteg"], "The loader checks the image's signature.", |s| {
        s.o.loading.integrity_check = true;
    }),
    flag(&["disable-forceinteg"], "It does not (default).", |s| {
        s.o.loading.integrity_check = false;
    }),
    flag(&["no-isolation"], "Manifests are not looked for.", |s| {
        s.o.loading.allow_isolation = false;
    }),
    flag(&["disable-no-isolation"], "They are (default).", |s| {
        s.o.loading.allow_isolation = true;
    }),
    flag(&["no-bind"], "The image may not be bound.", |s| s.o.loading.allow_bind = false),
    flag(&["disable-no-bind"], "It may (default).", |s| s.o.loading.allow_bind = true),
    flag(&["wdmdriver"], "Make a driver.", |s| (s.o.loading.driver, s.o.loading.driver_wdm) = (true, true)),
    flag(&["disable-wdmdriver"], "Make no driver (default).", |s| {
        (s.o.loading.driver, s.o.loading.driver_wdm) = (false, false)
    }),
    flag(&["appcontainer"], "The program runs in an app container only.", |s| {
        s.o.loading.app_container = true
    }),
    flag(&["large-address-aware"], "x86: the program can have addresses above 2 GiB.", |s| {
        s.o.loading.large_address_aware = Some(true);
    }),
    flag(&["disable-large-address-aware"], "It cannot.", |s| s.o.loading.large_address_aware = Some(false)),
    flag(&["guard-cf"], "Tell the loader which functions may be called by address.", |s| {
        s.guard = (true, true)
    }),
    flag(&["no-guard-cf"], "Do not (default).", |s| s.guard.0 = false),
    flag(&["guard-longjmp"], "Tell it where longjmp goes, too (default with --guard-cf).", |s| {
        s.guard.1 = true
    }),
    flag(&["no-guard-longjmp"], "Do not.", |s| s.guard.1 = false),
    take(&["dependent-load-flag"], Required("FLAGS"), "How the loader looks for DLLs.", |s, v| {
        s.o.loading.dependent_load_flags = crate::args::values::load_flags(v)?;
        Ok(())
    }),
    take(
        &["functionpadmin"],
        Optional("BYTES"),
        "Leave room for patches in front of functions of objects that are compiled for it. Default: 6 bytes, on x86 5.",
        |s, v| {
            s.o.layout.function_pad = Some(crate::args::values::function_pad(v)?);
            Ok(())
        },
    ),
    take(&["timestamp"], Required("SECONDS"), "The time in the header.", State::timestamp),
    accepted(
        &["insert-timestamp"],
        NoValue,
        "the time in the header is a hash of the image, so that links repeat",
    ),
    flag(&["no-insert-timestamp"], "The time in the header is zero.", |s| {
        (s.o.timestamp, s.has_time) = (Timestamp::Given(0), true);
    }),
    refused(&["base-file", "base_file"], Required("FILE"), "images have base relocations"),
    refused(&["relocatable", "r"], NoValue, "objects of PE cannot be joined"),
    accepted(
        &["support-old-code", "enable-extra-pe-debug", "enable-extra-pep-debug"],
        NoValue,
        "it changes no image",
    ),
];

const SECTIONS: &[Spec<State>] = &[
    flag(&["gc-sections"], "Leave out what nothing refers to.", |s| s.o.gc = Some(true)),
    flag(&["no-gc-sections"], "Leave nothing out (default).", |s| s.o.gc = Some(false)),
    take(&["icf"], Required("none|safe|all"), "Leave out functions that are there twice.", State::icf),
    flag(&["strip-all", "s"], "Leave out symbols and debug information.", |s| s.strip = Strip::All),
    flag(&["strip-debug", "S"], "Leave out debug information.", |s| s.strip = s.strip.max(Strip::Debug)),
    accepted(
        &["discard-all", "x", "discard-locals", "X"],
        NoValue,
        "only global symbols are in the symbol table",
    ),
    accepted(
        &["enable-long-section-names", "disable-long-section-names"],
        NoValue,
        "sections of debug information have long names, others are loaded and have not",
    ),
    take(&["pdb"], Required("FILE"), "Write a PDB to FILE; --pdb= beside the image.", |s, v| {
        s.pdb = Some(v.string()?);
        Ok(())
    }),
    take(
        &["build-id"],
        Optional("STYLE"),
        "Put an id into the debug directory; none: do not.",
        State::build_id,
    ),
    accepted(&["eh-frame-hdr", "no-eh-frame-hdr"], NoValue, "images of PE have none"),
    accepted(&["sort-common"], Optional("ORDER"), "it changes no program"),
    lost(&["compress-debug-sections"], Required("KIND"), "debug information stays as it is"),
];

const REPORTS: &[Spec<State>] = &[
    flag(&["verbose"], "Say what is done.", |s| s.o.reports.verbose = Verbose::ALL),
    flag(&["v"], "Show the version, and link if there is something to link.", |s| s.asks_version = true),
    flag(&["version", "V"], "Show the version.", |s| s.stop = Some(Stop::Version)),
    flag(&["help"], "Show this text.", |s| s.stop = Some(Stop::Help)),
    take(&["Map"], Required("FILE"), "Write a map with all input sections to FILE.", |s, v| {
        s.o.reports.lld_map = Some(Some(v.os().into()));
        Ok(())
    }),
    take(
        &["explore"],
        Required("FILE"),
        "Write a page for browsers to FILE that shows what the image is made of, and why.",
        |s, v| {
            s.o.reports.explore = Some(v.os().into());
            Ok(())
        },
    ),
    flag(&["fatal-warnings"], "Warnings are errors.", |s| s.fatal_warnings = true),
    flag(&["no-fatal-warnings"], "They are not (default).", |s| s.fatal_warnings = false),
    take(&["threads"], Required("N"), "Use N threads. Default: as many as the work is worth.", |s, v| {
        match number(v.text()?)? {
            0 => Err(ValueError::Expected("a number above 0").into()),
            n => {
                s.o.threads = Some(usize::try_from(n).unwrap_or(usize::MAX));
                Ok(())
            }
        }
    }),
    sharing::link_slots().two_dashes(),
    sharing::memory().two_dashes(),
    take(&["time-trace"], Required("FILE"), "Write a trace of the link's phases.", |s, v| {
        s.o.reports.time_trace = Some(v.os().into());
        Ok(())
    }),
    take(
        &["prefetch"],
        Required("WHEN"),
        "Ask for inputs before they are needed: auto (default: those that the system says are not in memory), \
         on (all, without asking), off.",
        |s, v| {
            s.o.prefetch = choice(v, &Prefetch::CHOICES)?;
            Ok(())
        },
    ),
    flag(&["mmap-output-file"], "Write the output through a shared mapping.", |s| {
        s.o.engine = EngineChoice::Mapped;
    }),
    flag(&["no-mmap-output-file"], "Write the output with write calls.", |s| {
        s.o.engine = EngineChoice::Streaming
    }),
    // Looked for in the raw arguments by the program, which prints messages.
    flag(
        &["progress"],
        "Show on a terminal what a link does that takes longer than a second (default).",
        |_| {},
    ),
    flag(&["no-progress"], "Do not.", |_| {}),
    take(&["color-diagnostics"], Optional("auto|always|never"), "When messages have colours.", |_, _| Ok(())),
    flag(&["no-color-diagnostics"], "Messages have no colours.", |_| {}),
    take(
        &["error-format"],
        Required("human|json"),
        "How messages are written: for people (default), or as a JSON object each, for programs.",
        |s, v| {
            s.o.json = choice(v, &[("human", false), ("json", true)])?;
            Ok(())
        },
    ),
    take(&["error-limit"], Required("N"), "Show at most N errors; 0: all. Default: 20.", |s, v| {
        s.o.error_limit = usize::try_from(number(v.text()?)?).unwrap_or(usize::MAX);
        Ok(())
    }),
    take(
        &["reproduce"],
        Required("FILE"),
        "Write a tar file with all inputs and the command line.",
        |s, v| {
            s.reproduce = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["incremental"],
        Optional("on|off|verify"),
        "Keep beside the image what the next link has to know to find that nothing has changed: then it links nothing, and \
         otherwise all. \
         verify: link in any case, and compare. Default: off; without a value: on.",
        |s, v| {
            s.o.incremental = match v.value.map(|_| v.text()).transpose()? {
                None | Some("on") => Incremental::On,
                Some("off") => Incremental::Off,
                Some("verify") => Incremental::Verify,
                Some(word) => return Err(ValueError::unknown("word", word).into()),
            };
            Ok(())
        },
    ),
    flag(&["no-incremental"], "--incremental=off (default).", |s| s.o.incremental = Incremental::Off),
    take(
        &["incremental-dir"],
        Required("DIR"),
        "Where --incremental keeps it (default: .NAME.weld beside the image NAME; weld relink --forget DIR removes it). \
         DIR must be on the image's file system.",
        |s, v| {
            s.o.incremental_dir = Some(PathBuf::from(v.os()));
            Ok(())
        },
    ),
    flag(
        &["detach", "fork"],
        "A full link with --incremental ends when the image is there, and a process that goes on for a moment writes what \
         the next one needs (default outside containers; on Linux, without --stats).",
        |s| s.o.detach = Some(true),
    ),
    flag(
        &["no-detach", "no-fork"],
        "It ends when all is written. Without --incremental it always does.",
        |s| s.o.detach = Some(false),
    ),
    accepted(
        &["warn-common", "no-warn-mismatch", "warn-once"],
        NoValue,
        "such warnings are for other targets",
    ),
];

const OTHER: &[Spec<State>] = &[
    take(
        &["Xlink"],
        Required("OPTION"),
        "Do what OPTION of lld-link says (options-link.md).",
        State::option_of_link,
    ),
    refused(&["###"], NoValue, "no other linker is called whose command line could be shown"),
    accepted(&["O"], Suffix("LEVEL"), "links do not get slower for it"),
    accepted(&["rpath", "rpath-link"], Required("DIR"), "Windows looks for DLLs in its own way"),
    accepted(&["soname", "h"], Required("NAME"), "a DLL is called as its file, or as a .def file says"),
    accepted(&["no-dynamic-linker", "enable-new-dtags", "disable-new-dtags"], NoValue, "it is for ELF"),
    accepted(&["warn-section-align", "traditional-format"], NoValue, "it concerns nothing that weld does"),
];
