//! m68k: Motorola's 68020 and later, 32 bits, big endian.
//!
//! Instructions are made of half words; distances count from the word after the opcode, which addends take into account.
//! Position-independent code has the GOT's base in `%a5`. It asks for the base by a type for slots, of the symbol
//! `_GLOBAL_OFFSET_TABLE_` ([`settle`]). Nothing is relaxed: the compiler's sequences are no fixed ones.
//!
//! Specification: "System V ABI, Motorola 68000 Processor Family Supplement", 4 "Relocation"; GNU's numbers
//! (`elf/m68k.h`).

mod plt;

use super::class::{self, Class, Fit::*, From, Named, Type};
use super::facts::*;
use super::plt::Plan;
use super::rules::{Failure, Rules};
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target, Types};

/// Names the numbers, and makes the list.
macro_rules! list {
    ($($constant:ident = $number:literal, $of:expr;)*) => {
        $(#[allow(dead_code)] const $constant: u32 = $number;)*
        const LIST: &[(u32, Named)] = &[$(($constant, named($of, name($constant, stringify!($constant)))),)*];
    };
}

const fn name(number: u32, constant: &'static str) -> &'static str {
    match number {
        BASE32 => "R_68K_GOT32",
        BASE16 => "R_68K_GOT16",
        BASE8 => "R_68K_GOT8",
        _ => constant,
    }
}

/// What a type is, without its name: what it asks for, how many bytes it writes, and from where slots count.
type Of = (Class, u8, From);

const fn named((class, width, from): Of, name: &'static str) -> Named {
    match class {
        Class::Unknown => Named::unknown(name),
        // Values wrap around with addresses; a narrow one of data may have a sign or none.
        Class::Narrow => Named::new(class, width, Either, name),
        _ if width == 4 => Named::new(class, width, Any, name).from(from),
        _ => Named::new(class, width, Signed, name).from(from),
    }
}

const fn of(class: Class, width: u8) -> Of {
    (class, width, From::GotBase)
}

/// A slot that counts from its place.
const fn near(width: u8) -> Of {
    (Class::Got, width, From::Place)
}

const fn refused() -> Of {
    (Class::Unknown, 0, From::Zero)
}

list! {
    R_68K_NONE = 0, of(Class::None, 0);
    R_68K_32 = 1, of(Class::Address, 4);
    R_68K_16 = 2, of(Class::Narrow, 2);
    R_68K_8 = 3, of(Class::Narrow, 1);
    R_68K_PC32 = 4, of(Class::Pc, 4);
    R_68K_PC16 = 5, of(Class::Pc, 2);
    R_68K_PC8 = 6, of(Class::Pc, 1);
    R_68K_GOT32 = 7, near(4);
    R_68K_GOT16 = 8, near(2);
    R_68K_GOT8 = 9, near(1);
    R_68K_GOT32O = 10, of(Class::Got, 4);
    R_68K_GOT16O = 11, of(Class::Got, 2);
    R_68K_GOT8O = 12, of(Class::Got, 1);
    R_68K_PLT32 = 13, of(Class::Plt, 4);
    R_68K_PLT16 = 14, of(Class::Plt, 2);
    R_68K_PLT8 = 15, of(Class::Plt, 1);
    R_68K_PLT32O = 16, of(Class::PltOff, 4);
    R_68K_PLT16O = 17, of(Class::PltOff, 2);
    R_68K_PLT8O = 18, of(Class::PltOff, 1);
    R_68K_COPY = 19, refused();
    R_68K_GLOB_DAT = 20, refused();
    R_68K_JMP_SLOT = 21, refused();
    R_68K_RELATIVE = 22, refused();
    R_68K_GNU_VTINHERIT = 23, of(Class::None, 0);
    R_68K_GNU_VTENTRY = 24, of(Class::None, 0);
    R_68K_TLS_GD32 = 25, of(Class::TlsGd, 4);
    R_68K_TLS_GD16 = 26, of(Class::TlsGd, 2);
    R_68K_TLS_GD8 = 27, of(Class::TlsGd, 1);
    R_68K_TLS_LDM32 = 28, of(Class::TlsLd, 4);
    R_68K_TLS_LDM16 = 29, of(Class::TlsLd, 2);
    R_68K_TLS_LDM8 = 30, of(Class::TlsLd, 1);
    R_68K_TLS_LDO32 = 31, of(Class::DtpOff, 4);
    R_68K_TLS_LDO16 = 32, of(Class::DtpOff, 2);
    R_68K_TLS_LDO8 = 33, of(Class::DtpOff, 1);
    R_68K_TLS_IE32 = 34, of(Class::GotTp, 4);
    R_68K_TLS_IE16 = 35, of(Class::GotTp, 2);
    R_68K_TLS_IE8 = 36, of(Class::GotTp, 1);
    R_68K_TLS_LE32 = 37, of(Class::TpOff, 4);
    R_68K_TLS_LE16 = 38, of(Class::TpOff, 2);
    R_68K_TLS_LE8 = 39, of(Class::TpOff, 1);
    R_68K_TLS_DTPMOD32 = 40, refused();
    R_68K_TLS_DTPREL32 = 41, refused();
    R_68K_TLS_TPREL32 = 42, refused();
    // The GOT's base, for which files have types of slots.
    BASE32 = 256, of(Class::GotBase, 4);
    BASE16 = 257, of(Class::GotBase, 2);
    BASE8 = 258, of(Class::GotBase, 1);
}

const TYPES: [Type; 259] = class::table(LIST);
static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

static WRITTEN: Written = Written {
    types: Types { from: BASE32, list: &[R_68K_GOT32, R_68K_GOT16, R_68K_GOT8], is_packed: false },
    number: |kind| kind,
};

const FACTS: Facts = Facts {
    name: "m68k",
    emulations: &["m68kelf"],
    object_format: "elf32-m68k",
    architecture: "m68k",
    target: Target::new(4, Format { class: ElfClass::Elf32, order: Order::Big }),
    written: Some(&WRITTEN),
    settle: Some(settle),
    pages: Pages { smallest: 0x1000, max: 0x2000, common: 0x2000 },
    image_base: Address::new(0x8000_0000),
    // Four of them are `ori.b #0, %d0`.
    filler: 0,
    tls: Tls::Behind(0x7000),
    tls_offset: 0x8000,
    types: &TYPES,
    type_names: &NAMES,
    none: R_68K_NONE,
    dynamic: DynamicTypes {
        with_addends: true,
        address: R_68K_32,
        distance: Some(R_68K_PC32),
        copy: R_68K_COPY,
        glob_dat: R_68K_GLOB_DAT,
        jump_slot: R_68K_JMP_SLOT,
        relative: R_68K_RELATIVE,
        signed: None,
        irelative: None,
        resolvers_in_plt: false,
        dtpmod: R_68K_TLS_DTPMOD32,
        dtpoff: R_68K_TLS_DTPREL32,
        tpoff: R_68K_TLS_TPREL32,
        backward_tpoff: None,
        // There are no TLS descriptors.
        tlsdesc: R_68K_NONE,
    },
    // Two words for the loader follow the first one. Code that is compiled with `-fpic` has 16 bits for a slot.
    got_base: GotBase::GotWithHead { words: 3, reach: 0x8000 / 4 },
    plt: plt::PLT,
    flags: Some(FileFlags::Always(flags)),
    ..Facts::PLAIN
};

/// As in [`JoinFlags`]: other processors of the family say what they are, and their PLT is another one.
fn flags(others: u32, own: u32) -> Result<u32, FlagsClash> {
    match own {
        0 => Ok(others),
        _ if own & 0xff00_0000 == 0x0100_0000 => Err(FlagsClash::Unsupported("code for the 68000")),
        _ if own & 0x0281_0000 != 0 => Err(FlagsClash::Unsupported("code for CPU32 or Fido")),
        _ => Err(FlagsClash::Unsupported("code for ColdFire")),
    }
}

/// Tells what asks for the GOT's base from what asks for a slot.
fn settle(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    // The last symbol that was looked at, and whether it is that one.
    let mut last = (0, false);
    for reloc in relocs {
        let (kind, symbol) = (reloc.kind(), reloc.sym());
        if !matches!(kind, R_68K_GOT32 | R_68K_GOT16 | R_68K_GOT8) || object.is_local(symbol) {
            continue;
        }
        if last.0 != symbol {
            last = (symbol, object.name(symbol) == b"_GLOBAL_OFFSET_TABLE_");
        }
        if last.1 {
            let kind = kind - R_68K_GOT32 + BASE32;
            *reloc = Rela::make(reloc.r_offset(), symbol, kind, reloc.r_addend());
        }
    }
}

pub struct M68k;

impl Rules for M68k {
    const FACTS: Facts = FACTS;
    const DEBUG_OFFSET: u32 = R_68K_32;
    type GotForm = ();
    type TlsCall = ();
    const TLS_CALL_RELOCS: usize = 0;

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        put(kind, out, at, value)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes());
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write(plan, start, out);
    }

    fn unbound(plan: &Plan, entry: u32) -> Address {
        plt::unbound(plan, entry)
    }
}

/// Stores the value of a relocation of type `kind`, whose field is within `out`.
#[inline(always)]
fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
    let of = &TYPES[kind as usize];
    let width = usize::from(of.width);
    out[at..at + width].copy_from_slice(&value.to_be_bytes()[8 - width..]);
    // Values wrap around with addresses.
    let value = i64::from(value as i32);
    if of.fits(value) { Ok(()) } else { Err(Failure::Overflow(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(kind: u32, value: i64) -> (Vec<u8>, Result<(), Failure>) {
        let mut out = vec![0; TYPES[kind as usize].width.into()];
        let result = put(kind, &mut out, 0, value as u64);
        (out, result)
    }

    #[test]
    fn values_are_big_endian() {
        assert_eq!(stored(R_68K_32, 0x8000_0001), (vec![0x80, 0, 0, 1], Ok(())));
        assert_eq!(stored(R_68K_PC32, -2), (vec![0xff, 0xff, 0xff, 0xfe], Ok(())));
        assert_eq!(stored(R_68K_PC16, -0x8000), (vec![0x80, 0], Ok(())));
        assert_eq!(stored(R_68K_PC16, 0x8000).1, Err(Failure::Overflow(0x8000)));
        assert_eq!(stored(R_68K_16, 0xffff), (vec![0xff, 0xff], Ok(())));
        // Addresses wrap around.
        assert_eq!(stored(R_68K_16, 0xffff_8000), (vec![0x80, 0], Ok(())));
        assert_eq!(stored(R_68K_8, 0x100).1, Err(Failure::Overflow(0x100)));
        assert_eq!(stored(R_68K_GOT8O, 0x80).1, Err(Failure::Overflow(0x80)));
    }

    #[test]
    fn other_processors_are_told() {
        assert_eq!(flags(0, 0), Ok(0));
        assert_eq!(flags(0, 0x0100_0000), Err(FlagsClash::Unsupported("code for the 68000")));
        assert_eq!(flags(0, 0x0081_0000), Err(FlagsClash::Unsupported("code for CPU32 or Fido")));
        assert_eq!(flags(0, 0x8035), Err(FlagsClash::Unsupported("code for ColdFire")));
    }
}
