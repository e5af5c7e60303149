//! What a command line asked for, as plain data, grouped by what it concerns.
//!
//! `args` fills it, the phases read it and nobody changes it after parsing. Sizes and addresses
//! are in bytes.

use std::path::{Path, PathBuf};

use weld_common::glob::Glob;
use weld_common::io::output::EngineChoice;
use weld_common::io::readahead::Prefetch;
use weld_common::link_slots::Sharing;
use weld_lto::options as lto;

use crate::arch::Machine;
use crate::compat_mode::CompatMode;
use crate::compressed::Algorithm;
pub use crate::script::commands::InputKind;
pub use crate::script::expr::DefsymValue;
use crate::script::input_sections::Sort;

mod relocs;
mod reports;
mod sysroot;

pub use relocs::{CallPadding, RelocOptions, Target1, Target2};
pub use reports::{ReportOptions, ReportPolicy};
pub use sysroot::in_sysroot;

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

/// `-x`, `-X`, `--discard-none`. The default drops `.L` symbols only in merge sections, as others do, and on
/// machines whose code gets shorter everywhere, as GNU ld and mold do.
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
    /// Both, or what the machine has.
    #[default]
    Usual,
    Sysv,
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

/// `--shuffle-sections`, `--reverse-sections`: which sections change places, and how.
#[derive(Clone, Debug)]
pub struct Shuffled {
    /// `None`: all in memory.
    pub names: Option<Glob>,
    pub how: Shuffle,
}

/// What a new order depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// It is turned round.
    Reverse,
    /// It is another one each time.
    Random,
    Seed(u32),
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
    /// `--just-symbols`: symbols are taken, and nothing of what they are for.
    pub just_symbols: bool,
    /// Between `--start-lib` and `--end-lib`: an object behaves as an archive member.
    pub in_lib: bool,
    /// The `--start-group` or `--start-lib` that the input stands in, counted from 1; 0: none. Only
    /// `--warn-backrefs` looks at it: archives are searched until nothing changes in any case.
    pub group: u32,
}

/// One input in command-line order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputArg {
    pub kind: InputKind,
    pub flags: InputFlags,
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

/// What a command line asked for. Lists (`--wrap`, `--defsym`, …) keep the order of the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub kind: OutputKind,
    /// `-static`, unless `-Bdynamic` came after it: no dynamic section may be made for an executable
    /// at a fixed address. `-Bstatic` does not set it; it only is in the flags of inputs.
    pub static_link: bool,
    /// For which linker weld stands in.
    pub compat_mode: CompatMode,
    /// `--directory`: where paths start.
    pub directory: Option<PathBuf>,
    pub inputs: InputOptions,
    /// How intermediate code is compiled.
    pub lto: lto::Options,
    pub symbols: SymbolOptions,
    pub sections: SectionOptions,
    pub order: OrderOptions,
    pub layout: LayoutOptions,
    pub relocs: RelocOptions,
    pub dynamic: DynamicOptions,
    pub notes: NoteOptions,
    pub symtab: SymtabOptions,
    pub output: OutputFileOptions,
    pub reports: ReportOptions,
    pub gateways: GatewayOptions,
    /// `--threads`; `None`: as many as pay.
    pub threads: Option<usize>,
    pub sharing: Sharing,
}

/// An image as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Motorola's S-records.
    Srec,
    /// Intel's hexadecimal format.
    Ihex,
    /// What Verilog's `$readmemh` reads.
    Verilog,
}

impl TextFormat {
    pub fn of(name: &str) -> Option<TextFormat> {
        [TextFormat::Srec, TextFormat::Ihex, TextFormat::Verilog].into_iter().find(|f| f.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            TextFormat::Srec => "srec",
            TextFormat::Ihex => "ihex",
            TextFormat::Verilog => "verilog",
        }
    }
}

/// What linker scripts say that is an option, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptOptions {
    /// `OUTPUT`
    pub output: Option<PathBuf>,
    /// `OUTPUT_FORMAT(binary)`: the image alone.
    pub raw: bool,
    /// `OUTPUT_FORMAT(srec)` and its kin.
    pub text: Option<TextFormat>,
    /// `OUTPUT_FORMAT` with `-freebsd` after the name: `EI_OSABI`, as with `-m NAME_fbsd`.
    pub os_abi: Option<u8>,
    /// `FORCE_COMMON_ALLOCATION` (`-d`), or `INHIBIT_COMMON_ALLOCATION` (`--no-define-common`).
    pub define_common: Option<bool>,
    /// `LIST` of MRI scripts (`--print-map`)
    pub print_map: bool,
    /// `FORCE_GROUP_ALLOCATION` (`--force-group-allocation`)
    pub dissolve_groups: bool,
}

impl Options {
    /// The output is the image alone (`--oformat=binary`): nothing is left in it that is not loaded.
    pub fn make_raw(&mut self) {
        self.output.raw = true;
        (self.layout.sectionheader, self.symtab.strip) = (false, Strip::All);
    }

    /// These options with what scripts change.
    pub fn as_scripts_say(&self, scripts: ScriptOptions) -> Options {
        let mut changed = self.clone();
        if let Some(path) = scripts.output {
            (changed.output.path, changed.output.path_given) = (path, true);
            changed.output.name_debug_file();
        }
        if scripts.raw {
            changed.make_raw();
        }
        changed.output.text = scripts.text.or(changed.output.text);
        changed.inputs.os_abi = changed.inputs.os_abi.or(scripts.os_abi);
        if let Some(define) = scripts.define_common {
            changed.symbols.define_common = define;
            changed.symbols.no_define_common = !define && self.kind == OutputKind::Shared;
        }
        changed.reports.print_map |= scripts.print_map;
        changed.sections.dissolve_groups |= scripts.dissolve_groups;
        changed
    }

    /// The name of the output's format if it is not ELF.
    pub fn plain_format(&self) -> Option<&'static str> {
        match self.output.text {
            Some(format) => Some(format.name()),
            None => self.output.raw.then_some("binary"),
        }
    }

    /// What cannot be had of an image alone, if it is asked for.
    pub fn against_raw(&self) -> Option<&'static str> {
        match self.kind {
            OutputKind::Relocatable => Some("-r"),
            _ => self.relocs.emit_relocs.then_some("--emit-relocs"),
        }
    }
}

/// Which files take part, and where they are looked for.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    pub args: Vec<InputArg>,
    /// `-L`, with `=` and `$SYSROOT` at the start already replaced by the sysroot.
    pub search_paths: Vec<PathBuf>,
    /// `-rpath-link`.
    pub rpath_link: Vec<PathBuf>,
    /// `-nostdlib`: `SEARCH_DIR` of linker scripts does not count.
    pub nostdlib: bool,
    pub sysroot: PathBuf,
    /// What absolute paths of inputs are below; empty: nothing.
    pub chroot: PathBuf,
    pub prefetch: Prefetch,
    /// `.deplibs` sections of objects do not add libraries.
    pub no_dependent_libraries: bool,
    /// `-m`; `None`: the machine of the first object.
    pub machine: Option<Machine>,
    /// `-m …_fbsd`: `EI_OSABI` of the output; `None`: that of the first object that says it.
    pub os_abi: Option<u8>,
    /// `-EB`, `-EL`: whether the output is big endian.
    pub big_endian: Option<bool>,
    /// `--oformat`, unless it says nothing of the machine.
    pub output_format: Option<&'static str>,
    /// `--remap-inputs`, `--remap-inputs-file`.
    pub remaps: Vec<Remap>,
}

/// A pattern, and what is read in place of what it matches.
pub type RemapRule = (Vec<u8>, PathBuf);

/// Other files for inputs.
#[derive(Clone, Debug)]
pub enum Remap {
    Rule(RemapRule),
    /// A file with rules.
    File(PathBuf),
}

impl Remap {
    /// Whether a path stands for no input at all.
    pub fn is_nothing(path: &Path) -> bool {
        path == Path::new("/dev/null") || path == Path::new("NUL")
    }
}

/// What names mean: what is looked for, defined, exported, allowed to be missing.
#[derive(Clone, Debug)]
pub struct SymbolOptions {
    pub entry: Option<String>,
    pub init: String,
    pub fini: String,
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
    pub gnu_unique: bool,
    /// `-d`: common symbols get their place even with `-r`.
    pub define_common: bool,
    /// In a shared object, common symbols are references.
    pub no_define_common: bool,
    /// Archive members are read for definitions of common symbols.
    pub fortran_common: bool,
    /// `--sort-common`: the order of common symbols by alignment.
    pub sort_common: Option<SortCommon>,
    /// `-z common`, `-z nocommon`: whether common symbols of `-r` are of type `STT_COMMON`; `None`: as in the
    /// inputs.
    pub common_type: Option<bool>,
    /// `--start-stop`: sections of any name have `__start_` and `__stop_`.
    pub start_stop: bool,
    /// `-z start-stop-visibility`: ELF visibility value of `__start_`/`__stop_`.
    pub start_stop_visibility: u8,
    /// `-z unique-symbol`: local symbols of one name get numbers.
    pub unique_symbol: bool,
    /// `-z [no]dynamic-undefined-weak`: whether the loader may resolve weak references that nothing defines.
    pub dynamic_undefined_weak: Option<bool>,
}

impl Default for SymbolOptions {
    fn default() -> Self {
        SymbolOptions {
            entry: None,
            init: "_init".to_owned(),
            fini: "_fini".to_owned(),
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
            bsymbolic: Bsymbolic::None,
            allow_multiple_definition: false,
            unresolved: UnresolvedPolicy::Error,
            report_undefined_in_shared: false,
            allow_shlib_undefined: None,
            warn_unresolved: false,
            ignore_unresolved: Vec::new(),
            gnu_unique: true,
            define_common: false,
            no_define_common: false,
            fortran_common: true,
            sort_common: None,
            common_type: None,
            start_stop: false,
            start_stop_visibility: 3, // STV_PROTECTED
            unique_symbol: false,
            dynamic_undefined_weak: None,
        }
    }
}

/// `--sort-common`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortCommon {
    Ascending,
    Descending,
}

/// Which input sections are kept, and in what form.
#[derive(Clone, Debug)]
pub struct SectionOptions {
    pub gc_sections: bool,
    /// `-z start-stop-gc`: `__start_X` references do not keep X.
    pub start_stop_gc: bool,
    /// `--gc-keep-exported`: what other modules could see stays, also in an executable.
    pub gc_keep_exported: bool,
    /// `--discard-section`: input sections of these names are left out.
    pub discarded: Vec<String>,
    /// `--zero-to-bss`: data that is nothing but zeroes takes no room in the file.
    pub zero_to_bss: bool,
    /// `--relocatable-merge-sections`: with `-r`, sections get the names that other output gives them.
    pub merge_names: bool,
    /// `-z keep-text-section-prefix`.
    pub keep_text_section_prefix: bool,
    /// `-z keep-data-section-prefix`.
    pub keep_data_section_prefix: bool,
    /// 0, 1 or 2: `-O`.
    pub optimize: u8,
    pub merge_sections: bool,
    /// `--unique`: sections that have no place by their names stay apart.
    pub unique_sections: bool,
    /// `--unique=GLOB`: and so do those.
    pub unique_patterns: Vec<String>,
    /// `--force-group-allocation`: with `-r`, members of section groups become ordinary sections.
    pub dissolve_groups: bool,
    pub sort_init_array: bool,
    /// `.ctors` and `.dtors` become part of `.init_array` and `.fini_array`.
    pub ctors_in_init_array: bool,
    /// `--compress-debug-sections`.
    pub compress_debug: Option<Compression>,
    /// `--compress-sections`: globs in order; the last match counts, and over `compress_debug`.
    pub compress_sections: Vec<(String, Option<Compression>)>,
    /// `-z dead-reloc-in-nonalloc=GLOB=VALUE`, in order; the last match wins.
    pub dead_relocs: Vec<(String, u64)>,
    pub eh_frame_hdr: bool,
    /// `--merge-exidx-entries`: what says the same of code as the entry before it is left out.
    pub merge_code_index: bool,
    pub gdb_index: bool,
    pub debug_names: bool,
    pub icf: Icf,
    /// `--keep-unique`: symbols whose sections are not folded.
    pub keep_unique: Vec<String>,
    /// Variables may share addresses, and so may functions, although programs compare them.
    pub ignore_data_address_equality: bool,
    pub ignore_function_address_equality: bool,
}

/// `--icf`: which sections that are the same are kept once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Icf {
    #[default]
    None,
    /// Those whose addresses nobody compares.
    Safe,
    /// And all code.
    All,
}

impl Default for SectionOptions {
    fn default() -> Self {
        SectionOptions {
            gc_sections: false,
            start_stop_gc: false,
            gc_keep_exported: false,
            discarded: Vec::new(),
            zero_to_bss: false,
            merge_names: false,
            keep_text_section_prefix: false,
            keep_data_section_prefix: false,
            optimize: 1,
            merge_sections: true,
            unique_sections: false,
            unique_patterns: Vec::new(),
            dissolve_groups: false,
            sort_init_array: true,
            ctors_in_init_array: true,
            compress_debug: None,
            compress_sections: Vec::new(),
            dead_relocs: Vec::new(),
            eh_frame_hdr: false,
            merge_code_index: true,
            gdb_index: false,
            debug_names: false,
            icf: Icf::None,
            keep_unique: Vec::new(),
            ignore_data_address_equality: false,
            ignore_function_address_equality: false,
        }
    }
}

/// What input sections are put in order by, inside their output sections.
#[derive(Clone, Debug)]
pub struct OrderOptions {
    /// `--symbol-ordering-file`.
    pub symbol_file: Option<PathBuf>,
    /// `--call-graph-ordering-file`: instead of what the objects say.
    pub call_graph_file: Option<PathBuf>,
    /// `--call-graph-profile-sort`.
    pub by_call_graph: bool,
    /// `--print-symbol-order`.
    pub print: Option<PathBuf>,
    /// `--warn-symbol-ordering`.
    pub warn: bool,
    /// `--shuffle-sections` and `--reverse-sections`, one after the other.
    pub shuffle: Vec<Shuffled>,
    /// `--section-ordering-file`.
    pub section_file: Option<PathBuf>,
    pub partition: PartitionOptions,
    /// `--randomize-section-padding`: what padding depends on.
    pub padding: Option<u64>,
}

/// What balanced partitioning puts in order.
#[derive(Clone, Debug, Default)]
pub struct PartitionOptions {
    /// `--bp-startup-sort=function`: functions that are called when a program starts, by `profile`.
    pub startup: bool,
    /// `--irpgo-profile`
    pub profile: Option<PathBuf>,
    /// `--bp-compression-sort-startup-functions`: these by their bytes as well.
    pub startup_by_contents: bool,
    /// `--bp-compression-sort`: functions and data by their bytes.
    pub functions: bool,
    pub data: bool,
    /// `--verbose-bp-section-orderer`
    pub verbose: bool,
}

impl PartitionOptions {
    /// Whether anything is asked for.
    pub fn is_asked(&self) -> bool {
        self.startup || self.functions || self.data
    }
}

impl Default for OrderOptions {
    fn default() -> Self {
        OrderOptions {
            symbol_file: None,
            call_graph_file: None,
            by_call_graph: true,
            print: None,
            warn: true,
            shuffle: Vec::new(),
            section_file: None,
            partition: PartitionOptions::default(),
            padding: None,
        }
    }
}

/// Functions that may be called from another world ([`crate::gateways`]).
#[derive(Clone, Debug, Default)]
pub struct GatewayOptions {
    /// `--cmse-implib`: there is to be a library of them, or it is known from earlier.
    pub library: bool,
    /// `--in-implib`: the library that an earlier link has written.
    pub earlier: Option<PathBuf>,
    /// `--out-implib`
    pub output: Option<PathBuf>,
}

/// Where things lie in memory and in the file.
#[derive(Clone, Debug)]
pub struct LayoutOptions {
    /// `--section-start`, `-Ttext`, …: each section once.
    pub section_starts: Vec<(String, u64)>,
    /// `--section-align`: each section once.
    pub section_aligns: Vec<(String, u64)>,
    /// `--physical-image-base`: where the image is loaded, if that is not where it runs.
    pub physical_image_base: Option<u64>,
    /// `--spare-program-headers`: how many entries the output has that say nothing.
    pub spare_headers: usize,
    /// Sections whose addresses overlap are an error.
    pub check_sections: bool,
    pub image_base: Option<u64>,
    /// `--branch-reach`, in bytes: branches that go further get thunks, although they might reach.
    pub branch_reach: Option<u64>,
    /// `--power10-stubs=no`: code of the linker's own has no instructions with prefixes.
    pub without_prefixes: bool,
    /// Whether the functions that objects leave to the linker to make are made; by default not with -r.
    pub register_code: Option<bool>,
    /// `--pic-veneer`: thunks are made as if the image might be moved.
    pub pic_veneer: bool,
    /// `--be8`: the bytes of instructions are in the other order than those of data.
    pub be8: bool,
    /// `--fix-cortex-a53-843419`, …: what code is changed for that some processors execute wrongly.
    pub errata: Vec<&'static str>,
    pub magic: Magic,
    /// `-z max-page-size`, in bytes: segments start on pages of this size.
    pub max_page_size: Option<u64>,
    /// `-z common-page-size`, in bytes: RELRO ends on pages of this size.
    pub common_page_size: Option<u64>,
    pub separate_code: SeparateCode,
    /// `--rosegment`: read-only data has a segment apart from code.
    pub rosegment: bool,
    /// `--xosegment`: code that nobody reads has one apart from other code; `--execute-only`: all code is so.
    pub xosegment: bool,
    pub execute_only: bool,
    /// What to say of code that may be read.
    pub execute_only_report: ReportPolicy,
    /// `-z relro`: what only the loader writes becomes read-only.
    pub relro: bool,
    /// `-z execstack`, `-z noexecstack`; `None`: as objects ask for.
    pub execstack: Option<bool>,
    /// `-z nognustack`: no `PT_GNU_STACK`.
    pub gnustack: bool,
    /// `-z stack-size`, in bytes: the size in `PT_GNU_STACK`.
    pub stack_size: Option<u64>,
    /// `-z rodynamic`: `.dynamic` is read-only.
    pub rodynamic: bool,
    /// `-z wxneeded` (OpenBSD): the program makes memory that is writable and executable
    /// (`PT_OPENBSD_WXNEEDED`).
    pub wxneeded: bool,
    /// `-z nobtcfi` (OpenBSD): its indirect branches may go anywhere (`PT_OPENBSD_NOBTCFI`).
    pub nobtcfi: bool,
    /// `-z sectionheader`: there is a section header table.
    pub sectionheader: bool,
    /// `--orphan-handling`: what becomes of sections that a linker script has no place for.
    pub orphans: Orphans,
    /// `--sort-section`: how patterns of a linker script sort that do not say so.
    pub sort_sections: Option<Sort>,
    /// What does not fit its memory region goes to the next pattern of the script that matches.
    pub non_contiguous_regions: bool,
}

/// What is to become of sections that no pattern of a linker script matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Orphans {
    #[default]
    Place,
    Discard,
    Warn,
    Error,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        LayoutOptions {
            section_starts: Vec::new(),
            section_aligns: Vec::new(),
            physical_image_base: None,
            spare_headers: 0,
            check_sections: true,
            image_base: None,
            branch_reach: None,
            without_prefixes: false,
            register_code: None,
            pic_veneer: false,
            be8: false,
            errata: Vec::new(),
            magic: Magic::Paged,
            max_page_size: None,
            common_page_size: None,
            separate_code: SeparateCode::None,
            rosegment: true,
            xosegment: false,
            execute_only: false,
            execute_only_report: ReportPolicy::None,
            relro: true,
            execstack: None,
            gnustack: true,
            stack_size: None,
            rodynamic: false,
            wxneeded: false,
            nobtcfi: false,
            sectionheader: true,
            orphans: Orphans::Place,
            sort_sections: None,
            non_contiguous_regions: false,
        }
    }
}

/// What the loader is told.
#[derive(Clone, Debug, Default)]
pub struct DynamicOptions {
    pub dynamic_linker: Option<String>,
    pub no_dynamic_linker: bool,
    pub soname: Option<String>,
    pub rpath: Vec<String>,
    /// `--spare-dynamic-tags`: entries of `.dynamic` that say nothing, for tools that add some. patchelf
    /// relies on GNU ld's.
    pub spare_tags: u16,
    /// `rpath` is that of `LD_RUN_PATH`.
    pub inherits_run_path: bool,
    /// `DT_RPATH` instead of `DT_RUNPATH`.
    pub disable_new_dtags: bool,
    pub auxiliary: Vec<String>,
    pub filter: Vec<String>,
    pub audit: Vec<String>,
    pub depaudit: Vec<String>,
    pub hash_style: HashStyle,
    /// `-z now` and the keywords of `-z` after it are flags of `.dynamic`.
    pub now: bool,
    /// `-z retpolineplt`: PLT entries do not jump indirectly.
    pub retpolines: bool,
    /// `-z hazardplt`: PLT entries jump with a barrier for instructions.
    pub hazard_barriers: bool,
    /// `-z mark-plt`: the loader is told where PLT entries are, and each relocation where the jump of its
    /// entry is.
    pub mark_plt: bool,
    pub global: bool,
    pub initfirst: bool,
    pub interpose: bool,
    pub nodefaultlib: bool,
    pub nodelete: bool,
    pub nodlopen: bool,
    pub nodump: bool,
    pub origin: bool,
    pub loadfltr: bool,
    pub globalaudit: bool,
    /// `DT_GNU_FLAGS_1`.
    pub unique: bool,
}

/// Notes and properties of the output.
#[derive(Clone, Debug, Default)]
pub struct NoteOptions {
    pub build_id: BuildId,
    /// The text for `.note.package`, percent escapes replaced.
    pub package_metadata: Option<String>,
    /// `-z ibt`, `-z force-ibt`: the output claims IBT whatever its inputs say.
    pub ibt: bool,
    /// `-z force-ibt`: objects that do not claim it are named in warnings.
    pub warn_missing_ibt: bool,
    /// `-z ibtplt`: PLT entries start with `endbr64` whatever the inputs say.
    pub ibtplt: bool,
    /// `-z shstk`: as `ibt`, for shadow stacks.
    pub shstk: bool,
    /// `-z indirect-extern-access`, `-z noindirect-extern-access`; `None`: as objects say.
    pub indirect_extern_access: Option<bool>,
    /// `-z x86-64-v2` and kin: a bit of `GNU_PROPERTY_X86_ISA_1_NEEDED`, or 0.
    pub isa_needed: u32,
    pub cet_report: ReportPolicy,
    /// `-z lam-u48`, `-z lam-u57`: the output claims that its code does without the upper bits of pointers,
    /// whatever its inputs say.
    pub lam_u48: bool,
    pub lam_u57: bool,
    /// What to say of objects that do not claim it.
    pub lam_u48_report: ReportPolicy,
    pub lam_u57_report: ReportPolicy,
    /// `-z isa-level-report`: which levels of each object are listed.
    pub isa_report: IsaReport,
    /// `-z memory-seal`: the loader is to keep the mappings from being changed.
    pub memory_seal: bool,
    /// `-z force-bti`: the output claims marked branches whatever its inputs say.
    pub force_bti: bool,
    /// `-z pac-plt`: PLT entries check the pointers that they load.
    pub pac_plt: bool,
    /// `-z zicfilp=`: what the output claims of landing pads; else its inputs decide. And whether it claims
    /// shadow stacks.
    pub zicfilp: Option<LandingPads>,
    pub zicfiss: Option<bool>,
    pub zicfilp_unlabeled_report: ReportPolicy,
    pub zicfilp_func_sig_report: ReportPolicy,
    pub zicfiss_report: ReportPolicy,
    /// `-z gcs=always|never`: whether the output claims guarded control stacks; else its inputs decide.
    pub gcs: Option<bool>,
    /// What to say of objects without marked branches, or without guarded control stacks.
    pub bti_report: ReportPolicy,
    pub gcs_report: ReportPolicy,
    /// The same for shared objects; `None`: as for objects, but never an error.
    pub gcs_report_dynamic: Option<ReportPolicy>,
    /// What to say of objects that do not say how they sign pointers, if others do.
    pub pauth_report: ReportPolicy,
    pub memtag: MemtagOptions,
}

/// `-z isa-level-report`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IsaReport {
    pub needed: bool,
    pub used: bool,
}

/// `--android-memtag-…`: memory that the loader is to have tagged.
#[derive(Clone, Debug, Default)]
pub struct MemtagOptions {
    pub mode: Option<MemtagMode>,
    pub heap: bool,
    pub stack: bool,
}

/// What marks indirect branches end at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LandingPads {
    Unlabeled,
    /// Their labels are made from the types of functions.
    ByType,
    None,
}

/// When a pointer with a wrong tag is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemtagMode {
    /// At the access.
    Sync,
    /// Some time later.
    Async,
}

/// What `.symtab` holds.
#[derive(Clone, Debug, Default)]
pub struct SymtabOptions {
    pub strip: Strip,
    pub discard: Discard,
    pub retain_symbols_file: Option<PathBuf>,
}

/// The output file.
#[derive(Clone, Debug)]
pub struct OutputFileOptions {
    pub path: PathBuf,
    /// `path` comes from `-o`, which wins over `OUTPUT` in a linker script.
    pub path_given: bool,
    pub engine: EngineChoice,
    /// `--separate-debug-file`: where debug sections go, and whether it was said so; else it is beside the
    /// output.
    pub debug_file: Option<PathBuf>,
    pub debug_file_given: bool,
    /// `--oformat=binary`: the bytes of the image, without headers.
    pub raw: bool,
    /// `--oformat=srec` and its kin: the loaded bytes as text.
    pub text: Option<TextFormat>,
    /// `--oformat` was given, so that scripts do not decide.
    pub format_given: bool,
    pub incremental: Incremental,
    /// `--incremental-dir`
    pub incremental_dir: Option<PathBuf>,
    /// `--detach`: the state is written when the link has ended for whoever waits for it; unless it is said, that is
    /// for the host to decide.
    pub detach: Option<bool>,
}

/// `--incremental`: whether the output is changed where inputs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Incremental {
    #[default]
    Off,
    On,
    /// And what comes out is compared with that of a full link.
    Verify,
    /// A full link that leaves what a later one wants.
    ForceFull,
}

impl OutputFileOptions {
    /// Gives the file for debug sections its name, if there is to be one of which that is not said.
    pub fn name_debug_file(&mut self) {
        if self.debug_file.is_some() && !self.debug_file_given {
            let mut path = self.path.clone().into_os_string();
            path.push(".dbg");
            self.debug_file = Some(path.into());
        }
    }
}

impl Default for OutputFileOptions {
    fn default() -> Self {
        OutputFileOptions {
            path: PathBuf::from("a.out"),
            path_given: false,
            debug_file: None,
            debug_file_given: false,
            engine: EngineChoice::Auto,
            raw: false,
            text: None,
            format_given: false,
            incremental: Incremental::Off,
            incremental_dir: None,
            detach: None,
        }
    }
}

impl Options {
    /// The address that `--section-start` or one of its kin gives an output section.
    pub fn start_of(&self, section: &[u8]) -> Option<u64> {
        let start = self.layout.section_starts.iter().find(|(name, _)| name.as_bytes() == section);
        start.map(|(_, address)| *address)
    }

    /// Whether the output has the relocations of its inputs.
    pub fn keeps_relocs(&self) -> bool {
        self.relocs.emit_relocs || self.kind == OutputKind::Relocatable
    }

    /// `unique_patterns`, compiled.
    pub fn unique_globs(&self) -> Vec<Glob> {
        // They were looked at when the options were parsed.
        self.sections.unique_patterns.iter().filter_map(|p| Glob::new(p.as_bytes()).ok()).collect()
    }
}
