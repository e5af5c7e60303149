//! Linker scripts that stand in for a library, such as glibc's `libc.so`:
//!
//! ```text
//! OUTPUT_FORMAT(elf64-x86-64)
//! GROUP ( /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/libc_nonshared.a AS_NEEDED ( /lib64/ld-linux.so.2 ) )
//! ```
//!
//! Besides inputs they may set options, define symbols and versions. Commands that lay out the
//! output (`SECTIONS`, `MEMORY`, `PHDRS`, …) are errors in this release. Source: GNU ld manual,
//! "Linker Scripts".

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use weld_common::diag::Diagnostic;

use super::expr;
use super::lexer::{Kind, Lexer, Mode, Token};
use super::version_script::{self, VersionScript};
use crate::options::{DefsymValue, InputKind};

/// One command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `INPUT` and `GROUP`: what to link in place of the script, and whether it stands in `AS_NEEDED`.
    /// Archives are searched until nothing changes, so only `--warn-backrefs` asks which of the two it is.
    Inputs { list: Vec<(InputKind, bool)>, group: bool },
    /// `INCLUDE`: another script, to be read here.
    Include(PathBuf),
    /// `SEARCH_DIR`.
    SearchDir(PathBuf),
    /// `ENTRY`; `-e` wins over it.
    Entry(String),
    /// `EXTERN`: as `-u` for each.
    Extern(Vec<String>),
    /// `OUTPUT`; `-o` wins over it.
    Output(PathBuf),
    /// The format of `OUTPUT_FORMAT` for this byte order, or of `TARGET`.
    Format(String),
    /// `OUTPUT_ARCH`.
    Architecture(String),
    /// `NAME = VALUE;`, `PROVIDE`, `HIDDEN`, `PROVIDE_HIDDEN`.
    Define(Definition),
    /// `VERSION { }`.
    Version(VersionScript),
}

/// A symbol that a script defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub value: DefsymValue,
    /// Only if something refers to the symbol and no object defines it.
    pub provide: bool,
    pub hidden: bool,
    /// 0: `--defsym`.
    pub line: u32,
}

/// Commands and words of full linker scripts.
const UNSUPPORTED: [&[u8]; 16] = [
    b"SECTIONS",
    b"MEMORY",
    b"PHDRS",
    b"ASSERT",
    b"INSERT",
    b"OVERLAY",
    b"REGION_ALIAS",
    b"STARTUP",
    b"NOCROSSREFS",
    b"NOCROSSREFS_TO",
    b"OVERWRITE_SECTIONS",
    b"LD_FEATURE",
    b"FLOAT",
    b"NOFLOAT",
    b"FORCE_COMMON_ALLOCATION",
    b"INHIBIT_COMMON_ALLOCATION",
];

/// Whether a file that is neither object nor archive may be a script: its start is text.
pub fn looks_like_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(512)];
    !start.is_empty() && start.iter().all(|b| matches!(b, b' '..=b'~' | b'\t'..=b'\r' | 0x80..))
}

/// Parses a script. `path` is for messages.
pub fn parse(text: &[u8], path: &str) -> Result<Vec<Command>, Diagnostic> {
    let mut parser = Parser { lexer: Lexer::new(text, path), path, commands: Vec::new() };
    while parser.command()? {}
    Ok(parser.commands)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    path: &'a str,
    commands: Vec<Command>,
}

impl<'a> Parser<'a> {
    /// Reads one command. `false` at the end.
    fn command(&mut self) -> Result<bool, Diagnostic> {
        let token = self.lexer.next(Mode::Expression)?;
        match (token.kind, token.text) {
            (Kind::End, _) => return Ok(false),
            (Kind::Punctuation, b";") => return Ok(true),
            (Kind::Punctuation, _) => return Err(self.lexer.unexpected(&token, "a linker script command")),
            (Kind::Quoted, _) => self.assignment(&token)?,
            (Kind::Word, word @ (b"INPUT" | b"GROUP")) => self.inputs(word == b"GROUP")?,
            (Kind::Word, b"INCLUDE") => {
                let path = self.lexer.name(Mode::File, "a file name")?;
                self.commands.push(Command::Include(path_of(&path)));
            }
            (Kind::Word, b"SEARCH_DIR") => self.one(Mode::File, |_, t| Ok(Command::SearchDir(path_of(t))))?,
            (Kind::Word, b"OUTPUT") => self.one(Mode::File, |_, t| Ok(Command::Output(path_of(t))))?,
            (Kind::Word, b"ENTRY") => self.one(Mode::File, |l, t| l.utf8(t).map(Command::Entry))?,
            (Kind::Word, b"TARGET") => self.one(Mode::File, |l, t| l.utf8(t).map(Command::Format))?,
            (Kind::Word, b"OUTPUT_ARCH") => {
                self.one(Mode::File, |l, t| l.utf8(t).map(Command::Architecture))?
            }
            (Kind::Word, b"OUTPUT_FORMAT") => self.output_format()?,
            (Kind::Word, b"EXTERN") => self.externs()?,
            (Kind::Word, b"VERSION") => self.version()?,
            (Kind::Word, b"PROVIDE") => self.wrapped_assignment(true, false)?,
            (Kind::Word, b"HIDDEN") => self.wrapped_assignment(false, true)?,
            (Kind::Word, b"PROVIDE_HIDDEN") => self.wrapped_assignment(true, true)?,
            (Kind::Word, word) if UNSUPPORTED.contains(&word) => {
                let word = String::from_utf8_lossy(word);
                let message = format!("{word}: full linker scripts are not supported yet");
                return Err(self.lexer.error(token.line, message));
            }
            (Kind::Word, _) => self.assignment(&token)?,
        }
        Ok(true)
    }

    /// `( file, -lname, AS_NEEDED ( … ) … )`.
    fn inputs(&mut self, group: bool) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let mut list = Vec::new();
        let mut as_needed = false;
        loop {
            let token = self.lexer.next(Mode::File)?;
            if token.is(",") {
                continue;
            }
            if token.is(")") {
                if !as_needed {
                    break;
                }
                as_needed = false;
                continue;
            }
            if token.is("AS_NEEDED") && self.lexer.accept(Mode::File, "(")? {
                if as_needed {
                    return Err(self.lexer.error(token.line, "AS_NEEDED inside AS_NEEDED"));
                }
                as_needed = true;
                continue;
            }
            match token.kind {
                Kind::Word | Kind::Quoted if !token.text.is_empty() => {
                    list.push((self.input(&token)?, as_needed))
                }
                _ => return Err(self.lexer.unexpected(&token, "a file name or ')'")),
            }
        }
        self.commands.push(Command::Inputs { list, group });
        Ok(())
    }

    fn input(&self, token: &Token<'a>) -> Result<InputKind, Diagnostic> {
        match token.text {
            [b'-', b'l', name @ ..] if token.kind == Kind::Word => {
                if name.is_empty() {
                    return Err(self.lexer.unexpected(token, "a library name behind -l"));
                }
                self.lexer.utf8(&Token { text: name, ..*token }).map(InputKind::Library)
            }
            _ => Ok(InputKind::File(path_of(token))),
        }
    }

    /// `( word )`.
    fn one(
        &mut self,
        mode: Mode,
        make: fn(&Lexer<'a>, &Token<'a>) -> Result<Command, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        self.lexer.expect(mode, "(")?;
        let token = self.lexer.name(mode, "a name")?;
        self.lexer.expect(mode, ")")?;
        self.commands.push(make(&self.lexer, &token)?);
        Ok(())
    }

    /// `( default )` or `( default , big , little )`.
    fn output_format(&mut self) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let mut format = self.lexer.name(Mode::File, "a format")?;
        if self.lexer.accept(Mode::File, ",")? {
            self.lexer.name(Mode::File, "a format")?;
            self.lexer.expect(Mode::File, ",")?;
            format = self.lexer.name(Mode::File, "a format")?;
        }
        self.lexer.expect(Mode::File, ")")?;
        self.commands.push(Command::Format(self.lexer.utf8(&format)?));
        Ok(())
    }

    /// `( symbol symbol, … )`.
    fn externs(&mut self) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let mut names = Vec::new();
        while !self.lexer.accept(Mode::File, ")")? {
            if self.lexer.accept(Mode::File, ",")? {
                continue;
            }
            let token = self.lexer.name(Mode::File, "a symbol or ')'")?;
            names.push(self.lexer.utf8(&token)?);
        }
        self.commands.push(Command::Extern(names));
        Ok(())
    }

    fn version(&mut self) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::Pattern, "{")?;
        let script = version_script::parse_nodes(&mut self.lexer, self.path)?;
        self.lexer.expect(Mode::Pattern, "}")?;
        self.commands.push(Command::Version(script));
        Ok(())
    }

    /// `( NAME = VALUE )`.
    fn wrapped_assignment(&mut self, provide: bool, hidden: bool) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::Expression, "(")?;
        let token = self.lexer.name(Mode::Expression, "a symbol")?;
        self.lexer.expect(Mode::Expression, "=")?;
        let definition = self.definition(&token)?;
        self.lexer.expect(Mode::Expression, ")")?;
        self.commands.push(Command::Define(Definition { provide, hidden, ..definition }));
        Ok(())
    }

    /// `NAME = VALUE ;`, with the name read already.
    fn assignment(&mut self, token: &Token<'a>) -> Result<(), Diagnostic> {
        let operator = self.lexer.next(Mode::Expression)?;
        if operator.kind == Kind::Punctuation && operator.text.len() > 1 && operator.text.ends_with(b"=") {
            let shown = String::from_utf8_lossy(operator.text);
            return Err(self.lexer.error(operator.line, format!("'{shown}' is not supported yet; '=' is")));
        }
        if !operator.is("=") {
            return Err(self.lexer.unexpected(token, "a linker script command or an assignment"));
        }
        let definition = self.definition(token)?;
        self.lexer.expect(Mode::Expression, ";")?;
        self.commands.push(Command::Define(definition));
        Ok(())
    }

    fn definition(&mut self, token: &Token<'a>) -> Result<Definition, Diagnostic> {
        let name = expr::symbol_name(&self.lexer, token)?;
        let value = expr::parse(&mut self.lexer)?;
        Ok(Definition { name, value, provide: false, hidden: false, line: token.line })
    }
}

fn path_of(token: &Token<'_>) -> PathBuf {
    OsStr::from_bytes(token.text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<Command> {
        parse(text.as_bytes(), "libx.so").unwrap()
    }

    fn error(text: &str) -> String {
        parse(text.as_bytes(), "libx.so").unwrap_err().message
    }

    fn file(path: &str) -> InputKind {
        InputKind::File(path.into())
    }

    #[test]
    fn as_glibc_writes_it() {
        let text = "/* GNU ld script\n   Use the shared library. */\nOUTPUT_FORMAT(elf64-x86-64)\n\
            GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a  AS_NEEDED ( /lib64/ld-linux-x86-64.so.2 ) )\n";
        assert_eq!(
            commands(text),
            [
                Command::Format("elf64-x86-64".into()),
                Command::Inputs {
                    list: vec![
                        (file("/lib/libc.so.6"), false),
                        (file("/usr/lib/libc_nonshared.a"), false),
                        (file("/lib64/ld-linux-x86-64.so.2"), true),
                    ],
                    group: true
                },
            ]
        );
    }

    #[test]
    fn inputs() {
        assert_eq!(
            commands("INPUT(a.so,-ltinfo AS_NEEDED(-l:b.a) =/x \"-l y\")"),
            [Command::Inputs {
                list: vec![
                    (file("a.so"), false),
                    (InputKind::Library("tinfo".into()), false),
                    (InputKind::Library(":b.a".into()), true),
                    (file("=/x"), false),
                    (file("-l y"), false),
                ],
                group: false
            }]
        );
        assert_eq!(commands("GROUP()"), [Command::Inputs { list: vec![], group: true }]);
    }

    #[test]
    fn other_commands() {
        let text = "SEARCH_DIR(\"=/usr/lib\"); ENTRY(_main) EXTERN(a b, c) OUTPUT(x.out) TARGET(elf64-x86-64)\n\
            OUTPUT_FORMAT(\"a\", \"b\", \"c\") OUTPUT_ARCH(i386:x86-64) INCLUDE dir/more.ld";
        assert_eq!(
            commands(text),
            [
                Command::SearchDir("=/usr/lib".into()),
                Command::Entry("_main".into()),
                Command::Extern(vec!["a".into(), "b".into(), "c".into()]),
                Command::Output("x.out".into()),
                Command::Format("elf64-x86-64".into()),
                Command::Format("c".into()),
                Command::Architecture("i386:x86-64".into()),
                Command::Include("dir/more.ld".into()),
            ]
        );
    }

    #[test]
    fn definitions() {
        let of = |text: &str| match &commands(text)[..] {
            [Command::Define(d)] => (d.name.clone(), d.value.clone(), d.provide, d.hidden),
            other => panic!("{other:?}"),
        };
        assert_eq!(of("a=0x10;"), ("a".into(), DefsymValue::Absolute(16), false, false));
        assert_eq!(of("\"a b\" = c - 1;"), ("a b".into(), DefsymValue::Symbol("c".into(), -1), false, false));
        assert_eq!(of("PROVIDE(a = b);"), ("a".into(), DefsymValue::Symbol("b".into(), 0), true, false));
        assert_eq!(of("PROVIDE_HIDDEN(a = 1)"), ("a".into(), DefsymValue::Absolute(1), true, true));
        assert_eq!(of("HIDDEN(a = 1);"), ("a".into(), DefsymValue::Absolute(1), false, true));
    }

    #[test]
    fn versions() {
        let found = commands("VERSION { V1 { global: a; local: *; }; V2 { b; } V1; }\nINPUT(x)");
        assert!(
            matches!(&found[..], [Command::Version(script), Command::Inputs { .. }] if script.nodes.len() == 2)
        );
        let script = match &found[0] {
            Command::Version(script) => script,
            other => panic!("{other:?}"),
        };
        assert_eq!(script.nodes[1].path, "libx.so");
    }

    #[test]
    fn full_scripts_are_errors() {
        let text = "libx.so:2: SECTIONS: full linker scripts are not supported yet";
        assert_eq!(error("ENTRY(a)\nSECTIONS { .text : { *(.text) } }"), text);
        assert!(
            error("MEMORY { }").contains("MEMORY: full linker scripts") && error("PHDRS").contains("PHDRS")
        );
        assert!(error("x = .;").contains("full linker scripts are not supported yet"));
        assert!(error("x += 1;").ends_with("'+=' is not supported yet; '=' is"));
    }

    #[test]
    fn mistakes_name_the_line() {
        assert_eq!(
            error("\nGROUP ( a"),
            "libx.so:2: expected a file name or ')', but found the end of the file"
        );
        assert_eq!(
            error("hello world"),
            "libx.so:1: expected a linker script command or an assignment, but found 'hello'"
        );
        assert_eq!(error("a = 1"), "libx.so:1: expected ';', but found the end of the file");
        assert_eq!(error("INPUT(AS_NEEDED(AS_NEEDED(a)))"), "libx.so:1: AS_NEEDED inside AS_NEEDED");
        assert_eq!(error("INPUT(-l)"), "libx.so:1: expected a library name behind -l, but found '-l'");
        assert_eq!(error("ENTRY()"), "libx.so:1: expected a name, but found ')'");
        assert_eq!(error("}"), "libx.so:1: expected a linker script command, but found '}'");
        assert_eq!(error("INPUT(a)\n/*"), "libx.so:2: a comment is not closed");
        assert!(error("!<arch>").contains("found '!'"));
    }

    #[test]
    fn hostile_text_comes_to_an_end() {
        for text in [
            "GROUP(".repeat(10_000),
            "INPUT(AS_NEEDED(".repeat(10_000),
            "x=(".repeat(10_000),
            "(".repeat(10_000),
        ] {
            assert!(parse(text.as_bytes(), "x").is_err());
        }
        assert!(
            looks_like_text(b"/* GNU ld script */\n") && !looks_like_text(b"\0asm") && !looks_like_text(b"")
        );
    }
}
