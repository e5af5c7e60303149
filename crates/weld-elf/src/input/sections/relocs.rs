//! Relocation sections: checked, decoded if they are compact, and tied to what they relocate.
//!
//! Specification: gABI chapter 4 ("Relocation"), psABI ("Relocation": x86-64 has addends only).

use super::SectionKind;
use super::parse::Parser;
use crate::elf::*;

impl Parser<'_, '_> {
    /// Ties relocation sections to what they relocate.
    pub(super) fn attach_relocs(&mut self) {
        for (i, shdr) in self.object.shdrs.iter().enumerate() {
            let kind = shdr.sh_type();
            if !matches!(kind, SHT_RELA | SHT_REL | SHT_CREL) {
                continue;
            }
            let target = shdr.sh_info() as usize;
            if target == 0 || target >= self.slots.len() {
                self.error(i, "relocates a section that does not exist");
                continue;
            }
            if !self.slots[target].in_image() {
                continue;
            }
            if let Err(message) = self.check_relocs(i, shdr) {
                self.error(i, &message);
                continue;
            }
            if self.slots[target].relocs != 0 {
                self.error(target, "has more than one relocation section");
            }
            self.slots[target].relocs = i as u32;
            if !self.relocs_of(target).is_empty() {
                match self.slots[target].kind() {
                    // Equal bytes may become different ones, so such a section is copied as it is.
                    SectionKind::Merge => self.do_not_merge(target),
                    SectionKind::NoBits => self.error(target, "has relocations, but no bytes to relocate"),
                    _ => {}
                }
            }
        }
    }

    fn do_not_merge(&mut self, shndx: usize) {
        let compressed = self.object.shdrs[shndx].sh_flags() & SHF_COMPRESSED != 0;
        let kind = if compressed { SectionKind::Compressed } else { SectionKind::Regular };
        self.slots[shndx].set_kind(kind);
    }

    fn check_relocs(&mut self, index: usize, shdr: &Shdr) -> Result<(), String> {
        match shdr.sh_type() {
            SHT_RELA => {
                let count = shdr.sh_size() / Rela::SIZE as u64;
                if !shdr.sh_size().is_multiple_of(Rela::SIZE as u64) {
                    return Err(format!("has a size that is not a multiple of {}", Rela::SIZE));
                }
                table::<Rela>(self.object.data, shdr.sh_offset(), count).ok_or("lies outside its file")?;
                Ok(())
            }
            SHT_CREL => {
                let bytes = self.object.section_data(index).ok_or("lies outside its file")?;
                let relocs = crate::crel::Crel::parse(bytes).map_err(|e| e.to_string())?;
                let mut list = Vec::with_capacity(relocs.count());
                for r in relocs.entries() {
                    let r = r.map_err(|e| e.to_string())?;
                    list.push(Rela::make(r.offset, r.symbol, r.kind, r.addend));
                }
                self.extra.crels.push((index as u32, list));
                Ok(())
            }
            _ => Err("has relocations without addends (SHT_REL), which x86-64 does not use".into()),
        }
    }

    pub(super) fn relocs_of(&self, shndx: usize) -> &[Rela] {
        let relocs = self.slots[shndx].relocs;
        if relocs == 0 {
            return &[];
        }
        let shdr = &self.object.shdrs[relocs as usize];
        if shdr.sh_type() == SHT_CREL {
            // They were added in the order of the section headers.
            let crels = &self.extra.crels;
            return crels.binary_search_by_key(&relocs, |c| c.0).map_or(&[], |i| &crels[i].1);
        }
        table(self.object.data, shdr.sh_offset(), shdr.sh_size() / Rela::SIZE as u64).unwrap_or(&[])
    }
}
