//! Whole links of one COFF file, be it an object, a library, compiled resources or a DLL. The first byte
//! selects options, among them a PDB; a sound object with the entry point is linked beside it.
#![no_main]

use std::ffi::OsString;
use std::sync::LazyLock;

use weld_coff::args::Environment;
use weld_common::host::QuietHost;
use weld_fuzz::MemFile;
use weld_testkit::coff::{self, Coff};

static START: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
    object.symbol("start", 0, text, coff::EXTERNAL);
    let wanted = object.symbol("wanted", 0, 0, coff::EXTERNAL);
    object.reloc(text, 1, wanted, coff::REL32);
    object.build()
});

/// The options that a byte stands for. Undefined and duplicate symbols are allowed, so that links go on to
/// the phases behind.
fn options(byte: u8) -> Vec<&'static str> {
    let mut list = vec!["/entry:start", "/subsystem:console", "/threads:1", "/nodefaultlib", "/force"];
    let more: [&[&str]; 6] = [
        &["/lldmingw"],
        &["/debug", "/pdb:/dev/null"],
        &["/dll", "/noimplib", "/export:start"],
        &["/opt:noref", "/opt:noicf"],
        &["/guard:cf,longjmp,ehcont"],
        &["/wholearchive", "/debug:symtab"],
    ];
    list.extend(more.iter().enumerate().filter(|(bit, _)| byte >> bit & 1 != 0).flat_map(|(_, options)| *options));
    list
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&byte, data)) = data.split_first() else { return };
    // Thin archives name other files, which would be opened.
    if data.starts_with(b"!<thin>") {
        return;
    }
    let files = [MemFile::new(&START), MemFile::new(data)];
    let mut args: Vec<OsString> = vec!["/out:/dev/null".into()];
    args.extend(options(byte).into_iter().map(OsString::from));
    args.extend(files.iter().map(|file| OsString::from(file.path())));
    if let Err(problems) = weld_coff::link::link(&args, &Environment::default(), &QuietHost::new()) {
        let text = problems.to_string();
        assert!(!text.contains("internal error"), "{text}");
    }
});
