//! What the value of an expression is, as far as that is known before anything has an address: a number, or
//! an address that moves with the image.
//!
//! The expression is gone through as if it were evaluated, with what is known of each value in its place.
//! Conditions that are known decide which way is gone. Where one is not, both ways are, and what may be an
//! address is taken for one: whoever lays out knows better in the end (`layout::scripted::promises`).
//!
//! Source: GNU ld manual, "The Section of an Expression".

use super::expr::{Binary, Expr, Op, Unary, log2_ceil};
use crate::ids::SymbolId;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Of nothing: in an output section it counts from its start.
    Number,
    /// An address that does not move with the image.
    Absolute,
    /// An address that does.
    Address,
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub kind: ValueKind,
    /// The value, if that depends on no address.
    pub value: Option<u64>,
    /// The symbol that it is, by whatever name.
    pub same: Option<SymbolId>,
}

impl Known {
    pub const ADDRESS: Known = Known::of(ValueKind::Address);

    pub const fn of(kind: ValueKind) -> Known {
        Known { kind, value: None, same: None }
    }

    pub fn absolute(value: u64) -> Known {
        Known { value: Some(value), ..Known::of(ValueKind::Absolute) }
    }

    fn number(value: impl Into<Option<u64>>) -> Known {
        Known { value: value.into(), ..Known::of(ValueKind::Number) }
    }

    /// Where two ways meet, and either may have been gone.
    fn either(self, other: Known) -> Known {
        Known {
            kind: if self.kind == other.kind { self.kind } else { ValueKind::Address },
            value: self.value.filter(|_| self.value == other.value),
            same: self.same.filter(|_| self.same == other.same),
        }
    }
}

impl ValueKind {
    /// Of the larger or the smaller of two values.
    fn or(self, other: ValueKind) -> ValueKind {
        match (self, other) {
            (ValueKind::Address, _) | (_, ValueKind::Address) => ValueKind::Address,
            (ValueKind::Absolute, _) | (_, ValueKind::Absolute) => ValueKind::Absolute,
            _ => ValueKind::Number,
        }
    }

    /// Of the result of an operator.
    fn apply(operator: Binary, a: ValueKind, b: ValueKind) -> ValueKind {
        use ValueKind::*;
        match (a, b) {
            _ if operator.compares() => Number,
            (Number, Number) => Number,
            _ if operator.scales() => Absolute,
            (Number, Address) if operator == Binary::Subtract => Absolute,
            // Distances are numbers.
            (Absolute | Address, Address) if operator == Binary::Subtract => Number,
            (Absolute, Absolute) => Number,
            _ => a.or(b),
        }
    }
}

/// Who is asked of symbols.
pub trait Symbols {
    fn known(&self, name: &str) -> Known;
    /// `None`: that is not known yet.
    fn is_defined(&self, name: &str) -> Option<bool>;
}

impl Expr {
    /// What is known of the value. `inside` of an output section numbers count from its start.
    pub fn known(&self, symbols: &impl Symbols, inside: bool) -> Known {
        let mut stack: Vec<Known> = Vec::new();
        // Where two ways meet, either may have been gone.
        let mut meets: Vec<u32> = Vec::new();
        // Where the second of two ways begins, if the first is gone for sure.
        let mut skipped: Vec<u32> = Vec::new();
        let mut at = 0;
        while let Some(op) = self.code.get(at as usize) {
            while meets.last() == Some(&at) {
                meets.pop();
                join_top(&mut stack, Known::either);
            }
            at += 1;
            match op {
                Op::Jump(to) if skipped.last() == Some(&at) => {
                    skipped.pop();
                    at = *to;
                }
                Op::Jump(to) => meets.push(*to),
                Op::JumpIfZero(to) => match stack.pop().and_then(|condition| condition.value) {
                    Some(0) => at = *to,
                    Some(_) => skipped.push(*to),
                    None => {}
                },
                Op::Defined(name) => stack.push(Known::number(symbols.is_defined(name).map(u64::from))),
                Op::Symbol(name) => stack.push(symbols.known(name)),
                Op::Origin(_) if inside => stack.push(Known::ADDRESS),
                op => of_operator(op, &mut stack),
            }
        }
        meets.iter().for_each(|_| join_top(&mut stack, Known::either));
        stack.pop().unwrap_or(Known::number(None))
    }
}

/// What an operator without a name makes of what it works on.
fn of_operator(op: &Op, stack: &mut Vec<Known>) {
    match op {
        Op::Number(number) => stack.push(Known::number(*number)),
        Op::Dot | Op::Address(_) => stack.push(Known::ADDRESS),
        Op::LoadAddress(_) => stack.push(Known::of(ValueKind::Absolute)),
        Op::Binary(operator) => join_top(stack, |a, b| binary(*operator, a, b)),
        Op::Max | Op::Min => join_top(stack, |a, b| Known {
            kind: a.kind.or(b.kind),
            value: a.value.zip(b.value).map(|(a, b)| if *op == Op::Max { a.max(b) } else { a.min(b) }),
            same: None,
        }),
        Op::Align => join_top(stack, |a, _| Known::of(a.kind)),
        Op::DataSegmentAlign | Op::DataSegmentRelroEnd => join_top(stack, |_, _| Known::ADDRESS),
        Op::Unary(operator) => change_top(stack, |a| unary(*operator, a)),
        Op::IsTrue => change_top(stack, |a| Known::number(a.value.map(|value| u64::from(value != 0)))),
        Op::Log2Ceil => change_top(stack, |a| Known::number(a.value.map(log2_ceil))),
        Op::Absolute => change_top(stack, |a| Known { kind: ValueKind::Absolute, ..a }),
        Op::Next | Op::DataSegmentEnd | Op::SegmentStart(_) => change_top(stack, |_| Known::ADDRESS),
        Op::Assert(_) => {}
        _ => stack.push(Known::number(None)),
    }
}

fn binary(operator: Binary, a: Known, b: Known) -> Known {
    let value = a.value.zip(b.value).and_then(|(a, b)| operator.apply(a, b));
    Known { value, ..Known::of(ValueKind::apply(operator, a.kind, b.kind)) }
}

fn unary(operator: Unary, a: Known) -> Known {
    let value = a.value.map(|value| operator.apply(value));
    match (operator, a.kind) {
        (Unary::Not, _) | (_, ValueKind::Number) => Known::number(value),
        // Nothing moves the other way when the image moves.
        _ => Known { value, ..Known::of(ValueKind::Absolute) },
    }
}

fn change_top(stack: &mut Vec<Known>, change: impl Fn(Known) -> Known) {
    let top = stack.pop().unwrap_or(Known::number(None));
    stack.push(change(top));
}

fn join_top(stack: &mut Vec<Known>, join: impl Fn(Known, Known) -> Known) {
    let mut pop = || stack.pop().unwrap_or(Known::number(None));
    let (b, a) = (pop(), pop());
    stack.push(join(a, b));
}

#[cfg(test)]
mod tests {
    use super::super::{expr::parse, lexer::Lexer};
    use super::*;

    /// Names that begin with n are numbers, with f fixed addresses; `five` is one that is known.
    struct Test;

    impl Symbols for Test {
        fn known(&self, name: &str) -> Known {
            match name.as_bytes()[0] {
                _ if name == "five" => Known::absolute(5),
                b'n' => Known::of(ValueKind::Number),
                b'f' => Known::of(ValueKind::Absolute),
                letter => Known { same: Some(SymbolId(u32::from(letter))), ..Known::ADDRESS },
            }
        }

        fn is_defined(&self, name: &str) -> Option<bool> {
            (name != "maybe").then_some(name == "yes")
        }
    }

    fn known(text: &str, inside: bool) -> Known {
        let mut lexer = Lexer::new(text.as_bytes(), "t");
        parse(&mut lexer, &"t".into()).unwrap().known(&Test, inside)
    }

    #[test]
    fn addresses() {
        for text in [
            ".",
            "a",
            "a + n",
            "a + f",
            "ALIGN(8)",
            "n ? a : 1",
            "n ? f : 1",
            "0 ? 2 : a",
            "five == 4 ? 2 : a",
            "ADDR(.x) + 1",
            "MAX(a, 1)",
            "maybe ? a : 1",
            "DEFINED(maybe) ? a : 1",
            "DEFINED(yes) ? a : 1",
            "DEFINED(yes) && five ? a : 1",
            "DEFINED(maybe) && n ? a : 1",
            "DEFINED(no) ? 1 : a",
            "DEFINED(no) ? 1 : DEFINED(yes) ? a : 2",
        ] {
            assert_eq!(known(text, false).kind, ValueKind::Address, "{text}");
        }
    }

    #[test]
    fn numbers() {
        for text in [
            "1",
            "n",
            "a - b",
            "f - a",
            "f + f",
            "a < b",
            "SIZEOF(.x)",
            "a && b",
            "n ? 1 : 2",
            "1 ? 2 : a",
            "five > 4 ? 2 : a",
            "1 || 0 ? 2 : a",
            "DEFINED(a)",
            "ALIGN(4, 8)",
            "!a",
            "f < 1",
            "DEFINED(yes) ? 1 : a",
            "DEFINED(no) ? a : 1",
            "DEFINED(no) && n ? a : 1",
            "(DEFINED(yes) ? DEFINED(no) ? a : 1 : b) + 1",
            "ORIGIN(r) + 1",
        ] {
            assert_eq!(known(text, false).kind, ValueKind::Number, "{text}");
        }
        assert_eq!(known("ORIGIN(r) + 1", true).kind, ValueKind::Address);
    }

    #[test]
    fn absolute() {
        for text in [
            "f",
            "five",
            "f + n",
            "a >> 4",
            "a * b",
            "ABSOLUTE(.)",
            "ABSOLUTE(1)",
            "LOADADDR(.x)",
            "-a",
            "~a",
            "n ? f : f",
            "4 - a",
        ] {
            assert_eq!(known(text, false).kind, ValueKind::Absolute, "{text}");
        }
    }

    #[test]
    fn values_and_other_names() {
        assert_eq!(known("five * 2 + MAX(1, 3)", false).value, Some(13));
        assert_eq!(known("1 / 0", false).value, None);
        let a = Some(SymbolId(u32::from(b'a')));
        for text in ["a", "1 ? a : b", "n ? a : a", "ASSERT(a, \"x\")", "DEFINED(no) ? b : (a)"] {
            assert_eq!(known(text, false).same, a, "{text}");
        }
        for text in ["a + 1", "n ? a : b", "n ? a : 0", "-a", "ALIGN(a, 8)"] {
            assert_eq!(known(text, false).same, None, "{text}");
        }
    }
}
