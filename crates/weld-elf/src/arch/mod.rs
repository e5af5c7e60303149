//! The machines that weld links for: a folder each, after [`rules::Rules`], and a line in [`Machine`].
//!
//! A folder has everything that is known of its machine: facts (numbers, sizes and names) as data, the table
//! of its relocation types, how values are stored in its instructions, which instructions may be rewritten,
//! and its PLT. It knows nothing of phases. What all machines have in common is written once, in the phases:
//! what a class of relocation needs from its symbol (`live::reloc_scan`), what it is given
//! (`synth::relocate`), how code gets shorter (`layout::shrink`). These loops are compiled for each machine;
//! [`Machine::visit`] chooses, once a section. Nothing outside this folder names a machine's constant.

mod aarch64;
mod amdgpu;
mod arm;
pub mod attributes;
mod avr;
mod branches;
pub mod class;
pub mod facts;
mod file_flags;
mod halves;
mod hexagon;
mod i386;
mod leb;
mod loongarch;
mod m68k;
mod mips;
mod msp430;
pub mod plt;
mod powerpc;
mod ppc32;
mod ppc64;
pub mod relax_deltas;
mod riscv;
pub mod rules;
mod s390x;
pub mod shrink;
pub mod site;
mod sparc64;
mod words;
mod x86;
mod x86_64;

use crate::elf::format::Order;
use crate::elf::{Format, Target};
use facts::Facts;
use rules::Rules;

/// Something that is compiled for each machine.
pub trait Visitor {
    type Output;

    /// Does it for machine `R`.
    fn visit<R: Rules>(self) -> Self::Output;
}

/// Makes the list of machines from its lines: its rules, and what is known of it, if that is not what they say.
macro_rules! machines {
    (@facts $rules:ty) => {
        const { &<$rules as Rules>::FACTS }
    };
    (@facts $rules:ty, $facts:path) => {
        const { &$facts }
    };
    ($($name:ident = $rules:ty $(, $facts:path)?;)*) => {
        /// A machine, with its byte order and its width.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Machine {
            $($name,)*
        }

        /// All machines. The first is linked for if nothing says otherwise.
        pub const MACHINES: &[Machine] = &[$(Machine::$name,)*];

        impl Machine {
            /// Does what `visitor` is for with this machine's rules.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Machine::$name => visitor.visit::<$rules>(),)*
                }
            }

            /// What is known of it.
            pub fn facts(self) -> &'static Facts {
                match self {
                    $(Machine::$name => machines!(@facts $rules $(, $facts)?),)*
                }
            }

            /// How its code gets shorter; `None` if it never does.
            pub fn shrink(self) -> Option<&'static dyn shrink::Shrink> {
                match self {
                    $(Machine::$name => <$rules>::shrink(),)*
                }
            }
        }
    };
}

machines! {
    X86_64 = x86_64::X86_64<false>;
    X32 = x86_64::X86_64<true>;
    I386 = i386::I386;
    Iamcu = i386::I386, i386::IAMCU;
    S390x = s390x::S390x;
    Aarch64 = aarch64::Aarch64<false>;
    Aarch64Big = aarch64::Aarch64<true>;
    Riscv64 = riscv::Riscv<true>;
    Riscv32 = riscv::Riscv<false>;
    Arm = arm::Arm<false>;
    ArmBig = arm::Arm<true>;
    Avr = avr::Avr;
    Amdgpu = amdgpu::Amdgpu;
    Msp430 = msp430::Msp430;
    LoongArch64 = loongarch::LoongArch<true>;
    LoongArch32 = loongarch::LoongArch<false>;
    Mips = mips::Mips<false, 0>;
    MipsBig = mips::Mips<true, 0>;
    MipsN32 = mips::Mips<false, 1>;
    MipsN32Big = mips::Mips<true, 1>;
    Mips64 = mips::Mips<false, 2>;
    Mips64Big = mips::Mips<true, 2>;
    Ppc32 = ppc32::Ppc32<false>;
    Ppc32Big = ppc32::Ppc32<true>;
    Ppc64 = ppc64::Ppc64<false, false>;
    Ppc64V1 = ppc64::Ppc64<true, true>;
    Ppc64Big = ppc64::Ppc64<true, false>;
    Sparc64 = sparc64::Sparc64;
    M68k = m68k::M68k;
    Hexagon = hexagon::Hexagon;
}

/// The machine that `-m NAME` asks for.
pub fn by_emulation(name: &str) -> Option<Machine> {
    MACHINES.iter().copied().find(|machine| machine.facts().emulations.contains(&name))
}

/// The name of an object format that is called so, if a machine has it.
pub fn object_format(name: &str) -> Option<&'static str> {
    let is_it = |facts: &&Facts| facts.object_format == name || facts.other_formats.contains(&name);
    MACHINES.iter().map(|machine| machine.facts()).find(is_it).map(|facts| facts.object_format)
}

/// Whether `OUTPUT_ARCH(name)` means a machine: the family alone says enough (`riscv`), unless it is a
/// machine of its own (`i386`). A machine that is a family has all that belong to it (`avr:5`).
pub fn is_architecture(name: &str, facts: &Facts) -> bool {
    let (wanted, others) = (facts.architecture, MACHINES.iter().map(|machine| machine.facts().architecture));
    let is_part = wanted.split(':').next() == Some(name) || name.split(':').next() == Some(wanted);
    name == wanted || is_part && !others.into_iter().any(|other| other == name)
}

/// The machine, or the same one in the other byte order.
pub fn in_order(machine: Machine, big: bool) -> Option<Machine> {
    let wanted = if big { Order::Big } else { Order::Little };
    if machine.facts().target.format.order == wanted {
        return Some(machine);
    }
    let turned = |machine: Machine| {
        let target = machine.facts().target;
        let wanted = Target { format: Format { order: wanted, ..target.format }, ..target };
        MACHINES.iter().copied().find(|other| other.facts().target == wanted)
    };
    // A machine that is called the same may have the other order.
    let namesakes = || MACHINES.iter().copied().filter(|other| namesake(machine, Some(*other)) != machine);
    turned(machine).or_else(|| namesakes().find_map(turned))
}

/// The machine that a file is for, by the bytes that it starts with.
pub fn of_file(file: &[u8]) -> Option<Machine> {
    of_target(Target::of(file)?)
}

pub fn of_target(target: Target) -> Option<Machine> {
    let target = target.settled();
    MACHINES.iter().copied().find(|machine| machine.facts().target == target)
}

/// Whether other machines are called what `-m` calls this one: files say for which of them they are.
pub fn has_namesakes(machine: Machine) -> bool {
    let facts = machine.facts();
    let same = |other: &Machine| {
        *other != machine
            && other.facts().target.is_sibling(facts.target)
            && other.facts().emulation() == facts.emulation()
    };
    MACHINES.iter().any(same)
}

/// The one of those machines that `found` is, if it is one.
pub fn namesake(machine: Machine, found: Option<Machine>) -> Machine {
    let (facts, found) = (machine.facts(), found.unwrap_or(machine));
    let is_one =
        found.facts().target.is_sibling(facts.target) && found.facts().emulation() == facts.emulation();
    if is_one { found } else { machine }
}

/// What is linked for if nothing says otherwise.
pub fn default() -> Machine {
    MACHINES[0]
}

/// The names that `of` gives to machines, one after the other.
pub fn names(of: impl Fn(&Facts) -> &'static str) -> String {
    let mut names: Vec<&str> = MACHINES.iter().map(|machine| of(machine.facts())).collect();
    // Machines that differ in their ABI only may be called the same.
    names.dedup();
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
            // Machines that differ in their ABI only may be called the same.
            if by_emulation(facts.emulation()) == Some(*machine) {
                names.extend(facts.emulations);
            }
            names.push(&facts.name);
            for name in facts.emulations {
                let named = by_emulation(name).unwrap();
                assert_eq!(namesake(named, Some(*machine)), *machine);
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
                // What is refused may be refused by its name.
                let name = class::name_at(facts.type_names, t.name);
                assert!(t.class == class::Class::Unknown || !name.is_empty(), "{number}");
                assert!(matches!(t.width, 0..=4 | 8), "{name}");
            }
            let dynamic = &facts.dynamic;
            let all = [dynamic.copy, dynamic.glob_dat, dynamic.jump_slot, dynamic.relative];
            for kind in all.into_iter().chain(dynamic.irelative) {
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
