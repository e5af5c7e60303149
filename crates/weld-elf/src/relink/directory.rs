//! Where a link of ELF keeps what a later one wants: [`weld_common::relink::directory`], of which the options may say
//! where it is.

use std::path::PathBuf;

pub use weld_common::relink::directory::*;

use crate::options::Options;

/// The directory for the state of a link with these options.
pub fn path(options: &Options) -> PathBuf {
    options.output.incremental_dir.clone().unwrap_or_else(|| beside(&options.output.path))
}
