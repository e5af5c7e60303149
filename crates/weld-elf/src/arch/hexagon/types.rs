//! Relocation types of Hexagon, what they ask for, and which part of a value they store.
//!
//! An instruction has 6 to 22 bits of a value. In front of it there may be a word (`immext`) with the upper 26 bits of
//! 32, of which it then has the lower six: types of the first end in `32_6_X` (or are `B32_PCREL_X`), those of the
//! others in `_X`. Where in an instruction the bits are, its opcode says ([`super::code`]), so that of all types with a
//! number of bits in their names (`R_HEX_11_X`) and no extension nothing is left but these six.
//!
//! Branches count from the start of their packet; addends say how far in front of the instruction that is. One of a type
//! of its own has no extension.
//!
//! Specification: "Qualcomm Hexagon Application Binary Interface User Guide" (80-N2040-23), 11.5; LLVM's numbers
//! (`ELFRelocs/Hexagon.def`).

use crate::arch::class::{self, Class, Fit::*, From, Named, Type};

/// Names the numbers, and makes the list.
macro_rules! list {
    ($($constant:ident = $number:literal, $of:expr;)*) => {
        $(#[allow(dead_code)] pub const $constant: u32 = $number;)*
        const LIST: &[(u32, Named)] = &[$(($constant, named($of, name($constant, stringify!($constant)))),)*];
    };
}

const fn name(number: u32, constant: &'static str) -> &'static str {
    match number {
        ADDRESS_32_PCREL_X => "R_HEX_B32_PCREL_X",
        _ => constant,
    }
}

/// What a type is, without its name.
struct Of {
    class: Class,
    width: u8,
    bits: u8,
    align: u8,
    fit: class::Fit,
    /// Where slots count from.
    from: From,
}

const fn named(of: Of, name: &'static str) -> Named {
    match of.class {
        Class::Unknown => Named::unknown(name),
        class => Named::new(class, of.width, of.fit, name).bits(of.bits).of(of.align).from(of.from),
    }
}

/// A word of which all is taken.
const PLAIN: Of = Of { class: Class::None, width: 4, bits: 32, align: 1, fit: Any, from: From::GotBase };

/// A type by which code has a slot's address, and not how far it is from the GOT's base.
const fn by_address(of: Of) -> Of {
    Of { from: From::Zero, ..of }
}

const fn refused() -> Of {
    Of { class: Class::Unknown, width: 0, bits: 8, ..PLAIN }
}

/// A word of data.
const fn word(class: Class) -> Of {
    Of { class, ..PLAIN }
}

/// Data of less.
const fn narrow(width: u8) -> Of {
    Of { class: Class::Narrow, width, bits: 8 * width, fit: Either, ..PLAIN }
}

/// The upper 26 bits of a value; the lower six.
const fn upper(class: Class) -> Of {
    Of { class, bits: 26, ..PLAIN }
}

const fn low(class: Class) -> Of {
    Of { class, bits: 6, ..PLAIN }
}

/// Half of a value, in an instruction that sets half a register.
const fn half(class: Class) -> Of {
    Of { class, bits: 16, ..PLAIN }
}

/// A whole value of 16 bits in an instruction.
const fn short(class: Class) -> Of {
    Of { class, bits: 16, fit: Signed, ..PLAIN }
}

/// A distance, in words.
const fn branch(class: Class, bits: u8) -> Of {
    Of { class, bits: bits + 2, align: 4, fit: Signed, ..PLAIN }
}

/// An offset from the register for small data, in units of what is there.
const fn small(unit: u8, bits: u8) -> Of {
    Of { class: Class::Narrow, bits, align: unit, fit: Unsigned, ..PLAIN }
}

list! {
    R_HEX_NONE = 0, Of { width: 0, bits: 8, ..PLAIN };
    R_HEX_B22_PCREL = 1, branch(Class::Plt, 22);
    R_HEX_B15_PCREL = 2, branch(Class::Plt, 15);
    R_HEX_B7_PCREL = 3, branch(Class::Pc, 7);
    R_HEX_LO16 = 4, half(Class::Narrow);
    R_HEX_HI16 = 5, half(Class::Narrow);
    R_HEX_32 = 6, word(Class::Address);
    R_HEX_16 = 7, narrow(2);
    R_HEX_8 = 8, narrow(1);
    R_HEX_GPREL16_0 = 9, small(1, 16);
    R_HEX_GPREL16_1 = 10, small(2, 17);
    R_HEX_GPREL16_2 = 11, small(4, 18);
    R_HEX_GPREL16_3 = 12, small(8, 19);
    // Two instructions at once, which no assembler asks for.
    R_HEX_HL16 = 13, refused();
    R_HEX_B13_PCREL = 14, branch(Class::Plt, 13);
    R_HEX_B9_PCREL = 15, branch(Class::Plt, 9);
    R_HEX_B32_PCREL_X = 16, upper(Class::Plt);
    R_HEX_32_6_X = 17, upper(Class::Narrow);
    R_HEX_B22_PCREL_X = 18, low(Class::Plt);
    R_HEX_B15_PCREL_X = 19, low(Class::Plt);
    R_HEX_B13_PCREL_X = 20, low(Class::Plt);
    R_HEX_B9_PCREL_X = 21, low(Class::Plt);
    R_HEX_B7_PCREL_X = 22, low(Class::Plt);
    R_HEX_16_X = 23, low(Class::Narrow);
    R_HEX_12_X = 24, low(Class::Narrow);
    R_HEX_11_X = 25, low(Class::Narrow);
    R_HEX_10_X = 26, low(Class::Narrow);
    R_HEX_9_X = 27, low(Class::Narrow);
    R_HEX_8_X = 28, low(Class::Narrow);
    R_HEX_7_X = 29, low(Class::Narrow);
    R_HEX_6_X = 30, low(Class::Narrow);
    R_HEX_32_PCREL = 31, word(Class::Pc);
    R_HEX_COPY = 32, refused();
    R_HEX_GLOB_DAT = 33, refused();
    R_HEX_JMP_SLOT = 34, refused();
    R_HEX_RELATIVE = 35, refused();
    R_HEX_PLT_B22_PCREL = 36, branch(Class::Plt, 22);
    R_HEX_GOTREL_LO16 = 37, half(Class::GotOff);
    R_HEX_GOTREL_HI16 = 38, half(Class::GotOff);
    R_HEX_GOTREL_32 = 39, word(Class::GotOff);
    R_HEX_GOT_LO16 = 40, half(Class::Got);
    R_HEX_GOT_HI16 = 41, half(Class::Got);
    R_HEX_GOT_32 = 42, word(Class::Got);
    R_HEX_GOT_16 = 43, short(Class::Got);
    R_HEX_DTPMOD_32 = 44, refused();
    R_HEX_DTPREL_LO16 = 45, half(Class::DtpOff);
    R_HEX_DTPREL_HI16 = 46, half(Class::DtpOff);
    R_HEX_DTPREL_32 = 47, word(Class::DtpOff);
    R_HEX_DTPREL_16 = 48, short(Class::DtpOff);
    R_HEX_GD_PLT_B22_PCREL = 49, branch(Class::Plt, 22);
    R_HEX_GD_GOT_LO16 = 50, half(Class::TlsGd);
    R_HEX_GD_GOT_HI16 = 51, half(Class::TlsGd);
    R_HEX_GD_GOT_32 = 52, word(Class::TlsGd);
    R_HEX_GD_GOT_16 = 53, short(Class::TlsGd);
    R_HEX_IE_LO16 = 54, by_address(half(Class::GotTp));
    R_HEX_IE_HI16 = 55, by_address(half(Class::GotTp));
    R_HEX_IE_32 = 56, by_address(word(Class::GotTp));
    R_HEX_IE_GOT_LO16 = 57, half(Class::GotTp);
    R_HEX_IE_GOT_HI16 = 58, half(Class::GotTp);
    R_HEX_IE_GOT_32 = 59, word(Class::GotTp);
    R_HEX_IE_GOT_16 = 60, short(Class::GotTp);
    R_HEX_TPREL_LO16 = 61, half(Class::TpOff);
    R_HEX_TPREL_HI16 = 62, half(Class::TpOff);
    R_HEX_TPREL_32 = 63, word(Class::TpOffWord);
    R_HEX_TPREL_16 = 64, short(Class::TpOff);
    R_HEX_6_PCREL_X = 65, low(Class::Pc);
    R_HEX_GOTREL_32_6_X = 66, upper(Class::GotOff);
    R_HEX_GOTREL_16_X = 67, low(Class::GotOff);
    R_HEX_GOTREL_11_X = 68, low(Class::GotOff);
    R_HEX_GOT_32_6_X = 69, upper(Class::Got);
    R_HEX_GOT_16_X = 70, low(Class::Got);
    R_HEX_GOT_11_X = 71, low(Class::Got);
    R_HEX_DTPREL_32_6_X = 72, upper(Class::DtpOff);
    R_HEX_DTPREL_16_X = 73, low(Class::DtpOff);
    R_HEX_DTPREL_11_X = 74, low(Class::DtpOff);
    R_HEX_GD_GOT_32_6_X = 75, upper(Class::TlsGd);
    R_HEX_GD_GOT_16_X = 76, low(Class::TlsGd);
    R_HEX_GD_GOT_11_X = 77, low(Class::TlsGd);
    R_HEX_IE_32_6_X = 78, by_address(upper(Class::GotTp));
    R_HEX_IE_16_X = 79, by_address(low(Class::GotTp));
    R_HEX_IE_GOT_32_6_X = 80, upper(Class::GotTp);
    R_HEX_IE_GOT_16_X = 81, low(Class::GotTp);
    R_HEX_IE_GOT_11_X = 82, low(Class::GotTp);
    R_HEX_TPREL_32_6_X = 83, upper(Class::TpOff);
    R_HEX_TPREL_16_X = 84, low(Class::TpOff);
    R_HEX_TPREL_11_X = 85, low(Class::TpOff);
    R_HEX_LD_PLT_B22_PCREL = 86, branch(Class::Plt, 22);
    R_HEX_LD_GOT_LO16 = 87, half(Class::TlsLd);
    R_HEX_LD_GOT_HI16 = 88, half(Class::TlsLd);
    R_HEX_LD_GOT_32 = 89, word(Class::TlsLd);
    R_HEX_LD_GOT_16 = 90, short(Class::TlsLd);
    R_HEX_LD_GOT_32_6_X = 91, upper(Class::TlsLd);
    R_HEX_LD_GOT_16_X = 92, low(Class::TlsLd);
    R_HEX_LD_GOT_11_X = 93, low(Class::TlsLd);
    R_HEX_23_REG = 94, refused();
    R_HEX_GD_PLT_B22_PCREL_X = 95, low(Class::Plt);
    R_HEX_GD_PLT_B32_PCREL_X = 96, upper(Class::Plt);
    R_HEX_LD_PLT_B22_PCREL_X = 97, low(Class::Plt);
    R_HEX_LD_PLT_B32_PCREL_X = 98, upper(Class::Plt);
    R_HEX_27_REG = 99, refused();
    // `R_HEX_B32_PCREL_X` in front of an instruction that makes an address.
    ADDRESS_32_PCREL_X = 256, upper(Class::Pc);
}

pub static TYPES: [Type; 257] = class::table(LIST);
pub static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

/// Where a type has the value, and what part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Data,
    /// Words of a distance, in these bits.
    Branch(u32),
    /// The lower six bits, in the lowest of these; in those of the instruction.
    LowOfBranch(u32),
    Low,
    Upper,
    /// Of an instruction that sets the lower half of a register, or the upper one.
    Half(u32),
    /// 16 bits with a sign; of units of so many bytes, as a power of two.
    Short,
    Small(u32),
}

/// Where branches have their distances, by how many bits these have.
const B22: u32 = 0x01ff_3ffe;
const B15: u32 = 0x00df_20fe;
const B13: u32 = 0x0020_2ffe;
const B9: u32 = 0x0030_00fe;
const B7: u32 = 0x0000_1f18;

pub const fn form(kind: u32) -> Form {
    match kind {
        R_HEX_B22_PCREL | R_HEX_PLT_B22_PCREL | R_HEX_GD_PLT_B22_PCREL | R_HEX_LD_PLT_B22_PCREL => {
            Form::Branch(B22)
        }
        R_HEX_B15_PCREL => Form::Branch(B15),
        R_HEX_B13_PCREL => Form::Branch(B13),
        R_HEX_B9_PCREL => Form::Branch(B9),
        R_HEX_B7_PCREL => Form::Branch(B7),
        R_HEX_B22_PCREL_X | R_HEX_GD_PLT_B22_PCREL_X | R_HEX_LD_PLT_B22_PCREL_X => Form::LowOfBranch(B22),
        R_HEX_B15_PCREL_X => Form::LowOfBranch(B15),
        R_HEX_B13_PCREL_X => Form::LowOfBranch(B13),
        R_HEX_B9_PCREL_X => Form::LowOfBranch(B9),
        R_HEX_B7_PCREL_X => Form::LowOfBranch(B7),
        R_HEX_LO16 | R_HEX_GOTREL_LO16 | R_HEX_GOT_LO16 | R_HEX_DTPREL_LO16 | R_HEX_GD_GOT_LO16
        | R_HEX_IE_LO16 | R_HEX_IE_GOT_LO16 | R_HEX_TPREL_LO16 | R_HEX_LD_GOT_LO16 => Form::Half(0),
        R_HEX_HI16 | R_HEX_GOTREL_HI16 | R_HEX_GOT_HI16 | R_HEX_DTPREL_HI16 | R_HEX_GD_GOT_HI16
        | R_HEX_IE_HI16 | R_HEX_IE_GOT_HI16 | R_HEX_TPREL_HI16 | R_HEX_LD_GOT_HI16 => Form::Half(16),
        R_HEX_GOT_16 | R_HEX_DTPREL_16 | R_HEX_GD_GOT_16 | R_HEX_IE_GOT_16 | R_HEX_TPREL_16
        | R_HEX_LD_GOT_16 => Form::Short,
        R_HEX_GPREL16_0..=R_HEX_GPREL16_3 => Form::Small(kind - R_HEX_GPREL16_0),
        _ => match TYPES[kind as usize].bits {
            26 => Form::Upper,
            6 => Form::Low,
            _ => Form::Data,
        },
    }
}

/// Whether a type has an offset from the register for small data.
pub const fn is_small(kind: u32) -> bool {
    matches!(kind, R_HEX_GPREL16_0..=R_HEX_GPREL16_3)
}

/// Whether a type is that of a call which names a variable and calls what makes its address.
pub const fn calls_for_variable(kind: u32) -> bool {
    matches!(
        kind,
        R_HEX_GD_PLT_B22_PCREL | R_HEX_LD_PLT_B22_PCREL | R_HEX_GD_PLT_B22_PCREL_X..=R_HEX_LD_PLT_B32_PCREL_X
    )
}
