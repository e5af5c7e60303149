//! `.plt`, `.plt.sec` and `.got.plt`: calls that the loader or a resolver binds. Their code and its layout are the
//! machine's (`arch`).

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::arch::x86_64::plt;
use crate::elf::*;
use crate::layout::ChunkKind;

/// Bytes to which code is aligned.
const ALIGN: u64 = 16;

fn code(name: &'static [u8], size: u64) -> Option<Spec> {
    let flags = SHF_ALLOC | SHF_EXECINSTR;
    Spec::own(Header { name, kind: SHT_PROGBITS, flags, entsize: 0 }, ALIGN, size)
}

pub struct Plt;

impl Synthetic for Plt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let slots = &sizes.plan.slots;
        (!slots.plt.is_empty()).then(|| code(b".plt", plt::plt_size(slots, sizes.plan.ibt_plt)))?
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        plt::write_plt(at.image(), at.start, out);
    }
}

pub struct PltSec;

impl Synthetic for PltSec {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        code(b".plt.sec", plt::plt_sec_size(&sizes.plan.slots, sizes.plan.ibt_plt))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        plt::write_plt_sec(at.image(), at.start, out);
    }
}

pub struct GotPlt;

impl Synthetic for GotPlt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let slots = &sizes.plan.slots;
        if slots.plt.is_empty() && !sizes.plan.got_base {
            return None;
        }
        let flags = SHF_ALLOC | SHF_WRITE;
        let header = Header { name: b".got.plt", kind: SHT_PROGBITS, flags, entsize: 8 };
        Spec::own(header, 8, plt::got_plt_size(slots))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let dynamic = at.image().layout.chunk_address(ChunkKind::Dynamic);
        plt::write_got_plt(at.image(), dynamic, at.start / 8, out);
    }
}
