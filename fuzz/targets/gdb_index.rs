//! Debug information for `.gdb_index`: whatever the sections hold, an index of what can be read. Ranges and
//! names lie where they say, and there are no more of them than there are bytes. The first bytes say how long
//! each section is.
#![no_main]

use weld_elf::synth::debug_info::dwarf::{KINDS, Kind, Source};
use weld_elf::synth::debug_info::object::{Link, Wanted};
use weld_elf::synth::debug_info::plain::Plain;
use weld_elf::synth::gdb_index::collect::{Collected, Collector};
use weld_elf::synth::gdb_index::names::{First, Run, put_together};
use weld_elf::synth::gdb_index::table::Table;
use weld_fuzz::Choices;

/// All sections are in the output.
struct Everything;

impl Link for Everything {
    fn is_live(&self, _: u32) -> bool {
        true
    }
    fn number(&self, section: u32) -> u32 {
        section
    }
    fn size(&self, _: u32) -> u64 {
        64
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
        tables: Vec::new(),
    };
    let mut collector = Collector::default();
    collector.begin(1);
    collector.object(&source, &wanted, &Everything);
    let Collected { lists, windows } = collector.finish();
    let info = source.bytes(Plain::section(Kind::Info)).len() + source.bytes(Plain::section(Kind::Types)).len();
    assert!(lists.units.len() + lists.type_units.len() <= info);
    for unit in &lists.units {
        assert!(unit.place.offset + unit.length <= source.bytes(unit.place.section).len() as u64);
    }
    let first = First { unit: 0, type_unit: lists.units.len() as u32 };
    let names = put_together(vec![Run { first, windows }], 1, 1);
    let table = Table::new(lists, names, false).expect("a small index");
    let mut bytes = vec![0; table.size() as usize];
    table.write(0, &mut bytes, &|_| 0);
});
