//! Input sections become output sections of a joined object.
//!
//! Input sections of one name and kind are joined. What must stay apart to keep its meaning does:
//! members of groups (a group lives or dies as a whole), mergeable data of different entry sizes,
//! sections with flags that the next linker acts on (`SHF_GNU_RETAIN`, `SHF_EXCLUDE`, TLS, …), and
//! `SHF_LINK_ORDER` sections whose leaders lie apart. Rights are united, as any linker does in the
//! end: separating sections by them would change their order.
//!
//! Entries of `.eh_frame` follow one another without padding or terminators between: a reader takes
//! both for the end.

use std::borrow::Cow;
use std::collections::HashMap;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::glob::Glob;

use super::{NONE, Note, Out, Outs, What, new_out};
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::live::Live;
use crate::options::Options;
use crate::sections::Sections;
use crate::symbols::{IN_BSS, IN_LBSS, IN_TBSS};
use crate::synth::commons::{Block, Commons};
use crate::util::align_up;
use weld_common::string_table::StringTable;

/// Flags that output sections have if any of their members has them.
const UNITED: u64 = SHF_WRITE | SHF_EXECINSTR;
/// Flags that say nothing of the output: sections are decompressed, groups are looked up.
const DROPPED: u64 = SHF_GROUP | SHF_COMPRESSED | SHF_INFO_LINK;

/// What sections that are joined have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    name: &'a [u8],
    kind: u32,
    flags: u64,
    entsize: u64,
    /// Output section that an `SHF_LINK_ORDER` section is linked to.
    link: u32,
}

pub struct Builder<'c, 'a> {
    pub format: Format,
    pub objects: &'c [Object<'a>],
    pub sections: &'c mut Sections<'a>,
    pub live: &'c Live,
    pub options: &'c Options,
    pub sink: &'c DiagSink,
    pub machine: &'static Facts,
}

/// What is gathered on the way.
struct Gathered<'a> {
    list: Vec<Out<'a>>,
    of_section: Vec<u32>,
    /// One bit an input section: member of a group.
    grouped: Vec<u64>,
    by_key: HashMap<Key<'a>, u32>,
    /// Last member of each joined `.eh_frame`.
    last_frame: HashMap<u32, (usize, SectionId)>,
    /// The patterns of `--unique`.
    unique: Vec<Glob>,
}

impl<'a> Builder<'_, 'a> {
    /// Gathers everything but the symbol tables. `commons` are those that get their place here.
    pub fn build(mut self, notes: Vec<Note>, commons: Option<Commons>) -> Outs<'a> {
        let count = self.sections.list.len();
        let mut all = Gathered {
            list: Vec::new(),
            of_section: vec![NONE; count],
            grouped: vec![0; count.div_ceil(64)],
            by_key: HashMap::new(),
            last_frame: HashMap::new(),
            unique: self.options.unique_globs(),
        };
        self.groups(&mut all);
        let first = all.list.len() as u32;
        // What is linked to another section can be placed only when that one is.
        self.join_all(&mut all, false);
        self.join_all(&mut all, true);
        let commons = commons.map_or([None; 3], |blocks| {
            [
                (IN_BSS, &b".bss"[..], 0),
                (IN_TBSS, b".tbss", SHF_TLS),
                (IN_LBSS, b".lbss", self.machine.large_flag()),
            ]
            .map(|(kind, name, flags)| self.commons(&mut all, blocks[kind as usize], name, flags))
        });
        let contents = first..all.list.len() as u32;
        let members = self.members(&mut all, &contents);
        self.relocs(&mut all);
        for note in notes {
            let mut out = new_out(Cow::Borrowed(note.name), note.kind, What::Bytes(Vec::new()));
            (out.flags, out.align, out.size) = (note.flags, note.align, note.bytes.len() as u64);
            out.what = What::Bytes(note.bytes);
            all.list.push(out);
        }
        Outs {
            format: self.format,
            extended: all.list.len() + 1 >= SHN_LORESERVE as usize,
            list: all.list,
            members,
            of_section: all.of_section,
            contents,
            commons,
            names: StringTable::new(),
            name_offsets: Vec::new(),
            section_headers: 0,
            file_size: 0,
        }
    }

    /// Groups that have members left, unless they are to be dissolved.
    fn groups(&mut self, all: &mut Gathered<'a>) {
        if self.options.sections.dissolve_groups {
            return;
        }
        for (o, object) in self.objects.iter().enumerate() {
            for (i, shdr) in object.shdrs.iter().enumerate() {
                if shdr.sh_type() != SHT_GROUP {
                    continue;
                }
                let members = live_members(object, i as u32, self.live);
                if members.is_empty() {
                    continue;
                }
                for member in &members {
                    let word = &mut all.grouped[member.index() / 64];
                    if *word >> (member.0 % 64) & 1 != 0 {
                        self.refuse_member(object, *member);
                    }
                    *word |= 1 << (member.0 % 64);
                }
                all.of_section[object.section_base as usize + i] = all.list.len() as u32;
                let name = object.section_name(i).unwrap_or(b".group");
                let mut out =
                    new_out(Cow::Borrowed(name), SHT_GROUP, What::Group(ObjectId(o as u32), i as u32));
                (out.entsize, out.align) = (4, 4);
                all.list.push(out);
            }
        }
    }

    /// The output could not be what the input is not: a section lives or dies with one group.
    #[cold]
    fn refuse_member(&self, object: &Object, member: SectionId) {
        let shndx = member.0 - object.section_base;
        let label = object.section_label(shndx as usize);
        let text =
            format!("{}:({label}): is listed more than once as a member of section groups", object.name);
        self.sink.push(Diagnostic::error(text).at((object.file.0 as u64) << 32 | u64::from(shndx)));
    }

    /// Gives each live section its output section and offset.
    fn join_all(&mut self, all: &mut Gathered<'a>, linked: bool) {
        for o in 0..self.objects.len() {
            let object = &self.objects[o];
            for shndx in 1..object.shdrs.len() {
                let id = SectionId(object.section_base + shndx as u32);
                if !self.live.contains(id) || !self.sections.get(id).in_image() {
                    continue;
                }
                if (object.shdrs[shndx].sh_flags() & SHF_LINK_ORDER != 0) == linked {
                    self.join(o, shndx, all);
                }
            }
        }
    }

    fn join(&mut self, index: usize, shndx: usize, all: &mut Gathered<'a>) {
        let object = &self.objects[index];
        let id = SectionId(object.section_base + shndx as u32);
        let grouped = all.grouped[id.index() / 64] >> (id.0 % 64) & 1 != 0;
        let leader = |all: &Gathered| {
            let link = object.shdrs[shndx].sh_link() as usize;
            all.of_section.get(object.section_base as usize + link).copied().unwrap_or(NONE)
        };
        let shdr = &object.shdrs[shndx];
        let name = object.section_name(shndx).unwrap_or(b"");
        let linked = shdr.sh_flags() & SHF_LINK_ORDER != 0 && shdr.sh_link() != 0;
        let link = if linked { leader(all) } else { NONE };
        let key = Key {
            name,
            kind: join_kind(object.machine, shdr.sh_type()),
            flags: shdr.sh_flags() & !(UNITED | DROPPED),
            entsize: if shdr.sh_flags() & SHF_MERGE != 0 { shdr.sh_entsize() } else { 0 },
            link,
        };
        let named = || all.unique.iter().any(|glob| glob.matches(name));
        let alone = grouped || self.options.sections.unique_sections || linked && link == NONE || named();
        let known = if alone { None } else { all.by_key.get(&key).copied() };
        let frame = !grouped && is_frame(object.machine, name, shdr);
        let out = match known {
            Some(out) if frame || self.fits(&all.list[out as usize], id) => out,
            _ => {
                let out = all.list.len() as u32;
                let mut new = new_out(Cow::Borrowed(name), shdr.sh_type(), What::Inputs(0..0));
                new.flags = shdr.sh_flags() & !DROPPED | if grouped { SHF_GROUP } else { 0 };
                new.entsize = shdr.sh_entsize();
                all.list.push(new);
                if !alone {
                    all.by_key.insert(key, out);
                }
                out
            }
        };
        self.put(object, (shndx, id), &mut all.list[out as usize]);
        if frame {
            self.follow_frame((index, id), out, all);
        }
        all.of_section[id.index()] = out;
    }

    /// Whether a mergeable section's entries would stay in step behind those already there.
    fn fits(&self, out: &Out, id: SectionId) -> bool {
        let section = self.sections.get(id);
        if out.flags & SHF_MERGE == 0 || out.entsize <= 1 {
            return true;
        }
        let start = align_up(out.size, section.align());
        out.size.is_multiple_of(out.entsize) && start.is_multiple_of(out.entsize)
    }

    fn put(&mut self, object: &Object, (shndx, id): (usize, SectionId), out: &mut Out) {
        let shdr = &object.shdrs[shndx];
        let section = &mut self.sections.list[id.index()];
        section.set_offset(align_up(out.size, section.align()));
        out.size = section.offset().saturating_add(section.size);
        out.align = out.align.max(section.align());
        out.flags |= shdr.sh_flags() & UNITED;
        if out.entsize != shdr.sh_entsize() {
            out.entsize = 0;
        }
        if out.kind != shdr.sh_type() {
            let kinds = [out.kind, shdr.sh_type()];
            out.kind = kinds.into_iter().find(|k| is_array(*k)).unwrap_or(SHT_PROGBITS);
        }
    }

    /// Moves an `.eh_frame` right behind the last record of the one before it.
    fn follow_frame(&mut self, frame: (usize, SectionId), out: u32, all: &mut Gathered<'a>) {
        let Some((before, last)) = all.last_frame.insert(out, frame) else { return };
        let owner = &self.objects[before];
        let data = owner.section_data((last.0 - owner.section_base) as usize).unwrap_or(&[]);
        let end = end_of_records(data, self.format);
        let previous = &mut self.sections.list[last.index()];
        previous.size = previous.size.min(end);
        let start = previous.offset() + previous.size;
        let section = &mut self.sections.list[frame.1.index()];
        section.set_offset(start);
        all.list[out as usize].size = start.saturating_add(section.size);
    }

    fn commons(
        &mut self,
        all: &mut Gathered<'a>,
        block: Block,
        name: &'static [u8],
        flags: u64,
    ) -> Option<(u32, u64)> {
        if block.size == 0 {
            return None;
        }
        let key = Key { name, kind: SHT_NOBITS, flags: SHF_ALLOC | flags, entsize: 0, link: NONE };
        let out = match all.by_key.get(&key) {
            Some(&out) => out,
            None => {
                let mut new = new_out(Cow::Borrowed(name), SHT_NOBITS, What::Inputs(0..0));
                new.flags = SHF_ALLOC | SHF_WRITE | flags;
                all.list.push(new);
                all.list.len() as u32 - 1
            }
        };
        let bss = &mut all.list[out as usize];
        let start = align_up(bss.size, block.align);
        bss.size = start.saturating_add(block.size);
        bss.align = bss.align.max(block.align);
        Some((out, start))
    }

    /// Lists the members of each output section, in order.
    fn members(&self, all: &mut Gathered<'a>, contents: &std::ops::Range<u32>) -> Vec<SectionId> {
        let mut ends = vec![0u32; all.list.len()];
        let is_content = |out: u32| contents.contains(&out);
        for &out in all.of_section.iter().filter(|o| is_content(**o)) {
            ends[out as usize] += 1;
        }
        let mut total = 0;
        for (count, out) in ends.iter_mut().zip(&mut all.list) {
            let start = total;
            total += *count;
            if let What::Inputs(range) = &mut out.what {
                *range = start..total;
            }
            *count = start;
        }
        let mut members = vec![SectionId::NONE; total as usize];
        for (id, &out) in all.of_section.iter().enumerate().filter(|(_, o)| is_content(**o)) {
            members[ends[out as usize] as usize] = SectionId(id as u32);
            ends[out as usize] += 1;
        }
        members
    }

    /// A relocation section for each output section that needs one.
    fn relocs(&self, all: &mut Gathered<'a>) {
        let mut counts = vec![0u64; all.list.len()];
        for (o, object) in self.objects.iter().enumerate() {
            for shndx in 1..object.shdrs.len() {
                let id = SectionId(object.section_base + shndx as u32);
                let (section, out) = (self.sections.get(id), all.of_section[id.index()]);
                if out != NONE && section.relocs != 0 {
                    counts[out as usize] += self.sections.relocs(object, o, section).len() as u64;
                }
            }
        }
        for (target, count) in counts.into_iter().enumerate().filter(|c| c.1 > 0) {
            let name = [b".rela", &*all.list[target].name].concat();
            let mut out = new_out(Cow::Owned(name), SHT_RELA, What::Relocs(target as u32));
            out.flags = SHF_INFO_LINK | all.list[target].flags & SHF_GROUP;
            let entry = self.format.size::<Rela>();
            (out.entsize, out.align, out.size) = (entry, self.format.word(), count * entry);
            out.info = target as u32 + 1;
            all.list[target].relocs = all.list.len() as u32;
            all.list.push(out);
        }
    }
}

fn is_array(kind: u32) -> bool {
    matches!(kind, SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY)
}

/// Types that may be joined with each other count as one.
fn join_kind(machine: &Facts, kind: u32) -> u32 {
    if is_array(kind) { SHT_PROGBITS } else { machine.plain_section(kind) }
}

fn is_frame(machine: &Facts, name: &[u8], shdr: &Shdr) -> bool {
    name == b".eh_frame" && join_kind(machine, shdr.sh_type()) == SHT_PROGBITS
}

/// Members of a group that are copied.
pub fn live_members(object: &Object, shndx: u32, live: &Live) -> Vec<SectionId> {
    let words = object.group_words(shndx).unwrap_or_default();
    let inside = words.members().filter(|w| (*w as usize) < object.shdrs.len());
    let ids = inside.map(|w| SectionId(object.section_base + w));
    ids.filter(|id| live.contains(*id)).collect()
}

/// Where the last record of an `.eh_frame` ends, terminators behind it left out. All of it if it
/// cannot be read: the next linker will say so.
fn end_of_records(data: &[u8], format: Format) -> u64 {
    let (mut at, mut end) = (0usize, 0usize);
    while at < data.len() {
        let Some(word) = data.get(at..at + 4) else { return data.len() as u64 };
        let length = format.get_u32(word) as usize;
        if length == 0 {
            at += 4;
            continue;
        }
        if length == 0xffff_ffff || length > data.len() - at - 4 {
            return data.len() as u64;
        }
        at += 4 + length;
        end = at;
    }
    end as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminators_are_not_records() {
        let record = [4u8, 0, 0, 0, 1, 2, 3, 4];
        let zero = [0u8; 4];
        assert_eq!(end_of_records(&[], Format::NATIVE), 0);
        assert_eq!(end_of_records(&record, Format::NATIVE), 8);
        assert_eq!(end_of_records(&zero, Format::NATIVE), 0);
        assert_eq!(end_of_records(&[&record[..], &zero].concat(), Format::NATIVE), 8);
        assert_eq!(end_of_records(&[&zero[..], &record, &zero, &zero].concat(), Format::NATIVE), 12);
        // What cannot be read is kept.
        assert_eq!(end_of_records(&record[..6], Format::NATIVE), 6);
        assert_eq!(end_of_records(&[&record[..], &[1, 0]].concat(), Format::NATIVE), 10);
        assert_eq!(end_of_records(&[0xff; 12], Format::NATIVE), 12);
    }

    #[test]
    fn kinds_that_join() {
        let machine = crate::arch::default().facts();
        assert_eq!(join_kind(machine, SHT_INIT_ARRAY), SHT_PROGBITS);
        assert_eq!(join_kind(machine, machine.frame_section), SHT_PROGBITS);
        assert_eq!(join_kind(machine, SHT_NOTE), SHT_NOTE);
        assert_eq!(join_kind(machine, SHT_NOBITS), SHT_NOBITS);
    }
}
