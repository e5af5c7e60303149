//! Merging: every byte of every input is found again where the lookup says, in one write or in many.
#![no_main]

use weld_common::merge::{MergeInput, MergeOptions, Merged};
use weld_fuzz::Choices;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut c = Choices::new(data);
    let strings = c.flag();
    let entsize = c.pick(&[1u32, 2, 4, 8, 3, 16, 0]);
    let align = c.pick(&[1u32, 2, 4, 8, 16, 32, 3]);
    let options = MergeOptions { tail_merge: c.flag(), dedupe: c.below(8) != 0 };
    let whole = c.below(8) != 0;
    let cut = 1 + c.below(200);
    let mut datas: Vec<Vec<u8>> = Vec::new();
    while !c.is_empty() && datas.len() < 40 {
        let len = c.below(64);
        let mut bytes = c.bytes(len).to_vec();
        if whole && entsize > 0 {
            bytes.resize(bytes.len().next_multiple_of(entsize as usize), 0);
            bytes.extend(vec![0; if strings { entsize as usize } else { 0 }]);
        }
        datas.push(bytes);
    }
    let inputs: Vec<MergeInput> =
        datas.iter().map(|data| MergeInput { data, entsize, strings, align }).collect();
    let Ok(merged) = Merged::build(&inputs, &options, 1) else { return };
    let mut out = vec![0xaa; merged.size() as usize];
    merged.write(0, &mut out);
    let mut parts = vec![0x55; out.len()];
    for (i, part) in parts.chunks_mut(cut).enumerate() {
        merged.write((i * cut) as u64, part);
    }
    assert!(out == parts, "a section reads the same however it was written");
    for (i, data) in datas.iter().enumerate() {
        assert!(merged.output_offset(i, data.len() as u64 + 1).is_none());
        for (offset, &byte) in data.iter().enumerate() {
            let at = merged.output_offset(i, offset as u64).expect("inside the input") as usize;
            assert_eq!(out[at], byte, "input {i}, offset {offset}");
        }
    }
});
