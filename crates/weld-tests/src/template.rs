//! The linker command line that a compiler driver would build, asked for once and kept.
//!
//! `%pie main.o -lm` in a `link:` directive becomes start files, library paths, the words, the
//! libraries and the end files, as `gcc -pie` or `clang -pie` pass them to the linker (`-###`).
//! Tests so link what drivers link, without the cost of running one.

use crate::machine;
use crate::places::{cache_dir, find_program};
use crate::process;
use crate::words;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;
use std::time::Duration;

/// What a driver puts before and after the inputs of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub before: Vec<String>,
    pub behind: Vec<String>,
}

const PLACEHOLDER: &str = "weld-placeholder.o";

/// The template for a compiler (`gcc`, `clang`), library (`glibc`, `musl`), machine, language (`c`, `c++`)
/// and output kind (`static`, `static-pie`, `pie`, `nopie`, `shared`).
pub fn template((cc, libc, machine): (&str, &str, &str), lang: &str, kind: &str) -> Result<Template, String> {
    let driver = match (libc, cc, lang) {
        ("musl", _, _) => "musl-gcc",
        (_, "clang", "c++") => "clang++-22",
        (_, "clang", _) => "clang-22",
        (_, _, "fortran") => "gfortran",
        (_, _, "c++") => "g++",
        _ => "gcc",
    };
    let flags: &[&str] = match kind {
        // musl-gcc's specs know no static-pie; its pieces are put together below.
        "static-pie" if libc == "musl" => &["-static"],
        "static" => &["-static"],
        "static-pie" => &["-static-pie"],
        "pie" => &["-pie"],
        "nopie" => &["-no-pie"],
        "shared" => &["-shared"],
        _ => return Err(format!("unknown kind of output `{kind}`")),
    };
    let mut flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut driver = driver.to_owned();
    if let Some(foreign) = machine::foreign(machine) {
        let more;
        (driver, more) = foreign.compiler(&driver);
        flags.splice(0..0, more);
    }
    let line = driver_line(&driver, &flags)?;
    let mut args = words::split(&line)?;
    args.remove(0);
    drop_output(&mut args);
    if libc == "musl" && kind == "static-pie" {
        args = args.into_iter().map(|a| a.replace("/Scrt1.o", "/rcrt1.o")).collect();
        args.extend(["-pie", "--no-dynamic-linker", "-z", "text"].map(str::to_owned));
    }
    let at = args.iter().position(|a| a.ends_with(PLACEHOLDER));
    let at = at.ok_or_else(|| format!("{driver} -### does not show its input: {line}"))?;
    let behind = args.split_off(at + 1);
    args.pop();
    Ok(Template { before: args, behind })
}

fn drop_output(args: &mut Vec<String>) {
    if let Some(at) = args.iter().position(|a| a == "-o") {
        args.drain(at..(at + 2).min(args.len()));
    }
}

/// The last command `driver -###` prints, from the cache if the driver has not changed.
fn driver_line(driver: &str, flags: &[String]) -> Result<String, String> {
    let path = find_program(driver)?;
    let meta = std::fs::metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut h = DefaultHasher::new();
    (&path, meta.len(), meta.modified().ok(), flags).hash(&mut h);
    let dir = cache_dir().join("objs");
    let cached = dir.join(format!("template.{:016x}", h.finish()));
    if let Ok(line) = std::fs::read_to_string(&cached) {
        return Ok(line);
    }
    let work = dir.join(format!("tmp.{}.template", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    std::fs::write(work.join(PLACEHOLDER), b"").map_err(|e| e.to_string())?;
    let mut command = Command::new(driver);
    command.current_dir(&work).args(flags).args(["-###", PLACEHOLDER, "-o", "out"]);
    // A driver told to find its linker elsewhere must not show in a template.
    command.env_remove("COMPILER_PATH").env("LC_ALL", "C");
    let done = process::run(command, &work, Duration::from_secs(60));
    let _ = std::fs::remove_dir_all(&work);
    let text = done?.stderr;
    let line = text.lines().rev().find(|l| l.contains(PLACEHOLDER) && l.starts_with(' '));
    let line = line.ok_or_else(|| format!("{driver} -### printed no link command:\n{text}"))?;
    let temporary = dir.join(format!("tmp.{}.line", std::process::id()));
    std::fs::write(&temporary, line).map_err(|e| e.to_string())?;
    std::fs::rename(&temporary, &cached).map_err(|e| e.to_string())?;
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_dropped() {
        let mut args: Vec<String> = ["-pie", "-o", "x", "a.o"].map(str::to_owned).into();
        drop_output(&mut args);
        assert_eq!(args, ["-pie", "a.o"]);
    }
}
