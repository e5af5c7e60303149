//! Applying the relocations of a section to its bytes in the image.

use object::LittleEndian as LE;
use weld_common::demangle::demangle;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::text;

use super::x64;
use crate::coff::object::Relocation;
use crate::ids::SectionId;
use crate::image::{Image, Place};
use crate::input::sections::{Kind, Section};
use crate::layout::Layout;

/// What a relocation refers to.
pub struct Target<'t> {
    pub place: Place,
    pub base: u64,
    pub layout: &'t Layout,
}

/// Why a relocation cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Unknown(u16),
    OutOfRange,
    /// Offsets in a section are asked for of an absolute address.
    AbsoluteInSection,
}

/// Which values 32 bits can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Range {
    Signed,
    /// As a signed number or as an unsigned one.
    Either,
}

/// Adds `value` to the 32 bits of a place.
#[inline]
pub fn add_checked(place: &mut [u8], value: i64, range: Range) -> Result<(), Fault> {
    let Some(bytes) = place.first_chunk_mut() else { return Ok(()) };
    let sum = value.wrapping_add(i32::from_le_bytes(*bytes).into());
    let fits = match range {
        Range::Signed => i32::try_from(sum).is_ok(),
        Range::Either => i32::try_from(sum).is_ok() || u32::try_from(sum).is_ok(),
    };
    if !fits {
        return Err(Fault::OutOfRange);
    }
    *bytes = (sum as u32).to_le_bytes();
    Ok(())
}

impl Target<'_> {
    /// The address in memory, if the image is where it was made for.
    #[inline]
    pub fn address(&self) -> u64 {
        match self.place {
            Place::At(rva) => self.base + u64::from(rva),
            Place::Absolute(address) => address,
            Place::Gone => 0,
        }
    }

    /// The offset from the start of the image.
    #[inline]
    pub fn offset(&self) -> i64 {
        match self.place {
            Place::At(rva) => rva.into(),
            Place::Absolute(address) => address.wrapping_sub(self.base) as i64,
            Place::Gone => 0,
        }
    }

    /// Adds the number of the output section; of none, one more than there are.
    pub fn add_section_number(&self, place: &mut [u8]) -> Result<(), Fault> {
        let Some(bytes) = place.first_chunk_mut() else { return Ok(()) };
        let number = match self.place {
            Place::At(rva) => self.layout.out_at(rva.into()).map_or(0, |out| out + 1),
            Place::Absolute(_) => self.layout.outs.len() + 1,
            Place::Gone => 0,
        };
        *bytes = u16::from_le_bytes(*bytes).wrapping_add(number as u16).to_le_bytes();
        Ok(())
    }

    /// Adds the offset from the start of the output section.
    pub fn add_offset_in_section(&self, place: &mut [u8]) -> Result<(), Fault> {
        match self.place {
            Place::At(rva) => match self.layout.out_at(rva.into()) {
                Some(out) => {
                    let offset = u64::from(rva) - self.layout.outs[out].rva;
                    add_checked(place, offset as i64, Range::Either)
                }
                None => Err(Fault::AbsoluteInSection),
            },
            Place::Absolute(_) => Err(Fault::AbsoluteInSection),
            Place::Gone => Ok(()),
        }
    }
}

/// Copies a section of an object into its place and applies its relocations.
pub fn write(image: &Image, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
    let section = image.sections.get(id);
    let contents = image.contents(section);
    let (own, rest) = bytes.split_at_mut(contents.len().min(bytes.len()));
    own.copy_from_slice(&contents[..own.len()]);
    rest.fill(0);
    let rva = image.layout.rva(id);
    for relocation in image.relocations(section) {
        if let Err(problem) = one(image, section, bytes, rva, relocation) {
            let order = u64::from(image.object(section.object).file.0) << 32 | u64::from(section.number);
            sink.push(problem.at(order));
        }
    }
}

#[inline]
fn one(
    image: &Image,
    section: &Section,
    bytes: &mut [u8],
    rva: u32,
    relocation: &Relocation,
) -> Result<(), Diagnostic> {
    let typ = relocation.typ.get(LE).0;
    let offset = relocation.virtual_address.get(LE);
    let fail = |what: &str| Err(fault(image, section, relocation, what));
    let Some(size) = x64::size(typ) else { return fail(&format!("unknown relocation type {typ:#x}")) };
    let Some(place) = bytes.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..size)) else {
        return fail("the relocation lies outside of its section");
    };
    let symbol = image.target(section.object, relocation);
    let target = Target { place: image.place(symbol), base: image.base, layout: image.layout };
    if target.place == Place::Gone {
        // What debuggers read may speak of what is not there any more.
        if section.kind == Kind::Dwarf {
            place.fill(0);
            return Ok(());
        }
        return fail("relocation against symbol in discarded section");
    }
    match x64::apply(typ, place, rva.wrapping_add(offset), &target) {
        Ok(()) => Ok(()),
        Err(Fault::Unknown(typ)) => fail(&format!("unknown relocation type {typ:#x}")),
        Err(Fault::OutOfRange) => fail("relocation out of range"),
        Err(Fault::AbsoluteInSection) => {
            fail("the offset of an absolute address in its section is asked for")
        }
    }
}

/// What is wrong with a relocation, with where it is.
#[cold]
pub fn fault(image: &Image, section: &Section, relocation: &Relocation, what: &str) -> Diagnostic {
    let object = image.object(section.object);
    let name = object.coff.section_name(image.header(section)).unwrap_or_default();
    let index = relocation.symbol_table_index.get(LE);
    let symbol = object.coff.symbols.get(index);
    let symbol = symbol.and_then(|symbol| object.coff.symbol_name(&symbol).ok()).unwrap_or_default();
    let offset = relocation.virtual_address.get(LE);
    let text = format!("{what}: {}", demangle(symbol));
    Diagnostic::error(text).note(format!("referenced by {}:({}+{offset:#x})", object.name, text::text(name)))
}
