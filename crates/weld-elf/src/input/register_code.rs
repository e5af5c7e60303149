//! Functions that save registers and load them again, which compilers call to save space and leave to the
//! linker to make: an object for each run of them, in which only what is called and nothing else defines
//! makes it part of the output.

use super::made::{self, CONTENTS, Contents, Symbols};
use crate::arch::facts::RegisterCode;
use crate::elf::*;

const ALIGNMENT: u64 = 16;

/// The object for a run.
pub fn object(code: &RegisterCode, target: Target) -> Vec<u8> {
    let mut symbols = Symbols::default();
    let mut words = Vec::new();
    for register in code.first..=code.last {
        let at = 4 * words.len() as u64;
        let number = register.to_string();
        let name = [code.prefix.as_bytes(), number.as_bytes()];
        symbols.add(&name, STB_WEAK << 4 | STT_FUNC, STV_HIDDEN, CONTENTS, at, 0);
        words.extend_from_slice(&(code.one)(register)[..code.count]);
    }
    words.extend_from_slice(code.end);
    let mut bytes = Writer::with_room(target.format, 4 * words.len());
    words.iter().for_each(|word| _ = bytes.u32(*word));
    let flags = SHF_EXECINSTR | SHF_ALLOC;
    let text = Contents { name: ".text", flags, align: ALIGNMENT, bytes: &bytes.finish(), relocs: &[] };
    made::assemble(target, 0, Some(text), symbols)
}
