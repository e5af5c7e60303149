//! Symbol patterns of version scripts and dynamic lists.
//!
//! A pattern is a name or a glob; in quotes it is always a name. Inside `extern "C++" { }` it is
//! compared with the demangled name, which is made only if some pattern asks for it.

use std::fmt;

use weld_common::diag::Diagnostic;
use weld_common::glob::{GlobError, GlobSet, has_wildcard};

use super::lexer::{Kind, Lexer, Mode, Token};

/// One pattern, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub text: Vec<u8>,
    /// Nothing in the text is a wildcard.
    pub exact: bool,
    /// For demangled names.
    pub cxx: bool,
    /// Where it stands, counted from 1.
    pub line: u32,
}

impl Pattern {
    /// A pattern from the command line.
    pub fn new(text: &[u8]) -> Self {
        Pattern { text: text.to_vec(), exact: !has_wildcard(text), cxx: false, line: 0 }
    }

    fn from_token(token: &Token<'_>, cxx: bool) -> Self {
        let exact = token.kind == Kind::Quoted || !has_wildcard(token.text);
        Pattern { text: token.text.to_vec(), exact, cxx, line: token.line }
    }

    /// `*`, which has the lowest precedence of all.
    pub fn is_star(&self) -> bool {
        !self.exact && self.text == b"*"
    }
}

/// Reads one `pattern;` or `extern "LANGUAGE" { pattern; … };` into `patterns`. The semicolon may be
/// missing in front of `}`.
pub fn parse_entry(lexer: &mut Lexer<'_>, patterns: &mut Vec<Pattern>) -> Result<(), Diagnostic> {
    let token = lexer.name(Mode::Pattern, "a symbol pattern")?;
    let is_extern = token.is("extern") && lexer.peek(Mode::Pattern)?.kind == Kind::Quoted;
    if !is_extern {
        patterns.push(Pattern::from_token(&token, false));
        return end_of_entry(lexer);
    }
    let language = lexer.next(Mode::Pattern)?;
    let cxx = match language.text {
        b"C" => false,
        b"C++" => true,
        _ => return Err(lexer.unexpected(&language, "\"C\" or \"C++\"")),
    };
    lexer.expect(Mode::Pattern, "{")?;
    while !lexer.accept(Mode::Pattern, "}")? {
        let token = lexer.name(Mode::Pattern, "a symbol pattern or '}'")?;
        patterns.push(Pattern::from_token(&token, cxx));
        end_of_entry(lexer)?;
    }
    end_of_entry(lexer)
}

fn end_of_entry(lexer: &mut Lexer<'_>) -> Result<(), Diagnostic> {
    let token = lexer.peek(Mode::Pattern)?;
    if token.is("}") || lexer.accept(Mode::Pattern, ";")? {
        return Ok(());
    }
    Err(lexer.unexpected(&token, "';'"))
}

/// A pattern that is none. Where it stands is known to whoever reads its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPattern {
    pub text: Vec<u8>,
    pub why: GlobError,
}

impl fmt::Display for WrongPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrong pattern '{}': {}", String::from_utf8_lossy(&self.text), self.why)
    }
}

impl std::error::Error for WrongPattern {}

/// Patterns with ranks, to be looked up by mangled and demangled name.
#[derive(Debug, Default)]
pub struct PatternSet {
    plain: GlobSet,
    cxx: GlobSet,
}

impl PatternSet {
    /// Adds a pattern. Returns the rank that an exact name had already.
    pub fn add(&mut self, pattern: &Pattern, rank: u32) -> Result<Option<u32>, WrongPattern> {
        let set = if pattern.cxx { &mut self.cxx } else { &mut self.plain };
        if pattern.exact {
            return Ok(set.add_exact(&pattern.text, rank));
        }
        set.add(&pattern.text, rank).map_err(|why| WrongPattern { text: pattern.text.to_vec(), why })?;
        Ok(None)
    }

    /// Makes the set ready for lookups.
    pub fn finish(&mut self) {
        self.plain.finish();
        self.cxx.finish();
    }

    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.cxx.is_empty()
    }

    /// The lowest rank that matches. `demangled` is called only if there are patterns for demangled
    /// names; a name that it cannot demangle stands for itself.
    pub fn lookup(&self, name: &[u8], demangled: impl FnOnce() -> Option<String>) -> Option<u32> {
        let plain = self.plain.lookup(name);
        if self.cxx.is_empty() {
            return plain;
        }
        let cxx = match demangled() {
            Some(text) => self.cxx.lookup(text.as_bytes()),
            None => self.cxx.lookup(name),
        };
        match (plain, cxx) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
