//! The parser's state between two arguments, and what is settled after the last one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use weld_common::args::values::number;
use weld_common::args::{Context, Given, Problems, ValueError, choice, slash};
use weld_common::diag::{Cause, Diagnostic};
use weld_common::link_slots::{self, Sharing};
use weld_common::text;
use weld_lto::rows::Holder;

use super::EMULATIONS;
use crate::args::state as link;
use crate::args::table;
use crate::args::values::{self, OptionError};
use crate::coff::machine::Machine;
use crate::options::{Debug, Definition, GnuLibrary, Icf, Input, Options, Subsystem, Timestamp};

/// An option that prints something in place of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Help,
    Version,
}

/// What is left out of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strip {
    #[default]
    Nothing,
    Debug,
    All,
}

/// Major and minor, each from an option of its own.
pub type Halves = (Option<u16>, Option<u16>);

/// What holds for inputs from here on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode {
    pub is_static: bool,
    pub whole: bool,
    pub lazy: bool,
}

#[derive(Default)]
pub struct State {
    pub o: Box<Options>,
    pub stop: Option<Stop>,
    /// `-v`: the version is printed if there is nothing to link.
    pub asks_version: bool,
    pub fatal_warnings: bool,
    pub mode: Mode,
    pub modes: Vec<Mode>,
    pub strip: Strip,
    pub os_version: Halves,
    pub image_version: Halves,
    pub subsystem_version: Halves,
    /// `--entry` as it was given: on x86 with an underscore in front.
    pub entry: Option<String>,
    /// `--pdb`: no file beside it means the default one.
    pub pdb: Option<String>,
    pub guard: (bool, bool),
    pub reproduce: Option<PathBuf>,
    /// An option says which time the header has.
    pub has_time: bool,
    problems: Problems,
}

impl Context for State {
    type Error = OptionError;

    fn input(&mut self, path: &OsStr) {
        let path = PathBuf::from(path);
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("def")) {
            if let Some(first) = &self.o.def {
                let [first, second] = [first, &path].map(|path| text::path(path));
                self.fail(
                    Cause::ConflictingOptions,
                    format!("two module-definition files: {first} and {second}"),
                );
            }
            self.o.def = Some(path);
            return;
        }
        self.o.inputs.push(match self.mode {
            Mode { whole: true, .. } => Input::Whole(path),
            Mode { lazy: true, .. } => Input::Lazy(path),
            _ => Input::File(path),
        });
    }

    fn problem(&mut self, problem: Diagnostic) {
        self.problems.add(problem);
    }

    fn at(&mut self, position: usize) {
        self.problems.at(position);
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
    /// The target may be in front of the program's name.
    pub fn new(program: &str) -> State {
        let mut state = State::default();
        let o = &mut state.o;
        o.mingw.on = true;
        o.mingw.duplicate_weak = true;
        o.gc = Some(false);
        o.icf = Some(Icf::None);
        o.warnings.long_names = false;
        o.demands.stack = Some((0x20_0000, Some(0x1000)));
        o.machine = program.split_once("-").and_then(|(machine, _)| Machine::of_name(machine));
        state
    }

    pub fn fail(&mut self, cause: Cause, text: impl Into<String>) {
        self.problem(Diagnostic::error(cause, text));
    }

    pub fn warn(&mut self, cause: Cause, text: impl Into<String>) {
        self.problem(Diagnostic::warning(cause, text));
    }

    pub fn emulation(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let name = given.text()?;
        let known = EMULATIONS.iter().find(|(known, _)| *known == name);
        let (_, machine) = known.ok_or_else(|| ValueError::unknown("emulation", name))?;
        self.o.machine = Machine::of_name(machine);
        Ok(())
    }

    /// `-Xlink=OPTION`: what an option of `lld-link` says, if that concerns it alone.
    pub fn option_of_link(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let mut link = link::State::default();
        link.o = std::mem::take(&mut self.o);
        slash::parse(&table::TABLE, &[given.os()], |_| false, &mut link);
        let (options, problems, is_whole) = link.into_parts();
        self.o = options;
        problems.into_iter().for_each(|problem| self.problem(problem));
        match is_whole {
            true => Ok(()),
            false => Err(OptionError::NotForGnu(given.os().to_string_lossy().into_owned())),
        }
    }

    pub fn library(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let Mode { is_static, whole, .. } = self.mode;
        self.o.inputs.push(Input::Library(GnuLibrary { name: given.string()?, is_static, whole }));
        Ok(())
    }

    /// `NAME[:MAJOR[.MINOR]]`.
    pub fn subsystem(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        let (name, version) =
            text.split_once(':').map_or((text, None), |(name, version)| (name, Some(version)));
        let number = name.parse::<u16>().ok();
        let by_number = [
            (1, Subsystem::Native),
            (2, Subsystem::Windows),
            (3, Subsystem::Console),
            (7, Subsystem::Posix),
            (9, Subsystem::WindowsCe),
            (10, Subsystem::EfiApplication),
            (11, Subsystem::EfiBootServiceDriver),
            (12, Subsystem::EfiRuntimeDriver),
            (14, Subsystem::Xbox),
        ];
        let found = match (number, name) {
            (Some(number), _) => {
                by_number.iter().find(|(known, _)| *known == number).map(|(_, found)| *found)
            }
            (_, "wince") => Some(Subsystem::WindowsCe),
            (_, "efi-app") => Some(Subsystem::EfiApplication),
            (_, "efi-bsd") => Some(Subsystem::EfiBootServiceDriver),
            (_, "efi-rtd") => Some(Subsystem::EfiRuntimeDriver),
            (_, "sal-rtd") => Some(Subsystem::EfiRom),
            (_, name) => values::subsystem(name).ok().and_then(|(found, _)| found),
        };
        self.o.demands.subsystem = Some(found.ok_or_else(|| OptionError::Subsystem(name.to_owned()))?);
        if let Some(version) = version {
            let (major, minor) = values::version(version)?;
            self.subsystem_version = (Some(major), Some(minor));
        }
        Ok(())
    }

    pub fn icf(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        self.o.icf = Some(choice(given, &[("none", Icf::None), ("safe", Icf::Safe), ("all", Icf::All)])?);
        Ok(())
    }

    pub fn build_id(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let style = values::optional_text(given)?;
        self.o.build_id = style != Some("none");
        if let Some(style) = style.filter(|style| !["none", ""].contains(style)) {
            self.warn(
                Cause::BuildId,
                format!("unsupported build id hashing: {style}, using default hashing."),
            );
        }
        Ok(())
    }

    /// Adds names that are separated by commas or colons.
    pub fn list(given: Given<'_>, list: &mut Vec<String>) -> Result<(), OptionError> {
        let names = given.text()?.split([',', ':']).filter(|name| !name.is_empty());
        list.extend(names.map(str::to_owned));
        Ok(())
    }

    /// A name as objects have it, on x86 without its underscore.
    fn plain<'n>(&self, name: &'n str) -> &'n str {
        match self.o.machine == Some(Machine::X86) {
            true => name.strip_prefix('_').unwrap_or(name),
            false => name,
        }
    }

    /// Settles what depends on several options.
    pub fn finish(mut self) -> (Box<Options>, Vec<Diagnostic>) {
        if let Some(entry) = self.entry.take() {
            match self.plain(&entry) {
                // The address 0 is none.
                "" | "0" if self.o.dll => self.o.no_entry = true,
                "" => self.fail(Cause::BadOption, "missing entry point symbol name"),
                name => self.o.demands.entry = Some(name.to_owned()),
            }
        }
        let o = &mut *self.o;
        o.out.get_or_insert_with(|| PathBuf::from(if o.dll { "a.dll" } else { "a.exe" }));
        let version = |(major, minor): Halves, default: (u16, u16)| {
            let given = major.is_some() || minor.is_some();
            given.then(|| (major.unwrap_or(default.0), minor.unwrap_or(default.1)))
        };
        o.os_version = version(self.os_version, (6, 0));
        o.version = version(self.image_version, (0, 0)).unwrap_or_default();
        o.demands.subsystem_version = version(self.subsystem_version, (6, 0));
        (o.guard.functions, o.guard.longjmp) = (self.guard.0, self.guard.0 && self.guard.1);
        let full = self.strip == Strip::Nothing;
        // Who has a PDB needs no symbol table.
        let symtab = self.strip != Strip::All && self.pdb.is_none();
        o.debug = Debug { pdb: self.pdb.is_some(), dwarf: full, symtab };
        if let Some(path) = self.pdb.take().filter(|path| !path.is_empty()) {
            o.pdb.path = Some(Path::new(&path).to_owned());
        }
        if o.loading.fixed {
            o.loading.dynamic_base = Some(false);
        }
        if !self.guard.0 && self.guard.1 {
            self.warn(
                Cause::OptionWithoutEffect,
                "parameter --guard-longjmp only takes effect when used with --guard-cf",
            );
        }
        if let Some(conflict) = self.o.lto.settle() {
            self.fail(Cause::ConflictingOptions, conflict);
        }
        (self.o, self.problems.into_list())
    }

    pub fn timestamp(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let value = number(given.text()?)?;
        let seconds = u32::try_from(value).map_err(|_| OptionError::Bits { value, bits: 32 })?;
        self.o.timestamp = Timestamp::Given(seconds);
        self.has_time = true;
        Ok(())
    }

    /// `SOURCE_DATE_EPOCH`: the time of builds that repeat, unless an option says another.
    pub fn time_of_environment(&mut self, text: &str) {
        match values::seconds(text) {
            _ if self.has_time => {}
            Some(seconds) => self.o.timestamp = Timestamp::Given(seconds),
            None => self.fail(Cause::BadOption, values::wrong_epoch(text)),
        }
    }

    /// `--defsym NAME=VALUE`
    pub fn define(&mut self, given: Given<'_>) -> Result<(), OptionError> {
        let text = given.text()?;
        let parts = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
        let (name, value) = parts.ok_or_else(|| ValueError::expected_not("a name and a value", text))?;
        let starts_name = |c: char| c.is_ascii_alphabetic() || "_.$?@".contains(c);
        let is_name =
            value.starts_with(starts_name) && value.chars().all(|c| starts_name(c) || c.is_ascii_digit());
        let value = match is_name {
            true => Definition::Symbol(value.to_owned()),
            false => Definition::Number(number(value)?),
        };
        // Another symbol stands for the name as for one that nobody defines.
        if let Definition::Symbol(symbol) = &value {
            self.o.demands.alternate_names.push((name.to_owned(), symbol.clone()));
        }
        self.o.mingw.definitions.push((name.to_owned(), value));
        Ok(())
    }
}
