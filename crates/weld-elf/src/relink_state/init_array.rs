//! Which words of `.init_array` objects have, and where, if not what the tables say ([`crate::sections::init_array`]): those
//! behind what has come or gone have moved.

use std::collections::BTreeMap;

use super::excerpt::Common;
use super::extents::Cuts;
use super::file::{StateFile, Unreadable};
use super::free_sections::{Changed, Refused};
use super::guests::NoPlace;
use super::rows::*;
use crate::sections::free_sections::INIT_ARRAY;
use crate::sections::init_array::{NAME, WORD};
use crate::sections::yards::Kind;

/// What an object has of other size than the tables say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Where in the tables it begins, or would.
    pub start: u64,
    /// Bytes in the tables, and now.
    pub before: u64,
    pub now: u64,
}

/// By the rows of inputs.
pub type InitArrays = BTreeMap<u32, Words>;

/// Bytes that were spare when the tables were written, and are not.
pub fn taken(arrays: &InitArrays) -> i64 {
    arrays.values().map(|words| words.now.wrapping_sub(words.before).cast_signed()).fold(0, i64::wrapping_add)
}

/// Where words are that have moved.
pub struct Places {
    /// Behind which place of the tables, of which input, and how far what follows has moved.
    steps: Vec<((u64, u32), i64)>,
}

impl Places {
    pub fn of(arrays: &InitArrays) -> Places {
        let step = |(input, words): (&u32, &Words)| {
            let by = words.now.wrapping_sub(words.before).cast_signed();
            ((words.start.wrapping_add(words.before), *input), by)
        };
        let mut steps: Vec<((u64, u32), i64)> = arrays.iter().map(step).collect();
        steps.sort_unstable();
        let mut all = 0i64;
        for (_, by) in &mut steps {
            all = all.wrapping_add(*by);
            *by = all;
        }
        Places { steps }
    }

    /// Where what an input has at an address of the tables is.
    pub fn moved(&self, address: u64, input: u32) -> u64 {
        let behind = self.steps.partition_point(|(place, _)| *place < (address, input));
        let by = behind.checked_sub(1).map_or(0, |last| self.steps[last].1);
        address.wrapping_add_signed(by)
    }
}

/// The output section, if there are words that are spare.
pub struct Array {
    pub out: OutputRow,
    /// Those of the object that has yards.
    pub spare: SectionRow,
}

impl Array {
    /// # Errors
    /// If the tables are damaged.
    pub fn of(file: &StateFile, common: &Common) -> Result<Option<Array>, Unreadable> {
        let Some(yard) = common.yards.first() else { return Ok(None) };
        let input: InputRow = file.row(yard.host.input.into())?;
        let spare = file.sections_of(&input)?.into_iter().find(|row| row.number == INIT_ARRAY);
        Ok(spare.and_then(|spare| {
            let out = *common.outputs().get(spare.output as usize)?;
            let end = spare.address.checked_add(spare.size)?;
            let is_last = end == out.address.checked_add(out.size)?;
            (is_last && out.address % WORD == 0).then_some(Array { out, spare })
        }))
    }

    /// The rows of all sections that lie there.
    fn rows(&self, file: &StateFile) -> Result<Vec<SectionRow>, Unreadable> {
        let mut found = Vec::new();
        let count = file.count::<SectionRow>();
        for first in (0..count).step_by(ROWS as usize) {
            let rows: Vec<SectionRow> = file.rows(first..count.min(first + ROWS))?;
            found.extend(rows.into_iter().filter(|row| row.output == self.spare.output));
        }
        Ok(found)
    }
}

/// Rows that are read in one go.
const ROWS: u64 = 1 << 12;

/// Where in the tables words of an input begin that has none; `None` if something is around there that is in the order of
/// objects, too, and may not move: words in groups, with names, or in two sections of an object.
fn start_of(input: u32, rows: &[SectionRow]) -> Option<u64> {
    let is_free = |row: &SectionRow| row.number == INIT_ARRAY;
    let next = rows.iter().filter(|row| row.input > input && is_free(row)).map(|row| row.address).min()?;
    // Those with priorities are in front of all others.
    let before = rows.iter().filter(|row| row.input < input).map(|row| row.address).max().unwrap_or(0);
    let is_between = |row: &SectionRow| row.address > before && row.address < next;
    let mut odd = rows.iter().filter(|row| row.input >= input && !is_free(row));
    (!odd.any(is_between)).then_some(next)
}

/// What objects have if some have changed.
///
/// # Errors
/// If there are not enough spare words, or others may not move.
pub fn of_changed(
    (file, common, cuts): (&StateFile, &Common, &Cuts),
    changed: &[Changed],
) -> Result<InitArrays, Refused> {
    let mut arrays = common.init_arrays.clone();
    // Those that have other words than in the last link: what is in the tables, and how many bytes there are now.
    let others: Vec<(u32, Option<&SectionRow>, u64)> = changed
        .iter()
        .filter_map(|one| {
            let now = one.init_array().map_or(0, |index| one.object.shdrs[index as usize].sh_size());
            let row = one.init_array_row();
            let last = arrays.get(&one.row).map_or(row.map_or(0, |row| row.size), |words| words.now);
            (now != last).then_some((one.row, row, now))
        })
        .collect();
    let Some((_, _, first)) = others.first() else { return Ok(arrays) };
    let Some(array) = Array::of(file, common)? else { return Err(full(*first, 0)) };
    let rows = array.rows(file)?;
    for (input, row, now) in others {
        let before = row.map_or(0, |row| row.size);
        let known = row.map(|row| row.address).or(arrays.get(&input).map(|words| words.start));
        let start = known.or_else(|| start_of(input, &rows)).ok_or_else(odd)?;
        match now == before {
            true => arrays.remove(&input),
            false => arrays.insert(input, Words { start, before, now }),
        };
    }
    let Array { out, spare } = array;
    let Some(low) = first_moved(&common.init_arrays, &arrays) else { return Ok(arrays) };
    // One always is, as it is what is copied.
    if taken(&arrays) > spare.size.saturating_sub(WORD).cast_signed() {
        return Err(full(taken(&arrays).cast_unsigned(), spare.size));
    }
    let in_file = |address: u64| out.offset.saturating_add(address.saturating_sub(out.address));
    let inside = in_file(low).saturating_add(1)..in_file(out.address.saturating_add(out.size));
    // Others may know where words are that are not free.
    let places = Places::of(&arrays);
    let moves = |row: &SectionRow| row.number != INIT_ARRAY && places.moved(row.address, row.input) >= low;
    // Where it begins has a name, and hashes for the build id are made of what is cut elsewhere.
    if low <= out.address || !cuts.that_start_in(&inside).is_empty() || rows.iter().any(moves) {
        return Err(odd());
    }
    Ok(arrays)
}

fn odd() -> Refused {
    Refused::NoPlace(NoPlace::Odd(String::from_utf8_lossy(NAME).into_owned()))
}

fn full(size: u64, free: u64) -> Refused {
    let name = String::from_utf8_lossy(NAME).into_owned();
    Refused::NoPlace(NoPlace::Full { name, kind: Kind::Relocated, size, align: WORD, free, largest: free })
}

/// Where the first words are that are others, or elsewhere.
pub fn first_moved(before: &InitArrays, now: &InitArrays) -> Option<u64> {
    let is_other = |(input, _): &(&u32, &Words)| before.get(input) != now.get(input);
    let first =
        before.iter().chain(now).filter(is_other).map(|(input, words)| (words.start, *input)).min()?;
    Some(Places::of(now).moved(first.0, first.1))
}

/// A word in the output: the old one that it is, or one of an object that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Last(u64),
    New,
}

/// Where each word from the first one on that is elsewhere comes from, in order: `end` is where all end, and `spare` where
/// the tables have the spare ones. `is_changed` says of an input that its own are made anew.
pub fn sources(
    (before, now): (&InitArrays, &InitArrays),
    (spare, end): (u64, u64),
    is_changed: impl Fn(u32) -> bool,
) -> Vec<(u64, Source)> {
    let is_other = |input: &u32| before.get(input) != now.get(input);
    let mut known: BTreeMap<(u64, u32), (u64, u64, u64)> = BTreeMap::new();
    for (input, words) in before {
        let (had, has) = (words.now, now.get(input).map_or(words.before, |words| words.now));
        known.insert((words.start, *input), (words.before, had, has));
    }
    for (input, words) in now {
        let had = before.get(input).map_or(words.before, |words| words.now);
        known.insert((words.start, *input), (words.before, had, words.now));
    }
    let Some(first) = known.keys().copied().find(|(_, input)| is_other(input)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut put = |(from, to): (u64, u64), bytes: u64| {
        found.extend((0..bytes).step_by(WORD as usize).map(|at| (to + at, Source::Last(from + at))));
    };
    let (last, next) = (Places::of(before), Places::of(now));
    // Up to there both are the same.
    let (mut from, mut to) = (last.moved(first.0, first.1), next.moved(first.0, first.1));
    let mut at = first.0;
    let mut new = Vec::new();
    for ((start, input), (size, had, has)) in known.range(first..) {
        let between = start.saturating_sub(at);
        put((from, to), between);
        (from, to) = (from + between, to + between);
        match is_changed(*input) {
            true => new.extend((0..*has).step_by(WORD as usize).map(|at| (to + at, Source::New))),
            false => put((from, to), *has),
        }
        (from, to) = (from + had, to + has);
        at = start.saturating_add(*size);
    }
    let others = spare.saturating_sub(at);
    put((from, to), others);
    // All spare ones are the same.
    let spare = to + others..end;
    found.extend(spare.step_by(WORD as usize).map(|to| (to, Source::Last(end - WORD))));
    found.extend(new);
    found.sort_unstable_by_key(|(to, _)| *to);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects 0 to 5 with so many words in the tables, from address 800 on, the last of which has the spare ones.
    const TABLE: [u64; 6] = [1, 2, 0, 1, 0, 4];

    fn start_of(input: usize) -> u64 {
        800 + 8 * TABLE[..input].iter().sum::<u64>()
    }

    /// With other counts.
    fn arrays(counts: [u64; 6]) -> InitArrays {
        let all = (0..5).filter(|input| counts[*input] != TABLE[*input]);
        all.map(|input| {
            let words = Words { start: start_of(input), before: 8 * TABLE[input], now: 8 * counts[input] };
            (input as u32, words)
        })
        .collect()
    }

    /// The words of the whole array: the object, and the number among its words.
    fn layout(counts: [u64; 6]) -> Vec<(usize, u64)> {
        (0..6).flat_map(|input| (0..counts[input]).map(move |number| (input, number))).collect()
    }

    #[test]
    fn words_are_in_the_order_of_objects() {
        let all = [
            [1, 2, 0, 1, 0, 4],
            [1, 2, 1, 1, 0, 3],
            [1, 0, 1, 1, 2, 3],
            [1, 3, 0, 0, 0, 4],
            [1, 0, 0, 0, 0, 7],
        ];
        for before in all {
            for now in all {
                let (last, next) = (arrays(before), arrays(now));
                let is_changed = |input: u32| before[input as usize] != now[input as usize];
                let end = start_of(5) + 8 * TABLE[5];
                let found = sources((&last, &next), (start_of(5), end), is_changed);
                let wanted = layout(now);
                assert_eq!(found.is_empty(), before == now);
                assert_eq!(first_moved(&last, &next), found.first().map(|(to, _)| *to));
                for (to, source) in &found {
                    let (input, number) = wanted[(to - 800) as usize / 8];
                    match source {
                        Source::New => assert!(is_changed(input as u32)),
                        Source::Last(from) => {
                            let is = layout(before)[(from - 800) as usize / 8];
                            assert!(
                                is == (input, number) || input == 5 && is.0 == 5,
                                "{before:?} {now:?} {to}"
                            );
                        }
                    }
                }
                // All that is there from the first one on.
                let places: Vec<u64> = found.iter().map(|(to, _)| *to).collect();
                let wanted: Vec<u64> =
                    places.first().map_or(Vec::new(), |first| (*first..end).step_by(8).collect());
                assert_eq!(places, wanted);
                for input in 0..6 {
                    let before: u64 = now[..input].iter().sum();
                    assert_eq!(Places::of(&next).moved(start_of(input), input as u32), 800 + 8 * before);
                }
            }
        }
        assert_eq!(taken(&arrays([1, 0, 0, 0, 0, 7])), -24);
    }
}
