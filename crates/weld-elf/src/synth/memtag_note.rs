//! `.note.android.memtag` (`--android-memtag-mode`): what memory of the program Android is to tag, and how
//! violations are found.
//!
//! A note of owner `Android` and type 4 with one word: how in two bits, the heap, the stack. Loaders of
//! shared objects look at tags of `.dynamic` that say the same ([`super::dynamic`]); of a static program
//! there is nothing but the note.
//!
//! Source: "Memtag Extension to ELF for the Arm 64-bit Architecture"; Android's `elf_note.h`.

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::*;
use crate::options::{MemtagMode, MemtagOptions};

const OWNER: &[u8; 8] = b"Android\0";
const TYPE: u32 = 4;
const ASYNC: u32 = 1;
const SYNC: u32 = 2;
const HEAP: u32 = 4;
const STACK: u32 = 8;

/// The word; `None` if nothing is asked for.
fn word(options: &MemtagOptions) -> Option<u32> {
    let mode = match options.mode? {
        MemtagMode::Async => ASYNC,
        MemtagMode::Sync => SYNC,
    };
    let heap = if options.heap { HEAP } else { 0 };
    let stack = if options.stack { STACK } else { 0 };
    Some(mode | heap | stack)
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        word(&sizes.options.notes.memtag)?;
        let header = Header { name: b".note.android.memtag", kind: SHT_NOTE, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, 12 + OWNER.len() as u64 + 4).map(Spec::dispensable)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let word = word(&at.image().options.notes.memtag).unwrap_or(0);
        let mut note = Writer::new(at.format());
        note.u32(OWNER.len() as u32).u32(4).u32(TYPE).bytes(OWNER).u32(word);
        out.copy_from_slice(&note.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_says_how_and_what() {
        let of = |mode, heap, stack| word(&MemtagOptions { mode, heap, stack });
        assert_eq!(of(None, true, true), None);
        assert_eq!(of(Some(MemtagMode::Async), false, true), Some(9));
        assert_eq!(of(Some(MemtagMode::Sync), true, false), Some(6));
    }
}
