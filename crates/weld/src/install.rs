//! `weld install-links DIR`: links by which compilers find weld.
//!
//! `gcc -B DIR` and `clang -B DIR` call `DIR/ld`; with `-fuse-ld=lld` it is `DIR/ld.lld`.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::Path;

const NAMES: [&str; 5] = ["ld", "ld.lld", "ld.weld", "lld-link", "weld-link"];

/// Makes the links and returns what to print. Other files are not replaced.
pub fn links(args: &[OsString]) -> Result<String, String> {
    let [dir] = args else { return Err("usage: weld install-links DIR".to_owned()) };
    let program = std::env::current_exe().map_err(|e| format!("cannot find weld's own path: {e}"))?;
    let dir = Path::new(dir);
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
    for name in NAMES {
        link(&program, &dir.join(name))?;
    }
    let shown = dir.display();
    Ok(format!("Made {} in {shown}. To link with weld: gcc -B{shown} …\n", NAMES.join(", ")))
}

/// A link that leads here already stays, and one whose target is gone is replaced.
fn link(program: &Path, link: &Path) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot create {}: {e}", link.display());
    if let Ok(old) = std::fs::read_link(link) {
        if link.canonicalize().is_ok_and(|target| target == program) {
            return Ok(());
        }
        if link.exists() {
            return Err(format!("{} leads to {}; remove it first", link.display(), old.display()));
        }
        std::fs::remove_file(link).map_err(fail)?;
    } else if link.symlink_metadata().is_ok() {
        return Err(format!("{} exists and is no link; remove it first", link.display()));
    }
    symlink(program, link).map_err(fail)
}
