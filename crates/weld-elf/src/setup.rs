//! What the options, scripts and objects add to one another: roots, `--wrap`, libraries.

use std::collections::HashSet;

use weld_common::diag::DiagSink;
use weld_common::io::input::InputStore;

use crate::input::FileName;
use crate::input::load::Inputs;
use crate::names::{Rank, Wrap, flag};
use crate::options::{DefsymValue, Options, OutputKind};
use crate::resolve::Resolved;
use crate::script::commands::Command;
use crate::script::version_script::VersionScript;

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
            sink.error(format!("{place}: last name of a library is not terminated"));
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

/// Names that `--wrap` redirects: `foo` to `__wrap_foo`, `__real_foo` to `foo`; and what becomes of common
/// symbols.
pub fn wrap<'j>(options: &Options, store: &'j InputStore<'j>) -> Wrap<'j> {
    let mut pairs = Vec::new();
    for name in &options.symbols.wrap {
        let keep = |text: String| -> &'j [u8] { store.keep(text.into_bytes()) };
        let plain = keep(name.clone());
        pairs.push((plain, keep(format!("__wrap_{name}"))));
        pairs.push((keep(format!("__real_{name}")), plain));
    }
    let mut wrap = Wrap::new(pairs);
    wrap.open_commons = options.symbols.no_define_common;
    wrap
}

/// Names that the command line or a script refers to, with the bits of their records.
pub fn roots<'j>(options: &Options, inputs: &Inputs, store: &'j InputStore<'j>) -> Vec<(&'j [u8], u32)> {
    let undefined = Rank::Undefined as u32;
    let mut names: Vec<(String, u32)> = Vec::new();
    let kept = undefined | flag::ROOT;
    names.extend(
        options.symbols.undefined.iter().chain(&options.symbols.require_defined).map(|n| (n.clone(), kept)),
    );
    if let Some(entry) = entry_symbol(options, inputs) {
        names.push((entry, kept));
    }
    for (_, command) in &inputs.commands {
        match command {
            Command::Extern(list) => names.extend(list.iter().map(|n| (n.clone(), kept))),
            Command::Define(definition) => {
                names.push((definition.name.clone(), undefined));
                match &definition.value {
                    DefsymValue::Absolute(_) => {}
                    DefsymValue::Symbol(other, _) => {
                        names.push((other.clone(), undefined | flag::REF_STRONG))
                    }
                    DefsymValue::Computed(value) => {
                        names.extend(
                            value.symbols().map(|other| (other.to_owned(), undefined | flag::REF_STRONG)),
                        );
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

/// The symbol where the program starts, unless it is a number. Shared objects have one only if asked.
pub fn entry_symbol(options: &Options, inputs: &Inputs) -> Option<String> {
    let from_script = inputs.commands.iter().find_map(|(_, c)| match c {
        Command::Entry(name) => Some(name.clone()),
        _ => None,
    });
    let default = (options.kind != OutputKind::Shared && options.kind != OutputKind::Relocatable)
        .then(|| "_start".to_owned());
    let name = options.symbols.entry.clone().or(from_script).or(default)?;
    (entry_address(&name).is_none() && !name.is_empty()).then_some(name)
}

/// `-e` may give an address instead of a symbol.
pub fn entry_address(name: &str) -> Option<u64> {
    match name.strip_prefix("0x").or_else(|| name.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => name.parse().ok(),
    }
}

/// `VERSION` commands of linker scripts.
pub fn inline_versions(inputs: &Inputs) -> Vec<VersionScript> {
    let version = |(_, command): &(_, Command)| match command {
        Command::Version(script) => Some(script.clone()),
        _ => None,
    };
    inputs.commands.iter().filter_map(version).collect()
}
