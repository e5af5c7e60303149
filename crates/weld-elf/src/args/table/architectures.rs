//! Options that only mean something for architectures other than x86-64, most of which weld does not have yet.

use weld_common::args::Value::{None as NoValue, Optional, Required};
use weld_common::args::{Group, Spec, accepted, flag, refused, take};

use super::super::state::State;
use super::super::values::number;

pub const GROUP: Group<State> = Group { title: "Other architectures", prefix: "", rows: ROWS };

const ARM: &str = "it is for ARM, which comes later";
const AARCH64: &str = "it is for AArch64, and not there yet";
const POWER: &str = "it is for PowerPC64, which comes later";
const RISCV: &str = "it is for RISC-V, and not there yet";

const ROWS: &[Spec<State>] = &[
    refused(&["be8", "cmse-implib", "fix-cortex-a8", "target1-rel"], NoValue, ARM),
    refused(&["in-implib", "out-implib", "target2"], Required("VALUE"), ARM),
    accepted(&["merge-exidx-entries", "no-merge-exidx-entries", "target1-abs"], NoValue, "only ARM has it"),
    take(
        &["branch-reach"],
        Required("BYTES"),
        "AArch64: take branches to reach only so far (at least 0x400), and put thunks in between where they go further. For tests.",
        |s, v| match number(v.text()?)? {
            0..0x400 => Err("expected 0x400 or more".to_owned()),
            reach => {
                s.o.layout.branch_reach = Some(reach);
                Ok(())
            }
        },
    ),
    accepted(&["pic-veneer"], NoValue, "only ARM has it"),
    accepted(&["fix-cortex-a53-843419"], NoValue, "code is not changed for early Cortex-A53 processors yet"),
    refused(&["fix-cortex-a53-835769"], NoValue, AARCH64),
    accepted(&["no-fix-cortex-a53-843419", "no-fix-cortex-a53-835769"], NoValue, "it is the default"),
    refused(&["android-memtag-heap", "android-memtag-stack"], NoValue, AARCH64),
    refused(&["android-memtag-mode"], Required("MODE"), AARCH64),
    accepted(&["no-android-memtag-heap", "no-android-memtag-stack"], NoValue, "it is the default"),
    refused(&["toc-optimize", "pcrel-optimize"], NoValue, POWER),
    refused(&["power10-stubs"], Optional("HOW"), POWER),
    accepted(
        &["no-toc-optimize", "no-pcrel-optimize", "no-power10-stubs", "secure-plt", "long-plt"],
        NoValue,
        "only PowerPC has it",
    ),
    flag(&["relax-gp"], "RISC-V: let code count from the register that points to small data.", |s| {
        s.o.relocs.relax_gp = true;
    }),
    flag(&["no-relax-gp"], "RISC-V: do not (default).", |s| s.o.relocs.relax_gp = false),
    refused(&["relax-tbljal"], NoValue, RISCV),
    accepted(&["no-relax-tbljal"], NoValue, "it is the default"),
    accepted(&["mips-got-size"], Required("SIZE"), "only MIPS has it"),
    accepted(&["gpsize", "G"], Required("SIZE"), "x86-64 has no small data"),
];
