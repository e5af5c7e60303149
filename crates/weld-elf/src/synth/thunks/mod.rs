//! Range-extension thunks: what branches go through whose targets are too far away, in pools between input
//! sections.
//!
//! A machine says which of its branches may not reach and what can be put in between
//! (`arch::facts::Branches`). While the layout settles ([`search`]), the branches that do not reach are
//! looked for ([`branches`]) and get thunks from the engine that all formats share ([`weld_common::thunks`]),
//! in pools, which are chunks between members of the output section that the branch is in ([`members`]). A
//! branch that reaches after all goes straight to its target.
//!
//! Who applies relocations knows nothing of pools: where a branch turns out not to reach, it is looked up by
//! where it goes to, in a sorted table ([`Thunks::find`]). So branches that reach pay nothing, and machines
//! without thunks neither.
//!
//! Each thunk is shared by all branches of its output section that go to the same place and reach it. It has
//! a symbol, which says where it leads.
//!
//! Pools also take marks for indirect branches ([`landing`]), and instructions that have to be moved away
//! from where some processors execute them wrongly ([`moved`]).

mod branches;
mod detours;
mod landing;
mod members;
mod moved;
mod round;
mod search;

pub use search::{Search, World};

use std::borrow::Cow;
use std::collections::BTreeMap;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::thunks::intervals::Intervals;
use weld_common::thunks::{self as engine, Form, Reach};

pub use branches::Goal;
use detours::Detoured;
use moved::Moved;

use super::image::Image;
use super::section::{At, Sizes, Spec, Synthetic};
use super::symbol_record::{InSection, Record};
use crate::address::Address;
use crate::arch::facts::{self, Branches, Cure, Erratum, Facts, Situation};
use crate::elf::*;
use crate::ids::*;
use crate::layout::Layout;
use crate::mode::Mode;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::Symbols;

/// What code in a pool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Branches of an output section that do not reach, and a number for the instruction sets of both ends.
    Branch(OutputSectionId, Goal, u8),
    /// A mark for indirect branches before code that has none: thunks jump there.
    Landing(Goal),
    /// An instruction, by its section and offset, that was moved here, and a branch to what follows it.
    Moved(SectionId, u64),
}

impl Key {
    /// Where the code goes on: mostly.
    fn goal(self) -> Goal {
        match self {
            Key::Branch(_, goal, _) | Key::Landing(goal) => goal,
            Key::Moved(section, offset) => Goal::Section(section, offset + 4),
        }
    }
}

/// What the name of code in a pool is made of.
#[derive(Clone, Copy)]
enum Label {
    /// The symbol that the first of the branches names: an object's, by its index there.
    Symbol(ObjectId, u32),
    /// Why an instruction was moved: the number among what options ask for. Its address, as soon as the
    /// layout is final.
    Erratum { number: usize, address: Address },
}

/// The output section that a pool is in, and the member that it was put before.
type Place = (OutputSectionId, usize);
type Engine = engine::Thunks<Key, Place>;

/// All thunks of an output.
#[derive(Default)]
pub struct Thunks {
    engine: Engine,
    intervals: Intervals<OutputSectionId>,
    /// Of each thunk.
    labels: Vec<Label>,
    /// Of each pool.
    chunks: Vec<ChunkId>,
    /// Output section, target, number of instruction sets and address of each, ascending; known when
    /// everything has its address.
    found: Vec<(OutputSectionId, Address, u8, Address)>,
    /// How far branches reach, if options say so.
    limit: Option<u64>,
    /// What code may be used.
    features: u32,
    /// `--pic-veneer`
    moving: bool,
    /// Code cannot be read.
    pub unread: bool,
    /// For which processors instructions are moved.
    errata: Vec<&'static Erratum>,
    /// Each instruction that is moved, by section and offset; known when everything has its address.
    moved: Vec<Moved>,
    /// The branches that go by way of code in pools, by the number of that, and how they go on.
    detours: BTreeMap<u32, Detoured>,
    /// Code that needs something in a pool near it, and is in a section too large for that.
    pub stuck: Option<(SectionId, u64)>,
}

/// A branch on a machine with several instruction sets.
pub struct Change {
    pub reach: Reach,
    pub needs_thunk: bool,
    /// The number for the instruction sets of both ends.
    pub state: u8,
}

/// What a machine has for pools.
struct Code {
    machine: &'static Branches,
    thunks: &'static [facts::Thunk],
    situation: Situation,
    limit: Option<u64>,
}

impl Code {
    /// Form `number` of code for a key; `None` if there is no such, or if it is a moved instruction.
    fn of(&self, key: Key, number: usize) -> Option<&'static facts::Thunk> {
        match key {
            Key::Branch(_, _, state) => match self.machine.sets {
                Some(sets) => (sets.thunks)(state, self.situation).get(number),
                None => self.thunks.get(number),
            },
            Key::Landing(_) => {
                self.machine.landing.as_ref().map(|landing| &landing.code).filter(|_| number == 0)
            }
            Key::Moved(..) => None,
        }
    }

    /// Its shape, if it is to go on to `target` and the GOT's base is `base`.
    fn form_for(
        &self,
        key: Key,
        number: usize,
        target: impl FnOnce() -> Option<Address>,
        base: Address,
    ) -> Option<Form> {
        let Some(thunk) = self.of(key, number).filter(|thunk| thunk.counts_from_base()) else {
            return self.form(key, number);
        };
        // From wherever it lies, or from nowhere.
        let reaches = target().is_none_or(|target| thunk.reaches(base, target, base));
        Some(Form { reach: if reaches { Reach::EVERYTHING } else { Reach::both(0) }, ..thunk.form })
    }

    /// Its shape.
    fn form(&self, key: Key, number: usize) -> Option<Form> {
        let form = match key {
            Key::Moved(..) => {
                let size = self.machine.errata.as_ref().filter(|_| number == 0)?.size();
                // How far it reaches is seen to in the end.
                Form { size, align: 4, reach: Reach::EVERYTHING }
            }
            _ => self.of(key, number)?.form,
        };
        // The first is a branch itself.
        let limit = self.limit.filter(|_| number == 0).unwrap_or(u64::MAX);
        Some(Form { reach: form.reach.at_most(limit), ..form })
    }
}

/// What the symbol table says of thunks: so many symbols, with names of so many bytes.
#[derive(Clone, Copy, Default)]
pub struct Names {
    pub count: u32,
    pub bytes: u64,
}

impl Thunks {
    /// None yet. Branches reach as far as options say, if that is less than they do.
    pub fn new(options: &Options, mode: Mode) -> Thunks {
        let machine = mode.facts();
        let all = machine.branches.as_ref().and_then(|machine| machine.errata.as_ref());
        let all = all.map_or(&[][..], |errata| errata.list);
        let errata = all.iter().filter(|erratum| options.layout.errata.contains(&erratum.option)).collect();
        Thunks {
            limit: options.layout.branch_reach,
            features: mode.features,
            moving: options.layout.pic_veneer,
            errata,
            ..Thunks::default()
        }
    }

    /// Those of an earlier link, for branches: output section, target and address of each, ascending.
    pub fn found_again(found: Vec<(OutputSectionId, Address, Address)>, options: &Options) -> Thunks {
        let found = found.into_iter().map(|(out, target, at)| (out, target, 0, at)).collect();
        Thunks { found, limit: options.layout.branch_reach, ..Thunks::default() }
    }

    /// What branches go through that do not reach, in the order in which it lies there: output section, goal
    /// and address. Everything has its address.
    pub fn of_branches(&self, layout: &Layout) -> impl Iterator<Item = (OutputSectionId, Goal, Address)> {
        self.engine.by_pool().filter_map(|(_, thunk)| match thunk.key {
            Key::Branch(out, goal, _) => Some((out, goal, self.address(layout, thunk))),
            _ => None,
        })
    }

    /// Where code in a pool is. Everything has its address.
    fn address(&self, layout: &Layout, thunk: &engine::Thunk<Key>) -> Address {
        layout.chunks[self.chunks[thunk.pool as usize].index()].address() + thunk.offset
    }

    pub fn is_empty(&self) -> bool {
        self.engine.list.is_empty() && self.found.is_empty()
    }

    /// How far branches reach if options say so.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// How far branches reach whose relocations are of a type; `None` if they never take thunks.
    pub fn reach(&self, machine: &Branches, kind: u32) -> Option<Reach> {
        let reach = match machine.sets {
            Some(sets) => (sets.reach)(kind, self.features),
            None => machine.reach(kind),
        };
        Some(reach?.at_most(self.limit.unwrap_or(u64::MAX)))
    }

    /// How far all branches reach that may take thunks.
    fn least_reach(&self, machine: &Branches) -> u64 {
        machine.least_reach().min(self.limit.unwrap_or(u64::MAX))
    }

    /// The address of the thunk that leads from `here`, in output section `out`, to a target, from one
    /// instruction set to another if there are several.
    pub fn find(
        &self,
        reach: Reach,
        out: OutputSectionId,
        here: Address,
        (target, state): (Address, u8),
    ) -> Option<Address> {
        let key = (out, target, state, Address::new(here.get().saturating_sub(reach.back)));
        let first = self.found.partition_point(|thunk| *thunk < key);
        let same = self.found[first..]
            .iter()
            .take_while(|thunk| (thunk.0, thunk.1, thunk.2) == (out, target, state));
        same.map(|thunk| thunk.3).find(|at| reach.has(here.get(), at.get()))
    }

    /// What a branch of a machine with several instruction sets has to do with them; `None` if it never takes
    /// thunks, or if the machine has one.
    pub fn change(&self, machine: &Branches, jump: &facts::Jump) -> Option<Change> {
        let sets = machine.sets?;
        let reach = self.reach(machine, jump.kind)?;
        let needs_thunk = !reach.has(jump.here, jump.target) || (sets.must_change)(jump);
        let state = (sets.state)(jump);
        Some(Change { reach, needs_thunk, state })
    }

    /// Takes in where everything is.
    pub fn place(
        &mut self,
        layout: &Layout,
        sections: &Sections,
        symbols: &Symbols,
        plt: impl Fn(u32) -> Address,
        mode: Mode,
    ) {
        (self.found, self.moved) = (Vec::new(), Vec::new());
        let Some(machine) = &mode.facts().branches else { return };
        let code = self.code(machine, mode.pic);
        let entry = |thunk: &engine::Thunk<Key>| code.of(thunk.key, thunk.form).map_or(0, |form| form.entry);
        for (number, thunk) in (0..).zip(&self.engine.list) {
            let at = self.address(layout, thunk);
            match thunk.key {
                Key::Branch(out, goal, state) => {
                    let target = goal.address(sections, symbols, &plt);
                    self.found.push((out, target, state, at + entry(thunk)));
                }
                Key::Moved(..) => {
                    let target = |goal: Goal| goal.address(sections, symbols, &plt);
                    let moved = match machine.errata.as_ref().map(|errata| &errata.cure) {
                        Some(Cure::Move) => self.move_to(machine, sections, thunk, at),
                        Some(Cure::Detour(detour)) => {
                            let moved = self.redirect(detour, (layout, sections), number, (&code, &target));
                            let unit =
                                mode.turned_code().and_then(|code| (code.unit)(detour.own_mark.as_bytes()));
                            moved.map(|moved| moved.turned(unit.unwrap_or(1)))
                        }
                        None => None,
                    };
                    self.moved.extend(moved);
                }
                Key::Landing(_) => {}
            }
        }
        self.found.sort_unstable();
        self.moved.sort_unstable_by_key(|moved| (moved.section, moved.offset));
    }

    /// Whether there is code in a pool for a key.
    fn has(&self, key: Key) -> bool {
        self.engine.with_key(key).next().is_some()
    }

    fn code(&self, machine: &'static Branches, pic: bool) -> Code {
        let situation =
            Situation { moving: pic || self.moving, unread: self.unread, features: self.features };
        Code { machine, thunks: machine.thunks(pic, self.unread), situation, limit: self.limit }
    }

    /// Where code in a pool goes on.
    fn target(&self, image: &Image, thunk: &engine::Thunk<Key>) -> Address {
        let goal = thunk.key.goal();
        if let (Key::Branch(..), 1..) = (thunk.key, thunk.form)
            && let Some(landing) = self.engine.with_key(Key::Landing(goal)).next()
        {
            return self.address(image.layout, &self.engine.list[landing as usize]);
        }
        goal.address(image.sections, image.symbols, |entry| image.plt_address(entry))
    }

    /// What the symbol table will say.
    pub fn names(&self, machine: &'static Facts, resolved: &Resolved, pic: bool) -> Names {
        let mut names = Names::default();
        self.each_symbol(machine, resolved, pic, |_, name, _| {
            names.count += 1;
            names.bytes += name.len() as u64 + 1;
        });
        names
    }

    /// Hands the symbols of all thunks to `take`, with their names.
    pub fn symbols(&self, image: &Image, mut take: impl FnMut(&[u8], Record)) {
        let (machine, pic) = (image.mode.facts(), image.mode.pic);
        let second = machine.second_set().map_or(0, |second| second.other);
        self.each_symbol(machine, image.resolved, pic, |thunk, name, (kind, offset, size)| {
            let other = if offset & 1 != 0 { second } else { 0 };
            let value = self.address(image.layout, thunk).wrapping_add(offset).get();
            let out = self.engine.pools[thunk.pool as usize].place.0;
            let section = InSection::Defined(out.header());
            take(name, Record { binding: STB_LOCAL, kind, other, value, size, section });
        });
    }

    /// Hands the symbols of the thunks in a pool to `take`: name, address and size.
    pub fn in_pool(&self, image: &Image, pool: u32, mut take: impl FnMut(String, Address, u64)) {
        let Some(machine) = &image.mode.facts().branches else { return };
        let code = self.code(machine, image.mode.pic);
        for number in &self.engine.pools[pool as usize].thunks {
            let thunk = &self.engine.list[*number as usize];
            let size = code.form(thunk.key, thunk.form).map_or(0, |form| form.size);
            let (prefix, name) = self.name(&code, *number, image.resolved);
            let name = format!("{prefix}{}", crate::wording::shown(image.options, &name));
            take(name, self.address(image.layout, thunk), size);
        }
    }

    /// What the name of code in a pool begins with, and what it ends with.
    fn name<'a>(&self, code: &Code, number: u32, resolved: &Resolved<'a>) -> (&'static str, Cow<'a, [u8]>) {
        let thunk = &self.engine.list[number as usize];
        match self.labels[number as usize] {
            Label::Symbol(object, symbol) => {
                let prefix = code.of(thunk.key, thunk.form).map_or("", |thunk| thunk.prefix);
                (prefix, resolved.objects[object.index()].symbol_name(symbol).into())
            }
            Label::Erratum { number, address } => {
                (self.errata[number].prefix, format!("{address:X}").into_bytes().into())
            }
        }
    }

    /// Hands each symbol to `take`: of which thunk, its name, its type, its offset there and its size.
    fn each_symbol(
        &self,
        machine: &'static Facts,
        resolved: &Resolved,
        pic: bool,
        mut take: impl FnMut(&engine::Thunk<Key>, &[u8], (u8, u64, u64)),
    ) {
        let Some(machine) = &machine.branches else { return };
        let code = self.code(machine, pic);
        for (number, thunk) in self.engine.by_pool() {
            let size = code.form(thunk.key, thunk.form).map_or(0, |form| form.size);
            let (prefix, name) = self.name(&code, number, resolved);
            let form = code.of(thunk.key, thunk.form);
            let detour = self.detours.get(&number);
            let entry = form.map_or(0, |form| form.entry) + detour.map_or(0, |detour| detour.entry);
            take(thunk, &[prefix.as_bytes(), &name].concat(), (STT_FUNC, entry, size));
            if let Some(mark) = machine.code_mark {
                take(thunk, mark.as_bytes(), (STT_NOTYPE, 0, 0));
            }
            if let Some(detour) = detour {
                take(thunk, detour.mark.as_bytes(), (STT_NOTYPE, 0, 0));
            }
            for (offset, mark) in form.map_or(&[][..], |form| form.marks) {
                take(thunk, mark.as_bytes(), (STT_NOTYPE, *offset, 0));
            }
            if let Some(data) = code.of(thunk.key, thunk.form).and_then(|thunk| thunk.data) {
                take(thunk, machine.data_mark.as_bytes(), (STT_NOTYPE, data, 0));
            }
        }
    }
}

/// A pool, by its number.
pub struct Part(pub u32);

impl Part {
    /// None: they are added while the layout settles.
    pub fn count(_: &Sizes) -> u32 {
        0
    }
}

impl Synthetic for Part {
    fn spec(&self, _: &Sizes) -> Option<Spec> {
        None
    }

    fn work(&self) -> &'static str {
        "thunks"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let image = at.image();
        let facts = image.mode.facts();
        out.fill(facts.filler);
        let (Some(machine), thunks) = (&facts.branches, image.thunks) else { return };
        let (code, base) = (thunks.code(machine, image.mode.pic), image.bases.got_base);
        let pool = thunks.engine.pools.get(self.0 as usize);
        for number in pool.iter().flat_map(|pool| &pool.thunks) {
            let thunk = &thunks.engine.list[*number as usize];
            let Some(form) = code.form(thunk.key, thunk.form) else { continue };
            let bytes = &mut out[thunk.offset as usize..(thunk.offset + form.size) as usize];
            let (address, target) = (at.chunk.address() + thunk.offset, thunks.target(image, thunk));
            match (thunk.key, code.of(thunk.key, thunk.form)) {
                (Key::Moved(section, offset), _) => {
                    match machine.errata.as_ref().map(|errata| &errata.cure) {
                        Some(Cure::Detour(detour)) => {
                            thunks.write_detour(image, detour, (*number, address), &code, bytes)
                        }
                        _ => {
                            let moved = moved::Code { address, jump: machine.jump, next: target };
                            moved.write(at, section, offset, bytes);
                        }
                    }
                }
                (Key::Branch(_, _, state), Some(thunk)) => {
                    let next = machine.sets.map(|sets| Address::new((sets.next)(state, target.get())));
                    if !thunk.reaches(address, target, base) {
                        report_far(image, &thunks.name(&code, *number, image.resolved).1);
                    }
                    thunk.put(bytes, address, next.unwrap_or(target), base);
                    if let Some(order) = image.mode.turned_code() {
                        thunk.turn(order, bytes);
                    }
                }
                (_, Some(thunk)) => thunk.put(bytes, address, target, base),
                (_, None) => {}
            }
        }
    }
}

/// Reports that a thunk cannot go on to its target.
#[cold]
fn report_far(image: &Image, target: &[u8]) {
    let target = crate::wording::shown(image.options, target);
    let text = format!("'{target}' lies too far from a branch to it, also for a thunk");
    image.sink.push(Diagnostic::error(Cause::RelocationOutOfRange, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_finds_what_is_in_reach() {
        let [text, init] = [OutputSectionId(1), OutputSectionId(2)];
        let found =
            [(text, 0x9000, 0x1000), (text, 0x9000, 0x1300), (text, 0x9008, 0x1180), (init, 0x9000, 0x1180)];
        let found = found.map(|(out, target, at)| (out, Address::new(target), 0, Address::new(at))).to_vec();
        let thunks = Thunks { found, ..Thunks::default() };
        let find = |out, here, target| {
            let found = thunks.find(Reach::both(0x100), out, Address::new(here), (Address::new(target), 0));
            found.map(Address::get)
        };
        assert_eq!(find(text, 0x10ff, 0x9000), Some(0x1000));
        assert_eq!(find(text, 0x1100, 0x9000), Some(0x1000));
        assert_eq!(find(text, 0x1180, 0x9000), None);
        assert_eq!(find(init, 0x1180, 0x9000), Some(0x1180));
        assert_eq!(find(text, 0x1201, 0x9000), Some(0x1300));
        assert_eq!(find(text, 0x1200, 0x9004), None);
        assert_eq!(find(text, 0x10, 0x9000), None);
    }
}
