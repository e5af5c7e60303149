//! Symbols' names as people wrote them: those that Microsoft's compilers mangle, and the rest as everywhere.

use std::borrow::Cow;

use msvc_demangler::DemangleFlags;
use weld_common::demangle::demangle as demangle_other;
use weld_common::text;

use crate::coff::machine::Machine;

/// Longer names, and those with more digits, are shown as they are. A digit may stand for all that is before
/// it, and the library writes it out, so a short name could become one that fits into no memory.
const LONGEST: usize = 1 << 10;
const MOST_DIGITS: usize = 16;

/// A name of a program for this machine; `None` if that is not known.
pub fn demangle(name: &[u8], machine: Option<Machine>) -> Cow<'_, str> {
    // On x86 there is an underscore in front of all names of C and of this kind.
    let other = match machine {
        Some(Machine::X86) if name.starts_with(b"_Z") => return text::text(name),
        _ if name.starts_with(b"__Z") => &name[1..],
        _ => name,
    };
    microsoft(name).map_or_else(|| demangle_other(other), Cow::Owned)
}

fn microsoft(name: &[u8]) -> Option<String> {
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    if !name.starts_with(b"?") || name.len() > LONGEST || digits > MOST_DIGITS || has_odd_text(name) {
        return None;
    }
    msvc_demangler::demangle(std::str::from_utf8(name).ok()?, DemangleFlags::llvm()).ok()
}

/// Whether a name of a string, which has some of its text, spells a byte as no compiler does: `?$` and two letters
/// from `A` to `P`. The library does not expect that.
fn has_odd_text(name: &[u8]) -> bool {
    let Some(start) = memchr::memmem::find(name, b"??_C@") else { return false };
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| (b'A'..=b'P').contains(byte));
    let mut escapes = memchr::memmem::find_iter(&name[start..], b"?$").map(|at| start + at + 2);
    escapes.any(|at| !is_letter(name.get(at)) || !is_letter(name.get(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_kinds() {
        for (name, want) in [
            ("?foo@@YAHXZ", "int __cdecl foo(void)"),
            ("?f@A@@QEAAXPEBD@Z", "public: void __cdecl A::f(char const *)"),
            ("_ZN1a1bEv", "a::b()"),
            ("__ZN1a1bEv", "a::b()"),
            ("?foo", "?foo"),
            ("plain", "plain"),
            ("??_C@_02ABCDEFGH@a?$10b?$AA@", "??_C@_02ABCDEFGH@a?$10b?$AA@"),
            ("??_C@_02ABCDEFGH@a?$", "??_C@_02ABCDEFGH@a?$"),
        ] {
            assert_eq!(demangle(name.as_bytes(), None), want);
        }
        let text = "??_C@_02ABCDEFGH@ab?$AA@";
        assert_ne!(demangle(text.as_bytes(), None), text);
        let long = format!("?{}@@YAHXZ", "a".repeat(LONGEST));
        assert_eq!(demangle(long.as_bytes(), None), long);
        assert_eq!(demangle(b"_Z3foov", Some(Machine::X86)), "_Z3foov");
        let doubling = format!("?f@@YAX{}@Z", "P6AX00@Z".repeat(40));
        assert_eq!(demangle(doubling.as_bytes(), None), doubling);
    }
}
