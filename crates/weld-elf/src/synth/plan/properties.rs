//! What all objects say of themselves together: `.note.gnu.property`, attributes that say the same, and
//! whether the stack is executable.
//!
//! Specification: psABI "Program Property", "Linux Extensions to gABI" (`.note.GNU-stack`).

use weld_common::diag::{Cause, Diagnostic};

use super::Planner;
use crate::arch::facts::{
    Apart, Attributes, AttributesOutput, ControlFlow, Facts, Labels, Landing, SaidOfCode, Unread,
    WITHOUT_PREFIXES,
};
use crate::arch::plt::Style;
use crate::elf::{SHT_NOTE, slice};
use crate::got_plt_slots::Slots;
use crate::ids::FileId;
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::job::Job;
use crate::live::fact;
use crate::mode::Mode;
use crate::options::{IsaReport, LandingPads, ReportPolicy};
use crate::resolve::Resolved;
use crate::sections::{ObjectSections, Sections};
use crate::symbols::tagged::Tagged;
use crate::symbols::{Symbols, symbol_flags};
use crate::synth::property_note::{Agreement, Contradiction, MEMORY_SEAL, Properties};

/// `GNU_PROPERTY_1_NEEDED`, and what it says of data and functions of other modules.
const NEEDED: u32 = 0xb000_8000;
const NEEDED_INDIRECT_EXTERN_ACCESS: u64 = 1;

/// What one object says, in notes and in attributes. One without claims nothing.
fn of_object(job: &Job, machine: &'static Facts, object: &Object, extra: &ObjectSections) -> Properties {
    let mut properties = Properties::new(machine);
    for note in object.data_of(&extra.properties) {
        if let Err(e) = properties.parse(note, machine.target.format) {
            job.sink.push(Diagnostic::error(
                Cause::MalformedObject,
                format!("{}:(.note.gnu.property): {e}", object.name),
            ));
        }
    }
    if let Some(Attributes { name, output: AttributesOutput::Properties(read), .. }) = &machine.attributes {
        let data: Vec<&[u8]> = object.data_of(&extra.attributes).collect();
        match read(&data, machine.target.format) {
            Ok(said) => add_attributes(job, object, machine, name, &mut properties, said),
            Err(Unread { text, required }) => {
                let text = format!("{}:({name}): {text}", object.name);
                job.sink.push(match required {
                    true => Diagnostic::error(Cause::IncompatibleObjects, text),
                    false => Diagnostic::warning(Cause::IncompatibleObjects, text)
                        .note("the section is passed over: it claims nothing"),
                });
            }
        }
    }
    properties
}

/// The names of bits of [`Landing::property`].
fn features(machine: &Facts, bits: u64) -> String {
    let landing = machine.properties.landing.as_ref();
    let known = landing.map_or([(0, ""); 3], |landing| {
        [(landing.marked, "BTI"), (landing.signed, "PAC"), (landing.guarded_stack, "GCS")]
    });
    let mut names: Vec<String> =
        known.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| (*name).to_owned()).collect();
    let rest = known.iter().fold(bits, |rest, (bit, _)| rest & !bit);
    if rest != 0 {
        names.push(format!("{rest:#x}"));
    }
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// The levels of x86-64 that bits of a property stand for.
fn levels(bits: u64) -> String {
    const NAMES: [&str; 4] = ["x86-64-baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4"];
    let known = (0..).zip(NAMES).filter(|(i, _)| bits >> i & 1 != 0).map(|(_, name)| name.to_owned());
    let rest = bits & !0xf;
    known.chain((rest != 0).then(|| format!("{rest:#x}"))).collect::<Vec<_>>().join(", ")
}

/// Adds what the section `name` says to what a note does.
fn add_attributes(
    job: &Job,
    object: &Object,
    machine: &Facts,
    name: &str,
    properties: &mut Properties,
    said: SaidOfCode,
) {
    match properties.add(said) {
        Ok(Agreement::Same) => {}
        Ok(Agreement::Both { note, attributes }) => {
            let text = format!(
                "{}: {name} claims {}, but .note.gnu.property {}; only what both claim counts",
                object.name,
                features(machine, attributes),
                features(machine, note)
            );
            report(job, ReportPolicy::Warning, Cause::IncompatibleObjects, text, object.file);
        }
        Err(Contradiction { note, attributes }) => {
            let text = format!(
                "{}: {name} says that pointers are signed by version {:#x} for platform {:#x}, but .note.gnu.property \
                 by version {:#x} for platform {:#x}",
                object.name, attributes.version, attributes.platform, note.version, note.platform
            );
            report(job, ReportPolicy::Error, Cause::IncompatibleObjects, text, object.file);
        }
    }
}

/// What a shared object says. Its notes are the loader's, so what is wrong with them is not said here.
fn of_library(machine: &'static Facts, library: &Shared) -> Properties {
    let mut properties = Properties::new(machine);
    for shdr in library.shdrs.iter().filter(|shdr| shdr.sh_type() == SHT_NOTE) {
        if let Some(bytes) = slice(library.data, shdr.sh_offset(), shdr.file_size()) {
            _ = properties.parse(bytes, library.format);
        }
    }
    properties
}

/// What the output says of its code: what all objects say together, and what the command line asks for or
/// about.
pub struct Asker<'c, 'j> {
    pub job: &'c Job<'j>,
    pub resolved: &'c Resolved<'j>,
    pub mode: Mode,
}

/// Objects that say by which conventions their pointers are signed have to agree; of those that do not say it
/// there may be a report.
fn check_signing(job: &Job, objects: &[Object], all: &[Properties]) {
    let said = |(object, properties): (usize, &Properties)| Some((&objects[object], properties.signing()?));
    let Some((first, signing)) = all.iter().enumerate().find_map(said) else { return };
    for (object, properties) in objects.iter().zip(all) {
        let (policy, text) = match properties.signing() {
            Some(other) if other == signing => continue,
            Some(other) => (
                ReportPolicy::Error,
                format!(
                    "{}: signs pointers by version {:#x} for platform {:#x}, but {} by version {:#x} for platform {:#x}",
                    object.name, other.version, other.platform, first.name, signing.version, signing.platform
                ),
            ),
            None => (
                job.options.notes.pauth_report,
                format!(
                    "{}: -z pauth-report: file does not say how it signs pointers, but {} does",
                    object.name, first.name
                ),
            ),
        };
        report(job, policy, Cause::IncompatibleObjects, text, object.file);
    }
}

/// Objects whose marks have no labels and have labels cannot be. `-z zicfilp` overrules what they say.
fn check_labels(job: &Job, objects: &[Object], all: &[Properties], labels: &Labels) {
    let (option, overruled, name) = match job.options.notes.zicfilp {
        Some(LandingPads::Unlabeled) => ("-z zicfilp=unlabeled", labels.by_type, "with labels"),
        Some(LandingPads::ByType) => ("-z zicfilp=func-sig", labels.unlabeled, "without labels"),
        _ => ("", 0, ""),
    };
    for (object, properties) in objects.iter().zip(all) {
        let (has, both) = (properties.get(labels.property), labels.unlabeled | labels.by_type);
        if has & both == both {
            let text = format!("{}: claims landing pads with labels, and landing pads without", object.name);
            report(job, ReportPolicy::Error, Cause::IncompatibleObjects, text, object.file);
        } else if has & overruled != 0 {
            let text = format!("{}: {option}: file has landing pads {name}", object.name);
            report(job, ReportPolicy::Warning, Cause::IncompatibleObjects, text, object.file);
        }
    }
}

/// Says `text` of a file, if and as `policy` asks for.
fn report(job: &Job, policy: ReportPolicy, cause: Cause, text: String, file: FileId) {
    let diagnostic = match policy {
        ReportPolicy::None => return,
        ReportPolicy::Warning => Diagnostic::warning(cause, text),
        ReportPolicy::Error => Diagnostic::error(cause, text),
    };
    job.sink.push(diagnostic.of(file, 0));
}

/// Whether PLT entries are called by code that does not know of them: IFUNCs of this output, and what is
/// known by the address of its entry.
fn has_unprepared_callers(slots: &Slots, symbols: &Symbols) -> bool {
    let is_canonical = |slot: &&u32| {
        let id = slots.list[**slot as usize].id;
        id.is_some() && symbols[id].has(symbol_flags::NEEDS_CANONICAL_PLT)
    };
    !slots.ifuncs().is_empty() || slots.plt.iter().any(|slot| is_canonical(&slot))
}

impl Planner<'_, '_, '_> {
    pub(super) fn executable_stack(&self, sections: &Sections) -> bool {
        let asked = |object: &ObjectSections| object.executable_stack == Some(true);
        self.job.options.layout.execstack.unwrap_or_else(|| sections.objects.iter().any(asked))
    }

    pub(super) fn properties(&self, sections: &Sections) -> Option<Properties> {
        Asker { job: self.job, resolved: self.resolved, mode: self.context.mode }.properties(sections)
    }

    /// What PLT entries are like: as asked for, or marked if all code is.
    pub(super) fn plt_style(
        &self,
        properties: Option<&Properties>,
        slots: &Slots,
        symbols: &Symbols,
    ) -> Style {
        let options = self.job.options;
        let machine = self.context.mode.facts();
        let retpoline = options.dynamic.retpolines;
        if retpoline && machine.plt.retpolines.is_none() {
            self.job.sink.error(
                Cause::UnsupportedOption,
                format!("-z retpolineplt is not supported for {}", machine.name),
            );
        }
        if options.dynamic.hazard_barriers && !machine.plt.has_barriers {
            self.job.sink.error(
                Cause::UnsupportedOption,
                format!("-z hazardplt is not supported for {}", machine.name),
            );
        }
        if options.dynamic.mark_plt && (machine.plt.marks.is_none() || retpoline) {
            let why =
                if retpoline { "with -z retpolineplt".to_owned() } else { format!("for {}", machine.name) };
            self.job.sink.error(Cause::UnsupportedOption, format!("-z mark-plt is not supported {why}"));
        }
        if machine
            .branches
            .as_ref()
            .and_then(|branches| branches.sets)
            .is_some_and(|sets| (sets.has_second_plt)(self.context.mode.features))
        {
            return Style::Thumb;
        }
        if let Some(Apart { second: None, .. }) = &machine.plt.apart {
            return match machine.plt.anywhere.is_some() && self.context.mode.pic {
                true => Style::Anywhere { marked: false, retpoline: false },
                false => Style::Ordinary,
            };
        }
        if machine.plt.apart.is_some() {
            let called = self.live.has(fact::CALLS_WITHOUT_BASE);
            let old = self.live.has(fact::CALLS_WITHOUT_PREFIXES)
                || self.context.mode.features & WITHOUT_PREFIXES != 0;
            return match called || has_unprepared_callers(slots, symbols) {
                true => Style::Relative { prefixed: called && !old },
                false => Style::Ordinary,
            };
        }
        let bits = |p: &Properties, c: &ControlFlow| p.get(c.property) & c.ibt;
        let ibt = properties.zip(machine.properties.control_flow.as_ref());
        let ibt = options.notes.ibtplt || ibt.is_some_and(|(p, c)| bits(p, c) != 0);
        if machine.plt.anywhere.is_some() && self.context.mode.pic && has_unprepared_callers(slots, symbols) {
            return Style::Anywhere { marked: ibt && !retpoline, retpoline };
        }
        if retpoline {
            return Style::Retpoline { lazy: slots.jump_slots > 0 && !options.dynamic.now };
        }
        if machine.plt.guarded.is_some() {
            let marked = properties.zip(machine.properties.landing.as_ref());
            let marked = marked.is_some_and(|(p, landing)| p.get(landing.property) & landing.marked != 0);
            let padded = properties.zip(machine.properties.labels.as_ref());
            let padded = padded.is_some_and(|(p, l)| p.get(l.property) & (l.unlabeled | l.by_type) != 0);
            let marked = marked || padded;
            let signed = options.notes.pac_plt;
            return if marked || signed { Style::Guarded { marked, signed } } else { Style::Ordinary };
        }
        if ibt { Style::Marked } else { Style::Ordinary }
    }
}

impl Asker<'_, '_> {
    /// The merged `.note.gnu.property` of all objects; `None` if nothing is left of it.
    pub fn properties(&self, sections: &Sections) -> Option<Properties> {
        let machine = self.mode.facts();
        let format = machine.target.format;
        let mut all = Vec::with_capacity(sections.objects.len());
        for (object, extra) in self.resolved.objects.iter().zip(&sections.objects) {
            let properties = of_object(self.job, machine, object, extra);
            if object.name.is_made() {
                // It says what the first one says.
                all.push(properties);
                continue;
            }
            if let Some(control_flow) = &machine.properties.control_flow {
                self.report_cet(object, &properties, control_flow);
                self.report_levels(object, &properties, control_flow);
                self.report_forced(object, &properties, control_flow);
            }
            if let Some(landing) = &machine.properties.landing {
                self.report_landing(object, &properties, landing);
            }
            if let Some(labels) = &machine.properties.labels {
                self.report_labels(object, &properties, labels);
            }
            let usual = machine.executes_stack && self.job.options.layout.execstack.is_none();
            if extra.executable_stack == Some(true) && !self.mode.relocatable && !usual {
                self.report_stack(object);
            }
            if extra.has_tagged_variables {
                self.report_tagging(object);
            }
            all.push(properties);
        }
        if machine.properties.signing.is_some() {
            check_signing(self.job, &self.resolved.objects, &all);
        }
        let mut merged = Properties::merge(machine, &all);
        match &machine.properties.labels {
            Some(labels) => {
                check_labels(self.job, &self.resolved.objects, &all, labels);
                self.claim_labels(&mut merged, labels);
            }
            None => self.refuse_labels(),
        }
        match &machine.properties.control_flow {
            Some(control_flow) => self.claim(&mut merged, control_flow),
            None => self.refuse_claims(),
        }
        if self.job.options.notes.memory_seal && !self.mode.relocatable {
            merged.or_in(MEMORY_SEAL, 1);
        }
        match &machine.properties.landing {
            Some(landing) => self.claim_landing(&mut merged, landing),
            None => self.refuse_landing(),
        }
        if let Some(landing) = &machine.properties.landing {
            self.report_libraries(&merged, landing);
        }
        match self.job.options.notes.indirect_extern_access {
            Some(true) => merged.or_in(NEEDED, NEEDED_INDIRECT_EXTERN_ACCESS),
            Some(false) => merged.take_out(NEEDED, NEEDED_INDIRECT_EXTERN_ACCESS),
            None => {}
        }
        (merged.size(format) > 0).then_some(merged)
    }

    /// Names the shared objects because of which the loader will not keep return addresses twice, though the
    /// output asks for it.
    fn report_libraries(&self, merged: &Properties, landing: &Landing) {
        let notes = &self.job.options.notes;
        let as_objects =
            if notes.gcs_report == ReportPolicy::None { ReportPolicy::None } else { ReportPolicy::Warning };
        let policy = notes.gcs_report_dynamic.unwrap_or(as_objects);
        let wanted = landing.guarded_stack;
        if policy == ReportPolicy::None || merged.get(landing.property) & wanted == 0 {
            return;
        }
        for library in &self.resolved.shared {
            if of_library(self.mode.facts(), library).get(landing.property) & wanted == 0 {
                let text =
                    format!("{}: -z gcs-report-dynamic: file does not have the GCS property", library.name);
                report(self.job, policy, Cause::MissingProperty, text, library.file);
            }
        }
    }

    /// What the command line says of the code.
    fn claim(&self, merged: &mut Properties, control_flow: &ControlFlow) {
        let options = self.job.options;
        let ibt = u64::from(options.notes.ibt) * control_flow.ibt;
        // Who puts up with data above bit 48 does so above bit 57.
        let lam = (u64::from(options.notes.lam_u48) * (control_flow.lam_u48 | control_flow.lam_u57))
            | (u64::from(options.notes.lam_u57) * control_flow.lam_u57);
        let forced = ibt | (u64::from(options.notes.shstk) * control_flow.shstk) | lam;
        if self.mode.facts().target.format.word() < 8 {
            self.refuse_lam();
        }
        if forced != 0 {
            merged.or_in(control_flow.property, forced);
        }
        if options.dynamic.retpolines {
            // Entries have no marks, and return to where nothing has called from.
            merged.take_out(control_flow.property, control_flow.ibt | control_flow.shstk);
        }
        if options.notes.isa_needed != 0 {
            merged.or_in(control_flow.isa_needed, options.notes.isa_needed.into());
        }
    }

    /// Pointers with 32 bits have no room for anything else.
    fn refuse_lam(&self) {
        let notes = &self.job.options.notes;
        let reports = [notes.lam_u48_report, notes.lam_u57_report];
        if notes.lam_u48 || notes.lam_u57 || reports.iter().any(|report| *report != ReportPolicy::None) {
            let machine = self.mode.facts().name;
            self.job.sink.error(
                Cause::UnsupportedOption,
                format!("-z lam-u48 and its kin: {machine} has no such property"),
            );
        }
    }

    /// What is asked for and means nothing on this machine.
    fn refuse_claims(&self) {
        let notes = &self.job.options.notes;
        let asked = [
            ("-z force-ibt", notes.ibt),
            ("-z ibtplt", notes.ibtplt),
            ("-z shstk", notes.shstk),
            ("-z cet-report", notes.cet_report != ReportPolicy::None),
            ("-z lam-u48 and its kin", notes.lam_u48 || notes.lam_u57),
            ("-z lam-u48-report", notes.lam_u48_report != ReportPolicy::None),
            ("-z lam-u57-report", notes.lam_u57_report != ReportPolicy::None),
            ("-z isa-level-report", notes.isa_report != IsaReport::default()),
            ("-z x86-64-baseline and its kin", notes.isa_needed != 0),
        ];
        for (option, _) in asked.iter().filter(|(_, asked)| *asked) {
            let machine = self.mode.facts().name;
            self.job
                .sink
                .error(Cause::UnsupportedOption, format!("{option}: {machine} has no such property"));
        }
    }

    /// As [`Self::claim`], for a machine with marks.
    fn claim_landing(&self, merged: &mut Properties, landing: &Landing) {
        let notes = &self.job.options.notes;
        if notes.force_bti {
            merged.or_in(landing.property, landing.marked);
        }
        let memtag = &notes.memtag;
        if memtag.mode.is_none() && (memtag.heap || memtag.stack) {
            let text =
                "--android-memtag-heap and --android-memtag-stack do nothing without --android-memtag-mode";
            self.job.sink.warn(Cause::OptionWithoutEffect, text.to_owned());
        }
        match notes.gcs {
            Some(true) => merged.or_in(landing.property, landing.guarded_stack),
            Some(false) => merged.take_out(landing.property, landing.guarded_stack),
            None => {}
        }
    }

    /// As [`Self::claim`], for a machine whose marks may have labels.
    fn claim_labels(&self, merged: &mut Properties, labels: &Labels) {
        let notes = &self.job.options.notes;
        if let Some(pads) = notes.zicfilp {
            merged.take_out(labels.property, labels.unlabeled | labels.by_type);
            match pads {
                LandingPads::Unlabeled => merged.or_in(labels.property, labels.unlabeled),
                LandingPads::ByType => merged.or_in(labels.property, labels.by_type),
                LandingPads::None => {}
            }
        }
        match notes.zicfiss {
            Some(true) => merged.or_in(labels.property, labels.shadow_stack),
            Some(false) => merged.take_out(labels.property, labels.shadow_stack),
            None => {}
        }
    }

    /// Says which objects do not have what the command line asks about.
    fn report_labels(&self, object: &Object, properties: &Properties, labels: &Labels) {
        let notes = &self.job.options.notes;
        let asked = [
            (
                "zicfilp-unlabeled",
                notes.zicfilp_unlabeled_report,
                labels.unlabeled,
                "landing pads without labels",
            ),
            ("zicfilp-func-sig", notes.zicfilp_func_sig_report, labels.by_type, "landing pads with labels"),
            ("zicfiss", notes.zicfiss_report, labels.shadow_stack, "shadow stacks"),
        ];
        for (option, policy, bit, name) in asked {
            if properties.get(labels.property) & bit == 0 {
                let text = format!("{}: -z {option}-report: file does not claim {name}", object.name);
                report(self.job, policy, Cause::MissingProperty, text, object.file);
            }
        }
    }

    /// As [`Self::refuse_claims`], for a machine without such labels.
    fn refuse_labels(&self) {
        let notes = &self.job.options.notes;
        let asked = [
            ("-z zicfilp", notes.zicfilp.is_some()),
            ("-z zicfiss", notes.zicfiss.is_some()),
            ("-z zicfilp-unlabeled-report", notes.zicfilp_unlabeled_report != ReportPolicy::None),
            ("-z zicfilp-func-sig-report", notes.zicfilp_func_sig_report != ReportPolicy::None),
            ("-z zicfiss-report", notes.zicfiss_report != ReportPolicy::None),
        ];
        for (option, _) in asked.iter().filter(|(_, asked)| *asked) {
            let machine = self.mode.facts().name;
            self.job
                .sink
                .error(Cause::UnsupportedOption, format!("{option}: {machine} has no such property"));
        }
    }

    /// As [`Self::refuse_claims`], for a machine without marks.
    fn refuse_landing(&self) {
        let notes = &self.job.options.notes;
        let asked = [
            ("-z force-bti", notes.force_bti),
            ("-z pac-plt", notes.pac_plt),
            ("-z gcs", notes.gcs.is_some()),
            ("-z bti-report", notes.bti_report != ReportPolicy::None),
            ("-z gcs-report", notes.gcs_report != ReportPolicy::None),
            (
                "-z gcs-report-dynamic",
                notes.gcs_report_dynamic.is_some_and(|policy| policy != ReportPolicy::None),
            ),
            ("-z pauth-report", notes.pauth_report != ReportPolicy::None),
            ("--android-memtag-mode", notes.memtag.mode.is_some()),
            ("--android-memtag-heap", notes.memtag.heap),
            ("--android-memtag-stack", notes.memtag.stack),
        ];
        for (option, _) in asked.iter().filter(|(_, asked)| *asked) {
            let machine = self.mode.facts().name;
            self.job
                .sink
                .error(Cause::UnsupportedOption, format!("{option}: {machine} has no such property"));
        }
    }

    /// Says which objects do not have what the command line asks for or about.
    fn report_landing(&self, object: &Object, properties: &Properties, landing: &Landing) {
        let notes = &self.job.options.notes;
        let has = properties.get(landing.property);
        let forced = if notes.force_bti { ReportPolicy::Warning } else { ReportPolicy::None };
        let bti = match notes.bti_report {
            ReportPolicy::None => ("-z force-bti", forced),
            policy => ("-z bti-report", policy),
        };
        let pac = if notes.pac_plt { ReportPolicy::Warning } else { ReportPolicy::None };
        let asked = [
            (bti.0, bti.1, landing.marked, "BTI"),
            ("-z gcs-report", notes.gcs_report, landing.guarded_stack, "GCS"),
            ("-z pac-plt", pac, landing.signed, "PAC"),
        ];
        for (option, policy, bit, name) in asked {
            if has & bit == 0 {
                let text = format!("{}: {option}: file does not have the {name} property", object.name);
                report(self.job, policy, Cause::MissingProperty, text, object.file);
            }
        }
    }

    /// Its variables are not tagged: the loader is not told of them.
    fn report_tagging(&self, object: &Object) {
        let (options, mode) = (self.job.options, &self.mode);
        if options.notes.memtag.mode.is_some() && mode.dynamic && !Tagged::is_wanted(options, mode) {
            let text = format!("{}: asks for tagged variables, which are left without tags", object.name);
            report(self.job, ReportPolicy::Warning, Cause::OptionWithoutEffect, text, object.file);
        }
    }

    /// The stack is as objects ask for. Few mean to: an assembler file without `.note.GNU-stack` does not
    /// ask, but a function inside a C function whose address is taken does.
    fn report_stack(&self, object: &Object) {
        let what = match self.job.options.layout.execstack {
            Some(true) => return,
            Some(false) => "which it does not get because of -z noexecstack",
            None => "and gets it (say -z execstack or -z noexecstack)",
        };
        let text = format!("{}: asks for an executable stack, {what}", object.name);
        report(
            self.job,
            self.job.options.reports.report_execstack,
            Cause::ExecutableStack,
            text,
            object.file,
        );
    }

    /// `-z force-ibt` claims for the whole output what some file does not.
    fn report_forced(&self, object: &Object, properties: &Properties, control_flow: &ControlFlow) {
        if self.job.options.notes.warn_missing_ibt
            && properties.get(control_flow.property) & control_flow.ibt == 0
        {
            let text = "-z force-ibt: file does not have the IBT property";
            self.job.sink.push(object.whole().warning(Cause::MissingProperty, text));
        }
    }

    /// Says which objects do not have what the command line asks about.
    fn report_cet(&self, object: &Object, properties: &Properties, control_flow: &ControlFlow) {
        let notes = &self.job.options.notes;
        // GNU ld does not ask for what it claims itself; -z force-ibt is ld.lld's.
        let claims = |is_claimed: bool| is_claimed && self.job.options.compat_mode.is_gnu_ld();
        let unless = |is_claimed: bool| if is_claimed { ReportPolicy::None } else { notes.cet_report };
        let asked = [
            ("cet", unless(claims(notes.ibt && !notes.warn_missing_ibt)), control_flow.ibt, "IBT"),
            ("cet", unless(claims(notes.shstk)), control_flow.shstk, "SHSTK"),
            ("lam-u48", notes.lam_u48_report, control_flow.lam_u48, "LAM_U48"),
            ("lam-u57", notes.lam_u57_report, control_flow.lam_u57, "LAM_U57"),
        ];
        for (option, policy, bit, name) in asked {
            if policy != ReportPolicy::None && properties.get(control_flow.property) & bit == 0 {
                let text =
                    format!("{}: -z {option}-report: file does not have the {name} property", object.name);
                report(self.job, policy, Cause::MissingProperty, text, object.file);
            }
        }
    }

    /// `-z isa-level-report`
    fn report_levels(&self, object: &Object, properties: &Properties, control_flow: &ControlFlow) {
        let asked = self.job.options.notes.isa_report;
        let kinds =
            [(asked.needed, control_flow.isa_needed, "needs"), (asked.used, control_flow.isa_used, "uses")];
        for (_, kind, verb) in kinds.into_iter().filter(|(asked, ..)| *asked) {
            let bits = properties.get(kind);
            let text = match bits {
                0 => format!("{}: does not say what it {verb}", object.name),
                _ => format!("{}: {verb} {}", object.name, levels(bits)),
            };
            self.job.sink.push(Diagnostic::said(text).of(object.file, kind));
        }
    }
}
