//! Copies of outputs, of which a part is then written anew.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::thread;

use crate::io::spare;

/// Bytes copied at a time: they stay in the cache between reading and writing.
const COPIED: u64 = 256 << 10;
/// Files of this many bytes are copied by two threads.
const LARGE: u64 = 8 << 20;

/// Copies a whole file, by two threads if that is worth it: memory is what limits them. The system's own copy
/// would write the output to the disk first, where file systems share blocks.
///
/// # Errors
/// Those of the system.
pub fn copy(from: &File, to: &File) -> io::Result<()> {
    let size = from.metadata()?.len();
    to.set_len(size)?;
    let part = |range: Range<u64>| -> io::Result<()> {
        let mut buffer = vec![0; COPIED as usize];
        for at in range.clone().step_by(COPIED as usize) {
            let bytes = &mut buffer[..(range.end - at).min(COPIED) as usize];
            spare::read_exact_at(from, bytes, at)?;
            spare::write_all_at(to, bytes, at)?;
        }
        Ok(())
    };
    let middle = if size < LARGE { size } else { (size / 2).next_multiple_of(COPIED).min(size) };
    thread::scope(|scope| {
        let half = move || part(middle..size);
        let other = thread::Builder::new().spawn_scoped(scope, half);
        part(0..middle)?;
        // Without another thread, this one does it.
        let is_copied = other.ok().and_then(|thread| thread.join().ok());
        is_copied.unwrap_or_else(|| part(middle..size))
    })
}

/// Copies ranges from one file to the same places of another.
///
/// # Errors
/// Those of the system.
pub fn ranges(from: &File, to: &File, ranges: &[Range<u64>]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for range in ranges {
        bytes.resize((range.end - range.start) as usize, 0);
        spare::read_exact_at(from, &mut bytes, range.start)?;
        spare::write_all_at(to, &bytes, range.start)?;
    }
    Ok(())
}
