//! `MEMORY { name (attributes) : ORIGIN = …, LENGTH = … }`.
//!
//! Source: GNU ld manual, "MEMORY Command".

use weld_common::diag::Diagnostic;

use super::commands::Parser;
use super::expr::{self, Expr};
use super::lexer::{Kind, Mode, Place, Token};

/// A region of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub name: String,
    pub attributes: Attributes,
    pub origin: Expr,
    pub length: Expr,
    pub place: Place,
}

/// Which sections a region takes that do not ask for one: those with any of some flags, or without any of
/// others, and with all of some or without all of others. Bits are those of `sh_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Attributes {
    pub with: u64,
    pub without: u64,
    /// Sections without one of these bits.
    pub lacking: u64,
    pub not_lacking: u64,
}

const WRITE: u64 = 1;
const ALLOC: u64 = 2;
const EXECUTE: u64 = 4;

impl Attributes {
    /// Whether a section with these flags goes into the region by itself.
    pub fn take(&self, flags: u64) -> bool {
        if flags & self.without != 0 || !flags & self.not_lacking != 0 {
            return false;
        }
        flags & self.with != 0 || !flags & self.lacking != 0
    }

    /// As the script could have them: `xrw`, `ax!w`.
    pub fn letters(&self) -> String {
        let of = |with: u64, lacking: u64| {
            let all =
                [(with & EXECUTE, 'x'), (lacking & WRITE, 'r'), (with & WRITE, 'w'), (with & ALLOC, 'a')];
            all.into_iter().filter(|(bit, _)| *bit != 0).map(|(_, letter)| letter).collect::<String>()
        };
        let (wanted, unwanted) = (of(self.with, self.lacking), of(self.without, self.not_lacking));
        if unwanted.is_empty() { wanted } else { format!("{wanted}!{unwanted}") }
    }
}

impl<'a> Parser<'a, '_> {
    /// What stands between the braces of `MEMORY`.
    pub(super) fn memory(&mut self) -> Result<Vec<Region>, Diagnostic> {
        self.lexer.expect(Mode::File, "{")?;
        let mut list = Vec::new();
        while !self.at_end_of_block()? {
            let token = self.lexer.name(Mode::Statement, "a region or '}'")?;
            if token.is("INCLUDE") {
                self.include()?;
                continue;
            }
            let mut attributes = Attributes::default();
            if self.lexer.accept(Mode::Expression, "(")? {
                attributes = self.attributes()?;
                self.lexer.expect(Mode::Expression, ")")?;
            }
            self.lexer.expect(Mode::Expression, ":")?;
            let origin = self.property(&["ORIGIN", "org", "o"])?;
            self.lexer.accept(Mode::Expression, ",")?;
            let length = self.property(&["LENGTH", "len", "l"])?;
            self.lexer.accept(Mode::Expression, ",")?;
            let (name, place) = (self.lexer.utf8(&token)?, token.place(&self.path));
            list.push(Region { name, attributes, origin, length, place });
        }
        Ok(list)
    }

    fn property(&mut self, names: &[&str]) -> Result<Expr, Diagnostic> {
        let token = self.lexer.next(Mode::Expression)?;
        if !names.iter().any(|name| token.is(name)) {
            return Err(self.lexer.unexpected(&token, names[0]));
        }
        self.lexer.expect(Mode::Expression, "=")?;
        expr::parse(&mut self.lexer, &self.path)
    }

    /// Letters up to `)`.
    fn attributes(&mut self) -> Result<Attributes, Diagnostic> {
        let mut found = Attributes::default();
        let mut inverted = false;
        loop {
            let token = self.lexer.peek(Mode::Expression)?;
            if token.is(")") {
                return Ok(found);
            }
            self.lexer.next(Mode::Expression)?;
            match token.kind {
                Kind::Punctuation if token.is("!") => inverted = !inverted,
                Kind::Word => token
                    .text
                    .iter()
                    .try_for_each(|letter| self.attribute(&token, *letter, inverted, &mut found))?,
                _ => return Err(self.lexer.unexpected(&token, "attributes or ')'")),
            }
        }
    }

    fn attribute(
        &self,
        token: &Token<'a>,
        letter: u8,
        inverted: bool,
        found: &mut Attributes,
    ) -> Result<(), Diagnostic> {
        let (with, lacking) = match letter.to_ascii_lowercase() {
            b'w' => (WRITE, 0),
            b'x' => (EXECUTE, 0),
            b'a' => (ALLOC, 0),
            b'r' => (0, WRITE),
            // Initialised: that is, with contents. All that is in memory counts.
            b'i' | b'l' => (ALLOC, 0),
            _ => return Err(self.lexer.unexpected(token, "the attributes r, w, x, a, i, l or !")),
        };
        match inverted {
            true => (found.without, found.not_lacking) = (found.without | with, found.not_lacking | lacking),
            false => (found.with, found.lacking) = (found.with | with, found.lacking | lacking),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Command, parse_alone};
    use super::*;

    fn regions(text: &str) -> Result<Vec<Region>, String> {
        let commands = parse_alone(format!("MEMORY {{ {text} }}").as_bytes(), "t").map_err(|d| d.message)?;
        match &commands[..] {
            [Command::Memory(regions)] => Ok(regions.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn regions_have_attributes() {
        let list =
            regions("rom (rx) : ORIGIN = 0x1000, LENGTH = 256K\n ram (!rx) : org = 4, l = 1M").unwrap();
        assert_eq!((list[0].name.as_str(), list[1].place.line), ("rom", 2));
        let takes: Vec<_> = [WRITE, EXECUTE, 0, WRITE | EXECUTE]
            .map(|f| list.iter().map(|r| r.attributes.take(ALLOC | f)).collect::<Vec<_>>())
            .into();
        assert_eq!(takes[1], [true, false]);
        assert_eq!(takes[2], [true, false]);
        assert_eq!(takes[3], [true, false]);
        assert!(!takes[0][0]);
        assert!(!Attributes::default().take(ALLOC));
    }

    #[test]
    fn mistakes() {
        for text in
            ["a", "a : ", "a : ORIGIN = 0", "a (q) : ORIGIN = 0, LENGTH = 1", "a (r : ORIGIN = 0", "1"]
        {
            assert!(regions(text).is_err(), "{text}");
        }
    }
}
