//! What machine code is for: the machine, and the form of its files.
//!
//! All inputs of a link have the same target, and so has the output. `-m` names it, or the first object does.
//!
//! Specification: gABI chapter 4 ("ELF Header", `e_machine`).

use std::fmt;

use super::format::Format;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `e_machine`.
    pub machine: u16,
    pub format: Format,
    /// The bits of `e_flags` that tell one ABI of the machine from others of the same format.
    pub abi: u32,
}

/// The bits of a machine that has another ABI of this format, and what that is called.
fn other_abi(machine: u16, format: Format) -> Option<(u32, &'static str)> {
    match machine {
        8 if !format.is_64() => Some((0x20, "n32")),
        _ => None,
    }
}

impl Target {
    /// What the header at the start of a file says; `None` if it is no header.
    pub fn of(file: &[u8]) -> Option<Target> {
        let format = Format::of(file)?;
        let target = Target::new(format.get_u16(file.get(18..20)?), format);
        let Some((bits, _)) = other_abi(target.machine, format) else { return Some(target) };
        let flags = file.get(36..40).map_or(0, |flags| format.get_u32(flags));
        Some(Target { abi: flags & bits, ..target })
    }

    /// That of a machine with one ABI of this format.
    pub const fn new(machine: u16, format: Format) -> Target {
        Target { machine, format, abi: 0 }
    }
}

/// `x86-64 (64-bit)`, `s390 (64-bit big-endian)`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match machine_name(self.machine) {
            Some(name) => write!(f, "{name}")?,
            None => write!(f, "machine {}", self.machine)?,
        }
        let class = if self.format.is_64() { "64" } else { "32" };
        f.write_str(" (")?;
        if let Some((_, name)) = other_abi(self.machine, self.format).filter(|_| self.abi != 0) {
            write!(f, "{name}, ")?;
        }
        write!(f, "{class}-bit{})", if self.format.is_big() { " big-endian" } else { "" })
    }
}

/// What an `e_machine` is called, also of machines that weld does not link for.
fn machine_name(number: u16) -> Option<&'static str> {
    Some(match number {
        3 => "i386",
        4 => "m68k",
        42 => "SuperH",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "s390",
        2 | 18 | 43 => "SPARC",
        40 => "ARM",
        62 => "x86-64",
        83 => "AVR",
        105 => "MSP430",
        164 => "Hexagon",
        183 => "AArch64",
        224 => "AMDGPU",
        243 => "RISC-V",
        258 => "LoongArch",
        _ => return None,
    })
}
