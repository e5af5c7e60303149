//! Symbols that nobody defines, with who refers to them.
//!
//! Only a link that fails comes here, or one that goes on without them: it looks through the names of all
//! objects, and of those that know a missing one through the relocations.

use std::borrow::Cow;

use object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic, Spot};
use weld_common::resolve::undefined::by_name;
use weld_common::{par, text, zeroed};

use crate::ids::SymbolId;
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::symbol_names::flag;
use crate::wording::source::Sources;
use crate::wording::{place, two_lines};

/// Reports `missing` names: warnings if the link goes on (`force`).
pub fn report(resolved: &Resolved, missing: &[SymbolId], options: &Options, parallel: bool, sink: &DiagSink) {
    if missing.is_empty() {
        return;
    }
    let numbers = Numbers::of(missing, resolved.names.id_bound());
    let one = |object: usize| referrers(&resolved.objects[object], &numbers);
    let found: Vec<Vec<Referrer>> = par::map(parallel, resolved.objects.len(), one);
    let references = (0..).zip(&found).flat_map(|(object, list)| {
        let one =
            move |referrer: &Referrer| (missing[referrer.missing], Reference { object, referrer: *referrer });
        list.iter().map(one)
    });
    let mut sources = Sources::default();
    for one in by_name(missing.iter().copied(), references) {
        let entry = resolved.names.get(one.name);
        let is_root = one.references.is_empty() && entry.flags & flag::ROOT != 0;
        let alternate = resolved.alternates.iter().find(|(from, _)| *from == one.name);
        // What only /alternatename asks for is told where it would have helped. The helper of late loading
        // the linker asks for.
        let stands_in =
            |(from, to): &(SymbolId, SymbolId)| *to == one.name && numbers.of_name(*from).is_some();
        let is_helper = resolved.program.delay_helper == Some(one.name);
        if one.references.is_empty() && !is_root && !is_helper && resolved.alternates.iter().any(stands_in) {
            continue;
        }
        // What the command line asks for, nobody refers to.
        let root = if is_root { "<root>: " } else { "" };
        let text = format!("{root}undefined symbol: {}", options.shown(entry.name));
        let cause = match entry.name.starts_with(b"??_7") {
            true => Cause::UndefinedVtable,
            false => Cause::UndefinedSymbol,
        };
        let problem = if options.force.unresolved {
            Diagnostic::warning(cause, text)
        } else {
            Diagnostic::error(cause, text)
        };
        let mut problem =
            problem.of_symbol(entry.name).at(one.references.first().map_or(0, Reference::order));
        for Reference { object, referrer } in one.shown() {
            let object = &resolved.objects[*object as usize];
            let lines = referrer.lines(object, &mut sources, options);
            problem = lines.into_iter().fold(problem, Diagnostic::note);
            problem = problem.referrer(referrer.spot(object, &mut sources));
        }
        if let Some((_, to)) = alternate {
            let to = options.shown(resolved.names.get(*to).name);
            problem = problem.note(format!("nor is {to} defined, which /alternatename puts in its place"));
        }
        if one.others() > 0 {
            problem = problem.note(format!("referenced {} more times", one.others()));
        }
        sink.push(problem);
    }
}

/// Which names are missing: of each name its number in their list, from 1, and 0 for the others. Every
/// reference of large objects is looked up here.
struct Numbers(Vec<u32>);

impl Numbers {
    fn of(missing: &[SymbolId], names: usize) -> Numbers {
        let mut numbers = zeroed::sparse(names);
        for (number, id) in (1..).zip(missing) {
            numbers[id.index()] = number;
        }
        Numbers(numbers)
    }

    #[inline]
    fn of_name(&self, id: SymbolId) -> Option<usize> {
        self.0[id.index()].checked_sub(1).map(|number| number as usize)
    }
}

/// A reference, and the position of its object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    object: u32,
    referrer: Referrer,
}

impl Reference {
    /// Names come in the order in which objects list them; before them those that only the command line
    /// wants.
    fn order(&self) -> u64 {
        (u64::from(self.object) + 1) << 32 | u64::from(self.referrer.symbol)
    }
}

/// Where an object refers to one of the names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Referrer {
    /// The number of the name, and of the object's symbol.
    missing: usize,
    symbol: u32,
    /// Section and offset; some objects have a symbol in their tables only.
    place: Option<(u32, u32)>,
}

impl Referrer {
    /// The same for programs.
    fn spot<'o, 'a>(&self, object: &'o Object<'a>, sources: &mut Sources<'o, 'a>) -> Spot {
        let file = Spot::of_file(object.name.to_string());
        let Some((section, offset)) = self.place else { return file };
        let name =
            object.coff.sections.get(section as usize - 1).and_then(|s| object.coff.section_name(s).ok());
        Spot {
            section: name.map(|name| text::text(name).into_owned()),
            offset: Some(offset.into()),
            source: sources.line(object, section, offset),
            ..file
        }
    }

    /// The lines that say where.
    fn lines<'o, 'a>(
        &self,
        object: &'o Object<'a>,
        sources: &mut Sources<'o, 'a>,
        options: &Options,
    ) -> Vec<String> {
        let Some((section, offset)) = self.place else {
            let source = object.code.filter(|source| !source.is_empty()).map(text::text);
            return two_lines("referenced by", source.map(Cow::into_owned), &object.name.to_string());
        };
        let line = sources.line(object, section, offset);
        two_lines("referenced by", line, &place(object, section as i32, offset, options))
    }
}

fn referrers(object: &Object, numbers: &Numbers) -> Vec<Referrer> {
    let mut list: Vec<Referrer> = Vec::new();
    let missing = |index: u32| numbers.of_name(object.global(index)?);
    let symbols = object.numbered_globals().filter_map(|(symbol, id)| Some((numbers.of_name(id)?, symbol)));
    let symbols: Vec<(usize, u32)> = symbols.collect();
    if symbols.is_empty() {
        return list;
    }
    for (section, header) in (1..).zip(object.coff.sections) {
        for relocation in object.coff.relocations(header).unwrap_or_default() {
            let symbol = relocation.symbol_table_index.get(LE);
            if let Some(missing) = missing(symbol) {
                let place = Some((section, relocation.virtual_address.get(LE)));
                list.push(Referrer { missing, symbol, place });
            }
        }
    }
    let mut seen: Vec<usize> = list.iter().map(|referrer| referrer.missing).collect();
    seen.sort_unstable();
    for (missing, symbol) in symbols.into_iter().filter(|(missing, _)| seen.binary_search(missing).is_err()) {
        list.push(Referrer { missing, symbol, place: None });
    }
    list
}
