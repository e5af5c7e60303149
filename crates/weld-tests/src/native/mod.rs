//! Tests that are programs rather than data: they link inside this process many times with inputs
//! made in memory. They run with weld only.

mod corruption;
mod holes;
mod large;
mod parts;
mod wrong_fields;

use crate::linker::Linker;
use std::path::Path;

type NativeTest = fn(&Linker, &Path) -> Result<(), String>;

/// Name, whether only with `--full`, and the test.
const TESTS: &[(&str, bool, NativeTest)] = &[
    ("native/damaged-objects", false, |l, d| corruption::objects(l, d, 1500)),
    ("native/damaged-archives", false, |l, d| corruption::archives(l, d, 800)),
    ("native/damaged-shared-objects", false, |l, d| corruption::shared_objects(l, d, 800)),
    ("native/damaged-texts", false, |l, d| corruption::texts(l, d, 800)),
    ("native/holes", false, holes::zeroes_among_data),
    ("native/large-objects", false, large::same_bytes_as_small_ones),
    ("native/large-objects-with-errors", false, large::errors_in_order),
    ("native/parts", false, parts::same_bytes),
    ("native/truncated", false, corruption::truncated),
    ("native/wrong-fields-of-objects", false, wrong_fields::objects),
    ("native/wrong-fields-of-libraries", false, wrong_fields::shared_objects),
    ("native/damaged-objects-long", true, |l, d| corruption::objects(l, d, 60_000)),
    ("native/damaged-archives-long", true, |l, d| corruption::archives(l, d, 30_000)),
    ("native/damaged-shared-objects-long", true, |l, d| corruption::shared_objects(l, d, 30_000)),
    ("native/damaged-texts-long", true, |l, d| corruption::texts(l, d, 30_000)),
];

pub fn names(full: bool) -> Vec<String> {
    TESTS.iter().filter(|t| full || !t.1).map(|t| t.0.to_owned()).collect()
}

pub fn run(name: &str, linker: &Linker, dir: &Path) -> Result<(), String> {
    let test = TESTS.iter().find(|t| t.0 == name).ok_or_else(|| format!("there is no test {name}"))?;
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    std::env::set_current_dir(dir).map_err(|e| e.to_string())?;
    test.2(linker, dir)
}
