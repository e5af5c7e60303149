//! Glob patterns over bytes, and sets of them that are fast on many names.
//!
//! `*` stands for any bytes, `?` for one, `[a-z]` and `[!a-z]` (also `[^a-z]`) for one of a set, and a
//! backslash takes the next byte as it is. There are no named classes and no braces: neither
//! version scripts nor command lines of linkers have them.
//!
//! A [`GlobSet`] answers "which of these patterns, by rank, matches first?" for every symbol of a link:
//! up to millions of names against thousands of patterns. Names without wildcards are in a hash
//! table. The others are sorted by their literal prefix, and every prefix knows the longest other
//! one that it starts with: a binary search finds the longest prefix that a name starts with, a walk
//! along the parents finds all the others, and only their patterns are tried.
//!
//! Budget: for a name against an export list (exact names and `*`) its hash and one probe.

use std::fmt;

use crate::hash::hash_bytes;

/// Why a pattern is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobError {
    UnmatchedBracket,
    EmptyRange,
    NamedClass,
    TrailingBackslash,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GlobError::UnmatchedBracket => "'[' without ']'",
            GlobError::EmptyRange => "a range in brackets ends before it starts",
            GlobError::NamedClass => "classes such as [:alpha:] are not supported",
            GlobError::TrailingBackslash => "nothing follows the backslash at the end",
        })
    }
}

impl std::error::Error for GlobError {}

/// Whether a pattern has anything that does not stand for itself.
pub fn has_wildcard(pattern: &[u8]) -> bool {
    pattern.iter().any(|b| matches!(b, b'*' | b'?' | b'[' | b'\\'))
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Glob {
    /// What every match starts with.
    prefix: Vec<u8>,
    tail: Tail,
}

/// What follows the literal prefix.
#[derive(Clone, Debug)]
enum Tail {
    /// Nothing: the prefix is the name.
    End,
    /// `*`, then these bytes (often none).
    Suffix(Vec<u8>),
    Tokens(Vec<Token>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    Any,
    Star,
    /// A bit for each byte.
    Set(Box<[u64; 4]>),
}

impl Token {
    fn accepts(&self, byte: u8) -> bool {
        match self {
            Token::Byte(b) => *b == byte,
            Token::Any => true,
            Token::Star => false,
            Token::Set(bits) => bits[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0,
        }
    }
}

impl Glob {
    pub fn new(pattern: &[u8]) -> Result<Glob, GlobError> {
        let tokens = tokenize(pattern)?;
        let literal = tokens.iter().take_while(|t| matches!(t, Token::Byte(_))).count();
        let prefix = bytes_of(&tokens[..literal]);
        let tail = match &tokens[literal..] {
            [] => Tail::End,
            [Token::Star, rest @ ..] if rest.iter().all(|t| matches!(t, Token::Byte(_))) => {
                Tail::Suffix(bytes_of(rest))
            }
            rest => Tail::Tokens(rest.to_vec()),
        };
        Ok(Glob { prefix, tail })
    }

    /// Whether the whole of `name` matches.
    pub fn matches(&self, name: &[u8]) -> bool {
        name.strip_prefix(&*self.prefix).is_some_and(|rest| self.tail.matches(rest))
    }
}

impl Tail {
    fn matches(&self, rest: &[u8]) -> bool {
        match self {
            Tail::End => rest.is_empty(),
            Tail::Suffix(suffix) => rest.ends_with(suffix),
            Tail::Tokens(tokens) => tokens_match(tokens, rest),
        }
    }
}

/// The usual search: on a mismatch, the last `*` takes one byte more. At most `tokens * name` steps.
fn tokens_match(tokens: &[Token], name: &[u8]) -> bool {
    let (mut t, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match tokens.get(t) {
            Some(Token::Star) => {
                star = Some((t, n));
                t += 1;
            }
            Some(token) if token.accepts(name[n]) => {
                t += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    (t, n) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    tokens[t..].iter().all(|token| *token == Token::Star)
}

fn bytes_of(tokens: &[Token]) -> Vec<u8> {
    tokens.iter().filter_map(|t| if let Token::Byte(b) = t { Some(*b) } else { None }).collect()
}

fn tokenize(pattern: &[u8]) -> Result<Vec<Token>, GlobError> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        match byte {
            b'*' if tokens.last() == Some(&Token::Star) => {}
            b'*' => tokens.push(Token::Star),
            b'?' => tokens.push(Token::Any),
            b'[' => {
                let (set, len) = parse_set(&pattern[at..])?;
                tokens.push(Token::Set(set));
                at += len;
            }
            b'\\' => {
                tokens.push(Token::Byte(*pattern.get(at).ok_or(GlobError::TrailingBackslash)?));
                at += 1;
            }
            _ => tokens.push(Token::Byte(byte)),
        }
    }
    Ok(tokens)
}

/// The set after a `[`, and how many bytes it takes with its `]`. A `]` in front is a member.
fn parse_set(text: &[u8]) -> Result<(Box<[u64; 4]>, usize), GlobError> {
    let negated = matches!(text.first(), Some(b'!' | b'^'));
    let start = usize::from(negated);
    let mut at = start;
    let mut bits = Box::new([0u64; 4]);
    loop {
        match text.get(at) {
            None => return Err(GlobError::UnmatchedBracket),
            Some(b']') if at > start => break,
            Some(b'[') if text.get(at + 1) == Some(&b':') => return Err(GlobError::NamedClass),
            _ => {}
        }
        let (low, after) = set_member(text, at)?;
        let ranged = text.get(after) == Some(&b'-') && !matches!(text.get(after + 1), None | Some(b']'));
        let (high, after) = if ranged { set_member(text, after + 1)? } else { (low, after) };
        if high < low {
            return Err(GlobError::EmptyRange);
        }
        for byte in low..=high {
            bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
        at = after;
    }
    if negated {
        bits.iter_mut().for_each(|word| *word = !*word);
    }
    Ok((bits, at + 1))
}

fn set_member(text: &[u8], at: usize) -> Result<(u8, usize), GlobError> {
    let escaped = usize::from(text[at] == b'\\');
    let byte = text.get(at + escaped).ok_or(GlobError::UnmatchedBracket)?;
    Ok((*byte, at + escaped + 1))
}

/// Patterns with ranks. Build it with [`GlobSet::add`] and [`GlobSet::add_exact`], then
/// [`GlobSet::finish`].
#[derive(Debug, Default)]
pub struct GlobSet {
    exact: ExactNames,
    globs: Vec<(Glob, u32)>,
    prefixes: Vec<Prefix>,
    /// No glob in `prefixes` has a lower rank.
    lowest_glob_rank: u32,
    /// The lowest rank of `*`, which most export lists end with.
    everything: Option<u32>,
}

/// The patterns that have the same literal prefix.
#[derive(Debug)]
struct Prefix {
    text: Vec<u8>,
    /// The longest other prefix that this one starts with.
    parent: Option<u32>,
    /// Ascending by rank.
    tails: Vec<(u32, Tail)>,
}

impl GlobSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pattern; one without wildcards becomes an exact name.
    pub fn add(&mut self, pattern: &[u8], rank: u32) -> Result<(), GlobError> {
        if pattern == b"*" {
            self.everything = Some(self.everything.map_or(rank, |old| old.min(rank)));
        } else if has_wildcard(pattern) {
            self.globs.push((Glob::new(pattern)?, rank));
        } else {
            self.add_exact(pattern, rank);
        }
        Ok(())
    }

    /// Adds a name in which nothing is a wildcard. Returns the rank it had already, which then stays
    /// if it is lower.
    pub fn add_exact(&mut self, name: &[u8], rank: u32) -> Option<u32> {
        self.exact.insert(name, rank)
    }

    /// Makes the set ready for [`GlobSet::lookup`], after the last pattern.
    pub fn finish(&mut self) {
        let mut globs = std::mem::take(&mut self.globs);
        globs.sort_by(|(a, a_rank), (b, b_rank)| a.prefix.cmp(&b.prefix).then(a_rank.cmp(b_rank)));
        self.lowest_glob_rank = globs.iter().map(|(_, rank)| *rank).min().unwrap_or(u32::MAX);
        for (glob, rank) in globs {
            if self.prefixes.last().is_none_or(|last| last.text != glob.prefix) {
                let mut parent = self.prefixes.len().checked_sub(1).map(|last| last as u32);
                while let Some(p) = parent
                    && !glob.prefix.starts_with(&self.prefixes[p as usize].text)
                {
                    parent = self.prefixes[p as usize].parent;
                }
                self.prefixes.push(Prefix { text: glob.prefix, parent, tails: Vec::new() });
            }
            if let Some(last) = self.prefixes.last_mut() {
                last.tails.push((rank, glob.tail));
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        let no_names = self.exact.entries.is_empty() && self.everything.is_none();
        no_names && self.prefixes.is_empty() && self.globs.is_empty()
    }

    /// The lowest rank among the patterns that match.
    pub fn lookup(&self, name: &[u8]) -> Option<u32> {
        let mut best = match (self.exact.get(name), self.everything) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if self.prefixes.is_empty() || best.is_some_and(|rank| rank <= self.lowest_glob_rank) {
            return best;
        }
        // The longest prefix that the name starts with is the name's predecessor or among its parents.
        let after = self.prefixes.partition_point(|prefix| prefix.text.as_slice() <= name);
        let mut at = after.checked_sub(1).map(|p| p as u32);
        while let Some(p) = at {
            let prefix = &self.prefixes[p as usize];
            if let Some(rest) = name.strip_prefix(&*prefix.text) {
                let better = |rank: u32| best.is_none_or(|best| rank < best);
                let hit = prefix.tails.iter().take_while(|(rank, _)| better(*rank));
                if let Some((rank, _)) = hit.into_iter().find(|(_, tail)| tail.matches(rest)) {
                    best = Some(*rank);
                }
            }
            at = prefix.parent;
        }
        best
    }

    /// Calls `found` with the rank of each pattern that matches, in no meaningful order. Of equal patterns
    /// only the one of the lowest rank counts.
    pub fn all(&self, name: &[u8], mut found: impl FnMut(u32)) {
        self.exact.get(name).into_iter().chain(self.everything).for_each(&mut found);
        let after = self.prefixes.partition_point(|prefix| prefix.text.as_slice() <= name);
        let mut at = after.checked_sub(1).map(|p| p as u32);
        while let Some(p) = at {
            let prefix = &self.prefixes[p as usize];
            if let Some(rest) = name.strip_prefix(&*prefix.text) {
                prefix.tails.iter().filter(|(_, tail)| tail.matches(rest)).for_each(|(rank, _)| found(*rank));
            }
            at = prefix.parent;
        }
    }

    /// Whether any pattern matches.
    pub fn matches(&self, name: &[u8]) -> bool {
        self.lookup(name).is_some()
    }
}

/// A hash table of names. Nearly all names of a link are not in it, so a slot holds enough of the hash
/// to say so without a look at the name.
#[derive(Debug, Default)]
struct ExactNames {
    entries: Vec<(Box<[u8]>, u32)>,
    /// The upper half of the hash, and below it the entry's number plus one; 0 is free. A power of
    /// two, at least twice the entries.
    slots: Vec<u64>,
}

const TAG: u64 = !0 << 32;

impl ExactNames {
    fn get(&self, name: &[u8]) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        self.find(hash_bytes(name), name).map(|entry| self.entries[entry].1)
    }

    fn find(&self, hash: u64, name: &[u8]) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            let entry = (slot as u32 as usize).checked_sub(1)?;
            if (slot ^ hash) & TAG == 0 && *self.entries[entry].0 == *name {
                return Some(entry);
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the rank that the name had. The lower rank stays.
    fn insert(&mut self, name: &[u8], rank: u32) -> Option<u32> {
        let hash = hash_bytes(name);
        if !self.entries.is_empty()
            && let Some(entry) = self.find(hash, name)
        {
            let old = self.entries[entry].1;
            self.entries[entry].1 = old.min(rank);
            return Some(old);
        }
        self.entries.push((name.into(), rank));
        if self.entries.len() * 2 > self.slots.len() {
            self.slots = vec![0; (self.entries.len() * 4).next_power_of_two()];
            for entry in 0..self.entries.len() {
                self.place(hash_bytes(&self.entries[entry].0), entry);
            }
        } else {
            self.place(hash, self.entries.len() - 1);
        }
        None
    }

    fn place(&mut self, hash: u64, entry: usize) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = hash & TAG | (entry as u64 + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern.as_bytes()).unwrap().matches(name.as_bytes())
    }

    #[test]
    fn all_that_match() {
        let mut set = GlobSet::new();
        for (rank, pattern) in
            [".text", ".text.*", "*", ".t*", ".data", "*t", ".text.hot.*"].iter().enumerate()
        {
            set.add(pattern.as_bytes(), rank as u32).unwrap();
        }
        set.finish();
        let all = |name: &str| {
            let mut ranks = Vec::new();
            set.all(name.as_bytes(), |rank| ranks.push(rank));
            ranks.sort_unstable();
            ranks
        };
        assert_eq!(all(".text"), [0, 2, 3, 5]);
        assert_eq!(all(".text.hot.x"), [1, 2, 3, 6]);
        assert_eq!(all(".data"), [2, 4]);
        assert_eq!(all(""), [2]);
    }

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name) in [
            ("", ""),
            ("abc", "abc"),
            ("*", ""),
            ("*", "abc"),
            ("a*", "a"),
            ("*c", "abc"),
            ("a*c", "abbc"),
            ("a*b*c", "aXbYbZc"),
            ("a**c", "ac"),
            ("?b?", "abc"),
            ("*a?c*", "xxabaccyy"),
            ("*ab", "aab"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("abc", "ab"),
            ("a*c", "ab"),
            ("ab*bc", "abc"),
            ("?", ""),
            ("?", "ab"),
            ("*a", "ab"),
            ("a?c*d", "abc"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn sets_and_escapes() {
        assert!(matches("a[0-9x]b", "a5b") && matches("a[0-9x]b", "axb") && !matches("a[0-9x]b", "ayb"));
        assert!(
            matches("[!a-c]", "d") && !matches("[^a-c]", "b") && matches("[]a]", "]") && matches("[a-]", "-")
        );
        assert!(matches(r"a\*b", "a*b") && !matches(r"a\*b", "aXb") && matches(r"[\]]", "]"));
        assert!(matches("[\u{1}-\u{7f}]", "a") && !matches("[a]", "é"));
    }

    #[test]
    fn what_is_no_pattern() {
        let error = |text: &[u8]| Glob::new(text).unwrap_err();
        assert_eq!(error(b"a[b"), GlobError::UnmatchedBracket);
        assert_eq!(error(b"[]"), GlobError::UnmatchedBracket);
        assert_eq!(error(b"[a\\"), GlobError::UnmatchedBracket);
        assert_eq!(error(b"[z-a]"), GlobError::EmptyRange);
        assert_eq!(error(b"[[:alpha:]]"), GlobError::NamedClass);
        assert_eq!(error(b"a\\"), GlobError::TrailingBackslash);
    }

    #[test]
    fn a_pattern_of_many_stars_ends() {
        let pattern = "*a".repeat(50) + "b";
        assert!(!matches(&pattern, &"a".repeat(2000)));
    }

    fn set(patterns: &[&str]) -> GlobSet {
        let mut set = GlobSet::new();
        for (rank, pattern) in patterns.iter().enumerate() {
            set.add(pattern.as_bytes(), rank as u32).unwrap();
        }
        set.finish();
        set
    }

    #[test]
    fn the_lowest_rank_wins() {
        let set = set(&["foo", "foobar", "fo*", "*bar", "f*", "foo?ar", "*"]);
        for (name, rank) in
            [("foo", 0), ("foobar", 1), ("foobaz", 2), ("xbar", 3), ("fbar", 3), ("fx", 4), ("", 6), ("z", 6)]
        {
            assert_eq!(set.lookup(name.as_bytes()), Some(rank), "{name}");
        }
        assert!(GlobSet::new().lookup(b"a").is_none() && GlobSet::new().is_empty());
    }

    #[test]
    fn exact_names_do_not_hide_lower_ranks() {
        let set = set(&["a*", "ab", "a[b]"]);
        assert_eq!(set.lookup(b"ab"), Some(0));
        let mut set = GlobSet::new();
        assert_eq!(set.add_exact(b"x*", 5), None);
        assert_eq!(set.add_exact(b"x*", 3), Some(5));
        set.finish();
        assert_eq!((set.lookup(b"x*"), set.lookup(b"xy")), (Some(3), None));
    }

    #[test]
    fn the_set_agrees_with_trying_all() {
        let parts = ["", "a", "b", "ab", "ba", "*", "?", "a*", "*b", "[ab]"];
        let patterns: Vec<String> =
            parts.iter().flat_map(|x| parts.iter().map(move |y| format!("{x}{y}"))).collect();
        let globs: Vec<Glob> = patterns.iter().map(|p| Glob::new(p.as_bytes()).unwrap()).collect();
        // A stride that is coprime to the number of patterns: ranks differ from the order of prefixes.
        let rank = |i: usize| (i * 37 % patterns.len()) as u32;
        let mut set = GlobSet::new();
        for (i, pattern) in patterns.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
            set.add(pattern.as_bytes(), rank(i)).unwrap();
        }
        set.finish();
        for bits in 0..64u32 {
            let name: Vec<u8> = (0..bits % 7).map(|i| b"abc"[(bits >> i) as usize % 3]).collect();
            let slow = (0..globs.len()).filter(|i| i % 3 == 0 && globs[*i].matches(&name)).map(rank).min();
            assert_eq!(set.lookup(&name), slow, "{name:?}");
        }
    }
}
