//! The tables of a link, for one object alone: ids count from 0, and what is not asked for is not there.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use weld_common::io::input::InputStore;
use weld_common::merge::{MergeInput, Merged};
use weld_common::walk::Marks;

use super::super::State;
use super::super::collect::tag_of;
use super::super::keys;
use super::super::mentions::is_elsewhere;
use super::super::rows::*;
use super::{Added, Known, Missing};
use crate::address::Address;
use crate::arch::Machine;
use crate::compressed::Compressed;
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::got_plt_slots::{NONE as NO_SLOT, Slot, Slots};
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::{Chunk, ChunkKind, FileOffset, Layout, MergedPart, OutputSection};
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::lost_groups::{self, LostSections, Stay};
use crate::sections::rooms::LastRuns;
use crate::sections::{InputSection, ObjectSections, SectionKind, Sections, decode_relocs};
use crate::symbol_names::{Names, Rank, pack};
use crate::symbols::{Symbol, Symbols, symbol_flags};
use crate::synth::thunks::Thunks;

/// The file that the object is.
pub const FILE: FileId = FileId(1);

const _: () = assert!(NO_SLOT == NONE);

/// A name of the object: its row.
pub struct Global {
    pub id: SymbolId,
    pub row: u32,
}

/// The object with its names, and their rows, which must be those of the names if it `compares`.
pub fn resolved<'a>(
    state: &State,
    input: u32,
    object: Object<'a>,
    compares: bool,
) -> Result<(Resolved<'a>, Symbols, Vec<Global>), Missing> {
    let first = state.inputs[input as usize].first_mention as usize;
    let mentions = state.mentions[first..].iter().take_while(|mention| mention.input == input);
    let mut names = Names::new(0);
    let mut list: Vec<Symbol> = Vec::new();
    let mut globals: Vec<Global> = Vec::new();
    for (mention, slot) in mentions.zip(&object.globals) {
        let name = object.symbol_name(mention.symbol);
        let row = &state.names[mention.name as usize];
        if compares && keys::hash(name) != row.hash {
            return Err(Missing::Object);
        }
        let id = names.insert(name);
        slot.store(id.0, Ordering::Relaxed);
        match globals.get(id.index()) {
            Some(known) if known.row != mention.name => return Err(Missing::Names),
            Some(_) => continue,
            None => globals.push(Global { id, row: mention.name }),
        }
        if row.input == input {
            names.get_mut(id).best = pack(Rank::of(row.mentioned), FILE, row.symbol);
        }
        list.push(symbol(state, input, row));
    }
    let resolved = Resolved {
        objects: vec![object],
        shared: Vec::new(),
        names,
        index_of_file: vec![NONE, 0],
        duplicates: Vec::new(),
        commons: Vec::new(),
        shadowed: Vec::new(),
        unversioned: Vec::new(),
        grown: HashMap::new(),
        extractions: Vec::new(),
        has_code: false,
        excluded: HashSet::new(),
        claimed_groups: Default::default(),
    };
    Ok((resolved, Symbols { list }, globals))
}

/// What a name is. Sections of other objects are all one here, number 0, which is in the image.
fn symbol(state: &State, input: u32, row: &NameRow) -> Symbol {
    let is_defined = row.flags & symbol_flags::KIND == symbol_flags::DEFINED;
    let (section, more) = match state.sections.get(row.section as usize) {
        Some(section) if section.input == input => (section.ordinal, 0),
        None if !is_defined => (NONE, 0),
        // What it is defined in is gone.
        None => (0, symbol_flags::IN_DISCARDED),
        Some(_) => (0, 0),
    };
    Symbol::new(row.value, section, row.flags | more)
}

/// The sections of the object that have lost with their groups, or are guests.
pub fn lost_sections(state: &State, input: u32, object: &Object) -> LostSections {
    let (first, own) = (object.first_global, state.inputs[input as usize].first_mention as usize);
    LostSections::by_names(object, |symbol| {
        let mention = symbol.checked_sub(first).and_then(|at| state.mentions.get(own + at as usize));
        let is_beaten = mention.is_some_and(|mention| mention.is_beaten != 0);
        let name = mention.map(|mention| &state.names[mention.name as usize]);
        let section = name.and_then(|name| state.sections.get(name.section as usize));
        let is_guest = section.is_some_and(|row| {
            (row.kind, row.number, row.input) == (SectionKind::Guest as u8, lost_groups::NONE, input)
        });
        match name {
            Some(name) if is_elsewhere(name, input) && !is_beaten => Stay::Elsewhere,
            Some(_) if is_guest => Stay::Guest,
            _ => Stay::Here,
        }
    })
}

/// The sections of the object that are in the image.
pub fn sections<'a>(
    state: &State,
    input: &InputRow,
    (object, lost): (&Object<'a>, &LostSections),
) -> Result<(Sections<'a>, Live), Missing> {
    let mut list = vec![InputSection::default(); object.shdrs.len()];
    let discarded = (0..).zip(&mut list).filter(|(index, _)| lost.contains(*index));
    discarded.for_each(|(_, section)| section.set_kind(SectionKind::Discarded));
    let marks = Marks::new(list.len());
    let mut live = Live::new(marks);
    // The null section stands for those of other objects.
    live.keep(SectionId(0));
    if state.image.has_sizes != 0 {
        live.note_size();
    }
    for row in state.sections_of(input) {
        let id = SectionId(row.ordinal);
        let kind = SectionKind::of_number(row.kind.into());
        if kind == SectionKind::Shrunk {
            return Err(Missing::Cuts);
        }
        // What is merged may be more than it was.
        let size = match kind {
            SectionKind::Merge => row.size.max(object.shdrs[id.index()].sh_size()),
            _ => row.size,
        };
        let section = &mut list[id.index()];
        *section = InputSection::new(kind, PlacementId(row.output), row.align_log2.into(), size);
        section.set_offset(row.address);
        live.keep(id);
        if kind == SectionKind::Folded {
            live.folds.pairs.push((id, id));
        }
    }
    let mut extra = ObjectSections::default();
    for (index, shdr) in (0..).zip(object.shdrs) {
        let target = shdr.sh_info() as usize;
        if !matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL) || target >= list.len() {
            continue;
        }
        if !list[target].in_image() {
            continue;
        }
        list[target].relocs = index;
        match decode_relocs(object, index as usize).map_err(|_| Missing::Object)? {
            Cow::Borrowed(_) => {}
            Cow::Owned(relocs) => extra.decoded.add(index, &relocs),
        }
    }
    let (word, has_rooms) = (object.format().word(), state.image.has_rooms != 0);
    let last_runs =
        has_rooms.then(|| LastRuns { of_file: HashMap::from([(FILE, input.runs())]), searched: 0 });
    let mut sections =
        Sections { list, objects: vec![extra], word, has_rooms, last_runs, ..Sections::default() };
    parse_frames(object, &mut sections)?;
    Ok((sections, live))
}

/// Reads the object's frames.
fn parse_frames(object: &Object, sections: &mut Sections) -> Result<(), Missing> {
    let mut eh_frames = Vec::new();
    for (index, section) in (0..).zip(&sections.list) {
        if section.kind() == SectionKind::EhFrame {
            let relocs = sections.relocs(object, 0, section);
            let data = object.section_data(index as usize).unwrap_or(&[]);
            let is_wrong = |reloc: &Rela| reloc.sym() as usize >= object.syms.len();
            let frames = EhFrame::parse(data, object.format(), relocs, |reloc| reloc.r_offset());
            match frames {
                Ok(frames) if !relocs.iter().any(is_wrong) => eh_frames.push((index, frames)),
                _ => return Err(Missing::Object),
            }
        }
    }
    sections.objects[0].eh_frames = eh_frames;
    Ok(())
}

/// The parts that sections of the object were merged into, as far as they have pieces of those.
pub fn merged<'a>(
    known: &Known,
    input: &InputRow,
    object: &Object<'a>,
    store: &'a InputStore<'a>,
    sections: &mut Sections<'a>,
) -> Result<Vec<MergedPart<'a>>, Missing> {
    let state = known.state;
    let mut inputs: Vec<Vec<MergeInput>> = vec![Vec::new(); state.parts.len()];
    for row in state.sections_of(input) {
        if row.kind != SectionKind::Merge as u8 {
            continue;
        }
        let part = state.parts.get(row.other as usize).ok_or(Missing::Piece)?;
        let shdr = &object.shdrs[row.ordinal as usize];
        if known.passes_over(shdr) {
            continue;
        }
        // What debuggers read is merged with what has its name: else the object has another section in front of it.
        let name = state.outputs.get(part.output as usize).map(|out| state.text(out.name));
        if shdr.sh_flags() & SHF_ALLOC == 0 && name != object.section_name(row.ordinal as usize) {
            return Err(Missing::Section);
        }
        let raw = object.section_data(row.ordinal as usize).ok_or(Missing::Object)?;
        let packed = object.shdrs[row.ordinal as usize].sh_flags() & SHF_COMPRESSED != 0;
        let unpack = || Compressed::parse(raw, object.format())?.decompress();
        let data = if packed { store.keep(unpack().map_err(|_| Missing::Object)?) } else { raw };
        let align = 1u32.checked_shl(row.align_log2.into()).ok_or(Missing::Object)?;
        let mine = &mut inputs[row.other as usize];
        sections.list[row.ordinal as usize].set_merged(row.other, mine.len() as u32);
        mine.push(MergeInput { data, entsize: part.entsize, strings: part.strings != 0, align });
    }
    let part = |(part, (row, inputs)): (u32, (&PartRow, &Vec<MergeInput<'a>>))| {
        let merged = Merged::found_again(inputs, Vec::new(), |piece| known.find(part, row, piece));
        Ok(MergedPart {
            merged: merged.ok_or(Missing::Piece)?,
            chunk: ChunkId(part + 1),
            bin: PlacementId(row.output),
            entsize: row.entsize,
            strings: row.strings != 0,
        })
    };
    (0..).zip(state.parts.iter().zip(&inputs)).map(part).collect()
}

impl Known<'_> {
    /// Where in its part a piece is: there are the same bytes.
    fn find(&self, number: u32, part: &PartRow, piece: &[u8]) -> Option<u32> {
        let out = self.state.outputs.get(part.output as usize)?;
        let start = out.offset.wrapping_add(part.address.wrapping_sub(out.address));
        let terminator = if part.strings != 0 { part.entsize as usize } else { 0 };
        let tag = tag_of(piece, terminator.min(piece.len()));
        let is_there =
            |row: &PieceRow| start.checked_add(row.offset.into()).is_some_and(|at| self.left.has(at, piece));
        let found = self.left.pieces(number, tag).into_iter().find(is_there).map(|row| row.offset);
        found.or_else(|| self.left.add(number, Added { part, start, tag, bytes: piece }))
    }
}

/// The slots of names, and of local symbols.
pub fn slots(state: &State, input: u32, mut globals: Vec<Global>) -> Slots {
    let bound = globals.len();
    globals.retain(|global| state.names[global.row as usize].slot != NONE);
    let of_global = |global: &Global| {
        let row = &state.slots[state.names[global.row as usize].slot as usize];
        slot(row, global.id, None)
    };
    let mut list: Vec<Slot> = globals.iter().map(of_global).collect();
    let first = state.slots.partition_point(|row| (row.name, row.input) < (NONE, input));
    let locals = state.slots[first..].iter().take_while(|row| row.input == input);
    list.extend(locals.map(|row| slot(row, SymbolId::NONE, Some((ObjectId(0), row.symbol)))));
    let mut slots = Slots::found_again(list, bound);
    let image = &state.image;
    slots.jump_slots = image.jump_slots;
    slots.spares = image.spares;
    slots.reserved = image.reserved;
    slots.tls_ld = (image.tls_ld != NONE).then_some(image.tls_ld);
    slots
}

fn slot(row: &SlotRow, id: SymbolId, local: Option<(ObjectId, u32)>) -> Slot {
    Slot {
        id,
        local,
        got: row.got,
        got_tp: row.got_tp,
        tls_gd: row.tls_gd,
        tls_desc: row.tls_desc,
        plt: row.plt,
        signed: row.signed & 1 != 0,
        code: row.signed & 2 != 0,
        definition: Address::new(row.definition),
    }
}

/// Where output sections are, each of which has a bin of the same number, and the parts of them that
/// relocations count from: frames, then what is merged.
pub fn layout<'a>(state: &State, machine: Machine) -> Layout<'a> {
    let section = |row: &OutputRow| {
        let name = state.text(row.name).to_owned();
        let mut out = OutputSection::new(Cow::Owned(name), row.kind, row.flags, 0);
        (out.address, out.offset, out.size, out.align) =
            (Address::new(row.address), FileOffset(row.offset), row.size, row.align);
        out
    };
    let frames = chunk(ChunkKind::EhFrame, state.image.eh_frame, NONE);
    let part = |(i, row): (u32, &PartRow)| chunk(ChunkKind::Merged(i), row.address, row.output);
    Layout {
        format: machine.facts().target.format,
        sections: state.outputs.iter().map(section).collect(),
        chunks: std::iter::once(frames).chain((0..).zip(&state.parts).map(part)).collect(),
        of_bin: (0..state.outputs.len() as u32).map(OutputSectionId).collect(),
        file_size: state.image.file_size,
        ..Layout::default()
    }
}

fn chunk(kind: ChunkKind, address: u64, out: u32) -> Chunk {
    let mut chunk = Chunk::new(kind, 0, 1, OutputSectionId(out));
    chunk.move_to(Address::new(address));
    chunk
}

pub fn thunks(state: &State, options: &Options) -> Thunks {
    let found = state
        .thunks
        .iter()
        .map(|row| (OutputSectionId(row.output), Address::new(row.target), Address::new(row.address)));
    Thunks::found_again(found.collect(), options)
}
