//! Modules for ThinLTO that are compiled on other machines (`--thinlto-distributor=`), as ld.lld has it.
//!
//! ```text
//! request ─► thin link, here ─► index, imports ─► JSON ─► distributor ─► objects
//!                           └─► objects of merged modules               └─ checked, kept
//! ```
//!
//! The engine is asked for indexes only ([`super::llvm`]); modules that are merged it compiles meanwhile.
//! Then the user's program gets a job for each module ([`jobs`]) that is not kept from earlier ([`kept`]).
//! All files are in one directory ([`stage`]), which belongs to the child process that runs the program
//! ([`crate::engine_child`]): both go when weld is gone, in whatever way.
//!
//! Compilers elsewhere may leave nothing, or half of it, and say that all is well. Every object is looked at
//! before it is linked or kept.

mod command;
mod jobs;
mod kept;
mod stage;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_common::text::text;

use self::command::Command;
use self::jobs::Job;
use self::kept::Kept;
use self::stage::Stage;
use super::session::{Outcome, Session};
use super::{error, llvm, names, objects};
use crate::answer::{Answer, Bytes, EngineError, Fault, Object, Source};
use crate::bitcode;
use crate::options::{Distribution, IndexOnly, Options, PrefixReplace, SaveTemps};
use crate::protocol::{Distributor, Order, Work};
use crate::request::{File, Request};

/// Compiles bitcode, modules for ThinLTO elsewhere.
///
/// # Errors
/// As [`super::compile`].
pub fn compile(
    request: &Request<'_>,
    to: &Distribution,
    host: &dyn Host,
) -> Result<Answer, Box<EngineError>> {
    let here = Options { distribution: None, ..request.options.clone() };
    let here = Request { options: &here, ..request.clone() };
    if !request.files.iter().any(|file| file.is_thin(request.options)) {
        return llvm::compile(&here, host);
    }
    let command = Command::of(request, to).map_err(|fault| error(request, fault))?;
    let identity = kept::identity(&command, to, host);
    let results = llvm::results(&here, identity, host)?;
    if let Some(answer) = results.as_ref().and_then(|results| llvm::earlier(request, results)) {
        return Ok(answer);
    }
    let work = Elsewhere { request, to, host, command, identity };
    let (answer, says_nothing) = work.run()?;
    if let Some(results) = results.filter(|_| says_nothing) {
        results.store(answer.objects.iter().map(|object| (object.source, &object.bytes[..])));
    }
    Ok(answer)
}

struct Elsewhere<'e> {
    request: &'e Request<'e>,
    to: &'e Distribution,
    host: &'e dyn Host,
    command: Command,
    identity: UnitDigest,
}

impl Elsewhere<'_> {
    /// The objects, and whether the engine had nothing to say.
    fn run(&self) -> Result<(Answer, bool), Box<EngineError>> {
        let keeps = self.request.options.save_temps != SaveTemps::None;
        // The child is there before the directory: it removes that if this process is killed.
        let mut session = self.start()?;
        let mut stage = Stage::new(self.request, self.host, keeps).map_err(|fault| self.fault(fault))?;
        session.owns(Path::new(&stage.directory));
        self.prepare(&mut session, &stage, keeps)?;
        let result = self.with_stage(&mut stage, &mut session);
        session.end(result.is_ok());
        let printed = std::mem::take(&mut session.talk.messages);
        match result {
            Ok(mut answer) => {
                let says_nothing = answer.messages.is_empty();
                answer.messages.extend(printed);
                Ok((answer, says_nothing))
            }
            Err(mut error) => {
                error.messages.extend(printed);
                Err(error)
            }
        }
    }

    /// The child that owns the directory, and is to run the distributor.
    fn start(&self) -> Result<Session, Box<EngineError>> {
        let Some(child) = self.host.lto_child() else {
            return Err(error(self.request, Fault::Unsupported("this program cannot start compilers")));
        };
        Session::start(&child, Path::new("")).map_err(|e| self.fault(Fault::CannotStart(e)))
    }

    /// Tells it what that is.
    fn prepare(&self, session: &mut Session, stage: &Stage, keeps: bool) -> Result<(), Box<EngineError>> {
        let json = self.json_path(stage);
        let args = self.to.distributor_args.iter().map(|arg| arg.as_encoded_bytes());
        let order = Order {
            directory: Cow::Borrowed(stage.directory.as_bytes()),
            work: Work::Distributor(Distributor {
                program: Cow::Borrowed(self.to.distributor.as_os_str().as_encoded_bytes()),
                args: args.chain([json.as_bytes()]).map(Cow::Borrowed).collect(),
                keeps,
            }),
        };
        match session.prepare(&order, self.request.patience, keeps).fault(self.request.patience) {
            None => Ok(()),
            Some(fault) => Err(self.fault(fault)),
        }
    }

    fn json_path(&self, stage: &Stage) -> String {
        format!("{}/{}.dist-file.json", stage.directory, stage::stem(&self.output()))
    }

    fn output(&self) -> String {
        text(self.request.output_path.as_os_str().as_encoded_bytes()).into_owned()
    }

    fn with_stage(&self, stage: &mut Stage, session: &mut Session) -> Result<Answer, Box<EngineError>> {
        let request = self.request;
        stage.write_modules(request).map_err(|fault| self.fault(fault))?;
        let mut answer = self.index(stage)?;
        let jobs = self.jobs(stage).map_err(|fault| self.fault(fault))?;
        let kept = Kept::of(request, stage, self.identity);
        let places: Vec<_> = jobs.iter().map(|job| kept.as_ref().and_then(|kept| kept.place(job))).collect();
        let load = |place: &Option<super::results::Results>| {
            place.as_ref().and_then(|place| Some(place.load(request)?.into_iter().next()?.1))
        };
        let known: Vec<Option<Bytes>> = places.iter().map(load).collect();
        let missing = jobs.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(job, _)| job);
        let count = missing.clone().count();
        if count > 0 {
            let json = jobs::json(&self.output(), &self.command, missing);
            self.run_distributor(stage, session, &json)?;
        }
        let merged = self.merged(stage).map_err(|fault| self.fault(fault))?;
        let mut made: Vec<_> = (0..).map(Source::Merged).zip(merged).collect();
        for ((job, known), place) in jobs.iter().zip(known).zip(places) {
            let bytes = match known {
                Some(bytes) => bytes,
                None => {
                    let bytes = self.take(job)?;
                    if let Some(place) = place {
                        // Which of a link's modules it is changes with the link.
                        place.store(std::iter::once((Source::Merged(0), &bytes[..])));
                    }
                    bytes
                }
            };
            made.push((Source::Module(job.module as u32), bytes));
        }
        let all = made.len();
        let named = |(source, bytes)| Object { source, name: names::name(request, source, all), bytes };
        answer.objects = made.into_iter().map(named).collect();
        answer.engines.push(format!(
            "{}: {count} of {} modules, the others from earlier links",
            self.to.distributor.display(),
            jobs.len()
        ));
        Ok(answer)
    }

    /// Has the engine write indexes, and compile what is not compiled elsewhere.
    fn index(&self, stage: &Stage) -> Result<Answer, Box<EngineError>> {
        let request = self.request;
        let options = request.options;
        let mut only = Options {
            distribution: None,
            save_temps: SaveTemps::None,
            object_path: Some(stage.merged().into()),
            // LLVM's plugin leaves only the first piece of what it merges.
            partitions: 1,
            ..options.clone()
        };
        only.thin.index_only = Some(IndexOnly { list: None });
        only.thin.emit_imports_files = true;
        only.thin.object_suffix_replace = None;
        only.thin.prefix_replace =
            Some(PrefixReplace { old: String::new(), new: stage.index_prefix(), object: String::new() });
        let files =
            request.files.iter().zip(&stage.modules).map(|(file, path)| match file.is_thin(options) {
                true => File { path: path.as_bytes(), offset: 0, member: None, ..file.clone() },
                false => file.clone(),
            });
        let indexing =
            Request { files: files.collect(), unused: Vec::new(), options: &only, ..request.clone() };
        llvm::compile(&indexing, self.host)
    }

    /// What has to be compiled, from the indexes.
    fn jobs(&self, stage: &mut Stage) -> Result<Vec<Job>, Fault> {
        let mut jobs = Vec::new();
        let prefix = stage.index_prefix();
        for module in 0..self.request.files.len() {
            if !self.request.files[module].is_thin(self.request.options) {
                continue;
            }
            let path = stage.modules[module].clone();
            let object = stage.path(&stage::stem(&path), ".native.o");
            let index = format!("{object}.thinlto.bc");
            let made = PathBuf::from(format!("{prefix}{path}.thinlto.bc"));
            std::fs::rename(&made, &index).map_err(|error| Fault::File { path: made, error })?;
            let list = PathBuf::from(format!("{prefix}{path}.imports"));
            let imports =
                std::fs::read_to_string(&list).map_err(|error| Fault::File { path: list, error })?;
            let imports = imports.lines().map(str::to_owned).collect();
            jobs.push(Job { module, path, index, object, imports });
        }
        Ok(jobs)
    }

    fn run_distributor(
        &self,
        stage: &Stage,
        session: &mut Session,
        json: &str,
    ) -> Result<(), Box<EngineError>> {
        let path = self.json_path(stage);
        std::fs::write(&path, json).map_err(|error| self.fault(Fault::File { path: path.into(), error }))?;
        let outcome = session.go_on();
        if let Outcome::Unusable(why) = outcome {
            return Err(self.fault(Fault::CannotStart(io::Error::other(why))));
        }
        match outcome.fault(self.request.patience) {
            None => Ok(()),
            Some(fault) => Err(self.fault(fault)),
        }
    }

    /// Objects that the engine has made of merged modules.
    fn merged(&self, stage: &Stage) -> Result<Vec<Bytes>, Fault> {
        let mut made = Vec::new();
        // With a place for it, the engine writes an object of nothing, too.
        let options = self.request.options;
        let is_merged =
            |file: &File<'_>| !file.is_thin(options) || bitcode::has_merged_part(file.bytes).unwrap_or(true);
        if !self.request.files.iter().any(is_merged) {
            return Ok(made);
        }
        for task in 0..self.request.options.partitions {
            let path = match task {
                0 => stage.merged(),
                _ => format!("{}{task}", stage.merged()),
            };
            if Path::new(&path).exists() {
                made.push(objects::take(Path::new(&path), self.request.machine)?);
            }
        }
        Ok(made)
    }

    /// An object that the distributor has left.
    fn take(&self, job: &Job) -> Result<Bytes, Box<EngineError>> {
        let machine = self.request.machine;
        let why = match objects::take(Path::new(&job.object), machine) {
            Ok(bytes) => return Ok(bytes),
            Err(Fault::BadObject { why, .. }) => why,
            Err(Fault::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                "there is none".to_owned()
            }
            Err(Fault::File { error, .. }) => weld_common::io::reason(&error),
            Err(fault) => return Err(self.fault(fault)),
        };
        let name = self.request.files[job.module].module_name(machine);
        let module = text(&name).into_owned();
        Err(self.fault(Fault::NotCompiled { module, object: job.object.clone().into(), why }))
    }

    fn fault(&self, fault: Fault) -> Box<EngineError> {
        Box::new(EngineError { engine: Some(self.to.distributor.clone()), ..*error(self.request, fault) })
    }
}
