//! The sections that a linker makes itself: a file each, which has all that is known of it ([`section`]). They are
//! listed in [`all`]; [`plan`] decides what they hold.

pub mod all;
pub mod build_id;
pub mod commons;
pub mod contents;
pub mod definition_order;
pub mod dynamic;
pub mod dynstr;
pub mod dynsym;
pub mod eh_frame_hdr;
pub mod eh_frames;
pub mod emitted_relocs;
pub mod gdb_index;
pub mod gnu_hash;
pub mod got;
pub mod headers;
pub mod image;
pub mod interp;
pub mod merged;
pub mod needed;
pub mod package_note;
pub mod plan;
pub mod plt;
pub mod property_note;
pub mod rela;
pub mod relr;
pub mod section;
pub mod shstrtab;
pub mod slots;
pub mod symbol_choice;
pub mod symbol_numbers;
pub mod symbol_record;
pub mod symtab;
pub mod sysv_hash;
pub mod versions;
