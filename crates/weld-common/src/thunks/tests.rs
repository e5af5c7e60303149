//! The engine with a format for toys: one output section, and a machine with two instruction sets.

use super::intervals::{Intervals, Members};
use super::{Branch, Form, Pool, Reach, Thunks};

/// Some code, and branches in it: their offsets, and the sections to whose starts they go.
struct Section {
    size: u64,
    instructions: u8,
    branches: Vec<(u64, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Member {
    Section(usize),
    Pool(u32),
}

#[derive(Clone, Copy)]
enum Policy {
    AtIntervals,
    AfterTheSection,
}

/// The section that a thunk leads to, and the instructions that its callers and it are of.
type Key = (usize, u8);

const REACH: u64 = 0x1000;

/// A branch; a branch to other instructions does not fit in as little; neither do others that go far.
fn form(sections: &[Section], (target, instructions): Key, number: usize) -> Option<Form> {
    let forms: &[(u64, u64)] = match instructions == sections[target].instructions {
        true => &[(4, REACH), (12, 0x4000), (16, 1 << 63)],
        false => &[(20, 1 << 63)],
    };
    forms.get(number).map(|&(size, reach)| Form { size, align: 4, reach: Reach::both(reach) })
}

/// A layout of sections and pools.
struct Toy<'t> {
    sections: &'t [Section],
    members: Vec<Member>,
    /// Where each member is, and ends.
    extents: Vec<(u64, u64)>,
}

impl<'t> Toy<'t> {
    fn new(sections: &'t [Section]) -> Self {
        Toy { sections, members: (0..sections.len()).map(Member::Section).collect(), extents: Vec::new() }
    }

    fn place<P>(&mut self, pools: &[Pool<P>]) {
        let mut end = 0x10_0000;
        let extent = |member: &Member| {
            let size = match *member {
                Member::Section(number) => self.sections[number].size,
                Member::Pool(number) => pools[number as usize].size,
            };
            let start = end;
            end += size;
            (start, end)
        };
        self.extents = self.members.iter().map(extent).collect();
    }

    fn address(&self, member: Member) -> u64 {
        self.extents[self.members.iter().position(|other| *other == member).unwrap()].0
    }
}

impl Members for Toy<'_> {
    type Section = usize;

    fn reach(&self) -> u64 {
        REACH
    }

    fn count(&self) -> usize {
        self.members.len()
    }

    fn extent(&self, member: usize) -> (u64, u64) {
        self.extents[member]
    }

    fn may_open(&self, before: usize) -> bool {
        matches!(self.members[before - 1], Member::Section(_))
    }

    fn find(&self, section: usize) -> usize {
        self.members.iter().position(|member| *member == Member::Section(section)).unwrap()
    }
}

/// All rounds. Returns the layout and the thunks.
fn link(sections: &[Section], policy: Policy) -> (Toy<'_>, Thunks<Key, ((), usize)>) {
    let mut toy = Toy::new(sections);
    let (mut thunks, mut intervals) = (Thunks::default(), Intervals::default());
    for _ in 0..20 {
        toy.place(&thunks.pools);
        thunks.begin(|pool| toy.address(Member::Pool(pool)));
        intervals.begin(&thunks.pools);
        let target = |key: Key| Some(toy.address(Member::Section(key.0)));
        let longer = thunks.lengthen(target, |key, number| form(sections, key, number));
        let (count, known) = (thunks.list.len(), thunks.pools.len());
        for (section, branch) in needing(&toy) {
            let pool = |pools: &mut Vec<Pool<_>>| match policy {
                Policy::AtIntervals => intervals.pool(pools, (), &toy, &branch, section),
                Policy::AfterTheSection => {
                    let after = toy.find(section) + 1;
                    pools.push(Pool::new(((), after), toy.address_before(after)));
                    Some(pools.len() as u32 - 1)
                }
            };
            assert!(thunks.serve(&branch, |number| form(sections, branch.key, number), pool).is_some());
        }
        if !longer && thunks.list.len() == count {
            return (toy, thunks);
        }
        let mut new: Vec<(usize, u32)> =
            (known..thunks.pools.len()).map(|number| (thunks.pools[number].place.1, number as u32)).collect();
        new.sort_unstable();
        new.into_iter().rev().for_each(|(place, number)| toy.members.insert(place, Member::Pool(number)));
    }
    panic!("there is no end");
}

/// The branches that cannot go to their targets by themselves, and their sections.
fn needing(toy: &Toy) -> Vec<(usize, Branch<Key>)> {
    let all = toy.sections.iter().enumerate().flat_map(|(section, code)| {
        code.branches.iter().map(move |(offset, target)| {
            let here = toy.address(Member::Section(section)) + offset;
            let (key, reach) = ((*target, code.instructions), Reach::both(REACH));
            (section, Branch { key, here, target: toy.address(Member::Section(*target)), reach })
        })
    });
    let needs = |branch: &Branch<Key>| {
        toy.sections[branch.key.0].instructions != branch.key.1
            || !branch.reach.has(branch.here, branch.target)
    };
    all.filter(|(_, branch)| needs(branch)).collect()
}

/// Each branch that needs a thunk reaches one for it, and that reaches the target.
fn check((toy, thunks): &(Toy, Thunks<Key, ((), usize)>)) {
    for (_, branch) in needing(toy) {
        let number = thunks.with_key(branch.key).find(|i| branch.reach.has(branch.here, thunks.address(*i)));
        let (thunk, address) = (&thunks.list[number.unwrap() as usize], thunks.address(number.unwrap()));
        assert_eq!(address, toy.address(Member::Pool(thunk.pool)) + thunk.offset);
        let form = form(toy.sections, thunk.key, thunk.form).unwrap();
        assert!(form.reach.has(address, branch.target), "{branch:x?}", branch = branch.here);
        assert!(thunk.offset + form.size <= thunks.pools[thunk.pool as usize].size);
    }
}

fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) % below
}

#[test]
fn code_reaches_one_step_more_backwards() {
    for (target, wanted) in [(0x1000, true), (0xfff, false), (0x2fff, true), (0x3000, false)] {
        assert_eq!(Reach::both(0x1000).has(0x2000, target), wanted, "{target:#x}");
    }
    assert!(Reach::EVERYTHING.has(0, 1 << 63) && Reach::EVERYTHING.has(u64::MAX, 0));
    assert_eq!(Reach { back: 2, ahead: 9 }.at_most(5).less(3), Reach { back: 0, ahead: 2 });
}

#[test]
fn every_branch_finds_a_thunk() {
    let mut state = 1;
    for _ in 0..60 {
        let count = 1 + random(&mut state, 100) as usize;
        let section = |_| {
            let size = 4 * (2 + random(&mut state, 0x80));
            let branch = |_| (4 * random(&mut state, size / 4), random(&mut state, count as u64) as usize);
            let branches = (0..size % 5).map(branch).collect();
            Section { size, instructions: random(&mut state, 2) as u8, branches }
        };
        let sections: Vec<Section> = (0..count).map(section).collect();
        check(&link(&sections, Policy::AtIntervals));
        check(&link(&sections, Policy::AfterTheSection));
    }
}

fn section(size: u64, branches: &[(u64, usize)]) -> Section {
    Section { size, instructions: 0, branches: branches.to_vec() }
}

#[test]
fn other_instructions_need_a_thunk_though_they_are_near() {
    let other = Section { instructions: 1, ..section(8, &[(0, 0)]) };
    let sections = [section(8, &[]), other, section(8, &[(0, 0), (4, 1)])];
    let (_, thunks) = link(&sections, Policy::AtIntervals);
    // The way back has callers of the other set, so each has its own; what is of one set needs none.
    let keys: Vec<Key> = thunks.list.iter().map(|thunk| thunk.key).collect();
    assert_eq!(keys, [(0, 1), (1, 0)]);
    assert_eq!(thunks.pools.iter().map(|pool| pool.size).collect::<Vec<_>>(), [40]);
}

#[test]
fn pools_lie_where_the_policy_says() {
    // Four with branches to the last one.
    let mut sections: Vec<Section> = (0..6).map(|_| section(0x800, &[])).collect();
    sections[..4].iter_mut().for_each(|section| section.branches = vec![(0, 6), (4, 6)]);
    sections.push(section(4, &[]));
    let places = |policy| {
        let (toy, thunks) = link(&sections, policy);
        let pool = |i: usize| toy.members.iter().position(|m| *m == Member::Pool(thunks.list[i].pool));
        let before = |i: usize| toy.members[pool(i).unwrap() - 1];
        assert_eq!(thunks.list.iter().map(|thunk| thunk.form).collect::<Vec<_>>(), [1, 1]);
        (before(0), before(1), thunks.pools.len())
    };
    // The first three reach what is after the first section, from before and from behind.
    let [first, fourth] = [Member::Section(0), Member::Section(3)];
    assert_eq!(places(Policy::AtIntervals), (first, fourth, 6));
    assert_eq!(places(Policy::AfterTheSection), (first, fourth, 2));
}

#[test]
fn a_thunk_grows_when_its_target_moves_away() {
    let sections = [section(4, &[])];
    let shape = |number| form(&sections, (0, 0), number);
    let mut thunks: Thunks<Key, ()> = Thunks::default();
    let branch = |key, here, target| Branch { key, here, target, reach: Reach::both(REACH) };
    let open = |pools: &mut Vec<Pool<()>>| {
        pools.push(Pool::new((), 0x1000));
        Some(0)
    };
    assert_eq!(thunks.serve(&branch((0, 0), 0x800, 0x1900), shape, open), Some(0));
    assert_eq!(thunks.serve(&branch((0, 2), 0x800, 0x1900), shape, |_| Some(0)), Some(1));
    // What reaches it shares it; else there has to be a place.
    assert_eq!(thunks.serve(&branch((0, 0), 0x1800, 0x9000), shape, |_| None), Some(0));
    assert_eq!(thunks.serve(&branch((0, 0), 0x2004, 0x9000), shape, |_| None), None);
    assert_eq!((thunks.list[0].form, thunks.address(1), thunks.pools[0].size), (0, 0x1004, 8));
    for (target, size, offset, longer) in
        [(0x1fff, 8, 4, false), (0x2000, 16, 12, true), (0x1100, 16, 12, false), (0x5000, 20, 16, true)]
    {
        thunks.begin(|_| 0x1000);
        let target = |key: Key| (key == (0, 0)).then_some(target);
        assert_eq!(thunks.lengthen(target, |_, number| shape(number)), longer);
        assert_eq!((thunks.pools[0].size, thunks.list[1].offset), (size, offset));
    }
}

#[test]
fn pools_are_a_reach_apart() {
    let sections: Vec<Section> = (0..64).map(|_| section(0x100, &[])).collect();
    let mut toy = Toy::new(&sections);
    let mut pools = Vec::new();
    toy.place(&pools);
    let mut intervals = Intervals::default();
    let branch = |section: usize, target| {
        let here = 0x10_0000 + 0x100 * section as u64;
        (Branch { key: 0, here, target, reach: Reach::both(REACH) }, section)
    };
    // The furthest after it, but rather one that is near to the target.
    for (at, target, wanted) in [(0, 0x20_0000, 0), (20, 0x20_0000, 1), (20, 0x10_0000, 0), (63, 0, 4)] {
        let (branch, section) = branch(at, target);
        let chosen = intervals.pool(&mut pools, (), &toy, &branch, section);
        assert_eq!(chosen, Some(wanted), "{at}");
    }
    let places: Vec<usize> = pools.iter().map(|pool| pool.place.1).collect();
    assert_eq!(places, [15, 30, 45, 60, 64]);
    // Where the planned one has no room, another one is beside the section.
    for pool in &mut pools {
        pool.size = 2 * REACH;
    }
    let (branch, section) = branch(20, 0x20_0000);
    assert_eq!(intervals.pool(&mut pools, (), &toy, &branch, section), Some(5));
    assert_eq!(pools[5].place.1, 21);
}
