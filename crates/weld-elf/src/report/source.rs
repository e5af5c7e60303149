//! Source lines from DWARF, for the places that errors speak of; and the functions and variables that these
//! lie in.
//!
//! What the debug sections of an object say is `weld_common::source_lines`'s to find out; here they are
//! decompressed and relocated for that. One object is looked at once for all the places in it, and only
//! objects that an error shown to the user speaks of are looked at.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use weld_common::diag::{Diagnostic, Diagnostics, Place, Severity};
use weld_common::source_lines::unlinked::{Addresses, UnlinkedLines};
use weld_common::text;

use crate::arch::class::Class;
use crate::compressed::Compressed;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::decode_relocs;
use crate::wording::detailed;
use crate::wording::place::Extents;

/// Adds source lines to the errors that a link ends with.
pub fn explain(job: &Job, resolved: &Resolved, mut diagnostics: Diagnostics) -> Diagnostics {
    add_lines(&mut diagnostics.list, job.options, resolved, detailed(job.options));
    diagnostics
}

/// Adds source lines to the warnings of a link that has come so far that there are no errors.
pub fn explain_warnings(job: &Job, resolved: &Resolved) {
    job.sink.amend(|list| add_lines(list, job.options, resolved, detailed(job.options)));
}

/// Adds source lines to warnings and to the first `limit` errors, and what their places lie in.
fn add_lines(list: &mut [Diagnostic], options: &Options, resolved: &Resolved, limit: usize) {
    // (diagnostic, number in its places) by object.
    let mut wanted: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
    let mut errors = 0;
    for (d, diagnostic) in list.iter().enumerate() {
        errors += usize::from(diagnostic.severity == Severity::Error);
        if errors <= limit || diagnostic.severity == Severity::Warning {
            for (p, (_, place)) in diagnostic.places.iter().enumerate() {
                wanted.entry(place.file).or_default().push((d, p));
            }
        }
    }
    let mut found: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (object, asked) in wanted {
        let Some(object) = resolved.objects.get(object as usize) else { continue };
        let places: Vec<Place> = asked.iter().map(|&(d, p)| list[d].places[p].1).collect();
        let lines = find(object, &places);
        let mut sources = None;
        let extents = OnceCell::new();
        let extents = || extents.get_or_init(|| Extents::of(object));
        for (at, line) in asked.into_iter().zip(lines) {
            let notes = found.entry(at).or_default();
            let place = list[at.0].places[at.1].1;
            let source = || {
                let sources: &Sources = sources.get_or_insert_with(|| Sources::of(object));
                sources.of_place(object, place, &extents).map(|name| format!("    in {name}"))
            };
            if let (Some(line), Some(facts)) = (&line, &mut list[at.0].facts) {
                facts.set_source(place, line);
            }
            notes.extend(line.map(|line| format!("    at {line}")).or_else(source));
            let diagnostic = &list[at.0];
            if diagnostic.tells_owner && at.1 == 0 {
                let owner = extents().owner(options, object, diagnostic.places[0].1);
                notes.extend(owner.map(|owner| format!("in {owner}")));
            }
        }
    }
    // Last first, so that the positions of the others stay right.
    for ((d, p), notes) in found.into_iter().rev() {
        let diagnostic = &mut list[d];
        let at = diagnostic.places[p].0.min(diagnostic.notes.len());
        diagnostic.notes.splice(at..at, notes);
    }
}

/// The files that an object was compiled from, as its symbol table says it (`STT_FILE`): all that is known of
/// them where there is no debug information. Symbols of a file follow its name.
struct Sources(Vec<(u32, String)>);

impl Sources {
    fn of(object: &Object) -> Sources {
        let files = object.syms.iter().enumerate().filter(|(_, symbol)| symbol.kind() == STT_FILE);
        let named = files.map(|(i, _)| (i as u32, text::text(object.symbol_name(i as u32)).into_owned()));
        Sources(
            named.filter(|(_, name)| !matches!(&name[..], "" | "-" | "<stdin>" | "<artificial>")).collect(),
        )
    }

    /// The file that a place belongs to, unless the name of the object tells it.
    fn of_place<'e>(&self, object: &Object, place: Place, extents: &dyn Fn() -> &'e Extents) -> Option<&str> {
        let name = match &self.0[..] {
            [] => return None,
            [(_, only)] => only,
            many => {
                let (index, _) = extents().enclosing(object, place.section, place.offset)?;
                let before = many.partition_point(|(file, _)| *file < index);
                &many[..before].last().filter(|_| index < object.first_global)?.1
            }
        };
        let base = name.rsplit('/').next().unwrap_or(name);
        let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
        let member = object.name.member.map(text::text);
        let object = member.as_deref().map_or(object.name.base(), |member| member);
        let is_told = object.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        (!is_told).then_some(name)
    }
}

/// `file:line` of each place in an object, as far as its debug information knows.
pub fn find(object: &Object, places: &[Place]) -> Vec<Option<String>> {
    let lines = lines_of(object);
    let extents = OnceCell::new();
    let line = |place: &Place| {
        let (section, offset) = (place.section, place.offset);
        if object.shdrs.get(section as usize).is_some_and(|s| s.sh_flags() & SHF_EXECINSTR != 0) {
            return lines.of_code(section as usize, offset);
        }
        let extents: &Extents = extents.get_or_init(|| Extents::of(object));
        let (_, variable) = extents.enclosing(object, section, offset)?;
        lines.of_variable(section as usize, variable.st_value())
    };
    places.iter().map(line).collect()
}

/// The debug sections of an object, decompressed and relocated.
fn lines_of<'a>(object: &Object<'a>) -> UnlinkedLines<'a> {
    let size = |shdr: &Shdr| (shdr.sh_flags() & SHF_ALLOC != 0).then_some(shdr.sh_size());
    let sizes = object.shdrs.iter().map(size);
    let addresses = Addresses::one_after_the_other(sizes, object.format().max_address());
    let mut list = Vec::new();
    let mut index_of = vec![usize::MAX; object.shdrs.len()];
    for (i, shdr) in object.shdrs.iter().enumerate() {
        let Some(name) = object.section_name(i) else { continue };
        let wanted = name.starts_with(b".debug_") && shdr.sh_flags() & SHF_GROUP == 0;
        if let (true, Some(bytes)) = (wanted, contents(object, i)) {
            index_of[i] = list.len();
            list.push((name, bytes));
        }
    }
    for (i, shdr) in object.shdrs.iter().enumerate() {
        let target = index_of.get(shdr.sh_info() as usize).and_then(|&t| list.get_mut(t));
        if let (SHT_RELA | SHT_REL | SHT_CREL, Some((_, bytes))) = (shdr.sh_type(), target) {
            relocate(object, &addresses, &decode_relocs(object, i).unwrap_or_default(), bytes.to_mut());
        }
    }
    UnlinkedLines::new(addresses, list, object.format().is_big())
}

fn contents<'a>(object: &Object<'a>, index: usize) -> Option<Cow<'a, [u8]>> {
    let bytes = object.section_data(index)?;
    if object.shdrs[index].sh_flags() & SHF_COMPRESSED == 0 {
        return Some(Cow::Borrowed(bytes));
    }
    Some(Cow::Owned(Compressed::parse(bytes, object.format()).ok()?.decompress().ok()?))
}

/// Writes absolute relocations, which is all that debug sections need to find their way.
fn relocate(object: &Object, addresses: &Addresses, relocs: &[Rela], bytes: &mut [u8]) {
    for reloc in relocs {
        if !matches!(object.machine.class(reloc.kind()), Class::Address | Class::Narrow) {
            continue;
        }
        let size = object.machine.width(reloc.kind());
        let value = value(object, addresses, reloc.sym()).wrapping_add(reloc.r_addend() as u64);
        let start = reloc.r_offset() as usize;
        let end = start.checked_add(size);
        if let Some(field) = end.and_then(|end| bytes.get_mut(start..end)) {
            object.format().put(field, value);
        }
    }
}

/// Sections in memory are apart; all others start at 0.
fn value(object: &Object, addresses: &Addresses, index: u32) -> u64 {
    let Some(symbol) = object.syms.get(index as usize) else { return 0 };
    match object.place(index, symbol) {
        SymbolPlace::Section(shndx) => match object.shdrs.get(shndx as usize) {
            Some(s) if s.sh_flags() & SHF_ALLOC != 0 => {
                addresses.of(shndx as usize, symbol.st_value()).unwrap_or(0)
            }
            _ => symbol.st_value(),
        },
        _ => 0,
    }
}
