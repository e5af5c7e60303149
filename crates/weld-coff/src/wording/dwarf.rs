//! The source lines that an object's DWARF tells, as compilers of GNU make it.
//!
//! All sections of an object start at address 0. To tell places apart, those that are no debug sections are
//! taken to lie one after the other, and the relocations of copies of the debug sections are applied in those
//! terms. What the sections say then is `weld_common::source_lines`'s to find out.

use std::cell::OnceCell;

use object::LittleEndian as LE;
use weld_common::source_lines::{self, Lines, Sections};

use crate::coff::machine::Machine;
use crate::coff::object::{Relocation, SectionHeader};
use crate::coff::pe;
use crate::input::object::Object;

/// Bytes between sections, so that the end of one is not the start of the next.
const GAP: u64 = 16;

pub struct Dwarf<'a> {
    /// Names and relocated contents of debug sections.
    sections: Vec<(&'a [u8], Vec<u8>)>,
    /// Where each section of the object is taken to lie: those of debug information at 0.
    addresses: Vec<u64>,
    code: OnceCell<Lines>,
    variables: OnceCell<Lines>,
}

impl<'a> Dwarf<'a> {
    pub fn of(object: &Object<'a>) -> Dwarf<'a> {
        let named = |header: &'a SectionHeader| {
            let name = object.coff.section_name(header).unwrap_or_default();
            name.starts_with(b".debug_").then_some(name)
        };
        let mut next = GAP;
        let mut address = |header: &'a SectionHeader| {
            let place = if named(header).is_some() { 0 } else { next };
            next += u64::from(header.size_of_raw_data.get(LE)) + GAP;
            place
        };
        let addresses: Vec<u64> = object.coff.sections.iter().map(&mut address).collect();
        let relocated = |header: &'a SectionHeader| {
            let name = named(header)?;
            let mut bytes = object.coff.contents(header).ok()?.to_vec();
            for relocation in object.coff.relocations(header).unwrap_or_default() {
                relocate(object, &addresses, relocation, &mut bytes);
            }
            Some((name, bytes))
        };
        let sections = object.coff.sections.iter().filter_map(relocated).collect();
        Dwarf { sections, addresses, code: OnceCell::new(), variables: OnceCell::new() }
    }

    /// `file:line` of a place in a section.
    pub fn at(&self, object: &Object, section: u32, offset: u32) -> Option<String> {
        let header = object.coff.section(section)?;
        let address = self.addresses[section as usize - 1] + u64::from(offset);
        let get = |name: &str| {
            let found = self.sections.iter().find(|(known, _)| *known == name.as_bytes());
            found.map_or(&[][..], |(_, bytes)| bytes)
        };
        let sections = Sections { big: false, get: &get };
        let lines = if header.characteristics.get(LE).0 & pe::IMAGE_SCN_CNT_CODE.0 != 0 {
            self.code.get_or_init(|| source_lines::of_code(&sections))
        } else {
            self.variables.get_or_init(|| source_lines::of_variables(&sections))
        };
        lines.at(address)
    }
}

/// Adds to a number of a debug section the address of what it refers to, or the offset of that in its
/// section.
fn relocate(object: &Object, addresses: &[u64], relocation: &Relocation, bytes: &mut [u8]) {
    let machine = object.coff.machine.unwrap_or(Machine::X64);
    let Some((size, is_address)) = kind(machine, relocation.typ.get(LE).0) else { return };
    let Some(symbol) = object.coff.symbols.get(relocation.symbol_table_index.get(LE)) else { return };
    let section = usize::try_from(symbol.section).ok().and_then(|number| number.checked_sub(1));
    let base = section.and_then(|i| addresses.get(i)).copied().filter(|_| is_address).unwrap_or(0);
    let value = base.wrapping_add(symbol.value.into());
    let at = relocation.virtual_address.get(LE) as usize;
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..size)) {
        let mut number = [0; 8];
        number[..size].copy_from_slice(place);
        let sum = u64::from_le_bytes(number).wrapping_add(value);
        place.copy_from_slice(&sum.to_le_bytes()[..size]);
    }
}

/// Bytes of the number that a relocation changes, and whether it is an address; others are offsets in
/// sections.
fn kind(machine: Machine, typ: u16) -> Option<(usize, bool)> {
    let [wide, narrow, offset] = match machine {
        Machine::X64 => [pe::IMAGE_REL_AMD64_ADDR64, pe::IMAGE_REL_AMD64_ADDR32, pe::IMAGE_REL_AMD64_SECREL]
            .map(|typ| typ.0),
        Machine::X86 => {
            [pe::IMAGE_REL_I386_DIR32, pe::IMAGE_REL_I386_DIR32, pe::IMAGE_REL_I386_SECREL].map(|typ| typ.0)
        }
        Machine::Arm => return None,
        Machine::Arm64 | Machine::Arm64Ec | Machine::Arm64X => {
            [pe::IMAGE_REL_ARM64_ADDR64, pe::IMAGE_REL_ARM64_ADDR32, pe::IMAGE_REL_ARM64_SECREL]
                .map(|typ| typ.0)
        }
    };
    match typ {
        _ if typ == narrow => Some((4, true)),
        _ if typ == wide => Some((8, true)),
        _ if typ == offset => Some((4, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_relocations_change() {
        assert_eq!(kind(Machine::X86, pe::IMAGE_REL_I386_DIR32.0), Some((4, true)));
        assert_eq!(kind(Machine::X64, pe::IMAGE_REL_AMD64_ADDR64.0), Some((8, true)));
        assert_eq!(kind(Machine::Arm64, pe::IMAGE_REL_ARM64_SECREL.0), Some((4, false)));
        assert_eq!(kind(Machine::X64, pe::IMAGE_REL_AMD64_REL32.0), None);
    }
}
