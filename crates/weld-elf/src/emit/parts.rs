//! Large input sections, written in parts.
//!
//! One section may be larger than everything else: an embedded file, the debug information of a program
//! that was optimised as a whole. As one unit it would need a buffer of its size and keep one thread
//! busy while the others have nothing left. So it is cut, at places where no relocation notices.
//!
//! Sections without relocations are cut from a lower size on, because their parts need no buffer: they
//! go from the mapped input to the file, which takes two thirds of the time. (`copy_file_range` and
//! `sendfile` would take longer: bench/notes/output.md.)

use weld_common::par;

use super::members::{Members, Source};
use super::rewrites::Rewrites;
use crate::elf::*;
use crate::ids::*;
use crate::sections::SectionKind;
use weld_common::io::units::UNIT_BYTES;

/// Sections of this many bytes without relocations are units of their own.
pub const DIRECT: u64 = 64 << 10;
/// Sections of this many bytes are cut if they have relocations.
const LARGE: u64 = 4 * UNIT_BYTES;

/// Bytes from the start of a relocation's field that belong to it, at most.
const FIELD: u64 = 8;
/// Bytes before and after a relocation's field that a relaxation of its instruction may look at or
/// change, and within which relocations of one code sequence follow one another.
const SEQUENCE: u64 = 32;

/// Relocations of which one thread looks whether they are in order.
const RELOCS_RUN: usize = 1 << 16;

/// A range of an input section.
pub struct Part {
    pub section: SectionId,
    pub start: u64,
    pub size: u64,
}

impl Members<'_, '_, '_> {
    /// The offsets at which the parts of a section start; none if it is to be written with its
    /// neighbours. Looks with all threads if `parallel`.
    pub fn cuts(&self, id: SectionId, parallel: bool) -> Vec<u64> {
        let section = self.image.sections.get(id);
        if section.size < DIRECT || section.kind() != SectionKind::Regular {
            return Vec::new();
        }
        let Source { object, relocs, .. } = self.section(id);
        let object = &self.image.resolved.objects[object.index()];
        let index = (id.0 - object.section_base) as usize;
        if object.section_data(index).is_none_or(|bytes| (bytes.len() as u64) < section.size) {
            // It has room behind its bytes, which the last unit there is about.
            return Vec::new();
        }
        let code = object.shdrs[index].sh_flags() & SHF_EXECINSTR != 0;
        if code && self.rewrites.is_some_and(Rewrites::is_of_whole_sections) {
            return Vec::new();
        }
        match relocs.len() {
            0 => (0..section.size).step_by(UNIT_BYTES as usize).collect(),
            // Such machines' instructions name others of the section, which may be anywhere in it.
            _ if code && self.image.mode.machine.shrink().is_some() => Vec::new(),
            _ if section.size < LARGE || !is_sorted(relocs, parallel) => Vec::new(),
            _ => borders(relocs, section.size, code),
        }
    }

    /// The bytes of a part that nothing relocates.
    pub fn unchanged(&self, part: &Part) -> Option<&[u8]> {
        let same =
            self.section(part.section).relocs.is_empty() && !self.image.thunks.moves_from(part.section);
        same.then(|| self.bytes(part))
    }

    /// Fills `out` with a part.
    pub fn fill_part(&self, part: &Part, out: &mut [u8]) {
        out.copy_from_slice(self.bytes(part));
        let source = self.section(part.section);
        let relocs = source.relocs;
        let end = part.start + part.size;
        let size = self.image.sections.get(part.section).size;
        let first = relocs.partition_point(|r| r.r_offset() < part.start);
        // Those that lie outside the section are found to do so by the last part.
        let last = if end == size { relocs.len() } else { relocs.partition_point(|r| r.r_offset() < end) };
        self.relocate(&Source { relocs: &relocs[first..last], ..source }, part.start, out);
        if self.image.thunks.moves_from(part.section) {
            self.leave_moved(part.section, part.start, out);
        }
    }

    fn bytes(&self, part: &Part) -> &[u8] {
        let object = &self.image.resolved.objects[self.owners.object(part.section).index()];
        let data = object.section_data((part.section.0 - object.section_base) as usize).unwrap_or(&[]);
        &data[part.start as usize..(part.start + part.size) as usize]
    }
}

/// Compilers emit relocations in order; assembly may not.
fn is_sorted(relocs: &[Rela], parallel: bool) -> bool {
    let n = relocs.len();
    let runs = par::runs("are relocations in order", parallel, n, RELOCS_RUN, |run| {
        // Each run goes on to the first of the next.
        relocs[run.start..n.min(run.end + 1)].is_sorted_by_key(|r| r.r_offset())
    });
    runs.into_iter().all(|in_order| in_order)
}

/// Where a section of `size` bytes can be cut about every unit: between relocations, which are in
/// order, and in code also between the sequences of instructions that they may be part of.
fn borders(relocs: &[Rela], size: u64, code: bool) -> Vec<u64> {
    let (behind, before) = if code { (FIELD + SEQUENCE, SEQUENCE) } else { (FIELD, 0) };
    let mut starts = vec![0];
    let mut target = UNIT_BYTES;
    while target < size {
        let mut next = relocs.partition_point(|r| r.r_offset() < target);
        let border = loop {
            let free = next.checked_sub(1).map_or(0, |i| relocs[i].r_offset().saturating_add(behind));
            let border = target.max(free);
            let limit = relocs.get(next).map_or(u64::MAX, |r| r.r_offset());
            if border.saturating_add(before) <= limit {
                break border;
            }
            next += 1;
        };
        if border >= size {
            break;
        }
        starts.push(border);
        target = border + UNIT_BYTES;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relocs(offsets: impl IntoIterator<Item = u64>) -> Vec<Rela> {
        offsets.into_iter().map(|offset| Rela::make(offset, 0, 0, 0)).collect()
    }

    #[test]
    fn borders_keep_away_from_relocations() {
        let size = 5 * UNIT_BYTES + 17;
        for (code, gap) in [(false, 0), (true, SEQUENCE)] {
            // Dense around each multiple of a unit, with room further on.
            let dense = |at: u64| (0..200).map(move |i| at - 100 + i * 4).chain([at + 10_000]);
            let list = relocs((1..=5).flat_map(|k| dense(k * UNIT_BYTES)));
            let starts = borders(&list, size, code);
            assert_eq!((starts.len(), starts[0]), (5, 0));
            assert!(starts.is_sorted());
            for &start in &starts[1..] {
                for reloc in &list {
                    let field = reloc.r_offset()..reloc.r_offset() + FIELD;
                    assert!(field.end + gap <= start || start + gap <= field.start, "{start}");
                }
            }
        }
        assert_eq!(borders(&[], 3 * UNIT_BYTES, true), [0, UNIT_BYTES, 2 * UNIT_BYTES]);
        // Nowhere to cut, and relocations beyond the end.
        let all = relocs((0..UNIT_BYTES).map(|i| i * 4));
        assert_eq!(borders(&all, 4 * UNIT_BYTES, false), [0]);
        assert_eq!(borders(&relocs([0, u64::MAX]), 2 * UNIT_BYTES, false), [0, UNIT_BYTES]);
    }

    #[test]
    fn order_is_seen_across_runs() {
        for parallel in [false, true] {
            let mut list = relocs(0..RELOCS_RUN as u64 * 8);
            assert!(is_sorted(&list, parallel));
            list.swap(RELOCS_RUN - 1, RELOCS_RUN);
            assert!(!is_sorted(&list, parallel));
            assert!(is_sorted(&[], parallel));
        }
    }
}
