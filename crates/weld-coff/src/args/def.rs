//! Module-definition files: what a DLL is called and exports.
//!
//! ```text
//!     LIBRARY name [BASE=address]        NAME name [BASE=address]
//!     EXPORTS
//!         name[=internal | =other.name] [@ordinal [NONAME]] [DATA] [PRIVATE] [CONSTANT] [== imported]
//!     HEAPSIZE reserve[,commit]          STACKSIZE reserve[,commit]
//!     VERSION major[.minor]              DESCRIPTION is passed over
//! ```
//!
//! `;` starts a comment. Source: Microsoft, "Module-Definition (.def) Files".

use std::borrow::Cow;
use std::fmt;

use weld_common::args::ValueError;
use weld_common::args::values::number;

use crate::args::values::{self, OptionError};
use crate::options::Export;

/// What a file says; what it does not say is `None`.
#[derive(Debug, Default, PartialEq)]
pub struct Definitions {
    pub name: Option<String>,
    pub base: Option<u64>,
    pub heap: Option<(u64, Option<u64>)>,
    pub stack: Option<(u64, Option<u64>)>,
    pub version: Option<(u16, u16)>,
    pub exports: Vec<Export>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// A word in quotes is never a keyword.
    Quoted(String),
    Comma,
    Equal,
    EqualEqual,
}

/// Statements end where the next of these begins.
const KEYWORDS: [&str; 10] = [
    "LIBRARY",
    "NAME",
    "EXPORTS",
    "HEAPSIZE",
    "STACKSIZE",
    "VERSION",
    "DESCRIPTION",
    "SECTIONS",
    "SEGMENTS",
    "IMPORTS",
];

/// What may stand after an export.
const ATTRIBUTES: [&str; 5] = ["NONAME", "DATA", "CONSTANT", "PRIVATE", "EXPORTAS"];

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq)]
pub enum DefError {
    /// A token where it cannot be.
    Unexpected(String),
    Statement(String),
    /// One of two statements that are not supported.
    Sections(String),
    Imports,
    Quote,
    NoName,
    Value(ValueError),
    /// `BASE` without its equals sign.
    NoBase,
    Base(OptionError),
    Ordinal(String),
}

impl fmt::Display for DefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefError::Unexpected(text) => write!(f, "unexpected '{text}'"),
            DefError::Statement(word) => write!(f, "unknown statement '{word}'"),
            DefError::Sections(word) => write!(f, "{word} is not supported: use /section"),
            DefError::Imports => f.write_str("IMPORTS is not supported: use an import library"),
            DefError::Quote => f.write_str("a quote is not closed"),
            DefError::NoName => f.write_str("the file ends where a name is expected"),
            DefError::Value(e) => e.fmt(f),
            DefError::NoBase => f.write_str("'=' is missing behind BASE"),
            DefError::Base(e) => write!(f, "BASE: {e}"),
            DefError::Ordinal(digits) => write!(f, "invalid ordinal '@{digits}'"),
        }
    }
}

impl std::error::Error for DefError {}

impl From<ValueError> for DefError {
    fn from(error: ValueError) -> Self {
        DefError::Value(error)
    }
}

pub fn parse(text: &str) -> Result<Definitions, DefError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, out: Definitions::default() };
    while let Some(token) = parser.next() {
        let Token::Word(word) = token else { return Err(unexpected(token)) };
        match word.as_str() {
            "LIBRARY" | "NAME" => parser.name()?,
            "EXPORTS" => parser.exports()?,
            "HEAPSIZE" => parser.out.heap = Some(parser.sizes()?),
            "STACKSIZE" => parser.out.stack = Some(parser.sizes()?),
            "VERSION" => parser.version()?,
            "DESCRIPTION" => parser.pass_over(),
            "SECTIONS" | "SEGMENTS" => return Err(DefError::Sections(word.clone())),
            "IMPORTS" => return Err(DefError::Imports),
            _ => return Err(DefError::Statement(word.clone())),
        }
    }
    Ok(parser.out)
}

/// A name as it stands in such a file: in quotes, if it could be taken for something else.
pub fn quoted(name: &str) -> Cow<'_, str> {
    let is_plain = KEYWORDS.iter().chain(&ATTRIBUTES).all(|word| *word != name)
        && !is_ordinal(name)
        && tokens(name).is_ok_and(|tokens| tokens == [Token::Word(name.to_owned())]);
    if is_plain { name.into() } else { format!("\"{name}\"").into() }
}

/// After an export: a number, or a number follows. `@f@8` is the name of the next one.
fn is_ordinal(word: &str) -> bool {
    word.strip_prefix('@').is_some_and(|digits| digits.parse::<u64>().is_ok() || digits.is_empty())
}

fn unexpected(token: &Token) -> DefError {
    DefError::Unexpected(match token {
        Token::Word(text) | Token::Quoted(text) => text.clone(),
        Token::Comma => ",".to_owned(),
        Token::Equal => "=".to_owned(),
        Token::EqualEqual => "==".to_owned(),
    })
}

fn tokens(text: &str) -> Result<Vec<Token>, DefError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let len = match first {
            ';' => rest.find('\n').unwrap_or(rest.len()),
            ',' => {
                tokens.push(Token::Comma);
                1
            }
            '=' if rest.starts_with("==") => {
                tokens.push(Token::EqualEqual);
                2
            }
            '=' => {
                tokens.push(Token::Equal);
                1
            }
            '"' => {
                let end = rest[1..].find('"').ok_or(DefError::Quote)?;
                tokens.push(Token::Quoted(rest[1..1 + end].to_owned()));
                end + 2
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '=' | ',' | ';');
                let end = rest.find(ends).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_owned()));
                end
            }
        };
        rest = &rest[len..];
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    out: Definitions,
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Option<&'t Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    /// Takes the next token if it is this one.
    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(text)) if text == word);
        self.at += usize::from(found);
        found
    }

    /// A name: a word, also one in quotes.
    fn text(&mut self) -> Result<&'t str, DefError> {
        match self.next() {
            Some(Token::Word(text) | Token::Quoted(text)) => Ok(text),
            Some(token) => Err(unexpected(token)),
            None => Err(DefError::NoName),
        }
    }

    fn number(&mut self) -> Result<u64, DefError> {
        let text = self.text()?;
        Ok(number(text)?)
    }

    fn is_at_statement(&self) -> bool {
        match self.peek() {
            Some(Token::Word(word)) => KEYWORDS.contains(&word.as_str()),
            Some(_) => false,
            None => true,
        }
    }

    fn name(&mut self) -> Result<(), DefError> {
        if self.is_at_statement() {
            return Ok(());
        }
        self.out.name = Some(self.text()?.to_owned());
        if self.take_word("BASE") {
            if !self.take(&Token::Equal) {
                return Err(DefError::NoBase);
            }
            let base = self.number()?;
            self.out.base = Some(values::image_base(base).map_err(DefError::Base)?);
        }
        Ok(())
    }

    fn sizes(&mut self) -> Result<(u64, Option<u64>), DefError> {
        let reserve = self.number()?;
        let commit = if self.take(&Token::Comma) { Some(self.number()?) } else { None };
        Ok((reserve, commit))
    }

    fn version(&mut self) -> Result<(), DefError> {
        let text = self.text()?;
        self.out.version = Some(values::version(text)?);
        Ok(())
    }

    fn pass_over(&mut self) {
        while !self.is_at_statement() {
            self.at += 1;
        }
    }

    fn exports(&mut self) -> Result<(), DefError> {
        while !self.is_at_statement() {
            let export = self.export()?;
            self.out.exports.push(export);
        }
        Ok(())
    }

    fn export(&mut self) -> Result<Export, DefError> {
        let mut export = Export { name: self.text()?.to_owned(), ..Export::default() };
        if self.take(&Token::Equal) {
            let target = self.text()?.to_owned();
            match target.contains('.') && !target.starts_with('.') {
                true => export.forward = Some(target),
                false => export.internal = Some(target),
            }
        }
        loop {
            match self.peek() {
                Some(Token::Word(word)) if is_ordinal(word) => {
                    self.at += 1;
                    let digits = if word.len() == 1 { self.text()? } else { &word[1..] };
                    let ordinal = digits.parse().ok().filter(|&n| n > 0);
                    export.ordinal = Some(ordinal.ok_or_else(|| DefError::Ordinal(digits.to_owned()))?);
                    export.noname |= self.take_word("NONAME");
                }
                Some(Token::Word(word)) if word == "DATA" => {
                    self.at += 1;
                    export.data = true;
                }
                Some(Token::Word(word)) if word == "CONSTANT" => {
                    self.at += 1;
                    export.constant = true;
                }
                Some(Token::Word(word)) if word == "PRIVATE" => {
                    self.at += 1;
                    export.private = true;
                }
                Some(Token::EqualEqual) => {
                    self.at += 1;
                    export.import_name = Some(self.text()?.to_owned());
                }
                Some(Token::Word(word)) if word == "EXPORTAS" => {
                    self.at += 1;
                    export.export_as = Some(self.text()?.to_owned());
                }
                _ => return Ok(export),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let text = "\u{feff}; comment\nLIBRARY \"my dll\" BASE=0x10000\nEXPORTS a\n b=c @5 NONAME DATA\n \"d e\" PRIVATE ; x\n\
                    f=other.g @ 7\n h CONSTANT == i\nHEAPSIZE 0x1000,4096\nSTACKSIZE 1\nVERSION 3.4\nDESCRIPTION \"none\"\n";
        let found = parse(text).unwrap();
        let export = |name: &str| Export { name: name.to_owned(), ..Export::default() };
        assert_eq!(found.name.as_deref(), Some("my dll"));
        assert_eq!((found.base, found.heap), (Some(0x10000), Some((0x1000, Some(4096)))));
        assert_eq!((found.stack, found.version), (Some((1, None)), Some((3, 4))));
        let want = [
            export("a"),
            Export { internal: Some("c".into()), ordinal: Some(5), noname: true, data: true, ..export("b") },
            Export { private: true, ..export("d e") },
            Export { forward: Some("other.g".into()), ordinal: Some(7), ..export("f") },
            Export { constant: true, import_name: Some("i".into()), ..export("h") },
        ];
        assert_eq!(found.exports, want);
    }

    #[test]
    fn names_are_read_as_they_were_written() {
        let names =
            ["f", "_f@8", "@f@8", "a b", "a=b", "a;b", "DATA", "VERSION", "NONAME", "EXPORTS", "?f@@YAXXZ"];
        let lines: Vec<String> = names.iter().map(|name| format!("    {} @1\n", quoted(name))).collect();
        let found = parse(&format!("EXPORTS\n{}", lines.concat())).unwrap();
        assert_eq!(found.exports.iter().map(|export| &export.name[..]).collect::<Vec<_>>(), names);
        assert_eq!((quoted("f"), quoted("DATA")), ("f".into(), "\"DATA\"".into()));
    }

    #[test]
    fn what_is_wrong() {
        for text in [
            "x",
            "EXPORTS a @70000",
            "EXPORTS a=",
            "NAME x BASE 1",
            "NAME x BASE=0x1001",
            "\"x",
            "EXPORTS a @0",
            "HEAPSIZE x",
            "EXPORTS ,",
            "EXPORTS f\nSECTIONS .data SHARED",
            "EXPORTS f\nSEGMENTS .data READ",
            "EXPORTS f\nIMPORTS g = a.g",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("").unwrap(), Definitions::default());
    }
}
