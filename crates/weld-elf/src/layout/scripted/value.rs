//! Values of expressions: a number, and what it is a number of.
//!
//! Source: GNU ld manual, "The Section of an Expression".

use crate::ids::SymbolId;
use crate::script::expr::Binary;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// An address as a whole, also if it counts from a section.
    pub number: u64,
    pub kind: Kind,
    /// The symbol that it is the value of, unchanged.
    pub same: Option<SymbolId>,
    /// The same, or a number has been added to it: its type stays.
    pub near: Option<SymbolId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of nothing: in an output section it counts from its start.
    Number,
    /// An address that does not move with the image.
    Absolute,
    /// An address in the image; of the output section with this number, or between them.
    Section(u32),
}

impl Kind {
    /// An address in no output section.
    pub const BETWEEN: Kind = Kind::Section(u32::MAX);
}

impl Value {
    pub fn of(number: u64, kind: Kind) -> Value {
        Value { number, kind, same: None, near: None }
    }

    pub fn number(number: u64) -> Value {
        Value::of(number, Kind::Number)
    }

    pub fn absolute(number: u64) -> Value {
        Value::of(number, Kind::Absolute)
    }

    /// It in numbers, to see whether it is another.
    pub fn in_numbers(&self) -> [u64; 3] {
        let kind = match self.kind {
            Kind::Number => 0,
            Kind::Absolute => 1,
            Kind::Section(block) => u64::from(block) + 2,
        };
        [self.number, kind, self.same.or(self.near).map_or(0, |id| u64::from(id.0) + 1)]
    }

    /// It does not move with the image.
    pub fn is_fixed(&self) -> bool {
        !matches!(self.kind, Kind::Section(_))
    }

    /// `None`: a division by zero.
    pub fn apply(operator: Binary, a: Value, b: Value) -> Option<Value> {
        let number = operator.apply(a.number, b.number)?;
        let kind = match (a.kind, b.kind) {
            _ if operator.compares() => Kind::Number,
            (Kind::Number, Kind::Number) => Kind::Number,
            _ if operator.scales() => Kind::Absolute,
            (Kind::Number, Kind::Section(_)) if operator == Binary::Subtract => Kind::Absolute,
            (Kind::Number, kind) | (kind, Kind::Number) => kind,
            (kind @ Kind::Section(_), Kind::Absolute) => kind,
            (Kind::Absolute, kind @ Kind::Section(_)) if operator != Binary::Subtract => kind,
            // Distances are numbers.
            _ if operator == Binary::Subtract => Kind::Number,
            (a, b) if a == b => Kind::Number,
            _ => Kind::Absolute,
        };
        let near = match (operator, a.kind, b.kind) {
            (Binary::Add | Binary::Subtract, _, Kind::Number) => a.near,
            (Binary::Add, Kind::Number, _) => b.near,
            _ => None,
        };
        Some(Value { near, ..Value::of(number, kind) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_number_is_of() {
        let address = |number, block| Value::of(number, Kind::Section(block));
        let apply = |op, a, b| Value::apply(op, a, b).unwrap();
        assert_eq!(apply(Binary::Add, address(8, 1), Value::number(4)), address(12, 1));
        assert_eq!(apply(Binary::Subtract, address(8, 1), address(4, 2)), Value::number(4));
        assert_eq!(apply(Binary::Subtract, address(8, 1), Value::absolute(4)), address(4, 1));
        assert_eq!(apply(Binary::Subtract, Value::number(8), address(4, 1)), Value::absolute(4));
        assert_eq!(apply(Binary::Less, address(8, 1), address(4, 2)), Value::number(0));
        assert_eq!(apply(Binary::Or, address(8, 1), address(4, 2)), Value::absolute(12));
        assert_eq!(apply(Binary::Add, Value::absolute(8), Value::number(1)), Value::absolute(9));
        assert_eq!(apply(Binary::Divide, address(8, 1), Value::number(4)), Value::absolute(2));
        assert_eq!(Value::apply(Binary::Divide, Value::number(1), Value::number(0)), None);
    }
}
