//! Sizing the linker's own sections, laying out, and giving everything its address.
//!
//! The order is forced: needs (scan) → slots → dynamic symbols → counts of relocations → sizes →
//! layout → addresses → contents. Where sizes depend on addresses, layout is repeated until nothing changes
//! ([`crate::layout::settle`]).
//!
//! This file has the order; `plan/` has the steps that are not a file of `synth` or `layout`: `properties`
//! joins what objects say of themselves, `headers` has what sections say of each other, `lay_out` has output sections made, `place` has the
//! addresses, `contents` what is written.

mod contents;
mod headers;
mod lay_out;
mod place;
pub mod properties;
mod unread;

use std::collections::HashSet;
use std::sync::Arc;

use weld_common::diag::{Cause, Diagnostics};
use weld_common::{par, trace};

use super::attributes;
use super::commons::{Commons, allocate_commons};
use super::copyrel::{Copies, allocate_copies};
use super::dynamic::{DynamicPlan, arrays_of_script};
use super::dynsym::{self, DynSym};
use super::eh_frames::{self, EhFrames};
use super::emitted_relocs::EmittedRelocs;
use super::error::{PlanError, TableTooLarge, failed};
use super::functions::Functions;
use super::further_gots::FurtherGots;
use super::memtag_globals;
use super::needed::{forget_the_rest, needed};
use super::property_note::Properties;
use super::rela::{Counter, Counts};
use super::shstrtab::Names;
use super::symbol_choice::{Choice, Special};
use super::symbol_record::variant_calls;
use super::symtab::SymTab;
use super::tables::{self, Tables};
use super::thunks::Thunks;
use super::toc_words;
use crate::arch::facts::GotBase;
use crate::arch::plt;
use crate::compat_mode::CompatMode;
use crate::compressed::CompressedSection;
use crate::elf::RelocForm;
use crate::got_plt_slots::Slots;
use crate::ids::*;
use crate::job::{Context, Job};
use crate::layout::MergedPart;
use crate::layout::addresses::Bases;
use crate::layout::segments::{PageSizes, SegmentFacts};
use crate::layout::{Layout, addresses, scripted, shrink};
use crate::live::dyn_relocs::DynReloc;
use crate::live::{Live, fact};
use crate::merge_parts::Merger;
use crate::mode::Mode;
use crate::options::{Options, Strip};
use crate::resolve::Resolved;
use crate::section_order::SectionOrder;
use crate::sections::Sections;
use crate::sections::scripted::Rules;
use crate::sections::spare_imports::{self, Import, SpareImports};
use crate::symbol_names::{Rank, pack};
use crate::symbols::exports::Exports;
use crate::symbols::internal::{Internal, Internals, Target};
use crate::symbols::value_kinds::Correction;
use crate::symbols::{Symbols, symbol_flags};
use crate::synth::joined::Joined;
use crate::synth::rela::may_have_spares;
use crate::synth::sframe::of_plt::Plt;

pub struct Planner<'p, 'j, 'e> {
    pub job: &'p Job<'j>,
    pub context: &'p Context<'p, 'j>,
    pub resolved: &'p Resolved<'j>,
    pub exports: &'p Exports<'e>,
    pub live: Live,
    pub order: &'p SectionOrder,
    pub relax_got: bool,
    /// `--retain-symbols-file`.
    pub retained: Option<&'p Arc<HashSet<Vec<u8>>>>,
}

/// What a plan is for, and made from: the same for all of its steps.
#[derive(Clone, Copy)]
pub struct Link<'l, 'a> {
    pub job: &'l Job<'a>,
    pub context: &'l Context<'l, 'a>,
    pub resolved: &'l Resolved<'a>,
}

/// The tables over all input sections and all names, in which layout puts places.
pub struct Places<'t, 'a> {
    pub sections: &'t mut Sections<'a>,
    pub symbols: &'t mut Symbols,
}

/// What is asked about where things go.
#[derive(Clone, Copy)]
pub struct Wishes<'w> {
    pub commons: &'w Commons,
    pub order: &'w SectionOrder,
}

/// The linker's own sections with their sizes, and the layout.
pub struct Plan<'a> {
    pub live: Live,
    pub slots: Slots,
    pub layout: Layout<'a>,
    pub merged: Vec<MergedPart<'a>>,
    pub(super) thunks: Thunks,
    pub bases: Bases,
    pub(super) relax_got: bool,
    pub(super) plt: plt::Style,
    /// The symbol that says where the register for data points, if code may count from there.
    pub(super) pointer: Option<SymbolId>,
    /// `e_flags`
    pub(super) flags: u32,
    /// `EI_ABIVERSION`, as objects have it.
    pub(super) abi_version: u8,
    /// What instructions and conventions the code uses: contents of a section of its own.
    pub attributes: Vec<u8>,
    /// What GNU's tools say of conventions: the same.
    pub gnu_attributes: Vec<u8>,
    /// Which registers it uses: the same.
    pub registers: Vec<u8>,
    /// What the words of the first GOT hold to which loaders only add, and others if it has no room for all.
    pub(super) local_words: Vec<u64>,
    pub(super) further_gots: Option<FurtherGots>,
    /// The symbol by which a script or an option says where the GOT's base is, if one does.
    pub(super) base_symbol: Option<SymbolId>,
    /// The tag that says that some functions in the PLT use more registers than others.
    pub(super) variant_calls: Option<u64>,
    pub(super) dynsym: Option<DynSym>,
    pub(super) eh_frames: EhFrames,
    pub(super) relocs: Option<EmittedRelocs>,
    pub symtab: Option<SymTab>,
    /// Those of output sections.
    pub(super) names: Names,
    pub(super) tables: Tables<'a>,
    pub properties: Option<Properties>,
    /// `-r`.
    pub joined: Option<Joined>,
    /// Arrays of functions that `.dynamic` names and that a script has data for.
    pub(super) arrays_of_script: Vec<&'static [u8]>,
    /// Sections that were compressed, by their ids.
    compressed: Vec<(OutputSectionId, CompressedSection)>,
    /// How dynamic relocations are stored.
    pub(super) reloc_form: RelocForm,
    pub(super) counts: Counts,
    /// There are variables that the loader is to tag.
    pub(super) has_tagged: bool,
    /// Pointers to be signed that are not packed, though others are, in order.
    pub(super) far: Vec<DynReloc>,
    /// By object the words beside the GOT that need not be loaded.
    pub(super) toc_words: Vec<toc_words::Words>,
    pub(super) copies: Copies,
    pub(super) facts: SegmentFacts,
    /// Relocations that a program applies itself are linked to `.symtab`, as by GNU ld, for readers want a
    /// table. (ld.lld: none.)
    pub(super) links_own_relocs: bool,
    init: Option<SymbolId>,
    fini: Option<SymbolId>,
}

/// Beyond this span (and this address, if fixed) shortened GOT loads might not reach.
const RELAXABLE_SPAN: u64 = (1 << 31) - (1 << 20);
/// From here on, too, addresses are 32 bits with their sign extended.
const TOP: u64 = (-1i64 << 31) as u64;

/// How many words of the GOT are spare.
const SPARE_WORDS: u32 = 128;

/// What has taken spare words of the GOT in a link that is to be made once more, and needs nothing else of it.
fn spare_words_taken(sections: &Sections, symbols: &Symbols) -> Vec<SymbolId> {
    const OTHERS: u32 = symbol_flags::NEEDS & !(symbol_flags::NEEDS_GOT | symbol_flags::NEEDS_DYNSYM);
    let is_one = |id: SymbolId| {
        id.is_some() && symbols[id].kind() == symbol_flags::DEFINED && !symbols[id].has(OTHERS)
    };
    let taken = sections.last_words.iter().map(|id| if is_one(*id) { *id } else { SymbolId::NONE });
    taken
        .inspect(|id| {
            if id.is_some() {
                symbols[*id].add(symbol_flags::NEEDS_GOT)
            }
        })
        .collect()
}

impl<'e, 'j: 'e> Planner<'_, 'j, 'e> {
    pub fn plan(self, sections: &mut Sections<'j>, symbols: &mut Symbols) -> Result<Plan<'j>, Diagnostics> {
        let span = self.job.phase("size synthetic sections");
        let mode = self.context.mode;
        let options = self.job.options;
        let stretch = trace::stretch("slots, commons, copies");
        self.ask_as_before(sections, symbols);
        let needed = needed(self.resolved, symbols, options.sections.gc_sections);
        forget_the_rest(self.resolved, symbols, &needed, mode.pic).map_err(failed)?;
        let (slots, spares) = self.slots(sections, symbols);
        let (gc, order) = (options.sections.gc_sections, options.symbols.sort_common);
        let commons = allocate_commons(self.resolved, symbols, gc, order, self.rules()).map_err(failed)?;
        let copies = allocate_copies(self.resolved, symbols, &slots).map_err(failed)?;
        drop(stretch);
        let stretch = trace::stretch("plan dynamic symbols");
        let dynsym = match mode.dynamic {
            true => Some(self.dynsym((sections, symbols), needed, (&slots, &spares)).map_err(failed)?),
            false => None,
        };
        drop(stretch);
        let counts = self.dynamic_relocs((sections, symbols), &slots, &copies);
        let (eh_frames, symtab) = self.frames_and_symtab(sections, symbols, spares);
        let (eh_frames, symtab) = (eh_frames.map_err(failed)?, symtab.map_err(failed)?);
        self.shrink(sections);
        self.job.sink.end_phase()?;
        let stretch = trace::stretch("properties");
        let properties = self.properties(sections);
        self.report_unread(sections);
        let plt = self.plt_style(properties.as_ref(), &slots, symbols);
        drop((stretch, span));
        let merged = {
            let _span = self.job.phase("merge strings and constants");
            self.merge(sections)
        };
        self.job.sink.end_phase()?;
        let code = Plt {
            facts: mode.facts(),
            style: plt,
            jump_slots: slots.jump_slots,
            ifuncs: slots.ifuncs().len() as u32,
        };
        let tables = self.tables(sections, symbols, &merged, code);
        self.job.sink.end_phase()?;
        let span = self.job.phase("layout");
        let find = |name: &str| self.resolved.names.find(name.as_bytes()).filter(|id| is_here(symbols, *id));
        let executable_stack = self.executable_stack(sections);
        let variant_calls = self.variant_calls(&slots);
        let has_tagged = self.has_tagged(symbols);
        let toc_words = self.toc_words(sections);
        let pointer = self.data_pointer(symbols);
        let attributes = attributes::of_all(self.job, self.resolved, sections);
        let gnu_attributes = attributes::of_gnu(self.job, self.resolved, sections);
        let registers = attributes::registers(self.job, self.resolved, sections);
        let base_symbol = self.base_symbol(symbols);
        let mut plan = Plan {
            slots,
            merged,
            relax_got: self.relax_got,
            plt,
            variant_calls,
            has_tagged,
            arrays_of_script: self.context.inputs.layout().map_or(Vec::new(), |s| arrays_of_script(s)),
            dynsym,
            eh_frames,
            symtab,
            tables,
            properties,
            pointer,
            attributes,
            gnu_attributes,
            registers,
            base_symbol,
            toc_words,
            counts,
            copies,
            init: find(&options.symbols.init),
            fini: find(&options.symbols.fini),
            ..Plan::new(mode, self.live, self.resolved, options)
        };
        plan.facts.executable_stack = executable_stack;
        let link = Link { job: self.job, context: self.context, resolved: self.resolved };
        let wishes = Wishes { commons: &commons, order: self.order };
        plan.lay_out(link, &mut Places { sections, symbols }, wishes).map_err(failed)?;
        plan.check_base(self.job);
        drop(span);
        Ok(plan)
    }

    /// Counts what the loader is to relocate. A program that no loader relocates may need what does it by itself.
    fn dynamic_relocs(
        &self,
        (sections, symbols): (&Sections, &Symbols),
        slots: &Slots,
        copies: &Copies,
    ) -> Counts {
        let mode = self.context.mode;
        let counter = Counter {
            resolved: self.resolved,
            sections,
            symbols,
            live: &self.live,
            owners: self.context.owners,
            slots,
            further_gots: None,
            options: self.job.options,
            mode,
        };
        let counts = counter.count(copies, self.context.parallel);
        if !mode.dynamic && counts.others > slots.plt_relocs().1 as u64 {
            self.check_start();
        }
        counts
    }

    /// The words beside the GOT that need not be loaded.
    fn toc_words(&self, sections: &Sections) -> Vec<toc_words::Words> {
        let options = self.job.options;
        match options.relocs.toc_optimize && !options.keeps_relocs() {
            true => {
                let inputs = (self.resolved, sections, &self.live);
                toc_words::find(self.context.mode, inputs, self.context.parallel)
            }
            false => Vec::new(),
        }
    }

    /// The slots of the GOT and the PLT, with room for more of both where a later link may ask for it.
    fn slots(&self, sections: &Sections, symbols: &Symbols) -> (Slots, SpareImports) {
        let (mode, options) = (self.context.mode, self.job.options);
        let got_base = self.live.has(fact::GOT_BASE) || self.names_got_base(symbols);
        let head = match mode.facts().got_base {
            _ if mode.facts().loader_got.is_some() => 0,
            GotBase::Got => u32::from(got_base),
            GotBase::GotWithHead { words, .. } => words,
            GotBase::GotPlt => 0,
        };
        let mut spares = self.spare_imports(sections, symbols);
        let names = &self.resolved.names;
        let words = spare_words_taken(sections, symbols);
        let apart: Vec<SymbolId> = spares.ids.iter().chain(&words).copied().collect();
        let mut slots = Slots::allocate(
            &self.live,
            symbols,
            names,
            (head, &apart, &sections.last_slot_places),
            self.context.parallel,
        );
        let jump_slots = slots.jump_slots > 0;
        match jump_slots {
            true if spares.count > 0 => slots.add_spares(spares.count, &spares.ids),
            true => {}
            false => spares = SpareImports::default(),
        }
        slots.without_words = if mode.facts().plt.patched { slots.jump_slots } else { 0 };
        let is_for_loader = jump_slots && mode.facts().plt.reserved_words == 0;
        if slots.got.is_empty() && !got_base && !is_for_loader {
            slots.got_words = 0;
        }
        if let GotBase::GotWithHead { reach, .. } = mode.facts().got_base {
            slots.move_base(reach);
        }
        if slots.got_words > 0 && self.may_have_spare_words(sections) {
            slots.add_spare_words(SPARE_WORDS, &words);
        }
        if let Some(got) = &mode.facts().loader_got {
            slots.put_looked_up_first(symbols);
            let needed =
                got_base || mode.dynamic || !slots.got.is_empty() || !self.live.local_slots.is_empty();
            slots.local_words = if needed { got.head.into() } else { 0 };
        }
        let got_plt_is_base = got_base && mode.facts().got_base == GotBase::GotPlt;
        if jump_slots || got_plt_is_base {
            slots.reserved = mode.facts().plt.reserved_words;
        }
        // Nobody unpacks what a program without a loader applies itself.
        let bound = jump_slots && mode.facts().dynamic.resolvers_in_plt;
        slots.resolvers_in_plt = if mode.dynamic { bound } else { options.relocs.pack_android };
        (slots, spares)
    }

    /// Whether there are variables that get tags.
    fn has_tagged(&self, symbols: &Symbols) -> bool {
        let Some(tagged) = self.context.tagged else { return false };
        if self.job.options.relocs.apply_dynamic_relocs {
            let text = "--apply-dynamic-relocs: where pointers get tags, loaders look for something else than addresses";
            self.job.sink.error(Cause::ConflictingOptions, text);
        }
        memtag_globals::are_any(tagged, &self.live, &self.resolved.objects, symbols)
    }

    /// The patterns of a script that lays out.
    fn rules(&self) -> Option<&Rules> {
        self.context.rules.filter(|_| self.context.inputs.layout().is_some())
    }

    /// Without a loader, the program itself has to apply relocations. Where it finds them, one of two names
    /// or a script says.
    fn check_start(&self) {
        let internals = &self.context.internals.list;
        if self.context.inputs.layout().is_none()
            && !internals.iter().any(|i| i.target == Target::RelaIpltStart)
        {
            let text = "pointers are to be signed, or asked of functions, when the program starts; there is no loader for that, and \
                        nothing in the program names __rela_iplt_start, where the relocations are";
            self.job.sink.error(Cause::SymbolAssignment, text);
        }
    }

    /// Finds code that may get shorter, on machines that have such.
    fn shrink(&self, sections: &mut Sections) {
        let mode = self.context.mode;
        let Some(machine) = mode.machine.shrink() else { return };
        let code = shrink::Code {
            objects: &self.resolved.objects,
            owners: self.context.owners,
            options: self.job.options,
            mode,
            parallel: self.context.parallel,
        };
        shrink::find(&code, machine, sections, &self.live, self.job.sink);
    }

    /// The symbol that says where the register for data points, if code may count from there.
    fn data_pointer(&self, symbols: &Symbols) -> Option<SymbolId> {
        let pointer = self.context.mode.facts().pointer.as_ref()?;
        let relocs = &self.job.options.relocs;
        let may = relocs.relax && relocs.relax_gp;
        let wanted = (pointer.has_relocs || may) && !self.context.mode.shared;
        let id = self.resolved.names.find(pointer.symbol.as_bytes()).filter(|_| wanted)?;
        is_here(symbols, id).then_some(id)
    }

    /// Plans `.eh_frame` and `.symtab`, which know nothing of each other, side by side.
    fn frames_and_symtab(
        &self,
        sections: &Sections,
        symbols: &Symbols,
        spares: SpareImports,
    ) -> (Result<EhFrames, TableTooLarge>, Result<Option<SymTab>, TableTooLarge>) {
        let (resolved, live, options) = (self.resolved, &self.live, self.job.options);
        let parallel = self.context.parallel;
        let region = trace::region("plan .eh_frame and .symtab");
        let plan_frames = || {
            let _task = region.task();
            let functions = Functions { sections, symbols, live };
            eh_frames::Planner { objects: &resolved.objects, functions }.plan(parallel)
        };
        let plan_symtab = || {
            let _task = region.task();
            let special = &Special::default();
            let sink = self.job.sink;
            let choice = Choice { resolved, sections, symbols, live, options, special, sink };
            let many_labels = self.context.mode.machine.shrink().is_some();
            let special = Special {
                retained: self.retained.cloned(),
                many_labels,
                spares: spares.clone(),
                ..Special::default()
            };
            (options.symtab.strip != Strip::All).then(|| SymTab::plan(choice, special, parallel)).transpose()
        };
        par::both(parallel, plan_frames, plan_symtab)
    }

    /// Asks of functions of shared objects what was asked of them in a link that is to be made once more, and for slots.
    fn ask_as_before(&self, sections: &Sections, symbols: &Symbols) {
        const ASKED: u32 = symbol_flags::USED
            | symbol_flags::USED_STRONG
            | symbol_flags::STRONG_REF
            | symbol_flags::NEEDS_PLT
            | symbol_flags::NEEDS_GOT
            | symbol_flags::NEEDS_DYNSYM
            | symbol_flags::NEEDS_COPY
            | symbol_flags::NEEDS_CANONICAL_PLT;
        for (id, needs) in &sections.last_slots {
            if symbols[*id].kind() == symbol_flags::DEFINED {
                symbols[*id].add(*needs);
            }
        }
        if sections.has_rooms {
            self.have_compilers_calls(symbols);
        }
        for call in &sections.last_calls {
            let index = self.resolved.index_of_file.get(call.file.index());
            let library = index.and_then(|index| self.resolved.shared.get(*index as usize));
            let Some(library) = library.filter(|library| library.file == call.file) else { continue };
            let globals = library.first_global..library.syms.len() as u32;
            if !globals.contains(&call.symbol) {
                continue;
            }
            let id = library.global(call.symbol);
            if id.is_some()
                && symbols[id].kind() == symbol_flags::SHARED
                && self.resolved.names.get(id).best == pack(Rank::Provided, library.file, call.symbol)
            {
                symbols[id].add(call.flags & ASKED);
            }
        }
    }

    /// Has functions that compilers call of themselves have entries of the PLT if anything else is asked of them: a later
    /// link may have the first call, and there are spare entries only for what nobody asks for.
    fn have_compilers_calls(&self, symbols: &Symbols) {
        const CALLED: [&[u8]; 5] = [b"memcpy", b"memmove", b"memset", b"memcmp", b"bcmp"];
        const OTHERWISE: u32 = symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT;
        for name in CALLED {
            let Some(id) = self.resolved.names.find(name) else { continue };
            let symbol = &symbols[id];
            let is_asked = symbol.has(symbol_flags::USED) && symbol.has(symbol_flags::NEEDS_GOT);
            if symbol.kind() == symbol_flags::SHARED
                && symbol.has(symbol_flags::PREEMPTIBLE)
                && is_asked
                && !symbol.has(OTHERWISE)
            {
                symbol.add(symbol_flags::NEEDS_PLT);
            }
        }
    }

    /// Whether a later link may have slots of the GOT that this one has not: then it tells the loader of them.
    fn may_have_spare_words(&self, sections: &Sections) -> bool {
        let (mode, options) = (&self.context.mode, self.job.options);
        let format = mode.facts().target.format;
        let is_told = !mode.pic || may_have_spares(options, format);
        let is_told = is_told && format.is_native() && format.word() == 8 && mode.facts().slot() == 8;
        let is_plain = !self.live.has(fact::SIGNED_SLOTS) && !self.live.has(fact::TAGGED_SLOTS);
        sections.has_rooms && is_told && is_plain && mode.facts().loader_got.is_none()
    }

    /// Room for functions of shared objects that a later link may call, if it may relink; what has taken it is what
    /// needs no more than that.
    fn spare_imports(&self, sections: &Sections, symbols: &Symbols) -> SpareImports {
        if !sections.has_rooms {
            return SpareImports::default();
        }
        let (mode, options) = (&self.context.mode, self.job.options);
        let loader = options.dynamic.dynamic_linker.as_deref().filter(|_| mode.interp);
        let is_usual = !options.dynamic.mark_plt && !options.relocs.pack_android;
        let is_usual = is_usual && mode.facts().loader_got.is_none() && options.layout.sectionheader;
        // What loads a library is what has its C library.
        let is_of_glibc =
            || self.resolved.shared.iter().any(|library| library.soname.starts_with(b"libc.so."));
        let is_known = loader.is_some_and(spare_imports::are_for) || mode.shared && is_of_glibc();
        if !is_usual || !is_known {
            return SpareImports::default();
        }
        let taken = sections.last_imports.clone();
        // Tables may have its address, too.
        let own = |is_own| if is_own { symbol_flags::NEEDS_DYNSYM } else { 0 };
        let is_called = |id: &SymbolId, is_own: bool| {
            let symbol = &symbols[*id];
            let kind = if is_own { symbol_flags::DEFINED } else { symbol_flags::SHARED };
            symbol.kind() == kind
                && symbol.has(symbol_flags::PREEMPTIBLE)
                && !symbol.has(symbol_flags::NEEDS & !(symbol_flags::NEEDS_PLT | own(is_own)))
        };
        let id = |import: &Import| {
            let found = self.resolved.names.find(&import.name);
            found.filter(|id| is_called(id, import.is_own))
        };
        let ids = taken.iter().map(|import| id(import).unwrap_or(SymbolId::NONE)).collect();
        SpareImports { count: spare_imports::count(self.job.options), taken, ids }
    }

    fn dynsym(
        &self,
        (sections, symbols): (&Sections, &Symbols),
        needed: Vec<u32>,
        (slots, spares): (&Slots, &SpareImports),
    ) -> Result<DynSym, PlanError> {
        let looked_up = self.context.mode.facts().loader_got.is_some();
        let planner = dynsym::Planner {
            machine: self.context.mode.facts(),
            resolved: self.resolved,
            symbols,
            exports: self.exports,
            options: self.job.options,
            needed,
            looked_up: if looked_up { slots.looked_up(symbols) } else { Vec::new() },
            spares,
            room: &sections.export_room,
            shared: self.context.mode.shared,
            parallel: self.context.parallel,
        };
        planner.plan()
    }

    fn tables(
        &self,
        sections: &Sections<'j>,
        symbols: &Symbols,
        merged: &[MergedPart<'j>],
        plt: Plt,
    ) -> Tables<'j> {
        let (job, context, resolved) = (self.job, self.context, self.resolved);
        tables::Planner { job, context, resolved, live: &self.live, sections, symbols, merged, plt }.plan()
    }

    fn merge(&self, sections: &mut Sections<'j>) -> Vec<MergedPart<'j>> {
        let merger = Merger {
            objects: &self.resolved.objects,
            live: &self.live,
            options: self.job.options,
            scripted: self.context.inputs.layout().is_some(),
            sink: self.job.sink,
            store: self.job.store,
            threads: self.context.threads,
        };
        merger.run(sections)
    }

    /// The tag for the loader if a function in the PLT uses more registers than others.
    fn variant_calls(&self, slots: &Slots) -> Option<u64> {
        let machine = self.context.mode.facts();
        let variant = machine.variant_calls.as_ref()?;
        let mut called = slots.plt[..slots.named() as usize].iter().map(|slot| slots.list[*slot as usize].id);
        // Some are of what is gone.
        let is_one = |id: SymbolId| id.is_some() && variant_calls(self.resolved, machine, id) != 0;
        called.any(is_one).then_some(variant.tag)
    }

    /// The symbol that says where the GOT's base is, if that is not for the linker to say.
    fn base_symbol(&self, symbols: &Symbols) -> Option<SymbolId> {
        let name = self.context.mode.facts().loader_got.as_ref()?.names.first()?;
        let id = self.resolved.names.find(name.as_bytes()).filter(|id| is_here(symbols, *id))?;
        let own = |internal: &&Internal| internal.id == id && internal.target == Target::GotBase;
        self.context.internals.list.iter().find(own).is_none().then_some(id)
    }

    /// Whether a live relocation refers to `_GLOBAL_OFFSET_TABLE_` itself.
    fn names_got_base(&self, symbols: &Symbols) -> bool {
        let internals = self.context.internals.list.iter();
        internals.filter(|i| i.target == Target::GotBase).any(|i| symbols[i.id].has(symbol_flags::USED))
    }
}

/// Whether the output itself defines the symbol.
fn is_here(symbols: &Symbols, id: SymbolId) -> bool {
    !matches!(symbols[id].kind(), symbol_flags::UNDEFINED | symbol_flags::SHARED)
}

impl<'a> Plan<'a> {
    /// Whether the GOT has only words for a loader, of which there is none, and a script or an object says where gp
    /// points: nothing needs it then.
    pub fn has_idle_got(&self) -> bool {
        let words = u64::from(self.slots.got_words) + self.live.local_slots.len() as u64;
        let is_without_loader = self.base_symbol.is_some() && !self.facts.mode.dynamic;
        is_without_loader && words == 0 && self.further_gots.is_none()
    }

    pub fn eh_frames(&self) -> &EhFrames {
        &self.eh_frames
    }

    pub fn symtab(&self) -> Option<&SymTab> {
        self.symtab.as_ref()
    }

    /// A plan of an output with nothing in it.
    pub fn new(mode: Mode, live: Live, resolved: &Resolved<'a>, options: &Options) -> Plan<'a> {
        let machine = mode.facts();
        Plan {
            live,
            slots: Slots::default(),
            layout: Layout { format: machine.target.format, ..Layout::default() },
            merged: Vec::new(),
            thunks: Thunks::new(options, mode),
            bases: Bases::default(),
            relax_got: false,
            plt: plt::Style::Ordinary,
            pointer: None,
            flags: crate::synth::headers::output_flags(&resolved.objects, mode),
            abi_version: crate::synth::headers::abi_version(&resolved.objects),
            attributes: Vec::new(),
            gnu_attributes: Vec::new(),
            registers: Vec::new(),
            local_words: Vec::new(),
            further_gots: None,
            base_symbol: None,
            variant_calls: None,
            dynsym: None,
            eh_frames: EhFrames::default(),
            relocs: None,
            symtab: None,
            names: Names::default(),
            tables: Tables::default(),
            properties: None,
            joined: None,
            arrays_of_script: Vec::new(),
            compressed: Vec::new(),
            reloc_form: machine.reloc_form(),
            counts: Counts::default(),
            has_tagged: false,
            far: Vec::new(),
            toc_words: Vec::new(),
            copies: Copies::default(),
            links_own_relocs: options.compat_mode != CompatMode::Lld,
            facts: SegmentFacts {
                executable_stack: false,
                os_abi: crate::synth::headers::os_abi(options.inputs.os_abi, &resolved.objects),
                mode,
                pages: PageSizes::new(&options.layout, machine),
            },
            init: None,
            fini: None,
        }
    }

    /// Whether shortened GOT loads might not reach.
    pub fn is_too_large_to_relax(&self) -> bool {
        let (end, span) = addresses::extent(&self.layout);
        // Where addresses are fixed, they become immediate operands, whose sign is extended.
        let low = end.get() <= RELAXABLE_SPAN || self.layout.image_base.get() >= TOP;
        span > RELAXABLE_SPAN || !self.facts.mode.pic && !low
    }

    /// The symbols that a script computes and that are something else than the scan was told.
    pub fn broken_promises(&self, internals: &Internals, symbols: &Symbols) -> Vec<Correction> {
        scripted::broken_promises(&self.layout, internals, symbols, self.facts.mode.pic)
    }

    /// Whether the ELF header is in memory.
    pub fn loads_headers(&self) -> bool {
        self.layout.headers_address().is_some()
    }

    /// `.dynamic`, before anything has an address.
    pub(super) fn dynamic_plan<'c>(&'c self, options: &'c Options, dynsym: &'c DynSym) -> DynamicPlan<'c> {
        DynamicPlan {
            options,
            mode: self.facts.mode,
            dynsym,
            live: &self.live,
            slots: &self.slots,
            plt: self.plt,
            variant_calls: self.variant_calls,
            counts: self.counts,
            tagged: self.has_tagged.then_some(0),
            init: self.init.map(|_| 0),
            fini: self.fini.map(|_| 0),
            has_versions: !dynsym.versym.is_empty(),
            form: self.reloc_form,
        }
    }
}
