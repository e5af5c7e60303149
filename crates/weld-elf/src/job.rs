//! What the steps of a link share.

use weld_common::diag::Diagnostics;
use weld_common::io::output::{OutputFile, OutputOptions};

use crate::gateways::Entry;
use crate::input::load::Inputs;
use crate::live::SectionOwners;
use crate::mode::Mode;
use crate::options::Options;
use crate::resolve::comdat::Comdats;
use crate::sections::scripted::Rules;
use crate::symbols::internal::Internals;
use crate::symbols::tagged::Tagged;

/// What every step may use.
pub type Job<'j> = weld_common::job::Job<'j, Options>;

/// What steps after resolution share.
pub struct Context<'c, 'a> {
    pub inputs: &'c Inputs<'a>,
    pub mode: Mode,
    pub parallel: bool,
    pub threads: usize,
    pub owners: &'c SectionOwners,
    pub comdats: &'c Comdats,
    pub internals: &'c Internals,
    /// The patterns of a linker script, if one lays out.
    pub rules: Option<&'c Rules>,
    /// Variables that have tags.
    pub tagged: Option<&'c Tagged>,
    /// Functions that may be called from another world.
    pub gateways: &'c [Entry<'a>],
}

/// The output file, `size` bytes long, which `threads` threads will write.
///
/// # Errors
/// If there is no room for it, or it cannot be created.
pub fn create_output<'j>(
    job: &Job<'j>,
    size: u64,
    executable: bool,
    threads: usize,
) -> Result<OutputFile<'j>, Diagnostics> {
    let output = &job.options.output;
    let options = OutputOptions { engine: output.engine, executable, threads, ..Default::default() };
    job.create_output(&output.path, size, &options, job.options.reports.verbose)
}
