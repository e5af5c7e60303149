//! A page as a manual page, in the language of man(7).

use std::fmt::Write;

use super::{Block, Span, Table, spans};

/// The name of a manual page, and what its one line says.
pub struct Title<'t> {
    pub name: &'t str,
    /// 1: programs, 7: about something.
    pub section: u8,
    pub summary: &'t str,
    pub version: &'t str,
}

/// The page of these blocks, whose first heading gives way to the title.
pub fn page(title: &Title<'_>, blocks: &[Block<'_>]) -> String {
    let Title { name, section, summary, version } = title;
    let mut out = String::from("'\\\" t\n");
    _ = writeln!(out, ".TH {} {section} \"\" \"weld {version}\" \"weld\"", name.to_uppercase());
    _ = write!(out, ".SH NAME\n{} \\- {}\n", escape(name), escape(summary));
    let has_title = matches!(blocks.first(), Some(Block::Heading(1, _)));
    let blocks = if has_title { &blocks[1..] } else { blocks };
    if !matches!(blocks.first(), Some(Block::Heading(..)) | None) {
        out.push_str(".SH DESCRIPTION\n");
    }
    for (i, block) in blocks.iter().enumerate() {
        // A heading begins a paragraph itself.
        let is_first =
            matches!(i.checked_sub(1).map(|before| &blocks[before]), None | Some(Block::Heading(..)));
        match block {
            Block::Heading(level, text) => {
                let text: String = spans(text).into_iter().map(Span::into_text).collect();
                let (macro_, text) = if *level <= 2 { (".SH", text.to_uppercase()) } else { (".SS", text) };
                _ = writeln!(out, "{macro_} \"{}\"", escape(&text).replace('"', "\\(dq"));
            }
            Block::Paragraph(text) if is_first => _ = writeln!(out, "{}", line(text)),
            Block::Paragraph(text) => _ = write!(out, ".PP\n{}\n", line(text)),
            Block::Item(marker, text) => {
                let marker = if *marker == "-" { "\\(bu" } else { marker };
                _ = write!(out, ".IP {marker} 4\n{}\n", line(text));
            }
            Block::Code(lines) => {
                out.push_str(if is_first { ".RS 4\n.nf\n" } else { ".PP\n.RS 4\n.nf\n" });
                for text in lines {
                    _ = writeln!(out, "{}", guarded(escape(text)));
                }
                out.push_str(".fi\n.RE\n");
            }
            Block::Table(table) => rows(&mut out, table),
        }
    }
    out
}

/// Each row is a term with what is said of it.
fn rows(out: &mut String, table: &Table) {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in &table.rows {
        let Some((term, rest)) = row.split_first() else { continue };
        _ = write!(out, ".TP\n{}\n", line(&format!("**{term}**")));
        let mut texts = Vec::new();
        for (i, cell) in rest.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            match table.header.get(i + 1).filter(|title| columns > 2 && !title.is_empty()) {
                Some(title) => texts.push(line(&format!("{title}: {cell}"))),
                None => texts.push(line(cell)),
            }
        }
        _ = writeln!(out, "{}", texts.join("\n.br\n"));
    }
}

/// A text with its markup as a line of input.
fn line(text: &str) -> String {
    let mut out = String::new();
    for span in spans(text) {
        match span {
            Span::Plain(text) => out.push_str(&escape(&text)),
            Span::Bold(text) | Span::Code(text) => _ = write!(out, "\\fB{}\\fP", escape(&text)),
            Span::Link(name, target) => out.push_str(&escape(&super::terminal::link(&name, &target))),
        }
    }
    guarded(out)
}

/// `\` begins an escape, and `-` would become a hyphen, which nobody can copy into a command line.
fn escape(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// A line that begins with `.` or `'` would be a command.
fn guarded(line: String) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}
