//! How messages name places in objects: by the line of the source, or by the symbol that is nearest.

pub mod source;

mod dwarf;

use crate::input::object::Object;
use crate::options::Options;

/// What happens at a source line of a file, or just in the file.
pub fn two_lines(what: &str, line: Option<String>, file: &str) -> Vec<String> {
    match line {
        Some(line) => vec![format!("{what} {line}"), format!("{:width$} {file}", "", width = what.len())],
        None => vec![format!("{what} {file}")],
    }
}

/// A place in an object, with the symbol that is nearest in front of it: `OBJECT:(NAME)`.
pub fn place(object: &Object, section: i32, offset: u32, options: &Options) -> String {
    let before = object.coff.symbols.iter().filter(|(index, symbol)| {
        symbol.section == section
            && symbol.value <= offset
            && object.coff.symbols.section_definition(*index, symbol).is_none()
    });
    let nearest = before.max_by_key(|(index, symbol)| (symbol.value, std::cmp::Reverse(*index)));
    let name = nearest.and_then(|(_, symbol)| object.coff.symbol_name(&symbol).ok());
    match name {
        Some(name) => format!("{}:({})", object.name, options.shown(name)),
        None => object.name.to_string(),
    }
}
