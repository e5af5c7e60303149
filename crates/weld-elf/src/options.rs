//! What a command line asked for, as plain data.
//!
//! `args` fills it, the phases read it and nobody changes it after parsing. Sizes and addresses
//! are in bytes.

use std::path::PathBuf;

/// The kind of file to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OutputKind {
    /// An executable at a fixed address (`-no-pie`). Static if no shared object takes part.
    #[default]
    Exec,
    /// A position-independent executable (`-pie`).
    Pie,
    /// A shared object (`-shared`).
    Shared,
    /// A relocatable object (`-r`).
    Relocatable,
}

/// How references that nothing defines are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedPolicy {
    Error,
    Warn,
    Ignore,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum BuildId {
    #[default]
    None,
    Fast,
    Md5,
    Sha1,
    Uuid,
    Hex(Vec<u8>),
}

/// `-s`, `-S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strip {
    #[default]
    None,
    Debug,
    All,
}

/// `-x`, `-X`, `--discard-none`. The default drops `.L` symbols only in merge sections, as others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Discard {
    #[default]
    Default,
    None,
    /// `-X`: local symbols whose names start with `.L`.
    Locals,
    /// `-x`: all local symbols.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bsymbolic {
    #[default]
    None,
    NonWeakFunctions,
    Functions,
    NonWeak,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HashStyle {
    Sysv,
    #[default]
    Gnu,
    Both,
}

/// `-z separate-code` and kin: which segments get pages of their own in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SeparateCode {
    /// `-z noseparate-code`: neighbours may share a page of the file (mapped twice).
    #[default]
    None,
    /// `-z separate-code`: only executable segments.
    Code,
    /// `-z separate-loadable-segments`: all of them.
    Loadable,
}

/// `--mmap-output-file`, `--no-mmap-output-file`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OutputEngine {
    #[default]
    Auto,
    Mapped,
    Streaming,
}

/// `-z cet-report`, `-z bti-report`: what to say about inputs without the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReportPolicy {
    #[default]
    None,
    Warning,
    Error,
}

/// The flags that hold for an input because of where it stands on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InputFlags {
    pub whole_archive: bool,
    pub as_needed: bool,
    /// `-Bstatic`: `-l` finds archives only.
    pub static_only: bool,
    /// Between `--start-lib` and `--end-lib`: an object behaves as an archive member.
    pub in_lib: bool,
}

/// One input in command-line order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A path as given.
    File(PathBuf),
    /// `-lNAME`, or `-l:FILE` with the colon kept.
    Library(String),
    /// `-T`/`--script`, `--default-script`.
    Script(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputArg {
    pub kind: InputKind,
    pub flags: InputFlags,
}

/// The value of `--defsym NAME=VALUE` and of `NAME = VALUE;` in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefsymValue {
    Absolute(u64),
    /// Another symbol plus an offset.
    Symbol(String, i64),
}

/// `--wrap`, `--defsym`, … keep the order of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    pub output: PathBuf,
    pub kind: OutputKind,
    /// `-static`, `-Bstatic` before any input does not set it: no dynamic section may be made.
    pub static_link: bool,
    pub inputs: Vec<InputArg>,
    pub search_paths: Vec<PathBuf>,
    pub sysroot: PathBuf,
    /// `-m`, e.g. `elf_x86_64`; `None`: taken from the first object.
    pub emulation: Option<String>,

    pub entry: Option<String>,
    pub init: String,
    pub fini: String,
    pub dynamic_linker: Option<String>,
    pub no_dynamic_linker: bool,
    pub soname: Option<String>,
    pub rpath: Vec<String>,
    /// `DT_RPATH` instead of `DT_RUNPATH`.
    pub disable_new_dtags: bool,
    pub auxiliary: Vec<String>,
    pub filter: Vec<String>,
    pub audit: Vec<String>,
    pub depaudit: Vec<String>,

    // Symbols
    pub undefined: Vec<String>,
    pub require_defined: Vec<String>,
    pub undefined_glob: Vec<String>,
    pub defsyms: Vec<(String, DefsymValue)>,
    pub wrap: Vec<String>,
    pub exclude_libs: Vec<String>,
    pub export_dynamic: bool,
    pub export_dynamic_symbols: Vec<String>,
    /// Texts of `--dynamic-list` files, of `--version-script` files: (path, contents).
    pub dynamic_lists: Vec<PathBuf>,
    /// `--export-dynamic-symbol-list`.
    pub export_symbol_lists: Vec<PathBuf>,
    pub version_scripts: Vec<PathBuf>,
    /// `--undefined-version`: patterns of a version script that match nothing are fine.
    pub undefined_version: bool,
    pub retain_symbols_file: Option<PathBuf>,
    pub bsymbolic: Bsymbolic,
    pub allow_multiple_definition: bool,
    pub unresolved: UnresolvedPolicy,
    /// In shared objects: what `-z defs`/`--no-undefined` and `--unresolved-symbols` say of their own references.
    pub report_undefined_in_shared: bool,
    /// `--no-allow-shlib-undefined` (default for executables).
    pub allow_shlib_undefined: Option<bool>,
    pub warn_unresolved: bool,
    pub warn_common: bool,
    pub warn_backrefs: bool,
    pub warn_symbol_ordering: bool,
    pub gnu_unique: bool,
    pub demangle: bool,
    pub define_common: bool,

    // Sections
    pub gc_sections: bool,
    pub print_gc_sections: bool,
    /// `-z start-stop-gc`: `__start_X` references do not keep X.
    pub start_stop_gc: bool,
    /// `-z keep-text-section-prefix`.
    pub keep_text_section_prefix: bool,
    /// `-z start-stop-visibility`: ELF visibility value of `__start_`/`__stop_`.
    pub start_stop_visibility: u8,
    /// 0, 1 or 2: `-O`.
    pub optimize: u8,
    pub strip: Strip,
    pub discard: Discard,
    pub emit_relocs: bool,
    pub unique_sections: bool,
    pub section_starts: Vec<(String, u64)>,
    pub image_base: Option<u64>,
    /// `--compress-debug-sections`: `None`, or an ELFCOMPRESS_* value (1 zlib, 2 zstd).
    pub compress_debug: Option<u32>,
    pub merge_sections: bool,
    pub sort_init_array: bool,

    // Relocations and dynamic linking
    pub apply_dynamic_relocs: bool,
    pub pack_relr: bool,
    pub relax: bool,
    pub hash_style: HashStyle,
    pub build_id: BuildId,
    pub eh_frame_hdr: bool,
    pub package_metadata: Option<String>,

    // -z
    pub z_now: bool,
    pub z_relro: bool,
    pub z_text: bool,
    pub z_combreloc: bool,
    pub z_copyreloc: bool,
    pub z_execstack: bool,
    pub z_execstack_if_needed: bool,
    pub z_global: bool,
    pub z_initfirst: bool,
    pub z_interpose: bool,
    pub z_nodefaultlib: bool,
    pub z_nodelete: bool,
    pub z_nodlopen: bool,
    pub z_nodump: bool,
    pub z_origin: bool,
    pub z_ibt: bool,
    pub z_ibtplt: bool,
    pub z_shstk: bool,
    pub z_rodynamic: bool,
    pub z_sectionheader: bool,
    pub z_dynamic_undefined_weak: Option<bool>,
    pub z_stack_size: Option<u64>,
    pub z_max_page_size: u64,
    pub z_common_page_size: u64,
    pub separate_code: SeparateCode,
    pub cet_report: ReportPolicy,
    /// `-z dead-reloc-in-nonalloc=GLOB=VALUE`, in order; the last match wins.
    pub dead_relocs: Vec<(String, u64)>,
    pub z_unique_symbol: bool,

    // What is said
    pub map_file: Option<PathBuf>,
    pub print_map: bool,
    pub cref: bool,
    pub trace: bool,
    pub trace_symbols: Vec<String>,
    pub why_extract: Option<PathBuf>,
    pub dependency_file: Option<PathBuf>,
    pub reproduce: Option<PathBuf>,
    pub time_trace: Option<PathBuf>,
    pub stats: bool,
    pub verbose: bool,
    pub fatal_warnings: bool,
    pub no_warnings: bool,
    pub noinhibit_exec: bool,
    /// 0: no limit.
    pub error_limit: usize,
    /// `None`: auto.
    pub color: Option<bool>,

    pub threads: Option<usize>,
    pub output_engine: OutputEngine,
    /// Search for archives only once: `--warn-backrefs-exclude` patterns.
    pub no_dependent_libraries: bool,
}
