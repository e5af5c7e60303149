//! `.dynstr`: the names in the dynamic sections (gABI, "String Table").
//!
//! A head of the few strings that `.dynamic` and the version tables name, each once, and after it the names
//! of the dynamic symbols in the order of `.dynsym`, which all differ but for versions. Those are the bulk,
//! and are never together in memory but in the output: the plan has their offsets only.

use weld_common::par;
use weld_common::prefetch::prefetch;

use super::error::TableTooLarge;
use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::elf::{SHF_ALLOC, SHT_STRTAB};
use crate::ids::SymbolId;
use crate::symbol_names::Names;
use weld_common::string_table::StringTable;

/// Names whose lengths are added up by one task.
const RUN: usize = 1 << 15;
/// How many names ahead the table of names is asked for, and the text of a name.
const ENTRY_AHEAD: usize = 16;
const TEXT_AHEAD: usize = 8;

/// A planned `.dynstr`.
pub struct DynStr {
    head: StringTable,
    /// Where the name of each symbol starts, and where the last ends.
    offsets: Vec<u32>,
    /// What lies behind these.
    tail: Vec<u8>,
    /// The lengths of names, and their numbers in the order of their places, if there may be gaps between them.
    placed: Option<(Vec<u32>, Vec<u32>)>,
}

impl DynStr {
    /// Plans the section. `lengths` are those of the names of symbols, without the NUL; `tail` lies behind them.
    ///
    /// # Errors
    /// If offsets do not fit 32 bits.
    pub fn plan(
        head: StringTable,
        lengths: &[u32],
        tail: Vec<u8>,
        parallel: bool,
    ) -> Result<DynStr, TableTooLarge> {
        let too_large = TableTooLarge::Section(".dynstr");
        let size = |lengths: &[u32]| lengths.iter().map(|&length| u64::from(length) + 1).sum();
        let n = lengths.len();
        let mut sizes: Vec<u64> = par::runs("add up names", parallel, n, RUN, |run| size(&lengths[run]));
        let end = sizes.iter_mut().fold(head.size(), |start, size| start + std::mem::replace(size, start));
        let end = u32::try_from(end).map_err(|_| too_large)?;
        if head.too_large() || end.checked_add(tail.len() as u32).is_none() {
            return Err(too_large);
        }
        let starts = sizes;
        let offsets = par::list("offsets of names", parallel, n + 1, RUN, |run| {
            let mut next = starts.get(run.start / RUN).map_or(end, |&start| start as u32);
            run.map(move |i| match lengths.get(i) {
                Some(length) => {
                    let start = next;
                    next += length + 1;
                    start
                }
                None => end,
            })
        });
        Ok(DynStr { head, offsets, tail, placed: None })
    }

    /// Plans the section with names at these places, of these lengths (0 if there is none), which end at `end`;
    /// `tail` lies there.
    ///
    /// # Errors
    /// If offsets do not fit 32 bits.
    pub fn with_places(
        head: StringTable,
        (mut offsets, lengths): (Vec<u32>, &[u32]),
        end: u64,
        tail: Vec<u8>,
    ) -> Result<DynStr, TableTooLarge> {
        let end = u32::try_from(end).ok().filter(|end| end.checked_add(tail.len() as u32).is_some());
        let end = end.filter(|_| !head.too_large()).ok_or(TableTooLarge::Section(".dynstr"))?;
        let mut order: Vec<u32> = (0..offsets.len() as u32).collect();
        order.retain(|i| lengths[*i as usize] > 0);
        order.sort_unstable_by_key(|i| offsets[*i as usize]);
        offsets.push(end);
        Ok(DynStr { head, offsets, tail, placed: Some((lengths.to_vec(), order)) })
    }

    /// The size of what lies in front of names.
    pub fn head(&self) -> u64 {
        self.head.size()
    }

    /// The section's size in bytes.
    pub fn size(&self) -> u64 {
        u64::from(self.tail()) + self.tail.len() as u64
    }

    /// Where what lies behind the names starts.
    pub fn tail(&self) -> u32 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Where the name of symbol `i` starts.
    pub fn offset(&self, i: usize) -> u32 {
        self.offsets[i]
    }

    /// Writes the bytes from `start` on. `symbols` are those whose names were planned.
    pub fn write(&self, names: &Names, symbols: &[SymbolId], start: usize, out: &mut [u8]) {
        if let Some((lengths, order)) = &self.placed {
            return self.write_placed((names, symbols), (lengths, order), start, out);
        }
        let head = self.head.bytes().get(start..).unwrap_or(&[]);
        let head = &head[..head.len().min(out.len())];
        let end = start + out.len();
        let (place, mut out) = out.split_at_mut(head.len());
        place.copy_from_slice(head);
        let mut at = start + head.len();
        // The first name may have started before.
        let first = self.offsets.partition_point(|&offset| offset as usize <= at).saturating_sub(1);
        for i in first..symbols.len() {
            if at >= end {
                break;
            }
            if let Some(&id) = symbols.get(i + ENTRY_AHEAD) {
                names.prefetch(id);
            }
            if let Some(&id) = symbols.get(i + TEXT_AHEAD) {
                prefetch(names.get(id).name, 0);
            }
            let (from, to) = (self.offsets[i] as usize, self.offsets[i + 1] as usize);
            let (length, skipped) = (to - from - 1, at - from);
            let text = &names.get(symbols[i]).name[..length];
            let (place, rest) = out.split_at_mut((to - at).min(end - at));
            let text = &text[skipped.min(length)..];
            let text = &text[..text.len().min(place.len())];
            place[..text.len()].copy_from_slice(text);
            place[text.len()..].fill(0);
            (at, out) = (at + place.len(), rest);
        }
        let tail = at.checked_sub(self.tail() as usize).and_then(|from| self.tail.get(from..));
        if let Some(tail) = tail.and_then(|tail| tail.get(..out.len())) {
            out.copy_from_slice(tail);
        }
    }

    #[cold]
    fn write_placed(
        &self,
        (names, symbols): (&Names, &[SymbolId]),
        (lengths, order): (&[u32], &[u32]),
        start: usize,
        out: &mut [u8],
    ) {
        out.fill(0);
        let end = start + out.len();
        let mut put = |at: usize, text: &[u8]| {
            let (from, to) = (at.max(start), (at + text.len()).min(end));
            if from < to {
                out[from - start..to - start].copy_from_slice(&text[from - at..to - at]);
            }
        };
        put(0, self.head.bytes());
        let place = |i: &u32| (self.offsets[*i as usize] as usize, lengths[*i as usize] as usize);
        let first = order.partition_point(|i| place(i).0 + place(i).1 <= start);
        for i in &order[first..] {
            let (at, length) = place(i);
            if at >= end {
                break;
            }
            put(at, &names.get(symbols[*i as usize]).name[..length]);
        }
        put(self.tail() as usize, &self.tail);
    }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".dynstr", kind: SHT_STRTAB, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 1, sizes.plan.dynsym.as_ref()?.dynstr.size()).map(Spec::dispensable)
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let names = &at.image().resolved.names;
        let dynsym = at.contents().dynsym.into_iter();
        dynsym.for_each(|d| d.dynstr.write(names, &d.symbols, at.start as usize, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_can_be_written() {
        let texts: Vec<String> = (0..40).map(|i| "n".repeat(i % 7) + &i.to_string()).collect();
        let mut names = Names::new(2);
        let symbols: Vec<SymbolId> = texts.iter().map(|text| names.insert(text.as_bytes())).collect();
        let lengths: Vec<u32> = texts.iter().map(|text| text.len() as u32).collect();
        let mut head = StringTable::new();
        head.add(b"libc.so.6");
        let mut want = head.bytes().to_vec();
        texts.iter().for_each(|text| want.extend_from_slice(format!("{text}\0").as_bytes()));
        want.extend_from_slice(b"more\0\0\0");
        let dynstr = DynStr::plan(head, &lengths, b"more\0\0\0".to_vec(), false).unwrap();
        assert_eq!(dynstr.size(), want.len() as u64);
        for (i, text) in texts.iter().enumerate() {
            assert!(want[dynstr.offset(i) as usize..].starts_with(format!("{text}\0").as_bytes()));
        }
        for start in 0..=want.len() {
            for end in start..=want.len() {
                let mut out = vec![0xaa; end - start];
                dynstr.write(&names, &symbols, start, &mut out);
                assert!(out == want[start..end], "{start}..{end}");
            }
        }
    }

    #[test]
    fn a_version_in_a_name_is_left_out() {
        let mut names = Names::new(0);
        let symbols = [names.insert(b"f@V1"), names.insert(b"g")];
        let dynstr = DynStr::plan(StringTable::new(), &[1, 1], Vec::new(), false).unwrap();
        let mut out = vec![0xaa; dynstr.size() as usize];
        dynstr.write(&names, &symbols, 0, &mut out);
        assert_eq!(out, b"\0f\0g\0");
    }

    #[test]
    fn offsets_do_not_depend_on_threads() {
        let lengths: Vec<u32> = (0..3 * RUN as u32 + 5).map(|i| i % 11).collect();
        let plan =
            |parallel| DynStr::plan(StringTable::new(), &lengths, Vec::new(), parallel).unwrap().offsets;
        assert!(plan(true) == plan(false));
        assert!(DynStr::plan(StringTable::new(), &[], Vec::new(), true).unwrap().size() == 1);
    }

    #[test]
    fn offsets_run_out() {
        let fits = [u32::MAX - 2];
        assert_eq!(
            DynStr::plan(StringTable::new(), &fits, Vec::new(), false).unwrap().size(),
            u64::from(u32::MAX)
        );
        assert!(DynStr::plan(StringTable::new(), &[u32::MAX - 1], Vec::new(), false).is_err());
        assert!(DynStr::plan(StringTable::new(), &[u32::MAX, u32::MAX], Vec::new(), false).is_err());
        assert!(DynStr::plan(StringTable::new(), &fits, vec![0], false).is_err());
    }
}
