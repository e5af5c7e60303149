//! Link-time optimisation: what both command lines say of it, as options of their own and in the words that gcc
//! and clang have for plugins.

use std::path::PathBuf;

use weld_common::args::Value::{Optional, Required};
use weld_common::args::{Given, Spec, accepted, choose, flag, refused, take};
use weld_lto::options::{Cache, Distribution, Emit, IndexOnly, PrefixReplace, SaveTemps};

use super::state::{State, switch};
use super::values::number;
use crate::options::LtoOptions;

type Taken = Result<(), String>;

/// The rows of `lld-link`'s table.
pub const ROWS: &[Spec<State>] = &[
    take(
        &["lto-engine"],
        Required("FILE"),
        "Compile bitcode with this plugin of LLVM's (LLVMgold.so). By default that of the oldest LLVM that is new enough for all bitcode is looked for.",
        |s, v| {
            s.o.lto.code.engine.path = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["fat-lto-objects"],
        Optional("no"),
        "Compile the bitcode (.llvm.lto) of objects that have machine code, too. By default the machine code is linked.",
        |s, v| {
            s.o.lto.fat_objects = switch(v)?;
            Ok(())
        },
    ),
    take(&["mllvm"], Required("OPTION"), "An option for LLVM itself.", |s, v| {
        s.o.lto.code.llvm.push(v.string()?);
        Ok(())
    }),
    take(&["lldltocache"], Required("DIR"), "Keep compiled modules for later links in DIR.", |s, v| {
        s.o.lto.cache_in(v.os().into());
        Ok(())
    }),
    take(&["lldltocachepolicy"], Required("POLICY"), "How much of them, and how long.", |s, v| {
        s.o.lto.cache_by(v.text()?)
    }),
    take(
        &["lldsavetemps"],
        Optional("KIND"),
        "Keep what is made on the way from bitcode to objects: all, or resolution, preopt, promote, internalize, import, opt, precodegen, prelink or combinedindex.",
        |s, v| s.o.lto.save_temps(v.value.map(|_| v.text()).transpose()?),
    ),
    take(
        &["lldemit"],
        Required("obj|asm|llvm"),
        "Make objects of bitcode and link them (default), or write assembly code or bitcode instead.",
        |s, v| {
            let kinds = [("obj", Emit::Objects), ("asm", Emit::Assembly), ("llvm", Emit::Bitcode)];
            s.o.lto.code.emit = choose(&v.text()?.to_ascii_lowercase(), &kinds)?;
            Ok(())
        },
    ),
    take(&["dwodir"], Required("DIR"), "Write .dwo files of compiled bitcode to DIR.", |s, v| {
        s.o.lto.code.dwo_directory = Some(v.os().into());
        Ok(())
    }),
    take(
        &["lto-obj-path"],
        Required("FILE"),
        "Keep the objects that compilers make, by this name.",
        |s, v| {
            s.o.lto.code.object_path = Some(v.os().into());
            Ok(())
        },
    ),
    take(&["lto-cs-profile-file"], Required("FILE"), "Optimise by a context-sensitive profile.", |s, v| {
        s.o.lto.code.profile.context_sensitive = Some(v.os().into());
        Ok(())
    }),
    flag(&["lto-cs-profile-generate"], "Generate code that writes such a profile.", |s| {
        s.o.lto.code.profile.generate = true;
    }),
    take(&["lto-sample-profile"], Required("FILE"), "Optimise by a profile of samples.", |s, v| {
        s.o.lto.code.profile.sample = Some(v.os().into());
        Ok(())
    }),
    take(
        &["lto-pgo-warn-mismatch"],
        Optional("no"),
        "Warn of functions that a profile knows by another shape (default).",
        |s, v| {
            s.o.lto.code.profile.warn_mismatch = switch(v)?;
            Ok(())
        },
    ),
    take(
        &["thinlto-index-only"],
        Optional("FILE"),
        "Write what is needed to compile each module elsewhere instead of linking, and to FILE the names of the objects that are to be linked then.",
        |s, v| {
            s.o.lto.index_only(v.value.map(PathBuf::from));
            Ok(())
        },
    ),
    flag(&["thinlto-emit-imports-files"], "With each, a list of the files that it imports from.", |s| {
        s.o.lto.code.thin.emit_imports_files = true;
    }),
    take(
        &["thinlto-prefix-replace"],
        Required("OLD;NEW[;OBJECT]"),
        "Replace the start of the names of these files, and of the objects in the list.",
        |s, v| s.o.lto.prefix_replace(v.text()?),
    ),
    take(
        &["thinlto-object-suffix-replace"],
        Required("OLD;NEW"),
        "Replace the end of the names of inputs to get the names of files that have been compiled of them.",
        |s, v| s.o.lto.suffix_replace(v.text()?),
    ),
    take(
        &["thinlto-distributor"],
        Required("PROGRAM"),
        "Have modules compiled by a program that distributes compilations.",
        |s, v| {
            s.o.lto.distribution().distributor = v.os().into();
            Ok(())
        },
    ),
    take(&["thinlto-distributor-arg"], Required("ARG"), "An argument for it.", |s, v| {
        s.o.lto.distribution().distributor_args.push(v.os().into());
        Ok(())
    }),
    take(&["thinlto-remote-compiler"], Required("PROGRAM"), "The compiler that it is to run.", |s, v| {
        s.o.lto.distribution().compiler = v.os().into();
        Ok(())
    }),
    take(
        &["thinlto-remote-compiler-prepend-arg"],
        Required("ARG"),
        "The compiler's first arguments.",
        |s, v| {
            s.o.lto.distribution().compiler_prepended_args.push(v.os().into());
            Ok(())
        },
    ),
    take(&["thinlto-remote-compiler-arg"], Required("ARG"), "The compiler's last arguments.", |s, v| {
        s.o.lto.distribution().compiler_args.push(v.os().into());
        Ok(())
    }),
    take(
        &["ltcg"],
        Optional("incremental|status|nostatus|off"),
        "Accepted without effect: bitcode is compiled in any case, and what Microsoft's compiler leaves (/GL) is an error. So are the words for profiles.",
        State::ltcg,
    ),
    accepted(&["ltcgout", "cgthreads"], Optional("VALUE"), "they are for Microsoft's compiler at link time"),
    refused(
        &["genprofile", "fastgenprofile", "useprofile", "spgo", "spdin", "spdembed"],
        Optional("VALUE"),
        "such profiles are for Microsoft's compiler at link time; compile with clang's -fprofile-generate or -fprofile-use",
    ),
    accepted(
        &["pgd", "spd", "pogosafemode"],
        Optional("VALUE"),
        "it only says more of options for profiles, which are errors",
    ),
    refused(
        &["dynamicdeopt"],
        Optional("VALUE"),
        "it needs objects that Microsoft's compiler makes besides, and a second link of them",
    ),
];

impl LtoOptions {
    /// Whether the plugin is of this kind, if one was given: GCC's is called `liblto_plugin`, LLVM's `LLVMgold`.
    fn plugin_begins(&self, start: &[u8]) -> Option<bool> {
        let name = self.code.engine.plugin.as_ref()?.file_name()?;
        Some(name.as_encoded_bytes().starts_with(start))
    }

    /// `/opt:`: whether the word is about bitcode.
    pub fn optimise(&mut self, word: &str) -> Result<bool, String> {
        let Some((name, value)) = word.split_once('=') else {
            match word {
                "ltodebugpassmanager" => self.code.passes.debug = true,
                "noltodebugpassmanager" => self.code.passes.debug = false,
                _ => return Ok(false),
            }
            return Ok(true);
        };
        let invalid = |what: &str| format!("{name}: invalid {what}: {value}");
        match name {
            "lldlto" => self.code.level = Some(level(value).map_err(|_| invalid("optimisation level"))?),
            "lldltocgo" => {
                self.code.codegen_level = Some(level(value).map_err(|_| invalid("optimisation level"))?);
            }
            "lldltojobs" => self.jobs(value).map_err(|_| invalid("number of jobs"))?,
            "lldltopartitions" | "ltopartitions" => {
                self.partitions(value).map_err(|_| invalid("number of partitions"))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn level(&mut self, given: Given<'_>) -> Taken {
        self.code.level = Some(level(given.text()?)?);
        Ok(())
    }

    pub fn codegen_level(&mut self, given: Given<'_>) -> Taken {
        self.code.codegen_level = Some(level(given.text()?)?);
        Ok(())
    }

    pub fn partitions(&mut self, text: &str) -> Taken {
        self.code.partitions = match number(text)?.try_into() {
            Ok(count @ 1..) => count,
            _ => return Err(format!("expected a number of at least 1, but got '{text}'")),
        };
        Ok(())
    }

    pub fn jobs(&mut self, text: &str) -> Taken {
        if text != "all" && text.parse::<u32>().is_err() {
            return Err(format!("expected a number or 'all', but got '{text}'"));
        }
        self.code.jobs = Some(text.to_owned());
        Ok(())
    }

    pub fn cache_in(&mut self, directory: PathBuf) {
        let policy = self.code.cache.take().and_then(|cache| cache.policy);
        self.code.cache = Some(Cache { directory, policy });
    }

    pub fn cache_by(&mut self, policy: &str) -> Taken {
        Cache::check_policy(policy).map_err(|wrong| wrong.to_string())?;
        let directory = self.code.cache.take().map(|cache| cache.directory).unwrap_or_default();
        self.code.cache = Some(Cache { directory, policy: Some(policy.to_owned()) });
        Ok(())
    }

    pub fn distribution(&mut self) -> &mut Distribution {
        self.code.distribution.get_or_insert_default()
    }

    pub fn index_only(&mut self, list: Option<PathBuf>) {
        let known = self.code.thin.index_only.take().and_then(|only| only.list);
        self.code.thin.index_only = Some(IndexOnly { list: list.or(known) });
    }

    pub fn prefix_replace(&mut self, text: &str) -> Taken {
        let parts: Vec<String> = text.split(';').map(str::to_owned).collect();
        let (old, new, object) = match &parts[..] {
            [old, new] => (old, new, String::new()),
            [old, new, object] => (old, new, object.clone()),
            _ => return Err(format!("expects 'old;new' format, but got {text}")),
        };
        self.code.thin.prefix_replace = Some(PrefixReplace { old: old.clone(), new: new.clone(), object });
        Ok(())
    }

    pub fn suffix_replace(&mut self, text: &str) -> Taken {
        let parts = text.split_once(';');
        let (old, new) = parts.ok_or_else(|| format!("expects 'old;new' format, but got {text}"))?;
        self.code.thin.object_suffix_replace = Some((old.to_owned(), new.to_owned()));
        Ok(())
    }

    pub fn save_temps(&mut self, kind: Option<&str>) -> Taken {
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
        let temps = &mut self.code.save_temps;
        let Some(kind) = kind else {
            *temps = SaveTemps::All;
            return Ok(());
        };
        let kind = choose(kind, &KINDS.map(|kind| (kind, kind)))?.to_owned();
        match temps {
            SaveTemps::All => {}
            SaveTemps::Kinds(kinds) => kinds.push(kind),
            SaveTemps::None => *temps = SaveTemps::Kinds(vec![kind]),
        }
        Ok(())
    }

    /// What follows `-plugin-opt=`. What only GCC's plugin knows is kept.
    pub fn plugin_option(&mut self, text: &str) -> Taken {
        let for_gcc =
            text.starts_with('/') || text.starts_with("-fresolution=") || text.starts_with("-pass-through=");
        if self.plugin_begins(b"liblto_plugin") == Some(true) && text.starts_with('-') || for_gcc {
            self.code.engine.plugin_options.push(text.to_owned());
            return Ok(());
        }
        if text.starts_with('-') {
            self.code.llvm.push(text.to_owned());
            return Ok(());
        }
        if let Some(found) = text.strip_prefix('O').filter(|rest| rest.bytes().all(|b| b.is_ascii_digit())) {
            self.code.level = Some(level(found)?);
            return Ok(());
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        self.plugin_word(name, value).unwrap_or_else(|| match self.plugin_begins(b"LLVMgold") {
            // What it means only another plugin knows.
            Some(false) => {
                self.code.engine.plugin_options.push(text.to_owned());
                Ok(())
            }
            _ => Err(format!("unknown plugin option '{text}'")),
        })
    }

    /// `None`: there is no such word.
    fn plugin_word(&mut self, name: &str, value: Option<&str>) -> Option<Taken> {
        let path = || PathBuf::from(value.unwrap_or_default());
        let owned = || value.map(str::to_owned);
        let code = &mut self.code;
        match (name, value) {
            ("thinlto", None) => {}
            ("cs-profile-generate", None) => code.profile.generate = true,
            ("cs-profile-path", Some(_)) => code.profile.context_sensitive = Some(path()),
            ("debug-pass-manager", None) => code.passes.debug = true,
            ("disable-verify", None) => code.disable_verify = true,
            ("dwo_dir", Some(_)) => code.dwo_directory = Some(path()),
            ("emit-asm", None) => code.emit = Emit::Assembly,
            ("emit-llvm", None) => code.emit = Emit::Bitcode,
            ("jobs", Some(value)) => return Some(self.jobs(value)),
            ("lto-partitions", Some(value)) => return Some(self.partitions(value)),
            ("mcpu", Some(_)) => code.cpu = owned(),
            ("obj-path", Some(_)) => code.object_path = Some(path()),
            ("opt-remarks-filename", Some(_)) => code.remarks.file = Some(path()),
            ("opt-remarks-format", Some(_)) => code.remarks.format = owned(),
            ("opt-remarks-hotness-threshold", Some(_)) => code.remarks.hotness_threshold = owned(),
            ("opt-remarks-passes", Some(_)) => code.remarks.passes = owned(),
            ("opt-remarks-with-hotness", None) => code.remarks.with_hotness = true,
            ("sample-profile", Some(_)) => code.profile.sample = Some(path()),
            ("save-temps", None) => code.save_temps = SaveTemps::All,
            ("stats-file", Some(_)) => code.statistics = Some(path()),
            ("cache-dir", Some(_)) => self.cache_in(path()),
            ("cache-policy", Some(policy)) => return Some(self.cache_by(policy)),
            ("thinlto-emit-imports-files", None) => code.thin.emit_imports_files = true,
            ("thinlto-index-only", _) => self.index_only(value.map(PathBuf::from)),
            ("thinlto-object-suffix-replace", Some(value)) => return Some(self.suffix_replace(value)),
            ("thinlto-prefix-replace", Some(value)) => return Some(self.prefix_replace(value)),
            ("time-trace", Some(_)) => code.time_trace = Some((path(), 500)),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Settles what depends on several options: without a directory there is no cache, without a distributor no
    /// distribution.
    pub fn settle(&mut self) {
        self.code.cache.take_if(|cache| cache.directory.as_os_str().is_empty());
        self.code.distribution.take_if(|to| to.distributor.as_os_str().is_empty());
    }
}

fn level(text: &str) -> Result<u8, String> {
    Ok(choose(text, &[("0", 0), ("1", 1), ("2", 2), ("3", 3)])?)
}
