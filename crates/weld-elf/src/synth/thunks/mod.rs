//! Range-extension thunks: what branches go through whose targets are too far away, in pools between input
//! sections.
//!
//! A machine says which of its branches may not reach and what can be put in between
//! (`arch::facts::Branches`). While the layout settles, the branches that do not reach are looked for
//! ([`branches`]) and given thunks ([`search`]) in pools, which are chunks between members of the output
//! section that the branch is in ([`pools`]). Thunks are never taken away, so that ends. A branch that
//! reaches after all goes straight to its target.
//!
//! Who applies relocations knows nothing of pools: where a branch turns out not to reach, it is looked up by
//! where it goes to, in a sorted table ([`Thunks::find`]). So branches that reach pay nothing, and machines
//! without thunks neither.
//!
//! Each thunk is shared by all branches of its output section that go to the same place and reach it. It has
//! a symbol, which says where it leads.
//!
//! Pools also take instructions that have to be moved away from where some processors execute them wrongly
//! ([`moved`]).

mod branches;
mod landing;
mod moved;
mod pools;
mod search;

pub use search::{Search, World};

use std::collections::BTreeMap;

pub use branches::Goal;
use moved::Moved;

use super::image::Image;
use super::section::{At, Sizes, Spec, Synthetic};
use super::symbol_record::{InSection, Record};
use crate::arch::facts::{self, Erratum, Facts};
use crate::elf::*;
use crate::ids::*;
use crate::layout::Layout;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::Symbols;
use crate::util::align_up;

/// Code in a pool that goes on somewhere else.
struct Thunk {
    goal: Goal,
    kind: Kind,
    pool: u32,
    /// In the pool, in bytes.
    offset: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    /// For branches that do not reach.
    Branch {
        /// Which of the machine's it is.
        form: usize,
        /// The symbol that the first of the branches names: an object's, by its index there.
        symbol: (ObjectId, u32),
    },
    /// A mark for indirect branches before code that has none: thunks jump there. With a symbol as above.
    Landing { symbol: (ObjectId, u32) },
    /// An instruction that was moved here, and a branch to what follows it.
    Moved(Moved),
}

/// A chunk of thunks.
struct Pool {
    out: OutputSectionId,
    chunk: ChunkId,
    /// In the order in which they lie there.
    thunks: Vec<u32>,
    size: u64,
    align: u64,
}

impl Pool {
    /// Makes room for code of this size and alignment after the other. Returns its offset.
    fn take(&mut self, (size, align): (u64, u64)) -> u64 {
        let offset = align_up(self.size, align);
        self.size = offset + size;
        self.align = self.align.max(align);
        offset
    }
}

/// All thunks of an output.
#[derive(Default)]
pub struct Thunks {
    list: Vec<Thunk>,
    pools: Vec<Pool>,
    /// Output section, target and address of each, ascending; known when everything has its address.
    found: Vec<(OutputSectionId, u64, u64)>,
    /// How far branches reach, if options say so.
    limit: Option<u64>,
    /// Code cannot be read.
    pub unread: bool,
    /// Where the marks are for targets that have none.
    landings: BTreeMap<Goal, u32>,
    /// For which processors instructions are moved.
    errata: Vec<&'static Erratum>,
    /// Section and offset of each instruction that is moved, and where to; known when everything has its
    /// address.
    moved: Vec<(SectionId, u64, u64)>,
    /// Code that needs something in a pool near it, and is in a section too large for that.
    pub stuck: Option<(SectionId, u64)>,
}

/// What the symbol table says of thunks: so many symbols, with names of so many bytes.
#[derive(Clone, Copy, Default)]
pub struct Names {
    pub count: u32,
    pub bytes: u64,
}

impl Thunks {
    /// None yet. Branches reach as far as options say, if that is less than they do.
    pub fn new(options: &Options, machine: &Facts) -> Thunks {
        let all = machine.branches.as_ref().map_or(&[][..], |machine| machine.errata);
        let errata = all.iter().filter(|erratum| options.layout.errata.contains(&erratum.option)).collect();
        Thunks { limit: options.layout.branch_reach, errata, ..Thunks::default() }
    }

    /// Those of an earlier link, for branches: output section, target and address of each, ascending.
    pub fn found_again(found: Vec<(OutputSectionId, u64, u64)>, options: &Options) -> Thunks {
        Thunks { found, limit: options.layout.branch_reach, ..Thunks::default() }
    }

    /// What branches go through that do not reach, in the order in which it lies there: output section, goal
    /// and address. Everything has its address.
    pub fn of_branches(&self, layout: &Layout) -> impl Iterator<Item = (OutputSectionId, Goal, u64)> {
        let all = self.pools.iter().flat_map(|pool| pool.thunks.iter().map(move |number| (pool, number)));
        all.filter_map(|(pool, number)| {
            let thunk = &self.list[*number as usize];
            let start = layout.chunks[pool.chunk.index()].address;
            matches!(thunk.kind, Kind::Branch { .. }).then_some((pool.out, thunk.goal, start + thunk.offset))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How far branches reach if options say so.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// How far branches reach.
    fn reach(&self, machine: &facts::Branches) -> u64 {
        self.limit.map_or(machine.reach, |limit| limit.min(machine.reach))
    }

    /// Whether a branch at `here` reaches `target`.
    pub fn reaches(&self, machine: &facts::Branches, here: u64, target: u64) -> bool {
        reaches(self.reach(machine), here, target)
    }

    /// The address of the thunk that leads from `here`, in output section `out`, to `target`.
    pub fn find(
        &self,
        machine: &facts::Branches,
        (out, here): (OutputSectionId, u64),
        target: u64,
    ) -> Option<u64> {
        let reach = self.reach(machine);
        let key = (out, target, here.saturating_sub(reach));
        let first = self.found.partition_point(|thunk| *thunk < key);
        let same = self.found[first..].iter().take_while(|thunk| (thunk.0, thunk.1) == (out, target));
        same.map(|thunk| thunk.2).find(|at| reaches(reach, here, *at))
    }

    /// Takes in where everything is.
    pub fn place(
        &mut self,
        layout: &Layout,
        (sections, symbols): (&Sections, &Symbols),
        plt: impl Fn(u32) -> u64,
    ) {
        (self.found, self.moved) = (Vec::new(), Vec::new());
        for thunk in &self.list {
            let pool = &self.pools[thunk.pool as usize];
            let at = layout.chunks[pool.chunk.index()].address + thunk.offset;
            match thunk.kind {
                Kind::Branch { .. } => {
                    self.found.push((pool.out, thunk.goal.address(sections, symbols, &plt), at));
                }
                Kind::Moved(moved) => self.moved.push((moved.section, moved.offset, at)),
                Kind::Landing { .. } => {}
            }
        }
        self.found.sort_unstable();
        self.moved.sort_unstable();
    }

    /// What the machine has for code in a pool that is more than a moved instruction.
    fn form(machine: &facts::Branches, (pic, unread): (bool, bool), kind: Kind) -> Option<&facts::Thunk> {
        match kind {
            Kind::Branch { form, .. } => Some(&machine.thunks(pic, unread)[form]),
            Kind::Landing { .. } => machine.landing.as_ref().map(|landing| &landing.code),
            Kind::Moved(_) => None,
        }
    }

    /// Size and alignment of code in a pool.
    fn shape(machine: &facts::Branches, how: (bool, bool), kind: Kind) -> (u64, u64) {
        Self::form(machine, how, kind).map_or(moved::SHAPE, |form| (form.size, form.align))
    }

    /// Where code in a pool goes on: mostly to its goal.
    fn target(&self, image: &Image, thunk: &Thunk) -> u64 {
        if let (Kind::Branch { form: 1.., .. }, Some(landing)) = (thunk.kind, self.landings.get(&thunk.goal))
        {
            let landing = &self.list[*landing as usize];
            let chunk = self.pools[landing.pool as usize].chunk;
            return image.layout.chunks[chunk.index()].address + landing.offset;
        }
        thunk.goal.address(image.sections, image.symbols, |entry| image.plt_address(entry))
    }

    /// What the symbol table will say.
    pub fn names(&self, machine: &Facts, resolved: &Resolved, pic: bool) -> Names {
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
        self.each_symbol(machine, image.resolved, pic, |thunk, name, (kind, offset, size)| {
            let pool = &self.pools[thunk.pool as usize];
            let value = image.layout.chunks[pool.chunk.index()].address + thunk.offset + offset;
            let section = InSection::Defined(pool.out.header());
            take(name, Record { binding: STB_LOCAL, kind, other: 0, value, size, section });
        });
    }

    /// Hands the symbols of the thunks in a pool to `take`: name, address and size.
    pub fn in_pool(&self, image: &Image, pool: u32, mut take: impl FnMut(String, u64, u64)) {
        let Some(machine) = &image.mode.facts().branches else { return };
        let Some(pool) = self.pools.get(pool as usize) else { return };
        let start = image.layout.chunks[pool.chunk.index()].address;
        for thunk in pool.thunks.iter().map(|number| &self.list[*number as usize]) {
            let size = Self::shape(machine, (image.mode.pic, self.unread), thunk.kind).0;
            let form = Self::form(machine, (image.mode.pic, self.unread), thunk.kind);
            let name = match thunk.kind {
                Kind::Branch { symbol, .. } | Kind::Landing { symbol } => {
                    let object = &image.resolved.objects[symbol.0.index()];
                    let name = crate::wording::shown(image.options, object.symbol_name(symbol.1));
                    format!("{}{name}", form.map_or("", |form| form.prefix))
                }
                Kind::Moved(moved) => self.name_of_moved(&moved),
            };
            take(name, start + thunk.offset, size);
        }
    }

    /// Hands each symbol to `take`: of which thunk, its name, its type, its offset there and its size.
    fn each_symbol(
        &self,
        machine: &Facts,
        resolved: &Resolved,
        pic: bool,
        mut take: impl FnMut(&Thunk, &[u8], (u8, u64, u64)),
    ) {
        let Some(machine) = &machine.branches else { return };
        for thunk in self.pools.iter().flat_map(|pool| &pool.thunks).map(|i| &self.list[*i as usize]) {
            let size = Self::shape(machine, (pic, self.unread), thunk.kind).0;
            let form = Self::form(machine, (pic, self.unread), thunk.kind);
            let name = match thunk.kind {
                Kind::Branch { symbol, .. } | Kind::Landing { symbol } => {
                    let name = resolved.objects[symbol.0.index()].symbol_name(symbol.1);
                    [form.map_or("", |form| form.prefix).as_bytes(), name].concat()
                }
                Kind::Moved(moved) => self.name_of_moved(&moved).into_bytes(),
            };
            take(thunk, &name, (STT_FUNC, 0, size));
            if let Some(mark) = machine.code_mark {
                take(thunk, mark.as_bytes(), (STT_NOTYPE, 0, 0));
            }
            if let Some(data) = form.and_then(|form| form.data) {
                take(thunk, machine.data_mark.as_bytes(), (STT_NOTYPE, data, 0));
            }
        }
    }
}

/// Whether a branch at `here` that reaches so far reaches `target`.
fn reaches(reach: u64, here: u64, target: u64) -> bool {
    let distance = target.wrapping_sub(here) as i64;
    if distance < 0 { distance.unsigned_abs() <= reach } else { (distance as u64) < reach }
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
        let thunks = image.thunks;
        let (Some(machine), Some(pool)) = (&facts.branches, thunks.pools.get(self.0 as usize)) else {
            return;
        };
        for thunk in pool.thunks.iter().map(|number| &thunks.list[*number as usize]) {
            let start = thunk.offset as usize;
            let size = Thunks::shape(machine, (image.mode.pic, thunks.unread), thunk.kind).0 as usize;
            let (bytes, address) = (&mut out[start..start + size], at.chunk.address + thunk.offset);
            let target = thunks.target(image, thunk);
            match (thunk.kind, Thunks::form(machine, (image.mode.pic, thunks.unread), thunk.kind)) {
                (Kind::Moved(moved), _) => moved.write(at, machine, bytes, (address, target)),
                (_, Some(form)) => (form.write)(bytes, address, target),
                (_, None) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_one_step_more_backwards() {
        for (target, wanted) in [(0x1000, true), (0xfff, false), (0x2fff, true), (0x3000, false)] {
            assert_eq!(reaches(0x1000, 0x2000, target), wanted, "{target:#x}");
        }
        assert!(reaches(1 << 63, 0, 1 << 63) && reaches(1 << 63, u64::MAX, 0));
    }

    #[test]
    fn the_table_finds_what_is_in_reach() {
        let machine = crate::arch::by_emulation("aarch64linux").unwrap().facts().branches.as_ref().unwrap();
        let [text, init] = [OutputSectionId(1), OutputSectionId(2)];
        let mut thunks = Thunks { limit: Some(0x100), ..Thunks::default() };
        thunks.found = vec![
            (text, 0x9000, 0x1000),
            (text, 0x9000, 0x1300),
            (text, 0x9008, 0x1180),
            (init, 0x9000, 0x1180),
        ];
        let find = |out, here, target| thunks.find(machine, (out, here), target);
        assert_eq!(find(text, 0x10ff, 0x9000), Some(0x1000));
        assert_eq!(find(text, 0x1100, 0x9000), Some(0x1000));
        assert_eq!(find(text, 0x1180, 0x9000), None);
        assert_eq!(find(init, 0x1180, 0x9000), Some(0x1180));
        assert_eq!(find(text, 0x1201, 0x9000), Some(0x1300));
        assert_eq!(find(text, 0x1200, 0x9004), None);
        assert_eq!(find(text, 0x10, 0x9000), None);
    }
}
