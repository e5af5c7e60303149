//! Symbols that relocations ask for without naming them ([`Facts::asks_for`]): an object that has such relocations, but
//! not the symbol, gets it, undefined, as the last of its symbols. So all that looks for definitions, and for who refers
//! to what, finds a reference as any other.

use std::sync::atomic::AtomicU32;

use super::object::Object;
use crate::arch::facts::{AsksFor, Facts};
use crate::crel::Crel;
use crate::elf::*;

impl<'a> Object<'a> {
    /// Adds the symbols that the object's relocations ask for, if it does not have them.
    pub(super) fn add_asked_for(&mut self, elf: &File<'a>) {
        let mut missing = self.asked_for(self.machine);
        if missing.is_empty() {
            return;
        }
        let globals = self.first_global..self.syms.len() as u32;
        let names: Vec<&[u8]> = globals.map(|symbol| self.symbol_name(symbol)).collect();
        missing.retain(|asked| !names.contains(&asked.symbol));
        let (mut symbols, mut strings) = (self.syms.to_vec(), self.strtab.to_vec());
        for asked in missing {
            symbols.push(Sym::make(strings.len() as u32, STB_GLOBAL << 4, 0, SHN_UNDEF, 0, 0));
            strings.extend_from_slice(asked.symbol);
            strings.push(0);
            self.globals.push(AtomicU32::new(u32::MAX));
        }
        (self.syms, self.strtab) = (elf.keep(symbols), elf.keep_bytes(strings));
    }

    /// What its relocations ask for.
    fn asked_for(&self, machine: &'static Facts) -> Vec<&'static AsksFor> {
        let mut found: Vec<&AsksFor> = Vec::new();
        // Without symbols there are none that relocations could name, which is told where they are read.
        if self.symtab == 0 || self.strtab.len() > u32::MAX as usize / 2 {
            return found;
        }
        for (index, shdr) in self.shdrs.iter().enumerate() {
            let relocates = shdr.sh_link() == self.symtab && (shdr.sh_info() as usize) < self.shdrs.len();
            if !relocates || found.len() == machine.asks_for.len() {
                continue;
            }
            self.each_type(index, |kind| {
                let asked = machine.asks_for.iter().find(|asked| (asked.asks)(kind));
                if let Some(asked) = asked.filter(|asked| !found.iter().any(|f| f.symbol == asked.symbol)) {
                    found.push(asked);
                }
            });
        }
        found
    }

    /// Hands the types of the relocations in a section to `take`, as far as they can be read.
    fn each_type(&self, index: usize, mut take: impl FnMut(u32)) {
        let shdr = &self.shdrs[index];
        match shdr.sh_type() {
            SHT_RELA => {
                let count = shdr.sh_size() / self.format().size::<Rela>();
                let list = records::<Rela>(self.data, self.format(), shdr.sh_offset(), count);
                list.iter().flat_map(|list| list.iter()).for_each(|reloc| take(reloc.kind()));
            }
            SHT_CREL => {
                let relocs = self.section_data(index).and_then(|data| Crel::parse(data).ok());
                let entries = relocs.iter().flat_map(|relocs| relocs.entries());
                entries.map_while(Result::ok).for_each(|reloc| take(reloc.kind));
            }
            _ => {}
        }
    }
}
