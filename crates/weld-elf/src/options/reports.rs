//! What a link is to say, and where.

use std::path::PathBuf;

use weld_common::glob::Glob;

/// `-z cet-report`, `-z bti-report`: what to say about inputs without the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReportPolicy {
    #[default]
    None,
    Warning,
    Error,
}

/// What is said, and where.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    pub map_file: Option<PathBuf>,
    pub print_map: bool,
    pub cref: bool,
    pub trace: bool,
    pub trace_symbols: Vec<String>,
    pub why_extract: Option<PathBuf>,
    /// Where to write what the output is made of, as a page.
    pub explore: Option<PathBuf>,
    /// `--map-format`: the map is that of GNU ld. `None`: by the name that weld is called by.
    pub gnu_map: Option<bool>,
    /// `--why-live`: of which symbols to say what keeps them.
    pub why_live: Vec<Glob>,
    /// Where to list the archives.
    pub archive_stats: Option<PathBuf>,
    /// `--print-dependencies`
    pub dependencies: bool,
    /// `--error-handling-script`: a program that is told of libraries and symbols that are missing.
    pub error_script: Option<PathBuf>,
    /// Whether to warn where objects for ARM disagree about the sizes of `wchar_t` and of enumerations.
    pub wchar_sizes: bool,
    pub enum_sizes: bool,
    /// What to say of segments that can be written and executed.
    pub rwx_segments: ReportPolicy,
    /// Of read-only sections that the loader has to change: in any output, in shared objects, with IFUNCs.
    pub warn_textrel: bool,
    pub warn_shared_textrel: bool,
    pub warn_ifunc_textrel: bool,
    /// Of sections that start later because of their alignment.
    pub warn_section_align: bool,
    /// What the search for libraries passes over is told.
    pub search_mismatch: bool,
    /// `-z report-relative-reloc`
    pub relative_relocs: bool,
    /// Where to list what gc leaves out; `-` is standard output.
    pub print_gc_sections: Option<PathBuf>,
    /// The same of what `--icf` folds.
    pub print_icf_sections: Option<PathBuf>,
    pub dependency_file: Option<PathBuf>,
    pub reproduce: Option<PathBuf>,
    pub time_trace: Option<PathBuf>,
    pub stats: bool,
    pub verbose: bool,
    pub fatal_warnings: bool,
    pub no_warnings: bool,
    pub noinhibit_exec: bool,
    /// What to say of objects that ask for an executable stack.
    pub report_execstack: ReportPolicy,
    pub warn_common: bool,
    pub warn_backrefs: bool,
    /// `--warn-backrefs-exclude`: globs.
    pub warn_backrefs_exclude: Vec<String>,
    /// `--print-memory-usage`: how full the regions of a linker script are.
    pub memory_usage: bool,
    /// 0: no limit.
    pub error_limit: usize,
    /// Messages are JSON.
    pub json: bool,
    /// `None`: auto.
    pub color: Option<bool>,
    pub demangle: bool,
    /// `-v` with inputs: the version is printed and the link goes on.
    pub print_version: bool,
    /// `--print-default-script`
    pub default_script: bool,
    /// `--print-map-discarded`
    pub map_discarded: bool,
}

impl ReportOptions {
    /// Whether nothing is to be said or written beside the output, if nothing is wrong. What is here decides
    /// which warnings there are, or how they look.
    pub fn are_none(&self) -> bool {
        let ReportOptions {
            map_file: None,
            print_map: false,
            cref: false,
            trace: false,
            trace_symbols,
            why_extract: None,
            explore: None,
            gnu_map: _,
            why_live,
            archive_stats: None,
            dependencies: false,
            error_script: _,
            wchar_sizes: _,
            enum_sizes: _,
            rwx_segments: _,
            warn_textrel: _,
            warn_shared_textrel: _,
            warn_ifunc_textrel: _,
            warn_section_align: _,
            search_mismatch: _,
            relative_relocs: false,
            print_gc_sections: None,
            print_icf_sections: None,
            dependency_file: None,
            reproduce: None,
            time_trace: None,
            stats: false,
            verbose: false,
            fatal_warnings: _,
            no_warnings: _,
            noinhibit_exec: false,
            report_execstack: _,
            warn_common: _,
            warn_backrefs: _,
            warn_backrefs_exclude: _,
            memory_usage: false,
            error_limit: _,
            json: _,
            color: _,
            demangle: _,
            print_version: false,
            default_script: false,
            map_discarded: _,
        } = self
        else {
            return false;
        };
        trace_symbols.is_empty() && why_live.is_empty()
    }

    /// Whether it is to be remembered why archive members are read.
    pub fn explains_extraction(&self) -> bool {
        let gnu_map = self.gnu_map == Some(true) && (self.print_map || self.map_file.is_some());
        self.why_extract.is_some() || self.explore.is_some() || self.warn_backrefs || gnu_map
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            map_file: None,
            print_map: false,
            cref: false,
            trace: false,
            trace_symbols: Vec::new(),
            why_extract: None,
            explore: None,
            gnu_map: None,
            why_live: Vec::new(),
            archive_stats: None,
            dependencies: false,
            error_script: None,
            wchar_sizes: true,
            enum_sizes: true,
            rwx_segments: ReportPolicy::None,
            warn_textrel: false,
            warn_shared_textrel: false,
            warn_ifunc_textrel: false,
            warn_section_align: false,
            search_mismatch: true,
            relative_relocs: false,
            print_gc_sections: None,
            print_icf_sections: None,
            dependency_file: None,
            reproduce: None,
            time_trace: None,
            stats: false,
            verbose: false,
            fatal_warnings: false,
            no_warnings: false,
            noinhibit_exec: false,
            report_execstack: ReportPolicy::Warning,
            warn_common: false,
            warn_backrefs: false,
            warn_backrefs_exclude: Vec::new(),
            memory_usage: false,
            error_limit: 20,
            json: false,
            color: None,
            demangle: true,
            print_version: false,
            default_script: false,
            map_discarded: true,
        }
    }
}
