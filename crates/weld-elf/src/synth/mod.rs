//! The sections that a linker makes itself: one file each, with the size beside the bytes.

pub mod gnu_hash;
pub mod relr;
pub mod strtab;
pub mod sysv_hash;
pub mod versions;
