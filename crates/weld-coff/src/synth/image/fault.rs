//! Relocations that cannot be applied: what is wrong, with which symbol, and who refers to it. The image and
//! the PDB have them.

use object::LittleEndian as LE;
use weld_common::diag::{Cause, Diagnostic};

use super::Image;
use crate::coff::object::Relocation;
use crate::sections::Section;
use crate::wording;

/// What is wrong with a relocation, with where it is.
#[cold]
pub fn fault(
    image: &Image,
    section: &Section,
    relocation: &Relocation,
    cause: Cause,
    what: &str,
) -> Diagnostic {
    let object = image.object(section.object);
    let index = relocation.symbol_table_index.get(LE);
    let symbol = object.coff.symbols.get(index).filter(|_| object.is_symbol(index));
    let symbol = symbol.and_then(|symbol| object.coff.symbol_name(&symbol).ok()).unwrap_or_default();
    let offset = relocation.virtual_address.get(LE);
    let place = wording::place(object, section.number as i32, offset, image.options);
    let text = match symbol {
        b"" => what.to_owned(),
        name => format!("{what}: {}", image.options.shown(name)),
    };
    Diagnostic::error(cause, text).note(format!("referenced by {place}")).of(object.file, section.number)
}
