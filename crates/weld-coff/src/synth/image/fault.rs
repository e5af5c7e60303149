//! Relocations that cannot be applied: what is wrong, with which symbol, and who refers to it. The image and
//! the PDB have them.

use object::LittleEndian as LE;
use weld_common::diag::{Cause, Diagnostic, Spot};
use weld_common::text;

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
    let header = object.coff.sections.get((section.number as usize).wrapping_sub(1));
    let label = header.and_then(|header| object.coff.section_name(header).ok());
    let spot = Spot {
        section: label.map(|name| text::text(name).into_owned()),
        offset: Some(offset.into()),
        ..Spot::of_file(object.name.to_string())
    };
    let problem = Diagnostic::error(cause, text).note(format!("referenced by {place}")).spot(spot);
    let problem = if symbol.is_empty() { problem } else { problem.of_symbol(symbol) };
    problem.of(object.file, section.number)
}
