//! `.got`: addresses, thread-pointer offsets and TLS descriptors, with what the loader must add.
//!
//! Specification: "Global Offset Table" in the psABIs; "ELF Handling For Thread-Local Storage".

use std::ops::Range;

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::arch::facts::DynamicTypes;
use crate::elf::Rela;
use crate::elf::{SHF_ALLOC, SHF_WRITE, SHT_PROGBITS};
use crate::symbols::sym;
use crate::synth::image::Image;
use crate::synth::slots::{GotEntry, Slot};

/// What one word of the GOT holds and which dynamic relocation it needs.
pub struct Word {
    /// Index in `.got`.
    pub index: u32,
    pub value: u64,
    pub reloc: Option<WordReloc>,
}

#[derive(Clone, Copy)]
pub enum WordReloc {
    Relative,
    /// Type and addend, against the slot's symbol.
    Symbol(u32, i64),
    /// Type and addend, against no symbol: the module itself.
    Module(u32, i64),
}

/// All words of a range of the GOT's entries, in order.
pub fn words(image: &Image, entries: Range<usize>) -> Vec<(Option<Slot>, Word)> {
    let mut list = Vec::with_capacity(2 * entries.len());
    for &(word, entry) in &image.slots.got[entries] {
        let slot = |index: u32| image.slots.list[index as usize];
        match entry {
            GotEntry::Address(i) => list.push((Some(slot(i)), address(image, word, &slot(i)))),
            GotEntry::TpOff(i) => list.push((Some(slot(i)), tp_offset(image, word, &slot(i)))),
            GotEntry::TlsGd(i) => {
                let [first, second] = general_dynamic(image, word, &slot(i));
                list.push((Some(slot(i)), first));
                list.push((Some(slot(i)), second));
            }
            GotEntry::TlsDesc(i) => {
                let (preemptible, offset) = thread_local(image, &slot(i));
                let reloc = if preemptible {
                    WordReloc::Symbol(image.types().tlsdesc, 0)
                } else {
                    WordReloc::Module(image.types().tlsdesc, offset as i64)
                };
                list.push((Some(slot(i)), Word { index: word, value: 0, reloc: Some(reloc) }));
                list.push((None, Word { index: word + 1, value: 0, reloc: None }));
            }
            GotEntry::TlsLd => {
                // In an executable, offsets from the module's block count from the thread pointer, as they do
                // behind rewritten code; see `apply`.
                let bases = &image.bases;
                let thread_pointer = bases.thread_pointer.wrapping_sub(bases.tls_start);
                let offset = if image.mode.shared { 0 } else { thread_pointer };
                list.push((None, this_module(image, word)));
                list.push((None, Word { index: word + 1, value: offset, reloc: None }));
            }
        }
    }
    list
}

fn address(image: &Image, index: u32, slot: &Slot) -> Word {
    let (value, flags) = image.slot_address(slot);
    if flags & sym::PREEMPTIBLE != 0 {
        return Word { index, value: 0, reloc: Some(WordReloc::Symbol(image.types().glob_dat, 0)) };
    }
    let fixed = matches!(flags & sym::KIND, sym::ABSOLUTE | sym::UNDEFINED);
    let relative = image.mode.pic && !fixed;
    Word { index, value, reloc: relative.then_some(WordReloc::Relative) }
}

/// Whether another module may define the symbol, and its offset in this module's TLS block.
fn thread_local(image: &Image, slot: &Slot) -> (bool, u64) {
    let (value, flags) = image.slot_address(slot);
    (flags & sym::PREEMPTIBLE != 0, value.wrapping_sub(image.bases.tls_start))
}

fn tp_offset(image: &Image, index: u32, slot: &Slot) -> Word {
    let (preemptible, offset) = thread_local(image, slot);
    if preemptible {
        return Word { index, value: 0, reloc: Some(WordReloc::Symbol(image.types().tpoff, 0)) };
    }
    if image.mode.shared {
        return Word { index, value: 0, reloc: Some(WordReloc::Module(image.types().tpoff, offset as i64)) };
    }
    let (value, _) = image.slot_address(slot);
    Word { index, value: value.wrapping_sub(image.bases.thread_pointer), reloc: None }
}

fn general_dynamic(image: &Image, index: u32, slot: &Slot) -> [Word; 2] {
    let (preemptible, offset) = thread_local(image, slot);
    if preemptible {
        return [
            Word { index, value: 0, reloc: Some(WordReloc::Symbol(image.types().dtpmod, 0)) },
            Word { index: index + 1, value: 0, reloc: Some(WordReloc::Symbol(image.types().dtpoff, 0)) },
        ];
    }
    [this_module(image, index), Word { index: index + 1, value: offset, reloc: None }]
}

/// The id of this module: the loader gives it, but an executable always has the first.
fn this_module(image: &Image, index: u32) -> Word {
    match image.mode.shared {
        true => Word { index, value: 0, reloc: Some(WordReloc::Module(image.types().dtpmod, 0)) },
        false => Word { index, value: 1, reloc: None },
    }
}

/// Writes `.got` from word `first` on.
pub fn write(image: &Image, first: usize, out: &mut [u8]) {
    let format = image.format();
    let size = format.word() as usize;
    let end = first + out.len() / size;
    let entries = &image.slots.got;
    // The entry before may have its second word here, the last one its second word behind.
    let from = entries.partition_point(|entry| (entry.0 as usize) < first).saturating_sub(1);
    let to = entries.partition_point(|entry| (entry.0 as usize) < end);
    for (_, word) in words(image, from..to) {
        let Some(bytes) =
            (word.index as usize).checked_sub(first).and_then(|i| out.get_mut(size * i..size * (i + 1)))
        else {
            continue;
        };
        // With RELA the loader takes the addend from the relocation.
        let from_rela = matches!(word.reloc, Some(WordReloc::Relative))
            && !image.relr
            && image.reloc_form.addends
            && !image.options.relocs.apply_dynamic_relocs;
        let value = if from_rela { 0 } else { word.value };
        format.put(bytes, value);
    }
}

impl WordReloc {
    /// The relocation for a word at `offset` whose value is `value`.
    pub fn to_rela(self, types: &DynamicTypes, (offset, value): (u64, u64), dynsym: u32) -> Rela {
        match self {
            WordReloc::Relative => Rela::make(offset, 0, types.relative, value as i64),
            WordReloc::Symbol(kind, addend) => Rela::make(offset, dynsym, kind, addend),
            WordReloc::Module(kind, addend) => Rela::make(offset, 0, kind, addend),
        }
    }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let word = sizes.format().word();
        let flags = SHF_ALLOC | SHF_WRITE;
        let header = Header { name: b".got", kind: SHT_PROGBITS, flags, entsize: word };
        Spec::own(header, word, word * u64::from(sizes.plan.slots.got_words))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(at.image(), at.entry(at.format().word()), out);
    }
}
