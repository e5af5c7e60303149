//! Link-time optimisation: options of ld.lld, which are for the compiler that generates code, and what gcc
//! and clang pass to plugins (`-plugin-opt`), which says the same in other words.

use weld_common::args::Value::{None as NoValue, Optional, Required};
use weld_common::args::{Group, Spec, accepted, choice, flag, refused, take};
use weld_lto::options::{SaveTemps, Unified};
use weld_lto::rows;

use super::super::state::State;

pub const GROUP: Group<State> = Group { title: "Link-time optimisation", prefix: "", rows: ROWS };

const ROWS: &[Spec<State>] = &[
    take(
        &["plugin"],
        Required("FILE"),
        // Build systems look for the words "-plugin PLUGIN".
        "-plugin PLUGIN (as gcc and clang pass it): a plugin for link-time optimisation. GCC's says that objects with \
         GCC's intermediate code are compiled anew, and by which compiler; LLVM's is used for bitcode. It has to be \
         there.",
        |s, v| {
            s.o.lto.engine.plugin = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["plugin-opt"],
        Required("OPTION"),
        "What gcc and clang say to plugins: for LLVM jobs=, O, mcpu=, save-temps, thinlto-index-only, obj-path=, -OPTION \
         and so on as the options of that name here; for GCC the path of lto-wrapper, -fresolution=, -pass-through=.",
        |s, v| Ok(s.o.lto.take_plugin_option(v.text()?)?),
    ),
    rows::engine().two_dashes(),
    flag(&["fat-lto-objects"], "Compile the bitcode (.llvm.lto) of objects that have machine code, too.", |s| {
        s.o.lto.fat_objects = true;
    }),
    flag(&["no-fat-lto-objects"], "Link the machine code of such objects. This is the default.", |s| {
        s.o.lto.fat_objects = false;
    }),
    take(
        &["lto"],
        Required("MODE"),
        "How bitcode is compiled that was made for either way (-funified-lto): full or thin; default: as the first file says.",
        |s: &mut State, v| {
            let modes = [("full", Some(Unified::Full)), ("thin", Some(Unified::Thin)), ("default", None)];
            s.o.lto.unified = choice(v, &modes)?;
            Ok(())
        },
    )
    .two_dashes(),
    rows::level().two_dashes(),
    rows::codegen_level().two_dashes(),
    rows::partitions().two_dashes(),
    rows::jobs(),
    rows::llvm_option(),
    rows::object_path().two_dashes(),
    rows::emit_assembly().two_dashes(),
    rows::emit_bitcode().two_dashes(),
    rows::save_temps(&["save-temps"]),
    flag(&["plugin-save-temps"], "The same.", |s| s.o.lto.save_temps = SaveTemps::All),
    flag(&["disable-verify"], "Do not verify bitcode.", |s| s.o.lto.disable_verify = true),
    take(&["lto-newpm-passes"], Required("PASSES"), "The passes of the optimiser.", |s: &mut State, v| {
        s.o.lto.passes.pipeline = Some(v.string()?);
        Ok(())
    })
    .two_dashes(),
    take(&["lto-aa-pipeline"], Required("PASSES"), "Its alias analyses.", |s: &mut State, v| {
        s.o.lto.passes.alias_analysis = Some(v.string()?);
        Ok(())
    })
    .two_dashes(),
    take(&["load-pass-plugin"], Required("FILE"), "Load passes from a library.", |s: &mut State, v| {
        s.o.lto.passes.plugins.push(v.os().into());
        Ok(())
    })
    .two_dashes(),
    flag(&["lto-debug-pass-manager"], "Print what passes run.", |s: &mut State| s.o.lto.passes.debug = true).two_dashes(),
    take(
        &["lto-basic-block-sections"],
        Required("WHICH"),
        "Put basic blocks in sections of their own: all, none, or those that a file lists.",
        |s: &mut State, v| {
            s.o.lto.blocks.sections = Some(v.string()?);
            Ok(())
        },
    )
    .two_dashes(),
    flag(&["lto-unique-basic-block-section-names"], "Give these sections names of their own.", |s: &mut State| {
        s.o.lto.blocks.unique_names = true;
    })
    .two_dashes(),
    flag(&["no-lto-unique-basic-block-section-names"], "Do not. This is the default.", |s: &mut State| {
        s.o.lto.blocks.unique_names = false;
    })
    .two_dashes(),
    flag(&["lto-basic-block-address-map"], "Write where basic blocks are (SHT_LLVM_BB_ADDR_MAP).", |s: &mut State| {
        s.o.lto.blocks.address_map = true;
    })
    .two_dashes(),
    flag(&["no-lto-basic-block-address-map"], "Do not. This is the default.", |s: &mut State| {
        s.o.lto.blocks.address_map = false;
    })
    .two_dashes(),
    rows::sample_profile().two_dashes(),
    rows::context_profile().two_dashes(),
    rows::generate_profile().two_dashes(),
    flag(
        &["lto-pgo-warn-mismatch"],
        "Warn of functions that a profile knows by another shape. This is the default.",
        |s: &mut State| {
            s.o.lto.profile.warn_mismatch = true;
        },
    )
    .two_dashes(),
    flag(&["no-lto-pgo-warn-mismatch"], "Do not.", |s: &mut State| s.o.lto.profile.warn_mismatch = false).two_dashes(),
    flag(
        &["lto-whole-program-visibility"],
        "No vtable is derived from outside of what is linked, so virtual calls may become direct ones.",
        |s: &mut State| s.o.lto.devirtualisation.whole_program = true,
    )
    .two_dashes(),
    flag(&["no-lto-whole-program-visibility"], "Do not count on that. This is the default.", |s: &mut State| {
        s.o.lto.devirtualisation.whole_program = false;
    })
    .two_dashes(),
    flag(
        &["lto-validate-all-vtables-have-type-infos"],
        "Count on it only if every vtable has type information.",
        |s: &mut State| s.o.lto.devirtualisation.validate = true,
    )
    .two_dashes(),
    flag(&["no-lto-validate-all-vtables-have-type-infos"], "Do not ask. This is the default.", |s: &mut State| {
        s.o.lto.devirtualisation.validate = false;
    })
    .two_dashes(),
    take(&["lto-known-safe-vtables"], Required("SYMBOL"), "A vtable that need not have it.", |s: &mut State, v| {
        s.o.lto.devirtualisation.known_safe.push(v.string()?);
        Ok(())
    })
    .two_dashes(),
    take(&["opt-remarks-filename"], Required("FILE"), "Write what the optimiser has to say to FILE.", |s, v| {
        s.o.lto.remarks.file = Some(v.os().into());
        Ok(())
    }),
    take(&["opt-remarks-format"], Required("FORMAT"), "Its format: yaml (default) or bitstream.", |s, v| {
        s.o.lto.remarks.format = Some(v.string()?);
        Ok(())
    }),
    take(
        &["opt-remarks-passes"],
        Required("REGEX"),
        "Only what passes of matching names have to say.",
        |s, v| {
            s.o.lto.remarks.passes = Some(v.string()?);
            Ok(())
        },
    ),
    take(
        &["opt-remarks-hotness-threshold"],
        Required("N"),
        "Only of code that runs so often, by a profile; auto: as the profile's summary says.",
        |s, v| {
            s.o.lto.remarks.hotness_threshold = Some(v.string()?);
            Ok(())
        },
    ),
    flag(&["opt-remarks-with-hotness"], "Say how often, too.", |s| s.o.lto.remarks.with_hotness = true),
    rows::index_only(),
    flag(&["thinlto-emit-index-files"], "Write these files beside linking.", |s| {
        s.o.lto.thin.emit_index_files = true;
    }),
    rows::emit_imports(),
    rows::prefix_replace(),
    rows::suffix_replace(),
    take(
        &["thinlto-single-module"],
        Required("NAME"),
        "Compile only modules with this in their names, to debug the compiler.",
        |s, v| {
            s.o.lto.thin.single_modules.push(v.string()?);
            Ok(())
        },
    ),
    rows::cache_directory(&["thinlto-cache-dir"]),
    rows::cache_policy(&["thinlto-cache-policy"]),
    rows::distributor(),
    rows::distributor_arg(),
    rows::remote_compiler(),
    rows::remote_compiler_prepended_arg(),
    rows::remote_compiler_arg(),
    accepted(&["flto", "flto-partition", "fuse-ld"], Optional("VALUE"), "it is for the compiler"),
    refused(
        &["lto-pseudo-probe-for-profiling"],
        Required("VALUE"),
        "no LLVM that weld works with has it; compile with -fpseudo-probe-for-profiling",
    ),
    accepted(
        &["no-legacy-pass-manager", "no-lto-legacy-pass-manager"],
        NoValue,
        "no LLVM that weld works with has another one",
    ),
];
