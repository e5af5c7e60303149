//! MRI scripts (`-c`), the command files of Microtec's linker: a command a line.
//!
//! What they can say linker scripts can say, too, so one is made of them: line by line, that mistakes in
//! expressions are found in the right line, and after that a `SECTIONS` with what all lines together say of
//! output sections. Names of commands may be in small letters.
//!
//! Source: GNU ld manual, "MRI Compatible Script Files".

use std::fmt::{self, Write};

use weld_common::diag::{Cause, Diagnostic};

/// A script in the usual language.
pub struct Translated {
    pub text: String,
    /// `LIST`: the map is to be printed.
    pub prints_map: bool,
}

/// What is said of one output section.
#[derive(Default)]
struct Section {
    name: String,
    address: Option<String>,
    align: Option<String>,
    subalign: Option<String>,
    /// Input sections of other names that go there.
    aliases: Vec<String>,
    /// Its place among those that lines put in an order.
    rank: Option<usize>,
}

/// Why a line is not understood.
#[derive(Debug)]
enum MriError {
    Command(String),
    Format(String),
    /// `ALIAS` with another number of names than two.
    Alias,
    NoName,
    Name(String),
    NoValue,
    Value(String),
}

impl fmt::Display for MriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MriError::Command(command) => write!(f, "{command} is no command of MRI scripts"),
            MriError::Format(format) => write!(f, "FORMAT {format} is not supported; S and ELF are"),
            MriError::Alias => f.write_str("ALIAS wants an output section and an input section"),
            MriError::NoName => f.write_str("a name is missing"),
            MriError::Name(name) => write!(f, "'{name}' is no name"),
            MriError::NoValue => f.write_str("a value is missing"),
            MriError::Value(text) => write!(f, "'{text}' is no value"),
        }
    }
}

#[derive(Default)]
struct Mri {
    sections: Vec<Section>,
    base: Option<String>,
    /// How many sections have a rank.
    listed: usize,
    /// `ABSOLUTE`: nothing but these.
    only: Vec<String>,
    prints_map: bool,
}

/// Translates the script at `path`.
///
/// # Errors
/// The first line that is not understood.
pub fn translate(bytes: &[u8], path: &str) -> Result<Translated, Diagnostic> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Diagnostic::error(Cause::ScriptSyntax, format!("{path}: is no MRI script: it is not text in UTF-8"))
            .in_file(path)
    })?;
    let mut mri = Mri::default();
    let mut out = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        match mri.line(line) {
            Ok(Line::Nothing) => out.push('\n'),
            Ok(Line::Command(command)) => _ = writeln!(out, "{command}"),
            Ok(Line::End) => break,
            Err(why) => {
                return Err(Diagnostic::error(Cause::ScriptSyntax, format!("{path}:{number}: {why}")));
            }
        }
    }
    mri.put_sections(&mut out);
    Ok(Translated { text: out, prints_map: mri.prints_map })
}

enum Line {
    Nothing,
    Command(String),
    End,
}

impl Mri {
    fn line(&mut self, line: &str) -> Result<Line, MriError> {
        // A comment starts with a star in the first column, or with a semicolon.
        let line = line.split(';').next().unwrap_or_default().trim_end();
        if line.starts_with('*') || line.trim().is_empty() {
            return Ok(Line::Nothing);
        }
        let line = line.trim_start();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let said = |text: String| Ok(Line::Command(text));
        match &command.to_ascii_uppercase()[..] {
            "LOAD" => said(format!("INPUT({})", quoted(&names(rest)?))),
            "NAME" => said(format!("OUTPUT({})", quoted(&names(rest)?[..1]))),
            "PUBLIC" => {
                let (name, value) = name_and_value(rest)?;
                said(format!("\"{name}\" = {value};"))
            }
            "START" => said(format!("ENTRY({})", quoted(&names(rest)?[..1]))),
            "FORMAT" => match &rest.to_ascii_uppercase()[..] {
                "S" => said("OUTPUT_FORMAT(srec)".to_owned()),
                "ELF" => Ok(Line::Nothing),
                _ => Err(MriError::Format(rest.to_owned())),
            },
            "CHIP" | "DEBUG" => Ok(Line::Nothing),
            "END" => Ok(Line::End),
            "LIST" => {
                self.prints_map = true;
                Ok(Line::Nothing)
            }
            _ => self.section_command(command, rest).map(|()| Line::Nothing),
        }
    }

    /// Commands about output sections.
    fn section_command(&mut self, command: &str, rest: &str) -> Result<(), MriError> {
        match &command.to_ascii_uppercase()[..] {
            "ABSOLUTE" => self.only.extend(names(rest)?),
            "ORDER" => {
                for name in names(rest)? {
                    self.list(&name);
                }
            }
            "BASE" => self.base = Some(expression(rest)?),
            "SECT" => {
                let (name, value) = name_and_value(rest)?;
                self.list(&name);
                self.section(&name).address = Some(value);
            }
            "ALIGN" => {
                let (name, value) = name_and_value(rest)?;
                self.section(&name).align = Some(value);
            }
            "ALIGNMOD" => {
                let (name, value) = name_and_value(rest)?;
                self.section(&name).subalign = Some(value);
            }
            "ALIAS" => match &names(rest)?[..] {
                [out, input] => self.section(out).aliases.push(input.clone()),
                _ => return Err(MriError::Alias),
            },
            _ => return Err(MriError::Command(command.to_owned())),
        }
        Ok(())
    }

    fn section(&mut self, name: &str) -> &mut Section {
        let at = self.sections.iter().position(|s| s.name == name).unwrap_or_else(|| {
            self.sections.push(Section { name: name.to_owned(), ..Section::default() });
            self.sections.len() - 1
        });
        &mut self.sections[at]
    }

    /// Gives a section the next place in the order, unless it has one.
    fn list(&mut self, name: &str) {
        let rank = self.listed;
        self.section(name).rank.get_or_insert(rank);
        self.listed += 1;
    }

    fn put_sections(&mut self, out: &mut String) {
        for name in std::mem::take(&mut self.only) {
            self.list(&name);
            self.only.push(name);
        }
        if self.sections.is_empty() && self.base.is_none() {
            return;
        }
        out.push_str("SECTIONS { ");
        if let Some(base) = &self.base {
            _ = write!(out, ". = {base}; ");
        }
        // Those that lines put in an order come first, the others as they are named.
        self.sections.sort_by_key(|section| section.rank.unwrap_or(usize::MAX));
        for section in &self.sections {
            let address = section.address.as_deref().unwrap_or_default();
            _ = write!(out, "\"{}\" {address} :", section.name);
            if let Some(align) = &section.align {
                _ = write!(out, " ALIGN({align})");
            }
            if let Some(align) = &section.subalign {
                _ = write!(out, " SUBALIGN({align})");
            }
            _ = write!(out, " {{ *(\"{}\")", section.name);
            section.aliases.iter().for_each(|input| _ = write!(out, " *(\"{input}\")"));
            if section.name == ".bss" {
                out.push_str(" *(COMMON)");
            }
            out.push_str(" } ");
        }
        if !self.only.is_empty() {
            out.push_str("/DISCARD/ : { *(*) } ");
        }
        out.push_str("}\n");
    }
}

/// Names with commas or blanks between them.
fn names(text: &str) -> Result<Vec<String>, MriError> {
    let list = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty());
    let list: Vec<String> = list.map(str::to_owned).collect();
    match list.iter().find(|name| name.contains('"')) {
        _ if list.is_empty() => Err(MriError::NoName),
        Some(name) => Err(MriError::Name(name.clone())),
        None => Ok(list),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" ")
}

/// `NAME=EXPRESSION`, `NAME,EXPRESSION` or `NAME EXPRESSION`.
fn name_and_value(text: &str) -> Result<(String, String), MriError> {
    let end = text.find(|c: char| c == '=' || c == ',' || c.is_whitespace());
    let (name, rest) = text.split_at(end.ok_or(MriError::NoValue)?);
    let name = names(name)?.swap_remove(0);
    let rest = rest.trim_start();
    Ok((name, expression(rest.strip_prefix(['=', ',']).unwrap_or(rest))?))
}

/// An expression of linker scripts: numbers may be written as `$1F` and `1Fh`.
fn expression(text: &str) -> Result<String, MriError> {
    let text = text.trim();
    if text.is_empty() || text.contains(['{', '}', '"']) || text.contains("/*") {
        return Err(MriError::Value(text.to_owned()));
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
        let size = if is_word(c) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        let (word, behind) = rest.split_at(size);
        let hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let with_h = word.strip_suffix(['h', 'H']).filter(|_| c.is_ascii_digit());
        match word.strip_prefix('$').or(with_h).filter(|digits| hex(digits)) {
            Some(digits) => _ = write!(out, "0x{digits}"),
            None => out.push_str(word),
        }
        rest = behind;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(text: &str) -> String {
        translate(text.as_bytes(), "m").map_or_else(|e| e.message, |t| t.text)
    }

    #[test]
    fn commands() {
        let text = "* comment\nload a.o, b.o ; both\nNAME out\nPUBLIC x=$1F+10h\nFORMAT S\nEND\nnonsense";
        let want = "\nINPUT(\"a.o\" \"b.o\")\nOUTPUT(\"out\")\n\"x\" = 0x1F+0x10;\nOUTPUT_FORMAT(srec)\n";
        assert_eq!(translated(text), want);
        assert!(translate(b"LIST", "m").unwrap().prints_map);
    }

    #[test]
    fn sections() {
        let text = "ALIGN .data=16\nSECT .text,0x100\nORDER .data .bss .text\nALIAS .data,.mine\nBASE 32";
        let want = "\n\n\n\n\nSECTIONS { . = 32; \".text\" 0x100 : { *(\".text\") } \
            \".data\"  : ALIGN(16) { *(\".data\") *(\".mine\") } \".bss\"  : { *(\".bss\") *(COMMON) } }\n";
        assert_eq!(translated(text), want);
        assert!(translated("ABSOLUTE .text").contains("/DISCARD/ : { *(*) }"));
    }

    #[test]
    fn mistakes() {
        for (text, part) in [
            ("\nFoo x", "m:2: Foo is no command"),
            ("BASE 1 /* 2", "'1 /* 2' is no value"),
            ("LOAD", "m:1: a name is missing"),
            ("SECT .text", "a value is missing"),
            ("SECT .text,", "'' is no value"),
            ("FORMAT COFF", "FORMAT COFF is not supported"),
            ("ALIAS a", "ALIAS wants"),
        ] {
            assert!(translated(text).contains(part), "{text}: {}", translated(text));
        }
        assert!(translate(b"\xff", "m").is_err());
    }
}
