//! `--reproduce`: everything the link reads, in a tar file with its command line.

use weld_common::args::response::Expanded;
use weld_common::diag::Diagnostics;
use weld_common::io::input::InputStore;
use weld_common::reproduce::Recorder;

use crate::args;
use crate::input::remap::Remaps;
use crate::options::Options;

/// A recorder if the options ask for it. `args` are the linker's.
pub fn start(
    options: &Options,
    args: &Expanded,
    store: &InputStore,
) -> Result<Option<Recorder>, Diagnostics> {
    let Some(path) = &options.reports.reproduce else { return Ok(None) };
    let remaps = Remaps::read(options, store)?;
    let response = args::replay::response(args, options, remaps.rules());
    Ok(Some(Recorder::new(path.clone(), response, options.compat_mode.version_text())))
}
