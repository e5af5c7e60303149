//! `SECTIONS { … }`: output sections, what they hold, and assignments in and around them.
//!
//! Source: GNU ld manual, "SECTIONS Command".

use weld_common::diag::Diagnostic;

use super::commands::Parser;
use super::expr::{self, Binary, Expr, Op};
use super::input_sections::{self, InputSections};
use super::lexer::{Kind, Mode, Place, Token};

/// What stands in `SECTIONS`, and assignments and assertions beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Assign(Assignment),
    Assert(Assertion),
    Section(Box<SectionDescription>),
    Overlay(Box<Overlay>),
    Class(Box<Class>),
}

/// `CLASS(NAME) { … }`: input sections that go to where output sections name the class, to the next of these
/// where they do not fit the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub name: Vec<u8>,
    pub inputs: Vec<InputSections>,
    pub place: Place,
}

/// `__load_start_X` and `__load_stop_X` of a section in an overlay, for whoever asks for them.
fn load_symbols(section: &SectionDescription) -> [Statement; 2] {
    let letters = section.name.iter().filter(|b| b.is_ascii_alphanumeric() || **b == b'_');
    let letters: String = letters.map(|b| *b as char).collect();
    let (name, place) = (String::from_utf8_lossy(&section.name), section.place.clone());
    let start = vec![Op::LoadAddress(section.name.clone())];
    let size = [Op::Size(section.name.clone()), Op::Binary(Binary::Add)];
    let stop = start.iter().cloned().chain(size).collect();
    let symbol = |prefix: &str, code: Vec<Op>, value: String| {
        let symbol = format!("{prefix}{letters}");
        let text = format!("PROVIDE({symbol} = {value})");
        let value = Expr { code, place: place.clone() };
        let place = place.clone();
        Statement::Assign(Assignment { name: symbol, value, provide: true, hidden: false, place, text })
    };
    [
        symbol("__load_start_", start, format!("LOADADDR({name})")),
        symbol("__load_stop_", stop, format!("LOADADDR({name}) + SIZEOF({name})")),
    ]
}

/// `CLASS(NAME)` in an output section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassReference {
    pub name: Vec<u8>,
    /// `INPUT_SECTION_FLAGS(…)`: flags that must be there, and that must not.
    pub flags: (u64, u64),
    pub keep: bool,
    pub place: Place,
}

/// `NAME = EXPRESSION;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// `.` is the location counter.
    pub name: String,
    pub value: Expr,
    /// Only if something refers to the symbol and no object defines it.
    pub provide: bool,
    pub hidden: bool,
    pub place: Place,
    /// As the script has it.
    pub text: String,
}

impl Assignment {
    pub fn is_dot(&self) -> bool {
        self.name == "."
    }

    /// Whether it is for a symbol that is not defined: `v = DEFINED(v) ? v : …`.
    pub fn is_default(&self) -> bool {
        match &self.value.code[..] {
            [Op::Defined(asked), Op::JumpIfZero(_), Op::Symbol(own), Op::Jump(end), ..] => {
                *asked == self.name && *own == self.name && *end as usize == self.value.code.len()
            }
            _ => false,
        }
    }

    /// The symbols that its value depends on. A default does not depend on its own.
    pub fn needs(&self) -> impl Iterator<Item = &str> {
        let own = self.is_default().then_some(self.name.as_str());
        self.value.symbols().filter(move |name| Some(*name) != own)
    }
}

/// `ASSERT(EXPRESSION, MESSAGE)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    pub value: Expr,
    pub message: String,
}

/// An output section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionDescription {
    pub name: Vec<u8>,
    pub place: Place,
    pub address: Option<Expr>,
    pub kind: SectionType,
    /// `AT(…)`
    pub load_address: Option<Expr>,
    pub align: Option<Expr>,
    pub subalign: Option<Expr>,
    /// `ALIGN_WITH_INPUT`: the load address is as far from the address as where the section began.
    pub align_with_input: bool,
    pub constraint: Option<Constraint>,
    pub contents: Vec<Content>,
    pub region: Option<String>,
    /// `AT>`
    pub load_region: Option<String>,
    /// The names of its program headers; `NONE` is one.
    pub phdrs: Vec<String>,
    pub fill: Option<Vec<u8>>,
    /// `OVERWRITE_SECTIONS`: its patterns come before those of others.
    pub overwrites: bool,
}

/// What stands in parentheses after the name of an output section.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum SectionType {
    #[default]
    Usual,
    /// Not loaded: it has a place in memory and no contents.
    NoLoad,
    /// `COPY`, `INFO`, `OVERLAY`: in the file and not in memory.
    NoAlloc,
    ReadOnly,
    /// `TYPE = …`, read-only if so asked.
    Type(u32, bool),
}

/// Which input sections an output section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Only if all are read-only.
    ReadOnly,
    /// Only if one is writable.
    Writable,
}

/// What stands in an output section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Inputs(InputSections),
    Class(ClassReference),
    Assign(Assignment),
    Assert(Assertion),
    /// `BYTE` and its kin: so many bytes of a value.
    Data(u8, Expr),
    /// `ASCIZ`.
    Text(Vec<u8>),
    /// What is between the parts that follow.
    Fill(Vec<u8>),
}

/// Output sections that run at the same addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    pub address: Option<Expr>,
    pub load_address: Option<Expr>,
    pub no_cross_references: bool,
    pub sections: Vec<SectionDescription>,
    pub place: Place,
}

/// Operators that assign.
const OPERATORS: [(&str, Option<Binary>); 10] = [
    ("=", None),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Subtract)),
    ("*=", Some(Binary::Multiply)),
    ("/=", Some(Binary::Divide)),
    ("<<=", Some(Binary::ShiftLeft)),
    (">>=", Some(Binary::ShiftRight)),
    ("&=", Some(Binary::And)),
    ("|=", Some(Binary::Or)),
    ("^=", Some(Binary::Xor)),
];

const DATA: [(&[u8], u8); 5] = [(b"BYTE", 1), (b"SHORT", 2), (b"LONG", 4), (b"QUAD", 8), (b"SQUAD", 8)];

impl<'a> Parser<'a, '_> {
    /// What stands between the braces of `SECTIONS`.
    pub(super) fn sections(&mut self) -> Result<Vec<Statement>, Diagnostic> {
        self.lexer.expect(Mode::Statement, "{")?;
        let mut list = Vec::new();
        while !self.at_end_of_block()? {
            let token = self.lexer.next(Mode::Statement)?;
            if token.is(";") || token.is(",") {
                continue;
            }
            if !matches!(token.kind, Kind::Word | Kind::Quoted) {
                return Err(self.lexer.unexpected(&token, "an output section, an assignment or '}'"));
            }
            if self.common_statement(&token)? {
                continue;
            }
            if let Some(assignment) = self.assignment(&token)? {
                self.end_of_assignment(&token)?;
                list.push(Statement::Assign(assignment));
            } else if let Some(assertion) = self.assertion(&token)? {
                list.push(Statement::Assert(assertion));
            } else if token.is("OVERLAY") {
                let overlay = self.overlay(&token)?;
                let symbols: Vec<Statement> = overlay.sections.iter().flat_map(load_symbols).collect();
                list.push(Statement::Overlay(Box::new(overlay)));
                list.extend(symbols);
            } else if token.is("CLASS") && self.lexer.peek(Mode::File)?.is("(") {
                list.push(Statement::Class(Box::new(self.class(&token)?)));
            } else {
                list.push(Statement::Section(Box::new(self.section(&token)?)));
            }
        }
        Ok(list)
    }

    /// What stands between the braces of `OVERWRITE_SECTIONS`.
    pub(super) fn overwriting_sections(&mut self) -> Result<Vec<SectionDescription>, Diagnostic> {
        self.lexer.expect(Mode::Statement, "{")?;
        let mut list = Vec::new();
        while !self.at_end_of_block()? {
            let token = self.lexer.name(Mode::Statement, "an output section or '}'")?;
            list.push(SectionDescription { overwrites: true, ..self.section(&token)? });
        }
        Ok(list)
    }

    /// The class that `token`, the word `CLASS`, begins.
    fn class(&mut self, token: &Token<'a>) -> Result<Class, Diagnostic> {
        let name = self.name_of_class()?;
        let place = token.place(&self.path);
        self.lexer.expect(Mode::Expression, "{")?;
        let mut inputs = Vec::new();
        while !self.at_end_of_block()? {
            let token = self.lexer.name(Mode::Statement, "a pattern of input sections or '}'")?;
            match self.input_sections(&token)? {
                Content::Inputs(found) => inputs.push(found),
                _ => return Err(self.lexer.error_at(&token, "a class cannot refer to another")),
            }
        }
        Ok(Class { name, inputs, place })
    }

    /// `(NAME)` after `CLASS`.
    pub(super) fn name_of_class(&mut self) -> Result<Vec<u8>, Diagnostic> {
        self.lexer.expect(Mode::File, "(")?;
        let name = self.lexer.name(Mode::File, "the name of a class")?;
        self.lexer.expect(Mode::File, ")")?;
        Ok(name.text.to_vec())
    }

    /// `NAME = …`, `PROVIDE(NAME = …)` and kin, if that is what `token` begins. For `=` and kin, what follows
    /// is not read.
    pub(super) fn assignment(&mut self, token: &Token<'a>) -> Result<Option<Assignment>, Diagnostic> {
        let wrapped = match token.text {
            b"PROVIDE" => Some((true, false)),
            b"HIDDEN" => Some((false, true)),
            b"PROVIDE_HIDDEN" => Some((true, true)),
            _ => None,
        };
        let Some((provide, hidden)) = wrapped.filter(|_| token.kind == Kind::Word) else {
            return self.plain_assignment(token);
        };
        if !self.lexer.accept(Mode::Expression, "(")? {
            return self.plain_assignment(token);
        }
        let name = self.lexer.name(Mode::Statement, "a symbol")?;
        let operator = self.lexer.peek(Mode::Expression)?;
        let Some(assignment) = self.plain_assignment(&name)?.filter(|_| operator.is("=")) else {
            return Err(self.lexer.unexpected(&operator, "'='"));
        };
        if assignment.is_dot() {
            return Err(self.lexer.unexpected(&name, "a symbol"));
        }
        self.lexer.expect(Mode::Expression, ")")?;
        let text = self.lexer.text_from(token);
        Ok(Some(Assignment { provide, hidden, text, ..assignment }))
    }

    fn plain_assignment(&mut self, token: &Token<'a>) -> Result<Option<Assignment>, Diagnostic> {
        let operator = self.lexer.peek(Mode::Expression)?;
        let Some((_, operation)) = OPERATORS.iter().find(|(text, _)| operator.is(text)) else {
            return Ok(None);
        };
        self.lexer.next(Mode::Expression)?;
        let name = match token.is(".") {
            true => ".".to_owned(),
            false => expr::symbol_name(&self.lexer, token)?,
        };
        let mut value = expr::parse(&mut self.lexer, &self.path)?;
        if let Some(operation) = operation {
            let old = if token.is(".") { Op::Dot } else { Op::Symbol(name.clone()) };
            value = value.behind(old, *operation);
        }
        let place = token.place(&self.path);
        let text = self.lexer.text_from(token);
        Ok(Some(Assignment { name, value, provide: false, hidden: false, place, text }))
    }

    /// `ASSERT(…)`, if that is what `token` begins.
    pub(super) fn assertion(&mut self, token: &Token<'a>) -> Result<Option<Assertion>, Diagnostic> {
        if !token.is("ASSERT") || !self.lexer.accept(Mode::Expression, "(")? {
            return Ok(None);
        }
        let mut value = expr::parse(&mut self.lexer, &self.path)?;
        value.place = token.place(&self.path);
        self.lexer.expect(Mode::Expression, ",")?;
        let message = self.lexer.name(Mode::File, "a message")?;
        let message = String::from_utf8_lossy(message.text).into_owned();
        self.lexer.expect(Mode::Expression, ")")?;
        self.lexer.accept(Mode::Expression, ";")?;
        Ok(Some(Assertion { value, message }))
    }

    /// What stands behind an assignment.
    fn end_of_assignment(&mut self, first: &Token<'a>) -> Result<(), Diagnostic> {
        // One in parentheses ends with them.
        let wrapped = first.is("PROVIDE") || first.is("HIDDEN") || first.is("PROVIDE_HIDDEN");
        if wrapped || self.lexer.accept(Mode::Expression, ",")? {
            return Ok(());
        }
        self.lexer.expect(Mode::Expression, ";")
    }

    /// An output section that begins with `token`, its name.
    fn section(&mut self, token: &Token<'a>) -> Result<SectionDescription, Diagnostic> {
        let mut section = SectionDescription::new(token.text.to_vec(), token.place(&self.path));
        if !self.lexer.accept(Mode::Expression, ":")? {
            if !self.section_type(&mut section)? {
                section.address = Some(expr::parse(&mut self.lexer, &self.path)?);
                self.section_type(&mut section)?;
            }
            self.lexer.expect(Mode::Expression, ":")?;
        }
        self.section_properties(&mut section)?;
        self.contents(&mut section)?;
        self.section_places(&mut section)?;
        Ok(section)
    }

    /// `(NOLOAD)` and kin.
    fn section_type(&mut self, section: &mut SectionDescription) -> Result<bool, Diagnostic> {
        let mut ahead = self.lexer.clone();
        if !ahead.accept(Mode::Expression, "(")? {
            return Ok(false);
        }
        let word = ahead.next(Mode::Expression)?;
        section.kind = match word.text {
            b"NOLOAD" => SectionType::NoLoad,
            b"DSECT" | b"COPY" | b"INFO" | b"OVERLAY" => SectionType::NoAlloc,
            b"READONLY" if !ahead.peek(Mode::Expression)?.is("(") => SectionType::ReadOnly,
            b"TYPE" | b"READONLY" => {
                let read_only = word.is("READONLY");
                if read_only {
                    ahead.expect(Mode::Expression, "(")?;
                    ahead.expect(Mode::Expression, "TYPE")?;
                }
                ahead.expect(Mode::Expression, "=")?;
                let token = ahead.peek(Mode::Expression)?;
                let value = expr::parse(&mut ahead, &self.path)?;
                if read_only {
                    ahead.expect(Mode::Expression, ")")?;
                }
                SectionType::Type(self.type_of(value, &token)?, read_only)
            }
            _ => return Ok(false),
        };
        ahead.expect(Mode::Expression, ")")?;
        self.lexer = ahead;
        Ok(true)
    }

    /// `TYPE = …`: a number or one of the names of types.
    fn type_of(&self, value: Expr, token: &Token<'a>) -> Result<u32, Diagnostic> {
        const NAMES: [(&[u8], u32); 7] = [
            (b"SHT_PROGBITS", 1),
            (b"SHT_STRTAB", 3),
            (b"SHT_NOTE", 7),
            (b"SHT_NOBITS", 8),
            (b"SHT_INIT_ARRAY", 14),
            (b"SHT_FINI_ARRAY", 15),
            (b"SHT_PREINIT_ARRAY", 16),
        ];
        if let ([Op::Symbol(_)], Some((_, kind))) =
            (&value.code[..], NAMES.iter().find(|(name, _)| *name == token.text))
        {
            return Ok(*kind);
        }
        let number = self.constant(value, token)?;
        u32::try_from(number).map_err(|_| self.lexer.unexpected(token, "a section type of 32 bits"))
    }

    /// What stands between the colon and the brace.
    fn section_properties(&mut self, section: &mut SectionDescription) -> Result<(), Diagnostic> {
        loop {
            let token = self.lexer.peek(Mode::Expression)?;
            if token.is("{") {
                return Ok(());
            }
            self.lexer.next(Mode::Expression)?;
            if section.align_with_input && token.is("ALIGN")
                || section.align.is_some() && token.is("ALIGN_WITH_INPUT")
            {
                return Err(self.lexer.error_at(&token, "ALIGN and ALIGN_WITH_INPUT exclude each other"));
            }
            match token.text {
                b"AT" => section.load_address = Some(self.in_parentheses()?),
                b"ALIGN" => section.align = Some(self.in_parentheses()?),
                b"SUBALIGN" => section.subalign = Some(self.in_parentheses()?),
                b"ALIGN_WITH_INPUT" => section.align_with_input = true,
                b"ONLY_IF_RO" => section.constraint = Some(Constraint::ReadOnly),
                b"ONLY_IF_RW" => section.constraint = Some(Constraint::Writable),
                _ => return Err(self.lexer.unexpected(&token, "a property of the output section or '{'")),
            }
        }
    }

    /// `{ … }`
    fn contents(&mut self, section: &mut SectionDescription) -> Result<(), Diagnostic> {
        self.lexer.expect(Mode::Expression, "{")?;
        while !self.at_end_of_block()? {
            let token = self.lexer.next(Mode::Statement)?;
            if token.is(";") || token.is(",") {
                continue;
            }
            if !matches!(token.kind, Kind::Word | Kind::Quoted) {
                return Err(self
                    .lexer
                    .unexpected(&token, "a pattern of input sections, an assignment or '}'"));
            }
            if token.is("INCLUDE") {
                self.include()?;
            } else if let Some(assignment) = self.assignment(&token)? {
                self.end_of_assignment(&token)?;
                section.contents.push(Content::Assign(assignment));
            } else if let Some(assertion) = self.assertion(&token)? {
                section.contents.push(Content::Assert(assertion));
            } else if let Some(content) = self.data(&token)? {
                section.contents.push(content);
            } else if !self.constructors(&token)? {
                section.contents.push(self.input_sections(&token)?);
            }
        }
        Ok(())
    }

    /// `BYTE(…)` and kin, `ASCIZ` and `FILL(…)`.
    fn data(&mut self, token: &Token<'a>) -> Result<Option<Content>, Diagnostic> {
        if token.kind != Kind::Word {
            return Ok(None);
        }
        if let Some((_, size)) = DATA.iter().find(|(name, _)| *name == token.text) {
            return Ok(Some(Content::Data(*size, self.in_parentheses()?)));
        }
        if token.is("FILL") {
            self.lexer.expect(Mode::Expression, "(")?;
            let fill = self.fill()?;
            self.lexer.expect(Mode::Expression, ")")?;
            return Ok(Some(Content::Fill(fill)));
        }
        if token.is("ASCIZ") && self.lexer.peek(Mode::File)?.kind == Kind::Quoted {
            let text = self.lexer.next(Mode::File)?;
            return Ok(Some(Content::Text([text.text, b"\0"].concat())));
        }
        Ok(None)
    }

    /// What only says something of formats other than ELF: `CONSTRUCTORS`, `CREATE_OBJECT_SYMBOLS`,
    /// `LINKER_VERSION`.
    fn constructors(&mut self, token: &Token<'a>) -> Result<bool, Diagnostic> {
        match token.text {
            b"CONSTRUCTORS" | b"CREATE_OBJECT_SYMBOLS" | b"LINKER_VERSION" => Ok(true),
            b"SORT" | b"SORT_BY_NAME" => {
                let mut ahead = self.lexer.clone();
                let is_it = ahead.accept(Mode::File, "(")?
                    && ahead.accept(Mode::File, "CONSTRUCTORS")?
                    && ahead.accept(Mode::File, ")")?;
                if is_it {
                    self.lexer = ahead;
                }
                Ok(is_it)
            }
            word if input_sections::begins(word) => Ok(false),
            word if word.iter().all(|b| b.is_ascii_uppercase() || *b == b'_') && word.len() > 3 => {
                match self.lexer.peek(Mode::File)?.is("(") {
                    true => Err(self.lexer.unexpected(token, "a pattern of input sections or a statement")),
                    false => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }

    /// `>REGION AT>REGION :HEADER =FILL`, after the brace.
    fn section_places(&mut self, section: &mut SectionDescription) -> Result<(), Diagnostic> {
        loop {
            let mut ahead = self.lexer.clone();
            let token = ahead.next(Mode::Expression)?;
            if token.is("AT") && ahead.accept(Mode::Expression, ">")? {
                let name = ahead.name(Mode::Statement, "a region")?;
                section.load_region = Some(ahead.utf8(&name)?);
            } else if token.is(">") {
                let name = ahead.name(Mode::Statement, "a region")?;
                section.region = Some(ahead.utf8(&name)?);
            } else if token.is(":") {
                let name = ahead.name(Mode::Statement, "a program header")?;
                section.phdrs.push(ahead.utf8(&name)?);
            } else if token.is("=") {
                self.lexer = ahead;
                section.fill = Some(self.fill()?);
                continue;
            } else {
                self.lexer.accept(Mode::Expression, ",")?;
                return Ok(());
            }
            self.lexer = ahead;
        }
    }

    /// What fills gaps: the bytes of a hexadecimal number as they are written, or a value's last four.
    fn fill(&mut self) -> Result<Vec<u8>, Diagnostic> {
        let token = self.lexer.peek(Mode::Expression)?;
        let mut ahead = self.lexer.clone();
        ahead.next(Mode::Expression)?;
        let end = ahead.peek(Mode::Expression)?;
        let alone = !OPERATORS_OF_FILL.contains(&end.text);
        let digits = token.text.strip_prefix(b"0x").or(token.text.strip_prefix(b"0X"));
        if let Some(digits) = digits.filter(|d| alone && !d.is_empty() && d.iter().all(u8::is_ascii_hexdigit))
        {
            self.lexer = ahead;
            let digit = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
            let padded = [&b"0"[..digits.len() % 2], digits].concat();
            return Ok(padded.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect());
        }
        let value = expr::parse(&mut self.lexer, &self.path)?;
        let value = self.constant(value, &token)?;
        Ok((value as u32).to_be_bytes().to_vec())
    }

    /// `OVERLAY`, which has been read.
    fn overlay(&mut self, token: &Token<'a>) -> Result<Overlay, Diagnostic> {
        let mut overlay = Overlay {
            address: None,
            load_address: None,
            no_cross_references: false,
            sections: Vec::new(),
            place: token.place(&self.path),
        };
        if !self.lexer.accept(Mode::Expression, ":")? {
            overlay.address = Some(expr::parse(&mut self.lexer, &self.path)?);
            self.lexer.expect(Mode::Expression, ":")?;
        }
        loop {
            let token = self.lexer.next(Mode::Expression)?;
            match token.text {
                b"{" => break,
                b"NOCROSSREFS" => overlay.no_cross_references = true,
                b"AT" => overlay.load_address = Some(self.in_parentheses()?),
                _ => return Err(self.lexer.unexpected(&token, "AT, NOCROSSREFS or '{'")),
            }
        }
        while !self.at_end_of_block()? {
            let token = self.lexer.name(Mode::Statement, "an output section or '}'")?;
            let mut section = SectionDescription::new(token.text.to_vec(), token.place(&self.path));
            self.contents(&mut section)?;
            self.section_places(&mut section)?;
            overlay.sections.push(section);
        }
        let mut all = SectionDescription::new(Vec::new(), overlay.place.clone());
        self.section_places(&mut all)?;
        for section in &mut overlay.sections {
            section.region = section.region.take().or_else(|| all.region.clone());
            section.load_region = section.load_region.take().or_else(|| all.load_region.clone());
            section.fill = section.fill.take().or_else(|| all.fill.clone());
            if section.phdrs.is_empty() {
                section.phdrs.clone_from(&all.phdrs);
            }
        }
        Ok(overlay)
    }
}

/// What after a number makes it part of an expression.
const OPERATORS_OF_FILL: [&[u8]; 10] = [b"+", b"-", b"*", b"/", b"%", b"|", b"&", b"^", b"<<", b">>"];

impl SectionDescription {
    /// One with nothing in it.
    pub fn new(name: Vec<u8>, place: Place) -> SectionDescription {
        SectionDescription {
            name,
            place,
            address: None,
            kind: SectionType::Usual,
            load_address: None,
            align: None,
            subalign: None,
            align_with_input: false,
            constraint: None,
            contents: Vec::new(),
            region: None,
            load_region: None,
            phdrs: Vec::new(),
            fill: None,
            overwrites: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Command, parse_alone};
    use super::*;

    fn statements(text: &str) -> Result<Vec<Statement>, String> {
        let commands =
            parse_alone(format!("SECTIONS {{ {text} }}").as_bytes(), "t").map_err(|d| d.message)?;
        match &commands[..] {
            [Command::Sections(list)] => Ok(list.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn section(text: &str) -> SectionDescription {
        match &statements(text).unwrap()[..] {
            [Statement::Section(section)] => (**section).clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn heads_of_sections() {
        let found = section(
            ".text 0x1000 + 4 (NOLOAD) : AT(8) ALIGN(16) SUBALIGN(4) ONLY_IF_RO { *(.a) } >ram AT>rom :text :data =0x90",
        );
        assert_eq!((found.name.as_slice(), &found.kind), (&b".text"[..], &SectionType::NoLoad));
        assert!(
            found.address.is_some()
                && found.load_address.is_some()
                && found.align.is_some()
                && found.subalign.is_some()
        );
        assert_eq!(found.constraint, Some(Constraint::ReadOnly));
        assert_eq!((found.region.as_deref(), found.load_region.as_deref()), (Some("ram"), Some("rom")));
        assert_eq!((found.phdrs, found.fill), (vec!["text".to_owned(), "data".to_owned()], Some(vec![0x90])));
        assert_eq!(section(".a:{}").contents, []);
        assert_eq!(section(".a (INFO) : {}").kind, SectionType::NoAlloc);
        assert!(section(".a (. + 4) : {}").address.is_some());
        assert!(section(".a base (NOLOAD) : {}").address.is_some());
        assert!(matches!(section(".a (TYPE=SHT_NOTE) : {}").kind, SectionType::Type(_, false)));
        assert!(matches!(section(".a (READONLY (TYPE=7)) : {}").kind, SectionType::Type(_, true)));
        assert_eq!(section("\"a b\" : {} > ram, ").name, b"a b");
    }

    #[test]
    fn fills() {
        let fill = |text: &str| section(&format!(".a : {{}} ={text}")).fill.unwrap();
        assert_eq!(fill("0x90909090"), [0x90; 4]);
        assert_eq!(fill("0x00"), [0]);
        assert_eq!(fill("0x123456789a"), [0x12, 0x34, 0x56, 0x78, 0x9a]);
        assert_eq!(fill("0x10+1"), [0, 0, 0, 0x11]);
        assert_eq!(fill("5"), [0, 0, 0, 5]);
        assert_eq!(section(".a : { FILL(0xcc) }").contents, [Content::Fill(vec![0xcc])]);
    }

    #[test]
    fn contents_of_sections() {
        let found = section(
            ".a : { x = .; *(.b) . += 4; PROVIDE(y = 1); BYTE(1) SQUAD(-1); ASCIZ \"z\" ASSERT(1, \"m\") CONSTRUCTORS SORT(CONSTRUCTORS) KEEP(*(.c)) }",
        );
        let kinds: Vec<&str> = found
            .contents
            .iter()
            .map(|content| match content {
                Content::Inputs(inputs) if inputs.keep => "keep",
                Content::Inputs(_) => "inputs",
                Content::Class(_) => "class",
                Content::Assign(assignment) if assignment.is_dot() => "dot",
                Content::Assign(assignment) if assignment.provide => "provide",
                Content::Assign(_) => "assign",
                Content::Assert(_) => "assert",
                Content::Data(1, _) => "byte",
                Content::Data(..) => "data",
                Content::Text(_) => "text",
                Content::Fill(_) => "fill",
            })
            .collect();
        assert_eq!(kinds, ["assign", "inputs", "dot", "provide", "byte", "data", "text", "assert", "keep"]);
    }

    #[test]
    fn assignments_without_blanks() {
        let list = statements("a=1;b+=2;.=ALIGN(4);.text:{}c = d;").unwrap();
        let names: Vec<_> = list
            .iter()
            .map(|statement| match statement {
                Statement::Assign(assignment) => assignment.name.clone(),
                Statement::Section(section) => String::from_utf8_lossy(&section.name).into_owned(),
                _ => String::new(),
            })
            .collect();
        assert_eq!(names, ["a", "b", ".", ".text", "c"]);
    }

    #[test]
    fn overlays() {
        let list =
            statements("OVERLAY 0x1000 : NOCROSSREFS AT (0x4000) { .a { *(.a) } :x .b { } =1 } >ram :y")
                .unwrap();
        let [Statement::Overlay(overlay), symbols @ ..] = &list[..] else { panic!("{list:?}") };
        let names: Vec<&str> = symbols
            .iter()
            .map(|symbol| match symbol {
                Statement::Assign(assignment) if assignment.provide => assignment.name.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, ["__load_start_a", "__load_stop_a", "__load_start_b", "__load_stop_b"]);
        assert!(overlay.no_cross_references && overlay.address.is_some() && overlay.load_address.is_some());
        let phdrs: Vec<_> = overlay.sections.iter().map(|s| s.phdrs[0].as_str()).collect();
        assert_eq!((phdrs, overlay.sections[1].region.as_deref()), (vec!["x", "y"], Some("ram")));
    }

    #[test]
    fn mistakes() {
        for text in [
            ".a",
            ".a :",
            ".a : {",
            ".a : { *(.b }",
            "a = ",
            "a = 1",
            ".a : { BYTE() }",
            ".a : { FOOBAR(1) }",
            "PROVIDE(. = 1);",
            "PROVIDE(a += 1);",
            ".a : X {}",
            "OVERLAY : {",
            ".a : { } >",
            "1 = 2;",
            ".a 1 2 : {}",
            "ASSERT(1)",
            "CLASS(a) { CLASS(b) }",
            "CLASS(a) { x = 1; }",
            "CLASS() { }",
        ] {
            assert!(statements(text).is_err(), "{text}");
        }
        assert_eq!(statements("a = 1 b = 2;").unwrap_err(), "t:1:18: expected ';', but found 'b'");
    }
}
