//! The tables of a joined object, what its sections say of each other, and their offsets in the file.

use std::borrow::Cow;

use super::{NONE, Outs, What, new_out};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::relocatable::symtab::SymTab;
use crate::util::align_up;

/// File offsets are aligned as sections ask for, up to this; more would only make the file larger.
const MAX_FILE_ALIGN: u64 = 4096;

impl<'a> Outs<'a> {
    /// Adds the symbol tables, fills in what refers to other sections, and assigns file offsets.
    pub fn finish(&mut self, objects: &[Object<'a>], symtab: &SymTab) -> Result<(), String> {
        let format = self.format;
        let mut table = |name: &'static [u8], kind, what, (align, entsize), size| {
            let mut out = new_out(Cow::Borrowed(name), kind, what);
            (out.align, out.entsize, out.size) = (align, entsize, size);
            self.list.push(out);
            self.list.len() as u32
        };
        let size = symtab.count * format.size::<Sym>();
        let symbols =
            table(b".symtab", SHT_SYMTAB, What::SymTab, (format.word(), format.size::<Sym>()), size);
        if self.extended {
            let size = symtab.count * 4;
            table(b".symtab_shndx", SHT_SYMTAB_SHNDX, What::SymTabShndx, (4, 4), size);
        }
        let strings = table(b".strtab", SHT_STRTAB, What::StrTab, (1, 0), symtab.strings);
        table(b".shstrtab", SHT_STRTAB, What::ShStrTab, (1, 0), 0);
        self.link(objects, symtab, (symbols, strings))?;
        self.name_sections()?;
        self.place()
    }

    fn link(
        &mut self,
        objects: &[Object<'a>],
        symtab: &SymTab,
        (symbols, strings): (u32, u32),
    ) -> Result<(), String> {
        for i in 0..self.list.len() {
            let (link, info, size) = match &self.list[i].what {
                What::Relocs(_) => (symbols, self.list[i].info, self.list[i].size),
                What::Group(number, shndx) => {
                    let object = &objects[number.index()];
                    let sym = object.shdrs[*shndx as usize].sh_info();
                    let signature = symtab.index((*number, object), sym, self);
                    if signature == 0 {
                        return Err(format!("{}: section group {shndx} has no signature", object.name));
                    }
                    (symbols, signature, self.group_words(object, *shndx).len() as u64 * 4)
                }
                What::SymTab => (strings, symtab.first_global, self.list[i].size),
                What::SymTabShndx => (symbols, 0, self.list[i].size),
                What::Inputs(range) => {
                    let first = self.members.get(range.start as usize).filter(|_| !range.is_empty());
                    (first.map_or(0, |id| self.input_link(objects, *id, symbols)), 0, self.list[i].size)
                }
                _ => continue,
            };
            let out = &mut self.list[i];
            (out.link, out.info, out.size) = (link, info, size);
        }
        Ok(())
    }

    /// The output's `sh_link` for an input section: its leader, or the symbol table.
    fn input_link(&self, objects: &[Object], id: SectionId, symbols: u32) -> u32 {
        let object = &objects[objects.partition_point(|o| o.section_base <= id.0) - 1];
        let shdr = &object.shdrs[(id.0 - object.section_base) as usize];
        let Some(target) = object.shdrs.get(shdr.sh_link() as usize) else { return 0 };
        if shdr.sh_flags() & SHF_LINK_ORDER == 0 {
            return if target.sh_type() == SHT_SYMTAB { symbols } else { 0 };
        }
        match self.of_section[(object.section_base + shdr.sh_link()) as usize] {
            NONE => 0,
            out => out + 1,
        }
    }

    /// The words of a group: its flags, then header indices of members and their relocations.
    pub fn group_words(&self, object: &Object, shndx: u32) -> Vec<u32> {
        let words = object.group_words(shndx).unwrap_or_default();
        let mut list = vec![words.get(0).unwrap_or(0)];
        for word in words.members() {
            let index = object.section_base as usize + word as usize;
            let own = (word as usize) < object.shdrs.len();
            let Some(&out) = self.of_section.get(index).filter(|o| own && self.contents.contains(o)) else {
                continue;
            };
            list.push(out + 1);
            let relocs = self.list[out as usize].relocs;
            if relocs != NONE {
                list.push(relocs + 1);
            }
        }
        list
    }

    fn name_sections(&mut self) -> Result<(), String> {
        // `.text` is the end of `.rela.text`.
        let mut offsets = vec![0; self.list.len()];
        for (i, out) in self.list.iter().enumerate() {
            if let What::Relocs(target) = out.what {
                offsets[i] = self.names.add(&out.name);
                offsets[target as usize] = offsets[i] + b".rela".len() as u32;
            }
        }
        for (i, out) in self.list.iter().enumerate() {
            if offsets[i] == 0 {
                offsets[i] = self.names.add(&out.name);
            }
        }
        if self.names.too_large() {
            return Err(".shstrtab is larger than 4 GiB".into());
        }
        let size = self.names.size();
        self.list.iter_mut().filter(|o| matches!(o.what, What::ShStrTab)).for_each(|o| o.size = size);
        self.name_offsets = offsets;
        Ok(())
    }

    fn place(&mut self) -> Result<(), String> {
        let mut end = self.format.size::<Ehdr>();
        for out in &mut self.list {
            out.offset = align_up(end, out.align.min(MAX_FILE_ALIGN));
            let next = out.offset.checked_add(out.file_size()).filter(|e| *e < 1 << 62);
            end = next.ok_or_else(|| {
                format!("section {} does not fit into a file", String::from_utf8_lossy(&out.name))
            })?;
        }
        self.section_headers = align_up(end, self.format.word());
        self.file_size = self.section_headers + (self.list.len() as u64 + 1) * self.format.size::<Shdr>();
        Ok(())
    }

    /// Header index of the section with the section names.
    pub fn names_index(&self) -> u32 {
        self.list.len() as u32
    }
}
