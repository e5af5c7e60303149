//! Tests of the command line as a whole.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use weld_common::args::Effect;
use weld_common::diag::DiagSink;

use super::{Command, expanded, options_page, parse, table};
use crate::compat_mode::CompatMode;
use crate::layout::segments::PageSizes;
use crate::options::*;

fn command(line: &str) -> (Result<Command, String>, Vec<String>) {
    let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let sink = DiagSink::new();
    let result = parse(&expanded(&args).unwrap(), CompatMode::Ld, &sink).map_err(|d| d.to_string());
    let warnings = sink.finish().iter().map(|d| d.to_string()).collect();
    (result, warnings)
}

/// The options of a line that is right and gives no warning.
fn options(line: &str) -> Box<Options> {
    let (result, warnings) = command(line);
    assert_eq!(warnings, [""; 0], "{line}");
    match result {
        Ok(Command::Link(options)) => options,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    match command(line).0 {
        Err(text) => text,
        Ok(command) => panic!("{line}: {command:?}"),
    }
}

fn warnings(line: &str) -> Vec<String> {
    let (result, warnings) = command(line);
    assert!(result.is_ok(), "{line}: {result:?}");
    warnings
}

fn printed(line: &str) -> String {
    match command(line).0 {
        Ok(Command::Print(text)) => text,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_gcc_passes() {
    let o = options(
        "-plugin /usr/libexec/gcc/x86_64-linux-gnu/12/liblto_plugin.so \
         -plugin-opt=/usr/libexec/gcc/x86_64-linux-gnu/12/lto-wrapper -plugin-opt=-fresolution=/tmp/a.res \
         -plugin-opt=-pass-through=-lgcc --build-id --eh-frame-hdr -m elf_x86_64 --hash-style=gnu \
         --as-needed -dynamic-linker /lib64/ld-linux-x86-64.so.2 -pie -z now -o a.out Scrt1.o \
         -L/usr/lib/gcc -L/lib/../lib64 a.o -lgcc --push-state --no-as-needed -lgcc_s --pop-state -lc crtn.o",
    );
    assert_eq!(o.kind, OutputKind::Pie);
    assert_eq!(o.notes.build_id, BuildId::Fast);
    assert_eq!(o.dynamic.hash_style, HashStyle::Gnu);
    assert_eq!(o.dynamic.dynamic_linker.as_deref(), Some("/lib64/ld-linux-x86-64.so.2"));
    assert!(o.sections.eh_frame_hdr && o.dynamic.now && o.layout.relro);
    let as_needed: Vec<bool> = o.inputs.args.iter().map(|i| i.flags.as_needed).collect();
    assert_eq!(as_needed, [true, true, true, false, true, true]);
    assert_eq!(o.inputs.args[2].kind, InputKind::Library("gcc".into()));
    assert_eq!(o.inputs.args[0].kind, InputKind::File("Scrt1.o".into()));
}

#[test]
fn what_clang_passes_for_static_pie_with_lto() {
    let o = options(
        "--hash-style=gnu --build-id --eh-frame-hdr -m elf_x86_64 -static -pie --no-dynamic-linker -z text \
         -plugin-opt=mcpu=x86-64 -plugin-opt=thinlto -plugin-opt O2 -mllvm -x --dynamic-list=x.syms a.o \
         --start-group --whole-archive -lrt --no-whole-archive -lc --end-group",
    );
    assert!(o.static_link && o.dynamic.no_dynamic_linker && o.kind == OutputKind::Pie);
    assert_eq!(o.symbols.dynamic_lists, [Path::new("x.syms")]);
    let flags = InputFlags { static_only: true, group: 1, ..InputFlags::default() };
    assert_eq!(o.inputs.args[1].flags, InputFlags { whole_archive: true, ..flags });
    assert_eq!(o.inputs.args[2].flags, flags);
}

#[test]
fn what_rustc_passes() {
    let o = options(
        "a.o --as-needed -Bstatic libstd.rlib -Bdynamic -lgcc_s -lc -L x --eh-frame-hdr -z noexecstack \
         -o out --gc-sections -pie -z relro -z now -O1 --strip-debug --version-script=v.map -znotext",
    );
    assert!(o.inputs.args[1].flags.static_only && !o.inputs.args[2].flags.static_only);
    assert!(o.sections.gc_sections && o.symtab.strip == Strip::Debug && !o.relocs.text && !o.static_link);
}

/// The page sizes on the machine that is linked for if nothing says otherwise.
fn pages(options: &Options) -> (u64, u64) {
    let pages = PageSizes::new(&options.layout, crate::arch::default().facts());
    (pages.max, pages.common)
}

#[test]
fn defaults_are_those_of_lld() {
    let o = options("a.o");
    assert_eq!(o.output.path, Path::new("a.out"));
    assert_eq!(
        (o.kind, o.dynamic.hash_style, o.notes.build_id.clone()),
        (OutputKind::Exec, HashStyle::Usual, BuildId::None)
    );
    assert_eq!(pages(&o), (4096, 4096));
    assert!(
        o.layout.relro
            && o.relocs.text
            && o.relocs.copyreloc
            && !o.sections.start_stop_gc
            && o.relocs.relax
            && o.reports.demangle
    );
    assert!(
        !o.sections.gc_sections
            && !o.dynamic.now
            && !o.sections.eh_frame_hdr
            && o.symbols.undefined_version == UndefinedVersion::Allow
    );
    assert_eq!(
        (o.sections.optimize, o.reports.error_limit, o.symbols.unresolved),
        (1, 20, UnresolvedPolicy::Error)
    );
}

#[test]
fn kinds_that_exclude_each_other() {
    assert_eq!(options("-r a.o").kind, OutputKind::Relocatable);
    assert!(options("-r -Bdynamic a.o -lx").inputs.args[1].flags.static_only);
    assert_eq!(options("-shared -no-pie a.o").kind, OutputKind::Shared);
    assert_eq!(options("-pie -no-pie a.o").kind, OutputKind::Exec);
    assert_eq!(error("-shared -pie a.o"), "error: -shared and -pie cannot be used together");
    assert_eq!(error("-r -shared a.o"), "error: -r and -shared cannot be used together");
    assert_eq!(error("-F x a.o"), "error: --filter needs -shared");
    assert_eq!(error("-q -s a.o"), "error: --strip-all and --emit-relocs cannot be used together");
}

#[test]
fn unresolved_references() {
    let of = |line: &str| {
        let o = options(line);
        (o.symbols.unresolved, o.symbols.report_undefined_in_shared, o.symbols.allow_shlib_undefined)
    };
    use UnresolvedPolicy::*;
    assert_eq!(of("a.o"), (Error, false, None));
    assert_eq!(of("-shared a.o"), (Ignore, false, None));
    assert_eq!(of("-shared -z defs a.o"), (Error, true, None));
    assert_eq!(of("-shared --no-undefined -z undefs a.o"), (Ignore, false, None));
    assert_eq!(of("--unresolved-symbols=ignore-in-object-files a.o"), (Ignore, false, Some(false)));
    assert_eq!(of("--warn-unresolved-symbols --allow-shlib-undefined a.o"), (Warn, false, Some(true)));
    assert!(error("--unresolved-symbols=x a.o").contains("expected report-all, ignore-all"));
}

#[test]
fn groups_and_states() {
    let o =
        options("a --start-lib b c --end-lib --push-state --start-group -lx --pop-state -ly --end-group d");
    let of: Vec<(bool, u32)> = o.inputs.args.iter().map(|i| (i.flags.in_lib, i.flags.group)).collect();
    assert_eq!(of, [(false, 0), (true, 1), (true, 1), (false, 2), (false, 2), (false, 0)]);
    assert_eq!(
        error("--end-group --end-lib a --pop-state"),
        "error: --end-group without --start-group\n\
        error: --end-lib without --start-lib\nerror: --pop-state without --push-state"
    );
    assert_eq!(error("--start-lib -( a"), "error: --start-group inside --start-lib");
    assert_eq!(error("-( --start-lib a"), "error: --start-lib inside --start-group");
    let nested = options("-( a -( b -) c -) d");
    assert_eq!(nested.inputs.args.iter().map(|i| i.flags.group).collect::<Vec<_>>(), [1, 1, 1, 0]);
    assert_eq!(error("-( a -( b -) -) -)"), "error: --end-group without --start-group");
}

#[test]
fn search_paths_in_the_sysroot() {
    let o = options("-L=/lib -L$SYSROOT/usr/lib -L /x --sysroot=/root a.o");
    assert_eq!(o.inputs.search_paths, ["/root/lib", "/root/usr/lib", "/x"].map(PathBuf::from));
}

#[test]
fn scripts() {
    let kinds = |line: &str| options(line).inputs.args.into_iter().map(|i| i.kind).collect::<Vec<_>>();
    assert_eq!(kinds("-Ta a.o -T b")[0], InputKind::Script("a".into()));
    assert_eq!(kinds("-dT d a.o"), [InputKind::File("a.o".into()), InputKind::Script("d".into())]);
    assert_eq!(kinds("-dT d -T s"), [InputKind::Script("s".into())]);
}

#[test]
fn addresses() {
    let o = options("-Ttext=400000 --section-start=.x=0x10 -Ttext 0x500000 --image-base=0x1000 a.o");
    assert_eq!(o.layout.section_starts, [(".text".to_owned(), 0x50_0000), (".x".to_owned(), 0x10)]);
    assert_eq!(o.layout.image_base, Some(0x1000));
    assert_eq!(options("-Ttext-segment=2000 a.o").layout.image_base, Some(0x2000));
    assert!(error("-Trodata-segment=0 a.o").starts_with("error: -Trodata-segment is not supported"));
    assert!(error("--section-start=.x a.o").contains("expected SECTION=ADDRESS"));
}

#[test]
fn keywords_of_z() {
    let o = options("-z now -zmax-page-size=0x10000 -z pack-relative-relocs -z stack-size=8 a.o");
    assert!(o.dynamic.now && o.relocs.pack_relr && o.relocs.relr_glibc_dep);
    assert_eq!((pages(&o), o.layout.stack_size), ((0x10000, 4096), Some(8)));
    let pages = |args: &str| {
        let o = options(args);
        (pages(&o), o.layout.relro)
    };
    assert_eq!(pages("-z common-page-size=0x10000 a.o"), ((0x10000, 0x10000), true));
    assert_eq!(pages("-z max-page-size=16 a.o"), ((16, 16), true));
    assert_eq!(pages("-N a.o"), ((1, 1), false));
    assert_eq!(pages("-N -r a.o"), ((4096, 4096), false));
    assert_eq!(
        warnings("-n -z max-page-size=16 a.o"),
        ["warning: -z max-page-size has no effect with -n and -N"]
    );
    let o = options("-z dead-reloc-in-nonalloc=.debug_*=0x7 -z start-stop-visibility=hidden a.o");
    assert_eq!(
        (o.sections.dead_relocs[0].clone(), o.symbols.start_stop_visibility),
        ((".debug_*".to_owned(), 7), 2)
    );
    assert_eq!(warnings("-z relo a.o"), ["warning: unknown keyword: -z relo; did you mean '-z relro'?"]);
    assert_eq!(error("-z max-page-size=3 a.o"), "error: -z max-page-size: 3 is not a power of two");
    assert_eq!(error("-z stack-size a.o"), "error: -z stack-size: missing value: stack-size=SIZE");
    assert!(options("-z hazardplt a.o").dynamic.hazard_barriers);
    assert_eq!(options("-z execute-only-report=error a.o").layout.execute_only_report, ReportPolicy::Error);
    assert_eq!(options("-z zicfilp=func-sig a.o").notes.zicfilp, Some(LandingPads::ByType));
    assert_eq!(options("-z gcs=always -z gcs=never a.o").notes.gcs, Some(false));
}

#[test]
fn build_ids() {
    let of = |line: &str| options(line).notes.build_id.clone();
    assert_eq!(of("--build-id=0xab-cd a.o"), BuildId::Hex(vec![0xab, 0xcd]));
    assert_eq!(of("--build-id=tree a.o"), BuildId::Sha1);
    assert_eq!(of("--build-id --build-id=none a.o"), BuildId::None);
    assert!(error("--build-id=sha512 a.o").contains("but got 'sha512'"));
}

#[test]
fn versions_and_help() {
    let version = CompatMode::Ld.version_text();
    assert_eq!(printed("--version a.o"), version);
    assert_eq!(printed("-v"), version);
    assert!(options("-v a.o").reports.print_version && options("-V a.o").reports.print_version);
    assert_eq!(
        printed("-V"),
        version
            + "  Supported emulations:\n   elf_x86_64\n   elf32_x86_64\n   elf_i386\n   elf_iamcu\n   elf64_s390\n   aarch64linux\n   aarch64linuxb\n   \
               elf64lriscv\n   elf32lriscv\n   armelf_linux_eabi\n   armelfb_linux_eabi\n   avr2\n   elf64_amdgpu\n   msp430elf\n   elf64loongarch\n   elf32loongarch\n   \
               elf32ltsmip\n   elf32btsmip\n   elf32ltsmipn32\n   elf32btsmipn32\n   elf64ltsmip\n   elf64btsmip\n   elf32lppc\n   elf32ppc\n   elf64lppc\n   elf64ppc\n   elf64_sparc\n   m68kelf\n   hexagonelf\n"
    );
    let machines = printed("-m help");
    let is_own = |line: &str| line.split_whitespace().eq(["elf_x86_64", "elf_amd64", "x86-64"]);
    assert!(machines.lines().any(is_own), "{machines}");
    assert_eq!(machines.lines().count(), crate::arch::MACHINES.len() + 2);
    let help = printed("--no-such-option --help");
    assert!(help.contains(": supported targets: elf64-x86-64"));
    // Tools read the targets and emulations from one line each.
    let is_fine = |line: &str| line.len() <= 100 || line.contains(": supported ");
    assert!(help.lines().all(is_fine), "a line is too long");
    assert_eq!(printed("--sysroot=/x --print-sysroot"), "/x\n");
    assert_eq!(printed("--print-output-format"), "elf64-x86-64\n");
}

#[test]
fn mistakes_are_all_reported_in_order() {
    let text = error("--gc-section a.o -o --shared=1");
    assert_eq!(text, "error: unknown option '--gc-section'; did you mean '--gc-sections'?");
    assert_eq!(error("-z"), "error: -z: missing value");
    assert_eq!(error("--shared=x"), "error: --shared takes no value");
    assert_eq!(error("-s"), "error: no input files");
    assert_eq!(error("--threads=0 a.o"), "error: --threads: expected a number above 0");
    assert_eq!(error("--image-base=ABC a.o"), "error: --image-base: expected a number, but got 'ABC'");
    let text = error("-z max-page-size=0x1001 a.o");
    assert_eq!(text, "error: -z max-page-size: 4097 is not a power of two");
    assert_eq!(
        error("-m elf_i386_sol2 a.o"),
        "error: -m: elf_i386_sol2: architecture not supported yet: 32-bit x86"
    );
    // Of several, only the last one has to be known.
    assert!(options("-m32 -m elf_x86_64 a.o").inputs.machine.is_some());
    assert!(error("-m elf_x86_64 -m32 a.o").starts_with("error: -m: unknown emulation '32'; "));
}

#[test]
fn warnings_obey_options_that_come_later() {
    let text = warnings("-z no-such -z no-such a.o").join("\n");
    let text = text.strip_prefix("warning: ").unwrap();
    assert!(text.contains("no-such") && !text.contains('\n'));
    assert_eq!(error("-z no-such a.o --fatal-warnings"), format!("error: {text}"));
    assert_eq!(warnings("-z no-such a.o --fatal-warnings -w"), [""; 0]);
    assert!(error("--gdb-index -r a.o").contains("-r and --gdb-index"));
    assert!(!options("--gdb-index --no-gdb-index a.o").sections.gdb_index);
    assert!(error("-r --icf=all a.o").contains("-r and --icf"));
    assert_eq!(warnings("--icf=none --no-gdb-index --keep-unique=x a.o"), [""; 0]);
}

#[test]
fn no_name_is_in_the_table_twice() {
    for table in [&table::TABLE, &table::KEYWORDS] {
        let mut names = HashSet::new();
        for row in table.rows() {
            assert!(!row.names.is_empty());
            assert_eq!(matches!(row.effect, Effect::Set(_) | Effect::Take(_)), !row.help.is_empty());
            for name in row.names {
                assert!(names.insert(name), "{name} is in the table twice");
                assert!(!name.contains('=') && name.is_ascii(), "{name}");
            }
        }
    }
}

#[test]
fn options_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    let page = options_page();
    if std::env::var_os("WELD_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == committed,
        "docs/options.md is not current; see its second line for how to write it anew"
    );
}

#[test]
fn compression() {
    use crate::compressed::Algorithm::{Zlib, Zstd};
    let how = |algorithm, level| Some(Compression { algorithm, level });
    let o = options(
        "--compress-debug-sections=zlib-gabi --compress-sections a=b=zstd:19 \
                     --compress-sections=*=none a.o",
    );
    assert_eq!(o.sections.compress_debug, how(Zlib, None));
    let expected = [("a=b".to_owned(), how(Zstd, Some(19))), ("*".to_owned(), None)];
    assert_eq!(o.sections.compress_sections, expected);
    assert_eq!(options("--compress-debug-sections none a.o").sections.compress_debug, None);
    for wrong in ["a", "=zlib", "a=lzma", "a=zlib:x", "a=zlib:10", "a=zstd:0", "a=zstd:23", "[=zlib"] {
        assert!(
            error(&format!("--compress-sections={wrong} a.o")).contains("--compress-sections"),
            "{wrong}"
        );
    }
}
