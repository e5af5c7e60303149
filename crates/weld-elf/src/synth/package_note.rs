//! `.note.package` (`--package-metadata`): which package the output belongs to.
//!
//! A note of owner `FDO` and type 0xcafe1a7e whose descriptor is a JSON text that ends in a zero byte, padded
//! to 4 bytes. Source: systemd, "Package Metadata for ELF Files".

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::address::align_up;
use crate::elf::*;

const NOTE_HEADER: usize = 16;
const TYPE: u32 = 0xcafe_1a7e;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let text = sizes.options.notes.package_metadata.as_ref()?;
        let header = Header { name: b".note.package", kind: SHT_NOTE, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, NOTE_HEADER as u64 + align_up(text.len() as u64 + 1, 4)).map(Spec::dispensable)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let text = at.image().options.notes.package_metadata.as_deref().unwrap_or("");
        let (header, descriptor) = out.split_at_mut(NOTE_HEADER);
        let mut head = Writer::new(at.format());
        head.u32(4).u32(text.len() as u32 + 1).u32(TYPE).bytes(b"FDO\0");
        header.copy_from_slice(&head.finish());
        descriptor[..text.len()].copy_from_slice(text.as_bytes());
        descriptor[text.len()..].fill(0);
    }
}
