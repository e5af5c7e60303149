//! Who compiles bitcode: a program that was built for it ([`super::shim`]), or LLVM's plugin for linkers.
//!
//! Candidates ([`super::find`]) are tried in order until one can do what is asked, can be loaded and is new
//! enough; a compilation that has begun is not tried again elsewhere. Where objects and other files go is
//! chosen here: to the child's directory, from which objects are mapped, or to where options want them, by
//! the names that lld gives.

use std::borrow::Cow;
use std::path::Path;

use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_common::text::os_str;

use super::find::{self, Candidate, System};
use super::process::Ending;
use super::resolution::for_llvm;
use super::results::{self, Results};
use super::session::{self, Outcome, Session};
use super::{distribute, error, modules, names, object_list, objects, shim, words};
use crate::answer::{Answer, EngineError, Fault, Level, Message, Object, Source};
use crate::options::{Emit, Options, SaveTemps};
use crate::protocol::{Input, Order, Plugin, Work};
use crate::request::{Machine, Output, Request};

/// Compiles bitcode.
///
/// # Errors
/// As [`super::compile`].
pub fn compile(request: &Request<'_>, host: &dyn Host) -> Result<Answer, Box<EngineError>> {
    if let Some(to) = request.options.distribution.as_ref().filter(|_| !is_index_only(request)) {
        return distribute::compile(request, to, host);
    }
    let Some(child) = host.lto_child() else {
        return Err(error(request, Fault::Unsupported("this program cannot start compilers")));
    };
    let mut search = search(request.options, request.llvm_major, host, &child);
    let plans: Vec<_> = search.candidates.iter().map(|candidate| Plan::of(request, candidate)).collect();
    let first =
        search.candidates.iter().zip(&plans).find_map(|(engine, plan)| Some((engine, plan.as_ref().ok()?)));
    let results = first.and_then(|(engine, plan)| Results::of(request, &plan.words, plan.output, engine));
    let whose = first.map(|(engine, _)| engine.path.clone());
    // Who looks for it later finds the first one.
    let is_first = search.candidates.first().map(|engine| &engine.path) == whose.as_ref();
    let basis = results.as_ref().and_then(|results| results.basis.clone()).filter(|_| is_first);
    if let Some(answer) = results.as_ref().and_then(|results| earlier(request, results)) {
        return Ok(Answer { basis, ..answer });
    }
    let (mut refused, mut unusable) = (None, Vec::new());
    for (candidate, plan) in search.candidates.iter().zip(plans) {
        let plan = match plan {
            Ok(plan) => plan,
            Err(fault) => {
                refused.get_or_insert(fault);
                continue;
            }
        };
        let attempt = Attempt { request, host, child: &child, candidate, plan: &plan };
        match attempt.run() {
            Ok((mut answer, is_cached)) => {
                answer.messages.splice(0..0, unusable);
                // What was said would not be said again.
                let is_kept = answer.messages.is_empty() && whose.as_ref() == Some(&candidate.path);
                if let Some(results) = results.filter(|_| is_kept) {
                    // LLVM's own cache has what is of one module each. If the whole link is kept, this is for
                    // one that asks for the same and is not the same; if nothing was compiled, this was one.
                    let of_module = |object: &Object| matches!(object.source, Source::Module(_));
                    let is_in_vain = candidate.is_program()
                        && request.is_repeated
                        && !is_cached
                        && answer.objects.iter().all(of_module);
                    if !is_in_vain {
                        results.store(answer.objects.iter().map(|object| (object.source, &object.bytes[..])));
                    }
                    answer.basis = basis;
                }
                return Ok(answer);
            }
            Err(Failure::Unusable(why)) if !candidate.is_asked_for => {
                let text = format!("{}: {why}", candidate.path.display());
                // Somebody has built it to be used.
                if candidate.is_program() {
                    unusable.push(Message { level: Level::Warning, text: text.clone() });
                }
                search.tried.push(text);
            }
            Err(Failure::Unusable(why)) => {
                let tried = vec![format!("{}: {why}", candidate.path.display())];
                return Err(error(request, not_found(request, tried)));
            }
            Err(Failure::Error(error)) => return Err(error),
        }
    }
    // What another engine cannot do is not the matter if the one that could is broken.
    let refused = refused.filter(|_| unusable.is_empty());
    Err(error(request, refused.unwrap_or_else(|| not_found(request, search.tried))))
}

/// What a candidate is told of options.
struct Plan {
    words: Vec<String>,
    /// `LDPO_*`, of a plugin.
    output: u32,
}

impl Plan {
    /// # Errors
    /// If there is an option that it cannot do.
    fn of(request: &Request<'_>, candidate: &Candidate) -> Result<Plan, Fault> {
        if candidate.is_program() {
            return Ok(Plan { words: shim::words(request), output: 0 });
        }
        Ok(Plan { words: words::words(request)?, output: output_kind(request)? })
    }
}

/// Indexes are all that is wanted, so there is nothing to distribute.
fn is_index_only(request: &Request<'_>) -> bool {
    request.options.thin.index_only.is_some()
}

/// The place for the objects of a request of which modules are compiled elsewhere, by what `identity` is of.
///
/// # Errors
/// If it asks for what cannot be done.
pub fn results(
    request: &Request<'_>,
    identity: UnitDigest,
    host: &dyn Host,
) -> Result<Option<Results>, Box<EngineError>> {
    let Some(child) = host.lto_child() else { return Ok(None) };
    let mut refused = None;
    for candidate in search(request.options, request.llvm_major, host, &child).candidates {
        match Plan::of(request, &candidate) {
            Ok(mut plan) => {
                plan.words.push(format!("elsewhere {:02x?}", identity.bytes()));
                return Ok(Results::of(request, &plan.words, plan.output, &candidate));
            }
            Err(fault) => refused = refused.or(Some(fault)),
        }
    }
    // That there is no engine is told by who asks for one.
    refused.map_or(Ok(None), |fault| Err(error(request, fault)))
}

/// How a program ended that has not said that it is ready.
fn does_not_start(ending: Ending, printed: &[Message]) -> String {
    let printed: Vec<&str> = printed.iter().map(|message| &*message.text).collect();
    let printed = if printed.is_empty() { "nothing".to_owned() } else { printed.join("; ") };
    format!("it does not start ({ending}), and printed: {printed}")
}

/// A digest of what objects depend on that [`crate::answer::Basis`] speaks of, as it is now: the engine that
/// would be asked first about bitcode whose newest producer is of this version, these words, and the files
/// that they name. `None` if there is no engine.
pub fn basis(options: &Options, major: Option<u32>, words: &[String], host: &dyn Host) -> Option<UnitDigest> {
    let child = host.lto_child()?;
    let search = search(options, major, host, &child);
    results::basis(search.candidates.first()?, words)
}

/// What an earlier link got for the same.
pub fn earlier(request: &Request<'_>, results: &Results) -> Option<Answer> {
    let objects = results.load(request)?;
    let count = objects.len();
    let named = |(source, bytes)| Object { source, name: names::name(request, source, count), bytes };
    let engine = format!("{}: objects of an earlier link that asked for the same", results.path().display());
    Some(Answer {
        objects: objects.into_iter().map(named).collect(),
        messages: Vec::new(),
        engines: vec![engine],
        basis: None,
    })
}

/// Who may compile bitcode whose newest producer is of this version.
pub fn search(options: &Options, major: Option<u32>, host: &dyn Host, child: &Path) -> find::Search {
    let system = System {
        root: Path::new("/"),
        program: Some(child),
        cache: super::build::cache(host),
        path: host.variable("PATH"),
        remote_compiler: options.distribution.as_ref().map(|distribution| &*distribution.compiler),
    };
    find::llvm(&options.engine, &system, major)
}

fn not_found(request: &Request<'_>, tried: Vec<String>) -> Fault {
    let wanted = match request.llvm_major {
        Some(major) => format!("LLVM {major} or later that can be loaded"),
        None => "LLVM that can be loaded".to_owned(),
    };
    Fault::NotFound { wanted, tried, help: find::help(request.llvm_major) }
}

/// `LDPO_*`.
const RELOCATABLE: u32 = 0;
const EXECUTABLE: u32 = 1;
const SHARED: u32 = 2;
const PIE: u32 = 3;

/// `IMAGE_FILE_MACHINE_I386`.
const I386: u16 = 0x14c;

/// The kind of output to say, from which the plugin takes how code refers to symbols.
fn output_kind(request: &Request<'_>) -> Result<u32, Fault> {
    let kind = match (request.machine, request.output) {
        (_, Output::Relocatable) => RELOCATABLE,
        // Nothing is dealt with as in ELF's executables. As lld: 32-bit code has no position-independent
        // form.
        (Machine::Coff { machine: I386 }, _) => EXECUTABLE,
        (Machine::Coff { .. }, _) => SHARED,
        (_, Output::Executable) => EXECUTABLE,
        (_, Output::Pie) => PIE,
        (_, Output::Shared) => SHARED,
    };
    let model = request.options.llvm.iter().filter_map(|word| words::relocation_model(word)).next_back();
    match (model, kind) {
        (None, _) | (Some("pic"), SHARED | PIE) | (Some("static"), EXECUTABLE) => Ok(kind),
        (Some("pic"), EXECUTABLE) => Ok(PIE),
        (Some("static"), PIE) => Ok(EXECUTABLE),
        (Some(model), _) => Err(words::refused(format!("-relocation-model={model} for this kind of output"))),
    }
}

/// One candidate that is asked.
struct Attempt<'a> {
    request: &'a Request<'a>,
    host: &'a dyn Host,
    child: &'a Path,
    candidate: &'a Candidate,
    plan: &'a Plan,
}

enum Failure {
    /// Another candidate may do.
    Unusable(String),
    Error(Box<EngineError>),
}

impl Attempt<'_> {
    /// What came of it, and whether LLVM's cache had all of it.
    fn run(&self) -> Result<(Answer, bool), Failure> {
        let directory = session::directory(self.host);
        let is_program = self.candidate.is_program();
        let program =
            if is_program { self.candidate.program(&self.plan.words) } else { self.child.to_owned() };
        let mut session = match Session::start(&program, &directory) {
            Ok(session) => session,
            Err(e) if is_program => return Err(Failure::Unusable(weld_common::io::reason(&e))),
            Err(e) => return Err(self.failure(Fault::CannotStart(e), Vec::new())),
        };
        let order = Order {
            directory: Cow::Borrowed(directory.as_os_str().as_encoded_bytes()),
            work: match is_program {
                true => Work::Compile(shim::job(self.request, &self.plan.words)),
                false => Work::Plugin(self.plugin(&directory)),
            },
        };
        let major = self.request.llvm_major;
        let refuse = |version: &str| {
            let found: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
            found
                .zip(major)
                .filter(|(found, major)| found < major)
                .map(|(found, _)| format!("it is LLVM {found}"))
        };
        let outcome = session.work(&order, self.request.patience, &refuse);
        let has_erred = session.talk.messages.iter().any(|message| message.level == Level::Error);
        let fault = match outcome {
            // The plugin ends the process when files are all that was wanted.
            Outcome::Ended(Ending::Exited(0))
                if self.request.options.ends_the_link() && !has_erred && !is_program =>
            {
                None
            }
            // Its libraries are not there, say.
            Outcome::Ended(ending) if is_program && session.talk.version.is_empty() => {
                session.end(false);
                return Err(Failure::Unusable(does_not_start(ending, &session.talk.messages)));
            }
            Outcome::Unusable(why) | Outcome::Refused(why) => return Err(Failure::Unusable(why)),
            outcome => outcome.fault(self.request.patience),
        };
        let result = match fault {
            Some(fault) => Err(fault),
            None if is_program => {
                let made = std::mem::take(&mut session.talk.made);
                shim::collect(self.request, session.directory(), made)
            }
            None => self.collect(&session),
        };
        session.end(result.is_ok());
        match result {
            Err(fault) => Err(self.failure(fault, std::mem::take(&mut session.talk.messages))),
            Ok(objects) => {
                let version = match &*session.talk.version {
                    "" => String::new(),
                    version => format!(" (LLVM {version})"),
                };
                let engine = format!("{}{version}: {}", self.candidate.path.display(), self.candidate.why);
                let messages = std::mem::take(&mut session.talk.messages);
                let answer = Answer { objects, messages, engines: vec![engine], basis: None };
                Ok((answer, session.talk.is_cached))
            }
        }
    }

    fn failure(&self, mut fault: Fault, messages: Vec<crate::answer::Message>) -> Failure {
        if let Fault::BadObject { cache, .. } = &mut fault {
            *cache = self.request.options.cache.as_ref().map(|cache| cache.directory.clone());
        }
        let engine = Some(self.candidate.path.clone());
        Failure::Error(Box::new(EngineError { engine, modules: modules(self.request), fault, messages }))
    }

    /// What the child is to do.
    fn plugin(&self, directory: &Path) -> Plugin<'_> {
        let request = self.request;
        let mut redefined: Vec<&[u8]> = Vec::new();
        let mut inputs = Vec::with_capacity(request.files.len() + request.unused.len());
        for file in &request.files {
            let mut symbols = Vec::with_capacity(file.symbols.len());
            for symbol in &file.symbols {
                let (word, is_redefined) = for_llvm(symbol, request);
                symbols.push((Cow::Borrowed(symbol.name), word as u8));
                redefined.extend(is_redefined.then_some(symbol.name));
            }
            inputs.push(input(file, request, Some(symbols)));
        }
        if request.options.thin.index_only.is_some() {
            inputs.extend(request.unused.iter().map(|file| input(file, request, None)));
        }
        redefined.sort_unstable();
        redefined.dedup();
        let output_name = match (request.options.emit, &request.options.save_temps) {
            (Emit::Objects, SaveTemps::None | SaveTemps::All | SaveTemps::Kinds(_)) => {
                Cow::Borrowed(request.output_path.as_os_str().as_encoded_bytes())
            }
            _ => Cow::Owned(directory.join(EMITTED).into_os_string().into_encoded_bytes()),
        };
        Plugin {
            library: Cow::Borrowed(self.candidate.path.as_os_str().as_encoded_bytes()),
            output: self.plan.output,
            output_name,
            words: self.plan.words.iter().map(|word| Cow::Borrowed(word.as_bytes())).collect(),
            redefined: redefined.into_iter().map(Cow::Borrowed).collect(),
            files: inputs,
        }
    }

    /// Takes what was made before its directory goes.
    fn collect(&self, session: &Session) -> Result<Vec<Object>, Fault> {
        let request = self.request;
        match request.options.emit {
            Emit::Assembly => return self.collect_assembly(session.directory()).map(|()| Vec::new()),
            Emit::Bitcode => return self.collect_bitcode(session.directory()).map(|()| Vec::new()),
            Emit::Objects if request.options.ends_the_link() => {
                return object_list::rename(request).map(|()| Vec::new());
            }
            Emit::Objects => {}
        }
        let paths = &session.talk.objects;
        if paths.is_empty() {
            return Err(Fault::NoObjects);
        }
        let mut made = Vec::with_capacity(paths.len());
        for (path, source) in paths.iter().zip(names::by_place(request, paths.len())) {
            let name = names::name(request, source, paths.len());
            let bytes = objects::take(path, request.machine)?;
            let stays = self.settle(session.directory(), path, &name)?;
            made.push(Object { source, name: stays.unwrap_or(name), bytes });
        }
        Ok(made)
    }

    /// What becomes of an object's file when it is mapped: gone, or kept by the name that lld gives it. The
    /// name by which it stays, if that is another than `name`.
    fn settle(&self, directory: &Path, path: &Path, name: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let failed = |error| Fault::File { path: path.to_owned(), error };
        let is_saved = self.request.options.save_temps != SaveTemps::None;
        if path.starts_with(directory) {
            std::fs::remove_file(path).map_err(failed)?;
        } else if self.request.options.object_path.is_some() {
            if is_saved {
                std::fs::copy(path, os_str(name)).map_err(failed)?;
            }
            return Ok(Some(path.as_os_str().as_encoded_bytes().to_vec()));
        } else if is_saved {
            std::fs::rename(path, os_str(name)).map_err(failed)?;
        }
        Ok(None)
    }

    /// The plugin writes a file a task, `emitted`, `emitted1`, …
    fn collect_assembly(&self, directory: &Path) -> Result<(), Fault> {
        let mut tasks = Vec::new();
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(task) = name.to_str().and_then(|name| name.strip_prefix(EMITTED)) else { continue };
            let task: u32 = if task.is_empty() { 0 } else { task.parse().unwrap_or(u32::MAX) };
            tasks.push((task, entry.path()));
        }
        if tasks.is_empty() {
            return Err(Fault::NoObjects);
        }
        tasks.sort();
        let sources = names::by_place(self.request, tasks.len());
        for ((_, path), source) in tasks.iter().zip(sources) {
            let name = names::name(self.request, source, tasks.len());
            shim::move_file(path, Path::new(os_str(&name)))
                .map_err(|error| Fault::File { path: path.clone(), error })?;
        }
        Ok(())
    }

    /// Of the temporary files, what the code generator was given.
    fn collect_bitcode(&self, directory: &Path) -> Result<(), Fault> {
        let path = directory.join(format!("{EMITTED}.0.5.precodegen.bc"));
        if !path.exists() {
            return Err(words::refused("--lto-emit-llvm of modules for ThinLTO".to_owned()));
        }
        let output = self.request.output_path;
        shim::move_file(&path, output).map_err(|error| Fault::File { path: output.to_owned(), error })
    }
}

/// What files are named that are moved later.
const EMITTED: &str = "emitted";

fn input<'a>(
    file: &crate::request::File<'a>,
    request: &Request<'_>,
    symbols: Option<Vec<(Cow<'a, [u8]>, u8)>>,
) -> Input<'a> {
    Input {
        name: Cow::Owned(file.module_name(request.machine)),
        path: Cow::Borrowed(file.path),
        offset: file.offset,
        size: file.bytes.len() as u64,
        symbols,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn request<'a>(options: &'a Options, output: Output) -> Request<'a> {
        Request { output_path: Path::new("dir/out"), ..Request::of_nothing(output, options) }
    }

    #[test]
    fn the_model_is_that_of_the_output() {
        let kind = |output, words: &[&str]| {
            let llvm = words.iter().map(|word| (*word).to_owned()).collect();
            let options = Options { llvm, ..Options::default() };
            output_kind(&request(&options, output)).ok()
        };
        assert_eq!(kind(Output::Executable, &[]), Some(EXECUTABLE));
        assert_eq!(kind(Output::Executable, &["-relocation-model=pic"]), Some(PIE));
        assert_eq!(
            kind(Output::Pie, &["--relocation-model=pic", "-relocation-model=static"]),
            Some(EXECUTABLE)
        );
        assert_eq!(kind(Output::Shared, &["-relocation-model=static"]), None);
        assert_eq!(kind(Output::Relocatable, &[]), Some(RELOCATABLE));
        let options = Options::default();
        let coff = |machine| {
            let machine = Machine::Coff { machine };
            output_kind(&Request { machine, ..request(&options, Output::Executable) }).ok()
        };
        assert_eq!((coff(0x8664), coff(I386)), (Some(SHARED), Some(EXECUTABLE)));
    }
}
