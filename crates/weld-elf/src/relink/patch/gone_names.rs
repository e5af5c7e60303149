//! What was called how that is gone: tables have no names, but the output of the last link has.

use super::{Left, View, format};
use crate::elf::*;
use crate::relink_state::excerpt::Common;
use crate::relink_state::keys;
use crate::relink_state::rows::{OutputRow, SectionRow};
use crate::sections::SectionKind;

/// The name that has this row, if the output has names.
pub fn of_row(left: &View, common: &Common, row: u32) -> Option<String> {
    let hash = common.name(left.tables, row).ok()?.hash;
    let is_it = |_: &Sym, name: &[u8]| keys::hash(name) == hash;
    find(left, common, is_it)
}

/// The name of what lay where a section is gone, if the output has names.
pub fn at(left: &View, common: &Common, row: &SectionRow) -> Option<String> {
    // What was merged had no place of its own.
    let lay_there = row.kind != SectionKind::Merge as u8;
    find(left, common, |symbol, _| {
        let is_any = matches!(symbol.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC);
        lay_there
            && is_any
            && symbol.st_value().checked_sub(row.address).is_some_and(|at| at < row.size.max(1))
    })
}

/// The first name of the output of which this is so.
fn find(left: &View, common: &Common, is_it: impl Fn(&Sym, &[u8]) -> bool) -> Option<String> {
    let bytes = |out: &OutputRow| left.read(out.offset, usize::try_from(out.size).ok()?);
    let symtab = bytes(common.outputs().iter().find(|out| out.kind == SHT_SYMTAB)?)?;
    let strings = bytes(common.output(b".strtab")?)?;
    let format = format(left).ok()?;
    let symbols = records::<Sym>(&symtab, format, 0, symtab.len() as u64 / format.size::<Sym>())?;
    let mut named = symbols.iter().filter(|symbol| symbol.st_name() != 0);
    let found = named.find_map(|symbol| {
        let name = string(&strings, symbol.st_name())?;
        is_it(symbol, name).then_some(name)
    })?;
    Some(String::from_utf8_lossy(found).into_owned())
}
