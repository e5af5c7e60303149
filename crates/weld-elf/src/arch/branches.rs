//! Branches that may not reach what they go to, or that change the instruction set, and what is put in between
//! ("thunks"): what a machine says of them, as data and small functions. Where thunks lie is `synth::thunks`'s.

use weld_common::thunks::{Form, Reach};

use crate::address::Address;

/// Branches that may not reach what they go to, and the code that is put in between ("thunks").
pub struct Branches {
    /// The types of their relocations, and how far they reach.
    pub types: &'static [(u32, Reach)],
    /// What is put in between where addresses are fixed, and where the image may be moved. What reaches
    /// further comes later; the last reaches everything.
    pub fixed: &'static [Thunk],
    pub moving: &'static [Thunk],
    /// The same for code that cannot be read: without data.
    pub fixed_unread: &'static [Thunk],
    pub moving_unread: &'static [Thunk],
    /// Writes a branch that lies at `address` and goes to `target`.
    pub jump: fn(out: &mut [u8], address: Address, target: Address),
    /// What thunks jump to in place of code that does not begin with a mark, where indirect branches have to
    /// end at one.
    pub landing: Option<LandingPad>,
    /// What options can ask to be avoided.
    pub errata: Option<Errata>,
    /// Names of the symbols that say where in a thunk code begins, if there are such, and data.
    pub code_mark: Option<&'static str>,
    pub data_mark: &'static str,
    /// There is more than one instruction set.
    pub sets: Option<&'static InstructionSets>,
}

/// What branches have to do with instruction sets. The low bit of a function's address says in which one it
/// is.
pub struct InstructionSets {
    /// How far after its target's address a branch of a type enters what it calls, or how far after itself
    /// the processor counts from, which the addend takes away.
    pub bias: fn(kind: u32, callee: Callee) -> u64,
    /// Whether that depends on what is called.
    pub asks_callee: bool,
    /// They have addresses: they reach from 0 on, wherever they are.
    pub from_zero: bool,
    /// How far branches of a type reach, from themselves.
    pub reach: fn(kind: u32, features: u32) -> Option<Reach>,
    /// What a thunk depends on besides its target: a number for the instruction sets of both ends.
    pub state: fn(&Jump) -> u8,
    /// The address by which a thunk for that number goes on to a target: of what is no function, too, it says
    /// which instruction set the branch takes it for.
    pub next: fn(state: u8, target: u64) -> u64,
    /// Whether a branch needs a thunk for another reason than its distance.
    pub must_change: fn(&Jump) -> bool,
    /// Whether the PLT is of the second instruction set.
    pub has_second_plt: fn(features: u32) -> bool,
    /// How tables of symbols say that code is of the second set, if not by odd values.
    pub second: Option<SecondSet>,
    /// What may be put in between, by that number. What reaches further comes later.
    pub thunks: fn(state: u8, situation: Situation) -> &'static [Thunk],
}

/// Code of the second instruction set whose addresses are odd, but not the values in tables of symbols that are for
/// linkers and debuggers.
pub struct SecondSet {
    /// Whether `st_other` says that it is such.
    pub is_marked: fn(other: u8) -> bool,
    /// Whether it says that code is of a third set, which is not linked, and what that is called.
    pub is_refused: fn(other: u8) -> bool,
    pub refused: &'static str,
    /// What `st_other` has for code of the linker's own.
    pub other: u8,
    /// What to do about a branch that cannot change to the other set.
    pub advice: &'static str,
}

impl InstructionSets {
    /// From where a branch at an address reaches.
    pub fn start(&self, here: u64) -> u64 {
        if self.from_zero { 0 } else { here }
    }
}

/// What a branch calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Callee {
    /// An entry of the PLT, whose address is so far after its start.
    Entry(u64),
    /// What has this `st_other`.
    Own(u8),
    /// A name for what an object may define by another one, as options and scripts give it; with what is known of its
    /// `st_other`.
    Unknown(u8),
}

/// A branch and where it goes.
pub struct Jump {
    /// The type of its relocation.
    pub kind: u32,
    pub here: u64,
    pub target: u64,
    /// The target is known to be a function, so that its low bit means something.
    pub is_function: bool,
    pub callee: Callee,
    /// What code may be used ([`super::facts::Attributes::features`]).
    pub features: u32,
}

/// What thunks have to do with.
#[derive(Clone, Copy)]
pub struct Situation {
    /// The image may be moved.
    pub moving: bool,
    /// Code cannot be read: there may be no data in it.
    pub unread: bool,
    /// What code may be used ([`super::facts::Attributes::features`]).
    pub features: u32,
}

/// A mark for indirect branches, and a branch to code without one. It has to be near that.
pub struct LandingPad {
    pub code: Thunk,
    /// Whether code that begins with these bytes needs none.
    pub is_marked: fn(code: &[u8]) -> bool,
}

/// Finds sequences in code at an address, and gives what it found.
pub type Find = fn(code: &[u8], address: Address, found: &mut dyn FnMut(usize, usize));

/// Instructions that some processors execute wrongly, and what is done about it.
pub struct Errata {
    pub list: &'static [Erratum],
    /// Whether what a mapping symbol of this name stands in front of is code of the sort that they are about;
    /// `None`: it is no such symbol.
    pub is_code: fn(name: &[u8]) -> Option<bool>,
    pub cure: Cure,
}

/// What is done about an instruction of 4 bytes that would be executed wrongly.
pub enum Cure {
    /// It is carried out elsewhere, before a branch back.
    Move,
    /// It is a branch, and goes to another one that goes where it went.
    Detour(Detour),
}

/// The type of a relocation for the branch that code begins with, and where it goes by itself, if it is one.
pub type ReadBranch = fn(code: &[u8], here: Address) -> Option<(u32, Address)>;

/// Has branches go where they go by way of another branch, of 4 bytes, too. The low bit of addresses says which
/// instruction set is there.
pub struct Detour {
    /// Whether an instruction ends where code ends, which begins with one.
    pub is_whole: fn(code: &[u8]) -> bool,
    pub read: ReadBranch,
    /// Whether a branch is executed wrongly that goes to such a target.
    pub is_affected: fn(here: Address, target: Address) -> bool,
    /// Whether the other branch reaches its target.
    pub reaches: fn(here: Address, target: Address) -> bool,
    /// The branch, to go to `target`.
    pub redirect: fn(code: [u8; 4], here: Address, target: Address) -> [u8; 4],
    /// Writes the other branch.
    pub write: fn(out: &mut [u8], address: Address, target: Address),
    /// The mapping symbol in front of it, and the one in front of the branches themselves.
    pub mark: fn(target: Address) -> &'static str,
    pub own_mark: &'static str,
}

impl Errata {
    /// What takes the place of an instruction: so many bytes.
    pub fn size(&self) -> u64 {
        match self.cure {
            Cure::Move => 8,
            Cure::Detour(_) => 4,
        }
    }
}

/// Instructions that some processors execute wrongly, of one sort.
pub struct Erratum {
    /// The option that asks for it.
    pub option: &'static str,
    /// What the name of such an instruction begins with; its address follows.
    pub prefix: &'static str,
    /// Finds sequences in `code`, which lies at `address`: where their first instruction is, and the last,
    /// which has to be moved or go elsewhere.
    pub find: Find,
}

/// Instructions whose bytes an option has in the other order than data have (`--be8`). Objects have both in the same
/// order.
pub struct TurnedCode {
    /// What `e_flags` then says.
    pub flag: u32,
    /// The size of what is turned in code that a mapping symbol of this name stands in front of, in bytes; 1 for data.
    /// `None`: it is no such symbol.
    pub unit: fn(name: &[u8]) -> Option<usize>,
}

impl TurnedCode {
    /// Turns the bytes of instructions. `marks` are the offsets of mapping symbols with the units of what follows,
    /// sorted.
    pub fn turn(out: &mut [u8], marks: impl Iterator<Item = (usize, usize)>) {
        let mut marks = marks.peekable();
        while let Some((start, unit)) = marks.next() {
            let end = marks.peek().map_or(out.len(), |next| next.0).min(out.len());
            if unit > 1 && start < end {
                out[start..end].chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            }
        }
    }
}

/// Code that goes on to a place further away.
pub struct Thunk {
    /// What its name begins with; that of what it goes on to follows.
    pub prefix: &'static str,
    pub form: Form,
    /// Where in it data begins, if it has some, in bytes.
    pub data: Option<u64>,
    /// Added to its address for who goes there, and who names it: the instruction set.
    pub entry: u64,
    /// Names of the symbols that say what code begins in it, with their offsets, if they are not those of the
    /// machine.
    pub marks: &'static [(u64, &'static str)],
    pub write: Write,
}

/// Writes code that goes on to `target`.
#[derive(Clone, Copy)]
pub enum Write {
    /// To lie at `address`.
    Plain(fn(out: &mut [u8], address: Address, target: Address)),
    /// Where the GOT's base is in a register: it reaches from there, wherever it lies itself.
    FromBase(fn(out: &mut [u8], target: Address, base: Address)),
}

impl Thunk {
    /// Turns the bytes of its instructions, once it is written.
    pub fn turn(&self, order: &TurnedCode, out: &mut [u8]) {
        let code =
            self.marks.iter().map(|(at, mark)| (*at as usize, (order.unit)(mark.as_bytes()).unwrap_or(1)));
        TurnedCode::turn(out, code.chain(self.data.map(|at| (at as usize, 1))));
    }

    /// Whether it reaches `target` from `address`, where the GOT's base is `base`.
    pub fn reaches(&self, address: Address, target: Address, base: Address) -> bool {
        let start = if self.counts_from_base() { base } else { address };
        self.form.reach.has(start.get(), target.get())
    }

    pub fn counts_from_base(&self) -> bool {
        matches!(self.write, Write::FromBase(_))
    }

    /// Writes it, to go on to `target`, where the GOT's base is `base`.
    pub fn put(&self, out: &mut [u8], address: Address, target: Address, base: Address) {
        match self.write {
            Write::Plain(write) => write(out, address, target),
            Write::FromBase(write) => write(out, target, base),
        }
    }
}

impl Branches {
    /// Those of a machine that has none, for machines to say what they have.
    pub const NONE: Branches = Branches {
        types: &[],
        fixed: &[],
        moving: &[],
        fixed_unread: &[],
        moving_unread: &[],
        jump: |_, _, _| {},
        landing: None,
        errata: None,
        code_mark: None,
        data_mark: "",
        sets: None,
    };

    /// What may be put in between; `pic`: the image may be moved; `unread`: code cannot be read.
    pub fn thunks(&self, pic: bool, unread: bool) -> &'static [Thunk] {
        match (pic, unread) {
            (false, false) => self.fixed,
            (true, false) => self.moving,
            (false, true) => self.fixed_unread,
            (true, true) => self.moving_unread,
        }
    }

    /// How far those reach whose relocations are of type `kind`; `None` if there are none.
    #[inline(always)]
    pub fn reach(&self, kind: u32) -> Option<Reach> {
        self.types.iter().find(|(typ, _)| *typ == kind).map(|(_, reach)| *reach)
    }

    /// How far all reach.
    pub fn least_reach(&self) -> u64 {
        self.types.iter().map(|(_, reach)| reach.back.min(reach.ahead)).min().unwrap_or(u64::MAX)
    }
}
