//! Link-time optimisation: options of ld.lld, which are for the compiler that generates code, and what gcc and
//! clang pass to plugins (`-plugin-opt`), which says the same in other words.

use std::path::PathBuf;

use weld_common::args::Value::{None as NoValue, Optional, Required, Suffix};
use weld_common::args::{Group, Spec, accepted, choice, choose, flag, refused, take};
use weld_lto::options::{Cache, Emit, IndexOnly, PrefixReplace, SaveTemps, Unified};

use super::super::state::State;
use super::super::values::number;
use crate::options::LtoOptions;

pub const GROUP: Group<State> = Group { title: "Link-time optimisation", prefix: "", rows: ROWS };

type Taken = Result<(), String>;

const ROWS: &[Spec<State>] = &[
    take(
        &["plugin"],
        Required("FILE"),
        "A plugin for link-time optimisation, as gcc and clang pass it: GCC's says that objects with GCC's intermediate \
         code are compiled anew, and by which compiler; LLVM's is used for bitcode. It has to be there.",
        |s, v| {
            s.o.lto.code.engine.plugin = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["plugin-opt"],
        Required("OPTION"),
        "What gcc and clang say to plugins: for LLVM jobs=, O, mcpu=, save-temps, thinlto-index-only, obj-path=, -OPTION \
         and so on as the options of that name here; for GCC the path of lto-wrapper, -fresolution=, -pass-through=.",
        |s, v| plugin_option(s, v.text()?),
    ),
    take(
        &["lto-engine"],
        Required("FILE"),
        "Compile bitcode with this plugin of LLVM's (LLVMgold.so). By default that of the oldest LLVM that is new enough \
         for all bitcode is looked for.",
        |s: &mut State, v| {
            s.o.lto.code.engine.path = Some(v.os().into());
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
            s.o.lto.code.unified = choice(v, &modes)?;
            Ok(())
        },
    )
    .two_dashes(),
    take(&["lto-O"], Suffix("LEVEL"), "Optimise bitcode: 0 to 3 (default: 2).", |s: &mut State, v| {
        s.o.lto.code.level = Some(level(v.text()?)?);
        Ok(())
    })
    .two_dashes(),
    take(
        &["lto-CGO"],
        Suffix("LEVEL"),
        "Optimise while machine code is generated: 0 to 3 (default: 2, or 3 with --lto-O3).",
        |s: &mut State, v| {
            s.o.lto.code.codegen_level = Some(level(v.text()?)?);
            Ok(())
        },
    )
    .two_dashes(),
    take(
        &["lto-partitions"],
        Required("N"),
        "Compile bitcode that is merged to one module in N pieces, in parallel.",
        |s: &mut State, v| partitions(&mut s.o.lto, v.text()?),
    )
    .two_dashes(),
    take(&["thinlto-jobs"], Required("N"), "Compile N modules at a time; all: as many as pay.", |s, v| {
        jobs(&mut s.o.lto, v.text()?)
    }),
    take(&["mllvm"], Required("OPTION"), "An option for LLVM itself.", |s, v| {
        s.o.lto.code.llvm.push(v.string()?);
        Ok(())
    }),
    take(&["lto-obj-path"], Required("FILE"), "Keep the objects that compilers make, by this name.", |s: &mut State, v| {
        s.o.lto.code.object_path = Some(v.os().into());
        Ok(())
    })
    .two_dashes(),
    flag(&["lto-emit-asm"], "Write assembly code instead of linking.", |s: &mut State| s.o.lto.code.emit = Emit::Assembly)
        .two_dashes(),
    flag(&["lto-emit-llvm"], "Write bitcode instead of linking.", |s: &mut State| s.o.lto.code.emit = Emit::Bitcode)
        .two_dashes(),
    take(
        &["save-temps"],
        Optional("KIND"),
        "Keep what is made on the way from bitcode to objects: all, or resolution, preopt, promote, internalize, import, \
         opt, precodegen, prelink or combinedindex.",
        |s, v| save_temps(&mut s.o.lto, v.value.map(|_| v.text()).transpose()?),
    ),
    flag(&["plugin-save-temps"], "The same.", |s| s.o.lto.code.save_temps = SaveTemps::All),
    flag(&["disable-verify"], "Do not verify bitcode.", |s| s.o.lto.code.disable_verify = true),
    take(&["lto-newpm-passes"], Required("PASSES"), "The passes of the optimiser.", |s: &mut State, v| {
        s.o.lto.code.passes.pipeline = Some(v.string()?);
        Ok(())
    })
    .two_dashes(),
    take(&["lto-aa-pipeline"], Required("PASSES"), "Its alias analyses.", |s: &mut State, v| {
        s.o.lto.code.passes.alias_analysis = Some(v.string()?);
        Ok(())
    })
    .two_dashes(),
    take(&["load-pass-plugin"], Required("FILE"), "Load passes from a library.", |s: &mut State, v| {
        s.o.lto.code.passes.plugins.push(v.os().into());
        Ok(())
    })
    .two_dashes(),
    flag(&["lto-debug-pass-manager"], "Print what passes run.", |s: &mut State| s.o.lto.code.passes.debug = true).two_dashes(),
    take(
        &["lto-basic-block-sections"],
        Required("WHICH"),
        "Put basic blocks in sections of their own: all, none, or those that a file lists.",
        |s: &mut State, v| {
            s.o.lto.code.blocks.sections = Some(v.string()?);
            Ok(())
        },
    )
    .two_dashes(),
    flag(&["lto-unique-basic-block-section-names"], "Give these sections names of their own.", |s: &mut State| {
        s.o.lto.code.blocks.unique_names = true;
    })
    .two_dashes(),
    flag(&["no-lto-unique-basic-block-section-names"], "Do not. This is the default.", |s: &mut State| {
        s.o.lto.code.blocks.unique_names = false;
    })
    .two_dashes(),
    flag(&["lto-basic-block-address-map"], "Write where basic blocks are (SHT_LLVM_BB_ADDR_MAP).", |s: &mut State| {
        s.o.lto.code.blocks.address_map = true;
    })
    .two_dashes(),
    flag(&["no-lto-basic-block-address-map"], "Do not. This is the default.", |s: &mut State| {
        s.o.lto.code.blocks.address_map = false;
    })
    .two_dashes(),
    take(&["lto-sample-profile"], Required("FILE"), "Optimise by a profile of samples.", |s: &mut State, v| {
        s.o.lto.code.profile.sample = Some(v.os().into());
        Ok(())
    })
    .two_dashes(),
    take(&["lto-cs-profile-file"], Required("FILE"), "Optimise by a context-sensitive profile.", |s: &mut State, v| {
        s.o.lto.code.profile.context_sensitive = Some(v.os().into());
        Ok(())
    })
    .two_dashes(),
    flag(&["lto-cs-profile-generate"], "Generate code that writes such a profile.", |s: &mut State| {
        s.o.lto.code.profile.generate = true;
    })
    .two_dashes(),
    flag(
        &["lto-pgo-warn-mismatch"],
        "Warn of functions that a profile knows by another shape. This is the default.",
        |s: &mut State| {
            s.o.lto.code.profile.warn_mismatch = true;
        },
    )
    .two_dashes(),
    flag(&["no-lto-pgo-warn-mismatch"], "Do not.", |s: &mut State| s.o.lto.code.profile.warn_mismatch = false).two_dashes(),
    flag(
        &["lto-whole-program-visibility"],
        "No vtable is derived from outside of what is linked, so virtual calls may become direct ones.",
        |s: &mut State| s.o.lto.code.devirtualisation.whole_program = true,
    )
    .two_dashes(),
    flag(&["no-lto-whole-program-visibility"], "Do not count on that. This is the default.", |s: &mut State| {
        s.o.lto.code.devirtualisation.whole_program = false;
    })
    .two_dashes(),
    flag(
        &["lto-validate-all-vtables-have-type-infos"],
        "Count on it only if every vtable has type information.",
        |s: &mut State| s.o.lto.code.devirtualisation.validate = true,
    )
    .two_dashes(),
    flag(&["no-lto-validate-all-vtables-have-type-infos"], "Do not ask. This is the default.", |s: &mut State| {
        s.o.lto.code.devirtualisation.validate = false;
    })
    .two_dashes(),
    take(&["lto-known-safe-vtables"], Required("SYMBOL"), "A vtable that need not have it.", |s: &mut State, v| {
        s.o.lto.code.devirtualisation.known_safe.push(v.string()?);
        Ok(())
    })
    .two_dashes(),
    take(&["opt-remarks-filename"], Required("FILE"), "Write what the optimiser has to say to FILE.", |s, v| {
        s.o.lto.code.remarks.file = Some(v.os().into());
        Ok(())
    }),
    take(&["opt-remarks-format"], Required("FORMAT"), "Its format: yaml (default) or bitstream.", |s, v| {
        s.o.lto.code.remarks.format = Some(v.string()?);
        Ok(())
    }),
    take(
        &["opt-remarks-passes"],
        Required("REGEX"),
        "Only what passes of matching names have to say.",
        |s, v| {
            s.o.lto.code.remarks.passes = Some(v.string()?);
            Ok(())
        },
    ),
    take(
        &["opt-remarks-hotness-threshold"],
        Required("N"),
        "Only of code that runs so often, by a profile; auto: as the profile's summary says.",
        |s, v| {
            s.o.lto.code.remarks.hotness_threshold = Some(v.string()?);
            Ok(())
        },
    ),
    flag(&["opt-remarks-with-hotness"], "Say how often, too.", |s| s.o.lto.code.remarks.with_hotness = true),
    take(
        &["thinlto-index-only"],
        Optional("FILE"),
        "Write what is needed to compile each module elsewhere instead of linking, and to FILE the names of the objects \
         that are to be linked then.",
        |s, v| {
            index_only(&mut s.o.lto, v.value.map(PathBuf::from));
            Ok(())
        },
    ),
    flag(&["thinlto-emit-index-files"], "Write these files beside linking.", |s| {
        s.o.lto.code.thin.emit_index_files = true;
    }),
    flag(&["thinlto-emit-imports-files"], "With each, a list of the files that it imports from.", |s| {
        s.o.lto.code.thin.emit_imports_files = true;
    }),
    take(
        &["thinlto-prefix-replace"],
        Required("OLD;NEW[;OBJECT]"),
        "Replace the start of the names of these files, and of the objects in the list.",
        |s, v| prefix_replace(&mut s.o.lto, v.text()?),
    ),
    take(
        &["thinlto-object-suffix-replace"],
        Required("OLD;NEW"),
        "Replace the end of the names of inputs to get the names of files that have been compiled of them.",
        |s, v| suffix_replace(&mut s.o.lto, v.text()?),
    ),
    take(
        &["thinlto-single-module"],
        Required("NAME"),
        "Compile only modules with this in their names, to debug the compiler.",
        |s, v| {
            s.o.lto.code.thin.single_modules.push(v.string()?);
            Ok(())
        },
    ),
    take(&["thinlto-cache-dir"], Required("DIR"), "Keep compiled modules for later links in DIR.", |s, v| {
        s.cache_directory = Some(v.os().into());
        Ok(())
    }),
    take(&["thinlto-cache-policy"], Required("POLICY"), "How much of them, and how long.", |s, v| {
        cache_policy(s, v.text()?)
    }),
    take(
        &["thinlto-distributor"],
        Required("PROGRAM"),
        "Have modules compiled by a program that distributes compilations.",
        |s, v| {
            s.distribution.distributor = v.os().into();
            Ok(())
        },
    ),
    take(&["thinlto-distributor-arg"], Required("ARG"), "An argument for it.", |s, v| {
        s.distribution.distributor_args.push(v.os().into());
        Ok(())
    }),
    take(&["thinlto-remote-compiler"], Required("PROGRAM"), "The compiler that it is to run.", |s, v| {
        s.distribution.compiler = v.os().into();
        Ok(())
    }),
    take(&["thinlto-remote-compiler-prepend-arg"], Required("ARG"), "The compiler's first arguments.", |s, v| {
        s.distribution.compiler_prepended_args.push(v.os().into());
        Ok(())
    }),
    take(&["thinlto-remote-compiler-arg"], Required("ARG"), "The compiler's last arguments.", |s, v| {
        s.distribution.compiler_args.push(v.os().into());
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

/// What follows `-plugin-opt=`. What only GCC's plugin knows is kept for `lto-wrapper`.
fn plugin_option(state: &mut State, text: &str) -> Taken {
    let lto = &mut state.o.lto;
    let (is_gcc, is_foreign) = (lto.has_gcc_plugin(), lto.has_foreign_plugin());
    let code = &mut lto.code;
    let for_gcc =
        text.starts_with('/') || text.starts_with("-fresolution=") || text.starts_with("-pass-through=");
    if is_gcc && text.starts_with('-') || for_gcc {
        code.engine.plugin_options.push(text.to_owned());
        return Ok(());
    }
    if text.starts_with('-') {
        code.llvm.push(text.to_owned());
        return Ok(());
    }
    if let Some(found) = text.strip_prefix('O').filter(|rest| rest.bytes().all(|b| b.is_ascii_digit())) {
        code.level = Some(level(found)?);
        return Ok(());
    }
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let path = || PathBuf::from(value.unwrap_or_default());
    let owned = || value.map(str::to_owned);
    match (name, value) {
        ("thinlto", None) => {}
        ("cs-profile-generate", None) => code.profile.generate = true,
        ("cs-profile-path", Some(_)) => code.profile.context_sensitive = Some(path()),
        ("debug-pass-manager", None) => code.passes.debug = true,
        ("disable-verify", None) => code.disable_verify = true,
        ("dwo_dir", Some(_)) => code.dwo_directory = Some(path()),
        ("emit-asm", None) => code.emit = Emit::Assembly,
        ("emit-llvm", None) => code.emit = Emit::Bitcode,
        ("jobs", Some(value)) => jobs(lto, value)?,
        ("lto-partitions", Some(value)) => partitions(lto, value)?,
        ("mcpu", Some(_)) => code.cpu = owned(),
        ("obj-path", Some(_)) => code.object_path = Some(path()),
        ("opt-remarks-filename", Some(_)) => code.remarks.file = Some(path()),
        ("opt-remarks-format", Some(_)) => code.remarks.format = owned(),
        ("opt-remarks-hotness-threshold", Some(_)) => code.remarks.hotness_threshold = owned(),
        ("opt-remarks-passes", Some(_)) => code.remarks.passes = owned(),
        ("opt-remarks-with-hotness", None) => code.remarks.with_hotness = true,
        ("sample-profile", Some(_)) => code.profile.sample = Some(path()),
        ("save-temps", None) => code.save_temps = SaveTemps::All,
        ("stats-file", Some(_)) => code.statistics = Some(path()),
        ("cache-dir", Some(_)) => state.cache_directory = Some(path()),
        ("cache-policy", Some(value)) => cache_policy(state, value)?,
        ("thinlto-emit-imports-files", None) => code.thin.emit_imports_files = true,
        ("thinlto-index-only", _) => index_only(lto, value.map(PathBuf::from)),
        ("thinlto-object-suffix-replace", Some(value)) => suffix_replace(lto, value)?,
        ("thinlto-prefix-replace", Some(value)) => prefix_replace(lto, value)?,
        ("time-trace", Some(_)) => code.time_trace = Some((path(), 500)),
        // What it means only the plugin knows.
        _ if is_foreign => code.engine.plugin_options.push(text.to_owned()),
        _ => return Err(format!("unknown plugin option '{text}'")),
    }
    Ok(())
}

fn level(text: &str) -> Result<u8, String> {
    Ok(choose(text, &[("0", 0), ("1", 1), ("2", 2), ("3", 3)])?)
}

fn partitions(lto: &mut LtoOptions, text: &str) -> Taken {
    lto.code.partitions = match number(text)?.try_into() {
        Ok(count @ 1..) => count,
        _ => return Err(format!("expected a number of at least 1, but got '{text}'")),
    };
    Ok(())
}

fn jobs(lto: &mut LtoOptions, text: &str) -> Taken {
    if text != "all" && text.parse::<u32>().is_err() {
        return Err(format!("expected a number or 'all', but got '{text}'"));
    }
    lto.code.jobs = Some(text.to_owned());
    Ok(())
}

fn cache_policy(state: &mut State, text: &str) -> Taken {
    Cache::check_policy(text).map_err(|wrong| wrong.to_string())?;
    state.cache_policy = Some(text.to_owned());
    Ok(())
}

fn index_only(lto: &mut LtoOptions, list: Option<PathBuf>) {
    let known = lto.code.thin.index_only.take().and_then(|only| only.list);
    lto.code.thin.index_only = Some(IndexOnly { list: list.or(known) });
}

fn prefix_replace(lto: &mut LtoOptions, text: &str) -> Taken {
    let parts: Vec<String> = text.split(';').map(str::to_owned).collect();
    let [old, new, object @ ..] = &parts[..] else {
        return Err(format!("expected OLD;NEW, but got '{text}'"));
    };
    let object = match object {
        [] => String::new(),
        [object] => object.clone(),
        _ => return Err(format!("expected OLD;NEW or OLD;NEW;OBJECT, but got '{text}'")),
    };
    lto.code.thin.prefix_replace = Some(PrefixReplace { old: old.clone(), new: new.clone(), object });
    Ok(())
}

fn suffix_replace(lto: &mut LtoOptions, text: &str) -> Taken {
    let (old, new) = text.split_once(';').ok_or_else(|| format!("expected OLD;NEW, but got '{text}'"))?;
    lto.code.thin.object_suffix_replace = Some((old.to_owned(), new.to_owned()));
    Ok(())
}

fn save_temps(lto: &mut LtoOptions, kind: Option<&str>) -> Taken {
    const KINDS: [(&str, &str); 9] = [
        ("resolution", "resolution"),
        ("preopt", "preopt"),
        ("promote", "promote"),
        ("internalize", "internalize"),
        ("import", "import"),
        ("opt", "opt"),
        ("precodegen", "precodegen"),
        ("prelink", "prelink"),
        ("combinedindex", "combinedindex"),
    ];
    let temps = &mut lto.code.save_temps;
    match kind {
        None => *temps = SaveTemps::All,
        Some(kind) => {
            let kind = choose(kind, &KINDS)?.to_owned();
            match temps {
                SaveTemps::All => {}
                SaveTemps::Kinds(kinds) => kinds.push(kind),
                SaveTemps::None => *temps = SaveTemps::Kinds(vec![kind]),
            }
        }
    }
    Ok(())
}
