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
use super::unusable::{Malformed, Table, Unusable};
use crate::arch::facts::Facts;
use crate::elf::*;

/// The object for a file, which must be for `machine`.
pub fn object<'a>(store: &'a InputStore<'a>, data: &'a [u8], machine: &Facts) -> Result<Vec<u8>, Unusable> {
    let ehdr = header(data, machine)?;
    let format = machine.target.format;
    let elf = File::new(data, format, store);
    let (shdrs, _) = section_table(&elf, &ehdr)?;
    // A file without a table has no symbols, as with GNU ld and ld.lld.
    let Some(table) = shdrs.iter().find(|shdr| shdr.sh_type() == SHT_SYMTAB) else {
        return Ok(binary::assemble(machine.target, ehdr.e_flags(), None, binary::Symbols::default()));
    };
    let count = table.sh_size() / format.size::<Sym>();
    let list: &[Sym] = elf.table(table.sh_offset(), count).ok_or(Malformed::OutOfBounds(Table::Symbols))?;
    let (link, first) = (table.sh_link(), table.sh_info());
    let texts = shdrs.get(link as usize).filter(|shdr| shdr.sh_type() == SHT_STRTAB);
    let texts = texts.ok_or(Malformed::NoStrings { table: Table::Symbols, link })?;
    let texts = slice(data, texts.sh_offset(), texts.file_size());
    let texts = texts.ok_or(Malformed::OutOfBounds(Table::Strings))?;
    let wrong_first = Malformed::Field { table: Table::Symbols, field: "sh_info", value: first.into() };
    let globals = list.get(first as usize..).ok_or(wrong_first)?;
    let mut symbols = binary::Symbols::default();
    for (index, symbol) in (first as usize..).zip(globals).filter(|(_, symbol)| is_address(symbol)) {
        let name = string(texts, symbol.st_name());
        let name = name.ok_or(Malformed::SymbolName { table: Table::Symbols, index })?;
        let (info, other, value, size) =
            (symbol.st_info(), symbol.st_other(), symbol.st_value(), symbol.st_size());
        symbols.add(&[name], info, other, SHN_ABS, value, size);
    }
    Ok(binary::assemble(machine.target, ehdr.e_flags(), None, symbols))
}

fn is_address(symbol: &Sym) -> bool {
    !matches!(symbol.st_shndx(), SHN_UNDEF | SHN_COMMON) && !matches!(symbol.kind(), STT_TLS | STT_GNU_IFUNC)
}
