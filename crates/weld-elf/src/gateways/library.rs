//! Libraries of gateways, which programs of the other world are linked with: objects that have nothing but absolute
//! symbols, one for each entry function, 8 bytes long. Their values are odd: it is Thumb code.
//!
//! Specification: "Arm v8-M Security Extensions: Requirements on Development Tools", section 5.5.

use std::collections::HashSet;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::text;

use crate::arch::facts::Facts;
use crate::elf::*;
use crate::input::binary;
use crate::input::object::{header, section_table};
use crate::input::unusable::{Malformed, Table, Unusable};

/// What a symbol of a library counts for, in bytes.
const SIZE: u64 = 8;

/// An entry function of an earlier link.
#[derive(Debug, PartialEq, Eq)]
pub struct Known<'a> {
    pub name: &'a [u8],
    /// Of its gateway, without the bit for the instruction set.
    pub address: u64,
}

/// The entry functions that a library has. What is wrong with single ones is said; `path` is what messages call it.
///
/// # Errors
/// If it is no object for this machine, or a damaged one.
pub fn read<'a>(
    store: &'a InputStore<'a>,
    data: &'a [u8],
    machine: &Facts,
    path: &str,
    sink: &DiagSink,
) -> Result<Vec<Known<'a>>, Unusable> {
    let ehdr = header(data, machine)?;
    let format = machine.target.format;
    let elf = File::new(data, format, store);
    let (shdrs, _) = section_table(&elf, &ehdr)?;
    let Some(table) = shdrs.iter().find(|shdr| shdr.sh_type() == SHT_SYMTAB) else { return Ok(Vec::new()) };
    let count = table.sh_size() / format.size::<Sym>();
    let list: &[Sym] = elf.table(table.sh_offset(), count).ok_or(Malformed::OutOfBounds(Table::Symbols))?;
    let link = table.sh_link();
    let texts = shdrs.get(link as usize).filter(|shdr| shdr.sh_type() == SHT_STRTAB);
    let texts = texts.ok_or(Malformed::NoStrings { table: Table::Symbols, link })?;
    let texts = slice(data, texts.sh_offset(), texts.file_size());
    let texts = texts.ok_or(Malformed::OutOfBounds(Table::Strings))?;
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let names = list.iter().enumerate().filter(|(_, symbol)| symbol.st_name() != 0);
    for (index, symbol) in names.filter(|(_, symbol)| !matches!(symbol.kind(), STT_SECTION | STT_FILE)) {
        let name = string(texts, symbol.st_name());
        let name = name.ok_or(Malformed::SymbolName { table: Table::Symbols, index })?;
        if index < table.sh_info() as usize && name.starts_with(b"$") {
            // A mapping symbol, of what has been made by hand.
            continue;
        }
        let shown = text::text(name);
        let what = match () {
            () if !matches!(symbol.binding(), STB_GLOBAL | STB_WEAK) => Some("is not global"),
            () if symbol.st_shndx() != SHN_ABS => Some("is not absolute"),
            () if symbol.kind() != STT_FUNC || symbol.st_value() & 1 == 0 => {
                Some("is no function in Thumb code")
            }
            () if !seen.insert(name) => Some("is there twice"),
            () => None,
        };
        let say = |what: &str| {
            format!("{path}: {shown} {what}, but this is a library of entry functions (--in-implib)")
        };
        if let Some(what) = what {
            sink.push(Diagnostic::error(Cause::SecureGateway, say(what)).in_file(path.to_owned()));
            continue;
        }
        if symbol.st_size() != SIZE {
            let text = say(&format!("has {} bytes, and gateways have {SIZE}", symbol.st_size()));
            sink.push(Diagnostic::warning(Cause::SecureGateway, text).in_file(path.to_owned()));
        }
        all.push(Known { name, address: symbol.st_value() & !1 });
    }
    Ok(all)
}

/// The library for entry functions: name, `STB_GLOBAL` or `STB_WEAK`, and the address of the gateway, in this order.
pub fn write(target: Target, flags: u32, entries: &[(&[u8], u8, u64)]) -> Vec<u8> {
    let mut symbols = binary::Symbols::default();
    for (name, binding, address) in entries {
        symbols.add(&[name], binding << 4 | STT_FUNC, 0, SHN_ABS, address | 1, SIZE);
    }
    binary::assemble(target, flags, None, symbols)
}
