//! What ELF makes of the table of names (`weld_common::symbol_names`): the flags of a name, and which
//! definitions may meet.

pub mod symver;
mod wrap;

use weld_common::symbol_names::{self, Order, Rules};
pub use weld_common::symbol_names::{Bins, Entry, MAX_FILES, Rank, Record, Rival, pack};
pub use wrap::Wrap;

use crate::ids::*;

/// Bits of a record above its rank, or-ed into the name's entry.
pub mod flag {
    /// An object refers to it, not weakly.
    pub const REF_STRONG: u32 = 1 << 3;
    pub const REF_WEAK: u32 = 1 << 4;
    /// A shared object refers to it.
    pub const REF_SHARED: u32 = 1 << 5;
    pub const REF_SHARED_WEAK: u32 = 1 << 6;
    /// A shared object defines it.
    pub const DEF_SHARED: u32 = 1 << 7;
    pub const VIS_HIDDEN: u32 = 1 << 8;
    pub const VIS_PROTECTED: u32 = 1 << 9;
    pub const VIS_INTERNAL: u32 = 1 << 10;
    /// Not of default visibility: only this output can define it.
    pub const INSIDE: u32 = VIS_HIDDEN | VIS_PROTECTED | VIS_INTERNAL;
    /// Some definition or reference spells a version (`foo@V`, `foo@@V`).
    pub const HAS_VERSION: u32 = 1 << 11;
    /// `-u`, `--entry`, `--require-defined`, …: keep the definition.
    pub const ROOT: u32 = 1 << 12;
    /// As `ROOT`, but not a reason to read an archive member (`DT_INIT`, `DT_FINI`).
    pub const KEEP: u32 = 1 << 13;
    /// A lazy file would define it: an archive member, or an object of `--start-lib`.
    pub const OFFERED: u32 = 1 << 14;
    /// A version that the output defines, as a symbol.
    pub const IS_VERSION: u32 = 1 << 15;
    /// A function that uses more registers than others (`arch::facts::VariantCalls`).
    pub const VARIANT_CALLS: u32 = 1 << 16;
    /// A shared object refers to it, not weakly, and to no version of it: a reason to read an archive member,
    /// for which a reference to `foo@V` is none. What a member has as `foo` would take the place of that
    /// version.
    pub const REF_SHARED_PLAIN: u32 = 1 << 17;
    /// Something other than intermediate code mentions it: machine code, a script, the command line.
    pub const REF_NATIVE: u32 = 1 << 18;
    /// Who refers to it is warned: in the state of a link, which notes it for that.
    pub const WARNS: u32 = 1 << 19;
    /// Not a symbol: the signature of section group number `sym` of the file.
    pub const GROUP_RECORD: u32 = 1 << 30;
    /// Seen as wanted and provided; internal to the table.
    pub(super) const WANTED: u32 = 1 << 31;
}

/// What a shard notes of its names.
#[derive(Default)]
pub struct Notes {
    duplicates: Vec<Rival>,
    commons: Vec<Rival>,
}

pub struct ElfRules;

impl Rules for ElfRules {
    type Notes = Notes;
    const OFFER: u32 = Rank::Provided as u32 | flag::OFFERED;
    const LASTING: u32 = flag::ROOT | flag::KEEP;
    const MARK: Option<u8> = Some(b'@');

    fn known_as(name: &[u8]) -> &[u8] {
        symver::known_as(name)
    }

    #[inline]
    fn is_symbol(bits: u32) -> bool {
        bits & flag::GROUP_RECORD == 0
    }

    #[inline]
    fn meet(entry: &mut Entry, record: &Record, id: SymbolId, notes: &mut Notes, order: &impl Order) -> bool {
        let before = entry.flags;
        entry.flags |= record.bits & !7;
        let rank = Rank::of(record.bits);
        if rank != Rank::Undefined {
            let word = pack(rank, record.file(), record.sym());
            match rank {
                Rank::Strong if entry.rank() == Rank::Strong => {
                    notes.duplicates.push(entry.loser(word, id, order));
                }
                Rank::Common => notes.commons.push(record.rival(id)),
                _ => {}
            }
            entry.elect(word, order);
        }
        const WANTS: u32 = flag::REF_STRONG | flag::REF_SHARED_PLAIN | flag::ROOT;
        // What offers the name may not do any more for a reference that is not of default visibility.
        let is_new = before & flag::WANTED == 0 || record.bits & !before & flag::INSIDE != 0;
        let is_wanted = entry.flags & WANTS != 0 && is_new && entry.rank() == Rank::Provided;
        if is_wanted {
            entry.flags |= flag::WANTED;
        }
        is_wanted
    }

    fn is_wanted(_: &Entry) -> bool {
        true
    }

    fn withdraw(notes: &mut Notes, is_one: &impl Fn(SymbolId) -> bool) {
        notes.duplicates.retain(|rival| !is_one(rival.id));
        notes.commons.retain(|rival| !is_one(rival.id));
    }
}

/// The names of a link.
pub type Names<'a> = symbol_names::Names<'a, ElfRules>;

/// How many bits of hashes tell shards of the table apart: so many that one shard stays in the L2 cache.
pub fn shard_bits(input_bytes: u64) -> u32 {
    match input_bytes {
        0..4_000_000 => 0,
        4_000_000..64_000_000 => 4,
        _ => 6,
    }
}

/// Makes every name that is defined or provided somewhere and that `matches` a root.
pub fn add_roots(names: &mut Names, matches: impl Fn(&[u8]) -> bool) {
    for shard in names.shards_mut() {
        for (index, entry) in shard.entries.iter_mut().enumerate() {
            if entry.rank() != Rank::Undefined && matches(entry.name) {
                entry.flags |= flag::ROOT;
                if entry.rank() == Rank::Provided && entry.flags & flag::WANTED == 0 {
                    entry.flags |= flag::WANTED;
                    shard.touched.push(index as u32);
                }
            }
        }
    }
}

/// Names whose best definition so far is common, and that lazy files offer too; sorted.
pub fn offered_commons(names: &Names) -> Vec<SymbolId> {
    let all = names.shards().iter().flat_map(|s| &s.notes.commons).map(|rival| rival.id);
    let offered = |id: &SymbolId| {
        let entry = names.get(*id);
        entry.rank() == Rank::Common && entry.flags & flag::OFFERED != 0
    };
    let mut ids: Vec<SymbolId> = all.filter(offered).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Rivals of strong definitions, in order of file and symbol.
pub fn take_duplicates(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.duplicates)
}

/// All common symbols, in order of file and symbol.
pub fn take_commons(names: &mut Names) -> Vec<Rival> {
    names.take_notes(|notes| &mut notes.commons)
}

#[cfg(test)]
mod tests {
    use weld_common::hash::hash_bytes;

    use super::*;

    struct NoIds;
    impl symbol_names::IdSink for NoIds {
        fn set(&self, _: FileId, _: u32, _: u32, _: SymbolId) {}
    }

    fn record(name: &'static str, file: u32, bits: u32) -> Record<'static> {
        Record::new(hash_bytes(name.as_bytes()), name.as_bytes(), FileId(file), 1, bits)
    }

    #[test]
    fn strong_beats_weak_and_earlier_beats_later() {
        for shard_bits in [0, 4] {
            let mut names = Names::new(shard_bits);
            let mut bins = Bins::new(shard_bits);
            bins.push(record("f", 1, Rank::Weak as u32));
            bins.push(record("f", 3, Rank::Strong as u32));
            bins.push(record("g", 2, Rank::Weak as u32));
            bins.push(record("g", 1, Rank::Weak as u32));
            names.enter(&[bins], &NoIds, false);
            let f = names.get(names.find(b"f").unwrap());
            assert_eq!((f.rank(), f.file()), (Rank::Strong, FileId(3)));
            assert_eq!(names.get(names.find(b"g").unwrap()).file(), FileId(1));
            assert!(names.find(b"h").is_none());
        }
    }

    #[test]
    fn lazy_definitions_are_wanted_by_strong_references_only() {
        let mut names = Names::new(0);
        let mut bins = Bins::new(0);
        bins.push(record("f", 5, Rank::Provided as u32));
        bins.push(record("f", 4, Rank::Provided as u32));
        bins.push(record("f", 1, Rank::Undefined as u32 | flag::REF_STRONG));
        bins.push(record("w", 6, Rank::Provided as u32));
        bins.push(record("w", 1, Rank::Undefined as u32 | flag::REF_WEAK));
        names.enter(&[bins], &NoIds, false);
        assert_eq!(names.wanted(), [(FileId(4), SymbolId(0))]);
        assert_eq!(names.wanted(), []);
    }

    #[test]
    fn commons_that_archives_offer() {
        let mut names = Names::new(1);
        let mut bins = Bins::new(1);
        let offered = Rank::Provided as u32 | flag::OFFERED;
        bins.push(record("block", 5, offered));
        bins.push(record("block", 1, Rank::Weak as u32));
        bins.push(record("block", 2, Rank::Common as u32));
        bins.push(record("block", 3, Rank::Common as u32));
        bins.push(record("defined", 5, offered));
        bins.push(record("defined", 1, Rank::Common as u32));
        bins.push(record("defined", 2, Rank::Strong as u32));
        bins.push(record("alone", 1, Rank::Common as u32));
        names.enter(&[bins], &NoIds, false);
        assert_eq!(offered_commons(&names), [names.find(b"block").unwrap()]);
    }

    #[test]
    fn roots_by_pattern() {
        let mut names = Names::new(2);
        let mut bins = Bins::new(2);
        bins.push(record("f_lazy", 5, Rank::Provided as u32));
        bins.push(record("f_here", 1, Rank::Strong as u32));
        bins.push(record("f_gone", 1, Rank::Undefined as u32 | flag::REF_WEAK));
        bins.push(record("g_lazy", 6, Rank::Provided as u32));
        names.enter(&[bins], &NoIds, false);
        add_roots(&mut names, |name| name.starts_with(b"f_"));
        assert_eq!(names.wanted().iter().map(|w| w.0).collect::<Vec<_>>(), [FileId(5)]);
        let is_root = |name: &str| names.get(names.find(name.as_bytes()).unwrap()).flags & flag::ROOT != 0;
        assert!(is_root("f_here") && !is_root("f_gone") && !is_root("g_lazy"));
    }
}
