//! What kind of file some bytes are.
//!
//! Specification: gABI chapter 4 ("ELF Identification"); archives begin with `!<arch>` or `!<thin>`.

use crate::elf::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Object,
    Shared,
    Executable,
    Archive,
    Bitcode,
    Text,
    Unknown,
}

/// By the first bytes. What begins like an ELF file and is not a whole header is an object, which says what is wrong.
pub fn identify(data: &[u8]) -> Kind {
    if data.starts_with(ELFMAG) {
        let format = Format::of(data).unwrap_or(Format::NATIVE);
        let Some(header) = records::<Ehdr>(data, format, 0, 1) else { return Kind::Object };
        return match header[0].e_type() {
            ET_DYN => Kind::Shared,
            ET_EXEC => Kind::Executable,
            _ => Kind::Object,
        };
    }
    if data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n") {
        return Kind::Archive;
    }
    if data.starts_with(b"BC\xc0\xde") || data.starts_with(b"\xde\xc0\x17\x0b") {
        return Kind::Bitcode;
    }
    if memchr::memchr(0, &data[..data.len().min(1024)]).is_some() { Kind::Unknown } else { Kind::Text }
}

/// Refuses what looks like an object but cannot be linked as one.
pub fn check_relocatable(data: &[u8]) -> Result<(), String> {
    match identify(data) {
        Kind::Object => Ok(()),
        Kind::Bitcode => Err("is LLVM bitcode; link-time optimisation is not supported yet".into()),
        Kind::Executable => Err("is an executable, not an object".into()),
        _ => Err("is not an ELF object".into()),
    }
}
