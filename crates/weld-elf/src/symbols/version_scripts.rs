//! Version scripts, dynamic lists and kin, read and compiled into questions about a name.

use std::collections::HashSet;
use std::sync::Arc;

use weld_common::demangle::demangle;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::text;

use crate::elf::*;
use crate::input::search::cannot_open;
use crate::options::Options;
use crate::script::dynamic_list::{self, DynamicList};
use crate::script::patterns::Pattern;
use crate::script::version_script::{self, OwnLocals, VersionChoice, VersionMatcher, VersionScript};
use crate::symbols::exports::{Rules, index_of};

/// A version that the output defines.
#[derive(Clone, Debug)]
pub struct VersionDef<'a> {
    pub name: &'a [u8],
    /// The versions it inherits from, by name.
    pub parents: Vec<&'a [u8]>,
    /// `VER_FLG_WEAK`: no symbol is bound to it.
    pub weak: bool,
}

/// The texts, parsed.
#[derive(Default)]
pub struct Scripts {
    pub versions: VersionScript,
    pub dynamic_list: Vec<(Pattern, String)>,
    pub exported: Vec<(Pattern, String)>,
    /// The names in `--retain-symbols-file`.
    pub retained: Option<Arc<HashSet<Vec<u8>>>>,
    /// `--default-symver`: the version of what is exported without one.
    default_version: Option<Vec<u8>>,
    has_version_script: bool,
    has_dynamic_list: bool,
}

impl Scripts {
    /// Reads every file that the options name. `inline` are `VERSION` commands of linker scripts.
    pub fn read(
        options: &Options,
        store: &InputStore,
        inline: Vec<VersionScript>,
        sink: &DiagSink,
    ) -> Scripts {
        let mut scripts = Scripts { default_version: default_version(options), ..Scripts::default() };
        scripts.has_dynamic_list = !options.symbols.dynamic_lists.is_empty()
            || !options.symbols.dynamic_list_patterns.is_empty()
            || options.symbols.dynamic_list_data;
        for text in &options.symbols.dynamic_list_patterns {
            let pattern = Pattern { cxx: true, ..Pattern::new(text.as_bytes()) };
            scripts.dynamic_list.push((pattern, "--dynamic-list-cpp".into()));
        }
        let mut all = inline;
        for path in &options.symbols.version_scripts {
            let parsed =
                read(options, store, path).and_then(|text| version_script::parse(text, &text::path(path)));
            match parsed {
                Ok(script) => all.push(script),
                Err(d) => sink.push(d),
            }
        }
        for script in all {
            scripts.has_version_script = true;
            if let Err(d) = scripts.versions.append(script) {
                sink.push(d);
            }
        }
        let lists = [
            (&options.symbols.dynamic_lists, &mut scripts.dynamic_list),
            (&options.symbols.export_symbol_lists, &mut scripts.exported),
        ];
        for (paths, list) in lists {
            for path in paths {
                let shown = text::path(path).into_owned();
                match read(options, store, path).and_then(|text| dynamic_list::parse(text, &shown)) {
                    Ok(patterns) => list.extend(patterns.into_iter().map(|p| (p, shown.clone()))),
                    Err(d) => sink.push(d),
                }
            }
        }
        if let Some(path) = &options.symtab.retain_symbols_file {
            match read(options, store, path) {
                Ok(text) => scripts.retained = Some(Arc::new(listed(text))),
                Err(d) => sink.push(d),
            }
        }
        for text in &options.symbols.export_dynamic_symbols {
            scripts.exported.push((Pattern::new(text.as_bytes()), "--export-dynamic-symbol".into()));
        }
        scripts
    }

    /// Compiles the patterns. `spelled` tells whether the definition of a name says its version itself. The
    /// second value is what to warn of.
    pub fn rules(&self, sink: &DiagSink, spelled: impl Fn(&[u8]) -> bool) -> (Rules<'_>, Vec<Diagnostic>) {
        let list = |patterns: &[(Pattern, String)]| {
            DynamicList::new(patterns.iter().map(|(p, path)| (p, path.as_str()))).unwrap_or_else(|d| {
                sink.push(d);
                DynamicList::default()
            })
        };
        let dynamic = list(&self.dynamic_list);
        let exported = list(&self.exported);
        let (matcher, mut warnings) = VersionMatcher::new(&self.versions).unwrap_or_else(|d| {
            sink.push(d);
            Default::default()
        });
        warnings.retain(|(name, _)| !name.as_deref().is_some_and(&spelled));
        let (definitions, indices) = self.definitions();
        let default = self.default_version.as_ref().and_then(|name| index_of(&definitions, name));
        let version_of = move |name: &[u8]| match matcher.lookup(name, || demangled(name)) {
            Some(VersionChoice::Local) => Some(VER_NDX_LOCAL),
            Some(VersionChoice::Version(node)) => indices.get(node as usize).copied(),
            Some(VersionChoice::Global) => default.or(Some(VER_NDX_GLOBAL)),
            None => default,
        };
        let own_locals = OwnLocals::new(&self.versions);
        let has_versions = self.has_version_script || default.is_some();
        let none = exported.is_empty();
        let rules = Rules {
            has_versions,
            definitions,
            version_of: if has_versions { Box::new(version_of) } else { Box::new(|_| None) },
            is_local_in: Box::new(move |spelled| {
                own_locals
                    .contains(spelled.name, spelled.version, spelled.default, || demangled(spelled.name))
            }),
            in_dynamic_list: Box::new(move |name| dynamic.contains(name, || demangled(name))),
            has_dynamic_list: self.has_dynamic_list,
            exported: Box::new(move |name| !none && exported.contains(name, || demangled(name))),
        };
        (rules, warnings.into_iter().map(|(_, warning)| warning).collect())
    }

    /// The names of the versions that the output defines.
    pub fn version_names(&self) -> Vec<&[u8]> {
        self.definitions().0.iter().map(|definition| definition.name).collect()
    }

    /// The versions that the output defines, and the index of each node of the script.
    fn definitions(&self) -> (Vec<VersionDef<'_>>, Vec<u16>) {
        let mut definitions = Vec::new();
        let mut indices = Vec::new();
        if let Some(name) = &self.default_version
            && !self.versions.nodes.iter().any(|node| node.name == *name)
        {
            definitions.push(VersionDef { name, parents: Vec::new(), weak: false });
        }
        for node in &self.versions.nodes {
            if node.name.is_empty() {
                indices.push(VER_NDX_GLOBAL);
                continue;
            }
            let parents = node.parents.iter().map(|p| &p[..]).collect();
            definitions.push(VersionDef { name: &node.name, parents, weak: false });
            indices.push(definitions.len() as u16 + 1);
        }
        (definitions, indices)
    }
}

/// `--default-symver`: the output's soname, or its file name.
fn default_version(options: &Options) -> Option<Vec<u8>> {
    let file = options.output.path.file_name().unwrap_or_default().as_encoded_bytes();
    let name = options.dynamic.soname.as_ref().map_or(file, |soname| soname.as_bytes());
    options.symbols.default_symver.then(|| name.to_vec())
}

fn demangled(name: &[u8]) -> Option<String> {
    match demangle(name) {
        std::borrow::Cow::Owned(text) => Some(text),
        std::borrow::Cow::Borrowed(_) => None,
    }
}

/// The text of a script or list: in the working directory, then in the library directories.
/// The names of `--retain-symbols-file`: one in each line.
fn listed(text: &[u8]) -> HashSet<Vec<u8>> {
    let lines = text.split(|b| *b == b'\n').map(|line| line.trim_ascii());
    lines.filter(|name| !name.is_empty()).map(|name| name.to_vec()).collect()
}

pub fn read<'s>(
    options: &Options,
    store: &'s InputStore,
    path: &std::path::Path,
) -> Result<&'s [u8], Diagnostic> {
    let candidates =
        std::iter::once(path.to_owned()).chain(options.inputs.search_paths.iter().map(|dir| dir.join(path)));
    for candidate in candidates {
        if let Some(text) = store.open(&candidate).map_err(Diagnostic::from)? {
            return Ok(text);
        }
    }
    Err(cannot_open(path))
}
