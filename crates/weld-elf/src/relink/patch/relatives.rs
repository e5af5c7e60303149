//! The entries of `.rela.dyn` by which the loader adds to pointers where the image is. They are in the order of their
//! places, and the last one stands there once more for each that is spare ([`crate::synth::rela`]).
//!
//! Those of free sections of changed objects are taken out and made anew; of others only the values may be others.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::{LastLink, Left, Patch};
use crate::arch;
use crate::elf::*;
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::guests::Guest;
use crate::relink_state::rewrite_section::Missing;
use crate::relink_state::rows::{InputRow, SectionRow};
use crate::sections::free_sections::FREE;
use crate::sections::lost_groups::NONE;

/// Bytes that are compared, and written, as one.
const BLOCK: usize = 4 << 10;

/// Adds what the table has otherwise. `before` are guests and holes of the last link.
///
/// # Errors
/// Why a full link is needed.
pub fn add(
    job: &Job,
    changes: &Changes,
    (last, guests, holes): (&LastLink, &[Guest], &BTreeSet<u32>),
    patch: &mut Patch,
) -> Result<(), Why> {
    let (relatives, pointers) = (std::mem::take(&mut patch.relatives), std::mem::take(&mut patch.pointers));
    let (left, common) = last.view(job)?;
    let path = changes.objects.first().map(|object| changes.files[object.file].path.clone());
    let unknown = |missing| Why::Object(path.clone().unwrap_or_default(), Changed::Unknown(missing));
    // Where those are that are made anew.
    let mut gone: Vec<Range<u64>> = Vec::new();
    let changed: HashSet<u32> = changes.objects.iter().map(|object| object.row).collect();
    for row in &changed {
        let input: InputRow = left.tables.row((*row).into())?;
        let first = u64::from(input.first_section);
        let rows: Vec<SectionRow> = left.tables.rows(first..first + u64::from(input.sections))?;
        for (number, section) in (input.first_section..).zip(rows) {
            let is_free = section.number & FREE != 0 && section.number != NONE && !holes.contains(&number);
            if is_free {
                // Guests in its yard may be of others.
                let yard = common.yards.iter().find(|yard| yard.row.section == number);
                let size = yard.map_or(section.size, |yard| yard.row.start);
                gone.push(section.address..section.address.saturating_add(size));
            }
        }
    }
    let mine = guests.iter().filter(|guest| changed.contains(&guest.input));
    gone.extend(mine.map(|guest| guest.address..guest.address.saturating_add(guest.size)));
    gone.sort_unstable_by_key(|range| range.start);
    let Some(out) = common.output(b".rela.dyn") else {
        return if relatives.is_empty() && pointers.is_empty() {
            Ok(())
        } else {
            Err(unknown(Missing::Function))
        };
    };
    let is_any = gone.iter().any(|range| {
        let of = common.output_at(range.start).and_then(|number| common.outputs().get(number as usize));
        of.is_some_and(|out| out.flags & SHF_WRITE != 0)
    });
    if !is_any && relatives.is_empty() && pointers.is_empty() {
        return Ok(());
    }
    let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
    let facts = arch::of_file(&header).ok_or(Why::Image)?.facts();
    let format = facts.target.format;
    if !crate::synth::rela::may_have_spares(job.options, format) {
        // Nothing of it is made anew, then.
        return if pointers.is_empty() { Ok(()) } else { Err(unknown(Missing::Function)) };
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
    let is_gone = |place: u64| {
        let at = gone.partition_point(|range| range.start <= place);
        at.checked_sub(1).is_some_and(|at| gone[at].contains(&place))
    };
    real.retain(|entry| !is_gone(entry.r_offset()));
    let entry = |place: u64, value: u64| Rela::make(place, 0, facts.dynamic.relative, value.cast_signed());
    real.extend(relatives.iter().map(|(place, value)| entry(*place, *value)));
    real.sort_by_key(|entry| (entry.r_offset(), entry.0));
    for (path, pointers) in &pointers {
        for (place, value) in pointers {
            let found = real.binary_search_by_key(place, Rela::r_offset);
            let found = found.map_err(|_| Why::Object(path.clone(), Changed::Unknown(Missing::Function)))?;
            real[found] = entry(*place, *value);
        }
    }
    if real.is_empty() && count == 0 {
        // Addresses are known where the image is not moved.
        return Ok(());
    }
    let Some(end) = real.last().copied().filter(|_| real.len() <= count) else {
        return Err(unknown(Missing::Room));
    };
    real.resize(count, end);
    let new: Vec<u8> = real.iter().flat_map(|entry| entry.0).collect();
    for (at, block) in (0..).step_by(BLOCK).zip(new.chunks(BLOCK)) {
        patch.add(out.offset + at as u64, block, &bytes[at..at + block.len()]);
    }
    Ok(())
}
