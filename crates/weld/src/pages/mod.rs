//! The pages of `docs/` that are for users, read to be shown by [`terminal`] and written as manual pages by
//! [`man`].
//!
//! They are Markdown, of which this reads what they use: headings, paragraphs, lists, tables, code and
//! links. A test reads every page and finds nothing left over.

pub mod explanations;
mod inline;
pub mod man;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod topics;

pub use inline::{Span, spans};

/// A part of a page. Texts have their lines joined, and their markup ([`spans`]).
#[derive(Debug, PartialEq, Eq)]
pub enum Block<'p> {
    /// Its level, from 1.
    Heading(usize, &'p str),
    Paragraph(String),
    /// An item of a list: its marker, as `-` or `1.`.
    Item(&'p str, String),
    /// Lines as they are, without the indentation that all have.
    Code(Vec<&'p str>),
    Table(Table),
}

/// The header is a row without text if the table has none.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Stands before and after lines of code that are not indented.
const FENCE: &str = "```";

/// The blocks of a page, in order. What a comment holds is left out, and so are pictures.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut lines = page.lines().peekable();
    let mut out: Vec<Block> = Vec::new();
    // Whether the next line goes on with the paragraph or item before it.
    let mut open = false;
    while let Some(line) = lines.next() {
        let text = line.trim();
        if text.starts_with("<!--") {
            let mut last = line;
            while !last.contains("-->") {
                let Some(next) = lines.next() else { break };
                last = next;
            }
            continue;
        }
        if text.is_empty() || text.starts_with("![") {
            open = false;
            continue;
        }
        if text.starts_with(FENCE) {
            out.push(Block::Code(lines.by_ref().take_while(|line| line.trim() != FENCE).collect()));
            open = false;
        } else if line.starts_with('#') {
            let level = line.bytes().take_while(|&b| b == b'#').count();
            out.push(Block::Heading(level, line[level..].trim()));
            open = false;
        } else if text.starts_with('|') {
            let mut rows = vec![cells(text)];
            while let Some(line) = lines.next_if(|line| line.trim_start().starts_with('|')) {
                rows.push(cells(line.trim()));
            }
            out.push(Block::Table(table(rows)));
            open = false;
        } else if line.starts_with("    ") && !open {
            let mut code = vec![&line[4..]];
            while let Some(line) = lines.next_if(|line| line.starts_with("    ")) {
                code.push(&line[4..]);
            }
            out.push(Block::Code(code));
        } else if let Some((marker, rest)) = item(text) {
            out.push(Block::Item(marker, rest.to_owned()));
            open = true;
        } else if let (true, Some(Block::Paragraph(before) | Block::Item(_, before))) = (open, out.last_mut())
        {
            before.push(' ');
            before.push_str(text);
        } else {
            out.push(Block::Paragraph(text.to_owned()));
            open = true;
        }
    }
    out
}

/// The marker of an item, and what stands after it.
fn item(text: &str) -> Option<(&str, &str)> {
    let (marker, rest) = text.split_once(' ')?;
    let is_number =
        || marker.strip_suffix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    (marker == "-" || marker == "*" || is_number()).then(|| (marker, rest.trim_start()))
}

/// The second row of a table is a line of dashes, which says how columns are aligned.
fn table(mut rows: Vec<Vec<String>>) -> Table {
    let is_rule = |row: &Vec<String>| row.iter().all(|cell| cell.bytes().all(|b| b"-: ".contains(&b)));
    if rows.get(1).is_some_and(is_rule) {
        rows.remove(1);
        let header = rows.remove(0);
        return Table { header, rows };
    }
    Table { header: Vec::new(), rows }
}

/// The cells of a line `| a | b |`, in which `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut chars = line.strip_prefix('|').unwrap_or(line).chars().peekable();
    while let Some(c) = chars.next() {
        let last = cells.last_mut().expect("there is one from the start");
        match c {
            '\\' if chars.next_if_eq(&'|').is_some() => last.push('|'),
            '|' if chars.peek().is_some() => cells.push(String::new()),
            '|' => {}
            c => last.push(c),
        }
    }
    cells.iter_mut().for_each(|cell| *cell = cell.trim().to_owned());
    cells
}
