//! The object that gateways are, and what becomes of those whose functions they lead to.

use crate::arch::facts::Gateways as Machine;
use crate::elf::*;
use crate::input::binary::Symbols;
use crate::input::made::{self, Section};
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

const TEXT: u16 = 1;
const SYMTAB: u32 = 3;
const STRTAB: u32 = 4;
const SECTIONS: usize = 5;

/// The object, with a section of `size` bytes. What no gateway takes of it is zero, by which nobody enters.
pub fn object(machine: &Machine, target: Target, size: u64, gateways: &[Gateway]) -> Vec<u8> {
    let format = target.format;
    let names = [
        &b"\0"[..],
        machine.section.as_bytes(),
        b"\0.rel",
        machine.section.as_bytes(),
        b"\0.symtab\0.strtab\0",
    ];
    let rel_name = 2 + machine.section.len() as u32;
    let symtab_name = rel_name + ".rel\0".len() as u32 + machine.section.len() as u32;
    let mut symbols = Symbols::with_sections(&names.concat());
    symbols.add(&[machine.mapping.as_bytes()], STB_LOCAL << 4, 0, TEXT, 0, 0);
    let mut text = vec![0; size as usize];
    let mut relocs = Vec::with_capacity(gateways.len());
    for gateway in gateways {
        let Gateway { name, special, info, other, offset } = *gateway;
        symbols.add(&[name], info, other, TEXT, offset | 1, machine.size());
        let function = symbols.add(&[special], STB_GLOBAL << 4, 0, SHN_UNDEF, 0, 0);
        let mut halves = Writer::with_room(format, machine.size() as usize);
        machine.code.iter().for_each(|half| _ = halves.u16(*half));
        let at = offset as usize;
        text[at..at + machine.size() as usize].copy_from_slice(&halves.finish());
        relocs.push([(offset + machine.branch) as u32, function << 8 | machine.kind]);
    }
    let (symbols, strings) = symbols.finish();
    let room = text.len() + strings.len() + (symbols.len() + 16) * Shdr::SIZE + relocs.len() * 8;
    let mut out = Writer::with_room(format, room);
    made::begin(&mut out, format);
    let mut sections = [Section::default(); SECTIONS];
    let at = out.position();
    out.bytes(&text);
    let flags = SHF_EXECINSTR | SHF_ALLOC;
    let section = Section { name: 1, kind: SHT_PROGBITS, flags, align: machine.align, ..Section::default() };
    sections[usize::from(TEXT)] = section.over(at, &out);
    let at = out.align(4).position();
    relocs.iter().flatten().for_each(|word| _ = out.u32(*word));
    let section = Section { name: rel_name, kind: SHT_REL, align: 4, ..Section::default() };
    sections[2] = Section { link: [SYMTAB, TEXT.into()], ..section }.over(at, &out).of_entries(8);
    let at = out.align(8).position();
    symbols.iter().for_each(|symbol| _ = out.record(symbol));
    let section = Section { name: symtab_name, kind: SHT_SYMTAB, link: [STRTAB, 2], ..Section::default() };
    sections[SYMTAB as usize] =
        Section { align: 8, ..section }.over(at, &out).of_entries(format.size::<Sym>());
    let at = out.position();
    out.bytes(&strings);
    let name = symtab_name + ".symtab\0".len() as u32;
    sections[STRTAB as usize] = Section { name, kind: SHT_STRTAB, ..Section::default() }.over(at, &out);
    let at = out.align(8).position();
    sections.iter().for_each(|section| section.write(&mut out));
    made::complete(out, target, machine.flags, at, SECTIONS, STRTAB)
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
