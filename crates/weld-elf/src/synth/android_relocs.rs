//! `.rela.dyn` as Android packs it (`--pack-dyn-relocs=android`; `SHT_ANDROID_RELA`, `DT_ANDROID_RELA`).
//!
//! `APS2`, and then numbers in SLEB128: how many relocations there are, an offset to count from, and groups.
//! A group has its number of relocations and flags that say what these have in common: the distance between
//! offsets, `r_info`. What they do not have in common each of them has: how far its offset is from the last
//! one, its `r_info`, how far its addend is from the last one. Where a group has no addends they are 0, and
//! count as 0 for the next.
//!
//! Relative relocations come first, by address. Where many follow one another without gaps they are a group,
//! with nothing of its own but the addends. The others are grouped by what they say, which is a symbol and a
//! type.
//!
//! How large that is depends on all addresses, and those on how large it is. So room is made, everything is
//! placed, and if that was too little there is another round (`Plan::make_room`). The room never shrinks;
//! what is left over is zeroes, which nobody reads.
//!
//! Source: bionic's loader and its packer of relocations. There is no other specification.

use super::rela::Dynamics;
use crate::elf::format::Class;
use crate::elf::*;
use crate::synth::image::Image;

/// What the relocations of a group have in common.
const SAME_INFO: i64 = 1;
const SAME_DISTANCE: i64 = 2;
/// They have addends.
const ADDENDS: i64 = 8;

/// So many relocations make a group of their own: of neighbouring words, and of one symbol and type.
const NEIGHBOURS: usize = 8;
const ALIKE: usize = 4;

/// Encodes relocations, those of type `relative` first, those of type `resolving` last.
fn encode(form: RelocForm, mut relocs: Vec<Rela>, relative: u32, resolving: Option<u32>) -> Vec<u8> {
    let others = |r: &Rela| r.kind() != relative;
    relocs.sort_by_key(|r| {
        let group = if others(r) { info(form, r) } else { 0 };
        (others(r), Some(r.kind()) == resolving, group, r.r_offset())
    });
    let (relatives, others) = relocs.split_at(relocs.partition_point(|r| !others(r)));
    let mut stream = Stream { form, bytes: b"APS2".to_vec(), offset: 0, addend: 0 };
    stream.number(relocs.len() as i64);
    stream.number(0);
    stream.relatives(relatives);
    stream.others(others);
    stream.bytes
}

/// Encodes those of an image.
pub fn of_image(image: &Image, dynamics: &Dynamics) -> Vec<u8> {
    let types = image.types();
    encode(image.reloc_form, dynamics.relocs(), types.relative, types.irelative)
}

/// `r_info` as the output has it.
fn info(form: RelocForm, reloc: &Rela) -> i64 {
    let (symbol, kind) = (i64::from(reloc.sym()), i64::from(reloc.kind()));
    match form.format.class {
        Class::Elf64 => symbol << 32 | kind,
        Class::Elf32 => symbol << 8 | kind,
    }
}

/// What has been encoded, and the relocation that came last.
struct Stream {
    form: RelocForm,
    bytes: Vec<u8>,
    offset: u64,
    addend: i64,
}

impl Stream {
    fn number(&mut self, mut value: i64) {
        loop {
            let byte = (value & 0x7f) as u8;
            value >>= 7;
            // The rest is the sign of this byte.
            if value == -i64::from(byte >> 6) {
                return self.bytes.push(byte);
            }
            self.bytes.push(byte | 0x80);
        }
    }

    /// Relocations of one type, by offset.
    fn relatives(&mut self, relocs: &[Rela]) {
        let word = self.form.format.word();
        let is_next = |a: &Rela, b: &Rela| b.r_offset().wrapping_sub(a.r_offset()) == word;
        let (mut loose, mut at) = (0, 0);
        for run in relocs.chunk_by(is_next) {
            if run.len() > NEIGHBOURS {
                // The first one says where they are.
                self.group(&relocs[loose..=at], SAME_INFO);
                self.group(&run[1..], SAME_INFO | SAME_DISTANCE);
                loose = at + run.len();
            }
            at += run.len();
        }
        self.group(&relocs[loose..], SAME_INFO);
    }

    /// Relocations by symbol and type.
    fn others(&mut self, relocs: &[Rela]) {
        let form = self.form;
        let (mut loose, mut at) = (0, 0);
        for run in relocs.chunk_by(|a, b| info(form, a) == info(form, b)) {
            if run.len() >= ALIKE {
                self.group(&relocs[loose..at], 0);
                self.group(run, SAME_INFO);
                loose = at + run.len();
            }
            at += run.len();
        }
        self.group(&relocs[loose..], 0);
    }

    fn group(&mut self, relocs: &[Rela], same: i64) {
        let Some(first) = relocs.first() else { return };
        let addends = self.form.addends && relocs.iter().any(|r| r.r_addend() != 0);
        self.number(relocs.len() as i64);
        self.number(same | if addends { ADDENDS } else { 0 });
        if same & SAME_DISTANCE != 0 {
            self.number(self.form.format.word() as i64);
        }
        if same & SAME_INFO != 0 {
            self.number(info(self.form, first));
        }
        if !addends {
            self.addend = 0;
        }
        for reloc in relocs {
            if same & SAME_DISTANCE == 0 {
                self.number(reloc.r_offset().wrapping_sub(self.offset) as i64);
            }
            if same & SAME_INFO == 0 {
                self.number(info(self.form, reloc));
            }
            if addends {
                self.number(reloc.r_addend().wrapping_sub(self.addend));
                self.addend = reloc.r_addend();
            }
            self.offset = reloc.r_offset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weld_common::reader::Reader;

    const RELATIVE: u32 = 8;
    const FORM: RelocForm = RelocForm { format: Format::NATIVE, addends: true, types: None };

    /// Offset, `r_info` and addend of each relocation, as a loader reads them.
    fn decode(bytes: &[u8]) -> Vec<(u64, i64, i64)> {
        let mut reader = Reader::new(bytes.strip_prefix(b"APS2").unwrap());
        let mut number = || reader.sleb128().unwrap();
        let count = number() as usize;
        let (mut offset, mut info, mut addend) = (number() as u64, 0, 0i64);
        let mut list = Vec::new();
        while list.len() < count {
            let (size, flags) = (number(), number());
            let distance = if flags & SAME_DISTANCE != 0 { number() } else { 0 };
            info = if flags & SAME_INFO != 0 { number() } else { info };
            addend = if flags & ADDENDS != 0 { addend } else { 0 };
            for _ in 0..size {
                let step = if flags & SAME_DISTANCE != 0 { distance } else { number() };
                offset = offset.wrapping_add(step as u64);
                info = if flags & SAME_INFO != 0 { info } else { number() };
                addend = addend.wrapping_add(if flags & ADDENDS != 0 { number() } else { 0 });
                list.push((offset, info, addend));
            }
        }
        list
    }

    fn round_trip(relocs: Vec<Rela>) -> usize {
        let mut wanted: Vec<_> = relocs.iter().map(|r| (r.r_offset(), info(FORM, r), r.r_addend())).collect();
        let bytes = encode(FORM, relocs, RELATIVE, None);
        let mut found = decode(&bytes);
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        bytes.len()
    }

    #[test]
    fn what_is_encoded_can_be_read() {
        assert_eq!(round_trip(Vec::new()), 6);
        round_trip(vec![Rela::make(0x1000, 0, RELATIVE, -1)]);
        let relative = |i: u64| Rela::make(0x2000 + 8 * i, 0, RELATIVE, 0x400 + 16 * i as i64);
        // Nothing but a byte of addend each.
        assert!(round_trip((0..1000).map(relative).collect()) < 1040);
        let mut mixed: Vec<Rela> = (0..300).filter(|i| i % 37 != 5).map(relative).collect();
        mixed.push(Rela::make(u64::MAX - 7, 3, 1, i64::MIN));
        mixed.extend((0..40).map(|i| Rela::make(0x9000 - 24 * i, 7, 1, 0)));
        mixed.extend((0..40).map(|i| Rela::make(0x9008 + 24 * i, 9 + i as u32 % 20, 6, i as i64 % 3)));
        mixed.reverse();
        round_trip(mixed);
    }

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        for (value, size) in [(0, 1), (63, 1), (64, 2), (-64, 1), (-65, 2), (i64::MAX, 10), (i64::MIN, 10)] {
            let mut stream = Stream { form: FORM, bytes: Vec::new(), offset: 0, addend: 0 };
            stream.number(value);
            assert_eq!(stream.bytes.len(), size, "{value}");
            assert_eq!(Reader::new(&stream.bytes).sleb128(), Some(value));
        }
    }
}
