//! Linker scripts that stand in for libraries, and `--defsym`.
#![no_main]

use weld_elf::script::{commands, expr};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = commands::looks_like_text(data);
    let _ = commands::parse_alone(data, "script");
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = expr::parse_defsym(text);
    }
});
