//! Objects of modules that were compiled elsewhere, for links in which the module, its index and what it
//! takes from others have not changed: these need no distributor.
//!
//! They lie in the directory of `--thinlto-cache-dir`, each in a file as of [`Results`] with one object. A
//! file's name is a digest of all that an object depends on. That an index has the paths of modules in it
//! does no harm, since these are the same each time.

use std::collections::HashMap;
use std::path::Path;

use weld_common::digest::UnitDigest;
use weld_common::host::Host;

use super::super::find;
use super::super::results::{Key, Results};
use super::command::Command;
use super::jobs::Job;
use super::stage::Stage;
use crate::options::Distribution;
use crate::request::Request;

pub struct Kept<'k> {
    directory: &'k Path,
    /// Of what is the same for all modules.
    common: UnitDigest,
    /// Of modules by their paths, as jobs name them.
    modules: HashMap<&'k str, UnitDigest>,
}

impl<'k> Kept<'k> {
    /// `None` if nothing is kept.
    pub fn of(request: &'k Request<'_>, stage: &'k Stage, common: UnitDigest) -> Option<Kept<'k>> {
        let directory = &request.options.cache.as_ref()?.directory;
        let files = stage.modules.iter().zip(&request.files);
        let modules = files.map(|(path, file)| (&**path, UnitDigest::of(file.bytes))).collect();
        Some(Kept { directory, common, modules })
    }

    /// The place for a job's object. `None` if not all that it depends on can be read.
    pub fn place(&self, job: &Job) -> Option<Results> {
        let index = UnitDigest::of(&std::fs::read(&job.index).ok()?);
        let mut parts = vec![self.common, *self.modules.get(&*job.path)?, index];
        for import in &job.imports {
            parts.push(*self.modules.get(&**import)?);
        }
        Some(Results::named(self.directory, UnitDigest::join(&parts)))
    }
}

/// A digest of the command and of what it runs and reads, but for modules. The compiler is told by its file's
/// size and time if this machine has it, else by its name only.
pub fn identity(command: &Command, to: &Distribution, host: &dyn Host) -> UnitDigest {
    let mut key = Key::new("module ");
    if let Some(path) = find::program(&to.compiler, host) {
        key.add_program(&path);
    }
    command.args.iter().for_each(|arg| key.add(arg.as_bytes()));
    for input in &command.inputs {
        key.add(&std::fs::read(input).map_or([0; 20], |bytes| UnitDigest::of(&bytes).bytes()));
    }
    key.digest()
}
