//! Tokens of linker scripts, version scripts and dynamic lists.
//!
//! What a word is depends on where it stands: `a-b*c` is a file name inside `INPUT( )`, a pattern in a
//! version script and an expression behind `=`. The parser therefore says with each token which
//! [`Mode`] it reads in. Comments are `/* */` and, up to the end of the line, `#`.

use weld_common::diag::Diagnostic;

/// Which bytes make up a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Words are names and numbers; operators are tokens of their own.
    Expression,
    /// Words are paths: all but white space, `( ) , ; { }` and quotes.
    File,
    /// Words are symbol patterns: as paths, and a single `:` is a token while `::` is not.
    Pattern,
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
}

impl Token<'_> {
    /// Whether it is this punctuation or this unquoted word.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Punctuation) && self.text == text.as_bytes()
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
const OPERATORS: [&[u8]; 20] = [
    b"<<=", b">>=", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||", b"+=", b"-=", b"*=", b"/=",
    b"&=", b"|=", b"^=", b"%=", b"<", b">",
];

/// Reads tokens of one text.
#[derive(Clone)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    path: &'a str,
}

impl<'a> Lexer<'a> {
    /// `path` is for messages.
    pub fn new(text: &'a [u8], path: &'a str) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Lexer { text, at, line: 1, path }
    }

    /// An error at a line of this text.
    pub fn error(&self, line: u32, message: impl AsRef<str>) -> Diagnostic {
        Diagnostic::error(format!("{}:{line}: {}", self.path, message.as_ref()))
    }

    /// An error about a token that does not belong where it is.
    pub fn unexpected(&self, token: &Token<'_>, wanted: &str) -> Diagnostic {
        self.error(token.line, format!("expected {wanted}, but found {}", token.shown()))
    }

    /// The next token.
    pub fn next(&mut self, mode: Mode) -> Result<Token<'a>, Diagnostic> {
        self.skip_blanks()?;
        let line = self.line;
        let rest = &self.text[self.at..];
        let Some(&first) = rest.first() else {
            return Ok(Token { kind: Kind::End, text: b"", line });
        };
        if first == b'"' {
            let Some(len) = memchr::memchr(b'"', &rest[1..]) else {
                return Err(self.error(line, "a quote is not closed"));
            };
            let text = &rest[1..1 + len];
            self.line += count_lines(text);
            self.at += len + 2;
            return Ok(Token { kind: Kind::Quoted, text, line });
        }
        let word = word_len(rest, mode);
        let (kind, len) = match word {
            0 => (Kind::Punctuation, punctuation_len(rest, mode)),
            len => (Kind::Word, len),
        };
        self.at += len;
        Ok(Token { kind, text: &rest[..len], line })
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
                [b'\n', ..] => {
                    self.line += 1;
                    self.at += 1;
                }
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'#', ..] => self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', ..] => {
                    let Some(len) = memchr::memmem::find(&rest[2..], b"*/") else {
                        return Err(self.error(self.line, "a comment is not closed"));
                    };
                    self.line += count_lines(&rest[..len + 2]);
                    self.at += len + 4;
                }
                _ => return Ok(()),
            }
        }
    }
}

fn count_lines(text: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', text).count() as u32
}

/// How many bytes at the start of `rest` are a word.
fn word_len(rest: &[u8], mode: Mode) -> usize {
    let mut len = 0;
    while let Some(&byte) = rest.get(len) {
        let part = match mode {
            Mode::Expression => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'\\') || byte >= 0x80
            }
            Mode::File => in_path(byte),
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
    if mode != Mode::Expression {
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
        assert_eq!(error("\n\n\"b\n"), "f:3: a quote is not closed");
        assert_eq!(error("/*/"), "f:1: a comment is not closed");
    }

    #[test]
    fn any_bytes_come_to_an_end() {
        let all: Vec<u8> = (0..=255u8).filter(|b| *b != b'"').cycle().take(2000).collect();
        for mode in [Mode::Expression, Mode::File, Mode::Pattern] {
            let mut lexer = Lexer::new(&all, "t");
            while lexer.next(mode).unwrap().kind != Kind::End {}
        }
    }
}
