//! The parser's state between two arguments, and what is settled after the last one.
//!
//! Input flags (`--as-needed`, `-Bstatic`, `--whole-archive`, groups) hold from where they stand, so
//! each input takes a copy of those in force. What depends on several options wherever they stand
//! (`-r` and `-shared`, what happens to unresolved symbols, the sysroot in `-L=`) waits for
//! [`State::finish`].

use std::ffi::OsStr;
use std::path::PathBuf;

use weld_common::args::{Context, Given, Problems};
use weld_common::diag::{Cause, Diagnostic};
use weld_common::link_slots::{self, Sharing};
use weld_lto::rows::Holder;

use super::emulation::EmulationError;
use super::table;
use super::values::OptionError;
use crate::compat_mode::CompatMode;
use crate::options::in_sysroot;
use crate::options::{
    Defsym, DefsymValue, Icf, InputArg, InputFlags, InputKind, Magic, Options, OutputKind, SeparateCode,
    Strip, UndefinedVersion, UnresolvedPolicy,
};

/// An option that prints something in place of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Help,
    Version,
    /// `-V` without inputs.
    Emulations,
    /// `-m help`.
    Machines,
    /// `--target-help`.
    Targets,
    OutputFormat,
    Sysroot,
    /// `--print-default-script` or `--verbose` without inputs.
    Layout,
}

pub(super) struct State {
    pub o: Box<Options>,
    /// In force for the inputs that follow.
    pub flags: InputFlags,
    /// With `static_link`, what `--push-state` remembers.
    saved: Vec<(InputFlags, bool)>,
    /// How many groups are open, each inside the one before.
    group_depth: u32,
    groups: u32,
    default_script: Option<PathBuf>,
    /// What is wrong about the last `-m`.
    pub wrong_emulation: Option<EmulationError>,

    pub shared: bool,
    pub pie: bool,
    pub relocatable: bool,
    /// Whether unresolved references of objects are reported; `None`: not in shared objects.
    pub report_in_objects: Option<bool>,
    /// `--version-symbols`; `None`: by the linker that weld stands in for.
    pub version_symbols: Option<bool>,
    /// `--time-trace` without a file.
    pub time_trace_beside_output: bool,
    /// `--repro`
    pub reproduce_beside_output: bool,
    /// `-z max-page-size`, `-z common-page-size`.
    pub max_page_size: Option<u64>,
    pub common_page_size: Option<u64>,
    /// `-v` or `-V`, and what it prints without inputs. With inputs the link goes on.
    pub show_version: Option<Stop>,
    pub stop: Option<Stop>,
    /// Which argument is being read, and which was a --shuffle-sections without a value.
    pub position: usize,
    pub shuffle_at: Option<usize>,

    problems: Problems,
}

impl Context for State {
    type Error = OptionError;

    fn input(&mut self, path: &OsStr) {
        if self.shuffle_at.take().is_some_and(|at| at + 1 == self.position)
            && let Some(shuffled) = path.to_str().and_then(table::shuffled_by_name)
        {
            self.o.order.shuffle.pop();
            return self.o.order.shuffle.push(shuffled);
        }
        self.add_input(InputKind::File(path.into()));
    }

    fn problem(&mut self, problem: Diagnostic) {
        self.problems.add(problem);
    }

    fn at(&mut self, position: usize) {
        self.problems.at(position);
        self.position = position;
    }
}

impl link_slots::rows::Holder for State {
    fn sharing(&mut self) -> &mut Sharing {
        &mut self.o.sharing
    }
}

impl Holder for State {
    fn lto(&mut self) -> &mut weld_lto::options::Options {
        &mut self.o.lto
    }
}

impl State {
    pub fn new(args: usize, compat_mode: CompatMode) -> Self {
        let mut o = Box::<Options>::default();
        o.compat_mode = compat_mode;
        o.dynamic.spare_tags = compat_mode.spare_dynamic_tags();
        if compat_mode.is_gnu_ld() {
            o.symbols.undefined_version = UndefinedVersion::Allow;
        }
        o.inputs.args.reserve(args);
        State {
            o,
            flags: InputFlags::default(),
            saved: Vec::new(),
            group_depth: 0,
            groups: 0,
            default_script: None,
            wrong_emulation: None,
            shared: false,
            pie: false,
            relocatable: false,
            report_in_objects: None,
            version_symbols: None,
            time_trace_beside_output: false,
            reproduce_beside_output: false,
            max_page_size: None,
            common_page_size: None,
            show_version: None,
            stop: None,
            position: 0,
            shuffle_at: None,
            problems: Problems::default(),
        }
    }

    pub fn error(&mut self, cause: Cause, message: impl Into<String>) {
        self.problem(Diagnostic::error(cause, message));
    }

    pub fn warn(&mut self, cause: Cause, message: impl Into<String>) {
        self.problem(Diagnostic::warning(cause, message));
    }

    /// The first of `--help`, `--version`, … counts.
    pub fn stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    pub fn add_input(&mut self, kind: InputKind) {
        self.o.inputs.args.push(InputArg { kind, flags: self.flags });
    }

    /// `-rpath`: once, wherever it is said again.
    pub fn rpath(&mut self, path: String) {
        let paths = &mut self.o.dynamic.rpath;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }

    /// `--just-symbols`: an input of which other options do not matter.
    pub fn just_symbols(&mut self, given: Given<'_>) {
        let flags = InputFlags { just_symbols: true, ..InputFlags::default() };
        self.o.inputs.args.push(InputArg { kind: InputKind::File(given.os().into()), flags });
    }

    pub fn library(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let name = given.string()?;
        if name.is_empty() || name == ":" {
            return Err(OptionError::NoLibrary);
        }
        self.add_input(InputKind::Library(name));
        Ok(())
    }

    pub fn default_script(&mut self, path: &OsStr) {
        self.default_script = Some(path.into());
    }

    pub fn push_state(&mut self) {
        self.saved.push((self.flags, self.o.static_link));
    }

    pub fn pop_state(&mut self) {
        match self.saved.pop() {
            // Groups nest with inputs, not with states; nor does GNU ld count the format to a state.
            Some((saved, static_link)) => {
                let InputFlags { in_lib, group, binary, .. } = self.flags;
                self.flags = InputFlags { in_lib, group, binary, ..saved };
                self.o.static_link = static_link;
            }
            None => self.error(Cause::ConflictingOptions, "--pop-state without --push-state"),
        }
    }

    /// A group inside another is part of that one: GNU ld takes them, and `gcc` writes them with picolibc.
    pub fn start_group(&mut self, lib: bool) {
        if self.group_depth > 0 && (lib || self.flags.in_lib) {
            return self.error(
                Cause::ConflictingOptions,
                match (self.flags.in_lib, lib) {
                    (false, _) => "--start-lib inside --start-group",
                    (true, false) => "--start-group inside --start-lib",
                    (true, true) => "--start-lib inside another --start-lib",
                },
            );
        }
        self.group_depth += 1;
        if self.group_depth == 1 {
            self.groups += 1;
            self.flags.in_lib = lib;
            self.flags.group = self.groups;
        }
    }

    pub fn end_group(&mut self, lib: bool) {
        if self.group_depth == 0 || self.flags.in_lib != lib {
            return self.error(
                Cause::ConflictingOptions,
                if lib { "--end-lib without --start-lib" } else { "--end-group without --start-group" },
            );
        }
        self.group_depth -= 1;
        if self.group_depth == 0 {
            self.flags.in_lib = false;
            self.flags.group = 0;
        }
    }

    /// An assignment counts from where it stands among the inputs: scripts may assign, too.
    pub fn defsym(&mut self, name: String, value: DefsymValue) {
        let before = self.o.inputs.args.len();
        self.o.symbols.defsyms.push(Defsym { name, value, before });
    }

    /// A later address for the same section replaces an earlier one.
    pub fn section_start(&mut self, section: &str, address: u64) {
        match self.o.layout.section_starts.iter_mut().find(|(name, _)| name == section) {
            Some((_, old)) => *old = address,
            None => self.o.layout.section_starts.push((section.to_owned(), address)),
        }
    }

    /// `--section-align`: a later alignment for the same section replaces an earlier one.
    pub fn section_align(&mut self, section: &str, align: u64) {
        match self.o.layout.section_aligns.iter_mut().find(|(name, _)| name == section) {
            Some((_, old)) => *old = align,
            None => self.o.layout.section_aligns.push((section.to_owned(), align)),
        }
    }

    /// `-n`, `-N`.
    pub fn magic(&mut self, magic: Magic) {
        self.o.layout.magic = magic;
        self.flags.static_only = true;
    }

    /// The end of the command line.
    pub fn finish(mut self) -> (Box<Options>, Option<Stop>, Vec<Diagnostic>) {
        self.finish_kind();
        self.finish_pages();
        self.finish_unresolved();
        self.finish_inputs();
        if let Some(error) = self.wrong_emulation.take() {
            self.error(Cause::BadOption, format!("-m: {error}"));
        }
        if let Some(conflict) = self.o.lto.settle() {
            self.error(Cause::ConflictingOptions, conflict);
        }
        self.o.symbols.version_symbols =
            self.version_symbols.unwrap_or(self.o.compat_mode.defines_versions());
        if self.time_trace_beside_output && self.o.reports.time_trace.is_none() {
            let mut path = self.o.output.path.clone().into_os_string();
            path.push(".time-trace");
            self.o.reports.time_trace = Some(path.into());
        }
        if self.reproduce_beside_output && self.o.reports.reproduce.is_none() {
            let mut path = self.o.output.path.clone().into_os_string();
            path.push(".repro.tar");
            self.o.reports.reproduce = Some(path.into());
        }
        let shows_script =
            self.o.reports.default_script || self.o.reports.verbose && self.o.kind != OutputKind::Relocatable;
        if shows_script && self.o.inputs.args.is_empty() {
            self.stop(Stop::Layout);
        }
        if let Some(text) = self.show_version {
            if self.o.inputs.args.is_empty() {
                self.stop(text);
            } else {
                self.o.reports.print_version = true;
            }
        }
        if self.o.reports.reproduce.is_some() && self.o.inputs.args.iter().any(|input| input.flags.binary) {
            self.warn(
                Cause::Reproduce,
                "--reproduce: the inputs of -b binary have symbols of other names in the unpacked directory, \
                 for these come from paths",
            );
        }
        let failed = self.problems.has_errors();
        if self.o.inputs.args.is_empty() && self.stop.is_none() && !failed {
            self.error(Cause::NoInputFiles, "no input files");
        }
        (self.o, self.stop, self.problems.into_list())
    }

    /// The kind of output, and what cannot be had together with it.
    fn finish_kind(&mut self) {
        let o = &mut self.o;
        o.kind = match (self.relocatable, self.shared, self.pie) {
            (true, ..) => OutputKind::Relocatable,
            (_, true, _) => OutputKind::Shared,
            (_, _, true) => OutputKind::Pie,
            _ => OutputKind::Exec,
        };
        o.sections.merge_sections = o.sections.optimize > 0;
        if o.symtab.retain_symbols_file.is_some() && o.symtab.strip == Strip::All {
            // The list says what is kept.
            o.symtab.strip = Strip::Debug;
        }
        let raw = o.output.raw;
        if !o.layout.sectionheader {
            o.symtab.strip = Strip::All;
        }
        o.output.name_debug_file();
        let apart = o.output.debug_file.is_some();
        let no_name = o.output.debug_file.as_ref().is_some_and(|path| path.file_name().is_none());
        let partition = &o.order.partition;
        let no_profile = partition.profile.is_none();
        let two_orders = o.order.symbol_file.is_some() && o.order.call_graph_file.is_some();
        let wrong = [
            (two_orders, "--symbol-ordering-file and --call-graph-ordering-file"),
            (
                partition.is_asked() && o.order.call_graph_file.is_some(),
                "--bp-startup-sort or --bp-compression-sort and --call-graph-ordering-file",
            ),
            (self.shared && self.pie, "-shared and -pie"),
            (self.relocatable && apart, "-r and --separate-debug-file"),
            (o.relocs.emit_relocs && apart, "--emit-relocs and --separate-debug-file"),
            (!o.layout.sectionheader && apart, "-z nosectionheader and --separate-debug-file"),
            (raw && apart, "--oformat=binary and --separate-debug-file"),
            (self.relocatable && self.shared, "-r and -shared"),
            (self.relocatable && self.pie, "-r and -pie"),
            (self.relocatable && o.sections.icf != Icf::None, "-r and --icf"),
            (self.relocatable && !o.layout.sectionheader, "-r and -z nosectionheader"),
            (self.relocatable && o.gateways.library, "-r and --cmse-implib"),
            (self.relocatable && o.sections.gdb_index, "-r and --gdb-index"),
            (self.relocatable && o.sections.debug_names, "-r and --debug-names"),
            (o.dynamic.retpolines && o.notes.ibtplt, "-z retpolineplt and -z ibtplt"),
            (o.dynamic.retpolines && o.notes.shstk, "-z retpolineplt and -z shstk"),
            (o.relocs.skip_jumps && o.relocs.emit_relocs, "--branch-to-branch and --emit-relocs"),
            (o.symtab.strip == Strip::All && o.relocs.emit_relocs, "--strip-all and --emit-relocs"),
        ];
        let missing = [
            (!self.shared && !o.dynamic.filter.is_empty(), "--filter", "-shared"),
            (!self.shared && !o.dynamic.auxiliary.is_empty(), "--auxiliary", "-shared"),
            (!self.shared && o.symbols.no_define_common, "--no-define-common", "-shared"),
            (partition.startup && no_profile, "--bp-startup-sort=function", "--irpgo-profile"),
            (
                partition.startup_by_contents && no_profile,
                "--bp-compression-sort-startup-functions",
                "--irpgo-profile",
            ),
            (o.gateways.earlier.is_some() && !o.gateways.library, "--in-implib", "--cmse-implib"),
            (o.gateways.output.is_some() && !o.gateways.library, "--out-implib", "--cmse-implib"),
        ];
        if self.relocatable {
            o.layout.relro = false;
        }
        let format = o.plain_format();
        let against_raw = o.against_raw().zip(format);
        if raw {
            o.make_raw();
        }
        if let Some((option, format)) = against_raw {
            self.error(
                Cause::ConflictingOptions,
                format!("{option} and --oformat={format} cannot be used together"),
            );
        }
        for (_, pair) in wrong.iter().filter(|(is, _)| *is) {
            self.error(Cause::ConflictingOptions, format!("{pair} cannot be used together"));
        }
        if no_name {
            self.error(Cause::ConflictingOptions, "--separate-debug-file: missing file name");
        }
        for (_, option, other) in missing.iter().filter(|(is, ..)| *is) {
            self.error(Cause::ConflictingOptions, format!("{option} needs {other}"));
        }
    }

    /// Page sizes. The one that was not given fits the other.
    fn finish_pages(&mut self) {
        let (max, common) = (self.max_page_size, self.common_page_size);
        let paged = self.relocatable || self.o.layout.magic == Magic::Paged;
        if !paged {
            for (_, name) in [(max, "max-page-size"), (common, "common-page-size")]
                .iter()
                .filter(|(size, _)| size.is_some())
            {
                self.warn(Cause::OptionWithoutEffect, format!("-z {name} has no effect with -n and -N"));
            }
        } else if let (Some(max), Some(common)) = (max, common)
            && common > max
        {
            self.warn(
                Cause::OptionWithoutEffect,
                format!("-z common-page-size={common:#x} is above -z max-page-size={max:#x}, which counts"),
            );
        }
        let o = &mut self.o;
        if !paged {
            (o.layout.max_page_size, o.layout.common_page_size) = (Some(1), Some(1));
            o.layout.separate_code = SeparateCode::None;
            o.layout.relro = false;
            return;
        }
        (o.layout.max_page_size, o.layout.common_page_size) = (max, common);
    }

    fn finish_unresolved(&mut self) {
        let report = self.report_in_objects.unwrap_or(!self.shared);
        self.o.symbols.unresolved = match (report, self.o.symbols.warn_unresolved) {
            (false, _) => UnresolvedPolicy::Ignore,
            (true, true) => UnresolvedPolicy::Warn,
            (true, false) => UnresolvedPolicy::Error,
        };
        self.o.symbols.report_undefined_in_shared = self.shared && report;
    }

    fn finish_inputs(&mut self) {
        if let Some(script) = self.default_script.take()
            && !self.o.inputs.args.iter().any(|input| matches!(input.kind, InputKind::Script(_)))
        {
            self.flags = InputFlags::default();
            self.add_input(InputKind::Script(script));
        }
        if self.relocatable {
            // Shared objects cannot be combined, so `-l` must not find them.
            self.o.inputs.args.iter_mut().for_each(|input| input.flags.static_only = true);
        }
        let sysroot = &self.o.inputs.sysroot;
        for path in &mut self.o.inputs.search_paths {
            if let Some(inside) = in_sysroot(sysroot, path) {
                *path = inside;
            }
        }
    }
}
