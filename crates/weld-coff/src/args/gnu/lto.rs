//! Link-time optimisation, as `ld.lld` says it for MinGW and as gcc and clang pass it on.

use std::path::PathBuf;

use weld_common::args::Value::{Optional, Required, Suffix};
use weld_common::args::{Spec, accepted, flag, take};
use weld_lto::options::{Emit, SaveTemps};

use super::super::lto::pair;
use super::state::State;

pub const ROWS: &[Spec<State>] = &[
    take(
        &["plugin"],
        Required("FILE"),
        "A plugin for link-time optimisation, as gcc and clang pass it: LLVM's is used for bitcode, GCC's for nothing.",
        |s, v| {
            s.o.lto.engine.plugin = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["plugin-opt"],
        Required("OPTION"),
        "What gcc and clang say to plugins: for LLVM jobs=, O, mcpu=, save-temps, thinlto-index-only, obj-path=, -OPTION and so on as the options of that name here. What is for GCC's has no effect.",
        |s, v| Ok(s.o.lto.take_plugin_option(v.text()?)?),
    ),
    take(
        &["lto-engine"],
        Required("FILE"),
        "Compile bitcode with this engine: one that `weld lto-engine build` has built, or LLVM's plugin (LLVMgold.so). By default one is looked for, of the oldest LLVM that is new enough for all bitcode.",
        |s, v| {
            s.o.lto.engine.path = Some(v.os().into());
            Ok(())
        },
    ),
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
    take(&["mllvm"], Required("OPTION"), "An option for LLVM itself.", |s, v| {
        s.o.lto.llvm.push(v.string()?);
        Ok(())
    }),
    take(&["lto-O"], Suffix("LEVEL"), "Optimise bitcode: 0 to 3 (default: 2).", |s, v| {
        Ok(s.o.lto.take_level(v.text()?)?)
    }),
    take(
        &["lto-CGO"],
        Suffix("LEVEL"),
        "Optimise while machine code is generated: 0 to 3 (default: 2, or 3 with --lto-O3).",
        |s, v| Ok(s.o.lto.take_codegen_level(v.text()?)?),
    ),
    take(
        &["lto-partitions"],
        Required("N"),
        "Compile bitcode that is merged to one module in N pieces, in parallel.",
        |s, v| Ok(s.o.lto.take_partitions(v.text()?)?),
    ),
    take(&["thinlto-jobs"], Required("N"), "Compile N modules at a time; all: as many as pay.", |s, v| {
        Ok(s.o.lto.take_jobs(v.text()?)?)
    }),
    take(
        &["lto-obj-path"],
        Required("FILE"),
        "Keep the objects that compilers make, by this name.",
        |s, v| {
            s.o.lto.object_path = Some(v.os().into());
            Ok(())
        },
    ),
    flag(&["lto-emit-asm"], "Write assembly code instead of linking.", |s| {
        s.o.lto.emit = Emit::Assembly;
    }),
    flag(&["lto-emit-llvm"], "Write bitcode instead of linking.", |s| s.o.lto.emit = Emit::Bitcode),
    flag(
        &["save-temps", "plugin-save-temps"],
        "Keep what is made on the way from bitcode to objects.",
        |s| {
            s.o.lto.save_temps = SaveTemps::All;
        },
    ),
    take(&["lto-cs-profile-file"], Required("FILE"), "Optimise by a context-sensitive profile.", |s, v| {
        s.o.lto.profile.context_sensitive = Some(v.os().into());
        Ok(())
    }),
    flag(&["lto-cs-profile-generate"], "Generate code that writes such a profile.", |s| {
        s.o.lto.profile.generate = true;
    }),
    take(&["lto-sample-profile"], Required("FILE"), "Optimise by a profile of samples.", |s, v| {
        s.o.lto.profile.sample = Some(v.os().into());
        Ok(())
    }),
    take(&["thinlto-cache-dir"], Required("DIR"), "Keep compiled modules for later links in DIR.", |s, v| {
        s.o.lto.cache_in(v.os().into());
        Ok(())
    }),
    take(&["thinlto-cache-policy"], Required("POLICY"), "How much of them, and how long.", |s, v| {
        Ok(s.o.lto.take_cache_policy(v.text()?)?)
    }),
    take(
        &["thinlto-index-only"],
        Optional("FILE"),
        "Write what is needed to compile each module elsewhere instead of linking, and to FILE the names of the objects that are to be linked then.",
        |s, v| {
            s.o.lto.take_index_only(v.value.map(PathBuf::from));
            Ok(())
        },
    ),
    flag(&["thinlto-emit-imports-files"], "With each, a list of the files that it imports from.", |s| {
        s.o.lto.thin.emit_imports_files = true;
    }),
    take(
        &["thinlto-prefix-replace"],
        Required("OLD;NEW[;OBJECT]"),
        "Replace the start of the names of these files, and of the objects in the list.",
        |s, v| pair(s.o.lto.take_prefix_replace(v.text()?), v),
    ),
    take(
        &["thinlto-object-suffix-replace"],
        Required("OLD;NEW"),
        "Replace the end of the names of inputs to get the names of files that have been compiled of them.",
        |s, v| pair(s.o.lto.take_suffix_replace(v.text()?), v),
    ),
    accepted(&["flto", "flto-partition", "fuse-ld"], Optional("VALUE"), "it is for the compiler"),
];
