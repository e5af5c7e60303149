//! Symbols, lines and source files of all modules.
//!
//! Sections are read twice. [`scan`], when types have their numbers, finds how many bytes each module gets,
//! what of it goes to the global symbols, and which names of files it uses; nothing of that depends on
//! addresses. [`mod@write`], when the image has been laid out, copies every record to its place, relocated,
//! with the numbers of types and the places of scopes put in. A module is cut into units that are read and
//! written by themselves ([`scan::Cut`]).
//!
//! Between the two, equal names of types and equal constants of all modules become one, like types do
//! (`unique`), and everything gets its place by sums over what is before it.

pub mod frames;
pub mod globals;
pub mod scan;
pub mod walk;
pub mod write;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::par;

use crate::injected::{self, Injected};
use crate::input::{Module, Sources};
use crate::strings::Strings;
use crate::types::Types;
use scan::Scanned;

/// What modules have, ready to be laid out.
pub struct Symbols<'a> {
    pub modules: &'a [Module<'a>],
    pub scanned: Vec<Scanned<'a>>,
    pub strings: Strings<'a>,
    /// Bytes of all records of global symbols.
    pub global_bytes: u32,
    /// What a later link wants to know is kept.
    pub keeps: bool,
    pub(crate) injected: Vec<Injected<'a>>,
}

impl<'a> Symbols<'a> {
    /// One module, of which everything is known but what is written.
    pub(crate) fn of_one(modules: &'a [Module<'a>], scanned: Scanned<'a>) -> Symbols<'a> {
        let (strings, injected) = (Strings::default(), Vec::new());
        Symbols { modules, scanned: vec![scanned], strings, global_bytes: 0, keeps: true, injected }
    }

    /// How many global symbols there are in the end.
    pub fn global_count(&self) -> u64 {
        let of_module = |module: &Scanned| module.globals.iter().filter(|global| global.is_kept()).count();
        self.scanned.iter().map(|module| of_module(module) as u64).sum()
    }

    /// Bytes of the symbols of all modules.
    pub fn module_bytes(&self) -> u64 {
        self.scanned.iter().map(|module| u64::from(module.total().symbols)).sum()
    }

    /// Reads all modules. One whose debug information is malformed gets a warning in `sink`, and none of it.
    ///
    /// # Errors
    /// If there is more than a PDB can have.
    pub fn scan(
        modules: &'a [Module<'a>],
        types: &Types<'_>,
        sources: Sources<'a>,
        parallel: bool,
        sink: &DiagSink,
    ) -> Result<Symbols<'a>, Diagnostic> {
        let scanned = par::runs("scan symbols", parallel, modules.len(), 1, |range| {
            range.map(|i| scan::module(&modules[i], types, sources.keeps)).collect::<Vec<_>>()
        });
        let mut scanned: Vec<Scanned<'a>> = scanned.into_iter().flatten().collect();
        warn(modules, &scanned, sink);
        let global_bytes = globals::place(&mut scanned, parallel)?;
        let mut uses: Vec<_> = scanned.iter_mut().map(|module| &mut module.names).collect();
        let mut strings = Strings::collect(&mut uses, sources.root, parallel)?;
        let injected = inject(&mut strings, sources.injected)?;
        Ok(Symbols { modules, scanned, strings, global_bytes, keeps: sources.keeps, injected })
    }
}

/// Adds the names of files that are to be in the PDB.
fn inject<'a>(
    strings: &mut Strings<'a>,
    files: &[(&'a str, &'a [u8])],
) -> Result<Vec<Injected<'a>>, Diagnostic> {
    let one = |&(name, contents): &(&'a str, &'a [u8])| {
        let key = injected::key(name);
        let name_at = strings.add(name.as_bytes().into())?;
        let key_at = strings.add(key.clone().into_bytes().into())?;
        Ok(Injected { key, key_at, name_at, contents })
    };
    files.iter().map(one).collect()
}

/// Says what is malformed, module by module, and what is left out, kind by kind.
fn warn(modules: &[Module<'_>], scanned: &[Scanned<'_>], sink: &DiagSink) {
    let mut left_out: Vec<(&'static str, u32, usize, u32)> = Vec::new();
    for (i, (module, scanned)) in modules.iter().zip(scanned).enumerate() {
        if let Some(fault) = &scanned.fault {
            let text = format!("Cannot use debug info for '{}'", module.name);
            sink.push(Diagnostic::warning(Cause::DebugInfo, text).note(fault.to_string()).at(i as u64));
        }
        if scanned.unknown_types > 0 {
            let (name, count) = (module.name, scanned.unknown_types);
            let text =
                format!("{name}: {count} references of symbols to types that the object does not have");
            sink.push(Diagnostic::warning(Cause::DebugInfo, text).at(i as u64));
        }
        if scanned.has_empty_symbols {
            sink.push(
                Diagnostic::warning(Cause::DebugInfo, format!("empty symbols subsection: {}", module.name))
                    .at(i as u64),
            );
        }
        for &(what, kind) in &scanned.left_out {
            match left_out.iter_mut().find(|known| (known.0, known.1) == (what, kind)) {
                Some(known) => known.3 += 1,
                None => left_out.push((what, kind, i, 0)),
            }
        }
    }
    for (what, kind, first, more) in left_out {
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!("{}{others}: ignoring {what} kind 0x{kind:X}", modules[first].name);
        sink.push(Diagnostic::warning(Cause::DebugInfo, text).at(first as u64));
    }
}
