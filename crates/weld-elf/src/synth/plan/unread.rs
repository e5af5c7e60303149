//! Code that nobody reads (`SHF_AARCH64_PURECODE`): segments with nothing else allow execution only.
//!
//! Objects say it of their sections, and an output section is so if all of its input sections are.
//! `--execute-only` says it of all code.
//!
//! Specification: "ELF for the Arm 64-bit Architecture (AArch64)", "Section Attribute Flags".

use weld_common::diag::{Cause, Diagnostic};

use super::{Plan, Planner};
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::*;
use crate::layout::ChunkKind;
use crate::layout::error::SectionName;
use crate::options::{Options, ReportPolicy};
use crate::sections::Sections;
use crate::synth::error::PlanError;

impl Plan<'_> {
    /// Says of the linker's own code whether it is read: it need not be, and is not where no other is. And
    /// what goes between branches and their targets then is without data.
    pub(super) fn mark_unread(&mut self, machine: &Facts, options: &Options) {
        let unread = machine.execute_only;
        if unread == 0 {
            return;
        }
        let is_own = |own: Option<ChunkKind>| {
            matches!(own, Some(ChunkKind::Plt | ChunkKind::PltSec | ChunkKind::Iplt))
        };
        let code = |flags: u64| flags & SHF_ALLOC != 0 && flags & SHF_EXECINSTR != 0;
        let mut others =
            self.layout.sections.iter().filter(|out| code(out.flags) && !is_own(out.own)).peekable();
        let any = others.peek().is_some();
        let (mut all, mut some) = (any, false);
        others.for_each(|out| {
            all &= out.flags & unread != 0;
            some |= out.flags & unread != 0;
        });
        self.thunks.unread = some || options.layout.execute_only;
        if all && self.joined.is_none() {
            let own = self.layout.sections.iter_mut().filter(|out| is_own(out.own));
            own.for_each(|out| out.flags |= unread);
        }
    }

    /// Refuses data among code that nobody is to read.
    pub(super) fn check_unread(&self, options: &Options, sections: &Sections) -> Result<(), PlanError> {
        if !options.layout.execute_only {
            return Ok(());
        }
        for used in sections.objects.iter().flat_map(|object| object.uses.iter()).filter(|used| used.has_data)
        {
            let Some(out) = self.layout.out_of(used.bin).map(|out| &self.layout[out]) else { continue };
            if out.flags & SHF_EXECINSTR != 0 && out.flags & SHF_ALLOC != 0 {
                return Err(PlanError::DataInCode(SectionName::of(out)));
            }
        }
        Ok(())
    }
}

impl Planner<'_, '_, '_> {
    /// Says which code may be read, if somebody asks, and what cannot be asked for.
    pub(super) fn report_unread(&self, sections: &Sections) {
        let (layout, machine) = (&self.job.options.layout, self.context.mode.facts());
        let policy = layout.execute_only_report;
        let asked = [
            ("--execute-only", layout.execute_only),
            ("--xosegment", layout.xosegment),
            ("-z execute-only-report", policy != ReportPolicy::None),
        ];
        if machine.execute_only == 0 {
            for (option, _) in asked.iter().filter(|(_, asked)| *asked) {
                self.job.sink.error(
                    Cause::ExecuteOnly,
                    format!("{option}: {} has no code that nobody reads", machine.name),
                );
            }
            return;
        }
        if layout.execute_only && !layout.rosegment {
            self.job.sink.error(
                Cause::ExecuteOnly,
                "--execute-only: with --no-rosegment data lies in the segment of code",
            );
        }
        if policy == ReportPolicy::None {
            return;
        }
        for object in &self.resolved.objects {
            for (shndx, shdr) in object.shdrs.iter().enumerate() {
                let id = SectionId(object.section_base + shndx as u32);
                let is_read = shdr.sh_flags() & (SHF_EXECINSTR | machine.execute_only) == SHF_EXECINSTR;
                if !is_read || shdr.sh_size() == 0 || !sections.get(id).in_image() || !self.live.contains(id)
                {
                    continue;
                }
                let text = format!(
                    "-z execute-only-report: section does not say that nobody reads it: {}:({})",
                    object.name,
                    object.section_label(shndx)
                );
                let diagnostic = match policy {
                    ReportPolicy::Error => Diagnostic::error(Cause::ExecuteOnly, text),
                    _ => Diagnostic::warning(Cause::ExecuteOnly, text),
                };
                self.job.sink.push(diagnostic.of(object.file, shndx as u32));
            }
        }
    }
}
