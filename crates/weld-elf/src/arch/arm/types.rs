//! ARM: the relocation types that objects may have, and what each asks for.
//!
//! Fields of 4 bytes for whole words hold any value: addresses wrap around at 4 GiB. `bits` is the width of
//! what an instruction can store, with the low bits that it leaves out.
//!
//! Specification: "ELF for the Arm Architecture" (AAELF32), chapter "Relocation".

use crate::arch::class::{Class, Fit::*, From, Named, Type, names, names_size, table};

pub const R_NONE: u32 = 0;
pub const R_PC24: u32 = 1;
pub const R_ABS32: u32 = 2;
pub const R_REL32: u32 = 3;
pub const R_LDR_PC_G0: u32 = 4;
pub const R_ABS16: u32 = 5;
pub const R_ABS8: u32 = 8;
pub const R_SBREL32: u32 = 9;
pub const R_THM_CALL: u32 = 10;
pub const R_THM_PC8: u32 = 11;
pub const R_TLS_DTPMOD32: u32 = 17;
pub const R_TLS_DTPOFF32: u32 = 18;
pub const R_TLS_TPOFF32: u32 = 19;
pub const R_COPY: u32 = 20;
pub const R_GLOB_DAT: u32 = 21;
pub const R_JUMP_SLOT: u32 = 22;
pub const R_RELATIVE: u32 = 23;
const R_GOTOFF32: u32 = 24;
const R_BASE_PREL: u32 = 25;
const R_GOT_BREL: u32 = 26;
pub const R_PLT32: u32 = 27;
pub const R_CALL: u32 = 28;
pub const R_JUMP24: u32 = 29;
pub const R_THM_JUMP24: u32 = 30;
pub const R_TARGET1: u32 = 38;
pub const R_V4BX: u32 = 40;
pub const R_TARGET2: u32 = 41;
pub const R_PREL31: u32 = 42;
pub const R_MOVW_ABS_NC: u32 = 43;
pub const R_MOVT_ABS: u32 = 44;
pub const R_MOVW_PREL_NC: u32 = 45;
pub const R_MOVT_PREL: u32 = 46;
pub const R_THM_MOVW_ABS_NC: u32 = 47;
pub const R_THM_MOVT_ABS: u32 = 48;
pub const R_THM_MOVW_PREL_NC: u32 = 49;
pub const R_THM_MOVT_PREL: u32 = 50;
pub const R_THM_JUMP19: u32 = 51;
pub const R_THM_JUMP6: u32 = 52;
pub const R_THM_ALU_PREL_11_0: u32 = 53;
pub const R_THM_PC12: u32 = 54;
pub const R_ABS32_NOI: u32 = 55;
pub const R_REL32_NOI: u32 = 56;
pub const R_ALU_PC_G0_NC: u32 = 57;
pub const R_ALU_PC_G0: u32 = 58;
pub const R_ALU_PC_G1_NC: u32 = 59;
pub const R_ALU_PC_G1: u32 = 60;
pub const R_ALU_PC_G2: u32 = 61;
pub const R_LDR_PC_G1: u32 = 62;
pub const R_LDR_PC_G2: u32 = 63;
pub const R_LDRS_PC_G0: u32 = 64;
pub const R_LDRS_PC_G1: u32 = 65;
pub const R_LDRS_PC_G2: u32 = 66;
pub const R_MOVW_BREL_NC: u32 = 84;
pub const R_MOVT_BREL: u32 = 85;
pub const R_MOVW_BREL: u32 = 86;
pub const R_THM_MOVW_BREL_NC: u32 = 87;
pub const R_THM_MOVT_BREL: u32 = 88;
pub const R_THM_MOVW_BREL: u32 = 89;
const R_GOT_ABS: u32 = 95;
pub const R_GOT_PREL: u32 = 96;
pub const R_THM_JUMP11: u32 = 102;
pub const R_THM_JUMP8: u32 = 103;
const R_TLS_GD32: u32 = 104;
const R_TLS_LDM32: u32 = 105;
const R_TLS_LDO32: u32 = 106;
const R_TLS_IE32: u32 = 107;
const R_TLS_LE32: u32 = 108;
pub const R_THM_ALU_ABS_G0_NC: u32 = 132;
pub const R_THM_ALU_ABS_G1_NC: u32 = 133;
pub const R_THM_ALU_ABS_G2_NC: u32 = 134;
pub const R_THM_ALU_ABS_G3: u32 = 135;
pub const R_IRELATIVE: u32 = 160;
/// Only loaders have it: descriptors of thread-local variables.
pub const R_TLS_DESC: u32 = 13;

const fn word(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Any, name)
}

/// A branch of `bits` bits. ARM code, if that is where it goes, lies in words.
const fn branch(width: u8, bits: u8, name: &'static str) -> Named {
    Named::new(Class::Plt, width, Signed, name).bits(bits).of(4)
}

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_ARM_NONE")),
    (R_PC24, branch(4, 26, "R_ARM_PC24")),
    (R_ABS32, word(Class::Address, "R_ARM_ABS32")),
    (R_REL32, word(Class::Pc, "R_ARM_REL32")),
    (R_LDR_PC_G0, Named::new(Class::Pc, 4, Signed, "R_ARM_LDR_PC_G0").bits(13)),
    (R_ABS16, Named::new(Class::Narrow, 2, Either, "R_ARM_ABS16")),
    (6, Named::unknown("R_ARM_ABS12")),
    (7, Named::unknown("R_ARM_THM_ABS5")),
    (R_ABS8, Named::new(Class::Narrow, 1, Either, "R_ARM_ABS8")),
    (R_SBREL32, word(Class::Term, "R_ARM_SBREL32")),
    (R_THM_CALL, branch(4, 25, "R_ARM_THM_CALL")),
    (R_THM_PC8, Named::new(Class::Pc, 2, Unsigned, "R_ARM_THM_PC8").bits(10).of(4)),
    (12, Named::unknown("R_ARM_BREL_ADJ")),
    (R_TLS_DESC, Named::unknown("R_ARM_TLS_DESC")),
    (R_TLS_DTPMOD32, Named::unknown("R_ARM_TLS_DTPMOD32")),
    (R_TLS_DTPOFF32, Named::unknown("R_ARM_TLS_DTPOFF32")),
    (R_TLS_TPOFF32, Named::unknown("R_ARM_TLS_TPOFF32")),
    (R_COPY, Named::unknown("R_ARM_COPY")),
    (R_GLOB_DAT, Named::unknown("R_ARM_GLOB_DAT")),
    (R_JUMP_SLOT, Named::unknown("R_ARM_JUMP_SLOT")),
    (R_RELATIVE, Named::unknown("R_ARM_RELATIVE")),
    (R_GOTOFF32, word(Class::GotOff, "R_ARM_GOTOFF32")),
    (R_BASE_PREL, word(Class::GotBase, "R_ARM_BASE_PREL")),
    (R_GOT_BREL, word(Class::Got, "R_ARM_GOT_BREL").from(From::GotBase)),
    (R_PLT32, branch(4, 26, "R_ARM_PLT32")),
    (R_CALL, branch(4, 26, "R_ARM_CALL")),
    (R_JUMP24, branch(4, 26, "R_ARM_JUMP24")),
    (R_THM_JUMP24, branch(4, 25, "R_ARM_THM_JUMP24")),
    (31, Named::unknown("R_ARM_BASE_ABS")),
    // Options say which type they stand for; see `Facts::platform`.
    (R_TARGET1, word(Class::Address, "R_ARM_TARGET1")),
    (R_TARGET2, word(Class::Address, "R_ARM_TARGET2")),
    (39, Named::unknown("R_ARM_SBREL31")),
    (R_V4BX, Named::new(Class::None, 0, Any, "R_ARM_V4BX")),
    (R_PREL31, Named::new(Class::Plt, 4, Signed, "R_ARM_PREL31").bits(31)),
    (R_MOVW_ABS_NC, word(Class::Narrow, "R_ARM_MOVW_ABS_NC")),
    (R_MOVT_ABS, word(Class::Narrow, "R_ARM_MOVT_ABS")),
    (R_MOVW_PREL_NC, word(Class::Pc, "R_ARM_MOVW_PREL_NC")),
    (R_MOVT_PREL, word(Class::Pc, "R_ARM_MOVT_PREL")),
    (R_THM_MOVW_ABS_NC, word(Class::Narrow, "R_ARM_THM_MOVW_ABS_NC")),
    (R_THM_MOVT_ABS, word(Class::Narrow, "R_ARM_THM_MOVT_ABS")),
    (R_THM_MOVW_PREL_NC, word(Class::Pc, "R_ARM_THM_MOVW_PREL_NC")),
    (R_THM_MOVT_PREL, word(Class::Pc, "R_ARM_THM_MOVT_PREL")),
    (R_THM_JUMP19, branch(4, 21, "R_ARM_THM_JUMP19")),
    (R_THM_JUMP6, Named::unknown("R_ARM_THM_JUMP6")),
    (R_THM_ALU_PREL_11_0, Named::new(Class::Pc, 4, Signed, "R_ARM_THM_ALU_PREL_11_0").bits(13)),
    (R_THM_PC12, Named::new(Class::Pc, 4, Signed, "R_ARM_THM_PC12").bits(13)),
    (R_ABS32_NOI, Named::unknown("R_ARM_ABS32_NOI")),
    (R_REL32_NOI, Named::unknown("R_ARM_REL32_NOI")),
    (R_ALU_PC_G0_NC, word(Class::Pc, "R_ARM_ALU_PC_G0_NC")),
    (R_ALU_PC_G0, word(Class::Pc, "R_ARM_ALU_PC_G0")),
    (R_ALU_PC_G1_NC, word(Class::Pc, "R_ARM_ALU_PC_G1_NC")),
    (R_ALU_PC_G1, word(Class::Pc, "R_ARM_ALU_PC_G1")),
    (R_ALU_PC_G2, word(Class::Pc, "R_ARM_ALU_PC_G2")),
    (R_LDR_PC_G1, word(Class::Pc, "R_ARM_LDR_PC_G1")),
    (R_LDR_PC_G2, word(Class::Pc, "R_ARM_LDR_PC_G2")),
    (R_LDRS_PC_G0, Named::new(Class::Pc, 4, Signed, "R_ARM_LDRS_PC_G0").bits(9)),
    (R_LDRS_PC_G1, word(Class::Pc, "R_ARM_LDRS_PC_G1")),
    (R_LDRS_PC_G2, word(Class::Pc, "R_ARM_LDRS_PC_G2")),
    (67, Named::unknown("R_ARM_LDC_PC_G0")),
    (68, Named::unknown("R_ARM_LDC_PC_G1")),
    (69, Named::unknown("R_ARM_LDC_PC_G2")),
    (70, Named::unknown("R_ARM_ALU_SB_G0_NC")),
    (71, Named::unknown("R_ARM_ALU_SB_G0")),
    (72, Named::unknown("R_ARM_ALU_SB_G1_NC")),
    (73, Named::unknown("R_ARM_ALU_SB_G1")),
    (74, Named::unknown("R_ARM_ALU_SB_G2")),
    (75, Named::unknown("R_ARM_LDR_SB_G0")),
    (76, Named::unknown("R_ARM_LDR_SB_G1")),
    (77, Named::unknown("R_ARM_LDR_SB_G2")),
    (78, Named::unknown("R_ARM_LDRS_SB_G0")),
    (79, Named::unknown("R_ARM_LDRS_SB_G1")),
    (80, Named::unknown("R_ARM_LDRS_SB_G2")),
    (81, Named::unknown("R_ARM_LDC_SB_G0")),
    (82, Named::unknown("R_ARM_LDC_SB_G1")),
    (83, Named::unknown("R_ARM_LDC_SB_G2")),
    (R_MOVW_BREL_NC, word(Class::Term, "R_ARM_MOVW_BREL_NC")),
    (R_MOVT_BREL, word(Class::Term, "R_ARM_MOVT_BREL")),
    (R_MOVW_BREL, Named::new(Class::Term, 4, Unsigned, "R_ARM_MOVW_BREL").bits(16)),
    (R_THM_MOVW_BREL_NC, word(Class::Term, "R_ARM_THM_MOVW_BREL_NC")),
    (R_THM_MOVT_BREL, word(Class::Term, "R_ARM_THM_MOVT_BREL")),
    (R_THM_MOVW_BREL, Named::new(Class::Term, 4, Unsigned, "R_ARM_THM_MOVW_BREL").bits(16)),
    (90, Named::unknown("R_ARM_TLS_GOTDESC")),
    (91, Named::unknown("R_ARM_TLS_CALL")),
    (92, Named::unknown("R_ARM_TLS_DESCSEQ")),
    (93, Named::unknown("R_ARM_THM_TLS_CALL")),
    (94, Named::unknown("R_ARM_PLT32_ABS")),
    (R_GOT_ABS, word(Class::Got, "R_ARM_GOT_ABS").from(From::Zero)),
    (R_GOT_PREL, word(Class::Got, "R_ARM_GOT_PREL")),
    (97, Named::unknown("R_ARM_GOT_BREL12")),
    (98, Named::unknown("R_ARM_GOTOFF12")),
    (99, Named::unknown("R_ARM_GOTRELAX")),
    (100, Named::unknown("R_ARM_GNU_VTENTRY")),
    (101, Named::unknown("R_ARM_GNU_VTINHERIT")),
    (R_THM_JUMP11, branch(2, 12, "R_ARM_THM_JUMP11")),
    (R_THM_JUMP8, branch(2, 9, "R_ARM_THM_JUMP8")),
    (R_TLS_GD32, word(Class::TlsGd, "R_ARM_TLS_GD32")),
    (R_TLS_LDM32, word(Class::TlsLd, "R_ARM_TLS_LDM32")),
    (R_TLS_LDO32, word(Class::DtpOff, "R_ARM_TLS_LDO32")),
    (R_TLS_IE32, word(Class::GotTp, "R_ARM_TLS_IE32")),
    (R_TLS_LE32, word(Class::TpOff, "R_ARM_TLS_LE32")),
    (109, Named::unknown("R_ARM_TLS_LDO12")),
    (110, Named::unknown("R_ARM_TLS_LE12")),
    (111, Named::unknown("R_ARM_TLS_IE12GP")),
    (129, Named::unknown("R_ARM_THM_TLS_DESCSEQ16")),
    (130, Named::unknown("R_ARM_THM_TLS_DESCSEQ32")),
    (131, Named::unknown("R_ARM_THM_GOT_BREL12")),
    (R_THM_ALU_ABS_G0_NC, Named::new(Class::Narrow, 2, Any, "R_ARM_THM_ALU_ABS_G0_NC")),
    (R_THM_ALU_ABS_G1_NC, Named::new(Class::Narrow, 2, Any, "R_ARM_THM_ALU_ABS_G1_NC")),
    (R_THM_ALU_ABS_G2_NC, Named::new(Class::Narrow, 2, Any, "R_ARM_THM_ALU_ABS_G2_NC")),
    (R_THM_ALU_ABS_G3, Named::new(Class::Narrow, 2, Any, "R_ARM_THM_ALU_ABS_G3")),
    (136, Named::unknown("R_ARM_THM_BF16")),
    (137, Named::unknown("R_ARM_THM_BF12")),
    (138, Named::unknown("R_ARM_THM_BF18")),
    (R_IRELATIVE, Named::unknown("R_ARM_IRELATIVE")),
    (161, Named::unknown("R_ARM_GOTFUNCDESC")),
    (162, Named::unknown("R_ARM_GOTOFFFUNCDESC")),
    (163, Named::unknown("R_ARM_FUNCDESC")),
    (164, Named::unknown("R_ARM_FUNCDESC_VALUE")),
    (165, Named::unknown("R_ARM_TLS_GD32_FDPIC")),
    (166, Named::unknown("R_ARM_TLS_LDM32_FDPIC")),
    (167, Named::unknown("R_ARM_TLS_IE32_FDPIC")),
];

pub const TYPES: [Type; 168] = table(LIST);
pub static NAMES: [u8; names_size(LIST)] = names(LIST);

/// Whether the code of a branch of this type is Thumb code; `None`: it is no branch.
#[inline(always)]
pub fn branch_state(kind: u32) -> Option<bool> {
    match kind {
        R_PC24 | R_PLT32 | R_CALL | R_JUMP24 => Some(false),
        R_THM_CALL | R_THM_JUMP24 | R_THM_JUMP19 | R_THM_JUMP11 | R_THM_JUMP8 => Some(true),
        _ => None,
    }
}

/// How far after the place of a branch the processor counts its distance from.
pub fn bias(kind: u32) -> u64 {
    match branch_state(kind) {
        Some(false) => 8,
        Some(true) => 4,
        None => 0,
    }
}

/// Whether distances count from the word that the place lies in.
pub fn counts_from_word(kind: u32) -> bool {
    matches!(kind, R_THM_PC8 | R_THM_PC12 | R_THM_ALU_PREL_11_0)
}

/// Whether a value is the address of something to be loaded, of which the instruction set says nothing.
pub fn is_load(kind: u32) -> bool {
    matches!(kind, R_THM_PC8 | R_THM_PC12 | R_LDR_PC_G0 | R_LDR_PC_G1..=R_LDRS_PC_G2)
}

/// The addend for an address of Thumb code, which has its lowest bit already: that is set after adding, `(S + A) | T`,
/// or, where the instruction set does not matter, not at all.
pub fn addend_to_thumb(kind: u32, addend: i64) -> i64 {
    if is_load(kind) || matches!(kind, R_ABS8 | R_ABS16) { addend - 1 } else { addend & !1 }
}

/// Whether values count from the start of what a register for data points at.
pub fn counts_from_base(kind: u32) -> bool {
    kind == R_SBREL32 || matches!(kind, R_MOVW_BREL_NC..=R_THM_MOVW_BREL)
}
