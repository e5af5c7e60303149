//! The words of `.init_array`: those of objects that have changed are written again, and where some have come or gone, so is
//! all that lies behind, with what the loader is told of it and symbols that are there.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::others::Moved;
use super::{LastLink, Left, Patch, View, facts, format};
use crate::elf::*;
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::excerpt::Common;
use crate::relink_state::extents::Run;
use crate::relink_state::init_array::{Array, Source, first_moved, sources};
use crate::relink_state::rewrite_section::Missing;
use crate::relink_state::rows::{InputRow, OutputRow};
use crate::sections::init_array::WORD;

/// Adds what is otherwise. Returns the places of words that are others, or elsewhere, of which all that the loader is told
/// is told anew.
///
/// # Errors
/// Why a full link is needed.
pub fn add(
    job: &Job,
    changes: &Changes,
    last: &LastLink,
    (moved, patch): (&Moved, &mut Patch),
) -> Result<Vec<u64>, Why> {
    let (before, now) = (&last.memo.init_arrays, last.init_arrays);
    let words = std::mem::take(&mut patch.init_words);
    let low = first_moved(before, now);
    if words.is_empty() && low.is_none() {
        return Ok(Vec::new());
    }
    let (left, common) = last.view(job)?;
    let out = common.outputs().iter().find(|out| out.kind == SHT_INIT_ARRAY).ok_or(Why::Image)?;
    let in_file = |address: u64| out.offset.checked_add(address.checked_sub(out.address)?);
    // Of those behind `low` all is known at once.
    let is_behind = |address: u64| low.is_some_and(|low| address >= low);
    for (address, bytes) in words.iter().filter(|(address, _)| !is_behind(*address)) {
        let write = (in_file(*address).ok_or(Why::Image)?, bytes.clone());
        patch.sections += usize::from(patch.compare(last.image, &write).map_err(|_| Why::Image)?);
    }
    let Some(low) = low else { return Ok(Vec::new()) };
    let Array { out, spare } = Array::of(left.tables, &common)?.ok_or(Why::Image)?;
    let changed: HashSet<u32> = changes.objects.iter().map(|object| object.row).collect();
    let end = out.address.saturating_add(out.size);
    let sources = sources((before, now), (spare.address, end), |input| changed.contains(&input));
    let behind = Behind { left: &left, common: &common, out: &out, low, end };
    behind.add_words(&sources, &words, patch)?;
    if !behind.tell_loader(&sources, patch)? {
        // One that names a function which other modules may replace has an entry of another kind.
        let path = changes.objects.first().map(|object| changes.files[object.file].path.clone());
        return Err(Why::Object(path.unwrap_or_default(), Changed::Unknown(Missing::Function)));
    }
    let skipped: HashSet<u32> = changed.iter().chain(&moved.debug).chain(&moved.runs).copied().collect();
    behind.add_symbols(&sources, &skipped, patch)?;
    Ok(sources.iter().map(|(place, _)| *place).collect())
}

/// Where words lie that are others, or elsewhere: from the first of them up to the end.
struct Behind<'b, 'v> {
    left: &'b View<'v>,
    common: &'b Common,
    out: &'b OutputRow,
    low: u64,
    end: u64,
}

impl Behind<'_, '_> {
    /// The words as they were.
    fn bytes(&self) -> Option<Vec<u8>> {
        let offset = self.out.offset.checked_add(self.low - self.out.address)?;
        self.left.read(offset, usize::try_from(self.end.checked_sub(self.low)?).ok()?)
    }

    fn add_words(
        &self,
        sources: &[(u64, Source)],
        new: &[(u64, Vec<u8>)],
        patch: &mut Patch,
    ) -> Result<(), Why> {
        let there = self.bytes().ok_or(Why::Image)?;
        let mut bytes = there.clone();
        let range = |address: u64, size: usize| {
            let at = usize::try_from(address.checked_sub(self.low)?).ok()?;
            Some(at..at.checked_add(size).filter(|end| *end <= there.len())?)
        };
        let word = WORD as usize;
        for (to, source) in sources {
            if let Source::Last(from) = source {
                let (to, from) = range(*to, word).zip(range(*from, word)).ok_or(Why::Image)?;
                bytes[to].copy_from_slice(&there[from]);
            }
        }
        for (address, new) in new.iter().filter(|(address, _)| *address >= self.low) {
            bytes[range(*address, new.len()).ok_or(Why::Image)?].copy_from_slice(new);
        }
        let offset = self.out.offset + (self.low - self.out.address);
        patch.sections += usize::from(patch.add(offset, &bytes, &there));
        Ok(())
    }

    /// Has the loader be told of words that are elsewhere what it was told of them; whether that is known of all.
    fn tell_loader(&self, sources: &[(u64, Source)], patch: &mut Patch) -> Result<bool, Why> {
        let facts = facts(self.left)?;
        let Some(table) = self.common.output(b".rela.dyn").filter(|_| self.is_moved()) else {
            return Ok(true);
        };
        let size = usize::try_from(table.size).map_err(|_| Why::Image)?;
        let bytes = self.left.read(table.offset, size).ok_or(Why::Image)?;
        let (entries, _) = bytes.as_chunks::<{ Rela::SIZE }>();
        let entries = entries.iter().map(|entry| Rela(*entry));
        let is_here = |entry: &Rela| (self.low..self.end).contains(&entry.r_offset());
        let relative = entries.take_while(|entry| entry.kind() == facts.dynamic.relative).filter(is_here);
        let known: HashMap<u64, u64> =
            relative.map(|entry| (entry.r_offset(), entry.r_addend().cast_unsigned())).collect();
        let told: HashSet<u64> = patch.told.relative.iter().map(|(place, _)| *place).collect();
        for (to, source) in sources.iter().filter(|(to, _)| !told.contains(to)) {
            let value = match source {
                Source::Last(from) => known.get(from),
                Source::New => None,
            };
            let Some(value) = value else { return Ok(false) };
            patch.told.relative.push((*to, *value));
        }
        Ok(true)
    }

    fn header(&self) -> Option<Ehdr> {
        let header = self.left.read(0, Ehdr::SIZE)?;
        records::<Ehdr>(&header, format(self.left).ok()?, 0, 1)?.first().copied()
    }

    /// Whether the loader adds to words what it has moved the image by.
    fn is_moved(&self) -> bool {
        self.header().is_some_and(|header| header.e_type() == ET_DYN)
    }

    /// Has symbols be where the words are that they stand for, but for those of inputs that are written again.
    fn add_symbols(
        &self,
        sources: &[(u64, Source)],
        skipped: &HashSet<u32>,
        patch: &mut Patch,
    ) -> Result<(), Why> {
        let Some(table) = self.common.outputs().iter().find(|out| out.kind == SHT_SYMTAB) else {
            return Ok(());
        };
        let number = self.number_of_section().ok_or(Why::Image)?;
        let places: HashMap<u64, u64> = sources
            .iter()
            .filter_map(|(to, source)| match source {
                Source::Last(from) if from != to => Some((*from, *to)),
                _ => None,
            })
            .collect();
        let mut written: Vec<Range<u64>> = Vec::new();
        for row in skipped {
            let input: InputRow = self.left.tables.row((*row).into())?;
            let runs = self.common.runs.get(row).copied().unwrap_or(input.table_runs());
            let range = |run: Run| u64::from(run.start)..u64::from(run.start) + u64::from(run.size);
            written.extend([range(runs.locals), range(runs.globals)]);
        }
        let count = table.size / Sym::SIZE as u64;
        for first in (0..count).step_by(SYMBOLS) {
            let size = (count - first).min(SYMBOLS as u64) as usize * Sym::SIZE;
            let start = table.offset + first * Sym::SIZE as u64;
            let bytes = self.left.read(start, size).ok_or(Why::Image)?;
            for (index, symbol) in (first..).zip(bytes.as_chunks::<{ Sym::SIZE }>().0) {
                let symbol = Sym(*symbol);
                let to = Some(symbol.st_value()).filter(|_| symbol.st_shndx() == number);
                let to = to.and_then(|from| places.get(&from));
                if let Some(to) = to.filter(|_| !written.iter().any(|range| range.contains(&index))) {
                    let at = table.offset + index * Sym::SIZE as u64 + VALUE;
                    patch.add(at, &to.to_le_bytes(), &symbol.st_value().to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// The number of the output section's header.
    fn number_of_section(&self) -> Option<u16> {
        let header = self.header()?;
        let count = u64::from(header.e_shnum());
        let headers = self.left.read(header.e_shoff(), count as usize * Shdr::SIZE)?;
        let headers = records::<Shdr>(&headers, format(self.left).ok()?, 0, count)?;
        let number = headers
            .iter()
            .position(|shdr| shdr.sh_addr() == self.out.address && shdr.sh_type() == SHT_INIT_ARRAY);
        u16::try_from(number?).ok()
    }
}

/// Where in a symbol its value is.
const VALUE: u64 = 8;

/// Symbols that are read in one go.
const SYMBOLS: usize = 1 << 14;
