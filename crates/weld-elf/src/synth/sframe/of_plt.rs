//! The functions of the PLT in `.sframe`, so that callers are found also while a function is being bound.
//!
//! The header is a function of its own. Entries are all alike: they are one function whose code repeats, and
//! what is said of one holds for each. Version 1 does not say how long such a block is, so there is nothing
//! of the PLT in it; nor is there in a section that has no other function.

use crate::arch::facts::Facts;
use crate::arch::plt::{FrameRows, Frames, Sizes, Style, Table};
use crate::sframe::{Conventions, REPEATS, Version};

/// What the PLT will be like.
#[derive(Clone, Copy)]
pub struct Plt {
    pub facts: &'static Facts,
    pub style: Style,
    /// How many entries are bound by name, and how many call a resolver.
    pub jump_slots: u32,
    pub ifuncs: u32,
}

/// A function of the PLT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Where it is: so many bytes after the start of that.
    pub table: Table,
    pub offset: u64,
    pub size: u32,
    pub rows: FrameRows,
    /// Bytes of the block that repeats; 0: none does.
    pub block: u8,
}

/// Bytes of a row: an offset in the code, what is counted from, and how far the frame is from there.
pub const ROW: u32 = 3;
/// What is counted from, and how: one number of a byte, from the stack pointer.
const FROM_STACK_POINTER: u8 = 1 | 1 << 1;

impl Function {
    /// `func_info`: offsets in rows have a byte.
    pub fn info(&self) -> u8 {
        if self.block == 0 { 0 } else { REPEATS }
    }

    /// The bytes of its rows.
    pub fn row_bytes(&self) -> impl Iterator<Item = [u8; ROW as usize]> {
        self.rows.iter().map(|&(from, distance)| [from, FROM_STACK_POINTER, distance])
    }
}

/// The functions of a PLT, as a section of this version has them with these conventions.
pub fn functions(plt: Plt, version: Version, conventions: Conventions) -> Vec<Function> {
    let Plt { facts, style, jump_slots, ifuncs } = plt;
    let target = facts.target;
    let is_own = Conventions::abi_of(target.machine, target.format) == Some(conventions.abi);
    let frames = (facts.plt.frames)(style).filter(|_| is_own && version > Version::One);
    // Rows do not say where the return address is.
    let frames = frames.filter(|frames| frames.return_address == conventions.fixed_ra);
    let Some(Frames { header, entry, called, .. }) = frames else { return Vec::new() };
    let (sizes, head) = (Sizes::new(facts, style, jump_slots, ifuncs), style.header_size(facts, jump_slots));
    let block = style.entry_size(facts) as u8;
    let parts = [
        (Table::Plt, 0, head, *header, 0),
        (Table::Plt, head, sizes.plt - head, *entry, block),
        (Table::PltSec, 0, sizes.plt_sec, *called, block),
        (Table::Iplt, 0, sizes.iplt, *called, block),
    ];
    let function = |(table, offset, size, rows, block)| {
        // As many entries as a function can have bytes; of others nothing is known.
        let size = u32::try_from(size).unwrap_or(u32::MAX / 16 * 16);
        (size > 0).then_some(Function { table, offset, size, rows, block })
    };
    parts.into_iter().filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{MACHINES, Machine};

    const X86_64: Conventions = Conventions { abi: 3, fixed_fp: 0, fixed_ra: -8 };

    fn of(style: Style, jump_slots: u32, ifuncs: u32) -> Vec<(Table, u64, u32, usize, u8)> {
        let plt = Plt { facts: Machine::X86_64.facts(), style, jump_slots, ifuncs };
        let all = functions(plt, Version::Two, X86_64);
        all.iter().map(|f| (f.table, f.offset, f.size, f.rows.len(), f.block)).collect()
    }

    #[test]
    fn header_and_entries_are_functions() {
        let lazy = [(Table::Plt, 0, 16, 2, 0), (Table::Plt, 16, 48, 2, 16)];
        assert_eq!(of(Style::Ordinary, 3, 0), lazy);
        let sec = (Table::PltSec, 0, 48, 1, 16);
        assert_eq!(of(Style::Marked, 3, 2), [&lazy[..], &[sec, (Table::Iplt, 0, 32, 1, 16)]].concat());
        assert_eq!(of(Style::Ordinary, 0, 1), [(Table::Iplt, 0, 16, 1, 16)]);
        assert!(of(Style::Ordinary, 0, 0).is_empty());
        assert!(of(Style::Retpoline { lazy: true }, 3, 1).is_empty());
    }

    #[test]
    fn what_cannot_be_said_is_left_out() {
        let plt = Plt { facts: Machine::X86_64.facts(), style: Style::Ordinary, jump_slots: 1, ifuncs: 0 };
        assert!(functions(plt, Version::One, X86_64).is_empty());
        assert!(functions(plt, Version::Two, Conventions { fixed_ra: 0, ..X86_64 }).is_empty());
        for machine in MACHINES.iter().filter(|machine| **machine != Machine::X86_64) {
            assert!(functions(Plt { facts: machine.facts(), ..plt }, Version::Two, X86_64).is_empty());
        }
    }

    #[test]
    fn rows_count_from_the_stack_pointer() {
        let plt = Plt { facts: Machine::X86_64.facts(), style: Style::Marked, jump_slots: 1, ifuncs: 0 };
        let entry = functions(plt, Version::Three, X86_64)[1];
        assert_eq!(entry.row_bytes().collect::<Vec<_>>(), [[0, 3, 8], [9, 3, 16]]);
        assert_eq!(entry.info(), REPEATS);
    }
}
