//! Whole links of generated objects, whose outputs are read back and verified as those of the
//! end-to-end tests are. With `WELD_FUZZ_SAVE=DIR` in the environment the objects of a finding are
//! written to DIR, with the options in DIR/args.
#![no_main]

use std::path::Path;
use weld_fuzz::{Choices, MemFile, generated, options, run_link};
use weld_tests::elf::Image;
use weld_tests::verify::verify;

/// Alignments can ask for files that are sparse and too large to be read back.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// Symbols of generated objects lie anywhere, have any type and any size, and their notes may be
/// garbage; so the output says it of them, too.
fn comes_from_input(problem: &str) -> bool {
    problem.starts_with("symbol ")
        || problem.starts_with("TLS symbol ")
        || problem.starts_with("notes: ")
        || problem.contains("is not a multiple of the entry size")
}

fn save(dir: &Path, objects: &[Vec<u8>], options: &[&str]) {
    for (i, object) in objects.iter().enumerate() {
        std::fs::write(dir.join(format!("{i}.o")), object).expect("the directory can be written");
    }
    std::fs::write(dir.join("args"), options.join(" ")).expect("the directory can be written");
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let byte = choices.byte();
    let mut objects =
        vec![generated::start_object(), generated::object(&mut choices), generated::object(&mut choices)];
    if choices.below(4) == 3 {
        objects.push(generated::library(&mut choices));
    }
    if let Some(dir) = std::env::var_os("WELD_FUZZ_SAVE") {
        save(Path::new(&dir), &objects, &options(byte));
    }
    let files: Vec<MemFile> = objects.iter().map(|bytes| MemFile::new(bytes)).collect();
    let output = std::env::temp_dir().join(format!("weld-fuzz-{}", std::process::id()));
    let mut args = vec!["-o".to_owned(), output.display().to_string()];
    args.extend(options(byte).iter().map(|option| (*option).to_owned()));
    args.extend(files.iter().map(MemFile::path));
    let forced = args.iter().any(|arg| arg == "--noinhibit-exec");
    if run_link(&args).is_err() || forced {
        return;
    }
    if std::fs::metadata(&output).is_ok_and(|meta| meta.len() > LARGEST_OUTPUT) {
        return;
    }
    let image = Image::read(&output).expect("the output can be read back");
    let mut problems = verify(&image);
    problems.retain(|problem| !comes_from_input(problem));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
});
