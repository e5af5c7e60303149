//! Link-time optimisation: options of ld.lld, which are for the compiler that generates code, and what gcc and
//! clang pass to plugins (`-plugin-opt`), which says the same in other words.

use std::path::PathBuf;

use weld_common::args::Value::{None as NoValue, Optional, Required, Suffix};
use weld_common::args::{Group, Spec, accepted, choice, flag, refused, take};
use weld_lto::options::{Emit, SaveTemps, Unified};

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
    take(
        &["lto-engine"],
        Required("FILE"),
        "Compile bitcode with this engine: one that `weld lto-engine build` has built, or LLVM's plugin (LLVMgold.so). By \
         default one is looked for, of the oldest LLVM that is new enough for all bitcode.",
        |s: &mut State, v| {
            s.o.lto.engine.path = Some(v.os().into());
            Ok(())
        },
    )
    .two_dashes(),
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
    take(&["lto-O"], Suffix("LEVEL"), "Optimise bitcode: 0 to 3 (default: 2).", |s: &mut State, v| {
        Ok(s.o.lto.take_level(v.text()?)?)
    })
    .two_dashes(),
    take(
        &["lto-CGO"],
        Suffix("LEVEL"),
        "Optimise while machine code is generated: 0 to 3 (default: 2, or 3 with --lto-O3).",
        |s: &mut State, v| {
            Ok(s.o.lto.take_codegen_level(v.text()?)?)
        },
    )
    .two_dashes(),
    take(
        &["lto-partitions"],
        Required("N"),
        "Compile bitcode that is merged to one module in N pieces, in parallel.",
        |s: &mut State, v| Ok(s.o.lto.take_partitions(v.text()?)?),
    )
    .two_dashes(),
    take(&["thinlto-jobs"], Required("N"), "Compile N modules at a time; all: as many as pay.", |s, v| {
        Ok(s.o.lto.take_jobs(v.text()?)?)
    }),
    take(&["mllvm"], Required("OPTION"), "An option for LLVM itself.", |s, v| {
        s.o.lto.llvm.push(v.string()?);
        Ok(())
    }),
    take(&["lto-obj-path"], Required("FILE"), "Keep the objects that compilers make, by this name.", |s: &mut State, v| {
        s.o.lto.object_path = Some(v.os().into());
        Ok(())
    })
    .two_dashes(),
    flag(&["lto-emit-asm"], "Write assembly code instead of linking.", |s: &mut State| s.o.lto.emit = Emit::Assembly)
        .two_dashes(),
    flag(&["lto-emit-llvm"], "Write bitcode instead of linking.", |s: &mut State| s.o.lto.emit = Emit::Bitcode)
        .two_dashes(),
    take(
        &["save-temps"],
        Optional("KIND"),
        "Keep what is made on the way from bitcode to objects: all, or resolution, preopt, promote, internalize, import, \
         opt, precodegen, prelink or combinedindex.",
        |s, v| Ok(s.o.lto.take_save_temps(v.value.map(|_| v.text()).transpose()?)?),
    ),
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
    take(&["lto-sample-profile"], Required("FILE"), "Optimise by a profile of samples.", |s: &mut State, v| {
        s.o.lto.profile.sample = Some(v.os().into());
        Ok(())
    })
    .two_dashes(),
    take(&["lto-cs-profile-file"], Required("FILE"), "Optimise by a context-sensitive profile.", |s: &mut State, v| {
        s.o.lto.profile.context_sensitive = Some(v.os().into());
        Ok(())
    })
    .two_dashes(),
    flag(&["lto-cs-profile-generate"], "Generate code that writes such a profile.", |s: &mut State| {
        s.o.lto.profile.generate = true;
    })
    .two_dashes(),
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
    take(
        &["thinlto-index-only"],
        Optional("FILE"),
        "Write what is needed to compile each module elsewhere instead of linking, and to FILE the names of the objects \
         that are to be linked then.",
        |s, v| {
            s.o.lto.take_index_only(v.value.map(PathBuf::from));
            Ok(())
        },
    ),
    flag(&["thinlto-emit-index-files"], "Write these files beside linking.", |s| {
        s.o.lto.thin.emit_index_files = true;
    }),
    flag(&["thinlto-emit-imports-files"], "With each, a list of the files that it imports from.", |s| {
        s.o.lto.thin.emit_imports_files = true;
    }),
    take(
        &["thinlto-prefix-replace"],
        Required("OLD;NEW[;OBJECT]"),
        "Replace the start of the names of these files, and of the objects in the list.",
        |s, v| Ok(s.o.lto.take_prefix_replace(v.text()?)?),
    ),
    take(
        &["thinlto-object-suffix-replace"],
        Required("OLD;NEW"),
        "Replace the end of the names of inputs to get the names of files that have been compiled of them.",
        |s, v| Ok(s.o.lto.take_suffix_replace(v.text()?)?),
    ),
    take(
        &["thinlto-single-module"],
        Required("NAME"),
        "Compile only modules with this in their names, to debug the compiler.",
        |s, v| {
            s.o.lto.thin.single_modules.push(v.string()?);
            Ok(())
        },
    ),
    take(&["thinlto-cache-dir"], Required("DIR"), "Keep compiled modules for later links in DIR.", |s, v| {
        s.o.lto.cache_in(v.os().into());
        Ok(())
    }),
    take(&["thinlto-cache-policy"], Required("POLICY"), "How much of them, and how long.", |s, v| {
        Ok(s.o.lto.take_cache_policy(v.text()?)?)
    }),
    take(
        &["thinlto-distributor"],
        Required("PROGRAM"),
        "Have modules compiled by a program that distributes compilations.",
        |s, v| {
            s.o.lto.distributed().distributor = v.os().into();
            Ok(())
        },
    ),
    take(&["thinlto-distributor-arg"], Required("ARG"), "An argument for it.", |s, v| {
        s.o.lto.distributed().distributor_args.push(v.os().into());
        Ok(())
    }),
    take(&["thinlto-remote-compiler"], Required("PROGRAM"), "The compiler that it is to run.", |s, v| {
        s.o.lto.distributed().compiler = v.os().into();
        Ok(())
    }),
    take(&["thinlto-remote-compiler-prepend-arg"], Required("ARG"), "The compiler's first arguments.", |s, v| {
        s.o.lto.distributed().compiler_prepended_args.push(v.os().into());
        Ok(())
    }),
    take(&["thinlto-remote-compiler-arg"], Required("ARG"), "The compiler's last arguments.", |s, v| {
        s.o.lto.distributed().compiler_args.push(v.os().into());
        Ok(())
    }),
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
