//! The machines that COFF files are for.

use super::pe;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Machine {
    X86,
    X64,
    Arm,
    Arm64,
    Arm64Ec,
    Arm64X,
}

use Machine::*;

/// Names as `/machine:` takes them, the number in files, and whether weld links for it.
const ALL: [(Machine, &str, u16, bool); 6] = [
    (X86, "x86", pe::IMAGE_FILE_MACHINE_I386.0, true),
    (X64, "x64", pe::IMAGE_FILE_MACHINE_AMD64.0, true),
    (Arm, "arm", pe::IMAGE_FILE_MACHINE_ARMNT.0, false),
    (Arm64, "arm64", pe::IMAGE_FILE_MACHINE_ARM64.0, true),
    (Arm64Ec, "arm64ec", pe::IMAGE_FILE_MACHINE_ARM64EC.0, false),
    (Arm64X, "arm64x", pe::IMAGE_FILE_MACHINE_ARM64X.0, false),
];

impl Machine {
    fn row(self) -> &'static (Machine, &'static str, u16, bool) {
        &ALL[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Its number in headers.
    pub fn number(self) -> u16 {
        self.row().2
    }

    pub fn is_supported(self) -> bool {
        self.row().3
    }

    /// The machine with a number of headers.
    pub fn of_number(number: u16) -> Option<Machine> {
        ALL.iter().find(|row| row.2 == number).map(|row| row.0)
    }

    /// The machine that `/machine:` names.
    pub fn of_name(name: &str) -> Option<Machine> {
        let name = name.to_ascii_lowercase();
        let name = match name.as_str() {
            "amd64" | "x86_64" | "x86-64" => "x64",
            "i386" | "i686" => "x86",
            "armnt" => "arm",
            "aarch64" => "arm64",
            name => name,
        };
        ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Whether addresses have 64 bits.
    pub fn is_64(self) -> bool {
        !matches!(self, X86 | Arm)
    }

    /// The target triple of MinGW's compilers for it.
    pub fn gnu_triple(self) -> &'static [u8] {
        match self {
            X86 => b"i686-w64-windows-gnu",
            X64 => b"x86_64-w64-windows-gnu",
            Arm => b"armv7-w64-windows-gnu",
            Arm64 | Arm64Ec | Arm64X => b"aarch64-w64-windows-gnu",
        }
    }

    /// The prefix of C names.
    pub fn prefix(self) -> &'static str {
        if self == X86 { "_" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        for row in &ALL {
            assert_eq!(row.0.row().1, row.1);
            assert_eq!(Machine::of_name(row.1), Some(row.0));
            assert_eq!(Machine::of_number(row.2), Some(row.0));
        }
        assert_eq!(Machine::of_name("AMD64"), Some(X64));
        assert_eq!(Machine::of_name("z80"), None);
    }
}
