//! AArch64: the relocation types that objects may have, and what each asks for.
//!
//! Specification: "ELF for the Arm 64-bit Architecture (AArch64)" (AAELF64), chapter "Relocation".

use crate::arch::class::{Class, Fit::*, From, Named, Type, names, names_size, table};

pub const R_NONE: u32 = 0;
/// Its number in early drafts.
const R_NONE_OLD: u32 = 256;
pub const R_ABS64: u32 = 257;
pub const R_ABS32: u32 = 258;
const R_ABS16: u32 = 259;
const R_PREL64: u32 = 260;
const R_PREL32: u32 = 261;
pub const R_PREL16: u32 = 262;
pub const R_MOVW_UABS_G0: u32 = 263;
pub const R_MOVW_UABS_G0_NC: u32 = 264;
pub const R_MOVW_UABS_G1: u32 = 265;
pub const R_MOVW_UABS_G1_NC: u32 = 266;
pub const R_MOVW_UABS_G2: u32 = 267;
pub const R_MOVW_UABS_G2_NC: u32 = 268;
pub const R_MOVW_UABS_G3: u32 = 269;
pub const R_MOVW_SABS_G0: u32 = 270;
pub const R_MOVW_SABS_G1: u32 = 271;
pub const R_MOVW_SABS_G2: u32 = 272;
pub const R_LD_PREL_LO19: u32 = 273;
pub const R_ADR_PREL_LO21: u32 = 274;
pub const R_ADR_PREL_PG_HI21: u32 = 275;
pub const R_ADR_PREL_PG_HI21_NC: u32 = 276;
pub const R_ADD_ABS_LO12_NC: u32 = 277;
pub const R_LDST8_ABS_LO12_NC: u32 = 278;
pub const R_TSTBR14: u32 = 279;
pub const R_CONDBR19: u32 = 280;
pub const R_JUMP26: u32 = 282;
pub const R_CALL26: u32 = 283;
pub const R_LDST16_ABS_LO12_NC: u32 = 284;
pub const R_LDST32_ABS_LO12_NC: u32 = 285;
pub const R_LDST64_ABS_LO12_NC: u32 = 286;
pub const R_MOVW_PREL_G0: u32 = 287;
pub const R_MOVW_PREL_G0_NC: u32 = 288;
pub const R_MOVW_PREL_G1: u32 = 289;
pub const R_MOVW_PREL_G1_NC: u32 = 290;
pub const R_MOVW_PREL_G2: u32 = 291;
pub const R_MOVW_PREL_G2_NC: u32 = 292;
pub const R_MOVW_PREL_G3: u32 = 293;
pub const R_LDST128_ABS_LO12_NC: u32 = 299;
pub const R_MOVW_GOTOFF_G0: u32 = 300;
pub const R_MOVW_GOTOFF_G0_NC: u32 = 301;
pub const R_MOVW_GOTOFF_G1: u32 = 302;
pub const R_MOVW_GOTOFF_G1_NC: u32 = 303;
pub const R_MOVW_GOTOFF_G2: u32 = 304;
pub const R_MOVW_GOTOFF_G2_NC: u32 = 305;
pub const R_MOVW_GOTOFF_G3: u32 = 306;
const R_GOTREL64: u32 = 307;
const R_GOTREL32: u32 = 308;
pub const R_GOT_LD_PREL19: u32 = 309;
pub const R_LD64_GOTOFF_LO15: u32 = 310;
pub const R_ADR_GOT_PAGE: u32 = 311;
pub const R_LD64_GOT_LO12_NC: u32 = 312;
pub const R_LD64_GOTPAGE_LO15: u32 = 313;
const R_PLT32: u32 = 314;
pub const R_GOTPCREL32: u32 = 315;
/// An instruction that a symbol's value replaces, if there is one.
pub const R_PATCHINST: u32 = 316;
/// A word that gets what a function returns.
const R_FUNCINIT64: u32 = 317;
pub const R_TLSGD_ADR_PREL21: u32 = 512;
pub const R_TLSGD_ADR_PAGE21: u32 = 513;
pub const R_TLSGD_ADD_LO12_NC: u32 = 514;
pub const R_TLSGD_MOVW_G1: u32 = 515;
pub const R_TLSGD_MOVW_G0_NC: u32 = 516;
pub const R_TLSLD_ADR_PREL21: u32 = 517;
pub const R_TLSLD_ADR_PAGE21: u32 = 518;
pub const R_TLSLD_ADD_LO12_NC: u32 = 519;
pub const R_TLSLD_MOVW_G1: u32 = 520;
pub const R_TLSLD_MOVW_G0_NC: u32 = 521;
pub const R_TLSLD_LD_PREL19: u32 = 522;
pub const R_TLSLD_MOVW_DTPREL_G2: u32 = 523;
pub const R_TLSLD_MOVW_DTPREL_G1: u32 = 524;
pub const R_TLSLD_MOVW_DTPREL_G1_NC: u32 = 525;
pub const R_TLSLD_MOVW_DTPREL_G0: u32 = 526;
pub const R_TLSLD_MOVW_DTPREL_G0_NC: u32 = 527;
pub const R_TLSLD_ADD_DTPREL_HI12: u32 = 528;
pub const R_TLSLD_ADD_DTPREL_LO12: u32 = 529;
pub const R_TLSLD_ADD_DTPREL_LO12_NC: u32 = 530;
pub const R_TLSLD_LDST8_DTPREL_LO12: u32 = 531;
pub const R_TLSLD_LDST8_DTPREL_LO12_NC: u32 = 532;
pub const R_TLSLD_LDST16_DTPREL_LO12: u32 = 533;
pub const R_TLSLD_LDST16_DTPREL_LO12_NC: u32 = 534;
pub const R_TLSLD_LDST32_DTPREL_LO12: u32 = 535;
pub const R_TLSLD_LDST32_DTPREL_LO12_NC: u32 = 536;
pub const R_TLSLD_LDST64_DTPREL_LO12: u32 = 537;
pub const R_TLSLD_LDST64_DTPREL_LO12_NC: u32 = 538;
pub const R_TLSIE_MOVW_GOTTPREL_G1: u32 = 539;
pub const R_TLSIE_MOVW_GOTTPREL_G0_NC: u32 = 540;
pub const R_TLSIE_ADR_GOTTPREL_PAGE21: u32 = 541;
pub const R_TLSIE_LD64_GOTTPREL_LO12_NC: u32 = 542;
pub const R_TLSIE_LD_GOTTPREL_PREL19: u32 = 543;
pub const R_TLSLE_MOVW_TPREL_G2: u32 = 544;
pub const R_TLSLE_MOVW_TPREL_G1: u32 = 545;
pub const R_TLSLE_MOVW_TPREL_G1_NC: u32 = 546;
pub const R_TLSLE_MOVW_TPREL_G0: u32 = 547;
pub const R_TLSLE_MOVW_TPREL_G0_NC: u32 = 548;
pub const R_TLSLE_ADD_TPREL_HI12: u32 = 549;
pub const R_TLSLE_ADD_TPREL_LO12: u32 = 550;
pub const R_TLSLE_ADD_TPREL_LO12_NC: u32 = 551;
pub const R_TLSLE_LDST8_TPREL_LO12: u32 = 552;
pub const R_TLSLE_LDST8_TPREL_LO12_NC: u32 = 553;
pub const R_TLSLE_LDST16_TPREL_LO12: u32 = 554;
pub const R_TLSLE_LDST16_TPREL_LO12_NC: u32 = 555;
pub const R_TLSLE_LDST32_TPREL_LO12: u32 = 556;
pub const R_TLSLE_LDST32_TPREL_LO12_NC: u32 = 557;
pub const R_TLSLE_LDST64_TPREL_LO12: u32 = 558;
pub const R_TLSLE_LDST64_TPREL_LO12_NC: u32 = 559;
pub const R_TLSDESC_LD_PREL19: u32 = 560;
pub const R_TLSDESC_ADR_PREL21: u32 = 561;
pub const R_TLSDESC_ADR_PAGE21: u32 = 562;
pub const R_TLSDESC_LD64_LO12: u32 = 563;
pub const R_TLSDESC_ADD_LO12: u32 = 564;
pub const R_TLSDESC_OFF_G1: u32 = 565;
pub const R_TLSDESC_OFF_G0_NC: u32 = 566;
const R_TLSDESC_LDR: u32 = 567;
const R_TLSDESC_ADD: u32 = 568;
pub const R_TLSDESC_CALL: u32 = 569;
pub const R_TLSLE_LDST128_TPREL_LO12: u32 = 570;
pub const R_TLSLE_LDST128_TPREL_LO12_NC: u32 = 571;
pub const R_TLSLD_LDST128_DTPREL_LO12: u32 = 572;
pub const R_TLSLD_LDST128_DTPREL_LO12_NC: u32 = 573;
/// A pointer that is signed. Source: "PAuth ABI Extension to ELF for the Arm 64-bit Architecture".
const R_AUTH_ABS64: u32 = 580;
/// Slots of the GOT, and descriptors, whose pointers are signed.
pub const R_AUTH_GOT_LD_PREL19: u32 = 588;
pub const R_AUTH_ADR_GOT_PAGE: u32 = 590;
pub const R_AUTH_LD64_GOT_LO12_NC: u32 = 591;
pub const R_AUTH_GOT_ADD_LO12_NC: u32 = 593;
pub const R_AUTH_GOT_ADR_PREL_LO21: u32 = 594;
pub const R_AUTH_TLSDESC_ADR_PAGE21: u32 = 595;
pub const R_AUTH_TLSDESC_LD64_LO12: u32 = 596;
pub const R_AUTH_TLSDESC_ADD_LO12: u32 = 597;
pub const R_COPY: u32 = 1024;
pub const R_GLOB_DAT: u32 = 1025;
pub const R_JUMP_SLOT: u32 = 1026;
pub const R_RELATIVE: u32 = 1027;
pub const R_TLS_DTPMOD64: u32 = 1028;
pub const R_TLS_DTPREL64: u32 = 1029;
pub const R_TLS_TPREL64: u32 = 1030;
pub const R_TLSDESC: u32 = 1031;
pub const R_IRELATIVE: u32 = 1032;
pub const R_AUTH_RELATIVE: u32 = 1041;
pub const R_AUTH_GLOB_DAT: u32 = 1042;
pub const R_AUTH_TLSDESC: u32 = 1043;

/// Part of an instruction that holds any value, or rather some bits of it.
const fn any(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Any, name)
}

/// Part of an instruction for signed values of so many bits.
const fn signed(class: Class, bits: u8, name: &'static str) -> Named {
    Named::new(class, 4, Signed, name).bits(bits)
}

/// Part of an instruction for values of so many bits that are not negative.
const fn unsigned(class: Class, bits: u8, name: &'static str) -> Named {
    Named::new(class, 4, Unsigned, name).bits(bits)
}

/// Distances between pages.
const PAGES: u8 = 33;

const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_AARCH64_NONE")),
    (R_NONE_OLD, Named::new(Class::None, 0, Any, "R_AARCH64_NONE")),
    (R_ABS64, Named::new(Class::Address, 8, Any, "R_AARCH64_ABS64")),
    (R_ABS32, Named::new(Class::Narrow, 4, Either, "R_AARCH64_ABS32")),
    (R_ABS16, Named::new(Class::Narrow, 2, Either, "R_AARCH64_ABS16")),
    (R_PREL64, Named::new(Class::Pc, 8, Any, "R_AARCH64_PREL64")),
    (R_PREL32, Named::new(Class::Pc, 4, Either, "R_AARCH64_PREL32")),
    (R_PREL16, Named::new(Class::Pc, 2, Either, "R_AARCH64_PREL16")),
    (R_MOVW_UABS_G0, unsigned(Class::Narrow, 16, "R_AARCH64_MOVW_UABS_G0")),
    (R_MOVW_UABS_G0_NC, any(Class::Narrow, "R_AARCH64_MOVW_UABS_G0_NC")),
    (R_MOVW_UABS_G1, unsigned(Class::Narrow, 32, "R_AARCH64_MOVW_UABS_G1")),
    (R_MOVW_UABS_G1_NC, any(Class::Narrow, "R_AARCH64_MOVW_UABS_G1_NC")),
    (R_MOVW_UABS_G2, unsigned(Class::Narrow, 48, "R_AARCH64_MOVW_UABS_G2")),
    (R_MOVW_UABS_G2_NC, any(Class::Narrow, "R_AARCH64_MOVW_UABS_G2_NC")),
    (R_MOVW_UABS_G3, any(Class::Narrow, "R_AARCH64_MOVW_UABS_G3")),
    (R_MOVW_SABS_G0, signed(Class::Narrow, 17, "R_AARCH64_MOVW_SABS_G0")),
    (R_MOVW_SABS_G1, signed(Class::Narrow, 33, "R_AARCH64_MOVW_SABS_G1")),
    (R_MOVW_SABS_G2, signed(Class::Narrow, 49, "R_AARCH64_MOVW_SABS_G2")),
    (R_LD_PREL_LO19, signed(Class::Pc, 21, "R_AARCH64_LD_PREL_LO19").of(4)),
    (R_ADR_PREL_LO21, signed(Class::Pc, 21, "R_AARCH64_ADR_PREL_LO21")),
    (R_ADR_PREL_PG_HI21, signed(Class::Pc, PAGES, "R_AARCH64_ADR_PREL_PG_HI21")),
    (R_ADR_PREL_PG_HI21_NC, any(Class::Pc, "R_AARCH64_ADR_PREL_PG_HI21_NC")),
    (R_ADD_ABS_LO12_NC, any(Class::Low, "R_AARCH64_ADD_ABS_LO12_NC")),
    (R_LDST8_ABS_LO12_NC, any(Class::Low, "R_AARCH64_LDST8_ABS_LO12_NC")),
    (R_TSTBR14, signed(Class::Plt, 16, "R_AARCH64_TSTBR14").of(4)),
    (R_CONDBR19, signed(Class::Plt, 21, "R_AARCH64_CONDBR19").of(4)),
    (R_JUMP26, signed(Class::Plt, 28, "R_AARCH64_JUMP26").of(4)),
    (R_CALL26, signed(Class::Plt, 28, "R_AARCH64_CALL26").of(4)),
    (R_LDST16_ABS_LO12_NC, any(Class::Low, "R_AARCH64_LDST16_ABS_LO12_NC").of(2)),
    (R_LDST32_ABS_LO12_NC, any(Class::Low, "R_AARCH64_LDST32_ABS_LO12_NC").of(4)),
    (R_LDST64_ABS_LO12_NC, any(Class::Low, "R_AARCH64_LDST64_ABS_LO12_NC").of(8)),
    (R_MOVW_PREL_G0, signed(Class::Pc, 17, "R_AARCH64_MOVW_PREL_G0")),
    (R_MOVW_PREL_G0_NC, any(Class::Pc, "R_AARCH64_MOVW_PREL_G0_NC")),
    (R_MOVW_PREL_G1, signed(Class::Pc, 33, "R_AARCH64_MOVW_PREL_G1")),
    (R_MOVW_PREL_G1_NC, any(Class::Pc, "R_AARCH64_MOVW_PREL_G1_NC")),
    (R_MOVW_PREL_G2, signed(Class::Pc, 49, "R_AARCH64_MOVW_PREL_G2")),
    (R_MOVW_PREL_G2_NC, any(Class::Pc, "R_AARCH64_MOVW_PREL_G2_NC")),
    (R_MOVW_PREL_G3, any(Class::Pc, "R_AARCH64_MOVW_PREL_G3")),
    (R_LDST128_ABS_LO12_NC, any(Class::Low, "R_AARCH64_LDST128_ABS_LO12_NC").of(16)),
    (R_MOVW_GOTOFF_G0, signed(Class::Got, 17, "R_AARCH64_MOVW_GOTOFF_G0").from(From::GotBase)),
    (R_MOVW_GOTOFF_G0_NC, any(Class::Got, "R_AARCH64_MOVW_GOTOFF_G0_NC").from(From::GotBase)),
    (R_MOVW_GOTOFF_G1, signed(Class::Got, 33, "R_AARCH64_MOVW_GOTOFF_G1").from(From::GotBase)),
    (R_MOVW_GOTOFF_G1_NC, any(Class::Got, "R_AARCH64_MOVW_GOTOFF_G1_NC").from(From::GotBase)),
    (R_MOVW_GOTOFF_G2, signed(Class::Got, 49, "R_AARCH64_MOVW_GOTOFF_G2").from(From::GotBase)),
    (R_MOVW_GOTOFF_G2_NC, any(Class::Got, "R_AARCH64_MOVW_GOTOFF_G2_NC").from(From::GotBase)),
    (R_MOVW_GOTOFF_G3, any(Class::Got, "R_AARCH64_MOVW_GOTOFF_G3").from(From::GotBase)),
    (R_GOTREL64, Named::new(Class::GotOff, 8, Any, "R_AARCH64_GOTREL64")),
    (R_GOTREL32, Named::new(Class::GotOff, 4, Signed, "R_AARCH64_GOTREL32")),
    (R_GOT_LD_PREL19, signed(Class::Got, 21, "R_AARCH64_GOT_LD_PREL19").of(4)),
    (R_LD64_GOTOFF_LO15, unsigned(Class::Got, 15, "R_AARCH64_LD64_GOTOFF_LO15").of(8).from(From::GotBase)),
    (R_ADR_GOT_PAGE, signed(Class::GotRelax, PAGES, "R_AARCH64_ADR_GOT_PAGE").from(From::Page)),
    (R_LD64_GOT_LO12_NC, any(Class::GotRelax, "R_AARCH64_LD64_GOT_LO12_NC").of(8).from(From::Low)),
    (R_LD64_GOTPAGE_LO15, unsigned(Class::Got, 15, "R_AARCH64_LD64_GOTPAGE_LO15").of(8).from(From::GotPage)),
    (R_PLT32, Named::new(Class::Plt, 4, Signed, "R_AARCH64_PLT32")),
    (R_GOTPCREL32, Named::new(Class::Got, 4, Signed, "R_AARCH64_GOTPCREL32")),
    (R_PATCHINST, Named::new(Class::Instruction, 4, Either, "R_AARCH64_PATCHINST")),
    (R_FUNCINIT64, Named::new(Class::Initial, 8, Any, "R_AARCH64_FUNCINIT64")),
    (R_TLSGD_ADR_PREL21, signed(Class::TlsGd, 21, "R_AARCH64_TLSGD_ADR_PREL21")),
    (R_TLSGD_ADR_PAGE21, signed(Class::TlsGd, PAGES, "R_AARCH64_TLSGD_ADR_PAGE21").from(From::Page)),
    (R_TLSGD_ADD_LO12_NC, any(Class::TlsGd, "R_AARCH64_TLSGD_ADD_LO12_NC").from(From::Low)),
    (R_TLSGD_MOVW_G1, signed(Class::TlsGd, 33, "R_AARCH64_TLSGD_MOVW_G1").from(From::GotBase)),
    (R_TLSGD_MOVW_G0_NC, any(Class::TlsGd, "R_AARCH64_TLSGD_MOVW_G0_NC").from(From::GotBase)),
    (R_TLSLD_ADR_PREL21, signed(Class::TlsLd, 21, "R_AARCH64_TLSLD_ADR_PREL21")),
    (R_TLSLD_ADR_PAGE21, signed(Class::TlsLd, PAGES, "R_AARCH64_TLSLD_ADR_PAGE21").from(From::Page)),
    (R_TLSLD_ADD_LO12_NC, any(Class::TlsLd, "R_AARCH64_TLSLD_ADD_LO12_NC").from(From::Low)),
    (R_TLSLD_MOVW_G1, signed(Class::TlsLd, 33, "R_AARCH64_TLSLD_MOVW_G1").from(From::GotBase)),
    (R_TLSLD_MOVW_G0_NC, any(Class::TlsLd, "R_AARCH64_TLSLD_MOVW_G0_NC").from(From::GotBase)),
    (R_TLSLD_LD_PREL19, signed(Class::TlsLd, 21, "R_AARCH64_TLSLD_LD_PREL19").of(4)),
    (R_TLSLD_MOVW_DTPREL_G2, signed(Class::DtpOff, 49, "R_AARCH64_TLSLD_MOVW_DTPREL_G2")),
    (R_TLSLD_MOVW_DTPREL_G1, signed(Class::DtpOff, 33, "R_AARCH64_TLSLD_MOVW_DTPREL_G1")),
    (R_TLSLD_MOVW_DTPREL_G1_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_MOVW_DTPREL_G1_NC")),
    (R_TLSLD_MOVW_DTPREL_G0, signed(Class::DtpOff, 17, "R_AARCH64_TLSLD_MOVW_DTPREL_G0")),
    (R_TLSLD_MOVW_DTPREL_G0_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_MOVW_DTPREL_G0_NC")),
    (R_TLSLD_ADD_DTPREL_HI12, unsigned(Class::DtpOff, 24, "R_AARCH64_TLSLD_ADD_DTPREL_HI12")),
    (R_TLSLD_ADD_DTPREL_LO12, unsigned(Class::DtpOff, 12, "R_AARCH64_TLSLD_ADD_DTPREL_LO12")),
    (R_TLSLD_ADD_DTPREL_LO12_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_ADD_DTPREL_LO12_NC")),
    (R_TLSLD_LDST8_DTPREL_LO12, unsigned(Class::DtpOff, 12, "R_AARCH64_TLSLD_LDST8_DTPREL_LO12")),
    (R_TLSLD_LDST8_DTPREL_LO12_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_LDST8_DTPREL_LO12_NC")),
    (R_TLSLD_LDST16_DTPREL_LO12, unsigned(Class::DtpOff, 12, "R_AARCH64_TLSLD_LDST16_DTPREL_LO12").of(2)),
    (R_TLSLD_LDST16_DTPREL_LO12_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_LDST16_DTPREL_LO12_NC").of(2)),
    (R_TLSLD_LDST32_DTPREL_LO12, unsigned(Class::DtpOff, 12, "R_AARCH64_TLSLD_LDST32_DTPREL_LO12").of(4)),
    (R_TLSLD_LDST32_DTPREL_LO12_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_LDST32_DTPREL_LO12_NC").of(4)),
    (R_TLSLD_LDST64_DTPREL_LO12, unsigned(Class::DtpOff, 12, "R_AARCH64_TLSLD_LDST64_DTPREL_LO12").of(8)),
    (R_TLSLD_LDST64_DTPREL_LO12_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_LDST64_DTPREL_LO12_NC").of(8)),
    (
        R_TLSIE_MOVW_GOTTPREL_G1,
        signed(Class::GotTp, 33, "R_AARCH64_TLSIE_MOVW_GOTTPREL_G1").from(From::GotBase),
    ),
    (
        R_TLSIE_MOVW_GOTTPREL_G0_NC,
        any(Class::GotTp, "R_AARCH64_TLSIE_MOVW_GOTTPREL_G0_NC").from(From::GotBase),
    ),
    (
        R_TLSIE_ADR_GOTTPREL_PAGE21,
        signed(Class::GotTp, PAGES, "R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21").from(From::Page),
    ),
    (
        R_TLSIE_LD64_GOTTPREL_LO12_NC,
        any(Class::GotTp, "R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC").of(8).from(From::Low),
    ),
    (R_TLSIE_LD_GOTTPREL_PREL19, signed(Class::GotTp, 21, "R_AARCH64_TLSIE_LD_GOTTPREL_PREL19").of(4)),
    (R_TLSLE_MOVW_TPREL_G2, signed(Class::TpOff, 49, "R_AARCH64_TLSLE_MOVW_TPREL_G2")),
    (R_TLSLE_MOVW_TPREL_G1, signed(Class::TpOff, 33, "R_AARCH64_TLSLE_MOVW_TPREL_G1")),
    (R_TLSLE_MOVW_TPREL_G1_NC, any(Class::TpOff, "R_AARCH64_TLSLE_MOVW_TPREL_G1_NC")),
    (R_TLSLE_MOVW_TPREL_G0, signed(Class::TpOff, 17, "R_AARCH64_TLSLE_MOVW_TPREL_G0")),
    (R_TLSLE_MOVW_TPREL_G0_NC, any(Class::TpOff, "R_AARCH64_TLSLE_MOVW_TPREL_G0_NC")),
    (R_TLSLE_ADD_TPREL_HI12, unsigned(Class::TpOff, 24, "R_AARCH64_TLSLE_ADD_TPREL_HI12")),
    (R_TLSLE_ADD_TPREL_LO12, unsigned(Class::TpOff, 12, "R_AARCH64_TLSLE_ADD_TPREL_LO12")),
    (R_TLSLE_ADD_TPREL_LO12_NC, any(Class::TpOff, "R_AARCH64_TLSLE_ADD_TPREL_LO12_NC")),
    (R_TLSLE_LDST8_TPREL_LO12, unsigned(Class::TpOff, 12, "R_AARCH64_TLSLE_LDST8_TPREL_LO12")),
    (R_TLSLE_LDST8_TPREL_LO12_NC, any(Class::TpOff, "R_AARCH64_TLSLE_LDST8_TPREL_LO12_NC")),
    (R_TLSLE_LDST16_TPREL_LO12, unsigned(Class::TpOff, 12, "R_AARCH64_TLSLE_LDST16_TPREL_LO12").of(2)),
    (R_TLSLE_LDST16_TPREL_LO12_NC, any(Class::TpOff, "R_AARCH64_TLSLE_LDST16_TPREL_LO12_NC").of(2)),
    (R_TLSLE_LDST32_TPREL_LO12, unsigned(Class::TpOff, 12, "R_AARCH64_TLSLE_LDST32_TPREL_LO12").of(4)),
    (R_TLSLE_LDST32_TPREL_LO12_NC, any(Class::TpOff, "R_AARCH64_TLSLE_LDST32_TPREL_LO12_NC").of(4)),
    (R_TLSLE_LDST64_TPREL_LO12, unsigned(Class::TpOff, 12, "R_AARCH64_TLSLE_LDST64_TPREL_LO12").of(8)),
    (R_TLSLE_LDST64_TPREL_LO12_NC, any(Class::TpOff, "R_AARCH64_TLSLE_LDST64_TPREL_LO12_NC").of(8)),
    (R_TLSDESC_LD_PREL19, signed(Class::TlsDesc, 21, "R_AARCH64_TLSDESC_LD_PREL19").of(4)),
    (R_TLSDESC_ADR_PREL21, signed(Class::TlsDesc, 21, "R_AARCH64_TLSDESC_ADR_PREL21")),
    (R_TLSDESC_ADR_PAGE21, signed(Class::TlsDesc, PAGES, "R_AARCH64_TLSDESC_ADR_PAGE21").from(From::Page)),
    (R_TLSDESC_LD64_LO12, any(Class::TlsDesc, "R_AARCH64_TLSDESC_LD64_LO12").of(8).from(From::Low)),
    (R_TLSDESC_ADD_LO12, any(Class::TlsDesc, "R_AARCH64_TLSDESC_ADD_LO12").from(From::Low)),
    (R_TLSDESC_OFF_G1, signed(Class::TlsDesc, 33, "R_AARCH64_TLSDESC_OFF_G1").from(From::GotBase)),
    (R_TLSDESC_OFF_G0_NC, any(Class::TlsDesc, "R_AARCH64_TLSDESC_OFF_G0_NC").from(From::GotBase)),
    // Marks in sequences that are not rewritten.
    (R_TLSDESC_LDR, Named::new(Class::None, 0, Any, "R_AARCH64_TLSDESC_LDR")),
    (R_TLSDESC_ADD, Named::new(Class::None, 0, Any, "R_AARCH64_TLSDESC_ADD")),
    (R_TLSDESC_CALL, any(Class::TlsDescCall, "R_AARCH64_TLSDESC_CALL")),
    (R_TLSLE_LDST128_TPREL_LO12, unsigned(Class::TpOff, 12, "R_AARCH64_TLSLE_LDST128_TPREL_LO12").of(16)),
    (R_TLSLE_LDST128_TPREL_LO12_NC, any(Class::TpOff, "R_AARCH64_TLSLE_LDST128_TPREL_LO12_NC").of(16)),
    (R_TLSLD_LDST128_DTPREL_LO12, unsigned(Class::DtpOff, 12, "R_AARCH64_TLSLD_LDST128_DTPREL_LO12").of(16)),
    (R_TLSLD_LDST128_DTPREL_LO12_NC, any(Class::DtpOff, "R_AARCH64_TLSLD_LDST128_DTPREL_LO12_NC").of(16)),
    (R_AUTH_ABS64, Named::new(Class::Signed, 8, Any, "R_AARCH64_AUTH_ABS64")),
    (R_AUTH_GOT_LD_PREL19, signed(Class::Got, 21, "R_AARCH64_AUTH_GOT_LD_PREL19").of(4)),
    (R_AUTH_ADR_GOT_PAGE, signed(Class::Got, PAGES, "R_AARCH64_AUTH_ADR_GOT_PAGE").from(From::Page)),
    (R_AUTH_LD64_GOT_LO12_NC, any(Class::Got, "R_AARCH64_AUTH_LD64_GOT_LO12_NC").of(8).from(From::Low)),
    (R_AUTH_GOT_ADD_LO12_NC, any(Class::Got, "R_AARCH64_AUTH_GOT_ADD_LO12_NC").from(From::Low)),
    (R_AUTH_GOT_ADR_PREL_LO21, signed(Class::Got, 21, "R_AARCH64_AUTH_GOT_ADR_PREL_LO21")),
    (
        R_AUTH_TLSDESC_ADR_PAGE21,
        signed(Class::TlsDesc, PAGES, "R_AARCH64_AUTH_TLSDESC_ADR_PAGE21").from(From::Page),
    ),
    (R_AUTH_TLSDESC_LD64_LO12, any(Class::TlsDesc, "R_AARCH64_AUTH_TLSDESC_LD64_LO12").of(8).from(From::Low)),
    (R_AUTH_TLSDESC_ADD_LO12, any(Class::TlsDesc, "R_AARCH64_AUTH_TLSDESC_ADD_LO12").from(From::Low)),
    // Words in data and in debug information.
    (R_TLS_DTPREL64, Named::new(Class::DtpOff, 8, Any, "R_AARCH64_TLS_DTPREL64")),
    (R_TLS_TPREL64, Named::new(Class::TpOffWord, 8, Any, "R_AARCH64_TLS_TPREL64")),
];

pub static TYPES: [Type; 1031] = table(LIST);
pub static NAMES: [u8; names_size(LIST)] = names(LIST);

/// Whether what it asks for has pointers that are signed.
pub const fn is_signed(kind: u32) -> bool {
    matches!(kind, R_AUTH_ABS64 | R_AUTH_GOT_LD_PREL19..=R_AUTH_TLSDESC_ADD_LO12)
}

/// Whether it applies to a word of data; else to an instruction.
#[inline(always)]
pub const fn is_data(kind: u32) -> bool {
    matches!(
        kind,
        R_ABS64
            | R_ABS32
            | R_ABS16
            | R_PREL64
            | R_PREL32
            | R_PREL16
            | R_GOTREL64
            | R_GOTREL32
            | R_PLT32
            | R_GOTPCREL32
            | R_TLS_DTPREL64
            | R_TLS_TPREL64
    )
}
