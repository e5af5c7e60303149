//! What inputs and rows are known by from one link to the next.
//!
//! An input is known by its normalised path, the member that it is, and its number among the inputs that have
//! the same; so archives may be sorted anew, and files may come in between. Compilers put random words into
//! paths, which are left out: `rustcAbCdEf/symbols.o`, and the word before `.rcgu.o` in names of rustc's
//! objects. What is in the file does not count yet: a digest of contents would also tell equal files with new
//! times, and members of one name that have changed places.
//!
//! Hashes have 128 bits and are taken for what they are of.

use std::collections::HashMap;

use weld_common::hash::{Hasher, hash_bytes};

use super::State;
use super::rows::*;

/// The hash of `bytes`: two that have nothing to do with one another, for names are short and many.
pub fn hash(bytes: &[u8]) -> u128 {
    let mut second = Hasher::new(SECOND);
    second.bytes(bytes);
    u128::from(hash_bytes(bytes)) << 64 | u128::from(second.finish())
}

/// The seed of the second half.
const SECOND: u64 = 0x5ec0_4d5e_ed0f_2a3b;

/// The hash of several parts: where one ends counts.
pub fn hash_of(parts: &[&[u8]]) -> u128 {
    let mut all = Vec::new();
    for part in parts {
        all.extend_from_slice(&(part.len() as u64).to_le_bytes());
        all.extend_from_slice(part);
    }
    hash(&all)
}

/// Numbers those that have the same hash.
#[derive(Default)]
pub struct Numbers(HashMap<u128, u32>);

impl Numbers {
    /// The key of the next of those that have this hash.
    pub fn key(&mut self, hash: u128) -> u128 {
        let number = self.0.entry(hash).or_insert(0);
        *number += 1;
        hash_of(&[&hash.to_le_bytes(), &number.to_le_bytes()])
    }
}

/// A path without what differs between runs of the same command.
pub fn normalised(path: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (i, part) in path.split('/').enumerate() {
        if !(part == "." || part.is_empty() && i > 0) {
            parts.push(part.to_owned());
        }
    }
    let last = parts.len().saturating_sub(1);
    for (i, part) in parts.iter_mut().enumerate() {
        match part.strip_prefix("rustc") {
            Some(random) if i < last && is_random(random, 6) => "rustc*".clone_into(part),
            _ => {}
        }
    }
    if let Some(name) = parts.last_mut() {
        without_random_word(name);
    }
    parts.join("/")
}

/// `crate.unit.random.rcgu.o`: the unit is known without the random word.
fn without_random_word(name: &mut String) {
    let Some(stem) = name.strip_suffix(".rcgu.o") else { return };
    let words: Vec<&str> = stem.split('.').collect();
    if let [before @ .., random] = &words[..]
        && before.len() >= 2
        && is_random(random, 7)
    {
        *name = format!("{}.*.rcgu.o", before.join("."));
    }
}

fn is_random(word: &str, size: usize) -> bool {
    word.len() == size && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// The key of a slot: of its name, or of its input and symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotKey {
    Name(u128),
    Local(u128, u32),
}

/// The key of what a thunk leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GoalKey {
    Section(u128, u32),
    Slot(SlotKey),
    Name(u128),
    Absolute,
}

/// Keys of rows that refer to others, in terms that hold in every state.
impl State {
    /// Input and ordinal.
    pub fn section_key(&self, row: &SectionRow) -> (u128, u32) {
        (self.inputs[row.input as usize].key, row.ordinal)
    }

    /// Input and symbol.
    pub fn mention_key(&self, row: &MentionRow) -> (u128, u32) {
        (self.inputs[row.input as usize].key, row.symbol)
    }

    /// Part and tag.
    pub fn piece_key(&self, part: &PartRow, row: &PieceRow) -> (u128, u32) {
        (part.key, row.tag)
    }

    /// The signature.
    pub fn group_key(&self, row: &GroupRow) -> u128 {
        self.names[row.name as usize].hash
    }

    /// Group, input and ordinal.
    pub fn candidate_key(&self, row: &CandidateRow) -> (u128, u128, u32) {
        let group = self.group_key(&self.groups[row.group as usize]);
        (group, self.inputs[row.input as usize].key, row.ordinal)
    }

    pub fn slot_key(&self, row: &SlotRow) -> SlotKey {
        match self.names.get(row.name as usize) {
            Some(name) => SlotKey::Name(name.hash),
            None => SlotKey::Local(self.inputs[row.input as usize].key, row.symbol),
        }
    }

    /// Output section, goal, and how far after that.
    pub fn thunk_key(&self, row: &ThunkRow) -> (u128, GoalKey, i64) {
        let goal = match row.goal {
            goal_kind::SECTION => {
                let (input, ordinal) = self.section_key(&self.sections[row.of as usize]);
                GoalKey::Section(input, ordinal)
            }
            goal_kind::PLT => GoalKey::Slot(self.slot_key(&self.slots[row.of as usize])),
            goal_kind::NAME => GoalKey::Name(self.names[row.of as usize].hash),
            _ => GoalKey::Absolute,
        };
        (self.outputs[row.output as usize].key, goal, row.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_is_left_out() {
        for (path, wanted) in [
            ("a.o", "a.o"),
            ("./a/.//b.o", "a/b.o"),
            ("/usr/lib/crt1.o", "/usr/lib/crt1.o"),
            ("../a.o", "../a.o"),
            ("/tmp/rustcq1W2eR/symbols.o", "/tmp/rustc*/symbols.o"),
            ("/tmp/rustcdriver/symbols.o", "/tmp/rustc*/symbols.o"),
            ("/tmp/rustc/symbols.o", "/tmp/rustc/symbols.o"),
            ("rustcabcdef", "rustcabcdef"),
            ("app-1f.8x7ujz5j6sjv.1fqk7eg.rcgu.o", "app-1f.8x7ujz5j6sjv.*.rcgu.o"),
            ("app-1f.8x7ujz5j6sjv.rcgu.o", "app-1f.8x7ujz5j6sjv.rcgu.o"),
            ("app.7rcbfp3-cgu.0.rcgu.o", "app.7rcbfp3-cgu.0.rcgu.o"),
            ("", ""),
        ] {
            assert_eq!(normalised(path), wanted, "{path}");
        }
    }

    #[test]
    fn where_parts_end_counts() {
        assert_ne!(hash_of(&[b"a", b"bc"]), hash_of(&[b"ab", b"c"]));
        let mut numbers = Numbers::default();
        let [one, two] = [0; 2].map(|_| numbers.key(1));
        assert!(one != two && Numbers::default().key(1) == one);
    }
}
