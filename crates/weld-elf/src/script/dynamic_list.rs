//! Dynamic lists: `{ foo; bar*; extern "C++" { ns::*; }; };`, for `--dynamic-list` and
//! `--export-dynamic-symbol-list`. Source: GNU ld manual, "--dynamic-list".

use weld_common::diag::{Cause, Diagnostic};

use super::lexer::{Kind, Lexer, Mode};
use super::patterns::{Pattern, PatternSet, parse_entry};

/// Parses a list. `path` is for messages.
pub fn parse(text: &[u8], path: &str) -> Result<Vec<Pattern>, Diagnostic> {
    let mut lexer = Lexer::new(text, path);
    let mut patterns = Vec::new();
    while lexer.peek(Mode::Pattern)?.kind != Kind::End {
        lexer.expect(Mode::Pattern, "{")?;
        while !lexer.accept(Mode::Pattern, "}")? {
            parse_entry(&mut lexer, &mut patterns)?;
        }
        lexer.expect(Mode::Pattern, ";")?;
    }
    Ok(patterns)
}

/// Names that a list or several lists contain.
#[derive(Debug, Default)]
pub struct DynamicList {
    patterns: PatternSet,
}

impl DynamicList {
    /// Compiles patterns. `path` is where they come from; the pattern's line is named if it has one.
    pub fn new<'p>(patterns: impl IntoIterator<Item = (&'p Pattern, &'p str)>) -> Result<Self, Diagnostic> {
        let mut list = DynamicList::default();
        for (pattern, path) in patterns {
            list.patterns.add(pattern, 0).map_err(|e| match pattern.line {
                0 => Diagnostic::error(Cause::ScriptSyntax, format!("{path}: {e}")).in_file(path),
                line => Diagnostic::error(Cause::ScriptSyntax, format!("{path}:{line}: {e}")),
            })?;
        }
        list.patterns.finish();
        Ok(list)
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a name is in the list. `demangled` is called only if there are `extern "C++"` patterns.
    pub fn contains(&self, name: &[u8], demangled: impl FnOnce() -> Option<String>) -> bool {
        self.patterns.lookup(name, demangled).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_patterns_and_demangled_names() {
        let text = b"{\n __asan_*;\n \"a*\"; extern \"C++\" { ns::f*; };\n};\n{ b };";
        let mut patterns = parse(text, "l").unwrap();
        patterns.push(Pattern::new(b"c?"));
        let list = DynamicList::new(patterns.iter().map(|p| (p, "l"))).unwrap();
        let contains =
            |name: &str| list.contains(name.as_bytes(), || name.strip_prefix("_Z").map(str::to_owned));
        assert!(["__asan_x", "a*", "_Zns::f()", "b", "c1"].into_iter().all(contains));
        assert!(!["__as", "ab", "_Zb", "c", ""].into_iter().any(contains));
        assert!(DynamicList::new([]).unwrap().is_empty());
    }

    #[test]
    fn mistakes() {
        let error = |text: &str| parse(text.as_bytes(), "l").unwrap_err().message;
        assert_eq!(error("a;"), "l:1:1: expected '{', but found 'a'");
        assert_eq!(error("{ a; }"), "l:1:7: expected ';', but found the end of the file");
        assert_eq!(error("{\n global: a; };"), "l:2:8: expected ';', but found ':'");
        let patterns = parse(b"{\n a[; };", "l").unwrap();
        let message = DynamicList::new([(&patterns[0], "l")]).unwrap_err().message;
        assert_eq!(message, "l:2: wrong pattern 'a[': '[' without ']'");
        let pattern = Pattern::new(b"a[");
        let message = DynamicList::new([(&pattern, "--export-dynamic-symbol")]).unwrap_err().message;
        assert_eq!(message, "--export-dynamic-symbol: wrong pattern 'a[': '[' without ']'");
    }
}
