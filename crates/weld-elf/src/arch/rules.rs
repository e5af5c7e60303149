//! What a machine says of its relocations and writes for its PLT, for the phases that all machines share.
//!
//! The loops of the scan (`live::reloc_scan`) and of relocation (`synth::relocate`) are compiled for each
//! type that implements [`Rules`], and everything here is called directly. Positions (`at`) are offsets of
//! the relocated field in `code` or `out`; functions that ask about code see the input's bytes, those that
//! rewrite it the output's. The scan asks before it reserves a slot, the writer asks again when it rewrites;
//! both see the same bytes and so agree.

use super::class::{Class, From};
use super::facts::Facts;
use super::plt::Plan;
use super::shrink::Shrink;
use super::site::Site;
use crate::address::Address;
use crate::elf::Rela;

/// Why a value cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The value does not fit.
    Overflow(i64),
    /// There is no way to write it in the instruction.
    Unencodable(i64),
    /// The distance is to be stored halved, and is odd.
    Odd(i64),
    /// The value is no multiple of what it has to be one of.
    Unaligned(i64),
    /// Slots of the GOT are for symbols, not for places after them.
    Addend(i64),
    /// What was to be rewritten does not reach.
    TooFar,
    /// The scan made no slot.
    NoSlot,
    /// The symbol has slots whose pointers are signed, and this one's is not to be, or the other way round.
    Signing,
    /// The code is not what the relocation says.
    Form,
    /// The branch does not change to the instruction set of its target.
    InstructionSet,
    /// What a jump goes to is in another region than the jump.
    Region(u64),
    /// No instruction follows that could be replaced by one that restores a register.
    NoNop,
}

/// Whether a rewritten instruction reaches.
pub fn reaches(fits: bool) -> Result<(), Failure> {
    if fits { Ok(()) } else { Err(Failure::TooFar) }
}

/// A relocation and the code that it changes.
#[derive(Clone, Copy)]
pub struct Code<'c> {
    pub reloc: &'c Rela,
    /// The section's bytes before any relocation.
    pub bytes: &'c [u8],
    /// Where in it the field is; at most at its end.
    pub at: usize,
}

/// What an instruction does with a word beside the GOT ([`Facts::toc`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordUse {
    /// It has no half of the word's distance.
    None,
    /// It adds the upper half of the distance to the GOT's base.
    Upper,
    /// It loads the word, with the lower half, from what has the upper one.
    Load,
    /// It has a half for something else.
    Other,
}

/// The bytes that are written, and where in them the field is.
pub struct FieldAt<'f> {
    pub out: &'f mut [u8],
    pub at: usize,
}

/// The bytes that are written, and where the field is: in them, and in memory.
pub struct Field<'f> {
    pub out: &'f mut [u8],
    pub at: usize,
    pub address: Address,
    /// The type of the relocation.
    pub kind: u32,
    /// From where some instructions count, which have it in a register.
    pub got_base: Address,
}

/// Which bytes rules look at, from so many before the field of a relocation to so many after its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// To see whether an instruction can do without its slot.
    pub slot: (usize, usize),
    /// And a call for thread-local storage.
    pub call: (usize, usize),
}

/// A machine that rewrites no instructions leaves out all that asks about them.
pub trait Rules: Sync + Sized + 'static {
    const FACTS: Facts;
    /// How far from relocations their rules look; `None` if nobody has said, so that objects of the machine
    /// are not relinked.
    const LOOKS: Option<Looks> = None;
    /// The type of relocations against offsets in other debug sections, where they are 32 bits wide.
    const DEBUG_OFFSET: u32;
    /// How an instruction can do without its GOT slot.
    type GotForm: Copy;
    /// How a general- or local-dynamic sequence calls its function.
    type TlsCall: Copy;
    /// How many relocations of such a sequence follow the first one.
    const TLS_CALL_RELOCS: usize = 1;
    /// The instructions that use a slot are several, which may lie apart and share one another's results. So
    /// all of a symbol's are rewritten or none, and those of a symbol that has a slot are not.
    const ALL_OR_NONE: bool = false;
    /// Code takes addresses of functions by relocations for calls ([`Rules::is_address`]).
    const ADDRESS_BY_PLT: bool = false;
    /// Code at fixed addresses calls functions by relocations for distances ([`Rules::is_call`]).
    const CALL_BY_DISTANCE: bool = false;
    /// Code of libraries calls functions by relocations for parts of an address ([`Rules::is_part_of_call`]).
    const CALL_BY_PARTS: bool = false;
    /// Instructions that replace loads of slots make even addresses only.
    const EVEN_ADDRESSES: bool = false;
    /// Whether distances from what is undefined and weak are those of [`Rules::undefined`].
    const UNDEFINED_IS_NEAR: bool = false;

    /// Stores the distance of `target` from `here` for a plain reference, which nearly all relocations in
    /// code are.
    #[inline(always)]
    fn put_distance(
        kind: u32,
        out: &mut [u8],
        at: usize,
        target: Address,
        here: Address,
    ) -> Result<(), Failure> {
        Self::put(kind, out, at, target.wrapping_sub(here))
    }

    /// Stores the value of any other relocation.
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure>;

    /// Stores the low bytes of a mark that stands for something that is gone.
    fn put_any(kind: u32, out: &mut [u8], at: usize, mark: u64) {
        Self::FACTS.target.format.put(&mut out[at..at + Self::width(kind)], mark);
    }

    /// Stores an address as data.
    fn put_address(out: &mut [u8], at: usize, value: u64);

    /// Whether a relocation of type `kind` with an addend asks for what is behind a slot; else the addend has
    /// to be 0.
    fn reaches_behind_slots(_kind: u32) -> bool {
        true
    }

    /// From where the GOT slot of a relocation counts.
    fn slot_from(code: Code) -> From {
        Self::FACTS.types[code.reloc.kind() as usize].from
    }

    /// Where something undefined and weak is taken to be, for a distance from `here`. Code does not use it,
    /// so it only has to be within reach.
    fn undefined(_kind: u32, here: Address) -> Address {
        here
    }

    /// Whether code calls by a relocation of type `kind` that does not have the GOT's base where others have
    /// it, and if so, whether its processor has instructions with prefixes.
    fn has_no_base(_kind: u32) -> Option<bool> {
        None
    }

    /// The form of an instruction that can do without its slot. `pic`: there are no fixed addresses.
    fn got_form(_code: Code, _pic: bool) -> Option<Self::GotForm> {
        None
    }

    /// What an instruction does with the word that its relocation leads to.
    fn word_use(_code: Code) -> WordUse {
        WordUse::None
    }

    /// Whether the instructions of relocation `i` that load a slot belong together as they have to, so that
    /// they may be rewritten.
    fn got_pair(_bytes: &[u8], _relocs: &[Rela], _i: usize) -> bool {
        true
    }

    /// Has the instruction use the symbol's address, `target` less the addend.
    fn rewrite_got(_form: Self::GotForm, _field: Field, _target: Address) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// The call that completes the general- or local-dynamic sequence of relocation `i`, if both may be
    /// rewritten; the next relocations ([`Rules::TLS_CALL_RELOCS`]) are then part of it.
    fn tls_call(_bytes: &[u8], _relocs: &[Rela], _i: usize) -> Option<Self::TlsCall> {
        None
    }

    /// Whether an instruction that names what calls a function does not call it, but wants its address.
    fn is_address(_code: Code) -> bool {
        false
    }

    /// Whether an instruction that has the distance of a function calls it or jumps there, and so does not
    /// care where it is.
    fn is_call(_code: Code) -> bool {
        false
    }

    /// Whether relocation `i` is one of those that make an address which is only called or jumped to, so that an entry
    /// of the PLT does as well.
    fn is_part_of_call(_bytes: &[u8], _relocs: &[Rela], _i: usize) -> bool {
        false
    }

    /// Whether relocation `i` is that of a call which one beside it marks as part of a general- or
    /// local-dynamic sequence. In executables such calls are rewritten.
    fn is_marked_call(_relocs: &[Rela], _i: usize) -> bool {
        false
    }

    /// Whether a mark of type `kind` is for a call.
    fn marks_call(_kind: u32) -> bool {
        false
    }

    /// Rewrites a marked instruction, whose symbol is this output's own if it is `local`.
    fn rewrite_marked(_field: Field, _local: bool) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// General dynamic → local exec. `tpoff` is the symbol's offset from the thread pointer.
    fn general_to_local_exec(_call: Self::TlsCall, _field: Field, _tpoff: i64) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// General dynamic → initial exec. `slot` is the address of the GOT slot with the offset.
    fn general_to_initial_exec(_call: Self::TlsCall, _field: Field, _slot: Address) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// Local dynamic → the thread pointer.
    fn local_dynamic_to_local_exec(_call: Self::TlsCall, _field: Field) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// Whether an initial-exec instruction can be rewritten to local exec.
    fn is_initial_exec(_code: Code) -> bool {
        false
    }

    fn initial_to_local_exec(_field: Field, _tpoff: i64) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// Whether what a relocation of type `kind` asks for has pointers that the loader signs.
    fn is_signed(_kind: u32) -> bool {
        false
    }

    /// Whether relocations of type `kind` ask for slots that have offsets from the thread pointer with the
    /// other sign.
    fn counts_backward(_kind: u32) -> bool {
        false
    }

    /// Whether the instruction that loads a TLS descriptor's address can be rewritten.
    fn is_descriptor(_code: Code) -> bool {
        false
    }

    fn descriptor_to_local_exec(_field: Field, _tpoff: i64) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    fn descriptor_to_initial_exec(_field: Field, _slot: Address) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// The call through a descriptor → nothing.
    fn descriptor_call_to_nothing(_field: Field) -> Result<(), Failure> {
        Err(Failure::Form)
    }

    /// How code gets shorter; `None` if it never does.
    fn shrink() -> Option<&'static dyn Shrink> {
        None
    }

    /// Applies the relocations of a section in memory to its bytes.
    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        site.apply_each::<Self>(out);
    }

    /// The same outside memory. `tombstone` stands for what is gone.
    fn apply_debug<S: Site>(site: &S, tombstone: u64, out: &mut [u8]) {
        site.apply_each_in_debug::<Self>(tombstone, out);
    }

    /// Writes `.plt` from byte `start` on, where an entry starts. A machine without entries writes none, here and
    /// below.
    fn write_plt(_plan: &Plan, _start: u64, out: &mut [u8]) {
        out.fill(0);
    }

    /// Writes `.plt.sec` from byte `start` on, where an entry starts. Where no entries are marked, there is
    /// no such section.
    fn write_plt_sec(_plan: &Plan, _start: u64, out: &mut [u8]) {
        out.fill(0);
    }

    /// Writes `.iplt` from byte `start` on, where an entry starts.
    fn write_iplt(_plan: &Plan, _start: u64, out: &mut [u8]) {
        out.fill(0);
    }

    /// What the word of `.got.plt` for PLT entry `entry` holds before the loader looks the symbol up.
    fn unbound(_plan: &Plan, _entry: u32) -> Address {
        Address::ZERO
    }

    /// What word `part` of the descriptor for PLT entry `entry`, one of an IFUNC of this output, holds before the
    /// resolver is called: libraries may have copied it by then.
    fn unresolved(_plan: &Plan, _entry: u32, _part: u64) -> Address {
        Address::ZERO
    }

    /// What relocation type `kind` asks.
    #[inline(always)]
    fn class(kind: u32) -> Class {
        Self::FACTS.class(kind)
    }

    /// The number of bytes that relocation type `kind` writes.
    #[inline(always)]
    fn width(kind: u32) -> usize {
        Self::FACTS.width(kind)
    }
}
