//! `--dynamic-list` and `--export-dynamic-symbol-list`.
#![no_main]

use weld_elf::script::dynamic_list::{DynamicList, parse};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(patterns) = parse(data, "list") else { return };
    let Ok(list) = DynamicList::new(patterns.iter().map(|p| (p, "list"))) else { return };
    for name in data.split(|b| b" \n\t;{}\"".contains(b)) {
        let _ = list.contains(name, || Some("ns::f(int)".to_owned()));
    }
});
