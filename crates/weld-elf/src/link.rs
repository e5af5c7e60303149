//! A link from the command line to the output.

use std::ffi::OsString;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::host::Host;

use crate::args::{self, Command};

/// What a link that succeeded has to say.
#[derive(Debug)]
pub struct Outcome {
    pub warnings: Vec<Diagnostic>,
}

/// Links as `args` say, which do not include the program's name.
pub fn link(args: &[OsString], host: &dyn Host) -> Result<Outcome, Diagnostics> {
    let sink = DiagSink::new();
    match args::parse(args, &sink)? {
        Command::Print(text) => host.print(&text),
        Command::Link(options) => {
            if options.print_version {
                host.print(&args::version_text());
            }
            sink.error("this build has no linker behind its command line yet");
        }
    }
    sink.end_phase()?;
    Ok(Outcome { warnings: sink.finish() })
}
