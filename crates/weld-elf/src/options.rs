//! What a command line asked for, as plain data.
//!
//! `args` fills it, the phases read it and nobody changes it after parsing. Sizes and addresses
//! are in bytes.

use std::path::PathBuf;

use weld_common::glob::Glob;
use weld_common::io::readahead::Prefetch;

use crate::compressed::Algorithm;
use crate::persona::Persona;

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
    Gnu,
    #[default]
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

/// `-n`, `-N`: whether segments can be mapped by pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Magic {
    #[default]
    Paged,
    /// `-n`: segments follow one another as closely as sections do.
    Nmagic,
    /// `-N`: so do they, and all is one segment that can be written to.
    Omagic,
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

/// How a section is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    pub algorithm: Algorithm,
    /// The algorithm's own scale; `None`: what suits a link.
    pub level: Option<u32>,
}

/// The flags that hold for an input because of where it stands on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InputFlags {
    pub whole_archive: bool,
    pub as_needed: bool,
    /// `-Bstatic`: `-l` finds archives only.
    pub static_only: bool,
    /// `--copy-dt-needed-entries`: what a shared object needs takes part, too.
    pub copy_needed: bool,
    /// `-b binary`: the file's bytes are data, whatever they look like.
    pub binary: bool,
    /// Between `--start-lib` and `--end-lib`: an object behaves as an archive member.
    pub in_lib: bool,
    /// The `--start-group` or `--start-lib` that the input stands in, counted from 1; 0: none. Only
    /// `--warn-backrefs` looks at it: archives are searched until nothing changes in any case.
    pub group: u32,
}

/// One input in command-line order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A path as given.
    File(PathBuf),
    /// `-lNAME`, or `-l:FILE` with the colon kept.
    Library(String),
    /// `-T`/`--script`; `--default-script` if there is no `-T`. Looked up in the working directory,
    /// then in the search paths.
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

/// `--defsym NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defsym {
    pub name: String,
    pub value: DefsymValue,
    /// How many inputs stand before it.
    pub before: usize,
}

/// What is said of names in a version script that nothing defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UndefinedVersion {
    Allow,
    #[default]
    Warn,
    Error,
}

/// `--wrap`, `--defsym`, … keep the order of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    pub output: PathBuf,
    /// `output` comes from `-o`, which wins over `OUTPUT` in a linker script.
    pub output_given: bool,
    pub kind: OutputKind,
    /// `-static`, unless `-Bdynamic` came after it: no dynamic section may be made for an executable
    /// at a fixed address. `-Bstatic` does not set it; it only is in the flags of inputs.
    pub static_link: bool,
    pub inputs: Vec<InputArg>,
    /// `-L`, with `=` and `$SYSROOT` at the start already replaced by the sysroot.
    pub search_paths: Vec<PathBuf>,
    /// `-rpath-link`.
    pub rpath_link: Vec<PathBuf>,
    /// `-nostdlib`: `SEARCH_DIR` of linker scripts does not count.
    pub nostdlib: bool,
    pub sysroot: PathBuf,
    /// What absolute paths of inputs are below; empty: nothing.
    pub chroot: PathBuf,

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
    pub defsyms: Vec<Defsym>,
    pub wrap: Vec<String>,
    pub exclude_libs: Vec<String>,
    pub export_dynamic: bool,
    pub export_dynamic_symbols: Vec<String>,
    /// `--dynamic-list`. In a shared object it also binds all other symbols locally.
    pub dynamic_lists: Vec<PathBuf>,
    /// What `--dynamic-list-cpp-new` and `--dynamic-list-cpp-typeinfo` add: patterns for demangled names.
    pub dynamic_list_patterns: Vec<&'static str>,
    pub dynamic_list_data: bool,
    /// `--export-dynamic-symbol-list`.
    pub export_symbol_lists: Vec<PathBuf>,
    /// Looked up in the working directory, then in the search paths.
    pub version_scripts: Vec<PathBuf>,
    pub undefined_version: UndefinedVersion,
    /// `--version-symbols`: each version that the output defines is an absolute symbol, too.
    pub version_symbols: bool,
    /// `--default-symver`: what is exported without a version gets that of the output's name.
    pub default_symver: bool,
    pub retain_symbols_file: Option<PathBuf>,
    pub bsymbolic: Bsymbolic,
    pub allow_multiple_definition: bool,
    /// For the references of objects, with everything taken into account: `--unresolved-symbols`,
    /// `-z defs`, `--no-undefined`, `--warn-unresolved-symbols` and that a shared object may have any.
    pub unresolved: UnresolvedPolicy,
    /// The output is a shared object and `-z defs`, `--no-undefined` or `--unresolved-symbols` wants
    /// its references reported all the same.
    pub report_undefined_in_shared: bool,
    /// What is said of the references of shared objects among the inputs. `None`: the default, which
    /// is to report them (by `warn_unresolved`) in executables and to allow them in shared objects.
    pub allow_shlib_undefined: Option<bool>,
    pub warn_unresolved: bool,
    /// `--ignore-unresolved-symbol`.
    pub ignore_unresolved: Vec<String>,
    pub warn_common: bool,
    pub warn_backrefs: bool,
    /// `--warn-backrefs-exclude`: globs.
    pub warn_backrefs_exclude: Vec<String>,
    pub gnu_unique: bool,
    pub demangle: bool,
    /// `-d`: common symbols get their place even with `-r`.
    pub define_common: bool,
    /// In a shared object, common symbols are references.
    pub no_define_common: bool,
    /// Archive members are read for definitions of common symbols.
    pub fortran_common: bool,

    // Sections
    pub gc_sections: bool,
    /// Where to list what gc leaves out; `-` is standard output.
    pub print_gc_sections: Option<PathBuf>,
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
    /// `--unique`: sections that have no place by their names stay apart.
    pub unique_sections: bool,
    /// `--unique=GLOB`: and so do those.
    pub unique_patterns: Vec<String>,
    /// `--section-start`, `-Ttext`, …: each section once.
    pub section_starts: Vec<(String, u64)>,
    /// Sections whose addresses overlap are an error.
    pub check_sections: bool,
    pub image_base: Option<u64>,
    pub magic: Magic,
    /// `--compress-debug-sections`.
    pub compress_debug: Option<Compression>,
    /// `--compress-sections`: globs in order; the last match counts, and over `compress_debug`.
    pub compress_sections: Vec<(String, Option<Compression>)>,
    pub merge_sections: bool,
    pub sort_init_array: bool,
    /// `.ctors` and `.dtors` become part of `.init_array` and `.fini_array`.
    pub ctors_in_init_array: bool,

    // Relocations and dynamic linking
    pub apply_dynamic_relocs: bool,
    pub pack_relr: bool,
    /// `-z pack-relative-relocs`: packed, and marked by a need for `GLIBC_ABI_DT_RELR` from the C
    /// library if that is a shared object of glibc. Its loader refuses RELR without the mark.
    pub relr_glibc_dep: bool,
    pub relax: bool,
    pub hash_style: HashStyle,
    pub build_id: BuildId,
    pub eh_frame_hdr: bool,
    /// The text for `.note.package`, percent escapes replaced.
    pub package_metadata: Option<String>,

    // -z
    pub z_now: bool,
    pub z_relro: bool,
    pub z_text: bool,
    pub z_combreloc: bool,
    pub z_copyreloc: bool,
    /// `-z execstack`, `-z noexecstack`; `None`: as objects ask for.
    pub z_execstack: Option<bool>,
    /// What to say of objects that ask for an executable stack.
    pub report_execstack: ReportPolicy,
    /// `-z nognustack`: no `PT_GNU_STACK`.
    pub z_gnustack: bool,
    pub z_global: bool,
    pub z_initfirst: bool,
    pub z_interpose: bool,
    pub z_nodefaultlib: bool,
    pub z_nodelete: bool,
    pub z_nodlopen: bool,
    pub z_nodump: bool,
    pub z_origin: bool,
    /// `-z ibt`, `-z force-ibt`: the output claims IBT whatever its inputs say.
    pub z_ibt: bool,
    /// `-z force-ibt`: objects that do not claim it are named in warnings.
    pub warn_missing_ibt: bool,
    pub z_ibtplt: bool,
    /// `-z shstk`: as `z_ibt`, for shadow stacks.
    pub z_shstk: bool,
    /// `-z x86-64-v2` and kin: a bit of `GNU_PROPERTY_X86_ISA_1_NEEDED`, or 0.
    pub isa_needed: u32,
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

    /// For which linker weld stands in.
    pub persona: Persona,

    /// `-v` with inputs: the version is printed and the link goes on.
    pub print_version: bool,

    pub threads: Option<usize>,
    pub output_engine: OutputEngine,
    pub prefetch: Prefetch,
    /// `.deplibs` sections of objects do not add libraries.
    pub no_dependent_libraries: bool,
}

/// What holds if the command line says nothing: the defaults of `ld.lld`.
impl Default for Options {
    fn default() -> Self {
        Options {
            output: PathBuf::from("a.out"),
            output_given: false,
            kind: OutputKind::Exec,
            static_link: false,
            inputs: Vec::new(),
            search_paths: Vec::new(),
            rpath_link: Vec::new(),
            nostdlib: false,
            sysroot: PathBuf::new(),
            chroot: PathBuf::new(),
            entry: None,
            init: "_init".to_owned(),
            fini: "_fini".to_owned(),
            dynamic_linker: None,
            no_dynamic_linker: false,
            soname: None,
            rpath: Vec::new(),
            disable_new_dtags: false,
            auxiliary: Vec::new(),
            filter: Vec::new(),
            audit: Vec::new(),
            depaudit: Vec::new(),
            undefined: Vec::new(),
            require_defined: Vec::new(),
            undefined_glob: Vec::new(),
            defsyms: Vec::new(),
            wrap: Vec::new(),
            exclude_libs: Vec::new(),
            export_dynamic: false,
            export_dynamic_symbols: Vec::new(),
            dynamic_lists: Vec::new(),
            dynamic_list_patterns: Vec::new(),
            dynamic_list_data: false,
            export_symbol_lists: Vec::new(),
            version_scripts: Vec::new(),
            undefined_version: UndefinedVersion::Warn,
            version_symbols: false,
            default_symver: false,
            retain_symbols_file: None,
            bsymbolic: Bsymbolic::None,
            allow_multiple_definition: false,
            unresolved: UnresolvedPolicy::Error,
            report_undefined_in_shared: false,
            allow_shlib_undefined: None,
            warn_unresolved: false,
            ignore_unresolved: Vec::new(),
            warn_common: false,
            warn_backrefs: false,
            warn_backrefs_exclude: Vec::new(),
            gnu_unique: true,
            demangle: true,
            fortran_common: true,
            define_common: false,
            no_define_common: false,
            gc_sections: false,
            print_gc_sections: None,
            start_stop_gc: false,
            keep_text_section_prefix: false,
            start_stop_visibility: 3, // STV_PROTECTED
            optimize: 1,
            strip: Strip::None,
            discard: Discard::Default,
            emit_relocs: false,
            unique_sections: false,
            unique_patterns: Vec::new(),
            section_starts: Vec::new(),
            check_sections: true,
            image_base: None,
            magic: Magic::default(),
            compress_debug: None,
            compress_sections: Vec::new(),
            merge_sections: true,
            sort_init_array: true,
            ctors_in_init_array: true,
            apply_dynamic_relocs: false,
            pack_relr: false,
            relr_glibc_dep: false,
            relax: true,
            hash_style: HashStyle::Both,
            build_id: BuildId::None,
            eh_frame_hdr: false,
            package_metadata: None,
            z_now: false,
            z_relro: true,
            z_text: true,
            z_combreloc: true,
            z_copyreloc: true,
            z_execstack: None,
            report_execstack: ReportPolicy::Warning,
            z_gnustack: true,
            z_global: false,
            z_initfirst: false,
            z_interpose: false,
            z_nodefaultlib: false,
            z_nodelete: false,
            z_nodlopen: false,
            z_nodump: false,
            z_origin: false,
            z_ibt: false,
            warn_missing_ibt: false,
            z_ibtplt: false,
            z_shstk: false,
            isa_needed: 0,
            z_rodynamic: false,
            z_sectionheader: true,
            z_dynamic_undefined_weak: None,
            z_stack_size: None,
            z_max_page_size: 0x1000,
            z_common_page_size: 0x1000,
            separate_code: SeparateCode::None,
            cet_report: ReportPolicy::None,
            dead_relocs: Vec::new(),
            z_unique_symbol: false,
            map_file: None,
            print_map: false,
            cref: false,
            trace: false,
            trace_symbols: Vec::new(),
            why_extract: None,
            dependency_file: None,
            reproduce: None,
            time_trace: None,
            stats: false,
            verbose: false,
            fatal_warnings: false,
            no_warnings: false,
            noinhibit_exec: false,
            error_limit: 20,
            color: None,
            persona: Persona::Ld,
            print_version: false,
            threads: None,
            output_engine: OutputEngine::Auto,
            prefetch: Prefetch::Auto,
            no_dependent_libraries: false,
        }
    }
}

impl Options {
    /// The address that `--section-start` or one of its kin gives an output section.
    pub fn start_of(&self, section: &[u8]) -> Option<u64> {
        let start = self.section_starts.iter().find(|(name, _)| name.as_bytes() == section);
        start.map(|(_, address)| *address)
    }

    /// `unique_patterns`, compiled.
    pub fn unique_globs(&self) -> Vec<Glob> {
        // They were looked at when the options were parsed.
        self.unique_patterns.iter().filter_map(|p| Glob::new(p.as_bytes()).ok()).collect()
    }
}
