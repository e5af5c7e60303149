//! Whole links of generated objects, whose outputs are read back and verified as those of the
//! end-to-end tests are.
#![no_main]

use weld_fuzz::{Choices, MemFile, generated, options, run_link};
use weld_tests::elf::Image;
use weld_tests::verify::verify;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let byte = choices.byte();
    let objects = [generated::start_object(), generated::object(&mut choices), generated::object(&mut choices)];
    let files: Vec<MemFile> = objects.iter().map(|bytes| MemFile::new(bytes)).collect();
    let output = std::env::temp_dir().join(format!("weld-fuzz-{}", std::process::id()));
    let mut args = vec!["-o".to_owned(), output.display().to_string()];
    args.extend(options(byte).iter().map(|option| (*option).to_owned()));
    args.extend(files.iter().map(MemFile::path));
    let forced = args.iter().any(|arg| arg == "--noinhibit-exec");
    if run_link(&args).is_err() || forced {
        return;
    }
    let image = Image::read(&output).expect("the output can be read back");
    let problems = verify(&image);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
});
