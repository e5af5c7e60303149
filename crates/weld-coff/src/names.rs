//! What happens when files announce symbols: the rules of COFF for the shared table of names.
//!
//! A definition outside of COMDAT sections, or the leader of a COMDAT section, beats a common block, which beats an absolute
//! value or an import, which beats the offer of a library. Of equals the earlier file wins. A weak external is
//! a reference with another symbol to fall back on; it asks nothing of libraries.

use std::ops::{Deref, DerefMut};

use weld_common::names::{self, Rules};
pub use weld_common::names::{BinPool, Bins, Entry, IdSink, MAX_FILES, Rank, Record, Rival, pack};

use crate::ids::{FileId, SymbolId};

/// The rank of absolute values and imports.
pub const SOFT: Rank = Rank::Weak;

/// What a record says besides its rank; a name's flags unite those of its records.
pub mod flag {
    /// A reference that somebody has to meet.
    pub const REF: u32 = 1 << 3;
    /// A weak external. The record's symbol says what it falls back on.
    pub const WEAK: u32 = 1 << 4;
    /// The leader of a COMDAT section.
    pub const COMDAT: u32 = 1 << 5;
    /// A definition in a COMDAT section that is not its leader: it counts only if the section is kept.
    pub const MEMBER: u32 = 1 << 6;
    /// A COMDAT section of which the largest is kept.
    pub const LARGEST: u32 = 1 << 7;
    /// A definition in a section that is no COMDAT section.
    pub const PLAIN: u32 = 1 << 8;
    pub const IMPORT: u32 = 1 << 9;
    /// The name is kept whatever refers to it.
    pub const ROOT: u32 = 1 << 10;
    /// A library has been told that the name is wanted.
    pub const WANTED: u32 = 1 << 11;
    /// The leader of a COMDAT section of which not just any copy may be taken, without a look at the others.
    pub const CHOOSY: u32 = 1 << 12;
}

#[derive(Default)]
pub struct Notes {
    /// Entries that have become wanted.
    touched: Vec<u32>,
    /// Definitions that lost to another where only one may be.
    duplicates: Vec<Rival>,
    /// Absolute values and imports of names that have another definition.
    soft: Vec<Rival>,
    commons: Vec<Rival>,
    members: Vec<Rival>,
    aliases: Vec<Rival>,
}

pub struct CoffRules;

impl Rules for CoffRules {
    type Notes = Notes;

    #[inline]
    fn is_symbol(_: u32) -> bool {
        true
    }

    #[inline]
    fn meet(entry: &mut Entry, record: &Record, id: SymbolId, index: u32, notes: &mut Notes) {
        let before = entry.flags;
        entry.flags |= record.bits & !7;
        let rank = Rank::of(record.bits);
        if rank != Rank::Undefined {
            let word = pack(rank, record.file(), record.sym());
            match rank {
                Rank::Strong if record.bits & flag::MEMBER != 0 => notes.members.push(record.rival(id)),
                // Leaders of COMDAT sections may meet one another, and what they come from is looked at later.
                Rank::Strong if entry.rank() == Rank::Strong && (before | record.bits) & flag::PLAIN != 0 => {
                    notes.duplicates.push(entry.loser(word, id));
                }
                Rank::Common => notes.commons.push(record.rival(id)),
                SOFT => notes.soft.push(record.rival(id)),
                _ => {}
            }
            entry.best = entry.best.min(word);
        } else if record.bits & flag::WEAK != 0 {
            notes.aliases.push(record.rival(id));
        }
        const WANTS: u32 = flag::REF | flag::ROOT;
        if entry.flags & WANTS != 0 && before & flag::WANTED == 0 && entry.rank() == Rank::Provided {
            entry.flags |= flag::WANTED;
            notes.touched.push(index);
        }
    }
}

/// The names of a link.
pub struct Names<'a>(names::Names<'a, CoffRules>);

impl<'a> Deref for Names<'a> {
    type Target = names::Names<'a, CoffRules>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Names<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> Names<'a> {
    /// `shard_bits` must depend on the inputs only, never on the number of threads.
    pub fn new(shard_bits: u32) -> Self {
        Names(names::Names::new(shard_bits))
    }

    /// Files that provide what has become wanted since the last call, sorted, each with the first of the names. A name that somebody can do without
    /// is not asked for.
    pub fn wanted(&mut self) -> Vec<(FileId, &'a [u8])> {
        let mut wanted = Vec::new();
        for shard in self.shards_mut() {
            for index in std::mem::take(&mut shard.notes.touched) {
                let entry = &shard.entries[index as usize];
                if entry.rank() == Rank::Provided && entry.flags & flag::WEAK == 0 {
                    wanted.push((entry.file(), entry.name));
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup_by_key(|(file, _)| *file);
        wanted
    }

    /// Whether something defines the name; an offer of a library does not count.
    pub fn is_defined(&self, id: SymbolId) -> bool {
        self.get(id).best != u64::MAX && self.get(id).rank() != Rank::Provided
    }

    pub fn take_duplicates(&mut self) -> Vec<Rival> {
        self.take_notes(|notes| &mut notes.duplicates)
    }

    pub fn take_soft(&mut self) -> Vec<Rival> {
        self.take_notes(|notes| &mut notes.soft)
    }

    /// All common symbols.
    pub fn take_commons(&mut self) -> Vec<Rival> {
        self.take_notes(|notes| &mut notes.commons)
    }

    /// Definitions in COMDAT sections that are not their leaders.
    pub fn take_members(&mut self) -> Vec<Rival> {
        self.take_notes(|notes| &mut notes.members)
    }

    /// Weak externals.
    pub fn take_aliases(&mut self) -> Vec<Rival> {
        self.take_notes(|notes| &mut notes.aliases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weld_common::hash::hash_bytes;

    struct NoIds;
    impl IdSink for NoIds {
        fn set(&self, _: FileId, _: u32, _: u32, _: SymbolId) {}
    }

    fn names(records: &[(&'static str, u32, u32)]) -> Names<'static> {
        let mut names = Names::new(0);
        let mut bins = Bins::new(0);
        for &(name, file, bits) in records {
            bins.push(Record::new(hash_bytes(name.as_bytes()), name.as_bytes(), FileId(file), 9, bits));
        }
        names.enter(&[bins], &NoIds, false);
        names
    }

    const STRONG: u32 = Rank::Strong as u32;
    const UNDEFINED: u32 = Rank::Undefined as u32;
    const PROVIDED: u32 = Rank::Provided as u32;

    #[test]
    fn libraries_are_asked_for_references_only() {
        let mut names = names(&[
            ("f", 5, PROVIDED),
            ("f", 1, UNDEFINED | flag::REF),
            ("w", 6, PROVIDED),
            ("w", 1, UNDEFINED | flag::REF),
            ("w", 2, UNDEFINED | flag::WEAK),
            ("d", 1, UNDEFINED | flag::REF),
            ("d", 7, PROVIDED),
            ("d", 2, STRONG | flag::PLAIN),
        ]);
        assert_eq!(names.wanted(), [(FileId(5), &b"f"[..])]);
        assert_eq!(names.wanted(), []);
        assert_eq!(names.take_aliases().len(), 1);
    }

    #[test]
    fn one_definition_unless_all_are_comdat() {
        let mut names = names(&[
            ("c", 3, STRONG | flag::COMDAT),
            ("c", 2, STRONG | flag::COMDAT),
            ("p", 3, STRONG | flag::COMDAT),
            ("p", 2, STRONG | flag::PLAIN),
            ("a", 4, SOFT as u32),
            ("a", 5, STRONG | flag::PLAIN),
        ]);
        let best = |names: &Names, name: &str| names.get(names.find(name.as_bytes()).unwrap()).file();
        assert_eq!(
            (best(&names, "c"), best(&names, "p"), best(&names, "a")),
            (FileId(2), FileId(2), FileId(5))
        );
        let duplicates: Vec<u32> = names.take_duplicates().iter().map(|rival| rival.file.0).collect();
        assert_eq!(duplicates, [3]);
        assert_eq!(names.take_soft().len(), 1);
    }
}
