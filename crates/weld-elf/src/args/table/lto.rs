//! Link-time optimisation. Inputs that are bitcode of LLVM or GCC are errors when they are read, and
//! for all other inputs these options mean nothing, so they are accepted: GCC passes `-plugin` on
//! every link.

use weld_common::args::Value::{None as NoValue, Optional, Required, Suffix};
use weld_common::args::{Group, Spec, accepted, take};

use super::super::state::State;

pub const GROUP: Group<State> = Group { title: "Link-time optimisation", prefix: "", rows: ROWS };

const WHY: &str = "it only concerns inputs for link-time optimisation, which are errors";

const ROWS: &[Spec<State>] = &[
    take(
        &["plugin"],
        Required("FILE"),
        "A plugin for link-time optimisation, which is not loaded; it has to be there. A warning names the first object that it \
         would compile anew, of which the machine code is linked.",
        |s, v| {
            s.o.inputs.plugin = Some(v.os().into());
            Ok(())
        },
    ),
    accepted(&["plugin-opt", "plugin-save-temps"], Required("VALUE"), WHY),
    accepted(&["flto", "flto-partition"], Optional("VALUE"), WHY),
    accepted(&["fuse-ld"], Required("LINKER"), "it is for the compiler"),
    accepted(
        &[
            "lto",
            "lto-aa-pipeline",
            "lto-basic-block-sections",
            "lto-cs-profile-file",
            "lto-known-safe-vtables",
            "lto-newpm-passes",
            "lto-obj-path",
            "lto-partitions",
            "lto-sample-profile",
            "load-pass-plugin",
        ],
        Required("VALUE"),
        WHY,
    )
    .two_dashes(),
    accepted(&["lto-CGO", "lto-O"], Suffix("LEVEL"), WHY),
    accepted(
        &[
            "lto-basic-block-address-map",
            "no-lto-basic-block-address-map",
            "lto-cs-profile-generate",
            "lto-debug-pass-manager",
            "lto-emit-asm",
            "lto-emit-llvm",
            "lto-pgo-warn-mismatch",
            "no-lto-pgo-warn-mismatch",
            "lto-unique-basic-block-section-names",
            "no-lto-unique-basic-block-section-names",
            "lto-validate-all-vtables-have-type-infos",
            "no-lto-validate-all-vtables-have-type-infos",
            "lto-whole-program-visibility",
            "no-lto-whole-program-visibility",
        ],
        NoValue,
        WHY,
    )
    .two_dashes(),
    accepted(&["disable-verify", "thinlto-emit-imports-files", "thinlto-emit-index-files"], NoValue, WHY),
    accepted(&["mllvm"], Required("OPTION"), WHY),
    accepted(
        &[
            "opt-remarks-filename",
            "opt-remarks-format",
            "opt-remarks-hotness-threshold",
            "opt-remarks-passes",
        ],
        Required("VALUE"),
        WHY,
    ),
    accepted(&["opt-remarks-with-hotness"], NoValue, WHY),
    accepted(&["save-temps", "thinlto-index-only"], Optional("VALUE"), WHY),
    accepted(
        &[
            "thinlto-cache-dir",
            "thinlto-cache-policy",
            "thinlto-distributor",
            "thinlto-distributor-arg",
            "thinlto-jobs",
            "thinlto-object-suffix-replace",
            "thinlto-prefix-replace",
            "thinlto-remote-compiler",
            "thinlto-remote-compiler-arg",
            "thinlto-remote-compiler-prepend-arg",
            "thinlto-single-module",
        ],
        Required("VALUE"),
        WHY,
    ),
    accepted(&["fat-lto-objects"], NoValue, "the machine code of such objects is linked"),
    accepted(&["lto-pseudo-probe-for-profiling"], Required("VALUE"), WHY),
    accepted(&["no-legacy-pass-manager", "no-lto-legacy-pass-manager"], NoValue, WHY),
    accepted(&["no-fat-lto-objects"], NoValue, "it is the default"),
];
