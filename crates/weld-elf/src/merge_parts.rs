//! Mergeable sections of the whole link, grouped into parts that merge among themselves: same output
//! section, entry size, kind and alignment.

use std::collections::HashMap;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::merge::{MergeError, MergeInput, MergeOptions, Merged};

use crate::compressed::Compressed;
use crate::ids::*;
use crate::image::MergedPart;
use crate::input::object::Object;
use crate::input::sections::{MergeSection, SectionKind, Sections};
use crate::live::Live;
use crate::options::Options;

/// What the parts are made from.
pub struct Merger<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub live: &'c Live,
    pub options: &'c Options,
    pub sink: &'c DiagSink,
    pub store: &'a InputStore<'a>,
    pub threads: usize,
}

struct Group<'a> {
    out: u32,
    inputs: Vec<MergeInput<'a>>,
    /// (object, section) of each input.
    origins: Vec<(u32, SectionId)>,
}

impl<'a> Merger<'_, 'a> {
    /// Merges all live mergeable sections, and notes in each section's address its part and input.
    pub fn run(&self, sections: &mut Sections<'a>) -> Vec<MergedPart<'a>> {
        let groups = self.group(sections);
        let options = MergeOptions { tail_merge: self.options.optimize >= 2, dedupe: true };
        let mut parts = Vec::with_capacity(groups.len());
        for group in groups {
            match Merged::build(&group.inputs, &options, self.threads) {
                Ok(merged) => {
                    let of_objects = group.origins.iter().enumerate().filter(|(_, o)| o.1.is_some());
                    for (input, (_, section)) in of_objects {
                        let place = (parts.len() as u64) << 32 | input as u64;
                        sections.list[section.index()].address = place;
                    }
                    parts.push(MergedPart { merged, chunk: ChunkId::NONE, out: group.out });
                }
                Err(errors) => errors.iter().for_each(|e| self.report(&group, e)),
            }
        }
        parts
    }

    fn group(&self, sections: &Sections<'a>) -> Vec<Group<'a>> {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<(u32, u32, bool, u64), usize> = HashMap::new();
        for (o, extra) in sections.objects.iter().enumerate() {
            for merge in extra.merges.iter().filter(|m| self.live.contains(m.section)) {
                let section = sections.get(merge.section);
                if section.kind() != SectionKind::Merge {
                    continue;
                }
                let Some(data) = self.data(o, merge) else { continue };
                let key = (section.out(), merge.entsize, merge.strings, section.align());
                let index = *known.entry(key).or_insert_with(|| {
                    groups.push(Group { out: section.out(), inputs: Vec::new(), origins: Vec::new() });
                    groups.len() - 1
                });
                let align = section.align().min(1 << 31) as u32;
                groups[index].inputs.push(MergeInput {
                    data,
                    entsize: merge.entsize,
                    strings: merge.strings,
                    align,
                });
                groups[index].origins.push((o as u32, merge.section));
            }
        }
        if self.options.z_sectionheader {
            self.sign(&mut known, &mut groups);
        }
        groups
    }

    /// The linker's own name, for `.comment`.
    fn sign(&self, known: &mut HashMap<(u32, u32, bool, u64), usize>, groups: &mut Vec<Group<'a>>) {
        let out = crate::input::sections::COMMENT;
        let index = *known.entry((out, 1, true, 1)).or_insert_with(|| {
            groups.push(Group { out, inputs: Vec::new(), origins: Vec::new() });
            groups.len() - 1
        });
        let data = concat!("Linker: weld ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();
        groups[index].inputs.push(MergeInput { data, entsize: 1, strings: true, align: 1 });
        groups[index].origins.push((u32::MAX, SectionId::NONE));
    }

    /// The section's bytes, decompressed if need be.
    fn data(&self, object: usize, merge: &MergeSection) -> Option<&'a [u8]> {
        let o = &self.objects[object];
        let shndx = (merge.section.0 - o.section_base) as usize;
        let raw = o.section_data(shndx)?;
        if o.shdrs[shndx].sh_flags() & crate::elf::SHF_COMPRESSED == 0 {
            return Some(raw);
        }
        let result = Compressed::parse(raw).and_then(|c| {
            let mut bytes = vec![0; c.uncompressed_size() as usize];
            c.decompress_into(&mut bytes).map(|()| bytes)
        });
        match result {
            Ok(bytes) => Some(self.store.keep(bytes)),
            Err(e) => {
                self.error(object as u32, merge.section, &e.to_string());
                None
            }
        }
    }

    fn report(&self, group: &Group, error: &MergeError) {
        let input = match error {
            MergeError::NotTerminated { input }
            | MergeError::BadEntrySize { input, .. }
            | MergeError::BadAlignment { input, .. }
            | MergeError::InputTooLarge { input, .. }
            | MergeError::Mixed { input } => *input,
            MergeError::TooLarge => 0,
        };
        let (object, section) = group.origins[input];
        self.error(object, section, &error.to_string());
    }

    fn error(&self, object: u32, section: SectionId, message: &str) {
        let o = &self.objects[object as usize];
        let shndx = section.0 - o.section_base;
        let text = format!("{}:({}): {message}", o.name, o.section_label(shndx as usize));
        self.sink.push(Diagnostic::error(text).at((o.file.0 as u64) << 32 | shndx as u64));
    }
}
