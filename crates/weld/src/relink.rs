//! `weld relink --forget DIR...`: removes what links keep for later ones (`--incremental`).

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use weld_common::io::reason;

/// Why something is still there.
#[derive(Debug)]
pub enum ForgetError {
    Usage,
    Kept(PathBuf, io::Error),
}

impl fmt::Display for ForgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForgetError::Usage => f.write_str("usage: weld relink --forget DIR..."),
            ForgetError::Kept(dir, e) => write!(f, "cannot forget {}: {}", dir.display(), reason(e)),
        }
    }
}

impl std::error::Error for ForgetError {}

/// Removes each directory and returns what to print, which is nothing.
pub fn run(args: &[OsString]) -> Result<String, ForgetError> {
    match args {
        [option, dirs @ ..] if option == "--forget" && !dirs.is_empty() => {
            for dir in dirs.iter().map(Path::new) {
                weld_common::relink::directory::forget(dir)
                    .map_err(|e| ForgetError::Kept(dir.to_owned(), e))?;
            }
            Ok(String::new())
        }
        _ => Err(ForgetError::Usage),
    }
}
