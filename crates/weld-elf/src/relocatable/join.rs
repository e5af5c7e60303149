//! Which input sections of a joined object lie together.
//!
//! Input sections of one name and kind are joined: they get a common bin, from which layout makes an output
//! section. What must stay apart to keep its meaning does:
//! members of groups (a group lives or dies as a whole), mergeable data of different entry sizes,
//! sections with flags that the next linker acts on (`SHF_GNU_RETAIN`, `SHF_EXCLUDE`, TLS, …), and
//! `SHF_LINK_ORDER` sections whose leaders lie apart, and code that has to be aligned after code that the
//! next linker may make shorter. Rights are united, as any linker does in the end: separating sections by
//! them would change their order.
//!
//! A linker script's output sections take whatever its patterns match, but for members of groups; the other
//! sections are joined as ever.
//!
//! Entries of `.eh_frame` follow one another without padding or terminators between: a reader takes
//! both for the end.
//!
//! Specification: gABI chapter 4 "Sections", "Section Groups".

use std::collections::HashMap;

use weld_common::diag::{Cause, DiagSink};
use weld_common::glob::Glob;
use weld_common::hash::{hash_bytes, join};
use weld_common::hash_index::HashIndex;

use crate::address::align_up;
use crate::arch::facts::Facts;
use crate::arch::shrink::Shrink;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::members::Head;
use crate::live::{Live, live_members};
use crate::options::Options;
use crate::sections::bins::{BINS, bin, prefixes};
use crate::sections::names::continues;
use crate::sections::scripted::Rules;
use crate::sections::{InputSection, JoinedKind, Sections, is_array, is_sframe};
use crate::synth::groups::Group;

/// Flags that output sections have if any of their members has them.
const UNITED: u64 = SHF_WRITE | SHF_EXECINSTR;
/// Flags that say nothing of the output: sections are decompressed, groups are looked up.
const DROPPED: u64 = SHF_GROUP | SHF_COMPRESSED | SHF_INFO_LINK;

/// What no section is in that has not been looked at yet.
const NOWHERE: PlacementId = PlacementId(0);
/// There is room for no more in an input section's record.
const MAX_BINS: usize = 1 << 21;

/// What sections that are joined have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key<'a> {
    name: &'a [u8],
    kind: u32,
    flags: u64,
    entsize: u64,
    /// The bin that an `SHF_LINK_ORDER` section is linked to.
    link: PlacementId,
}

impl Key<'_> {
    fn hash(&self) -> u64 {
        let kind = u64::from(self.kind) << 32 | u64::from(self.link.0);
        join(join(hash_bytes(self.name), kind), self.flags ^ self.entsize << 32)
    }
}

/// The bins that sections of a kind join.
#[derive(Default)]
struct Keys<'a> {
    index: HashIndex,
    list: Vec<(Key<'a>, PlacementId)>,
}

impl<'a> Keys<'a> {
    /// The bin that sections of this kind join now; `NONE` if it is the first of its kind.
    fn bin(&mut self, key: Key<'a>) -> &mut PlacementId {
        let is = |i: usize| self.list[i].0 == key;
        let found = self.index.find_or_add(key.hash(), self.list.len(), is);
        if found.is_err() {
            self.list.push((key, PlacementId::NONE));
        }
        &mut self.list[found.unwrap_or_else(|new| new) as usize].1
    }
}

pub struct Joiner<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub sections: &'c mut Sections<'a>,
    pub live: &'c Live,
    pub options: &'c Options,
    pub sink: &'c DiagSink,
    pub machine: &'static Facts,
    pub shrink: Option<&'static dyn Shrink>,
    /// A linker script, whose bins sections have already.
    pub rules: Option<&'c Rules>,
}

/// What sections are gathered in, by bin: the header fields of each output section, and the groups.
pub struct Bins {
    pub heads: Vec<Option<Head>>,
    pub groups: Vec<Group>,
}

/// What is gathered on the way.
struct Gathered<'a> {
    names: Vec<&'a [u8]>,
    heads: Vec<Option<Head>>,
    /// How far each bin is filled.
    ends: Vec<u64>,
    groups: Vec<Group>,
    /// One bit an input section: member of a group.
    grouped: Vec<u64>,
    keys: Keys<'a>,
    /// Those with code that the next linker may make shorter, by multiples of so many bytes.
    moving: HashMap<PlacementId, u64>,
    /// The last member of each joined `.eh_frame`.
    last_frames: HashMap<PlacementId, Frame>,
    /// The patterns of `--unique`.
    unique: Vec<Glob>,
}

#[derive(Clone, Copy)]
struct Frame {
    object: usize,
    id: SectionId,
    start: u64,
}

impl<'a> Gathered<'a> {
    fn add(&mut self, name: &'a [u8], head: Head) -> PlacementId {
        self.names.push(name);
        self.heads.push(Some(head));
        self.ends.push(0);
        PlacementId(self.names.len() as u32 - 1)
    }
}

impl<'a> Joiner<'_, 'a> {
    /// Gives each live section its bin.
    pub fn join(mut self) -> Bins {
        // Those that have a name already: the script's, too.
        let fixed = self.rules.map_or(BINS.len(), |rules| rules.fixed_bins());
        if self.rules.is_some() {
            let others = |section: &&mut InputSection| section.bin().index() >= fixed;
            self.sections.list.iter_mut().filter(others).for_each(|section| section.set_bin(NOWHERE));
        }
        let mut all = Gathered {
            names: self.sections.bins[..fixed].to_vec(),
            heads: vec![None; fixed],
            ends: vec![0; fixed],
            groups: Vec::new(),
            grouped: vec![0; self.sections.list.len().div_ceil(64)],
            keys: self.keys_of_commons(),
            moving: HashMap::new(),
            last_frames: HashMap::new(),
            unique: self.options.unique_globs(),
        };
        self.groups(&mut all);
        // What is linked to another section can be placed only when that one is.
        self.join_all(&mut all, false);
        self.join_all(&mut all, true);
        let count = all.names.len();
        if count > MAX_BINS {
            self.sink.error(Cause::TooLarge, format!("too many output sections: {count}"));
        }
        self.sections.bins = all.names;
        Bins { heads: all.heads, groups: all.groups }
    }

    /// Common symbols that get their place here lie among sections of these sorts, if there are any.
    fn keys_of_commons(&self) -> Keys<'a> {
        let mut keys = Keys::default();
        let sorts = [(bin::BSS, 0), (bin::TBSS, SHF_TLS), (bin::LBSS, self.machine.large_flag())];
        for (bin, flags) in sorts {
            let (name, flags) = (BINS[bin.index()], SHF_ALLOC | flags);
            *keys.bin(Key { name, kind: SHT_NOBITS, flags, entsize: 0, link: PlacementId::NONE }) = bin;
        }
        keys
    }

    /// Groups that have members left, unless they are to be dissolved.
    fn groups(&mut self, all: &mut Gathered<'a>) {
        if self.options.sections.dissolve_groups {
            return;
        }
        for (o, object) in self.objects.iter().enumerate() {
            for (i, _) in object.shdrs.iter().enumerate().filter(|(_, s)| s.sh_type() == SHT_GROUP) {
                let members = live_members(object, i as u32, self.live);
                if members.is_empty() {
                    continue;
                }
                let mut words = 1;
                for member in &members {
                    let word = &mut all.grouped[member.index() / 64];
                    if *word >> (member.0 % 64) & 1 != 0 {
                        self.refuse_member(object, *member);
                    }
                    *word |= 1 << (member.0 % 64);
                    self.sections.list[member.index()].set_bin(NOWHERE);
                    let section = self.sections.get(*member);
                    let relocs = self.sections.relocs(object, o, section);
                    words += u32::from(section.in_image()) * (1 + u32::from(!relocs.is_empty()));
                }
                let name = object.section_name(i).unwrap_or(b".group");
                let kind = JoinedKind::new(SHT_GROUP);
                let bin = all.add(name, Head { kind, flags: 0, entsize: 4, align: 4, alone: true });
                self.sections.list[object.section_base as usize + i].set_bin(bin);
                all.groups.push(Group::new(ObjectId(o as u32), i as u32, bin, words));
            }
        }
    }

    /// The output could not be what the input is not: a section lives or dies with one group.
    #[cold]
    fn refuse_member(&self, object: &Object, member: SectionId) {
        let shndx = member.0 - object.section_base;
        let text = "is listed more than once as a member of section groups";
        self.sink.push(object.at_section(shndx).error(Cause::SectionFlags, text));
    }

    fn join_all(&mut self, all: &mut Gathered<'a>, linked: bool) {
        for o in 0..self.objects.len() {
            let object = &self.objects[o];
            for shndx in 1..object.shdrs.len() {
                let id = SectionId(object.section_base + shndx as u32);
                if !self.live.contains(id) || !self.sections.get(id).in_image() {
                    continue;
                }
                if (object.shdrs[shndx].sh_flags() & SHF_LINK_ORDER != 0) == linked {
                    self.join_one(o, shndx, all);
                }
            }
        }
    }

    fn join_one(&mut self, index: usize, shndx: usize, all: &mut Gathered<'a>) {
        let object = &self.objects[index];
        let id = SectionId(object.section_base + shndx as u32);
        let shdr = &object.shdrs[shndx];
        let grouped = all.grouped[id.index() / 64] >> (id.0 % 64) & 1 != 0;
        let name = object.section_name(shndx).unwrap_or(b"");
        let name = if self.options.sections.merge_names && !grouped { merged_name(name) } else { name };
        let linked = shdr.sh_flags() & SHF_LINK_ORDER != 0 && shdr.sh_link() != 0;
        let link = if linked { self.bin_of_leader(object, shdr) } else { PlacementId::NONE };
        let key = Key {
            name,
            kind: join_kind(object.machine, shdr.sh_type()),
            flags: shdr.sh_flags() & !(UNITED | DROPPED),
            entsize: if shdr.sh_flags() & SHF_MERGE != 0 { shdr.sh_entsize() } else { 0 },
            link,
        };
        let named = || all.unique.iter().any(|glob| glob.matches(name));
        let alone = grouped || self.options.sections.unique_sections || linked && link.is_none() || named();
        // Tables of frames do not become one by lying together.
        let alone = alone || is_sframe(name, shdr);
        let of_script = self.of_script(id).filter(|_| !alone);
        let known = match of_script {
            Some(bin) => bin,
            None if alone => PlacementId::NONE,
            None => *all.keys.bin(key),
        };
        let frame = !grouped && is_frame(object.machine, name, shdr);
        let head = Head {
            kind: JoinedKind::new(shdr.sh_type()),
            flags: shdr.sh_flags() & !DROPPED | if grouped { SHF_GROUP } else { 0 },
            entsize: shdr.sh_entsize(),
            align: self.sections.get(id).align(),
            alone,
        };
        let code = shdr.sh_flags() & SHF_EXECINSTR != 0 && head.kind.is(SHT_PROGBITS);
        let moves = code && all.moving.get(&known).is_some_and(|step| head.align > *step);
        let fits = frame || known.is_none() || self.fits(all, known, id) && !moves;
        let bin = match known.is_some() && (fits || of_script.is_some()) {
            true => {
                let common = all.heads[known.index()].get_or_insert(head);
                common.join(&head);
                if !fits {
                    common.flags &= !(SHF_MERGE | SHF_STRINGS);
                }
                known
            }
            false => {
                let bin = all.add(name, head);
                if !alone {
                    *all.keys.bin(key) = bin;
                }
                bin
            }
        };
        self.put(all, bin, id);
        if let Some(step) = self.step(index, id).filter(|_| code) {
            all.moving.entry(bin).and_modify(|least| *least = step.min(*least)).or_insert(step);
        }
        if frame {
            self.follow_frame(index, id, bin, all);
        }
    }

    /// The bin that a linker script has a section in.
    fn of_script(&self, id: SectionId) -> Option<PlacementId> {
        let bin = self.sections.get(id).bin();
        self.rules?.bin(bin).map(|_| bin)
    }

    fn bin_of_leader(&self, object: &Object, shdr: &Shdr) -> PlacementId {
        let link = object.section_base as usize + shdr.sh_link() as usize;
        let leader = self.sections.list.get(link).map(|leader| leader.bin());
        leader.filter(|bin| *bin != NOWHERE).unwrap_or(PlacementId::NONE)
    }

    /// Whether a mergeable section's entries would stay in step after those already there.
    fn fits(&self, all: &Gathered, bin: PlacementId, id: SectionId) -> bool {
        let (Some(head), end) = (&all.heads[bin.index()], all.ends[bin.index()]) else { return true };
        if head.flags & SHF_MERGE == 0 || head.entsize <= 1 {
            return true;
        }
        let start = align_up(end, self.sections.get(id).align());
        end.is_multiple_of(head.entsize) && start.is_multiple_of(head.entsize)
    }

    /// By multiples of how many bytes the next linker may make code shorter. What follows it in its section
    /// loses its alignment.
    fn step(&self, object: usize, id: SectionId) -> Option<u64> {
        let machine = self.shrink?;
        let relocs = self.sections.relocs(&self.objects[object], object, self.sections.get(id));
        machine.step(self.objects[object].flags, relocs)
    }

    fn put(&mut self, all: &mut Gathered, bin: PlacementId, id: SectionId) {
        let section = &mut self.sections.list[id.index()];
        section.set_bin(bin);
        let end = &mut all.ends[bin.index()];
        *end = align_up(*end, section.align()).saturating_add(section.size);
    }

    /// Has an `.eh_frame` begin right after the last record of the one before it.
    fn follow_frame(&mut self, object: usize, id: SectionId, bin: PlacementId, all: &mut Gathered<'a>) {
        let mut frame = Frame { object, id, start: 0 };
        if let Some(before) = all.last_frames.get(&bin) {
            let owner = &self.objects[before.object];
            let data = owner.section_data((before.id.0 - owner.section_base) as usize).unwrap_or(&[]);
            let previous = &mut self.sections.list[before.id.index()];
            previous.size = previous.size.min(end_of_records(data, owner.format()));
            frame.start = before.start + previous.size;
            let section = &mut self.sections.list[id.index()];
            section.set_unaligned();
            all.ends[bin.index()] = frame.start.saturating_add(section.size);
        }
        all.last_frames.insert(bin, frame);
    }
}

/// `--relocatable-merge-sections`: the name that a section gets in other output. What follows the name of an
/// array is a priority, which counts in the next link.
fn merged_name(name: &[u8]) -> &[u8] {
    let array = |prefix: &[u8]| matches!(prefix, b".init_array" | b".fini_array" | b".ctors" | b".dtors");
    let known = prefixes(name.get(1).copied().unwrap_or(0)).iter().map(|(prefix, _)| *prefix);
    known.filter(|prefix| !array(prefix)).find(|prefix| continues(name, prefix)).unwrap_or(name)
}

/// Types that may be joined with each other count as one.
fn join_kind(machine: &Facts, kind: u32) -> u32 {
    if is_array(kind) { SHT_PROGBITS } else { machine.plain_section(kind) }
}

fn is_frame(machine: &Facts, name: &[u8], shdr: &Shdr) -> bool {
    name == b".eh_frame" && join_kind(machine, shdr.sh_type()) == SHT_PROGBITS
}

/// Where the last record of an `.eh_frame` ends, terminators after it left out. All of it if it
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
