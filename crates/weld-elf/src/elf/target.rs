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

/// ABIs of a machine that files of one format may be of.
struct Abis {
    /// The bits of `e_flags` that tell them apart.
    bits: u32,
    /// What of these they have, and what they are called.
    names: &'static [(u32, &'static str)],
    /// A file with none of these bits is of any of them, of this one if nothing else says.
    usual: Option<u32>,
}

/// Those of a machine that has several of this format.
fn abis(machine: u16, format: Format) -> Option<&'static Abis> {
    const MIPS: Abis = Abis { bits: 0x20, names: &[(0x20, "n32")], usual: None };
    const POWER: Abis = Abis { bits: 3, names: &[(1, "ELFv1"), (2, "ELFv2")], usual: Some(1) };
    // Whatever they say, they are of ELFv2, or in error.
    const LITTLE_POWER: Abis = Abis { bits: 0, names: &[], usual: Some(2) };
    match machine {
        8 if !format.is_64() => Some(&MIPS),
        21 if format.is_64() && format.is_big() => Some(&POWER),
        21 if format.is_64() => Some(&LITTLE_POWER),
        _ => None,
    }
}

/// Where `e_flags` is in a header of this format.
fn flags(file: &[u8], format: Format) -> Option<u32> {
    let at = if format.is_64() { 48 } else { 36 };
    file.get(at..at + 4).map(|flags| format.get_u32(flags))
}

impl Target {
    /// What the header at the start of a file says; `None` if it is no header.
    pub fn of(file: &[u8]) -> Option<Target> {
        let format = Format::of(file)?;
        let target = Target::new(format.get_u16(file.get(18..20)?), format);
        let Some(abis) = abis(target.machine, format) else { return Some(target) };
        Some(Target { abi: flags(file, format).unwrap_or(0) & abis.bits, ..target })
    }

    /// That of a machine with this ABI, of several that have one format.
    pub const fn with_abi(machine: u16, format: Format, abi: u32) -> Target {
        Target { machine, format, abi }
    }

    /// Whether a file with this target is for a machine: it need not say of which ABI it is.
    pub fn is_for(self, machine: Target) -> bool {
        self == machine
            || self.abi == 0
                && self.is_sibling(machine)
                && abis(self.machine, self.format).is_some_and(|abis| abis.usual.is_some())
    }

    /// Whether it differs in the ABI only, if in anything.
    pub fn is_sibling(self, other: Target) -> bool {
        Target { abi: other.abi, ..self } == other
    }

    /// The same with the ABI that is meant if nothing says which.
    pub fn settled(self) -> Target {
        let usual = abis(self.machine, self.format).and_then(|abis| abis.usual);
        Target { abi: if self.abi == 0 { usual.unwrap_or(0) } else { self.abi }, ..self }
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
        let named = abis(self.machine, self.format).into_iter().flat_map(|abis| abis.names);
        if let Some((_, name)) = named.into_iter().find(|(abi, _)| *abi == self.abi) {
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
