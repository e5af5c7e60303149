//! Options that only mean something for architectures other than x86-64, most of which weld does not have
//! yet.

use weld_common::args::Value::{None as NoValue, Optional, Required};
use weld_common::args::values::number;
use weld_common::args::{Group, Spec, ValueError, accepted, choice, flag, refused, take};

use weld_common::diag::Cause;

use super::super::state::State;
use crate::options::{MemtagMode, Target1, Target2};

pub const GROUP: Group<State> = Group { title: "Other architectures", prefix: "", rows: ROWS };

const ARM: &str = "it is for ARM, and not there yet";
const RISCV: &str = "it is for RISC-V, and not there yet";

const ROWS: &[Spec<State>] = &[
    flag(&["target1-rel"], "ARM: tables of functions to run have distances.", |s| {
        s.o.relocs.target1 = Target1::Distance;
    }),
    flag(&["target1-abs"], "ARM: they have addresses (default).", |s| s.o.relocs.target1 = Target1::Address),
    take(
        &["target2"],
        Required("HOW"),
        "ARM: what tables for exceptions say of types: abs (an address), rel (a distance), got-rel (that of a slot, default).",
        |s, v| {
            let ways = [("abs", Target2::Address), ("rel", Target2::Distance), ("got-rel", Target2::Slot)];
            s.o.relocs.target2 = choice(v, &ways)?;
            Ok(())
        },
    ),
    flag(
        &["merge-exidx-entries"],
        "ARM: leave out entries of .ARM.exidx that say the same as the one before (default).",
        |s| {
            s.o.sections.merge_code_index = true;
        },
    ),
    flag(&["no-merge-exidx-entries"], "ARM: leave out none.", |s| s.o.sections.merge_code_index = false),
    flag(&["pic-veneer"], "ARM: thunks are code that may be moved, also at fixed addresses.", |s| {
        s.o.layout.pic_veneer = true;
    }),
    flag(
        &["be8"],
        "ARM, big endian: instructions in little-endian order, as processors of version 6 and later want them. Without effect with -r.",
        |s| s.o.layout.be8 = true,
    ),
    flag(
        &["cmse-implib"],
        "ARM: take and write libraries of the functions that may be called from outside of the secure world (--in-implib, --out-implib). These have gateways in .gnu.sgstubs with or without it. Not with -r.",
        |s| s.o.gateways.library = true,
    ),
    take(
        &["in-implib"],
        Required("FILE"),
        "With --cmse-implib: leave gateways where FILE says, which an earlier link has written.",
        |s, v| {
            if s.o.gateways.earlier.replace(v.os().into()).is_some() {
                s.error(
                    Cause::ConflictingOptions,
                    "--in-implib is given twice, and there is one earlier link",
                );
            }
            Ok(())
        },
    ),
    take(
        &["out-implib"],
        Required("FILE"),
        "With --cmse-implib: write the library that programs outside of the secure world are linked with.",
        |s, v| {
            s.o.gateways.output = Some(v.os().into());
            Ok(())
        },
    ),
    refused(&["be32", "fix-arm1176", "fix-v4bx", "fix-v4bx-interworking"], NoValue, ARM),
    accepted(&["no-fix-arm1176"], NoValue, "only ARM has it"),
    take(
        &["branch-reach"],
        Required("BYTES"),
        "AArch64, ARM, LoongArch, PowerPC: take branches to reach only so far (at least 0x400), and put thunks in between where they go further. For tests.",
        |s, v| match number(v.text()?)? {
            0..0x400 => Err(ValueError::Expected("0x400 or more").into()),
            reach => {
                s.o.layout.branch_reach = Some(reach);
                Ok(())
            }
        },
    ),
    flag(
        &["fix-cortex-a53-843419"],
        "AArch64: move loads and stores that early Cortex-A53 processors execute wrongly. Not with -r.",
        |s| erratum(s, "--fix-cortex-a53-843419", true),
    ),
    flag(&["fix-cortex-a53-835769"], "AArch64: the same for multiplications that add.", |s| {
        erratum(s, "--fix-cortex-a53-835769", true)
    }),
    flag(
        &["fix-cortex-a8"],
        "ARM: have branches that some Cortex-A8 processors execute wrongly go by way of another branch (erratum 657417). Not with -r.",
        |s| erratum(s, "--fix-cortex-a8", true),
    ),
    flag(&["no-fix-cortex-a8"], "Do not (default).", |s| erratum(s, "--fix-cortex-a8", false)),
    flag(&["no-fix-cortex-a53-843419"], "Do not (default).", |s| {
        erratum(s, "--fix-cortex-a53-843419", false)
    }),
    flag(&["no-fix-cortex-a53-835769"], "Do not (default).", |s| {
        erratum(s, "--fix-cortex-a53-835769", false)
    }),
    take(
        &["android-memtag-mode"],
        Required("MODE"),
        "AArch64: have Android find out at once (sync) or later (async) where memory is used by pointers with another tag; none (default).",
        |s, v| {
            let modes =
                [("sync", Some(MemtagMode::Sync)), ("async", Some(MemtagMode::Async)), ("none", None)];
            s.o.notes.memtag.mode = choice(v, &modes)?;
            Ok(())
        },
    ),
    flag(&["android-memtag-heap"], "AArch64: have the heap tagged.", |s| s.o.notes.memtag.heap = true),
    flag(&["no-android-memtag-heap"], "Do not (default).", |s| s.o.notes.memtag.heap = false),
    flag(&["android-memtag-stack"], "AArch64: have the stack tagged.", |s| s.o.notes.memtag.stack = true),
    flag(&["no-android-memtag-stack"], "Do not (default).", |s| s.o.notes.memtag.stack = false),
    flag(
        &["toc-optimize"],
        "PowerPC64: replace instructions that load from the TOC by cheaper ones (default).",
        |s| {
            s.o.relocs.toc_optimize = true;
        },
    ),
    flag(&["no-toc-optimize"], "PowerPC64: do not.", |s| s.o.relocs.toc_optimize = false),
    flag(
        &["pcrel-optimize"],
        "PowerPC64: the same for instructions with prefixes that load slots (default).",
        |s| {
            s.o.relocs.pcrel_optimize = true;
        },
    ),
    flag(&["no-pcrel-optimize"], "PowerPC64: do not.", |s| s.o.relocs.pcrel_optimize = false),
    take(
        &["power10-stubs"],
        Optional("HOW"),
        "PowerPC64: whether code that the linker makes for callers without a TOC has instructions of Power10: yes, auto (default), no.",
        |s, v| {
            let ways = [("yes", false), ("auto", false), ("no", true)];
            s.o.layout.without_prefixes = match v.value {
                Some(_) => choice(v, &ways)?,
                None => false,
            };
            Ok(())
        },
    ),
    flag(&["no-power10-stubs"], "PowerPC64: it has none.", |s| s.o.layout.without_prefixes = true),
    flag(
        &["save-restore-funcs"],
        "PowerPC64: define the functions that save registers and load them again, as code asks for (default, but not with -r).",
        |s| s.o.layout.register_code = Some(true),
    ),
    flag(&["no-save-restore-funcs"], "PowerPC64: do not.", |s| s.o.layout.register_code = Some(false)),
    accepted(
        &["bss-plt"],
        NoValue,
        "PowerPC: entries of the PLT are code that the linker makes. Code that needs others is an error",
    ),
    accepted(
        &["pmem-wrap-around"],
        Required("SIZE"),
        "AVR: relative jumps go around the end of 8 KiB where objects are for such processors",
    ),
    accepted(&["plt-align"], Optional("BITS"), "only PowerPC has it"),
    accepted(
        &["stub-group-size"],
        Required("SIZE"),
        "only ARM and PowerPC have it; --branch-reach is for tests",
    ),
    accepted(
        &[
            "secure-plt",
            "long-plt",
            "no-long-plt",
            "emit-stub-syms",
            "no-emit-stub-syms",
            "plt-localentry",
            "no-plt-localentry",
            "plt-static-chain",
            "no-plt-static-chain",
            "plt-thread-safe",
            "no-plt-thread-safe",
            "stub-group-multi",
            "no-stub-group-multi",
            "tls-get-addr-optimize",
            "no-tls-get-addr-optimize",
            "toc-sort",
            "no-toc-sort",
        ],
        NoValue,
        "only PowerPC has it",
    ),
    flag(&["relax-gp"], "RISC-V: let code count from the register that points to small data.", |s| {
        s.o.relocs.relax_gp = true;
    }),
    flag(&["no-relax-gp"], "RISC-V: do not (default).", |s| s.o.relocs.relax_gp = false),
    refused(&["relax-tbljal"], NoValue, RISCV),
    accepted(&["no-relax-tbljal"], NoValue, "it is the default"),
    take(
        &["mips-got-size"],
        Required("SIZE"),
        "MIPS: how many bytes one GOT may have; if more are needed there are several (default: 0xfff0, which 16 bits reach).",
        |s, v| {
            s.o.relocs.mips_got_size = number(v.text()?)?;
            Ok(())
        },
    ),
    accepted(&["gpsize", "G"], Required("SIZE"), "x86-64 has no small data"),
];

/// Has code changed for processors that execute it wrongly, or not.
fn erratum(state: &mut State, option: &'static str, fix: bool) {
    let errata = &mut state.o.layout.errata;
    errata.retain(|other| *other != option);
    if fix {
        errata.push(option);
    }
}
