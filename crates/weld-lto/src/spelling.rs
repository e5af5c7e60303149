//! What values of options mean: the same on every command line, whatever the option is called there.
//!
//! Tables of options are the linkers'; how a level, a pair of names or a word of `-plugin-opt=` is read is
//! here, so that `ld.lld`'s way, lld-link's and MinGW's cannot drift apart.

use std::fmt;
use std::path::PathBuf;

use weld_common::args::{ValueError, choose};

use crate::options::{Cache, Distribution, Emit, IndexOnly, Options, PrefixReplace, SaveTemps, WrongPolicy};

/// A value that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongValue {
    /// What is wrong with values of other options, too.
    Value(ValueError),
    /// Pieces, of which there has to be one at least.
    Count(String),
    Jobs(String),
    /// Two names with a semicolon between them.
    Pair(String),
    /// Two of them or three.
    Prefixes(String),
    Policy(WrongPolicy),
    PluginOption(String),
}

impl fmt::Display for WrongValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongValue::Value(error) => error.fmt(f),
            WrongValue::Count(text) => write!(f, "expected a number of at least 1, but got '{text}'"),
            WrongValue::Jobs(text) => write!(f, "expected a number or 'all', but got '{text}'"),
            WrongValue::Pair(text) => write!(f, "expected OLD;NEW, but got '{text}'"),
            WrongValue::Prefixes(text) => write!(f, "expected OLD;NEW or OLD;NEW;OBJECT, but got '{text}'"),
            WrongValue::Policy(error) => error.fmt(f),
            WrongValue::PluginOption(text) => write!(f, "unknown plugin option '{text}'"),
        }
    }
}

impl std::error::Error for WrongValue {}

impl From<ValueError> for WrongValue {
    fn from(error: ValueError) -> Self {
        WrongValue::Value(error)
    }
}

type Taken = Result<(), WrongValue>;

impl Options {
    pub fn take_level(&mut self, text: &str) -> Taken {
        self.level = Some(level(text)?);
        Ok(())
    }

    pub fn take_codegen_level(&mut self, text: &str) -> Taken {
        self.codegen_level = Some(level(text)?);
        Ok(())
    }

    pub fn take_partitions(&mut self, text: &str) -> Taken {
        let count = text.parse().ok().filter(|&count| count > 0);
        self.partitions = count.ok_or_else(|| WrongValue::Count(text.to_owned()))?;
        Ok(())
    }

    pub fn take_jobs(&mut self, text: &str) -> Taken {
        if text != "all" && text.parse::<u32>().is_err() {
            return Err(WrongValue::Jobs(text.to_owned()));
        }
        self.jobs = Some(text.to_owned());
        Ok(())
    }

    /// The cache's directory; without one there is none ([`Options::settle`]).
    pub fn cache_in(&mut self, directory: PathBuf) {
        let policy = self.cache.take().and_then(|cache| cache.policy);
        self.cache = Some(Cache { directory, policy });
    }

    pub fn take_cache_policy(&mut self, text: &str) -> Taken {
        Cache::check_policy(text).map_err(WrongValue::Policy)?;
        let directory = self.cache.take().map(|cache| cache.directory).unwrap_or_default();
        self.cache = Some(Cache { directory, policy: Some(text.to_owned()) });
        Ok(())
    }

    /// What is said of distribution; without a distributor there is none ([`Options::settle`]).
    pub fn distributed(&mut self) -> &mut Distribution {
        self.distribution.get_or_insert_default()
    }

    pub fn take_index_only(&mut self, list: Option<PathBuf>) {
        let known = self.thin.index_only.take().and_then(|only| only.list);
        self.thin.index_only = Some(IndexOnly { list: list.or(known) });
    }

    pub fn take_prefix_replace(&mut self, text: &str) -> Taken {
        let parts: Vec<&str> = text.split(';').collect();
        let (old, new, object) = match parts[..] {
            [old, new] => (old, new, ""),
            [old, new, object] => (old, new, object),
            [_] => return Err(WrongValue::Pair(text.to_owned())),
            _ => return Err(WrongValue::Prefixes(text.to_owned())),
        };
        if new.is_empty() {
            return Err(WrongValue::Pair(text.to_owned()));
        }
        let [old, new, object] = [old, new, object].map(str::to_owned);
        self.thin.prefix_replace = Some(PrefixReplace { old, new, object });
        Ok(())
    }

    pub fn take_suffix_replace(&mut self, text: &str) -> Taken {
        let pair = text.split_once(';').filter(|(_, new)| !new.is_empty());
        let (old, new) = pair.ok_or_else(|| WrongValue::Pair(text.to_owned()))?;
        self.thin.object_suffix_replace = Some((old.to_owned(), new.to_owned()));
        Ok(())
    }

    /// Temporary files of one kind, or all.
    pub fn take_save_temps(&mut self, kind: Option<&str>) -> Taken {
        const KINDS: [&str; 9] = [
            "resolution",
            "preopt",
            "promote",
            "internalize",
            "import",
            "opt",
            "precodegen",
            "prelink",
            "combinedindex",
        ];
        let Some(kind) = kind else {
            self.save_temps = SaveTemps::All;
            return Ok(());
        };
        let kind = choose(kind, &KINDS.map(|kind| (kind, kind)))?.to_owned();
        match &mut self.save_temps {
            SaveTemps::All => {}
            SaveTemps::Kinds(kinds) => kinds.push(kind),
            none @ SaveTemps::None => *none = SaveTemps::Kinds(vec![kind]),
        }
        Ok(())
    }

    /// What follows `-plugin-opt=`. What only the plugin that was given knows is kept for it.
    pub fn take_plugin_option(&mut self, text: &str) -> Taken {
        let for_gcc =
            text.starts_with('/') || text.starts_with("-fresolution=") || text.starts_with("-pass-through=");
        if self.engine.has_gcc_plugin() && text.starts_with('-') || for_gcc {
            self.engine.plugin_options.push(text.to_owned());
            return Ok(());
        }
        if text.starts_with('-') {
            self.llvm.push(text.to_owned());
            return Ok(());
        }
        if let Some(found) = text.strip_prefix('O').filter(|rest| rest.bytes().all(|b| b.is_ascii_digit())) {
            return self.take_level(found);
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        self.take_plugin_word(name, value).unwrap_or_else(|| match self.engine.has_foreign_plugin() {
            true => {
                self.engine.plugin_options.push(text.to_owned());
                Ok(())
            }
            false => Err(WrongValue::PluginOption(text.to_owned())),
        })
    }

    /// `None`: LLVM's plugin and ld.lld know no such word.
    fn take_plugin_word(&mut self, name: &str, value: Option<&str>) -> Option<Taken> {
        let path = || PathBuf::from(value.unwrap_or_default());
        let owned = || value.map(str::to_owned);
        match (name, value) {
            ("thinlto", None) => {}
            ("cs-profile-generate", None) => self.profile.generate = true,
            ("cs-profile-path", Some(_)) => self.profile.context_sensitive = Some(path()),
            ("debug-pass-manager", None) => self.passes.debug = true,
            ("disable-verify", None) => self.disable_verify = true,
            ("dwo_dir", Some(_)) => self.dwo_directory = Some(path()),
            ("emit-asm", None) => self.emit = Emit::Assembly,
            ("emit-llvm", None) => self.emit = Emit::Bitcode,
            ("jobs", Some(value)) => return Some(self.take_jobs(value)),
            ("lto-partitions", Some(value)) => return Some(self.take_partitions(value)),
            ("mcpu", Some(_)) => self.cpu = owned(),
            ("obj-path", Some(_)) => self.object_path = Some(path()),
            ("opt-remarks-filename", Some(_)) => self.remarks.file = Some(path()),
            ("opt-remarks-format", Some(_)) => self.remarks.format = owned(),
            ("opt-remarks-hotness-threshold", Some(_)) => self.remarks.hotness_threshold = owned(),
            ("opt-remarks-passes", Some(_)) => self.remarks.passes = owned(),
            ("opt-remarks-with-hotness", None) => self.remarks.with_hotness = true,
            ("sample-profile", Some(_)) => self.profile.sample = Some(path()),
            ("save-temps", None) => self.save_temps = SaveTemps::All,
            ("stats-file", Some(_)) => self.statistics = Some(path()),
            ("cache-dir", Some(_)) => self.cache_in(path()),
            ("cache-policy", Some(value)) => return Some(self.take_cache_policy(value)),
            ("thinlto-emit-imports-files", None) => self.thin.emit_imports_files = true,
            ("thinlto-index-only", _) => self.take_index_only(value.map(PathBuf::from)),
            ("thinlto-object-suffix-replace", Some(value)) => return Some(self.take_suffix_replace(value)),
            ("thinlto-prefix-replace", Some(value)) => return Some(self.take_prefix_replace(value)),
            ("time-trace", Some(_)) => self.time_trace = Some((path(), TIME_TRACE_GRANULARITY)),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Settles what depends on several options. What contradicts itself, if anything does.
    pub fn settle(&mut self) -> Option<&'static str> {
        self.cache.take_if(|cache| cache.directory.as_os_str().is_empty());
        self.distribution.take_if(|to| to.distributor.as_os_str().is_empty());
        let thin = &self.thin;
        let prefixes = thin.prefix_replace.as_ref();
        let has_list = thin.index_only.as_ref().is_some_and(|index| index.list.is_some());
        if thin.emit_index_files && prefixes.is_some() {
            Some("thinlto-prefix-replace cannot be used together with thinlto-emit-index-files")
        } else if thin.emit_index_files && thin.object_suffix_replace.is_some() {
            Some("thinlto-object-suffix-replace cannot be used together with thinlto-emit-index-files")
        } else if prefixes.is_some_and(|prefixes| !prefixes.object.is_empty()) && !has_list {
            Some("thinlto-prefix-replace=OLD;NEW;OBJECT needs thinlto-index-only=FILE")
        } else {
            None
        }
    }
}

/// Microseconds, as ld.lld's default.
const TIME_TRACE_GRANULARITY: u32 = 500;

fn level(text: &str) -> Result<u8, ValueError> {
    choose(text, &[("0", 0), ("1", 1), ("2", 2), ("3", 3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> Options {
        let mut options = Options::default();
        words.iter().for_each(|word| options.take_plugin_option(word).unwrap());
        assert_eq!(options.settle(), None);
        options
    }

    #[test]
    fn words_for_plugins() {
        let options =
            said(&["thinlto", "O3", "jobs=4", "-x", "save-temps", "cache-policy=", "cache-dir=d", "/w"]);
        assert_eq!((options.level, options.jobs.as_deref()), (Some(3), Some("4")));
        assert_eq!((options.llvm, options.save_temps), (vec!["-x".to_owned()], SaveTemps::All));
        assert_eq!(options.cache, Some(Cache { directory: "d".into(), policy: Some(String::new()) }));
        assert_eq!(options.engine.plugin_options, ["/w"]);
        // A policy alone is no cache.
        assert_eq!(said(&["cache-policy=prune_after=1h"]).cache, None);
        let wrong = |word: &str| Options::default().take_plugin_option(word).unwrap_err().to_string();
        assert_eq!(wrong("x=1"), "unknown plugin option 'x=1'");
        assert_eq!(wrong("lto-partitions=0"), "expected a number of at least 1, but got '0'");
        assert_eq!(wrong("thinlto-prefix-replace=a"), "expected OLD;NEW, but got 'a'");
        let mut both = Options::default();
        both.thin.emit_index_files = true;
        both.take_suffix_replace("a;b").unwrap();
        assert!(both.settle().is_some_and(|text| text.contains("thinlto-object-suffix-replace")));
        let mut no_list = Options::default();
        no_list.take_prefix_replace("a;b;c").unwrap();
        assert!(no_list.settle().is_some_and(|text| text.contains("needs thinlto-index-only=FILE")));
        assert_eq!(wrong("thinlto-prefix-replace=a;"), "expected OLD;NEW, but got 'a;'");
        assert_eq!(wrong("thinlto-object-suffix-replace=a;"), "expected OLD;NEW, but got 'a;'");
        assert_eq!(wrong("O4"), "expected 0, 1, 2 or 3, but got '4'");
    }

    #[test]
    fn what_only_a_plugin_knows_is_kept_for_it() {
        let with = |plugin: &str, word: &str| {
            let mut options = Options::default();
            options.engine.plugin = Some(plugin.into());
            options.take_plugin_option(word).map(|()| (options.engine.plugin_options, options.llvm))
        };
        let kept = |word: &str| Ok((vec![word.to_owned()], Vec::new()));
        assert_eq!(with("liblto_plugin.so", "-flto"), kept("-flto"));
        assert_eq!(with("other.so", "a"), kept("a"));
        assert_eq!(with("LLVMgold.so", "-a"), Ok((Vec::new(), vec!["-a".to_owned()])));
        assert!(with("LLVMgold.so", "a").is_err());
    }
}
