//! Libraries that objects and the command line ask for: `/defaultlib`, `/nodefaultlib`, `/disallowlib`.

use std::collections::HashSet;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::Resolver;
use super::read::{Reader, Rounds};
use crate::ids::{FileId, SymbolId};
use crate::input::load::Refused;
use crate::symbol_names::Names;

impl<'a> Resolver<'a, '_> {
    /// Adds libraries that objects or the command line ask for.
    pub(super) fn add_libraries(&self, mut names: Vec<String>, rounds: &mut Rounds<'a, '_, '_, '_>) {
        let refused = Refused::new(
            &rounds.format.demands.no_default_libs,
            rounds.format.demands.no_default_libs_at_all,
        );
        names.retain(|name| !refused.contains(name));
        if names.is_empty() {
            return;
        }
        rounds.format.default_libraries.extend_from_slice(&names);
        if let Some(machine) = rounds.format.machine {
            self.loader.search.set_machine(machine);
        }
        let before = rounds.format.inputs.files.len();
        self.loader.add_libraries(&names, rounds.format.inputs);
        let new: Vec<FileId> = rounds.format.inputs.objects_from(before).collect();
        announce(rounds);
        if !new.is_empty() {
            rounds.read(&new, true);
            self.carry_out_directives(&new, rounds);
        }
    }

    /// Says which libraries do not go together, as objects of C's run-time libraries tell: `/disallowlib`.
    /// They are linked nevertheless, for others may need them.
    pub(super) fn warn_of_disallowed(&self, rounds: &Rounds<'_, '_, '_, '_>) {
        if !self.options.warnings.disallowed_libs {
            return;
        }
        let mut said = HashSet::new();
        for (name, origin) in &rounds.format.demands.disallowed_libs {
            let one = Refused::new(std::slice::from_ref(name), false);
            let found = rounds.format.default_libraries.iter().find(|library| one.contains(library));
            if let Some(library) = found.filter(|library| said.insert(library.to_ascii_lowercase())) {
                let text = format!(
                    "default library {library} conflicts with {origin}; use /nodefaultlib:{library} to leave it out [LNK4098]"
                );
                self.sink.warn(Cause::ConflictingLibraries, text);
            }
        }
    }
}

/// Enters what archives offer that have not been asked yet.
pub fn announce(rounds: &mut Rounds) {
    let from = std::mem::replace(&mut rounds.format.announced, rounds.format.inputs.archives.len());
    rounds.announce_archives(from);
}

impl Reader<'_, '_, '_> {
    /// `/verbose:lib`: which members are linked, and why.
    pub(super) fn say_loaded(&self, names: &Names, wanted: &[(FileId, SymbolId)]) {
        let sink = self.resolver.sink;
        for wanted in wanted.chunk_by(|one, other| one.0 == other.0) {
            let name = wanted.iter().map(|(_, id)| names.get(*id).name).min().unwrap_or_default();
            let text = format!("Loaded {} for {}", self.inputs.name(wanted[0].0), text::text(name));
            sink.push(Diagnostic::said(text));
        }
        sink.settle();
    }
}
