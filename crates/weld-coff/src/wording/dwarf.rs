//! The source lines that an object's DWARF tells, as compilers of GNU make it (`weld_common::source_lines`):
//! which of its sections are which, and how its debug sections are relocated.

use std::borrow::Cow;

use object::LittleEndian as LE;
use weld_common::source_lines::unlinked::{Addresses, UnlinkedLines};

use crate::coff::machine::Machine;
use crate::coff::object::{Relocation, SectionHeader};
use crate::coff::pe;
use crate::input::object::Object;

pub struct Dwarf<'a>(UnlinkedLines<'a>);

impl<'a> Dwarf<'a> {
    pub fn of(object: &Object<'a>) -> Dwarf<'a> {
        let named = |header: &'a SectionHeader| {
            let name = object.coff.section_name(header).unwrap_or_default();
            name.starts_with(b".debug_").then_some(name)
        };
        let size = |header: &'a SectionHeader| match named(header) {
            Some(_) => None,
            None => Some(header.size_of_raw_data.get(LE).into()),
        };
        let addresses = Addresses::one_after_the_other(object.coff.sections.iter().map(size), u64::MAX);
        let relocated = |header: &'a SectionHeader| {
            let name = named(header)?;
            let mut bytes = object.coff.contents(header).ok()?.to_vec();
            for relocation in object.coff.relocations(header).unwrap_or_default() {
                relocate(object, &addresses, relocation, &mut bytes);
            }
            Some((name, Cow::Owned(bytes)))
        };
        let debug = object.coff.sections.iter().filter_map(relocated).collect();
        Dwarf(UnlinkedLines::new(addresses, debug, false))
    }

    /// `file:line` of a place in a section.
    pub fn at(&self, object: &Object, section: u32, offset: u32) -> Option<String> {
        let header = object.coff.section(section)?;
        let (index, offset) = (section as usize - 1, u64::from(offset));
        match header.characteristics.get(LE).0 & pe::IMAGE_SCN_CNT_CODE.0 != 0 {
            true => self.0.of_code(index, offset),
            false => self.0.of_variable(index, offset),
        }
    }
}

/// Adds to a number of a debug section the address of what it refers to, or the offset of that in its
/// section.
fn relocate(object: &Object, addresses: &Addresses, relocation: &Relocation, bytes: &mut [u8]) {
    let machine = object.coff.machine.unwrap_or(Machine::X64);
    let Some((size, is_address)) = kind(machine, relocation.typ.get(LE).0) else { return };
    let Some(symbol) = object.coff.symbols.get(relocation.symbol_table_index.get(LE)) else { return };
    let section = usize::try_from(symbol.section).ok().and_then(|number| number.checked_sub(1));
    let base = section.and_then(|index| addresses.start(index)).filter(|_| is_address).unwrap_or(0);
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
