//! `.note.gnu.property`: read, merged, written and read again.
#![no_main]

use weld_elf::synth::property_note::Properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let machine = weld_elf::arch::default().facts();
    let format = machine.target.format;
    let mut one = Properties::new(machine);
    if one.parse(data, format).is_err() {
        return;
    }
    let merged = Properties::merge(machine, [&one, &one]);
    let mut bytes = vec![0xaa; merged.size(format) as usize];
    merged.write(format, &mut bytes);
    let mut again = Properties::new(machine);
    again.parse(&bytes, format).expect("own notes can be read");
    assert_eq!(again, merged);
});
