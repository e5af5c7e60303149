//! Version scripts: parsed, joined with themselves, compiled and asked for names.
#![no_main]

use weld_elf::script::version_script::{VersionMatcher, parse};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(mut script) = parse(data, "script") else { return };
    if let Ok((matcher, _)) = VersionMatcher::new(&script) {
        let demangled = || Some("ns::f(int)".to_owned());
        for name in data.split(|b| b" \n\t;{}\"".contains(b)).chain([&b"foo"[..], b"", b"_ZN2ns1fEi"]) {
            let choice = matcher.lookup(name, demangled);
            assert_eq!(choice, matcher.lookup(name, demangled));
        }
    }
    let copy = script.clone();
    let _ = script.append(copy);
    let _ = script.exact_globals().count();
});
