//! Whether the rows of a state are what others count on: in order, and within bounds where they name others.

use super::State;
use super::rows::*;
use crate::arch::plt::Style;
use crate::ids::PlacementId;
use crate::sections::{InputSection, SectionKind};

/// Whether `row` is one of a table of so many rows, or none.
fn is_row_or_none(row: u32, rows: usize) -> bool {
    row == NONE || is_row(row, rows)
}

fn is_row(row: u32, rows: usize) -> bool {
    (row as usize) < rows
}

/// Whether rows are in order of a key, and no two have the same.
fn ascend<R, K: PartialOrd>(rows: &[R], key: impl Fn(&R) -> K) -> bool {
    rows.is_sorted_by(|a, b| key(a) < key(b))
}

/// Whether a state may be used.
pub fn is_sound(state: &State) -> bool {
    Style::of_code(state.image.plt_style).is_some()
        && state.image.spares <= state.image.jump_slots
        && state.image.spare_words <= state.image.got_words
        && inputs(state)
        && names(state)
        && sections(state)
        && groups(state)
        && slots(state)
}

fn text(state: &State, text: Text) -> bool {
    u64::from(text.start) + u64::from(text.size) <= state.text.len() as u64
}

fn inputs(state: &State) -> bool {
    let (mut mention, mut section) = (0u32, 0u32);
    let mut input = |(row, input): (usize, &InputRow)| {
        let mentions = match input.kind {
            input_kind::OBJECT => input.symbols.checked_sub(input.first_global),
            input_kind::SHARED | input_kind::UNREAD => Some(0),
            _ => None,
        };
        let starts = (input.first_mention, input.first_section) == (mention, section);
        let Some(mentions) = mentions.filter(|_| starts) else { return false };
        let mine = state.mentions.get(mention as usize..).and_then(|rows| rows.get(..mentions as usize));
        let symbols = input.first_global..;
        let are_mine = |rows: &[MentionRow]| {
            rows.iter().zip(symbols).all(|(m, symbol)| (m.input as usize, m.symbol) == (row, symbol))
        };
        let kept =
            state.sections.get(section as usize..).and_then(|rows| rows.get(..input.sections as usize));
        let are_kept = |rows: &[SectionRow]| {
            ascend(rows, |s| s.ordinal)
                && rows.iter().all(|s| s.input as usize == row && s.ordinal < input.headers)
        };
        mention = mention.saturating_add(mentions);
        section = section.saturating_add(input.sections);
        mine.is_some_and(are_mine)
            && kept.is_some_and(are_kept)
            && text(state, input.path)
            && text(state, input.member)
            && is_row_or_none(input.file, state.files.len())
    };
    state.files.iter().all(|file| text(state, file.path) && text(state, file.given))
        && state.inputs.iter().enumerate().all(&mut input)
        && (mention as usize, section as usize) == (state.mentions.len(), state.sections.len())
        && state.outlines.len() == state.inputs.len()
}

fn names(state: &State) -> bool {
    let mentions = &state.mentions;
    let mentioned = |row: &ByName| mentions.get(row.mention as usize).map(|m| (m.name, row.mention));
    let all: Option<Vec<_>> = state.by_name.iter().map(mentioned).collect();
    let Some(all) = all else { return false };
    let name = |(row, name): (usize, &NameRow)| {
        is_row_or_none(name.input, state.inputs.len())
            && is_row_or_none(name.section, state.sections.len())
            && is_row_or_none(name.slot, state.slots.len())
            && name.first_mention as usize == all.partition_point(|mention| (mention.0 as usize) < row)
    };
    // Not every state has the order by names.
    (all.len() == mentions.len() || all.is_empty())
        && ascend(&all, |mention| *mention)
        && mentions.iter().all(|mention| is_row(mention.name, state.names.len()))
        && ascend(&state.names, |name| name.hash)
        && state.names.iter().enumerate().all(name)
}

fn sections(state: &State) -> bool {
    let section = |section: &SectionRow| {
        let others = match section.kind {
            kind if kind == SectionKind::Merge as u8 => state.parts.len(),
            _ => state.sections.len(),
        };
        let kind = SectionKind::of_number(section.kind.into());
        let one = InputSection::new(kind, PlacementId(0), 0, 0);
        section.align_log2 < 64
            && one.in_image()
            && (section.output == NONE && !one.is_copied() || is_row(section.output, state.outputs.len()))
            && is_row_or_none(section.other, others)
    };
    state.sections.iter().all(section)
        && state.outputs.iter().all(|out| text(state, out.name))
        && state.parts.iter().all(|part| is_row_or_none(part.output, state.outputs.len()))
        && state.yards.iter().all(|yard| is_row(yard.section, state.sections.len()))
        && pieces(state)
}

fn pieces(state: &State) -> bool {
    let starts = state.parts.iter().map(|part| part.first_piece as usize);
    let bounds: Vec<usize> = starts.chain([state.pieces.len()]).collect();
    bounds[0] == 0
        && bounds.is_sorted()
        && bounds.windows(2).all(|of_part| {
            state
                .pieces
                .get(of_part[0]..of_part[1])
                .is_some_and(|pieces| ascend(pieces, |piece| (piece.tag, piece.offset)))
        })
}

fn groups(state: &State) -> bool {
    let mut next = 0u32;
    let group = |(row, group): (usize, &GroupRow)| {
        let mine = state.candidates.get(next as usize..).and_then(|c| c.get(..group.candidates as usize));
        let starts = group.first_candidate == next && group.candidates > 0;
        next = next.saturating_add(group.candidates);
        starts && mine.is_some_and(|rows| rows.iter().all(|c| c.group as usize == row))
    };
    ascend(&state.groups, |group| group.name)
        && state.groups.iter().all(|group| is_row(group.name, state.names.len()))
        && state.groups.iter().enumerate().all(group)
        && next as usize == state.candidates.len()
        && state.candidates.iter().all(|candidate| is_row(candidate.input, state.inputs.len()))
}

fn slots(state: &State) -> bool {
    let slot = |(row, slot): (usize, &SlotRow)| match state.names.get(slot.name as usize) {
        Some(name) => name.slot as usize == row,
        None => slot.name == NONE && is_row(slot.input, state.inputs.len()),
    };
    let thunk = |thunk: &ThunkRow| {
        is_row(thunk.output, state.outputs.len())
            && match thunk.goal {
                goal_kind::SECTION => is_row(thunk.of, state.sections.len()),
                goal_kind::PLT => is_row(thunk.of, state.slots.len()),
                goal_kind::NAME => is_row(thunk.of, state.names.len()),
                goal_kind::ABSOLUTE => thunk.of == NONE,
                _ => false,
            }
    };
    ascend(&state.slots, |slot| (slot.name, slot.input, slot.symbol))
        && state.slots.iter().enumerate().all(slot)
        && state.thunks.iter().all(thunk)
}
