use std::ffi::OsString;
use std::path::Path;

use weld_common::args::{Effect, Value};
use weld_common::diag::DiagSink;
use weld_lto::options::{Cache, Emit, SaveTemps};

use super::{Command, Environment, options_page, parse, table};
use crate::coff::machine::Machine;
use crate::options::{Demands, Input, Options, Subsystem, Timestamp};

fn try_options(line: &str, environment: &Environment) -> Result<Box<Options>, String> {
    let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    match parse(&args, environment, &DiagSink::new()) {
        Ok(Command::Link(options)) => Ok(options),
        Ok(Command::Print(text)) => Err(text),
        Err(e) => Err(e.to_string()),
    }
}

fn options(line: &str) -> Box<Options> {
    try_options(line, &Environment::default()).unwrap()
}

fn error(line: &str) -> String {
    try_options(line, &Environment::default()).err().unwrap_or_default()
}

#[test]
fn a_usual_command_line() {
    let o = options(
        "/nologo -OUT:a.exe x.obj /LibPath:l y.lib /subsystem:console,6.1 /entry:go /opt:noref,noicf /DLL",
    );
    assert_eq!(o.inputs, ["x.obj", "y.lib"].map(|path| Input::File(path.into())));
    assert_eq!((o.out.as_deref(), o.dll), (Some(Path::new("a.exe")), true));
    assert_eq!(o.demands.subsystem, Some(Subsystem::Console));
    assert_eq!(o.demands.subsystem_version, Some((6, 1)));
    assert_eq!((o.demands.entry.as_deref(), o.gc()), (Some("go"), false));
    assert_eq!(o.lib_paths, [Path::new("l")]);
    let o = options(
        "x.obj /opt /verbose:LIB /winmd:no /base:0x10000,0x2000 /linkrepro:r /linkreprotarget:y.exe /out:d/x.exe",
    );
    assert!(o.reports.verbose.libraries && !o.reports.verbose.all && o.reproduce.is_none());
    assert_eq!((o.loading.base, o.loading.greatest_size), (Some(0x10000), Some(0x2000)));
    assert!(options("x.obj /linkrepro:r /linkreprotarget:X.EXE /out:d/x.exe").reproduce.is_some());
    let o = options(
        "x.obj /machine:AMD64 /base:0x10000 /timestamp:5 /stack:1,2 /wholearchive:z.lib /merge:.a=.b",
    );
    assert_eq!((o.machine, o.loading.base), (Some(Machine::X64), Some(0x10000)));
    assert_eq!((o.timestamp, o.demands.stack), (Timestamp::Given(5), Some((1, Some(2)))));
    assert_eq!(o.inputs[1], Input::Whole("z.lib".into()));
}

#[test]
fn link_time_optimisation() {
    let code = options(
        "x.obj /opt:ref,lldlto=1,lldltocgo=0,lldltojobs=all,lldltopartitions=3 /lldltocachepolicy:prune_after=1h /lldltocache:c \
         /lldsavetemps:opt /lldemit:ASM /mllvm:-x /thinlto-prefix-replace:a;b;c /thinlto-index-only:l /thinlto-distributor-arg:y",
    )
    .lto;
    assert_eq!((code.level, code.codegen_level, code.partitions), (Some(1), Some(0), 3));
    assert_eq!((code.jobs.as_deref(), code.emit), (Some("all"), Emit::Assembly));
    assert_eq!(code.save_temps, SaveTemps::Kinds(vec!["opt".to_owned()]));
    assert_eq!(code.cache, Some(Cache { directory: "c".into(), policy: Some("prune_after=1h".to_owned()) }));
    assert_eq!(code.thin.prefix_replace.map(|replace| replace.object), Some("c".to_owned()));
    // Without a distributor there is nothing to tell it.
    assert_eq!((code.distribution, code.llvm), (None, vec!["-x".to_owned()]));
    assert!(options("x.obj /lldltocachepolicy:prune_after=1h").lto.cache.is_none());
    for (line, want) in [
        ("/opt:lldlto=4", "/opt: lldlto: invalid optimisation level: 4"),
        ("/opt:lldltopartitions=0", "lldltopartitions: invalid number of partitions: 0"),
        ("/opt:lldltojobs=x", "lldltojobs: invalid number of jobs: x"),
        ("/lldemit:x", "/lldemit"),
        ("/lldltocachepolicy:x", "/lldltocachepolicy: 'x' is none of cache_size=N%"),
        ("/lldsavetemps:x", "/lldsavetemps"),
        ("/thinlto-object-suffix-replace:a", "expects 'old;new' format, but got a"),
    ] {
        let text = error(line);
        assert!(text.contains(want), "{line}: {text}");
    }
}

#[test]
fn the_environment_adds_options_and_directories() {
    let environment = Environment {
        link: Some("/base:0x20000 \"a b.obj\"".into()),
        link_behind: Some("/base:0x30000".into()),
        lib: Some("c:\\x;;/y".into()),
        ..Environment::default()
    };
    let o = try_options("/base:0x10000 b.obj /libpath:z", &environment).unwrap();
    assert_eq!(o.loading.base, Some(0x30000));
    assert_eq!(o.inputs, ["a b.obj", "b.obj"].map(|path| Input::File(path.into())));
    assert_eq!(o.lib_paths, ["z", "c:\\x", "/y"].map(Path::new));
}

#[test]
fn what_is_wrong_is_said() {
    for (line, want) in [
        ("", "no input files"),
        ("/frob", "could not open '/frob'"),
        ("/subsystm:console", "did you mean '/subsystem:console'"),
        ("/base:0x1001", "/base: 0x1001 is not a multiple of 64 KiB"),
        ("/align:3", "/align: 3 is not a power of two"),
        ("/machine:z80", "/machine: unknown machine: z80"),
        ("/mapinfo:odd", "/mapinfo: unknown option: odd"),
        ("/pdbpagesize:512", "/pdbpagesize: invalid argument: 512 is none of 4096, 8192, 16384 and 32768"),
        ("/pdbstream:x", "/pdbstream: expected a name and a file, but got 'x'"),
        ("/noentry", "/noentry is for DLLs only"),
        ("/fixed /dynamicbase", "/dynamicbase cannot be given together with /fixed"),
        ("/delay:x", "/delay: unknown value 'x'"),
        ("/merge:.rsrc=.x", "cannot merge '.rsrc' with any section"),
        ("/failifmismatch:k=1 /failifmismatch:k=2", "mismatch detected for 'k'"),
        ("/alternatename:a=b /alternatename:a=c", "conflicts"),
        ("/dll:x", "/dll takes no value"),
        ("/functionpadmin:zz", "/functionpadmin: invalid argument: zz"),
        ("/swaprun:cd,", "/swaprun: missing argument"),
        ("/debug:odd", "/debug: unknown option: odd"),
        ("/dependentloadflag:0xf0000", "/dependentloadflag: invalid argument: 0xf0000"),
        ("/export:f,EXPORTAS,", "invalid EXPORTAS value: "),
        ("/manifestinput:x", "/manifestinput: requires /manifest:embed"),
        ("/vfsoverlay:x /reproduce:y", "/reproduce cannot be given together with /vfsoverlay"),
        ("/llvmlibthin", "/llvmlibthin needs /lib"),
        ("/verbose:odd", "/verbose: unknown word 'odd'"),
        ("/wx:4099,5000", "/wx: expected numbers of warnings, from 4000 to 4999"),
        ("/print-symbol-order:", "/print-symbol-order: missing file name"),
        ("/order:@", "/order: missing file name"),
        ("/base:@x", "/base: expected @FILE,KEY, but got '@x'"),
        ("/base:@/no/such,k", "/base: could not open '/no/such'"),
        ("/base:@x,k /reproduce:y", "/reproduce cannot be given together with /base:@"),
        ("/genprofile", "/genprofile is not supported: such profiles"),
        ("/clrimagetype:pure", "/clrimagetype is not supported: it is for managed code"),
        ("/winmd", "/winmd: not supported: it is for managed code"),
    ] {
        let text = error(line);
        assert!(text.contains(want), "{line}: {text}");
    }
    assert!(error("/?").contains("/out:FILE") && error("--version").starts_with("LLD 22"));
}

/// Scripts of other linkers' users are to go on working: what lld-link takes is known here, whatever becomes
/// of it.
#[test]
fn what_lld_link_knows_is_known() {
    let known = "align aligncomm allowbind allowisolation alternatename appcontainer arm64xsameaddress base brepro build-id \
        call-graph-ordering-file call-graph-profile-sort cetcompat cetcompatstrict cetdynamicapisinproc \
        cetipvalidationrelaxed color-diagnostics debug debugtype def defarm64native defaultlib delayload demangle \
        dependentloadflag diasdkdir dll driver dwodir dynamicbase emittoolversioninfo end-lib entry errorlimit \
        exclude-symbols export fat-lto-objects filealign fixed force functionpadmin guard heap highentropyva \
        hotpatchcompatible ignore implib include includeglob includeoptional incremental inferasanlibs integritycheck \
        largeaddressaware libpath lib linkrepro linkreprofullpathrsp link lldemit lldignoreenv lldltocache \
        lldltocachepolicy lldsavetemps lto-cs-profile-file lto-cs-profile-generate lto-obj-path lto-pgo-warn-mismatch \
        lto-sample-profile machine manifest manifestdependency manifestfile manifestinput manifestuac map lldmap mapinfo \
        merge mllvm natvis no-color-diagnostics nodbgdirmerge nodefaultlib noentry noimplib nxcompat opt order out pdb \
        pdbaltpath pdbpagesize pdbsourcepath pdbstream pdbstripped prefetch-inputs print-symbol-order release reproduce \
        rsp-quoting safeseh section sectionlayout stack start-lib stub subsystem swaprun thinlto-distributor \
        thinlto-distributor-arg thinlto-emit-imports-files thinlto-index-only thinlto-object-suffix-replace \
        thinlto-prefix-replace thinlto-remote-compiler thinlto-remote-compiler-arg thinlto-remote-compiler-prepend-arg \
        threads time time-trace time-trace-granularity timestamp tsaware vctoolsdir vctoolsversion verbose version \
        vfsoverlay wholearchive winsdkdir winsdkversion winsysroot wx ?";
    for name in known.split_whitespace() {
        assert!(table::TABLE.row(name.as_bytes()).is_some(), "{name}");
    }
}

/// All that Microsoft's documentation of LINK lists, with what its `/?` says besides, has a row: it is
/// carried out, or refused for a reason.
#[test]
fn what_link_documents_is_known() {
    let known = "align allowbind allowisolation appcontainer arm64xfunctionpadminx64 assemblydebug assemblylinkresource \
        assemblymodule assemblyresource base cetcompat cgthreads clrimagetype clrloaderoptimization clrsupportlasterror \
        clrthreadattribute clrunmanagedcodecheck debug debugtype def defaultlib delay delayload delaysign \
        dependentloadflag dll driver dynamicbase dynamicdeopt emitvolatilemetadata entry errorreport export exportpadmin \
        fastfail fastgenprofile filealign fixed force functionpadmin genprofile guard heap highentropyva idlout ignore \
        ignoreidl ilk implib include incremental inferasanlibs integritycheck kernel keycontainer keyfile \
        largeaddressaware libpath linkrepro linkreprofullpathrsp linkreprotarget ltcg ltcgout machine manifest \
        manifestdependency manifestfile manifestinput manifestuac map mapinfo merge midl natvis noassembly nodefaultlib \
        noentry noexp nofunctionpadsection noimplib nologo nxcompat opt order out pdb pdbaltpath pdbstripped pgd \
        pogosafemode profile release safeseh section sourcelink spd spdembed spdin spgo stack stub subsystem swaprun time \
        tlbid tlbout tsaware useprofile verbose version wholearchive winmd winmddelaysign winmdfile winmdkeycontainer \
        winmdkeyfile wx";
    for name in known.split_whitespace() {
        assert!(table::TABLE.row(name.as_bytes()).is_some(), "{name}");
    }
    // What objects may ask for, by the documentation of `#pragma comment(linker)` and by what Microsoft's
    // compiler and libraries write.
    let directives = "defaultlib export include manifestdependency merge section alternatename disallowlib \
        editandcontinue failifmismatch guardsym inferasanlibs nodefaultlib throwingnew";
    for name in directives.split_whitespace() {
        let word = format!("/{name}:a=b,r");
        let (problems, frequent) = (
            Demands::default().directive(&word, "a.obj"),
            ["defaultlib", "export", "include"].contains(&name),
        );
        assert!(frequent || !problems.iter().any(|p| p.message.contains("not allowed")), "{name}");
    }
}

/// The names of options in what a program prints.
pub fn names_in_help(program: &str, args: &[&str], marks: &[&str]) -> Vec<String> {
    let Ok(output) = std::process::Command::new(program).args(args).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let option = |line: &str| {
        let line = line.strip_prefix("  ")?;
        let body = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
        let end = body.find([':', '=', ' ', '<', '[']).unwrap_or(body.len());
        Some(body[..end].to_owned()).filter(|name| !name.is_empty())
    };
    text.lines().filter_map(option).collect()
}

/// The list above is asked of the peer itself where it is there.
#[test]
fn what_lld_link_says_it_knows_is_known() {
    for name in names_in_help("lld-link-22", &["/?"], &["/", "--"]) {
        let name = name.to_ascii_lowercase();
        assert!(table::TABLE.row(name.as_bytes()).is_some(), "{name}");
    }
}

#[test]
fn the_table_is_well_formed() {
    let mut seen = std::collections::HashSet::new();
    for row in table::TABLE.rows() {
        for name in row.names {
            assert!(seen.insert(name), "{name} is there twice");
            assert!(name.chars().all(|c| !c.is_ascii_uppercase() && !matches!(c, ':' | '=')), "{name}");
            assert!(std::ptr::eq(table::TABLE.row(name.as_bytes()).unwrap(), row));
        }
        assert!(!row.help.is_empty() || !matches!(row.effect, Effect::Set(_) | Effect::Take(_)));
        assert!(!matches!(row.value, Value::Separate(_) | Value::Suffix(_)));
    }
}

#[test]
fn options_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options-link.md");
    let page = options_page();
    if std::env::var_os("WELD_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == committed,
        "docs/options-link.md is not current; see its second line for how to write it anew"
    );
}
