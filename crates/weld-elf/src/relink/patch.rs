//! What the image is to have in other bytes, found without writing any.
//!
//! A changed object whose outline is as it was ([`crate::relink_state::outline`]) changes nothing but the
//! bytes of its own sections. They are written again, each by itself
//! ([`crate::relink_state::rewrite_section`]), and compared with what the image has. The image that is
//! written to need not be the one that is compared with; where the two differ, and where bytes change, hashes
//! tell whether it still is what the last link wrote.

use std::cell::OnceCell;
use std::fs::File;
use std::ops::Range;
use std::thread;

use weld_common::diag::DiagSink;
use weld_common::digest::{SIZE as DIGEST, UnitDigest};
use weld_common::io::spare;
use weld_common::io::units::{Leaf, Leaves};

use super::changes::{Changed as ChangedObject, Changes};
use super::full_link_reason::{Changed, Why};
use super::memo::Memo;
use crate::arch;
use crate::job::Job;
use crate::relink_state::excerpt::{self, Common};
use crate::relink_state::file::StateFile;
use crate::relink_state::rewrite_section::{Alone, Known, Left, Write};
use crate::relink_state::rows::{InputRow, PieceRow, SectionRow, input_kind};
use crate::relink_state::{State, Unreadable};
use crate::sections::SectionKind;

/// What an image is made another one by.
#[derive(Default)]
pub struct Patch {
    /// In the order of the file; none overlaps another.
    pub writes: Vec<Write>,
    /// Sections that differ, and objects that they are of.
    pub sections: usize,
    pub objects: usize,
}

/// What the last link has left.
pub struct LastLink<'l> {
    pub tables: &'l File,
    /// What identifies the tables, and who wrote them.
    pub digest: [u8; DIGEST],
    pub build: UnitDigest,
    pub image: &'l File,
}

/// The same as one thread looks at it.
struct View<'v> {
    tables: StateFile<'v>,
    image: &'v File,
    /// Parts of the image that were looked at, by number: many pieces lie in each.
    known: Vec<OnceCell<Vec<u8>>>,
}

/// Bytes of a part of the image.
const PART: u64 = 64 << 10;

impl Left for View<'_> {
    /// If the tables are damaged, there is none.
    fn pieces(&self, part: u32, tag: u32) -> Vec<PieceRow> {
        excerpt::pieces(&self.tables, part, tag).unwrap_or_default()
    }

    fn read(&self, offset: u64, size: usize) -> Option<Vec<u8>> {
        let length = self.image.metadata().ok()?.len();
        offset.checked_add(size as u64).filter(|end| *end <= length)?;
        let mut bytes = vec![0; size];
        spare::read_exact_at(self.image, &mut bytes, offset).ok()?;
        Some(bytes)
    }

    fn has(&self, mut offset: u64, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let (number, at) = (offset / PART, (offset % PART) as usize);
            let known = usize::try_from(number).ok().and_then(|number| self.known.get(number));
            let Some(part) = known.map(|known| known.get_or_init(|| self.part(number))) else { return false };
            let (here, later) = bytes.split_at(bytes.len().min(PART as usize - at));
            if part.get(at..at + here.len()) != Some(here) {
                return false;
            }
            (offset, bytes) = (offset + here.len() as u64, later);
        }
        true
    }
}

impl View<'_> {
    /// A part of the image, as much of it as there is.
    fn part(&self, number: u64) -> Vec<u8> {
        let start = number.saturating_mul(PART);
        let size = self.image.metadata().map_or(0, |meta| meta.len());
        let mut part = vec![0; size.saturating_sub(start).min(PART) as usize];
        match spare::read_exact_at(self.image, &mut part, start) {
            Ok(()) => part,
            Err(_) => Vec::new(),
        }
    }
}

/// The bytes of an image that changed objects make others.
///
/// # Errors
/// Why a full link is needed.
pub fn of_objects(job: &Job, changes: &Changes, last: &LastLink) -> Result<Patch, Why> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (changes.objects.len() / OBJECTS).clamp(1, THREADS.min(cores));
    let mut runs = changes.objects.chunks(changes.objects.len().div_ceil(threads).max(1));
    let own = runs.next().unwrap_or_default();
    let of_run = |run: &[ChangedObject]| of_run(job, changes, run, last);
    let found: Result<Vec<Patch>, Why> = thread::scope(|scope| {
        let start = |run| (run, thread::Builder::new().spawn_scoped(scope, move || of_run(run)));
        let others: Vec<_> = runs.map(start).collect();
        let mut found = vec![of_run(own)];
        for (run, other) in others {
            // Without another thread, this one does it.
            let patch = other.ok().and_then(|thread| thread.join().ok());
            found.push(patch.unwrap_or_else(|| of_run(run)));
        }
        found.into_iter().collect()
    });
    let mut patch = Patch::default();
    for mut of_run in found? {
        patch.writes.append(&mut of_run.writes);
        patch.sections += of_run.sections;
        patch.objects += of_run.objects;
    }
    patch.writes.sort_unstable_by_key(|(offset, _)| *offset);
    Ok(patch)
}

/// Objects that are worth a thread, and how many threads there are at most.
const OBJECTS: usize = 2;
const THREADS: usize = 8;

fn of_run(job: &Job, changes: &Changes, objects: &[ChangedObject], last: &LastLink) -> Result<Patch, Why> {
    let mut patch = Patch::default();
    let tables = StateFile::open(last.tables, last.build)?;
    if tables.digest().bytes() != last.digest {
        return Err(Why::Unreadable(Unreadable::Damaged));
    }
    let common = Common::read(&tables)?;
    let parts = last.image.metadata().map_or(0, |meta| meta.len().div_ceil(PART));
    let left = View { tables, image: last.image, known: vec![OnceCell::new(); parts as usize] };
    for object in objects {
        let path = &changes.files[object.file].path;
        let changed = |changed| Why::Object(path.clone(), changed);
        let data = job.store.open(path).map_err(|e| Why::System(e.to_string()))?;
        let data = data.ok_or_else(|| Why::Gone(path.clone()))?;
        let data = match &object.member {
            Some(place) => data.get(place.clone()).ok_or_else(|| Why::Changing(path.clone()))?,
            None => data,
        };
        let state = excerpt::of(&left.tables, &common, object.row)?;
        let machine = arch::of_file(data).ok_or_else(|| changed(Changed::Shape))?;
        let known = Known { state: &state, options: job.options, machine, left: &left };
        let alone =
            Alone::new(known, 0, data, job.store).map_err(|missing| changed(Changed::Unknown(missing)))?;
        let (before, now) = (state.outlines[0], alone.outline());
        if before.shape != now.shape {
            return Err(changed(Changed::Shape));
        }
        if before.contents != now.contents {
            return Err(changed(Changed::Contents));
        }
        if before.needs != now.needs {
            return Err(changed(Changed::Needs));
        }
        let before = patch.writes.len();
        let emitted = emit(&state, &alone, last.image, &mut patch);
        emitted.and_then(|()| emit_tables(&alone, last.image, &mut patch)).map_err(|why| match why {
            Failure::Object(what) => changed(what),
            Failure::Image => Why::Image,
        })?;
        patch.objects += usize::from(patch.writes.len() > before);
    }
    Ok(patch)
}

enum Failure {
    Object(Changed),
    Image,
}

/// Adds those sections of an object that the image has otherwise.
fn emit(state: &State, alone: &Alone, image: &File, patch: &mut Patch) -> Result<(), Failure> {
    let input: &InputRow = &state.inputs[0];
    debug_assert_eq!(input.kind, input_kind::OBJECT);
    let (mut bytes, mut there) = (Vec::new(), Vec::new());
    for section in state.sections_of(input) {
        let kind = SectionKind::of_number(section.kind.into());
        if !matches!(kind, SectionKind::Regular | SectionKind::Compressed | SectionKind::Reversed) {
            continue;
        }
        let place = place(state, section).ok_or(Failure::Image)?;
        let size = (place.end - place.start) as usize;
        there.resize(size, 0);
        spare::read_exact_at(image, &mut there, place.start).map_err(|_| Failure::Image)?;
        bytes.clear();
        bytes.resize(size, 0);
        let sink = DiagSink::new();
        alone
            .emit(section.ordinal, &mut bytes, &sink)
            .map_err(|missing| Failure::Object(Changed::Unknown(missing)))?;
        if let Some(wrong) = sink.finish().first() {
            return Err(Failure::Object(Changed::Wrong(wrong.message.clone())));
        }
        patch.sections += usize::from(patch.add(place.start, &bytes, &there));
    }
    Ok(())
}

/// Adds what the image has otherwise of what belongs to sections and lies in tables of the whole image:
/// frames, and sizes of functions.
fn emit_tables(alone: &Alone, image: &File, patch: &mut Patch) -> Result<(), Failure> {
    let sink = DiagSink::new();
    let unknown = |missing| Failure::Object(Changed::Unknown(missing));
    let frames = alone.frames(&sink).map_err(unknown)?;
    let sizes = alone.sizes(&sink).map_err(unknown)?;
    if let Some(wrong) = sink.finish().first() {
        return Err(Failure::Object(Changed::Wrong(wrong.message.clone())));
    }
    let mut there = Vec::new();
    for (offset, bytes) in frames.iter().chain(&sizes) {
        there.resize(bytes.len(), 0);
        spare::read_exact_at(image, &mut there, *offset).map_err(|_| Failure::Image)?;
        patch.add(*offset, bytes, &there);
    }
    Ok(())
}

impl Patch {
    /// Adds what of `bytes` is not what is `there`, at `offset` of the file. Whether there is any.
    fn add(&mut self, offset: u64, bytes: &[u8], there: &[u8]) -> bool {
        let differs = |(a, b): (&u8, &u8)| a != b;
        let Some(first) = bytes.iter().zip(there).position(differs) else { return false };
        let last = bytes.iter().zip(there).rposition(differs).unwrap_or(first);
        self.writes.push((offset + first as u64, bytes[first..=last].to_vec()));
        true
    }
}

/// Where in the file a section is.
fn place(state: &State, section: &SectionRow) -> Option<Range<u64>> {
    let out = state.outputs.get(section.output as usize)?;
    let inside = section.address.checked_sub(out.address)?;
    let end = inside.checked_add(section.size).filter(|end| *end <= out.size)?;
    let start = out.offset.checked_add(inside)?;
    (out.offset.checked_add(end)? <= state.image.file_size).then_some(start..start + section.size)
}

/// The leaves of an image with these writes. Those that are written to, and those where the images differ,
/// must be what the last link has written.
///
/// # Errors
/// If they are not.
pub fn leaves(memo: &Memo, image: &File, writes: &[Write]) -> Result<Leaves, Why> {
    let mut leaves = memo.leaves.clone();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (unit, parts) in leaves.iter().enumerate() {
        order.extend((0..parts.len()).map(|part| (unit, part)));
    }
    order.sort_unstable_by_key(|(unit, part)| leaves[*unit][*part].offset);
    let written = writes.iter().map(|(offset, bytes)| *offset..*offset + bytes.len() as u64);
    let mut touched = joined(memo.last.iter().cloned().chain(written)).into_iter().peekable();
    let mut bytes = Vec::new();
    for (unit, part) in order {
        let leaf: &mut Leaf = &mut leaves[unit][part];
        let end = leaf.offset + leaf.size;
        let mut is_touched = false;
        // What begins in this leaf, or goes on in it.
        while let Some(range) = touched.peek_mut().filter(|range| range.start < end) {
            if range.start < leaf.offset {
                // It lies in no leaf.
                return Err(Why::Image);
            }
            is_touched = true;
            if range.end > end {
                range.start = end;
                break;
            }
            touched.next();
        }
        if is_touched {
            read_leaf(image, leaf, &memo.id, &mut bytes).map_err(|_| Why::Image)?;
            if UnitDigest::of(&bytes) != leaf.digest {
                return Err(Why::Image);
            }
            if apply(writes, leaf, &mut bytes) {
                leaf.digest = UnitDigest::of(&bytes);
            }
        }
    }
    touched.next().map_or(Ok(leaves), |_| Err(Why::Image))
}

/// Ranges that do not touch one another, in order, of what `ranges` cover.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.filter(|range| !range.is_empty()).collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

/// Reads what a leaf is the hash of: the build id is zeroes there.
fn read_leaf(image: &File, leaf: &Leaf, id: &Range<u64>, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    bytes.resize(usize::try_from(leaf.size).unwrap_or(usize::MAX), 0);
    spare::read_exact_at(image, bytes, leaf.offset)?;
    let (start, end) = (id.start.max(leaf.offset), id.end.min(leaf.offset + leaf.size));
    if start < end {
        bytes[(start - leaf.offset) as usize..(end - leaf.offset) as usize].fill(0);
    }
    Ok(())
}

/// Puts what belongs there into the bytes of a leaf; whether there is any.
fn apply(writes: &[Write], leaf: &Leaf, bytes: &mut [u8]) -> bool {
    let leaf_end = leaf.offset + leaf.size;
    let first = writes.partition_point(|(offset, new)| *offset + new.len() as u64 <= leaf.offset);
    let inside = writes[first..].iter().take_while(|(offset, _)| *offset < leaf_end);
    let mut any = false;
    for (offset, new) in inside {
        let (start, end) = ((*offset).max(leaf.offset), (offset + new.len() as u64).min(leaf_end));
        let from = (start - offset) as usize..(end - offset) as usize;
        bytes[(start - leaf.offset) as usize..(end - leaf.offset) as usize].copy_from_slice(&new[from]);
        any = true;
    }
    any
}

/// Whether an image is what the last link wrote, as far as leaves tell, which is all but large holes.
pub fn is_whole(memo: &Memo, image: &File) -> bool {
    let mut bytes = Vec::new();
    memo.leaves.iter().flatten().all(|leaf| {
        read_leaf(image, leaf, &memo.id, &mut bytes).is_ok() && UnitDigest::of(&bytes) == leaf.digest
    })
}
