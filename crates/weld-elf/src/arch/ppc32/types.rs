//! Relocation types of 32-bit PowerPC, and what they ask for.
//!
//! Most have a part of a value, in the lower 16 bits of an instruction: the lower 16 bits (LO), the upper ones
//! (HI), the upper ones for a lower part with a sign (HA). Values of two parts wrap around, as addresses do.
//!
//! Where compilers make position-independent code that counts from a place in `.got2`, calls have that as
//! their addend, which says nothing of where they go: in a final link it is taken away.
//!
//! Specification: "Power Architecture 32-bit Application Binary Interface Supplement" 1.0, Linux, 4.5
//! "Relocation"; LLVM's numbers (`ELFRelocs/PowerPC.def`).

use crate::arch::class::{self, Class, Fit::*, Named, Type};
use crate::arch::powerpc::*;

/// Names the numbers, and makes the list.
macro_rules! list {
    ($($constant:ident = $number:literal, $named:expr;)*) => {
        $(#[allow(dead_code)] pub const $constant: u32 = $number;)*
        const LIST: &[(u32, Named)] = &[$(($constant, named($named, name($constant, stringify!($constant)))),)*];
    };
}

const fn name(number: u32, constant: &'static str) -> &'static str {
    match number {
        CALL_OF_GOT => {
            "R_PPC_LOCAL24PC of _GLOBAL_OFFSET_TABLE_, which code has that is not compiled with -msecure-plt,"
        }
        _ => constant,
    }
}

const fn word(class: Class) -> Of {
    of(class, 4, Any)
}

const fn nothing() -> Of {
    of(Class::None, 0, Any)
}

list! {
    R_PPC_NONE = 0, nothing();
    R_PPC_ADDR32 = 1, word(Class::Address);
    R_PPC_ADDR24 = 2, branch(Class::Narrow, 26);
    R_PPC_ADDR16 = 3, of(Class::Narrow, 2, Either);
    R_PPC_ADDR16_LO = 4, part_of(Class::Narrow);
    R_PPC_ADDR16_HI = 5, part_of(Class::Narrow);
    R_PPC_ADDR16_HA = 6, part_of(Class::Narrow);
    R_PPC_ADDR14 = 7, branch(Class::Narrow, 16);
    R_PPC_ADDR14_BRTAKEN = 8, branch(Class::Narrow, 16);
    R_PPC_ADDR14_BRNTAKEN = 9, branch(Class::Narrow, 16);
    R_PPC_REL24 = 10, branch(Class::Plt, 26);
    R_PPC_REL14 = 11, branch(Class::Plt, 16);
    R_PPC_REL14_BRTAKEN = 12, branch(Class::Plt, 16);
    R_PPC_REL14_BRNTAKEN = 13, branch(Class::Plt, 16);
    R_PPC_GOT16 = 14, half_of(Class::Got);
    R_PPC_GOT16_LO = 15, part_of(Class::Got);
    R_PPC_GOT16_HI = 16, part_of(Class::Got);
    R_PPC_GOT16_HA = 17, part_of(Class::Got);
    R_PPC_PLTREL24 = 18, branch(Class::Plt, 26);
    R_PPC_COPY = 19, refused();
    R_PPC_GLOB_DAT = 20, refused();
    R_PPC_JMP_SLOT = 21, refused();
    R_PPC_RELATIVE = 22, refused();
    R_PPC_LOCAL24PC = 23, branch(Class::Plt, 26);
    R_PPC_UADDR32 = 24, word(Class::Address);
    R_PPC_UADDR16 = 25, of(Class::Narrow, 2, Either);
    R_PPC_REL32 = 26, word(Class::Pc);
    R_PPC_PLT32 = 27, refused();
    R_PPC_PLTREL32 = 28, refused();
    R_PPC_PLT16_LO = 29, refused();
    R_PPC_PLT16_HI = 30, refused();
    R_PPC_PLT16_HA = 31, refused();
    R_PPC_SDAREL16 = 32, refused();
    R_PPC_SECTOFF = 33, refused();
    R_PPC_SECTOFF_LO = 34, refused();
    R_PPC_SECTOFF_HI = 35, refused();
    R_PPC_SECTOFF_HA = 36, refused();
    R_PPC_ADDR30 = 37, refused();
    R_PPC_TLS = 67, of(Class::TlsMark, 0, Any);
    R_PPC_DTPMOD32 = 68, refused();
    R_PPC_TPREL16 = 69, half_of(Class::TpOff);
    R_PPC_TPREL16_LO = 70, part_of(Class::TpOff);
    R_PPC_TPREL16_HI = 71, part_of(Class::TpOff);
    R_PPC_TPREL16_HA = 72, part_of(Class::TpOff);
    R_PPC_TPREL32 = 73, word(Class::TpOffWord);
    R_PPC_DTPREL16 = 74, half_of(Class::DtpOff);
    R_PPC_DTPREL16_LO = 75, part_of(Class::DtpOff);
    R_PPC_DTPREL16_HI = 76, part_of(Class::DtpOff);
    R_PPC_DTPREL16_HA = 77, part_of(Class::DtpOff);
    R_PPC_DTPREL32 = 78, word(Class::DtpOff);
    R_PPC_GOT_TLSGD16 = 79, half_of(Class::TlsGd);
    R_PPC_GOT_TLSGD16_LO = 80, part_of(Class::TlsGd);
    R_PPC_GOT_TLSGD16_HI = 81, part_of(Class::TlsGd);
    R_PPC_GOT_TLSGD16_HA = 82, part_of(Class::TlsGd);
    R_PPC_GOT_TLSLD16 = 83, half_of(Class::TlsLd);
    R_PPC_GOT_TLSLD16_LO = 84, part_of(Class::TlsLd);
    R_PPC_GOT_TLSLD16_HI = 85, part_of(Class::TlsLd);
    R_PPC_GOT_TLSLD16_HA = 86, part_of(Class::TlsLd);
    R_PPC_GOT_TPREL16 = 87, half_of(Class::GotTp);
    R_PPC_GOT_TPREL16_LO = 88, part_of(Class::GotTp);
    R_PPC_GOT_TPREL16_HI = 89, part_of(Class::GotTp);
    R_PPC_GOT_TPREL16_HA = 90, part_of(Class::GotTp);
    R_PPC_GOT_DTPREL16 = 91, half_of(Class::TlsGd);
    R_PPC_GOT_DTPREL16_LO = 92, part_of(Class::TlsGd);
    R_PPC_GOT_DTPREL16_HI = 93, part_of(Class::TlsGd);
    R_PPC_GOT_DTPREL16_HA = 94, part_of(Class::TlsGd);
    R_PPC_TLSGD = 95, of(Class::TlsMark, 0, Any);
    R_PPC_TLSLD = 96, of(Class::TlsMark, 0, Any);
    R_PPC_EMB_NADDR32 = 101, refused();
    R_PPC_EMB_NADDR16 = 102, refused();
    R_PPC_EMB_NADDR16_LO = 103, refused();
    R_PPC_EMB_NADDR16_HI = 104, refused();
    R_PPC_EMB_NADDR16_HA = 105, refused();
    R_PPC_EMB_SDAI16 = 106, refused();
    R_PPC_EMB_SDA2I16 = 107, refused();
    R_PPC_EMB_SDA2REL = 108, refused();
    R_PPC_EMB_SDA21 = 109, refused();
    R_PPC_EMB_MRKREF = 110, nothing();
    R_PPC_EMB_RELSEC16 = 111, refused();
    R_PPC_EMB_RELST_LO = 112, refused();
    R_PPC_EMB_RELST_HI = 113, refused();
    R_PPC_EMB_RELST_HA = 114, refused();
    R_PPC_EMB_BIT_FLD = 115, refused();
    R_PPC_EMB_RELSDA = 116, refused();
    R_PPC_PLTSEQ = 119, refused();
    R_PPC_PLTCALL = 120, refused();
    R_PPC_VLE_REL8 = 216, refused();
    R_PPC_VLE_REL15 = 217, refused();
    R_PPC_VLE_REL24 = 218, refused();
    R_PPC_VLE_LO16A = 219, refused();
    R_PPC_VLE_LO16D = 220, refused();
    R_PPC_VLE_HI16A = 221, refused();
    R_PPC_VLE_HI16D = 222, refused();
    R_PPC_VLE_HA16A = 223, refused();
    R_PPC_VLE_HA16D = 224, refused();
    R_PPC_VLE_SDA21 = 225, refused();
    R_PPC_VLE_SDA21_LO = 226, refused();
    R_PPC_VLE_SDAREL_LO16A = 227, refused();
    R_PPC_VLE_SDAREL_LO16D = 228, refused();
    R_PPC_VLE_SDAREL_HI16A = 229, refused();
    R_PPC_VLE_SDAREL_HI16D = 230, refused();
    R_PPC_VLE_SDAREL_HA16A = 231, refused();
    R_PPC_VLE_SDAREL_HA16D = 232, refused();
    R_PPC_VLE_ADDR20 = 233, refused();
    R_PPC_REL16DX_HA = 246, refused();
    R_PPC_IRELATIVE = 248, refused();
    R_PPC_REL16 = 249, half_of(Class::Pc);
    R_PPC_REL16_LO = 250, part_of(Class::Pc);
    R_PPC_REL16_HI = 251, part_of(Class::Pc);
    R_PPC_REL16_HA = 252, part_of(Class::Pc);
    R_PPC_GNU_VTINHERIT = 253, nothing();
    R_PPC_GNU_VTENTRY = 254, nothing();
    R_PPC_TOC16 = 255, refused();
    CALL_OF_GOT = 256, refused();
}

pub static TYPES: [Type; 257] = class::table(LIST);
pub static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

/// The part of a value that a type stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it, as data.
    Word,
    Low,
    High,
    /// The upper half, less what the lower one adds, which has a sign.
    Adjusted,
    /// Branches, and conditional ones: `likely` if the type says whether they are taken.
    Far,
    Near {
        likely: Option<bool>,
    },
}

/// What a type stores.
pub const fn part(kind: u32) -> Part {
    match kind {
        R_PPC_ADDR24 | R_PPC_REL24 | R_PPC_PLTREL24 | R_PPC_LOCAL24PC => Part::Far,
        R_PPC_ADDR14 | R_PPC_REL14 => Part::Near { likely: None },
        R_PPC_ADDR14_BRTAKEN | R_PPC_REL14_BRTAKEN => Part::Near { likely: Some(true) },
        R_PPC_ADDR14_BRNTAKEN | R_PPC_REL14_BRNTAKEN => Part::Near { likely: Some(false) },
        R_PPC_ADDR16_HI
        | R_PPC_GOT16_HI
        | R_PPC_TPREL16_HI
        | R_PPC_DTPREL16_HI
        | R_PPC_GOT_TLSGD16_HI
        | R_PPC_GOT_TLSLD16_HI
        | R_PPC_GOT_TPREL16_HI
        | R_PPC_GOT_DTPREL16_HI
        | R_PPC_REL16_HI => Part::High,
        R_PPC_ADDR16_HA
        | R_PPC_GOT16_HA
        | R_PPC_TPREL16_HA
        | R_PPC_DTPREL16_HA
        | R_PPC_GOT_TLSGD16_HA
        | R_PPC_GOT_TLSLD16_HA
        | R_PPC_GOT_TPREL16_HA
        | R_PPC_GOT_DTPREL16_HA
        | R_PPC_REL16_HA => Part::Adjusted,
        _ if TYPES[kind as usize].width == 2 => Part::Low,
        _ => Part::Word,
    }
}

/// Whether a type is that of a branch which may go by way of the PLT.
pub const fn is_branch(kind: u32) -> bool {
    matches!(
        kind,
        R_PPC_REL24
            | R_PPC_PLTREL24
            | R_PPC_LOCAL24PC
            | R_PPC_REL14
            | R_PPC_REL14_BRTAKEN
            | R_PPC_REL14_BRNTAKEN
    )
}
