//! `.symtab`: order, indices, and definitions that lie where their section is.

use super::Problems;
use crate::elf::Image;
use crate::elf::image::{Section, Symbol};
use object::elf;

pub fn symtab(image: &Image, p: &mut Problems) {
    for (table, symbols) in [(elf::SHT_SYMTAB.0, &image.symbols), (elf::SHT_DYNSYM.0, &image.dynsyms)] {
        let Some(section) = image.section_of_type(table) else { continue };
        let first_global = symbols.iter().skip(1).position(|s| s.bind != elf::STB_LOCAL.0);
        let first_global = first_global.map_or(symbols.len(), |i| i + 1);
        p.check(section.info as usize == first_global, || {
            format!("{}: sh_info is {}, the first global is {first_global}", section.name, section.info)
        });
        let late = symbols.iter().skip(first_global).find(|s| s.bind == elf::STB_LOCAL.0);
        p.check(late.is_none(), || format!("{}: local symbols behind global ones", section.name));
        for s in symbols.iter().skip(1) {
            one(image, s, p);
        }
    }
}

fn one(image: &Image, s: &Symbol, p: &mut Problems) {
    if s.shndx == 0 || s.shndx == u32::from(elf::SHN_ABS.0) || s.shndx == u32::from(elf::SHN_COMMON.0) {
        return;
    }
    let Some(section) = image.sections.get(s.shndx as usize) else {
        p.add(format!("symbol {}: section index {}", s.name, s.shndx));
        return;
    };
    let start = match base(image, s, section) {
        Ok(start) => start,
        Err(e) => return p.add(format!("symbol {}: {e}", s.name)),
    };
    if image.e_type != elf::ET_REL.0 && !section.is_alloc() {
        return;
    }
    // Linker-defined symbols such as _end stand after the last byte; ends of pages round up.
    let bounds = [elf::STT_OBJECT.0, elf::STT_FUNC.0, elf::STT_TLS.0, elf::STT_GNU_IFUNC.0];
    if bounds.contains(&s.kind) {
        // The low bit of ARM's functions says in which instruction set they are.
        let is_code = matches!(s.kind, kind if kind == elf::STT_FUNC.0 || kind == elf::STT_GNU_IFUNC.0);
        let set = if image.machine == elf::EM_ARM.0 && is_code { s.value & 1 } else { 0 };
        let at = (s.value - set).wrapping_sub(start);
        // The thread pointer of an executable is the template's end, rounded up to its alignment.
        let is_base = s.kind == elf::STT_TLS.0 && s.name == "_TLS_MODULE_BASE_";
        let tls = image.segment(elf::PT_TLS.0).filter(|_| is_base);
        let size = tls.map_or(section.size, |tls| {
            (start + section.size).next_multiple_of(tls.align.max(1)).wrapping_sub(start)
        });
        // The size of a descriptor's symbol is that of its code.
        let own = if is_code && image.has_descriptors(section) { 0 } else { s.size };
        p.check(at <= size && at.saturating_add(own) <= size, || {
            format!("symbol {} ({:#x}, size {}) is outside {}", s.name, s.value, s.size, section.name)
        });
    }
    let tls = s.kind == elf::STT_TLS.0;
    p.check(!tls || section.is_tls(), || format!("TLS symbol {} in {}", s.name, section.name));
}

/// The value that the first byte of `section` would have in `s`'s numbering.
fn base(image: &Image, s: &Symbol, section: &Section) -> Result<u64, String> {
    if image.e_type == elf::ET_REL.0 {
        return Ok(0);
    }
    if s.kind != elf::STT_TLS.0 {
        return Ok(section.addr);
    }
    let tls = image.segment(elf::PT_TLS.0).ok_or("a TLS symbol without PT_TLS")?;
    Ok(section.addr.wrapping_sub(tls.vaddr))
}
