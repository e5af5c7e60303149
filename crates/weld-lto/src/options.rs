//! How to generate code: what lld's options for link-time optimisation say, of ELF and COFF alike, as plain
//! data.
//!
//! Defaults are lld's. Both linkers' tables of options fill this in; what an engine makes of it is the
//! engine's business, and so is to refuse what it cannot do. Texts are as users wrote them, without the
//! option's name.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The command line's wishes. [`Options::default`] is a command line that says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `--lto-O`, `/opt:lldlto=`: 0 to 3. Not given: 2; GCC takes what its files were compiled with.
    pub level: Option<u8>,
    /// `--lto-CGO`, `/opt:lldltocgo=`: 0 to 3. Not given: 2, or 3 if the level is 3.
    pub codegen_level: Option<u8>,
    /// `--lto-partitions=`, `/opt:ltopartitions=`: pieces that merged modules are compiled in, at least 1.
    pub partitions: u32,
    /// `--thinlto-jobs=`, `/opt:lldltojobs=`: a number, or `all`. Not given: the engine decides.
    pub jobs: Option<String>,
    /// `--lto=full`, `--lto=thin`: how modules are compiled that were made for either.
    pub unified: Option<Unified>,
    /// `-plugin-opt=mcpu=`, `-mllvm -mcpu=`.
    pub cpu: Option<String>,
    /// `-mllvm`, `-plugin-opt=-…`: words for LLVM's own parser of options, in order, each with its dash.
    pub llvm: Vec<String>,
    pub disable_verify: bool,
    /// `--fat-lto-objects`: bitcode of objects that have machine code, too, is compiled.
    pub fat_objects: bool,
    pub emit: Emit,
    /// `--lto-obj-path=`, `/lto-obj-path:`: where objects are to stay.
    pub object_path: Option<PathBuf>,
    pub save_temps: SaveTemps,
    pub thin: Thin,
    pub cache: Option<Cache>,
    pub distribution: Option<Distribution>,
    pub remarks: Remarks,
    pub profile: Profile,
    pub passes: Passes,
    pub devirtualisation: Devirtualisation,
    pub blocks: BasicBlocks,
    /// `-plugin-opt=dwo_dir=`, `/dwodir:`.
    pub dwo_directory: Option<PathBuf>,
    /// `-plugin-opt=stats-file=`.
    pub statistics: Option<PathBuf>,
    /// `-plugin-opt=time-trace=`: the engine's own trace, and its granularity in microseconds.
    pub time_trace: Option<(PathBuf, u32)>,
    pub engine: EngineWishes,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            level: None,
            codegen_level: None,
            partitions: 1,
            jobs: None,
            unified: None,
            cpu: None,
            llvm: Vec::new(),
            disable_verify: false,
            fat_objects: false,
            emit: Emit::Objects,
            object_path: None,
            save_temps: SaveTemps::None,
            thin: Thin::default(),
            cache: None,
            distribution: None,
            remarks: Remarks::default(),
            profile: Profile::default(),
            passes: Passes::default(),
            devirtualisation: Devirtualisation::default(),
            blocks: BasicBlocks::default(),
            dwo_directory: None,
            statistics: None,
            time_trace: None,
            engine: EngineWishes::default(),
        }
    }
}

impl Options {
    /// The link ends with what the engine writes: there is nothing to link after it.
    pub fn ends_the_link(&self) -> bool {
        self.thin.index_only.is_some() || self.emit != Emit::Objects || !self.thin.single_modules.is_empty()
    }

    /// Options of LLVM's come from files, which may name others.
    pub fn has_response_files(&self) -> bool {
        self.llvm.iter().any(|word| !word.starts_with('-'))
    }

    /// Options count for what is compiled of which LLVM's cache knows nothing, if it is not told: the program that
    /// weld builds does (`told_apart_by` in `engine/settings.h`), which has these and plugins.
    pub fn are_more_than_llvm_tells_apart(&self) -> bool {
        !self.llvm.is_empty()
            || self.profile.context_sensitive.is_some()
            || self.profile.generate
            || self.blocks != BasicBlocks::default()
    }
}

/// How modules are compiled whose bitcode fits both ways (`-funified-lto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unified {
    Full,
    Thin,
}

/// What is made of the modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    Objects,
    /// `--lto-emit-asm`, `/lldemit:asm`.
    Assembly,
    /// `--lto-emit-llvm`, `/lldemit:llvm`.
    Bitcode,
}

/// `--save-temps`, `/lldsavetemps`: what is kept beside the output and the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveTemps {
    None,
    All,
    /// `--save-temps=`: `resolution`, `preopt`, `promote`, `internalize`, `import`, `opt`, `precodegen`,
    /// `prelink`, `combinedindex`.
    Kinds(Vec<String>),
}

/// `--thinlto-*`, `/thinlto-*`: indexes for compilations elsewhere, and names of the files that belong to
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thin {
    pub index_only: Option<IndexOnly>,
    pub emit_imports_files: bool,
    pub emit_index_files: bool,
    pub prefix_replace: Option<PrefixReplace>,
    /// `--thinlto-object-suffix-replace=OLD;NEW`.
    pub object_suffix_replace: Option<(String, String)>,
    /// `--thinlto-single-module=`: parts of names of the only modules that are compiled.
    pub single_modules: Vec<String>,
}

/// `--thinlto-index-only[=FILE]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOnly {
    /// Where the names of the objects to be linked are written.
    pub list: Option<PathBuf>,
}

/// `--thinlto-prefix-replace=OLD;NEW[;OBJECT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixReplace {
    pub old: String,
    pub new: String,
    /// The new prefix of objects in the list of [`IndexOnly`]; empty: as `new`.
    pub object: String,
}

/// `--thinlto-cache-dir=` and `--thinlto-cache-policy=`, `/lldltocache:` and `/lldltocachepolicy:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    pub directory: PathBuf,
    pub policy: Option<String>,
}

impl Cache {
    /// Checks a policy: `cache_size=N%`, `cache_size_bytes=N[kmg]`, `cache_size_files=N`,
    /// `prune_after=N[smh]`, `prune_interval=N[smh]`, with colons between them.
    ///
    /// # Errors
    /// The part that is wrong.
    pub fn check_policy(policy: &str) -> Result<(), WrongPolicy> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_right = |part: &str| match part.split_once('=') {
            Some(("cache_size", value)) => value
                .strip_suffix('%')
                .and_then(|number| number.parse::<u64>().ok())
                .is_some_and(|percent| percent <= 100),
            Some(("cache_size_bytes", value)) => {
                is_number(value.strip_suffix(['k', 'm', 'g', 'K', 'M', 'G']).unwrap_or(value))
            }
            Some(("cache_size_files", value)) => is_number(value),
            Some(("prune_after" | "prune_interval", value)) => {
                value.strip_suffix(['s', 'm', 'h']).is_some_and(is_number)
            }
            _ => false,
        };
        match policy.split(':').find(|part| !is_right(part)) {
            Some(part) if !policy.is_empty() => Err(WrongPolicy(part.to_owned())),
            _ => Ok(()),
        }
    }
}

/// A part of a policy that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPolicy(pub String);

impl fmt::Display for WrongPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is none of cache_size=N%, cache_size_bytes=N, cache_size_files=N, prune_after=Ns, prune_interval=Ns",
            self.0
        )
    }
}

impl std::error::Error for WrongPolicy {}

/// `--thinlto-distributor=` and what goes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    pub distributor: PathBuf,
    pub distributor_args: Vec<OsString>,
    pub compiler: PathBuf,
    pub compiler_prepended_args: Vec<OsString>,
    pub compiler_args: Vec<OsString>,
}

/// `--opt-remarks-*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    pub file: Option<PathBuf>,
    /// `yaml`, `bitstream`, …
    pub format: Option<String>,
    /// A regular expression of names of passes.
    pub passes: Option<String>,
    pub with_hotness: bool,
    /// A number, or `auto`.
    pub hotness_threshold: Option<String>,
}

/// Profiles that guide the optimiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `--lto-sample-profile=`.
    pub sample: Option<PathBuf>,
    /// `--lto-cs-profile-file=`.
    pub context_sensitive: Option<PathBuf>,
    /// `--lto-cs-profile-generate`.
    pub generate: bool,
    /// `--[no-]lto-pgo-warn-mismatch`.
    pub warn_mismatch: bool,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { sample: None, context_sensitive: None, generate: false, warn_mismatch: true }
    }
}

/// The optimiser's passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// `--lto-newpm-passes=`.
    pub pipeline: Option<String>,
    /// `--lto-aa-pipeline=`.
    pub alias_analysis: Option<String>,
    /// `--load-pass-plugin=`.
    pub plugins: Vec<PathBuf>,
    /// `--lto-debug-pass-manager`.
    pub debug: bool,
}

/// Virtual calls of which the whole program is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devirtualisation {
    /// `--lto-whole-program-visibility`.
    pub whole_program: bool,
    /// `--lto-validate-all-vtables-have-type-infos`.
    pub validate: bool,
    /// `--lto-known-safe-vtables=`.
    pub known_safe: Vec<String>,
    /// If `validate`: whether the linker has found type information for every vtable that it knows.
    pub all_have_type_infos: bool,
}

/// Basic blocks in sections of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasicBlocks {
    /// `--lto-basic-block-sections=`: `all`, `labels`, `none`, or a file.
    pub sections: Option<String>,
    /// `--lto-unique-basic-block-section-names`.
    pub unique_names: bool,
    /// `--lto-basic-block-address-map`.
    pub address_map: bool,
}

impl EngineWishes {
    /// Whether the plugin that was given is GCC's.
    pub fn has_gcc_plugin(&self) -> bool {
        self.plugin_begins(b"liblto_plugin") == Some(true)
    }

    /// Whether a plugin was given that is not LLVM's.
    pub fn has_foreign_plugin(&self) -> bool {
        self.plugin_begins(b"LLVMgold") == Some(false)
    }

    /// The plugin that was given, if it is LLVM's.
    pub fn llvm_plugin(&self) -> Option<&Path> {
        self.plugin.as_deref().filter(|_| self.plugin_begins(b"LLVMgold") == Some(true))
    }

    fn plugin_begins(&self, start: &[u8]) -> Option<bool> {
        let name = self.plugin.as_ref()?.file_name()?;
        Some(name.as_encoded_bytes().starts_with(start))
    }
}

/// Which compiler is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineWishes {
    /// `--lto-engine=`: a file, which is used or nothing.
    pub path: Option<PathBuf>,
    /// `-plugin`, as gcc and clang pass it: GCC's says which compiler was called, LLVM's is an engine.
    pub plugin: Option<PathBuf>,
    /// `-plugin-opt=` as far as it is for GCC's plugin: the path of `lto-wrapper`, `-fresolution=`,
    /// `-pass-through=`.
    pub plugin_options: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies() {
        for right in [
            "",
            "cache_size=50%:cache_size_bytes=10g:cache_size_files=3",
            "prune_after=24h:prune_interval=0s",
        ] {
            assert_eq!(Cache::check_policy(right), Ok(()), "{right}");
        }
        for (wrong, part) in [
            ("bogus", "bogus"),
            ("cache_size=5", "cache_size=5"),
            ("cache_size=5%:prune_after=3", "prune_after=3"),
        ] {
            assert_eq!(Cache::check_policy(wrong), Err(WrongPolicy(part.to_owned())));
        }
        assert_eq!(Cache::check_policy("cache_size=101%"), Err(WrongPolicy("cache_size=101%".to_owned())));
    }
}
