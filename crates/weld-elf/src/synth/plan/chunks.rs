//! The list of the linker's own sections, with sizes and places.

use super::Plan;
use crate::arch::x86_64::plt;
use crate::elf::*;
use crate::emit;
use crate::ids::*;
use crate::input::object::Object;
use crate::input::sections::Sections;
use crate::layout::ChunkKind;
use crate::layout::members::{ChunkSpec, Place};
use crate::link::Job;
use crate::options::BuildId;
use crate::synth::commons::{Block, Commons, IN_BSS, IN_LBSS, IN_TBSS};
use crate::synth::dynamic::Unplaced;
use crate::synth::{build_id, got};

/// Indices of the well-known output names that chunks join; see `input::sections`.
const BSS: u32 = 3;
const BSS_REL_RO: u32 = 5;
const TBSS: u32 = 10;
const LBSS: u32 = 35;

impl Plan<'_, '_> {
    /// The linker's own chunks with their sizes.
    pub(super) fn chunks(
        &self,
        job: &Job,
        (objects, sections): (&[Object], &Sections),
        commons: Commons,
    ) -> Vec<ChunkSpec> {
        let options = job.options;
        let mut list: Vec<ChunkSpec> = Vec::new();
        let mut named = |kind, size: u64, align, name, sh_type, flags, entsize| {
            if size > 0 {
                list.push(ChunkSpec {
                    kind,
                    size,
                    align,
                    place: Place::Named(name, sh_type, flags, entsize),
                });
            }
        };
        const A: u64 = SHF_ALLOC;
        const WA: u64 = SHF_ALLOC | SHF_WRITE;
        const XA: u64 = SHF_ALLOC | SHF_EXECINSTR;
        if self.facts.mode.interp {
            let size = options.dynamic.dynamic_linker.as_ref().map_or(0, |p| p.len() as u64 + 1);
            named(ChunkKind::Interp, size, 1, b".interp", SHT_PROGBITS, A, 0);
        }
        let properties = self.properties.as_ref().map_or(0, |p| p.size());
        named(ChunkKind::Properties, properties, 8, b".note.gnu.property", SHT_NOTE, A, 0);
        if options.notes.build_id != BuildId::None {
            named(
                ChunkKind::BuildId,
                build_id::size(&options.notes.build_id),
                4,
                b".note.gnu.build-id",
                SHT_NOTE,
                A,
                0,
            );
        }
        if let Some(text) = &options.notes.package_metadata {
            named(ChunkKind::PackageNote, emit::package_note_size(text), 4, b".note.package", SHT_NOTE, A, 0);
        }
        if let Some(d) = &self.dynsym {
            let count = d.count() as u64;
            named(
                ChunkKind::DynSym,
                count * Sym::SIZE as u64,
                8,
                b".dynsym",
                SHT_DYNSYM,
                A,
                Sym::SIZE as u64,
            );
            named(ChunkKind::VerSym, d.versym.len() as u64 * 2, 2, b".gnu.version", SHT_GNU_VERSYM, A, 2);
            let verdef = d.verdef.as_ref().map_or(0, |v| v.bytes.len() as u64);
            named(ChunkKind::VerDef, verdef, 4, b".gnu.version_d", SHT_GNU_VERDEF, A, 0);
            let verneed = d.verneed.as_ref().map_or(0, |v| v.bytes.len() as u64);
            named(ChunkKind::VerNeed, verneed, 4, b".gnu.version_r", SHT_GNU_VERNEED, A, 0);
            let gnu = d.gnu_hash.as_ref().map_or(0, |h| h.size());
            named(ChunkKind::GnuHash, gnu, 8, b".gnu.hash", SHT_GNU_HASH, A, 0);
            let sysv = d.sysv_hash.as_ref().map_or(0, |h| h.size());
            named(ChunkKind::SysvHash, sysv, 4, b".hash", SHT_HASH, A, 4);
            named(ChunkKind::DynStr, d.dynstr.size(), 1, b".dynstr", SHT_STRTAB, A, 0);
        }
        let rela = (self.counts.relative + self.counts.others) * Rela::SIZE as u64;
        named(ChunkKind::RelaDyn, rela, 8, b".rela.dyn", SHT_RELA, A, Rela::SIZE as u64);
        if self.counts.relr > 0 {
            // At least one word, two if there is any bitmap; layout finds out.
            named(ChunkKind::Relr, 8, 8, b".relr.dyn", SHT_RELR, A, 8);
        }
        let rela_plt = self.slots.plt.len() as u64 * Rela::SIZE as u64;
        named(ChunkKind::RelaPlt, rela_plt, 8, b".rela.plt", SHT_RELA, A, Rela::SIZE as u64);
        if self.eh_frames.size > 0 {
            if options.sections.eh_frame_hdr {
                let size = crate::eh_frame::hdr_size(self.eh_frames.fdes);
                named(ChunkKind::EhFrameHdr, size, 4, b".eh_frame_hdr", SHT_PROGBITS, A, 0);
            }
            named(ChunkKind::EhFrame, self.eh_frames.size, 8, b".eh_frame", SHT_PROGBITS, A, 0);
        }
        if !self.slots.plt.is_empty() {
            let ibt = self.ibt_plt;
            named(ChunkKind::Plt, plt::plt_size(&self.slots, ibt), 16, b".plt", SHT_PROGBITS, XA, 0);
            named(
                ChunkKind::PltSec,
                plt::plt_sec_size(&self.slots, ibt),
                16,
                b".plt.sec",
                SHT_PROGBITS,
                XA,
                0,
            );
        }
        if let Some(d) = &self.dynsym {
            let count = self
                .dynamic_plan(job, d)
                .entries(&Unplaced { sections: &self.array_names(objects, sections) })
                .len();
            let flags = if options.layout.rodynamic { A } else { WA };
            named(
                ChunkKind::Dynamic,
                (count * Dyn::SIZE) as u64,
                8,
                b".dynamic",
                SHT_DYNAMIC,
                flags,
                Dyn::SIZE as u64,
            );
        }
        named(ChunkKind::Got, got::size(&self.slots), 8, b".got", SHT_PROGBITS, WA, 8);
        if !self.slots.plt.is_empty() || self.got_base {
            named(ChunkKind::GotPlt, plt::got_plt_size(&self.slots), 8, b".got.plt", SHT_PROGBITS, WA, 8);
        }
        if options.layout.sectionheader {
            self.tables(&mut named);
        }
        self.joined(commons, &mut list);
        list
    }

    #[allow(clippy::type_complexity)]
    fn tables(&self, named: &mut dyn FnMut(ChunkKind, u64, u64, &'static [u8], u32, u64, u64)) {
        if let Some(s) = &self.symtab {
            let size = s.count * Sym::SIZE as u64;
            named(ChunkKind::SymTab, size, 8, b".symtab", SHT_SYMTAB, 0, Sym::SIZE as u64);
            if s.extended {
                named(ChunkKind::SymTabShndx, s.count * 4, 4, b".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 4);
            }
            named(ChunkKind::StrTab, s.strings, 1, b".strtab", SHT_STRTAB, 0, 0);
        }
        // Sized when the names of all sections are known.
        named(ChunkKind::ShStrTab, 1, 1, b".shstrtab", SHT_STRTAB, 0, 0);
    }

    /// Chunks that lie among input sections.
    fn joined(&self, commons: Commons, list: &mut Vec<ChunkSpec>) {
        for (i, part) in self.merged.iter().enumerate() {
            let (size, align) = (part.merged.size(), part.merged.align());
            list.push(ChunkSpec {
                kind: ChunkKind::Merged(i as u32),
                size,
                align,
                place: Place::Joined(part.out),
            });
        }
        let mut block = |kind, block: Block, out| {
            if block.size > 0 {
                list.push(ChunkSpec {
                    kind,
                    size: block.size,
                    align: block.align,
                    place: Place::Joined(out),
                });
            }
        };
        block(ChunkKind::CopyRelro, self.copies.relro, BSS_REL_RO);
        block(ChunkKind::CopyBss, self.copies.bss, BSS);
        for (kind, out) in [(IN_BSS, BSS), (IN_TBSS, TBSS), (IN_LBSS, LBSS)] {
            block(ChunkKind::Common(kind), commons[kind as usize], out);
        }
    }

    /// Which of the arrays that `.dynamic` names will exist.
    fn array_names(&self, objects: &[Object], sections: &Sections) -> Vec<&'static [u8]> {
        let names: [&'static [u8]; 3] = [b".preinit_array", b".init_array", b".fini_array"];
        let index = |name: &[u8]| sections.names.iter().position(|n| *n == name).unwrap_or(usize::MAX) as u32;
        let wanted = names.map(index);
        let mut found = [false; 3];
        for (object, extra) in objects.iter().zip(&sections.objects) {
            let missing = |out: u32| wanted.iter().position(|w| *w == out).filter(|k| !found[*k]);
            if !extra.uses.iter().any(|u| missing(u.out).is_some()) {
                continue;
            }
            let base = object.section_base as usize;
            for (i, section) in sections.list[base..base + object.shdrs.len()].iter().enumerate() {
                if let Some(k) = wanted.iter().position(|w| *w == section.out())
                    && section.in_image()
                    && self.live.contains(SectionId((base + i) as u32))
                {
                    found[k] = true;
                }
            }
        }
        names.into_iter().zip(found).filter(|(_, f)| *f).map(|(n, _)| n).collect()
    }
}
