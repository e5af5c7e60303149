//! The keywords of `-z`, and `-z` itself.
//!
//! An unknown keyword is a warning, as in `ld.lld` and GNU `ld`: build systems try keywords out.

use weld_common::args::Value::{None as NoValue, Required};
use weld_common::args::values::{number, number_up_to, power_of_two};
use weld_common::args::{
    Given, Group, Index, Spec, Table, ValueError, accepted, choice, flag, keyword, name_count, refused, take,
};
use weld_common::diag::Cause;

use super::super::state::State;
use super::super::values::OptionError;
use crate::options::{CallPadding, IsaReport, LandingPads, ReportPolicy, SeparateCode};

const GROUPS: &[Group<State>] = &[Group { title: "Keywords of -z", prefix: "-z ", rows: ROWS }];

static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);

pub static KEYWORDS: Table<State> = Table::new(GROUPS, &INDEX);

/// `-z KEYWORD`.
pub fn run(s: &mut State, v: Given<'_>) -> Result<(), OptionError> {
    if keyword(&KEYWORDS, v, s)? {
        return Ok(());
    }
    let text = v.text()?;
    let mut message = format!("unknown keyword: -z {text}");
    if let Some(nearest) = KEYWORDS.nearest(text.split('=').next().unwrap_or_default()) {
        message.push_str(&format!("; did you mean '-z {nearest}'?"));
    }
    s.warn(Cause::UnknownOption, message);
    Ok(())
}

const REPORTS: &[(&str, ReportPolicy)] =
    &[("none", ReportPolicy::None), ("warning", ReportPolicy::Warning), ("error", ReportPolicy::Error)];

fn call_padding(text: &str) -> Result<CallPadding, OptionError> {
    let wrong = || OptionError::CallPadding(text.to_owned());
    let (place, what) = text.split_once('-').ok_or_else(wrong)?;
    let byte = match (place, what) {
        ("prefix", "addr") => 0x67,
        (_, "nop") => 0x90,
        (_, byte) => number_up_to(byte, 0xff).map_err(|_| wrong())? as u8,
    };
    match place {
        "prefix" => Ok(CallPadding::Prefix(byte)),
        "suffix" => Ok(CallPadding::Suffix(byte)),
        _ => Err(wrong()),
    }
}

const ROWS: &[Spec<State>] = &[
    flag(&["now"], "Have the loader bind all functions at once.", |s| s.o.dynamic.now = true),
    flag(&["lazy"], "Let functions be bound when they are called first (default).", |s| {
        s.o.dynamic.now = false
    }),
    flag(&["relro"], "Make data read-only that only the loader writes (default).", |s| {
        s.o.layout.relro = true
    }),
    flag(&["norelro"], "Keep it writable.", |s| s.o.layout.relro = false),
    flag(&["defs"], "As --no-undefined.", |s| s.report_in_objects = Some(true)),
    flag(&["undefs", "nodefs"], "Ignore unresolved references of objects.", |s| {
        s.report_in_objects = Some(false);
    }),
    flag(&["muldefs"], "As --allow-multiple-definition.", |s| s.o.symbols.allow_multiple_definition = true),
    flag(&["text"], "Dynamic relocations of read-only sections are errors (default).", |s| {
        s.o.relocs.text = true
    }),
    flag(&["notext", "textoff"], "Allow dynamic relocations of read-only sections.", |s| {
        s.o.relocs.text = false;
    }),
    flag(&["execstack"], "The stack is executable.", |s| s.o.layout.execstack = Some(true)),
    flag(&["noexecstack"], "The stack is not executable, whatever the objects ask for.", |s| {
        s.o.layout.execstack = Some(false);
    }),
    flag(
        &["execstack-if-needed"],
        "The stack is executable if an object asks for it (default, with a warning).",
        |s| {
            s.o.layout.execstack = None;
            s.o.reports.report_execstack = ReportPolicy::None;
        },
    ),
    flag(&["gnustack"], "Say in PT_GNU_STACK whether the stack is executable (default).", |s| {
        s.o.layout.gnustack = true;
    }),
    flag(&["nognustack"], "Leave that to the system.", |s| s.o.layout.gnustack = false),
    take(&["stack-size"], Required("SIZE"), "The size of the stack, in PT_GNU_STACK.", |s, v| {
        s.o.layout.stack_size = Some(number(v.text()?)?).filter(|size| *size != 0);
        Ok(())
    }),
    take(
        &["max-page-size"],
        Required("SIZE"),
        "The largest page size to run with (default: 4096).",
        |s, v| {
            s.max_page_size = Some(power_of_two(v.text()?)?);
            Ok(())
        },
    ),
    take(
        &["common-page-size"],
        Required("SIZE"),
        "The page size to lay out for (default: 4096); at most the largest one.",
        |s, v| {
            s.common_page_size = Some(power_of_two(v.text()?)?);
            Ok(())
        },
    ),
    flag(&["separate-code"], "Code has pages of its own in the file.", |s| {
        s.o.layout.separate_code = SeparateCode::Code;
    }),
    flag(&["separate-loadable-segments"], "Each segment has pages of its own in the file.", |s| {
        s.o.layout.separate_code = SeparateCode::Loadable;
    }),
    flag(&["noseparate-code"], "Segments may share pages of the file (default).", |s| {
        s.o.layout.separate_code = SeparateCode::None;
    }),
    flag(
        &["pack-relative-relocs"],
        "Pack relative relocations (DT_RELR), and need a C library that can read them.",
        |s| {
            s.o.relocs.pack_relr = true;
            s.o.relocs.relr_glibc_dep = true;
        },
    ),
    flag(&["nopack-relative-relocs"], "Do not pack them (default).", |s| {
        s.o.relocs.pack_relr = false;
        s.o.relocs.relr_glibc_dep = false;
    }),
    flag(&["combreloc"], "Sort dynamic relocations (default).", |s| s.o.relocs.combreloc = true),
    flag(&["nocombreloc"], "Do not sort dynamic relocations.", |s| s.o.relocs.combreloc = false),
    flag(&["copyreloc"], "Copy data of shared objects to the executable if it must be (default).", |s| {
        s.o.relocs.copyreloc = true;
    }),
    flag(&["nocopyreloc"], "Report an error instead.", |s| s.o.relocs.copyreloc = false),
    flag(
        &["indirect-extern-access"],
        "The output reaches what other modules define through slots only (GNU_PROPERTY_1_NEEDED): as -z nocopyreloc, and it says so.",
        |s| {
            s.o.notes.indirect_extern_access = Some(true);
            s.o.relocs.copyreloc = false;
        },
    ),
    flag(
        &["noindirect-extern-access"],
        "It does not say so, whatever the objects say (default: as they say).",
        |s| {
            s.o.notes.indirect_extern_access = Some(false);
        },
    ),
    flag(&["dynamic-undefined-weak"], "Leave unresolved weak references to the loader.", |s| {
        s.o.symbols.dynamic_undefined_weak = Some(true);
    }),
    flag(&["nodynamic-undefined-weak"], "Bind unresolved weak references to zero.", |s| {
        s.o.symbols.dynamic_undefined_weak = Some(false);
    }),
    flag(&["global"], "DF_1_GLOBAL: symbols are visible to objects loaded later.", |s| {
        s.o.dynamic.global = true
    }),
    flag(&["initfirst"], "DF_1_INITFIRST: the object is initialised before others.", |s| {
        s.o.dynamic.initfirst = true;
    }),
    flag(&["interpose"], "DF_1_INTERPOSE: symbols win over those of other shared objects.", |s| {
        s.o.dynamic.interpose = true;
    }),
    flag(&["nodefaultlib"], "DF_1_NODEFLIB: the loader does not search its default directories.", |s| {
        s.o.dynamic.nodefaultlib = true;
    }),
    flag(&["nodelete"], "DF_1_NODELETE: dlclose does not unload.", |s| s.o.dynamic.nodelete = true),
    flag(&["nodlopen"], "DF_1_NOOPEN: dlopen refuses.", |s| s.o.dynamic.nodlopen = true),
    flag(&["nodump"], "DF_1_NODUMP: dldump refuses.", |s| s.o.dynamic.nodump = true),
    flag(&["origin"], "DF_1_ORIGIN: the loader must replace $ORIGIN at once.", |s| s.o.dynamic.origin = true),
    flag(&["loadfltr"], "DF_1_LOADFLTR: what the object filters is loaded with it.", |s| {
        s.o.dynamic.loadfltr = true;
    }),
    flag(&["globalaudit"], "DF_1_GLOBAUDIT: auditing holds for the whole program.", |s| {
        s.o.dynamic.globalaudit = true;
    }),
    flag(&["unique"], "DF_GNU_1_UNIQUE: dlmopen does not load the object twice.", |s| {
        s.o.dynamic.unique = true
    }),
    flag(&["nounique"], "Do not say so (default).", |s| s.o.dynamic.unique = false),
    flag(&["rodynamic"], "The dynamic section is read-only.", |s| s.o.layout.rodynamic = true),
    flag(&["force-ibt"], "Claim indirect branch tracking, and warn of objects that do not.", |s| {
        s.o.notes.ibt = true;
        s.o.notes.ibtplt = true;
        s.o.notes.warn_missing_ibt = true;
    }),
    flag(&["ibt"], "Claim indirect branch tracking, whatever the objects say.", |s| {
        s.o.notes.ibt = true;
        s.o.notes.ibtplt = true;
    }),
    flag(&["ibtplt"], "Write a PLT for indirect branch tracking.", |s| s.o.notes.ibtplt = true),
    flag(&["shstk"], "Claim shadow stacks, whatever the objects say.", |s| s.o.notes.shstk = true),
    take(
        &["cet-report"],
        Required("HOW"),
        "What to say about objects without branch tracking or shadow stacks: none (default), warning, error.",
        |s, v| {
            s.o.notes.cet_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    flag(
        &["force-bti"],
        "AArch64: claim marked branches (BTI), whatever the objects say; name those that do not.",
        |s| {
            s.o.notes.force_bti = true;
        },
    ),
    flag(&["pac-plt"], "AArch64: check the pointers that PLT entries load (PAC).", |s| {
        s.o.notes.pac_plt = true
    }),
    flag(&["nopac-plt"], "Do not (default).", |s| s.o.notes.pac_plt = false),
    take(
        &["gcs"],
        Required("WHEN"),
        "AArch64: claim guarded control stacks: implicit (if all objects do, default), always, never.",
        |s, v| {
            s.o.notes.gcs = choice(v, &[("implicit", None), ("always", Some(true)), ("never", Some(false))])?;
            Ok(())
        },
    ),
    take(
        &["bti-report"],
        Required("HOW"),
        "AArch64: what to say about objects without marked branches: none (default), warning, error.",
        |s, v| {
            s.o.notes.bti_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(
        &["gcs-report"],
        Required("HOW"),
        "AArch64: what to say about objects without guarded control stacks: none (default), warning, error.",
        |s, v| {
            s.o.notes.gcs_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(
        &["gcs-report-dynamic"],
        Required("HOW"),
        "AArch64: the same about shared objects, if the output claims them (default: a warning with any -z gcs-report).",
        |s, v| {
            s.o.notes.gcs_report_dynamic = Some(choice(v, REPORTS)?);
            Ok(())
        },
    ),
    take(
        &["pauth-report"],
        Required("HOW"),
        "AArch64: what to say about objects that do not say how they sign pointers, if others do: none (default), \
         warning, error.",
        |s, v| {
            s.o.notes.pauth_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(
        &["zicfilp"],
        Required("WHAT"),
        "RISC-V: claim landing pads: implicit (as all objects do, default), unlabeled, func-sig, never.",
        |s, v| {
            s.o.notes.zicfilp = choice(
                v,
                &[
                    ("implicit", None),
                    ("unlabeled", Some(LandingPads::Unlabeled)),
                    ("func-sig", Some(LandingPads::ByType)),
                    ("never", Some(LandingPads::None)),
                ],
            )?;
            Ok(())
        },
    ),
    take(
        &["zicfiss"],
        Required("WHEN"),
        "RISC-V: claim shadow stacks: implicit (if all objects do, default), always, never.",
        |s, v| {
            s.o.notes.zicfiss =
                choice(v, &[("implicit", None), ("always", Some(true)), ("never", Some(false))])?;
            Ok(())
        },
    ),
    take(
        &["zicfilp-unlabeled-report"],
        Required("HOW"),
        "RISC-V: what to say about objects without landing pads that have no labels: none (default), warning, error.",
        |s, v| {
            s.o.notes.zicfilp_unlabeled_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(
        &["zicfilp-func-sig-report"],
        Required("HOW"),
        "RISC-V: the same about objects without landing pads that have labels.",
        |s, v| {
            s.o.notes.zicfilp_func_sig_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(
        &["zicfiss-report"],
        Required("HOW"),
        "RISC-V: the same about objects without shadow stacks.",
        |s, v| {
            s.o.notes.zicfiss_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(
        &["execute-only-report"],
        Required("HOW"),
        "AArch64: what to say about code that does not say that nobody reads it: none (default), warning, error.",
        |s, v| {
            s.o.layout.execute_only_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    flag(
        &["retpolineplt"],
        "Write a PLT without indirect jumps, against speculation; the output claims neither branch tracking nor \
         shadow stacks.",
        |s| s.o.dynamic.retpolines = true,
    ),
    flag(
        &["hazardplt"],
        "MIPS: jumps of the PLT wait until instructions that were written are seen (`jalr.hb`).",
        |s| s.o.dynamic.hazard_barriers = true,
    ),
    flag(&["start-stop-gc"], "__start_X and __stop_X do not keep X.", |s| s.o.sections.start_stop_gc = true),
    flag(&["nostart-stop-gc"], "They do (default).", |s| s.o.sections.start_stop_gc = false),
    take(
        &["start-stop-visibility"],
        Required("VISIBILITY"),
        "The visibility of __start_X and __stop_X: default, internal, hidden, protected (default).",
        |s, v| {
            // STV_*.
            s.o.symbols.start_stop_visibility =
                choice(v, &[("default", 0), ("internal", 1), ("hidden", 2), ("protected", 3)])?;
            Ok(())
        },
    ),
    flag(&["keep-text-section-prefix"], "Keep .text.hot, .text.unlikely and the like apart.", |s| {
        s.o.sections.keep_text_section_prefix = true;
    }),
    flag(&["nokeep-text-section-prefix"], "Put them all into .text (default).", |s| {
        s.o.sections.keep_text_section_prefix = false;
    }),
    flag(&["sectionheader"], "Write section headers (default).", |s| s.o.layout.sectionheader = true),
    flag(&["nosectionheader"], "Leave out section headers; implies --strip-all.", |s| {
        s.o.layout.sectionheader = false;
    }),
    flag(&["unique-symbol"], "Number the names of local symbols in .symtab: f.0, f.1.", |s| {
        s.o.symbols.unique_symbol = true
    }),
    flag(&["nounique-symbol"], "Do not (default).", |s| s.o.symbols.unique_symbol = false),
    take(
        &["dead-reloc-in-nonalloc"],
        Required("GLOB=VALUE"),
        "What references of matching debug sections to discarded code become. The last match counts.",
        |s, v| match v.text()?.rsplit_once('=') {
            Some((glob, value)) if !glob.is_empty() => {
                s.o.sections.dead_relocs.push((glob.to_owned(), number(value)?));
                Ok(())
            }
            _ => Err(ValueError::Expected("GLOB=VALUE").into()),
        },
    ),
    flag(
        &["rela"],
        "Dynamic relocations have their addends beside them, as on most machines; elsewhere an error.",
        |s| {
            s.o.relocs.with_addends = Some(true);
        },
    ),
    flag(
        &["rel"],
        "Dynamic relocations have their addends where they apply to, as on i386; elsewhere an error.",
        |s| {
            s.o.relocs.with_addends = Some(false);
        },
    ),
    flag(&["wxneeded"], "OpenBSD: the program makes memory that is writable and executable.", |s| {
        s.o.layout.wxneeded = true;
    }),
    flag(&["nobtcfi"], "OpenBSD: its indirect branches may go anywhere.", |s| s.o.layout.nobtcfi = true),
    accepted(&["noextern-protected-data"], NoValue, "protected data is never copied"),
    accepted(&["notext-unlikely-segment"], NoValue, "it is the default"),
    accepted(&["buildd"], NoValue, "it has no meaning in gold, either"),
    refused(
        &["text-unlikely-segment"],
        NoValue,
        "a linker script with PHDRS gives sections segments of their own",
    ),
    accepted(&["noreloc-overflow"], NoValue, "values that do not fit always are errors"),
    take(
        &["call-nop"],
        Required("PADDING"),
        "x86: how calls through slots that become direct calls are padded: prefix-addr (default), prefix-nop, suffix-nop, \
         prefix-BYTE or suffix-BYTE.",
        |s, v| {
            s.o.relocs.call_padding = Some(call_padding(v.text()?)?);
            Ok(())
        },
    ),
    flag(&["report-relative-reloc"], "Print each place that the loader adds the load address to.", |s| {
        s.o.reports.relative_relocs = true;
    }),
    flag(
        &["rewrite-endbr"],
        "x86-64: take the marks for indirect branches from functions that are only called directly.",
        |s| s.o.relocs.unmark = true,
    ),
    flag(&["norewrite-endbr"], "Do not (default).", |s| s.o.relocs.unmark = false),
    flag(
        &["mark-plt"],
        "x86-64: tell the loader where PLT entries are (DT_X86_64_PLT), so that it may write direct jumps; needs glibc 2.36.",
        |s| s.o.dynamic.mark_plt = true,
    ),
    flag(&["nomark-plt"], "Do not (default).", |s| s.o.dynamic.mark_plt = false),
    flag(&["memory-seal"], "Ask the loader to seal the mappings (GNU_PROPERTY_MEMORY_SEAL).", |s| {
        s.o.notes.memory_seal = true;
    }),
    flag(&["nomemory-seal"], "Do not (default).", |s| s.o.notes.memory_seal = false),
    flag(
        &["lam-u48"],
        "x86-64: claim that pointers may have other data above bit 48, whatever the objects say.",
        |s| {
            // Who leaves more bits alone leaves those of the other, too.
            (s.o.notes.lam_u48, s.o.notes.lam_u57) = (true, true);
        },
    ),
    flag(&["lam-u57"], "x86-64: the same above bit 57.", |s| s.o.notes.lam_u57 = true),
    flag(&["common"], "With -r, common symbols are of type STT_COMMON (default: as in the inputs).", |s| {
        s.o.symbols.common_type = Some(true);
    }),
    flag(&["nocommon"], "They are of type STT_OBJECT.", |s| s.o.symbols.common_type = Some(false)),
    flag(
        &["keep-data-section-prefix"],
        "The output sections .data.rel.ro.hot and .data.rel.ro.unlikely of a linker script become read-only, too.",
        |s| s.o.sections.keep_data_section_prefix = true,
    ),
    flag(&["nokeep-data-section-prefix"], "They do not (default).", |s| {
        s.o.sections.keep_data_section_prefix = false;
    }),
    accepted(
        &["lrodata-after-bss", "nolrodata-after-bss"],
        NoValue,
        "large sections lie after all others in any case",
    ),
    flag(
        &["x86-64-baseline"],
        "The output needs a processor of this level (GNU_PROPERTY_X86_ISA_1_NEEDED).",
        |s| {
            s.o.notes.isa_needed = 1;
        },
    ),
    flag(&["x86-64-v2"], "The same for x86-64-v2.", |s| s.o.notes.isa_needed = 1 << 1),
    flag(&["x86-64-v3"], "The same for x86-64-v3.", |s| s.o.notes.isa_needed = 1 << 2),
    flag(&["x86-64-v4"], "The same for x86-64-v4.", |s| s.o.notes.isa_needed = 1 << 3),
    take(
        &["lam-u48-report"],
        Required("HOW"),
        "x86-64: what to say about objects that do not claim it: none (default), warning, error.",
        |s, v| {
            s.o.notes.lam_u48_report = choice(v, REPORTS)?;
            Ok(())
        },
    ),
    take(&["lam-u57-report"], Required("HOW"), "x86-64: the same for -z lam-u57.", |s, v| {
        s.o.notes.lam_u57_report = choice(v, REPORTS)?;
        Ok(())
    }),
    take(&["lam-report"], Required("HOW"), "Both.", |s, v| {
        s.o.notes.lam_u48_report = choice(v, REPORTS)?;
        s.o.notes.lam_u57_report = s.o.notes.lam_u48_report;
        Ok(())
    }),
    take(
        &["isa-level-report"],
        Required("WHICH"),
        "Say which levels of x86-64 each object needs or uses: none (default), needed, used, all.",
        |s, v| {
            let report = |needed, used| IsaReport { needed, used };
            s.o.notes.isa_report = choice(
                v,
                &[
                    ("none", report(false, false)),
                    ("needed", report(true, false)),
                    ("used", report(false, true)),
                    ("all", report(true, true)),
                ],
            )?;
            Ok(())
        },
    ),
    refused(&["ifunc-noplt"], NoValue, "indirect functions always get PLT entries"),
];
