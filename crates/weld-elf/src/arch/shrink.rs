//! Code that gets shorter when addresses are known: what layout asks of a machine, and what it tells it.
//!
//! Once, the machine lists the places of a section where bytes may go ([`Shrink::sites`]). In each round of
//! layout it says for each place what that becomes with the addresses as they are ([`Shrink::choose`]), and
//! how many bytes go then ([`Shrink::gone`]). A choice looks at nothing but addresses, so sections are gone
//! through in parallel. The rounds are `layout::shrink`.

use super::class::Class;
use super::relax_deltas::RelaxDelta;
use crate::address::Address;
use crate::elf::Rela;
use crate::ids::ObjectId;

/// How a machine's code gets shorter.
pub trait Shrink: Sync {
    /// Code of an object with these `e_flags`, and with these relocations, may get shorter by multiples of so
    /// many bytes; `None`: it stays as it is.
    fn step(&self, flags: u32, relocs: &[Rela]) -> Option<u64>;

    /// Adds the places of a section to `deltas`, ascending, with no byte gone yet. The alignment that places
    /// ask for.
    ///
    /// # Errors
    /// What is wrong with one of its relocations.
    fn sites(&self, code: &Section, deltas: &mut Vec<RelaxDelta>) -> Result<u64, Wrong>;

    /// What the place becomes.
    fn choose(&self, addresses: &dyn Addresses, code: &Section, delta: &RelaxDelta) -> u8;

    /// What a place with a relocation of this type becomes, if that depends on no address.
    fn fixed(&self, kind: u32) -> Option<u8>;

    /// How many bytes a call has at first that a relocation of this type is for, if it may get shorter.
    fn call_length(&self, kind: u32) -> Option<u8>;

    /// What a call over this distance becomes.
    fn call(&self, distance: i64, extra: u8) -> u8;

    /// The type of the relocation of a place that has become `form`, for tools that read it in the output.
    fn kept(&self, kind: u32, form: u8) -> u32;

    /// How many bytes go at a place that becomes `form`, and ends at `end` after so many bytes before it are
    /// gone.
    fn gone(&self, code: &Section, delta: &RelaxDelta, form: u8, before: u32) -> u32;
}

/// What is wrong with a relocation, by its index in its section's.
pub struct Wrong {
    pub reloc: usize,
    pub text: String,
}

/// A section of an object, as its machine sees it.
pub struct Section<'c> {
    pub object: ObjectId,
    pub shndx: u32,
    /// `e_flags` of the object.
    pub flags: u32,
    pub relocs: &'c [Rela],
    pub bytes: &'c [u8],
    pub labels: &'c dyn Labels,
    pub wanted: Wanted,
}

/// What options and the kind of output allow.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// `--relax`
    pub relax: bool,
    /// `--relax-gp`
    pub relax_gp: bool,
    /// The output is a shared library.
    pub shared: bool,
}

impl Section<'_> {
    /// The offset in this section that a relocation's symbol stands for, if it is one of this section.
    pub fn label(&self, reloc: &Rela) -> Option<u64> {
        self.labels.label(self.shndx, reloc)
    }
}

/// The symbols of an object that relocations name as labels.
pub trait Labels {
    /// The offset in section `shndx` that the symbol of `reloc` stands for, if it is one of that section.
    fn label(&self, shndx: u32, reloc: &Rela) -> Option<u64>;
}

/// Where everything is in a round of layout.
pub trait Addresses {
    /// What relocation `reloc` refers to, its addend included; `None` if that is not known now.
    fn place(&self, code: &Section, reloc: &Rela) -> Option<Place>;

    /// What a call by relocation `reloc` leads to: an entry of the PLT, or the function itself.
    fn called(&self, code: &Section, reloc: &Rela) -> Option<Address>;

    /// Where byte `at` of the section that is looked at lies.
    fn here(&self, code: &Section, at: u64) -> Option<Address>;

    /// Whether what relocation `reloc` names has the slot that relocations of class `class` ask for.
    fn has_slot(&self, code: &Section, reloc: &Rela, class: Class) -> bool;

    fn thread_pointer(&self) -> Address;

    /// Where the register for data points; `None` if nothing says so, or code must not use it.
    fn pointer(&self) -> Option<Address>;
}

/// What a relocation refers to.
#[derive(Clone, Copy)]
pub struct Place {
    pub address: Address,
    /// [`crate::symbol_flags`] bits.
    pub flags: u32,
}
