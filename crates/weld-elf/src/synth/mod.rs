//! The sections that a linker makes itself: one file each, with the size beside the bytes.

pub mod build_id;
pub mod gnu_hash;
pub mod property_note;
pub mod relr;
pub mod strtab;
pub mod sysv_hash;
pub mod versions;
