//! Tokens of linker scripts, version scripts and dynamic lists.
//!
//! What a word is depends on where it stands: `a-b*c` is a file name inside `INPUT( )`, a pattern in a
//! version script and an expression after `=`. The parser therefore says with each token which
//! [`Mode`] it reads in. Comments are `/* */` and, up to the end of the line, `#`.

use std::fmt;
use std::sync::Arc;

use weld_common::diag::{Cause, Diagnostic};

/// Which bytes make up a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Words are names and numbers; operators are tokens of their own.
    Expression,
    /// Words are paths: all but white space, `( ) , ; { }` and quotes.
    File,
    /// Words are symbol patterns: as paths, and a single `:` is a token while `::` is not.
    Pattern,
    /// Words are what a statement of `SECTIONS` begins with: paths, patterns and names. They end in front of
    /// an assignment's operator, and of a colon that stands at their end.
    Statement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    /// The text is what is between the quotes.
    Quoted,
    /// One to three bytes of punctuation.
    Punctuation,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a [u8],
    /// Counted from 1.
    pub line: u32,
    /// In bytes, counted from 1.
    pub column: u32,
    /// Where it starts, in bytes from the start of the text.
    pub(super) at: u32,
}

/// Where something stands, for messages of later phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: Arc<str>,
    /// Counted from 1, as columns are.
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Options are one line.
        match self.line {
            0 => f.write_str(&self.path),
            line => write!(f, "{}:{line}:{}", self.path, self.column),
        }
    }
}

impl Token<'_> {
    /// Whether it is this punctuation or this unquoted word.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Punctuation) && self.text == text.as_bytes()
    }

    /// Where it stands in the file `path`.
    pub fn place(&self, path: &Arc<str>) -> Place {
        Place { path: path.clone(), line: self.line, column: self.column }
    }

    /// How messages show it.
    fn shown(&self) -> String {
        match self.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => {
                let text = String::from_utf8_lossy(self.text);
                let short: String =
                    text.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect();
                format!("'{short}'")
            }
        }
    }
}

/// Longer first, so that `<<=` is not `<`.
const OPERATORS: [&[u8]; 19] = [
    b"<<=", b">>=", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||", b"+=", b"-=", b"*=", b"/=",
    b"&=", b"|=", b"^=", b"<", b">",
];

/// What a reference to `name` is to instead, if `--wrap` names one of `wrapped`.
pub fn redirected(name: &str, wrapped: &[String]) -> Option<String> {
    let is_wrapped = |name: &str| wrapped.iter().any(|one| one == name);
    match name.strip_prefix("__real_") {
        _ if is_wrapped(name) => Some(format!("__wrap_{name}")),
        Some(plain) if is_wrapped(plain) => Some(plain.to_owned()),
        _ => None,
    }
}

/// Reads tokens of one text.
#[derive(Clone)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    /// Where the line starts.
    line_start: usize,
    path: &'a str,
    /// Names of `--wrap`, to which references mean others.
    wrapped: Arc<[String]>,
}

impl<'a> Lexer<'a> {
    /// `path` is for messages.
    pub fn new(text: &'a [u8], path: &'a str) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Lexer { text, at, line: 1, line_start: 0, path, wrapped: Arc::default() }
    }

    /// The same for a text in which references to these names are redirected (`--wrap`).
    pub fn wrapping(self, wrapped: Arc<[String]>) -> Self {
        Lexer { wrapped, ..self }
    }

    /// The name that is meant where an expression refers to `name`.
    pub fn referred(&self, name: String) -> String {
        redirected(&name, &self.wrapped).unwrap_or(name)
    }

    /// An error at a line of this text.
    pub fn error(&self, line: u32, message: impl AsRef<str>) -> Diagnostic {
        match self.path {
            "" => Diagnostic::error(Cause::ScriptSyntax, message.as_ref()),
            path => Diagnostic::error(Cause::ScriptSyntax, format!("{path}:{line}: {}", message.as_ref()))
                .in_line(path, line),
        }
    }

    /// An error at a token of this text, whose line is shown.
    pub fn error_at(&self, token: &Token<'_>, message: impl AsRef<str>) -> Diagnostic {
        let at = (token.at as usize).min(self.text.len());
        let start = at.saturating_sub(token.column as usize - 1);
        let end = memchr::memchr(b'\n', &self.text[at..]).map_or(self.text.len(), |len| at + len);
        let column = printable(&self.text[start..at]).chars().count();
        let line = printable(&self.text[start..end]);
        if self.path.is_empty() || line.trim().is_empty() {
            return self.error(token.line, message);
        }
        // Of a line of megabytes, what is around.
        let from = column.saturating_sub(SHOWN / 2);
        let shown: String = line.chars().skip(from).take(SHOWN).collect();
        let text = format!("{}:{}:{}: {}", self.path, token.line, token.column, message.as_ref());
        Diagnostic::error(Cause::ScriptSyntax, text)
            .in_line(self.path, token.line)
            .note(shown.trim_end())
            .note(format!("{}^", " ".repeat(column - from)))
    }

    /// The path of the text, for messages.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// The text from a token up to here, on one line.
    pub fn text_from(&self, token: &Token<'_>) -> String {
        let text = self.text.get(token.at as usize..self.at).unwrap_or(b"");
        printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// An error about a token that does not belong where it is.
    pub fn unexpected(&self, token: &Token<'_>, wanted: &str) -> Diagnostic {
        self.error_at(token, format!("expected {wanted}, but found {}", token.shown()))
    }

    /// The next token.
    pub fn next(&mut self, mode: Mode) -> Result<Token<'a>, Diagnostic> {
        self.skip_blanks()?;
        let rest = &self.text[self.at..];
        let column = (self.at - self.line_start) as u32 + 1;
        let token = Token { kind: Kind::End, text: b"", line: self.line, column, at: self.at as u32 };
        let Some(&first) = rest.first() else { return Ok(token) };
        if first == b'"' {
            let Some(len) = memchr::memchr(b'"', &rest[1..]) else {
                return Err(self.error_at(&token, "a quote is not closed"));
            };
            self.skip(len + 2);
            return Ok(Token { kind: Kind::Quoted, text: &rest[1..1 + len], ..token });
        }
        let word = word_len(rest, mode);
        let (kind, len) = match word {
            0 => (Kind::Punctuation, punctuation_len(rest, mode)),
            len => (Kind::Word, len),
        };
        self.at += len;
        Ok(Token { kind, text: &rest[..len], ..token })
    }

    /// Goes on by `len` bytes, which may be several lines.
    fn skip(&mut self, len: usize) {
        let text = &self.text[self.at..self.at + len];
        if let Some(last) = memchr::memrchr(b'\n', text) {
            self.line += memchr::memchr_iter(b'\n', text).count() as u32;
            self.line_start = self.at + last + 1;
        }
        self.at += len;
    }

    /// The next token, which stays to be read.
    pub fn peek(&self, mode: Mode) -> Result<Token<'a>, Diagnostic> {
        self.clone().next(mode)
    }

    /// Reads the next token if it is this punctuation or word.
    pub fn accept(&mut self, mode: Mode, text: &str) -> Result<bool, Diagnostic> {
        let mut ahead = self.clone();
        let found = ahead.next(mode)?.is(text);
        if found {
            *self = ahead;
        }
        Ok(found)
    }

    /// Reads this punctuation or word.
    pub fn expect(&mut self, mode: Mode, text: &str) -> Result<(), Diagnostic> {
        let token = self.next(mode)?;
        if token.is(text) { Ok(()) } else { Err(self.unexpected(&token, &format!("'{text}'"))) }
    }

    /// Reads a word or a quoted text that is not empty. `wanted` says what it is for.
    pub fn name(&mut self, mode: Mode, wanted: &str) -> Result<Token<'a>, Diagnostic> {
        let token = self.next(mode)?;
        match token.kind {
            Kind::Word | Kind::Quoted if !token.text.is_empty() => Ok(token),
            _ => Err(self.unexpected(&token, wanted)),
        }
    }

    /// A token's text for where only text will do.
    pub fn utf8(&self, token: &Token<'a>) -> Result<String, Diagnostic> {
        let text = std::str::from_utf8(token.text);
        text.map(str::to_owned).map_err(|_| self.error(token.line, "a name is not valid UTF-8"))
    }

    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = &self.text[self.at..];
            match rest {
                [b'\n', ..] => self.skip(1),
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'#', ..] => self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', ..] => {
                    let Some(len) = memchr::memmem::find(&rest[2..], b"*/") else {
                        return Err(self.error(self.line, "a comment is not closed"));
                    };
                    self.skip(len + 4);
                }
                _ => return Ok(()),
            }
        }
    }
}

/// How many characters of a line are shown.
const SHOWN: usize = 120;

/// Text as a terminal can show it.
fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// How many bytes at the start of `rest` are a word.
fn word_len(rest: &[u8], mode: Mode) -> usize {
    // After `=FILL` this is the next output section, not a division.
    const DISCARD: &[u8] = b"/DISCARD/";
    if mode == Mode::Expression && rest.starts_with(DISCARD) {
        return DISCARD.len();
    }
    let mut len = 0;
    while let Some(&byte) = rest.get(len) {
        let part = match mode {
            Mode::Expression => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'\\') || byte >= 0x80
            }
            Mode::File => in_path(byte),
            Mode::Statement => match byte {
                b'=' => false,
                b':' => rest
                    .get(len + 1)
                    .is_some_and(|&next| in_path(next) && next != b'=' || next == b'(' && len > 0),
                b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'&' | b'|' | b'^' | b'!' => {
                    !OPERATORS.iter().any(|op| op.ends_with(b"=") && rest[len..].starts_with(op))
                }
                _ => in_path(byte),
            },
            Mode::Pattern if byte == b':' => {
                // `::` belongs to the word, a single colon ends it.
                if rest.get(len + 1) != Some(&b':') || len == 0 {
                    break;
                }
                len += 2;
                continue;
            }
            Mode::Pattern => in_path(byte),
        };
        if !part {
            break;
        }
        len += 1;
    }
    len
}

fn in_path(byte: u8) -> bool {
    byte > b' ' && !matches!(byte, b'(' | b')' | b',' | b';' | b'{' | b'}' | b'"' | 0x7f)
}

fn punctuation_len(rest: &[u8], mode: Mode) -> usize {
    if !matches!(mode, Mode::Expression | Mode::Statement) {
        return 1;
    }
    OPERATORS.iter().find(|op| rest.starts_with(op)).map_or(1, |op| op.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, mode: Mode) -> Vec<String> {
        let mut lexer = Lexer::new(text.as_bytes(), "t");
        let mut words = Vec::new();
        loop {
            let token = lexer.next(mode).unwrap();
            if token.kind == Kind::End {
                return words;
            }
            words.push(format!("{}", String::from_utf8_lossy(token.text)));
        }
    }

    #[test]
    fn words_depend_on_the_mode() {
        let text = "a-b*c=d";
        assert_eq!(words(text, Mode::Expression), ["a", "-", "b", "*", "c", "=", "d"]);
        assert_eq!(words(text, Mode::File), ["a-b*c=d"]);
        assert_eq!(words("global:ns::f*;*", Mode::Pattern), ["global", ":", "ns::f*", ";", "*"]);
        assert_eq!(words("a<<=b<c>=d", Mode::Expression), ["a", "<<=", "b", "<", "c", ">=", "d"]);
        assert_eq!(
            words("1 /2/ 3 /DISCARD/:", Mode::Expression),
            ["1", "/", "2", "/", "3", "/DISCARD/", ":"]
        );
        assert_eq!(words("(=/lib/x.so.6,-lc)", Mode::File), ["(", "=/lib/x.so.6", ",", "-lc", ")"]);
    }

    #[test]
    fn comments_and_quotes() {
        assert_eq!(words("a/*b*/ /**/ # c\n\"d e;\" f", Mode::Expression), ["a", "d e;", "f"]);
        let mut lexer = Lexer::new(b"\xef\xbb\xbf/*\n\n*/ \"x\ny\" z", "t");
        let lines: Vec<u32> = (0..3).map(|_| lexer.next(Mode::File).unwrap().line).collect();
        assert_eq!(lines, [3, 4, 4]);
    }

    #[test]
    fn what_is_not_closed_is_an_error() {
        let error = |text: &str| {
            let mut lexer = Lexer::new(text.as_bytes(), "f");
            loop {
                match lexer.next(Mode::File) {
                    Err(d) => return d.message,
                    Ok(token) => assert_ne!(token.kind, Kind::End),
                }
            }
        };
        assert_eq!(error("a\n/* b"), "f:2: a comment is not closed");
        assert_eq!(error("\n\n\"b\n"), "f:3:1: a quote is not closed");
        assert_eq!(error("/*/"), "f:1: a comment is not closed");
    }

    #[test]
    fn statements_begin_with_names_and_patterns() {
        for (text, tokens) in [
            (".text:{", &[".text", ":", "{"][..]),
            (".=.+4", &[".", "=", ".+4"]),
            ("a<<=b", &["a", "<<=", "b"]),
            ("lib.a:*x-y.o(", &["lib.a:*x-y.o", "("]),
            ("a:", &["a", ":"]),
            ("lib.a:(", &["lib.a:", "("]),
            (":x.o(", &[":x.o", "("]),
            ("x+=1;", &["x", "+=", "1", ";"]),
            ("/DISCARD/ :", &["/DISCARD/", ":"]),
        ] {
            assert_eq!(words(text, Mode::Statement), tokens, "{text}");
        }
    }

    #[test]
    fn errors_show_the_line() {
        let lexer = Lexer::new(b"a\n\tb c\nd", "f");
        let mut ahead = lexer.clone();
        let third = (0..3).map(|_| ahead.next(Mode::File).unwrap()).last().unwrap();
        let error = lexer.unexpected(&third, "x");
        assert_eq!(error.message, "f:2:4: expected x, but found 'c'");
        assert_eq!(error.notes, [" b c", "   ^"]);
        let long = "x ".repeat(1000);
        let mut lexer = Lexer::new(long.as_bytes(), "f");
        let token = (0..500).map(|_| lexer.next(Mode::File).unwrap()).last().unwrap();
        let error = lexer.unexpected(&token, "y");
        assert!(error.message.starts_with("f:1:999:"));
        assert!(error.notes.iter().all(|note| note.len() <= SHOWN));
    }

    #[test]
    fn any_bytes_come_to_an_end() {
        let all: Vec<u8> = (0..=255u8).filter(|b| *b != b'"').cycle().take(2000).collect();
        for mode in [Mode::Expression, Mode::File, Mode::Pattern, Mode::Statement] {
            let mut lexer = Lexer::new(&all, "t");
            while lexer.next(mode).unwrap().kind != Kind::End {}
        }
    }
}
