//! From a request to objects: which engines are asked, and what is made of their answers.

use weld_common::host::Host;

use crate::answer::{Answer, EngineError, Fault};
use crate::request::Request;

/// Compiles the files of a request.
///
/// # Errors
/// If an engine is not there, cannot do what is asked, does not end as it should, or returns what is no object of
/// this link.
pub fn compile(request: &Request<'_>, host: &dyn Host) -> Result<Answer, Box<EngineError>> {
    let _ = host;
    let modules = request.files.iter().map(|file| file.module_name(request.machine));
    let modules = modules.map(|name| weld_common::text::text(&name).into_owned()).collect();
    let fault = Fault::Unsupported("there is no engine in this build");
    Err(Box::new(EngineError { engine: None, modules, fault, messages: Vec::new() }))
}
