use super::*;
use std::collections::{HashMap, HashSet};

const DEDUPE: MergeOptions = MergeOptions { tail_merge: false, dedupe: true };
const TAILS: MergeOptions = MergeOptions { tail_merge: true, dedupe: true };
const NOTHING: MergeOptions = MergeOptions { tail_merge: false, dedupe: false };

fn strings(data: &[u8]) -> MergeInput<'_> {
    MergeInput { data, entsize: 1, strings: true, align: 1 }
}

fn constants(data: &[u8], entsize: u32, align: u32) -> MergeInput<'_> {
    MergeInput { data, entsize, strings: false, align }
}

fn build<'a>(inputs: &[MergeInput<'a>], options: &MergeOptions) -> Merged<'a> {
    Merged::build(inputs, options, 1).unwrap()
}

fn bytes(merged: &Merged) -> Vec<u8> {
    let mut out = vec![0xaa; merged.size() as usize];
    merged.write(0, &mut out);
    out
}

/// The pieces of an input as (start, end of the contents), found in the plainest way.
fn pieces(input: &MergeInput) -> Vec<(usize, usize)> {
    let (entsize, align) = (input.entsize as usize, input.align.max(1) as usize);
    let is_nul = |at: usize| input.data[at..at + entsize].iter().all(|&b| b == 0);
    let mut list = Vec::new();
    let mut at = 0;
    while at < input.data.len() {
        let start = at;
        if input.strings {
            while !is_nul(at) {
                at += entsize;
            }
        }
        at += entsize;
        list.push((start, at));
        let padded = input.strings && align.is_multiple_of(entsize);
        while padded && !(at - start).is_multiple_of(align) && at < input.data.len() && is_nul(at) {
            at += entsize;
        }
    }
    list
}

/// Checks a merge against the definition: the bytes of each piece are where the lookup says,
/// aligned; inner offsets keep their distance; equal pieces have one place.
fn check_merge(inputs: &[MergeInput], merged: &Merged, tails: bool) {
    let out = bytes(merged);
    let mut places: HashMap<&[u8], u64> = HashMap::new();
    for (i, input) in inputs.iter().enumerate() {
        let list = pieces(input);
        let mut shortcut = merged.pieces(i);
        for (k, &(start, end)) in list.iter().enumerate() {
            let content = &input.data[start..end];
            let place = merged.output_offset(i, start as u64).unwrap();
            assert!(place.is_multiple_of(merged.align()));
            assert_eq!(&out[place as usize..][..content.len()], content, "input {i} at {start}");
            assert_eq!(*places.entry(content).or_insert(place), place);
            let next = list.get(k + 1).map_or(input.data.len() + 1, |p| p.0);
            for offset in start..next {
                let there = merged.output_offset(i, offset as u64);
                assert_eq!(shortcut.output_offset(offset as u64), there);
                assert_eq!(there, Some(place + (offset - start) as u64), "input {i} at {offset}");
                if offset < input.data.len() {
                    assert_eq!(out[there.unwrap() as usize], input.data[offset], "input {i} at {offset}");
                }
            }
        }
        assert_eq!(merged.output_offset(i, input.data.len() as u64 + 1), None);
    }
    assert_eq!(merged.output_offset(inputs.len(), 0), None);
    if !tails {
        let distinct: HashSet<u64> = places.values().copied().collect();
        assert_eq!(distinct.len(), places.len());
        let aligned = |len: usize| len.next_multiple_of(merged.align() as usize);
        let least: usize = places.keys().map(|content| aligned(content.len())).sum();
        assert_eq!(out.len(), least);
    }
    check_found_again(inputs, merged);
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Inputs alone, with what is known of pieces, have the answers of the merge that they took part in.
fn check_found_again(inputs: &[MergeInput], merged: &Merged) {
    let mut known = HashMap::new();
    merged.each_piece(|bytes, position| {
        let before = known.insert(bytes, position as u32);
        assert!(before.is_none_or(|before| u64::from(before) == position));
    });
    // Each once, and in the order of their hashes but for what is in one list.
    let mut different = HashMap::new();
    let mut last = 0;
    for list in 0..merged.lists() {
        let mut high = last;
        merged.each_different(list, |bytes, position| {
            assert!(different.insert(bytes, position as u32).is_none());
            let terminator = if inputs[0].strings { inputs[0].entsize as usize } else { 0 };
            let hash = crate::hash::hash_bytes(&bytes[..bytes.len() - terminator]) >> 32;
            assert!(hash >= last);
            high = high.max(hash);
        });
        last = high;
    }
    assert!(different == known);
    for (i, input) in inputs.iter().enumerate() {
        let positions: Vec<u32> = merged.positions(i).unwrap().flatten().copied().collect();
        let first = positions.first().map(|first| u64::from(*first));
        assert!(input.data.is_empty() || first == merged.output_offset(i, 0));
    }
    for (i, input) in inputs.iter().enumerate() {
        let alone = Merged::found_again(&[*input], bytes(merged), |piece| known.get(piece).copied()).unwrap();
        assert!(bytes(&alone) == bytes(merged));
        for offset in 0..=input.data.len() as u64 {
            assert_eq!(alone.output_offset(0, offset), merged.output_offset(i, offset), "{i} {offset}");
        }
        let unknown = Merged::found_again(&[*input], Vec::new(), |_| None);
        assert_eq!(unknown.is_none(), !input.data.is_empty());
    }
}

/// Random sections of strings from a small stock, some of them long and some empty.
fn random_strings(random: &mut Random, sections: usize, entsize: usize, align: usize) -> Vec<Vec<u8>> {
    let stock: Vec<Vec<u8>> = (0..60)
        .map(|i| {
            let len = [0, 1, 2, 3, 15, 16, 17, 31, 40, 200][i % 10];
            (0..len * entsize).map(|_| b'a' + random.below(2) as u8).collect()
        })
        .collect();
    (0..sections)
        .map(|_| {
            let mut data = Vec::new();
            for _ in 0..random.below(40) {
                data.extend_from_slice(&stock[random.below(60) as usize]);
                data.resize(data.len() + entsize, 0);
                // Most strings are padded, as compilers do; some are not.
                if random.below(4) != 0 {
                    while !data.len().is_multiple_of(align) {
                        data.resize(data.len() + entsize, 0);
                    }
                }
            }
            data
        })
        .collect()
}

/// Merges with small tasks and several shards, so that little data exercises all of it.
fn merge_finely<'a>(inputs: &[MergeInput<'a>], options: &MergeOptions, threads: usize) -> Merged<'a> {
    let layout = Layout { task_bytes: 300, shard_bits: 3, ..Layout::of(inputs) };
    let data = inputs.iter().map(|input| input.data).collect();
    merge(data, &layout, options, threads).ok().unwrap()
}

/// Room lies behind the pieces, keeps the alignment, and is zeroes.
#[test]
fn room_is_behind_the_pieces() {
    let options = MergeOptions { tail_merge: false, dedupe: true };
    let mut merged = build(&[MergeInput { align: 4, ..strings(b"one\0two\0") }], &options);
    let before = bytes(&merged);
    merged.add_room(5);
    assert_eq!((merged.size(), merged.room()), (before.len() as u64 + 8, 8));
    assert_eq!(bytes(&merged), [&before[..], &[0; 8]].concat());
    merged.add_room(u64::from(u32::MAX));
    assert_eq!(merged.room(), 8);
}

#[test]
fn plain_strings() {
    let (a, b) = (b"hello\0world\0".as_slice(), b"world\0\0hello\0x\0".as_slice());
    let merged = build(&[strings(a), strings(b)], &DEDUPE);
    assert_eq!(bytes(&merged), b"hello\0world\0\0x\0");
    assert_eq!(merged.output_offset(0, 6), Some(6));
    assert_eq!(merged.output_offset(1, 2), Some(8), "inside a string");
    assert_eq!(merged.output_offset(1, 6), Some(12), "the empty string");
    assert_eq!(merged.output_offset(1, 15), Some(15), "the end");
    assert_eq!(merged.output_offset(1, 16), None);
}

#[test]
fn random_strings_of_all_units_and_alignments() {
    let mut random = Random(1);
    for (entsize, align) in [(1, 1), (1, 8), (1, 32), (2, 2), (2, 1), (4, 4), (4, 16), (2, 8), (3, 4)] {
        for round in 0..4 {
            let sections = random_strings(&mut random, 20, entsize, align);
            let input =
                |data| MergeInput { data, entsize: entsize as u32, strings: true, align: align as u32 };
            let inputs: Vec<_> = sections.iter().map(|data| input(data.as_slice())).collect();
            check_merge(&inputs, &build(&inputs, &DEDUPE), false);
            check_merge(&inputs, &merge_finely(&inputs, &DEDUPE, 1), false);
            let tails = merge_finely(&inputs, &TAILS, 1 + round % 2);
            check_merge(&inputs, &tails, true);
            assert!(tails.size() <= merge_finely(&inputs, &DEDUPE, 1).size());
        }
    }
}

#[test]
fn random_constants_of_all_sizes() {
    let mut random = Random(2);
    for (entsize, align) in [(1, 1), (4, 4), (8, 8), (16, 16), (32, 8), (12, 4), (5, 1), (4, 16), (12, 8)] {
        let sections: Vec<Vec<u8>> = (0..20)
            .map(|_| {
                let entries = random.below(60) as usize;
                (0..entries).flat_map(|_| vec![random.below(40) as u8; entsize as usize]).collect()
            })
            .collect();
        let inputs: Vec<_> = sections.iter().map(|data| constants(data, entsize, align)).collect();
        check_merge(&inputs, &build(&inputs, &DEDUPE), false);
        check_merge(&inputs, &merge_finely(&inputs, &DEDUPE, 1), false);
        check_merge(&inputs, &merge_finely(&inputs, &TAILS, 2), false);
    }
}

#[test]
fn constants_of_zeros_are_no_strings() {
    let data = [0u8; 24];
    let merged = build(&[constants(&data, 8, 8)], &DEDUPE);
    assert_eq!(bytes(&merged), [0; 8]);
    assert_eq!(merged.output_offset(0, 17), Some(1));
}

#[test]
fn same_bytes_for_every_number_of_threads() {
    let mut random = Random(3);
    let sections = random_strings(&mut random, 200, 1, 1);
    let inputs: Vec<_> = sections.iter().map(|data| strings(data)).collect();
    for options in [&DEDUPE, &TAILS] {
        let one = merge_finely(&inputs, options, 1);
        for threads in [2, 3, 8] {
            let many = merge_finely(&inputs, options, threads);
            assert_eq!(bytes(&one), bytes(&many));
            for (i, input) in inputs.iter().enumerate() {
                for offset in 0..=input.data.len() as u64 {
                    assert_eq!(one.output_offset(i, offset), many.output_offset(i, offset));
                }
            }
        }
    }
}

#[test]
fn any_range_can_be_written() {
    let mut random = Random(4);
    for (entsize, align) in [(1, 1), (1, 16), (2, 4)] {
        let sections = random_strings(&mut random, 10, entsize, align);
        let input = |data| MergeInput { data, entsize: entsize as u32, strings: true, align: align as u32 };
        let inputs: Vec<_> = sections.iter().map(|data| input(data.as_slice())).collect();
        for options in [&DEDUPE, &TAILS, &NOTHING] {
            let merged =
                if options.dedupe { merge_finely(&inputs, options, 1) } else { build(&inputs, options) };
            let all = bytes(&merged);
            for _ in 0..300 {
                let start = random.below(all.len() as u64 + 1) as usize;
                let len = random.below((all.len() - start) as u64 + 1) as usize;
                let mut out = vec![0xaa; len];
                merged.write(start as u64, &mut out);
                assert_eq!(out, all[start..start + len]);
            }
        }
    }
}

#[test]
fn suffixes_are_shared() {
    let data = b"bar\0foobar\0ar\0\0baz\0foobar\0".as_slice();
    let inputs = [strings(data)];
    let merged = build(&inputs, &TAILS);
    assert_eq!(bytes(&merged), b"foobar\0baz\0");
    check_merge(&inputs, &merged, true);
}

#[test]
fn suffixes_keep_alignment_and_unit() {
    let aligned =
        MergeInput { data: b"abcdefg\0uvwxyz\0\0efg\0yz\0\0xyz\0", entsize: 1, strings: true, align: 4 };
    let merged = build(&[aligned], &TAILS);
    // "efg" starts at an offset of 4; "yz" would in "uvwxyz", but "xyz" comes before it.
    assert_eq!(bytes(&merged), b"abcdefg\0uvwxyz\0\0yz\0\0xyz\0");
    check_merge(&[aligned], &merged, true);
    // The bytes of the second string end the first one, but not at a unit.
    let wide = MergeInput { data: b"abcd\0\0bc\0\0d\0\0\0cd\0\0", entsize: 2, strings: true, align: 1 };
    let merged = build(&[wide], &TAILS);
    check_merge(&[wide], &merged, true);
    assert_eq!(merged.size(), 14);
}

#[test]
fn without_dedupe_inputs_stay_whole() {
    let inputs = [
        MergeInput { data: b"a\0a\0b", entsize: 1, strings: true, align: 4 },
        MergeInput { data: b"a\0", entsize: 1, strings: true, align: 4 },
    ];
    let merged = build(&inputs, &NOTHING);
    assert_eq!(bytes(&merged), b"a\0a\0b\0\0\0a\0");
    assert_eq!(merged.output_offset(0, 5), Some(5));
    assert_eq!(merged.output_offset(1, 1), Some(9));
    assert_eq!(merged.output_offset(1, 3), None);
}

#[test]
fn nothing_and_empty_inputs() {
    for options in [&DEDUPE, &TAILS, &NOTHING] {
        let merged = build(&[], options);
        assert_eq!((merged.size(), merged.align()), (0, 1));
        merged.write(0, &mut []);
        let merged = build(&[strings(b""), strings(b"a\0"), strings(b"")], options);
        assert_eq!(merged.size(), 2);
        assert!(merged.output_offset(0, 0).is_some() && merged.output_offset(2, 0).is_some());
        assert_eq!(merged.output_offset(0, 1), None);
        assert_eq!(merged.output_offset(1, 0), Some(0));
    }
}

#[test]
fn all_errors_are_reported() {
    let build = |inputs: &[MergeInput]| Merged::build(inputs, &DEDUPE, 1).err().unwrap();
    assert_eq!(
        build(&[strings(b"ok\0"), strings(b"open"), strings(b""), strings(b"\0x")]),
        [MergeError::NotTerminated { input: 1 }, MergeError::NotTerminated { input: 3 }]
    );
    let wide = |data| MergeInput { data, entsize: 2, strings: true, align: 1 };
    assert_eq!(
        build(&[wide(b"ab\0\0"), wide(b"abc\0\0"), wide(b"ab"), wide(b"abc\0")]),
        [
            MergeError::BadEntrySize { input: 1, entsize: 2, size: 5 },
            MergeError::NotTerminated { input: 2 },
            MergeError::NotTerminated { input: 3 },
        ]
    );
    assert_eq!(
        build(&[constants(b"abcd", 4, 4), constants(b"abcd", 0, 4), constants(b"ab", 2, 1), strings(b"\0")]),
        [
            MergeError::BadEntrySize { input: 1, entsize: 0, size: 4 },
            MergeError::Mixed { input: 2 },
            MergeError::Mixed { input: 3 },
        ]
    );
    assert_eq!(
        build(&[constants(b"abcd", 4, 3), constants(b"abcd", 4, u32::MAX)]),
        [
            MergeError::BadAlignment { input: 0, align: 3 },
            MergeError::BadAlignment { input: 1, align: u32::MAX }
        ]
    );
}

#[test]
fn positions_beyond_32_bits_are_an_error() {
    let input = constants(&[1, 2, 3], 1, 1 << 31);
    assert_eq!(Merged::build(&[input], &DEDUPE, 1).err(), Some(vec![MergeError::TooLarge]));
    let input = MergeInput { data: b"a\0b\0c\0", entsize: 1, strings: true, align: 1 << 31 };
    assert_eq!(Merged::build(&[input], &TAILS, 1).err(), Some(vec![MergeError::TooLarge]));
}

/// Synthetic `.debug_str` sections: mangled names and plain ones, most of them in many objects.
fn debug_str(total: usize) -> (Vec<Vec<u8>>, usize) {
    let mut random = Random(5);
    let stock: Vec<Vec<u8>> = (0..total / 250)
        .map(|i| {
            let len = if i % 3 == 0 { 40 + random.below(80) } else { 4 + random.below(24) };
            let mut name = format!("_ZN{i:x}").into_bytes();
            name.extend((0..len).map(|_| b'a' + random.below(26) as u8));
            name
        })
        .collect();
    let mut count = 0;
    let sections = (0..total / (256 << 10))
        .map(|_| {
            let mut data = Vec::with_capacity(257 << 10);
            while data.len() < 256 << 10 {
                // Half of the uses fall on a sixteenth of the names.
                let range = if random.below(2) == 0 { stock.len() } else { stock.len() / 16 };
                data.extend_from_slice(&stock[random.below(range as u64) as usize]);
                data.push(0);
                count += 1;
            }
            data
        })
        .collect();
    (sections, count)
}

/// The shortest of several runs in seconds, and the last result.
fn best<R>(mut f: impl FnMut() -> R) -> (f64, R) {
    let mut shortest = f64::MAX;
    let mut result = None;
    for _ in 0..7 {
        let start = std::time::Instant::now();
        result = Some(std::hint::black_box(f()));
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    (shortest, result.unwrap())
}

/// `cargo test --release -p weld-common merge::tests::speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn speed() {
    let (sections, count) = debug_str(100 << 20);
    let inputs: Vec<_> = sections.iter().map(|data| strings(data)).collect();
    // Every string of each input, in disorder.
    let mut random = Random(6);
    let mut offsets = Vec::new();
    for data in &sections {
        let ends = data.iter().enumerate().filter(|(_, b)| **b == 0);
        let mut starts: Vec<u64> = ends.map(|(i, _)| i as u64 + 1).collect();
        starts.pop();
        (1..starts.len()).for_each(|i| starts.swap(i, random.below(i as u64) as usize));
        offsets.push(starts);
    }
    let bytes_each = (100 << 20) as f64 / count as f64;
    println!("{count} strings of {bytes_each:.0} bytes");
    for (threads, options) in [(1, &DEDUPE), (2, &DEDUPE), (1, &TAILS)] {
        let (build, merged) = best(|| Merged::build(&inputs, options, threads).unwrap());
        let mut out = vec![1; merged.size() as usize];
        let (write, ()) = best(|| merged.write(0, &mut out));
        let find_all = || {
            let each = offsets.iter().enumerate();
            let each = each.flat_map(|(i, offsets)| offsets.iter().map(move |&offset| (i, offset)));
            each.fold(0, |sum, (i, offset)| sum ^ merged.output_offset(i, offset).unwrap())
        };
        let (find, _) = best(find_all);
        println!(
            "threads {threads}, tails {}: to {} MB; build {:.1} ns a string, find {:.1} ns, write {:.0} MB/s, \
             kept {:.1} bytes a string",
            options.tail_merge,
            merged.size() >> 20,
            build * 1e9 / count as f64,
            find * 1e9 / count as f64,
            merged.size() as f64 / write / 1e6,
            merged.memory() as f64 / count as f64,
        );
    }
}
