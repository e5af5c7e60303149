//! Digests of files, from those of their parts, so that what is large needs little memory and several threads can
//! take part.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;

use weld_common::digest::UnitDigest;
use weld_common::io::spare::read_exact_at;
use weld_common::par;
use weld_common::relink::leaves::Write;

use super::memo::Digest;

/// Bytes of a part.
const PART: usize = 1 << 20;

pub fn of_bytes(bytes: &[u8]) -> Digest {
    UnitDigest::of(of_parts(bytes).as_flattened()).bytes()
}

/// The digests of the parts of what a file will have.
pub fn of_parts(bytes: &[u8]) -> Vec<Digest> {
    bytes.chunks(PART).map(|part| UnitDigest::of(part).bytes()).collect()
}

/// The digests of a file's parts.
///
/// # Errors
/// Those of the system.
pub fn of_file(path: &Path, parallel: bool) -> io::Result<Vec<Digest>> {
    let file = File::open(path)?;
    let size = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let parts = par::runs("digest of an output", parallel, size.div_ceil(PART), 4, |run| {
        let mut buffer = vec![0; PART.min(size)];
        run.map(|part| of_part(&file, size, part, &mut buffer)).collect::<io::Result<Vec<_>>>()
    });
    let parts: Vec<Vec<Digest>> = parts.into_iter().collect::<io::Result<_>>()?;
    Ok(parts.concat())
}

/// Renews the digests of a file's parts that have been written to.
///
/// # Errors
/// Those of the system.
pub fn renew(digests: &mut [Digest], file: &File, writes: &[Write]) -> io::Result<()> {
    let size = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut buffer = vec![0; PART.min(size)];
    let part = |at: u64| usize::try_from(at).unwrap_or(usize::MAX) / PART;
    let ranges = writes.iter().filter(|(_, bytes)| !bytes.is_empty());
    let touched: BTreeSet<usize> =
        ranges.flat_map(|(at, bytes)| part(*at)..=part(*at + bytes.len() as u64 - 1)).collect();
    for number in touched {
        let digest = digests.get_mut(number).ok_or(io::ErrorKind::UnexpectedEof)?;
        *digest = of_part(file, size, number, &mut buffer)?;
    }
    Ok(())
}

fn of_part(file: &File, size: usize, part: usize, buffer: &mut [u8]) -> io::Result<Digest> {
    let at = part * PART;
    let bytes = &mut buffer[..PART.min(size.saturating_sub(at))];
    read_exact_at(file, bytes, at as u64).map(|()| UnitDigest::of(bytes).bytes())
}
