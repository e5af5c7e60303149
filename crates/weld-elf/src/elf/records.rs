//! ELF's records in native form, and how each is stored in the other forms.
//!
//! A record is a byte array with accessors, so its alignment is 1: members of archives start at any even
//! offset, and a view must never fault. An accessor is one unaligned load on the machines that matter.
//! Writing goes through the constructors.
//!
//! The table of fields says where a field lies in native form, and as what and where in files of 32 bits.
//! Files of 64 bits and the other byte order have the native places.
//!
//! Specification: System V gABI, chapters 4 and 5.

use super::constants::SHT_NOBITS;

/// Types that may be viewed in any byte slice of their size.
///
/// # Safety
/// The type must have alignment 1, no padding and no invalid bit patterns.
pub unsafe trait Raw: Copy {}

/// A record that files store in four forms.
pub trait Record: Raw {
    /// Bytes in files of 32 bits.
    const SIZE_32: usize;

    /// The record that is stored in `bytes`.
    fn decode<const WIDE: bool, const BIG: bool>(bytes: &[u8]) -> Self;

    /// Stores the record in `out`. What is too wide for its field loses its upper bits.
    fn encode<const WIDE: bool, const BIG: bool>(&self, out: &mut [u8]);
}

/// How a field of type `T` is stored.
trait Stored<T> {
    fn load<const BIG: bool>(bytes: &[u8]) -> T;
    fn store<const BIG: bool>(value: T, out: &mut [u8]);
}

macro_rules! stored {
    ($($stored:ty as $ty:ty),*) => { $(
        impl Stored<$ty> for $stored {
            #[inline(always)]
            fn load<const BIG: bool>(bytes: &[u8]) -> $ty {
                let mut number = [0; size_of::<$stored>()];
                number.copy_from_slice(&bytes[..size_of::<$stored>()]);
                if BIG { <$stored>::from_be_bytes(number) as $ty } else { <$stored>::from_le_bytes(number) as $ty }
            }

            #[inline(always)]
            fn store<const BIG: bool>(value: $ty, out: &mut [u8]) {
                let number = value as $stored;
                let number = if BIG { number.to_be_bytes() } else { number.to_le_bytes() };
                out[..size_of::<$stored>()].copy_from_slice(&number);
            }
        }
    )* };
}

stored!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, i64 as i64, u32 as u64, i32 as i64);

/// `e_ident`: bytes, whatever the order.
impl Stored<u128> for u128 {
    fn load<const BIG: bool>(bytes: &[u8]) -> u128 {
        let mut ident = [0; 16];
        ident.copy_from_slice(&bytes[..16]);
        u128::from_le_bytes(ident)
    }

    fn store<const BIG: bool>(value: u128, out: &mut [u8]) {
        out[..16].copy_from_slice(&value.to_le_bytes());
    }
}

/// `r_info` of 32 bits: a symbol of 24 bits and a type of 8, where 64 bits have 32 for each.
struct Info;

impl Stored<u64> for Info {
    #[inline(always)]
    fn load<const BIG: bool>(bytes: &[u8]) -> u64 {
        let info = <u32 as Stored<u64>>::load::<BIG>(bytes);
        (info >> 8) << 32 | info & 0xff
    }

    #[inline(always)]
    fn store<const BIG: bool>(value: u64, out: &mut [u8]) {
        <u32 as Stored<u64>>::store::<BIG>((value >> 32) << 8 | value & 0xff, out);
    }
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident [$size:literal, $size_32:literal] {
        $($field:ident : $ty:ty = $off:literal, $stored:ty = $off_32:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name(pub [u8; $size]);

        impl $name {
            /// Bytes of a native record.
            pub const SIZE: usize = $size;
            $(
                #[inline(always)]
                pub fn $field(&self) -> $ty {
                    const N: usize = size_of::<$ty>();
                    let mut bytes = [0; N];
                    bytes.copy_from_slice(&self.0[$off..$off + N]);
                    <$ty>::from_le_bytes(bytes)
                }
            )*
        }

        // SAFETY: a transparent byte array; every bit pattern is valid and the alignment is 1.
        unsafe impl Raw for $name {}

        impl Record for $name {
            const SIZE_32: usize = $size_32;

            #[inline(always)]
            fn decode<const WIDE: bool, const BIG: bool>(bytes: &[u8]) -> Self {
                let mut record = $name([0; $size]);
                $(
                    let value: $ty = match WIDE {
                        true => <$ty as Stored<$ty>>::load::<BIG>(&bytes[$off..]),
                        false => <$stored as Stored<$ty>>::load::<BIG>(&bytes[$off_32..]),
                    };
                    record.0[$off..$off + size_of::<$ty>()].copy_from_slice(&value.to_le_bytes());
                )*
                record
            }

            #[inline(always)]
            fn encode<const WIDE: bool, const BIG: bool>(&self, out: &mut [u8]) {
                $(
                    match WIDE {
                        true => <$ty as Stored<$ty>>::store::<BIG>(self.$field(), &mut out[$off..]),
                        false => <$stored as Stored<$ty>>::store::<BIG>(self.$field(), &mut out[$off_32..]),
                    }
                )*
            }
        }
    };
}

record!(/// The header of a file.
Ehdr [64, 52] {
    e_ident: u128 = 0, u128 = 0;
    e_type: u16 = 16, u16 = 16;
    e_machine: u16 = 18, u16 = 18;
    e_version: u32 = 20, u32 = 20;
    e_entry: u64 = 24, u32 = 24;
    e_phoff: u64 = 32, u32 = 28;
    e_shoff: u64 = 40, u32 = 32;
    e_flags: u32 = 48, u32 = 36;
    e_ehsize: u16 = 52, u16 = 40;
    e_phentsize: u16 = 54, u16 = 42;
    e_phnum: u16 = 56, u16 = 44;
    e_shentsize: u16 = 58, u16 = 46;
    e_shnum: u16 = 60, u16 = 48;
    e_shstrndx: u16 = 62, u16 = 50;
});
record!(/// The header of a section.
Shdr [64, 40] {
    sh_name: u32 = 0, u32 = 0;
    sh_type: u32 = 4, u32 = 4;
    sh_flags: u64 = 8, u32 = 8;
    sh_addr: u64 = 16, u32 = 12;
    sh_offset: u64 = 24, u32 = 16;
    sh_size: u64 = 32, u32 = 20;
    sh_link: u32 = 40, u32 = 24;
    sh_info: u32 = 44, u32 = 28;
    sh_addralign: u64 = 48, u32 = 32;
    sh_entsize: u64 = 56, u32 = 36;
});
record!(/// A symbol.
Sym [24, 16] {
    st_name: u32 = 0, u32 = 0;
    st_info: u8 = 4, u8 = 12;
    st_other: u8 = 5, u8 = 13;
    st_shndx: u16 = 6, u16 = 14;
    st_value: u64 = 8, u32 = 4;
    st_size: u64 = 16, u32 = 8;
});
record!(/// A relocation with its addend.
Rela [24, 12] {
    r_offset: u64 = 0, u32 = 0;
    r_info: u64 = 8, Info = 4;
    r_addend: i64 = 16, i32 = 8;
});
record!(/// A relocation whose addend lies where it applies.
Rel [16, 8] {
    r_offset: u64 = 0, u32 = 0;
    r_info: u64 = 8, Info = 4;
});
record!(/// The header of a segment.
Phdr [56, 32] {
    p_type: u32 = 0, u32 = 0;
    p_flags: u32 = 4, u32 = 24;
    p_offset: u64 = 8, u32 = 4;
    p_vaddr: u64 = 16, u32 = 8;
    p_paddr: u64 = 24, u32 = 12;
    p_filesz: u64 = 32, u32 = 16;
    p_memsz: u64 = 40, u32 = 20;
    p_align: u64 = 48, u32 = 28;
});
record!(/// An entry of the dynamic section.
Dyn [16, 8] {
    d_tag: u64 = 0, u32 = 0;
    d_val: u64 = 8, u32 = 4;
});
record!(/// A number in a table (`SHT_GROUP`, `SHT_SYMTAB_SHNDX`).
Word [4, 4] { get: u32 = 0, u32 = 0; });
record!(/// A number in a table (`.gnu.version`).
Half [2, 2] { get: u16 = 0, u16 = 0; });
record!(/// The header of a compressed section.
Chdr [24, 12] {
    ch_type: u32 = 0, u32 = 0;
    ch_size: u64 = 8, u32 = 4;
    ch_addralign: u64 = 16, u32 = 8;
});

impl Ehdr {
    /// `EI_OSABI`.
    pub fn os_abi(&self) -> u8 {
        self.0[7]
    }

    /// `EI_ABIVERSION`.
    pub fn abi_version(&self) -> u8 {
        self.0[8]
    }
}

impl Sym {
    #[inline(always)]
    pub fn kind(&self) -> u8 {
        self.st_info() & 15
    }
    #[inline(always)]
    pub fn binding(&self) -> u8 {
        self.st_info() >> 4
    }
    #[inline(always)]
    pub fn visibility(&self) -> u8 {
        self.st_other() & 3
    }
    /// The same with another value.
    pub fn with_value(mut self, value: u64) -> Sym {
        self.0[8..16].copy_from_slice(&value.to_le_bytes());
        self
    }
    pub fn make(name: u32, info: u8, other: u8, shndx: u16, value: u64, size: u64) -> Sym {
        let mut b = [0; 24];
        b[0..4].copy_from_slice(&name.to_le_bytes());
        b[4] = info;
        b[5] = other;
        b[6..8].copy_from_slice(&shndx.to_le_bytes());
        b[8..16].copy_from_slice(&value.to_le_bytes());
        b[16..24].copy_from_slice(&size.to_le_bytes());
        Sym(b)
    }
}

impl Rel {
    /// The same relocation with its addend.
    pub fn with_addend(&self, addend: i64) -> Rela {
        Rela::make(self.r_offset(), self.sym(), self.kind(), addend)
    }
    pub fn sym(&self) -> u32 {
        (self.r_info() >> 32) as u32
    }
    pub fn kind(&self) -> u32 {
        self.r_info() as u32
    }
}

impl Rela {
    #[inline(always)]
    pub fn sym(&self) -> u32 {
        (self.r_info() >> 32) as u32
    }
    #[inline(always)]
    pub fn kind(&self) -> u32 {
        self.r_info() as u32
    }
    pub fn make(offset: u64, sym: u32, kind: u32, addend: i64) -> Rela {
        let mut b = [0; 24];
        b[0..8].copy_from_slice(&offset.to_le_bytes());
        b[8..16].copy_from_slice(&((sym as u64) << 32 | kind as u64).to_le_bytes());
        b[16..24].copy_from_slice(&addend.to_le_bytes());
        Rela(b)
    }
}

impl Shdr {
    /// Number of bytes the section occupies in its file.
    pub fn file_size(&self) -> u64 {
        if self.sh_type() == SHT_NOBITS { 0 } else { self.sh_size() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores a record in a form, and reads it again.
    fn stored<R: Record, const WIDE: bool, const BIG: bool>(record: &R) -> (Vec<u8>, R) {
        let mut bytes = vec![0; if WIDE { size_of::<R>() } else { R::SIZE_32 }];
        record.encode::<WIDE, BIG>(&mut bytes);
        let back = R::decode::<WIDE, BIG>(&bytes);
        (bytes, back)
    }

    #[test]
    fn relocations_in_each_form() {
        let rela = Rela::make(0x1234, 0x56789, 0x22, -2);
        let (bytes, back) = stored::<_, true, false>(&rela);
        assert_eq!((&bytes[..], back.0), (&rela.0[..], rela.0));
        let (bytes, back) = stored::<_, true, true>(&rela);
        assert_eq!(bytes[..8], [0, 0, 0, 0, 0, 0, 0x12, 0x34]);
        assert_eq!(bytes[8..16], [0, 5, 0x67, 0x89, 0, 0, 0, 0x22]);
        assert_eq!((&bytes[16..], back.0), (&(-2i64).to_be_bytes()[..], rela.0));
        let (bytes, back) = stored::<_, false, true>(&rela);
        assert_eq!(bytes, [0, 0, 0x12, 0x34, 5, 0x67, 0x89, 0x22, 0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(back.0, rela.0);
        let (bytes, back) = stored::<_, false, false>(&rela);
        assert_eq!(bytes, [0x34, 0x12, 0, 0, 0x22, 0x89, 0x67, 5, 0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(back.0, rela.0);
    }

    #[test]
    fn symbols_in_each_form() {
        let sym = Sym::make(0x11223344, 0x12, 2, 0xfff1, 0x8000_0001, 0x10);
        let (bytes, back) = stored::<_, false, false>(&sym);
        let expected = [0x44, 0x33, 0x22, 0x11, 1, 0, 0, 0x80, 0x10, 0, 0, 0, 0x12, 2, 0xf1, 0xff];
        assert_eq!((&bytes[..], back.0), (&expected[..], sym.0));
        let (bytes, back) = stored::<_, false, true>(&sym);
        let expected = [0x11, 0x22, 0x33, 0x44, 0x80, 0, 0, 1, 0, 0, 0, 0x10, 0x12, 2, 0xff, 0xf1];
        assert_eq!((&bytes[..], back.0), (&expected[..], sym.0));
        let (bytes, back) = stored::<_, true, true>(&sym);
        let expected = [0x11, 0x22, 0x33, 0x44, 0x12, 2, 0xff, 0xf1, 0, 0, 0, 0, 0x80, 0, 0, 1];
        assert_eq!((&bytes[..16], back.0), (&expected[..], sym.0));
    }

    /// Each field of a record survives each form, and none covers another.
    fn survives<R: Record>() {
        fn check<R: Record, const WIDE: bool, const BIG: bool>() {
            let size = if WIDE { size_of::<R>() } else { R::SIZE_32 };
            for at in 0..size {
                let mut bytes = vec![0; size];
                bytes[at] = 0x5a;
                let mut out = vec![0; size];
                R::decode::<WIDE, BIG>(&bytes).encode::<WIDE, BIG>(&mut out);
                assert_eq!(out, bytes, "byte {at} of {size}");
            }
        }
        check::<R, false, false>();
        check::<R, false, true>();
        check::<R, true, false>();
        check::<R, true, true>();
    }

    #[test]
    fn all_bytes_survive() {
        survives::<Ehdr>();
        survives::<Shdr>();
        survives::<Sym>();
        survives::<Rela>();
        survives::<Rel>();
        survives::<Phdr>();
        survives::<Dyn>();
        survives::<Word>();
        survives::<Half>();
    }
}
