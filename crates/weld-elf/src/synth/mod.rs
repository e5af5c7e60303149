//! The sections that a linker makes itself: one file each, with the size beside the bytes.

pub mod build_id;
pub mod commons;
pub mod definition_order;
pub mod dynamic;
pub mod dynstr;
pub mod dynsym;
pub mod eh_frames;
pub mod emitted_relocs;
pub mod gnu_hash;
pub mod got;
pub mod needed;
pub mod plan;
pub mod property_note;
pub mod rela;
pub mod relr;
pub mod slots;
pub mod strtab;
pub mod symbol_choice;
pub mod symbol_numbers;
pub mod symtab;
pub mod sysv_hash;
pub mod versions;
