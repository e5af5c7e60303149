//! What a misspelt or wrongly declared symbol was probably meant to be.
//!
//! Looks for a defined name that differs from an undefined one by C versus C++ linkage, by the ABI of the
//! C++ library's strings, by case, by the parameters of a C++ function, or by at most two edits (a byte
//! inserted, removed or changed, or two neighbours exchanged). Mangled names are compared as they are: a typo
//! inside an identifier is a typo inside the mangled name, and one that changes the identifier's length
//! changes a digit with it, which two edits cover.
//!
//! A link that fails may have millions of names to compare with. Nearly all of them differ in length by
//! more than two; the rest cost at most five cells of the distance matrix a byte, and when
//! [`LARGEST_EFFORT`] cells have been computed the search ends with what it has.

use std::fmt;

use crate::demangle::demangle;

/// Names above this many bytes are not compared. Nobody types them, either.
const LONGEST: usize = 1000;

/// Cells of distance matrices in one search: a fraction of a second.
pub const LARGEST_EFFORT: usize = 50_000_000;

/// Bytes from which two edits rather than one make a likely typo, and below which none does.
const TWO_EDITS_FROM: usize = 6;
const ONE_EDIT_FROM: usize = 3;

/// Why a name is suggested, the likeliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// `foo` is defined, a C++ function `foo(…)` is wanted.
    DefinedAsC,
    /// A C++ function `foo(…)` is defined, `foo` is wanted.
    DefinedAsCpp,
    /// The same C++ function, with one side compiled for the other ABI of libstdc++'s strings and lists.
    StringAbi,
    /// Only upper and lower case differ.
    Case,
    /// A C++ function of that name has other parameters or qualifiers.
    Parameters,
    /// Differs by this many edits, 1 or 2.
    Edits(u8),
}

/// A defined name that may have been meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suggestion<'a> {
    pub name: &'a [u8],
    pub reason: Reason,
}

impl fmt::Display for Suggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = demangle(self.name);
        match self.reason {
            Reason::DefinedAsC => {
                write!(f, "{name} is defined with C linkage; is extern \"C\" missing where it is declared?")
            }
            Reason::DefinedAsCpp => {
                write!(f, "{name} is defined with C++ linkage; is extern \"C\" missing where it is defined?")
            }
            Reason::StringAbi => {
                write!(
                    f,
                    "{name} is defined; are the objects compiled with different _GLIBCXX_USE_CXX11_ABI?"
                )
            }
            Reason::Parameters => write!(f, "{name} is defined and differs in its parameters or qualifiers"),
            Reason::Case => write!(f, "{name} is defined and differs only in case"),
            Reason::Edits(_) => write!(f, "{name} is defined and has a similar name"),
        }
    }
}

/// The likeliest of `candidates`, which are defined, for `wanted`, which is not. Does not depend on the
/// order of the candidates, unless there are so many similar ones that the search is cut short.
pub fn suggest<'a>(wanted: &[u8], candidates: impl IntoIterator<Item = &'a [u8]>) -> Option<Suggestion<'a>> {
    suggest_within(LARGEST_EFFORT, wanted, candidates)
}

fn suggest_within<'a>(
    effort: usize,
    wanted: &[u8],
    candidates: impl IntoIterator<Item = &'a [u8]>,
) -> Option<Suggestion<'a>> {
    if wanted.is_empty() || wanted.len() > LONGEST {
        return None;
    }
    let mut search = Search::new(wanted);
    let mut best: Option<Suggestion> = None;
    for name in candidates {
        let limit = best.map_or(Reason::Edits(2), |best| best.reason);
        if let Some(reason) = search.compare(name, limit)
            && best.is_none_or(|best| (reason, name) < (best.reason, best.name))
        {
            best = Some(Suggestion { name, reason });
        }
        if search.effort > effort {
            break;
        }
    }
    best
}

/// Whether a mangled name is that of a constructor (`C`) or a destructor (`D`).
fn structor(name: &[u8]) -> Option<u8> {
    let is_one = |w: &&[u8]| matches!(w[0], b'C' | b'D') && matches!(w[1], b'0'..=b'5') && w[2] == b'E';
    let nested = name.strip_prefix(b"_ZN")?;
    nested.windows(3).rfind(is_one).map(|w| w[0])
}

struct Search<'w> {
    wanted: &'w [u8],
    /// What is between `_Z` and the parameters, if it is simple; see [`function_name`].
    function: Option<&'w [u8]>,
    effort: usize,
    /// The last three rows of a distance matrix.
    rows: [Vec<u8>; 3],
}

impl<'w> Search<'w> {
    fn new(wanted: &'w [u8]) -> Self {
        Search { wanted, function: function_name(wanted), effort: 0, rows: Default::default() }
    }

    /// Why `name` may have been meant, if it is at least as likely as `limit`.
    fn compare(&mut self, name: &[u8], limit: Reason) -> Option<Reason> {
        let wanted = self.wanted;
        if name == wanted || name.is_empty() || name.len() > LONGEST {
            return None;
        }
        if is_function_named(wanted, name) {
            return Some(Reason::DefinedAsC);
        }
        if limit >= Reason::DefinedAsCpp && is_function_named(name, wanted) {
            return Some(Reason::DefinedAsCpp);
        }
        if limit >= Reason::Case && name.eq_ignore_ascii_case(wanted) {
            return Some(Reason::Case);
        }
        if limit >= Reason::StringAbi
            && let Some(function) = self.function
            && unqualified(name).is_some_and(|rest| rest.starts_with(function))
        {
            let new_abi = |name: &[u8]| memchr::memmem::find(name, b"cxx11").is_some();
            let abi = new_abi(name) != new_abi(wanted);
            let reason = if abi { Reason::StringAbi } else { Reason::Parameters };
            return (reason <= limit).then_some(reason);
        }
        let Reason::Edits(edits) = limit else { return None };
        let most = match wanted.len().min(name.len()) {
            TWO_EDITS_FROM.. => edits.min(2),
            ONE_EDIT_FROM.. => edits.min(1),
            _ => return None,
        };
        if wanted.len().abs_diff(name.len()) > usize::from(most) {
            return None;
        }
        // Nobody types the one for the other.
        if structor(wanted) != structor(name) {
            return None;
        }
        self.distance(name, most).map(Reason::Edits)
    }

    /// The number of edits between the names if it is at most `most`: the optimal string alignment
    /// distance, of which only the cells within `most` of the diagonal matter.
    fn distance(&mut self, name: &[u8], most: u8) -> Option<u8> {
        const FAR: u8 = u8::MAX - 1;
        let wanted = self.wanted;
        let band = usize::from(most);
        for row in &mut self.rows {
            row.clear();
            row.resize(name.len() + 1, FAR);
        }
        for j in 0..=band.min(name.len()) {
            self.rows[0][j] = j as u8;
        }
        self.effort += name.len();
        for i in 1..=wanted.len() {
            let (from, to) = (i.saturating_sub(band), (i + band).min(name.len()));
            self.rows.rotate_right(1);
            let [row, above, above2] = &mut self.rows;
            // What is left of the rows before, beside the part written now.
            if from > 0 {
                row[from - 1] = FAR;
            }
            if to < name.len() {
                row[to + 1] = FAR;
            }
            let mut nearest = FAR;
            for j in from..=to {
                let cell = if j == 0 {
                    i.min(usize::from(FAR)) as u8
                } else {
                    let changed = above[j - 1] + u8::from(wanted[i - 1] != name[j - 1]);
                    let exchanged =
                        i > 1 && j > 1 && wanted[i - 1] == name[j - 2] && wanted[i - 2] == name[j - 1];
                    let exchanged = if exchanged { above2[j - 2] + 1 } else { FAR };
                    changed.min(above[j] + 1).min(row[j - 1] + 1).min(exchanged).min(FAR)
                };
                row[j] = cell;
                nearest = nearest.min(cell);
            }
            self.effort += to + 1 - from;
            if nearest > most {
                return None;
            }
        }
        let distance = self.rows[0][name.len()];
        (distance <= most).then_some(distance)
    }
}

/// Whether `mangled` is a C++ function in the global namespace whose name is `plain`: `_Z`, the length of
/// the name, the name, and parameter types.
fn is_function_named(mangled: &[u8], plain: &[u8]) -> bool {
    let Some(rest) = mangled.strip_prefix(b"_Z") else { return false };
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    let (length, rest) = rest.split_at(digits);
    let same_length = std::str::from_utf8(length).is_ok_and(|text| text.parse() == Ok(plain.len()));
    same_length && rest.len() > plain.len() && rest.starts_with(plain)
}

/// What follows `_Z` or `_ZN` and qualifiers of the member function (`const`, `&`).
fn unqualified(mangled: &[u8]) -> Option<&[u8]> {
    let rest = mangled.strip_prefix(b"_Z")?;
    let Some(mut rest) = rest.strip_prefix(b"N") else { return Some(rest) };
    while let [b'r' | b'V' | b'K' | b'R' | b'O', after @ ..] = rest {
        rest = after;
    }
    Some(rest)
}

/// The names of a C++ function and of the classes and namespaces that it is in, as they are mangled, up to
/// where its parameters start. `None` if templates, operators or abbreviations are part of it.
fn function_name(mangled: &[u8]) -> Option<&[u8]> {
    let text = unqualified(mangled)?;
    let nested = mangled.starts_with(b"_ZN");
    let mut rest = text;
    loop {
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let length: usize = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        rest = rest.get(digits.checked_add(length)?..)?;
        let end = match rest {
            [b'E', ..] if nested => 1,
            // Constructors and destructors.
            [b'C' | b'D', b'0'..=b'5', b'E', ..] if nested => 3,
            [b'0'..=b'9', ..] if nested => continue,
            // The ABI tag of what is returned comes before the parameters.
            [_, ..] if !nested => 0,
            _ => return None,
        };
        return Some(&text[..text.len() - rest.len() + end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wanted: &str, candidates: &[&str]) -> Option<(String, Reason)> {
        let forward = suggest(wanted.as_bytes(), candidates.iter().map(|c| c.as_bytes()));
        let backward = suggest(wanted.as_bytes(), candidates.iter().rev().map(|c| c.as_bytes()));
        assert_eq!(forward, backward);
        forward.map(|s| (String::from_utf8_lossy(s.name).into_owned(), s.reason))
    }

    #[track_caller]
    fn check(wanted: &str, candidates: &[&str], name: &str, reason: Reason) {
        assert_eq!(run(wanted, candidates), Some((name.into(), reason)));
    }

    #[track_caller]
    fn check_none(wanted: &str, candidates: &[&str]) {
        assert_eq!(run(wanted, candidates), None);
    }

    #[test]
    fn edits() {
        check("prinft", &["main", "printf", "sprintf"], "printf", Reason::Edits(1));
        check("initialise", &["initialize", "finalise"], "initialize", Reason::Edits(1));
        check("get_valu", &["get_value", "set_value"], "get_value", Reason::Edits(1));
        check("_Z4foobi", &["_Z5foobai", "_Z9differenti"], "_Z5foobai", Reason::Edits(2));
        check("abcdefgh", &["bacdefhg"], "bacdefhg", Reason::Edits(2));
        check("abcdefgh", &["abcdefghij", "cdefgh"], "abcdefghij", Reason::Edits(2));
        check_none("colour", &["col", "colossus", "flower", "colour"]);
        check_none("abcdefgh", &["badcfegh", "abcxxxgh", "hgfedcba"]);
    }

    #[test]
    fn short_names_must_be_nearer() {
        check("abc", &["abd"], "abd", Reason::Edits(1));
        check_none("abcde", &["abxxe"]);
        check_none("ab", &["ac", "a", "abc", ""]);
        check_none("", &["a"]);
    }

    #[test]
    fn case() {
        check("fooBar", &["foobar", "fooBat"], "foobar", Reason::Case);
        check("x", &["X", "y"], "X", Reason::Case);
    }

    #[test]
    fn linkage() {
        check("_Z3fooi", &["foo", "_Z3fook", "FOO"], "foo", Reason::DefinedAsC);
        check("foo", &["_Z3foov", "fop", "_Z3food"], "_Z3food", Reason::DefinedAsCpp);
        check_none("foo", &["_Z3foo", "_Z4foov", "_Z03xfoov", "_Z99999999999999999999foov", "_ZN3fooEv"]);
    }

    #[test]
    fn parameters() {
        check("_Z3fooi", &["_Z3food", "_Z3fopi", "_ZN3fooEi"], "_Z3food", Reason::Parameters);
        check("_ZN1a3fooEi", &["_ZNK1a3fooEPKc", "_ZN1a4foooEi"], "_ZNK1a3fooEPKc", Reason::Parameters);
        check("_ZN1aC1Ei", &["_ZN1aC1Ev", "_ZN1aC2Ei"], "_ZN1aC1Ev", Reason::Parameters);
        let (old, new) = ("_Z3fooSs", "_Z3fooNSt7__cxx1112basic_stringIcEE");
        check(new, &["_Z3fooi", old], old, Reason::StringAbi);
        check(old, &["_Z3fooi", new], new, Reason::StringAbi);
        check("_ZN1a3getB5cxx11Ev", &["_ZN1a3getB5cxx11Ei"], "_ZN1a3getB5cxx11Ei", Reason::Edits(1));
        check("_Z3getB5cxx11v", &["_Z3getv"], "_Z3getv", Reason::StringAbi);
        check_none("_Z3foo", &["_Z3fooiiiii"]);
        check_none("_ZN3fooE", &["_Z3fooiiiii", "_ZN3foo3barEv", "_ZN99999999999999999999fooE"]);
    }

    #[test]
    fn nobody_types_a_function_for_a_destructor() {
        let found = |wanted: &str, name: &'static str| suggest(wanted.as_bytes(), [name.as_bytes()]);
        assert_eq!(found("_ZN1B1fEv", "_ZN1BD1Ev"), None);
        assert_eq!(found("_ZN1BC1Ev", "_ZN1BD1Ev"), None);
        assert!(found("_ZN3FooD1Ev", "_ZN3FopD1Ev").is_some());
    }

    #[test]
    fn the_nearest_wins_and_ties_go_by_name() {
        let names = ["interval", "internal_", "internals", "Internal"];
        check("internal", &names, "Internal", Reason::Case);
        check("internal", &names[..3], "internal_", Reason::Edits(1));
    }

    /// Against the whole matrix, for all short words over two letters.
    #[test]
    fn distances_are_right() {
        let word = |n: usize| -> Vec<u8> { (0..7).map(|bit| b'a' + (n >> bit & 1) as u8).collect() };
        let words: Vec<Vec<u8>> =
            (0..128).flat_map(|n| (3..=7).map(move |len| word(n)[..len].to_vec())).collect();
        for a in words.iter().step_by(7) {
            let mut search = Search::new(a);
            for b in &words {
                let whole = whole_matrix(a, b);
                for most in [1, 2] {
                    let want = (whole <= usize::from(most)).then_some(whole as u8);
                    let near = a.len().abs_diff(b.len()) <= usize::from(most);
                    assert_eq!(near.then(|| search.distance(b, most)).flatten(), want, "{a:?} {b:?}");
                }
            }
        }
    }

    fn whole_matrix(a: &[u8], b: &[u8]) -> usize {
        let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                d[i][j] = match (i, j) {
                    (0, n) | (n, 0) => n,
                    _ => (d[i - 1][j] + 1)
                        .min(d[i][j - 1] + 1)
                        .min(d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1])),
                };
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
                }
            }
        }
        d[a.len()][b.len()]
    }

    #[test]
    fn a_search_has_an_end() {
        let wanted = "a".repeat(LONGEST);
        let similar = format!("{}{}", "a".repeat(LONGEST - 3), "bbb");
        let mut seen = 0usize;
        let candidates = std::iter::repeat_n(similar.as_bytes(), usize::MAX).inspect(|_| seen += 1);
        assert_eq!(suggest_within(100 * LONGEST, wanted.as_bytes(), candidates), None);
        assert!(seen <= 100);
        check_none(&"x".repeat(LONGEST + 1), &["x"]);
    }
}
