//! The order of output sections: read-only data, code, data that becomes read-only, data.
//!
//! Sections with equal rights lie together, so that there are few segments; within the read-only
//! part what the loader reads comes first. Sections of one rank keep the order of first appearance.

use super::OutputSection;
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

/// Lower ranks come first.
pub fn rank(out: &OutputSection) -> u32 {
    if !out.is_alloc() {
        return NOT_ALLOC | non_alloc_rank(out);
    }
    let large = if out.flags & SHF_X86_64_LARGE != 0 { LARGE } else { 0 };
    let nobits = if out.is_nobits() { NOBITS } else { 0 };
    if out.flags & SHF_EXECINSTR != 0 {
        let rights = if out.flags & SHF_WRITE != 0 { EXEC_WRITE } else { EXEC };
        return large | rights | nobits | code_rank(&out.name);
    }
    if out.flags & SHF_WRITE != 0 {
        let tls = if out.is_tls() { 0 } else { NOT_TLS };
        let relro = if out.relro { 0 } else { NOT_RELRO };
        return large | WRITE | relro | tls | nobits;
    }
    let loader = match out.kind {
        _ if &*out.name == b".interp" => 0,
        SHT_NOTE => 1,
        SHT_PROGBITS => RODATA,
        _ => 2,
    };
    let eh_frame = match &*out.name {
        b".eh_frame_hdr" => 1,
        b".eh_frame" => 2,
        b".gcc_except_table" => 3,
        _ => 0,
    };
    large | nobits | loader | eh_frame
}

/// `.init` and `.fini` bracket the code as they do elsewhere; PLTs come last.
fn code_rank(name: &[u8]) -> u32 {
    match name {
        b".text" => 0,
        b".init" => 1,
        b".fini" => 2,
        b".plt" | b".plt.sec" | b".plt.got" => 3,
        _ => 0,
    }
}

fn non_alloc_rank(out: &OutputSection) -> u32 {
    match &*out.name {
        b".symtab" => 1,
        b".symtab_shndx" => 2,
        b".shstrtab" => 3,
        b".strtab" => 4,
        _ => 0,
    }
}

/// Whether the section may become read-only once the loader has relocated it.
pub fn is_relro(out: &OutputSection, options: &Options) -> bool {
    if out.flags & (SHF_WRITE | SHF_ALLOC) != SHF_WRITE | SHF_ALLOC || out.flags & SHF_X86_64_LARGE != 0 {
        return false;
    }
    if out.is_tls() || matches!(out.kind, SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY) {
        return true;
    }
    match &*out.name {
        b".got.plt" => options.z_now,
        b".dynamic" => !options.z_rodynamic,
        b".got" | b".data.rel.ro" | b".bss.rel.ro" | b".ctors" | b".dtors" | b".jcr" | b".eh_frame"
        | b".init_array" | b".fini_array" | b".preinit_array" => true,
        _ => false,
    }
}
