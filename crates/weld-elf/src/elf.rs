//! The on-disk structures of 64-bit little-endian ELF, read in place.
//!
//! Every type is a byte array with accessors, so it has alignment 1: members of archives start at
//! any even offset, and a view must never fault. An accessor is one unaligned load on the machines
//! that matter. Writing goes through the constructors.
//!
//! Specification: System V gABI, chapters 4 and 5; constants of the x86-64 psABI.

#![allow(missing_docs)]

use weld_common::hash::hash_until_nul;

macro_rules! raw {
    ($(#[$doc:meta])* $name:ident [$size:literal] { $($field:ident : $ty:ty = $off:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name(pub [u8; $size]);

        impl $name {
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
    };
}

/// Types that may be viewed in any byte slice of their size.
///
/// # Safety
/// The type must have alignment 1, no padding and no invalid bit patterns.
pub unsafe trait Raw: Copy {}

raw!(/// `Elf64_Ehdr`
Ehdr [64] {
    e_type: u16 = 16, e_machine: u16 = 18, e_version: u32 = 20, e_entry: u64 = 24, e_phoff: u64 = 32,
    e_shoff: u64 = 40, e_flags: u32 = 48, e_ehsize: u16 = 52, e_phentsize: u16 = 54, e_phnum: u16 = 56,
    e_shentsize: u16 = 58, e_shnum: u16 = 60, e_shstrndx: u16 = 62,
});
raw!(/// `Elf64_Shdr`
Shdr [64] {
    sh_name: u32 = 0, sh_type: u32 = 4, sh_flags: u64 = 8, sh_addr: u64 = 16, sh_offset: u64 = 24,
    sh_size: u64 = 32, sh_link: u32 = 40, sh_info: u32 = 44, sh_addralign: u64 = 48, sh_entsize: u64 = 56,
});
raw!(/// `Elf64_Sym`
Sym [24] {
    st_name: u32 = 0, st_info: u8 = 4, st_other: u8 = 5, st_shndx: u16 = 6, st_value: u64 = 8, st_size: u64 = 16,
});
raw!(/// `Elf64_Rela`
    Rela [24] { r_offset: u64 = 0, r_info: u64 = 8, r_addend: i64 = 16 });
raw!(/// `Elf64_Rel`
    Rel [16] { r_offset: u64 = 0, r_info: u64 = 8 });
raw!(/// `Elf64_Phdr`
Phdr [56] {
    p_type: u32 = 0, p_flags: u32 = 4, p_offset: u64 = 8, p_vaddr: u64 = 16, p_paddr: u64 = 24,
    p_filesz: u64 = 32, p_memsz: u64 = 40, p_align: u64 = 48,
});
raw!(/// `Elf64_Dyn`
    Dyn [16] { d_tag: u64 = 0, d_val: u64 = 8 });
raw!(/// A little-endian word in a table (`SHT_GROUP`, `SHT_SYMTAB_SHNDX`).
    Word [4] { get: u32 = 0 });
raw!(/// A little-endian half word in a table (`.gnu.version`).
    Half [2] { get: u16 = 0 });

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

/// A view of `count` values of `T` at `offset`. `None` if they do not lie within `data`.
pub fn table<T: Raw>(data: &[u8], offset: u64, count: u64) -> Option<&[T]> {
    let bytes = slice(data, offset, count.checked_mul(size_of::<T>() as u64)?)?;
    // SAFETY: `bytes` holds exactly `count` values; `Raw` promises alignment 1 and no invalid values.
    Some(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), count as usize) })
}

/// All whole values of `T` in `data`.
pub fn all<T: Raw>(data: &[u8]) -> &[T] {
    table(data, 0, (data.len() / size_of::<T>()) as u64).unwrap_or(&[])
}

/// `data[offset..offset + size]`, checked.
pub fn slice(data: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let end = offset.checked_add(size)?;
    if end > data.len() as u64 {
        return None;
    }
    Some(&data[offset as usize..end as usize])
}

/// The NUL-terminated string at `offset` of a string table. `None` if it starts or ends outside.
#[inline]
pub fn string(table: &[u8], offset: u32) -> Option<&[u8]> {
    let tail = table.get(offset as usize..)?;
    Some(&tail[..memchr::memchr(0, tail)?])
}

/// The string at `offset` of a string table, and [`weld_common::hash::hash_bytes`] of it.
#[inline(always)]
pub fn hashed_string(table: &[u8], offset: u32) -> Option<(&[u8], u64)> {
    let tail = table.get(offset as usize..)?;
    let (len, hash) = hash_until_nul(tail)?;
    Some((&tail[..len], hash))
}

pub const ELFMAG: &[u8] = b"\x7fELF";
pub const ELFCLASS64: u8 = 2;
pub const ELFDATA2LSB: u8 = 1;
pub const ELFOSABI_GNU: u8 = 3;

pub const ET_NONE: u16 = 0;
pub const ET_REL: u16 = 1;
pub const ET_EXEC: u16 = 2;
pub const ET_DYN: u16 = 3;
pub const ET_CORE: u16 = 4;
pub const EM_X86_64: u16 = 62;

pub const SHN_UNDEF: u16 = 0;
pub const SHN_LORESERVE: u16 = 0xff00;
pub const SHN_ABS: u16 = 0xfff1;
pub const SHN_COMMON: u16 = 0xfff2;
pub const SHN_XINDEX: u16 = 0xffff;
/// x86-64: common symbols of the large code model.
pub const SHN_X86_64_LCOMMON: u16 = 0xff02;

pub const SHT_NULL: u32 = 0;
pub const SHT_PROGBITS: u32 = 1;
pub const SHT_SYMTAB: u32 = 2;
pub const SHT_STRTAB: u32 = 3;
pub const SHT_RELA: u32 = 4;
pub const SHT_HASH: u32 = 5;
pub const SHT_DYNAMIC: u32 = 6;
pub const SHT_NOTE: u32 = 7;
pub const SHT_NOBITS: u32 = 8;
pub const SHT_REL: u32 = 9;
pub const SHT_DYNSYM: u32 = 11;
pub const SHT_INIT_ARRAY: u32 = 14;
pub const SHT_FINI_ARRAY: u32 = 15;
pub const SHT_PREINIT_ARRAY: u32 = 16;
pub const SHT_GROUP: u32 = 17;
pub const SHT_SYMTAB_SHNDX: u32 = 18;
pub const SHT_RELR: u32 = 19;
/// The types from here to `SHT_HIOS` belong to operating systems, those behind to processors and to users.
pub const SHT_LOOS: u32 = 0x6000_0000;
pub const SHT_HIOS: u32 = 0x6fff_ffff;
pub const SHT_LOPROC: u32 = 0x7000_0000;
pub const SHT_CREL: u32 = 0x4000_0014;
pub const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
pub const SHT_LLVM_DEPENDENT_LIBRARIES: u32 = 0x6fff_4c04;
pub const SHT_LLVM_CALL_GRAPH_PROFILE: u32 = 0x6fff_4c09;
pub const SHT_LLVM_LTO: u32 = 0x6fff_4c0c;
pub const SHT_GNU_ATTRIBUTES: u32 = 0x6fff_fff5;
pub const SHT_GNU_HASH: u32 = 0x6fff_fff6;
pub const SHT_GNU_VERDEF: u32 = 0x6fff_fffd;
pub const SHT_GNU_VERNEED: u32 = 0x6fff_fffe;
pub const SHT_GNU_VERSYM: u32 = 0x6fff_ffff;
pub const SHT_X86_64_UNWIND: u32 = 0x7000_0001;

pub const SHF_WRITE: u64 = 1;
pub const SHF_ALLOC: u64 = 2;
pub const SHF_EXECINSTR: u64 = 4;
pub const SHF_MERGE: u64 = 0x10;
pub const SHF_STRINGS: u64 = 0x20;
pub const SHF_INFO_LINK: u64 = 0x40;
pub const SHF_LINK_ORDER: u64 = 0x80;
pub const SHF_OS_NONCONFORMING: u64 = 0x100;
pub const SHF_GROUP: u64 = 0x200;
pub const SHF_TLS: u64 = 0x400;
pub const SHF_COMPRESSED: u64 = 0x800;
pub const SHF_GNU_RETAIN: u64 = 0x20_0000;
pub const SHF_EXCLUDE: u64 = 0x8000_0000;
pub const SHF_X86_64_LARGE: u64 = 0x1000_0000;

pub const GRP_COMDAT: u32 = 1;

pub const STB_LOCAL: u8 = 0;
pub const STB_GLOBAL: u8 = 1;
pub const STB_WEAK: u8 = 2;
pub const STB_GNU_UNIQUE: u8 = 10;

pub const STT_NOTYPE: u8 = 0;
pub const STT_OBJECT: u8 = 1;
pub const STT_FUNC: u8 = 2;
pub const STT_SECTION: u8 = 3;
pub const STT_FILE: u8 = 4;
pub const STT_COMMON: u8 = 5;
pub const STT_TLS: u8 = 6;
pub const STT_GNU_IFUNC: u8 = 10;

pub const STV_DEFAULT: u8 = 0;
pub const STV_INTERNAL: u8 = 1;
pub const STV_HIDDEN: u8 = 2;
pub const STV_PROTECTED: u8 = 3;

pub const PT_LOAD: u32 = 1;
pub const PT_DYNAMIC: u32 = 2;
pub const PT_INTERP: u32 = 3;
pub const PT_NOTE: u32 = 4;
pub const PT_PHDR: u32 = 6;
pub const PT_TLS: u32 = 7;
pub const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
pub const PT_GNU_STACK: u32 = 0x6474_e551;
pub const PT_GNU_RELRO: u32 = 0x6474_e552;
pub const PT_GNU_PROPERTY: u32 = 0x6474_e553;

pub const PF_X: u32 = 1;
pub const PF_W: u32 = 2;
pub const PF_R: u32 = 4;

pub const DT_NULL: u64 = 0;
pub const DT_NEEDED: u64 = 1;
pub const DT_PLTRELSZ: u64 = 2;
pub const DT_PLTGOT: u64 = 3;
pub const DT_HASH: u64 = 4;
pub const DT_STRTAB: u64 = 5;
pub const DT_SYMTAB: u64 = 6;
pub const DT_RELA: u64 = 7;
pub const DT_RELASZ: u64 = 8;
pub const DT_RELAENT: u64 = 9;
pub const DT_STRSZ: u64 = 10;
pub const DT_SYMENT: u64 = 11;
pub const DT_INIT: u64 = 12;
pub const DT_FINI: u64 = 13;
pub const DT_SONAME: u64 = 14;
pub const DT_RPATH: u64 = 15;
pub const DT_SYMBOLIC: u64 = 16;
pub const DT_PLTREL: u64 = 20;
pub const DT_DEBUG: u64 = 21;
pub const DT_TEXTREL: u64 = 22;
pub const DT_JMPREL: u64 = 23;
pub const DT_INIT_ARRAY: u64 = 25;
pub const DT_FINI_ARRAY: u64 = 26;
pub const DT_INIT_ARRAYSZ: u64 = 27;
pub const DT_FINI_ARRAYSZ: u64 = 28;
pub const DT_RUNPATH: u64 = 29;
pub const DT_FLAGS: u64 = 30;
pub const DT_PREINIT_ARRAY: u64 = 32;
pub const DT_PREINIT_ARRAYSZ: u64 = 33;
pub const DT_RELRSZ: u64 = 35;
pub const DT_RELR: u64 = 36;
pub const DT_RELRENT: u64 = 37;
pub const DT_GNU_HASH: u64 = 0x6fff_fef5;
pub const DT_TLSDESC_PLT: u64 = 0x6fff_fef6;
pub const DT_TLSDESC_GOT: u64 = 0x6fff_fef7;
pub const DT_AUDIT: u64 = 0x6fff_fefc;
pub const DT_DEPAUDIT: u64 = 0x6fff_fefb;
pub const DT_VERSYM: u64 = 0x6fff_fff0;
pub const DT_RELACOUNT: u64 = 0x6fff_fff9;
pub const DT_FLAGS_1: u64 = 0x6fff_fffb;
pub const DT_VERDEF: u64 = 0x6fff_fffc;
pub const DT_VERDEFNUM: u64 = 0x6fff_fffd;
pub const DT_VERNEED: u64 = 0x6fff_fffe;
pub const DT_VERNEEDNUM: u64 = 0x6fff_ffff;
pub const DT_AUXILIARY: u64 = 0x7fff_fffd;
pub const DT_FILTER: u64 = 0x7fff_ffff;

pub const DF_ORIGIN: u64 = 1;
pub const DF_SYMBOLIC: u64 = 2;
pub const DF_TEXTREL: u64 = 4;
pub const DF_BIND_NOW: u64 = 8;
pub const DF_STATIC_TLS: u64 = 16;
pub const DF_1_NOW: u64 = 1;
pub const DF_1_GLOBAL: u64 = 2;
pub const DF_1_NODELETE: u64 = 8;
pub const DF_1_INITFIRST: u64 = 0x20;
pub const DF_1_NOOPEN: u64 = 0x40;
pub const DF_1_ORIGIN: u64 = 0x80;
pub const DF_1_INTERPOSE: u64 = 0x400;
pub const DF_1_NODEFLIB: u64 = 0x800;
pub const DF_1_NODUMP: u64 = 0x1000;
pub const DF_1_PIE: u64 = 0x0800_0000;

pub const VERSYM_HIDDEN: u16 = 0x8000;
pub const VER_NDX_LOCAL: u16 = 0;
pub const VER_NDX_GLOBAL: u16 = 1;
