//! What a link has to say: errors about symbols, and the reports that options ask for.

use std::collections::HashMap;

use weld_common::demangle::demangle;
use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::suggest::suggest;

use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::{Object, SymbolPlace};
use crate::input::sections::{SectionKind, Sections};
use crate::link::{Context, Job};
use crate::live::{Live, UndefinedRef};
use crate::options::UnresolvedPolicy;
use crate::resolve::Resolved;
use crate::resolve::names::Rank;
use crate::resolve::rules::Scripts;
use crate::resolve::symbols::{Symbols, sym};

/// How many places that refer to an undefined symbol are shown.
const REFERRERS: usize = 3;

/// Strong definitions of one name in two files.
pub fn duplicates(job: &Job, resolved: &Resolved, sections: &Sections) {
    if job.options.allow_multiple_definition {
        return;
    }
    for rival in &resolved.duplicates {
        let loser = &resolved.objects[resolved.index_of_file[rival.file.index()] as usize];
        let entry = resolved.names.get(rival.id);
        if entry.rank() != Rank::Strong || is_discarded(loser, rival.sym, sections) {
            continue;
        }
        let winner = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
        if is_discarded(winner, entry.sym(), sections) {
            continue;
        }
        // Equal absolute values are no contradiction.
        let (a, b) = (&winner.syms[entry.sym() as usize], &loser.syms[rival.sym as usize]);
        if a.st_shndx() == SHN_ABS && b.st_shndx() == SHN_ABS && a.st_value() == b.st_value() {
            continue;
        }
        let diagnostic = Diagnostic::error(format!("duplicate symbol: {}", demangle(entry.name)))
            .at((rival.file.0 as u64) << 32 | rival.sym as u64)
            .note(format!("defined at {}", definition_place(winner, entry.sym())))
            .note(format!("defined at {}", definition_place(loser, rival.sym)));
        job.sink.push(diagnostic);
    }
}

fn is_discarded(object: &Object, index: u32, sections: &Sections) -> bool {
    match object.place(index, &object.syms[index as usize]) {
        SymbolPlace::Section(s) if (s as usize) < object.shdrs.len() => {
            sections.list[(object.section_base + s) as usize].kind() == SectionKind::Discarded
        }
        _ => false,
    }
}

fn definition_place(object: &Object, index: u32) -> String {
    let symbol = &object.syms[index as usize];
    match object.place(index, symbol) {
        SymbolPlace::Section(s) => {
            format!("{}:({}+{:#x})", object.name, object.section_label(s as usize), symbol.st_value())
        }
        _ => object.name.to_string(),
    }
}

/// References that nothing defines, one diagnostic a symbol.
pub fn undefined(job: &Job, context: &Context, resolved: &Resolved, symbols: &Symbols, live: &Live) {
    let policy = job.options.unresolved;
    if policy == UnresolvedPolicy::Ignore {
        return;
    }
    let mut order = Vec::new();
    let mut by_symbol: HashMap<SymbolId, Vec<&UndefinedRef>> = HashMap::new();
    for reference in &live.undefined {
        by_symbol.entry(reference.symbol).or_insert_with(|| {
            order.push(reference.symbol);
            Vec::new()
        });
        if let Some(list) = by_symbol.get_mut(&reference.symbol) {
            list.push(reference);
        }
    }
    let suggestions = order.len() <= 20;
    for id in order {
        let references = &by_symbol[&id];
        let entry = resolved.names.get(id);
        let symbol = &symbols[id];
        let what = if symbol.has(sym::IN_DISCARDED) {
            "symbol is defined only in a discarded section"
        } else if symbol.has(sym::HIDDEN) && entry.rank() == Rank::Provided {
            "undefined hidden symbol"
        } else {
            "undefined symbol"
        };
        let text = format!("{what}: {}", demangle(entry.name));
        let mut diagnostic = match policy {
            UnresolvedPolicy::Warn => Diagnostic::warning(text),
            _ => Diagnostic::error(text),
        };
        diagnostic = diagnostic.at((references[0].object.0 as u64) << 32 | references[0].reloc as u64);
        for reference in references.iter().take(REFERRERS) {
            diagnostic = diagnostic.note(format!("referenced by {}", reference_place(resolved, reference)));
        }
        if references.len() > REFERRERS {
            diagnostic = diagnostic.note(format!("referenced {} more times", references.len() - REFERRERS));
        }
        if suggestions {
            let defined = resolved
                .names
                .iter()
                .filter(|(i, e)| e.rank() < Rank::Undefined && !symbols[*i].is_undefined());
            if let Some(hint) = suggest(entry.name, defined.map(|(_, e)| e.name)) {
                diagnostic = diagnostic.note(format!("did you mean: {hint}"));
            }
        }
        job.sink.push(diagnostic);
    }
    let _ = context;
}

/// `file:(function): (section+offset)` of a reference.
fn reference_place(resolved: &Resolved, reference: &UndefinedRef) -> String {
    let object = &resolved.objects[reference.object.index()];
    let section = object.section_label(reference.shndx as usize);
    let offset = relocation_offset(object, reference).unwrap_or(0);
    let function = enclosing_function(object, reference.shndx, offset);
    match function {
        Some(name) => format!("{}:({section}+{offset:#x}) (function {name})", object.name),
        None => format!("{}:({section}+{offset:#x})", object.name),
    }
}

fn relocation_offset(object: &Object, reference: &UndefinedRef) -> Option<u64> {
    let of_section = |s: &&Shdr| s.sh_type() == SHT_RELA && s.sh_info() == reference.shndx;
    let shdr = object.shdrs.iter().find(of_section)?;
    let relocs: &[Rela] = table(object.data, shdr.sh_offset(), shdr.sh_size() / Rela::SIZE as u64)?;
    Some(relocs.get(reference.reloc as usize)?.r_offset())
}

/// The function symbol that covers an offset of a section.
fn enclosing_function(object: &Object, shndx: u32, offset: u64) -> Option<String> {
    let covers = |(i, s): &(usize, &Sym)| {
        s.kind() == STT_FUNC
            && object.place(*i as u32, s) == SymbolPlace::Section(shndx)
            && s.st_value() <= offset
            && offset - s.st_value() < s.st_size().max(1)
    };
    let (index, _) = object.syms.iter().enumerate().find(covers)?;
    Some(demangle(object.symbol_name(index as u32)).into_owned())
}

/// Names that a version script spells out but nothing defines.
pub fn undefined_versions(job: &Job, resolved: &Resolved, symbols: &Symbols, scripts: &Scripts) {
    if job.options.undefined_version {
        return;
    }
    for (node, pattern) in scripts.versions.exact_globals() {
        let defined = |name: &[u8]| {
            let id = resolved.names.find(name);
            id.is_some_and(|id| !matches!(symbols[id].kind(), sym::UNDEFINED | sym::SHARED))
        };
        if pattern.cxx || defined(&pattern.text) {
            continue;
        }
        let name = String::from_utf8_lossy(&pattern.text);
        let version = if node.name.is_empty() { "global".to_owned() } else { node.shown_name() };
        let text = format!(
            "{}:{}: version script gives version '{version}' to '{name}', which is not defined",
            node.path, pattern.line
        );
        job.sink.push(Diagnostic::error(text));
    }
}

/// `--print-gc-sections`.
pub fn removed_sections(job: &Job, resolved: &Resolved, sections: &Sections, live: &Live) {
    let mut text = String::new();
    for object in &resolved.objects {
        for shndx in 1..object.shdrs.len() as u32 {
            let id = SectionId(object.section_base + shndx);
            if sections.get(id).in_image() && !live.contains(id) {
                text += &format!(
                    "removing unused section {}:({})\n",
                    object.name,
                    object.section_label(shndx as usize)
                );
            }
        }
    }
    job.host.print(&text);
}

/// Reports on the finished image: maps, cross references, dependencies.
pub fn outputs(_job: &Job, _image: &Image, _context: &Context) -> Result<(), Diagnostics> {
    Ok(())
}

/// `--stats` and `--time-trace`.
pub fn finish_trace(job: &Job) -> Result<(), Diagnostics> {
    if job.options.stats {
        job.host.print(&job.trace.stats());
    }
    if let Some(path) = &job.options.time_trace {
        std::fs::write(path, job.trace.to_json())
            .map_err(|e| Diagnostic::error(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}
