//! What relocations ask of their symbols, in terms that all machines share.
//!
//! A machine has a table of its types. The scan and the writers know classes only; how a value is stored in
//! an instruction is the machine's.

use crate::address::Address;

/// What a relocation asks of its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Nothing.
    None,
    /// Its address, in a word that holds any address: the loader may fill it in.
    Address,
    /// Its address, which the loader signs: the word says how, and keeps that.
    Signed,
    /// What the function at its address returns when the program starts.
    Initial,
    /// The instruction that its value is, in place of the one that stands there.
    Instruction,
    /// Its address in less.
    Narrow,
    /// Its distance from the place.
    Pc,
    /// The distance of what calls it: its PLT entry, or itself.
    Plt,
    /// The address of what calls it: its PLT entry, or itself.
    Jump,
    /// The low bits of its address, which do not change when an image is moved by whole pages.
    Low,
    /// What calls it, counted from the GOT's base.
    PltOff,
    /// Its GOT slot.
    Got,
    /// Its GOT slot, in an instruction that might do without.
    GotRelax,
    /// The GOT slot with the page that its address is near, or its own slot if another module may define it.
    GotPage,
    /// Its distance from that page, or nothing.
    GotRest,
    /// Its address, counted from the GOT's base.
    GotOff,
    /// The distance of the GOT's base from the place.
    GotBase,
    /// The address of the GOT's base, in a word that holds any address.
    BaseAddress,
    /// Its size.
    Size,
    /// The pair of GOT slots for the general-dynamic model.
    TlsGd,
    /// The pair for the local-dynamic model, which stands for the module.
    TlsLd,
    /// Its offset in the module's thread-local storage.
    DtpOff,
    /// The GOT slot with its offset from the thread pointer.
    GotTp,
    /// Its offset from the thread pointer, in code.
    TpOff,
    /// Its offset from the thread pointer, in a word that the loader may fill in.
    TpOffWord,
    /// Its TLS descriptor.
    TlsDesc,
    /// The call through its TLS descriptor.
    TlsDescCall,
    /// Nothing: it is a mark at an instruction of a sequence for thread-local storage whose values lie
    /// elsewhere.
    TlsMark,
    /// Its address, as a term of a sum that several relocations of one place make.
    Term,
    /// Nothing: it is a label at the instruction whose relocation has the upper half of a value, the lower
    /// half of which is stored.
    OtherHalf,
    /// The machine has no such type, or only the loader does.
    Unknown,
}

impl Class {
    /// Whether the addend is added to the symbol's own value, so that the symbol may be exchanged for
    /// another one with a different addend.
    pub fn counts_from_symbol(self) -> bool {
        !matches!(
            self,
            Class::Got
                | Class::GotRelax
                | Class::Size
                | Class::BaseAddress
                | Class::TlsGd
                | Class::TlsLd
                | Class::GotTp
                | Class::TlsDesc
                | Class::TlsDescCall
                | Class::TlsMark
        )
    }

    /// Whether it asks for something of thread-local storage.
    pub fn is_tls(self) -> bool {
        matches!(
            self,
            Class::TlsGd
                | Class::TlsLd
                | Class::DtpOff
                | Class::GotTp
                | Class::TpOff
                | Class::TpOffWord
                | Class::TlsDesc
        )
    }
}

/// From where the address of a GOT slot counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum From {
    /// From the place of the relocation.
    Place,
    /// From the GOT's base.
    GotBase,
    /// From 0.
    Zero,
    /// By pages, from that of the place.
    Page,
    /// From the page of the GOT's base.
    GotPage,
    /// The low bits of its address.
    Low,
}

/// The start of the page that an address lies in, as instructions count them: in units of 4 KiB, whatever
/// size the pages of memory have.
#[inline(always)]
pub const fn page(address: Address) -> Address {
    Address::new(address.get() & !0xfff)
}

/// What values fit the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fit {
    Signed,
    /// Those that are signed once they are rounded to a multiple of 4096, because what is added to them has a
    /// sign.
    Rounded,
    Unsigned,
    /// Those that fit as a signed or as an unsigned number.
    Either,
    /// One bit more than the field has: addresses of that width wrap around.
    Around,
    /// All: the field is as wide as addresses are, which wrap around.
    Any,
}

/// A relocation type.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    pub class: Class,
    /// The number of bytes that it writes.
    pub width: u8,
    /// The number of bits in them that hold the value.
    pub bits: u8,
    /// What the value has to be a multiple of, where the machine asks [`Type::is_aligned`].
    pub align: u8,
    pub fit: Fit,
    /// From where slots count; of no meaning for classes that have none.
    pub from: From,
    /// Where its name begins in [`Facts::type_names`](super::facts::Facts::type_names), an empty one if there
    /// is no such type.
    pub name: u16,
}

const _: () = assert!(size_of::<Type>() == 8);

/// A type and its name, as a machine's list has them. The list is for the compiler alone: what a program has
/// of it are a [`table`] and one text of [`names`]. Text that each type pointed at would be an address each
/// that the loader has to fill in, though it is wanted for messages only.
#[derive(Clone, Copy)]
pub struct Named {
    of: Type,
    name: &'static str,
}

impl Type {
    /// No type.
    pub const UNKNOWN: Type =
        Type { class: Class::Unknown, width: 0, bits: 0, align: 1, fit: Fit::Any, from: From::Zero, name: 0 };

    /// Whether a value is a multiple of what it has to be one of.
    pub const fn is_aligned(&self, value: i64) -> bool {
        value & (self.align as i64 - 1) == 0
    }

    /// Whether a value fits.
    pub fn fits(&self, value: i64) -> bool {
        let bits = u32::from(self.bits);
        if bits == 64 || self.fit == Fit::Any {
            return true;
        }
        let (half, all) = (1i64 << (bits - 1), 1i64 << bits);
        match self.fit {
            Fit::Signed => (-half..half).contains(&value),
            Fit::Rounded => (-half - 0x800..half - 0x800).contains(&value),
            Fit::Unsigned => (0..all).contains(&value),
            Fit::Either => (-half..all).contains(&value),
            Fit::Around => (-all..all).contains(&value),
            Fit::Any => true,
        }
    }

    /// The values that fit, as text: `[-0x80, 0x7f]`.
    pub fn range(&self) -> String {
        let bits = u32::from(self.bits);
        let (half, all) = (1u64 << (bits - 1), u64::MAX >> (64 - bits));
        match self.fit {
            Fit::Signed | Fit::Any => format!("[-{half:#x}, {:#x}]", half - 1),
            Fit::Rounded => format!("[-{:#x}, {:#x}]", half + 0x800, half - 0x801),
            Fit::Unsigned => format!("[0, {all:#x}]"),
            Fit::Either => format!("[-{half:#x}, {all:#x}]"),
            Fit::Around => format!("[-{:#x}, {all:#x}]", 2 * half),
        }
    }
}

impl Named {
    pub const fn new(class: Class, width: u8, fit: Fit, name: &'static str) -> Named {
        let of = Type { class, width, bits: 8 * width, align: 1, fit, from: From::Place, name: 0 };
        Named { of, name }
    }

    /// A type that is refused by its name.
    pub const fn unknown(name: &'static str) -> Named {
        Named { of: Type::UNKNOWN, name }
    }

    /// The same with a field that is only a part of the bytes.
    pub const fn bits(self, bits: u8) -> Named {
        Named { of: Type { bits, ..self.of }, ..self }
    }

    /// The same for values that are multiples of `align`.
    pub const fn of(self, align: u8) -> Named {
        Named { of: Type { align, ..self.of }, ..self }
    }

    /// The same with a slot that counts from elsewhere.
    pub const fn from(self, from: From) -> Named {
        Named { of: Type { from, ..self.of }, ..self }
    }
}

/// A machine's table of types from those that it has, with their numbers.
pub const fn table<const N: usize>(types: &[(u32, Named)]) -> [Type; N] {
    let mut table = [Type::UNKNOWN; N];
    let mut at = 1;
    let mut i = 0;
    while i < types.len() {
        let (number, Named { of, name }) = types[i];
        assert!(at <= u16::MAX as usize);
        table[number as usize] = Type { name: at as u16, ..of };
        at += name.len() + 1;
        i += 1;
    }
    table
}

/// Bytes of [`names`].
pub const fn names_size(types: &[(u32, Named)]) -> usize {
    let (mut size, mut i) = (1, 0);
    while i < types.len() {
        size += types[i].1.name.len() + 1;
        i += 1;
    }
    size
}

/// The names of these types one after the other, with a zero before them and after each.
pub const fn names<const SIZE: usize>(types: &[(u32, Named)]) -> [u8; SIZE] {
    let mut names = [0; SIZE];
    let mut at = 1;
    let mut i = 0;
    while i < types.len() {
        let name = types[i].1.name.as_bytes();
        let (_, rest) = names.split_at_mut(at);
        rest.split_at_mut(name.len()).0.copy_from_slice(name);
        at += name.len() + 1;
        i += 1;
    }
    names
}

/// The name that begins at `at` of these.
pub fn name_at(names: &[u8], at: u16) -> &str {
    let rest = names.get(usize::from(at)..).unwrap_or_default();
    let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    std::str::from_utf8(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_as_numbers() {
        let of = |width, fit| Named::new(Class::Pc, width, fit, "").of.range();
        assert_eq!(of(1, Fit::Signed), "[-0x80, 0x7f]");
        assert_eq!(of(4, Fit::Unsigned), "[0, 0xffffffff]");
        assert_eq!(of(2, Fit::Either), "[-0x8000, 0xffff]");
        assert_eq!(of(4, Fit::Rounded), "[-0x80000800, 0x7ffff7ff]");
        assert_eq!(of(8, Fit::Signed), "[-0x8000000000000000, 0x7fffffffffffffff]");
        let part = Named::new(Class::Got, 4, Fit::Signed, "").bits(20).of;
        assert_eq!(part.range(), "[-0x80000, 0x7ffff]");
        assert!(part.fits(0x7_ffff) && !part.fits(0x8_0000) && part.fits(-0x8_0000));
    }

    #[test]
    fn names_are_one_text() {
        const LIST: &[(u32, Named)] =
            &[(2, Named::new(Class::Pc, 4, Fit::Any, "two")), (0, Named::unknown("none"))];
        let table: [Type; 4] = table(LIST);
        let names: [u8; names_size(LIST)] = names(LIST);
        assert_eq!(&names, b"\0two\0none\0");
        assert_eq!(table.map(|of| name_at(&names, of.name)), ["none", "", "two", ""]);
        assert_eq!(table[2].class, Class::Pc);
        assert_eq!(name_at(&names, 100), "");
    }
}
