//! Which bin an input section goes to by a linker script: the first of its patterns that matches counts.
//!
//! There is a bin for each description of input sections ([`ScriptBin`]), or for each pattern of one that
//! sorts. Patterns are compiled into one set of globs, in which exact names and prefixes are found by hash
//! and search; file patterns are looked at once a file ([`Rules::of_file`]). A section then costs a look-up
//! of its name, and a bit a pattern that matches it.
//!
//! Source: GNU ld manual, "Input Section Description".

use std::collections::HashMap;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::glob::{Glob, GlobSet, has_wildcard};

use crate::ids::*;
use crate::input::FileName;
pub use crate::options::Orphans;
use crate::script::input_sections::{FilePattern, InputSections, Sort};
use crate::script::layout::LayoutScript;
use crate::script::lexer::Place;
use crate::script::sections::{Class, Constraint, Content, SectionDescription, Statement};
use crate::sections::bins::{BINS, bin};

/// A bin of a script.
#[derive(Clone, Debug)]
pub struct ScriptBin {
    /// Which of the script's output sections, and which of what stands in that.
    pub section: u32,
    pub content: u32,
    pub sort: [Sort; 2],
    pub sort_files: bool,
    pub keep: bool,
    /// `/DISCARD/`
    pub discard: bool,
    /// `SUBALIGN`: log2.
    pub subalign: Option<u32>,
    /// Arrays of constructors lie in the order in which they run: what `.ctors` says in reverse is turned
    /// round.
    pub array: Option<PlacementId>,
}

/// The patterns of a script, compiled.
pub struct Rules {
    pub bins: Vec<ScriptBin>,
    /// Each different pattern for names, numbered.
    names: GlobSet,
    /// The rules of each such pattern, in the order of the script.
    of_name: Vec<Vec<Rule>>,
    files: Vec<Files>,
    /// What each output section of the script insists on, and whether there is none because of that.
    constraints: Vec<Option<Constraint>>,
    disabled: Vec<bool>,
    /// Names that an output section with a constraint may take.
    constrained: SecondLetters,
    /// Names that a pattern with `KEEP` may match.
    kept: SecondLetters,
    pub orphans: Orphans,
    /// `--enable-non-contiguous-regions`: what does not fit goes to the next pattern that matches.
    spills: bool,
    /// A class has several places.
    has_classes: bool,
    /// Common symbols of some files go elsewhere than those of others.
    pub parts_commons: bool,
}

/// What all patterns of a script are judged by.
#[derive(Clone, Copy, Default)]
pub struct Judgement {
    pub orphans: Orphans,
    /// `--sort-section`
    pub sort: Option<Sort>,
    /// `--enable-non-contiguous-regions`
    pub spills: bool,
}

/// One pattern at its place.
#[derive(Clone, Copy)]
struct Rule {
    /// In the order of the script.
    number: u32,
    bin: u32,
    section: u32,
    /// Which of `files`; the first is any.
    files: u32,
    flags: (u64, u64),
    /// The class that it is of, counted from 1; or 0.
    class: u32,
}

impl Rule {
    /// Whether it is for sections of a file with these flags, if its pattern is for their names.
    fn holds(&self, file: &OfFile, flags: u64) -> bool {
        flags & self.flags.0 == self.flags.0 && flags & self.flags.1 == 0 && file.has(self.files)
    }
}

/// The second letters of the names that some patterns match, a bit each: most names are told apart by that.
#[derive(Default)]
struct SecondLetters([u64; 4]);

impl SecondLetters {
    fn add(&mut self, pattern: &[u8]) {
        let is_plain = |byte: &&u8| !has_wildcard(std::slice::from_ref(*byte));
        match pattern.first().filter(is_plain).and(pattern.get(1)) {
            Some(byte) if is_plain(&byte) => self.0[usize::from(*byte) / 64] |= 1 << (byte % 64),
            _ => self.0 = [!0; 4],
        }
    }

    #[inline(always)]
    fn may_have(&self, name: &[u8]) -> bool {
        let byte = name.get(1).copied().unwrap_or(0);
        self.0[usize::from(byte) / 64] >> (byte % 64) & 1 != 0
    }
}

/// A pattern for files with those that it excludes.
struct Files {
    any: bool,
    file: FileGlob,
    exclude: Vec<FileGlob>,
}

/// A pattern for names of files.
pub struct FileGlob {
    archive: Option<Option<Glob>>,
    file: Option<Glob>,
}

impl FileGlob {
    /// Errors were found when the script was read.
    pub fn new(pattern: &FilePattern) -> FileGlob {
        let glob = |text: &[u8]| (!text.is_empty()).then(|| Glob::new(text).ok()).flatten();
        FileGlob { archive: pattern.archive.as_ref().map(|text| glob(text)), file: glob(&pattern.file) }
    }

    pub fn matches(&self, name: &FileName) -> bool {
        let is = |glob: &Option<Glob>, text: &[u8]| glob.as_ref().is_some_and(|glob| glob.matches(text));
        let path = name.path.as_bytes();
        match (&self.archive, name.member) {
            // A plain pattern is for files, and for members by their names or by that of the archive, a colon
            // and the member.
            (None, None) => is(&self.file, path),
            (None, Some(member)) => is(&self.file, member) || is(&self.file, &[path, b":", member].concat()),
            (Some(None), None) => is(&self.file, path),
            (Some(Some(_)), None) | (Some(None), Some(_)) => false,
            (Some(Some(archive)), Some(member)) => {
                archive.matches(path) && self.file.as_ref().is_none_or(|file| file.matches(member))
            }
        }
    }
}

impl FileGlob {
    /// The same where it is excluded: the name of an archive is enough for its members.
    pub fn excludes(&self, name: &FileName) -> bool {
        let is_archive = || self.file.as_ref().is_some_and(|glob| glob.matches(name.path.as_bytes()));
        self.matches(name) || self.archive.is_none() && name.member.is_some() && is_archive()
    }
}

/// Which rules hold for a file: a bit for each of the script's file patterns.
pub struct OfFile(Vec<u64>);

impl OfFile {
    fn has(&self, files: u32) -> bool {
        self.0[files as usize / 64] >> (files % 64) & 1 != 0
    }
}

/// Where a section goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Bin(PlacementId),
    Discarded,
    Orphan,
}

/// Patterns, counted once for each place of theirs. A class with many, named many times, would fill the
/// memory.
const MAX_RULES: usize = 1 << 22;

/// Compiles the patterns of a script.
struct Compiler<'s> {
    rules: Rules,
    texts: HashMap<Vec<u8>, u32>,
    specs: HashMap<(FilePattern, Vec<FilePattern>), u32>,
    sort: Option<Sort>,
    classes: HashMap<&'s [u8], Known<'s>>,
    /// The number of the next rule, in the order in which sections are matched, and its class.
    next: u32,
    class: u32,
}

/// A class, while patterns are compiled.
struct Known<'s> {
    class: &'s Class,
    /// Counted from 1.
    number: u32,
    /// The number of the first rule of the next place that names it.
    next: u32,
    /// How many places name it, and how many have been met.
    references: u32,
    met: u32,
}

/// How many rules a description makes, for each place of its own.
fn patterns_of(inputs: &InputSections) -> u32 {
    inputs.sections.len() as u32
}

impl Rules {
    /// # Errors
    /// If there are too many, something about them is not known before layout, or there is no such class.
    pub fn new(script: &LayoutScript, judgement: Judgement) -> Result<Rules, Diagnostic> {
        let any = Files { any: true, file: FileGlob { archive: None, file: None }, exclude: Vec::new() };
        let rules = Rules {
            bins: Vec::new(),
            names: GlobSet::new(),
            of_name: Vec::new(),
            files: vec![any],
            constraints: Vec::new(),
            disabled: Vec::new(),
            constrained: SecondLetters::default(),
            kept: SecondLetters::default(),
            orphans: judgement.orphans,
            spills: judgement.spills,
            has_classes: false,
            parts_commons: false,
        };
        let mut compiler = Compiler {
            rules,
            texts: Default::default(),
            specs: Default::default(),
            sort: judgement.sort,
            classes: HashMap::new(),
            next: 0,
            class: 0,
        };
        let starts = compiler.number(script)?;
        for ((number, section), start) in script.descriptions().enumerate().zip(starts) {
            compiler.next = start;
            compiler.section(number as u32, section)?;
        }
        compiler.finish()
    }

    /// The number of bins below those that inputs name.
    pub fn fixed_bins(&self) -> usize {
        BINS.len() + self.bins.len()
    }

    /// What is known of a bin, if it is the script's.
    pub fn bin(&self, bin: PlacementId) -> Option<&ScriptBin> {
        self.bins.get(bin.index().checked_sub(BINS.len())?)
    }

    /// Which rules hold for the sections of a file; `None`: it is the linker's own.
    pub fn of_file(&self, name: Option<&FileName>) -> OfFile {
        let mut bits = vec![0; self.files.len().div_ceil(64)];
        for (i, files) in self.files.iter().enumerate() {
            let holds = match name {
                _ if files.any => true,
                None => false,
                Some(name) => {
                    files.file.matches(name) && !files.exclude.iter().any(|other| other.excludes(name))
                }
            };
            bits[i / 64] |= u64::from(holds) << (i % 64);
        }
        OfFile(bits)
    }

    /// Where a section of a file goes.
    pub fn find(&self, file: &OfFile, name: &[u8], flags: u64) -> Found {
        let mut best: Option<&Rule> = None;
        self.names.all(name, |text| {
            let rules = self.of_name[text as usize].iter();
            let mut rules = rules.take_while(|rule| best.is_none_or(|best| rule.number < best.number));
            let holds = |rule: &&Rule| rule.holds(file, flags) && !self.disabled[rule.section as usize];
            best = rules.find(holds).or(best);
        });
        match best {
            None => Found::Orphan,
            Some(rule) if self.bins[rule.bin as usize].discard => Found::Discarded,
            Some(rule) => Found::Bin(PlacementId(BINS.len() as u32 + rule.bin)),
        }
    }

    /// Whether the first place of the linker's own sections of a name sorts them by alignment.
    pub fn sorts_by_alignment(&self, name: &[u8]) -> bool {
        let flags = crate::elf::SHF_ALLOC | crate::elf::SHF_WRITE;
        match self.find(&self.of_file(None), name, flags) {
            Found::Bin(bin) => self.bin(bin).is_some_and(|bin| bin.sort.contains(&Sort::Alignment)),
            _ => false,
        }
    }

    /// Whether a pattern with `KEEP` matches a section, be it the one that takes it or not.
    pub fn keeps(&self, file: &OfFile, name: &[u8], flags: u64) -> bool {
        let mut keeps = false;
        let holds = |rule: &Rule| {
            let bin = &self.bins[rule.bin as usize];
            bin.keep && !self.disabled[rule.section as usize] && rule.holds(file, flags)
        };
        if self.kept.may_have(name) {
            self.names.all(name, |text| keeps = keeps || self.of_name[text as usize].iter().any(holds));
        }
        keeps
    }
}

impl Rules {
    /// Whether sections may go elsewhere than where [`Self::find`] says.
    pub fn may_spill(&self) -> bool {
        self.spills || self.has_classes
    }

    /// Which of the patterns for names match one; those of the same have the same places.
    pub fn matching(&self, name: &[u8]) -> Vec<u32> {
        let mut all = Vec::new();
        self.names.all(name, |text| all.push(text));
        all.sort_unstable();
        all
    }

    /// Where else a section may go that [`Self::find`] puts into `bin`, one after the other: to further
    /// places of its class; or with `--enable-non-contiguous-regions` to further patterns that match.
    pub fn alternatives(&self, file: &OfFile, name: &[u8], flags: u64, bin: PlacementId) -> Vec<PlacementId> {
        let mut all: Vec<&Rule> = Vec::new();
        self.names.all(name, |text| {
            let holds = |rule: &&Rule| rule.holds(file, flags) && !self.disabled[rule.section as usize];
            all.extend(self.of_name[text as usize].iter().filter(holds));
        });
        all.sort_by_key(|rule| rule.number);
        let here = |rule: &&&Rule| rule.bin as usize + BINS.len() == bin.index();
        let Some(own) = all.iter().find(here).copied() else { return Vec::new() };
        let behind = all.into_iter().filter(|rule| rule.number > own.number && rule.section != own.section);
        let may = |rule: &&Rule| rule.class == own.class && (rule.class != 0 || self.spills);
        let found = behind.filter(may).take_while(|rule| !self.bins[rule.bin as usize].discard);
        found.map(|rule| PlacementId(BINS.len() as u32 + rule.bin)).collect()
    }
}

/// Where in a script patterns of inputs stand.
struct InputPlace<'s> {
    /// The number of the output section's description, and in it that of the contents.
    section: u32,
    content: u32,
    description: &'s SectionDescription,
    /// `SUBALIGN`, as a power of two.
    subalign: Option<u32>,
}

impl<'s> Compiler<'s> {
    /// Numbers all rules: those that overwrite others come first, a class's where it is described, one place
    /// of it after the other. Returns the first number of each output section, which those of classes in it
    /// are not counted in.
    fn number(&mut self, script: &'s LayoutScript) -> Result<Vec<u32>, Diagnostic> {
        let contents = || script.descriptions().flat_map(|section| &section.contents);
        for class in script.classes() {
            let known =
                Known { class, number: self.classes.len() as u32 + 1, next: 0, references: 0, met: 0 };
            if self.classes.insert(&class.name, known).is_some() {
                return Err(of_class(&class.place, &class.name, "is there already"));
            }
        }
        for content in contents() {
            let Content::Class(reference) = content else { continue };
            match self.classes.get_mut(&reference.name[..]) {
                Some(known) => known.references += 1,
                None => return Err(of_class(&reference.place, &reference.name, "is described nowhere")),
            }
        }
        self.rules.has_classes = self.classes.values().any(|known| known.references > 1);
        let of_section = |section: &SectionDescription| -> u32 {
            let patterns = section.contents.iter().map(|content| match content {
                Content::Inputs(inputs) => patterns_of(inputs),
                _ => 0,
            });
            patterns.sum()
        };
        let mut next = 0u32;
        let mut take = |count: u32, place: &Place| -> Result<u32, Diagnostic> {
            let start = next;
            next = next.checked_add(count).filter(|next| *next as usize <= MAX_RULES).ok_or_else(|| {
                Diagnostic::error(
                    Cause::TooLarge,
                    format!("{place}: too many descriptions of input sections"),
                )
            })?;
            Ok(start)
        };
        let mut starts: Vec<u32> = Vec::new();
        for section in script.descriptions() {
            let count = if section.overwrites { of_section(section) } else { 0 };
            starts.push(take(count, &section.place)?);
        }
        let mut starts_of = starts.iter_mut();
        for statement in &script.statements {
            let sections = match statement {
                Statement::Class(class) => {
                    let Some(known) = self.classes.get_mut(&class.name[..]) else { continue };
                    if known.references == 0 {
                        return Err(of_class(&class.place, &class.name, "has no place in an output section"));
                    }
                    let patterns: u32 = class.inputs.iter().map(patterns_of).sum();
                    known.next = take(patterns.saturating_mul(known.references), &class.place)?;
                    continue;
                }
                Statement::Section(section) => std::slice::from_ref(&**section),
                Statement::Overlay(overlay) => &overlay.sections,
                Statement::Assign(_) | Statement::Assert(_) => continue,
            };
            for (section, start) in sections.iter().zip(&mut starts_of) {
                if !section.overwrites {
                    *start = take(of_section(section), &section.place)?;
                }
            }
        }
        Ok(starts)
    }

    fn finish(mut self) -> Result<Rules, Diagnostic> {
        self.rules.names.finish();
        for rules in &mut self.rules.of_name {
            rules.sort_by_key(|rule| rule.number);
        }
        let of_name = &self.rules.of_name;
        let mut parts = false;
        for name in COMMONS {
            let of_file = |text: u32| of_name[text as usize].iter().any(|rule| rule.files != 0);
            self.rules.names.all(name, |text| parts |= of_file(text));
        }
        self.rules.parts_commons = parts;
        Ok(self.rules)
    }

    fn section(&mut self, number: u32, section: &SectionDescription) -> Result<(), Diagnostic> {
        self.rules.constraints.push(section.constraint);
        self.rules.disabled.push(false);
        let subalign = match &section.subalign {
            None => None,
            Some(value) => match value.clone().simple() {
                Ok(crate::script::expr::DefsymValue::Absolute(align)) if align.is_power_of_two() => {
                    Some(align.trailing_zeros())
                }
                // As close to one another as can be.
                Ok(crate::script::expr::DefsymValue::Absolute(0)) => Some(0),
                _ => {
                    let text =
                        format!("{}: SUBALIGN wants a power of two that is known before layout", value.place);
                    return Err(Diagnostic::error(Cause::ScriptUnsupported, text));
                }
            },
        };
        for (content, inputs) in section.contents.iter().enumerate() {
            let place =
                InputPlace { section: number, content: content as u32, description: section, subalign };
            match inputs {
                Content::Inputs(inputs) => self.inputs(&place, inputs, inputs.flags, inputs.keep)?,
                Content::Class(reference) => {
                    let Some(known) = self.classes.get_mut(&reference.name[..]) else { continue };
                    let class = known.class;
                    let patterns: u32 = class.inputs.iter().map(patterns_of).sum();
                    let first = known.next + known.met * patterns;
                    known.met += 1;
                    self.class = known.number;
                    let next = std::mem::replace(&mut self.next, first);
                    for inputs in &class.inputs {
                        let (a, b) = (inputs.flags, reference.flags);
                        let keep = inputs.keep || reference.keep;
                        self.inputs(&place, inputs, (a.0 | b.0, a.1 | b.1), keep)?;
                    }
                    (self.next, self.class) = (next, 0);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn inputs(
        &mut self,
        place: &InputPlace,
        inputs: &InputSections,
        flags: (u64, u64),
        keep: bool,
    ) -> Result<(), Diagnostic> {
        let &InputPlace { section, content, description, subalign } = place;
        let default = self.sort;
        let sort_of = |sort: [Sort; 2]| match (sort[0], default) {
            (Sort::Default, Some(default)) => [default, Sort::Default],
            (Sort::None, _) => [Sort::Default; 2],
            // The second key of what sorts already.
            (first, Some(default)) if sort[1] == Sort::Default && first != default => [first, default],
            _ => sort,
        };
        let discard = description.name == b"/DISCARD/";
        for (i, pattern) in inputs.sections.iter().enumerate() {
            // Neighbours that sort alike are sorted together.
            if i == 0 || pattern.sort != inputs.sections[i - 1].sort {
                self.rules.bins.push(ScriptBin {
                    section,
                    content,
                    sort: sort_of(pattern.sort),
                    sort_files: inputs.sort_files,
                    keep,
                    discard,
                    subalign,
                    array: match &*description.name {
                        b".init_array" => Some(bin::INIT_ARRAY),
                        b".fini_array" => Some(bin::FINI_ARRAY),
                        _ => None,
                    },
                });
            }
            let mut exclude = [&inputs.exclude[..], &pattern.exclude].concat();
            exclude.dedup();
            let files = self.files(&inputs.file, exclude);
            let (bin, number) = (self.rules.bins.len() as u32 - 1, self.next);
            self.next += 1;
            if description.constraint.is_some() {
                self.rules.constrained.add(&pattern.name);
            }
            if keep {
                self.rules.kept.add(&pattern.name);
            }
            let rule = Rule { number, bin, section, files, flags, class: self.class };
            let text = self.text(&pattern.name);
            self.rules.of_name[text as usize].push(rule);
        }
        if self.rules.bins.len() > 1 << 18 {
            return Err(Diagnostic::error(
                Cause::TooLarge,
                format!("{}: too many descriptions of input sections", inputs.place),
            ));
        }
        Ok(())
    }

    fn text(&mut self, pattern: &[u8]) -> u32 {
        if let Some(known) = self.texts.get(pattern) {
            return *known;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(pattern.to_vec(), number);
        // What is wrong with a pattern was found when the script was read.
        let _ = self.rules.names.add(pattern, number);
        self.rules.of_name.push(Vec::new());
        number
    }

    fn files(&mut self, file: &FilePattern, exclude: Vec<FilePattern>) -> u32 {
        if file.is_any() && exclude.is_empty() {
            return 0;
        }
        let next = self.rules.files.len() as u32;
        let globs = Files {
            // Members of archives, too, whatever their names are.
            any: false,
            file: FileGlob::new(file),
            exclude: exclude.iter().map(FileGlob::new).collect(),
        };
        let number = *self.specs.entry((file.clone(), exclude)).or_insert(next);
        if number == next {
            self.rules.files.push(globs);
        }
        number
    }
}

fn of_class(place: &Place, name: &[u8], what: &str) -> Diagnostic {
    Diagnostic::error(
        Cause::ScriptUnsupported,
        format!("{place}: the class {} {what}", String::from_utf8_lossy(name)),
    )
}

/// By what names scripts know common symbols: in `.bss`, in `.tbss`, in `.lbss`.
pub const COMMONS: [&[u8]; 3] = [b"COMMON", b".tcommon", b"LARGE_COMMON"];

/// What was seen of the sections that output sections with a constraint may take: in the order of the script,
/// the output sections that have a pattern for it, up to one without a constraint; and whether one of those
/// sections is writable.
#[derive(Default)]
pub struct Seen(HashMap<Vec<u32>, bool>);

impl Seen {
    fn add(&mut self, takers: Vec<u32>, writable: bool) {
        *self.0.entry(takers).or_default() |= writable;
    }
}

impl Rules {
    /// Whether an output section has a constraint. Then [`Self::look`] has to see all sections first.
    pub fn has_constraints(&self) -> bool {
        self.constraints.iter().any(Option::is_some)
    }

    /// Whether an output section with a constraint may take sections of this name.
    #[inline(always)]
    pub fn may_be_constrained(&self, name: &[u8]) -> bool {
        self.constrained.may_have(name)
    }

    /// Notes what a section means for output sections with constraints that it may go to.
    pub fn look(&self, file: &OfFile, name: &[u8], flags: u64, seen: &mut Seen) {
        let mut takers: Vec<(u32, u32)> = Vec::new();
        let mut end = u32::MAX;
        self.names.all(name, |text| {
            for rule in &self.of_name[text as usize] {
                if rule.number >= end {
                    break;
                }
                match self.constraints[rule.section as usize] {
                    _ if !rule.holds(file, flags) => {}
                    None => end = rule.number,
                    Some(_) => takers.push((rule.number, rule.section)),
                }
            }
        });
        takers.retain(|taker| taker.0 < end);
        let mut takers: Vec<u32> = takers.into_iter().map(|taker| taker.1).collect();
        takers.sort_unstable();
        takers.dedup();
        if !takers.is_empty() {
            seen.add(takers, flags & crate::elf::SHF_WRITE != 0);
        }
    }

    /// Leaves out output sections whose constraints do not hold. Later ones may then take what they would
    /// have taken.
    pub fn decide(&mut self, seen: Vec<Seen>) {
        let mut all = Seen::default();
        seen.into_iter().flat_map(|seen| seen.0).for_each(|(takers, writable)| all.add(takers, writable));
        // What each would take, with what is left of those that may take it.
        let mut waiting: Vec<Vec<(&[u32], bool)>> = vec![Vec::new(); self.constraints.len()];
        for (takers, writable) in &all.0 {
            waiting[takers[0] as usize].push((&takers[1..], *writable));
        }
        for (i, constraint) in self.constraints.iter().enumerate() {
            let mine = std::mem::take(&mut waiting[i]);
            let writable = mine.iter().any(|(_, writable)| *writable);
            self.disabled[i] = match constraint {
                None => false,
                Some(Constraint::ReadOnly) => writable,
                Some(Constraint::Writable) => !writable,
            };
            if self.disabled[i] {
                for (others, writable) in mine {
                    if let Some((next, others)) = others.split_first() {
                        waiting[*next as usize].push((others, writable));
                    }
                }
            }
        }
    }

    pub fn is_disabled(&self, section: usize) -> bool {
        self.disabled[section]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::commands::parse_alone;

    fn rules(text: &str) -> (LayoutScript, Rules) {
        let mut script = LayoutScript::default();
        for command in parse_alone(format!("SECTIONS {{ {text} }}").as_bytes(), "t").unwrap() {
            script.add(command).unwrap();
        }
        let rules = Rules::new(&script, Judgement::default()).unwrap();
        (script, rules)
    }

    fn file(path: &str, member: Option<&'static str>) -> FileName<'static> {
        FileName { path: path.into(), member: member.map(str::as_bytes) }
    }

    /// The number of the script's bin that a section goes to; -1: none, -2: it is discarded.
    fn find(rules: &Rules, name: &FileName, section: &str) -> i32 {
        match rules.find(&rules.of_file(Some(name)), section.as_bytes(), 0) {
            Found::Bin(bin) => (bin.index() - BINS.len()) as i32,
            Found::Orphan => -1,
            Found::Discarded => -2,
        }
    }

    #[test]
    fn the_first_that_matches_counts() {
        let (_, rules) = rules(
            ".a : { *(.text.hot*) *x.o(.text*) KEEP(*(.text .text.*)) } .b : { *(SORT(.d*) .e) } /DISCARD/ : { *(.text* .gone) }",
        );
        let (x, y) = (file("dir/x.o", None), file("y.o", None));
        assert_eq!(find(&rules, &y, ".text.hot.f"), 0);
        assert_eq!(find(&rules, &x, ".text.f"), 1);
        assert_eq!(find(&rules, &y, ".text.f"), 2);
        assert_eq!([find(&rules, &y, ".d1"), find(&rules, &y, ".e")], [3, 4]);
        assert_eq!([find(&rules, &y, ".gone"), find(&rules, &y, ".textual")], [-2, -2]);
        assert_eq!(find(&rules, &y, ".other"), -1);
        assert!(rules.bins[2].keep && !rules.bins[1].keep);
        let keeps =
            |name: &FileName, section: &str| rules.keeps(&rules.of_file(Some(name)), section.as_bytes(), 0);
        assert!(
            keeps(&y, ".text.f") && keeps(&x, ".text.hot.f") && !keeps(&y, ".d1") && !keeps(&y, ".textual")
        );
    }

    /// Where sections `.x` of a file go, one place after the other, by their numbers.
    fn places(text: &str, spills: bool) -> Vec<i32> {
        let (script, rules) = rules(text);
        let rules = match spills {
            true => Rules::new(&script, Judgement { spills, ..Judgement::default() }).unwrap(),
            false => rules,
        };
        let name = file("f.o", None);
        let first = find(&rules, &name, ".x");
        let bin = PlacementId(BINS.len() as u32 + first as u32);
        let more = rules.alternatives(&rules.of_file(Some(&name)), b".x", 2, bin);
        std::iter::once(first).chain(more.iter().map(|bin| (bin.index() - BINS.len()) as i32)).collect()
    }

    #[test]
    fn what_does_not_fit_goes_to_the_next_place() {
        let text = ".a : { *(.x) *(.x*) } .b : { *(.y) } .c : { *(.x) } /DISCARD/ : { *(.x) } .d : { *(.x) }";
        assert_eq!(places(text, false), [0]);
        assert_eq!(places(text, true), [0, 3]);
        let text =
            ".a : { CLASS(k) } .b : { *(.x) CLASS(k) } CLASS(k) { *(.y) *(.x) } .c : { CLASS(k) *(.x) }";
        // The pattern of .b comes before the class.
        assert_eq!(places(text, false), [2]);
        let text = "CLASS(k) { *(.x .y) } .a : { CLASS(k) } .b : { *(.x) CLASS(k) } .c : { CLASS(k) *(.x) }";
        assert_eq!(places(text, false), [0, 2, 3]);
        assert_eq!(places(text, true), [0, 2, 3]);
    }

    #[test]
    fn classes_have_a_place_and_one_description() {
        let error = |text: &str| {
            let mut script = LayoutScript::default();
            for command in parse_alone(format!("SECTIONS {{ {text} }}").as_bytes(), "t").unwrap() {
                script.add(command).unwrap();
            }
            Rules::new(&script, Judgement::default()).err().map(|error| error.message).unwrap_or_default()
        };
        assert!(error("CLASS(k) { *(.x) }").ends_with("the class k has no place in an output section"));
        assert!(error(".a : { CLASS(k) }").ends_with("the class k is described nowhere"));
        let many = format!("CLASS(k) {{ *({}) }}", ".x ".repeat(5000));
        let places = ".a : { CLASS(k) } ".repeat(1000);
        assert!(error(&format!("{many} {places}")).ends_with("too many descriptions of input sections"));
    }

    #[test]
    fn files_and_members() {
        let (_, rules) = rules(
            ".a : { lib.a:m.o(.t) m.o(.u) lib.a:(.v) :f.o(.w) *(EXCLUDE_FILE(*m.o) .x) EXCLUDE_FILE(lib.a:*) *(.y) *(EXCLUDE_FILE(*.a) .z) }",
        );
        let (member, plain) = (file("lib.a", Some("m.o")), file("f.o", None));
        let all = |name: &FileName| {
            [".t", ".u", ".v", ".w", ".x", ".y", ".z"].map(|section| find(&rules, name, section))
        };
        assert_eq!(all(&member), [0, 1, 2, -1, -1, -1, -1]);
        assert_eq!(all(&plain), [-1, -1, -1, 3, 4, 5, 6]);
    }

    #[test]
    fn constraints_are_decided_by_what_there_is() {
        let text = ".a : ONLY_IF_RO { *(.x) } .a : ONLY_IF_RW { *(.x) }";
        for (flags, expected) in [(2, 0), (3, 1)] {
            let (_, mut rules) = rules(text);
            let name = file("f.o", None);
            let (of_file, mut seen) = (rules.of_file(Some(&name)), Seen::default());
            rules.look(&of_file, b".x", flags, &mut seen);
            rules.decide(vec![seen]);
            assert_eq!(find(&rules, &name, ".x"), expected);
        }
    }

    #[test]
    fn what_another_takes_says_nothing_of_a_constraint() {
        let text = ".a : { *(.x) } .b : ONLY_IF_RO { *(.x .y) } .c : ONLY_IF_RO { *(.z) } .d : ONLY_IF_RO { *(.z .w) } .e : { *(.z) }";
        let (_, mut rules) = rules(text);
        let name = file("f.o", None);
        let (of_file, mut seen) = (rules.of_file(Some(&name)), Seen::default());
        for (section, flags) in [(".x", 3), (".y", 2), (".z", 3), (".w", 2)] {
            rules.look(&of_file, section.as_bytes(), flags, &mut seen);
        }
        rules.decide(vec![seen]);
        // .a has .x, so .b is all read-only; .z is left out of .c and so is in question for .d, and ends in
        // .e.
        assert_eq!([".x", ".y", ".z", ".w"].map(|section| find(&rules, &name, section)), [0, 1, 4, -1]);
    }
}
