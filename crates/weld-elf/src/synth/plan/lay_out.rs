//! Making output sections and giving them their places, again where something does not fit as it was laid out: GOTs that have
//! to be shared out anew, and what depends on addresses.

use std::cell::RefCell;
use std::collections::HashSet;

use weld_common::diag::Cause;
use weld_common::trace;

use super::{Link, Places, Plan, Wishes};
use crate::job::Job;
use crate::layout::ChunkKind;
use crate::layout::error::{LayoutError, SectionName};
use crate::layout::members::Builder;
use crate::layout::program::Program;
use crate::layout::{scripted, settle};
use crate::options::{Orphans, OutputKind};
use crate::synth::all;
use crate::synth::android_relocs;
use crate::synth::copyrel::Copies;
use crate::synth::emitted_relocs::{self, Lists};
use crate::synth::error::PlanError;
use crate::synth::further_gots::{FurtherGots, share_out};
use crate::synth::image::Image;
use crate::synth::joined::link_tables;
use crate::synth::local_got;
use crate::synth::memtag_globals;
use crate::synth::rela::{self, Counter};
use crate::synth::section::Sizes;
use crate::synth::thunks::Thunks;

impl<'a> Plan<'a> {
    /// Makes output sections, and gives them their places.
    ///
    /// # Errors
    /// If they do not fit the address space or a file, or something that they have to say cannot be said.
    pub fn lay_out(
        &mut self,
        link: Link<'_, 'a>,
        places: &mut Places<'_, 'a>,
        wishes: Wishes,
    ) -> Result<(), PlanError> {
        let Link { job, context, resolved } = link;
        let (options, machine) = (job.options, context.mode.facts());
        let program = match context.mode.relocatable {
            true => Program::object(options, machine),
            false => Program::new(options, machine, self.facts.os_abi),
        };
        let rules = context.rules.filter(|rules| rules.may_spill() && self.joined.is_none());
        let mut rounds = 0;
        loop {
            let Err(error) = self.lay_out_once(link, places, wishes, &program) else {
                if self.fits_what_depends_on_addresses(link, places, &program)? {
                    break;
                }
                self.thunks = Thunks::new(options, self.facts.mode);
                continue;
            };
            // What does not fit where it is may have another place.
            let Some(rules) = rules.filter(|_| rounds < scripted::SPILLS) else { return Err(error) };
            let (objects, owners) = (&resolved.objects[..], context.owners);
            let spiller = scripted::Spiller { rules, objects, owners, machine };
            if !spiller.spill(&self.layout, places.sections, &mut self.merged) {
                return Err(error);
            }
            rounds += 1;
            self.thunks = Thunks::new(options, self.facts.mode);
        }
        self.report_homeless(job);
        self.thunks.check(&resolved.objects, context.owners)?;
        self.name_code(resolved)
    }

    /// Makes room for what takes more or less of it depending on all addresses. `false` if there has to be
    /// another layout, because something else is in some sections than was thought.
    fn fits_what_depends_on_addresses(
        &mut self,
        link: Link<'_, 'a>,
        places: &mut Places<'_, 'a>,
        program: &Program,
    ) -> Result<bool, PlanError> {
        let Link { job, context, .. } = link;
        let has_dynsym = self.layout.chunk(ChunkKind::DynSym).is_some();
        if let Some(dynsym) = self.dynsym.as_mut().filter(|_| !has_dynsym) {
            dynsym.forget_numbers();
        }
        if job.options.relocs.pack_android {
            let size = |image: &Image, copies: &Copies| {
                let dynamics = rela::collect(image, context.owners, copies, context.parallel);
                android_relocs::of_image(image, &dynamics).len() as u64
            };
            self.make_room(ChunkKind::RelaDyn, size, link, places, program)?;
        }
        if let Some(tagged) = context.tagged.filter(|_| self.has_tagged) {
            let size = |image: &Image, _: &Copies| memtag_globals::encode(image, tagged, |_| {}).len() as u64;
            self.make_room(ChunkKind::MemtagGlobals, size, link, places, program)?;
        }
        if self.slots.local_words > 0 {
            let words = RefCell::new(Vec::new());
            let (got_words, head) = (self.slots.got_words, context.mode.facts().got_head());
            let size = |image: &Image, _: &Copies| {
                let found = local_got::words(image, context.owners, context.parallel);
                let further = image.further_gots.map_or(0, FurtherGots::words);
                let count = u64::from(head) + found.len() as u64 + u64::from(got_words) + further;
                words.replace(found);
                image.bases.slot * count
            };
            self.make_room(ChunkKind::Got, size, link, places, program)?;
            self.local_words = words.into_inner();
            if !self.has_gots_for_all(link, places) {
                return Ok(false);
            }
        }
        if self.counts.signed == 0 {
            return Ok(true);
        }
        let dynamics = self.dynamics(link, places);
        Ok(!rela::find_far(self, dynamics))
    }

    /// Makes further GOTs if one is too large. `false` if there has to be another layout: there are some now, or those
    /// that there are want to be larger.
    fn has_gots_for_all(&mut self, link: Link<'_, 'a>, places: &mut Places<'_, 'a>) -> bool {
        let Link { job, context, resolved } = link;
        let look = |image: &Image, _: &Copies| {
            image.further_gots.map(|gots| gots.local_words(image, context.owners))
        };
        let lists = if self.further_gots.is_some() { self.as_placed(link, places, look) } else { None };
        if let (Some(gots), Some(lists)) = (&mut self.further_gots, lists) {
            if gots.keep(lists) {
                return true;
            }
        } else {
            let most = job.options.relocs.mips_got_size;
            let share = |image: &Image, _: &Copies| share_out(image, context.owners, most, context.parallel);
            let Some((gots, first)) = self.as_placed(link, places, share) else { return true };
            let looked_up = self.slots.looked_up_entries(places.symbols).collect::<HashSet<_>>();
            self.slots.retain(|entry| looked_up.contains(&entry) || first.contains(&entry));
            self.further_gots = Some(gots);
        }
        let counter = Counter {
            resolved,
            sections: places.sections,
            symbols: places.symbols,
            live: &self.live,
            owners: context.owners,
            slots: &self.slots,
            further_gots: self.further_gots.as_ref(),
            options: job.options,
            mode: context.mode,
        };
        self.counts = counter.count(&self.copies, context.parallel);
        self.local_words.clear();
        self.slots.local_words = context.mode.facts().got_head().into();
        false
    }

    /// Lays out until a chunk has room for what it takes where everything has its address.
    fn make_room(
        &mut self,
        kind: ChunkKind,
        size: impl Fn(&Image, &Copies) -> u64,
        link: Link<'_, 'a>,
        places: &mut Places<'_, 'a>,
        program: &Program,
    ) -> Result<(), PlanError> {
        const ROUNDS: usize = 64;
        for _ in 0..ROUNDS {
            let Some((id, chunk)) = self.layout.chunk_with_id(kind) else { return Ok(()) };
            let room = chunk.size;
            let size = self.as_placed(link, places, &size);
            if size <= room {
                return Ok(());
            }
            settle::resize(&mut self.layout, places.sections, id, size);
            self.settle(link, places, program)?;
        }
        let what = self.layout.chunk(kind).map(|chunk| SectionName::of(&self.layout[chunk.out]).to_string());
        Err(LayoutError::Unsettled { what: what.unwrap_or_default().into(), rounds: ROUNDS }.into())
    }

    /// Makes output sections, and gives them their places, if all that is in them fits.
    fn lay_out_once(
        &mut self,
        link: Link<'_, 'a>,
        places: &mut Places<'_, 'a>,
        Wishes { commons, order }: Wishes,
        program: &Program,
    ) -> Result<(), PlanError> {
        let Link { job, context, resolved } = link;
        let sections = &mut *places.sections;
        let (options, machine) = (job.options, context.mode.facts());
        let objects = &resolved.objects;
        let stretch = trace::stretch("synthetic chunks");
        let specs = all::specs(&Sizes { plan: self, options, objects, sections, commons });
        drop(stretch);
        let keeps_relocs = options.keeps_relocs() && self.symtab.is_some();
        let internals = context.internals;
        let source = context.rules.zip(context.inputs.script()).map(|(rules, script)| scripted::Source {
            script,
            rules,
            names: &internals.script_names,
            internals,
        });
        let mut kept_relocs = emitted_relocs::Planner {
            form: machine.kept_reloc_form(),
            objects,
            owners: context.owners,
            eh_frames: &self.eh_frames,
            parallel: context.parallel,
            lists: Lists::default(),
        };
        let builder = Builder {
            objects,
            sections,
            live: &self.live,
            owners: context.owners,
            order,
            options,
            machine,
            program,
            heads: self.joined.as_ref().map(|joined| &joined.heads[..]),
            kept_relocs: if keeps_relocs { Some(&mut kept_relocs) } else { None },
            script: source.as_ref(),
            parallel: context.parallel,
        };
        let layout = builder.build(specs)?;
        let lists = kept_relocs.lists;
        self.layout = layout;
        self.mark_unread(machine, options);
        self.check_unread(options, places.sections)?;
        self.name_merged_chunks();
        if keeps_relocs {
            self.keep_relocs(lists, link, places)?;
        }
        let _stretch = trace::stretch("segments and addresses");
        self.finish_sections()?;
        if self.joined.is_some() {
            link_tables(&mut self.layout, resolved, context.owners);
        }
        self.settle(link, places, program)
    }

    /// What a script has no place for: `--orphan-handling` for what the linker makes, and sections outside
    /// all memory regions.
    fn report_homeless(&self, job: &Job) {
        for name in self.layout.script.iter().flat_map(|script| script.outside_regions(&self.layout)) {
            let name = String::from_utf8_lossy(name);
            let text = format!("section {name} is in none of the script's memory regions");
            match job.options.layout.check_sections {
                true => job.sink.error(Cause::RegionOverflow, text),
                false => job.sink.warn(Cause::RegionOverflow, text),
            }
        }
        // What -r makes has no program headers.
        let loaded = self.layout.script.iter().filter(|_| job.options.kind != OutputKind::Relocatable);
        let wrong = loaded.flat_map(|script| script.not_loaded(&self.layout));
        for (text, is_error) in wrong {
            match is_error {
                true => job.sink.error(Cause::RegionOverflow, text),
                false => job.sink.warn(Cause::RegionOverflow, text),
            }
        }
        for name in self.layout.script.iter().flat_map(|script| &script.orphans) {
            let text = format!("{name}: no output section of the script is for it");
            match job.options.layout.orphans {
                Orphans::Warn => job.sink.warn(Cause::OrphanSection, text),
                Orphans::Error => job.sink.error(Cause::OrphanSection, text),
                Orphans::Place | Orphans::Discard => {}
            }
        }
    }

    /// Tells of an image that starts within a page.
    pub(super) fn check_base(&self, job: &Job) {
        let (base, page, layout) = (self.layout.image_base, self.facts.pages.max, &self.layout);
        let moved = !base.is_multiple_of(page) && !layout.raw && !layout.is_by_script();
        if moved && (self.relax_got || !job.options.relocs.relax) {
            let text = format!("--image-base={base:#x} is not a multiple of the page size {page:#x}");
            job.sink.warn(Cause::OptionWithoutEffect, text);
        }
    }
}
