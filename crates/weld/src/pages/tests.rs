//! What pages are read as, and that every page is read whole.

use super::terminal::Style;
use super::topics::TOPICS;
use super::*;

const PLAIN: Style = Style { width: 40, color: false };

#[test]
fn blocks_of_all_kinds() {
    let page = "# Title\n<!-- not\nshown -->\n![a picture](x.png)\nOne\ntwo.\n\n- a\n  b\n- c\n\n    code  x\n\n| | b |\n|---|---|\n| `x\\|y` | z |\n";
    let cell = str::to_owned;
    let expected = [
        Block::Heading(1, "Title"),
        Block::Paragraph("One two.".to_owned()),
        Block::Item("-", "a b".to_owned()),
        Block::Item("-", "c".to_owned()),
        Block::Code(vec!["code  x"]),
        Block::Table(Table { header: vec![cell(""), cell("b")], rows: vec![vec![cell("`x|y`"), cell("z")]] }),
    ];
    assert_eq!(blocks(page), expected);
}

#[test]
fn spans_of_all_kinds() {
    let span = str::to_owned;
    assert_eq!(
        spans("a `-b` **c `d`** [e](f.md) 2 * 3 &lt; x[1]"),
        [
            Span::Plain(span("a ")),
            Span::Code(span("-b")),
            Span::Plain(span(" ")),
            Span::Bold(span("c d")),
            Span::Plain(span(" ")),
            Span::Link(span("e"), span("f.md")),
            Span::Plain(span(" 2 * 3 < x[1]")),
        ]
    );
    assert_eq!(spans("`open"), [Span::Plain(span("`open"))]);
}

#[test]
fn lines_are_filled() {
    let text = PLAIN.page(&blocks("# A b\n\n- one two three four five six seven eight nine\n\nx, `y z`.\n"));
    assert_eq!(text, "A B\n\n  - one two three four five six seven\n    eight nine\n\nx, y z.\n");
    let color = Style { color: true, ..PLAIN }.page(&blocks("`a b`c\n"));
    assert_eq!(color, "\x1b[36ma\x1b[0m \x1b[36mb\x1b[0mc\n");
}

#[test]
fn tables_are_grids_if_they_fit() {
    let page = "| a | b |\n|---|---|\n| `one` | two |\n| three | 4 |\n";
    assert_eq!(PLAIN.page(&blocks(page)), "  a      b\n  one    two\n  three  4\n");
    let wide =
        "| a | b | c |\n|---|---|---|\n| `one` | what is said at length of one thing | and another |\n";
    let expected = "  one\n      b: what is said at length of one\n      thing\n      c: and another\n";
    assert_eq!(PLAIN.page(&blocks(wide)), expected);
}

#[test]
fn links_lead_to_other_pages() {
    let text = |page| PLAIN.page(&blocks(page));
    assert_eq!(text("see [docs/options.md](docs/options.md)\n"), "see weld help options\n");
    assert_eq!(text("[what](machines.md#a)\n"), "what (weld help machines)\n");
    assert_eq!(text("[x](https://a.b)\n"), "x <https://a.b>\n");
    assert_eq!(text("[x](notes.txt)\n"), "x\n");
}

#[test]
fn manual_pages() {
    let title = man::Title { name: "weld-x", section: 7, summary: "a-b", version: "1" };
    let page = man::page(&title, &blocks("# X\n\nA `-o`.\n\nB\n\n## It's so\n\n    .x \\\n"));
    let expected = "'\\\" t\n.TH WELD-X 7 \"\" \"weld 1\" \"weld\"\n.SH NAME\nweld\\-x \\- a\\-b\n.SH DESCRIPTION\nA \
                    \\fB\\-o\\fP.\n.PP\nB\n.SH \"IT'S SO\"\n.RS 4\n.nf\n\\&.x \\e\n.fi\n.RE\n";
    assert_eq!(page, expected);
}

/// Nothing is left of the markup: what this reader does not know would be.
#[test]
fn all_pages_are_read_whole() {
    for topic in TOPICS {
        let source = topic.text();
        assert!(source.starts_with("# "), "{}: links in pages/ must lead to docs/", topic.name);
        let all = blocks(&source);
        for block in &all {
            let texts: Vec<&str> = match block {
                Block::Heading(_, text) => vec![text],
                Block::Paragraph(text) | Block::Item(_, text) => vec![text],
                Block::Code(_) => Vec::new(),
                Block::Table(table) => {
                    let columns = table.header.len();
                    assert!(table.rows.iter().all(|row| row.len() == columns), "{}: {table:?}", topic.name);
                    table.header.iter().chain(table.rows.iter().flatten()).map(String::as_str).collect()
                }
            };
            for span in texts.into_iter().flat_map(spans) {
                if let Span::Plain(text) = span {
                    let left =
                        ["`", "**", "](", "<!--", "&lt;", "```"].iter().find(|mark| text.contains(**mark));
                    assert_eq!(left, None, "{}: {text}", topic.name);
                }
            }
        }
        let shown = Style { width: 80, color: false }.page(&all);
        let widest =
            shown.lines().filter(|line| !line.starts_with("    ")).map(|line| line.chars().count()).max();
        assert!(widest <= Some(110), "{}", topic.name);
    }
}
