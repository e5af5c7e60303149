//! `.eh_frame`: what the parser found lies in the section. First come a number of relocations and
//! their offsets, a byte each.
#![no_main]

use weld_elf::eh_frame::EhFrame;
use weld_elf::elf::Format;
use weld_fuzz::Choices;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let relocs: Vec<u64> = (0..choices.below(16)).map(|_| choices.number()).collect();
    let section = choices.rest();
    let Ok(frames) = EhFrame::parse(section, Format::NATIVE, &relocs, |offset| *offset) else { return };
    let mut end = 0;
    let mut records: Vec<(u32, u32, u32, u32)> =
        frames.cies.iter().map(|c| (c.offset, c.size, c.first_reloc, c.n_relocs)).collect();
    records.extend(frames.fdes.iter().map(|f| (f.offset, f.size, f.first_reloc, f.n_relocs)));
    records.sort_unstable();
    for (offset, size, first, count) in records {
        assert!(offset >= end && (offset + size) as usize <= section.len());
        end = offset + size;
        let own = &relocs[first as usize..(first + count) as usize];
        assert!(own.iter().all(|r| (u64::from(offset)..u64::from(end)).contains(r)));
    }
    assert!(frames.fdes.iter().all(|f| frames.cies[f.cie as usize].offset < f.offset));
});
