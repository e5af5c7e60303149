//! From pieces with the names that files have for them to pieces of a [`Model`].
//!
//! Names are demangled, and stripped to what they are instances of, by all threads: a large program has a
//! million, which is most of the work that a page is. A section that is called for its symbol
//! (`.text._ZN3fooEv`) is so with the demangled name (`.text.foo()`), which is easier to read, and of which only what is in
//! front has to be kept: such names were a third of large pages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use weld_common::text::text;
use weld_common::{par, trace};

use crate::model::{InputSection, Model, Piece, Ref, Role};
use crate::names::many::{Found, Texts};
use crate::names::{Name, presentable};
use crate::spelling::instance;

/// Names that one task spells.
const RUN: usize = 2048;

/// A piece whose names are still those of the file.
#[derive(Clone, Copy)]
pub struct Draft<'a> {
    pub piece: Piece,
    /// The symbol's name, mangled; empty if there is none. The piece's own is used then.
    pub symbol: &'a [u8],
}

impl<'a> Draft<'a> {
    /// A piece that nobody brought and that has no name.
    pub fn plain(role: Role, size: u64) -> Draft<'a> {
        Draft { piece: Piece { role, size, ..Piece::default() }, symbol: &[] }
    }
}

/// Gives pieces, whose sizes are those of what they cover of a section one after the other, their bytes in the
/// file and in memory: either may have fewer of the section than the other.
pub fn divide(drafts: &mut [Draft], in_file: u64, in_memory: u64) {
    let mut at = 0u64;
    for Draft { piece, .. } in drafts {
        let end = at + piece.size;
        piece.size = end.min(in_file) - at.min(in_file);
        piece.memory = end.min(in_memory) - at.min(in_memory);
        at = end;
    }
}

/// How symbols are spelled.
#[derive(Clone, Copy)]
pub struct Spelling<'s> {
    /// A symbol's name for people.
    pub shown: &'s (dyn for<'n> Fn(&'n [u8]) -> Cow<'n, str> + Sync),
    pub parallel: bool,
}

/// Slots that a draft has in [`Texts`]: its name, and what it is an instance of.
const SLOTS: usize = 2;

/// The names of a run.
struct Spelled {
    texts: Texts,
    sections: SectionsOf,
    /// Whether each name ends with a hash that stands for the arguments of a generic, if it is one's.
    hides_arguments: Vec<bool>,
}

/// What input sections are called in files, by row; nothing of those that have a name already.
pub type SectionNames<'n> = dyn Fn(usize) -> &'n [u8] + Sync + 'n;

/// Appends the pieces to the model, list by list, and names its input sections.
pub fn add(model: &mut Model, drafts: Vec<Vec<Draft>>, sections: &SectionNames, spelling: Spelling) {
    let cut = |(list, drafts): (usize, &Vec<Draft>)| {
        let count = drafts.len();
        (0..count).step_by(RUN).map(move |start| (list, start..count.min(start + RUN)))
    };
    let places: Vec<(usize, Range<usize>)> = drafts.iter().enumerate().flat_map(cut).collect();
    let runs = par::runs("demangle names", spelling.parallel, places.len(), 1, |runs| {
        let one = |run: usize| {
            let (list, range) = &places[run];
            let before =
                run.checked_sub(1).and_then(|before| drafts[places[before].0].get(..places[before].1.end));
            let before = before.and_then(|drafts| drafts.last()).map(|draft| draft.piece.input);
            Spelled::of(&drafts[*list][range.clone()], before, sections, spelling)
        };
        runs.map(one).collect::<Vec<_>>()
    });
    let (texts, others): (Vec<Texts>, Vec<_>) = runs
        .into_iter()
        .flatten()
        .map(|spelled| (spelled.texts, (spelled.sections, spelled.hides_arguments)))
        .unzip();
    let found = model.names.find_many(&texts, spelling.parallel);
    let numbering = trace::stretch("number names");
    model.pieces.reserve(drafts.iter().map(Vec::len).sum());
    model.names.reserve(&texts);
    let mut numbers =
        Numbering { found, runs: texts.into_iter(), others: others.into_iter(), seen: HashMap::new() };
    drafts.into_iter().for_each(|list| numbers.list(model, list));
    model.names.end_many(&numbers.found);
    drop(numbering);
    for row in 0..model.inputs.len() {
        if model.inputs[row].name.is_none() {
            model.inputs[row].name = model.names.add(&text(sections(row)));
        }
    }
}

/// Gives names their numbers, by the order of pieces.
struct Numbering<I, O> {
    found: Found,
    /// The texts of runs that are still to come.
    runs: I,
    others: O,
    /// Of names that hide arguments, the first piece: more of the same name are instances of one generic.
    seen: HashMap<Name, usize>,
}

impl<I: Iterator<Item = Texts>, O: Iterator<Item = (SectionsOf, Vec<bool>)>> Numbering<I, O> {
    /// Appends the pieces of a list.
    fn list(&mut self, model: &mut Model, drafts: Vec<Draft>) {
        for run in drafts.chunks(RUN) {
            let (Some(texts), Some((sections, hides))) = (self.runs.next(), self.others.next()) else {
                return;
            };
            let mut named: Vec<Option<Name>> = vec![None; sections.texts.len()];
            for (i, (draft, hides)) in run.iter().zip(hides).enumerate() {
                let piece = self.piece(model, draft.piece, (&texts, i * SLOTS), hides);
                // A section is called for the first piece of it.
                let unnamed = piece.input.row().filter(|row| model.inputs[*row].name.is_none());
                let Some((row, (text, is_of_symbol))) = unnamed.zip(sections.of_pieces[i]) else { continue };
                let text = text as usize;
                let name = *named[text].get_or_insert_with(|| model.names.add(&sections.texts[text]));
                let symbol = if is_of_symbol { piece.name } else { Name::NONE };
                model.inputs[row] = InputSection { name, symbol, ..model.inputs[row] };
            }
            self.found.next_run(&mut model.names, texts);
        }
    }

    /// Appends a piece whose names begin with slot `at`, and returns it.
    fn piece(
        &mut self,
        model: &mut Model,
        mut piece: Piece,
        (texts, at): (&Texts, usize),
        hides: bool,
    ) -> Piece {
        let name = self.found.number(&mut model.names, texts, at);
        piece.name = if name.is_none() { piece.name } else { name };
        let instance = self.found.number(&mut model.names, texts, at + 1);
        piece.instance = if instance.is_none() { piece.instance } else { instance };
        if hides && piece.instance.is_none() {
            let first = *self.seen.entry(piece.name).or_insert(model.pieces.len());
            if let Some(first) = model.pieces.get_mut(first) {
                first.instance = piece.name;
                piece.instance = piece.name;
            }
        }
        model.pieces.push(piece);
        piece
    }
}

/// What the sections of a run are called.
#[derive(Default)]
struct SectionsOf {
    /// Each once.
    texts: Vec<String>,
    /// By piece: which of them its section is called, and whether the piece's name stands behind it; of pieces that are
    /// not the first of a section, none.
    of_pieces: Vec<Option<(u32, bool)>>,
}

/// The numbers of texts of [`SectionsOf`].
#[derive(Default)]
struct Known<'n> {
    numbers: HashMap<&'n [u8], u32>,
    /// The one that was last asked for, which most ask for again.
    last: Option<(&'n [u8], u32)>,
}

impl<'n> Known<'n> {
    fn number(&mut self, text: &'n [u8], texts: &mut Vec<String>) -> u32 {
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == text) {
            return number;
        }
        let number = *self.numbers.entry(text).or_insert_with(|| {
            texts.push(presentable(&self::text(text)).into_owned());
            texts.len() as u32 - 1
        });
        self.last = Some((text, number));
        number
    }
}

impl Spelled {
    /// The names of a run. `before`: the section of the piece before it.
    fn of(drafts: &[Draft], mut before: Option<Ref>, sections: &SectionNames, spelling: Spelling) -> Spelled {
        let (texts, count) = (Texts::with_capacity(drafts.len() * SLOTS), drafts.len());
        let hides_arguments = Vec::with_capacity(count);
        let mut spelled = Spelled { texts, sections: SectionsOf::default(), hides_arguments };
        spelled.sections.of_pieces.reserve(count);
        let mut known = Known::default();
        for Draft { piece, symbol } in drafts {
            let has_name = spelled.spell(symbol, spelling);
            let is_first = before != Some(piece.input);
            let section = piece.input.row().filter(|_| is_first).map_or(&[][..], sections);
            let front = section.strip_suffix(*symbol).filter(|front| has_name && !front.is_empty());
            let SectionsOf { texts, of_pieces } = &mut spelled.sections;
            of_pieces.push(match front {
                _ if section.is_empty() => None,
                Some(front) => Some((known.number(front, texts), true)),
                None => Some((known.number(section, texts), false)),
            });
            before = Some(piece.input);
        }
        spelled.texts.close();
        spelled
    }

    /// Adds a symbol, which may be empty. Whether it has a name.
    fn spell(&mut self, symbol: &[u8], spelling: Spelling) -> bool {
        let shown = if symbol.is_empty() { Cow::Borrowed("") } else { (spelling.shown)(symbol) };
        let name = presentable(&shown);
        self.texts.put(&name);
        match instance(&shown) {
            Some(instance) if !name.is_empty() => self.texts.put(&presentable(&instance)),
            _ => self.texts.put(""),
        }
        self.hides_arguments.push(!name.is_empty() && has_hash(symbol) && shown.as_bytes() != symbol);
        !name.is_empty()
    }
}

/// Whether it is a name of Rust's older scheme: `_ZN…17h0123456789abcdefE`.
fn has_hash(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"_ZN") else { return false };
    let Some(hash) = rest.strip_suffix(b"E").and_then(|rest| rest.last_chunk::<19>()) else { return false };
    hash.starts_with(b"17h") && hash[3..].iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(symbols: &[&str], demangle: bool) -> Model {
        let mut model = Model::default();
        let draft = |symbol: &&'static str| Draft {
            piece: Piece { size: 1, ..Piece::default() },
            symbol: symbol.as_bytes(),
        };
        let symbols: Vec<&'static str> =
            symbols.iter().map(|s| &*Box::leak(s.to_string().into_boxed_str())).collect();
        let drafts: Vec<Draft> = symbols.iter().map(draft).collect();
        add(
            &mut model,
            vec![drafts],
            &|_| &[],
            Spelling {
                shown: &|name| {
                    if demangle {
                        weld_common::demangle::demangle(name)
                    } else {
                        weld_common::text::text(name)
                    }
                },
                parallel: false,
            },
        );
        model
    }

    #[test]
    fn the_file_and_memory_have_their_share() {
        let mut drafts = [3, 4, 5].map(|size| Draft::plain(Role::Contents, size));
        divide(&mut drafts, 5, 100);
        assert_eq!(drafts.map(|draft| (draft.piece.size, draft.piece.memory)), [(3, 3), (2, 4), (0, 5)]);
        let mut drafts = [3, 4, 5].map(|size| Draft::plain(Role::Contents, size));
        divide(&mut drafts, 12, 4);
        assert_eq!(drafts.map(|draft| (draft.piece.size, draft.piece.memory)), [(3, 3), (4, 1), (5, 0)]);
    }

    #[test]
    fn names_and_instances() {
        let model = model(&["", "main", "_ZN3BoxIiE3getEv", "main"], true);
        let names: Vec<&str> = model.pieces.iter().map(|piece| model.names.get(piece.name)).collect();
        assert_eq!(names, ["", "main", "Box<int>::get()", "main"]);
        let of: Vec<&str> = model.pieces.iter().map(|piece| model.names.get(piece.instance)).collect();
        assert_eq!(of, ["", "", "Box<…>::get", ""]);
    }

    #[test]
    fn generics_whose_names_hide_their_arguments() {
        let name = |hash: char| format!("_ZN3foo3bar17h{}E", hash.to_string().repeat(16));
        let model = model(&[&name('a'), "_ZN3foo3baz17h0123456789abcdefE", &name('b')], true);
        let of: Vec<&str> = model.pieces.iter().map(|piece| model.names.get(piece.instance)).collect();
        assert_eq!(
            of,
            ["foo::bar", "foo::baz", "foo::bar"][..1]
                .iter()
                .copied()
                .chain(["", "foo::bar"])
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn sections_that_are_called_for_symbols() {
        let mut model = Model::default();
        let of = |row: usize, symbol: &'static str| Draft {
            piece: Piece { input: Ref::to(row), size: 1, ..Piece::default() },
            symbol: symbol.as_bytes(),
        };
        let known = model.names.add("known");
        model.inputs = vec![InputSection::default(); 5];
        model.inputs[4].name = known;
        // The second symbol of a section does not name it, and a section without pieces has a name, too.
        let drafts = [of(0, "_Z3onev"), of(0, "_Z3twov"), of(1, "main"), of(2, ""), of(4, "_Z3onev")];
        let sections: [&[u8]; 5] = [b".text._Z3onev", b".text", b".rodata._Z3onev", b".data._Z3twov", b""];
        let shown = |name: &[u8]| Cow::Owned(weld_common::demangle::demangle(name).into_owned());
        add(
            &mut model,
            vec![drafts.to_vec()],
            &|row| sections[row],
            Spelling { shown: &|name| shown(name), parallel: false },
        );
        let names: Vec<Cow<str>> = (0..5).map(|row| model.section_name(row)).collect();
        assert_eq!(names, [".text.one()", ".text", ".rodata._Z3onev", ".data._Z3twov", "known"]);
    }

    #[test]
    fn names_as_they_are() {
        let model = model(&["_Z1fi"], false);
        assert_eq!(model.names.get(model.pieces[0].name), "_Z1fi");
    }
}
