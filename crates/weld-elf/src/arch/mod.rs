//! The machines that weld links for: a folder each, after [`Machine`].
//!
//! A folder has everything that is known of its machine: facts (numbers, sizes and names) as data, the
//! table of its relocation types, how values are stored in its instructions, which instructions may be
//! rewritten, and its PLT. What all machines have in common is written once: what a class of relocation
//! needs from its symbol (`scan`), and what it is given (`apply`). These loops are compiled for each
//! machine; the one indirect call is a section's or a chunk's. Nothing outside this folder names a
//! machine's constant.

mod aarch64;
mod apply;
pub mod class;
mod debug_targets;
pub mod facts;
mod i386;
pub mod plt;
mod riscv;
mod rules;
mod s390x;
mod scan;
pub mod shrink;
mod x86;
mod x86_64;

use std::fmt;
use std::ops::Range;

use crate::elf::Target;
use crate::elf::format::Order;
use crate::ids::{ObjectId, SectionId};
use crate::live::{ScanResult, Scanner};
use crate::synth::image::Image;
pub use apply::Site;
use facts::Facts;

/// What the phases ask of a machine. Each function is called once a section, or once a part of one.
pub trait Machine: Sync {
    fn facts(&self) -> &'static Facts;

    /// Looks at some relocations of section `at.1` of object `at.0`: records what they need from their
    /// symbols, and pushes the sections that they bring to life.
    fn scan(
        &self,
        scanner: &Scanner,
        at: (ObjectId, u32),
        range: Range<usize>,
        stack: &mut Vec<SectionId>,
        found: &mut ScanResult,
    );

    /// Applies the relocations of a section in memory to its bytes.
    fn apply(&self, site: &Site, out: &mut [u8]);

    /// The same outside memory. `tombstone` stands for what is gone.
    fn apply_debug(&self, site: &Site, tombstone: u64, out: &mut [u8]);

    /// How code gets shorter; `None` if it never does.
    fn shrink(&self) -> Option<&'static dyn shrink::Shrink>;

    /// Writes `.plt` from byte `start` on, where an entry starts.
    fn write_plt(&self, image: &Image, start: u64, out: &mut [u8]);

    /// Writes `.plt.sec` from byte `start` on, where an entry starts.
    fn write_plt_sec(&self, image: &Image, start: u64, out: &mut [u8]);

    /// Writes `.iplt` from byte `start` on, where an entry starts.
    fn write_iplt(&self, image: &Image, start: u64, out: &mut [u8]);

    /// What the word of `.got.plt` for PLT entry `entry` holds before the loader looks the symbol up.
    fn unbound(&self, image: &Image, entry: u32) -> u64;
}

impl fmt::Debug for dyn Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().name)
    }
}

/// All machines. The first is linked for if nothing says otherwise.
pub const MACHINES: &[&dyn Machine] = &[
    &x86_64::X86_64,
    &i386::I386,
    &s390x::S390x,
    &aarch64::Aarch64::<false>,
    &aarch64::Aarch64::<true>,
    &riscv::Riscv::<true>,
    &riscv::Riscv::<false>,
];

/// The machine that `-m NAME` asks for.
pub fn by_emulation(name: &str) -> Option<&'static dyn Machine> {
    MACHINES.iter().copied().find(|machine| machine.facts().emulations.contains(&name))
}

/// The name of an object format, if a machine has it.
pub fn object_format(name: &str) -> Option<&'static str> {
    MACHINES.iter().map(|machine| machine.facts().object_format).find(|format| *format == name)
}

/// Whether `OUTPUT_ARCH(name)` means a machine: the family alone says enough (`riscv`), unless it is a
/// machine of its own (`i386`).
pub fn is_architecture(name: &str, facts: &Facts) -> bool {
    let (wanted, others) = (facts.architecture, MACHINES.iter().map(|machine| machine.facts().architecture));
    name == wanted || wanted.split(':').next() == Some(name) && !others.into_iter().any(|other| other == name)
}

/// The machine, or the same one in the other byte order.
pub fn in_order(machine: &'static dyn Machine, big: bool) -> Option<&'static dyn Machine> {
    let wanted = if big { Order::Big } else { Order::Little };
    let same = |other: &&dyn Machine| {
        let (other, target) = (other.facts().target, machine.facts().target);
        (other.machine, other.format.class, other.format.order)
            == (target.machine, target.format.class, wanted)
    };
    MACHINES.iter().copied().find(same)
}

/// The machine that a file is for, by the bytes that it starts with.
pub fn of_file(file: &[u8]) -> Option<&'static dyn Machine> {
    let target = Target::of(file)?;
    MACHINES.iter().copied().find(|machine| machine.facts().target == target)
}

/// What is linked for if nothing says otherwise.
pub fn default() -> &'static dyn Machine {
    MACHINES[0]
}

/// The names that `of` gives to machines, one after the other.
pub fn names(of: impl Fn(&Facts) -> &'static str) -> String {
    let names: Vec<&str> = MACHINES.iter().map(|machine| of(machine.facts())).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_told_apart() {
        let mut names = Vec::new();
        for machine in MACHINES {
            let facts = machine.facts();
            assert!(!facts.emulations.is_empty(), "{}", facts.name);
            names.extend(facts.emulations);
            names.push(&facts.name);
            for name in facts.emulations {
                assert_eq!(by_emulation(name).map(|m| m.facts().name), Some(facts.name));
            }
            let pages = &facts.pages;
            assert!(pages.smallest <= pages.common && pages.common <= pages.max, "{}", facts.name);
            assert!(facts.image_base.is_multiple_of(pages.max), "{}", facts.name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn tables_of_types_are_sound() {
        for machine in MACHINES {
            let facts = machine.facts();
            assert_eq!(facts.class(facts.none), class::Class::None);
            assert_eq!(facts.class(facts.types.len() as u32), class::Class::Unknown);
            assert_eq!(facts.class(facts.dynamic.address), class::Class::Address);
            for (number, t) in facts.types.iter().enumerate() {
                assert_eq!(t.class == class::Class::Unknown, t.name.is_empty(), "{number} {}", t.name);
                assert!(matches!(t.width, 0..=4 | 8), "{}", t.name);
            }
            let dynamic = &facts.dynamic;
            for kind in
                [dynamic.copy, dynamic.glob_dat, dynamic.jump_slot, dynamic.relative, dynamic.irelative]
            {
                let loaders = facts.class(kind) == class::Class::Unknown;
                // Slots may have the type of other addresses.
                assert!(
                    loaders || kind == dynamic.glob_dat && kind == dynamic.address,
                    "only the loader has it"
                );
            }
        }
    }
}
