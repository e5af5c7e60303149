//! Symbol names as people wrote them, for messages.
//!
//! Rust names, v0 and legacy, and Itanium C++ names. Anything else, anything too long, and anything
//! that would become too long (a short mangled name can stand for an endless one) is shown as it is.

mod common;

use std::borrow::Cow;
use std::fmt::{self, Write};

use common::Unsaid;
use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Mangled names above this many bytes are not tried.
const LONGEST_INPUT: usize = 16 << 10;

/// Demangled names above this many bytes are given up.
const LONGEST_OUTPUT: usize = 64 << 10;

/// How deep names nest before they are given up. Real ones stay far below.
const DEEPEST: u32 = 96;

/// `name` demangled if it can be. A version (`@VERSION`, `@@VERSION`) stays after it. Bytes that are
/// no UTF-8 are shown as U+FFFD.
pub fn demangle(name: &[u8]) -> Cow<'_, str> {
    let (mangled, version) = name.split_at(memchr::memchr(b'@', name).unwrap_or(name.len()));
    let Some(mut text) = demangle_unversioned(mangled) else { return crate::text::text(name) };
    text.push_str(&crate::text::text(version));
    Cow::Owned(text)
}

fn demangle_unversioned(name: &[u8]) -> Option<String> {
    let mangled = name.starts_with(b"_R") || name.starts_with(b"_Z") || name.starts_with(b"_GLOBAL_");
    if !mangled || name.len() > LONGEST_INPUT {
        return None;
    }
    match common::demangle(name) {
        Ok(text) => Some(text),
        Err(Unsaid::Here) => demangle_rust(name).or_else(|| demangle_cpp(name)),
        Err(Unsaid::Anywhere) => None,
    }
}

fn demangle_rust(name: &[u8]) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(std::str::from_utf8(name).ok()?).ok()?;
    let mut text = Bounded(String::new());
    // The alternate form leaves out the hash at the end.
    write!(text, "{demangled:#}").ok()?;
    Some(text.0)
}

fn demangle_cpp(name: &[u8]) -> Option<String> {
    let parse = ParseOptions::default().recursion_limit(DEEPEST);
    // The name must be mangled to its last byte.
    let (symbol, rest) = BorrowedSymbol::with_tail_and_options(name, &parse).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let mut text = Bounded(String::new());
    let options = DemangleOptions::new().recursion_limit(DEEPEST);
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(special(&text.0).unwrap_or(text.0))
}

/// Tables and thunks in the words that compilers, debuggers and version scripts use: the library has
/// its own.
fn special(text: &str) -> Option<String> {
    let inside = text.strip_prefix('{')?.strip_suffix(")}")?;
    let (what, mut inside) = inside.split_once('(')?;
    match what {
        "vtable" => return Some(format!("vtable for {inside}")),
        "vtt" => return Some(format!("VTT for {inside}")),
        "virtual override thunk" => {}
        _ => return None,
    }
    let mut offsets = 0;
    let mut is_virtual = false;
    while let Some(rest) = inside.strip_prefix("{offset(").or_else(|| inside.strip_prefix("{virtual offset("))
    {
        is_virtual |= inside.starts_with("{virtual");
        offsets += 1;
        inside = rest.split_once(")}, ")?.1;
    }
    Some(match (offsets, is_virtual) {
        (1, false) => format!("non-virtual thunk to {inside}"),
        (1, true) => format!("virtual thunk to {inside}"),
        _ => format!("covariant return thunk to {inside}"),
    })
}

/// A string that refuses to grow without end.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if self.0.len() + s.len() > LONGEST_OUTPUT {
            return Err(fmt::Error);
        }
        self.0.push_str(s);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: &str) {
        assert_eq!(demangle(name.as_bytes()), want);
    }

    #[test]
    fn cpp() {
        check("_Z3fooi", "foo(int)");
        check("_ZN2ns1CC1Ev", "ns::C::C()");
        check(
            "_ZNSt6vectorIiSaIiEE9push_backERKi",
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
        );
        check("_ZTV1C", "vtable for C");
        check("_ZTT1C", "VTT for C");
        check("_ZThn8_N1C1fEv", "non-virtual thunk to C::f()");
        check("_ZTv0_n24_N1C1fEv", "virtual thunk to C::f()");
        check("_ZTch0_v0_n24_N1C1fEv", "covariant return thunk to C::f()");
        check("_Z3fooi.cold", "foo(int) [clone .cold]");
    }

    #[test]
    fn plain_names_as_the_libraries_say_them() {
        const WORDS: [&str; 7] =
            ["1f", "2ns", "5class", "10_underscore", "17habcdef0123456789", "3ab", "12_GLOBAL__N_1"];
        const ENDS: [&str; 12] =
            ["", "v", "i", "bchstijlmxyfd", "vi", "iv", "Ki", "S_", "C1Ev", "I1fE", "0", ".cold"];
        let mut seed = 9u32;
        let mut any = |list: &[&'static str]| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            list[(seed >> 8) as usize % list.len()]
        };
        let mut plain = 0;
        for _ in 0..5000 {
            let mut name = format!("_Z{}", any(&["", "N", "N", "NK"]));
            for _ in 0..any(&["1", "22", "333"]).len() {
                name += any(&WORDS);
            }
            name += any(&["", "E", "E"]);
            name += any(&ENDS);
            let Ok(text) = common::demangle(name.as_bytes()) else { continue };
            let others = demangle_rust(name.as_bytes()).or_else(|| demangle_cpp(name.as_bytes()));
            assert_eq!(Some(text), others, "{name}");
            plain += 1;
        }
        assert!(plain > 100, "{plain}");
    }

    #[test]
    fn rust() {
        check("_RNvC6_123foo3bar", "123foo::bar");
        check("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
    }

    #[test]
    fn versions_stay() {
        check("_Z3fooi@@V_1.2", "foo(int)@@V_1.2");
        check("_Z3fooi@V1", "foo(int)@V1");
        check("memcpy@GLIBC_2.14", "memcpy@GLIBC_2.14");
    }

    #[test]
    fn other_names_are_left_alone() {
        for name in
            ["", "main", "_Z", "_R", "_Zfoo", "_Z3fo", "_Z3fooi!", "_ZN", "_RNvC", "Z3fooi", "@", "_Z@"]
        {
            check(name, name);
        }
        assert_eq!(crate::text::bytes(&demangle(b"a\xffb")), b"a\xffb".as_slice());
    }

    #[test]
    fn hostile_names_end() {
        let deep = format!("_Z1f{}i", "P".repeat(10_000));
        check(&deep, &deep);
        let long = format!("_Z{}{}", LONGEST_INPUT, "x".repeat(LONGEST_INPUT));
        check(&long, &long);
        // Each substitution doubles the one before.
        let mut doubling = String::from("_Z1fI1AE");
        for i in 0..30 {
            let previous = if i == 0 { "S_".into() } else { format!("S{}_", i - 1) };
            doubling.push_str(&format!("1bI{previous}{previous}E"));
        }
        demangle(doubling.as_bytes());
        let nested = format!("_R{}", "INvC1a1b".repeat(2000));
        check(&nested, &nested);
    }
}
