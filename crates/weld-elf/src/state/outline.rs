//! What of an object counts for more in a link than the bytes of its own sections: an object that has changed, and is
//! the same in this, changes nothing but the bytes of sections that are copied from it.
//!
//! There are three digests of it. *Shape*: section headers, but for where their bytes are, and the symbol table with
//! all names; so definitions, mentions, groups, sizes and the table of symbols are as they were. *Contents*: sections
//! that are read and not copied, with what relocates them: frames, merged strings, notes, groups, what compilers tell
//! linkers. *Needs*: of relocations in memory, all that the scan looks at ([`crate::live::scan`]); so GOT, PLT, dynamic
//! relocations and what gc keeps are as they were. Where in a function a call or a distance stands does not
//! count, nor do the bytes around it; of instructions that may be rewritten, those that the rules look at do.
//!
//! What loses with its COMDAT group, or is dead code, has its shape only. The digest is taken over the tables of a link,
//! or over those of one object alone ([`super::again`]), which have the same to say of it.

use weld_common::digest::UnitDigest;

use super::rows::OutlineRow;
use crate::arch::class::Class;
use crate::arch::rules::{Looks, Rules};
use crate::arch::{Machine, Visitor};
use crate::compressed::Compressed;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::sections::{SectionKind, is_array, is_sframe};
use crate::synth::image::Image;

/// Bytes of an ELF header up to the entry point: class, order, system, type, machine.
const IDENT: usize = 24;

/// How far the rules of a machine look, if that is known.
pub fn looks(machine: Machine) -> Option<Looks> {
    struct Ask;
    impl Visitor for Ask {
        type Output = Option<Looks>;
        fn visit<R: Rules>(self) -> Option<Looks> {
            R::LOOKS
        }
    }
    machine.visit(Ask)
}

/// The digests of an object.
pub fn outline(image: &Image, object: ObjectId) -> OutlineRow {
    // Where it is not known, nobody relinks.
    let looks = looks(image.mode.machine).unwrap_or(Looks { slot: (0, 0), call: (0, 0) });
    let one = One { image, object: &image.resolved.objects[object.index()], id: object, looks };
    OutlineRow { shape: one.shape(), contents: one.contents(), needs: one.needs() }
}

fn short(digest: UnitDigest) -> u128 {
    digest.bytes().first_chunk().map_or(0, |first| u128::from_le_bytes(*first))
}

/// The digest of what has these parts.
fn joined(parts: &[UnitDigest]) -> u128 {
    short(UnitDigest::join(parts))
}

struct One<'o, 'i, 'a> {
    image: &'o Image<'i, 'a>,
    object: &'o Object<'a>,
    id: ObjectId,
    looks: Looks,
}

impl<'a> One<'_, '_, 'a> {
    /// What becomes of a section, if it is in the image.
    fn kept(&self, index: u32) -> Option<SectionKind> {
        let id = SectionId(self.object.section_base + index);
        let section = self.image.sections.get(id);
        (section.in_image() && self.image.live.contains(id)).then(|| section.kind())
    }

    fn data(&self, index: u32) -> &'a [u8] {
        self.object.section_data(index as usize).unwrap_or(&[])
    }

    fn shape(&self) -> u128 {
        let object = self.object;
        let mut headers: Vec<u64> = Vec::with_capacity(object.shdrs.len() * 5);
        for (index, shdr) in (0..).zip(object.shdrs) {
            let kind = shdr.sh_type();
            let (mut size, mut align) = (shdr.sh_size(), shdr.sh_addralign());
            if shdr.sh_flags() & SHF_COMPRESSED != 0
                && let Ok(packed) = Compressed::parse(self.data(index), object.format())
            {
                (size, align) = (packed.uncompressed_size(), packed.align());
            }
            // Of relocations, what they ask for counts, of tables their contents.
            if matches!(kind, SHT_RELA | SHT_REL | SHT_CREL | SHT_SYMTAB | SHT_STRTAB | SHT_SYMTAB_SHNDX) {
                size = 0;
            }
            let name_and_kind = u64::from(shdr.sh_name()) << 32 | u64::from(kind);
            let links = u64::from(shdr.sh_link()) << 32 | u64::from(shdr.sh_info());
            headers.extend([name_and_kind, shdr.sh_flags(), links, size, align ^ shdr.sh_entsize() << 32]);
        }
        let tables = [object.section_names, object.strtab, self.data(object.symtab)];
        let mut parts: Vec<UnitDigest> = tables.into_iter().map(UnitDigest::of).collect();
        parts.push(of_words(&headers));
        let others = (0..).zip(object.shdrs).filter(|(_, shdr)| shdr.sh_type() == SHT_SYMTAB_SHNDX);
        parts.extend(others.map(|(index, _)| UnitDigest::of(self.data(index))));
        // What the file says of itself: machine, system, flags.
        parts.push(UnitDigest::of(object.data.get(..IDENT).unwrap_or_default()));
        parts.push(UnitDigest::of(&object.flags.to_le_bytes()));
        joined(&parts)
    }

    /// Whether the bytes of a section are read for something else than to be copied.
    fn is_read(&self, index: u32, shdr: &Shdr) -> bool {
        let kind = shdr.sh_type();
        let name = self.object.section_name(index as usize).unwrap_or_default();
        match self.kept(index) {
            Some(SectionKind::Merge | SectionKind::EhFrame | SectionKind::Folded | SectionKind::Shrunk) => {
                true
            }
            // Whether it is merged may depend on what is in it.
            Some(_) => shdr.sh_flags() & SHF_MERGE != 0,
            None if matches!(kind, SHT_SYMTAB | SHT_STRTAB | SHT_SYMTAB_SHNDX | SHT_NOBITS | SHT_NULL) => {
                false
            }
            // They are read with what they relocate.
            None if matches!(kind, SHT_RELA | SHT_REL | SHT_CREL) => false,
            None if is_sframe(name, shdr) => true,
            // Losers of groups, dead code and data, and debug information that is left out.
            None if shdr.sh_flags() & SHF_GROUP != 0 => false,
            None if kind == SHT_PROGBITS => shdr.sh_flags() & SHF_ALLOC == 0 && !name.starts_with(b".debug_"),
            None => !is_array(kind),
        }
    }

    fn contents(&self) -> u128 {
        let mut parts = Vec::new();
        let is_read: Vec<bool> =
            (0..).zip(self.object.shdrs).map(|(index, shdr)| self.is_read(index, shdr)).collect();
        for (index, shdr) in (0..).zip(self.object.shdrs) {
            let relocates = matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL);
            let target = shdr.sh_info() as usize;
            if is_read[index as usize] || relocates && is_read.get(target) == Some(&true) {
                parts.push(UnitDigest::of(self.data(index)));
            }
        }
        joined(&parts)
    }

    fn needs(&self) -> u128 {
        let mut words: Vec<u64> = Vec::new();
        for (index, shdr) in (0..).zip(self.object.shdrs) {
            if shdr.sh_flags() & SHF_ALLOC == 0 || self.kept(index).is_none() {
                continue;
            }
            let section = self.image.sections.get(SectionId(self.object.section_base + index));
            let relocs = self.image.sections.relocs(self.object, self.id.index(), section);
            words.push(u64::from(index) << 32 | relocs.len() as u64);
            let code = shdr.sh_flags() & SHF_EXECINSTR != 0;
            self.needs_of(relocs, code.then(|| self.data(index)), &mut words);
        }
        short(of_words(&words))
    }

    /// `code`: the bytes, if they are instructions.
    fn needs_of(&self, relocs: &[Rela], code: Option<&[u8]>, words: &mut Vec<u64>) {
        let facts = self.image.mode.machine.facts();
        // Which branches take thunks depends on where they stand.
        let places = facts.branches.is_some() && !self.image.thunks.is_empty();
        for (i, reloc) in relocs.iter().enumerate() {
            words.push(u64::from(reloc.kind()) << 32 | u64::from(reloc.sym()));
            let near = match (facts.class(reloc.kind()), code) {
                (Class::Pc | Class::Plt | Class::Low | Class::None | Class::TlsMark, Some(_)) if !places => {
                    continue;
                }
                (Class::TpOff | Class::DtpOff | Class::GotOff | Class::GotBase, Some(_)) if !places => {
                    continue;
                }
                (Class::TlsGd | Class::TlsLd, Some(code)) => Some((code, self.looks.call)),
                (
                    Class::Got | Class::GotRelax | Class::GotTp | Class::TlsDesc | Class::TlsDescCall,
                    Some(code),
                ) => Some((code, self.looks.slot)),
                _ => None,
            };
            words.push(reloc.r_addend().cast_unsigned());
            let Some((code, near)) = near.filter(|_| !places) else {
                words.push(reloc.r_offset());
                continue;
            };
            if matches!(facts.class(reloc.kind()), Class::TlsGd | Class::TlsLd) {
                // How far the call is that belongs to it.
                let next = relocs.get(i + 1).map_or(0, |next| next.r_offset().wrapping_sub(reloc.r_offset()));
                words.push(next);
            }
            let at = usize::try_from(reloc.r_offset()).unwrap_or(usize::MAX).min(code.len());
            let around = &code[at.saturating_sub(near.0)..code.len().min(at.saturating_add(near.1))];
            words.push(short(UnitDigest::of(around)) as u64);
        }
    }
}

fn of_words(words: &[u64]) -> UnitDigest {
    let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
    UnitDigest::of(bytes.as_flattened())
}
