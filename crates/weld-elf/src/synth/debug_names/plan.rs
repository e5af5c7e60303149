//! From the objects of a link to the index: their tables are read, in runs, and put together.
//!
//! It is done when strings have been merged, for where a text went tells which names are the same.

use std::collections::HashMap;
use std::sync::Mutex;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::hash::{hash_bytes, join};
use weld_common::io::input::InputStore;
use weld_common::items;
use weld_common::merge::Pieces;

use super::collect::{Collected, Collector, LONGEST, Text, Texts};
use super::names::Strings;
use super::table::{self, Table};
use crate::compressed;
use crate::elf::SHF_COMPRESSED;
use crate::ids::SectionId;
use crate::layout::MergedPart;
use crate::live::SectionOwners;
use crate::sections::SectionKind;
use crate::synth::debug_info::dwarf::{Malformed, Pointer};
use crate::synth::debug_info::object::{DebugSections, InLink, Link, Objects};
use crate::synth::image::Image;

/// What the index is made from.
pub struct Planner<'p, 'a> {
    pub objects: Objects<'p, 'a>,
    pub owners: &'p SectionOwners,
    pub merged: &'p [MergedPart<'a>],
    pub store: &'a InputStore<'a>,
    pub sink: &'p DiagSink,
    pub threads: usize,
}

/// Shards: as many as threads may want, and more for many objects, so that each fits the cache.
const SHARD_BITS: std::ops::RangeInclusive<u32> = 5..=8;
const SHARD: usize = 16;
/// Objects of a run.
const RUN: std::ops::RangeInclusive<usize> = 1..=32;
const RUNS: usize = 128;

impl<'a> Planner<'_, 'a> {
    /// The index; `None` if no object has a table.
    pub fn plan(&self) -> Option<Table> {
        let count = self.objects.list.len();
        let shard_bits = (count / SHARD).max(1).ilog2().clamp(*SHARD_BITS.start(), *SHARD_BITS.end());
        let collected = self.read(shard_bits);
        if self.sink.has_errors() || collected.iter().all(|run| run.augmentation.is_none()) {
            return None;
        }
        let strings = LinkStrings { planner: self, decompressed: Mutex::default() };
        let table = Table::new(collected, shard_bits, self.threads, &strings);
        if table.is_err() {
            self.sink.error(
                Cause::DebugInfo,
                ".debug_names would be larger than 4 GiB (--debug-names)".to_owned(),
            );
        }
        table.ok()
    }

    /// Reads all objects, in runs.
    fn read(&self, shard_bits: u32) -> Vec<Collected> {
        let count = self.objects.list.len();
        let size = (count / RUNS).clamp(*RUN.start(), *RUN.end());
        let starts = (0..count).step_by(size).collect();
        items::run("read tables of names", self.threads, starts, |collector: &mut Collector, start| {
            collector.begin(shard_bits);
            for index in start..count.min(start + size) {
                self.object(index, collector);
            }
            collector.finish()
        })
    }

    fn object(&self, index: usize, collector: &mut Collector) {
        if self.objects.sections.objects[index].name_tables.is_empty() {
            return;
        }
        let keep = |bytes| self.store.keep(bytes);
        let Some((source, wanted)) = DebugSections::of(self.objects, index, &keep) else { return };
        let link = InLink { objects: self.objects, index };
        let mut texts = ObjectTexts { planner: self, index, recent: None };
        for &section in &wanted.tables {
            let result = match source.is_readable(section) {
                true => collector.section(&source, section, &link, &mut texts),
                false => Err(Malformed::new(section, 0, "table of names cannot be decompressed")),
            };
            if let Err(malformed) = result {
                self.sink.push(link.problem(&malformed, malformed.what, |text| {
                    Diagnostic::error(Cause::MalformedDebugInfo, text)
                }));
            }
        }
    }
}

/// Where the texts of an object's names are.
struct ObjectTexts<'p, 'l, 'a> {
    planner: &'p Planner<'l, 'a>,
    index: usize,
    /// The section that was asked about last.
    recent: Option<StringSection<'l>>,
}

/// A section of strings, and the part that it was merged into, if it was.
struct StringSection<'l> {
    shndx: u32,
    id: SectionId,
    merged: Option<(u32, Pieces<'l>)>,
}

impl Texts for ObjectTexts<'_, '_, '_> {
    fn place(&mut self, text: Pointer) -> Option<Text> {
        if self.recent.as_ref().is_none_or(|recent| recent.shndx != text.section) {
            let link = InLink { objects: self.planner.objects, index: self.index };
            let is_named = link.object().section_name(text.section as usize) == Some(b".debug_str");
            if !is_named || !link.is_live(text.section) {
                return None;
            }
            let id = SectionId(link.object().section_base + text.section);
            let input = self.planner.objects.sections.get(id);
            let merged = (input.kind() == SectionKind::Merge).then(|| {
                let (part, input) = input.merged();
                (part as u32, self.planner.merged[part].merged.pieces(input))
            });
            self.recent = Some(StringSection { shndx: text.section, id, merged });
        }
        let StringSection { id, merged, .. } = self.recent.as_mut()?;
        if text.offset >= self.planner.objects.sections.get(*id).size {
            return None;
        }
        let (space, at) = match merged {
            Some((part, pieces)) => (*part, pieces.output_offset(text.offset)?),
            None => (Text::IN_SECTION | id.0, text.offset),
        };
        Some(Text { space, at: u32::try_from(at).ok()? })
    }
}

/// The texts themselves, for those who have to look.
struct LinkStrings<'p, 'l, 'a> {
    planner: &'p Planner<'l, 'a>,
    /// Sections of strings that were not merged. There are hardly any.
    decompressed: Mutex<HashMap<u32, &'a [u8]>>,
}

/// Bytes that are compared at once.
const BLOCK: usize = 64;

impl Strings for LinkStrings<'_, '_, '_> {
    fn is_same(&self, one: Text, other: Text) -> bool {
        for start in (0..).step_by(BLOCK) {
            let (one, other) = (self.block(one, start), self.block(other, start));
            let end = memchr::memchr(0, &one);
            let size = end.map_or(BLOCK, |end| end + 1);
            if one[..size] != other[..size] || end.is_some() {
                return one[..size] == other[..size];
            }
        }
        false
    }

    fn hash(&self, text: Text) -> Option<u64> {
        let mut hash = 0;
        for start in (0..LONGEST as u64).step_by(BLOCK) {
            let block = self.block(text, start);
            let end = memchr::memchr(0, &block);
            hash = join(hash, hash_bytes(&block[..end.unwrap_or(BLOCK)]));
            if end.is_some() {
                return Some(hash);
            }
        }
        None
    }
}

impl<'a> LinkStrings<'_, '_, 'a> {
    /// What follows `start` bytes after the start of a text, with zeroes after the end of the strings.
    fn block(&self, text: Text, start: u64) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        let start = start + u64::from(text.at);
        if text.space & Text::IN_SECTION == 0 {
            let merged = &self.planner.merged[text.space as usize].merged;
            let size = merged.size().saturating_sub(start).min(BLOCK as u64);
            merged.write(start.min(merged.size()), &mut block[..size as usize]);
            return block;
        }
        let rest = self.section(text.space & !Text::IN_SECTION).get(start as usize..).unwrap_or(&[]);
        let size = rest.len().min(BLOCK);
        block[..size].copy_from_slice(&rest[..size]);
        block
    }

    /// The bytes of a section.
    fn section(&self, id: u32) -> &'a [u8] {
        let object = &self.planner.objects.list[self.planner.owners.object(SectionId(id)).index()];
        let shndx = (id - object.section_base) as usize;
        let bytes = object.section_data(shndx).unwrap_or(&[]);
        if object.shdrs[shndx].sh_flags() & SHF_COMPRESSED == 0 {
            return bytes;
        }
        let mut known = self.decompressed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let decompressed =
            || self.planner.store.keep(compressed::decompress(bytes, object.format()).unwrap_or_default());
        known.entry(id).or_insert_with(decompressed)
    }
}

/// Addresses of the output.
pub struct Addresses<'c> {
    pub image: &'c Image<'c, 'c>,
}

impl table::Addresses for Addresses<'_> {
    fn unit(&self, unit: Pointer) -> u64 {
        self.image.sections.get(SectionId(unit.section)).address().wrapping_add(unit.offset).get()
    }

    fn text(&self, text: Text) -> u64 {
        let at = u64::from(text.at);
        if text.space & Text::IN_SECTION != 0 {
            let id = SectionId(text.space & !Text::IN_SECTION);
            return self.image.sections.get(id).address().wrapping_add(at).get();
        }
        let part = &self.image.merged[text.space as usize];
        self.image.layout.chunks[part.chunk.index()].address().wrapping_add(at).get()
    }
}
