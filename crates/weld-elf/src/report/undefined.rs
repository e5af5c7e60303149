//! References that nothing defines: one diagnostic a symbol, with referrers and likely causes.

use std::collections::HashMap;

use weld_common::diag::{Cause, Diagnostic, Spot};
use weld_common::resolve::undefined;

use super::hints;
use super::hints::Elsewhere;
use crate::ids::*;
use crate::input::load::Inputs;
use crate::job::Job;
use crate::live::{Live, UndefinedRef};
use crate::options::{Options, UnresolvedPolicy};
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbol_names::symver;
use crate::symbol_names::{Entry, Rank, flag};
use crate::symbols::internal::{Internals, Target};
use crate::symbols::{Symbols, symbol_flags};
use crate::wording::place::Extents;
use crate::wording::{detailed, discarded, place, shown};

/// For how many symbols similar names are looked for. Each search may take a tenth of a second.
const SEARCHES: usize = 20;

/// `--ignore-unresolved-symbol`.
pub fn is_ignored(options: &Options, name: &[u8]) -> bool {
    options.symbols.ignore_unresolved.iter().any(|ignored| ignored.as_bytes() == name)
}

/// What undefined symbols are looked up in.
pub struct Undefined<'c, 'a> {
    pub job: &'c Job<'a>,
    pub inputs: &'c Inputs<'a>,
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub parallel: bool,
}

impl Undefined<'_, '_> {
    /// Reports what the relocation scan found, in the order of the references. A phase of its own.
    pub fn report(&self, live: &Live) {
        let references = live.undefined.iter().map(|reference| (reference.symbol, reference));
        let list = undefined::by_name([], references.filter(|(symbol, _)| !self.is_ignored(*symbol)));
        let options = self.job.options;
        let warn = options.symbols.unresolved == UnresolvedPolicy::Warn || options.reports.noinhibit_exec;
        let limit = if warn { usize::MAX } else { detailed(self.job.options) };
        let names = list.iter().take(limit).map(|one| self.resolved.names.get(one.name).name);
        let elsewhere = Elsewhere::look(self, &names.collect::<Vec<_>>());
        let mut extents = HashMap::new();
        for (i, one) in list.into_iter().enumerate() {
            let (cause, text) = (self.cause(one.name), self.headline(one.name));
            let mut diagnostic = match self.policy(one.name) {
                UnresolvedPolicy::Warn => Diagnostic::warning(cause, text),
                _ => Diagnostic::error(cause, text).tolerable(),
            };
            diagnostic = diagnostic.of_symbol(self.resolved.names.get(one.name).name);
            if i < limit {
                diagnostic = self.referrers(diagnostic, &one, &mut extents);
                let notes = self.causes(one.name, &elsewhere, i < SEARCHES);
                diagnostic = notes.into_iter().fold(diagnostic, Diagnostic::hint);
            }
            self.job.sink.push(diagnostic.at(i as u64));
        }
    }

    /// Options may allow what another module could define; they cannot make a loader look for what is
    /// not of default visibility, or for a version without the name of its library.
    fn policy(&self, id: SymbolId) -> UnresolvedPolicy {
        let entry = self.resolved.names.get(id);
        if entry.flags & flag::INSIDE != 0 || symver::split(entry.name).is_some() {
            return UnresolvedPolicy::Error;
        }
        if is_ignored(self.job.options, entry.name) {
            return UnresolvedPolicy::Ignore;
        }
        self.job.options.symbols.unresolved
    }

    fn is_ignored(&self, id: SymbolId) -> bool {
        self.policy(id) == UnresolvedPolicy::Ignore
    }

    fn cause(&self, id: SymbolId) -> Cause {
        match self.resolved.names.get(id).name {
            _ if self.symbols[id].has(symbol_flags::IN_DISCARDED) => Cause::DiscardedSymbol,
            name if name.starts_with(b"_ZTV") => Cause::UndefinedVtable,
            _ => Cause::UndefinedSymbol,
        }
    }

    fn headline(&self, id: SymbolId) -> String {
        let entry = self.resolved.names.get(id);
        let name = shown(self.job.options, entry.name);
        if self.symbols[id].has(symbol_flags::IN_DISCARDED) {
            return format!("symbol is defined only in a discarded section: {name}");
        }
        let visibility = [
            (flag::VIS_INTERNAL, "internal "),
            (flag::VIS_HIDDEN, "hidden "),
            (flag::VIS_PROTECTED, "protected "),
        ];
        let visibility = visibility.iter().find(|(bit, _)| entry.flags & bit != 0).map_or("", |v| v.1);
        format!("undefined {visibility}symbol: {name}")
    }

    fn referrers(
        &self,
        mut diagnostic: Diagnostic,
        missing: &undefined::Undefined<&UndefinedRef>,
        extents: &mut HashMap<ObjectId, Extents>,
    ) -> Diagnostic {
        for reference in missing.shown() {
            let object = &self.resolved.objects[reference.object.index()];
            let offset = self.offset(reference);
            let extents = extents.entry(reference.object).or_insert_with(|| Extents::of(object));
            let text = extents.reference(self.job.options, object, reference.shndx, offset);
            let place = place::of(reference.object, reference.shndx, offset);
            let spot = Spot {
                function: extents.owner_name(self.job.options, object, place),
                place: Some(place),
                ..object.at_byte(reference.shndx, offset).spot()
            };
            diagnostic = diagnostic.note(format!("referenced by {text}")).place(place).referrer(spot);
        }
        match missing.others() {
            0 => diagnostic,
            1 => diagnostic.note("referenced 1 more time"),
            n => diagnostic.note(format!("referenced {n} more times")),
        }
    }

    fn causes(&self, id: SymbolId, elsewhere: &Elsewhere, search: bool) -> Vec<String> {
        let entry = self.resolved.names.get(id);
        if self.symbols[id].has(symbol_flags::IN_DISCARDED) {
            return self.discarded(entry);
        }
        let mut notes = hints::out_of_reach(self, entry, elsewhere);
        notes.extend(self.removed_bounds(entry.name));
        notes.extend(hints::missing(entry.name));
        if notes.is_empty() && search {
            notes.extend(hints::similar(self, entry));
        }
        notes
    }

    /// `__start_X` of sections that were not kept.
    fn removed_bounds(&self, name: &[u8]) -> Option<String> {
        let section = name.strip_prefix(b"__start_").or(name.strip_prefix(b"__stop_"))?;
        self.sections.bins.contains(&section).then(|| {
            let section = String::from_utf8_lossy(section);
            format!(
                "no section '{section}' is left; -z nostart-stop-gc keeps those whose bounds are asked for"
            )
        })
    }

    fn offset(&self, reference: &UndefinedRef) -> u64 {
        let index = reference.object.index();
        let object = &self.resolved.objects[index];
        let section = self.sections.get(SectionId(object.section_base + reference.shndx));
        let relocs = self.sections.relocs(object, index, section);
        relocs.get(reference.reloc as usize).map_or(0, |r| r.r_offset())
    }

    fn discarded(&self, entry: &Entry) -> Vec<String> {
        let objects = &self.resolved.objects;
        let index = self.resolved.index_of_file[entry.file().index()];
        let Some(object) = objects.get(index as usize) else { return Vec::new() };
        let mut notes = match (entry.rank(), place::section_of(object, entry.sym())) {
            (Rank::Strong | Rank::Weak, Some((shndx, _))) => {
                discarded::notes(self.job.options, objects, self.sections, object, shndx)
            }
            _ => Vec::new(),
        };
        notes.extend(self.unread(entry));
        notes
    }

    /// Which members are read is settled before groups are compared.
    fn unread(&self, entry: &Entry) -> Option<String> {
        if entry.flags & flag::OFFERED == 0 {
            return None;
        }
        let unread = |file: &FileId| self.resolved.index_of_file[file.index()] == u32::MAX;
        let mut offers = self.inputs.provided().filter(|(name, _)| *name == entry.name);
        let file = offers.find(|(_, file)| unread(file))?.1;
        Some(format!(
            "{} defines it too, but is not read where an object has a definition, kept or not",
            self.inputs.name(file)
        ))
    }
}

/// `--defsym` and assignments in scripts whose value is the address of a symbol that has none.
pub fn aliases(job: &Job, resolved: &Resolved, symbols: &Symbols, internals: &Internals) {
    for internal in &internals.list {
        let Target::Alias(other, offset) = internal.target else { continue };
        let why = match symbols[other].kind() {
            symbol_flags::UNDEFINED => "is not defined",
            symbol_flags::SHARED => "is in a shared object, so that its address is not known",
            _ if offset != 0 && symbols[other].has(symbol_flags::IFUNC) => {
                "is an IFUNC, so that nothing can be added to its address"
            }
            _ => continue,
        };
        let name = shown(job.options, resolved.names.get(other).name);
        job.sink.error(Cause::RequiredSymbol, format!("{}: {name} {why}", internal.origin));
    }
}

/// `--require-defined`.
pub fn required(job: &Job, resolved: &Resolved, symbols: &Symbols) {
    for name in &job.options.symbols.require_defined {
        let id = resolved.names.find(name.as_bytes());
        if id.is_none_or(|id| symbols[id].is_undefined()) {
            let name = shown(job.options, name.as_bytes());
            job.sink.push(
                Diagnostic::error(Cause::RequiredSymbol, format!("--require-defined: {name} is not defined"))
                    .tolerable(),
            );
        }
    }
}
