//! `--just-symbols`: the symbols of a file as an object without anything else, which is then linked as any
//! other.
//!
//! Their values are numbers: addresses of what is there when the output runs, such as functions of a boot
//! ROM. Who wants them from a file that has not been linked gets offsets, as with GNU ld and ld.lld. Left out
//! is what is no address: thread-local storage, what is chosen when a program starts (IFUNC), and what is not
//! defined.

use weld_common::io::input::InputStore;

use super::binary;
use super::object::{header, section_table};
use crate::arch::facts::Facts;
use crate::elf::*;

/// The object for a file, which must be for `machine`.
pub fn object<'a>(store: &'a InputStore<'a>, data: &'a [u8], machine: &Facts) -> Result<Vec<u8>, String> {
    let ehdr = header(data, machine)?;
    let format = machine.target.format;
    let elf = File::new(data, format, store);
    let (shdrs, _) = section_table(&elf, &ehdr)?;
    // A file without a table has no symbols, as with GNU ld and ld.lld.
    let Some(table) = shdrs.iter().find(|shdr| shdr.sh_type() == SHT_SYMTAB) else {
        return Ok(binary::assemble(machine.target, ehdr.e_flags(), None, binary::Symbols::default()));
    };
    let count = table.sh_size() / format.size::<Sym>();
    let list: &[Sym] = elf.table(table.sh_offset(), count).ok_or("symbol table is out of bounds")?;
    let texts = shdrs.get(table.sh_link() as usize).filter(|shdr| shdr.sh_type() == SHT_STRTAB);
    let texts = texts.and_then(|shdr| slice(data, shdr.sh_offset(), shdr.file_size()));
    let texts = texts.ok_or("symbol table has a bad sh_link")?;
    let globals = list.get(table.sh_info() as usize..).ok_or("symbol table has a bad sh_info")?;
    let mut symbols = binary::Symbols::default();
    for symbol in globals.iter().filter(|symbol| is_address(symbol)) {
        let name = string(texts, symbol.st_name()).ok_or("a symbol has a bad name")?;
        let (info, other, value, size) =
            (symbol.st_info(), symbol.st_other(), symbol.st_value(), symbol.st_size());
        symbols.add(&[name], (info, other), SHN_ABS, (value, size));
    }
    Ok(binary::assemble(machine.target, ehdr.e_flags(), None, symbols))
}

fn is_address(symbol: &Sym) -> bool {
    !matches!(symbol.st_shndx(), SHN_UNDEF | SHN_COMMON) && !matches!(symbol.kind(), STT_TLS | STT_GNU_IFUNC)
}
