//! Options that several command lines have, as rows of their tables: what a row is called, says and does is
//! the same in ld.lld's table, lld-link's and MinGW's. Where a table has it, and with how many dashes, is the
//! table's.

use std::path::PathBuf;

use weld_common::args::Value::{Optional, Required, Suffix};
use weld_common::args::{Context, Spec, ValueError, flag, take};

use crate::options::{Emit, Options};
use crate::spelling::WrongValue;

/// What a parser of command lines fills.
pub trait Holder: Context<Error: From<ValueError> + From<WrongValue>> + 'static {
    fn lto(&mut self) -> &mut Options;
}

type Names = &'static [&'static str];

pub const fn engine<S: Holder>() -> Spec<S> {
    take(
        &["lto-engine"],
        Required("FILE"),
        "Compile bitcode with this engine: one that `weld lto-engine build` has built, or LLVM's plugin (LLVMgold.so). \
         By default one is looked for, of the oldest LLVM that is new enough for all bitcode.",
        |s: &mut S, v| {
            s.lto().engine.path = Some(v.os().into());
            Ok(())
        },
    )
}

pub const fn llvm_option<S: Holder>() -> Spec<S> {
    take(&["mllvm"], Required("OPTION"), "An option for LLVM itself.", |s: &mut S, v| {
        s.lto().llvm.push(v.string()?);
        Ok(())
    })
}

pub const fn level<S: Holder>() -> Spec<S> {
    take(&["lto-O"], Suffix("LEVEL"), "Optimise bitcode: 0 to 3 (default: 2).", |s: &mut S, v| {
        Ok(s.lto().take_level(v.text()?)?)
    })
}

pub const fn codegen_level<S: Holder>() -> Spec<S> {
    take(
        &["lto-CGO"],
        Suffix("LEVEL"),
        "Optimise while machine code is generated: 0 to 3 (default: 2, or 3 with --lto-O3).",
        |s: &mut S, v| Ok(s.lto().take_codegen_level(v.text()?)?),
    )
}

pub const fn partitions<S: Holder>() -> Spec<S> {
    take(
        &["lto-partitions"],
        Required("N"),
        "Compile bitcode that is merged to one module in N pieces, in parallel.",
        |s: &mut S, v| Ok(s.lto().take_partitions(v.text()?)?),
    )
}

pub const fn jobs<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-jobs"],
        Required("N"),
        "Compile N modules at a time; all: as many as pay.",
        |s: &mut S, v| Ok(s.lto().take_jobs(v.text()?)?),
    )
}

pub const fn object_path<S: Holder>() -> Spec<S> {
    take(
        &["lto-obj-path"],
        Required("FILE"),
        "Keep the objects that compilers make, by this name.",
        |s: &mut S, v| {
            s.lto().object_path = Some(v.os().into());
            Ok(())
        },
    )
}

pub const fn emit_assembly<S: Holder>() -> Spec<S> {
    flag(&["lto-emit-asm"], "Write assembly code instead of linking.", |s: &mut S| {
        s.lto().emit = Emit::Assembly;
    })
}

pub const fn emit_bitcode<S: Holder>() -> Spec<S> {
    flag(&["lto-emit-llvm"], "Write bitcode instead of linking.", |s: &mut S| s.lto().emit = Emit::Bitcode)
}

pub const fn save_temps<S: Holder>(names: Names) -> Spec<S> {
    take(
        names,
        Optional("KIND"),
        "Keep what is made on the way from bitcode to objects: all, or resolution, preopt, promote, internalize, \
         import, opt, precodegen, prelink or combinedindex.",
        |s: &mut S, v| Ok(s.lto().take_save_temps(v.value.map(|_| v.text()).transpose()?)?),
    )
}

pub const fn sample_profile<S: Holder>() -> Spec<S> {
    take(&["lto-sample-profile"], Required("FILE"), "Optimise by a profile of samples.", |s: &mut S, v| {
        s.lto().profile.sample = Some(v.os().into());
        Ok(())
    })
}

pub const fn context_profile<S: Holder>() -> Spec<S> {
    take(
        &["lto-cs-profile-file"],
        Required("FILE"),
        "Optimise by a context-sensitive profile.",
        |s: &mut S, v| {
            s.lto().profile.context_sensitive = Some(v.os().into());
            Ok(())
        },
    )
}

pub const fn generate_profile<S: Holder>() -> Spec<S> {
    flag(&["lto-cs-profile-generate"], "Generate code that writes such a profile.", |s: &mut S| {
        s.lto().profile.generate = true;
    })
}

pub const fn index_only<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-index-only"],
        Optional("FILE"),
        "Write what is needed to compile each module elsewhere instead of linking, and to FILE the names of the \
         objects that are to be linked then.",
        |s: &mut S, v| {
            s.lto().take_index_only(v.value.map(PathBuf::from));
            Ok(())
        },
    )
}

pub const fn emit_imports<S: Holder>() -> Spec<S> {
    flag(
        &["thinlto-emit-imports-files"],
        "With each, a list of the files that it imports from.",
        |s: &mut S| s.lto().thin.emit_imports_files = true,
    )
}

pub const fn prefix_replace<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-prefix-replace"],
        Required("OLD;NEW[;OBJECT]"),
        "Replace the start of the names of these files, and of the objects in the list.",
        |s: &mut S, v| Ok(s.lto().take_prefix_replace(v.text()?)?),
    )
}

pub const fn suffix_replace<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-object-suffix-replace"],
        Required("OLD;NEW"),
        "Replace the end of the names of inputs to get the names of files that have been compiled of them.",
        |s: &mut S, v| Ok(s.lto().take_suffix_replace(v.text()?)?),
    )
}

pub const fn cache_directory<S: Holder>(names: Names) -> Spec<S> {
    take(names, Required("DIR"), "Keep compiled modules for later links in DIR.", |s: &mut S, v| {
        s.lto().cache_in(v.os().into());
        Ok(())
    })
}

pub const fn cache_policy<S: Holder>(names: Names) -> Spec<S> {
    take(names, Required("POLICY"), "How much of them, and how long.", |s: &mut S, v| {
        Ok(s.lto().take_cache_policy(v.text()?)?)
    })
}

pub const fn distributor<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-distributor"],
        Required("PROGRAM"),
        "Have modules compiled by a program that distributes compilations.",
        |s: &mut S, v| {
            s.lto().distributed().distributor = v.os().into();
            Ok(())
        },
    )
}

pub const fn distributor_arg<S: Holder>() -> Spec<S> {
    take(&["thinlto-distributor-arg"], Required("ARG"), "An argument for it.", |s: &mut S, v| {
        s.lto().distributed().distributor_args.push(v.os().into());
        Ok(())
    })
}

pub const fn remote_compiler<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-remote-compiler"],
        Required("PROGRAM"),
        "The compiler that it is to run.",
        |s: &mut S, v| {
            s.lto().distributed().compiler = v.os().into();
            Ok(())
        },
    )
}

pub const fn remote_compiler_prepended_arg<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-remote-compiler-prepend-arg"],
        Required("ARG"),
        "The compiler's first arguments.",
        |s: &mut S, v| {
            s.lto().distributed().compiler_prepended_args.push(v.os().into());
            Ok(())
        },
    )
}

pub const fn remote_compiler_arg<S: Holder>() -> Spec<S> {
    take(
        &["thinlto-remote-compiler-arg"],
        Required("ARG"),
        "The compiler's last arguments.",
        |s: &mut S, v| {
            s.lto().distributed().compiler_args.push(v.os().into());
            Ok(())
        },
    )
}
