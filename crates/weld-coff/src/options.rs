//! What a link is asked to do: by the command line, by objects' directives and by a module-definition file.
//!
//! The command line fills [`Options`]. Directives of objects add to [`Demands`], the part that both may fill.

mod groups;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use weld_common::glob::Glob;
use weld_common::io::output::EngineChoice;
use weld_common::io::readahead::Prefetch;
use weld_common::link_slots::Sharing;
use weld_common::text;
use weld_lto::options as lto;

use crate::coff::machine::Machine;
use crate::coff::pe;
use crate::demangle::demangle;
use crate::toolchain::Toolchain;
pub use groups::{ImportLibrary, LayoutOptions, Loading, ManifestOptions, Reports, Warnings};

/// What `/subsystem:` says the program runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subsystem {
    Native,
    Windows,
    Console,
    Posix,
    WindowsCe,
    EfiApplication,
    EfiBootServiceDriver,
    EfiRuntimeDriver,
    EfiRom,
    Xbox,
    BootApplication,
}

impl Subsystem {
    /// Its number in the header.
    pub fn number(self) -> u16 {
        (match self {
            Subsystem::Native => pe::IMAGE_SUBSYSTEM_NATIVE,
            Subsystem::Windows => pe::IMAGE_SUBSYSTEM_WINDOWS_GUI,
            Subsystem::Console => pe::IMAGE_SUBSYSTEM_WINDOWS_CUI,
            Subsystem::Posix => pe::IMAGE_SUBSYSTEM_POSIX_CUI,
            Subsystem::WindowsCe => pe::IMAGE_SUBSYSTEM_WINDOWS_CE_GUI,
            Subsystem::EfiApplication => pe::IMAGE_SUBSYSTEM_EFI_APPLICATION,
            Subsystem::EfiBootServiceDriver => pe::IMAGE_SUBSYSTEM_EFI_BOOT_SERVICE_DRIVER,
            Subsystem::EfiRuntimeDriver => pe::IMAGE_SUBSYSTEM_EFI_RUNTIME_DRIVER,
            Subsystem::EfiRom => pe::IMAGE_SUBSYSTEM_EFI_ROM,
            Subsystem::Xbox => pe::IMAGE_SUBSYSTEM_XBOX,
            Subsystem::BootApplication => pe::IMAGE_SUBSYSTEM_WINDOWS_BOOT_APPLICATION,
        })
        .0
    }
}

/// A symbol that other modules may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// The name as it was given: that of the export, and of the symbol if no other is.
    pub name: String,
    /// The symbol after it.
    pub internal: Option<String>,
    /// It is in another DLL: `DLL.name`.
    pub forward: Option<String>,
    pub ordinal: Option<u16>,
    /// Only the ordinal is exported.
    pub noname: bool,
    pub data: bool,
    pub constant: bool,
    /// The import library leaves it out.
    pub private: bool,
    /// `==`: what the import library says the DLL calls it.
    pub import_name: Option<String>,
    /// What the DLL calls it, and the import library says so.
    pub export_as: Option<String>,
}

/// What `/section` does to the memory flags of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFlags {
    pub clear: u32,
    pub set: u32,
}

/// `/incremental`: whether something is kept for the next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Incremental {
    #[default]
    Off,
    On,
    /// A full link is made in any case, and compared with what would have been left as it is.
    Verify,
}

/// `/opt:icf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icf {
    None,
    Safe,
    All,
}

/// `/guard`: which targets of jumps the loader is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    pub functions: bool,
    pub longjmp: bool,
    pub eh_cont: bool,
}

/// `/manifest`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manifest {
    No,
    /// A file beside the image.
    Beside,
    /// The resource with this number; the image's kind decides if there is none.
    Embedded(Option<u16>),
}

/// `/verbose`: what is told of the link. All of it, or what words ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbose {
    pub all: bool,
    /// `lib`: which files are read, and which members for what.
    pub libraries: bool,
    /// `ref`: what `/opt:ref` leaves out.
    pub discarded: bool,
    /// `icf`: what `/opt:icf` folds.
    pub folded: bool,
    /// `unusedlibs`: libraries of which nothing is linked.
    pub unused_libraries: bool,
    /// `safeseh`: x86 objects that do not tell their exception handlers.
    pub without_handlers: bool,
}

impl Verbose {
    pub const ALL: Verbose = Verbose {
        all: true,
        libraries: true,
        discarded: true,
        folded: true,
        unused_libraries: true,
        without_handlers: true,
    };
}

/// `/force`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Force {
    pub unresolved: bool,
    pub multiple: bool,
    pub multiple_resources: bool,
}

/// What is different where objects, libraries and users come from GNU tools (`/lldmingw`, and the GNU command
/// line).
#[derive(Clone, Debug, Default)]
pub struct Mingw {
    pub on: bool,
    /// `--disable-auto-import`: data of DLLs can be used only if it is declared so. `None`: as [`Mingw::on`]
    /// says.
    pub auto_import: Option<bool>,
    /// `--disable-runtime-pseudo-reloc`: nothing is to be done when the program starts.
    pub pseudo_relocs: Option<bool>,
    /// `--export-all-symbols`; a DLL that exports nothing exports all, too.
    pub export_all: bool,
    /// `--exclude-all-symbols`, `--exclude-symbols`, `--exclude-libs`.
    pub exclude_all: bool,
    pub excluded: Vec<String>,
    pub excluded_libs: Vec<String>,
    /// `--kill-at`: names are exported without `@` and what is after it.
    pub kill_at: bool,
    /// `--enable-stdcall-fixup`: in silence; by default with a warning.
    pub stdcall_fixup: Option<bool>,
    /// Several objects may define a symbol weakly.
    pub duplicate_weak: bool,
    /// `--add-stdcall-alias`: they are exported under both names.
    pub stdcall_alias: bool,
    /// `--defsym`
    pub definitions: Vec<(String, Definition)>,
    /// `--output-def`
    pub output_def: Option<PathBuf>,
}

/// What `--defsym` says a name is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    Number(u64),
    /// What this symbol is.
    Symbol(String),
}

impl Mingw {
    pub fn auto_import(&self) -> bool {
        self.auto_import.unwrap_or(self.on)
    }

    pub fn pseudo_relocs(&self) -> bool {
        self.pseudo_relocs.unwrap_or(self.on)
    }

    pub fn stdcall_fixup(&self) -> bool {
        self.stdcall_fixup.unwrap_or(self.on)
    }
}

/// `/debug`: what becomes of debug information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    /// A PDB is written.
    pub pdb: bool,
    /// DWARF sections stay in the image.
    pub dwarf: bool,
    /// The image has a symbol table.
    pub symtab: bool,
}

impl Debug {
    pub fn any(self) -> bool {
        self.pdb || self.dwarf || self.symtab
    }
}

/// What the PDB is to be like.
#[derive(Clone, Debug, Default)]
pub struct PdbOptions {
    /// Default: beside the image.
    pub path: Option<PathBuf>,
    /// `/pdbaltpath`: how the image calls it.
    pub alt_path: Option<String>,
    /// `/pdbsourcepath`: what is put in front of relative paths; the working directory if not given.
    pub source_path: Option<String>,
    /// `/pdbpagesize`: at least so many bytes.
    pub page_size: u32,
    /// `/pdbstripped`: another PDB that has nothing private.
    pub stripped: Option<PathBuf>,
    /// `/pdbstream`: names and files.
    pub streams: Vec<(String, PathBuf)>,
    pub natvis: Vec<PathBuf>,
    pub source_link: Option<PathBuf>,
    /// `/nocoffgrpinfo`: neither the linker's module nor the image tells what output sections are made of.
    pub without_groups: bool,
}

/// How the linker was called, which the PDB tells.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    pub program: String,
    pub directory: String,
    /// All arguments that the output may depend on.
    pub arguments: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// An object, library or resource file.
    File(PathBuf),
    /// A library of which all members are linked.
    Whole(PathBuf),
    /// An object between `/start-lib` and `/end-lib`.
    Lazy(PathBuf),
    /// `-lNAME`: the library of this name in one of the directories.
    Library(GnuLibrary),
}

/// What is done with libraries.
#[derive(Clone, Debug, Default)]
pub struct Librarian {
    /// `/llvmlibthin`: a library has the paths of its members in place of them.
    pub thin: bool,
    /// `/llvmlibempty`: it need not have members.
    pub empty: bool,
    /// `/llvmlibindex:no`: it has no index of symbols.
    pub no_index: bool,
    /// `/list`: the names of members are printed, and nothing is written.
    pub list: bool,
    /// `/extract`: this member is written, instead of a library.
    pub extract: Option<OsString>,
    /// `/remove`: members that are left out.
    pub remove: Vec<OsString>,
    /// `/name`: what the DLL of an import library is called.
    pub dll: Option<String>,
}

/// A library as GNU tools name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GnuLibrary {
    /// A colon in front says that it is the file's name.
    pub name: String,
    /// Import libraries and DLLs are not looked for.
    pub is_static: bool,
    /// All members are linked.
    pub whole: bool,
}

/// Where the PE header's time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timestamp {
    /// A hash of the image in its place: the same inputs give the same output.
    #[default]
    Hash,
    Given(u32),
}

/// What directives of objects may ask for, too.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    /// `/include:`.
    pub includes: Vec<String>,
    /// `/includeoptional:`: references that need not be met.
    pub optional_includes: Vec<String>,
    pub exports: Vec<Export>,
    /// `/alternatename:from=to`, in order.
    pub alternate_names: Vec<(String, String)>,
    /// `/merge:from=to`; the first of each name counts.
    pub merges: Vec<(String, String)>,
    /// Those that came too late.
    pub lost_merges: Vec<String>,
    /// `/section:name,attributes`.
    pub sections: BTreeMap<String, MemoryFlags>,
    /// `/aligncomm:name,log2`.
    pub common_alignments: BTreeMap<String, u32>,
    /// `/failifmismatch:key=value`, with who says so first.
    pub mismatches: BTreeMap<String, (String, String)>,
    pub no_default_libs: Vec<String>,
    /// `/disallowlib:`: libraries that do not go together with the object that says so, and its name.
    pub disallowed_libs: Vec<(String, String)>,
    pub no_default_libs_at_all: bool,
    pub entry: Option<String>,
    pub subsystem: Option<Subsystem>,
    pub subsystem_version: Option<(u16, u16)>,
    pub stack: Option<(u64, Option<u64>)>,
    pub heap: Option<(u64, Option<u64>)>,
    pub release: bool,
    /// `/exclude-symbols:`: what is not exported with all others.
    pub excluded_symbols: Vec<String>,
    /// `/manifestdependency:`, each once.
    pub manifest_dependencies: Vec<String>,
    /// `/defaultlib:`, in order.
    pub default_libs: Vec<String>,
}

/// `/reproduce`: where to, and the command line and version that go with the files.
#[derive(Clone, Debug)]
pub struct Reproduction {
    pub path: PathBuf,
    pub response: String,
    pub version: String,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub inputs: Vec<Input>,
    pub demands: Demands,
    /// `/includeglob`
    pub include_globs: Vec<Glob>,
    /// `/libpath:`, then those of the environment.
    pub lib_paths: Vec<PathBuf>,
    /// `/winsysroot` and others: directories that depend on the machine.
    pub toolchain: Toolchain,
    /// `/vfsoverlay`
    pub overlay: Option<PathBuf>,
    pub reports: Reports,
    pub out: Option<PathBuf>,
    pub dll: bool,
    pub machine: Option<Machine>,
    /// The machine of the objects, once it is known; names are shown as it has them.
    pub found_machine: OnceLock<Machine>,
    pub no_entry: bool,
    pub loading: Loading,
    /// `/safeseh`, for x86 only; if it is not given, tables are made if all objects have what is needed.
    pub safe_seh: Option<bool>,
    pub manifest: ManifestOptions,
    pub guard: Guard,
    pub layout: LayoutOptions,
    pub version: (u16, u16),
    pub os_version: Option<(u16, u16)>,
    /// `/opt:ref`; by default as `/debug` says.
    pub gc: Option<bool>,
    pub icf: Option<Icf>,
    /// `/profile`
    pub profile: bool,
    pub force: Force,
    /// `/wrap`
    pub wraps: Vec<String>,
    /// `/delayload`: DLLs, in small letters.
    pub delay_loads: Vec<String>,
    /// `/delay:unload`: they can be unloaded again.
    pub delay_unload: bool,
    /// `/lib`: a library is made of the inputs, or something else is done with one.
    pub library: bool,
    pub librarian: Librarian,
    pub reproduce: Option<Reproduction>,
    /// `/linkreprofullpathrsp`: the paths of all inputs go there.
    pub input_list: Option<PathBuf>,
    pub lto: lto::Options,
    pub mingw: Mingw,
    pub debug: Debug,
    pub pdb: PdbOptions,
    pub invocation: Invocation,
    /// What is printed before the link (`-v`).
    pub greeting: Option<String>,
    pub implib: ImportLibrary,
    pub def: Option<PathBuf>,
    /// The DOS program in front of the image.
    pub stub: Option<PathBuf>,
    pub timestamp: Timestamp,
    /// `/Brepro`: the debug directory says that the time is a hash.
    pub brepro: bool,
    /// `/build-id`
    pub build_id: bool,
    /// `/nodbgdirmerge`
    pub debug_directory_alone: bool,
    /// `/emitpogophaseinfo`: the image tells what its sections are made of.
    pub coff_groups: bool,
    /// `/cetcompat` and others of its kind.
    pub extended_characteristics: u32,
    pub warnings: Warnings,
    pub demangle: bool,
    /// Errors that will be shown; 0: all.
    pub error_limit: usize,
    /// Messages are JSON.
    pub json: bool,
    pub incremental: Incremental,
    /// `/ilk`: where it is kept; the default is beside the image.
    pub incremental_dir: Option<PathBuf>,
    /// `/detach`: the state is written when the link has ended for whoever waits for it; unless it is said, that is
    /// for the host to decide.
    pub detach: Option<bool>,
    pub threads: Option<usize>,
    pub sharing: Sharing,
    pub engine: EngineChoice,
    pub prefetch: Prefetch,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            inputs: Vec::new(),
            demands: Demands::default(),
            include_globs: Vec::new(),
            lib_paths: Vec::new(),
            toolchain: Toolchain::default(),
            overlay: None,
            reports: Reports::default(),
            out: None,
            dll: false,
            machine: None,
            found_machine: OnceLock::new(),
            no_entry: false,
            loading: Loading::default(),
            safe_seh: None,
            manifest: ManifestOptions::default(),
            guard: Guard::default(),
            layout: LayoutOptions::default(),
            version: (0, 0),
            os_version: None,
            gc: None,
            icf: None,
            profile: false,
            force: Force::default(),
            wraps: Vec::new(),
            delay_loads: Vec::new(),
            delay_unload: false,
            library: false,
            librarian: Librarian::default(),
            reproduce: None,
            input_list: None,
            lto: lto::Options::default(),
            mingw: Mingw::default(),
            debug: Debug::default(),
            pdb: PdbOptions::default(),
            invocation: Invocation::default(),
            greeting: None,
            implib: ImportLibrary::default(),
            def: None,
            stub: None,
            timestamp: Timestamp::Hash,
            brepro: false,
            build_id: false,
            debug_directory_alone: false,
            coff_groups: false,
            extended_characteristics: 0,
            warnings: Warnings::default(),
            demangle: true,
            error_limit: 20,
            json: false,
            incremental: Incremental::Off,
            incremental_dir: None,
            detach: None,
            threads: None,
            sharing: Sharing::default(),
            engine: EngineChoice::Auto,
            prefetch: Prefetch::Auto,
        }
    }
}

impl Options {
    /// A symbol's name as messages show it.
    pub fn shown(&self, name: &[u8]) -> String {
        if !self.demangle {
            return text::text(name).into_owned();
        }
        let machine = self.machine.or_else(|| self.found_machine.get().copied());
        match name.strip_prefix(b"__imp_") {
            Some(plain) => format!("__declspec(dllimport) {}", demangle(plain, machine)),
            None => demangle(name, machine).into_owned(),
        }
    }

    /// Whether sections that nothing refers to are left out.
    pub fn gc(&self) -> bool {
        self.gc.unwrap_or(self.profile || !self.debug.any())
    }

    /// What is folded.
    pub fn icf(&self) -> Icf {
        match self.icf {
            Some(icf) => icf,
            None if self.gc() && !self.profile => Icf::All,
            None => Icf::None,
        }
    }
}
