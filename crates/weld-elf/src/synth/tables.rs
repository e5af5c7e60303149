//! Sections that are made of what inputs have in sections of the same kind: read before anything has a place,
//! which says how large they are.
//!
//! To add one: a field, and the line that plans it. It is seen by [`Sizes`](super::section::Sizes) and
//! [`Contents`](super::contents::Contents).

use crate::job::{Context, Job};
use crate::layout::MergedPart;
use crate::live::Live;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::Symbols;
use crate::synth::debug_info::object::Objects;
use crate::synth::functions::Functions;
use crate::synth::{debug_names, exidx, gdb_index, sframe};

/// `None`: there is no such section.
#[derive(Default)]
pub struct Tables<'a> {
    /// `--gdb-index`.
    pub gdb_index: Option<gdb_index::table::Table<'a>>,
    /// `--debug-names`.
    pub debug_names: Option<debug_names::table::Table>,
    pub sframe: Option<sframe::plan::SFrames>,
    pub code_index: Option<exidx::Table>,
}

/// What they are made from, once strings have been merged.
pub struct Planner<'p, 'j> {
    pub job: &'p Job<'j>,
    pub context: &'p Context<'p, 'j>,
    pub resolved: &'p Resolved<'j>,
    pub live: &'p Live,
    pub sections: &'p Sections<'j>,
    pub symbols: &'p Symbols,
    pub merged: &'p [MergedPart<'j>],
    pub plt: sframe::of_plt::Plt,
}

impl<'j> Planner<'_, 'j> {
    pub fn plan(&self) -> Tables<'j> {
        Tables {
            gdb_index: self.gdb_index(),
            debug_names: self.debug_names(),
            sframe: self.sframe(),
            code_index: self.code_index(),
        }
    }

    fn objects(&self) -> Objects<'_, 'j> {
        Objects { list: &self.resolved.objects, sections: self.sections, live: self.live }
    }

    fn gdb_index(&self) -> Option<gdb_index::table::Table<'j>> {
        if !self.job.options.sections.gdb_index {
            return None;
        }
        let _span = self.job.phase("index for GDB");
        let planner = gdb_index::plan::Planner {
            objects: self.objects(),
            store: self.job.store,
            sink: self.job.sink,
            threads: self.context.threads,
        };
        planner.plan()
    }

    fn debug_names(&self) -> Option<debug_names::table::Table> {
        if !self.job.options.sections.debug_names {
            return None;
        }
        let _span = self.job.phase("index of names");
        let planner = debug_names::plan::Planner {
            objects: self.objects(),
            owners: self.context.owners,
            merged: self.merged,
            store: self.job.store,
            sink: self.job.sink,
            threads: self.context.threads,
        };
        planner.plan()
    }

    fn code_index(&self) -> Option<exidx::Table> {
        self.context.mode.facts().code_index.as_ref()?;
        let merges = self.job.options.sections.merge_code_index;
        exidx::Table::new(&self.resolved.objects, self.sections, self.live, (merges, self.context.parallel))
    }

    fn sframe(&self) -> Option<sframe::plan::SFrames> {
        let Planner { sections, symbols, live, .. } = *self;
        let planner = sframe::plan::Planner {
            objects: &self.resolved.objects,
            functions: Functions { sections, symbols, live },
            plt: self.plt,
            sink: self.job.sink,
            parallel: self.context.parallel,
        };
        planner.plan()
    }
}
