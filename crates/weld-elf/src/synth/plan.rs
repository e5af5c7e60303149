//! Sizing the linker's own sections, laying out, and giving everything its address.
//!
//! The order is forced: needs (scan) → slots → dynamic symbols → counts of relocations → sizes →
//! layout → addresses → contents. Only `.relr.dyn` depends on addresses for its size; it grows, and
//! layout is repeated, until it fits.

mod chunks;

use std::collections::HashSet;
use std::sync::Arc;

use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::trace;

use super::commons::{Copies, allocate_commons, allocate_copies};
use super::dynamic::DynamicPlan;
use super::dynsym::{self, DynSym};
use super::eh_frames::{self, EhFrames};
use super::emitted_relocs::{self, EmittedRelocs};
use super::property_note::Properties;
use super::rela::{self, Counter, Counts};
use super::relr;
use super::slots::{NONE, Slots};
use super::strtab::StringTable;
use super::symbol_choice::{Choice, Special};
use super::symtab::SymTab;
use crate::arch::x86_64::plt;
use crate::compressed::CompressedSection;
use crate::elf::*;
use crate::emit::{self, Contents, headers};
use crate::ids::*;
use crate::image::{Bases, Image, MergedPart};
use crate::input::object::{Object, SymbolPlace};
use crate::input::sections::Sections;
use crate::layout::members::Builder;
use crate::layout::segments::{self, SegmentFacts};
use crate::layout::{ChunkKind, Layout, OutputSection, addresses};
use crate::link::{Context, Job};
use crate::live::{Live, fact};
use crate::merge_parts::Merger;
use crate::options::{Options, Strip};
use crate::resolve::Resolved;
use crate::resolve::exports::Exports;
use crate::resolve::internal::Target;
use crate::resolve::symbols::{Symbols, sym};
use crate::setup;

pub struct Planner<'p, 'j, 'e> {
    pub job: &'p Job<'j>,
    pub context: &'p Context<'p, 'j>,
    pub resolved: &'p Resolved<'j>,
    pub exports: &'p Exports<'e>,
    pub live: Live,
    pub relax_got: bool,
    /// `--retain-symbols-file`.
    pub retained: Option<&'p Arc<HashSet<Vec<u8>>>>,
}

/// The linker's own sections with their sizes, and the layout.
pub struct Plan<'e, 'a> {
    pub live: Live,
    pub slots: Slots,
    pub layout: Layout<'a>,
    pub merged: Vec<MergedPart<'a>>,
    pub bases: Bases,
    relax_got: bool,
    ibt_plt: bool,
    /// Something counts from the GOT or names its base, so there has to be one.
    got_base: bool,
    dynsym: Option<DynSym>,
    eh_frames: EhFrames,
    relocs: Option<EmittedRelocs>,
    symtab: Option<SymTab>,
    properties: Option<Properties>,
    /// Sections that were compressed, by their number in the layout.
    compressed: Vec<(usize, CompressedSection)>,
    counts: Counts,
    copies: Copies,
    facts: SegmentFacts,
    init: Option<SymbolId>,
    fini: Option<SymbolId>,
    _exports: std::marker::PhantomData<&'e ()>,
}

/// Beyond this span (and this address, if fixed) shortened GOT loads might not reach.
const RELAXABLE_SPAN: u64 = (1 << 31) - (1 << 20);

impl<'e, 'j: 'e> Planner<'_, 'j, 'e> {
    pub fn plan(
        self,
        sections: &mut Sections<'j>,
        symbols: &mut Symbols,
    ) -> Result<Plan<'e, 'j>, Diagnostics> {
        let span = self.job.trace.span("size synthetic sections");
        let failed = |message: String| Diagnostics::from(Diagnostic::error(message));
        let mode = self.context.mode;
        let options = self.job.options;
        let stretch = trace::stretch("slots, commons, copies");
        let slots = Slots::allocate(&self.live, symbols, &self.resolved.names);
        let commons = allocate_commons(self.resolved, symbols, options.gc_sections).map_err(failed)?;
        let copies = allocate_copies(self.resolved, symbols, &slots).map_err(failed)?;
        drop(stretch);
        let stretch = trace::stretch("plan dynamic symbols");
        let dynsym = match mode.dynamic {
            true => Some(self.dynsym(symbols).map_err(failed)?),
            false => None,
        };
        drop(stretch);
        let stretch = trace::stretch("count dynamic relocations");
        let counter = Counter {
            resolved: self.resolved,
            sections,
            symbols,
            live: &self.live,
            owners: self.context.owners,
            slots: &slots,
            options,
            mode,
        };
        let counts = counter.count(&copies);
        drop(stretch);
        let frames =
            eh_frames::Planner { objects: &self.resolved.objects, sections, symbols, live: &self.live };
        let (resolved, live) = (self.resolved, &self.live);
        let plan_symtab = || {
            let special = &Special::default();
            let choice = Choice { resolved, sections, symbols, live, options, special };
            let special = Special { retained: self.retained.cloned(), ..Special::default() };
            (options.strip != Strip::All).then(|| SymTab::plan(choice, special, self.context.parallel))
        };
        let region = trace::region("plan .eh_frame and .symtab");
        let plan_frames = || {
            let _task = region.task();
            frames.plan(self.context.parallel)
        };
        let plan_symtab = || {
            let _task = region.task();
            plan_symtab()
        };
        let (eh_frames, symtab) = match self.context.parallel {
            true => rayon::join(plan_frames, plan_symtab),
            false => (plan_frames(), plan_symtab()),
        };
        drop(region);
        let eh_frames = eh_frames.map_err(failed)?;
        let stretch = trace::stretch("properties");
        let properties = self.properties(sections);
        let ibt = properties.as_ref().is_some_and(|p| p.get(FEATURE_1_AND) & FEATURE_IBT != 0);
        drop((stretch, span));
        let merged = {
            let _span = self.job.trace.span("merge strings and constants");
            self.merge(sections)
        };
        self.job.sink.end_phase()?;
        let span = self.job.trace.span("layout");
        let find = |name: &str| self.resolved.names.find(name.as_bytes()).filter(|id| is_here(symbols, *id));
        let mut plan = Plan {
            slots,
            layout: empty_layout(),
            merged,
            bases: Bases::default(),
            relax_got: self.relax_got,
            got_base: self.live.has(fact::GOT_BASE) || self.names_got_base(symbols),
            ibt_plt: (ibt || options.z_ibtplt),
            dynsym,
            eh_frames,
            relocs: None,
            symtab,
            properties,
            compressed: Vec::new(),
            counts,
            copies,
            facts: SegmentFacts { executable_stack: self.executable_stack(sections), mode },
            init: find(&options.init),
            fini: find(&options.fini),
            live: self.live,
            _exports: std::marker::PhantomData,
        };
        let stretch = trace::stretch("synthetic chunks");
        let specs = plan.chunks(self.job, sections, commons);
        drop(stretch);
        let builder = Builder {
            objects: &self.resolved.objects,
            sections,
            live: &plan.live,
            owners: self.context.owners,
            options,
        };
        plan.layout = builder.build(specs);
        plan.name_merged_chunks();
        if options.emit_relocs {
            plan.emit_relocs(self.context, resolved, sections, symbols, options);
        }
        let _stretch = trace::stretch("segments and addresses");
        plan.finish_sections();
        segments::assign(&mut plan.layout, options, plan.facts).map_err(failed)?;
        let (base, page) = (plan.layout.image_base, options.z_max_page_size);
        if !base.is_multiple_of(page) && self.relax_got == options.relax {
            let text = format!("--image-base={base:#x} is not a multiple of the page size {page:#x}");
            self.job.sink.warn(text);
        }
        plan.settle_relr(self.job, self.context, self.resolved, sections).map_err(failed)?;
        drop(span);
        Ok(plan)
    }

    fn dynsym(&self, symbols: &Symbols) -> Result<DynSym, String> {
        let planner = dynsym::Planner {
            resolved: self.resolved,
            symbols,
            exports: self.exports,
            options: self.job.options,
            parallel: self.context.parallel,
        };
        planner.plan()
    }

    fn merge(&self, sections: &mut Sections<'j>) -> Vec<MergedPart<'j>> {
        let merger = Merger {
            objects: &self.resolved.objects,
            live: &self.live,
            options: self.job.options,
            sink: self.job.sink,
            store: self.job.store,
            threads: self.context.threads,
        };
        merger.run(sections)
    }

    /// Whether a live relocation refers to `_GLOBAL_OFFSET_TABLE_` itself.
    fn names_got_base(&self, symbols: &Symbols) -> bool {
        let internals = self.context.internals.list.iter();
        internals.filter(|i| i.target == Target::GotBase).any(|i| symbols[i.id].has(sym::USED))
    }

    fn executable_stack(&self, sections: &Sections) -> bool {
        let options = self.job.options;
        let asked = |object: &crate::input::sections::ObjectSections| object.executable_stack == Some(true);
        options.z_execstack || options.z_execstack_if_needed && sections.objects.iter().any(asked)
    }

    /// The merged `.note.gnu.property` of all objects; `None` if nothing is left of it.
    fn properties(&self, sections: &Sections) -> Option<Properties> {
        let mut all = Vec::with_capacity(sections.objects.len());
        for (object, extra) in self.resolved.objects.iter().zip(&sections.objects) {
            let mut properties = Properties::default();
            if let Some(bytes) = extra.properties
                && let Err(e) = properties.parse(bytes)
            {
                self.job.sink.push(Diagnostic::error(format!("{}:(.note.gnu.property): {e}", object.name)));
            }
            self.report_cet(object, &properties);
            self.report_forced(object, &properties);
            if extra.executable_stack == Some(true) && !self.executable_stack(sections) {
                let text = format!(
                    "{}: asks for an executable stack, which it does not get without -z execstack",
                    object.name
                );
                self.job.sink.push(Diagnostic::warning(text).at((object.file.0 as u64) << 32));
            }
            all.push(properties);
        }
        let mut merged = Properties::merge(&all);
        let options = self.job.options;
        let forced = (u64::from(options.z_ibt) * FEATURE_IBT) | (u64::from(options.z_shstk) * FEATURE_SHSTK);
        if forced != 0 {
            merged.or_in(FEATURE_1_AND, forced);
        }
        (merged.size() > 0).then_some(merged)
    }

    /// `-z force-ibt` claims for the whole output what some file does not.
    fn report_forced(&self, object: &Object, properties: &Properties) {
        if self.job.options.warn_missing_ibt && properties.get(FEATURE_1_AND) & FEATURE_IBT == 0 {
            let text = format!("{}: -z force-ibt: file does not have the IBT property", object.name);
            self.job.sink.push(Diagnostic::warning(text).at((object.file.0 as u64) << 32));
        }
    }

    fn report_cet(&self, object: &Object, properties: &Properties) {
        use crate::options::ReportPolicy;
        let policy = self.job.options.cet_report;
        let missing = !properties.get(FEATURE_1_AND) & (FEATURE_IBT | FEATURE_SHSTK);
        if policy == ReportPolicy::None || missing == 0 {
            return;
        }
        for (bit, name) in [(FEATURE_IBT, "IBT"), (FEATURE_SHSTK, "SHSTK")] {
            if missing & bit != 0 {
                let text = format!("{}: -z cet-report: file does not have the {name} property", object.name);
                let warning = policy == ReportPolicy::Warning;
                self.job.sink.push(if warning { Diagnostic::warning(text) } else { Diagnostic::error(text) });
            }
        }
    }
}

const FEATURE_1_AND: u32 = 0xc000_0002;
const FEATURE_IBT: u64 = 1;
const FEATURE_SHSTK: u64 = 2;

/// Whether the output itself defines the symbol.
fn is_here(symbols: &Symbols, id: SymbolId) -> bool {
    !matches!(symbols[id].kind(), sym::UNDEFINED | sym::SHARED)
}

fn empty_layout<'a>() -> Layout<'a> {
    Layout {
        sections: Vec::new(),
        chunks: Vec::new(),
        segments: Vec::new(),
        of_name: Vec::new(),
        image_base: 0,
        section_headers: 0,
        file_size: 0,
    }
}

impl<'a> Plan<'_, 'a> {
    /// Whether shortened GOT loads might not reach.
    pub fn is_too_large_to_relax(&self) -> bool {
        let (end, span) = addresses::extent(&self.layout);
        // Where addresses are fixed, they become immediate operands.
        span > RELAXABLE_SPAN || !self.facts.mode.pic && end > RELAXABLE_SPAN
    }

    fn dynamic_plan<'c>(&'c self, job: &'c Job, dynsym: &'c DynSym) -> DynamicPlan<'c> {
        DynamicPlan {
            options: job.options,
            mode: self.facts.mode,
            dynsym,
            live: &self.live,
            slots: &self.slots,
            counts: self.counts,
            init: self.init.map(|_| 0),
            fini: self.fini.map(|_| 0),
            has_versions: !dynsym.versym.is_empty(),
        }
    }

    /// Adds the sections of `--emit-relocs`, and symbols for the sections that they may refer to.
    fn emit_relocs(
        &mut self,
        context: &Context,
        resolved: &Resolved<'a>,
        sections: &Sections<'a>,
        symbols: &Symbols,
        options: &Options,
    ) {
        let (live, parallel) = (&self.live, context.parallel);
        let Some(symtab) = &mut self.symtab else { return };
        let outs = &self.layout.sections;
        let is_table = |s: &OutputSection| s.own == Some(ChunkKind::SymTab);
        symtab.add_sections(outs.iter().position(is_table).unwrap_or(0) as u32);
        let planner = emitted_relocs::Planner {
            resolved,
            sections,
            owners: context.owners,
            eh_frames: &self.eh_frames,
            parallel,
        };
        let lists = planner.add(&mut self.layout);
        let special = &Special::default();
        let choice = Choice { resolved, sections, symbols, live, options, special };
        self.relocs = Some(lists.with_numbers(choice.number(symtab, parallel)));
    }

    fn name_merged_chunks(&mut self) {
        for (i, chunk) in self.layout.chunks.iter().enumerate() {
            if let ChunkKind::Merged(part) = chunk.kind {
                self.merged[part as usize].chunk = ChunkId(i as u32);
            }
        }
    }

    /// Section header fields that name other sections, and the size of `.shstrtab`. Sections are known by
    /// what the linker puts there: inputs may have some of the same name.
    fn finish_sections(&mut self) {
        let names: u64 = self.section_names().1.size();
        let layout = &mut self.layout;
        let index = |kind: ChunkKind| layout.chunk(kind).map_or(0, |c| c.out + 1);
        let (dynsym, dynstr) = (index(ChunkKind::DynSym), index(ChunkKind::DynStr));
        let (symtab, strtab) = (index(ChunkKind::SymTab), index(ChunkKind::StrTab));
        let got_plt = index(ChunkKind::GotPlt);
        let d = self.dynsym.as_ref();
        let verdef = d.and_then(|d| d.verdef.as_ref()).map_or(0, |v| v.count);
        let verneed = d.and_then(|d| d.verneed.as_ref()).map_or(0, |v| v.count);
        let first_global = self.symtab.as_ref().map_or(0, |s| s.first_global);
        for chunk in &mut layout.chunks {
            let out = &mut layout.sections[chunk.out as usize];
            (out.link, out.info) = match chunk.kind {
                ChunkKind::DynSym => (dynstr, 1),
                ChunkKind::VerSym | ChunkKind::GnuHash | ChunkKind::SysvHash => (dynsym, 0),
                ChunkKind::VerDef => (dynstr, verdef),
                ChunkKind::VerNeed => (dynstr, verneed),
                ChunkKind::RelaDyn => (dynsym, 0),
                ChunkKind::RelaPlt => (dynsym, got_plt),
                ChunkKind::Dynamic => (dynstr, 0),
                ChunkKind::SymTab => (strtab, first_global),
                ChunkKind::SymTabShndx => (symtab, 0),
                ChunkKind::Relocs(_) => (symtab, out.info),
                _ => continue,
            };
            if chunk.kind == ChunkKind::RelaPlt {
                out.flags |= SHF_INFO_LINK;
            }
        }
        for chunk in &mut layout.chunks {
            let size = match (chunk.kind, &self.symtab) {
                (ChunkKind::ShStrTab, _) => names,
                (ChunkKind::SymTab, Some(s)) => s.count * Sym::SIZE as u64,
                (ChunkKind::SymTabShndx, Some(s)) => s.count * 4,
                _ => continue,
            };
            chunk.size = size;
            layout.sections[chunk.out as usize].size = size;
        }
    }

    fn section_names(&self) -> (Vec<u32>, StringTable) {
        let mut table = StringTable::new();
        let offsets = self.layout.sections.iter().map(|s| table.add(&s.name)).collect();
        (offsets, table)
    }

    /// Gives sections, chunks and symbols their addresses.
    pub fn place(
        &mut self,
        sections: &mut Sections<'a>,
        symbols: &mut Symbols,
        resolved: &Resolved,
        context: &Context,
    ) {
        let stretch = trace::stretch("place sections");
        addresses::place(&mut self.layout, sections);
        drop(stretch);
        self.bases = addresses::bases(&self.layout);
        let relro = &self.copies.in_relro;
        addresses::place_symbols(symbols, sections, &self.layout, &self.merged, relro, context.parallel);
        let _stretch = trace::stretch("place symbols by hand");
        addresses::place_internals(
            symbols,
            context.internals,
            &self.layout,
            &self.bases,
            context.mode.shared,
        );
        self.place_plt_symbols(symbols);
        self.place_local_ifuncs(sections, resolved);
    }

    /// Local IFUNCs have no symbol to hold the address of their resolver.
    fn place_local_ifuncs(&mut self, sections: &Sections, resolved: &Resolved) {
        for slot in self.slots.list.iter_mut().filter(|s| s.plt != NONE) {
            let Some((object, index)) = slot.local else { continue };
            let object = &resolved.objects[object.index()];
            let symbol = &object.syms[index as usize];
            if let SymbolPlace::Section(shndx) = object.place(index, symbol) {
                let section = sections.get(SectionId(object.section_base + shndx));
                slot.definition = section.address.wrapping_add(symbol.st_value());
            }
        }
    }

    /// IFUNCs of this output, and functions whose address is taken where only the PLT can stand for
    /// them, are known by their PLT entries.
    fn place_plt_symbols(&mut self, symbols: &mut Symbols) {
        let header = plt::header_size(&self.slots);
        let entry = |plt: u32| match self.ibt_plt {
            true => self.bases.plt_sec + plt::ENTRY * plt as u64,
            false => self.bases.plt + header + plt::ENTRY * plt as u64,
        };
        for slot in self.slots.list.iter_mut().filter(|s| s.plt != NONE && s.id.is_some()) {
            let symbol = &mut symbols.list[slot.id.index()];
            let flags = symbol.flags();
            slot.definition = symbol.value;
            let ifunc = flags & sym::PREEMPTIBLE == 0;
            if ifunc || flags & sym::NEEDS_CANONICAL_PLT != 0 {
                symbol.value = entry(slot.plt);
            }
        }
    }
}

impl<'e, 'a> Plan<'e, 'a> {
    /// Grows `.relr.dyn` until it holds what the addresses ask for. It never shrinks, so this ends.
    fn settle_relr(
        &mut self,
        job: &Job,
        context: &Context,
        resolved: &Resolved,
        sections: &Sections,
    ) -> Result<(), String> {
        if self.counts.relr == 0 {
            return Ok(());
        }
        loop {
            let needed = relr::encode(&self.relr_addresses(context, resolved, sections)).len() as u64 * 8;
            let Some(chunk) = self.layout.chunks.iter_mut().find(|c| c.kind == ChunkKind::Relr) else {
                return Ok(());
            };
            if needed <= chunk.size {
                return Ok(());
            }
            chunk.size = needed;
            self.layout.sections[chunk.out as usize].size = needed;
            segments::assign(&mut self.layout, job.options, self.facts)?;
        }
    }

    /// Addresses for `.relr.dyn` while input sections and chunks still have offsets.
    fn relr_addresses(&self, context: &Context, resolved: &Resolved, sections: &Sections) -> Vec<u64> {
        let mut list = Vec::with_capacity(self.counts.relr as usize);
        for reloc in
            self.live.dyn_relocs.iter().filter(|r| rela::is_packed(resolved, sections, context.owners, r))
        {
            let object = context.owners.object(reloc.section);
            let section = sections.get(reloc.section);
            let relocs = sections.relocs(&resolved.objects[object.index()], object.index(), section);
            let out = &self.layout.sections[self.layout.of_name[section.out() as usize] as usize];
            let offset = section.placed_offset(relocs[reloc.index()].r_offset());
            list.push(out.address.wrapping_add(section.address).wrapping_add(offset));
        }
        if let Some(chunk) = self.layout.chunk(ChunkKind::Got) {
            let base = self.layout.sections[chunk.out as usize].address + chunk.address;
            // Which words are relative does not change the size by more than a few bitmaps; take all.
            list.extend((0..self.slots.got_words as u64).map(|w| base + 8 * w));
        }
        list.sort_unstable();
        list
    }

    /// Compresses the sections that are to be, which moves what follows them in the file.
    pub fn compress(
        &mut self,
        job: &Job,
        context: &Context,
        resolved: &Resolved<'a>,
        sections: &Sections<'a>,
        symbols: &Symbols,
    ) -> Result<(), Diagnostics> {
        let _span = job.trace.span("compress sections");
        let image = self.image(job, context, resolved, sections, symbols);
        let failed = |message: String| Diagnostics::from(Diagnostic::error(message));
        let compressed = emit::compress::run(&image, context).map_err(|e| failed(e.to_string()))?;
        // What is wrong with relocations is found while contents are made.
        job.sink.end_phase()?;
        for (index, section) in &compressed {
            let out = &mut self.layout.sections[*index];
            // The alignment of before is in the compressed section's header, which has one of its own.
            (out.size, out.align) = (section.size(), 8);
            out.flags |= SHF_COMPRESSED;
        }
        self.compressed = compressed;
        segments::place_unallocated(&mut self.layout).map_err(failed)
    }

    /// The plan as writers see it.
    pub fn image<'c>(
        &'c self,
        job: &'c Job,
        context: &Context,
        resolved: &'c Resolved<'a>,
        sections: &'c Sections<'a>,
        symbols: &'c Symbols,
    ) -> Image<'c, 'a> {
        Image {
            resolved,
            sections,
            symbols,
            live: &self.live,
            slots: &self.slots,
            dynsym: self.dynsym.as_ref(),
            layout: &self.layout,
            merged: &self.merged,
            options: job.options,
            sink: job.sink,
            mode: context.mode,
            bases: self.bases,
            relax_got: self.relax_got,
            ibt_plt: self.ibt_plt,
            relr: job.options.pack_relr,
        }
    }

    /// Contents of the linker's own sections.
    pub fn contents<'c>(&'c self, image: &Image<'c, 'a>, context: &Context) -> Contents<'c> {
        let dynamics = rela::collect(image, context.owners, &self.copies, context.parallel);
        let expected = self.counts.relative + self.counts.others;
        if dynamics.rela.len() as u64 != expected {
            let text =
                format!("internal error: {} dynamic relocations, {expected} planned", dynamics.rela.len());
            image.sink.error(text);
        }
        let relr_words = relr::encode(&dynamics.relr);
        let room = self.layout.chunk(ChunkKind::Relr).map_or(0, |c| c.size);
        if relr_words.len() as u64 * 8 > room {
            let words = relr_words.len();
            image.sink.error(format!("internal error: {words} words of .relr.dyn, {room} bytes planned"));
        }
        let dynamic = match &self.dynsym {
            Some(dynsym) => self.dynamic_entries(image, dynsym),
            None => Vec::new(),
        };
        let (names, table) = self.section_names();
        let names_index = self.layout.chunk(ChunkKind::ShStrTab).map_or(0, |c| c.out + 1);
        Contents {
            dynsym: self.dynsym.as_ref(),
            dynamic,
            dynamics,
            relr_words,
            eh_frames: &self.eh_frames,
            frame_table: self.frame_table(image, context.parallel),
            relocs: self.relocs.as_ref(),
            symtab: self.symtab.as_ref(),
            shstrtab: table.bytes().to_vec(),
            properties: self.properties.as_ref(),
            compressed: &self.compressed,
            headers: headers::file_header(&self.layout, image.mode, self.entry(image, context), names_index),
            section_headers: headers::section_headers(&self.layout, &names, names_index),
        }
    }

    fn frame_table(&self, image: &Image, parallel: bool) -> Vec<(u64, u64)> {
        match self.layout.chunk(ChunkKind::EhFrameHdr) {
            Some(_) => {
                let frame = self.layout.chunk_address(ChunkKind::EhFrame);
                self.eh_frames.table(image, frame, parallel)
            }
            None => Vec::new(),
        }
    }

    fn dynamic_entries(&self, image: &Image, dynsym: &DynSym) -> Vec<(u64, u64)> {
        let value = |id: Option<SymbolId>| id.map(|id| image.symbols[id].value);
        let plan = DynamicPlan {
            options: image.options,
            mode: image.mode,
            dynsym,
            live: &self.live,
            slots: &self.slots,
            counts: self.counts,
            init: value(self.init),
            fini: value(self.fini),
            has_versions: !dynsym.versym.is_empty(),
        };
        plan.entries(&self.layout)
    }

    /// Where the program starts.
    fn entry(&self, image: &Image, context: &Context) -> u64 {
        let options = image.options;
        if let Some(address) = options.entry.as_deref().and_then(setup::entry_address) {
            return address;
        }
        let Some(name) = setup::entry_symbol(options, context.inputs) else { return 0 };
        let id = image.resolved.names.find(name.as_bytes());
        match id.filter(|id| is_here(image.symbols, *id)) {
            Some(id) => image.symbols[id].value,
            None => {
                if options.entry.is_some() || !image.mode.shared {
                    image.sink.warn(format!("cannot find entry symbol {name}; not setting start address"));
                }
                0
            }
        }
    }
}
