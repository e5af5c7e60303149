//! `.plt`, `.plt.sec`, `.iplt` and `.got.plt`: calls that the loader or a resolver binds. Their code and its
//! layout are the machine's (`arch`).

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::arch::facts::Facts;
use crate::arch::plt;
use crate::elf::*;

fn code(machine: &Facts, name: &'static [u8], size: u64) -> Option<Spec> {
    let flags = SHF_ALLOC | SHF_EXECINSTR;
    Spec::own(Header { name, kind: SHT_PROGBITS, flags, entsize: 0 }, machine.plt.align, size)
}

pub struct Plt;

impl Synthetic for Plt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let (slots, machine) = (&sizes.plan.slots, sizes.plan.facts.mode.facts());
        let size = || plt::plt_size(machine, slots, sizes.plan.plt);
        (!slots.plt.is_empty()).then(|| code(machine, b".plt", size()))?
    }

    fn cuts(&self, source: &Source) -> Cuts {
        let (image, machine) = (source.image, source.image.mode.facts());
        let header = image.plt.header_size(machine, image.slots.jump_slots);
        let entry = image.plt.entry_size(machine);
        if header.is_multiple_of(entry) {
            return Cuts::ENTRIES;
        }
        let run = 1 << 14;
        let runs = (image.slots.jump_slots as usize).div_ceil(run);
        Cuts::At((1..runs).map(|i| header + entry * (i * run) as u64).collect())
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.image().mode.machine.write_plt(at.image(), at.start, out);
    }
}

pub struct PltSec;

impl Synthetic for PltSec {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let machine = sizes.plan.facts.mode.facts();
        code(machine, b".plt.sec", plt::plt_sec_size(machine, &sizes.plan.slots, sizes.plan.plt))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.image().mode.machine.write_plt_sec(at.image(), at.start, out);
    }
}

pub struct Iplt;

impl Synthetic for Iplt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let machine = sizes.plan.facts.mode.facts();
        code(machine, b".iplt", plt::iplt_size(machine, &sizes.plan.slots, sizes.plan.plt))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.image().mode.machine.write_iplt(at.image(), at.start, out);
    }
}

pub struct GotPlt;

impl Synthetic for GotPlt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let slots = &sizes.plan.slots;
        let word = sizes.format().word();
        let flags = SHF_ALLOC | SHF_WRITE;
        let header = Header { name: b".got.plt", kind: SHT_PROGBITS, flags, entsize: 0 };
        Spec::own(header, word, plt::got_plt_size(sizes.plan.facts.mode.facts(), slots))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        plt::write_got_plt(at.image(), at.start / at.format().word(), out);
    }
}
