//! A page as text for terminals, in lines of a width.

use super::{Block, Span, Table, spans, topics};

const BOLD: &str = "\x1b[1m";
const CODE: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// How to write.
#[derive(Clone, Copy)]
pub struct Style {
    /// Columns of a line.
    pub width: usize,
    pub color: bool,
}

/// A word, which no line break is put into, and how many columns it takes.
struct Word {
    text: String,
    columns: usize,
}

impl Style {
    /// The page, with a newline at its end. Tables of two columns become lists of terms, and those that are
    /// too wide become a list for each row.
    pub fn page(self, blocks: &[Block<'_>]) -> String {
        let mut out = String::new();
        for (i, block) in blocks.iter().enumerate() {
            let is_item = |block: Option<&Block<'_>>| matches!(block, Some(Block::Item(..)));
            if i > 0 && !(is_item(Some(block)) && is_item(blocks.get(i - 1))) {
                out.push('\n');
            }
            match block {
                Block::Heading(level, text) => self.heading(&mut out, *level, text),
                Block::Paragraph(text) => self.lines(&mut out, text, "", ""),
                Block::Item(marker, text) => {
                    let first = format!("  {marker} ");
                    let rest = " ".repeat(first.len());
                    self.lines(&mut out, text, &first, &rest);
                }
                Block::Code(lines) => {
                    for line in lines {
                        out.push_str(&self.marked(CODE, &format!("    {line}")));
                        out.push('\n');
                    }
                }
                Block::Table(table) => self.table(&mut out, table),
            }
        }
        out
    }

    fn marked(self, mark: &str, text: &str) -> String {
        if self.color { format!("{mark}{text}{RESET}") } else { text.to_owned() }
    }

    /// Headings of the first level are in capitals, as in manual pages.
    fn heading(self, out: &mut String, level: usize, text: &str) {
        let text: String = spans(text).into_iter().map(Span::into_text).collect();
        let text = if level == 1 { text.to_uppercase() } else { text };
        out.push_str(&self.marked(BOLD, &text));
        out.push('\n');
    }

    fn table(self, out: &mut String, table: &Table) {
        let is_headed = table.header.iter().any(|cell| !cell.is_empty());
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        let rows: Vec<&Vec<String>> =
            is_headed.then_some(&table.header).into_iter().chain(&table.rows).collect();
        let plain = Style { color: false, ..self };
        let width_of = |cell: &String| plain.words(cell).iter().map(|word| word.columns + 1).sum::<usize>();
        let widths: Vec<usize> = (0..columns)
            .map(|column| rows.iter().filter_map(|row| row.get(column)).map(width_of).max().unwrap_or(0) + 1)
            .collect();
        if widths.iter().sum::<usize>() <= self.width + 2 {
            return self.grid(out, &rows, &widths);
        }
        for row in &table.rows {
            let Some((term, rest)) = row.split_first() else { continue };
            self.lines(out, &format!("**{term}**"), "  ", "  ");
            for (i, cell) in rest.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let title = table.header.get(i + 1).filter(|title| columns > 2 && !title.is_empty());
                let text = title.map_or(cell.clone(), |title| format!("{title}: {cell}"));
                self.lines(out, &text, "      ", "      ");
            }
        }
    }

    /// A table whose rows are lines.
    fn grid(self, out: &mut String, rows: &[&Vec<String>], widths: &[usize]) {
        for row in rows {
            let mut line = String::from("  ");
            let mut room = 0;
            for (cell, width) in row.iter().zip(widths) {
                line.push_str(&" ".repeat(room));
                let words = self.words(cell);
                let taken = words.iter().map(|word| word.columns + 1).sum::<usize>();
                let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
                line.push_str(&words.join(" "));
                // One space stands after each word but the last.
                room = width - taken.saturating_sub(1);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    /// Fills lines, the first of which begins with `first` and the others with `rest`.
    fn lines(self, out: &mut String, text: &str, first: &str, rest: &str) {
        out.push_str(first);
        let mut column = first.chars().count();
        let mut is_start = true;
        for word in self.words(text) {
            if !is_start && column + 1 + word.columns > self.width {
                out.push('\n');
                out.push_str(rest);
                column = rest.len();
            } else if !is_start {
                out.push(' ');
                column += 1;
            }
            out.push_str(&word.text);
            column += word.columns;
            is_start = false;
        }
        out.push('\n');
    }

    /// The words of a text with markup; code of several words may be broken, too.
    fn words(self, text: &str) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        // Whether the next piece is glued to the last word.
        let mut is_glued = false;
        for span in spans(text) {
            let mark = match &span {
                Span::Bold(_) => BOLD,
                Span::Code(_) => CODE,
                Span::Plain(_) | Span::Link(..) => "",
            };
            let text = match span {
                Span::Link(name, target) => link(&name, &target),
                span => span.into_text(),
            };
            for (i, piece) in text.split(' ').enumerate() {
                is_glued &= i == 0;
                if piece.is_empty() {
                    continue;
                }
                let shown = if mark.is_empty() { piece.to_owned() } else { self.marked(mark, piece) };
                let columns = piece.chars().count();
                match words.last_mut() {
                    Some(last) if is_glued => {
                        last.text.push_str(&shown);
                        last.columns += columns;
                    }
                    _ => words.push(Word { text: shown, columns }),
                }
                is_glued = true;
            }
            is_glued &= !text.ends_with(' ');
        }
        words
    }
}

/// A link to another page says how that is shown, one that leads out of the house has its address after it.
pub(super) fn link(name: &str, target: &str) -> String {
    let page = target.split('#').next().unwrap_or_default();
    let page = page.rsplit('/').next().unwrap_or_default().strip_suffix(".md");
    match page {
        _ if target.starts_with("http") => format!("{name} <{target}>"),
        Some(page) if topics::find(page).is_some() && name.ends_with(".md") => format!("weld help {page}"),
        Some(page) if topics::find(page).is_some() => format!("{name} (weld help {page})"),
        _ => name.to_owned(),
    }
}
