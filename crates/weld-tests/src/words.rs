//! Splitting directive text into words and filling in variables.

/// Splits like a shell: blanks separate, `'…'` and `"…"` group, a backslash takes the next
/// character as it is.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = chars.next().ok_or("a backslash at the end")?;
                word.get_or_insert_default().push(next);
            }
            (None, c) if c.is_whitespace() => out.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(format!("missing quote in `{text}`"));
    }
    out.extend(word);
    Ok(out)
}

/// Replaces each `{name}` that `lookup` knows; other braces stay.
pub fn fill(text: &str, lookup: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let value = rest.find('}').and_then(|end| Some((end, lookup(&rest[1..end])?)));
        match value {
            Some((end, value)) => {
                out.push_str(&value);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// `\n`, `\t`, `\0`, `\\` and `\xNN` in expected text.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(c) = bytes.next() {
        if c != b'\\' {
            out.push(c);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'0') => out.push(0),
            Some(b'x') => {
                let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_quotes() {
        assert_eq!(split(r#"a  'b c' "d\"e" f\ g ''"#).unwrap(), ["a", "b c", "d\"e", "f g", ""]);
        assert!(split("'a").is_err());
    }

    #[test]
    fn unknown_braces_stay() {
        let lookup = |n: &str| (n == "cc").then(|| "gcc".to_owned());
        assert_eq!(fill("{cc} { int x; } {no}", lookup), "gcc { int x; } {no}");
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(r"a\n\x41\0"), b"a\nA\0");
    }
}
