//! Relocation types of 64-bit PowerPC, and what they ask for.
//!
//! Most have a part of a value, in the lower 16 bits of an instruction: the lowest 16 bits (LO), the next ones
//! (HI), the next ones for a lower part with a sign (HA), and so on. DS: two bits of them are the
//! instruction's. 34: the value lies in an instruction and its prefix.
//!
//! Code that calls by a word instead of a branch (`-fno-plt`: PLT16, PLT_PCREL34) has it from the GOT, bound before the
//! program starts. What marks the other instructions of such a call (PLTSEQ, PLTCALL) is for linkers that rewrite them.
//!
//! Specification: "64-Bit ELF V2 ABI Specification, Power Architecture", 3.5 "Relocations"; LLVM's numbers
//! (`ELFRelocs/PowerPC64.def`).

use crate::arch::class::{self, Class, Fit::*, From, Named, Type};
use crate::arch::powerpc::*;

/// Names the numbers, and makes the list.
macro_rules! list {
    ($($constant:ident = $number:literal, $named:expr;)*) => {
        $(#[allow(dead_code)] pub const $constant: u32 = $number;)*
        const LIST: &[(u32, Named)] = &[$(($constant, {
            const NAME: &str = stringify!($constant);
            named($named, NAME)
        }),)*];
    };
}

/// A part of a value of 32 bits.
const fn high(class: Class) -> Of {
    Of { bits: 32, ..of(class, 2, Signed) }
}

const fn ds(class: Class) -> Of {
    Of { align: 4, ..half_of(class) }
}

const fn low_ds(class: Class) -> Of {
    Of { align: 4, ..part_of(class) }
}

const fn prefixed(class: Class) -> Of {
    Of { bits: 34, from: From::Place, ..of(class, 8, Signed) }
}

list! {
    R_PPC64_NONE = 0, of(Class::None, 0, Any);
    R_PPC64_ADDR32 = 1, of(Class::Narrow, 4, Either);
    R_PPC64_ADDR24 = 2, branch(Class::Narrow, 26);
    R_PPC64_ADDR16 = 3, of(Class::Narrow, 2, Either);
    R_PPC64_ADDR16_LO = 4, part_of(Class::Narrow);
    R_PPC64_ADDR16_HI = 5, high(Class::Narrow);
    R_PPC64_ADDR16_HA = 6, high(Class::Narrow);
    R_PPC64_ADDR14 = 7, branch(Class::Narrow, 16);
    R_PPC64_ADDR14_BRTAKEN = 8, refused();
    R_PPC64_ADDR14_BRNTAKEN = 9, refused();
    R_PPC64_REL24 = 10, branch(Class::Plt, 26);
    R_PPC64_REL14 = 11, branch(Class::Plt, 16);
    R_PPC64_REL14_BRTAKEN = 12, refused();
    R_PPC64_REL14_BRNTAKEN = 13, refused();
    R_PPC64_GOT16 = 14, half_of(Class::Got);
    R_PPC64_GOT16_LO = 15, part_of(Class::Got);
    R_PPC64_GOT16_HI = 16, high(Class::Got);
    R_PPC64_GOT16_HA = 17, high(Class::Got);
    R_PPC64_COPY = 19, refused();
    R_PPC64_GLOB_DAT = 20, refused();
    R_PPC64_JMP_SLOT = 21, refused();
    R_PPC64_RELATIVE = 22, refused();
    R_PPC64_UADDR32 = 24, of(Class::Narrow, 4, Either);
    R_PPC64_UADDR16 = 25, of(Class::Narrow, 2, Either);
    R_PPC64_REL32 = 26, of(Class::Pc, 4, Signed);
    R_PPC64_PLT32 = 27, refused();
    R_PPC64_PLTREL32 = 28, refused();
    R_PPC64_PLT16_LO = 29, part_of(Class::Got);
    R_PPC64_PLT16_HI = 30, high(Class::Got);
    R_PPC64_PLT16_HA = 31, high(Class::Got);
    R_PPC64_SECTOFF = 33, refused();
    R_PPC64_SECTOFF_LO = 34, refused();
    R_PPC64_SECTOFF_HI = 35, refused();
    R_PPC64_SECTOFF_HA = 36, refused();
    R_PPC64_REL30 = 37, refused();
    R_PPC64_ADDR64 = 38, of(Class::Address, 8, Any);
    R_PPC64_ADDR16_HIGHER = 39, part_of(Class::Narrow);
    R_PPC64_ADDR16_HIGHERA = 40, part_of(Class::Narrow);
    R_PPC64_ADDR16_HIGHEST = 41, part_of(Class::Narrow);
    R_PPC64_ADDR16_HIGHESTA = 42, part_of(Class::Narrow);
    R_PPC64_UADDR64 = 43, of(Class::Address, 8, Any);
    R_PPC64_REL64 = 44, of(Class::Pc, 8, Any);
    R_PPC64_PLT64 = 45, refused();
    R_PPC64_PLTREL64 = 46, refused();
    R_PPC64_TOC16 = 47, half_of(Class::GotOff);
    R_PPC64_TOC16_LO = 48, part_of(Class::GotOff);
    R_PPC64_TOC16_HI = 49, high(Class::GotOff);
    R_PPC64_TOC16_HA = 50, high(Class::GotOff);
    R_PPC64_TOC = 51, of(Class::BaseAddress, 8, Any);
    R_PPC64_PLTGOT16 = 52, refused();
    R_PPC64_PLTGOT16_LO = 53, refused();
    R_PPC64_PLTGOT16_HI = 54, refused();
    R_PPC64_PLTGOT16_HA = 55, refused();
    R_PPC64_ADDR16_DS = 56, ds(Class::Narrow);
    R_PPC64_ADDR16_LO_DS = 57, low_ds(Class::Narrow);
    R_PPC64_GOT16_DS = 58, ds(Class::Got);
    R_PPC64_GOT16_LO_DS = 59, low_ds(Class::Got);
    R_PPC64_PLT16_LO_DS = 60, low_ds(Class::Got);
    R_PPC64_SECTOFF_DS = 61, refused();
    R_PPC64_SECTOFF_LO_DS = 62, refused();
    R_PPC64_TOC16_DS = 63, ds(Class::GotOff);
    R_PPC64_TOC16_LO_DS = 64, low_ds(Class::GotOff);
    R_PPC64_PLTGOT16_DS = 65, refused();
    R_PPC64_PLTGOT16_LO_DS = 66, refused();
    R_PPC64_TLS = 67, of(Class::TlsMark, 0, Any);
    R_PPC64_DTPMOD64 = 68, refused();
    R_PPC64_TPREL16 = 69, half_of(Class::TpOff);
    R_PPC64_TPREL16_LO = 70, part_of(Class::TpOff);
    R_PPC64_TPREL16_HI = 71, high(Class::TpOff);
    R_PPC64_TPREL16_HA = 72, high(Class::TpOff);
    R_PPC64_TPREL64 = 73, of(Class::TpOffWord, 8, Any);
    R_PPC64_DTPREL16 = 74, half_of(Class::DtpOff);
    R_PPC64_DTPREL16_LO = 75, part_of(Class::DtpOff);
    R_PPC64_DTPREL16_HI = 76, high(Class::DtpOff);
    R_PPC64_DTPREL16_HA = 77, high(Class::DtpOff);
    R_PPC64_DTPREL64 = 78, of(Class::DtpOff, 8, Any);
    R_PPC64_GOT_TLSGD16 = 79, half_of(Class::TlsGd);
    R_PPC64_GOT_TLSGD16_LO = 80, part_of(Class::TlsGd);
    R_PPC64_GOT_TLSGD16_HI = 81, high(Class::TlsGd);
    R_PPC64_GOT_TLSGD16_HA = 82, high(Class::TlsGd);
    R_PPC64_GOT_TLSLD16 = 83, half_of(Class::TlsLd);
    R_PPC64_GOT_TLSLD16_LO = 84, part_of(Class::TlsLd);
    R_PPC64_GOT_TLSLD16_HI = 85, high(Class::TlsLd);
    R_PPC64_GOT_TLSLD16_HA = 86, high(Class::TlsLd);
    R_PPC64_GOT_TPREL16_DS = 87, ds(Class::GotTp);
    R_PPC64_GOT_TPREL16_LO_DS = 88, low_ds(Class::GotTp);
    R_PPC64_GOT_TPREL16_HI = 89, high(Class::GotTp);
    R_PPC64_GOT_TPREL16_HA = 90, high(Class::GotTp);
    R_PPC64_GOT_DTPREL16_DS = 91, ds(Class::TlsGd);
    R_PPC64_GOT_DTPREL16_LO_DS = 92, low_ds(Class::TlsGd);
    R_PPC64_GOT_DTPREL16_HI = 93, high(Class::TlsGd);
    R_PPC64_GOT_DTPREL16_HA = 94, high(Class::TlsGd);
    R_PPC64_TPREL16_DS = 95, ds(Class::TpOff);
    R_PPC64_TPREL16_LO_DS = 96, low_ds(Class::TpOff);
    R_PPC64_TPREL16_HIGHER = 97, part_of(Class::TpOff);
    R_PPC64_TPREL16_HIGHERA = 98, part_of(Class::TpOff);
    R_PPC64_TPREL16_HIGHEST = 99, part_of(Class::TpOff);
    R_PPC64_TPREL16_HIGHESTA = 100, part_of(Class::TpOff);
    R_PPC64_DTPREL16_DS = 101, ds(Class::DtpOff);
    R_PPC64_DTPREL16_LO_DS = 102, low_ds(Class::DtpOff);
    R_PPC64_DTPREL16_HIGHER = 103, part_of(Class::DtpOff);
    R_PPC64_DTPREL16_HIGHERA = 104, part_of(Class::DtpOff);
    R_PPC64_DTPREL16_HIGHEST = 105, part_of(Class::DtpOff);
    R_PPC64_DTPREL16_HIGHESTA = 106, part_of(Class::DtpOff);
    R_PPC64_TLSGD = 107, of(Class::TlsMark, 0, Any);
    R_PPC64_TLSLD = 108, of(Class::TlsMark, 0, Any);
    R_PPC64_TOCSAVE = 109, of(Class::None, 0, Any);
    R_PPC64_ADDR16_HIGH = 110, part_of(Class::Narrow);
    R_PPC64_ADDR16_HIGHA = 111, part_of(Class::Narrow);
    R_PPC64_TPREL16_HIGH = 112, part_of(Class::TpOff);
    R_PPC64_TPREL16_HIGHA = 113, part_of(Class::TpOff);
    R_PPC64_DTPREL16_HIGH = 114, part_of(Class::DtpOff);
    R_PPC64_DTPREL16_HIGHA = 115, part_of(Class::DtpOff);
    R_PPC64_REL24_NOTOC = 116, branch(Class::Plt, 26);
    R_PPC64_ADDR64_LOCAL = 117, refused();
    R_PPC64_ENTRY = 118, of(Class::None, 0, Any);
    R_PPC64_PLTSEQ = 119, of(Class::None, 0, Any);
    R_PPC64_PLTCALL = 120, of(Class::None, 0, Any);
    R_PPC64_PLTSEQ_NOTOC = 121, of(Class::None, 0, Any);
    R_PPC64_PLTCALL_NOTOC = 122, of(Class::None, 0, Any);
    R_PPC64_PCREL_OPT = 123, of(Class::None, 0, Any);
    R_PPC64_REL24_P9NOTOC = 124, branch(Class::Plt, 26);
    R_PPC64_D34 = 128, refused();
    R_PPC64_D34_LO = 129, refused();
    R_PPC64_D34_HI30 = 130, refused();
    R_PPC64_D34_HA30 = 131, refused();
    R_PPC64_PCREL34 = 132, prefixed(Class::Pc);
    R_PPC64_GOT_PCREL34 = 133, prefixed(Class::GotRelax);
    R_PPC64_PLT_PCREL34 = 134, prefixed(Class::Got);
    R_PPC64_PLT_PCREL34_NOTOC = 135, prefixed(Class::Got);
    R_PPC64_ADDR16_HIGHER34 = 136, refused();
    R_PPC64_ADDR16_HIGHERA34 = 137, refused();
    R_PPC64_ADDR16_HIGHEST34 = 138, refused();
    R_PPC64_ADDR16_HIGHESTA34 = 139, refused();
    R_PPC64_REL16_HIGHER34 = 140, refused();
    R_PPC64_REL16_HIGHERA34 = 141, refused();
    R_PPC64_REL16_HIGHEST34 = 142, refused();
    R_PPC64_REL16_HIGHESTA34 = 143, refused();
    R_PPC64_D28 = 144, refused();
    R_PPC64_PCREL28 = 145, refused();
    R_PPC64_TPREL34 = 146, prefixed(Class::TpOff);
    R_PPC64_DTPREL34 = 147, prefixed(Class::DtpOff);
    R_PPC64_GOT_TLSGD_PCREL34 = 148, prefixed(Class::TlsGd);
    R_PPC64_GOT_TLSLD_PCREL34 = 149, prefixed(Class::TlsLd);
    R_PPC64_GOT_TPREL_PCREL34 = 150, prefixed(Class::GotTp);
    R_PPC64_GOT_DTPREL_PCREL34 = 151, prefixed(Class::TlsGd);
    R_PPC64_REL16_HIGH = 240, part_of(Class::Pc);
    R_PPC64_REL16_HIGHA = 241, part_of(Class::Pc);
    R_PPC64_REL16_HIGHER = 242, part_of(Class::Pc);
    R_PPC64_REL16_HIGHERA = 243, part_of(Class::Pc);
    R_PPC64_REL16_HIGHEST = 244, part_of(Class::Pc);
    R_PPC64_REL16_HIGHESTA = 245, part_of(Class::Pc);
    R_PPC64_REL16DX_HA = 246, refused();
    R_PPC64_JMP_IREL = 247, refused();
    R_PPC64_IRELATIVE = 248, refused();
    R_PPC64_REL16 = 249, half_of(Class::Pc);
    R_PPC64_REL16_LO = 250, part_of(Class::Pc);
    R_PPC64_REL16_HI = 251, high(Class::Pc);
    R_PPC64_REL16_HA = 252, high(Class::Pc);
    R_PPC64_GNU_VTINHERIT = 253, of(Class::None, 0, Any);
    R_PPC64_GNU_VTENTRY = 254, of(Class::None, 0, Any);
}

pub static TYPES: [Type; 255] = class::table(LIST);
pub static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

/// The part of a value that a type stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it, as data.
    Data,
    /// So many bits from so many on, in half a word. `adjusted`: less what the parts below add, which have a
    /// sign.
    Half {
        shift: u32,
        adjusted: bool,
    },
    /// The lowest 16 bits but for what is the instruction's.
    Ds,
    /// Distances of branches.
    Far,
    Near,
    Prefixed,
}

/// What a type stores.
pub const fn part(kind: u32) -> Part {
    const fn bits(shift: u32) -> Part {
        Part::Half { shift, adjusted: false }
    }
    const fn adjusted(shift: u32) -> Part {
        Part::Half { shift, adjusted: true }
    }
    match kind {
        R_PPC64_ADDR24 | R_PPC64_REL24 | R_PPC64_REL24_NOTOC | R_PPC64_REL24_P9NOTOC => Part::Far,
        R_PPC64_ADDR14 | R_PPC64_REL14 => Part::Near,
        R_PPC64_ADDR16
        | R_PPC64_UADDR16
        | R_PPC64_ADDR16_LO
        | R_PPC64_GOT16
        | R_PPC64_GOT16_LO
        | R_PPC64_PLT16_LO
        | R_PPC64_TOC16
        | R_PPC64_TOC16_LO
        | R_PPC64_TPREL16
        | R_PPC64_TPREL16_LO
        | R_PPC64_DTPREL16
        | R_PPC64_DTPREL16_LO
        | R_PPC64_GOT_TLSGD16
        | R_PPC64_GOT_TLSGD16_LO
        | R_PPC64_GOT_TLSLD16
        | R_PPC64_GOT_TLSLD16_LO
        | R_PPC64_REL16
        | R_PPC64_REL16_LO => bits(0),
        R_PPC64_ADDR16_DS
        | R_PPC64_ADDR16_LO_DS
        | R_PPC64_GOT16_DS
        | R_PPC64_GOT16_LO_DS
        | R_PPC64_PLT16_LO_DS
        | R_PPC64_TOC16_DS
        | R_PPC64_TOC16_LO_DS
        | R_PPC64_TPREL16_DS
        | R_PPC64_TPREL16_LO_DS
        | R_PPC64_DTPREL16_DS
        | R_PPC64_DTPREL16_LO_DS
        | R_PPC64_GOT_TPREL16_DS
        | R_PPC64_GOT_TPREL16_LO_DS
        | R_PPC64_GOT_DTPREL16_DS
        | R_PPC64_GOT_DTPREL16_LO_DS => Part::Ds,
        R_PPC64_ADDR16_HI
        | R_PPC64_ADDR16_HIGH
        | R_PPC64_GOT16_HI
        | R_PPC64_PLT16_HI
        | R_PPC64_TOC16_HI
        | R_PPC64_TPREL16_HI
        | R_PPC64_TPREL16_HIGH
        | R_PPC64_DTPREL16_HI
        | R_PPC64_DTPREL16_HIGH
        | R_PPC64_GOT_TLSGD16_HI
        | R_PPC64_GOT_TLSLD16_HI
        | R_PPC64_GOT_TPREL16_HI
        | R_PPC64_GOT_DTPREL16_HI
        | R_PPC64_REL16_HI
        | R_PPC64_REL16_HIGH => bits(16),
        R_PPC64_ADDR16_HA
        | R_PPC64_ADDR16_HIGHA
        | R_PPC64_GOT16_HA
        | R_PPC64_PLT16_HA
        | R_PPC64_TOC16_HA
        | R_PPC64_TPREL16_HA
        | R_PPC64_TPREL16_HIGHA
        | R_PPC64_DTPREL16_HA
        | R_PPC64_DTPREL16_HIGHA
        | R_PPC64_GOT_TLSGD16_HA
        | R_PPC64_GOT_TLSLD16_HA
        | R_PPC64_GOT_TPREL16_HA
        | R_PPC64_GOT_DTPREL16_HA
        | R_PPC64_REL16_HA
        | R_PPC64_REL16_HIGHA => adjusted(16),
        R_PPC64_ADDR16_HIGHER | R_PPC64_TPREL16_HIGHER | R_PPC64_DTPREL16_HIGHER | R_PPC64_REL16_HIGHER => {
            bits(32)
        }
        R_PPC64_ADDR16_HIGHERA
        | R_PPC64_TPREL16_HIGHERA
        | R_PPC64_DTPREL16_HIGHERA
        | R_PPC64_REL16_HIGHERA => adjusted(32),
        R_PPC64_ADDR16_HIGHEST
        | R_PPC64_TPREL16_HIGHEST
        | R_PPC64_DTPREL16_HIGHEST
        | R_PPC64_REL16_HIGHEST => bits(48),
        R_PPC64_ADDR16_HIGHESTA
        | R_PPC64_TPREL16_HIGHESTA
        | R_PPC64_DTPREL16_HIGHESTA
        | R_PPC64_REL16_HIGHESTA => adjusted(48),
        R_PPC64_PCREL34
        | R_PPC64_GOT_PCREL34
        | R_PPC64_PLT_PCREL34
        | R_PPC64_PLT_PCREL34_NOTOC
        | R_PPC64_TPREL34
        | R_PPC64_DTPREL34
        | R_PPC64_GOT_TLSGD_PCREL34
        | R_PPC64_GOT_TLSLD_PCREL34
        | R_PPC64_GOT_TPREL_PCREL34
        | R_PPC64_GOT_DTPREL_PCREL34 => Part::Prefixed,
        _ => Part::Data,
    }
}

/// Whether a type is that of a branch.
pub const fn is_branch(kind: u32) -> bool {
    matches!(kind, R_PPC64_REL24 | R_PPC64_REL14 | R_PPC64_REL24_NOTOC | R_PPC64_REL24_P9NOTOC)
}

/// Whether a type is that of an instruction that has to do with the word of a function that is called by it.
pub const fn loads_word_to_call(kind: u32) -> bool {
    matches!(
        kind,
        R_PPC64_PLT16_LO
            | R_PPC64_PLT16_HI
            | R_PPC64_PLT16_HA
            | R_PPC64_PLT16_LO_DS
            | R_PPC64_PLT_PCREL34
            | R_PPC64_PLT_PCREL34_NOTOC
    )
}

/// Whether a type is that of any instruction of such a call.
pub const fn calls_by_word(kind: u32) -> bool {
    loads_word_to_call(kind)
        || matches!(kind, R_PPC64_PLTSEQ | R_PPC64_PLTCALL | R_PPC64_PLTSEQ_NOTOC | R_PPC64_PLTCALL_NOTOC)
}

/// Whether who branches by it does not have the TOC's address in its register.
pub const fn is_without_toc(kind: u32) -> bool {
    matches!(kind, R_PPC64_REL24_NOTOC | R_PPC64_REL24_P9NOTOC)
}
