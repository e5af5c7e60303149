//! What a name is an instance of: the template or the generic, with its arguments taken away.
//!
//! `std::vector<int, std::allocator<int> >::push_back(int const&)` is one of `std::vector<…>::push_back`, and
//! `alloc::vec::Vec<u8>::push` one of `alloc::vec::Vec<…>::push`. Parameters go, too, since they follow from the
//! arguments. What starts with an angle bracket is a path of Rust (`<T as Trait>::method`), whose brackets stay,
//! and lose only what is inside of them.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

/// How deep paths in brackets nest in names that people write.
const DEEPEST: u32 = 8;

/// What the demangled `name` is an instance of; `None` if it is none.
pub fn instance(name: &str) -> Option<String> {
    memchr(b'<', name.as_bytes())?;
    let name = name.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")).map_or(name, |(name, _)| name);
    let name = without_special(name);
    let mut out = String::with_capacity(name.len());
    let stripped = strip(name, DEEPEST, &mut out);
    (stripped && finds(&ARGUMENTS, &out)).then_some(out)
}

static ARGUMENTS: LazyLock<Finder> = LazyLock::new(|| Finder::new("<…>"));
static OPERATOR_AND_SPACE: LazyLock<Finder> = LazyLock::new(|| Finder::new("operator "));
static OPERATOR: LazyLock<Finder> = LazyLock::new(|| Finder::new("operator"));
/// Words with spaces, which do not end what is returned.
static WITH_SPACES: LazyLock<[Finder; 3]> =
    LazyLock::new(|| ["{lambda", "(anonymous namespace)", " as "].map(Finder::new));

fn finds(what: &Finder, text: &str) -> bool {
    what.find(text.as_bytes()).is_some()
}

/// Tables and thunks are made for a class or function, which is what counts.
fn without_special(name: &str) -> &str {
    const PREFIXES: [&str; 6] = [
        "vtable for ",
        "VTT for ",
        "typeinfo for ",
        "typeinfo name for ",
        "guard variable for ",
        "non-virtual thunk to ",
    ];
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// Brackets that may begin or end what is left out. They stand so near each other that a search for them would mostly begin.
const BRACKETS: [bool; 256] = {
    let mut brackets = [false; 256];
    (brackets[b'<' as usize], brackets[b'>' as usize], brackets[b'(' as usize]) = (true, true, true);
    brackets
};

/// Copies `name` without what is in brackets; `false` if these do not match, or paths nest more than `most` deep.
fn strip(name: &str, most: u32, out: &mut String) -> bool {
    let bytes = name.as_bytes();
    let next_operator = |at: usize| OPERATOR.find(&bytes[at..]).map_or(bytes.len(), |place| at + place);
    let mut depth = 0usize;
    let mut at = 0;
    let mut operators = next_operator(at);
    while at < bytes.len() {
        if operators < at {
            operators = next_operator(at);
        }
        if depth > 0 {
            (at, depth) = inside(bytes, at..operators, depth);
        }
        let rest = &name[at..];
        // What means nothing, up to the next that may.
        let bracket = bytes[at..operators].iter().position(|byte| BRACKETS[usize::from(*byte)]);
        let plain = bracket.unwrap_or(operators - at);
        if plain > 0 {
            if depth == 0 {
                out.push_str(&rest[..plain]);
            }
            at += plain;
            continue;
        }
        if at == operators {
            let spelled = operator(name, at).unwrap_or("operator");
            if depth == 0 {
                out.push_str(spelled);
            }
            at += spelled.len();
            continue;
        }
        match bytes[at] {
            b'<' if depth == 0 && is_path(bytes, at) => {
                // `<T as Trait>`: a path in brackets.
                let (Some(end), Some(most)) = (matching(rest), most.checked_sub(1)) else { return false };
                out.push('<');
                if !strip(&rest[1..end], most, out) {
                    return false;
                }
                out.push('>');
                at += end;
            }
            b'<' => {
                depth += 1;
                if depth == 1 {
                    out.push_str("<…>");
                }
            }
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => {
                let Some(less) = depth.checked_sub(1) else { return false };
                depth = less;
            }
            // The parameters of a function. What follows (`const`, `[clone .cold]`) goes with them.
            b'(' if depth == 0 && !rest.starts_with("(anonymous namespace)") => {
                return returns_nothing(out);
            }
            // The bracket of a namespace without a name.
            other => {
                if depth == 0 {
                    out.push(char::from(other));
                }
            }
        }
        at += 1;
    }
    depth == 0 && returns_nothing(out)
}

/// A byte eight times.
const fn eight_times(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Which of eight bytes are `byte`: the highest bit of each.
fn equal(bytes: u64, byte: u8) -> u64 {
    const LOWER: u64 = eight_times(0x7f);
    let differ = bytes ^ eight_times(byte);
    !(((differ & LOWER) + LOWER) | differ | LOWER)
}

/// How many are.
fn count(equal: u64) -> usize {
    ((equal >> 7).wrapping_mul(eight_times(1)) >> 56) as usize
}

/// Goes on in brackets that are `depth` deep, of which the first byte is in front of `range`, eight bytes at a time while they
/// are ASCII and cannot close the outermost bracket: where it is then, and how deep. Long names are mostly arguments of templates.
fn inside(bytes: &[u8], range: Range<usize>, mut depth: usize) -> (usize, usize) {
    let mut at = range.start;
    let load = |at: usize| bytes[at..].first_chunk().map(|eight| u64::from_le_bytes(*eight));
    while let Some((eight, before)) = load(at).zip(load(at - 1)).filter(|_| at + 8 <= range.end) {
        let closed = count(equal(eight, b'>') & !equal(before, b'-'));
        if closed >= depth || eight & eight_times(0x80) != 0 {
            break;
        }
        depth = depth + count(equal(eight, b'<')) - closed;
        at += 8;
    }
    (at, depth)
}

/// Function templates are spelled with what they return in front, which is not part of their names.
fn returns_nothing(out: &mut String) -> bool {
    let Some(space) = memrchr(b' ', out.as_bytes()) else { return true };
    let is_name = !out.starts_with('<')
        && space + 1 < out.len()
        && !finds(&OPERATOR_AND_SPACE, out)
        && !WITH_SPACES.iter().any(|words| finds(words, out));
    if is_name {
        out.drain(..=space);
    }
    true
}

/// Whether the bracket at `at` opens a path, not arguments: nothing stands in front of it that could have any.
fn is_path(bytes: &[u8], at: usize) -> bool {
    match at.checked_sub(1).map(|before| bytes[before]) {
        None => true,
        Some(before) => {
            !(before.is_ascii_alphanumeric()
                || matches!(before, b'_' | b':' | b'>' | b'}' | b']' | b')')
                || before >= 0x80)
        }
    }
}

/// Where the bracket that the text starts with is closed.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// An operator that is spelled with brackets, if one stands at `at`.
fn operator(name: &str, at: usize) -> Option<&str> {
    let rest = name.get(at..)?.strip_prefix("operator")?;
    const SPELLINGS: [&str; 11] = ["<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "<", "()"];
    let found = SPELLINGS
        .iter()
        .find(|spelling| rest.starts_with(**spelling))
        .or(rest.strip_prefix('>').map(|_| &">"))?;
    name.get(at..at + "operator".len() + found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: &str) {
        assert_eq!(instance(name).as_deref(), Some(want), "{name}");
    }

    #[test]
    fn templates() {
        check("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<…>::push_back");
        check("void std::sort<int*>(int*, int*)", "std::sort<…>");
        check("vtable for Box<int>", "Box<…>");
        check("Box<int>::operator<(Box<int> const&) const", "Box<…>::operator<");
        check("Box<int>::operator()(int)", "Box<…>::operator()");
        check("Box<Box<int> >::operator->()", "Box<…>::operator->");
        check("f(int)::Local<int>::g() [clone .cold]".trim_start_matches("f(int)::"), "Local<…>::g");
        check("(anonymous namespace)::Box<int>::g()", "(anonymous namespace)::Box<…>::g");
    }

    #[test]
    fn long_arguments() {
        for length in 0..40 {
            let (a, long) = ("a".repeat(length), "ä".repeat(length));
            for inner in [a.clone(), long, format!("b<{a}>"), format!("{a}<c<b> >"), format!("fn({a}) -> u8")]
            {
                check(&format!("Box<{inner}>::f<{inner}, d<e> >(g<h>)"), "Box<…>::f<…>");
                check(&format!("Box<{inner}, &{a}::operator<, &b::operator->{a}>::f"), "Box<…>::f");
            }
        }
    }

    #[test]
    fn generics() {
        check("alloc::vec::Vec<u8>::push", "alloc::vec::Vec<…>::push");
        check(
            "<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt",
            "<alloc::vec::Vec<…> as core::fmt::Debug>::fmt",
        );
        check("core::ptr::drop_in_place::<foo::Bar>", "core::ptr::drop_in_place::<…>");
        check("core::ptr::drop_in_place::<fn(u8) -> u8>", "core::ptr::drop_in_place::<…>");
    }

    #[test]
    fn whatever_names_are() {
        check("Box<Ünit…>::f", "Box<…>::f");
        assert_eq!(instance(&format!("{}a<b>{}", "<".repeat(20_000), ">".repeat(20_000))), None);
        let words = ["<", ">", "(", ")", "-", " ", "operator", "ä", "…", "a", "::", "[", "]", " as ", "as"];
        let mut seed = 3u32;
        for _ in 0..20_000 {
            let mut name = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                name += words[(seed >> 8) as usize % words.len()];
            }
            _ = instance(&name);
        }
    }

    #[test]
    fn what_is_no_instance() {
        for name in [
            "main",
            "f(int)",
            "std::vector::push",
            "f(std::vector<int>)",
            "<T as Trait>::f",
            "a<b",
            "a>b<",
            "x::operator<(x)",
        ] {
            assert_eq!(instance(name), None, "{name}");
        }
    }
}
