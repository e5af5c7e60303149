//! Options of other linkers and older systems that ask for nothing.

use weld_common::args::Value::{None as NoValue, Optional, Required, Separate};
use weld_common::args::{Group, Spec, accepted, refused};

use super::super::state::State;

pub const GROUP: Group<State> = Group { title: "Compatibility", prefix: "", rows: ROWS };

const MEMORY: &str = "memory is not traded for time";

const ROWS: &[Spec<State>] = &[
    accepted(&["g", "Qy", "qmagic"], NoValue, "other linkers ignore it, too"),
    accepted(&["assert", "a"], Separate("KEYWORD"), "other linkers ignore it, too"),
    accepted(&["architecture", "A"], Separate("ARCH"), "-m selects the architecture"),
    accepted(&["Y"], Separate("PATH"), "it is for Solaris"),
    accepted(&["no-keep-memory", "reduce-memory-overheads"], NoValue, MEMORY),
    accepted(&["hash-size", "max-cache-size"], Required("SIZE"), MEMORY),
    accepted(&["map-whole-files", "no-map-whole-files"], NoValue, MEMORY),
    accepted(&["quick-exit", "no-quick-exit"], NoValue, "the linker never tidies up before it exits"),
    accepted(&["traditional-format", "force-exe-suffix"], NoValue, "the output has one format"),
    accepted(
        &["accept-unknown-input-arch", "no-accept-unknown-input-arch"],
        NoValue,
        "inputs for another architecture always are errors",
    ),
    accepted(
        &["enable-linker-version", "disable-linker-version"],
        NoValue,
        "the linker's version is in .comment in any case",
    ),
    accepted(&["ctf-variables", "no-ctf-variables"], NoValue, "CTF sections are copied as they are"),
    accepted(&["ctf-share-types"], Required("HOW"), "CTF sections are copied as they are"),
    accepted(
        &["build-id-chunk-size-for-treehash", "build-id-min-file-size-for-treehash"],
        Required("SIZE"),
        "build ids are made of pieces of a fixed size",
    ),
    accepted(
        &["hash-bucket-empty-fraction"],
        Required("FRACTION"),
        "hash tables have the size that suits them",
    ),
    accepted(&["icf-iterations"], Required("N"), "--icf goes on until nothing changes"),
    accepted(
        &[
            "incremental-full",
            "incremental-update",
            "incremental-changed",
            "incremental-unchanged",
            "incremental-startup-unchanged",
            "incremental-unknown",
        ],
        NoValue,
        "each link is a whole one, which gives the same",
    ),
    accepted(&["incremental-base"], Required("FILE"), "each link is a whole one, which gives the same"),
    accepted(&["incremental-patch"], Required("PERCENT"), "each link is a whole one, which gives the same"),
    accepted(
        &["keep-files-mapped", "no-keep-files-mapped", "preread-archive-symbols"],
        NoValue,
        "memory is not traded for time",
    ),
    accepted(
        &["posix-fallocate", "no-posix-fallocate"],
        NoValue,
        "room for the output is reserved where the file system can do so",
    ),
    accepted(
        &["text-reorder", "no-text-reorder"],
        NoValue,
        "sections of code keep the order of the command line unless a file, a script or a profile gives another",
    ),
    accepted(
        &["tls-optimize", "no-tls-optimize"],
        NoValue,
        "thread-local variables are reached in the shortest way in any case",
    ),
    accepted(
        &["thread-count-initial", "thread-count-middle", "thread-count-final"],
        Required("N"),
        "--threads holds for the whole link",
    ),
    accepted(&["strip-lto-sections"], NoValue, "it is the default"),
    accepted(&["no-detect-odr-violations", "no-warn-drop-version"], NoValue, "it is the default"),
    accepted(&["p", "no-pipeline-knowledge"], NoValue, "only ARM has it"),
    accepted(&["nodefaultlibs"], NoValue, "it is for the compiler"),
    refused(&["detect-odr-violations"], NoValue, "compile with -flto -Wodr to find them"),
    refused(&["warn-drop-version"], NoValue, "there is no such warning"),
    refused(
        &["strip-debug-gdb", "strip-debug-non-line"],
        NoValue,
        "use --strip-debug, or objcopy after the link",
    ),
    refused(&["print-symbol-counts"], Required("FILE"), "use --cref or --print-dependencies"),
    refused(&["rosegment-gap"], Required("DISTANCE"), "use --section-start or a linker script"),
    refused(&["weak-unresolved-symbols"], NoValue, "use --unresolved-symbols=ignore-all"),
    refused(
        &["debug"],
        Required("WHAT"),
        "it is for the developers of gold; --verbose and --stats tell of weld's work",
    ),
    refused(&["filler"], Required("BYTE"), "a linker script says what gaps are filled with"),
    refused(&["embedded-relocs"], NoValue, "it is for old MIPS systems"),
    refused(&["task-link"], Required("SYMBOL"), "it is for embedded COFF systems"),
    refused(&["run"], Optional("COMMAND"), "it is a command: weld run COMMAND"),
];
