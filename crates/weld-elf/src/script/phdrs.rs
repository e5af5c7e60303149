//! `PHDRS { name TYPE FILEHDR PHDRS AT(address) FLAGS(flags); }`.
//!
//! Source: GNU ld manual, "PHDRS Command".

use weld_common::diag::Diagnostic;

use super::commands::Parser;
use super::expr::{self, Expr};
use super::lexer::{Kind, Mode, Place};
use crate::elf::*;

/// A program header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramHeader {
    pub name: String,
    /// `p_type`
    pub kind: u32,
    /// It begins with the ELF header.
    pub file_header: bool,
    /// It has the program headers.
    pub program_headers: bool,
    pub address: Option<Expr>,
    pub flags: Option<Expr>,
    pub place: Place,
}

/// Types by their names.
const TYPES: [(&str, u32); 19] = [
    ("PT_NULL", 0),
    ("PT_LOAD", 1),
    ("PT_DYNAMIC", 2),
    ("PT_INTERP", 3),
    ("PT_NOTE", 4),
    ("PT_SHLIB", 5),
    ("PT_PHDR", 6),
    ("PT_TLS", 7),
    ("PT_GNU_EH_FRAME", 0x6474_e550),
    ("PT_GNU_STACK", 0x6474_e551),
    ("PT_GNU_RELRO", 0x6474_e552),
    ("PT_GNU_PROPERTY", 0x6474_e553),
    ("PT_GNU_SFRAME", 0x6474_e554),
    ("PT_OPENBSD_MUTABLE", PT_OPENBSD_MUTABLE),
    ("PT_OPENBSD_RANDOMIZE", PT_OPENBSD_RANDOMIZE),
    ("PT_OPENBSD_WXNEEDED", PT_OPENBSD_WXNEEDED),
    ("PT_OPENBSD_NOBTCFI", PT_OPENBSD_NOBTCFI),
    ("PT_OPENBSD_SYSCALLS", PT_OPENBSD_SYSCALLS),
    ("PT_OPENBSD_BOOTDATA", 0x65a4_1be6),
];

impl Parser<'_, '_> {
    /// What stands between the braces of `PHDRS`.
    pub(super) fn phdrs(&mut self) -> Result<Vec<ProgramHeader>, Diagnostic> {
        self.lexer.expect(Mode::File, "{")?;
        let mut list = Vec::new();
        while !self.at_end_of_block()? {
            let token = self.lexer.name(Mode::Statement, "a program header or '}'")?;
            if token.is("INCLUDE") {
                self.include()?;
                continue;
            }
            let (name, place) = (self.lexer.utf8(&token)?, token.place(&self.path));
            let kind = self.phdr_type()?;
            let mut header = ProgramHeader {
                name,
                kind,
                file_header: false,
                program_headers: false,
                address: None,
                flags: None,
                place,
            };
            self.phdr_properties(&mut header)?;
            list.push(header);
        }
        Ok(list)
    }

    fn phdr_type(&mut self) -> Result<u32, Diagnostic> {
        let token = self.lexer.peek(Mode::Expression)?;
        if token.kind == Kind::Word {
            let text = String::from_utf8_lossy(token.text);
            if let Some((_, kind)) = TYPES.iter().find(|(name, _)| *name == text) {
                self.lexer.next(Mode::Expression)?;
                return Ok(*kind);
            }
            if !text.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(self.lexer.unexpected(&token, "a type of program header (PT_…)"));
            }
        }
        let value = expr::parse(&mut self.lexer, &self.path)?;
        self.constant(value, &token).and_then(|value| {
            u32::try_from(value).map_err(|_| self.lexer.unexpected(&token, "a number of 32 bits"))
        })
    }

    fn phdr_properties(&mut self, header: &mut ProgramHeader) -> Result<(), Diagnostic> {
        loop {
            let token = self.lexer.next(Mode::Expression)?;
            match token.text {
                b";" => return Ok(()),
                b"FILEHDR" => header.file_header = true,
                b"PHDRS" => header.program_headers = true,
                b"AT" => header.address = Some(self.in_parentheses()?),
                b"FLAGS" => header.flags = Some(self.in_parentheses()?),
                _ => return Err(self.lexer.unexpected(&token, "FILEHDR, PHDRS, AT, FLAGS or ';'")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Command, parse_alone};
    use super::*;

    fn headers(text: &str) -> Result<Vec<ProgramHeader>, String> {
        let commands = parse_alone(format!("PHDRS {{ {text} }}").as_bytes(), "t").map_err(|d| d.message)?;
        match &commands[..] {
            [Command::Phdrs(list)] => Ok(list.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_have_properties() {
        let list =
            headers("text PT_LOAD FILEHDR PHDRS FLAGS(5);\nnote PT_NOTE AT(0x10); x 0x60000000 ;").unwrap();
        assert!(list[0].file_header && list[0].program_headers && list[0].flags.is_some());
        let kinds: Vec<_> = list.iter().map(|h| (h.name.as_str(), h.kind, h.place.line)).collect();
        assert_eq!(kinds, [("text", 1, 1), ("note", 4, 2), ("x", 0x6000_0000, 2)]);
        assert!(list[1].address.is_some() && !list[1].file_header);
    }

    #[test]
    fn mistakes() {
        for text in ["a", "a PT_X;", "a PT_LOAD", "a PT_LOAD X;", "a PT_LOAD FLAGS;", "a b+1;"] {
            assert!(headers(text).is_err(), "{text}");
        }
    }
}
