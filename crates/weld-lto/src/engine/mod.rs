//! From a request to objects: which engines are asked, and what is made of their answers.
//!
//! An engine is a child process ([`crate::protocol`], [`session`]): weld's own program, which loads LLVM's
//! plugin for linkers or runs GCC's `lto-wrapper`, or a program that is built over an LLVM that is installed.
//! A link with files of both compilers asks both; to each the other's definitions are machine code.

#[cfg(target_os = "linux")]
pub mod build;
#[cfg(target_os = "linux")]
mod distribute;
#[cfg(target_os = "linux")]
mod find;
#[cfg(target_os = "linux")]
mod find_gcc;
#[cfg(target_os = "linux")]
mod gcc;
#[cfg(target_os = "linux")]
mod gcc_numbers;
#[cfg(target_os = "linux")]
mod llvm;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod object_list;
#[cfg(target_os = "linux")]
mod objects;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod resolution;
#[cfg(target_os = "linux")]
mod results;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod shim;
#[cfg(target_os = "linux")]
mod tables;
#[cfg(target_os = "linux")]
mod words;

use std::collections::HashSet;

use weld_common::host::Host;
use weld_common::text::text;

use crate::answer::{Answer, EngineError, Fault};
use crate::ir::Compiler;
use crate::request::{File, Request, Resolution};

/// Compiles the files of a request.
///
/// # Errors
/// If an engine is not there, cannot do what is asked, does not end as it should, or returns what is no
/// object of this link.
pub fn compile(request: &Request<'_>, host: &dyn Host) -> Result<Answer, Box<EngineError>> {
    let (mut llvm, mut gcc): (Vec<File<'_>>, Vec<_>) =
        request.files.iter().cloned().partition(|file| file.compiler == Compiler::Llvm);
    if !llvm.is_empty() && !gcc.is_empty() {
        see_each_other(&mut llvm, &mut gcc);
    }
    let is_llvm_first = request.files.first().is_none_or(|file| file.compiler == Compiler::Llvm);
    let unused = request.unused.clone();
    let llvm = Request { files: llvm, unused, ..request.clone() };
    let gcc = Request { files: gcc, unused: Vec::new(), ..request.clone() };
    let mut answer = Answer::default();
    for is_llvm in [is_llvm_first, !is_llvm_first] {
        let part = match is_llvm {
            true if !llvm.files.is_empty() || !llvm.unused.is_empty() => ask_llvm(&llvm, host)?,
            false if !gcc.files.is_empty() => ask_gcc(&gcc, host, llvm.files.is_empty())?,
            _ => continue,
        };
        answer.objects.extend(part.objects);
        answer.messages.extend(part.messages);
        answer.engines.extend(part.engines);
        answer.basis = part.basis.filter(|_| gcc.files.is_empty());
    }
    Ok(answer)
}

/// What files of one compiler mention and files of the other do, too, is seen by someone whom a compiler does
/// not see; if it is the other's, it is machine code to it.
fn see_each_other<'a>(llvm: &mut [File<'a>], gcc: &mut [File<'a>]) {
    let names = |files: &[File<'_>], only: Resolution| -> HashSet<Vec<u8>> {
        let symbols = files.iter().flat_map(|file| &file.symbols);
        symbols.filter(|symbol| symbol.resolution.has(only)).map(|symbol| symbol.name.to_vec()).collect()
    };
    let all = Resolution::default();
    let [of_llvm, of_gcc] =
        [&*llvm, &*gcc].map(|files| (names(files, all), names(files, Resolution::PREVAILING)));
    for (files, (mentioned, defined)) in [(llvm, of_gcc), (gcc, of_llvm)] {
        for symbol in files.iter_mut().flat_map(|file| &mut file.symbols) {
            if symbol.resolution.has(Resolution::PREVAILING) && mentioned.contains(symbol.name) {
                symbol.resolution = symbol.resolution | Resolution::VISIBLE;
            } else if defined.contains(symbol.name) {
                symbol.resolution = symbol.resolution | Resolution::NATIVE;
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub use find::program as find_program;

#[cfg(target_os = "linux")]
use {gcc::compile as ask_gcc, llvm::compile as ask_llvm};

#[cfg(target_os = "linux")]
pub use {llvm::basis, tables::tables};

/// Nobody can be asked.
#[cfg(not(target_os = "linux"))]
pub fn tables(
    _bytes: &[u8],
    _major: Option<u32>,
    _options: &crate::options::Options,
    _host: &dyn Host,
) -> Result<[Vec<u8>; 2], String> {
    Err("compilers, which know it, cannot be asked on this system yet".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub fn basis(
    _options: &crate::options::Options,
    _major: Option<u32>,
    _words: &[String],
    _host: &dyn Host,
) -> Option<weld_common::digest::UnitDigest> {
    None
}

#[cfg(not(target_os = "linux"))]
fn ask_llvm(request: &Request<'_>, _host: &dyn Host) -> Result<Answer, Box<EngineError>> {
    Err(error(request, Fault::Unsupported("compilers cannot be asked on this system yet")))
}

#[cfg(not(target_os = "linux"))]
fn ask_gcc(request: &Request<'_>, host: &dyn Host, _is_alone: bool) -> Result<Answer, Box<EngineError>> {
    ask_llvm(request, host)
}

/// Where engines for bitcode are, best first, and what was looked for in vain, as text.
#[cfg(target_os = "linux")]
pub fn found(host: &dyn Host) -> (Vec<String>, Vec<String>) {
    let Some(child) = host.lto_child() else { return (Vec::new(), Vec::new()) };
    let search = llvm::search(&crate::options::Options::default(), None, host, &child);
    let found = search.candidates.iter().map(|engine| {
        let kind = if engine.is_program() { "all that ld.lld does" } else { "LLVM's plugin for linkers" };
        format!("{}: {kind}; {}", engine.path.display(), engine.why)
    });
    (found.collect(), search.tried)
}

/// An error before an engine is chosen.
fn error(request: &Request<'_>, fault: Fault) -> Box<EngineError> {
    Box::new(EngineError { engine: None, modules: modules(request), fault, messages: Vec::new() })
}

fn modules(request: &Request<'_>) -> Vec<String> {
    let names = request.files.iter().map(|file| file.module_name(request.machine));
    names.map(|name| text(&name).into_owned()).collect()
}
