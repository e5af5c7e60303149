//! The constants of ELF that are the same for every machine.
//!
//! Specification: System V gABI, chapters 4 and 5; GNU and LLVM extensions.

#![allow(missing_docs)]

pub const ELFMAG: &[u8] = b"\x7fELF";
pub const ELFCLASS32: u8 = 1;
pub const ELFCLASS64: u8 = 2;
pub const ELFDATA2LSB: u8 = 1;
pub const ELFDATA2MSB: u8 = 2;

pub const ET_NONE: u16 = 0;
pub const ET_REL: u16 = 1;
pub const ET_EXEC: u16 = 2;
pub const ET_DYN: u16 = 3;
pub const ET_CORE: u16 = 4;

pub const SHN_UNDEF: u16 = 0;
pub const SHN_LORESERVE: u16 = 0xff00;
pub const SHN_ABS: u16 = 0xfff1;
pub const SHN_COMMON: u16 = 0xfff2;
pub const SHN_XINDEX: u16 = 0xffff;

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
pub const SHF_AARCH64_PURECODE: u64 = 0x2000_0000;
pub const SHF_ARM_PURECODE: u64 = 0x2000_0000;
pub const SHT_ARM_EXIDX: u32 = 0x7000_0001;
pub const SHT_AARCH64_AUTH_RELR: u32 = 0x7000_0004;
pub const SHT_ANDROID_REL: u32 = 0x6000_0001;
pub const SHT_ANDROID_RELA: u32 = 0x6000_0002;
pub const SHT_ANDROID_RELR: u32 = 0x6fff_ff00;
/// The types from here to `SHT_HIOS` belong to operating systems, those after to processors and to users.
pub const SHT_LOOS: u32 = 0x6000_0000;
pub const SHT_HIOS: u32 = 0x6fff_ffff;
pub const SHT_LOPROC: u32 = 0x7000_0000;
pub const SHT_CREL: u32 = 0x4000_0014;
pub const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
pub const SHT_LLVM_DEPENDENT_LIBRARIES: u32 = 0x6fff_4c04;
pub const SHT_LLVM_SYMPART: u32 = 0x6fff_4c05;
pub const SHT_LLVM_CALL_GRAPH_PROFILE: u32 = 0x6fff_4c09;
pub const SHT_LLVM_LTO: u32 = 0x6fff_4c0c;
pub const SHT_GNU_SFRAME: u32 = 0x6fff_fff4;
pub const SHT_GNU_ATTRIBUTES: u32 = 0x6fff_fff5;
pub const SHT_GNU_HASH: u32 = 0x6fff_fff6;
pub const SHT_GNU_VERDEF: u32 = 0x6fff_fffd;
pub const SHT_GNU_VERNEED: u32 = 0x6fff_fffe;
pub const SHT_GNU_VERSYM: u32 = 0x6fff_ffff;

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

pub const PT_NULL: u32 = 0;
pub const PT_LOAD: u32 = 1;
pub const PT_DYNAMIC: u32 = 2;
pub const PT_INTERP: u32 = 3;
pub const PT_NOTE: u32 = 4;
pub const PT_PHDR: u32 = 6;
pub const PT_TLS: u32 = 7;
/// The machine's own program headers begin here.
pub const PT_LOPROC: u32 = 0x7000_0000;
pub const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
pub const PT_GNU_STACK: u32 = 0x6474_e551;
pub const PT_GNU_RELRO: u32 = 0x6474_e552;
pub const PT_GNU_PROPERTY: u32 = 0x6474_e553;
pub const PT_GNU_SFRAME: u32 = 0x6474_e554;
pub const ELFOSABI_FREEBSD: u8 = 9;
pub const ELFOSABI_OPENBSD: u8 = 12;
pub const PT_OPENBSD_MUTABLE: u32 = 0x65a3_dbe5;
pub const PT_OPENBSD_RANDOMIZE: u32 = 0x65a3_dbe6;
pub const PT_OPENBSD_WXNEEDED: u32 = 0x65a3_dbe7;
pub const PT_OPENBSD_NOBTCFI: u32 = 0x65a3_dbe8;
pub const PT_OPENBSD_SYSCALLS: u32 = 0x65a3_dbe9;

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
pub const DT_REL: u64 = 17;
pub const DT_RELSZ: u64 = 18;
pub const DT_RELENT: u64 = 19;
pub const DT_RPATH: u64 = 15;
pub const DT_SYMBOLIC: u64 = 16;
pub const DT_PLTREL: u64 = 20;
pub const DT_DEBUG: u64 = 21;
pub const DT_TEXTREL: u64 = 22;
pub const DT_JMPREL: u64 = 23;
pub const DT_BIND_NOW: u64 = 24;
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
pub const DT_ANDROID_REL: u64 = 0x6000_000f;
pub const DT_ANDROID_RELSZ: u64 = 0x6000_0010;
pub const DT_ANDROID_RELA: u64 = 0x6000_0011;
pub const DT_ANDROID_RELASZ: u64 = 0x6000_0012;
pub const DT_ANDROID_RELR: u64 = 0x6fff_e000;
pub const DT_ANDROID_RELRSZ: u64 = 0x6fff_e001;
pub const DT_ANDROID_RELRENT: u64 = 0x6fff_e003;
pub const DT_RELRENT: u64 = 37;
pub const DT_GNU_HASH: u64 = 0x6fff_fef5;
pub const DT_TLSDESC_PLT: u64 = 0x6fff_fef6;
pub const DT_TLSDESC_GOT: u64 = 0x6fff_fef7;
pub const DT_AUDIT: u64 = 0x6fff_fefc;
pub const DT_DEPAUDIT: u64 = 0x6fff_fefb;
pub const DT_VERSYM: u64 = 0x6fff_fff0;
pub const DT_RELACOUNT: u64 = 0x6fff_fff9;
pub const DT_RELCOUNT: u64 = 0x6fff_fffa;
pub const DT_GNU_FLAGS_1: u64 = 0x6fff_fdf4;
pub const DF_GNU_1_UNIQUE: u64 = 1;
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
pub const DF_1_LOADFLTR: u64 = 0x10;
pub const DF_1_INITFIRST: u64 = 0x20;
pub const DF_1_NOOPEN: u64 = 0x40;
pub const DF_1_ORIGIN: u64 = 0x80;
pub const DF_1_INTERPOSE: u64 = 0x400;
pub const DF_1_NODEFLIB: u64 = 0x800;
pub const DF_1_NODUMP: u64 = 0x1000;
pub const DF_1_GLOBAUDIT: u64 = 0x0100_0000;
pub const DF_1_PIE: u64 = 0x0800_0000;

pub const VERSYM_HIDDEN: u16 = 0x8000;
pub const VER_NDX_LOCAL: u16 = 0;
pub const VER_NDX_GLOBAL: u16 = 1;
