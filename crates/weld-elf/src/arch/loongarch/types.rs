//! LoongArch: the relocation types that objects may have, and what each asks for.
//!
//! Code makes addresses in parts, and a part of each kind has a type. Slots for thread-local storage by the
//! general- and local-dynamic models have the types of ordinary slots for all parts but the first, so these
//! are looked up by what slots the symbol has ([`Class::OtherHalf`]). Local dynamic is general dynamic: what
//! is asked for is the address of the variable itself.
//!
//! Types of version 0 of the ABI, which compute values on a stack, are known by their names only.
//!
//! Specification: "ELF for the LoongArch Architecture", chapter "Relocations".

use crate::arch::class::{Class, Fit::*, From, Named};

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
pub const R_IRELATIVE: u32 = 12;
pub const R_TLS_DESC32: u32 = 13;
pub const R_TLS_DESC64: u32 = 14;
const R_MARK_LA: u32 = 20;
const R_MARK_PCREL: u32 = 21;
pub const R_ADD8: u32 = 47;
pub const R_ADD16: u32 = 48;
pub const R_ADD24: u32 = 49;
pub const R_ADD32: u32 = 50;
pub const R_ADD64: u32 = 51;
pub const R_SUB8: u32 = 52;
pub const R_SUB16: u32 = 53;
pub const R_SUB24: u32 = 54;
pub const R_SUB32: u32 = 55;
pub const R_SUB64: u32 = 56;
const R_GNU_VTINHERIT: u32 = 57;
const R_GNU_VTENTRY: u32 = 58;
pub const R_B16: u32 = 64;
pub const R_B21: u32 = 65;
pub const R_B26: u32 = 66;
pub const R_ABS_HI20: u32 = 67;
pub const R_ABS_LO12: u32 = 68;
pub const R_ABS64_LO20: u32 = 69;
pub const R_ABS64_HI12: u32 = 70;
pub const R_PCALA_HI20: u32 = 71;
pub const R_PCALA_LO12: u32 = 72;
pub const R_PCALA64_LO20: u32 = 73;
pub const R_PCALA64_HI12: u32 = 74;
pub const R_GOT_PC_HI20: u32 = 75;
pub const R_GOT_PC_LO12: u32 = 76;
pub const R_GOT64_PC_LO20: u32 = 77;
pub const R_GOT64_PC_HI12: u32 = 78;
pub const R_GOT_HI20: u32 = 79;
pub const R_GOT_LO12: u32 = 80;
pub const R_GOT64_LO20: u32 = 81;
pub const R_GOT64_HI12: u32 = 82;
pub const R_TLS_LE_HI20: u32 = 83;
pub const R_TLS_LE_LO12: u32 = 84;
pub const R_TLS_LE64_LO20: u32 = 85;
pub const R_TLS_LE64_HI12: u32 = 86;
pub const R_TLS_IE_PC_HI20: u32 = 87;
pub const R_TLS_IE_PC_LO12: u32 = 88;
pub const R_TLS_IE64_PC_LO20: u32 = 89;
pub const R_TLS_IE64_PC_HI12: u32 = 90;
pub const R_TLS_IE_HI20: u32 = 91;
pub const R_TLS_IE_LO12: u32 = 92;
pub const R_TLS_IE64_LO20: u32 = 93;
pub const R_TLS_IE64_HI12: u32 = 94;
pub const R_TLS_LD_PC_HI20: u32 = 95;
pub const R_TLS_LD_HI20: u32 = 96;
pub const R_TLS_GD_PC_HI20: u32 = 97;
pub const R_TLS_GD_HI20: u32 = 98;
pub const R_32_PCREL: u32 = 99;
pub const R_RELAX: u32 = 100;
pub const R_ALIGN: u32 = 102;
pub const R_PCREL20_S2: u32 = 103;
pub const R_ADD6: u32 = 105;
pub const R_SUB6: u32 = 106;
pub const R_ADD_ULEB128: u32 = 107;
pub const R_SUB_ULEB128: u32 = 108;
pub const R_64_PCREL: u32 = 109;
pub const R_CALL36: u32 = 110;
pub const R_TLS_DESC_PC_HI20: u32 = 111;
pub const R_TLS_DESC_PC_LO12: u32 = 112;
pub const R_TLS_DESC64_PC_LO20: u32 = 113;
pub const R_TLS_DESC64_PC_HI12: u32 = 114;
pub const R_TLS_DESC_HI20: u32 = 115;
pub const R_TLS_DESC_LO12: u32 = 116;
pub const R_TLS_DESC64_LO20: u32 = 117;
pub const R_TLS_DESC64_HI12: u32 = 118;
pub const R_TLS_DESC_LD: u32 = 119;
pub const R_TLS_DESC_CALL: u32 = 120;
pub const R_TLS_LE_HI20_R: u32 = 121;
pub const R_TLS_LE_ADD_R: u32 = 122;
pub const R_TLS_LE_LO12_R: u32 = 123;
pub const R_TLS_LD_PCREL20_S2: u32 = 124;
pub const R_TLS_GD_PCREL20_S2: u32 = 125;
pub const R_TLS_DESC_PCREL20_S2: u32 = 126;
pub const R_CALL30: u32 = 127;
pub const R_PCADD_HI20: u32 = 128;
pub const R_PCADD_LO12: u32 = 129;
pub const R_GOT_PCADD_HI20: u32 = 130;
pub const R_GOT_PCADD_LO12: u32 = 131;
pub const R_TLS_IE_PCADD_HI20: u32 = 132;
pub const R_TLS_IE_PCADD_LO12: u32 = 133;
pub const R_TLS_LD_PCADD_HI20: u32 = 134;
pub const R_TLS_LD_PCADD_LO12: u32 = 135;
pub const R_TLS_GD_PCADD_HI20: u32 = 136;
pub const R_TLS_GD_PCADD_LO12: u32 = 137;
pub const R_TLS_DESC_PCADD_HI20: u32 = 138;
pub const R_TLS_DESC_PCADD_LO12: u32 = 139;
/// The first type of those that work on a stack.
const R_SOP_PUSH_PCREL: u32 = 22;

/// How many numbers there are.
pub const COUNT: usize = 140;

/// How many types there are.
const TYPES: usize = 117;

/// A part of an instruction that holds any value, or rather some bits of it.
const fn any(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Any, name)
}

/// The bits of a distance between pages from 12 to 31.
const fn step(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Signed, name)
}

/// The upper 20 bits of a distance or an offset, whose lower ones are added with their sign.
const fn high(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Rounded, name)
}

/// A distance in units of 4 bytes.
const fn near(class: Class, name: &'static str) -> Named {
    Named::new(class, 4, Signed, name).bits(22).of(4)
}

/// A branch over so many bits of distance.
const fn branch(bits: u8, name: &'static str) -> Named {
    Named::new(Class::Plt, 4, Signed, name).bits(bits).of(4)
}

/// A term of a sum that several relocations of one place make.
const fn term(width: u8, name: &'static str) -> Named {
    Named::new(Class::Term, width, Any, name)
}

const fn mark(name: &'static str) -> Named {
    Named::new(Class::None, 0, Any, name)
}

/// One that works on a stack.
const fn old(name: &'static str) -> Named {
    Named::unknown(name)
}

/// The types; `WIDE`: addresses have 64 bits.
pub const fn types<const WIDE: bool>() -> [(u32, Named); TYPES] {
    let (word, wide) = match WIDE {
        true => (
            Named::new(Class::Narrow, 4, Either, "R_LARCH_32"),
            Named::new(Class::Address, 8, Any, "R_LARCH_64"),
        ),
        false => (
            Named::new(Class::Address, 4, Any, "R_LARCH_32"),
            Named::new(Class::Narrow, 8, Any, "R_LARCH_64"),
        ),
    };
    let offset = match WIDE {
        true => Named::new(Class::DtpOff, 8, Any, "R_LARCH_TLS_DTPREL64"),
        false => Named::new(Class::DtpOff, 4, Any, "R_LARCH_TLS_DTPREL32"),
    };
    [
        (R_NONE, mark("R_LARCH_NONE")),
        (R_32, word),
        (R_64, wide),
        (if WIDE { R_TLS_DTPREL64 } else { R_TLS_DTPREL32 }, offset),
        (R_MARK_LA, mark("R_LARCH_MARK_LA")),
        (R_MARK_PCREL, mark("R_LARCH_MARK_PCREL")),
        (R_ADD8, term(1, "R_LARCH_ADD8")),
        (R_ADD16, term(2, "R_LARCH_ADD16")),
        (R_ADD24, term(3, "R_LARCH_ADD24")),
        (R_ADD32, term(4, "R_LARCH_ADD32")),
        (R_ADD64, term(8, "R_LARCH_ADD64")),
        (R_SUB8, term(1, "R_LARCH_SUB8")),
        (R_SUB16, term(2, "R_LARCH_SUB16")),
        (R_SUB24, term(3, "R_LARCH_SUB24")),
        (R_SUB32, term(4, "R_LARCH_SUB32")),
        (R_SUB64, term(8, "R_LARCH_SUB64")),
        (R_GNU_VTINHERIT, mark("R_LARCH_GNU_VTINHERIT")),
        (R_GNU_VTENTRY, mark("R_LARCH_GNU_VTENTRY")),
        (R_B16, branch(18, "R_LARCH_B16")),
        (R_B21, branch(23, "R_LARCH_B21")),
        (R_B26, branch(28, "R_LARCH_B26")),
        (R_ABS_HI20, any(Class::Narrow, "R_LARCH_ABS_HI20")),
        (R_ABS_LO12, any(Class::Narrow, "R_LARCH_ABS_LO12")),
        (R_ABS64_LO20, any(Class::Narrow, "R_LARCH_ABS64_LO20")),
        (R_ABS64_HI12, any(Class::Narrow, "R_LARCH_ABS64_HI12")),
        (R_PCALA_HI20, step(Class::Pc, "R_LARCH_PCALA_HI20")),
        (R_PCALA_LO12, any(Class::Low, "R_LARCH_PCALA_LO12")),
        (R_PCALA64_LO20, any(Class::Pc, "R_LARCH_PCALA64_LO20")),
        (R_PCALA64_HI12, any(Class::Pc, "R_LARCH_PCALA64_HI12")),
        (R_GOT_PC_HI20, step(Class::GotRelax, "R_LARCH_GOT_PC_HI20")),
        (R_GOT_PC_LO12, any(Class::OtherHalf, "R_LARCH_GOT_PC_LO12")),
        (R_GOT64_PC_LO20, any(Class::OtherHalf, "R_LARCH_GOT64_PC_LO20")),
        (R_GOT64_PC_HI12, any(Class::OtherHalf, "R_LARCH_GOT64_PC_HI12")),
        (R_GOT_HI20, any(Class::Got, "R_LARCH_GOT_HI20").from(From::Zero).bits(20)),
        (R_GOT_LO12, any(Class::OtherHalf, "R_LARCH_GOT_LO12")),
        (R_GOT64_LO20, any(Class::OtherHalf, "R_LARCH_GOT64_LO20")),
        (R_GOT64_HI12, any(Class::OtherHalf, "R_LARCH_GOT64_HI12")),
        (R_TLS_LE_HI20, any(Class::TpOff, "R_LARCH_TLS_LE_HI20")),
        (R_TLS_LE_LO12, any(Class::TpOff, "R_LARCH_TLS_LE_LO12")),
        (R_TLS_LE64_LO20, any(Class::TpOff, "R_LARCH_TLS_LE64_LO20")),
        (R_TLS_LE64_HI12, any(Class::TpOff, "R_LARCH_TLS_LE64_HI12")),
        (R_TLS_IE_PC_HI20, step(Class::GotTp, "R_LARCH_TLS_IE_PC_HI20")),
        (R_TLS_IE_PC_LO12, any(Class::GotTp, "R_LARCH_TLS_IE_PC_LO12").from(From::Low)),
        (R_TLS_IE64_PC_LO20, any(Class::GotTp, "R_LARCH_TLS_IE64_PC_LO20")),
        (R_TLS_IE64_PC_HI12, any(Class::GotTp, "R_LARCH_TLS_IE64_PC_HI12")),
        (R_TLS_IE_HI20, any(Class::GotTp, "R_LARCH_TLS_IE_HI20").from(From::Zero).bits(20)),
        (R_TLS_IE_LO12, any(Class::GotTp, "R_LARCH_TLS_IE_LO12").from(From::Zero).bits(12)),
        (R_TLS_IE64_LO20, any(Class::GotTp, "R_LARCH_TLS_IE64_LO20").from(From::Zero).bits(20)),
        (R_TLS_IE64_HI12, any(Class::GotTp, "R_LARCH_TLS_IE64_HI12").from(From::Zero).bits(12)),
        (R_TLS_LD_PC_HI20, step(Class::TlsGd, "R_LARCH_TLS_LD_PC_HI20")),
        (R_TLS_LD_HI20, any(Class::TlsGd, "R_LARCH_TLS_LD_HI20").from(From::Zero).bits(20)),
        (R_TLS_GD_PC_HI20, step(Class::TlsGd, "R_LARCH_TLS_GD_PC_HI20")),
        (R_TLS_GD_HI20, any(Class::TlsGd, "R_LARCH_TLS_GD_HI20").from(From::Zero).bits(20)),
        (R_32_PCREL, Named::new(Class::Pc, 4, Signed, "R_LARCH_32_PCREL")),
        (R_RELAX, mark("R_LARCH_RELAX")),
        (R_ALIGN, mark("R_LARCH_ALIGN")),
        (R_PCREL20_S2, near(Class::Pc, "R_LARCH_PCREL20_S2")),
        (R_ADD6, term(1, "R_LARCH_ADD6")),
        (R_SUB6, term(1, "R_LARCH_SUB6")),
        (R_ADD_ULEB128, term(1, "R_LARCH_ADD_ULEB128")),
        (R_SUB_ULEB128, term(1, "R_LARCH_SUB_ULEB128")),
        (R_64_PCREL, Named::new(Class::Pc, 8, Any, "R_LARCH_64_PCREL")),
        (R_CALL36, Named::new(Class::Plt, 8, Signed, "R_LARCH_CALL36").bits(38).of(4)),
        (R_TLS_DESC_PC_HI20, step(Class::TlsDesc, "R_LARCH_TLS_DESC_PC_HI20")),
        (R_TLS_DESC_PC_LO12, any(Class::TlsDesc, "R_LARCH_TLS_DESC_PC_LO12").from(From::Low)),
        (R_TLS_DESC64_PC_LO20, any(Class::TlsDesc, "R_LARCH_TLS_DESC64_PC_LO20")),
        (R_TLS_DESC64_PC_HI12, any(Class::TlsDesc, "R_LARCH_TLS_DESC64_PC_HI12")),
        (R_TLS_DESC_HI20, any(Class::TlsDesc, "R_LARCH_TLS_DESC_HI20").from(From::Zero).bits(20)),
        (R_TLS_DESC_LO12, any(Class::TlsDesc, "R_LARCH_TLS_DESC_LO12").from(From::Zero).bits(12)),
        (R_TLS_DESC64_LO20, any(Class::TlsDesc, "R_LARCH_TLS_DESC64_LO20").from(From::Zero).bits(20)),
        (R_TLS_DESC64_HI12, any(Class::TlsDesc, "R_LARCH_TLS_DESC64_HI12").from(From::Zero).bits(12)),
        (R_TLS_DESC_LD, any(Class::TlsDesc, "R_LARCH_TLS_DESC_LD").from(From::Low)),
        (R_TLS_DESC_CALL, any(Class::TlsDescCall, "R_LARCH_TLS_DESC_CALL")),
        (R_TLS_LE_HI20_R, high(Class::TpOff, "R_LARCH_TLS_LE_HI20_R")),
        (R_TLS_LE_ADD_R, mark("R_LARCH_TLS_LE_ADD_R")),
        (R_TLS_LE_LO12_R, any(Class::TpOff, "R_LARCH_TLS_LE_LO12_R")),
        (R_TLS_LD_PCREL20_S2, near(Class::TlsGd, "R_LARCH_TLS_LD_PCREL20_S2")),
        (R_TLS_GD_PCREL20_S2, near(Class::TlsGd, "R_LARCH_TLS_GD_PCREL20_S2")),
        (R_TLS_DESC_PCREL20_S2, near(Class::TlsDesc, "R_LARCH_TLS_DESC_PCREL20_S2")),
        (R_CALL30, Named::new(Class::Plt, 8, Signed, "R_LARCH_CALL30").bits(32).of(4)),
        (R_PCADD_HI20, high(Class::Pc, "R_LARCH_PCADD_HI20")),
        (R_PCADD_LO12, any(Class::OtherHalf, "R_LARCH_PCADD_LO12")),
        (R_GOT_PCADD_HI20, high(Class::GotRelax, "R_LARCH_GOT_PCADD_HI20")),
        (R_GOT_PCADD_LO12, any(Class::OtherHalf, "R_LARCH_GOT_PCADD_LO12")),
        (R_TLS_IE_PCADD_HI20, high(Class::GotTp, "R_LARCH_TLS_IE_PCADD_HI20")),
        (R_TLS_IE_PCADD_LO12, any(Class::OtherHalf, "R_LARCH_TLS_IE_PCADD_LO12")),
        (R_TLS_LD_PCADD_HI20, high(Class::TlsGd, "R_LARCH_TLS_LD_PCADD_HI20")),
        (R_TLS_LD_PCADD_LO12, any(Class::OtherHalf, "R_LARCH_TLS_LD_PCADD_LO12")),
        (R_TLS_GD_PCADD_HI20, high(Class::TlsGd, "R_LARCH_TLS_GD_PCADD_HI20")),
        (R_TLS_GD_PCADD_LO12, any(Class::OtherHalf, "R_LARCH_TLS_GD_PCADD_LO12")),
        (R_TLS_DESC_PCADD_HI20, high(Class::TlsDesc, "R_LARCH_TLS_DESC_PCADD_HI20")),
        (R_TLS_DESC_PCADD_LO12, any(Class::OtherHalf, "R_LARCH_TLS_DESC_PCADD_LO12")),
        (R_SOP_PUSH_PCREL, old("R_LARCH_SOP_PUSH_PCREL")),
        (R_SOP_PUSH_PCREL + 1, old("R_LARCH_SOP_PUSH_ABSOLUTE")),
        (R_SOP_PUSH_PCREL + 2, old("R_LARCH_SOP_PUSH_DUP")),
        (R_SOP_PUSH_PCREL + 3, old("R_LARCH_SOP_PUSH_GPREL")),
        (R_SOP_PUSH_PCREL + 4, old("R_LARCH_SOP_PUSH_TLS_TPREL")),
        (R_SOP_PUSH_PCREL + 5, old("R_LARCH_SOP_PUSH_TLS_GOT")),
        (R_SOP_PUSH_PCREL + 6, old("R_LARCH_SOP_PUSH_TLS_GD")),
        (R_SOP_PUSH_PCREL + 7, old("R_LARCH_SOP_PUSH_PLT_PCREL")),
        (R_SOP_PUSH_PCREL + 8, old("R_LARCH_SOP_ASSERT")),
        (R_SOP_PUSH_PCREL + 9, old("R_LARCH_SOP_NOT")),
        (R_SOP_PUSH_PCREL + 10, old("R_LARCH_SOP_SUB")),
        (R_SOP_PUSH_PCREL + 11, old("R_LARCH_SOP_SL")),
        (R_SOP_PUSH_PCREL + 12, old("R_LARCH_SOP_SR")),
        (R_SOP_PUSH_PCREL + 13, old("R_LARCH_SOP_ADD")),
        (R_SOP_PUSH_PCREL + 14, old("R_LARCH_SOP_AND")),
        (R_SOP_PUSH_PCREL + 15, old("R_LARCH_SOP_IF_ELSE")),
        (R_SOP_PUSH_PCREL + 16, old("R_LARCH_SOP_POP_32_S_10_5")),
        (R_SOP_PUSH_PCREL + 17, old("R_LARCH_SOP_POP_32_U_10_12")),
        (R_SOP_PUSH_PCREL + 18, old("R_LARCH_SOP_POP_32_S_10_12")),
        (R_SOP_PUSH_PCREL + 19, old("R_LARCH_SOP_POP_32_S_10_16")),
        (R_SOP_PUSH_PCREL + 20, old("R_LARCH_SOP_POP_32_S_10_16_S2")),
        (R_SOP_PUSH_PCREL + 21, old("R_LARCH_SOP_POP_32_S_5_20")),
        (R_SOP_PUSH_PCREL + 22, old("R_LARCH_SOP_POP_32_S_0_5_10_16_S2")),
        (R_SOP_PUSH_PCREL + 23, old("R_LARCH_SOP_POP_32_S_0_10_10_16_S2")),
        (R_SOP_PUSH_PCREL + 24, old("R_LARCH_SOP_POP_32_U")),
    ]
}

/// Whether a type has the upper half of what one of class [`Class::OtherHalf`] names by a label.
pub const fn is_labeled(kind: u32) -> bool {
    matches!(
        kind,
        R_PCADD_HI20
            | R_GOT_PCADD_HI20
            | R_TLS_IE_PCADD_HI20
            | R_TLS_LD_PCADD_HI20
            | R_TLS_GD_PCADD_HI20
            | R_TLS_DESC_PCADD_HI20
    )
}

/// Whether a type is the lower half of what an instruction with a label has the upper half of.
pub const fn is_lower_of_label(kind: u32) -> bool {
    matches!(
        kind,
        R_PCADD_LO12
            | R_GOT_PCADD_LO12
            | R_TLS_IE_PCADD_LO12
            | R_TLS_LD_PCADD_LO12
            | R_TLS_GD_PCADD_LO12
            | R_TLS_DESC_PCADD_LO12
    )
}
