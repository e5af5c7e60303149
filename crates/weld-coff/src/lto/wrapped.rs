//! `/wrap` and `--wrap` in objects that compilers have made of intermediate code.
//!
//! A compiler that is told that references to a name are led elsewhere makes its definition weak, so that it
//! looks at none of its calls: a weak external whose default is the code. A weak definition of another file,
//! which has lost against it, must not win then: the definition is as strong again as it was in its file.

use std::collections::HashSet;

use object::pe;

use crate::coff::identify::{Kind, identify};
use crate::coff::object::{ObjectFile, Symbol, UNDEFINED};

/// The object in which definitions of `names` are not weak; `None` if none of them is, or if it is not as an
/// object has to be, which is said when it is read.
pub fn strong_again(object: &[u8], names: &HashSet<&[u8]>) -> Option<Vec<u8>> {
    if names.is_empty() {
        return None;
    }
    let is_big = match identify(object) {
        Kind::Object => false,
        Kind::BigObject => true,
        _ => return None,
    };
    let file = ObjectFile::parse(object, is_big).ok()?;
    let mut made: Option<Vec<u8>> = None;
    for (index, symbol) in file.symbols.iter() {
        let Some(default) = default_of(&file, index, &symbol, names) else { continue };
        let (at, size) = file.symbols.place(object, index)?;
        let bytes = made.get_or_insert_with(|| object.to_vec());
        // It is what its default is. What said which symbol that is says nothing any more.
        let (start, end) = (at + 8, at + size);
        let (default_at, _) = file.symbols.place(object, default)?;
        bytes[start..end - 1].copy_from_slice(&object[default_at + 8..default_at + size - 1]);
        bytes[end - 2] = pe::IMAGE_SYM_CLASS_EXTERNAL.0;
        bytes[end..end + size].fill(0);
    }
    made
}

/// The symbol that a weak definition of one of `names` stands for.
fn default_of(file: &ObjectFile, index: u32, symbol: &Symbol, names: &HashSet<&[u8]>) -> Option<u32> {
    let (default, _) = file.symbols.weak_external(index, symbol)?;
    let target = file.symbols.get(default).filter(|target| target.section != UNDEFINED)?;
    let is_wanted = names.contains(file.symbol_name(symbol).ok()?) && !target.is_weak_external();
    is_wanted.then_some(default)
}
