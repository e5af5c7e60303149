//! The object that gateways are, and what becomes of those whose functions they lead to.

use crate::arch::facts::Gateways as Machine;
use crate::elf::*;
use crate::input::made::{self, CONTENTS, Contents, Symbols};
use crate::input::object::Object;

/// A gateway in the making.
pub struct Gateway<'a> {
    pub name: &'a [u8],
    /// The name of the function.
    pub special: &'a [u8],
    /// `st_info` and `st_other`.
    pub info: u8,
    pub other: u8,
    /// Where it is in its section.
    pub offset: u64,
}

/// The object, with a section of `size` bytes. What no gateway takes of it is zero, by which nobody enters.
pub fn object(machine: &Machine, target: Target, size: u64, gateways: &[Gateway]) -> Vec<u8> {
    let mut symbols = Symbols::default();
    symbols.add(&[machine.mapping.as_bytes()], STB_LOCAL << 4, 0, CONTENTS, 0, 0);
    let mut code = Writer::with_room(target.format, machine.size() as usize);
    machine.code.iter().for_each(|half| _ = code.u16(*half));
    let code = code.finish();
    let mut text = vec![0; size as usize];
    let mut relocs = Vec::with_capacity(gateways.len());
    for gateway in gateways {
        let Gateway { name, special, info, other, offset } = *gateway;
        symbols.add(&[name], info, other, CONTENTS, offset | 1, machine.size());
        let function = symbols.add(&[special], STB_GLOBAL << 4, 0, SHN_UNDEF, 0, 0);
        text[offset as usize..][..code.len()].copy_from_slice(&code);
        relocs.push((offset + machine.branch, function, machine.kind));
    }
    let (name, flags, align) = (machine.section, SHF_EXECINSTR | SHF_ALLOC, machine.align);
    let text = Contents { name, flags, align, bytes: &text, relocs: &relocs };
    made::assemble(target, machine.flags, Some(text), symbols)
}

/// A copy of an object that does not define some of its symbols any more, but refers to them.
pub fn without_definitions(object: &Object, symbols: impl Iterator<Item = u32>) -> Vec<u8> {
    let format = object.format();
    let mut bytes = object.data.to_vec();
    let table = object.shdrs[object.symtab as usize].sh_offset();
    for index in symbols {
        let symbol = &object.syms[index as usize];
        let mut record = Writer::with_room(format, format.size::<Sym>() as usize);
        record.record(&Sym::make(symbol.st_name(), symbol.st_info(), symbol.st_other(), SHN_UNDEF, 0, 0));
        let record = record.finish();
        // The table was looked at when the object was read.
        let at = (table + u64::from(index) * record.len() as u64) as usize;
        bytes[at..at + record.len()].copy_from_slice(&record);
    }
    bytes
}
