//! What a message says, in parts: for programs that read messages, and would have to guess at its words.
//!
//! Whoever finds something wrong knows these anyway. They are kept where there is something wrong only.

use std::fmt;

use super::{Diagnostic, Place};

/// Where something is, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// An input, as messages name it: a member of an archive as `archive(member)`.
    pub file: Option<String>,
    pub section: Option<String>,
    /// Bytes from the start of the section, or of the file if no section is named.
    pub offset: Option<u64>,
    /// The line, from 1, in a file that is text.
    pub line: Option<u32>,
    /// The function or variable there, for people.
    pub function: Option<String>,
    /// What it was compiled from, as `FILE:LINE`.
    pub source: Option<String>,
    /// The same place in numbers, by which its source line is looked up later.
    pub place: Option<Place>,
}

impl Spot {
    pub fn of_file(file: impl Into<String>) -> Spot {
        Spot { file: Some(file.into()), ..Spot::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Where it is wrong.
    pub at: Spot,
    /// The symbol that it is about, as it is in the files.
    pub symbol: Option<Vec<u8>>,
    /// The library that it is about, by the name that it was asked for.
    pub library: Option<String>,
    /// Who refers to the symbol; not all, if they are many.
    pub referrers: Vec<Spot>,
    /// Where the symbol is defined.
    pub definitions: Vec<Spot>,
    /// What may help.
    pub hints: Vec<String>,
}

impl Facts {
    /// Adds the source line of a place.
    pub fn set_source(&mut self, place: Place, source: &str) {
        let spots = [&mut self.at].into_iter().chain(&mut self.referrers).chain(&mut self.definitions);
        for spot in spots.filter(|spot| spot.place == Some(place)) {
            spot.source = Some(source.to_owned());
        }
    }
}

impl Diagnostic {
    fn facts(&mut self) -> &mut Facts {
        self.facts.get_or_insert_default()
    }

    /// Says where it is wrong.
    pub fn spot(mut self, spot: Spot) -> Self {
        let of_message = self.places.first().filter(|(notes, _)| *notes == 0).map(|(_, place)| *place);
        self.facts().at = Spot { place: spot.place.or(of_message), ..spot };
        self
    }

    /// Says which file it is about.
    pub fn in_file(self, file: impl fmt::Display) -> Self {
        self.spot(Spot::of_file(file.to_string()))
    }

    /// Says which line of a text it is about.
    pub fn in_line(self, file: impl Into<String>, line: u32) -> Self {
        self.spot(Spot { line: Some(line), ..Spot::of_file(file) })
    }

    /// Says which symbol it is about, by the name that files have for it.
    pub fn of_symbol(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.facts().symbol = Some(name.into());
        self
    }

    /// Says which library it is about.
    pub fn of_library(mut self, name: impl Into<String>) -> Self {
        self.facts().library = Some(name.into());
        self
    }

    /// Says who refers to its symbol, beside the notes that do.
    pub fn referrer(mut self, spot: Spot) -> Self {
        self.facts().referrers.push(spot);
        self
    }

    /// Says where its symbol is defined, beside the notes that do.
    pub fn definition(mut self, spot: Spot) -> Self {
        self.facts().definitions.push(spot);
        self
    }

    /// What may help, where the message says so already.
    pub fn told_hint(mut self, hint: impl Into<String>) -> Self {
        self.facts().hints.push(hint.into());
        self
    }

    /// A note that says what may help.
    pub fn hint(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        self.facts().hints.push(note.clone());
        self.note(note)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cause;
    use super::*;

    #[test]
    fn a_source_line_goes_to_the_spots_of_its_place() {
        let place = Place { file: 1, section: 2, offset: 3 };
        let spot = Spot { place: Some(place), ..Spot::of_file("a.o") };
        let problem = Diagnostic::error(Cause::UndefinedSymbol, "undefined symbol: f").referrer(spot);
        let mut facts = problem.in_file("b.o").facts.expect("it has some");
        facts.set_source(place, "a.c:7");
        assert_eq!(facts.referrers[0].source.as_deref(), Some("a.c:7"));
        assert_eq!((facts.at.file.as_deref(), &facts.at.source), (Some("b.o"), &None));
    }

    #[test]
    fn a_hint_is_a_note_too() {
        let problem = Diagnostic::error(Cause::NeedsPic, "e").note("a").hint("recompile");
        assert_eq!(problem.notes, ["a", "recompile"]);
        assert_eq!(problem.facts.expect("it has some").hints, ["recompile"]);
    }
}
