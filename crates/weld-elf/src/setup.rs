//! What the options, scripts and objects add to one another: roots, libraries.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use weld_common::host::Host;
use weld_common::io::input::InputStore;
use weld_common::par;
use weld_common::text;

use crate::compat_mode::CompatMode;
use crate::elf::*;
use crate::ids::*;
use crate::input::FileName;
use crate::input::load::Inputs;
use crate::options::{DefsymValue, Options, OutputKind};
use crate::resolve::Resolved;
use crate::script::commands::Command;
use crate::script::layout::LayoutScript;
use crate::script::version_script::VersionScript;
use crate::sections::scripted::{COMMONS, Judgement, OfFile, Rules, Seen};
use crate::sections::{Scripted, is_table};
use crate::symbol_names::{Rank, flag};

/// The libraries that objects ask for and that are not in `asked`, with who asks first. `asked` takes
/// them in.
pub fn dependent_libraries<'a>(
    options: &Options,
    resolved: &Resolved<'a>,
    asked: &mut HashSet<&'a [u8]>,
    sink: &DiagSink,
) -> Vec<(FileName<'a>, &'a [u8])> {
    let mut list = Vec::new();
    if options.inputs.no_dependent_libraries || options.kind == OutputKind::Relocatable {
        return list;
    }
    for object in resolved.objects.iter().filter(|o| o.dependent_libraries != 0) {
        let shndx = object.dependent_libraries as usize;
        let names = object.section_data(shndx).unwrap_or(&[]);
        if names.last().is_some_and(|&last| last != 0) {
            let place = object.at_section(shndx as u32);
            sink.error(Cause::MalformedObject, format!("{place}: last name of a library is not terminated"));
            continue;
        }
        for name in names.split(|&b| b == 0).filter(|n| !n.is_empty()) {
            if asked.insert(name) {
                list.push((object.name.clone(), name));
            }
        }
    }
    list
}

/// The patterns of a linker script that lays out, and the names of its bins.
pub struct ScriptRules<'j> {
    pub rules: Rules,
    bin_names: Vec<&'j [u8]>,
}

impl<'j> ScriptRules<'j> {
    /// Compiles the patterns, and finds out which of its output sections have what they insist on.
    ///
    /// # Errors
    /// If something about the patterns is not known before layout.
    pub fn read(
        options: &Options,
        store: &'j InputStore<'j>,
        script: &LayoutScript,
        resolved: &Resolved<'j>,
    ) -> Result<ScriptRules<'j>, Diagnostic> {
        let objects = &resolved.objects;
        let asked = &options.layout;
        let judgement = Judgement {
            orphans: asked.orphans,
            sort: asked.sort_sections,
            spills: asked.non_contiguous_regions,
        };
        let mut rules = Rules::new(script, judgement)?;
        let names: Vec<&'j [u8]> =
            script.descriptions().map(|section| store.keep(section.name.clone())).collect();
        if rules.has_constraints() {
            let look = |object: usize| {
                let object = &objects[object];
                let (file, mut seen) = (rules.of_file(Some(&object.name)), Seen::default());
                for (shndx, header) in object.shdrs.iter().enumerate().skip(1) {
                    if is_table(header) {
                        continue;
                    }
                    let name = object.section_name(shndx).unwrap_or(b"");
                    if rules.may_be_constrained(name) {
                        rules.look(&file, name, header.sh_flags(), &mut seen);
                    }
                }
                seen
            };
            let mut seen: Vec<Seen> = par::map(true, objects.len(), look);
            seen.push(common_symbols(&rules, resolved));
            rules.decide(seen);
        }
        let bin_names = rules.bins.iter().map(|bin| names[bin.section as usize]).collect();
        Ok(ScriptRules { rules, bin_names })
    }

    /// As sections are assigned by them.
    pub fn scripted(&self) -> Scripted<'j, '_> {
        Scripted { rules: &self.rules, bin_names: &self.bin_names }
    }
}

/// What common symbols mean for output sections with constraints: each is writable, and of the file with its
/// largest definition.
fn common_symbols(rules: &Rules, resolved: &Resolved) -> Seen {
    let mut seen = Seen::default();
    let mut files: HashMap<FileId, OfFile> = HashMap::new();
    for rival in &resolved.commons {
        let entry = resolved.names.get(rival.id);
        if entry.rank() != Rank::Common || entry.file() != rival.file {
            continue;
        }
        let object = &resolved.objects[resolved.index_of_file[rival.file.index()] as usize];
        let file = files.entry(rival.file).or_insert_with(|| rules.of_file(Some(&object.name)));
        let symbol = &object.syms[rival.sym as usize];
        let name = match () {
            () if symbol.kind() == STT_TLS => COMMONS[1],
            () if Some(symbol.st_shndx()) == object.machine.large_common() => COMMONS[2],
            () => COMMONS[0],
        };
        rules.look(file, name, SHF_ALLOC | SHF_WRITE, &mut seen);
    }
    seen
}

/// Names that have to be there, whoever defines them: `-u`, `--require-defined` and `EXTERN`.
pub fn wanted_names<'o>(options: &'o Options, inputs: &'o Inputs) -> impl Iterator<Item = &'o str> {
    let asked = options.symbols.undefined.iter().chain(&options.symbols.require_defined);
    let of_script = inputs.commands.iter().filter_map(|(_, command)| match command {
        Command::Extern(list) => Some(list),
        _ => None,
    });
    asked.chain(of_script.flatten()).map(String::as_str)
}

/// Names that the command line or a script refers to, with the bits of their records.
pub fn roots<'j>(options: &Options, inputs: &Inputs, store: &'j InputStore<'j>) -> Vec<(&'j [u8], u32)> {
    let undefined = Rank::Undefined as u32 | flag::REF_NATIVE;
    let mut names: Vec<(String, u32)> = Vec::new();
    let kept = undefined | flag::ROOT;
    names.extend(
        options.symbols.undefined.iter().chain(&options.symbols.require_defined).map(|n| (n.clone(), kept)),
    );
    if let Some(entry) = entry_symbol(options, inputs) {
        names.push((entry, kept));
    }
    if let Some(script) = inputs.script() {
        for (assignment, _) in script.assignments() {
            names.push((assignment.name.clone(), undefined));
            // What it refers to is only referred to if it is asked for itself.
            let asked = if assignment.provide { 0 } else { flag::REF_STRONG };
            names.extend(assignment.needs().map(|other| (other.to_owned(), undefined | asked)));
        }
        let values = script.expressions_beside().into_iter();
        names.extend(
            values
                .flat_map(|value| value.symbols())
                .map(|name| (name.to_owned(), undefined | flag::REF_STRONG)),
        );
    }
    let simple = inputs.script().is_none();
    for (_, command) in &inputs.commands {
        match command {
            Command::Extern(list) => names.extend(list.iter().map(|n| (n.clone(), kept))),
            Command::Define(definition) if simple => {
                names.push((definition.name.clone(), undefined));
                let asked = if definition.provide { 0 } else { flag::REF_STRONG };
                match &definition.value {
                    DefsymValue::Absolute(_) => {}
                    DefsymValue::Symbol(other, _) => names.push((other.clone(), undefined | asked)),
                    DefsymValue::Computed(value) => {
                        names.extend(value.symbols().map(|other| (other.to_owned(), undefined | asked)));
                    }
                }
            }
            _ => {}
        }
    }
    if options.kind != OutputKind::Relocatable {
        names.push((options.symbols.init.clone(), undefined | flag::KEEP));
        names.push((options.symbols.fini.clone(), undefined | flag::KEEP));
    }
    names.into_iter().map(|(name, bits)| (store.keep(name.into_bytes()), bits)).collect()
}

/// `LD_RUN_PATH` counts where the command line says nothing, and only for who takes weld for GNU ld, the one
/// linker that reads it.
pub fn inherit_run_path(options: &mut Options, host: &dyn Host) {
    if !options.compat_mode.is_gnu_ld() || !options.dynamic.rpath.is_empty() {
        return;
    }
    if let Some(path) = host.run_path().filter(|path| !path.is_empty()) {
        options.dynamic.rpath.push(path);
        options.dynamic.inherits_run_path = true;
    }
}

/// Programs read the maps of GNU ld itself.
pub fn choose_map(options: &mut Options, host: &dyn Host) {
    options.reports.gnu_map.get_or_insert_with(|| CompatMode::is_gnu_ld_itself(host.program_name()));
    if options.compat_mode.is_gnu_ld() {
        name_map(options);
    }
}

/// `-Map=DIRECTORY` stands for a file in it, named after the output; a single `%` for the output's name, with
/// `.map` where nothing follows.
fn name_map(options: &mut Options) {
    let Some(path) = &options.reports.map_file else { return };
    let output = options.output.path.file_name().unwrap_or_default().to_owned();
    let mut name = path.clone().into_os_string();
    let extended = |mut name: OsString| {
        name.push(".map");
        name
    };
    if path.is_dir() {
        name = path.join(extended(output)).into_os_string();
    } else if let Some(file) = path.file_name().and_then(|file| file.to_str())
        && let Some((before, after)) = file.split_once('%').filter(|(_, after)| !after.contains('%'))
    {
        let mut file = OsString::from(before);
        file.push(output);
        file.push(after);
        let file = if after.is_empty() { extended(file) } else { file };
        name = path.with_file_name(file).into_os_string();
    }
    options.reports.map_file = Some(name.into());
}

/// GCC names its own plugin in every link, so only one that is not there is worth a word. (ld.lld does not
/// look.)
pub fn check_plugin(options: &Options) -> Result<(), Diagnostic> {
    match &options.lto.engine.plugin {
        Some(path) if options.compat_mode != CompatMode::Lld && !path.exists() => {
            let path = text::path(path);
            Err(Diagnostic::error(
                Cause::CannotOpenFile,
                format!("-plugin: cannot open {path}: No such file or directory"),
            ))
        }
        _ => Ok(()),
    }
}

/// Opens what compilers will read besides intermediate code, so that it is among the inputs.
pub fn open_for_compilers(options: &Options, store: &InputStore, sink: &DiagSink) {
    let code = &options.lto;
    let profiles = code.profile.sample.iter().chain(&code.profile.context_sensitive);
    for path in profiles.chain(&code.passes.plugins) {
        // What is not there, who reads it says.
        if let Err(error) = store.open(path) {
            sink.push(error.into());
        }
    }
}

/// The symbol where the program starts, unless it is a number. Shared objects need one only if asked.
pub fn entry_symbol(options: &Options, inputs: &Inputs) -> Option<String> {
    let from_script = entries(inputs).next().cloned();
    let default = (options.kind != OutputKind::Shared && options.kind != OutputKind::Relocatable)
        .then(|| inputs.machine.facts().entry.to_owned());
    let name = options.symbols.entry.clone().or(from_script).or(default)?;
    (entry_address(&name).is_none() && !name.is_empty()).then_some(name)
}

/// Whether a script has an `ENTRY`.
pub fn names_entry(inputs: &Inputs) -> bool {
    entries(inputs).next().is_some()
}

fn entries<'i>(inputs: &'i Inputs) -> impl Iterator<Item = &'i String> {
    inputs.commands.iter().filter_map(|(_, command)| match command {
        Command::Entry(name) => Some(name),
        _ => None,
    })
}

/// `-e` may give an address instead of a symbol.
pub fn entry_address(name: &str) -> Option<u64> {
    weld_common::args::values::number(name).ok()
}

/// `VERSION` commands of linker scripts.
pub fn inline_versions(inputs: &Inputs) -> Vec<VersionScript> {
    let version = |(_, command): &(_, Command)| match command {
        Command::Version(script) => Some(script.clone()),
        _ => None,
    };
    inputs.commands.iter().filter_map(version).collect()
}

/// What a linker script that lays out says itself.
///
/// # Errors
/// If an option says it.
pub fn check_scripted(options: &Options) -> Result<(), Diagnostics> {
    let given = [
        (
            "--physical-image-base",
            options.layout.physical_image_base.is_some(),
            "AT or AT> says where a section is loaded",
        ),
        (
            "--randomize-section-padding",
            options.order.padding.is_some(),
            "the script says what lies between sections",
        ),
    ];
    match given.iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, instead)) => {
            let text = format!("{option} cannot be used with a linker script that has SECTIONS");
            Err(Diagnostic::error(Cause::UnsupportedOption, text).note((*instead).to_owned()).into())
        }
        None => Ok(()),
    }
}
