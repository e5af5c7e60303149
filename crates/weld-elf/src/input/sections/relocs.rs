//! Relocation sections: checked, decoded if they are compact, and tied to what they relocate.
//!
//! Specification: gABI chapter 4 ("Relocation"), psABI ("Relocation": x86-64 has addends only).

use super::parse::Parser;
use super::{SectionKind, is_table};
use crate::elf::*;

impl Parser<'_, '_> {
    /// Ties relocation sections of the slice to what they relocate.
    pub(super) fn attach_relocs(&mut self) {
        for shndx in self.range() {
            let shdr = &self.object.shdrs[shndx];
            if !matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL) {
                continue;
            }
            let target = shdr.sh_info() as usize;
            if target == 0 || target >= self.object.shdrs.len() {
                self.error(shndx, "relocates a section that does not exist");
            } else if self.range().contains(&target) {
                self.attach(shndx, target);
            } else {
                self.found.distant.push(shndx as u32);
            }
        }
    }

    /// Ties those to what they relocate that had to wait for the slots of the whole object.
    pub(super) fn attach_distant_relocs(&mut self) {
        let distant = std::mem::take(&mut self.found.distant);
        for &shndx in &distant {
            let target = self.object.shdrs[shndx as usize].sh_info();
            self.attach(shndx as usize, target as usize);
        }
        if !distant.is_empty() {
            self.found.extra.crels.sort_unstable_by_key(|crel| crel.0);
        }
    }

    fn attach(&mut self, relocs: usize, target: usize) {
        let slot = target - self.first;
        if !self.slots[slot].in_image() {
            let kind = self.object.shdrs[target].sh_type();
            if self.slots[slot].kind() == SectionKind::Dropped && is_table(kind) {
                let what = self.object.section_label(target);
                self.error(
                    relocs,
                    &format!("relocates {what} (section {target}, sh_info), which holds no code or data"),
                );
            }
            return;
        }
        let count = match self.check_relocs(relocs) {
            Ok(count) => count,
            Err(message) => return self.error(relocs, &message),
        };
        if self.slots[slot].relocs != 0 {
            self.error(target, "has more than one relocation section");
        }
        self.slots[slot].relocs = relocs as u32;
        if count == 0 {
            return;
        }
        match self.slots[slot].kind() {
            // Equal bytes may become different ones, so such a section is copied as it is.
            SectionKind::Merge => {
                let compressed = self.object.shdrs[target].sh_flags() & SHF_COMPRESSED != 0;
                let kind = if compressed { SectionKind::Compressed } else { SectionKind::Regular };
                self.slots[slot].set_kind(kind);
            }
            SectionKind::NoBits => self.error(target, "has relocations, but no bytes to relocate"),
            _ => {}
        }
    }

    /// Returns how many there are.
    fn check_relocs(&mut self, index: usize) -> Result<usize, String> {
        let shdr = &self.object.shdrs[index];
        if shdr.sh_link() != self.object.symtab {
            return Err(format!(
                "is linked to section {} (sh_link), which is not the symbol table",
                shdr.sh_link()
            ));
        }
        match shdr.sh_type() {
            SHT_RELA if !matches!(shdr.sh_entsize() as usize, 0 | Rela::SIZE) => {
                Err(format!("has a bad sh_entsize: {}", shdr.sh_entsize()))
            }
            SHT_RELA => {
                let count = shdr.sh_size() / Rela::SIZE as u64;
                if !shdr.sh_size().is_multiple_of(Rela::SIZE as u64) {
                    return Err(format!("has a size that is not a multiple of {}", Rela::SIZE));
                }
                let relocs = table::<Rela>(self.object.data, shdr.sh_offset(), count);
                Ok(relocs.ok_or("lies outside its file")?.len())
            }
            SHT_CREL => {
                let bytes = self.object.section_data(index).ok_or("lies outside its file")?;
                let relocs = crate::crel::Crel::parse(bytes).map_err(|e| e.to_string())?;
                let mut list = Vec::with_capacity(relocs.count());
                for r in relocs.entries() {
                    let r = r.map_err(|e| e.to_string())?;
                    list.push(Rela::make(r.offset, r.symbol, r.kind, r.addend));
                }
                let count = list.len();
                self.found.extra.crels.push((index as u32, list));
                Ok(count)
            }
            _ => Err("has relocations without addends (SHT_REL), which x86-64 does not use".into()),
        }
    }

    /// The relocations of section `shndx`, once all are tied to what they relocate.
    pub(super) fn relocs_of(&self, shndx: usize) -> &[Rela] {
        let relocs = self.slots[shndx].relocs;
        if relocs == 0 {
            return &[];
        }
        let shdr = &self.object.shdrs[relocs as usize];
        if shdr.sh_type() == SHT_CREL {
            let crels = &self.found.extra.crels;
            return crels.binary_search_by_key(&relocs, |c| c.0).map_or(&[], |i| &crels[i].1);
        }
        table(self.object.data, shdr.sh_offset(), shdr.sh_size() / Rela::SIZE as u64).unwrap_or(&[])
    }
}
