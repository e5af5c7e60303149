//! What the linker says and writes beside its output.

use weld_common::args::Value::{None as NoValue, Optional, Required};
use weld_common::args::values::{number, pattern};
use weld_common::args::{Group, Spec, accepted, choice, flag, take};

use super::super::state::{State, Stop};
use crate::options::ReportPolicy;

pub const GROUP: Group<State> = Group { title: "Messages and reports", prefix: "", rows: ROWS };

const ROWS: &[Spec<State>] = &[
    flag(&["help"], "Print this text.", |s| s.stop(Stop::Help)),
    flag(&["version"], "Print the version.", |s| s.stop(Stop::Version)),
    flag(&["v"], "Print the version, and link if there are inputs.", |s| {
        s.show_version = Some(Stop::Version)
    }),
    flag(&["V"], "The same; without inputs also print the supported emulations.", |s| {
        s.show_version = Some(Stop::Emulations);
    }),
    flag(&["target-help"], "Print the supported targets.", |s| s.stop(Stop::Targets)),
    flag(&["print-output-format"], "Print the name of the output format.", |s| s.stop(Stop::OutputFormat)),
    flag(&["print-sysroot"], "Print the sysroot.", |s| s.stop(Stop::Sysroot)),
    take(
        &["verbose"],
        Optional("N"),
        "Print the default layout as a linker script, and say what is done.",
        |s, _| {
            s.o.reports.verbose = true;
            Ok(())
        },
    ),
    flag(&["trace", "t"], "Print the names of the inputs.", |s| s.o.reports.trace = true),
    take(&["trace-symbol", "y"], Required("SYMBOL"), "Print which inputs define and use SYMBOL.", |s, v| {
        s.o.reports.trace_symbols.push(v.string()?);
        Ok(())
    }),
    take(&["Map"], Required("FILE"), "Write a map of the output to FILE; - is standard output.", |s, v| {
        if v.os() == "-" {
            s.o.reports.print_map = true;
        } else {
            s.o.reports.map_file = Some(v.os().into());
        }
        Ok(())
    }),
    take(
        &["explore"],
        Required("FILE"),
        "Write a page for browsers to FILE that shows what the output is made of, and why.",
        |s, v| {
            s.o.reports.explore = Some(v.os().into());
            Ok(())
        },
    ),
    flag(&["print-map", "M"], "Print a map of the output.", |s| s.o.reports.print_map = true),
    flag(&["cref"], "Print where each symbol is defined and used; to the map if there is one.", |s| {
        s.o.reports.cref = true;
    }),
    flag(&["no-cref"], "Do not (default).", |s| s.o.reports.cref = false),
    take(
        &["why-extract"],
        Required("FILE"),
        "Write to FILE why each archive member was linked; - is standard output.",
        |s, v| {
            s.o.reports.why_extract = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["why-live"],
        Required("GLOB"),
        "With --gc-sections: print what keeps each symbol whose name matches, step by step.",
        |s, v| {
            s.o.reports.why_live.push(pattern(v.text()?)?);
            Ok(())
        },
    ),
    take(&["dependency-file"], Required("FILE"), "Write the inputs to FILE as a rule for make.", |s, v| {
        s.o.reports.dependency_file = Some(v.os().into());
        Ok(())
    }),
    take(
        &["map-format"],
        Required("FORM"),
        "What -Map writes: gnu (default, if called as ld or ld.bfd), lld (default else).",
        |s, v| {
            s.o.reports.gnu_map = Some(choice(v, &[("gnu", true), ("lld", false)])?);
            Ok(())
        },
    ),
    take(
        &["reproduce"],
        Required("FILE"),
        "Write all inputs and the command line to a tar file from which the link can be repeated.",
        |s, v| {
            s.o.reports.reproduce = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["time-trace"],
        Optional("FILE"),
        "Write how long each phase took, as a Chrome trace. Without FILE: beside the output.",
        |s, v| {
            match v.value {
                Some(file) => s.o.reports.time_trace = Some(file.into()),
                None => s.time_trace_beside_output = true,
            }
            Ok(())
        },
    ),
    accepted(&["time-trace-granularity"], Required("MICROSECONDS"), "all phases are recorded"),
    flag(&["stats", "perf"], "Print times and counts of each phase.", |s| s.o.reports.stats = true),
    flag(&["fatal-warnings"], "Treat warnings as errors.", |s| s.o.reports.fatal_warnings = true),
    flag(&["no-fatal-warnings"], "Do not (default).", |s| s.o.reports.fatal_warnings = false),
    flag(&["no-warnings", "w"], "Do not show warnings. Cancels --fatal-warnings.", |s| {
        s.o.reports.no_warnings = true
    }),
    take(&["error-limit"], Required("N"), "Show at most N errors (default: 20; 0: all).", |s, v| {
        s.o.reports.error_limit = usize::try_from(number(v.text()?)?).unwrap_or(usize::MAX);
        Ok(())
    }),
    // Also looked for in the raw arguments by the program, which prints messages.
    take(
        &["error-format"],
        Required("human|json"),
        "How messages are written: for people (default), or as a JSON object each, for programs.",
        |s, v| {
            s.o.reports.json = choice(v, &[("human", false), ("json", true)])?;
            Ok(())
        },
    ),
    // Looked for in the raw arguments by the program, which shows it.
    flag(
        &["progress"],
        "Show on a terminal what a link does that takes longer than a second (default).",
        |_| {},
    ),
    flag(&["no-progress"], "Do not.", |_| {}),
    take(
        &["color-diagnostics"],
        Optional("WHEN"),
        "Colour messages: auto (default), always, never. Without a value: always.",
        |s, v| {
            s.o.reports.color = match v.value {
                None => Some(true),
                Some(_) => choice(v, &[("auto", None), ("always", Some(true)), ("never", Some(false))])?,
            };
            Ok(())
        },
    ),
    flag(&["no-color-diagnostics"], "The same as --color-diagnostics=never.", |s| {
        s.o.reports.color = Some(false)
    }),
    flag(&["warn-common"], "Warn when a common symbol meets another definition.", |s| {
        s.o.reports.warn_common = true;
    }),
    flag(&["no-warn-common"], "Do not (default).", |s| s.o.reports.warn_common = false),
    flag(
        &["warn-backrefs"],
        "Warn when an archive member is linked for a reference that comes after the archive.",
        |s| s.o.reports.warn_backrefs = true,
    ),
    flag(&["no-warn-backrefs"], "Do not (default).", |s| s.o.reports.warn_backrefs = false),
    take(&["warn-backrefs-exclude"], Required("GLOB"), "Do not warn about matching archives.", |s, v| {
        s.o.reports.warn_backrefs_exclude.push(v.string()?);
        Ok(())
    }),
    flag(&["warn-symbol-ordering"], "Warn of symbols that ordering files name in vain (default).", |s| {
        s.o.order.warn = true;
    }),
    flag(&["no-wchar-size-warning"], "ARM: do not warn of objects with wchar_t of different sizes.", |s| {
        s.o.reports.wchar_sizes = false;
    }),
    flag(
        &["no-enum-size-warning"],
        "ARM: do not warn of objects with enumerations of different sizes.",
        |s| {
            s.o.reports.enum_sizes = false;
        },
    ),
    flag(&["no-warn-symbol-ordering"], "Do not.", |s| s.o.order.warn = false),
    flag(
        &["warn-rwx-segments", "no-error-rwx-segments"],
        "Warn of segments that can be read, written and executed.",
        |s| s.o.reports.rwx_segments = ReportPolicy::Warning,
    ),
    flag(&["no-warn-rwx-segments"], "Do not (default).", |s| {
        s.o.reports.rwx_segments = ReportPolicy::None;
    }),
    flag(&["error-rwx-segments"], "Refuse them.", |s| s.o.reports.rwx_segments = ReportPolicy::Error),
    flag(
        &["warn-textrel"],
        "Warn if the loader has to change read-only sections, which -z notext allows.",
        |s| s.o.reports.warn_textrel = true,
    ),
    flag(&["warn-shared-textrel"], "The same for shared objects only.", |s| {
        s.o.reports.warn_shared_textrel = true;
    }),
    flag(
        &["warn-ifunc-textrel"],
        "Warn of IFUNCs with -z notext: loaders before glibc 2.29 may call resolvers that cannot be executed then.",
        |s| s.o.reports.warn_ifunc_textrel = true,
    ),
    flag(&["no-warn-ifunc-textrel"], "Do not (default).", |s| s.o.reports.warn_ifunc_textrel = false),
    flag(
        &["warn-section-align"],
        "Warn of output sections that start later because of their alignment.",
        |s| {
            s.o.reports.warn_section_align = true;
        },
    ),
    accepted(&["warn-once"], NoValue, "a symbol that is undefined is reported once in any case"),
    accepted(
        &["warn-constructors", "no-warn-constructors"],
        NoValue,
        "in ELF files constructors are data like any other",
    ),
    accepted(&["warn-alternate-em"], NoValue, "objects with another machine number always are errors"),
    accepted(&["warn-multiple-gp"], NoValue, "only Alpha and MIPS have several values of that register"),
    flag(
        &["warn-search-mismatch"],
        "Say which libraries for other machines the search passes over (default).",
        |s| s.o.reports.search_mismatch = true,
    ),
    flag(&["no-warn-search-mismatch"], "Do not.", |s| s.o.reports.search_mismatch = false),
    flag(&["no-warn-shared-textrel"], "Do not (default).", |s| s.o.reports.warn_shared_textrel = false),
    flag(
        &["warn-execstack", "warn-execstack-objects"],
        "Warn of objects that ask for an executable stack (default).",
        |s| {
            s.o.reports.report_execstack = ReportPolicy::Warning;
        },
    ),
    flag(&["no-warn-execstack"], "Do not.", |s| s.o.reports.report_execstack = ReportPolicy::None),
    flag(&["error-execstack"], "Refuse them.", |s| s.o.reports.report_execstack = ReportPolicy::Error),
    flag(&["no-error-execstack"], "As --warn-execstack.", |s| {
        s.o.reports.report_execstack = ReportPolicy::Warning;
    }),
    accepted(&["no-warn-mismatch"], NoValue, "inputs for another architecture always are errors"),
    take(
        &["error-handling-script"],
        Required("FILE"),
        "If the link fails, run FILE before the messages: with missing-lib NAME for each library and undefined-symbol NAME \
         for each symbol that is missing.",
        |s, v| {
            s.o.reports.error_script = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["print-archive-stats"],
        Required("FILE"),
        "Write to FILE how many members each archive has and how many of them are linked; - is standard output.",
        |s, v| {
            s.o.reports.archive_stats = Some(v.os().into());
            Ok(())
        },
    ),
    flag(&["print-default-script"], "Print the default layout as a linker script.", |s| {
        s.o.reports.default_script = true;
    }),
    flag(&["print-memory-usage"], "Say how full the memory regions of a linker script are.", |s| {
        s.o.reports.memory_usage = true;
    }),
    flag(&["print-dependencies"], "Print which section uses which symbol of which other file.", |s| {
        s.o.reports.dependencies = true;
    }),
    flag(
        &["vs-diagnostics"],
        "Start messages with FILE(LINE), where debug information knows it, as Visual Studio understands them.",
        |_| {},
    ),
    flag(
        &["print-map-discarded"],
        "Name in a map in GNU ld's form the sections that are not in the output (default).",
        |s| {
            s.o.reports.map_discarded = true;
        },
    ),
    flag(&["no-print-map-discarded"], "Do not.", |s| s.o.reports.map_discarded = false),
    accepted(&["print-map-locals", "no-print-map-locals"], NoValue, "which symbols a map has is no choice"),
    flag(&["repro"], "As --reproduce, to a file beside the output whose name ends in .repro.tar.", |s| {
        s.reproduce_beside_output = true;
    }),
];
