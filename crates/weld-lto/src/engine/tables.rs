//! Symbol tables of bitcode that has none, made by an engine that was built for weld. LLVM's plugin cannot: what
//! it tells a linker is less than a table says.

use std::borrow::Cow;
use std::path::Path;

use weld_common::host::Host;
use weld_common::io::reason;

use super::find::Candidate;
use super::llvm;
use super::session::{self, Made, Session};
use crate::answer::EngineError;
use crate::options::Options;
use crate::protocol::{Input, Job, Order, PARTS, Work};
use crate::request::Request;

/// A table of the format of LLVM's own (`SYMTAB_BLOB`), and its strings.
///
/// # Errors
/// Why there is none, as text.
pub fn tables(
    bytes: &[u8],
    major: Option<u32>,
    options: &Options,
    host: &dyn Host,
) -> Result<[Vec<u8>; 2], String> {
    let child = host.lto_child().ok_or("this program cannot start compilers, which know it")?;
    let candidates = llvm::search(options, major, host, &child).candidates;
    let engine = candidates.into_iter().find(Candidate::is_program);
    let engine = engine.ok_or("an engine makes one that is built by: weld lto-engine build")?;
    ask(&engine.path, bytes, host).map_err(|why| format!("{}: {why}", engine.path.display()))
}

fn ask(engine: &Path, bytes: &[u8], host: &dyn Host) -> Result<[Vec<u8>; 2], String> {
    let directory = session::directory(host);
    let mut session = Session::start(engine, &directory).map_err(|error| reason(&error))?;
    let order = Order {
        directory: Cow::Borrowed(directory.as_os_str().as_encoded_bytes()),
        work: Work::Compile(Job {
            words: vec![Cow::Borrowed(b"symbols")],
            // The bitcode itself, which need not be in a file.
            files: vec![Input {
                name: Cow::Borrowed(b"bitcode"),
                path: Cow::Borrowed(bytes),
                offset: 0,
                size: bytes.len() as u64,
                symbols: None,
            }],
        }),
    };
    let outcome = session.work(&order, Request::PATIENCE, &|_| None);
    let tables = match outcome.fault(Request::PATIENCE) {
        None => take(&directory, &session.talk.made),
        Some(fault) => Err(match session.talk.messages.last() {
            Some(message) => message.text.clone(),
            None => {
                EngineError { engine: None, modules: Vec::new(), fault, messages: Vec::new() }.to_string()
            }
        }),
    };
    session.end(tables.is_ok());
    tables
}

/// What it has made lies in one file.
fn take(directory: &Path, made: &[(u32, Made)]) -> Result<[Vec<u8>; 2], String> {
    let parts = std::fs::read(directory.join(PARTS)).map_err(|error| reason(&error))?;
    let part = |number: u32| {
        let (_, made) = made.iter().find(|(task, _)| *task == number)?;
        let Made::Part { offset, size } = made else { return None };
        let rest = parts.get(usize::try_from(*offset).ok()?..)?;
        rest.get(..usize::try_from(*size).ok()?).map(<[u8]>::to_vec)
    };
    let missing = || "it has made no table".to_owned();
    Ok([part(0).ok_or_else(missing)?, part(1).ok_or_else(missing)?])
}
