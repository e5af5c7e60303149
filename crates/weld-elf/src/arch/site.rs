//! What a machine's own code asks while a section is relocated: of the section, of its symbols, of the image.
//!
//! The loops that apply relocations are `synth::relocate`'s. Machines whose relocations depend on one
//! another, or whose code has got shorter, go through a section in loops of their own, or once more; these
//! are compiled for the one type that implements [`Site`].

use super::class::Class;
use super::facts::{Callee, Jump};
use super::relax_deltas::RelaxDelta;
use super::rules::{Failure, FieldAt, Rules};
use crate::address::Address;
use crate::elf::Rela;
use crate::symbol_flags;

/// Where a symbol is, as one relocation sees it.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedAddress {
    /// Address plus what of the addend was consumed.
    pub address: Address,
    /// The addend still to be added.
    pub addend: i64,
    /// [`crate::symbol_flags`] bits.
    pub flags: u32,
    /// The symbol lies in a section that is not in the image.
    pub dead: bool,
}

impl ResolvedAddress {
    /// Whether nothing defines the symbol, here or elsewhere.
    #[inline(always)]
    pub fn is_undefined(&self) -> bool {
        self.flags & (symbol_flags::KIND | symbol_flags::PREEMPTIBLE) == symbol_flags::UNDEFINED
    }

    /// Whether the symbol is what its address says, whatever a loader finds or is told.
    #[inline(always)]
    pub fn is_settled(&self) -> bool {
        self.flags & (symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC | symbol_flags::OUTSIDE) == 0
    }
}

/// What options ask for, and where registers point.
pub struct Settings {
    /// There are no fixed addresses.
    pub pic: bool,
    pub shared: bool,
    /// `--relax`
    pub relax: bool,
    /// `--toc-optimize`
    pub toc_optimize: bool,
    /// Relocations stay in the output, for tools that expect the code that they are for.
    pub keeps_relocs: bool,
    pub thread_pointer: Address,
    pub got_base: Address,
    /// What code may be used, as attributes say it.
    pub features: u32,
    /// Where the register for data points, if code may count from there.
    pub pointer: Option<Address>,
}

/// A section whose bytes are being written. Offsets are those of the input, unless said otherwise.
pub trait Site: Sized {
    fn relocs(&self) -> &[Rela];

    /// The section's bytes before any relocation: what the scan looked at.
    fn input(&self) -> &[u8];

    /// Address of the first byte that is written.
    fn address(&self) -> Address;

    /// Added to a relocation's offset to get its offset in the bytes that are written, where none are gone.
    fn delta(&self) -> u64;

    /// The places where bytes may be gone.
    fn deltas(&self) -> &[RelaxDelta];

    /// Where byte `offset` is among those that are written, whatever is gone before it.
    fn output_offset(&self, offset: u64) -> u64;

    fn settings(&self) -> Settings;

    /// The offset in this section that a relocation's symbol stands for, if it is one of this section.
    fn label(&self, reloc: &Rela) -> Option<u64>;

    /// `st_value` of a relocation's symbol.
    fn symbol_value(&self, reloc: &Rela) -> u64;

    fn resolve(&self, reloc: &Rela) -> ResolvedAddress;

    /// The address that a relocation refers to.
    fn target(&self, reloc: &Rela) -> Address;

    /// What a call calls, on machines where that matters.
    fn callee(&self, reloc: &Rela) -> Callee;

    /// What a call of `place` calls, and what it leads to.
    fn call(&self, reloc: &Rela, place: ResolvedAddress) -> (Callee, Address);

    /// What a call leads to.
    fn called(&self, reloc: &Rela) -> Address;

    /// The same where functions have descriptors: code, or an entry of the PLT.
    ///
    /// # Errors
    /// There is a descriptor of which it is not known where it leads.
    fn code(&self, reloc: &Rela) -> Result<Address, Failure>;

    /// The offset of a variable from the thread pointer, if it is one of this program.
    fn thread_offset(&self, reloc: &Rela) -> Option<i64>;

    /// The address of the slot that has that offset.
    ///
    /// # Errors
    /// There is none.
    fn got_tp(&self, reloc: &Rela) -> Result<Address, Failure>;

    /// The address of the slot that a relocation of class `class` asks for, whatever the class of `reloc` is.
    ///
    /// # Errors
    /// There is none.
    fn slot(&self, reloc: &Rela, class: Class) -> Result<Address, Failure>;

    /// The address of the word of the GOT that loaders only add to and that has the symbol's address, or the
    /// page that it is near; `None` if there is none, because another module may define the symbol, or because
    /// its address does not move with the image.
    fn local_slot(&self, reloc: &Rela, page: bool) -> Option<Address>;

    /// The relocation that fills the word beside the GOT which a relocation has a half of the distance of, if nobody
    /// needs to load it.
    fn word_filler(&self, reloc: &Rela) -> Option<&Rela>;

    /// Whether the section has frames.
    fn is_frames(&self) -> bool;

    /// The symbol's descriptor, if the scan gave it one: then no sequence of it is rewritten.
    fn tls_descriptor(&self, reloc: &Rela) -> Option<Address>;

    /// The distance of what relocation `i`, one of an instruction at address `here`, makes the address of: a
    /// symbol, or a slot.
    ///
    /// # Errors
    /// There is no slot, or it cannot be counted from.
    fn distance<R: Rules>(&self, i: usize, here: Address) -> Result<u64, Failure>;

    /// Whether the instructions of relocation `i` that loaded a slot make the address itself.
    fn is_without_slot<R: Rules>(&self, i: usize) -> bool;

    /// Whether an address moves with the image. If it is that of an FDE's function, at which the scan does
    /// not look, that is an error.
    fn check_frame(&self, reloc: &Rela, place: ResolvedAddress) -> bool;

    /// Applies relocation `i`, one of class `class` that is not a plain reference, to its field. Returns how
    /// many of the following relocations were consumed.
    ///
    /// # Errors
    /// Why the value cannot be stored.
    fn special<R: Rules>(
        &self,
        class: Class,
        i: usize,
        field: FieldAt,
        place: ResolvedAddress,
    ) -> Result<usize, Failure>;

    /// Has a branch whose distance has been stored, with `result`, go to a thunk instead, if it does not
    /// reach or goes further than options let it. What is wrong then is reported.
    fn branch<R: Rules>(
        &self,
        reloc: &Rela,
        place: ResolvedAddress,
        field: FieldAt,
        result: Result<(), Failure>,
    );

    /// Whether a relocation's symbol is known to be a function, or is called by way of one.
    fn is_function(&self, reloc: &Rela) -> bool;

    /// Where a branch goes that needs a thunk, on machines with several instruction sets; `None` if it needs
    /// none, or if there is none in reach.
    fn thunk(&self, jump: &Jump) -> Option<Address>;

    /// Where the part of the image begins that is loaded as one and has an address in it.
    fn start_of_segment(&self, address: Address) -> Option<Address>;

    /// Applies all relocations, each by itself.
    fn apply_each<R: Rules>(&self, out: &mut [u8]);

    /// The same in a section outside memory. `tombstone` stands for what is gone.
    fn apply_each_in_debug<R: Rules>(&self, tombstone: u64, out: &mut [u8]);

    /// Where the relocations of a section outside memory lead, asked one after the other; `None` if that is
    /// not in the image.
    fn debug_targets(&self) -> impl FnMut(&Rela) -> Option<Address>;

    /// Applies a relocation outside memory that leads to `target`.
    ///
    /// # Errors
    /// Why the value cannot be stored.
    fn apply_in_debug<R: Rules>(
        &self,
        reloc: &Rela,
        target: Option<Address>,
        tombstone: u64,
        field: FieldAt,
    ) -> Result<(), Failure>;

    /// Reports `what` is wrong with a relocation.
    fn refuse(&self, reloc: &Rela, what: &str);

    fn out_of_bounds(&self, reloc: &Rela);

    fn report(&self, reloc: &Rela, failure: Failure);
}
