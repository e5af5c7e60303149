//! Links of generated objects for machines other than x86-64: their scans, relaxations, PLTs and writers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| weld_fuzz::machines::check(data));
