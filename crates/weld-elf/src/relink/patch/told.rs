//! What the loader is told in `.rela.dyn`: by entries to add to pointers where the image is, which are in the order of
//! their places, and the last of which stands there once more for each that is spare; and then by others, in the order of
//! symbols, whose spare ones do nothing ([`crate::synth::rela`]).
//!
//! Those of free sections of changed objects are taken out and made anew; of others only the values may be others.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::{LastLink, Left, Patch};
use crate::arch;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::guests::Guest;
use crate::relink_state::rewrite_section::{Full, Missing, Of, Pointer, Told};
use crate::relink_state::rows::{InputRow, OutputRow};
use crate::sections::free_sections::FREE;
use crate::sections::lost_groups::NONE;
use crate::synth::rela;

/// Bytes of the table that are looked at together, whole entries.
const PART: usize = Rela::SIZE << 11;

/// Bytes that are compared, and written, as one.
const BLOCK: usize = 4 << 10;

/// Adds what the table has otherwise. `of_gone` are words of the GOT of names that are gone, or were.
///
/// # Errors
/// Why a full link is needed.
pub fn add(
    job: &Job,
    changes: &Changes,
    (last, guests, holes): (&LastLink, &[Guest], &BTreeSet<u32>),
    (patch, of_gone): (&mut Patch, &[u64]),
) -> Result<(), Why> {
    let (Told { mut relative, symbolic }, pointers) =
        (std::mem::take(&mut patch.told), std::mem::take(&mut patch.pointers));
    let (left, common) = last.view(job)?;
    let is_none = relative.is_empty() && symbolic.is_empty() && pointers.is_empty();
    let path = changes.objects.first().map(|object| changes.files[object.file].path.clone());
    let unknown = |missing| Why::Object(path.clone().unwrap_or_default(), Changed::Unknown(missing));
    let is_written = |output: Option<u32>| {
        let out = output.and_then(|output| common.outputs().get(output as usize));
        out.is_some_and(|out| out.flags & SHF_WRITE != 0)
    };
    // Where those are that are made anew.
    let mut gone: Vec<Range<u64>> = Vec::new();
    let changed: HashSet<u32> = changes.objects.iter().map(|object| object.row).collect();
    for row in &changed {
        let input: InputRow = left.tables.row((*row).into())?;
        let mut rows = left.tables.sections_of(&input)?;
        let words = common.put_init_arrays(*row, &mut rows);
        gone.extend(words.map(|words| words.address..words.address.saturating_add(words.size)));
        for (number, section) in (input.first_section..).zip(rows) {
            let is_free = section.number & FREE != 0 && section.number != NONE && !holes.contains(&number);
            // What is merged is free, too, and has no address.
            if is_free && is_written(Some(section.output)) {
                // Guests in its yard may be of others.
                let yard = common.yards.iter().find(|yard| yard.row.section == number);
                let size = yard.map_or(section.size, |yard| yard.row.start);
                gone.push(section.address..section.address.saturating_add(size));
            }
        }
    }
    let mine = guests
        .iter()
        .filter(|guest| changed.contains(&guest.input) && is_written(common.output_at(guest.address)));
    gone.extend(mine.map(|guest| guest.address..guest.address.saturating_add(guest.size)));
    gone.extend(of_gone.iter().map(|word| *word..word.saturating_add(8)));
    let is_any = !gone.is_empty();
    let (count, first) = common.spare_words();
    if count > 0 {
        gone.push(first..first + 8 * u64::from(count));
    }
    gone.retain(|range| !range.is_empty());
    gone.sort_unstable_by_key(|range| range.start);
    let Some(out) = common.output(b".rela.dyn") else {
        return if is_none { Ok(()) } else { Err(unknown(Missing::Function)) };
    };
    // Words of the GOT may be free again.
    if !is_any && is_none && last.memo.words.is_empty() {
        return Ok(());
    }
    let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
    let facts = arch::of_file(&header).ok_or(Why::Image)?.facts();
    let format = facts.target.format;
    if !rela::may_have_spares(job.options, format) {
        // Nothing of it is made anew, then.
        return if pointers.is_empty() { Ok(()) } else { Err(unknown(Missing::Function)) };
    }
    let is_gone = |entry: &Rela| is_among(&gone, entry.r_offset()..entry.r_offset().saturating_add(1));
    relative.sort_unstable();
    let mut values: Vec<Pointer> = pointers.iter().flat_map(|(_, pointers)| pointers).copied().collect();
    // Those of free sections are among the entries that are made anew.
    values.retain(|(place, _)| !is_among(&gone, *place..place.saturating_add(1)));
    values.sort_unstable();
    if has(&left, (out, facts), &gone, (&relative, &symbolic, &values))? {
        return Ok(());
    }
    let bytes =
        left.read(out.offset, usize::try_from(out.size).map_err(|_| Why::Image)?).ok_or(Why::Image)?;
    let (entries, _) = bytes.as_chunks::<{ Rela::SIZE }>();
    let is_relative = |entry: &&[u8; Rela::SIZE]| Rela(**entry).kind() == facts.dynamic.relative;
    let all: Vec<Rela> = entries.iter().take_while(is_relative).map(|entry| Rela(*entry)).collect();
    let count = all.len();
    let mut real = all;
    while let [.., before, end] = &real[..]
        && before.0 == end.0
    {
        real.pop();
    }
    real.retain(|entry| !is_gone(entry));
    let entry = |place: u64, value: u64| Rela::make(place, 0, facts.dynamic.relative, value.cast_signed());
    real.extend(relative.iter().map(|(place, value)| entry(*place, *value)));
    real.sort_by_key(|entry| (entry.r_offset(), entry.0));
    for (path, pointers) in &pointers {
        for (place, value) in pointers {
            let found = real.binary_search_by_key(place, Rela::r_offset);
            let found = found.map_err(|_| Why::Object(path.clone(), Changed::Unknown(Missing::Function)))?;
            real[found] = entry(*place, *value);
        }
    }
    if count > 0 || !real.is_empty() {
        // Where the image is not moved, addresses are known, and there are none.
        let end = real.last().copied().filter(|_| real.len() <= count);
        let (has, wants) = (count as u64, real.len() as u64);
        let full = Full { input: NONE, of: Of::RelativeRelocs, has, wants };
        real.resize(count, end.ok_or_else(|| unknown(Missing::Room(full)))?);
    }
    let others = with_symbolic(entries[count..].iter().copied().map(Rela), (facts, is_gone), symbolic);
    real.extend(others.map_err(|full| unknown(Missing::Room(full)))?);
    let new: Vec<u8> = real.iter().flat_map(|entry| entry.0).collect();
    for (at, block) in (0..).step_by(BLOCK).zip(new.chunks(BLOCK)) {
        patch.add(out.offset + at as u64, block, &bytes[at..at + block.len()]);
    }
    Ok(())
}

/// Whether some of these addresses are in one of `ranges`, which are in order.
fn is_among(ranges: &[Range<u64>], addresses: Range<u64>) -> bool {
    let at = ranges.partition_point(|range| range.start < addresses.end);
    at.checked_sub(1).is_some_and(|at| ranges[at].end > addresses.start)
}

/// Whether of what is made anew the table has these entries and no others, so that it is in the order that it would be
/// in, and pointers have these values.
fn has(
    left: &impl Left,
    (out, facts): (&OutputRow, &Facts),
    gone: &[Range<u64>],
    (relative, symbolic, pointers): (&[Pointer], &[Rela], &[Pointer]),
) -> Result<bool, Why> {
    let is_it = |entry: &Rela, (place, value): &Pointer| {
        entry.0 == Rela::make(*place, 0, facts.dynamic.relative, value.cast_signed()).0
    };
    let mut wanted = relative.iter().peekable();
    let (mut last, mut others, mut count) = (None, Vec::new(), 0);
    let starts: Vec<u64> = (0..out.size).step_by(PART).collect();
    let first_of = |start: &u64| left.read(out.offset + start, Rela::SIZE)?.try_into().ok().map(Rela);
    let firsts: Vec<Rela> = starts.iter().map(first_of).collect::<Option<_>>().ok_or(Why::Image)?;
    for (number, start) in starts.into_iter().enumerate() {
        // Where all are relative they are in order.
        if let [here, next, ..] = &firsts[number..]
            && next.kind() == facts.dynamic.relative
        {
            let places = here.r_offset()..next.r_offset().saturating_add(1);
            let at = pointers.partition_point(|(place, _)| *place < places.start);
            let has_pointers = pointers.get(at).is_some_and(|(place, _)| places.contains(place));
            if !has_pointers && !is_among(gone, places) {
                continue;
            }
        }
        let size = (out.size - start).min(PART as u64);
        let part = left.read(out.offset + start, size as usize).ok_or(Why::Image)?;
        for entry in part.as_chunks::<{ Rela::SIZE }>().0.iter().map(|entry| Rela(*entry)) {
            let place = entry.r_offset();
            let is_gone = is_among(gone, place..place.saturating_add(1));
            let pointer = pointers.binary_search_by_key(&place, |(place, _)| *place).ok();
            // Spare ones are the last one once more.
            if !is_gone && pointer.is_none() || last == Some(entry.0) {
                continue;
            }
            last = Some(entry.0);
            if !is_gone {
                if pointer.is_none_or(|at| !is_it(&entry, &pointers[at])) {
                    return Ok(false);
                }
                count += 1;
            } else if is_by_name(facts, &entry) {
                others.push(entry);
            } else if wanted.next_if(|wanted| is_it(&entry, wanted)).is_none() {
                return Ok(false);
            }
        }
    }
    let in_order = |list: &[Rela]| {
        let mut list: Vec<_> = list.iter().map(rela::by_symbol).collect();
        list.sort_unstable();
        list
    };
    let are_all = wanted.next().is_none() && count == pointers.len();
    Ok(are_all && in_order(&others) == in_order(symbolic))
}

/// Whether an entry has the loader put the address of what it finds by name somewhere.
fn is_by_name(facts: &Facts, entry: &Rela) -> bool {
    [facts.dynamic.address, facts.dynamic.glob_dat].contains(&entry.kind())
}

/// Entries that are not relative, without those that are gone and with `more`, as many as there were; what calls
/// resolvers is behind them.
///
/// # Errors
/// If there are not enough spare ones.
fn with_symbolic(
    all: impl Iterator<Item = Rela>,
    (facts, is_gone): (&Facts, impl Fn(&Rela) -> bool),
    more: Vec<Rela>,
) -> Result<Vec<Rela>, Full> {
    let all: Vec<Rela> = all.collect();
    let spare = rela::spare(facts);
    let is_call = |entry: &Rela| Some(entry.kind()) == facts.dynamic.irelative;
    let (others, calls) = all.split_at(all.iter().position(is_call).unwrap_or(all.len()));
    let stays = |entry: &&Rela| entry.0 != spare.0 && !(is_by_name(facts, entry) && is_gone(entry));
    let mut real: Vec<Rela> = others.iter().filter(stays).copied().chain(more).collect();
    real.sort_by_key(rela::by_symbol);
    let (has, wants) = (others.len() as u64, real.len() as u64);
    let full = Full { input: NONE, of: Of::SymbolicRelocs, has, wants };
    let free = others.len().checked_sub(real.len()).ok_or(full)?;
    let spares = std::iter::repeat_n(spare, free);
    Ok(spares.chain(real).chain(calls.iter().copied()).collect())
}
