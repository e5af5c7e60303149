//! For which linker weld stands in: the name that it is called by decides what it answers to `--version`, and
//! what it does where peers differ and both ways are right.
//!
//! Configure scripts learn from that line which options they may pass, so it has to name the linker
//! that the caller thinks it has, in the form that the linker itself uses, with a version up to which
//! weld has its features. What they look at:
//!
//! - libtool: the words `GNU` or `with BFD` in the answer to `-v`; ` 0.` or ` 1.` anywhere in it (older
//!   ones: also in parentheses) is taken for a GNU ld that has no version scripts. So weld's own
//!   version follows a dash.
//! - The macros that libstdc++, libgomp, libatomic and libffi share: the last word of the first line is
//!   the version, unless there is `GNU gold`, `LLD` or `mold` in it.
//! - glibc: the line begins with `GNU gold`, `LLD` or `GNU ld`, and the last number behind a blank is the
//!   version. GHC: the same beginnings, on any line.
//! - Linux's `scripts/ld-version.sh`: `GNU ld` and the last word, or the word after `LLD`.
//! - Meson: `LLD` in the first line, else `GNU` with `GNU gold` or `mold` in front. CMake: the same words.
//!
//! `docs/compatibility.md` says what build systems conclude from it.

use std::fmt::Write;

use crate::arch;

/// The linker that the caller thinks it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompatMode {
    /// GNU ld: `ld`, `ld.bfd`, weld's own names and all others.
    #[default]
    Ld,
    /// `ld.lld`.
    Lld,
    /// GNU gold: `ld.gold`.
    Gold,
    /// `ld.mold`, `mold`.
    Mold,
}

/// weld's own name and version, as one word.
const WELD: &str = concat!("weld-", env!("CARGO_PKG_VERSION"));

impl CompatMode {
    /// By the name of the program, which may have the target in front and a version after.
    pub fn of_program(name: &str) -> CompatMode {
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
        match name.rsplit(['-', '.']).next() {
            Some("lld") => CompatMode::Lld,
            Some("gold") => CompatMode::Gold,
            Some("mold") => CompatMode::Mold,
            _ => CompatMode::Ld,
        }
    }

    /// Whether a program of this name is GNU ld itself for those who call it, not only a linker like it: what
    /// it prints is read.
    pub fn is_gnu_ld_itself(name: &str) -> bool {
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
        matches!(name.rsplit(['-', '.']).next(), Some("ld" | "bfd"))
    }

    /// The line of `--version`, with its newline.
    pub fn version_text(self) -> String {
        match self {
            CompatMode::Ld => format!("GNU ld ({WELD}) 2.40\n"),
            CompatMode::Lld => format!("LLD 22.1.0 ({WELD}, compatible with GNU linkers)\n"),
            CompatMode::Gold => format!("GNU gold ({WELD}) 1.16\n"),
            CompatMode::Mold => format!("mold 2.42.0 ({WELD}, compatible with GNU ld)\n"),
        }
    }

    /// Whether each version that the output defines is a symbol, too. GNU ld and gold do so, and dpkg's lists
    /// of symbols name them.
    pub fn defines_versions(self) -> bool {
        matches!(self, CompatMode::Ld | CompatMode::Gold)
    }

    /// Whether the caller counts on what GNU ld alone does: it reads `LD_RUN_PATH`, knows directories of
    /// libraries, and lets version scripts name what is not defined.
    pub fn is_gnu_ld(self) -> bool {
        self == CompatMode::Ld
    }

    /// Whether a position-independent executable that is linked at an address of its own is one for that
    /// address, as with GNU ld and mold.
    pub fn fixes_addresses(self) -> bool {
        matches!(self, CompatMode::Ld | CompatMode::Mold)
    }

    /// How many entries of `.dynamic` are kept free for tools, as by the linker that the caller counts on.
    pub fn spare_dynamic_tags(self) -> u16 {
        if self == CompatMode::Lld { 0 } else { 5 }
    }

    /// What `-V` prints.
    pub fn emulations_text(self) -> String {
        let mut text = self.version_text();
        _ = writeln!(text, "  Supported emulations:");
        for name in arch::names(|machine| machine.emulation()).split(' ') {
            _ = writeln!(text, "   {name}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CompatMode; 4] = [CompatMode::Ld, CompatMode::Lld, CompatMode::Gold, CompatMode::Mold];

    #[test]
    fn by_name() {
        for name in
            ["ld", "weld", "ld.weld", "ld.bfd", "x86_64-linux-gnu-ld", "foo", "collect2", "", "ld-2.40"]
        {
            assert_eq!(CompatMode::of_program(name), CompatMode::Ld, "{name}");
        }
        for name in ["ld", "ld.bfd", "x86_64-linux-gnu-ld", "ld-2.40"] {
            assert!(CompatMode::is_gnu_ld_itself(name), "{name}");
        }
        for name in ["weld", "ld.weld", "ld.lld", "lld", "ld.gold", "mold"] {
            assert!(!CompatMode::is_gnu_ld_itself(name), "{name}");
        }
        for name in ["ld.lld", "ld.lld-22", "x86_64-linux-gnu-ld.lld", "lld", "rust-lld"] {
            assert_eq!(CompatMode::of_program(name), CompatMode::Lld, "{name}");
        }
        assert_eq!(CompatMode::of_program("x86_64-linux-gnu-ld.gold"), CompatMode::Gold);
        assert_eq!(CompatMode::of_program("mold"), CompatMode::Mold);
        assert_eq!(CompatMode::of_program("ld.mold"), CompatMode::Mold);
    }

    /// What libtool's releases take for a linker of the last century.
    #[test]
    fn no_version_looks_older_than_it_is() {
        for compat_mode in ALL {
            let text = compat_mode.version_text();
            assert!(text.contains("GNU") && text.contains("weld") && text.lines().count() == 1, "{text}");
            // gold is asked for first.
            assert!(
                compat_mode == CompatMode::Gold || !text.contains(" 0.") && !text.contains(" 1."),
                "{text}"
            );
        }
    }

    #[test]
    fn the_last_word_is_the_version_where_scripts_count() {
        for compat_mode in [CompatMode::Ld, CompatMode::Gold] {
            let text = compat_mode.version_text();
            let last = text.trim_end().rsplit(' ').next().unwrap();
            let numbers: Result<Vec<u32>, _> = last.split('.').map(str::parse).collect();
            assert_eq!(numbers.map(|n| n.len()), Ok(2), "{text}");
        }
        assert!(CompatMode::Lld.version_text().starts_with("LLD 22"));
        assert!(CompatMode::Mold.version_text().starts_with("mold 2"));
    }
}
