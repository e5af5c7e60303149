//! What every step of a link may use.

use crate::options::Options;

/// Options, host, files and messages of a link.
pub type Job<'j> = weld_common::job::Job<'j, Options>;
