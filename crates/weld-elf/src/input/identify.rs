//! What kind of file some bytes are.
//!
//! Specification: gABI chapter 4 ("ELF Identification"); archives begin with `!<arch>` or `!<thin>`.

use super::unusable::Malformed;
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

/// By the first bytes. What begins like an ELF file and is not a whole header is an object, which says what
/// is wrong.
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

/// What a text that is no linker script looks like, and what to do about it.
pub fn looks_like(text: &[u8], path: &str) -> Option<&'static str> {
    const SOURCES: [&str; 8] = [".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hpp", ".m"];
    const STARTS: [&[u8]; 8] =
        [b"#include", b"#define", b"#if", b"#pragma", b"int ", b"static ", b"extern ", b"namespace "];
    let text = text.trim_ascii_start();
    let begins = |with: &[u8]| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    let has_line = |with: &&[u8]| text.split(|b| *b == b'\n').take(50).any(|line| line.starts_with(with));
    if begins(b"<!doctype") || begins(b"<html") || begins(b"<?xml") {
        Some("it looks like a page of the web (HTML): was an error page saved in place of the file?")
    } else if begins(b"version https://git-lfs") {
        Some("it looks like a pointer of Git LFS: run 'git lfs pull'")
    } else if begins(b"; ModuleID") || text.starts_with(b"source_filename =") || path.ends_with(".ll") {
        Some("it looks like LLVM IR: compile it first")
    } else if begins(b"#!") {
        Some("it looks like a script to run")
    } else if path.ends_with(".s") || path.ends_with(".S") || path.ends_with(".asm") {
        Some("it looks like assembler source: assemble it first")
    } else if SOURCES.iter().any(|end| path.ends_with(end)) || STARTS.iter().any(has_line) {
        Some("it looks like C or C++ source: compile it first")
    } else {
        None
    }
}

/// Refuses what was taken for an object and is none.
pub fn check_relocatable(kind: Kind) -> Result<(), Malformed> {
    match kind {
        Kind::Object => Ok(()),
        Kind::Executable => Err(Malformed::Executable),
        _ => Err(Malformed::NotElf),
    }
}

#[cfg(test)]
mod tests {
    use super::looks_like;

    #[test]
    fn what_texts_look_like() {
        for (text, path, part) in [
            (&b"\n<!DOCTYPE html>"[..], "x.o", "HTML"),
            (b"/* a */\n#include <stdio.h>\n", "x", "compile"),
            (b"hello", "x.cc", "compile"),
            (b"mov %eax, %ebx", "x.s", "assemble"),
            (b"version https://git-lfs.github.com/spec/v1", "lib.a", "lfs pull"),
            (b"#!/bin/sh", "x", "run"),
            (b"; ModuleID = 'x'", "x", "IR"),
        ] {
            assert!(looks_like(text, path).is_some_and(|said| said.contains(part)), "{part}");
        }
        assert_eq!(looks_like(b"hello world", "x.o"), None);
    }
}
