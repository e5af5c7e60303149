//! Expressions of linker scripts and of `--defsym`.
//!
//! They have the operators of C over 64-bit numbers that wrap around, and functions that ask the layout. An
//! [`Expr`] is code for a machine with a stack, in one flat list: however long it is, it is evaluated and
//! dropped in a loop. What needs no layout is evaluated at once ([`Expr::simple`]); `layout::scripted` does
//! the rest.
//!
//! Source: GNU ld manual, "Expressions in Linker Scripts".

use std::fmt;
use std::sync::Arc;

use weld_common::diag::Diagnostic;

use super::lexer::{Kind, Lexer, Mode, Place, Token, redirected};

/// How deep parentheses, functions and unary operators may nest.
const MAX_DEPTH: u32 = 64;

/// An expression. What stands for itself is pushed; everything else takes its operands from the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub code: Vec<Op>,
    pub place: Place,
}

/// The value of `--defsym NAME=VALUE` and of `NAME = VALUE;` in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefsymValue {
    Absolute(u64),
    /// Another symbol plus an offset.
    Symbol(String, i64),
    /// What is known only when everything has its address.
    Computed(Expr),
}

impl DefsymValue {
    /// References to what `--wrap` names go to what it puts in its place.
    pub fn redirect(&mut self, wrapped: &[String]) {
        let rename = |name: &mut String| {
            if let Some(other) = redirected(name, wrapped) {
                *name = other;
            }
        };
        match self {
            DefsymValue::Absolute(_) => {}
            DefsymValue::Symbol(name, _) => rename(name),
            DefsymValue::Computed(expr) => expr.code.iter_mut().for_each(|op| {
                if let Op::Symbol(name) | Op::Defined(name) = op {
                    rename(name);
                }
            }),
        }
    }

    /// The same as code.
    pub fn into_expr(self, place: &Place) -> Expr {
        let code = match self {
            DefsymValue::Absolute(value) => vec![Op::Number(value)],
            DefsymValue::Symbol(name, 0) => vec![Op::Symbol(name)],
            DefsymValue::Symbol(name, offset) => {
                vec![Op::Symbol(name), Op::Number(offset as u64), Op::Binary(Binary::Add)]
            }
            DefsymValue::Computed(expr) => return expr,
        };
        Expr { code, place: place.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Number(u64),
    /// `.`
    Dot,
    Symbol(String),
    Unary(Unary),
    Binary(Binary),
    /// Takes a value, and goes on at this place of the code if it is 0.
    JumpIfZero(u32),
    Jump(u32),
    /// Whether a value is not 0, as a number.
    IsTrue,
    /// `ALIGN(value, alignment)`; `ALIGN(alignment)` has `.` for the value.
    Align,
    Absolute,
    Max,
    Min,
    Log2Ceil,
    /// Of the output section of this name.
    Address(Vec<u8>),
    LoadAddress(Vec<u8>),
    Size(Vec<u8>),
    Alignment(Vec<u8>),
    HeadersSize,
    Defined(String),
    MaxPageSize,
    CommonPageSize,
    DataSegmentAlign,
    DataSegmentRelroEnd,
    DataSegmentEnd,
    /// `SEGMENT_START(name, value)`.
    SegmentStart(String),
    /// Of the region of this name.
    Origin(String),
    Length(String),
    /// `NEXT(alignment)`.
    Next,
    /// `ASSERT(value, message)`: the value.
    Assert(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Invert,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Or,
    Xor,
    And,
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Unary {
    pub fn apply(self, value: u64) -> u64 {
        match self {
            Unary::Negate => value.wrapping_neg(),
            Unary::Invert => !value,
            Unary::Not => u64::from(value == 0),
        }
    }
}

impl Binary {
    /// `None`: a division by zero.
    pub fn apply(self, a: u64, b: u64) -> Option<u64> {
        Some(match self {
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::And => a & b,
            Binary::Equal => u64::from(a == b),
            Binary::Different => u64::from(a != b),
            Binary::Less => u64::from(a < b),
            Binary::LessOrEqual => u64::from(a <= b),
            Binary::Greater => u64::from(a > b),
            Binary::GreaterOrEqual => u64::from(a >= b),
            Binary::ShiftLeft => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
            Binary::ShiftRight => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0),
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
            Binary::Divide => a.checked_div(b)?,
            Binary::Remainder => a.checked_rem(b)?,
        })
    }

    /// Whether the result says something of the operands, rather than being of their sort.
    pub fn compares(self) -> bool {
        use Binary::*;
        matches!(self, Equal | Different | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    /// Whether the result is no address any more, even if an operand is.
    pub fn scales(self) -> bool {
        use Binary::*;
        matches!(self, ShiftLeft | ShiftRight | Multiply | Divide | Remainder)
    }
}

/// How wide the least multiple of a power of two is.
pub fn log2_ceil(value: u64) -> u64 {
    match value {
        0 | 1 => 0,
        _ => 64 - u64::from((value - 1).leading_zeros()),
    }
}

/// Binary operators that are no jumps, by rising precedence from 3 on: `?:`, `||` and `&&` come before them.
const OPERATORS: [(&str, u32, Binary); 16] = [
    ("|", 3, Binary::Or),
    ("^", 4, Binary::Xor),
    ("&", 5, Binary::And),
    ("==", 6, Binary::Equal),
    ("!=", 6, Binary::Different),
    ("<", 7, Binary::Less),
    ("<=", 7, Binary::LessOrEqual),
    (">", 7, Binary::Greater),
    (">=", 7, Binary::GreaterOrEqual),
    ("<<", 8, Binary::ShiftLeft),
    (">>", 8, Binary::ShiftRight),
    ("+", 9, Binary::Add),
    ("-", 9, Binary::Subtract),
    ("*", 10, Binary::Multiply),
    ("/", 10, Binary::Divide),
    ("%", 10, Binary::Remainder),
];
const OR: u32 = 1;
const AND: u32 = 2;

/// A value is divided by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionByZero;

impl fmt::Display for DivisionByZero {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("division by zero")
    }
}

impl std::error::Error for DivisionByZero {}

/// Why `--defsym` cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefsymError {
    /// What the parser of scripts says; it has no place, since the text is in no file.
    Syntax(Diagnostic),
    DivisionByZero,
}

impl fmt::Display for DefsymError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefsymError::Syntax(diagnostic) => f.write_str(&diagnostic.message),
            DefsymError::DivisionByZero => DivisionByZero.fmt(f),
        }
    }
}

impl std::error::Error for DefsymError {}

impl From<Diagnostic> for DefsymError {
    fn from(diagnostic: Diagnostic) -> Self {
        DefsymError::Syntax(diagnostic)
    }
}

impl From<DivisionByZero> for DefsymError {
    fn from(DivisionByZero: DivisionByZero) -> Self {
        DefsymError::DivisionByZero
    }
}

/// Parses `NAME=VALUE`.
pub fn parse_defsym(text: &str) -> Result<(String, DefsymValue), DefsymError> {
    let mut lexer = Lexer::new(text.as_bytes(), "");
    let origin = format!("--defsym={text}").into();
    let name = lexer.name(Mode::Expression, "SYMBOL=VALUE")?;
    let symbol = symbol_name(&lexer, &name)?;
    lexer.expect(Mode::Expression, "=")?;
    let mut value = parse(&mut lexer, &origin)?;
    value.place.line = 0;
    match lexer.next(Mode::Expression)? {
        Token { kind: Kind::End, .. } => Ok((symbol, value.simple()?)),
        token => Err(lexer.unexpected(&token, "an operator").into()),
    }
}

/// The name of a symbol that may be defined.
pub fn symbol_name(lexer: &Lexer<'_>, token: &Token<'_>) -> Result<String, Diagnostic> {
    let text = lexer.utf8(token)?;
    if token.kind == Kind::Quoted {
        return Ok(text);
    }
    if text == "." {
        return Err(lexer.error_at(token, "'.' can only be assigned to inside SECTIONS"));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(lexer.unexpected(token, "a symbol"));
    }
    Ok(text)
}

/// Parses an expression up to what cannot belong to it. `path` is for messages of later phases.
pub fn parse(lexer: &mut Lexer<'_>, path: &Arc<str>) -> Result<Expr, Diagnostic> {
    let place = lexer.peek(Mode::Expression)?.place(path);
    let mut parser = Parser { lexer, depth: 0, code: Vec::new() };
    parser.ternary()?;
    Ok(Expr { code: parser.code, place })
}

impl Expr {
    /// The value as far as it is known without layout: a number, or a symbol and a distance from it.
    pub fn simple(self) -> Result<DefsymValue, DivisionByZero> {
        let mut stack: Vec<DefsymValue> = Vec::new();
        let mut at = 0;
        while let Some(op) = self.code.get(at) {
            at += 1;
            match op {
                Op::Number(number) => stack.push(DefsymValue::Absolute(*number)),
                Op::Symbol(name) => stack.push(DefsymValue::Symbol(name.clone(), 0)),
                Op::Absolute => {}
                Op::Jump(to) => at = *to as usize,
                Op::JumpIfZero(to) => match stack.pop() {
                    Some(DefsymValue::Absolute(0)) => at = *to as usize,
                    Some(DefsymValue::Absolute(_)) => {}
                    _ => return Ok(DefsymValue::Computed(self)),
                },
                Op::Binary(operator) => {
                    let (Some(b), Some(a)) = (stack.pop(), stack.pop()) else { break };
                    match simple_binary(*operator, a, b)? {
                        Some(value) => stack.push(value),
                        None => return Ok(DefsymValue::Computed(self)),
                    }
                }
                Op::Unary(_) | Op::IsTrue | Op::Log2Ceil => match (op, stack.pop()) {
                    (Op::Unary(operator), Some(DefsymValue::Absolute(value))) => {
                        stack.push(DefsymValue::Absolute(operator.apply(value)));
                    }
                    (Op::IsTrue, Some(DefsymValue::Absolute(value))) => {
                        stack.push(DefsymValue::Absolute(u64::from(value != 0)));
                    }
                    (Op::Log2Ceil, Some(DefsymValue::Absolute(value))) => {
                        stack.push(DefsymValue::Absolute(log2_ceil(value)));
                    }
                    _ => return Ok(DefsymValue::Computed(self)),
                },
                Op::Max | Op::Min => match (op, stack.pop(), stack.pop()) {
                    (Op::Max, Some(DefsymValue::Absolute(b)), Some(DefsymValue::Absolute(a))) => {
                        stack.push(DefsymValue::Absolute(a.max(b)));
                    }
                    (Op::Min, Some(DefsymValue::Absolute(b)), Some(DefsymValue::Absolute(a))) => {
                        stack.push(DefsymValue::Absolute(a.min(b)));
                    }
                    _ => return Ok(DefsymValue::Computed(self)),
                },
                _ => return Ok(DefsymValue::Computed(self)),
            }
        }
        // ABSOLUTE of a symbol is its address as a number, whatever the symbol is.
        match stack.pop() {
            Some(DefsymValue::Symbol(..)) if self.code.contains(&Op::Absolute) => {
                Ok(DefsymValue::Computed(self))
            }
            Some(value) => Ok(value),
            None => Ok(DefsymValue::Computed(self)),
        }
    }

    /// `old OPERATOR self`: what `+=` assigns.
    pub fn behind(mut self, old: Op, operator: Binary) -> Expr {
        self.code.insert(0, old);
        for op in &mut self.code {
            if let Op::Jump(to) | Op::JumpIfZero(to) = op {
                *to += 1;
            }
        }
        self.code.push(Op::Binary(operator));
        self
    }

    /// The symbols that it names, also those that it only asks about.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.code.iter().filter_map(|op| match op {
            Op::Symbol(name) | Op::Defined(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The symbols that the value depends on.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.code.iter().filter_map(|op| match op {
            Op::Symbol(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

/// What may be done before symbols have addresses.
fn simple_binary(
    operator: Binary,
    a: DefsymValue,
    b: DefsymValue,
) -> Result<Option<DefsymValue>, DivisionByZero> {
    use DefsymValue::{Absolute, Symbol};
    Ok(Some(match (operator, a, b) {
        (Binary::Add, Symbol(name, offset), Absolute(n))
        | (Binary::Add, Absolute(n), Symbol(name, offset)) => Symbol(name, offset.wrapping_add(n as i64)),
        (Binary::Subtract, Symbol(name, offset), Absolute(n)) => Symbol(name, offset.wrapping_sub(n as i64)),
        (_, Absolute(a), Absolute(b)) => Absolute(operator.apply(a, b).ok_or(DivisionByZero)?),
        _ => return Ok(None),
    }))
}

struct Parser<'p, 'a> {
    lexer: &'p mut Lexer<'a>,
    depth: u32,
    code: Vec<Op>,
}

impl<'a> Parser<'_, 'a> {
    fn peek(&self) -> Result<Token<'a>, Diagnostic> {
        self.lexer.peek(Mode::Expression)
    }

    fn next(&mut self) -> Result<Token<'a>, Diagnostic> {
        self.lexer.next(Mode::Expression)
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Result<(), Diagnostic>) -> Result<(), Diagnostic> {
        if self.depth == MAX_DEPTH {
            let token = self.peek()?;
            return Err(self.lexer.error_at(&token, "the expression nests too deeply"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Adds a jump whose target is not known yet.
    fn jump(&mut self, jump: fn(u32) -> Op) -> usize {
        self.code.push(jump(0));
        self.code.len() - 1
    }

    /// Lets a jump go to what follows.
    fn land(&mut self, jump: usize) {
        let here = self.code.len() as u32;
        if let Op::Jump(to) | Op::JumpIfZero(to) = &mut self.code[jump] {
            *to = here;
        }
    }

    fn ternary(&mut self) -> Result<(), Diagnostic> {
        self.binary(0)?;
        if !self.lexer.accept(Mode::Expression, "?")? {
            return Ok(());
        }
        let otherwise = self.jump(Op::JumpIfZero);
        self.nested(Self::ternary)?;
        self.lexer.expect(Mode::Expression, ":")?;
        let end = self.jump(Op::Jump);
        self.land(otherwise);
        self.nested(Self::ternary)?;
        self.land(end);
        Ok(())
    }

    /// Operators of at least this precedence. Nests as deep as there are precedences.
    fn binary(&mut self, least: u32) -> Result<(), Diagnostic> {
        self.unary()?;
        loop {
            let token = self.peek()?;
            let shortcut = [("||", OR), ("&&", AND)].into_iter().find(|(text, _)| token.is(text));
            if let Some((_, precedence)) = shortcut.filter(|(_, precedence)| *precedence >= least) {
                self.next()?;
                self.shortcut(precedence)?;
                continue;
            }
            let found = OPERATORS.iter().find(|(text, ..)| token.is(text));
            let Some(&(_, precedence, operator)) = found.filter(|(_, precedence, _)| *precedence >= least)
            else {
                return Ok(());
            };
            self.next()?;
            self.binary(precedence + 1)?;
            self.code.push(Op::Binary(operator));
        }
    }

    /// The right side of `&&` or `||`, which counts only if the left side does not decide.
    fn shortcut(&mut self, precedence: u32) -> Result<(), Diagnostic> {
        let is_or = precedence == OR;
        if is_or {
            self.code.push(Op::Unary(Unary::Not));
        }
        let decided = self.jump(Op::JumpIfZero);
        self.binary(precedence + 1)?;
        self.code.push(Op::IsTrue);
        let end = self.jump(Op::Jump);
        self.land(decided);
        self.code.push(Op::Number(u64::from(is_or)));
        self.land(end);
        Ok(())
    }

    fn unary(&mut self) -> Result<(), Diagnostic> {
        let token = self.next()?;
        let operator = match token.text {
            b"-" => Some(Unary::Negate),
            b"~" => Some(Unary::Invert),
            b"!" => Some(Unary::Not),
            _ => None,
        };
        match (token.kind, token.text) {
            (Kind::Punctuation, b"+") => self.nested(Self::unary),
            (Kind::Punctuation, b"(") => {
                self.nested(Self::ternary)?;
                self.lexer.expect(Mode::Expression, ")")
            }
            (Kind::Punctuation, _) if operator.is_some() => {
                self.nested(Self::unary)?;
                self.code.extend(operator.map(Op::Unary));
                Ok(())
            }
            (Kind::Word, b".") => {
                self.code.push(Op::Dot);
                Ok(())
            }
            (Kind::Word, [b'0'..=b'9', ..]) => {
                let number = self.literal(&token)?;
                self.code.push(Op::Number(number));
                Ok(())
            }
            (Kind::Word, b"SIZEOF_HEADERS" | b"sizeof_headers") => {
                self.code.push(Op::HeadersSize);
                Ok(())
            }
            (Kind::Word, name) if is_function(name) && self.peek()?.is("(") => self.function(&token),
            (Kind::Word | Kind::Quoted, [_, ..]) => {
                let name = symbol_name(self.lexer, &token)?;
                self.code.push(Op::Symbol(self.lexer.referred(name)));
                Ok(())
            }
            _ => Err(self.lexer.unexpected(&token, "a number or a symbol")),
        }
    }

    fn function(&mut self, token: &Token<'a>) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::Expression, "(")?;
        match token.text {
            b"ABSOLUTE" => self.values(1, Op::Absolute)?,
            b"MAX" => self.values(2, Op::Max)?,
            b"MIN" => self.values(2, Op::Min)?,
            b"LOG2CEIL" => self.values(1, Op::Log2Ceil)?,
            b"NEXT" => self.values(1, Op::Next)?,
            b"DATA_SEGMENT_ALIGN" => self.values(2, Op::DataSegmentAlign)?,
            b"DATA_SEGMENT_RELRO_END" => self.values(2, Op::DataSegmentRelroEnd)?,
            b"DATA_SEGMENT_END" => self.values(1, Op::DataSegmentEnd)?,
            b"ALIGN" | b"BLOCK" => self.align()?,
            b"ADDR" => self.of_section(Op::Address)?,
            b"LOADADDR" => self.of_section(Op::LoadAddress)?,
            b"SIZEOF" => self.of_section(Op::Size)?,
            b"ALIGNOF" => self.of_section(Op::Alignment)?,
            b"DEFINED" => {
                self.of_name(Op::Defined)?;
                if let Some(Op::Defined(name)) = self.code.last_mut() {
                    *name = self.lexer.referred(std::mem::take(name));
                }
            }
            b"ORIGIN" => self.of_name(Op::Origin)?,
            b"LENGTH" => self.of_name(Op::Length)?,
            b"CONSTANT" => self.constant()?,
            b"SEGMENT_START" => {
                let name = self.lexer.name(Mode::File, "a segment")?;
                let name = self.lexer.utf8(&name)?;
                self.lexer.expect(Mode::Expression, ",")?;
                self.values(1, Op::SegmentStart(name))?;
            }
            _ => {
                self.nested(Self::ternary)?;
                self.lexer.expect(Mode::Expression, ",")?;
                let message = self.lexer.name(Mode::File, "a message")?;
                self.code.push(Op::Assert(String::from_utf8_lossy(message.text).into_owned()));
            }
        }
        self.lexer.expect(Mode::Expression, ")")
    }

    /// So many values for `op`.
    fn values(&mut self, count: usize, op: Op) -> Result<(), Diagnostic> {
        for i in 0..count {
            if i > 0 {
                self.lexer.expect(Mode::Expression, ",")?;
            }
            self.nested(Self::ternary)?;
        }
        self.code.push(op);
        Ok(())
    }

    /// `ALIGN(alignment)` or `ALIGN(value, alignment)`.
    fn align(&mut self) -> Result<(), Diagnostic> {
        let start = self.code.len();
        self.nested(Self::ternary)?;
        if self.lexer.accept(Mode::Expression, ",")? {
            self.nested(Self::ternary)?;
        } else {
            // Jumps inside go to places that move by one.
            self.code.insert(start, Op::Dot);
            for op in &mut self.code[start..] {
                if let Op::Jump(to) | Op::JumpIfZero(to) = op {
                    *to += 1;
                }
            }
        }
        self.code.push(Op::Align);
        Ok(())
    }

    fn of_section(&mut self, op: fn(Vec<u8>) -> Op) -> Result<(), Diagnostic> {
        let name = self.lexer.name(Mode::File, "an output section")?;
        self.code.push(op(name.text.to_vec()));
        Ok(())
    }

    fn of_name(&mut self, op: fn(String) -> Op) -> Result<(), Diagnostic> {
        let name = self.lexer.name(Mode::File, "a name")?;
        let name = self.lexer.utf8(&name)?;
        self.code.push(op(name));
        Ok(())
    }

    fn constant(&mut self) -> Result<(), Diagnostic> {
        let name = self.lexer.name(Mode::Expression, "MAXPAGESIZE or COMMONPAGESIZE")?;
        self.code.push(match name.text {
            b"MAXPAGESIZE" => Op::MaxPageSize,
            b"COMMONPAGESIZE" => Op::CommonPageSize,
            _ => return Err(self.lexer.unexpected(&name, "MAXPAGESIZE or COMMONPAGESIZE")),
        });
        Ok(())
    }

    /// Decimal, `0x` or `…h` hexadecimal, octal after a zero; `K` and `M` multiply.
    fn literal(&self, token: &Token<'a>) -> Result<u64, Diagnostic> {
        let text = String::from_utf8_lossy(token.text);
        literal(&text).ok_or_else(|| self.lexer.unexpected(token, "a number of at most 64 bits"))
    }
}

/// Whether a name in front of `(` is that of a function.
fn is_function(name: &[u8]) -> bool {
    const FUNCTIONS: [&[u8]; 21] = [
        b"ABSOLUTE",
        b"ADDR",
        b"ALIGN",
        b"ALIGNOF",
        b"ASSERT",
        b"BLOCK",
        b"CONSTANT",
        b"DATA_SEGMENT_ALIGN",
        b"DATA_SEGMENT_END",
        b"DATA_SEGMENT_RELRO_END",
        b"DEFINED",
        b"LENGTH",
        b"LOADADDR",
        b"LOG2CEIL",
        b"MAX",
        b"MIN",
        b"NEXT",
        b"ORIGIN",
        b"SEGMENT_START",
        b"SIZEOF",
        b"SIZEOF_HEADERS",
    ];
    FUNCTIONS.contains(&name)
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

    fn value(text: &str) -> Result<DefsymValue, DefsymError> {
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
            ("0 && 1 / 0", 0),
            ("3 || 1 / 0", 1),
            ("1 ? 2 ? 3 : 4 : 5", 3),
            ("LOG2CEIL(5) + LOG2CEIL(8) + LOG2CEIL(0)", 6),
            ("1 + 1 == 2 && 7 & 3 | 8 ^ 8", 1),
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
    fn what_needs_layout_is_code() {
        let code = |text: &str| match value(text) {
            Ok(DefsymValue::Computed(expr)) => expr.code,
            other => panic!("{text}: {other:?}"),
        };
        let symbol = |name: &str| Op::Symbol(name.into());
        assert_eq!(code("a - b"), [symbol("a"), symbol("b"), Op::Binary(Binary::Subtract)]);
        assert_eq!(code("ADDR(.text.a-b)"), [Op::Address(b".text.a-b".to_vec())]);
        assert_eq!(code("ALIGN(8)"), [Op::Dot, Op::Number(8), Op::Align]);
        assert_eq!(
            code("ALIGN(. != 0 ? 2 : 1)"),
            [
                Op::Dot,
                Op::Dot,
                Op::Number(0),
                Op::Binary(Binary::Different),
                Op::JumpIfZero(7),
                Op::Number(2),
                Op::Jump(8),
                Op::Number(1),
                Op::Align
            ]
        );
        assert_eq!(code("ABSOLUTE(a)"), [symbol("a"), Op::Absolute]);
        let names = ["SIZEOF(.a)", "LOADADDR(.a)", "ALIGNOF(.a)", "DEFINED(a)", "ORIGIN(a)", "LENGTH(a)"];
        assert!(names.iter().all(|text| code(text).len() == 1));
        assert_eq!(
            code("SEGMENT_START(\"text-segment\", 4)"),
            [Op::Number(4), Op::SegmentStart("text-segment".into())]
        );
        assert_eq!(code("ASSERT(a, \"no\")"), [symbol("a"), Op::Assert("no".into())]);
    }

    #[test]
    fn mistakes() {
        let error = |text: &str| value(text).unwrap_err().to_string();
        assert_eq!(error("1 / (2 - 2)"), "division by zero");
        assert_eq!(error("1 2"), "expected an operator, but found '2'");
        assert_eq!(error(""), "expected a number or a symbol, but found the end of the file");
        assert_eq!(
            error("18446744073709551616"),
            "expected a number of at most 64 bits, but found '18446744073709551616'"
        );
        assert!(error("09").contains("expected a number") && error("0x").contains("expected a number"));
        assert!(parse_defsym("1=2").unwrap_err().to_string().contains("expected a symbol"));
        assert!(parse_defsym("a").unwrap_err().to_string().contains("expected '='"));
    }

    #[test]
    fn depth_is_bounded() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "1?".repeat(100_000), "MAX(".repeat(100_000)] {
            assert_eq!(value(&text).unwrap_err().to_string(), "the expression nests too deeply");
        }
    }
}
