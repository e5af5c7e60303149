//! Where things are: what tests keep from run to run, and the programs that they call.

use std::path::PathBuf;

/// Where objects and link templates are kept.
pub fn cache_dir() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("weld")
}

/// Looks a program up in `PATH`.
pub fn find_program(name: &str) -> Result<PathBuf, String> {
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|d| d.join(name)).find(|p| p.is_file());
    found.ok_or_else(|| format!("{name} is not installed (./test installs what the tests need)"))
}
