//! Assignments as GNU ld's maps have them, which programs read: `. = (. + 0x200)`, `PROVIDE (end = ALIGN
//! (0x8))`.
//!
//! Expressions are written anew from their code, fully parenthesised and with numbers in hexadecimal. What is
//! long or rarely used is shown as the script has it.

use super::expr::{Binary, Expr, Op, Unary};

/// Longer code is not worth the strings.
const MAX_OPS: usize = 256;

/// The assignment whose words in the script are `text`.
pub fn assignment(name: &str, value: &Expr, text: &str) -> String {
    let Some(value) = expression(&value.code) else { return text.to_owned() };
    let word = text.split(['(', '=']).next().unwrap_or_default().trim();
    match word {
        "PROVIDE" | "PROVIDE_HIDDEN" | "HIDDEN" if word != name => format!("{word} ({name} = {value})"),
        _ => format!("{name} = {value}"),
    }
}

fn expression(code: &[Op]) -> Option<String> {
    (code.len() <= MAX_OPS).then(|| span(code, 0, code.len())).flatten()
}

/// What the operations from `at` to `end` leave on the stack.
fn span(code: &[Op], mut at: usize, end: usize) -> Option<String> {
    let mut stack: Vec<String> = Vec::new();
    while at < end {
        let op = code.get(at)?;
        at += 1;
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let next = match op {
            Op::Number(value) => format!("{value:#x}"),
            Op::Dot => ".".to_owned(),
            Op::Symbol(name) => name.clone(),
            // The first half of `||`.
            Op::Unary(Unary::Not) if is_or(code, at) => continue,
            Op::Unary(operator) => format!("{} ({})", unary(*operator), stack.pop()?),
            Op::Binary(operator) => {
                let right = stack.pop()?;
                format!("({} {} {right})", stack.pop()?, binary(*operator))
            }
            Op::JumpIfZero(otherwise) => {
                let condition = stack.pop()?;
                let otherwise = *otherwise as usize;
                let Some(Op::Jump(join)) = code.get(otherwise.checked_sub(1)?) else { return None };
                let join = *join as usize;
                let (is_or, is_and) = (is_or(code, at - 1), is_and(code, at - 1));
                let first = span(code, at, otherwise - 1 - usize::from(is_or || is_and))?;
                at = join;
                match (is_or, is_and) {
                    (true, _) => format!("({condition} || {first})"),
                    (_, true) => format!("({condition} && {first})"),
                    _ => format!("{condition}?{first}:{}", span(code, otherwise, join)?),
                }
            }
            Op::Align => {
                let alignment = stack.pop()?;
                match &*stack.pop()? {
                    "." => format!("ALIGN ({alignment})"),
                    value => format!("ALIGN ({value}, {alignment})"),
                }
            }
            Op::Absolute => format!("ABSOLUTE ({})", stack.pop()?),
            Op::Max | Op::Min => {
                let right = stack.pop()?;
                let word = if *op == Op::Max { "MAX" } else { "MIN" };
                format!("{word} ({}, {right})", stack.pop()?)
            }
            Op::Address(section) => format!("ADDR ({})", name(section)),
            Op::LoadAddress(section) => format!("LOADADDR ({})", name(section)),
            Op::Size(section) => format!("SIZEOF ({})", name(section)),
            Op::Alignment(section) => format!("ALIGNOF ({})", name(section)),
            Op::HeadersSize => "SIZEOF_HEADERS".to_owned(),
            Op::Defined(name) => format!("DEFINED ({name})"),
            Op::Origin(region) => format!("ORIGIN ({region})"),
            Op::Length(region) => format!("LENGTH ({region})"),
            _ => return None,
        };
        stack.push(next);
    }
    let value = stack.pop()?;
    stack.is_empty().then_some(value)
}

/// Whether the jump at `at` is that of an operator whose left side may decide, with this result.
fn decides(code: &[Op], at: usize, result: u64) -> bool {
    let Some(Op::JumpIfZero(otherwise)) = code.get(at) else { return false };
    let otherwise = *otherwise as usize;
    let is_true = otherwise >= 2 && code.get(otherwise - 2) == Some(&Op::IsTrue);
    let ends = code.get(otherwise - 1) == Some(&Op::Jump(otherwise as u32 + 1));
    is_true && ends && code.get(otherwise) == Some(&Op::Number(result))
}

fn is_or(code: &[Op], at: usize) -> bool {
    decides(code, at, 1)
}

fn is_and(code: &[Op], at: usize) -> bool {
    decides(code, at, 0)
}

fn unary(operator: Unary) -> &'static str {
    match operator {
        Unary::Negate => "-",
        Unary::Invert => "~",
        Unary::Not => "!",
    }
}

fn binary(operator: Binary) -> &'static str {
    match operator {
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::And => "&",
        Binary::Equal => "==",
        Binary::Different => "!=",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterOrEqual => ">=",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::commands::{Command, parse_alone};
    use crate::script::sections::Statement;

    fn shown(text: &str) -> String {
        let commands = parse_alone(format!("SECTIONS {{ {text}; }}").as_bytes(), "t").unwrap();
        let Command::Sections(list) = &commands[0] else { panic!("no SECTIONS") };
        let [Statement::Assign(it)] = &list[..] else { panic!("{list:?}") };
        assignment(&it.name, &it.value, &it.text)
    }

    #[test]
    fn as_in_maps() {
        for (text, expected) in [
            (". += 0x200", ". = (. + 0x200)"),
            (". = ALIGN(4)", ". = ALIGN (0x4)"),
            ("x = ALIGN(y, 4)", "x = ALIGN (y, 0x4)"),
            ("PROVIDE(foo = 1)", "PROVIDE (foo = 0x1)"),
            ("PROVIDE_HIDDEN ( foo = bar )", "PROVIDE_HIDDEN (foo = bar)"),
            ("PROVIDE = 1", "PROVIDE = 0x1"),
            ("x = a * 2 + -b", "x = ((a * 0x2) + - (b))"),
            ("x = DEFINED(a) ? a : b + 1", "x = DEFINED (a)?a:(b + 0x1)"),
            ("x = a && b || !c", "x = ((a && b) || ! (c))"),
            ("x = a ? b ? 1 : 2 : 3", "x = a?b?0x1:0x2:0x3"),
            ("x = MAX(ADDR(.a), ORIGIN(r)) << 3", "x = (MAX (ADDR (.a), ORIGIN (r)) << 0x3)"),
            ("x = SEGMENT_START(\"t\", 4)", "x = SEGMENT_START(\"t\", 4)"),
        ] {
            assert_eq!(shown(text), expected);
        }
        let long = format!("x = {}1", "1 + ".repeat(300));
        assert_eq!(
            shown(&format!("x = a + {}1", "a + ".repeat(300))),
            format!("x = a + {}1", "a + ".repeat(300))
        );
        assert!(shown(&long).starts_with("x = "));
    }
}
