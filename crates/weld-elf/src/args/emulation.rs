//! `-m`: which object format and architecture to link for.
//!
//! Compilers pass the names of GNU `ld`. Those of architectures and formats that weld does not have
//! are told apart from typing errors, because "unknown" would send users on a wrong track.

use std::fmt::{self, Write};

use crate::arch::facts::Facts;
use crate::arch::{self, MACHINES, Machine};
use crate::elf::ELFOSABI_FREEBSD;

/// What `-m help` prints: a line for each machine, with all the names that it goes by.
pub fn list() -> String {
    let mut text = "Emulations (with _fbsd after the name, for FreeBSD):\n".to_owned();
    for facts in MACHINES.iter().map(|machine| machine.facts()) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {:<42} {}", facts.emulations.join(" "), facts.name);
    }
    text.push_str("PE/COFF, for MinGW: i386pep (x64), i386pe (x86), arm64pe (ARM64)\n");
    text
}

/// Why there is no machine of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmulationError {
    /// It is one of the other linker's.
    Coff(String),
    /// GNU ld has it, weld does not: its name and what it is.
    NotYet {
        name: String,
        architecture: &'static str,
    },
    Unknown(String),
}

impl fmt::Display for EmulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmulationError::Coff(name) => {
                write!(f, "{name} is a PE/COFF target, for which this is not the linker")
            }
            EmulationError::NotYet { name, architecture } => {
                write!(f, "{name}: architecture not supported yet: {architecture}")
            }
            EmulationError::Unknown(name) => {
                write!(f, "unknown emulation '{name}'; this release has {}", arch::names(Facts::emulation))
            }
        }
    }
}

impl std::error::Error for EmulationError {}

/// The machine that is meant, and `EI_OSABI` of the output if the name says it.
pub fn target(name: &str) -> Result<(Machine, Option<u8>), EmulationError> {
    match name.strip_suffix("_fbsd") {
        Some(machine_name) => Ok((machine(machine_name)?, Some(ELFOSABI_FREEBSD))),
        None => Ok((machine(name)?, None)),
    }
}

fn machine(name: &str) -> Result<Machine, EmulationError> {
    if let Some(machine) = arch::by_emulation(name) {
        return Ok(machine);
    }
    if matches!(name, "i386pe" | "i386pep" | "i386pep_bigobj" | "arm64pe" | "arm64ecpe" | "thumb2pe") {
        return Err(EmulationError::Coff(name.to_owned()));
    }
    let architecture = match name {
        "elf_x86_64_sol2" => "x86-64 Solaris",
        "elf_i386_sol2" => "32-bit x86",
        "aarch64elf32" | "aarch64linux32" => "AArch64 ILP32",
        "elf32briscv" | "elf64briscv" => "big-endian RISC-V",
        "elf_s390" => "s390 (31-bit)",
        "elf32_sparc" => "32-bit SPARC",
        "shlelf_linux" | "shelf_linux" => "SuperH",
        "elf64alpha" => "Alpha",
        _ => return Err(EmulationError::Unknown(name.to_owned())),
    };
    Err(EmulationError::NotYet { name: name.to_owned(), architecture })
}

/// Whether `-m` and this is what compilers for MIPS say of instructions (`-mips32r2`), which objects say
/// themselves.
pub fn is_instruction_set(name: &str) -> bool {
    let version = name.strip_prefix("ips").unwrap_or_default();
    let revision = version.strip_prefix("32").or_else(|| version.strip_prefix("64"));
    matches!(version, "1" | "2" | "3" | "4" | "5") || matches!(revision, Some("" | "r2" | "r3" | "r5" | "r6"))
}

#[cfg(test)]
mod tests {
    use super::{is_instruction_set, machine, target};

    #[test]
    fn instruction_sets_are_no_emulations() {
        for name in ["ips1", "ips32", "ips32r2", "ips64", "ips64r6"] {
            assert!(is_instruction_set(name), "{name}");
        }
        for name in ["ips", "ips6", "ips32r9", "elf32ltsmip", ""] {
            assert!(!is_instruction_set(name), "{name}");
        }
    }

    #[test]
    fn what_is_said_of_each_kind() {
        let error = |name: &str| target(name).unwrap_err().to_string();
        assert!(machine("elf_x86_64").is_ok() && machine("elf_amd64").is_ok());
        assert!(machine("elf_i386").is_ok() && machine("elf64_s390").is_ok());
        assert!(machine("elf64lriscv").is_ok() && machine("elf32lriscv").is_ok());
        assert!(machine("elf64loongarch").is_ok() && machine("elf32loongarch").is_ok());
        assert!(machine("aarch64linux").is_ok() && machine("aarch64linuxb").is_ok());
        assert_eq!(error("elf64briscv"), "elf64briscv: architecture not supported yet: big-endian RISC-V");
        let (freebsd, os_abi) = target("elf_i386_fbsd").unwrap();
        assert_eq!((freebsd.facts().name, os_abi), ("i386", Some(9)));
        assert!(machine("elf64lppc").is_ok() && machine("elf64ppc").is_ok());
        assert!(machine("avr5").is_ok() && machine("avrtiny").is_ok());
        assert!(machine("elf32ppc").is_ok() && machine("elf32lppclinux").is_ok());
        let (freebsd, os_abi) = target("elf32ppc_fbsd").unwrap();
        assert_eq!((freebsd.facts().emulation(), os_abi), ("elf32ppc", Some(9)));
        assert!(error("i386pep").contains("for which this is not the linker"));
        assert!(error("elf_x86_46").starts_with("unknown emulation 'elf_x86_46'"));
    }
}
