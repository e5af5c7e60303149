//! One folder an architecture: its relocation types, what each asks of its symbol, how it is
//! applied and relaxed, and its PLT.

pub mod x86_64;

use crate::elf::Target;

/// The addend of a relocation of type `kind` that has none of its own: it lies in the bytes that the relocation
/// applies to, the start of `bytes`. `None` if they are too few, or if the type is not known.
pub type ImplicitAddend = fn(kind: u32, bytes: &[u8]) -> Option<i64>;

/// How such addends are read for `target`; `None` if all its relocations have addends of their own.
pub fn implicit_addend(_target: Target) -> Option<ImplicitAddend> {
    None
}
