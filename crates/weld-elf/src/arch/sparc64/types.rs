//! Relocation types of SPARC V9 with 64 bits, and what they ask for.
//!
//! `sethi` has the upper 22 bits of a 32-bit value, the next instruction its lower 10: pairs of types make the
//! value. Pairs for values with a sign (`HIX22` and `LOX10`) store the complement of negative ones, which `xor`
//! turns back.
//!
//! Records of `R_SPARC_OLO10` have a number in the upper 24 bits of their type, which is added to the lower 10
//! bits of the address. Each such number is a type of its own here.
//!
//! Specification: "SPARC Compliance Definition" 2.4.1, 5P and 4P "Relocation"; GNU's numbers (`elf/sparc.h`).

use crate::arch::class::{self, Class, Fit::*, From, Named, Type};
use crate::arch::facts::Written;
use crate::elf::Types;

/// Names the numbers, and makes the list.
macro_rules! list {
    ($($constant:ident = $number:literal, $named:expr;)*) => {
        $(#[allow(dead_code)] pub const $constant: u32 = $number;)*
        const LIST: &[(u32, Named)] = &[$(($constant, named($named, name($constant, stringify!($constant)))),)*];
    };
}

const fn name(number: u32, constant: &'static str) -> &'static str {
    match number {
        CALL_OF_NOTHING => "R_SPARC_TLS_GD_CALL in an object that does not name __tls_get_addr",
        WITH_NUMBER => "a type with a number that only R_SPARC_OLO10 has",
        _ => constant,
    }
}

/// What a type is, without its name.
type Of = (Class, u8, class::Fit, u8, u8, From);

const fn named((class, width, fit, bits, align, from): Of, name: &'static str) -> Named {
    match class {
        Class::Unknown => Named::unknown(name),
        _ => Named::new(class, width, fit, name).bits(bits).of(align).from(from),
    }
}

/// Data of so many bytes.
const fn data(class: Class, width: u8, fit: class::Fit) -> Of {
    (class, width, fit, 8 * width, 1, From::GotBase)
}

/// A value, or a part of it, in an instruction.
const fn code(class: Class, fit: class::Fit, bits: u8) -> Of {
    (class, 4, fit, bits, 1, From::GotBase)
}

/// A part of a value of any size.
const fn part(class: Class) -> Of {
    code(class, Any, 32)
}

/// A distance that is stored in words.
const fn branch(bits: u8) -> Of {
    (Class::Plt, 4, Signed, bits, 4, From::Place)
}

const fn nothing() -> Of {
    (Class::None, 0, Any, 0, 1, From::Zero)
}

/// A mark at an instruction of a sequence.
const fn mark() -> Of {
    (Class::TlsMark, 4, Any, 32, 1, From::Zero)
}

const fn refused() -> Of {
    (Class::Unknown, 0, Any, 0, 1, From::Zero)
}

list! {
    R_SPARC_NONE = 0, nothing();
    R_SPARC_8 = 1, data(Class::Narrow, 1, Either);
    R_SPARC_16 = 2, data(Class::Narrow, 2, Either);
    R_SPARC_32 = 3, data(Class::Narrow, 4, Either);
    R_SPARC_DISP8 = 4, data(Class::Pc, 1, Signed);
    R_SPARC_DISP16 = 5, data(Class::Pc, 2, Signed);
    R_SPARC_DISP32 = 6, data(Class::Pc, 4, Signed);
    R_SPARC_WDISP30 = 7, branch(32);
    R_SPARC_WDISP22 = 8, branch(24);
    R_SPARC_HI22 = 9, code(Class::Narrow, Either, 32);
    R_SPARC_22 = 10, code(Class::Narrow, Either, 22);
    R_SPARC_13 = 11, code(Class::Narrow, Either, 13);
    R_SPARC_LO10 = 12, part(Class::Narrow);
    R_SPARC_GOT10 = 13, part(Class::Got);
    R_SPARC_GOT13 = 14, code(Class::Got, Signed, 13);
    R_SPARC_GOT22 = 15, code(Class::Got, Unsigned, 32);
    R_SPARC_PC10 = 16, part(Class::Pc);
    R_SPARC_PC22 = 17, code(Class::Pc, Unsigned, 32);
    R_SPARC_WPLT30 = 18, branch(32);
    R_SPARC_COPY = 19, refused();
    R_SPARC_GLOB_DAT = 20, refused();
    R_SPARC_JMP_SLOT = 21, refused();
    R_SPARC_RELATIVE = 22, refused();
    R_SPARC_UA32 = 23, data(Class::Narrow, 4, Either);
    R_SPARC_PLT32 = 24, data(Class::Jump, 4, Unsigned);
    R_SPARC_HIPLT22 = 25, code(Class::Jump, Unsigned, 32);
    R_SPARC_LOPLT10 = 26, part(Class::Jump);
    R_SPARC_PCPLT32 = 27, data(Class::Plt, 4, Signed);
    R_SPARC_PCPLT22 = 28, code(Class::Plt, Unsigned, 32);
    R_SPARC_PCPLT10 = 29, part(Class::Plt);
    R_SPARC_10 = 30, code(Class::Narrow, Either, 10);
    R_SPARC_11 = 31, code(Class::Narrow, Either, 11);
    R_SPARC_64 = 32, data(Class::Address, 8, Any);
    R_SPARC_OLO10 = 33, part(Class::Narrow);
    R_SPARC_HH22 = 34, part(Class::Narrow);
    R_SPARC_HM10 = 35, part(Class::Narrow);
    R_SPARC_LM22 = 36, part(Class::Narrow);
    R_SPARC_PC_HH22 = 37, part(Class::Pc);
    R_SPARC_PC_HM10 = 38, part(Class::Pc);
    R_SPARC_PC_LM22 = 39, part(Class::Pc);
    R_SPARC_WDISP16 = 40, branch(18);
    R_SPARC_WDISP19 = 41, branch(21);
    R_SPARC_GLOB_JMP = 42, refused();
    R_SPARC_7 = 43, code(Class::Narrow, Either, 7);
    R_SPARC_5 = 44, code(Class::Narrow, Either, 5);
    R_SPARC_6 = 45, code(Class::Narrow, Either, 6);
    R_SPARC_DISP64 = 46, data(Class::Pc, 8, Any);
    R_SPARC_PLT64 = 47, data(Class::Jump, 8, Any);
    R_SPARC_HIX22 = 48, code(Class::Narrow, Around, 32);
    R_SPARC_LOX10 = 49, part(Class::Narrow);
    R_SPARC_H44 = 50, code(Class::Narrow, Unsigned, 44);
    R_SPARC_M44 = 51, part(Class::Narrow);
    R_SPARC_L44 = 52, part(Class::Narrow);
    R_SPARC_REGISTER = 53, refused();
    // Loaders write to aligned places only, where they add addresses.
    R_SPARC_UA64 = 54, data(Class::Narrow, 8, Any);
    R_SPARC_UA16 = 55, data(Class::Narrow, 2, Either);
    R_SPARC_TLS_GD_HI22 = 56, code(Class::TlsGd, Unsigned, 32);
    R_SPARC_TLS_GD_LO10 = 57, part(Class::TlsGd);
    R_SPARC_TLS_GD_ADD = 58, mark();
    R_SPARC_TLS_GD_CALL = 59, mark();
    R_SPARC_TLS_LDM_HI22 = 60, code(Class::TlsLd, Unsigned, 32);
    R_SPARC_TLS_LDM_LO10 = 61, part(Class::TlsLd);
    R_SPARC_TLS_LDM_ADD = 62, mark();
    R_SPARC_TLS_LDM_CALL = 63, mark();
    R_SPARC_TLS_LDO_HIX22 = 64, code(Class::DtpOff, Around, 32);
    R_SPARC_TLS_LDO_LOX10 = 65, part(Class::DtpOff);
    R_SPARC_TLS_LDO_ADD = 66, nothing();
    R_SPARC_TLS_IE_HI22 = 67, code(Class::GotTp, Unsigned, 32);
    R_SPARC_TLS_IE_LO10 = 68, part(Class::GotTp);
    R_SPARC_TLS_IE_LD = 69, mark();
    R_SPARC_TLS_IE_LDX = 70, mark();
    R_SPARC_TLS_IE_ADD = 71, nothing();
    R_SPARC_TLS_LE_HIX22 = 72, code(Class::TpOff, Around, 32);
    R_SPARC_TLS_LE_LOX10 = 73, part(Class::TpOff);
    R_SPARC_TLS_DTPMOD32 = 74, refused();
    R_SPARC_TLS_DTPMOD64 = 75, refused();
    R_SPARC_TLS_DTPOFF32 = 76, data(Class::DtpOff, 4, Signed);
    R_SPARC_TLS_DTPOFF64 = 77, data(Class::DtpOff, 8, Any);
    R_SPARC_TLS_TPOFF32 = 78, refused();
    R_SPARC_TLS_TPOFF64 = 79, refused();
    R_SPARC_GOTDATA_HIX22 = 80, code(Class::GotOff, Around, 32);
    R_SPARC_GOTDATA_LOX10 = 81, part(Class::GotOff);
    R_SPARC_GOTDATA_OP_HIX22 = 82, code(Class::GotRelax, Around, 32);
    R_SPARC_GOTDATA_OP_LOX10 = 83, part(Class::GotRelax);
    R_SPARC_GOTDATA_OP = 84, part(Class::GotRelax);
    R_SPARC_H34 = 85, code(Class::Narrow, Unsigned, 34);
    R_SPARC_SIZE32 = 86, data(Class::Size, 4, Unsigned);
    R_SPARC_SIZE64 = 87, data(Class::Size, 8, Any);
    R_SPARC_WDISP10 = 88, branch(12);
    CALL_OF_NOTHING = 89, refused();
    R_SPARC_JMP_IREL = 248, refused();
    R_SPARC_IRELATIVE = 249, refused();
    R_SPARC_GNU_VTINHERIT = 250, nothing();
    R_SPARC_GNU_VTENTRY = 251, nothing();
    R_SPARC_REV32 = 252, data(Class::Narrow, 4, Either);
    // What files have that is none of these: a type with a number that only `R_SPARC_OLO10` has.
    WITH_NUMBER = 255, refused();
}

/// The first of the numbers for `R_SPARC_OLO10`, and how many there are: those that a field of 13 bits has
/// room for.
pub const WITH_LEAST: u32 = 256;
const NUMBERS: usize = 1 << 13;
const LEAST: i32 = -(NUMBERS as i32 / 2);

pub static TYPES: [Type; WITH_LEAST as usize + NUMBERS] = {
    let mut types: [Type; WITH_LEAST as usize + NUMBERS] = class::table(LIST);
    let mut number = WITH_LEAST as usize;
    while number < types.len() {
        types[number] = types[R_SPARC_OLO10 as usize];
        number += 1;
    }
    types
};
pub static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

/// What records have for these numbers.
pub static WRITTEN: Written =
    Written { types: Types { from: WITH_LEAST, list: &WRITTEN_TYPES, is_packed: true }, number };

static WRITTEN_TYPES: [u32; NUMBERS] = {
    let mut types = [0; NUMBERS];
    let mut i = 0;
    while i < NUMBERS {
        types[i] = ((LEAST + i as i32) as u32) << 8 | R_SPARC_OLO10;
        i += 1;
    }
    types
};

/// The number for what a record has as its type.
fn number(written: u32) -> u32 {
    // The upper 24 bits are a number with a sign.
    match (written & 0xff, written as i32 >> 8) {
        (R_SPARC_OLO10, more) if (LEAST..-LEAST).contains(&more) => WITH_LEAST + (more - LEAST) as u32,
        (kind, 0) => kind,
        _ => WITH_NUMBER,
    }
}

/// What is added to the lower 10 bits of an address, if it is such a type.
pub const fn added(kind: u32) -> Option<i64> {
    if kind < WITH_LEAST { None } else { Some((kind - WITH_LEAST) as i64 + LEAST as i64) }
}

/// Whether a type is that of a branch.
pub const fn is_branch(kind: u32) -> bool {
    matches!(
        kind,
        R_SPARC_WDISP30
            | R_SPARC_WPLT30
            | R_SPARC_WDISP22
            | R_SPARC_WDISP19
            | R_SPARC_WDISP16
            | R_SPARC_WDISP10
    )
}

/// How a value is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As data.
    Data,
    /// The same, with its bytes in the other order.
    Turned,
    /// So many bits from this one on, in the lower bits of an instruction.
    Bits {
        from: u8,
        count: u8,
    },
    /// The upper bits of a value with a sign, and its lower 10 bits.
    HighOfSigned,
    LowOfSigned,
    /// Distances in words: 16 bits and 10 bits in two pieces.
    Words16,
    Words10,
    /// Nothing of it.
    Nothing,
}

const fn bits(from: u8, count: u8) -> Form {
    Form::Bits { from, count }
}

/// How a type stores its value.
pub const fn form(kind: u32) -> Form {
    match kind {
        R_SPARC_WDISP30 | R_SPARC_WPLT30 => bits(2, 30),
        R_SPARC_WDISP22 => bits(2, 22),
        R_SPARC_WDISP19 => bits(2, 19),
        R_SPARC_WDISP16 => Form::Words16,
        R_SPARC_WDISP10 => Form::Words10,
        R_SPARC_22 => bits(0, 22),
        R_SPARC_13 | R_SPARC_GOT13 => bits(0, 13),
        R_SPARC_11 => bits(0, 11),
        R_SPARC_10 => bits(0, 10),
        R_SPARC_7 => bits(0, 7),
        R_SPARC_6 => bits(0, 6),
        R_SPARC_5 => bits(0, 5),
        R_SPARC_LO10 | R_SPARC_GOT10 | R_SPARC_PC10 | R_SPARC_LOPLT10 | R_SPARC_PCPLT10
        | R_SPARC_TLS_GD_LO10 | R_SPARC_TLS_LDM_LO10 | R_SPARC_TLS_IE_LO10 => bits(0, 10),
        R_SPARC_HI22 | R_SPARC_GOT22 | R_SPARC_PC22 | R_SPARC_HIPLT22 | R_SPARC_PCPLT22 | R_SPARC_LM22
        | R_SPARC_PC_LM22 | R_SPARC_TLS_GD_HI22 | R_SPARC_TLS_LDM_HI22 | R_SPARC_TLS_IE_HI22 => bits(10, 22),
        R_SPARC_HH22 | R_SPARC_PC_HH22 => bits(42, 22),
        R_SPARC_HM10 | R_SPARC_PC_HM10 => bits(32, 10),
        R_SPARC_H44 => bits(22, 22),
        R_SPARC_M44 => bits(12, 10),
        R_SPARC_L44 => bits(0, 12),
        R_SPARC_H34 => bits(12, 22),
        R_SPARC_HIX22
        | R_SPARC_TLS_LDO_HIX22
        | R_SPARC_TLS_LE_HIX22
        | R_SPARC_GOTDATA_HIX22
        | R_SPARC_GOTDATA_OP_HIX22 => Form::HighOfSigned,
        R_SPARC_LOX10
        | R_SPARC_TLS_LDO_LOX10
        | R_SPARC_TLS_LE_LOX10
        | R_SPARC_GOTDATA_LOX10
        | R_SPARC_GOTDATA_OP_LOX10 => Form::LowOfSigned,
        R_SPARC_GOTDATA_OP => Form::Nothing,
        R_SPARC_REV32 => Form::Turned,
        _ => Form::Data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_types_are_types() {
        for (written, more) in [(33, 0), (8 << 8 | 33, 8), (0xffff_fc21, -4), (0xff_f000 << 8 | 33, -4096)] {
            let kind = number(written);
            assert_eq!((added(kind), WRITTEN.types.written(kind)), (Some(more), written), "{written:#x}");
            assert_eq!(TYPES[kind as usize].name, TYPES[R_SPARC_OLO10 as usize].name);
        }
        assert_eq!(number(4096 << 8 | 33), WITH_NUMBER);
        assert_eq!(number(1 << 8 | R_SPARC_LO10), WITH_NUMBER);
        assert_eq!((number(R_SPARC_LO10), added(R_SPARC_LO10)), (R_SPARC_LO10, None));
        assert_eq!(WRITTEN.types.written(R_SPARC_LO10), R_SPARC_LO10);
    }
}
