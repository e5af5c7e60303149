//! What is known of a symbol, in the bits of one word: its kind, who sees it, and what relocations need of
//! it.
//!
//! Symbols are frozen to it ([`crate::symbols::Symbol`]), the scan adds needs, and whoever relocates asks it.
//! So machines know it, too, which know nothing else of symbols.

pub const KIND: u32 = 7;
pub const UNDEFINED: u32 = 0;
/// In an input section: `section` is its id.
pub const DEFINED: u32 = 1;
pub const ABSOLUTE: u32 = 2;
/// A common symbol. Once it has its place, `section` is the block of commons in which it lies.
pub const COMMON: u32 = 3;
/// In a shared object.
pub const SHARED: u32 = 4;
/// Defined by the linker; `section` is its index among the internal definitions.
pub const INTERNAL: u32 = 5;

pub const TLS: u32 = 1 << 3;
pub const FUNC: u32 = 1 << 4;
pub const IFUNC: u32 = 1 << 5;
/// Undefined, and no reference insists on a definition.
pub const WEAK_UNDEFINED: u32 = 1 << 6;
/// Hidden or internal visibility: not seen outside the output.
pub const HIDDEN: u32 = 1 << 7;
pub const PROTECTED: u32 = 1 << 8;
/// Goes into the dynamic symbol table as a definition.
pub const EXPORTED: u32 = 1 << 9;
/// Another module may define it at run time.
pub const PREEMPTIBLE: u32 = 1 << 10;
/// Bound by a version script to the local scope.
pub const LOCALIZED: u32 = 1 << 11;
/// Some object refers to it, not weakly.
pub const STRONG_REF: u32 = 1 << 12;
/// In a merge section: the address is that of a piece.
pub const MERGED: u32 = 1 << 13;
/// A live relocation refers to it.
pub const USED: u32 = 1 << 14;
/// Like `USED`, by a reference that is not weak.
pub const USED_STRONG: u32 = 1 << 15;

pub const NEEDS_GOT: u32 = 1 << 16;
pub const NEEDS_PLT: u32 = 1 << 17;
/// The address of the function is taken where only its PLT entry can stand for it.
pub const NEEDS_CANONICAL_PLT: u32 = 1 << 18;
pub const NEEDS_COPY: u32 = 1 << 19;
pub const NEEDS_TLSGD: u32 = 1 << 20;
pub const NEEDS_GOTTP: u32 = 1 << 21;
pub const NEEDS_TLSDESC: u32 = 1 << 22;
/// A dynamic relocation names the symbol.
pub const NEEDS_DYNSYM: u32 = 1 << 23;
pub const NEEDS: u32 = 0xff << 16;
/// Its definition lies in a section that lost as COMDAT, or that speaks to linkers only.
pub const IN_DISCARDED: u32 = 1 << 24;
pub const OBJECT: u32 = 1 << 25;
/// In a merge section, but in or before none of its pieces.
pub const OUTSIDE: u32 = 1 << 26;
/// Undefined so far: a lazy file that was not read comes before the shared object that defines it.
pub const PASSED_OVER: u32 = 1 << 27;
/// Absolute because `--defsym` or a script says so.
pub const ASSIGNED: u32 = 1 << 28;
/// How far below the highest bits those of `st_other` are that calls ask for ([`crate::arch::facts::Facts::called_other`]),
/// on machines that have neither signed nor tagged pointers, whose flags these are:
pub const OTHER_SHIFT: u32 = 24;
pub const OTHER: u32 = 0xe0 << OTHER_SHIFT;
/// Its slots in the GOT have pointers that the loader signs.
pub const SIGNED_SLOT: u32 = 1 << 29;
/// Those pointers are signed as pointers to code.
pub const SIGNED_CODE: u32 = 1 << 30;
/// Its slots in the GOT have pointers to which the loader gives tags.
pub const TAGGED_SLOT: u32 = 1 << 31;
