//! Descriptions of input sections inside `SECTIONS`: `KEEP(*foo.o(EXCLUDE_FILE(*bar.o) .text
//! SORT(.data.*)))`.
//!
//! Source: GNU ld manual, "Input Section Description".

use std::fmt;

use weld_common::diag::Diagnostic;
use weld_common::glob::Glob;

use super::commands::Parser;
use super::lexer::{Kind, Lexer, Mode, Place, Token};
use super::sections::{ClassReference, Content};

/// Which sections of which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSections {
    pub file: FilePattern,
    /// `SORT_BY_NAME(*)(…)`: in the order of the names of files.
    pub sort_files: bool,
    /// `EXCLUDE_FILE(…)` in front of the file.
    pub exclude: Vec<FilePattern>,
    pub sections: Vec<SectionPattern>,
    /// `INPUT_SECTION_FLAGS(…)`: flags that must be there, and that must not.
    pub flags: (u64, u64),
    /// Garbage collection does not remove them.
    pub keep: bool,
    pub place: Place,
}

/// A pattern for names of input sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionPattern {
    pub name: Vec<u8>,
    /// Files whose sections it does not match.
    pub exclude: Vec<FilePattern>,
    /// How sections that it matches are ordered; the first counts most.
    pub sort: [Sort; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sort {
    /// As they come, or as `--sort-section` says.
    #[default]
    Default,
    /// As they come, whatever that says.
    None,
    Name,
    /// The strictest first.
    Alignment,
    /// By the number at the end of the name.
    InitPriority,
    /// Last things first (`REVERSE`).
    NameReversed,
    InitPriorityReversed,
}

/// A pattern for the names of files: of a file, or (`archive:member`) of members of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilePattern {
    /// Of what stands before the colon; `None`: it has none. Empty: files that are in no archive.
    pub archive: Option<Vec<u8>>,
    /// Of the file, or of the member; empty: all members.
    pub file: Vec<u8>,
}

/// As GNU ld's maps have it: `KEEP (*(SORT_BY_NAME(EXCLUDE_FILE(a.o) .text.*) .text))`.
impl fmt::Display for InputSections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.keep { "KEEP (" } else { "" })?;
        f.write_str(if self.sort_files { "SORT_BY_NAME(" } else { "" })?;
        write_excluded(f, &self.exclude)?;
        write!(f, "{}(", self.file)?;
        for (i, pattern) in self.sections.iter().enumerate() {
            f.write_str(if i > 0 { " " } else { "" })?;
            let words = pattern.sort.iter().filter_map(|sort| sort.word());
            words.clone().try_for_each(|word| write!(f, "{word}("))?;
            write_excluded(f, &pattern.exclude)?;
            f.write_str(&String::from_utf8_lossy(&pattern.name))?;
            words.map(|_| ")").try_for_each(|end| f.write_str(end))?;
        }
        f.write_str(if self.sort_files { "))" } else { ")" })?;
        f.write_str(if self.keep { ")" } else { "" })
    }
}

fn write_excluded(f: &mut fmt::Formatter<'_>, list: &[FilePattern]) -> fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    let files: Vec<String> = list.iter().map(FilePattern::to_string).collect();
    write!(f, "EXCLUDE_FILE({}) ", files.join(" "))
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(archive) = &self.archive {
            write!(f, "{}:", String::from_utf8_lossy(archive))?;
        }
        f.write_str(&String::from_utf8_lossy(&self.file))
    }
}

impl Sort {
    fn word(self) -> Option<&'static str> {
        Some(match self {
            Sort::Default => return None,
            Sort::None => "SORT_NONE",
            Sort::Name => "SORT_BY_NAME",
            Sort::Alignment => "SORT_BY_ALIGNMENT",
            Sort::InitPriority => "SORT_BY_INIT_PRIORITY",
            Sort::NameReversed | Sort::InitPriorityReversed => "REVERSE",
        })
    }
}

impl FilePattern {
    pub fn new(text: &[u8]) -> FilePattern {
        match memchr::memchr(b':', text) {
            Some(colon) => {
                FilePattern { archive: Some(text[..colon].to_vec()), file: text[colon + 1..].to_vec() }
            }
            None => FilePattern { archive: None, file: text.to_vec() },
        }
    }

    /// Whether it matches every file.
    pub fn is_any(&self) -> bool {
        self.archive.is_none() && self.file == b"*"
    }
}

/// Names of the bits of `sh_flags` that `INPUT_SECTION_FLAGS` knows.
const FLAGS: [(&[u8], u64); 11] = [
    (b"SHF_WRITE", 1),
    (b"SHF_ALLOC", 2),
    (b"SHF_EXECINSTR", 4),
    (b"SHF_MERGE", 0x10),
    (b"SHF_STRINGS", 0x20),
    (b"SHF_INFO_LINK", 0x40),
    (b"SHF_LINK_ORDER", 0x80),
    (b"SHF_OS_NONCONFORMING", 0x100),
    (b"SHF_GROUP", 0x200),
    (b"SHF_TLS", 0x400),
    (b"SHF_COMPRESSED", 0x800),
];

/// Words in front of `(` that sort, and how deep they may nest.
const MAX_SORTS: usize = 2;

fn sort_of(word: &[u8]) -> Option<Sort> {
    Some(match word {
        b"SORT" | b"SORT_BY_NAME" => Sort::Name,
        b"SORT_BY_ALIGNMENT" => Sort::Alignment,
        b"SORT_BY_INIT_PRIORITY" => Sort::InitPriority,
        b"SORT_NONE" => Sort::None,
        b"REVERSE" => Sort::NameReversed,
        _ => return None,
    })
}

/// Whether a word in front of `(` begins a description of input sections.
pub fn begins(word: &[u8]) -> bool {
    matches!(word, b"KEEP" | b"INPUT_SECTION_FLAGS" | b"EXCLUDE_FILE" | b"CLASS") || sort_of(word).is_some()
}

impl<'a> Parser<'a, '_> {
    /// A description that begins with `token`, which has been read.
    pub(super) fn input_sections(&mut self, token: &Token<'a>) -> Result<Content, Diagnostic> {
        let place = token.place(&self.path);
        let keep = token.is("KEEP") && self.lexer.peek(Mode::File)?.is("(");
        let mut token = *token;
        if keep {
            self.lexer.next(Mode::File)?;
            token = self.lexer.next(Mode::Statement)?;
        }
        let mut flags = (0, 0);
        if token.is("INPUT_SECTION_FLAGS") {
            flags = self.section_flags()?;
            token = self.lexer.next(Mode::Statement)?;
        }
        let found = match token.is("CLASS") && self.lexer.peek(Mode::File)?.is("(") {
            true => Content::Class(ClassReference { name: self.name_of_class()?, flags, keep, place }),
            false => Content::Inputs(InputSections { flags, keep, place, ..self.file_and_sections(&token)? }),
        };
        if keep {
            self.lexer.expect(Mode::File, ")")?;
        }
        Ok(found)
    }

    /// `FILE(SECTIONS)`, with what may be around the file.
    fn file_and_sections(&mut self, token: &Token<'a>) -> Result<InputSections, Diagnostic> {
        let mut token = *token;
        let mut exclude = Vec::new();
        let mut sort_files = false;
        if token.is("EXCLUDE_FILE") && self.lexer.peek(Mode::File)?.is("(") {
            exclude = self.files()?;
            token = self.lexer.next(Mode::Statement)?;
        }
        let sorts = sort_of(token.text).filter(|_| token.kind == Kind::Word);
        if let Some(sort) = sorts
            && self.lexer.accept(Mode::File, "(")?
        {
            if !matches!(sort, Sort::Name | Sort::None) {
                return Err(self.lexer.error_at(&token, "files can be sorted by name only"));
            }
            sort_files = sort == Sort::Name;
            token = self.lexer.next(Mode::File)?;
            if token.is("EXCLUDE_FILE") {
                exclude = self.files()?;
                token = self.lexer.next(Mode::File)?;
            }
            self.check_file(&token)?;
            self.lexer.expect(Mode::File, ")")?;
        }
        self.check_file(&token)?;
        let file = file_pattern(&self.lexer, &token)?;
        let place = token.place(&self.path);
        let mut sections = Vec::new();
        if self.lexer.accept(Mode::File, "(")? {
            self.section_patterns(&mut sections, &[], [Sort::Default; 2], 0)?;
            if sections.is_empty() {
                return Err(self.lexer.error_at(&token, "no section is named"));
            }
        } else {
            // The file alone: all of it.
            let sort = [Sort::Default; 2];
            sections.push(SectionPattern { name: b"*".to_vec(), exclude: Vec::new(), sort });
        }
        Ok(InputSections { file, sort_files, exclude, sections, flags: (0, 0), keep: false, place })
    }

    fn check_file(&self, token: &Token<'a>) -> Result<(), Diagnostic> {
        match token.kind {
            Kind::Word | Kind::Quoted if !token.text.is_empty() => Ok(()),
            _ => Err(self.lexer.unexpected(token, "a file pattern")),
        }
    }

    /// `( FILE … )`.
    fn files(&mut self) -> Result<Vec<FilePattern>, Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let mut files = Vec::new();
        while !self.lexer.accept(Mode::File, ")")? {
            if self.lexer.accept(Mode::File, ",")? {
                continue;
            }
            let token = self.lexer.name(Mode::File, "a file pattern or ')'")?;
            files.push(file_pattern(&self.lexer, &token)?);
        }
        Ok(files)
    }

    /// Patterns up to `)`, which belongs to them, inside of `depth` sorts.
    fn section_patterns(
        &mut self,
        list: &mut Vec<SectionPattern>,
        exclude: &[FilePattern],
        sort: [Sort; 2],
        depth: usize,
    ) -> Result<(), Diagnostic> {
        let mut exclude = exclude.to_vec();
        loop {
            let token = self.lexer.next(Mode::File)?;
            if token.is(")") {
                return Ok(());
            }
            if token.is(",") {
                continue;
            }
            let called = token.kind == Kind::Word && self.lexer.peek(Mode::File)?.is("(");
            if called && token.is("EXCLUDE_FILE") {
                // For the pattern after it.
                exclude = self.files()?;
                continue;
            }
            if let Some(inner) = sort_of(token.text).filter(|_| called) {
                self.lexer.next(Mode::File)?;
                if depth == MAX_SORTS {
                    return Err(self.lexer.error_at(&token, "sections can be sorted by two things at most"));
                }
                let sort = self.combined(&token, sort, inner, depth)?;
                self.section_patterns(list, &exclude, sort, depth + 1)?;
                exclude.clear();
                continue;
            }
            match token.kind {
                Kind::Word | Kind::Quoted if !token.text.is_empty() && !called => {
                    check_glob(&self.lexer, &token)?;
                    let exclude = std::mem::take(&mut exclude);
                    list.push(SectionPattern { name: token.text.to_vec(), exclude, sort });
                }
                _ => return Err(self.lexer.unexpected(&token, "a section pattern or ')'")),
            }
        }
    }

    /// One sort inside another.
    fn combined(
        &self,
        token: &Token<'a>,
        outer: [Sort; 2],
        inner: Sort,
        depth: usize,
    ) -> Result<[Sort; 2], Diagnostic> {
        use Sort::*;
        Ok(match (outer, inner) {
            ([Default, _], NameReversed) => [NameReversed, Default],
            ([NameReversed, _], Name) => [NameReversed, Default],
            ([NameReversed, _], InitPriority) => [InitPriorityReversed, Default],
            ([Name, _], NameReversed) => [NameReversed, Default],
            ([InitPriority, _], NameReversed) => [InitPriorityReversed, Default],
            ([Default, _], _) if depth == 0 => [inner, Default],
            ([Name, _], Alignment) => [Name, Alignment],
            ([Alignment, _], Name) => [Alignment, Name],
            ([same, _], inner) if same == inner => [inner, Default],
            // No second key, whatever `--sort-section` says.
            ([Name | Alignment | InitPriority, Default], None) => [outer[0], None],
            _ => return Err(self.lexer.error_at(token, "these sorts cannot be nested")),
        })
    }

    /// `( FLAG & !FLAG … )`.
    fn section_flags(&mut self) -> Result<(u64, u64), Diagnostic> {
        self.lexer.expect(Mode::Expression, "(")?;
        let (mut with, mut without) = (0, 0);
        loop {
            let not = self.lexer.accept(Mode::Expression, "!")?;
            let token = self.lexer.name(Mode::Expression, "a section flag")?;
            let known = FLAGS.iter().find(|(name, _)| *name == token.text).map(|(_, bit)| *bit);
            let text = String::from_utf8_lossy(token.text);
            let number = text.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            let Some(bits) = known.or(number).or_else(|| text.parse().ok()) else {
                return Err(self.lexer.unexpected(&token, "a section flag (SHF_…)"));
            };
            *(if not { &mut without } else { &mut with }) |= bits;
            if !self.lexer.accept(Mode::Expression, "&")? {
                break;
            }
        }
        self.lexer.expect(Mode::Expression, ")")?;
        Ok((with, without))
    }
}

fn file_pattern(lexer: &Lexer<'_>, token: &Token<'_>) -> Result<FilePattern, Diagnostic> {
    check_glob(lexer, token)?;
    Ok(FilePattern::new(token.text))
}

fn check_glob(lexer: &Lexer<'_>, token: &Token<'_>) -> Result<(), Diagnostic> {
    let shown = || String::from_utf8_lossy(token.text).into_owned();
    match Glob::new(token.text) {
        Ok(_) => Ok(()),
        Err(e) => Err(lexer.error_at(token, format!("wrong pattern '{}': {e}", shown()))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Command, parse_alone};
    use super::super::sections::Statement;
    use super::*;

    fn one(text: &str) -> Result<InputSections, String> {
        let commands = parse_alone(format!("SECTIONS {{ .x : {{ {text} }} }}").as_bytes(), "t");
        let commands = commands.map_err(|d| d.message)?;
        let [Command::Sections(statements)] = &commands[..] else { panic!("{commands:?}") };
        let [Statement::Section(section)] = &statements[..] else { panic!("{statements:?}") };
        match &section.contents[..] {
            [Content::Inputs(inputs)] => Ok(inputs.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn names(inputs: &InputSections) -> Vec<String> {
        inputs.sections.iter().map(|s| String::from_utf8_lossy(&s.name).into_owned()).collect()
    }

    #[test]
    fn patterns() {
        let found = one("*(.text .text.*, .a-b)").unwrap();
        assert!(found.file.is_any() && !found.keep);
        assert_eq!(names(&found), [".text", ".text.*", ".a-b"]);
        let found = one("KEEP(lib.a:x.o(.init))").unwrap();
        assert!(found.keep);
        assert_eq!(found.file, FilePattern { archive: Some(b"lib.a".to_vec()), file: b"x.o".to_vec() });
        let found = one("*(EXCLUDE_FILE(*crtend.o *x.o) .ctors .dtors)").unwrap();
        assert_eq!((found.sections[0].exclude.len(), found.sections[1].exclude.len()), (2, 0));
        let found = one("EXCLUDE_FILE(a.o) *(.b)").unwrap();
        assert_eq!((found.exclude.len(), names(&found)), (1, vec![".b".to_owned()]));
        let found = one("INPUT_SECTION_FLAGS(SHF_WRITE & !SHF_TLS & 0x100) *.o(.a)").unwrap();
        assert_eq!(found.flags, (0x101, 0x400));
        assert_eq!(names(&one("foo.o").unwrap()), ["*"]);
        assert!(one("SORT(*)(.a)").unwrap().sort_files);
    }

    #[test]
    fn sorts() {
        let sort = |text: &str| one(&format!("*({text})")).map(|found| found.sections[0].sort);
        assert_eq!(sort("SORT(.a.*)"), Ok([Sort::Name, Sort::Default]));
        assert_eq!(sort("SORT_BY_NAME(SORT_BY_ALIGNMENT(.a))"), Ok([Sort::Name, Sort::Alignment]));
        assert_eq!(sort("SORT_BY_ALIGNMENT(SORT(.a))"), Ok([Sort::Alignment, Sort::Name]));
        assert_eq!(
            sort("REVERSE(SORT_BY_INIT_PRIORITY(.a))"),
            Ok([Sort::InitPriorityReversed, Sort::Default])
        );
        assert_eq!(sort("SORT_NONE(.a)"), Ok([Sort::None, Sort::Default]));
        assert!(sort("SORT(SORT(SORT(.a)))").is_err());
        let found = one("*(SORT(.a) .b EXCLUDE_FILE(x) SORT(.c))").unwrap();
        let all: Vec<_> = found.sections.iter().map(|s| (s.sort[0], s.exclude.len())).collect();
        assert_eq!(all, [(Sort::Name, 0), (Sort::Default, 0), (Sort::Name, 1)]);
    }

    #[test]
    fn mistakes() {
        for text in [
            "*(",
            "*()",
            "*(.a",
            "KEEP(*(.a)",
            "*(.a(.b))",
            "*(SORT_BY_X(.a))",
            "*([)",
            "EXCLUDE_FILE(",
            "INPUT_SECTION_FLAGS(X) *(.a)",
        ] {
            assert!(one(text).is_err(), "{text}");
        }
        assert!(one(&format!("*({}", "SORT(".repeat(100_000))).is_err());
    }
}
