//! What the command line and directives of objects may both ask for, and the options that directives may be.

use std::ffi::OsStr;

use weld_common::args::{
    Context, Given, Group, Index, Table, Value, ValueError, accepted, name_count, slash, take,
};
use weld_common::diag::{Cause, Diagnostic};

use super::values::{self, OptionError};
use crate::options::Demands;

type Taken = Result<(), OptionError>;

impl Demands {
    pub fn include(&mut self, given: Given<'_>) -> Taken {
        self.includes.push(given.string()?);
        Ok(())
    }

    pub fn export(&mut self, given: Given<'_>) -> Taken {
        self.exports.push(values::export(given.text()?)?);
        Ok(())
    }

    pub fn default_lib(&mut self, given: Given<'_>) -> Taken {
        self.default_libs.push(given.string()?);
        Ok(())
    }

    pub fn no_default_lib(&mut self, given: Given<'_>) -> Taken {
        match given.value {
            None => self.no_default_libs_at_all = true,
            Some(_) => self.no_default_libs.push(given.string()?),
        }
        Ok(())
    }

    pub fn disallow_lib(&mut self, given: Given<'_>, origin: &str) -> Taken {
        let name = given.string()?;
        if name.is_empty() {
            return Err(OptionError::NoLibrary);
        }
        self.disallowed_libs.push((name, origin.to_owned()));
        Ok(())
    }

    pub fn alternate_name(&mut self, given: Given<'_>) -> Taken {
        let text = given.text()?;
        let Some((from, to)) = text.split_once('=').filter(|(from, to)| !from.is_empty() && !to.is_empty())
        else {
            return Err(ValueError::expected_not("two names", text).into());
        };
        let old = self.alternate_names.iter().find(|(name, _)| name == from);
        match old {
            Some((name, old)) if old != to => {
                return Err(OptionError::Alias { name: name.clone(), old: old.clone(), new: to.to_owned() });
            }
            Some(_) => {}
            None => self.alternate_names.push((from.to_owned(), to.to_owned())),
        }
        Ok(())
    }

    pub fn merge(&mut self, given: Given<'_>) -> Taken {
        let text = given.text()?;
        let Some((from, to)) = text.split_once('=').filter(|(from, to)| !from.is_empty() && !to.is_empty())
        else {
            return Err(ValueError::expected_not("two sections", text).into());
        };
        if let Some(alone) = [from, to].into_iter().find(|name| [".rsrc", ".reloc"].contains(name)) {
            return Err(OptionError::Unmergeable(alone.to_owned()));
        }
        match self.merges.iter().find(|(name, _)| name == from) {
            Some((_, old)) if old != to => {
                self.lost_merges.push(format!("{from}={to}: already merged into {old}"));
            }
            Some(_) => {}
            None => self.merges.push((from.to_owned(), to.to_owned())),
        }
        Ok(())
    }

    pub fn section(&mut self, given: Given<'_>) -> Taken {
        let (name, flags) = values::section(given.text()?)?;
        self.sections.insert(name, flags);
        Ok(())
    }

    pub fn align_common(&mut self, given: Given<'_>) -> Taken {
        let text = given.text()?;
        let parts = text.rsplit_once(',').filter(|(name, _)| !name.is_empty());
        let parts = parts.and_then(|(name, bits)| Some((name, bits.trim_start().parse().ok()?)));
        let Some((name, bits)) = parts.filter(|&(_, bits): &(_, u32)| bits <= 13) else {
            return Err(ValueError::expected_not("a name and the logarithm of an alignment", text).into());
        };
        let old = self.common_alignments.entry(name.to_owned()).or_insert(0);
        *old = bits.max(*old);
        Ok(())
    }

    /// The problem, if somebody has said another value.
    pub fn fail_if_mismatch(
        &mut self,
        given: Given<'_>,
        origin: &str,
    ) -> Result<Option<Diagnostic>, ValueError> {
        let text = given.text()?;
        let Some((key, value)) =
            text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())
        else {
            return Err(ValueError::expected_not("a key and a value", text));
        };
        let new = || (value.to_owned(), origin.to_owned());
        let (old, first) = self.mismatches.entry(key.to_owned()).or_insert_with(new);
        Ok((old != value).then(|| {
            Diagnostic::error(
                Cause::FailIfMismatch,
                format!("/failifmismatch: mismatch detected for '{key}':"),
            )
            .note(format!("{first} has value {old}"))
            .note(format!("{origin} has value {value}"))
        }))
    }

    pub fn manifest_dependency(&mut self, given: Given<'_>) -> Taken {
        // Manifests are UTF-8; compilers write directives as sources are.
        let text = values::from_ansi(given.text()?);
        if !self.manifest_dependencies.contains(&text) {
            self.manifest_dependencies.push(text);
        }
        Ok(())
    }

    pub fn subsystem(&mut self, given: Given<'_>) -> Taken {
        let (subsystem, version) = values::subsystem(given.text()?)?;
        self.subsystem = subsystem.or(self.subsystem);
        self.subsystem_version = version.or(self.subsystem_version);
        Ok(())
    }

    pub fn stack(&mut self, given: Given<'_>) -> Taken {
        self.stack = Some(values::sizes(given.text()?)?);
        Ok(())
    }

    pub fn heap(&mut self, given: Given<'_>) -> Taken {
        self.heap = Some(values::sizes(given.text()?)?);
        Ok(())
    }

    /// Carries out a directive of the object `origin` that is none of the frequent ones. What the command
    /// line says of entry, stack and subsystem has the last word.
    ///
    /// `word` is a text that holds bytes which are no UTF-8 ([`weld_common::text`]): compilers write what
    /// sources have.
    pub fn directive(&mut self, word: &str, origin: &str) -> Vec<Diagnostic> {
        let demands = std::mem::take(self);
        let mut context =
            Directing { demands, origin: origin.to_owned(), word: word.to_owned(), problems: Vec::new() };
        slash::parse(&TABLE, &[OsStr::new(word)], |_| false, &mut context);
        *self = context.demands;
        context.problems
    }
}

/// A directive that is carried out.
struct Directing {
    demands: Demands,
    origin: String,
    word: String,
    problems: Vec<Diagnostic>,
}

impl Context for Directing {
    type Error = OptionError;

    fn input(&mut self, path: &OsStr) {
        self.problem(Diagnostic::error(Cause::Directive, format!("unexpected word '{}'", path.display())));
    }

    fn problem(&mut self, mut problem: Diagnostic) {
        if problem.message.starts_with(slash::UNKNOWN) || problem.message.starts_with("could not open") {
            // An object that wants what nobody knows cannot be linked rightly.
            let (word, origin) = (&self.word, &self.origin);
            problem =
                Diagnostic::error(Cause::Directive, format!("{word} is not allowed in .drectve ({origin})"));
        } else {
            problem.message = format!("{}: in its directives: {}", self.origin, problem.message);
        }
        self.problems.push(problem);
    }

    fn at(&mut self, _: usize) {}
}

const NO_NEED: &str = "the linker has no use for it";

static GROUPS: &[Group<Directing>] = &[Group {
    title: "Directives",
    prefix: "/",
    rows: &[
        take(&["aligncomm"], Value::Required("NAME,LOG2"), "", |d, v| d.demands.align_common(v)),
        take(&["alternatename"], Value::Required("FROM=TO"), "", |d, v| d.demands.alternate_name(v)),
        take(&["disallowlib"], Value::Required("LIBRARY"), "", |d, v| {
            let origin = d.origin.clone();
            d.demands.disallow_lib(v, &origin)
        }),
        take(&["entry"], Value::Required("SYMBOL"), "", |d, v| match d.demands.entry {
            Some(_) => Ok(()),
            None if v.text()?.is_empty() => Err(OptionError::NoEntry),
            None => {
                d.demands.entry = Some(v.string()?);
                Ok(())
            }
        }),
        take(&["failifmismatch"], Value::Required("KEY=VALUE"), "", |d, v| {
            let problem = d.demands.fail_if_mismatch(v, &d.origin)?;
            d.problems.extend(problem);
            Ok(())
        }),
        take(&["merge"], Value::Required("FROM=TO"), "", |d, v| d.demands.merge(v)),
        take(&["nodefaultlib"], Value::Optional("LIBRARY"), "", |d, v| d.demands.no_default_lib(v)),
        take(&["release"], Value::None, "", |d, _| {
            d.demands.release = true;
            Ok(())
        }),
        take(&["section"], Value::Required("NAME,ATTRIBUTES"), "", |d, v| d.demands.section(v)),
        take(&["stack"], Value::Required("RESERVE[,COMMIT]"), "", |d, v| match d.demands.stack {
            Some(_) => Ok(()),
            None => d.demands.stack(v),
        }),
        take(&["heap"], Value::Required("RESERVE[,COMMIT]"), "", |d, v| match d.demands.heap {
            Some(_) => Ok(()),
            None => d.demands.heap(v),
        }),
        take(&["subsystem"], Value::Required("NAME[,VERSION]"), "", |d, v| match d.demands.subsystem {
            Some(_) => Ok(()),
            None => d.demands.subsystem(v),
        }),
        take(&["includeoptional"], Value::Required("SYMBOL"), "", |d, v| {
            d.demands.optional_includes.push(v.string()?);
            Ok(())
        }),
        take(&["manifestdependency"], Value::Required("TEXT"), "", |d, v| d.demands.manifest_dependency(v)),
        take(&["exclude-symbols"], Value::Required("LIST"), "", |d, v| {
            d.demands.excluded_symbols.extend(v.text()?.split(',').map(str::to_owned));
            Ok(())
        }),
        accepted(
            &["editandcontinue", "guardsym", "throwingnew", "inferasanlibs", "arm64xsameaddress"],
            Value::Optional("VALUE"),
            NO_NEED,
        ),
    ],
}];
static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);
static TABLE: Table<Directing> = Table::new(GROUPS, &INDEX);
