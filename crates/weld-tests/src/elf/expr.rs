//! Expressions over a linked file, for `check:` directives.
//!
//! `sym(foo) + 4 + s32(sym(main) + 1) == sym(bar)`: numbers, `+ - * / % & | << >>` with C's
//! precedence, parentheses, and functions of names (`sym`, `dynsym`, `addr`, …) or of expressions
//! (`u8` … `s64` read the loaded image). A check is a chain of comparisons: `a <= b < c`.
//! Arithmetic is done in `i128`, so that addresses do not wrap.

use super::image::{Image, Result};
use super::query;

/// Evaluates a chain of comparisons; the error says which failed and the values of both sides.
pub fn check(image: &Image, text: &str) -> Result<()> {
    let mut p = Parser { image, text, at: 0 };
    let mut left = p.sum(0)?;
    let mut compared = false;
    loop {
        p.space();
        if p.at == text.len() {
            return if compared { Ok(()) } else { Err(format!("`{text}` compares nothing")) };
        }
        let ops = ["==", "!=", "<=", ">=", "<", ">"];
        let op = ops.iter().find(|op| p.text[p.at..].starts_with(**op));
        let op = *op.ok_or_else(|| format!("unexpected `{}` in `{text}`", &text[p.at..]))?;
        p.at += op.len();
        let right = p.sum(0)?;
        let holds = match op {
            "==" => left == right,
            "!=" => left != right,
            "<=" => left <= right,
            ">=" => left >= right,
            "<" => left < right,
            _ => left > right,
        };
        if !holds {
            return Err(format!("`{text}`: {left:#x} {op} {right:#x} does not hold"));
        }
        (left, compared) = (right, true);
    }
}

/// Evaluates an expression without comparisons.
pub fn value(image: &Image, text: &str) -> Result<i128> {
    let mut p = Parser { image, text, at: 0 };
    let v = p.sum(0)?;
    p.space();
    if p.at == text.len() { Ok(v) } else { Err(format!("unexpected `{}` in `{text}`", &text[p.at..])) }
}

struct Parser<'a> {
    image: &'a Image,
    text: &'a str,
    at: usize,
}

/// Binary operators by level, loosest first.
const LEVELS: [&[&str]; 5] = [&["|"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

impl<'a> Parser<'a> {
    fn space(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    fn sum(&mut self, level: usize) -> Result<i128> {
        let Some(ops) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.sum(level + 1)?;
        loop {
            self.space();
            let rest = &self.text[self.at..];
            let Some(op) = ops.iter().find(|op| rest.starts_with(**op)) else { return Ok(left) };
            self.at += op.len();
            let right = self.sum(level + 1)?;
            left = match *op {
                "|" => left | right,
                "&" => left & right,
                "<<" => left << right,
                ">>" => left >> right,
                "+" => left + right,
                "-" => left - right,
                "*" => left * right,
                "/" => left.checked_div(right).ok_or("division by zero")?,
                _ => left.checked_rem(right).ok_or("division by zero")?,
            };
        }
    }

    fn atom(&mut self) -> Result<i128> {
        self.space();
        let rest = &self.text[self.at..];
        if rest.starts_with('(') {
            self.at += 1;
            let v = self.sum(0)?;
            return self.close(v);
        }
        if let Some(minus) = rest.strip_prefix('-') {
            self.at = self.text.len() - minus.len();
            return Ok(-self.atom()?);
        }
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..len];
        if word.is_empty() {
            return Err(format!("expected a value at `{rest}` in `{}`", self.text));
        }
        self.at += len;
        if word.as_bytes()[0].is_ascii_digit() {
            return number(word);
        }
        if !self.text[self.at..].starts_with('(') {
            return query::constant(self.image, word);
        }
        self.at += 1;
        if let Some((width, signed)) = query::read_width(word) {
            let addr = self.sum(0)?;
            let addr = u64::try_from(addr).map_err(|_| format!("bad address {addr:#x}"))?;
            let bytes = self.image.memory(addr, width)?;
            return self.close(integer(self.image.form.number(&bytes), width, signed));
        }
        let rest = &self.text[self.at..];
        let len = rest.find(')').ok_or_else(|| format!("missing `)` in `{}`", self.text))?;
        let name = rest[..len].trim();
        self.at += len;
        let v = query::function(self.image, word, name)?;
        self.close(v)
    }

    fn close(&mut self, v: i128) -> Result<i128> {
        self.space();
        if !self.text[self.at..].starts_with(')') {
            return Err(format!("missing `)` in `{}`", self.text));
        }
        self.at += 1;
        Ok(v)
    }
}

fn integer(v: u64, width: usize, signed: bool) -> i128 {
    let shift = 64 - 8 * width as u32;
    if signed { i128::from((v << shift) as i64 >> shift) } else { i128::from(v) }
}

pub fn number(word: &str) -> Result<i128> {
    let parsed = match word.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => word.parse(),
    };
    parsed.map_err(|_| format!("bad number `{word}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_and_chains() {
        let image = Image::default();
        assert_eq!(value(&image, "1 + 2 * (0x10 - 4) >> 1").unwrap(), 12);
        check(&image, "1 < 2 <= 2").unwrap();
        assert!(check(&image, "2 * 3 == 7").unwrap_err().contains("0x6 == 0x7"));
        assert!(check(&image, "1").is_err());
    }

    #[test]
    fn signed_reads() {
        assert_eq!(integer(0xffff, 2, true), -1);
        assert_eq!(integer(0xffff, 2, false), 0xffff);
    }
}
