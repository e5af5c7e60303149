//! The parser's state between two arguments, and what is settled after the last one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use weld_common::args::values::number;
use weld_common::args::{Context, Given, Problems, ValueError};
use weld_common::diag::{Cause, Diagnostic};
use weld_common::link_slots::{self, Sharing};
use weld_lto::rows::Holder;

use super::values::{OptionError, optional_text};
use super::{base_file, lto};
use crate::options::{Debug, Guard, Icf, Incremental, Input, Manifest, Options, Timestamp, Verbose};
use crate::toolchain::Toolchain;

/// An option that prints something in place of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Help,
    Version,
}

#[derive(Default)]
pub struct State {
    pub o: Box<Options>,
    pub stop: Option<Stop>,
    /// Inputs from here on are objects that are linked if something in them is wanted.
    pub in_lib: bool,
    /// `/wholearchive`: libraries are linked as wholes, wherever the option stands.
    pub whole_archives: bool,
    /// `/ignore:`: codes of warnings.
    pub ignored: Vec<u32>,
    pub warnings_are_errors: bool,
    /// `/align` was given.
    pub aligned: bool,
    pub reproduce: Option<PathBuf>,
    pub incremental: Option<Incremental>,
    /// Where [`State::reproduce`] comes from `/linkrepro`.
    pub is_linkrepro: bool,
    /// `/linkreprotarget`
    pub repro_target: Option<OsString>,
    /// `/wx:`: codes of warnings that are errors.
    pub fatal_codes: Vec<u32>,
    /// Where `/base:@` looks for its file: only at the end is known where libraries are looked for.
    pub base_file: Option<(String, String)>,
    /// `/timestamp` or `/brepro` was given.
    pub has_time: bool,
    problems: Problems,
}

impl Context for State {
    type Error = OptionError;

    fn input(&mut self, path: &OsStr) {
        let path = PathBuf::from(path);
        self.o.inputs.push(if self.in_lib { Input::Lazy(path) } else { Input::File(path) });
    }

    fn problem(&mut self, problem: Diagnostic) {
        self.problems.add(problem);
    }

    fn at(&mut self, position: usize) {
        self.problems.at(position);
    }
}

/// `/name` and `/name:no`.
pub fn switch(given: Given<'_>) -> Result<bool, ValueError> {
    match given.value {
        None => Ok(true),
        Some(value) if value.eq_ignore_ascii_case("no") => Ok(false),
        Some(value) => Err(ValueError::expected_not("nothing or 'no'", &value.to_string_lossy())),
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
    pub fn warn(&mut self, cause: Cause, text: impl Into<String>) {
        self.problem(Diagnostic::warning(cause, text));
    }

    /// The words of `/verbose:`; none is all.
    pub fn verbose(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let says = &mut self.o.reports.verbose;
        match optional_text(given)?.map(str::to_ascii_lowercase).as_deref() {
            None => *says = Verbose::ALL,
            Some("lib") => says.libraries = true,
            Some("ref") => says.discarded = true,
            Some("icf") => says.folded = true,
            Some("unusedlibs") => says.unused_libraries = true,
            Some("safeseh") => says.without_handlers = true,
            // No object is managed, no link builds on another, and what is not loaded late gives a warning.
            Some("clr" | "incr" | "unuseddelayload") => {}
            Some(word) => return Err(ValueError::unknown("word", word).into()),
        }
        Ok(())
    }

    /// `/wx`, `/wx:no`, `/wx:CODE,…`.
    pub fn fatal_warnings(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = optional_text(given)?.unwrap_or_default();
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            self.warnings_are_errors = switch(given)?;
            self.fatal_codes.clear();
            return Ok(());
        }
        for code in text.split(',') {
            let code = code.parse().ok().filter(|code| (4000..5000).contains(code));
            let expected = ValueError::Expected("numbers of warnings, from 4000 to 4999");
            self.fatal_codes.push(code.ok_or(expected)?);
        }
        Ok(())
    }

    /// The words of `/mapinfo:`.
    pub fn map_info(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        match given.text()?.to_ascii_lowercase().as_str() {
            "exports" => self.o.reports.map_exports = true,
            word @ ("lines" | "pdata") => {
                self.warn(
                    Cause::OptionWithoutEffect,
                    format!("/mapinfo:{word} has no effect: maps do not have it; a PDB has (/debug)"),
                );
            }
            word => return Err(OptionError::Word(word.to_owned())),
        }
        Ok(())
    }

    /// `/base:ADDRESS`, with the greatest size of the image after it, or where a file has both.
    pub fn base(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        if let Some(place) = text.strip_prefix('@') {
            let place = place.rsplit_once(',').filter(|(file, key)| !file.is_empty() && !key.is_empty());
            let (file, key) = place.ok_or_else(|| ValueError::expected_not("@FILE,KEY", text))?;
            self.base_file = Some((file.to_owned(), key.to_owned()));
            return Ok(());
        }
        let (base, size) = super::values::sizes(text)?;
        (self.o.loading.base, self.o.loading.greatest_size) = (Some(super::values::image_base(base)?), size);
        self.base_file = None;
        Ok(())
    }

    /// A section that is merged into another one by default stays by itself.
    pub fn own_section(&mut self, name: &str) {
        let merges = &mut self.o.demands.merges;
        if merges.iter().all(|(from, _)| from != name) {
            merges.push((name.to_owned(), name.to_owned()));
        }
    }

    /// The words of `/ltcg:`.
    pub fn ltcg(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        match optional_text(given)?.unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "incremental" | "status" | "nostatus" | "off" => Ok(()),
            "pginstrument" | "pgoptimize" | "pgupdate" => {
                Err(OptionError::NotSupported("such profiles are for Microsoft's compiler at link time"))
            }
            word => Err(ValueError::unknown("word", word).into()),
        }
    }

    /// The words of `/opt:`.
    pub fn optimise(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        if given.value.is_none() {
            return Ok(());
        }
        for word in given.text()?.to_ascii_lowercase().split(',') {
            match word {
                "ref" => self.o.gc = Some(true),
                "noref" => self.o.gc = Some(false),
                "icf" => self.o.icf = Some(Icf::All),
                "safeicf" => self.o.icf = Some(Icf::Safe),
                "noicf" => self.o.icf = Some(Icf::None),
                "lldtailmerge" => self.warn(
                    Cause::OptionWithoutEffect,
                    "/opt:lldtailmerge has no effect: strings stay as they are",
                ),
                "nolldtailmerge" | "lbr" | "nolbr" => {}
                _ if lto::optimise(&mut self.o.lto, word)? => {}
                _ => match word.strip_prefix("icf=").map(number) {
                    Some(Ok(_)) => self.o.icf = Some(Icf::All),
                    _ => return Err(ValueError::unknown("optimisation", word).into()),
                },
            }
        }
        Ok(())
    }

    /// The words of `/debug:`; none is `full`.
    pub fn debug(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let words = optional_text(given)?.unwrap_or("full").to_ascii_lowercase();
        let mut debug = self.o.debug;
        for word in words.split(',') {
            match word {
                "none" => debug = Debug::default(),
                "nodwarf" => debug.dwarf = false,
                "nosymtab" => debug.symtab = false,
                "symtab" => debug.symtab = true,
                "dwarf" => (debug.dwarf, debug.symtab) = (true, true),
                "full" | "ghash" | "noghash" => (debug.pdb, debug.dwarf) = (true, true),
                "fastlink" => {
                    self.warn(Cause::OptionWithoutEffect, "/debug:fastlink unsupported; using /debug:full");
                    (debug.pdb, debug.dwarf) = (true, true);
                }
                _ => return Err(OptionError::Word(word.to_owned())),
            }
        }
        self.o.debug = debug;
        Ok(())
    }

    /// `/pdbstream:NAME=FILE`; the last file of a name counts.
    pub fn pdb_stream(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        let parts = text.split_once('=').filter(|(name, path)| !name.is_empty() && !path.is_empty());
        let Some((name, path)) = parts else {
            return Err(ValueError::expected_not("a name and a file", text).into());
        };
        let streams = &mut self.o.pdb.streams;
        match streams.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = path.into(),
            None => streams.push((name.to_owned(), path.into())),
        }
        Ok(())
    }

    pub fn pdb_page_size(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        let size = number(text).ok().filter(|size| [4096, 8192, 16384, 32768].contains(size));
        self.o.pdb.page_size = size.ok_or_else(|| OptionError::PageSize(text.to_owned()))? as u32;
        Ok(())
    }

    /// The words of `/guard:`.
    pub fn guard(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        // The last option counts.
        self.o.guard = Guard::default();
        for word in given.text()?.to_ascii_lowercase().split(',') {
            let guard = &mut self.o.guard;
            match word {
                "no" => *guard = Guard::default(),
                "nolongjmp" => guard.longjmp = false,
                "noehcont" => guard.eh_cont = false,
                "cf" | "longjmp" => (guard.functions, guard.longjmp) = (true, true),
                "ehcont" => (guard.functions, guard.eh_cont) = (true, true),
                _ => return Err(OptionError::Invalid(word.to_owned())),
            }
        }
        Ok(())
    }

    /// `/manifest` and its words.
    pub fn manifest(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = optional_text(given)?.unwrap_or_default().to_ascii_lowercase();
        self.o.manifest.kind = Some(match text.split_once(',') {
            None if text.is_empty() => Manifest::Beside,
            None if text == "no" => Manifest::No,
            None if text == "embed" => Manifest::Embedded(None),
            Some(("embed", id)) => {
                let id = id.trim().strip_prefix("id=").and_then(|id| id.parse().ok());
                Manifest::Embedded(Some(id.ok_or_else(|| OptionError::InvalidManifest(text.clone()))?))
            }
            _ => return Err(OptionError::InvalidManifest(text)),
        });
        Ok(())
    }

    /// `/manifestuac:no`, or level and access in any order.
    pub fn manifest_rights(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        if text.eq_ignore_ascii_case("no") {
            self.o.manifest.rights = None;
            return Ok(());
        }
        let (mut level, mut access) = self.o.manifest.rights.take().unwrap_or_default();
        for word in text.split_whitespace() {
            let lower = word.to_ascii_lowercase();
            match (lower.strip_prefix("level="), lower.strip_prefix("uiaccess=")) {
                (Some(value), _) => level = word[word.len() - value.len()..].to_owned(),
                (_, Some(value)) => access = word[word.len() - value.len()..].to_owned(),
                _ => return Err(OptionError::InvalidManifest(text.to_owned())),
            }
        }
        self.o.manifest.rights = Some((level, access));
        Ok(())
    }

    /// `/functionpadmin` and its bytes.
    pub fn function_pad(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        self.o.layout.function_pad = Some(super::values::function_pad(given)?);
        Ok(())
    }

    /// `/debugtype:`: what it names is always taken.
    pub fn debug_type(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        for word in given.text()?.to_ascii_lowercase().split(',') {
            if !matches!(word, "cv" | "pdata" | "fixup") {
                self.warn(Cause::UnknownOption, format!("/debugtype: unknown option '{word}'"));
            }
        }
        Ok(())
    }

    pub fn timestamp(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        match super::values::seconds(text) {
            Some(seconds) => self.o.timestamp = Timestamp::Given(seconds),
            None => {
                self.fail(Cause::BadOption, format!("invalid timestamp: {text}.  Expected 32-bit integer"))
            }
        }
        self.has_time = true;
        Ok(())
    }

    /// `SOURCE_DATE_EPOCH`: the time of builds that repeat, unless an option says another.
    pub fn time_of_environment(&mut self, text: &str) {
        match super::values::seconds(text) {
            _ if self.has_time => {}
            Some(seconds) => self.o.timestamp = Timestamp::Given(seconds),
            None => self.fail(Cause::BadOption, super::values::wrong_epoch(text)),
        }
    }

    /// `/start-lib` and `/end-lib`.
    pub fn in_lib(&mut self, begins: bool) {
        match (self.in_lib, begins) {
            (true, true) => self.fail(Cause::ConflictingOptions, "nested -start-lib"),
            (false, false) => self.fail(Cause::ConflictingOptions, "stray -end-lib"),
            _ => self.in_lib = begins,
        }
    }

    /// An error that tells more than which option it is about.
    pub fn fail(&mut self, cause: Cause, text: impl Into<String>) {
        self.problem(Diagnostic::error(cause, text));
    }

    pub fn force(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let force = &mut self.o.force;
        match optional_text(given)?.map(str::to_ascii_lowercase).as_deref() {
            None => {
                (force.unresolved, force.multiple, force.multiple_resources) = (true, true, true);
            }
            Some("unresolved") => force.unresolved = true,
            Some("multiple") => force.multiple = true,
            Some("multipleres") => force.multiple_resources = true,
            Some(word) => return Err(ValueError::unknown("value", word).into()),
        }
        Ok(())
    }

    /// `/wholearchive` for all libraries or one.
    pub fn whole_archive(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        match given.value {
            None => self.whole_archives = true,
            Some(path) => self.o.inputs.push(Input::Whole(path.into())),
        }
        Ok(())
    }

    pub fn ignore(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        for code in given.text()?.split(',') {
            self.o.warnings.long_names &= !code.eq_ignore_ascii_case("longsections");
            // Codes of other linkers are letters and a number; what weld does not warn of needs no ignoring.
            let digits = code.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            self.ignored.extend(digits.parse::<u32>().ok());
        }
        Ok(())
    }

    /// `/incremental`. By default, unless something is optimised, an import library that would not change
    /// stays, so that what is linked with it is not linked again; who asks for it has state kept for the next
    /// link, too. Who asks for it and for what it does not go with is told.
    fn settle_incremental(&mut self) {
        let because = |what: &str, no: &str| {
            format!("ignoring '/incremental' because {what} is enabled; use '/opt:{no}' to disable")
        };
        let due_to = |option: &str| format!("ignoring '/incremental' due to '{option}' specification");
        let o = &self.o;
        // `/profile` brings the first of them along.
        let text = match (o.profile, o.gc(), o.icf() != Icf::None, o.layout.order.is_some()) {
            (true, ..) => due_to("/profile"),
            (_, true, ..) => because("REF", "noref"),
            (_, _, true, _) => because("ICF", "noicf"),
            (.., true) => due_to("/order"),
            _ => {
                self.o.implib.is_kept = self.incremental != Some(Incremental::Off);
                self.o.incremental = self.incremental.unwrap_or_default();
                return;
            }
        };
        if self.incremental.is_some_and(|mode| mode != Incremental::Off) {
            self.warn(Cause::OptionWithoutEffect, text);
        }
    }

    /// The options so far, what is wrong with them, and whether that is all which was said.
    pub fn into_parts(self) -> (Box<Options>, Vec<Diagnostic>, bool) {
        let State {
            o,
            problems,
            stop,
            reproduce,
            repro_target,
            incremental,
            base_file,
            ignored,
            fatal_codes,
            ..
        } = self;
        let is_said =
            self.in_lib || self.whole_archives || self.warnings_are_errors || self.aligned || self.has_time;
        let is_whole = !is_said
            && stop.is_none()
            && reproduce.is_none()
            && repro_target.is_none()
            && incremental.is_none()
            && o.incremental_dir.is_none()
            && base_file.is_none()
            && ignored.is_empty()
            && fatal_codes.is_empty();
        (o, problems.into_list(), is_whole)
    }

    /// `/reproduce`, or `/linkrepro` unless `/linkreprotarget` is about another output.
    pub fn repro_path(&self) -> Option<PathBuf> {
        let name = self.o.out.as_deref().and_then(Path::file_name);
        let is_other = |target: &OsString| name.is_some_and(|name| !name.eq_ignore_ascii_case(target));
        let is_off = self.is_linkrepro && self.repro_target.as_ref().is_some_and(is_other);
        self.reproduce.clone().filter(|_| !is_off)
    }

    /// `/base:@FILE,KEY`
    fn base_from_file(&mut self, file: &str, key: &str) {
        match base_file::find(file, key, &self.o.lib_paths) {
            Ok(Some((base, size))) => {
                (self.o.loading.base, self.o.loading.greatest_size) = (Some(base), size)
            }
            Ok(None) => self.warn(
                Cause::BadOption,
                format!("/base: {file} says nothing of {key}; using the default [LNK4198]"),
            ),
            Err(why) => self.fail(Cause::BadOption, format!("/base: {why}")),
        }
    }

    /// Settles what depends on several options.
    pub fn finish(mut self) -> (Box<Options>, Vec<Diagnostic>) {
        let o = &mut *self.o;
        if self.whole_archives {
            for input in &mut o.inputs {
                if let Input::File(path) = input {
                    *input = Input::Whole(std::mem::take(path));
                }
            }
        }
        o.warnings.imported_locals = !self.ignored.contains(&4217);
        o.warnings.missing_order = !self.ignored.contains(&4037);
        o.warnings.disallowed_libs = !self.ignored.contains(&4098);
        o.warnings.missing_types = !self.ignored.contains(&4099);
        if self.base_file.is_some() && self.reproduce.is_some() {
            self.fail(
                Cause::ConflictingOptions,
                "/reproduce cannot be given together with /base:@: give the address itself",
            );
        }
        if let Some((file, key)) = self.base_file.take() {
            self.base_from_file(&file, &key);
        }
        if self.o.loading.fixed && self.o.loading.dynamic_base == Some(true) {
            self.problem(Diagnostic::error(
                Cause::ConflictingOptions,
                "/dynamicbase cannot be given together with /fixed",
            ));
        }
        if self.o.loading.app_container && !self.o.loading.dynamic_base() {
            self.problem(Diagnostic::error(Cause::ConflictingOptions, "/appcontainer needs /dynamicbase"));
        }
        if self.aligned && !self.o.loading.driver {
            self.warn(Cause::ConflictingOptions, "/align specified without /driver; image may not run");
        }
        if self.o.mingw.on && self.o.toolchain.replaces_environment() {
            self.o.toolchain = Toolchain::default();
            self.warn(Cause::OptionWithoutEffect, "ignoring /vctoolsdir or /winsysroot flags in MinGW mode");
        }
        if !self.o.manifest.inputs.is_empty() && !matches!(self.o.manifest.kind, Some(Manifest::Embedded(_)))
        {
            self.fail(Cause::ConflictingOptions, "/manifestinput: requires /manifest:embed");
        }
        if self.reproduce.is_some() && self.o.overlay.is_some() {
            self.fail(
                Cause::ConflictingOptions,
                "/reproduce cannot be given together with /vfsoverlay: its files would have other names",
            );
        }
        // GNU ld does not warn of long section names.
        self.o.warnings.long_names &= !self.o.mingw.on;
        self.settle_incremental();
        if let Some(conflict) = self.o.lto.settle() {
            self.fail(Cause::ConflictingOptions, conflict);
        }
        if self.o.no_entry && !self.o.dll {
            self.problem(Diagnostic::error(Cause::ConflictingOptions, "/noentry is for DLLs only (/dll)"));
        }
        (self.o, self.problems.into_list())
    }
}
