//! Which sections stay, and what their relocations need.
//!
//! One visit a section does both: it scans the section's relocations once, records what each
//! symbol needs (GOT slot, PLT entry, dynamic relocation, …) and, under `--gc-sections`, marks the
//! sections referred to, in a walk from the roots (`weld_common::walk`). Without gc every section is visited
//! in a flat loop.
//!
//! The marks and needs are sets, so timing cannot show in them; lists are sorted at the end.

pub mod dyn_relocs;
pub mod folds;
pub mod reloc_scan;
pub mod roots;

use std::sync::atomic::{AtomicBool, Ordering};

use weld_common::diag::DiagSink;
use weld_common::prefetch::prefetch;
use weld_common::walk::{self, Marks, Visitor};
use weld_common::{par, sort, trace};

use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::mode::Mode;
use crate::options::{Options, Strip};
use crate::sections::{SectionKind, Sections, descriptors};
use crate::symbols::tagged::Tagged;
use crate::symbols::{Symbols, symbol_flags};
use dyn_relocs::{DynReloc, DynRelocs};
use folds::Folds;
use reloc_scan::Scan;

/// A local symbol that needs GOT slots or a PLT entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalNeed {
    pub object: ObjectId,
    pub sym: u32,
    /// `symbol_flags::NEEDS_*` bits.
    pub needs: u32,
}

/// A relocation, by its section and its index, that asks for a word of the GOT by what that holds: the symbol's
/// address, or its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalSlot {
    pub section: SectionId,
    pub reloc: u32,
    pub page: bool,
}

/// Whether a slot for a symbol with these flags is found by what it holds where loaders add to all such words
/// where the image is.
pub fn is_local_slot(mode: &Mode, flags: u32) -> bool {
    let fixed = matches!(flags & symbol_flags::KIND, symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED);
    flags & symbol_flags::PREEMPTIBLE == 0 && !(mode.pic && fixed)
}

/// A reference to a symbol that nothing defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndefinedRef {
    pub object: ObjectId,
    pub shndx: u32,
    /// Index of the relocation.
    pub reloc: u32,
    pub symbol: SymbolId,
}

/// Facts about the whole output; bits of [`Live::facts`].
pub mod fact {
    /// Something is addressed relative to the GOT.
    pub const GOT_BASE: u32 = 1;
    /// The module's own TLS block is asked for by LD code.
    pub const TLS_LD: u32 = 2;
    /// IE code in a shared object: `DF_STATIC_TLS`.
    pub const STATIC_TLS: u32 = 4;
    /// A dynamic relocation in a read-only section: `DT_TEXTREL`.
    pub const TEXT_REL: u32 = 8;
    /// Something is called that lies in no input section.
    pub const CALLS_OUTSIDE: u32 = 16;
    /// Slots with offsets from the thread pointer have them with the other sign, too.
    pub const BACKWARD_OFFSETS: u32 = 32;
    /// Some slots have pointers that the loader signs.
    pub const SIGNED_SLOTS: u32 = 64;
    /// Some slots have pointers to which the loader gives tags.
    pub const TAGGED_SLOTS: u32 = 128;
    /// Entries of the PLT are called without the GOT's base, and by code for processors that have no
    /// instructions with prefixes.
    pub const CALLS_WITHOUT_BASE: u32 = 256;
    pub const CALLS_WITHOUT_PREFIXES: u32 = 512;
}

/// What the scan of some sections found; merged at the end.
#[derive(Default)]
pub struct ScanResult {
    pub dyn_relocs: Vec<DynReloc>,
    pub locals: Vec<LocalNeed>,
    pub undefined: Vec<UndefinedRef>,
    pub local_slots: Vec<LocalSlot>,
    pub facts: u32,
}

/// What all tasks of the scan found.
#[derive(Default)]
struct Findings {
    dyn_relocs: Vec<Vec<DynReloc>>,
    locals: Vec<Vec<LocalNeed>>,
    undefined: Vec<UndefinedRef>,
    local_slots: Vec<LocalSlot>,
    facts: u32,
}

impl Findings {
    fn add(&mut self, mut found: ScanResult) {
        self.dyn_relocs.push(found.dyn_relocs);
        self.locals.push(found.locals);
        self.undefined.append(&mut found.undefined);
        self.local_slots.append(&mut found.local_slots);
        self.facts |= found.facts;
    }
}
pub struct Live {
    marks: Marks,
    pub dyn_relocs: DynRelocs,
    /// Sorted by object and symbol, one for each symbol.
    pub locals: Vec<LocalNeed>,
    pub undefined: Vec<UndefinedRef>,
    /// Relocations that ask for words of the GOT to which loaders only add, in order.
    pub local_slots: Vec<LocalSlot>,
    pub facts: u32,
    /// Sections that live on in others.
    pub folds: Folds,
    /// Some relocation has stored the size of a symbol.
    has_sizes: AtomicBool,
}

impl Live {
    /// Sections that live for reasons of their own: nothing is known of their relocations.
    pub fn new(marks: Marks) -> Live {
        Live {
            marks,
            dyn_relocs: DynRelocs::default(),
            locals: Vec::new(),
            undefined: Vec::new(),
            local_slots: Vec::new(),
            facts: 0,
            folds: Folds::default(),
            has_sizes: AtomicBool::new(false),
        }
    }

    /// Puts a section into the image.
    pub fn keep(&mut self, section: SectionId) {
        self.marks.set(section.0);
    }

    /// Takes a section out of the image.
    pub fn forget(&mut self, section: SectionId) {
        self.marks.clear(section.0);
    }

    #[inline(always)]
    pub fn contains(&self, section: SectionId) -> bool {
        self.marks.get(section.0)
    }

    pub fn has(&self, fact: u32) -> bool {
        self.facts & fact != 0
    }

    /// Notes that the size of a symbol is in the image, apart from tables of symbols.
    pub fn note_size(&self) {
        self.has_sizes.store(true, Ordering::Relaxed);
    }

    /// Whether that was noted, when the image is written.
    pub fn has_sizes(&self) -> bool {
        self.has_sizes.load(Ordering::Relaxed)
    }
}

/// Maps a section id to its object.
pub struct SectionOwners {
    bases: Vec<u32>,
    /// Object of the first section of each run of 256.
    coarse: Vec<u32>,
}

impl SectionOwners {
    pub fn new(objects: &[Object], total: usize) -> Self {
        let bases: Vec<u32> = objects.iter().map(|o| o.section_base).chain([total as u32]).collect();
        let mut coarse = Vec::with_capacity(total / 256 + 1);
        let mut object = 0;
        for start in (0..total.max(1)).step_by(256) {
            while object + 1 < objects.len() && bases[object + 1] as usize <= start {
                object += 1;
            }
            coarse.push(object as u32);
        }
        SectionOwners { bases, coarse }
    }

    #[inline(always)]
    pub fn object(&self, section: SectionId) -> ObjectId {
        let mut object = self.coarse[section.index() >> 8] as usize;
        while self.bases[object + 1] <= section.0 {
            object += 1;
        }
        ObjectId(object as u32)
    }
}

/// Members of a group that are copied.
pub fn live_members(object: &Object, shndx: u32, live: &Live) -> Vec<SectionId> {
    let words = object.group_words(shndx).unwrap_or_default();
    let inside = words.members().filter(|w| (*w as usize) < object.shdrs.len());
    let ids = inside.map(|w| SectionId(object.section_base + w));
    ids.filter(|id| live.contains(*id)).collect()
}

/// Everything the scan reads.
pub struct Scanner<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub options: &'c Options,
    pub mode: Mode,
    pub sink: &'c DiagSink,
    pub owners: &'c SectionOwners,
    /// Whether GOT loads may become address computations; off when the image turns out too large.
    pub relax_got: bool,
    pub gc: bool,
    /// Variables that have tags.
    pub tagged: Option<&'c Tagged>,
    /// No section yet.
    pub marks: Marks,
}

const FLAT_CHUNK: usize = 8192;
/// Roots marked by one task, and objects whose CIEs are scanned by one.
const ROOTS: usize = 4096;
const OBJECTS: usize = 64;

impl<'c, 'a> Scanner<'c, 'a> {
    pub fn run(self, roots: &[SectionId], parallel: bool) -> Live {
        let mut findings = Findings::default();
        let roots = self.first_sections(roots, parallel, &mut findings);
        match self.gc {
            true => {
                let found = walk::from_roots(&self, &roots, parallel);
                found.into_iter().for_each(|found| findings.add(found));
                if self.options.symtab.strip != Strip::All {
                    self.keep_descriptors(&mut findings);
                }
            }
            false => self.scan_all(parallel, &mut findings),
        }
        let _stretch = trace::stretch("join what was found");
        findings.undefined.sort_unstable();
        findings.local_slots.sort_unstable();
        Live {
            marks: self.marks,
            dyn_relocs: DynRelocs::new(findings.dyn_relocs, parallel),
            locals: merge_locals(findings.locals, parallel),
            undefined: findings.undefined,
            local_slots: findings.local_slots,
            facts: findings.facts,
            folds: Folds::default(),
            has_sizes: AtomicBool::new(false),
        }
    }

    /// Marks the roots, all exception frames and what their CIEs refer to. Returns those to be visited.
    fn first_sections(&self, roots: &[SectionId], parallel: bool, findings: &mut Findings) -> Vec<SectionId> {
        let mut lists = par::runs("mark roots", parallel, roots.len(), ROOTS, |run| {
            roots[run].iter().copied().filter(|root| self.marks.set(root.0)).collect()
        });
        let frames = par::runs("scan CIEs", parallel, self.objects.len(), OBJECTS, |run| {
            let (mut targets, mut found) = (Vec::new(), ScanResult::default());
            run.for_each(|object| self.scan_frames(object, &mut targets, &mut found));
            (targets, found)
        });
        for (targets, found) in frames {
            lists.push(targets);
            findings.add(found);
        }
        lists.retain(|list| !list.is_empty());
        par::concat("join roots", parallel, lists)
    }

    /// Personality routines, which CIEs refer to, are always kept. FDEs need nothing of their own: their
    /// functions are in this output, and their exception tables follow the functions.
    fn scan_frames(&self, object: usize, targets: &mut Vec<SectionId>, found: &mut ScanResult) {
        let base = self.objects[object].section_base;
        for (shndx, frames) in &self.sections.objects[object].eh_frames {
            self.marks.set(base + shndx);
            for cie in frames.cies.iter().filter(|c| c.n_relocs > 0) {
                let range = cie.first_reloc as usize..(cie.first_reloc + cie.n_relocs) as usize;
                let at = (ObjectId(object as u32), *shndx);
                self.mode.machine.visit(Scan { scanner: self, at, range, stack: targets, found });
            }
        }
    }

    /// No gc: every section of the image is live.
    fn scan_all(&self, parallel: bool, findings: &mut Findings) {
        let total = self.sections.list.len();
        let parts = par::runs("scan sections", parallel, total, FLAT_CHUNK, |run| {
            let mut found = ScanResult::default();
            let mut ignored = Vec::new();
            for id in run {
                let section = &self.sections.list[id];
                if section.in_image() && section.kind() != SectionKind::EhFrame {
                    self.marks.set(id as u32);
                    self.visit(SectionId(id as u32), &mut ignored, &mut found);
                    ignored.clear();
                }
            }
            found
        });
        parts.into_iter().for_each(|found| findings.add(found));
    }

    /// Functions that are only called need no descriptors, but these have their names: they stay with their functions.
    fn keep_descriptors(&self, findings: &mut Findings) {
        for (number, object) in self.objects.iter().enumerate() {
            let Some(machine) = &object.machine.descriptors else { return };
            for shndx in (1..object.shdrs.len()).filter(|i| object.section_name(*i) == Some(machine.section))
            {
                let id = SectionId(object.section_base + shndx as u32);
                let at = (ObjectId(number as u32), shndx as u32);
                let code = descriptors::section_of_code(self.objects, self.sections, at, 0);
                let stays = code.is_some_and(|code| self.marks.get(code.0) && !self.is_gone(code.0));
                if stays && !self.is_gone(id.0) && self.marks.set(id.0) {
                    let mut found = ScanResult::default();
                    // What they name is there already: code, and the TOC.
                    self.visit(id, &mut Vec::new(), &mut found);
                    findings.add(found);
                }
            }
        }
    }

    fn follow_ties(&self, index: usize, shndx: u32, stack: &mut Vec<SectionId>) {
        let followers = &self.sections.objects[index].followers;
        let base = self.objects[index].section_base;
        let start = followers.partition_point(|f| f.0 < shndx);
        for &(_, follower) in followers[start..].iter().take_while(|f| f.0 == shndx) {
            self.mark_target(base + follower, stack);
        }
    }

    /// Marks the section that a reference leads to.
    #[inline(always)]
    pub fn mark_target(&self, section: u32, stack: &mut Vec<SectionId>) {
        if self.gc && self.marks.set(section) && self.sections.list[section as usize].in_image() {
            stack.push(SectionId(section));
        }
    }

    /// Whether a dynamic relocation may be written into the section.
    pub fn is_writable(&self, object: &Object, shndx: u32) -> bool {
        object.shdrs[shndx as usize].sh_flags() & SHF_WRITE != 0
    }

    /// Whether the section is no part of the output, whatever refers to it: it lost with its COMDAT group, or
    /// it speaks to linkers only.
    pub fn is_gone(&self, section: u32) -> bool {
        !self.sections.list[section as usize].in_image()
    }
}

impl Visitor for Scanner<'_, '_> {
    type Item = SectionId;
    type Found = ScanResult;

    /// Asks for the relocations of sections that are visited next, step by step: each step needs what
    /// the one before it asked for.
    fn prefetch(&self, batch: &[SectionId]) {
        let header = |id: &SectionId| {
            let object = &self.objects[self.owners.object(*id).index()];
            let relocs = self.sections.list[id.index()].relocs;
            (relocs != 0).then_some((object, relocs as usize))
        };
        for (object, relocs) in batch.iter().filter_map(header) {
            prefetch(object.shdrs, relocs);
        }
        for (object, relocs) in batch.iter().filter_map(header) {
            prefetch(object.data, object.shdrs[relocs].sh_offset() as usize);
        }
    }

    /// Scans a section and pushes the sections that it brings to life.
    fn visit(&self, id: SectionId, stack: &mut Vec<SectionId>, found: &mut ScanResult) {
        let index = self.owners.object(id).index();
        let object = &self.objects[index];
        let section = &self.sections.list[id.index()];
        let shndx = id.0 - object.section_base;
        if section.has_followers() && self.gc {
            self.follow_ties(index, shndx, stack);
        }
        // Debug sections refer to everything and need nothing.
        if section.relocs != 0 && object.shdrs[shndx as usize].sh_flags() & SHF_ALLOC != 0 {
            let at = (ObjectId(index as u32), shndx);
            self.mode.machine.visit(Scan { scanner: self, at, range: 0..usize::MAX, stack, found });
        }
    }
}

fn merge_locals(lists: Vec<Vec<LocalNeed>>, parallel: bool) -> Vec<LocalNeed> {
    let locals = par::concat("join needs of local symbols", parallel, lists);
    let mut locals = sort::by(locals, parallel, LocalNeed::cmp);
    locals.dedup_by(|need, before| {
        let same = (before.object, before.sym) == (need.object, need.sym);
        before.needs |= if same { need.needs } else { 0 };
        same
    });
    locals
}
