//! As much of YAML as descriptions of file systems are written in: mappings, lists and texts, in blocks or in
//! brackets. What is beyond that (tags, anchors, texts of several lines) is an error, and nothing is taken
//! for what it is not.

use std::fmt;

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub enum Node {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Lists and mappings in one another.
const DEEPEST: usize = 64;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// From 1.
    pub line: usize,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is more after the value.
    Unexpected,
    TooDeep,
    /// A key has none.
    NoValue(String),
    /// After a value in brackets there is neither a comma nor this, which ends them.
    Separator(char),
    Value,
    /// A text in quotes has no end in its line.
    Endless,
    Escape(char),
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.why {
            Why::Unexpected => f.write_str("unexpected text"),
            Why::TooDeep => f.write_str("too many values in one another"),
            Why::NoValue(key) => write!(f, "'{key}' has no value"),
            Why::Separator(end) => write!(f, "expected ',' or '{end}'"),
            Why::Value => f.write_str("expected a value"),
            Why::Endless => f.write_str("a text without its end"),
            Why::Escape(escaped) => write!(f, "unknown escape '\\{escaped}'"),
        }
    }
}

impl std::error::Error for YamlError {}

/// # Errors
/// If the text is something else: which line, and why.
pub fn parse(text: &str) -> Result<Node, YamlError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.skip();
    if parser.rest().starts_with("---") {
        parser.at += 3;
    }
    let node = parser.node().map_err(|why| parser.located(why))?;
    parser.skip();
    match parser.rest() {
        "" | "..." => Ok(node),
        _ => Err(parser.located(Why::Unexpected)),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn located(&self, why: Why) -> YamlError {
        YamlError { line: self.text[..self.at].matches('\n').count() + 1, why }
    }

    /// Goes over white space and comments.
    fn skip(&mut self) {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Where in its line the parser is.
    fn column(&self) -> usize {
        self.at - self.text[..self.at].rfind('\n').map_or(0, |end| end + 1)
    }

    fn take(&mut self, c: char) -> bool {
        let is_next = self.rest().starts_with(c);
        self.at += usize::from(is_next) * c.len_utf8();
        is_next
    }

    /// A dash that is followed by a value.
    fn is_at_item(&self) -> bool {
        self.rest()
            .strip_prefix('-')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
    }

    /// A value in a block.
    fn node(&mut self) -> Result<Node, Why> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Why::TooDeep);
        }
        self.skip();
        let column = self.column();
        let node = match self.rest().chars().next() {
            Some('{' | '[') => self.bracketed()?,
            _ if self.is_at_item() => self.items(column)?,
            _ => {
                let first = self.scalar(false)?;
                if self.is_at_value() { self.pairs(first, column)? } else { Node::Text(first) }
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn items(&mut self, column: usize) -> Result<Node, Why> {
        let mut list = Vec::new();
        while self.column() == column && self.is_at_item() {
            self.at += 1;
            list.push(self.node()?);
            self.skip();
        }
        Ok(Node::List(list))
    }

    /// A colon with a value after it.
    fn is_at_value(&self) -> bool {
        let rest = self.rest().trim_start_matches(' ');
        rest.strip_prefix(':').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
    }

    fn pairs(&mut self, first: String, column: usize) -> Result<Node, Why> {
        let mut pairs = Vec::new();
        let mut key = first;
        loop {
            self.at += self.rest().find(':').map_or(0, |at| at + 1);
            let colon = self.at;
            self.skip();
            let is_same_line = !self.text[colon..self.at].contains('\n');
            let is_below = self.column() > column || self.column() == column && self.is_at_item();
            let is_there = !self.rest().is_empty() && (is_same_line || is_below);
            let value = if is_there { self.node()? } else { Node::Text(String::new()) };
            pairs.push((key, value));
            self.skip();
            if self.column() != column || self.rest().is_empty() || self.is_at_item() {
                return Ok(Node::Map(pairs));
            }
            key = self.scalar(false)?;
            if !self.is_at_value() {
                return Err(Why::NoValue(key));
            }
        }
    }

    /// `{…}` or `[…]`.
    fn bracketed(&mut self) -> Result<Node, Why> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Why::TooDeep);
        }
        let is_map = self.take('{');
        self.at += usize::from(!is_map);
        let end = if is_map { '}' } else { ']' };
        let (mut pairs, mut list) = (Vec::new(), Vec::new());
        loop {
            self.skip();
            if self.take(end) {
                break;
            }
            if is_map {
                let key = self.scalar(true)?;
                self.skip();
                if !self.take(':') {
                    return Err(Why::NoValue(key));
                }
                pairs.push((key, self.value()?));
            } else {
                list.push(self.value()?);
            }
            self.skip();
            if !self.take(',') && !self.rest().starts_with(end) {
                return Err(Why::Separator(end));
            }
        }
        self.depth -= 1;
        Ok(if is_map { Node::Map(pairs) } else { Node::List(list) })
    }

    /// A value between brackets.
    fn value(&mut self) -> Result<Node, Why> {
        self.skip();
        match self.rest().starts_with(['{', '[']) {
            true => self.bracketed(),
            false => Ok(Node::Text(self.scalar(true)?)),
        }
    }

    fn scalar(&mut self, in_brackets: bool) -> Result<String, Why> {
        if self.take('\'') {
            return self.single_quoted();
        }
        if self.take('"') {
            return self.double_quoted();
        }
        let rest = self.rest();
        if rest.starts_with(['&', '*', '!', '|', '>', '%', '@', '`', ']', '}', ',']) || rest.is_empty() {
            return Err(Why::Value);
        }
        let ends = |(at, c): &(usize, char)| {
            let behind = rest[at + c.len_utf8()..].chars().next();
            let is_gap = behind.is_none_or(char::is_whitespace);
            match c {
                '\n' | '\r' => true,
                ':' => is_gap || in_brackets && behind.is_some_and(|c| ",]}[{".contains(c)),
                '#' => rest[..*at].ends_with([' ', '\t']),
                ',' | ']' | '}' | '[' | '{' => in_brackets,
                _ => false,
            }
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        self.at += end;
        Ok(rest[..end].trim_end().to_owned())
    }

    fn single_quoted(&mut self) -> Result<String, Why> {
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find(['\'', '\n']).filter(|&end| rest.as_bytes()[end] == b'\'');
            let end = end.ok_or(Why::Endless)?;
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if !self.take('\'') {
                return Ok(text);
            }
            text.push('\'');
        }
    }

    fn double_quoted(&mut self) -> Result<String, Why> {
        let mut text = String::new();
        loop {
            let c = self.rest().chars().next().filter(|&c| c != '\n').ok_or(Why::Endless)?;
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => {
                    let escaped = self.rest().chars().next().unwrap_or('\n');
                    self.at += escaped.len_utf8();
                    text.push(match escaped {
                        '"' | '\\' | '/' => escaped,
                        'n' => '\n',
                        't' => '\t',
                        _ => return Err(Why::Escape(escaped)),
                    });
                }
                _ => text.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    fn map<const N: usize>(pairs: [(&str, Node); N]) -> Node {
        Node::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    #[test]
    fn blocks_and_brackets_say_the_same() {
        let want = map([
            ("version", text("0")),
            (
                "roots",
                Node::List(vec![
                    map([
                        ("name", text("C:\\a b")),
                        ("contents", Node::List(vec![map([("name", text("it's"))]), text("x")])),
                    ]),
                    text("y"),
                ]),
            ),
            ("last", text("")),
        ]);
        let blocks = "---\n# what it is\nversion: 0\nroots:\n- name: C:\\a b # there\n  contents:\n    - 'name': \
            'it''s'\n    - x\n- \"y\"\nlast:\n";
        assert_eq!(parse(blocks).as_ref(), Ok(&want));
        let brackets = "{ 'version': 0, 'roots': [\n { name: \"C:\\\\a b\", contents: [{name: 'it''s'}, x] },\n y], \
            last: '' }\n";
        assert_eq!(parse(brackets).as_ref(), Ok(&want));
        assert_eq!(parse("invalid yaml"), Ok(text("invalid yaml")));
    }

    #[test]
    fn what_is_wrong() {
        for wrong in [
            "",
            "a: b\nc",
            "{a: b",
            "{a b}",
            "[a b",
            "a: 'x",
            "a: \"x",
            "a: &x b",
            "a: |\n  b",
            "{a: b}\nc",
            "\"\\q\"",
            "a: b\n c: d",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}: {:?}", parse(wrong));
        }
        assert!(parse(&"[".repeat(100_000)).is_err() && parse(&"- ".repeat(100_000)).is_err());
    }
}
