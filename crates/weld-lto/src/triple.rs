//! Targets by their names (`x86_64-unknown-linux-gnu`): what a file of bitcode says of the machine that it is
//! for.
//!
//! A triple has up to four parts: architecture, vendor, system, environment. Compilers write what LLVM calls
//! its normal form, so each part is taken for what its place says, as LLVM takes it. Parts may go on behind a
//! known word with a version (`linux-android21`, `armv7a`).
//!
//! Source: LLVM's `llvm/TargetParser/Triple.h`; numbers of machines: gABI, chapter 4, and "PE Format".

/// A triple, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple<'a> {
    /// None if it is of no known architecture.
    pub arch: Option<Arch>,
    os: &'a [u8],
    environment: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    Aarch64,
    Aarch64Be,
    AmdGcn,
    /// Code of ARM64 for programs of x86-64 (Windows).
    Arm64Ec,
    Arm,
    ArmBe,
    Avr,
    Bpf,
    BpfBe,
    Hexagon,
    LoongArch32,
    LoongArch64,
    M68k,
    Mips,
    MipsLe,
    Mips64,
    Mips64Le,
    Msp430,
    PowerPc,
    PowerPcLe,
    PowerPc64,
    PowerPc64Le,
    R600,
    RiscV32,
    RiscV64,
    S390x,
    Sparc,
    SparcV9,
    X86,
    X86_64,
}

/// What an ELF header says of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfMachine {
    /// `e_machine`.
    pub machine: u16,
    /// The class: 64 bits, or 32.
    pub is_64: bool,
    pub is_big_endian: bool,
}

impl ElfMachine {
    /// The triple of this machine for Linux and the GNU C library, as far as weld links for it: GCC's objects
    /// do not say it.
    pub fn gnu_triple(self) -> &'static [u8] {
        match (self.machine, self.is_64) {
            (3, _) => b"i386-unknown-linux-gnu",
            (22, _) => b"s390x-unknown-linux-gnu",
            (62, _) => b"x86_64-unknown-linux-gnu",
            (183, _) => b"aarch64-unknown-linux-gnu",
            (243, true) => b"riscv64-unknown-linux-gnu",
            (243, false) => b"riscv32-unknown-linux-gnu",
            (258, true) => b"loongarch64-unknown-linux-gnu",
            (258, false) => b"loongarch32-unknown-linux-gnu",
            _ => b"unknown-unknown-linux-gnu",
        }
    }
}

impl<'a> Triple<'a> {
    pub fn new(triple: &'a [u8]) -> Triple<'a> {
        let mut parts = triple.splitn(4, |&byte| byte == b'-');
        let mut part = || parts.next().unwrap_or_default();
        let (arch, _, os, environment) = (part(), part(), part(), part());
        Triple { arch: Arch::of(arch), os, environment }
    }

    pub fn is_windows(&self) -> bool {
        self.is_os("windows") || self.is_os("win32")
    }

    /// Windows with Microsoft's libraries and names, which it has if nothing else is said.
    pub fn is_msvc(&self) -> bool {
        self.is_windows() && !self.is_environment("gnu") && !self.is_environment("cygnus")
    }

    /// The system is this one, of any version.
    pub fn is_os(&self, name: &str) -> bool {
        self.os.starts_with(name.as_bytes())
    }

    /// The environment begins with this word.
    pub fn is_environment(&self, name: &str) -> bool {
        self.environment.starts_with(name.as_bytes())
    }

    /// Objects for it are COFF: the system's are, and no other format is asked for behind the environment.
    pub fn is_coff(&self) -> bool {
        let is_other =
            [&b"elf"[..], b"macho", b"wasm"].iter().any(|format| self.environment.ends_with(format));
        !is_other
            && (self.is_windows() || self.is_os("uefi") || self.is_os("cygwin") || self.is_os("mingw32"))
    }

    /// What ELF objects for it say of their machine; none if objects for it are not ELF.
    pub fn elf(&self) -> Option<ElfMachine> {
        let is_other = ["darwin", "macos", "ios", "tvos", "watchos", "xros", "driverkit", "aix", "wasi"];
        let arch = self.arch.filter(|&arch| arch != Arch::Arm64Ec)?;
        if self.is_coff() || is_other.iter().any(|os| self.is_os(os)) {
            return None;
        }
        let (machine, is_64, is_big_endian) = match arch {
            // Intel's microcontrollers.
            Arch::X86 if self.is_os("elfiamcu") => (6, false, false),
            arch => arch.elf(),
        };
        // Machines of 64 bits with pointers of 32.
        let is_narrow = ["gnux32", "muslx32", "gnuabin32", "muslabin32", "gnu_ilp32"];
        let is_64 = is_64 && !is_narrow.iter().any(|environment| self.is_environment(environment));
        Some(ElfMachine { machine, is_64, is_big_endian })
    }

    /// What COFF objects for it say of their machine; none if objects for it are not COFF.
    pub fn coff_machine(&self) -> Option<u16> {
        match self.arch {
            _ if !self.is_coff() => None,
            Some(Arch::X86) => Some(0x14c),
            Some(Arch::X86_64) => Some(0x8664),
            Some(Arch::Arm) => Some(0x1c4),
            Some(Arch::Aarch64) => Some(0xaa64),
            Some(Arch::Arm64Ec) => Some(0xa641),
            _ => None,
        }
    }
}

impl Arch {
    /// The architecture that the first part of a triple names.
    fn of(name: &[u8]) -> Option<Arch> {
        let name = std::str::from_utf8(name).ok()?;
        let starts = |start: &str| name.starts_with(start);
        Some(match name {
            "x86_64" | "amd64" | "x86_64h" => Arch::X86_64,
            "i386" | "i486" | "i586" | "i686" | "i786" | "i886" | "i986" => Arch::X86,
            "arm64ec" => Arch::Arm64Ec,
            "aarch64_be" => Arch::Aarch64Be,
            "aarch64" | "arm64" | "arm64e" | "aarch64_32" | "arm64_32" => Arch::Aarch64,
            "riscv32" => Arch::RiscV32,
            "riscv64" => Arch::RiscV64,
            "loongarch32" => Arch::LoongArch32,
            "loongarch64" => Arch::LoongArch64,
            "s390x" | "systemz" => Arch::S390x,
            "powerpc" | "powerpcspe" | "ppc" | "ppc32" => Arch::PowerPc,
            "powerpcle" | "ppcle" | "ppc32le" => Arch::PowerPcLe,
            "powerpc64" | "ppu" | "ppc64" => Arch::PowerPc64,
            "powerpc64le" | "ppc64le" => Arch::PowerPc64Le,
            "sparc" => Arch::Sparc,
            "sparcv9" | "sparc64" => Arch::SparcV9,
            "mips" | "mipseb" | "mipsallegrex" | "mipsisa32r6" | "mipsr6" => Arch::Mips,
            "mipsel" | "mipsallegrexel" | "mipsisa32r6el" | "mipsr6el" => Arch::MipsLe,
            "mips64" | "mips64eb" | "mipsn32" | "mipsisa64r6" | "mips64r6" | "mipsn32r6" => Arch::Mips64,
            "mips64el" | "mipsn32el" | "mipsisa64r6el" | "mips64r6el" | "mipsn32r6el" => Arch::Mips64Le,
            "hexagon" => Arch::Hexagon,
            "amdgcn" => Arch::AmdGcn,
            "r600" => Arch::R600,
            "avr" => Arch::Avr,
            "msp430" => Arch::Msp430,
            "m68k" => Arch::M68k,
            "bpfel" | "bpf_le" | "bpf" => Arch::Bpf,
            "bpfeb" | "bpf_be" => Arch::BpfBe,
            _ if starts("armeb") || starts("thumbeb") => Arch::ArmBe,
            _ if (starts("arm") || starts("thumb")) && name.ends_with("eb") => Arch::ArmBe,
            _ if starts("arm") || starts("thumb") || starts("xscale") => Arch::Arm,
            _ => return None,
        })
    }

    /// Machine, whether it has 64 bits, whether it is big-endian.
    fn elf(self) -> (u16, bool, bool) {
        match self {
            Arch::Aarch64 | Arch::Arm64Ec => (183, true, false),
            Arch::Aarch64Be => (183, true, true),
            Arch::AmdGcn => (224, true, false),
            Arch::Arm => (40, false, false),
            Arch::ArmBe => (40, false, true),
            Arch::Avr => (83, false, false),
            Arch::Bpf => (247, true, false),
            Arch::BpfBe => (247, true, true),
            Arch::Hexagon => (164, false, false),
            Arch::LoongArch32 => (258, false, false),
            Arch::LoongArch64 => (258, true, false),
            Arch::M68k => (4, false, true),
            Arch::Mips => (8, false, true),
            Arch::MipsLe => (8, false, false),
            Arch::Mips64 => (8, true, true),
            Arch::Mips64Le => (8, true, false),
            Arch::Msp430 => (105, false, false),
            Arch::PowerPc => (20, false, true),
            Arch::PowerPcLe => (20, false, false),
            Arch::PowerPc64 => (21, true, true),
            Arch::PowerPc64Le => (21, true, false),
            Arch::R600 => (224, false, false),
            Arch::RiscV32 => (243, false, false),
            Arch::RiscV64 => (243, true, false),
            Arch::S390x => (22, true, true),
            Arch::Sparc => (2, false, true),
            Arch::SparcV9 => (43, true, true),
            Arch::X86 => (3, false, false),
            Arch::X86_64 => (62, true, false),
        }
    }

    /// Registers have 64 bits.
    pub fn is_64(self) -> bool {
        self.elf().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(triple: &str) -> Option<(u16, bool, bool)> {
        let machine = Triple::new(triple.as_bytes()).elf()?;
        Some((machine.machine, machine.is_64, machine.is_big_endian))
    }

    #[test]
    fn triples_of_machines_are_for_these_machines() {
        for machine in [3, 22, 62, 183, 243, 258] {
            let is_64 = machine != 3;
            let named = ElfMachine { machine, is_64, is_big_endian: machine == 22 };
            assert_eq!(Triple::new(named.gnu_triple()).elf(), Some(named));
        }
    }

    #[test]
    fn machines_of_elf() {
        assert_eq!(elf("x86_64-unknown-linux-gnu"), Some((62, true, false)));
        assert_eq!(elf("x86_64-unknown-linux-gnux32"), Some((62, false, false)));
        assert_eq!(elf("x86_64"), Some((62, true, false)));
        assert_eq!(elf("i586-pc-linux-gnu"), Some((3, false, false)));
        assert_eq!(elf("aarch64_be-unknown-linux-gnu"), Some((183, true, true)));
        assert_eq!(elf("thumbv7em-none-unknown-eabihf"), Some((40, false, false)));
        assert_eq!(elf("armebv7r-none-unknown-eabi"), Some((40, false, true)));
        assert_eq!(elf("mips64el-unknown-linux-gnuabin32"), Some((8, false, false)));
        assert_eq!(elf("s390x-ibm-linux-gnu"), Some((22, true, true)));
        assert_eq!(elf("x86_64-pc-windows-msvc-elf"), Some((62, true, false)));
        assert_eq!(elf("i586-intel-elfiamcu"), Some((6, false, false)));
        assert_eq!(elf("amdgcn-amd-amdhsa"), Some((224, true, false)));
        assert_eq!(elf("r600-mesa-mesa3d"), Some((224, false, false)));
        assert_eq!(elf("x86_64-pc-windows-msvc"), None);
        assert_eq!(elf("arm64-apple-macosx13.0.0"), None);
        assert_eq!((elf(""), elf("wasm32-unknown-unknown"), elf("\u{e9}-a-b")), (None, None, None));
    }

    #[test]
    fn machines_of_coff() {
        let coff = |triple: &str| Triple::new(triple.as_bytes()).coff_machine();
        assert_eq!(coff("x86_64-pc-windows-msvc19.40.0"), Some(0x8664));
        assert_eq!(coff("i686-w64-windows-gnu"), Some(0x14c));
        assert_eq!(coff("aarch64-pc-windows-msvc"), Some(0xaa64));
        assert_eq!(coff("arm64ec-pc-windows-msvc"), Some(0xa641));
        assert_eq!(coff("thumbv7-pc-windows-msvc"), Some(0x1c4));
        assert_eq!(coff("x86_64-unknown-uefi"), Some(0x8664));
        assert_eq!((coff("x86_64-pc-linux-gnu"), coff("riscv64-pc-windows-msvc")), (None, None));
    }

    #[test]
    fn systems() {
        let triple = Triple::new(b"x86_64-w64-windows-gnu");
        assert!(triple.is_windows() && !triple.is_msvc() && triple.is_environment("gnu"));
        assert!(Triple::new(b"x86_64-pc-windows").is_msvc() && !Triple::new(b"x86_64-pc-linux").is_msvc());
        assert!(Triple::new(b"aarch64-unknown-linux-android21").is_environment("android"));
    }
}
