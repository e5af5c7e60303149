//! Link-time optimisation: what both command lines say of it, as options of their own and in the words that gcc
//! and clang have for plugins.

use std::path::PathBuf;

use weld_common::args::Value::{Optional, Required};
use weld_common::args::{Given, Spec, accepted, choose, flag, refused, take};
use weld_lto::options::{Emit, Options};
use weld_lto::spelling::WrongValue;

use super::state::{State, switch};

/// The rows of `lld-link`'s table.
pub const ROWS: &[Spec<State>] = &[
    take(
        &["lto-engine"],
        Required("FILE"),
        "Compile bitcode with this engine: one that `weld lto-engine build` has built, or LLVM's plugin (LLVMgold.so). By default one is looked for, of the oldest LLVM that is new enough for all bitcode.",
        |s, v| {
            s.o.lto.engine.path = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["fat-lto-objects"],
        Optional("no"),
        "Compile the bitcode (.llvm.lto) of objects that have machine code, too. By default the machine code is linked.",
        |s, v| {
            s.o.lto.fat_objects = switch(v)?;
            Ok(())
        },
    ),
    take(&["mllvm"], Required("OPTION"), "An option for LLVM itself.", |s, v| {
        s.o.lto.llvm.push(v.string()?);
        Ok(())
    }),
    take(&["lldltocache"], Required("DIR"), "Keep compiled modules for later links in DIR.", |s, v| {
        s.o.lto.cache_in(v.os().into());
        Ok(())
    }),
    take(&["lldltocachepolicy"], Required("POLICY"), "How much of them, and how long.", |s, v| {
        Ok(s.o.lto.take_cache_policy(v.text()?)?)
    }),
    take(
        &["lldsavetemps"],
        Optional("KIND"),
        "Keep what is made on the way from bitcode to objects: all, or resolution, preopt, promote, internalize, import, opt, precodegen, prelink or combinedindex.",
        |s, v| Ok(s.o.lto.take_save_temps(v.value.map(|_| v.text()).transpose()?)?),
    ),
    take(
        &["lldemit"],
        Required("obj|asm|llvm"),
        "Make objects of bitcode and link them (default), or write assembly code or bitcode instead.",
        |s, v| {
            let kinds = [("obj", Emit::Objects), ("asm", Emit::Assembly), ("llvm", Emit::Bitcode)];
            s.o.lto.emit = choose(&v.text()?.to_ascii_lowercase(), &kinds)?;
            Ok(())
        },
    ),
    take(&["dwodir"], Required("DIR"), "Write .dwo files of compiled bitcode to DIR.", |s, v| {
        s.o.lto.dwo_directory = Some(v.os().into());
        Ok(())
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
    take(
        &["lto-pgo-warn-mismatch"],
        Optional("no"),
        "Warn of functions that a profile knows by another shape (default).",
        |s, v| {
            s.o.lto.profile.warn_mismatch = switch(v)?;
            Ok(())
        },
    ),
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
    take(
        &["thinlto-remote-compiler-prepend-arg"],
        Required("ARG"),
        "The compiler's first arguments.",
        |s, v| {
            s.o.lto.distributed().compiler_prepended_args.push(v.os().into());
            Ok(())
        },
    ),
    take(&["thinlto-remote-compiler-arg"], Required("ARG"), "The compiler's last arguments.", |s, v| {
        s.o.lto.distributed().compiler_args.push(v.os().into());
        Ok(())
    }),
    take(
        &["ltcg"],
        Optional("incremental|status|nostatus|off"),
        "Accepted without effect: bitcode is compiled in any case, and what Microsoft's compiler leaves (/GL) is an error. So are the words for profiles.",
        State::ltcg,
    ),
    accepted(&["ltcgout", "cgthreads"], Optional("VALUE"), "they are for Microsoft's compiler at link time"),
    refused(
        &["genprofile", "fastgenprofile", "useprofile", "spgo", "spdin", "spdembed"],
        Optional("VALUE"),
        "such profiles are for Microsoft's compiler at link time; compile with clang's -fprofile-generate or -fprofile-use",
    ),
    accepted(
        &["pgd", "spd", "pogosafemode"],
        Optional("VALUE"),
        "it only says more of options for profiles, which are errors",
    ),
    refused(
        &["dynamicdeopt"],
        Optional("VALUE"),
        "it needs objects that Microsoft's compiler makes besides, and a second link of them",
    ),
];

/// A pair of names, for which ld.lld has words that builds look for.
pub fn pair(taken: Result<(), WrongValue>, given: Given<'_>) -> Result<(), String> {
    let text = given.text()?;
    taken.map_err(|_| format!("expects 'old;new' format, but got {text}"))
}

/// `/opt:`: whether the word is about bitcode.
pub fn optimise(options: &mut Options, word: &str) -> Result<bool, String> {
    let Some((name, value)) = word.split_once('=') else {
        match word {
            "ltodebugpassmanager" => options.passes.debug = true,
            "noltodebugpassmanager" => options.passes.debug = false,
            _ => return Ok(false),
        }
        return Ok(true);
    };
    let (taken, what) = match name {
        "lldlto" => (options.take_level(value), "optimisation level"),
        "lldltocgo" => (options.take_codegen_level(value), "optimisation level"),
        "lldltojobs" => (options.take_jobs(value), "number of jobs"),
        "lldltopartitions" | "ltopartitions" => (options.take_partitions(value), "number of partitions"),
        _ => return Ok(false),
    };
    taken.map_err(|_| format!("{name}: invalid {what}: {value}"))?;
    Ok(true)
}
