//! All options, in groups.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use weld_common::diag::Cause;

use weld_common::args::Value::{self, None as NoValue, Optional, Required};
use weld_common::args::values::number;
use weld_common::args::{
    Context, Given, Group, Index, Spec, Table, ValueError, accepted, choice, flag, name_count, refused, take,
};
use weld_common::io::output::EngineChoice;
use weld_common::io::readahead::Prefetch;
use weld_common::link_slots::rows as sharing;

use super::state::{State, Stop, switch};
use super::values::{OptionError, alignment, check, load_flags, optional_text, pattern, version};
use crate::coff::machine::Machine;
use crate::options::{Incremental, Timestamp};

pub static GROUPS: &[Group<State>] = &[
    Group { title: "Inputs", prefix: "/", rows: INPUTS },
    Group { title: "Symbols", prefix: "/", rows: SYMBOLS },
    Group { title: "The image", prefix: "/", rows: IMAGE },
    Group { title: "Sections", prefix: "/", rows: SECTIONS },
    Group { title: "Debug information", prefix: "/", rows: DEBUG },
    Group { title: "Reports and threads", prefix: "/", rows: REPORTS },
    Group { title: "MinGW", prefix: "/", rows: MINGW },
    Group { title: "Link-time optimisation", prefix: "/", rows: super::lto::ROWS },
    Group { title: "Other", prefix: "/", rows: OTHER },
    Group { title: "Libraries (/lib)", prefix: "/", rows: LIBRARIES },
];
static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);
pub static TABLE: Table<State> = Table::new(GROUPS, &INDEX);

/// A switch: `/name` or `/name:no`.
macro_rules! switch {
    ($name:literal, $help:literal, $($field:tt)+) => {
        take(&[$name], Optional("no"), $help, |s: &mut State, v: Given<'_>| {
            s.o.$($field)+ = switch(v)?.into();
            Ok(())
        })
    };
}

/// A switch whose bit the debug directory has.
macro_rules! extended {
    ($name:literal, $help:literal, $bit:literal) => {
        take(&[$name], Optional("no"), $help, |s: &mut State, v: Given<'_>| {
            let all = &mut s.o.extended_characteristics;
            *all = if switch(v)? { *all | $bit } else { *all & !$bit };
            Ok(())
        })
    };
}

/// The path of an output; an empty one stands for the default.
fn output(given: &OsStr) -> Option<PathBuf> {
    (!given.is_empty()).then(|| given.into())
}

/// An output that has a place of its own by default.
macro_rules! output {
    ($name:literal, $help:literal, $($field:tt)+) => {
        take(&[$name], Required("FILE"), $help, |s: &mut State, v: Given<'_>| {
            s.o.$($field)+ = output(v.os());
            Ok(())
        })
    };
}

/// A file or other text.
macro_rules! path {
    ($name:literal, $help:literal, $($field:tt)+) => {
        take(&[$name], Required("FILE"), $help, |s: &mut State, v: Given<'_>| {
            s.o.$($field)+ = Some(super::values::file(v)?);
            Ok(())
        })
    };
}

/// A directory of a toolchain.
macro_rules! tool_dir {
    ($name:literal, $help:literal, $field:ident) => {
        take(&[$name], Required("DIR"), $help, |s: &mut State, v: Given<'_>| {
            s.o.toolchain.$field = Some(v.os().into());
            Ok(())
        })
    };
}

macro_rules! version {
    ($name:literal, $help:literal, $field:ident) => {
        take(&[$name], Required("VERSION"), $help, |s: &mut State, v: Given<'_>| {
            s.o.toolchain.$field = Some(v.string()?);
            Ok(())
        })
    };
}

const INPUTS: &[Spec<State>] = &[
    take(&["libpath"], Required("DIR"), "Look for libraries in DIR, too.", |s, v| {
        s.o.lib_paths.push(v.os().into());
        Ok(())
    }),
    take(&["defaultlib"], Required("LIBRARY"), "Link LIBRARY, after all other inputs.", |s, v| {
        s.o.demands.default_lib(v)
    }),
    take(
        &["nodefaultlib", "nod"],
        Optional("LIBRARY"),
        "Do not link LIBRARY, or any library, because an object asks for it.",
        |s, v| s.o.demands.no_default_lib(v),
    ),
    take(
        &["disallowlib"],
        Required("LIBRARY"),
        "Warn if LIBRARY is linked because an object asks for it. Objects of C's run-time libraries say so of those that they do not go together with.",
        |s, v| s.o.demands.disallow_lib(v, "the command line"),
    ),
    take(
        &["wholearchive"],
        Optional("LIBRARY"),
        "Link all objects of LIBRARY, or of all libraries.",
        State::whole_archive,
    ),
    flag(&["start-lib"], "Objects from here on are linked if something in them is wanted.", |s| {
        s.in_lib(true);
    }),
    flag(&["end-lib"], "Ends what /start-lib began.", |s| s.in_lib(false)),
    path!("def", "Take names, exports and sizes from a module-definition file.", def),
    take(
        &["machine"],
        Required("MACHINE"),
        "Link for MACHINE: x64, x86 or arm64. Default: that of the first object.",
        |s, v| {
            let name = v.text()?;
            s.o.machine = Some(Machine::of_name(name).ok_or_else(|| OptionError::Machine(name.to_owned()))?);
            Ok(())
        },
    ),
    // Looked for before the variables are read.
    flag(&["lldignoreenv"], "Do not look at the variables LINK, _LINK_ and LIB.", |_| {}),
    take(
        &["rsp-quoting"],
        Required("STYLE"),
        "How response files are quoted: windows (default) or posix.",
        |_, v| match v.text()? {
            "windows" | "posix" => Ok(()),
            other => Err(OptionError::Quoting(other.to_owned())),
        },
    ),
    tool_dir!(
        "winsysroot",
        "Look for libraries in a directory with Visual Studio and the Windows SDK.",
        root
    ),
    tool_dir!("vctoolsdir", "Look for libraries in a directory with compilers and their libraries.", tools),
    tool_dir!("winsdkdir", "Look for libraries in a directory of the Windows SDK.", sdk),
    tool_dir!("diasdkdir", "Look for libraries in a directory of the DIA SDK.", dia),
    version!(
        "vctoolsversion",
        "Which version of the compilers /winsysroot takes. Default: the greatest.",
        tools_version
    ),
    version!(
        "winsdkversion",
        "Which version of the Windows SDK is taken. Default: the greatest.",
        sdk_version
    ),
    path!("vfsoverlay", "Read from FILE, in YAML, which files are elsewhere than their names say.", overlay),
    flag(&["print-search-paths"], "Show where libraries are looked for.", |s| {
        s.o.reports.print_search_paths = true
    }),
    take(
        &["prefetch-inputs"],
        Optional("no"),
        "Ask for all inputs before they are needed, or for none. Default: those that the system says are not in memory.",
        |s, v| {
            s.o.prefetch = if switch(v)? { Prefetch::On } else { Prefetch::Off };
            Ok(())
        },
    ),
];

const SYMBOLS: &[Spec<State>] = &[
    take(&["entry"], Required("SYMBOL"), "Start the program at SYMBOL.", |s, v| {
        match v.text()? {
            "" => s.fail(Cause::BadOption, "missing entry point symbol name"),
            name => s.o.demands.entry = Some(name.to_owned()),
        }
        Ok(())
    }),
    flag(&["noentry"], "The DLL has no entry point.", |s| s.o.no_entry = true),
    take(&["include"], Required("SYMBOL"), "Refer to SYMBOL.", |s, v| s.o.demands.include(v)),
    take(&["includeoptional"], Required("SYMBOL"), "Refer to SYMBOL if somebody defines it.", |s, v| {
        s.o.demands.optional_includes.push(v.string()?);
        Ok(())
    }),
    take(
        &["includeglob"],
        Required("PATTERN"),
        "Refer to all symbols that PATTERN matches and that an object defines or a library offers.",
        |s, v| {
            s.o.include_globs.push(pattern(v)?);
            Ok(())
        },
    ),
    take(&["alternatename"], Required("FROM=TO"), "FROM is TO if nobody defines it.", |s, v| {
        s.o.demands.alternate_name(v)
    }),
    take(
        &["export"],
        Required("NAME[=SYMBOL][,@ORDINAL[,NONAME]][,DATA][,PRIVATE]"),
        "Export a symbol.",
        |s, v| s.o.demands.export(v),
    ),
    take(
        &["force"],
        Optional("unresolved|multiple|multipleres"),
        "Link although symbols are undefined or defined twice.",
        State::force,
    ),
    take(&["failifmismatch"], Required("KEY=VALUE"), "Objects must not say another value of KEY.", |s, v| {
        if let Some(problem) = s.o.demands.fail_if_mismatch(v, "cmd-line")? {
            s.problem(problem);
        }
        Ok(())
    }),
    take(
        &["wrap"],
        Required("SYMBOL"),
        "References to SYMBOL go to __wrap_SYMBOL, and those to __real_SYMBOL to SYMBOL.",
        |s, v| {
            s.o.wraps.push(v.string()?);
            Ok(())
        },
    ),
    take(&["delayload"], Required("DLL"), "Load DLL when one of its functions is called first.", |s, v| {
        s.o.delay_loads.push(v.text()?.to_ascii_lowercase());
        Ok(())
    }),
    take(
        &["delay"],
        Required("unload|nobind"),
        "DLLs of /delayload can be unloaded again; tables for binding them are not made in any case.",
        |s, v| {
            match v.text()?.to_ascii_lowercase().as_str() {
                "unload" => s.o.delay_unload = true,
                "nobind" => {}
                word => return Err(ValueError::unknown("value", word).into()),
            }
            Ok(())
        },
    ),
    switch!("demangle", "Show names as people wrote them (default).", demangle),
];

const IMAGE: &[Spec<State>] = &[
    output!("out", "Write the image to FILE. Default: the first object's name with .exe or .dll.", out),
    flag(&["dll"], "Make a DLL.", |s| s.o.dll = true),
    take(
        &["subsystem"],
        Required("NAME[,VERSION]"),
        "What the program runs in: console, windows, native, …",
        |s, v| s.o.demands.subsystem(v),
    ),
    take(
        &["base"],
        Required("ADDRESS[,SIZE]|@FILE,KEY"),
        "The address that the image is made for, and how large it may become without a warning; or the line in FILE that says so of KEY.",
        State::base,
    ),
    switch!("fixed", "The image can be loaded at its own address only.", loading.fixed),
    take(&["dynamicbase"], Optional("no"), "The system may choose the address (default).", |s, v| {
        s.o.loading.dynamic_base = Some(switch(v)?);
        Ok(())
    }),
    switch!("highentropyva", "It may choose among all of 64 bits (default).", loading.high_entropy_va),
    switch!("nxcompat", "Data is not executable (default).", loading.nx_compat),
    take(
        &["largeaddressaware"],
        Optional("no"),
        "The program can have addresses above 2 GiB (default on 64 bits).",
        |s, v| {
            s.o.loading.large_address_aware = Some(switch(v)?);
            Ok(())
        },
    ),
    take(
        &["tsaware"],
        Optional("no"),
        "The program knows of terminal servers (default, but for DLLs).",
        |s, v| {
            s.o.loading.ts_aware = Some(switch(v)?);
            Ok(())
        },
    ),
    switch!("appcontainer", "The program runs in an app container only.", loading.app_container),
    switch!("allowbind", "The image may be bound (default).", loading.allow_bind),
    switch!("allowisolation", "Manifests are looked for (default).", loading.allow_isolation),
    switch!("integritycheck", "The loader checks the image's signature.", loading.integrity_check),
    take(&["driver"], Optional("uponly|wdm"), "Make a driver.", |s, v| {
        s.o.loading.driver = true;
        match v.value.map(|_| v.text()).transpose()?.map(str::to_ascii_lowercase).as_deref() {
            None => {}
            Some("wdm") => s.o.loading.driver_wdm = true,
            Some("uponly") => s.o.loading.driver_up_only = true,
            Some("uponly,wdm" | "wdm,uponly") => {
                (s.o.loading.driver_wdm, s.o.loading.driver_up_only) = (true, true)
            }
            Some(word) => return Err(ValueError::unknown("value", word).into()),
        }
        Ok(())
    }),
    take(&["swaprun"], Required("cd|net"), "Copy the image to the swap file before it runs.", |s, v| {
        for word in v.text()?.to_ascii_lowercase().split(',') {
            match word {
                "cd" => s.o.loading.swap_run_cd = true,
                "net" => s.o.loading.swap_run_net = true,
                "" => return Err(OptionError::NoArgument),
                _ => return Err(OptionError::Invalid(word.to_owned())),
            }
        }
        Ok(())
    }),
    take(&["align"], Required("BYTES"), "Sections begin at multiples of BYTES in memory.", |s, v| {
        s.aligned = true;
        s.o.layout.align = alignment(v, 32..=1 << 26)?;
        Ok(())
    }),
    take(&["filealign"], Required("BYTES"), "Sections begin at multiples of BYTES in the file.", |s, v| {
        s.o.layout.file_align = alignment(v, 32..=1 << 16)?;
        Ok(())
    }),
    take(&["heap"], Required("RESERVE[,COMMIT]"), "The size of the heap.", |s, v| s.o.demands.heap(v)),
    take(&["stack"], Required("RESERVE[,COMMIT]"), "The size of the stack.", |s, v| s.o.demands.stack(v)),
    take(
        &["version"],
        Optional("MAJOR[.MINOR]"),
        "The image's version in its header; alone: show weld's.",
        |s, v| {
            match v.value {
                Some(_) => s.o.version = version(v.text()?)?,
                None => s.stop = Some(Stop::Version),
            }
            Ok(())
        },
    ),
    take(&["osversion"], Required("MAJOR[.MINOR]"), "The version of the system that it needs.", |s, v| {
        s.o.os_version = Some(version(v.text()?)?);
        Ok(())
    }),
    take(
        &["subsystemversion"],
        Required("MAJOR[.MINOR]"),
        "The version of the subsystem that it needs.",
        |s, v| {
            s.o.demands.subsystem_version = Some(version(v.text()?)?);
            Ok(())
        },
    ),
    take(&["dependentloadflag"], Required("FLAGS"), "How the loader looks for DLLs.", |s, v| {
        s.o.loading.dependent_load_flags = load_flags(v)?;
        Ok(())
    }),
    path!("stub", "A program for DOS to begin the image with.", stub),
    output!("implib", "Write the import library to FILE.", implib.path),
    flag(&["noimplib"], "Write no import library.", |s| s.o.implib.is_refused = true),
    take(
        &["timestamp"],
        Required("SECONDS"),
        "The time in the header. Default: a hash of the image.",
        State::timestamp,
    ),
    flag(&["brepro"], "The time in the header is a hash of the image, and the image says so.", |s| {
        (s.o.timestamp, s.o.brepro, s.has_time) = (Timestamp::Hash, true, true);
    }),
    flag(&["release"], "Put a checksum into the header.", |s| s.o.demands.release = true),
    take(
        &["guard"],
        Required("cf|longjmp|ehcont|no"),
        "Tell the loader which functions may be called by address, and where longjmp and handlers go.",
        State::guard,
    ),
    extended!("cetcompat", "The program can run with shadow stacks.", 0x01),
    extended!("cetcompatstrict", "The same, and violations end it.", 0x02),
    extended!("cetipvalidationrelaxed", "Contexts may be set to any address.", 0x04),
    extended!("cetdynamicapisinproc", "The program itself may say where code is made.", 0x08),
    extended!("hotpatchcompatible", "The image can be patched while it runs.", 0x80),
    take(
        &["functionpadmin"],
        Optional("BYTES"),
        "Leave room for patches in front of functions of objects that are compiled for it. Default: 6 bytes, on x86 5.",
        State::function_pad,
    ),
    take(
        &["safeseh"],
        Optional("no"),
        "x86: tell the loader all exception handlers (default: if all objects tell theirs).",
        |s, v| {
            s.o.safe_seh = Some(switch(v)?);
            Ok(())
        },
    ),
    flag(&["noseh"], "The image has no exception handlers.", |s| s.o.loading.no_seh = true),
    take(
        &["manifest"],
        Optional("no|embed[,id=N]"),
        "Make a manifest: a file beside the image, or a resource in it.",
        State::manifest,
    ),
    output!(
        "manifestfile",
        "Write the manifest to FILE. Default: the image's path with .manifest.",
        manifest.path
    ),
    take(
        &["manifestuac"],
        Required("no|level='L' uiAccess='B'"),
        "Which rights the manifest asks for (default: those of the caller).",
        State::manifest_rights,
    ),
    take(&["manifestdependency"], Required("TEXT"), "The manifest depends on an assembly.", |s, v| {
        s.o.demands.manifest_dependency(v)
    }),
    take(
        &["manifestinput"],
        Required("FILE"),
        "Merge the manifest in FILE into that of /manifest:embed.",
        |s, v| {
            s.o.manifest.inputs.push(super::values::file(v)?);
            Ok(())
        },
    ),
    accepted(
        &["emittoolversioninfo", "emitvolatilemetadata", "novcfeature"],
        Optional("no"),
        "it is about what Microsoft's tools tell each other in images, which weld does not write",
    ),
    refused(
        &["arm64xsameaddress", "defarm64native", "arm64xfunctionpadminx64", "exportarm64native"],
        Required("VALUE"),
        "it is for ARM64X",
    ),
    refused(
        &["exportpadmin"],
        Optional("BYTES"),
        "the table of exports has no room for more; link anew with them",
    ),
    refused(
        &["nofunctionpadsection"],
        Required("NAME"),
        "/functionpadmin is about the functions of all sections",
    ),
];

const SECTIONS: &[Spec<State>] = &[
    take(
        &["opt"],
        Optional("[no]ref|[no]icf|safeicf|lldlto=N|lldltocgo=N|lldltojobs=N|lldltopartitions=N"),
        "Leave out what nothing refers to, and what is there twice (default without /debug). Alone: as by default. Of bitcode: how much it is optimised (0 to 3, default 2), and while machine code is generated; how many modules are compiled at a time, and in how many pieces merged modules.",
        State::optimise,
    ),
    take(&["merge"], Required("FROM=TO"), "Put section FROM into section TO.", |s, v| s.o.demands.merge(v)),
    take(&["section"], Required("NAME,[!]DEKPRSW"), "What may be done with a section's memory.", |s, v| {
        s.o.demands.section(v)
    }),
    take(&["aligncomm"], Required("NAME,LOG2"), "Align a common symbol.", |s, v| s.o.demands.align_common(v)),
    take(&["order"], Required("@FILE"), "Functions that FILE lists come first, in its order.", |s, v| {
        match v.text()?.strip_prefix('@') {
            Some("") => return Err(ValueError::NoFile.into()),
            Some(path) => s.o.layout.order = Some(path.into()),
            None => return Err(OptionError::NoAt),
        }
        Ok(())
    }),
    path!(
        "call-graph-ordering-file",
        "Functions that call each other, as FILE says, lie together.",
        layout.call_graph_file
    ),
    switch!(
        "call-graph-profile-sort",
        "The same as objects' profiles say (default).",
        layout.call_graph_sort
    ),
    path!("print-symbol-order", "Write the functions that were moved to FILE.", reports.symbol_order),
    take(
        &["branch-reach"],
        Required("BYTES"),
        "ARM64: take branches to reach only so far (at least 0x400), and put thunks in between where they go further. For tests.",
        |s, v| {
            let bytes = check(number(v.text()?)?, 0x400..=1 << 27)?;
            s.o.layout.branch_reach = Some(bytes as u32);
            Ok(())
        },
    ),
    take(
        &["sectionlayout"],
        Required("[@]FILE"),
        "Output sections that FILE lists, one a line, lie one after another in its order.",
        |s, v| {
            let path = super::values::file(v)?;
            let bytes = path.as_os_str().as_encoded_bytes();
            let behind = bytes.strip_prefix(b"@").map(|path| PathBuf::from(weld_common::text::os_str(path)));
            s.o.layout.section_layout = Some(behind.unwrap_or(path));
            Ok(())
        },
    ),
    flag(&["didatownsection"], "Tables of late loading are a section of their own, .didat.", |s| {
        s.own_section(".didat")
    }),
    flag(&["noxdatamerge"], "Tables for unwinding are a section of their own, .xdata.", |s| {
        s.own_section(".xdata")
    }),
];

const DEBUG: &[Spec<State>] = &[
    take(
        &["debug"],
        Optional("full|fastlink|ghash|noghash|dwarf|symtab|none"),
        "What to do about debug information: write a PDB (default, the first four mean the same), keep DWARF, write a symbol table, nothing.",
        State::debug,
    ),
    take(
        &["debugtype"],
        Required("LIST"),
        "Which debug information is taken: all that objects have, whatever LIST says.",
        State::debug_type,
    ),
    take(&["pdb"], Required("FILE"), "Write the PDB to FILE. Default: beside the image.", |s, v| {
        s.o.pdb.path = output(v.os());
        Ok(())
    }),
    take(
        &["pdbaltpath"],
        Required("PATH"),
        "How the image calls the PDB; %_PDB% and %_EXT% stand for its name and the image's extension.",
        |s, v| {
            s.o.pdb.alt_path = Some(v.string()?);
            Ok(())
        },
    ),
    take(
        &["pdbsourcepath"],
        Required("DIR"),
        "Put DIR in front of relative paths in the PDB. Default: the working directory.",
        |s, v| {
            s.o.pdb.source_path = Some(v.string()?).filter(|path| !path.is_empty());
            Ok(())
        },
    ),
    take(
        &["pdbpagesize"],
        Required("BYTES"),
        "The PDB's pages are as large. Default: 4096, or more if the PDB does not fit.",
        State::pdb_page_size,
    ),
    take(
        &["pdbstripped"],
        Required("FILE"),
        "Write another PDB to FILE, with public symbols and nothing of sources and types.",
        |s, v| {
            s.o.pdb.stripped = Some(super::values::file(v)?);
            Ok(())
        },
    ),
    take(&["pdbstream"], Required("NAME=FILE"), "Put FILE into the PDB as stream NAME.", State::pdb_stream),
    take(
        &["natvis"],
        Required("FILE"),
        "Put FILE, rules for how debuggers show types, into the PDB.",
        |s, v| {
            s.o.pdb.natvis.push(super::values::file(v)?);
            Ok(())
        },
    ),
    take(
        &["sourcelink"],
        Required("FILE"),
        "Put FILE, which tells debuggers where sources are, into the PDB.",
        |s, v| {
            s.o.pdb.source_link = Some(super::values::file(v)?);
            Ok(())
        },
    ),
    flag(
        &["emitpogophaseinfo"],
        "Put a list of what the sections are made of (.text$mn and others) into the image; its debug directory leads there.",
        |s| s.o.coff_groups = true,
    ),
    flag(&["nocoffgrpinfo"], "Neither the PDB nor the image tells what the sections are made of.", |s| {
        s.o.pdb.without_groups = true
    }),
    flag(&["profile"], "Lay out the image for a profiler: /opt:ref and no /opt:icf.", |s| s.o.profile = true),
    accepted(&["pdbcompress"], NoValue, "only some file systems know how"),
    flag(&["nodbgdirmerge"], "The debug directory is a section of its own, .cvinfo.", |s| {
        s.o.debug_directory_alone = true
    }),
    switch!("build-id", "Put an id into the debug directory (that of the PDB, if there is one).", build_id),
    accepted(&["assemblydebug", "editandcontinue"], Optional("VALUE"), "it is for debug information"),
];

const REPORTS: &[Spec<State>] = &[
    take(
        &["verbose"],
        Optional("lib|ref|icf|unusedlibs|safeseh|…"),
        "Say what is done, or what is done about libraries, what is left out, what is folded, what is not used, which x86 objects do not tell their exception handlers. Of clr and incr there is nothing to say, and of unuseddelayload there are warnings.",
        State::verbose,
    ),
    take(
        &["wx"],
        Optional("no|CODE,…"),
        "Warnings are errors, or those of these codes.",
        State::fatal_warnings,
    ),
    take(&["ignore"], Required("CODE"), "Leave out warnings of this code.", State::ignore),
    take(
        &["map"],
        Optional("FILE"),
        "Write a map with symbols by address. Default: beside the image.",
        |s, v| {
            s.o.reports.map = Some(v.value.and_then(output));
            Ok(())
        },
    ),
    take(&["lldmap"], Optional("FILE"), "Write a map with all input sections in lld's form.", |s, v| {
        s.o.reports.lld_map = Some(v.value.and_then(output));
        Ok(())
    }),
    take(
        &["explore"],
        Required("FILE"),
        "Write a page for browsers to FILE that shows what the image is made of, and why.",
        |s, v| {
            s.o.reports.explore = output(v.os());
            Ok(())
        },
    ),
    take(
        &["mapinfo"],
        Required("exports|lines|pdata"),
        "The map has exports, too. Lines of sources and tables for unwinding it has not, with a warning: the PDB has them.",
        State::map_info,
    ),
    take(&["threads"], Required("N"), "Use N threads. Default: as many as the work is worth.", |s, v| {
        match number(v.text()?)? {
            0 => Err(ValueError::Expected("a number above 0").into()),
            n => {
                s.o.threads = Some(usize::try_from(n).unwrap_or(usize::MAX));
                Ok(())
            }
        }
    }),
    sharing::link_slots(),
    sharing::memory(),
    flag(&["time", "time+"], "Say what took how long.", |s| s.o.reports.time = true),
    take(&["time-trace"], Value::Optional("FILE"), "Write a trace of the link's phases.", |s, v| {
        match v.value {
            Some(_) => s.o.reports.time_trace = Some(super::values::file(v)?),
            None => s.o.reports.time_trace_beside_output = true,
        }
        Ok(())
    }),
    accepted(&["time-trace-granularity"], Required("US"), "the trace has everything"),
    flag(&["mmap-output-file"], "Write the output through a shared mapping.", |s| {
        s.o.engine = EngineChoice::Mapped
    }),
    flag(&["no-mmap-output-file"], "Write the output with write calls.", |s| {
        s.o.engine = EngineChoice::Streaming;
    }),
    // Looked for in the raw arguments by the program, which prints messages.
    take(
        &["progress"],
        Optional("no"),
        "Show on a terminal what a link does that takes longer than a second (default).",
        |_, v| switch(v).map(|_| ()).map_err(Into::into),
    ),
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
    take(
        &["errorlimit", "error-limit"],
        Required("N"),
        "Show at most N errors; 0: all. Default: 20.",
        |s, v| {
            s.o.error_limit = usize::try_from(number(v.text()?)?).unwrap_or(usize::MAX);
            Ok(())
        },
    ),
    take(
        &["reproduce"],
        Required("FILE"),
        "Write a tar file with all inputs and the command line.",
        |s, v| {
            (s.reproduce, s.is_linkrepro) = (Some(super::values::file(v)?), false);
            Ok(())
        },
    ),
    take(&["linkrepro"], Required("DIR"), "The same, to repro.tar in DIR.", |s, v| {
        (s.reproduce, s.is_linkrepro) = (Some(Path::new(v.os()).join("repro.tar")), true);
        Ok(())
    }),
    take(
        &["linkreprotarget"],
        Required("NAME"),
        "Only if /out has this name is there anything done about /linkrepro.",
        |s, v| {
            s.repro_target = Some(v.os().to_owned());
            Ok(())
        },
    ),
    path!(
        "linkreprofullpathrsp",
        "Write the absolute paths of all inputs to FILE, for use as a response file.",
        input_list
    ),
    flag(&["summary"], "Say what was linked, and how much of it is in the PDB.", |s| {
        s.o.reports.summary = true
    }),
    flag(&["?", "help"], "Show this text.", |s| s.stop = Some(Stop::Help)),
];

const MINGW: &[Spec<State>] = &[
    flag(&["lldmingw"], "Link objects and libraries of GNU tools by their rules.", |s| {
        s.o.mingw.on = true;
        s.o.mingw.duplicate_weak = true;
    }),
    take(&["auto-import"], Optional("no"), "Data of DLLs need not be declared as such.", |s, v| {
        s.o.mingw.auto_import = Some(switch(v)?);
        Ok(())
    }),
    take(
        &["runtime-pseudo-reloc"],
        Optional("no"),
        "For that, places are changed when the program starts.",
        |s, v| {
            s.o.mingw.pseudo_relocs = Some(switch(v)?);
            Ok(())
        },
    ),
    take(
        &["stdcall-fixup"],
        Optional("no"),
        "x86: functions are found whether or not their names say how they are called.",
        |s, v| {
            s.o.mingw.stdcall_fixup = Some(switch(v)?);
            Ok(())
        },
    ),
    flag(&["lld-allow-duplicate-weak"], "Several objects may define a symbol weakly.", |s| {
        s.o.mingw.duplicate_weak = true;
    }),
    flag(&["export-all-symbols"], "Export all symbols, also beside those that are exported by name.", |s| {
        s.o.mingw.export_all = true;
    }),
    flag(&["exclude-all-symbols"], "Export only what is exported by name.", |s| s.o.mingw.exclude_all = true),
    take(&["exclude-symbols"], Required("LIST"), "Of all symbols leave these out.", |s, v| {
        s.o.mingw.excluded.extend(v.text()?.split(',').map(str::to_owned));
        Ok(())
    }),
    flag(&["kill-at"], "x86: export names without @ and what is after it.", |s| s.o.mingw.kill_at = true),
    take(&["output-def"], Required("FILE"), "Write what is exported to FILE.", |s, v| {
        s.o.mingw.output_def = Some(super::values::file(v)?);
        Ok(())
    }),
];

/// What is for programs of .NET.
const MANAGED: &str = "it is for managed code, which is not linked";

const OTHER: &[Spec<State>] = &[
    accepted(&["nologo", "logo", "link"], NoValue, "there is nothing to leave out"),
    accepted(&["noexp", "nolinkrepro", "nomap", "fullbuild"], NoValue, "it is so in any case"),
    accepted(&["maxilksize"], Required("VALUE"), "what is kept for the next link is small"),
    accepted(
        &["midl", "idlout", "tlbid", "tlbout", "ignoreidl"],
        Optional("VALUE"),
        "no object has had attributes for .idl files since Visual C++ 6",
    ),
    accepted(
        &["errorreport", "kernel", "fastfail", "throwingnew", "guardsym", "experimental"],
        Optional("VALUE"),
        "it concerns nothing that weld does",
    ),
    refused(
        &[
            "assemblylinkresource",
            "assemblymodule",
            "assemblyresource",
            "clrimagetype",
            "clrloaderoptimization",
            "clrsupportlasterror",
            "clrthreadattribute",
            "clrunmanagedcodecheck",
            "keycontainer",
            "keyfile",
            "noassembly",
        ],
        Optional("VALUE"),
        MANAGED,
    ),
    take(
        &["delaysign", "winmd"],
        Optional("no"),
        "Error, unless :no is said: it is for managed code.",
        |_, v| match switch(v)? {
            true => Err(OptionError::NotSupported(MANAGED)),
            false => Ok(()),
        },
    ),
    accepted(
        &["winmdfile", "winmdkeyfile", "winmdkeycontainer", "winmddelaysign"],
        Optional("VALUE"),
        "it only says more of /winmd, which is an error",
    ),
    take(
        &["inferasanlibs"],
        Optional("no"),
        "Link the address sanitizer: not done, with a warning.",
        |s, v| {
            if switch(v)? {
                s.warn(Cause::OptionWithoutEffect, "ignoring '/inferasanlibs', this flag is not supported");
            }
            Ok(())
        },
    ),
    take(
        &["incremental"],
        Optional("no|verify"),
        "Keep beside the image what the next link has to know to do only what has changed since: nothing, or bytes of code, \
         data and lines in objects. A link that cannot is a full one, and the log says why. \
         verify: link in any case, and compare. By default, unless something is optimised, only an import library that \
         would not change is left as it is; no: it is written anew, too.",
        |s, v| {
            s.incremental = Some(match optional_text(v)? {
                Some(word) if word.eq_ignore_ascii_case("verify") => Incremental::Verify,
                _ if switch(v)? => Incremental::On,
                _ => Incremental::Off,
            });
            Ok(())
        },
    ),
    take(
        &["ilk"],
        Required("DIR"),
        "Where /incremental keeps it, which is a directory (default: .NAME.weld beside the image NAME; weld relink --forget \
         DIR removes it). It must be on the image's file system.",
        |s, v| {
            s.o.incremental_dir = Some(PathBuf::from(v.os()));
            Ok(())
        },
    ),
    take(
        &["detach"],
        Optional("no"),
        "A full link with /incremental ends when the image is there, and a process that goes on for a moment writes what \
         the next one needs (default outside containers; on Linux, without /time and /time-trace); no: it ends when all is written.",
        |s, v| {
            s.o.detach = Some(switch(v)?);
            Ok(())
        },
    ),
];

pub const LIBRARIES: &[Spec<State>] = &[
    flag(
        &["lib"],
        "Make a library of objects and libraries, or of a module-definition file, as lib.exe does.",
        |s| {
            s.o.library = true;
        },
    ),
    flag(&["list"], "Print the names of members, and write nothing.", |s| s.o.librarian.list = true),
    take(&["extract"], Required("MEMBER"), "Write this member, instead of a library.", |s, v| {
        s.o.librarian.extract = Some(v.os().to_owned());
        Ok(())
    }),
    take(&["remove"], Required("MEMBER"), "Leave this member out.", |s, v| {
        s.o.librarian.remove.push(v.os().to_owned());
        Ok(())
    }),
    take(&["name"], Required("DLL"), "The DLL of the import library is called DLL.", |s, v| {
        s.o.librarian.dll = Some(v.string()?);
        Ok(())
    }),
    flag(&["llvmlibthin"], "The library has the paths of its members in place of them.", |s| {
        s.o.librarian.thin = true
    }),
    flag(&["llvmlibempty"], "The library may be one without members.", |s| s.o.librarian.empty = true),
    take(&["llvmlibindex"], Optional("no"), "Index the library (default).", |s, v| {
        s.o.librarian.no_index = !switch(v)?;
        Ok(())
    }),
];
