//! What differs between machines: relocations, jumps to imports, sizes.
//!
//! [`Facts`] are looked at once a link or a table; [`Rules`] are code that runs for each relocation, so loops
//! over relocations are compiled for each machine and chosen once a section.

pub mod arm64;
pub mod x64;
pub mod x86;

use std::fmt;

use weld_common::diag::{Cause, HasCause};
use weld_common::thunks::Form;

use crate::address::Rva;
use crate::coff::machine::Machine;
use crate::coff::pe;

/// Sizes and numbers.
pub struct Facts {
    /// What is between functions: an instruction that stops who comes there by mistake.
    pub gap: u8,
    /// Bytes of an address.
    pub address: u32,
    /// Where an executable and a DLL are made to lie.
    pub bases: [u64; 2],
    /// Bytes and alignment (its logarithm) of a jump to an imported function.
    pub thunk: (u32, u8),
    /// Writes the jump, which lies at an offset in the image, to what a slot holds; the base is for absolute
    /// addresses.
    pub write_thunk: fn(&mut [u8], Jump),
    /// Where in the jump an address is that a loader has to change.
    pub thunk_address: Option<u32>,
    /// What a branch goes through that does not reach; `None`: all do.
    pub branch_thunk: Option<BranchThunk>,
    /// Bytes of an entry of the table of functions, which is sorted; 0 if there is none.
    pub function: usize,
    /// Bytes of the directory for thread-local storage.
    pub tls_directory: u32,
    /// The kind of base relocation for an address.
    pub base_relocation: u8,
    /// What loads DLLs when they are needed.
    pub delay: DelayCode,
}

/// Code that goes on to a place further away.
pub struct BranchThunk {
    pub form: Form,
    /// Writes it: to lie at an offset in the image, and to go on to another.
    pub write: fn(&mut [u8], Rva, Rva),
}

/// The code by which a DLL is loaded when one of its functions is called for the first time.
///
/// The slot of each function leads at first to a thunk of its own, which tells the loader of its DLL by a
/// register which slot it is. The loader keeps what the caller hands over, and asks the helper of the
/// run-time library, which loads the DLL and fills the slot; then it jumps to the function.
pub struct DelayCode {
    /// The helper's name, as objects have it.
    pub helper: &'static str,
    pub thunk: Snippet,
    pub loader: Snippet,
    /// Logarithm of the alignment of both.
    pub align: u8,
    /// How to unwind from the loader; the loader's entry in the table of functions leads there.
    pub unwind: &'static [u8],
    /// The loader's entry says where it ends.
    pub has_ends: bool,
}

/// Instructions, and relocations in them: offset, type and what they refer to.
pub struct Snippet {
    pub bytes: &'static [u8],
    pub fixups: &'static [(u32, u16, Refers)],
}

/// What code that loads DLLs refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refers {
    /// The slot of the function.
    Slot,
    /// The loader of the DLL.
    Loader,
    /// What the helper is told of the DLL.
    Directory,
    Helper,
}

/// A jump to what the slot of an import holds.
pub struct Jump {
    pub rva: Rva,
    pub slot: Rva,
    pub base: u64,
}

/// How relocations of a machine are applied.
pub trait Rules {
    /// The kind of base relocation that a place needs if it holds the address of something in the image.
    fn base_relocation(typ: u16) -> Option<u8>;

    /// How many bits of an address or distance a place has that can be changed at start; `None` for parts of
    /// instructions.
    fn address_bits(typ: u16) -> Option<u32>;

    /// Bytes that a relocation changes; `None` for types that there are not.
    fn size(typ: u16) -> Option<usize>;

    /// Whether a type is about the output section of what it refers to.
    fn counts_in_section(typ: u16) -> bool;

    /// Applies a relocation to `place`, which has [`Rules::size`] bytes and lies at `p` of the image.
    fn apply(typ: u16, place: &mut [u8], p: Rva, target: &Target) -> Result<(), Fault>;

    /// Whether a place after the bytes `before` is the target of a call, or of a jump in its place.
    fn is_call(_typ: u16, _before: &[u8]) -> bool {
        false
    }

    /// There are branches that may not reach what they go to; others are an error.
    const BRANCHES: bool = false;

    /// How many bytes a branch reaches, if it may be led to a thunk.
    fn reach(_: u16) -> Option<u32> {
        None
    }

    /// How many bytes after its symbol a branch goes, which its instruction says.
    fn branch_addend(_typ: u16, _place: &[u8]) -> i64 {
        0
    }
}

/// What is known of a machine.
pub fn facts(machine: Machine) -> &'static Facts {
    match machine {
        Machine::X86 => &x86::FACTS,
        Machine::Arm64 => &arm64::FACTS,
        _ => &x64::FACTS,
    }
}

/// Calls a function that is generic over [`Rules`] with those of a machine.
macro_rules! with_rules {
    ($machine:expr, $($function:ident)::+ ($($argument:expr),* $(,)?)) => {
        match $machine {
            $crate::coff::machine::Machine::X86 => $($function)::+::<$crate::arch::x86::X86>($($argument),*),
            $crate::coff::machine::Machine::Arm64 => $($function)::+::<$crate::arch::arm64::Arm64>($($argument),*),
            _ => $($function)::+::<$crate::arch::x64::X64>($($argument),*),
        }
    };
}
pub(crate) use with_rules;

const HIGHLOW: u8 = pe::IMAGE_REL_BASED_HIGHLOW.0 as u8;
const DIR64: u8 = pe::IMAGE_REL_BASED_DIR64.0 as u8;

/// Where something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an offset in the image.
    At(Rva),
    /// At an address that has nothing to do with the image.
    Absolute(u64),
    /// In a section that is not in the image.
    Gone,
}

/// What relocations ask of the output sections.
pub trait OutputSections {
    fn count(&self) -> usize;

    /// The number, from 0, and the offset in the image of the section that holds `rva`. Of a symbol of
    /// `part`, which may lie outside of it, the section of that.
    fn holding(&self, part: Option<u32>, rva: Rva) -> Option<(usize, Rva)>;
}

/// What a relocation refers to.
pub struct Target<'t> {
    pub place: Place,
    /// The part that it belongs to, though it may lie outside; `None` for what is in no section.
    pub part: Option<u32>,
    pub base: u64,
    pub sections: &'t dyn OutputSections,
}

/// Why a relocation cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Unknown(u16),
    OutOfRange,
    /// An instruction that loads several bytes cannot address this one.
    Misaligned,
    /// Offsets in a section are asked for of an absolute address.
    AbsoluteInSection,
    /// Its place is not in its section.
    BeyondEnd,
}

impl HasCause for Fault {
    fn cause(&self) -> Cause {
        match self {
            Fault::Unknown(_) => Cause::UnsupportedRelocation,
            Fault::OutOfRange => Cause::RelocationOutOfRange,
            Fault::Misaligned => Cause::RelocationMisaligned,
            Fault::AbsoluteInSection => Cause::RelocationWithoutTarget,
            Fault::BeyondEnd => Cause::MalformedRelocation,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unknown(typ) => write!(f, "unknown relocation type {typ:#x}"),
            Fault::OutOfRange => f.write_str("relocation out of range"),
            Fault::Misaligned => f.write_str("misaligned ldr/str offset"),
            Fault::AbsoluteInSection => {
                f.write_str("SECREL relocation cannot be applied to absolute symbols")
            }
            Fault::BeyondEnd => f.write_str("relocation points beyond the end of its parent section"),
        }
    }
}

/// Which values 32 bits can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Range {
    Signed,
    /// As a signed number or as an unsigned one.
    Either,
    /// Addresses come round.
    Any,
}

/// Adds `value` to the 32 bits of a place.
#[inline]
pub fn add_checked(place: &mut [u8], value: i64, range: Range) -> Result<(), Fault> {
    let Some(bytes) = place.first_chunk_mut() else { return Ok(()) };
    let sum = value.wrapping_add(i32::from_le_bytes(*bytes).into());
    let fits = match range {
        Range::Signed => i32::try_from(sum).is_ok(),
        Range::Either => i32::try_from(sum).is_ok() || u32::try_from(sum).is_ok(),
        Range::Any => true,
    };
    if !fits {
        return Err(Fault::OutOfRange);
    }
    *bytes = (sum as u32).to_le_bytes();
    Ok(())
}

/// Adds an address to the 64 bits of a place.
#[inline]
pub fn add_address(place: &mut [u8], address: u64) {
    if let Some(bytes) = place.first_chunk_mut() {
        *bytes = u64::from_le_bytes(*bytes).wrapping_add(address).to_le_bytes();
    }
}

impl Target<'_> {
    /// The address in memory, if the image is where it was made for.
    #[inline]
    pub fn address(&self) -> u64 {
        match self.place {
            Place::At(rva) => rva.in_memory(self.base),
            Place::Absolute(address) => address,
            Place::Gone => 0,
        }
    }

    /// The offset from the start of the image.
    #[inline]
    pub fn offset(&self) -> i64 {
        match self.place {
            Place::At(rva) => rva.get().into(),
            Place::Absolute(address) => address.wrapping_sub(self.base) as i64,
            Place::Gone => 0,
        }
    }

    /// Adds the number of the output section; of none, one more than there are.
    pub fn add_section_number(&self, place: &mut [u8]) -> Result<(), Fault> {
        let Some(bytes) = place.first_chunk_mut() else { return Ok(()) };
        let number = match self.place {
            Place::At(rva) => self.section(rva).map_or(0, |(number, _)| number + 1),
            Place::Absolute(_) => self.sections.count() + 1,
            Place::Gone => 0,
        };
        *bytes = u16::from_le_bytes(*bytes).wrapping_add(number as u16).to_le_bytes();
        Ok(())
    }

    fn section(&self, rva: Rva) -> Option<(usize, Rva)> {
        self.sections.holding(self.part, rva)
    }

    /// The offset from the start of the output section.
    pub fn offset_in_section(&self) -> Result<u64, Fault> {
        match self.place {
            Place::At(rva) => match self.section(rva) {
                Some((_, start)) => {
                    let offset = u64::from(rva.get()).wrapping_sub(start.get().into());
                    if offset <= u32::MAX.into() { Ok(offset) } else { Err(Fault::OutOfRange) }
                }
                None => Err(Fault::AbsoluteInSection),
            },
            Place::Absolute(_) => Err(Fault::AbsoluteInSection),
            Place::Gone => Ok(0),
        }
    }

    pub fn add_offset_in_section(&self, place: &mut [u8]) -> Result<(), Fault> {
        add_checked(place, self.offset_in_section()? as i64, Range::Either)
    }
}
