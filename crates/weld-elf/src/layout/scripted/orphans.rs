//! Where output sections go that a script does not name.
//!
//! One in memory goes beside the section that is most like it, in front of it or after it as the default
//! layout has them. Where the place counts it only goes after: with `MEMORY` or `PHDRS`, for it lies in the
//! same memory and segment as the section before it; and in front of the first section, if the script says at
//! which address that lies. Symbols that are assigned to after a section stay with it; assignments to `.` are
//! meant for what follows. After the last section it goes to the end of the script. One that is not in memory
//! goes to the end, too.
//!
//! Source: GNU ld manual, "Orphan Sections"; LLVM's "Linker Script implementation notes and policy".

use super::*;
use crate::elf::*;
use crate::layout::OutputSection;
use crate::layout::program::Memory;
use crate::script::expr::Op;

/// What a section is like: the more of the upper bits two have in common, the more alike they are; and the
/// smaller one comes first.
pub(super) fn likeness(out: &OutputSection) -> u32 {
    const LARGE: u32 = 1 << 10;
    const WRITABLE: u32 = 1 << 9;
    const WRITABLE_CODE: u32 = 1 << 8;
    const CODE: u32 = 1 << 7;
    const BYTES: u32 = 1 << 6;
    const STAYS_WRITABLE: u32 = 1 << 4;
    const NOT_THREADS: u32 = 1 << 3;
    const ZEROES: u32 = 1 << 2;
    // Data that code reaches from the GOT's start, which is to come before it.
    const BEHIND_GOT: u32 = 1;
    let rights = match out.memory {
        Memory::Code => CODE,
        Memory::WritableCode => WRITABLE_CODE,
        Memory::Relro => WRITABLE,
        Memory::Data => WRITABLE | STAYS_WRITABLE,
        _ if out.kind == SHT_PROGBITS && *out.name != *b".interp" => BYTES,
        _ => 0,
    };
    let of_data = match rights & WRITABLE != 0 {
        true if out.is_tls() => 0,
        true => NOT_THREADS,
        false => 0,
    };
    let zeroes = if rights & WRITABLE != 0 && out.is_nobits() { ZEROES } else { 0 };
    let behind_got = if *out.name == *b".toc" { BEHIND_GOT } else { 0 };
    (if out.large { LARGE } else { 0 }) | rights | of_data | zeroes | behind_got
}

/// What is known of the blocks of a script while orphans are placed, by their numbers.
pub(super) struct Known {
    /// Of those in memory.
    pub likeness: Vec<Option<u32>>,
    /// There is such a section in the output.
    pub is_there: Vec<bool>,
    /// It bears the name that compilers give to what is like it.
    pub is_usual: Vec<bool>,
    /// The script says at which address it lies.
    pub is_fixed: Vec<bool>,
    /// Orphans go after what they are like.
    pub only_behind: bool,
}

/// Whether this is the name that compilers give to what is like it.
pub(super) fn is_usual(name: &[u8]) -> bool {
    matches!(
        name,
        b".text"
            | b".rodata"
            | b".data"
            | b".bss"
            | b".tdata"
            | b".tbss"
            | b".sdata"
            | b".sbss"
            | b".data.rel.ro"
    )
}

impl Known {
    fn of(&self, block: usize) -> Option<u32> {
        self.likeness.get(block).copied().flatten()
    }

    /// The section that ends with a step, if there is one.
    fn ended(&self, step: &Step) -> Option<usize> {
        match step {
            Step::End(block) if self.is_there.get(*block).copied().unwrap_or(false) => Some(*block),
            _ => None,
        }
    }

    /// The end of the section that an orphan goes beside, and how alike they are.
    fn nearest(&self, steps: &[Step], orphan: u32) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32)> = None;
        for (at, step) in steps.iter().enumerate() {
            let Some(other) = self.ended(step).and_then(|block| self.of(block)) else { continue };
            let alike = (orphan ^ other).leading_zeros();
            // Of several the last, or the first if the orphan is to come before them.
            if best.is_none_or(|(_, most)| alike > most || alike == most && orphan >= other) {
                best = Some((at, alike));
            }
        }
        best
    }

    /// After the section that ends at a step, and what follows it that is as much alike.
    fn behind(&self, steps: &[Step], end: usize, alike: u32, orphan: u32) -> usize {
        let mut at = end + 1;
        for (next, step) in steps.iter().enumerate().skip(at) {
            let Some(block) = self.ended(step) else { continue };
            if self.of(block).is_none_or(|other| (orphan ^ other).leading_zeros() != alike) {
                break;
            }
            at = next + 1;
        }
        at
    }

    /// In front of the section that ends at a step, and of the assignments that are meant for it; unless it
    /// is the first, and lies where the script says.
    fn before(&self, steps: &[Step], end: usize) -> Option<usize> {
        match steps[..end].iter().rposition(|step| self.ended(step).is_some()) {
            Some(before) => Some((before + 1).max(start(steps))),
            None => Some(start(steps)).filter(|_| !self.begins_where_told(&steps[..=end])),
        }
    }

    /// Whether the script gives an address to the section at whose end the steps end. One that leaves room
    /// for the headers leaves it for all that comes first.
    fn begins_where_told(&self, steps: &[Step]) -> bool {
        let mut inside = false;
        for step in steps {
            match step {
                Step::Begin(_) => inside = true,
                Step::End(block) if self.is_fixed.get(*block).copied().unwrap_or(false) => return true,
                Step::End(_) => inside = false,
                Step::Assign { name, value, .. }
                    if !inside && name == "." && !value.code.contains(&Op::HeadersSize) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// After the section that is most like it, the one with the usual name before others.
    fn behind_its_like(&self, steps: &[Step], orphan: u32) -> Option<usize> {
        let blocks = steps.iter().enumerate().filter_map(|(at, step)| Some((at, self.ended(step)?)));
        let known = blocks.filter_map(|(at, block)| Some((at, block, self.of(block)?)));
        let usual = |block: usize| self.is_usual.get(block).copied().unwrap_or(false);
        let best =
            known.max_by_key(|(at, block, other)| (std::cmp::Reverse(orphan ^ other), usual(*block), *at));
        best.map(|(at, ..)| at + 1)
    }
}

/// What a script begins with: names for numbers, and the address of all.
fn start(steps: &[Step]) -> usize {
    let names = |step: &&Step| match step {
        Step::Assign { name, .. } => name != ".",
        step => matches!(step, Step::NotProvided { .. }),
    };
    let count = steps.iter().take_while(names).count();
    count + usize::from(matches!(steps.get(count), Some(Step::Assign { .. })))
}

/// The place in `steps` for an orphan in memory.
pub(super) fn place(steps: &[Step], known: &Known, orphan: u32) -> usize {
    let Some((end, alike)) = known.nearest(steps, orphan) else { return steps.len() };
    let Some(other) = known.ended(&steps[end]).and_then(|block| known.of(block)) else { return steps.len() };
    let beside = match other <= orphan {
        _ if known.only_behind => None,
        true => Some(known.behind(steps, end, alike, orphan)),
        false => known.before(steps, end),
    };
    let Some(mut at) = beside.or_else(|| known.behind_its_like(steps, orphan)) else { return steps.len() };
    // The last assignments to `.` are meant for nothing else; those in front of a section for that, be it
    // there or not.
    if !steps[at..].iter().any(|step| matches!(step, Step::Begin(_))) {
        return steps.len();
    }
    while let Some(step) = steps.get(at) {
        match step {
            Step::Assign { name, .. } if name != "." => at += 1,
            Step::EndOverlay | Step::Assert { .. } | Step::NotProvided { .. } => at += 1,
            _ => break,
        }
    }
    // Not in the middle of an overlay.
    let open = steps[..at].iter().filter(|step| matches!(step, Step::BeginOverlay { .. })).count();
    let closed = steps[..at].iter().filter(|step| matches!(step, Step::EndOverlay)).count();
    if open > closed {
        at += steps[at..].iter().position(|step| matches!(step, Step::EndOverlay)).map_or(0, |end| end + 1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assign(name: &str) -> Step {
        let place = Place { path: "t".into(), line: 1, column: 1 };
        let code = if name == "." { vec![Op::HeadersSize] } else { Vec::new() };
        let value = Expr { code, place: place.clone() };
        Step::Assign { name: name.into(), target: None, value, place, text: String::new() }
    }

    fn known(likeness: &[u32]) -> Known {
        let likeness: Vec<_> = likeness.iter().map(|key| Some(*key)).collect();
        let no = vec![false; likeness.len()];
        Known {
            is_there: vec![true; likeness.len()],
            likeness,
            is_usual: no.clone(),
            is_fixed: no,
            only_behind: false,
        }
    }

    #[test]
    fn orphans_lie_beside_their_like() {
        let block = |number: usize| [Step::Begin(number), Step::End(number)];
        let mut steps = vec![assign("a"), assign(".")];
        steps.extend(block(0));
        steps.push(assign("end"));
        steps.push(assign("."));
        steps.extend(block(1));
        steps.push(assign("last"));
        let mut of = known(&[0x80, 0x210]);
        // After the first with what is assigned after it, but not what is meant for the next.
        assert_eq!(place(&steps, &of, 0x80), 5);
        assert_eq!(place(&steps, &of, 0x100), 5);
        // In front of the second, after all, and after the address that the script begins with.
        assert_eq!(place(&steps, &of, 0x200), 5);
        assert_eq!(place(&steps, &of, 0x218), steps.len());
        assert_eq!(place(&steps, &of, 0x40), 2);
        assert_eq!(place(&[], &of, 1), 0);
        // With memory regions it is never in front.
        of.only_behind = true;
        assert_eq!(place(&steps, &of, 0x40), 5);
        assert_eq!(place(&steps, &of, 0x200), steps.len());
        // Nor is it if the first lies where the script says.
        of.only_behind = false;
        of.is_fixed[0] = true;
        assert_eq!(place(&steps, &of, 0x40), 5);
        assert_eq!(place(&steps, &of, 0x200), 5);
        assert_eq!(place(&steps[1..], &of, 0x40), 4);
    }

    #[test]
    fn of_several_alike_the_one_with_the_usual_name_has_orphans_behind_it() {
        let steps: Vec<Step> = (0..4).flat_map(|number| [Step::Begin(number), Step::End(number)]).collect();
        let mut of = known(&[0x218, 0x80, 0x218, 0x218]);
        of.only_behind = true;
        assert_eq!(place(&steps, &of, 0x218), steps.len());
        of.is_usual[2] = true;
        assert_eq!(place(&steps, &of, 0x218), 6);
        assert_eq!(place(&steps, &of, 0x208), 6);
    }

    #[test]
    fn orphans_lie_in_no_overlay() {
        let start = || Step::BeginOverlay { address: None, load_address: None };
        let steps = [start(), Step::Begin(0), Step::End(0), Step::Begin(1), Step::End(1), Step::EndOverlay];
        let of = known(&[0x80, 0x200]);
        assert_eq!(place(&steps, &of, 0x80), 6);
        assert_eq!(place(&steps, &of, 0x40), 0);
    }
}
