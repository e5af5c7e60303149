//! Symbols: which are defined, exported, renamed or reported.

use weld_common::args::Value::{None as NoValue, Optional, Required};
use weld_common::args::{Group, Spec, accepted, choice, flag, refused, take};

use super::super::state::State;
use crate::options::{Bsymbolic, Discard, Strip, UndefinedVersion};
use crate::script::expr::parse_defsym;

pub const GROUP: Group<State> = Group { title: "Symbols", prefix: "", rows: ROWS };

const ROWS: &[Spec<State>] = &[
    take(&["undefined", "u"], Required("SYMBOL"), "Link the archive member that defines SYMBOL.", |s, v| {
        s.o.symbols.undefined.push(v.string()?);
        Ok(())
    }),
    take(&["require-defined"], Required("SYMBOL"), "As --undefined, and SYMBOL must be defined.", |s, v| {
        s.o.symbols.require_defined.push(v.string()?);
        Ok(())
    }),
    take(
        &["undefined-glob"],
        Required("PATTERN"),
        "Link the archive members that define symbols with matching names.",
        |s, v| {
            s.o.symbols.undefined_glob.push(v.string()?);
            Ok(())
        },
    ),
    take(
        &["defsym"],
        Required("SYMBOL=VALUE"),
        "Define SYMBOL as a number, or as another symbol plus or minus a number.",
        |s, v| {
            let (name, value) = parse_defsym(v.text()?)?;
            s.defsym(name, value);
            Ok(())
        },
    ),
    take(
        &["wrap"],
        Required("SYMBOL"),
        "Turn references to SYMBOL into __wrap_SYMBOL, and those to __real_SYMBOL into SYMBOL.",
        |s, v| {
            s.o.symbols.wrap.push(v.string()?);
            Ok(())
        },
    ),
    flag(&["export-dynamic", "E"], "Export all global symbols of an executable.", |s| {
        s.o.symbols.export_dynamic = true;
    }),
    flag(&["no-export-dynamic"], "Export only what shared objects refer to (default).", |s| {
        s.o.symbols.export_dynamic = false;
    }),
    take(
        &["export-dynamic-symbol"],
        Required("PATTERN"),
        "Export the symbols of an executable that match; in a shared object, let them be replaced \
         whatever -Bsymbolic says.",
        |s, v| {
            s.o.symbols.export_dynamic_symbols.push(v.string()?);
            Ok(())
        },
    ),
    take(&["export-dynamic-symbol-list"], Required("FILE"), "The same for a list of patterns.", |s, v| {
        s.o.symbols.export_symbol_lists.push(v.os().into());
        Ok(())
    }),
    take(
        &["dynamic-list"],
        Required("FILE"),
        "As --export-dynamic-symbol-list; a shared object binds all other symbols locally.",
        |s, v| {
            s.o.symbols.dynamic_lists.push(v.os().into());
            Ok(())
        },
    ),
    take(
        &["version-script"],
        Required("FILE"),
        "Read which symbols to export, and their versions.",
        |s, v| {
            s.o.symbols.version_scripts.push(v.os().into());
            Ok(())
        },
    ),
    flag(&["undefined-version"], "Let a version script name symbols that are not defined.", |s| {
        s.o.symbols.undefined_version = UndefinedVersion::Allow;
    }),
    flag(
        &["no-undefined-version"],
        "Names in a version script that are not defined are errors. Without either option they are warnings.",
        |s| s.o.symbols.undefined_version = UndefinedVersion::Error,
    ),
    flag(
        &["version-symbols"],
        "Define each version of the output as an absolute symbol, too, as GNU ld and gold do (default, unless weld is \
         called by the name of lld or mold).",
        |s| s.version_symbols = Some(true),
    ),
    flag(&["no-version-symbols"], "Do not (default for these).", |s| s.version_symbols = Some(false)),
    take(
        &["retain-symbols-file"],
        Required("FILE"),
        "Keep only the symbols that FILE lists, one in each line, also with --strip-all.",
        |s, v| {
            s.o.symtab.retain_symbols_file = Some(v.os().into());
            Ok(())
        },
    ),
    flag(&["Bsymbolic"], "In a shared object, bind references to its own symbols.", |s| {
        s.o.symbols.bsymbolic = Bsymbolic::All;
    }),
    flag(&["Bsymbolic-functions"], "The same for functions only.", |s| {
        s.o.symbols.bsymbolic = Bsymbolic::Functions
    }),
    flag(&["Bsymbolic-non-weak"], "The same for symbols that are not weak.", |s| {
        s.o.symbols.bsymbolic = Bsymbolic::NonWeak;
    }),
    flag(&["Bsymbolic-non-weak-functions"], "The same for functions that are not weak.", |s| {
        s.o.symbols.bsymbolic = Bsymbolic::NonWeakFunctions;
    }),
    flag(&["Bno-symbolic"], "Bind no references by name (default).", |s| {
        s.o.symbols.bsymbolic = Bsymbolic::None
    }),
    flag(&["allow-multiple-definition"], "If a symbol is defined twice, take the first.", |s| {
        s.o.symbols.allow_multiple_definition = true;
    }),
    flag(&["no-allow-multiple-definition"], "Report symbols that are defined twice (default).", |s| {
        s.o.symbols.allow_multiple_definition = false;
    }),
    flag(&["no-undefined"], "Report unresolved references of a shared object, too.", |s| {
        s.report_in_objects = Some(true);
    }),
    take(
        &["unresolved-symbols"],
        Required("WHICH"),
        "What happens to unresolved references: report-all, ignore-all, ignore-in-object-files, \
         ignore-in-shared-libs.",
        |s, v| {
            let (objects, shared) = choice(
                v,
                &[
                    ("report-all", (true, true)),
                    ("ignore-all", (false, false)),
                    ("ignore-in-object-files", (false, true)),
                    ("ignore-in-shared-libs", (true, false)),
                ],
            )?;
            s.report_in_objects = Some(objects);
            s.o.symbols.allow_shlib_undefined = Some(!shared);
            Ok(())
        },
    ),
    flag(
        &["allow-shlib-undefined"],
        "Ignore unresolved references of shared objects (default with -shared).",
        |s| s.o.symbols.allow_shlib_undefined = Some(true),
    ),
    flag(
        &["no-allow-shlib-undefined"],
        "Report unresolved references of shared objects (default for executables).",
        |s| s.o.symbols.allow_shlib_undefined = Some(false),
    ),
    flag(&["warn-unresolved-symbols"], "Warn about unresolved references.", |s| {
        s.o.symbols.warn_unresolved = true
    }),
    flag(&["error-unresolved-symbols"], "Fail on unresolved references (default).", |s| {
        s.o.symbols.warn_unresolved = false;
    }),
    flag(&["strip-all", "s"], "Leave out the symbol table and debug information.", |s| {
        s.o.symtab.strip = Strip::All;
    }),
    flag(&["strip-debug", "S"], "Leave out debug information.", |s| s.o.symtab.strip = Strip::Debug),
    flag(&["discard-all", "x"], "Leave out all local symbols.", |s| s.o.symtab.discard = Discard::All),
    flag(&["discard-locals", "X"], "Leave out local symbols whose names start with .L.", |s| {
        s.o.symtab.discard = Discard::Locals;
    }),
    flag(&["discard-none"], "Keep all local symbols.", |s| s.o.symtab.discard = Discard::None),
    flag(&["gnu-unique"], "Keep the binding STB_GNU_UNIQUE (default).", |s| s.o.symbols.gnu_unique = true),
    flag(&["no-gnu-unique"], "Turn STB_GNU_UNIQUE into STB_GLOBAL.", |s| s.o.symbols.gnu_unique = false),
    flag(&["define-common", "d", "dc", "dp"], "Give common symbols their place even with -r.", |s| {
        s.o.symbols.define_common = true;
        s.o.symbols.no_define_common = false;
    }),
    flag(
        &["no-define-common"],
        "Leave the common symbols of a shared object to the program: they are undefined in it.",
        |s| s.o.symbols.no_define_common = true,
    ),
    take(
        &["demangle"],
        Optional("STYLE"),
        "Show C++ and Rust names in messages as they are in the source (default). STYLE is ignored: \
         it shows in the name.",
        |s, _| {
            s.o.reports.demangle = true;
            Ok(())
        },
    ),
    flag(&["no-demangle"], "Show names in messages as they are in the files.", |s| {
        s.o.reports.demangle = false
    }),
    flag(
        &["fortran-common"],
        "Read an archive member that defines what is only a common symbol so far (default).",
        |s| s.o.symbols.fortran_common = true,
    ),
    flag(&["no-fortran-common"], "Do not read archive members for common symbols.", |s| {
        s.o.symbols.fortran_common = false
    }),
    take(
        &["ignore-unresolved-symbol"],
        Required("SYMBOL"),
        "Ignore unresolved references to SYMBOL, as --unresolved-symbols=ignore-all does for all.",
        |s, v| {
            s.o.symbols.ignore_unresolved.push(v.string()?);
            Ok(())
        },
    ),
    flag(&["dynamic-list-data"], "As a --dynamic-list of all symbols that are data.", |s| {
        s.o.symbols.dynamic_list_data = true;
    }),
    flag(&["dynamic-list-cpp-new"], "As a --dynamic-list of C++'s operators new and delete.", |s| {
        s.o.symbols.dynamic_list_patterns.extend(["operator new*", "operator delete*"]);
    }),
    flag(&["dynamic-list-cpp-typeinfo"], "As a --dynamic-list of C++'s run-time type information.", |s| {
        s.o.symbols.dynamic_list_patterns.extend(["typeinfo for *", "typeinfo name for *"]);
    }),
    flag(
        &["default-symver"],
        "Give exported symbols that no version script gives a version one that is called as the output is \
         (its soname or file name).",
        |s| s.o.symbols.default_symver = true,
    ),
    refused(
        &["default-imported-symver"],
        NoValue,
        "loaders warn of versions that a library does not define; link the library with --default-symver",
    ),
    refused(
        &["version-exports-section"],
        Required("VERSION"),
        "write what .exports lists into a --version-script: VERSION { global: NAME; ... };",
    ),
    accepted(
        &["disable-multiple-abs-defs"],
        NoValue,
        "a symbol of --just-symbols that an object defines otherwise is an error in any case",
    ),
    flag(
        &["start-stop"],
        "Define __start_X and __stop_X for sections of any name, where X is the name without a dot at its start and with _ \
         for what is no letter or digit.",
        |s| s.o.symbols.start_stop = true,
    ),
];
