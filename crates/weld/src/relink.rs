//! `weld relink --forget DIR...`: removes what links keep for later ones (`--incremental`).

use std::ffi::OsString;
use std::path::Path;

use weld_common::io::reason;

/// Removes each directory and returns what to print.
pub fn run(args: &[OsString]) -> Result<String, String> {
    let Some((option, dirs)) =
        args.split_first().filter(|(option, dirs)| *option == "--forget" && !dirs.is_empty())
    else {
        return Err("usage: weld relink --forget DIR...".to_owned());
    };
    debug_assert_eq!(option, "--forget");
    for dir in dirs.iter().map(Path::new) {
        weld_elf::relink::forget(dir)
            .map_err(|e| format!("cannot forget {}: {}", dir.display(), reason(&e)))?;
    }
    Ok(String::new())
}
