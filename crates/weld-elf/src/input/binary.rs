//! `-b binary`: a file of any contents as an object, which is then linked as any other.
//!
//! ```text
//! .data                      the file's bytes
//! _binary_NAME_start, _end   its first byte, and the one after its last
//! _binary_NAME_size          their number, an absolute symbol
//! ```
//!
//! NAME is the path as it was given (or found by `-l`), with `_` for what C does not allow in a name. Source:
//! GNU ld manual, "Options", `--format`; `ld.lld` aligns the bytes as here, GNU ld does not.

use super::made::{self, CONTENTS, Contents, Symbols};
use crate::arch::facts::Facts;
use crate::elf::*;

const ALIGNMENT: u64 = 8;

/// The object for a file, as one for `machine`.
pub fn object(path: &str, contents: &[u8], machine: &Facts) -> Vec<u8> {
    let size = contents.len() as u64;
    let name: String = path.bytes().map(|b| if b.is_ascii_alphanumeric() { b.into() } else { '_' }).collect();
    let mut symbols = Symbols::default();
    for (suffix, section, value) in [("start", CONTENTS, 0), ("end", CONTENTS, size), ("size", SHN_ABS, size)]
    {
        let name = [b"_binary_".as_slice(), name.as_bytes(), b"_", suffix.as_bytes()];
        symbols.add(&name, STB_GLOBAL << 4, 0, section, value, 0);
    }
    let flags = SHF_WRITE | SHF_ALLOC;
    let data = Contents { name: ".data", flags, align: ALIGNMENT, bytes: contents, relocs: &[] };
    made::assemble(machine.target, machine.data_flags, Some(data), symbols)
}
