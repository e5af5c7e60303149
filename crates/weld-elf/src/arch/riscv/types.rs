//! RISC-V: the relocation types that objects may have, and what each asks for.
//!
//! Specification: "RISC-V ELF Specification" (psABI), chapter "Relocations".

use crate::arch::class::{Class, Fit::*, Named};

pub const R_NONE: u32 = 0;
pub const R_32: u32 = 1;
pub const R_64: u32 = 2;
pub const R_RELATIVE: u32 = 3;
pub const R_COPY: u32 = 4;
pub const R_JUMP_SLOT: u32 = 5;
pub const R_TLS_DTPMOD32: u32 = 6;
pub const R_TLS_DTPMOD64: u32 = 7;
pub const R_TLS_DTPREL32: u32 = 8;
pub const R_TLS_DTPREL64: u32 = 9;
pub const R_TLS_TPREL32: u32 = 10;
pub const R_TLS_TPREL64: u32 = 11;
pub const R_TLSDESC: u32 = 12;
pub const R_BRANCH: u32 = 16;
pub const R_JAL: u32 = 17;
pub const R_CALL: u32 = 18;
pub const R_CALL_PLT: u32 = 19;
pub const R_GOT_HI20: u32 = 20;
pub const R_TLS_GOT_HI20: u32 = 21;
pub const R_TLS_GD_HI20: u32 = 22;
pub const R_PCREL_HI20: u32 = 23;
pub const R_PCREL_LO12_I: u32 = 24;
pub const R_PCREL_LO12_S: u32 = 25;
pub const R_HI20: u32 = 26;
pub const R_LO12_I: u32 = 27;
pub const R_LO12_S: u32 = 28;
pub const R_TPREL_HI20: u32 = 29;
pub const R_TPREL_LO12_I: u32 = 30;
pub const R_TPREL_LO12_S: u32 = 31;
pub const R_TPREL_ADD: u32 = 32;
pub const R_ADD8: u32 = 33;
pub const R_ADD16: u32 = 34;
pub const R_ADD32: u32 = 35;
pub const R_ADD64: u32 = 36;
pub const R_SUB8: u32 = 37;
pub const R_SUB16: u32 = 38;
pub const R_SUB32: u32 = 39;
pub const R_SUB64: u32 = 40;
pub const R_GOT32_PCREL: u32 = 41;
pub const R_ALIGN: u32 = 43;
pub const R_RVC_BRANCH: u32 = 44;
pub const R_RVC_JUMP: u32 = 45;
/// Reserved by now; assemblers of old made it.
pub const R_RVC_LUI: u32 = 46;
pub const R_RELAX: u32 = 51;
pub const R_SUB6: u32 = 52;
pub const R_SET6: u32 = 53;
pub const R_SET8: u32 = 54;
pub const R_SET16: u32 = 55;
pub const R_SET32: u32 = 56;
pub const R_32_PCREL: u32 = 57;
pub const R_IRELATIVE: u32 = 58;
pub const R_PLT32: u32 = 59;
pub const R_SET_ULEB128: u32 = 60;
pub const R_SUB_ULEB128: u32 = 61;
pub const R_TLSDESC_HI20: u32 = 62;
pub const R_TLSDESC_LOAD_LO12: u32 = 63;
pub const R_TLSDESC_ADD_LO12: u32 = 64;
pub const R_TLSDESC_CALL: u32 = 65;

/// How many numbers there are.
pub const COUNT: usize = 66;

/// How many types there are.
const TYPES: usize = 48;

/// A part of an instruction that holds any value, or rather some bits of it.
const fn any(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Any, name)
}

/// The upper 20 bits of an address or a distance, whose lower ones another instruction has.
const fn high(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Rounded, name)
}

/// A branch for even distances of so many bits.
const fn branch(bits: u8, width: u8, name: &'static str) -> Named {
    Named::new(Class::Plt, width, Signed, name).bits(bits).of(2)
}

/// A term of a sum that several relocations of one place make.
const fn term(width: u8, name: &'static str) -> Named {
    Named::new(Class::Term, width, Any, name)
}

const fn mark(name: &'static str) -> Named {
    Named::new(Class::None, 0, Any, name)
}

/// The types; `WIDE`: addresses have 64 bits.
pub const fn types<const WIDE: bool>() -> [(u32, Named); TYPES] {
    let (word, wide, other) = match WIDE {
        true => (
            Named::new(Class::Narrow, 4, Either, "R_RISCV_32"),
            Named::new(Class::Address, 8, Any, "R_RISCV_64"),
            8,
        ),
        false => (
            Named::new(Class::Address, 4, Any, "R_RISCV_32"),
            Named::new(Class::Narrow, 8, Any, "R_RISCV_64"),
            4,
        ),
    };
    let tls_dtprel = Named::new(
        Class::DtpOff,
        other,
        Any,
        ["R_RISCV_TLS_DTPREL32", "R_RISCV_TLS_DTPREL64"][WIDE as usize],
    );
    [
        (R_NONE, mark("R_RISCV_NONE")),
        (R_32, word),
        (R_64, wide),
        (if WIDE { R_TLS_DTPREL64 } else { R_TLS_DTPREL32 }, tls_dtprel),
        (R_BRANCH, branch(13, 4, "R_RISCV_BRANCH")),
        (R_JAL, branch(21, 4, "R_RISCV_JAL")),
        (R_CALL, Named::new(Class::Plt, 8, Rounded, "R_RISCV_CALL").bits(32)),
        (R_CALL_PLT, Named::new(Class::Plt, 8, Rounded, "R_RISCV_CALL_PLT").bits(32)),
        (R_GOT_HI20, high(Class::GotRelax, "R_RISCV_GOT_HI20")),
        (R_TLS_GOT_HI20, high(Class::GotTp, "R_RISCV_TLS_GOT_HI20")),
        (R_TLS_GD_HI20, high(Class::TlsGd, "R_RISCV_TLS_GD_HI20")),
        (R_PCREL_HI20, high(Class::Pc, "R_RISCV_PCREL_HI20")),
        (R_PCREL_LO12_I, any(Class::OtherHalf, "R_RISCV_PCREL_LO12_I")),
        (R_PCREL_LO12_S, any(Class::OtherHalf, "R_RISCV_PCREL_LO12_S")),
        (R_HI20, high(Class::Narrow, "R_RISCV_HI20")),
        (R_LO12_I, any(Class::Low, "R_RISCV_LO12_I")),
        (R_LO12_S, any(Class::Low, "R_RISCV_LO12_S")),
        (R_TPREL_HI20, high(Class::TpOff, "R_RISCV_TPREL_HI20")),
        (R_TPREL_LO12_I, any(Class::TpOff, "R_RISCV_TPREL_LO12_I")),
        (R_TPREL_LO12_S, any(Class::TpOff, "R_RISCV_TPREL_LO12_S")),
        (R_TPREL_ADD, mark("R_RISCV_TPREL_ADD")),
        (R_ADD8, term(1, "R_RISCV_ADD8")),
        (R_ADD16, term(2, "R_RISCV_ADD16")),
        (R_ADD32, term(4, "R_RISCV_ADD32")),
        (R_ADD64, term(8, "R_RISCV_ADD64")),
        (R_SUB8, term(1, "R_RISCV_SUB8")),
        (R_SUB16, term(2, "R_RISCV_SUB16")),
        (R_SUB32, term(4, "R_RISCV_SUB32")),
        (R_SUB64, term(8, "R_RISCV_SUB64")),
        (R_GOT32_PCREL, Named::new(Class::Got, 4, Signed, "R_RISCV_GOT32_PCREL")),
        (R_ALIGN, mark("R_RISCV_ALIGN")),
        (R_RVC_BRANCH, branch(9, 2, "R_RISCV_RVC_BRANCH")),
        (R_RVC_JUMP, branch(12, 2, "R_RISCV_RVC_JUMP")),
        (R_RVC_LUI, Named::new(Class::Narrow, 2, Rounded, "R_RISCV_RVC_LUI").bits(18)),
        (R_RELAX, mark("R_RISCV_RELAX")),
        (R_SUB6, term(1, "R_RISCV_SUB6")),
        (R_SET6, term(1, "R_RISCV_SET6")),
        (R_SET8, term(1, "R_RISCV_SET8")),
        (R_SET16, term(2, "R_RISCV_SET16")),
        (R_SET32, term(4, "R_RISCV_SET32")),
        (R_32_PCREL, Named::new(Class::Pc, 4, Signed, "R_RISCV_32_PCREL")),
        (R_PLT32, Named::new(Class::Plt, 4, Signed, "R_RISCV_PLT32")),
        (R_SET_ULEB128, term(1, "R_RISCV_SET_ULEB128")),
        (R_SUB_ULEB128, term(1, "R_RISCV_SUB_ULEB128")),
        (R_TLSDESC_HI20, high(Class::TlsDesc, "R_RISCV_TLSDESC_HI20")),
        (R_TLSDESC_LOAD_LO12, any(Class::OtherHalf, "R_RISCV_TLSDESC_LOAD_LO12")),
        (R_TLSDESC_ADD_LO12, any(Class::OtherHalf, "R_RISCV_TLSDESC_ADD_LO12")),
        (R_TLSDESC_CALL, any(Class::OtherHalf, "R_RISCV_TLSDESC_CALL")),
    ]
}

/// Whether a type has the upper half of what a relocation of class [`Class::OtherHalf`] names by a label.
pub const fn is_high(kind: u32) -> bool {
    matches!(kind, R_GOT_HI20 | R_TLS_GOT_HI20 | R_TLS_GD_HI20 | R_PCREL_HI20 | R_TLSDESC_HI20)
}
