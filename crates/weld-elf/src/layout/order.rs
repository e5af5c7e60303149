//! The order of output sections: read-only data, code, data that becomes read-only, data.
//!
//! Sections with equal rights lie together, so that there are few segments; within the read-only
//! part what the loader reads comes first. Sections of one rank keep the order of first appearance.
//!
//! With `-Ttext` code comes first, and `.text` first of it: all else follows at higher addresses, within
//! its reach, and an image that is cut from the file starts with the code.

use super::{ChunkKind, OutputSection};
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::options::Options;

const NOT_ALLOC: u32 = 1 << 20;
const LARGE: u32 = 1 << 19;
const WRITE: u32 = 1 << 18;
const EXEC_WRITE: u32 = 1 << 17;
const EXEC: u32 = 1 << 16;
const NOT_RELRO: u32 = 1 << 15;
const NOT_TLS: u32 = 1 << 14;
const NOBITS: u32 = 1 << 13;
const RODATA: u32 = 1 << 12;
const NOT_MOVED: u32 = 1 << 11;

/// Lower ranks come first.
pub fn rank(out: &OutputSection, options: &Options, machine: &Facts) -> u32 {
    if !out.is_alloc() {
        return NOT_ALLOC | non_alloc_rank(out);
    }
    let large = if machine.is_large(out.flags) { LARGE } else { 0 };
    let nobits = if out.is_nobits() { NOBITS } else { 0 };
    let code_first = options.start_of(b".text").is_some();
    let (code, read_only) = if code_first { (0, EXEC) } else { (EXEC, 0) };
    if out.flags & SHF_EXECINSTR != 0 {
        let rights = if out.flags & SHF_WRITE != 0 { EXEC_WRITE } else { code };
        let not_moved = if code_first && &*out.name != b".text" { NOT_MOVED } else { 0 };
        return large | rights | nobits | not_moved | code_rank(out);
    }
    if out.flags & SHF_WRITE != 0 {
        let tls = if out.is_tls() { 0 } else { NOT_TLS };
        let relro = if out.relro { 0 } else { NOT_RELRO };
        return large | WRITE | relro | tls | nobits;
    }
    let loader = match out.kind {
        _ if out.own == Some(ChunkKind::Interp) => 0,
        SHT_NOTE => 1,
        SHT_PROGBITS => RODATA,
        _ => 2,
    };
    let eh_frame = match (out.own, &*out.name) {
        (Some(ChunkKind::EhFrameHdr), _) => 1,
        (_, b".eh_frame") => 2,
        (_, b".gcc_except_table") => 3,
        _ => 0,
    };
    large | read_only | nobits | loader | eh_frame
}

/// `.init` and `.fini` bracket the code as they do elsewhere; PLTs come last.
fn code_rank(out: &OutputSection) -> u32 {
    match (out.own, &*out.name) {
        (Some(ChunkKind::Plt | ChunkKind::PltSec), _) => 3,
        (_, b".init") => 1,
        (_, b".fini") => 2,
        _ => 0,
    }
}

fn non_alloc_rank(out: &OutputSection) -> u32 {
    match out.own {
        Some(ChunkKind::SymTab) => 1,
        Some(ChunkKind::SymTabShndx) => 2,
        Some(ChunkKind::ShStrTab) => 3,
        Some(ChunkKind::StrTab) => 4,
        _ => 0,
    }
}

/// Whether the section may become read-only once the loader has relocated it.
pub fn is_relro(out: &OutputSection, options: &Options, machine: &Facts) -> bool {
    if out.flags & (SHF_WRITE | SHF_ALLOC) != SHF_WRITE | SHF_ALLOC || machine.is_large(out.flags) {
        return false;
    }
    if out.is_tls() || matches!(out.kind, SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY) {
        return true;
    }
    match out.own {
        Some(ChunkKind::GotPlt) => options.dynamic.now,
        Some(ChunkKind::Dynamic) => !options.layout.rodynamic,
        Some(kind) => kind == ChunkKind::Got,
        None => RELRO_NAMES.contains(&&*out.name),
    }
}

/// Sections of inputs that nothing writes to after relocation, by name.
const RELRO_NAMES: [&[u8]; 9] = [
    b".data.rel.ro",
    b".bss.rel.ro",
    b".ctors",
    b".dtors",
    b".jcr",
    b".eh_frame",
    b".init_array",
    b".fini_array",
    b".preinit_array",
];
