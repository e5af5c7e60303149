//! Where each name of a link is, so that code which refers to it can be relocated again.
//!
//! A name is known by its hash, as everywhere. The table has a place for each number that the link gave to names; what an
//! object mentions is a list of such numbers.

use std::collections::{HashMap, HashSet};

use weld_common::hash::hash_bytes;
use weld_common::par;
use weld_common::relink::fields::Field;
use weld_common::text;

use super::block::Block;
use super::outline;
use crate::address::Rva;
use crate::arch::Place;
use crate::ids::{ObjectId, SectionId, SymbolId};
use crate::options::Input;
use crate::resolve;
use crate::symbol_names::{Entry, Rank, flag};
use crate::symbols::{Kind, Symbol, SyntheticSection};
use crate::synth::image::Image;

/// Names of a run.
const RUN: usize = 4096;

/// What a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// 0 where there is none.
    pub hash: u64,
    pub value: u32,
    /// The output section, and flags.
    info: u32,
    /// The number of the object in whose section it is; [`NOBODY`] if it is in none.
    pub owner: u32,
    /// What that section is to the object ([`super::keys`]). Of a name that something else stands for, the number of
    /// that name, or [`NOBODY`] if it is no name or not known.
    pub key: u32,
}

/// What stands for the number of an object where there is none.
pub const NOBODY: u32 = u32::MAX;

const NO_OUT: u32 = 0xffff;
/// It is at an offset in the image, or an absolute value.
const PLACED: u32 = 1 << 16;
const ABSOLUTE: u32 = 1 << 17;
/// A library or the linker defines it: it is there because somebody refers to it.
const FOREIGN: u32 = 1 << 18;
/// Something refers to it that is not relocated again.
const PINNED: u32 = 1 << 19;
/// Nobody defines it any more, or mentions it.
const GONE: u32 = 1 << 20;
/// The command line asks for it.
const WANTED: u32 = 1 << 21;
/// Nobody defines it, and something else stands for it: a weak external, or a name with an alternate one.
const ALIAS: u32 = 1 << 22;
/// It leads COMDAT sections of which an object does not take just any.
const CHOOSY: u32 = 1 << 23;

impl Name {
    /// Where it is, and in which output section; `None` if that is not known.
    pub fn place(&self) -> Option<(Place, Option<u32>)> {
        let out = Some(self.info & NO_OUT).filter(|out| *out != NO_OUT);
        match self.info & (PLACED | ABSOLUTE) {
            PLACED => Some((Place::At(Rva::new(self.value)), out)),
            ABSOLUTE => Some((Place::Absolute(self.value.into()), None)),
            _ => None,
        }
    }

    /// Where in the image it is.
    pub fn rva(&self) -> Option<u32> {
        (self.info & PLACED != 0).then_some(self.value)
    }

    pub fn is_foreign(&self) -> bool {
        self.info & FOREIGN != 0
    }

    pub fn is_pinned(&self) -> bool {
        self.info & PINNED != 0
    }

    pub fn is_gone(&self) -> bool {
        self.info & GONE != 0
    }

    pub fn is_wanted(&self) -> bool {
        self.info & WANTED != 0
    }

    pub fn is_choosy(&self) -> bool {
        self.info & CHOOSY != 0
    }

    pub fn is_alias(&self) -> bool {
        self.info & ALIAS != 0
    }

    /// It is there now.
    pub fn define(&mut self, rva: u32, out: u32, (owner, key): (u32, u32)) {
        self.value = rva;
        self.info = self.info & (PINNED | WANTED | CHOOSY | ALIAS | FOREIGN) | PLACED | out.min(NO_OUT);
        (self.owner, self.key) = (owner, key);
    }

    /// Nobody defines it any more.
    pub fn lose(&mut self) {
        (self.value, self.info) = (0, GONE | NO_OUT);
        (self.owner, self.key) = (NOBODY, 0);
    }
}

impl Field for Name {
    const SIZE: usize = 24;

    fn put(&self, out: &mut Vec<u8>) {
        self.hash.put(out);
        [self.value, self.info, self.owner, self.key].iter().for_each(|word| word.put(out));
    }

    fn store(&self, out: &mut [u8]) {
        self.hash.store(&mut out[..8]);
        let words = out[8..].chunks_exact_mut(4);
        [self.value, self.info, self.owner, self.key]
            .iter()
            .zip(words)
            .for_each(|(word, out)| word.store(out));
    }

    fn take(rest: &mut &[u8]) -> Option<Name> {
        let hash = u64::take(rest)?;
        let mut word = || u32::take(rest);
        Some(Name { hash, value: word()?, info: word()?, owner: word()?, key: word()? })
    }
}

/// The names of a link, of whose objects that is known.
pub fn of(image: &Image, blocks: &[Block], parallel: bool) -> Vec<u8> {
    let names = &image.resolved.names;
    let runs = par::runs("names for relinks", parallel, names.id_bound(), RUN, |run| {
        let mut bytes = vec![0; run.len() * Name::SIZE];
        for (id, out) in run.zip(bytes.chunks_exact_mut(Name::SIZE)) {
            if let Some(entry) = names.try_get(SymbolId(id as u32)) {
                let symbol = image.symbols.get(SymbolId(id as u32));
                let (value, mut info) = told(image, symbol);
                let (owner, mut key) = owner(image, blocks, symbol);
                if entry.flags & flag::ROOT != 0 {
                    info |= WANTED;
                }
                if entry.flags & flag::CHOOSY != 0 {
                    info |= CHOOSY;
                }
                if owner != NOBODY && definer(image, entry) != Some(owner) {
                    info |= ALIAS;
                    let stands_for = image.symbols.stand_ins.get(&SymbolId(id as u32));
                    key = stands_for.map_or(NOBODY, |name| name.0);
                }
                // Who refers to it otherwise may have a library asked for it.
                if entry.flags & flag::WEAK != 0 && entry.rank() == Rank::Provided {
                    info |= FOREIGN;
                }
                Name { hash: hash_bytes(entry.name), value, info, owner, key }.store(out);
            }
        }
        bytes
    });
    let mut bytes = par::concat("join names for relinks", parallel, runs);
    let mut mark = |id: SymbolId, flag: u32| {
        let place = id.index() * Name::SIZE + 12;
        if let Some(word) = bytes.get_mut(place..).and_then(|rest| rest.first_chunk_mut::<4>()) {
            *word = (u32::from_le_bytes(*word) | flag).to_le_bytes();
        }
    };
    for (from, to) in &image.resolved.alternates {
        [from, to].into_iter().for_each(|id| mark(*id, FOREIGN));
    }
    let mut pin = |id: SymbolId| mark(id, PINNED);
    for (object, _) in image.resolved.objects.iter().zip(blocks).filter(|(_, block)| !block.is_plain) {
        object.globals().for_each(&mut pin);
    }
    for made in &image.symbols.made {
        if let SyntheticSection::LocalImport(name) = made {
            pin(*name);
        }
    }
    let program = &image.resolved.program;
    let own = [program.tls, program.load_config, program.delay_helper];
    own.into_iter().flatten().for_each(&mut pin);
    bytes
}

/// The object in whose section a symbol is, and what the section is to it.
fn owner(image: &Image, blocks: &[Block], symbol: Symbol) -> (u32, u32) {
    if symbol.kind != Kind::Section {
        return (NOBODY, 0);
    }
    let section = image.sections.get(SectionId(symbol.target));
    if image.made(section).is_some() {
        return (NOBODY, 0);
    }
    let row =
        blocks.get(section.object.index()).and_then(|block| outline::row_of(&block.rows, section.number));
    (section.object.0, row.map_or(0, |row| row.key))
}

/// The object that defines a name.
fn definer(image: &Image, entry: &Entry) -> Option<u32> {
    let is_defined = entry.best != u64::MAX && entry.rank() == Rank::Strong;
    match image.resolved.places.get(entry.file().index()).filter(|_| is_defined)? {
        resolve::Place::Object(id) => Some(id.0),
        _ => None,
    }
}

fn told(image: &Image, symbol: Symbol) -> (u32, u32) {
    let foreign = match symbol.kind {
        Kind::Section => {
            let section = image.sections.get(SectionId(symbol.target));
            let is_file = |id: ObjectId| is_file(image, id);
            if image.made(section).is_none() && is_file(section.object) { 0 } else { FOREIGN }
        }
        Kind::Absolute => 0,
        _ => FOREIGN,
    };
    if symbol.kind == Kind::Undefined {
        return (0, foreign | NO_OUT);
    }
    match image.place(symbol) {
        Place::At(rva) => {
            let out = image.layout.out_of(image.part(symbol), rva).map_or(NO_OUT, |out| out as u32);
            (rva.get(), foreign | PLACED | out.min(NO_OUT))
        }
        Place::Absolute(value) => match u32::try_from(value) {
            Ok(value) => (value, foreign | ABSOLUTE | NO_OUT),
            Err(_) => (0, foreign | NO_OUT),
        },
        Place::Gone => (0, foreign | NO_OUT),
    }
}

/// Whether an object is a file of its own that is linked in any case.
pub fn is_file(image: &Image, id: ObjectId) -> bool {
    let name = &image.object(id).name;
    let is_wanted_only =
        |input: &Input| matches!(input, Input::Lazy(path) if *text::path(path) == *name.path);
    name.member.is_none() && !image.options.inputs.iter().any(is_wanted_only)
}

/// The table of the last link.
pub struct Names {
    pub list: Vec<Name>,
    by_hash: HashMap<u64, u32>,
}

impl Names {
    /// `wanted` are the hashes of the names that are asked for.
    pub fn read(mut bytes: &[u8], wanted: &[u64]) -> Option<Names> {
        let count = bytes.len() / Name::SIZE;
        let list: Vec<Name> = (0..count).map(|_| Name::take(&mut bytes)).collect::<Option<_>>()?;
        let mut by_hash: HashMap<u64, u32> = wanted.iter().map(|hash| (*hash, u32::MAX)).collect();
        for (number, name) in (0..).zip(&list) {
            if let Some(place) = by_hash.get_mut(&name.hash).filter(|_| name.hash != 0) {
                *place = number;
            }
        }
        Some(Names { list, by_hash })
    }

    /// The number of a name that was asked for, if there is one.
    pub fn number(&self, hash: u64) -> Option<u32> {
        self.by_hash.get(&hash).copied().filter(|number| *number != u32::MAX)
    }

    /// Has these names be found, too.
    pub fn ask(&mut self, wanted: impl Iterator<Item = u64>) {
        let new: HashSet<u64> = wanted.filter(|hash| !self.by_hash.contains_key(hash)).collect();
        self.by_hash.extend(new.iter().map(|hash| (*hash, u32::MAX)));
        for (number, name) in (0..).zip(&self.list).filter(|(_, name)| new.contains(&name.hash)) {
            self.by_hash.insert(name.hash, number);
        }
    }

    /// Adds a name that nobody knew; its number.
    pub fn add(&mut self, hash: u64) -> u32 {
        let number = self.list.len() as u32;
        self.list.push(Name { hash, value: 0, info: GONE | NO_OUT, owner: NOBODY, key: 0 });
        self.by_hash.insert(hash, number);
        number
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.list.len() * Name::SIZE);
        self.list.iter().for_each(|name| name.put(&mut out));
        out
    }
}
