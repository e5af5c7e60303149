//! `.gnu_debuglink` (`--separate-debug-file`): the name of the file with debug sections, without its
//! directory, padded with zeroes to four bytes; then the CRC-32 of its bytes, which is written when they are
//! (`emit::separate`).
//!
//! Source: GDB manual, "Debugging Information in Separate Files".

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::address::align_up;
use crate::elf::*;
use crate::options::Options;

/// Bytes of the checksum.
const SUM: u64 = 4;

pub struct Section;

fn name(options: &Options) -> Option<&[u8]> {
    Some(options.output.debug_file.as_ref()?.file_name()?.as_encoded_bytes())
}

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".gnu_debuglink", kind: SHT_PROGBITS, flags: 0, entsize: 0 };
        Spec::own(header, SUM, align_up(name(sizes.options)?.len() as u64 + 1, SUM) + SUM)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.fill(0);
        let name = name(at.image().options).unwrap_or_default();
        out[..name.len()].copy_from_slice(name);
    }
}
