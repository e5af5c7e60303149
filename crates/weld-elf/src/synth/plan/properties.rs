//! What all objects say of themselves together: `.note.gnu.property`, and whether the stack is executable.
//!
//! Specification: psABI "Program Property", "Linux Extensions to gABI" (`.note.GNU-stack`).

use weld_common::diag::Diagnostic;

use super::Planner;
use crate::input::object::Object;
use crate::input::sections::{ObjectSections, Sections};
use crate::options::ReportPolicy;
use crate::synth::property_note::{Properties, X86_ISA_1_NEEDED};

pub(super) const FEATURE_1_AND: u32 = 0xc000_0002;
pub(super) const FEATURE_IBT: u64 = 1;
const FEATURE_SHSTK: u64 = 2;

impl Planner<'_, '_, '_> {
    pub(super) fn executable_stack(&self, sections: &Sections) -> bool {
        let asked = |object: &ObjectSections| object.executable_stack == Some(true);
        self.job.options.layout.execstack.unwrap_or_else(|| sections.objects.iter().any(asked))
    }

    /// The merged `.note.gnu.property` of all objects; `None` if nothing is left of it.
    pub(super) fn properties(&self, sections: &Sections) -> Option<Properties> {
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
            if extra.executable_stack == Some(true) {
                self.report_stack(object);
            }
            all.push(properties);
        }
        let mut merged = Properties::merge(&all);
        let options = self.job.options;
        let forced =
            (u64::from(options.notes.ibt) * FEATURE_IBT) | (u64::from(options.notes.shstk) * FEATURE_SHSTK);
        if forced != 0 {
            merged.or_in(FEATURE_1_AND, forced);
        }
        if options.notes.isa_needed != 0 {
            merged.or_in(X86_ISA_1_NEEDED, options.notes.isa_needed.into());
        }
        (merged.size() > 0).then_some(merged)
    }

    /// The stack is as objects ask for. Few mean to: an assembler file without `.note.GNU-stack` does not ask,
    /// but a function inside a C function whose address is taken does.
    fn report_stack(&self, object: &Object) {
        let what = match self.job.options.layout.execstack {
            Some(true) => return,
            Some(false) => "which it does not get because of -z noexecstack",
            None => "and gets it (say -z execstack or -z noexecstack)",
        };
        let text = format!("{}: asks for an executable stack, {what}", object.name);
        let diagnostic = match self.job.options.reports.report_execstack {
            ReportPolicy::None => return,
            ReportPolicy::Warning => Diagnostic::warning(text),
            ReportPolicy::Error => Diagnostic::error(text),
        };
        self.job.sink.push(diagnostic.at((object.file.0 as u64) << 32));
    }

    /// `-z force-ibt` claims for the whole output what some file does not.
    fn report_forced(&self, object: &Object, properties: &Properties) {
        if self.job.options.notes.warn_missing_ibt && properties.get(FEATURE_1_AND) & FEATURE_IBT == 0 {
            let text = format!("{}: -z force-ibt: file does not have the IBT property", object.name);
            self.job.sink.push(Diagnostic::warning(text).at((object.file.0 as u64) << 32));
        }
    }

    fn report_cet(&self, object: &Object, properties: &Properties) {
        let policy = self.job.options.notes.cet_report;
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
