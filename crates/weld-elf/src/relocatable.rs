//! `-r`: objects joined into one object.

use weld_common::diag::{Diagnostic, Diagnostics};

use crate::input::load::Inputs;
use crate::link::Job;
use crate::resolve::Resolved;
use crate::resolve::comdat::Comdats;

pub fn link(_: &Job, _: &Inputs, _: &mut Resolved, _: &Comdats, _: bool) -> Result<(), Diagnostics> {
    Err(Diagnostic::error("-r is not supported yet").into())
}
