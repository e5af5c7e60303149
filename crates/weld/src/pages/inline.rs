//! Markup within a text: code, bold words, links.

/// A run of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    Plain(String),
    Bold(String),
    Code(String),
    /// Its text, and where it leads.
    Link(String, String),
}

/// The spans of a text, in order; none is empty.
pub fn spans(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let Some((span, after)) = marked(rest) else {
            let (read, after) = character(rest, first);
            plain.push(read);
            rest = after;
            continue;
        };
        if !plain.is_empty() {
            out.push(Span::Plain(std::mem::take(&mut plain)));
        }
        out.push(span);
        rest = after;
    }
    if !plain.is_empty() {
        out.push(Span::Plain(plain));
    }
    out
}

/// Characters that have a meaning in Markdown can be written in another way.
fn character(text: &str, first: char) -> (char, &str) {
    for (written, read) in [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')] {
        if let Some(after) = text.strip_prefix(written) {
            return (read, after);
        }
    }
    let after = &text[first.len_utf8()..];
    match after.chars().next() {
        Some(next) if first == '\\' && next.is_ascii_punctuation() => (next, &after[1..]),
        _ => (first, after),
    }
}

/// The text without its markup.
fn bare(text: &str) -> String {
    spans(text).into_iter().map(Span::into_text).collect()
}

/// What `text` begins with, if it is marked, and what follows.
fn marked(text: &str) -> Option<(Span, &str)> {
    if let Some(body) = text.strip_prefix('`') {
        let (code, after) = body.split_once('`')?;
        // Tables of options are written with what HTML needs, also within code.
        let code = code.replace("&lt;", "<");
        return (!code.is_empty()).then_some((Span::Code(code), after));
    }
    if let Some(body) = text.strip_prefix("**") {
        let (bold, after) = body.split_once("**")?;
        return (!bold.is_empty()).then(|| (Span::Bold(bare(bold)), after));
    }
    let body = text.strip_prefix('[')?;
    let (name, after) = body.split_once("](")?;
    if name.contains(']') {
        return None;
    }
    let (target, after) = after.split_once(')')?;
    Some((Span::Link(bare(name), target.to_owned()), after))
}

impl Span {
    pub fn into_text(self) -> String {
        match self {
            Span::Plain(text) | Span::Bold(text) | Span::Code(text) | Span::Link(text, _) => text,
        }
    }
}
