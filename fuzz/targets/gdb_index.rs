//! Debug information for `.gdb_index`: whatever the sections hold, an index of what can be read. Ranges and names lie where they
//! say, and there are no more of them than there are bytes. The first bytes say how long each section is.
#![no_main]

use std::cell::RefCell;

use weld_elf::synth::gdb_index::collect::{Collector, Link, Wanted};
use weld_elf::synth::gdb_index::dwarf::{KINDS, Kind, Source};
use weld_elf::synth::gdb_index::names::{Bins, First, Names};
use weld_elf::synth::gdb_index::plain::Plain;
use weld_elf::synth::gdb_index::table::Table;
use weld_fuzz::Choices;

/// All sections are in the output. Keeps what the reader wants kept.
#[derive(Default)]
struct Everything(RefCell<Vec<Box<[u8]>>>);

impl<'a> Link<'a> for &'a Everything {
    fn is_live(&self, _: u32) -> bool {
        true
    }
    fn number(&self, section: u32) -> u32 {
        section
    }
    fn keep(&self, bytes: Vec<u8>) -> &'a [u8] {
        let bytes = bytes.into_boxed_slice();
        // SAFETY: the bytes stay where they are until the list goes, which is borrowed for `'a`.
        let kept = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        self.0.borrow_mut().push(bytes);
        kept
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let is_big_endian = choices.flag();
    let lengths: [usize; KINDS] = std::array::from_fn(|_| 4 * choices.byte() as usize);
    let mut rest = choices.rest();
    let sections = lengths.map(|length| {
        let (section, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        section
    });
    let source = Plain { sections, is_big_endian };
    let present = |kind| (source.first(kind) != 0).then(|| Plain::section(kind));
    let wanted = Wanted {
        units: [Kind::Info, Kind::Types].into_iter().filter_map(present).collect(),
        lists: [Kind::PubNames, Kind::PubTypes].into_iter().filter_map(present).collect(),
    };
    let everything = Everything::default();
    let mut collector = Collector::new(Bins::new(1));
    collector.object(&source, &wanted, &&everything);
    let lists = collector.lists;
    let info = source.bytes(Plain::section(Kind::Info)).len() + source.bytes(Plain::section(Kind::Types)).len();
    assert!(lists.units.len() + lists.type_units.len() <= info);
    for unit in &lists.units {
        assert!(unit.place.offset + unit.length <= source.bytes(unit.place.section).len() as u64);
    }
    let mut names = Names::new(1);
    names.enter(&[(First::default(), collector.bins)], false);
    let names = names.finish(lists.units.len() as u32, false);
    let table = Table::new(lists, names, false).expect("a small index");
    let mut bytes = vec![0; table.size() as usize];
    table.write(0, &mut bytes, &|_| 0);
});
