//! Messages for programs: one JSON object a line, as `docs/error-format.md` and its schema say.
//!
//! Keys without a value are left out. The text of a message is there as people see it, but nothing has to be
//! read out of it: what it says of files, sections and symbols has keys of its own.

use weld_common::diag::{Diagnostic, Facts, Severity, Spot};
use weld_common::text;
use weld_common::trace::write_json_string as write_string;

/// Adds the line of a message.
pub fn write(out: &mut String, diagnostic: &Diagnostic) {
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut object = Object::begin(out);
    object.text("level", level);
    object.text("code", diagnostic.cause.code());
    object.text("message", &diagnostic.message);
    if let Some(facts) = &diagnostic.facts {
        object.facts(facts);
    }
    object.list("notes", &diagnostic.notes, |note, out| write_string(out, note.trim_start()));
    object.end();
    out.push('\n');
}

/// An object that is being written.
struct Object<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut String) -> Object<'o> {
        out.push('{');
        Object { out, is_empty: true }
    }

    fn end(self) {
        self.out.push('}');
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(',');
        }
        write_string(self.out, key);
        self.out.push(':');
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        write_string(self.out, value);
    }

    fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        *self.out += &value.to_string();
    }

    /// Nothing, if the list is empty.
    fn list<T>(&mut self, key: &str, list: &[T], one: impl Fn(&T, &mut String)) {
        if list.is_empty() {
            return;
        }
        self.key(key);
        for (i, value) in list.iter().enumerate() {
            self.out.push(if i == 0 { '[' } else { ',' });
            one(value, self.out);
        }
        self.out.push(']');
    }

    fn facts(&mut self, facts: &Facts) {
        self.spot(&facts.at);
        if let Some(name) = &facts.symbol {
            self.text("symbol", &text::text(name));
        }
        if let Some(name) = &facts.library {
            self.text("library", name);
        }
        let spots = [("referrers", &facts.referrers), ("definitions", &facts.definitions)];
        for (key, list) in spots {
            self.list(key, list, |spot, out| {
                let mut object = Object::begin(out);
                object.spot(spot);
                object.end();
            });
        }
        self.list("hints", &facts.hints, |hint, out| write_string(out, hint));
    }

    /// The parts of a place.
    fn spot(&mut self, spot: &Spot) {
        let texts = [
            ("file", &spot.file),
            ("section", &spot.section),
            ("function", &spot.function),
            ("source", &spot.source),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                self.text(key, value);
            }
        }
        let numbers = [("offset", spot.offset), ("line", spot.line.map(u64::from))];
        for (key, value) in numbers {
            if let Some(value) = value {
                self.number(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weld_common::diag::Cause;

    fn line(diagnostic: &Diagnostic) -> String {
        let mut out = String::new();
        write(&mut out, diagnostic);
        out
    }

    #[test]
    fn a_message_alone() {
        let warning = Diagnostic::warning(Cause::OptionWithoutEffect, "a \"b\"\n\t\u{1}");
        let expected = "{\"level\":\"warning\",\"code\":\"option-without-effect\",\"message\":\"a \\\"b\\\"\\u000a\\u0009\\u0001\"}\n";
        assert_eq!(line(&warning), expected);
    }

    #[test]
    fn all_there_is() {
        let spot = Spot { section: Some(".text".into()), offset: Some(5), ..Spot::of_file("a.o") };
        let referrer = Spot { function: Some("main".into()), source: Some("a.c:1".into()), ..spot.clone() };
        let error = Diagnostic::error(Cause::UndefinedSymbol, "undefined symbol: f")
            .note("referenced by a.o")
            .note("    at a.c:1")
            .of_symbol("f")
            .spot(spot)
            .referrer(referrer)
            .hint("is it?");
        let expected = concat!(
            r#"{"level":"error","code":"undefined-symbol","message":"undefined symbol: f","#,
            r#""file":"a.o","section":".text","offset":5,"symbol":"f","#,
            r#""referrers":[{"file":"a.o","section":".text","function":"main","source":"a.c:1","offset":5}],"#,
            r#""hints":["is it?"],"notes":["referenced by a.o","at a.c:1","is it?"]}"#,
            "\n"
        );
        assert_eq!(line(&error), expected);
    }
}
