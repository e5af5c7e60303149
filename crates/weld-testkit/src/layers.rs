//! Holds a crate to an order of its rooms: each imports only what stands before it, so that no two know each
//! other.
//!
//! A room is a module of the crate's root with all below it. What it imports is each path that begins with
//! `crate::`, in `use` or in code, grouped ones too. Comments, strings and `#[cfg(test)]` items are left out;
//! what stands behind these counts again. No room is exempt, and the root has nothing that rooms could import
//! by a detour.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The page that shows the order, from the directory of a crate.
const PAGE: &str = "../../docs/architecture.md";

/// Holds the crate in the directory `manifest` to the order `rooms`, from the bottom up, and the page on
/// architecture to showing it.
///
/// # Panics
/// If a room imports what stands above it or what is no room, if the list is not that of the crate's rooms,
/// or if the page shows another one.
pub fn check(manifest: &str, rooms: &[&str]) {
    let name = Path::new(manifest).file_name().unwrap_or_default().to_string_lossy();
    let order = format!("{name}: {}", rooms.join(" "));
    println!("{order}");
    let mut faults = faults(manifest, rooms);
    let page = fs::read_to_string(Path::new(manifest).join(PAGE)).expect("the page can be read");
    let words: Vec<&str> = page.split_whitespace().collect();
    // What follows is another crate, or the end of the block.
    let shown = |end: &str| words.join(" ").contains(&format!("{order}{end}"));
    if !(shown(" weld") || shown(" ```")) {
        faults.push(format!("docs/architecture.md does not show this order:\n    {order}"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is wrong with the order `rooms`; empty if nothing is.
///
/// Every room of the crate must be in the list, and the other way round.
fn faults(manifest: &str, rooms: &[&str]) -> Vec<String> {
    let root = Path::new(manifest).join("src");
    let mut imports = BTreeMap::new();
    read(&root, &root, &mut imports);
    // They name rooms and have nothing of their own to be imported.
    imports.retain(|name, _| !["lib.rs", "layers.rs", "main.rs"].contains(&name.as_str()));
    let room_of = |name: &str| name.split(['/', '.']).next().unwrap_or_default().to_owned();
    let there: BTreeSet<String> = imports.keys().map(|name| room_of(name)).collect();
    let rank = |room: &str| rooms.iter().position(|other| *other == room);
    let unknown = there.iter().filter(|room| rank(room).is_none());
    let mut faults: Vec<String> = unknown.map(|room| format!("{room} is not in the list")).collect();
    let gone = rooms.iter().filter(|room| !there.contains(**room));
    faults.extend(gone.map(|room| format!("there is no {room}")));
    for (name, others) in &imports {
        let mine = rank(&room_of(name));
        faults.extend(others.iter().filter_map(|other| match rank(other) {
            None => Some(format!("{name} imports {other}, which is no room")),
            theirs if theirs > mine => Some(format!("{name} imports {other}, which stands above it")),
            _ => None,
        }));
    }
    faults
}

fn read(root: &Path, directory: &Path, imports: &mut BTreeMap<String, BTreeSet<String>>) {
    for entry in fs::read_dir(directory).expect("sources are there") {
        let path = entry.expect("sources are there").path();
        if path.is_dir() {
            read(root, &path, imports);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let name = path.strip_prefix(root).expect("it lies below").to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&path).expect("sources can be read");
            imports.insert(name, rooms_in(&text));
        }
    }
}

/// The first segments after `crate::`.
fn rooms_in(text: &str) -> BTreeSet<String> {
    let tokens = without_tests(tokens(text));
    let mut rooms = BTreeSet::new();
    for (i, _) in tokens.iter().enumerate().filter(|(_, token)| *token == "crate") {
        // `$crate::` of a macro is the same.
        if tokens.get(i + 1).is_none_or(|token| token != "::") {
            continue;
        }
        let Some(next) = tokens.get(i + 2) else { continue };
        if next != "{" {
            rooms.insert(next.clone());
            continue;
        }
        let mut depth = 0;
        for (j, token) in tokens.iter().enumerate().skip(i + 2) {
            match &**token {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            let begins = depth == 1 && ["{", ","].contains(&&*tokens[j - 1]);
            if begins && token != "}" {
                rooms.insert(token.clone());
            }
        }
    }
    rooms
}

/// Leaves out items with `#[cfg(test)]`: up to a semicolon, or what is in braces.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if !tokens[i..].starts_with(&MARK.map(str::to_owned)) {
            kept.push(tokens[i].clone());
            i += 1;
            continue;
        }
        let mut depth = 0;
        while let Some(token) = tokens.get(i) {
            i += 1;
            match &**token {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(&**token, "}" | ";") {
                break;
            }
        }
    }
    kept
}

/// Words, `::` and single characters, without white space, comments, strings and characters in quotes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let skip = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' => quoted(rest, '"'),
            // A character, not a lifetime.
            '\'' if rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'') => {
                quoted(rest, '\'')
            }
            'r' | 'b' if raw(rest).is_some() => raw(rest).unwrap_or_default(),
            _ if first.is_whitespace() => first.len_utf8(),
            _ => 0,
        };
        if skip > 0 {
            rest = &rest[skip..];
            continue;
        }
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            _ => word,
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    tokens
}

/// The length of what begins with a quote and ends with the next that no backslash is in front of.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string, with its prefix.
fn raw(text: &str) -> Option<usize> {
    let start = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let inside = start[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(text.len() - inside.len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rooms_here_stand_in_an_order() {
        let rooms = ["strtab", "elf", "coff", "codeview", "bitcode", "mutate", "fields", "obj", "ar", "dso"];
        check(env!("CARGO_MANIFEST_DIR"), &rooms);
    }

    #[test]
    fn imports_are_seen_wherever_they_stand() {
        let text = r##"
            use crate::one::{a, b};
            use crate::{two, three::{x, y}, four as other};
            // use crate::comment;
            #[cfg(test)]
            mod tests { use crate::tested; fn f() { let c = '}'; } }
            #[cfg(test)]
            use crate::tested_too;
            fn f<'a>() -> &'a str { crate::five::g(); "crate::string"; r#"crate::raw "quoted" "# }
            macro_rules! m { () => { $crate::six::h() } }
        "##;
        let rooms: Vec<String> = rooms_in(text).into_iter().collect();
        assert_eq!(rooms, ["five", "four", "one", "six", "three", "two"]);
    }
}
