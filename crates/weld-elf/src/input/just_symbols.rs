//! `--just-symbols`: the symbols of a file as an object without anything else, which is then linked as any
//! other.
//!
//! Their values are numbers: addresses of what is there when the output runs, such as functions of a boot
//! ROM. Who wants them from a file that has not been linked gets offsets, as with GNU ld and ld.lld. Left out
//! is what is no address: thread-local storage, what is chosen when a program starts (IFUNC), and what is not
//! defined.

use weld_common::io::input::InputStore;

use super::made::{self, Symbols};
use super::object::{SymbolTable, header, section_table};
use super::unusable::{Malformed, Table, Unusable};
use crate::arch::facts::Facts;
use crate::elf::*;

/// The object for a file, which must be for `machine`.
pub fn object<'a>(store: &'a InputStore<'a>, data: &'a [u8], machine: &Facts) -> Result<Vec<u8>, Unusable> {
    let ehdr = header(data, machine)?;
    let elf = File::new(data, machine.target.format, store);
    let (shdrs, _) = section_table(&elf, &ehdr)?;
    let mut symbols = Symbols::default();
    // A file without a table has no symbols, as with GNU ld and ld.lld.
    if let Some(table) = SymbolTable::find(&elf, shdrs)? {
        let first = table.first_global as usize;
        let wrong = Malformed::Field { table: Table::Symbols, field: "sh_info", value: first as u64 };
        let globals = table.list.get(first..).ok_or(wrong)?;
        for (index, symbol) in (first..).zip(globals).filter(|(_, symbol)| is_address(symbol)) {
            let (info, other) = (symbol.st_info(), symbol.st_other());
            symbols.add(&[table.name(index)?], info, other, SHN_ABS, symbol.st_value(), symbol.st_size());
        }
    }
    Ok(made::assemble(machine.target, ehdr.e_flags(), None, symbols))
}

fn is_address(symbol: &Sym) -> bool {
    !matches!(symbol.st_shndx(), SHN_UNDEF | SHN_COMMON) && !matches!(symbol.kind(), STT_TLS | STT_GNU_IFUNC)
}
