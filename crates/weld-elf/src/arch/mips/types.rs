//! MIPS: the relocation types that objects may have, and what each asks for.
//!
//! Some numbers here are in no file. What a type means may depend on its symbol (`R_MIPS_GOT16` of a local
//! symbol asks for another slot than that of a global one, and `_gp_disp` is no symbol but a distance), on the
//! code it is in, or on other types beside it in the same record (64 bits). Objects' relocations get such
//! numbers when they are read ([`super::settle`]), from [`MADE`] on; [`WRITTEN`] says what files have instead.
//!
//! Specification: "System V ABI, MIPS RISC Processor Supplement", "64-bit ELF Object File Specification" (SGI),
//! "MIPS n32 ABI Handbook", the GNU extensions for thread-local storage and release 6.

use crate::arch::class::{Class, Fit::*, From, Named, Type, names, names_size, table};

pub const R_NONE: u32 = 0;
pub const R_16: u32 = 1;
pub const R_32: u32 = 2;
pub const R_REL32: u32 = 3;
pub const R_26: u32 = 4;
pub const R_HI16: u32 = 5;
pub const R_LO16: u32 = 6;
pub const R_GPREL16: u32 = 7;
pub const R_LITERAL: u32 = 8;
pub const R_GOT16: u32 = 9;
pub const R_PC16: u32 = 10;
pub const R_CALL16: u32 = 11;
pub const R_GPREL32: u32 = 12;
pub const R_64: u32 = 18;
pub const R_GOT_DISP: u32 = 19;
pub const R_GOT_PAGE: u32 = 20;
pub const R_GOT_OFST: u32 = 21;
pub const R_GOT_HI16: u32 = 22;
pub const R_GOT_LO16: u32 = 23;
pub const R_SUB: u32 = 24;
pub const R_HIGHER: u32 = 28;
pub const R_HIGHEST: u32 = 29;
pub const R_CALL_HI16: u32 = 30;
pub const R_CALL_LO16: u32 = 31;
pub const R_JALR: u32 = 37;
pub const R_TLS_DTPMOD32: u32 = 38;
pub const R_TLS_DTPREL32: u32 = 39;
pub const R_TLS_DTPMOD64: u32 = 40;
pub const R_TLS_DTPREL64: u32 = 41;
pub const R_TLS_GD: u32 = 42;
pub const R_TLS_LDM: u32 = 43;
pub const R_TLS_DTPREL_HI16: u32 = 44;
pub const R_TLS_DTPREL_LO16: u32 = 45;
pub const R_TLS_GOTTPREL: u32 = 46;
pub const R_TLS_TPREL32: u32 = 47;
pub const R_TLS_TPREL64: u32 = 48;
pub const R_TLS_TPREL_HI16: u32 = 49;
pub const R_TLS_TPREL_LO16: u32 = 50;
pub const R_PC21: u32 = 60;
pub const R_PC26: u32 = 61;
pub const R_PC18: u32 = 62;
pub const R_PC19: u32 = 63;
pub const R_PCHI16: u32 = 64;
pub const R_PCLO16: u32 = 65;
pub const R_COPY: u32 = 126;
pub const R_JUMP_SLOT: u32 = 127;
pub const R_IRELATIVE: u32 = 128;
pub const R_PC32: u32 = 248;

/// Those of microMIPS code.
pub const M_26: u32 = 133;
pub const M_HI16: u32 = 134;
pub const M_LO16: u32 = 135;
pub const M_GPREL16: u32 = 136;
pub const M_LITERAL: u32 = 137;
pub const M_GOT16: u32 = 138;
pub const M_PC7: u32 = 139;
pub const M_PC10: u32 = 140;
pub const M_PC16: u32 = 141;
pub const M_CALL16: u32 = 142;
pub const M_GOT_DISP: u32 = 145;
pub const M_GOT_PAGE: u32 = 146;
pub const M_GOT_OFST: u32 = 147;
pub const M_GOT_HI16: u32 = 148;
pub const M_GOT_LO16: u32 = 149;
pub const M_HIGHER: u32 = 151;
pub const M_HIGHEST: u32 = 152;
pub const M_CALL_HI16: u32 = 153;
pub const M_CALL_LO16: u32 = 154;
pub const M_JALR: u32 = 156;
pub const M_TLS_GD: u32 = 162;
pub const M_TLS_LDM: u32 = 163;
pub const M_TLS_DTPREL_HI16: u32 = 164;
pub const M_TLS_DTPREL_LO16: u32 = 165;
pub const M_TLS_GOTTPREL: u32 = 166;
pub const M_TLS_TPREL_HI16: u32 = 169;
pub const M_TLS_TPREL_LO16: u32 = 170;
pub const M_GPREL7: u32 = 172;
pub const M_PC23: u32 = 173;
pub const M_PC21: u32 = 174;
pub const M_PC26: u32 = 175;
pub const M_PC18: u32 = 176;
pub const M_PC19: u32 = 177;

/// The first number that is in no file.
pub const MADE: u32 = 256;
/// `R_MIPS_GOT16` of a local symbol: the slot with the page that it is near.
pub const PAGE16: u32 = MADE;
/// `R_MIPS_HI16` and `R_MIPS_LO16` of `_gp_disp`: how far gp is from the code that makes its value.
pub const GP_HI16: u32 = MADE + 1;
pub const GP_LO16: u32 = MADE + 2;
/// `R_MIPS_26` and `R_MIPS_PC26_S2` of position-independent code, which has a function's address in t9.
pub const PIC_26: u32 = MADE + 3;
pub const PIC_PC26: u32 = MADE + 4;
/// `R_MIPS_GPREL16`, `R_MIPS_SUB` and `R_MIPS_HI16` or `R_MIPS_LO16`: how far gp is from a function.
pub const BACK_HI16: u32 = MADE + 5;
pub const BACK_LO16: u32 = MADE + 6;
/// `R_MIPS_GPREL32` and `R_MIPS_64`.
pub const GPREL64: u32 = MADE + 7;
/// `R_MIPS_REL32` and `R_MIPS_64`, for loaders.
pub const REL64: u32 = MADE + 8;
/// Types that do not go together.
pub const MIXED: u32 = MADE + 9;
/// A type that `_gp_disp` has no meaning for.
pub const GP_OTHER: u32 = MADE + 10;
/// `R_MIPS_PC32` and `R_MIPS_64`.
pub const PC64: u32 = MADE + 11;
/// What [`PAGE16`], [`GP_HI16`], [`GP_LO16`], [`PIC_26`] and [`PIC_PC26`] are for microMIPS code.
pub const M_PAGE16: u32 = MADE + 12;
pub const M_GP_HI16: u32 = MADE + 13;
pub const M_GP_LO16: u32 = MADE + 14;
pub const M_PIC_26: u32 = MADE + 15;
pub const M_PIC_PC26: u32 = MADE + 16;

/// Whether a relocation is that of a microMIPS instruction.
pub const fn is_micro(kind: u32) -> bool {
    matches!(kind, M_26..=M_PC19 | M_PAGE16..=M_PIC_PC26)
}

/// What files have for the numbers from [`MADE`] on: up to three types, the first in the low byte.
pub const WRITTEN: &[u32] = &[
    R_GOT16,
    R_HI16,
    R_LO16,
    R_26,
    R_PC26,
    R_GPREL16 | R_SUB << 8 | R_HI16 << 16,
    R_GPREL16 | R_SUB << 8 | R_LO16 << 16,
    R_GPREL32 | R_64 << 8,
    R_REL32 | R_64 << 8,
    R_NONE,
    R_NONE,
    R_PC32 | R_64 << 8,
    M_GOT16,
    M_HI16,
    M_LO16,
    M_26,
    M_PC26,
];

/// 16 bits of an instruction, whatever the value.
const fn half(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Any, name).bits(16)
}

/// The same for values that fit.
const fn signed(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Signed, name).bits(16)
}

const fn slot(class: Class, name: &'static str) -> Named {
    signed(class, name).from(From::GotBase)
}

const fn far_slot(name: &'static str) -> Named {
    half(Class::Got, name).from(From::GotBase)
}

/// A distance of `bits` bits with the low ones that are not stored.
const fn branch(class: Class, bits: u8, align: u8, name: &'static str) -> Named {
    Named::new(class, 4, Signed, name).bits(bits).of(align)
}

/// The same in an instruction of 2 bytes.
const fn short_branch(bits: u8, name: &'static str) -> Named {
    Named::new(Class::Plt, 2, Signed, name).bits(bits).of(2)
}

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_MIPS_NONE")),
    (R_16, Named::new(Class::Narrow, 4, Signed, "R_MIPS_16").bits(16)),
    (R_32, Named::new(Class::Address, 4, Any, "R_MIPS_32")),
    (R_REL32, Named::new(Class::Address, 4, Any, "R_MIPS_REL32")),
    (R_26, Named::new(Class::Jump, 4, Any, "R_MIPS_26").bits(28).of(4)),
    (R_HI16, half(Class::Narrow, "R_MIPS_HI16")),
    (R_LO16, half(Class::Low, "R_MIPS_LO16")),
    (R_GPREL16, signed(Class::GotOff, "R_MIPS_GPREL16")),
    (R_LITERAL, signed(Class::GotOff, "R_MIPS_LITERAL")),
    (R_GOT16, slot(Class::Got, "R_MIPS_GOT16")),
    (R_PC16, branch(Class::Plt, 18, 4, "R_MIPS_PC16")),
    (R_CALL16, slot(Class::Got, "R_MIPS_CALL16")),
    (R_GPREL32, Named::new(Class::GotOff, 4, Signed, "R_MIPS_GPREL32")),
    (16, Named::unknown("R_MIPS_SHIFT5")),
    (17, Named::unknown("R_MIPS_SHIFT6")),
    (R_64, Named::new(Class::Address, 8, Any, "R_MIPS_64")),
    (R_GOT_DISP, slot(Class::Got, "R_MIPS_GOT_DISP")),
    (R_GOT_PAGE, slot(Class::GotPage, "R_MIPS_GOT_PAGE")),
    (R_GOT_OFST, signed(Class::GotRest, "R_MIPS_GOT_OFST")),
    (R_GOT_HI16, far_slot("R_MIPS_GOT_HI16")),
    (R_GOT_LO16, far_slot("R_MIPS_GOT_LO16")),
    // Part of what several types make; see [`super::settle`].
    (R_SUB, Named::new(Class::OtherHalf, 4, Any, "R_MIPS_SUB")),
    (25, Named::unknown("R_MIPS_INSERT_A")),
    (26, Named::unknown("R_MIPS_INSERT_B")),
    (27, Named::unknown("R_MIPS_DELETE")),
    (R_HIGHER, half(Class::Narrow, "R_MIPS_HIGHER")),
    (R_HIGHEST, half(Class::Narrow, "R_MIPS_HIGHEST")),
    (R_CALL_HI16, far_slot("R_MIPS_CALL_HI16")),
    (R_CALL_LO16, far_slot("R_MIPS_CALL_LO16")),
    (32, Named::unknown("R_MIPS_SCN_DISP")),
    (33, Named::unknown("R_MIPS_REL16")),
    (34, Named::unknown("R_MIPS_ADD_IMMEDIATE")),
    (35, Named::unknown("R_MIPS_PJUMP")),
    (36, Named::unknown("R_MIPS_RELGOT")),
    // Code may branch to the function whose address it has loaded. It does not have to.
    (R_JALR, Named::new(Class::None, 0, Any, "R_MIPS_JALR")),
    (R_TLS_DTPMOD32, Named::unknown("R_MIPS_TLS_DTPMOD32")),
    (R_TLS_DTPREL32, Named::new(Class::DtpOff, 4, Any, "R_MIPS_TLS_DTPREL32")),
    (R_TLS_DTPMOD64, Named::unknown("R_MIPS_TLS_DTPMOD64")),
    (R_TLS_DTPREL64, Named::new(Class::DtpOff, 8, Any, "R_MIPS_TLS_DTPREL64")),
    (R_TLS_GD, slot(Class::TlsGd, "R_MIPS_TLS_GD")),
    (R_TLS_LDM, slot(Class::TlsLd, "R_MIPS_TLS_LDM")),
    (R_TLS_DTPREL_HI16, half(Class::DtpOff, "R_MIPS_TLS_DTPREL_HI16")),
    (R_TLS_DTPREL_LO16, half(Class::DtpOff, "R_MIPS_TLS_DTPREL_LO16")),
    (R_TLS_GOTTPREL, slot(Class::GotTp, "R_MIPS_TLS_GOTTPREL")),
    (R_TLS_TPREL32, Named::new(Class::TpOffWord, 4, Any, "R_MIPS_TLS_TPREL32")),
    (R_TLS_TPREL64, Named::new(Class::TpOffWord, 8, Any, "R_MIPS_TLS_TPREL64")),
    (R_TLS_TPREL_HI16, half(Class::TpOff, "R_MIPS_TLS_TPREL_HI16")),
    (R_TLS_TPREL_LO16, half(Class::TpOff, "R_MIPS_TLS_TPREL_LO16")),
    (51, Named::unknown("R_MIPS_GLOB_DAT")),
    (R_PC21, branch(Class::Plt, 23, 4, "R_MIPS_PC21_S2")),
    (R_PC26, branch(Class::Plt, 28, 4, "R_MIPS_PC26_S2")),
    (R_PC18, branch(Class::Pc, 21, 8, "R_MIPS_PC18_S3")),
    (R_PC19, branch(Class::Pc, 21, 4, "R_MIPS_PC19_S2")),
    (R_PCHI16, half(Class::Pc, "R_MIPS_PCHI16")),
    (R_PCLO16, half(Class::Pc, "R_MIPS_PCLO16")),
    (100, Named::unknown("R_MIPS16_26")),
    (101, Named::unknown("R_MIPS16_GPREL")),
    (102, Named::unknown("R_MIPS16_GOT16")),
    (103, Named::unknown("R_MIPS16_CALL16")),
    (104, Named::unknown("R_MIPS16_HI16")),
    (105, Named::unknown("R_MIPS16_LO16")),
    (106, Named::unknown("R_MIPS16_TLS_GD")),
    (107, Named::unknown("R_MIPS16_TLS_LDM")),
    (108, Named::unknown("R_MIPS16_TLS_DTPREL_HI16")),
    (109, Named::unknown("R_MIPS16_TLS_DTPREL_LO16")),
    (110, Named::unknown("R_MIPS16_TLS_GOTTPREL")),
    (111, Named::unknown("R_MIPS16_TLS_TPREL_HI16")),
    (112, Named::unknown("R_MIPS16_TLS_TPREL_LO16")),
    (113, Named::unknown("R_MIPS16_PC16_S1")),
    (R_COPY, Named::unknown("R_MIPS_COPY")),
    (R_JUMP_SLOT, Named::unknown("R_MIPS_JUMP_SLOT")),
    (R_IRELATIVE, Named::unknown("R_MIPS_IRELATIVE")),
    (M_26, Named::new(Class::Jump, 4, Any, "R_MICROMIPS_26_S1").bits(27).of(2)),
    (M_HI16, half(Class::Narrow, "R_MICROMIPS_HI16")),
    (M_LO16, half(Class::Low, "R_MICROMIPS_LO16")),
    (M_GPREL16, signed(Class::GotOff, "R_MICROMIPS_GPREL16")),
    (M_LITERAL, signed(Class::GotOff, "R_MICROMIPS_LITERAL")),
    (M_GOT16, slot(Class::Got, "R_MICROMIPS_GOT16")),
    (M_PC7, short_branch(8, "R_MICROMIPS_PC7_S1")),
    (M_PC10, short_branch(11, "R_MICROMIPS_PC10_S1")),
    (M_PC16, branch(Class::Plt, 17, 2, "R_MICROMIPS_PC16_S1")),
    (M_CALL16, slot(Class::Got, "R_MICROMIPS_CALL16")),
    (M_GOT_DISP, slot(Class::Got, "R_MICROMIPS_GOT_DISP")),
    (M_GOT_PAGE, slot(Class::GotPage, "R_MICROMIPS_GOT_PAGE")),
    (M_GOT_OFST, signed(Class::GotRest, "R_MICROMIPS_GOT_OFST")),
    (M_GOT_HI16, far_slot("R_MICROMIPS_GOT_HI16")),
    (M_GOT_LO16, far_slot("R_MICROMIPS_GOT_LO16")),
    (150, Named::unknown("R_MICROMIPS_SUB")),
    (M_HIGHER, half(Class::Narrow, "R_MICROMIPS_HIGHER")),
    (M_HIGHEST, half(Class::Narrow, "R_MICROMIPS_HIGHEST")),
    (M_CALL_HI16, far_slot("R_MICROMIPS_CALL_HI16")),
    (M_CALL_LO16, far_slot("R_MICROMIPS_CALL_LO16")),
    (155, Named::unknown("R_MICROMIPS_SCN_DISP")),
    (M_JALR, Named::new(Class::None, 0, Any, "R_MICROMIPS_JALR")),
    (157, Named::unknown("R_MICROMIPS_HI0_LO16")),
    (M_TLS_GD, slot(Class::TlsGd, "R_MICROMIPS_TLS_GD")),
    (M_TLS_LDM, slot(Class::TlsLd, "R_MICROMIPS_TLS_LDM")),
    (M_TLS_DTPREL_HI16, half(Class::DtpOff, "R_MICROMIPS_TLS_DTPREL_HI16")),
    (M_TLS_DTPREL_LO16, half(Class::DtpOff, "R_MICROMIPS_TLS_DTPREL_LO16")),
    (M_TLS_GOTTPREL, slot(Class::GotTp, "R_MICROMIPS_TLS_GOTTPREL")),
    (M_TLS_TPREL_HI16, half(Class::TpOff, "R_MICROMIPS_TLS_TPREL_HI16")),
    (M_TLS_TPREL_LO16, half(Class::TpOff, "R_MICROMIPS_TLS_TPREL_LO16")),
    (M_GPREL7, Named::new(Class::GotOff, 2, Signed, "R_MICROMIPS_GPREL7_S2").bits(9).of(4)),
    (M_PC23, branch(Class::Pc, 25, 4, "R_MICROMIPS_PC23_S2")),
    (M_PC21, branch(Class::Plt, 22, 2, "R_MICROMIPS_PC21_S1")),
    (M_PC26, branch(Class::Plt, 27, 2, "R_MICROMIPS_PC26_S1")),
    (M_PC18, branch(Class::Pc, 21, 8, "R_MICROMIPS_PC18_S3")),
    (M_PC19, branch(Class::Pc, 21, 4, "R_MICROMIPS_PC19_S2")),
    (R_PC32, Named::new(Class::Pc, 4, Signed, "R_MIPS_PC32")),
    (249, Named::unknown("R_MIPS_EH")),
    (250, Named::unknown("R_MIPS_GNU_REL16_S2")),
    (253, Named::new(Class::None, 0, Any, "R_MIPS_GNU_VTINHERIT")),
    (254, Named::new(Class::None, 0, Any, "R_MIPS_GNU_VTENTRY")),
    (PAGE16, slot(Class::GotPage, "R_MIPS_GOT16")),
    (GP_HI16, half(Class::GotBase, "R_MIPS_HI16")),
    (GP_LO16, half(Class::GotBase, "R_MIPS_LO16")),
    (PIC_26, Named::new(Class::Jump, 4, Any, "R_MIPS_26").bits(28).of(4)),
    (PIC_PC26, branch(Class::Plt, 28, 4, "R_MIPS_PC26_S2")),
    (BACK_HI16, half(Class::Term, "R_MIPS_GPREL16/R_MIPS_SUB/R_MIPS_HI16")),
    (BACK_LO16, half(Class::Term, "R_MIPS_GPREL16/R_MIPS_SUB/R_MIPS_LO16")),
    (GPREL64, Named::new(Class::GotOff, 8, Any, "R_MIPS_GPREL32/R_MIPS_64")),
    (REL64, Named::new(Class::Address, 8, Any, "R_MIPS_REL32/R_MIPS_64")),
    (MIXED, Named::unknown("this combination of relocation types")),
    (PC64, Named::new(Class::Pc, 8, Any, "R_MIPS_PC32/R_MIPS_64")),
    (GP_OTHER, Named::unknown("a relocation against _gp_disp that is neither R_MIPS_HI16 nor R_MIPS_LO16")),
    (M_PAGE16, slot(Class::GotPage, "R_MICROMIPS_GOT16")),
    (M_GP_HI16, half(Class::GotBase, "R_MICROMIPS_HI16")),
    (M_GP_LO16, half(Class::GotBase, "R_MICROMIPS_LO16")),
    (M_PIC_26, Named::new(Class::Jump, 4, Any, "R_MICROMIPS_26_S1").bits(27).of(2)),
    (M_PIC_PC26, branch(Class::Plt, 27, 2, "R_MICROMIPS_PC26_S1")),
];

const COUNT: usize = M_PIC_PC26 as usize + 1;

pub const TYPES: [Type; COUNT] = table(LIST);
pub static TYPES_32: [Type; COUNT] = types(false);
pub static TYPES_64: [Type; COUNT] = types(true);

/// The types of ABIs whose addresses have 64 bits, or 32. An address in a field of the other size is none that
/// loaders fill in, and has to fit.
const fn types(wide: bool) -> [Type; COUNT] {
    let mut types = TYPES;
    if wide {
        types[R_32 as usize].class = Class::Narrow;
        types[R_32 as usize].fit = Either;
        types[R_REL32 as usize].class = Class::Narrow;
        types[R_REL32 as usize].fit = Either;
    } else {
        types[R_64 as usize].class = Class::Narrow;
    }
    types
}

pub static NAMES: [u8; names_size(LIST)] = names(LIST);
