//! From what a finished link knows to the rows of its state: the one place where running totals are
//! translated to ids that hold.
//!
//! Rows are numbered before any is filled, since they name one another. Nothing here depends on the number of
//! threads, and nothing on that of the shards of the table of names: names are sorted by their hashes.

mod inputs;

use weld_common::io::input::InputFile;
use weld_common::{par, sort};

use super::State;
use super::keys::{self, Numbers};
use super::mentions::{manner, manner_of};
use super::outline::{Before, outline};
use super::rows::*;
use crate::address::Address;
use crate::elf::SHF_GROUP;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Context;
use crate::layout::ChunkKind;
use crate::resolve::comdat;
use crate::sections::SectionKind;
use crate::sections::lost_groups::LostSections;
use crate::sections::yards::Yard;
use crate::symbol_names::{Entry, Rank, flag};
use crate::symbols::internal::Target;
use crate::symbols::symbol_flags;
use crate::synth::eh_frames::EhFrames;
use crate::synth::image::Image;
use crate::synth::symtab::SymTab;
use crate::synth::thunks::Goal;
use inputs::{Inputs, Texts};
pub use weld_common::merge::tag_of;

/// Objects that are looked at by one task, and rows that are made by one.
const OUTLINES: usize = 16;
const ROWS: usize = 4096;

/// Which tables a state is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    All,
    /// Those that relinks read: not who else mentions a name, and nothing of COMDAT groups.
    OfRelinks,
}

/// A link whose image is complete.
pub struct Link<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub context: &'c Context<'c, 'a>,
    /// What it has read.
    pub files: Vec<InputFile<'c>>,
    pub frames: &'c EhFrames,
    pub symtab: Option<&'c SymTab>,
}

/// The rows of what links know by running totals; `NONE` where there is no row.
struct Rows {
    /// By [`FileId`], [`SectionId`], [`SymbolId`], and by place in `Slots::list`.
    of_file: Vec<u32>,
    of_section: Vec<u32>,
    of_name: Vec<u32>,
    of_slot: Vec<u32>,
}

impl Link<'_, '_, '_> {
    /// The state of the link.
    pub fn state(&self, tables: Tables) -> State {
        let mut texts = Texts::default();
        let Inputs { files, mut inputs, of_file } = self.inputs(&mut texts);
        let sorted = self.sorted_names();
        let mut rows = Rows {
            of_file,
            of_section: self.numbered_sections(),
            of_name: vec![NONE; self.image.resolved.names.id_bound()],
            of_slot: vec![NONE; self.image.slots.list.len()],
        };
        for (row, (_, id)) in (0..).zip(&sorted) {
            rows.of_name[id.index()] = row;
        }
        let slots = self.slots(&mut rows);
        let lost = self.lost_sections();
        let sections = self.sections(&rows, &lost);
        let mentions = self.mentions(&rows);
        inputs::note_first_rows(&mut inputs, &sections);
        self.note_places(&mut inputs, &rows.of_file);
        let parallel = self.context.parallel;
        let mut names = par::list("rows of names", parallel, sorted.len(), ROWS, |run| {
            let rows = &rows;
            sorted[run].iter().map(move |(hash, id)| self.name(*hash, *id, rows))
        });
        let (mut by_name, mut groups) = Default::default();
        self.note_warnings(&mut names);
        if tables == Tables::All {
            by_name = mentions_by_name(&mentions);
            note_first_mentions(&mut names, &mentions, &by_name);
            groups = self.groups(&rows);
        }
        let (groups, candidates) = groups;
        let mut parts = self.parts();
        let pieces = self.pieces(&mut parts);
        let row_count = inputs.len();
        State {
            image: self.whole(),
            files,
            inputs,
            names,
            mentions,
            by_name,
            outputs: self.outputs(&mut texts),
            outlines: self.outlines(&rows, row_count, &lost),
            sections,
            parts,
            pieces,
            groups,
            candidates,
            slots,
            thunks: self.thunks(&rows),
            text: texts.bytes,
            yards: self.yards(&rows),
        }
    }

    /// Notes of which names an object says what is to be told whoever refers to them ([`crate::report::warnings`]).
    fn note_warnings(&self, names: &mut [NameRow]) {
        let objects = self.image.resolved.objects.iter().zip(&self.image.sections.objects);
        for (object, _) in objects.filter(|(_, extra)| extra.has_warnings) {
            for name in warned(object) {
                let found = names.binary_search_by_key(&keys::hash(name), |name| name.hash);
                if let Ok(found) = found {
                    names[found].mentioned |= flag::WARNS;
                }
            }
        }
    }

    /// The sections of each object that lost with their groups.
    fn lost_sections(&self) -> Vec<LostSections> {
        let (sections, objects) = (self.image.sections, &self.image.resolved.objects);
        let of = |object: &Object| {
            LostSections::by_kind(object, |i| sections.kind_before(SectionId(object.section_base + i)))
        };
        let found = par::runs(
            "sections of groups that lost",
            self.context.parallel,
            objects.len(),
            OUTLINES,
            |run| objects[run].iter().map(of).collect::<Vec<_>>(),
        );
        found.into_iter().flatten().collect()
    }

    /// The outlines of objects, by input.
    fn outlines(&self, rows: &Rows, inputs: usize, lost: &[LostSections]) -> Vec<OutlineRow> {
        let (image, objects) = (self.image, &self.image.resolved.objects);
        let found = par::runs("outlines of objects", self.context.parallel, objects.len(), OUTLINES, |run| {
            let of = |i: usize| {
                let said = (Before::SAME, &lost[i], objects[i].os_abi);
                outline(image, self.context.owners, ObjectId(i as u32), said)
            };
            run.map(of).collect::<Vec<_>>()
        });
        let mut list = vec![OutlineRow { shape: 0, contents: 0, needs: 0, lost: 0 }; inputs];
        for (object, outline) in objects.iter().zip(found.into_iter().flatten()) {
            list[rows.of_file[object.file.index()] as usize] = outline;
        }
        list
    }

    fn sorted_names(&self) -> Vec<(u128, SymbolId)> {
        let parallel = self.context.parallel;
        let names: Vec<_> = self.image.resolved.names.iter().map(|(id, entry)| (entry.name, id)).collect();
        let sorted = par::list("hashes of names", parallel, names.len(), ROWS, |run| {
            names[run].iter().map(|(name, id)| (keys::hash(name), *id))
        });
        sort::by(sorted, parallel, |a, b| a.0.cmp(&b.0))
    }

    /// The row of each kept section. Rows are in the order of ids.
    fn numbered_sections(&self) -> Vec<u32> {
        let (sections, live) = (self.image.sections, self.image.live);
        let mut next = 0;
        let mut number = |(i, section): (usize, &crate::sections::InputSection)| {
            let kept = section.in_image() && live.contains(SectionId(i as u32));
            let row = if kept { next } else { NONE };
            next += u32::from(kept);
            row
        };
        sections.list.iter().enumerate().map(&mut number).collect()
    }

    fn sections(&self, rows: &Rows, lost: &[LostSections]) -> Vec<SectionRow> {
        let numbers: Vec<Vec<u32>> = lost.iter().map(LostSections::numbers).collect();
        let numbers = &numbers;
        let kept = rows.of_section.iter().zip(0..).filter(|(row, _)| **row != NONE);
        let kept: Vec<u32> = kept.map(|(_, i)| i).collect();
        par::list("rows of sections", self.context.parallel, kept.len(), ROWS, |run| {
            kept[run].iter().map(move |i| self.section(SectionId(*i), rows, numbers))
        })
    }

    fn section(&self, id: SectionId, rows: &Rows, numbers: &[Vec<u32>]) -> SectionRow {
        let image = self.image;
        let section = image.sections.get(id);
        let owner = self.context.owners.object(id).index();
        let object = &image.resolved.objects[owner];
        let ordinal = id.0 - object.section_base;
        let (mut address, mut other) = (section.address().get(), NONE);
        match section.kind() {
            SectionKind::Merge => (address, other) = (0, section.merged().0 as u32),
            SectionKind::EhFrame => address = 0,
            SectionKind::Folded => other = rows.of_section[image.live.folds.leader(id).index()],
            _ => {}
        }
        SectionRow {
            input: rows.of_file[object.file.index()],
            ordinal,
            number: numbers[owner].get(ordinal as usize).copied().unwrap_or(ordinal),
            address,
            size: section.size,
            output: image.out_of(section).map_or(NONE, |out| out.0),
            other,
            kind: section.kind() as u8,
            align_log2: section.align().trailing_zeros() as u8,
        }
    }

    fn mentions(&self, rows: &Rows) -> Vec<MentionRow> {
        let mut list = Vec::new();
        for object in &self.image.resolved.objects {
            let symbols = object.first_global..object.syms.len() as u32;
            let input = rows.of_file[object.file.index()];
            list.extend(symbols.map(|symbol| {
                let name = rows.of_name[object.global(symbol).index()];
                let manner = manner_of(&object.syms[symbol as usize]);
                let is_beaten = u8::from(manner & manner::DEFINES != 0 && self.is_beaten(object, symbol));
                MentionRow { input, symbol, name, manner, is_beaten }
            }));
        }
        list
    }

    /// Whether another object's definition counts, and the one of this object is in a group that stays: such have
    /// objects of several compilers, which do not call their groups the same, and names that are in no group elsewhere.
    fn is_beaten(&self, object: &Object, symbol: u32) -> bool {
        let SymbolPlace::Section(index) = object.place(symbol, &object.syms[symbol as usize]) else {
            return false;
        };
        if object.shdrs[index as usize].sh_flags() & SHF_GROUP == 0 {
            return false;
        }
        let id = SectionId(object.section_base + index);
        let counts = &self.image.symbols[object.global(symbol)];
        counts.section != id.0 && self.image.sections.get(id).kind() != SectionKind::Discarded
    }

    fn name(&self, hash: u128, id: SymbolId, rows: &Rows) -> NameRow {
        let image = self.image;
        let (entry, symbol) = (image.resolved.names.get(id), &image.symbols[id]);
        let (input, number) = self.definition(entry, rows);
        let section = match symbol.kind() {
            symbol_flags::DEFINED => rows.of_section.get(symbol.section as usize).copied().unwrap_or(NONE),
            _ => NONE,
        };
        let slot = image.slots.position(id).map_or(NONE, |position| rows.of_slot[position]);
        NameRow {
            hash,
            value: symbol.address().get(),
            flags: symbol.flags(),
            mentioned: entry.flags & !7 | entry.rank() as u32,
            input,
            symbol: number,
            section,
            slot,
            dynamic: image.dynsym.map_or(0, |dynsym| dynsym.index(id)),
            first_mention: 0,
        }
    }

    /// The input that has the best definition, and its symbol there.
    fn definition(&self, entry: &Entry, rows: &Rows) -> (u32, u32) {
        match entry.rank() {
            Rank::Internal | Rank::Undefined => (NONE, NONE),
            // Of a lazy file that was not read, the archive's index tells.
            _ => match rows.of_file[entry.file().index()] {
                NONE => (NONE, NONE),
                input => (input, entry.sym()),
            },
        }
    }

    fn slots(&self, rows: &mut Rows) -> Vec<SlotRow> {
        let image = self.image;
        let row = |slot: &crate::got_plt_slots::Slot| {
            let local = slot.local.map(|(object, symbol)| {
                (rows.of_file[image.resolved.objects[object.index()].file.index()], symbol)
            });
            let (input, symbol) = local.unwrap_or((NONE, NONE));
            SlotRow {
                name: if local.is_some() { NONE } else { rows.of_name[slot.id.index()] },
                input,
                symbol,
                got: slot.got,
                got_tp: slot.got_tp,
                tls_gd: slot.tls_gd,
                tls_desc: slot.tls_desc,
                plt: slot.plt,
                signed: u8::from(slot.signed) | u8::from(slot.code) << 1,
                definition: slot.definition.get(),
            }
        };
        // Spare ones are nobody's.
        let of_somebody = |slot: &&crate::got_plt_slots::Slot| slot.id.is_some() || slot.local.is_some();
        let all = image.slots.list.iter().zip(0..).filter(|(slot, _)| of_somebody(slot));
        let mut list: Vec<(SlotRow, usize)> = all.map(|(slot, at)| (row(slot), at)).collect();
        list.sort_unstable_by_key(|(row, _)| (row.name, row.input, row.symbol));
        for (row, (_, position)) in (0..).zip(&list) {
            rows.of_slot[*position] = row;
        }
        list.into_iter().map(|(row, _)| row).collect()
    }

    fn yards(&self, rows: &Rows) -> Vec<YardRow> {
        let row = |yard: &Yard| YardRow {
            section: rows.of_section[yard.host.index()],
            start: yard.start,
            kind: yard.kind as u8,
        };
        let all = self.image.sections.yards.iter().map(row);
        all.filter(|yard| yard.section != NONE).collect()
    }

    fn outputs(&self, texts: &mut Texts) -> Vec<OutputRow> {
        let mut numbers = Numbers::default();
        let row = |out: &crate::layout::OutputSection| OutputRow {
            key: numbers.key(keys::hash(&out.name)),
            name: texts.add(&out.name),
            kind: out.kind,
            flags: out.flags,
            address: out.address.get(),
            offset: out.offset.0,
            size: out.size,
            align: out.align,
        };
        self.image.layout.sections.iter().map(row).collect()
    }

    fn parts(&self) -> Vec<PartRow> {
        let image = self.image;
        let mut numbers = Numbers::default();
        let row = |part: &crate::layout::MergedPart| {
            let (size, align) = (part.merged.size(), part.merged.align());
            let used = size - part.merged.room();
            let name = image.sections.bins.get(part.bin.index()).copied().unwrap_or_default();
            let common = [u64::from(part.entsize), u64::from(part.strings), align].map(u64::to_le_bytes);
            let chunk = image.layout.chunks.get(part.chunk.index());
            PartRow {
                key: numbers.key(keys::hash_of(&[name, common.as_flattened()])),
                output: chunk.map_or(NONE, |chunk| chunk.out.0),
                address: chunk.map_or(0, |chunk| chunk.address().get()),
                size,
                used,
                align: align as u32,
                entsize: part.entsize,
                strings: u8::from(part.strings),
                first_piece: 0,
            }
        };
        image.merged.iter().map(row).collect()
    }

    /// The pieces of all parts; notes in each part where its own start.
    fn pieces(&self, parts: &mut [PartRow]) -> Vec<PieceRow> {
        let (merged, parallel) = (self.image.merged, self.context.parallel);
        let lists: Vec<(usize, usize)> = (0..merged.len())
            .flat_map(|part| (0..merged[part].merged.lists()).map(move |list| (part, list)))
            .collect();
        let made = par::runs("rows of pieces", parallel, lists.len(), 1, |run| {
            let list = |(part, list): &(usize, usize)| {
                let mut rows = Vec::new();
                let terminator = if merged[*part].strings { merged[*part].entsize as usize } else { 0 };
                merged[*part].merged.each_different(*list, |bytes, offset| {
                    rows.push(PieceRow { tag: tag_of(bytes, terminator), offset: offset as u32 });
                });
                rows.sort_unstable_by_key(|row| u64::from(row.tag) << 32 | u64::from(row.offset));
                rows
            };
            lists[run].iter().map(list).collect::<Vec<_>>()
        });
        let made: Vec<Vec<PieceRow>> = made.into_iter().flatten().collect();
        let (mut next, mut place) = (0, 0);
        for (number, part) in parts.iter_mut().enumerate() {
            part.first_piece = place as u32;
            while lists.get(next).is_some_and(|(part, _)| *part == number) {
                place += made[next].len();
                next += 1;
            }
        }
        par::concat("join pieces", parallel, made)
    }

    fn groups(&self, rows: &Rows) -> (Vec<GroupRow>, Vec<CandidateRow>) {
        let mut found = Vec::new();
        for (i, object) in self.image.resolved.objects.iter().enumerate() {
            let input = rows.of_file[object.file.index()];
            for (g, group) in object.groups.iter().enumerate() {
                let name = rows.of_name[comdat::signature(object, group).index()];
                let lost = !self.context.comdats.survives(i as u32, object, g as u32);
                found.push((name, lost, input, group.shndx));
            }
        }
        found.sort_unstable();
        let mut candidates = Vec::with_capacity(found.len());
        let groups = found.chunk_by(|a, b| a.0 == b.0).zip(0..).map(|(offers, group)| {
            let first_candidate = candidates.len() as u32;
            let row = |(_, _, input, ordinal): &(u32, bool, u32, u32)| CandidateRow {
                group,
                input: *input,
                ordinal: *ordinal,
            };
            candidates.extend(offers.iter().map(row));
            GroupRow { name: offers[0].0, first_candidate, candidates: offers.len() as u32 }
        });
        (groups.collect(), candidates)
    }

    fn thunks(&self, rows: &Rows) -> Vec<ThunkRow> {
        let image = self.image;
        let row = |(out, goal, address): (OutputSectionId, Goal, Address)| {
            let target = goal.address(image.sections, image.symbols, |entry| image.plt_address(entry));
            let (goal, of, offset) = match goal {
                Goal::Section(id, offset) => {
                    (goal_kind::SECTION, rows.of_section[id.index()], offset.cast_signed())
                }
                Goal::Plt(entry, addend) => {
                    (goal_kind::PLT, rows.of_slot[image.slots.plt[entry as usize] as usize], addend)
                }
                Goal::Internal(id, addend) => (goal_kind::NAME, rows.of_name[id.index()], addend),
                Goal::Absolute(address) => (goal_kind::ABSOLUTE, NONE, address.get().cast_signed()),
            };
            ThunkRow { output: out.0, goal, of, offset, target: target.get(), address: address.get() }
        };
        let mut list: Vec<ThunkRow> = image.thunks.of_branches(image.layout).map(row).collect();
        list.sort_unstable_by_key(|row| (row.output, row.target, row.address));
        list
    }

    fn whole(&self) -> ImageRow {
        let image = self.image;
        let exports = image.dynsym.and_then(|dynsym| dynsym.rows.clone()).unwrap_or_default();
        let bases = &image.bases;
        ImageRow {
            file_size: image.layout.file_size,
            got: bases.got.get(),
            got_plt: bases.got_plt.get(),
            got_base: bases.got_base.get(),
            plt: bases.plt.get(),
            plt_sec: bases.plt_sec.get(),
            iplt: bases.iplt.get(),
            tls_start: bases.tls_start.get(),
            thread_pointer: bases.thread_pointer.get(),
            eh_frame: image.layout.chunk_address(ChunkKind::EhFrame).get(),
            pointer: image.pointer.map_or(0, Address::get),
            has_pointer: u8::from(image.pointer.is_some()),
            relax_got: u8::from(image.relax_got),
            has_shared: u8::from(!image.resolved.shared.is_empty()),
            has_sizes: u8::from(image.live.has_sizes()),
            has_rooms: u8::from(image.sections.has_rooms),
            // Their values may be those of functions, wherever these are.
            has_assigned: u8::from(self.context.internals.list.iter().any(|internal| {
                use Target::{Alias, Code, Computed};
                matches!(internal.target, Alias(..) | Code { .. } | Computed { .. })
            })),
            plt_style: image.plt.code(),
            jump_slots: image.slots.jump_slots,
            spares: image.slots.spares,
            got_words: image.slots.got_words,
            spare_words: image.slots.spare_words,
            exports_first: exports.first,
            exports: exports.count,
            names_start: exports.names.start,
            names_end: exports.names.end,
            reserved: image.slots.reserved,
            tls_ld: image.slots.tls_ld.unwrap_or(NONE),
        }
    }
}

fn mentions_by_name(mentions: &[MentionRow]) -> Vec<ByName> {
    let mut list: Vec<ByName> = (0..mentions.len() as u32).map(|mention| ByName { mention }).collect();
    list.sort_by_key(|row| mentions[row.mention as usize].name);
    list
}

pub(super) fn note_first_mentions(names: &mut [NameRow], mentions: &[MentionRow], by_name: &[ByName]) {
    let mut next = 0;
    for (row, name) in (0..).zip(names) {
        name.first_mention = next as u32;
        while by_name.get(next).is_some_and(|by_name| mentions[by_name.mention as usize].name == row) {
            next += 1;
        }
    }
}

/// The names of which an object says what is to be told whoever refers to them ([`crate::report::warnings`]).
pub fn warned<'o>(object: &'o Object) -> impl Iterator<Item = &'o [u8]> {
    let sections = (0..object.shdrs.len()).filter_map(|index| object.section_name(index));
    sections.filter_map(|name| name.strip_prefix(b".gnu.warning."))
}
