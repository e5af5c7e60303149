use std::ffi::OsString;
use std::path::Path;

use weld_common::args::Effect;
use weld_common::diag::DiagSink;

use super::{is_meant, options_page, parse, table};
use crate::args::{Command, Environment};
use crate::coff::machine::Machine;
use crate::options::{GnuLibrary, Icf, Input, Options, Subsystem};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn try_options(line: &str) -> Result<Box<Options>, String> {
    match parse(&words(line), "ld", &Environment::default(), &DiagSink::new()) {
        Ok(Command::Link(options)) => Ok(options),
        Ok(Command::Print(text)) => Err(text),
        Err(e) => Err(e.to_string()),
    }
}

fn options(line: &str) -> Box<Options> {
    try_options(line).unwrap()
}

fn error(line: &str) -> String {
    try_options(line).err().unwrap_or_default()
}

#[test]
fn what_a_compiler_passes() {
    let o = options(
        "-plugin l/liblto_plugin.so -plugin-opt=/l/lto-wrapper -plugin-opt=-pass-through=-lgcc -m i386pep -Bdynamic crt2.o -L/lib t.o -lstdc++ -Bstatic -lgcc -o t.exe -s \
         --gc-sections --icf=safe --subsystem windows:6.1 -O1 --whole-archive x.a",
    );
    let library =
        |name: &str, is_static| Input::Library(GnuLibrary { name: name.into(), is_static, whole: false });
    let want = [
        Input::File("crt2.o".into()),
        Input::File("t.o".into()),
        library("stdc++", false),
        library("gcc", true),
        Input::Whole("x.a".into()),
    ];
    assert_eq!(o.inputs, want);
    assert_eq!((o.machine, o.out.as_deref()), (Some(Machine::X64), Some(Path::new("t.exe"))));
    assert_eq!((o.gc(), o.icf()), (true, Icf::Safe));
    assert!(!o.debug.any() && o.mingw.on && o.mingw.auto_import());
    assert_eq!(o.demands.subsystem, Some(Subsystem::Windows));
    assert_eq!(o.demands.subsystem_version, Some((6, 1)));
}

#[test]
fn link_time_optimisation() {
    let code = options(
        "-m i386pep a.o -plugin-opt=jobs=3 --plugin-opt=mcpu=znver4 -plugin-opt=O1 -plugin-opt=-x --lto-CGO1 -mllvm -y \
         --thinlto-cache-dir=c --lto-partitions=2 --thinlto-index-only=l --fat-lto-objects",
    )
    .lto;
    assert_eq!((code.level, code.codegen_level, code.partitions), (Some(1), Some(1), 2));
    assert_eq!((code.jobs.as_deref(), code.cpu.as_deref()), (Some("3"), Some("znver4")));
    assert_eq!(code.llvm, ["-x", "-y"]);
    assert_eq!(code.cache.map(|cache| cache.directory), Some("c".into()));
    assert_eq!(code.thin.index_only.and_then(|only| only.list), Some("l".into()));
    assert!(code.fat_objects);
    assert!(error("-m i386pep a.o -plugin-opt=x").contains("unknown plugin option 'x'"));
    assert!(error("-m i386pep a.o --lto-O9").contains("lto-O"));
    assert!(options("a.o -plugin liblto_plugin.so -plugin-opt=x").lto.level.is_none());
}

#[test]
fn a_dll() {
    let o = options(
        "-m i386pe --shared -e _Start@12 a.o x.DEF --out-implib=l.dll.a --kill-at --major-os-version 7 --pdb=",
    );
    assert!(o.dll && o.mingw.kill_at && o.debug.pdb && o.debug.dwarf);
    assert_eq!(o.demands.entry.as_deref(), Some("Start@12"));
    assert_eq!((o.def.as_deref(), o.out.as_deref()), (Some(Path::new("x.DEF")), Some(Path::new("a.dll"))));
    assert_eq!((o.implib.path.as_deref(), o.os_version), (Some(Path::new("l.dll.a")), Some((7, 0))));
    assert_eq!((o.pdb.path.as_deref(), o.gc(), o.icf()), (None, false, Icf::None));
    let o =
        options("-m i386pep a.o -S --pdb=x.pdb --disable-reloc-section --disable-auto-import --stack=5,6");
    assert_eq!(
        (o.pdb.path.as_deref(), o.loading.fixed, o.loading.dynamic_base()),
        (Some(Path::new("x.pdb")), true, false)
    );
    assert_eq!((o.mingw.auto_import(), o.demands.stack), (false, Some((5, Some(6)))));
    assert!(!o.debug.symtab && !o.debug.dwarf);
}

#[test]
fn which_command_lines_are_for_pe() {
    for line in [
        "-m i386pep a.o",
        "a.o -mi386pe",
        "-m elf_x86_64 -m arm64pe",
        "-m i386pep --help",
        "-m i386pep -mllvm -x -major-os-version=6 -mllvm=-y a.o",
    ] {
        assert!(is_meant(&words(line)), "{line}");
    }
    for line in ["a.o", "-m elf_x86_64", "-m i386pep -m elf_x86_64", "-mi386", "-m"] {
        assert!(!is_meant(&words(line)), "{line}");
    }
    let dir = std::env::temp_dir().join(format!("weld-coff-arguments-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let [pe, elf] = [("pe", "-m i386pep"), ("elf", "-m elf_x86_64")].map(|(name, text)| {
        std::fs::write(dir.join(name), text).unwrap();
        format!("@{}", dir.join(name).display())
    });
    assert!(is_meant(&words(&format!("a.o {pe}"))) && !is_meant(&words(&format!("a.o {pe} {elf}"))));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn the_target_in_the_name() {
    let machine =
        |program: &str| match parse(&words("a.o"), program, &Environment::default(), &DiagSink::new()) {
            Ok(Command::Link(options)) => options.machine,
            _ => None,
        };
    assert_eq!(machine("x86_64-w64-mingw32-ld"), Some(Machine::X64));
    assert_eq!(machine("i686-w64-mingw32-ld.lld"), Some(Machine::X86));
    assert_eq!(machine("ld"), None);
}

#[test]
fn what_is_wrong_is_said() {
    for (line, want) in [
        ("-m i386pep", "no input files"),
        ("-m i386pep --foo a.o", "unknown"),
        ("-m i386pep a.o -entry", "missing value"),
        ("-m i386pep a.o --subsystem gui", "unknown subsystem: gui"),
        ("-m i386pep a.o --icf=some", "expected none, safe or all, but got 'some'"),
        ("-m i386pep a.o --image-base=1", "not a multiple of 64 KiB"),
        ("-m i386pep a.o --entry=", "missing entry point symbol name"),
        ("-m i386pep a.o x.def y.def", "two module-definition files: x.def and y.def"),
        ("-m i386pep a.o -T x.ld", "-T is not supported"),
    ] {
        let text = error(line);
        assert!(text.contains(want), "{line}: {text}");
    }
    assert!(error("-m i386pep --help").contains("--out-implib") && error("-v").starts_with("GNU ld"));
    assert!(options("-v a.o").greeting.is_some_and(|text| text.starts_with("GNU ld")));
}

/// What `ld.lld` takes for MinGW, and GNU `ld` for its PE targets.
#[test]
fn what_other_linkers_know_is_known() {
    let known = "allow-multiple-definition appcontainer as-needed Bdynamic Bstatic build-id color-diagnostics \
        compat-implib delayload demangle disable-auto-image-base disable-auto-import disable-dynamicbase disable-forceinteg \
        disable-high-entropy-va disable-large-address-aware disable-long-section-names disable-no-bind \
        disable-no-isolation disable-no-seh disable-nxcompat disable-reloc-section disable-runtime-pseudo-reloc \
        disable-stdcall-fixup disable-tsaware disable-wdmdriver dll dn dy dynamicbase e enable-auto-image-base \
        enable-auto-import enable-long-section-names enable-reloc-section enable-runtime-pseudo-reloc \
        enable-stdcall-fixup end-group entry error-limit exclude-all-symbols exclude-libs exclude-modules-for-implib \
        exclude-symbols export-all-symbols fatal-warnings file-alignment forceinteg gc-sections guard-cf guard-longjmp heap \
        help high-entropy-va icf image-base insert-timestamp kill-at large-address-aware L l leading-underscore m \
        major-image-version major-os-version major-subsystem-version Map minor-image-version minor-os-version \
        minor-subsystem-version mllvm no-allow-multiple-definition no-as-needed no-bind no-color-diagnostics no-demangle \
        no-fatal-warnings no-gc-sections no-guard-cf no-guard-longjmp no-insert-timestamp no-isolation \
        no-leading-underscore no-seh no-whole-archive nxcompat O o out-implib output-def pdb plugin plugin-opt \
        require-defined reproduce rpath s S section-alignment shared stack start-group static strip-all strip-debug \
        subsystem support-old-code sysroot threads tsaware u undefined v verbose version warn-duplicate-exports wdmdriver \
        whole-archive wrap x X base-file add-stdcall-alias dll-search-prefix enable-extra-pep-debug \
        enable-extra-pe-debug base_file fat-lto-objects functionpadmin dependent-load-flag no-dynamicbase undefined-glob \
        no-insert-timestamp Xlink";
    for name in known.split_whitespace() {
        assert!(table::TABLE.row(name.as_bytes()).is_some(), "{name}");
    }
    let asked = crate::args::tests::names_in_help("ld.lld-22", &["-m", "i386pep", "--help"], &["--", "-"]);
    for name in asked {
        assert!(table::TABLE.row(name.as_bytes()).is_some(), "{name}");
    }
}

#[test]
fn options_of_lld_link() {
    let o = options(
        "-m i386pep a.o -Xlink=/swaprun:cd --Xlink /nocoffgrpinfo --functionpadmin= --dependent-load-flag=3",
    );
    assert!(o.loading.swap_run_cd && o.pdb.without_groups && o.mingw.on);
    assert_eq!((o.layout.function_pad, o.loading.dependent_load_flags), (Some(None), 3));
    assert!(error("-m i386pep a.o --Xlink=/reproduce:x").contains("/reproduce:x cannot be passed on"));
    assert!(error("-m i386pep a.o --Xlink=/swaprun:x").contains("invalid argument: x"));
}

#[test]
fn the_table_is_well_formed() {
    let mut seen = std::collections::HashSet::new();
    for row in table::TABLE.rows() {
        for name in row.names {
            assert!(seen.insert(name), "{name} is there twice");
            assert!(std::ptr::eq(table::TABLE.row(name.as_bytes()).unwrap(), row));
        }
        assert!(!row.help.is_empty() || !matches!(row.effect, Effect::Set(_) | Effect::Take(_)));
    }
}

#[test]
fn options_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options-mingw.md");
    let page = options_page();
    if std::env::var_os("WELD_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == committed,
        "docs/options-mingw.md is not current; see its second line for how to write it anew"
    );
}
