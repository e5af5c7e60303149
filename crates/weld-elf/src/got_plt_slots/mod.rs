//! Which symbols have GOT slots, PLT entries and TLS descriptors, and where; and which are copied (the copies
//! themselves are `synth::copyrel`'s).
//!
//! Few symbols need any of these, so what they need lies in a dense side table; a symbol finds its
//! record through one sparse array. Numbers follow the order of files and symbols. Runs of symbols are
//! counted first, so that each can be numbered by a thread of its own.

pub mod definition_order;

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::par;
use weld_common::zeroed;

use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::facts::Facts;
use crate::ids::*;
use crate::live::{Live, LocalNeed, fact};
use crate::sections::LastSlots;
use crate::symbol_names::Names;
use crate::symbols::{Symbol, Symbols, symbol_flags};
use definition_order::Placed;

pub const NONE: u32 = u32::MAX;

/// A symbol with needs. Indices count 8-byte words of `.got`, or entries of the PLT.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// A global symbol, or `NONE` with `local` set.
    pub id: SymbolId,
    pub local: Option<(ObjectId, u32)>,
    /// None for an IFUNC that uses the word of its PLT entry.
    pub got: u32,
    pub got_tp: u32,
    pub tls_gd: u32,
    pub tls_desc: u32,
    pub plt: u32,
    /// What is in `got` and `tls_desc` has pointers that the loader signs.
    pub signed: bool,
    /// They are signed as pointers to code.
    pub code: bool,
    /// Address of a global's definition itself, before a PLT entry stands for it; known after layout.
    pub definition: Address,
}

impl Slot {
    /// What has nothing yet.
    fn of(id: SymbolId) -> Slot {
        Slot {
            id,
            local: None,
            got: NONE,
            got_tp: NONE,
            tls_gd: NONE,
            tls_desc: NONE,
            plt: NONE,
            signed: false,
            code: false,
            definition: Address::ZERO,
        }
    }

    /// The word of `.got` that a relocation of class `class` asks for.
    pub fn of_class(&self, class: Class) -> Option<u32> {
        let word = match class {
            Class::Got | Class::GotRelax => self.got,
            Class::GotTp => self.got_tp,
            Class::TlsGd => self.tls_gd,
            Class::TlsDesc => self.tls_desc,
            _ => NONE,
        };
        (word != NONE).then_some(word)
    }
}

/// What lies in a word (or two) of `.got`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GotEntry {
    /// The symbol's address.
    Address(u32),
    /// Its offset from the thread pointer.
    TpOff(u32),
    /// Two words: that offset, and the same with the other sign.
    TpOffs(u32),
    /// Two words: module and offset.
    TlsGd(u32),
    /// Two words: a descriptor for the loader to fill.
    TlsDesc(u32),
    /// The symbol's address, signed.
    SignedAddress(u32),
    /// The symbol's address with a tag.
    TaggedAddress(u32),
    /// As `TlsDesc`, with both words signed.
    SignedTlsDesc(u32),
    /// Two words: this module and 0.
    TlsLd,
}

impl GotEntry {
    pub fn words(self) -> u32 {
        match self {
            GotEntry::Address(_)
            | GotEntry::TpOff(_)
            | GotEntry::SignedAddress(_)
            | GotEntry::TaggedAddress(_) => 1,
            _ => 2,
        }
    }

    /// The same with signed pointers.
    fn signed(self) -> GotEntry {
        match self {
            GotEntry::Address(slot) => GotEntry::SignedAddress(slot),
            GotEntry::TlsDesc(slot) => GotEntry::SignedTlsDesc(slot),
            other => other,
        }
    }
}

/// What has to have a record. A dynamic relocation that names a symbol needs nothing here.
const RECORDED: u32 = symbol_flags::NEEDS & !symbol_flags::NEEDS_DYNSYM;
/// Names looked at by one task, and symbols given slots by one.
const NAMES: usize = 1 << 15;
const RUN: usize = 1 << 12;

#[derive(Default)]
pub struct Slots {
    /// Those of globals, then those of local symbols by object and index.
    pub list: Vec<Slot>,
    /// Position in `list` plus 1.
    of_symbol: Vec<AtomicU32>,
    /// Where in `list` the local symbols of each object start, up to the last that has any, and where those
    /// end.
    locals: Vec<u32>,
    /// Entries of `.got` with the word they start at.
    pub got: Vec<(u32, GotEntry)>,
    pub got_words: u32,
    /// At which of these words the GOT's base is, and how many there are the loader's.
    pub base: u32,
    pub head: u32,
    /// Words in front of them to which loaders only add, with those at the start; 0 if loaders do not.
    pub local_words: u64,
    pub tls_ld: Option<u32>,
    /// Slots with PLT entries: those bound by name first, then those of IFUNCs of this output.
    pub plt: Vec<u32>,
    /// How many of `plt` are bound by name, and how many of these, the last ones, are spare
    /// ([`crate::sections::spare_imports`]).
    pub jump_slots: u32,
    pub spares: u32,
    /// How many words of `.got`, the last ones, are spare, or were: a later link may have addresses of what is defined
    /// there.
    pub spare_words: u32,
    /// How many of `plt`, the first ones, have no word of `.got.plt` that they jump through: loaders change their code.
    pub without_words: u32,
    /// Words at the start of `.got.plt` for the loader.
    pub reserved: u64,
    /// Relocations that call resolvers are the last of `.rela.plt`, not of `.rela.dyn`: see `synth::rela`.
    pub resolvers_in_plt: bool,
    /// Symbols of shared objects that get a copy here.
    pub copies: Vec<SymbolId>,
}

/// How much of everything the symbols before a run take.
#[derive(Clone, Copy, Default)]
struct Count {
    words: u32,
    jump_slots: u32,
    ifuncs: u32,
}

/// What a run of symbols gets.
#[derive(Default)]
struct Part {
    list: Vec<Slot>,
    got: Vec<(u32, GotEntry)>,
    jump_slots: Vec<u32>,
    ifuncs: Vec<u32>,
    copies: Vec<SymbolId>,
}

impl Slots {
    /// Numbers start after `reserved` words of `.got`. Symbols `apart` have places already, and others those of `last`.
    pub fn allocate(
        live: &Live,
        symbols: &Symbols,
        names: &Names,
        (reserved, apart, last): (u32, &[SymbolId], &LastSlots),
        parallel: bool,
    ) -> Slots {
        let mut globals = with_needs(symbols, names, parallel);
        if !apart.is_empty() {
            globals.retain(|placed| !apart.contains(&placed.id));
        }
        definition_order::restore(&mut globals, last);
        let wanting = Wanting {
            globals: &globals,
            locals: &live.locals,
            both_signs: live.has(fact::BACKWARD_OFFSETS),
            signed: live.has(fact::SIGNED_SLOTS),
            tagged: live.has(fact::TAGGED_SLOTS),
        };
        let mut counts = par::runs("count slots", parallel, wanting.len(), RUN, |run| {
            run.fold(Count::default(), |sum, i| sum.with(&wanting.count(i)))
        });
        let tls_ld = live.has(fact::TLS_LD).then_some((reserved, GotEntry::TlsLd));
        let words = reserved + tls_ld.map_or(0, |(_, entry)| entry.words());
        let first = Count { words, ..Count::default() };
        let total = counts.iter_mut().fold(first, |before, count| {
            let sum = before.with(count);
            *count = before;
            sum
        });
        let of_symbol = zeroed::sparse(symbols.list.len());
        let parts = par::runs("give out slots", parallel, wanting.len(), RUN, |run| {
            let mut count = counts[run.start / RUN];
            count.ifuncs += total.jump_slots;
            wanting.part(run, count, &of_symbol)
        });
        let mut slots = Slots {
            of_symbol,
            locals: starts_of_objects(&live.locals, globals.len()),
            got_words: total.words,
            head: reserved,
            jump_slots: total.jump_slots,
            tls_ld: tls_ld.map(|(word, _)| word),
            ..Slots::default()
        };
        slots.join(tls_ld, parts, parallel);
        slots
    }

    /// Adds so many spare entries of the PLT behind those that are bound by name, of which symbols have `taken` the
    /// first.
    pub fn add_spares(&mut self, count: u32, taken: &[SymbolId]) {
        let named = self.jump_slots;
        for slot in self.list.iter_mut().filter(|slot| slot.plt != NONE && slot.plt >= named) {
            slot.plt += count;
        }
        let first = self.list.len() as u32;
        self.plt.splice(named as usize..named as usize, first..first + count);
        for spare in 0..count {
            let id = taken.get(spare as usize).copied().unwrap_or(SymbolId::NONE);
            if id.is_some() {
                self.of_symbol[id.index()].store(first + spare + 1, Ordering::Relaxed);
            }
            self.list.push(Slot { plt: named + spare, ..Slot::of(id) });
        }
        self.jump_slots += count;
        self.spares = count;
    }

    /// Adds so many spare words of `.got` behind all others, of which symbols have `taken` the first; [`SymbolId::NONE`] is
    /// none.
    pub fn add_spare_words(&mut self, count: u32, taken: &[SymbolId]) {
        for (word, id) in (self.got_words..self.got_words + count).zip(taken) {
            if id.is_some() {
                let slot = self.list.len() as u32;
                self.of_symbol[id.index()].store(slot + 1, Ordering::Relaxed);
                self.got.push((word, GotEntry::Address(slot)));
                self.list.push(Slot { got: word, ..Slot::of(*id) });
            }
        }
        self.got_words += count;
        self.spare_words = count;
    }

    /// How many entries of the PLT are bound by names that the link had when it was made as a whole.
    pub fn named(&self) -> u32 {
        self.jump_slots - self.spares
    }

    /// Has words of what loaders look up for themselves come first. `.dynsym` ends with their symbols, in this
    /// order.
    pub fn put_looked_up_first(&mut self, symbols: &Symbols) {
        let is_so = |entry: &GotEntry| match entry {
            GotEntry::Address(slot) => {
                let id = self.list[*slot as usize].id;
                id.is_some() && symbols[id].has(symbol_flags::PREEMPTIBLE)
            }
            _ => false,
        };
        self.got.sort_by_key(|(word, entry)| (!is_so(entry), *word));
        self.number_words();
    }

    /// Takes entries out, whose slots have no words then.
    pub fn retain(&mut self, mut stays: impl FnMut(GotEntry) -> bool) {
        let (kept, gone): (Vec<_>, Vec<_>) = self.got.iter().partition(|(_, entry)| stays(*entry));
        self.got = kept;
        for (_, entry) in gone {
            match entry {
                GotEntry::Address(slot) => self.list[slot as usize].got = NONE,
                GotEntry::TpOff(slot) => self.list[slot as usize].got_tp = NONE,
                GotEntry::TlsGd(slot) => self.list[slot as usize].tls_gd = NONE,
                GotEntry::TlsLd => self.tls_ld = None,
                _ => {}
            }
        }
        self.number_words();
    }

    /// Moves the GOT's base, where the loader's words are, behind the first entries, if there are more words than the
    /// `reach` that code reaches from there: of 10 000 words, 8192 of them in reach, 1808 come first, then the base. No more
    /// than `reach` of them, so that the first stay in reach whatever their number.
    pub fn move_base(&mut self, reach: u32) {
        let head = self.head;
        let excess = self.got_words.saturating_sub(reach).min(reach);
        if excess > 0 {
            let before =
                |behind: usize| self.got.get(behind).map_or(self.got_words, |(word, _)| *word) - head;
            let behind = self.got.partition_point(|(word, _)| *word < head + excess);
            // Entries of two words are not cut.
            self.base = if before(behind) > reach { before(behind - 1) } else { before(behind) };
            self.number_words();
        }
    }

    /// How many bytes of `.got` are in front of the base.
    pub fn in_front(&self, machine: &Facts) -> u64 {
        u64::from(self.base) * machine.slot()
    }

    /// Gives entries the words that follow one another, but for the loader's at the base.
    fn number_words(&mut self) {
        let (head, mut next) = (self.head, 0);
        for (word, entry) in &mut self.got {
            next += if next == self.base { head } else { 0 };
            *word = next;
            next += entry.words();
            match *entry {
                GotEntry::Address(slot) => self.list[slot as usize].got = *word,
                GotEntry::TpOff(slot) => self.list[slot as usize].got_tp = *word,
                GotEntry::TlsGd(slot) => self.list[slot as usize].tls_gd = *word,
                GotEntry::TlsLd => self.tls_ld = Some(*word),
                // Machines with such loaders have no others.
                _ => {}
            }
        }
        self.got_words = next + if next == self.base { head } else { 0 };
    }

    /// The symbols that loaders look up for themselves, once their words come first.
    pub fn looked_up(&self, symbols: &Symbols) -> Vec<SymbolId> {
        let id = |(_, entry): &(u32, GotEntry)| match entry {
            GotEntry::Address(slot) => Some(self.list[*slot as usize].id),
            _ => None,
        };
        let ids = self.got.iter().map_while(id);
        ids.take_while(|id| id.is_some() && symbols[*id].has(symbol_flags::PREEMPTIBLE)).collect()
    }

    /// Their entries.
    pub fn looked_up_entries(&self, symbols: &Symbols) -> impl Iterator<Item = GotEntry> {
        let count = self.looked_up(symbols).len();
        self.got[..count].iter().map(|(_, entry)| *entry)
    }

    /// Slots that an earlier link gave out: those of globals, whose ids are below `bound`, then those of
    /// local symbols of object 0, by symbol. What they hold together is not known.
    pub fn found_again(list: Vec<Slot>, bound: usize) -> Slots {
        let of_symbol: Vec<AtomicU32> = (0..bound).map(|_| AtomicU32::new(0)).collect();
        let globals = list.partition_point(|slot| slot.local.is_none());
        for (i, slot) in list[..globals].iter().enumerate() {
            of_symbol[slot.id.index()].store(i as u32 + 1, Ordering::Relaxed);
        }
        let locals = vec![globals as u32, list.len() as u32];
        Slots { list, of_symbol, locals, ..Slots::default() }
    }

    /// Takes in what each run has; `first` is what lies before all in `.got`.
    fn join(&mut self, first: Option<(u32, GotEntry)>, parts: Vec<Part>, parallel: bool) {
        let (mut list, mut got) = (Vec::with_capacity(parts.len()), Vec::with_capacity(parts.len() + 1));
        got.extend(first.map(|entry| vec![entry]));
        let (mut plt, mut ifuncs) = (Vec::with_capacity(2 * parts.len()), Vec::with_capacity(parts.len()));
        for mut part in parts {
            list.push(part.list);
            got.push(part.got);
            plt.push(part.jump_slots);
            ifuncs.push(part.ifuncs);
            self.copies.append(&mut part.copies);
        }
        plt.append(&mut ifuncs);
        self.list = par::concat("join slots", parallel, list);
        self.got = par::concat("join words of .got", parallel, got);
        self.plt = par::concat("join PLT entries", parallel, plt);
    }

    /// Where in the list a global's slots are.
    pub fn position(&self, id: SymbolId) -> Option<usize> {
        (self.of_symbol.get(id.index())?.load(Ordering::Relaxed) as usize).checked_sub(1)
    }

    #[inline]
    pub fn of_symbol(&self, id: SymbolId) -> Option<&Slot> {
        match self.of_symbol.get(id.index())?.load(Ordering::Relaxed) {
            0 => None,
            position => Some(&self.list[position as usize - 1]),
        }
    }

    #[inline]
    pub fn of_local(&self, object: ObjectId, symbol: u32) -> Option<&Slot> {
        self.position_of_local(object, symbol).map(|i| &self.list[i])
    }

    /// Where in the list a local symbol's slots are.
    #[inline]
    pub fn position_of_local(&self, object: ObjectId, symbol: u32) -> Option<usize> {
        let bounds = self.locals.get(object.index()..object.index() + 2)?;
        let slots = &self.list[bounds[0] as usize..bounds[1] as usize];
        let found = slots.binary_search_by_key(&symbol, |slot| slot.local.map_or(0, |local| local.1));
        found.ok().map(|i| bounds[0] as usize + i)
    }

    /// Slots with IFUNC entries, in PLT order.
    pub fn ifuncs(&self) -> &[u32] {
        &self.plt[self.jump_slots as usize..]
    }

    /// How many relocations `.rela.plt` has, and `.rela.dyn` for IFUNCs.
    pub fn plt_relocs(&self) -> (usize, usize) {
        match self.resolvers_in_plt {
            true => (self.plt.len(), 0),
            false => (self.jump_slots as usize, self.ifuncs().len()),
        }
    }
}

impl Count {
    fn with(&self, more: &Count) -> Count {
        Count {
            words: self.words + more.words,
            jump_slots: self.jump_slots + more.jump_slots,
            ifuncs: self.ifuncs + more.ifuncs,
        }
    }
}

/// All that need something, in order.
struct Wanting<'w> {
    globals: &'w [Placed],
    locals: &'w [LocalNeed],
    /// Offsets from the thread pointer are there with the other sign, too.
    both_signs: bool,
    /// Some have slots with signed pointers, and some with tags.
    signed: bool,
    tagged: bool,
}

impl Wanting<'_> {
    fn len(&self) -> usize {
        self.globals.len() + self.locals.len()
    }

    /// The symbol, as in a slot, and its flags.
    #[inline]
    fn get(&self, i: usize) -> (SymbolId, Option<(ObjectId, u32)>, u32) {
        let (id, local, flags) = match self.globals.get(i) {
            Some(global) => (global.id, None, global.flags),
            None => {
                let need = &self.locals[i - self.globals.len()];
                (SymbolId::NONE, Some((need.object, need.sym)), need.needs)
            }
        };
        // An IFUNC that is not known by its PLT entry: what that jumps through is its slot.
        let is_own = flags
            & (symbol_flags::NEEDS_PLT | symbol_flags::PREEMPTIBLE | symbol_flags::NEEDS_CANONICAL_PLT)
            == symbol_flags::NEEDS_PLT;
        (id, local, if is_own { flags & !symbol_flags::NEEDS_GOT } else { flags })
    }

    fn count(&self, i: usize) -> Count {
        let (_, _, flags) = self.get(i);
        let plt = u32::from(flags & symbol_flags::NEEDS_PLT != 0);
        let by_name = u32::from(flags & symbol_flags::PREEMPTIBLE != 0);
        let words: u32 = ENTRIES.iter().filter(|e| flags & e.0 != 0).map(|e| e.1(0).words()).sum();
        let words = words + u32::from(self.both_signs && flags & symbol_flags::NEEDS_GOTTP != 0);
        Count { words, jump_slots: plt & by_name, ifuncs: plt & !by_name }
    }

    /// An entry of [`ENTRIES`], or what is in its place where there are others. Inlined where the list is
    /// unrolled.
    #[inline(always)]
    fn entry(&self, bit: u32, entry: MakeEntry, slot: u32, signed: bool, tagged: bool) -> GotEntry {
        match bit {
            symbol_flags::NEEDS_GOTTP if self.both_signs => GotEntry::TpOffs(slot),
            _ if signed => entry(slot).signed(),
            symbol_flags::NEEDS_GOT if tagged => GotEntry::TaggedAddress(slot),
            _ => entry(slot),
        }
    }

    /// Makes the slots of a run. `next` is the number of the first of everything.
    fn part(&self, run: std::ops::Range<usize>, mut next: Count, of_symbol: &[AtomicU32]) -> Part {
        let mut part = Part { list: Vec::with_capacity(run.len()), ..Part::default() };
        for i in run {
            let (id, local, flags) = self.get(i);
            let index = i as u32;
            let signed = self.signed && flags & symbol_flags::SIGNED_SLOT != 0;
            let tagged = self.tagged && flags & symbol_flags::TAGGED_SLOT != 0;
            let mut numbers = [NONE; ENTRIES.len()];
            for (number, (bit, make)) in numbers.iter_mut().zip(ENTRIES) {
                if flags & bit != 0 {
                    let entry = self.entry(bit, make, index, signed, tagged);
                    // What is gone has a word and nothing in it.
                    if id.is_some() || local.is_some() {
                        *number = next.words;
                        part.got.push((next.words, entry));
                    }
                    next.words += entry.words();
                }
            }
            let mut plt = NONE;
            if flags & symbol_flags::NEEDS_PLT != 0 {
                let (number, list) = match flags & symbol_flags::PREEMPTIBLE != 0 {
                    true => (&mut next.jump_slots, &mut part.jump_slots),
                    false => (&mut next.ifuncs, &mut part.ifuncs),
                };
                plt = *number;
                *number += 1;
                list.push(index);
            }
            if local.is_none() && id.is_some() {
                of_symbol[id.index()].store(index + 1, Ordering::Relaxed);
                if flags & symbol_flags::NEEDS_COPY != 0 {
                    part.copies.push(id);
                }
            }
            let [got, tls_desc, tls_gd, got_tp] = numbers;
            part.list.push(Slot {
                id,
                local,
                got,
                got_tp,
                tls_gd,
                tls_desc,
                plt,
                signed,
                code: signed && flags & symbol_flags::SIGNED_CODE != 0,
                definition: Address::ZERO,
            });
        }
        part
    }
}

/// Makes the entry of a slot.
type MakeEntry = fn(u32) -> GotEntry;

/// What lies in the GOT for which need, in this order for each symbol.
const ENTRIES: [(u32, MakeEntry); 4] = [
    (symbol_flags::NEEDS_GOT, GotEntry::Address),
    (symbol_flags::NEEDS_TLSDESC, GotEntry::TlsDesc),
    (symbol_flags::NEEDS_TLSGD, GotEntry::TlsGd),
    (symbol_flags::NEEDS_GOTTP, GotEntry::TpOff),
];

/// Symbols that need a record, in the order of their definitions.
fn with_needs(symbols: &Symbols, names: &Names, parallel: bool) -> Vec<Placed> {
    let lists = par::runs("find symbols with needs", parallel, symbols.list.len(), NAMES, |run| {
        let placed = |(symbol, i)| {
            let flags = Symbol::flags(symbol);
            let id = SymbolId(i as u32);
            (flags & RECORDED != 0).then(|| Placed::new(id, names.get(id), flags))
        };
        symbols.list[run.clone()].iter().zip(run).filter_map(placed).collect()
    });
    let list = par::concat("join symbols with needs", parallel, lists);
    definition_order::sort(list, names, parallel)
}

/// Where the needs of each object start if the first has number `first`.
fn starts_of_objects(locals: &[LocalNeed], first: usize) -> Vec<u32> {
    let mut starts = Vec::new();
    for (i, need) in locals.iter().enumerate() {
        while starts.len() <= need.object.index() {
            starts.push((first + i) as u32);
        }
    }
    if !starts.is_empty() {
        starts.push((first + locals.len()) as u32);
    }
    starts
}

#[cfg(test)]
mod tests {
    use weld_common::walk::Marks;

    use super::*;

    /// A symbol a name, with needs that differ, some in no order of theirs.
    fn symbols(count: usize) -> (Symbols, Names<'static>) {
        let mut names = Names::new(4);
        let mut ids = Vec::new();
        for i in 0..count {
            let name = format!("name{}", i * 7919 % count).leak();
            ids.push(names.insert(name.as_bytes()));
        }
        let make = |_| Symbol::new(0, 0, 0);
        let list: Vec<Symbol> = (0..names.id_bound()).map(make).collect();
        let needs = [
            symbol_flags::NEEDS_GOT,
            symbol_flags::NEEDS_PLT | symbol_flags::PREEMPTIBLE,
            symbol_flags::NEEDS_PLT,
            symbol_flags::NEEDS_TLSGD | symbol_flags::NEEDS_GOTTP,
            symbol_flags::NEEDS_DYNSYM,
            0,
            symbol_flags::NEEDS_COPY,
        ];
        for (i, id) in ids.iter().enumerate() {
            list[id.index()].add(needs[i % needs.len()]);
        }
        (Symbols { list }, names)
    }

    fn live(locals: Vec<LocalNeed>) -> Live {
        let mut live = Live::new(Marks::new(0));
        (live.locals, live.facts) = (locals, fact::TLS_LD);
        live
    }

    #[test]
    fn the_base_moves_no_further_than_code_reaches_and_cuts_no_entry() {
        // Entries of one and of two words, `reach` words behind the base with 3 for the loader.
        for (entries, two, reach, want) in [
            (5, 0, 8, 0),
            (6, 0, 8, 1),
            (6, 1, 8, 2),
            (13, 0, 8, 8),
            (14, 0, 8, 8),
            (40, 0, 8, 8),
            (40, 8, 8, 7),
            (40, 7, 8, 8),
        ] {
            let (mut slots, mut word) = (Slots { head: 3, ..Slots::default() }, 3);
            for i in 0..entries {
                let is_two = two > 0 && i + 1 == two;
                let entry = if is_two { GotEntry::TlsLd } else { GotEntry::Address(i) };
                slots.got.push((word, entry));
                word += entry.words();
                slots.list.push(Slot::of(SymbolId(i)));
            }
            slots.got_words = word;
            slots.move_base(reach);
            assert_eq!((slots.base, slots.got_words), (want, word), "{entries} {two}");
            let mut next = 0;
            for (at, entry) in &slots.got {
                next += if next == slots.base { 3 } else { 0 };
                assert_eq!(*at, next, "{entries} {two}");
                next = at + entry.words();
            }
        }
    }

    #[test]
    fn numbers_are_dense_and_do_not_depend_on_threads() {
        let (symbols, names) = symbols(20_000);
        let needs = symbol_flags::NEEDS_GOT | symbol_flags::NEEDS_PLT;
        let local = |i: u32| LocalNeed { object: ObjectId(i / 3 * 2), sym: i % 3, needs };
        let live = live((0..3000).map(local).collect());
        let slots = Slots::allocate(&live, &symbols, &names, (0, &[], &LastSlots::default()), true);
        let same = Slots::allocate(&live, &symbols, &names, (0, &[], &LastSlots::default()), false);
        assert_eq!(format!("{:?}", slots.list), format!("{:?}", same.list));
        assert_eq!((&slots.got, &slots.plt, &slots.copies), (&same.got, &same.plt, &same.copies));
        let mut word = 0;
        for (at, entry) in &slots.got {
            assert_eq!(*at, word);
            word += entry.words();
        }
        assert_eq!((word, slots.tls_ld), (slots.got_words, Some(0)));
        for (i, &slot) in slots.plt.iter().enumerate() {
            let slot = &slots.list[slot as usize];
            assert_eq!(slot.plt, i as u32);
            let by_name = slot.id.is_some() && symbols[slot.id].has(symbol_flags::PREEMPTIBLE);
            assert_eq!(by_name, i < slots.jump_slots as usize);
        }
        assert_eq!(slots.ifuncs().len(), 3000 + 20_000 / 7);
    }

    #[test]
    fn spare_entries_come_behind_those_with_names() {
        let (symbols, names) = symbols(100);
        let with_plt =
            |symbol: &Symbol| symbol.has(symbol_flags::NEEDS_PLT) && symbol.has(symbol_flags::PREEMPTIBLE);
        let taken = SymbolId(symbols.list.iter().position(with_plt).unwrap() as u32);
        let live = live(Vec::new());
        let all = Slots::allocate(&live, &symbols, &names, (0, &[], &LastSlots::default()), false);
        let mut slots = Slots::allocate(&live, &symbols, &names, (0, &[taken], &LastSlots::default()), false);
        assert_eq!(slots.jump_slots + 1, all.jump_slots);
        let (named, ifuncs) = (slots.jump_slots, slots.ifuncs().len());
        slots.add_spares(4, &[taken]);
        assert_eq!((slots.named(), slots.jump_slots, slots.ifuncs().len()), (named, named + 4, ifuncs));
        assert_eq!(slots.of_symbol(taken).unwrap().plt, named);
        for (i, &slot) in slots.plt.iter().enumerate() {
            assert_eq!(slots.list[slot as usize].plt, i as u32);
        }
    }

    #[test]
    fn symbols_find_their_slots() {
        let (symbols, names) = symbols(100);
        let need = |object, sym| LocalNeed { object: ObjectId(object), sym, needs: symbol_flags::NEEDS_GOT };
        let live = live(vec![need(1, 5), need(1, 9), need(4, 2)]);
        let slots = Slots::allocate(&live, &symbols, &names, (0, &[], &LastSlots::default()), false);
        for (i, symbol) in symbols.list.iter().enumerate() {
            let id = SymbolId(i as u32);
            assert_eq!(slots.of_symbol(id).map(|s| s.id), symbol.has(RECORDED).then_some(id));
        }
        for (object, sym) in [(1, 5), (1, 9), (4, 2)] {
            let slot = slots.of_local(ObjectId(object), sym).unwrap();
            assert_eq!(slot.local, Some((ObjectId(object), sym)));
        }
        for (object, sym) in [(0, 5), (1, 6), (2, 2), (4, 5), (5, 2), (9, 9)] {
            assert!(slots.of_local(ObjectId(object), sym).is_none());
        }
    }
}
