//! What was called how that is gone: tables have no names, but the output of the last link has.

use super::{Left, View, format};
use crate::elf::*;
use crate::relink_state::excerpt::Common;
use crate::relink_state::rows::{OutputRow, SectionRow};

/// The name of what lay where a section is gone, if the output has names.
pub fn at(left: &View, common: &Common, row: &SectionRow) -> Option<String> {
    let bytes = |out: &OutputRow| left.read(out.offset, usize::try_from(out.size).ok()?);
    let symtab = bytes(common.outputs().iter().find(|out| out.kind == SHT_SYMTAB)?)?;
    let strings = bytes(common.output(b".strtab")?)?;
    let format = format(left).ok()?;
    let symbols = records::<Sym>(&symtab, format, 0, symtab.len() as u64 / format.size::<Sym>())?;
    let is_it = |symbol: &&Sym| {
        let is_named = matches!(symbol.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC) && symbol.st_name() != 0;
        is_named && symbol.st_value().checked_sub(row.address).is_some_and(|at| at < row.size.max(1))
    };
    let name = string(&strings, symbols.iter().find(is_it)?.st_name())?;
    Some(String::from_utf8_lossy(name).into_owned())
}
