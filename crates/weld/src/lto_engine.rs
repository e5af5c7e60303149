//! `weld lto-engine`: which compilers of bitcode there are; `weld lto-engine build`: builds one.
//!
//! Nothing is built unless it is asked for: a link takes what is there.

use std::ffi::OsString;
use std::fmt;

use weld_common::host::Host;

#[cfg(target_os = "linux")]
const USAGE: &str = "usage: weld lto-engine [build [--llvm-config=PATH] [--output DIR]]";

/// Why nothing is done.
#[derive(Debug)]
pub enum EngineCommandError {
    #[cfg(target_os = "linux")]
    Usage,
    #[cfg(target_os = "linux")]
    Build(weld_lto::engine::build::BuildError),
    #[cfg(not(target_os = "linux"))]
    NoEngines,
}

impl fmt::Display for EngineCommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(target_os = "linux")]
            EngineCommandError::Usage => f.write_str(USAGE),
            #[cfg(target_os = "linux")]
            EngineCommandError::Build(error) => error.fmt(f),
            #[cfg(not(target_os = "linux"))]
            EngineCommandError::NoEngines => {
                f.write_str("compilers of bitcode cannot be asked on this system yet")
            }
        }
    }
}

/// Does what is asked, and returns what to print.
#[cfg(target_os = "linux")]
pub fn run(args: &[OsString], host: &dyn Host) -> Result<String, EngineCommandError> {
    match args.split_first() {
        None => Ok(list(host)),
        Some(_) if args.iter().any(|arg| arg == "--help") => Ok(format!("{USAGE}\n")),
        Some((word, rest)) if word == "build" => {
            let wish = wish(rest)?;
            let path = weld_lto::engine::build::build(&wish, host).map_err(EngineCommandError::Build)?;
            Ok(format!("Built {}\n", path.display()))
        }
        Some(_) => Err(EngineCommandError::Usage),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn run(_args: &[OsString], _host: &dyn Host) -> Result<String, EngineCommandError> {
    Err(EngineCommandError::NoEngines)
}

#[cfg(target_os = "linux")]
fn list(host: &dyn Host) -> String {
    let (found, tried) = weld_lto::engine::found(host);
    let mut text = String::new();
    for engine in &found {
        text += &format!("{engine}\n");
    }
    if found.is_empty() {
        text += "There is no engine for link-time optimisation of bitcode.\n";
    }
    for place in tried {
        text += &format!("not there: {place}\n");
    }
    text
}

#[cfg(target_os = "linux")]
fn wish(args: &[OsString]) -> Result<weld_lto::engine::build::Wish, EngineCommandError> {
    let mut wish = weld_lto::engine::build::Wish::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let arg = arg.to_str().ok_or(EngineCommandError::Usage)?;
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.into())),
            None => (arg, args.next().cloned()),
        };
        let place = match name {
            "--llvm-config" => &mut wish.llvm_config,
            "--output" => &mut wish.directory,
            _ => return Err(EngineCommandError::Usage),
        };
        let value = value.filter(|value: &OsString| !value.is_empty());
        let value = value.ok_or(EngineCommandError::Usage)?;
        *place = Some(value.into());
    }
    Ok(wish)
}
