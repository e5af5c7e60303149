//! Version scripts: which symbols an output exports, and under which version names.
//!
//! ```text
//! V1 { global: foo; bar*; extern "C++" { ns::*; "ns::f(int)"; }; local: *; };
//! V2 { global: baz; } V1;
//! ```
//!
//! A node without a name only says what is global and local. [`parse`] gives the nodes as data;
//! [`VersionMatcher`] answers for a symbol. Precedence is that of GNU `ld`: exact names before patterns,
//! the first one among them; then global patterns, that of the latest node; then local patterns; a lone `*`
//! comes last, also first as a global one. (`ld.lld` lets a local pattern of a later node win over a global
//! one.) Source: GNU ld manual, "VERSION Command".

use std::collections::{HashMap, HashSet};

use weld_common::diag::{Cause, Diagnostic};

use super::lexer::{Kind, Lexer, Mode};
use super::patterns::{Pattern, PatternSet, parse_entry};

/// One version script, or several one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionScript {
    pub nodes: Vec<VersionNode>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionNode {
    /// Empty for the node without a name.
    pub name: Vec<u8>,
    /// Names of the versions that this one inherits from, all of them in the script.
    pub parents: Vec<Vec<u8>>,
    pub globals: Vec<Pattern>,
    pub locals: Vec<Pattern>,
    /// The file and the line where the node starts.
    pub path: String,
    pub line: u32,
}

/// What a version script says about a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionChoice {
    /// Not exported.
    Local,
    /// Exported without a version.
    Global,
    /// Exported with the version of this node: an index into [`VersionScript::nodes`].
    Version(u32),
}

/// Parses a version script. `path` is for messages.
pub fn parse(text: &[u8], path: &str) -> Result<VersionScript, Diagnostic> {
    let mut lexer = Lexer::new(text, path);
    let script = parse_nodes(&mut lexer)?;
    match lexer.next(Mode::Pattern)? {
        token if token.kind == Kind::End => Ok(script),
        token => Err(lexer.unexpected(&token, "a version or the end of the file")),
    }
}

/// Parses nodes up to the end of the text or a `}`, which stays: the body of `VERSION { }`.
pub fn parse_nodes(lexer: &mut Lexer<'_>) -> Result<VersionScript, Diagnostic> {
    let mut script = VersionScript::default();
    loop {
        let token = lexer.peek(Mode::Pattern)?;
        if token.kind == Kind::End || token.is("}") {
            break;
        }
        let mut node =
            VersionNode { path: lexer.path().to_owned(), line: token.line, ..VersionNode::default() };
        if !token.is("{") {
            node.name = lexer.name(Mode::Pattern, "a version name or '{'")?.text.to_vec();
        }
        lexer.expect(Mode::Pattern, "{")?;
        parse_body(lexer, &mut node)?;
        while !lexer.accept(Mode::Pattern, ";")? {
            let parent = lexer.name(Mode::Pattern, "';'")?;
            node.parents.push(parent.text.to_vec());
        }
        if !script.nodes.is_empty() && (node.name.is_empty() || script.nodes[0].name.is_empty()) {
            return Err(lexer.error(node.line, "a node without a name cannot stand beside others"));
        }
        script.nodes.push(node);
    }
    script.check()?;
    Ok(script)
}

/// The inside of a node, with its `}`.
fn parse_body(lexer: &mut Lexer<'_>, node: &mut VersionNode) -> Result<(), Diagnostic> {
    let mut local = false;
    while !lexer.accept(Mode::Pattern, "}")? {
        let mut ahead = lexer.clone();
        let token = ahead.next(Mode::Pattern)?;
        let label = token.is("global") || token.is("local");
        if label && ahead.accept(Mode::Pattern, ":")? {
            local = token.is("local");
            *lexer = ahead;
            continue;
        }
        parse_entry(lexer, if local { &mut node.locals } else { &mut node.globals })?;
    }
    Ok(())
}

impl VersionScript {
    /// Adds the nodes of another script: `--version-script` may be given several times.
    pub fn append(&mut self, other: VersionScript) -> Result<(), Diagnostic> {
        self.nodes.extend(other.nodes);
        self.check()
    }

    /// Every version is defined once, and so are those that others inherit from.
    fn check(&self) -> Result<(), Diagnostic> {
        let mut names: HashSet<&[u8]> = HashSet::new();
        for node in &self.nodes {
            if !node.name.is_empty() && !names.insert(&node.name) {
                return Err(node.error(&format!("version {} is defined twice", node.shown_name())));
            }
        }
        for node in &self.nodes {
            let unknown = |parent: &&Vec<u8>| node.name == **parent || !names.contains(&***parent);
            if let Some(parent) = node.parents.iter().find(unknown) {
                let parent = String::from_utf8_lossy(parent);
                let message =
                    format!("version {} depends on {parent}, which is not defined", node.shown_name());
                return Err(node.error(&message));
            }
        }
        Ok(())
    }

    /// Exact global names with their nodes: what `--no-undefined-version` wants to be defined.
    pub fn exact_globals(&self) -> impl Iterator<Item = (&VersionNode, &Pattern)> {
        self.nodes.iter().flat_map(|node| {
            node.globals.iter().filter(|pattern| pattern.exact).map(move |pattern| (node, pattern))
        })
    }
}

/// A warning of what a script says twice.
fn conflict(text: String) -> Diagnostic {
    Diagnostic::warning(Cause::VersionScript, text)
}

impl VersionNode {
    pub fn shown_name(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    fn error(&self, message: &str) -> Diagnostic {
        self.at(self.line, message, |text| Diagnostic::error(Cause::ScriptSyntax, text))
    }

    fn at(&self, line: u32, message: &str, make: fn(String) -> Diagnostic) -> Diagnostic {
        make(format!("{}:{line}: {message}", self.path)).in_line(&*self.path, line)
    }
}

/// Answers for a symbol which version it gets.
#[derive(Debug, Default)]
pub struct VersionMatcher {
    patterns: PatternSet,
    /// By rank.
    choices: Vec<VersionChoice>,
}

/// A pattern with what it chooses.
type Entry<'a> = (&'a VersionNode, &'a Pattern, VersionChoice);

/// A warning, and the name that it is about.
pub type Warning = (Option<Vec<u8>>, Diagnostic);

impl VersionMatcher {
    /// Compiles a script. Names that are given different versions are warnings; such a warning comes
    /// with the name, because it is void if the symbol itself spells its version.
    pub fn new(script: &VersionScript) -> Result<(Self, Vec<Warning>), Diagnostic> {
        let mut matcher = VersionMatcher::default();
        let mut warnings = Vec::new();
        let backward = entries(script, true);
        for entry in entries(script, false).iter().filter(|(_, pattern, _)| pattern.exact) {
            matcher.add(entry, &mut warnings)?;
        }
        // Stable: what is global first, and else as it was.
        let mut globs: Vec<&Entry<'_>> = backward.iter().filter(|(_, pattern, _)| !pattern.exact).collect();
        globs.sort_by_key(|(.., choice)| *choice == VersionChoice::Local);
        let (stars, globs): (Vec<_>, Vec<_>) =
            globs.into_iter().partition(|(_, pattern, _)| pattern.is_star());
        for entry in globs {
            matcher.add(entry, &mut warnings)?;
        }
        let locals = stars.iter().filter(|(.., choice)| *choice == VersionChoice::Local).count();
        if let Some((node, pattern, _)) = stars.first()
            && (1..stars.len()).contains(&locals)
        {
            let message = "the pattern '*' is both global and local";
            warnings.push((None, node.at(pattern.line, message, conflict)));
        }
        for entry in stars {
            matcher.add(entry, &mut warnings)?;
        }
        matcher.patterns.finish();
        Ok((matcher, warnings))
    }

    fn add(&mut self, entry: &Entry<'_>, warnings: &mut Vec<Warning>) -> Result<(), Diagnostic> {
        let (node, pattern, choice) = entry;
        let rank = self.choices.len() as u32;
        let before = self.patterns.add(pattern, rank).map_err(|e| {
            node.at(pattern.line, &e.to_string(), |text| Diagnostic::error(Cause::ScriptSyntax, text))
        })?;
        if let Some(before) = before
            && self.choices[before as usize] != *choice
        {
            let name = String::from_utf8_lossy(&pattern.text);
            let message = format!("{name} is named more than once; the first time counts");
            let name = Some(pattern.text.clone());
            warnings.push((name, node.at(pattern.line, &message, conflict)));
        }
        self.choices.push(*choice);
        Ok(())
    }

    /// What holds for a symbol, given without a version of its own. `demangled` is called only if
    /// there are `extern "C++"` patterns.
    pub fn lookup(&self, name: &[u8], demangled: impl FnOnce() -> Option<String>) -> Option<VersionChoice> {
        self.patterns.lookup(name, demangled).map(|rank| self.choices[rank as usize])
    }
}

/// What versions keep to the output of the names that spell them: `foo@V` obeys the `local:` patterns of `V`,
/// unless a `global:` pattern of `V` speaks for it. Default versions (`foo@@V`) are there to be exported, so
/// for them `*` does not count.
#[derive(Debug, Default)]
pub struct OwnLocals {
    versions: HashMap<Vec<u8>, PatternSet>,
}

impl OwnLocals {
    /// Compiles what [`VersionMatcher::new`] accepts.
    pub fn new(script: &VersionScript) -> OwnLocals {
        let mut own = OwnLocals::default();
        for node in script.nodes.iter().filter(|node| !node.name.is_empty() && !node.locals.is_empty()) {
            let set = own.versions.entry(node.name.clone()).or_default();
            for (list, local) in [(&node.globals, 0), (&node.locals, Self::LOCAL)] {
                for pattern in list {
                    let precedence = match pattern.exact {
                        true => 0,
                        false if pattern.is_star() => Self::STAR,
                        false => Self::GLOB,
                    };
                    // What is wrong with it has been said.
                    let _ = set.add(pattern, precedence + local);
                }
            }
        }
        own.versions.values_mut().for_each(PatternSet::finish);
        own
    }

    /// Of ranks, of which the lowest wins: a bit says that it is local, higher ones that it is no exact name.
    const LOCAL: u32 = 1;
    const GLOB: u32 = 2;
    const STAR: u32 = 4;

    /// Whether a name that spells this version stays inside; `default` says that it does so as `foo@@V`.
    pub fn contains(
        &self,
        name: &[u8],
        version: &[u8],
        default: bool,
        demangled: impl FnOnce() -> Option<String>,
    ) -> bool {
        let found = self.versions.get(version).and_then(|set| set.lookup(name, demangled));
        found.is_some_and(|rank| rank & Self::LOCAL != 0 && !(default && rank & Self::STAR != 0))
    }
}

/// All patterns of a script in order of nodes, forwards or backwards; within a node global ones
/// first. Nodes without a name count as the first, and forwards their local patterns come before
/// their global ones, as in `ld.lld`.
fn entries(script: &VersionScript, backward: bool) -> Vec<Entry<'_>> {
    fn globals<'a>(list: &mut Vec<Entry<'a>>, node: &'a VersionNode, choice: VersionChoice) {
        list.extend(node.globals.iter().map(|pattern| (node, pattern, choice)));
    }
    fn locals<'a>(list: &mut Vec<Entry<'a>>, node: &'a VersionNode) {
        list.extend(node.locals.iter().map(|pattern| (node, pattern, VersionChoice::Local)));
    }
    let mut list = Vec::new();
    let unnamed: Vec<&VersionNode> = script.nodes.iter().filter(|node| node.name.is_empty()).collect();
    if !backward {
        unnamed.iter().for_each(|node| locals(&mut list, node));
        unnamed.iter().for_each(|node| globals(&mut list, node, VersionChoice::Global));
    }
    let mut named: Vec<(usize, &VersionNode)> =
        script.nodes.iter().enumerate().filter(|(_, node)| !node.name.is_empty()).collect();
    if backward {
        named.reverse();
    }
    for (i, node) in named {
        globals(&mut list, node, VersionChoice::Version(i as u32));
        locals(&mut list, node);
    }
    if backward {
        unnamed.iter().for_each(|node| globals(&mut list, node, VersionChoice::Global));
        unnamed.iter().for_each(|node| locals(&mut list, node));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> VersionScript {
        parse(text.as_bytes(), "v.map").unwrap()
    }

    fn error(text: &str) -> String {
        match parse(text.as_bytes(), "v.map").and_then(|script| VersionMatcher::new(&script).map(|_| script))
        {
            Err(d) => d.message,
            Ok(script) => panic!("{text}: {script:?}"),
        }
    }

    fn choices(text: &str, names: &[&str]) -> Vec<Option<VersionChoice>> {
        let (matcher, warnings) = VersionMatcher::new(&script(text)).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        names.iter().map(|name| matcher.lookup(name.as_bytes(), || None)).collect()
    }

    use VersionChoice::{Global, Local, Version};

    #[test]
    fn nodes_as_data() {
        let script = script("V1.0 {\n foo; global: \"b*r\"; local:\n*; };\nV2 { } V1.0;");
        assert_eq!(script.nodes.len(), 2);
        let node = &script.nodes[0];
        assert_eq!((&*node.name, node.line, node.globals.len()), (&b"V1.0"[..], 1, 2));
        assert!(node.globals[1].exact && node.globals[1].text == b"b*r");
        assert!(node.locals[0].is_star() && node.locals[0].line == 3);
        assert_eq!(script.nodes[1].parents, [b"V1.0".to_vec()]);
        assert_eq!(script.exact_globals().count(), 2);
    }

    #[test]
    fn names_with_versions_obey_their_own_nodes() {
        let text =
            "V1 { global: *; foo1; local: foo*; x; };\nV2 { local: *; };\nV3 { global: a*; local: ab; };";
        let own = OwnLocals::new(&script(text));
        let is_inside = |name: &str, version: &str, default: bool| {
            own.contains(name.as_bytes(), version.as_bytes(), default, || None)
        };
        for (name, version) in [("foo2", "V1"), ("x", "V1"), ("ab", "V3")] {
            assert!(is_inside(name, version, false) && is_inside(name, version, true), "{name}");
        }
        for (name, version) in [("foo1", "V1"), ("y", "V1"), ("ac", "V3"), ("foo2", "V4")] {
            assert!(!is_inside(name, version, false) && !is_inside(name, version, true), "{name}");
        }
        assert!(is_inside("foo2", "V2", false) && !is_inside("foo2", "V2", true));
    }

    #[test]
    fn nodes_without_a_name() {
        let text = "{ global: foo; foo*; local: f*; *; };";
        assert_eq!(
            choices(text, &["foo", "foobar", "fx", "other"]),
            [Some(Global), Some(Global), Some(Local), Some(Local)]
        );
        assert_eq!(choices("{ foo; };", &["foo", "bar"]), [Some(Global), None]);
        // As rustc writes it.
        assert_eq!(
            choices("{\n  global:\n    a;\n\n  local:\n    *;\n};\n", &["a", "b"]),
            [Some(Global), Some(Local)]
        );
    }

    #[test]
    fn exact_names_then_later_patterns_then_stars() {
        let text = "V1 { global: f*; foo; }; V2 { global: fo*; local: *; } V1; V3 { global: foo*; other; };";
        assert_eq!(
            choices(text, &["foo", "foobar", "fx", "other", "rest", "foz"]),
            [
                Some(Version(0)),
                Some(Version(2)),
                Some(Version(0)),
                Some(Version(2)),
                Some(Local),
                Some(Version(1))
            ]
        );
        assert_eq!(choices("V1 { global: a*; local: a*; };", &["ab"]), [Some(Version(0))]);
        let text = "V1 { global: f*; }; V2 { local: fo*; b*; }; V3 { global: *; };";
        assert_eq!(choices(text, &["foo", "bar", "x"]), [Some(Version(0)), Some(Local), Some(Version(2))]);
    }

    #[test]
    fn demangled_names() {
        let text = "V { extern \"C++\" { ns::*; \"ns::f(int)\"; }; extern \"C\" { c_* }; local: *; };";
        let (matcher, _) = VersionMatcher::new(&script(text)).unwrap();
        let of = |name: &str, demangled: Option<&str>| {
            matcher.lookup(name.as_bytes(), || demangled.map(str::to_owned))
        };
        assert_eq!(of("_ZN2ns1gEv", Some("ns::g()")), Some(Version(0)));
        assert_eq!(of("_ZN2ns1fEi", Some("ns::f(int)")), Some(Version(0)));
        assert_eq!(of("_Z1xv", Some("x()")), Some(Local));
        assert_eq!(of("c_x", None), Some(Version(0)));
        assert_eq!(of("ns::raw", None), Some(Version(0)));
        let (plain, _) = VersionMatcher::new(&script("{ a; };")).unwrap();
        plain.lookup(b"_Z1xv", || panic!("demangled for nothing"));
    }

    #[test]
    fn contradictions_are_warnings() {
        let warnings = |text: &str| {
            let (_, warnings) = VersionMatcher::new(&script(text)).unwrap();
            warnings.into_iter().map(|(_, d)| d.message).collect::<Vec<_>>()
        };
        assert_eq!(
            warnings("V1 { a; };\nV2 { a; };"),
            ["v.map:2: a is named more than once; the first time counts"]
        );
        assert_eq!(warnings("V1 { *; local: *; };"), ["v.map:1: the pattern '*' is both global and local"]);
        assert_eq!(warnings("V1 { a; a; };"), [""; 0]);
    }

    #[test]
    fn several_scripts() {
        let mut all = script("{ a; local: *; };");
        all.append(script("{ b; };")).unwrap();
        let (matcher, _) = VersionMatcher::new(&all).unwrap();
        assert_eq!(matcher.lookup(b"b", || None), Some(Global));
        let mut all = script("V { };");
        assert_eq!(all.append(script("V { };")).unwrap_err().message, "v.map:1: version V is defined twice");
    }

    #[test]
    fn mistakes_name_the_line() {
        assert_eq!(error("V1 {\n foo bar; };"), "v.map:2:6: expected ';', but found 'bar'");
        assert_eq!(
            error("V1 { foo;"),
            "v.map:1:10: expected a symbol pattern, but found the end of the file"
        );
        assert_eq!(error("V1 { }\n"), "v.map:2: expected ';', but found the end of the file");
        assert_eq!(error("V1 { }; V1 { };"), "v.map:1: version V1 is defined twice");
        assert_eq!(error("V1 { } V0;"), "v.map:1: version V1 depends on V0, which is not defined");
        assert_eq!(error("V1 { };\n{ a; };"), "v.map:2: a node without a name cannot stand beside others");
        assert_eq!(error("V1 {\n a[b; };"), "v.map:2: wrong pattern 'a[b': '[' without ']'");
        assert_eq!(
            error("{ extern \"Java\" { a; }; };"),
            "v.map:1:10: expected \"C\" or \"C++\", but found 'Java'"
        );
        assert_eq!(error("{ };\n}"), "v.map:2:1: expected a version or the end of the file, but found '}'");
        assert_eq!(error("{ /* "), "v.map:1: a comment is not closed");
    }

    #[test]
    fn words_that_are_labels_elsewhere() {
        let script = script("{ global; local; extern; global : x; };");
        let names: Vec<&[u8]> = script.nodes[0].globals.iter().map(|p| &*p.text).collect();
        assert_eq!(names, [&b"global"[..], b"local", b"extern", b"x"]);
    }

    #[test]
    fn hostile_text_comes_to_an_end() {
        for text in [
            "{".repeat(10_000),
            "V{".repeat(10_000),
            "extern \"C\" {".repeat(10_000),
            "V { } ".repeat(10_000),
        ] {
            assert!(parse(text.as_bytes(), "x").is_err());
        }
        assert!(parse(&[0, 0xff, b'{', b'}'], "x").is_err());
    }
}
