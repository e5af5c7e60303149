//! Links with generated scripts: those that make sense end in a file that is verified as those of the
//! end-to-end tests are, and nonsense in a clear error. With `WELD_FUZZ_SAVE=DIR` in the environment the
//! inputs of a finding are written to DIR.
//!
//! One input in eight is a plain script, about which linkers agree. With `WELD_FUZZ_PEER=ld` GNU ld links the
//! same, and output sections and symbols have to have the same addresses, sizes and bytes; all inputs are
//! such ones then.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use weld_fuzz::{Choices, MemFile, generated, options, run_link, scripts};
use weld_tests::elf::Image;
use weld_tests::verify::verify;

/// Alignments and addresses can ask for files that are sparse and too large to be read back.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// What generated objects and scripts say themselves is not the linker's fault.
fn comes_from_input(problem: &str) -> bool {
    problem.starts_with("symbol ")
        || problem.starts_with("TLS symbol ")
        || problem.starts_with("notes: ")
        || problem.contains("is not a multiple of the entry size")
        // Scripts say where what lies (overlays, addresses that suit no alignment) and which program headers
        // there are, so that sections may be in none.
        || problem.contains(" overlap in the memory ")
        || problem.contains(": address ") && problem.contains(" is not aligned to ")
        || problem.contains("file offset does not match the address")
        || problem.contains("which is not loaded")
        || problem.contains("PT_")
        || problem.contains("segment")
}

/// What two linkers have to agree on: where output sections lie, with their bytes, and values of symbols.
fn facts(image: &Image) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for section in image.sections.iter().filter(|s| s.is_alloc() && s.size > 0) {
        let (start, size) = (section.offset as usize, if section.is_nobits() { 0 } else { section.size as usize });
        let bytes = &image.data[start..start + size];
        let text = format!("{:#x} {:#x} {bytes:02x?}", section.addr, section.size);
        facts.insert(section.name.clone(), text);
    }
    for symbol in image.symbols.iter().filter(|s| !s.name.is_empty() && s.bind != 0) {
        facts.insert(format!("symbol {}", symbol.name), format!("{:#x}", symbol.value));
    }
    facts
}

fn compare(peer: &str, args: &[String], output: &Path, script: &str) {
    let other = output.with_extension("peer");
    let mut args = args.to_vec();
    args[1] = other.display().to_string();
    let done = Command::new(peer).args(&args).output().expect("the other linker can be run");
    if !done.status.success() {
        return;
    }
    let [ours, theirs] = [output, &other].map(|path| facts(&Image::read(path).expect("the output can be read back")));
    let _ = std::fs::remove_file(&other);
    assert!(ours == theirs, "{script}\nweld: {ours:#?}\n{peer}: {theirs:#?}");
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let peer = std::env::var("WELD_FUZZ_PEER").ok();
    let byte = choices.byte();
    let plain = peer.is_some() || choices.below(8) == 7;
    let (script, objects) = match plain {
        true => (scripts::plain_script(&mut choices), vec![scripts::plain_object()]),
        false => {
            let script = scripts::script(&mut choices);
            let mut objects = vec![generated::start_object(), generated::object(&mut choices)];
            if choices.below(8) == 7 {
                objects.push(generated::library(&mut choices));
            }
            (script, objects)
        }
    };
    if let Some(dir) = std::env::var_os("WELD_FUZZ_SAVE") {
        let dir = Path::new(&dir);
        std::fs::write(dir.join("script.ld"), &script).expect("the directory can be written");
        for (i, object) in objects.iter().enumerate() {
            std::fs::write(dir.join(format!("{i}.o")), object).expect("the directory can be written");
        }
    }
    let text = MemFile::new(script.as_bytes());
    let files: Vec<MemFile> = objects.iter().map(|bytes| MemFile::new(bytes)).collect();
    let output = std::env::temp_dir().join(format!("weld-fuzz-script-{}", std::process::id()));
    let mut args = vec!["-o".to_owned(), output.display().to_string()];
    if !plain {
        args.extend(options(byte).iter().map(|option| (*option).to_owned()));
        if byte & 0x40 != 0 {
            args.push("--enable-non-contiguous-regions".to_owned());
        }
    }
    args.extend(["-T".to_owned(), text.path()]);
    args.extend(files.iter().map(MemFile::path));
    let forced = args.iter().any(|arg| arg == "--noinhibit-exec");
    let result = run_link(&args);
    assert!(!plain || result.is_ok(), "{script}\n{result:?}");
    if result.is_err() || forced {
        return;
    }
    if std::fs::metadata(&output).is_ok_and(|meta| meta.len() > LARGEST_OUTPUT) {
        return;
    }
    if let Some(peer) = &peer {
        return compare(peer, &args, &output, &script);
    }
    let image = Image::read(&output).expect("the output can be read back");
    let mut problems = verify(&image);
    problems.retain(|problem| !comes_from_input(problem));
    assert!(problems.is_empty(), "{script}\n{}", problems.join("\n"));
});
