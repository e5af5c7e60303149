//! `weld lto-engine`: which compilers of bitcode there are; `weld lto-engine build`: builds one.
//!
//! Nothing is built unless it is asked for: a link takes what is there.

use std::ffi::OsString;

use weld_common::host::Host;

const USAGE: &str = "usage: weld lto-engine [build [--llvm-config=PATH] [--output DIR]]";

/// Does what is asked, and returns what to print.
#[cfg(target_os = "linux")]
pub fn run(args: &[OsString], host: &dyn Host) -> Result<String, String> {
    match args.split_first() {
        None => Ok(list(host)),
        Some(_) if args.iter().any(|arg| arg == "--help") => Ok(format!("{USAGE}\n")),
        Some((word, rest)) if word == "build" => {
            let wish = wish(rest)?;
            let path = weld_lto::engine::build::build(&wish, host).map_err(|error| error.to_string())?;
            Ok(format!("Built {}\n", path.display()))
        }
        Some(_) => Err(USAGE.to_owned()),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn run(_args: &[OsString], _host: &dyn Host) -> Result<String, String> {
    Err("compilers of bitcode cannot be asked on this system yet".to_owned())
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
fn wish(args: &[OsString]) -> Result<weld_lto::engine::build::Wish, String> {
    let mut wish = weld_lto::engine::build::Wish::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let arg = arg.to_str().ok_or(USAGE)?;
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.into())),
            None => (arg, args.next().cloned()),
        };
        let place = match name {
            "--llvm-config" => &mut wish.llvm_config,
            "--output" => &mut wish.directory,
            _ => return Err(USAGE.to_owned()),
        };
        let value = value.filter(|value: &OsString| !value.is_empty()).ok_or(USAGE)?;
        *place = Some(value.into());
    }
    Ok(wish)
}
