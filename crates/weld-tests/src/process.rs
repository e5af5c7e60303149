//! Running programs with a time limit, their output kept in files.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a finished program left behind.
pub struct Finished {
    /// Exit code, or 128 + signal as a shell reports it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `command` without standard input. Output goes to files in `dir`, so that a program that
/// writes a lot cannot block on a pipe nobody reads.
pub fn run(mut command: Command, dir: &Path, limit: Duration) -> Result<Finished, String> {
    let what = command.get_program().to_string_lossy().into_owned();
    let id = format!(".out.{}", std::process::id());
    let (out, err) = (dir.join(format!("{id}.1")), dir.join(format!("{id}.2")));
    let file = |p: &Path| File::create(p).map_err(|e| format!("{}: {e}", p.display()));
    command.stdin(Stdio::null()).stdout(file(&out)?).stderr(file(&err)?);
    let mut child = command.spawn().map_err(|e| format!("{what}: {e}"))?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| format!("{what}: {e}"))? {
            break status;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{what}: still running after {} s", limit.as_secs()));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let read = |p: &Path| {
        let text = std::fs::read(p).map(|b| String::from_utf8_lossy(&b).into_owned());
        let _ = std::fs::remove_file(p);
        text.map_err(|e| format!("{}: {e}", p.display()))
    };
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(-1);
    Ok(Finished { code, stdout: read(&out)?, stderr: read(&err)? })
}
