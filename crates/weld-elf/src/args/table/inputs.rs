//! Which files to link, and where to look for them.

use weld_common::args::Value::{Required, Separate};
use weld_common::args::{Group, Spec, ValueError, choice, flag, take};
use weld_common::io::readahead::Prefetch;

use super::super::state::State;
use super::super::values::remap_rule;
use crate::arch;
use crate::options::{InputKind, Remap};

pub const GROUP: Group<State> = Group { title: "Inputs and libraries", prefix: "", rows: ROWS };

const ROWS: &[Spec<State>] = &[
    take(
        &["library", "l"],
        Required("NAME"),
        "Link libNAME.so or libNAME.a, whichever is found first; -l:FILE looks for FILE itself.",
        State::library,
    ),
    take(
        &["library-path", "L"],
        Required("DIR"),
        "Look for libraries in DIR. = or $SYSROOT at its start stands for the sysroot.",
        |s, v| {
            s.o.inputs.search_paths.push(v.os().into());
            Ok(())
        },
    ),
    take(&["sysroot"], Required("DIR"), "The root of the system that is linked for.", |s, v| {
        s.o.inputs.sysroot = v.os().into();
        Ok(())
    }),
    take(&["chroot"], Required("DIR"), "Take absolute paths of inputs to be below DIR.", |s, v| {
        s.o.inputs.chroot = v.os().into();
        Ok(())
    }),
    flag(&["nostdlib"], "Ignore the search directories of linker scripts.", |s| s.o.inputs.nostdlib = true),
    flag(&["static"], "Link no shared objects, and make an output without dynamic linking.", |s| {
        s.flags.static_only = true;
        s.o.static_link = true;
    }),
    flag(&["Bstatic", "dn", "non_shared"], "Find only archives for the -l that follow.", |s| {
        s.flags.static_only = true;
    }),
    flag(
        &["Bdynamic", "dy", "call_shared"],
        "Find shared objects too for the -l that follow (default). Cancels -static.",
        |s| {
            s.flags.static_only = false;
            s.o.static_link = false;
        },
    ),
    flag(&["as-needed"], "Of the shared objects that follow, need only those that are used.", |s| {
        s.flags.as_needed = true;
    }),
    flag(&["no-as-needed"], "Need all shared objects that follow (default).", |s| s.flags.as_needed = false),
    flag(&["whole-archive"], "Link all members of the archives that follow.", |s| {
        s.flags.whole_archive = true;
    }),
    flag(&["no-whole-archive"], "Link only the members that are needed (default).", |s| {
        s.flags.whole_archive = false;
    }),
    flag(
        &["push-state"],
        "Remember -static, -Bstatic, --as-needed, --whole-archive and --copy-dt-needed-entries until --pop-state.",
        State::push_state,
    ),
    flag(&["pop-state"], "Go back to what --push-state remembered.", State::pop_state),
    flag(
        &["start-group", "("],
        "Start a group of archives. Archives are searched until nothing changes in any case; only \
         --warn-backrefs looks at groups.",
        |s| s.start_group(false),
    ),
    flag(&["end-group", ")"], "End a group.", |s| s.end_group(false)),
    flag(&["start-lib"], "Link the objects that follow only if they are needed, as if in an archive.", |s| {
        s.start_group(true);
    }),
    flag(&["end-lib"], "End what --start-lib started.", |s| s.end_group(true)),
    take(&["script", "T"], Required("FILE"), "Read a linker script.", |s, v| {
        s.add_input(InputKind::Script(v.os().into()));
        Ok(())
    }),
    take(&["default-script", "dT"], Required("FILE"), "The script to read if there is no -T.", |s, v| {
        s.default_script(v.os());
        Ok(())
    }),
    take(
        &["exclude-libs"],
        Required("LIB,..."),
        "Do not export the symbols of these archives from the output. ALL: of all archives.",
        |s, v| {
            let names = v.text()?.split([',', ':']).filter(|name| !name.is_empty());
            s.o.symbols.exclude_libs.extend(names.map(str::to_owned));
            Ok(())
        },
    ),
    flag(&["dependent-libraries"], "Link the libraries that objects ask for (default).", |s| {
        s.o.inputs.no_dependent_libraries = false;
    }),
    flag(&["no-dependent-libraries"], "Do not link the libraries that objects ask for.", |s| {
        s.o.inputs.no_dependent_libraries = true;
    }),
    take(
        &["format", "b"],
        Separate("FORMAT"),
        "The format of the inputs that follow: elf, default; binary: their bytes are data between \
         _binary_NAME_start and _binary_NAME_end, where NAME is the path with _ for what C does not allow in names.",
        |s, v| {
            s.flags.binary = match v.text()? {
                "elf" | "default" => false,
                "binary" => true,
                format if arch::object_format(format).is_some() => false,
                format => return Err(ValueError::unknown("input format", format).into()),
            };
            Ok(())
        },
    ),
    take(
        &["prefetch"],
        Required("WHEN"),
        "Ask for inputs before they are needed: auto (default: those that the kernel says are not in memory), \
         on (all, without asking), off.",
        |s, v| {
            s.o.inputs.prefetch = choice(v, &Prefetch::CHOICES)?;
            Ok(())
        },
    ),
    take(
        &["rsp-quoting"],
        Required("STYLE"),
        "How @FILE quotes its words: posix (default), windows.",
        |_, v| Ok(choice(v, &[("posix", ()), ("windows", ())])?),
    ),
    flag(
        &["copy-dt-needed-entries", "add-needed"],
        "Look for symbols also in what the shared objects that follow need, and what these need, and need what is \
         used of it.",
        |s| s.flags.copy_needed = true,
    ),
    flag(&["no-copy-dt-needed-entries", "no-add-needed"], "Do not (default).", |s| {
        s.flags.copy_needed = false
    }),
    take(
        &["rpath-link"],
        Required("DIR:..."),
        "Where to look first for what only shared objects need: with --copy-dt-needed-entries, and if it may \
         define what a shared object refers to and nothing else does.",
        |s, v| {
            s.o.inputs.rpath_link.extend(std::env::split_paths(v.os()));
            Ok(())
        },
    ),
    take(
        &["just-symbols"],
        Required("FILE"),
        "Take the symbols of FILE, whose values are addresses, and nothing else of it.",
        |s, v| {
            s.just_symbols(v);
            Ok(())
        },
    ),
    take(
        &["remap-inputs"],
        Required("GLOB=FILE"),
        "Read FILE in place of each input whose path matches GLOB, or none if FILE is /dev/null. Exact names count first.",
        |s, v| {
            let rule = remap_rule(v.os().as_encoded_bytes(), b"=")?;
            s.o.inputs.remaps.push(Remap::Rule(rule));
            Ok(())
        },
    ),
    take(&["remap-inputs-file"], Required("FILE"), "The same for each line GLOB=FILE of a file.", |s, v| {
        s.o.inputs.remaps.push(Remap::File(v.os().into()));
        Ok(())
    }),
    take(&["mri-script", "c"], Separate("FILE"), "Read an MRI script.", |s, v| {
        s.add_input(InputKind::MriScript(v.os().into()));
        Ok(())
    }),
];
