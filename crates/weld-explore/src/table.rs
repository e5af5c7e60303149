//! Tables of what has grown, for terminals, for reviews (Markdown), and for programs (JSON).

use std::fmt::Write;

use crate::growth::{By, Change, changes, total};
use crate::json;
use crate::model::Model;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Markdown,
    Json,
}

/// Rows of each table that people read; programs get all.
const ROWS: usize = 20;

/// What has changed in a comparison.
pub fn write(comparison: &Model, form: Form) -> String {
    let old = comparison.old.as_ref().map_or("", |old| &old.output);
    let files = Files { old, new: &comparison.about.output };
    match form {
        Form::Text => text(comparison, &files),
        Form::Markdown => markdown(comparison, &files),
        Form::Json => to_json(comparison, &files),
    }
}

struct Files<'m> {
    old: &'m str,
    new: &'m str,
}

/// `+1,234`, `-5`.
fn signed(bytes: i128) -> String {
    let sign = if bytes < 0 { "-" } else { "+" };
    format!("{sign}{}", grouped(bytes.unsigned_abs()))
}

fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What the change is of the old size; nothing if there was none.
fn percent(change: Change) -> String {
    if change.old == 0 {
        return if change.new == 0 { String::new() } else { "new".to_owned() };
    }
    if change.new == 0 {
        return "gone".to_owned();
    }
    let share = change.delta() * 10_000 / i128::from(change.old);
    let sign = if change.delta() < 0 { "-" } else { "+" };
    format!("{sign}{}.{:02} %", share.abs() / 100, share.abs() % 100)
}

/// A name in one line without what terminals or tables would take as their own.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn text(comparison: &Model, files: &Files) -> String {
    let mut out = String::new();
    let row = |out: &mut String, change: Change, name: &str| {
        let (old, new) = (grouped(change.old.into()), grouped(change.new.into()));
        _ = writeln!(
            out,
            "{old:>15} {new:>15} {:>14} {:>10}  {}",
            signed(change.delta()),
            percent(change),
            plain(name)
        );
    };
    _ = writeln!(out, "{} -> {}", plain(files.old), plain(files.new));
    _ = writeln!(out, "{:>15} {:>15} {:>14} {:>10}", "old", "new", "bytes", "");
    row(&mut out, total(comparison), "the whole file");
    for by in By::ALL {
        let list = changes(comparison, by);
        if list.is_empty() {
            continue;
        }
        _ = writeln!(out, "\nby {}", by.title().to_lowercase());
        list.iter().take(ROWS).for_each(|(name, change)| row(&mut out, *change, name));
        if list.len() > ROWS {
            _ = writeln!(out, "{:>15} {} more", "", list.len() - ROWS);
        }
    }
    out
}

fn markdown(comparison: &Model, files: &Files) -> String {
    // In code nothing has a meaning but its own mark; the bar ends a cell even there.
    let code = |name: &str| format!("`{}`", plain(name).replace('`', "'").replace('|', "\\|"));
    let whole = total(comparison);
    let mut out = format!(
        "**{}** bytes ({}): {} of {} bytes, {} of {} bytes\n",
        signed(whole.delta()),
        if whole.delta() == 0 { "+0.00 %".to_owned() } else { percent(whole) },
        code(files.old),
        grouped(whole.old.into()),
        code(files.new),
        grouped(whole.new.into()),
    );
    for by in By::ALL {
        let list = changes(comparison, by);
        if list.is_empty() {
            continue;
        }
        _ = writeln!(out, "\n| {} | old | new | bytes | |\n|---|--:|--:|--:|--:|", by.title());
        for (name, change) in list.iter().take(ROWS) {
            let (old, new) = (grouped(change.old.into()), grouped(change.new.into()));
            _ = writeln!(
                out,
                "| {} | {old} | {new} | {} | {} |",
                code(name),
                signed(change.delta()),
                percent(*change)
            );
        }
        if list.len() > ROWS {
            _ = writeln!(out, "\n{} more", list.len() - ROWS);
        }
    }
    out
}

fn to_json(comparison: &Model, files: &Files) -> String {
    let whole = total(comparison);
    let mut out = String::from("{\"format\":1,\"old\":");
    json::string(&mut out, files.old);
    out.push_str(",\"new\":");
    json::string(&mut out, files.new);
    _ = write!(out, ",\"old_size\":{},\"new_size\":{},\"growth\":{}", whole.old, whole.new, whole.delta());
    for by in By::ALL {
        _ = write!(out, ",\"{}\":[", by.key());
        for (i, (name, change)) in changes(comparison, by).iter().enumerate() {
            out.push_str(if i > 0 { ",\n{\"name\":" } else { "\n{\"name\":" });
            json::string(&mut out, name);
            _ = write!(out, ",\"old\":{},\"new\":{}}}", change.old, change.new);
        }
        out.push(']');
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Old, OutputSection, Piece, Ref};

    fn comparison(symbol: &str) -> Model {
        let mut model = Model::default();
        let [text, name] = [".text", symbol].map(|text| model.names.add(text));
        model.about.output = "new".to_owned();
        model.about.file_size = 1500;
        model.old = Some(Old { output: "old".to_owned(), file_size: 1000 });
        model.outputs = vec![OutputSection { name: text, ..OutputSection::default() }];
        model.pieces =
            vec![Piece { output: Ref::to(0), name, size: 1500, old_size: 1000, ..Piece::default() }];
        model
    }

    #[test]
    fn three_forms() {
        let model = comparison("f|g`");
        let text = write(&model, Form::Text);
        assert!(text.contains("1,000           1,500           +500   +50.00 %  the whole file\n"), "{text}");
        let markdown = write(&model, Form::Markdown);
        assert!(markdown.starts_with("**+500** bytes (+50.00 %): `old` of 1,000 bytes"), "{markdown}");
        assert!(markdown.contains("| `f\\|g'` | 1,000 | 1,500 | +500 | +50.00 % |\n"), "{markdown}");
        let value = json::Value::parse(&write(&model, Form::Json)).expect("JSON");
        let symbols = value.get("symbols").expect("symbols").list();
        assert_eq!(symbols[0].get("name").and_then(json::Value::text), Some("f|g`"));
        assert_eq!(value.get("new_size").and_then(json::Value::number), Some(1500));
    }

    #[test]
    fn names_cannot_leave_their_line() {
        let model = comparison("a\x1b[31m\nb");
        for form in [Form::Text, Form::Markdown, Form::Json] {
            assert!(!write(&model, form).contains("\x1b"), "{form:?}");
        }
        assert!(write(&model, Form::Text).contains("a\u{fffd}[31m\u{fffd}b"));
    }

    #[test]
    fn shares() {
        let percent = |old, new| percent(Change { old, new });
        assert_eq!(
            [percent(0, 5), percent(5, 0), percent(200, 199), percent(3, 4)],
            ["new", "gone", "-0.50 %", "+33.33 %"]
        );
    }
}
