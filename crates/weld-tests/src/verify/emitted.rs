//! Relocations that `--emit-relocs` keeps: they name their section, lie in it, and computed anew from
//! the output's own symbol table give the bytes that are there.

use super::Problems;
use super::relocatable::prefix_of_relocs;
use crate::elf::Image;
use crate::elf::image::{Reloc, Section, Symbol};
use crate::elf::machine::Machine;
use crate::elf::query::reloc_name;
use object::elf;

pub fn verify(image: &Image, p: &mut Problems) -> Result<(), String> {
    let symtab = image.sections.iter().position(|s| s.sh_type == elf::SHT_SYMTAB.0);
    for (i, s) in image.sections.iter().enumerate() {
        let Some(prefix) = prefix_of_relocs(s.sh_type).filter(|_| !s.is_alloc()) else { continue };
        p.check(Some(s.link as usize) == symtab, || format!("{}: sh_link is not .symtab", s.name));
        let Some(target) = image.sections.get(s.info as usize).filter(|_| s.info != 0) else {
            p.add(format!("{}: sh_info {}", s.name, s.info));
            continue;
        };
        p.check(s.name == format!("{prefix}{}", target.name), || {
            format!("{} relocates {}", s.name, target.name)
        });
        for reloc in image.relocs.iter().filter(|r| r.section == i) {
            // Addends that lay in the bytes are gone.
            one(image, target, reloc, s.sh_type == elf::SHT_RELA.0, p)?;
        }
    }
    Ok(())
}

fn one(
    image: &Image,
    target: &Section,
    reloc: &Reloc,
    has_addend: bool,
    p: &mut Problems,
) -> Result<(), String> {
    let at = reloc.offset.wrapping_sub(target.addr);
    let name = || format!("{} at {:#x} of {}", reloc_name(image, reloc.r_type), reloc.offset, target.name);
    if at >= target.size && target.flags & elf::SHF_COMPRESSED.0 == 0 {
        p.add(format!("{} is outside the section", name()));
        return Ok(());
    }
    let Some(symbol) = image.symbols.get(reloc.symbol as usize) else {
        p.add(format!("{}: symbol {}", name(), reloc.symbol));
        return Ok(());
    };
    let Some((width, relative)) = known_word(image, target, reloc, symbol).filter(|_| has_addend) else {
        return Ok(());
    };
    let bytes = image.contents(target)?;
    let Some(found) = bytes.get(at as usize..at as usize + width) else {
        p.add(format!("{} is outside the section", name()));
        return Ok(());
    };
    let mut value = symbol.value.wrapping_add(reloc.addend as u64);
    if relative {
        value = value.wrapping_sub(reloc.offset);
    }
    p.check(found == image.form.bytes(value, width), || {
        format!("{}: {found:02x?} is not {} {:+}", name(), symbol.name, reloc.addend)
    });
    Ok(())
}

/// The number of bytes that the relocation must have written, and whether they count from their place; `None`
/// where the symbol table alone does not say what they are.
fn known_word(image: &Image, target: &Section, reloc: &Reloc, symbol: &Symbol) -> Option<(usize, bool)> {
    let shared = image.e_type == elf::ET_DYN.0;
    let special = [elf::STT_TLS.0, elf::STT_GNU_IFUNC.0];
    let tls = image.sections.get(symbol.shndx as usize).is_some_and(|s| s.is_tls());
    let compressed = target.flags & elf::SHF_COMPRESSED.0 != 0;
    // Calls of __tls_get_addr go away where the access is relaxed.
    let call = symbol.name == "__tls_get_addr";
    if compressed || tls || call || symbol.shndx == 0 || special.contains(&symbol.kind) || target.is_nobits()
    {
        return None;
    }
    let machine = Machine::of(image);
    let name = machine.short_name(image, reloc.r_type);
    if name == machine.address && shared && target.is_alloc() {
        // In memory it may be left to the loader.
        return None;
    }
    if machine.is_call(&name) && shared && symbol.bind != elf::STB_LOCAL.0 {
        return None;
    }
    machine.word(&name)
}
