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
use crate::input::made::{self, Symbols};
use crate::input::object::{SymbolTable, header, section_table};
use crate::input::unusable::Unusable;

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
    let elf = File::new(data, machine.target.format, store);
    let (shdrs, _) = section_table(&elf, &ehdr)?;
    let Some(table) = SymbolTable::find(&elf, shdrs)? else { return Ok(Vec::new()) };
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let names = table.list.iter().enumerate().filter(|(_, symbol)| symbol.st_name() != 0);
    for (index, symbol) in names.filter(|(_, symbol)| !matches!(symbol.kind(), STT_SECTION | STT_FILE)) {
        let name = table.name(index)?;
        if index < table.first_global as usize && name.starts_with(b"$") {
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

/// The library for entry functions, in this order: the address of the gateway, the name, and `STB_GLOBAL` or `STB_WEAK`.
pub fn write(target: Target, flags: u32, entries: &[(u64, &[u8], u8)]) -> Vec<u8> {
    let mut symbols = Symbols::default();
    for (address, name, binding) in entries {
        symbols.add(&[name], binding << 4 | STT_FUNC, 0, SHN_ABS, address | 1, SIZE);
    }
    made::assemble(target, flags, None, symbols)
}
