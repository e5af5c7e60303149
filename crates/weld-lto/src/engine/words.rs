//! lld's options in the words of LLVM's plugin, or which of them it cannot do.
//!
//! The plugin knows words of its own and gives all others to LLVM's parser of options, which knows what
//! compilers know (`-addrsig`), refuses what it does not, and does not take an option twice. Where lld sets
//! something always that compilers only do when asked, the word is added here. A word that the plugin of
//! another version does not know ends it, which is an error that names the word.
//!
//! What it cannot do is an error here, before anything runs: code that is other than what was asked for is
//! worse than none.

use weld_common::text::path;

use crate::answer::Fault;
use crate::options::{Emit, Options, SaveTemps, Unified};
use crate::request::{Machine, Output, Request};

/// What to do about an option that LLVM's plugin has no word for.
const OTHER_ENGINE: &str =
    "LLVM's plugin for linkers has no such option; an engine that has is built by: weld lto-engine build";

/// The words for a request.
///
/// # Errors
/// If there is an option that the plugin cannot do.
pub fn words(request: &Request<'_>) -> Result<Vec<String>, Fault> {
    let options = request.options;
    if let Some(option) = impossible(options) {
        return Err(refused(option));
    }
    // Of modules that are compiled one by one the plugin writes many files, beside the inputs.
    if options.emit == Emit::Bitcode && request.files.iter().any(|file| file.is_thin(options)) {
        return Err(refused("--lto-emit-llvm of modules for ThinLTO".to_owned()));
    }
    let mut words = Words(Vec::new());
    words.push(Some(format!("O{}", options.level.unwrap_or(DEFAULT_LEVEL))));
    words.value("lto-partitions=", Some(options.partitions).filter(|&count| count != 1));
    words.value("jobs=", options.jobs.as_ref());
    words.value("mcpu=", options.cpu.as_ref());
    words.flag("disable-verify", options.disable_verify);
    words.flag("unifiedlto", options.unified.is_some());
    words.flag("thinlto", options.unified == Some(Unified::Thin));
    files(options, &mut words);
    words.value("dwo_dir=", options.dwo_directory.as_deref().map(path));
    words.value("stats-file=", options.statistics.as_deref().map(path));
    if let Some((file, granularity)) = &options.time_trace {
        words.value("time-trace=", Some(path(file)));
        words.value("time-trace-granularity=", Some(granularity));
    }
    optimiser(options, &mut words);
    llvm(request, &mut words);
    Ok(words.0)
}

/// lld's level of optimisation if there is no option, and the plugin's.
pub const DEFAULT_LEVEL: u8 = 2;

pub fn refused(option: String) -> Fault {
    Fault::Option { option, help: OTHER_ENGINE }
}

struct Words(Vec<String>);

impl Words {
    fn push(&mut self, word: Option<String>) {
        self.0.extend(word);
    }

    fn value(&mut self, name: &str, value: Option<impl std::fmt::Display>) {
        self.push(value.map(|value| format!("{name}{value}")));
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        self.push(is_set.then(|| name.to_owned()));
    }
}

/// An option that is set and that the plugin cannot do, as users know it.
fn impossible(options: &Options) -> Option<String> {
    let level = options.level.unwrap_or(DEFAULT_LEVEL);
    let set = |is_set: bool, name: &str| is_set.then(|| name.to_owned());
    let thin = &options.thin;
    set(level > 3, "a level of optimisation above 3")
        // The plugin has one level for both.
        .or(set(
            options.codegen_level.is_some_and(|codegen| codegen != level),
            "--lto-CGO other than --lto-O",
        ))
        .or(set(!thin.single_modules.is_empty(), "--thinlto-single-module"))
        .or(set(thin.emit_index_files && thin.index_only.is_none(), "--thinlto-emit-index-files"))
        .or(set(
            thin.emit_imports_files && thin.index_only.is_none(),
            "--thinlto-emit-imports-files without --thinlto-index-only",
        ))
        .or(set(matches!(options.save_temps, SaveTemps::Kinds(_)), "--save-temps= with a selection"))
        .or(set(
            options.save_temps != SaveTemps::None && options.emit != Emit::Objects,
            "--save-temps with --lto-emit-asm or --lto-emit-llvm",
        ))
        .or(set(
            options.object_path.is_some() && options.emit != Emit::Objects,
            "--lto-obj-path with --lto-emit-asm or --lto-emit-llvm",
        ))
        // It warns whatever it is told.
        .or(set(!options.profile.warn_mismatch, "--no-lto-pgo-warn-mismatch"))
        .or(set(options.passes.pipeline.is_some(), "--lto-newpm-passes"))
        .or(set(options.passes.alias_analysis.is_some(), "--lto-aa-pipeline"))
        .or(set(!options.passes.plugins.is_empty(), "--load-pass-plugin"))
        .or(set(options.devirtualisation.validate, "--lto-validate-all-vtables-have-type-infos"))
}

/// What is written beside objects.
fn files(options: &Options, words: &mut Words) {
    words.value("obj-path=", options.object_path.as_deref().map(path));
    // Bitcode that is complete is among the temporary files; the plugin's own `emit-llvm` is from before the
    // optimiser, unlike lld's.
    words.flag("save-temps", options.save_temps != SaveTemps::None || options.emit == Emit::Bitcode);
    words.flag("emit-asm", options.emit == Emit::Assembly);
    if let Some(index) = &options.thin.index_only {
        match &index.list {
            Some(list) => words.value("thinlto-index-only=", Some(path(list))),
            None => words.flag("thinlto-index-only", true),
        }
        words.flag("thinlto-emit-imports-files", options.thin.emit_imports_files);
        let replace = options.thin.prefix_replace.as_ref();
        words.value(
            "thinlto-prefix-replace=",
            replace.map(|replace| format!("{};{}", replace.old, replace.new)),
        );
        let suffixes = options.thin.object_suffix_replace.as_ref();
        words.value("thinlto-object-suffix-replace=", suffixes.map(|(old, new)| format!("{old};{new}")));
    }
    if let Some(cache) = options.cache.as_ref().filter(|_| !options.are_more_than_llvm_tells_apart()) {
        words.value("cache-dir=", Some(path(&cache.directory)));
        words.value("cache-policy=", cache.policy.as_ref());
    }
    let remarks = &options.remarks;
    words.value("opt-remarks-filename=", remarks.file.as_deref().map(path));
    words.value("opt-remarks-passes=", remarks.passes.as_ref());
    words.value("opt-remarks-format=", remarks.format.as_ref());
    words.flag("opt-remarks-with-hotness", remarks.with_hotness);
    words.value("opt-remarks-hotness-threshold=", remarks.hotness_threshold.as_ref());
}

fn optimiser(options: &Options, words: &mut Words) {
    let profile = &options.profile;
    words.value("sample-profile=", profile.sample.as_deref().map(path));
    words.value("cs-profile-path=", profile.context_sensitive.as_deref().map(path));
    words.flag("cs-profile-generate", profile.generate);
    words.flag("debug-pass-manager", options.passes.debug);
    words.flag("whole-program-visibility", options.devirtualisation.whole_program);
}

/// Options of LLVM's own: the user's, and what lld sets without being asked.
fn llvm(request: &Request<'_>, words: &mut Words) {
    let options = request.options;
    let given = |name: &str| {
        options.llvm.iter().any(|word| {
            let word = word.trim_start_matches('-');
            word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    let mut add = |name: &str, value: &str| {
        if !given(name) {
            words.push(Some(format!("-{name}{value}")));
        }
    };
    add("addrsig", "");
    // The plugin does it for all but these.
    if request.output == Output::Relocatable && matches!(request.machine, Machine::Elf { .. }) {
        add("function-sections", "");
        add("data-sections", "");
    }
    if let Some(sections) = &options.blocks.sections {
        add("basic-block-sections", &format!("={sections}"));
    }
    if options.blocks.unique_names {
        add("unique-basic-block-section-names", "");
    }
    if options.blocks.address_map {
        add("basic-block-address-map", "");
    }
    words.0.extend(options.llvm.iter().filter(|word| relocation_model(word).is_none()).cloned());
}

/// The model that `-relocation-model=` asks for. The plugin looks at the kind of output only.
pub fn relocation_model(word: &str) -> Option<&str> {
    word.trim_start_matches('-').strip_prefix("relocation-model=")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::options::{Cache, IndexOnly, PrefixReplace};

    fn of(output: Output, options: &Options) -> Result<String, String> {
        let request = Request::of_nothing(output, options);
        words(&request).map(|words| words.join(" ")).map_err(|fault| match fault {
            Fault::Option { option, .. } => option,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn defaults_are_those_of_lld() {
        assert_eq!(of(Output::Executable, &Options::default()).unwrap(), "O2 -addrsig");
        let relocatable = of(Output::Relocatable, &Options::default());
        assert_eq!(relocatable.unwrap(), "O2 -addrsig -function-sections -data-sections");
    }

    #[test]
    fn an_option_of_llvm_is_given_once() {
        let llvm = ["--addrsig=0", "-function-sections", "-x"].map(str::to_owned).to_vec();
        let options = Options { llvm, ..Options::default() };
        let words = of(Output::Relocatable, &options).unwrap();
        assert_eq!(words, "O2 -data-sections --addrsig=0 -function-sections -x");
    }

    #[test]
    fn options_become_words() {
        let mut options = Options { level: Some(3), partitions: 4, ..Options::default() };
        options.jobs = Some("all".to_owned());
        options.cpu = Some("znver4".to_owned());
        options.cache = Some(Cache { directory: PathBuf::from("c"), policy: Some("p".to_owned()) });
        options.thin.index_only = Some(IndexOnly { list: Some(PathBuf::from("l")) });
        options.thin.prefix_replace =
            Some(PrefixReplace { old: "a".to_owned(), new: "b".to_owned(), object: String::new() });
        let words = of(Output::Pie, &options).unwrap();
        let expected = "O3 lto-partitions=4 jobs=all mcpu=znver4 thinlto-index-only=l thinlto-prefix-replace=a;b \
             cache-dir=c cache-policy=p -addrsig";
        assert_eq!(words, expected);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let refused = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            of(Output::Executable, &options).unwrap_err()
        };
        assert_eq!(refused(|o| o.profile.warn_mismatch = false), "--no-lto-pgo-warn-mismatch");
        assert_eq!(refused(|o| o.passes.pipeline = Some(String::new())), "--lto-newpm-passes");
        assert_eq!(refused(|o| o.codegen_level = Some(3)), "--lto-CGO other than --lto-O");
        assert_eq!(refused(|o| o.thin.single_modules.push("a".to_owned())), "--thinlto-single-module");
        let kinds = |o: &mut Options| o.save_temps = SaveTemps::Kinds(vec!["opt".to_owned()]);
        assert_eq!(refused(kinds), "--save-temps= with a selection");
    }
}
