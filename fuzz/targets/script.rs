//! Linker scripts that stand in for libraries, and `--defsym`.
#![no_main]

use weld_elf::script::{expr, standin};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = standin::looks_like_text(data);
    let _ = standin::parse(data, "script");
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = expr::parse_defsym(text);
    }
});
