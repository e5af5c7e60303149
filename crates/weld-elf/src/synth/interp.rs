//! `.interp`: the path of the loader, which the kernel starts (gABI chapter 5, "Program Interpreter").

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::*;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let path = sizes.options.dynamic.dynamic_linker.as_ref().filter(|_| sizes.plan.facts.mode.interp)?;
        let header = Header { name: b".interp", kind: SHT_PROGBITS, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 1, path.len() as u64 + 1).map(Spec::dispensable)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let path = at.image().options.dynamic.dynamic_linker.as_deref().unwrap_or("");
        out[..path.len()].copy_from_slice(path.as_bytes());
        out[path.len()..].fill(0);
    }
}
