//! What happens when files announce symbols: the rules of COFF for the shared table of names.
//!
//! A definition outside of COMDAT sections, or the leader of a COMDAT section, beats a common block, which
//! beats an absolute value or an import, which beats the offer of a library. Of equals the earlier file wins.
//! A weak external is a reference with another symbol to fall back on; it asks nothing of libraries.

use weld_common::symbol_names::{self, Order, Rules};
pub use weld_common::symbol_names::{Bins, Entry, MAX_FILES, Rank, Record, Rival, pack};

use crate::ids::SymbolId;

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
    /// Somebody names it whom a compiler does not see: machine code, the command line, the linker itself.
    pub const NATIVE: u32 = 1 << 13;
}

#[derive(Default)]
pub struct Notes {
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
    const OFFER: u32 = Rank::Provided as u32;
    const LASTING: u32 = flag::ROOT;

    #[inline]
    fn is_symbol(_: u32) -> bool {
        true
    }

    #[inline]
    fn meet(entry: &mut Entry, record: &Record, id: SymbolId, notes: &mut Notes, order: &impl Order) -> bool {
        let before = entry.flags;
        entry.flags |= record.bits & !7;
        let rank = Rank::of(record.bits);
        if rank != Rank::Undefined {
            let word = pack(rank, record.file(), record.sym());
            match rank {
                Rank::Strong if record.bits & flag::MEMBER != 0 => notes.members.push(record.rival(id)),
                // Leaders of COMDAT sections may meet one another, and what they come from is looked at
                // later.
                Rank::Strong if entry.rank() == Rank::Strong && (before | record.bits) & flag::PLAIN != 0 => {
                    notes.duplicates.push(entry.loser(word, id, order));
                }
                Rank::Common => notes.commons.push(record.rival(id)),
                SOFT => notes.soft.push(record.rival(id)),
                _ => {}
            }
            entry.elect(word, order);
        } else if record.bits & flag::WEAK != 0 {
            notes.aliases.push(record.rival(id));
        }
        const WANTS: u32 = flag::REF | flag::ROOT;
        let is_wanted =
            entry.flags & WANTS != 0 && before & flag::WANTED == 0 && entry.rank() == Rank::Provided;
        if is_wanted {
            entry.flags |= flag::WANTED;
        }
        is_wanted
    }

    /// A name that somebody can do without is not asked for.
    fn is_wanted(entry: &Entry) -> bool {
        entry.flags & flag::WEAK == 0
    }

    fn withdraw(notes: &mut Notes, is_one: &impl Fn(SymbolId) -> bool) {
        let Notes { duplicates, soft, commons, members, aliases } = notes;
        for list in [duplicates, soft, commons, members, aliases] {
            list.retain(|rival| !is_one(rival.id));
        }
    }
}

/// The names of a link.
pub type Names<'a> = symbol_names::Names<'a, CoffRules>;

/// How many bits of hashes tell shards of the table apart: one shard for each 16 MiB of input, so that its
/// table stays in the cache; at most 1024.
pub fn shard_bits(bytes: u64) -> u32 {
    (bytes >> 22).max(1).next_power_of_two().trailing_zeros().min(10)
}

/// Whether something defines the name; an offer of a library does not count.
pub fn is_defined(names: &Names, id: SymbolId) -> bool {
    names.get(id).best != u64::MAX && names.get(id).rank() != Rank::Provided
}

/// Definitions that lost to another where only one may be.
pub fn take_duplicates(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.duplicates)
}

/// Absolute values and imports of names that have another definition.
pub fn take_soft(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.soft)
}

/// All common symbols.
pub fn take_commons(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.commons)
}

/// Definitions in COMDAT sections that are not their leaders.
pub fn take_members(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.members)
}

/// Weak externals.
pub fn take_aliases(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.aliases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weld_common::hash::hash_bytes;

    use crate::ids::FileId;

    struct NoIds;
    impl symbol_names::IdSink for NoIds {
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
        assert_eq!(names.wanted(), [(FileId(5), names.find(b"f").unwrap())]);
        assert_eq!(names.wanted(), []);
        assert_eq!(take_aliases(&mut names).len(), 1);
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
        let duplicates: Vec<u32> = take_duplicates(&mut names).iter().map(|rival| rival.file.0).collect();
        assert_eq!(duplicates, [3]);
        assert_eq!(take_soft(&mut names).len(), 1);
    }
}
