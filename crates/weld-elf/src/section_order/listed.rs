//! `--section-ordering-file`: input sections in the order in which a file lists their names.
//!
//! Two formats are known, each as its owner has it. Gold's has a name or pattern a line; what is listed comes
//! after what is not, a name before patterns that match it as well, and in its output section whichever that
//! is. GNU ld's has output sections with patterns in braces, as `SECTIONS` of a linker script has them
//! (`.text : { *(.text.hot) a.o(.text) }`); what they match comes first. GNU ld adds them to its script, so
//! they could bring sections to other output sections, too: that is an error here, and a linker script says
//! it. A file with a brace is of the second kind.
//!
//! Source: GNU ld and gold manuals, "--section-ordering-file".

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::glob::{Glob, has_wildcard};
use weld_common::text;

use super::symbols::trim;
use super::{Orderer, SectionOrder};
use crate::ids::*;
use crate::script::commands::{Command, parse_alone};
use crate::script::input_sections::{InputSections, Sort};
use crate::script::sections::{Content, Statement};
use crate::sections::scripted::FileGlob;

impl Orderer<'_, '_> {
    pub(super) fn by_names(&self, path: &Path, order: &mut SectionOrder) {
        let Some(text) = self.read(path) else { return };
        let done = match text.contains(&b'{') {
            true => self.by_output_sections(text, path, order),
            false => self.by_lines(text, path, order),
        };
        if let Err(diagnostic) = done {
            self.job.sink.push(diagnostic);
        }
    }

    /// Gold's format.
    fn by_lines(&self, text: &[u8], path: &Path, order: &mut SectionOrder) -> Result<(), Diagnostic> {
        let mut names: HashMap<&[u8], i64> = HashMap::new();
        let mut globs: Vec<(Glob, i64)> = Vec::new();
        for (line, name) in (1i64..).zip(text.split(|byte| *byte == b'\n').map(trim)) {
            if name.is_empty() || name[0] == b'#' {
                continue;
            }
            match Glob::new(name) {
                _ if !has_wildcard(name) => _ = names.entry(name).or_insert(line),
                Ok(glob) => globs.push((glob, line)),
                Err(e) => {
                    let (path, name) = (text::path(path), String::from_utf8_lossy(name));
                    return Err(Diagnostic::error(
                        Cause::SectionOrder,
                        format!("{path}:{line}: bad pattern '{name}': {e}"),
                    ));
                }
            }
        }
        for id in self.movable() {
            let name = self.section_name(id);
            let by_glob = || globs.iter().find(|(glob, _)| glob.matches(name)).map(|(_, line)| line);
            if let Some(line) = names.get(name).or_else(by_glob)
                && !order.has(id)
            {
                order.places.insert(id, (*line, id.0));
            }
        }
        Ok(())
    }

    /// GNU ld's format.
    fn by_output_sections(
        &self,
        text: &[u8],
        path: &Path,
        order: &mut SectionOrder,
    ) -> Result<(), Diagnostic> {
        // What stands in `SECTIONS`, on the lines that it is on.
        let script = [b"SECTIONS {", text, b"\n}"].concat();
        let commands = parse_alone(&script, &text::path(path))?;
        let mut list = Vec::new();
        for command in &commands {
            let Command::Sections(statements) = command else { continue };
            for statement in statements {
                let Statement::Section(section) = statement else {
                    return Err(Diagnostic::error(
                        Cause::SectionOrder,
                        format!("{}: {ONLY}", text::path(path)),
                    )
                    .in_file(text::path(path)));
                };
                for content in &section.contents {
                    let Content::Inputs(inputs) = content else {
                        return Err(Diagnostic::error(
                            Cause::SectionOrder,
                            format!("{}: {ONLY}", section.place),
                        ));
                    };
                    list.push(Pattern::new(&section.name, inputs)?);
                }
            }
        }
        // By pattern, and each section where it is matched first.
        let mut found: BTreeMap<usize, Vec<SectionId>> = BTreeMap::new();
        for id in self.movable().filter(|id| !order.has(*id)) {
            let Some(number) = list.iter().position(|pattern| self.is_matched(pattern, id)) else { continue };
            let out = self.sections.bins[self.sections.get(id).bin().index()];
            if out != list[number].out {
                let (to, out) = (String::from_utf8_lossy(list[number].out), String::from_utf8_lossy(out));
                let object = &self.resolved.objects[self.owners.object(id).index()];
                let text = format!("{}: cannot move it from {out} to {to}", list[number].place);
                let note = "a linker script (-T) says which output section input sections belong to";
                let spot = object.at_section(id.0 - object.section_base);
                return Err(spot.error(Cause::SectionOrder, &text).note(note.to_owned()));
            }
            found.entry(number).or_default().push(id);
        }
        for (number, sections) in &mut found {
            if list[*number].by_name {
                sections.sort_by_key(|id| self.section_name(*id));
            }
        }
        let sections: Vec<SectionId> = found.into_values().flatten().collect();
        order.put_first(sections.into_iter());
        Ok(())
    }

    fn is_matched(&self, pattern: &Pattern, id: SectionId) -> bool {
        let object = &self.resolved.objects[self.owners.object(id).index()];
        let is_of = |(glob, exclude): &(Glob, Vec<FileGlob>)| {
            glob.matches(self.section_name(id)) && !exclude.iter().any(|files| files.excludes(&object.name))
        };
        pattern.names.iter().any(is_of)
            && pattern.file.matches(&object.name)
            && !pattern.exclude.iter().any(|files| files.excludes(&object.name))
    }

    fn movable(&self) -> impl Iterator<Item = SectionId> {
        (0..self.sections.list.len() as u32).map(SectionId).filter(|id| self.can_move(*id))
    }
}

const ONLY: &str = "a section ordering file has output sections with patterns for input sections only";

/// A description of input sections in an output section.
struct Pattern<'s> {
    out: &'s [u8],
    place: String,
    file: FileGlob,
    exclude: Vec<FileGlob>,
    names: Vec<(Glob, Vec<FileGlob>)>,
    by_name: bool,
}

impl<'s> Pattern<'s> {
    fn new(out: &'s [u8], inputs: &InputSections) -> Result<Pattern<'s>, Diagnostic> {
        let wrong = |what: &str| Diagnostic::error(Cause::SectionOrder, format!("{}: {what}", inputs.place));
        let sort = |sort: Sort| inputs.sections.iter().any(|section| section.sort.contains(&sort));
        let known = [Sort::Default, Sort::None, Sort::Name];
        let mut sorts = inputs.sections.iter().flat_map(|section| section.sort);
        if inputs.sort_files || inputs.flags != (0, 0) || sorts.any(|sort| !known.contains(&sort)) {
            return Err(wrong(
                "a section ordering file sorts by names of sections only; use a linker script (-T)",
            ));
        }
        let files = |list: &[_]| list.iter().map(FileGlob::new).collect();
        let name = |section: &crate::script::input_sections::SectionPattern| {
            let glob = Glob::new(&section.name).map_err(|e| wrong(&e.to_string()))?;
            Ok((glob, files(&section.exclude)))
        };
        Ok(Pattern {
            out,
            place: inputs.place.to_string(),
            file: FileGlob::new(&inputs.file),
            exclude: files(&inputs.exclude),
            names: inputs.sections.iter().map(name).collect::<Result<_, Diagnostic>>()?,
            by_name: sort(Sort::Name),
        })
    }
}
