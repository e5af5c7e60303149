//! What the verifier knows of machines: what their relocations are called and which of them store what.
//!
//! Names are those of the specifications without what all of a machine's begin with.

use super::image::Image;
use super::query::reloc_name;
use object::elf;

#[derive(Clone, Copy)]
pub struct Machine {
    machine: u16,
    /// What names of relocation types begin with.
    pub prefix: &'static str,
    /// The types that a loader applies.
    dynamic: &'static [&'static str],
    /// Whole words: name, bytes, whether they count from their place.
    words: &'static [(&'static str, usize, bool)],
    /// Those of them that may lead to a PLT entry.
    calls: &'static [&'static str],
    /// A word that holds any address.
    pub address: &'static str,
    /// The bytes from which the thread-local storage of a program starts after the thread pointer; `None` if
    /// it ends there.
    pub tls_block: Option<u64>,
}

const MACHINES: &[Machine] = &[
    Machine {
        machine: elf::EM_X86_64.0,
        prefix: "R_X86_64_",
        dynamic: &[
            "64",
            "COPY",
            "GLOB_DAT",
            "JUMP_SLOT",
            "RELATIVE",
            "DTPMOD64",
            "DTPOFF64",
            "TPOFF64",
            "TLSDESC",
            "IRELATIVE",
            "SIZE64",
            "SIZE32",
            "32",
            "PC32",
            "PC64",
        ],
        words: &[
            ("64", 8, false),
            ("32", 4, false),
            ("32S", 4, false),
            ("PC32", 4, true),
            ("PC64", 8, true),
            ("PLT32", 4, true),
        ],
        calls: &["PLT32"],
        address: "64",
        tls_block: None,
    },
    Machine {
        machine: elf::EM_AARCH64.0,
        prefix: "R_AARCH64_",
        dynamic: &[
            // AUTH_ABS64, AUTH_RELATIVE, AUTH_GLOB_DAT and AUTH_TLSDESC: pointers that are signed.
            "type 580",
            "type 1041",
            "type 1042",
            "type 1043",
            "ABS64",
            "COPY",
            "GLOB_DAT",
            "JUMP_SLOT",
            "RELATIVE",
            "TLS_DTPMOD",
            "TLS_DTPREL",
            "TLS_TPREL",
            "TLSDESC",
            "IRELATIVE",
        ],
        words: &[
            ("ABS64", 8, false),
            ("ABS32", 4, false),
            ("PREL32", 4, true),
            ("PREL64", 8, true),
            ("PLT32", 4, true),
        ],
        calls: &["PLT32"],
        address: "ABS64",
        tls_block: Some(16),
    },
    Machine {
        machine: elf::EM_386.0,
        prefix: "R_386_",
        dynamic: &[
            "32",
            "PC32",
            "COPY",
            "GLOB_DAT",
            "JMP_SLOT",
            "RELATIVE",
            "TLS_DTPMOD32",
            "TLS_DTPOFF32",
            "TLS_TPOFF",
            "TLS_TPOFF32",
            "TLS_DESC",
            "IRELATIVE",
            "SIZE32",
        ],
        // Without addends beside them nothing is known of what they store.
        words: &[],
        calls: &["PLT32"],
        address: "32",
        tls_block: None,
    },
    Machine {
        machine: elf::EM_ARM.0,
        prefix: "R_ARM_",
        dynamic: &[
            "ABS32",
            "COPY",
            "GLOB_DAT",
            "JUMP_SLOT",
            "RELATIVE",
            "TLS_DTPMOD32",
            "TLS_DTPOFF32",
            "TLS_TPOFF32",
            "IRELATIVE",
        ],
        // Without addends beside them nothing is known of what they store.
        words: &[],
        calls: &[],
        address: "ABS32",
        tls_block: Some(8),
    },
    Machine {
        machine: elf::EM_AMDGPU.0,
        prefix: "R_AMDGPU_",
        dynamic: &["ABS64", "RELATIVE64"],
        words: &[("ABS64", 8, false), ("ABS32", 4, false), ("REL32", 4, true), ("REL64", 8, true)],
        calls: &[],
        address: "ABS64",
        tls_block: Some(0),
    },
    Machine {
        machine: elf::EM_MSP430.0,
        prefix: "R_MSP430_",
        dynamic: &[],
        words: &[("32", 4, false)],
        calls: &[],
        address: "32",
        tls_block: Some(0),
    },
    Machine {
        machine: elf::EM_AVR.0,
        prefix: "R_AVR_",
        // Nobody loads its programs.
        dynamic: &[],
        words: &[("32", 4, false), ("32_PCREL", 4, true)],
        calls: &[],
        address: "32",
        tls_block: Some(0),
    },
    Machine {
        machine: elf::EM_S390.0,
        prefix: "R_390_",
        dynamic: &[
            "64",
            "COPY",
            "GLOB_DAT",
            "JMP_SLOT",
            "RELATIVE",
            "TLS_DTPMOD",
            "TLS_DTPOFF",
            "TLS_TPOFF",
            "IRELATIVE",
        ],
        words: &[("64", 8, false), ("32", 4, false), ("PC32", 4, true), ("PC64", 8, true)],
        calls: &["PLT32DBL"],
        address: "64",
        tls_block: None,
    },
    Machine {
        machine: elf::EM_RISCV.0,
        prefix: "R_RISCV_",
        dynamic: &[
            "64",
            "32",
            "RELATIVE",
            "COPY",
            "JUMP_SLOT",
            "TLS_DTPMOD64",
            "TLS_DTPREL64",
            "TLS_TPREL64",
            "TLS_DTPMOD32",
            "TLS_DTPREL32",
            "TLS_TPREL32",
            "TLSDESC",
            "IRELATIVE",
        ],
        words: &[("64", 8, false), ("32_PCREL", 4, true), ("PLT32", 4, true)],
        calls: &["PLT32"],
        address: "64",
        tls_block: Some(0),
    },
    Machine {
        machine: elf::EM_PPC64.0,
        prefix: "R_PPC64_",
        dynamic: &[
            "ADDR64",
            "COPY",
            "GLOB_DAT",
            "JMP_SLOT",
            "RELATIVE",
            "DTPMOD64",
            "DTPREL64",
            "TPREL64",
            "IRELATIVE",
            "JMP_IREL",
        ],
        words: &[("ADDR64", 8, false), ("ADDR32", 4, false), ("REL32", 4, true), ("REL64", 8, true)],
        calls: &[],
        address: "ADDR64",
        tls_block: Some(0x7000u64.wrapping_neg()),
    },
    Machine {
        machine: elf::EM_PPC.0,
        prefix: "R_PPC_",
        dynamic: &[
            "ADDR32",
            "COPY",
            "GLOB_DAT",
            "JMP_SLOT",
            "RELATIVE",
            "DTPMOD32",
            "DTPREL32",
            "TPREL32",
            "IRELATIVE",
        ],
        words: &[("ADDR32", 4, false), ("REL32", 4, true)],
        calls: &[],
        address: "ADDR32",
        tls_block: Some(0x7000u64.wrapping_neg()),
    },
    Machine {
        machine: elf::EM_68K.0,
        prefix: "R_68K_",
        dynamic: &[
            "32",
            "COPY",
            "GLOB_DAT",
            "JMP_SLOT",
            "RELATIVE",
            "TLS_DTPMOD32",
            "TLS_DTPREL32",
            "TLS_TPREL32",
            "PC32",
        ],
        words: &[("32", 4, false), ("PC32", 4, true)],
        calls: &["PLT32"],
        address: "32",
        tls_block: Some(0x7000u64.wrapping_neg()),
    },
    Machine {
        machine: elf::EM_HEXAGON.0,
        prefix: "R_HEX_",
        dynamic: &["32", "COPY", "GLOB_DAT", "JMP_SLOT", "RELATIVE", "DTPMOD_32", "DTPREL_32", "TPREL_32"],
        words: &[("32", 4, false), ("32_PCREL", 4, true)],
        calls: &[],
        address: "32",
        tls_block: None,
    },
    Machine {
        machine: elf::EM_SPARCV9.0,
        prefix: "R_SPARC_",
        dynamic: &[
            "64",
            "COPY",
            "GLOB_DAT",
            "JMP_SLOT",
            "RELATIVE",
            "TLS_DTPMOD64",
            "TLS_DTPOFF64",
            "TLS_TPOFF64",
            "IRELATIVE",
        ],
        words: &[("64", 8, false), ("DISP32", 4, true), ("DISP64", 8, true)],
        calls: &[],
        address: "64",
        tls_block: None,
    },
    Machine {
        machine: elf::EM_MIPS.0,
        prefix: "R_MIPS_",
        dynamic: &[
            "REL32",
            "COPY",
            "JUMP_SLOT",
            "TLS_DTPMOD32",
            "TLS_DTPREL32",
            "TLS_TPREL32",
            "TLS_DTPMOD64",
            "TLS_DTPREL64",
            "TLS_TPREL64",
        ],
        // Those of 32 bits have no addends beside them.
        words: &[],
        calls: &[],
        address: "32",
        tls_block: Some(0x7000u64.wrapping_neg()),
    },
    Machine {
        machine: elf::EM_LOONGARCH.0,
        prefix: "R_LARCH_",
        dynamic: &[
            "64",
            "32",
            "RELATIVE",
            "COPY",
            "JUMP_SLOT",
            "TLS_DTPMOD64",
            "TLS_DTPREL64",
            "TLS_TPREL64",
            "TLS_DTPMOD32",
            "TLS_DTPREL32",
            "TLS_TPREL32",
            "TLS_DESC64",
            "TLS_DESC32",
            "IRELATIVE",
        ],
        words: &[("64", 8, false), ("32_PCREL", 4, true), ("64_PCREL", 8, true)],
        calls: &[],
        address: "64",
        tls_block: Some(0),
    },
];

impl Machine {
    /// That of a file; if it is none of these, the first, whose names do not fit then.
    pub fn of(image: &Image) -> &'static Machine {
        /// Files of x86-64 with 32 bits.
        const X32: Machine = Machine { address: "32", ..MACHINES[0] };
        if image.machine == X32.machine && image.form.narrow {
            return &X32;
        }
        MACHINES.iter().find(|m| m.machine == image.machine).unwrap_or(&MACHINES[0])
    }

    /// The short name of a type.
    pub fn short_name(&self, image: &Image, r_type: u32) -> String {
        let name = reloc_name(image, r_type);
        name.strip_prefix(self.prefix).unwrap_or(&name).to_owned()
    }

    /// Whether loaders only add to a type's word where the image is.
    pub fn is_relative(&self, image: &Image, r_type: u32) -> bool {
        matches!(&*self.short_name(image, r_type), "RELATIVE" | "RELATIVE64")
    }

    pub fn is_dynamic(&self, name: &str) -> bool {
        self.dynamic.contains(&name)
    }

    /// The bytes that a type of whole words has, and whether they count from their place.
    pub fn word(&self, name: &str) -> Option<(usize, bool)> {
        self.words.iter().find(|word| word.0 == name).map(|word| (word.1, word.2))
    }

    pub fn is_call(&self, name: &str) -> bool {
        self.calls.contains(&name)
    }
}
