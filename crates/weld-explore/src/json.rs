//! JSON (RFC 8259), as much as descriptions of pages and tables for programs need.
//!
//! What is written is ASCII without `<`, `>` and `&`, so that it means the same inside an element of a page,
//! whatever names say. What is read may be anybody's: depth is bounded, and no number is larger than a `u64`.

use std::fmt::Write;

/// Nothing that is read nests deeper.
const DEEPEST: u32 = 16;

/// Appends `text` as a string.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            ' '..='~' if !matches!(c, '<' | '>' | '&') => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// A value that was read. Numbers that are no unsigned integers, truth values and `null` are `Other`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Number(u64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
    Other,
}

impl Value {
    /// Reads a text that is one value; `None` if it is not.
    pub fn parse(text: &str) -> Option<Value> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.space();
        (parser.at == text.len()).then_some(value)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        let Value::Object(members) = self else { return None };
        members.iter().find(|member| member.0 == key).map(|member| &member.1)
    }

    pub fn number(&self) -> Option<u64> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub fn list(&self) -> &[Value] {
        if let Value::List(list) = self { list } else { &[] }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.space();
        match self.peek()? {
            b'{' => self.members(depth),
            b'[' => self.list(depth),
            b'"' => Some(Value::Text(self.string()?)),
            _ => self.word(),
        }
    }

    fn members(&mut self, depth: u32) -> Option<Value> {
        let mut members = Vec::new();
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(Value::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.take(b':')?;
            members.push((key, self.value(depth + 1)?));
            if self.take(b',').is_none() {
                self.take(b'}')?;
                return Some(Value::Object(members));
            }
        }
    }

    fn list(&mut self, depth: u32) -> Option<Value> {
        let mut list = Vec::new();
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(Value::List(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            if self.take(b',').is_none() {
                self.take(b']')?;
                return Some(Value::List(list));
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(['"', '\\'])?;
            out.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Some(out);
            }
            let escape = self.peek()?;
            self.at += 1;
            out.push(match escape {
                b'"' | b'\\' | b'/' => escape as char,
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.escaped()?,
                _ => return None,
            });
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        let rest = self.text.get(self.at..)?.strip_prefix("\\u")?;
        self.at = self.text.len() - rest.len();
        let second = self.unit()?;
        let pair = (0xdc00..0xe000).contains(&second);
        pair.then(|| char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))).flatten()
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    }

    fn word(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.as_bytes().iter().take_while(|byte| is_word(byte)).count();
        let word = &rest[..length];
        self.at += length;
        if word.starts_with(|c: char| c.is_ascii_digit()) && word.bytes().all(|byte| byte.is_ascii_digit()) {
            return word.parse().ok().map(Value::Number);
        }
        let is_other = matches!(word, "true" | "false" | "null") || word.parse::<f64>().is_ok();
        is_other.then_some(Value::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_end_an_element() {
        let mut out = String::new();
        let hostile = "</script><!--\u{2028}\"\\\n\t\u{1f600}é&";
        string(&mut out, hostile);
        assert!(out.is_ascii() && !out.contains(['<', '>', '&', '\n']), "{out}");
        assert_eq!(Value::parse(&out), Some(Value::Text(hostile.to_owned())));
    }

    #[test]
    fn values() {
        let value = Value::parse(r#" {"a":[1, {"b":"c"} ,[]], "n":-1.5e3,"t":true,"o":{}} "#).expect("JSON");
        let list = value.get("a").expect("a member").list();
        assert_eq!((list[0].number(), list[1].get("b").and_then(Value::text)), (Some(1), Some("c")));
        assert_eq!((value.get("n"), value.get("t")), (Some(&Value::Other), Some(&Value::Other)));
    }

    #[test]
    fn what_is_no_json() {
        let deep = "[".repeat(1000);
        for text in [
            "",
            "{",
            "[1",
            "[1,]",
            "{\"a\"}",
            "\"\\ud800\"",
            "\"\\u12g4\"",
            "99999999999999999999",
            "1 2",
            "nil",
            &deep,
        ] {
            assert_eq!(Value::parse(text), None, "{text}");
        }
    }
}
