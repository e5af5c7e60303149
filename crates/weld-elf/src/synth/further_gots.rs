//! GOTs beside the first one, for images whose code asks for more slots than 16 bits reach around the register for the
//! GOT's base, where each object's code has that register for itself ([`crate::arch::facts::LoaderGot`]).
//!
//! The first one holds what loaders fill by themselves, and so every symbol that they look up. Each of the others has
//! the same parts as that one, all of it with relocations: words with addresses of this image, found by what they hold,
//! then those of symbols, then those for thread-local storage. An object asks one GOT for everything: in the order of
//! the command line the first if there is room, else the last, else a new one.
//!
//! What words hold is known when everything has its address; so objects are shared out after a layout with one GOT that
//! is too large, and then there is another layout. Rooms for words with addresses only grow from then on.
//!
//! Source: loaders of glibc and musl, which look for the symbol of `R_MIPS_REL32` in the first GOT; outputs of GNU ld and
//! ld.lld.

use std::collections::HashSet;
use std::ops::Range;

use weld_common::par;

use super::got::{self, Fixup, Kind, Word};
use super::image::Image;
use super::local_got;
use crate::address::Address;
use crate::arch::Visitor;
use crate::arch::class::Class;
use crate::arch::facts::LoaderGot;
use crate::arch::rules::Rules;
use crate::elf::{Rela, SHF_ALLOC};
use crate::got_plt_slots::{GotEntry, Slot};
use crate::ids::*;
use crate::live::SectionOwners;
use crate::mode::Mode;
use crate::symbols::symbol_flags;

/// Objects looked at in one go.
const RUN: usize = 16;

/// Words that are kept free when objects are shared out, of GOTs with at least [`ROOMY`]: pages of addresses may become
/// more when what lies behind the GOTs moves.
const SLACK: u64 = 32;
const ROOMY: u64 = 1024;

/// All GOTs but the first. They lie behind it, in order.
#[derive(Default)]
pub struct FurtherGots {
    /// By object its GOT; 0 is the first one.
    of_object: Vec<u32>,
    list: Vec<FurtherGot>,
    /// The symbol that code without position independence has for the base of its object's GOT.
    base: Option<SymbolId>,
}

/// A GOT. Places are words, counted from its start.
#[derive(Default)]
struct FurtherGot {
    /// Where it starts, in words from the end of the first GOT.
    start: u64,
    /// How many words there are for addresses of this image, and what they hold, ascending.
    room: u64,
    local: Vec<u64>,
    /// What comes after these, in the order of [`GotEntry`], with places.
    entries: Vec<(u32, GotEntry)>,
    /// How many words these have.
    words: u64,
}

impl FurtherGot {
    fn size(&self) -> u64 {
        self.room + self.words
    }

    /// Where an entry is.
    fn place(&self, entry: GotEntry) -> Option<u64> {
        let at = self.entries.binary_search_by_key(&entry, |(_, entry)| *entry).ok()?;
        Some(self.room + u64::from(self.entries[at].0))
    }
}

/// What the code of an object asks for.
#[derive(Default)]
struct Wants {
    local: Vec<u64>,
    entries: Vec<GotEntry>,
    /// Some of it with no more than 16 bits.
    is_near: bool,
}

/// What a GOT holds as it is filled.
#[derive(Default)]
struct Filling {
    local: HashSet<u64>,
    entries: HashSet<GotEntry>,
    /// Of all that is in it, but for what is there in any case.
    words: u64,
    /// Symbols that are there in any case.
    looked_up: HashSet<GotEntry>,
}

impl Filling {
    /// Takes in what an object wants if there are no more than `most` words then; whether it has.
    fn take(&mut self, wants: &Wants, most: u64) -> bool {
        let local = wants.local.iter().filter(|value| !self.local.contains(value)).count() as u64;
        let is_new = |entry: &&GotEntry| !self.entries.contains(entry) && !self.looked_up.contains(entry);
        let more: u64 = wants.entries.iter().filter(is_new).map(|entry| u64::from(entry.words())).sum();
        if self.words + local + more > most && local + more > 0 {
            return false;
        }
        self.words += local + more;
        self.local.extend(&wants.local);
        self.entries.extend(wants.entries.iter().filter(|entry| !self.looked_up.contains(entry)));
        true
    }
}

/// Shares objects out among GOTs of `most` bytes, if one such cannot hold everything. Says, too, which entries the first
/// one has.
pub fn share_out(
    image: &Image,
    owners: &SectionOwners,
    most: u64,
    parallel: bool,
) -> Option<(FurtherGots, HashSet<GotEntry>)> {
    let loader = image.mode.facts().loader_got.as_ref()?;
    let most = most / image.bases.slot;
    let all = u64::from(loader.head) + image.local_words.len() as u64 + u64::from(image.slots.got_words);
    if all <= most {
        return None;
    }
    let objects = &image.resolved.objects;
    let wants = par::runs("find slots by object", parallel, objects.len(), RUN, |run| {
        let of = |number: usize| {
            let number = ObjectId(number as u32);
            image.mode.machine.visit(Finder { image, number })
        };
        run.map(of).collect::<Vec<Wants>>()
    });
    let mut wants: Vec<Wants> = wants.into_iter().flatten().collect();
    if !wants.iter().any(|wants| wants.is_near) {
        return None;
    }
    for slot in &image.live.local_slots {
        if let Some(value) = local_got::word(image, owners, *slot) {
            wants[owners.object(slot.section).index()].local.push(value);
        }
    }
    wants.iter_mut().for_each(|wants| {
        wants.local.sort_unstable();
        wants.local.dedup();
    });
    let most = if most >= ROOMY { most - SLACK } else { most };
    let looked_up: HashSet<GotEntry> = image.slots.looked_up_entries(image.symbols).collect();
    let fixed = u64::from(loader.head) + looked_up.len() as u64;
    let mut first = Filling { looked_up, ..Filling::default() };
    let mut of_object = vec![0; objects.len()];
    let mut fillings: Vec<Filling> = Vec::new();
    for (wants, got) in wants.iter().zip(&mut of_object) {
        if wants.local.is_empty() && wants.entries.is_empty() {
            continue;
        }
        if fixed <= most && first.take(wants, most - fixed) {
            continue;
        }
        if !fillings.last_mut().is_some_and(|last| last.take(wants, most)) {
            let mut new = Filling::default();
            new.take(wants, u64::MAX);
            fillings.push(new);
        }
        *got = fillings.len() as u32;
    }
    if fillings.is_empty() {
        return None;
    }
    let base = image.resolved.names.find(loader.own_base.as_bytes());
    let mut gots = FurtherGots { of_object, list: fillings.into_iter().map(got_of).collect(), base };
    gots.number();
    Some((gots, first.entries))
}

fn got_of(filling: Filling) -> FurtherGot {
    let mut sorted: Vec<GotEntry> = filling.entries.into_iter().collect();
    sorted.sort_unstable();
    let mut words = 0;
    let placed = |entry: GotEntry| {
        words += entry.words();
        (words - entry.words(), entry)
    };
    let entries = sorted.into_iter().map(placed).collect();
    let room = filling.local.len() as u64;
    FurtherGot { start: 0, room, local: Vec::new(), entries, words: words.into() }
}

/// Looks through an object's code for what is not found by what it holds.
struct Finder<'f, 'c, 'a> {
    image: &'f Image<'c, 'a>,
    number: ObjectId,
}

impl Visitor for Finder<'_, '_, '_> {
    type Output = Wants;

    fn visit<R: Rules>(self) -> Wants {
        /// More than 16 bits have.
        const FAR: i64 = 1 << 20;
        let Finder { image, number } = self;
        let object = &image.resolved.objects[number.index()];
        let mut wants = Wants::default();
        // Nobody asks of other machines.
        if const { R::FACTS.loader_got.is_none() } {
            return wants;
        }
        for shndx in 0..object.shdrs.len() as u32 {
            let id = SectionId(object.section_base + shndx);
            if object.shdrs[shndx as usize].sh_flags() & SHF_ALLOC == 0 || !image.live.contains(id) {
                continue;
            }
            for reloc in image.sections.relocs(object, number.index(), image.sections.get(id)) {
                let class = R::class(reloc.kind());
                if is_of_got(class) {
                    wants.is_near |= !R::FACTS.types[reloc.kind() as usize].fits(FAR);
                    let is_there = |entry: &GotEntry| has(image, *entry, class);
                    wants.entries.extend(entry(image, number, reloc, class).filter(is_there));
                }
            }
        }
        wants.entries.sort_unstable();
        wants.entries.dedup();
        wants
    }
}

/// Whether a relocation asks for a slot.
fn is_of_got(class: Class) -> bool {
    matches!(class, Class::Got | Class::GotPage | Class::GotTp | Class::TlsGd | Class::TlsLd)
}

/// Whether the first GOT has an entry, when it has all.
fn has(image: &Image, entry: GotEntry, class: Class) -> bool {
    let class = if class == Class::GotPage { Class::Got } else { class };
    match entry.slot() {
        Some(slot) => image.slots.list[slot as usize].of_class(class).is_some(),
        None => image.slots.tls_ld.is_some(),
    }
}

/// The entry that a relocation asks for, if it is not found by what it holds.
fn entry(image: &Image, object: ObjectId, reloc: &Rela, class: Class) -> Option<GotEntry> {
    if class == Class::TlsLd {
        return Some(GotEntry::TlsLd);
    }
    if matches!(class, Class::Got | Class::GotPage) && image.is_found_by_value(object, reloc) {
        return None;
    }
    let number = image.slot_number(object, reloc.sym())?;
    Some(match class {
        Class::GotTp => GotEntry::TpOff(number),
        Class::TlsGd => GotEntry::TlsGd(number),
        _ => GotEntry::Address(number),
    })
}

/// What the loader does with an entry's words. Those of symbols it does not fill by itself here.
fn fixups(entry: GotEntry, flags: u32, mode: Mode) -> [Fixup; 2] {
    match entry {
        GotEntry::Address(_) if flags & symbol_flags::PREEMPTIBLE != 0 => {
            [Fixup::Symbol(Kind::Address), Fixup::None]
        }
        _ => entry.fixups(flags, mode),
    }
}

impl FurtherGots {
    /// How many words all of them have.
    pub fn words(&self) -> u64 {
        self.list.iter().map(FurtherGot::size).sum()
    }

    fn of(&self, object: ObjectId) -> Option<&FurtherGot> {
        let got = *self.of_object.get(object.index())? as usize;
        self.list.get(got.checked_sub(1)?)
    }

    /// Says where each one starts.
    fn number(&mut self) {
        let mut next = 0;
        for got in &mut self.list {
            got.start = next;
            next += got.size();
        }
    }

    /// What words with addresses hold, GOT by GOT.
    pub fn local_words(&self, image: &Image, owners: &SectionOwners) -> Vec<Vec<u64>> {
        let mut lists = vec![Vec::new(); self.list.len()];
        for slot in &image.live.local_slots {
            let got = self.of_object[owners.object(slot.section).index()] as usize;
            if let Some(list) = got.checked_sub(1)
                && let Some(value) = local_got::word(image, owners, *slot)
            {
                lists[list].push(value);
            }
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        lists
    }

    /// Keeps what words with addresses hold. `false` if there has to be another layout, because there is no room for
    /// some.
    pub fn keep(&mut self, lists: Vec<Vec<u64>>) -> bool {
        let mut fits = true;
        for (got, list) in self.list.iter_mut().zip(lists) {
            fits &= list.len() as u64 <= got.room;
            got.room = got.room.max(list.len() as u64);
            got.local = list;
        }
        self.number();
        fits
    }

    /// Whether words hold what is kept.
    pub fn are_kept(&self, image: &Image, owners: &SectionOwners) -> bool {
        self.local_words(image, owners).iter().eq(self.list.iter().map(|got| &got.local))
    }

    /// How many relocations they have: those that only add, and others.
    pub fn count(&self, mode: Mode, flags: impl Fn(u32) -> u32) -> (u64, u64) {
        let room: u64 = self.list.iter().map(|got| got.room).sum();
        let mut others = 0;
        let mut relative = if mode.pic { room } else { 0 };
        for (_, entry) in self.list.iter().flat_map(|got| &got.entries) {
            for fixup in fixups(*entry, entry.slot().map_or(0, &flags), mode) {
                match fixup {
                    Fixup::None => {}
                    Fixup::Relative => relative += 1,
                    _ => others += 1,
                }
            }
        }
        (relative, others)
    }
}

/// The GOTs of an image.
impl Image<'_, '_> {
    /// Where the GOT's base is for the code of an object.
    pub fn base_of(&self, object: ObjectId) -> Address {
        let got = self.further_gots.and_then(|gots| gots.of(object));
        match (got, &self.mode.facts().loader_got) {
            (Some(got), Some(loader)) => self.start_of(got) + loader.bias,
            _ => self.bases.got_base,
        }
    }

    /// Bytes of the GOT that the code of an object has.
    pub fn got_size(&self, object: ObjectId) -> u64 {
        let first = self.slots.local_words + u64::from(self.slots.got_words);
        let got = self.further_gots.and_then(|gots| gots.of(object));
        self.bases.slot * got.map_or(first, FurtherGot::size)
    }

    /// Whether the first GOT is that of an object.
    pub fn is_in_first_got(&self, object: ObjectId) -> bool {
        self.further_gots.is_none_or(|gots| gots.of(object).is_none())
    }

    /// Where the base is if a relocation refers to it by the symbol that stands for each object's.
    pub fn base_by_symbol(&self, number: ObjectId, reloc: &Rela) -> Option<Address> {
        let gots = self.further_gots?;
        let object = &self.resolved.objects[number.index()];
        let is_global = reloc.sym() >= object.first_global && (reloc.sym() as usize) < object.syms.len();
        (is_global && gots.base == Some(object.global(reloc.sym()))).then(|| self.base_of(number))
    }

    fn start_of(&self, got: &FurtherGot) -> Address {
        self.bases.got + self.bases.slot * (u64::from(self.slots.got_words) + got.start)
    }

    /// The slot that a relocation of class `class` asks for, if that is in one of these GOTs; `Some(None)` if there is
    /// none.
    pub fn slot_in_further(&self, object: ObjectId, reloc: &Rela, class: Class) -> Option<Option<Address>> {
        let got = self.further_gots?.of(object)?;
        let place = entry(self, object, reloc, class).and_then(|entry| got.place(entry));
        Some(place.map(|place| self.start_of(got) + self.bases.slot * place))
    }

    /// The word that holds `value`, an address of this image, in the GOT of an object.
    pub fn word_with(&self, object: ObjectId, loader: &LoaderGot, value: u64) -> Option<Address> {
        let size = self.bases.slot;
        if let Some(got) = self.further_gots.and_then(|gots| gots.of(object)) {
            let word = got.local.binary_search(&value).ok()? as u64;
            return Some(self.start_of(got) + size * word);
        }
        let word = self.local_words.binary_search(&value).ok()? as u64 + u64::from(loader.head);
        Some(self.bases.got.back(size * self.slots.local_words) + size * word)
    }

    /// Shows `visit` all words of a GOT but those with addresses, in order, with the slots that they are for.
    fn each_further(&self, got: &FurtherGot, mut visit: impl FnMut(Option<&Slot>, u64, Word)) {
        let symbol = |slot: Option<&Slot>| slot.map_or(0, |slot| self.slot_address(slot).1);
        got::each_of(self, &got.entries, |slot, mut word, (entry, i)| {
            word.fixup = fixups(entry, symbol(slot), self.mode)[i as usize];
            if matches!(word.fixup, Fixup::Symbol(_)) {
                word.value = 0;
            }
            visit(slot, got.room + u64::from(word.index), word);
        });
    }
}

/// What loaders do with the words of these GOTs: relocations that only add, and others.
pub fn relocs(image: &Image) -> (Vec<Rela>, Vec<Rela>) {
    let (mut relative, mut others) = (Vec::new(), Vec::new());
    let Some(gots) = image.further_gots else { return (relative, others) };
    let types = image.types();
    for got in &gots.list {
        let address = |word: u64| (image.start_of(got) + image.bases.slot * word).get();
        if image.mode.pic {
            relative.extend((0..got.room).map(|word| Rela::make(address(word), 0, types.relative, 0)));
        }
        image.each_further(got, |slot, place, word| {
            let id = slot.map_or(SymbolId::NONE, |slot| slot.id);
            let dynsym = if id.is_some() { image.dynsym.map_or(0, |dynsym| dynsym.index(id)) } else { 0 };
            let list = if word.fixup == Fixup::Relative { &mut relative } else { &mut others };
            list.extend(word.to_rela(types, address(place), dynsym));
        });
    }
    (relative, others)
}

/// Writes words of these GOTs from `first` on, counted from the end of the first GOT.
pub fn write(image: &Image, first: u64, out: &mut [u8]) {
    out.fill(0);
    let Some(gots) = image.further_gots else { return };
    let (size, format) = (image.bases.slot, image.format());
    let part: Range<u64> = first..first + out.len() as u64 / size;
    let mut put = |word: u64, value: u64| {
        if part.contains(&word) {
            let at = (size * (word - first)) as usize;
            format.put(&mut out[at..at + size as usize], value);
        }
    };
    for got in &gots.list {
        if got.start >= part.end || got.start + got.size() <= part.start {
            continue;
        }
        (got.start..).zip(&got.local).for_each(|(word, value)| put(word, *value));
        image.each_further(got, |_, place, word| put(got.start + place, word.value));
    }
}
