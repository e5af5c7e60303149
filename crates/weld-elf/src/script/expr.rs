//! Values of symbols: `--defsym NAME=VALUE` and assignments of linker scripts.
//!
//! Expressions have the operators of C over 64-bit numbers that wrap around. At most one symbol may
//! take part, plus or minus a number, since symbols have no value before layout. What needs layout
//! (`.`, `ADDR`, `SIZEOF`, …) belongs to full linker scripts and is an error.

use weld_common::diag::Diagnostic;

use super::lexer::{Kind, Lexer, Mode, Token};
use crate::options::DefsymValue;

/// How deep parentheses and unary operators may nest.
const MAX_DEPTH: u32 = 64;

/// Parses `NAME=VALUE`. The error is a message without a place.
pub fn parse_defsym(text: &str) -> Result<(String, DefsymValue), String> {
    let strip = |d: Diagnostic| d.message.trim_start_matches(":1: ").to_owned();
    let mut lexer = Lexer::new(text.as_bytes(), "");
    let parsed = (|| {
        let name = lexer.name(Mode::Expression, "SYMBOL=VALUE")?;
        let symbol = symbol_name(&lexer, &name)?;
        lexer.expect(Mode::Expression, "=")?;
        let value = parse(&mut lexer)?;
        match lexer.next(Mode::Expression)? {
            Token { kind: Kind::End, .. } => Ok((symbol, value)),
            token => Err(lexer.unexpected(&token, "an operator")),
        }
    })();
    parsed.map_err(strip)
}

/// The name of a symbol that may be defined.
pub fn symbol_name(lexer: &Lexer<'_>, token: &Token<'_>) -> Result<String, Diagnostic> {
    let text = lexer.utf8(token)?;
    if token.kind == Kind::Quoted {
        return Ok(text);
    }
    if text == "." {
        return Err(
            lexer.error(token.line, "'.' has no meaning here; full linker scripts are not supported yet")
        );
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(lexer.unexpected(token, "a symbol"));
    }
    Ok(text)
}

/// Parses an expression up to what cannot belong to it.
pub fn parse(lexer: &mut Lexer<'_>) -> Result<DefsymValue, Diagnostic> {
    let mut parser = Parser { lexer, depth: 0 };
    parser.ternary()
}

struct Parser<'p, 'a> {
    lexer: &'p mut Lexer<'a>,
    depth: u32,
}

/// Binary operators by rising precedence.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'a> Parser<'_, 'a> {
    fn peek(&self) -> Result<Token<'a>, Diagnostic> {
        self.lexer.peek(Mode::Expression)
    }

    fn next(&mut self) -> Result<Token<'a>, Diagnostic> {
        self.lexer.next(Mode::Expression)
    }

    fn nested<T>(&mut self, parse: fn(&mut Self) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        if self.depth == MAX_DEPTH {
            let line = self.peek()?.line;
            return Err(self.lexer.error(line, "the expression nests too deeply"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn ternary(&mut self) -> Result<DefsymValue, Diagnostic> {
        let condition = self.binary(0)?;
        let question = self.peek()?;
        if !question.is("?") {
            return Ok(condition);
        }
        self.next()?;
        let yes = self.nested(Self::ternary)?;
        self.lexer.expect(Mode::Expression, ":")?;
        let no = self.nested(Self::ternary)?;
        Ok(if self.number(&condition, &question)? != 0 { yes } else { no })
    }

    /// Operators of one level of precedence and above.
    fn binary(&mut self, level: usize) -> Result<DefsymValue, Diagnostic> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        loop {
            let operator = self.peek()?;
            if !LEVELS[level].iter().any(|text| operator.is(text)) {
                return Ok(left);
            }
            self.next()?;
            let right = self.binary(level + 1)?;
            left = self.apply(&operator, left, right)?;
        }
    }

    fn apply(
        &self,
        operator: &Token<'a>,
        left: DefsymValue,
        right: DefsymValue,
    ) -> Result<DefsymValue, Diagnostic> {
        use DefsymValue::{Absolute, Symbol};
        // What may be done with a symbol before its address is known.
        match (operator.text, &left, &right) {
            (b"+", Symbol(name, offset), Absolute(n)) | (b"+", Absolute(n), Symbol(name, offset)) => {
                return Ok(Symbol(name.clone(), offset.wrapping_add(*n as i64)));
            }
            (b"-", Symbol(name, offset), Absolute(n)) => {
                return Ok(Symbol(name.clone(), offset.wrapping_sub(*n as i64)));
            }
            _ => {}
        }
        let a = self.number(&left, operator)?;
        let b = self.number(&right, operator)?;
        let value = match operator.text {
            b"||" => u64::from(a != 0 || b != 0),
            b"&&" => u64::from(a != 0 && b != 0),
            b"|" => a | b,
            b"^" => a ^ b,
            b"&" => a & b,
            b"==" => u64::from(a == b),
            b"!=" => u64::from(a != b),
            b"<" => u64::from(a < b),
            b"<=" => u64::from(a <= b),
            b">" => u64::from(a > b),
            b">=" => u64::from(a >= b),
            b"<<" => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
            b">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0),
            b"+" => a.wrapping_add(b),
            b"-" => a.wrapping_sub(b),
            b"*" => a.wrapping_mul(b),
            _ if b == 0 => return Err(self.lexer.error(operator.line, "division by zero")),
            b"/" => a / b,
            _ => a % b,
        };
        Ok(Absolute(value))
    }

    /// A value that must be a number because of `operator`.
    fn number(&self, value: &DefsymValue, operator: &Token<'a>) -> Result<u64, Diagnostic> {
        match value {
            DefsymValue::Absolute(number) => Ok(*number),
            DefsymValue::Symbol(name, _) => {
                let shown = String::from_utf8_lossy(operator.text);
                let message = format!(
                    "'{shown}' cannot be applied to the symbol {name}: only a symbol plus or minus a number \
                     is supported yet"
                );
                Err(self.lexer.error(operator.line, message))
            }
        }
    }

    fn unary(&mut self) -> Result<DefsymValue, Diagnostic> {
        let token = self.next()?;
        let operand = |parser: &mut Self| -> Result<u64, Diagnostic> {
            let value = parser.nested(Self::unary)?;
            parser.number(&value, &token)
        };
        match (token.kind, token.text) {
            (Kind::Punctuation, b"-") => Ok(DefsymValue::Absolute(operand(self)?.wrapping_neg())),
            (Kind::Punctuation, b"~") => Ok(DefsymValue::Absolute(!operand(self)?)),
            (Kind::Punctuation, b"!") => Ok(DefsymValue::Absolute(u64::from(operand(self)? == 0))),
            (Kind::Punctuation, b"+") => self.nested(Self::unary),
            (Kind::Punctuation, b"(") => {
                let value = self.nested(Self::ternary)?;
                self.lexer.expect(Mode::Expression, ")")?;
                Ok(value)
            }
            (Kind::Word, [b'0'..=b'9', ..]) => self.literal(&token).map(DefsymValue::Absolute),
            (Kind::Word, text) if self.peek()?.is("(") => self.function(&token, text),
            (Kind::Word | Kind::Quoted, [_, ..]) => {
                Ok(DefsymValue::Symbol(symbol_name(self.lexer, &token)?, 0))
            }
            _ => Err(self.lexer.unexpected(&token, "a number or a symbol")),
        }
    }

    fn function(&mut self, token: &Token<'a>, name: &[u8]) -> Result<DefsymValue, Diagnostic> {
        let arguments = match name {
            b"ABSOLUTE" => 1,
            b"MAX" | b"MIN" => 2,
            _ => {
                let name = String::from_utf8_lossy(name);
                let message = format!("{name}( ) needs a full linker script, which is not supported yet");
                return Err(self.lexer.error(token.line, message));
            }
        };
        self.next()?;
        let first = self.nested(Self::ternary)?;
        let value = if arguments == 1 {
            first
        } else {
            self.lexer.expect(Mode::Expression, ",")?;
            let second = self.nested(Self::ternary)?;
            let (a, b) = (self.number(&first, token)?, self.number(&second, token)?);
            DefsymValue::Absolute(if name == b"MAX" { a.max(b) } else { a.min(b) })
        };
        self.lexer.expect(Mode::Expression, ")")?;
        Ok(value)
    }

    /// Decimal, `0x` or `…h` hexadecimal, octal behind a zero; `K` and `M` multiply.
    fn literal(&self, token: &Token<'a>) -> Result<u64, Diagnostic> {
        let text = String::from_utf8_lossy(token.text);
        literal(&text).ok_or_else(|| self.lexer.unexpected(token, "a number of at most 64 bits"))
    }
}

fn literal(text: &str) -> Option<u64> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        let (digits, scale) = scaled(digits);
        return radix(digits, 16)?.checked_mul(scale);
    }
    if let Some(digits) = text.strip_suffix(['h', 'H']) {
        return radix(digits, 16);
    }
    let (digits, scale) = scaled(text);
    let number = match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => radix(octal, 8)?,
        _ => radix(digits, 10)?,
    };
    number.checked_mul(scale)
}

fn scaled(text: &str) -> (&str, u64) {
    if let Some(digits) = text.strip_suffix(['k', 'K']) {
        (digits, 1 << 10)
    } else if let Some(digits) = text.strip_suffix(['m', 'M']) {
        (digits, 1 << 20)
    } else {
        (text, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DefsymValue::{Absolute, Symbol};

    fn value(text: &str) -> Result<DefsymValue, String> {
        parse_defsym(&format!("x={text}")).map(|(_, value)| value)
    }

    #[test]
    fn numbers() {
        for (text, number) in [
            ("0", 0),
            ("0x1F", 31),
            ("010", 8),
            ("0ffH", 255),
            ("4K", 4096),
            ("0x1M", 1 << 20),
            ("18446744073709551615", u64::MAX),
            ("-1", u64::MAX),
            ("~0 & 0xff", 255),
            ("1 + 2 * 3 - 8 / 2 % 3", 6),
            ("(1 + 2) * 3", 9),
            ("1 << 4 | 1", 17),
            ("1 << 64", 0),
            ("1 << 0x100000000", 0),
            ("2 > 1 && 1 == 1 ? 7 : 8", 7),
            ("!5 || 0", 0),
            ("MAX(3, MIN(9, 4))", 4),
            ("ABSOLUTE(0x10)", 16),
            ("- - 1", 1),
        ] {
            assert_eq!(value(text), Ok(Absolute(number)), "{text}");
        }
    }

    #[test]
    fn symbols() {
        assert_eq!(value("a"), Ok(Symbol("a".into(), 0)));
        assert_eq!(value("a+4"), Ok(Symbol("a".into(), 4)));
        assert_eq!(value("4 + (a - 1) - 0x10"), Ok(Symbol("a".into(), -13)));
        assert_eq!(value("1 ? .L$x : 0"), Ok(Symbol(".L$x".into(), 0)));
        assert_eq!(value("\"a-b\" + 1"), Ok(Symbol("a-b".into(), 1)));
        assert_eq!(parse_defsym(" f = g ").unwrap().0, "f");
    }

    #[test]
    fn mistakes() {
        let error = |text: &str| value(text).unwrap_err();
        assert_eq!(error("1 / (2 - 2)"), "division by zero");
        assert_eq!(error("1 2"), "expected an operator, but found '2'");
        assert_eq!(error(""), "expected a number or a symbol, but found the end of the file");
        assert_eq!(
            error("18446744073709551616"),
            "expected a number of at most 64 bits, but found '18446744073709551616'"
        );
        assert!(error("a * 2").starts_with("'*' cannot be applied to the symbol a"));
        assert!(error("a - b").starts_with("'-' cannot be applied to the symbol"));
        assert!(error("ADDR(.text)").starts_with("ADDR( ) needs a full linker script"));
        assert!(error(".").contains("full linker scripts are not supported yet"));
        assert!(error("09").contains("expected a number") && error("0x").contains("expected a number"));
        assert!(parse_defsym("1=2").unwrap_err().contains("expected a symbol"));
        assert!(parse_defsym("a").unwrap_err().contains("expected '='"));
    }

    #[test]
    fn depth_is_bounded() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "1?".repeat(100_000), "MAX(".repeat(100_000)] {
            assert_eq!(value(&text).unwrap_err(), "the expression nests too deeply");
        }
    }
}
