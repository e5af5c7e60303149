//! Dynamic linking: what the loader is told.

use std::path::Path;

use weld_common::args::Value::{None as NoValue, Required, Separate};
use weld_common::args::{Group, Spec, accepted, choice, flag, refused, take};

use super::super::state::State;
use super::keywords;
use crate::options::HashStyle;

pub const GROUP: Group<State> = Group { title: "Dynamic linking", prefix: "", rows: ROWS };

const ROWS: &[Spec<State>] = &[
    take(&["z"], Required("KEYWORD"), "Set one of the keywords listed below.", keywords::run),
    take(&["dynamic-linker", "I"], Required("FILE"), "The loader of the program (PT_INTERP).", |s, v| {
        s.o.dynamic.dynamic_linker = Some(v.string()?);
        s.o.dynamic.no_dynamic_linker = false;
        Ok(())
    }),
    flag(&["no-dynamic-linker"], "Name no loader.", |s| {
        s.o.dynamic.dynamic_linker = None;
        s.o.dynamic.no_dynamic_linker = true;
    }),
    take(&["soname", "h"], Required("NAME"), "The name of a shared object (DT_SONAME).", |s, v| {
        s.o.dynamic.soname = Some(v.string()?).filter(|name| !name.is_empty());
        Ok(())
    }),
    take(&["rpath"], Required("DIR"), "Where the loader looks for shared objects (DT_RUNPATH).", |s, v| {
        s.rpath(v.string()?);
        Ok(())
    }),
    take(&["R"], Required("DIR"), "As --rpath; if it is a file, as --just-symbols.", |s, v| {
        if Path::new(v.os()).is_file() {
            s.just_symbols(v);
            return Ok(());
        }
        s.rpath(v.string()?);
        Ok(())
    }),
    flag(&["enable-new-dtags"], "Write DT_RUNPATH for --rpath (default).", |s| {
        s.o.dynamic.disable_new_dtags = false
    }),
    flag(&["disable-new-dtags"], "Write DT_RPATH for --rpath.", |s| s.o.dynamic.disable_new_dtags = true),
    take(&["auxiliary", "f"], Separate("NAME"), "Write DT_AUXILIARY.", |s, v| {
        s.o.dynamic.auxiliary.push(v.string()?);
        Ok(())
    }),
    take(&["filter", "F"], Separate("NAME"), "Write DT_FILTER.", |s, v| {
        s.o.dynamic.filter.push(v.string()?);
        Ok(())
    }),
    take(&["audit"], Required("LIB"), "Write DT_AUDIT.", |s, v| {
        s.o.dynamic.audit.push(v.string()?);
        Ok(())
    }),
    take(
        &["depaudit", "P"],
        Required("LIB"),
        "Write DT_DEPAUDIT; what needed libraries have as DT_AUDIT comes after it.",
        |s, v| {
            s.o.dynamic.depaudit.push(v.string()?);
            Ok(())
        },
    ),
    take(
        &["init"],
        Required("SYMBOL"),
        "The function that is called at load time (default: _init).",
        |s, v| {
            s.o.symbols.init = v.string()?;
            Ok(())
        },
    ),
    take(
        &["fini"],
        Required("SYMBOL"),
        "The function that is called at unload time (default: _fini).",
        |s, v| {
            s.o.symbols.fini = v.string()?;
            Ok(())
        },
    ),
    take(
        &["hash-style"],
        Required("STYLE"),
        "Which symbol hash tables to write: sysv, gnu, both (default; MIPS: sysv, which is all that it has).",
        |s, v| {
            s.o.dynamic.hash_style =
                choice(v, &[("sysv", HashStyle::Sysv), ("gnu", HashStyle::Gnu), ("both", HashStyle::Both)])?;
            Ok(())
        },
    ),
    flag(&["eh-frame-hdr"], "Write .eh_frame_hdr, by which unwinders search.", |s| {
        s.o.sections.eh_frame_hdr = true
    }),
    flag(&["no-eh-frame-hdr"], "Do not write it (default).", |s| s.o.sections.eh_frame_hdr = false),
    take(
        &["pack-dyn-relocs"],
        Required("HOW"),
        "Pack dynamic relocations: none (default); relr, relative ones (DT_RELR); android, all as Android does \
         (DT_ANDROID_RELA); android+relr, what relr leaves.",
        |s, v| {
            let choices = [
                ("none", (false, false)),
                ("relr", (false, true)),
                ("android", (true, false)),
                ("android+relr", (true, true)),
            ];
            (s.o.relocs.pack_android, s.o.relocs.pack_relr) = choice(v, &choices)?;
            // What `-z pack-relative-relocs` asks for besides stays asked for.
            s.o.relocs.relr_glibc_dep &= s.o.relocs.pack_relr;
            Ok(())
        },
    ),
    flag(&["apply-dynamic-relocs"], "Write the addends of dynamic relocations to the sections, too.", |s| {
        s.o.relocs.apply_dynamic_relocs = true
    }),
    flag(&["no-apply-dynamic-relocs"], "Write zeros there (default).", |s| {
        s.o.relocs.apply_dynamic_relocs = false
    }),
    flag(&["relax"], "Replace instructions by cheaper ones where the target allows (default).", |s| {
        s.o.relocs.relax = true;
    }),
    flag(&["no-relax"], "Keep the instructions of the compiler.", |s| s.o.relocs.relax = false),
    accepted(
        &["ld-generated-unwind-info", "no-ld-generated-unwind-info"],
        NoValue,
        "unwind information of the PLT only helps debuggers",
    )
    .two_dashes(),
    accepted(&["check-dynamic-relocations", "no-check-dynamic-relocations"], NoValue, "it tests lld itself"),
    flag(&["use-android-relr-tags"], "Write DT_ANDROID_RELR and its kin in place of DT_RELR.", |s| {
        s.o.relocs.android_relr = true;
    }),
    flag(&["no-use-android-relr-tags"], "Write DT_RELR (default).", |s| s.o.relocs.android_relr = false),
    refused(&["Bgroup"], NoValue, "no loader of Linux looks at DF_1_GROUP"),
];
