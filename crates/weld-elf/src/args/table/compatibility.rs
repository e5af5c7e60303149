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
    accepted(&["fork", "no-fork", "detach", "no-detach"], NoValue, "the linker stays one process"),
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
    refused(&["embedded-relocs"], NoValue, "it is for old MIPS systems"),
    refused(&["task-link"], Required("SYMBOL"), "it is for embedded COFF systems"),
    refused(
        &["run"],
        Optional("COMMAND"),
        "put weld's directory of links (weld install-links) first in PATH",
    ),
];
