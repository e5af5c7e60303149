//! Commands of linker scripts: of those that stand in for a library, such as glibc's `libc.so`
//!
//! ```text
//! OUTPUT_FORMAT(elf64-x86-64)
//! GROUP ( /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/libc_nonshared.a AS_NEEDED ( /lib64/ld-linux.so.2 ) )
//! ```
//!
//! and of those that lay out the output. There is one parser for both; here are the commands themselves, and
//! the files beside this one have what some of them hold. `INCLUDE` is text in place of itself, wherever a
//! statement may stand. Source: GNU ld manual, "Linker Scripts".

use std::path::{Path, PathBuf};
use std::sync::Arc;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::expr::{self, DefsymValue, Expr, Op};
use super::lexer::{Kind, Lexer, Mode, Place, Token};
use super::memory::Region;
use super::phdrs::ProgramHeader;
use super::sections::{Assertion, Assignment, SectionDescription, Statement};
use super::version_script::{self, VersionScript};

/// What a command line or a script names as an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A path as given.
    File(PathBuf),
    /// `-lNAME`, or `-l:FILE` with the colon kept.
    Library(String),
    /// `-T`/`--script`; `--default-script` if there is no `-T`. Looked up in the working directory,
    /// then in the search paths.
    Script(PathBuf),
    /// `-c`/`--mri-script`.
    MriScript(PathBuf),
}

/// One command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `INPUT` and `GROUP`: what to link in place of the script, and whether it stands in `AS_NEEDED`.
    /// Archives are searched until nothing changes, so only `--warn-backrefs` asks which of the two it is.
    Inputs {
        list: Vec<(InputKind, bool)>,
        group: bool,
    },
    /// `ENTRY`; `-e` wins over it.
    Entry(String),
    /// `EXTERN`: as `-u` for each.
    Extern(Vec<String>),
    /// `OUTPUT`; `-o` wins over it.
    Output(PathBuf),
    /// The format of `OUTPUT_FORMAT`.
    Format(String),
    /// `TARGET`: the format of the inputs that the script names after it.
    Target(String),
    /// Those of `OUTPUT_FORMAT` if options say nothing of the byte order, for big and for little endian.
    Formats([String; 3]),
    /// `OUTPUT_ARCH`.
    Architecture(String),
    /// `NAME = VALUE;`, `PROVIDE`, `HIDDEN`, `PROVIDE_HIDDEN`.
    Define(Definition),
    /// `VERSION { }`.
    Version(VersionScript),
    Sections(Vec<Statement>),
    /// `OVERWRITE_SECTIONS`: output sections in place of those that others describe, or beside them.
    Overwrite(Vec<SectionDescription>),
    Memory(Vec<Region>),
    Phdrs(Vec<ProgramHeader>),
    Assert(Assertion),
    /// `REGION_ALIAS`: another name, and the region's.
    RegionAlias(String, String),
    /// `INSERT`: the sections of the last `SECTIONS` lie beside this one, after or before it.
    Insert {
        after: bool,
        beside: Vec<u8>,
        place: Place,
    },
    /// `NOCROSSREFS`, or (`_TO`) only to the first from the others: output sections.
    NoCrossReferences {
        sections: Vec<Vec<u8>>,
        to_first: bool,
        place: Place,
    },
    /// `FORCE_COMMON_ALLOCATION`, `INHIBIT_COMMON_ALLOCATION`: whether common symbols get their places even
    /// with `-r`, or not even in shared objects.
    DefineCommon(bool),
    /// `FORCE_GROUP_ALLOCATION`
    DissolveGroups,
}

impl Command {
    /// The word that begins it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Inputs { group: false, .. } => "INPUT",
            Command::Inputs { group: true, .. } => "GROUP",
            Command::Entry(_) => "ENTRY",
            Command::Extern(_) => "EXTERN",
            Command::Output(_) => "OUTPUT",
            Command::Format(_) | Command::Formats(_) => "OUTPUT_FORMAT",
            Command::Target(_) => "TARGET",
            Command::Architecture(_) => "OUTPUT_ARCH",
            Command::Define(_) => "an assignment",
            Command::Version(_) => "VERSION",
            Command::Sections(_) => "SECTIONS",
            Command::Overwrite(_) => "OVERWRITE_SECTIONS",
            Command::Memory(_) => "MEMORY",
            Command::Phdrs(_) => "PHDRS",
            Command::Assert(_) => "ASSERT",
            Command::RegionAlias(..) => "REGION_ALIAS",
            Command::Insert { .. } => "INSERT",
            Command::NoCrossReferences { .. } => "NOCROSSREFS",
            Command::DefineCommon(true) => "FORCE_COMMON_ALLOCATION",
            Command::DefineCommon(false) => "INHIBIT_COMMON_ALLOCATION",
            Command::DissolveGroups => "FORCE_GROUP_ALLOCATION",
        }
    }
}

/// A symbol that a script defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub value: DefsymValue,
    /// Only if something refers to the symbol and no object defines it.
    pub provide: bool,
    pub hidden: bool,
    pub place: Place,
    /// As the script has it.
    pub text: String,
}

/// Files that scripts speak of.
pub trait Files<'a> {
    /// The path and the text of what the script `from` includes.
    ///
    /// # Errors
    /// If it cannot be read.
    fn include(&mut self, path: &Path, from: &str) -> Result<(&'a str, &'a [u8]), Diagnostic>;

    /// `SEARCH_DIR`: a directory for inputs.
    fn add_directory(&mut self, path: PathBuf);

    /// Names of `--wrap`: expressions mean others where they refer to them.
    fn wrapped(&self) -> Arc<[String]> {
        Arc::default()
    }
}

/// How deep scripts may include one another, and how often one may include others. Ten that include one
/// another eight times each would be read a thousand million times.
const MAX_INCLUDED: usize = 16;
const MAX_INCLUDES: usize = 10_000;

/// Whether a file that is neither object nor archive may be a script: its start is text.
pub fn looks_like_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(512)];
    !start.is_empty() && start.iter().all(|b| matches!(b, b' '..=b'~' | b'\t'..=b'\r' | 0x80..))
}

/// Parses a script. `path` is for messages.
///
/// # Errors
/// The first mistake, with its line.
pub fn parse<'a>(
    text: &'a [u8],
    path: &'a str,
    files: &mut dyn Files<'a>,
) -> Result<Vec<Command>, Diagnostic> {
    if u32::try_from(text.len()).is_err() {
        return Err(Diagnostic::error(Cause::TooLarge, format!("{path}: is too large for a linker script"))
            .in_file(path));
    }
    let lexer = Lexer::new(text, path).wrapping(files.wrapped());
    let mut parser =
        Parser { lexer, path: path.into(), outer: Vec::new(), files, included: 0, commands: Vec::new() };
    while parser.command()? {}
    Ok(parser.commands)
}

/// Parses a script that includes nothing.
///
/// # Errors
/// The first mistake, with its line.
pub fn parse_alone(text: &[u8], path: &str) -> Result<Vec<Command>, Diagnostic> {
    struct NoFiles;
    impl<'a> Files<'a> for NoFiles {
        fn include(&mut self, path: &Path, _: &str) -> Result<(&'a str, &'a [u8]), Diagnostic> {
            Err(Diagnostic::error(
                Cause::CannotOpenFile,
                format!("cannot open {}: there are no files here", path.display()),
            ))
        }
        fn add_directory(&mut self, _: PathBuf) {}
    }
    parse(text, path, &mut NoFiles)
}

/// Reads a script and what it includes.
pub(super) struct Parser<'a, 'f> {
    pub(super) lexer: Lexer<'a>,
    /// That of the text which is read.
    pub(super) path: Arc<str>,
    /// Where scripts go on that have included others, the innermost last.
    outer: Vec<Lexer<'a>>,
    files: &'f mut dyn Files<'a>,
    /// How many files have been included.
    included: usize,
    commands: Vec<Command>,
}

impl<'a> Parser<'a, '_> {
    /// Reads one command. `false` at the end.
    fn command(&mut self) -> Result<bool, Diagnostic> {
        self.leave_included()?;
        let token = self.lexer.next(Mode::Statement)?;
        match (token.kind, token.text) {
            (Kind::End, _) => return Ok(false),
            (Kind::Punctuation, b";") => return Ok(true),
            (Kind::Punctuation, _) => return Err(self.lexer.unexpected(&token, "a linker script command")),
            (Kind::Quoted, _) => self.definition(&token)?,
            (Kind::Word, word @ (b"INPUT" | b"GROUP" | b"STARTUP")) => self.inputs(word == b"GROUP")?,
            (Kind::Word, b"SEARCH_DIR") => {
                let dir = self.one(Mode::File)?;
                self.files.add_directory(path_of(&dir));
            }
            (Kind::Word, b"OUTPUT") => {
                let path = self.one(Mode::File)?;
                self.commands.push(Command::Output(path_of(&path)));
            }
            (Kind::Word, b"TARGET") => self.one_name(Command::Target)?,
            (Kind::Word, b"OUTPUT_ARCH") => self.one_name(Command::Architecture)?,
            (Kind::Word, b"OUTPUT_FORMAT") => self.output_format()?,
            (Kind::Word, b"VERSION") => self.version()?,
            // GNU ld knows the word, and passes over it with a warning.
            (Kind::Word, b"HLL") => return Err(self.lexer.error_at(&token, "HLL is not supported")),
            (Kind::Word, word) => {
                if !self.common_statement(&token)? && !self.layout_command(&token, word)? {
                    self.definition(&token)?;
                }
            }
        }
        Ok(true)
    }

    /// What may stand in `SECTIONS` as well as beside it.
    pub(super) fn common_statement(&mut self, token: &Token<'a>) -> Result<bool, Diagnostic> {
        if token.kind != Kind::Word {
            return Ok(false);
        }
        let called = || self.lexer.peek(Mode::File).map(|next| next.is("("));
        match token.text {
            b"INCLUDE" => self.include()?,
            b"ENTRY" if called()? => self.one_name(Command::Entry)?,
            b"EXTERN" if called()? => self.externs()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Commands about layout.
    fn layout_command(&mut self, token: &Token<'a>, word: &[u8]) -> Result<bool, Diagnostic> {
        let command = match word {
            b"SECTIONS" => Command::Sections(self.sections()?),
            b"OVERWRITE_SECTIONS" => Command::Overwrite(self.overwriting_sections()?),
            b"MEMORY" => Command::Memory(self.memory()?),
            b"PHDRS" => Command::Phdrs(self.phdrs()?),
            b"INSERT" => self.insert(token)?,
            b"REGION_ALIAS" => {
                let names = self.names()?;
                match &names[..] {
                    [alias, _] if alias.text == b"*default*" => {
                        let text = "*default*, the memory of sections that name none, cannot be an alias";
                        return Err(self.lexer.error_at(alias, text));
                    }
                    [alias, region] => {
                        Command::RegionAlias(self.lexer.utf8(alias)?, self.lexer.utf8(region)?)
                    }
                    _ => return Err(self.lexer.error_at(token, "REGION_ALIAS wants a name and a region")),
                }
            }
            b"NOCROSSREFS" | b"NOCROSSREFS_TO" => {
                let names = self.names()?;
                let sections = names.iter().map(|token| token.text.to_vec()).collect();
                Command::NoCrossReferences {
                    sections,
                    to_first: word == b"NOCROSSREFS_TO",
                    place: token.place(&self.path),
                }
            }
            b"FORCE_COMMON_ALLOCATION" => Command::DefineCommon(true),
            b"INHIBIT_COMMON_ALLOCATION" => Command::DefineCommon(false),
            b"FORCE_GROUP_ALLOCATION" => Command::DissolveGroups,
            // What they ask for is so in any case.
            b"FLOAT" | b"NOFLOAT" => return Ok(true),
            // Numbers do not make numbers of addresses here whatever a script says.
            b"LD_FEATURE" => match self.one(Mode::File)? {
                feature if feature.text == b"SANE_EXPR" => return Ok(true),
                feature => return Err(self.lexer.unexpected(&feature, "SANE_EXPR, the only feature")),
            },
            _ => match self.assertion(token)? {
                Some(assertion) => Command::Assert(assertion),
                None => return Ok(false),
            },
        };
        self.commands.push(command);
        Ok(true)
    }

    /// `INCLUDE FILE`: goes on in that file.
    pub(super) fn include(&mut self) -> Result<(), Diagnostic> {
        let token = self.lexer.name(Mode::File, "a file name")?;
        let path = path_of(&token);
        self.included += 1;
        if self.outer.len() == MAX_INCLUDED {
            return Err(self.lexer.error_at(&token, "linker scripts include one another too deeply"));
        }
        if self.included > MAX_INCLUDES {
            let text = format!("linker scripts include more than {MAX_INCLUDES} files");
            return Err(self.lexer.error_at(&token, text));
        }
        let (path, text) = self.files.include(&path, self.lexer.path()).map_err(|error| {
            let at = self.lexer.error_at(&token, &error.message);
            error.notes.into_iter().fold(at, Diagnostic::note)
        })?;
        if u32::try_from(text.len()).is_err() {
            return Err(self.lexer.error_at(&token, "the file is too large for a linker script"));
        }
        let inner = Lexer::new(text, path).wrapping(self.files.wrapped());
        self.outer.push(std::mem::replace(&mut self.lexer, inner));
        self.path = path.into();
        Ok(())
    }

    /// Goes on after `INCLUDE` where what was included ends.
    fn leave_included(&mut self) -> Result<(), Diagnostic> {
        while !self.outer.is_empty() && self.lexer.peek(Mode::File)?.kind == Kind::End {
            if let Some(outer) = self.outer.pop() {
                self.path = outer.path().into();
                self.lexer = outer;
            }
        }
        Ok(())
    }

    /// Reads the `}` at the end of a block, if it is there.
    pub(super) fn at_end_of_block(&mut self) -> Result<bool, Diagnostic> {
        self.leave_included()?;
        self.lexer.accept(Mode::File, "}")
    }

    /// `( expression )`
    pub(super) fn in_parentheses(&mut self) -> Result<Expr, Diagnostic> {
        self.lexer.expect(Mode::Expression, "(")?;
        let value = expr::parse(&mut self.lexer, &self.path)?;
        self.lexer.expect(Mode::Expression, ")")?;
        Ok(value)
    }

    /// The number that an expression is. `token` is where it begins.
    pub(super) fn constant(&self, value: Expr, token: &Token<'a>) -> Result<u64, Diagnostic> {
        match value.simple().map_err(|error| self.lexer.error_at(token, error.to_string()))? {
            DefsymValue::Absolute(value) => Ok(value),
            _ => Err(self.lexer.error_at(token, "expected a number that does not depend on layout")),
        }
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
                    return Err(self.lexer.error_at(&token, "AS_NEEDED inside AS_NEEDED"));
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

    /// `( default )` or `( default , big , little )`.
    fn output_format(&mut self) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let format = self.lexer.name(Mode::File, "a format")?;
        let format = self.lexer.utf8(&format)?;
        let mut command = Command::Format(format.clone());
        if self.lexer.accept(Mode::File, ",")? {
            let big = self.lexer.name(Mode::File, "a format")?;
            self.lexer.expect(Mode::File, ",")?;
            let little = self.lexer.name(Mode::File, "a format")?;
            command = Command::Formats([format, self.lexer.utf8(&big)?, self.lexer.utf8(&little)?]);
        }
        self.lexer.expect(Mode::File, ")")?;
        self.commands.push(command);
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
        let script = version_script::parse_nodes(&mut self.lexer)?;
        self.lexer.expect(Mode::Pattern, "}")?;
        self.commands.push(Command::Version(script));
        Ok(())
    }

    /// `( word )`.
    fn one(&mut self, mode: Mode) -> Result<Token<'a>, Diagnostic> {
        self.lexer.expect(mode, "(")?;
        let token = self.lexer.name(mode, "a name")?;
        self.lexer.expect(mode, ")")?;
        Ok(token)
    }

    fn one_name(&mut self, make: fn(String) -> Command) -> Result<(), Diagnostic> {
        let token = self.one(Mode::File)?;
        let name = self.lexer.utf8(&token)?;
        self.commands.push(make(name));
        Ok(())
    }

    /// `( word word, … )`.
    fn names(&mut self) -> Result<Vec<Token<'a>>, Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let mut names = Vec::new();
        while !self.lexer.accept(Mode::File, ")")? {
            if !self.lexer.accept(Mode::File, ",")? {
                names.push(self.lexer.name(Mode::File, "a name or ')'")?);
            }
        }
        Ok(names)
    }

    /// `INSERT AFTER NAME;`, its first word read already.
    fn insert(&mut self, token: &Token<'a>) -> Result<Command, Diagnostic> {
        let word = self.lexer.next(Mode::File)?;
        if !word.is("AFTER") && !word.is("BEFORE") {
            return Err(self.lexer.unexpected(&word, "AFTER or BEFORE"));
        }
        let name = self.lexer.name(Mode::File, "an output section")?;
        let place = token.place(&self.path);
        Ok(Command::Insert { after: word.is("AFTER"), beside: name.text.to_vec(), place })
    }

    /// `NAME = VALUE ;` and kin.
    fn definition(&mut self, token: &Token<'a>) -> Result<(), Diagnostic> {
        let wrapped = token.kind == Kind::Word
            && matches!(token.text, b"PROVIDE" | b"HIDDEN" | b"PROVIDE_HIDDEN")
            && self.lexer.peek(Mode::Expression)?.is("(");
        let Some(assignment) = self.assignment(token)? else {
            return Err(self.lexer.unexpected(token, "a linker script command or an assignment"));
        };
        if !wrapped {
            self.lexer.expect(Mode::Expression, ";")?;
        }
        if assignment.is_dot() {
            // `. = ASSERT(…);`, as kernels write it, asserts and moves nothing.
            let Some(Op::Assert(message)) = assignment.value.code.last() else {
                return Err(self.lexer.error_at(token, "'.' can only be assigned to inside SECTIONS"));
            };
            let message = message.clone();
            self.commands.push(Command::Assert(Assertion { value: assignment.value, message }));
            return Ok(());
        }
        let Assignment { name, value, provide, hidden, place, text } = assignment;
        // One that goes on from what there is, as with `+=`, counts where it stands.
        let goes_on = value.symbols().any(|other| other == name);
        let value = match goes_on {
            true => DefsymValue::Computed(value),
            false => value.simple().map_err(|error| self.lexer.error_at(token, error.to_string()))?,
        };
        self.commands.push(Command::Define(Definition { name, value, provide, hidden, place, text }));
        Ok(())
    }
}

fn path_of(token: &Token<'_>) -> PathBuf {
    text::os_str(token.text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<Command> {
        parse_alone(text.as_bytes(), "libx.so").unwrap()
    }

    fn error(text: &str) -> String {
        parse_alone(text.as_bytes(), "libx.so").unwrap_err().message
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
            OUTPUT_FORMAT(\"a\", \"b\", \"c\") OUTPUT_ARCH(i386:x86-64)";
        assert_eq!(
            commands(text),
            [
                Command::Entry("_main".into()),
                Command::Extern(vec!["a".into(), "b".into(), "c".into()]),
                Command::Output("x.out".into()),
                Command::Target("elf64-x86-64".into()),
                Command::Formats(["a", "b", "c"].map(Into::into)),
                Command::Architecture("i386:x86-64".into()),
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
    fn layout() {
        let text = "MEMORY { } PHDRS { } SECTIONS { } INSERT AFTER .text; REGION_ALIAS(\"a\", b) NOCROSSREFS(.a .b) \
            ASSERT(1, \"x\"); FORCE_COMMON_ALLOCATION FLOAT LD_FEATURE(\"SANE_EXPR\")";
        let names: Vec<_> = commands(text).iter().map(Command::name).collect();
        let expected = [
            "MEMORY",
            "PHDRS",
            "SECTIONS",
            "INSERT",
            "REGION_ALIAS",
            "NOCROSSREFS",
            "ASSERT",
            "FORCE_COMMON_ALLOCATION",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn included_text_stands_in_its_place() {
        struct Two;
        impl<'a> Files<'a> for Two {
            fn include(&mut self, path: &Path, from: &str) -> Result<(&'a str, &'a [u8]), Diagnostic> {
                match path.to_str() {
                    Some("self") => Ok(("self", b"INCLUDE self")),
                    Some("bad") => Ok(("bad", b"\n *(.a) )")),
                    _ => Ok(("inner", if from == "outer" { b"INCLUDE nested *(.a)" } else { b"x = 1;" })),
                }
            }
            fn add_directory(&mut self, _: PathBuf) {}
        }
        let found = parse(b"SECTIONS { .a : { INCLUDE inner *(.b) } } ENTRY(x)", "outer", &mut Two).unwrap();
        let [Command::Sections(list), Command::Entry(_)] = &found[..] else { panic!("{found:?}") };
        let [Statement::Section(section)] = &list[..] else { panic!("{list:?}") };
        assert_eq!(section.contents.len(), 3);
        let error = |text: &'static [u8]| parse(text, "outer", &mut Two).unwrap_err();
        assert!(error(b"INCLUDE self").message.contains("include one another too deeply"));
        assert!(error(b"SECTIONS { .a : { INCLUDE bad } }").message.starts_with("bad:2:8: "));
    }

    #[test]
    fn mistakes_name_the_line() {
        assert_eq!(
            error("\nGROUP ( a"),
            "libx.so:2:10: expected a file name or ')', but found the end of the file"
        );
        assert_eq!(
            error("hello world"),
            "libx.so:1:1: expected a linker script command or an assignment, but found 'hello'"
        );
        assert_eq!(error("a = 1"), "libx.so:1:6: expected ';', but found the end of the file");
        assert_eq!(error("INPUT(AS_NEEDED(AS_NEEDED(a)))"), "libx.so:1:17: AS_NEEDED inside AS_NEEDED");
        assert_eq!(error("INPUT(-l)"), "libx.so:1:7: expected a library name behind -l, but found '-l'");
        assert_eq!(error("ENTRY()"), "libx.so:1:7: expected a name, but found ')'");
        assert_eq!(error("}"), "libx.so:1:1: expected a linker script command, but found '}'");
        assert_eq!(error("INPUT(a)\n/*"), "libx.so:2: a comment is not closed");
        assert!(error("!<arch>").contains("found '!<arch>'"));
    }

    #[test]
    fn hostile_text_comes_to_an_end() {
        for text in [
            "GROUP(".repeat(10_000),
            "INPUT(AS_NEEDED(".repeat(10_000),
            "x=(".repeat(10_000),
            "(".repeat(10_000),
        ] {
            assert!(parse_alone(text.as_bytes(), "x").is_err());
        }
        assert!(
            looks_like_text(b"/* GNU ld script */\n") && !looks_like_text(b"\0asm") && !looks_like_text(b"")
        );
    }
}
