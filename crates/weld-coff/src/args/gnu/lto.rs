//! Link-time optimisation, as `ld.lld` says it for MinGW and as gcc and clang pass it on.

use weld_common::args::Value::{Optional, Required};
use weld_common::args::{Spec, accepted, flag, take};
use weld_lto::options::SaveTemps;
use weld_lto::rows;

use super::super::lto::{prefix_replace, suffix_replace};
use super::state::State;

pub const ROWS: &[Spec<State>] = &[
    take(
        &["plugin"],
        Required("FILE"),
        "A plugin for link-time optimisation, as gcc and clang pass it: LLVM's is used for bitcode; GCC's has GCC asked for its code, fat objects' too.",
        |s, v| {
            s.o.lto.engine.plugin = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["plugin-opt"],
        Required("OPTION"),
        "What gcc and clang say to plugins: for LLVM jobs=, O, mcpu=, save-temps, thinlto-index-only, obj-path=, -OPTION and so on as the options of that name here. Of what is for GCC's, where lto-wrapper and the file of resolutions are.",
        |s, v| Ok(s.o.lto.take_plugin_option(v.text()?)?),
    ),
    rows::engine(),
    flag(
        &["fat-lto-objects"],
        "Compile the bitcode (.llvm.lto) of objects that have machine code, too.",
        |s| {
            s.o.lto.fat_objects = true;
        },
    ),
    flag(&["no-fat-lto-objects"], "Link the machine code of such objects (default).", |s| {
        s.o.lto.fat_objects = false;
    }),
    rows::llvm_option(),
    rows::level(),
    rows::codegen_level(),
    rows::partitions(),
    rows::jobs(),
    rows::object_path(),
    rows::emit_assembly(),
    rows::emit_bitcode(),
    flag(
        &["save-temps", "plugin-save-temps"],
        "Keep what is made on the way from bitcode to objects.",
        |s| {
            s.o.lto.save_temps = SaveTemps::All;
        },
    ),
    rows::context_profile(),
    rows::generate_profile(),
    rows::sample_profile(),
    rows::cache_directory(&["thinlto-cache-dir"]),
    rows::cache_policy(&["thinlto-cache-policy"]),
    rows::index_only(),
    rows::emit_imports(),
    prefix_replace(),
    suffix_replace(),
    accepted(&["flto", "flto-partition", "fuse-ld"], Optional("VALUE"), "it is for the compiler"),
];
