//! What machine code is for: the machine, and the form of its files.
//!
//! All inputs of a link have the same target, and so has the output. `-m` names it, or the first object does.
//!
//! Specification: gABI chapter 4 ("ELF Header", `e_machine`).

use std::fmt;

use super::constants::EM_X86_64;
use super::format::Format;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `e_machine`.
    pub machine: u16,
    pub format: Format,
}

impl Target {
    pub const X86_64: Target = Target { machine: EM_X86_64, format: Format::NATIVE };

    /// The name that `-m` has for it.
    pub fn emulation(&self) -> &'static str {
        "elf_x86_64"
    }

    /// What the header at the start of a file says; `None` if it is no header.
    pub fn of(file: &[u8]) -> Option<Target> {
        let format = Format::of(file)?;
        Some(Target { machine: format.get_u16(file.get(18..20)?), format })
    }
}

/// `x86-64 (64-bit)`, `s390 (64-bit big-endian)`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.machine {
            3 => write!(f, "i386"),
            8 => write!(f, "MIPS"),
            20 | 21 => write!(f, "PowerPC"),
            22 => write!(f, "s390"),
            40 => write!(f, "ARM"),
            62 => write!(f, "x86-64"),
            183 => write!(f, "AArch64"),
            243 => write!(f, "RISC-V"),
            258 => write!(f, "LoongArch"),
            number => write!(f, "machine {number}"),
        }?;
        let class = if self.format.is_64() { "64" } else { "32" };
        write!(f, " ({class}-bit{})", if self.format.is_big() { " big-endian" } else { "" })
    }
}
