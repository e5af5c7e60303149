//! Tables of names for `--debug-names`: whatever a section holds, an index of it, or an error. What an index
//! says is read back.
#![no_main]

use weld_elf::elf::Format;
use weld_elf::synth::debug_info::dwarf::{Cursor, KINDS, Kind, Pointer};
use weld_elf::synth::debug_info::object::Link;
use weld_elf::synth::debug_info::plain::Plain;
use weld_elf::synth::debug_names::collect::{Collector, Text, Texts};
use weld_elf::synth::debug_names::index::Index;
use weld_elf::synth::debug_names::names::Strings;
use weld_elf::synth::debug_names::table::{Addresses, Table};
use weld_fuzz::Choices;

/// Units in one section of three are gone.
struct SomeUnits;

impl Link for SomeUnits {
    fn is_live(&self, section: u32) -> bool {
        section % 3 != 2
    }
    fn number(&self, section: u32) -> u32 {
        section
    }
    fn size(&self, _: u32) -> u64 {
        64
    }
}

impl Texts for SomeUnits {
    fn place(&mut self, text: Pointer) -> Option<Text> {
        (text.offset < 1 << 16).then_some(Text { space: text.section, at: text.offset as u32 })
    }
}

impl Strings for SomeUnits {
    fn is_same(&self, one: Text, other: Text) -> bool {
        one == other
    }
    fn hash(&self, text: Text) -> Option<u64> {
        (text.at % 4 != 3).then_some(u64::from(text.at))
    }
}

impl Addresses for SomeUnits {
    fn unit(&self, unit: Pointer) -> u64 {
        unit.offset
    }
    fn text(&self, text: Text) -> u64 {
        u64::from(text.at)
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let is_big_endian = choices.flag();
    let names = choices.rest();
    let mut sections: [&[u8]; KINDS] = [&[]; KINDS];
    (sections[Kind::Names as usize], sections[Kind::Info as usize]) = (names, &[0; 64]);
    sections[Kind::Str as usize] = b"main\0int\0std\0";
    let source = Plain { sections, is_big_endian };
    let mut collector = Collector::default();
    collector.begin(5);
    if collector.section(&source, Plain::section(Kind::Names), &SomeUnits, &mut SomeUnits).is_err() {
        return;
    }
    let collected = collector.finish();
    let entries = collected.entries.len();
    assert!(entries <= names.len());
    let table = Table::new(vec![collected], 5, 1, &SomeUnits).expect("a small index");
    let mut bytes = vec![0; table.size() as usize];
    table.write(0, &mut bytes, Format::NATIVE, &SomeUnits);
    let mut cursor = Cursor { bytes: &bytes, at: 0, section: 1, big: false };
    let index = Index::read(&mut cursor).expect("an index that can be read");
    assert!(cursor.at == bytes.len() && index.names() <= entries);
});
